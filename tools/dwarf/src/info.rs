//! Entries of `.debug_info`, which are read once. The crate gimli reads the forms of the standard; this
//! module adds the names that the heterogeneous extensions give to attributes.

use crate::entry_state::CallSites;
use crate::names::AddressClass;
use crate::op::{Encoding, Numbering};
use codeobj::CodeObject;
use codeobj::disasm::relocated;
use gimli::{AttributeValue, EndianSlice, LittleEndian, Section, SectionId, UnitSectionOffset};
use std::fmt;

type Reader<'a> = EndianSlice<'a, LittleEndian>;

/// Sections that are read.
const SECTIONS: [SectionId; 11] = [
    SectionId::DebugInfo,
    SectionId::DebugAbbrev,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
    SectionId::DebugAddr,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugLoc,
    SectionId::DebugLocLists,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
];

/// Largest number of entries that are read. The limit exists because a damaged file can claim any number.
const ENTRIES: usize = 1 << 22;

/// Reason why there is no debug information.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// There is no section with that name.
    None(&'static str),
    /// gimli cannot read the debug information.
    Damaged(String),
    /// There are more entries than any program has.
    Large,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::None(section) => write!(f, "there is no debug information (no section {section})"),
            ReadError::Damaged(what) => write!(f, "the debug information cannot be read: {what}"),
            ReadError::Large => write!(f, "there are more entries of debug information than any program has"),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<gimli::Error> for ReadError {
    fn from(error: gimli::Error) -> ReadError {
        ReadError::Damaged(error.to_string())
    }
}

/// Unit, with the data that its entries have in common.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Offset of the unit's header in `.debug_info`.
    pub offset: u64,
    /// DWARF version.
    pub version: u16,
    /// Encoding of the unit's expressions.
    pub encoding: Encoding,
    /// The unit's addresses in `.debug_addr`.
    pub addresses: Vec<u64>,
    /// Whether the compiler of the unit was kernc. Then types are printed in the syntax of kernc's language.
    pub is_kernc: bool,
}

/// Entry of a location list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Range of addresses to which this list entry applies; `None` for the default entry, which applies where
    /// no other entry does.
    pub range: Option<(u64, u64)>,
    /// Bytes of the expression.
    pub expression: Vec<u8>,
}

/// Value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// String.
    Text(String),
    /// A number.
    Number(i128),
    /// An address of the program.
    Address(u64),
    /// Boolean.
    Flag(bool),
    /// Reference to an entry, by offset in `.debug_info`.
    Reference(u64),
    /// An expression.
    Expression(Vec<u8>),
    /// Location list.
    Locations(Vec<Listed>),
    /// Ranges of addresses.
    Ranges(Vec<(u64, u64)>),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Name of a constant, such as `DW_ATE_signed`.
    Named(String),
    /// An offset in another section.
    Offset(u64),
    /// Value that could not be read, with the reason.
    Unread(String),
}

/// Attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Name, such as `DW_AT_name`.
    pub name: String,
    /// Value.
    pub content: Content,
}

/// Entry.
#[derive(Clone, Debug)]
pub struct Die {
    /// Offset in `.debug_info`.
    pub offset: u64,
    /// Index of its unit.
    pub unit: usize,
    /// Nesting depth; 0 for the entry of the unit itself.
    pub depth: usize,
    /// Tag, such as `DW_TAG_variable`.
    pub tag: String,
    /// Attributes in the order of the file.
    pub attributes: Vec<Attribute>,
}

impl Die {
    /// Returns the value of the attribute with that name.
    pub fn get(&self, name: &str) -> Option<&Content> {
        self.attributes.iter().find(|attribute| attribute.name == name).map(|attribute| &attribute.content)
    }

    /// Returns the value of an attribute that is a string.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Content::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the address ranges of the entry's code.
    pub fn ranges(&self) -> Vec<(u64, u64)> {
        match (self.get("DW_AT_ranges"), self.get("DW_AT_low_pc"), self.get("DW_AT_high_pc")) {
            (Some(Content::Ranges(ranges)), ..) => ranges.clone(),
            (_, Some(&Content::Address(from)), Some(&Content::Address(to))) => vec![(from, to)],
            (_, Some(&Content::Address(from)), Some(&Content::Number(size))) => {
                vec![(from, from.wrapping_add(size as u64))]
            }
            _ => Vec::new(),
        }
    }
}

