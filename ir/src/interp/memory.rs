//! The memory of interpreted kernels.

use super::ErrorKind;
use super::host::Host;
use crate::types::Space;

/// Address of the first buffer. Low addresses are invalid, so that a null pointer is invalid.
const FIRST_ADDRESS: u64 = 0x10_0000_0000;
/// Every buffer starts at a multiple of this number. At least this number of invalid addresses follow each
/// buffer, so that accesses beyond its end are errors.
const PAGE: u64 = 4096;

/// High halves of generic addresses: of addresses in work-group memory and of addresses in private memory.
pub(super) const SHARED_APERTURE: u64 = 0x0001_0000;
pub(super) const PRIVATE_APERTURE: u64 = 0x0002_0000;
/// The null pointer of 32-bit address spaces.
pub(super) const NULL_32: u64 = 0xffff_ffff;

#[derive(Clone, Debug)]
struct Buffer {
    address: u64,
    bytes: Vec<u8>,
}

/// Device memory: buffers at 64-bit addresses, with invalid addresses between them.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Buffers in the order of their addresses.
    buffers: Vec<Buffer>,
    next: u64,
    host: Host,
}

impl Memory {
    /// Creates a memory without buffers.
    pub fn new() -> Self {
        Memory { buffers: Vec::new(), next: FIRST_ADDRESS, host: Host::default() }
    }

    /// Allocates a buffer of zeros. Returns its address, a multiple of 4096.
    pub fn alloc(&mut self, bytes: usize) -> u64 {
        self.alloc_bytes(vec![0; bytes])
    }

    /// Allocates a buffer with the given contents. Returns its address.
    pub fn alloc_bytes(&mut self, bytes: Vec<u8>) -> u64 {
        let address = self.next.max(FIRST_ADDRESS);
        self.next = (address + bytes.len() as u64).next_multiple_of(PAGE) + PAGE;
        self.buffers.push(Buffer { address, bytes });
        address
    }

    /// Removes a buffer.
    pub fn free(&mut self, address: u64) {
        self.buffers.retain(|b| b.address != address);
    }

    /// Returns the bytes in an address range, if the whole range is in one buffer.
    pub fn bytes(&self, address: u64, count: usize) -> Option<&[u8]> {
        let buffer = &self.buffers[self.find(address)?];
        let start = usize::try_from(address - buffer.address).ok()?;
        buffer.bytes.get(start..start.checked_add(count)?)
    }

    /// Like [`Memory::bytes`], for modification.
    pub fn bytes_mut(&mut self, address: u64, count: usize) -> Option<&mut [u8]> {
        let at = self.find(address)?;
        let buffer = &mut self.buffers[at];
        let start = usize::try_from(address - buffer.address).ok()?;
        buffer.bytes.get_mut(start..start.checked_add(count)?)
    }

    /// Lets the host answer the packets that wait in a host-call buffer.
    pub(super) fn serve_host(&mut self, buffer: u64) {
        let mut host = std::mem::take(&mut self.host);
        host.serve(self, buffer);
        self.host = host;
    }

    /// Removes and returns the messages that the program has printed by calls of the host. Each message is a
    /// list of words.
    pub fn take_messages(&mut self) -> Vec<Vec<u64>> {
        self.host.take_messages()
    }

    fn find(&self, address: u64) -> Option<usize> {
        self.buffers.partition_point(|b| b.address <= address).checked_sub(1)
    }
}

/// The memory that an access of one lane can reach.
pub(super) struct View<'a> {
    pub device: &'a mut Memory,
    pub shared: &'a mut [u8],
    pub private: &'a mut [u8],
}

impl View<'_> {
    /// Returns the bytes of an access. Generic pointers are resolved by their high half.
    pub fn range(&mut self, space: Space, address: u64, count: usize) -> Result<&mut [u8], ErrorKind> {
        let fault = ErrorKind::OutOfBounds { space, address, bytes: count as u32 };
        let low = address as u32 as usize;
        let found = match (space, address >> 32) {
            (Space::Shared, _) | (Space::Generic, SHARED_APERTURE) => slice(self.shared, low, count),
            (Space::Private, _) | (Space::Generic, PRIVATE_APERTURE) => slice(self.private, low, count),
            (Space::Region, _) => None,
            _ => self.device.bytes_mut(address, count),
        };
        found.ok_or(fault)
    }
}

fn slice(bytes: &mut [u8], at: usize, count: usize) -> Option<&mut [u8]> {
    bytes.get_mut(at..at.checked_add(count)?)
}

/// Converts a pointer to another address space.
pub(super) fn space_cast(from: Space, to: Space, address: u64) -> u64 {
    let aperture = |space| match space {
        Space::Shared => Some(SHARED_APERTURE),
        Space::Private => Some(PRIVATE_APERTURE),
        _ => None,
    };
    match (aperture(from), aperture(to)) {
        (Some(_), None) if address == NULL_32 => 0,
        (Some(high), None) => high << 32 | address,
        (None, Some(_)) if address == 0 => NULL_32,
        (None, Some(_)) => address & 0xffff_ffff,
        _ => address,
    }
}

/// Reads a little-endian number of up to 8 bytes.
pub(super) fn get(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// Writes the low bytes of a number in little-endian order.
pub(super) fn put(bytes: &mut [u8], value: u64) {
    for (n, byte) in bytes.iter_mut().enumerate() {
        *byte = (value >> (8 * n)) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_do_not_touch() {
        let mut memory = Memory::new();
        let a = memory.alloc(10);
        let b = memory.alloc_bytes(vec![7; 4096]);
        assert!(b >= a + 2 * PAGE - 10 && b.is_multiple_of(PAGE));
        assert_eq!(memory.bytes(b + 4095, 1), Some(&[7u8][..]));
        assert_eq!(memory.bytes(b + 4095, 2), None);
        assert_eq!(memory.bytes(a + 10, 1), None);
        assert_eq!(memory.bytes(0, 1), None);
        memory.free(b);
        assert_eq!(memory.bytes(b, 1), None);
    }

    #[test]
    fn null_pointers_stay_null() {
        assert_eq!(space_cast(Space::Shared, Space::Generic, NULL_32), 0);
        assert_eq!(space_cast(Space::Generic, Space::Private, 0), NULL_32);
        let generic = space_cast(Space::Shared, Space::Generic, 16);
        assert_eq!(space_cast(Space::Generic, Space::Shared, generic), 16);
    }

    #[test]
    fn bytes_are_little_endian() {
        let mut bytes = [0; 4];
        put(&mut bytes, 0x0102_0304_0506);
        assert_eq!((bytes, get(&bytes)), ([6, 5, 4, 3], 0x0304_0506));
    }
}
