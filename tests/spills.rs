//! Kernels with fewer registers than they need: right results all the same.

use fuzz::generate::Size;
use fuzz::program::{PARAMS, Shape};
use fuzz::{Config, run};
use kernc::sim::Mode;
use kernc::{Compiler, OptLevel, Options, Resources, Target};
use std::fmt::Write;

const STRICT: Mode = Mode::Strict { keep_going: false };
const LEVELS: [OptLevel; 4] = [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3];

/// Compiles an example with attributes added, checks its results, and returns spilled VGPRs and SGPRs.
fn squeezed(kernel: &str, attributes: &str, opt_level: OptLevel) -> (u32, u32) {
    let resources = squeezed_on("gfx906", kernel, attributes, opt_level);
    (resources.spilled_vgprs, resources.spilled_sgprs)
}

/// The same on another processor.
fn squeezed_on(processor: &str, kernel: &str, attributes: &str, opt_level: OptLevel) -> Resources {
    let source = crate::common::source(kernel).replacen("\nkernel ", &format!("\n{attributes}\nkernel "), 1);
    let options = Options { opt_level, verify: true, ..Options::default() };
    let object = Compiler::new(Target::by_name(processor).unwrap())
        .compile(&source, &options)
        .unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    if let Err(error) = testkit::check_kernel(object.bytes(), kernel) {
        panic!("{kernel} {attributes} {opt_level:?}: {error}");
    }
    object.kernels()[0].resources
}

/// What is spilled on gfx908 goes to its accumulation registers, of which there are as many as VGPRs, before it goes to memory.
#[test]
fn accumulation_registers_of_gfx908() {
    let resources = LEVELS.map(|level| squeezed_on("gfx908", "sha256", "#[num_vgpr(24)]", level))[2];
    assert!((1..=24).contains(&resources.agprs), "{resources:?}");
    assert_eq!((resources.spilled_vgprs, resources.scratch), (resources.agprs, 0));
}

#[test]
fn sgemm_reg_in_24_vgprs() {
    assert!(LEVELS.map(|level| squeezed("sgemm_reg", "#[num_vgpr(24)]", level).0)[2] > 0);
}

#[test]
fn sha256_in_24_vgprs() {
    assert!(LEVELS.map(|level| squeezed("sha256", "#[num_vgpr(24)]", level).0)[2] > 0);
}

#[test]
fn sha256_in_24_sgprs() {
    assert!(LEVELS.map(|level| squeezed("sha256", "#[num_sgpr(24)]", level).1)[2] > 0);
}

#[test]
fn sha256_in_few_of_both() {
    let (vgprs, sgprs) = LEVELS.map(|level| squeezed("sha256", "#[num_vgpr(24)]\n#[num_sgpr(24)]", level))[2];
    assert!(vgprs > 0 && sgprs > 0);
}

/// 300 loaded values live across a loop, at all levels.
#[test]
fn more_values_than_registers() {
    let mut source = format!("#[workgroup_size(64)]\nkernel test0({PARAMS}) {{\n");
    source.push_str("let g = global_id(0);\nlet mut a: u32 = g;\n");
    for n in 0..300 {
        let _ = writeln!(source, "let v{n} = input[(g * {} + {n}) & 255];", n % 7 + 1);
    }
    source.push_str("for k in 0..(g & 7) { a = a * 3 + k; }\n");
    for n in (0..300).rev() {
        let _ = writeln!(source, "a = a * 31 + v{n};");
    }
    source.push_str("out[g] = a;\n}\n");
    // Accumulation registers take what is too much, all of it.
    for (processor, mode) in
        [("gfx906", Mode::Fast), ("gfx908", STRICT), ("gfx90a", STRICT), ("gfx942", Mode::Fast)]
    {
        let target = Target::by_name(processor).unwrap();
        let levels = LEVELS.to_vec();
        let config =
            Config { target: target.into(), levels, verify: true, shrink: false, size: Size::Small, mode };
        let shape = Shape { grid: [100, 1, 1], group: [64, 1, 1] };
        run(&source, &["test0"], &shape, &config).unwrap_or_else(|what| panic!("{processor}: {what}"));
        let object = Compiler::new(target).compile(&source, &Options::default()).unwrap();
        let resources = object.kernels()[0].resources;
        assert_eq!(resources.agprs > 0, processor != "gfx906", "{processor}: {resources:?}");
        assert_eq!(resources.scratch > 0, processor == "gfx906", "{processor}: {resources:?}");
    }
}

/// As many values as scratch offsets reach, and far beyond: strict mode sees each slot written before it is read.
#[test]
fn more_values_than_an_offset_reaches() {
    let count = 1500;
    let mut source = format!("#[workgroup_size(64)]\nkernel test0({PARAMS}) {{\nlet g = global_id(0);\n");
    for n in 0..count {
        let _ = writeln!(source, "let v{n} = input[(g * 13 + {n}) & 255] * {};", 2 * n + 1);
    }
    source.push_str("barrier();\nlet mut a: u32 = g;\n");
    for n in 0..count {
        let _ = writeln!(source, "a = (a << 1 | a >> 31) + (v{n} ^ v{});", (n * 7 + 1) % count);
    }
    source.push_str("out[g] = a;\n}\n");
    // Behind 256 of them in accumulation registers, where there are such.
    for processor in ["gfx906", "gfx908", "gfx90a", "gfx942"] {
        let target = Target::by_name(processor).unwrap();
        let levels = vec![OptLevel::O0, OptLevel::O2];
        let config = Config {
            target: target.into(),
            levels,
            verify: true,
            shrink: false,
            size: Size::Small,
            mode: STRICT,
        };
        let shape = Shape { grid: [64, 1, 1], group: [64, 1, 1] };
        run(&source, &["test0"], &shape, &config).unwrap_or_else(|what| panic!("{processor}: {what}"));
    }
    let options = Options::default();
    let object = Compiler::new(Target::by_name("gfx906").unwrap()).compile(&source, &options).unwrap();
    assert!(object.kernels()[0].resources.spilled_vgprs > 1024);
}

/// Constants that are used again far away are made again: nothing is spilled for them.
#[test]
fn constants_are_not_spilled() {
    let mut source = format!("#[workgroup_size(64)]\nkernel test0({PARAMS}) {{\nlet g = global_id(0);\n");
    source.push_str("let mut a = input[g & 255];\nlet mut b = a ^ 5;\n");
    for n in 0..1000 {
        let _ = writeln!(source, "a = (a * {}) ^ (b >> {}); b = b + a * {};", 2 * n + 3, n % 31, n + 1);
    }
    source.push_str("out[g] = a + b;\n}\n");
    let options = Options { verify: true, ..Options::default() };
    let object = Compiler::new(Target::by_name("gfx906").unwrap()).compile(&source, &options).unwrap();
    let resources = &object.kernels()[0].resources;
    assert_eq!((resources.spilled_sgprs, resources.spilled_vgprs), (0, 0));
}

/// Scratch memory ends where the hardware's field for it does, and the message says so.
#[test]
fn too_much_scratch_is_told() {
    let source = "#[workgroup_size(64)]\nkernel k(x: *global u32) {\n\
         let mut a: [u32; 40000];\nlet i = global_id(0);\n\
         a[x[i] % 40000] = i;\nx[i] = a[x[i + 64] % 40000];\n}\n";
    let error = Compiler::new(Target::by_name("gfx906").unwrap()).compile(source, &Options::default());
    let text = error.err().unwrap().to_string();
    assert!(text.contains("E0110") && text.contains("131056 bytes"), "{text}");
}
