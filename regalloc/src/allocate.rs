//! Runs the allocator's steps in order. For each of the two register classes (SGPRs and VGPRs), the steps
//! compute the stream of instructions, the live ranges, the groups of registers and the hardware registers.
//! The copies are planned last. If there are too few registers, this module also decides by which algorithm
//! the registers to spill are chosen.

use crate::pack::File;
use crate::rewrite::Packed;
use crate::scan::LOOP_FACTOR;
use crate::snapshot::Snapshot;
use crate::spill::Scene;
use crate::stream::{SGPR, VGPR};
use crate::{AllocError, Context, Stats};
use isa::Subtarget;
use mir::{MachFunc, Note};

/// Returns the number of hardware registers that is good enough for the packer, which places groups of
/// registers in the register file. The packer tries several orders of the groups. It stops when it needs at
/// most this many registers, because fewer would not help. For VGPRs, fewer than `pressure` are impossible.
/// For SGPRs, a number is also good enough if it allows the largest number of waves.
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

/// How many registers to withhold from regalloc2. The code that reloads spilled values needs registers, too,
/// but how many is not known before regalloc2 has chosen. The numbers are therefore tried one after the
/// other, until the code with its reloads fits.
const QUESTIONS: [u32; 4] = [1, 4, 9, 16];

/// Limit for the time that regalloc2 may take for one function, as an amount of work. The work is the number
/// of registers in operands and at block entries, times the number of runs. regalloc2 takes about a
/// microsecond for each unit of work, and longer if very many registers are live.
const MOST_ASKED: usize = 1 << 14;

/// For each class, the largest register pressure for which regalloc2 is used. The unit is half of the number
/// of available registers, so 3 means one and a half times as many. With higher pressure, regalloc2 takes
/// many times as long, and most uses need a reload whatever it decides. For SGPRs with higher pressure,
/// linear scan also spills fewer registers.
const MOST_HALVES: [u32; 2] = [3, 8];

/// Ratio of register pressure to available registers. Above this ratio, nearly all registers must be spilled,
/// so it matters little which ones are chosen.
const TOO_MANY: u32 = 2;

/// Algorithm that chooses the registers to spill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Engine {
    /// First stage: linear scan chooses registers to spill, but only registers whose values can be
    /// rematerialised. If these are not enough, [`Engine::Ask`] follows.
    #[default]
    Remake,
    /// Linear scan ([`crate::scan`]).
    Scan,
    /// Second stage: regalloc2 chooses registers to spill ([`crate::budget`]). If no choice of regalloc2
    /// leads to an allocation, linear scan follows.
    Ask,
}

/// What has been tried so far to make the registers of a class fit into the register file.
#[derive(Clone, Copy, Default)]
struct Try {
    /// Number of registers reserved for breaking cycles.
    reserved: u32,
    /// Whether the two registers of a copy are no longer put into the same group, so that groups are smaller.
    scattered: bool,
    /// Number of runs of regalloc2 for this class so far, an index into [`QUESTIONS`].
    asked: usize,
    /// Whether registers were just spilled as regalloc2 chose, so that the next attempt shows whether the
    /// changed code fits. `Snapshots::before` has the function as it was before the change.
    answered: bool,
    /// Whether registers were spilled as regalloc2 chose, and this change of the code has not been undone.
    resided: bool,
    /// Algorithm that chooses the registers to spill.
    engine: Engine,
    /// Number of registers that linear scan leaves free, because reloads will need registers.
    slack: u32,
    /// Whether [`Context::thin_out`], which spills by outlines, is not considered for this class any more: it
    /// has been considered once, or exact live ranges are known.
    thinned: bool,
}

/// A register class that needs more registers than its register file has. `pressure` is the largest number of
/// registers that are live at the same time.
#[derive(Clone, Copy)]
struct Tight<'a> {
    target: &'a Subtarget,
    file: File,
    pressure: u32,
}

