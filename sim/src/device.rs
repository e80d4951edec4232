//! The device: memory, loaded modules, and dispatches over host threads.

use crate::fault::Fault;
use crate::functions::Functions;
use crate::group::has_atomic64;
use crate::hidden::{self, Provided};
use crate::idle::Log;
use crate::launch::{self, Dispatch, Launch, Segments};
use crate::memory::Memory;
use crate::metadata::ArgKind;
use crate::names::Names;
use crate::object::{CodeObject, KernelInfo, Symbol};
use crate::observe::{Observer, Profile};
use crate::op::Code;
use crate::packet::{self, QueueScratch};
use crate::printf;
use crate::schedule::{self, Scheduler};
use crate::scratch;
use crate::stats::RunStats;
use crate::strict::{Mode, Report};
use crate::weak::{self, Exploration, Search, Thread};
use codeobj::disasm::Lines;
use isa::{Subtarget, Target};
use order::Order as _;
use std::sync::{Arc, OnceLock};

/// An address in emulated memory.
pub type DevicePtr = u64;

/// A loaded code object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleId(usize);

/// Room behind the argument segment, for loads that are wider than what they need.
const KERNARG_SLACK: usize = 64;

struct Module {
    subtarget: Subtarget,
    kernels: Vec<KernelInfo>,
    /// Formats of `printf`.
    printf: Vec<String>,
    symbols: Vec<Symbol>,
    functions: Arc<Functions>,
    /// The code as waves of 32 and of 64 lanes understand it; without the size that no kernel asks for.
    code: [Vec<Code>; 2],
    base: u64,
    lines: Arc<Lines>,
    atomics: Option<Arc<[u64]>>,
}

/// An emulated GPU.
pub struct Device {
    memory: Memory,
    modules: Vec<Module>,
    threads: usize,
    mode: Mode,
    reports: Vec<Report>,
    /// Dispatches so far.
    dispatches: u64,
    /// What kernels have printed.
    printed: String,
    /// Profile and trace of the last dispatch that was watched.
    observed: (Profile, String),
    log: Option<Log>,
    names: Arc<Names>,
    level: check::Level,
}

impl Default for Device {
    fn default() -> Device {
        Device::new()
    }
}

impl Device {
    /// A device that runs work-groups on all processors of the host.
    pub fn new() -> Device {
        Device::with_threads(std::thread::available_parallelism().map_or(1, |threads| threads.get()))
    }

    /// A device that runs work-groups on that many host threads.
    pub fn with_threads(threads: usize) -> Device {
        Device {
            memory: Memory::new(),
            modules: Vec::new(),
            threads: threads.max(1),
            mode: Mode::default(),
            reports: Vec::new(),
            dispatches: 0,
            printed: String::new(),
            observed: Default::default(),
            log: None,
            names: Arc::default(),
            level: check::Level::Certain,
        }
    }

    /// How sure strict mode has to be of what it finds about registers: by default certain.
    pub fn set_level(&mut self, level: check::Level) {
        self.level = level;
    }

