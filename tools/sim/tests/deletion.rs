//! Deletion test: in clang's objects each wait, nop and invalidate in turn is deleted or weakened. Strict
//! mode runs it, and where that finds nothing the static checker reads it, which takes the paths that the run
//! has not. What neither finds is either shown by weak mode, or proven to be redundant from the record of the
//! run (`sim::idle_waits`), or missed.
//!
//! `DELETION=all` takes all kernels, levels and processors; otherwise a few. `KERNEL` and `CPU` choose. Needs clang-19,
//! ld.lld, and clang-14 for code objects V2 and V3.

#[path = "deletion/changes.rs"]
mod changes;
#[path = "deletion/subject.rs"]
mod subject;
#[path = "deletion/synchronising.rs"]
mod synchronising;

use crate::common::{compile, link, present, test_file, twins};
use changes::mutations;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use subject::{Fate, Subject};
use synchronising::SYNCHRONISING;
use testkit::Kernel;

/// Kernels of the short run.
const FEW: [&str; 7] = ["saxpy", "reduce", "scan", "msgpass", "transpose", "sgemm_lds", "spmv"];
/// A processor, and options for it.
type Cpu = (&'static str, &'static [&'static str]);
const CPUS: [Cpu; 9] = [
    ("gfx600", &[]),
    ("gfx700", &[]),
    ("gfx803", &[]),
    ("gfx900", &[]),
    ("gfx906", &[]),
    ("gfx908", &[]),
    ("gfx1010", &[]),
    ("gfx1010", &["-mwavefrontsize64"]),
    ("gfx1030", &[]),
];
const COMPILERS: [(&str, &str); 4] = [
    ("clang-19", "-mcode-object-version=4"),
    ("clang-19", "-mcode-object-version=5"),
    ("clang-14", "-mcode-object-version=2"),
    ("clang-14", "-mcode-object-version=3"),
];

/// Fates by kind.
#[derive(Default)]
struct Table {
    fates: BTreeMap<String, BTreeMap<Fate, u32>>,
    missed: Vec<String>,
    remarks: Vec<String>,
    objects: u32,
    /// Objects that are not there, or have no case that is short enough.
    left_out: Vec<String>,
}

impl Table {
    fn add(&mut self, other: &Table) {
        for (kind, fates) in &other.fates {
            let mine = self.fates.entry(kind.clone()).or_default();
            fates.iter().for_each(|(fate, count)| *mine.entry(*fate).or_default() += count);
        }
        self.missed.extend(other.missed.iter().cloned());
        self.remarks.extend(other.remarks.iter().cloned());
        self.left_out.extend(other.left_out.iter().cloned());
        self.objects += other.objects;
    }

    /// Every change to one object.
    fn for_subject(subject: &Subject, what: &str) -> Table {
        let mut table = Table { objects: 1, ..Table::default() };
        subject.verify();
        for mutation in mutations(subject.object, subject.target) {
            let (fate, why) = subject.fate(&mutation);
            *table.fates.entry(mutation.kind.clone()).or_default().entry(fate).or_default() += 1;
            if fate == Fate::Missed {
                table.missed.push(format!("{what} {} {}: {why}", mutation.kind, mutation.text));
            } else if !why.is_empty() || fate == Fate::Registers && mutation.order.is_none() {
                table.remarks.push(format!("{what} {} {}: {fate:?} {why}", mutation.kind, mutation.text));
            }
        }
        table
    }

    /// What is worth a line of its own.
    fn tell(&self) {
        self.left_out.iter().for_each(|line| println!("left out: {line}"));
        self.remarks.iter().for_each(|line| println!("remark: {line}"));
        self.missed.iter().for_each(|line| println!("missed: {line}"));
    }

    /// For those who add up parts of a long run themselves.
    fn print_raw(&self) {
        println!("raw: objects {}", self.objects);
        for (kind, fates) in &self.fates {
            println!("raw: {kind}: {:?}", Sums::from_fates(fates).0);
        }
    }

    fn print(&self) -> Sums {
        println!(
            "{:<28} {:>6} {:>6} {:>6} {:>5} {:>9} {:>6} {:>7} {:>7} {:>6} {:>6} {:>7}",
            "kind",
            "all",
            "strict",
            "check",
            "weak",
            "registers",
            "idle",
            "private",
            "ordered",
            "place",
            "missed",
            "rate"
        );
        let mut all = Sums::default();
        for (kind, fates) in &self.fates {
            let sums = Sums::from_fates(fates);
            sums.print(kind);
            all.add(&sums);
        }
        all.print("all");
        println!("{} objects; left out: {}", self.objects, self.left_out.len());
        all
    }
}

/// A row of the table.
#[derive(Default)]
struct Sums([u32; 9]);

const COLUMNS: [Fate; 9] = [
    Fate::Strict,
    Fate::Check,
    Fate::Weak,
    Fate::Registers,
    Fate::Idle,
    Fate::Private,
    Fate::Ordered,
    Fate::Placement,
    Fate::Missed,
];

impl Sums {
    fn from_fates(fates: &BTreeMap<Fate, u32>) -> Sums {
        Sums(COLUMNS.map(|fate| fates.get(&fate).copied().unwrap_or(0)))
    }

    fn add(&mut self, other: &Sums) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, other)| *sum += other);
    }

    fn found(&self) -> u32 {
        self.0[..3].iter().sum()
    }

    fn missed(&self) -> u32 {
        self.0[8]
    }

    fn print(&self, kind: &str) {
        let [strict, check, weak, registers, idle, private, ordered, place, missed] = self.0;
        let rate = 100.0 * f64::from(self.found()) / f64::from((self.found() + missed).max(1));
        let all: u32 = self.0.iter().sum();
        println!(
            "{kind:<28} {all:>6} {strict:>6} {check:>6} {weak:>5} {registers:>9} {idle:>6} {private:>7} {ordered:>7} {place:>6} {missed:>6} {rate:>6.1}%"
        );
    }
}

