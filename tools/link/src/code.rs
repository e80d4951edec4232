//! Analyses the code of a function: the registers that it uses, its calls, and its use of the stack.
//!
//! The stack grows upwards from `s32`. The stack pointer counts bytes. If scratch memory is swizzled
//! (distributed over the lanes), it counts bytes times the number of lanes in a wave (LLVM's AMDGPU guide:
//! seed 000, line 4089). The analysis follows the values of some scalar registers along all paths: the stack
//! pointer and its copies, addresses made by `s_getpc_b64`, and the return address. All other values count as
//! unknown.
//!
//! If a function moves `s32`, its frame is the memory between the old and the new value. The reason is that
//! clang moves `s32` by the whole frame in one step wherever a call follows or a frame pointer is needed. A
//! function that does not move `s32` may still use memory above it. If all of its accesses there have
//! constant offsets, these determine the size of the frame. If the function computes addresses there, the
//! code does not determine the size.

use crate::registers::Used;
use codeobj::elf::Relocation;
use isa::table::{Family, Flags, Kind};
use isa::{Decoder, MachInst, ModFlags, Opcode, Operand, Reg, RegRange, Role, Target, op};
use objwriter::elf::reloc;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// Number of the stack pointer.
const STACK: u16 = 32;
/// Number of the first of the two scalar registers that hold the return address.
const RETURN: u16 = 30;
/// SGPRs whose values the analysis keeps across a call. By LLVM's AMDGPU guide (seed 000, line 4151), a
/// callee preserves all SGPRs except SGPR4 to SGPR31. The range also contains the return address, SGPR30 and
/// SGPR31.
const PRESERVED: Range<u16> = 30..Reg::VCC.0;
/// Largest number of instructions that the analysis of a function visits. Every real function has fewer. The
/// limit bounds the time for damaged files.
const MOST: usize = 1 << 18;

/// What code refers to, by a relocation or by a distance from the program counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Site {
    /// Target of the relocation with this number.
    Relocation(usize),
    /// Offset in the function's own section.
    Here(u64),
}

/// Call, or jump to another function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    /// What is called. `None` if the analysis does not know where the address comes from.
    pub to: Option<Site>,
    /// Distance from the stack pointer at the beginning of the function to the stack pointer at the call.
    /// `None` if it is unknown.
    pub stack: Option<i64>,
}

/// How a function uses the stack. Distances are in units of the stack pointer: bytes, or bytes times the
/// number of lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stack {
    /// Maximum distance by which the stack pointer moves.
    pub moved: i64,
    /// Stack accesses with constant offsets. The key is the distance of the access's base register from the
    /// stack pointer on entry. The value is the number of bytes from the base to the end of the farthest
    /// access.
    pub accesses: FxHashMap<i64, u64>,
    /// Whether the function computes addresses in the memory above the stack pointer, so that it is not known
    /// how much of this memory it accesses.
    pub escapes: bool,
    /// Whether the function moves the stack pointer by an amount that is not constant.
    pub is_dynamic: bool,
}

/// Facts about the code of a function.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub used: Used,
    pub stack: Stack,
    pub calls: Vec<Call>,
    /// Offsets in the function's own section to which the code refers without a relocation.
    pub here: Vec<u64>,
    /// Whether the function may refer to any place in its section. This is so if the analysis cannot follow
    /// what the function does with a program counter that it has read.
    pub is_wild: bool,
    pub is_code: bool,
    /// Whether all code of the function could be followed.
    pub is_followed: bool,
}

/// Known value of a scalar register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Number(i64),
    /// The stack pointer on entry plus this distance.
    Stack(i64),
    /// An unknown place in the frame, such as a frame pointer after it was aligned.
    Frame,
    /// Low half of the program counter.
    PcLow(u64),
    PcHigh,
    /// Low half of an address.
    Low(Site),
    High,
    /// Value that was reloaded from a lane of a vector register.
    Restored,
    /// Half of the return address.
    Return,
}

/// Registers with known values, sorted by register.
type State = Vec<(u16, Value)>;

struct Found {
    offset: u64,
    bytes: u64,
    inst: MachInst,
}

/// Function whose code is analysed.
pub struct Function<'a> {
    pub code: &'a [u8],
    /// Range of the function in its section.
    pub extent: Range<u64>,
    /// Relocations of the section.
    pub relocations: &'a [Relocation],
    /// Indices of the relocations, sorted by offset.
    pub by_place: &'a [usize],
    pub is_kernel: bool,
    /// Whether the function's symbol has a size.
    pub is_sized: bool,
}

