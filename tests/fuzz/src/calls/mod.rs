//! Random programs of functions that call each other.
//!
//! Three of four programs are small (file small.rs). The other programs are call graphs of up to 60 functions
//! with recursion; function pointers that are uniform or divergent; calls in branches and loops; addresses of
//! variables as arguments; arrays in each call frame; arguments on the stack; variables of the module and of
//! the group; barriers; operations across a wave; unused arguments; results in memory. A third of the programs
//! are also compiled as two to four objects, which are linked.
//!
//! All calls of a work-item in a call graph share a counter: a function that finds the counter empty returns at once, so that
//! each call graph terminates.
//!
//! The compiled code runs in strict mode. At each call and return, the emulator fills all registers that the
//! call may clobber with garbage.

mod agreements;
mod kinds;
mod objects;
mod small;
mod smaller;
mod unwind;
mod writer;

pub use unwind::{Counts, Effort};
pub use writer::generate;

use crate::launch::{emulate_scrambled, emulate_watched, interpret};
use crate::program::Shape;
use crate::{Config, Failure, caught, compare, lacks_flat, read};
use agreements::Agreements;
use ir::passes::inline::Calls;
use ir::passes::{OptOptions, PassContext, optimize};
use kernc::isa;
use kernc::sim::{Mode, Scramble};
use kernc::{Compiler, Convention, DebugInfo, Dialect, Dwarf, Options};
use std::ops::ControlFlow;
use support::Random;

/// Largest number of functions of a program.
pub const MOST: usize = 60;
/// Number of functions of a program in which everything is examined.
pub const FEW: usize = 6;
/// Largest number of statements of a function, without those in nested blocks.
pub const STATEMENTS: usize = 6;

/// A program, and how it is run.
#[derive(Clone)]
pub struct Program {
    /// Source text of the program.
    pub source: String,
    /// Sizes of the dispatch of its kernel `k`.
    pub shape: Shape,
    /// Calling convention of its functions.
    pub call_abi: Convention,
    /// Number of objects as which the program is also compiled and linked.
    pub objects: usize,
}

/// Returns the program of a seed. Three of four programs are small.
pub fn program(seed: u64) -> Program {
    match Random::new(!seed).one_in(4) {
        true => generate(seed, MOST, STATEMENTS),
        false => small::generate(seed),
    }
}

/// Runs the program of a seed: the interpreter on the original and the optimised IR, and with `emulates` also
/// the compiled code in the emulator. Reduces a failing program by removing functions and statements.
pub fn check(seed: u64, config: &Config, emulates: bool) -> Result<(), Box<Failure>> {
    let failure = |program: &Program| caught(|| run(program, config, emulates)).err();
    let mut program = program(seed);
    let Some(mut what) = failure(&program) else { return Ok(()) };
    if config.shrink {
        (program, what) = smaller::smaller(program, what, &failure);
    }
    let Program { source, shape, call_abi, .. } = program;
    let what = format!("--call-abi {}: {what}", call_abi.name());
    Err(Box::new(Failure { seed, target: config.target, what, source, shape }))
}

/// Runs the compiled program of a seed with both dialects of call frame information, and unwinds the call
/// stack during the run.
pub fn unwinds(seed: u64, config: &Config, effort: Effort) -> Result<Counts, Box<Failure>> {
    let program = generate(seed, effort.functions, STATEMENTS);
    let mut counts = Counts::default();
    for dialect in [Dialect::Standard, Dialect::Heterogeneous] {
        for &level in &config.levels {
            let options = Options { opt_level: level, call_abi: program.call_abi, ..Options::default() };
            let found = caught(|| unwinds_in(&program, config, (seed, dialect, effort), options));
            let found = found.map_err(|what| {
                let Program { source, shape, call_abi, .. } = program.clone();
                let what = format!("--call-abi {} {level:?} {dialect:?}: {what}", call_abi.name());
                Box::new(Failure { seed, target: config.target, what, source, shape })
            });
            counts += found?;
        }
    }
    Ok(counts)
}

