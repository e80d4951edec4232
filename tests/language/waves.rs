//! Built-ins that look across the lanes of a wave, on whole and ragged waves and where lanes are missing.

use crate::harness::{run_bytes, to_bytes, words};

/// Two full waves and one of 12 lanes.
const LANES: u32 = 140;

fn input() -> Vec<u32> {
    (0..LANES).map(|i| i.wrapping_mul(0x9e37_79b9) ^ (i << 3)).collect()
}

/// Checks `out[i] = expression` of `x = input[i]` against a function of the lane's number in the wave, its value and
/// the values of its wave.
fn check(body: &str, wanted: &dyn Fn(usize, &[u32]) -> Option<u32>) {
    let source = format!(
        "#[workgroup_size(64)] kernel t(input: *global u32, out: *global u32) {{
            let i = global_id(0); let x = input[i]; let lane = lane_id(); out[i] = 77; {body} }}"
    );
    let input = input();
    words(&source, LANES, &[("input", &input)], &mut |how, found| {
        for (wave, values) in input.chunks(64).enumerate() {
            for lane in 0..values.len() {
                let found = found[wave * 64 + lane];
                if let Some(wanted) = wanted(lane, values) {
                    assert_eq!(found, wanted, "{how}: {body}: wave {wave}, lane {lane}");
                }
            }
        }
    });
}

fn mask(values: &[u32], holds: impl Fn(usize, u32) -> bool) -> u64 {
    values.iter().enumerate().fold(0, |mask, (n, &x)| mask | u64::from(holds(n, x)) << n)
}

#[test]
fn ballots() {
    let odd = |values: &[u32]| mask(values, |_, x| x & 1 != 0);
    check("out[i] = ballot(x & 1 != 0) as u32;", &|_, v| Some(odd(v) as u32));
    check("out[i] = (ballot(x & 1 != 0) >> 32u32) as u32;", &|_, v| Some((odd(v) >> 32) as u32));
    check("out[i] = ballot(true) as u32 ^ (ballot(false) >> 32u32) as u32;", &|_, v| {
        Some(mask(v, |_, _| true) as u32)
    });
    check("out[i] = any(x == 0) as u32 + any(lane == 11) as u32 * 2;", &|_, v| {
        Some(u32::from(v.contains(&0)) + 2)
    });
    check("out[i] = all(lane < 64) as u32 + all(x != 0) as u32 * 2;", &|_, v| {
        Some(1 + 2 * u32::from(!v.contains(&0)))
    });
    check("out[i] = mbcnt(ballot(x & 2 != 0)) + 100 * mbcnt(0xffffffffffffffff);", &|lane, v| {
        let below = mask(v, |_, x| x & 2 != 0) & ((1 << lane) - 1);
        Some(below.count_ones() + 100 * lane as u32)
    });
}

/// Only the lanes that take the branch count.
#[test]
fn ballots_of_some_lanes() {
    check("if lane % 3 == 0 { out[i] = ballot(x & 1 != 0) as u32; }", &|lane, v| {
        Some(if lane % 3 == 0 { mask(v, |n, x| n % 3 == 0 && x & 1 != 0) as u32 } else { 77 })
    });
    check("if lane > 4 { out[i] = read_first_lane(x) + all(lane > 3) as u32; }", &|lane, v| {
        Some(if lane > 4 { v[5].wrapping_add(1) } else { 77 })
    });
    check(
        "let mut n = 0u32; while n < lane % 5 { n += 1; out[i] = popcount(ballot(true)) as u32; }",
        &|lane, v| {
            let turns = lane % 5;
            Some(if turns == 0 { 77 } else { (0..v.len()).filter(|other| other % 5 >= turns).count() as u32 })
        },
    );
}

#[test]
fn lanes_of_others() {
    check("out[i] = read_lane(x, 5);", &|_, v| Some(v[5]));
    check("let k = input[4] % 8; out[i] = read_lane(x, k);", &|_, v| {
        let k = input()[4] % 8;
        Some(v[k as usize])
    });
    check("out[i] = read_first_lane(x);", &|_, v| Some(v[0]));
    check("out[i] = shuffle(x, (lane * 7 + 3) % 8);", &|lane, v| Some(v[(lane * 7 + 3) % 8]));
    // A source lane of the last wave that does not exist is unspecified.
    check("out[i] = shuffle_xor(x, 5);", &|lane, v| v.get(lane ^ 5).copied());
    check("out[i] = shuffle_up(x, 3);", &|lane, v| Some(if lane < 3 { v[lane] } else { v[lane - 3] }));
    check("out[i] = shuffle_down(x, 3);", &|lane, v| {
        if lane + 3 < 64 { v.get(lane + 3).copied() } else { Some(v[lane]) }
    });
}

