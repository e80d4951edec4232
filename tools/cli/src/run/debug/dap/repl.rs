//! Evaluation of text that the user types or hovers over in the editor: expressions, and the terminal
//! debugger's commands.

use super::frames::{View, decoded};
use super::requests::{Answer, Arguments, Reply, Then, body, needed};
use super::server::Server;
use super::values;
use crate::capture;
use crate::run::debug::commands::{self, Outcome};
use debug::{Action, Stop};
use serde_json::{Value, json};

/// Handles the "Evaluate Request". Text that the user has typed is evaluated as an expression. If it is not
/// an expression with a value, it is run as a command.
pub fn evaluate(server: &mut Server, stop: &mut Stop<'_>, arguments: &Value) -> Answer {
    let text = arguments.text("expression").ok_or("`expression` is missing")?.trim();
    let is_typed = arguments.text("context") == Some("repl");
    // If the user has chosen a wave with a command, typed text refers to that wave.
    let view = match stop.chosen_wave().filter(|_| is_typed) {
        Some(wave) => Ok(View::chosen(stop, wave, server.typed.frame)),
        None => decoded(server, stop, arguments.number("frameId")),
    };
    let frame = view.as_ref().ok().and_then(|view| view.frame_of(stop));
    let shown = view.and_then(|view| Ok((view, view.with_frame(stop, |stop| stop.value(text, view.lane))??)));
    match shown {
        Ok((view, shown)) => values::evaluated(server, text, view, shown),
        Err(_) if is_typed && commands::is_one(text) && !is_short(stop, text) => {
            server.typed.frame = frame.unwrap_or(server.typed.frame);
            command(server, stop, text)
        }
        Err(why) => Err(why),
    }
}

/// Returns whether a typed text begins with a one-letter name that is more likely a variable than a command,
/// as in `i + `.
fn is_short(stop: &Stop<'_>, text: &str) -> bool {
    let name = text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
    name.len() == 1 && !commands::has_format(text) && stop.type_of(name).is_ok()
}

/// Runs a command. Its output becomes the response.
fn command(server: &mut Server, stop: &mut Stop<'_>, line: &str) -> Answer {
    let (text, done) = capture::capture(|| commands::run(line, &mut server.typed, stop));
    let body = json!({ "result": String::from_utf8_lossy(&text).trim_end(), "variablesReference": 0 });
    // The command may have changed state that the client has already read, for example which lane steps
    // follow.
    server.forget();
    match done.ok_or("kernc panicked")?? {
        Outcome::Stay => {
            invalidated(server);
            Ok(Reply { body, then: Then::Stay })
        }
        Outcome::Go(action @ Action::Set(_)) => {
            invalidated(server);
            Ok(Reply { body, then: Then::Go(action) })
        }
        Outcome::Go(action) => {
            let thread = super::frames::thread(server, stop.who(), None);
            server.event("continued", json!({ "threadId": thread, "allThreadsContinued": true }));
            Ok(Reply { body, then: Then::Go(action) })
        }
    }
}

/// Tells the client that the data it shows is out of date ("Invalidated Event").
fn invalidated(server: &mut Server) {
    if server.invalidates {
        server.event("invalidated", json!({ "areas": ["stacks", "threads", "variables"] }));
    }
}

/// Handles the "SetVariable Request" for a row of the variables tree.
pub fn set_variable(server: &mut Server, stop: &mut Stop<'_>, arguments: &Value) -> Answer {
    let name = arguments.text("name").ok_or("`name` is missing")?;
    let (text, view) = values::part(server, stop, needed(arguments, "variablesReference")?, name)?;
    set(stop, arguments, &text, view)
}

/// Handles the "SetExpression Request".
pub fn set_expression(server: &mut Server, stop: &mut Stop<'_>, arguments: &Value) -> Answer {
    let text = arguments.text("expression").ok_or("`expression` is missing")?;
    let view = decoded(server, stop, arguments.number("frameId"))?;
    set(stop, arguments, text, view)
}

fn set(stop: &mut Stop<'_>, arguments: &Value, text: &str, view: View) -> Answer {
    let new = arguments.text("value").ok_or("`value` is missing")?;
    let (action, value) = view.with_frame(stop, |stop| stop.set(text, new, view.lane))??;
    Ok(Reply { body: json!({ "value": value }), then: Then::Go(action) })
}

/// Handles the "Completions Request": returns commands and names of variables.
pub fn completions(_: &mut Server, stop: &mut Stop<'_>, arguments: &Value) -> Answer {
    let text = arguments.text("text").ok_or("`text` is missing")?;
    let is_word = |c: char| c.is_alphanumeric() || "_-$".contains(c);
    let start = text.trim_end_matches(is_word).len();
    let word = &text[start..];
    let names = stop.variables(stop.lane()).into_iter().map(|(name, _)| name);
    let commands = commands::names().map(str::to_owned).filter(|_| start == 0);
    let fitting = commands.chain(names).filter(|name| name.starts_with(word));
    let targets: Vec<Value> = fitting.take(256).map(|name| json!({ "label": name })).collect();
    body(json!({ "targets": targets }))
}
