//! The 21 kernels and the programs of `tests/data/run` on every processor that is compiled for, in every mode
//! it has.

use crate::common::{KERNELS, compile_as, source};
use crate::run_file::RunFile;
use isa::Feature;
use kernc::sim::{Device, Mode};
use kernc::{
    CodeObjectVersion, Compiler, Language, OptLevel, Options, PROCESSORS, Subtarget, Target, combinations,
};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};

/// Every processor in every combination of its modes.
fn cells() -> Vec<Subtarget> {
    let of = |target: &'static Target| {
        let on =
            move |modes: kernc::Modes| modes.on(target, CodeObjectVersion::default()).expect("it has them");
        combinations(target).into_iter().map(on)
    };
    PROCESSORS.iter().flat_map(of).collect()
}

/// One processor for each kind of code that differs much.
fn kinds() -> impl Iterator<Item = Subtarget> {
    let names = ["gfx600", "gfx700", "gfx802", "gfx803", "gfx902", "gfx90a", "gfx942", "gfx1010", "gfx1030"];
    cells().into_iter().filter(move |cell| names.contains(&cell.name))
}

fn compile(kernel: &str, cell: Subtarget, opt_level: OptLevel) -> Vec<u8> {
    let text = source(kernel);
    let params =
        if KERNELS.contains(&kernel) { Vec::new() } else { RunFile::parse(&text).expect(kernel).params() };
    let options = Options {
        opt_level,
        verify: true,
        params,
        files: Some(crate::harness::files()),
        ..Options::default()
    };
    let compiled = Compiler::new(cell).compile(&text, &options);
    compiled.unwrap_or_else(|error| panic!("{kernel} for {cell}: {}", error.render(false))).bytes().to_vec()
}

/// What `kernc check` finds in an object.
fn findings(object: &[u8]) -> Option<String> {
    let parsed = codeobj::CodeObject::parse(object).expect("our own object");
    let report = check::object::check(&parsed, &check::object::Options::default()).expect("code of ours");
    report.findings.first().map(|finding| format!("{finding:?}"))
}

/// Runs an object of one of the 21 kernels, or of a program of `tests/data/run`: what is wrong with the
/// results.
fn run(kernel: &str, object: &[u8], mode: Mode) -> Result<(), String> {
    if KERNELS.contains(&kernel) {
        let mut device = Device::with_threads(1);
        device.set_mode(mode);
        return testkit::check_kernel_on(&mut device, object, kernel);
    }
    let text = source(kernel);
    let file = RunFile::parse(&text)?;
    file.compare(&crate::harness::emulate_in(mode, &file.launch(), object)?)
}

/// What does not go well with a kernel in a cell: `kernc check` finds something, or results are wrong.
fn trouble(kernel: &str, cell: Subtarget, level: OptLevel, mode: Mode) -> Option<String> {
    let what =
        || format!("{kernel} at {level:?} for {cell}, cumode {}, tgsplit {}", cell.cumode, cell.tgsplit);
    let object = compile(kernel, cell, level);
    let found = findings(&object).or_else(|| run(kernel, &object, mode).err());
    found.map(|why| format!("{}: {why}", what()))
}

