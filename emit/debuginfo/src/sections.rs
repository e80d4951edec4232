//! Debug sections while they are built, and the fields in them that need relocations because they depend on
//! addresses.

use objwriter::dwarf::Contents;
use objwriter::elf::Target;
use objwriter::leb::unsigned;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smol_str::SmolStr;

/// Names of the debug sections. The object omits empty sections and sections that the chosen version of DWARF
/// does not have.
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
    Names,
}

/// Number of sections.
pub const COUNT: usize = 11;

/// Names of the sections.
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
    ".debug_names",
];

/// Version of DWARF.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Version {
    V4,
    #[default]
    V5,
}

impl Version {
    /// Returns the number of the version.
    pub const fn number(self) -> u16 {
        match self {
            Version::V4 => 4,
            Version::V5 => 5,
        }
    }
}

/// String table without duplicates.
#[derive(Debug, Default)]
pub struct Strings {
    offsets: Vec<u32>,
    numbers: FxHashMap<SmolStr, u32>,
    pub bytes: Vec<u8>,
}

impl Strings {
    /// Returns an empty string table with capacity for the strings of a small program.
    pub fn new() -> Strings {
        Strings {
            offsets: Vec::with_capacity(32),
            numbers: FxHashMap::with_capacity_and_hasher(32, FxBuildHasher),
            bytes: Vec::with_capacity(256),
        }
    }

    /// Returns the number of a string in the table, and adds the string if needed. Strings in the table end
    /// at the first zero byte, so of a string that contains a zero byte only the part before it is kept.
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

    /// Returns the offset of a string in the section.
    pub fn offset(&self, number: u32) -> u32 {
        self.offsets[number as usize]
    }

    /// Returns a string.
    pub fn text(&self, number: u32) -> &[u8] {
        let rest = &self.bytes[self.offset(number) as usize..];
        rest.split(|&byte| byte == 0).next().unwrap_or_default()
    }

    /// Returns the offsets of all strings, by number.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }
}

/// Assigns the final numbers of the debug sections in the object, beginning with `first`. Updates the
/// relocations in them, which refer to sections by [`Name`].
pub fn number(all: &mut [(Name, Contents)], first: u32) {
    let mut numbers = [0; COUNT];
    for ((name, _), number) in all.iter().zip(first..) {
        numbers[*name as usize] = number;
    }
    for relocation in all.iter_mut().flat_map(|(_, contents)| &mut contents.relocations) {
        if let Target::Section(section) = &mut relocation.target
            && let Some(&number) = section.checked_sub(first).and_then(|name| numbers.get(name as usize))
        {
            *section = number;
        }
    }
}

/// Range lists or location lists.
#[derive(Debug)]
pub struct Lists {
    bytes: Vec<u8>,
}

/// Header of a DWARF 5 section of range lists or location lists: length (filled in later), version, size of
/// an address, no segment selectors, no table of offsets.
const LISTS_HEADER: [u8; 12] = [0, 0, 0, 0, 5, 0, 8, 0, 0, 0, 0, 0];
const OFFSET_PAIR: u8 = 4;

impl Lists {
    /// Returns empty lists with capacity for `room` bytes.
    pub fn new(version: Version, room: usize) -> Lists {
        let mut bytes = Vec::with_capacity(LISTS_HEADER.len() + room);
        if version == Version::V5 {
            bytes.extend_from_slice(&LISTS_HEADER);
        }
        Lists { bytes }
    }

    /// Begins a list. Returns its offset in the section.
    pub fn begin(&self) -> u32 {
        self.bytes.len() as u32
    }

    /// Adds a range of byte offsets, relative to the unit's code.
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

    /// Adds the expression of the range that was added last.
    pub fn expression(&mut self, version: Version, bytes: &[u8]) {
        if version == Version::V5 {
            unsigned(&mut self.bytes, bytes.len() as u64);
        } else {
            self.bytes.extend_from_slice(&(bytes.len() as u16).to_le_bytes());
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Ends the list.
    pub fn end(&mut self, version: Version) {
        let end: &[u8] = if version == Version::V5 { &[0] } else { &[0; 16] };
        self.bytes.extend_from_slice(end);
    }

    /// Returns the contents of the section of range lists or location lists. Returns `None` if it contains no
    /// list.
    pub fn finish(self, version: Version) -> Option<Contents> {
        let header = if version == Version::V5 { LISTS_HEADER.len() } else { 0 };
        if self.bytes.len() == header {
            return None;
        }
        let mut contents = Contents { bytes: self.bytes, ..Contents::default() };
        if version == Version::V5 {
            contents.close(0);
        }
        Some(contents)
    }
}

/// Returns the contents of `.debug_str_offsets`.
pub fn string_offsets(strings: &Strings, section: Target) -> Contents {
    let mut contents = Contents::with_capacity(8 + 4 * strings.offsets().len(), strings.offsets().len());
    contents.bytes.extend_from_slice(&[0, 0, 0, 0, 5, 0, 0, 0]);
    for &offset in strings.offsets() {
        contents.field(4, section, offset.into());
    }
    contents.close(0);
    contents
}

/// Returns the contents of `.debug_addr`.
pub fn addresses(addresses: &[(Target, u64)]) -> Contents {
    let mut contents = Contents::with_capacity(8 + 8 * addresses.len(), addresses.len());
    contents.bytes.extend_from_slice(&[0, 0, 0, 0, 5, 0, 8, 0]);
    for &(target, addend) in addresses {
        contents.field(8, target, addend);
    }
    contents.close(0);
    contents
}
