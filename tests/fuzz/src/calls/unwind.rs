//! Tests call frame information against execution. While a program runs, the judge records each caller's
//! registers at its call. At many instructions it unwinds the call stack and compares the frames and the
//! recovered registers with the recorded ones.
//!
//! The information may say that a register is lost only if all callers of the function treat it as clobbered
//! ([`Agreements`]). So information that says nothing does not pass the test.
//!
//! [`Agreements`]: super::agreements::Agreements

use codeobj::CodeObject;
use dwarf::{
    AddressSpace, Bank, Caller, Common, DebugInfo, EntryState, Frames, LoadedProgram, Machine, Need, Reason,
    Register, ReturnAddress, Row,
};
use kernc::isa::{Reg, RegRange, RegSet};
use kernc::sim::{Agreement, Debugger, Go, Stopped};
use kernc::{Dialect, Subtarget};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Mutex, PoisonError};
use support::Random;

/// A later visit to an instruction is examined with a probability of 1 in this number; the first visits
/// always are.
const RARELY: usize = 1 << 13;
/// Largest number of later visits that are examined.
const LATER: u32 = 24;
/// Number of innermost callers whose registers are compared at each examined visit; for the outer callers
/// only the frames are compared.
const NEAR: usize = 1;
/// Number of innermost callers whose registers are compared where a call has entered a function for the first
/// time from its call site.
const NEARER: usize = 4;
/// Number of innermost callers whose registers are compared at a later visit. It is small, because each
/// caller's registers are computed from all the frames inside it.
const DEEP: usize = 12;
/// Number of callers whose frames are compared if only the depth of the call stack is new.
const SHALLOW: usize = 3;

/// How much of a run is examined.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Largest number of functions of a program.
    pub functions: usize,
    /// Largest number of instructions at which the registers are compared.
    pub places: u64,
    /// Number of first visits to each instruction that are examined.
    pub visits: u32,
    /// The run is cut after this many instructions without an instruction that is new, or new at its depth of
    /// the call stack.
    pub patience: u64,
}

impl Effort {
    /// Examines each executed instruction once.
    pub const EACH: Effort =
        Effort { functions: super::MOST, places: u64::MAX, visits: 1, patience: 200_000 };
}

/// What was examined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of runs.
    pub runs: u64,
    /// Number of runs that were cut because no new instruction came any more.
    pub cut: u64,
    /// Number of programs that the compiler refuses for a permitted reason.
    pub refused: u64,
    /// Number of instructions that were executed.
    pub steps: u64,
    /// Number of visits to instructions at which registers were compared.
    pub places: u64,
    /// Number of visits at which frames were compared, with or without registers: each instruction at each
    /// depth of the call stack.
    pub stacks: u64,
    /// Number of different instructions that were executed.
    pub instructions: u64,
    /// Bytes of the instructions that were executed.
    pub bytes: u64,
    /// Bytes of all functions.
    pub of_bytes: u64,
    /// Number of frames whose return address and frame address were right.
    pub frames: u64,
    /// Number of callers' registers that were recovered with the right value.
    pub found: u64,
    /// Number of scalar registers that the information says are lost, where all callers of the function
    /// expect it.
    pub lost_scalars: u64,
    /// Number of vector registers that the information says are lost, where all callers of the function
    /// expect it.
    pub lost_vectors: u64,
    /// Number of inactive lanes of the vector registers in `lost_vectors`; their values were recovered and
    /// right.
    pub parts: u64,
    /// Number of arguments in a lane whose value, according to the entry of the call site, was right.
    pub passed: u64,
    /// Number of arguments whose value could not be recovered although the entry of the call site describes
    /// it: the function may have been reached by a jump, or an outer caller does not describe its own
    /// arguments.
    pub not_passed: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.runs += other.runs;
        self.cut += other.cut;
        self.refused += other.refused;
        self.steps += other.steps;
        self.places += other.places;
        self.stacks += other.stacks;
        self.instructions += other.instructions;
        self.bytes += other.bytes;
        self.of_bytes += other.of_bytes;
        self.frames += other.frames;
        self.found += other.found;
        self.lost_scalars += other.lost_scalars;
        self.lost_vectors += other.lost_vectors;
        self.parts += other.parts;
        self.passed += other.passed;
        self.not_passed += other.not_passed;
    }
}

