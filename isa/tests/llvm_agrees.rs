//! LLVM 19 is asked about every row: it must assemble our text to our words and print our words as our text.

use crate::common::llvm;
use crate::common::random::{self, Rng};
use isa::table::{self, Family, Flags};
use isa::{Form, MachInst, Opcode, Target, op};

/// The processors that are swept: one for each set of instructions, and both wave sizes of GFX10.
/// `KERNC_SWEEP` names others.
fn swept() -> Vec<&'static Target> {
    let names = std::env::var("KERNC_SWEEP").unwrap_or_else(|_| {
        "gfx600 gfx700 gfx803 gfx810 gfx900 gfx906 gfx908 gfx90a gfx942 gfx1010 gfx1012 gfx1030".into()
    });
    let targets: Vec<_> =
        names.split_whitespace().map(|name| Target::by_name(name).expect("a processor")).collect();
    let wave64 = targets.iter().filter(|target| target.wave_size == 32).take(1);
    let wave64: Vec<_> = wave64.filter_map(|target| target.with_wave_size(64)).collect();
    targets.into_iter().chain(wave64).collect()
}

/// Random instructions of each row and form; `KERNC_SWEEP_COUNT` asks for another number.
fn per_form() -> usize {
    std::env::var("KERNC_SWEEP_COUNT").map_or(12, |count| count.parse().expect("a number"))
}

/// Random words that are read beside LLVM for each processor; `KERNC_RANDOM_WORDS` asks for another number.
fn random_count() -> usize {
    std::env::var("KERNC_RANDOM_WORDS").map_or(20_000, |count| count.parse().expect("a number"))
}

/// Those that LLVM disassembles for.
fn disassembled() -> Vec<&'static Target> {
    swept().into_iter().filter(|target| target.version.0 >= 8).collect()
}

fn text(target: &Target, inst: &MachInst) -> String {
    let mut out = String::new();
    isa::write_inst(target, inst, None, &mut out);
    out
}

fn words(target: &Target, inst: &MachInst) -> Vec<u32> {
    let mut out = Vec::new();
    isa::encode(target, inst, &mut out)
        .unwrap_or_else(|error| panic!("{} {inst:?}: {error}", text(target, inst)));
    out
}

fn sweep(target: &'static Target, per_row: usize, odd_literals: bool) -> Vec<MachInst> {
    let mut rng = Rng::new(1);
    rng.odd_literals = odd_literals;
    let mut insts = Vec::new();
    for (op, form) in random::all_forms(target) {
        insts.extend((0..per_row).map(|_| random::inst(&mut rng, target, op, form)));
    }
    insts
}

/// Fails with the first difference of each mnemonic.
fn report(what: &str, differences: &[(MachInst, String)], total: usize) {
    let shown: Vec<&(MachInst, String)> = differences.iter().collect();

    let shown = shown.iter().take(200).map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n");
    assert!(differences.is_empty(), "{what}: {} of {total} differ\n{shown}", differences.len());
}

#[test]
fn every_row_round_trips() {
    for target in swept() {
        for inst in sweep(target, 40, true) {
            let words = words(target, &inst);
            assert_eq!(words.len(), isa::size_in_words(target, &inst), "{}", text(target, &inst));
            // What an assembler would refuse is no instruction of a text.
            let is_sound =
                isa::constant_bus_ok(target, &inst, None) && !isa::legal::sum_overlaps(inst.op.row(), &inst);
            let decoded = isa::decode(target, &words);
            if !is_sound {
                assert!(decoded.is_err(), "{} {words:x?}", text(target, &inst));
                continue;
            }
            assert_eq!(decoded, Ok((inst, words.len())), "{} {words:x?}", text(target, &inst));
        }
    }
}

#[test]
fn llvm_prints_our_words_as_our_text() {
    let Some(mc) = llvm::tool("llvm-mc-19", "disassembly of every row") else { return };
    for target in disassembled() {
        let insts = sweep(target, per_form(), true);
        let ours: Vec<_> = insts.iter().map(|inst| words(target, inst)).collect();
        let theirs = llvm::disassemble(&mc, target, &ours);
        let mut differences = Vec::new();
        for ((inst, words), llvm) in insts.iter().zip(&ours).zip(&theirs) {
            let text = text(target, inst);
            // LLVM's text of these becomes the 32-bit instruction.
            let is_long_nop = inst.op.family() == Family::Vop3 && inst.op.row().ops.is_empty();
            let expected = if is_long_nop { text.trim_end_matches("_e64") } else { &text };
            if llvm.as_deref() != Some(expected) {
                differences.push((*inst, format!("{words:08x?}\n  ours {text}\n  llvm {llvm:?}")));
            }
        }
        report(target.name, &differences, insts.len());
    }
}

