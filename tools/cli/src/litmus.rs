//! `kernc litmus FILE...`: explores litmus tests of the memory model, and kernels with conditions in
//! comments. Each test is explored in every placement of its threads and in every schedule.

use super::modes::wrong;
use super::{Failure, opt_level, read_source};
use clap::Args;
use kernc::{CodeObjectVersion, Language, Modes, Target};
use litmus::{Kernels, Machine, Shape, Verdict, cases, machines, machines_and_waves};
use rayon::prelude::*;
use sim::CodeObject;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct LitmusArgs {
    /// Litmus shapes, or kernels with comments that name the forbidden outcomes; `docs/litmus.md` describes
    /// both forms.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Processors; for GFX10, both modes of a processor. Kernels may also be compiled for target ids.
    #[arg(long, value_name = "GFX,...", value_delimiter = ',', default_value = "gfx906,gfx1010")]
    mcpu: Vec<String>,
    /// Compile kernels for both wave sizes, if the processor has both.
    #[arg(long)]
    waves: bool,
    /// Dialect of kernels. With `opencl`, atomics below sequential consistency order accesses to one address
    /// space only.
    #[arg(long, value_name = "LANGUAGE", default_value = "kernc", value_parser = ["kernc", "opencl"])]
    lang: String,
    /// Optimisation level of kernels.
    #[arg(short = 'O', value_name = "LEVEL", default_value = "2", value_parser = ["0", "1", "2", "3"])]
    opt_level: String,
    /// Print every case, and the schedules that lead to forbidden outcomes.
    #[arg(long, short)]
    verbose: bool,
    /// For each condition of a shape, print the cycle by which the memory model forbids the outcome.
    #[arg(long)]
    cycles: bool,
}

