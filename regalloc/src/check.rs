//! Proves that an allocation is correct, by symbolic execution of the final code in parallel with the
//! original code.
//!
//! The checker shares the instruction table with the allocator, but none of its logic. Every place (a
//! register, a lane of a VGPR that holds spilled SGPRs, a scratch slot) holds a set of *values*: virtual
//! registers of the original function, or the contents of a hardware register that the original code refers
//! to by name. Where two edges meet, a place holds the values that it holds on both edges: the join is the
//! intersection of the sets. A value in `undef` (from `UNDEF`) counts as being in every place.
//!
//! * An original instruction reads registers: each dword that it reads must be in the register that the final
//!   instruction names.
//! * It writes value `v` to register `r`: `v` is removed from all other places, and `r` holds `{v}`.
//! * An original `COPY d, s`: every place that holds `s` also holds `d`. An edge assigns its parameters in
//!   the same way, all of them in parallel.
//! * An inserted move, swap, lane access or scratch access moves sets between places.
//! * Registers that always hold the same contents (see `facts`) are a single value, which the final code may
//!   compute anywhere: by an inserted move of the constant, load of the argument, or sum of program counter
//!   and distance. The final code may omit the original instruction (`rewrite::is_dropped`).
//! * Any other inserted instruction is an error.
//!
//! SGPRs and lanes flow along linear edges, VGPRs and scratch slots along logical edges. The checker requires
//! that the blocks are still the blocks of the original function, so it runs before clean-up.

mod facts;
mod insertions;
mod live;

use self::facts::Facts;
use self::live::Live;
use crate::constrain;
use crate::rewrite;
use crate::stream::{SGPR, VGPR, class_index, edges, even_vgprs, params, tuple_align};
use callconv::Convention;
use cranelift_entity::EntityRef;
use isa::table::Role;
use isa::{MBlock, MachInst, Operand, Reg, RegRange, RegSet, Subtarget, op};
use mir::{CALL_PINS, Edge, MachFunc, Note, TAIL_TARGET};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::fmt;

/// An error that the checker found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckError {
    /// Block of the final function that contains the error.
    pub block: MBlock,
    /// Index of the instruction.
    pub index: usize,
    /// Description of the error.
    pub problem: Problem,
}

/// Description of an error; see [`CheckError`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Problem {
    /// The register does not hold the value that the operand requires.
    Missing { value: Value, reg: Reg },
    /// The final code differs from the original code in other ways than by inserted instructions.
    Different,
    /// An instruction was inserted that is not one of those that an allocator may insert (copies, stores,
    /// reloads and the like).
    Inserted,
    /// A tuple is misaligned or extends beyond the register file.
    Register { reg: Reg, len: u8 },
    /// A memory instruction that the hardware may execute again (replay, XNACK) overwrites a register that it
    /// reads.
    OverwrittenSource { reg: Reg },
    /// A VGPR whose lanes hold spilled SGPRs is also used for something else.
    SharedLanes { reg: Reg },
}

/// A dword that the original program computes or refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Value {
    /// A virtual register.
    Virtual(u32),
    /// Contents of a hardware register that the original code names. An original instruction wrote them, or
    /// the hardware before the first instruction.
    Hardware(u16),
    /// Contents that the hardware put into a register before the first instruction.
    Input(u16),
    /// Contents that registers of the original function always have, such as a constant. This is called a
    /// fact, and the number is its index in the module `facts`.
    Fact(u32),
    /// The sum of the wave's scratch offset and this number of bytes.
    ScratchBase(u32),
    /// `Counter` is one half of the program counter that the last inserted `s_getpc_b64` read. `Carry` is the
    /// carry of the addition to the low half.
    Counter(u8),
    Carry,
}

/// A place that can hold values: a register, a lane with a spilled SGPR, or a scratch slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    Reg(u16),
    Lane(u16, u32),
    Slot(u32),
}

