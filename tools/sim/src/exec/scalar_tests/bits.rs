//! Tests of logic, bit fields, counts and bit positions. The tests compute the expected results bit by bit.

use super::Meaning::{self, Narrow, Narrowing, Wide};
use super::{GFX6, GFX9, agree};

type Bit = fn(bool, bool) -> bool;

/// Applies a function to each bit.
fn bitwise(a: u64, b: u64, bits: u32, f: Bit) -> u64 {
    (0..bits).fold(0, |value, at| value | u64::from(f(a >> at & 1 != 0, b >> at & 1 != 0)) << at)
}

macro_rules! logic {
    ($name:literal, $f:expr) => {{
        const F: Bit = $f;
        agree(
            concat!($name, "_b32 s0, s4, s6"),
            GFX6,
            &Narrow(|a, b, _, _| {
                let value = bitwise(a.into(), b.into(), 32, F) as u32;
                (value, value != 0)
            }),
        );
        agree(
            concat!($name, "_b64 s[0:1], s[4:5], s[6:7]"),
            GFX6,
            &Wide(|a, b, _, _| {
                let value = bitwise(a, b, 64, F);
                (value, value != 0)
            }),
        );
    }};
}

#[test]
fn logic() {
    logic!("s_and", |a, b| a && b);
    logic!("s_or", |a, b| a || b);
    logic!("s_xor", |a, b| a != b);
    logic!("s_andn2", |a, b| a && !b);
    logic!("s_orn2", |a, b| a || !b);
    logic!("s_nand", |a, b| !(a && b));
    logic!("s_nor", |a, b| !(a || b));
    logic!("s_xnor", |a, b| a == b);
    agree("s_not_b32 s0, s4", GFX6, &Narrow(|a, _, _, _| (u32::MAX - a, a != u32::MAX)));
    agree("s_not_b64 s[0:1], s[4:5]", GFX6, &Wide(|a, _, _, _| (u64::MAX - a, a != u64::MAX)));
}

/// Returns a field of `width` bits that starts at bit `offset` of a number. The number has `size` bits; all
/// bits above them count as `fill`.
fn field(value: u64, size: u32, fill: bool, offset: u32, width: u32, signed: bool) -> u64 {
    let bit = |at: u32| if at < size { value >> at & 1 != 0 } else { fill };
    let top = signed && width > 0 && bit(offset + width.min(size) - 1);
    (0..64).fold(0, |bits, at| {
        let set = if at < width { bit(offset + at) } else { top };
        bits | u64::from(set) << at
    })
}

#[test]
fn fields() {
    agree(
        "s_bfe_u32 s0, s4, s6",
        GFX6,
        &Narrow(|a, b, _, _| {
            let value = field(a.into(), 32, false, b % 32, b >> 16 & 127, false) as u32;
            (value, value != 0)
        }),
    );
    agree(
        "s_bfe_i32 s0, s4, s6",
        GFX6,
        &Narrow(|a, b, _, _| {
            let value = field(a.into(), 32, a >> 31 != 0, b % 32, (b >> 16 & 127).min(32), true) as u32;
            (value, value != 0)
        }),
    );
    agree(
        "s_bfe_u64 s[0:1], s[4:5], s6",
        GFX6,
        &Wide(|a, b, _, _| {
            let value = field(a, 64, false, b as u32 % 64, b as u32 >> 16 & 127, false);
            (value, value != 0)
        }),
    );
    agree(
        "s_bfe_i64 s[0:1], s[4:5], s6",
        GFX6,
        &Wide(|a, b, _, _| {
            let value = field(a, 64, a >> 63 != 0, b as u32 % 64, (b as u32 >> 16 & 127).min(64), true);
            (value, value != 0)
        }),
    );
    agree(
        "s_bfm_b64 s[0:1], s4, s6",
        GFX6,
        &Wide(|a, b, _, scc| {
            let (width, offset) = (a % 64, b % 64);
            ((offset..(offset + width).min(64)).fold(0, |bits, at| bits | 1 << at), scc)
        }),
    );
    agree(
        "s_bitset0_b32 s0, s4",
        GFX6,
        &Narrow(|a, _, d, scc| (bitwise(d.into(), 1 << (a % 32), 32, |d, one| d && !one) as u32, scc)),
    );
    agree(
        "s_bitset1_b32 s0, s4",
        GFX6,
        &Narrow(|a, _, d, scc| (bitwise(d.into(), 1 << (a % 32), 32, |d, one| d || one) as u32, scc)),
    );
    agree(
        "s_bitset0_b64 s[0:1], s4",
        GFX6,
        &Wide(|a, _, d, scc| (bitwise(d, 1 << (a % 64), 64, |d, one| d && !one), scc)),
    );
    agree(
        "s_bitset1_b64 s[0:1], s4",
        GFX6,
        &Wide(|a, _, d, scc| (bitwise(d, 1 << (a % 64), 64, |d, one| d || one), scc)),
    );
    let halves: [(&str, Meaning); 3] = [
        ("ll", Narrow(|a, b, _, scc| (a % 0x1_0000 + b % 0x1_0000 * 0x1_0000, scc))),
        ("lh", Narrow(|a, b, _, scc| (a % 0x1_0000 + b / 0x1_0000 * 0x1_0000, scc))),
        ("hh", Narrow(|a, b, _, scc| (a / 0x1_0000 + b / 0x1_0000 * 0x1_0000, scc))),
    ];
    for (which, meaning) in halves {
        agree(&format!("s_pack_{which}_b32_b16 s0, s4, s6"), GFX9, &meaning);
    }
}

