//! Threads, stacks and scopes of the protocol. Each wave is a thread of the protocol; if the client asks for
//! it, so is each lane of the stopped wave.
//!
//! All waves of the stopped work-group are stopped at instructions, so their active calls can be inspected.
//! For waves of other work-groups, only the current source line is known.

use super::code::described;
use super::requests::{Answer, Arguments, Refusal, body, needed};
use super::server::Server;
use super::values::Node;
use debug::{Frame, Line, Space, Stop, WaveId};
use serde_json::{Value, json};

/// Limit on the number of waves in a list of threads, because editors request the stack of each listed wave.
const WAVES: usize = 256;
/// How many thread ids are reserved for each wave. The wave itself has one, and so has each of its lanes.
const NUMBERS: u64 = 128;
/// Limit on the number of frames whose ids stay valid until the wave continues.
const FRAMES: usize = 1 << 16;

/// Returns the thread id of a wave, or of one of its lanes.
pub fn thread(server: &mut Server, who: WaveId, lane: Option<u32>) -> u64 {
    let at = server.waves.iter().position(|known| *known == who).unwrap_or_else(|| {
        server.waves.push(who);
        server.waves.len() - 1
    });
    NUMBERS * (at as u64 + 1) + lane.map_or(0, |lane| 1 + u64::from(lane))
}

/// Returns the wave and the lane of a thread id.
fn wave_and_lane(server: &Server, thread: u64) -> Result<(WaveId, Option<u32>), Refusal> {
    let who = (thread / NUMBERS).checked_sub(1).and_then(|at| server.waves.get(usize::try_from(at).ok()?));
    let who = who.ok_or_else(|| format!("there is no thread {thread}"))?;
    Ok((*who, (thread % NUMBERS).checked_sub(1).and_then(|lane| u32::try_from(lane).ok())))
}

/// Returns the id of the stopped thread. This is the thread of the stopped wave. If lanes are threads, it is
/// the thread of the lane that steps follow.
pub fn stopped_thread(server: &mut Server, stop: &Stop<'_>) -> u64 {
    let lane = server.options.lanes.then(|| stop.lane());
    thread(server, stop.who(), lane)
}

/// Handles the "Threads Request".
pub fn threads(server: &mut Server, stop: &mut Stop<'_>, _: &Value) -> Answer {
    let own = stop.who();
    let mut threads = Vec::new();
    let running = stop.running();
    let others = running.iter().map(|wave| wave.0).filter(|who| *who != own).take(WAVES);
    let mut waves: Vec<WaveId> = others.chain([own]).collect();
    waves.sort();
    for who in waves {
        threads.push(json!({ "id": thread(server, who, None), "name": who.to_string() }));
        if who != own || !server.options.lanes {
            continue;
        }
        for lane in 0..stop.at.lanes() {
            let [x, y, z] = stop.at.location(Some(lane)).item.unwrap_or_default();
            let state = if stop.at.exec() >> lane & 1 == 0 { ", waits" } else { "" };
            let name = format!("lane {lane}, work-item ({x}, {y}, {z}){state}");
            threads.push(json!({ "id": thread(server, who, Some(lane)), "name": name }));
        }
    }
    body(json!({ "threads": threads }))
}

/// Makes steps follow a lane: the lane of the thread that the request names.
pub fn follow(server: &mut Server, stop: &mut Stop<'_>, arguments: &Value) -> Result<(), Refusal> {
    match wave_and_lane(server, needed(arguments, "threadId")?)? {
        (who, _) if who != stop.who() => Err(format!("{who} does not stand at an instruction of its own")),
        (_, Some(lane)) => stop.choose_lane(Some(lane)),
        (_, None) => Ok(()),
    }
}

/// Handles the "StackTrace Request".
pub fn stack_trace(server: &mut Server, stop: &mut Stop<'_>, arguments: &Value) -> Answer {
    let number = needed(arguments, "threadId")?;
    let (who, _) = wave_and_lane(server, number)?;
    let frames = match of_group(stop, who) {
        true => stop.on_wave(Some(who.wave), |stop| stop.frames()),
        false => elsewhere(stop, who)?,
    };
    let from = arguments.number("startFrame").unwrap_or(0);
    let levels = arguments.number("levels").filter(|&levels| levels > 0).unwrap_or(u64::MAX);
    let mut shown = Vec::new();
    for (at, frame) in frames.iter().enumerate() {
        if (at as u64) < from || at as u64 - from >= levels {
            continue;
        }
        let mut told = json!({
            "id": frame_id(server, number, at)?,
            "name": if frame.is_inlined { format!("{} (inlined)", frame.function) } else { frame.function.clone() },
            "line": 0,
            "column": 0,
            "instructionPointerReference": format!("{:#x}", frame.address),
        });
        if let Some((file, line)) = frame.line.as_deref().and_then(|line| line.rsplit_once(':'))
            && let (Some(file), Ok(line)) = (stop.program.file(Some(file)), line.parse::<u32>())
        {
            told["source"] = described(stop.program, &server.paths, file);
            told["line"] = json!((line + server.first_line).saturating_sub(1));
            told["column"] = json!(server.first_line);
        }
        shown.push(told);
    }
    body(json!({ "stackFrames": shown, "totalFrames": frames.len() }))
}

