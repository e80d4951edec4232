//! Right lock-free programs and their broken twins in strict mode.
//!
//! Each file of `tests/lock_free` is a right program, in the kernel language or in OpenCL, with two broken twins. What a
//! twin has in place of a line stands in a comment at the end of that line:
//!
//! ```text
//! // twin 1: the lock is let go without a release
//! //@ grid 512                     work-items; groups have 64
//! //@ buffer lock 1                an argument: dwords, which are zero at first
//! //@ expect data = 8 36           what the right program leaves in a buffer
//! store(lock, 0, release); // broken 1: store(lock, 0, relaxed);
//! ```

use crate::common::{have, root, scratch, tool};
use kernc::sim::{CodeObject, Device, Dispatch, Fault, Limits, Mode};
use kernc::{Compiler, Options, Target};
use std::path::PathBuf;

/// Twins of each program.
const TWINS: usize = 2;
/// Wave instructions that no run needs.
const STEPS: u64 = 2_000_000;

/// A file of `tests/lock_free`.
struct Program {
    path: PathBuf,
    text: String,
    grid: u32,
    /// Names and dwords.
    buffers: Vec<(String, usize)>,
    expected: Vec<(String, Vec<u32>)>,
}

/// What is wrong with a run.
enum Wrong {
    Fault(Fault),
    Value(String),
}

impl Program {
    fn read(path: PathBuf) -> Program {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut program = Program { path, text, grid: 0, buffers: Vec::new(), expected: Vec::new() };
        let header = program.text.lines().filter_map(|line| line.strip_prefix("//@ "));
        let wrong = |line: &str| -> ! { panic!("{}: {line}", program.path.display()) };
        let number = |word: &str| word.parse::<u32>().unwrap_or_else(|_| wrong(word));
        for line in header {
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                ["grid", items] => program.grid = number(items),
                ["buffer", name, dwords] => program.buffers.push((name.into(), number(dwords) as usize)),
                ["expect", name, "=", ref values @ ..] => {
                    let values = values.iter().map(|value| number(value)).collect();
                    program.expected.push((name.into(), values));
                }
                _ => wrong(line),
            }
        }
        program
    }

    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn is_opencl(&self) -> bool {
        self.path.extension().is_some_and(|extension| extension == "cl")
    }

    /// What a broken twin says is wrong with it.
    fn fault_of(&self, twin: usize) -> &str {
        let mark = format!("// twin {twin}: ");
        self.text.lines().find_map(|line| line.strip_prefix(&mark)).expect("each twin is explained")
    }

    /// The text of a twin; of the right program for 0.
    fn twin(&self, number: usize) -> String {
        let mark = format!("// broken {number}: ");
        let line = |line: &str| match line.split_once(&mark) {
            Some((_, other)) => format!("{}\n", other.split("// broken").next().unwrap_or_default()),
            None => format!("{line}\n"),
        };
        self.text.lines().map(line).collect()
    }

    fn compile(&self, twin: usize, processor: &str) -> Vec<u8> {
        let text = self.twin(twin);
        if !self.is_opencl() {
            let target = Target::by_name(processor).expect("a known processor");
            let options = Options { verify: true, ..Options::default() };
            let compiled = Compiler::new(target).compile(&text, &options);
            let object = compiled.unwrap_or_else(|error| panic!("{}: {}", self.name(), error.render(false)));
            return object.bytes().to_vec();
        }
        let file = scratch("lock_free").join(format!("{}.{twin}.{processor}.cl", self.name()));
        let object = file.with_extension("co");
        std::fs::write(&file, text).unwrap();
        let (file, object, mcpu) =
            (file.to_str().unwrap(), object.to_str().unwrap(), format!("-mcpu={processor}"));
        let options = ["-target", "amdgcn-amd-amdhsa", "-nogpulib", "-O2", "-cl-std=CL2.0", "-w", "-g"];
        tool("clang-19", &[&["-x", "cl", file, "-o", object, &mcpu], &options[..]].concat());
        std::fs::read(object).unwrap()
    }

    /// Runs an object of the program, in strict mode with the schedule of a seed.
    fn run(&self, object: &[u8], mode: Mode, seed: u64) -> Result<(), Wrong> {
        let object = CodeObject::load(object).expect("a sound object");
        let mut device = Device::with_threads(1);
        device.set_mode(mode);
        device.set_schedule(seed);
        let module = device.load(&object).map_err(Wrong::Fault)?;
        let place = |(_, dwords): &(String, usize)| device.alloc(4 * *dwords as u64);
        let buffers: Vec<u64> =
            self.buffers.iter().map(place).collect::<Result<_, _>>().map_err(Wrong::Fault)?;
        let dispatch = Dispatch {
            kernel: "t",
            grid: [self.grid, 1, 1],
            group: [64, 1, 1],
            kernarg: buffers.iter().flat_map(|address| address.to_le_bytes()).collect(),
            limits: Limits { instructions: STEPS, ..Limits::default() },
            ..Dispatch::default()
        };
        device.run(module, &dispatch).map_err(Wrong::Fault)?;
        for (name, wanted) in &self.expected {
            let at = self.buffers.iter().position(|(buffer, _)| buffer == name).expect("a buffer");
            let mut bytes = vec![0; 4 * wanted.len()];
            device.read(buffers[at], &mut bytes).map_err(Wrong::Fault)?;
            let dwords = bytes.chunks(4).map(|dword| u32::from_le_bytes(dword.try_into().expect("4 bytes")));
            let found: Vec<u32> = dwords.collect();
            if found != *wanted {
                return Err(Wrong::Value(format!("{name} is {found:?}, not {wanted:?}")));
            }
        }
        Ok(())
    }
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Wrong::Fault(fault) => write!(f, "{fault}"),
            Wrong::Value(text) => f.write_str(text),
        }
    }
}