    /// How dispatches are run from now on; fast unless something else is said.
    pub fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
    }

    /// How dispatches are run.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// What strict mode found in the last dispatch, by place in the code.
    pub fn reports(&self) -> &[Report] {
        &self.reports
    }

    /// Places a code object in memory.
    pub fn load(&mut self, object: &CodeObject) -> Result<ModuleId, Fault> {
        let base = self.alloc(object.image.bytes.len() as u64)?;
        let mut image = object.image.bytes.clone();
        if !object.image.patches.iter().all(|patch| patch.apply(&mut image, base)) {
            return Err(Fault::Dispatch("a relocation lies outside of the image".into()));
        }
        self.write(base, &image)?;
        let (subtarget, kernels) = (*object.subtarget(), object.kernels().to_vec());
        let code = [32, 64].map(|lanes| {
            let wanted = kernels.iter().any(|kernel| kernel.wave_size == lanes);
            let target = subtarget.with_wave_size(lanes).filter(|_| wanted);
            target.map_or(Vec::new(), |target| decode(object, target.target, base, &image))
        });
        let symbols = object.symbols().to_vec();
        let printf = object.printf_formats().to_vec();
        self.modules.push(Module {
            subtarget,
            kernels,
            printf,
            functions: Arc::new(Functions::new(&symbols)),
            symbols,
            code,
            base,
            lines: Arc::clone(&object.lines),
            atomics: object.atomics.clone(),
        });
        Ok(ModuleId(self.modules.len() - 1))
    }

    /// Address and size of a variable of a loaded code object.
    pub fn symbol(&self, module: ModuleId, name: &str) -> Option<(DevicePtr, u64)> {
        let module = self.modules.get(module.0)?;
        let symbol = module.symbols.iter().find(|symbol| symbol.name == name)?;
        Some((module.base.wrapping_add(symbol.address), symbol.size))
    }

    /// Zeroed memory. Its address is a multiple of 4096.
    pub fn alloc(&mut self, bytes: u64) -> Result<DevicePtr, Fault> {
        let address = self.memory.alloc(bytes);
        address.ok_or_else(|| Fault::Dispatch(format!("no room for an allocation of {bytes} bytes")))
    }

    /// Calls the allocation that starts at `address` by a name, as an array of elements of so many bytes: reports say
    /// `x[1000]` then, beside the address.
    pub fn name(&mut self, address: DevicePtr, name: &str, element_bytes: u32) {
        if let Some((buffer, 0)) = self.memory.find(address, 0) {
            Arc::make_mut(&mut self.names).add(address, buffer.bytes(), name, element_bytes);
        }
    }

    /// Gives memory back; false if none starts there.
    pub fn free(&mut self, address: DevicePtr) -> bool {
        Arc::make_mut(&mut self.names).remove(address);
        self.memory.free(address)
    }

    /// Copies bytes to the device.
    pub fn write(&self, address: DevicePtr, data: &[u8]) -> Result<(), Fault> {
        let done = self.memory.write(address, data);
        done.then_some(())
            .ok_or_else(|| Fault::Dispatch(format!("no {} bytes at {address:#x} to write", data.len())))
    }

    /// Copies bytes from the device.
    pub fn read(&self, address: DevicePtr, data: &mut [u8]) -> Result<(), Fault> {
        let done = self.memory.read(address, data);
        done.then_some(())
            .ok_or_else(|| Fault::Dispatch(format!("no {} bytes at {address:#x} to read", data.len())))
    }

    /// Copies bytes within the device.
    pub fn copy(&self, to: DevicePtr, from: DevicePtr, bytes: u64) -> Result<(), Fault> {
        let mut data = vec![0; self.length(from, bytes)?];
        self.read(from, &mut data)?;
        self.write(to, &data)
    }

    /// Sets bytes.
    pub fn fill(&self, to: DevicePtr, value: u8, bytes: u64) -> Result<(), Fault> {
        self.write(to, &vec![value; self.length(to, bytes)?])
    }

    /// A number of bytes that are there.
    fn length(&self, at: DevicePtr, bytes: u64) -> Result<usize, Fault> {
        let there = self.memory.find(at, bytes).and_then(|_| usize::try_from(bytes).ok());
        there.ok_or_else(|| Fault::Dispatch(format!("no {bytes} bytes at {at:#x}")))
    }

    /// A signal (`amd_signal_t`) in the device's memory, for [`Dispatch::signal`] or for a kernel.
    pub fn signal(&mut self, value: i64) -> Result<DevicePtr, Fault> {
        let address = self.alloc(packet::SIGNAL_BYTES as u64)?;
        self.write(address, &packet::signal(value))?;
        Ok(address)
    }

    /// The value of a signal.
    pub fn signal_value(&self, signal: DevicePtr) -> Result<i64, Fault> {
        let mut value = [0; 8];
        self.read(signal.wrapping_add(packet::SIGNAL_VALUE), &mut value)?;
        Ok(i64::from_le_bytes(value))
    }

    fn decrement(&mut self, signal: DevicePtr) -> Result<(), Fault> {
        let value = self.signal_value(signal)?.wrapping_sub(1);
        self.write(signal.wrapping_add(packet::SIGNAL_VALUE), &value.to_le_bytes())
    }

    /// What kernels have printed since the last call; of a dispatch that failed, too.
    pub fn take_printed(&mut self) -> String {
        std::mem::take(&mut self.printed)
    }

    /// Runs the threads of a small program in every schedule that the machine allows, and gives what came out. Memory is
    /// afterwards as it was before.
    pub fn explore(&mut self, module: ModuleId, search: Search) -> Result<Exploration, Fault> {
        let module = self.modules.get(module.0).ok_or_else(|| Fault::Dispatch("no such module".into()))?;
        let dispatches: Vec<Dispatch<'_>> =
            search.threads.iter().map(|thread| search_dispatch(&search, thread)).collect();
        let prepare = |dispatch| Prepared::new(module, dispatch, self.dispatches, &mut self.memory);
        let prepared: Vec<Prepared<'_>> = dispatches.iter().map(prepare).collect::<Result<_, _>>()?;
        let addresses: Vec<u64> = prepared.iter().flat_map(|prepared| prepared.addresses).collect();
        let found = match prepared.iter().any(|one| one.target.wave_size != prepared[0].target.wave_size) {
            true => Err(Fault::Dispatch("threads of different wave sizes".into())),
            false => {
                let launches: Vec<Launch<'_>> =
                    prepared.into_iter().map(|prepared| prepared.launch(&self.memory, false)).collect();
                weak::search(&launches, &search)
            }
        };
        for address in addresses {
            self.memory.free(address);
        }
        found
    }

    /// What was counted in the last dispatch that was watched ([`Dispatch::observe`]).
    pub fn profile(&self) -> &Profile {
        &self.observed.0
    }

    /// What the traced waves of the last dispatch that was watched did: a line for each instruction.
    pub fn trace(&self) -> &str {
        &self.observed.1
    }

    /// The order of the memory operations of the last dispatch, if it was recorded ([`Observe::order`]).
    ///
    /// [`Observe::order`]: crate::Observe::order
    pub fn log(&self) -> Option<&Log> {
        self.log.as_ref()
    }

    /// The same, given away.
    pub fn take_log(&mut self) -> Option<Log> {
        self.log.take()
    }

    /// Runs a kernel to its end.
    pub fn run(&mut self, module: ModuleId, dispatch: &Dispatch<'_>) -> Result<RunStats, Fault> {
        let module = self.modules.get(module.0).ok_or_else(|| Fault::Dispatch("no such module".into()))?;
        let mode = if dispatch.observe.is_active() { Mode::Fast } else { self.mode };
        let prepared = Prepared::new(module, dispatch, self.dispatches, &mut self.memory)?;
        let (addresses, code, target) = (prepared.addresses, prepared.code, prepared.target.target);
        let printf = prepared.segments.printf;
        let mut launch = prepared.launch(&self.memory, self.threads > 1 && has_atomic64(code));
        launch.observer = Observer::new(&dispatch.observe, target, code);
        launch.names = Arc::clone(&self.names);
        launch.level = self.level;
        launch.strict = launch.shadow(mode);
        let limit = dispatch.limits.instructions;
        let (result, mut reports) = match mode {
            Mode::Weak { seed } => (weak::run(&launch, limit, seed), Vec::new()),
            Mode::Strict { .. } => schedule::run_strict(&mut launch, mode, limit, self.threads),
            _ if dispatch.observe.order => Scheduler::new(&launch, limit, 1).run(),
            _ => Scheduler::new(&launch, limit, self.threads).run(),
        };
        reports.order_by_key(|report| (report.at.offset, report.at.group, report.at.wave));
        reports.dedup_by(|one, two| one.same_code(two));
        self.reports = reports;
        let recorder = launch.observer.as_mut().and_then(Observer::take_recorder);
        self.log = recorder.map(|recorder| recorder.finish(&launch));
        if let Some(observer) = launch.observer {
            self.observed = observer.finish(code, target);
        }
        self.dispatches += 1;
        if printf != 0 {
            self.printed += &printf::render(&self.memory, printf, &module.printf);
        }
        for address in addresses {
            self.memory.free(address);
        }
        if let (Some(signal), Ok(_)) = (dispatch.signal, &result) {
            self.decrement(signal)?;
        }
        result
    }
}