impl Function<'_> {
    pub fn facts(&self, target: &Target) -> Facts {
        let Some(found) = self.decode(target) else {
            let used = Used::from_code(self.code, self.extent.clone(), target);
            return Facts { used, is_wild: true, is_code: true, ..Facts::default() };
        };
        let mut facts = Facts { is_code: true, is_followed: true, ..Facts::default() };
        found.iter().for_each(|found| facts.used.add(&found.inst, target));
        let steps = found.len() * 16;
        let (leaders, calls) = Default::default();
        let mut follow = Follow { function: self, target, found: &found, leaders, calls, steps, facts };
        follow.run();
        let Follow { mut facts, calls, .. } = follow;
        facts.calls.extend(calls);
        facts.calls.sort_unstable();
        facts.here.sort_unstable();
        facts.here.dedup();
        facts
    }

    fn decode(&self, target: &Target) -> Option<Vec<Found>> {
        let range = usize::try_from(self.extent.start).ok()?..usize::try_from(self.extent.end).ok()?;
        let word = |word: &[u8]| u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        let words: Vec<u32> = self.code.get(range)?.chunks_exact(4).map(word).collect();
        let decoder = Decoder::new(target)?;
        let (mut found, mut at) = (Vec::new(), 0);
        while at < words.len() && found.len() < MOST {
            let (inst, length) = decoder.decode_tolerant(&words[at..]).ok()?;
            let length = length.max(1);
            found.push(Found { offset: self.extent.start + at as u64 * 4, bytes: length as u64 * 4, inst });
            at += length;
        }
        (at >= words.len()).then_some(found)
    }

    /// Returns the relocation that changes the field at an offset.
    fn relocation_at(&self, offset: u64) -> Option<usize> {
        let first = self.by_place.partition_point(|&n| self.relocations[n].offset < offset);
        self.by_place.get(first).copied().filter(|&n| self.relocations[n].offset == offset)
    }
}

struct Follow<'f, 'a> {
    function: &'f Function<'a>,
    target: &'f Target,
    found: &'f [Found],
    /// The state at each offset where several paths of control join. `None` until the first path has reached
    /// the offset.
    leaders: FxHashMap<usize, Option<State>>,
    calls: FxHashSet<Call>,
    /// Number of steps after which the analysis gives up. Each instruction takes a few steps.
    steps: usize,
    facts: Facts,
}

/// How control continues after an instruction.
struct Way {
    goes_on: bool,
    jump: Option<u64>,
}

impl Follow<'_, '_> {
    fn run(&mut self) {
        let labels: Vec<usize> = self.found.iter().filter_map(|found| self.index(label(found)?)).collect();
        self.leaders.extend(labels.into_iter().map(|at| (at, None)));
        let mut start = State::new();
        if !self.function.is_kernel {
            start.extend([(RETURN, Value::Return), (RETURN + 1, Value::Return), (STACK, Value::Stack(0))]);
        }
        let mut work = vec![(0, start)];
        while let Some((first, state)) = work.pop() {
            self.path(first, state, &mut work);
        }
    }

    /// Follows a path until it ends or reaches a known state.
    fn path(&mut self, first: usize, mut state: State, work: &mut Vec<(usize, State)>) {
        for at in first..self.found.len() {
            self.steps = self.steps.saturating_sub(1);
            if self.steps == 0 {
                self.facts.is_followed = false;
                return;
            }
            if let Some(known) = self.leaders.get_mut(&at) {
                // Where paths join, the state keeps only what is known on all paths. What is known at an
                // offset can therefore only become less, so the analysis ends.
                let joined = known.as_ref().map_or_else(|| state.clone(), |known| joined(known, &state));
                if known.as_ref() == Some(&joined) {
                    return;
                }
                *known = Some(joined.clone());
                state = joined;
            }
            let found = &self.found[at];
            let way = self.step(found, &mut state);
            if let Some(target) = way.jump {
                match self.index(target) {
                    Some(next) => {
                        // The target of an indirect jump has no label, so it is not yet known as an offset
                        // where paths join. It becomes one here.
                        self.leaders.entry(next).or_default();
                        work.push((next, state.clone()));
                    }
                    None => {
                        self.facts.here.push(target);
                        self.add_call(Some(Site::Here(target)), &state);
                    }
                }
            }
            if !way.goes_on {
                return;
            }
        }
        // If the symbol of the function has no size, control may continue into the next function.
        if !self.function.is_sized {
            self.facts.here.push(self.function.extent.end);
            self.add_call(Some(Site::Here(self.function.extent.end)), &state);
        }
    }

