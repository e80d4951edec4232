//! Typed buffers, images, exports and interpolation on every processor: LLVM 19 must assemble our text to our words,
//! and print our words as our text (it has no disassembler for GFX6 and GFX7).

use crate::common::random::Rng;
use crate::common::{graphics, llvm};
use isa::table::{Family, Flags};
use isa::{Lane, MachInst, ModFlags, Operand, PROCESSORS, Target};

fn text(target: &Target, inst: &MachInst) -> String {
    let mut out = String::new();
    isa::write_inst(target, inst, None, &mut out);
    out
}

fn words(target: &Target, inst: &MachInst) -> Vec<u32> {
    let mut out = Vec::new();
    isa::encode(target, inst, &mut out)
        .unwrap_or_else(|error| panic!("{}: {} {inst:?}: {error}", target.name, text(target, inst)));
    out
}

/// Random instructions of every row and form.
fn sweep(target: &'static Target, per_row: usize) -> Vec<MachInst> {
    let mut rng = Rng::new(7);
    let forms = graphics::all_forms(target);
    forms
        .flat_map(|(op, form)| vec![(op, form); per_row])
        .map(|(op, form)| graphics::inst(&mut rng, target, op, form))
        .collect()
}

fn report(what: &str, differences: &[String], total: usize) {
    assert!(total > 0, "{what}: nothing to compare");
    let shown = differences.iter().take(40).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(differences.is_empty(), "{what}: {} of {total} differ\n{shown}", differences.len());
}

#[test]
fn every_row_round_trips() {
    for target in &PROCESSORS {
        for inst in sweep(target, 64) {
            let words = words(target, &inst);
            assert_eq!(words.len(), isa::size_in_words(target, &inst), "{}", text(target, &inst));
            let decoded = isa::decode(target, &words);
            assert_eq!(
                decoded,
                Ok((inst, words.len())),
                "{}: {} {words:x?}",
                target.name,
                text(target, &inst)
            );
        }
    }
}

/// LLVM's disassembler leaves out registers of wider atomic operations with `tfe`, and refuses gathered half floats in
/// the last three registers: see docs/isa-errata.md.
fn is_slip(inst: &MachInst) -> bool {
    let row = inst.op.row();
    let has = |flag| inst.mods.flags.contains(flag);
    let (wide_atomic, gathers) = match inst.mods.lane {
        _ if row.family != Family::Mimg => return false,
        Lane::Image { dmask: 3 | 15, .. } if row.flags.contains(Flags::ATOMIC) => (true, false),
        _ => (false, row.ops[0].width == 4),
    };
    let last = matches!(inst.ops[0], Operand::Reg(range) if range.first.number() > 252);
    wide_atomic && has(ModFlags::TFE) || gathers && has(ModFlags::D16) && last
}

#[test]
fn llvm_prints_our_words_as_our_text() {
    let Some(mc) = llvm::tool("llvm-mc-19", "disassembly of graphics instructions") else { return };
    for target in PROCESSORS.iter().filter(|target| target.version.0 >= 8) {
        let insts = sweep(target, 64);
        let ours: Vec<_> = insts.iter().map(|inst| words(target, inst)).collect();
        let theirs = llvm::disassemble(&mc, target, &ours);
        let pairs = insts.iter().zip(&ours).zip(&theirs);
        let differences = pairs.filter_map(|((inst, words), llvm)| {
            let text = text(target, inst);
            (llvm.as_ref() != Some(&text) && !is_slip(inst))
                .then(|| format!("{words:08x?}\n  ours {text}\n  llvm {llvm:?}"))
        });
        report(target.name, &differences.collect::<Vec<_>>(), insts.len());
    }
}