impl Place {
    fn class(self) -> usize {
        match self {
            Place::Reg(code) if code >= 256 => VGPR,
            Place::Slot(_) => VGPR,
            _ => SGPR,
        }
    }
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} instruction {}: ", self.block, self.index)?;
        match &self.problem {
            Problem::Missing { value: Value::Virtual(v), reg } => write!(f, "{reg:?} does not hold %{v}"),
            Problem::Missing { value: Value::Hardware(code), reg } => {
                write!(f, "{reg:?} does not hold what was put into register {code}")
            }
            Problem::Missing { value: Value::Input(code), reg } => {
                write!(f, "{reg:?} does not hold what register {code} began with")
            }
            Problem::Missing { value: Value::Fact(_), reg } => write!(f, "{reg:?} is not what it always is"),
            Problem::Missing { value: Value::ScratchBase(_), reg } => {
                write!(f, "{reg:?} is no scratch offset")
            }
            Problem::Missing { value: Value::Counter(_) | Value::Carry, reg } => {
                write!(f, "{reg:?} is no part of an address")
            }
            Problem::Different => f.write_str("differs from the original instruction"),
            Problem::Inserted => f.write_str("an allocator does not insert this"),
            Problem::Register { reg, len } => write!(f, "{len} registers cannot begin at {reg:?}"),
            Problem::OverwrittenSource { reg } => {
                write!(f, "{reg:?} is overwritten, and may be read again (XNACK)")
            }
            Problem::SharedLanes { reg } => write!(f, "{reg:?} holds spilled SGPRs and something else"),
        }
    }
}

type Values = SmallVec<[Value; 2]>;

/// For each place, the set of values that it holds at one program point.
#[derive(Clone, Default, PartialEq)]
struct State {
    places: FxHashMap<Place, Values>,
    undef: FxHashSet<Value>,
}

/// Checks that each operand of a call is in the hardware register that the calling convention prescribes for
/// it (`pins`).
fn placed(inst: &MachInst, pins: &[Reg]) -> Result<(), Problem> {
    inst.operands().iter().zip(pins).try_for_each(|(&operand, &pin)| placed_at(operand, pin))
}

fn placed_at(operand: Operand, pin: Reg) -> Result<(), Problem> {
    match operand {
        Operand::Reg(RegRange { first, len }) if first != pin => Err(Problem::Register { reg: first, len }),
        _ => Ok(()),
    }
}

impl State {
    /// Records that registers are overwritten with unknown contents.
    fn lose(&mut self, registers: &RegSet) {
        self.places.retain(|place, _| match *place {
            Place::Reg(code) | Place::Lane(code, _) => !registers.contains(Reg(code)),
            Place::Slot(_) => true,
        });
    }

    fn holds(&self, reg: Reg, value: Value) -> bool {
        self.undef.contains(&value) || self.places.get(&Place::Reg(reg.0)).is_some_and(|v| v.contains(&value))
    }

    fn set(&mut self, place: Place, values: Values) {
        if values.is_empty() {
            self.places.remove(&place);
        } else {
            self.places.insert(place, values);
        }
    }

    /// Removes a value from all places, because an instruction defines the value anew and the places hold the
    /// old version. Visits every place, so it is called only for values that can have an older version
    /// ([`Facts::is_new`]).
    fn forget(&mut self, value: Value) {
        self.undef.remove(&value);
        self.places.retain(|_, values| {
            values.retain(|v| *v != value);
            !values.is_empty()
        });
    }

    fn define(&mut self, reg: Reg, value: Value, facts: &Facts) {
        if !facts.is_new(value) {
            self.forget(value);
        }
        self.set(Place::Reg(reg.0), SmallVec::from_slice(&[value]));
    }

    fn get(&self, place: Place) -> Values {
        self.places.get(&place).cloned().unwrap_or_default()
    }

