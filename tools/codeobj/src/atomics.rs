//! Reads the section `.kernc.atomics`, in which kernc lists the addresses of an object's atomic loads and
//! stores. Race detectors need this list, because the encoding of these instructions does not show that they
//! are atomic.

use crate::elf::CodeObject;
use objwriter::elf::ATOMICS;

/// Returns the addresses of the atomic loads and stores of a linked file, in ascending order; `None` if the
/// file does not list them.
pub fn read(object: &CodeObject<'_>) -> Option<Vec<u64>> {
    let section = object.section(ATOMICS).filter(|_| !object.header.is_relocatable())?;
    let (addresses, _) = section.data.as_chunks::<8>();
    let mut addresses: Vec<u64> = addresses.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
    addresses.sort_unstable();
    Some(addresses)
}
