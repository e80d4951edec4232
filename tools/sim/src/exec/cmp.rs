//! Vector compare instructions. `v_cmp_*` writes the results as a lane mask, and `v_cmpx_*` also writes this
//! mask to EXEC.

use super::valu::{Source, Value, collect_mask, fetch, value, write_mask};
use super::{Cx, Flow, Handler};
use crate::float::Ieee;
use crate::op::Op;
use crate::wave::Lanes;
use half::f16;
use std::marker::PhantomData;

/// Names of the sixteen float conditions in the order of the opcodes. Each of four bits of an opcode stands
/// for one case in which the condition holds: less (bit 0), equal (bit 1), greater (bit 2), unordered (bit
/// 3).
const FLOAT_CONDITIONS: [&str; 16] =
    ["f", "lt", "eq", "le", "gt", "lg", "ge", "o", "u", "nge", "nlg", "ngt", "nle", "neq", "nlt", "tru"];
/// Names of the eight integer conditions in the order of the opcodes, from false (`f`) to true (`t`).
const INT_CONDITIONS: [&str; 8] = ["f", "lt", "eq", "le", "gt", "ne", "ge", "t"];

pub(super) fn handler(name: &str) -> Option<Handler> {
    // The names of some instructions have an additional `s` (`v_cmps_`, `v_cmpsx_`). On the hardware, such an
    // instruction raises an exception also if a source is a quiet NaN.
    let starts = [("v_cmpx_", true), ("v_cmpsx_", true), ("v_cmp_", false), ("v_cmps_", false)];
    let start = |(start, exec): (&str, bool)| name.strip_prefix(start).map(|rest| (rest, exec));
    let (rest, writes_exec) = starts.into_iter().find_map(start)?;
    let (condition, ty) = rest.rsplit_once('_')?;
    if condition == "class" {
        return class_handler(ty, writes_exec);
    }
    let find = |names: &[&str]| names.iter().position(|known| *known == condition);
    if ty.starts_with('f') {
        let condition = find(&FLOAT_CONDITIONS)?;
        match ty {
            "f16" => pick::<f16>(condition, writes_exec),
            "f32" => pick::<f32>(condition, writes_exec),
            "f64" => pick::<f64>(condition, writes_exec),
            _ => None,
        }
    } else {
        let condition = find(&INT_CONDITIONS)?;
        match ty {
            "i16" => pick::<i16>(condition, writes_exec),
            "u16" => pick::<u16>(condition, writes_exec),
            "i32" => pick::<i32>(condition, writes_exec),
            "u32" => pick::<u32>(condition, writes_exec),
            "i64" => pick::<i64>(condition, writes_exec),
            "u64" => pick::<u64>(condition, writes_exec),
            _ => None,
        }
    }
}

fn pick<T: Value + PartialOrd>(condition: usize, writes_exec: bool) -> Option<Handler> {
    macro_rules! table {
        ($($n:literal)*) => {
            match (condition, writes_exec) {
                $(($n, false) => compare::<T, $n, false> as Handler,
                ($n, true) => compare::<T, $n, true> as Handler,)*
                _ => return None,
            }
        };
    }
    Some(table!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15))
}

/// The relations (such as "less than") are named functions, so that instructions whose conditions have the
/// same relation share one compiled loop. The relation `a < b || a > b` is not the same as `a != b`, because
/// it is false if one of the values is a NaN.
#[allow(clippy::double_comparisons)]
mod relations {
    pub(super) fn less<T: PartialOrd>(a: T, b: T) -> bool {
        a < b
    }
    pub(super) fn equal<T: PartialOrd>(a: T, b: T) -> bool {
        a == b
    }
    pub(super) fn at_most<T: PartialOrd>(a: T, b: T) -> bool {
        a <= b
    }
    pub(super) fn greater<T: PartialOrd>(a: T, b: T) -> bool {
        a > b
    }
    pub(super) fn apart<T: PartialOrd>(a: T, b: T) -> bool {
        a < b || a > b
    }
    pub(super) fn at_least<T: PartialOrd>(a: T, b: T) -> bool {
        a >= b
    }
    pub(super) fn ordered<T: PartialOrd>(a: T, b: T) -> bool {
        a <= b || a > b
    }
}

fn compare<T: Value + PartialOrd, const CONDITION: u8, const EXEC: bool>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // Condition number `15 - n` is the negation of condition number `n`. The conditions from 8 on are
    // therefore computed as negations of those below 8.
    let holds = match if CONDITION < 8 { CONDITION } else { 15 - CONDITION } {
        0 => 0,
        1 => lanes_where(cx, op, relations::less::<T>),
        2 => lanes_where(cx, op, relations::equal::<T>),
        3 => lanes_where(cx, op, relations::at_most::<T>),
        4 => lanes_where(cx, op, relations::greater::<T>),
        5 => lanes_where(cx, op, relations::apart::<T>),
        6 => lanes_where(cx, op, relations::at_least::<T>),
        _ => lanes_where(cx, op, relations::ordered::<T>),
    };
    conclude::<EXEC>(cx, op, if CONDITION < 8 { holds } else { !holds })
}

