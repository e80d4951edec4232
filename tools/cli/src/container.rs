//! Containers: files with several code objects. Selects the code objects that a command works on.

use super::{Failure, complain};
use clap::Args;
use codeobj::container::{Contents, Entry, LeftOut, Reason};
use kernc::isa::TargetId;
use kernc::{Modes, Target};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

// Options that choose among the code objects of one file. (A doc comment would replace the description of each
// command that has these options.)
#[derive(Args, Clone, Default)]
pub struct EntryArgs {
    /// Use only the code objects whose name contains this text. For a file with several code objects (offload
    /// bundle, archive, host program or library). Without this option, `--mcpu` selects the code objects for
    /// a processor.
    #[arg(long, value_name = "TEXT")]
    entry: Option<String>,
}

impl EntryArgs {
    /// Returns whether `--entry` is on the command line.
    pub fn is_given(&self) -> bool {
        self.entry.is_some()
    }

    /// Returns whether the text of `--entry` selects exactly one code object of the file.
    pub fn names_one(&self, opened: &Opened<'_>) -> bool {
        self.entry.is_some() && opened.chosen.len() == 1
    }
}

/// Largest number of names that a message lists.
const LISTED: usize = 20;

/// A code object that a command works on.
pub struct Chosen<'data> {
    /// Name of the file. For a code object in a container, the path of the object inside the container
    /// follows.
    pub file: PathBuf,
    /// Bytes of the code object.
    pub bytes: Cow<'data, [u8]>,
    /// Target id that the container gives for the code object; empty if the file is not a container.
    pub target: String,
}

impl<'data> Chosen<'data> {
    /// Returns the contents of a file that is no container.
    pub fn whole(file: &Path, bytes: &'data [u8]) -> Chosen<'data> {
        Chosen { file: file.to_owned(), bytes: Cow::Borrowed(bytes), target: String::new() }
    }
}

/// The code objects of a file.
pub struct Opened<'data> {
    /// Code objects that the command works on, in file order. There is at least one.
    pub chosen: Vec<Chosen<'data>>,
    /// Whether the file is a container.
    pub is_container: bool,
    /// Parts of the container that are not code objects.
    pub left_out: Vec<LeftOut>,
    /// Errors about parts of the container that could not be read.
    damaged: Vec<String>,
}

impl<'data> Opened<'data> {
    /// Returns code objects that do not come from a file as they are. `--entry` selects some of them.
    ///
    /// # Errors
    /// `--entry` selects none.
    pub fn of_parts(
        file: &Path,
        mut chosen: Vec<Chosen<'data>>,
        args: &EntryArgs,
    ) -> Result<Opened<'data>, Failure> {
        if let Some(text) = &args.entry {
            let names = listed(chosen.iter().map(|part| part.file.display().to_string()));
            chosen.retain(|part| part.file.display().to_string().contains(text.as_str()));
            if chosen.is_empty() {
                let file = file.display();
                return Err(Failure::Usage(format!("{file}: no code object for `{text}`; it holds:{names}")));
            }
        }
        let is_container = chosen.len() > 1;
        Ok(Opened { chosen, is_container, left_out: Vec::new(), damaged: Vec::new() })
    }

    /// Returns the only selected code object, for commands that cannot work on several.
    ///
    /// # Errors
    /// The options select several code objects.
    pub fn single_object(mut self, file: &Path) -> Result<Chosen<'data>, Failure> {
        if self.chosen.len() > 1 {
            let names = listed(self.chosen.iter().map(|chosen| chosen.file.display().to_string()));
            let text =
                format!("{} holds several code objects; choose one with `--entry`:{names}", file.display());
            return Err(Failure::Usage(text));
        }
        Ok(self.chosen.remove(0))
    }

    /// Reports parts of the container that could not be read.
    ///
    /// # Errors
    /// The damaged parts.
    pub fn finish(&self) -> Result<(), Failure> {
        if self.damaged.is_empty() { Ok(()) } else { Err(Failure::File(self.damaged.join("\nerror: "))) }
    }
}