    /// Returns the index of the instruction that begins at an offset of the section. Returns `None` if no
    /// instruction begins there.
    fn index(&self, offset: u64) -> Option<usize> {
        self.found.binary_search_by_key(&offset, |found| found.offset).ok()
    }

    fn step(&mut self, found: &Found, state: &mut State) -> Way {
        let inst = &found.inst;
        if inst.op.row().flags.contains(Flags::BRANCH) {
            return self.branch(found, state);
        }
        self.look_at_stack(inst, state);
        let known = self.result(found, state);
        inst.for_each_hw_reg(self.target, |role, range| {
            if role != Role::Use {
                forget(state, range);
            }
        });
        known.into_iter().flatten().for_each(|(register, value)| set(state, register, value));
        if let Some(Value::Stack(moved)) = get(state, STACK) {
            self.facts.stack.moved = self.facts.stack.moved.max(moved);
        } else if !self.function.is_kernel && names_stack(inst) {
            self.facts.stack.is_dynamic = true;
        }
        Way { goes_on: !is_end(inst.op), jump: None }
    }

    fn branch(&mut self, found: &Found, state: &mut State) -> Way {
        let inst = &found.inst;
        match inst.op {
            op::S_SWAPPC_B64 => {
                let to = register(inst.ops[1]).and_then(|pair| address(state, pair));
                self.call(to, state, inst.ops[0])
            }
            op::S_CALL_B64 => {
                let target = label(found);
                self.facts.here.extend(target);
                self.call(target.map(Site::Here), state, inst.ops[0])
            }
            op::S_SETPC_B64 => self.jump(register(inst.ops[0]), state),
            _ => {
                let goes_on = !inst.op.row().flags.contains(Flags::NO_FALLTHROUGH);
                match self.function.relocation_at(found.offset) {
                    Some(n) => {
                        self.add_call(Some(Site::Relocation(n)), state);
                        Way { goes_on, jump: None }
                    }
                    None => Way { goes_on, jump: label(found) },
                }
            }
        }
    }

    /// Handles a call. Afterwards, only the registers that callees must preserve have known values.
    fn call(&mut self, to: Option<Site>, state: &mut State, result: Operand) -> Way {
        self.add_call(to, state);
        state.retain(|&(register, _)| PRESERVED.contains(&register));
        if let Operand::Reg(range) = result {
            forget(state, range);
        }
        Way { goes_on: true, jump: None }
    }

    fn add_call(&mut self, to: Option<Site>, state: &State) {
        let stack = match get(state, STACK) {
            Some(Value::Stack(moved)) => Some(moved),
            Some(Value::Number(number)) if self.function.is_kernel => Some(number),
            _ => None,
        };
        self.calls.insert(Call { to, stack });
    }

    /// Handles an indirect jump. It may be a return, a jump to another function, or a jump within the
    /// function to a target that is too far for a branch.
    fn jump(&mut self, pair: Option<u16>, state: &State) -> Way {
        let is_saved = |value| matches!(value, Some(Value::Return | Value::Restored));
        let is_return = pair
            .is_some_and(|low| low == RETURN || is_saved(get(state, low)) && is_saved(get(state, low + 1)));
        let to = pair.and_then(|low| address(state, low));
        let jump = match to {
            Some(Site::Here(target)) if self.function.extent.contains(&target) => Some(target),
            _ if to.is_none() && is_return => None,
            _ => {
                self.add_call(to, state);
                None
            }
        };
        Way { goes_on: false, jump }
    }