/// One wave of a search.
fn search_dispatch<'a>(search: &Search, thread: &'a Thread) -> Dispatch<'a> {
    let group = [search.lanes.max(1), 1, 1];
    Dispatch {
        kernel: &thread.kernel,
        grid: group,
        group,
        kernarg: thread.kernarg.clone(),
        dynamic_lds: search.dynamic_lds,
        ..Dispatch::default()
    }
}

/// A dispatch whose arguments lie in memory.
struct Prepared<'a> {
    module: &'a Module,
    kernel: &'a KernelInfo,
    dispatch: &'a Dispatch<'a>,
    target: Subtarget,
    code: &'a [Code],
    entry: (u32, u32),
    number: u64,
    private_bytes: u32,
    segments: Segments,
    preload: Vec<u32>,
    /// What is to be given back.
    addresses: [u64; 4],
}

impl<'a> Prepared<'a> {
    fn new(
        module: &'a Module,
        dispatch: &'a Dispatch<'a>,
        number: u64,
        memory: &mut Memory,
    ) -> Result<Prepared<'a>, Fault> {
        let kernel = module.kernels.iter().find(|kernel| kernel.name == dispatch.kernel);
        let kernel = kernel.ok_or_else(|| Fault::Dispatch(format!("no kernel named {}", dispatch.kernel)))?;
        let target = kernel.subtarget(&module.subtarget);
        let code = &module.code[usize::from(kernel.wave_size == 64)];
        launch::check(kernel, dispatch, &target)?;
        let entry = find_entry(module.base, code, kernel)?;
        let private_bytes = (kernel.descriptor.private_segment + dispatch.limits.stack).next_multiple_of(4);
        let placing = Placing { module, kernel, dispatch, target: target.target, number, private_bytes };
        let (segments, preload) = placing.place(memory)?;
        let addresses = [segments.kernarg, segments.packet, segments.queue, segments.printf];
        Ok(Prepared {
            module,
            kernel,
            dispatch,
            target,
            code,
            entry,
            number,
            private_bytes,
            segments,
            preload,
            addresses,
        })
    }

    /// What its waves share; nobody watches them yet.
    fn launch(self, memory: &'a Memory, locked64: bool) -> Launch<'a> {
        Launch {
            memory,
            code: self.code,
            target: self.target,
            kernel: self.kernel,
            segments: self.segments,
            entry: self.entry,
            number: self.number,
            preload: self.preload,
            grid: self.dispatch.grid,
            group: self.dispatch.group,
            lds_bytes: self.kernel.descriptor.group_segment + self.dispatch.dynamic_lds,
            private_bytes: self.private_bytes,
            locked64,
            progress: self.dispatch.progress,
            strict: None,
            observer: None,
            functions: Arc::clone(&self.module.functions),
            lines: &self.module.lines,
            atomics: self.module.atomics.as_deref(),
            names: Arc::default(),
            level: check::Level::Certain,
            pattern: OnceLock::new(),
        }
    }
}