/// All entries of a file. A parent precedes its children.
#[derive(Clone, Debug, Default)]
pub struct DebugInfo {
    /// Units.
    pub units: Vec<Unit>,
    /// Entries, in the order of the file.
    pub entries: Vec<Die>,
    /// Call sites.
    pub calls: CallSites,
}

impl DebugInfo {
    /// Reads the debug information of an object. For a relocatable object, applies relocations.
    ///
    /// # Errors
    /// There is no debug information, or it is damaged.
    pub fn read(object: &CodeObject<'_>) -> Result<DebugInfo, ReadError> {
        object.section(".debug_info").ok_or(ReadError::None(".debug_info"))?;
        // Relocations are applied as if each code section were loaded at address 0.
        let sections = SECTIONS.map(|id| relocated(object, id.name(), |_| 0));
        let load = |id: SectionId| {
            let at = SECTIONS.iter().position(|&other| other == id);
            Ok::<_, gimli::Error>(EndianSlice::new(at.map_or(&[][..], |at| &sections[at]), LittleEndian))
        };
        let damaged = |error: gimli::Error| ReadError::Damaged(error.to_string());
        let dwarf = gimli::Dwarf::load(load).map_err(damaged)?;
        let mut info = DebugInfo::default();
        let mut headers = dwarf.units();
        while let Some(header) = headers.next().map_err(damaged)? {
            let unit = dwarf.unit(header).map_err(damaged)?;
            info.unit(&dwarf, &unit)?;
        }
        info.calls = CallSites::from_info(&info);
        Ok(info)
    }

    fn unit(
        &mut self,
        dwarf: &gimli::Dwarf<Reader<'_>>,
        unit: &gimli::Unit<Reader<'_>>,
    ) -> Result<(), ReadError> {
        let damaged = |error: gimli::Error| ReadError::Damaged(error.to_string());
        let UnitSectionOffset(offset) = unit.header.offset();
        let header = unit.encoding();
        let encoding = Encoding {
            address_size: header.address_size,
            offset_size: header.format.word_size(),
            numbering: Numbering::Registered,
        };
        let number = self.units.len();
        let count = dwarf.debug_addr.reader().len() / usize::from(header.address_size.max(1));
        let address = |index| dwarf.address(unit, gimli::DebugAddrIndex(index)).ok();
        let addresses = (0..count).map_while(address).collect();
        let version = header.version;
        self.units.push(Unit { offset: offset as u64, version, encoding, addresses, is_kernc: false });
        let first = self.entries.len();
        let mut cursor = unit.entries();
        while let Some(entry) = cursor.next_dfs().map_err(damaged)? {
            if self.entries.len() >= ENTRIES {
                return Err(ReadError::Large);
            }
            let attributes = entry.attrs().iter().map(|attribute| Attribute {
                name: attribute_name(attribute.name()),
                content: content(dwarf, unit, attribute)
                    .unwrap_or_else(|error| Content::Unread(error.to_string())),
            });
            self.entries.push(Die {
                offset: (offset + entry.offset().0) as u64,
                unit: number,
                depth: usize::try_from(entry.depth()).unwrap_or(0),
                tag: entry
                    .tag()
                    .static_string()
                    .map_or_else(|| format!("{:#x}", entry.tag().0), str::to_owned),
                attributes: attributes.collect(),
            });
        }
        let producer = self.entries.get(first).and_then(|die| die.text("DW_AT_producer"));
        self.units[number].is_kernc = producer.is_some_and(|producer| producer.starts_with("kernc "));
        Ok(())
    }

    /// Returns the entry at an offset of `.debug_info`.
    pub fn entry(&self, offset: u64) -> Option<&Die> {
        self.index_of(offset).map(|at| &self.entries[at])
    }

    /// Returns the index in `entries` of the entry at an offset of `.debug_info`.
    pub fn index_of(&self, offset: u64) -> Option<usize> {
        self.entries.binary_search_by_key(&offset, |die| die.offset).ok()
    }

