//! Damage: random bytes are mostly harmless or fatal at once, so that most of it is aimed at a part of the file and of the
//! size of its fields.

use object::elf;
use std::ops::Range;
use testkit::Rng;

/// What a part of a file consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// ELF header, program and section headers, dynamic table, relocations: fields of 2 to 8 bytes.
    Fields,
    /// Symbols: the same, in records of 24 bytes.
    Symbols,
    /// Notes and strings: bytes.
    Bytes,
    /// Descriptors, variables: dwords.
    Words,
    /// Code.
    Code,
}

/// A file to be damaged.
pub struct Seed {
    /// The whole file.
    pub bytes: Vec<u8>,
    parts: Vec<(Part, Range<usize>)>,
}

impl Seed {
    /// Finds the parts.
    pub fn new(bytes: Vec<u8>) -> Seed {
        let mut parts = vec![(Part::Fields, 0..64)];
        let file = codeobj::CodeObject::parse(&bytes).expect("a seed is sound");
        let mut add =
            |part, start: u64, size: u64| parts.push((part, start as usize..(start + size) as usize));
        add(Part::Fields, file.header.program_headers, 56 * u64::from(file.header.segment_count));
        add(Part::Fields, file.header.section_headers, 64 * u64::from(file.header.section_count));
        for section in file.sections.iter().filter(|section| !section.is_zeros()) {
            let part = match section.kind {
                kind if kind == elf::SHT_SYMTAB.0 || kind == elf::SHT_DYNSYM.0 => Part::Symbols,
                kind if kind == elf::SHT_DYNAMIC.0 || kind == elf::SHT_RELA.0 => Part::Fields,
                kind if kind == elf::SHT_NOTE.0 || kind == elf::SHT_STRTAB.0 => Part::Bytes,
                _ if section.is_code() => Part::Code,
                _ => Part::Words,
            };
            add(part, section.offset, section.size);
        }
        parts.retain(|(_, range)| range.len() >= 4 && range.end <= bytes.len());
        Seed { bytes, parts }
    }
}

/// A damaged copy.
pub fn mutate(seed: &Seed, rng: &mut Rng) -> Vec<u8> {
    let mut bytes = seed.bytes.clone();
    for _ in 0..1 + rng.below(4) * rng.below(4) {
        let (part, range) = &seed.parts[rng.below(seed.parts.len() as u32) as usize];
        // Most damage is worth more where the file still loads.
        let (part, range) = match rng.below(3) {
            0 => {
                let code = seed.parts.iter().find(|(part, _)| *part == Part::Code);
                code.map_or((*part, range), |(part, range)| (*part, range))
            }
            _ => (*part, range),
        };
        match rng.below(12) {
            0 => anywhere(&mut bytes, rng),
            1 => copy(&mut bytes, range, rng),
            _ => damage(&mut bytes, part, range, rng),
        }
    }
    if rng.below(50) == 0 {
        bytes.truncate(rng.below(bytes.len() as u32) as usize);
    }
    bytes
}

fn anywhere(bytes: &mut [u8], rng: &mut Rng) {
    let at = rng.below(bytes.len() as u32) as usize;
    bytes[at] = rng.bits() as u8;
}

/// Something of the same part once more, over something else.
fn copy(bytes: &mut [u8], range: &Range<usize>, rng: &mut Rng) {
    let size = [4, 8, 24, 64][rng.below(4) as usize].min(range.len());
    let place = |rng: &mut Rng| range.start + rng.below((range.len() - size) as u32 + 1) as usize;
    let (from, to) = (place(rng), place(rng));
    bytes.copy_within(from..from + size, to);
}

