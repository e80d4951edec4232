//! The assembler is the inverse of the printer: random instructions of every row and form, printed, assemble to the words
//! that they encode to. `isa`'s own sweeps hold texts and words to LLVM's.

#[path = "../../../isa/tests/common/graphics.rs"]
#[allow(dead_code)]
mod graphics;
#[path = "../../../isa/tests/common/random.rs"]
#[allow(dead_code)]
mod random;

use isa::{MachInst, Target};
use random::Rng;
use std::collections::BTreeMap;

/// Instructions of a row and form; `KERNC_SWEEP_COUNT` asks for another number.
fn per_form() -> usize {
    std::env::var("KERNC_SWEEP_COUNT").map_or(2, |count| count.parse().expect("a number"))
}

fn processors() -> Vec<&'static Target> {
    let names = std::env::var("KERNC_SWEEP")
        .unwrap_or_else(|_| "gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a gfx1010 gfx1030".into());
    let targets: Vec<_> =
        names.split_whitespace().map(|name| Target::by_name(name).expect("a processor")).collect();
    let wave64: Vec<_> = targets
        .iter()
        .filter(|target| target.wave_size == 32)
        .filter_map(|target| target.with_wave_size(64))
        .collect();
    targets.into_iter().chain(wave64).collect()
}

#[test]
fn printed_instructions_assemble() {
    let mut wrong = BTreeMap::new();
    let mut count = 0;
    for target in processors() {
        let mut rng = Rng::new(5);
        let mut forms: Vec<_> = random::all_forms(target).map(|form| (form, false)).collect();
        forms.extend(graphics::all_forms(target).map(|form| (form, true)));
        let mut insts = Vec::new();
        for ((op, form), graphic) in forms {
            for _ in 0..per_form() {
                insts.push(match graphic {
                    true => graphics::inst(&mut rng, target, op, form),
                    false => random::inst(&mut rng, target, op, form),
                });
            }
        }
        // A float constant of a 16-bit integer operand is printed as its half-precision bits, as LLVM does, which reads
        // them as a literal.
        insts.retain(|inst| !random::shows_half_bits(inst));
        insts.retain(|inst| {
            isa::constant_bus_ok(target, inst, None) && !isa::legal::sum_overlaps(inst.op.row(), inst)
        });
        count += insts.len();
        insts.chunks(50).for_each(|insts| check(target, insts, &mut wrong));
    }
    let shown: Vec<String> = wrong.values().take(40).cloned().collect();
    assert!(wrong.is_empty(), "of {count}, these mnemonics differ: {}\n{}", wrong.len(), shown.join("\n"));
    eprintln!("{count} instructions");
}

fn check(target: &'static Target, insts: &[MachInst], wrong: &mut BTreeMap<String, String>) {
    let mut source = String::new();
    let mut expected: Vec<Vec<u8>> = Vec::new();
    for inst in insts {
        isa::write_inst(target, inst, None, &mut source);
        source.push('\n');
        let mut words = Vec::new();
        isa::encode(target, inst, &mut words).expect("encodable");
        expected.push(words.iter().flat_map(|word| word.to_le_bytes()).collect());
    }
    let options = asm::Options { wave64: target.wave_size == 64, ..crate::common::options(target.name) };
    let mut note = |line: usize, what: &str| {
        let text = source.lines().nth(line).unwrap_or_default();
        let mnemonic = text.split(' ').next().unwrap_or_default().to_owned();
        wrong.entry(mnemonic).or_insert_with(|| format!("{}: {text}\n    {what}", target.name));
    };
    match asm::assemble(&source, &options) {
        Ok(object) => {
            let text = crate::common::section(&object, ".text");
            let mut at = 0;
            for (line, words) in expected.iter().enumerate() {
                let ours = text.get(at..at + words.len()).unwrap_or_default();
                if ours != words {
                    note(line, &format!("{ours:02x?} instead of {words:02x?}"));
                    break;
                }
                at += words.len();
            }
        }
        Err(list) => {
            for diagnostic in list {
                let (line, _) = diagnostic.position(&source);
                note(line - 1, &format!("{}: {}", diagnostic.message, diagnostic.label));
            }
        }
    }
}