fn all_well(cells: &[Subtarget], levels: &[OptLevel], mode: Mode) {
    let runs: Vec<_> = cells
        .iter()
        .flat_map(|&cell| levels.iter().flat_map(move |&level| KERNELS.map(|kernel| (kernel, cell, level))))
        .collect();
    let failures: Vec<String> =
        runs.par_iter().filter_map(|&(kernel, cell, level)| trouble(kernel, cell, level, mode)).collect();
    println!("{} runs, {} failures", runs.len(), failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Processors differ in less than their number suggests: code that has run for another one of the generation
/// is not run again.
#[test]
fn every_processor_in_every_mode() {
    let mut seen = HashSet::new();
    let mut fresh = |cell: &Subtarget| {
        let code: Vec<Vec<u8>> =
            KERNELS.iter().map(|kernel| text(&compile(kernel, *cell, OptLevel::O2))).collect();
        seen.insert((code, cell.arch.id as u8, cell.wave_size))
    };
    let all = cells();
    let (count, cells): (usize, Vec<Subtarget>) = (all.len(), all.into_iter().filter(&mut fresh).collect());
    println!("{count} cells, {} kinds of code", cells.len());
    all_well(&cells, &[OptLevel::O2], Mode::Fast);
}

#[test]
fn other_levels() {
    all_well(&kinds().collect::<Vec<_>>(), &[OptLevel::O0, OptLevel::O3], Mode::Fast);
}

#[test]
fn strict() {
    all_well(&kinds().collect::<Vec<_>>(), &[OptLevel::O2], Mode::STRICT);
}

/// Memory operations complete out of order, and stores of GFX6 read their data late.
#[test]
fn weak() {
    let cells: Vec<Subtarget> = kinds().filter(|cell| cell.name == "gfx600").collect();
    for seed in [1, 2] {
        all_well(&cells, &[OptLevel::O2], Mode::Weak { seed });
    }
}

/// On gfx940 and gfx941 every store to memory has the scope of the system, as in LLVM's code; on gfx942 a plain
/// store has none.
#[test]
fn stores_with_the_scope_of_the_system() {
    for (name, has_scope) in [("gfx940", true), ("gfx941", true), ("gfx942", false)] {
        let target = Subtarget::by_name(name).expect("a processor");
        let object = compile_as("sgemm_lds", OptLevel::O0, target, Language::default());
        let listing = object.assembly(None).expect("a listing");
        for family in ["global_store_", "scratch_store_"] {
            let stores: Vec<&str> = listing.lines().filter(|line| line.trim().starts_with(family)).collect();
            assert!(!stores.is_empty(), "{name}: {family}");
            let wrong = stores.iter().find(|line| line.contains(" sc0 sc1") != has_scope);
            assert_eq!(wrong, None, "{name}");
        }
    }
}

/// The programs of `tests/data/run`, which have what the 21 kernels lack: scratch, atomics, exits from loops,
/// lanes' values.
#[test]
fn small_programs() {
    let cells: Vec<Subtarget> = kinds().collect();
    let names = crate::run_file::names();
    let runs: Vec<_> = cells
        .iter()
        .flat_map(|&cell| names.iter().filter(move |name| exists(name, &cell)).map(move |name| (name, cell)))
        .collect();
    let failures: Vec<String> = runs
        .par_iter()
        .filter_map(|&(name, cell)| {
            let weak = || trouble(name, cell, OptLevel::O2, Mode::Weak { seed: 1 });
            trouble(name, cell, OptLevel::O2, Mode::STRICT)
                .or_else(|| trouble(name, cell, OptLevel::O0, Mode::Fast))
                .or_else(|| source(name).contains("atomic_").then(weak).flatten())
        })
        .collect();
    println!("{} programs, {} cells, {} failures", names.len(), cells.len(), failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Programs that count on a work-group of 64 in one wave.
const OF_ONE_WAVE: [&str; 2] = ["positions_1d", "restrict_at_calls"];

/// Programs in which a flag in LDS hands on what is in memory: a split group has no LDS, and no such
/// hand-over.
const BY_LDS: [&str; 3] = ["handover_group_two_levels", "handover_two_hops", "handover_last_wave_stores"];

fn exists(name: &str, cell: &Subtarget) -> bool {
    let flat = cell.has(Feature::FLAT) || !source(name).contains("//@ needs flat\n");
    flat && (cell.wave_size == 64 || !OF_ONE_WAVE.contains(&name))
        && !(cell.tgsplit && BY_LDS.contains(&name))
}

/// Everything: takes minutes in the fuzz profile, which takes as long to build, and is not run by `cargo
/// test`.
///
/// `cargo test --profile fuzz --test kernc processors:: -- --ignored --nocapture` prints a row a processor:
/// how many cells of mode, level and program there are, how many of these have the bytes of a cell that ran
/// before (and are not run again), what failed.
#[test]
#[ignore = "takes minutes"]
fn the_whole_table() {
    const LEVELS: [OptLevel; 3] = [OptLevel::O0, OptLevel::O2, OptLevel::O3];
    const MODES: [Mode; 4] = [Mode::Fast, Mode::STRICT, Mode::Weak { seed: 1 }, Mode::Weak { seed: 2 }];
    let files = crate::run_file::names();
    let names: Vec<&str> = KERNELS.into_iter().chain(files.iter().map(String::as_str)).collect();
    let mut seen = HashSet::new();
    let mut rows: HashMap<&str, [usize; 3]> = HashMap::new();
    let mut failures = Vec::new();
    let only = std::env::var("KERNC_ONLY").ok();
    let asked =
        |cell: &Subtarget| only.as_ref().is_none_or(|only| only.split(',').any(|name| name == cell.name));
    for cell in cells().into_iter().filter(asked) {
        let programs = names.iter().filter(|name| exists(name, &cell));
        let wanted: Vec<_> = programs.flat_map(|&name| LEVELS.map(|level| (name, level))).collect();
        let objects: Vec<Vec<u8>> =
            wanted.par_iter().map(|&(name, level)| compile(name, cell, level)).collect();
        let kind = (cell.arch.id as u8, cell.wave_size, cell.cumode, cell.tgsplit);
        let fresh: Vec<_> = wanted
            .iter()
            .zip(&objects)
            .filter(|((name, _), object)| seen.insert((kind, (*name).to_owned(), text(object))))
            .collect();
        let found: Vec<String> = fresh
            .par_iter()
            .flat_map(|&(&(name, level), object)| {
                let what = move |why| format!("{name} at {level:?} for {cell}: {why}");
                let wrong = findings(object).into_iter().map(what);
                let runs = MODES.into_iter().filter_map(move |mode| run(name, object, mode).err().map(what));
                wrong.chain(runs).collect::<Vec<_>>()
            })
            .collect();
        let row = rows.entry(cell.name).or_default();
        *row =
            [row[0] + wanted.len() * MODES.len(), row[1] + fresh.len() * MODES.len(), row[2] + found.len()];
        println!(
            "| {cell}, cumode {}, tgsplit {} | {} | {} | {} |",
            cell.cumode, cell.tgsplit, row[0], row[1], row[2]
        );
        failures.extend(found);
    }
    let sum = rows.values().fold([0; 3], |sum, row| [sum[0] + row[0], sum[1] + row[1], sum[2] + row[2]]);
    println!("| all | {} | {} | {} |", sum[0], sum[1], sum[2]);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn text(object: &[u8]) -> Vec<u8> {
    crate::common::section(object, ".text")
}
