//! Operations of DWARF expressions: one table of names, numbers and operands, which is used for reading,
//! writing and printing.
//!
//! The numbers of the standard operations are those of DWARF 5 (table 7.9). The numbers of the heterogeneous
//! extensions are those of LLVM's current AMDGPU guide. The older version of the guide in seed 000 leaves
//! most of these numbers open, and LLVM has changed the three that it gives (line 1351).

use crate::names::Register;
use smallvec::SmallVec;
use std::fmt;

/// Encoding of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Address, with the size that the unit gives.
    Address,
    /// Unsigned number of 1, 2, 4 or 8 bytes.
    U(u8),
    /// Signed number of 1, 2, 4 or 8 bytes.
    S(u8),
    /// Unsigned LEB128.
    Uleb,
    /// Signed LEB128.
    Sleb,
    /// Register, as unsigned LEB128.
    Reg,
    /// Offset of 4 or 8 bytes, depending on the DWARF format.
    Offset,
    /// Byte count in unsigned LEB128, followed by the bytes.
    Block,
    /// Byte count in one byte, followed by the bytes.
    Block1,
}

/// Operation, independent of its number in the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Opcode(pub u16);

/// Numbering of the operations of the extensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbering {
    /// The prefix `DW_OP_LLVM_user` (0xe9) followed by a number, as in LLVM's guide to the extensions.
    /// `DW_OP_LLVM_aspace_implicit_pointer` has no number there yet.
    #[default]
    Registered,
    /// The numbers 0xe1 to 0xec, as first proposed for the extensions. Older ROCm versions and libdwarf use
    /// these numbers.
    First,
}

/// Parameters of the encoding of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// Size of an address in bytes: 4 or 8.
    pub address_size: u8,
    /// Size of an offset into a debug section: 4 bytes, or 8 bytes in the 64-bit DWARF format.
    pub offset_size: u8,
    /// Numbering of the extensions.
    pub numbering: Numbering,
}

impl Default for Encoding {
    fn default() -> Encoding {
        Encoding { address_size: 8, offset_size: 4, numbering: Numbering::Registered }
    }
}

/// First number in [`Opcode`] of the operations that are encoded with the prefix `DW_OP_LLVM_user`.
const USER: u16 = 0x100;
/// Number of that prefix.
const PREFIX: u8 = 0xe9;

use Operand::{Address, Block, Block1, Offset, Reg, S, Sleb, U, Uleb};

macro_rules! operations {
    ($($number:literal $id:ident $name:literal $operands:expr;)*) => {
        impl Opcode {
            $(
                #[doc = concat!("`DW_OP_", $name, "`")]
                pub const $id: Opcode = Opcode($number);
            )*
        }
        /// Opcode, name and operands.
        const TABLE: &[(Opcode, &str, &[Operand])] = &[$((Opcode::$id, $name, &$operands),)*];
    };
}

