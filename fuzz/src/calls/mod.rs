//! Random programs of functions that call each other: graphs of up to 60 functions with recursion, pointers to functions that lanes share or do
//! not, calls in branches and loops, variables whose addresses are passed, arrays in each call, arguments on the stack, variables of the module
//! and of the group, barriers, operations of waves.
//!
//! A counter that all calls of a work-item share ends them: a function that finds it empty returns at once, so that any graph ends.
//!
//! The compiled code runs in strict mode, with garbage in all registers that a call may change, when it begins and when it returns.

mod agreements;
mod kinds;
mod smaller;
mod writer;

pub use writer::generate;

use crate::launch::{emulate_scrambled, interpret};
use crate::program::Shape;
use crate::{Config, Failure, compare, lacks_flat, read};
use agreements::Agreements;
use ir::passes::inline::Calls;
use ir::passes::{OptOptions, PassContext, optimize};
use kernc::{Compiler, Options};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Most functions of a program.
pub const MOST: usize = 60;
/// Most statements of a function, but for those in blocks.
pub const STATEMENTS: usize = 6;

/// A program, and how it is run.
#[derive(Clone)]
pub struct Program {
    /// Its text.
    pub source: String,
    /// The dispatch of its kernel, `k`.
    pub shape: Shape,
}

/// Runs the program of a seed: the interpreter on the IR as it is and optimised, and with `emulates` also compiled, in the emulator. A failing
/// program is made smaller by leaving functions and statements out.
pub fn check(seed: u64, config: &Config, emulates: bool) -> Result<(), Box<Failure>> {
    let failure = |program: &Program| {
        let run = AssertUnwindSafe(|| run(program, config, emulates));
        let result = catch_unwind(run).unwrap_or_else(|payload| {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            Err(format!("panic: {}", text.or(payload.downcast_ref::<&str>().copied()).unwrap_or_default()))
        });
        result.err()
    };
    let mut program = generate(seed, MOST, STATEMENTS);
    let Some(mut what) = failure(&program) else { return Ok(()) };
    if config.shrink {
        (program, what) = smaller::smaller(program, what, &failure);
    }
    let Program { source, shape } = program;
    Err(Box::new(Failure { seed, target: config.target, what, source, shape }))
}

fn run(program: &Program, config: &Config, emulates: bool) -> Result<(), String> {
    let Program { source, shape } = program;
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
            let options = Options { opt_level: level, verify: config.verify, ..Options::default() };
            let mut agreements = Agreements::default();
            let object = Compiler::new(config.target).compile_observed(source, &options, &mut agreements);
            let object = match object {
                // A call of many arguments may want more registers than the kernel gives.
                Err(error) if error.code() == "E0110" && source.contains("#[num_vgpr(4") => continue,
                // Results of exported functions lie wherever a generic pointer says.
                Err(error) if lacks_flat(&error, config) => continue,
                object => object.map_err(|error| format!("compiler {level:?}: {error}"))?,
            };
            read(object.bytes()).map_err(|error| format!("checker {level:?}: {error}"))?;
            let found = emulate_scrambled(config.mode, object.bytes(), "k", shape, agreements.scramble());
            compare(
                &expected,
                &found.map_err(|error| format!("emulator {level:?}: {error}"))?,
                &format!("code {level:?}"),
            )?;
        }
    }
    Ok(())
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
