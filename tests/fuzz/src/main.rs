//! Command for long runs: `cargo run --profile fuzz -p kernc-fuzz -- --count 2000`.

use clap::{Parser, ValueEnum};
use fuzz::garbage::{self, Kind};
use fuzz::generate::Size;
use fuzz::truth::{Count, Planted};
use fuzz::{Config, calls, caught, check};
use kernc::{CodeObjectVersion, Dialect, DwarfVersion, OptLevel, PROCESSORS, Subtarget, Target};
use rayon::prelude::*;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

/// Runs random kernels through the IR interpreter and through compiled code in the emulator.
#[derive(Parser)]
struct Args {
    /// First seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of programs.
    #[arg(long, default_value_t = 2000)]
    count: u64,
    /// Processors, which programs use in round-robin order, each in all of its modes; `all` means every
    /// processor that is compiled for.
    #[arg(long, default_value = "gfx906", value_delimiter = ',')]
    mcpu: Vec<String>,
    /// Print the program of the first seed and stop.
    #[arg(long)]
    show: bool,
    /// What to run: random kernels, large kernels (two levels, strict mode), functions that call each other,
    /// unwinding of such functions, debug information of variables or of lanes, or damaged input that must
    /// not panic.
    #[arg(long, value_enum, default_value = "kernels")]
    what: What,
    /// Stop after this many failures.
    #[arg(long, default_value_t = 5)]
    failures: usize,
    /// Compile without the checks between passes, which take most of the time for large programs.
    #[arg(long)]
    no_verify: bool,
    /// For functions that call each other: also run the compiled code.
    #[arg(long)]
    emulate: bool,
    /// Print failing programs without reducing them.
    #[arg(long)]
    no_shrink: bool,
    /// For unwinding: largest number of functions of a program.
    #[arg(long, default_value_t = calls::FEW)]
    functions: usize,
    /// For unwinding: number of visits at which each instruction is examined.
    #[arg(long, default_value_t = 1)]
    visits: u32,
    /// For unwinding: cut a run after this many instructions without an instruction that is new, or new at
    /// its depth of calls.
    #[arg(long, default_value_t = calls::Effort::EACH.patience)]
    patience: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    Kernels,
    Large,
    Calls,
    /// Debug information of variables, compared with the interpreter.
    Truth,
    /// Whether debug information puts variables into registers that loads have yet to write.
    Arrived,
    /// Debug information of the positions of lanes, compared with the execution.
    Lanes,
    /// Call frame information of functions that call each other.
    Unwind,
    Source,
    Object,
    Npy,
}

