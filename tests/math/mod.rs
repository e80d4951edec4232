//! Mathematical functions against values of twice the precision: the worst error of each, beside OpenCL's limit.
//!
//! Special values, and numbers of all sizes, are computed by code for one processor; a sample of them by code for all
//! generations at both levels, and by the interpreter, with the same bits. `sweep` is the long run: all numbers of `f32`
//! for functions of one, ten million elsewhere. `KERNC_MATH_ONLY=erf,pow` takes these functions.

mod clang;
mod coarse;
mod exact;
mod functions;
mod half;
mod rough;
mod run;
mod same;
mod sweep;

use exact::Scaled;
use functions::{FUNCTIONS, Function, Second};
use kernc::{OptLevel, sim::Mode};
use run::{Float, compiled, emulated, executed, kernel};

const PROCESSORS: [&str; 7] = ["gfx600", "gfx700", "gfx803", "gfx906", "gfx90a", "gfx1010", "gfx1030"];

/// Numbers that are easily got wrong.
fn edges(ty: Float) -> Vec<f64> {
    let (max, normal, least, ulp) = match ty {
        Float::F32 => {
            (f32::MAX.into(), f32::MIN_POSITIVE.into(), f32::from_bits(1).into(), f32::EPSILON.into())
        }
        Float::F64 => (f64::MAX, f64::MIN_POSITIVE, f64::from_bits(1), f64::EPSILON),
    };
    let some = [
        0.0,
        1.0,
        2.0,
        3.0,
        0.5,
        1.5,
        2.5,
        0.25,
        0.75,
        10.0,
        100.0,
        1e10,
        4.0,
        5.0,
        170.5,
        27.5,
        89.0,
        710.0,
        746.0,
        f64::INFINITY,
        f64::NAN,
        max,
        max / 2.0,
        normal,
        least,
        3.0 * least,
        1e-20,
        1e-10,
        1e30,
        1.0 + ulp,
        1.0 - ulp,
        1.0 - ulp / 2.0,
        normal - least,
        std::f64::consts::FRAC_PI_2,
        std::f64::consts::PI,
        11.0,
        22.0,
        355.0,
        0.707_106_77,
        16_777_216.0,
        2_147_483_648.0,
        1_073_741_824.0,
        1_073_741_825.0,
        33.0,
        0.34657359,
        104.0,
        // Where of all f64 least is left of an angle (Muller et al., Handbook, 11.4), and of f32.
        5.319_372_648_326_541e255,
        16_367_173.0 * 2f64.powi(72),
    ];
    let all = some.into_iter().flat_map(|x| [x, -x]);
    all.map(|x| if ty == Float::F32 { f64::from(x as f32) } else { x }).collect()
}

/// Numbers without end, the same ones for a seed every time (Marsaglia's xorshift64).
fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15u64.wrapping_mul(2 * seed + 1);
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

/// Edges; numbers of the interval, of all sizes, and close to 1.
fn arguments(function: &Function, ty: Float, count: usize, seed: u64) -> Vec<(f64, f64)> {
    let mut next = random(seed);
    let some = edges(ty);
    let mut all: Vec<(f64, f64)> = match function.second {
        Second::None => some.iter().map(|&x| (x, 0.0)).collect(),
        Second::Float => some.iter().flat_map(|&x| some.iter().map(move |&y| (x, y))).collect(),
        Second::Int => some.iter().flat_map(|&x| INTS.iter().map(move |&n| (x, f64::from(n)))).collect(),
    };
    let unit = |bits: u64| (bits >> 11) as f64 / 2f64.powi(53);
    let mut number = || match next() % 8 {
        0..=3 => function.from + (function.to - function.from) * unit(next()),
        4 if ty == Float::F32 => f32::from_bits(next() as u32).into(),
        4 => f64::from_bits(next()),
        5 => 1.0 + (unit(next()) - 0.5) * 2f64.powi(-((next() % 40) as i32)),
        _ => (unit(next()) - 0.5) * 2f64.powi((next() % 80) as i32 - 60),
    };
    while all.len() < count {
        let (x, y) = (number(), number());
        let y = match function.second {
            Second::Int => (y * 3.0).trunc().clamp(-2147483648.0, 2147483647.0),
            _ => y,
        };
        all.push((x, y));
    }
    all.resize(all.len().next_multiple_of(64), (0.5, 1.0));
    if ty == Float::F32 {
        let narrow = |y: f64| if function.second == Second::Int { y } else { f64::from(y as f32) };
        all.iter_mut().for_each(|(x, y)| (*x, *y) = (f64::from(*x as f32), narrow(*y)));
    }
    all.iter_mut()
        .filter(|pair| pair.1.is_nan() && function.second == Second::Int)
        .for_each(|pair| pair.1 = 7.0);
    all
}

const INTS: [i32; 12] = [0, 1, -1, 2, -2, 3, -3, 7, 16, -1001, i32::MAX, i32::MIN];

/// Units in the last place between a result and the exact value.
fn ulps(ty: Float, found: f64, Scaled(exact, e): Scaled) -> f64 {
    let (digits, least, most) = match ty {
        Float::F32 => (24, -149, 128),
        Float::F64 => (53, -1074, 1024),
    };
    let exponent = libm::frexp(exact.0).1 + e;
    let unit = (exponent - digits).clamp(least, most - digits);
    // What is larger than all numbers is infinity, the neighbour of the largest one.
    let beyond = |sign: f64| Scaled(1f64.copysign(sign).into(), most);
    let exact = if exponent > most { beyond(exact.0) } else { Scaled(exact, e) };
    let found = if found.is_infinite() { beyond(found) } else { Scaled(found.into(), 0) };
    let units = |Scaled(x, e): Scaled| {
        let half = (e - unit) / 2;
        let by = |x: f64| libm::scalbn(libm::scalbn(x, half), e - unit - half);
        exact::Pair(by(x.0), by(x.1))
    };
    (units(found) - units(exact)).0.abs()
}

