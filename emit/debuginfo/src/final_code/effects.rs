//! Effects of instructions on watched registers (virtual registers whose hardware registers debug information
//! follows). They are computed once, because the code is walked several times.

use super::counting;
use super::walker::{NONE, Next, Places, REGISTERS, counter};
use super::writer::is_of;
use isa::{Counter, Counts, MBlock, MachInst, Reg, Subtarget};
use mir::MachFunc;
use mir::track::{MachTrack, is_spill};

/// Effects of all instructions. Instructions are numbered from the beginning of the code.
#[derive(Debug, Default)]
pub(super) struct Effects {
    insts: Vec<Effect>,
    /// The cells (hardware registers and spill slots) of watched registers that instructions write. The cells
    /// of one instruction are contiguous; `Effect::cells` is their range.
    cells: Vec<u16>,
    /// For each block, the indices in `insts`, `writes` and `heads` at which the block's elements begin.
    first: Vec<Next>,
    /// Whether some instruction stores or reloads a spill slot.
    has_spills: bool,
    /// The writes to watched registers (those that debug information follows), in the order of the code: the
    /// number of the instruction, and the watched register.
    pub(super) writes: Vec<(u32, u32)>,
    /// The beginnings of blocks of the IR, in the order of the code: the number of the first instruction that
    /// was selected from the block, and the block of the IR. Instructions of the machine block before it only
    /// move values to where the block of the IR expects them.
    pub(super) heads: Vec<(u32, u32)>,
    /// For each block of the IR, whether the first instruction selected from the block has been found.
    has_begun: Vec<bool>,
    /// Bit set of the registers that are watched.
    is_watched: [u64; REGISTERS as usize / 64],
    /// Bit set of the registers that some instruction writes asynchronously, such as a load: the value
    /// arrives after the instruction has been executed.
    is_brought: [u64; REGISTERS as usize / 64],
    /// Whether the current block has issued operations that may be outstanding. The first element is for
    /// vector memory operations, the second for operations that `lgkmcnt` counts.
    sent: [bool; 2],
    /// Whether some operation may be outstanding where a block ends, or where a block of the IR begins. If
    /// not, no value is in flight at the beginning of any block.
    leaves_some: bool,
    wanted: PointWrites,
}

/// Effect of an instruction.
#[derive(Debug)]
pub(super) struct Effect {
    /// `point` is the number of the IR operation from which the instruction was selected, and `words` is the
    /// length of its encoding in dwords.
    pub(super) point: u32,
    pub(super) words: u8,
    pub(super) does: EffectKind,
    /// Whether the instruction does nothing but wait.
    pub(super) is_wait: bool,
    /// The wait counter that counts the instruction, if it writes a register asynchronously. `None` if its
    /// result is available at once.
    pub(super) counter: Option<Counter>,
    /// The cells (hardware registers and spill slots) that the instruction writes. They are the elements of
    /// `Effects::cells` from the first index to before the second.
    cells: [u32; 2],
}

/// Special effect of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum EffectKind {
    Nothing,
    Wait(Counts),
    /// Stores or reloads a spill slot, or helps to do so.
    Spill,
    Call,
}

impl Effects {
    /// Computes the effects of all instructions of a function.
    pub(super) fn find(&mut self, func: &MachFunc, track: &MachTrack, target: &Subtarget, places: &Places) {
        self.insts.clear();
        self.cells.clear();
        self.first.clear();
        self.writes.clear();
        self.heads.clear();
        self.has_spills = false;
        self.has_begun.clear();
        self.has_begun.resize(track.parts.len(), false);
        self.is_watched.fill(0);
        self.is_brought.fill(0);
        self.leaves_some = false;
        for place in places.all.iter().filter(|place| place.cell < REGISTERS) {
            self.is_watched[place.cell as usize / 64] |= 1 << (place.cell % 64);
        }
        self.wanted.find(track);
        let mut last = NONE;
        for (_, data) in func.blocks.iter() {
            let [inst, write, head] =
                [self.insts.len(), self.writes.len(), self.heads.len()].map(|n| n as u32);
            self.first.push(Next { inst, write, head });
            for (n, inst) in data.insts.iter().enumerate() {
                if n >= data.prologue as usize && inst.loc != 0 {
                    self.head(track, inst.loc, &mut last);
                }
                self.add(inst, target);
            }
            self.leaves_some |= self.sent != [false; 2];
            self.sent = [false; 2];
        }
    }

    /// Returns the positions where a block begins.
    pub(super) fn first(&self, block: MBlock) -> Next {
        self.first[block.as_u32() as usize]
    }

    /// Returns the block that contains an instruction, and the index of the instruction in that block.
    pub(super) fn block_of(&self, number: u32) -> (MBlock, usize) {
        let block = self.first.partition_point(|first| first.inst <= number).saturating_sub(1);
        (MBlock::from_u32(block as u32), (number - self.first[block].inst) as usize)
    }

    /// Returns the effects of the instructions of a block.
    pub(super) fn of_block(&self, block: MBlock) -> &[Effect] {
        let first = |block: usize| self.first.get(block).map(|first| first.inst as usize);
        let block = block.as_u32() as usize;
        &self.insts[first(block).unwrap_or(0)..first(block + 1).unwrap_or(self.insts.len())]
    }

