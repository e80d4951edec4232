//! All 2^32 numbers of `f32`.

use super::device::Bench;
use super::oracle::{self, BLOCK, Reference, Rotations};
use super::{Found, Worst};
use crate::math::functions::Function;
use crate::math::half;
use crate::math::run::Float;
use std::sync::atomic::{AtomicU32, Ordering};

/// Numbers that are computed at once.
const PART: usize = 1 << 20;

const PARTS: u32 = 4096;

/// How its values are had for a whole block.
fn reference(function: &Function) -> Reference {
    let f = function.alone;
    match function.name {
        "sin" | "half_sin" => Reference::Turning(f, |sin, _| sin),
        "cos" | "half_cos" => Reference::Turning(f, |_, cos| cos),
        "tan" | "half_tan" => Reference::Turning(f, |sin, cos| sin / cos),
        _ => Reference::Smooth(f),
    }
}

/// One thread's means.
struct Sweep<'a> {
    function: &'a Function,
    bench: Bench,
    out: Vec<u8>,
    expected: Vec<f64>,
    errors: Vec<f64>,
    turns: Rotations,
    worst: Worst,
}

/// Units between results and values: without branches, so that the loop is one of vectors. What is wrong in
/// kind is off by infinity.
fn errors(found: &[u8], expected: &[f64], errors: &mut [f64]) -> f64 {
    const EXPONENT: u64 = 0x7ff << 52;
    let (most, least, top) = (2f64.powi(128), 2f64.powi(-126), 2f64.powi(127));
    let mut worst = 0.0;
    for ((found, &exact), error) in found.chunks_exact(4).zip(expected).zip(errors.iter_mut()) {
        let found = f64::from(f32::from_le_bytes([found[0], found[1], found[2], found[3]]));
        let (found, exact) = (found.clamp(-most, most), exact.clamp(-most, most));
        let unit = f64::from_bits(exact.to_bits() & EXPONENT).max(least).min(top);
        let off = (found - exact).abs() / unit * 2f64.powi(23);
        let (no, none) = (found.is_nan(), exact.is_nan());
        let other = (found.to_bits() ^ exact.to_bits()) >> 63 != 0;
        *error = if no & none {
            0.0
        } else if no | none | other {
            f64::INFINITY
        } else {
            off
        };
        worst = if *error > worst { *error } else { worst };
    }
    worst
}

impl Sweep<'_> {
    /// The numbers of one part: blocks, and of what is worst there the exact error.
    fn part(&mut self, part: u32) {
        let base = part * PART as u32;
        self.bench.run(base, PART as u32, &mut self.out);
        let limit = self.function.limit(Float::F32) - 0.01;
        let how = reference(self.function);
        for block in 0..PART / BLOCK {
            let bits = base + (block * BLOCK) as u32;
            let found = &self.out[block * BLOCK * 4..][..BLOCK * 4];
            oracle::fill(how, &mut self.turns, bits, &mut self.expected);
            let worst = errors(found, &self.expected, &mut self.errors);
            if worst <= self.worst.error {
                continue;
            }
            // Those that may be beyond the limit or are wrong in kind, and the worst of the others.
            let mut largest = (0.0, 0);
            for k in 0..BLOCK {
                if self.errors[k] > largest.0 && self.errors[k] <= limit {
                    largest = (self.errors[k], k);
                } else if self.errors[k] > limit {
                    self.worst.take(self.function, Float::F32, (number(bits, k), 0.0), result(found, k));
                }
            }
            if largest.0 > self.worst.error {
                let k = largest.1;
                self.worst.take(self.function, Float::F32, (number(bits, k), 0.0), result(found, k));
            }
        }
    }
}

fn number(bits: u32, k: usize) -> f64 {
    f32::from_bits(bits + k as u32).into()
}

fn result(found: &[u8], k: usize) -> f64 {
    f64::from(f32::from_le_bytes(found[4 * k..4 * k + 4].try_into().unwrap()))
}

/// Where bits differ from those of a model.
pub fn same(model: fn(f32, f32) -> f32, object: &[u8], step: u32) -> Found {
    parts(step, |next| {
        let (mut bench, mut out) = (Bench::new(object, 4 * PART), vec![0; 4 * PART]);
        let mut worst = Worst::default();
        for part in next {
            let base = part * PART as u32;
            bench.run(base, PART as u32, &mut out);
            for (bits, found) in (base..=base + (PART as u32 - 1)).zip(out.chunks_exact(4)) {
                let found = f32::from_le_bytes([found[0], found[1], found[2], found[3]]);
                let wanted = model(f32::from_bits(bits), 0.0);
                if found.to_bits() != wanted.to_bits() && !(found.is_nan() && wanted.is_nan()) {
                    worst.wrong((number(bits, 0), 0.0), found.into(), wanted.into());
                }
            }
        }
        worst
    })
}

/// All pairs of halves: where the result is not the nearest half.
pub fn pairs(model: fn(f64, f64) -> f64, object: &[u8], step: u32) -> Found {
    let wide: Vec<f64> = (0..=u16::MAX).map(half::wide).collect();
    parts(step, |next| {
        let (mut bench, mut out) = (Bench::new(object, 2 * PART), vec![0; 2 * PART]);
        let mut worst = Worst::default();
        for part in next {
            let base = part * PART as u32;
            bench.run(base, PART as u32, &mut out);
            for (bits, found) in (base..=base + (PART as u32 - 1)).zip(out.chunks_exact(2)) {
                let found = wide[usize::from(u16::from_le_bytes([found[0], found[1]]))];
                let at = (wide[bits as usize & 0xffff], wide[bits as usize >> 16]);
                let wanted = half::nearest(model(at.0, at.1));
                if found.to_bits() != wanted.to_bits() && !(found.is_nan() && wanted.is_nan()) {
                    worst.wrong(at, found, wanted);
                }
            }
        }
        worst
    })
}

/// Work over every `step`th part, on all threads.
fn parts(step: u32, work: impl Fn(&mut dyn Iterator<Item = u32>) -> Worst + Sync) -> Found {
    let next = AtomicU32::new(0);
    let worst = super::on_all_threads(|| {
        let take = || Some(next.fetch_add(step, Ordering::Relaxed)).filter(|&part| part < PARTS);
        work(&mut std::iter::from_fn(take))
    });
    Found { worst, count: u64::from(PARTS.div_ceil(step)) * PART as u64 }
}

/// The worst error over all numbers, or over every `step`th part.
pub fn sweep(function: &Function, object: &[u8], step: u32) -> Found {
    parts(step, |next| {
        let mut sweep = Sweep {
            function,
            bench: Bench::new(object, 4 * PART),
            out: vec![0; 4 * PART],
            expected: vec![0.0; BLOCK],
            errors: vec![0.0; BLOCK],
            turns: Rotations::new(),
            worst: Worst::default(),
        };
        next.for_each(|part| sweep.part(part));
        sweep.worst
    })
}
