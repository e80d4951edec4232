//! An assembler in LLVM's syntax: source text to AMD GPU code objects.
//!
//! [`assemble`] reads a text once (`assembler`): directives (`directive`), instructions by the rows of the `isa` crate
//! (`inst`), expressions (`expr`). At the end subsections are joined (`subsection`), the tables of call frames and of lines
//! are written (`frames`, `lines`), what names later symbols is filled in (`resolve`), and the sections become an object
//! (`object`).
//!
//! Deliberately not here: what instructions look like (the table of `isa`), which bits of a kernel descriptor mean what
//! (`objwriter::descriptor`).

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
mod late;
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

/// What kind of file to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// `ET_DYN`, ready for a loader.
    #[default]
    Loadable,
    /// `ET_REL`, for a linker.
    Relocatable,
}

/// What the assembler is told beside the source.
#[derive(Clone, Debug)]
pub struct Options {
    /// The processor; otherwise `.amdgcn_target` names it.
    pub target: Option<&'static Target>,
    /// The runtime that loads the object; otherwise `.amdgcn_target` names it, or it is `amdhsa`.
    pub os: Option<Os>,
    /// What to write.
    pub kind: Kind,
    /// Code object version, 2 to 6. Otherwise directives say it, or the metadata, or it is [`CodeObjectVersion::USUAL`].
    pub version: Option<u8>,
    /// XNACK replay on or off; otherwise any.
    pub xnack: Option<bool>,
    /// SRAM ECC on or off; otherwise any.
    pub sramecc: Option<bool>,
    /// Wavefronts of 64 lanes on GFX10, whose default is 32.
    pub wave64: bool,
    /// Compute-unit mode on GFX10.
    pub cumode: bool,
    /// Work-groups may be split over compute units on gfx90a.
    pub tgsplit: bool,
    /// Symbols and their values, as if each stood in a `.set` before the source.
    pub symbols: Vec<(String, i64)>,
    /// Most bytes that all sections may have together.
    pub max_output: u64,
    /// Most bytes that macros and repetitions may expand to.
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

/// Assembles a source text. It may not read files: `.include` and `.incbin` are errors.
///
/// # Errors
/// Everything that is wrong with the text, in its order.
pub fn assemble(source: &str, options: &Options) -> Result<Vec<u8>, Vec<Diagnostic>> {
    run(source, options, None)
}

/// Assembles a source text that may read the files that `loader` finds.
///
/// # Errors
/// Everything that is wrong with the text, in its order.
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
    let mut padded = FxHashSet::default();
    let mut late = late::Late::default();
    // A nop behind a branch makes others longer: each turn finds one more at least, none of them twice. Numbers that only
    // the end tells have limits of their own.
    let (assembler, resolved) = loop {
        let mut assembler = assembler::Assembler::new(options);
        assembler.loader = loader.take();
        assembler.padded_branches = std::mem::take(&mut padded);
        assembler.late = std::mem::take(&mut late);
        assembler.assemble(source);
        let resolved = assembler.resolve();
        let diagnostics = assembler.take_diagnostics();
        // What is wrong while sizes are not what they will be may be right then.
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
        late = assembler.late.again();
    };
    // A text without instructions may not have asked for it yet, but whoever reads the object will.
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

/// How a processor is named.
pub(crate) const PROCESSOR_NOTE: &str =
    "give `--mcpu`, or begin the source with `.amdgcn_target \"amdgcn-amd-amdhsa--gfx906\"`";

/// What is wrong with all of a text.
fn without_place(message: String, notes: Vec<String>) -> Diagnostic {
    Diagnostic { message, span: 0..0, label: String::new(), notes, file: None }
}

/// What options and directives together say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub target: Option<&'static Target>,
    pub os: Option<Os>,
    /// A file header that `.kernc_elf_header` gives.
    pub header: Option<Identity>,
    /// A linker sees the object.
    pub relocatable: bool,
    pub version: Option<u8>,
    /// What `amdhsa.version` of the metadata says.
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

    /// A target feature: on, off, or either. The target id of V3 names what is on or either, and what it does not name
    /// is off.
    pub fn feature(&self, value: Option<bool>) -> Option<bool> {
        if self.has_plain_id && self.version() <= 3 { value.or(Some(false)) } else { value }
    }

    /// The runtime that loads the object.
    pub fn os(&self) -> Os {
        self.os.unwrap_or_default()
    }

    /// Code object version.
    pub fn version(&self) -> u8 {
        self.version.or(self.metadata_version).unwrap_or(CodeObjectVersion::USUAL.number())
    }
}
