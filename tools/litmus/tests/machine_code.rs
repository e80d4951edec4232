//! LLVM judges the code of the cases: the same source gives the same bytes, and (from GFX8 on, where LLVM can disassemble)
//! the bytes give the same text back.

use crate::common::{full, processors, shapes};
use isa::Feature;
use litmus::{Machine, cases, source};
use std::collections::BTreeSet;
use std::path::Path;
use support::Tool;

/// Of so many different sources a short run takes one.
const STRIDE: usize = 40;

/// The instructions of all threads of all cases, each different source once, and how many sources that were.
fn program(machine: Machine) -> (String, usize) {
    let mut sources = BTreeSet::new();
    for shape in &shapes() {
        for case in &cases(shape, machine) {
            sources.insert(source(shape, case, 0x1000, None).0);
        }
    }
    let mut text = String::new();
    let chosen: Vec<&String> = sources.iter().step_by(if full() { 1 } else { STRIDE }).collect();
    for (number, source) in chosen.iter().enumerate() {
        let threads = source.split(".rodata").next().unwrap_or("");
        // Directives and the names of threads are not code; labels within threads must differ.
        let code = threads.lines().filter(|line| line.starts_with("  "));
        for line in code {
            match line.strip_suffix(':') {
                Some(label) => text += &format!("{label}{number}:"),
                None if line.trim_start().starts_with("s_cbranch") => text += &format!("{line}{number}"),
                None => text += line,
            }
            text.push('\n');
        }
    }
    (text, chosen.len())
}

fn flags(machine: Machine) -> Vec<String> {
    let target = machine.target;
    let wave64 = target.wave_size == 64 && target.has(Feature::WAVE32);
    let wave = if wave64 { "-mattr=-wavefrontsize32,+wavefrontsize64" } else { "-mattr=" };
    vec![format!("-mcpu={}", target.name), wave.into()]
}

/// What LLVM prints, instruction by instruction; targets of branches, which are labels here and numbers there, left out.
fn printed(tool: &Path, machine: Machine, disassemble: bool, input: String) -> Vec<String> {
    let mut command = Tool::new(tool);
    command.args(["-triple=amdgcn-amd-amdhsa"]).args(flags(machine));
    if disassemble {
        command.arg("--disassemble");
    }
    let output = command.input(input).output().expect("the tool starts");
    let text = String::from_utf8(output.stdout).expect("text");
    let instruction = |line: &str| {
        let line = line.split([';', '/']).next().unwrap_or("");
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [] => None,
            [name, ..] if name.starts_with('.') || name.ends_with(':') => None,
            [name, ..] if name.starts_with("s_cbranch") => Some(name.to_owned()),
            _ => Some(words.join(" ")),
        }
    };
    text.lines().filter_map(instruction).collect()
}

#[test]
fn llvm_agrees_on_every_case() {
    let test = "machine code of litmus cases";
    for machine in processors(&["gfx600", "gfx700", "gfx803", "gfx906", "gfx1010"]) {
        let old = machine.target.version.0 <= 7;
        let Some(tool) = crate::llvm::tool(if old { "llvm-mc-14" } else { "llvm-mc-19" }, test) else {
            continue;
        };
        let (text, sources) = program(machine);
        let ours = crate::llvm::assemble(&text, &crate::llvm::options(machine.target.name));
        let ours = crate::llvm::section(&ours, ".text");
        let options = flags(machine);
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let theirs = crate::llvm::llvm_mc(&tool, &options, &text).unwrap_or_else(|error| panic!("{error}"));
        assert!(!ours.is_empty() && ours == crate::llvm::section(&theirs, ".text"), "{}", machine.name());
        let mut lines = text.lines().filter(|line| !line.ends_with(':')).count();
        if !old {
            let bytes: Vec<String> = ours.iter().map(|byte| format!("{byte:#04x}")).collect();
            let read = printed(&tool, machine, true, bytes.join(" "));
            let written = printed(&tool, machine, false, text);
            let first = read.iter().zip(&written).position(|(read, written)| read != written);
            let pair = first.map(|at| (&read[at], &written[at]));
            assert!(first.is_none() && read.len() == written.len(), "{}: {pair:?}", machine.name());
            lines = read.len();
        }
        let judged = if old { "bytes" } else { "bytes and text" };
        println!("{:11} {sources:6} sources, {lines:8} instructions: same {judged}", machine.name());
    }
}
