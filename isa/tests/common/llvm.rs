//! LLVM 19's assembler and disassembler, if they are installed.

use isa::{Feature, Target};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;
use support::Tool;
pub use support::find as tool;

fn run(tool: &Path, args: &[&str], input: &str) -> (String, String) {
    let output = Tool::new(tool)
        .args(args)
        // Where it dies, words tell.
        .env("LLVM_DISABLE_SYMBOLIZATION", "1")
        .input(input)
        .output()
        .expect("the tool starts");
    (String::from_utf8(output.stdout).expect("text"), String::from_utf8(output.stderr).expect("text"))
}

/// Line numbers (from 0) about which there was an error or warning.
fn complaints(stderr: &str) -> Vec<usize> {
    let number = |line: &str| line.strip_prefix("<stdin>:")?.split(':').next()?.parse::<usize>().ok();
    let lines = stderr.lines().filter(|line| line.contains(": error:") || line.contains(": warning:"));
    lines.filter_map(number).map(|n| n - 1).collect()
}

/// `text ; encoding: [..]` lines.
fn encoded_lines(stdout: &str) -> impl Iterator<Item = (String, Vec<u8>)> {
    stdout.lines().filter_map(|line| {
        let (text, bytes) = line.split_once("; encoding: [")?;
        let bytes = bytes.trim_end_matches(']').split(',');
        let bytes = bytes.map(|byte| u8::from_str_radix(byte.trim_start_matches("0x"), 16).ok());
        // A line without end is the last one of a tool that died.
        Some((text.split_whitespace().collect::<Vec<_>>().join(" "), bytes.collect::<Option<_>>()?))
    })
}

/// Processor and wave size.
fn flags(target: &Target) -> (String, &'static str) {
    let wave = match target.wave_size {
        64 if target.has(Feature::WAVE32) => "-mattr=-wavefrontsize32,+wavefrontsize64",
        _ => "-mattr=",
    };
    (format!("-mcpu={}", target.name), wave)
}

/// Text of each instruction; `None` where LLVM does not decode it to exactly one.
pub fn disassemble(tool: &Path, target: &Target, insts: &[Vec<u32>]) -> Vec<Option<String>> {
    // An instruction that tells the output of one input line from that of the next.
    let mark = if target.version.0 == 10 { 0xbf90_000f_u32 } else { 0xbf92_beef };
    let mut input = String::new();
    for words in insts {
        for words in [words, &vec![mark]] {
            let bytes = words.iter().flat_map(|word| word.to_le_bytes()).map(|byte| format!("{byte:#04x}"));
            input.push_str(&format!("[{}]\n", bytes.collect::<Vec<_>>().join(",")));
        }
    }
    let (cpu, wave) = flags(target);
    let (stdout, stderr) =
        run(tool, &["-arch=amdgcn", &cpu, wave, "--disassemble", "--show-encoding"], &input);
    let bad: HashSet<usize> = complaints(&stderr).into_iter().collect();
    let mut texts = Vec::with_capacity(insts.len());
    let mut lines = Vec::new();
    for (text, bytes) in encoded_lines(&stdout) {
        if bytes != mark.to_le_bytes() {
            lines.push(text);
            continue;
        }
        texts.push(match lines.as_slice() {
            [text] if !bad.contains(&(texts.len() * 2)) => Some(text.clone()),
            _ => None,
        });
        lines.clear();
    }
    if texts.len() == insts.len() {
        return texts;
    }
    // LLVM 19 dies of some reserved selections of SDWA; halving finds the words.
    if insts.len() == 1 {
        return vec![None];
    }
    let (first, second) = insts.split_at(insts.len() / 2);
    let mut texts = disassemble(tool, target, first);
    texts.extend(disassemble(tool, target, second));
    texts
}

/// Words of each line; `None` where LLVM does not assemble it.
pub fn assemble(tool: &Path, target: &Target, lines: &[String]) -> Vec<Option<Vec<u32>>> {
    let input = lines.join("\n") + "\n";
    let (cpu, wave) = flags(target);
    let (stdout, stderr) = run(tool, &["-arch=amdgcn", &cpu, wave, "--show-encoding"], &input);
    let bad: HashSet<usize> = complaints(&stderr).into_iter().collect();
    let mut encoded = encoded_lines(&stdout);
    let words = |bytes: Vec<u8>| {
        bytes.chunks(4).map(|chunk| u32::from_le_bytes(chunk.try_into().expect("whole words"))).collect()
    };
    (0..lines.len())
        .map(|index| {
            let bad = bad.contains(&index);
            (!bad).then(|| words(encoded.next().expect("a line for each instruction").1))
        })
        .collect()
}

