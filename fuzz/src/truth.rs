//! Debug information against execution: what variables are where statements begin, by the interpreter on the frontend's IR and by the debugger on
//! the compiled code in the emulator.
//!
//! Both leave a trace of each work-item: the statements that it came to, with its variables there. Optimised code may come to fewer statements;
//! those that it comes to are a part of the interpreter's, in their order, and what it says of variables is true there. How much it says is
//! counted: of the variables whose values are still needed ([`Count`]).

use crate::launch::{emulate_debugged, interpret_watched};
use crate::program::Shape;
use ir::describe::TypeInfo;
use ir::interp::{At, Watcher};
use ir::track::{Leaf, Track, What};
use ir::{Block, Function, Inst, SrcLoc, Value, ValueDef};
use kernc::sim::{Debugger, Go, Mode, Stopped};
use kernc::{Compiler, DebugInfo, Dialect, Dwarf, OptLevel, Options, Subtarget};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

/// Statements of a work-item that are compared.
const MOST: usize = 400;

/// A work-item: its group, and its number in that.
pub(crate) type Item = ([u32; 3], u32);

/// A variable at a statement.
#[derive(Clone, Debug)]
struct Known {
    name: String,
    leaves: Vec<KnownLeaf>,
    /// In private memory, which may not have been written yet: the interpreter's is 0 then.
    in_memory: bool,
}

/// A scalar of a variable: its offset and size, and what it is.
#[derive(Clone, Copy, Debug)]
struct KnownLeaf {
    offset: u32,
    bytes: u8,
    bits: u64,
    /// Whether the value is read later.
    live: bool,
}

/// The traces of work-items.
type Events = FxHashMap<Item, Vec<Event>>;

/// A statement that a work-item came to.
#[derive(Clone, Debug)]
struct Event {
    place: (u32, u32),
    variables: Vec<Known>,
}

/// How many variables there were where code stopped, and of how many the value was known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Scalars of variables that are in scope and have a value, one for each stop.
    pub all: u64,
    /// Of them those that are there.
    pub there: u64,
    /// Those whose value is read later.
    pub live: u64,
    /// Of them those that are there.
    pub live_there: u64,
    /// Stops.
    pub stops: u64,
}

impl Count {
    /// The sum of both.
    pub fn plus(self, other: Count) -> Count {
        Count {
            all: self.all + other.all,
            there: self.there + other.there,
            live: self.live + other.live,
            live_there: self.live_there + other.live_there,
            stops: self.stops + other.stops,
        }
    }
}

/// Compares both for the kernels of a source.
///
/// # Errors
/// What the debugger says that is not so.
pub fn check(
    source: &str,
    kernels: &[&str],
    shape: &Shape,
    (target, level, dialect): (Subtarget, OptLevel, Dialect),
) -> Result<Count, String> {
    let dwarf = Dwarf { dialect, ..Dwarf::default() };
    let options = Options {
        opt_level: level,
        debug: DebugInfo::Full,
        dwarf,
        file_name: "test.k".to_owned(),
        ..Options::default()
    };
    let mut meant = Meant::default();
    let object = match Compiler::new(target).compile_observed(source, &options, &mut meant) {
        Ok(object) => object,
        // What is too large for the processor is no matter here.
        Err(_) => return Ok(Count::default()),
    };
    let Meant(module) = meant;
    let plain = Options { debug: DebugInfo::Lines, ..options };
    let plain = Compiler::new(target).compile(source, &plain).map_err(|error| error.to_string())?;
    if text(plain.bytes())? != text(object.bytes())? {
        return Err("code is another one with debug information".to_owned());
    }
    let mut count = Count::default();
    for kernel in kernels {
        let tracer = Tracer::new(&module, source);
        interpret_watched(&module, kernel, shape, target.wave_size, Some(&tracer))
            .map_err(|error| format!("interpreter: {error}"))?;
        let places = tracer.places();
        let looker = Looker::new(object.bytes(), shape, (tracer.events.into_inner(), places))?;
        let ran = emulate_debugged(Mode::Fast, object.bytes(), kernel, shape, &looker);
        let state = looker.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(wrong) = state.wrong {
            return Err(wrong);
        }
        ran.map_err(|error| format!("emulator: {error}"))?;
        count = count.plus(state.count);
    }
    Ok(count)
}

