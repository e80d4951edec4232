//! The start of a debugging session: the capabilities of the server, the launch arguments, and the
//! configuration.

use super::requests::{Answer, Arguments, Place, Refusal, Then, body, without_body};
use super::server::Server;
use crate::run::RunArgs;
use crate::sources::path;
use crate::{Failure, capture};
use clap::Parser;
use debug::{Breakpoints, Session};
use serde_json::{Value, json};
use std::path::Path;

/// Launch options that the server itself handles.
#[derive(Default)]
pub struct Options {
    pub stops_on_entry: bool,
    /// Whether to stop at the end of the dispatch.
    pub stops_on_exit: bool,
    /// Whether to run without ever stopping.
    pub no_debug: bool,
    /// Whether the lanes of the stopped wave are threads too.
    pub lanes: bool,
}

/// Handles the "Initialize Request".
pub fn initialize(server: &mut Server, arguments: &Value) -> Answer {
    if server.is_initialized {
        return Err("`initialize` comes once".to_owned());
    }
    if arguments.text("pathFormat").is_some_and(|format| format != "path") {
        return Err("files are named by paths, not by URIs".to_owned());
    }
    server.is_initialized = true;
    server.first_line = u32::from(arguments.get("linesStartAt1") != Some(&json!(false)));
    server.invalidates = arguments.is("supportsInvalidatedEvent");
    body(json!({
        "supportsConfigurationDoneRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": true,
        "supportsLogPoints": true,
        "supportsInstructionBreakpoints": true,
        "supportsDataBreakpoints": true,
        "supportsDataBreakpointBytes": true,
        "supportsBreakpointLocationsRequest": true,
        "supportsExceptionInfoRequest": true,
        "supportsEvaluateForHovers": true,
        "supportsSetVariable": true,
        "supportsSetExpression": true,
        "supportsCompletionsRequest": true,
        "supportsStepBack": true,
        "supportsSteppingGranularity": true,
        "supportsReadMemoryRequest": true,
        "supportsDisassembleRequest": true,
        "supportsLoadedSourcesRequest": true,
        "supportsRestartRequest": true,
        "supportsTerminateRequest": true,
        "exceptionBreakpointFilters": super::stops::filters(),
    }))
}

/// Handles the "Launch Request". Its arguments are specific to this server; see docs/editor.md.
pub fn launch(server: &mut Server, arguments: &Value) -> Answer {
    if !server.launch.is_null() {
        return Err("something is launched already".to_owned());
    }
    if arguments.text("program").is_none() {
        return Err("`program` is missing: a source or a code object".to_owned());
    }
    server.launch = arguments.clone();
    without_body(Then::Launch)
}

/// Handles the "Restart Request". Uses the arguments of this request, or else those of the last launch.
/// Sources are compiled again.
pub fn restart(server: &mut Server, arguments: &Value) -> Answer {
    if server.launch.is_null() {
        return Err("nothing is launched yet".to_owned());
    }
    if let Some(arguments) =
        arguments.get("arguments").filter(|arguments| arguments.text("program").is_some())
    {
        server.launch = arguments.clone();
    }
    server.is_restarting = true;
    without_body(Then::Launch)
}

/// Handles the "ConfigurationDone Request".
pub fn configured(server: &mut Server, _: &mut Breakpoints<'_>, _: &Value) -> Answer {
    match std::mem::take(&mut server.is_configuring) {
        true => without_body(Then::Begin),
        false => Err("the dispatch has begun".to_owned()),
    }
}

/// Sets the breakpoints. Called when the object has been loaded. Returns whether to begin the dispatch.
pub fn begin(server: &mut Server, session: &Session, file: &Path) -> bool {
    server.options = Options {
        stops_on_entry: server.launch.is("stopOnEntry"),
        stops_on_exit: server.launch.get("stopOnExit") != Some(&json!(false)),
        no_debug: server.launch.is("noDebug"),
        lanes: server.launch.is("lanesAsThreads"),
    };
    server.file = file.to_owned();
    server.loaded(session.program(), |name| path(name, file));
    server.output("console", &String::from_utf8_lossy(&capture::taken()));
    server.answer_later(Ok(Value::Null));
    if std::mem::take(&mut server.is_restarting) {
        super::points::set_again(server, session);
    } else {
        server.event("initialized", Value::Null);
        server.is_configuring = true;
        if server.serve(&mut Place::Loaded(session)) != Then::Begin {
            return false;
        }
    }
    if server.options.no_debug || !server.options.stops_on_entry {
        session.run_on(server.options.no_debug);
    }
    server.is_running = true;
    true
}

/// A command line of `kernc run`.
#[derive(Parser)]
#[command(name = "launch", no_binary_name = true, disable_help_flag = true)]
struct Line {
    #[command(flatten)]
    run: RunArgs,
}

