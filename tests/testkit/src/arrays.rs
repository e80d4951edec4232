//! Kernels over one-dimensional float arrays.

use crate::data::{Arg, Case, Data, Rng, Sum, near, round_up};

/// Array sizes from one element to several groups, with and without a partial last group.
const SIZES: [usize; 6] = [1, 63, 256, 257, 1000, 2048];

/// Returns grids for a size: exactly as many work-items as elements (the last group is partial), and whole
/// groups.
fn grids(size: usize, group: usize) -> Vec<[u32; 3]> {
    let mut grids = vec![[size as u32, 1, 1], [round_up(size, group), 1, 1]];
    grids.dedup();
    grids
}

/// `y = a * x + y`
pub(crate) fn saxpy() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in SIZES {
        let mut rng = Rng::new(n as u64);
        let (x, y, a) = (rng.floats(n), rng.floats(n), 2.5);
        let sums: Vec<Sum> =
            x.iter().zip(&y).map(|(x, y)| product_sum(a, f64::from(*x), f64::from(*y))).collect();
        for grid in grids(n, 256) {
            let args = vec![
                Arg::input("x", Data::F32(x.clone())),
                Arg::output("y", Data::F32(y.clone()), near(&sums, 1.0)),
                Arg::float("a", a as f32),
                Arg::int("n", n),
            ];
            cases.push(Case { grid, args });
        }
    }
    cases
}

fn product_sum(a: f64, x: f64, y: f64) -> Sum {
    let mut sum = Sum::default();
    sum.add(a * x);
    sum.add(y);
    sum
}

/// `y = a * x + y` in double precision
pub(crate) fn daxpy() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in SIZES {
        let mut rng = Rng::new(n as u64);
        let (x, y, a) = (rng.doubles(n), rng.doubles(n), -0.75);
        let sums: Vec<Sum> = x.iter().zip(&y).map(|(x, y)| product_sum(a, *x, *y)).collect();
        for grid in grids(n, 256) {
            let args = vec![
                Arg::input("x", Data::F64(x.clone())),
                Arg::output("y", Data::F64(y.clone()), near(&sums, 1.0)),
                Arg::double("a", a),
                Arg::int("n", n),
            ];
            cases.push(Case { grid, args });
        }
    }
    cases
}

/// `c = a + b` in vectors of four
pub(crate) fn vadd4() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in SIZES {
        let mut rng = Rng::new(n as u64);
        let (a, b) = (rng.floats(4 * n), rng.floats(4 * n));
        let c = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        for grid in grids(n, 256) {
            let args = vec![
                Arg::input("a", Data::F32(a.clone())),
                Arg::input("b", Data::F32(b.clone())),
                Arg::output(
                    "c",
                    Data::F32(vec![0.0; 4 * n]),
                    crate::Expected::Exactly(Data::F32(Clone::clone(&c))),
                ),
                Arg::int("n", n),
            ];
            cases.push(Case { grid, args });
        }
    }
    cases
}

/// Sums of each 1024 elements. The grid has whole groups, because each work-item takes part in the sum.
pub(crate) fn reduce() -> Vec<Case> {
    let case = |n: usize| {
        let values = Rng::new(n as u64).floats(n);
        let groups = n.div_ceil(1024);
        let mut sums = vec![Sum::default(); groups];
        for (at, value) in values.iter().enumerate() {
            sums[at / 1024].add(f64::from(*value));
        }
        let args = vec![
            Arg::input("in", Data::F32(values)),
            Arg::output("out", Data::F32(vec![0.0; groups]), near(&sums, 8.0)),
            Arg::int("n", n),
        ];
        Case { grid: [groups as u32 * 256, 1, 1], args }
    };
    [1, 255, 1024, 1025, 3000, 4096].map(case).into()
}

/// Softmax of rows. `exp2` and `rcp` have an error of at most 1 ulp each, the argument of the power at most 4
/// ulps.
pub(crate) fn softmax() -> Vec<Case> {
    let case = |(rows, cols): (usize, usize)| {
        let values: Vec<f32> =
            Rng::new(cols as u64).floats(rows * cols).iter().map(|value| value * 4.0).collect();
        let mut out = Vec::new();
        for row in values.chunks(cols) {
            let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let powers: Vec<f64> =
                row.iter().map(|value| (f64::from(*value) - f64::from(max)).exp()).collect();
            let total: f64 = powers.iter().sum();
            out.extend(powers.iter().map(|power| Sum { value: power / total, scale: power / total }));
        }
        let args = vec![
            Arg::input("in", Data::F32(values)),
            Arg::output("out", Data::F32(vec![0.0; rows * cols]), near(&out, 32.0)),
            Arg::int("cols", cols),
        ];
        Case { grid: [rows as u32 * 256, 1, 1], args }
    };
    [(1, 1), (3, 100), (2, 256), (4, 1000)].map(case).into()
}

/// A time step of gravitation. Each term has about a dozen roundings and a reciprocal square root.
pub(crate) fn nbody() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in [1, 65, 256, 300] {
        let mut rng = Rng::new(n as u64);
        let (positions, velocities, dt, eps) = (rng.floats(4 * n), rng.floats(4 * n), 0.01, 0.05);
        let mut sums = Vec::new();
        for i in 0..n {
            let body =
                |at: usize| -> [f64; 4] { std::array::from_fn(|dim| f64::from(positions[4 * at + dim])) };
            let here = body(i);
            for dim in 0..4 {
                let mut sum = Sum::default();
                sum.add(f64::from(velocities[4 * i + dim]));
                for j in (0..n).filter(|_| dim < 3) {
                    let other = body(j);
                    let distance: f64 =
                        (0..3).map(|d| (other[d] - here[d]).powi(2)).sum::<f64>() + f64::from(eps);
                    let scale = other[3] / distance.sqrt().powi(3) * f64::from(dt);
                    sum.value += (other[dim] - here[dim]) * scale;
                    // The rounding error of a difference of coordinates is relative to the coordinates.
                    sum.scale += (other[dim].abs() + here[dim].abs()) * scale.abs();
                }
                sums.push(sum);
            }
        }
        for grid in grids(n, 256) {
            let args = vec![
                Arg::input("pos", Data::F32(positions.clone())),
                Arg::output("vel", Data::F32(velocities.clone()), near(&sums, 32.0)),
                Arg::int("n", n),
                Arg::float("dt", dt),
                Arg::float("eps", eps),
            ];
            cases.push(Case { grid, args });
        }
    }
    cases
}