/// Keeps what the frontend has made of a source: its meaning.
#[derive(Default)]
pub(crate) struct Meant(pub(crate) ir::Module);

impl kernc::Observer for Meant {
    fn ir(&mut self, pass: &'static str, module: &ir::Module) {
        if pass == "frontend" {
            self.0 = module.clone();
        }
    }
}

fn text(object: &[u8]) -> Result<Vec<u8>, String> {
    let object = codeobj::CodeObject::parse(object).map_err(|error| error.to_string())?;
    object.section(".text").map(|section| section.data.to_vec()).ok_or_else(|| "no code".to_owned())
}

/// Line and column of a byte.
pub(crate) fn place(source: &str, loc: SrcLoc) -> (u32, u32) {
    let at = (loc.0 as usize).saturating_sub(1).min(source.len());
    let before = &source[..at];
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    let column = at - before.rfind('\n').map_or(0, |newline| newline + 1) + 1;
    (line as u32, column as u32)
}

/// What is live behind each instruction of a function.
struct Live {
    /// By block: values that are needed at its end.
    at_end: FxHashMap<Block, FxHashSet<Value>>,
}

impl Live {
    fn new(func: &Function) -> Live {
        let mut at_end: FxHashMap<Block, FxHashSet<Value>> = FxHashMap::default();
        let mut at_begin: FxHashMap<Block, FxHashSet<Value>> = FxHashMap::default();
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &block in func.layout.iter().rev() {
                let mut live: FxHashSet<Value> = FxHashSet::default();
                for succ in func.succs(block) {
                    live.extend(at_begin.get(&succ).into_iter().flatten().copied());
                }
                at_end.insert(block, live.clone());
                for &inst in func.blocks[block].insts.iter().rev() {
                    step(func, inst, &mut live);
                }
                func.params(block).iter().for_each(|param| {
                    live.remove(param);
                });
                if at_begin.get(&block) != Some(&live) {
                    at_begin.insert(block, live);
                    changed = true;
                }
            }
        }
        Live { at_end }
    }

    /// What is needed from in front of an instruction on.
    fn before(&self, func: &Function, block: Block, inst: Inst) -> FxHashSet<Value> {
        let mut live = self.at_end.get(&block).cloned().unwrap_or_default();
        for &other in func.blocks[block].insts.iter().rev() {
            step(func, other, &mut live);
            if other == inst {
                break;
            }
        }
        live
    }
}

fn step(func: &Function, inst: Inst, live: &mut FxHashSet<Value>) {
    func.results_of(inst).for_each(|result| {
        live.remove(&result);
    });
    live.extend(func.args(inst).iter().copied());
}

/// What a leaf is to a work-item.
#[derive(Clone, Copy)]
struct Now {
    bits: u64,
    value: Option<Value>,
}

/// Writes the interpreter's trace.
struct Tracer<'a> {
    module: &'a ir::Module,
    source: &'a str,
    events: RefCell<FxHashMap<Item, Vec<Event>>>,
    /// By work-item and depth of calls: what leaves are.
    leaves: RefCell<FxHashMap<(Item, usize), FxHashMap<Leaf2, Now>>>,
    live: RefCell<FxHashMap<(u32, Inst), FxHashSet<Value>>>,
}

/// A leaf as a key.
type Leaf2 = (u32, u32);

fn key(leaf: Leaf) -> Leaf2 {
    (leaf.variable, leaf.leaf)
}

