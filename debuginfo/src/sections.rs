//! The sections of debug information while they are made, and the fields of them that depend on addresses.

use objwriter::dwarf::Contents;
use objwriter::elf::Target;
use objwriter::leb::unsigned;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// The sections, in the order of the object; those of the other version of DWARF are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Name {
    Abbrev,
    Info,
    Line,
    Str,
    StrOffsets,
    Addr,
    Rnglists,
    Loclists,
    Ranges,
    Loc,
}

/// How many there are.
pub const COUNT: usize = 10;

/// What they are called.
pub const NAMES: [&str; COUNT] = [
    ".debug_abbrev",
    ".debug_info",
    ".debug_line",
    ".debug_str",
    ".debug_str_offsets",
    ".debug_addr",
    ".debug_rnglists",
    ".debug_loclists",
    ".debug_ranges",
    ".debug_loc",
];

/// The version of DWARF.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Version {
    V4,
    #[default]
    V5,
}

impl Version {
    /// The number.
    pub const fn number(self) -> u16 {
        match self {
            Version::V4 => 4,
            Version::V5 => 5,
        }
    }
}

/// Texts, each once, one behind the other.
#[derive(Debug, Default)]
pub struct Strings {
    offsets: Vec<u32>,
    numbers: FxHashMap<SmolStr, u32>,
    pub bytes: Vec<u8>,
}

impl Strings {
    /// The number of a text; one that has zeros ends there.
    pub fn number(&mut self, text: &str) -> u32 {
        if let Some(&known) = self.numbers.get(text) {
            return known;
        }
        let number = self.offsets.len() as u32;
        self.offsets.push(self.bytes.len() as u32);
        self.bytes.extend(text.bytes().take_while(|&byte| byte != 0));
        self.bytes.push(0);
        self.numbers.insert(text.into(), number);
        number
    }

    /// Where in the section it is.
    pub fn offset(&self, number: u32) -> u32 {
        self.offsets[number as usize]
    }

    /// Where all are, by their numbers.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }
}

/// Lists of ranges or places: where each begins, behind the header and the offsets.
#[derive(Debug, Default)]
pub struct Lists {
    pub bytes: Vec<u8>,
    starts: Vec<u32>,
}

const OFFSET_PAIR: u8 = 4;

impl Lists {
    /// A list begins; its number in version 5, where it is in version 4.
    pub fn begin(&mut self, version: Version) -> u32 {
        self.starts.push(self.bytes.len() as u32);
        if version == Version::V5 { self.starts.len() as u32 - 1 } else { self.bytes.len() as u32 }
    }

    /// From a byte to another, counted from the unit's code.
    pub fn range(&mut self, version: Version, start: u32, end: u32) {
        if version == Version::V5 {
            self.bytes.push(OFFSET_PAIR);
            unsigned(&mut self.bytes, start.into());
            unsigned(&mut self.bytes, end.into());
        } else {
            self.bytes.extend_from_slice(&u64::from(start).to_le_bytes());
            self.bytes.extend_from_slice(&u64::from(end).to_le_bytes());
        }
    }

    /// The expression of the range that was written last.
    pub fn expression(&mut self, version: Version, bytes: &[u8]) {
        if version == Version::V5 {
            unsigned(&mut self.bytes, bytes.len() as u64);
        } else {
            self.bytes.extend_from_slice(&(bytes.len() as u16).to_le_bytes());
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The list ends.
    pub fn end(&mut self, version: Version) {
        let end: &[u8] = if version == Version::V5 { &[0] } else { &[0; 16] };
        self.bytes.extend_from_slice(end);
    }

    /// The section.
    pub fn finish(self, version: Version) -> Contents {
        let mut contents = Contents::default();
        if version == Version::V4 {
            contents.bytes = self.bytes;
            return contents;
        }
        let count = self.starts.len() as u32;
        let out = &mut contents.bytes;
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&[5, 0, 8, 0]);
        out.extend_from_slice(&count.to_le_bytes());
        for start in self.starts {
            out.extend_from_slice(&(4 * count + start).to_le_bytes());
        }
        out.extend_from_slice(&self.bytes);
        if count == 0 {
            // A list without entries: elfutils takes a unit's base that is the section's end for a mistake.
            out.push(0);
        }
        contents.close(0);
        contents
    }
}

/// `.debug_str_offsets`.
pub fn string_offsets(strings: &Strings, section: Target) -> Contents {
    let mut contents = Contents::default();
    contents.bytes.extend_from_slice(&[0, 0, 0, 0, 5, 0, 0, 0]);
    for &offset in strings.offsets() {
        contents.field(4, section, offset.into());
    }
    contents.close(0);
    contents
}

/// `.debug_addr`.
pub fn addresses(addresses: &[(Target, u64)]) -> Contents {
    let mut contents = Contents::default();
    contents.bytes.extend_from_slice(&[0, 0, 0, 0, 5, 0, 8, 0]);
    for &(target, addend) in addresses {
        contents.field(8, target, addend);
    }
    contents.close(0);
    contents
}
