//! Requests about code: instructions and source texts.

use super::requests::{Answer, Arguments, Refusal, body, needed};
use super::server::Server;
use debug::{Breakpoints, Program, Stop};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Limit on the number of instructions in one response.
const MOST: u64 = 1 << 14;

/// Parses an address.
pub fn address(text: &str) -> Result<u64, Refusal> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    number.ok_or_else(|| format!("`{text}` is no address"))
}

/// Handles the "Disassemble Request". The response always has as many rows as the request asks for. Rows for
/// addresses without code are marked as invalid.
pub fn disassemble(server: &mut Server, stop: &mut Stop<'_>, arguments: &Value) -> Answer {
    let reference = address(arguments.text("memoryReference").ok_or("`memoryReference` is missing")?)?;
    let signed = |name| arguments.get(name).and_then(Value::as_i64).unwrap_or(0);
    let count = needed(arguments, "instructionCount")?.min(MOST);
    let wanted = reference.wrapping_add_signed(signed("offset"));
    if server.code.is_empty() {
        server.code = starts(stop);
    }
    let first = server.code.partition_point(|&start| start < wanted) as i64;
    let first = first.saturating_add(signed("instructionOffset"));
    let rows = (0..count as i64).map(|at| row(server, stop, first.saturating_add(at)));
    let rows: Vec<Value> = rows.collect();
    body(json!({ "instructions": rows }))
}

/// Returns the addresses of all instructions of the functions.
fn starts(stop: &Stop<'_>) -> Vec<u64> {
    let mut starts = Vec::new();
    for function in stop.program.functions() {
        // If the code of a function is inside the code of another function, its instructions are already in
        // the list and are skipped.
        let mut at = function.start.max(starts.last().map_or(0, |last| last + 4));
        while at < function.end
            && let Some((_, length)) = stop.at.text_at(at)
        {
            starts.push(at);
            at += length;
        }
    }
    starts
}

/// Returns the row ("DisassembledInstruction") of instruction number `number` in the list of all instructions
/// of the program.
fn row(server: &Server, stop: &Stop<'_>, number: i64) -> Value {
    let known = usize::try_from(number).ok().and_then(|number| server.code.get(number));
    let text = known.and_then(|&start| Some((start, stop.at.text_at(start)?.0)));
    let Some((start, text)) = text else {
        // The client needs distinct addresses for the rows before the first and after the last instruction.
        // These addresses continue in steps of four bytes.
        let (first, last) =
            (server.code.first().copied().unwrap_or(0), server.code.last().copied().unwrap_or(0));
        let beyond = number.saturating_sub(server.code.len() as i64).unsigned_abs().saturating_add(1);
        let address = match number {
            ..0 => first.saturating_sub(number.unsigned_abs().saturating_mul(4)),
            0.. => last.saturating_add(beyond.saturating_mul(4)),
        };
        return json!({ "address": format!("{address:#x}"), "instruction": "", "presentationHint": "invalid" });
    };
    let mut row = json!({ "address": format!("{start:#x}"), "instruction": text });
    if let Some(function) = stop.program.function_at(start).filter(|function| function.start == start) {
        row["symbol"] = json!(function.name);
    }
    if let Some(line) = stop.program.line_at(start) {
        row["location"] = described(stop.program, &server.paths, line.file);
        row["line"] = json!(line.line + server.first_line - 1);
    }
    row
}

/// Returns the description of a source file for the client ("Source"). It contains the path of the file, or a
/// number with which the client can request the text.
pub fn described(program: &Program, paths: &[Option<PathBuf>], file: usize) -> Value {
    let named = program.files.get(file).map_or("?", String::as_str);
    let name = Path::new(named).file_name().map_or(named.into(), |name| name.to_string_lossy());
    match paths.get(file) {
        Some(Some(path)) => json!({ "name": name, "path": path }),
        _ => json!({ "name": name, "sourceReference": file + 1 }),
    }
}

/// Handles the "LoadedSources Request".
pub fn loaded_sources(server: &mut Server, breakpoints: &mut Breakpoints<'_>, _: &Value) -> Answer {
    let program = breakpoints.program;
    let sources: Vec<Value> =
        (0..program.files.len()).map(|file| described(program, &server.paths, file)).collect();
    body(json!({ "sources": sources }))
}

/// Handles the "Source Request".
pub fn source(_: &mut Server, breakpoints: &mut Breakpoints<'_>, arguments: &Value) -> Answer {
    let source = arguments.get("source").unwrap_or(&Value::Null);
    let number = source.number("sourceReference").or(arguments.number("sourceReference"));
    let file = number.and_then(|number| number.checked_sub(1)).and_then(|file| usize::try_from(file).ok());
    let text = file.and_then(|file| breakpoints.program.text(file));
    let text = text.ok_or("there is no text of this source")?;
    body(json!({ "content": text.join("\n") + "\n" }))
}
