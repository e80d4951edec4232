//! The debugger's commands.

use super::format::Format;
use super::points;
use super::terminal::{Display, Terminal};
use super::{examine, info, select};
use debug::{Action, Frame, Line, Position, Reason, Shown, Space, Step, Stop};
use kernc::sim;
use std::fmt::Write;

/// Result of a command.
pub enum Outcome {
    /// The wave stays at its program point.
    Stay,
    Go(Action),
}

pub type Done = Result<Outcome, String>;

pub struct Command {
    /// Names of the debugger command. The first is its full name; the others are abbreviations.
    pub names: &'static [&'static str],
    pub takes: &'static str,
    pub help: &'static str,
    pub run: fn(&mut Terminal, &mut Stop<'_>, &str) -> Done,
}

const COMMANDS: &[Command] = &[
    Command {
        names: &["continue", "c"],
        takes: "",
        help: "go on to the next stop",
        run: |_, _, _| resume(Action::Continue),
    },
    Command {
        names: &["step", "s"],
        takes: "",
        help: "go on to another line, into functions",
        run: |_, _, _| step(Step::Line),
    },
    Command {
        names: &["next", "n"],
        takes: "",
        help: "go on to another line of this function",
        run: |_, _, _| step(Step::Over),
    },
    Command {
        names: &["stepi", "si"],
        takes: "",
        help: "execute one instruction of the wave",
        run: |_, _, _| step(Step::Instruction),
    },
    Command {
        names: &["choice", "ch"],
        takes: "",
        help: "in weak mode: go on to what the schedule does next",
        run: |_, _, _| resume(Action::Choice),
    },
    Command {
        names: &["choices"],
        takes: "",
        help: "in weak mode: show what the schedule has done since the last stop",
        run: choices,
    },
    Command { names: &["finish"], takes: "", help: "go on until the function returns", run: finish },
    Command {
        names: &["until", "u"],
        takes: "[PLACE]",
        help: "go on to a place, else to a later line, at most until the function returns",
        run: until,
    },
    Command {
        names: &["advance"],
        takes: "PLACE",
        help: "go on to a place, at most until the function returns",
        run: advance,
    },
    Command {
        names: &["reverse-step", "rs"],
        takes: "",
        help: "go back to the beginning of the line, or of the one before",
        run: |_, _, _| back(Step::Line),
    },
    Command {
        names: &["reverse-next", "rn"],
        takes: "",
        help: "the same, without functions that were called",
        run: |_, _, _| back(Step::Over),
    },
    Command {
        names: &["reverse-stepi", "rsi"],
        takes: "",
        help: "go back by one instruction of the wave",
        run: |_, _, _| back(Step::Instruction),
    },
    Command {
        names: &["reverse-continue", "rc"],
        takes: "",
        help: "go back to the last stop at a breakpoint or watchpoint",
        run: |_, _, _| resume(Action::BackToBreakpoint),
    },
    Command {
        names: &["goto"],
        takes: "NUMBER",
        help: "go to the instruction of that number, on or back",
        run: goto,
    },
    Command {
        names: &["lane"],
        takes: "[NUMBER | any]",
        help: "look at a lane, and follow it; say which",
        run: lane,
    },
    Command {
        names: &["print", "p"],
        takes: "[/FORMAT] EXPRESSION",
        help: "show a value of the lane: s.b[1], *p, i * 2, $v3, $s[4:5], $exec; formats are x z o t d u c f a",

        run: print,
    },
    Command {
        names: &["set"],
        takes: "EXPRESSION = VALUE",
        help: "write a number, `true` or `false` to where a value of the lane is",
        run: set,
    },
    Command {
        names: &["lanes"],
        takes: "[[/FORMAT] EXPRESSION]",
        help: "show a value of all lanes, or where they are",
        run: lanes,
    },
    Command {
        names: &["display"],
        takes: "[/FORMAT] EXPRESSION",
        help: "show a value at each stop",
        run: display,
    },
    Command {
        names: &["undisplay"],
        takes: "[NUMBER]",
        help: "show a value no more at each stop, or none",
        run: undisplay,
    },
    Command {
        names: &["whatis"],
        takes: "EXPRESSION | TYPE",
        help: "show the name of a type",
        run: info::what_is,
    },
    Command {
        names: &["ptype"],
        takes: "EXPRESSION | TYPE",
        help: "show what a type consists of",
        run: info::type_of,
    },
    Command {
        names: &["info", "i"],
        takes: "WHAT",
        help: "show args, breakpoints, display, frame, functions, locals, registers or waves",
        run: info::info,
    },
    Command { names: &["locals"], takes: "", help: "show the variables in force", run: locals },
    Command {
        names: &["registers"],
        takes: "s | v | a",
        help: "show scalar registers, or those of the lane; ? is behind what is not written yet",
        run: registers,
    },
    Command {
        names: &["x"],
        takes: "[/FORMAT] [ADDRESS]",
        help: "show memory: x/4xw tile, x/8xb lds:16, x/s p, x/3i $pc; without an address what comes next",
        run: examine::examine,
    },
    Command {
        names: &["memory"],
        takes: "ADDRESS [DWORDS]",
        help: "show global memory",
        run: |_, stop, rest| memory(stop, rest, Space::Global),
    },
    Command {
        names: &["lds"],
        takes: "OFFSET [DWORDS]",
        help: "show the group's LDS",
        run: |_, stop, rest| memory(stop, rest, Space::Lds),
    },
    Command {
        names: &["private"],
        takes: "OFFSET [DWORDS]",
        help: "show the lane's private memory",
        run: |_, stop, rest| memory(stop, rest, Space::Private),
    },
    Command { names: &["backtrace", "bt"], takes: "", help: "show the functions under way", run: backtrace },
    Command {
        names: &["frame", "f"],
        takes: "[NUMBER]",
        help: "look at a function under way, by its number in the backtrace: its variables, and registers as it had them",
        run: frame,
    },
    Command {
        names: &["up"],
        takes: "",
        help: "look at the one that has called it",
        run: |terminal, stop, _| to_frame(terminal, stop, terminal.frame.checked_add(1)),
    },
    Command {
        names: &["down"],
        takes: "",
        help: "look at the one that it has called",
        run: |terminal, stop, _| to_frame(terminal, stop, terminal.frame.checked_sub(1)),
    },
    Command { names: &["list", "l"], takes: "[LINE]", help: "show the source around", run: list },
    Command {
        names: &["disassemble", "disas"],
        takes: "[INSTRUCTIONS]",
        help: "show the instructions from here on",
        run: disassemble,
    },
    Command {
        names: &["wave"],
        takes: "[NUMBER [COMMAND]]",
        help: "look at another wave of the group that has not ended, or run one command for it; say which",
        run: select::wave,
    },
    Command {
        names: &["item"],
        takes: "X[,Y[,Z]]",
        help: "look at the wave and the lane of a work-item of the group, by its global id",
        run: select::item,
    },
    Command {
        names: &["pending"],
        takes: "",
        help: "show the counters, and which memory operations have yet to write or read registers",
        run: pending,
    },
    Command {
        names: &["waves"],
        takes: "[all]",
        help: "list the waves that have begun and not ended; `all`: those that have ended, too",
        run: waves,
    },
    Command {
        names: &["where"],
        takes: "",
        help: "say where the wave stands, and the number of the instruction",
        run: whereabouts,
    },
    Command {
        names: &["detach"],
        takes: "",
        help: "run to the end without a stop",
        run: |_, _, _| resume(Action::Detach),
    },
    Command {
        names: &["quit", "q"],
        takes: "",
        help: "end the session",
        run: |_, _, _| resume(Action::Quit),
    },
    Command {
        names: &["help", "h"],
        takes: "[COMMAND]",
        help: "list the commands, or say what one does",
        run: help,
    },
];

