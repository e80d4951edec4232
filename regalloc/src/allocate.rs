//! The order of work: streams, live ranges, groups and places of both classes, then the copies; and what to do when
//! the registers do not suffice.

use crate::pack::File;
use crate::rewrite::Packed;
use crate::scan::LOOP_FACTOR;
use crate::snapshot::Snapshot;
use crate::spill::Scene;
use crate::stream::{SGPR, VGPR};
use crate::{AllocError, Context, Stats};
use isa::{MachFunc, Note, Subtarget};

/// With how many registers the packer may stop looking for a better order. SGPRs only matter when there are so many
/// that fewer waves fit.
fn aim(class: usize, pressure: u32, target: &Subtarget) -> u32 {
    if class == VGPR {
        return pressure;
    }
    pressure.max((target.total_sgprs / target.max_waves).saturating_sub(target.extra_sgprs))
}

#[cold]
fn no_registers(class: usize, budget: u32) -> AllocError {
    AllocError::Registers { class: ["SGPR", "VGPR"][class], budget }
}

/// How many registers fewer than there are regalloc2 is asked to do with, one question after the other.
const QUESTIONS: [u32; 4] = [1, 4, 9, 16];

/// Most registers, in operands and where blocks begin, times questions, that regalloc2 is asked about in one function: it
/// takes about a microsecond for each, and more than linear time where very many are live.
const MOST_ASKED: usize = 1 << 14;

/// Where more than so many halves of the registers there are live at once, by class, regalloc2 is not asked: it takes many
/// times as long then, and whatever it says, most uses reload. Of that many SGPRs, linear scan spills fewer.
const MOST_HALVES: [u32; 2] = [3, 8];

/// Where more than so many times the registers there are live at once, nearly all must go, and it does not matter much which.
const TOO_MANY: u32 = 2;

/// Who chooses what to spill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Engine {
    /// Linear scan, and only what can be made again; [`Engine::Ask`] if that needs more.
    #[default]
    Remake,
    /// Linear scan ([`crate::scan`]).
    Scan,
    /// regalloc2 ([`crate::budget`]), and linear scan when it has no answer that fits.
    Ask,
}

/// What has been tried to make a class fit.
#[derive(Clone, Copy, Default)]
struct Try {
    /// Registers kept back for breaking cycles.
    reserved: u32,
    /// Copies are no longer coalesced.
    scattered: bool,
    /// Questions put to regalloc2.
    asked: usize,
    /// Whether its last answer is being tried; `Snapshots::before` has the state before.
    answered: bool,
    /// Whether the function may be as one of its answers wants it.
    resided: bool,
    /// Who chooses.
    engine: Engine,
    /// Registers kept free for reloads when scanning.
    slack: u32,
    /// Whether it has been seen if there are far too many.
    thinned: bool,
}

/// A class that does not fit: the registers there are, and how many are live at once.
#[derive(Clone, Copy)]
struct Tight<'a> {
    target: &'a Subtarget,
    file: File,
    pressure: u32,
}

/// States of the function to go back to.
#[derive(Default)]
pub(crate) struct Snapshots {
    /// Before anything was spilled.
    start: Snapshot,
    /// After spilling as regalloc2 says.
    asked: Snapshot,
    /// Before an answer of regalloc2 was tried, by class.
    before: [Snapshot; 2],
}

impl Context {
    /// Finds places for everything and plans the copies. Where there are too few registers, values that can be made again
    /// are; if that is not enough, both ways of choosing what to spill are tried, and the one whose code costs less is
    /// kept; with `scan`, and in large functions, only linear scan.
    pub(crate) fn allocate(
        &mut self,
        func: &mut MachFunc,
        target: &Subtarget,
        budget: [u32; 2],
        scan: bool,
        stats: &mut Stats,
    ) -> Result<(), AllocError> {
        self.changed = false;
        // What a call destroys is nothing that regalloc2 is told.
        let scan = scan || func.tuples.len() > MOST_ASKED || !func.calls.is_empty();
        let mut tries = self.restart(func, if scan { Engine::Scan } else { Engine::Remake });
        let mut settled = self.settle(func, target, budget, &mut tries, stats);
        if matches!(settled, Err(AllocError::Registers { .. })) && tries[VGPR].engine == Engine::Remake {
            tries = self.restart(func, Engine::Ask);
            settled = self.settle(func, target, budget, &mut tries, stats);
        }
        // What was done without an answer of regalloc2 is what linear scan does, or less.
        let done = scan || settled.is_ok() && tries.iter().all(|tried| !tried.resided);
        if done || !matches!(settled, Ok(()) | Err(AllocError::Registers { .. })) {
            return settled;
        }
        let asked = settled.is_ok().then(|| {
            self.snapshots.asked.save(func, &self.spiller.state);
            spill_cost(func)
        });
        let mut scans = self.restart(func, Engine::Scan);
        let scanned = self.settle(func, target, budget, &mut scans, stats);
        match asked {
            Some(cost) if scanned.is_err() || cost <= spill_cost(func) => {
                self.snapshots.asked.restore(func, &mut self.spiller.state);
                self.settle(func, target, budget, &mut tries, stats)
            }
            _ => scanned,
        }
    }

