//! Breakpoints and watchpoints of the client. A request contains the complete list of breakpoints in one
//! file, or of one kind. Each request therefore replaces the earlier list for that file or kind.

use super::frames::decoded;
use super::requests::{Answer, Arguments, Refusal, body};
use super::server::Server;
use super::{code, values};
use debug::{Breakpoints, Hits, MemoryValue, Program, Session, Stop, Wanted};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Limit on the number of breakpoints in a request. Real requests are far smaller.
const MOST: usize = 4096;

/// Location of a breakpoint.
#[derive(Clone)]
enum About {
    /// A line of a file.
    Line(String, u32),
    /// A function, or `*address`.
    Place(String),
    /// Memory: its name for the user, and its reference.
    Memory(String, String),
}

/// A breakpoint that the client has requested.
struct Point {
    /// Id of the breakpoint for the client.
    id: u64,
    /// Id of the breakpoint in the session, if it is set.
    own: Option<u32>,
    about: About,
    condition: Option<String>,
    count: Option<String>,
    log: Option<String>,
}

/// All breakpoints that the client has requested.
#[derive(Default)]
pub struct Points {
    groups: BTreeMap<String, Vec<Point>>,
    ids: u64,
    /// Names under which the user knows the memory ranges that can be watched. The key is the data id of the
    /// range in the protocol.
    names: BTreeMap<String, String>,
    /// Names of the exception filters that the client has switched on. `None` until the client has sent its
    /// choice.
    filters: Option<Vec<String>>,
}

const FUNCTIONS: &str = "function breakpoint";
const INSTRUCTIONS: &str = "instruction breakpoint";
const DATA: &str = "data breakpoint";

impl Points {
    /// Stores the name under which the user knows a memory range. `id` is the data id by which the client
    /// watches the range.
    fn call(&mut self, id: &str, name: String) {
        if self.names.len() < MOST {
            self.names.insert(id.to_owned(), name);
        }
    }

    /// Returns whether a filter is active.
    pub fn has(&self, filter: &str) -> bool {
        self.filters.as_ref().is_none_or(|chosen| chosen.iter().any(|one| one == filter))
    }

    /// Returns the protocol's stop reason for the session's breakpoint number `own`, and the client's id of
    /// this breakpoint.
    pub fn reason(&self, own: u32) -> (&str, Option<u64>) {
        let points =
            self.groups.iter().flat_map(|(group, points)| points.iter().map(move |one| (group, one)));
        let found = points.into_iter().find(|(_, point)| point.own == Some(own));
        match found {
            Some((group, point)) if [FUNCTIONS, INSTRUCTIONS, DATA].contains(&group.as_str()) => {
                (group, Some(point.id))
            }
            Some((_, point)) => ("breakpoint", Some(point.id)),
            None => ("breakpoint", None),
        }
    }
}

/// Handles the "SetBreakpoints Request".
pub fn lines(server: &mut Server, breakpoints: &mut Breakpoints<'_>, arguments: &Value) -> Answer {
    let source = arguments.get("source").unwrap_or(&Value::Null);
    let file = source.text("path").or(source.text("name")).ok_or("`source` has no path")?.to_owned();
    let first = server.first_line;
    let about = |one: &Value| {
        let line = one.number("line").and_then(|line| u32::try_from(line).ok());
        let line =
            line.and_then(|line| line.checked_add(1 - first)).ok_or("`line` is missing, or no number")?;
        Ok(About::Line(file.clone(), line))
    };
    replace(server, breakpoints, &file, arguments.list("breakpoints"), about)
}

/// Handles the "SetFunctionBreakpoints Request".
pub fn functions(server: &mut Server, breakpoints: &mut Breakpoints<'_>, arguments: &Value) -> Answer {
    replace(server, breakpoints, FUNCTIONS, arguments.list("breakpoints"), |one| {
        Ok(About::Place(one.text("name").ok_or("`name` is missing")?.to_owned()))
    })
}

/// Handles the "SetInstructionBreakpoints Request".
pub fn instructions(server: &mut Server, breakpoints: &mut Breakpoints<'_>, arguments: &Value) -> Answer {
    replace(server, breakpoints, INSTRUCTIONS, arguments.list("breakpoints"), |one| {
        let address =
            code::address(one.text("instructionReference").ok_or("`instructionReference` is missing")?)?;
        let offset = one.get("offset").and_then(Value::as_i64).unwrap_or(0);
        Ok(About::Place(format!("*{:#x}", address.wrapping_add_signed(offset))))
    })
}

