//! Kernels of language models.

use crate::users::value::{close, exactly};
use crate::users::{Run, input, output, right, value};
use half::f16;
use testkit::Rng;

fn halves(rng: &mut Rng, count: usize) -> Vec<f16> {
    rng.floats(count).into_iter().map(f16::from_f32).collect()
}

fn wide(values: &[f16]) -> Vec<f64> {
    values.iter().map(|value| value.to_f64()).collect()
}

#[test]
fn q4_matvec() {
    const ROWS: usize = 3;
    const BLOCKS: usize = 70;
    let mut rng = Rng::new(1);
    let scales = halves(&mut rng, ROWS * BLOCKS);
    let packed: Vec<u8> = (0..ROWS * BLOCKS * 16).map(|_| rng.bits() as u8).collect();
    let (x_scales, quants) = (halves(&mut rng, BLOCKS), rng.words(BLOCKS * 32));
    let (mut w, mut x) = (Vec::new(), Vec::new());
    for (scale, qs) in scales.iter().zip(packed.chunks(16)) {
        w.extend(scale.to_le_bytes());
        w.extend(qs);
    }
    for (scale, qs) in x_scales.iter().zip(quants.chunks(32)) {
        x.extend(scale.to_le_bytes());
        x.extend(qs.iter().map(|&q| q as u8));
    }
    let mut wanted = vec![0.0; ROWS];
    for (row, sum) in wanted.iter_mut().enumerate() {
        for b in 0..BLOCKS {
            let qs = &packed[(row * BLOCKS + b) * 16..][..16];
            let weight = |i: usize| if i < 16 { qs[i] & 15 } else { qs[i - 16] >> 4 };
            let products = (0..32)
                .map(|i| (f64::from(weight(i)) - 8.0) * f64::from(quants[b * 32 + i] as i8))
                .sum::<f64>();
            *sum += scales[row * BLOCKS + b].to_f64() * x_scales[b].to_f64() * products;
        }
    }
    right(&Run {
        file: "q4_matvec",
        params: &[],
        grid: [64 * ROWS as u32, 1, 1],
        group: [64, 1, 1],
        args: vec![
            input("w", w),
            input("x", x),
            output("y", vec![0f32; ROWS], close::<f32>(wanted, 3e-4)),
            value("cols", 32 * BLOCKS as u32),
        ],
    });
}

#[test]
fn q8_dequantize() {
    let mut rng = Rng::new(2);
    let (scales, quants) = (halves(&mut rng, 4), rng.words(4 * 32));
    let mut x = Vec::new();
    for (scale, qs) in scales.iter().zip(quants.chunks(32)) {
        x.extend(scale.to_le_bytes());
        x.extend(qs.iter().map(|&q| q as u8));
    }
    // The exact product has 19 bits, so that this rounds once.
    let product = |(i, q): (usize, &u32)| f16::from_f32(scales[i / 32].to_f32() * f32::from(*q as i8));
    let mut wanted: Vec<f16> = quants.iter().enumerate().map(product).collect();
    wanted[120..].fill(f16::ZERO);
    right(&Run {
        file: "q8_dequantize",
        params: &[],
        grid: [128, 1, 1],
        group: [64, 1, 1],
        args: vec![input("x", x), output("y", vec![f16::ZERO; 128], exactly(wanted)), value("n", 120u32)],
    });
}

#[test]
fn rms_norm() {
    let (rows, cols) = (2, 600);
    let mut rng = Rng::new(3);
    let (x, weight) = (rng.floats(rows * cols), rng.floats(cols));
    let mut wanted = Vec::new();
    for row in x.chunks(cols) {
        let mean = row.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>() / cols as f64;
        let scale = 1.0 / (mean + 1e-5).sqrt();
        wanted.extend(row.iter().zip(&weight).map(|(&v, &w)| f64::from(v) * scale * f64::from(w)));
    }
    right(&Run {
        file: "rms_norm",
        params: &[],
        grid: [256 * rows as u32, 1, 1],
        group: [256, 1, 1],
        args: vec![
            input("x", x),
            input("weight", weight),
            output("y", vec![0f32; rows * cols], close::<f32>(wanted, 2e-6)),
            value("cols", cols as u32),
            value("eps", 1e-5f32),
        ],
    });
}

