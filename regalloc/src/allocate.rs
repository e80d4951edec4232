//! The order of work: streams, live ranges, groups and places of both classes, then the copies; and what to do when
//! the registers do not suffice.

use crate::pack::File;
use crate::rewrite::Packed;
use crate::scan::LOOP_FACTOR;
use crate::stream::{SGPR, VGPR};
use crate::{AllocError, Context, Stats, spill};
use isa::{MachFunc, Note, Subtarget};

/// With how many registers the packer may stop looking for a better order. SGPRs only matter when there are so many
/// that fewer waves fit.
fn aim(class: usize, pressure: u32, target: &Subtarget) -> u32 {
    if class == VGPR {
        return pressure;
    }
    pressure.max((target.total_sgprs / target.max_waves).saturating_sub(target.extra_sgprs))
}

fn no_registers(class: usize, budget: u32) -> AllocError {
    AllocError::Registers { class: ["SGPR", "VGPR"][class], budget }
}

/// How many registers fewer than there are regalloc2 is asked to do with, one question after the other.
const QUESTIONS: [u32; 4] = [1, 4, 9, 16];

/// Who chooses what to spill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Engine {
    /// Nobody: running out of registers is an error.
    #[default]
    None,
    /// Linear scan ([`crate::scan`]).
    Scan,
    /// regalloc2 ([`crate::budget`]), and linear scan when it has no answer that fits.
    Ask,
}

/// What has been tried to make a class fit.
#[derive(Default)]
struct Try {
    /// Registers kept back for breaking cycles.
    reserved: u32,
    /// Copies are no longer coalesced.
    scattered: bool,
    /// Questions put to regalloc2.
    asked: usize,
    /// The state before its last answer was tried.
    before: Option<Box<(MachFunc, spill::State)>>,
    /// Who chooses.
    engine: Engine,
    /// Registers kept free for reloads when scanning.
    slack: u32,
}

impl Context {
    /// Finds places for everything and plans the copies. If that takes spilling, both ways of choosing what to spill are
    /// tried, and the one whose code costs less is kept; with `scan`, only linear scan.
    pub(crate) fn allocate(
        &mut self,
        func: &mut MachFunc,
        target: &Subtarget,
        budget: [u32; 2],
        scan: bool,
        stats: &mut Stats,
    ) -> Result<(), AllocError> {
        match self.settle(func, target, budget, Engine::None, stats) {
            Err(AllocError::Registers { .. }) => {}
            other => return other,
        }
        if scan {
            return self.settle(func, target, budget, Engine::Scan, stats);
        }
        let mut scanned = func.clone();
        let limit = match self.settle(&mut scanned, target, budget, Engine::Scan, stats) {
            Ok(()) => spill_cost(&scanned),
            Err(_) => f32::INFINITY,
        };
        let mut asked = func.clone();
        if self.settle(&mut asked, target, budget, Engine::Ask, stats).is_ok() && spill_cost(&asked) <= limit
        {
            *func = asked;
            return Ok(());
        }
        self.settle(func, target, budget, Engine::Scan, stats)
    }

    /// Finds places for everything and plans the copies; spills until that succeeds.
    fn settle(
        &mut self,
        func: &mut MachFunc,
        target: &Subtarget,
        budget: [u32; 2],
        engine: Engine,
        stats: &mut Stats,
    ) -> Result<(), AllocError> {
        self.spiller.clear();
        let mut tries = [Try { engine, ..Try::default() }, Try { engine, ..Try::default() }];
        'again: loop {
            stats.rounds += 1;
            self.streams.build(func)?;
            let files = [SGPR, VGPR].map(|class| File {
                class,
                limit: budget[class].saturating_sub(tries[class].reserved),
                aim: 0,
            });
            for file in files {
                let class = file.class;
                let (fits, pressure) = self.pack(func, target, file, !tries[class].scattered)?;
                if stats.rounds == 1 {
                    stats.pressure[class] = pressure;
                }
                if !fits {
                    self.make_room(func, file, pressure, &mut tries)?;
                    continue 'again;
                }
            }
            match self.plan(func, target, files) {
                Ok(()) => return Ok(()),
                Err(class) if tries[class].reserved == 0 => tries[class].reserved = 1,
                Err(class) => return Err(no_registers(class, budget[class])),
            }
        }
    }

    /// After a failure to pack: small groups if only fragmentation is to blame, else spilling. regalloc2 is asked to
    /// do with fewer and fewer registers, always from the same state; when it has no answer, linear scan spills more
    /// and more.
    fn make_room(
        &mut self,
        func: &mut MachFunc,
        file: File,
        pressure: u32,
        tries: &mut [Try; 2],
    ) -> Result<(), AllocError> {
        let class = file.class;
        let attempt = &mut tries[class];
        if pressure <= file.limit && !attempt.scattered && attempt.before.is_none() {
            attempt.scattered = true;
            return Ok(());
        }
        if let Some(before) = attempt.before.take() {
            (*func, self.spiller.state) = *before;
            // The other class is allocated anew from here too.
            let Try { asked, engine, .. } = tries[1 - class];
            tries[1 - class] = Try { asked, engine, ..Try::default() };
            return Ok(());
        }
        let groups = &self.groups[class];
        groups.restore(&mut self.streams.class[class]);
        if attempt.engine == Engine::None {
            return Err(no_registers(class, file.limit));
        }
        while attempt.engine == Engine::Ask && attempt.asked < QUESTIONS.len() {
            let room = file.limit.checked_sub(QUESTIONS[attempt.asked]);
            attempt.asked += 1;
            let fixed = self.spiller.fix(func, &self.streams, class);
            let answered =
                room.is_some_and(|room| self.budget.run(func, &self.streams, groups, class, fixed, room));
            if answered {
                let before = Box::new((func.clone(), self.spiller.state.clone()));
                let (streams, flow) = (&self.streams, &self.live.flow);
                if self.spiller.reside(func, streams, groups, flow, class, &self.budget) {
                    attempt.before = Some(before);
                    return Ok(());
                }
                (*func, self.spiller.state) = *before;
            }
        }
        attempt.engine = Engine::Scan;
        // Reloads need registers too: leave ever more room for them.
        loop {
            attempt.slack += 4;
            let most = file.limit.min(pressure);
            let Some(room) = most.checked_sub(attempt.slack) else {
                return Err(no_registers(class, file.limit));
            };
            if self.spiller.scan(func, &self.streams, groups, class, room) {
                return Ok(());
            }
        }
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
        self.live.run(func, &self.streams, class)?;
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

/// Stores and reloads, weighted by loop depth.
fn spill_cost(func: &MachFunc) -> f32 {
    let is_spill = |inst: &isa::MachInst| {
        inst.note.index().is_some_and(|i| matches!(func.notes[i], Note::Alloc("spill" | "reload")))
    };
    let weighted = func.blocks.values().map(|block| {
        let count = block.insts.iter().filter(|inst| is_spill(inst)).count();
        count as f32 * LOOP_FACTOR.powi(i32::from(block.depth.min(8)))
    });
    weighted.sum()
}
