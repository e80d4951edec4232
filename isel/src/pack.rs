//! Combines two f32 operations into one packed instruction (such as `v_pk_fma_f32`), if the processor has
//! packed f32 instructions.
//!
//! Each operand of a packed instruction is a pair of adjacent registers, and either result may read either
//! register of the pair. In machine IR, an operand of several registers is a *tuple*, for which the allocator
//! chooses adjacent registers. Packing is good if the registers of an operand are in one tuple anyway: as
//! results of one load, operands of one store, or results of a packed instruction. It is also good if they
//! are in no tuple yet, because a new tuple can then be made of them. In both cases the tuple becomes or is
//! the *home* of its registers.
//!
//! A register can have only one home, because it would have to be copied to be in a second tuple. If packing
//! would need such a copy, the operations stay unchanged. A register that both results read is read from its
//! home, or from a new tuple whose other register has an arbitrary value.
//!
//! The packed instruction is placed at the second operation, so no instruction between the two may use the
//! result of the first.
//!
//! # Requires
//! SSA form; legal instructions.
//! # Guarantees
//! SSA form; legal instructions. The number of instructions does not grow, except for `UNDEF`.
//!
//! # Source
//! CDNA 2 ISA, "Packed 32-bit instructions". That a tuple of SGPRs works like a tuple of VGPRs is inferred
//! from the code that LLVM 14 and 19 generate for vectors with a scalar.

use crate::combine::single;
use crate::lower::{Context, Options};
use cranelift_entity::SecondaryMap;
use isa::legal::constant_bus_limit;
use isa::table::Role;
use isa::table::op;
use isa::{MBlock, MachInst, Mods, Opcode, Operand, RegClass, Subtarget, Tuple, VReg};
use mir::MachFunc;
use smallvec::SmallVec;

/// Largest number of earlier operations of a block that are kept as possible partners for a later operation.
const REACH: usize = 16;
/// Smallest gain for which two operations are combined into a packed instruction. The gain is the number of
/// results and operands that are pairs of adjacent registers anyway. With a smaller gain, registers would be
/// forced into pairs only to save one instruction.
const LEAST_GAIN: u32 = 1;

/// An operation that has a packed form.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Single {
    packed: Opcode,
    dst: VReg,
    /// Source registers. Only `v_fma_f32` has a third source.
    sources: [VReg; 3],
    len: usize,
    /// Bit mask of the negated sources.
    neg: u8,
}

impl Single {
    fn from_inst(func: &MachFunc, inst: &MachInst) -> Option<Single> {
        let (packed, swap, negated) = match inst.op {
            op::V_ADD_F32 => (op::V_PK_ADD_F32, false, 0),
            op::V_SUB_F32 => (op::V_PK_ADD_F32, false, 2),
            op::V_SUBREV_F32 => (op::V_PK_ADD_F32, true, 2),
            op::V_MUL_F32 => (op::V_PK_MUL_F32, false, 0),
            op::V_FMA_F32 => (op::V_PK_FMA_F32, false, 0),
            _ => return None,
        };
        if (Mods { neg: inst.mods.neg, ..Mods::default() }) != inst.mods {
            return None;
        }
        let (&dst, used) = inst.operands().split_first()?;
        let dst = single(func, dst)?;
        let mut sources = [dst; 3];
        for (source, &operand) in sources.iter_mut().zip(used) {
            *source = single(func, operand)?;
        }
        let found = Single { packed, dst, sources, len: used.len(), neg: inst.mods.neg };
        let ordered = if swap { found.swapped() } else { found };
        Some(Single { neg: ordered.neg ^ negated, ..ordered })
    }

    /// Returns the operation with its first two sources swapped.
    fn swapped(self) -> Single {
        let [a, b, c] = self.sources;
        let neg = self.neg & 4 | self.neg >> 1 & 1 | (self.neg & 1) << 1;
        Single { sources: [b, a, c], neg, ..self }
    }
}

/// The home of a register: the tuple (operand of several registers) in which the register can be half of a
/// pair without being copied.
#[derive(Clone, Copy, Debug, Default)]
struct Home {
    /// Index of the tuple in `MachFunc::tuples`.
    start: u32,
    /// Number of dwords; 0 if the register has no home.
    len: u8,
    at: u8,
    neighbour: Neighbour,
}