    /// Returns the name of an entry. If the entry has no name of its own, returns the name of its abstract
    /// origin or specification.
    pub fn name_of<'a>(&'a self, die: &'a Die) -> Option<&'a str> {
        let mut die = die;
        // Compilers chain at most a few origins.
        for _ in 0..4 {
            if let Some(name) = die.text("DW_AT_name") {
                return Some(name);
            }
            let origin = die.get("DW_AT_abstract_origin").or(die.get("DW_AT_specification"));
            match origin {
                Some(&Content::Reference(offset)) => die = self.entry(offset)?,
                _ => return None,
            }
        }
        None
    }

    /// Returns the entries whose code contains an address, as indices into `entries`, outer entries first.
    /// Units without address ranges are included.
    pub fn around(&self, address: u64) -> Vec<usize> {
        let mut path: Vec<usize> = Vec::new();
        for (at, die) in self.entries.iter().enumerate() {
            let is_inside = die.ranges().iter().any(|&(from, to)| (from..to).contains(&address));
            // A unit may have no range of its own.
            let is_open = die.depth == 0 && die.ranges().is_empty();
            if is_inside || is_open {
                path.retain(|&outer| {
                    self.entries[outer].depth < die.depth && self.entries[outer].unit == die.unit
                });
                path.push(at);
            }
        }
        if path.len() == 1 && self.entries[path[0]].ranges().is_empty() {
            path.clear();
        }
        path
    }

    /// Returns the direct children of an entry.
    pub fn children(&self, at: usize) -> impl Iterator<Item = &Die> {
        let depth = self.entries[at].depth;
        let below = self.entries[at + 1..].iter().take_while(move |die| die.depth > depth);
        below.filter(move |die| die.depth == depth + 1)
    }
}

/// Names of attributes that gimli does not know or to which it gives other names: LLVM's extensions for AMD
/// GPUs, with the numbers of LLVM's guide.
const ATTRIBUTES: [(u16, &str); 5] = [
    (0x3e08, "DW_AT_LLVM_active_lane"),
    (0x3e09, "DW_AT_LLVM_augmentation"),
    (0x3e0a, "DW_AT_LLVM_lanes"),
    (0x3e0b, "DW_AT_LLVM_lane_pc"),
    (0x3e0c, "DW_AT_LLVM_vector_size"),
];

/// Attributes of the extensions that may be location lists.
const LISTS: [u16; 2] = [0x3e08, 0x3e0b];

fn attribute_name(name: gimli::DwAt) -> String {
    let own = ATTRIBUTES.iter().find(|row| row.0 == name.0).map(|row| row.1);
    own.or(name.static_string()).map_or_else(|| format!("{:#x}", name.0), str::to_owned)
}

/// Returns whether the value of an attribute with this name is an expression. This function is needed for
/// DWARF 2 and 3, in which the form of an attribute only says that the value is bytes.
fn holds_expression(name: gimli::DwAt) -> bool {
    matches!(name, gimli::DW_AT_location | gimli::DW_AT_frame_base | gimli::DW_AT_data_member_location)
}

