//! Tests the positions of lanes in debug information against execution: `DW_AT_LLVM_active_lane` and
//! `DW_AT_LLVM_lane_pc` at each instruction that a program executes.
//!
//! The position of a parked lane is a prediction: the address at which the lane resumes. The judge keeps the
//! prediction until the emulator activates the lane in the same call, or the program ends with the lane still
//! parked. Then the address has to be the predicted one. Lanes that were inactive at the call of a function
//! have to be described as outside the function. The execution itself is compared with the interpreter: the
//! statements at which a lane is active have to be a subsequence of the statements that the interpreter
//! reaches on the frontend's IR.

use crate::launch::{emulate_watched, interpret_watched};
use crate::program::Shape;
use crate::truth::{Item, Meant, item_of, lanes as bits, line_and_column};
use debug::{LanesAt, Position};
use dwarf::DebugInfo as Info;
use ir::SrcLoc;
use ir::interp::{At, Watcher};
use ir::track::What;
use kernc::sim::{Debugger, Go, Mode, Scramble, Stopped};
use kernc::{Compiler, Convention, DebugInfo, Dialect, Dwarf, DwarfVersion, OptLevel, Options, Subtarget};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};
use support::Random;

/// Largest number of statements of a work-item that are compared.
const MOST: usize = 2000;
/// Number of first visits of a wave to an instruction that are examined; of later visits, one in `RARELY` is.
const VISITS: u32 = 6;
const RARELY: u32 = 32;

/// What was examined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of visits to instructions that were examined.
    pub places: u64,
    /// Number of lanes at these visits that were active, and described rightly.
    pub active: u64,
    /// Number of lanes at these visits that were parked, and described rightly.
    pub waiting: u64,
    /// Number of lanes at these visits that were outside the function, and described rightly.
    pub outside: u64,
    /// Number of lanes whose position the debug information does not say.
    pub unknown: u64,
    /// Number of visits to instructions of functions without a description of lanes.
    pub unsaid: u64,
    /// Number of times that a parked lane resumed at the predicted address.
    pub resumed: u64,
    /// Number of lanes that were parked until the end of the program, as predicted.
    pub ended: u64,
    /// Number of statements that agree with the interpreter's.
    pub statements: u64,
    /// Number of statements that do not agree, in programs for which this is allowed.
    pub strays: u64,
}

impl std::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.places += other.places;
        self.active += other.active;
        self.waiting += other.waiting;
        self.outside += other.outside;
        self.unknown += other.unknown;
        self.unsaid += other.unsaid;
        self.resumed += other.resumed;
        self.ended += other.ended;
        self.statements += other.statements;
        self.strays += other.strays;
    }
}

/// An error that is injected on purpose, to test that the judge finds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Planted {
    /// No error.
    #[default]
    Nothing,
    /// Parked lanes are described as resuming one instruction later.
    Later,
    /// A parked lane is described as outside the function.
    Outside,
    /// A wrong bit in the mask of active lanes.
    Active,
}

/// A program, and how it is run.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// Source text of the program.
    pub source: &'a str,
    /// Names of the kernels that are run.
    pub kernels: &'a [&'a str],
    /// Sizes of the dispatches.
    pub shape: &'a Shape,
    /// Calling convention.
    pub call_abi: Convention,
    /// Whether each statement that a lane reaches has to agree with the interpreter. It does not in programs
    /// with divergent calls: such a call is a waterfall loop, and its statement begins again after the loop.
    pub is_witnessed: bool,
}

/// How a program is compiled.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Processor with its modes.
    pub target: Subtarget,
    /// Optimisation level.
    pub level: OptLevel,
    /// DWARF version.
    pub version: DwarfVersion,
}

/// Compares the debug information with the execution for the kernels of a program.
///
/// # Errors
/// The first position that is wrong.
pub fn check(program: Program<'_>, how: How, planted: Planted) -> Result<Count, String> {
    // A program that does not fit the processor is skipped.
    let Some((object, module)) = compile(program, how) else { return Ok(Count::default()) };
    let mut count = Count::default();
    for kernel in program.kernels {
        let tracer = Tracer {
            module: &module,
            source: program.source,
            events: RefCell::default(),
            places: RefCell::default(),
        };
        interpret_watched(&module, kernel, program.shape, how.target.wave_size, Some(&tracer))
            .map_err(|error| format!("interpreter: {error}"))?;
        count += judge(&object, program, kernel, (tracer.events.into_inner(), planted))?;
    }
    Ok(count)
}