    /// Executes copies of the original code that happen in parallel: every place that holds a source then
    /// also holds the destination of the copy.
    fn assign(&mut self, pairs: &[(Value, Value)]) {
        if pairs.is_empty() {
            return;
        }
        let mut written: SmallVec<[Value; 16]> = pairs.iter().map(|&(dst, _)| dst).collect();
        let mut by_source: SmallVec<[(Value, Value); 16]> =
            pairs.iter().map(|&(dst, src)| (src, dst)).collect();
        written.sort_unstable();
        by_source.sort_unstable();
        let renamed = |values: &[Value]| -> Values {
            let mut out: Values =
                values.iter().copied().filter(|value| written.binary_search(value).is_err()).collect();
            for value in values {
                let from = by_source.partition_point(|(src, _)| src < value);
                let same = by_source[from..].iter().take_while(|(src, _)| src == value);
                out.extend(same.map(|&(_, dst)| dst));
            }
            out
        };
        for values in self.places.values_mut() {
            *values = renamed(values);
        }
        self.places.retain(|_, values| !values.is_empty());
        let undef: Vec<Value> = self.undef.iter().copied().collect();
        self.undef = renamed(&undef).into_iter().collect();
    }

    /// Joins another state into this state. Returns whether this state changed.
    fn join(&mut self, other: &State) -> bool {
        let before = self.clone();
        let places: Vec<Place> = self.places.keys().chain(other.places.keys()).copied().collect();
        for place in places {
            let (a, b) = (before.get(place), other.get(place));
            let both = |v: &&Value| {
                (a.contains(v) || before.undef.contains(v)) && (b.contains(v) || other.undef.contains(v))
            };
            let mut met: Values = a.iter().chain(&b).filter(both).copied().collect();
            met.sort_unstable();
            met.dedup();
            self.set(place, met);
        }
        self.undef.retain(|v| other.undef.contains(v));
        *self != before
    }

    /// Returns the part of the state that flows along the control-flow graph of a class. For SGPRs, this
    /// includes the lanes with spilled SGPRs. For VGPRs, it includes the spill slots. Drops values for which
    /// `needed` is false.
    fn part(&self, class: usize, needed: impl Fn(Value) -> bool) -> State {
        State {
            places: self
                .places
                .iter()
                .filter(|(place, _)| place.class() == class)
                .map(|(place, values)| {
                    let mut values: Values = values.iter().copied().filter(|v| needed(*v)).collect();
                    values.sort_unstable();
                    (*place, values)
                })
                .filter(|(_, values)| !values.is_empty())
                .collect(),
            undef: self.undef.iter().copied().filter(|v| needed(*v)).collect(),
        }
    }
}

/// `COPY` instructions of the original function that the walk has passed but that the final code has not
/// executed yet. The final code must execute such a `COPY` before the next original instruction, or not at
/// all.
#[derive(Default)]
struct Pending {
    /// Constants, with the values to which they are copied.
    constants: Vec<(Operand, Value)>,
    /// `COPY` instructions from an SGPR to a VGPR: the value in the VGPR, and the value in the SGPR.
    from_sgprs: Vec<(Value, Value)>,
    /// `COPY` instructions whose source always has the same contents (a fact): the destination, and the fact.
    /// In place of the copy, the final code may compute the contents again, but only at this program point.
    facts: Vec<(Value, Value)>,
}

impl Pending {
    fn clear(&mut self) {
        self.constants.clear();
        self.from_sgprs.clear();
        self.facts.clear();
    }

    /// Records `COPY` instructions of the original code as pending. Their sources and destinations are
    /// registers of the same class. A source may be the destination of another pending `COPY`.
    fn copy(&mut self, pairs: &[(Value, Value)]) {
        for &(dst, src) in pairs {
            if matches!(src, Value::Fact(_)) {
                self.facts.push((dst, src));
            }
            let more = self.constants.iter().filter(|(_, to)| *to == src).map(|&(from, _)| (from, dst));
            let more: SmallVec<[(Operand, Value); 2]> = more.collect();
            self.constants.extend(more);
            for list in [&mut self.from_sgprs, &mut self.facts] {
                let more = list.iter().filter(|(to, _)| *to == src).map(|&(_, from)| (dst, from));
                let more: SmallVec<[(Value, Value); 2]> = more.collect();
                list.extend(more);
            }
        }
    }

    /// Returns a fact and the values to which it is copied here.
    fn names(&self, fact: Value) -> impl Iterator<Item = Value> {
        let copies = self.facts.iter().filter(move |(_, src)| *src == fact).map(|(dst, _)| *dst);
        std::iter::once(fact).chain(copies)
    }
}