/// What is known about the other dword of the register's pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Neighbour {
    /// One instruction defines both registers of the pair. Wherever this register has a value, the other
    /// register has one, too.
    #[default]
    Defined,
    /// An instruction of that block reads both registers of the pair. So the other register is known to have
    /// a value in that block, after the instruction. Elsewhere it may have none.
    ReadIn(MBlock),
    /// It may not have a value yet where the register is read.
    Unknown,
    /// The pair was made for this register alone. The other register of the pair only fills the gap and has
    /// an arbitrary value.
    Nothing,
}

/// A pair of registers that can be an operand of a packed instruction.
#[derive(Clone, Copy, Debug)]
struct Source {
    operand: Dwords,
    /// Half that each result reads.
    halves: [u8; 2],
    gain: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dwords {
    /// A pair that is in a tuple already: the register at this index of `MachFunc::tuples` and the next one.
    Home(u32),
    /// Registers without a home; the new tuple becomes their home.
    New([VReg; 2]),
    /// A register, padded with a register of arbitrary value.
    Padded(VReg),
}

/// Two operations that can become one packed instruction.
#[derive(Clone, Copy, Debug)]
struct Pair {
    /// Operations that compute the low and the high result.
    halves: [Single; 2],
    sources: [Option<Source>; 3],
    gain: u32,
}

/// An operation that may still get a partner.
#[derive(Clone, Copy, Debug)]
struct Open {
    at: usize,
    single: Single,
}

/// What happens to an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fate {
    #[default]
    Stays,
    /// Removed: a later packed instruction includes it.
    Goes,
    /// The instruction stays, but reads registers that no instruction defines. This number of `UNDEF`
    /// instructions is inserted before it, which define the next registers of `Packer::any`.
    Needs(u32),
}

/// Reusable memory of the pass.
#[derive(Debug, Default)]
pub(crate) struct Packer {
    homes: SecondaryMap<VReg, Home>,
    /// Instructions of the block before the pass.
    insts: Vec<MachInst>,
    fates: Vec<Fate>,
    /// Registers with arbitrary values, which pad a register to a pair. They are in the order of the
    /// instructions that read them.
    any: Vec<VReg>,
}

/// Packs the operations of a function, from optimisation level 2 on.
pub fn pack(func: &mut MachFunc, target: &Subtarget, opts: &Options, ctx: &mut Context) {
    if opts.opt_level < 2 || op::V_PK_FMA_F32.row().code(target).is_none() {
        return;
    }
    let packer = &mut ctx.packer;
    packer.find_homes(func);
    for block in func.blocks.keys() {
        packer.block(func, target, block);
    }
}

impl Packer {
    /// Determines the home of each register: a tuple (operand of several registers) in which it can be half
    /// of a pair. This is the tuple in which the register is defined, or else the first tuple in which it is
    /// used.
    #[inline(never)]
    fn find_homes(&mut self, func: &MachFunc) {
        self.homes.clear();
        for (role, neighbour) in [(Role::Def, Neighbour::Defined), (Role::Use, Neighbour::Unknown)] {
            let insts = func.blocks.values().flat_map(|data| data.insts.iter());
            for inst in insts.filter(|inst| inst.op != op::COPY && inst.op != op::UNDEF) {
                for (n, &operand) in inst.operands().iter().enumerate() {
                    if let Operand::Virt(tuple) = operand
                        && tuple.len > 1
                        && inst.role(n) == role
                    {
                        self.set_homes(func, tuple, neighbour);
                    }
                }
            }
        }
    }

    /// Makes `tuple` (a multi-register operand) the home of every register in it that has no home yet.
    /// Registers can be a pair without copies if they are next to each other in the same home.
    fn set_homes(&mut self, func: &MachFunc, tuple: Tuple, neighbour: Neighbour) {
        for (at, &reg) in (0..).zip(func.regs(tuple)) {
            if self.homes[reg].len == 0 {
                self.homes[reg] = Home { start: tuple.start, len: tuple.len, at, neighbour };
            }
        }
    }