fn unwinds_in(
    program: &Program,
    config: &Config,
    (seed, dialect, effort): (u64, Dialect, Effort),
    options: Options,
) -> Result<Counts, String> {
    let Program { source, shape, call_abi, .. } = program;
    let mut agreements = Agreements::default();
    let dwarf = Dwarf { dialect, ..Dwarf::default() };
    let verify = config.verify;
    let plain = Options { verify, ..options };
    let options = Options { debug: DebugInfo::Full, dwarf, ..plain.clone() };
    let object = Compiler::new(config.target).compile_observed(source, &options, &mut agreements);
    let object = match object {
        Err(error) if is_refused(&error, config, *call_abi) => {
            return Ok(Counts { refused: 1, ..Counts::default() });
        }
        object => object.map_err(|error| format!("compiler: {error}"))?,
    };
    let known = agreements.scramble();
    let lost = |name: &str| known.0.get(name).map_or(isa::RegSet::EMPTY, unwind::lost);
    let judge = unwind::Judge::new(object.bytes(), (dialect, &config.target, effort), seed, lost)?;
    let way = (Mode::Fast, *call_abi);
    let ran = emulate_watched(way, object.bytes(), "k", shape, Scramble::default(), Some(&judge));
    let counts = judge.finish()?;
    match ran {
        Err(error) if counts.cut == 0 => Err(format!("emulator: {error}")),
        _ => Ok(counts),
    }
}

/// Returns whether the compiler may refuse a program for this reason.
fn is_refused(error: &kernc::Error, config: &Config, call_abi: Convention) -> bool {
    // Results of exported functions are written through a generic pointer, which needs FLAT instructions.
    lacks_flat(error, config)
        // No call preserves any of the first forty VGPRs, so with a budget of forty VGPRs, scalars cannot be
        // spilled to VGPR lanes.
        || error.code() == "E0110" && of_forty(error)
        // The calling convention does not support one of the types.
        || error.code() == "E0091" && call_abi != Convention::Today
}

fn run(program: &Program, config: &Config, emulates: bool) -> Result<(), String> {
    let Program { source, shape, call_abi, .. } = program;
    let options = frontend::Options { fp_contract: true, ..Default::default() };
    let plain = frontend::compile("test.k", source, &options)
        .map_err(|diagnostics| format!("frontend: {}", diagnostics.render(false)))?;
    ir::verify::verify(&plain).map_err(|errors| format!("the frontend's IR: {}", errors[0]))?;
    let lanes = config.target.wave_size;
    let expected = interpret(&plain, "k", shape, lanes).map_err(|error| format!("interpreter: {error}"))?;
    for &level in &config.levels {
        for calls in [Calls::InlineAll, Calls::ByCost] {
            let what = format!("{level:?}, {calls:?}");
            let module = optimized(plain.clone(), level.number(), calls)
                .map_err(|error| format!("{what}: {error}"))?;
            let found = interpret(&module, "k", shape, lanes)
                .map_err(|error| format!("interpreter, {what}: {error}"))?;
            compare(&expected, &found, &format!("optimiser, {what}"))?;
        }
        if emulates {
            let call_abi = *call_abi;
            let options = Options { opt_level: level, verify: config.verify, call_abi, ..Options::default() };
            let mut agreements = Agreements::default();
            let object = Compiler::new(config.target).compile_observed(source, &options, &mut agreements);
            let object = match object {
                Err(error) if is_refused(&error, config, call_abi) => continue,
                object => object.map_err(|error| format!("compiler {level:?}: {error}"))?,
            };
            read(object.bytes(), call_abi).map_err(|error| format!("checker {level:?}: {error}"))?;
            let found =
                emulate_scrambled((config.mode, call_abi), object.bytes(), "k", shape, agreements.scramble());
            compare(
                &expected,
                &found.map_err(|error| format!("emulator {level:?}: {error}"))?,
                &format!("code {level:?}"),
            )?;
            if program.objects > 1 {
                linked(program, config, &options, &expected)?;
            }
        }
    }
    Ok(())
}

