//! A stop of a wave, with methods for everything that a front end may ask about it.

use crate::breakpoints::{Breakpoint, Breakpoints, Wanted, Watchpoint};
use crate::expr::{Content, Evaluator, Parts, Problem, Shown, Ty, UNDEFINED, Value};
use crate::instruction::Kind;
use crate::lanes::{Lanes, Position};
use crate::memory_value::{MemoryLocation, MemoryValue};
use crate::number_format::NumberFormat;
use crate::program::{Line, Program};
use crate::session::{Action, State, Step};
use crate::waves::{Wave, WaveId};
use dwarf::{AddressSpace, Die};
use sim::{Fault, FlatAddress, Registers, Report, Stopped};
use std::sync::Arc;

/// Why a wave has stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The dispatch is at its first instruction.
    Begin,
    /// The wave has reached the breakpoint with this identifier.
    Breakpoint(u32),
    /// The condition of a breakpoint cannot be evaluated.
    Condition {
        /// Identifier of the breakpoint.
        id: u32,
        /// Why the condition has no value.
        why: Problem,
    },
    /// The content of watched memory has changed.
    Changed {
        /// Identifier of the watchpoint.
        id: u32,
        /// Text of the old value.
        old: String,
        /// Text of the new value.
        new: String,
        /// Wave whose instruction changed the watched value, and the address of that instruction.
        by: Option<(WaveId, u64)>,
    },
    /// A step is complete.
    Step,
    /// The function has returned.
    Finished,
    /// The dispatch has reached the instruction that the user wanted to go to. The user gave its number in
    /// the order of execution; it may be earlier or later.
    Arrived,
    /// The schedule of weak mode has made a choice for the wave. The text describes the choice.
    Chosen(String),
    /// Strict mode has found this error in the instruction. The dispatch will end because of it.
    Found(Box<Report>),
    /// The instruction has failed; the dispatch ends.
    Trapped(Box<Fault>),
    /// The dispatch has ended. The wave is stopped at its last instruction, and nothing will change any more.
    Ended,
    /// The front end has asked for a stop.
    Asked,
    /// The values of an [`Action::Set`] have been written.
    Set,
}

/// A kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Global memory, by address.
    Global,
    /// LDS of the work-group, by offset.
    Lds,
    /// Private memory of a lane, by offset.
    Private,
}

/// Selects variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variables {
    /// All variables that are in scope.
    All,
    /// Parameters of the function.
    Parameters,
    /// Variables of the function that are not parameters.
    Locals,
}

/// A function on the call stack of a wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Name of the function.
    pub function: String,
    /// Address in the object file of the instruction at which the function is: the current instruction, or
    /// the call of the next inner function.
    pub address: u64,
    /// Source line at which the function is, as `file:line`.
    pub line: Option<String>,
    /// Whether the function is inlined into the next frame.
    pub is_inlined: bool,
    /// Number of calls between this function and the innermost function on the call stack.
    pub(crate) depth: usize,
    /// Number of inlined functions that are nested in this function at the same instruction.
    pub(crate) level: usize,
}

impl Frame {
    /// Creates a frame of which only the name of the function and the source line are known.
    pub fn unknown(function: String, line: Option<String>) -> Frame {
        Frame { function, address: 0, line, is_inlined: false, depth: 0, level: 0 }
    }
}

