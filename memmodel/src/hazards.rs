//! Mitigates hazards: pairs of instructions that give a wrong result if the second comes too soon after the
//! first, because the hardware does not wait. The pass inserts `s_nop`, or another instruction that makes the
//! hazard harmless.
//!
//! # Source
//! The rules in [`crate::rules`].
//! # Requires
//! Code with its waits, which count as wait states.
//! # Guarantees
//! [`crate::proof::hazards`] finds no violation.
//! # Lattice
//! For rules with wait states, the state maps (role of the first instruction, registers) to the number of
//! wait states since. The join is the union with the lower number; entries older than any rule requires are
//! removed. For a rule with an instruction as mitigation, the state is the set of registers for which the
//! hazard is possible. The join is the union. The state at a block's head only gains entries, so the
//! iteration terminates although inserted instructions mitigate hazards.

use crate::calls::ControlTransfer;
use crate::effects::RegSet;
use crate::rules::{self, MAX_STATES, Mitigation, Producer, Rule};
use crate::{Context, Model, Options, Stats, edit};
use isa::table::{Family, Flags};
use isa::{Counter, Form, MBlock, MachInst, Operand, Reg, RegRange, op};
use mir::flow::Heads;
use mir::{FuncRole, MachFunc, Note};

/// A register for which a hazard is still possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Recent {
    producer: Producer,
    range: RegRange,
    /// Number of wait states since the producer.
    age: u8,
}

/// State of a rule whose mitigation is an instruction.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    /// Registers for which the hazard is possible.
    armed: RegSet,
    /// For a rule that requires a branch between its two instructions: whether the first instruction has been
    /// executed, and no branch after it yet. Other rules do not use this.
    seen: bool,
}

/// Recent instructions, as far as they matter for hazards.
#[derive(Debug, Default)]
struct Window {
    /// Producers within the last few wait states.
    recent: Vec<Recent>,
    /// State of each rule whose mitigation is an instruction.
    marks: Vec<Marks>,
    /// Whether scalar memory instructions are in flight.
    scalar_pending: bool,
    /// Kinds of the current clause, as bits.
    clause: u8,
}

/// Reusable memory of the pass.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Window at the head of each block that a hazard can reach.
    heads: Heads<Window>,
    /// Blocks in which a mitigation must be inserted.
    missing: Vec<bool>,
    /// The window that is propagated through a block.
    window: Window,
}

/// Information about the rules that matter to a function.
struct View<'a> {
    model: &'a Model,
    role: FuncRole,
    /// Whether writes of VGPRs by VALU instructions must be recorded. They can only matter in functions with
    /// DPP instructions or moves to accumulation VGPRs, and on some processors with reads of single lanes.
    vgprs: bool,
    /// The rules that can apply in the function and whose mitigation is an instruction. Rules with this kind
    /// of mitigation are counted separately, and bit `n` stands for the rule with number `n`.
    active: u32,
    /// Whether all rules in `active` concern only instructions in clauses, so that instructions outside of
    /// clauses need not be looked at.
    only_clauses: bool,
}

