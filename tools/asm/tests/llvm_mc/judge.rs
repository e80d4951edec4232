//! What LLVM says to the lines.

use super::suite::{Run, statement};
use std::fmt::Write as _;
use std::path::Path;
use support::Tool;

/// What LLVM makes of a line of assembly.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Bytes(Vec<u8>),
    /// Accepted, but it is no instruction, or its bytes are the linker's to know.
    Silent,
    Refused(String),
}

/// Standard output and standard error.
fn run_tool(tool: &Path, arguments: &[&str], run: &Run, input: &str) -> (String, String) {
    let mut command = Tool::new(tool);
    command.args(arguments).args(&run.arguments).env("LLVM_DISABLE_SYMBOLIZATION", "1");
    let output = command.input(input).output().expect("the tool starts");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// `(line from 0, column from 0, message)` of each error, and of each warning if asked for.
fn complaints(stderr: &str, warnings: bool) -> impl Iterator<Item = (usize, usize, String)> {
    stderr.lines().filter_map(move |line| {
        let mut parts = line.strip_prefix("<stdin>:")?.splitn(3, ':');
        let (line, column) = (parts.next()?.parse::<usize>().ok()?, parts.next()?.parse::<usize>().ok()?);
        let message = parts.next()?.trim();
        let counts = message.starts_with("error") || warnings && message.starts_with("warning");
        counts.then(|| (line - 1, column - 1, message.to_owned()))
    })
}

/// Bytes between the brackets; nothing where a fixup is.
fn encoding(line: &str) -> Option<Option<Vec<u8>>> {
    let (_, bytes) = line.split_once("encoding: [")?;
    let bytes = bytes.split(']').next()?.split(',');
    Some(bytes.map(|byte| u8::from_str_radix(byte.strip_prefix("0x")?, 16).ok()).collect())
}

/// LLVM's verdict on every line. A label before each tells the encodings of one from those of the next, but not in files
/// with blocks of several lines, whose instructions are judged by the whole object.
///
/// `version`: for the code object version of the RUN line, which LLVM from 19 on does not know any more below 4.
pub fn assemble(tool: &Path, run: &Run, version: bool) -> Vec<Verdict> {
    let mut input = String::new();
    for (n, line) in run.lines.iter().enumerate() {
        let mark = if run.has_blocks { String::new() } else { format!("kernc_line_{n}:") };
        let _ = writeln!(input, "{mark}\n{}", statement(line).unwrap_or_default());
    }
    let mut arguments = vec!["-show-encoding"];
    arguments.extend(run.version.as_deref().filter(|_| version));
    let (stdout, stderr) = run_tool(tool, &arguments, run, &input);
    let mut verdicts = vec![Verdict::Silent; run.lines.len()];
    let mut here = None;
    let mut unknown = Vec::new();
    for line in stdout.lines() {
        if let Some(rest) = line.strip_prefix("kernc_line_") {
            here = rest.trim_end_matches(':').parse::<usize>().ok();
        }
        let (Some(bytes), Some(here)) = (encoding(line), here) else { continue };
        match (bytes, &mut verdicts[here]) {
            (Some(bytes), Verdict::Bytes(before)) => before.extend(bytes),
            (Some(bytes), verdict) => *verdict = Verdict::Bytes(bytes),
            (None, _) => unknown.push(here),
        }
    }
    unknown.into_iter().for_each(|n| verdicts[n] = Verdict::Silent);
    for (line, _, message) in complaints(&stderr, false) {
        verdicts[line / 2] = Verdict::Refused(message);
    }
    verdicts
}

/// The lines from 0 that LLVM cannot write an object of.
pub fn unwritable(tool: &Path, run: &Run, text: &str) -> Vec<usize> {
    let (_, stderr) = run_tool(tool, &["-filetype=obj", "-o", "/dev/null"], run, text);
    complaints(&stderr, false).map(|(line, ..)| line).collect()
}

/// The object of a text, or that for HSA, which kernc writes for: other systems have relocations without addends.
pub fn object(tool: &Path, run: &Run, text: &str, hsa: bool) -> Option<Vec<u8>> {
    let mut command = Tool::new(tool);
    command.args(["-filetype=obj", "-o", "-"]);
    let is_plain = |argument: &&String| hsa && *argument == "-triple=amdgcn";
    command.args(run.arguments.iter().filter(|argument| !is_plain(argument)));
    if run.arguments.iter().any(|argument| is_plain(&argument)) {
        command.arg("-triple=amdgcn-amd-amdhsa");
    }
    let output = command.input(text).output().expect("the tool starts");
    output.status.success().then_some(output.stdout)
}

/// Contents of the sections of an object that the source fills, in order, relocations with them.
pub fn sections(object: &[u8]) -> Vec<(String, Vec<u8>)> {
    use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget};
    let Ok(file) = object::File::parse(object) else { return Vec::new() };
    let mut out = Vec::new();
    for section in file.sections() {
        let name = section.name().unwrap_or_default().to_owned();
        let is_table = [".symtab", ".strtab", ".shstrtab", ".llvm_addrsig", ".debug", ".eh_frame"]
            .iter()
            .any(|table| name.starts_with(table));
        if is_table || name.is_empty() || name.starts_with(".rel") {
            continue;
        }
        let mut contents = section.data().unwrap_or_default().to_vec();
        for (offset, relocation) in section.relocations() {
            let target = match relocation.target() {
                RelocationTarget::Symbol(index) => {
                    file.symbol_by_index(index).map_or(String::new(), |symbol| {
                        format!("{}{:?}", symbol.name().unwrap_or_default(), symbol.section_index())
                    })
                }
                _ => String::new(),
            };
            contents.extend(
                format!("{offset} {:?} {} {target}", relocation.flags(), relocation.addend()).bytes(),
            );
        }
        if !contents.is_empty() {
            out.push((name, contents));
        }
    }
    out.sort();
    out
}

