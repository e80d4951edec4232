//! The table of requests. Each request has a handler, and the states of the server in which it is allowed.

use super::server::Server;
use super::{code, frames, launch, memory, moves, points, repl, stops, values};
use debug::{Action, Breakpoints, Session, Stop};
use serde_json::{Value, json};

/// What the server does after a request.
#[derive(Debug, PartialEq)]
pub enum Then {
    /// Reads further requests.
    Stay,
    /// Continues the dispatch with an action.
    Go(Action),
    /// Keeps the wave stopped and sends the client a stop event.
    Pause,
    /// Launches a kernel. The response to the request is sent later, when the launch has succeeded or failed.
    Launch,
    /// Begins the dispatch, because all breakpoints are set.
    Begin,
    /// Ends the dispatch.
    Terminate,
    /// Ends the session.
    Leave,
}

/// Body of a response, and what to do next.
pub struct Reply {
    pub body: Value,
    pub then: Then,
}

/// Reason for refusing a request, in one sentence.
pub type Refusal = String;
pub type Answer = Result<Reply, Refusal>;

/// Returns a response with a body. Afterwards the server stays in the same state and reads further requests.
pub fn body(body: Value) -> Answer {
    Ok(Reply { body, then: Then::Stay })
}

/// Returns a response without a body.
pub fn without_body(then: Then) -> Answer {
    Ok(Reply { body: Value::Null, then })
}

/// State of a session.
pub enum Place<'a, 'b> {
    /// No kernel has been launched.
    Idle,
    /// The object is loaded, but the dispatch has not begun.
    Loaded(&'a Session),
    /// A wave has stopped.
    At(&'a mut Stop<'b>),
    /// The dispatch has ended.
    Ended,
}

/// Handler of a request. The variants differ in when the request is allowed.
enum Handler {
    /// Allowed at any time.
    Always(fn(&mut Server, &Value) -> Answer),
    /// Allowed once an object is loaded.
    Loaded(fn(&mut Server, &mut Breakpoints<'_>, &Value) -> Answer),
    /// Allowed while the dispatch runs or a wave is stopped.
    Running(fn(&mut Server, &mut Stop<'_>, &Value) -> Answer),
    /// Allowed while a wave is stopped.
    Stopped(fn(&mut Server, &mut Stop<'_>, &Value) -> Answer),
}

use Handler::{Always, Loaded, Running, Stopped};

const REQUESTS: &[(&str, Handler)] = &[
    ("initialize", Always(launch::initialize)),
    ("launch", Always(launch::launch)),
    ("restart", Always(launch::restart)),
    ("terminate", Running(|_, _, _| without_body(Then::Terminate))),
    ("disconnect", Always(|_, _| without_body(Then::Leave))),
    ("configurationDone", Loaded(launch::configured)),
    ("setExceptionBreakpoints", Always(points::exceptions)),
    ("setBreakpoints", Loaded(points::lines)),
    ("setFunctionBreakpoints", Loaded(points::functions)),
    ("setInstructionBreakpoints", Loaded(points::instructions)),
    ("setDataBreakpoints", Loaded(points::data)),
    ("breakpointLocations", Loaded(points::locations)),
    ("loadedSources", Loaded(code::loaded_sources)),
    ("source", Loaded(code::source)),
    ("dataBreakpointInfo", Stopped(points::data_info)),
    ("pause", Running(moves::pause)),
    ("threads", Running(frames::threads)),
    ("continue", Stopped(moves::continue_request)),
    ("next", Stopped(moves::next)),
    ("stepIn", Stopped(moves::step_in)),
    ("stepOut", Stopped(moves::step_out)),
    ("stepBack", Stopped(moves::step_back)),
    ("reverseContinue", Stopped(moves::reverse_continue)),
    ("stackTrace", Stopped(frames::stack_trace)),
    ("scopes", Stopped(frames::scopes)),
    ("variables", Stopped(values::variables)),
    ("setVariable", Stopped(repl::set_variable)),
    ("setExpression", Stopped(repl::set_expression)),
    ("evaluate", Stopped(repl::evaluate)),
    ("completions", Stopped(repl::completions)),
    ("exceptionInfo", Stopped(stops::exception_info)),
    ("readMemory", Stopped(memory::read)),
    ("disassemble", Stopped(code::disassemble)),
];

/// Handles a request in the given state of the session.
pub fn answer(server: &mut Server, place: &mut Place<'_, '_>, command: &str, arguments: &Value) -> Answer {
    let handler = REQUESTS.iter().find(|(name, _)| *name == command).map(|(_, handler)| handler);
    let handler = handler.ok_or_else(|| format!("there is no request `{command}` here"))?;
    if !server.is_initialized && command != "initialize" {
        return Err("the first request is `initialize`".to_owned());
    }
    match (handler, place) {
        (Always(run), _) => run(server, arguments),
        (_, Place::Idle) => Err("nothing is launched yet".to_owned()),
        (_, Place::Ended) => Err("the dispatch has ended".to_owned()),
        (Loaded(run), Place::Loaded(session)) => {
            session.with_breakpoints(|mut breakpoints| run(server, &mut breakpoints, arguments))
        }
        (Loaded(run), Place::At(stop)) => {
            let answer = run(server, &mut stop.breakpoints_mut(), arguments);
            stop.look_at_watched();
            answer
        }
        (Running(_) | Stopped(_), Place::Loaded(_)) => Err("the kernel does not run yet".to_owned()),
        (Stopped(_), Place::At(_)) if server.is_running => {
            Err("the kernel runs: `pause` stops it".to_owned())
        }
        (Running(run) | Stopped(run), Place::At(stop)) => run(server, stop, arguments),
    }
}

/// Accessors for the arguments of a request.
pub trait Arguments {
    /// Returns a text.
    fn text(&self, name: &str) -> Option<&str>;
    /// Returns a non-negative integer.
    fn number(&self, name: &str) -> Option<u64>;
    /// Returns whether a flag is set.
    fn is(&self, name: &str) -> bool;
    /// Returns a list; empty if the argument is missing.
    fn list(&self, name: &str) -> &[Value];
}

impl Arguments for Value {
    fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.as_u64()
    }

    fn is(&self, name: &str) -> bool {
        self.get(name) == Some(&json!(true))
    }

    fn list(&self, name: &str) -> &[Value] {
        self.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

/// Returns a number, or an error if it is missing.
pub fn needed(arguments: &Value, name: &str) -> Result<u64, Refusal> {
    arguments.number(name).ok_or_else(|| format!("`{name}` is missing, or no number"))
}
