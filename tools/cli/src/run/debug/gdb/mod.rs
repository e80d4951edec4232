//! `kernc debug --gdb PORT`: makes the debugger available to GDB over the GDB remote serial protocol. GDB's
//! requests do the same as the commands of the terminal debugger.

mod packets;
mod registers;
mod requests;

pub use registers::Architecture;

use super::terminal::{Terminal, headline};
use crate::Failure;
use debug::{Action, FrontEnd, Reason, Stop, Stopped, WaveId};
use packets::{Connection, Incoming, hex};
use requests::Answer;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener, TcpStream};

/// Number of instructions between two checks for an interrupt from GDB. Each check costs a system call, so
/// there is none after most instructions.
const PATIENCE: u32 = 4096;

/// Front end that serves a debugged dispatch to one GDB.
pub struct Gdb {
    listener: TcpListener,
    connection: Option<Connection<TcpStream>>,
    architecture: Architecture,
    /// State of `monitor` commands.
    terminal: Terminal,
    /// Waves in the order in which they first stopped. The thread id of a wave is its index in this list plus
    /// one.
    met: Vec<WaveId>,
    /// Selected wave of the group, if it is not the stopped wave.
    chosen: Option<u32>,
    /// Breakpoints and watchpoints that GDB has set, by kind, address and length. The value is the id in the
    /// session.
    points: BTreeMap<(char, u64, u64), u32>,
    /// Whether the dispatch is running and GDB waits for a stop reply.
    runs: bool,
    /// Whether the dispatch is running backwards.
    is_reverse: bool,
    /// Number of instructions since the last check for an interrupt.
    unheard: u32,
}

impl Gdb {
    /// Starts to listen for GDB's connection on a port of this machine, or on any free port if `port` is 0.
    pub fn new(port: u16, architecture: Architecture) -> Result<Gdb, Failure> {
        let refused = |error: std::io::Error| Failure::Usage(format!("`--gdb {port}`: {error}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(refused)?;
        let port = listener.local_addr().map_err(refused)?.port();
        outln!("waiting for GDB: `target remote localhost:{port}`");
        // The port number is printed immediately, because a user who asked for any free port needs it to
        // connect GDB.
        let _ = std::io::Write::flush(&mut std::io::stdout());
        Ok(Gdb {
            listener,
            connection: None,
            architecture,
            terminal: Terminal::new(&[]),
            met: Vec::new(),
            chosen: None,
            points: BTreeMap::new(),
            runs: false,
            is_reverse: false,
            unheard: 0,
        })
    }

    /// Returns the thread id of a wave.
    fn thread(&mut self, who: WaveId) -> usize {
        let known = self.met.iter().position(|met| *met == who);
        1 + known.unwrap_or_else(|| {
            self.met.push(who);
            self.met.len() - 1
        })
    }

    /// Returns the threads of the stopped group: its waves that have not ended.
    fn threads(&mut self, stop: &Stop<'_>) -> Vec<usize> {
        let group = stop.at.group();
        let waves = (0..stop.at.waves()).filter(|&wave| stop.at.wave_of_group(wave).is_some());
        waves.map(|wave| self.thread(WaveId { group, wave })).collect()
    }

    /// Runs `look` with the selected wave as the current one.
    fn with_chosen_wave<T>(
        &mut self,
        stop: &mut Stop<'_>,
        look: impl FnOnce(&mut Gdb, &mut Stop<'_>) -> T,
    ) -> T {
        stop.on_wave(self.chosen, |stop| look(self, stop))
    }

    /// Returns the stop reply packet for a stop (GDB manual, "Stop Reply Packets").
    fn report(&mut self, stop: &Stop<'_>) -> String {
        // The signals are SIGINT, SIGSEGV and SIGTRAP.
        let signal = match stop.reason {
            Reason::Asked => 2,
            Reason::Trapped(_) => 11,
            _ => 5,
        };
        let mut text = format!("T{signal:02x}thread:{:x};", self.thread(stop.who()));
        if let Some(pc) = registers::read(stop.at, 0) {
            text.push_str(&format!("0:{pc};"));
        }
        let of = |id: u32| self.points.iter().find(|(_, point)| **point == id).map(|(key, _)| *key);
        match &stop.reason {
            Reason::Changed { id, .. } => {
                if let Some((_, address, _)) = of(*id) {
                    text.push_str(&format!("watch:{address:x};"));
                }
            }
            Reason::Ended => text.push_str("replaylog:end;"),
            Reason::Arrived if self.is_reverse && stop.ordinal() <= 1 => text.push_str("replaylog:begin;"),
            _ => {}
        }
        text
    }

    fn serve(&mut self, stop: &mut Stop<'_>) -> Option<Action> {
        if self.connection.is_none() {
            let (stream, _) = self.listener.accept().ok()?;
            // Packets are small, and each side waits for the other's packets. The operating system would
            // delay small packets without this setting.
            let _ = stream.set_nodelay(true);
            self.connection = Some(Connection::new(stream));
        }
        self.chosen = None;
        self.terminal.frame = 0;
        self.thread(stop.who());
        if self.runs {
            self.runs = false;
            // GDB's stop reply cannot express these reasons for a stop. They are therefore sent as a text
            // that GDB prints.
            if matches!(stop.reason, Reason::Found(_) | Reason::Trapped(_) | Reason::Changed { .. }) {
                self.send_packet(format!("O{}", hex(format!("{}\n", headline(stop)).as_bytes())).as_bytes())?;
            }
            let report = self.report(stop);
            self.send_packet(report.as_bytes())?;
        }
        loop {
            let Incoming::Packet(packet) = self.connection.as_mut()?.next()? else { continue };
            match requests::answer(self, stop, &packet) {
                Answer::Text(text) => self.send_packet(text.as_bytes())?,
                Answer::Go(action) => {
                    self.runs = true;
                    self.is_reverse = matches!(action, Action::Back(_) | Action::BackToBreakpoint);
                    return Some(action);
                }
                Answer::End(text, action) => {
                    if let Some(text) = text {
                        self.send_packet(text.as_bytes())?;
                    }
                    self.connection = None;
                    return Some(action);
                }
            }
        }
    }

    fn send_packet(&mut self, body: &[u8]) -> Option<()> {
        self.connection.as_mut()?.send(body)
    }
}

impl FrontEnd for Gdb {
    /// Serves GDB during a stop. If GDB has disconnected, the dispatch runs to its end.
    fn stopped(&mut self, stop: &mut Stop<'_>) -> Action {
        let action = self.serve(stop);
        if action.is_none() {
            self.connection = None;
        }
        action.unwrap_or(Action::Detach)
    }

    fn is_waiting(&mut self) -> bool {
        self.unheard += 1;
        if self.unheard < PATIENCE {
            return false;
        }
        self.unheard = 0;
        let Some(connection) = &mut self.connection else { return false };
        if connection.stream().set_nonblocking(true).is_err() {
            return false;
        }
        let is_interrupted = connection.is_interrupted();
        let _ = connection.stream().set_nonblocking(false);
        is_interrupted
    }

    /// Returns whether the dispatch must stop once more at its last instruction. While GDB is connected, it
    /// must: GDB is told about the end of the dispatch only when it continues from that stop.
    fn wants_final_stop(&mut self) -> bool {
        self.connection.is_some()
    }

    fn ended(&mut self, is_well: bool) {
        if self.runs {
            self.send_packet(if is_well { b"W00" } else { b"W01" });
        }
    }
}

/// Converts an address in memory to an address in the file.
fn in_file(at: &Stopped<'_>, address: u64) -> u64 {
    address.wrapping_sub(at.base())
}
