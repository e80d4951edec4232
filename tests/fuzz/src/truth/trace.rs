//! The interpreter's trace: the statements that each work-item has reached, with its variables at each.
//!
//! Facts about a statement that are the same for each visit ([`Statement`]) are computed once. A trace is a
//! flat list of numbers.

use super::{Item, MOST, lanes, line_and_column, number_of};
use crate::program::Shape;
use ir::describe::TypeInfo;
use ir::interp::{At, Watcher};
use ir::track::{Fragment, Track, Variable, What};
use ir::{Function, Inst, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::ops::Range;

/// Facts about a program that traces need.
pub(super) struct Meaning<'a> {
    /// Functions by number; `None` for functions without variables.
    funcs: Vec<Option<Tracked<'a>>>,
    /// Numbers of the variable names.
    names: Numbers<&'a str>,
    /// Numbers of the places (line and column) where statements begin.
    places: Numbers<(u32, u32)>,
}

/// Assigns consecutive numbers to things in the order of their first use.
struct Numbers<T>(FxHashMap<T, u32>);

impl<T: Copy + Eq + std::hash::Hash> Numbers<T> {
    fn number_of(&mut self, of: T) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(of).or_insert(next)
    }
}

/// A function with variables.
struct Tracked<'a> {
    func: &'a Function,
    track: &'a Track,
    /// The function's first instruction.
    entry: Option<Inst>,
    /// The facts in program order, with the instructions before which the facts begin to hold.
    records: Vec<(Inst, What)>,
    /// For each instruction, the range of its facts in `records`.
    before: FxHashMap<Inst, Range<usize>>,
    /// The statement that begins at each fact; `None` for facts of other kinds.
    statements: Vec<Option<Statement>>,
    /// Index of each variable's first fragment among all fragments of the function.
    first_fragment: Vec<usize>,
    /// Number of fragments of the function.
    fragments: usize,
}

/// The beginning of a statement.
struct Statement {
    place: u32,
    /// Variables that may have a value there. Variables of the same name are adjacent, the innermost first.
    candidates: Vec<Candidate>,
    /// Values that are live from here on.
    live: Bits,
}

struct Candidate {
    variable: usize,
    name: u32,
}

/// A set of SSA values.
#[derive(Clone, Default, PartialEq, Eq)]
struct Bits(Vec<u64>);

impl Bits {
    fn has(&self, value: Value) -> bool {
        let at = value.as_u32();
        self.0.get(at as usize / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    fn set(&mut self, value: Value, is_in: bool) {
        let (word, bit) = (value.as_u32() as usize / 64, 1 << (value.as_u32() % 64));
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] = if is_in { self.0[word] | bit } else { self.0[word] & !bit };
    }

    fn add(&mut self, other: &Bits) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }
}

/// Computes the live values before each instruction in `wanted`, by iteration to a fixpoint.
fn live(func: &Function, wanted: &FxHashSet<Inst>) -> FxHashMap<Inst, Bits> {
    let count = func.layout.iter().map(|block| block.as_u32() as usize + 1).max().unwrap_or(0);
    let mut at_begin = vec![Bits(vec![0; func.values.len().div_ceil(64)]); count];
    let mut found = FxHashMap::default();
    let mut is_changed = true;
    while std::mem::take(&mut is_changed) {
        for &block in func.layout.iter().rev() {
            let mut live = Bits(vec![0; func.values.len().div_ceil(64)]);
            for succ in func.succs(block) {
                live.add(&at_begin[succ.as_u32() as usize]);
            }
            for &inst in func.blocks[block].insts().iter().rev() {
                func.results_of(inst).for_each(|result| live.set(result, false));
                func.args(inst).iter().for_each(|&arg| live.set(arg, true));
                if wanted.contains(&inst) {
                    found.insert(inst, live.clone());
                }
            }
            func.params(block).iter().for_each(|&param| live.set(param, false));
            let known = &mut at_begin[block.as_u32() as usize];
            if *known != live {
                *known = live;
                is_changed = true;
            }
        }
    }
    found
}

