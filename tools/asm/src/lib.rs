//! Assembler in LLVM's syntax: converts source text to AMD GPU code objects.
//!
//! [`assemble`] reads a text once (`assembler`): directives (`directive`), instructions with the table of the
//! `isa` crate (`inst`), and expressions (`expr`). At the end, subsections are joined (`subsection`), the
//! tables of call frames and lines are written (`frames`, `lines`), references to later symbols are filled in
//! (`resolve`), and the sections become an object (`object`).
//!
//! The syntax and encoding of instructions are not defined here but in the table of `isa`, and the bits of
//! kernel descriptors in `objwriter::descriptor`.

mod assembler;
mod cursor;
mod diag;
mod directive;
mod error;
mod expr;
mod files;
mod frames;
mod function;
mod inst;
mod late_sizes;
mod lines;
mod metadata;
mod number;
mod object;
mod resolve;
mod section;
mod subsection;
mod symbol;

pub use diag::{Diagnostic, render};
pub use files::{File, Included, Loader};

use isa::{CodeObjectVersion, Os, Target};
use objwriter::elf::Identity;
use rustc_hash::FxHashSet;

/// Kind of file to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// `ET_DYN`, ready for a loader.
    #[default]
    Loadable,
    /// `ET_REL`, for a linker.
    Relocatable,
}

/// Options of the assembler.
#[derive(Clone, Debug)]
pub struct Options {
    /// Processor. If not given, `.amdgcn_target` names it.
    pub target: Option<&'static Target>,
    /// Operating system (runtime) that loads the object. If it is not given, `.amdgcn_target` names it, and
    /// the default is `amdhsa`.
    pub os: Option<Os>,
    /// Kind of file to write.
    pub kind: Kind,
    /// Code object version, from 2 to 6. If it is not given, directives or the metadata determine it, and the
    /// default is [`CodeObjectVersion::USUAL`].
    pub version: Option<u8>,
    /// XNACK replay on or off. If not given, any.
    pub xnack: Option<bool>,
    /// SRAM ECC on or off. If not given, any.
    pub sramecc: Option<bool>,
    /// Whether waves have 64 lanes on GFX10, where the default is 32.
    pub wave64: bool,
    /// Whether compute-unit mode is used on GFX10.
    pub cumode: bool,
    /// Whether work-groups may be split over compute units on gfx90a.
    pub tgsplit: bool,
    /// Symbols with their values, which are defined as if by a `.set` before the source.
    pub symbols: Vec<(String, i64)>,
    /// Maximum total size of all sections in bytes.
    pub max_output: u64,
    /// Maximum number of bytes to which macros and repetitions may expand.
    pub max_expansion: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            target: None,
            os: None,
            kind: Kind::default(),
            version: None,
            xnack: None,
            sramecc: None,
            wave64: false,
            cumode: false,
            tgsplit: false,
            symbols: Vec::new(),
            max_output: 1 << 30,
            max_expansion: 1 << 28,
        }
    }
}

/// Assembles a source text that reads no files: `.include` and `.incbin` are errors.
///
/// # Errors
/// Returns all errors in the text, in order.
pub fn assemble(source: &str, options: &Options) -> Result<Vec<u8>, Vec<Diagnostic>> {
    run(source, options, None)
}

/// Assembles a source text, which may read the files that `loader` finds.
///
/// # Errors
/// Returns all errors in the text, in order.
pub fn assemble_with(
    source: &str,
    options: &Options,
    loader: Box<dyn Loader>,
) -> Result<Vec<u8>, Vec<Diagnostic>> {
    run(source, options, Some(loader))
}

