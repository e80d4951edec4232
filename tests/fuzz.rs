//! A short, fixed run of the differential fuzzer; the long one is `cargo run --profile fuzz -p kernc-fuzz`.

use fuzz::garbage::{self, Kind};
use fuzz::generate::Size;
use fuzz::{Config, calls, check};
use kernc::{OptLevel, Target};
use rayon::prelude::*;

fn run(target: &str, seeds: std::ops::Range<u64>) {
    let config = |seed: u64| Config {
        target: Target::by_name(target).unwrap().into(),
        levels: vec![OptLevel::O0, OptLevel::O2],
        verify: true,
        shrink: true,
        size: Size::Small,
        mode: fuzz::mode(Size::Small, seed),
    };
    let failures: Vec<String> = seeds
        .into_par_iter()
        .filter_map(|seed| check(seed, &config(seed)).err())
        .map(|failure| failure.to_string())
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn gfx906() {
    run("gfx906", 1..101);
}

#[test]
fn gfx900() {
    run("gfx900", 300..341);
}

/// Those that take parts of registers and values of other lanes as operands.
#[test]
fn generations() {
    for (target, seed) in [("gfx803", 3000), ("gfx90a", 4000), ("gfx1010", 5000), ("gfx1030", 6000)] {
        run(target, seed..seed + 25);
    }
}

/// Functions that call each other, themselves and through pointers: the optimiser's IR does what the frontend's does.
#[test]
fn calls_of_functions() {
    run_calls("gfx906", &[OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3], 1..81, false);
}

/// So does the code, with garbage in what calls may change, without a report of strict mode.
#[test]
fn code_of_calls() {
    for (target, seed) in [
        ("gfx600", 100),
        ("gfx803", 200),
        ("gfx906", 300),
        ("gfx90a", 400),
        ("gfx942", 450),
        ("gfx1030", 500),
    ] {
        run_calls(target, &[OptLevel::O0, OptLevel::O2], seed..seed + 20, true);
    }
}

fn run_calls(target: &str, levels: &[OptLevel], seeds: std::ops::Range<u64>, emulates: bool) {
    let config = Config {
        target: Target::by_name(target).unwrap().into(),
        levels: levels.to_vec(),
        verify: true,
        shrink: false,
        size: Size::Small,
        mode: kernc::sim::Mode::STRICT,
    };
    let failures: Vec<String> = seeds
        .into_par_iter()
        .filter_map(|seed| calls::check(seed, &config, emulates).err())
        .map(|failure| failure.to_string())
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Thousands of instructions, all shapes mixed, without a report of strict mode.
#[test]
fn large() {
    let config = Config {
        target: Target::by_name("gfx906").unwrap().into(),
        levels: vec![OptLevel::O0, OptLevel::O2],
        verify: true,
        shrink: false,
        size: Size::Large,
        mode: fuzz::mode(Size::Large, 0),
    };
    let failures: Vec<String> =
        (1..7u64).into_par_iter().filter_map(|seed| check(seed, &config).err()).map(|f| f.what).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn damaged_source() {
    // Most damage is noticed, and some is not: both ends of the property are reached.
    let passed = garbage::run(Kind::Source, 1, 10_000);
    assert!((100..9_000).contains(&passed), "{passed}");
}

#[test]
fn damaged_objects() {
    let passed = garbage::run(Kind::Object, 1, 10_000);
    assert!((5..9_900).contains(&passed), "{passed}");
}

#[test]
fn damaged_arrays() {
    let passed = garbage::run(Kind::Npy, 1, 10_000);
    assert!((100..9_000).contains(&passed), "{passed}");
}
