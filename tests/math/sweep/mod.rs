//! The long run: every function over all its numbers, or ten million, once for each state of its code.

mod all;
mod device;
mod hard;
mod oracle;
mod record;
mod some;
mod task;

use crate::math::functions::{FUNCTIONS, Function, Second};
use crate::math::run::Float;
use crate::math::{arguments, error, half, same};
use device::Bench;
use record::Row;
use task::{Code, How, SWEPT, Task};

/// The worst error so far, and where; and results that are wrong in kind.
#[derive(Clone, Debug, Default)]
pub struct Worst {
    pub error: f64,
    pub at: (f64, f64),
    pub wrong: Option<String>,
}

impl Worst {
    /// Takes note of a result's error, which is computed with twice the precision.
    fn take(&mut self, function: &Function, ty: Float, at: (f64, f64), found: f64) {
        match error(function, ty, false, at, found) {
            Some(error) if error <= self.error => {}
            Some(error) => (self.error, self.at) = (error, at),
            None => self.wrong(at, found, (function.libm)(at.0, at.1)),
        }
    }

    fn wrong(&mut self, at: (f64, f64), found: f64, wanted: f64) {
        self.wrong.get_or_insert_with(|| format!("{at:?}: {found:?}, not {wanted:?}"));
        (self.error, self.at) = (f64::INFINITY, at);
    }
}

/// What a sweep found.
pub struct Found {
    pub worst: Worst,
    pub count: u64,
}

/// The worst of what as many threads as the machine runs find.
fn on_all_threads(work: impl Fn() -> Worst + Sync) -> Worst {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(&work)).collect();
        let found = running.into_iter().map(|thread| thread.join().unwrap());
        found.max_by(|a, b| a.error.total_cmp(&b.error)).unwrap()
    })
}

/// Every function of `f16` is one dispatch.
fn halves(function: &Function, object: &[u8]) -> Found {
    let mut out = vec![0; 2 << 16];
    Bench::new(object, out.len()).run(0, 1 << 16, &mut out);
    let mut worst = Worst::default();
    for (bits, found) in (0..=u16::MAX).zip(out.chunks_exact(2)) {
        let (x, found) = (half::wide(bits), half::wide(u16::from_le_bytes([found[0], found[1]])));
        // Next to its zeros the result is what little is left.
        if function.name == "lgamma" && x < 0.0 {
            continue;
        }
        let exact = (function.libm)(x, 0.0);
        match half::error(found, exact) {
            Some(error) if error <= worst.error => {}
            Some(error) => (worst.error, worst.at) = (error, (x, 0.0)),
            None => worst.wrong((x, 0.0), found, exact),
        }
    }
    Found { worst, count: 1 << 16 }
}

/// `KERNC_MATH_STEP`: every so many parts only, to measure how long it takes; such a run is not recorded.
fn step() -> u32 {
    std::env::var("KERNC_MATH_STEP").ok().and_then(|step| step.parse().ok()).unwrap_or(1)
}

fn found(task: &Task, object: &[u8]) -> Found {
    match task.how {
        How::All(function) => all::sweep(function, object, step()),
        How::AllSame(model) => all::same(model, object, step()),
        How::Halves(function) => halves(function, object),
        How::Pairs(model) => all::pairs(model, object, step()),
        How::Some(function, ty) => some::sweep(function, ty, object),
        How::SomeSame(wide, narrow, ty) => some::same(wide, narrow, ty, object),
    }
}

/// Results for a sample, which processors are compared in: of `f32` 16 runs of 256 numbers for each sign and exponent, of `f16` all.
fn sample(task: &Task, code: &Code) -> Vec<u8> {
    match task.how {
        How::Some(function, ty) => {
            let args = arguments(function, ty, 1 << 15, 7);
            some::run(&mut Bench::new(&code.bytes, args.len() * ty.size()), (function.second, ty), &args)
        }
        How::SomeSame(_, _, ty) => {
            let args = arguments(&FUNCTIONS[0], ty, 1 << 15, 7);
            let args: Vec<_> = args.iter().zip(args.iter().skip(1)).map(|(a, b)| (a.0, b.0)).collect();
            let args = &args[..args.len() / 256 * 256];
            some::run(&mut Bench::new(&code.bytes, args.len() * ty.size()), (Second::Float, ty), args)
        }
        How::Halves(_) => {
            let mut out = vec![0; 2 << 16];
            Bench::new(&code.bytes, out.len()).run(0, 1 << 16, &mut out);
            out
        }
        How::Pairs(_) => {
            let (mut bench, mut all) = (Bench::new(&code.bytes, 512), vec![0; 8192 * 512]);
            for (n, out) in (0u32..).zip(all.chunks_exact_mut(512)) {
                bench.run(n.wrapping_mul(0x9e37_79b9) & !0xff, 256, out);
            }
            all
        }
        How::All(_) | How::AllSame(_) => {
            let mut bench = Bench::new(&code.bytes, 1024);
            let mut all = vec![0; 8192 * 1024];
            for (n, out) in (0u32..).zip(all.chunks_exact_mut(1024)) {
                let mantissa = n.wrapping_mul(0x9e37_79b9) >> 13 & 0x7f_ff00;
                bench.run((n >> 4) << 23 | mantissa & 0x7f_ff00, 256, out);
            }
            all
        }
    }
}