/// Returns whether a type contains addresses. The interpreter uses different addresses than the emulator, so
/// such values cannot be compared.
fn has_pointer(types: &[TypeInfo], ty: u32) -> bool {
    match types.get(ty as usize) {
        Some(TypeInfo::Pointer { .. } | TypeInfo::Function { .. } | TypeInfo::Opaque { .. }) => true,
        Some(TypeInfo::Array { element, .. }) => has_pointer(types, *element),
        Some(TypeInfo::Struct { members, .. }) => members.iter().any(|member| has_pointer(types, member.ty)),
        _ => false,
    }
}

/// Returns whether a variable holds the result of an atomic operation, which may differ between the
/// executions.
fn is_found(name: &str) -> bool {
    name.starts_with("old") || name == "found" || name == "stored"
}

impl<'a> Meaning<'a> {
    pub(super) fn new(module: &'a ir::Module, source: &str) -> Meaning<'a> {
        let types = module.description.as_ref().map_or(&[][..], |description| &description.types);
        let mut meaning = Meaning {
            funcs: Vec::new(),
            names: Numbers(FxHashMap::default()),
            places: Numbers(FxHashMap::default()),
        };
        for func in module.funcs.values() {
            let tracked = func.track.as_ref().map(|track| meaning.tracked(func, track, (types, source)));
            meaning.funcs.push(tracked);
        }
        meaning
    }

    fn tracked(
        &mut self,
        func: &'a Function,
        track: &'a Track,
        (types, source): (&[TypeInfo], &str),
    ) -> Tracked<'a> {
        let mut records = Vec::new();
        let mut before: FxHashMap<Inst, Range<usize>> = FxHashMap::default();
        for &inst in func.layout.iter().flat_map(|&block| func.blocks[block].insts()) {
            let start = records.len();
            records.extend(track.notes.before(inst).map(|what| (inst, what)));
            before.insert(inst, start..records.len());
        }
        let begins = records.iter().filter(|(_, what)| matches!(what, What::Statement(_)));
        let live = live(func, &begins.map(|&(inst, _)| inst).collect());
        let mut fragments = 0;
        let first_fragment = track.variables.iter().map(|variable| {
            fragments += variable.fragments.len();
            fragments - variable.fragments.len()
        });
        let first_fragment = first_fragment.collect();
        let can_be_known: Vec<bool> =
            track.variables.iter().map(|it| !has_pointer(types, it.ty) && !is_found(&it.name)).collect();
        let statements = records.iter().map(|(inst, what)| match what {
            What::Statement(loc) => Some(Statement {
                place: self.places.number_of(line_and_column(source, *loc)),
                candidates: self.candidates(track, loc.0.saturating_sub(1), &can_be_known),
                live: live.get(inst).cloned().unwrap_or_default(),
            }),
            _ => None,
        });
        let statements = statements.collect();
        let entry = func.blocks[func.entry()].insts().first().copied();
        Tracked { func, track, entry, records, before, statements, first_fragment, fragments }
    }

    /// Returns the variables that are in scope at a byte of the source.
    fn candidates(&mut self, track: &'a Track, offset: u32, can_be_known: &[bool]) -> Vec<Candidate> {
        let mut found: Vec<Candidate> = Vec::new();
        for (number, variable) in track.variables.iter().enumerate() {
            if variable.scope.contains(&offset) && can_be_known[number] && !variable.fragments.is_empty() {
                found.push(Candidate { variable: number, name: self.names.number_of(&variable.name) });
            }
        }
        found.sort_by_key(|it| (it.name, Reverse(track.variables[it.variable].scope.start)));
        found
    }

    /// Returns the number of a name.
    pub(super) fn name(&self, name: &str) -> Option<u32> {
        self.names.0.get(name).copied()
    }

