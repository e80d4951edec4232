//! How compile time grows with the size of a program: each shape of `testkit::shapes` at n, 2n, 4n and 8n.
//!
//! ```text
//! cargo bench --bench scaling                     # all shapes
//! cargo bench --bench scaling -- loops breaks     # some
//! cargo bench --bench scaling -- loops --passes   # and the growth of each pass
//! cargo bench --bench scaling -- --debug          # with full debug information, as `-g` writes it
//! cargo bench --bench scaling -- --check          # exit code 1 if a bar is missed
//! cargo bench --bench scaling -- --rounds 8       # on a machine with noisy neighbours: the least of eight runs
//! cargo bench --profile dev --bench scaling       # quick to build; growth is the same, times are not
//! ```
//!
//! Other programs on the machine take time, and caches, away: what counts is the time that the processor spent on the
//! compilation (on Linux; elsewhere the time that passed), the sizes are measured in turn, so that a busy minute hits all of
//! them, and of all repetitions the least time is taken. A virtual machine whose neighbours come and go can be twice as slow
//! for minutes: `--rounds` goes over all shapes again and again.
//!
//! The bars: from n to 8n at most ten times the time, or as much more as the code grows by more than eight times; and at
//! most 3 us an instruction.

use kernc::{CodeObject, Compiler, DebugInfo, Observer, Options, Subtarget, Target};
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use testkit::shapes::{SHAPES, Shape};

/// Largest growth of time from n to 8n.
const MAX_GROWTH: f64 = 10.0;
/// Most microseconds an instruction.
const MAX_MICROSECONDS: f64 = 3.0;
/// The sizes are compiled in turn until all together took this long.
const REPEAT_FOR: Duration = Duration::from_millis(1200);
const MAX_REPEATS: u32 = 20;
/// After a size that took longer, the larger ones of the shape are left out.
const GIVE_UP_AFTER: Duration = Duration::from_secs(8);
/// In a round, a size is compiled as often as makes up for how much smaller than the largest it is.
const SIZES: [(usize, u32); 4] = [(1, 8), (2, 4), (4, 2), (8, 1)];

/// Time that the processor spent on this thread, since some moment.
fn processor_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    // The kernel brings the count up to date where a thread might be exchanged for another.
    std::thread::yield_now();
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = counted.and_then(|text| text.split(' ').next()?.parse().ok()).filter(|&time| time > 0);
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// One size of a shape.
struct Measured {
    ms: f64,
    instructions: u32,
    passes: Vec<(&'static str, Duration)>,
}

/// Adds up the time between passes.
struct Clock {
    since: Instant,
    passes: Vec<(&'static str, Duration)>,
}

impl Clock {
    fn lap(&mut self, pass: &'static str) {
        let spent = self.since.elapsed();
        match self.passes.iter_mut().find(|(name, _)| *name == pass) {
            Some((_, total)) => *total += spent,
            None => self.passes.push((pass, spent)),
        }
        self.since = Instant::now();
    }
}

impl Observer for Clock {
    fn ir(&mut self, pass: &'static str, _module: &ir::Module) {
        self.lap(pass);
    }

    fn mir(&mut self, pass: &'static str, _target: &Subtarget, _func: &mir::MachFunc) {
        self.lap(pass);
    }

    fn done(&mut self, pass: &'static str) {
        self.lap(pass);
    }
}

/// Compiles once.
fn measure(compiler: &mut Compiler, source: &str, debug: DebugInfo) -> Result<Measured, String> {
    let options = Options { verify: false, debug, ..Options::default() };
    let mut clock = Clock { since: Instant::now(), passes: Vec::new() };
    let start = processor_time();
    let compiled = compiler.compile_observed(source, &options, &mut clock);
    let ms = processor_time().saturating_sub(start).as_secs_f64() * 1e3;
    let object = compiled.map_err(|error| {
        let messages = error.diagnostics();
        messages.list.first().map_or(String::new(), |first| format!("{}: {}", first.code, first.message))
    })?;
    Ok(Measured { ms, instructions: instructions(&object), passes: clock.passes })
}

/// A shape, and the least time of each of its sizes so far.
struct Row {
    shape: &'static Shape,
    debug: DebugInfo,
    best: Vec<Measured>,
    /// Why there are not all sizes.
    trouble: Option<String>,
}

impl Row {
    /// Every size once.
    fn new(shape: &'static Shape, debug: DebugInfo, compiler: &mut Compiler) -> Row {
        let mut row = Row { shape, debug, best: Vec::new(), trouble: None };
        for (times, _) in SIZES {
            let n = shape.base * times;
            match measure(compiler, &(shape.source)(n), debug) {
                Ok(measured) if measured.ms > GIVE_UP_AFTER.as_secs_f64() * 1e3 => {
                    row.trouble = Some(format!("n = {n} takes too long"));
                    row.best.push(measured);
                    break;
                }
                Ok(measured) => row.best.push(measured),
                Err(message) => {
                    row.trouble = Some(format!("n = {n} is refused: {message}"));
                    break;
                }
            }
        }
        row
    }

