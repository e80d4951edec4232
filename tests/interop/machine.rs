//! Both compilers' objects, linked and run.

use crate::interop::case::{Case, IDLE, LANES, STRIDE, spans};
use crate::interop::{ours, theirs};
use callconv::{Convention, TypeId, Types};
use kernc::isa::{Apertures, Feature};
use kernc::sim::{self, CodeObject, Device, Dispatch};
use kernc::{CodeObjectVersion, OptLevel, Options, Setting, Subtarget};
use object::{Object, ObjectSymbol};
use std::path::{Path, PathBuf};
use support::Tool;

/// Both compilers and what they are told.
#[derive(Clone)]
pub struct Config {
    pub clang: &'static str,
    /// With modes, and for a version of code objects.
    pub target: Subtarget,
    pub ours: OptLevel,
    /// Clang's level.
    pub theirs: &'static str,
}

impl std::fmt::Display for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Config { clang, target, ours, theirs } = self;
        let (name, lanes, version) = (target.name, target.wave_size, target.code_object.number());
        write!(f, "{name}-{lanes}-{clang}{theirs}-V{version}-ours-O{}", ours.number())
    }
}

impl Config {
    /// `lanes` of a wavefront. Without replay: clang 19 has clauses in code for either that replay would not survive.
    pub fn new(clang: &'static str, version: u8, cpu: &str, lanes: u32) -> Config {
        let version = CodeObjectVersion::from_number(version).unwrap();
        let target = Subtarget::by_name(cpu).and_then(|target| target.with_wave_size(lanes)).unwrap();
        let mut target = target.with_version(version);
        if target.has(Feature::XNACK) {
            target.xnack = Setting::Off;
        }
        Config { clang, target, ours: OptLevel::O2, theirs: "-O2" }
    }

    /// Whether clang's functions cannot make flat addresses of their variables: from V5 on they want to read the aperture in the kernel's
    /// arguments, and take 0 for the address of those.
    pub fn lacks_aperture(&self) -> bool {
        self.target.addressing.apertures == Apertures::Queue
            && self.target.code_object >= CodeObjectVersion::V5
    }

    /// The convention of that clang.
    pub fn convention(&self) -> Convention {
        if self.clang == "clang-14" { Convention::Llvm14 } else { Convention::Today }
    }
}

/// What clang makes of a source.
pub fn clang(config: &Config, source: &Path, text: &str) -> Vec<u8> {
    std::fs::write(source, text).unwrap();
    let object = source.with_added_extension("o");
    let mut command = Tool::new(config.clang);
    command.args(["-target", "amdgcn-amd-amdhsa", "-nogpulib", config.theirs, "-w", "-c"]);
    command.arg(format!("-mcode-object-version={}", config.target.code_object.number()));
    let mut cpu = format!("-mcpu={}", config.target.name);
    for (feature, setting) in [("sramecc", config.target.sramecc), ("xnack", config.target.xnack)] {
        match setting {
            Setting::On => cpu += &format!(":{feature}+"),
            Setting::Off => cpu += &format!(":{feature}-"),
            Setting::Any | Setting::Unsupported => {}
        }
    }
    command.arg(cpu);
    if config.target.has(Feature::WAVE32) && config.target.wave_size == 64 {
        command.arg("-mwavefrontsize64");
    }
    let output = command.arg(source).arg("-o").arg(&object).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(&object).unwrap()
}

/// What our compiler makes of one.
pub fn compiled(config: &Config, text: &str) -> Vec<u8> {
    let options =
        Options { opt_level: config.ours, call_abi: config.convention(), verify: true, ..Options::default() };
    let object = kernc::Compiler::new(config.target)
        .compile(text, &options)
        .unwrap_or_else(|error| panic!("{config}: {}", error.render(false)));
    object.relocatable().unwrap_or_else(|error| panic!("{config}: {}", error.render(false)))
}

/// Both sides of some cases, each an object.
pub struct Objects {
    pub ours: Vec<u8>,
    pub theirs: Vec<u8>,
    /// Clang's kernels.
    pub kernels: Vec<u8>,
    stem: PathBuf,
}