#[test]
fn llvm_assembles_our_text_to_our_words() {
    let Some(mc) = llvm::tool("llvm-mc-19", "assembly of graphics instructions") else { return };
    for target in &PROCESSORS {
        let insts = sweep(target, 64);
        let texts: Vec<_> = insts.iter().map(|inst| text(target, inst)).collect();
        let theirs = llvm::assemble(&mc, target, &texts);
        let differences = insts.iter().zip(&texts).zip(&theirs).filter_map(|((inst, text), llvm)| {
            let words = words(target, inst);
            (llvm.as_ref() != Some(&words))
                .then(|| format!("{text}\n  ours {words:08x?}\n  llvm {llvm:08x?}"))
        });
        report(target.name, &differences.collect::<Vec<_>>(), insts.len());
    }
}

const RECORDED: &str = include_str!("vectors/graphics.txt");

/// One processor of each kind that differs in these instructions.
const RECORDED_FOR: [&str; 9] =
    ["gfx600", "gfx700", "gfx801", "gfx810", "gfx900", "gfx90a", "gfx1010", "gfx1013", "gfx1030"];

/// What LLVM 19 assembles each row and form to; for GFX10's images two of each, for the two kinds of addresses.
fn record() -> Option<String> {
    let mc = llvm::tool("llvm-mc-19", "recording of vectors of graphics instructions")?;
    let mut out = String::from("# processor | words | text, as llvm-mc 19 assembles it\n");
    for name in RECORDED_FOR {
        let target = Target::by_name(name)?;
        let per_row = if target.version.0 == 10 { 2 } else { 1 };
        let texts: Vec<_> = sweep(target, per_row).iter().map(|inst| text(target, inst)).collect();
        for (text, words) in texts.iter().zip(llvm::assemble(&mc, target, &texts)) {
            let hex: Vec<String> = words?.iter().map(|word| format!("{word:08x}")).collect();
            out.push_str(&format!("{name} | {} | {text}\n", hex.join(" ")));
        }
    }
    Some(out)
}

/// `KERNC_BLESS=1 cargo test -p kernc-isa --test isa graphics::` records anew.
#[test]
fn recorded_vectors_hold() {
    if std::env::var_os("KERNC_BLESS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/graphics.txt");
        std::fs::write(path, record().expect("llvm-mc-19 and its agreement")).expect("the file is written");
        return;
    }
    let mut seen = std::collections::HashSet::new();
    for line in RECORDED.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.splitn(3, " | ").collect();
        let target = Target::by_name(fields[0]).expect("a processor");
        let code: Vec<u32> =
            fields[1].split(' ').map(|word| u32::from_str_radix(word, 16).expect("a word")).collect();
        let (inst, used) = isa::decode(target, &code).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(used, code.len(), "{line}");
        assert_eq!(text(target, &inst), fields[2], "{line}");
        assert_eq!(words(target, &inst), code, "{line}");
        seen.insert((target.name, inst.op, inst.form));
    }
    for target in RECORDED_FOR.iter().filter_map(|name| Target::by_name(name)) {
        for (op, form) in graphics::all_forms(target) {
            assert!(
                seen.contains(&(target.name, op, form)),
                "no vector for {op:?} {form:?} on {}",
                target.name
            );
        }
    }
}

/// Words that begin like these encodings, some with the fields that have few good values set to one.
fn random_words(rng: &mut Rng, target: &Target) -> Vec<u32> {
    let middle = matches!(target.version.0, 8 | 9);
    let prefixes = if middle {
        [0xe800_0000, 0xf000_0000, 0xc400_0000, 0xd400_0000]
    } else {
        [0xe800_0000, 0xf000_0000, 0xf800_0000, 0xc800_0000]
    };
    let prefix = rng.pick(&prefixes);
    let mut words: Vec<u32> = (0..5).map(|_| rng.next()).collect();
    words[0] = prefix | words[0] & 0x03ff_ffff;
    let pick = |rng: &mut Rng, odds| if rng.chance(odds) { 0 } else { u32::MAX };
    match prefix {
        // No further address dwords, no sampler, reserved bits clear, even resources.
        0xf000_0000 => {
            words[0] &= (pick(rng, 2) | !6) & (pick(rng, 2) | !0xf9);
            words[1] &= (pick(rng, 2) | 0x001f_ffff) & (pick(rng, 2) | 0xfffe_ffff);
        }
        0xe800_0000 => words[1] &= (pick(rng, 2) | !0x00a0_0000) & (pick(rng, 2) | !0x00e1_0000),
        // Reserved bits clear, and all channels used or none.
        0xf800_0000 | 0xc400_0000 if rng.chance(2) => {
            words[0] &= !0x03ff_e000;
            words[0] |= 15;
        }
        _ => {}
    }
    words
}