    /// Returns whether a value in the register may still be in flight where a block begins. This is possible
    /// only if some instruction, such as a load, writes the register asynchronously.
    pub(super) fn is_brought(&self, register: u32) -> bool {
        self.leaves_some && self.is_brought[register as usize / 64] >> (register % 64) & 1 != 0
    }

    pub(super) fn has_spills(&self) -> bool {
        self.has_spills
    }

    /// Returns the number of instructions.
    pub(super) fn count(&self) -> usize {
        self.insts.len()
    }

    pub(super) fn effect(&self, number: u32) -> &Effect {
        &self.insts[number as usize]
    }

    /// Returns the watched cells that an instruction writes.
    pub(super) fn written(&self, effect: &Effect) -> &[u16] {
        &self.cells[effect.cells[0] as usize..effect.cells[1] as usize]
    }

    /// Records that a block of the IR begins at the next instruction (see `heads`), if the next instruction
    /// is the first one that was selected from the block. `point` is the number of the IR operation from
    /// which it was selected.
    fn head(&mut self, track: &MachTrack, point: u32, last: &mut u32) {
        if !is_of(track, *last, point) {
            let Some(part) = track.part_of(point) else { return };
            *last = part as u32;
        }
        if !std::mem::replace(&mut self.has_begun[*last as usize], true) {
            self.heads.push((self.insts.len() as u32, *last));
            self.leaves_some |= self.sent != [false; 2];
        }
    }

    fn add(&mut self, inst: &MachInst, target: &Subtarget) {
        let Effects { insts, cells, writes, is_watched, is_brought, sent, wanted, has_spills, .. } = self;
        let number = insts.len() as u32;
        let start = cells.len();
        let is_watched = |code: u16| {
            let word = is_watched.get(usize::from(code / 64)).copied().unwrap_or(0);
            word >> (code % 64) & 1 != 0
        };
        inst.for_each_written(target, |range| {
            let codes = range.first.0..range.first.0 + u16::from(range.len);
            cells.extend(codes.filter(|&code| is_watched(code)));
        });
        let written = &cells[start..];
        let counter = counter(target, inst);
        if !written.is_empty() {
            if let Some(counter) = counter {
                sent[usize::from(counter == Counter::Lgkm)] = true;
                sent[1] |= counter == Counter::Exp;
                written.iter().for_each(|&code| is_brought[usize::from(code / 64)] |= 1 << (code % 64));
            }
            let wanted = wanted.writes_of_point(inst.loc);
            for &code in written {
                let mut is_of = |watched| writes.push((number, watched));
                wanted.iter_mut().for_each(|write| write.written(code, &mut is_of));
            }
        }
        let is_wait = target.is_wait(inst.op);
        let does = match is_wait.then(|| target.waited(inst)).flatten() {
            Some(counts) => {
                for (sent, counter) in sent.iter_mut().zip([Counter::Vm, Counter::Lgkm]) {
                    *sent &= counts.count(counter) != 0;
                }
                EffectKind::Wait(counts)
            }
            None if is_spill(inst.loc) => {
                *has_spills = true;
                EffectKind::Spill
            }
            None if inst.is_call() => EffectKind::Call,
            None => EffectKind::Nothing,
        };
        let cells = [start as u32, cells.len() as u32];
        let words = isa::size_in_words(target, inst) as u8;
        insts.push(Effect { point: inst.loc, words, does, is_wait, counter, cells });
    }
}

/// Finds out which writes to hardware registers give a watched register its value. The instructions of one IR
/// operation (one point) may write the same hardware register several times, and only one of these writes
/// belongs to the watched register. The register allocator has recorded which one it is (`Write::number`).
#[derive(Debug, Default)]
struct PointWrites {
    /// For each point (number of an IR operation), the index in `all` of the first write that instructions of
    /// this point make to a watched register.
    first: Vec<u32>,
    all: Vec<Write>,
    /// The same entries in the order of the watched registers.
    found: Vec<Write>,
}

/// Expected write of a watched register.
#[derive(Clone, Copy, Debug)]
struct Write {
    point: u32,
    place: Reg,
    /// How many writes to the hardware register `place`, by instructions of the same point, are still to come
    /// before the write that gives the watched register its value.
    left: u32,
    watched: u32,
}

impl PointWrites {
    fn find(&mut self, track: &MachTrack) {
        let PointWrites { first, all, found } = self;
        found.clear();
        found.extend(track.watched.iter().zip(0u32..).filter_map(|(watched, number)| {
            let (write, place) = watched.write.zip(watched.place)?;
            Some(Write { point: write.point.get(), place, left: write.number, watched: number })
        }));
        let points = track.places.len() + 1;
        let point = |write: &Write| (write.point as usize).min(points);
        counting::sort(found, points + 1, point, all, first);
    }

    /// Returns the writes that instructions of a point (IR operation) make to watched registers.
    fn writes_of_point(&mut self, point: u32) -> &mut [Write] {
        match self.first.get(point as usize..).and_then(<[u32]>::first_chunk) {
            Some(&[start, end]) => &mut self.all[start as usize..end as usize],
            None => &mut [],
        }
    }
}

impl Write {
    /// Handles a write to the hardware register with number `code` by an instruction of this point (IR
    /// operation). If this write gives a watched register its value, calls `is_of` with the watched register.
    fn written(&mut self, code: u16, is_of: &mut impl FnMut(u32)) {
        if self.place == Reg(code) {
            if self.left == 0 {
                is_of(self.watched);
            }
            self.left = self.left.wrapping_sub(1);
        }
    }
}
