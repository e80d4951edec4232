//! Prints code objects as assembly text from which an assembler makes the same bytes again.
//!
//! # Output
//! Directives for the target and the version; then each loaded section: code as instructions with labels at
//! branch targets, kernel descriptors as `.amdhsa_kernel` blocks, data as numbers, and notes as the
//! directives that write them. What directives cannot express (reserved bits, unusual metadata) is written as
//! bytes, and words that are not instructions as `.long`. Relocations of relocatable files become
//! expressions.
//!
//! # Guarantees
//! Disassembly never fails because of the contents: whatever the file contains, the text covers every byte of
//! its code and data once.
//!
//! # Not included
//! Tables that only a linker makes (`.dynsym`, `.hash`, `.dynamic`), because linking the assembled text makes
//! them again; and debug information, which appears only in comments.

mod code;
mod data;
mod descriptor;
mod expr;
mod groups;
mod lines;
mod marks;
mod notes;
mod of_compilers;
mod section;
mod waves;

pub use lines::{Lines, SourcePlace, relocated};

use crate::elf::{CodeObject, Section};
use crate::identity::{Identity, OsAbi};
use crate::kernel_code::KernelCode;
use crate::names;
use isa::{Feature, Target};
use std::fmt::{self, Write};

/// Options for printing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Processor for which the code is decoded. If given, it takes precedence over the file header.
    pub target: Option<&'static Target>,
    /// Number of lanes of a wave for code that belongs to no kernel descriptor; it matters on GFX10. If not
    /// given, it is that of the first kernel, or 32 if there is no kernel.
    pub wave_size: Option<u32>,
    /// Whether to add the address and bytes of each instruction as a comment.
    pub raw: bool,
    /// Whether to add source lines, if the file has them.
    pub lines: bool,
}

/// Error: the processor is unknown, and none was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownProcessor {
    /// `EF_AMDGPU_MACH` field of the file.
    pub mach: u32,
    /// Name of the processor, if it is known.
    pub name: Option<&'static str>,
}

impl fmt::Display for UnknownProcessor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            Some(name) => write!(f, "it is for {name}, which kernc does not decode"),
            None => {
                write!(f, "it is for a processor that kernc does not know (EF_AMDGPU_MACH {:#x})", self.mach)
            }
        }
    }
}

impl std::error::Error for UnknownProcessor {}

/// A function that is called where the source line changes, with the address of the instruction and the
/// source location. The lines of text that it returns become comments.
pub type Beside<'a> = &'a dyn Fn(u64, &SourcePlace) -> String;

/// Returns the code object as assembly text.
///
/// # Errors
/// The processor is unknown, and none was given.
pub fn disassemble(object: &CodeObject<'_>, options: &Options) -> Result<String, UnknownProcessor> {
    disassemble_beside(object, options, None)
}

/// Returns the code object as assembly text, with the results of `beside` as comments at source lines.
///
/// # Errors
/// The processor is unknown, and none was given.
pub fn disassemble_beside(
    object: &CodeObject<'_>,
    options: &Options,
    beside: Option<Beside<'_>>,
) -> Result<String, UnknownProcessor> {
    let identity = Identity::of_object(object);
    let unknown = UnknownProcessor { mach: identity.mach, name: identity.processor() };
    let target = options.target.or(identity.target).ok_or(unknown)?;
    let target = waves::with_wave_size(object, target, options.wave_size);
    let processor = match options.target {
        Some(target) => target.name,
        None => identity.processor().unwrap_or(target.name),
    };
    let mut out = String::new();
    let lines = if options.lines { lines::Lines::read(object) } else { lines::Lines::default() };
    let (names, waves) = (expr::Names::new(object), waves::Waves::for_object(object, target));
    let mut headers: Vec<_> = object.kernel_codes().collect();
    headers.sort_by_key(|header| header.address);
    let groups = groups::Groups::for_object(object);
    let listing =
        Listing { object, identity, target, names, groups, waves, headers, lines, beside, raw: options.raw };
    // Writing to a string does not fail.
    let _ = listing.write(processor, &mut out);
    Ok(out)
}

struct Listing<'a, 'data> {
    object: &'a CodeObject<'data>,
    identity: Identity,
    target: &'static Target,
    names: expr::Names<'data>,
    groups: groups::Groups,
    waves: waves::Waves,
    /// Headers before V2's kernels, sorted by address.
    headers: Vec<KernelCode<'data>>,
    lines: lines::Lines,
    beside: Option<Beside<'a>>,
    raw: bool,
}

