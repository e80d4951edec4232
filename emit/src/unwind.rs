//! Call frame information: where, at each instruction of a function, its caller's registers are.
//!
//! Nothing notes this while code is made: it is found in the final code, by a walk that knows of each place (a scalar register, a vector
//! register, a lane of one, a dword of the frame) whose value on entry it holds. So what is said is what the code does, whatever passes have
//! put in between, and code costs nothing to compile that is not asked about.
//!
//! # What it rests on
//! * What is kept is stored by the allocator, as its notes say, at the stack pointer and a constant; what the program stores to private memory is elsewhere.
//! * EXEC holds a part of the lanes that were active on entry, but where all lanes were switched on for registers that are kept whole.
//! * A value that was stored stays where it is until the function ends. A register that is loaded again counts as such when nothing is under way any
//!   more: at the return. One that gets its value from another register does so at once.
//! * A call changes what the function's calls change together; the stack pointer and EXEC it keeps.
//!
//! # Time
//! Linear in the instructions, times how deep loops are in each other: places only lose what they hold.

use isa::table::Role;
use isa::{
    FuncRole, MBlock, MachFunc, MachInst, Note, Operand, Reg, RegRange, RegSet, Subtarget, Target, op,
};
use objwriter::elf;
use objwriter::frames::{Dword, FrameTable, Kind, Rule};
use smallvec::SmallVec;

/// Codes of registers that are looked at: scalar ones, VGPRs, accumulation VGPRs.
const CODES: u16 = 768;
/// The stack pointer (seed 000, line 4113).
const STACK_POINTER: Reg = Reg::sgpr(32);
const RETURN: RegRange = RegRange { first: Reg::sgpr(30), len: 2 };
/// Scalar registers that DWARF has numbers for on some processor.
const NUMBERED: u16 = 106;

/// The register whose value on entry a place holds, by its code.
type Value = u16;
/// It holds something else.
const OTHER: Value = u16::MAX;
/// EXEC: all lanes.
const ALL: Value = u16::MAX - 1;
/// A vector register: it holds something else also in lanes that were not active on entry.
const RUINED: Value = u16::MAX - 2;

/// Where a function's code is in a section.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    /// The section.
    pub text: elf::Target,
    /// Its first byte, and the one behind the last.
    pub bytes: (u64, u64),
}

/// Adds what there is to say of a function.
#[inline(never)]
pub(crate) fn describe(func: &MachFunc, target: &Subtarget, span: Span, table: &mut FrameTable) {
    let lanes = target.wave_size;
    if func.role == FuncRole::Kernel {
        table.begin(span.text, span.bytes, Kind::Kernel, lanes);
        return table.end();
    }
    let mut walk = Walk::new(func, target);
    let states = walk.states(func);
    table.begin(span.text, span.bytes, Kind::Function, lanes);
    let mut told = Told { rules: [Rule::Same; CODES as usize], back: None, moved: 0 };
    told.back = Some([0, 1].map(|n| Dword::Register(RETURN.first.offset(n))));
    let mut at = span.bytes.0;
    for (block, state) in func.blocks.values().zip(&states) {
        if let Some(state) = state {
            walk.state.clone_from(state);
            walk.touched.clear();
            walk.touched.extend(0..CODES);
            told.tell(&mut walk, at, table);
        }
        for inst in &block.insts {
            let start = at;
            at += 4 * isa::size_in_words(target, inst) as u64;
            walk.step(inst);
            // A caller is looked at while its call is under way, by the call's own row.
            let from = if inst.is_call() { start } else { at };
            if from < span.bytes.1 {
                told.tell(&mut walk, from, table);
            }
        }
    }
    table.end();
}

/// What registers hold of what they held when the function was entered, on the way through its code.
pub struct Entered<'a> {
    walk: Walk<'a>,
    states: Vec<Option<Box<State>>>,
}

