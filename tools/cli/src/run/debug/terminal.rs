//! The debugger in a terminal: where a wave has stopped, and what is typed there.

use super::commands::{self, Outcome, again};
use super::examine::Examined;
use crate::capture;
use debug::{Action, FrontEnd, Letter, Line, Reason, Stop};
use std::collections::VecDeque;
use std::io::{BufRead, IsTerminal};

/// A value that is shown at each stop.
pub struct Display {
    pub id: u64,
    pub text: String,
    pub letter: Option<Letter>,
}

impl Display {
    /// The value of the lane, or why there is none.
    pub fn shown(&self, stop: &Stop<'_>) -> String {
        let shown = stop.value_as(&self.text, stop.lane(), self.letter);
        format!("{} = {}", self.text, shown.map_or_else(|problem| problem, |shown| shown.to_string()))
    }
}

pub struct Terminal {
    /// Commands of the command line that are left.
    first: VecDeque<String>,
    /// A command that was read where the dispatch had ended, and has yet to be run there.
    held: Option<String>,
    /// What an empty line stands for.
    last: String,
    /// Whether somebody types; else commands are shown, so that what comes out can be read.
    is_typed: bool,
    /// Shown each time a wave stops.
    pub displays: Vec<Display>,
    /// The function under way that is looked at; 0 is the innermost.
    pub frame: usize,
    /// The last line of the source that was listed since.
    pub listed: Option<Line>,
    /// The memory that was shown last.
    pub examined: Option<Examined>,
}

impl Terminal {
    pub fn new(commands: &[String]) -> Terminal {
        Terminal {
            first: commands.iter().cloned().collect(),
            held: None,
            last: String::new(),
            is_typed: std::io::stdin().is_terminal(),
            displays: Vec::new(),
            frame: 0,
            listed: None,
            examined: None,
        }
    }

    /// Looks at the innermost function, of another wave or after a move.
    pub fn look_anew(&mut self) {
        (self.frame, self.listed) = (0, None);
    }

    /// The next command; none at the end.
    fn next(&mut self) -> Option<String> {
        if let Some(held) = self.held.take() {
            return Some(held);
        }
        if let Some(first) = self.first.pop_front() {
            return Some(self.read(&first));
        }
        // A test has no terminal.
        if capture::is_on() {
            return None;
        }
        if self.is_typed {
            out!("(kernc) ");
            // What is asked for is to be seen.
            let _ = std::io::Write::flush(&mut std::io::stdout());
        }
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        let line = line.trim().to_owned();
        match read {
            Ok(0) | Err(_) => None,
            Ok(_) if self.is_typed => Some(self.meant(&line)),
            Ok(_) => Some(self.read(&line)),
        }
    }

    /// A line that nobody has seen yet: it is shown.
    fn read(&mut self, line: &str) -> String {
        let line = self.meant(line.trim());
        outln!("(kernc) {line}");
        line
    }

    /// What a line stands for: an empty one means the last one again.
    fn meant(&mut self, line: &str) -> String {
        if line.is_empty() {
            return self.last.clone();
        }
        again(line).clone_into(&mut self.last);
        line.to_owned()
    }
}

impl FrontEnd for Terminal {
    fn stopped(&mut self, stop: &mut Stop<'_>) -> Action {
        if stop.reason != Reason::Set {
            self.look_anew();
        }
        if !matches!(stop.reason, Reason::Set | Reason::Ended) {
            outln!("{}", headline(stop));
            outln!("{}", place(stop));
            for display in &self.displays {
                outln!("{}", display.shown(stop));
            }
        }
        loop {
            // Who has nothing more to say lets it run, if it can.
            let Some(line) = self.next() else { return Action::Detach };
            match commands::run(&line, self, stop) {
                Ok(Outcome::Stay) => {}
                Ok(Outcome::Go(_)) if matches!(stop.reason, Reason::Trapped(_)) && !goes_back(&line) => {
                    outln!("the dispatch cannot go on: go back, or `quit`");
                    if self.first.is_empty() && !self.is_typed {
                        return Action::Detach;
                    }
                }
                Ok(Outcome::Go(action)) if stop.reason == Reason::Ended && !may_go(&action, stop) => {
                    outln!("the dispatch has ended: go back, or `continue` ends the session");
                }
                Ok(Outcome::Go(action)) => return action,
                Err(problem) => outln!("{problem}"),
            }
        }
    }

    /// Commands that only end the session need no wave that stands at the end.
    fn stays(&mut self) -> bool {
        // An empty line does not end the session that the last command has run to its end.
        self.last.clear();
        while let Some(line) = self.next() {
            if commands::leaves(&line) {
                return false;
            }
            if !line.is_empty() {
                self.held = Some(line);
                return true;
            }
        }
        false
    }
}

/// Whether an action leads anywhere at the end of the dispatch: back, or out of the session.
fn may_go(action: &Action, stop: &Stop<'_>) -> bool {
    match action {
        Action::To(number) => *number <= stop.ordinal(),
        Action::Back(_) | Action::BackToBreakpoint => true,
        Action::Continue | Action::Detach | Action::Quit => true,
        _ => false,
    }
}

fn goes_back(line: &str) -> bool {
    let name = line.split_whitespace().next().unwrap_or("");
    name.starts_with('r') || ["goto", "quit", "q", "detach"].contains(&name)
}

/// Why a wave has stopped, and which.
pub fn headline(stop: &Stop<'_>) -> String {
    let why = match &stop.reason {
        Reason::Begin => "the kernel begins".to_owned(),
        Reason::Breakpoint(id) => format!("breakpoint {id}"),
        Reason::Condition { id, why } => format!("breakpoint {id}, whose condition has no value here: {why}"),
        Reason::Changed { id, old, new, by } => {
            let text = stop.watchpoints().iter().find(|watch| watch.id == *id);
            let name = text.map_or("it", |watch| watch.text.as_str());
            let by = by.map_or(String::new(), |(who, address)| {
                let line = stop.program.line_at(address).map(|line| stop.program.name_of(line));
                format!(", by {who} at {}", line.unwrap_or_else(|| format!("{address:#x}")))
            });
            format!("watchpoint {id}: {name} was {old}, and is {new}{by}")
        }
        Reason::Step => "step".to_owned(),
        Reason::Finished => "returned".to_owned(),
        Reason::Arrived => format!("at instruction {}", stop.ordinal()),
        Reason::Chosen(what) => what.clone(),
        Reason::Found(what) => format!("found: {}", what.message),
        Reason::Trapped(_) => "the instruction fails".to_owned(),
        Reason::Ended => "the dispatch has ended".to_owned(),
        Reason::Asked => "paused".to_owned(),
        Reason::Set => "a value is set".to_owned(),
    };
    let active = stop.at.exec().count_ones();
    format!("{why}: {}, {active} of {} lanes, lane {}", stop.who(), stop.at.lanes(), stop.lane())
}

/// The line where it stands, or the instruction.
pub fn place(stop: &Stop<'_>) -> String {
    let function = stop.program.function_at(stop.at.address()).map_or("?", |function| function.name.as_str());
    match stop.line() {
        Some(line) => {
            let text = stop.program.source(line).unwrap_or("");
            format!("{function} at {}\n{:5} | {text}", stop.program.name_of(line), line.line)
        }
        None => format!("{function}, {:#x}: {}", stop.at.address(), stop.at.text()),
    }
}