impl<'a> Tracer<'a> {
    fn new(module: &'a ir::Module, source: &'a str) -> Tracer<'a> {
        let mut live = FxHashMap::default();
        for (id, func) in module.funcs.iter() {
            let Some(track) = &func.track else { continue };
            let flow = Live::new(func);
            for record in track.records.iter().filter(|record| matches!(record.what, What::Statement(_))) {
                let values = flow.before(func, record.block, record.before);
                live.insert((id.as_u32(), record.before), values);
            }
        }
        Tracer {
            module,
            source,
            events: RefCell::default(),
            leaves: RefCell::default(),
            live: RefCell::new(live),
        }
    }

    /// Where statements are.
    fn places(&self) -> FxHashSet<(u32, u32)> {
        let tracks = self.module.funcs.values().filter_map(|func| func.track.as_ref());
        let records = tracks.flat_map(|track| &track.records);
        let places = records.filter_map(|record| match record.what {
            What::Statement(loc) => Some(place(self.source, loc)),
            _ => None,
        });
        places.collect()
    }

    fn item(at: &At<'_>, lane: usize) -> Item {
        let [x, y, z] = at.item(lane);
        (at.group, x | y << 10 | z << 20)
    }

    /// Whether a type has addresses in it, which the interpreter has others of.
    fn has_pointer(&self, ty: u32) -> bool {
        let types = self.module.description.as_ref().map_or(&[][..], |description| &description.types);
        match types.get(ty as usize) {
            Some(TypeInfo::Pointer { .. } | TypeInfo::Opaque { .. }) => true,
            Some(TypeInfo::Array { element, .. }) => self.has_pointer(*element),
            Some(TypeInfo::Struct { members, .. }) => {
                members.iter().any(|member| self.has_pointer(member.ty))
            }
            _ => false,
        }
    }

    fn statement(&self, at: &At<'_>, func: &Function, track: &Track, loc: SrcLoc) {
        let live = self.live.borrow();
        let live = live.get(&(at.func.as_u32(), at.inst));
        let leaves = self.leaves.borrow();
        let mut events = self.events.borrow_mut();
        let (offset, place) = (loc.0.saturating_sub(1), place(self.source, loc));
        for lane in lanes(at.active) {
            let item = Self::item(at, lane);
            let own = events.entry(item).or_default();
            if own.len() >= MOST {
                continue;
            }
            let now = leaves.get(&(item, at.depth));
            let mut variables: Vec<(u32, Known)> = Vec::new();
            for (variable, number) in track.variables.iter().zip(0u32..) {
                // What an atomic operation has found may be another value each time.
                let is_found =
                    variable.name.starts_with("old") || variable.name == "found" || variable.name == "stored";
                if !variable.scope.contains(&offset) || self.has_pointer(variable.ty) || is_found {
                    continue;
                }
                let mut parts = Vec::new();
                for (&(at_byte, bytes), leaf) in variable.leaves.iter().zip(0u32..) {
                    let known = now.and_then(|now| now.get(&(number, leaf)));
                    let is_read = |value| live.is_some_and(|live| live.contains(&value));
                    let is_live = known.is_some_and(|now| now.value.is_none_or(is_read));
                    let bits = match (known, variable.home) {
                        (Some(now), _) => Some(now.bits),
                        (None, Some(slot)) => {
                            let memory = at.slot(func, slot, lane);
                            let own = memory.get(at_byte as usize..at_byte as usize + usize::from(bytes));
                            own.map(|own| {
                                own.iter().rev().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte))
                            })
                        }
                        (None, None) => None,
                    };
                    let known = |bits| KnownLeaf { offset: at_byte, bytes, bits, live: is_live };
                    parts.extend(bits.map(known));
                }
                if parts.len() == variable.leaves.len() && !parts.is_empty() {
                    let in_memory =
                        variable.home.is_some() && now.is_none_or(|now| !now.contains_key(&(number, 0)));
                    let known = Known { name: variable.name.to_string(), leaves: parts, in_memory };
                    // Of a name the innermost counts.
                    match variables.iter_mut().find(|(_, other)| other.name == known.name) {
                        Some(other) if other.0 < variable.scope.start => {
                            *other = (variable.scope.start, known)
                        }
                        Some(_) => {}
                        None => variables.push((variable.scope.start, known)),
                    }
                }
            }
            let variables = variables.into_iter().map(|(_, known)| known).collect();
            own.push(Event { place, variables });
        }
    }
}