    /// Returns the result registers of an instruction with their values, as far as the values are known.
    fn result(&mut self, found: &Found, state: &State) -> [Option<(u16, Value)>; 2] {
        let inst = &found.inst;
        let Some(to) = inst.ops.first().and_then(|&operand| register(operand)) else { return [None; 2] };
        let value = |n: usize| value_of(state, inst.ops[n]);
        let one = |value: Option<Value>| [value.map(|value| (to, value)), None];
        match inst.op {
            op::S_MOV_B32 => one(value(1).filter(|value| to == STACK || !matches!(value, Value::Number(_)))),
            op::S_MOVK_I32 if to == STACK => one(number(inst.ops[1]).map(Value::Number)),
            op::S_MOV_B64 => {
                let half = |n: u16| Some((to + n, get(state, register(inst.ops[1])? + n)?));
                [half(0), half(1)]
            }
            op::S_GETPC_B64 => {
                [Some((to, Value::PcLow(found.offset + found.bytes))), Some((to + 1, Value::PcHigh))]
            }
            op::S_ADDK_I32 => one(sum(get(state, to), number(inst.ops[1]).map(Value::Number), 1)),
            op::S_ADD_U32 if matches!(value(1), Some(Value::PcLow(_))) => one(self.site(found, value(1))),
            op::S_ADDC_U32 if value(1) == Some(Value::PcHigh) && adds_distance(inst) => {
                one(Some(Value::High))
            }
            op::S_ADD_I32 | op::S_ADD_U32 => one(sum(value(1), value(2), 1)),
            op::S_SUB_I32 | op::S_SUB_U32 => one(sum(value(1), value(2), -1)),
            op::S_AND_B32 => one(in_frame(value(1)).or(in_frame(value(2))).map(|_| Value::Frame)),
            // A load of an address from the global offset table. The relocation of the load names the symbol
            // that has this address.
            op::S_LOAD_DWORDX2 => match register(inst.ops[1]).and_then(|pair| address(state, pair)) {
                Some(Site::Relocation(n)) if is_table(self.function.relocations[n].kind) => {
                    [Some((to, Value::Low(Site::Relocation(n)))), Some((to + 1, Value::High))]
                }
                _ => [None; 2],
            },
            _ if inst.op.row().name == "v_readlane_b32" => one(Some(Value::Restored)),
            _ => [None; 2],
        }
    }

    /// Returns what the low half of an address refers to, if the instruction computes this half from a
    /// program counter. It refers to a relocation's symbol, or to a place in this section.
    fn site(&mut self, found: &Found, pc: Option<Value>) -> Option<Value> {
        let distance = found.inst.ops[2].const_u32()?;
        let literal =
            matches!(found.inst.ops[2], Operand::Literal(_)).then(|| found.offset + found.bytes - 4);
        if let Some(n) = literal.and_then(|literal| self.function.relocation_at(literal)) {
            return Some(Value::Low(Site::Relocation(n)));
        }
        let Some(Value::PcLow(pc)) = pc else { return None };
        let target = pc.wrapping_add_signed(i64::from(distance as i32));
        self.facts.here.push(target);
        Some(Value::Low(Site::Here(target)))
    }

    /// Looks for uses of the stack pointer or of a program counter that the analysis cannot follow, and
    /// records them.
    fn look_at_stack(&mut self, inst: &MachInst, state: &State) {
        let access = access(inst);
        for (n, &operand) in inst.operands().iter().enumerate() {
            let Operand::Reg(RegRange { first, len }) = operand else { continue };
            if !first.is_scalar() || inst.role(n) == Role::Def {
                continue;
            }
            for register in first.number()..first.number() + u16::from(len) {
                match get(state, register) {
                    Some(Value::Stack(_)) if keeps_stack(inst.op) => {}
                    Some(Value::Stack(moved)) => match access {
                        Some((place, end)) if place == n => self.access(moved, end),
                        _ => self.facts.stack.escapes = true,
                    },
                    // A kernel sets the stack pointer to a constant, and stores the stack arguments of its
                    // calls relative to this constant.
                    Some(Value::Number(moved)) if self.function.is_kernel && register == STACK => {
                        if let Some((_, end)) = access.filter(|&(place, _)| place == n) {
                            self.access(moved, end);
                        }
                    }
                    Some(Value::Frame) if !keeps_stack(inst.op) => self.facts.stack.escapes = true,
                    Some(Value::PcLow(_) | Value::PcHigh) if !adds_distance(inst) => {
                        self.facts.is_wild = true
                    }
                    _ => {}
                }
            }
        }
    }

    fn access(&mut self, moved: i64, end: u64) {
        let known = self.facts.stack.accesses.entry(moved).or_default();
        *known = end.max(*known);
    }
}

fn joined(a: &State, b: &State) -> State {
    a.iter().filter(|entry| b.contains(entry)).copied().collect()
}

fn get(state: &State, register: u16) -> Option<Value> {
    state.iter().find(|entry| entry.0 == register).map(|entry| entry.1)
}

fn set(state: &mut State, register: u16, value: Value) {
    state.retain(|entry| entry.0 != register);
    state.push((register, value));
}

fn forget(state: &mut State, range: RegRange) {
    if range.first.is_scalar() {
        let first = range.first.number();
        state.retain(|entry| !(first..first + u16::from(range.len)).contains(&entry.0));
    }
}

