//! A wave that has stopped: what a front end may ask of it.

use crate::breakpoints::{Breakpoint, Breakpoints, Wanted, Watchpoint};
use crate::expression::{Evaluator, Problem, Shown};
use crate::program::{Line, Program};
use crate::session::{Action, State, Step};
use crate::spot::{Place, Spot};
use crate::waves::{Kind, Who};
use dwarf::{Content, Die};
use sim::{Fault, Report, Stopped};

/// Why a wave has stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// At the first instruction of the dispatch.
    Begin,
    /// A breakpoint, by its number.
    Breakpoint(u32),
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
    /// Strict mode has found something wrong with the instruction. The dispatch ends soon.
    Found(Box<Report>),
    /// The instruction did not come off well; the dispatch ends.
    Trapped(Box<Fault>),
    /// The front end has asked to be heard.
    Asked,
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
}

/// A stopped wave.
pub struct Stop<'a> {
    /// Why.
    pub reason: Reason,
    /// The wave.
    pub at: &'a Stopped<'a>,
    /// The object.
    pub program: &'a Program,
    pub(crate) state: &'a mut State,
}

impl Stop<'_> {
    /// The wave.
    pub fn who(&self) -> Who {
        Who::of(self.at)
    }

    /// Instructions of all waves so far, with the one at hand: its number.
    pub fn ordinal(&self) -> u64 {
        self.state.ordinal
    }

    /// The line of the source.
    pub fn line(&self) -> Option<Line> {
        self.program.line_at(self.at.address())
    }

    /// The lane that is looked at: the one that was chosen, that for which a breakpoint's condition holds, or the first that is active.
    pub fn lane(&self) -> u32 {
        self.state.lane.or(self.state.focus).unwrap_or_else(|| match self.at.exec() {
            0 => 0,
            exec => exec.trailing_zeros(),
        })
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
        let info = self.program.info.as_ref();
        let value = Evaluator::new(self.at, info, lane).value(text)?;
        let ty = match (info, value.ty) {
            (Some(info), Some(ty)) => info.type_name(Some(ty)),
            _ => "register".to_owned(),
        };
        let spot = value.spot(self.who(), lane);
        Ok(Shown { text: value.text(info), ty, parts: value.parts(info), spot })
    }

    /// The value of an expression for each lane, or why it has none; and whether the lane is active.
    pub fn across(&self, text: &str) -> Vec<(Result<Shown, Problem>, bool)> {
        (0..self.at.lanes()).map(|lane| (self.value(text, lane), self.at.exec() >> lane & 1 != 0)).collect()
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
        let Some(info) = &self.program.info else { return Vec::new() };
        let scope = crate::variables::Scope::new(info, self.at);
        let names: Vec<String> = scope.variables().iter().map(|variable| variable.name.to_owned()).collect();
        names.into_iter().map(|name| (name.clone(), self.value(&name, lane))).collect()
    }

    /// Waves that have begun and not come to their end, and the line that each has come to last.
    pub fn running(&self) -> Vec<(Who, Option<Line>)> {
        let own = self.who();
        let running = self.state.waves.iter().filter(|(who, wave)| **who == own || !wave.is_done);
        let line = |wave: &crate::waves::Wave| wave.turns.iter().rev().find_map(|turn| turn.line);
        let mut running: Vec<_> = running.map(|(who, wave)| (*who, line(wave))).collect();
        running.sort_by_key(|wave| wave.0);
        running
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

    /// Waves that have begun, and the line that each has come to last.
    pub fn waves(&self) -> Vec<(Who, Option<String>)> {
        let line = |wave: &crate::waves::Wave| {
            let turn = wave.turns.iter().rev().find_map(|turn| turn.line);
            turn.map(|line| self.program.name_of(line))
        };
        let mut waves: Vec<_> = self.state.waves.iter().map(|(who, wave)| (*who, line(wave))).collect();
        waves.sort();
        waves
    }

    /// Functions under way, innermost first.
    pub fn frames(&self) -> Vec<Frame> {
        let address = self.at.address();
        let mut frames = self.inlined(address);
        frames.push(self.frame(address));
        let calls = self.state.waves.get(&self.who()).map_or(&[][..], |wave| &wave.calls);
        frames.extend(calls.iter().rev().map(|call| self.frame(call.call)));
        frames
    }

    fn frame(&self, address: u64) -> Frame {
        Frame {
            function: self
                .program
                .function_at(address)
                .map_or_else(|| "?".to_owned(), |one| one.name.clone()),
            address,
            line: self.program.line_at(address).map(|line| self.program.name_of(line)),
            is_inlined: false,
        }
    }

    /// Functions that are inlined at an address, innermost first. Each stands where the one in it is called.
    fn inlined(&self, address: u64) -> Vec<Frame> {
        let Some(info) = &self.program.info else { return Vec::new() };
        let mut line = self.program.line_at(address).map(|line| self.program.name_of(line));
        let mut frames = Vec::new();
        for at in info.around(address).into_iter().rev() {
            let die = &info.entries[at];
            if die.tag == "DW_TAG_inlined_subroutine" {
                let function = info.name_of(die).unwrap_or("?").to_owned();
                frames.push(Frame { function, address, line: line.take(), is_inlined: true });
                line = call_line(die);
            }
        }
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
        let value = Evaluator::new(self.at, self.program.info.as_ref(), lane).value(text)?;
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

    /// Watches bytes of global memory.
    pub fn watch_memory(&mut self, address: u64, bytes: usize) -> u32 {
        self.watch(&format!("*{address:#x}"), Spot { place: Place::Global(address), bytes, ty: None })
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
        Content::Number(line) => *line,
        _ => return None,
    };
    let file = die.text("DW_AT_call_file").unwrap_or("?");
    Some(format!("{file}:{line}"))
}

/// The text of a watched value.
pub(crate) fn watched(program: &Program, watch: &Watchpoint, bytes: &[u8]) -> String {
    match &program.info {
        Some(info) => crate::format::value(info, watch.ty, bytes),
        None => crate::format::plain(bytes),
    }
}