/// The lanes of a mask.
pub(crate) fn lanes(mask: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |lane| mask >> lane & 1 == 1)
}

impl Watcher for Tracer<'_> {
    fn before(&self, at: &At<'_>) {
        let func = &self.module.funcs[at.func];
        let Some(track) = &func.track else { return };
        if func.blocks[func.entry()].insts.first() == Some(&at.inst) {
            let mut leaves = self.leaves.borrow_mut();
            for lane in lanes(at.active) {
                leaves.remove(&(Self::item(at, lane), at.depth));
            }
        }
        for number in track.before(at.inst) {
            match track.records[number].what {
                What::Statement(loc) => self.statement(at, func, track, loc),
                What::Value(leaf, value) => {
                    let constant = matches!(func.values[value].def, ValueDef::Result(inst, _) if matches!(func.insts[inst].op, ir::Op::Const(_)));
                    for lane in lanes(at.active) {
                        let now = Now { bits: at.value(value, lane), value: (!constant).then_some(value) };
                        self.set(at, lane, leaf, now);
                    }
                }
                What::Constant(leaf, bits) => {
                    for lane in lanes(at.active) {
                        self.set(at, lane, leaf, Now { bits, value: None });
                    }
                }
                What::Term(..) | What::Lost(_) => {}
            }
        }
    }
}

impl Tracer<'_> {
    fn set(&self, at: &At<'_>, lane: usize, leaf: Leaf, now: Now) {
        let item = Self::item(at, lane);
        self.leaves.borrow_mut().entry((item, at.depth)).or_default().insert(key(leaf), now);
    }
}

/// Compares what the debugger says with the trace.
struct Looker {
    info: dwarf::DebugInfo,
    frames: Option<dwarf::Frames>,
    /// Addresses where statements begin, and their places.
    statements: FxHashMap<u64, (u32, u32)>,
    shape: Shape,
    events: FxHashMap<Item, Vec<Event>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How far each work-item has come in its trace.
    next: FxHashMap<Item, usize>,
    count: Count,
    wrong: Option<String>,
}

impl Looker {
    fn new(
        bytes: &[u8],
        shape: &Shape,
        (events, places): (Events, FxHashSet<(u32, u32)>),
    ) -> Result<Looker, String> {
        let object = codeobj::CodeObject::parse(bytes).map_err(|error| error.to_string())?;
        let info = dwarf::DebugInfo::read(&object).map_err(|error| error.to_string())?;
        let frames = dwarf::Frames::read(&object).ok();
        let mut statements = FxHashMap::default();
        for (address, place) in codeobj::disasm::Lines::read(&object).rows_of_statements() {
            // A function begins before its first statement does.
            statements.insert(address, (place.line, place.column));
            if !places.contains(&(place.line, place.column)) {
                statements.remove(&address);
            }
        }
        Ok(Looker { info, frames, statements, shape: *shape, events, state: Mutex::default() })
    }