/// Returns the number of a scalar register operand. For a group of registers, this is the number of the first
/// one. Returns `None` for other operands.
fn register(operand: Operand) -> Option<u16> {
    match operand {
        Operand::Reg(RegRange { first, .. }) if first.is_scalar() => Some(first.number()),
        _ => None,
    }
}

fn number(operand: Operand) -> Option<i64> {
    match operand {
        Operand::Imm(number) => Some(i64::from(number as i16)),
        operand => operand.const_u32().map(|bits| i64::from(bits as i32)),
    }
}

fn value_of(state: &State, operand: Operand) -> Option<Value> {
    match register(operand) {
        Some(register) => get(state, register),
        None => number(operand).map(Value::Number),
    }
}

/// Returns the address in a pair of registers.
fn address(state: &State, low: u16) -> Option<Site> {
    match (get(state, low), get(state, low + 1)) {
        (Some(Value::Low(site)), Some(Value::High)) => Some(site),
        _ => None,
    }
}

fn sum(a: Option<Value>, b: Option<Value>, sign: i64) -> Option<Value> {
    let most = |number: i64| (number.unsigned_abs() <= u32::MAX.into()).then_some(number);
    Some(match (a?, b?) {
        (Value::Stack(moved), Value::Number(number)) => Value::Stack(most(moved + sign * number)?),
        (Value::Number(number), Value::Stack(moved)) if sign > 0 => Value::Stack(most(moved + number)?),
        (Value::Number(a), Value::Number(b)) => Value::Number(most(a + sign * b)?),
        (Value::Frame, Value::Number(_)) => Value::Frame,
        _ => return None,
    })
}

fn in_frame(value: Option<Value>) -> Option<Value> {
    value.filter(|value| matches!(value, Value::Stack(_) | Value::Frame))
}

/// Returns the stack access of an instruction whose address is a base register plus a constant: the index of
/// the base operand, and the offset from the base at which the access ends. Returns `None` for any other
/// instruction.
fn access(inst: &MachInst) -> Option<(usize, u64)> {
    let row = inst.op.row();
    let is_constant = |n: usize| inst.operands().get(n).is_none_or(|operand| *operand == Operand::None);
    let has_index = inst.mods.flags.intersects(ModFlags::OFFEN | ModFlags::IDXEN | ModFlags::ADDR64);
    let (base, data) = match row.family {
        Family::Mubuf if !has_index && row.ops.len() == 4 => (3, 0),
        Family::Flat if row.name.starts_with("scratch_load") && is_constant(1) => (2, 0),
        Family::Flat if row.name.starts_with("scratch_store") && is_constant(0) => (2, 1),
        _ => return None,
    };
    let bytes = row.ops.get(data).map_or(0, |spec| u64::from(spec.width) * 4);
    Some((base, u64::try_from(inst.mods.offset).unwrap_or(0) + bytes))
}

/// Returns whether the analysis can follow the result of an operation on the stack pointer, such as adding a
/// constant.
fn keeps_stack(op: Opcode) -> bool {
    matches!(
        op,
        op::S_MOV_B32
            | op::S_MOV_B64
            | op::S_ADD_I32
            | op::S_ADD_U32
            | op::S_ADDK_I32
            | op::S_SUB_I32
            | op::S_SUB_U32
            | op::S_AND_B32
    )
}

fn adds_distance(inst: &MachInst) -> bool {
    matches!(inst.op, op::S_ADD_U32 | op::S_ADDC_U32) && inst.ops[2].const_u32().is_some()
}

/// Returns whether the instruction writes the stack pointer.
fn names_stack(inst: &MachInst) -> bool {
    let mut names = false;
    inst.for_each_reg(|role, operand| {
        if let (Role::Def | Role::DefUse, Operand::Reg(RegRange { first, len })) = (role, operand) {
            let first_number = first.number();
            names |= first.is_scalar() && (first_number..first_number + u16::from(len)).contains(&STACK);
        }
    });
    names
}

fn is_end(op: Opcode) -> bool {
    op.row().name.starts_with("s_endpgm")
}

fn is_table(kind: u32) -> bool {
    matches!(kind, reloc::GOTPCREL | reloc::GOTPCREL32_LO | reloc::GOTPCREL32_HI)
}

/// Returns the target of a branch.
fn label(found: &Found) -> Option<u64> {
    let row = found.inst.op.row();
    let place = row.ops.iter().position(|spec| spec.kind == Kind::Label)?;
    match found.inst.operands().get(place) {
        Some(Operand::Imm(distance)) => {
            Some((found.offset + found.bytes).wrapping_add_signed(i64::from(*distance) * 4))
        }
        _ => None,
    }
}
