//! The server: receives and sends messages, and keeps the state between messages.

use super::launch::Options;
use super::points::Points;
use super::requests::{Place, Reply, Then, answer};
use super::values::Nodes;
use super::wire::{self, Inbox, Incoming};
use crate::capture;
use crate::run::debug::terminal::Terminal;
use debug::{Program, WaveId};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

pub struct Server {
    inbox: Inbox,
    output: Box<dyn Write + Send>,
    /// Sequence number of the last message that was sent.
    seq: u64,
    pub is_initialized: bool,
    /// Number that the client gives to the first line.
    pub first_line: u32,
    /// Whether the client supports the "invalidated" event.
    pub invalidates: bool,
    /// Arguments of the launch.
    pub launch: Value,
    pub options: Options,
    /// Sequence number and command of a request that is still being worked on. Its response is sent when the
    /// work is done.
    later: Option<(Value, Value)>,
    /// Error that ended the reading of the stream, if any.
    pub broken: Option<String>,
    /// Whether the client is setting breakpoints and the dispatch has not begun.
    pub is_configuring: bool,
    pub is_running: bool,
    /// Whether the client has disconnected or wants to disconnect.
    pub is_leaving: bool,
    /// Whether to launch the dispatch again.
    pub is_restarting: bool,
    /// Whether the wave runs backwards until it reaches any stop.
    pub goes_back: bool,
    pub points: Points,
    /// Paths of the object's source files on this machine.
    pub paths: Vec<Option<PathBuf>>,
    /// File that was launched.
    pub file: PathBuf,
    /// Waves that have thread ids.
    pub waves: Vec<WaveId>,
    /// Stack frames that have ids in the protocol. Each element is a thread id, and the index of the frame in
    /// the stack of that thread.
    pub frames: Vec<(u64, usize)>,
    pub nodes: Nodes,
    /// Addresses of all instructions, computed at their first use.
    pub code: Vec<u64>,
    /// State of the commands that the user types.
    pub typed: Terminal,
}

impl Server {
    pub fn new(inbox: Inbox, output: Box<dyn Write + Send>) -> Server {
        Server {
            inbox,
            output,
            seq: 0,
            is_initialized: false,
            first_line: 1,
            invalidates: false,
            launch: Value::Null,
            options: Options::default(),
            later: None,
            broken: None,
            is_configuring: false,
            is_running: false,
            is_leaving: false,
            is_restarting: false,
            goes_back: false,
            points: Points::default(),
            paths: Vec::new(),
            file: PathBuf::new(),
            waves: Vec::new(),
            frames: Vec::new(),
            nodes: Nodes::default(),
            code: Vec::new(),
            typed: Terminal::new(&[]),
        }
    }

    /// Handles requests until one of them requires an action.
    pub fn serve(&mut self, place: &mut Place<'_, '_>) -> Then {
        loop {
            let next = self.inbox.next();
            match self.take(next, place) {
                Then::Stay => {}
                then => return then,
            }
        }
    }

    /// Handles the requests that have arrived while a dispatch runs. Returns what the server does next, or
    /// `None` if the dispatch simply continues.
    pub fn serve_waiting(&mut self, place: &mut Place<'_, '_>) -> Option<Then> {
        while let Some(next) = self.inbox.try_next() {
            match self.take(next, place) {
                Then::Stay => {}
                then => return Some(then),
            }
        }
        None
    }

    /// Handles an incoming message.
    fn take(&mut self, incoming: Incoming, place: &mut Place<'_, '_>) -> Then {
        let bytes = match incoming {
            Incoming::Message(bytes) => bytes,
            Incoming::Closed => {
                self.is_leaving = true;
                return Then::Leave;
            }
            Incoming::Broken(why) => {
                self.respond(&Value::from(0), &Value::from(""), Err(why.clone()));
                self.broken = Some(why);
                self.is_leaving = true;
                return Then::Leave;
            }
        };
        let request: Value = match serde_json::from_slice(&bytes) {
            Ok(request) => request,
            Err(error) => {
                self.respond(&Value::from(0), &Value::from(""), Err(format!("this is no JSON: {error}")));
                return Then::Stay;
            }
        };
        let number = |name| request.get(name).filter(|value| value.is_u64()).cloned().unwrap_or(json!(0));
        let (seq, command) = (number("seq"), request.get("command").cloned().unwrap_or(json!("")));
        let is_request = request.get("type").is_some_and(|kind| kind == "request");
        let answer = match command.as_str() {
            Some(command) if is_request => {
                answer(self, place, command, request.get("arguments").unwrap_or(&Value::Null))
            }
            _ => Err("this is no request".to_owned()),
        };
        match answer {
            Ok(Reply { then: Then::Launch, .. }) => {
                self.later = Some((seq, command));
                Then::Launch
            }
            Ok(Reply { body, then }) => {
                self.respond(&seq, &command, Ok(body));
                self.is_leaving |= then == Then::Leave;
                then
            }
            Err(why) => {
                self.respond(&seq, &command, Err(why));
                Then::Stay
            }
        }
    }

    /// Sends the delayed response to an earlier request.
    pub fn answer_later(&mut self, answer: Result<Value, String>) {
        if let Some((seq, command)) = self.later.take() {
            self.respond(&seq, &command, answer);
        }
    }

    /// Sends an error response to a launch request that is still being worked on. Returns whether there was
    /// such a request.
    pub fn refuses(&mut self, why: &str) -> bool {
        let was_restarting = std::mem::take(&mut self.is_restarting);
        if self.later.is_none() {
            return false;
        }
        self.answer_later(Err(why.to_owned()));
        self.launch = Value::Null;
        if was_restarting {
            self.event("terminated", Value::Null);
        }
        true
    }

    fn respond(&mut self, seq: &Value, command: &Value, answer: Result<Value, String>) {
        let mut response =
            json!({ "type": "response", "request_seq": seq, "command": command, "success": answer.is_ok() });
        match answer {
            Ok(Value::Null) => {}
            Ok(body) => response["body"] = body,
            Err(why) => {
                response["body"] = json!({ "error": { "id": 1, "format": why, "showUser": true } });
                response["message"] = Value::from(why);
            }
        }
        self.send(response);
    }

    /// Sends an event to the client.
    pub fn event(&mut self, event: &str, body: Value) {
        let mut message = json!({ "type": "event", "event": event });
        if !body.is_null() {
            message["body"] = body;
        }
        self.send(message);
    }

    /// Sends the output of the dispatch so far.
    pub fn printed(&mut self) {
        let text = capture::taken();
        self.output("stdout", &String::from_utf8_lossy(&text));
    }

    /// Sends output for the client's console.
    pub fn output(&mut self, category: &str, text: &str) {
        if !text.is_empty() {
            self.event("output", json!({ "category": category, "output": text }));
        }
    }

    fn send(&mut self, mut message: Value) {
        self.seq += 1;
        message["seq"] = Value::from(self.seq);
        // If the client no longer reads, it has disconnected.
        if wire::write(&mut self.output, &message).is_err() {
            self.is_leaving = true;
        }
    }

    /// Resets the state for a newly loaded object.
    pub fn loaded(&mut self, program: &Program, path: impl Fn(&str) -> Option<PathBuf>) {
        self.paths = program.files.iter().map(|file| path(file)).collect();
        self.waves.clear();
        self.code.clear();
        self.forget();
    }

    /// Discards all ids that belong to the current stop.
    pub fn forget(&mut self) {
        self.frames.clear();
        self.nodes.clear();
    }
}
