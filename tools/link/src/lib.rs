//! A linker for AMD GPU objects: relocatable files and archives of them become one code object that loads, as
//! `ld.lld -shared` makes it.
//!
//! [`archive`] and [`input`] take files apart, [`symbols`] decides which definition each name means and which members of archives are
//! needed, [`versions`] which names are seen, [`live`] which sections stay. [`code`] reads functions, [`reach`] follows what they lead to,
//! [`stack`] what their calls take, [`resources`] what compilers say of them, and [`kernels`] raises descriptors. [`signatures`] compares what objects say of the types of functions. [`sections`] joins those of one
//! name, [`notes`] the metadata; [`report`] tells of it all. What comes out is one [`objwriter::elf::Object`], as if one assembler source had held it
//! all; laying it out, relocating it and its dynamic tables are what `objwriter` does for the compiler and the assembler, too.
//!
//! # Source
//! The System V ABI, chapters 4 and 5; seed 000, lines 387 (sections), 472 (symbols), 507 (relocations); what `ld.lld` 19
//! makes of the same files.

mod archive;
mod code;
mod identity;
mod input;
mod join;
mod kernels;
mod live;
mod notes;
mod pool;
mod reach;
mod registers;
mod report;
mod resources;
mod sections;
mod signatures;
mod stack;
mod symbols;
mod versions;

pub use archive::thin_members;
pub use report::{Count, KernelReport, Part, Report, Row, Scratch};
pub use stack::Unknown;
pub use versions::Versions;

use input::Object;
use std::fmt;

/// A file and its name.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// What messages call it.
    pub name: &'a str,
    /// A relocatable object, or an archive of such.
    pub data: &'a [u8],
    /// Whether it is an object that is taken only if something needs it, as if it were a member of an archive.
    pub is_lazy: bool,
}

/// What comes out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A code object that loads, as of `ld.lld -shared`.
    #[default]
    Loadable,
    /// One object of all, as of `ld.lld -r`; what it lacks it may lack.
    Relocatable,
}

/// How to link.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What comes out.
    pub kind: Kind,
    /// Leave out sections that nothing which stays refers to. What other objects may see stays, and so do kernels.
    pub gc_sections: bool,
    /// If there are any: the only names, kernels aside, that other objects may see.
    pub export: Vec<String>,
    /// What else decides which names other objects see, kernels too; not of what is to be linked again.
    pub versions: Option<Versions>,
    /// Names that are needed though no object says so.
    pub undefined: Vec<String>,
    /// Allot exactly the scratch memory that a kernel's calls take, where that is known, and not what the compiler assumed.
    pub exact_stack: bool,
    /// Tell what is where, and what kernels need and why. What is suspicious is told anyway.
    pub tells: bool,
    /// Leave names that are not defined to the loader, as `ld.lld -shared` does if it is not told otherwise.
    pub allow_undefined: bool,
}

/// Why files cannot be linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A file is no object, or damaged, or holds what no linker for AMD GPUs takes.
    File(String),
    /// Sound files do not fit together.
    Link(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (Fault::File(text) | Fault::Link(text)) = self;
        f.write_str(text)
    }
}

impl std::error::Error for Fault {}

/// What linking makes.
#[derive(Clone, Debug)]
pub struct Linked {
    /// The file.
    pub file: Vec<u8>,
    /// What there is to say of it.
    pub report: Report,
}

/// Links files in their order. Of an archive those members are taken that define what is not defined yet.
///
/// # Errors
/// Everything that is wrong, a sentence each: files that are no objects or damaged, objects for different processors, names
/// that are defined twice or not at all, relocations that cannot be applied.
pub fn link(inputs: &[Input], options: &Options) -> Result<Vec<u8>, Vec<Fault>> {
    link_with_report(inputs, options).map(|linked| linked.file)
}

/// As [`link()`], with what there is to say of it.
///
/// # Errors
/// As [`link()`].
pub fn link_with_report(inputs: &[Input], options: &Options) -> Result<Linked, Vec<Fault>> {
    let mut symbols = symbols::Symbols::default();
    let mut files = Vec::new();
    options.undefined.iter().for_each(|name| symbols.want(name));
    for input in inputs {
        if let Err(error) = symbols.add_file(input) {
            files.push(Fault::File(format!("{}: {error}", input.name)));
        }
    }
    if !files.is_empty() {
        return Err(files);
    }
    linked(&mut symbols, options).map_err(|errors| errors.into_iter().map(Fault::Link).collect())
}

fn linked(symbols: &mut symbols::Symbols, options: &Options) -> Result<Linked, Vec<String>> {
    if symbols.objects.is_empty() {
        return Err(vec!["there is nothing to link: no member of an archive is needed".into()]);
    }
    let is_loadable = options.kind == Kind::Loadable;
    if is_loadable {
        symbols.make();
    }
    let mut unfit = symbols.restrict(&options.export);
    if let Some(versions) = options.versions.as_ref().filter(|_| is_loadable) {
        unfit.extend(symbols.hide(versions));
    }
    let identity = identity::joined(&symbols.objects).map_err(|error| unfit.push(error));
    let live::Live { sections: live, dropped } = live::sections(symbols, options);
    dropped.into_iter().for_each(|global| symbols.globals[global].is_dropped = true);
    let mut errors = symbols.faults();
    if is_loadable {
        errors.extend(symbols.undefined(options.allow_undefined));
    }
    errors.extend(signatures::differences(&symbols.objects));
    errors.append(&mut unfit);
    let (true, Ok(identity)) = (errors.is_empty(), identity) else { return Err(errors) };
    let one = |error| vec![error];
    let join::Joined { object, mut report, table } =
        join::joined(symbols, &live, identity, options).map_err(one)?;
    let mut file = match options.kind {
        Kind::Loadable => objwriter::elf::loadable(&object).map_err(one)?,
        Kind::Relocatable => objwriter::elf::relocatable(&object).map_err(one)?,
    };
    let places = report.place(&file);
    for (n, number) in table {
        // What writes the table leaves numbers in it to us.
        let at = places.get(".got").map_or(0, |&(_, offset)| offset as usize) + n * 8;
        if let Some(entry) = file.get_mut(at..at + 8) {
            entry.copy_from_slice(&number.to_le_bytes());
        }
    }
    Ok(Linked { file, report })
}
