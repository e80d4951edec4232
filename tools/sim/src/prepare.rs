//! Prepares dispatches for execution in two parts. The first part turns a dispatch into a packet, and places
//! its arguments in memory. The second part turns the packet of a kernel into the data that the waves of the
//! kernel share.

use crate::device::Module;
use crate::fault::Fault;
use crate::hidden::{self, Provided};
use crate::hostcall::Hostcall;
use crate::launch::{self, Dispatch, Launch, Segments, Size};
use crate::memory::Memory;
use crate::object::KernelInfo;
use crate::op::Code;
use crate::packet::{KernelPacket, QueueScratch, queue_at};
use crate::printf;
use crate::progress::Progress;
use crate::queue::{OWN_PACKETS, Queue};
use crate::scratch;
use crate::strict::Level;
use isa::Subtarget;
use std::sync::{Arc, OnceLock};

/// Number of unused bytes after the argument segment. A load may be wider than the argument that it loads, so
/// it may read some of these bytes.
const KERNARG_SLACK: usize = 64;
/// Alignment of an argument segment.
const KERNARG_ALIGN: u64 = 16;

fn no_room() -> Fault {
    Fault::Dispatch("no room for the arguments".into())
}

/// Returns the kernel that a dispatch names. Fails if the dispatch is not valid for this kernel.
pub(crate) fn kernel_of<'a>(module: &'a Module, dispatch: &Dispatch<'_>) -> Result<&'a KernelInfo, Fault> {
    let kernel = module.kernels.iter().find(|kernel| kernel.name == dispatch.kernel);
    let kernel = kernel.ok_or_else(|| Fault::Dispatch(format!("no kernel named {}", dispatch.kernel)))?;
    if dispatch.kernarg.len() > kernel.kernarg_size as usize && !kernel.untyped {
        let (given, size) = (dispatch.kernarg.len(), kernel.kernarg_size);
        return Err(Fault::Dispatch(format!("{given} bytes of arguments for a segment of {size}")));
    }
    launch::check(kernel, &Size::from_dispatch(dispatch), kernel.subtarget(&module.subtarget).target)?;
    Ok(kernel)
}

/// An argument segment in memory, and the other memory that its hidden arguments point to.
pub(crate) struct Arguments {
    /// Address of the argument segment.
    pub(crate) kernarg: u64,
    /// Address of the buffer for `printf`. This buffer has to be freed after the dispatch, and so has the
    /// buffer in the next field.
    pub(crate) printf: u64,
    pub(crate) hostcall: Option<Hostcall>,
}

impl Arguments {
    /// Places the arguments of a dispatch in memory, including the hidden arguments. `queue` is the address
    /// of the queue that runs the dispatch. `heap` is the address of the device's heap, or 0 if there is none
    /// yet.
    pub(crate) fn create(
        module: &Module,
        kernel: &KernelInfo,
        dispatch: &Dispatch<'_>,
        queue: u64,
        memory: &mut Memory,
        heap: &mut u64,
    ) -> Result<Arguments, Fault> {
        let has = |name| hidden::offset(kernel, name).is_some();
        let mut provided = Provided { queue, ..Provided::default() };
        if has("printf_buffer") && !module.printf.is_empty() {
            let bytes = printf::HEADER as u64 + u64::from(printf::BYTES);
            provided.printf = memory.alloc(bytes).ok_or_else(no_room)?;
            memory.write(provided.printf, &printf::header());
        }
        if has("heap_v1") {
            if *heap == 0 {
                *heap = memory.alloc(hidden::HEAP_BYTES).ok_or_else(no_room)?;
            }
            provided.heap = *heap;
        }
        let mut hostcall = None;
        if has("hostcall_buffer") {
            let waves = Size::from_dispatch(dispatch).waves(kernel.wave_size);
            let buffer = Hostcall::create(memory, waves).ok_or_else(no_room)?;
            provided.hostcall = buffer.address();
            hostcall = Some(buffer);
        }
        let mut bytes = hidden::kernarg(kernel, dispatch, provided);
        bytes.resize(bytes.len() + KERNARG_SLACK, 0);
        let kernarg = memory.alloc(bytes.len() as u64).ok_or_else(no_room)?;
        memory.write(kernarg, &bytes);
        Ok(Arguments { kernarg, printf: provided.printf, hostcall })
    }
}