    /// Goes back to the function as it was.
    fn restart(&mut self, func: &mut MachFunc, engine: Engine) -> [Try; 2] {
        if self.changed {
            self.snapshots.start.restore(func, &mut self.spiller.state);
        }
        self.spilled = false;
        [Try { engine, ..Try::default() }; 2]
    }

    /// Finds places for everything and plans the copies; spills until that succeeds.
    fn settle(
        &mut self,
        func: &mut MachFunc,
        target: &Subtarget,
        budget: [u32; 2],
        tries: &mut [Try; 2],
        stats: &mut Stats,
    ) -> Result<(), AllocError> {
        'again: loop {
            stats.rounds += 1;
            self.streams.build(func, target)?;
            let files = [SGPR, VGPR].map(|class| File {
                class,
                limit: budget[class].saturating_sub(tries[class].reserved),
                aim: 0,
                kept: self.kept[class],
            });
            for file in files {
                let class = file.class;
                let may_thin = tries[class].engine == Engine::Scan
                    && !std::mem::replace(&mut tries[class].thinned, true);
                if !self.flow(func, file, may_thin) {
                    self.thin_out(func, target, file);
                    continue 'again;
                }
                let (fits, pressure) = self.pack(func, target, file, !tries[class].scattered)?;
                if stats.pressure[class] == 0 {
                    stats.pressure[class] = pressure;
                }
                if !fits {
                    self.make_room(func, Tight { target, file, pressure }, tries)?;
                    continue 'again;
                }
            }
            // What was kept back is free for cycles.
            let whole = files.map(|file| File { limit: budget[file.class], ..file });
            match self.plan(func, target, whole) {
                Ok(()) => return Ok(()),
                Err(class) if tries[class].reserved == 0 => tries[class].reserved = 1,
                Err(class) => return Err(no_registers(class, budget[class])),
            }
        }
    }

    /// Finds what is live where blocks meet; `false`, and unfinished, if thinning out is allowed and called for.
    fn flow(&mut self, func: &MachFunc, file: File, may_thin: bool) -> bool {
        let most = TOO_MANY * file.limit;
        let most = (may_thin && self.streams.phys_base >= 4 * most).then_some(most);
        self.live.flow.run(func, &self.streams, file.class, most)
    }

    /// Where very many more are live than there are registers, spills by outlines until no more than [`TOO_MANY`] times as
    /// many are: so that exact ranges are found in time linear in the blocks. Whether it is called for is a question for
    /// exact ranges: outlines mistake many short ones for long ones (a mask that is needed at a far place, for each of a
    /// thousand exits).
    fn thin_out(&mut self, func: &mut MachFunc, target: &Subtarget, file: File) {
        let class = file.class;
        self.remember(func);
        self.outline.run(func, &self.streams, class);
        self.groups[class].outline(&self.outline.range);
        let (streams, groups) = (&self.streams, &self.groups[class]);
        let scene = Scene { class, target, streams, groups, budget: None };
        self.spilled |= self.spiller.thin(func, scene, TOO_MANY * file.limit);
    }

    /// Takes down the function before it is changed.
    fn remember(&mut self, func: &MachFunc) {
        if !std::mem::replace(&mut self.changed, true) {
            self.snapshots.start.save(func, &self.spiller.state);
        }
    }

    /// After a failure to pack: small groups if only fragmentation is to blame, else spilling. regalloc2 is asked to
    /// do with fewer and fewer registers, always from the same state; when it has no answer, linear scan spills more
    /// and more.
    fn make_room(
        &mut self,
        func: &mut MachFunc,
        tight: Tight<'_>,
        tries: &mut [Try; 2],
    ) -> Result<(), AllocError> {
        let Tight { file, pressure, .. } = tight;
        let class = file.class;
        self.remember(func);
        let attempt = &mut tries[class];
        if pressure <= file.limit && !attempt.scattered && !attempt.answered {
            attempt.scattered = true;
            return Ok(());
        }
        if std::mem::take(&mut attempt.answered) {
            self.snapshots.before[class].restore(func, &mut self.spiller.state);
            attempt.resided = false;
            // The other class is allocated anew from here too.
            let Try { asked, engine, resided, .. } = tries[1 - class];
            tries[1 - class] = Try { asked, engine, resided, ..Try::default() };
            return Ok(());
        }
        let groups = &self.groups[class];
        groups.restore(&mut self.streams.class[class]);
        if tries[class].engine == Engine::Remake {
            if self.scan(func, tight, &mut tries[class]) {
                return Ok(());
            }
            if self.spilled {
                return Err(no_registers(class, file.limit));
            }
            // Nothing is different yet, so nothing need be done again.
            tries.iter_mut().for_each(|tried| tried.engine = Engine::Ask);
            tries[class].slack = 0;
        }
        if tries[class].engine == Engine::Ask {
            if self.ask(func, tight, &mut tries[class]) {
                return Ok(());
            }
            // Exact ranges are known already, and say better what to spill than outlines.
            (tries[class].engine, tries[class].thinned) = (Engine::Scan, true);
        }
        if self.scan(func, tight, &mut tries[class]) {
            return Ok(());
        }
        Err(no_registers(class, file.limit))
    }

    /// Spills by linear scan, so that more are left free than the last time: reloads need registers too. `false` if that
    /// is not enough, or wants slots where only remaking is allowed.
    fn scan(&mut self, func: &mut MachFunc, tight: Tight<'_>, attempt: &mut Try) -> bool {
        let Tight { target, file, pressure } = tight;
        let class = file.class;
        let (groups, streams) = (&self.groups[class], &self.streams);
        let most = file.limit.min(pressure);
        let only_made = attempt.engine == Engine::Remake;
        while attempt.slack < most {
            attempt.slack += 4 + attempt.slack / 2;
            let room = most.saturating_sub(attempt.slack);
            // Across a call nothing is reloaded.
            let across = file.limit.saturating_sub(attempt.slack - 4);
            let scene = Scene { class, target, streams, groups, budget: None };
            if self.spiller.scan(func, scene, (room, across), only_made) {
                self.spilled = true;
                return true;
            }
            if only_made {
                break;
            }
        }
        false
    }

    /// Has regalloc2 say what resides where; `false` if it has no answer.
    fn ask(&mut self, func: &mut MachFunc, tight: Tight<'_>, attempt: &mut Try) -> bool {
        let Tight { target, file, pressure } = tight;
        let class = file.class;
        let (streams, groups) = (&self.streams, &self.groups[class]);
        let size = streams.class[class].regs.len() + self.live.flow.size();
        if 2 * pressure > MOST_HALVES[class] * file.limit {
            return false;
        }
        while let Some(fewer) = QUESTIONS.get(attempt.asked) {
            attempt.asked += 1;
            if size * attempt.asked > MOST_ASKED {
                break;
            }
            let fixed = self.spiller.fix(func, streams, class);
            let room = file.limit.checked_sub(*fewer);
            if !room.is_some_and(|room| self.budget.run(func, streams, groups, class, fixed, room)) {
                continue;
            }
            self.snapshots.before[class].save(func, &self.spiller.state);
            let scene = Scene { class, target, streams, groups, budget: None };
            if self.spiller.reside(func, scene, &self.live.flow, &self.budget) {
                self.spilled = true;
                (attempt.answered, attempt.resided) = (true, true);
                return true;
            }
            self.snapshots.before[class].restore(func, &mut self.spiller.state);
        }
        false
    }

    /// Ranges, groups and places of a class; whether it fits, and the pressure.
    fn pack(
        &mut self,
        func: &MachFunc,
        target: &Subtarget,
        mut file: File,
        coalesce: bool,
    ) -> Result<(bool, u32), AllocError> {
        let class = file.class;
        self.live.run(func, &self.streams, class, file.limit)?;
        let pressure = self.live.pressure;
        file.aim = aim(class, pressure, target);
        let stream = &mut self.streams.class[class];
        self.groups[class].run(stream, &mut self.live, coalesce);
        // Most at once are more than there are: no order of packing helps.
        let fits = pressure <= file.limit + if class == SGPR { 2 } else { 0 }
            && self.packers[class].run(file, stream, &mut self.groups[class], self.streams.phys_base);
        Ok((fits, pressure))
    }

    /// Plans all copies; names the class in which a cycle found no free register.
    fn plan(&mut self, func: &MachFunc, target: &Subtarget, files: [File; 2]) -> Result<(), usize> {
        self.plan.clear();
        let phys_base = self.streams.phys_base;
        let [sgprs, vgprs] = &mut self.packers;
        let [sgpr_groups, vgpr_groups] = &self.groups;
        let [sgpr_stream, vgpr_stream] = &self.streams.class;
        let mut packed =
            Packed { file: files[SGPR], stream: sgpr_stream, groups: sgpr_groups, packer: sgprs };
        if !self.plan.class(func, target, &mut packed, &[], phys_base) {
            return Err(SGPR);
        }
        let mut packed =
            Packed { file: files[VGPR], stream: vgpr_stream, groups: vgpr_groups, packer: vgprs };
        if !self.plan.class(func, target, &mut packed, &sgprs.assigned, phys_base) {
            return Err(VGPR);
        }
        Ok(())
    }
}

/// Stores and reloads, weighted by loop depth; what is made again counts half.
fn spill_cost(func: &MachFunc) -> f32 {
    let cost = |inst: &isa::MachInst| match inst.note.index().map(|i| &func.notes[i]) {
        Some(Note::Alloc("spill" | "reload")) => 1.0,
        Some(Note::Alloc("remake")) => 0.5,
        _ => 0.0,
    };
    let weighted = func.blocks.values().map(|block| {
        let sum: f32 = block.insts.iter().map(cost).sum();
        sum * LOOP_FACTOR.powi(i32::from(block.depth.min(8)))
    });
    weighted.sum()
}