/// Returns all commands in the order in which `help` lists them.
fn all() -> impl Iterator<Item = &'static Command> {
    points::COMMANDS.iter().chain(COMMANDS)
}

/// Commands that accept a format: `print/x`.
const FORMATTED: [&str; 5] = ["print", "p", "lanes", "display", "x"];

/// Commands that are not repeated when the user enters an empty line, because users rarely want to run them
/// twice.
const ONCE: [&str; 20] = [
    "break",
    "b",
    "tbreak",
    "tb",
    "disable",
    "enable",
    "ignore",
    "watch",
    "delete",
    "d",
    "set",
    "display",
    "undisplay",
    "lane",
    "wave",
    "item",
    "frame",
    "f",
    "detach",
    "help",
];

/// Commands that an empty line repeats without their arguments. They then show what follows the part that
/// they showed last.
const ON: [&str; 3] = ["x", "list", "l"];

/// Returns the command line that an empty line repeats after the command line `last`. This is `last` itself,
/// the command without its arguments (to show the next part of memory or of the source), or nothing.
pub fn repeated_command(last: &str) -> &str {
    let name = last.split(|c: char| c.is_whitespace() || c == '/').next().unwrap_or("");
    match name {
        name if ONCE.contains(&name) => "",
        name if ON.contains(&name) => name,
        _ => last,
    }
}