#[test]
fn llvm_agrees_on_random_words() {
    let Some(mc) = llvm::tool("llvm-mc-19", "decoding of random graphics words") else { return };
    for target in PROCESSORS.iter().filter(|target| target.version.0 >= 8) {
        let mut rng = Rng::new(u64::from(target.elf_mach));
        // Cut to the size that we read; what we refuse is offered in every size.
        let mut samples = Vec::new();
        while samples.len() < 8000 {
            let words = random_words(&mut rng, target);
            match isa::decode(target, &words) {
                Ok((inst, used)) => samples.push((words[..used].to_vec(), Some(inst))),
                Err(_) => {
                    let len = rng.pick(&[1, 2, 2, 2, 3, 4, 5]);
                    samples.push((words[..len].to_vec(), None));
                }
            }
        }
        let code: Vec<_> = samples.iter().map(|(words, _)| words.clone()).collect();
        let theirs = llvm::disassemble(&mc, target, &code);
        let mut differences = Vec::new();
        let mut refused = Vec::new();
        let mut read = 0;
        for ((words, inst), llvm) in samples.iter().zip(theirs) {
            match (inst, llvm) {
                (Some(inst), llvm) => {
                    let ours = text(target, inst);
                    read += 1;
                    if llvm.as_ref() != Some(&ours) && !is_slip(inst) {
                        differences.push(format!("{words:08x?}\n  ours {ours}\n  llvm {llvm:?}"));
                    }
                }
                (None, Some(llvm)) => refused.push((llvm, words)),
                _ => {}
            }
        }
        // LLVM ignores bits that mean nothing, and prints what it does not read: then its text is not these words'.
        let texts: Vec<String> = refused.iter().map(|(text, _)| text.clone()).collect();
        for ((llvm, words), again) in refused.iter().zip(llvm::assemble(&mc, target, &texts)) {
            if again.as_ref() == Some(*words) {
                differences.push(format!("{words:08x?}\n  ours refused\n  llvm {llvm}"));
            }
        }
        assert!(read > 500, "{}: {read}", target.name);
        println!("{}: {read} of {} read, {} by LLVM alone", target.name, samples.len(), refused.len());
        report(target.name, &differences, samples.len());
    }
}

/// An address of every size: we take those that LLVM takes.
#[test]
fn sizes_of_addresses() {
    let Some(mc) = llvm::tool("llvm-mc-19", "sizes of image addresses") else { return };
    for name in ["gfx600", "gfx803", "gfx900", "gfx90a", "gfx1010", "gfx1030"] {
        let target = Target::by_name(name).expect("a processor");
        let images = sweep(target, 1).into_iter().filter(|inst| inst.op.family() == Family::Mimg);
        let insts: Vec<MachInst> = images
            .filter(|inst| inst.len as usize == inst.op.row().ops.len())
            .flat_map(|inst| (1..=16).map(move |len| (inst, len)))
            .map(|(mut inst, len)| {
                inst.ops[1] = Operand::regs(isa::Reg::vgpr(100), len);
                inst
            })
            .collect();
        let texts: Vec<_> = insts.iter().map(|inst| text(target, inst)).collect();
        let mut differences = Vec::new();
        for ((inst, text), llvm) in insts.iter().zip(&texts).zip(llvm::assemble(&mc, target, &texts)) {
            let mut ours = Vec::new();
            let ours = isa::encode(target, inst, &mut ours).ok().map(|()| ours);
            if ours != llvm {
                differences.push(format!("{text}\n  ours {ours:08x?}\n  llvm {llvm:08x?}"));
            }
        }
        report(name, &differences, insts.len());
    }
}
