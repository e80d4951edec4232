//! Text and words of every row and form of every generation as LLVM 19 has them, recorded, so that the table is held to
//! them where LLVM is not installed. `KERNC_BLESS=1 cargo test -p kernc-isa --test isa vectors::` records them anew; it needs
//! `llvm-mc-19`. The assembler's tests read the same files.

use crate::common::llvm;
use crate::common::random::{self, Rng};
use isa::{Form, MachInst, Opcode, PROCESSORS, Target};
use std::collections::HashSet;
use std::fmt::Write;

/// A file for each generation.
const RECORDED: [(u32, &str, &str); 5] = [
    (6, "gfx6.txt", include_str!("vectors/gfx6.txt")),
    (7, "gfx7.txt", include_str!("vectors/gfx7.txt")),
    (8, "gfx8.txt", include_str!("vectors/gfx8.txt")),
    (9, "gfx9.txt", include_str!("vectors/gfx9.txt")),
    (10, "gfx10.txt", include_str!("vectors/gfx10.txt")),
];

fn print(target: &Target, inst: &MachInst) -> String {
    let mut out = String::new();
    isa::write_inst(target, inst, None, &mut out);
    out
}

/// Processors of a generation, each with the rows and forms that those before it do not have.
fn new_forms(generation: u32) -> Vec<(&'static Target, Vec<(Opcode, Form)>)> {
    let mut earlier = HashSet::new();
    let targets = PROCESSORS.iter().filter(|target| target.version.0 == generation);
    targets
        .map(|target| (target, random::all_forms(target).filter(|&form| earlier.insert(form)).collect()))
        .collect()
}

/// An instruction per row and form, of which LLVM makes the words that we make, and (it reads GFX8 and later) the text.
fn record(generation: u32) -> Option<String> {
    const TRIES: usize = 4;
    let mc = llvm::tool("llvm-mc-19", "recording of vectors")?;
    let mut out = String::from("# processor | words | text, as llvm-mc 19 assembles and prints it\n");
    for (target, forms) in new_forms(generation) {
        let mut rng = Rng::new(11);
        let mut insts = Vec::new();
        for &(op, form) in &forms {
            let any = std::iter::repeat_with(|| random::inst(&mut rng, target, op, form));
            let ok =
                |inst: &MachInst| isa::constant_bus_ok(target, inst, None) && !random::shows_half_bits(inst);
            insts.extend(any.take(1000).filter(ok).take(TRIES));
        }
        assert_eq!(insts.len(), forms.len() * TRIES);
        let texts: Vec<String> = insts.iter().map(|inst| print(target, inst)).collect();
        let words = llvm::assemble(&mc, target, &texts);
        for (index, form) in forms.iter().enumerate() {
            let tries = index * TRIES..(index + 1) * TRIES;
            let mut known = tries.filter_map(|index| Some((&texts[index], words[index].as_ref()?)));
            let (text, words) = known.next().unwrap_or_else(|| panic!("LLVM assembles none of {form:?}"));
            let hex: Vec<String> = words.iter().map(|word| format!("{word:08x}")).collect();
            writeln!(out, "{} | {} | {text}", target.name, hex.join(" ")).ok()?;
        }
    }
    Some(out)
}

#[test]
fn recorded_vectors_hold() {
    for (generation, file, recorded) in RECORDED {
        if std::env::var_os("KERNC_BLESS").is_some() {
            let path = format!("{}/tests/vectors/{file}", env!("CARGO_MANIFEST_DIR"));
            std::fs::write(path, record(generation).expect("llvm-mc-19")).expect("the file is written");
            continue;
        }
        let mut seen = HashSet::new();
        for line in recorded.lines().filter(|line| !line.starts_with('#')) {
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
        for (target, forms) in new_forms(generation) {
            for (op, form) in forms {
                let there = seen.contains(&(target.name, op, form));
                assert!(there, "no vector for {op:?} {form:?} on {}", target.name);
            }
        }
    }
}