/// Damages the debug information of a program `times` times, and runs the comparison each time. The result
/// does not matter, but there must be no panic.
pub fn damage(program: Program<'_>, how: How, times: u64) {
    let Some((sound, _)) = compile(program, how) else { return };
    let Ok(parsed) = codeobj::CodeObject::parse(&sound) else { return };
    let names =
        [".debug_info", ".debug_abbrev", ".debug_loclists", ".debug_loc", ".debug_addr", ".debug_frame"];
    let sections =
        names.into_iter().filter_map(|name| parsed.section(name).filter(|section| !section.data.is_empty()));
    let ranges: Vec<(usize, usize)> = sections
        .map(|section| (section.data.as_ptr() as usize - sound.as_ptr() as usize, section.data.len()))
        .collect();
    for seed in 0..times {
        let mut rng = Random::new(seed);
        let mut bytes = sound.clone();
        for _ in 0..1 + rng.below(8) {
            let &(start, len) = rng.pick(&ranges);
            bytes[start + rng.below(len)] = rng.bits() as u8;
        }
        for kernel in program.kernels {
            let _ = judge(&bytes, program, kernel, (FxHashMap::default(), Planted::Nothing));
        }
    }
}

fn compile(program: Program<'_>, how: How) -> Option<(Vec<u8>, ir::Module)> {
    let dwarf = Dwarf { dialect: Dialect::Heterogeneous, version: how.version, ..Dwarf::default() };
    let options = Options {
        opt_level: how.level,
        debug: DebugInfo::Full,
        dwarf,
        call_abi: program.call_abi,
        file_name: "test.k".to_owned(),
        ..Options::default()
    };
    let mut meant = Meant::default();
    let object = Compiler::new(how.target).compile_observed(program.source, &options, &mut meant).ok()?;
    Some((object.bytes().to_vec(), meant.0))
}

fn judge(
    object: &[u8],
    program: Program<'_>,
    kernel: &str,
    (events, planted): (FxHashMap<Item, Vec<Place>>, Planted),
) -> Result<Count, String> {
    let parsed = codeobj::CodeObject::parse(object).map_err(|error| error.to_string())?;
    let info = Info::read(&parsed).map_err(|error| error.to_string())?;
    let frames = dwarf::Frames::read(&parsed).ok();
    let said = (&info, frames.as_ref());
    let judge = Judge::new(&parsed, said, program.shape, events, (planted, program.is_witnessed));
    let way = (Mode::Fast, program.call_abi);
    let ran = emulate_watched(way, object, kernel, program.shape, Scramble::default(), Some(&judge));
    let inner = judge.inner.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(wrong) = inner.wrong {
        return Err(format!("{kernel}: {wrong}"));
    }
    ran.map(|_| inner.count).map_err(|error| format!("emulator: {error}"))
}

/// Line and column of a statement.
type Place = (u32, u32);

/// Records the statements that each work-item reaches.
struct Tracer<'a> {
    module: &'a ir::Module,
    source: &'a str,
    events: RefCell<FxHashMap<Item, Vec<Place>>>,
    /// Places by source location, computed once.
    places: RefCell<FxHashMap<SrcLoc, Place>>,
}

impl Watcher for Tracer<'_> {
    fn before(&self, at: &At<'_>) {
        let Some(track) = &self.module.funcs[at.func].track else { return };
        for what in track.notes.before(at.inst) {
            let What::Statement(loc) = what else { continue };
            let place =
                *self.places.borrow_mut().entry(loc).or_insert_with(|| line_and_column(self.source, loc));
            let mut events = self.events.borrow_mut();
            for lane in bits(at.active) {
                let [x, y, z] = at.item(lane);
                let own = events.entry((at.group, x | y << 10 | z << 20)).or_default();
                if own.len() < MOST {
                    own.push(place);
                }
            }
        }
    }
}

/// Compares the debug information with the execution while a program runs.
struct Judge<'a> {
    info: &'a Info,
    frames: Option<&'a dwarf::Frames>,
    /// Places of statements, by the address where the statement begins.
    statements: FxHashMap<u64, Place>,
    shape: Shape,
    events: FxHashMap<Item, Vec<Place>>,
    planted: Planted,
    is_witnessed: bool,
    inner: Mutex<Inner<'a>>,
}

#[derive(Default)]
struct Inner<'a> {
    /// Kinds of instructions by address.
    kinds: FxHashMap<u64, Kind>,
    /// Descriptions of lanes by address.
    said: FxHashMap<u64, Option<LanesAt<'a>>>,
    waves: FxHashMap<([u32; 3], u32), Wave>,
    /// Position of each work-item in its trace.
    next: FxHashMap<Item, usize>,
    count: Count,
    wrong: Option<String>,
}

/// State of a wave.
#[derive(Default)]
struct Wave {
    calls: Vec<Call>,
    last: Last,
    visits: FxHashMap<u64, u32>,
}

/// The last instruction of a wave.
#[derive(Clone, Copy, Default)]
struct Last {
    kind: Kind,
    /// Lanes that were active.
    active: u64,
    /// Address after the instruction.
    behind: u64,
}

