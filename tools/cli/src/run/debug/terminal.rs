//! The debugger in a terminal: prints where a wave has stopped and reads commands.

use super::commands::{self, Outcome, repeated_command};
use super::examine::Examined;
use crate::capture;
use debug::{Action, FrontEnd, Line, NumberFormat, Reason, Stop};
use std::collections::VecDeque;
use std::io::{BufRead, IsTerminal};

/// An expression whose value is printed at each stop.
pub struct Display {
    pub id: u64,
    pub text: String,
    pub letter: Option<NumberFormat>,
}

impl Display {
    /// Returns the text of the displayed expression's value in the current lane, or the reason why it has no
    /// value.
    pub fn value_text(&self, stop: &Stop<'_>) -> String {
        let shown = stop.value_as(&self.text, stop.lane(), self.letter);
        format!("{} = {}", self.text, shown.map_or_else(|problem| problem, |shown| shown.to_string()))
    }
}

pub struct Terminal {
    /// Remaining commands of the command line.
    first: VecDeque<String>,
    /// A command that was read after the dispatch had ended. It is run when the wave stops at the last
    /// instruction.
    held: Option<String>,
    /// Line that an empty line repeats.
    last: String,
    /// Whether a user types the commands. If commands come from a file or an option, each command is printed,
    /// so that the output is easy to read.
    is_typed: bool,
    /// Expressions whose values are printed at each stop.
    pub displays: Vec<Display>,
    /// Index of the selected frame; 0 is the innermost.
    pub frame: usize,
    /// Last source line that was listed since the wave stopped.
    pub listed: Option<Line>,
    /// Memory that was printed last.
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

    /// Selects the innermost frame. Called when the wave has moved or another wave has been selected.
    pub fn look_anew(&mut self) {
        (self.frame, self.listed) = (0, None);
    }

    /// Returns the next command; `None` at the end of the input.
    fn next(&mut self) -> Option<String> {
        if let Some(held) = self.held.take() {
            return Some(held);
        }
        if let Some(first) = self.first.pop_front() {
            return Some(self.read(&first));
        }
        // A test must not read from a terminal.
        if capture::is_on() {
            return None;
        }
        if self.is_typed {
            out!("(kernc) ");
            // The prompt must appear before the program waits for input.
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

    /// Returns the line that was read. If the user has not typed it, prints it, because it is not on the
    /// screen yet.
    fn read(&mut self, line: &str) -> String {
        let line = self.meant(line.trim());
        outln!("(kernc) {line}");
        line
    }

    /// Returns the command line to run for an input line. An empty line repeats the last command.
    fn meant(&mut self, line: &str) -> String {
        if line.is_empty() {
            return self.last.clone();
        }
        repeated_command(line).clone_into(&mut self.last);
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
            outln!("{}", stop_text(stop));
            for display in &self.displays {
                outln!("{}", display.value_text(stop));
            }
        }
        loop {
            // If there are no more commands, the dispatch runs to its end.
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

    /// Returns whether to stop once more at the end of the dispatch. Such a stop is not needed if the next
    /// command only ends the session.
    fn wants_final_stop(&mut self) -> bool {
        // An empty line must not repeat the command that has run the dispatch to its end.
        self.last.clear();
        while let Some(line) = self.next() {
            if commands::only_ends_session(&line) {
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

/// Returns whether an action is possible at the end of the dispatch. Only actions that go back or end the
/// session are.
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

/// Returns why a wave has stopped, and which wave.
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

/// Returns the source line at which the wave has stopped, or the instruction if there is no source line.
pub fn stop_text(stop: &Stop<'_>) -> String {
    let function = stop.program.function_at(stop.at.address()).map_or("?", |function| function.name.as_str());
    match stop.line() {
        Some(line) => {
            let text = stop.program.source(line).unwrap_or("");
            format!("{function} at {}\n{:5} | {text}", stop.program.name_of(line), line.line)
        }
        None => format!("{function}, {:#x}: {}", stop.at.address(), stop.at.text()),
    }
}
