//! Takes two f32 operations into a packed one, where the processor has those (`v_pk_fma_f32`).
//!
//! The operands of a packed instruction are tuples of two registers, each half of which may be read by either result. A tuple
//! costs nothing where its registers stand, or may stand, side by side: results of one load, operands of one store, results
//! of a packed instruction, registers that nothing else binds. Each register has at most one such *home*; where it would get
//! two the operations stay as they are, as it would have to be copied. What both results read stands in its home, or beside a
//! register with any value.
//!
//! The packed instruction stands in the place of the second, so nothing between may use what the first computes.
//!
//! # Requires
//! SSA form; legal instructions.
//! # Guarantees
//! SSA form; legal instructions, none more than before but for `UNDEF`.
//!
//! # Source
//! CDNA 2 ISA, "Packed 32-bit instructions"; that an operand of SGPRs works as one of VGPRs does is seen in what LLVM 14 and 19
//! make of vectors with a scalar.

use crate::combine::single;
use crate::lower::{Context, Options};
use cranelift_entity::SecondaryMap;
use isa::legal::constant_bus_limit;
use isa::table::Role;
use isa::table::op;
use isa::{MBlock, MachFunc, MachInst, Mods, Opcode, Operand, RegClass, Subtarget, Tuple, VReg};
use smallvec::SmallVec;

/// So many operations wait for a partner.
const REACH: usize = 16;
/// A pair that gains less by where its registers stand is left alone: they would be tied for nothing but one instruction.
const LEAST_GAIN: u32 = 1;

/// An operation that has a packed form.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Single {
    packed: Opcode,
    dst: VReg,
    /// The third only of a `v_fma_f32`.
    sources: [VReg; 3],
    len: usize,
    /// Negated sources.
    neg: u8,
}

impl Single {
    fn of(func: &MachFunc, inst: &MachInst) -> Option<Single> {
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

    /// With the factors or summands the other way round.
    fn swapped(self) -> Single {
        let [a, b, c] = self.sources;
        let neg = self.neg & 4 | self.neg >> 1 & 1 | (self.neg & 1) << 1;
        Single { sources: [b, a, c], neg, ..self }
    }
}

/// The tuple that a register stands in if nothing is to be copied.
#[derive(Clone, Copy, Debug, Default)]
struct Home {
    /// In `MachFunc::tuples`.
    start: u32,
    /// Dwords; 0: the register has no home.
    len: u8,
    at: u8,
    neighbour: Neighbour,
}

/// What is known of the other dword of a home.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Neighbour {
    /// It has a value wherever the register has one: one instruction defines both.
    #[default]
    Defined,
    /// It has a value in that block, behind an instruction that read both.
    ReadIn(MBlock),
    /// It may have no value yet where the register is read.
    Unknown,
    /// There is none: the register stood beside one with any value.
    Nothing,
}

/// Two dwords that an operand may be.
#[derive(Clone, Copy, Debug)]
struct Source {
    operand: Dwords,
    /// Which of them each result reads.
    halves: [u8; 2],
    gain: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dwords {
    /// Side by side in `MachFunc::tuples`, from there on.
    Home(u32),
    /// Registers without a home, which get one.
    New([VReg; 2]),
    /// A register, and one with any value.
    Padded(VReg),
}

/// Two operations as one.
#[derive(Clone, Copy, Debug)]
struct Pair {
    /// Which results stand low and high.
    halves: [Single; 2],
    sources: [Option<Source>; 3],
    gain: u32,
}

/// An operation that may get a partner.
#[derive(Clone, Copy, Debug)]
struct Open {
    at: usize,
    single: Single,
}

/// What becomes of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fate {
    #[default]
    Stays,
    /// It went into a later one.
    Goes,
    /// It has registers with any value, that many of `Packer::any`.
    Needs(u32),
}

/// Memory of the pass.
#[derive(Debug, Default)]
pub(crate) struct Packer {
    homes: SecondaryMap<VReg, Home>,
    /// Of the block, before.
    insts: Vec<MachInst>,
    fates: Vec<Fate>,
    /// Registers with any value, in order of the instructions that need them.
    any: Vec<VReg>,
}

/// Packs operations of a function, from level 2 on.
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
    /// Takes down which tuples there are. What defines a register counts, else its first use.
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
                        self.settle(func, tuple, neighbour);
                    }
                }
            }
        }
    }

    /// Makes a tuple the home of those of its registers that have none.
    fn settle(&mut self, func: &MachFunc, tuple: Tuple, neighbour: Neighbour) {
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
            let Some(single) = Single::of(func, &inst) else { continue };
            let partners = open.iter().enumerate().filter_map(|(n, other)| {
                let pair = self.pair(func, target, block, [other.single, single])?;
                Some((n, pair))
            });
            // Of equals the nearest.
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

    /// Two operations as one, if the processor can and nothing has to be copied. The later may take its first two sources
    /// the other way round.
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

    /// What gives the results these registers.
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

    /// The instruction, whose registers now have homes.
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
            self.settle(func, tuple, neighbour);
        }
        operand
    }

    /// Puts the instructions that are left into the block.
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

/// Whether two registers are the halves of one aligned pair of a home.
fn neighbours(a: Home, b: Home) -> bool {
    a.len > 0 && b.len > 0 && a.start == b.start && a.at ^ b.at == 1
}

/// Whether the scalars of a packed instruction are not too many.
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

/// Closes operations whose results an instruction uses: they cannot go behind it.
fn close_used(func: &MachFunc, inst: &MachInst, open: &mut SmallVec<[Open; REACH]>) {
    for &operand in inst.operands() {
        if let Operand::Virt(tuple) = operand {
            open.retain(|other| !func.regs(tuple).contains(&other.single.dst));
        }
    }
}
