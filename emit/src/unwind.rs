//! Call frame information: finds, for each instruction of a function, where the values are that registers had
//! in the function's caller.
//!
//! No pass records anything for this while code is compiled. Instead, a walk over the final code tracks what
//! *places* hold. A place is a scalar register, a vector register, a lane of a vector register, or a dword of
//! the frame. For each place, the walk knows whether it holds the value that some register had on entry to
//! the function, and which register that is. So the information describes what the code really does, whatever
//! the passes have inserted. A compilation without frame information spends no time on it.
//!
//! # Assumptions
//! * Values that the allocator keeps in the frame are stored at a constant offset from the stack pointer, and
//!   the instruction has a note of the allocator. The program's own stores to private memory do not overlap
//!   them.
//! * EXEC contains a subset of the lanes that were active on entry. The exception are places where all lanes
//!   are turned on to save or restore whole registers.
//! * A value that was stored remains in its place until the function ends. A register that is reloaded counts
//!   as restored only when no operation is outstanding, that is, at the return. A register that is copied
//!   from another register counts as restored at once.
//! * A call changes all registers that some call of the function changes. It preserves the stack pointer and
//!   EXEC.
//!
//! # Time
//! Linear in the number of instructions, times the nesting depth of loops, because a place can only lose its
//! value.

use isa::table::Role;
use isa::{MBlock, MachInst, Operand, PrivateAccess, Reg, RegRange, RegSet, Subtarget, Target, op};
use mir::flow::Heads;
use mir::{FuncRole, MachFunc, Note};
use objwriter::elf;
use objwriter::frames::{Dword, FrameTable, Kind, Rule, Wave};
use smallvec::SmallVec;

/// Number of hardware register codes that are tracked. They are the codes of scalar registers, VGPRs and
/// accumulation VGPRs.
const CODES: u16 = 768;
/// The stack pointer (seed 000, line 4113).
const STACK_POINTER: Reg = Reg::sgpr(32);
const RETURN: RegRange = RegRange { first: Reg::sgpr(30), len: 2 };
/// Number of SGPRs with a number (`s0` and so on) that have DWARF numbers, on the processor that has most of
/// them.
const NUMBERED: u16 = 106;

/// What a place (register, lane of a register, or dword of the frame) holds: the code of the register whose
/// value on entry to the function is there, or one of the constants below.
type Value = u16;
/// The place holds some other value.
const OTHER: Value = u16::MAX;
/// For EXEC: all lanes are on.
const ALL: Value = u16::MAX - 1;
/// The place is a vector register that was written even in lanes that were not active on entry, so that no
/// lane holds the caller's value any more.
const RUINED: Value = u16::MAX - 2;

/// Position of a function's code in a section.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    /// Section.
    pub text: elf::Target,
    /// Offsets of the first byte and of the byte after the last.
    pub bytes: (u64, u64),
}

/// Adds the call frame information of a function to the table.
#[inline(never)]
pub(crate) fn describe(func: &MachFunc, target: &Subtarget, span: Span, table: &mut FrameTable) {
    let wave = Wave { lanes: target.wave_size, scale: target.stack_scale() };
    if func.role == FuncRole::Kernel {
        table.begin(span.text, span.bytes, Kind::Kernel, wave);
        return table.end();
    }
    let mut walk = Walk::new(func, target);
    let heads = walk.heads(func);
    table.begin(span.text, span.bytes, Kind::Function, wave);
    let mut told = WrittenRules { rules: [Rule::Same; CODES as usize], back: None, moved: 0 };
    told.back = Some([0, 1].map(|n| Dword::Register(RETURN.first.offset(n))));
    let mut at = span.bytes.0;
    for (number, block) in &func.blocks {
        if let Some(state) = heads.get(number) {
            walk.state.clone_from(state);
            walk.touched.clear();
            walk.touched.extend(0..CODES);
            told.write_changes(&mut walk, at, table);
        }
        for inst in &block.insts {
            let start = at;
            at += 4 * isa::size_in_words(target, inst) as u64;
            walk.step(inst);
            // A debugger that stops in a called function looks up the rules at the call instruction. At this
            // time, the called function may already have changed registers. The state after the call
            // therefore holds from the call instruction on.
            let from = if inst.is_call() { start } else { at };
            if from < span.bytes.1 {
                told.write_changes(&mut walk, from, table);
            }
        }
    }
    table.end();
}