/// Saved states of the function.
#[derive(Default)]
pub(crate) struct Snapshots {
    /// State before anything was spilled.
    start: Snapshot,
    /// State after spilling according to regalloc2.
    asked: Snapshot,
    /// State before an answer of regalloc2 was tried, by class.
    before: [Snapshot; 2],
}

impl Context {
    /// Assigns all registers and plans the copies. If there are too few registers, values are first
    /// rematerialised. If that is not enough, both regalloc2 and linear scan choose registers to spill, and
    /// the cheaper code is kept. With `scan`, in large functions and in functions with calls, only linear
    /// scan is used.
    pub(crate) fn allocate(
        &mut self,
        func: &mut MachFunc,
        target: &Subtarget,
        budget: [u32; 2],
        scan: bool,
        stats: &mut Stats,
    ) -> Result<(), AllocError> {
        self.changed = false;
        // regalloc2 does not know which registers calls clobber.
        let scan = scan || func.tuples.len() > MOST_ASKED || !func.calls.is_empty();
        let mut tries = self.restart(func, if scan { Engine::Scan } else { Engine::Remake });
        let mut allocated = self.allocate_with_spills(func, target, budget, &mut tries, stats);
        if matches!(allocated, Err(AllocError::Registers { .. })) && tries[VGPR].engine == Engine::Remake {
            tries = self.restart(func, Engine::Ask);
            allocated = self.allocate_with_spills(func, target, budget, &mut tries, stats);
        }
        // If regalloc2 chose registers to spill, linear scan alone is tried as well, and the better of the
        // two results is kept. Otherwise, the result so far is already that of linear scan, or one with fewer
        // spills.
        let done = scan || allocated.is_ok() && tries.iter().all(|tried| !tried.resided);
        if done || !matches!(allocated, Ok(()) | Err(AllocError::Registers { .. })) {
            return allocated;
        }
        let asked = allocated.is_ok().then(|| {
            self.snapshots.asked.save(func, &self.spiller.state);
            spill_cost(func)
        });
        let mut scans = self.restart(func, Engine::Scan);
        let scanned = self.allocate_with_spills(func, target, budget, &mut scans, stats);
        match asked {
            Some(cost) if scanned.is_err() || cost <= spill_cost(func) => {
                self.snapshots.asked.restore(func, &mut self.spiller.state);
                self.allocate_with_spills(func, target, budget, &mut tries, stats)
            }
            _ => scanned,
        }
    }

    /// Restores the original function.
    fn restart(&mut self, func: &mut MachFunc, engine: Engine) -> [Try; 2] {
        if self.changed {
            self.snapshots.start.restore(func, &mut self.spiller.state);
        }
        self.spilled = false;
        [Try { engine, ..Try::default() }; 2]
    }

