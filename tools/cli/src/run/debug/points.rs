//! Commands for breakpoints and watchpoints.

use super::commands::{Command, Done, number, stay};
use super::terminal::Terminal;
use debug::{ArrivalFilter, Breakpoint, Stop, Wanted};

pub const COMMANDS: &[Command] = &[
    Command {
        names: &["break", "b"],
        takes: "[PLACE] [if CONDITION]",
        help: "stop at a line, FILE:LINE, a function, *ADDRESS; where the condition holds in some lane",
        run: |_, stop, rest| break_at(stop, rest, false),
    },
    Command {
        names: &["tbreak", "tb"],
        takes: "[PLACE] [if CONDITION]",
        help: "the same, once: the breakpoint is taken out where it stops",
        run: |_, stop, rest| break_at(stop, rest, true),
    },
    Command {
        names: &["watch"],
        takes: "EXPRESSION | *ADDRESS [BYTES]",
        help: "stop when what is there in memory changes",
        run: watch,
    },
    Command {
        names: &["delete", "d"],
        takes: "[NUMBER...]",
        help: "take out breakpoints and watchpoints, `2 4-6`; without a number all",
        run: delete,
    },
    Command {
        names: &["disable"],
        takes: "[NUMBER...]",
        help: "turn breakpoints and watchpoints off; without a number all",
        run: |_, stop, rest| set_enabled(stop, rest, false),
    },
    Command {
        names: &["enable"],
        takes: "[NUMBER...]",
        help: "turn breakpoints and watchpoints on",
        run: |_, stop, rest| set_enabled(stop, rest, true),
    },
    Command {
        names: &["ignore"],
        takes: "NUMBER COUNT",
        help: "pass over a breakpoint or watchpoint so many times; 0: stop the next time",
        run: ignore,
    },
    Command {
        names: &["breakpoints"],
        takes: "",
        help: "list breakpoints and watchpoints",
        run: breakpoints,
    },
];

/// Splits `PLACE if CONDITION`. Either part may be missing.
fn split_condition(text: &str) -> (&str, Option<&str>) {
    let is_word = |(at, _): &(usize, &str)| {
        let (before, after) = (&text[..*at], &text[at + 2..]);
        let ends = after.starts_with(|c: char| c.is_whitespace() || c == '(') || after.is_empty();
        ends && (before.is_empty() || before.ends_with(char::is_whitespace))
    };
    match text.match_indices("if").find(is_word) {
        Some((at, _)) => (text[..at].trim(), Some(text[at + 2..].trim())),
        None => (text.trim(), None),
    }
}

fn break_at(stop: &mut Stop<'_>, rest: &str, is_temporary: bool) -> Done {
    let (place, condition) = split_condition(rest);
    if condition == Some("") {
        return Err("a condition is missing after `if`".to_owned());
    }
    let here = format!("*{:#x}", stop.at.address());
    let place = if place.is_empty() { &here } else { place };
    let wanted = Wanted { place, condition, is_temporary, ..Wanted::default() };
    let breakpoint = stop.breakpoints_mut().add(&wanted)?;
    outln!(
        "{}breakpoint {} at {}",
        kind(&breakpoint.arrival_filter),
        breakpoint.id,
        places(stop, &breakpoint)
    );
    for (address, why) in &breakpoint.left_out {
        outln!("not at {address:#x}: {why}");
    }
    stay()
}

fn kind(gate: &ArrivalFilter) -> &'static str {
    if gate.is_temporary { "temporary " } else { "" }
}

/// Returns a text about where a breakpoint is: the line of its first address, and the number of its addresses
/// if there are several.
fn places(stop: &Stop<'_>, breakpoint: &Breakpoint) -> String {
    let first = breakpoint.addresses.first().copied().unwrap_or(0);
    match breakpoint.addresses.len() {
        1 => stop.place_of(first),
        count => format!("{}, {count} places", stop.place_of(first)),
    }
}

