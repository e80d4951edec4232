//! Entries of `.debug_info` and their abbreviations.
//!
//! A *shape* is a kind of entry: a tag with a list of attributes. The table of shapes below serves both DWARF
//! 4 and DWARF 5: for each attribute it says what kind of value the attribute has (its form), and the version
//! determines how this form is encoded. The shapes that are used become the abbreviations.
//!
//! # Source
//! DWARF 5, 7.5 (forms and attributes).

use crate::sections::Version;
use objwriter::dwarf::Contents;
use objwriter::elf::Target;
use objwriter::leb::unsigned;

/// Kind of value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// String.
    Text,
    /// Address of code or of a variable.
    Address,
    /// Size in bytes, counted from the address.
    Size,
    /// List of address ranges.
    Ranges,
    /// Location list.
    Places,
    /// Location expression.
    Place,
    /// Reference to another entry, which may come later.
    Entry,
    /// Reference to an entry that has been written already.
    Known,
    /// Small number.
    Number,
    /// Number of one byte.
    Byte,
    /// Number of two bytes.
    Word,
    /// Flag whose presence means true.
    Flag,
    /// Offset in another section.
    Section,
}

impl Form {
    /// Returns the DWARF number of the form.
    const fn number(self, version: Version) -> u8 {
        match (self, version) {
            (Form::Text, Version::V5) => 0x1a,    // DW_FORM_strx
            (Form::Text, Version::V4) => 0x0e,    // DW_FORM_strp
            (Form::Address, Version::V5) => 0x1b, // DW_FORM_addrx
            (Form::Address, Version::V4) => 0x01, // DW_FORM_addr
            // An attribute refers to a range list or location list by an offset in the section of lists
            // (`DW_FORM_sec_offset`). Forms with an index (`DW_FORM_rnglistx`) would need a table of offsets
            // in addition.
            (Form::Section | Form::Ranges | Form::Places, _) => 0x17, // DW_FORM_sec_offset
            (Form::Place, _) => 0x18,                                 // DW_FORM_exprloc
            (Form::Entry, _) => 0x13,                                 // DW_FORM_ref4
            (Form::Known, _) => 0x15,                                 // DW_FORM_ref_udata
            (Form::Number | Form::Size, _) => 0x0f,                   // DW_FORM_udata
            (Form::Byte, _) => 0x0b,                                  // DW_FORM_data1
            (Form::Word, _) => 0x05,                                  // DW_FORM_data2
            (Form::Flag, _) => 0x19,                                  // DW_FORM_flag_present
        }
    }
}

/// Numbers of attributes.
#[allow(missing_docs)]
pub mod at {
    pub const LOCATION: u16 = 0x02;
    pub const NAME: u16 = 0x03;
    pub const BYTE_SIZE: u16 = 0x0b;
    pub const STMT_LIST: u16 = 0x10;
    pub const LOW_PC: u16 = 0x11;
    pub const HIGH_PC: u16 = 0x12;
    pub const LANGUAGE: u16 = 0x13;
    pub const INLINE: u16 = 0x20;
    pub const PRODUCER: u16 = 0x25;
    pub const PROTOTYPED: u16 = 0x27;
    pub const ABSTRACT_ORIGIN: u16 = 0x31;
    pub const COUNT: u16 = 0x37;
    pub const DATA_MEMBER_LOCATION: u16 = 0x38;
    pub const DECL_FILE: u16 = 0x3a;
    pub const DECL_LINE: u16 = 0x3b;
    pub const DECLARATION: u16 = 0x3c;
    pub const ENCODING: u16 = 0x3e;
    pub const EXTERNAL: u16 = 0x3f;
    pub const FRAME_BASE: u16 = 0x40;
    pub const TYPE: u16 = 0x49;
    pub const RANGES: u16 = 0x55;
    pub const CALL_COLUMN: u16 = 0x57;
    pub const CALL_FILE: u16 = 0x58;
    pub const CALL_LINE: u16 = 0x59;
    pub const ADDRESS_CLASS: u16 = 0x33;
    pub const STR_OFFSETS_BASE: u16 = 0x72;
    pub const ADDR_BASE: u16 = 0x73;
    pub const CALL_ALL_CALLS: u16 = 0x7a;
    pub const CALL_RETURN_PC: u16 = 0x7d;
    pub const CALL_VALUE: u16 = 0x7e;
    pub const CALL_ORIGIN: u16 = 0x7f;
    pub const CALL_PC: u16 = 0x81;
    pub const CALL_TAIL_CALL: u16 = 0x82;
    pub const GNU_VECTOR: u16 = 0x2107;
    pub const LLVM_ACTIVE_LANE: u16 = 0x3e08;
    pub const LLVM_AUGMENTATION: u16 = 0x3e09;
    pub const LLVM_LANES: u16 = 0x3e0a;
    pub const LLVM_LANE_PC: u16 = 0x3e0b;
}

