//! Turns parallel copies, in which all reads happen before all writes, into sequences of moves. A chain of
//! copies becomes moves in the right order. A cycle of copies needs `v_swap_b32` or a free register.

use crate::stream::{SGPR, VGPR};
use isa::{MachInst, Operand, Reg, op};

/// Number of register codes; VGPRs begin at 256.
const CODES: usize = 512;

/// Source of a copy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// A register.
    Reg(Reg),
    /// A constant.
    Const(Operand),
}

/// How a cycle may be broken.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Breaker {
    /// By `v_swap_b32`.
    Swap,
    /// Through a register that is free at this point.
    Temp(Reg),
    /// No way: a cycle is an error.
    None,
}

/// Scratch memory for resolving parallel copies.
pub(crate) struct Copies {
    moves: Vec<(Reg, Source)>,
    /// Number of pending moves that read each register.
    readers: [u16; CODES],
    /// For each register, one more than the index of the pending move that writes the register, or 0 if no
    /// move does.
    writer: [u16; CODES],
    ready: Vec<u16>,
    done: Vec<bool>,
    out: Vec<(Reg, Source)>,
    swapped: Vec<(Reg, Reg)>,
}

impl Default for Copies {
    fn default() -> Copies {
        Copies {
            moves: Vec::new(),
            readers: [0; CODES],
            writer: [0; CODES],
            ready: Vec::new(),
            done: Vec::new(),
            out: Vec::new(),
            swapped: Vec::new(),
        }
    }
}

impl Copies {
    /// Adds a move to the parallel copy.
    pub fn push(&mut self, dst: Reg, src: Source) {
        if Source::Reg(dst) != src {
            self.moves.push((dst, src));
        }
    }

    /// Discards the moves that were added.
    pub fn clear(&mut self) {
        self.moves.clear();
    }

    /// Returns whether there are no moves.
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    /// Returns whether the moves contain a cycle.
    pub fn has_cycle(&mut self) -> bool {
        self.index();
        self.drain_ready();
        let cyclic = self.done.iter().any(|done| !done);
        self.reset();
        cyclic
    }

    /// Emits the parallel copy as a sequence of instructions, and clears the copy. Returns false if the copy
    /// contains a cycle that cannot be broken, because there is neither a swap instruction nor a free
    /// register.
    pub fn resolve(&mut self, class: usize, breaker: Breaker, emit: &mut impl FnMut(MachInst)) -> bool {
        self.moves.sort_unstable_by_key(|&(dst, _)| dst);
        self.index();
        self.drain_ready();
        let mut broken = true;
        for i in 0..self.moves.len() {
            if !self.done[i] {
                broken &= self.cycle(i, breaker);
            }
        }
        write(&self.out, class, emit);
        for &(a, b) in &self.swapped {
            emit(MachInst::new(op::V_SWAP_B32, &[Operand::reg(a), Operand::reg(b)]));
        }
        self.reset();
        self.moves.clear();
        broken
    }

    fn index(&mut self) {
        self.done.clear();
        self.done.resize(self.moves.len(), false);
        for (i, &(dst, src)) in self.moves.iter().enumerate() {
            self.writer[usize::from(dst.0)] = i as u16 + 1;
            if let Source::Reg(src) = src {
                self.readers[usize::from(src.0)] += 1;
            }
        }
    }

    fn reset(&mut self) {
        for &(dst, src) in &self.moves {
            self.writer[usize::from(dst.0)] = 0;
            self.readers[usize::from(dst.0)] = 0;
            if let Source::Reg(src) = src {
                self.readers[usize::from(src.0)] = 0;
            }
        }
        self.out.clear();
        self.swapped.clear();
    }

    /// Emits every move whose destination has no pending readers.
    fn drain_ready(&mut self) {
        for (i, &(dst, _)) in self.moves.iter().enumerate().rev() {
            if self.readers[usize::from(dst.0)] == 0 {
                self.ready.push(i as u16);
            }
        }
        while let Some(i) = self.ready.pop() {
            let (dst, src) = self.moves[usize::from(i)];
            self.out.push((dst, src));
            self.done[usize::from(i)] = true;
            let Source::Reg(src) = src else { continue };
            let readers = &mut self.readers[usize::from(src.0)];
            *readers -= 1;
            if let (0, writer @ 1..) = (*readers, self.writer[usize::from(src.0)]) {
                self.ready.push(writer - 1);
            }
        }
    }

    /// Breaks a cycle of moves. This is called when each pending move would overwrite a register that another
    /// one still reads. Only cycles are left then, in which each register is read once.
    fn cycle(&mut self, first: usize, breaker: Breaker) -> bool {
        let (start, mut from) = self.moves[first];
        if let Breaker::Temp(temp) = breaker {
            self.out.push((temp, Source::Reg(start)));
        }
        let mut dst = start;
        let mut at = first;
        loop {
            self.done[at] = true;
            let Source::Reg(src) = from else { break };
            if src == start {
                if let Breaker::Temp(temp) = breaker {
                    self.out.push((dst, Source::Reg(temp)));
                }
                break;
            }
            match breaker {
                Breaker::Swap => self.swapped.push((dst, src)),
                _ => self.out.push((dst, from)),
            }
            at = usize::from(self.writer[usize::from(src.0)]) - 1;
            (dst, from) = self.moves[at];
        }
        !matches!(breaker, Breaker::None)
    }
}

