//! Functions of clang and functions that are made of the table call each other in the emulator, in strict mode, over random signatures.
//!
//! In the one role a kernel of clang's calls assembly that stores every place that the table names; in the other, assembly puts
//! arguments into those places and calls a function of clang's that stores them. `KERNC_ABI_SIGNATURES=300` for a long run.

mod c;
mod ctypes;
mod implicit;
mod machine;
mod random;

use callconv::{Convention, Error, assign};
use isa::Subtarget;
use machine::{Case, Config};

/// Processor, lanes.
const TARGETS: [(&str, u32); 10] = [
    ("gfx600", 64),
    ("gfx700", 64),
    ("gfx803", 64),
    ("gfx906", 64),
    ("gfx908", 64),
    ("gfx90a", 64),
    ("gfx942", 64),
    ("gfx1010", 32),
    ("gfx1010", 64),
    ("gfx1030", 32),
];

/// The processors that a compiler of LLVM knows.
fn known(compiler: &str) -> impl Iterator<Item = (&'static str, u32)> {
    let is_old = compiler.ends_with("-14");
    TARGETS.into_iter().filter(move |&(cpu, _)| !(is_old && cpu == "gfx942"))
}

fn signatures() -> usize {
    std::env::var("KERNC_ABI_SIGNATURES").ok().and_then(|text| text.parse().ok()).unwrap_or(20)
}

/// Runs so many signatures both ways on each processor.
fn agrees(clang: &'static str, convention: Convention, level: &'static str, count: usize) {
    if !support::is_there(clang) {
        eprintln!("skipped: there is no {clang}");
        return;
    }
    let mut wrong = Vec::new();
    for (cpu, lanes) in known(clang) {
        let target = Subtarget::by_name(cpu).and_then(|target| target.with_wave_size(lanes)).unwrap();
        // Without optimising, clang takes addresses of variables for generic ones.
        if level == "-O0" && !target.has(isa::Feature::FLAT) {
            continue;
        }
        let config = Config { clang, convention, target, level, name: "" };
        let cases: Vec<Case> = (0..count).map(|seed| Case::new(seed as u64, &config)).collect();
        for group in cases.chunks(50) {
            wrong.extend(machine::run(group, &config));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} mistakes, first:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(12)].join("\n")
    );
}

#[test]
fn llvm_19() {
    agrees("clang-19", Convention::Today, "-O2", signatures());
}

#[test]
fn llvm_14() {
    agrees("clang-14", Convention::Llvm14, "-O2", signatures());
}

#[test]
fn llvm_19_without_optimising() {
    agrees("clang-19", Convention::Today, "-O0", signatures().div_ceil(4));
}

#[test]
fn llvm_14_without_optimising() {
    agrees("clang-14", Convention::Llvm14, "-O0", signatures().div_ceil(4));
}

/// What random signatures rarely have.
const CORNERS: [&str; 7] = [
    // A `bool` alone in a struct, and small integers, on the stack.
    "(f64x16, {bool}, u8, i8, u16, i16, bool, {u8}, {i16})",
    "(f64x16, u8, u8, u8, u8, i8, i8)",
    // Results in memory: of clang's accord, and of LLVM's.
    "(u32) -> [u32; 17]",
    "(u32) -> {[u8; 64]}",
    "([f64; 10], u32) -> {f64x4, u8, [f64; 10]}",
    "() -> [u32; 16]",
    "(f16x3, {f16, f16, f16}, [f16; 5]) -> {f16, f16, f16, f16, f16}",
];

#[test]
fn corners() {
    for (clang, convention) in [("clang-19", Convention::Today), ("clang-14", Convention::Llvm14)] {
        if !support::is_there(clang) {
            eprintln!("skipped: there is no {clang}");
            continue;
        }
        for (cpu, lanes) in known(clang) {
            let target = Subtarget::by_name(cpu).and_then(|target| target.with_wave_size(lanes)).unwrap();
            let config = Config { clang, convention, target, level: "-O2", name: "-corners" };
            let case =
                |text: &&str| Case::from_prototype(callconv::parse(text).expect("a signature"), &config);
            let cases: Vec<Case> = CORNERS.iter().map(case).collect();
            let wrong = machine::run(&cases, &config);
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        }
    }
}

/// What the documents show of `kernc abi` is what clang does.
#[test]
fn documents_are_right() {
    let mut shown = 0;
    for text in [
        include_str!("../../../../docs/calling-convention.md"),
        include_str!("../../../../tests/data/cli/abi.md"),
    ] {
        for line in text.lines().filter_map(|line| line.strip_prefix("$ kernc abi --mcpu ")) {
            let (options, signature) = line.split_once('\'').unwrap_or((line, ""));
            let Ok(prototype) = callconv::parse(signature.trim_end_matches('\'')) else { continue };
            let (clang, convention) = match () {
                () if options.contains("guide") => continue,
                () if options.contains("llvm14") => ("clang-14", Convention::Llvm14),
                () => ("clang-19", Convention::Today),
            };
            let target = Subtarget::by_name(options.split(' ').next().unwrap()).unwrap();
            let signature = prototype.signature(&[]);
            let is_taken = assign(&prototype.types, &signature, &target, convention).is_ok();
            if !is_taken || prototype.variadic || !support::is_there(clang) {
                continue;
            }
            let config = Config { clang, convention, target, level: "-O2", name: "-shown" };
            let wrong = machine::run(&[Case::from_prototype(prototype, &config)], &config);
            assert!(wrong.is_empty(), "{line}: {}", wrong.join("\n"));
            shown += 1;
        }
    }
    eprintln!("{shown} signatures");
}

/// What a kernel of LLVM's hands over is where the table has it.
#[test]
fn implicit_arguments() {
    for (llc, convention) in [("llc-19", Convention::Today), ("llc-14", Convention::Llvm14)] {
        if !support::is_there(llc) {
            eprintln!("skipped: there is no {llc}");
            continue;
        }
        for (cpu, lanes) in known(llc) {
            let target = Subtarget::by_name(cpu).and_then(|target| target.with_wave_size(lanes)).unwrap();
            implicit::run(llc, &Config { clang: llc, convention, target, level: "-O2", name: "" });
        }
    }
}

/// What is not known is refused.
#[test]
fn refuses() {
    use callconv::{Param, Scalar, Signature, Types};
    let target = Subtarget::by_name("gfx906").unwrap();
    let mut types = Types::default();
    let half = types.scalar(Scalar::BF16);
    let params = [Param::unmarked(half)];
    let signature = Signature { params: &params, ..Signature::default() };
    let by = Convention::Llvm14;
    assert_eq!(assign(&types, &signature, &target, by), Err(Error::Bf16(by)));
    let inreg = [Param { ty: half, inreg: true }];
    let signature = Signature { params: &inreg, ..Signature::default() };
    let by = Convention::Today;
    assert_eq!(assign(&types, &signature, &target, by), Err(Error::Inreg(by)));
    let signature = Signature { variadic: true, ..Signature::default() };
    let by = Convention::Llvm14;
    assert_eq!(assign(&types, &signature, &target, by), Err(Error::Variadic(by)));
}
