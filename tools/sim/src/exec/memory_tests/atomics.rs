//! Tests of atomics of every family (LDS, FLAT, GLOBAL, MUBUF, SMEM), with and without a result. The expected
//! values come from plain formulas.

use super::machine::Machine;
use crate::wave::reg;

/// A 32-bit operation: its name in memory instructions, its name in LDS instructions, and the function that
/// returns the new value for `(old, value)`.
type Operation = (&'static str, &'static str, fn(u32, u32) -> u32);
type WideOperation = (&'static str, &'static str, fn(u64, u64) -> u64);

const OPERATIONS: [Operation; 12] = [
    ("swap", "wrxchg_rtn_b32", |_, value| value),
    ("add", "add_rtn_u32", |old, value| old.wrapping_add(value)),
    ("sub", "sub_rtn_u32", |old, value| old.wrapping_sub(value)),
    ("smin", "min_rtn_i32", |old, value| (old as i32).min(value as i32) as u32),
    ("umin", "min_rtn_u32", |old, value| old.min(value)),
    ("smax", "max_rtn_i32", |old, value| (old as i32).max(value as i32) as u32),
    ("umax", "max_rtn_u32", |old, value| old.max(value)),
    ("and", "and_rtn_b32", |old, value| old & value),
    ("or", "or_rtn_b32", |old, value| old | value),
    ("xor", "xor_rtn_b32", |old, value| old ^ value),
    ("inc", "inc_rtn_u32", |old, value| if old >= value { 0 } else { old + 1 }),
    ("dec", "dec_rtn_u32", |old, value| if old == 0 || old > value { value } else { old - 1 }),
];

const WIDE_OPERATIONS: [WideOperation; 12] = [
    ("swap_x2", "wrxchg_rtn_b64", |_, value| value),
    ("add_x2", "add_rtn_u64", |old, value| old.wrapping_add(value)),
    ("sub_x2", "sub_rtn_u64", |old, value| old.wrapping_sub(value)),
    ("smin_x2", "min_rtn_i64", |old, value| (old as i64).min(value as i64) as u64),
    ("umin_x2", "min_rtn_u64", |old, value| old.min(value)),
    ("smax_x2", "max_rtn_i64", |old, value| (old as i64).max(value as i64) as u64),
    ("umax_x2", "max_rtn_u64", |old, value| old.max(value)),
    ("and_x2", "and_rtn_b64", |old, value| old & value),
    ("or_x2", "or_rtn_b64", |old, value| old | value),
    ("xor_x2", "xor_rtn_b64", |old, value| old ^ value),
    ("inc_x2", "inc_rtn_u64", |old, value| if old >= value { 0 } else { old + 1 }),
    ("dec_x2", "dec_rtn_u64", |old, value| if old == 0 || old > value { value } else { old - 1 }),
];

/// Returns a machine in which lane `l` uses the 8 bytes at offset `8 l`, in the buffer and in LDS. The
/// buffer's address is in `v[0:1]`; `s[8:11]` is a resource for the buffer, and `v8` is the offset for this
/// resource and for LDS.
fn machine(processor: &str, old: impl Fn(usize) -> u64, value: impl Fn(usize) -> u64) -> Machine {
    let mut machine = Machine::new(processor);
    let base = machine.buffer;
    machine.wave.sgpr[reg::M0] = !0;
    machine.v64(0, |lane| base + lane as u64 * 8).v(8, |lane| lane as u32 * 8);
    machine.v64(2, &value).s64(8, base).s64(10, 1024 | (3 << 28) << 32).s64(4, base);
    for lane in 0..64 {
        let words = [old(lane) as u32, (old(lane) >> 32) as u32];
        machine.fill(lane as u64 * 8, &words);
        machine.lds[lane * 2..lane * 2 + 2].copy_from_slice(&words);
    }
    machine
}

/// Values with both signs, in both orders, and with carries.
fn old(lane: usize) -> u64 {
    match lane {
        0 => 0,
        1 => !0,
        2 => 1 << 31,
        3 => 1 << 63,
        _ => (lane as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15),
    }
}

fn value(lane: usize) -> u64 {
    match lane % 5 {
        0 => old(lane),
        1 => old(lane).wrapping_add(1),
        2 => old(lane).wrapping_sub(1),
        _ => old(lane + 17),
    }
}

/// Runs an atomic, and checks the memory or LDS afterwards. If the atomic returns a result, also checks the
/// result in `v[4:5]`.
fn check(processor: &str, text: &str, wide: bool, change: &dyn Fn(u64, u64) -> u64) {
    let mut machine = machine(processor, old, value);
    if text.starts_with("buffer") {
        machine.v64(4, value);
    }
    machine.run(text);
    let returns = text.contains("glc") || text.contains("rtn");
    for lane in 0..64 {
        let (before, value) = (old(lane), value(lane));
        let whole = |low: u64| if wide { low } else { low & 0xffff_ffff | before & !0xffff_ffff };
        let wanted = whole(change(before, value));
        let got = match text.starts_with("ds_") {
            true => u64::from(machine.lds[lane * 2]) | u64::from(machine.lds[lane * 2 + 1]) << 32,
            false => {
                let at = lane as u64 * 8;
                u64::from(machine.word(at)) | u64::from(machine.word(at + 4)) << 32
            }
        };
        assert_eq!(got, wanted, "{processor}: {text}, lane {lane}: {before:#x} and {value:#x}");
        if returns {
            assert_eq!(machine.wave.vgpr[4][lane], before as u32, "{processor}: {text}, lane {lane}");
            let high = machine.wave.vgpr[5][lane];
            assert!(!wide || high == (before >> 32) as u32, "{processor}: {text}, lane {lane}");
        }
    }
}