/// The first section that differs between two objects.
pub fn first_difference(ours: &[u8], theirs: &[u8]) -> Option<String> {
    let (ours, theirs) = (sections(ours), sections(theirs));
    let names = |list: &[(String, Vec<u8>)]| list.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    if names(&ours) != names(&theirs) {
        return Some(format!("sections {:?} | {:?}", names(&ours), names(&theirs)));
    }
    let differing = ours.iter().zip(&theirs).find(|(ours, theirs)| ours != theirs);
    differing.map(|((name, ours), (_, theirs))| {
        let at = ours
            .iter()
            .zip(theirs)
            .position(|(one, other)| one != other)
            .unwrap_or(ours.len().min(theirs.len()));
        format!("{name} of {} and {} bytes at {at}", ours.len(), theirs.len())
    })
}

/// The first instruction of every line of bytes that LLVM decodes: its words, its text, and the bytes
/// of its text.
pub fn disassemble(tool: &Path, run: &Run) -> Vec<(Vec<u32>, String, Vec<u8>)> {
    // An instruction that tells the output of one input line from that of the next.
    let mark: u32 = if run.arguments[0].contains("gfx10") { 0xbf90_000f } else { 0xbf92_beef };
    let lines: Vec<Vec<u8>> = (0..run.lines.len()).filter_map(|n| run.words(n)).collect();
    let mut input = String::new();
    for bytes in &lines {
        for bytes in [bytes.as_slice(), &mark.to_le_bytes()] {
            let list: Vec<String> = bytes.iter().map(|byte| format!("{byte:#04x}")).collect();
            let _ = writeln!(input, "[{}]", list.join(","));
        }
    }
    let (stdout, stderr) = run_tool(tool, &["-disassemble", "-show-encoding"], run, &input);
    // A complaint at the first byte of a line is about its first instruction.
    let bad: Vec<usize> =
        complaints(&stderr, true).filter(|(_, column, _)| *column <= 1).map(|(line, ..)| line).collect();
    let (mut out, mut first, mut at) = (Vec::new(), None, 0);
    for line in stdout.lines() {
        let Some(bytes) = encoding(line) else { continue };
        if bytes == Some(mark.to_le_bytes().to_vec()) {
            if let (Some((text, encoded)), false) = (first.take(), bad.contains(&(at * 2))) {
                let bytes = &lines[at];
                let words =
                    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four")));
                out.push((words.collect(), text, encoded));
            }
            at += 1;
        } else if first.is_none() {
            let text = line.split(['/', ';']).next().unwrap_or_default();
            first = Some((text.split_whitespace().collect::<Vec<_>>().join(" "), bytes.unwrap_or_default()));
        }
    }
    out
}

/// Whether LLVM assembles the text to the bytes.
pub fn assembles_to(tool: &Path, run: &Run, text: &str, bytes: &[u8]) -> bool {
    let (stdout, _) = run_tool(tool, &["-show-encoding"], run, text);
    stdout.lines().find_map(encoding).flatten().is_some_and(|found| found == bytes)
}