/// Handles the "SetDataBreakpoints Request".
pub fn data(server: &mut Server, breakpoints: &mut Breakpoints<'_>, arguments: &Value) -> Answer {
    let names = std::mem::take(&mut server.points.names);
    let answer = replace(server, breakpoints, DATA, arguments.list("breakpoints"), |one| {
        let id = one.text("dataId").ok_or("`dataId` is missing")?;
        Ok(About::Memory(names.get(id).cloned().unwrap_or_else(|| id.to_owned()), id.to_owned()))
    });
    server.points.names = names;
    answer
}

/// Replaces the breakpoints of a group.
fn replace(
    server: &mut Server,
    breakpoints: &mut Breakpoints<'_>,
    group: &str,
    asked: &[Value],
    about: impl Fn(&Value) -> Result<About, Refusal>,
) -> Answer {
    if asked.len() > MOST {
        return Err(format!("{} breakpoints are more than {MOST}", asked.len()));
    }
    let asked =
        asked.iter().map(|one| about(one).map(|about| (one, about))).collect::<Result<Vec<_>, _>>()?;
    for old in server.points.groups.remove(group).unwrap_or_default() {
        old.own.map(|own| breakpoints.remove(own));
    }
    let (mut set, mut told) = (Vec::new(), Vec::new());
    for (one, about) in asked {
        server.points.ids += 1;
        let text = |name| one.text(name).filter(|text| !text.trim().is_empty()).map(str::to_owned);
        let (condition, count, log) = (text("condition"), text("hitCondition"), text("logMessage"));
        let mut point = Point { id: server.points.ids, own: None, about, condition, count, log };
        told.push(point.set(breakpoints, &server.paths, server.first_line));
        set.push(point);
    }
    if !set.is_empty() {
        server.points.groups.insert(group.to_owned(), set);
    }
    body(json!({ "breakpoints": told }))
}

/// Sets all requested breakpoints in a new session and sends an event about the state of each.
pub fn set_again(server: &mut Server, session: &Session) {
    let mut groups = std::mem::take(&mut server.points.groups);
    for point in groups.values_mut().flatten() {
        let told = session.with_breakpoints(|mut breakpoints| {
            point.set(&mut breakpoints, &server.paths, server.first_line)
        });
        server.event("breakpoint", json!({ "reason": "changed", "breakpoint": told }));
    }
    server.points.groups = groups;
}

/// Result of setting a breakpoint, which may have several addresses. It has the first address at which the
/// breakpoint was set, and an address at which it could not be set, with the reason.
struct Set {
    address: u64,
    left_out: Option<(u64, String)>,
}

impl Point {
    /// Sets a breakpoint. Returns the state of the breakpoint for the client ("Breakpoint").
    fn set(
        &mut self,
        breakpoints: &mut Breakpoints<'_>,
        paths: &[Option<std::path::PathBuf>],
        first: u32,
    ) -> Value {
        match self.try_set(breakpoints, paths) {
            Err(why) => json!({ "id": self.id, "verified": false, "message": why }),
            Ok(None) => json!({ "id": self.id, "verified": true }),
            Ok(Some(Set { address, left_out })) => {
                let mut told = json!({ "id": self.id, "verified": true, "instructionReference": format!("{address:#x}") });
                if let Some((address, why)) = left_out {
                    told["message"] = json!(format!("not at {address:#x}: {why}"));
                }
                if let Some(line) = breakpoints.program.line_at(address) {
                    told["line"] = json!(line.line + first - 1);
                    told["source"] = code::described(breakpoints.program, paths, line.file);
                }
                told
            }
        }
    }