// The rows `lit`, `reg` and `breg` each stand for 32 operations with consecutive numbers, such as `lit0` to
// `lit31`.
operations! {
    0x03 ADDR "addr" [Address];
    0x06 DEREF "deref" [];
    0x08 CONST1U "const1u" [U(1)];
    0x09 CONST1S "const1s" [S(1)];
    0x0a CONST2U "const2u" [U(2)];
    0x0b CONST2S "const2s" [S(2)];
    0x0c CONST4U "const4u" [U(4)];
    0x0d CONST4S "const4s" [S(4)];
    0x0e CONST8U "const8u" [U(8)];
    0x0f CONST8S "const8s" [S(8)];
    0x10 CONSTU "constu" [Uleb];
    0x11 CONSTS "consts" [Sleb];
    0x12 DUP "dup" [];
    0x13 DROP "drop" [];
    0x14 OVER "over" [];
    0x15 PICK "pick" [U(1)];
    0x16 SWAP "swap" [];
    0x17 ROT "rot" [];
    0x18 XDEREF "xderef" [];
    0x19 ABS "abs" [];
    0x1a AND "and" [];
    0x1b DIV "div" [];
    0x1c MINUS "minus" [];
    0x1d MOD "mod" [];
    0x1e MUL "mul" [];
    0x1f NEG "neg" [];
    0x20 NOT "not" [];
    0x21 OR "or" [];
    0x22 PLUS "plus" [];
    0x23 PLUS_UCONST "plus_uconst" [Uleb];
    0x24 SHL "shl" [];
    0x25 SHR "shr" [];
    0x26 SHRA "shra" [];
    0x27 XOR "xor" [];
    0x28 BRA "bra" [S(2)];
    0x29 EQ "eq" [];
    0x2a GE "ge" [];
    0x2b GT "gt" [];
    0x2c LE "le" [];
    0x2d LT "lt" [];
    0x2e NE "ne" [];
    0x2f SKIP "skip" [S(2)];
    0x30 LIT0 "lit" [];
    0x50 REG0 "reg" [];
    0x70 BREG0 "breg" [Sleb];
    0x90 REGX "regx" [Reg];
    0x91 FBREG "fbreg" [Sleb];
    0x92 BREGX "bregx" [Reg, Sleb];
    0x93 PIECE "piece" [Uleb];
    0x94 DEREF_SIZE "deref_size" [U(1)];
    0x95 XDEREF_SIZE "xderef_size" [U(1)];
    0x96 NOP "nop" [];
    0x97 PUSH_OBJECT_ADDRESS "push_object_address" [];
    0x98 CALL2 "call2" [U(2)];
    0x99 CALL4 "call4" [U(4)];
    0x9a CALL_REF "call_ref" [Offset];
    0x9b FORM_TLS_ADDRESS "form_tls_address" [];
    0x9c CALL_FRAME_CFA "call_frame_cfa" [];
    0x9d BIT_PIECE "bit_piece" [Uleb, Uleb];
    0x9e IMPLICIT_VALUE "implicit_value" [Block];
    0x9f STACK_VALUE "stack_value" [];
    0xa0 IMPLICIT_POINTER "implicit_pointer" [Offset, Sleb];
    0xa1 ADDRX "addrx" [Uleb];
    0xa2 CONSTX "constx" [Uleb];
    0xa3 ENTRY_VALUE "entry_value" [Block];
    0xa4 CONST_TYPE "const_type" [Uleb, Block1];
    0xa5 REGVAL_TYPE "regval_type" [Reg, Uleb];
    0xa6 DEREF_TYPE "deref_type" [U(1), Uleb];
    0xa7 XDEREF_TYPE "xderef_type" [U(1), Uleb];
    0xa8 CONVERT "convert" [Uleb];
    0xa9 REINTERPRET "reinterpret" [Uleb];
    // GNU names and numbers of operations that DWARF 5 standardised later. clang writes them in DWARF 4.
    0xe0 GNU_PUSH_TLS_ADDRESS "GNU_push_tls_address" [];
    0xf3 GNU_ENTRY_VALUE "GNU_entry_value" [Block];
    0xfb GNU_ADDR_INDEX "GNU_addr_index" [Uleb];
    0xfc GNU_CONST_INDEX "GNU_const_index" [Uleb];
    // Operations with the prefix.
    0x101 LLVM_NOP "LLVM_nop" [];
    0x102 LLVM_FORM_ASPACE_ADDRESS "LLVM_form_aspace_address" [];
    0x103 LLVM_PUSH_LANE "LLVM_push_lane" [];
    0x104 LLVM_OFFSET "LLVM_offset" [];
    0x105 LLVM_OFFSET_UCONST "LLVM_offset_uconst" [Uleb];
    0x106 LLVM_BIT_OFFSET "LLVM_bit_offset" [];
    0x107 LLVM_CALL_FRAME_ENTRY_REG "LLVM_call_frame_entry_reg" [Reg];
    0x108 LLVM_UNDEFINED "LLVM_undefined" [];
    0x109 LLVM_ASPACE_BREGX "LLVM_aspace_bregx" [Reg, Sleb];
    0x10a LLVM_PIECE_END "LLVM_piece_end" [];
    0x10b LLVM_EXTEND "LLVM_extend" [Uleb, Uleb];
    0x10c LLVM_SELECT_BIT_PIECE "LLVM_select_bit_piece" [Uleb, Uleb];
    // This operation has no number in LLVM's guide.
    0x1ff LLVM_ASPACE_IMPLICIT_POINTER "LLVM_aspace_implicit_pointer" [Offset, Sleb];
}