/// One kernel for one processor at one level, by all compilers: identical code counts as often as it occurs.
fn unit(kernel: &Kernel, cpu: Cpu, level: &str, compilers: &[(&str, &str)]) -> Table {
    let name = kernel.name;
    let mut tables: Vec<(Vec<u8>, Table)> = Vec::new();
    let mut all = Table::default();
    for (clang, version) in compilers {
        let what = format!("{name} {}{} {level} {clang} {version}", cpu.0, cpu.1.concat());
        let cpu_option = format!("-mcpu={}", cpu.0);
        let options: Vec<&str> =
            [&cpu_option, level, version].into_iter().chain(cpu.1.iter().copied()).collect();
        let own = SYNCHRONISING.iter().any(|own| own.name == name);
        let source = if own { own_source(name) } else { twins().join(format!("{name}.cl")) };
        let object = compile(clang, &source, &options).and_then(|object| link(&[object]));
        let Ok(object) = object else {
            all.left_out.push(format!("{what}: not compiled"));
            continue;
        };
        let code = code_of(&object);
        if let Some((_, table)) = tables.iter().find(|(known, _)| *known == code) {
            all.add(table);
            continue;
        }
        let table = match Subject::new(kernel, &object) {
            Some(subject) => Table::for_subject(&subject, &what),
            None => Table { left_out: vec![format!("{what}: too long")], ..Table::default() },
        };
        table.tell();
        all.add(&table);
        tables.push((code, table));
    }
    all
}

fn own_source(name: &str) -> std::path::PathBuf {
    test_file(&format!("sync/{name}.cl"))
}

/// Instructions and what registers they begin with: all of the descriptors but the size of the arguments and the way to
/// the code (seed 000, lines 2534-2600).
fn code_of(object: &[u8]) -> Vec<u8> {
    use object::{Object, ObjectSection, ObjectSymbol};
    let file = object::File::parse(object).expect("an ELF file");
    let data = |name| file.section_by_name(name).and_then(|section| section.data().ok()).unwrap_or_default();
    let mut code = data(".text").to_vec();
    let mut rest = data(".rodata").to_vec();
    let start = file.section_by_name(".rodata").map_or(0, |section| section.address());
    let descriptor = file.symbols().find(|symbol| symbol.name().is_ok_and(|name| name.ends_with(".kd")));
    let at = descriptor.map_or(0, |symbol| (symbol.address() - start) as usize);
    if let Some(descriptor) = rest.get_mut(at..at + 24) {
        descriptor[8..12].fill(0);
        descriptor[16..24].fill(0);
    }
    code.extend(rest);
    code
}

#[test]
fn deletion() {
    if !present("clang-19") {
        return;
    }
    let all = std::env::var("DELETION").is_ok_and(|value| value == "all");
    let old = all && present("clang-14");
    let compilers = if all { &COMPILERS[..if old { 4 } else { 2 }] } else { &COMPILERS[1..2] };
    let levels: &[&str] = if all { &["-O3", "-O1", "-O0"] } else { &["-O3"] };
    let choice = |name: &str| std::env::var(name).ok();
    let (only, cpu_only, level_only) = (choice("KERNEL"), choice("CPU"), choice("LEVEL"));
    let few = |kernel: &Kernel, cpu: Cpu| {
        let own = SYNCHRONISING.iter().any(|own| own.name == kernel.name);
        cpu.0 == "gfx906" && FEW.contains(&kernel.name)
            || own && (cpu.0 == "gfx906" || cpu == ("gfx1010", &[]))
    };
    let wanted = |kernel: &Kernel, cpu: Cpu| {
        all && only.as_ref().is_none_or(|only| only == kernel.name)
            && cpu_only.as_ref().is_none_or(|only| only == cpu.0)
            || !all && few(kernel, cpu)
    };
    let mut units = Vec::new();
    for kernel in testkit::KERNELS.iter().chain(&SYNCHRONISING) {
        for level in levels.iter().filter(|level| level_only.as_ref().is_none_or(|only| only == *level)) {
            units.extend(CPUS.iter().filter(|cpu| wanted(kernel, **cpu)).map(|cpu| (kernel, *cpu, *level)));
        }
    }
    let (next, table) = (AtomicUsize::new(0), Mutex::new(Table::default()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |count| count.get()) {
            scope.spawn(|| {
                while let Some((kernel, cpu, level)) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let start = std::time::Instant::now();
                    let done = unit(kernel, *cpu, level, compilers);
                    if all {
                        println!("{} {cpu:?} {level}: {:?}", kernel.name, start.elapsed());
                        done.print_raw();
                    }
                    table.lock().expect("no thread panics").add(&done);
                }
            });
        }
    });
    let table = table.into_inner().expect("no thread panics");
    let sums = table.print();
    assert!(sums.found() * 100 >= (sums.found() + sums.missed()) * 99, "{} missed", sums.missed());
    assert!(all || sums.missed() == 0, "{} missed", sums.missed());
}
