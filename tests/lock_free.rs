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

mod common;

use common::{have, root, scratch, tool};
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

    fn run(&self, object: &[u8], mode: Mode) -> Result<(), Wrong> {
        let object = CodeObject::load(object).expect("a sound object");
        let mut device = Device::with_threads(1);
        device.set_mode(mode);
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

#[test]
fn right_programs_are_right() {
    let mut failures = Vec::new();
    for program in programs() {
        for processor in ["gfx906", "gfx1030"] {
            let object = program.compile(0, processor);
            for mode in [Mode::Fast, Mode::STRICT, Mode::Weak { seed: 1 }] {
                if let Err(wrong) = program.run(&object, mode) {
                    failures.push(format!("{} {processor} {mode:?}: {wrong}", program.name()));
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
            let text = |object: &[u8]| common::section(object, ".text");
            assert!(text(&right) != text(&broken), "{} {twin}", program.name());
        }
    }
}

#[test]
fn broken_twins_are_reported() {
    let mut missed = Vec::new();
    let programs = programs();
    for program in &programs {
        for twin in 1..=TWINS {
            let object = program.compile(twin, "gfx906");
            let said = match program.run(&object, Mode::STRICT) {
                Err(Wrong::Fault(Fault::Found(report))) => report.rule,
                other => {
                    let why = other.err().map_or("nothing".to_owned(), |wrong| wrong.to_string());
                    missed.push(format!("{} {twin}", program.name()));
                    format!("MISSED: {}", why.lines().next().unwrap_or_default())
                }
            };
            println!("{} {twin}: {}: {said}", program.name(), program.fault_of(twin));
        }
    }
    let most = TWINS * programs.len() / 3;
    assert!(missed.len() <= most, "{} of {}: {missed:?}", missed.len(), TWINS * programs.len());
}
