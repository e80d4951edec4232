//! Kernels whose waves synchronise by more than barriers: locks, flags, counters.

use testkit::{Arg, Case, Data, Expected, Kernel, Rng};

/// All of them; their sources are in `tests/cl/sync`.
pub const SYNCHRONISING: [Kernel; 5] = [
    Kernel { name: "spinlock", group: [128, 1, 1], cases: spinlock },
    Kernel { name: "last_block", group: [128, 1, 1], cases: last_block },
    Kernel { name: "chain", group: [64, 1, 1], cases: chain },
    Kernel { name: "grid_barrier", group: [128, 1, 1], cases: grid_barrier },
    Kernel { name: "queue", group: [128, 1, 1], cases: queue },
];

fn ints(values: impl IntoIterator<Item = i32>) -> Data {
    Data::I32(values.into_iter().collect())
}

fn output(name: &'static str, before: Data, after: Data) -> Arg {
    Arg::output(name, before, Expected::Exactly(after))
}

fn spinlock() -> Vec<Case> {
    let case = |groups: u32, rounds: u32| {
        let after = (0..groups * rounds).fold(0i32, |value, _| value.wrapping_mul(3).wrapping_add(1));
        let args = vec![
            output("lock", ints([0]), ints([0])),
            output("data", ints([0; 128]), ints([after; 128])),
            Arg::int("rounds", rounds as usize),
        ];
        Case { grid: [groups * 128, 1, 1], args }
    };
    vec![case(3, 2), case(6, 1)]
}

fn last_block() -> Vec<Case> {
    let case = |groups: usize| {
        let input: Vec<i32> =
            Rng::new(groups as u64).words(groups * 128).iter().map(|word| (word >> 8) as i32).collect();
        let sum = |values: &[i32]| values.iter().fold(0i32, |sum, value| sum.wrapping_add(*value));
        let sums: Vec<i32> = input.chunks(128).map(sum).collect();
        let args = vec![
            Arg::input("in", ints(input)),
            output("sums", ints(vec![0; groups]), ints(sums.clone())),
            output("count", ints([0]), ints([groups as i32])),
            output("out", ints([0]), ints([sum(&sums)])),
            Arg::int("groups", groups),
        ];
        Case { grid: [groups as u32 * 128, 1, 1], args }
    };
    [1, 5].map(case).into()
}

fn chain() -> Vec<Case> {
    let case = |groups: i32| {
        let after = (0..groups).flat_map(|group| (0..64).map(move |item| (groups - group) * (item + 1)));
        let args = vec![
            output("data", ints(vec![0; groups as usize * 64]), ints(after)),
            output("flags", ints(vec![0; groups as usize]), ints(vec![1; groups as usize])),
            Arg::int("groups", groups as usize),
        ];
        Case { grid: [groups as u32 * 64, 1, 1], args }
    };
    [6].map(case).into()
}

fn grid_barrier() -> Vec<Case> {
    let case = |groups: usize| {
        let items = groups * 128;
        let me = |item: usize| (item % items + 1) as i32;
        let before: Vec<i32> = (0..items).flat_map(|item| [0, item as i32 * 5]).collect();
        let two: Vec<i32> =
            (0..items).map(|item| before[2 * ((item + 128) % items) + 1] + 2 * me(item + 128)).collect();
        let after = (0..items).flat_map(|item| [me(item) + two[(item + 256) % items], before[2 * item + 1]]);
        let after = ints(after);
        let args = vec![
            output("one", ints(before.clone()), after),
            output("two", ints(vec![0; items]), ints(two)),
            output("count", ints([0]), ints([2 * groups as i32])),
            Arg::int("groups", groups),
        ];
        Case { grid: [items as u32, 1, 1], args }
    };
    [4].map(case).into()
}

fn queue() -> Vec<Case> {
    let case = |groups: usize| {
        let input: Vec<i32> = (0..groups as i32 * 64).map(|item| item * 7 + 3).collect();
        let after = input.chunks(64).flat_map(|chunk| chunk.iter().rev().map(|value| value * 2));
        let args = vec![
            Arg::input("in", ints(input.clone())),
            output("out", ints(vec![0; groups * 64]), ints(after)),
            Arg::int("none", 0),
        ];
        Case { grid: [groups as u32 * 128, 1, 1], args }
    };
    [3].map(case).into()
}
