//! The hash of a question to a tool.

/// 128-bit FNV-1a. Unlike the standard library's hash, FNV-1a is the same in all versions of Rust.
pub struct Hash(u128);

impl Hash {
    pub fn new() -> Hash {
        Hash(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }

    /// Adds a field. The length is part of the hash, so that two fields never hash like one.
    pub fn field(&mut self, bytes: &[u8]) {
        self.bytes(&(bytes.len() as u64).to_le_bytes());
        self.bytes(bytes);
    }

    /// Returns the hash as 32 hexadecimal digits.
    pub fn text(&self) -> String {
        format!("{:032x}", self.0)
    }
}

#[test]
fn the_published_values() {
    // The test values of the FNV authors: the hash of the empty string and of "a".
    let of = |bytes: &[u8]| {
        let mut hash = Hash::new();
        hash.bytes(bytes);
        hash.text()
    };
    assert_eq!(of(b""), "6c62272e07bb014262b821756295c58d");
    assert_eq!(of(b"a"), "d228cb696f1a8caf78912b704e4a8964");
}