/// Compiles the program as several objects, links them and runs the result. The call graph is known only at
/// run time, so the emulator puts no garbage into registers.
fn linked(program: &Program, config: &Config, options: &Options, expected: &[u8]) -> Result<(), String> {
    let what = format!("{} objects {:?}", program.objects, options.opt_level);
    let mut objects = Vec::new();
    for source in objects::split(&program.source, program.objects) {
        match Compiler::new(config.target).compile(&source, options).and_then(|object| object.relocatable()) {
            Err(error) if is_refused(&error, config, program.call_abi) => return Ok(()),
            object => objects.push(object.map_err(|error| format!("compiler, {what}: {error}"))?),
        }
    }
    let names: Vec<String> = (0..objects.len()).map(|number| format!("{number}.o")).collect();
    let inputs = names.iter().zip(&objects);
    let inputs: Vec<link::Input> =
        inputs.map(|(name, data)| link::Input { name, data, is_lazy: false }).collect();
    let file = link::link(&inputs, &link::Options::default())
        .map_err(|faults| format!("linker, {what}: {}", faults[0]))?;
    read(&file, program.call_abi).map_err(|error| format!("checker, {what}: {error}"))?;
    let way = (config.mode, program.call_abi);
    let found = emulate_scrambled(way, &file, "k", &program.shape, Scramble::default());
    // Nothing is inlined between objects. So recursion may need more stack than the kernel requests where the
    // depth is unknown.
    if found.as_ref().is_err_and(|error| error.starts_with("stack overflow")) {
        return Ok(());
    }
    compare(expected, &found.map_err(|error| format!("emulator, {what}: {error}"))?, &format!("code, {what}"))
}

/// Returns whether the compiler refused a budget of at most forty VGPRs, none of which calls preserve.
fn of_forty(error: &kernc::Error) -> bool {
    let text = error.render(false);
    let budget = text.split("does not fit into ").nth(1).and_then(|rest| rest.split_once(" VGPRs"));
    budget.is_some_and(|(number, _)| number.parse().is_ok_and(|number: u32| number <= 40))
}

fn optimized(mut module: ir::Module, level: u8, calls: Calls) -> Result<ir::Module, String> {
    let opts = OptOptions { level, calls, ..OptOptions::default() };
    let mut trouble = Ok(());
    let _ = optimize(&mut module, &opts, &mut PassContext::default(), &mut |pass, module| {
        trouble = ir::verify::verify(module).map_err(|errors| format!("after {pass}: {}", errors[0]));
        if trouble.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    trouble.map(|()| module)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernc::isa::{Reg, RegRange};
    use kernc::sim::{Mode, Scramble};
    use kernc::{OptLevel, Target};

    const SOURCE: &str = "#[inline(never)]\nfn fn_0(a: u32) -> u32 { a * 3 }\n#[workgroup_size(64)]\nkernel k(PARAMS) {\n    let i = global_id(0);\n    \
        let x = i * i;\n    let y = fn_0(i + 1);\n    out[i] = x ^ y ^ fn_0(x) ^ i;\n}\n";

    fn run(change: impl Fn(&mut Scramble)) -> Result<Vec<u8>, String> {
        let source = SOURCE.replace("PARAMS", crate::program::PARAMS);
        let mut agreements = Agreements::default();
        let target = Target::by_name("gfx906").expect("it is known");
        let options = Options { opt_level: OptLevel::O2, ..Options::default() };
        let object =
            Compiler::new(target).compile_observed(&source, &options, &mut agreements).expect("it compiles");
        let mut scramble = agreements.scramble();
        change(&mut scramble);
        let shape = Shape { grid: [64, 1, 1], group: [64, 1, 1] };
        emulate_scrambled((Mode::STRICT, Convention::Today), object.bytes(), "k", &shape, scramble)
    }

    /// The test knows which registers `f` may clobber; garbage in more registers is detected.
    #[test]
    fn garbage_is_where_it_may_be() {
        let agreed = |scramble: &mut Scramble| {
            let f = &scramble.0["fn_0"];
            assert!(f.named.contains(Reg::vgpr(0)) && f.given.contains(Reg::vgpr(0)));
            assert!(f.results.contains(Reg::vgpr(0)) && !f.results.contains(Reg::vgpr(1)));
        };
        let out = run(agreed).expect("nobody relies on what `f` may change");
        let word = |n: usize| u32::from_le_bytes(std::array::from_fn(|byte| out[4 * n + byte]));
        let of = |i: u32| i.wrapping_mul(i) ^ ((i + 1) * 3) ^ (i * i * 3) ^ i;
        assert!((0..64).all(|i| word(i as usize) == of(i)));
        let all = |scramble: &mut Scramble| {
            scramble.0.values_mut().for_each(|f| f.named.insert(RegRange { first: Reg::vgpr(0), len: 64 }));
        };
        let why = run(all).expect_err("`x` is in a register");
        assert!(why.contains("clobbered-by-call"), "{why}");
    }
}
