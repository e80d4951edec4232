//! What debug information says of the variables of random programs, held against the interpreter at each statement. `kernc-fuzz --what truth` has
//! more of it.

use fuzz::generate::{Size, generate};
use fuzz::program::{PARAMS, Shape};
use fuzz::truth::{Count, Planted, check, check_arrived, check_planted};
use kernc::{Dialect, OptLevel, Subtarget};
use rayon::prelude::*;

const PROCESSORS: [&str; 4] = ["gfx803", "gfx906", "gfx90a", "gfx1030"];
const PROGRAMS: u64 = 16;
/// Programs of which something was false once: parameters of a block that is bypassed from two sides, what is spilled where a block begins, sides of a
/// branch that are done always, what instructions that are gone computed of the values of a loop's head, when the loop was turned around, half of a
/// lane mask that was spilled, statements where EXEC was to be narrowed and nothing asked for it, the end of a block that was put together with others
/// over one that had been made for a while, what had moved up past code that its block was put behind, and sums of 32 bits that are made wider.
const FALSE_ONCE: [(u64, &str); 9] = [
    (30006, "gfx90a"),
    (47, "gfx1030"),
    (406, "gfx90a"),
    (2932, "gfx803"),
    (10173, "gfx90a"),
    (43396, "gfx90a"),
    (44703, "gfx90a"),
    (61063, "gfx1030"),
    (73260, "gfx90a"),
];

#[test]
fn debug_information_is_true() {
    let own = (700..700 + PROGRAMS).map(|seed| (seed, PROCESSORS[(seed % 4) as usize]));
    let seeds: Vec<(u64, &str)> = own.chain(FALSE_ONCE).collect();
    let seeds = seeds.into_par_iter();
    let counts: Vec<[Count; 2]> = seeds
        .map(|(seed, name)| {
            let program = generate(seed, Size::Small);
            let (source, kernels) = (program.source(), program.kernels().collect::<Vec<_>>());
            let target = Subtarget::by_name(name).expect("known");
            let dialect =
                if (seed / 4).is_multiple_of(2) { Dialect::Standard } else { Dialect::Heterogeneous };
            [OptLevel::O0, OptLevel::O2].map(|level| {
                check(&source, &kernels, &program.shape, (target, level, dialect))
                    .unwrap_or_else(|wrong| panic!("seed {seed} {name} {level:?}: {wrong}"))
            })
        })
        .collect();
    for level in 0..2 {
        let all = counts.iter().fold(Count::default(), |sum, count| sum.plus(count[level]));
        println!("{all:?}");
        assert!(all.stops > 10_000, "{all:?}");
        // Of what the program still needs: at -O0 all, at -O2 most.
        let least = [100, 85][level];
        assert!(100 * all.live_there >= least * all.live, "{all:?}");
    }
}

#[test]
fn a_wrong_bit_is_noticed() {
    for (seed, dialect) in [(700, Dialect::Standard), (701, Dialect::Heterogeneous)] {
        let program = generate(seed, Size::Small);
        let (source, kernels) = (program.source(), program.kernels().collect::<Vec<_>>());
        let target = Subtarget::by_name("gfx906").expect("known");
        for level in [OptLevel::O0, OptLevel::O2] {
            let how = (target, level, dialect);
            let wrong = check_planted(&source, &kernels, &program.shape, how, Planted::Bit);
            assert!(wrong.is_err_and(|wrong| wrong.contains(", not ")), "seed {seed} {level:?}");
        }
    }
}

/// Each file of `tests/truth` has a kernel of its name, with the parameters of generated ones, of which something was false once.
#[test]
fn what_was_false_once_is_true() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/truth");
    let files = std::fs::read_dir(folder).expect("the folder");
    let files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    assert!(files.len() >= 3);
    files.into_par_iter().for_each(|path| {
        let source = std::fs::read_to_string(&path).expect("a source").replace("PARAMS", PARAMS);
        let kernel = path.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        let shape = Shape { grid: [24, 1, 1], group: [16, 1, 1] };
        for name in PROCESSORS {
            let target = Subtarget::by_name(name).expect("known");
            for level in [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3] {
                for dialect in [Dialect::Standard, Dialect::Heterogeneous] {
                    let count = check(&source, &[kernel], &shape, (target, level, dialect))
                        .unwrap_or_else(|wrong| panic!("{kernel} {name} {level:?} {dialect:?}: {wrong}"));
                    assert!(count.stops > 50, "{kernel} {name} {level:?}: {count:?}");
                }
            }
        }
    });
}

/// In none of the registers that variables are said to be in is something on its way.
#[test]
fn what_is_on_its_way_is_not_there() {
    let looked: u64 = (800..816u64)
        .into_par_iter()
        .map(|seed| {
            let program = generate(seed, Size::Small);
            let (source, kernels) = (program.source(), program.kernels().collect::<Vec<_>>());
            let name = PROCESSORS[(seed % 4) as usize];
            let target = Subtarget::by_name(name).expect("known");
            let dialect =
                if (seed / 4).is_multiple_of(2) { Dialect::Standard } else { Dialect::Heterogeneous };
            let of_level = |level| {
                check_arrived(&source, &kernels, &program.shape, (target, level, dialect), Planted::Nothing)
                    .unwrap_or_else(|wrong| panic!("seed {seed} {name} {level:?}: {wrong}"))
            };
            [OptLevel::O0, OptLevel::O2].map(of_level).iter().sum::<u64>()
        })
        .sum();
    assert!(looked > 10_000, "{looked}");
}

#[test]
fn what_is_too_early_is_noticed() {
    let program = generate(800, Size::Small);
    let (source, kernels) = (program.source(), program.kernels().collect::<Vec<_>>());
    let how = (Subtarget::by_name("gfx803").expect("known"), OptLevel::O2, Dialect::Standard);
    let wrong = check_arrived(&source, &kernels, &program.shape, how, Planted::Lanes);
    assert!(wrong.as_ref().is_err_and(|wrong| wrong.ends_with("too early")), "{wrong:?}");
}
