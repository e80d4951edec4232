//! Damaged objects: whatever the bytes are, reading them ends, does not panic, and makes no more text than the file is
//! worth. A short fixed run here; `KERNC_FUZZ=100000 cargo test -p kernc-codeobj --test codeobj damaged::` for a long one.

#![allow(missing_docs)]

use codeobj::{CodeObject, disasm, inspect};
use support::Random;

/// Numbers at which arithmetic goes wrong.
const EDGES: [u64; 12] = [
    0,
    1,
    3,
    63,
    64,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    u64::MAX,
    u64::MAX - 7,
];

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(8) {
        if bytes.is_empty() {
            return;
        }
        // Half of the damage goes where the structure is: the header and the section headers at the end.
        let at = match random.below(4) {
            0 => random.below(64.min(bytes.len())),
            1 => bytes.len() - 1 - random.below((14 * 64).min(bytes.len())),
            _ => random.below(bytes.len()),
        };
        match random.below(6) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.bits() as u8,
            2 | 3 => {
                let edge = EDGES[random.below(EDGES.len())].to_le_bytes();
                let size = [1, 2, 4, 8][random.below(4)].min(bytes.len() - at);
                bytes[at..at + size].copy_from_slice(&edge[..size]);
            }
            4 => {
                let from = random.below(bytes.len());
                let size = random.below(64).min(bytes.len() - at.max(from));
                bytes.copy_within(from..from + size, at);
            }
            _ if random.below(4) == 0 => bytes.truncate(at),
            _ => bytes[at] = bytes[at].wrapping_add(1),
        }
    }
}

/// Reads an object in every way. The text it made.
fn read(bytes: &[u8]) -> usize {
    let Ok(object) = CodeObject::parse(bytes) else { return 0 };
    let text = inspect::text(&object, "damaged", None).len();
    let json = serde_json::to_string(&inspect::json(&object, "damaged", None)).map_or(0, |text| text.len());
    let target = isa::Target::by_name("gfx906");
    let options = disasm::Options { lines: true, raw: true, target, wave_size: None };
    let listing = disasm::disassemble(&object, &options).map_or(0, |text| text.len());
    let _ = disasm::disassemble(&object, &disasm::Options::default());
    text + json + listing
}

#[test]
fn mutated_objects() {
    let runs = std::env::var("KERNC_FUZZ").ok().and_then(|runs| runs.parse().ok()).unwrap_or(3000);
    let seed = std::env::var("KERNC_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15 ^ seed);
    let mut largest = 0.0f64;
    let pal = crate::pal::object();
    let mut objects: Vec<&[u8]> = crate::common::RECORDED.iter().map(|object| object.1).collect();
    objects.extend([&*pal; 3]);
    for n in 0..runs {
        let mut bytes = random.pick(&objects).to_vec();
        mutate(&mut bytes, &mut random);
        let text = read(&bytes);
        let ratio = text as f64 / bytes.len().max(4096) as f64;
        largest = largest.max(ratio);
        assert!(ratio < 64.0, "run {n}, seed {seed}: {text} bytes of text from {} bytes", bytes.len());
    }
    println!("{runs} objects, seed {seed}: at most {largest:.0} bytes of text for a byte");
}

/// Words of any value, as code.
#[test]
fn random_code() {
    let mut random = Random::new(7);
    for _ in 0..200 {
        let mut bytes = crate::common::RECORDED[3].1.to_vec();
        let object = CodeObject::parse(&bytes).unwrap();
        let text = object.section(".text").unwrap();
        let range = text.offset as usize..(text.offset + text.size) as usize;
        bytes[range].iter_mut().for_each(|byte| *byte = random.bits() as u8);
        read(&bytes);
    }
}