/// Compares call frame information with the execution while a program runs.
pub(super) struct Judge {
    dialect: Dialect,
    lanes: u32,
    /// How much the stack pointer counts for each byte of a lane.
    scale: u32,
    effort: Effort,
    functions: Vec<Function>,
    frames: Frames,
    info: DebugInfo,
    inner: Mutex<Inner>,
}

/// A function with the rows of its call frame information.
struct Function {
    from: u64,
    to: u64,
    common: Common,
    rows: Vec<Row>,
    /// Registers that all callers of the function treat as clobbered.
    lost: RegSet,
}

#[derive(Default)]
struct Inner {
    waves: FxHashMap<([u32; 3], u32), Wave>,
    visits: FxHashMap<u64, Visits>,
    /// Functions by call: address of the first instruction, and return address.
    entered: FxHashSet<(u64, u64)>,
    /// Records of calls that have returned; their memory is reused.
    spare: Vec<Call>,
    counts: Counts,
    /// Number of later visits that were examined.
    later: u32,
    /// Number of instructions since the last one that was new.
    idle: u64,
    wrong: Option<String>,
    rng: Option<Random>,
}

/// Facts about the visits to an instruction.
struct Visits {
    count: u32,
    kind: Kind,
    /// Set of the depths of the call stack at which the instruction was executed; the last bit stands for all
    /// greater depths.
    depths: u64,
}

#[derive(Default)]
struct Wave {
    calls: Vec<Call>,
    /// Kind of the last instruction.
    last: Option<Kind>,
}

/// State of a caller at its call.
#[derive(Default)]
struct Call {
    /// Return address, as an address of the file.
    back: u64,
    exec: u64,
    scalars: Vec<u32>,
    vectors: Vec<[u32; 64]>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Call,
    Jump,
    Other,
}

impl Judge {
    /// Reads an object's call frame information. `lost` returns the registers that the callers of a function
    /// treat as clobbered, by the name of the function.
    pub(super) fn new(
        object: &[u8],
        (dialect, target, effort): (Dialect, &Subtarget, Effort),
        seed: u64,
        lost: impl Fn(&str) -> RegSet,
    ) -> Result<Judge, String> {
        let object = CodeObject::parse(object).map_err(|error| error.to_string())?;
        let frames = Frames::read(&object).map_err(|error| error.to_string())?;
        let symbols = object.symbols();
        let functions = frames.frames.iter().map(|frame| {
            let symbol = symbols.iter().find(|symbol| symbol.value == frame.from && !symbol.name.is_empty());
            let symbol =
                symbol.ok_or_else(|| format!("frames of {:#x}, where no function is", frame.from))?;
            let rows = frames.rows(frame).map_err(|error| format!("{}: {error}", symbol.name))?;
            let lost = lost(symbol.name);
            Ok(Function {
                from: frame.from,
                to: frame.to,
                common: frames.common_of(frame).clone(),
                rows,
                lost,
            })
        });
        let mut functions: Vec<Function> = functions.collect::<Result<_, String>>()?;
        functions.sort_by_key(|function| function.from);
        let info = DebugInfo::read(&object).map_err(|error| error.to_string())?;
        let inner = Inner { rng: Some(Random::new(seed)), ..Inner::default() };
        let (lanes, scale) = (target.wave_size, target.stack_scale());
        Ok(Judge { dialect, lanes, scale, effort, functions, frames, info, inner: Mutex::new(inner) })
    }

    /// Returns the counts, or the first error.
    pub(super) fn finish(self) -> Result<Counts, String> {
        let mut inner = self.inner.into_inner().unwrap_or_else(PoisonError::into_inner);
        inner.counts.runs = 1;
        inner.counts.cut = u64::from(inner.idle > self.effort.patience);
        inner.counts.instructions = inner.visits.len() as u64;
        inner.counts.of_bytes = self.functions.iter().map(|function| function.to - function.from).sum();
        inner.wrong.map_or(Ok(inner.counts), Err)
    }