    /// Sets a breakpoint. Returns where it was set, or `None` for a breakpoint on memory, which has no code
    /// address.
    fn try_set(
        &mut self,
        breakpoints: &mut Breakpoints<'_>,
        paths: &[Option<std::path::PathBuf>],
    ) -> Result<Option<Set>, Refusal> {
        self.own = None;
        let place = match &self.about {
            About::Memory(name, id) => {
                if self.condition.is_some() || self.count.is_some() {
                    return Err("watched memory takes no condition".to_owned());
                }
                let memory_value: MemoryValue =
                    id.parse().map_err(|()| format!("`{id}` is nothing to be watched"))?;
                self.own = Some(breakpoints.watch(name, memory_value));
                return Ok(None);
            }
            About::Place(place) => place.clone(),
            About::Line(file, line) => {
                let file = file_of(breakpoints.program, paths, file)
                    .and_then(|file| breakpoints.program.files.get(file))
                    .ok_or_else(|| format!("no code comes from {file}"))?;
                format!("{file}:{line}")
            }
        };
        let count = self.count.as_ref().map(|count| count.parse::<Hits>()).transpose()?;
        let (condition, log) = (self.condition.as_deref(), self.log.as_deref());
        let set = breakpoints.add(&Wanted { place: &place, condition, count, log, is_temporary: false })?;
        self.own = Some(set.id);
        let left_out = set.left_out.into_iter().next();
        Ok(set.addresses.first().map(|&address| Set { address, left_out }))
    }
}

/// Returns the index of the file of the program that has this path. It is the same file on disk, or else a
/// file with the same name.
pub fn file_of(program: &Program, paths: &[Option<std::path::PathBuf>], path: &str) -> Option<usize> {
    let wanted = std::fs::canonicalize(path).ok();
    let same = |known: &Option<std::path::PathBuf>| wanted.is_some() && *known == wanted;
    paths.iter().position(same).or_else(|| program.file(Some(path))).or_else(|| {
        // If the file has been moved since the compilation, no path matches, so only the file names are
        // compared.
        let name = Path::new(path).file_name()?.to_str()?;
        program.file(Some(name)).filter(|&file| paths.get(file).is_none_or(Option::is_none))
    })
}

/// Handles the "BreakpointLocations Request": returns the lines with code.
pub fn locations(server: &mut Server, breakpoints: &mut Breakpoints<'_>, arguments: &Value) -> Answer {
    let path =
        arguments.get("source").and_then(|source| source.text("path")).ok_or("`source` has no path")?;
    let first = u64::from(server.first_line);
    let from = super::requests::needed(arguments, "line")?;
    let to = arguments.number("endLine").unwrap_or(from);
    let file = file_of(breakpoints.program, &server.paths, path);
    let lines = file.map_or(Vec::new(), |file| breakpoints.program.lines_of(file));
    let lines = lines.into_iter().map(|line| u64::from(line) + first - 1);
    let lines: Vec<Value> =
        lines.filter(|line| (from..=to).contains(line)).map(|line| json!({ "line": line })).collect();
    body(json!({ "breakpoints": lines }))
}

/// Handles the "DataBreakpointInfo Request". Any value in memory can be watched for changes of its bytes.
pub fn data_info(server: &mut Server, stop: &mut Stop<'_>, arguments: &Value) -> Answer {
    let name = arguments.text("name").ok_or("`name` is missing")?;
    let memory_value = if arguments.is("asAddress") {
        let bytes = arguments.number("bytes").unwrap_or(4);
        let memory_value = format!("global:{name}:{bytes}").parse::<MemoryValue>();
        memory_value
            .map(|memory_value| (name.to_owned(), memory_value))
            .map_err(|()| format!("`{name}` cannot be watched"))
    } else {
        let (text, view) = match arguments.number("variablesReference").filter(|&reference| reference > 0) {
            Some(reference) => values::part(server, stop, reference, name)?,
            None => (name.to_owned(), decoded(server, stop, arguments.number("frameId"))?),
        };
        view.with_frame(stop, |stop| stop.memory_value(&text, view.lane))?
            .map(|memory_value| (text, memory_value))
    };
    match memory_value {
        Ok((text, memory_value)) => {
            let (id, description) =
                (memory_value.to_string(), format!("{text}, {} bytes", memory_value.bytes));
            server.points.call(&id, text);
            let told = json!({ "dataId": id, "description": description, "accessTypes": ["write"], "canPersist": false });
            body(told)
        }
        Err(why) => body(json!({ "dataId": null, "description": why })),
    }
}

/// Handles the "SetExceptionBreakpoints Request".
pub fn exceptions(server: &mut Server, arguments: &Value) -> Answer {
    let names = arguments.list("filters").iter().filter_map(Value::as_str);
    let options = arguments.list("filterOptions").iter().filter_map(|option| option.text("filterId"));
    let known = |name: &&str| super::stops::FILTERS.iter().any(|filter| filter.name == *name);
    server.points.filters = Some(names.chain(options).filter(known).map(str::to_owned).collect());
    body(Value::Null)
}