/// All programs; without those in OpenCL where clang is missing.
fn programs() -> Vec<Program> {
    let files = std::fs::read_dir(root().join("tests/lock_free")).unwrap();
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    let mut programs: Vec<Program> = paths.into_iter().map(Program::read).collect();
    if !have(&["clang-19"], "lock-free programs in OpenCL") {
        programs.retain(|program| !program.is_opencl());
    }
    programs
}

/// Schedules of each right program; `KERNC_SCHEDULES=200` for more.
fn schedules() -> u64 {
    std::env::var("KERNC_SCHEDULES").ok().map_or(5, |count| count.parse().expect("a number"))
}

#[test]
fn right_programs_are_right() {
    let mut failures = Vec::new();
    for program in programs() {
        for processor in ["gfx906", "gfx1030"] {
            let object = program.compile(0, processor);
            let strict = (0..schedules()).map(|seed| (Mode::STRICT, seed));
            for (mode, seed) in strict.chain([(Mode::Fast, 0), (Mode::Weak { seed: 1 }, 0)]) {
                if let Err(wrong) = program.run(&object, mode, seed) {
                    failures.push(format!("{} {processor} {mode:?}, seed {seed}: {wrong}", program.name()));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A twin is of no use if the compiler makes the right program's code of it.
#[test]
fn twins_have_other_code() {
    for program in programs() {
        let right = program.compile(0, "gfx906");
        for twin in 1..=TWINS {
            let broken = program.compile(twin, "gfx906");
            let text = |object: &[u8]| crate::common::section(object, ".text");
            assert!(text(&right) != text(&broken), "{} {twin}", program.name());
        }
    }
}

/// What strict mode says of an object in some of the first 20 schedules.
fn report(program: &Program, object: &[u8]) -> Option<(u64, String)> {
    (0..20).find_map(|seed| match program.run(object, Mode::STRICT, seed) {
        Err(Wrong::Fault(Fault::Found(report))) => Some((seed, report.rule)),
        Err(Wrong::Fault(fault @ Fault::Stuck { deadlock: true, .. })) => Some((seed, fault.headline())),
        _ => None,
    })
}

#[test]
fn broken_twins_are_reported() {
    let mut missed = Vec::new();
    let programs = programs();
    for program in &programs {
        for twin in 1..=TWINS {
            let object = program.compile(twin, "gfx906");
            let found = report(program, &object);
            if found.is_none() {
                missed.push(format!("{} {twin}", program.name()));
            }
            println!("{} {twin}: {}: {found:?}", program.name(), program.fault_of(twin));
        }
    }
    assert!(missed.is_empty(), "{} of {}: {missed:?}", missed.len(), TWINS * programs.len());
}

/// A barrier of all groups, which the groups pass once.
const GRID_BARRIER: &str = "
#[workgroup_size(64)]
kernel t(arrived: *global u32, data: *global u32, out: *global u32, groups: u32) {
    if local_id(0) != 0 { return; }
    let me = group_id(0);
    data[me] = me + 1;
    atomic_add(&arrived[0], 1, acq_rel, agent);
    while atomic_load(&arrived[0], acquire, agent) != groups {}
    out[me] = data[(me + 1) % groups];
}";

/// A lock for which all groups wait in turn.
const LOCK: &str = "
#[workgroup_size(64)]
kernel t(lock: *global u32, data: *global u32, out: *global u32, groups: u32) {
    if local_id(0) != 0 { return; }
    let mine = atomic_add(&lock[0], 1, relaxed, agent);
    while atomic_load(&lock[1], acquire, agent) != mine {}
    data[0] += 1;
    out[mine] = data[0] + groups;
    atomic_store(&lock[1], mine + 1, release, agent);
}";

/// Runs a kernel of as many groups; the wave instructions, and the buffer `out`.
fn run_groups(source: &str, groups: u32, mode: Mode, seed: u64) -> (u64, Vec<u32>) {
    let target = Target::by_name("gfx906").expect("a known processor");
    let object = Compiler::new(target).compile(source, &Options::default()).expect("right");
    let object = CodeObject::load(object.bytes()).expect("a sound object");
    let mut device = Device::with_threads(1);
    device.set_mode(mode);
    device.set_schedule(seed);
    let module = device.load(&object).expect("loaded");
    let bytes = 4 * u64::from(groups);
    let buffers = [8, bytes, bytes].map(|bytes| device.alloc(bytes).expect("memory"));
    let mut kernarg: Vec<u8> = buffers.iter().flat_map(|address| address.to_le_bytes()).collect();
    kernarg.extend(groups.to_le_bytes());
    let dispatch = Dispatch {
        kernel: "t",
        grid: [64 * groups, 1, 1],
        group: [64, 1, 1],
        kernarg,
        ..Dispatch::default()
    };
    let stats = device.run(module, &dispatch).unwrap_or_else(|fault| panic!("{mode:?}: {fault}"));
    let mut bytes = vec![0; bytes as usize];
    device.read(buffers[2], &mut bytes).expect("there");
    let dwords = bytes.chunks(4).map(|dword| u32::from_le_bytes(dword.try_into().expect("4 bytes")));
    (stats.instructions, dwords.collect())
}

#[test]
fn barrier_of_1024_groups() {
    const GROUPS: u32 = 1024;
    for (mode, seed) in [(Mode::Fast, 0), (Mode::STRICT, 0), (Mode::STRICT, 1), (Mode::Weak { seed: 1 }, 0)] {
        let (one, _) = run_groups(GRID_BARRIER, 1, mode, seed);
        let (all, out) = run_groups(GRID_BARRIER, GROUPS, mode, seed);
        assert!((0..GROUPS).all(|at| out[at as usize] == (at + 1) % GROUPS + 1), "{mode:?}");
        println!(
            "{mode:?} {seed}: {one} instructions of one group, {all} of {GROUPS}: {:.1}",
            all as f64 / one as f64 / f64::from(GROUPS)
        );
        if seed == 0 && !matches!(mode, Mode::Weak { .. }) {
            assert!(all <= 20 * u64::from(GROUPS) * one, "{mode:?}: {all}");
        }
    }
}

#[test]
fn lock_of_256_groups() {
    const GROUPS: u32 = 256;
    for (mode, seed) in [(Mode::Fast, 0), (Mode::STRICT, 0), (Mode::STRICT, 1)] {
        let (all, out) = run_groups(LOCK, GROUPS, mode, seed);
        assert!((0..GROUPS).all(|at| out[at as usize] == GROUPS + at + 1), "{mode:?}");
        println!("{mode:?} {seed}: {all} instructions");
        // Each group looks once for each one before it.
        assert!(all <= 100 * u64::from(GROUPS) * u64::from(GROUPS), "{mode:?}: {all}");
    }
}
