//! The emulated device. It has memory and loaded modules, and runs dispatches on host threads.

use crate::fault::Fault;
use crate::fault::Location;
use crate::functions::Functions;
use crate::group::has_atomic64;
use crate::hidden;
use crate::hostcall::Hostcall;
use crate::idle_waits::Log;
use crate::launch::{Dispatch, Launch};
use crate::memory::Memory;
use crate::names::Names;
use crate::object::{CodeObject, KernelInfo, Symbol};
use crate::observe::{Observer, Profile};
use crate::op::Code;
use crate::packet::{self, KernelPacket, Packet, PacketKind, signal_at};
use crate::pal;
use crate::prepare::{self, Arguments, Placed, Prepared};
use crate::printf;
use crate::queue::{Queue, QueueId, Watching};
use crate::schedule::{self, Outcome, Scheduler};
use crate::stats::RunStats;
use crate::strict::{Level, Mode, Reading, Report, Scramble};
use crate::weak::{self, Exploration, Search, Thread};
use codeobj::disasm::Lines;
use isa::{Feature, Setting, Subtarget, Target};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// An address in emulated memory.
pub type DevicePtr = u64;

/// Identifies a code object that the device has loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleId(usize);

pub(crate) struct Module {
    pub(crate) subtarget: Subtarget,
    /// Version of the code object, if it is known.
    pub(crate) version: Option<u8>,
    pub(crate) kernels: Vec<KernelInfo>,
    /// Format strings of `printf`.
    pub(crate) printf: Vec<String>,
    symbols: Vec<Symbol>,
    pub(crate) functions: Arc<Functions>,
    /// The decoded code of the module, once for waves of 32 lanes and once for waves of 64 lanes. If no
    /// kernel uses one of the wave sizes, the list for it is empty.
    pub(crate) code: [Vec<Code>; 2],
    /// The code, decoded for the checks of strict mode, once for each wave size. It is computed when strict
    /// mode first needs it.
    pub(crate) readings: [Arc<OnceLock<Arc<Reading>>>; 2],
    pub(crate) base: u64,
    /// Address of the tables of PAL's dispatches, after the image. Dispatches run one after another, so all
    /// use the same memory.
    pub(crate) tables: u64,
    pub(crate) lines: Arc<Lines>,
    pub(crate) atomics: Option<Arc<[u64]>>,
}

/// An emulated GPU.
pub struct Device {
    pub(crate) memory: Memory,
    /// Queues created by the host program.
    pub(crate) queues: Vec<Option<Queue>>,
    /// Buffers through which kernels call the host. There is one for each of the kernels that may run at the
    /// same time.
    hostcalls: Vec<Mutex<Hostcall>>,
    /// Address of the heap from which `malloc` in kernels allocates. It is 0 until the first kernel that may
    /// use the heap is run.
    heap: DevicePtr,
    /// Location of the first `s_trap 3` of the last run.
    debug_trap: Option<Location>,
    modules: Vec<Module>,
    threads: usize,
    mode: Mode,
    reports: Vec<Report>,
    /// Number of dispatches that have been run.
    dispatches: u64,
    /// Text that kernels have printed and that was not taken yet.
    printed: String,
    /// Profile and trace of the last observed dispatch.
    observed: (Profile, String),
    log: Option<Log>,
    names: Arc<Names>,
    schedule: u64,
    level: Level,
    convention: callconv::Convention,
    /// Whether the device replays memory accesses that find no page (XNACK). With `None`, each code object
    /// gets the setting that it asks for.
    xnack: Option<bool>,
    /// Registers that strict mode overwrites at calls.
    scramble: Option<Arc<Scramble>>,
}

impl Default for Device {
    fn default() -> Device {
        Device::new()
    }
}

impl Device {
    /// Creates a device that runs work-groups on as many threads as the host has processors.
    pub fn new() -> Device {
        Device::with_threads(std::thread::available_parallelism().map_or(1, |threads| threads.get()))
    }

    /// Creates a device that runs work-groups on `threads` host threads.
    pub fn with_threads(threads: usize) -> Device {
        Device {
            memory: Memory::new(),
            queues: Vec::new(),
            hostcalls: Vec::new(),
            heap: 0,
            debug_trap: None,
            modules: Vec::new(),
            threads: threads.max(1),
            mode: Mode::default(),
            reports: Vec::new(),
            dispatches: 0,
            printed: String::new(),
            observed: Default::default(),
            log: None,
            names: Arc::default(),
            schedule: 0,
            level: Level::Certain,
            convention: callconv::Convention::default(),
            xnack: None,
            scramble: None,
        }
    }