impl<'a> View<'a> {
    fn for_function(func: &MachFunc, model: &'a Model) -> View<'a> {
        let (mut vgprs, mut vccz) = (false, false);
        let reads_lane = model.rules.timed().iter().any(|rule| rule.second == rules::Consumer::ReadLane);
        for inst in func.blocks.values().flat_map(|block| &block.insts) {
            vgprs |= inst.form == Form::Dpp
                || inst.op == op::V_ACCVGPR_WRITE_B32
                || reads_lane && matches!(inst.op, op::V_READLANE_B32 | op::V_READFIRSTLANE_B32);
            vccz |= rules::reads_vccz(inst);
        }
        let (mut active, mut only_clauses) = (0, true);
        for (index, rule) in model.rules.mitigated_rules().iter().enumerate() {
            let has_work = rule.second != rules::Consumer::Vccz || vccz;
            active |= u32::from(has_work) << index;
            let ends =
                matches!(rule.mitigation, Mitigation::Instruction { breaks: rules::Breaks::ClauseEnds, .. });
            only_clauses &= ends || !has_work;
        }
        View { model, role: func.role, vgprs, active, only_clauses }
    }

    /// Returns the rules in `active`, each with its index. The hazards of these rules are mitigated by an
    /// instruction and not by wait states.
    fn mitigated_rules(&self) -> impl Iterator<Item = (usize, &'a Rule)> + use<'a> {
        let active = self.active;
        let rules = self.model.rules.mitigated_rules().iter().enumerate();
        rules.filter(move |(index, _)| active >> index & 1 != 0)
    }
}

impl Clone for Window {
    fn clone(&self) -> Window {
        let mut copy = Window::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, other: &Window) {
        let Window { recent, marks, scalar_pending, clause } = other;
        self.recent.clone_from(recent);
        self.marks.clone_from(marks);
        (self.scalar_pending, self.clause) = (*scalar_pending, *clause);
    }
}

impl Window {
    fn clear(&mut self, marks: usize) {
        self.recent.clear();
        self.marks.clear();
        self.marks.resize(marks, Marks::default());
        (self.scalar_pending, self.clause) = (false, 0);
    }

    /// Sets the window to that at the head of a block. If no hazard can reach the block, it is empty.
    fn begin(&mut self, view: &View<'_>, head: Option<&Window>) {
        match head {
            Some(head) => self.clone_from(head),
            None => self.clear(if view.active != 0 { view.model.rules.mitigated_rules().len() } else { 0 }),
        }
    }

    /// Returns the rule that lacks the most wait states before an instruction: the name of the rule, the
    /// number of wait states it requires, and the number that is missing.
    fn required(&self, view: &View<'_>, inst: &MachInst) -> Option<(&'static str, u8, u8)> {
        if self.recent.is_empty() {
            return None;
        }
        let rules = &view.model.rules;
        let away = ControlTransfer::from_inst(view.role, inst);
        // The rule that lacks the most wait states: how many it lacks, and its index. Of several rules that
        // lack the same number, this is the first.
        let mut worst: Option<(u8, usize)> = None;
        for recent in &self.recent {
            for index in rules.timed_by(recent.producer) {
                let rule = &rules.timed()[index];
                let age = recent.age + away.map_or(0, ControlTransfer::states);
                let missing = rule.states.saturating_sub(age);
                let is_worse = |(most, at)| missing > most || missing == most && index < at;
                if missing == 0 || !worst.is_none_or(is_worse) {
                    continue;
                }
                let mut hit = away.is_some_and(|away| concerns(away, recent));
                rules::consumed(view.model.subtarget(), inst, rule.second, |range| {
                    hit |= range.overlaps(recent.range);
                });
                if hit {
                    worst = Some((missing, index));
                }
            }
        }
        worst.map(|(missing, index)| {
            let rule = &rules.timed()[index];
            (rule.name, rule.states, missing)
        })
    }

    /// Returns the first rule whose hazard exists at this instruction and needs an instruction as mitigation.
    /// Also returns what to insert before the instruction.
    fn unmended<'a>(&self, view: &View<'a>, inst: &MachInst) -> Option<(&'a Rule, rules::Insert)> {
        if view.only_clauses && view.model.rules.clause(inst) & self.clause == 0 {
            return None;
        }
        let away = ControlTransfer::from_inst(view.role, inst);
        for (index, rule) in view.mitigated_rules() {
            let Marks { armed, seen } = &self.marks[index];
            let Mitigation::Instruction { insert, breaks, .. } = rule.mitigation else { continue };
            if let Some(away) = away
                && (*seen || !armed.is_empty())
                && crosses_call(away, rule, breaks)
            {
                return Some((rule, insert));
            }
            if armed.is_empty() {
                continue;
            }
            // If this instruction ends the clause, it is not part of the clause. So it has no hazard with the
            // instructions in the clause.
            if breaks == rules::Breaks::ClauseEnds && self.breaks(view, inst, breaks) {
                continue;
            }
            let mut hit = false;
            rules::consumed(view.model.subtarget(), inst, rule.second, |range| hit |= armed.hits(range));
            if hit {
                return Some((rule, insert));
            }
        }
        None
    }

    fn breaks(&self, view: &View<'_>, inst: &MachInst, breaks: rules::Breaks) -> bool {
        let model = view.model;
        rules::breaks(&model.rules, model.subtarget(), inst, breaks, self.scalar_pending, self.clause)
    }

    /// Records that this many wait states have passed.
    fn pass(&mut self, states: u8) {
        if states != 0 && !self.recent.is_empty() {
            self.recent.retain_mut(|recent| {
                recent.age += states;
                recent.age < MAX_STATES
            });
        }
    }

    /// Updates the window (the recent instructions that matter for hazards) for an instruction. Wait states
    /// of the instruction itself are counted before its own effects are recorded.
    fn issue(&mut self, view: &View<'_>, inst: &MachInst) {
        let model = view.model;
        self.pass(rules::states(model.subtarget(), inst));
        rules::produced(model.subtarget(), inst, view.vgprs, |producer, range| {
            if model.rules.counts(producer) {
                self.recent.push(Recent { producer, range, age: 0 });
            }
        });
        if view.active != 0 {
            self.mark(view, inst);
        }
        if ControlTransfer::from_inst(view.role, inst) == Some(ControlTransfer::Call) {
            self.come_from_elsewhere(view);
        }
    }

    /// Sets the window (the recent instructions that matter for hazards) for code after a call and at the
    /// beginning of a function. Only hazards that the other function does not mitigate are possible there.
    /// One wait state has passed. VALU may have written any VGPR. Nothing is known about VCC and `v_cmpx`.
    #[cold]
    fn come_from_elsewhere(&mut self, view: &View<'_>) {
        self.clear(self.marks.len());
        if view.vgprs && view.model.rules.counts(Producer::ValuWritesVgpr) {
            for first in [Reg::vgpr(0), Reg::vgpr(128)] {
                let range = RegRange { first, len: 128 };
                self.recent.push(Recent { producer: Producer::ValuWritesVgpr, range, age: 1 });
            }
        }
        if view.active == 0 {
            return;
        }
        for (index, rule) in view.mitigated_rules().filter(|(_, rule)| is_received(rule.second)) {
            let Marks { armed, seen } = &mut self.marks[index];
            rules::anything(|range| armed.insert(range));
            *seen = rule.needs_branch();
        }
    }

    /// Updates the states of the rules whose mitigation is an instruction: records the hazards that the given
    /// instruction creates, and removes the hazards that it mitigates.
    fn mark(&mut self, view: &View<'_>, inst: &MachInst) {
        let model = view.model;
        let subtarget = model.subtarget();
        let clause = model.rules.clause(inst);
        if view.only_clauses && clause == 0 {
            if self.clause != 0 {
                self.marks.fill(Marks::default());
                self.clause = 0;
            }
            return;
        }
        let branches = inst.op.row().flags.contains(Flags::BRANCH);
        for (index, rule) in view.mitigated_rules() {
            let Mitigation::Instruction { breaks, branch, .. } = rule.mitigation else { continue };
            let Marks { armed, seen } = self.marks[index];
            let mut marks = Marks { armed, seen };
            if (seen || !armed.is_empty()) && self.breaks(view, inst, breaks) {
                marks = Marks::default();
            }
            if branch && branches && marks.seen {
                rules::anything(|range| marks.armed.insert(range));
            }
            rules::marked(&model.rules, subtarget, inst, rule.first, |range| match branch {
                true => marks.seen = true,
                false => marks.armed.insert(range),
            });
            self.marks[index] = marks;
        }
        self.clause = clause;
        match inst.op.family() {
            Family::Smem => self.scalar_pending = true,
            _ if subtarget.waited(inst).is_some_and(|wait| wait.count(Counter::Lgkm) == 0) => {
                self.scalar_pending = false;
            }
            _ => {}
        }
    }

    /// Joins the window of another edge, the recent instructions on that path, into this window. Returns
    /// whether that changed this window.
    fn join(&mut self, other: &Window) -> bool {
        let mut changed = false;
        for new in &other.recent {
            let same = |old: &&mut Recent| (old.producer, old.range) == (new.producer, new.range);
            match self.recent.iter_mut().find(same) {
                Some(old) if old.age <= new.age => continue,
                Some(old) => old.age = new.age,
                None => self.recent.push(*new),
            }
            changed = true;
        }
        for (marks, new) in self.marks.iter_mut().zip(&other.marks) {
            let before = *marks;
            marks.armed.union(&new.armed);
            marks.seen |= new.seen;
            changed |= marks.armed != before.armed || marks.seen != before.seen;
        }
        let flags = (self.scalar_pending, self.clause);
        self.scalar_pending |= other.scalar_pending;
        self.clause |= other.clause;
        changed | (flags != (self.scalar_pending, self.clause))
    }

    fn is_empty(&self) -> bool {
        self.recent.is_empty()
            && !self.scalar_pending
            && self.marks.iter().all(|marks| marks.armed.is_empty() && !marks.seen)
    }
}

/// Returns whether a hazard that is still possible may show in the function that gets control. It does not
/// show if this function writes the registers before it reads them.
fn concerns(away: ControlTransfer, recent: &Recent) -> bool {
    let scalar = recent.range.first.0 < 128;
    recent.producer != Producer::ValuWritesVgpr && (!scalar || away.may_read(recent.range))
}

/// Returns which function mitigates a hazard across a control transfer: `true` for the function that gets
/// control, `false` for the one that transfers control. For rules whose second instruction is rare, it is the
/// function that gets control.
fn is_received(second: rules::Consumer) -> bool {
    matches!(second, rules::Consumer::Permlane | rules::Consumer::Vccz)
}

/// Returns whether the hazard of a rule could still concern the function that gets control. The waits at the
/// beginning of a function mitigate some hazards.
fn crosses_call(away: ControlTransfer, rule: &Rule, breaks: rules::Breaks) -> bool {
    use rules::Breaks::{ClauseEnds, MemoryHasRead, SmemHasRead};
    let waited = away == ControlTransfer::Call && matches!(breaks, MemoryHasRead | SmemHasRead);
    breaks != ClauseEnds && !is_received(rule.second) && !waited
}

/// Runs the pass.
pub fn run(func: &mut MachFunc, model: &Model, _opts: &Options, ctx: &mut Context) -> Stats {
    let mut stats = Stats::default();
    let scratch = &mut ctx.hazards;
    let view = View::for_function(func, model);
    solve(func, &view, scratch);
    for index in 0..func.blocks.len() {
        let block = MBlock::from_u32(index as u32);
        if !scratch.missing[index] {
            continue;
        }
        let window = &mut scratch.window;
        window.begin(&view, scratch.heads.get(block));
        edit::rewrite(func, block, &mut ctx.insts, |func, inst, out| {
            apart(&view, window, inst, |name, states, mitigation| match mitigation {
                Keep::States(missing) => {
                    let longest = rules::longest_nop(model.subtarget());
                    nop(
                        func,
                        Note::Hazard { rule: name, states },
                        missing,
                        longest,
                        inst.loc,
                        out,
                        &mut stats,
                    );
                }
                Keep::Instruction(mitigation) => {
                    let note = func.note(Note::Hazard { rule: name, states: 0 });
                    out.push(MachInst { note, loc: inst.loc, ..mitigation });
                    stats.mitigations += 1;
                }
            });
            window.issue(&view, inst);
            out.push(*inst);
        });
    }
    stats
}

/// Returns the instruction that must precede each branch that a later pass inserts. Some hazards exist only
/// if a branch is between their two instructions, so a new branch can create such a hazard. Returns `None` if
/// no instruction is needed.
pub fn before_new_branch(func: &mut MachFunc, model: &Model) -> Option<MachInst> {
    let mut across = model.rules.mitigated_rules().iter().filter(|rule| rule.needs_branch());
    let rule = across.next()?;
    let Mitigation::Instruction { insert, breaks, .. } = rule.mitigation else { return None };
    debug_assert!(
        across.all(
            |other| matches!(other.mitigation, Mitigation::Instruction { insert: same, breaks: as_well, .. }
            if same == insert && as_well == breaks)
        ),
        "one instruction mends all of them"
    );
    let note = func.note(Note::Hazard { rule: rule.name, states: 0 });
    let branch = MachInst::new(op::S_BRANCH, &[]);
    rules::inserted(model.subtarget(), insert, &branch)[0].map(|mitigation| MachInst { note, ..mitigation })
}

/// What must be inserted before an instruction to mitigate a hazard.
enum Keep {
    /// The given number of wait states.
    States(u8),
    Instruction(MachInst),
}

/// Mitigates all hazards before an instruction. Updates the window of recent instructions for everything that
/// must be inserted. Calls `put` for each insertion, with the name of the rule, the number of wait states
/// that the rule requires, and what to insert.
fn apart(view: &View<'_>, window: &mut Window, inst: &MachInst, mut put: impl FnMut(&'static str, u8, Keep)) {
    if view.active != 0 {
        // Each inserted instruction mitigates the hazard of its rule, so the loop ends.
        while let Some((rule, insert)) = window.unmended(view, inst) {
            for mitigation in rules::inserted(view.model.subtarget(), insert, inst).into_iter().flatten() {
                window.issue(view, &mitigation);
                put(rule.name, 0, Keep::Instruction(mitigation));
            }
        }
    }
    if let Some((name, states, missing)) = window.required(view, inst) {
        window.pass(missing);
        put(name, states, Keep::States(missing));
    }
}

