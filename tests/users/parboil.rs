//! Kernels of the Parboil benchmarks.

use crate::users::value::{close, exactly};
use crate::users::{Run, input, output, right, value};
use testkit::Rng;

#[test]
fn sums_of_absolute_differences() {
    let (width, height, range) = (12i32, 8i32, 3i32);
    let mut rng = Rng::new(1);
    let mut picture = || -> Vec<u8> { (0..width * height).map(|_| rng.bits() as u8).collect() };
    let (frame, reference) = (picture(), picture());
    let mut wanted = Vec::new();
    for (by, bx) in (0..height / 4).flat_map(|by| (0..width / 4).map(move |bx| (4 * by, 4 * bx))) {
        for (dy, dx) in (-range..=range).flat_map(|dy| (-range..=range).map(move |dx| (dy, dx))) {
            let mut sum = 0;
            for (y, x) in (by..by + 4).flat_map(|y| (bx..bx + 4).map(move |x| (y, x))) {
                let there = (y + dy).clamp(0, height - 1) * width + (x + dx).clamp(0, width - 1);
                sum += u16::from(frame[(y * width + x) as usize].abs_diff(reference[there as usize]));
            }
            wanted.push(sum);
        }
    }
    right(&Run {
        file: "sad",
        params: &[("RANGE", "3")],
        grid: [7 * 3, 7 * 2, 1],
        group: [7, 7, 1],
        args: vec![
            input("frame", frame),
            input("reference", reference),
            output("out", vec![0u16; wanted.len()], exactly(wanted)),
            value("width", width),
            value("height", height),
        ],
    });
}

#[test]
fn mri_q() {
    let (count, n) = (20usize, 70usize);
    let mut rng = Rng::new(2);
    let samples = rng.floats(4 * count);
    let (x, y, z, q) = (rng.floats(n), rng.floats(n), rng.floats(n), rng.floats(2 * n));
    let mut wanted: Vec<f64> = q.iter().map(|&q| f64::from(q)).collect();
    for i in 0..n {
        for sample in samples.chunks(4) {
            let [kx, ky, kz, phi] = [0, 1, 2, 3].map(|k| f64::from(sample[k]));
            let dot = kx * f64::from(x[i]) + ky * f64::from(y[i]) + kz * f64::from(z[i]);
            let (s, c) = (std::f64::consts::TAU * dot).sin_cos();
            wanted[2 * i] += phi * c;
            wanted[2 * i + 1] += phi * s;
        }
    }
    right(&Run {
        file: "mri_q",
        params: &[],
        grid: [128, 1, 1],
        group: [64, 1, 1],
        args: vec![
            input("samples", samples),
            value("count", count as u32),
            input("x", x),
            input("y", y),
            input("z", z),
            output("q", q, close::<f32>(wanted, 2e-5)),
            value("n", n as u32),
        ],
    });
}

#[test]
fn cutoff_potential() {
    let (bins, bin_length, cutoff, spacing) = ([3i32, 2, 2], 2.0f32, 1.5f32, 0.5f32);
    let mut rng = Rng::new(3);
    let mut atoms = Vec::new();
    for bin in 0..12 {
        let corner = [bin % 3, bin / 3 % 2, bin / 6].map(|b| b as f32 * bin_length);
        let filled = 1 + rng.below(4);
        for slot in 0..4 {
            let mut place = |d: usize| corner[d] + (rng.float() + 1.0) * 0.5 * bin_length;
            let at = [place(0), place(1), place(2)];
            atoms.extend(at);
            atoms.push(if slot < filled { rng.float() + 2.0 } else { 0.0 });
        }
    }
    let grid = [12u32, 8, 8];
    let lattice = rng.floats(grid.iter().product::<u32>() as usize);
    let mut wanted: Vec<f64> = lattice.iter().map(|&x| f64::from(x)).collect();
    for (at, energy) in wanted.iter_mut().enumerate() {
        let at = at as u32;
        let p = [at % grid[0], at / grid[0] % grid[1], at / grid[0] / grid[1]].map(|i| f64::from(i) * 0.5);
        for atom in atoms.chunks(4) {
            let r2: f64 = (0..3).map(|d| (f64::from(atom[d]) - p[d]).powi(2)).sum();
            let cut2 = f64::from(cutoff * cutoff);
            if r2 < cut2 {
                *energy += f64::from(atom[3]) / r2.sqrt() * (1.0 - r2 / cut2).powi(2);
            }
        }
    }
    right(&Run {
        file: "cutcp",
        params: &[],
        grid,
        group: [4, 4, 4],
        args: vec![
            input("atoms", atoms),
            output("lattice", lattice, close::<f32>(wanted, 1e-4)),
            value("spacing", spacing),
            value("cutoff", cutoff),
            value("bins", vec![bins[0], bins[1], bins[2], 0]),
            value("bin_length", bin_length),
        ],
    });
}

#[test]
fn angular_correlation() {
    const EDGES: [f32; 15] =
        [0.98, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.35, 0.2, 0.0, -0.2, -0.4, -0.6, -0.8];
    let n = 90usize;
    let mut rng = Rng::new(4);
    // Sixteenths, whose products and sums are exact: no angle is between two bins by how it was rounded.
    let mut axis = || -> Vec<f32> { (0..n).map(|_| (rng.float() * 9.0).round() / 16.0).collect() };
    let (x, y, z) = (axis(), axis(), axis());
    let mut wanted = vec![0u32; 16];
    for i in 0..n {
        for j in i + 1..n {
            let c = x[i] * x[j] + y[i] * y[j] + z[i] * z[j];
            wanted[EDGES.iter().filter(|&&edge| c < edge).count()] += 1;
        }
    }
    right(&Run {
        file: "tpacf",
        params: &[],
        grid: [128, 1, 1],
        group: [64, 1, 1],
        args: vec![
            input("x", x),
            input("y", y),
            input("z", z),
            output("hist", vec![0u32; 16], exactly(wanted)),
            value("n", n as u32),
        ],
    });
}