/// Extension operations in the order of their numbers in [`Numbering::First`], which begin at 0xe1.
const FIRST: [Opcode; 12] = [
    Opcode::LLVM_FORM_ASPACE_ADDRESS,
    Opcode::LLVM_PUSH_LANE,
    Opcode::LLVM_OFFSET,
    Opcode::LLVM_OFFSET_UCONST,
    Opcode::LLVM_BIT_OFFSET,
    Opcode::LLVM_CALL_FRAME_ENTRY_REG,
    Opcode::LLVM_UNDEFINED,
    Opcode::LLVM_ASPACE_BREGX,
    Opcode::LLVM_ASPACE_IMPLICIT_POINTER,
    Opcode::LLVM_PIECE_END,
    Opcode::LLVM_EXTEND,
    Opcode::LLVM_SELECT_BIT_PIECE,
];
const FIRST_NUMBER: u8 = 0xe1;

/// For each opcode, its row in the table of operations, or [`u8::MAX`] if it has none. This makes the lookup
/// fast: expressions may contain loops, and each step looks up an operation.
static ROW_OF: [u8; 0x200] = {
    assert!(TABLE.len() < u8::MAX as usize);
    let mut rows = [u8::MAX; 0x200];
    let mut at = 0;
    while at < TABLE.len() {
        let first = TABLE[at].0.0 as usize;
        let mut count =
            if matches!(TABLE[at].0, Opcode::LIT0 | Opcode::REG0 | Opcode::BREG0) { 32 } else { 1 };
        while count > 0 {
            count -= 1;
            rows[first + count] = at as u8;
        }
        at += 1;
    }
    rows
};

/// Operations that stand for 32 consecutive numbers.
const RUNS: [Opcode; 3] = [Opcode::LIT0, Opcode::REG0, Opcode::BREG0];

impl Opcode {
    /// Returns all operations of the table. An operation that stands for 32 numbers appears once.
    pub fn all() -> impl Iterator<Item = Opcode> {
        TABLE.iter().map(|row| row.0)
    }

    /// Returns whether this is an operation of the extensions.
    pub fn is_extension(self) -> bool {
        self.0 > 0xff
    }

    /// Returns the family of 32 operations (`lit`, `reg` or `breg`) to which this operation belongs, and the
    /// number in its name. `None` for other operations.
    pub fn run(self) -> Option<(Opcode, u8)> {
        RUNS.into_iter().find_map(|first| {
            let number = self.0.checked_sub(first.0).filter(|&number| number < 32)?;
            Some((first, number as u8))
        })
    }

    fn row(self) -> Option<&'static (Opcode, &'static str, &'static [Operand])> {
        let at = ROW_OF.get(usize::from(self.0)).copied()?;
        TABLE.get(usize::from(at))
    }

    /// Returns the operands of the operation.
    pub fn operands(self) -> &'static [Operand] {
        self.row().map_or(&[], |row| row.2)
    }

    /// Returns the operation with the given name. The name includes the prefix `DW_OP_`.
    pub fn by_name(name: &str) -> Option<Opcode> {
        let name = name.strip_prefix("DW_OP_")?;
        let exact = TABLE.iter().find(|row| row.1 == name && row.0.run().is_none());
        exact.map(|row| row.0).or_else(|| {
            let digits = name.find(|c: char| c.is_ascii_digit())?;
            let (word, number) = name.split_at(digits);
            let first = RUNS.into_iter().find(|first| first.row().is_some_and(|row| row.1 == word))?;
            let number: u16 = number.parse().ok().filter(|&number| number < 32)?;
            Some(Opcode(first.0 + number))
        })
    }

    /// Returns the bytes that encode the operation, without operands. `None` if the operation has no number
    /// in this numbering.
    pub fn number(self, numbering: Numbering) -> Option<SmallVec<[u8; 2]>> {
        let mut bytes = SmallVec::new();
        match (FIRST.iter().position(|&op| op == self), numbering) {
            (Some(at), Numbering::First) => bytes.push(FIRST_NUMBER + at as u8),
            _ if self == Opcode::LLVM_ASPACE_IMPLICIT_POINTER => return None,
            // In this numbering, the byte of the prefix `DW_OP_LLVM_user` is an operation itself. Operations
            // after the prefix therefore have no number.
            _ if self.0 >= USER && numbering == Numbering::First => return None,
            _ if self.0 >= USER => bytes.extend([PREFIX, (self.0 - USER) as u8]),
            _ => bytes.push(self.0 as u8),
        }
        Some(bytes)
    }
}

/// Formats the name, such as `DW_OP_lit4`.
impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.row(), self.run()) {
            (Some(row), Some((_, number))) => write!(f, "DW_OP_{}{number}", row.1),
            (Some(row), None) => write!(f, "DW_OP_{}", row.1),
            (None, _) => write!(f, "DW_OP_{:#x}", self.0),
        }
    }
}