/// Shapes of entries, in the order of [`SHAPES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
#[allow(missing_docs)]
pub enum Shape {
    Unit5,
    Unit4,
    ExtendedUnit5,
    ExtendedUnit4,
    Scalar,
    Pointer,
    PointerClass,
    Untyped,
    /// Type of a function without a result. `FunctionTypeOf` is the type of a function with a result.
    FunctionType,
    FunctionTypeOf,
    Taken,
    Array,
    Vector,
    Count,
    Struct,
    EmptyStruct,
    Opaque,
    Member,
    Function,
    LocalFunction,
    FrameFunction,
    LocalFrameFunction,
    Copied,
    CopiedFrame,
    LaneFunction,
    LocalLaneFunction,
    LaneFrameFunction,
    LocalLaneFrameFunction,
    CopiedLane,
    CopiedLaneFrame,
    Procedure,
    Abstract,
    AbstractParameter,
    AbstractVariable,
    Inlined,
    InlinedRanges,
    Block,
    BlockRanges,
    Parameter,
    ParameterPlaces,
    ParameterPlace,
    Variable,
    VariablePlaces,
    VariablePlace,
    CopiedParameter,
    CopiedParameterPlaces,
    CopiedParameterPlace,
    CopiedVariable,
    CopiedVariablePlaces,
    CopiedVariablePlace,
    Global,
    Unspecified,
    Call,
    CallOf,
    TailCall,
    TailCallOf,
    CallParameter,
}

impl Shape {
    /// Returns the tag.
    pub const fn tag(self) -> u16 {
        SHAPES[self as usize].1
    }
}

type Attributes = &'static [(u16, Form)];

const DECLARED: [(u16, Form); 3] =
    [(at::NAME, Form::Text), (at::DECL_FILE, Form::Number), (at::DECL_LINE, Form::Number)];

macro_rules! declared {
    ($($more:expr),*) => { &[DECLARED[0], DECLARED[1], DECLARED[2] $(, $more)*] };
}

const UNIT: [(u16, Form); 6] = [
    (at::PRODUCER, Form::Text),
    (at::LANGUAGE, Form::Word),
    (at::NAME, Form::Text),
    (at::STMT_LIST, Form::Section),
    LOW,
    HIGH,
];
const BASES: [(u16, Form); 2] = [(at::STR_OFFSETS_BASE, Form::Section), (at::ADDR_BASE, Form::Section)];
const AUGMENTED: (u16, Form) = (at::LLVM_AUGMENTATION, Form::Text);

macro_rules! unit {
    ($($more:expr),*) => { &[UNIT[0], UNIT[1], UNIT[2], UNIT[3], UNIT[4], UNIT[5] $(, $more)*] };
}

const TYPE: (u16, Form) = (at::TYPE, Form::Entry);
const KNOWN_TYPE: (u16, Form) = (at::TYPE, Form::Known);
const LOW: (u16, Form) = (at::LOW_PC, Form::Address);
const HIGH: (u16, Form) = (at::HIGH_PC, Form::Size);
const RANGES: (u16, Form) = (at::RANGES, Form::Ranges);
const PLACES: (u16, Form) = (at::LOCATION, Form::Places);
const PLACE: (u16, Form) = (at::LOCATION, Form::Place);
const ORIGIN: (u16, Form) = (at::ABSTRACT_ORIGIN, Form::Known);
const PROTOTYPED: (u16, Form) = (at::PROTOTYPED, Form::Flag);
const EXTERNAL: (u16, Form) = (at::EXTERNAL, Form::Flag);
const FRAME: (u16, Form) = (at::FRAME_BASE, Form::Place);
/// Attributes of a function's entry that describe its lanes: the number of lanes, the mask of active lanes,
/// and the program counter of each lane.
const LANES: [(u16, Form); 3] =
    [(at::LLVM_LANES, Form::Byte), (at::LLVM_ACTIVE_LANE, Form::Places), (at::LLVM_LANE_PC, Form::Places)];
