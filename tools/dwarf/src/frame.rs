//! Call frame information: for each address in the code, the location of the frame and where the caller's
//! registers are (LLVM's AMDGPU guide, seed 000, lines 1511-1870). The information is read from
//! `.debug_frame`. Its instructions are executed, which gives a table with one row for each range of
//! addresses.

use crate::names::{AddressSpace, Register};
use crate::op::{Encoding, Numbering};
use codeobj::CodeObject;
use codeobj::disasm::relocated;
use gimli::{EndianSlice, LittleEndian, Reader as _};
use std::collections::BTreeMap;
use std::fmt;

type Reader<'a> = EndianSlice<'a, LittleEndian>;

/// Name of the section.
const SECTION: &str = ".debug_frame";
/// Augmentation strings with these prefixes say that the heterogeneous extensions of DWARF are used. The
/// first prefix is from the version of LLVM's AMDGPU guide in seed 000 (line 1607), the second from the
/// current guide.
const EXTENDED: [&str; 2] = ["[amd:v", "[llvm:v"];
/// Largest number of rows of one function. The limit exists because a damaged file can claim any number.
const ROWS: usize = 1 << 16;
/// Maximum number of remembered states.
const REMEMBERED: usize = 1 << 10;

/// Kind of operand of a call frame instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operand {
    Register,
    /// Number of bytes.
    Offset,
    /// Unsigned number, multiplied by the data alignment factor.
    Factored,
    /// Signed number, multiplied by the data alignment factor.
    SignedFactored,
    Space,
    Expression,
    Address,
    /// The distance by which the instruction advances the address: a number of this many bytes, to be
    /// multiplied by the code alignment factor.
    Advance(u8),
}

use Operand::{
    Address, Advance, Expression, Factored, Offset, Register as Reg, SignedFactored as Signed, Space,
};

/// Instructions of call frame information by number, from DWARF 5, table 7.29. The instructions with an
/// operand in their low six bits come first; only their high two bits are the number. The last two
/// instructions are extensions, with the numbers of LLVM's current guide to the extensions. The older LLVM
/// guide in seed 000 (line 1868) names `DW_CFA_LLVM_def_cfa_aspace` but gives it no number.
const INSTRUCTIONS: [(u8, &str, &[Operand]); 28] = [
    (0x40, "DW_CFA_advance_loc", &[]),
    (0x80, "DW_CFA_offset", &[Factored]),
    (0xc0, "DW_CFA_restore", &[]),
    (0x00, "DW_CFA_nop", &[]),
    (0x01, "DW_CFA_set_loc", &[Address]),
    (0x02, "DW_CFA_advance_loc1", &[Advance(1)]),
    (0x03, "DW_CFA_advance_loc2", &[Advance(2)]),
    (0x04, "DW_CFA_advance_loc4", &[Advance(4)]),
    (0x05, "DW_CFA_offset_extended", &[Reg, Factored]),
    (0x06, "DW_CFA_restore_extended", &[Reg]),
    (0x07, "DW_CFA_undefined", &[Reg]),
    (0x08, "DW_CFA_same_value", &[Reg]),
    (0x09, "DW_CFA_register", &[Reg, Reg]),
    (0x0a, "DW_CFA_remember_state", &[]),
    (0x0b, "DW_CFA_restore_state", &[]),
    (0x0c, "DW_CFA_def_cfa", &[Reg, Offset]),
    (0x0d, "DW_CFA_def_cfa_register", &[Reg]),
    (0x0e, "DW_CFA_def_cfa_offset", &[Offset]),
    (0x0f, "DW_CFA_def_cfa_expression", &[Expression]),
    (0x10, "DW_CFA_expression", &[Reg, Expression]),
    (0x11, "DW_CFA_offset_extended_sf", &[Reg, Signed]),
    (0x12, "DW_CFA_def_cfa_sf", &[Reg, Signed]),
    (0x13, "DW_CFA_def_cfa_offset_sf", &[Signed]),
    (0x14, "DW_CFA_val_offset", &[Reg, Factored]),
    (0x15, "DW_CFA_val_offset_sf", &[Reg, Signed]),
    (0x16, "DW_CFA_val_expression", &[Reg, Expression]),
    (0x30, "DW_CFA_LLVM_def_aspace_cfa", &[Reg, Offset, Space]),
    (0x31, "DW_CFA_LLVM_def_aspace_cfa_sf", &[Reg, Signed, Space]),
];

