//! Finds `amd_kernel_code_t`, the 256 bytes before a kernel's code in code objects V2.

use crate::elf::{CodeObject, STT_AMDGPU_HSA_KERNEL, Symbol};
pub use objwriter::kernel_code::*;

/// Header of a kernel, and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelCode<'data> {
    /// Name of the kernel.
    pub kernel: &'data str,
    /// Section index.
    pub section: usize,
    /// Address, or in relocatable files the offset in the section.
    pub address: u64,
    /// Contents of the header.
    pub bytes: [u8; SIZE],
}

impl KernelCode<'_> {
    /// Returns those of the keys unknown to LLVM 14 that are not 0.
    pub fn abi_keys(&self) -> impl Iterator<Item = &'static Key> {
        ABI_KEYS.iter().filter(|key| key.get(&self.bytes) != 0)
    }
}

impl<'data> CodeObject<'data> {
    /// Returns the header at a symbol of a code object V2.
    pub fn kernel_code(&self, symbol: &Symbol<'data>) -> Option<KernelCode<'data>> {
        let section = usize::from(symbol.section);
        let is_code = self.sections.get(section).is_some_and(|section| section.is_code());
        if symbol.kind != STT_AMDGPU_HSA_KERNEL || !is_code {
            return None;
        }
        let bytes = self.bytes_at(section, symbol.value, SIZE as u64)?.try_into().ok()?;
        Some(KernelCode { kernel: symbol.name, section, address: symbol.value, bytes })
    }

    /// Returns all headers, in the order of the symbol table.
    pub fn kernel_codes(&self) -> impl Iterator<Item = KernelCode<'data>> {
        self.symbols().iter().filter_map(|symbol| self.kernel_code(symbol))
    }
}