const ALL_CALLS: (u16, Form) = (at::CALL_ALL_CALLS, Form::Flag);
const RETURNS: (u16, Form) = (at::CALL_RETURN_PC, Form::Address);
const JUMPS: [(u16, Form); 2] = [(at::CALL_PC, Form::Address), (at::CALL_TAIL_CALL, Form::Flag)];
const CALLEE: (u16, Form) = (at::CALL_ORIGIN, Form::Entry);
const CALLED: [(u16, Form); 3] =
    [(at::CALL_FILE, Form::Number), (at::CALL_LINE, Form::Number), (at::CALL_COLUMN, Form::Number)];

/// All shapes (kinds of entries). Each row has the shape, its DWARF tag, whether entries of this shape have
/// children, and the attributes.
const SHAPES: [(Shape, u16, bool, Attributes); 57] = [
    (Shape::Unit5, 0x11, true, unit!(BASES[0], BASES[1])),
    (Shape::Unit4, 0x11, true, unit!()),
    (Shape::ExtendedUnit5, 0x11, true, unit!(BASES[0], BASES[1], AUGMENTED)),
    (Shape::ExtendedUnit4, 0x11, true, unit!(AUGMENTED)),
    (
        Shape::Scalar,
        0x24,
        false,
        &[(at::NAME, Form::Text), (at::ENCODING, Form::Byte), (at::BYTE_SIZE, Form::Byte)],
    ),
    (Shape::Pointer, 0x0f, false, &[(at::NAME, Form::Text), TYPE]),
    (
        Shape::PointerClass,
        0x0f,
        false,
        &[(at::NAME, Form::Text), TYPE, (at::ADDRESS_CLASS, Form::Byte), (at::BYTE_SIZE, Form::Byte)],
    ),
    (Shape::Untyped, 0x0f, false, &[(at::NAME, Form::Text)]),
    (Shape::FunctionType, 0x15, true, &[PROTOTYPED]),
    (Shape::FunctionTypeOf, 0x15, true, &[PROTOTYPED, TYPE]),
    (Shape::Taken, 0x05, false, &[TYPE]),
    (Shape::Array, 0x01, true, &[TYPE]),
    (
        Shape::Vector,
        0x01,
        true,
        &[(at::NAME, Form::Text), TYPE, (at::BYTE_SIZE, Form::Number), (at::GNU_VECTOR, Form::Flag)],
    ),
    (Shape::Count, 0x21, false, &[(at::COUNT, Form::Number)]),
    (Shape::Struct, 0x13, true, &[(at::NAME, Form::Text), (at::BYTE_SIZE, Form::Number)]),
    (Shape::EmptyStruct, 0x13, false, &[(at::NAME, Form::Text), (at::BYTE_SIZE, Form::Number)]),
    (Shape::Opaque, 0x13, false, &[(at::NAME, Form::Text), (at::DECLARATION, Form::Flag)]),
    (Shape::Member, 0x0d, false, &[(at::NAME, Form::Text), TYPE, (at::DATA_MEMBER_LOCATION, Form::Number)]),
    (Shape::Function, 0x2e, true, declared!(EXTERNAL, LOW, HIGH, ALL_CALLS)),
    (Shape::LocalFunction, 0x2e, true, declared!(LOW, HIGH, ALL_CALLS)),
    (Shape::FrameFunction, 0x2e, true, declared!(EXTERNAL, LOW, HIGH, FRAME, ALL_CALLS)),
    (Shape::LocalFrameFunction, 0x2e, true, declared!(LOW, HIGH, FRAME, ALL_CALLS)),
    (Shape::Copied, 0x2e, true, &[ORIGIN, LOW, HIGH, ALL_CALLS]),
    (Shape::CopiedFrame, 0x2e, true, &[ORIGIN, LOW, HIGH, FRAME, ALL_CALLS]),
    (
        Shape::LaneFunction,
        0x2e,
        true,
        declared!(EXTERNAL, LOW, HIGH, LANES[0], LANES[1], LANES[2], ALL_CALLS),
    ),
    (Shape::LocalLaneFunction, 0x2e, true, declared!(LOW, HIGH, LANES[0], LANES[1], LANES[2], ALL_CALLS)),
    (
        Shape::LaneFrameFunction,
        0x2e,
        true,
        declared!(EXTERNAL, LOW, HIGH, LANES[0], LANES[1], LANES[2], FRAME, ALL_CALLS),
    ),
    (
        Shape::LocalLaneFrameFunction,
        0x2e,
        true,
        declared!(LOW, HIGH, LANES[0], LANES[1], LANES[2], FRAME, ALL_CALLS),
    ),
    (Shape::CopiedLane, 0x2e, true, &[ORIGIN, LOW, HIGH, LANES[0], LANES[1], LANES[2], ALL_CALLS]),
    (
        Shape::CopiedLaneFrame,
        0x2e,
        true,
        &[ORIGIN, LOW, HIGH, LANES[0], LANES[1], LANES[2], FRAME, ALL_CALLS],
    ),
    (Shape::Procedure, 0x36, false, &[PLACE]),
    (Shape::Abstract, 0x2e, true, declared!((at::INLINE, Form::Byte))),
    (Shape::AbstractParameter, 0x05, false, declared!(KNOWN_TYPE)),
    (Shape::AbstractVariable, 0x34, false, declared!(KNOWN_TYPE)),
    (Shape::Inlined, 0x1d, true, &[ORIGIN, LOW, HIGH, CALLED[0], CALLED[1], CALLED[2]]),
    (Shape::InlinedRanges, 0x1d, true, &[ORIGIN, RANGES, CALLED[0], CALLED[1], CALLED[2]]),
    (Shape::Block, 0x0b, true, &[LOW, HIGH]),
    (Shape::BlockRanges, 0x0b, true, &[RANGES]),
    (Shape::Parameter, 0x05, false, declared!(KNOWN_TYPE)),
    (Shape::ParameterPlaces, 0x05, false, declared!(KNOWN_TYPE, PLACES)),
    (Shape::ParameterPlace, 0x05, false, declared!(KNOWN_TYPE, PLACE)),
    (Shape::Variable, 0x34, false, declared!(KNOWN_TYPE)),
    (Shape::VariablePlaces, 0x34, false, declared!(KNOWN_TYPE, PLACES)),
    (Shape::VariablePlace, 0x34, false, declared!(KNOWN_TYPE, PLACE)),
    (Shape::CopiedParameter, 0x05, false, &[ORIGIN]),
    (Shape::CopiedParameterPlaces, 0x05, false, &[ORIGIN, PLACES]),
    (Shape::CopiedParameterPlace, 0x05, false, &[ORIGIN, PLACE]),
    (Shape::CopiedVariable, 0x34, false, &[ORIGIN]),
    (Shape::CopiedVariablePlaces, 0x34, false, &[ORIGIN, PLACES]),
    (Shape::CopiedVariablePlace, 0x34, false, &[ORIGIN, PLACE]),
    (Shape::Global, 0x34, false, declared!(KNOWN_TYPE, PLACE)),
    (Shape::Unspecified, 0x3b, false, &[(at::NAME, Form::Text)]),
    (Shape::Call, 0x48, true, &[RETURNS]),
    (Shape::CallOf, 0x48, true, &[RETURNS, CALLEE]),
    (Shape::TailCall, 0x48, true, &[JUMPS[0], JUMPS[1]]),
    (Shape::TailCallOf, 0x48, true, &[JUMPS[0], JUMPS[1], CALLEE]),
    (Shape::CallParameter, 0x49, false, &[PLACE, (at::CALL_VALUE, Form::Place)]),
];

