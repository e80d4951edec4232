//! `amd_kernel_code_t`, the 256 bytes before a kernel's code in OpenCL 2.0 binaries and in clover's newer
//! ones.
//!
//! The table of fields is the one of code objects V2, `objwriter::kernel_code`.

use crate::bytes::{Bytes, Result};
use crate::fields::{Field, List};
use objwriter::kernel_code::{KEYS, SIZE};

/// Header of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelCode<'a>(pub &'a [u8; SIZE]);

impl<'a> KernelCode<'a> {
    pub(crate) fn read(bytes: Bytes<'a>) -> Result<KernelCode<'a>> {
        let header = bytes.part(0, SIZE as u64, "the header of a kernel (amd_kernel_code_t)")?;
        Ok(KernelCode(header.data.try_into().expect("the part has this size")))
    }

    /// Returns a field by its name in code objects V2.
    pub fn get(&self, name: &str) -> Option<u64> {
        objwriter::kernel_code::Key::by_name(name).map(|key| key.get(self.0))
    }

    /// Returns the distance from the header to the first instruction in bytes.
    pub fn entry(&self) -> i64 {
        self.number(16, 8) as i64
    }

    fn number(&self, offset: usize, size: usize) -> u64 {
        let bytes = &self.0[offset..offset + size];
        bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
    }

    /// Returns all fields, also those that code objects V2 leave at zero.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        for key in KEYS {
            if key.is_signed() {
                list.add(key.name, key.get_signed(self.0));
            } else {
                list.add(key.name, key.get(self.0));
            }
        }
        if KEYS.iter().all(|key| key.byte != 24) {
            list.add("kernel_code_prefetch_byte_offset", self.number(24, 8) as i64);
        }
        let reserved =
            [("compute_pgm_resource1", 48), ("compute_pgm_resource2", 52), ("code_properties", 56)];
        for (name, offset) in reserved {
            list.hex(name, self.number(offset, 4));
        }
        list.add("reserved", hexadecimal(&self.0[108..120]));
        list.add("control_directives", hexadecimal(&self.0[128..]));
        list.0
    }
}

/// Returns bytes as hexadecimal digits, or `0` if all are zero.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    if bytes.iter().all(|&byte| byte == 0) {
        return "0".to_owned();
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
