//! Tests of sums, products, comparisons, moves and shifts. The tests compute the expected results in wider
//! numbers, in which nothing overflows.

use super::Meaning::{self, Narrow, Wide};
use super::{GFX6, GFX8, GFX9, agree};

/// Returns the sum `value` as a signed 32-bit number, and whether it overflows 32 bits.
fn signed(value: i128) -> (u32, bool) {
    (value as u32, i128::from(value as i32) != value)
}

fn unsigned(value: i128) -> (u32, bool) {
    (value as u32, !(0..1 << 32).contains(&value))
}

fn i(value: u32) -> i128 {
    i128::from(value as i32)
}

fn u(value: u32) -> i128 {
    i128::from(value)
}

#[test]
fn sums() {
    let cases: [(&str, &str, Meaning); 20] = [
        ("s_add_u32", GFX6, Narrow(|a, b, _, _| unsigned(u(a) + u(b)))),
        ("s_sub_u32", GFX6, Narrow(|a, b, _, _| unsigned(u(a) - u(b)))),
        ("s_add_i32", GFX6, Narrow(|a, b, _, _| signed(i(a) + i(b)))),
        ("s_sub_i32", GFX6, Narrow(|a, b, _, _| signed(i(a) - i(b)))),
        ("s_addc_u32", GFX6, Narrow(|a, b, _, scc| unsigned(u(a) + u(b) + i128::from(scc)))),
        ("s_subb_u32", GFX6, Narrow(|a, b, _, scc| unsigned(u(a) - u(b) - i128::from(scc)))),
        ("s_min_i32", GFX6, Narrow(|a, b, _, _| if i(a) < i(b) { (a, true) } else { (b, false) })),
        ("s_max_i32", GFX6, Narrow(|a, b, _, _| if i(a) > i(b) { (a, true) } else { (b, false) })),
        ("s_min_u32", GFX6, Narrow(|a, b, _, _| if u(a) < u(b) { (a, true) } else { (b, false) })),
        ("s_max_u32", GFX6, Narrow(|a, b, _, _| if u(a) > u(b) { (a, true) } else { (b, false) })),
        ("s_mul_i32", GFX6, Narrow(|a, b, _, scc| ((i(a) * i(b)) as u32, scc))),
        ("s_mul_hi_u32", GFX9, Narrow(|a, b, _, scc| (((u(a) * u(b)) >> 32) as u32, scc))),
        ("s_mul_hi_i32", GFX9, Narrow(|a, b, _, scc| (((i(a) * i(b)) >> 32) as u32, scc))),
        (
            "s_absdiff_i32",
            GFX6,
            Narrow(|a, b, _, _| {
                // The difference wraps before its sign is tested.
                let difference = (i(a) - i(b)) as i32;
                let value = if difference < 0 { -i128::from(difference) } else { i128::from(difference) };
                (value as u32, value != 0)
            }),
        ),
        ("s_lshl1_add_u32", GFX9, Narrow(|a, b, _, _| unsigned(u(a) * 2 + u(b)))),
        ("s_lshl2_add_u32", GFX9, Narrow(|a, b, _, _| unsigned(u(a) * 4 + u(b)))),
        ("s_lshl3_add_u32", GFX9, Narrow(|a, b, _, _| unsigned(u(a) * 8 + u(b)))),
        ("s_lshl4_add_u32", GFX9, Narrow(|a, b, _, _| unsigned(u(a) * 16 + u(b)))),
        ("s_cselect_b32", GFX6, Narrow(|a, b, _, scc| (if scc { a } else { b }, scc))),
        (
            "s_bfm_b32",
            GFX6,
            Narrow(|a, b, _, scc| {
                let ones = (0..a % 32).fold(0u64, |bits, at| bits | 1 << at);
                ((ones << (b % 32)) as u32, scc)
            }),
        ),
    ];
    for (name, from, meaning) in cases {
        agree(&format!("{name} s0, s4, s6"), from, &meaning);
    }
}

#[test]
fn one_source() {
    let cases: [(&str, Meaning); 8] = [
        ("s_mov_b32 s0, s4", Narrow(|a, _, _, scc| (a, scc))),
        ("s_mov_b64 s[0:1], s[4:5]", Wide(|a, _, _, scc| (a, scc))),
        ("s_cmov_b32 s0, s4", Narrow(|a, _, d, scc| (if scc { a } else { d }, scc))),
        ("s_cmov_b64 s[0:1], s[4:5]", Wide(|a, _, d, scc| (if scc { a } else { d }, scc))),
        ("s_cselect_b64 s[0:1], s[4:5], s[6:7]", Wide(|a, b, _, scc| (if scc { a } else { b }, scc))),
        ("s_abs_i32 s0, s4", Narrow(|a, _, _, _| (i(a).unsigned_abs() as u32, a != 0))),
        ("s_sext_i32_i8 s0, s4", Narrow(|a, _, _, scc| (extend(a, 8), scc))),
        ("s_sext_i32_i16 s0, s4", Narrow(|a, _, _, scc| (extend(a, 16), scc))),
    ];
    for (text, meaning) in cases {
        agree(text, GFX6, &meaning);
    }
}

/// Returns the lowest bits as a signed number.
fn extend(value: u32, bits: u32) -> u32 {
    let (half, low) = (1i64 << (bits - 1), i64::from(value) % (1 << bits));
    if low >= half { (low - 2 * half) as u32 } else { low as u32 }
}