    fn function(&self, address: u64) -> Result<(&Function, &Row), String> {
        let before = self.functions.partition_point(|function| function.from <= address);
        let function = self.functions[..before].last().filter(|function| address < function.to);
        let function = function.ok_or_else(|| format!("no entry is about {address:#x}"))?;
        let before = function.rows.partition_point(|row| row.from <= address);
        let row = function.rows[..before].last().filter(|row| address < row.to);
        Ok((function, row.ok_or_else(|| format!("no row is about {address:#x}"))?))
    }

    fn look(&self, at: &Stopped<'_>, inner: &mut Inner) -> Result<(), String> {
        let Inner { waves, visits, entered, spare, counts, later, idle, rng, .. } = inner;
        let wave = waves.entry((at.group(), at.wave())).or_default();
        let address = at.address();
        let visit = visits.entry(address).or_insert_with(|| {
            counts.bytes += at.length();
            Visits { count: 0, kind: kind(at), depths: 0 }
        });
        // After a jump to the return address of the innermost call, the call has returned.
        if wave.last == Some(Kind::Jump) && wave.calls.last().is_some_and(|call| call.back == address) {
            spare.extend(wave.calls.pop());
        }
        visit.count += 1;
        let depth = 1 << wave.calls.len().min(63);
        let is_new = visit.depths & depth == 0;
        visit.depths |= depth;
        counts.steps += 1;
        *idle = if is_new { 0 } else { *idle + 1 };
        let is_entered = wave.last == Some(Kind::Call)
            && wave.calls.last().is_some_and(|call| entered.insert((address, call.back)));
        let rarely = *later < LATER && rng.as_mut().is_some_and(|rng| rng.one_in(RARELY));
        *later += u32::from(rarely);
        let near = match (visit.count <= self.effort.visits, is_entered, rarely) {
            (_, _, true) => DEEP,
            (_, true, _) => NEARER,
            (true, ..) => NEAR,
            _ => 0,
        };
        if counts.places < self.effort.places && (near > 0 || is_new) {
            self.unwind_stop(at, &wave.calls, near, counts).map_err(|why| {
                format!("at {address:#x} `{}`, {} calls deep: {why}", at.text(), wave.calls.len())
            })?;
        }
        wave.last = Some(visit.kind);
        if visit.kind == Kind::Call {
            let mut call = spare.pop().unwrap_or_default();
            call.begin(at);
            wave.calls.push(call);
        }
        Ok(())
    }

    /// Unwinds a stopped wave: compares the registers of the `near` innermost callers, and the frames of all.
    fn unwind_stop(
        &self,
        at: &Stopped<'_>,
        calls: &[Call],
        near: usize,
        counts: &mut Counts,
    ) -> Result<(), String> {
        counts.stacks += 1;
        counts.places += u64::from(near > 0);
        let state = State { at, lane: first_lane(at.exec(), calls) };
        self.unwind(&state, (at.address(), at.base()), (calls, near), 0, counts)?;
        match calls.last() {
            Some(call) if near > 0 => self.check_arguments(&state, call, counts),
            _ => Ok(()),
        }
    }

    /// Checks that the entry of the call site gives the arguments the values that they had at the call.
    fn check_arguments(&self, state: &State<'_>, call: &Call, counts: &mut Counts) -> Result<(), String> {
        let site = self.info.calls.site(call.back);
        let site =
            site.ok_or_else(|| format!("no entry is about the call that returns to {:#x}", call.back))?;
        let encoding = self.info.units[self.info.entries[site].unit].encoding;
        let program = LoadedProgram { info: &self.info, frames: &self.frames, base: state.at.base() };
        let given = EntryState::new(program, state, state.at.address());
        for register in self.info.children(site).filter_map(|die| dwarf::parameter(die, encoding)) {
            let Some((_, number, _)) = register.facts() else { continue };
            let lanes = [state.lane, 63u32.saturating_sub(call.exec.leading_zeros())];
            for lane in lanes.into_iter().filter(|lane| call.exec >> lane & 1 != 0) {
                let expected = call.vectors[number as usize][lane as usize];
                match given.dword(register, lane) {
                    Ok(found) if found == expected => counts.passed += 1,
                    Ok(found) => {
                        return Err(format!(
                            "{register} of lane {lane}: passed {found:#x}, not {expected:#x}"
                        ));
                    }
                    Err(_) => counts.not_passed += 1,
                }
            }
        }
        Ok(())
    }

