//! What both kinds of object hold: contents of the sections, symbols, and the references between sections.

use crate::code::{self, Code};
use crate::{EmitError, Program, descriptor, metadata};
use isa::RelocRef;

/// The sections that have contents of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Text,
    Rodata,
    Data,
}

/// A global symbol.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub name: String,
    pub section: Section,
    pub offset: u64,
    pub size: u64,
    pub is_function: bool,
    pub is_descriptor: bool,
}

/// A field that holds the distance from itself to a symbol, plus `addend`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference {
    pub section: Section,
    pub offset: u64,
    pub symbol: usize,
    pub addend: i64,
    pub width: Width,
}

/// Which part of the distance a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    Low32,
    High32,
    Full64,
}

/// Section contents before addresses are known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Image {
    pub text: Vec<u8>,
    pub rodata: Vec<u8>,
    pub data: Vec<u8>,
    pub note: Vec<u8>,
    /// Symbol `2n` is kernel `n`, `2n + 1` its descriptor; variables follow.
    pub symbols: Vec<Symbol>,
    pub references: Vec<Reference>,
}

/// Kernels begin at multiples of this (seed 000, line 2567: the entry must be 256-byte aligned).
pub(crate) const KERNEL_ALIGN: usize = 256;
/// `s_nop 0`, which assemblers pad code with.
const PADDING: u32 = 0xbf80_0000;

impl Image {
    /// Lays out code, descriptors, variables and the metadata note.
    pub fn new(program: &Program) -> Result<Image, EmitError> {
        let mut image = Image::default();
        for kernel in &program.kernels {
            let code = code::encode(&program.target, kernel.func)?;
            image.add_kernel(program, kernel, &code)?;
        }
        image.add_variables(program);
        image.note = note(&metadata::message_pack(&metadata::tree(program))?);
        Ok(image)
    }

    fn add_kernel(
        &mut self,
        program: &Program,
        kernel: &crate::Kernel,
        code: &Code,
    ) -> Result<(), EmitError> {
        while !self.text.len().is_multiple_of(KERNEL_ALIGN) {
            self.text.extend_from_slice(&PADDING.to_le_bytes());
        }
        let start = self.text.len() as u64;
        self.text.reserve(code.words.len() * 4);
        for word in &code.words {
            self.text.extend_from_slice(&word.to_le_bytes());
        }
        let symbol = self.symbols.len();
        let name = &kernel.func.name;
        self.symbols.push(Symbol {
            name: name.clone(),
            section: Section::Text,
            offset: start,
            size: code.words.len() as u64 * 4,
            is_function: true,
            is_descriptor: false,
        });
        for fixup in &code.fixups {
            let reloc = kernel.func.relocs[fixup.reloc as usize];
            let reference = self.variable_reference(program, start, fixup, reloc)?;
            self.references.push(reference);
        }
        let at = self.rodata.len() as u64;
        self.rodata.extend_from_slice(&descriptor::bytes(&program.target, kernel, 0));
        self.symbols.push(Symbol {
            name: format!("{name}.kd"),
            section: Section::Rodata,
            offset: at,
            size: descriptor::SIZE as u64,
            is_function: false,
            is_descriptor: true,
        });
        // The distance counts from the descriptor, the field lies 16 bytes into it.
        self.references.push(Reference {
            section: Section::Rodata,
            offset: at + descriptor::ENTRY_OFFSET as u64,
            symbol,
            addend: descriptor::ENTRY_OFFSET as i64,
            width: Width::Full64,
        });
        Ok(())
    }

    /// The distance counts from the end of `s_getpc_b64`, the literal lies further on.
    fn variable_reference(
        &self,
        program: &Program,
        start: u64,
        fixup: &code::Fixup,
        reloc: RelocRef,
    ) -> Result<Reference, EmitError> {
        let variable = program
            .variables
            .iter()
            .position(|variable| variable.id == reloc.global)
            .ok_or(EmitError::UnknownVariable(reloc.global))?;
        Ok(Reference {
            section: Section::Text,
            offset: start + u64::from(fixup.at) * 4,
            symbol: program.kernels.len() * 2 + variable,
            addend: i64::from(fixup.at - fixup.origin) * 4 + reloc.addend,
            width: if reloc.hi { Width::High32 } else { Width::Low32 },
        })
    }

    fn add_variables(&mut self, program: &Program) {
        for variable in &program.variables {
            let (section, bytes) = if variable.writable {
                (Section::Data, &mut self.data)
            } else {
                (Section::Rodata, &mut self.rodata)
            };
            let offset = bytes.len().next_multiple_of(variable.align.max(1) as usize);
            bytes.resize(offset, 0);
            bytes.extend_from_slice(variable.init);
            bytes.resize(offset + variable.size as usize, 0);
            self.symbols.push(Symbol {
                name: variable.name.to_owned(),
                section,
                offset: offset as u64,
                size: u64::from(variable.size),
                is_function: false,
                is_descriptor: false,
            });
        }
    }

    /// Contents of a section, to be patched.
    pub fn section_mut(&mut self, section: Section) -> &mut Vec<u8> {
        match section {
            Section::Text => &mut self.text,
            Section::Rodata => &mut self.rodata,
            Section::Data => &mut self.data,
        }
    }
}

/// `NT_AMDGPU_METADATA` (seed 000, line 455).
fn note(desc: &[u8]) -> Vec<u8> {
    const NAME: &[u8; 8] = b"AMDGPU\0\0";
    const NT_AMDGPU_METADATA: u32 = 32;
    let mut out = Vec::with_capacity(20 + desc.len() + 3);
    out.extend_from_slice(&7u32.to_le_bytes());
    out.extend_from_slice(&(desc.len() as u32).to_le_bytes());
    out.extend_from_slice(&NT_AMDGPU_METADATA.to_le_bytes());
    out.extend_from_slice(NAME);
    out.extend_from_slice(desc);
    out.resize(out.len().next_multiple_of(4), 0);
    out
}
