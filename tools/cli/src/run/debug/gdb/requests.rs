//! The table of GDB's requests and their handlers (GDB manual, "Packets" and "General Query Packets").

use super::packets::{MOST, bytes_of, hex};
use super::{Gdb, in_file, registers};
use crate::capture::capture;
use crate::run::debug::commands::{self, Outcome};
use debug::{Action, Step, Stop};

pub enum Answer {
    Text(String),
    /// Continues the dispatch; GDB gets a stop reply later.
    Go(Action),
    /// GDB disconnects. The optional text is the reply.
    End(Option<String>, Action),
}

type Handler = fn(&mut Gdb, &mut Stop<'_>, &str) -> Answer;

/// The handlers of requests. Each row has the text with which the packet of the request starts. The first row
/// that matches is used.
const REQUESTS: &[(&str, Handler)] = &[
    ("?", |gdb, stop, _| Answer::Text(gdb.report(stop))),
    ("!", |_, _, _| Answer::Text(String::new())),
    ("qSupported", |_, _, _| {
        text(&format!(
            "PacketSize={MOST:x};QStartNoAckMode+;qXfer:features:read+;qXfer:threads:read+;ReverseStep+;ReverseContinue+;vContSupported+"
        ))
    }),
    ("QStartNoAckMode", no_acknowledgement),
    ("qXfer:features:read:target.xml:", |gdb, stop, part| {
        piece(&registers::description(stop.at, gdb.architecture), part)
    }),
    ("qXfer:threads:read::", |gdb, stop, part| piece(&threads(gdb, stop), part)),
    ("qOffsets", |_, stop, _| Answer::Text(format!("TextSeg={:x}", stop.at.base()))),
    ("qC", |gdb, stop, _| Answer::Text(format!("QC{:x}", gdb.thread(stop.who())))),
    ("qfThreadInfo", |gdb, stop, _| {
        let numbers: Vec<String> = gdb.threads(stop).iter().map(|thread| format!("{thread:x}")).collect();
        Answer::Text(format!("m{}", numbers.join(",")))
    }),
    ("qsThreadInfo", |_, _, _| text("l")),
    ("qThreadExtraInfo,", extra_info),
    ("qAttached", |_, _, _| text("1")),
    ("qSymbol::", |_, _, _| text("OK")),
    ("qRcmd,", monitor),
    ("H", choose),
    ("T", |gdb, stop, id| match number(id).is_some_and(|id| gdb.threads(stop).contains(&(id as usize))) {
        true => text("OK"),
        false => text("E01"),
    }),
    ("g", |gdb, stop, _| Answer::Text(gdb.with_chosen_wave(stop, |_, stop| registers::scalars(stop.at)))),
    ("p", register),
    ("m", memory),
    ("G", refused),
    ("P", refused),
    ("M", refused),
    ("X", refused),
    ("Z", |gdb, stop, rest| point(gdb, stop, rest, true)),
    ("z", |gdb, stop, rest| point(gdb, stop, rest, false)),
    ("vCont?", |_, _, _| text("vCont;c;C;s;S")),
    ("vCont;", resume),
    ("vKill", |_, _, _| Answer::End(Some("OK".to_owned()), Action::Quit)),
    ("c", |_, _, _| Answer::Go(Action::Continue)),
    ("C", |_, _, _| Answer::Go(Action::Continue)),
    ("s", |gdb, stop, _| step(gdb, stop)),
    ("S", |gdb, stop, _| step(gdb, stop)),
    ("bs", |_, _, _| Answer::Go(Action::Back(Step::Instruction))),
    ("bc", |_, _, _| Answer::Go(Action::BackToBreakpoint)),
    ("D", |_, _, _| Answer::End(Some("OK".to_owned()), Action::Detach)),
    ("k", |_, _, _| Answer::End(None, Action::Quit)),
];

/// Returns the answer to a packet. An empty answer tells GDB that the request is not supported.
pub fn answer(gdb: &mut Gdb, stop: &mut Stop<'_>, packet: &[u8]) -> Answer {
    let Ok(packet) = std::str::from_utf8(packet) else { return text("") };
    // A row of the table matches if the packet starts with its text. The rest of the packet is passed to the
    // handler.
    let known = REQUESTS.iter().find_map(|(name, handler)| Some((handler, packet.strip_prefix(name)?)));
    match known {
        Some((handler, rest)) => handler(gdb, stop, rest),
        None => text(""),
    }
}

fn text(text: &str) -> Answer {
    Answer::Text(text.to_owned())
}

fn number(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok()
}

/// Parses `address,length`.
fn pair(digits: &str) -> Option<(u64, u64)> {
    let (first, second) = digits.split_once(',')?;
    Some((number(first)?, number(second)?))
}

fn no_acknowledgement(gdb: &mut Gdb, _: &mut Stop<'_>, _: &str) -> Answer {
    if let Some(connection) = &mut gdb.connection {
        connection.acknowledges = false;
    }
    text("OK")
}

/// Returns a part of a long text as the answer to GDB. `part` contains the offset and the length of the part.
/// The answer begins with a letter that says whether this is the last part.
fn piece(whole: &str, part: &str) -> Answer {
    let Some((offset, length)) = pair(part) else { return text("E01") };
    let whole = whole.as_bytes();
    let from = (offset as usize).min(whole.len());
    let to = from.saturating_add((length as usize).min(MOST / 2)).min(whole.len());
    let more = if to == whole.len() { 'l' } else { 'm' };
    // The texts are ASCII, so any byte range is valid text.
    Answer::Text(format!("{more}{}", String::from_utf8_lossy(&whole[from..to])))
}

fn threads(gdb: &mut Gdb, stop: &Stop<'_>) -> String {
    let list = gdb.threads(stop).into_iter();
    let thread = |id: usize| {
        let name = gdb.met.get(id - 1).map_or(String::new(), ToString::to_string);
        format!("<thread id=\"{id:x}\" name=\"{name}\"/>\n")
    };
    format!("<?xml version=\"1.0\"?>\n<threads>\n{}</threads>\n", list.map(thread).collect::<String>())
}

fn extra_info(gdb: &mut Gdb, _: &mut Stop<'_>, id: &str) -> Answer {
    let met = number(id).and_then(|id| gdb.met.get((id as usize).checked_sub(1)?));
    met.map_or_else(|| text("E01"), |who| Answer::Text(hex(who.to_string().as_bytes())))
}

/// Returns the number of the wave to which a thread id refers. `None` if the wave does not belong to the
/// stopped work-group.
fn wave(gdb: &Gdb, stop: &Stop<'_>, id: &str) -> Option<u32> {
    let who = gdb.met.get((number(id)? as usize).checked_sub(1)?)?;
    let is_there = who.group == stop.at.group() && stop.at.wave_of_group(who.wave).is_some();
    is_there.then_some(who.wave)
}

/// Handles `Hg2`: the following packets refer to thread 2. The ids 0 and -1 mean that any thread will do.
fn choose(gdb: &mut Gdb, stop: &mut Stop<'_>, rest: &str) -> Answer {
    let Some(("g" | "c", id)) = rest.split_at_checked(1) else { return text("E01") };
    if matches!(id, "0" | "-1") {
        return text("OK");
    }
    match wave(gdb, stop, id) {
        Some(wave) => {
            gdb.chosen = Some(wave);
            text("OK")
        }
        None => text("E01"),
    }
}

fn register(gdb: &mut Gdb, stop: &mut Stop<'_>, digits: &str) -> Answer {
    let Some(number) = number(digits).and_then(|number| u32::try_from(number).ok()) else {
        return text("E01");
    };
    gdb.with_chosen_wave(stop, |_, stop| {
        registers::read(stop.at, number).map_or_else(|| text("E01"), Answer::Text)
    })
}

/// Handles a request to read memory. Addresses are flat addresses as the current lane sees them. Returns the
/// bytes up to the first byte that does not exist.
fn memory(gdb: &mut Gdb, stop: &mut Stop<'_>, rest: &str) -> Answer {
    let Some((address, length)) = pair(rest) else { return text("E01") };
    let mut bytes = vec![0; (length as usize).min(MOST / 2)];
    gdb.with_chosen_wave(stop, |_, stop| {
        let lane = stop.lane();
        if stop.at.read_flat(lane, address, &mut bytes) {
            return Answer::Text(hex(&bytes));
        }
        let byte = |at: usize| {
            let mut byte = [0];
            stop.at.read_flat(lane, address.wrapping_add(at as u64), &mut byte).then_some(byte[0])
        };
        let there: Vec<u8> = (0..bytes.len()).map_while(byte).collect();
        if there.is_empty() { text("E0e") } else { Answer::Text(hex(&there)) }
    })
}

fn refused(_: &mut Gdb, _: &mut Stop<'_>, _: &str) -> Answer {
    text("E.registers and memory can be read, not written: the way back would not lead here")
}

/// Handles `Z0,ADDRESS,KIND` (set) and `z0,…` (remove). Types 0 and 1 are breakpoints, and type 2 is a
/// watchpoint for writes. Other types are not supported.
fn point(gdb: &mut Gdb, stop: &mut Stop<'_>, rest: &str, is_new: bool) -> Answer {
    let mut operands = rest.split([',', ';']);
    let kind = operands.next().and_then(|kind| kind.chars().next());
    let places = (operands.next().and_then(number), operands.next().and_then(number));
    let (Some(kind @ '0'..='2'), (Some(address), Some(length))) = (kind, places) else { return text("") };
    let key = (kind, address, length);
    if !is_new {
        let old = gdb.points.remove(&key);
        old.map(|id| stop.remove(id));
        return text("OK");
    }
    if gdb.points.contains_key(&key) {
        return text("OK");
    }
    let id = match kind {
        '2' if (1..=4096).contains(&length) => {
            Ok(gdb.with_chosen_wave(stop, |_, stop| stop.watch_memory(address, length as usize)))
        }
        '2' => Err("1 to 4096 bytes can be watched".to_owned()),
        _ => {
            let place = format!("*{:#x}", in_file(stop.at, address));
            stop.add_breakpoint(&place, None).map(|breakpoint| breakpoint.id)
        }
    };
    match id {
        Ok(id) => {
            gdb.points.insert(key, id);
            text("OK")
        }
        Err(why) => Answer::Text(format!("E.{why}")),
    }
}

fn step(gdb: &mut Gdb, stop: &Stop<'_>) -> Answer {
    match gdb.chosen.filter(|wave| *wave != stop.at.wave()) {
        Some(wave) => Answer::Go(Action::StepWave(wave)),
        None => Answer::Go(Action::Step(Step::Instruction)),
    }
}

/// Handles `vCont;s:2;c`. If several threads are to step, only the first step is carried out, because all
/// other waves run while one wave steps.
fn resume(gdb: &mut Gdb, stop: &mut Stop<'_>, actions: &str) -> Answer {
    for action in actions.split(';') {
        let (what, id) = action.split_once(':').unwrap_or((action, "0"));
        match what.chars().next() {
            Some('s' | 'S') => {
                gdb.chosen = wave(gdb, stop, id);
                return step(gdb, stop);
            }
            Some('c' | 'C') => {}
            _ => return text("E01"),
        }
    }
    Answer::Go(Action::Continue)
}

/// Handles `monitor COMMAND`: runs a command of the terminal.
fn monitor(gdb: &mut Gdb, stop: &mut Stop<'_>, digits: &str) -> Answer {
    let line = bytes_of(digits).and_then(|bytes| String::from_utf8(bytes).ok());
    let Some(line) = line else { return text("E01") };
    let (printed, done) = gdb
        .with_chosen_wave(stop, |gdb, stop| capture(|| commands::run(line.trim(), &mut gdb.terminal, stop)));
    let problem = match done {
        Some(Ok(Outcome::Stay)) => None,
        Some(Ok(Outcome::Go(_))) => Some("what moves on is a command of GDB itself".to_owned()),
        Some(Err(problem)) => Some(problem),
        None => Some("the command has failed".to_owned()),
    };
    let mut said = printed;
    said.extend(problem.into_iter().flat_map(|problem| format!("{problem}\n").into_bytes()));
    // GDB does not accept a packet with a longer answer.
    said.truncate(MOST / 2 - 8);
    if said.is_empty() { text("OK") } else { Answer::Text(hex(&said)) }
}