    /// Unwinds one frame, and recursively the frames around it. `depth` is the number of callers so far.
    fn unwind(
        &self,
        machine: &dyn Machine,
        (address, base): (u64, u64),
        (calls, near): (&[Call], usize),
        depth: usize,
        counts: &mut Counts,
    ) -> Result<(), String> {
        let (function, row) = self.function(address)?;
        let why = |reason: Reason| {
            let row = Frames::row_text(row, &function.common);
            format!("caller {depth}, from {address:#x}: {reason}: {row}")
        };
        let caller = Caller::new(machine, row, &function.common).map_err(why)?;
        let back = caller.return_address().map_err(why)?;
        let Some((call, outer)) = calls.split_last() else {
            return match back {
                ReturnAddress::Outermost => Ok(()),
                other => Err(format!("caller {depth}: {other:?}, and there is none")),
            };
        };
        if back != ReturnAddress::At(call.back.wrapping_add(base)) {
            return Err(format!("caller {depth}: {back:x?}, not at {:#x} + {base:#x}", call.back));
        }
        let lanes = self.lanes;
        let frame = caller.frame().and_then(|frame| frame.address());
        let expected = match self.dialect {
            Dialect::Standard => (AddressSpace::PRIVATE_LANE, call.scalars[32] / self.scale),
            Dialect::Heterogeneous => (AddressSpace::PRIVATE_WAVE, call.scalars[32] / self.scale * lanes),
        };
        if frame != Some((expected.0, expected.1.into())) {
            return Err(format!("caller {depth}: the frame is at {frame:x?}, not at {expected:x?}"));
        }
        counts.frames += 1;
        let look = Look { function, caller: &caller, call, lanes };
        if near == 0 && depth + 1 >= SHALLOW {
            return Ok(());
        }
        if depth < near {
            look.registers(counts).map_err(|why| format!("caller {depth}, from {address:#x}: {why}"))?;
        }
        self.unwind(&caller, (call.back - 1, base), (outer, near), depth + 1, counts)
    }
}

/// A caller, as it is unwound and as it was at the call.
struct Look<'a> {
    function: &'a Function,
    caller: &'a Caller<'a>,
    call: &'a Call,
    lanes: u32,
}

