//! Debug information that accompanies machine code: where source statements begin, and which registers hold
//! which variables.
//!
//! # Idea
//! Instruction selection numbers the operations of the IR. The number of an operation, its *point*, is
//! stored in the machine instructions' field for the source location ([`MachInst::loc`](isa::MachInst)).
//! Passes keep this field anyway, so they need no support for debug information. An instruction that belongs
//! to no point has 0.
//!
//! The points of a block increase from its beginning to its end. A [`Record`] says for example that a
//! variable has a new location; it holds from just before a point on. In the final code, it therefore begins
//! to hold after the last instruction of the block with an earlier point. Instructions that passes have moved
//! up, such as loads, do not count here.
//!
//! A virtual register has one hardware register during its whole live range, which the allocator records
//! ([`Watched::place`]). In the final code, the instruction that writes the virtual register is found by its
//! point. From this instruction on, the hardware register holds the value, until another instruction writes
//! the hardware register.

use isa::{Reg, VReg};
use std::num::NonZeroU32;

/// Where a fragment of a variable is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FragmentLocation {
    /// The value of the fragment is lost: nothing in the program holds it.
    #[default]
    Lost,
    /// A constant.
    Constant(u64),
    /// In registers: an index into [`MachTrack::tracked_values`].
    Tracked(u32),
    /// The variable is in private memory. The number is an index into [`MachTrack::slots`].
    Memory(u32),
}

/// A value that the debugger computes from other values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// Operation.
    pub op: TermOp,
    /// Width of the operands in bits. The operands are integers or addresses.
    pub bits: u8,
    /// The one, two or three operands.
    pub args: [FragmentLocation; 3],
}

/// An operation of a [`Term`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TermOp {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Shl,
    LShr,
    AShr,
    Not,
    Neg,
    /// Zero-extends the given number of low bits of the operand. `SignedLow` sign-extends them instead.
    Low(u8),
    SignedLow(u8),
    /// Adds an unsigned 32-bit offset (the second operand) to an address (the first operand).
    AddUnsigned,
    Eq,
    Ne,
    Ult,
    Ule,
    Ugt,
    Uge,
    Slt,
    Sle,
    Sgt,
    Sge,
    /// Selects the second operand if the first one is true, and the third one otherwise.
    Select,
}

/// Where the value of a variable is. The value may exist in up to three forms at the same time: in vector
/// registers, in scalar registers and as a lane mask. The fields `vector`, `scalar` and `mask` have, for each
/// form, the index of the first [`Watched`] register (one for each dword), or `u32::MAX` if the value does
/// not exist in this form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrackedValue {
    /// First of the vector registers.
    pub vector: u32,
    /// First of the scalar registers.
    pub scalar: u32,
    /// First of the registers with one bit for each lane.
    pub mask: u32,
    /// Size of the value in dwords.
    pub dwords: u8,
    /// How to compute the value where no register holds it, as an index into [`MachTrack::terms`].
    pub term: u32,
}

/// A virtual register that debug information refers to, with the location that the allocator gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The register.
    pub register: VReg,
    /// Instruction that writes the register, or `None` if there is no such instruction. The allocator sets
    /// this field together with `place`.
    pub write: Option<Write>,
    /// For a register that is a block parameter: the IR block at whose beginning it gets its value, as an
    /// index into [`MachTrack::parts`]. For any other register, `u32::MAX`.
    pub part: u32,
    /// Hardware register that the allocator has assigned.
    pub place: Option<Reg>,
    /// Where the value is while it is spilled: an index into [`MachTrack::kept`], or `u32::MAX` if it is
    /// never spilled.
    pub slot: u32,
}

/// An instruction that writes a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Point of the instruction.
    pub point: NonZeroU32,
    /// Number of earlier instructions of the same point that write the same hardware register. A point may
    /// have several instructions that write it, and this number tells them apart.
    pub number: u32,
}

/// Location of a spilled register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Point of the instructions that store to the spill slot and reload from it (see [`spill_point`]).
    pub point: u32,
    /// Location that holds it.
    pub cell: Cell,
    /// Whether the value is in the spill slot, and not in its register, at the beginning of the block
    /// [`Watched::part`].
    pub enters: bool,
}

