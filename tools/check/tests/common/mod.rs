//! What the tests share: assembling a few lines and running the scoreboard over them.
#![allow(dead_code)]

use check::{Code, Finding, Scoreboard};
use isa::{Decoder, MachInst, Setting, Target};

/// The instructions of a text.
pub fn instructions(target: &'static Target, text: &str) -> Vec<MachInst> {
    let options =
        asm::Options { target: Some(target), wave64: target.wave_size == 64, ..asm::Options::default() };
    let source = format!(".text\n{text}\n");
    let bytes = asm::assemble(&source, &options)
        .unwrap_or_else(|diagnostics| panic!("{}", asm::render(&diagnostics, "case", &source, false)));
    let object = codeobj::CodeObject::parse(&bytes).expect("our own object");
    let text = object.section(".text").expect("it has code");
    let words: Vec<u32> =
        text.data.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    let decoder = Decoder::new(target).expect("a known processor");
    let (mut at, mut instructions) = (0, Vec::new());
    while at < words.len() {
        let (inst, len) = decoder.decode(&words[at..]).expect("our own code");
        instructions.push(inst);
        at += len;
    }
    instructions
}

/// Whether the processor has the instructions.
pub fn assembles(target: &'static Target, text: &str) -> bool {
    let options =
        asm::Options { target: Some(target), wave64: target.wave_size == 64, ..asm::Options::default() };
    asm::assemble(&format!(".text\n{text}\n"), &options).is_ok()
}

/// What is found in a straight line.
pub fn straight(target: &'static Target, xnack: bool, text: &str) -> Vec<Finding> {
    let mut code = Code::new(target, Setting::from_bool(xnack));
    let instructions = instructions(target, text);
    let mut findings = Vec::new();
    for inst in &instructions {
        code.add(inst);
    }
    let mut board = Scoreboard::new();
    for site in 0..code.len() as u32 {
        board.issue(&code, site, &mut |finding| findings.push(finding));
    }
    findings
}

/// Their short names, each with the two places.
pub fn ids(target: &'static Target, text: &str) -> Vec<String> {
    let found = straight(target, false, text);
    found.iter().map(|finding| format!("{} {} {}", finding.id(), finding.first, finding.second)).collect()
}

/// A processor.
pub fn target(name: &str) -> &'static Target {
    Target::by_name(name).expect("a known processor")
}