impl Look<'_> {
    fn registers(&self, counts: &mut Counts) -> Result<(), String> {
        let exec = Register::in_bank(Bank::Exec, 0, self.lanes).ok_or("EXEC has no number")?;
        let size = self.lanes as usize / 8;
        // A function preserves EXEC.
        self.compare_register(exec, 126, &self.call.exec.to_le_bytes()[..size])?;
        for (number, value) in (0..106).zip(&self.call.scalars) {
            let register =
                Register::in_bank(Bank::Sgpr, number, self.lanes).ok_or("an SGPR has no number")?;
            let found = self.compare_register(register, number as u16, &value.to_le_bytes())?;
            *(if found { &mut counts.found } else { &mut counts.lost_scalars }) += 1;
        }
        for (number, values) in (0..).zip(&self.call.vectors) {
            let (bank, in_bank) =
                if number < 256 { (Bank::Vgpr, number) } else { (Bank::Agpr, number - 256) };
            let register = Register::in_bank(bank, in_bank, self.lanes).ok_or("a VGPR has no number")?;
            let mut bytes = [0; 256];
            for (to, value) in bytes.chunks_exact_mut(4).zip(values) {
                to.copy_from_slice(&value.to_le_bytes());
            }
            let bytes = &bytes[..4 * self.lanes as usize];
            match self.vector(register, 256 + number as u16, bytes)? {
                None => counts.found += 1,
                Some(parts) => {
                    counts.lost_vectors += 1;
                    counts.parts += parts;
                }
            }
        }
        Ok(())
    }

    /// Compares a vector register. If the register is lost, its inactive lanes still have to be right;
    /// returns their number. Returns `None` if all lanes were recovered.
    fn vector(&self, register: Register, code: u16, expected: &[u8]) -> Result<Option<u64>, String> {
        let mut bytes = [0; 256];
        let bytes = &mut bytes[..expected.len()];
        let lanes = u64::MAX >> (64 - self.lanes);
        let there = self.caller.register_there(register, bytes);
        match there {
            Ok(there) if there == lanes => self.same(register, 0, bytes, expected).map(|()| None),
            // If more than the active lanes are lost, or a callee has lost them, `lost` compares the register
            // in contiguous parts.
            Ok(there) if (there | self.call.exec) & lanes != lanes => self.lost(register, code, expected),
            Err(_) => self.lost(register, code, expected),
            Ok(_) if !self.function.lost.contains(Reg(code)) => self.lost(register, code, expected),
            Ok(there) => {
                let is_there = |lane: usize| there >> lane & 1 == 1;
                let dwords = bytes.chunks_exact_mut(4).zip(expected.chunks_exact(4));
                let lost = dwords.enumerate().filter(|&(lane, _)| !is_there(lane));
                lost.for_each(|(_, (dword, expected))| dword.copy_from_slice(expected));
                self.same(register, 0, bytes, expected)?;
                Ok(Some(u64::from((!self.call.exec & lanes).count_ones())))
            }
        }
    }

    /// Compares a vector register that must not be lost, or of which more than the active lanes are lost.
    fn lost(&self, register: Register, code: u16, expected: &[u8]) -> Result<Option<u64>, String> {
        match self.compare_register(register, code, expected)? {
            true => Ok(None),
            false => self.inactive(register, expected).map(Some),
        }
    }

    /// Compares a register. Returns false if it is lost and may be; `code` is its number in the set of
    /// registers that may be lost.
    fn compare_register(&self, register: Register, code: u16, expected: &[u8]) -> Result<bool, String> {
        let mut bytes = [0; 256];
        let bytes = &mut bytes[..expected.len()];
        match self.caller.register(register, bytes) {
            Ok(()) => self.same(register, 0, bytes, expected).map(|()| true),
            Err(Reason::Undefined) if self.function.lost.contains(Reg(code)) => Ok(false),
            Err(Reason::Undefined) => Err(format!("{register} is said to be lost, but callers rely on it")),
            Err(reason) => Err(format!("{register}: {reason}")),
        }
    }

    /// Compares the inactive lanes of a lost register, in contiguous parts. Returns the number of inactive
    /// lanes.
    fn inactive(&self, register: Register, expected: &[u8]) -> Result<u64, String> {
        let is_inactive = |lane: u32| lane < self.lanes && self.call.exec >> lane & 1 == 0;
        let (mut count, mut lane) = (0, 0);
        while lane < self.lanes {
            let end = (lane..).find(|&lane| !is_inactive(lane)).unwrap_or(lane);
            let (first, last) = (4 * lane as usize, 4 * end as usize);
            if lane < end {
                let mut bytes = [0; 256];
                let bytes = &mut bytes[first..last];
                let found = self.caller.register_part(register, first, bytes);
                found.map_err(|reason| format!("{register}, byte {first}: {reason}"))?;
                self.same(register, first, bytes, &expected[first..last])?;
            }
            count += u64::from(end - lane);
            lane = end + 1;
        }
        Ok(count)
    }

    fn same(&self, register: Register, first: usize, found: &[u8], expected: &[u8]) -> Result<(), String> {
        if found == expected {
            return Ok(());
        }
        let differs = (0..).zip(found.chunks_exact(4).zip(expected.chunks_exact(4)));
        match differs.into_iter().find(|&(_, (a, b))| a != b) {
            None => Ok(()),
            Some((dword, (found, expected))) => Err(format!(
                "{register}, dword {}: {found:02x?}, not {expected:02x?} ({:?}; active {:#x})",
                first / 4 + dword,
                self.caller.row().rule(register),
                self.call.exec
            )),
        }
    }
}

impl Call {
    /// Records the state of a caller that makes a call here.
    fn begin(&mut self, at: &Stopped<'_>) {
        self.back = at.address() + at.length();
        self.exec = at.exec();
        self.scalars.clear();
        self.scalars.extend((0..128).map(|code| at.scalar(code).unwrap_or_default()));
        self.vectors.clear();
        self.vectors.extend((0..512).map_while(|number| at.vector(number)));
    }
}