impl Objects {
    /// Removes the files, which are for who looks into a mistake.
    fn remove(&self) {
        for end in ["k", "k.o", "c", "c.o", "cl", "cl.o", "co", "lld"] {
            // Not all of them are there.
            let _ = std::fs::remove_file(format!("{}.{end}", self.stem.display()));
        }
    }
}

pub fn objects(cases: &[Case], config: &Config) -> Objects {
    let stem = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
        "interop-{config}-{}-{}",
        cases[0].seed,
        cases.len()
    ));
    let at = |end: &str| PathBuf::from(format!("{}.{end}", stem.display()));
    let text = ours::source(cases);
    std::fs::write(at("k"), &text).unwrap();
    let ours = compiled(config, &text);
    std::fs::write(at("k.o"), &ours).unwrap();
    let theirs = clang(config, &at("c"), &theirs::source(cases, &config.target));
    let kernels = clang(config, &at("cl"), &theirs::kernels(cases.len()));
    Objects { ours, theirs, kernels, stem }
}

/// One file of objects, by our linker.
pub fn link(files: &[(&str, &[u8])]) -> Result<Vec<u8>, String> {
    let inputs: Vec<_> =
        files.iter().map(|&(name, data)| link::Input { name, data, is_lazy: false }).collect();
    link::link(&inputs, &link::Options::default()).map_err(|faults| faults[0].to_string())
}

/// One file of objects, by `ld.lld`. The metadata of the first object's kernels are those that a loader reads.
fn lld(objects: &Objects, ours_first: bool) -> Vec<u8> {
    let at = |end: &str| format!("{}.{end}", objects.stem.display());
    let mut files = vec![at("k.o"), at("c.o"), at("cl.o")];
    if !ours_first {
        files.reverse();
    }
    let out = at("lld");
    let output = Tool::new("ld.lld-19").args(["-shared", "-o", &out]).args(files).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(out).unwrap()
}

/// Strict mode's reports of clang's own code that are not about calls: padding, which is what happened to be in a register, is stored
/// with the rest of a value (what is no padding is compared); and halves of a register are loaded one behind the other without a wait between
/// (gfx1010).
fn is_known(report: &sim::Report, machine: &Machine) -> bool {
    let is_known = match report.rule.as_str() {
        "uninitialised-store" => true,
        "clobbered-by-call" => report.at.text.contains("_store_"),
        "read-in-flight" => report.at.text.contains("_d16"),
        _ => false,
    };
    is_known && !machine.is_ours(report.at.offset)
}

/// A file that is loaded, and the buffers of a run: what goes in and what comes out, of kernel and function.
struct Machine {
    device: Device,
    module: sim::ModuleId,
    buffers: [sim::DevicePtr; 4],
    /// From and to, of functions of ours.
    ours: Vec<(u64, u64)>,
    /// What a runtime adds where calls go to nobody knows where.
    stack: u32,
}