/// Counts the set bits one by one.
fn ones(value: u64, bits: u32) -> u32 {
    (0..bits).filter(|at| value >> at & 1 != 0).count() as u32
}

/// Returns the first position at which `found` holds, or -1.
fn first(mut places: impl Iterator<Item = u32>, found: impl Fn(u32) -> bool) -> u32 {
    places.find(|at| found(*at)).unwrap_or(u32::MAX)
}

#[test]
fn counts() {
    agree("s_bcnt1_i32_b32 s0, s4", GFX6, &Narrow(|a, _, _, _| (ones(a.into(), 32), a != 0)));
    agree("s_bcnt0_i32_b32 s0, s4", GFX6, &Narrow(|a, _, _, _| (32 - ones(a.into(), 32), a != !0)));
    agree("s_bcnt1_i32_b64 s0, s[4:5]", GFX6, &Narrowing(|a, _, _, _| (ones(a, 64), a != 0)));
    agree("s_bcnt0_i32_b64 s0, s[4:5]", GFX6, &Narrowing(|a, _, _, _| (64 - ones(a, 64), a != !0)));
    agree("s_ff1_i32_b32 s0, s4", GFX6, &Narrow(|a, _, _, scc| (first(0..32, |at| a >> at & 1 != 0), scc)));
    agree("s_ff0_i32_b32 s0, s4", GFX6, &Narrow(|a, _, _, scc| (first(0..32, |at| a >> at & 1 == 0), scc)));
    agree(
        "s_ff1_i32_b64 s0, s[4:5]",
        GFX6,
        &Narrowing(|a, _, _, scc| (first(0..64, |at| a >> at & 1 != 0), scc)),
    );
    agree(
        "s_ff0_i32_b64 s0, s[4:5]",
        GFX6,
        &Narrowing(|a, _, _, scc| (first(0..64, |at| a >> at & 1 == 0), scc)),
    );
    agree(
        "s_flbit_i32_b32 s0, s4",
        GFX6,
        &Narrow(|a, _, _, scc| (first(0..32, |at| a >> (31 - at) & 1 != 0), scc)),
    );
    agree(
        "s_flbit_i32_b64 s0, s[4:5]",
        GFX6,
        &Narrowing(|a, _, _, scc| (first(0..64, |at| a >> (63 - at) & 1 != 0), scc)),
    );
    agree(
        "s_flbit_i32 s0, s4",
        GFX6,
        &Narrow(|a, _, _, scc| (first(1..32, |at| a >> (31 - at) & 1 != a >> 31), scc)),
    );
    agree(
        "s_flbit_i32_i64 s0, s[4:5]",
        GFX6,
        &Narrowing(|a, _, _, scc| (first(1..64, |at| a >> (63 - at) & 1 != a >> 63), scc)),
    );
}

/// Returns the union of `to(at)` for each set bit `at`.
fn moved(value: u64, bits: u32, to: fn(u32) -> u64) -> u64 {
    (0..bits).filter(|at| value >> at & 1 != 0).fold(0, |bits, at| bits | to(at))
}

#[test]
fn permutations() {
    agree(
        "s_brev_b32 s0, s4",
        GFX6,
        &Narrow(|a, _, _, scc| (moved(a.into(), 32, |at| 1 << (31 - at)) as u32, scc)),
    );
    agree("s_brev_b64 s[0:1], s[4:5]", GFX6, &Wide(|a, _, _, scc| (moved(a, 64, |at| 1 << (63 - at)), scc)));
    agree(
        "s_wqm_b32 s0, s4",
        GFX6,
        &Narrow(|a, _, _, _| (moved(a.into(), 32, |at| 15 << (at / 4 * 4)) as u32, a != 0)),
    );
    agree(
        "s_wqm_b64 s[0:1], s[4:5]",
        GFX6,
        &Wide(|a, _, _, _| (moved(a, 64, |at| 15 << (at / 4 * 4)), a != 0)),
    );
    agree(
        "s_quadmask_b32 s0, s4",
        GFX6,
        &Narrow(|a, _, _, _| (moved(a.into(), 32, |at| 1 << (at / 4)) as u32, a != 0)),
    );
    agree(
        "s_quadmask_b64 s[0:1], s[4:5]",
        GFX6,
        &Wide(|a, _, _, _| (moved(a, 64, |at| 1 << (at / 4)), a != 0)),
    );
    agree(
        "s_bitreplicate_b64_b32 s[0:1], s4",
        GFX9,
        &Wide(|a, _, _, scc| (moved(a, 32, |at| 3 << (2 * at)), scc)),
    );
}