impl<'a> Entered<'a> {
    /// Of the final code of a function; in front of its first instruction.
    pub fn new(func: &'a MachFunc, target: &'a Subtarget) -> Entered<'a> {
        let mut walk = Walk::new(func, target);
        let states = walk.states(func);
        Entered { walk, states }
    }

    /// A block begins.
    pub fn begin(&mut self, block: MBlock) {
        match self.states.get(block.as_u32() as usize) {
            Some(Some(state)) => self.walk.state.clone_from(state),
            // Control does not get there.
            _ => self.walk.state = State::new(),
        }
    }

    /// An instruction is executed.
    pub fn step(&mut self, inst: &MachInst) {
        self.walk.step(inst);
        self.walk.touched.clear();
    }

    /// The register whose value on entry a register holds: a vector register does in the lanes that were active then. A scalar register may
    /// hold what the first of those had in a vector register.
    pub fn value(&self, reg: Reg) -> Option<Reg> {
        Some(self.walk.state.of(reg)).filter(|&value| value < CODES).map(Reg)
    }
}

/// What has been said last.
struct Told {
    rules: [Rule; CODES as usize],
    back: Option<[Dword; 2]>,
    moved: i64,
}

impl Told {
    /// Says what has changed of what was touched.
    fn tell(&mut self, walk: &mut Walk<'_>, at: u64, table: &mut FrameTable) {
        table.at(at);
        let mut touched = std::mem::take(&mut walk.touched);
        for value in touched.drain(..) {
            if RETURN.covers(RegRange { first: Reg(value), len: 1 }) {
                let back = walk.state.pair(RETURN.first.0);
                if std::mem::replace(&mut self.back, back) != back {
                    table.return_address(back);
                }
                continue;
            }
            // What it was is known by where the frame is.
            if value == STACK_POINTER.0 {
                continue;
            }
            // Both halves of EXEC are one column.
            let value = if value == Reg::EXEC.0 + 1 { Reg::EXEC.0 } else { value };
            if !has_column(walk.target, Reg(value)) {
                continue;
            }
            let rule = &mut self.rules[usize::from(value)];
            let new = walk.rule(value);
            // What is lost may be there still on another way; that it is not needed shows in that nobody kept it.
            let is_lost = matches!((*rule, new), (Rule::Undefined, _) | (Rule::Others, Rule::Same));
            if is_lost && value != Reg::EXEC.0 {
                continue;
            }
            if std::mem::replace(rule, new) != new {
                table.rule(Reg(value), new);
            }
        }
        walk.touched = touched;
        if let Some(moved) = walk.state.moved(STACK_POINTER)
            && moved != self.moved
        {
            self.moved = moved;
            table.moved(moved);
        }
    }
}

/// What places hold.
#[derive(Clone)]
struct State {
    /// By code. A VGPR that holds a scalar register's value does in the lanes that were active on entry. A scalar register that holds a VGPR's has
    /// what the first of those did.
    holds: [Value; CODES as usize],
    lanes: SmallVec<[(Reg, u8, Value); 8]>,
    frame: SmallVec<[Slot; 16]>,
    /// Registers that hold what the stack pointer did, and so many bytes of the wave.
    stack: SmallVec<[(Reg, i64); 2]>,
}

/// A dword of the frame.
#[derive(Clone, Copy, PartialEq)]
struct Slot {
    at: u32,
    value: Value,
    /// In all lanes, not only those that were active on entry.
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

    /// Keeps what the other has as well. Whether that is less.
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

    fn of(&self, reg: Reg) -> Value {
        self.holds.get(usize::from(reg.0)).copied().unwrap_or(OTHER)
    }

    /// By how much a register is off what the stack pointer was.
    fn moved(&self, reg: Reg) -> Option<i64> {
        self.stack.iter().find(|entry| entry.0 == reg).map(|entry| entry.1)
    }

    /// Where a dword of the caller's is: best where it stays.
    fn dword(&self, value: Value) -> Option<Dword> {
        if self.of(Reg(value)) == value {
            return Some(Dword::Register(Reg(value)));
        }
        let slot = self.frame.iter().find(|slot| slot.value == value && !slot.whole);
        let lane = || self.lanes.iter().find(|lane| lane.2 == value);
        let register = || (0..NUMBERED).find(|&code| self.holds[usize::from(code)] == value);
        slot.map(|slot| Dword::Frame(slot.at))
            .or_else(|| lane().map(|&(reg, lane, _)| Dword::Lane(reg, lane)))
            .or_else(|| register().map(|code| Dword::Register(Reg(code))))
    }

    /// Two dwords.
    fn pair(&self, low: Value) -> Option<[Dword; 2]> {
        Some([self.dword(low)?, self.dword(low + 1)?])
    }
}

