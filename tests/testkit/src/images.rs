//! Kernels over two-dimensional arrays.

use crate::data::{Arg, Case, Data, Expected, Rng, Sum, near, round_up};

/// Returns grids for an image: exactly as many work-items as pixels, and whole groups.
fn grids(w: usize, h: usize, group: [usize; 2]) -> [[u32; 3]; 2] {
    [[w as u32, h as u32, 1], [round_up(w, group[0]), round_up(h, group[1]), 1]]
}

pub(crate) fn conv3x3() -> Vec<Case> {
    let mut cases = Vec::new();
    for (w, h) in [(1, 1), (16, 16), (37, 21), (5, 40)] {
        let mut rng = Rng::new((w * h) as u64);
        let (image, weights) = (rng.floats(w * h), rng.floats(9));
        let mut sums = vec![Sum::default(); w * h];
        for y in 0..h {
            for x in 0..w {
                for (at, weight) in weights.iter().enumerate() {
                    let (sx, sy) = ((x + at % 3).wrapping_sub(1), (y + at / 3).wrapping_sub(1));
                    if sx < w && sy < h {
                        sums[y * w + x].add(f64::from(image[sy * w + sx]) * f64::from(*weight));
                    }
                }
            }
        }
        for grid in grids(w, h, [16, 16]) {
            let args = vec![
                Arg::input("in", Data::F32(image.clone())),
                Arg::input("wt", Data::F32(weights.clone())),
                Arg::output("out", Data::F32(vec![7.0; w * h]), near(&sums, 10.0)),
                Arg::int("w", w),
                Arg::int("h", h),
            ];
            cases.push(Case { grid, args });
        }
    }
    cases
}

/// A stencil of five points, which leaves the border unchanged.
pub(crate) fn stencil5() -> Vec<Case> {
    let mut cases = Vec::new();
    for (w, h) in [(3, 3), (32, 8), (50, 19), (2, 9)] {
        let values = Rng::new((w * h) as u64).floats(w * h);
        let at = |x: usize, y: usize| f64::from(values[y * w + x]);
        let (c0, c1) = (0.5f32, 0.125f32);
        let mut sums = vec![Sum { value: 3.0, scale: 0.0 }; w * h];
        for y in 1..h.saturating_sub(1) {
            for x in 1..w.saturating_sub(1) {
                let mut sum = Sum::default();
                sum.add(f64::from(c0) * at(x, y));
                for neighbour in [at(x - 1, y), at(x + 1, y), at(x, y - 1), at(x, y + 1)] {
                    sum.add(f64::from(c1) * neighbour);
                }
                sums[y * w + x] = sum;
            }
        }
        for grid in grids(w, h, [32, 8]) {
            let args = vec![
                Arg::input("in", Data::F32(values.clone())),
                Arg::output("out", Data::F32(vec![3.0; w * h]), near(&sums, 6.0)),
                Arg::int("w", w),
                Arg::int("h", h),
                Arg::float("c0", c0),
                Arg::float("c1", c1),
            ];
            cases.push(Case { grid, args });
        }
    }
    cases
}

/// Transposition; groups of 32 by 8 work-items move tiles of 32 by 32 elements.
pub(crate) fn transpose() -> Vec<Case> {
    let case = |(w, h): (usize, usize)| {
        let values = Rng::new((w * h) as u64).floats(w * h);
        let mut turned = vec![0.0; w * h];
        for y in 0..h {
            for x in 0..w {
                turned[x * h + y] = values[y * w + x];
            }
        }
        let args = vec![
            Arg::input("in", Data::F32(values)),
            Arg::output("out", Data::F32(vec![0.0; w * h]), Expected::Exactly(Data::F32(turned))),
            Arg::int("w", w),
            Arg::int("h", h),
        ];
        Case { grid: [w.div_ceil(32) as u32 * 32, h.div_ceil(32) as u32 * 8, 1], args }
    };
    [(32, 32), (1, 1), (33, 70), (100, 31)].map(case).into()
}

/// Returns the number of iterations until escape. `step` has the precision and the contractions of one
/// possible compiler.
fn escape_time(c: (f64, f64), limit: i32, step: impl Fn((f64, f64), (f64, f64)) -> ((f64, f64), f64)) -> i32 {
    let mut z = (0.0, 0.0);
    for count in 0..limit {
        let (next, magnitude) = step(z, c);
        if magnitude >= 4.0 || magnitude.is_nan() {
            return count;
        }
        z = next;
    }
    limit
}

/// The iteration limits are small, so that the contraction of products and sums matters little. Where it
/// matters, the result of each contraction is accepted.
pub(crate) fn mandelbrot() -> Vec<Case> {
    let mut cases = Vec::new();
    for (w, h, limit) in [(16, 16, 20), (45, 30, 40), (1, 3, 100)] {
        let (x0, y0, dx, dy) = (-2.0f32, -1.25f32, 3.0 / w as f32, 2.5 / h as f32);
        let (mut low, mut high) = (Vec::new(), Vec::new());
        for py in 0..h {
            for px in 0..w {
                let counts = [
                    mandelbrot_point((px, py), (x0, y0), (dx, dy), limit, |a, b, c| a * b + c),
                    mandelbrot_point((px, py), (x0, y0), (dx, dy), limit, f32::mul_add),
                    mandelbrot_double((px, py), (x0, y0), (dx, dy), limit),
                ];
                low.push(counts.into_iter().min().unwrap_or(0));
                high.push(counts.into_iter().max().unwrap_or(0));
            }
        }
        for grid in grids(w, h, [16, 16]) {
            let args = vec![
                Arg::output("out", Data::I32(vec![-1; w * h]), Expected::Between(low.clone(), high.clone())),
                Arg::int("w", w),
                Arg::int("h", h),
                Arg::float("x0", x0),
                Arg::float("y0", y0),
                Arg::float("dx", dx),
                Arg::float("dy", dy),
                Arg::int("maxit", limit as usize),
            ];
            cases.push(Case { grid, args });
        }
    }
    cases
}

/// Computes a point with f32 arithmetic, with `fma` for each sum with a product.
fn mandelbrot_point(
    (px, py): (usize, usize),
    (x0, y0): (f32, f32),
    (dx, dy): (f32, f32),
    limit: i32,
    fma: impl Fn(f32, f32, f32) -> f32,
) -> i32 {
    let c = (fma(px as f32, dx, x0), fma(py as f32, dy, y0));
    escape_time((c.0.into(), c.1.into()), limit, |z, c| {
        let (x, y, cx, cy) = (z.0 as f32, z.1 as f32, c.0 as f32, c.1 as f32);
        let next = (fma(x, x, -(y * y)) + cx, fma(2.0 * x, y, cy));
        ((next.0.into(), next.1.into()), fma(x, x, y * y).into())
    })
}

fn mandelbrot_double(
    (px, py): (usize, usize),
    (x0, y0): (f32, f32),
    (dx, dy): (f32, f32),
    limit: i32,
) -> i32 {
    let at = |start: f32, step: f32, count: usize| f64::from(start) + f64::from(step) * count as f64;
    escape_time((at(x0, dx, px), at(y0, dy, py)), limit, |(x, y), c| {
        ((x * x - y * y + c.0, 2.0 * x * y + c.1), x * x + y * y)
    })
}
