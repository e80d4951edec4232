//! Debug information beside machine code: where statements begin, and which registers hold what variables are.
//!
//! # Idea
//! Selection gives each operation of the IR a number, its *point*, and puts it where instructions have their place in the source
//! ([`MachInst::loc`](crate::MachInst)). Passes keep that as they always do; they owe nothing else. What comes from no point is 0.
//!
//! Points of a block grow from its beginning to its end. So a [`Record`] in front of a point is, in final code, behind the last instruction of an
//! earlier point of its block: what was moved up from behind it, as loads are, does not count.
//!
//! A virtual register has one hardware register as long as it lives, which the allocator writes down ([`Watched::place`]). When it is written is known
//! by the point of the instruction that does it; that something else has taken its place, by what final code writes.

use crate::reg::{Reg, VReg};
use std::num::NonZeroU32;

/// What a leaf of a variable is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Held {
    /// Nobody knows.
    #[default]
    Lost,
    /// A constant.
    Constant(u64),
    /// In registers: a number of [`MachTrack::spots`].
    Spot(u32),
    /// The variable is in private memory: a number of [`MachTrack::slots`].
    Memory(u32),
}

/// What a debugger computes from other values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// How.
    pub op: TermOp,
    /// Bits of the operands; they are integers or addresses.
    pub bits: u8,
    /// Operands: one, two or three of them.
    pub args: [Held; 3],
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
    /// The low bits, so many of them; what is above is 0, or the sign.
    Low(u8),
    SignedLow(u8),
    /// The first is an address, the second an unsigned distance of 32 bits.
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
    /// The second where the first is true, else the third.
    Select,
}

/// Where a value is: [`Watched`] registers, one a dword, for each of its forms. Nowhere is `u32::MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The first of vector registers.
    pub vector: u32,
    /// The first of scalar registers.
    pub scalar: u32,
    /// The first of the registers with a bit for each lane.
    pub mask: u32,
    /// Dwords of the value.
    pub dwords: u8,
    /// How it is computed where no register has it: a number of [`MachTrack::terms`].
    pub term: u32,
}

/// A virtual register whose way is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The register.
    pub register: VReg,
    /// The instruction that writes it, if one does. The allocator fills that in, with the place.
    pub write: Option<Write>,
    /// The block of the IR that has it from its beginning on: a number of [`MachTrack::parts`], `u32::MAX` for none.
    pub part: u32,
    /// Where the allocator has put it.
    pub place: Option<Reg>,
    /// Where it is kept when it is in no register: a number of [`MachTrack::kept`], `u32::MAX` for none.
    pub slot: u32,
}

/// An instruction that writes a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Its point.
    pub point: NonZeroU32,
    /// How many of the instructions of that point that write the same hardware register come before it.
    pub number: u32,
}

/// Where a spilled register is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The point of the instructions that store it there, and of those that load it: see [`spill_point`].
    pub point: u32,
    /// What that is.
    pub cell: Cell,
    /// It is there where [`Watched::part`] begins, and not in the register.
    pub enters: bool,
}

/// What holds a dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cell {
    /// A register.
    Reg(Reg),
    /// A lane of a vector register.
    Lane(Reg, u8),
    /// Private memory, so many bytes behind the beginning of the function's part of it.
    Private(u32),
    /// Nothing any more: it is what a register held when the function was entered.
    Entered(Reg),
}

/// The point of what stores and loads a slot, of scalar or of vector registers: none of the IR's is as large.
pub const fn spill_point(is_vector: bool, slot: u32) -> u32 {
    1 << 31 | (is_vector as u32) << 30 | slot
}

/// Whether a point is one of [`spill_point`].
pub const fn is_spill(point: u32) -> bool {
    point >> 31 != 0
}

/// What holds from in front of a point on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The point.
    pub point: u32,
    /// What.
    pub what: What,
}

/// See [`Record`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A statement begins there in the source.
    Statement(u32),
    /// A leaf, by its number among those of all variables, is that.
    Leaf(u32, Held),
}

/// A block of the IR.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Its first point.
    pub first: u32,
    /// The first point of the next block.
    pub end: u32,
    /// Its records.
    pub records: (u32, u32),
    /// What leaves are at its beginning: a part of [`MachTrack::heads`].
    pub heads: (u32, u32),
}

/// All of a function.
#[derive(Clone, Debug, Default)]
pub struct MachTrack {
    /// Places in the source of points, from point 1 on: numbers as the IR has them.
    pub places: Vec<u32>,
    /// Blocks in the order of their points.
    pub parts: Vec<Part>,
    /// Records in the order of their points.
    pub records: Vec<Record>,
    /// How many leaves there are.
    pub leaves: u32,
    /// Dwords of a lane mask.
    pub mask_dwords: u8,
    /// Leaves at the beginnings of blocks that are known there.
    pub heads: Vec<(u32, Held)>,
    /// Values in registers.
    pub spots: Vec<Spot>,
    /// How values are computed.
    pub terms: Vec<Term>,
    /// The registers of values.
    pub watched: Vec<Watched>,
    /// Where those are kept that were spilled.
    pub kept: Vec<Slot>,
    /// Offsets of private variables, by their numbers in the IR.
    pub slots: Vec<u32>,
    /// Offsets of variables in LDS, by their numbers in the module; `u32::MAX` for those that the function does not name.
    pub shared: Vec<u32>,
    /// Points of calls, and their numbers among [`MachFunc::calls`](crate::MachFunc).
    pub calls: Vec<(u32, u32)>,
}

impl MachTrack {
    /// Of a function without anything yet, in the memory of another one's.
    pub fn clear(&mut self) {
        let MachTrack { places, parts, records, heads, spots, terms, watched, kept, slots, .. } = self;
        places.clear();
        parts.clear();
        records.clear();
        heads.clear();
        spots.clear();
        terms.clear();
        watched.clear();
        kept.clear();
        slots.clear();
        (self.leaves, self.mask_dwords) = (0, 0);
        self.shared.clear();
        self.calls.clear();
    }

    /// Where a watched register is kept when it is in no register.
    pub fn slot(&self, watched: &Watched) -> Option<&Slot> {
        self.kept.get(watched.slot as usize)
    }

    /// The place in the source of an instruction's point; 0 for none.
    pub fn place(&self, point: u32) -> u32 {
        point.checked_sub(1).and_then(|n| self.places.get(n as usize)).copied().unwrap_or(0)
    }

    /// The block that a point is of.
    pub fn part_of(&self, point: u32) -> Option<usize> {
        let after = self.parts.partition_point(|part| part.first <= point);
        after.checked_sub(1).filter(|&n| point < self.parts[n].end)
    }
}