/// Returns the packet for a dispatch whose arguments are already in memory.
pub(crate) fn packet(
    module: &Module,
    kernel: &KernelInfo,
    dispatch: &Dispatch<'_>,
    kernarg: u64,
) -> KernelPacket {
    KernelPacket {
        // The conversion to 16 bits loses nothing, because dispatches with larger groups have been refused
        // before.
        group: dispatch.group.map(|items| items as u16),
        grid: match kernel.user_data {
            // PAL dispatches a number of work-groups, so there are no partial ones.
            Some(_) => std::array::from_fn(|dim| {
                dispatch.grid[dim].checked_next_multiple_of(dispatch.group[dim]).unwrap_or(dispatch.grid[dim])
            }),
            None => dispatch.grid,
        },
        private_bytes: kernel.descriptor.private_segment.saturating_add(dispatch.limits.stack),
        lds_bytes: kernel.descriptor.group_segment + dispatch.dynamic_lds,
        object: module.base.wrapping_add(kernel.descriptor_address),
        kernarg,
    }
}

/// A dispatch in memory, in the form of a packet for a queue that exists only for this dispatch.
pub(crate) struct Placed {
    pub(crate) queue: Queue,
    pub(crate) packet: KernelPacket,
    pub(crate) arguments: Arguments,
}

impl Placed {
    /// Places the arguments of a dispatch in memory, and creates its packet and its queue. `number` is the
    /// index of the packet, and `heap` the address of the device's heap.
    pub(crate) fn new(
        module: &Module,
        dispatch: &Dispatch<'_>,
        number: u64,
        memory: &mut Memory,
        heap: &mut u64,
    ) -> Result<Placed, Fault> {
        let kernel = kernel_of(module, dispatch)?;
        let queue = Queue::create(memory, OWN_PACKETS, number).ok_or_else(no_room)?;
        let arguments = Arguments::create(module, kernel, dispatch, queue.address, memory, heap)?;
        let packet = packet(module, kernel, dispatch, arguments.kernarg);
        Ok(Placed { queue, packet, arguments })
    }

    /// Returns the addresses of the allocations that have to be freed after the dispatch.
    pub(crate) fn addresses(&self) -> [u64; 5] {
        let [ring, queue] = self.queue.addresses();
        let hostcall = self.arguments.hostcall.as_ref().map_or(0, Hostcall::address);
        [ring, queue, self.arguments.kernarg, self.arguments.printf, hostcall]
    }
}

/// The data that all waves of a kernel packet share, except for an observer or debugger.
pub(crate) struct Prepared<'a> {
    pub(crate) module: &'a Module,
    pub(crate) kernel: &'a KernelInfo,
    pub(crate) target: Subtarget,
    pub(crate) code: &'a [Code],
    entry: (u32, u32),
    private_bytes: u32,
    size: Size,
    segments: Segments,
    preload: Vec<u32>,
    number: u64,
}