/// Reason why call frame information cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameError {
    /// There is no section `.debug_frame`.
    None,
    /// The section ends within an entry or a number.
    Damaged(String),
    /// The version of an entry is unknown.
    Version(u8),
    /// The augmentation string of an entry is unknown, so the rest of the entry cannot be read.
    Augmentation(String),
    /// The frame entry of a function refers to a common information entry (CIE) that does not exist.
    NoCommon(u64),
    /// The instruction is unknown.
    Instruction(u8),
    /// The instruction changes the register or offset of a frame address, but the row defines the frame
    /// address differently or not at all.
    NoCfa(&'static str),
    /// A state is restored but none was remembered.
    NoState,
    /// The code address goes backwards.
    Backwards,
    /// The address space does not exist.
    Space(u64),
    /// There are more rows or states than any function has.
    Limit,
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameError::None => write!(f, "there is no call frame information (no section {SECTION})"),
            FrameError::Damaged(what) => write!(f, "{SECTION} cannot be read: {what}"),
            FrameError::Version(version) => write!(f, "call frame information of version {version}"),
            FrameError::Augmentation(text) => write!(f, "the augmentation {text:?} is not known"),
            FrameError::NoCommon(offset) => write!(f, "no common entry is at {offset:#x} of {SECTION}"),
            FrameError::Instruction(byte) => write!(f, "there is no call frame instruction {byte:#04x}"),
            FrameError::NoCfa(name) => write!(f, "{name} without a register that the frame is at"),
            FrameError::NoState => write!(f, "DW_CFA_restore_state without a state that was remembered"),
            FrameError::Backwards => write!(f, "DW_CFA_set_loc goes backwards"),
            FrameError::Space(space) => write!(f, "there is no address space {space:#x}"),
            FrameError::Limit => write!(f, "more than {ROWS} rows or {REMEMBERED} remembered states"),
        }
    }
}

impl std::error::Error for FrameError {}

impl From<gimli::Error> for FrameError {
    fn from(error: gimli::Error) -> FrameError {
        FrameError::Damaged(error.to_string())
    }
}

/// Definition of the canonical frame address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cfa {
    /// The frame address is the contents of a register plus a number of bytes, in an address space.
    Register(Register, i64, AddressSpace),
    /// Result of an expression.
    Expression(Vec<u8>),
}

/// Rule for the caller's value of a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The value is lost.
    Undefined,
    /// The caller's value is still in the register. This is also the rule of a register without a rule of its
    /// own (LLVM's AMDGPU guide, seed 000, line 1645).
    Same,
    /// The caller's value is in memory, at this offset in bytes from the frame address.
    Offset(i64),
    /// The value is the frame address plus this number of bytes.
    ValueOffset(i64),
    /// The value is in another register.
    Register(Register),
    /// The value is at the location that an expression gives.
    Expression(Vec<u8>),
    /// The value is the result of an expression.
    ValueExpression(Vec<u8>),
}

/// Rules for a range of addresses of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// First address.
    pub from: u64,
    /// Address after the last.
    pub to: u64,
    /// Rule for the canonical frame address; `None` if the address is not defined.
    pub cfa: Option<Cfa>,
    /// Registers that have rules.
    pub rules: BTreeMap<Register, Rule>,
}

impl Row {
    /// Returns the rule of a register.
    pub fn rule(&self, register: Register) -> &Rule {
        self.rules.get(&register).unwrap_or(&Rule::Same)
    }
}

/// Common entry, which the entries of several functions share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Common {
    /// Offset of the entry in the section.
    pub offset: u64,
    /// Augmentation string: `[amd:v0.0]` or `[llvm:v0.0]` if the heterogeneous extensions are used.
    pub augmentation: String,
    /// Encoding of expressions.
    pub encoding: Encoding,
    /// Code alignment factor in bytes.
    pub code_factor: u64,
    /// Data alignment factor in bytes.
    pub data_factor: i64,
    /// Column of the return address.
    pub return_address: Register,
    instructions: Vec<u8>,
}

