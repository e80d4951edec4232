//! Kernels of the Rodinia benchmarks.

use crate::users::value::{close, exactly, holds};
use crate::users::{Run, input, output, right, value};
use testkit::Rng;

#[test]
fn kmeans() {
    let (n, clusters) = (100usize, 5usize);
    let mut rng = Rng::new(1);
    let (points, centres) = (rng.floats(n * 4), rng.floats(clusters * 4));
    let distance = |p: &[f32], c: &[f32]| p.iter().zip(c).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
    let (mut membership, mut counts) = (Vec::new(), vec![0u32; clusters]);
    let mut sums = vec![0.0; clusters * 4];
    for p in points.chunks(4) {
        let of = |c: &usize| distance(p, &centres[c * 4..][..4]);
        let best = (0..clusters).min_by(|a, b| of(a).total_cmp(&of(b))).unwrap();
        membership.push(best as u32);
        counts[best] += 1;
        (0..4).for_each(|f| sums[best * 4 + f] += f64::from(p[f]));
    }
    right(&Run {
        file: "kmeans",
        params: &[],
        grid: [128, 1, 1],
        group: [64, 1, 1],
        args: vec![
            input("points", points),
            input("centres", centres),
            output("membership", vec![0u32; n], exactly(membership)),
            output("sums", vec![0f32; clusters * 4], close::<f32>(sums, 1e-5)),
            output("counts", vec![0u32; clusters], exactly(counts)),
            value("n", n as u32),
        ],
    });
}

#[test]
fn hotspot() {
    let (width, height) = (20i32, 13i32);
    let mut rng = Rng::new(2);
    let (power, temp) = (rng.floats(260), rng.floats(260));
    let step = [0.3f32, 5.0, 4.0, 20.0, 0.8];
    let [cap, rx, ry, rz, ambient] = step.map(f64::from);
    let mut wanted = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let at = |x: i32, y: i32| {
                f64::from(temp[(y.clamp(0, height - 1) * width + x.clamp(0, width - 1)) as usize])
            };
            let t = at(x, y);
            let vertical = (at(x, y - 1) + at(x, y + 1) - 2.0 * t) / ry;
            let horizontal = (at(x - 1, y) + at(x + 1, y) - 2.0 * t) / rx;
            let power = f64::from(power[(y * width + x) as usize]);
            wanted.push(t + cap * (power + vertical + horizontal + (ambient - t) / rz));
        }
    }
    right(&Run {
        file: "hotspot",
        params: &[],
        grid: [24, 16, 1],
        group: [8, 8, 1],
        args: vec![
            input("power", power),
            input("temp", temp),
            output("out", vec![0f32; 260], close::<f32>(wanted, 1e-6)),
            value("width", width),
            value("height", height),
            value("step", step.to_vec()),
        ],
    });
}

#[test]
fn srad() {
    let (cols, rows, q0) = (19usize, 10usize, 0.05f32);
    let image: Vec<f32> = Rng::new(3).floats(cols * rows).iter().map(|x| x + 1.5).collect();
    let (mut deltas, mut coefficients) = (Vec::new(), Vec::new());
    for row in 0..rows {
        for col in 0..cols {
            let at = |row: usize, col: usize| f64::from(image[row * cols + col]);
            let j = at(row, col);
            let around = [
                at(row.saturating_sub(1), col),
                at((row + 1).min(rows - 1), col),
                at(row, col.saturating_sub(1)),
                at(row, (col + 1).min(cols - 1)),
            ];
            let d = around.map(|x| x - j);
            let g2 = d.iter().map(|x| x * x).sum::<f64>() / (j * j);
            let l = d.iter().sum::<f64>() / j;
            let q = (0.5 * g2 - l * l / 16.0) / (1.0 + 0.25 * l).powi(2);
            let q0 = f64::from(q0);
            deltas.extend(d);
            coefficients.push((1.0 / (1.0 + (q - q0) / (q0 * (1.0 + q0)))).clamp(0.0, 1.0));
        }
    }
    right(&Run {
        file: "srad",
        params: &[],
        grid: [32, 12, 1],
        group: [16, 4, 1],
        args: vec![
            input("image", image),
            output("deltas", vec![0f32; 4 * cols * rows], close::<f32>(deltas, 1e-6)),
            output("coefficient", vec![0f32; cols * rows], close::<f32>(coefficients, 1e-4)),
            value("cols", cols as u32),
            value("rows", rows as u32),
            value("q0", q0),
        ],
    });
}