impl<'a> Prepared<'a> {
    /// Prepares the packet that a queue runs next.
    pub(crate) fn of_packet(
        modules: &'a [Module],
        memory: &Memory,
        queue: &Queue,
        packet: &KernelPacket,
    ) -> Result<Prepared<'a>, Fault> {
        let number = queue.read;
        let refuse = |why: String| Fault::Packet { packet: number, why };
        let (module, kernel) = find_kernel(modules, packet.object).ok_or_else(|| {
            refuse(format!("its kernel object {:#x} is no kernel that is loaded", packet.object))
        })?;
        let beyond = |what: &str, given: u32, least: u32| {
            given.checked_sub(least).ok_or_else(|| {
                refuse(format!(
                    "{given} bytes of {what} for {}, whose descriptor asks for {least}",
                    kernel.name
                ))
            })
        };
        let descriptor = &kernel.descriptor;
        let size = Size {
            grid: packet.grid,
            group: packet.group.map(u32::from),
            dynamic_lds: beyond("LDS", packet.lds_bytes, descriptor.group_segment)?,
            stack: beyond("scratch", packet.private_bytes, descriptor.private_segment)?,
        };
        let kernarg = packet.kernarg;
        let bytes = u64::from(kernel.kernarg_size);
        if bytes > 0 && (!kernarg.is_multiple_of(KERNARG_ALIGN) || memory.find(kernarg, bytes).is_none()) {
            return Err(refuse(format!(
                "its arguments at {kernarg:#x} are not {bytes} bytes of memory, aligned to {KERNARG_ALIGN}"
            )));
        }
        let target = kernel.subtarget(&module.subtarget);
        launch::check(kernel, &size, target.target)?;
        let code = &module.code[usize::from(kernel.wave_size == 64)];
        let private_bytes = packet.private_bytes.next_multiple_of(4);
        let scratch = QueueScratch {
            resource: scratch::resource(target.target),
            base: scratch::queue_base(target.target),
            lane_bytes: private_bytes,
        };
        memory.write(queue.address + queue_at::SCRATCH, &scratch.bytes());
        Ok(Prepared {
            module,
            kernel,
            target,
            code,
            entry: find_entry(module.base, code, kernel)?,
            private_bytes,
            size,
            segments: Segments { kernarg, packet: queue.slot(number), queue: queue.address },
            preload: match &kernel.user_data {
                Some(user_data) => {
                    let dwords =
                        (0..kernel.kernarg_size.div_ceil(4)).map(|at| argument_dword(kernarg, at, memory));
                    let groups = std::array::from_fn(|dim| size.grid[dim].div_ceil(size.group[dim]));
                    let dwords: Vec<u32> = dwords.collect();
                    user_data.provide(memory, module.tables, target.target, groups, &dwords)
                }
                None => preload(kernel, kernarg, memory),
            },
            number,
        })
    }

    /// Returns the launch, without an observer or debugger.
    pub(crate) fn launch(
        self,
        memory: &'a Memory,
        locked64: bool,
        progress: Option<&'a Progress>,
    ) -> Launch<'a> {
        Launch {
            memory,
            code: self.code,
            target: self.target,
            kernel: self.kernel,
            segments: self.segments,
            entry: self.entry,
            number: self.number,
            preload: self.preload,
            grid: self.size.grid,
            group: self.size.group,
            lds_bytes: self.kernel.descriptor.group_segment + self.size.dynamic_lds,
            private_bytes: self.private_bytes,
            locked64,
            progress,
            debugger: None,
            strict: None,
            observer: None,
            hostcall: None,
            functions: Arc::clone(&self.module.functions),
            reading: Arc::clone(&self.module.readings[usize::from(self.kernel.wave_size == 64)]),
            version: self.module.version,
            lines: &self.module.lines,
            atomics: self.module.atomics.as_deref(),
            names: Arc::default(),
            schedule: 0,
            level: Level::Certain,
            convention: callconv::Convention::default(),
            scramble: None,
            pattern: OnceLock::new(),
        }
    }
}

/// Returns the kernel whose descriptor is at an address.
fn find_kernel(modules: &[Module], object: u64) -> Option<(&Module, &KernelInfo)> {
    modules.iter().find_map(|module| {
        let address = object.checked_sub(module.base)?;
        let kernel = module.kernels.iter().find(|kernel| kernel.descriptor_address == address)?;
        Some((module, kernel))
    })
}

/// Returns the dwords of the arguments that the hardware preloads into SGPRs. The kernel descriptor says
/// which these are.
fn preload(kernel: &KernelInfo, kernarg: u64, memory: &Memory) -> Vec<u32> {
    let (count, first) = kernel.descriptor.preload;
    (first..first + count).map(|at| argument_dword(kernarg, at, memory)).collect()
}

fn argument_dword(kernarg: u64, at: u32, memory: &Memory) -> u32 {
    let mut bytes = [0; 4];
    memory.read(kernarg.wrapping_add(4 * u64::from(at)), &mut bytes);
    u32::from_le_bytes(bytes)
}

fn find_entry(base: u64, code: &[Code], kernel: &KernelInfo) -> Result<(u32, u32), Fault> {
    // A kernel with preloaded arguments begins with 256 bytes of code for firmware that cannot preload
    // arguments; this code loads them. The emulator preloads the arguments, so it starts after this code.
    let skipped = if kernel.descriptor.preload.0 > 0 { 256 } else { 0 };
    let address = base.wrapping_add(kernel.entry).wrapping_add(skipped);
    let found = code.iter().enumerate().find_map(|(range, code)| Some((range as u32, code.index(address)?)));
    found.ok_or_else(|| Fault::Descriptor(format!("the entry point {:#x} is not in the code", kernel.entry)))
}