/// State of a check.
struct Checker<'a> {
    original: &'a MachFunc,
    final_: &'a MachFunc,
    target: &'a Subtarget,
    convention: Convention,
    facts: Facts,
    /// VGPRs whose lanes hold spilled SGPRs.
    lanes: FxHashSet<u16>,
    /// States at block entries, by block and class.
    entry: Vec<[Option<State>; 2]>,
}

/// Checks that `final_` computes the same as `original`, with hardware registers in place of virtual
/// registers.
///
/// # Errors
/// The first difference: an instruction reads a register that need not hold the right value, or the functions
/// have different blocks or instructions.
pub fn check(
    original: &MachFunc,
    final_: &MachFunc,
    target: &Subtarget,
    convention: Convention,
) -> Result<(), CheckError> {
    if original.blocks.len() != final_.blocks.len() {
        return Err(CheckError { block: MBlock::new(0), index: 0, problem: Problem::Different });
    }
    let mut original = original.clone();
    constrain::run(&mut original, target, &mut Vec::new());
    let mut checker = Checker {
        original: &original,
        final_,
        target,
        convention,
        facts: Facts::new(&original, target),
        lanes: FxHashSet::default(),
        entry: vec![[None, None]; final_.blocks.len()],
    };
    checker.find_lanes()?;
    checker.sources_stay()?;
    checker.solve()
}

