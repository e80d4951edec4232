//! The command `info WHAT`, and commands that print types.

use super::commands::{self, Done, stay};
use super::terminal::Terminal;
use debug::{Stop, Variables};

struct Topic {
    name: &'static str,
    run: fn(&mut Terminal, &mut Stop<'_>, &str) -> Done,
}

const TOPICS: &[Topic] = &[
    Topic { name: "args", run: |_, stop, _| variables(stop, Variables::Parameters, "parameters") },
    Topic { name: "breakpoints", run: |terminal, stop, _| commands::run_here("breakpoints", terminal, stop) },
    Topic { name: "display", run: displays },
    Topic { name: "frame", run: |terminal, stop, _| commands::run_here("frame", terminal, stop) },
    Topic { name: "functions", run: functions },
    Topic {
        name: "locals",
        run: |_, stop, _| variables(stop, Variables::Locals, "variables of the function"),
    },
    Topic { name: "registers", run: registers },
    Topic { name: "waves", run: |terminal, stop, _| commands::run_here("waves", terminal, stop) },
];

/// Runs `info TOPIC`. The user may shorten the topic as long as it is unambiguous.
pub fn info(terminal: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    let (what, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let fitting: Vec<&Topic> =
        TOPICS.iter().filter(|topic| !what.is_empty() && topic.name.starts_with(what)).collect();
    match fitting.as_slice() {
        [topic] => (topic.run)(terminal, stop, rest.trim()),
        _ => {
            let names: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
            let known = names.join(", ");
            Err(match (what, fitting.is_empty()) {
                ("", _) => format!("`info` takes one of {known}"),
                (what, true) => format!("there is no `info {what}`: {known}"),
                (what, false) => format!("`info {what}` is more than one of {known}"),
            })
        }
    }
}

fn variables(stop: &Stop<'_>, which: Variables, what: &str) -> Done {
    if stop.program.info.is_none() {
        return Err("the object does not describe variables".to_owned());
    }
    let all = stop.variables_of(which, stop.lane());
    if all.is_empty() {
        outln!("there are no {what} here");
    }
    commands::show_variables(all);
    stay()
}

fn displays(terminal: &mut Terminal, _: &mut Stop<'_>, _: &str) -> Done {
    if terminal.displays.is_empty() {
        outln!("nothing is displayed");
    }
    terminal.displays.iter().for_each(|display| outln!("{}: {}", display.id, display.text));
    stay()
}

/// Prints the functions whose names contain a text, with their addresses in the object file.
fn functions(_: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    let functions = stop.program.functions().iter().filter(|function| function.name.contains(rest));
    let mut is_there = false;
    for function in functions {
        outln!("{:#x}  {}", function.start, function.name);
        is_there = true;
    }
    if is_there { stay() } else { Err(format!("no function has `{rest}` in its name")) }
}

/// Prints a register bank, or single registers by name.
fn registers(terminal: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    if matches!(rest, "" | "s" | "v" | "a") {
        return commands::run_here(&format!("registers {rest}"), terminal, stop);
    }
    for name in rest.split_whitespace() {
        let name = name.trim_start_matches('$');
        outln!("{name:>4} {}", stop.value(&format!("${name}"), stop.lane())?);
    }
    stay()
}

/// Runs `whatis EXPRESSION`: prints the name of the expression's type.
pub fn what_is(_: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    outln!("type = {}", stop.type_of(rest)?);
    stay()
}

/// Runs `ptype EXPRESSION` or `ptype TYPE`: prints the declaration of the type with its members.
pub fn type_of(_: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    outln!("type = {}", stop.described(rest)?);
    stay()
}
