//! Text and words of every row and form as LLVM 19 has them, recorded, so that the table is held to them where LLVM is not
//! installed. `KERNC_BLESS=1 cargo test -p kernc-isa --test vectors` records them anew; it needs `llvm-mc-19`.

mod common;

use common::llvm;
use common::random::{self, Rng};
use isa::{Form, MachInst, Opcode, TARGETS, Target};
use std::collections::HashSet;
use std::fmt::Write;

const RECORDED: &str = include_str!("vectors/gfx9.txt");

fn print(target: &Target, inst: &MachInst) -> String {
    let mut out = String::new();
    isa::write_inst(target, inst, None, &mut out);
    out
}

/// The rows and forms of a processor that the processors before it in the table do not have.
fn new_forms(index: usize) -> impl Iterator<Item = (Opcode, Form)> {
    let earlier: HashSet<_> = TARGETS[..index].iter().flat_map(|target| random::all_forms(target)).collect();
    random::all_forms(TARGETS[index]).filter(move |form| !earlier.contains(form))
}

/// One instruction per row and form, as LLVM assembles and disassembles it.
fn record() -> Option<String> {
    let mc = llvm::tool("llvm-mc-19", "recording of vectors")?;
    let mut out = String::from("# processor | words | text, as llvm-mc 19 assembles and prints it\n");
    for (index, target) in TARGETS.iter().enumerate() {
        let mut rng = Rng::new(11);
        let mut texts = Vec::new();
        for (op, form) in new_forms(index) {
            let inst = std::iter::repeat_with(|| random::inst(&mut rng, target, op, form))
                .find(|inst| isa::constant_bus_ok(target, inst, None) && !random::shows_half_bits(inst))?;
            texts.push(print(target, &inst));
        }
        let words = llvm::assemble(&mc, target, &texts);
        let known: Vec<Vec<u32>> = words.into_iter().flatten().collect();
        for (words, text) in known.iter().zip(llvm::disassemble(&mc, target, &known)) {
            let hex: Vec<String> = words.iter().map(|word| format!("{word:08x}")).collect();
            writeln!(out, "{} | {} | {}", target.name, hex.join(" "), text?).ok()?;
        }
    }
    Some(out)
}

#[test]
fn recorded_vectors_hold() {
    if std::env::var_os("KERNC_BLESS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/gfx9.txt");
        std::fs::write(path, record().expect("llvm-mc-19 and its agreement")).expect("the file is written");
        return;
    }
    let mut seen = HashSet::new();
    for line in RECORDED.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.splitn(3, " | ").collect();
        let target = Target::by_name(fields[0]).expect("a processor");
        let words: Vec<u32> =
            fields[1].split(' ').map(|word| u32::from_str_radix(word, 16).expect("a word")).collect();
        let (inst, used) = isa::decode(target, &words).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(used, words.len(), "{line}");
        assert_eq!(print(target, &inst), fields[2], "{line}");
        let mut again = Vec::new();
        isa::encode(target, &inst, &mut again).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(again, words, "{line}");
        seen.insert((target.name, inst.op, inst.form));
    }
    for (index, target) in TARGETS.iter().enumerate() {
        for (op, form) in new_forms(index) {
            assert!(
                seen.contains(&(target.name, op, form)),
                "no vector for {op:?} {form:?} on {}",
                target.name
            );
        }
    }
}
