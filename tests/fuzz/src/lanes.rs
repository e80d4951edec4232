//! Where lanes are, by debug information, against where they go: `DW_AT_LLVM_active_lane` and `DW_AT_LLVM_lane_pc` at each instruction that a program executes.
//!
//! What is said of a lane that waits is a prophecy: the address at which it goes on. The judge keeps it until the emulator activates the lane in the same
//! call, or the program ends with the lane still away, and then it has to be that address. Of lanes that a function was called without, it has to be said that they are not in
//! it. Where the lanes go has its own witness: the statements at which each is active are a part of those that the interpreter comes to on the
//! frontend's IR, in their order.

use crate::launch::{emulate_watched, interpret_watched};
use crate::program::Shape;
use crate::rng::Rng;
use crate::truth::{Item, Meant, item_of, lanes as bits, place};
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

/// Statements of a work-item that are compared.
const MOST: usize = 2000;
/// Visits of a wave to an instruction that are looked at, and of later ones each of so many.
const VISITS: u32 = 6;
const RARELY: u32 = 32;

/// What has been looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Instructions, each as often as it was looked at.
    pub places: u64,
    /// Lanes at them that are active, waiting, or not in the function; of all was said what is so.
    pub active: u64,
    /// See above.
    pub waiting: u64,
    /// See above.
    pub outside: u64,
    /// Lanes of which nothing is said.
    pub unknown: u64,
    /// Instructions of functions that are not described.
    pub unsaid: u64,
    /// Lanes that went on where it was said, each once for each time that it waited.
    pub resumed: u64,
    /// Lanes that waited for the end.
    pub ended: u64,
    /// Statements that were the interpreter's.
    pub statements: u64,
    /// Those that were not, where that is allowed.
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

/// A mistake that is planted, for a test of the judge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Planted {
    /// None.
    #[default]
    Nothing,
    /// Waiting lanes are said to go on an instruction later.
    Later,
    /// A waiting lane is said to be outside.
    Outside,
    /// EXEC is another one.
    Active,
}

/// A program.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// Its text.
    pub source: &'a str,
    /// The kernels that are run.
    pub kernels: &'a [&'a str],
    /// Sizes of dispatches.
    pub shape: &'a Shape,
    /// What calls agree on.
    pub call_abi: Convention,
    /// Whether each statement that lanes come to has to be the interpreter's. A call of addresses that differ between lanes is a loop of turns, behind
    /// which its statement begins.
    pub is_witnessed: bool,
}

/// How it is compiled.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// For which processor.
    pub target: Subtarget,
    /// The level.
    pub level: OptLevel,
    /// The version of DWARF.
    pub version: DwarfVersion,
}

/// Compares both for the kernels of a program.
///
/// # Errors
/// What is said and not so.
pub fn check(program: Program<'_>, how: How, planted: Planted) -> Result<Count, String> {
    // What is too large for the processor is no matter here.
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

/// Damages what is said of a program, so many times, and looks at it all the same: it says less then, or what is wrong.
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
        let mut rng = Rng::new(seed);
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

/// A statement's line and column.
type Place = (u32, u32);

/// Writes down which statements each work-item comes to.
struct Tracer<'a> {
    module: &'a ir::Module,
    source: &'a str,
    events: RefCell<FxHashMap<Item, Vec<Place>>>,
    /// Where statements are: found once.
    places: RefCell<FxHashMap<SrcLoc, Place>>,
}