/// Entry of a function, or of a part of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Offset of the entry in the section.
    pub offset: u64,
    /// First address.
    pub from: u64,
    /// Address after the last.
    pub to: u64,
    /// Index of its common entry.
    pub common: usize,
    instructions: Vec<u8>,
}

/// Call frame information of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frames {
    /// Common entries.
    pub common: Vec<Common>,
    /// Entries of functions, in the order of the file.
    pub frames: Vec<Frame>,
}

impl Frames {
    /// Reads `.debug_frame` of an object. For a relocatable object, relocations are applied as if each code
    /// section were at address 0.
    ///
    /// # Errors
    /// The object has no `.debug_frame`, or it is damaged.
    pub fn read(object: &CodeObject<'_>) -> Result<Frames, FrameError> {
        object.section(SECTION).ok_or(FrameError::None)?;
        Frames::of_section(&relocated(object, SECTION, |_| 0))
    }

    /// Reads the contents of a section.
    ///
    /// # Errors
    /// The section is damaged.
    pub fn of_section(bytes: &[u8]) -> Result<Frames, FrameError> {
        let mut frames = Frames::default();
        // The frame entry of a function may precede the common information entry to which it refers. Common
        // information entries are therefore read in a first pass.
        for turn in [Turn::Common, Turn::Functions] {
            let mut rest = Reader::new(bytes, LittleEndian);
            while !rest.is_empty() {
                let offset = (bytes.len() - rest.len()) as u64;
                let (length, format) = rest.read_initial_length()?;
                let mut entry = rest.split(length)?;
                let id = entry.read_offset(format)? as u64;
                let is_common =
                    id == if format == gimli::Format::Dwarf64 { u64::MAX } else { u32::MAX.into() };
                match (turn, is_common) {
                    (Turn::Common, true) => frames.common.push(common(offset, format.word_size(), entry)?),
                    (Turn::Functions, false) => {
                        let frame = frames.function(offset, id, entry)?;
                        frames.frames.push(frame);
                    }
                    _ => {}
                }
            }
        }
        Ok(frames)
    }

    fn function(&self, offset: u64, id: u64, mut entry: Reader<'_>) -> Result<Frame, FrameError> {
        let number = self.common.iter().position(|common| common.offset == id);
        let number = number.ok_or(FrameError::NoCommon(id))?;
        let size = self.common[number].encoding.address_size;
        let from = entry.read_address(size)?;
        let to = from.wrapping_add(entry.read_address(size)?);
        Ok(Frame { offset, from, to, common: number, instructions: entry.slice().to_vec() })
    }

    /// Returns the function that contains an address.
    pub fn around(&self, address: u64) -> Option<&Frame> {
        self.frames.iter().find(|frame| (frame.from..frame.to).contains(&address))
    }

    /// Returns the common entry of a function.
    pub fn common_of(&self, frame: &Frame) -> &Common {
        &self.common[frame.common]
    }

    /// Returns the rows of a function.
    ///
    /// # Errors
    /// The instructions of the function or of its common entry are damaged or ill-formed.
    pub fn rows(&self, frame: &Frame) -> Result<Vec<Row>, FrameError> {
        self.rows_at(frame, None)
    }

    /// Returns all rows of a function. If `wanted` is given, returns only the row that applies at that
    /// address.
    fn rows_at(&self, frame: &Frame, wanted: Option<u64>) -> Result<Vec<Row>, FrameError> {
        let common = self.common_of(frame);
        let row = Row { from: frame.from, to: frame.to, cfa: None, rules: BTreeMap::new() };
        let mut table =
            Table { common, wanted, initial: BTreeMap::new(), row, remembered: Vec::new(), rows: Vec::new() };
        table.run(&common.instructions)?;
        table.initial = table.row.rules.clone();
        table.run(&frame.instructions)?;
        table.advance(frame.to)?;
        Ok(table.rows)
    }

    /// Returns the row that applies at an address; `None` if no function's entry covers the address.
    ///
    /// # Errors
    /// The instructions of the function or of its common information entry are damaged or ill-formed.
    pub fn row(&self, address: u64) -> Result<Option<Row>, FrameError> {
        let Some(frame) = self.around(address) else { return Ok(None) };
        Ok(self.rows_at(frame, Some(address))?.pop())
    }
}

