//! Where debug information says that lanes are, held against where they go. `kernc-fuzz --what lanes` has more of it.

use fuzz::generate::{Size, generate};
use fuzz::lanes::{Count, Planted, check};
use kernc::{OptLevel, Subtarget};
use rayon::prelude::*;

const PROCESSORS: [(&str, u32); 5] =
    [("gfx803", 64), ("gfx906", 64), ("gfx90a", 64), ("gfx1030", 32), ("gfx1030", 64)];
const PROGRAMS: u64 = 10;
const LEVELS: [OptLevel; 2] = [OptLevel::O0, OptLevel::O2];

fn run(seed: u64, level: OptLevel, planted: Planted) -> Result<Count, String> {
    let program = generate(seed, Size::Small);
    let (source, kernels) = (program.source(), program.kernels().collect::<Vec<_>>());
    let (name, lanes) = PROCESSORS[(seed % 5) as usize];
    let target = Subtarget::by_name(name).and_then(|target| target.with_wave_size(lanes)).expect("known");
    check(&source, &kernels, &program.shape, (target, level), planted)
        .map_err(|wrong| format!("seed {seed} {name} {level:?}: {wrong}"))
}

#[test]
fn lanes_go_on_where_it_is_said() {
    let seeds = (1..1 + PROGRAMS).into_par_iter();
    let counts: Vec<Count> = seeds
        .flat_map_iter(|seed| LEVELS.map(|level| run(seed, level, Planted::Nothing)))
        .map(|count| count.unwrap_or_else(|wrong| panic!("{wrong}")))
        .collect();
    let mut all = Count::default();
    counts.into_iter().for_each(|count| all += count);
    println!("{all:?}");
    assert!(all.waiting > 10_000 && all.resumed > 1000 && all.ended > 0 && all.statements > 10_000, "{all:?}");
    assert!(100 * all.unknown < all.waiting, "{all:?}");
}

#[test]
fn what_is_wrong_is_found() {
    for planted in [Planted::Later, Planted::Outside, Planted::Active] {
        let found = (1..1 + PROGRAMS).any(|seed| run(seed, OptLevel::O0, planted).is_err());
        assert!(found, "{planted:?}");
    }
}