/// Splits a line into the name of the command and its arguments.
fn parted(line: &str) -> (&str, &str) {
    let end = line.find(|c: char| c.is_whitespace() || c == '/').unwrap_or(line.len());
    (&line[..end], line[end..].trim())
}

/// Returns whether a line begins with a command that accepts a format, and a format follows the command, as
/// in `x/4xw`.
pub fn has_format(line: &str) -> bool {
    let (name, _) = parted(line);
    line[name.len()..].starts_with('/') && FORMATTED.contains(&name)
}

/// Returns whether a line is a command.
pub fn is_one(line: &str) -> bool {
    named(parted(line).0).is_some()
}

/// Returns whether the command in a line only ends the session, if it is entered after the dispatch has
/// ended.
pub fn only_ends_session(line: &str) -> bool {
    let command = named(parted(line).0);
    command.is_some_and(|command| ["continue", "detach", "quit"].contains(&command.names[0]))
}

fn named(name: &str) -> Option<&'static Command> {
    all().find(|command| command.names.contains(&name))
}

/// Returns the full names of the commands.
pub fn names() -> impl Iterator<Item = &'static str> {
    all().filter_map(|command| command.names.first().copied())
}

/// Runs a command line. The command applies to the wave that the user has chosen. Without such a choice, it
/// applies to the wave that has stopped.
pub fn run(line: &str, terminal: &mut Terminal, stop: &mut Stop<'_>) -> Done {
    match stop.chosen_wave() {
        Some(wave) => stop.on_wave(Some(wave), |stop| run_here(line, terminal, stop)),
        None => run_here(line, terminal, stop),
    }
}

/// Runs a command line for the current wave of `stop`.
pub fn run_here(line: &str, terminal: &mut Terminal, stop: &mut Stop<'_>) -> Done {
    let (name, rest) = parted(line);
    if name.is_empty() && rest.is_empty() {
        return Ok(Outcome::Stay);
    }
    let command = named(name).ok_or_else(|| unknown(name))?;
    if line[name.len()..].starts_with('/') && !FORMATTED.contains(&name) {
        return Err(format!("`{name}` takes no format"));
    }
    stop.on_frame(terminal.frame, |stop| (command.run)(terminal, stop, rest))?
}

fn unknown(name: &str) -> String {
    let all = all().flat_map(|command| command.names.iter().copied());
    match frontend::nearest(name, all) {
        Some(near) => format!("there is no command `{name}`: did you mean `{near}`? `help` lists them"),
        None => format!("there is no command `{name}`; `help` lists them"),
    }
}

fn resume(action: Action) -> Done {
    Ok(Outcome::Go(action))
}

