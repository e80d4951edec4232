//! Inputs: every edge with every other, and random bits.

use super::{Input, OLD, SOURCES};
use isa::table::{Kind, Num, Role, Row};
use testkit::Rng;

/// Inputs of an instruction.
pub const CASES: usize = 512;
/// What stands where the instruction has a literal.
pub const LITERAL: u32 = 0x3fc0_4100;

const INTEGERS: &[u64] = &[
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    15,
    16,
    17,
    23,
    24,
    31,
    32,
    33,
    47,
    63,
    64,
    127,
    128,
    255,
    256,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x7f_ffff,
    0x80_0000,
    0xff_ffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_fffe,
    0xffff_ffff_ffff_ffff,
    0x0102_0304,
    0x8081_7f7e,
    0x7fff_8000,
    0x8000_7fff,
    0x0c0d_0b08,
    0x090a_0406,
];
const SINGLES: &[u64] = &[
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    0x007f_ffff,
    0x807f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x0100_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3f00_0000,
    0xbf00_0000,
    0x3f7f_ffff,
    0x3f80_0001,
    0x4000_0000,
    0x4020_0000,
    0xc020_0000,
    0x4b00_0000,
    0x4b7f_ffff,
    0xcb7f_ffff,
    0x4effffff,
    0x4f00_0000,
    0xcf00_0000,
    0x4f80_0000,
    0x4f7f_ffff,
    0x477f_e000,
    0x477f_f000,
    0x3880_0000,
    0x3300_0000,
    0x42fe_0000,
    0x437f_0000,
    0x7e80_0000,
    0x7f00_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffc0_1234,
    0x7f80_0001,
    0xffa0_0000,
    0x5f00_0000,
    0x2000_0000,
    0x0c80_0000,
];
const DOUBLES: &[u64] = &[
    0,
    0x8000_0000_0000_0000,
    1,
    0x8000_0000_0000_0001,
    0x000f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x8010_0000_0000_0000,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x3fe0_0000_0000_0000,
    0xbfe0_0000_0000_0000,
    0x3fef_ffff_ffff_ffff,
    0x3ff0_0000_0000_0001,
    0x4000_0000_0000_0000,
    0x4004_0000_0000_0000,
    0x4330_0000_0000_0000,
    0xc330_0000_0000_0001,
    0x41df_ffff_ffff_ffff,
    0x41e0_0000_0000_0000,
    0xc1e0_0000_0020_0000,
    0x41ef_ffff_ffff_ffff,
    0x41f0_0000_0000_0000,
    0x47ef_ffff_f000_0000,
    0x3810_0000_0000_0000,
    0x36a0_0000_0000_0000,
    0x7fe0_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0xffef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0xfff8_0000_0000_1234,
    0x7ff0_0000_0000_0001,
    0xfff4_0000_0000_0000,
    0x4350_0000_0000_0000,
    0x0340_0000_0000_0000,
];
const HALVES: &[u64] = &[
    0, 0x8000, 1, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x0800, 0x3c00, 0xbc00, 0x3800, 0xb800, 0x3bff,
    0x3c01, 0x4000, 0x4100, 0xc100, 0x6400, 0x67ff, 0x6800, 0x7800, 0x77ff, 0xf800, 0x7bff, 0xfbff, 0x7c00,
    0xfc00, 0x7e00, 0xfe12, 0x7c01, 0xfd00, 0x5bf8, 0x1400, 0x2e66,
];

fn edges(num: Num) -> &'static [u64] {
    match num {
        Num::F16 | Num::V2F16 => HALVES,
        Num::F32 => SINGLES,
        Num::F64 => DOUBLES,
        _ => INTEGERS,
    }
}

/// An edge of that type; what is narrower than the register has noise above it.
fn edge(num: Num, at: usize, rng: &mut Rng) -> u64 {
    let list = edges(num);
    let value = list[at % list.len()];
    match num {
        Num::F16 | Num::V2F16 => value | list[rng.below(list.len() as u32) as usize] << 16,
        Num::F32 => value | u64::from(rng.bits()) << 32,
        _ => value,
    }
}