/// Returns the registers that all callers of a function treat as clobbered.
pub(super) fn lost(known: &Agreement) -> RegSet {
    let mut lost = if known.named.is_empty() { known.pointed } else { known.named };
    lost.insert(RegRange { first: Reg(30), len: 2 });
    lost
}

fn kind(at: &Stopped<'_>) -> Kind {
    match at.text().split_whitespace().next() {
        Some("s_swappc_b64" | "s_call_b64") => Kind::Call,
        Some("s_setpc_b64") => Kind::Jump,
        _ => Kind::Other,
    }
}

/// Returns a lane that is active in all callers, and also active here if such a lane exists.
fn first_lane(exec: u64, calls: &[Call]) -> u32 {
    let active = calls.last().map_or(u64::MAX, |call| call.exec);
    let here = exec & active;
    if here != 0 { here.trailing_zeros() } else { active.trailing_zeros() & 63 }
}

impl Debugger for Judge {
    fn before(&self, at: &Stopped<'_>) -> Go {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        match self.look(at, &mut inner) {
            Ok(()) if inner.idle > self.effort.patience => Go::End,
            Ok(()) => Go::On,
            Err(why) => {
                inner.wrong = Some(why);
                Go::End
            }
        }
    }

    fn found(&self, _: &Stopped<'_>, _: &kernc::sim::Report) -> Go {
        Go::End
    }

    fn trapped(&self, _: &Stopped<'_>, _: &kernc::sim::Fault) {}
}

/// A stopped wave as location expressions read it.
struct State<'a> {
    at: &'a Stopped<'a>,
    lane: u32,
}

impl State<'_> {
    /// Reads scratch memory in its physical order, in which the dwords of all lanes alternate (seed 000, line
    /// 740).
    fn wave_memory(&self, address: u64, bytes: &mut [u8]) -> bool {
        let lanes = u64::from(self.at.lanes());
        (address..).zip(bytes).all(|(at, byte)| {
            let (dword, lane) = (at / 4 / lanes, at / 4 % lanes);
            self.at.read_private(lane as u32, dword * 4 + at % 4, std::slice::from_mut(byte))
        })
    }
}

impl Machine for State<'_> {
    fn register(&self, register: Register, bytes: &mut [u8]) -> Result<(), Reason> {
        self.register_part(register, 0, bytes)
    }

    fn register_part(&self, register: Register, first: usize, bytes: &mut [u8]) -> Result<(), Reason> {
        let missing = || Reason::Need(Need::Register(register));
        let halves = |value: u64| [value as u32, (value >> 32) as u32];
        let (one, two);
        let dwords = match register.facts().ok_or_else(missing)? {
            (Bank::Sgpr, number, _) => {
                one = [self.at.scalar(number as u16).ok_or_else(missing)?];
                &one[..]
            }
            (bank @ (Bank::Exec | Bank::Pc), ..) => {
                two = halves(if bank == Bank::Exec { self.at.exec() } else { self.at.address() });
                &two[..]
            }
            (bank, number, _) => {
                let first = if bank == Bank::Agpr { 256 } else { 0 };
                &self.at.vector((first + number) as u16).ok_or_else(missing)?[..]
            }
        };
        // Reads begin and end at a dword boundary.
        let from = dwords.get(first / 4..).filter(|_| first.is_multiple_of(4)).ok_or(Reason::Outside)?;
        let to = bytes.chunks_mut(4).zip(from);
        to.for_each(|(to, dword)| to.copy_from_slice(&dword.to_le_bytes()[..to.len()]));
        Ok(())
    }

    fn memory(&self, space: AddressSpace, address: u64, bytes: &mut [u8]) -> Result<(), Reason> {
        let is_there = match space {
            AddressSpace::PRIVATE_WAVE => self.wave_memory(address, bytes),
            AddressSpace::PRIVATE_LANE => self.at.read_private(self.lane, address, bytes),
            other => other.lane().is_some_and(|lane| self.at.read_private(lane, address, bytes)),
        };
        let missing = || Reason::Need(Need::Memory(space, address, bytes.len() as u64));
        if is_there { Ok(()) } else { Err(missing()) }
    }

    fn lane(&self) -> Result<u32, Reason> {
        Ok(self.lane)
    }
}