/// Value of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg<'a> {
    /// Value of an unsigned operand or an address.
    Unsigned(u64),
    /// Value of a signed operand.
    Signed(i64),
    /// Value of an operand that consists of bytes.
    Bytes(&'a [u8]),
}

/// Operation in an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Op<'a> {
    /// Opcode.
    pub opcode: Opcode,
    /// Operands, as [`Opcode::operands`] lists them.
    pub args: SmallVec<[Arg<'a>; 2]>,
    /// Offset in the expression at which the operation begins.
    pub offset: usize,
    /// Offset at which the next operation begins.
    pub end: usize,
}

impl<'a> Op<'a> {
    /// Returns an operand that is an unsigned number. For other operands returns 0; callers do not ask for
    /// them because the table says which operands an operation has.
    pub fn unsigned(&self, operand: usize) -> u64 {
        match self.args.get(operand) {
            Some(&Arg::Unsigned(value)) => value,
            _ => 0,
        }
    }

    /// Returns an operand that is a signed number.
    pub fn signed(&self, operand: usize) -> i64 {
        match self.args.get(operand) {
            Some(&Arg::Signed(value)) => value,
            _ => 0,
        }
    }

    /// Returns an operand that consists of bytes.
    pub fn bytes(&self, operand: usize) -> &'a [u8] {
        match self.args.get(operand) {
            Some(&Arg::Bytes(bytes)) => bytes,
            _ => &[],
        }
    }
}

/// Reason why bytes are not an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseError {
    /// The bytes end within an operation.
    End,
    /// No operation has this number. The fields are the byte, and the number after the prefix
    /// `DW_OP_LLVM_user` if the byte is this prefix.
    Unknown(u8, Option<u64>),
    /// A number has more than 64 bits.
    Large,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseError::End => write!(f, "the expression ends within an operation"),
            ParseError::Unknown(byte, None) => write!(f, "there is no operation {byte:#04x}"),
            ParseError::Unknown(byte, Some(user)) => write!(f, "there is no operation {byte:#04x} {user:#x}"),
            ParseError::Large => write!(f, "a number has more than 64 bits"),
        }
    }
}

impl std::error::Error for ParseError {}

/// Iterator over the operations of an expression. An error is the last item.
#[derive(Clone, Debug)]
pub struct Ops<'a> {
    bytes: &'a [u8],
    at: usize,
    encoding: Encoding,
}

