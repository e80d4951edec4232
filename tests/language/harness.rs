//! Runs a kernel in the interpreter and in the emulator.

#![allow(dead_code)] // the tests of the library and of the command line each use a part

use ir::interp::{Dispatch, Interp, Memory};
use kernc::sim::{self, ArgValue};
use kernc::{Compiler, OptLevel, Options, Target};
use std::sync::Arc;

/// A kernel and how to launch it.
pub struct Launch<'a> {
    pub source: &'a str,
    pub kernel: &'a str,
    pub grid: [u32; 3],
    pub group: [u32; 3],
    /// Values of `param` items.
    pub params: &'a [(String, String)],
    /// `NAME = VALUE` as `kernc run --arg` takes them.
    pub args: &'a [(String, String)],
    /// Bytes of `shared dyn` memory.
    pub dynamic: u32,
    /// Only for processors with FLAT instructions.
    pub flat: bool,
}

/// What one way of running a kernel left in its buffers.
pub struct Outcome {
    /// Which way it was.
    pub how: String,
    /// By the name of the argument.
    pub buffers: Vec<(String, sim::Buffer)>,
    /// By `printf`.
    pub printed: String,
}

/// Wave instructions and interpreter steps that no test needs.
const STEPS: u64 = 50_000_000;

/// What most is tuned for, what has the fewest instructions, and one between them.
const PROCESSORS: [&str; 3] = ["gfx906", "gfx600", "gfx803"];

/// Each at two levels.
fn cells() -> impl Iterator<Item = (&'static str, OptLevel)> {
    PROCESSORS.into_iter().flat_map(|name| [OptLevel::O0, OptLevel::O2].map(|level| (name, level)))
}

/// Runs a kernel in all ways.
pub fn run(launch: &Launch<'_>) -> Result<Vec<Outcome>, String> {
    let files = files();
    let options = frontend::Options {
        params: launch.params,
        fp_contract: true,
        files: Some(&*files),
        ..Default::default()
    };
    let module = frontend::compile("test.k", launch.source, &options).map_err(|list| list.render(false))?;
    let mut outcomes = Vec::new();
    for (number, (name, level)) in cells().enumerate() {
        if launch.flat && !kernc::Target::by_name(name).is_some_and(|target| target.has(isa::Feature::FLAT)) {
            continue;
        }
        let (object, optimised) = compile(launch, name, level)?;
        let loaded = sim::CodeObject::load(object.bytes()).map_err(|error| error.to_string())?;
        let info = loaded.kernel(launch.kernel).ok_or("no such kernel")?;
        let values = sim::args::bind(info, launch.args, &[], sim::Conversion::Refuse)
            .map_err(|why| why.to_string())?;
        if number == 0 {
            outcomes.push(interpret(launch, "interpreter", &module, info, &values)?);
        }
        let how = format!("interpreter after {level:?} for {name}");
        outcomes.push(interpret(launch, &how, &optimised, info, &values)?);
        let (buffers, printed) = emulate(launch, &loaded, info, &values)
            .map_err(|why| format!("{name} {level:?}: {why}\n{}", object.machine_code()))?;
        outcomes.push(Outcome { how: format!("{level:?} code for {name}"), buffers, printed });
    }
    Ok(outcomes)
}

/// What `use` finds: the files of `tests/data/run/used`.
pub fn files() -> Arc<dyn kernc::Files> {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/run");
    Arc::new(kernc::Directories { list: vec![directory] })
}

/// The code object, and the IR it was made of.
fn compile(
    launch: &Launch<'_>,
    processor: &str,
    opt_level: OptLevel,
) -> Result<(kernc::CodeObject, ir::Module), String> {
    let files = Some(files());
    let params = launch.params.to_vec();
    let options = Options { opt_level, verify: true, params, files, ..Options::default() };
    let target = Target::by_name(processor).ok_or("no such processor")?;
    let mut optimised = kernc::KeepIr::default();
    let compiled = Compiler::new(target).compile_observed(launch.source, &options, &mut optimised);
    Ok((compiled.map_err(|error| error.to_string())?, optimised.0))
}

