//! Random kernels: the IR interpreter and the emulator running the compiled code have to agree.
//!
//! [`check`] tests this property. The result of interpreting the frontend's IR defines the meaning of a
//! program. Interpreting the optimised IR, and emulating the code objects of several optimisation levels,
//! have to give the same results. The static checker also reads the code.

#![allow(clippy::missing_errors_doc, reason = "only tests call these functions, and print every error")]

pub mod calls;
pub mod garbage;
pub mod generate;
pub mod lanes;
pub mod launch;
pub mod program;
mod shrink;
pub mod truth;
pub mod types;

use generate::{Size, generate};
use kernc::{Compiler, OptLevel, Options, Subtarget};
use launch::{emulate, interpret};
use program::{Program, Shape};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A program that failed, and how.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Seed of the generator.
    pub seed: u64,
    /// Processor with its modes.
    pub target: Subtarget,
    /// The results that differ, or the step that failed.
    pub what: String,
    /// Source of the program, reduced by removing parts.
    pub source: String,
    /// Sizes of the program's dispatches.
    pub shape: Shape,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { grid, group } = self.shape;
        let Failure { seed, target, what, source, .. } = self;
        let waves = target.wave_size;
        write!(f, "seed {seed}: {what}\n// {target} wave{waves} grid {grid:?} group {group:?}\n{source}")
    }
}

/// What is compiled and compared.
#[derive(Clone, Debug)]
pub struct Config {
    /// Processor with its modes.
    pub target: Subtarget,
    /// Optimisation levels.
    pub levels: Vec<OptLevel>,
    /// Whether to verify the IR between passes, the register allocation and the final code.
    pub verify: bool,
    /// Whether to reduce failing programs.
    pub shrink: bool,
    /// Size of the programs.
    pub size: Size,
    /// Mode of the emulator; in strict mode, a report is a failure too.
    pub mode: kernc::sim::Mode,
}

/// Returns the mode of the emulator for a processor's program with this number: strict mode for a quarter of
/// the small programs and for all large ones. Strict mode reports nothing for a correct program.
pub fn mode(size: Size, number: u64) -> kernc::sim::Mode {
    let strict = size == Size::Large || number.is_multiple_of(4);
    if strict { kernc::sim::Mode::STRICT } else { kernc::sim::Mode::Fast }
}

/// Generates the program of a seed and compares all ways to run it. Reduces a failing program if the
/// configuration says so.
pub fn check(seed: u64, config: &Config) -> Result<(), Box<Failure>> {
    let program = generate(seed, config.size);
    let Err(what) = run_program(&program, config) else { return Ok(()) };
    let shape = program.shape;
    let (what, source) = match config.shrink {
        true => shrink::shrink(program, what, config),
        false => (what, program.source()),
    };
    Err(Box::new(Failure { seed, target: config.target, what, source, shape }))
}

fn run_program(program: &Program, config: &Config) -> Result<(), String> {
    let kernels: Vec<&str> = program.kernels().collect();
    run(&program.source(), &kernels, &program.shape, config)
}

/// Compares all ways to run the kernels of a source text; the kernels have the generated signature.
pub fn run(source: &str, kernels: &[&str], shape: &Shape, config: &Config) -> Result<(), String> {
    caught(|| run_levels(source, kernels, shape, config))
}

/// Calls a function and converts a panic to an error.
///
/// # Errors
/// The function's error, or the message of the panic.
pub fn caught<T>(what: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(what)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        Err(format!("panic: {}", text.or(payload.downcast_ref::<&str>().copied()).unwrap_or_default()))
    })
}

fn run_levels(source: &str, kernels: &[&str], shape: &Shape, config: &Config) -> Result<(), String> {
    let frontend = frontend::Options { params: &[], fp_contract: true, ..Default::default() };
    let module = frontend::compile("test.k", source, &frontend)
        .map_err(|diagnostics| format!("frontend: {}", diagnostics.render(false)))?;
    let mut expected = Vec::new();
    let lanes = config.target.wave_size;
    for kernel in kernels {
        expected
            .push(interpret(&module, kernel, shape, lanes).map_err(|error| format!("interpreter: {error}"))?);
    }
    for &level in &config.levels {
        let options = Options { opt_level: level, verify: config.verify, ..Options::default() };
        let mut optimised = kernc::KeepIr::default();
        let object = match Compiler::new(config.target).compile_observed(source, &options, &mut optimised) {
            Ok(object) => object,
            Err(error) if is_too_tight(&error, source) || lacks_flat(&error, config) => continue,
            Err(error) => return Err(format!("compiler {level:?}: {error}")),
        };
        read(object.bytes(), kernc::Convention::default())
            .map_err(|error| format!("checker {level:?}: {error}"))?;
        for (kernel, expected) in kernels.iter().zip(&expected) {
            let optimised = interpret(&optimised.0, kernel, shape, lanes)
                .map_err(|error| format!("interpreter after {level:?}: {error}"))?;
            compare(expected, &optimised, &format!("optimiser {level:?}"))?;
            let emulated = emulate(config.mode, object.bytes(), kernel, shape)
                .map_err(|error| format!("emulator {level:?}: {error}"))?;
            compare(expected, &emulated, &format!("code {level:?}"))?;
        }
    }
    Ok(())
}

/// Runs the static checker, which follows all paths, including paths that no execution takes. The code must
/// not have certain findings.
fn read(object: &[u8], call_abi: kernc::Convention) -> Result<(), String> {
    let object = codeobj::CodeObject::parse(object).map_err(|error| error.to_string())?;
    let options = check::object::Options { call_abi, ..Default::default() };
    let report = check::object::check(&object, &options);
    let report = report.map_err(|refusal| refusal.to_string())?;
    let is_certain = |located: &&check::object::Located| located.finding.level() == check::Level::Certain;
    match report.findings.iter().find(is_certain) {
        Some(located) => Err(format!("{}: {:?}", located.finding.id(), located.finding)),
        None => Ok(()),
    }
}

/// Returns whether the compiler refused a budget that may really be too small: the hardware initialises up to
/// twelve SGPRs, and a wide load needs sixteen, so that a budget below 28 may not suffice.
fn is_too_tight(error: &kernc::Error, source: &str) -> bool {
    let budgets = source.split("num_sgpr(").skip(1).filter_map(|rest| rest.split(')').next()?.parse().ok());
    let least: u32 = budgets.min().unwrap_or(u32::MAX);
    least < 28 && error.code() == "E0110"
}

/// Returns whether the compiler refused a generic pointer that may point to several address spaces, on a
/// processor without FLAT instructions.
fn lacks_flat(error: &kernc::Error, config: &Config) -> bool {
    let flat = config.target.target.has(kernc::isa::Feature::FLAT);
    !flat && error.code() == "E0111" && error.to_string().contains("FLAT")
}

fn compare(expected: &[u8], found: &[u8], what: &str) -> Result<(), String> {
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let pairs = expected.chunks_exact(4).zip(found.chunks_exact(4));
    match pairs.enumerate().find(|(_, (expected, found))| expected != found) {
        Some((n, (expected, found))) => {
            Err(format!("{what}: dword {n} is {:#x}, not {:#x}", word(found), word(expected)))
        }
        None => Ok(()),
    }
}