/// Opens a file. If the file is itself a code object, this code object is selected. In a container, `--entry`
/// or `--mcpu` select code objects.
///
/// # Errors
/// The container has no code object, or the options select none.
pub fn open<'data>(
    file: &Path,
    bytes: &'data [u8],
    args: &EntryArgs,
    asked: Option<(&'static Target, Modes)>,
) -> Result<Opened<'data>, Failure> {
    let Some(contents) = Contents::read(bytes) else {
        if args.entry.is_some() {
            let text =
                format!("{}: `--entry` chooses among several code objects; this file is one", file.display());
            return Err(Failure::Usage(text));
        }
        return Ok(Opened {
            chosen: vec![Chosen::whole(file, bytes)],
            is_container: false,
            left_out: Vec::new(),
            damaged: Vec::new(),
        });
    };
    let place = |path: &[String]| [&[file.display().to_string()], path].concat().join(":");
    let damaged = contents.damaged().map(|part| format!("{}: {}", place(&part.path), part.why)).collect();
    for LeftOut { path, why } in &contents.left_out {
        if let Reason::OtherForm(_) = why {
            complain(&format!("warning: {}: {why}\n", place(path)));
        }
    }
    if contents.entries.is_empty() {
        return Err(none(file, &contents, damaged));
    }
    let is_wanted = |entry: &Entry<'_>| match (&args.entry, asked) {
        (Some(text), _) => entry.name().contains(text.as_str()),
        (None, Some(asked)) => entry.target.is_empty() || runs_on(&entry.target, asked),
        (None, None) => true,
    };
    let names = listed(contents.entries.iter().map(Entry::name));
    let wanted = contents.entries.into_iter().filter(is_wanted);
    let chosen: Vec<Chosen<'_>> = wanted
        .map(|entry| Chosen { file: place(&entry.path).into(), target: entry.target, bytes: entry.bytes })
        .collect();
    if chosen.is_empty() {
        let asked = args.entry.as_deref().or(asked.map(|(target, _)| target.name)).unwrap_or_default();
        return Err(Failure::Usage(format!(
            "{}: no code object for `{asked}`; it holds:{names}",
            file.display()
        )));
    }
    Ok(Opened { chosen, is_container: true, left_out: contents.left_out, damaged })
}

/// Returns whether code that a container stores under the target id `id` runs on the requested processor in
/// the requested modes.
fn runs_on(id: &str, (target, asked): (&'static Target, Modes)) -> bool {
    let agree = |one: Option<bool>, other: Option<bool>| one.is_none() || other.is_none() || one == other;
    // Older compilers write a shorter target triple, so only the part after the last `-` is compared.
    let features = id.find([':', '+']).unwrap_or(id.len());
    let name = id[..features].rfind('-').map_or(0, |dash| dash + 1);
    TargetId::parse(&id[name..]).is_ok_and(|id| {
        let modes = id.modes();
        id.target.name == target.name
            && agree(modes.xnack, asked.xnack)
            && agree(modes.sramecc, asked.sramecc)
    })
}

/// Returns the error for a file that contains no code object. The message lists what the file contains
/// instead.
fn none(file: &Path, contents: &Contents<'_>, damaged: Vec<String>) -> Failure {
    if !damaged.is_empty() {
        return Failure::File(damaged.join("\nerror: "));
    }
    let forms = contents.left_out.iter().filter(|part| part.why != Reason::NoGpuCode);
    let forms = listed(forms.map(|part| format!("{}: {}", part.path.join(":"), part.why)));
    Failure::File(format!("{}: there is no AMD GPU code object in it{forms}", file.display()))
}

/// Returns the names, one per line. If there are too many, only the first ones are listed.
fn listed(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    let mut text = String::new();
    for name in names.iter().take(LISTED) {
        let _ = write!(text, "\n  {name}");
    }
    if names.len() > LISTED {
        let _ = write!(text, "\n  and {} more", names.len() - LISTED);
    }
    text
}