fn watch(_: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    let address = rest.strip_prefix('*').filter(|address| address.starts_with(|c: char| c.is_ascii_digit()));
    let id = match address {
        Some(address) => {
            let (address, bytes) = address.split_once(' ').unwrap_or((address, "4"));
            let bytes = number(bytes.trim())?;
            if !(1..=4096).contains(&bytes) {
                return Err("1 to 4096 bytes can be watched".to_owned());
            }
            stop.watch_memory(number(address)?, bytes as usize)
        }
        None => stop.add_watchpoint(rest)?,
    };
    outln!("watchpoint {id}: {rest}");
    stay()
}

/// Returns the ids of the breakpoints and watchpoints that a text such as `1 3-5` selects. An empty text
/// selects all.
///
/// # Errors
/// A selected breakpoint does not exist.
fn listed(stop: &mut Stop<'_>, text: &str) -> Result<Vec<u32>, String> {
    let known = stop.breakpoints_mut().ids();
    if text.is_empty() {
        return Ok(known);
    }
    let mut ids = Vec::new();
    for part in text.split([' ', ',']).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let range = number(first)?..=number(last)?;
        let before = ids.len();
        ids.extend(known.iter().copied().filter(|id| range.contains(&u64::from(*id))));
        if ids.len() == before {
            return Err(format!("there is no breakpoint {part}"));
        }
    }
    Ok(ids)
}

fn delete(_: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    for id in listed(stop, rest)? {
        stop.remove(id);
    }
    stay()
}

fn set_enabled(stop: &mut Stop<'_>, rest: &str, is_enabled: bool) -> Done {
    for id in listed(stop, rest)? {
        if let Some(gate) = stop.breakpoints_mut().arrival_filter(id) {
            gate.is_enabled = is_enabled;
        }
    }
    stay()
}

fn ignore(_: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    let (id, count) =
        rest.split_once(char::is_whitespace).ok_or("`ignore` takes a breakpoint's number and a count")?;
    let (id, count) = (number(id)?, number(count.trim())?);
    let now = stop.ordinal();
    let mut points = stop.breakpoints_mut();
    let gate = u32::try_from(id).ok().and_then(|id| points.arrival_filter(id));
    gate.ok_or_else(|| format!("there is no breakpoint {id}"))?.ignore(now, count);
    match count {
        0 => outln!("breakpoint {id} stops the next time"),
        1 => outln!("breakpoint {id} is passed over once"),
        _ => outln!("breakpoint {id} is passed over {count} times"),
    }
    stay()
}

fn breakpoints(_: &mut Terminal, stop: &mut Stop<'_>, _: &str) -> Done {
    if stop.breakpoints().is_empty() && stop.watchpoints().is_empty() {
        outln!("there are no breakpoints and no watchpoints");
    }
    for one in stop.breakpoints() {
        let condition = one.condition.as_ref().map_or(String::new(), |condition| format!(" if {condition}"));
        let state = state(&one.arrival_filter);
        outln!(
            "{}: {}{}{condition}, reached {} times{state}",
            one.id,
            kind(&one.arrival_filter),
            one.text,
            one.hits
        );
    }
    for one in stop.watchpoints() {
        outln!("{}: watch {}{}", one.id, one.text, state(&one.arrival_filter));
    }
    stay()
}

/// Returns a text that says whether a breakpoint is disabled or ignores arrivals, such as `, off, passed over
/// 3 times more`.
fn state(gate: &ArrivalFilter) -> String {
    let off = if gate.is_enabled { "" } else { ", off" };
    match gate.ignored() {
        0 => off.to_owned(),
        1 => format!("{off}, passed over once more"),
        count => format!("{off}, passed over {count} times more"),
    }
}

#[cfg(test)]
mod tests {
    use super::split_condition;

    #[test]
    fn places_and_conditions() {
        for (text, place, condition) in [
            ("7", "7", None),
            ("a.k:7 if i == 3", "a.k:7", Some("i == 3")),
            ("f if(i)", "f", Some("(i)")),
            ("if i", "", Some("i")),
            ("7 if", "7", Some("")),
            ("iffy", "iffy", None),
            ("gif if x", "gif", Some("x")),
            ("", "", None),
        ] {
            assert_eq!(split_condition(text), (place, condition), "{text}");
        }
    }
}