/// What is placed in memory for a dispatch.
struct Placing<'a> {
    module: &'a Module,
    kernel: &'a KernelInfo,
    dispatch: &'a Dispatch<'a>,
    target: &'static Target,
    number: u64,
    private_bytes: u32,
}

impl Placing<'_> {
    /// Arguments, packet, queue and buffers, in memory of their own; and the arguments that go to SGPRs.
    fn place(&self, memory: &mut Memory) -> Result<(Segments, Vec<u32>), Fault> {
        let full = || Fault::Dispatch("no room for the arguments".into());
        let (kernel, dispatch) = (self.kernel, self.dispatch);
        let has_printf =
            kernel.args.iter().any(|arg| arg.kind == ArgKind::Hidden("printf_buffer".to_owned()));
        let printf = match has_printf && !self.module.printf.is_empty() {
            true => memory.alloc(printf::HEADER as u64 + u64::from(printf::BYTES)).ok_or_else(full)?,
            false => 0,
        };
        if printf != 0 {
            memory.write(printf, &printf::header());
        }
        // Packet and queue point to one another.
        let packet = memory.alloc(packet::PACKET_BYTES as u64).ok_or_else(full)?;
        let scratch = QueueScratch {
            resource: scratch::resource(self.target),
            base: scratch::queue_base(self.target),
            lane_bytes: self.private_bytes,
        };
        let mut place = |bytes: &[u8]| {
            let address = memory.alloc(bytes.len() as u64)?;
            memory.write(address, bytes).then_some(address)
        };
        let queue = place(&packet::queue(packet, self.number, &scratch)).ok_or_else(full)?;
        let mut arguments = hidden::kernarg(kernel, dispatch, Provided { queue, printf });
        let preload = preload(kernel, &arguments);
        arguments.resize(arguments.len() + KERNARG_SLACK, 0);
        let kernarg = place(&arguments).ok_or_else(full)?;
        let object = self.module.base.wrapping_add(kernel.descriptor_address);
        memory.write(packet, &packet::packet(kernel, dispatch, object, kernarg));
        Ok((Segments { kernarg, packet, queue, printf }, preload))
    }
}

/// Dwords of the arguments that the descriptor wants in SGPRs.
fn preload(kernel: &KernelInfo, arguments: &[u8]) -> Vec<u32> {
    let (count, first) = kernel.descriptor.preload;
    let dwords = arguments.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
    dwords.chain(std::iter::repeat(0)).skip(first as usize).take(count as usize).collect()
}

/// Decodes every range of code of an object.
fn decode(object: &CodeObject, target: &'static Target, base: u64, image: &[u8]) -> Vec<Code> {
    let ranges = object.image.code.iter().map(|range| {
        let bytes = image.get(range.start as usize..range.end as usize).unwrap_or(&[]);
        let words =
            bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        Code::new(target, base + range.start, range.start, words.collect())
    });
    ranges.collect()
}

fn find_entry(base: u64, code: &[Code], kernel: &KernelInfo) -> Result<(u32, u32), Fault> {
    // Who preloads arguments starts behind the 256 bytes that load them on firmware that does not.
    let skipped = if kernel.descriptor.preload.0 > 0 { 256 } else { 0 };
    let address = base.wrapping_add(kernel.entry).wrapping_add(skipped);
    let found = code.iter().enumerate().find_map(|(range, code)| Some((range as u32, code.index(address)?)));
    found.ok_or_else(|| Fault::Descriptor(format!("the entry point {:#x} is not in the code", kernel.entry)))
}
