//! Hostile input: damaged code objects and random programs, dispatched with wild sizes and arguments in every mode. Whatever
//! they are: no panic, an end within the budget of instructions, bounded memory of the host, the same result each time,
//! and allocations that the kernel was told nothing of stay as they were.
//!
//! `KERNC_HOSTILE=100000 cargo test -p kernc-sim --test sim hostile::` for a long run; `KERNC_HOSTILE_CASE=N` for one case alone.

mod attempt;
mod instructions;
mod mutate;
mod seeds;
mod stream;

use attempt::{Attempt, Outcome};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use testkit::Rng;

/// How many cases of a kind: what the environment says, or a few.
fn cases(few: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    match number("KERNC_HOSTILE_CASE") {
        Some(case) => case..case + 1,
        None => 0..number("KERNC_HOSTILE").unwrap_or(few),
    }
}

/// Most time that one case may take, on a slow machine.
const MAX_TIME: Duration = Duration::from_secs(300);

/// Ends the process when a case does not end: nothing else would.
struct Watchdog {
    running: Mutex<Vec<(u64, Instant)>>,
    done: AtomicBool,
}

impl Watchdog {
    fn watch(&self, name: &str) {
        while !self.done.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(20));
            let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((number, _)) = running.iter().find(|(_, since)| since.elapsed() > MAX_TIME) {
                eprintln!("{name}: KERNC_HOSTILE_CASE={number} does not end");
                std::process::exit(1);
            }
        }
    }

    fn case<T>(&self, number: u64, run: impl FnOnce() -> T) -> T {
        let lock = || self.running.lock().unwrap_or_else(PoisonError::into_inner);
        lock().push((number, Instant::now()));
        let result = run();
        lock().retain(|(other, _)| *other != number);
        result
    }
}

/// Runs all cases and prints how they ended; those that panic fail it together.
fn run_all(name: &str, few: u64, case: impl Fn(u64) -> Vec<Outcome> + Sync) {
    let started = Instant::now();
    let watchdog = Watchdog { running: Mutex::default(), done: AtomicBool::new(false) };
    let guarded = |number| {
        let started = Instant::now();
        let outcomes = watchdog.case(number, || catch_unwind(AssertUnwindSafe(|| case(number))));
        if outcomes.is_err() {
            eprintln!("{name}: KERNC_HOSTILE_CASE={number} panics");
        }
        (number, outcomes.map_err(|_| number), started.elapsed())
    };
    let results: Vec<(u64, Result<Vec<Outcome>, u64>, Duration)> = std::thread::scope(|scope| {
        scope.spawn(|| watchdog.watch(name));
        let results = cases(few).into_par_iter().map(guarded).collect();
        watchdog.done.store(true, Ordering::Release);
        results
    });
    let mut ends: BTreeMap<Outcome, u64> = BTreeMap::new();
    for outcome in results.iter().flat_map(|(_, outcomes, _)| outcomes).flatten() {
        *ends.entry(*outcome).or_default() += 1;
    }
    let slowest = results.iter().max_by_key(|(_, _, taken)| *taken);
    let slowest = slowest.map(|(number, _, taken)| format!("slowest: case {number}, {taken:.1?}"));
    eprintln!(
        "{name}: {} cases in {:.0?}, {}",
        results.len(),
        started.elapsed(),
        slowest.unwrap_or_default()
    );
    for (outcome, count) in &ends {
        eprintln!("  {count:8} {outcome}");
    }
    if let Some(kilobytes) = peak_memory() {
        eprintln!("  peak of this process: {} MiB", kilobytes / 1024);
        assert!(kilobytes < 6 << 20, "{name}: {kilobytes} KiB");
    }
    let panics: Vec<u64> =
        results.iter().filter_map(|(_, outcomes, _)| outcomes.as_ref().err().copied()).collect();
    assert!(panics.is_empty(), "{name}: {} cases panic: {panics:?}", panics.len());
    if results.len() > 100 {
        for outcome in [Outcome::Ran("fast"), Outcome::Faulted("fast", "fault"), Outcome::Ran("strict")] {
            assert!(ends.contains_key(&outcome), "{name}: never {outcome}");
        }
    }
}

/// Most memory that this process has had, where Linux says it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Real objects of every version and generation, with bytes, fields, words or whole parts exchanged.
#[test]
fn damaged_objects() {
    let seeds = seeds::all();
    run_all("damaged objects", 200, |number| {
        let mut rng = Rng::new(number * 2 + 1);
        let seed = &seeds[rng.below(seeds.len() as u32) as usize];
        let bytes = mutate::mutate(seed, &mut rng);
        Attempt { bytes: &bytes, rng: &mut rng, processor: None }.everything()
    });
}

/// Objects that are right, but for their size.
#[test]
fn truncated_objects() {
    let seeds = seeds::all();
    for seed in seeds.iter().step_by(7) {
        for end in (0..seed.bytes.len()).step_by(97) {
            let mut rng = Rng::new(end as u64);
            Attempt { bytes: &seed.bytes[..end], rng: &mut rng, processor: None }.everything();
        }
    }
}

/// Random instructions that each processor has, on random registers.
#[test]
fn random_programs() {
    run_all("random programs", 150, |number| {
        let mut rng = Rng::new(number * 2 + 2);
        let (target, bytes) = stream::program(number, &mut rng);
        Attempt { bytes: &bytes, rng: &mut rng, processor: Some(target) }.everything()
    });
}