/// Where a dword of a spilled value is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cell {
    /// A register.
    Reg(Reg),
    /// A lane of a vector register.
    Lane(Reg, u8),
    /// Private memory, at this offset in bytes from the start of the function's frame.
    Private(u32),
    /// The value is not stored anymore, but it is known: it is the value that this register had when the
    /// function was entered.
    Entered(Reg),
}

/// Returns the point of the instructions that store to a spill slot or reload from it. `is_vector` says
/// whether the slot is for vector or for scalar registers. The point is greater than all points of the IR.
pub const fn spill_point(is_vector: bool, slot: u32) -> u32 {
    1 << 31 | (is_vector as u32) << 30 | slot
}

/// Returns whether a point was returned by [`spill_point`].
pub const fn is_spill(point: u32) -> bool {
    point >> 31 != 0
}

/// A fact for debuggers, for example that a statement begins or that a variable has a new location. The fact
/// holds from just before a point (an operation of the IR) on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The point.
    pub point: u32,
    /// The fact.
    pub what: What,
}

/// The fact in a [`Record`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A statement begins, at this source location.
    Statement(u32),
    /// A fragment (scalar) of a variable gets this location. The number of the fragment counts the fragments
    /// of all variables of the function.
    Fragment(u32, FragmentLocation),
}

/// An IR block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// First point of the block.
    pub first: u32,
    /// The first point of the next block.
    pub end: u32,
    /// Range of the block's records.
    pub records: (u32, u32),
    /// Locations of fragments (scalars of variables) at the beginning of the block, as a range of
    /// [`MachTrack::heads`].
    pub heads: (u32, u32),
}

/// The debug records of a function.
#[derive(Clone, Debug, Default)]
pub struct MachTrack {
    /// Source location of each point, beginning with point 1. As in the IR, a location is a byte offset plus
    /// one, or 0 if there is none.
    pub places: Vec<u32>,
    /// Blocks in the order of their points.
    pub parts: Vec<Part>,
    /// Records in the order of their points.
    pub records: Vec<Record>,
    /// Number of fragments.
    pub fragments: u32,
    /// Size of a lane mask in dwords.
    pub mask_dwords: u8,
    /// Locations of fragments (scalars of variables) at the beginnings of blocks. Each block has a range of
    /// this list.
    pub heads: Vec<(u32, FragmentLocation)>,
    /// Locations of values in registers.
    pub tracked_values: Vec<TrackedValue>,
    /// Values that the debugger computes.
    pub terms: Vec<Term>,
    /// The virtual registers to which the tracked values refer.
    pub watched: Vec<Watched>,
    /// Locations of spilled registers.
    pub kept: Vec<Slot>,
    /// Offsets of private variables, by their index in the IR.
    pub slots: Vec<u32>,
    /// Offset in LDS of each LDS variable of the module, by the variable's index. The offset is `u32::MAX` if
    /// the function does not use the variable.
    pub shared: Vec<u32>,
    /// The call instructions, each with its point (the number of the operation of the IR) and the index of
    /// the call in [`MachFunc::calls`](crate::MachFunc).
    pub calls: Vec<(u32, u32)>,
}

impl MachTrack {
    /// Removes all records and keeps the allocated memory for the next function.
    pub fn clear(&mut self) {
        let MachTrack { places, parts, records, heads, tracked_values, terms, watched, kept, slots, .. } =
            self;
        places.clear();
        parts.clear();
        records.clear();
        heads.clear();
        tracked_values.clear();
        terms.clear();
        watched.clear();
        kept.clear();
        slots.clear();
        (self.fragments, self.mask_dwords) = (0, 0);
        self.shared.clear();
        self.calls.clear();
    }

    /// Returns where a tracked register's value is while it is spilled; `None` if it is never spilled.
    pub fn slot(&self, watched: &Watched) -> Option<&Slot> {
        self.kept.get(watched.slot as usize)
    }

    /// Returns the source location of a point; 0 for none.
    pub fn location_of_point(&self, point: u32) -> u32 {
        point.checked_sub(1).and_then(|n| self.places.get(n as usize)).copied().unwrap_or(0)
    }

    /// Returns the index of the block that contains a point.
    pub fn part_of(&self, point: u32) -> Option<usize> {
        let after = self.parts.partition_point(|part| part.first <= point);
        after.checked_sub(1).filter(|&n| point < self.parts[n].end)
    }
}