    /// Returns the name with a number.
    pub(super) fn name_of(&self, number: u32) -> &'a str {
        self.names.0.iter().find(|name| *name.1 == number).map_or("", |name| name.0)
    }

    /// Returns the number of names.
    pub(super) fn names(&self) -> usize {
        self.names.0.len()
    }

    /// Returns the number of a place.
    pub(super) fn place_number(&self, place: (u32, u32)) -> Option<u32> {
        self.places.0.get(&place).copied()
    }

    /// Returns the place with a number.
    pub(super) fn place_of(&self, number: u32) -> (u32, u32) {
        self.places.0.iter().find(|place| *place.1 == number).map_or((0, 0), |place| *place.0)
    }
}

/// A visit of a work-item to a statement.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) place: u32,
    /// Range of the variables at this visit in [`Trace::known_at`].
    known: Range<u32>,
}

/// A variable at a visit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    pub(super) name: u32,
    /// Whether the variable is in private memory that may not have been written yet; the interpreter reads 0
    /// there.
    pub(super) in_memory: bool,
    /// Offset and size of each fragment (scalar) of the variable.
    pub(super) fragments: &'a [(u32, u8)],
    /// Index of the variable's first fragment in [`Trace::fragments`].
    at: u32,
}

/// A fragment of a variable at a visit.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownFragment {
    pub(super) bits: u64,
    /// Whether the value is read later.
    pub(super) is_live: bool,
}

/// The current value of a fragment in a work-item.
#[derive(Clone, Copy)]
struct Now {
    bits: u64,
    value: Option<Value>,
}

/// Trace of a work-item.
#[derive(Default)]
pub(super) struct Trace<'a> {
    pub(super) events: Vec<Event>,
    known: Vec<Known<'a>>,
    fragments: Vec<KnownFragment>,
    /// Current values of the fragments, by depth of the call stack.
    now: Vec<Vec<Option<Now>>>,
}

impl<'a> Trace<'a> {
    /// Returns the variables at a visit.
    pub(super) fn known_at(&self, event: &Event) -> &[Known<'a>] {
        &self.known[event.known.start as usize..event.known.end as usize]
    }

    /// Returns the values of a variable's fragments.
    pub(super) fn fragments_of(&self, known: &Known<'a>) -> &[KnownFragment] {
        &self.fragments[known.at as usize..known.at as usize + known.fragments.len()]
    }

    /// Returns, for tests, a trace with one variable whose fragments have the given values.
    #[cfg(test)]
    pub(super) fn of_one(
        name: u32,
        fragments: &'a [(u32, u8)],
        bits: &[u64],
        in_memory: bool,
    ) -> (Trace<'a>, Known<'a>) {
        let fragment = |&bits: &u64| KnownFragment { bits, is_live: true };
        let trace = Trace { fragments: bits.iter().map(fragment).collect(), ..Trace::default() };
        (trace, Known { name, in_memory, fragments, at: 0 })
    }

    /// Resets the fragments of a call frame at the beginning of a call.
    fn enter(&mut self, depth: usize, fragments: usize) {
        if self.now.len() <= depth {
            self.now.resize(depth + 1, Vec::new());
        }
        self.now[depth].clear();
        self.now[depth].resize(fragments, None);
    }

    fn set(&mut self, depth: usize, fragment: usize, now: Now) {
        if let Some(place) = self.now.get_mut(depth).and_then(|all| all.get_mut(fragment)) {
            *place = Some(now);
        }
    }

    fn come_to(&mut self, (at, lane): (&At<'_>, usize), tracked: &Tracked<'a>, statement: &Statement) {
        if self.events.len() >= MOST {
            return;
        }
        let first = self.known.len() as u32;
        let mut taken = None;
        for &Candidate { variable, name } in &statement.candidates {
            if taken == Some(name) {
                continue;
            }
            let (track, first) = (&tracked.track.variables[variable], tracked.first_fragment[variable]);
            let start = self.fragments.len();
            let now = self.now.get(at.depth).and_then(|all| all.get(first..first + track.fragments.len()));
            let now = now.unwrap_or_default();
            let memory = Memory { at, lane, func: tracked.func, variable: track };
            if !values(now, &memory, &statement.live, &mut self.fragments) {
                self.fragments.truncate(start);
                continue;
            }
            let in_memory = track.home.is_some() && now.first().is_none_or(Option::is_none);
            self.known.push(Known { name, in_memory, fragments: &track.fragments, at: start as u32 });
            taken = Some(name);
        }
        self.events.push(Event { place: statement.place, known: first..self.known.len() as u32 });
    }
}

/// A variable in a lane's private memory.
struct Memory<'a> {
    at: &'a At<'a>,
    lane: usize,
    func: &'a Function,
    variable: &'a Variable,
}