/// DWARF 5 tags that DWARF 4 does not have, each with the GNU extension that replaces it in DWARF 4. Readers
/// of DWARF 4 know these extensions, from which the DWARF 5 tags were developed (DWARF 5, 3.4).
const TAGS_BEFORE_5: [(u16, u16); 2] = [
    (0x48, 0x4109), // DW_TAG_GNU_call_site
    (0x49, 0x410a), // DW_TAG_GNU_call_site_parameter
];
const ATTRIBUTES_BEFORE_5: [(u16, u16); 6] = [
    (at::CALL_RETURN_PC, at::LOW_PC),
    // DWARF 4 has no attribute for the address of a call instruction, so a tail call gets the address after
    // its jump instead.
    (at::CALL_PC, at::LOW_PC),
    (at::CALL_ORIGIN, at::ABSTRACT_ORIGIN),
    (at::CALL_VALUE, 0x2111),     // DW_AT_GNU_call_site_value
    (at::CALL_TAIL_CALL, 0x2115), // DW_AT_GNU_tail_call
    (at::CALL_ALL_CALLS, 0x2117), // DW_AT_GNU_all_call_sites
];

/// Returns the number by which a DWARF 5 tag or attribute is written in `version`. `before_5` lists the
/// numbers that differ before DWARF 5.
fn number_in(version: Version, before_5: &[(u16, u16)], number: u16) -> u16 {
    let other = before_5.iter().find(|other| other.0 == number && version == Version::V4);
    other.map_or(number, |other| other.1)
}

