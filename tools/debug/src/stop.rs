//! A wave that has stopped: what a front end may ask of it.

use crate::breakpoints::{Breakpoint, Breakpoints, Wanted, Watchpoint};
use crate::expr::{Content, Evaluator, Parts, Problem, Shown, Ty, UNDEFINED, Value};
use crate::instruction::Kind;
use crate::lanes::{Lanes, Position};
use crate::letter::Letter;
use crate::program::{Line, Program};
use crate::session::{Action, State, Step};
use crate::spot::{Place, Spot};
use crate::waves::{Wave, Who};
use dwarf::{AddressSpace, Die};
use sim::{Fault, Flat, Registers, Report, Stopped};
use std::sync::Arc;

/// Why a wave has stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// At the first instruction of the dispatch.
    Begin,
    /// A breakpoint, by its number.
    Breakpoint(u32),
    /// The condition of a breakpoint has no value.
    Condition {
        /// The number of the breakpoint.
        id: u32,
        /// Why.
        why: Problem,
    },
    /// A watched place has changed: number of the watchpoint, what was there, what is there now; which wave's instruction did it, and where.
    Changed {
        /// Its number.
        id: u32,
        /// What was there.
        old: String,
        /// What is there.
        new: String,
        /// The wave whose instruction it was, and the address of that.
        by: Option<(Who, u64)>,
    },
    /// A step is done.
    Step,
    /// The function has returned.
    Finished,
    /// Gone back, or forward to an instruction by its number.
    Arrived,
    /// The schedule of weak mode has done something that concerns the wave: in words.
    Chosen(String),
    /// Strict mode has found something wrong with the instruction. The dispatch ends soon.
    Found(Box<Report>),
    /// The instruction did not come off well; the dispatch ends.
    Trapped(Box<Fault>),
    /// The dispatch has ended: the wave stands at its last instruction, after which nothing changes.
    Ended,
    /// The front end has asked to be heard.
    Asked,
    /// A value is set.
    Set,
}

/// A memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Global memory, by address.
    Global,
    /// The group's LDS, by offset.
    Lds,
    /// A lane's private memory, by offset.
    Private,
}

/// Which variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variables {
    /// All that are in force.
    All,
    /// Parameters of the function.
    Parameters,
    /// Other variables of the function.
    Locals,
}

/// A function under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its name.
    pub function: String,
    /// Where it is: an address in the file.
    pub address: u64,
    /// Where it is in the source.
    pub line: Option<String>,
    /// It is inlined into the next one.
    pub is_inlined: bool,
    /// Calls under way that it waits for.
    pub(crate) depth: usize,
    /// Functions that are inlined in it around the instruction.
    pub(crate) level: usize,
}

impl Frame {
    /// Of a function of which no more is known than where it is in the source.
    pub fn unknown(function: String, line: Option<String>) -> Frame {
        Frame { function, address: 0, line, is_inlined: false, depth: 0, level: 0 }
    }
}

/// A stopped wave.
pub struct Stop<'a> {
    /// Why.
    pub reason: Reason,
    /// The wave; in a frame that waits for another, with the registers that it had there.
    pub at: &'a Stopped<'a>,
    /// The wave in its innermost frame.
    top: &'a Stopped<'a>,
    /// As [`Frame`] has it.
    level: usize,
    /// Whether it is the wave that has stopped which is looked at.
    is_own: bool,
    /// The object.
    pub program: &'a Program,
    pub(crate) state: &'a mut State,
}

impl<'a> Stop<'a> {
    pub(crate) fn new(
        reason: Reason,
        at: &'a Stopped<'a>,
        program: &'a Program,
        state: &'a mut State,
    ) -> Stop<'a> {
        Stop { reason, at, top: at, level: 0, is_own: true, program, state }
    }
}