/// Runs an object in the emulator; the buffers by the names of their arguments.
pub fn emulate_in(
    mode: sim::Mode,
    launch: &Launch<'_>,
    bytes: &[u8],
) -> Result<Vec<(String, sim::Buffer)>, String> {
    let mut device = sim::Device::with_threads(1);
    device.set_mode(mode);
    emulate_with(&mut device, launch, bytes)
}

/// The same on a device as it is set.
pub fn emulate_with(
    device: &mut sim::Device,
    launch: &Launch<'_>,
    bytes: &[u8],
) -> Result<Vec<(String, sim::Buffer)>, String> {
    let object = sim::CodeObject::load(bytes).map_err(|error| error.to_string())?;
    let info = object.kernel(launch.kernel).ok_or("no such kernel")?;
    let values =
        sim::args::bind(info, launch.args, &[], sim::Conversion::Refuse).map_err(|why| why.to_string())?;
    emulate_on(device, launch, &object, info, &values)
}

fn emulate(
    launch: &Launch<'_>,
    object: &sim::CodeObject,
    info: &sim::KernelInfo,
    values: &[ArgValue],
) -> Result<(Vec<(String, sim::Buffer)>, String), String> {
    let mut device = sim::Device::with_threads(1);
    let buffers = emulate_on(&mut device, launch, object, info, values)?;
    Ok((buffers, device.take_printed()))
}

fn emulate_on(
    device: &mut sim::Device,
    launch: &Launch<'_>,
    object: &sim::CodeObject,
    info: &sim::KernelInfo,
    values: &[ArgValue],
) -> Result<Vec<(String, sim::Buffer)>, String> {
    let text = |fault: sim::Fault| fault.to_string();
    let module = device.load(object).map_err(text)?;
    let placed = sim::Placed::new(device, info, values).map_err(text)?;
    let dispatch = sim::Dispatch {
        kernel: launch.kernel,
        grid: launch.grid,
        group: launch.group,
        kernarg: placed.kernarg.clone(),
        dynamic_lds: placed.dynamic_lds + launch.dynamic,
        limits: sim::Limits { instructions: STEPS, ..sim::Limits::default() },
        ..sim::Dispatch::default()
    };
    device.run(module, &dispatch).map_err(text)?;
    let names = info.explicit_args().map(|arg| arg.name.clone().unwrap_or_default());
    let buffers = names.enumerate().filter_map(|(at, name)| {
        let buffer = placed.read(device, at).transpose()?;
        Some(buffer.map(|buffer| (name, buffer)))
    });
    buffers.collect::<Result<_, _>>().map_err(text)
}

fn interpret(
    launch: &Launch<'_>,
    how: &str,
    module: &ir::Module,
    info: &sim::KernelInfo,
    values: &[ArgValue],
) -> Result<Outcome, String> {
    let mut memory = Memory::new();
    let mut kernarg = Vec::new();
    let mut placed = Vec::new();
    let mut dynamic_shared = launch.dynamic;
    for (arg, value) in info.explicit_args().zip(values) {
        let bytes = match value {
            ArgValue::Value(bytes) => bytes.clone(),
            ArgValue::Buffer(buffer) => {
                let address = memory.alloc_bytes(buffer.bytes.clone());
                placed.push((arg.name.clone().unwrap_or_default(), address, buffer.clone()));
                address.to_le_bytes().to_vec()
            }
            ArgValue::Address(_) => return Err("there is no device here".to_owned()),
            // The interpreter gives what a `shared` pointer points to no other room than the dynamic memory.
            ArgValue::Lds(size) => {
                let at = dynamic_shared;
                dynamic_shared += size;
                at.to_le_bytes().to_vec()
            }
        };
        let start = arg.offset as usize;
        kernarg.resize(kernarg.len().max(start + arg.size as usize), 0);
        kernarg[start..start + bytes.len()].copy_from_slice(&bytes);
    }
    let mut interp = Interp::new(module, &mut memory);
    interp.max_steps = STEPS;
    let dispatch =
        Dispatch { kernel: launch.kernel, grid: launch.grid, group: launch.group, kernarg, dynamic_shared };
    interp.run(&dispatch, &mut memory).map_err(|error| format!("{how}: {error}\n{module}"))?;
    let buffers = placed.into_iter().map(|(name, address, before)| {
        let bytes = memory.bytes(address, before.bytes.len()).unwrap_or_default().to_vec();
        (name, sim::Buffer { bytes, ..before })
    });
    let buffers = buffers.collect();
    let printed = sim::printf_text(&interp.take_printed(&mut memory), &formats(module));
    Ok(Outcome { how: how.to_owned(), buffers, printed })
}