    /// Sets which registers strict mode overwrites at calls. Code that wrongly relies on such a register
    /// after a call then computes with a wrong value, so that the error is found.
    pub fn set_scramble(&mut self, scramble: Scramble) {
        self.scramble = Some(Arc::new(scramble));
    }

    /// Sets which findings about registers count in strict mode, by their certainty. By default, only certain
    /// findings count.
    pub fn set_level(&mut self, level: Level) {
        self.level = level;
    }

    /// Sets the seed of strict mode's schedules. With the default seed 0, waves and groups run in order. Each
    /// other seed gives another order, and makes each wave run in slices of other lengths. With such a seed
    /// the emulator uses only one thread, so that the same seed gives the same run on every host.
    pub fn set_schedule(&mut self, seed: u64) {
        self.schedule = seed;
    }

    /// Sets the calling convention that strict mode checks functions against. The default is LLVM's current
    /// convention.
    pub fn set_convention(&mut self, convention: callconv::Convention) {
        self.convention = convention;
    }

    /// Sets whether the device replays memory accesses that find no page (XNACK), on processors that support
    /// XNACK. If the device replays, strict mode also looks for code that a replay would break.
    ///
    /// Code objects that are loaded afterwards must be built for this setting or for any setting. With
    /// `None`, the device has the setting that the code object is built for; for a code object that is built
    /// for any setting, the device replays.
    pub fn set_xnack(&mut self, on: Option<bool>) {
        self.xnack = on;
    }