#[test]
fn pathfinder() {
    let (cols, first, steps) = (150usize, 1usize, 4usize);
    let mut rng = Rng::new(4);
    let wall: Vec<i32> = (0..cols * 6).map(|_| rng.below(10) as i32).collect();
    let src: Vec<i32> = (0..cols).map(|_| rng.below(100) as i32).collect();
    let mut row = src.clone();
    for step in first..first + steps {
        let best = |x: usize| row[x.saturating_sub(1)..=(x + 1).min(cols - 1)].iter().min().unwrap();
        row = (0..cols).map(|x| best(x) + wall[step * cols + x]).collect();
    }
    right(&Run {
        file: "pathfinder",
        params: &[],
        grid: [64 * 3, 1, 1],
        group: [64, 1, 1],
        args: vec![
            input("wall", wall),
            input("src", src),
            output("dst", vec![0i32; cols], exactly(row)),
            value("cols", cols as i32),
            value("first", first as i32),
        ],
    });
}

#[test]
fn needleman_wunsch() {
    const SIDE: usize = 33; // two blocks and the border
    let (penalty, mut rng) = (3i32, Rng::new(5));
    let reference: Vec<i32> = (0..SIDE * SIDE).map(|_| rng.below(11) as i32 - 5).collect();
    let mut all = vec![0i32; SIDE * SIDE];
    for i in 1..SIDE {
        all[i] = -(i as i32) * penalty;
        all[i * SIDE] = -(i as i32) * penalty;
    }
    let border = all.clone();
    for y in 1..SIDE {
        for x in 1..SIDE {
            let at = y * SIDE + x;
            let diagonal = all[at - SIDE - 1] + reference[at];
            all[at] = diagonal.max(all[at - 1] - penalty).max(all[at - SIDE] - penalty);
        }
    }
    // The second anti-diagonal of blocks is given the first one.
    for (diagonal, groups) in [(0u32, 1u32), (1, 2)] {
        let done = |x: usize, y: usize, blocks: u32| {
            let block = |i: usize| (i.saturating_sub(1) / 16) as u32;
            x == 0 || y == 0 || block(x) + block(y) < blocks
        };
        let upto = |blocks: u32| -> Vec<i32> {
            (0..SIDE * SIDE)
                .map(|at| if done(at % SIDE, at / SIDE, blocks) { all[at] } else { border[at] })
                .collect()
        };
        right(&Run {
            file: "nw",
            params: &[],
            grid: [16 * groups, 1, 1],
            group: [16, 1, 1],
            args: vec![
                input("reference", reference.clone()),
                output("matrix", upto(diagonal), exactly(upto(diagonal + 1))),
                value("cols", SIDE as u32),
                value("penalty", penalty),
                value("diagonal", diagonal),
            ],
        });
    }
}

#[test]
fn lud() {
    let (size, offset) = (20usize, 3usize);
    let mut m = Rng::new(6).floats(size * size);
    (0..size).for_each(|i| m[i * size + i] += 8.0);
    let mut wanted: Vec<f64> = m.iter().map(|&x| f64::from(x)).collect();
    let at = |i: usize, j: usize| (offset + i) * size + offset + j;
    for k in 0..16 {
        for i in k + 1..16 {
            wanted[at(i, k)] /= wanted[at(k, k)];
            for j in k + 1..16 {
                wanted[at(i, j)] -= wanted[at(i, k)] * wanted[at(k, j)];
            }
        }
    }
    right(&Run {
        file: "lud",
        params: &[],
        grid: [16, 1, 1],
        group: [16, 1, 1],
        args: vec![
            output("m", m, close::<f32>(wanted, 3e-6)),
            value("size", size as u32),
            value("offset", offset as u32),
        ],
    });
}

