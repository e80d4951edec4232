//! Which requests there are, when each may come, and what answers it.

use super::server::Server;
use super::{code, frames, launch, memory, moves, points, repl, stops, values};
use debug::{Action, Breakpoints, Session, Stop};
use serde_json::{Value, json};

/// What a request leads to.
#[derive(Debug, PartialEq)]
pub enum Then {
    /// More requests.
    Stay,
    /// The dispatch goes on.
    Go(Action),
    /// The wave stays where it is, and the client is told.
    Pause,
    /// A kernel is to be launched; the answer comes when it is known whether it can be.
    Launch,
    /// All breakpoints are set: the dispatch begins.
    Begin,
    /// The dispatch ends.
    Terminate,
    /// The session ends.
    Leave,
}

/// The body of a response, and what the request leads to.
pub struct Reply {
    pub body: Value,
    pub then: Then,
}

/// Why a request is refused: one sentence.
pub type Refusal = String;
pub type Answer = Result<Reply, Refusal>;

/// A response with a body, and nothing else.
pub fn body(body: Value) -> Answer {
    Ok(Reply { body, then: Then::Stay })
}

/// A response without a body.
pub fn then(then: Then) -> Answer {
    Ok(Reply { body: Value::Null, then })
}

/// Where a session is.
pub enum Place<'a, 'b> {
    /// Nothing is launched.
    Idle,
    /// The object is there, the dispatch has not begun.
    Loaded(&'a Session),
    /// A wave stands.
    At(&'a mut Stop<'b>),
    /// The dispatch has ended.
    Ended,
}

/// What answers, by when it can.
enum Handler {
    /// At any time.
    Always(fn(&mut Server, &Value) -> Answer),
    /// From the launch on.
    Loaded(fn(&mut Server, &mut Breakpoints<'_>, &Value) -> Answer),
    /// While the dispatch runs, too.
    Running(fn(&mut Server, &mut Stop<'_>, &Value) -> Answer),
    /// Where a wave has stopped.
    Stopped(fn(&mut Server, &mut Stop<'_>, &Value) -> Answer),
}

use Handler::{Always, Loaded, Running, Stopped};

const REQUESTS: &[(&str, Handler)] = &[
    ("initialize", Always(launch::initialize)),
    ("launch", Always(launch::launch)),
    ("restart", Always(launch::restart)),
    ("terminate", Running(|_, _, _| then(Then::Terminate))),
    ("disconnect", Always(|_, _| then(Then::Leave))),
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
    ("continue", Stopped(moves::go)),
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

/// Answers a request, where the session is at a place.
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

/// What is asked of a request's arguments.
pub trait Arguments {
    /// A text.
    fn text(&self, name: &str) -> Option<&str>;
    /// A whole number from 0 on.
    fn number(&self, name: &str) -> Option<u64>;
    /// Whether something is asked for.
    fn is(&self, name: &str) -> bool;
    /// A list; empty if it is not there.
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

/// A number that has to be there.
pub fn needed(arguments: &Value, name: &str) -> Result<u64, Refusal> {
    arguments.number(name).ok_or_else(|| format!("`{name}` is missing, or no number"))
}