/// Walks through the final code and knows, before each instruction, which registers hold values that
/// registers had on entry to the function. Debug information uses this to describe parameters.
pub struct Entered<'a> {
    walk: Walk<'a>,
    heads: Heads<State>,
}

impl<'a> Entered<'a> {
    /// Analyses the final code of a function. The result is positioned before the function's first
    /// instruction.
    pub fn new(func: &'a MachFunc, target: &'a Subtarget) -> Entered<'a> {
        let mut walk = Walk::new(func, target);
        let heads = walk.heads(func);
        Entered { walk, heads }
    }

    /// Sets the state to that at the beginning of a block.
    pub fn begin(&mut self, block: MBlock) {
        match self.heads.get(block) {
            Some(state) => self.walk.state.clone_from(state),
            // The block is unreachable.
            None => self.walk.state = State::new(),
        }
    }

    /// Applies an instruction to the state.
    pub fn step(&mut self, inst: &MachInst) {
        self.walk.step(inst);
        self.walk.touched.clear();
    }

    /// Returns the register whose value on entry to the function is now in `reg`, if there is one. If `reg`
    /// is a vector register, it is sure to hold the value only in the lanes that were active on entry. If
    /// `reg` is a scalar register and the value was in a vector register, `reg` has the value of the first of
    /// these lanes.
    pub fn value(&self, reg: Reg) -> Option<Reg> {
        Some(self.walk.state.value_in(reg)).filter(|&value| value < CODES).map(Reg)
    }
}

/// Rules that were written last.
struct WrittenRules {
    rules: [Rule; CODES as usize],
    back: Option<[Dword; 2]>,
    moved: i64,
}

impl WrittenRules {
    /// Adds rules to the frame table for the registers whose rule changes at code offset `at`. Only the
    /// values whose places may have changed (`Walk::touched`) are looked at.
    fn write_changes(&mut self, walk: &mut Walk<'_>, at: u64, table: &mut FrameTable) {
        table.set_offset(at);
        let mut touched = std::mem::take(&mut walk.touched);
        for value in touched.drain(..) {
            if RETURN.covers(RegRange { first: Reg(value), len: 1 }) {
                let back = walk.state.pair(RETURN.first.0);
                if std::mem::replace(&mut self.back, back) != back {
                    table.return_address(back);
                }
                continue;
            }
            // The table has no rule for the stack pointer, because the caller's stack pointer follows from
            // the canonical frame address (CFA).
            if value == STACK_POINTER.0 {
                continue;
            }
            // Both halves of EXEC share one column.
            let value = if value == Reg::EXEC.0 + 1 { Reg::EXEC.0 } else { value };
            if !has_column(walk.target, Reg(value)) {
                continue;
            }
            let rule = &mut self.rules[usize::from(value)];
            let new = walk.rule(value);
            // Once the rule of a register says that its value is lost, the rule stays, even if the new state
            // says otherwise. This happens where a path on which the value is lost meets one on which it is
            // kept. The caller certainly does not need such a value, because the code did not save it.
            let is_lost = matches!((*rule, new), (Rule::Undefined, _) | (Rule::Others, Rule::Same));
            if is_lost && value != Reg::EXEC.0 {
                continue;
            }
            if std::mem::replace(rule, new) != new {
                table.rule(Reg(value), new);
            }
        }
        walk.touched = touched;
        if let Some(moved) = walk.state.stack_offset(STACK_POINTER)
            && moved != self.moved
        {
            self.moved = moved;
            table.stack_pointer_moved(moved);
        }
    }
}