#[test]
fn breadth_first_search() {
    let (count, mut rng) = (200usize, Rng::new(7));
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let degree = rng.below(6);
        nodes.extend([edges.len() as u32, degree]);
        edges.extend((0..degree).map(|_| rng.below(count as u32)));
    }
    // A frontier of level 3; others of levels up to 3 have been seen.
    let mut cost: Vec<i32> = (0..count).map(|_| rng.below(9) as i32 - 5).map(|c| c.max(-1)).collect();
    let frontier: Vec<u32> = (0..count as u32).filter(|&n| cost[n as usize] == 3).collect();
    let before = cost.clone();
    let mut found = Vec::new();
    for &id in &frontier {
        let [first, degree] = [0, 1].map(|k| nodes[2 * id as usize + k] as usize);
        for &to in &edges[first..first + degree] {
            if cost[to as usize] == -1 {
                cost[to as usize] = 4;
                found.push(to);
            }
        }
    }
    found.sort_unstable();
    assert!(frontier.len() > 8 && found.len() > 8, "{} and {}", frontier.len(), found.len());
    let size = frontier.len() as u32;
    let queue = found.clone();
    let is_queue = move |next: Vec<u32>| {
        let mut next = next[..queue.len()].to_vec();
        next.sort_unstable();
        if next == queue { Ok(()) } else { Err(format!("{next:?} instead of {queue:?}")) }
    };
    right(&Run {
        file: "bfs",
        params: &[],
        grid: [size.next_multiple_of(64), 1, 1],
        group: [64, 1, 1],
        args: vec![
            input("nodes", nodes),
            input("edges", edges),
            output("cost", before, exactly(cost)),
            input("frontier", frontier),
            value("size", size),
            output("next", vec![0u32; count], holds(is_queue)),
            output("count", 0u32, exactly(vec![found.len() as u32])),
        ],
    });
}

#[test]
fn streamcluster() {
    let (n, dims, k, x) = (100usize, 7usize, 3usize, 40usize);
    let mut rng = Rng::new(8);
    let coords = rng.floats(n * dims);
    let (mut points, mut lower) = (Vec::new(), vec![0.0; n * (k + 1)]);
    let centre: Vec<u32> = (0..n).map(|_| rng.below(k as u32)).collect();
    let mut switches = Vec::new();
    for i in 0..n {
        let (weight, cost, assign) = (rng.float() + 1.5, 4.0 * (rng.float() + 1.0), rng.below(n as u32));
        points.extend([weight.to_bits(), cost.to_bits(), assign]);
        let d2: f64 =
            (0..dims).map(|d| (f64::from(coords[d * n + i]) - f64::from(coords[d * n + x])).powi(2)).sum();
        let saved = f64::from(cost) - d2 * f64::from(weight);
        switches.push(u8::from(saved > 0.0));
        let slot = if saved > 0.0 { k } else { centre[assign as usize] as usize };
        lower[i * (k + 1) + slot] -= saved.abs();
    }
    right(&Run {
        file: "streamcluster",
        params: &[],
        grid: [128, 1, 1],
        group: [64, 1, 1],
        args: vec![
            input("points", points),
            input("coords", coords),
            input("centre", centre),
            output("switches", vec![0u8; n], exactly(switches)),
            output("lower", vec![0f32; n * (k + 1)], close::<f32>(lower, 3e-6)),
            value("n", n as u32),
            value("dims", dims as u32),
            value("x", x as u32),
            value("k", k as u32),
        ],
    });
}