/// The error of one result; `None` if it is wrong in kind. `quick`: of `f32`, against the double that `libm` has.
fn error(function: &Function, ty: Float, quick: bool, (x, y): (f64, f64), found: f64) -> Option<f64> {
    if function.is_coarse() {
        return coarse::error(function, (x, y), found);
    }
    let model = (function.libm)(x, y);
    if model.is_nan() || found.is_nan() {
        return (model.is_nan() && found.is_nan()).then_some(0.0);
    }
    let special =
        !x.is_finite() || x == 0.0 || function.second != Second::None && (!y.is_finite() || y == 0.0);
    let narrow = if ty == Float::F32 { f64::from(model as f32) } else { model };
    if (special || model == 0.0 || model.is_infinite()) && found.to_bits() == narrow.to_bits() {
        return Some(0.0);
    }
    if special && (model == 0.0 || model.is_infinite())
        || found.is_sign_negative() != model.is_sign_negative()
    {
        return None;
    }
    if quick || special || model == 1.0 && found == 1.0 {
        return Some(ulps(ty, found, Scaled(model.into(), 0)));
    }
    Some(ulps(ty, found, (function.exact)(x, y)))
}

/// The worst error, and where.
fn worst(function: &Function, ty: Float, quick: bool, args: &[(f64, f64)], found: &[f64]) -> (f64, f64, f64) {
    let mut worst = (0.0, 0.0, 0.0);
    for (&(x, y), &found) in args.iter().zip(found) {
        let Some(error) = error(function, ty, quick, (x, y), found) else {
            let wanted = (function.libm)(x, y);
            panic!("{} of {ty:?} {x:e} ({x:?}), {y:?}: {found:?}, not {wanted:?}", function.name);
        };
        if error.is_nan() || error > worst.0 {
            worst = (error, x, y);
        }
    }
    worst
}

fn expression(function: &Function) -> String {
    format!("{}(a{})", function.name, if function.second == Second::None { "" } else { ", b" })
}

fn second(function: &Function, ty: Float) -> &'static str {
    if function.second == Second::Int { "i32" } else { ty.name() }
}

fn inputs(function: &Function, ty: Float, args: &[(f64, f64)]) -> [(&'static str, Vec<u8>); 2] {
    let (x, y): (Vec<f64>, Vec<f64>) = args.iter().copied().unzip();
    let second = match function.second {
        Second::Int => y.iter().flat_map(|&y| (y as i32).to_le_bytes()).collect(),
        _ => ty.bytes(&y),
    };
    [("x", ty.bytes(&x)), ("y", second)]
}

fn chosen() -> impl Iterator<Item = &'static Function> {
    let only = std::env::var("KERNC_MATH_ONLY").ok();
    FUNCTIONS
        .iter()
        .filter(move |f| only.as_ref().is_none_or(|only| only.split(',').any(|name| name == f.name)))
}

fn full() -> bool {
    std::env::var("KERNC_MATH").is_ok_and(|value| value == "full")
}

/// The worst error of a sample.
fn worst_of_some(function: &Function, ty: Float) -> (f64, f64, f64) {
    let args = arguments(function, ty, 20_000, 0);
    let source = kernel(&expression(function), ty, second(function, ty));
    let object = compiled(&source, "gfx906", OptLevel::O2);
    let (inputs, bytes) = (inputs(function, ty, &args), args.len() * ty.size());
    let out = ty.read(&executed(&object, Mode::Fast, &inputs, args.len(), bytes).0);
    worst(function, ty, false, &args, &out)
}

fn check(ty: Float) {
    let mut bad = Vec::new();
    for function in chosen() {
        let (error, x, y) = worst_of_some(function, ty);
        let limit = function.limit(ty);
        println!("{:10} {}  worst {error:8.3} ulp of {limit:4} at {x:?} {y:?}", function.name, ty.name());
        if error.is_nan() || error > limit {
            bad.push(function.name);
        }
    }
    assert!(bad.is_empty(), "beyond the limit: {bad:?}");
}

#[test]
fn f32_within_limits() {
    check(Float::F32);
}

#[test]
fn f64_within_limits() {
    check(Float::F64);
}

/// NaN has one meaning, whatever its bits.
fn same(ty: Float, a: &[u8], b: &[u8]) -> bool {
    let (a, b) = (ty.read(a), ty.read(b));
    a.iter().zip(&b).all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan())
}

fn same_everywhere(ty: Float) {
    for function in chosen() {
        let args = arguments(function, ty, 256, 0);
        let args: Vec<_> = args.iter().copied().step_by((args.len() / 256).max(1)).take(256).collect();
        let source = kernel(&expression(function), ty, second(function, ty));
        let (inputs, size) = (inputs(function, ty, &args), 256 * ty.size());
        let mut first: Option<Vec<u8>> = None;
        let mut agree = |how: String, out: Vec<u8>| {
            let first = first.get_or_insert_with(|| out.clone());
            assert!(same(ty, first, &out), "{how}: {} of {ty:?}", function.name);
        };
        for (how, out) in crate::harness::run_bytes(&source, 256, &inputs, size) {
            agree(how, out);
        }
        for processor in PROCESSORS {
            for how in [(processor, OptLevel::O0, Mode::Fast), (processor, OptLevel::O2, Mode::STRICT)] {
                agree(format!("{how:?}"), emulated(&source, how, &inputs, 256, size));
            }
        }
    }
}

#[test]
fn f32_same_everywhere() {
    same_everywhere(Float::F32);
}

#[test]
fn f64_same_everywhere() {
    same_everywhere(Float::F64);
}