/// A wave that has stopped.
pub struct Stop<'a> {
    /// Why the wave has stopped.
    pub reason: Reason,
    /// The wave with the registers that belong to the function that the user has selected on the call stack.
    /// If this function has called another function, these are the registers that the wave had at the call.
    pub at: &'a Stopped<'a>,
    /// The wave with the registers of its innermost frame.
    top: &'a Stopped<'a>,
    /// Number of inlined functions that are nested in the selected function: [`Frame::level`] of that frame.
    level: usize,
    /// Whether the wave that the user has selected is the one that has stopped.
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
    /// Returns the identity of the wave.
    pub fn who(&self) -> WaveId {
        WaveId::from_stop(self.at)
    }

    /// Calls `look` with another wave of the group selected, given by its number. If no number is given, or
    /// if that wave has ended, `look` gets the wave that has stopped.
    pub fn on_wave<T>(&mut self, wave: Option<u32>, look: impl FnOnce(&mut Stop<'_>) -> T) -> T {
        let other = wave.and_then(|wave| self.at.wave_of_group(wave));
        let at = other.as_ref().unwrap_or(self.at);
        let is_own = self.is_own && other.as_ref().is_none_or(|other| other.wave() == self.at.wave());
        look(&mut Stop { is_own, ..Stop::new(self.reason.clone(), at, self.program, self.state) })
    }

    /// Calls `look` with a function on the call stack selected, given by its number in [`Stop::frames`]. The
    /// registers are those that the wave had when the function called the next one. Memory has its present
    /// content.
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
        // `look` may change `state`, so the call uses a copy of the registers and not those in `state`.
        let at = kept.as_deref().map(|registers| top.with_registers(registers));
        let at = at.as_ref().unwrap_or(top);
        Ok(look(&mut Stop { reason, at, top, level, is_own: self.is_own, program, state: self.state }))
    }

    /// Checks the object's call frame information for a function on the call stack and returns a description
    /// of each error. An error is a caller's register whose value by the call frame information differs from
    /// the value that the wave had at the call. Registers that the information does not describe are not
    /// compared.
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

    /// Returns the registers that the wave had when the function with the call depth `depth` called the next
    /// function.
    fn registers_of(&self, depth: usize) -> Option<Arc<Registers>> {
        let calls = &self.state.waves.get(&self.who())?.calls;
        calls.get(calls.len().checked_sub(depth)?)?.registers.clone()
    }

    /// Returns the number of instructions that all waves together have executed so far, including the current
    /// one. This is the ordinal of the current instruction, its number in the order of execution.
    pub fn ordinal(&self) -> u64 {
        self.state.ordinal
    }

    /// Returns the latest choices that the schedule of weak mode has made since the last stop.
    pub fn choices(&self) -> impl Iterator<Item = &str> {
        self.state.choices.iter().map(String::as_str)
    }

    /// Returns the source line of the current instruction.
    pub fn line(&self) -> Option<Line> {
        self.program.line_at(self.at.address())
    }

    /// Returns the lane that the user looks at. This is the lane that the user has chosen. Without such a
    /// choice, it is the lane in which a breakpoint's condition holds, or else the first active lane.
    pub fn lane(&self) -> u32 {
        self.state.lane.or(self.state.focus.filter(|_| self.is_own)).unwrap_or_else(|| match self.at.exec() {
            0 => 0,
            exec => exec.trailing_zeros(),
        })
    }

    /// Returns the number of the wave of the group that the user has chosen to look at.
    pub fn chosen_wave(&self) -> Option<u32> {
        self.state.wave
    }

    /// Selects a wave of the group by its number, until a wave stops again. Steps apply to the selected wave.
    pub fn choose_wave(&mut self, wave: u32) {
        self.state.wave = Some(wave);
    }

    /// Selects the lane that the user looks at and that steps follow. With `None`, steps follow the lanes
    /// that are active.
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

    /// Returns the value of an expression for a lane.
    ///
    /// # Errors
    /// The expression is wrong, or has no value; the error says why.
    pub fn value(&self, text: &str, lane: u32) -> Result<Shown, Problem> {
        self.value_as(text, lane, None)
    }

    /// Returns the value of an expression for a lane, with numbers in the format `letter`.
    ///
    /// # Errors
    /// As [`Stop::value`].
    pub fn value_as(&self, text: &str, lane: u32, letter: Option<NumberFormat>) -> Result<Shown, Problem> {
        let evaluator = self.evaluator(lane);
        self.shown(&evaluator, evaluator.value(text), letter)
    }

    /// Converts a value for display. A value that is computed from bits that no instruction has written is
    /// shown as `?`.
    fn shown(
        &self,
        evaluator: &Evaluator<'_>,
        value: Result<Value, Problem>,
        letter: Option<NumberFormat>,
    ) -> Result<Shown, Problem> {
        let value = match value {
            Err(why) if why == UNDEFINED => {
                let (text, ty, parts) = ("?".to_owned(), "?".to_owned(), Parts::None);
                return Ok(Shown { text, ty, parts, memory_value: None, pending: None });
            }
            value => value?,
        };
        let (text, ty) = (evaluator.text(&value, letter), evaluator.types.name(&value.ty));
        let memory_value = value.memory_value(self.who(), evaluator.lane);
        let pending = crate::pending::wait(self.at, &value.registers());
        Ok(Shown { text, ty, parts: evaluator.parts(&value), memory_value, pending })
    }

    /// Returns an evaluator for a lane in the function that the user has selected.
    fn evaluator(&self, lane: u32) -> Evaluator<'_> {
        Evaluator::new(self.at, self.program, lane, self.level)
    }

    /// Returns the action [`Action::Set`] that gives an expression the value that the user has typed, and the
    /// new value as text.
    ///
    /// # Errors
    /// The value does not fit, or the expression names nothing that can be written.
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

    /// Returns for each lane the value of an expression, or the reason why it has none, and whether the lane
    /// is active.
    pub fn across(&self, text: &str, letter: Option<NumberFormat>) -> Vec<(Result<Shown, Problem>, bool)> {
        let mut evaluator = self.evaluator(0);
        let parsed = evaluator.parse(text);
        let value = |lane| {
            evaluator.lane = lane;
            let value = parsed.as_ref().map_err(Problem::clone).and_then(|parsed| evaluator.eval(parsed));
            (self.shown(&evaluator, value, letter), self.at.exec() >> lane & 1 != 0)
        };
        (0..self.at.lanes()).map(value).collect()
    }

    /// Reads memory into `bytes`. In the private address space, the memory is that of `lane`. Returns whether
    /// all the bytes exist.
    pub fn read(&self, space: Space, lane: u32, address: u64, bytes: &mut [u8]) -> bool {
        match space {
            Space::Global => self.at.read(address, bytes),
            Space::Lds => self.at.read_lds(address, bytes),
            Space::Private => self.at.read_private(lane, address, bytes),
        }
    }

    /// Returns the variables in scope, each with its value for a lane or the reason why it has none.
    pub fn variables(&self, lane: u32) -> Vec<(String, Result<Shown, Problem>)> {
        self.variables_of(Variables::All, lane)
    }

    /// Returns the variables that `which` selects, each with its value for a lane or the reason why it has
    /// none.
    pub fn variables_of(&self, which: Variables, lane: u32) -> Vec<(String, Result<Shown, Problem>)> {
        let evaluator = self.evaluator(lane);
        let Some(scope) = &evaluator.scope else { return Vec::new() };
        let variables = scope.variables();
        let wanted = variables.iter().filter(|variable| match which {
            Variables::All => true,
            Variables::Parameters => variable.is_parameter(),
            // Variables at the top level of the program have depth 1, because they are direct children of the
            // entry of the compilation unit.
            Variables::Locals => !variable.is_parameter() && variable.die.depth > 1,
        });
        let value = |name: &str| self.shown(&evaluator, evaluator.value(name), None);
        wanted.map(|variable| (variable.name.to_owned(), value(variable.name))).collect()
    }

    /// Returns the name of the type of an expression, or of the type that the text itself names.
    ///
    /// # Errors
    /// The text is neither an expression nor the name of a type.
    pub fn type_of(&self, text: &str) -> Result<String, Problem> {
        let evaluator = self.evaluator(self.lane());
        evaluator.type_of(text).map(|ty| evaluator.types.name(&ty))
    }

    /// Returns the declaration of the type of an expression, or of the type that the text itself names.
    ///
    /// # Errors
    /// As [`Stop::type_of`].
    pub fn described(&self, text: &str) -> Result<String, Problem> {
        let evaluator = self.evaluator(self.lane());
        evaluator.type_of(text).map(|ty| evaluator.types.described(&ty))
    }

    /// Returns the address to which an expression refers, and the kind of memory that it is in. This is the
    /// target of a pointer, the address of an array, or a number used as a flat address.
    ///
    /// # Errors
    /// The expression has no value, or the value is no address.
    pub fn address(&self, text: &str, lane: u32) -> Result<(Space, u64), Problem> {
        let evaluator = self.evaluator(lane);
        let (space, address) = evaluator.target(&evaluator.value(text)?)?;
        match space {
            AddressSpace::GLOBAL => Ok((Space::Global, address)),
            AddressSpace::LOCAL => Ok((Space::Lds, address)),
            AddressSpace::GENERIC => Ok(match FlatAddress::from_address(address) {
                FlatAddress::Global(address) => (Space::Global, address),
                FlatAddress::Lds(offset) => (Space::Lds, offset),
                FlatAddress::Private(offset) => (Space::Private, offset),
            }),
            space if space == AddressSpace::PRIVATE_LANE || space.lane().is_some() => {
                Ok((Space::Private, address))
            }
            other => Err(format!("{other} memory cannot be shown")),
        }
    }

    /// Returns the number that is stored in the `bytes` bytes of memory at an address, as text in the format
    /// `letter`. `None` if there is no memory at the address.
    pub fn unit(&self, space: Space, address: u64, bytes: usize, letter: NumberFormat) -> Option<String> {
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

    /// Returns the running waves, which have begun and not ended, each with the last source line that it has
    /// reached.
    pub fn running(&self) -> Vec<(WaveId, Option<Line>)> {
        let own = self.who();
        self.waves_that(|who, wave| who == own || !wave.is_done)
    }

    fn waves_that(&self, is_one: impl Fn(WaveId, &Wave) -> bool) -> Vec<(WaveId, Option<Line>)> {
        let waves = self.state.waves.iter().filter(|(who, wave)| is_one(**who, wave));
        let line = |wave: &Wave| wave.line_changes.iter().rev().find_map(|turn| turn.line);
        let mut waves: Vec<_> = waves.map(|(who, wave)| (*who, line(wave))).collect();
        waves.sort_by_key(|wave| wave.0);
        waves
    }

    /// Returns the action that runs the dispatch until the selected function returns.
    ///
    /// # Errors
    /// The function is the kernel, which was not called.
    pub fn out(&self) -> Result<Action, Problem> {
        let is_called = self.state.waves.get(&self.who()).is_some_and(|wave| !wave.calls.is_empty());
        match is_called {
            true => Ok(Action::Step(Step::Out)),
            false => Err("nobody has called this: it is the kernel".to_owned()),
        }
    }

    /// Returns the action that executes one instruction and, if the instruction is a call, the called
    /// function up to its return.
    pub fn over(&self) -> Action {
        match Kind::from_stop(self.at) {
            Kind::Call => Action::Until(vec![self.at.address() + self.at.length()]),
            _ => Action::Step(Step::Instruction),
        }
    }

    /// Returns the waves that have ended, each with the last source line that it reached.
    pub fn ended(&self) -> Vec<(WaveId, Option<Line>)> {
        let own = self.who();
        self.waves_that(|who, wave| who != own && wave.is_done)
    }

    /// Returns the positions of the wave's lanes according to the debug information. `None` if the debug
    /// information does not describe lanes in the function that the user has selected.
    pub fn lanes(&self) -> Option<Lanes> {
        self.lanes_of(self.at)
    }

    fn lanes_of(&self, at: &Stopped<'_>) -> Option<Lanes> {
        crate::lanes::lanes(self.program.info.as_ref()?, self.program.frames.as_ref(), at)
    }

    /// Returns the innermost function in which a lane is active or parked, and the address in the object file
    /// at which the lane is or will resume. Returns `None` if the debug information does not describe this.
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
                // The lane has not entered this function, so the function's caller is examined next.
                Position::Outside => {}
                Position::Unknown => return None,
            }
        }
        None
    }

    /// Returns the source line of an address of the file as `file:line`, or the address if there is no line.
    pub fn place_of(&self, address: u64) -> String {
        let line = self.program.line_at(address).map(|line| self.program.name_of(line));
        line.unwrap_or_else(|| format!("{address:#x}"))
    }

    /// Returns the functions on the call stack, innermost first.
    pub fn frames(&self) -> Vec<Frame> {
        let calls = self.state.waves.get(&self.who()).map_or(&[][..], |wave| &wave.calls);
        let addresses = [self.top.address()].into_iter().chain(calls.iter().rev().map(|call| call.call));
        addresses.enumerate().flat_map(|(depth, address)| self.functions(address, depth)).collect()
    }

    /// Returns the function at an address, preceded by the functions that are inlined at this address,
    /// innermost first. For a function that contains an inlined function, the line is the line of the inlined
    /// call.
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

    /// Adds a breakpoint at a place of the code and returns it. A place is a line, `file:line`, a function or
    /// `*address`. With a condition, the breakpoint stops a wave where the condition holds in some lane.
    ///
    /// # Errors
    /// There is no such place, or the condition is ill-formed.
    pub fn add_breakpoint(&mut self, place: &str, condition: Option<&str>) -> Result<Breakpoint, Problem> {
        self.breakpoints_mut().add(&Wanted { place, condition, ..Wanted::default() })
    }

    /// Returns the breakpoints and watchpoints for changes.
    pub fn breakpoints_mut(&mut self) -> Breakpoints<'_> {
        let here = self.line();
        Breakpoints { program: self.program, state: self.state, here }
    }

    /// Returns the addresses at which a breakpoint at a place (a line, `file:line`, a function or `*address`)
    /// is set.
    ///
    /// # Errors
    /// There is no such place.
    pub fn addresses(&self, place: &str) -> Result<Vec<u64>, Problem> {
        self.program.addresses(place, self.line())
    }

    /// Returns the location of an expression's value in memory.
    ///
    /// # Errors
    /// The value is not in memory.
    pub fn memory_value(&self, text: &str, lane: u32) -> Result<MemoryValue, Problem> {
        let value = self.evaluator(lane).value(text)?;
        value.memory_value(self.who(), lane).ok_or_else(|| format!("`{text}` is not in memory"))
    }

    /// Adds a watchpoint that stops the dispatch when the value of an expression in memory changes. Returns
    /// its identifier.
    ///
    /// # Errors
    /// The value of the expression is not in memory.
    pub fn add_watchpoint(&mut self, text: &str) -> Result<u32, Problem> {
        let memory_value = self.memory_value(text, self.lane())?;
        Ok(self.watch(text, memory_value))
    }

    /// Adds a watchpoint for bytes at a flat address. An address in LDS refers to the current group's LDS, an
    /// address in private memory to the current lane's. Returns the identifier of the watchpoint.
    pub fn watch_memory(&mut self, address: u64, bytes: usize) -> u32 {
        let place = MemoryLocation::from_flat(address, self.who(), self.lane());
        self.watch(&format!("*{address:#x}"), MemoryValue { place, bytes, ty: None })
    }

    /// Adds a watchpoint for a location in memory, with its present content as the old value.
    fn watch(&mut self, text: &str, memory_value: MemoryValue) -> u32 {
        let id = self.breakpoints_mut().watch(text, memory_value);
        self.look_at_watched();
        id
    }

    /// Makes all watchpoints remember the present content of the memory that they watch. Changes before this
    /// moment then stop no wave.
    pub fn look_at_watched(&mut self) {
        for watch in &mut self.state.watchpoints {
            watch.take_change(self.at);
        }
    }

    /// Removes a breakpoint or watchpoint. Returns whether it existed.
    pub fn remove(&mut self, id: u32) -> bool {
        self.breakpoints_mut().remove(id)
    }

    /// Returns the breakpoints.
    pub fn breakpoints(&self) -> &[Breakpoint] {
        &self.state.breakpoints
    }

    /// Returns the watchpoints.
    pub fn watchpoints(&self) -> &[Watchpoint] {
        &self.state.watchpoints
    }
}

/// Returns the source line where an inlined function is called.
fn call_line(die: &Die) -> Option<String> {
    let line = match die.get("DW_AT_call_line")? {
        dwarf::Content::Number(line) => *line,
        _ => return None,
    };
    let file = die.text("DW_AT_call_file").unwrap_or("?");
    Some(format!("{file}:{line}"))
}

/// Returns the value of watched memory as text.
pub(crate) fn watched(program: &Program, at: &Stopped<'_>, watch: &Watchpoint, bytes: Vec<u8>) -> String {
    let ty = watch.ty.map_or(Ty::Bits(bytes.len()), Ty::Die);
    Evaluator::new(at, program, 0, 0).text(&Value::new(ty, Some(Content::from_bytes(bytes))), None)
}
