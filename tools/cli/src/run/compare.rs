//! `--compare OTHER[:RTOL[:ATOL]]`: runs two programs with equal arguments and compares the contents of their
//! buffers.

use super::RunArgs;
use super::arguments::Texts;
use super::expect::{table, unmet};
use super::launch::{Launch, Run, failure, stopped};
use super::load::Loaded;
use crate::Failure;
use crate::observe::estimate;
use kernc::sim::compare::{Tolerance, differences};
use kernc::sim::{self, Buffer, KernelInfo, Mode, RunStats};
use std::path::Path;

/// Returns a counter of a run.
type Count = fn(&RunStats) -> u64;

/// Counters that are compared, by name.
const COUNTS: [(&str, Count); 9] = [
    ("wave instructions", |stats| stats.instructions),
    ("SALU", |stats| stats.salu),
    ("VALU", |stats| stats.valu),
    ("SMEM", |stats| stats.smem),
    ("VMEM", |stats| stats.vmem),
    ("LDS", |stats| stats.lds),
    ("flow", |stats| stats.flow),
    ("groups", |stats| stats.groups),
    ("waves", |stats| stats.waves),
];

/// A run that ended without an error.
struct Ended {
    stats: RunStats,
    cycles: u64,
    vgprs: u32,
    buffers: Vec<Option<Buffer>>,
}

/// Runs both programs and prints a table.
pub fn run(
    args: &RunArgs,
    (loaded, launch): (&Loaded, &Launch<'_>),
    other: &str,
    texts: &Texts,
) -> Result<(), Failure> {
    if matches!(args.mode.as_deref(), Some("strict" | "weak")) || args.keep_going {
        return Err(Failure::Usage(
            "`--compare` counts in fast mode; strict and weak mode look at one program".to_owned(),
        ));
    }
    let (path, tolerance) =
        sim::args::split_tolerance(other).map_err(|why| Failure::Usage(format!("`--compare`: {why}")))?;
    let second = Loaded::new(Path::new(path), args)?;
    // The other program runs the kernel with the same name. If it has no such kernel, it runs its only
    // kernel.
    let same = second.object.kernel(&launch.kernel.name).map(|kernel| kernel.name.clone());
    let args = &RunArgs { kernel: same, ..args.clone() };
    let other = Launch::new(args, &second, texts).map_err(|failure| in_file(&second.name, failure))?;
    let found = [ended(args, loaded, launch)?, ended(args, &second, &other)?];
    print_counts([&loaded.name, &second.name], &found);
    unmet(compare_buffers(launch.kernel, [&loaded.name, &second.name], &found, tolerance))
}

/// Adds the name of the other file to an error.
fn in_file(name: &str, failure: Failure) -> Failure {
    match failure {
        Failure::Usage(why) => Failure::Usage(format!("{name}: {why}")),
        other => other,
    }
}

fn ended(args: &RunArgs, loaded: &Loaded, launch: &Launch<'_>) -> Result<Ended, Failure> {
    let observe = sim::Observe { profile: true, ..sim::Observe::default() };
    let Run { device, placed, stats } = launch.run(args, Mode::Fast, &observe)?;
    let stats = stats.map_err(|fault| stopped(&fault, &loaded.teller))?;
    let cycles = estimate(device.profile(), launch.kernel).map_or(0, |estimate| estimate.cycles());
    let buffers = (0..placed.arguments()).map(|at| placed.read(&device, at).map_err(failure));
    Ok(Ended { stats, cycles, vgprs: launch.kernel.vgprs, buffers: buffers.collect::<Result<_, _>>()? })
}

fn print_counts(names: [&String; 2], found: &[Ended; 2]) {
    let mut rows: Vec<(&str, [u64; 2])> = COUNTS
        .iter()
        .map(|(name, count)| (*name, [count(&found[0].stats), count(&found[1].stats)]))
        .collect();
    rows.push(("VGPRs", [found[0].vgprs.into(), found[1].vgprs.into()]));
    rows.push(("estimated cycles", [found[0].cycles, found[1].cycles]));
    let label = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let width = |at: usize| names[at].len().max(12);
    let (first, second) = (width(0), width(1));
    outln!("{:label$}  {:>first$}  {:>second$}", "", names[0], names[1]);
    for (name, [one, two]) in rows {
        let change = if one == two || one == 0 {
            String::new()
        } else {
            format!("  {:+.1}%", 100.0 * (two as f64 / one as f64 - 1.0))
        };
        outln!("{name:label$}  {one:>first$}  {two:>second$}{change}");
    }
}

/// Prints which buffers are equal. Returns a text that describes how the other buffers differ.
fn compare_buffers(
    kernel: &KernelInfo,
    names: [&String; 2],
    found: &[Ended; 2],
    tolerance: Tolerance,
) -> String {
    let mut text = String::new();
    for (at, arg) in kernel.explicit_args().enumerate() {
        let of = |ended: &Ended| ended.buffers.get(at).cloned().flatten();
        let (Some(one), Some(two)) = (of(&found[0]), of(&found[1])) else { continue };
        let name = sim::args::name_of(at, arg);
        let all = differences(&two, &one, tolerance);
        if all.count == 0 {
            outln!("{name}: equal");
            continue;
        }
        text += &format!("{name}: {} of {} elements differ ({tolerance})\n", all.count, all.total);
        text += &table(&all, &one, [names[0], names[1]]);
    }
    text
}