    /// Sets how dispatches are run. The default is fast mode.
    pub fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
    }

    /// Returns how dispatches are run.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the findings of strict mode in the last dispatch, in the order of their code positions.
    pub fn reports(&self) -> &[Report] {
        &self.reports
    }

    /// Returns the processor that a code object is built for, with the XNACK setting of the device. Fails if
    /// the object is built for the opposite setting.
    fn subtarget(&self, object: &CodeObject) -> Result<Subtarget, Fault> {
        let mut subtarget = *object.subtarget();
        let Some(on) = self.xnack.filter(|_| subtarget.has(Feature::XNACK)) else { return Ok(subtarget) };
        let wanted = Setting::from_bool(on);
        if matches!(subtarget.xnack, Setting::On | Setting::Off) && subtarget.xnack != wanted {
            let sign = |setting| if setting == Setting::On { '+' } else { '-' };
            let (name, theirs, ours) = (subtarget.name, sign(subtarget.xnack), sign(wanted));
            return Err(Fault::Dispatch(format!(
                "the code object is for {name}:xnack{theirs}, and the device is {name}:xnack{ours}"
            )));
        }
        subtarget.xnack = wanted;
        Ok(subtarget)
    }

    /// Places a code object in the device's memory and applies its relocations.
    ///
    /// # Errors
    /// The object is for another processor than the device, a relocation is wrong, or the device has no room.
    pub fn load(&mut self, object: &CodeObject) -> Result<ModuleId, Fault> {
        let subtarget = self.subtarget(object)?;
        let end = (object.image.bytes.len() as u64).next_multiple_of(pal::TABLE_ALIGN);
        let kernels = object.kernels().iter().filter(|kernel| kernel.user_data.is_some());
        let tables = kernels.map(|kernel| pal::table_bytes(kernel.kernarg_size)).max();
        let base = self.alloc(tables.map_or(object.image.bytes.len() as u64, |bytes| end + bytes))?;
        let mut image = object.image.bytes.clone();
        if !object.image.patches.iter().all(|patch| patch.apply(&mut image, base)) {
            return Err(Fault::Dispatch("a relocation lies outside of the image".into()));
        }
        self.write(base, &image)?;
        let kernels = object.kernels().to_vec();
        let code = [32, 64].map(|lanes| {
            let wanted = kernels.iter().any(|kernel| kernel.wave_size == lanes);
            let target = subtarget.with_wave_size(lanes).filter(|_| wanted);
            target.map_or(Vec::new(), |target| decode(object, target.target, base, &image))
        });
        let symbols = object.symbols().to_vec();
        let printf = object.printf_formats().to_vec();
        self.modules.push(Module {
            subtarget,
            version: object.version(),
            kernels,
            printf,
            functions: Arc::new(Functions::new(&symbols)),
            symbols,
            code,
            readings: Default::default(),
            base,
            tables: base + end,
            lines: Arc::clone(&object.lines),
            atomics: object.atomics.clone(),
        });
        Ok(ModuleId(self.modules.len() - 1))
    }

    /// Returns the address and size of a variable of a loaded code object.
    pub fn symbol(&self, module: ModuleId, name: &str) -> Option<(DevicePtr, u64)> {
        let module = self.modules.get(module.0)?;
        let symbol = module.symbols.iter().find(|symbol| symbol.name == name)?;
        Some((module.base.wrapping_add(symbol.address), symbol.size))
    }

    /// Allocates zeroed memory. The address is a multiple of 4096.
    ///
    /// # Errors
    /// The device has no room.
    pub fn alloc(&mut self, bytes: u64) -> Result<DevicePtr, Fault> {
        let address = self.memory.alloc(bytes);
        address.ok_or_else(|| Fault::Dispatch(format!("no room for an allocation of {bytes} bytes")))
    }

    /// Names the allocation that starts at `address`, and declares it as an array of elements of
    /// `element_bytes` bytes. Reports then print a name such as `x[1000]` together with an address.
    pub fn name(&mut self, address: DevicePtr, name: &str, element_bytes: u32) {
        if let Some((buffer, 0)) = self.memory.find(address, 0) {
            Arc::make_mut(&mut self.names).add(address, buffer.bytes(), name, element_bytes);
        }
    }

    /// Frees an allocation. Returns false if no allocation starts at `address`.
    pub fn free(&mut self, address: DevicePtr) -> bool {
        Arc::make_mut(&mut self.names).remove(address);
        self.memory.free(address)
    }

    /// Copies bytes to the device.
    ///
    /// # Errors
    /// The range is not inside one allocation.
    pub fn write(&self, address: DevicePtr, data: &[u8]) -> Result<(), Fault> {
        let done = self.memory.write(address, data);
        done.then_some(())
            .ok_or_else(|| Fault::Dispatch(format!("no {} bytes at {address:#x} to write", data.len())))
    }

    /// Copies bytes from the device.
    ///
    /// # Errors
    /// The range is not inside one allocation.
    pub fn read(&self, address: DevicePtr, data: &mut [u8]) -> Result<(), Fault> {
        let done = self.memory.read(address, data);
        done.then_some(())
            .ok_or_else(|| Fault::Dispatch(format!("no {} bytes at {address:#x} to read", data.len())))
    }

    /// Copies bytes within the device.
    ///
    /// # Errors
    /// A range is not inside one allocation.
    pub fn copy(&self, to: DevicePtr, from: DevicePtr, bytes: u64) -> Result<(), Fault> {
        let mut data = vec![0; self.length(from, bytes)?];
        self.read(from, &mut data)?;
        self.write(to, &data)
    }

    /// Sets `bytes` bytes to a value.
    ///
    /// # Errors
    /// The range is not inside one allocation.
    pub fn fill(&self, to: DevicePtr, value: u8, bytes: u64) -> Result<(), Fault> {
        self.write(to, &vec![value; self.length(to, bytes)?])
    }

    /// Checks that a memory range of `bytes` bytes exists at an address. Returns `bytes` as a `usize`.
    fn length(&self, at: DevicePtr, bytes: u64) -> Result<usize, Fault> {
        let there = self.memory.find(at, bytes).and_then(|_| usize::try_from(bytes).ok());
        there.ok_or_else(|| Fault::Dispatch(format!("no {bytes} bytes at {at:#x}")))
    }

    /// Creates a signal (`amd_signal_t`) in the device's memory and returns its address. The signal can be
    /// used as [`Dispatch::signal`] or be passed to a kernel.
    ///
    /// # Errors
    /// The device has no room.
    pub fn signal(&mut self, value: i64) -> Result<DevicePtr, Fault> {
        let address = self.alloc(packet::SIGNAL_BYTES as u64)?;
        self.write(address, &packet::signal(value))?;
        Ok(address)
    }

    /// Returns the value of a signal.
    ///
    /// # Errors
    /// There is no signal at the address.
    pub fn signal_value(&self, signal: DevicePtr) -> Result<i64, Fault> {
        let mut value = [0; 8];
        self.read(signal.wrapping_add(signal_at::VALUE), &mut value)?;
        Ok(i64::from_le_bytes(value))
    }

    /// Returns the text that kernels have printed since the last call of this function. The text of a
    /// dispatch that failed is included.
    pub fn take_printed(&mut self) -> String {
        std::mem::take(&mut self.printed)
    }

    /// Runs the threads of a small program in every schedule that weak mode allows, and returns the outcomes.
    /// Restores memory afterwards.
    ///
    /// # Errors
    /// The module or a kernel does not exist, or the arguments do not fit.
    pub fn explore(&mut self, module: ModuleId, search: Search) -> Result<Exploration, Fault> {
        let module = self.modules.get(module.0).ok_or_else(|| Fault::Dispatch("no such module".into()))?;
        let dispatches: Vec<Dispatch<'_>> =
            search.threads.iter().map(|thread| search_dispatch(&search, thread)).collect();
        let place =
            |dispatch| Placed::new(module, dispatch, self.dispatches, &mut self.memory, &mut self.heap);
        let placed: Vec<Placed> = dispatches.iter().map(place).collect::<Result<_, _>>()?;
        let prepare =
            |placed: &Placed| Prepared::of_packet(&self.modules, &self.memory, &placed.queue, &placed.packet);
        let prepared: Vec<Prepared<'_>> = placed.iter().map(prepare).collect::<Result<_, _>>()?;
        let found = match prepared.iter().any(|one| one.target.wave_size != prepared[0].target.wave_size) {
            true => Err(Fault::Dispatch("threads of different wave sizes".into())),
            false => {
                let launches: Vec<Launch<'_>> =
                    prepared.into_iter().map(|prepared| prepared.launch(&self.memory, false, None)).collect();
                weak::search(&launches, &search)
            }
        };
        for address in placed.iter().flat_map(Placed::addresses) {
            self.memory.free(address);
        }
        found
    }

    /// Returns the counts of executed instructions in the last observed dispatch ([`Dispatch::observe`]).
    pub fn profile(&self) -> &Profile {
        &self.observed.0
    }

    /// Returns the trace of the last observed dispatch. It has a line for each instruction that the traced
    /// waves have executed.
    pub fn trace(&self) -> &str {
        &self.observed.1
    }

    /// Returns the order of the memory operations of the last dispatch, if this order was recorded
    /// ([`Observe::order`]).
    ///
    /// [`Observe::order`]: crate::Observe::order
    pub fn log(&self) -> Option<&Log> {
        self.log.as_ref()
    }

    /// Takes the recorded order of the memory operations of the last dispatch. Afterwards, [`Device::log`]
    /// returns nothing.
    pub fn take_log(&mut self) -> Option<Log> {
        self.log.take()
    }

    /// Returns the location of the first `s_trap 3` of the last run. A real device would have called a
    /// debugger there. The first trap is the one in the group that starts first.
    pub fn debug_trap(&self) -> Option<&Location> {
        self.debug_trap.as_ref()
    }

    /// Returns the address of a kernel's descriptor. Packets refer to a kernel by this address.
    pub fn kernel_object(&self, module: ModuleId, kernel: &str) -> Option<DevicePtr> {
        let module = self.modules.get(module.0)?;
        let kernel = module.kernels.iter().find(|info| info.name == kernel)?;
        Some(module.base.wrapping_add(kernel.descriptor_address))
    }

    /// Creates the packet that runs a dispatch when a queue processes it. Places the arguments, including the
    /// hidden ones, in device memory. The arguments and the memory that they point to are not freed. This
    /// function ignores [`Dispatch::signal`]; use [`Packet::completion`] instead.
    ///
    /// # Errors
    /// The module, the queue or the kernel does not exist, or the dispatch does not fit the kernel.
    pub fn kernel_packet(
        &mut self,
        module: ModuleId,
        dispatch: &Dispatch<'_>,
        queue: QueueId,
    ) -> Result<KernelPacket, Fault> {
        let refuse = |why: &str| Fault::Dispatch(why.into());
        let module = self.modules.get(module.0).ok_or_else(|| refuse("no such module"))?;
        let queue = queue.find_in(&self.queues).ok_or_else(|| refuse("no such queue"))?;
        let kernel = prepare::kernel_of(module, dispatch)?;
        let arguments =
            Arguments::create(module, kernel, dispatch, queue.address, &mut self.memory, &mut self.heap)?;
        self.hostcalls.extend(arguments.hostcall.map(Mutex::new));
        Ok(prepare::packet(module, kernel, dispatch, arguments.kernarg))
    }

    /// Runs a kernel to its end, and then the packets that the kernel has added to its queue.
    ///
    /// # Errors
    /// The dispatch does not fit the kernel, the kernel faults, or strict mode reports a finding.
    pub fn run(&mut self, module: ModuleId, dispatch: &Dispatch<'_>) -> Result<RunStats, Fault> {
        let module = self.modules.get(module.0).ok_or_else(|| Fault::Dispatch("no such module".into()))?;
        let placed = Placed::new(module, dispatch, self.dispatches, &mut self.memory, &mut self.heap)?;
        let addresses = placed.addresses();
        let Placed { mut queue, packet, arguments } = placed;
        let own = self.hostcalls.len();
        self.hostcalls.extend(arguments.hostcall.map(Mutex::new));
        self.begin_run();
        let completion = dispatch.signal.unwrap_or(0);
        queue.submit(&self.memory, &Packet { completion, ..Packet::new(PacketKind::Kernel(packet)) });
        let mut stats = RunStats::default();
        let watching = Watching {
            limit: dispatch.limits.instructions,
            observe: &dispatch.observe,
            progress: dispatch.progress,
            debugger: dispatch.debugger,
        };
        let result = self.drain(&mut queue, watching, &mut stats).map_err(|error| error.fault);
        let result = result.and_then(|()| queue.check_idle(&self.memory));
        self.dispatches = queue.read.max(self.dispatches + 1);
        self.hostcalls.truncate(own);
        self.memory.sweep_heap();
        for address in addresses {
            self.memory.free(address);
        }
        result.map(|()| stats)
    }

    /// Clears the results of the last run (findings, debug trap, log), before a new run begins.
    pub(crate) fn begin_run(&mut self) {
        self.reports.clear();
        self.debug_trap = None;
        self.log = None;
    }

    /// Runs the kernel of the next packet of a queue.
    pub(crate) fn run_packet(
        &mut self,
        queue: &Queue,
        packet: &KernelPacket,
        Watching { limit, observe, progress, debugger }: Watching<'_>,
    ) -> Result<RunStats, Fault> {
        let mode = if observe.is_active() { Mode::Fast } else { self.mode };
        let prepared = Prepared::of_packet(&self.modules, &self.memory, queue, packet)?;
        let (code, target, module) = (prepared.code, prepared.target.target, prepared.module);
        let pointer = |name| hidden::pointer(prepared.kernel, name, packet.kernarg, &self.memory);
        let (printf, hostcall) = (pointer("printf_buffer"), pointer("hostcall_buffer"));
        let hostcall = self.hostcalls.iter().find(|buffer| locked(buffer).address() == hostcall);
        // A dispatch that makes host calls or has a debugger runs on one thread, so that lines are printed,
        // and the debugger is called, in the same order each time.
        let threads = if hostcall.is_some() || debugger.is_some() { 1 } else { self.threads };
        let mut launch = prepared.launch(&self.memory, threads > 1 && has_atomic64(code), progress);
        launch.hostcall = hostcall;
        launch.debugger = debugger;
        launch.observer = Observer::new(observe, target, code);
        launch.names = Arc::clone(&self.names);
        launch.level = self.level;
        launch.schedule = self.schedule;
        launch.convention = self.convention;
        launch.scramble = self.scramble.clone();
        launch.strict = launch.shadow(mode);
        let Outcome { result, mut reports, debug_trap } = match mode {
            Mode::Weak { seed } => weak::run(&launch, limit, seed),
            Mode::Strict { .. } => schedule::run_strict(&mut launch, mode, limit, threads),
            _ if observe.order => Scheduler::new(&launch, limit, 1).run(),
            _ => Scheduler::new(&launch, limit, threads).run(),
        };
        reports.sort_by_key(|report| (report.at.offset, report.at.group, report.at.wave));
        reports.dedup_by(|one, two| one.same_code(two));
        self.reports.append(&mut reports);
        self.debug_trap = self.debug_trap.take().or(debug_trap);
        if let Some(recorder) = launch.observer.as_mut().and_then(Observer::take_recorder) {
            self.log = Some(recorder.finish(&launch));
        }
        if let Some(observer) = launch.observer {
            self.observed = observer.finish(code, target);
        }
        if let Some(hostcall) = hostcall {
            self.printed += &String::from_utf8_lossy(&locked(hostcall).take_text());
        }
        if !module.printf.is_empty() {
            self.printed += &printf::take(&self.memory, printf, &module.printf);
        }
        result
    }
}

/// Locks a host call buffer. Uses the buffer even if an earlier panic has poisoned the lock.
fn locked(hostcall: &Mutex<Hostcall>) -> std::sync::MutexGuard<'_, Hostcall> {
    hostcall.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the dispatch that runs one thread of an exhaustive search ([`Device::explore`]) as one wave.
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

/// Decodes every code range of a code object.
fn decode(object: &CodeObject, target: &'static Target, base: u64, image: &[u8]) -> Vec<Code> {
    let ranges = object.image.code.iter().map(|range| {
        let bytes = image.get(range.start as usize..range.end as usize).unwrap_or(&[]);
        let words =
            bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        Code::new(target, base + range.start, range.start, words.collect())
    });
    ranges.collect()
}
