//! Where debug information says that lanes are, held against where they go. `kernc-fuzz --what lanes` has more of it.

use fuzz::calls;
use fuzz::generate::{Size, generate};
use fuzz::lanes::{Count, How, Planted, Program, check, damage};
use fuzz::program::{PARAMS, Shape};
use kernc::{Convention, DwarfVersion, OptLevel, Subtarget};
use rayon::prelude::*;

const PROCESSORS: [(&str, u32); 5] =
    [("gfx803", 64), ("gfx906", 64), ("gfx90a", 64), ("gfx1030", 32), ("gfx1030", 64)];
const PROGRAMS: u64 = 8;
/// Seeds of functions that call each other, in programs that do not run long.
const CALLS: [u64; 3] = [6, 8, 11];
const LEVELS: [OptLevel; 2] = [OptLevel::O0, OptLevel::O2];

fn how(seed: u64, level: OptLevel) -> How {
    let (name, lanes) = PROCESSORS[(seed % 5) as usize];
    let target = Subtarget::by_name(name).and_then(|target| target.with_wave_size(lanes)).expect("known");
    let version = if seed.is_multiple_of(3) { DwarfVersion::V4 } else { DwarfVersion::V5 };
    How { target, level, version }
}

fn run(seed: u64, level: OptLevel, planted: Planted) -> Result<Count, String> {
    let program = generate(seed, Size::Small);
    let kernels = program.kernels().collect::<Vec<_>>();
    let (source, shape) = (&program.source(), &program.shape);
    let program =
        Program { source, kernels: &kernels, shape, call_abi: Convention::Today, is_witnessed: true };
    check(program, how(seed, level), planted).map_err(|wrong| format!("seed {seed} {level:?}: {wrong}"))
}

fn sum(counts: impl IntoIterator<Item = Count>) -> Count {
    let mut all = Count::default();
    counts.into_iter().for_each(|count| all += count);
    println!("{all:?}");
    all
}

#[test]
fn lanes_go_on_where_it_is_said() {
    let seeds = (1..1 + PROGRAMS).into_par_iter();
    let counts: Vec<Count> = seeds
        .flat_map_iter(|seed| LEVELS.map(|level| run(seed, level, Planted::Nothing)))
        .map(|count| count.unwrap_or_else(|wrong| panic!("{wrong}")))
        .collect();
    let all = sum(counts);
    assert!(all.waiting > 10_000 && all.resumed > 1000 && all.statements > 10_000, "{all:?}");
    assert!(100 * all.unknown < all.waiting, "{all:?}");
}

#[test]
fn callers_wait_for_what_they_call() {
    let counts: Vec<Count> = CALLS
        .into_par_iter()
        .flat_map_iter(|seed| LEVELS.map(|level| (seed, level)))
        .map(|(seed, level)| {
            let calls::Program { source, shape, call_abi, .. } =
                &calls::generate(seed, calls::MOST, calls::STATEMENTS);
            let program =
                Program { source, kernels: &["k"], shape, call_abi: *call_abi, is_witnessed: false };
            check(program, how(seed, level), Planted::Nothing)
                .unwrap_or_else(|wrong| panic!("seed {seed} {level:?}: {wrong}"))
        })
        .collect();
    let all = sum(counts);
    assert!(all.waiting > 10_000 && all.outside > 10_000 && all.resumed > 1000, "{all:?}");
    assert!(100 * all.unknown < all.waiting, "{all:?}");
}

/// Its last block is inside of all branches.
const GUARDED: &str = "#[workgroup_size(64)]
kernel k(PARAMS) {
    let i = global_id(0);
    if i % 3 != 1 {
        out[i] = input[i] + 1;
        if i % 5 == 2 {
            out[i] = out[i] * 7;
        }
    }
}
";

/// The last wave has not all its lanes.
const SHAPE: Shape = Shape { grid: [107, 1, 1], group: [64, 1, 1] };

fn guarded(source: &str) -> Program<'_> {
    Program { source, kernels: &["k"], shape: &SHAPE, call_abi: Convention::Today, is_witnessed: true }
}

#[test]
fn who_has_nothing_more_to_do_waits_for_the_end() {
    let source = GUARDED.replace("PARAMS", PARAMS);
    let counts = (0..5u64).flat_map(|seed| LEVELS.map(|level| how(seed, level))).map(|how| {
        let count =
            check(guarded(&source), how, Planted::Nothing).unwrap_or_else(|wrong| panic!("{how:?}: {wrong}"));
        assert!(count.unknown == 0 && count.outside > 0, "{how:?}: {count:?}");
        count
    });
    let all = sum(counts);
    assert!(all.ended > 300, "{all:?}");
}

/// `KERNC_HOSTILE=100000` for more of it.
#[test]
fn what_is_damaged_is_no_trouble() {
    let times = std::env::var("KERNC_HOSTILE").ok().and_then(|count| count.parse().ok()).unwrap_or(300);
    let source = GUARDED.replace("PARAMS", PARAMS);
    [1, 3].into_par_iter().for_each(|seed| damage(guarded(&source), how(seed, OptLevel::O2), times / 2));
}

#[test]
fn what_is_wrong_is_found() {
    for planted in [Planted::Later, Planted::Outside, Planted::Active] {
        let found = (1..1 + PROGRAMS).any(|seed| run(seed, OptLevel::O0, planted).is_err());
        assert!(found, "{planted:?}");
    }
}