#[test]
fn llvm_assembles_our_text_to_our_words() {
    let Some(mc) = llvm::tool("llvm-mc-19", "assembly of every row") else { return };
    for target in swept() {
        let mut insts = sweep(target, per_form(), false);
        insts.retain(|inst| isa::constant_bus_ok(target, inst, None) && !random::shows_half_bits(inst));
        let texts: Vec<_> = insts.iter().map(|inst| text(target, inst)).collect();
        let theirs = llvm::assemble(&mc, target, &texts);
        let mut differences = Vec::new();
        for ((inst, text), llvm) in insts.iter().zip(&texts).zip(&theirs) {
            let words = words(target, inst);
            if llvm.as_ref() != Some(&words) {
                differences.push((*inst, format!("{text}\n  ours {words:08x?}\n  llvm {llvm:08x?}")));
            }
        }
        report(target.name, &differences, insts.len());
    }
}

/// Second names; those of graphics instructions are swept with them.
fn aliases() -> impl Iterator<Item = Opcode> {
    table::opcodes().filter(|op| op.row().flags.contains(Flags::ALIAS) && op.family() != Family::Exp)
}

/// Second names of opcodes, of which LLVM 14 has some that LLVM 19 has not.
#[test]
fn llvm_assembles_aliases_to_our_words() {
    let tools = ["llvm-mc-19", "llvm-mc-14"].map(|name| llvm::tool(name, "assembly of aliases"));
    let [Some(new), Some(old)] = tools else { return };
    let mut seen = std::collections::HashSet::new();
    for target in swept() {
        let mut rng = Rng::new(7);
        let insts =
            aliases().filter(|&op| table::available(op, target)).flat_map(|op| std::iter::repeat_n(op, 24));
        let mut insts: Vec<_> = insts.map(|op| random::inst(&mut rng, target, op, Form::Full)).collect();
        insts.retain(|inst| isa::constant_bus_ok(target, inst, None));
        let texts: Vec<_> = insts.iter().map(|inst| text(target, inst)).collect();
        let [new, old] = [&new, &old].map(|tool| llvm::assemble(tool, target, &texts));
        for (((inst, text), new), old) in insts.iter().zip(&texts).zip(new).zip(old) {
            assert_eq!(new.or(old), Some(words(target, inst)), "{text} on {}", target.name);
            seen.insert(inst.op);
        }
    }
    let unseen: Vec<_> = aliases().filter(|op| !seen.contains(op)).collect();
    assert!(unseen.is_empty() || std::env::var_os("KERNC_SWEEP").is_some(), "{unseen:?}");
}

#[test]
fn llvm_refuses_what_overloads_the_constant_bus() {
    let Some(mc) = llvm::tool("llvm-mc-19", "constant bus limits") else { return };
    for target in swept() {
        let mut insts = sweep(target, 40, false);
        insts.retain(|inst| !isa::constant_bus_ok(target, inst, None));
        let texts: Vec<_> = insts.iter().map(|inst| text(target, inst)).collect();
        let theirs = llvm::assemble(&mc, target, &texts);
        let taken = insts.iter().zip(&texts).zip(&theirs).filter(|(_, words)| words.is_some());
        let taken: Vec<_> = taken.map(|((inst, text), _)| (*inst, text.clone())).collect();
        assert!(insts.len() > if target.version.0 == 10 { 100 } else { 1000 });
        report(target.name, &taken, insts.len());
    }
}

