//! Writes ELF note records. The layout and the note types of V3 are from LLVM's AMDGPU guide (seed 000, line
//! 429); the note types `NT_AMD_*` of V2 have the contents that LLVM 14 writes.

use isa::CodeObjectVersion;

/// `NT_AMD_HSA_CODE_OBJECT_VERSION`, with owner `AMD`.
pub const NT_VERSION: u32 = 1;
/// `NT_AMD_HSA_HSAIL`.
pub const NT_HSAIL: u32 = 2;
/// `NT_AMD_HSA_ISA_VERSION`.
pub const NT_ISA_VERSION: u32 = 3;
/// `NT_AMD_HSA_METADATA`.
pub const NT_METADATA_V2: u32 = 10;
/// `NT_AMD_HSA_ISA_NAME`.
pub const NT_ISA_NAME: u32 = 11;
/// `NT_AMD_PAL_METADATA`.
pub const NT_PAL_METADATA: u32 = 12;
/// `NT_AMDGPU_METADATA`, with owner `AMDGPU`.
pub const NT_METADATA: u32 = 32;

/// Returns a note record: lengths and type, the zero-terminated name of the owner, the contents. Both name
/// and contents are padded to dwords.
pub fn record(owner: &str, kind: u32, desc: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(24 + owner.len() + desc.len());
    write(owner, kind, |out| out.extend_from_slice(desc), &mut out);
    out
}

/// Appends a note record. `desc` appends the contents of the note. The length of `out` must be a multiple of
/// four bytes.
pub fn write(owner: &str, kind: u32, desc: impl FnOnce(&mut Vec<u8>), out: &mut Vec<u8>) {
    let start = out.len();
    for number in [owner.len() as u32 + 1, 0, kind] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(owner.as_bytes());
    out.push(0);
    out.resize(out.len().next_multiple_of(4), 0);
    let contents = out.len();
    desc(out);
    let length = (out.len() - contents) as u32;
    out[start + 4..start + 8].copy_from_slice(&length.to_le_bytes());
    out.resize(out.len().next_multiple_of(4), 0);
}

/// Returns the version of the metadata format that a code object version uses. The metadata contains it under
/// the key `amdhsa.version`, or `Version` in V2.
pub const fn metadata_version(version: CodeObjectVersion) -> [u32; 2] {
    match version {
        CodeObjectVersion::V2 | CodeObjectVersion::V3 => [1, 0],
        CodeObjectVersion::V4 => [1, 1],
        CodeObjectVersion::V5 | CodeObjectVersion::V6 => [1, 2],
    }
}

/// Returns the contents of an [`NT_VERSION`] note, which states the version of the code object.
pub fn version(major: u32, minor: u32) -> [u8; 8] {
    (u64::from(minor) << 32 | u64::from(major)).to_le_bytes()
}

/// Returns the contents of an [`NT_ISA_VERSION`] note, which states the version of the processor, the vendor
/// and the architecture.
pub fn isa_version(version: [u32; 3], vendor: &[u8], arch: &[u8]) -> Vec<u8> {
    let mut desc = Vec::with_capacity(18 + vendor.len() + arch.len());
    for text in [vendor, arch] {
        desc.extend_from_slice(&(text.len() as u16 + 1).to_le_bytes());
    }
    version.iter().for_each(|number| desc.extend_from_slice(&number.to_le_bytes()));
    for text in [vendor, arch] {
        desc.extend_from_slice(text);
        desc.push(0);
    }
    desc
}

/// Returns the version number of a processor on which XNACK replay is enabled. V2 has no target features;
/// instead, an odd stepping expresses this on GFX9.
pub const fn replaying(version: [u32; 3]) -> [u32; 3] {
    match version {
        [9, 0, stepping @ (0 | 2 | 4 | 6)] => [9, 0, stepping + 1],
        version => version,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn both_parts_fill_dwords() {
        let record = super::record("AMDGPU", super::NT_METADATA, &[1, 2, 3, 4, 5]);
        let expected = b"\x07\0\0\0\x05\0\0\0\x20\0\0\0AMDGPU\0\0\x01\x02\x03\x04\x05\0\0\0";
        assert_eq!(record, expected);
    }
}
