//! Random words, read as LLVM 19 reads them: valid or not, text, and length.
//!
//! `KERNC_SWEEP="gfx906 gfx1010" KERNC_RANDOM_WORDS=2000000 cargo test -p kernc-isa --test isa random_words:: -- --nocapture` is
//! the long run; it prints what differs, by mnemonic, with an example each.

use crate::common::llvm;
use crate::common::random::Rng;
use isa::{Decoder, Target};
use std::collections::BTreeMap;
use std::path::Path;

/// Words that LLVM and we read differently, of a million: most are its own slips (`docs/isa-errata.md`).
const ALLOWED_PER_MILLION: usize = 100;

/// A text and its dwords, or nothing.
type Reading = Option<(String, usize)>;

/// Any words at all.
fn any_words(rng: &mut Rng) -> Vec<u32> {
    (0..5).map(|_| rng.next()).collect()
}

/// Words that begin as the encodings do.
fn likely_words(rng: &mut Rng) -> Vec<u32> {
    const BEGINNINGS: [u32; 22] = [
        0,
        0x7e00_0000,
        0x7c00_0000,
        0x8000_0000,
        0xb000_0000,
        0xbe80_0000,
        0xbf00_0000,
        0xbf80_0000,
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
        0xf400_0000,
        0xcc00_0000,
    ];
    let first = rng.pick(&BEGINNINGS) | rng.next() >> rng.pick(&[6, 7, 9, 12]);
    let second = rng.next() & rng.pick(&[u32::MAX, 0x7f7f_7f7f, 0x03ff_ffff, 0x0000_ffff]);
    vec![first, second, rng.next(), rng.next(), rng.next()]
}

/// Whether two readings say the same. LLVM's dwords are those of encoding its text anew, where an inline constant of 16
/// bits becomes a literal, and unused address dwords of an image instruction are left out.
fn agree(ours: &Reading, llvm: &Reading) -> bool {
    match (ours, llvm) {
        // LLVM's text of the long `v_nop` becomes the short one.
        (Some(ours), Some(llvm)) if ours.0.strip_suffix("_e64") == Some(&llvm.0) => true,
        (Some(ours), Some(llvm)) if ours.0 == llvm.0 => {
            let anew = ours.0.starts_with("image_") || ours.1 + 1 == llvm.1 && ours.0.contains("0x");
            ours.1 == llvm.1 || anew
        }
        _ => ours == llvm,
    }
}

#[test]
fn any_words_read_as_llvm_reads_them() {
    sweep("any words", any_words);
}

#[test]
fn likely_words_read_as_llvm_reads_them() {
    sweep("likely words", likely_words);
}

fn sweep(kind: &str, words: fn(&mut Rng) -> Vec<u32>) {
    let Some(mc) = llvm::tool("llvm-mc-19", "random words") else { return };
    let names = std::env::var("KERNC_SWEEP").unwrap_or_else(|_| "gfx803 gfx906 gfx1010".into());
    let count = std::env::var("KERNC_RANDOM_WORDS").map_or(20_000, |n| n.parse().expect("a number"));
    for name in names.split_whitespace() {
        let target = Target::by_name(name).expect("a processor");
        let mut rng = Rng::new(4);
        let mut wrong = BTreeMap::<String, (usize, String)>::new();
        let mut left = count;
        while left > 0 {
            let batch: Vec<_> = (0..left.min(20_000)).map(|_| words(&mut rng)).collect();
            left -= batch.len();
            compare(&mc, target, &batch, &mut wrong);
        }
        let total: usize = wrong.values().map(|(n, _)| n).sum();
        println!("{name}: {total} of {count} {kind} differ");
        wrong.values().for_each(|(n, example)| println!("{n:5} {example}"));
        assert!(total * 1_000_000 <= ALLOWED_PER_MILLION * count, "{name}: {total} of {count} {kind} differ");
    }
}

/// Adds what differs, by mnemonics, with the first example.
fn compare(mc: &Path, target: &Target, batch: &[Vec<u32>], wrong: &mut BTreeMap<String, (usize, String)>) {
    let decoder = Decoder::new(target).expect("a known processor");
    let read = |words: &Vec<u32>| -> Reading {
        let (inst, len) = decoder.decode_tolerant(words).ok()?;
        let mut text = String::new();
        isa::write_inst(target, &inst, None, &mut text);
        Some((text, len))
    };
    let theirs = llvm::disassemble_first(mc, target, batch);
    let readings = batch.iter().zip(theirs).map(|(words, llvm)| (words, read(words), llvm));
    let differing: Vec<_> = readings.filter(|(_, ours, llvm)| !agree(ours, llvm)).collect();
    // What LLVM itself marks as wrong, or does not assemble, is no instruction although it has a text.
    let texts: Vec<_> = differing.iter().map(|(_, _, llvm)| llvm.clone().unwrap_or_default().0).collect();
    let assembles = llvm::assembles(mc, target, &texts);
    for ((words, ours, llvm), assembles) in differing.into_iter().zip(assembles) {
        let is_sound = assembles && !llvm.as_ref().is_some_and(|(text, _)| text.contains("/*Invalid"));
        if ours.is_none() && !is_sound {
            continue;
        }
        let mnemonic = |reading: &Reading| {
            let text = reading.as_ref().map_or("nothing", |(text, _)| text);
            text.split(' ').next().unwrap_or_default().to_owned()
        };
        let example = format!("{words:08x?}\n      ours {ours:?}\n      llvm {llvm:?}");
        wrong.entry(format!("{} {}", mnemonic(&ours), mnemonic(&llvm))).or_insert((0, example)).0 += 1;
    }
}