fn step(step: Step) -> Done {
    resume(Action::Step(step))
}

fn back(step: Step) -> Done {
    resume(Action::Back(step))
}

pub fn stay() -> Done {
    Ok(Outcome::Stay)
}

pub fn number(text: &str) -> Result<u64, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    number.ok_or_else(|| format!("`{text}` is no number"))
}

/// Returns the text of an expression's value in the current lane, or the reason why it has no value.
fn value_text(stop: &Stop<'_>, text: &str) -> String {
    stop.value(text, stop.lane()).map_or_else(|problem| problem, |shown| shown.to_string())
}

fn finish(_: &mut Terminal, stop: &mut Stop<'_>, _: &str) -> Done {
    resume(stop.out()?)
}

fn until(terminal: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    match rest {
        "" => step(Step::Past),
        _ => advance(terminal, stop, rest),
    }
}

fn advance(_: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    if rest.is_empty() {
        return Err("a place is missing: a line, a function, `*ADDRESS`".to_owned());
    }
    resume(Action::Until(stop.addresses(rest)?))
}

fn goto(_: &mut Terminal, _: &mut Stop<'_>, rest: &str) -> Done {
    resume(Action::To(number(rest)?))
}

fn lane(_: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    match rest {
        "" => {}
        "any" => stop.choose_lane(None)?,
        lane => {
            let lane = u32::try_from(number(lane)?).map_err(|_| "there is no such lane".to_owned())?;
            stop.choose_lane(Some(lane))?;
        }
    }
    let lane = stop.lane();
    let item = stop.at.location(Some(lane)).item.unwrap_or_default();
    let is_active = stop.at.exec() >> lane & 1 != 0;
    let state = if is_active { "active" } else { "not active here" };
    outln!("lane {lane}, work-item ({}, {}, {}), {state}", item[0], item[1], item[2]);
    waits(stop);
    stay()
}

/// Prints where the chosen lane will resume if it is inactive. Prints nothing if the debug information does
/// not contain this position.
pub fn waits(stop: &Stop<'_>) {
    let lane = stop.lane();
    if stop.at.exec() >> lane & 1 != 0 {
        return;
    }
    if let Some((function, address)) = stop.position(lane) {
        outln!("lane {lane} goes on in {function} at {}", stop.place_of(address));
    }
}

/// Prints the position of every lane, one line for each sequence of adjacent lanes with the same position.
fn positions(stop: &Stop<'_>) -> Done {
    let lanes =
        stop.lanes().ok_or("the object does not say where lanes are: `-gheterogeneous-dwarf` does")?;
    let text = |(lane, position): (usize, &Position)| match position {
        Position::At(address) if lanes.active >> lane & 1 != 0 => {
            (true, format!("at {}", stop.place_of(*address)))
        }
        Position::At(address) => (false, format!("goes on at {}", stop.place_of(*address))),
        Position::Outside => (false, "is not in the function".to_owned()),
        Position::Unknown => (false, "is not said".to_owned()),
    };
    let all: Vec<(bool, String)> = lanes.positions.iter().enumerate().map(text).collect();
    let mut first = 0;
    for run in all.chunk_by(|one, next| one == next) {
        let (is_active, text) = &run[0];
        outln!("{:>6}{} {text}", lane_range(first, run.len()), if *is_active { ' ' } else { '-' });
        first += run.len();
    }
    stay()
}

/// Returns the text for a range of lanes: `3`, `0-39`.
fn lane_range(first: usize, count: usize) -> String {
    if count == 1 { first.to_string() } else { format!("{first}-{}", first + count - 1) }
}

fn print(_: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    let (format, text) = Format::split(rest)?;
    outln!("{}", stop.value_as(text, stop.lane(), format.of_value("print")?)?);
    stay()
}

fn set(_: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    let (text, new) = rest.split_once('=').ok_or("`set` takes EXPRESSION = VALUE")?;
    resume(stop.set(text.trim(), new.trim(), stop.lane())?.0)
}