impl<'data> Listing<'_, 'data> {
    fn write(&self, processor: &str, out: &mut String) -> fmt::Result {
        self.prologue(processor, out)?;
        let mut left_out = Vec::new();
        // How many bytes may still be written, so that a damaged file does not produce a huge text. The limit
        // is the size of the file: sections of a valid file do not overlap, so they are not larger together.
        let mut budget = self.object.file_size;
        // Code comes first in the text: an assembler gives the symbol of a kernel descriptor the binding of
        // the kernel's symbol, so it must have read this symbol before.
        let (mut shown, mut begins) = (Vec::new(), Vec::new());
        for (index, section) in self.object.sections.iter().enumerate().skip(1) {
            match self.is_shown(section) {
                true => shown.push((index, section)),
                false => left_out.push(section),
            }
        }
        shown.sort_by_key(|(_, section)| !section.is_code());
        for (index, section) in shown {
            if let Some(left) = budget.checked_sub(section.data.len()) {
                budget = left;
                self.section(index, section, &mut begins, out)?;
            } else {
                writeln!(
                    out,
                    "\n\t; section {} overlaps others and is left out",
                    section.name.escape_debug()
                )?;
            }
        }
        let mut significant = String::new();
        self.significant_addresses(&mut significant)?;
        self.names.put_section_labels(&begins, out);
        self.outside_symbols(out)?;
        self.notes(out)?;
        out.push_str(&significant);
        self.epilogue(&left_out, out)
    }

    fn prologue(&self, processor: &str, out: &mut String) -> fmt::Result {
        let header = &self.object.header;
        if !self.identity.is_said_by_directives(header) {
            let (os_abi, abi_version, flags) = (header.os_abi, header.abi_version, header.flags);
            writeln!(out, "\t.kernc_elf_header {os_abi:#x}, {abi_version}, {flags:#x}")?;
        }
        if self.identity.version == Some(2) {
            return self.prologue_v2(processor, out);
        }
        let id = self.identity.target_id(processor);
        writeln!(out, "\t.amdgcn_target \"{}\"", self.noted_target_id(&id).unwrap_or(&id))?;
        if let Some(version) = self.identity.version {
            writeln!(out, "\t.amdhsa_code_object_version {version}")?;
        }
        if self.target.has(Feature::WAVE32) && self.target.wave_size == 64 {
            writeln!(out, "\t; wavefronts of 64 lanes: assemble with -mattr=+wavefrontsize64")?;
        }
        Ok(())
    }

    /// Returns whether the section is part of the text.
    fn is_shown(&self, section: &Section<'_>) -> bool {
        let is_contents = matches!(names::section_type(section.kind).as_str(), "PROGBITS" | "NOBITS");
        let is_linkers = matches!(section.name, ".relro_padding" | ".got" | ".got.plt" | ".plt")
            && !self.object.header.is_relocatable();
        // Drivers of other systems than HSA's read sections that no loader puts into memory. Compilers also
        // write listings into such sections.
        let is_drivers = section.name.starts_with(".AMDGPU.");
        // A linker makes these sections of a linked file again.
        let is_compilers =
            matches!(section.name, ".comment" | ".note.GNU-stack") && self.object.header.is_relocatable();
        let is_read = section.is_loaded() || is_drivers || is_compilers;
        is_read && is_contents && !is_linkers && !section.name.is_empty()
    }

    /// Writes comments about sections that the text does not contain, and about problems of the file.
    fn epilogue(&self, left_out: &[&Section<'_>], out: &mut String) -> fmt::Result {
        let shown = |section: &&&Section<'_>| {
            section.name.starts_with(".debug") || section.is_loaded() && section.name == ".got"
        };
        let mut left_out = left_out.iter().filter(shown).peekable();
        if left_out.peek().is_some() {
            write!(out, "\n\t; not shown:")?;
            for section in left_out {
                write!(out, " {} ({} bytes)", section.name, section.size)?;
            }
            writeln!(out)?;
        }
        for problem in &self.object.problems {
            writeln!(out, "\t; {}", problem.replace(['\n', '\r'], " "))?;
        }
        Ok(())
    }

    /// Returns whether kernels have kernel descriptors, as in V3 and later. In V2 they have headers before
    /// their code instead.
    fn is_hsa_v3(&self) -> bool {
        self.identity.os_abi == OsAbi::Hsa && self.identity.version != Some(2)
    }
}
