//! Primitives of parallel algorithms.

use crate::users::value::{close, exactly, holds};
use crate::users::{Run, input, output, right, value};
use testkit::Rng;

#[test]
fn radix_sort() {
    let groups = 2usize;
    let mut rng = Rng::new(1);
    let keys: Vec<f32> = (0..256 * groups).map(|_| (rng.float() * 100.0).round() / 4.0).collect();
    let values: Vec<u32> = (0..256 * groups as u32).collect();
    let (mut sorted_keys, mut sorted) = (Vec::new(), Vec::new());
    for group in values.chunks(256) {
        let mut group = group.to_vec();
        group.sort_by(|&a, &b| keys[a as usize].total_cmp(&keys[b as usize])); // stable
        sorted_keys.extend(group.iter().map(|&at| keys[at as usize]));
        sorted.extend(group);
    }
    right(&Run {
        file: "radix_sort",
        params: &[],
        grid: [256 * groups as u32, 1, 1],
        group: [256, 1, 1],
        args: vec![output("keys", keys, exactly(sorted_keys)), output("values", values, exactly(sorted))],
    });
}

#[test]
fn lookback_scan() {
    let n = 1000usize;
    let x = Rng::new(2).words(n);
    let wanted: Vec<u32> = x
        .iter()
        .scan(0u32, |sum, x| {
            let before = *sum;
            *sum = sum.wrapping_add(*x);
            Some(before)
        })
        .collect();
    right(&Run {
        file: "lookback_scan",
        params: &[],
        grid: [256, 1, 1],
        group: [64, 1, 1],
        args: vec![
            input("x", x),
            output("y", vec![0u32; n], exactly(wanted)),
            input("states", vec![0u64; 4]),
            value("n", n as u32),
        ],
    });
}

#[test]
fn segmented_reduce() {
    let offsets = vec![0u32, 5, 5, 300, 301, 500];
    let mut rng = Rng::new(3);
    let (x, z) = (rng.words(500), rng.doubles(500));
    let segments = || offsets.windows(2).map(|ends| ends[0] as usize..ends[1] as usize);
    let sum = |at: std::ops::Range<usize>| x[at].iter().fold(0i32, |sum, &x| sum.wrapping_add(x as i32));
    let sums: Vec<i32> = segments().map(sum).collect();
    let least: Vec<f64> = segments().map(|at| z[at].iter().copied().fold(f64::MAX, f64::min)).collect();
    let most: Vec<f64> = segments().map(|at| z[at].iter().copied().fold(f64::MIN, f64::max)).collect();
    right(&Run {
        file: "segmented_reduce",
        params: &[],
        grid: [128 * 5, 1, 1],
        group: [128, 1, 1],
        args: vec![
            input("offsets", offsets.clone()),
            input("x", x.clone()),
            output("sums", vec![0i32; 5], exactly(sums)),
            input("z", z.clone()),
            output("least", vec![0f64; 5], close::<f64>(least, 0.0)),
            output("most", vec![0f64; 5], close::<f64>(most, 0.0)),
        ],
    });
}

#[test]
fn run_length() {
    let mut rng = Rng::new(4);
    let mut x = Vec::new();
    while x.len() < 256 {
        let (item, count) = (rng.below(5) as u8, 1 + rng.below(9) as usize);
        x.extend(std::iter::repeat_n(item, count.min(256 - x.len())));
    }
    let (mut values, mut lengths, mut runs) = (vec![0u8; 256], vec![0u32; 256], Vec::new());
    for (group, items) in x.chunks(128).enumerate() {
        let all = items.chunk_by(|a, b| a == b);
        for (at, run) in all.clone().enumerate() {
            (values[128 * group + at], lengths[128 * group + at]) = (run[0], run.len() as u32);
        }
        runs.push(all.count() as u32);
    }
    right(&Run {
        file: "run_length",
        params: &[],
        grid: [256, 1, 1],
        group: [128, 1, 1],
        args: vec![
            input("x", x),
            output("values", vec![0u8; 256], exactly(values)),
            output("lengths", vec![0u32; 256], exactly(lengths)),
            output("runs", vec![0u32; 2], exactly(runs)),
        ],
    });
}

#[test]
fn select_if() {
    let n = 700usize;
    let mut rng = Rng::new(5);
    let x: Vec<i32> = (0..n).map(|_| rng.below(1000) as i32 - 500).collect();
    let mut kept: Vec<i32> = x.iter().copied().filter(|x| (-100..=250).contains(x)).collect();
    kept.sort_unstable();
    let count = kept.len() as u32;
    let same = move |mut found: Vec<i32>| {
        found.truncate(kept.len());
        found.sort_unstable();
        if found == kept { Ok(()) } else { Err("other items".to_owned()) }
    };
    right(&Run {
        file: "select_if",
        params: &[],
        grid: [512, 1, 1],
        group: [256, 1, 1],
        args: vec![
            input("x", x),
            output("y", vec![0i32; n], holds(same)),
            output("count", 0u32, exactly(vec![count])),
            value("low", -100i32),
            value("high", 250i32),
            value("n", n as u32),
        ],
    });
}