/// Whether two samples have the same bits; NaN has one meaning, whatever its bits.
fn agree(ty: &str, a: &[u8], b: &[u8]) -> bool {
    match ty {
        "f16" => a.chunks_exact(2).zip(b.chunks_exact(2)).all(|(a, b)| {
            let bits = |half: &[u8]| u16::from_le_bytes([half[0], half[1]]);
            a == b || half::wide(bits(a)).is_nan() && half::wide(bits(b)).is_nan()
        }),
        "f32" => same(Float::F32, a, b),
        _ => same(Float::F64, a, b),
    }
}

/// The row of a class of processors whose code is not swept.
fn compared(task: &Task, class: &[Code], swept: &[u8], commit: &str) -> Row {
    let differs = class.iter().find(|code| !agree(task.ty, &sample(task, code), swept));
    let size = if task.ty == "f64" { 8 } else { task.ty[1..].parse::<usize>().unwrap() / 8 };
    Row {
        processors: names(class),
        code: format!("{:016x}", task::hash(class)),
        commit: commit.into(),
        numbers: (swept.len() / size).to_string(),
        worst: differs.map_or("same".into(), |code| format!("other on {}", code.processor)),
        ..record::not_run(task)
    }
}

fn names(class: &[Code]) -> String {
    class.iter().map(|code| code.processor).collect::<Vec<_>>().join(" ")
}

/// Sweeps the code of one processor, and compares that of the others with it on a sample.
fn rows(task: &Task, commit: &str) -> Vec<Row> {
    let classes = task::classes(&task.source);
    let swept = &classes[0][0];
    let Found { worst, count } = found(task, &swept.bytes);
    let results = sample(task, swept);
    let is_alone = matches!(task.how, How::Some(function, _) if function.second == Second::None);
    let (x, y) = worst.at;
    let at = if is_alone || y == 0.0 { format!("{x:e}") } else { format!("{x:e} {y:e}") };
    let mut rows = vec![Row {
        processors: SWEPT.into(),
        code: format!("{:016x}", task::hash([swept])),
        commit: commit.into(),
        numbers: count.to_string(),
        worst: if worst.error == 0.0 { "0".into() } else { format!("{:.3}", worst.error) },
        at: worst.wrong.unwrap_or(at),
        ..record::not_run(task)
    }];
    let mut others = classes.iter().map(Vec::as_slice);
    // Those whose code does the same arithmetic as the swept one are compared too.
    let first = &others.next().unwrap()[1..];
    let others = std::iter::once(first).filter(|class| !class.is_empty()).chain(others);
    rows.extend(others.map(|class| compared(task, class, &results, commit)));
    rows
}

fn commit() -> String {
    let mut git = support::Tool::new("git");
    let output =
        git.fresh().args(["rev-parse", "--short", "HEAD"]).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Whether the code that was swept is that of today.
fn is_fresh(task: &Task, rows: &[Row]) -> bool {
    let row = rows.iter().find(|row| row.is_of(task) && row.processors == SWEPT);
    row.is_some_and(|row| row.code == format!("{:016x}", task::hash([&task::code(&task.source, SWEPT)])))
}

/// The long run (`KERNC_MATH=full`): what is not recorded for the code of today.
#[test]
fn within_limits_for_all_numbers() {
    if !crate::math::full() {
        return println!("left out: KERNC_MATH=full is not set");
    }
    let (commit, mut faults) = (commit(), Vec::new());
    for task in task::tasks() {
        if step() == 1 && is_fresh(&task, &record::rows()) {
            continue;
        }
        let began = std::time::Instant::now();
        let rows = rows(&task, &commit);
        let seconds = began.elapsed().as_secs_f64();
        for row in &rows {
            println!(
                "{:8} {} {:14} worst {} of {} at {}  {seconds:.0} s",
                row.name, row.ty, row.processors, row.worst, row.limit, row.at
            );
        }
        if step() == 1 {
            record::put(&task, &rows);
        }
        faults.extend(rows.iter().filter_map(Row::fault));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What is recorded: each function has a row, none is beyond its limit; how many are of other code than today's is said.
#[test]
fn recorded() {
    let mut rows = record::rows();
    let (mut stale, mut missing) = (0, Vec::new());
    for task in task::tasks() {
        if !rows.iter().any(|row| row.is_of(&task)) {
            if std::env::var_os("KERNC_BLESS").is_some() {
                record::put(&task, &[record::not_run(&task)]);
                rows = record::rows();
            } else {
                missing.push(format!("{} of {}", task.name, task.ty));
            }
        }
        let has_run = rows.iter().any(|row| row.is_of(&task) && row.code != "-");
        stale += u32::from(has_run && !is_fresh(&task, &rows));
    }
    let (all, not_run) = (rows.len(), rows.iter().filter(|row| row.code == "-").count());
    println!(
        "tests/math/swept.tsv: {all} rows, {not_run} not yet run, {stale} functions of other code than today's"
    );
    assert!(missing.is_empty(), "without a row: {missing:?}");
    let faults: Vec<_> = rows.iter().filter_map(Row::fault).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