struct Walk<'a> {
    target: &'a Subtarget,
    notes: &'a [Note],
    state: State,
    /// What calls change.
    clobbers: RegSet,
    /// Values of which a place may have changed.
    touched: Vec<Value>,
}

impl<'a> Walk<'a> {
    fn new(func: &'a MachFunc, target: &'a Subtarget) -> Walk<'a> {
        let mut clobbers = RegSet::EMPTY;
        func.calls.iter().for_each(|call| clobbers.union(&call.clobbers));
        clobbers.insert(RETURN);
        Walk { target, notes: &func.notes, state: State::new(), clobbers, touched: Vec::new() }
    }

    /// What holds where each block begins, if control gets there.
    fn states(&mut self, func: &MachFunc) -> Vec<Option<Box<State>>> {
        let mut states: Vec<Option<Box<State>>> = vec![None; func.blocks.len()];
        let mut waiting = vec![false; func.blocks.len()];
        if let (Some(entry), Some(waits)) = (states.first_mut(), waiting.first_mut()) {
            (*entry, *waits) = (Some(Box::new(State::new())), true);
        }
        while waiting.contains(&true) {
            for (id, block) in &func.blocks {
                let number = id.as_u32() as usize;
                let state = states[number].as_deref().filter(|_| waiting[number]);
                let Some(state) = state else { continue };
                waiting[number] = false;
                self.state.clone_from(state);
                for inst in &block.insts {
                    self.step(inst);
                    self.touched.clear();
                }
                for edge in block.linear.iter().flatten() {
                    waiting[edge.to.as_u32() as usize] |= self.reach(edge.to, &mut states);
                }
            }
        }
        states
    }

    /// Control goes on at a block. Whether less is known there than before.
    fn reach(&self, to: MBlock, states: &mut [Option<Box<State>>]) -> bool {
        match &mut states[to.as_u32() as usize] {
            Some(state) => state.meet(&self.state),
            state => {
                *state = Some(Box::new(self.state.clone()));
                true
            }
        }
    }

    /// Where the caller's value of a register is.
    fn rule(&self, value: Value) -> Rule {
        let state = &self.state;
        if value == Reg::EXEC.0 && self.target.mask_dwords() == 2 {
            return match state.pair(value) {
                Some([Dword::Register(Reg::EXEC), Dword::Register(_)]) => Rule::Same,
                Some(parts) => Rule::Two(parts),
                None => Rule::Undefined,
            };
        }
        if state.of(Reg(value)) == value {
            return Rule::Same;
        }
        if value >= Reg::vgpr(0).0 {
            let slot = state.frame.iter().find(|slot| slot.value == value);
            return match (slot, state.of(Reg(value)) == RUINED) {
                (Some(slot), _) if slot.whole => Rule::Whole(slot.at),
                (_, true) => Rule::Undefined,
                (Some(slot), _) => Rule::Masked(slot.at),
                (None, _) => Rule::Others,
            };
        }
        state.dword(value).map_or(Rule::Undefined, Rule::One)
    }

    /// A place that may have held a value does so no more, or holds another.
    fn put(&mut self, reg: Reg, value: Value) {
        let Some(holds) = self.state.holds.get_mut(usize::from(reg.0)) else { return };
        let old = std::mem::replace(holds, value);
        self.touched.extend([old, value].into_iter().filter(|&value| value < CODES));
        self.state.stack.retain(|entry| entry.0 != reg);
    }

    /// A register is written, a vector register in active lanes.
    fn lose(&mut self, range: RegRange) {
        for reg in (0..u16::from(range.len)).map(|n| range.first.offset(n)) {
            let is_vector = reg.0 >= Reg::vgpr(0).0;
            let is_ruined = is_vector && (self.state.of(Reg::EXEC) == ALL || self.state.of(reg) == RUINED);
            self.put(reg, if is_ruined { RUINED } else { OTHER });
            if reg.is_vgpr() && !self.state.lanes.is_empty() {
                let lost = self.state.lanes.iter().filter(|lane| lane.0 == reg).map(|lane| lane.2);
                self.touched.extend(lost);
                self.state.lanes.retain(|lane| lane.0 != reg);
            }
        }
    }

    /// An instruction is executed.
    fn step(&mut self, inst: &MachInst) {
        if inst.is_call() {
            let clobbers = self.clobbers;
            return clobbers.ranges().for_each(|range| self.lose(range));
        }
        match (inst.op, inst.ops) {
            (op::V_WRITELANE_B32 | op::V_WRITELANE_B32_VOP2, [Operand::Reg(to), from, lane, ..]) => {
                return self.write_lane(to.first, from, lane.const_u32());
            }
            (op::BUFFER_STORE_DWORD, [Operand::Reg(data), Operand::None, _, Operand::Reg(base), ..]) => {
                // The allocator's copies stay; what the program stores, it may overwrite in ways that no constant shows.
                let note = inst.note.index().and_then(|note| self.notes.get(note));
                let stays = matches!(note, Some(Note::Alloc(_)));
                self.store((data.first, base.first), inst.mods.offset, stays);
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

    /// Whether EXEC has at least the lanes that were active on entry.
    fn is_entire(&self) -> bool {
        matches!(self.state.of(Reg::EXEC), ALL | 126)
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
            && let value @ 0..CODES = self.state.of(from.first)
        {
            self.state.lanes.push((to, lane, value));
            self.touched.push(value);
        }
    }

    /// A dword goes to memory, to what a register and a constant say.
    fn store(&mut self, (data, base): (Reg, Reg), offset: i32, stays: bool) {
        let Some(moved) = self.state.moved(base) else { return };
        let at = moved / i64::from(self.target.wave_size) + i64::from(offset);
        let Ok(at) = u32::try_from(at) else { return };
        let (value, exec) = (self.state.of(data), self.state.of(Reg::EXEC));
        let lost = self.state.frame.iter().filter(|slot| slot.at == at).map(|slot| slot.value);
        self.touched.extend(lost);
        self.state.frame.retain(|slot| slot.at != at);
        // All lanes have their own of a vector register only if it is one on entry.
        let is_own = value == data.0 || value < Reg::vgpr(0).0;
        if stays && value < CODES && is_own && self.is_entire() {
            let whole = exec == ALL && value == data.0;
            self.state.frame.push(Slot { at, value, whole });
            self.touched.push(value);
        }
    }

    /// A register to which a constant is added, if that is off the stack pointer.
    fn moves_stack(&self, inst: &MachInst) -> Option<(Reg, i64)> {
        let sign = match inst.op {
            op::S_ADD_U32 => 1,
            op::S_SUB_U32 => -1,
            _ => return None,
        };
        let [Operand::Reg(to), Operand::Reg(from), by, ..] = inst.ops else { return None };
        let by = i64::from(by.const_u32()? as i32);
        Some((to.first, self.state.moved(from.first)? + sign * by))
    }

    /// Registers that hold something known when the instruction has been executed.
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
                    Operand::Reg(from) => Some((to.first.offset(n), state.of(from.first.offset(n)))),
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
                    && let value @ 0..256 = state.of(from.first)
                {
                    copies.push((to.first, value));
                }
            }
            op::V_READFIRSTLANE_B32 => {
                // Of a scalar register's value any lane has it; of a vector register's it is the first one's.
                if let Operand::Reg(from) = from
                    && let value @ 0..CODES = state.of(from.first)
                    && (value < 256 || self.is_entire())
                {
                    copies.push((to.first, value));
                }
            }
            _ if saves_exec(inst) => {
                let switches_on = matches!(inst.op, op::S_OR_SAVEEXEC_B32 | op::S_OR_SAVEEXEC_B64) && all;
                for n in 0..u16::from(to.len) {
                    copies.push((to.first.offset(n), state.of(Reg::EXEC.offset(n))));
                    copies.extend(switches_on.then_some((Reg::EXEC.offset(n), ALL)));
                }
            }
            _ => {}
        }
        copies
    }

    /// A dword of EXEC with more lanes: with all that were active on entry, it is those.
    fn or(&self, inst: &MachInst, n: u16) -> Value {
        let of = |operand: &Operand| match operand {
            Operand::Reg(range) => self.state.of(range.first.offset(n)),
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

/// Whether the processor has a register that tables of frames have a column for: an SGPR with a number, EXEC, a vector register.
fn has_column(target: &Target, reg: Reg) -> bool {
    let range = RegRange { first: reg, len: 1 };
    reg == Reg::EXEC || target.is_sgpr(reg) || !reg.is_scalar() && range.exists(target)
}

/// Whether an instruction keeps EXEC in its first operand, and changes it.
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
