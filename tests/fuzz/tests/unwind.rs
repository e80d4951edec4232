//! Call frame information of random call graphs, held against the emulator's own call stack at each instruction that runs. `kernc-fuzz --what
//! unwind` has more of it.

use fuzz::calls::{self, Counts, Effort};
use fuzz::generate::Size;
use kernc::sim::Mode;
use kernc::{OptLevel, Subtarget};
use rayon::prelude::*;

/// Processors and seeds of programs that do not run long, on waves of 32 and of 64 lanes.
const RUNS: [(&str, u64); 6] =
    [("gfx906", 2), ("gfx803", 6), ("gfx90a", 8), ("gfx942", 3), ("gfx1030", 11), ("gfx1030", 14)];

/// Instructions that are looked at in each run.
const PLACES: u64 = 600;

#[test]
fn unwinding_finds_what_callers_had() {
    let all: Vec<Counts> = RUNS
        .into_par_iter()
        .map(|(processor, seed)| {
            let mut target = Subtarget::by_name(processor).expect("known");
            if seed == 14 {
                target = target.with_wave_size(64).expect("it has both");
            }
            let (levels, mode) = (vec![OptLevel::O0, OptLevel::O2], Mode::Fast);
            let config =
                fuzz::Config { target, levels, verify: false, shrink: false, size: Size::Small, mode };
            calls::unwinds(seed, &config, Effort { places: PLACES, ..Effort::EACH })
                .unwrap_or_else(|failure| panic!("{failure}"))
        })
        .collect();
    let mut counts = Counts::default();
    all.into_iter().for_each(|more| counts += more);
    println!("{counts:?}");
    // Something is lost, as it may be; most is found.
    assert!(counts.places > 4_000 && counts.frames > 4_000, "{counts:?}");
    assert!(
        counts.found > 2 * (counts.lost_scalars + counts.lost_vectors) && counts.parts > 1_000,
        "{counts:?}"
    );
    // Calls pass something that can be told, which was right.
    assert!(counts.passed > 1_000 && counts.passed > counts.not_passed, "{counts:?}");
}
