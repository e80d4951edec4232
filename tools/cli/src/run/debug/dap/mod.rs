//! `kernc debug --dap`: a server for the Debug Adapter Protocol, which editors use for debugging. Like the
//! terminal, the server is a front end of a debugging session. The crate `debug` and the terminal's commands
//! do the work, and this module translates requests and responses.
//!
//! Section names in comments are those of the protocol's specification, version 1.68.

mod code;
mod frames;
mod launch;
mod memory;
mod moves;
mod points;
mod repl;
mod requests;
mod server;
mod stops;
mod values;
mod wire;

use super::{Host, dispatch};
use crate::{Failure, capture};
use debug::{Action, FrontEnd, Session, Stop};
use launch::parse;
use requests::{Place, Then};
use serde_json::json;
use server::Server;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wire::Inbox;

/// The server. While a dispatch runs, the dispatch and the code that launches dispatches share it.
#[derive(Clone)]
struct Shared {
    server: Arc<Mutex<Server>>,
    waiting: Arc<AtomicUsize>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Server> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FrontEnd for Shared {
    fn stopped(&mut self, stop: &mut Stop<'_>) -> Action {
        stops::stopped(&mut self.lock(), stop)
    }

    fn is_waiting(&mut self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    fn logged(&mut self, text: &str) {
        self.lock().output("console", &format!("{text}\n"));
    }

    /// Sends the remaining output of the dispatch before the client is told that the dispatch has ended.
    fn wants_final_stop(&mut self) -> bool {
        let mut server = self.lock();
        server.printed();
        server.options.stops_on_exit && !server.is_leaving
    }
}

impl Host for Shared {
    fn begins(&self, session: &Session, file: &Path) -> bool {
        launch::begin(&mut self.lock(), session, file)
    }

    fn show_failure(&self, failure: Failure) -> Failure {
        let mut server = self.lock();
        server.printed();
        server.output("stderr", &failure_text(&failure));
        Failure::Told(failure.code())
    }
}

/// Serves one client, on standard input and output or on a port of this machine.
pub fn run(port: Option<u16>) -> Result<(), Failure> {
    let (input, output): (Box<dyn Read + Send>, Box<dyn Write + Send>) = match port {
        None => (Box::new(std::io::stdin()), Box::new(std::io::stdout())),
        Some(port) => connect(port).map_err(|error| Failure::File(format!("port {port}: {error}")))?,
    };
    let inbox = Inbox::new(input);
    let waiting = inbox.waiting();
    let shared = Shared { server: Arc::new(Mutex::new(Server::new(inbox, output))), waiting };
    let mut then = shared.lock().serve(&mut Place::Idle);
    while then == Then::Launch {
        then = launched(&shared);
    }
    let broken = shared.lock().broken.take();
    broken.map_or(Ok(()), |why| Err(Failure::File(format!("the client cannot be understood: {why}"))))
}

type Ends = (Box<dyn Read + Send>, Box<dyn Write + Send>);

fn connect(port: u16) -> std::io::Result<Ends> {
    let (stream, _) = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?.accept()?;
    // Messages are small, and each side waits for the other's messages. The operating system would delay
    // small messages without this setting.
    stream.set_nodelay(true)?;
    Ok((Box::new(stream.try_clone()?), Box::new(stream)))
}

/// Launches the requested dispatch and runs it to its end. Returns what the server does next.
fn launched(shared: &Shared) -> Then {
    let (text, done) = capture::capture(|| {
        let args = parse(&shared.lock().launch)?;
        dispatch(&args, || Ok(Box::new(shared.clone())), shared)
    });
    let mut server = shared.lock();
    let done = done.unwrap_or_else(|| Err(Failure::Internal("error: kernc panicked\n".to_owned())));
    server.output("stdout", &String::from_utf8_lossy(&text));
    if server.is_leaving {
        return Then::Leave;
    }
    if server.is_restarting && done.is_ok() {
        return Then::Launch;
    }
    let code = done.as_ref().err().map_or(0, Failure::code);
    let why = done.err().map_or(String::new(), |failure| failure_text(&failure));
    server.output("stderr", &why);
    if server.refuses(why.lines().next().unwrap_or("the kernel cannot be launched")) {
        return server.serve(&mut Place::Idle);
    }
    server.is_running = false;
    server.event("exited", json!({ "exitCode": code }));
    server.event("terminated", serde_json::Value::Null);
    server.serve(&mut Place::Ended)
}

/// Returns the text of a failure.
fn failure_text(failure: &Failure) -> String {
    String::from_utf8_lossy(&capture::capture(|| failure.report()).0).into_owned()
}