/// Computes the window of recent instructions at the head of every block, and the blocks in which a
/// mitigation must be inserted. Once a block needs a mitigation, it always does, because the window at its
/// head only gains entries.
fn solve(func: &MachFunc, view: &View<'_>, scratch: &mut Scratch) {
    let Scratch { heads, missing, window } = scratch;
    // Unreachable blocks are visited too, because hazards must be mitigated inside unreachable blocks.
    heads.visit_all(func);
    missing.clear();
    missing.resize(func.blocks.len(), false);
    let arrive = |heads: &mut Heads<Window>, window: &Window, to: MBlock| {
        if !window.is_empty() {
            heads.reach(to, window, Window::join);
        }
    };
    window.begin(view, None);
    if view.role == FuncRole::Callee {
        window.come_from_elsewhere(view);
        arrive(heads, window, MBlock::from_u32(0));
    }
    while let Some((block, head)) = heads.pop() {
        let data = &func.blocks[block];
        window.begin(view, head);
        for inst in &data.insts {
            apart(view, window, inst, |_, _, _| missing[block.as_u32() as usize] = true);
            window.issue(view, inst);
            // If the branch is taken, the instructions after it are not executed, so its target gets the
            // window as it is now.
            targets(inst).for_each(|to| arrive(heads, window, to));
        }
        let next_entry = data.next_entry();
        let jumps = |to| data.insts.iter().flat_map(targets).any(|target| target == to);
        let falls = |to: &MBlock| Some(*to) != next_entry && !jumps(*to);
        let after = data.linear.iter().flatten().map(|edge| edge.to).filter(falls);
        after.for_each(|to| arrive(heads, window, to));
        if let Some(to) = next_entry {
            // Control reaches the next entry of a jump table without executing the branch of this entry. So
            // the next entry gets the window at the head of this block.
            if data.insts.len() == 1 {
                window.begin(view, heads.get(block));
            }
            arrive(heads, window, to);
        }
    }
}

/// Returns the blocks to which an instruction branches.
fn targets(inst: &MachInst) -> impl Iterator<Item = MBlock> {
    let is_branch = inst.op.row().flags.contains(Flags::BRANCH);
    inst.operands().iter().filter(move |_| is_branch).filter_map(|operand| match *operand {
        Operand::Block(to) => Some(to),
        _ => None,
    })
}

/// Writes an `s_nop` for that number of wait states, or lengthens a preceding `s_nop`.
fn nop(
    func: &mut MachFunc,
    note: Note,
    states: u8,
    longest: u8,
    loc: u32,
    out: &mut Vec<MachInst>,
    stats: &mut Stats,
) {
    let states = i32::from(states);
    let note = func.note(note);
    if let Some(last) = out.last_mut()
        && let (op::S_NOP, Operand::Imm(count)) = (last.op, last.ops[0])
        && count + states <= i32::from(longest)
    {
        last.ops[0] = Operand::Imm(count + states);
        last.note = note;
        return;
    }
    out.push(MachInst { note, loc, ..MachInst::new(op::S_NOP, &[Operand::Imm(states - 1)]) });
    stats.nops += 1;
}