const _: () = {
    let mut n = 0;
    while n < SHAPES.len() {
        assert!(SHAPES[n].0 as usize == n);
        n += 1;
    }
};

/// The contents of `.debug_info` while they are written. The caller writes the attributes of each entry in
/// the order that the entry's shape prescribes.
pub struct Entries {
    pub contents: Contents,
    pub version: Version,
    /// For each shape (kind of entry), its abbreviation code, counted from 1; 0 if no entry has this shape
    /// yet.
    codes: [u8; SHAPES.len()],
    pub abbreviations: Vec<u8>,
    used: u8,
}

impl Entries {
    /// Returns an empty section.
    pub fn new(version: Version) -> Entries {
        Entries {
            contents: Contents::with_capacity(512, 16),
            version,
            codes: [0; SHAPES.len()],
            abbreviations: Vec::with_capacity(256),
            used: 0,
        }
    }

    /// Begins an entry of this shape (kind of entry). Returns the offset of the entry in `.debug_info`, which
    /// is also its offset in the unit, because the section has a single unit.
    pub fn begin(&mut self, shape: Shape) -> u32 {
        let offset = self.contents.bytes.len() as u32;
        let code = match self.codes[shape as usize] {
            0 => self.abbreviate(shape),
            known => known,
        };
        self.contents.bytes.push(code);
        offset
    }

    fn abbreviate(&mut self, shape: Shape) -> u8 {
        self.used += 1;
        let code = self.used;
        self.codes[shape as usize] = code;
        let (_, tag, has_children, attributes) = SHAPES[shape as usize];
        let out = &mut self.abbreviations;
        out.push(code);
        unsigned(out, number_in(self.version, &TAGS_BEFORE_5, tag).into());
        out.push(u8::from(has_children));
        for &(attribute, form) in attributes {
            unsigned(out, number_in(self.version, &ATTRIBUTES_BEFORE_5, attribute).into());
            out.push(form.number(self.version));
        }
        out.extend_from_slice(&[0, 0]);
        code
    }

    /// Ends the children of an entry.
    pub fn end(&mut self) {
        self.contents.bytes.push(0);
    }

    /// Writes a small number.
    pub fn number(&mut self, value: u64) {
        unsigned(&mut self.contents.bytes, value);
    }

    /// Writes bytes unchanged.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.contents.bytes.extend_from_slice(bytes);
    }

    /// Writes a reference to another entry, given the offset of that entry.
    pub fn entry(&mut self, offset: u32) {
        self.bytes(&offset.to_le_bytes());
    }

    /// Writes an offset in a section.
    pub fn section(&mut self, target: Target, offset: u64) {
        self.contents.field(4, target, offset);
    }

    /// Writes a location expression.
    pub fn location_expression(&mut self, expression: &[u8]) {
        self.number(expression.len() as u64);
        self.bytes(expression);
    }

    /// Writes the offset of an entry into a reference that was reserved at position `at`, because the entry
    /// was not written yet.
    pub fn fill(&mut self, at: usize, offset: u32) {
        self.contents.bytes[at..at + 4].copy_from_slice(&offset.to_le_bytes());
    }

    /// Returns the offset at which the next byte is written.
    pub fn position(&self) -> usize {
        self.contents.bytes.len()
    }
}