fn damage(bytes: &mut [u8], part: Part, range: &Range<usize>, rng: &mut Rng) {
    match part {
        Part::Fields => field(bytes, range, rng),
        Part::Symbols if rng.below(2) == 0 => symbol(bytes, range, rng),
        Part::Symbols => field(bytes, range, rng),
        Part::Bytes => {
            let at = range.start + rng.below(range.len() as u32) as usize;
            bytes[at] = match rng.below(3) {
                // Markers of MessagePack: long strings, arrays, maps, large numbers.
                0 => [0xdb, 0xdd, 0xdf, 0xcf, 0xd3, 0xcb, 0xc6, 0xff, 0x9f, 0x8f][rng.below(10) as usize],
                1 => bytes[at] ^ 1 << rng.below(8),
                _ => rng.bits() as u8,
            };
        }
        Part::Words => word(bytes, range, rng, edge),
        Part::Code => word(bytes, range, rng, instruction),
    }
}

/// A number that is special somewhere.
fn edge(old: u32, rng: &mut Rng) -> u32 {
    match rng.below(6) {
        0 => old ^ 1 << rng.below(32),
        1 => old.wrapping_add(rng.below(17)).wrapping_sub(8),
        2 => [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff_fffc][rng.below(6) as usize],
        3 => 1 << rng.below(32),
        4 => old.wrapping_mul(rng.below(300)),
        _ => rng.bits() >> rng.below(32),
    }
}

fn field(bytes: &mut [u8], range: &Range<usize>, rng: &mut Rng) {
    let size = [1, 2, 4, 8][rng.below(4) as usize];
    let at = range.start + rng.below((range.len() / size) as u32) as usize * size;
    let Some(place) = bytes.get_mut(at..at + size) else { return };
    let mut wide = [0; 8];
    wide[..size].copy_from_slice(place);
    let old = u64::from_le_bytes(wide);
    let new = match rng.below(4) {
        0 => old ^ 1 << rng.below(8 * size as u32),
        1 => [u64::MAX, u64::MAX - 7, 1 << 63, 1 << 32, 1 << 28, 1 << 31][rng.below(6) as usize],
        _ => u64::from(edge(old as u32, rng)),
    };
    place.copy_from_slice(&new.to_le_bytes()[..size]);
}

/// A symbol like another one, wholly or in name, place or kind.
fn symbol(bytes: &mut [u8], range: &Range<usize>, rng: &mut Rng) {
    const SIZE: usize = 24;
    let count = (range.len() / SIZE) as u32;
    let (from, to) = (rng.below(count) as usize, rng.below(count) as usize);
    let field = [0..SIZE, 0..4, 4..5, 6..8, 8..16, 16..24][rng.below(6) as usize].clone();
    let from = range.start + from * SIZE;
    bytes.copy_within(from + field.start..from + field.end, range.start + to * SIZE + field.start);
}

fn word(bytes: &mut [u8], range: &Range<usize>, rng: &mut Rng, change: impl Fn(u32, &mut Rng) -> u32) {
    let count = (range.len() / 4) as u32;
    let at = range.start + 4 * rng.below(count) as usize;
    if rng.below(8) == 0 {
        // Two exchanged.
        let other = range.start + 4 * rng.below(count) as usize;
        (0..4).for_each(|byte| bytes.swap(at + byte, other + byte));
        return;
    }
    let Some(place) = bytes[at..].first_chunk_mut() else { return };
    *place = change(u32::from_le_bytes(*place), rng).to_le_bytes();
}

/// Another word of code.
fn instruction(old: u32, rng: &mut Rng) -> u32 {
    match rng.below(8) {
        0 => rng.bits(),
        // SOPP: barriers, sleeps, waits, branches, traps, messages.
        1 => 0xbf80_0000 | rng.bits() & 0x003f_ffff,
        // A branch to near by.
        2 => 0xbf82_0000 | rng.below(8) << 16 | rng.below(40).wrapping_sub(20) & 0xffff,
        // Encodings of memory instructions.
        3 => {
            [0xc000_0000, 0xd800_0000, 0xdc00_0000, 0xe000_0000, 0xf400_0000][rng.below(5) as usize]
                | rng.bits() >> 6
        }
        // `s_set_gpr_idx_on`, `s_setpc_b64` and their like.
        4 => 0xbe80_0000 | rng.bits() & 0x007f_ff7f,
        5 => edge(old, rng),
        _ => old ^ 1 << rng.below(32),
    }
}