/// Appends the values of a variable's fragments, up to the first unknown one. Returns whether all are known.
fn values(now: &[Option<Now>], memory: &Memory<'_>, live: &Bits, out: &mut Vec<KnownFragment>) -> bool {
    let Memory { at, lane, func, variable } = *memory;
    let mut home = None;
    for (n, &(offset, bytes)) in variable.fragments.iter().enumerate() {
        let fragment = match (now.get(n).copied().flatten(), variable.home) {
            (Some(Now { bits, value }), _) => {
                KnownFragment { bits, is_live: value.is_none_or(|value| live.has(value)) }
            }
            (None, Some(slot)) => {
                let home = *home.get_or_insert_with(|| at.slot(func, slot, lane));
                let Some(own) = home.get(offset as usize..offset as usize + usize::from(bytes)) else {
                    return false;
                };
                let bits = own.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
                KnownFragment { bits, is_live: false }
            }
            (None, None) => return false,
        };
        out.push(fragment);
    }
    true
}

/// Records the interpreter's trace of a dispatch.
pub(super) struct Tracer<'a> {
    meaning: &'a Meaning<'a>,
    shape: &'a Shape,
    /// Traces by number of the work-item.
    traces: RefCell<Vec<Trace<'a>>>,
}

impl<'a> Tracer<'a> {
    pub(super) fn new(meaning: &'a Meaning<'a>, shape: &'a Shape) -> Tracer<'a> {
        Tracer { meaning, shape, traces: RefCell::default() }
    }

    /// Returns the traces by number of the work-item.
    pub(super) fn traces(self) -> Vec<Trace<'a>> {
        self.traces.into_inner()
    }

    /// Calls `what` with the trace of each active lane.
    fn for_each_lane(&self, at: &At<'_>, mut what: impl FnMut(&mut Trace<'a>, usize)) {
        let mut traces = self.traces.borrow_mut();
        for lane in lanes(at.active) {
            let [x, y, z] = at.item(lane);
            let item: Item = (at.group, x | y << 10 | z << 20);
            let number = number_of(self.shape, item);
            if traces.len() <= number {
                traces.resize_with(number + 1, Trace::default);
            }
            what(&mut traces[number], lane);
        }
    }

    fn set(&self, at: &At<'_>, fragment: usize, now: impl Fn(usize) -> Now) {
        self.for_each_lane(at, |trace, lane| trace.set(at.depth, fragment, now(lane)));
    }
}

impl Watcher for Tracer<'_> {
    fn before(&self, at: &At<'_>) {
        let Some(Some(tracked)) = self.meaning.funcs.get(at.func.as_u32() as usize) else { return };
        if tracked.entry == Some(at.inst) {
            self.for_each_lane(at, |trace, _| trace.enter(at.depth, tracked.fragments));
        }
        let func = tracked.func;
        let number =
            |fragment: Fragment| tracked.first_fragment[fragment.variable as usize] + fragment.index as usize;
        for record in tracked.before.get(&at.inst).cloned().into_iter().flatten() {
            match tracked.records[record].1 {
                What::Statement(_) => {
                    let Some(statement) = &tracked.statements[record] else { continue };
                    self.for_each_lane(at, |trace, lane| trace.come_to((at, lane), tracked, statement));
                }
                What::Value(fragment, value) => {
                    let constant = func.const_bits(value);
                    let value_of = constant.is_none().then_some(value);
                    let bits = |lane| constant.unwrap_or_else(|| at.value(value, lane));
                    self.set(at, number(fragment), |lane| Now { bits: bits(lane), value: value_of });
                }
                What::Term(..) | What::Lost(_) => {}
            }
        }
    }
}