/// Prints the value of an expression in all lanes, one line for each sequence of adjacent lanes with the same
/// value. If there are many such sequences and the values are short, it prints eight lanes per line.
fn lanes(_: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    if rest.is_empty() {
        return positions(stop);
    }
    let text = |(shown, is_active): (Result<Shown, String>, bool)| {
        (shown.map_or_else(|problem| problem, |shown| shown.text), is_active)
    };
    let (format, rest) = Format::split(rest)?;
    let letter = format.of_value("lanes")?;
    if let Some(wait) = stop.value(rest, stop.lane()).ok().and_then(|shown| shown.pending) {
        outln!("not written yet, but after {wait}:");
    }
    let all = stop.across(rest, letter);
    // A problem that all lanes have is reported once.
    if let Some((Err(problem), _)) = all.first()
        && all.iter().all(|(shown, _)| shown.as_ref().err() == Some(problem))
    {
        return Err(problem.clone());
    }
    let all: Vec<(String, bool)> = all.into_iter().map(text).collect();
    let runs: Vec<&[(String, bool)]> = all.chunk_by(|one, next| one == next).collect();
    let widest = all.iter().map(|(text, _)| text.chars().count()).max().unwrap_or(0);
    if runs.len() > 8 && widest <= 12 {
        for (row, lanes) in all.chunks(8).enumerate() {
            let mark = |is_active: bool| if is_active { ' ' } else { '-' };
            let texts = lanes.iter().map(|(text, is_active)| format!("{}{text:>widest$}", mark(*is_active)));
            outln!("{:>6}  {}", 8 * row, texts.collect::<Vec<_>>().join(" "));
        }
        return stay();
    }
    let mut first = 0;
    for run in runs {
        let (text, is_active) = &run[0];
        outln!("{:>6}{} {text}", lane_range(first, run.len()), if *is_active { ' ' } else { '-' });
        first += run.len();
    }
    stay()
}

fn display(terminal: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    let (format, text) = Format::split(rest)?;
    let letter = format.of_value("display")?;
    stop.value_as(text, stop.lane(), letter)?;
    let id = terminal.displays.last().map_or(1, |last| last.id + 1);
    let display = Display { id, text: text.to_owned(), letter };
    outln!("{}", display.value_text(stop));
    terminal.displays.push(display);
    stay()
}

fn undisplay(terminal: &mut Terminal, _: &mut Stop<'_>, rest: &str) -> Done {
    if rest.is_empty() {
        terminal.displays.clear();
        return stay();
    }
    let id = number(rest)?;
    let count = terminal.displays.len();
    terminal.displays.retain(|display| display.id != id);
    if terminal.displays.len() < count { stay() } else { Err(format!("there is no display {id}")) }
}

fn locals(_: &mut Terminal, stop: &mut Stop<'_>, _: &str) -> Done {
    if stop.program.info.is_none() {
        return Err("the object does not describe variables".to_owned());
    }
    show_variables(stop.variables(stop.lane()));
    stay()
}

/// Prints variables with their types and values, or the reasons why they have no values.
pub fn show_variables(all: Vec<(String, Result<Shown, String>)>) {
    for (name, shown) in all {
        match shown {
            Ok(shown) => outln!("{name}: {} = {shown}", shown.ty),
            Err(problem) => outln!("{name} = {problem}"),
        }
    }
}