    #[inline(never)]
    fn block(&mut self, func: &mut MachFunc, target: &Subtarget, block: MBlock) {
        std::mem::swap(&mut self.insts, &mut func.blocks[block].insts);
        self.any.clear();
        self.fates.clear();
        self.fates.resize(self.insts.len(), Fate::Stays);
        let (body, end) = (func.blocks[block].prologue as usize, func.blocks[block].term as usize);
        let mut open: SmallVec<[Open; REACH]> = SmallVec::new();
        for at in body..end {
            let inst = self.insts[at];
            close_used(func, &inst, &mut open);
            let Some(single) = Single::from_inst(func, &inst) else { continue };
            let partners = open.iter().enumerate().filter_map(|(n, other)| {
                let pair = self.pair(func, target, block, [other.single, single])?;
                Some((n, pair))
            });
            // Among pairs with equal gain, the nearest partner is chosen.
            if let Some((n, pair)) = partners.max_by_key(|(_, pair)| pair.gain) {
                self.fates[open.remove(n).at] = Fate::Goes;
                let before = self.any.len();
                let packed = self.packed(func, block, &pair);
                self.fates[at] = Fate::Needs((self.any.len() - before) as u32);
                self.insts[at] = MachInst { loc: inst.loc, ..packed };
            } else {
                if open.len() == REACH {
                    open.remove(0);
                }
                open.push(Open { at, single });
            }
        }
        self.rewrite(func, block);
    }

    /// Combines two operations into one packed instruction. Returns `None` if the processor cannot encode the
    /// instruction, or if a register would have to be copied. If that helps, the first two sources of the
    /// second operation are swapped.
    fn pair(
        &self,
        func: &MachFunc,
        target: &Subtarget,
        block: MBlock,
        [first, second]: [Single; 2],
    ) -> Option<Pair> {
        if first.packed != second.packed {
            return None;
        }
        let (reversed, gain) = match [first.dst, second.dst].map(|reg| self.homes[reg]) {
            [Home { len: 0, .. }, Home { len: 0, .. }] => (false, 0),
            [a, b] if neighbours(a, b) => (a.at > b.at, 2),
            _ => return None,
        };
        let ways = [second, second.swapped()].into_iter().filter_map(|second| {
            let halves = if reversed { [second, first] } else { [first, second] };
            let mut pair = Pair { halves, sources: [None; 3], gain };
            for (n, source) in pair.sources[..first.len].iter_mut().enumerate() {
                let found = self.source(func, block, halves.map(|half| half.sources[n]))?;
                pair.gain += found.gain;
                *source = Some(found);
            }
            (pair.gain >= LEAST_GAIN && fits_bus(func, target, &pair)).then_some(pair)
        });
        ways.max_by_key(|pair| pair.gain)
    }

    /// Returns an operand from which the packed instruction reads `low` for its first result and `high` for
    /// its second result. Returns `None` if a register would have to be copied to make such an operand.
    fn source(&self, func: &MachFunc, block: MBlock, [low, high]: [VReg; 2]) -> Option<Source> {
        let [a, b] = [low, high].map(|reg| self.homes[reg]);
        let scalar = func.vregs[low] == RegClass::Sgpr;
        let home = Dwords::Home(a.start + u32::from(a.at & !1));
        if low != high {
            if neighbours(a, b) {
                return Some(Source { operand: home, halves: [a.at & 1, b.at & 1], gain: 2 });
            }
            let free = a.len == 0 && b.len == 0 && !scalar && func.vregs[high] == RegClass::Vgpr;
            return free.then_some(Source { operand: Dwords::New([low, high]), halves: [0, 1], gain: 0 });
        }
        let has_neighbour = match a.neighbour {
            Neighbour::Defined => a.at | 1 < a.len,
            Neighbour::ReadIn(other) => other == block,
            Neighbour::Unknown | Neighbour::Nothing => false,
        };
        if a.len > 0 && has_neighbour {
            Some(Source { operand: home, halves: [a.at & 1; 2], gain: 1 })
        } else {
            let alone = a.len == 0 || a.neighbour == Neighbour::Nothing;
            let gain = u32::from(scalar);
            alone.then_some(Source { operand: Dwords::Padded(low), halves: [0; 2], gain })
        }
    }

