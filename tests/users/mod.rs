//! Kernels as users of llama.cpp, Rodinia, Parboil, hashcat and rocPRIM would write them (`tests/data/users`), with what
//! the language has for them: results against references in Rust, in the emulator's strict mode, on a processor of each
//! generation.

mod hashes;
mod llm;
mod parboil;
mod primitives;
mod rodinia;
mod value;

use kernc::sim::{self, ArgValue};
use kernc::{Compiler, OptLevel, Options, Target};
use value::{Bytes, Check};

/// Where each kernel runs. At `-O0`, whose code is long and differs least, one processor does.
const CELLS: [(&str, OptLevel); 7] = [
    ("gfx600", OptLevel::O2),
    ("gfx803", OptLevel::O2),
    ("gfx906", OptLevel::O2),
    ("gfx906", OptLevel::O0),
    ("gfx90a", OptLevel::O2),
    ("gfx1010", OptLevel::O2),
    ("gfx1030", OptLevel::O2),
];

/// An argument, and for a buffer that is written what it has to hold then.
struct Arg {
    name: &'static str,
    value: ArgValue,
    check: Option<Check>,
}

/// A dispatch of the kernel of a file.
struct Run {
    file: &'static str,
    params: &'static [(&'static str, &'static str)],
    grid: [u32; 3],
    group: [u32; 3],
    args: Vec<Arg>,
}

fn buffer(bytes: Vec<u8>) -> ArgValue {
    ArgValue::Buffer(sim::Buffer { element: sim::Scalar::U8, shape: vec![bytes.len() as u64], bytes })
}

/// A value, or several that stand side by side.
fn value(name: &'static str, value: impl Bytes) -> Arg {
    Arg { name, value: ArgValue::Value(value.bytes()), check: None }
}

/// A buffer that is only read.
fn input(name: &'static str, values: impl Bytes) -> Arg {
    Arg { name, value: buffer(values.bytes()), check: None }
}

/// A buffer that is written, and read before if the kernel does so.
fn output(name: &'static str, before: impl Bytes, check: Check) -> Arg {
    Arg { name, value: buffer(before.bytes()), check: Some(check) }
}

fn source(file: &str) -> String {
    let path = format!("{}/tests/data/users/{file}.k", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{path}: {why}"))
}

fn compile(run: &Run, processor: &str, opt_level: OptLevel) -> Vec<u8> {
    let params = run.params.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let options = Options {
        file_name: format!("{}.k", run.file),
        opt_level,
        verify: true,
        params,
        ..Options::default()
    };
    let compiled = Compiler::new(Target::by_name(processor).unwrap()).compile(&source(run.file), &options);
    compiled.unwrap_or_else(|list| panic!("{}", list.render(false))).bytes().to_vec()
}

/// Runs it in one cell; what is wrong.
fn trouble(run: &Run, object: &[u8]) -> Result<(), String> {
    let object = sim::CodeObject::load(object).map_err(|why| why.to_string())?;
    let info = object.kernels().first().ok_or("no kernel")?;
    let by_name = |arg: &sim::ArgInfo| {
        let name = arg.name.as_deref().unwrap_or_default();
        run.args.iter().find(|given| given.name == name).ok_or_else(|| format!("no argument `{name}`"))
    };
    let given: Vec<&Arg> = info.explicit_args().map(by_name).collect::<Result<_, _>>()?;
    assert_eq!(given.len(), run.args.len(), "{}: as many arguments as parameters", run.file);
    let values: Vec<ArgValue> = given.iter().map(|arg| arg.value.clone()).collect();
    let mut device = sim::Device::with_threads(1);
    device.set_mode(sim::Mode::STRICT);
    let text = |fault: sim::Fault| fault.to_string();
    let module = device.load(&object).map_err(text)?;
    let placed = sim::Placed::new(&mut device, info, &values).map_err(text)?;
    let dispatch = sim::Dispatch {
        kernel: &info.name,
        grid: run.grid,
        group: run.group,
        kernarg: placed.kernarg.clone(),
        limits: sim::Limits { instructions: 20_000_000, ..sim::Limits::default() },
        ..sim::Dispatch::default()
    };
    device.run(module, &dispatch).map_err(text)?;
    for (at, arg) in given.iter().enumerate() {
        let Some(check) = &arg.check else { continue };
        let found = placed.read(&device, at).map_err(text)?.ok_or("no buffer")?;
        check(&found.bytes).map_err(|why| format!("{}: {why}", arg.name))?;
    }
    Ok(())
}

/// Runs it in all cells.
fn right(run: &Run) {
    for (processor, level) in CELLS {
        let object = compile(run, processor, level);
        if let Err(why) = trouble(run, &object) {
            panic!("{} for {processor} at {level:?}: {why}", run.file);
        }
    }
}

/// Each file of the folder is run by a test.
#[test]
fn all_files_are_run() {
    let tests = [
        include_str!("llm.rs"),
        include_str!("rodinia.rs"),
        include_str!("parboil.rs"),
        include_str!("hashes.rs"),
        include_str!("primitives.rs"),
    ];
    let folder = format!("{}/tests/data/users", env!("CARGO_MANIFEST_DIR"));
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let needle = format!("file: \"{name}\"");
        assert!(tests.iter().any(|text| text.contains(&needle)), "no test has `{needle}`");
        files += 1;
    }
    assert!(files >= 25, "only {files} files");
}

/// A wrong expectation is noticed.
#[test]
fn the_comparison_can_fail() {
    let run = Run {
        file: "q8_dequantize",
        params: &[],
        grid: [64, 1, 1],
        group: [64, 1, 1],
        args: vec![
            input("x", vec![0u8; 68]),
            output("y", vec![0u16; 64], value::exactly(vec![1u16; 64])),
            value("n", 64u32),
        ],
    };
    let why = trouble(&run, &compile(&run, "gfx906", OptLevel::O2)).unwrap_err();
    assert!(why.starts_with("y: element 0 is 0"), "{why}");
}