fn run(
    source: &str,
    options: &Options,
    mut loader: Option<Box<dyn Loader>>,
) -> Result<Vec<u8>, Vec<Diagnostic>> {
    if let Some(Err(open)) = options.target.map(|target| target.needs(&FACTS)) {
        return Err(vec![without_place(open.to_string(), Vec::new())]);
    }
    let mut padded = FxHashSet::default();
    let mut late = late_sizes::Late::default();
    // The source is read repeatedly: a nop that is inserted after a branch makes other branches longer, and
    // these may then need a nop as well. The loop ends, because each reading finds at least one branch that
    // no earlier reading has found. Sizes that are known only at the end require further readings, which have
    // a limit of their own.
    let (assembler, resolved) = loop {
        let mut assembler = assembler::Assembler::new(options);
        assembler.loader = loader.take();
        assembler.padded_branches = std::mem::take(&mut padded);
        assembler.late = std::mem::take(&mut late);
        assembler.assemble(source);
        let resolved = assembler.resolve();
        let diagnostics = assembler.take_diagnostics();
        // While sizes still change, errors are ignored: an error may be the consequence of a wrong size, and
        // disappear in a later reading.
        if !assembler.late.changed {
            if !diagnostics.is_empty() {
                return Err(diagnostics);
            }
            if assembler.wrong_branches.is_empty() {
                break (assembler, resolved);
            }
        }
        loader = assembler.loader.take();
        padded = assembler.padded_branches;
        padded.extend(assembler.wrong_branches);
        late = assembler.late.next_reading();
    };
    // Even for a text without instructions the processor must be known, because the object contains it.
    if assembler.settings.target.is_none() {
        return Err(vec![without_place(
            "the processor is not known".to_owned(),
            vec![PROCESSOR_NOTE.to_owned()],
        )]);
    }
    let object = assembler.object(&resolved);
    object
        .and_then(|object| match options.kind {
            Kind::Relocatable => objwriter::elf::relocatable(&object),
            Kind::Loadable => objwriter::elf::loadable(&object),
        })
        .map_err(|message| vec![without_place(message, Vec::new())])
}

/// The facts about a processor that the assembler reads.
const FACTS: [&str; 6] = ["layout", "registers", "waits", "addressing", "device", "descriptor"];

/// Explains how to name the processor.
pub(crate) const PROCESSOR_NOTE: &str =
    "give `--mcpu`, or begin the source with `.amdgcn_target \"amdgcn-amd-amdhsa--gfx906\"`";

/// Returns an error that concerns the whole text.
fn without_place(message: String, notes: Vec<String>) -> Diagnostic {
    Diagnostic { message, span: 0..0, label: String::new(), notes, file: None }
}

/// Settings from options and directives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub target: Option<&'static Target>,
    pub os: Option<Os>,
    /// File header given by `.kernc_elf_header`.
    pub header: Option<Identity>,
    /// Whether the object is meant for a linker.
    pub relocatable: bool,
    pub version: Option<u8>,
    /// Code object version that follows from `amdhsa.version` in the metadata. `None` if the source has no
    /// metadata.
    pub metadata_version: Option<u8>,
    pub xnack: Option<bool>,
    pub sramecc: Option<bool>,
    pub cumode: Option<bool>,
    pub tgsplit: bool,
    pub wave64: bool,
    /// Whether `.amdgcn_target` names no features.
    pub has_plain_id: bool,
}

impl Settings {
    fn new(options: &Options) -> Settings {
        Settings {
            target: options.target,
            os: options.os,
            header: None,
            relocatable: options.kind == Kind::Relocatable,
            version: options.version,
            metadata_version: None,
            xnack: options.xnack,
            sramecc: options.sramecc,
            cumode: options.cumode.then_some(true),
            tgsplit: options.tgsplit,
            wave64: options.wave64,
            has_plain_id: false,
        }
    }

    /// Returns the setting of a target feature: on, off, or either (`None`). In V3, the target id names the
    /// features that are on or may be on, so a feature that it does not name is off.
    pub fn feature(&self, value: Option<bool>) -> Option<bool> {
        let is_old = self.os().system().has_metadata && self.version() <= 3;
        if self.has_plain_id && is_old { value.or(Some(false)) } else { value }
    }

    /// Returns the runtime that loads the object.
    pub fn os(&self) -> Os {
        self.os.unwrap_or_default()
    }

    /// Returns the code object version.
    pub fn version(&self) -> u8 {
        self.version.or(self.metadata_version).unwrap_or(CodeObjectVersion::USUAL.number())
    }
}
