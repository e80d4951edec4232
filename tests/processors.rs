//! The 21 kernels on every processor that is compiled for, in every mode it has.

mod common;

use common::{KERNELS, source};
use kernc::sim::{Device, Mode};
use kernc::{CodeObjectVersion, Compiler, OptLevel, Options, PROCESSORS, Subtarget, Target, combinations};
use rayon::prelude::*;
use std::collections::HashSet;

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
    let names = ["gfx600", "gfx700", "gfx802", "gfx803", "gfx902", "gfx90a", "gfx1010", "gfx1030"];
    cells().into_iter().filter(move |cell| names.contains(&cell.name))
}

fn compile(kernel: &str, cell: Subtarget, opt_level: OptLevel) -> Vec<u8> {
    let options = Options { opt_level, verify: true, ..Options::default() };
    let compiled = Compiler::new(cell).compile(&source(kernel), &options);
    compiled.unwrap_or_else(|error| panic!("{kernel} for {cell}: {}", error.render(false))).bytes().to_vec()
}

/// What does not go well with a kernel in a cell: `kernc check` finds something, or results are wrong.
fn trouble(kernel: &str, cell: Subtarget, level: OptLevel, mode: Mode) -> Option<String> {
    let object = compile(kernel, cell, level);
    let what = format!("{kernel} at {level:?} for {cell}, cumode {}, tgsplit {}", cell.cumode, cell.tgsplit);
    let parsed = codeobj::CodeObject::parse(&object).expect("our own object");
    let report = check::object::check(&parsed, &check::object::Options::default()).expect("code of ours");
    if let Some(finding) = report.findings.first() {
        return Some(format!("{what}: {finding:?}"));
    }
    let mut device = Device::with_threads(1);
    device.set_mode(mode);
    testkit::check_kernel_on(&mut device, &object, kernel).err().map(|why| format!("{what}: {why}"))
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

/// Processors differ in less than their number suggests: code that has run for another one of the generation is not run again.
#[test]
fn every_processor_in_every_mode() {
    let mut seen = HashSet::new();
    let mut fresh = |cell: &Subtarget| {
        let code: Vec<Vec<u8>> =
            KERNELS.iter().map(|kernel| text(&compile(kernel, *cell, OptLevel::O2))).collect();
        seen.insert((code, cell.generation, cell.wave_size, cell.name == "gfx90a"))
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

fn text(object: &[u8]) -> Vec<u8> {
    common::section(object, ".text")
}