    /// Assigns all registers and plans the copies. As long as that fails, spills registers and tries again.
    fn allocate_with_spills(
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
            // The reserved registers are available for breaking cycles.
            let whole = files.map(|file| File { limit: budget[file.class], ..file });
            match self.plan(func, target, whole) {
                Ok(()) => return Ok(()),
                Err(class) if tries[class].reserved == 0 => tries[class].reserved = 1,
                Err(class) => return Err(no_registers(class, budget[class])),
            }
        }
    }

    /// Computes which registers are live at block boundaries. With `may_thin`, stops and returns false if far
    /// too many registers are live, because the computation would take too long. [`Context::thin_out`] must
    /// then first spill some of them.
    fn flow(&mut self, func: &MachFunc, file: File, may_thin: bool) -> bool {
        let most = TOO_MANY * file.limit;
        let most = (may_thin && self.streams.phys_base >= 4 * most).then_some(most);
        self.live.flow.run(func, &self.streams, file.class, most)
    }

    /// Spills registers until at most [`TOO_MANY`] times as many are live as are available. Afterwards, exact
    /// live ranges can be computed in time linear in the number of blocks. The choice uses outlines, which
    /// are live ranges without holes ([`crate::outline`]). The caller must know from exact liveness that too
    /// many registers are live: outlines cannot show this, because they make many short ranges appear long.
    /// An example is a function with a thousand exits, each with a mask that is needed at a distant place.
    fn thin_out(&mut self, func: &mut MachFunc, target: &Subtarget, file: File) {
        let class = file.class;
        self.remember(func);
        self.outline.run(func, &self.streams, class);
        self.groups[class].outline(&self.outline.range);
        let (streams, groups) = (&self.streams, &self.groups[class]);
        let scene = Scene { class, target, streams, groups, budget: None };
        self.spilled |= self.spiller.thin(func, scene, TOO_MANY * file.limit);
    }

    /// Saves the function before its first change.
    fn remember(&mut self, func: &MachFunc) {
        if !std::mem::replace(&mut self.changed, true) {
            self.snapshots.start.save(func, &self.spiller.state);
        }
    }

    /// Changes the function or the settings after the registers of a class did not fit into its register
    /// file, so that the next attempt may succeed. If the groups were only too large to be placed, the next
    /// attempt forms smaller groups. Otherwise, registers are spilled. regalloc2 is asked for choices that
    /// leave fewer and fewer registers in use, each for the function as it was before the first choice. When
    /// all these choices have failed, linear scan spills more and more registers.
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
            // The function is restored to an earlier state, so the registers of the other class are allocated
            // anew, too. The attempts for that class begin again, but its earlier questions to regalloc2
            // still count.
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
            // It was not enough to rematerialise values, and the attempt has left the function unchanged.
            // regalloc2 therefore gets the original function.
            tries.iter_mut().for_each(|tried| tried.engine = Engine::Ask);
            tries[class].slack = 0;
        }
        if tries[class].engine == Engine::Ask {
            if self.spill_with_regalloc2(func, tight, &mut tries[class]) {
                return Ok(());
            }
            // Linear scan is next, with the exact live ranges that are known here. `thinned` prevents that
            // registers are first spilled by outlines (live ranges without holes), which are a worse basis
            // for the choice.
            (tries[class].engine, tries[class].thinned) = (Engine::Scan, true);
        }
        if self.scan(func, tight, &mut tries[class]) {
            return Ok(());
        }
        Err(no_registers(class, file.limit))
    }

    /// Spills the registers that linear scan chooses. Leaves more registers free than the last time, because
    /// reloads need registers, too. Returns false if nothing more can be spilled. In the first stage, which
    /// only rematerialises values, also returns false if a spilled value would need a slot.
    fn scan(&mut self, func: &mut MachFunc, tight: Tight<'_>, attempt: &mut Try) -> bool {
        let Tight { target, file, pressure } = tight;
        let class = file.class;
        let (groups, streams) = (&self.groups[class], &self.streams);
        let most = file.limit.min(pressure);
        let only_made = attempt.engine == Engine::Remake;
        while attempt.slack < most {
            attempt.slack += 4 + attempt.slack / 2;
            let room = most.saturating_sub(attempt.slack);
            // No reload can be in the middle of a call.
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

    /// Asks regalloc2 which registers to spill, and spills them. Returns false if regalloc2 finds no
    /// allocation for any of the limits that are left to try.
    fn spill_with_regalloc2(&mut self, func: &mut MachFunc, tight: Tight<'_>, attempt: &mut Try) -> bool {
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

    /// Computes the live ranges, groups and hardware registers of a class. Returns whether the class fits
    /// into the register file, and the largest number of registers that are live at the same time.
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
        // If more registers are live at one point than the file has, the groups of registers cannot be placed
        // in any order. VCC counts as two more SGPRs.
        let fits = pressure <= file.limit + if class == SGPR { 2 } else { 0 }
            && self.packers[class].run(file, stream, &mut self.groups[class], self.streams.phys_base);
        Ok((fits, pressure))
    }

    /// Plans the copies of both classes. A cycle of copies may need a free register to break it. If there is
    /// none, returns the class of the cycle as the error.
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

/// Returns the cost of the spill code in a function: the number of stores and reloads, weighted by loop
/// depth. A rematerialisation counts half.
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