/// A function on the call stack.
struct Call {
    /// Return address.
    back: u64,
    /// Lanes that were active at the call.
    entered: u64,
    /// For each parked lane: the predicted address, and the address at which it was predicted.
    said: Vec<Option<(u64, u64)>>,
    /// Lanes that were active before whole wave mode, while it lasts.
    whole: Option<u64>,
}

impl Call {
    fn new(entered: u64, back: u64) -> Call {
        Call { back, entered, said: vec![None; 64], whole: None }
    }
}

/// What an instruction does to the call stack and to EXEC.
#[derive(Clone, Copy, Default, PartialEq)]
enum Kind {
    Call,
    Return,
    /// Makes all lanes active.
    AllOn,
    /// Writes EXEC.
    Exec,
    End,
    #[default]
    Other,
}

impl Kind {
    fn from_text(text: &str) -> Kind {
        let (name, operands) = text.split_once(' ').unwrap_or((text, ""));
        let all = operands.ends_with(" -1");
        match name {
            "s_swappc_b64" | "s_call_b64" => Kind::Call,
            "s_setpc_b64" => Kind::Return,
            "s_endpgm" => Kind::End,
            "s_or_saveexec_b64" | "s_or_saveexec_b32" if all => Kind::AllOn,
            "s_mov_b64" | "s_mov_b32" if all && operands.starts_with("exec") => Kind::AllOn,
            _ if name.contains("saveexec") || operands.starts_with("exec") => Kind::Exec,
            _ => Kind::Other,
        }
    }
}

impl<'a> Judge<'a> {
    fn new(
        object: &codeobj::CodeObject<'_>,
        (info, frames): (&'a Info, Option<&'a dwarf::Frames>),
        shape: &Shape,
        events: FxHashMap<Item, Vec<Place>>,
        (planted, is_witnessed): (Planted, bool),
    ) -> Judge<'a> {
        let places: FxHashSet<Place> = events.values().flatten().copied().collect();
        let lines = codeobj::disasm::Lines::read(object);
        let rows = lines.rows_of_statements().map(|(address, place)| (address, (place.line, place.column)));
        // A function has a row before its first statement, which is not in the trace.
        let statements = rows.filter(|(_, place)| places.contains(place)).collect();
        let (shape, inner) = (*shape, Mutex::default());
        Judge { info, frames, statements, shape, events, planted, is_witnessed, inner }
    }

    fn look(&self, at: &Stopped<'_>, inner: &mut Inner<'a>) -> Result<(), String> {
        let Inner { kinds, said, waves, next, count, .. } = inner;
        let kind = *kinds.entry(at.address()).or_insert_with(|| Kind::from_text(&at.text()));
        let wave = waves.entry((at.group(), at.wave())).or_default();
        wave.enter(at, kind)?;
        self.statement(at, next, count)?;
        let visits = wave.visits.entry(at.address()).or_default();
        *visits += 1;
        let is_looked_at = *visits <= VISITS || visits.is_multiple_of(RARELY);
        let call = wave.calls.last_mut().ok_or("nothing is under way")?;
        let active = call.whole.unwrap_or(at.exec());
        resumed(call, active, at, count)?;
        let is_end = kind == Kind::End;
        if is_looked_at || is_end {
            let said = said
                .entry(at.address())
                .or_insert_with(|| LanesAt::new(self.info, self.frames, at.address()));
            self.compare_lanes(said.as_ref(), (call, active), at, count)?;
        }
        if is_end && wave.calls.len() == 1 {
            ended(&mut wave.calls[0], at, count)?;
        }
        Ok(())
    }

    /// Checks that the statement at which lanes are active comes next in the interpreter's trace of each
    /// lane, possibly after skipped statements.
    fn statement(
        &self,
        at: &Stopped<'_>,
        next: &mut FxHashMap<Item, usize>,
        count: &mut Count,
    ) -> Result<(), String> {
        let Some(place) = self.statements.get(&at.address()) else { return Ok(()) };
        for lane in bits(at.exec()) {
            let item = item_of(&self.shape, at.group(), at.wave() * at.lanes() + lane as u32);
            let Some(events) = self.events.get(&item) else { continue };
            let from = next.entry(item).or_default();
            let found = events.iter().skip(*from).position(|event| event == place);
            match found {
                Some(n) => *from += n + 1,
                None if events.len() >= MOST => *from = MOST,
                None if !self.is_witnessed => {
                    count.strays += 1;
                    continue;
                }
                None => {
                    return Err(format!(
                        "{:#x}: lane {lane} comes to {place:?} again, {item:?}",
                        at.address()
                    ));
                }
            }
            count.statements += 1;
        }
        Ok(())
    }

    /// Compares the description of the lanes with what is known, and keeps the predictions for parked lanes.
    fn compare_lanes(
        &self,
        said: Option<&LanesAt<'_>>,
        (call, active): (&mut Call, u64),
        at: &Stopped<'_>,
        count: &mut Count,
    ) -> Result<(), String> {
        let address = at.address();
        // Functions of the library are not functions of the source and have no description.
        let Some(said) = said else {
            count.unsaid += 1;
            return Ok(());
        };
        let mut said = said.positions_in(at);
        self.plant(&mut said, active, call.entered);
        if said.active != active {
            return Err(format!("{address:#x}: {:#x} are said to be active, not {active:#x}", said.active));
        }
        count.places += 1;
        for lane in 0..at.lanes() as usize {
            let is = |mask: u64| mask >> lane & 1 == 1;
            let position = said.positions[lane];
            let wrong =
                |what: &str| Err(format!("{address:#x}: lane {lane} {what}, and {position:x?} is said"));
            match position {
                Position::Unknown => count.unknown += 1,
                Position::At(there) if is(active) => {
                    if there != address {
                        return wrong("is active");
                    }
                    count.active += 1;
                }
                Position::Outside if !is(call.entered) => count.outside += 1,
                Position::At(_) if !is(call.entered) => return wrong("is not in the function"),
                Position::Outside => return wrong("waits"),
                Position::At(there) => match call.said[lane] {
                    Some((before, when)) if before != there => {
                        return wrong(&format!("goes on at {before:#x} by what {when:#x} said"));
                    }
                    Some(_) => count.waiting += 1,
                    None => {
                        count.waiting += 1;
                        call.said[lane] = Some((there, address));
                    }
                },
            }
        }
        Ok(())
    }

    fn plant(&self, said: &mut debug::Lanes, active: u64, entered: u64) {
        let waiting = entered & !active;
        let lane = waiting.trailing_zeros() as usize;
        match (self.planted, said.positions.get_mut(lane)) {
            (Planted::Active, _) => said.active ^= 1 << 63,
            (Planted::Outside, Some(position)) => *position = Position::Outside,
            (Planted::Later, Some(Position::At(address))) => *address += 4,
            _ => {}
        }
    }
}

