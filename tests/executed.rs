//! Instructions that waves execute: our code beside clang's for the same kernels, on the emulator. The kernels are the 21
//! examples, and small ones in `tests/executed` with functions that work on private arrays, loops of rounds after an `if`,
//! and tables of indices.

use crate::common::{KERNELS, have, root, scratch, source, tool};
use kernc::sim::{CodeObject, Device, Dispatch};
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

fn our_count(kernel: &str, cell: (&str, u32)) -> u64 {
    executed(&compiled(&source(kernel), cell), kernel, "ours")
}

/// Our code object.
fn compiled(source: &str, (name, lanes): (&str, u32)) -> Vec<u8> {
    let target = Subtarget::by_name(name).and_then(|target| target.with_wave_size(lanes)).expect("it exists");
    let options = Options { opt_level: OptLevel::O2, ..Options::default() };
    let object = Compiler::new(target).compile(source, &options);
    object.unwrap_or_else(|error| panic!("{}", error.render(false))).bytes().to_vec()
}

fn clangs(kernel: &str, cell: (&str, u32), into: &Path) -> u64 {
    executed(&compiled_by_clang("tests/cl", kernel, cell, into), kernel, "clang's")
}

/// Clang's code object of a kernel in a folder.
fn compiled_by_clang(folder: &str, kernel: &str, (name, lanes): (&str, u32), into: &Path) -> Vec<u8> {
    let out = into.join(format!("{kernel}.{name}.{lanes}.co"));
    let input = root().join(folder).join(format!("{kernel}.cl"));
    let cpu = format!("-mcpu={name}");
    let mut args =
        vec!["-x", "cl", "-target", "amdgcn-amd-amdhsa", &cpu, "-nogpulib", "-O3", "-cl-std=CL2.0"];
    if name.starts_with("gfx10") && lanes == 64 {
        args.push("-mwavefrontsize64");
    }
    args.extend([input.to_str().unwrap(), "-o", out.to_str().unwrap()]);
    tool("clang-19", &args);
    std::fs::read(out).unwrap()
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
        .map(|&(kernel, cell)| our_count(kernel, cell) as f64 / clangs(kernel, cell, &dir) as f64)
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

/// The small kernels.
const SMALL: [&str; 12] = [
    "block_cipher",
    "digest",
    "lattice",
    "median",
    "mix",
    "network",
    "power",
    "reversal",
    "sponge",
    "stream",
    "transform",
    "zigzag",
];

/// Their argument `n`.
const N: u32 = 11;
/// Work-items of a dispatch, and numbers that each of them may read and write.
const ITEMS: u32 = 128;
const EACH: u32 = 32;

/// Instructions that a small kernel executes, and what it has written.
fn run_small(object: &[u8], kernel: &str) -> (u64, Vec<u8>) {
    let mut device = Device::with_threads(1);
    let object = CodeObject::load(object).expect("it is a code object");
    let module = device.load(&object).expect("it loads");
    let bytes = u64::from(ITEMS * EACH * 4);
    let [x, y] = [(); 2].map(|()| device.alloc(bytes).expect("there is memory"));
    let mut rng = testkit::Rng::new(7);
    let input: Vec<u8> = (0..ITEMS * EACH).flat_map(|_| rng.bits().to_le_bytes()).collect();
    device.write(x, &input).expect("it is there");
    device.write(y, &vec![0; input.len()]).expect("it is there");
    let kernarg = [&x.to_le_bytes()[..], &y.to_le_bytes(), &N.to_le_bytes()].concat();
    let (grid, group) = ([ITEMS, 1, 1], [64, 1, 1]);
    let dispatch = Dispatch { kernel, grid, group, kernarg, ..Dispatch::default() };
    let stats = device.run(module, &dispatch).unwrap_or_else(|fault| panic!("{kernel}: {fault}"));
    let mut output = vec![0; input.len()];
    device.read(y, &mut output).expect("it is there");
    (stats.instructions, output)
}

/// Each small kernel does what clang's code does, with no more instructions, and without scratch memory. GFX10 takes
/// literals in all vector instructions, so that numbers of tables that stay in memory may cost a little more there.
#[test]
fn small_kernels_beside_clang() {
    if !have(&["clang-19"], "small_kernels_beside_clang") {
        return;
    }
    let dir = scratch("executed_small");
    let cells = [(("gfx906", 64), 1.0), (("gfx1030", 32), 1.02)];
    let mut above = Vec::new();
    for kernel in SMALL {
        let path = root().join("tests/executed").join(format!("{kernel}.k"));
        let text = std::fs::read_to_string(path).expect("it is there");
        for (cell, bound) in cells {
            let object = compiled(&text, cell);
            let loaded = CodeObject::load(&object).expect("it is a code object");
            let scratch = loaded.kernel(kernel).expect("it is there").descriptor.private_segment;
            assert_eq!(scratch, 0, "{kernel}, {cell:?}: bytes of scratch");
            let (count, output) = run_small(&object, kernel);
            let by_clang = compiled_by_clang("tests/executed", kernel, cell, &dir);
            let (most, expected) = run_small(&by_clang, kernel);
            assert!(output == expected, "{kernel}, {cell:?}: the results differ");
            println!("| {kernel} | {} | {count} | {most} | {:.2} |", cell.0, count as f64 / most as f64);
            if count as f64 > bound * most as f64 {
                above.push(format!("{kernel}, {cell:?}: {count} for {most}"));
            }
        }
    }
    assert!(above.is_empty(), "more instructions than clang's: {above:#?}");
}