impl Machine {
    fn new(file: &[u8], config: &Config) -> Machine {
        let object = CodeObject::load(file).unwrap_or_else(|error| panic!("{error}"));
        let mut device = Device::with_threads(1);
        device.set_mode(sim::Mode::Strict { keep_going: true });
        device.set_convention(config.convention());
        let module = device.load(&object).unwrap_or_else(|fault| panic!("{fault}"));
        let bytes = (STRIDE * 8) as u64;
        let buffers = [(); 4].map(|()| {
            let at = device.alloc(2 * bytes).unwrap();
            at + (at.next_multiple_of(bytes) - at)
        });
        let (cio, _) = device.symbol(module, "cio").expect("cio");
        let both = [buffers[2], buffers[3]];
        device.write(cio, &both.iter().flat_map(|at| at.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
        let elf = object::File::parse(file).unwrap();
        let is_ours = |name: &str| name.starts_with(['A', 'P', 'D', 'g', 'k']);
        let ours = elf.symbols().filter(|symbol| symbol.kind() == object::SymbolKind::Text);
        let ours = ours.filter(|symbol| symbol.name().is_ok_and(is_ours));
        let ours = ours.map(|symbol| (symbol.address(), symbol.address() + symbol.size())).collect();
        // From V5 on clang allots none for calls through addresses, and says `.uses_dynamic_stack`.
        let stack = if config.target.code_object >= CodeObjectVersion::V5 { 16384 } else { 0 };
        Machine { device, module, buffers, ours, stack }
    }

    fn is_ours(&self, offset: u64) -> bool {
        self.ours.iter().any(|&(from, to)| (from..to).contains(&offset))
    }

    /// Runs a kernel: what it has as results, and what the function has stored.
    fn run(
        &mut self,
        kernel: &str,
        which: u32,
        args: &[Vec<u8>],
        results: &[Vec<u8>],
    ) -> Result<[Vec<Vec<u8>>; 2], String> {
        let [input, output, stored, returned] = self.buffers;
        for buffer in self.buffers {
            self.device.fill(buffer, 0xcc, (STRIDE * LANES) as u64).unwrap();
        }
        for (buffer, lanes) in [(input, args), (returned, results)] {
            for (lane, bytes) in lanes.iter().enumerate() {
                self.device.write(buffer + (lane * STRIDE) as u64, bytes).unwrap();
            }
        }
        let mut kernarg: Vec<u8> = [input, output].iter().flat_map(|at| at.to_le_bytes()).collect();
        kernarg.extend(which.to_le_bytes());
        let size = [LANES as u32, 1, 1];
        let limits = sim::Limits { stack: self.stack, ..sim::Limits::default() };
        let dispatch = Dispatch { kernel, grid: size, group: size, kernarg, limits, ..Dispatch::default() };
        self.device.run(self.module, &dispatch).map_err(|fault| fault.to_string())?;
        if let Some(report) = self.device.reports().iter().find(|report| !is_known(report, self)) {
            return Err(report.to_string());
        }
        let read = |buffer| {
            let lane = |lane: usize| {
                let mut bytes = vec![0; STRIDE];
                self.device.read(buffer + (lane * STRIDE) as u64, &mut bytes).unwrap();
                bytes
            };
            (0..LANES).map(lane).collect::<Vec<_>>()
        };
        Ok([read(output), read(stored)])
    }
}

/// A way that a kernel calls a function.
struct Role {
    kernel: &'static str,
    text: &'static str,
    /// Whether the kernel is ours.
    ours: bool,
    how: How,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Name,
    Uniform,
    Divergent,
}

const ROLES: [Role; 6] = [
    Role { kernel: "A", text: "ours calls clang's", ours: true, how: How::Name },
    Role { kernel: "P", text: "ours calls clang's by one address", ours: true, how: How::Uniform },
    Role { kernel: "D", text: "ours calls clang's by several addresses", ours: true, how: How::Divergent },
    Role { kernel: "B", text: "clang's calls ours", ours: false, how: How::Name },
    Role { kernel: "Q", text: "clang's calls ours by one address", ours: false, how: How::Uniform },
    Role { kernel: "E", text: "clang's calls ours by several addresses", ours: false, how: How::Divergent },
];

/// What has been run.
#[derive(Default)]
pub struct Outcome {
    pub runs: usize,
    /// Of those, of files that `ld.lld` linked.
    pub by_lld: usize,
    pub wrong: Vec<String>,
}

impl Outcome {
    pub fn add(&mut self, other: Outcome) {
        self.runs += other.runs;
        self.by_lld += other.by_lld;
        self.wrong.extend(other.wrong);
    }
}

/// Runs all roles of some cases, and if that is asked for what `ld.lld` makes of them, too.
pub fn run(cases: &[Case], config: &Config, with_lld: bool) -> Outcome {
    let objects = objects(cases, config);
    let files: [(&str, &[u8]); 3] =
        [("ours", &objects.ours), ("theirs", &objects.theirs), ("kernels", &objects.kernels)];
    let linked = link(&files).unwrap_or_else(|fault| panic!("{config}: {fault}"));
    std::fs::write(format!("{}.co", objects.stem.display()), &linked).unwrap();
    let mut outcome = roles(cases, config, &linked, &|_| true);
    if with_lld {
        for ours_first in [true, false] {
            let file = lld(&objects, ours_first);
            // `ld.lld` raises nothing in descriptors: kernels that call functions with more registers do not run.
            let allotted = allotted(&linked);
            let same: Vec<_> =
                self::allotted(&file).into_iter().filter(|kernel| allotted.contains(kernel)).collect();
            let is_same = |name: &str| same.iter().any(|(kernel, _)| kernel == name);
            let of_lld = roles(cases, config, &file, &|name| {
                name.starts_with(['A', 'P', 'D']) == ours_first && is_same(name)
            });
            outcome.by_lld += of_lld.runs;
            outcome.add(of_lld);
        }
    }
    if outcome.wrong.is_empty() {
        objects.remove();
    }
    outcome
}

/// Names of kernels with their descriptors' fields of registers.
fn allotted(file: &[u8]) -> Vec<(String, Vec<u64>)> {
    let object = codeobj::CodeObject::parse(file).unwrap();
    let fields =
        ["granulated_workitem_vgpr_count", "granulated_wavefront_sgpr_count", "private_segment_fixed_size"];
    let kernel = |descriptor: codeobj::Descriptor<'_>| {
        let values = fields.iter().map(|field| descriptor.get(field)).collect();
        (descriptor.kernel.to_string(), values)
    };
    object.descriptors().map(kernel).collect()
}

fn roles(cases: &[Case], config: &Config, file: &[u8], wanted: &dyn Fn(&str) -> bool) -> Outcome {
    let mut machine = Machine::new(file, config);
    let mut outcome = Outcome::default();
    for (i, case) in cases.iter().enumerate() {
        for role in &ROLES {
            let kernel = format!("{}{i}", role.kernel);
            let is_wrong = match role.ours {
                true => config.theirs == "-O0" && case.wrong_in_llvm,
                false => config.lacks_aperture() && case.result_is_flat,
            };
            if !wanted(&kernel) || is_wrong {
                continue;
            }
            outcome.runs += 1;
            if let Err(text) = check(&mut machine, &kernel, role, case) {
                outcome.wrong.push(format!("{config}, seed {}, {kernel}: {}: {text}", case.seed, role.text));
            }
        }
    }
    outcome
}

/// Bytes of a lane's buffer: arguments where [`Case::offsets`] has them.
fn image(case: &Case, lane: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for (at, value) in case.offsets().into_iter().zip(&case.args[lane]) {
        out.resize(at, 0);
        out.extend(value);
    }
    out
}

fn check(machine: &mut Machine, kernel: &str, role: &Role, case: &Case) -> Result<(), String> {
    let args: Vec<_> = (0..LANES).map(|lane| image(case, lane)).collect();
    let both = |[one, other]: &[Vec<u8>; 2]| {
        let mut bytes = one.clone();
        bytes.resize(crate::interop::case::CHOICE, 0);
        bytes.extend(other);
        bytes
    };
    let results: Vec<_> = case.results.iter().map(both).collect();
    let which = (case.seed & 1) as u32;
    let [out, stored] = machine.run(kernel, which, &args, &results)?;
    for lane in 0..LANES {
        if role.how == How::Divergent && lane == IDLE {
            if out[lane].iter().chain(&stored[lane]).any(|byte| *byte != 0xcc) {
                return Err(format!("lane {lane} has called something"));
            }
            continue;
        }
        let second = match role.how {
            How::Name => 0,
            How::Uniform => which,
            How::Divergent => lane as u32 & 1,
        };
        let own = if role.ours { 1 } else { 3 } + second;
        for (k, at) in case.offsets().into_iter().enumerate() {
            let (ty, value) = (case.params[k], &case.args[lane][k]);
            if let Some(text) = differs(&case.types, ty, &stored[lane][at..], value) {
                return Err(format!("argument {k} of lane {lane}: {text}"));
            }
        }
        let fold = case.fold(lane, own);
        let found = &stored[lane][crate::interop::case::FOLD..crate::interop::case::FOLD + 4];
        if found != fold.to_le_bytes() {
            return Err(format!("fold of lane {lane}: {found:02x?}, not {:02x?}", fold.to_le_bytes()));
        }
        if let Some(ty) = case.result
            && let Some(text) = differs(&case.types, ty, &out[lane], case.result(lane, fold))
        {
            return Err(format!("result of lane {lane}: {text}"));
        }
    }
    Ok(())
}

/// What is wrong with a value, padding aside.
fn differs(types: &Types, ty: TypeId, found: &[u8], value: &[u8]) -> Option<String> {
    let same = |(from, to): (usize, usize)| found[from..to] == value[from..to];
    let right = spans(types, ty).into_iter().all(same);
    (!right).then(|| format!("{:02x?}, not {value:02x?}", &found[..value.len()]))
}