/// Half of the random floats are of ordinary size.
fn random(num: Num, rng: &mut Rng) -> u64 {
    let bits = u64::from(rng.bits()) << 32 | u64::from(rng.bits());
    if bits >> 40 & 1 == 0 {
        return bits;
    }
    match num {
        Num::F64 => bits & 0x800f_ffff_ffff_ffff | (0x3f0 + (bits >> 52 & 31)) << 52,
        Num::F32 => bits & 0x807f_ffff | (0x70 + (bits >> 23 & 31)) << 23,
        _ => bits,
    }
}

/// What the explicit sources are, in order; at most three.
pub fn sources(row: &Row) -> impl Iterator<Item = &isa::table::OpSpec> {
    row.ops.iter().filter(|spec| spec.role == Role::Use && spec.kind != Kind::Mask)
}

/// The inputs of an instruction. Calls of `v_div_scale` name one of the others as the first source.
pub fn inputs(row: &Row, seed: u64, lanes: u32) -> Vec<Input> {
    let mut rng = Rng::new(seed);
    let count = sources(row).count();
    let twin = row.name.starts_with("v_div_scale");
    let mut all: Vec<Input> = (0..CASES).map(|case| one(row, case, count, &mut rng)).collect();
    for (case, input) in all.iter_mut().enumerate() {
        input.lane = case as u32 % lanes;
        if twin {
            let from = SOURCES[1 + case % 2];
            input.words.copy_within(from..from + 2, 0);
        }
    }
    all
}

/// Every edge of two sources with every other, or some of the triples of three; as many inputs in each part as [`CASES`].
pub fn combinations(row: &Row, lanes: u32) -> Vec<Vec<Input>> {
    let mut rng = Rng::new(23);
    let specs: Vec<_> = sources(row).collect();
    let lists: Vec<usize> = specs.iter().map(|spec| edges(spec.num).len()).collect();
    let total = match lists[..] {
        [first, second] => first * second,
        [_, _, _] => 4 * CASES,
        _ => 0,
    };
    let mut all: Vec<Input> = (0..total.next_multiple_of(CASES))
        .map(|case| {
            let mut input = one(row, case, specs.len(), &mut rng);
            for (number, spec) in specs.iter().enumerate() {
                let at = match (lists.len(), number) {
                    (2, 0) => case % lists[0],
                    (2, _) => case / lists[0],
                    _ => rng.below(lists[number] as u32) as usize,
                };
                let value = edge(spec.num, at, &mut rng);
                let value = if spec.kind == Kind::Lit { u64::from(literal(row)) } else { value };
                let place = SOURCES[number];
                [input.words[place], input.words[place + 1]] = [value as u32, (value >> 32) as u32];
            }
            input
        })
        .collect();
    for (case, input) in all.iter_mut().enumerate() {
        input.lane = case as u32 % lanes;
    }
    all.chunks(CASES).map(<[Input]>::to_vec).collect()
}

fn one(row: &Row, case: usize, count: usize, rng: &mut Rng) -> Input {
    let mut input = Input::default();
    for word in &mut input.words {
        *word = rng.bits();
    }
    input.carry = rng.bits() & 1;
    let is_edge = case < CASES / 2;
    for (number, spec) in sources(row).enumerate().take(3) {
        let lists = edges(spec.num).len();
        // One source: every edge in turn. More: edges as they come, all pairs being too many for some types.
        let at = if count == 1 || number == case % count { case } else { rng.below(lists as u32) as usize };
        let value = if is_edge { edge(spec.num, at, rng) } else { random(spec.num, rng) };
        let value = if spec.kind == Kind::Lit { u64::from(literal(row)) } else { value };
        input.words[SOURCES[number]] = value as u32;
        input.words[SOURCES[number] + 1] = (value >> 32) as u32;
        if spec.num == Num::F32 && spec.width == 2 && is_edge {
            input.words[SOURCES[number] + 1] = edge(spec.num, case / 2, rng) as u32;
        }
    }
    if let Some(tied) = row.ops.iter().find(|spec| spec.role == Role::DefUse) {
        let value = if is_edge { edge(tied.num, rng.bits() as usize, rng) } else { random(tied.num, rng) };
        input.words[OLD] = value as u32;
        input.words[OLD + 1] = (value >> 32) as u32;
    }
    input
}

/// The literal of an instruction that has one.
pub fn literal(row: &Row) -> u32 {
    if row.name.ends_with("f16") { LITERAL & 0xffff } else { LITERAL }
}