#[derive(Clone, Copy)]
enum Turn {
    Common,
    Functions,
}

fn common(offset: u64, offset_size: u8, mut entry: Reader<'_>) -> Result<Common, FrameError> {
    let version = entry.read_u8()?;
    let augmentation = entry.read_null_terminated_slice()?.to_string_lossy().into_owned();
    if !matches!(version, 1 | 3 | 4) {
        return Err(FrameError::Version(version));
    }
    if !(augmentation.is_empty() || EXTENDED.iter().any(|begin| augmentation.starts_with(begin))) {
        return Err(FrameError::Augmentation(augmentation));
    }
    let mut address_size = 8;
    if version == 4 {
        address_size = entry.read_address_size()?;
        // There are no segments on AMD GPUs (LLVM's AMDGPU guide, seed 000, line 1619).
        if entry.read_u8()? != 0 {
            return Err(FrameError::Damaged("an address has a segment".to_owned()));
        }
    }
    let code_factor = entry.read_uleb128()?;
    let data_factor = entry.read_sleb128()?;
    let return_address = match version {
        1 => entry.read_u8()?.into(),
        _ => entry.read_uleb128()?,
    };
    Ok(Common {
        offset,
        augmentation,
        encoding: Encoding { address_size, offset_size, numbering: Numbering::Registered },
        code_factor,
        data_factor,
        return_address: Register(return_address),
        instructions: entry.slice().to_vec(),
    })
}

/// Operand, multiplied by its factor.
enum Value {
    Register(Register),
    Number(i64),
    Space(AddressSpace),
    Expression(Vec<u8>),
}

/// Table of a function under construction.
struct Table<'a> {
    common: &'a Common,
    /// Address whose row is requested; `None` for all rows.
    wanted: Option<u64>,
    /// Rules that the common instructions have established.
    initial: BTreeMap<Register, Rule>,
    row: Row,
    remembered: Vec<(Option<Cfa>, BTreeMap<Register, Rule>)>,
    rows: Vec<Row>,
}