fn main() -> ExitCode {
    let args = Args::parse();
    if cfg!(panic = "abort") {
        eprintln!(
            "note: in this profile a panic ends the run; with `--profile fuzz` it is a failure like others"
        );
    }
    if let Some(kind) = damaged_kind(args.what) {
        let passed = garbage::run(kind, args.seed, args.count);
        println!("{} damaged inputs, {passed} still good", args.count);
        return ExitCode::SUCCESS;
    }
    let large = matches!(args.what, What::Large);
    let unwinds = matches!(args.what, What::Unwind);
    let calls = unwinds || matches!(args.what, What::Calls);
    let size = if large { Size::Large } else { Size::Small };
    if args.show {
        show(&args, size);
        return ExitCode::SUCCESS;
    }
    let targets = match targets(&args.mcpu) {
        Ok(targets) => targets,
        Err(unknown) => {
            eprintln!("error: unknown processor `{unknown}`");
            return ExitCode::from(2);
        }
    };
    if matches!(args.what, What::Arrived) {
        return arrived(&args, &targets, size);
    }
    if matches!(args.what, What::Truth) {
        return truth(&args, &targets, size);
    }
    if matches!(args.what, What::Lanes) {
        return lanes(&args, &targets, size);
    }
    let config = |seed: u64| Config {
        target: targets[(seed % targets.len() as u64) as usize],
        levels: match (large, calls) {
            (true, _) => vec![OptLevel::O0, OptLevel::O2],
            (_, true) if seed % 4 == 3 && !unwinds => vec![OptLevel::O1, OptLevel::O3],
            (_, true) => vec![OptLevel::O0, OptLevel::O2],
            _ => vec![OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3],
        },
        verify: !args.no_verify,
        shrink: !args.no_shrink,
        size,
        mode: match calls {
            true => kernc::sim::Mode::STRICT,
            false => fuzz::mode(size, seed / targets.len() as u64),
        },
    };
    let counts = Mutex::new(calls::Counts::default());
    let check = |seed: u64| match calls {
        true if unwinds => {
            let Args { functions, visits, patience, .. } = args;
            let effort = calls::Effort { functions, visits, patience, ..calls::Effort::EACH };
            let more = calls::unwinds(seed, &config(seed), effort)?;
            if more.cut + more.refused > 0 {
                println!("seed {seed}: {} of {} runs cut, {} refused", more.cut, more.runs, more.refused);
            }
            *counts.lock().unwrap_or_else(PoisonError::into_inner) += more;
            Ok(())
        }
        true => calls::check(seed, &config(seed), args.emulate),
        false => check(seed, &config(seed)),
    };
    let mut failures = 0;
    let seeds: Vec<u64> = (args.seed..args.seed + args.count).collect();
    for chunk in seeds.chunks(1024) {
        let told = |failure: &fuzz::Failure| println!("{failure}");
        failures +=
            chunk.par_iter().filter_map(|&seed| check(seed).err()).inspect(|failure| told(failure)).count();
        if failures >= args.failures {
            break;
        }
    }
    println!("{} programs, {failures} failures", args.count);
    if unwinds {
        println!("{:?}", counts.into_inner().unwrap_or_else(PoisonError::into_inner));
    }
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns the kind of damaged input that is asked for; `None` if programs are asked for.
fn damaged_kind(what: What) -> Option<Kind> {
    match what {
        What::Kernels | What::Large | What::Calls | What::Unwind => None,
        What::Truth | What::Arrived | What::Lanes => None,
        What::Source => Some(Kind::Source),
        What::Object => Some(Kind::Object),
        What::Npy => Some(Kind::Npy),
    }
}

/// Prints the source of the program of a seed.
fn show(args: &Args, size: Size) {
    match args.what {
        What::Calls => print!("{}", calls::program(args.seed).source),
        What::Unwind => {
            print!("{}", calls::generate(args.seed, calls::MOST, calls::STATEMENTS).source);
        }
        _ => {
            let program = fuzz::generate::generate(args.seed, size);
            let [x, y, z] = program.shape.grid;
            print!("// grid {x} {y} {z}\n{}", program.source());
        }
    }
}

/// Compares the debug information of variables with the interpreter, at two optimisation levels.
fn truth(args: &Args, targets: &[Subtarget], size: Size) -> ExitCode {
    let check = |seed: u64| {
        let target = targets[(seed % targets.len() as u64) as usize];
        let program = fuzz::generate::generate(seed, size);
        let (source, kernels) = (program.source(), program.kernels().collect::<Vec<_>>());
        let mut counts = [Count::default(); 2];
        for (count, level) in counts.iter_mut().zip([OptLevel::O0, OptLevel::O2]) {
            let dialect = if seed.is_multiple_of(2) { Dialect::Standard } else { Dialect::Heterogeneous };
            let how = (target, level, dialect);
            let found = fuzz::caught(|| fuzz::truth::check(&source, &kernels, &program.shape, how));
            *count = found.map_err(|wrong| format!("seed {seed} {target} {level:?}: {wrong}"))?;
        }
        Ok(counts)
    };
    // A long run reports a failure immediately.
    let told = |seed: u64| check(seed).map_err(|wrong: String| println!("{wrong}"));
    let results = (args.seed..args.seed + args.count).into_par_iter().map(told);
    let sum = |(counts, failures): ([Count; 2], u64), result: Result<[Count; 2], ()>| match result {
        Ok(found) => ([counts[0].plus(found[0]), counts[1].plus(found[1])], failures),
        Err(()) => (counts, failures + 1),
    };
    let none = || ([Count::default(); 2], 0);
    let (counts, failures) = results
        .fold(none, sum)
        .reduce(none, |(a, some), (b, more)| ([a[0].plus(b[0]), a[1].plus(b[1])], some + more));
    for (level, Count { all, there, live, live_there, stops }) in ["-O0", "-O2"].into_iter().zip(counts) {
        println!(
            "{level}: {stops} stops, {there} of {all} variables there, {live_there} of {live} that are read later"
        );
    }
    println!("{} programs, {failures} failures", args.count);
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Checks that debug information puts no variable into a register that a load has yet to write.
fn arrived(args: &Args, targets: &[Subtarget], size: Size) -> ExitCode {
    let check = |seed: u64| {
        let target = targets[(seed % targets.len() as u64) as usize];
        let program = fuzz::generate::generate(seed, size);
        let (source, kernels) = (program.source(), program.kernels().collect::<Vec<_>>());
        let dialect = if seed.is_multiple_of(2) { Dialect::Standard } else { Dialect::Heterogeneous };
        let mut looked = 0;
        for level in [OptLevel::O0, OptLevel::O2] {
            let how = (target, level, dialect);
            let found = fuzz::caught(|| {
                fuzz::truth::check_arrived(&source, &kernels, &program.shape, how, Planted::Nothing)
            });
            looked += found.map_err(|wrong| format!("seed {seed} {target} {level:?}: {wrong}"))?;
        }
        Ok(looked)
    };
    let told = |seed: u64| check(seed).map_err(|wrong: String| println!("{wrong}"));
    let results = (args.seed..args.seed + args.count).into_par_iter().map(told);
    let (looked, failures) = results
        .map(|result| result.map_or((0, 1), |looked| (looked, 0)))
        .reduce(|| (0, 0), |(a, some), (b, more)| (a + b, some + more));
    println!("{looked} registers of variables, {} programs, {failures} failures", args.count);
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Compares the positions of lanes in debug information with the execution, at two optimisation levels. Seven
/// of eight programs are random kernels, the eighth has functions that call each other.
fn lanes(args: &Args, targets: &[Subtarget], size: Size) -> ExitCode {
    use fuzz::lanes::{How, Planted, Program, check};
    let run = |seed: u64| {
        let target = targets[(seed % targets.len() as u64) as usize];
        let version = if seed.is_multiple_of(3) { DwarfVersion::V4 } else { DwarfVersion::V5 };
        [OptLevel::O0, OptLevel::O2].map(|level| {
            let how = How { target, level, version };
            let found = caught(|| match seed % 8 {
                7 => {
                    let calls::Program { source, shape, call_abi, .. } =
                        &calls::generate(seed, calls::MOST, calls::STATEMENTS);
                    check(
                        Program { source, kernels: &["k"], shape, call_abi: *call_abi, is_witnessed: false },
                        how,
                        Planted::Nothing,
                    )
                }
                _ => {
                    let program = fuzz::generate::generate(seed, size);
                    let kernels = program.kernels().collect::<Vec<_>>();
                    let (source, shape) = (&program.source(), &program.shape);
                    let program = Program {
                        source,
                        kernels: &kernels,
                        shape,
                        call_abi: kernc::Convention::Today,
                        is_witnessed: true,
                    };
                    check(program, how, Planted::Nothing)
                }
            });
            found.map_err(|wrong| format!("seed {seed} {target} {level:?}: {wrong}"))
        })
    };
    let told = |wrong: &String| println!("{wrong}");
    let run = |seed: u64| run(seed).map(|found| found.inspect_err(told));
    let results: Vec<_> = (args.seed..args.seed + args.count).into_par_iter().map(run).collect();
    let mut counts = [fuzz::lanes::Count::default(); 2];
    let mut failures = 0;
    for (count, found) in results.into_iter().flat_map(|found| [0, 1].into_iter().zip(found)) {
        match found {
            Ok(found) => counts[count] += found,
            Err(_) => failures += 1,
        }
    }
    for (level, count) in ["-O0", "-O2"].into_iter().zip(counts) {
        println!("{level}: {count:?}");
    }
    println!("{} programs, {failures} failures", args.count);
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns the named processors in all of their modes.
fn targets(names: &[String]) -> Result<Vec<Subtarget>, String> {
    let mut all = Vec::new();
    for name in names {
        let list = match (name.as_str(), Target::by_name(name)) {
            ("all", _) => PROCESSORS.iter().collect(),
            (_, Some(target)) => vec![target],
            (_, None) => return Err(name.clone()),
        };
        for target in list {
            let modes = kernc::combinations(target);
            all.extend(modes.iter().filter_map(|modes| modes.on(target, CodeObjectVersion::default()).ok()));
        }
    }
    Ok(all)
}