impl Wave {
    /// Updates the call stack, and the state of whole wave mode.
    fn enter(&mut self, at: &Stopped<'_>, kind: Kind) -> Result<(), String> {
        let now = Last { kind, active: at.exec(), behind: at.address() + at.length() };
        let last = std::mem::replace(&mut self.last, now);
        if self.calls.is_empty() || last.kind == Kind::Call {
            self.calls.push(Call::new(at.exec(), last.behind));
        }
        // Jumps to a jump table's target and tail calls are not returns.
        let goes_back = self.calls.last().is_some_and(|call| call.back == at.address());
        if last.kind == Kind::Return && goes_back && self.calls.len() > 1 {
            let done = self.calls.pop();
            let left = done.into_iter().flat_map(|call| call.said).flatten().next();
            if let Some((there, when)) = left {
                return Err(format!(
                    "{when:#x} said that a lane goes on at {there:#x}, and the function has returned"
                ));
            }
        }
        if let Some(call) = self.calls.last_mut() {
            match last.kind {
                Kind::AllOn => call.whole = Some(last.active),
                Kind::Exec => call.whole = None,
                _ => {}
            }
        }
        Ok(())
    }
}

/// Checks that lanes that have become active have resumed at the predicted address.
fn resumed(call: &mut Call, active: u64, at: &Stopped<'_>, count: &mut Count) -> Result<(), String> {
    for lane in bits(active) {
        let Some((there, when)) = call.said[lane].take() else { continue };
        if there != at.address() {
            let address = at.address();
            return Err(format!("lane {lane} goes on at {address:#x}, and {when:#x} said at {there:#x}"));
        }
        count.resumed += 1;
    }
    Ok(())
}

/// Checks that the lanes that are still parked at the end of the program were predicted to resume there.
fn ended(call: &mut Call, at: &Stopped<'_>, count: &mut Count) -> Result<(), String> {
    for lane in 0..64 {
        let Some((there, when)) = call.said[lane].take() else { continue };
        if there != at.address() {
            return Err(format!("lane {lane} goes on nowhere, and {when:#x} said at {there:#x}"));
        }
        count.ended += 1;
    }
    Ok(())
}

impl Debugger for Judge<'_> {
    fn before(&self, at: &Stopped<'_>) -> Go {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        match self.look(at, &mut inner) {
            Ok(()) => Go::On,
            Err(wrong) => {
                inner.wrong.get_or_insert(wrong);
                Go::End
            }
        }
    }

    fn found(&self, _: &Stopped<'_>, _: &kernc::sim::Report) -> Go {
        Go::On
    }

    fn trapped(&self, _: &Stopped<'_>, _: &kernc::sim::Fault) {}
}
