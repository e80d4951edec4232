//! Kernels of linear algebra. A sum of k products in f32 has an error of at most k + 1 ulps of the sum of
//! their magnitudes.

use crate::data::{Arg, Case, Data, Rng, Sum, near, round_up};

struct Product {
    a: Vec<f32>,
    b: Vec<f32>,
    sums: Vec<Sum>,
}

fn product(m: usize, n: usize, k: usize) -> Product {
    let mut rng = Rng::new((m * 1000 + n * 10 + k) as u64);
    let (a, b) = (rng.floats(m * k), rng.floats(k * n));
    let mut sums = vec![Sum::default(); m * n];
    for row in 0..m {
        for at in 0..k {
            for col in 0..n {
                sums[row * n + col].add(f64::from(a[row * k + at]) * f64::from(b[at * n + col]));
            }
        }
    }
    Product { a, b, sums }
}

fn gemm_case([m, n, k]: [usize; 3], grid: [u32; 3]) -> Case {
    let Product { a, b, sums } = product(m, n, k);
    let args = vec![
        Arg::input("A", Data::F32(a)),
        Arg::input("B", Data::F32(b)),
        Arg::output("C", Data::F32(vec![-1.0; m * n]), near(&sums, k as f64 + 1.0)),
        Arg::int("M", m),
        Arg::int("N", n),
        Arg::int("K", k),
    ];
    Case { grid, args }
}

pub(crate) fn sgemm_naive() -> Vec<Case> {
    let sizes = [[1, 1, 1], [16, 16, 16], [33, 18, 7], [20, 50, 64]];
    let exact = sizes.map(|[m, n, k]| gemm_case([m, n, k], [n as u32, m as u32, 1]));
    let whole = sizes.map(|[m, n, k]| gemm_case([m, n, k], [round_up(n, 16), round_up(m, 16), 1]));
    exact.into_iter().chain(whole).collect()
}

/// Matrix product in tiles of 16; each size is a multiple of 16.
pub(crate) fn sgemm_lds() -> Vec<Case> {
    let sizes = [[16, 16, 16], [48, 32, 64], [16, 64, 160]];
    sizes.map(|[m, n, k]| gemm_case([m, n, k], [n as u32, m as u32, 1])).into()
}

/// Matrix product in tiles of 64 by 64 by 16; a group of 256 work-items computes a tile.
pub(crate) fn sgemm_reg() -> Vec<Case> {
    let sizes = [[64, 64, 16], [128, 64, 48], [64, 192, 80]];
    sizes.map(|[m, n, k]| gemm_case([m, n, k], [n as u32 / 64 * 256, m as u32 / 64, 1])).into()
}

/// `y = alpha * A * x + beta * y` in double precision
pub(crate) fn dgemv() -> Vec<Case> {
    let mut cases = Vec::new();
    for (m, n) in [(1, 1), (64, 10), (100, 37), (129, 64)] {
        let mut rng = Rng::new((m * n) as u64);
        let (a, x, y) = (rng.doubles(m * n), rng.doubles(n), rng.doubles(m));
        let (alpha, beta) = (1.25, -0.5);
        let mut sums = Vec::new();
        for row in 0..m {
            let mut sum = Sum::default();
            (0..n).for_each(|col| sum.add(alpha * a[row * n + col] * x[col]));
            sum.add(beta * y[row]);
            sums.push(sum);
        }
        for grid in [m as u32, round_up(m, 64)] {
            let args = vec![
                Arg::input("A", Data::F64(a.clone())),
                Arg::input("x", Data::F64(x.clone())),
                Arg::output("y", Data::F64(y.clone()), near(&sums, 2.0 * n as f64 + 4.0)),
                Arg::double("alpha", alpha),
                Arg::double("beta", beta),
                Arg::int("m", m),
                Arg::int("n", n),
            ];
            cases.push(Case { grid: [grid, 1, 1], args });
        }
    }
    cases
}

/// Product with a sparse matrix that has up to 12 entries per row; some rows are empty.
pub(crate) fn spmv() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in [1, 100, 256, 513] {
        let mut rng = Rng::new(n as u64);
        let mut starts = vec![0];
        for _ in 0..n {
            starts.push(starts[starts.len() - 1] + rng.below(13) as i32);
        }
        let entries = starts[n].max(1) as usize;
        let columns: Vec<i32> = (0..entries).map(|_| rng.below(n as u32) as i32).collect();
        let (values, x) = (rng.floats(entries), rng.floats(n));
        let mut sums = vec![Sum::default(); n];
        for row in 0..n {
            for at in starts[row] as usize..starts[row + 1] as usize {
                sums[row].add(f64::from(values[at]) * f64::from(x[columns[at] as usize]));
            }
        }
        for grid in [n as u32, round_up(n, 256)] {
            let args = vec![
                Arg::input("rowp", Data::I32(starts.clone())),
                Arg::input("col", Data::I32(columns.clone())),
                Arg::input("val", Data::F32(values.clone())),
                Arg::input("x", Data::F32(x.clone())),
                Arg::output("y", Data::F32(vec![9.0; n]), near(&sums, 14.0)),
                Arg::int("n", n),
            ];
            cases.push(Case { grid: [grid, 1, 1], args });
        }
    }
    cases
}
