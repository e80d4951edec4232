//! Ten million arguments of functions of two numbers, and of those of `f64`.
//!
//! A result is compared with `libm`'s of `f64` first. The exact value, in pairs of `f64`, is computed where that comparison says
//! that the error may be larger than the worst so far: where `libm` is off by less than [`SLACK`].

use super::device::Bench;
use super::{Found, Worst};
use crate::math::functions::{Function, Second};
use crate::math::run::Float;
use crate::math::{arguments, error};
use std::sync::atomic::{AtomicU32, Ordering};

/// Arguments that are computed at once, and how often.
const PART: usize = 1 << 18;
const PARTS: u32 = 40;

/// Units of the result that `libm` may be off, of `f32` and `f64`.
const SLACK: [f64; 2] = [0.01, 1.0];

/// The arguments of a part, and those next to where functions are hard.
fn numbers(function: &Function, ty: Float, part: u32) -> Vec<(f64, f64)> {
    let mut all = arguments(function, ty, PART, u64::from(part) + 100);
    all.truncate(PART);
    if ty == Float::F64 && part == 0 && function.second == Second::None {
        let hard = super::hard::numbers();
        let start = PART - hard.len();
        all[start..].iter_mut().zip(hard).for_each(|(place, x)| *place = (x, 0.0));
    }
    all
}

pub fn bytes(second: Second, ty: Float, args: &[(f64, f64)]) -> [Vec<u8>; 2] {
    let (x, y): (Vec<f64>, Vec<f64>) = args.iter().copied().unzip();
    let second = match second {
        Second::Int => y.iter().flat_map(|&y| (y as i32).to_le_bytes()).collect(),
        _ => ty.bytes(&y),
    };
    [ty.bytes(&x), second]
}

/// Runs a kernel of pairs over these.
pub fn run(bench: &mut Bench, (second, ty): (Second, Float), args: &[(f64, f64)]) -> Vec<u8> {
    let [x, y] = bytes(second, ty, args);
    bench.put(0, &x);
    bench.put(1, &y);
    let mut out = vec![0; args.len() * ty.size()];
    bench.run(0, args.len() as u32, &mut out);
    out
}

/// Each part on one of the threads.
fn parts(ty: Float, object: &[u8], part: impl Fn(&mut Bench, &mut Worst, u32) + Sync) -> Found {
    let next = AtomicU32::new(0);
    let worst = super::on_all_threads(|| {
        let (mut bench, mut worst) = (Bench::new(object, PART * ty.size()), Worst::default());
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= PARTS {
                return worst;
            }
            part(&mut bench, &mut worst, number);
        }
    });
    Found { worst, count: PART as u64 * u64::from(PARTS) }
}

/// The worst error in units in the last place.
pub fn sweep(function: &Function, ty: Float, object: &[u8]) -> Found {
    // `libm` is off by some units there.
    let slack = if function.name.ends_with("gamma") { 16.0 * SLACK[ty as usize] } else { SLACK[ty as usize] };
    parts(ty, object, |bench, worst, part| {
        let args = numbers(function, ty, part);
        let out = run(bench, (function.second, ty), &args);
        for (&at, found) in args.iter().zip(ty.read(&out)) {
            // Next to its zeros the result is what little is left, and OpenCL has no limit.
            if function.name == "lgamma" && at.0 < 0.0 {
                continue;
            }
            let near = error(function, ty, true, at, found);
            // The same number as `libm`'s is off by no more than `libm` is.
            if near.is_none_or(|near| near != 0.0 && near + slack > worst.error) {
                worst.take(function, ty, at, found);
            }
        }
    })
}

/// Where bits differ: all numbers, of all sizes.
pub fn same(wide: fn(f64, f64) -> f64, narrow: fn(f32, f32) -> f32, ty: Float, object: &[u8]) -> Found {
    parts(ty, object, |bench, worst, part| {
        let args = anything(ty, part);
        let out = run(bench, (Second::Float, ty), &args);
        for (&(x, y), found) in args.iter().zip(ty.read(&out)) {
            let wanted = if ty == Float::F64 { wide(x, y) } else { narrow(x as f32, y as f32).into() };
            if found.to_bits() != wanted.to_bits() && !(found.is_nan() && wanted.is_nan()) {
                worst.wrong((x, y), found, wanted);
            }
        }
    })
}

/// Any bits, and those whose exponents are close. NaN is quiet: `fmax`, which `maxmag` is where sizes are the same, may hand
/// on or drop a signalling one (C23, F.10.9.2; OpenCL says nothing), and an `f32` that was an `f64` is quiet anyway.
fn anything(ty: Float, part: u32) -> Vec<(f64, f64)> {
    let mut next = crate::math::random(u64::from(part) + 500);
    let mut number = || {
        let bits = next();
        let near = bits & 1 == 0;
        match ty {
            Float::F32 if near => f32::from_bits(bits as u32 >> 1 & 0x87ff_ffff | 0x3c00_0000).into(),
            Float::F32 => f64::from(f32::from_bits((bits >> 16) as u32)),
            Float::F64 if near => f64::from_bits(bits & 0x807f_ffff_ffff_ffff | 0x3f80_0000_0000_0000),
            Float::F64 => f64::from_bits(bits.rotate_left(7)),
        }
    };
    let quiet = |x: f64| if x.is_nan() { f64::NAN.copysign(x) } else { x };
    (0..PART).map(|_| (quiet(number()), quiet(number()))).collect()
}