    /// All sizes again and again, for a while.
    fn repeat(&mut self, compiler: &mut Compiler) {
        if self.trouble.is_some() {
            return;
        }
        let sources = SIZES.map(|(times, _)| (self.shape.source)(self.shape.base * times));
        let begin = Instant::now();
        for _ in 0..MAX_REPEATS {
            for ((best, source), (_, often)) in self.best.iter_mut().zip(&sources).zip(SIZES) {
                let again = (0..often).filter_map(|_| measure(compiler, source, self.debug).ok());
                for measured in again {
                    if measured.ms < best.ms {
                        *best = measured;
                    }
                }
            }
            if begin.elapsed() > REPEAT_FOR {
                break;
            }
        }
    }
}

fn instructions(object: &CodeObject) -> u32 {
    object.kernels().iter().map(|kernel| kernel.resources.instructions).sum()
}

/// Prints a shape; whether it is within the bars.
fn print(row: Row, passes: bool) -> bool {
    let Row { shape, best: sizes, trouble, .. } = row;
    let columns: String = (0..4)
        .map(|at| sizes.get(at).map_or(format!("{:>9}", "-"), |size| format!("{:>9.2}", size.ms)))
        .collect();
    let (Some(first), Some(last)) = (sizes.first(), sizes.last()) else {
        println!("{:14} {:>5} {columns}  MISSED: {}", shape.name, shape.base, trouble.unwrap_or_default());
        return false;
    };
    let growth = last.ms / first.ms;
    let code = f64::from(last.instructions) / f64::from(first.instructions);
    let each = last.ms * 1e3 / f64::from(last.instructions);
    let misses = [
        trouble,
        (growth > MAX_GROWTH * (code / 8.0).max(1.0)).then(|| format!("growth over {MAX_GROWTH}")),
        (each > MAX_MICROSECONDS).then(|| format!("over {MAX_MICROSECONDS} us an instruction")),
    ];
    let misses: Vec<String> = misses.into_iter().flatten().collect();
    let verdict = if misses.is_empty() { String::new() } else { format!("  MISSED: {}", misses.join("; ")) };
    println!(
        "{:14} {:>5} {columns} {:>8} {each:>8.2} {growth:>8.1} {code:>8.1}{verdict}",
        shape.name, shape.base, last.instructions
    );
    if passes {
        print_passes(first, last);
    }
    misses.is_empty()
}

/// The passes that take a hundredth of the time or more, by time.
fn print_passes(first: &Measured, last: &Measured) {
    let mut rows: Vec<_> = last.passes.iter().map(|&(name, time)| (name, time.as_secs_f64() * 1e3)).collect();
    rows.sort_by(|left, right| right.1.total_cmp(&left.1));
    for (name, ms) in rows.into_iter().filter(|(_, ms)| ms * 100.0 > last.ms) {
        let before = first.passes.iter().find(|(other, _)| *other == name);
        let before = before.map_or(f64::NAN, |(_, time)| time.as_secs_f64() * 1e3);
        println!("    {name:16} {before:>9.3} ms  -> {ms:>9.3} ms  {:>6.1} times", ms / before);
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| args.iter().any(|arg| arg == name);
    let is_number = |arg: &str| arg.bytes().all(|byte| byte.is_ascii_digit());
    let rounds = args.iter().skip_while(|arg| *arg != "--rounds").nth(1);
    let rounds: u32 = rounds.and_then(|number| number.parse().ok()).unwrap_or(1);
    let names: Vec<&String> = args.iter().filter(|arg| !arg.starts_with("--") && !is_number(arg)).collect();
    if let Some(unknown) = names.iter().find(|name| SHAPES.iter().all(|shape| shape.name != **name)) {
        let known: Vec<_> = SHAPES.iter().map(|shape| shape.name).collect();
        eprintln!("no shape `{unknown}`; there are: {}", known.join(", "));
        std::process::exit(2);
    }
    let debug = if flag("--debug") { DebugInfo::Full } else { DebugInfo::Lines };
    let mut compiler = Compiler::new(Target::by_name("gfx906").expect("a known processor"));
    println!(
        "{:14} {:>5} {:>9}{:>9}{:>9}{:>9} {:>8} {:>8} {:>8} {:>8}",
        "shape", "n", "ms at n", "2n", "4n", "8n", "instrs", "us each", "growth", "of code"
    );
    let chosen =
        SHAPES.iter().filter(|shape| names.is_empty() || names.iter().any(|name| *name == shape.name));
    let mut rows: Vec<Row> = chosen.map(|shape| Row::new(shape, debug, &mut compiler)).collect();
    for _ in 0..rounds {
        for row in &mut rows {
            row.repeat(&mut compiler);
        }
    }
    let missed = rows.into_iter().map(|row| print(row, flag("--passes"))).filter(|&met| !met).count();
    if flag("--check") && missed > 0 {
        std::process::exit(1);
    }
}