/// Words from a generator that likes the beginnings of the encodings.
fn random_words(rng: &mut Rng) -> Vec<u32> {
    let beginnings =
        [0, 0x7e00_0000, 0x7c00_0000, 0x8000_0000, 0xb000_0000, 0xbe80_0000, 0xbf00_0000, 0xbf80_0000]
            .into_iter()
            .chain([
                0xc000_0000,
                0xd000_0000,
                0xd380_0000,
                0xd800_0000,
                0xdc00_0000,
                0xdc80_0000,
                0xe000_0000,
                0xe800_0000,
                0xf000_0000,
                0xc400_0000,
                0xd400_0000,
                0xd270_0000,
            ]);
    let beginnings: Vec<u32> = beginnings.collect();
    let first = match rng.below(4) {
        0 => rng.next(),
        _ => rng.pick(&beginnings) | rng.next() >> rng.pick(&[6, 7, 9, 12]),
    };
    vec![first, rng.next() & rng.pick(&[u32::MAX, 0x7f7f_7f7f, 0x03ff_ffff, 0x0000_ffff]), rng.next()]
}

/// The words, but for `op_sel_hi` of a packed instruction's absent third source, which may have any value.
fn meant(inst: &MachInst, words: &[u32]) -> Vec<u32> {
    let mut words = words.to_vec();
    if inst.op.family() == isa::table::Family::Vop3p && inst.len < 4 {
        words[0] |= 1 << 14;
    }
    words
}

#[test]
fn random_words_never_panic_and_encode_again() {
    let mut rng = Rng::new(3);
    for target in swept() {
        for _ in 0..200_000 {
            let words = random_words(&mut rng);
            for len in 0..=words.len() {
                if let Ok((inst, used)) = isa::decode(target, &words[..len]) {
                    assert!(used <= len);
                    assert_eq!(
                        self::words(target, &inst),
                        meant(&inst, &words[..used]),
                        "{}",
                        text(target, &inst)
                    );
                    text(target, &inst);
                }
            }
        }
    }
}

#[test]
fn llvm_agrees_on_random_words() {
    let Some(mc) = llvm::tool("llvm-mc-19", "decoding of random words") else { return };
    for target in disassembled() {
        let mut rng = Rng::new(4);
        // Cut to the size that we read; what we refuse is offered as one, two and three words.
        let mut samples = Vec::new();
        while samples.len() < random_count() {
            let words = random_words(&mut rng);
            match isa::decode(target, &words) {
                Ok((inst, used)) => samples.push((words[..used].to_vec(), Some(inst))),
                Err(_) if rng.chance(4) => samples.extend((1..=2).map(|len| (words[..len].to_vec(), None))),
                Err(_) => {}
            }
        }
        let words: Vec<_> = samples.iter().map(|(words, _)| words.clone()).collect();
        let theirs = llvm::disassemble(&mc, target, &words);
        let mut differences = Vec::new();
        let mut refused = Vec::new();
        for ((words, inst), llvm) in samples.iter().zip(theirs) {
            match (inst, llvm) {
                (Some(inst), llvm) => {
                    let ours = text(target, inst);
                    if llvm.as_ref() != Some(&ours) {
                        differences.push((*inst, format!("{words:08x?}\n  ours {ours}\n  llvm {llvm:?}")));
                    }
                }
                (None, Some(llvm)) if !is_outside_the_table(&llvm) => refused.push((llvm, words)),
                _ => {}
            }
        }
        // LLVM ignores some bits that mean nothing. What it prints must then be other words' text.
        let texts: Vec<String> = refused.iter().map(|(text, _)| text.clone()).collect();
        let again = llvm::assemble(&mc, target, &texts);
        for ((llvm, words), again) in refused.iter().zip(again) {
            if again.as_ref() == Some(words) {
                let none = MachInst::new(op::UNDEF, &[]);
                differences.push((none, format!("{words:08x?}\n  ours refused\n  llvm {llvm}")));
            }
        }
        report(target.name, &differences, samples.len());
    }
}

/// What LLVM reads and we do not: see `docs/isa-errata.md`.
fn is_outside_the_table(text: &str) -> bool {
    // A status bit as a destination, a branch to a constant.
    let senseless = ["v_readfirstlane_b32 src_", "s_cbranch_g_fork "];
    // Instructions of gfx942 that are not in the table yet.
    let missing = ["_fp8", "_bf8", "v_mfma_", "v_smfmac_"];
    missing.iter().any(|part| text.contains(part))
        || text.contains("src_lds_direct")
        || senseless.iter().any(|start| text.starts_with(start))
}