/// Runs the command.
pub fn run(args: &LitmusArgs) -> Result<(), Failure> {
    let ids: Vec<(&'static Target, Modes)> =
        args.mcpu.iter().map(|id| target_id(id)).collect::<Result<_, _>>()?;
    let mut found = false;
    outln!("{:14} {:11} {:>6} {:>9} {:>9}  result", "shape", "processor", "cases", "outcomes", "states");
    for file in &args.files {
        let text = read_source(file)?;
        let wrong = |error: litmus::ParseError| Failure::File(format!("{}: {error}", file.display()));
        if file.extension().is_some_and(|extension| extension == "k") {
            let name = file.file_stem().map_or("kernels".into(), |name| name.to_string_lossy());
            let kernels = Kernels::parse(&text, &name).map_err(wrong)?;
            for (target, modes) in &ids {
                for machine in kernel_machines(target, args.waves) {
                    found |= explore_kernels((args, file, &text), &kernels, machine, modes)?;
                }
            }
            if args.cycles {
                outln!("  not shown: the cycles of kernels");
            }
            continue;
        }
        let shape = Shape::parse(&text).map_err(wrong)?;
        for machine in ids.iter().flat_map(|(target, _)| machines(&[target.name])) {
            found |= explore(&shape, machine, args.verbose)?;
        }
        if args.cycles {
            print_cycles(&shape);
        }
    }
    if found { Err(Failure::Reported) } else { Ok(()) }
}

fn target_id(id: &str) -> Result<(&'static Target, Modes), Failure> {
    Modes::of_target_id(id).map_err(|error| wrong(&error))
}

/// Returns the machines (a processor in a mode) on which kernels are explored. If `waves` is set, both wave
/// sizes are included; otherwise only the processor's default wave size.
fn kernel_machines(target: &Target, waves: bool) -> Vec<Machine> {
    let mut all = machines_and_waves(&[target.name]);
    all.retain(|machine| waves || machine.target.wave_size == target.wave_size);
    all
}

/// Compiles kernels, explores their schedules and prints a line of the result table. Returns whether the test
/// failed: a forbidden outcome was seen, or the exploration was incomplete.
fn explore_kernels(
    (args, file, text): (&LitmusArgs, &Path, &str),
    kernels: &Kernels,
    machine: Machine,
    modes: &Modes,
) -> Result<bool, Failure> {
    let modes =
        Modes { cumode: None, wave_size: None, ..*modes }.on(machine.target, CodeObjectVersion::default());
    let mut subtarget = modes.map_err(|error| wrong(&error))?;
    (subtarget.target, subtarget.cumode) = (machine.target, machine.cu_mode);
    subtarget.tgsplit = machine.splits_groups();
    let options = kernc::Options {
        file_name: file.display().to_string(),
        opt_level: opt_level(&args.opt_level),
        language: match kernels.opencl {
            true => Language::OpenCl,
            false => Language::by_name(&args.lang).unwrap_or_default(),
        },
        ..kernc::Options::default()
    };
    let object = kernc::Compiler::new(subtarget).compile(text, &options);
    let object = object.map_err(|error| Failure::Source(error.render(std::io::stderr().is_terminal())))?;
    let object = CodeObject::load(object.bytes()).map_err(|error| Failure::Internal(error.to_string()))?;
    let about = |error: String| Failure::File(format!("{}: {error}", file.display()));
    let all = kernels.placements(&object, machine).map_err(about)?;
    let verdicts: Vec<Verdict> = all
        .par_iter()
        .map(|placement| kernels.run(&object, placement))
        .collect::<Result<_, _>>()
        .map_err(about)?;
    let never = |text: &&String| verdicts.iter().all(|verdict| verdict.missing.contains(text));
    let missing: Vec<&String> =
        verdicts.first().map_or(&[][..], |verdict| &verdict.missing).iter().filter(never).collect();
    let bad = line(&kernels.name, &machine.name(), &verdicts);
    for (placement, verdict) in all.iter().zip(&verdicts) {
        describe(&placement.name(), verdict, args.verbose);
    }
    for text in &missing {
        outln!("  allowed, and never seen: {text}");
    }
    Ok(bad || !missing.is_empty())
}

/// Explores a litmus test and prints a line of the result table. Returns whether the test failed: a forbidden
/// outcome was seen, or the exploration was incomplete.
fn explore(shape: &Shape, machine: Machine, verbose: bool) -> Result<bool, Failure> {
    let all = cases(shape, machine);
    let verdicts: Vec<Verdict> = all
        .par_iter()
        .map(|case| litmus::run(shape, case, None))
        .collect::<Result<_, _>>()
        .map_err(Failure::File)?;
    let bad = line(&shape.name, &machine.name(), &verdicts);
    for (case, verdict) in all.iter().zip(&verdicts) {
        let name = format!("{}, {}, {}", case.scope.name(), case.layout.name(), case.placement());
        describe(&name, verdict, verbose);
    }
    Ok(bad)
}

/// Prints, for each condition of a shape, why the memory model forbids the outcome.
fn print_cycles(shape: &Shape) {
    let all = [("forbidden", &shape.forbidden), ("gap", &shape.gaps), ("allowed", &shape.allowed)];
    for (word, conditions) in all {
        for condition in conditions {
            outln!("  {word} {}: {}", condition.text, litmus::explain(shape, condition));
        }
    }
}

/// Prints the line of the result table that sums up all cases of a litmus test. Returns whether the test
/// failed: a forbidden outcome was seen, or the exploration was incomplete.
fn line(shape: &str, machine: &str, verdicts: &[Verdict]) -> bool {
    let sum = |of: fn(&Verdict) -> u64| verdicts.iter().map(of).sum::<u64>();
    let count = |of: fn(&Verdict) -> bool| verdicts.iter().filter(|verdict| of(verdict)).count();
    let forbidden = count(|verdict| !verdict.forbidden.is_empty());
    let unfinished = count(|verdict| verdict.bounded || !verdict.broken.is_empty());
    let gaps = count(|verdict| !verdict.gaps.is_empty());
    let result = match (forbidden, unfinished) {
        (0, 0) if gaps > 0 => format!("nothing forbidden but a gap that is known, in {gaps} cases"),
        (0, 0) => "nothing forbidden".to_owned(),
        (0, _) => format!("{unfinished} cases could not be explored to their end"),
        _ => format!("forbidden outcomes in {forbidden} cases"),
    };
    let (cases, outcomes) = (verdicts.len(), sum(|verdict| verdict.outcomes as u64));
    let states = sum(|verdict| verdict.states);
    outln!("{shape:14} {machine:11} {cases:6} {outcomes:9} {states:9}  {result}");
    forbidden + unfinished > 0
}

/// Prints the outcomes of a case if some outcomes are forbidden. With `verbose`, prints the outcomes of every
/// case, and the schedules that lead to forbidden outcomes.
fn describe(case: &str, verdict: &Verdict, verbose: bool) {
    if !verbose && verdict.forbidden.is_empty() {
        return;
    }
    outln!("  {case}: {} outcomes", verdict.outcomes);
    for (condition, schedule) in &verdict.forbidden {
        outln!("    forbidden: {condition}");
        if verbose {
            schedule.iter().for_each(|step| outln!("      {step}"));
        }
    }
}