impl Table<'_> {
    fn run(&mut self, instructions: &[u8]) -> Result<(), FrameError> {
        let mut rest = Reader::new(instructions, LittleEndian);
        while !rest.is_empty() {
            let byte = rest.read_u8()?;
            let number = if byte & 0xc0 == 0 { byte } else { byte & 0xc0 };
            let known = INSTRUCTIONS.iter().find(|row| row.0 == number);
            let &(_, name, operands) = known.ok_or(FrameError::Instruction(byte))?;
            let mut values = Vec::new();
            for &operand in operands {
                values.push(self.operand(operand, &mut rest)?);
            }
            self.step(number, name, byte & 0x3f, values)?;
        }
        Ok(())
    }

    fn operand(&self, operand: Operand, rest: &mut Reader<'_>) -> Result<Value, FrameError> {
        let factor = self.common.data_factor;
        Ok(match operand {
            Reg => Value::Register(Register(rest.read_uleb128()?)),
            Offset => Value::Number(rest.read_uleb128()? as i64),
            Factored => Value::Number((rest.read_uleb128()? as i64).wrapping_mul(factor)),
            Signed => Value::Number(rest.read_sleb128()?.wrapping_mul(factor)),
            Space => {
                let space = AddressSpace(rest.read_uleb128()?);
                space.address_bits().ok_or(FrameError::Space(space.0))?;
                Value::Space(space)
            }
            Expression => {
                let length = rest.read_uleb128_u32()?;
                Value::Expression(rest.split(length as usize)?.slice().to_vec())
            }
            Address => Value::Number(rest.read_address(self.common.encoding.address_size)? as i64),
            Advance(bytes) => {
                let steps = rest.read_uint(bytes.into())?;
                Value::Number(steps.wrapping_mul(self.common.code_factor) as i64)
            }
        })
    }

    /// Advances the code address. The row before it is complete.
    fn advance(&mut self, to: u64) -> Result<(), FrameError> {
        let from = self.row.from;
        if to < from {
            return Err(FrameError::Backwards);
        }
        if to > from {
            if self.rows.len() >= ROWS {
                return Err(FrameError::Limit);
            }
            if self.wanted.is_none_or(|wanted| (from..to).contains(&wanted)) {
                self.rows.push(Row { to, ..self.row.clone() });
            }
            self.row.from = to;
        }
        Ok(())
    }

    /// Executes an instruction. `low`: its low six bits.
    fn step(
        &mut self,
        number: u8,
        name: &'static str,
        low: u8,
        values: Vec<Value>,
    ) -> Result<(), FrameError> {
        use Value::{Expression, Number, Register as Of, Space};
        let own = Register(low.into());
        match (number, values.as_slice()) {
            (0x40, _) => {
                let step = u64::from(low).wrapping_mul(self.common.code_factor);
                self.advance(self.row.from.wrapping_add(step))?;
            }
            (0x02..=0x04, &[Number(step)]) => self.advance(self.row.from.wrapping_add(step as u64))?,
            (0x01, &[Number(address)]) => self.advance(address as u64)?,
            (0x80, &[Number(offset)]) => self.set(own, Rule::Offset(offset)),
            (0xc0, _) => self.restore(own),
            (0x05 | 0x11, &[Of(register), Number(offset)]) => self.set(register, Rule::Offset(offset)),
            (0x06, &[Of(register)]) => self.restore(register),
            (0x07, &[Of(register)]) => self.set(register, Rule::Undefined),
            (0x08, &[Of(register)]) => self.set(register, Rule::Same),
            (0x09, &[Of(register), Of(other)]) => self.set(register, Rule::Register(other)),
            (0x0a, _) if self.remembered.len() >= REMEMBERED => return Err(FrameError::Limit),
            (0x0a, _) => self.remembered.push((self.row.cfa.clone(), self.row.rules.clone())),
            (0x0b, _) => {
                (self.row.cfa, self.row.rules) = self.remembered.pop().ok_or(FrameError::NoState)?;
            }
            // These instructions do not name an address space; they imply the default one.
            (0x0c | 0x12, &[Of(register), Number(offset)]) => {
                self.row.cfa = Some(Cfa::Register(register, offset, AddressSpace::GLOBAL));
            }
            (0x30 | 0x31, &[Of(register), Number(offset), Space(space)]) => {
                self.row.cfa = Some(Cfa::Register(register, offset, space));
            }
            (0x0d, &[Of(register)]) => {
                let (_, offset, space) = self.cfa(name)?;
                self.row.cfa = Some(Cfa::Register(register, offset, space));
            }
            (0x0e | 0x13, &[Number(offset)]) => {
                let (register, _, space) = self.cfa(name)?;
                self.row.cfa = Some(Cfa::Register(register, offset, space));
            }
            (0x0f, [Expression(bytes)]) => self.row.cfa = Some(Cfa::Expression(bytes.clone())),
            (0x10, [Of(register), Expression(bytes)]) => self.set(*register, Rule::Expression(bytes.clone())),
            (0x14 | 0x15, &[Of(register), Number(offset)]) => self.set(register, Rule::ValueOffset(offset)),
            (0x16, [Of(register), Expression(bytes)]) => {
                self.set(*register, Rule::ValueExpression(bytes.clone()));
            }
            // `DW_CFA_nop`.
            _ => {}
        }
        Ok(())
    }

    fn set(&mut self, register: Register, rule: Rule) {
        self.row.rules.insert(register, rule);
    }

    /// Gives a register the rule that the common information entry gives it (`DW_CFA_restore`).
    fn restore(&mut self, register: Register) {
        match self.initial.get(&register) {
            Some(rule) => self.row.rules.insert(register, rule.clone()),
            None => self.row.rules.remove(&register),
        };
    }

    /// Returns the register, offset and address space of the current rule for the frame address, which the
    /// instruction `name` changes. Fails if the rule is an expression or missing.
    fn cfa(&self, name: &'static str) -> Result<(Register, i64, AddressSpace), FrameError> {
        match self.row.cfa {
            Some(Cfa::Register(register, offset, space)) => Ok((register, offset, space)),
            _ => Err(FrameError::NoCfa(name)),
        }
    }
}