impl Checker<'_> {
    fn inserted(&self, inst: &MachInst) -> bool {
        inst.note.index().is_some_and(|i| matches!(self.final_.notes[i], Note::Alloc(_)))
    }

    /// Finds the VGPRs whose lanes hold spilled SGPRs, and checks that the code uses these VGPRs for nothing
    /// else.
    fn find_lanes(&mut self) -> Result<(), CheckError> {
        for inst in self.final_.blocks.values().flat_map(|block| &block.insts) {
            if let (op::V_WRITELANE_B32 | op::V_WRITELANE_B32_VOP2, true, Operand::Reg(range)) =
                (inst.op, self.inserted(inst), inst.ops[0])
            {
                self.lanes.insert(range.first.0);
            }
        }
        for (block, data) in self.final_.blocks.iter() {
            for (index, inst) in data.insts.iter().enumerate() {
                let inserted = self.inserted(inst);
                if inserted && matches!(inst.op, op::V_WRITELANE_B32 | op::V_WRITELANE_B32_VOP2) {
                    continue;
                }
                // A VGPR whose lanes hold spilled SGPRs may be used for one other purpose: an input of the
                // function may arrive in it. Before the first lane is written, a copy that the allocator
                // inserted may read the input.
                let named = inst.operands().iter().enumerate().filter_map(|(i, operand)| match operand {
                    Operand::Reg(range) if !inserted || inst.role(i) != Role::Use => Some(range),
                    _ => None,
                });
                for range in named {
                    let shared = (range.first.0..range.first.0 + u16::from(range.len))
                        .find(|code| self.lanes.contains(code));
                    if let Some(code) = shared {
                        let problem = Problem::SharedLanes { reg: Reg(code) };
                        return Err(CheckError { block, index, problem });
                    }
                }
            }
        }
        Ok(())
    }

    /// Checks the memory instructions that the hardware may execute again (replay, XNACK). They must not
    /// overwrite registers that they read.
    fn sources_stay(&self) -> Result<(), CheckError> {
        for (block, data) in self.final_.blocks.iter() {
            for (index, inst) in data.insts.iter().enumerate() {
                if self.target.holds_sources(inst)
                    && let Some(range) = inst.overwritten_source()
                {
                    let problem = Problem::OverwrittenSource { reg: range.first };
                    return Err(CheckError { block, index, problem });
                }
            }
        }
        Ok(())
    }

    /// Returns the state before the first instruction. Each hardware register holds a value of its own, which
    /// stands for the contents that the register has at this point.
    fn initial(&self) -> State {
        let mut state = State::default();
        let ranges = self.original.blocks.values().flat_map(|block| &block.insts).flat_map(|inst| {
            inst.operands().iter().filter_map(|operand| match operand {
                Operand::Reg(RegRange { first, len }) => Some((first.0, *len)),
                _ => None,
            })
        });
        let inputs = self.final_.abi.layout().into_iter().map(|slot| (slot.reg.0, slot.len));
        for (first, len) in ranges.chain(inputs).chain([(Reg::VCC.0, 2), (Reg::SCC.0, 1)]) {
            for code in first..first + u16::from(len) {
                state.set(Place::Reg(code), SmallVec::from_slice(&[Value::Hardware(code)]));
            }
        }
        for slot in self.final_.abi.layout() {
            for code in slot.reg.0..slot.reg.0 + u16::from(slot.len) {
                let mut values = state.get(Place::Reg(code));
                values.push(Value::Input(code));
                state.set(Place::Reg(code), values);
            }
        }
        let slots = (self.original.abi.layout(), self.final_.abi.layout());
        for &(vreg, reg) in &self.original.inputs {
            let from = slots.0.iter().find(|s| (s.reg.0..s.reg.0 + u16::from(s.len)).contains(&reg.0));
            let to = from.and_then(|from| slots.1.iter().find(|to| to.input == from.input));
            let reg = match (from, to) {
                (Some(from), Some(to)) => Reg(reg.0 - from.reg.0 + to.reg.0),
                _ => reg,
            };
            let place = Place::Reg(reg.0);
            let mut values = state.get(place);
            values.push(Value::Virtual(vreg.index() as u32));
            state.set(place, values);
        }
        state
    }

    fn solve(&mut self) -> Result<(), CheckError> {
        let class_of = |original: &MachFunc, value: Value, class: usize| match value {
            Value::Virtual(v) => class_index(original.vregs[isa::VReg::from_u32(v)]),
            Value::Hardware(code) => usize::from(code >= 256),
            Value::Input(code) => usize::from(code >= 256),
            Value::ScratchBase(_) | Value::Counter(_) | Value::Carry => SGPR,
            // Registers of either class can hold a fact (contents that are always the same). The knowledge
            // that a register holds it flows along the graph of this register's class.
            Value::Fact(_) => class,
        };
        let live = Live::new(self.original);
        let initial = self.initial();
        for class in [SGPR, VGPR] {
            self.entry[0][class] = Some(initial.part(class, |_| true));
        }
        // The blocks are visited in sweeps in layout order. The target of a back edge waits for the next
        // sweep, so that a loop nest takes about as many sweeps as it is deep.
        let (mut work, mut later) = (BTreeSet::from([MBlock::new(0)]), BTreeSet::new());
        loop {
            let Some(block) = work.pop_first() else {
                if later.is_empty() {
                    break;
                }
                std::mem::swap(&mut work, &mut later);
                continue;
            };
            // The state at the end of a block flows along the graph of a class only if the block was reached
            // along this graph. The graph of VGPRs has another condition: the block must also have been
            // reached along the graph of SGPRs, because VGPRs can be copied from SGPRs.
            let known = self.entry[block.index()].each_ref().map(Option::is_some);
            let carries = [known[SGPR], known[SGPR] && known[VGPR]];
            let mut state = self.entry_state(block);
            // Errors are ignored here and reported at the end, because the state is not final until all
            // predecessors have been executed.
            let _ = self.block(block, &mut state);
            for class in [SGPR, VGPR].into_iter().filter(|&class| carries[class]) {
                for edge in edges(&self.original.blocks[block], class).iter().flatten() {
                    let mut out = state.clone();
                    out.assign(&self.edge(edge, class));
                    let needed = |value| match value {
                        Value::Virtual(vreg) => {
                            self.facts.pointers[vreg as usize] || live.at_entry(edge.to, vreg)
                        }
                        _ => true,
                    };
                    let out = out
                        .part(class, |value| class_of(self.original, value, class) == class && needed(value));
                    let entry = &mut self.entry[edge.to.index()][class];
                    let changed = match entry {
                        Some(entry) => entry.join(&out),
                        None => {
                            *entry = Some(out);
                            true
                        }
                    };
                    if changed {
                        let sweep = if edge.to > block { &mut work } else { &mut later };
                        sweep.insert(edge.to);
                    }
                }
            }
        }
        self.report()
    }

    fn entry_state(&self, block: MBlock) -> State {
        let mut state = State::default();
        for part in self.entry[block.index()].iter().flatten() {
            state.places.extend(part.places.iter().map(|(place, values)| (*place, values.clone())));
            state.undef.extend(part.undef.iter().copied());
        }
        state
    }

    /// Executes all blocks once more, with the final states at their entries, and returns the first error.
    #[cold]
    fn report(&self) -> Result<(), CheckError> {
        for block in self.final_.blocks.keys() {
            if self.entry[block.index()][SGPR].is_none() {
                continue;
            }
            let mut state = self.entry_state(block);
            self.block(block, &mut state)?;
        }
        Ok(())
    }

    fn edge(&self, edge: &Edge, class: usize) -> Vec<(Value, Value)> {
        let params = params(&self.original.blocks[edge.to], class).iter();
        let pairs = params.zip(self.original.edge_args(edge));
        let values = pairs.map(|(&dst, &src)| (self.facts.value(dst), self.facts.value(src)));
        values.filter(|(dst, src)| dst != src).collect()
    }

    /// Executes a block of the original and the final code together, and changes `state`. Continues after an
    /// error, so that the states of later blocks do not depend on it. Returns the first error.
    fn block(&self, block: MBlock, state: &mut State) -> Result<(), CheckError> {
        let original = &self.original.blocks[block].insts;
        let final_ = &self.final_.blocks[block].insts;
        let mut first_error = Ok(());
        let mut next = 0;
        let mut pending = Pending::default();
        for index in 0..=final_.len() {
            // First executes the pseudo-instructions of the original block that precede this instruction.
            while let Some(inst) = original.get(next)
                && (inst.op == op::COPY || inst.op == op::UNDEF)
            {
                self.pseudo(inst, state, &mut pending);
                next += 1;
            }
            let Some(inst) = final_.get(index) else { break };
            let result = if self.inserted(inst) {
                self.insertion(inst, state, &pending)
            } else {
                pending.clear();
                next += 1;
                match original.get(next - 1) {
                    Some(source) if rewrite::is_dropped(inst) => self.dropped(source, state),
                    Some(source) => self.instruction(source, inst, state),
                    None => Err(Problem::Different),
                }
            };
            if first_error.is_ok() {
                first_error = result.map_err(|problem| CheckError { block, index, problem });
            }
        }
        if first_error.is_ok() && next < original.len() {
            return Err(CheckError { block, index: final_.len(), problem: Problem::Different });
        }
        first_error
    }

    /// Handles an original instruction that the final code omits.
    fn dropped(&self, source: &MachInst, state: &mut State) -> Result<(), Problem> {
        if source.writes(self.target, RegRange { first: Reg::SCC, len: 1 }) {
            state.forget(Value::Hardware(Reg::SCC.0));
        }
        if self.facts.is_dispensable(self.original, source) { Ok(()) } else { Err(Problem::Different) }
    }

    fn values(&self, operand: Operand) -> SmallVec<[Value; 4]> {
        match operand {
            Operand::Virt(tuple) => {
                self.original.regs(tuple).iter().map(|&reg| self.facts.value(reg)).collect()
            }
            Operand::Reg(RegRange { first, len }) => {
                (first.0..first.0 + u16::from(len)).map(Value::Hardware).collect()
            }
            _ => SmallVec::new(),
        }
    }

    fn pseudo(&self, inst: &MachInst, state: &mut State, pending: &mut Pending) {
        let dst = self.values(inst.ops[0]);
        if inst.op == op::UNDEF {
            for value in dst {
                if !self.facts.is_new(value) {
                    state.forget(value);
                }
                state.undef.insert(value);
            }
            return;
        }
        let src = self.values(inst.ops[1]);
        if src.is_empty() {
            let parts = 0..dst.len() as u8;
            for (&value, i) in dst.iter().zip(parts) {
                if matches!(value, Value::Fact(_)) {
                    continue;
                }
                state.forget(value);
                pending.constants.push((rewrite::constant_part(inst.ops[1], i, dst.len() as u8), value));
            }
            return;
        }
        let pairs: SmallVec<[(Value, Value); 4]> = dst.iter().copied().zip(src.iter().copied()).collect();
        if self.is_vgpr(inst.ops[0]) && !self.is_vgpr(inst.ops[1]) {
            pairs.iter().filter(|pair| !self.facts.is_new(pair.0)).for_each(|&(dst, _)| state.forget(dst));
            pending.from_sgprs.extend(pairs);
        } else {
            state.assign(&pairs);
            pending.copy(&pairs);
        }
    }

    fn is_vgpr(&self, operand: Operand) -> bool {
        crate::stream::operand_class(self.original, operand) == Some(VGPR)
    }

    /// Executes an original instruction.
    fn instruction(&self, source: &MachInst, inst: &MachInst, state: &mut State) -> Result<(), Problem> {
        if (source.op, source.form, source.len, source.mods) != (inst.op, inst.form, inst.len, inst.mods) {
            return Err(Problem::Different);
        }
        let mut defs: SmallVec<[(Reg, Value); 8]> = SmallVec::new();
        let mut problem = Ok(());
        for (i, (&from, &to)) in source.operands().iter().zip(inst.operands()).enumerate() {
            let role = inst.role(i);
            let Operand::Reg(range) = to else {
                if from != to && problem.is_ok() {
                    problem = Err(Problem::Different);
                }
                continue;
            };
            let values = self.values(from);
            if values.len() != usize::from(range.len) || (matches!(from, Operand::Reg(_)) && from != to) {
                problem = problem.and(Err(Problem::Different));
            }
            // The operands of a call are in the registers of the calling convention, which is checked below.
            // No instruction reads these registers as one tuple, so they need not be aligned like a tuple.
            let is_pinned = matches!(inst.op, op::CALL | op::TAIL_CALL);
            if matches!(from, Operand::Virt(_)) && !is_pinned && !self.valid(range) {
                problem = problem.and(Err(Problem::Register { reg: range.first, len: range.len }));
            }
            for (&value, code) in values.iter().zip(range.first.0..) {
                if role != Role::Def && !state.holds(Reg(code), value) {
                    problem = problem.and(Err(Problem::Missing { value, reg: Reg(code) }));
                }
                if role != Role::Use {
                    defs.push((Reg(code), value));
                }
            }
        }
        inst.for_each_implicit(self.target, |role, range| {
            // The allocator does not use other implicit registers.
            let followed = [Reg::VCC, Reg::VCC.offset(1), Reg::SCC];
            for reg in followed.into_iter().filter(|&reg| range.overlaps(RegRange { first: reg, len: 1 })) {
                let value = Value::Hardware(reg.0);
                if role != Role::Def && !state.holds(reg, value) && problem.is_ok() {
                    problem = Err(Problem::Missing { value, reg });
                }
                if role != Role::Use {
                    defs.push((reg, value));
                }
            }
        });
        if let Some(call) = self.original.call_of(source) {
            problem = problem.and(placed(inst, &call.pins));
            if source.op == op::TAIL_CALL {
                problem = problem.and(placed_at(inst.ops[CALL_PINS], TAIL_TARGET.first));
            }
            state.lose(&call.clobbers);
        } else if source.op == op::RETURN {
            let first = *callconv::column(self.convention).result_vgprs.start();
            problem = problem.and(placed(inst, &[Reg::vgpr(first)]));
        }
        for (reg, value) in defs {
            state.define(reg, value, &self.facts);
        }
        problem
    }

    /// Returns whether a tuple may be in these registers.
    fn valid(&self, range: RegRange) -> bool {
        let (first, end) = (range.first.0, range.first.0 + u16::from(range.len));
        let class = if range.first.is_vgpr() { VGPR } else { SGPR };
        let aligned = first.is_multiple_of(u16::from(tuple_align(class, range.len, even_vgprs(self.target))));
        if class == VGPR {
            return aligned && u32::from(end) <= 256 + self.target.allocatable_vgprs();
        }
        let vcc = first >= Reg::VCC.0 && end <= Reg::VCC.0 + 2;
        aligned && (u32::from(end) <= self.target.allocatable_sgprs() || vcc)
    }
}