impl Stop<'_> {
    /// The wave.
    pub fn who(&self) -> Who {
        Who::of(self.at)
    }

    /// Looks at another wave of the group, by its number; at the one that has stopped if it has ended, or none is given.
    pub fn on_wave<T>(&mut self, wave: Option<u32>, look: impl FnOnce(&mut Stop<'_>) -> T) -> T {
        let other = wave.and_then(|wave| self.at.wave_of_group(wave));
        let at = other.as_ref().unwrap_or(self.at);
        let is_own = self.is_own && other.as_ref().is_none_or(|other| other.wave() == self.at.wave());
        look(&mut Stop { is_own, ..Stop::new(self.reason.clone(), at, self.program, self.state) })
    }

    /// Looks at a function under way by its number in [`Stop::frames`]: with the registers that the wave had when it called another, and
    /// memory as it is.
    ///
    /// # Errors
    /// There is no such function, or its registers are not kept.
    pub fn on_frame<T>(
        &mut self,
        number: usize,
        look: impl FnOnce(&mut Stop<'_>) -> T,
    ) -> Result<T, Problem> {
        let frames = self.frames();
        let missing = || format!("there is no function {number}: {} are under way", frames.len());
        let &Frame { depth, level, .. } = frames.get(number).ok_or_else(missing)?;
        let (top, reason, program) = (self.top, self.reason.clone(), self.program);
        let kept = match depth {
            0 => None,
            _ => Some(
                self.registers_of(depth).ok_or("its registers are not kept: the recursion is too deep")?,
            ),
        };
        // The state is the front end's to change: it takes what is looked at out of it.
        let at = kept.as_deref().map(|registers| top.with_registers(registers));
        let at = at.as_ref().unwrap_or(top);
        Ok(look(&mut Stop { reason, at, top, level, is_own: self.is_own, program, state: self.state }))
    }

    /// Where the object's call frame information is wrong about a function under way, in words: what it says of the registers is held
    /// against what they were at the call. Nothing where it says nothing.
    pub fn misled(&self, number: usize) -> Vec<String> {
        let depth = self.frames().get(number).map_or(0, |frame| frame.depth);
        let calls = self.state.waves.get(&self.who()).map_or(&[][..], |wave| &wave.calls);
        let call = calls.len().checked_sub(depth).and_then(|at| calls.get(at));
        let (Some(call), Some(kept)) = (call, self.registers_of(depth)) else { return Vec::new() };
        let below = depth.checked_sub(1).and_then(|depth| self.registers_of(depth));
        let callee = below.as_deref().map(|registers| self.top.with_registers(registers));
        let callee = callee.as_ref().unwrap_or(self.top);
        let caller = self.top.with_registers(&kept);
        crate::unwinding::misled(self.program, callee, &caller, (self.lane(), call.back))
    }

    /// The registers at the call that a frame waits for.
    fn registers_of(&self, depth: usize) -> Option<Arc<Registers>> {
        let calls = &self.state.waves.get(&self.who())?.calls;
        calls.get(calls.len().checked_sub(depth)?)?.registers.clone()
    }

    /// Instructions of all waves so far, with the one at hand: its number.
    pub fn ordinal(&self) -> u64 {
        self.state.ordinal
    }

    /// What the schedule of weak mode has done since the last stop, the last of it.
    pub fn choices(&self) -> impl Iterator<Item = &str> {
        self.state.choices.iter().map(String::as_str)
    }

    /// The line of the source.
    pub fn line(&self) -> Option<Line> {
        self.program.line_at(self.at.address())
    }

    /// The lane that is looked at: the one that was chosen, that for which a breakpoint's condition holds, or the first that is active.
    pub fn lane(&self) -> u32 {
        self.state.lane.or(self.state.focus.filter(|_| self.is_own)).unwrap_or_else(|| match self.at.exec() {
            0 => 0,
            exec => exec.trailing_zeros(),
        })
    }

    /// The wave of the group that was chosen to be looked at.
    pub fn chosen_wave(&self) -> Option<u32> {
        self.state.wave
    }

    /// Looks at a wave of the group, by its number, until a wave stops again; steps are those of that wave.
    pub fn choose_wave(&mut self, wave: u32) {
        self.state.wave = Some(wave);
    }

    /// Looks at a lane from now on, which steps follow; none: whichever is active.
    ///
    /// # Errors
    /// The wave has no such lane.
    pub fn choose_lane(&mut self, lane: Option<u32>) -> Result<(), Problem> {
        match lane {
            Some(lane) if lane >= self.at.lanes() => Err(format!("the wave has {} lanes", self.at.lanes())),
            _ => {
                self.state.lane = lane;
                Ok(())
            }
        }
    }

    /// The value of an expression for a lane.
    ///
    /// # Errors
    /// What is wrong with it, or why there is no value.
    pub fn value(&self, text: &str, lane: u32) -> Result<Shown, Problem> {
        self.value_as(text, lane, None)
    }

    /// The same, with numbers in a format.
    ///
    /// # Errors
    /// As [`Stop::value`].
    pub fn value_as(&self, text: &str, lane: u32, letter: Option<Letter>) -> Result<Shown, Problem> {
        let evaluator = self.evaluator(lane);
        self.shown(&evaluator, evaluator.value(text), letter)
    }

    /// A value to be shown; what is computed of undefined values is `?`.
    fn shown(
        &self,
        evaluator: &Evaluator<'_>,
        value: Result<Value, Problem>,
        letter: Option<Letter>,
    ) -> Result<Shown, Problem> {
        let value = match value {
            Err(why) if why == UNDEFINED => {
                let (text, ty, parts) = ("?".to_owned(), "?".to_owned(), Parts::None);
                return Ok(Shown { text, ty, parts, spot: None, pending: None });
            }
            value => value?,
        };
        let (text, ty) = (evaluator.text(&value, letter), evaluator.types.name(&value.ty));
        let spot = value.spot(self.who(), evaluator.lane);
        let pending = crate::pending::wait(self.at, &value.registers());
        Ok(Shown { text, ty, parts: evaluator.parts(&value), spot, pending })
    }

    /// Evaluates what a lane has in the function that is looked at.
    fn evaluator(&self, lane: u32) -> Evaluator<'_> {
        Evaluator::new(self.at, self.program, lane, self.level)
    }

    /// What sets an expression to a value that was typed, as [`Action::Set`] takes it, and the value as text.
    ///
    /// # Errors
    /// The value does not fit, or there is nothing that can be written.
    pub fn set(&self, text: &str, new: &str, lane: u32) -> Result<(Action, String), Problem> {
        let stands =
            !matches!(self.reason, Reason::Found(_) | Reason::Trapped(_) | Reason::Chosen(_) | Reason::Ended);
        if !self.is_own || !std::ptr::eq(self.at, self.top) {
            return Err("a value is set in the function where the wave that has stopped stands".to_owned());
        }
        if !stands || !self.at.takes_writes() {
            return Err("a value is set in front of an instruction, and not in weak mode".to_owned());
        }
        let (writes, text) = crate::assign::assign(&self.evaluator(lane), (text, new))?;
        Ok((Action::Set(writes), text))
    }

    /// The value of an expression for each lane, or why it has none; and whether the lane is active.
    pub fn across(&self, text: &str, letter: Option<Letter>) -> Vec<(Result<Shown, Problem>, bool)> {
        let mut evaluator = self.evaluator(0);
        let parsed = evaluator.parse(text);
        let value = |lane| {
            evaluator.lane = lane;
            let value = parsed.as_ref().map_err(Problem::clone).and_then(|parsed| evaluator.eval(parsed));
            (self.shown(&evaluator, value, letter), self.at.exec() >> lane & 1 != 0)
        };
        (0..self.at.lanes()).map(value).collect()
    }

    /// Reads memory; of private memory, a lane's. Whether it is all there.
    pub fn read(&self, space: Space, lane: u32, address: u64, bytes: &mut [u8]) -> bool {
        match space {
            Space::Global => self.at.read(address, bytes),
            Space::Lds => self.at.read_lds(address, bytes),
            Space::Private => self.at.read_private(lane, address, bytes),
        }
    }

    /// Variables in force, with their values for a lane or why they have none.
    pub fn variables(&self, lane: u32) -> Vec<(String, Result<Shown, Problem>)> {
        self.variables_of(Variables::All, lane)
    }

    /// The same for some of them.
    pub fn variables_of(&self, which: Variables, lane: u32) -> Vec<(String, Result<Shown, Problem>)> {
        let evaluator = self.evaluator(lane);
        let Some(scope) = &evaluator.scope else { return Vec::new() };
        let variables = scope.variables();
        let wanted = variables.iter().filter(|variable| match which {
            Variables::All => true,
            Variables::Parameters => variable.is_parameter(),
            // Variables of the unit are right below its own entry.
            Variables::Locals => !variable.is_parameter() && variable.die.depth > 1,
        });
        let value = |name: &str| self.shown(&evaluator, evaluator.value(name), None);
        wanted.map(|variable| (variable.name.to_owned(), value(variable.name))).collect()
    }

    /// The type of an expression, or the type that a name is of.
    ///
    /// # Errors
    /// It is neither.
    pub fn type_of(&self, text: &str) -> Result<String, Problem> {
        let evaluator = self.evaluator(self.lane());
        evaluator.type_of(text).map(|ty| evaluator.types.name(&ty))
    }

    /// What such a type consists of.
    ///
    /// # Errors
    /// As [`Stop::type_of`].
    pub fn described(&self, text: &str) -> Result<String, Problem> {
        let evaluator = self.evaluator(self.lane());
        evaluator.type_of(text).map(|ty| evaluator.types.described(&ty))
    }

    /// The memory and the address that an expression leads to: a pointer's, an array's, or a number that is a flat address.
    ///
    /// # Errors
    /// It has no value, or is no address.
    pub fn address(&self, text: &str, lane: u32) -> Result<(Space, u64), Problem> {
        let evaluator = self.evaluator(lane);
        let (space, address) = evaluator.target(&evaluator.value(text)?)?;
        match space {
            AddressSpace::GLOBAL => Ok((Space::Global, address)),
            AddressSpace::LOCAL => Ok((Space::Lds, address)),
            AddressSpace::GENERIC => Ok(match Flat::of(address) {
                Flat::Global(address) => (Space::Global, address),
                Flat::Lds(offset) => (Space::Lds, offset),
                Flat::Private(offset) => (Space::Private, offset),
            }),
            space if space == AddressSpace::PRIVATE_LANE || space.lane().is_some() => {
                Ok((Space::Private, address))
            }
            other => Err(format!("{other} memory cannot be shown")),
        }
    }

    /// The number of some bytes that is at a place in memory, in a format; none if nothing is there.
    pub fn unit(&self, space: Space, address: u64, bytes: usize, letter: Letter) -> Option<String> {
        let mut content = vec![0; bytes];
        if !self.read(space, self.lane(), address, &mut content) {
            return None;
        }
        let evaluator = self.evaluator(self.lane());
        let memory = match space {
            Space::Global => AddressSpace::GLOBAL,
            Space::Lds => AddressSpace::LOCAL,
            Space::Private => AddressSpace::PRIVATE_LANE,
        };
        let content = evaluator.content(memory, address, content);
        Some(evaluator.text(&Value::new(Ty::Bits(bytes), Some(content)), Some(letter)))
    }

    /// Waves that have begun and not come to their end, and the line that each has come to last.
    pub fn running(&self) -> Vec<(Who, Option<Line>)> {
        let own = self.who();
        self.waves_that(|who, wave| who == own || !wave.is_done)
    }

    fn waves_that(&self, is_one: impl Fn(Who, &Wave) -> bool) -> Vec<(Who, Option<Line>)> {
        let waves = self.state.waves.iter().filter(|(who, wave)| is_one(**who, wave));
        let line = |wave: &Wave| wave.turns.iter().rev().find_map(|turn| turn.line);
        let mut waves: Vec<_> = waves.map(|(who, wave)| (*who, line(wave))).collect();
        waves.sort_by_key(|wave| wave.0);
        waves
    }

    /// On until the function returns.
    ///
    /// # Errors
    /// Nothing has called it.
    pub fn out(&self) -> Result<Action, Problem> {
        let is_called = self.state.waves.get(&self.who()).is_some_and(|wave| !wave.calls.is_empty());
        match is_called {
            true => Ok(Action::Step(Step::Out)),
            false => Err("nobody has called this: it is the kernel".to_owned()),
        }
    }

    /// On by one instruction, and over a function that it calls.
    pub fn over(&self) -> Action {
        match Kind::of(self.at) {
            Kind::Call => Action::Until(vec![self.at.address() + self.at.length()]),
            _ => Action::Step(Step::Instruction),
        }
    }

    /// Waves that have come to their end, and the line that each has come to last.
    pub fn ended(&self) -> Vec<(Who, Option<Line>)> {
        let own = self.who();
        self.waves_that(|who, wave| who != own && wave.is_done)
    }

    /// Where the lanes are, by what the object says; none if it says nothing of them in the function that is looked at.
    pub fn lanes(&self) -> Option<Lanes> {
        self.lanes_of(self.at)
    }

    fn lanes_of(&self, at: &Stopped<'_>) -> Option<Lanes> {
        crate::lanes::lanes(self.program.info.as_ref()?, self.program.frames.as_ref(), at)
    }

    /// The innermost function in which a lane is, and where it is there: at an address of the file. None if the object does not say it.
    pub fn position(&self, lane: u32) -> Option<(String, u64)> {
        let calls = self.state.waves.get(&self.who()).map_or(0, |wave| wave.calls.len());
        for depth in 0..=calls {
            let kept = match depth {
                0 => None,
                _ => Some(self.registers_of(depth)?),
            };
            let at = kept.as_deref().map(|registers| self.top.with_registers(registers));
            let at = at.as_ref().unwrap_or(self.top);
            match self.lanes_of(at)?.positions.get(lane as usize)? {
                Position::At(address) => {
                    let function = self.program.function_at(*address).map_or("?", |one| one.name.as_str());
                    return Some((function.to_owned(), *address));
                }
                // Whoever called it may know.
                Position::Outside => {}
                Position::Unknown => return None,
            }
        }
        None
    }

    /// An address of the file, as the source has it.
    pub fn place_of(&self, address: u64) -> String {
        let line = self.program.line_at(address).map(|line| self.program.name_of(line));
        line.unwrap_or_else(|| format!("{address:#x}"))
    }

    /// Functions under way, innermost first.
    pub fn frames(&self) -> Vec<Frame> {
        let calls = self.state.waves.get(&self.who()).map_or(&[][..], |wave| &wave.calls);
        let addresses = [self.top.address()].into_iter().chain(calls.iter().rev().map(|call| call.call));
        addresses.enumerate().flat_map(|(depth, address)| self.functions(address, depth)).collect()
    }

    /// The function at an address, behind those that are inlined there, innermost first. Each stands where the one in it is called.
    fn functions(&self, address: u64, depth: usize) -> Vec<Frame> {
        let mut line = self.program.line_at(address).map(|line| self.program.name_of(line));
        let mut frames = Vec::new();
        let info = self.program.info.as_ref();
        for (info, at) in
            info.into_iter().flat_map(|info| info.around(address).into_iter().rev().map(move |at| (info, at)))
        {
            let die = &info.entries[at];
            if die.tag == "DW_TAG_inlined_subroutine" {
                let function = info.name_of(die).unwrap_or("?").to_owned();
                let level = frames.len();
                frames.push(Frame { function, address, line: line.take(), is_inlined: true, depth, level });
                line = call_line(die);
            }
        }
        let function = self.program.function_at(address).map_or("?", |one| one.name.as_str()).to_owned();
        let level = frames.len();
        frames.push(Frame { function, address, line, is_inlined: false, depth, level });
        frames
    }

    /// Stops at places of the code: a line, `file:line`, a function, `*address`; with a condition, where it holds in some lane. Gives the
    /// breakpoint.
    ///
    /// # Errors
    /// There is no such place, or the condition is ill-formed.
    pub fn add_breakpoint(&mut self, place: &str, condition: Option<&str>) -> Result<Breakpoint, Problem> {
        self.breakpoints_mut().add(&Wanted { place, condition, ..Wanted::default() })
    }

    /// Breakpoints and watchpoints, to be changed.
    pub fn breakpoints_mut(&mut self) -> Breakpoints<'_> {
        let here = self.line();
        Breakpoints { program: self.program, state: self.state, here }
    }

    /// Addresses that a place in the code means.
    ///
    /// # Errors
    /// There is no such place.
    pub fn addresses(&self, place: &str) -> Result<Vec<u64>, Problem> {
        self.program.addresses(place, self.line())
    }

    /// Where the value of an expression is in memory.
    ///
    /// # Errors
    /// It is nowhere there.
    pub fn spot(&self, text: &str, lane: u32) -> Result<Spot, Problem> {
        let value = self.evaluator(lane).value(text)?;
        value.spot(self.who(), lane).ok_or_else(|| format!("`{text}` is not in memory"))
    }

    /// Stops when what an expression names in memory changes. Gives the number of the watchpoint.
    ///
    /// # Errors
    /// The expression has no place in memory.
    pub fn add_watchpoint(&mut self, text: &str) -> Result<u32, Problem> {
        let spot = self.spot(text, self.lane())?;
        Ok(self.watch(text, spot))
    }

    /// Watches bytes of memory, by a flat address: in LDS the group's, in private memory the lane's.
    pub fn watch_memory(&mut self, address: u64, bytes: usize) -> u32 {
        let place = Place::flat(address, self.who(), self.lane());
        self.watch(&format!("*{address:#x}"), Spot { place, bytes, ty: None })
    }

    /// Watches a place, from what is there now on.
    fn watch(&mut self, text: &str, spot: Spot) -> u32 {
        let id = self.breakpoints_mut().watch(text, spot);
        self.look_at_watched();
        id
    }

    /// Notes what is at the places that are watched.
    pub fn look_at_watched(&mut self) {
        for watch in &mut self.state.watchpoints {
            watch.look(self.at);
        }
    }

    /// Takes out a breakpoint or watchpoint. Whether there was one.
    pub fn remove(&mut self, id: u32) -> bool {
        self.breakpoints_mut().remove(id)
    }

    /// Breakpoints.
    pub fn breakpoints(&self) -> &[Breakpoint] {
        &self.state.breakpoints
    }

    /// Watchpoints.
    pub fn watchpoints(&self) -> &[Watchpoint] {
        &self.state.watchpoints
    }
}

/// Where an inlined function is called.
fn call_line(die: &Die) -> Option<String> {
    let line = match die.get("DW_AT_call_line")? {
        dwarf::Content::Number(line) => *line,
        _ => return None,
    };
    let file = die.text("DW_AT_call_file").unwrap_or("?");
    Some(format!("{file}:{line}"))
}

/// The text of a watched value.
pub(crate) fn watched(program: &Program, at: &Stopped<'_>, watch: &Watchpoint, bytes: Vec<u8>) -> String {
    let ty = watch.ty.map_or(Ty::Bits(bytes.len()), Ty::Die);
    Evaluator::new(at, program, 0, 0).text(&Value::new(ty, Some(Content::of(bytes))), None)
}