/// Returns the mask of the lanes for whose values the relation holds.
#[inline(never)]
fn lanes_where<T: Value>(cx: &mut Cx<'_>, op: &Op, related: impl Fn(T, T) -> bool) -> u64 {
    let [a, b, ..] = &mut cx.scratch.sources;
    let a = fetch::<T>(cx.wave, op, 0, a);
    let b = fetch::<T>(cx.wave, op, 1, b);
    cx.wave.arch.dispatch(Comparison { a, b, related, ty: PhantomData })
}

/// The comparison that one instruction makes in all lanes. It is a type that implements
/// [`EachLane`](super::valu::EachLane) and not a closure, because a closure cannot be marked
/// `#[inline(always)]`.
struct Comparison<'a, T, F> {
    a: Source<'a>,
    b: Source<'a>,
    related: F,
    ty: PhantomData<T>,
}

impl<T: Value, F: Fn(T, T) -> bool> pulp::WithSimd for Comparison<'_, T, F> {
    type Output = u64;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> u64 {
        let mut flags: Lanes = [0; 64];
        for (lane, flag) in flags.iter_mut().enumerate() {
            *flag = u32::from((self.related)(value(&self.a, lane), value(&self.b, lane)));
        }
        collect_mask(&flags)
    }
}

fn conclude<const EXEC: bool>(cx: &mut Cx<'_>, op: &Op, mask: u64) -> Flow {
    let mask = mask & cx.wave.exec();
    write_mask(cx.wave, op.dst, mask);
    if EXEC {
        cx.wave.set_exec(mask);
    }
    Flow::Next
}

fn class_handler(ty: &str, writes_exec: bool) -> Option<Handler> {
    Some(match (ty, writes_exec) {
        ("f32", false) => class::<f32, false>,
        ("f32", true) => class::<f32, true>,
        ("f64", false) => class::<f64, false>,
        ("f64", true) => class::<f64, true>,
        ("f16", false) => class16::<false>,
        ("f16", true) => class16::<true>,
        _ => return None,
    })
}

/// Returns the bit that stands for the class of a value in the class mask of `v_cmp_class`. The classes, from
/// bit 0 on, are signalling NaN, quiet NaN, -inf, -normal, -denormal, -0, and then +0, +denormal, +normal,
/// +inf.
fn class_bit<T: Ieee>(value: T) -> u32 {
    let kind = match value {
        value if value.signalling() => return 1,
        value if value.nan() => return 2,
        value if value.infinite() => 0,
        value if value.zero() => 3,
        value if value.denormal() => 2,
        _ => 1,
    };
    if value.negative() { 4 << kind } else { 1 << (9 - kind) }
}

fn class<T: Value + Ieee, const EXEC: bool>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    classify::<T, EXEC>(cx, op, class_bit::<T>)
}

fn class16<const EXEC: bool>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    classify::<f16, EXEC>(cx, op, |value| {
        // An f16 is converted to f32 before its class is found. Most values have the same class in both
        // formats. The exceptions are NaNs, and denormals, which are normal numbers as f32.
        match value.to_bits() {
            bits if bits & 0x7fff > 0x7c00 => 1 + u32::from(bits >> 9 & 1),
            bits if bits & 0x7c00 == 0 && bits & 0x3ff != 0 => {
                if bits >> 15 != 0 {
                    1 << 4
                } else {
                    1 << 7
                }
            }
            _ => class_bit(f32::from(value)),
        }
    })
}

fn classify<T: Value, const EXEC: bool>(cx: &mut Cx<'_>, op: &Op, bit: impl Fn(T) -> u32) -> Flow {
    let [a, b, ..] = &mut cx.scratch.sources;
    let a: Source<'_> = fetch::<T>(cx.wave, op, 0, a);
    let b = fetch::<u32>(cx.wave, op, 1, b);
    let mask = (0..64).fold(0, |mask, lane| {
        let hit = bit(T::from_words(a[0][lane], a[1][lane])) & b[0][lane] != 0;
        mask | u64::from(hit) << lane
    });
    conclude::<EXEC>(cx, op, mask)
}

#[cfg(test)]
mod tests {
    use super::relations::*;
    use super::*;

    #[test]
    fn classes() {
        let values = [
            (f32::from_bits(0x7f80_0001), 0),
            (f32::NAN, 1),
            (f32::NEG_INFINITY, 2),
            (-1.0, 3),
            (-1e-40, 4),
            (-0.0, 5),
            (0.0, 6),
            (1e-40, 7),
            (1.0, 8),
            (f32::INFINITY, 9),
        ];
        for (value, bit) in values {
            assert_eq!(class_bit(value), 1 << bit, "{value}");
        }
    }

    #[test]
    fn nothing_is_related_to_a_nan() {
        let nan = f32::NAN;
        for related in [less, equal, at_most, greater, apart, at_least, ordered] {
            assert!(!related(nan, 1.0) && !related(1.0, nan) && !related(nan, nan));
        }
        assert!(ordered(1.0, 1.0) && ordered(2.0, 1.0) && !apart(2.0, 2.0) && at_least(2.0, 2.0));
    }
}
