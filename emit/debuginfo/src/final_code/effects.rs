//! What instructions do to what is watched: found out once, as code is walked through several times.

use super::counting;
use super::walker::{NONE, Next, Places, REGISTERS, counter};
use super::writer::is_of;
use isa::track::{MachTrack, is_spill};
use isa::{Counter, Counts, MBlock, MachFunc, MachInst, Reg, Subtarget};

/// Instructions by their numbers, from the beginning of the code on.
#[derive(Debug, Default)]
pub(super) struct Effects {
    insts: Vec<Effect>,
    /// Cells that instructions write.
    cells: Vec<u16>,
    /// By block, what comes next where it begins.
    first: Vec<Next>,
    /// Whether something is for a spilled register.
    has_spills: bool,
    /// Instructions and the watched registers that they write, in order.
    pub(super) writes: Vec<(u32, u32)>,
    /// Instructions at which blocks of the IR begin, and which these are, in order. What comes before brings values to where they are to be.
    pub(super) heads: Vec<(u32, u32)>,
    /// By block of the IR, whether it has begun.
    has_begun: Vec<bool>,
    /// By register: bits.
    is_watched: [u64; REGISTERS as usize / 64],
    /// By register, whether something writes it later than when it is executed: bits.
    is_brought: [u64; REGISTERS as usize / 64],
    /// What the block at hand has sent for and not waited for: by vector memory, and what `lgkmcnt` counts.
    sent: [bool; 2],
    /// Whether something may be on its way where a block ends, or one of the IR begins.
    leaves_some: bool,
    wanted: Wanted,
}

/// What an instruction does.
#[derive(Debug)]
pub(super) struct Effect {
    /// Its point, and the dwords that it is encoded in.
    pub(super) point: u32,
    pub(super) words: u8,
    pub(super) does: Does,
    /// It only waits.
    pub(super) is_wait: bool,
    /// What it raises, if it brings something.
    pub(super) counter: Option<Counter>,
    /// The first of its cells, and the one behind its last.
    cells: [u32; 2],
}

/// What is special about it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Does {
    Nothing,
    Wait(Counts),
    /// It is for a spilled register.
    Spill,
    Call,
}

impl Effects {
    /// Finds out what the instructions of a function do.
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

    /// What comes next where a block begins.
    pub(super) fn first(&self, block: MBlock) -> Next {
        self.first[block.as_u32() as usize]
    }

    /// The block of an instruction, and which it is there.
    pub(super) fn block_of(&self, number: u32) -> (MBlock, usize) {
        let block = self.first.partition_point(|first| first.inst <= number).saturating_sub(1);
        (MBlock::from_u32(block as u32), (number - self.first[block].inst) as usize)
    }

    /// The instructions of a block.
    pub(super) fn of_block(&self, block: MBlock) -> &[Effect] {
        let first = |block: usize| self.first.get(block).map(|first| first.inst as usize);
        let block = block.as_u32() as usize;
        &self.insts[first(block).unwrap_or(0)..first(block + 1).unwrap_or(self.insts.len())]
    }

    /// Whether something brings a value to a register, and may still do so where a block begins.
    pub(super) fn is_brought(&self, register: u32) -> bool {
        self.leaves_some && self.is_brought[register as usize / 64] >> (register % 64) & 1 != 0
    }

    pub(super) fn has_spills(&self) -> bool {
        self.has_spills
    }

    /// How many instructions there are.
    pub(super) fn count(&self) -> usize {
        self.insts.len()
    }

    pub(super) fn of(&self, number: u32) -> &Effect {
        &self.insts[number as usize]
    }

    /// Cells of watched registers that an instruction writes.
    pub(super) fn written(&self, effect: &Effect) -> &[u16] {
        &self.cells[effect.cells[0] as usize..effect.cells[1] as usize]
    }

    /// An instruction of a point comes next: the first of its part?
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
            let wanted = wanted.of(inst.loc);
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
                Does::Wait(counts)
            }
            None if is_spill(inst.loc) => {
                *has_spills = true;
                Does::Spill
            }
            None if inst.is_call() => Does::Call,
            None => Does::Nothing,
        };
        let cells = [start as u32, cells.len() as u32];
        let words = isa::size_in_words(target, inst) as u8;
        insts.push(Effect { point: inst.loc, words, does, is_wait, counter, cells });
    }
}

/// Which instructions write which watched registers: a point's n-th write of a hardware register is that of the register which the allocator
/// has noted so.
#[derive(Debug, Default)]
struct Wanted {
    /// By point, the first of those that it writes.
    first: Vec<u32>,
    all: Vec<Write>,
    /// The same, by watched register.
    found: Vec<Write>,
}

/// A watched register that is written.
#[derive(Clone, Copy, Debug)]
struct Write {
    point: u32,
    place: Reg,
    /// So many writes of the point to that place come before.
    left: u32,
    watched: u32,
}

impl Wanted {
    fn find(&mut self, track: &MachTrack) {
        let Wanted { first, all, found } = self;
        found.clear();
        found.extend(track.watched.iter().zip(0u32..).filter_map(|(watched, number)| {
            let (write, place) = watched.write.zip(watched.place)?;
            Some(Write { point: write.point.get(), place, left: write.number, watched: number })
        }));
        let points = track.places.len() + 1;
        let point = |write: &Write| (write.point as usize).min(points);
        counting::sort(found, points + 1, point, all, first);
    }

    /// What the instructions of a point write.
    fn of(&mut self, point: u32) -> &mut [Write] {
        match self.first.get(point as usize..).and_then(<[u32]>::first_chunk) {
            Some(&[start, end]) => &mut self.all[start as usize..end as usize],
            None => &mut [],
        }
    }
}

impl Write {
    /// An instruction of the point writes a register.
    fn written(&mut self, code: u16, is_of: &mut impl FnMut(u32)) {
        if self.place == Reg(code) {
            if self.left == 0 {
                is_of(self.watched);
            }
            self.left = self.left.wrapping_sub(1);
        }
    }
}