fn registers(_: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    let bank = match rest {
        "" | "s" => 's',
        "v" => 'v',
        "a" => 'a',
        other => return Err(format!("there are no registers `{other}`: s, v, a")),
    };
    let mut text = String::new();
    let count = if bank == 's' { 106 } else { 256 };
    let mut shown = 0;
    for number in 0..count {
        let name = format!("{bank}{number}");
        let Ok(value) = stop.value(&format!("${name}"), stop.lane()) else { continue };
        // Registers that contain 0, or that were never written, are skipped, because they would fill the
        // screen.
        if matches!(value.text.as_str(), "0x00000000" | "?") && value.pending.is_none() {
            continue;
        }
        let end = if shown % 4 == 3 { "\n" } else { "  " };
        let mark = if value.pending.is_some() { "?" } else { "" };
        let _ = write!(text, "{name:>4} {}{mark}{end}", value.text);
        shown += 1;
    }
    outln!("{}", text.trim_end());
    if bank == 's' {
        for name in ["vcc", "exec", "m0", "scc"] {
            outln!("{name:>4} {}", shown_register(stop, name));
        }
    }
    stay()
}

fn shown_register(stop: &Stop<'_>, name: &str) -> String {
    value_text(stop, &format!("${name}"))
}

fn memory(stop: &Stop<'_>, rest: &str, space: Space) -> Done {
    let (address, count) = rest.split_once(' ').unwrap_or((rest, "4"));
    let (address, count) = (number(address)?, number(count.trim())?.clamp(1, 1024));
    for row in 0..count.div_ceil(4) {
        let at = address.wrapping_add(16 * row);
        let mut text = format!("{at:#x}:");
        for dword in 0..4.min(count - 4 * row) {
            let mut bytes = [0; 4];
            let place = at.wrapping_add(4 * dword);
            if !stop.read(space, stop.lane(), place, &mut bytes) {
                return Err(format!("there is nothing at {place:#x}"));
            }
            let _ = write!(text, " {:08x}", u32::from_le_bytes(bytes));
        }
        outln!("{text}");
    }
    stay()
}

fn backtrace(_: &mut Terminal, stop: &mut Stop<'_>, _: &str) -> Done {
    waits(stop);
    stop.frames().iter().enumerate().for_each(|(number, frame)| outln!("{}", shown_frame(number, frame)));
    stay()
}

fn frame(terminal: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    let frame = if rest.is_empty() { terminal.frame } else { number(rest)? as usize };
    to_frame(terminal, stop, Some(frame))
}

fn to_frame(terminal: &mut Terminal, stop: &mut Stop<'_>, number: Option<usize>) -> Done {
    let number = number.ok_or("this is the innermost function")?;
    let frames = stop.frames();
    let missing = || format!("there is no function {number}: {} are under way", frames.len());
    let frame = frames.get(number).ok_or_else(missing)?;
    outln!("{}", shown_frame(number, frame));
    stop.on_frame(number, |_| ())?;
    stop.misled(number)
        .iter()
        .for_each(|wrong| outln!("  the object's call frame information is wrong: {wrong}"));
    terminal.frame = number;
    stay()
}

/// Returns the text of a frame: `#1 outer at calls.k:10`.
fn shown_frame(number: usize, frame: &Frame) -> String {
    let place = frame.line.clone().unwrap_or_else(|| format!("{:#x}", frame.address));
    let inlined = if frame.is_inlined { " (inlined)" } else { "" };
    format!("#{number} {} at {place}{inlined}", frame.function)
}

/// Prints source lines: those around the current line or around a given line. When the command is repeated,
/// it prints the lines that follow.
fn list(terminal: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    let here = stop.line();
    let around = match (rest, terminal.listed) {
        ("", Some(last)) => Some(Line { line: last.line.saturating_add(6), ..last }),
        ("", None) => here,
        (line, _) => {
            let line = u32::try_from(number(line)?).map_err(|_| "there is no such line".to_owned())?;
            here.or(stop.program.file(None).map(|file| Line { file, line })).map(|here| Line { line, ..here })
        }
    };
    let around = around.ok_or("there is no source here")?;
    let count = stop.program.text(around.file).map_or(0, <[String]>::len);
    if count > 0 && around.line.saturating_sub(5) as usize > count {
        return Err(format!("the source has {count} lines"));
    }
    let mut is_there = false;
    for line in around.line.saturating_sub(5).max(1)..around.line.saturating_add(6) {
        let Some(text) = stop.program.source(Line { line, ..around }) else { continue };
        terminal.listed = Some(Line { line, ..around });
        let mark = if here == Some(Line { line, ..around }) { '>' } else { ' ' };
        outln!("{mark}{line:4} | {text}");
        is_there = true;
    }
    if is_there { stay() } else { Err("the source cannot be read".to_owned()) }
}