/// The formats of a module, as the metadata has them.
pub fn formats(module: &ir::Module) -> Vec<String> {
    let numbered = (1..).zip(&module.formats);
    numbered.map(|(number, format)| emit::printf::encode(number, &format.sizes, &format.text)).collect()
}

/// Runs kernel `t` of `source` on `lanes` work-items in groups of 64, with inputs and one output of 32-bit words
/// (or 64-bit ones: `wide`), and hands the output of every way to `check`.
pub fn words(source: &str, lanes: u32, inputs: &[(&str, &[u32])], check: &mut dyn FnMut(&str, &[u32])) {
    let files: Vec<_> = inputs.iter().map(|(name, data)| (*name, to_bytes(data))).collect();
    let outcomes = run_bytes(source, lanes, &files, 4 * lanes as usize);
    for (how, bytes) in outcomes {
        let found: Vec<u32> =
            bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        check(&how, &found);
    }
}

/// Little-endian bytes.
pub fn to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Little-endian bytes.
pub fn to_bytes64(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Runs kernel `t` whose arguments are the input buffers and `out`, of `size` bytes.
pub fn run_bytes(
    source: &str,
    lanes: u32,
    inputs: &[(&str, Vec<u8>)],
    size: usize,
) -> Vec<(String, Vec<u8>)> {
    let module = frontend::compile("test.k", source, &frontend::Options::default())
        .unwrap_or_else(|list| panic!("{}", list.render(false)));
    let launch = Launch {
        source,
        kernel: "t",
        grid: [lanes, 1, 1],
        group: [64, 1, 1],
        params: &[],
        args: &[],
        dynamic: 0,
        flat: false,
    };
    let mut outcomes = Vec::new();
    for (number, (name, level)) in cells().enumerate() {
        let (object, optimised) =
            compile(&launch, name, level).unwrap_or_else(|why| panic!("{name} {level:?}: {why}\n{source}"));
        let loaded = sim::CodeObject::load(object.bytes()).unwrap();
        let info = loaded.kernel("t").unwrap();
        let values: Vec<ArgValue> = info
            .explicit_args()
            .map(|arg| {
                let name = arg.name.as_deref().unwrap();
                let bytes = match inputs.iter().find(|input| input.0 == name) {
                    Some(input) => input.1.clone(),
                    None => vec![0; size],
                };
                ArgValue::Buffer(sim::Buffer {
                    element: sim::Scalar::U8,
                    shape: vec![bytes.len() as u64],
                    bytes,
                })
            })
            .collect();
        let mut add = |how: String, buffers: Vec<(String, sim::Buffer)>| {
            let (_, out) = buffers.into_iter().find(|(name, _)| name == "out").unwrap();
            outcomes.push((how, out.bytes));
        };
        if number == 0 {
            add(
                "interpreter".into(),
                interpret(&launch, "interpreter", &module, info, &values).unwrap().buffers,
            );
        }
        let how = format!("interpreter after {level:?} for {name}");
        add(how.clone(), interpret(&launch, &how, &optimised, info, &values).unwrap().buffers);
        let (buffers, _) = emulate(&launch, &loaded, info, &values)
            .unwrap_or_else(|why| panic!("{name} {level:?}: {why}\n{source}\n{}", object.machine_code()));
        add(format!("{level:?} code for {name}"), buffers);
    }
    outcomes
}