/// Values on entry that places hold.
#[derive(Clone)]
struct State {
    /// For each register code, what the register holds: the code of the register that had the same value on
    /// entry. If a VGPR holds the value of a scalar register, it does so in the lanes that were active on
    /// entry. If a scalar register holds the value of a VGPR, it is the value of the first of these lanes.
    holds: [Value; CODES as usize],
    lanes: SmallVec<[(Reg, u8, Value); 8]>,
    frame: SmallVec<[Slot; 16]>,
    /// Registers with a known distance from the stack pointer on entry. The distance is in the units of the
    /// stack pointer.
    stack: SmallVec<[(Reg, i64); 2]>,
}

/// Dword of the frame.
#[derive(Clone, Copy, PartialEq)]
struct Slot {
    at: u32,
    value: Value,
    /// Whether the dword of the frame holds the value in all lanes. If not, it holds the value only in the
    /// lanes that were active on entry.
    whole: bool,
}

impl State {
    fn new() -> State {
        State {
            holds: std::array::from_fn(|code| code as u16),
            lanes: SmallVec::new(),
            frame: SmallVec::new(),
            stack: SmallVec::from_slice(&[(STACK_POINTER, 0)]),
        }
    }

    /// Joins two states where two paths meet: keeps only the facts that are also in `other`. Returns whether
    /// any fact was removed.
    fn meet(&mut self, other: &State) -> bool {
        let mut less = false;
        for (mine, theirs) in self.holds.iter_mut().zip(&other.holds) {
            if *mine != *theirs && *mine != RUINED {
                let both = if *theirs == RUINED { RUINED } else { OTHER };
                less |= *mine != both;
                *mine = both;
            }
        }
        let count = (self.lanes.len(), self.frame.len(), self.stack.len());
        self.lanes.retain(|lane| other.lanes.contains(lane));
        self.frame.retain(|slot| other.frame.contains(slot));
        self.stack.retain(|stack| other.stack.contains(stack));
        less || count != (self.lanes.len(), self.frame.len(), self.stack.len())
    }

    fn value_in(&self, reg: Reg) -> Value {
        self.holds.get(usize::from(reg.0)).copied().unwrap_or(OTHER)
    }

    /// Returns the distance of the address in a register from the stack pointer on entry, in the units of the
    /// stack pointer, if it is known.
    fn stack_offset(&self, reg: Reg) -> Option<i64> {
        self.stack.iter().find(|entry| entry.0 == reg).map(|entry| entry.1)
    }

    /// Returns a place (register, lane of a register, or dword of the frame) that holds the value which
    /// register `value` had on entry, preferably that register itself.
    fn dword(&self, value: Value) -> Option<Dword> {
        if self.value_in(Reg(value)) == value {
            return Some(Dword::Register(Reg(value)));
        }
        let slot = self.frame.iter().find(|slot| slot.value == value && !slot.whole);
        let lane = || self.lanes.iter().find(|lane| lane.2 == value);
        let register = || (0..NUMBERED).find(|&code| self.holds[usize::from(code)] == value);
        slot.map(|slot| Dword::Frame(slot.at))
            .or_else(|| lane().map(|&(reg, lane, _)| Dword::Lane(reg, lane)))
            .or_else(|| register().map(|code| Dword::Register(Reg(code))))
    }

    /// Returns the places of two consecutive registers.
    fn pair(&self, low: Value) -> Option<[Dword; 2]> {
        Some([self.dword(low)?, self.dword(low + 1)?])
    }
}

struct Walk<'a> {
    target: &'a Subtarget,
    notes: &'a [Note],
    state: State,
    /// Registers that calls change.
    clobbers: RegSet,
    /// Values whose places may have changed.
    touched: Vec<Value>,
}