fn disassemble(_: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    let count = if rest.is_empty() { 8 } else { number(rest)?.clamp(1, 10_000) };
    let mut address = stop.at.address();
    for n in 0..count {
        let Some((text, length)) = stop.at.text_at(address) else { break };
        outln!("{}{address:#8x}  {text}", if n == 0 { '>' } else { ' ' });
        address += length;
    }
    stay()
}

fn waves(_: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    let ended = match rest {
        "" => Vec::new(),
        "all" => stop.ended(),
        other => return Err(format!("`waves` takes nothing, or `all`, and not `{other}`")),
    };
    let running = stop.running().into_iter().map(|(who, line)| (who, line, ""));
    let mut waves: Vec<_> = running.collect();
    waves.extend(ended.into_iter().map(|(who, line)| (who, line, ", has ended")));
    waves.sort_by_key(|wave| wave.0);
    for (who, line, state) in waves {
        let mark = if who == stop.who() { '>' } else { ' ' };
        let place = line.map_or_else(|| "?".to_owned(), |line| stop.program.name_of(line));
        outln!("{mark} {who} at {place}{state}");
    }
    stay()
}

fn whereabouts(_: &mut Terminal, stop: &mut Stop<'_>, _: &str) -> Done {
    if stop.reason == Reason::Ended {
        outln!("the dispatch has ended; its last instruction is this:");
    }
    outln!("{}, instruction {}, {:#x}: {}", stop.who(), stop.ordinal(), stop.at.address(), stop.at.text());
    if let Some(flight) = stop.at.in_flight() {
        outln!("under way: {}", counters(&flight));
    }
    stay()
}

fn pending(_: &mut Terminal, stop: &mut Stop<'_>, _: &str) -> Done {
    let flight = stop.at.in_flight().ok_or("what is under way is known in strict and weak mode")?;
    outln!("{}", counters(&flight));
    for operation in &flight.operations {
        let address = stop.at.address_of(operation);
        let text = address.and_then(|address| Some(format!("{address:#x}: {}", stop.at.text_at(address)?.0)));
        let text = text.unwrap_or_else(|| "the caller".to_owned());
        let what = match (operation.registers.is_empty(), operation.writes) {
            (true, _) => "is under way".to_owned(),
            (_, true) => format!("has yet to write {}", operation.names()),
            (_, false) => format!("has yet to read {}", operation.names()),
        };
        let seen = match operation.performed {
            Some(false) => "; memory has not seen all of it",
            Some(true) => "; memory has seen it",
            None => "",
        };
        outln!("{text}\n    {what}, until {}{seen}", operation.wait());
    }
    stay()
}

fn choices(_: &mut Terminal, stop: &mut Stop<'_>, _: &str) -> Done {
    stop.choices().for_each(|choice| outln!("{choice}"));
    stay()
}

/// Returns the wait counters of operations that may be outstanding, as text: `vmcnt 1, lgkmcnt 0`.
fn counters(flight: &sim::InFlight) -> String {
    flight
        .counters
        .iter()
        .map(|(counter, count)| format!("{} {count}", counter.name()))
        .collect::<Vec<_>>()
        .join(", ")
}

fn help(_: &mut Terminal, _: &mut Stop<'_>, rest: &str) -> Done {
    let only = if rest.is_empty() { None } else { Some(named(rest).ok_or_else(|| unknown(rest))?) };
    for command in all().filter(|one| only.is_none_or(|only| one.names == only.names)) {
        let usage = format!("{} {}", command.names.join(", "), command.takes);
        outln!("{usage:<44} {}", command.help);
    }
    stay()
}