fn content(
    dwarf: &gimli::Dwarf<Reader<'_>>,
    unit: &gimli::Unit<Reader<'_>>,
    attribute: &gimli::Attribute<Reader<'_>>,
) -> Result<Content, gimli::Error> {
    let UnitSectionOffset(base) = unit.header.offset();
    let value = match attribute.value() {
        // gimli recognises location lists only in attributes of the standard. The attributes in `LISTS` are
        // extensions that may have lists too.
        AttributeValue::SecOffset(offset) if LISTS.contains(&attribute.name().0) => {
            AttributeValue::LocationListsRef(gimli::LocationListsOffset(offset))
        }
        value => value,
    };
    let text = |reader: Reader<'_>| Content::Text(reader.to_string_lossy().into_owned());
    if let Some(locations) = dwarf.attr_locations(unit, value)? {
        return locations_of(locations);
    }
    if let Some(mut ranges) = dwarf.attr_ranges(unit, value)? {
        let mut all = Vec::new();
        while let Some(range) = ranges.next()? {
            all.push((range.begin, range.end));
        }
        return Ok(Content::Ranges(all));
    }
    if let Some(address) = dwarf.attr_address(unit, value)? {
        return Ok(Content::Address(address));
    }
    let named = |name: Option<&'static str>, number: i128| match name {
        Some(name) => Content::Named(name.to_owned()),
        None => Content::Number(number),
    };
    Ok(match value {
        AttributeValue::String(_)
        | AttributeValue::DebugStrRef(_)
        | AttributeValue::DebugLineStrRef(_)
        | AttributeValue::DebugStrOffsetsIndex(_) => text(dwarf.attr_string(unit, value)?),
        AttributeValue::Exprloc(expression) => Content::Expression(expression.0.slice().to_vec()),
        AttributeValue::Block(bytes) if holds_expression(attribute.name()) => {
            Content::Expression(bytes.slice().to_vec())
        }
        AttributeValue::Block(bytes) => Content::Bytes(bytes.slice().to_vec()),
        AttributeValue::Flag(flag) => Content::Flag(flag),
        AttributeValue::UnitRef(offset) => Content::Reference((base + offset.0) as u64),
        AttributeValue::DebugInfoRef(offset) => Content::Reference(offset.0 as u64),
        AttributeValue::Encoding(it) => named(it.static_string(), it.0.into()),
        AttributeValue::Language(it) => named(it.static_string(), it.0.into()),
        AttributeValue::CallingConvention(it) => named(it.static_string(), it.0.into()),
        AttributeValue::Inline(it) => named(it.static_string(), it.0.into()),
        AttributeValue::Accessibility(it) => named(it.static_string(), it.0.into()),
        AttributeValue::Virtuality(it) => named(it.static_string(), it.0.into()),
        AttributeValue::AddressClass(it) => Content::Named(AddressClass(it.0).to_string()),
        AttributeValue::FileIndex(index) => match file_name(dwarf, unit, index) {
            Some(name) => Content::Text(name),
            None => Content::Number(index.into()),
        },
        AttributeValue::Data16(value) => Content::Bytes(value.to_le_bytes().to_vec()),
        AttributeValue::Data8(value) => Content::Number(value.into()),
        other => match (other.udata_value(), other.sdata_value(), other.offset_value()) {
            (Some(value), ..) => Content::Number(value.into()),
            (_, Some(value), _) => Content::Number(value.into()),
            (.., Some(offset)) => Content::Offset(offset as u64),
            _ => Content::Offset(section_offset(&other).unwrap_or(0)),
        },
    })
}

/// Returns the offset of a reference into another section.
fn section_offset(value: &AttributeValue<Reader<'_>>) -> Option<u64> {
    let offset = match *value {
        AttributeValue::DebugAddrBase(base) => base.0,
        AttributeValue::DebugLineRef(offset) => offset.0,
        AttributeValue::DebugLocListsBase(base) => base.0,
        AttributeValue::DebugRngListsBase(base) => base.0,
        AttributeValue::DebugStrOffsetsBase(base) => base.0,
        AttributeValue::DebugMacroRef(offset) => offset.0,
        AttributeValue::DebugMacinfoRef(offset) => offset.0,
        AttributeValue::SecOffset(offset) => offset,
        _ => return None,
    };
    Some(offset as u64)
}

fn locations_of(mut list: gimli::LocListIter<Reader<'_>>) -> Result<Content, gimli::Error> {
    let mut all = Vec::new();
    while let Some(entry) = list.next()? {
        let range = (entry.range.begin, entry.range.end);
        // gimli represents the default entry of a location list as an entry for all addresses.
        let range = (range != (0, u64::MAX)).then_some(range);
        all.push(Listed { range, expression: entry.data.0.slice().to_vec() });
    }
    Ok(Content::Locations(all))
}

fn file_name(dwarf: &gimli::Dwarf<Reader<'_>>, unit: &gimli::Unit<Reader<'_>>, index: u64) -> Option<String> {
    let header = unit.line_program.as_ref()?.header();
    let file = header.file(index)?;
    let name = dwarf.attr_string(unit, file.path_name()).ok()?;
    Some(name.to_string_lossy().into_owned())
}