impl<'a> Ops<'a> {
    /// Returns the operations of an expression.
    pub fn new(bytes: &'a [u8], encoding: Encoding) -> Ops<'a> {
        Ops { bytes, at: 0, encoding }
    }

    /// Returns the operation at an offset; `None` at the end.
    pub fn at(bytes: &'a [u8], at: usize, encoding: Encoding) -> Option<Result<Op<'a>, ParseError>> {
        Ops { bytes, at, encoding }.next()
    }

    /// Returns the offset at which the next operation begins.
    pub fn offset(&self) -> usize {
        self.at
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], ParseError> {
        let end = self.at.checked_add(count).ok_or(ParseError::End)?;
        let bytes = self.bytes.get(self.at..end).ok_or(ParseError::End)?;
        self.at = end;
        Ok(bytes)
    }

    fn fixed(&mut self, count: usize) -> Result<u64, ParseError> {
        let bytes = self.take(count)?;
        Ok(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    /// Reads a LEB128 number. Returns its value, and how many bits its bytes contain.
    fn leb(&mut self) -> Result<(u128, u32), ParseError> {
        let (mut value, mut bits) = (0, 0);
        loop {
            let byte = self.take(1)?[0];
            // Redundant bytes may follow.
            if bits < 126 {
                value |= u128::from(byte & 0x7f) << bits;
            } else if byte & 0x7f != 0 && byte & 0x7f != 0x7f {
                return Err(ParseError::Large);
            }
            bits += 7;
            if byte & 0x80 == 0 {
                return Ok((value, bits.min(126)));
            }
        }
    }

    fn uleb(&mut self) -> Result<u64, ParseError> {
        // Most numbers have one byte.
        if let Some(&byte) = self.bytes.get(self.at).filter(|&&byte| byte < 0x80) {
            self.at += 1;
            return Ok(byte.into());
        }
        u64::try_from(self.leb()?.0).map_err(|_| ParseError::Large)
    }

    fn sleb(&mut self) -> Result<i64, ParseError> {
        let (value, bits) = self.leb()?;
        let shift = 128 - bits;
        i64::try_from((value << shift) as i128 >> shift).map_err(|_| ParseError::Large)
    }

    fn opcode(&mut self) -> Result<Opcode, ParseError> {
        let byte = self.take(1)?[0];
        let first = byte.checked_sub(FIRST_NUMBER).and_then(|at| FIRST.get(usize::from(at)));
        let (opcode, user) = match (self.encoding.numbering, first) {
            (Numbering::First, Some(&opcode)) => (opcode, None),
            (Numbering::Registered, _) if byte == PREFIX => {
                let user = self.uleb()?;
                let opcode = u16::try_from(user).ok().and_then(|user| user.checked_add(USER)).map(Opcode);
                let known = opcode.filter(|&opcode| opcode != Opcode::LLVM_ASPACE_IMPLICIT_POINTER);
                (known.unwrap_or(Opcode(u16::MAX)), Some(user))
            }
            _ => (Opcode(u16::from(byte)), None),
        };
        opcode.row().map(|_| opcode).ok_or(ParseError::Unknown(byte, user))
    }

    fn operand(&mut self, operand: Operand) -> Result<Arg<'a>, ParseError> {
        let Encoding { address_size, offset_size, .. } = self.encoding;
        Ok(match operand {
            Address => Arg::Unsigned(self.fixed(usize::from(address_size))?),
            U(bytes) => Arg::Unsigned(self.fixed(usize::from(bytes))?),
            S(bytes) => {
                let shift = 64 - 8 * u32::from(bytes);
                Arg::Signed((self.fixed(usize::from(bytes))? << shift) as i64 >> shift)
            }
            Uleb | Reg => Arg::Unsigned(self.uleb()?),
            Sleb => Arg::Signed(self.sleb()?),
            Offset => Arg::Unsigned(self.fixed(usize::from(offset_size))?),
            Block => {
                let count = self.uleb()?;
                Arg::Bytes(self.take(usize::try_from(count).map_err(|_| ParseError::End)?)?)
            }
            Block1 => {
                let count = self.fixed(1)?;
                Arg::Bytes(self.take(count as usize)?)
            }
        })
    }

    fn read(&mut self) -> Result<Op<'a>, ParseError> {
        let offset = self.at;
        let opcode = self.opcode()?;
        let mut args = SmallVec::new();
        for &operand in opcode.operands() {
            args.push(self.operand(operand)?);
        }
        Ok(Op { opcode, args, offset, end: self.at })
    }
}

impl<'a> Iterator for Ops<'a> {
    type Item = Result<Op<'a>, ParseError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let op = self.read();
        if op.is_err() {
            self.at = self.bytes.len();
        }
        Some(op)
    }
}

/// Formats the operation, for example as `DW_OP_bregx s33 +8`. An expression in an operand appears in
/// parentheses if it can be read ([`crate::text`]).
impl fmt::Display for Op<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.opcode)?;
        for (arg, operand) in self.args.iter().zip(self.opcode.operands()) {
            match (*arg, operand) {
                (Arg::Unsigned(value), Reg) => {
                    let register = Register(value);
                    match register.bits() {
                        // Two vector registers have the same name, one for waves of 32 lanes and one for 64.
                        // The size in the text distinguishes them.
                        Some(bits @ (1024 | 2048)) => write!(f, " {register}.{}", bits / 32)?,
                        Some(_) if matches!(value, 0 | 1) => write!(f, " {register}.32")?,
                        Some(_) => write!(f, " {register}")?,
                        None => write!(f, " {value}")?,
                    }
                }
                (Arg::Unsigned(value), Address | Offset) => write!(f, " {value:#x}")?,
                (Arg::Unsigned(value), _) => write!(f, " {value}")?,
                (Arg::Signed(value), Sleb) => write!(f, " {value:+}")?,
                (Arg::Signed(value), _) => write!(f, " {value}")?,
                (Arg::Bytes(bytes), _) => {
                    write!(f, " [")?;
                    for (n, byte) in bytes.iter().enumerate() {
                        write!(f, "{}{byte:02x}", if n > 0 { " " } else { "" })?;
                    }
                    write!(f, "]")?;
                }
            }
        }
        Ok(())
    }
}
