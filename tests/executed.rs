//! Instructions that the waves of the 21 kernels execute: our code beside clang's for the same kernels, on the emulator.

mod common;

use common::{KERNELS, have, root, scratch, source, tool};
use kernc::sim::Device;
use kernc::{Compiler, OptLevel, Options, Subtarget};
use rayon::prelude::*;
use std::path::Path;

/// Most that the geometric mean may be of clang's.
const BOUND: f64 = 0.90;

/// One of each kind of code: processor and lanes.
const CELLS: [(&str, u32); 8] = [
    ("gfx600", 64),
    ("gfx700", 64),
    ("gfx803", 64),
    ("gfx906", 64),
    ("gfx90a", 64),
    ("gfx1010", 32),
    ("gfx1010", 64),
    ("gfx1030", 32),
];

fn executed(object: &[u8], kernel: &str, by: &str) -> u64 {
    testkit::execute(&mut Device::with_threads(1), object, kernel).unwrap_or_else(|why| panic!("{by}: {why}"))
}

fn ours(kernel: &str, (name, lanes): (&str, u32)) -> u64 {
    let target = Subtarget::by_name(name).and_then(|target| target.with_wave_size(lanes)).expect("it exists");
    let options = Options { opt_level: OptLevel::O2, ..Options::default() };
    let object = Compiler::new(target).compile(&source(kernel), &options);
    executed(object.unwrap_or_else(|error| panic!("{}", error.render(false))).bytes(), kernel, "ours")
}

fn clangs(kernel: &str, (name, lanes): (&str, u32), into: &Path) -> u64 {
    let out = into.join(format!("{kernel}.{name}.{lanes}.co"));
    let input = root().join("tests/cl").join(format!("{kernel}.cl"));
    let cpu = format!("-mcpu={name}");
    let mut args =
        vec!["-x", "cl", "-target", "amdgcn-amd-amdhsa", &cpu, "-nogpulib", "-O3", "-cl-std=CL2.0"];
    if name.starts_with("gfx10") && lanes == 64 {
        args.push("-mwavefrontsize64");
    }
    args.extend([input.to_str().unwrap(), "-o", out.to_str().unwrap()]);
    tool("clang-19", &args);
    executed(&std::fs::read(out).unwrap(), kernel, "clang's")
}

/// Prints a row a kernel, a column a processor, and holds the project to the means.
#[test]
fn beside_clang() {
    if !have(&["clang-19"], "beside_clang") {
        return;
    }
    let dir = scratch("executed");
    let wanted: Vec<_> = KERNELS.iter().flat_map(|&kernel| CELLS.map(|cell| (kernel, cell))).collect();
    let ratios: Vec<f64> = wanted
        .par_iter()
        .map(|&(kernel, cell)| ours(kernel, cell) as f64 / clangs(kernel, cell, &dir) as f64)
        .collect();
    let names = CELLS.map(|(name, lanes)| format!("{name} wave{lanes}"));
    println!("| kernel | {} |\n|-{}|", names.join(" | "), "|-".repeat(CELLS.len()));
    for (kernel, row) in KERNELS.iter().zip(ratios.chunks(CELLS.len())) {
        let row: Vec<String> = row.iter().map(|ratio| format!("{ratio:.2}")).collect();
        println!("| {kernel} | {} |", row.join(" | "));
    }
    let mean = |column: usize| {
        let logs = ratios.chunks(CELLS.len()).map(|row| row[column].ln());
        (logs.sum::<f64>() / KERNELS.len() as f64).exp()
    };
    let means: Vec<f64> = (0..CELLS.len()).map(mean).collect();
    let shown: Vec<String> = means.iter().map(|mean| format!("**{mean:.3}**")).collect();
    println!("| geometric mean | {} |", shown.join(" | "));
    for (mean, name) in means.iter().zip(&names) {
        assert!(*mean <= BOUND, "{name}: {mean:.3}");
    }
}