#[test]
fn integers() {
    for (name, in_lds, change) in OPERATIONS {
        let change = |old: u64, value: u64| u64::from(change(old as u32, value as u32));
        for hints in ["", " glc"] {
            let result = if hints.is_empty() { "" } else { "v4, " };
            for processor in ["gfx700", "gfx803", "gfx906", "gfx1010"] {
                check(processor, &format!("flat_atomic_{name} {result}v[0:1], v2{hints}"), false, &change);
            }
            for processor in ["gfx900", "gfx1030"] {
                check(
                    processor,
                    &format!("global_atomic_{name} {result}v[0:1], v2, off{hints}"),
                    false,
                    &change,
                );
                check(
                    processor,
                    &format!("global_atomic_{name} {result}v8, v2, s[4:5]{hints}"),
                    false,
                    &change,
                );
            }
            for processor in ["gfx600", "gfx803", "gfx906", "gfx1030"] {
                let text = format!("buffer_atomic_{name} v4, v8, s[8:11], 0 offen{hints}");
                check(processor, &text, false, &change);
            }
        }
        for processor in ["gfx600", "gfx803", "gfx906", "gfx1030"] {
            check(processor, &format!("ds_{in_lds} v4, v8, v2"), false, &change);
            if name != "swap" {
                check(processor, &format!("ds_{} v8, v2", in_lds.replace("_rtn", "")), false, &change);
            }
        }
    }
}

#[test]
fn wide_integers() {
    for (name, in_lds, change) in WIDE_OPERATIONS {
        for processor in ["gfx700", "gfx906", "gfx1010"] {
            check(processor, &format!("flat_atomic_{name} v[4:5], v[0:1], v[2:3] glc"), true, &change);
            check(processor, &format!("flat_atomic_{name} v[0:1], v[2:3]"), true, &change);
            check(
                processor,
                &format!("buffer_atomic_{name} v[4:5], v8, s[8:11], 0 offen glc"),
                true,
                &change,
            );
            check(processor, &format!("ds_{in_lds} v[4:5], v8, v[2:3]"), true, &change);
        }
    }
}

/// Runs an instruction with the given values in `v[2:3]` and `v[4:5]`. Returns the 8 bytes of lane 0 and the
/// value of `v[4:5]` afterwards.
fn one(processor: &str, before: u64, v2: u64, v4: u64, text: &str) -> (u64, u64) {
    let mut machine = machine(processor, |_| before, |_| v2);
    machine.v64(4, |_| v4).exec(1).run(text);
    let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    (pair(machine.word(0), machine.word(4)), pair(machine.wave.vgpr[4][0], machine.wave.vgpr[5][0]))
}

#[test]
fn compare_and_swap() {
    // The data operand has the new value first, followed by the comparison value.
    let swap = "global_atomic_cmpswap v4, v[0:1], v[2:3], off glc";
    assert_eq!(one("gfx906", 7, 9 | 7 << 32, 0, swap), (9, 7));
    assert_eq!(one("gfx906", 7, 9 | 8 << 32, 0, swap), (7, 7));
    let wide = "flat_atomic_cmpswap_x2 v[4:5], v[0:1], v[2:5] glc";
    assert_eq!(one("gfx906", 1 << 40, 5, 1 << 40, wide), (5, 1 << 40));
    assert_eq!(one("gfx906", 1 << 40, 5, 0, wide), (1 << 40, 1 << 40));
    let float = "buffer_atomic_fcmpswap v[2:3], v8, s[8:11], 0 offen";
    let minus_zero = u64::from((-0f32).to_bits());
    assert_eq!(one("gfx1010", minus_zero, 5, 0, float).0, 5, "-0 is 0");
    let nan = u64::from(f32::NAN.to_bits());
    assert_eq!(one("gfx1010", nan, 5 | nan << 32, 0, float).0, nan, "NaN is nothing's equal");
}

#[test]
fn floats() {
    let f = |value: f32| u64::from(value.to_bits());
    let sum = "global_atomic_add_f32 v[0:1], v2, off";
    assert_eq!(one("gfx908", f(1.5), f(2.0), 0, sum).0, f(3.5));
    assert_eq!(one("gfx908", 1, f(0.0), 0, sum).0, 0, "no denormals in memory");
    let returning = "global_atomic_add_f32 v4, v[0:1], v2, off glc";
    assert_eq!(one("gfx90a", f(1.5), f(2.0), 0, returning), (f(3.5), f(1.5)));
    let halves = "buffer_atomic_pk_add_f16 v2, v8, s[8:11], 0 offen";
    assert_eq!(one("gfx908", 0x3c00_4000, 0x3c00_3c00, 0, halves).0, 0x4000_4200, "1 + 1, 2 + 1");
    let d = f64::to_bits;
    assert_eq!(one("gfx90a", d(1.5), d(2.0), 0, "flat_atomic_add_f64 v[0:1], v[2:3]").0, d(3.5));
    assert_eq!(one("gfx90a", d(1.5), d(-2.0), 0, "flat_atomic_min_f64 v[0:1], v[2:3]").0, d(-2.0));
    assert_eq!(one("gfx90a", d(1.5), d(2.0), 0, "global_atomic_max_f64 v[0:1], v[2:3], off").0, d(2.0));
    assert_eq!(one("gfx700", f(1.5), f(-2.0), 0, "flat_atomic_fmin v[0:1], v2").0, f(-2.0));
    assert_eq!(one("gfx1030", d(1.5), d(2.0), 0, "global_atomic_fmax_x2 v[0:1], v[2:3], off").0, d(2.0));
    let clamped = "global_atomic_csub v4, v[0:1], v2, off glc";
    assert_eq!(one("gfx1030", 7, 5, 0, clamped), (2, 7));
    assert_eq!(one("gfx1030", 5, 7, 0, clamped), (0, 5));
}