#[test]
fn rope() {
    let (dims, heads, positions) = (16usize, 3usize, vec![0i32, 7, 250]);
    let theta_scale = 0.75f32;
    let x = halves(&mut Rng::new(4), positions.len() * heads * dims);
    for neox in [false, true] {
        let mut wanted = wide(&x);
        for (token, &position) in positions.iter().enumerate() {
            for head in 0..heads {
                for k in 0..dims / 2 {
                    let base = (token * heads + head) * dims;
                    let (a, b) =
                        if neox { (base + k, base + k + dims / 2) } else { (base + 2 * k, base + 2 * k + 1) };
                    let angle = f64::from(position) * f64::from(theta_scale).powi(k as i32);
                    let (s, c) = angle.sin_cos();
                    (wanted[a], wanted[b]) = (wanted[a] * c - wanted[b] * s, wanted[a] * s + wanted[b] * c);
                }
            }
        }
        right(&Run {
            file: "rope",
            params: if neox { &[("NEOX", "true")] } else { &[] },
            grid: [64, positions.len() as u32, 1],
            group: [64, 1, 1],
            args: vec![
                output("x", x.clone(), close::<f16>(wanted, 6e-4)),
                input("positions", positions.clone()),
                value("dims", dims as u32),
                value("theta_scale", theta_scale),
                value("pairs", (heads * dims / 2) as u32),
            ],
        });
    }
}

#[test]
fn soft_max() {
    let (rows, cols, scale) = (3usize, 200usize, 4.0f32);
    let x = Rng::new(5).floats(rows * cols);
    let hidden = |at: usize| at % cols > cols / 2 + at / cols * 40;
    let mask: Vec<f16> =
        (0..rows * cols).map(|at| if hidden(at) { f16::NEG_INFINITY } else { f16::ZERO }).collect();
    let mut wanted = Vec::new();
    for row in 0..rows {
        let at = row * cols..(row + 1) * cols;
        let terms: Vec<f64> =
            at.map(|at| if hidden(at) { 0.0 } else { f64::from(x[at] * scale).exp() }).collect();
        let sum: f64 = terms.iter().sum();
        wanted.extend(terms.iter().map(|term| term / sum));
    }
    right(&Run {
        file: "soft_max",
        params: &[],
        grid: [128 * rows as u32, 1, 1],
        group: [128, 1, 1],
        args: vec![
            input("x", x),
            input("mask", mask),
            output("y", vec![0f32; rows * cols], close::<f32>(wanted, 1e-6)),
            value("cols", cols as u32),
            value("scale", scale),
        ],
    });
}

#[test]
fn flash_attention() {
    const D: usize = 32;
    let (queries, keys, scale) = (16usize, 48usize, 0.5f32);
    let mut rng = Rng::new(6);
    let (q, k, v) = (halves(&mut rng, queries * D), halves(&mut rng, keys * D), halves(&mut rng, keys * D));
    let mut wanted = Vec::new();
    for row in wide(&q).chunks(D) {
        let dot = |key: &[f64]| row.iter().zip(key).map(|(a, b)| a * b).sum::<f64>() * f64::from(scale);
        let weights: Vec<f64> = wide(&k).chunks(D).map(|key| dot(key).exp()).collect();
        let sum: f64 = weights.iter().sum();
        let v = wide(&v);
        wanted.extend((0..D).map(|d| (0..keys).map(|j| weights[j] * v[j * D + d]).sum::<f64>() / sum));
    }
    right(&Run {
        file: "flash_attention",
        params: &[],
        grid: [16, 16, 1],
        group: [16, 16, 1],
        args: vec![
            input("q", q),
            input("k", k),
            input("v", v),
            output("out", vec![0f32; queries * D], close::<f32>(wanted, 3e-6)),
            value("keys", keys as u32),
            value("scale", scale),
        ],
    });
}

#[test]
fn activations() {
    let mut rng = Rng::new(7);
    let gate: Vec<f16> = halves(&mut rng, 200).iter().map(|&x| x * f16::from_f32(8.0)).collect();
    let up = halves(&mut rng, 200);
    for kind in 0..4u32 {
        let of = |x: f64| match kind {
            0 => x / (1.0 + (-x).exp()),
            1 => 0.5 * x * (1.0 + (0.797_884_56 * x * (1.0 + 0.044715 * x * x)).tanh()),
            2 => x.max(0.0).powi(2),
            _ => x,
        };
        let wanted = wide(&gate).iter().zip(wide(&up)).map(|(&g, u)| of(g) * u).collect();
        right(&Run {
            file: "activations",
            params: &[],
            grid: [128, 1, 1],
            group: [64, 1, 1],
            args: vec![
                input("gate", gate.clone()),
                input("up", up.clone()),
                output("y", vec![f16::ZERO; 200], close::<f16>(wanted, 5e-4)),
                value("kind", kind),
                value("n", 100u32),
            ],
        });
    }
}