/// Whether the processor has an instruction of each name, from what LLVM says to the name without operands. All false
/// if LLVM does not know the processor.
pub fn knows(tool: &Path, cpu: &str, names: &[&str]) -> Vec<bool> {
    let cpu = format!("-mcpu={cpu}");
    let (_, stderr) = run(tool, &["-arch=amdgcn", &cpu, "--show-encoding"], &(names.join("\n") + "\n"));
    if stderr.contains("is not a recognized processor") {
        return vec![false; names.len()];
    }
    let refusal = |line: &&str| {
        line.contains("error: ") && (line.contains("not supported") || line.contains("invalid instruction"))
    };
    let number = |line: &str| line.strip_prefix("<stdin>:")?.split(':').next()?.parse::<usize>().ok();
    let refused: HashSet<usize> = stderr.lines().filter(refusal).filter_map(number).collect();
    (1..=names.len()).map(|line| !refused.contains(&line)).collect()
}

/// Text and dwords of the instruction at the beginning of each group of words; `None` where LLVM reads none.
pub fn disassemble_first(tool: &Path, target: &Target, groups: &[Vec<u32>]) -> Vec<Option<(String, usize)>> {
    let mut out = Vec::with_capacity(groups.len());
    // Groups in the next run. LLVM 19 dies of some reserved selections of SDWA, and what it had in its buffers then is
    // lost: a few groups at a time find those to blame.
    let mut most = groups.len();
    while out.len() < groups.len() {
        let rest = &groups[out.len()..];
        let part = &rest[..rest.len().min(most)];
        let read = first_instructions(tool, target, part);
        most = match (read.len(), part.len()) {
            (0, 1) => {
                out.push(without_the_rest(tool, target, &part[0]));
                groups.len()
            }
            (done, all) if done == all => groups.len(),
            (done, all) => 32.min((all - done).div_ceil(2)),
        };
        out.extend(read);
    }
    out
}

/// The instruction of a group LLVM dies of, if what it dies of comes behind it.
fn without_the_rest(tool: &Path, target: &Target, group: &[u32]) -> Option<(String, usize)> {
    let beginnings =
        (1..group.len()).rev().map(|len| first_instructions(tool, target, &[group[..len].to_vec()]));
    beginnings.flatten().next().flatten()
}

/// The same, of all groups up to what LLVM dies of.
fn first_instructions(tool: &Path, target: &Target, groups: &[Vec<u32>]) -> Vec<Option<(String, usize)>> {
    let mark = if target.version.0 == 10 { 0xbf90_000f_u32 } else { 0xbf92_beef };
    let mut input = String::new();
    let mut byte_list = |words: &[u32]| {
        for (index, byte) in words.iter().flat_map(|word| word.to_le_bytes()).enumerate() {
            let _ = write!(input, "{}{byte:#04x}", if index == 0 { '[' } else { ',' });
        }
        input.push_str("]\n");
    };
    for words in groups {
        byte_list(words);
        byte_list(&[mark]);
    }
    let (cpu, wave) = flags(target);
    let (stdout, stderr) =
        run(tool, &["-arch=amdgcn", &cpu, wave, "--disassemble", "--show-encoding"], &input);
    // A warning at the first byte of a group is about its first instruction.
    let bad: HashSet<usize> = stderr
        .lines()
        .filter(|line| line.contains(": error:") || line.contains(": warning:"))
        .filter_map(|line| {
            let mut parts = line.strip_prefix("<stdin>:")?.split(':');
            let (line, column) = (parts.next()?.parse::<usize>().ok()?, parts.next()?.parse::<usize>().ok()?);
            (column <= 2).then_some(line - 1)
        })
        .collect();
    let mut out = Vec::with_capacity(groups.len());
    let mut first = None;
    for (text, bytes) in encoded_lines(&stdout) {
        if bytes == mark.to_le_bytes() {
            let is_bad = bad.contains(&(out.len() * 2));
            out.push(first.take().filter(|_| !is_bad));
        } else {
            first = first.or(Some((text, bytes.len() / 4)));
        }
    }
    out
}

/// Whether LLVM assembles each line.
pub fn assembles(tool: &Path, target: &Target, lines: &[String]) -> Vec<bool> {
    let (cpu, wave) = flags(target);
    let (_, stderr) = run(tool, &["-arch=amdgcn", &cpu, wave], &(lines.join("\n") + "\n"));
    let bad: HashSet<usize> = complaints(&stderr).into_iter().collect();
    (0..lines.len()).map(|line| !bad.contains(&line)).collect()
}