/// What has instructions without addresses, on one processor or another.
#[test]
fn neighbours() {
    for bits in [1, 2, 3, 6, 7, 8, 15, 16, 21, 31, 32] {
        check(&format!("out[i] = shuffle_xor(x, {bits});"), &|lane, v| v.get(lane ^ bits).copied());
    }
    check("out[i] = shuffle_up(x, 1) - x;", &|lane, v| Some(v[lane.saturating_sub(1)].wrapping_sub(v[lane])));
    check("out[i] = shuffle_down(x, 1) ^ x;", &|lane, v| match lane {
        63 => Some(0),
        _ => v.get(lane + 1).map(|&above| above ^ v[lane]),
    });
    check("let w = shuffle_up(x as u64 * 3, 1); out[i] = (w >> 32u32) as u32 ^ w as u32;", &|lane, v| {
        let wide = u64::from(v[lane.saturating_sub(1)]) * 3;
        Some((wide >> 32) as u32 ^ wide as u32)
    });
    // Only some lanes ask, of each other.
    check("if lane & 4 == 0 { out[i] = shuffle_xor(x, 9) + shuffle_xor(x, 3); }", &|lane, v| {
        if lane & 4 != 0 {
            return Some(77);
        }
        Some(v.get(lane ^ 9)?.wrapping_add(*v.get(lane ^ 3)?))
    });
}

#[test]
fn of_other_types() {
    check("out[i] = (shuffle_xor((x as u64) * 0x100000001, 1) >> 32u32) as u32;", &|lane, v| {
        Some(v[lane ^ 1])
    });
    check("out[i] = bitcast::<u32x2>(read_lane(x as f64, 2)).y;", &|_, v| {
        Some((f64::from(v[2]).to_bits() >> 32) as u32)
    });
    check("out[i] = shuffle(lane == 3, lane % 4) as u32;", &|lane, _| Some(u32::from(lane % 4 == 3)));
    check("let v = shuffle(f32x2(lane as f32, 2.0), 6); out[i] = (v.x * v.y) as u32;", &|_, _| Some(12));
    check("out[i] = shuffle(x as i8, 1) as u32;", &|_, v| Some(v[1] as i8 as u32));
}

/// The value of each lane combined with those of the active lanes below.
fn scanned(lane: usize, values: &[u32], active: impl Fn(usize) -> bool, op: fn(u32, u32) -> u32) -> u32 {
    let below = (0..=lane).filter(|&n| active(n)).map(|n| values[n]);
    below.reduce(op).unwrap()
}

type Reduction = (&'static str, fn(u32, u32) -> u32);

const REDUCTIONS: [Reduction; 6] = [
    ("add", u32::wrapping_add),
    ("min", u32::min),
    ("max", u32::max),
    ("and", |a, b| a & b),
    ("or", |a, b| a | b),
    ("xor", |a, b| a ^ b),
];

#[test]
fn reductions() {
    for (name, op) in REDUCTIONS {
        check(&format!("out[i] = wave_reduce_{name}(x);"), &|_, v| v.iter().copied().reduce(op));
        let some = |n: usize| n % 7 == 2 || n == 9;
        check(&format!("if lane % 7 == 2 || lane == 9 {{ out[i] = wave_reduce_{name}(x); }}"), &|lane, v| {
            Some(if some(lane) { scanned(v.len() - 1, v, some, op) } else { 77 })
        });
        check(&format!("if lane == 3 {{ out[i] = wave_reduce_{name}(x); }}"), &|lane, v| {
            Some(if lane == 3 { v[3] } else { 77 })
        });
    }
}

#[test]
fn scans() {
    check("out[i] = wave_scan_add(x);", &|lane, v| Some(scanned(lane, v, |_| true, u32::wrapping_add)));
    check("if lane % 3 != 1 { out[i] = wave_scan_add(x); }", &|lane, v| {
        let active = |n: usize| n % 3 != 1;
        Some(if active(lane) { scanned(lane, v, active, u32::wrapping_add) } else { 77 })
    });
}

#[test]
fn reductions_of_other_types() {
    let signed = |v: &[u32]| v.iter().map(|&x| x as i32).min().unwrap() as u32;
    check("out[i] = wave_reduce_min(x as i32) as u32;", &|_, v| Some(signed(v)));
    check("out[i] = (wave_reduce_add((x as u64) << 8u32) >> 32u32) as u32;", &|_, v| {
        Some((v.iter().map(|&x| u64::from(x) << 8).sum::<u64>() >> 32) as u32)
    });
    check("out[i] = wave_reduce_max(lane as f32 * 0.5) as u32;", &|_, v| Some((v.len() as u32 - 1) / 2));
    check("out[i] = wave_reduce_add(u8x2(x as u8, 1)).x as u32;", &|_, v| {
        Some(v.iter().fold(0u8, |sum, &x| sum.wrapping_add(x as u8)).into())
    });
    check("out[i] = wave_scan_add(0.25f64) as u32;", &|lane, _| Some((lane as u32 + 1) / 4));
}

#[test]
fn wave_barriers_change_nothing() {
    let input: Vec<u32> = (0..64).collect();
    let source = "#[workgroup_size(64)] kernel t(input: *global u32, out: *global u32) {
        shared a: [u32; 64]; let i = local_id(0);
        a[i] = input[i]; wave_barrier(); out[i] = a[63 - i]; }";
    for (how, bytes) in run_bytes(source, 64, &[("input", to_bytes(&input))], 256) {
        let wanted: Vec<u32> = (0..64).rev().collect();
        assert!(bytes == to_bytes(&wanted), "{how}");
    }
}