impl Watcher for Tracer<'_> {
    fn before(&self, at: &At<'_>) {
        let Some(track) = &self.module.funcs[at.func].track else { return };
        for number in track.before(at.inst) {
            let What::Statement(loc) = track.records[number].what else { continue };
            let place = *self.places.borrow_mut().entry(loc).or_insert_with(|| place(self.source, loc));
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

/// Looks on while a program runs.
struct Judge<'a> {
    info: &'a Info,
    frames: Option<&'a dwarf::Frames>,
    /// Addresses of statements.
    statements: FxHashMap<u64, Place>,
    shape: Shape,
    events: FxHashMap<Item, Vec<Place>>,
    planted: Planted,
    is_witnessed: bool,
    inner: Mutex<Inner<'a>>,
}

#[derive(Default)]
struct Inner<'a> {
    /// By address.
    kinds: FxHashMap<u64, Kind>,
    /// By address: what is said there.
    said: FxHashMap<u64, Option<LanesAt<'a>>>,
    waves: FxHashMap<([u32; 3], u32), Wave>,
    /// How far each work-item has come in its trace.
    next: FxHashMap<Item, usize>,
    count: Count,
    wrong: Option<String>,
}

/// A wave.
#[derive(Default)]
struct Wave {
    calls: Vec<Call>,
    last: Last,
    visits: FxHashMap<u64, u32>,
}

/// The last instruction.
#[derive(Clone, Copy, Default)]
struct Last {
    kind: Kind,
    /// The lanes that were active.
    active: u64,
    /// The address behind it.
    behind: u64,
}

/// A function under way.
struct Call {
    /// Where it returns to.
    back: u64,
    /// Lanes that it was called with.
    entered: u64,
    /// By lane that waits: where it is said to go on, and where that was said.
    said: Vec<Option<(u64, u64)>>,
    /// The lanes that were active when all were switched on, while they are.
    whole: Option<u64>,
}

impl Call {
    fn new(entered: u64, back: u64) -> Call {
        Call { back, entered, said: vec![None; 64], whole: None }
    }
}

/// What an instruction does, as far as it matters here.
#[derive(Clone, Copy, Default, PartialEq)]
enum Kind {
    Call,
    Return,
    /// Switches all lanes on.
    AllOn,
    /// Writes EXEC.
    Exec,
    End,
    #[default]
    Other,
}

impl Kind {
    fn of(text: &str) -> Kind {
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
        // A function begins before its first statement does.
        let statements = rows.filter(|(_, place)| places.contains(place)).collect();
        let (shape, inner) = (*shape, Mutex::default());
        Judge { info, frames, statements, shape, events, planted, is_witnessed, inner }
    }

    fn look(&self, at: &Stopped<'_>, inner: &mut Inner<'a>) -> Result<(), String> {
        let Inner { kinds, said, waves, next, count, .. } = inner;
        let kind = *kinds.entry(at.address()).or_insert_with(|| Kind::of(&at.text()));
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
            self.said(said.as_ref(), (call, active), at, count)?;
        }
        if is_end && wave.calls.len() == 1 {
            ended(&mut wave.calls[0], at, count)?;
        }
        Ok(())
    }

    /// The statement that active lanes come to is one of the interpreter's.
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

    /// Holds what is said here against what is known by now, and keeps what is said of lanes that wait.
    fn said(
        &self,
        said: Option<&LanesAt<'_>>,
        (call, active): (&mut Call, u64),
        at: &Stopped<'_>,
        count: &mut Count,
    ) -> Result<(), String> {
        let address = at.address();
        // Functions of the library are no functions of the source.
        let Some(said) = said else {
            count.unsaid += 1;
            return Ok(());
        };
        let mut said = said.of(at);
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
    /// Keeps account of calls, and of code for which all lanes are on.
    fn enter(&mut self, at: &Stopped<'_>, kind: Kind) -> Result<(), String> {
        let now = Last { kind, active: at.exec(), behind: at.address() + at.length() };
        let last = std::mem::replace(&mut self.last, now);
        if self.calls.is_empty() || last.kind == Kind::Call {
            self.calls.push(Call::new(at.exec(), last.behind));
        }
        // Jump tables and calls at the end of a function are no returns.
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

/// Lanes that are active have gone on where it was said.
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

/// Lanes that are away when the program ends were to wait for that.
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