/// Emits the moves one after the other as instructions. Two moves of adjacent registers become one 64-bit
/// move.
fn write(moves: &[(Reg, Source)], class: usize, emit: &mut impl FnMut(MachInst)) {
    let mut i = 0;
    while let Some(&(dst, src)) = moves.get(i) {
        i += 1;
        let operand = match src {
            Source::Reg(reg) => Operand::reg(reg),
            Source::Const(operand) => operand,
        };
        if class == VGPR {
            emit(MachInst {
                form: isa::Form::E32,
                ..MachInst::new(op::V_MOV_B32, &[Operand::reg(dst), operand])
            });
            continue;
        }
        debug_assert_eq!(class, SGPR);
        if let (Source::Reg(src), Some(&(next_dst, Source::Reg(next_src)))) = (src, moves.get(i))
            && dst.0.is_multiple_of(2)
            && src.0.is_multiple_of(2)
            && (next_dst, next_src) == (dst.offset(1), src.offset(1))
        {
            i += 1;
            emit(MachInst::new(op::S_MOV_B64, &[Operand::regs(dst, 2), Operand::regs(src, 2)]));
            continue;
        }
        if let (Source::Const(low), Some(&(next_dst, Source::Const(high)))) = (src, moves.get(i))
            && dst.0.is_multiple_of(2)
            && next_dst == dst.offset(1)
            && is_sign_extension(low, high)
        {
            i += 1;
            emit(MachInst::new(op::S_MOV_B64, &[Operand::regs(dst, 2), low]));
            continue;
        }
        emit(MachInst::new(op::S_MOV_B32, &[Operand::reg(dst), operand]));
    }
}

/// Returns whether one 64-bit move of the inline constant `low` writes both constants. The hardware
/// sign-extends the constant to 64 bits.
fn is_sign_extension(low: Operand, high: Operand) -> bool {
    match low {
        Operand::Inline(128..=192) => high == Operand::int(0),
        Operand::Inline(193..=208) => high == Operand::int(-1),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Executes moves and swaps on registers that initially hold their own numbers.
    fn execute(insts: &[MachInst]) -> BTreeMap<u16, u16> {
        let mut values: BTreeMap<u16, u16> = BTreeMap::new();
        let get = |values: &BTreeMap<u16, u16>, reg: u16| values.get(&reg).copied().unwrap_or(reg);
        for inst in insts {
            let (Operand::Reg(dst), Operand::Reg(src)) = (inst.ops[0], inst.ops[1]) else { continue };
            let read: Vec<u16> = (0..u16::from(src.len)).map(|i| get(&values, src.first.0 + i)).collect();
            if inst.op == op::V_SWAP_B32 {
                let other = get(&values, dst.first.0);
                values.insert(src.first.0, other);
            }
            for (i, value) in read.into_iter().enumerate() {
                values.insert(dst.first.0 + i as u16, value);
            }
        }
        values
    }

    fn resolve(moves: &[(u16, u16)], class: usize, breaker: Breaker) -> (bool, Vec<MachInst>) {
        let mut copies = Copies::default();
        moves.iter().for_each(|&(dst, src)| copies.push(Reg(dst), Source::Reg(Reg(src))));
        let mut insts = Vec::new();
        let resolved = copies.resolve(class, breaker, &mut |inst| insts.push(inst));
        assert!(copies.is_empty());
        (resolved, insts)
    }

    fn check(moves: &[(u16, u16)], class: usize, breaker: Breaker) -> usize {
        let (resolved, insts) = resolve(moves, class, breaker);
        assert!(resolved, "{moves:?}");
        let values = execute(&insts);
        for &(dst, src) in moves {
            assert_eq!(values.get(&dst).copied().unwrap_or(dst), src, "{moves:?}: {insts:?}");
        }
        insts.len()
    }

    #[test]
    fn chains_go_backwards() {
        assert_eq!(check(&[(11, 10), (12, 11), (13, 12)], SGPR, Breaker::None), 3);
    }

    #[test]
    fn neighbours_move_together() {
        assert_eq!(check(&[(10, 20), (11, 21), (12, 22)], SGPR, Breaker::None), 2);
        assert_eq!(check(&[(11, 21), (12, 22)], SGPR, Breaker::None), 2);
    }

    #[test]
    fn cycles() {
        let cycle = [(0, 1), (1, 2), (2, 0), (7, 1), (3, 3)];
        assert_eq!(check(&cycle, SGPR, Breaker::Temp(Reg(90))), 5);
        let vgprs: Vec<(u16, u16)> = cycle.iter().map(|&(dst, src)| (dst + 256, src + 256)).collect();
        assert_eq!(check(&vgprs, VGPR, Breaker::Swap), 3);
        assert!(!resolve(&cycle, SGPR, Breaker::None).0);
    }

    #[test]
    fn any_parallel_copy() {
        let mut state = 1u64;
        for _ in 0..2000 {
            let mut moves = Vec::new();
            for dst in 0..12 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                if state >> 62 != 0 {
                    moves.push((dst, (state >> 40) as u16 % 12));
                }
            }
            check(&moves, SGPR, Breaker::Temp(Reg(90)));
            let vgprs: Vec<(u16, u16)> = moves.iter().map(|&(dst, src)| (dst + 256, src + 256)).collect();
            check(&vgprs, VGPR, Breaker::Swap);
        }
    }

    #[test]
    fn constants_come_after_the_reads_of_what_they_overwrite() {
        let mut copies = Copies::default();
        copies.push(Reg(10), Source::Const(Operand::int(-1)));
        copies.push(Reg(11), Source::Const(Operand::int(-1)));
        copies.push(Reg(12), Source::Reg(Reg(10)));
        let mut insts = Vec::new();
        assert!(copies.resolve(SGPR, Breaker::None, &mut |inst| insts.push(inst)));
        let ops: Vec<_> = insts.iter().map(|inst| inst.op).collect();
        assert_eq!(execute(&insts).get(&12), Some(&10));
        assert_eq!(ops.iter().filter(|op| **op == op::S_MOV_B32).count(), ops.len());
    }
}