impl<'a> Walk<'a> {
    fn new(func: &'a MachFunc, target: &'a Subtarget) -> Walk<'a> {
        let mut clobbers = RegSet::EMPTY;
        func.calls.iter().for_each(|call| clobbers.union(&call.clobbers));
        clobbers.insert(RETURN);
        Walk { target, notes: &func.notes, state: State::new(), clobbers, touched: Vec::new() }
    }

    /// Returns the state at the beginning of each block that control can reach. Only facts that hold in all
    /// states with which control reaches the block remain.
    fn heads(&mut self, func: &MachFunc) -> Heads<State> {
        let mut heads: Heads<State> = Heads::default();
        heads.visit_reached(func);
        heads.reach(MBlock::from_u32(0), &State::new(), State::meet);
        while let Some((block, Some(head))) = heads.pop() {
            self.state.clone_from(head);
            for inst in &func.blocks[block].insts {
                self.step(inst);
                self.touched.clear();
            }
            for edge in func.blocks[block].linear.iter().flatten() {
                heads.reach(edge.to, &self.state, State::meet);
            }
        }
        heads
    }

    /// Returns the rule that tells a debugger where the caller's value of register `value` is at this point
    /// of the code.
    fn rule(&self, value: Value) -> Rule {
        let state = &self.state;
        if value == Reg::EXEC.0 && self.target.mask_dwords() == 2 {
            return match state.pair(value) {
                Some([Dword::Register(Reg::EXEC), Dword::Register(_)]) => Rule::Same,
                Some(parts) => Rule::Two(parts),
                None => Rule::Undefined,
            };
        }
        if state.value_in(Reg(value)) == value {
            return Rule::Same;
        }
        if value >= Reg::vgpr(0).0 {
            let slot = state.frame.iter().find(|slot| slot.value == value);
            return match (slot, state.value_in(Reg(value)) == RUINED) {
                (Some(slot), _) if slot.whole => Rule::Whole(slot.at),
                (_, true) => Rule::Undefined,
                (Some(slot), _) => Rule::Masked(slot.at),
                (None, _) => Rule::Others,
            };
        }
        state.dword(value).map_or(Rule::Undefined, Rule::One)
    }

    /// Sets the value that a register holds.
    fn put(&mut self, reg: Reg, value: Value) {
        let Some(holds) = self.state.holds.get_mut(usize::from(reg.0)) else { return };
        let old = std::mem::replace(holds, value);
        self.touched.extend([old, value].into_iter().filter(|&value| value < CODES));
        self.state.stack.retain(|entry| entry.0 != reg);
    }

    /// Forgets what the registers in `range` held, because an instruction overwrites them. A write to a
    /// vector register changes only active lanes, so the inactive lanes keep their values.
    fn lose(&mut self, range: RegRange) {
        for reg in (0..u16::from(range.len)).map(|n| range.first.offset(n)) {
            let is_vector = reg.0 >= Reg::vgpr(0).0;
            let is_ruined =
                is_vector && (self.state.value_in(Reg::EXEC) == ALL || self.state.value_in(reg) == RUINED);
            self.put(reg, if is_ruined { RUINED } else { OTHER });
            if reg.is_vgpr() && !self.state.lanes.is_empty() {
                let lost = self.state.lanes.iter().filter(|lane| lane.0 == reg).map(|lane| lane.2);
                self.touched.extend(lost);
                self.state.lanes.retain(|lane| lane.0 != reg);
            }
        }
    }

    /// Applies an instruction to the state.
    fn step(&mut self, inst: &MachInst) {
        if inst.is_call() {
            let clobbers = self.clobbers;
            return clobbers.ranges().for_each(|range| self.lose(range));
        }
        match (inst.op, inst.ops) {
            (op::V_WRITELANE_B32 | op::V_WRITELANE_B32_VOP2, [Operand::Reg(to), from, lane, ..]) => {
                return self.write_lane(to.first, from, lane.const_u32());
            }
            (op::BUFFER_STORE_DWORD | op::SCRATCH_STORE_DWORD, _) => {
                // Only stores with a note of the allocator write the allocator's spill slots, so a value in
                // such a slot stays there. Slots of the program may also be overwritten by stores whose
                // address is not a constant offset.
                let note = inst.note.index().and_then(|note| self.notes.get(note));
                let stays = matches!(note, Some(Note::Alloc(_)));
                self.store(inst, stays);
            }
            _ => {}
        }
        let stack = self.moves_stack(inst);
        let copies = self.copies(inst);
        let target = self.target;
        inst.for_each_hw_reg(target, |role, range| {
            if role != Role::Use {
                self.lose(range);
            }
        });
        copies.into_iter().for_each(|(reg, value)| self.put(reg, value));
        self.state.stack.extend(stack);
    }

    /// Returns whether EXEC is known to contain at least the lanes that were active on entry to the function.
    fn is_entire(&self) -> bool {
        matches!(self.state.value_in(Reg::EXEC), ALL | 126)
    }

    fn write_lane(&mut self, to: Reg, from: Operand, lane: Option<u32>) {
        let Some(lane) = lane.and_then(|lane| u8::try_from(lane).ok()) else {
            self.lose(RegRange { first: to, len: 1 });
            return self.put(to, RUINED);
        };
        self.put(to, RUINED);
        let lost = self.state.lanes.iter().filter(|one| (one.0, one.1) == (to, lane)).map(|one| one.2);
        self.touched.extend(lost);
        self.state.lanes.retain(|one| (one.0, one.1) != (to, lane));
        if let Operand::Reg(from) = from
            && let value @ 0..CODES = self.state.value_in(from.first)
        {
            self.state.lanes.push((to, lane, value));
            self.touched.push(value);
        }
    }

    /// Applies a store of a register to private memory. `stays` says that no other store can overwrite this
    /// dword of the frame.
    fn store(&mut self, inst: &MachInst, stays: bool) {
        let Some((_, access)) = PrivateAccess::of_dword(inst) else { return };
        let (Operand::Reg(data), Operand::None, Operand::Reg(base)) =
            (access.data, access.vaddr, access.base)
        else {
            return;
        };
        let data = data.first;
        let Some(moved) = self.state.stack_offset(base.first) else { return };
        let at = moved / i64::from(self.target.stack_scale()) + i64::from(inst.mods.offset);
        let Ok(at) = u32::try_from(at) else { return };
        let (value, exec) = (self.state.value_in(data), self.state.value_in(Reg::EXEC));
        let lost = self.state.frame.iter().filter(|slot| slot.at == at).map(|slot| slot.value);
        self.touched.extend(lost);
        self.state.frame.retain(|slot| slot.at != at);
        // If a VGPR holds a copy of another VGPR's value, it holds the value only in the lanes that were
        // active on entry. So the stored dword is recorded only if the VGPR still holds its own value, or if
        // it holds the value of a scalar register.
        let is_own = value == data.0 || value < Reg::vgpr(0).0;
        if stays && value < CODES && is_own && self.is_entire() {
            let whole = exec == ALL && value == data.0;
            self.state.frame.push(Slot { at, value, whole });
            self.touched.push(value);
        }
    }

    /// Returns the destination of an instruction that adds a constant to a register with a known distance
    /// from the stack pointer on entry, and the distance of the destination. Returns `None` for all other
    /// instructions.
    fn moves_stack(&self, inst: &MachInst) -> Option<(Reg, i64)> {
        let sign = match inst.op {
            op::S_ADD_U32 => 1,
            op::S_SUB_U32 => -1,
            _ => return None,
        };
        let [Operand::Reg(to), Operand::Reg(from), by, ..] = inst.ops else { return None };
        let by = i64::from(by.const_u32()? as i32);
        Some((to.first, self.state.stack_offset(from.first)? + sign * by))
    }

    /// Returns the registers into which an instruction copies values that are known to be values on entry.
    /// Each register comes with what it holds afterwards.
    fn copies(&self, inst: &MachInst) -> SmallVec<[(Reg, Value); 4]> {
        let state = &self.state;
        let mut copies = SmallVec::new();
        let (to, from) = match inst.ops {
            [Operand::Reg(to), from, ..] => (to, from),
            _ => return copies,
        };
        let all = from == Operand::int(-1);
        match inst.op {
            op::S_MOV_B32 | op::S_MOV_B64 => {
                copies.extend((0..u16::from(to.len)).filter_map(|n| match from {
                    Operand::Reg(from) => Some((to.first.offset(n), state.value_in(from.first.offset(n)))),
                    _ => (all && to.first == Reg::EXEC).then_some((Reg::EXEC.offset(n), ALL)),
                }))
            }
            op::S_OR_B32 | op::S_OR_B64 if to.first == Reg::EXEC => {
                copies.extend((0..u16::from(to.len)).map(|n| (Reg::EXEC.offset(n), self.or(inst, n))));
            }
            op::V_READLANE_B32 | op::V_READLANE_B32_VOP2 => {
                let lane = inst.ops[2].const_u32();
                let found =
                    state.lanes.iter().find(|one| from == Operand::reg(one.0) && lane == Some(one.1.into()));
                copies.extend(found.map(|one| (to.first, one.2)));
            }
            op::V_MOV_B32 if self.is_entire() && inst.mods == isa::Mods::default() => {
                if let Operand::Reg(from) = from
                    && let value @ 0..256 = state.value_in(from.first)
                {
                    copies.push((to.first, value));
                }
            }
            op::V_READFIRSTLANE_B32 => {
                // The instruction reads one lane of a vector register. If the vector register holds the value
                // of a scalar register, the lane does not matter, because all lanes hold the same value.
                // Otherwise the result is the value of the first active lane.
                if let Operand::Reg(from) = from
                    && let value @ 0..CODES = state.value_in(from.first)
                    && (value < 256 || self.is_entire())
                {
                    copies.push((to.first, value));
                }
            }
            _ if saves_exec(inst) => {
                let switches_on = matches!(inst.op, op::S_OR_SAVEEXEC_B32 | op::S_OR_SAVEEXEC_B64) && all;
                for n in 0..u16::from(to.len) {
                    copies.push((to.first.offset(n), state.value_in(Reg::EXEC.offset(n))));
                    copies.extend(switches_on.then_some((Reg::EXEC.offset(n), ALL)));
                }
            }
            _ => {}
        }
        copies
    }

    /// Returns what dword number `n` of EXEC holds after an OR instruction. If one operand contains all lanes
    /// that were active on entry, so does the result.
    fn or(&self, inst: &MachInst, n: u16) -> Value {
        let of = |operand: &Operand| match operand {
            Operand::Reg(range) => self.state.value_in(range.first.offset(n)),
            _ => OTHER,
        };
        let exec = Reg::EXEC.0 + n;
        let adds =
            inst.ops[1..3].iter().any(|operand| matches!(operand, Operand::Reg(r) if r.first == Reg::EXEC));
        let values = [of(&inst.ops[1]), of(&inst.ops[2])];
        if values.contains(&ALL) {
            return ALL;
        }
        if adds && values.contains(&exec) { exec } else { OTHER }
    }
}

/// Returns whether frame tables can have a rule (a column) for a register on this processor: for a numbered
/// SGPR, EXEC, or a vector register that the processor has.
fn has_column(target: &Target, reg: Reg) -> bool {
    let range = RegRange { first: reg, len: 1 };
    reg == Reg::EXEC || target.is_sgpr(reg) || !reg.is_scalar() && range.exists(target)
}

/// Returns whether an instruction saves EXEC in its first operand and then changes EXEC, such as
/// `s_and_saveexec_b64`.
fn saves_exec(inst: &MachInst) -> bool {
    matches!(
        inst.op,
        op::S_AND_SAVEEXEC_B32
            | op::S_AND_SAVEEXEC_B64
            | op::S_ANDN1_SAVEEXEC_B32
            | op::S_ANDN1_SAVEEXEC_B64
            | op::S_OR_SAVEEXEC_B32
            | op::S_OR_SAVEEXEC_B64
    )
}