/// Returns whether a wave belongs to the stopped group and has not ended.
fn of_group(stop: &Stop<'_>, who: WaveId) -> bool {
    who.group == stop.at.group() && stop.at.wave_of_group(who.wave).is_some()
}

/// Returns the stack of a wave of another group. It has a single frame, because only the current source line
/// is known.
fn elsewhere(stop: &Stop<'_>, who: WaveId) -> Result<Vec<Frame>, Refusal> {
    let running = stop.running();
    let (_, line) = running.iter().find(|wave| wave.0 == who).ok_or_else(|| format!("{who} has ended"))?;
    let named = |line: &Line| stop.program.name_of(*line);
    let function = "it does not stop here".to_owned();
    Ok(vec![Frame::unknown(function, line.as_ref().map(named))])
}

/// Returns the id of a frame.
fn frame_id(server: &mut Server, thread: u64, at: usize) -> Result<usize, Refusal> {
    if let Some(known) = server.frames.iter().position(|frame| *frame == (thread, at)) {
        return Ok(known + 1);
    }
    if server.frames.len() >= FRAMES {
        return Err(format!("more than {FRAMES} frames"));
    }
    server.frames.push((thread, at));
    Ok(server.frames.len())
}

/// Context in which expressions are evaluated: a call frame of a wave of the stopped work-group, and a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct View {
    wave: u32,
    /// Index of the frame in [`Stop::frames`].
    frame: usize,
    pub lane: u32,
}

impl View {
    /// Returns the view of the innermost frame of the stopped wave.
    fn innermost(stop: &Stop<'_>) -> View {
        View { wave: stop.at.wave(), frame: 0, lane: stop.lane() }
    }

    /// Returns the view of a frame of a wave of the group.
    pub fn chosen(stop: &mut Stop<'_>, wave: u32, frame: usize) -> View {
        let lane = stop.on_wave(Some(wave), |stop| stop.lane());
        View { wave, frame, lane }
    }

    /// Returns the same view for another lane.
    pub fn of_lane(self, lane: u32) -> View {
        View { lane, ..self }
    }

    /// Returns the index of the view's call frame. `None` if the view is not of the stopped wave.
    pub fn frame_of(self, stop: &Stop<'_>) -> Option<usize> {
        (self.wave == stop.at.wave()).then_some(self.frame)
    }

    /// Runs `look` with the wave and the call frame of this view selected.
    pub fn with_frame<T>(
        self,
        stop: &mut Stop<'_>,
        look: impl FnOnce(&mut Stop<'_>) -> T,
    ) -> Result<T, Refusal> {
        stop.on_wave(Some(self.wave), |stop| stop.on_frame(self.frame, look))
    }
}

/// Returns the view (wave, call frame and lane) that a frame id stands for. Without an id, returns the view
/// of the innermost frame of the stopped wave.
pub fn decoded(server: &Server, stop: &mut Stop<'_>, frame: Option<u64>) -> Result<View, Refusal> {
    let Some(frame) = frame else { return Ok(View::innermost(stop)) };
    let found = frame.checked_sub(1).and_then(|at| server.frames.get(usize::try_from(at).ok()?));
    let &(thread, frame) = found.ok_or_else(|| format!("there is no frame {frame}"))?;
    let (who, lane) = wave_and_lane(server, thread)?;
    if !of_group(stop, who) {
        return Err(format!("{who} does not stand at an instruction of its own"));
    }
    let view = View { wave: who.wave, frame, lane: 0 };
    let lane = view.with_frame(stop, |stop| lane.unwrap_or_else(|| stop.lane()))?;
    Ok(View { lane, ..view })
}

/// Handles the "Scopes Request".
pub fn scopes(server: &mut Server, stop: &mut Stop<'_>, arguments: &Value) -> Answer {
    let frame = needed(arguments, "frameId")?;
    let Ok(view) = decoded(server, stop, Some(frame)) else {
        return body(json!({ "scopes": [] }));
    };
    let memory = [
        ("LDS", Space::Lds, stop.at.lds_bytes()),
        ("Private memory", Space::Private, stop.at.private_bytes()),
    ];
    let memory = memory.into_iter().filter(|(.., bytes)| *bytes > 0);
    let scopes =
        [("Locals", Node::Locals(view)), ("Lanes", Node::Lanes(view)), ("Registers", Node::Registers(view))];
    let memory = memory.map(|(name, space, _)| (name, Node::Memory(space, view)));
    let mut told = Vec::new();
    for (name, node) in scopes.into_iter().chain(memory) {
        let is_first = told.is_empty();
        let mut scope = json!({
            "name": name,
            "variablesReference": server.nodes.number(node)?,
            "expensive": !is_first,
        });
        if let Some(hint) =
            [("Locals", "locals"), ("Registers", "registers")].iter().find(|hint| hint.0 == name)
        {
            scope["presentationHint"] = json!(hint.1);
        }
        told.push(scope);
    }
    body(json!({ "scopes": told }))
}