/// Launch arguments that correspond to options of `kernc run`.
const OPTIONS: [(&str, &str); 6] = [
    ("processor", "--mcpu"),
    ("kernel", "--kernel"),
    ("grid", "--grid"),
    ("group", "--group"),
    ("dynamicLds", "--dynamic-lds"),
    ("optimization", "-O"),
];

/// Converts launch arguments to the options of a run.
pub fn parse(launch: &Value) -> Result<RunArgs, Failure> {
    if let Some(directory) = launch.text("cwd") {
        std::env::set_current_dir(directory)
            .map_err(|error| Failure::File(format!("`cwd` {directory}: {error}")))?;
    }
    let line = command_line(launch).map_err(Failure::Usage)?;
    let parsed = Line::try_parse_from(line).map_err(|error| {
        // The error message is the command line's, without the parts that help only on a command line.
        let text = error.to_string();
        let first = text.split("\n\n").next().unwrap_or_default();
        Failure::Usage(first.trim_start_matches("error: ").to_owned())
    })?;
    Ok(parsed.run)
}

/// Converts launch arguments to a command line.
fn command_line(launch: &Value) -> Result<Vec<String>, Refusal> {
    let mut line = Vec::new();
    for (name, option) in OPTIONS {
        if let Some(value) = launch.get(name).filter(|value| !value.is_null()) {
            line.extend([option.to_owned(), listed(value)?]);
        }
    }
    match launch.get("strict") {
        None | Some(Value::Null) => {}
        Some(Value::Bool(strict)) => line.push(format!("--mode={}", if *strict { "strict" } else { "fast" })),
        Some(_) => return Err("`strict` is true or false".to_owned()),
    }
    for name in launch.list("print") {
        line.extend(["--print".to_owned(), text(name)?]);
    }
    for option in launch.list("options") {
        line.push(text(option)?);
    }
    let mut positional = Vec::new();
    match launch.get("args") {
        None | Some(Value::Null) => {}
        Some(Value::Array(values)) => positional = values.iter().map(text).collect::<Result<_, _>>()?,
        Some(Value::Object(named)) => {
            for (name, value) in named {
                line.push(format!("--arg={name}={}", text(value)?));
            }
        }
        Some(_) => return Err("`args` is a list, or an object with names".to_owned()),
    }
    let program = launch.text("program").filter(|program| *program != "-");
    line.push("--".to_owned());
    line.push(program.ok_or("`program` is missing: a source or a code object")?.to_owned());
    line.extend(positional);
    Ok(line)
}

/// Converts a number or a list in the launch arguments to the text of a command-line option: `64`, `"64,2"`
/// or `[64, 2]`.
fn listed(value: &Value) -> Result<String, Refusal> {
    match value {
        Value::Array(values) => Ok(values.iter().map(text).collect::<Result<Vec<_>, _>>()?.join(",")),
        value => text(value),
    }
}

/// Returns a value in the syntax of the command line.
fn text(value: &Value) -> Result<String, Refusal> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(value) => Ok(value.to_string()),
        Value::Array(values) => {
            Ok(format!("[{}]", values.iter().map(text).collect::<Result<Vec<_>, _>>()?.join(", ")))
        }
        Value::Object(_) | Value::Null => Err(format!("`{value}` is no argument: a text or a number is")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines() {
        let launch = json!({
            "program": "k.k", "processor": "gfx906", "grid": [64, 2], "group": 64, "strict": false,
            "args": ["iota:64", 2.5, -1, [1, 2]], "print": ["y"], "options": ["--stack", "16"],
        });
        let line = command_line(&launch).expect("a command line");
        let wanted = "--mcpu gfx906 --grid 64,2 --group 64 --mode=fast --print y --stack 16 -- k.k iota:64 2.5 -1 [1, 2]";
        assert_eq!(line.join(" "), wanted);
        let named = json!({"program": "k.k", "grid": "64", "args": {"n": 3}});
        assert_eq!(command_line(&named).expect("a command line").join(" "), "--grid 64 --arg=n=3 -- k.k");
    }

    #[test]
    fn what_is_none() {
        for launch in [
            json!(null),
            json!({"program": 3}),
            json!({"program": "-"}),
            json!({"program": "a", "args": 3}),
            json!({"program": "a", "args": [{}]}),
            json!({"program": "a", "strict": "yes"}),
            json!({"program": "a", "grid": [null]}),
        ] {
            assert!(command_line(&launch).is_err(), "{launch}");
        }
        let parsed = parse(&json!({"program": "a", "grid": "x"}));
        assert!(matches!(parsed, Err(Failure::Usage(why)) if why.contains("--grid")));
    }
}