    /// Returns the packed instruction. Also records homes (tuples in which a register can be half of a pair):
    /// the results become the home of their registers, and so do sources that are new pairs. Later packed
    /// instructions can then use the same pairs.
    fn packed(&mut self, func: &mut MachFunc, block: MBlock, pair: &Pair) -> MachInst {
        let [low, high] = pair.halves;
        for reg in [low.dst, high.dst] {
            self.homes[reg].len = 0;
        }
        let mut operands: SmallVec<[Operand; 4]> = SmallVec::new();
        operands.push(self.tuple(func, [low.dst, high.dst], Neighbour::Defined));
        let mut mods = Mods { neg: low.neg, abs: high.neg, ..Mods::default() };
        let sources: SmallVec<[Source; 3]> = pair.sources.iter().flatten().copied().collect();
        for (n, source) in sources.iter().enumerate() {
            let same = sources[..n].iter().position(|other| other.operand == source.operand);
            operands.push(match (same, source.operand) {
                (Some(same), _) => operands[1 + same],
                (None, Dwords::Home(start)) => Operand::Virt(Tuple { start, len: 2 }),
                (None, Dwords::New(regs)) => self.tuple(func, regs, Neighbour::ReadIn(block)),
                (None, Dwords::Padded(reg)) => {
                    let any = func.new_vreg(func.vregs[reg]);
                    self.any.push(any);
                    self.tuple(func, [reg, any], Neighbour::Nothing)
                }
            });
            mods.op_sel |= source.halves[0] << n;
            mods.op_sel_hi |= source.halves[1] << n;
        }
        MachInst { mods, ..MachInst::new(low.packed, &operands) }
    }

    fn tuple(&mut self, func: &mut MachFunc, regs: [VReg; 2], neighbour: Neighbour) -> Operand {
        let operand = func.tuple(&regs);
        if let Operand::Virt(tuple) = operand {
            self.set_homes(func, tuple, neighbour);
        }
        operand
    }

    /// Puts the remaining instructions into the block.
    fn rewrite(&mut self, func: &mut MachFunc, block: MBlock) {
        let mut kept = std::mem::take(&mut func.blocks[block].insts);
        kept.clear();
        let mut any = self.any.iter();
        let mut term = func.blocks[block].term;
        for (&inst, &fate) in self.insts.iter().zip(&self.fates) {
            match fate {
                Fate::Stays => {}
                Fate::Goes => {
                    term -= 1;
                    continue;
                }
                Fate::Needs(count) => {
                    term += count;
                    for &reg in any.by_ref().take(count as usize) {
                        let operand = func.tuple(&[reg]);
                        kept.push(MachInst { loc: inst.loc, ..MachInst::new(op::UNDEF, &[operand]) });
                    }
                }
            }
            kept.push(inst);
        }
        let data = &mut func.blocks[block];
        (data.insts, data.term) = (kept, term);
    }
}

/// Returns whether two registers are the two halves of one aligned pair in the same tuple.
fn neighbours(a: Home, b: Home) -> bool {
    a.len > 0 && b.len > 0 && a.start == b.start && a.at ^ b.at == 1
}

/// Returns whether the packed instruction reads no more SGPRs than the constant bus can carry.
fn fits_bus(func: &MachFunc, target: &Subtarget, pair: &Pair) -> bool {
    let mut scalars: SmallVec<[Dwords; 3]> = SmallVec::new();
    for (n, source) in pair.sources.iter().flatten().enumerate() {
        let scalar = func.vregs[pair.halves[0].sources[n]] == RegClass::Sgpr;
        if scalar && !scalars.contains(&source.operand) {
            scalars.push(source.operand);
        }
    }
    scalars.len() <= constant_bus_limit(target, pair.halves[0].packed.row())
}

/// Removes from the candidates `open` all operations that define a register which `inst` uses or defines.
/// Such an operation cannot move down past `inst`.
fn close_used(func: &MachFunc, inst: &MachInst, open: &mut SmallVec<[Open; REACH]>) {
    for &operand in inst.operands() {
        if let Operand::Virt(tuple) = operand {
            open.retain(|other| !func.regs(tuple).contains(&other.single.dst));
        }
    }
}
