//! Kernels of drivers before 15.11: a stub, a header and code, all in `.text` of the outer file.
//!
//! # Source
//! CLRX, `amdbin/AmdCL2BinGen.cpp` (`IntAmdCL2StubHeader`, `IntAmdCL2StubEnd`), for the words of the stub
//! whose meaning is known, and `amdbin/AmdCL2Binaries.cpp` for the order of the parts.

use crate::bytes::{Bytes, Result};
use crate::fields::{Field, List};
use crate::kernel_code::KernelCode;

/// Kernel of an old driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OldKernel<'a> {
    /// Name.
    pub name: &'a str,
    /// Description of the kernel for the driver. Its first word is the offset of the header.
    pub stub: &'a [u8],
    /// Header, from its first byte to the first instruction.
    pub setup: &'a [u8],
    /// Code.
    pub code: &'a [u8],
    /// Record of the symbol `__ISA_&__OpenCL_NAME_kernel_metadata`. Its meaning is not known.
    pub record: Option<&'a [u8]>,
}

/// Words of the stub whose meaning is known: offset and name.
static STUB: &[(usize, &str)] = &[
    (0x00, "offset of the header"),
    (0x04, "instructions"),
    (0x08, "VGPRs"),
    (0x24, "size of the program"),
    (0x28, "global memory operations"),
    (0x2c, "local memory operations"),
    (0x34, "registers of the program"),
    (0x3c, "SGPRs with reserved ones"),
    (0xb8, "offset of the header, second copy"),
];

pub(crate) fn read<'a>(
    binaries: Vec<(&'a str, Bytes<'a>)>,
    records: Vec<(&'a str, Bytes<'a>)>,
) -> Result<Vec<OldKernel<'a>>> {
    let mut records: Vec<(&str, Bytes, bool)> =
        records.into_iter().map(|(name, bytes)| (name, bytes, false)).collect();
    records.sort_by_key(|record| record.0);
    let mut kernels = Vec::new();
    for (name, bytes) in binaries {
        let offset = u64::from(bytes.cursor().u32("the stub of a kernel")?);
        let stub = bytes.part(0, offset, "the stub of a kernel")?;
        let kernel = bytes.part(offset, bytes.len() - offset, "the header and code of a kernel")?;
        let header = KernelCode::read(kernel)?;
        let code = super::code::code_of(kernel, header)?;
        let setup = &kernel.data[..kernel.data.len() - code.len()];
        let record = records.binary_search_by_key(&name, |record| record.0).ok();
        let record = record.map(|index| {
            records[index].2 = true;
            records[index].1.data
        });
        kernels.push(OldKernel { name, stub: stub.data, setup, code, record });
    }
    match records.iter().find(|record| !record.2) {
        Some((name, bytes, _)) => {
            Err(bytes.error(0, format!("the record of kernel `{name}` has no kernel, or is the second one")))
        }
        None => Ok(kernels),
    }
}

impl<'a> OldKernel<'a> {
    /// Returns a kernel. The stub's first word is its size, and the header's entry the size of `setup`.
    pub fn new(name: &'a str, stub: &'a [u8], setup: &'a [u8], code: &'a [u8]) -> OldKernel<'a> {
        OldKernel { name, stub, setup, code, record: None }
    }

    /// Returns the header.
    pub fn header(&self) -> Option<KernelCode<'a>> {
        self.setup.first_chunk().map(KernelCode)
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        [self.stub, self.setup, self.code].concat()
    }

    /// Returns the fields of the kernel, without those of the header.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        list.add("name", self.name);
        list.size("stub", self.stub);
        for &(offset, name) in STUB {
            if let Some(word) = self.stub.get(offset..).and_then(|bytes| bytes.first_chunk()) {
                list.hex(format!("stub {name}"), u32::from_le_bytes(*word));
            }
        }
        list.size("setup", self.setup);
        list.size("code", self.code);
        if let Some(record) = self.record {
            list.add("record", crate::kernel_code::hexadecimal(record));
        }
        list.0
    }
}
