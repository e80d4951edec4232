//! Functions of our compiler and of clang call each other in the emulator, in strict mode, over random signatures.
//!
//! A kernel of ours calls functions of clang's, and a kernel of clang's our `#[export]` functions: by name, by an address that is the same in all
//! lanes, and by addresses that differ between lanes, while one lane sleeps. Functions store all their arguments, make one number of their
//! bytes, and choose their result by it. `KERNC_INTEROP=300` is a long run: so many signatures for each processor, clang and version.
//!
//! # Not here
//! What one of the languages does not have: vectors of `bool` (E0091), tuples and arrays by themselves (no C), pointers to the global data share, variable
//! arguments and unions (no kernel language). Structs beyond 32 dwords from OpenCL's functions, which take another address than C's for
//! them. Large structs as arguments of LLVM 14, which the
//! compiler does not pass (E0091). Our side follows the convention of that clang (`--call-abi llvm14`).

#[path = "../../isa/callconv/tests/interop/ctypes.rs"]
mod ctypes;
#[path = "../../isa/callconv/tests/interop/random.rs"]
mod random;

mod case;
mod machine;
mod ours;
mod refusals;
mod theirs;

use case::Case;
use kernc::OptLevel;
use machine::{Config, Outcome};

/// Processor, lanes.
const TARGETS: [(&str, u32); 7] = [
    ("gfx700", 64),
    ("gfx803", 64),
    ("gfx906", 64),
    ("gfx90a", 64),
    ("gfx942", 64),
    ("gfx1010", 32),
    ("gfx1010", 64),
];
/// The processor that clang 14 does not know.
const NEW: &str = "gfx942";
/// Clang and version of code objects: each knows two.
const CLANGS: [(&str, u8); 4] = [("clang-19", 5), ("clang-19", 4), ("clang-14", 3), ("clang-14", 4)];
/// How much each side optimises.
const LEVELS: [(OptLevel, &str); 6] = [
    (OptLevel::O2, "-O2"),
    (OptLevel::O0, "-O0"),
    (OptLevel::O2, "-O1"),
    (OptLevel::O0, "-O2"),
    (OptLevel::O2, "-O0"),
    (OptLevel::O0, "-O1"),
];
/// Signatures of one object.
const BATCH: usize = 50;

use support::is_there as has;

/// Signatures of a processor that one clang has in one version, a batch after the other, each at other levels.
struct Turn {
    config: Config,
    /// Which pair of levels comes next.
    levels: usize,
    done: usize,
    seed: u64,
}

impl Turn {
    fn new(target: usize, clang: usize) -> Turn {
        let ((cpu, lanes), (name, version)) = (TARGETS[target], CLANGS[clang]);
        Turn { config: Config::new(name, version, cpu, lanes), levels: target + clang, done: 0, seed: 0 }
    }

    fn run(&mut self, count: usize) -> Outcome {
        let config = &mut self.config;
        (config.ours, config.theirs) = LEVELS[self.levels % LEVELS.len()];
        if config.lacks_aperture() && config.theirs == "-O0" {
            // All its variables have flat addresses then.
            config.theirs = "-O1";
        }
        let (cases, next) = Case::list(self.seed, count, config);
        let outcome = machine::run(&cases, config, self.done == 0 && has("ld.lld-19"));
        (self.levels, self.done, self.seed) = (self.levels + 1, self.done + cases.len(), next);
        outcome
    }
}

/// On a processor; the clangs and versions take turns, but in a long run, which has all of them.
fn calls(target: usize) {
    let asked: Option<usize> = std::env::var("KERNC_INTEROP").ok().and_then(|text| text.parse().ok());
    let is_known = |clang: &usize| TARGETS[target].0 != NEW || CLANGS[*clang].0 != "clang-14";
    let wanted = |clang: &usize| is_known(clang) && (asked.is_some() || *clang == target % CLANGS.len());
    let mut turns = Vec::new();
    for clang in (0..CLANGS.len()).filter(wanted) {
        match has(CLANGS[clang].0) {
            true => turns.push(Turn::new(target, clang)),
            false => println!("left out: there is no {}", CLANGS[clang].0),
        }
    }
    let (count, mut sum) = (asked.unwrap_or(10), Outcome::default());
    for from in (0..count).step_by(BATCH) {
        for turn in &mut turns {
            let outcome = turn.run(BATCH.min(count - from));
            let Outcome { runs, by_lld, wrong } = &outcome;
            println!(
                "{}, {} signatures: {runs} runs, {by_lld} of ld.lld, {} wrong",
                turn.config,
                turn.done,
                wrong.len()
            );
            sum.add(outcome);
        }
    }
    let Outcome { runs, by_lld, wrong } = sum;
    println!("{:?}: {runs} runs, {by_lld} of what ld.lld linked, {} wrong", TARGETS[target], wrong.len());
    assert!(
        wrong.is_empty(),
        "{} mistakes, first:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(12)].join("\n")
    );
}

#[test]
fn gfx700() {
    calls(0);
}

#[test]
fn gfx803() {
    calls(1);
}

#[test]
fn gfx906() {
    calls(2);
}

#[test]
fn gfx90a() {
    calls(3);
}

#[test]
fn gfx942() {
    calls(4);
}

#[test]
fn gfx1010_with_32_lanes() {
    calls(5);
}

#[test]
fn gfx1010_with_64_lanes() {
    calls(6);
}
