//! `--html FILE`: one self-contained page of what is known of a code object: source beside assembly, heat by line, why each
//! wait is there, register pressure, occupancy, bank conflicts, findings.
//!
//! Rust says what is known ([`Page`], which goes into the page as JSON); `page.js` shows it, `page.css` says how that looks.
//! The page asks nothing of the network.

mod code;
mod facts;
mod finding;

use super::told::Teller;
use super::{Failure, write};
use check::object::Entries;
use codeobj::disasm::Lines;
use kernc::sim::{self, Profile};
use serde::Serialize;
use std::path::Path;

pub use finding::{Finding, of_fault, of_note, of_report, of_static};

/// What is shown.
pub struct Content<'a> {
    /// The command that made it: `check`, `run`.
    pub command: &'a str,
    /// The file that was read.
    pub file: &'a Path,
    /// The code object.
    pub object: &'a [u8],
    /// Read it for this processor, whatever the header says.
    pub target: Option<&'static kernc::Target>,
    /// Knows the texts of sources.
    pub teller: &'a Teller,
    /// Why the compiler has inserted instructions, if it is known.
    pub reasons: &'a [kernc::Reason],
    /// The kernel that ran.
    pub kernel: Option<&'a str>,
    /// What was counted, and of which kernel.
    pub profile: Option<(&'a Profile, &'a sim::KernelInfo)>,
    /// What was found.
    pub findings: Vec<Finding>,
}

/// The page's data.
#[derive(Serialize)]
struct Page {
    command: String,
    file: String,
    version: &'static str,
    target: String,
    /// The kernel that ran.
    kernel: Option<String>,
    functions: Vec<code::Function>,
    sources: Vec<Source>,
    findings: Vec<Finding>,
    /// Wave instructions of the run, if one was counted.
    executed: Option<u64>,
    /// What else the run has shown: name and value.
    run: Vec<facts::Fact>,
}

/// A source text.
#[derive(Serialize)]
struct Source {
    name: String,
    /// `None`: it could not be read.
    lines: Option<Vec<String>>,
}

/// Writes the page.
pub fn save(to: &Path, content: Content<'_>) -> Result<(), Failure> {
    write(to, html(&page(content)?)?.as_bytes())
}

fn page(content: Content<'_>) -> Result<Page, Failure> {
    let Content { file, object: bytes, .. } = content;
    let object = super::inspect::parse(file, bytes)?;
    let entries = Entries::new(&object, content.target)
        .map_err(|refusal| Failure::File(format!("{}: {refusal}; try `--mcpu`", file.display())))?;
    let lines = Lines::read(&object);
    let counts = content.profile.map(|(profile, _)| profile);
    let mut names = Vec::new();
    let mut functions = code::functions(&entries, &lines, counts, &mut names);
    // What a loader would refuse has no facts.
    if let Ok(loaded) = sim::CodeObject::load(bytes) {
        for kernel in loaded.kernels() {
            let found = functions.iter_mut().find(|function| function.begins_at(kernel.entry));
            let Some(function) = found else { continue };
            function.explain(kernel, content.reasons);
            function.did_not_run = content.kernel.is_some_and(|ran| ran != kernel.name);
            facts::of_kernel(&loaded, kernel, function);
        }
    }
    let text = |name: String| Source {
        lines: content.teller.text(&name).map(|text| text.lines().map(str::to_owned).collect()),
        name,
    };
    Ok(Page {
        command: content.command.to_owned(),
        file: file.display().to_string(),
        version: env!("CARGO_PKG_VERSION"),
        target: entries.target().name.to_owned(),
        kernel: content.kernel.map(str::to_owned),
        executed: counts.map(Profile::executed),
        run: content.profile.map_or(Vec::new(), |(profile, kernel)| facts::of_run(profile, kernel)),
        functions,
        sources: names.into_iter().map(text).collect(),
        findings: content.findings,
    })
}

/// The file, and the kernel that ran, as the text of an element.
fn title(page: &Page) -> String {
    let name = Path::new(&page.file)
        .file_name()
        .map_or(page.file.clone(), |name| name.to_string_lossy().into_owned());
    let kernel = page.kernel.iter().map(|kernel| format!(": {kernel}"));
    let text = name + &kernel.collect::<String>();
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// The template with everything in its place.
fn html(page: &Page) -> Result<String, Failure> {
    let data = serde_json::to_string(page).map_err(|error| Failure::Internal(format!("error: {error}\n")))?;
    // Inside of a script element only `<` could end it.
    let data = data.replace('<', "\\u003c");
    let parts = [("/* page.css */", include_str!("page.css")), ("/* page.js */", include_str!("page.js"))];
    let template = include_str!("page.html").replace("<!-- title -->", &title(page));
    let (head, tail) = template.split_once("/* data */").unwrap_or((&template, ""));
    let filled =
        |text: &str| parts.iter().fold(text.to_owned(), |text, (mark, part)| text.replace(mark, part));
    Ok(filled(head) + &data + &filled(tail))
}
