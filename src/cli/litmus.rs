//! `kernc litmus FILE...`: shapes of the memory model, in every case and every schedule.

use super::{Failure, read_source};
use clap::Args;
use litmus::{Case, Machine, Shape, Verdict, cases, machines};
use rayon::prelude::*;
use std::path::PathBuf;

#[derive(Args)]
pub struct LitmusArgs {
    /// Shapes; `docs/litmus.md` has the format.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Processors.
    #[arg(long, value_name = "GFX,...", value_delimiter = ',', default_value = "gfx906,gfx1010")]
    mcpu: Vec<String>,
    /// Print every case, and the schedule that leads to a forbidden outcome.
    #[arg(long, short)]
    verbose: bool,
}

/// Runs the command.
pub fn run(args: &LitmusArgs) -> Result<(), Failure> {
    if let Some(unknown) = args.mcpu.iter().find(|name| kernc::Target::by_name(name).is_none()) {
        return Err(Failure::Usage(format!("unknown processor `{unknown}`; `kernc targets` lists them")));
    }
    let names: Vec<&str> = args.mcpu.iter().map(String::as_str).collect();
    let mut found = false;
    outln!("{:14} {:11} {:>6} {:>9} {:>9}  result", "shape", "processor", "cases", "outcomes", "states");
    for file in &args.files {
        let text = read_source(file)?;
        let shape =
            Shape::parse(&text).map_err(|error| Failure::File(format!("{}: {error}", file.display())))?;
        for machine in machines(&names) {
            found |= explore(&shape, machine, args.verbose)?;
        }
    }
    if found { Err(Failure::Reported) } else { Ok(()) }
}

/// Prints a line of the table; whether something that must not be was seen, or not all could be.
fn explore(shape: &Shape, machine: Machine, verbose: bool) -> Result<bool, Failure> {
    let all = cases(shape, machine);
    let verdicts: Vec<Verdict> = all
        .par_iter()
        .map(|case| litmus::run(shape, case, None))
        .collect::<Result<_, _>>()
        .map_err(Failure::File)?;
    let sum = |of: fn(&Verdict) -> u64| verdicts.iter().map(of).sum::<u64>();
    let forbidden = verdicts.iter().filter(|verdict| !verdict.forbidden.is_empty()).count();
    let unfinished = verdicts.iter().filter(|verdict| verdict.bounded || !verdict.broken.is_empty()).count();
    let gaps = verdicts.iter().filter(|verdict| !verdict.gaps.is_empty()).count();
    let result = match (forbidden, unfinished) {
        (0, 0) if gaps > 0 => format!("nothing forbidden but a gap that is known, in {gaps} cases"),
        (0, 0) => "nothing forbidden".to_owned(),
        (0, _) => format!("{unfinished} cases could not be explored to their end"),
        _ => format!("forbidden outcomes in {forbidden} cases"),
    };
    outln!(
        "{:14} {:11} {:6} {:9} {:9}  {result}",
        shape.name,
        machine.name(),
        all.len(),
        sum(|verdict| verdict.outcomes as u64),
        sum(|verdict| verdict.states),
    );
    for (case, verdict) in all.iter().zip(&verdicts) {
        describe(case, verdict, verbose);
    }
    Ok(forbidden + unfinished > 0)
}

/// What came out of a case: with `verbose` of each, and how.
fn describe(case: &Case, verdict: &Verdict, verbose: bool) {
    if !verbose && verdict.forbidden.is_empty() {
        return;
    }
    outln!(
        "  {}, {}, {}: {} outcomes",
        case.scope.name(),
        case.layout.name(),
        case.placement(),
        verdict.outcomes
    );
    for (condition, schedule) in &verdict.forbidden {
        outln!("    forbidden: {condition}");
        if verbose {
            schedule.iter().for_each(|step| outln!("      {step}"));
        }
    }
}