#[test]
fn shifts() {
    let cases: [(&str, Meaning); 6] = [
        ("s_lshl_b32 s0, s4, s6", Narrow(|a, b, _, _| nonzero((u(a) * power(b % 32)) as u32))),
        ("s_lshr_b32 s0, s4, s6", Narrow(|a, b, _, _| nonzero((u(a) / power(b % 32)) as u32))),
        ("s_ashr_i32 s0, s4, s6", Narrow(|a, b, _, _| nonzero(i(a).div_euclid(power(b % 32)) as u32))),
        ("s_lshl_b64 s[0:1], s[4:5], s6", Wide(|a, b, _, _| nonzero64((u128::from(a) << (b % 64)) as u64))),
        (
            "s_lshr_b64 s[0:1], s[4:5], s6",
            Wide(|a, b, _, _| nonzero64((i128::from(a) / power(b as u32 % 64)) as u64)),
        ),
        (
            "s_ashr_i64 s[0:1], s[4:5], s6",
            Wide(|a, b, _, _| nonzero64(i128::from(a as i64).div_euclid(power(b as u32 % 64)) as u64)),
        ),
    ];
    for (text, meaning) in cases {
        agree(text, GFX6, &meaning);
    }
}

fn power(exponent: u32) -> i128 {
    1 << exponent
}

fn nonzero(value: u32) -> (u32, bool) {
    (value, value != 0)
}

fn nonzero64(value: u64) -> (u64, bool) {
    (value, value != 0)
}

/// A compare does not change the destination.
#[test]
fn compares() {
    type Relation = fn(u32, u32) -> bool;
    let cases: [(&str, Relation); 14] = [
        ("s_cmp_eq_i32", |a, b| i(a) - i(b) == 0),
        ("s_cmp_lg_i32", |a, b| i(a) - i(b) != 0),
        ("s_cmp_gt_i32", |a, b| i(a) - i(b) > 0),
        ("s_cmp_ge_i32", |a, b| i(a) - i(b) >= 0),
        ("s_cmp_lt_i32", |a, b| i(a) - i(b) < 0),
        ("s_cmp_le_i32", |a, b| i(a) - i(b) <= 0),
        ("s_cmp_eq_u32", |a, b| u(a) - u(b) == 0),
        ("s_cmp_lg_u32", |a, b| u(a) - u(b) != 0),
        ("s_cmp_gt_u32", |a, b| u(a) - u(b) > 0),
        ("s_cmp_ge_u32", |a, b| u(a) - u(b) >= 0),
        ("s_cmp_lt_u32", |a, b| u(a) - u(b) < 0),
        ("s_cmp_le_u32", |a, b| u(a) - u(b) <= 0),
        ("s_bitcmp0_b32", |a, b| u(a) / power(b % 32) % 2 == 0),
        ("s_bitcmp1_b32", |a, b| u(a) / power(b % 32) % 2 == 1),
    ];
    for (name, holds) in cases {
        // `for_all` also varies SCC and the destination `d`. The test therefore checks, too, that the
        // comparison does not depend on them.
        compare(&format!("{name} s4, s6"), GFX6, |a, b| holds(a as u32, b as u32));
    }
    compare("s_bitcmp0_b64 s[4:5], s6", GFX6, |a, b| i128::from(a) / power(b as u32 % 64) % 2 == 0);
    compare("s_bitcmp1_b64 s[4:5], s6", GFX6, |a, b| i128::from(a) / power(b as u32 % 64) % 2 == 1);
    compare("s_cmp_eq_u64 s[4:5], s[6:7]", GFX8, |a, b| i128::from(a) - i128::from(b) == 0);
    compare("s_cmp_lg_u64 s[4:5], s[6:7]", GFX8, |a, b| i128::from(a) - i128::from(b) != 0);
}

fn compare(text: &str, from: &str, holds: impl Fn(u64, u64) -> bool) {
    super::for_all(text, from, |before, after| {
        let expected = holds(before.pair(4), before.pair(6));
        assert_eq!(after.scc, expected, "{text}: {:#x}, {:#x}", before.pair(4), before.pair(6));
        assert_eq!(after.pair(0), before.pair(0), "{text} writes SCC only");
    });
}

#[test]
fn constants() {
    for k in [0, 1, 0x7fff, -0x8000, -1i32] {
        for (name, holds) in [
            ("eq", (|a, k| a == k) as fn(i128, i128) -> bool),
            ("lg", |a, k| a != k),
            ("gt", |a, k| a > k),
            ("ge", |a, k| a >= k),
            ("lt", |a, k| a < k),
            ("le", |a, k| a <= k),
        ] {
            let k = i128::from(k);
            compare(&format!("s_cmpk_{name}_i32 s4, {k}"), GFX6, |a, _| holds(i(a as u32), k));
            let k = k & 0xffff;
            compare(&format!("s_cmpk_{name}_u32 s4, {k}"), GFX6, |a, _| holds(u(a as u32), k));
        }
        let k = i128::from(k);
        let expect = |text: String, value: &dyn Fn(u32, bool) -> (u32, bool)| {
            super::for_all(&text, GFX6, |before, after| {
                let expected = value(before.sgpr[0], before.scc);
                assert_eq!((after.sgpr[0], after.scc), expected, "{text}: {:#x}", before.sgpr[0]);
            });
        };
        expect(format!("s_movk_i32 s0, {k}"), &|_, scc| (k as u32, scc));
        expect(format!("s_cmovk_i32 s0, {k}"), &|d, scc| (if scc { k as u32 } else { d }, scc));
        expect(format!("s_addk_i32 s0, {k}"), &|d, _| signed(i(d) + k));
        expect(format!("s_mulk_i32 s0, {k}"), &|d, scc| ((i(d) * k) as u32, scc));
    }
}
