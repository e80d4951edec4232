//! Linker for AMD GPU objects: joins relocatable files and archives of them into one loadable code object, as
//! `ld.lld -shared` does.
//!
//! [`archive`] and [`input`] parse files. [`symbols`] decides which definition each name means and which
//! archive members are needed, [`versions`] which names are visible, and [`live`] which sections remain.
//! [`code`] analyses functions, [`reach`] follows their references, [`stack`] computes the stack size of
//! calls, [`resources`] reads what compilers declare about functions, and [`kernels`] raises the numbers in
//! kernel descriptors. [`signatures`] compares the types of functions across objects. [`sections`] joins
//! sections of the same name, [`notes`] joins metadata, and [`report`] describes the result. The result is a
//! single [`objwriter::elf::Object`], as if one assembler source had contained everything. `objwriter` does
//! the layout, the relocation and the dynamic tables, as for the compiler and the assembler.
//!
//! # Source
//! The System V ABI, chapters 4 and 5; seed 000, lines 387 (sections), 472 (symbols), 507 (relocations); the
//! output of `ld.lld` 19 for the same files.

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

/// Input file.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Name for messages.
    pub name: &'a str,
    /// Contents of the file: a relocatable object, or an archive of relocatable objects.
    pub data: &'a [u8],
    /// Whether an object is linked only if it defines a name that is needed, as a member of an archive is.
    pub is_lazy: bool,
}

/// Kind of output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Loadable code object, as from `ld.lld -shared`.
    #[default]
    Loadable,
    /// The output is a relocatable object, as `ld.lld -r` writes it. Names may be undefined in it.
    Relocatable,
}

/// Options for linking.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Kind of output.
    pub kind: Kind,
    /// Whether to omit sections to which no section of the output refers. Kernels and sections that other
    /// objects may see are kept in any case.
    pub gc_sections: bool,
    /// Names that other objects may see, besides those of kernels. If the list is empty, other objects see
    /// all names with default visibility.
    pub export: Vec<String>,
    /// Version script. It also decides which names other objects may see, including those of kernels. Ignored
    /// for relocatable output.
    pub versions: Option<Versions>,
    /// Names that are needed although no object refers to them.
    pub undefined: Vec<String>,
    /// Whether a kernel gets exactly the scratch memory that its calls take, if this size is known.
    /// Otherwise, it gets at least the size that its compiler assumed.
    pub exact_stack: bool,
    /// Whether the report includes where everything is in the output, and what kernels need and why. Warnings
    /// are in the report in any case.
    pub tells: bool,
    /// Whether to leave undefined names to the loader, as `ld.lld -shared` does by default.
    pub allow_undefined: bool,
}

/// Reason why files cannot be linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An input file is not an object file, is damaged, or contains something that no linker for AMD GPUs
    /// supports.
    File(String),
    /// The files are valid but do not fit together.
    Link(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (Fault::File(text) | Fault::Link(text)) = self;
        f.write_str(text)
    }
}

impl std::error::Error for Fault {}

/// Result of linking.
#[derive(Clone, Debug)]
pub struct Linked {
    /// Contents of the output file.
    pub file: Vec<u8>,
    /// Report about the output.
    pub report: Report,
}

/// Links files, in order, to one output. Of an archive, only the members are linked that define names which
/// are needed and not defined so far.
///
/// # Errors
/// Returns everything that is wrong, one sentence for each fault: files that are not objects or are
/// damaged, objects for different processors, names that are defined twice or not at all, relocations that
/// cannot be applied.
pub fn link(inputs: &[Input], options: &Options) -> Result<Vec<u8>, Vec<Fault>> {
    link_with_report(inputs, options).map(|linked| linked.file)
}

/// Links files as [`link()`] does, and returns a report about the output as well.
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
    let places = report.add_addresses(&file);
    for (n, number) in table {
        // Some entries of the global offset table are absolute numbers. The writer of the object only fills
        // in addresses, so these entries are written here.
        let at = places.get(".got").map_or(0, |&(_, offset)| offset as usize) + n * 8;
        if let Some(entry) = file.get_mut(at..at + 8) {
            entry.copy_from_slice(&number.to_le_bytes());
        }
    }
    Ok(Linked { file, report })
}