    fn look(&self, at: &Stopped<'_>, place: (u32, u32)) -> Result<(), String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let sight = debug::Sight::new(&self.info, self.frames.as_ref(), at);
        for lane in lanes(at.exec()) {
            let lane = lane as u32;
            let linear = at.wave() * at.lanes() + lane;
            let item = item_of(&self.shape, at.group(), linear);
            let Some(events) = self.events.get(&item) else { continue };
            let next = state.next.get(&item).copied().unwrap_or(0);
            if next >= MOST {
                continue;
            }
            let seen = sight.seen(lane);
            let mut first = None;
            let mut found = None;
            for (n, event) in events.iter().enumerate().skip(next).filter(|(_, event)| event.place == place) {
                match agree(event, &seen) {
                    Ok(()) => {
                        found = Some(n);
                        break;
                    }
                    Err(wrong) => first = first.or(Some(wrong)),
                }
            }
            let Some(found) = found else {
                if events.len() >= MOST {
                    state.next.insert(item, MOST);
                    continue;
                }
                let why = first.unwrap_or_else(|| "no statement there is executed any more".to_owned());
                let (line, column) = place;
                return Err(format!("{:#x}, line {line}:{column}, item {item:?}: {why}", at.address()));
            };
            state.next.insert(item, found + 1);
            state.count.stops += 1;
            for known in &events[found].variables {
                let seen = seen.iter().find(|seen| seen.name == known.name);
                for leaf in &known.leaves {
                    let is_there = seen.is_some_and(|seen| leaf.of(&seen.bytes).is_some());
                    state.count.all += 1;
                    state.count.there += u64::from(is_there);
                    state.count.live += u64::from(leaf.live);
                    state.count.live_there += u64::from(leaf.live && is_there);
                }
            }
        }
        Ok(())
    }
}

/// The work-item of a number in its group.
pub(crate) fn item_of(shape: &Shape, group: [u32; 3], linear: u32) -> Item {
    let size = |d: usize| {
        let first = group[d] * shape.group[d];
        shape.group[d].min(shape.grid[d].saturating_sub(first)).max(1)
    };
    let (x, rest) = (linear % size(0), linear / size(0));
    let (y, z) = (rest % size(1), rest / size(1));
    (group, x | y << 10 | z << 20)
}

impl KnownLeaf {
    /// What bytes of the variable say that it is, if they are there.
    fn of(&self, bytes: &[Option<u8>]) -> Option<u64> {
        let own = bytes.get(self.offset as usize..self.offset as usize + usize::from(self.bytes))?;
        own.iter().rev().try_fold(0u64, |bits, &byte| Some(bits << 8 | u64::from(byte?)))
    }
}

/// Whether all that the debugger says is so at a statement.
fn agree(event: &Event, seen: &[debug::Seen]) -> Result<(), String> {
    for known in &event.variables {
        let Some(seen) = seen.iter().find(|seen| seen.name == known.name) else { continue };
        for leaf in &known.leaves {
            let &KnownLeaf { offset, bytes: size, bits, .. } = leaf;
            let Some(found) = leaf.of(&seen.bytes) else { continue };
            let mask = u64::MAX >> (64 - 8 * u32::from(size));
            let both_nan = is_nan(found, size) && is_nan(bits & mask, size);
            if found != bits & mask && !(known.in_memory && bits == 0) && !both_nan {
                return Err(format!("`{}` at {offset}: {found:x}, not {:x}", known.name, bits & mask));
            }
        }
    }
    Ok(())
}

/// Whether bits of so many bytes are no number, as a float: which one it is, nobody promises.
fn is_nan(bits: u64, bytes: u8) -> bool {
    match bytes {
        2 => bits & 0x7fff > 0x7c00,
        4 => f32::from_bits(bits as u32).is_nan(),
        8 => f64::from_bits(bits).is_nan(),
        _ => false,
    }
}

impl Debugger for Looker {
    fn before(&self, at: &Stopped<'_>) -> Go {
        let Some(&place) = self.statements.get(&at.address()) else { return Go::On };
        match self.look(at, place) {
            Ok(()) => Go::On,
            Err(wrong) => {
                let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                state.wrong.get_or_insert(wrong);
                Go::End
            }
        }
    }

    fn found(&self, _: &Stopped<'_>, _: &kernc::sim::Report) -> Go {
        Go::On
    }

    fn trapped(&self, _: &Stopped<'_>, _: &kernc::sim::Fault) {}
}
