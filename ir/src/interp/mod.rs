//! An interpreter of the IR. The interpreter defines what a module means.
//!
//! # Execution model
//! Work-items are packed into waves in the order of their ids. The lanes of a wave run in lockstep. Of all
//! blocks that lanes are about to enter, the block that comes first in [`Cfg::rpo`] runs, for all lanes that
//! are there. A loop header that lanes enter over a back edge counts as coming after the loop's last block.
//!
//! That order keeps loops contiguous. For this reason, lanes that start another iteration wait for the lanes
//! still in the current iteration, and lanes that leave a loop wait for the lanes that stay. Lanes that take
//! different directions at a branch meet again at the join, as in compiled code. This determines the active
//! lanes of wave operations.
//!
//! All memory is sequentially consistent. If several lanes store to the same address in one instruction, the
//! highest lane wins. If lanes call different functions through their addresses, the functions run one after
//! the other, the function of the lowest lane first.
//!
//! The waves of a work-group run one after the other from barrier to barrier. Several work-groups are
//! resident at a time and each runs for a slice of steps, so that a group can wait for another group.
//!
//! # Not here
//! Weak memory and timing are not modelled. A program that violates an assumption (an access that is out of
//! bounds or less aligned than stated, a false `assume`) stops with an [`Error`]; no program has undefined
//! behaviour.
//!
//! # Requires
//! The module must be verified.

mod exec;
mod host;
mod memory;
mod wave;

pub use memory::Memory;

use crate::analysis::{Cfg, LoopForest};
use crate::entity::{Block, FuncId, Global, Inst, Slot, Value};
use crate::func::{Function, Module};
use crate::op::{Op, Pos};
use crate::text;
use crate::types::Space;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use std::collections::VecDeque;
use std::fmt;
use wave::{Status, Wave, align_up};

/// Maximum number of lanes of a wave.
const MAX_LANES: u32 = 64;
/// Maximum size of work-group memory, in bytes.
const MAX_SHARED: u32 = 64 * 1024;
/// Number of work-groups that run interleaved.
const RESIDENT_GROUPS: usize = 8;
/// Address of the first function. Each further function is `FUNCTION_BYTES` after the previous one. There is
/// no memory at these addresses.
const FIRST_FUNCTION: u64 = 1 << 40;
const FUNCTION_BYTES: u64 = 256;
/// Size in bytes of the `printf` buffer after its first two dwords; the same size as in ROCm's runtime.
const PRINTF_BYTES: u32 = 1 << 20;
/// Number of instructions that a wave runs before the next wave runs.
const SLICE: u64 = 20_000;

/// An error in the interpreted program, or in the request to run it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// There is no kernel with this name.
    NoKernel(String),
    /// The dispatch cannot be run, for the given reason.
    BadDispatch(&'static str),
    /// An access to bytes outside of all buffers and variables.
    OutOfBounds {
        /// Address space of the access.
        space: Space,
        /// Address of the first byte.
        address: u64,
        /// Number of bytes accessed.
        bytes: u32,
    },
    /// An address that is less aligned than the access states.
    Misaligned {
        /// The address.
        address: u64,
        /// The alignment that the access states.
        align: u32,
    },
    /// Some lanes of a wave reach a barrier while other lanes of the wave are at another instruction.
    DivergentBarrier,
    /// The condition of an `assume` is false.
    FalseAssumption,
    /// An `unreachable` was reached.
    Unreachable,
    /// A function was called whose code is in another object.
    NoCode(String),
    /// A call through an address at which there is no function.
    NoFunction(u64),
    /// A call through an address reaches a function whose signature is not that of the call.
    OtherSignature(String),
    /// A `trap` was reached.
    Trap,
    /// More nested calls than [`Interp::max_calls`] allows.
    TooManyCalls,
    /// The waves executed more instructions than [`Interp::max_steps`] allows.
    TooManySteps,
}

/// An error and its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Kind of error.
    pub kind: ErrorKind,
    /// Name of the function and text of the instruction, if an instruction was running.
    pub at: Option<(String, String)>,
    /// Id of the work-group.
    pub group: [u32; 3],
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::NoKernel(name) => write!(f, "there is no kernel `{name}`"),
            ErrorKind::BadDispatch(why) => write!(f, "the dispatch cannot be run: {why}"),
            ErrorKind::OutOfBounds { space, address, bytes } => {
                write!(
                    f,
                    "access of {bytes} bytes at {} address {address:#x}, which are no one's",
                    space.name()
                )
            }
            ErrorKind::Misaligned { address, align } => {
                write!(f, "address {address:#x} is not a multiple of {align}")
            }
            ErrorKind::DivergentBarrier => f.write_str("a barrier was reached by some lanes of a wave only"),
            ErrorKind::FalseAssumption => f.write_str("an assumption does not hold"),
            ErrorKind::Unreachable => f.write_str("code said to be unreachable was reached"),
            ErrorKind::NoCode(name) => write!(f, "the code of `{name}` is in another object"),
            ErrorKind::NoFunction(0) => f.write_str("a call through a null pointer"),
            ErrorKind::NoFunction(address) => {
                write!(f, "a call through {address:#x}, which is no function's address")
            }
            ErrorKind::OtherSignature(name) => {
                write!(f, "`{name}` is called through a pointer of another type")
            }
            ErrorKind::Trap => f.write_str("the program has called `trap`"),
            ErrorKind::TooManyCalls => f.write_str("too many nested calls"),
            ErrorKind::TooManySteps => f.write_str("the step limit was reached"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.group;
        match &self.at {
            None => self.kind.fmt(f),
            Some((func, inst)) => {
                write!(f, "{} (@{func}, `{inst}`, work-group {x}, {y}, {z})", self.kind)
            }
        }
    }
}

impl std::error::Error for Error {}

/// A kernel launch.
#[derive(Clone, Debug)]
pub struct Dispatch<'a> {
    /// Name of the kernel.
    pub kernel: &'a str,
    /// Number of work-items in each dimension; need not be a multiple of the group size.
    pub grid: [u32; 3],
    /// Number of work-items of a group in each dimension.
    pub group: [u32; 3],
    /// The explicit arguments, laid out according to [`crate::KernelParam::offset`].
    pub kernarg: Vec<u8>,
    /// Size of dynamic work-group memory in bytes.
    pub dynamic_shared: u32,
}

/// Interpreter for the kernels of one module.
pub struct Interp<'a> {
    module: &'a Module,
    orders: PrimaryMap<FuncId, BlockOrder>,
    /// For each device variable its address, and for each work-group variable its offset.
    globals: SecondaryMap<Global, u64>,
    static_shared: u32,
    /// Address of the `printf` buffer. 0 if the module has no `printf` calls.
    printf_buffer: u64,
    /// Address of the host-call buffer; 0 if the module has no host calls.
    hostcall_buffer: u64,
    /// Start of the grid, for [`Pos::GlobalOffset`].
    pub global_offset: [u32; 3],
    /// Number of lanes of a wave, up to 64 (the default).
    pub wave_size: u32,
    /// Maximum number of instructions that waves execute before [`ErrorKind::TooManySteps`].
    pub max_steps: u64,
    /// Maximum number of nested calls before [`ErrorKind::TooManyCalls`].
    pub max_calls: usize,
    /// Observer that is called before each instruction.
    pub watcher: Option<&'a dyn Watcher>,
}

/// Observes a dispatch.
pub trait Watcher {
    /// Called before a wave executes an instruction.
    fn before(&self, at: &At<'_>);
}

/// A wave that is about to execute an instruction.
pub struct At<'a> {
    wave: &'a Wave,
    /// Id of the work-group.
    pub group: [u32; 3],
    /// The function.
    pub func: FuncId,
    /// The instruction.
    pub inst: Inst,
    /// Lanes that execute it.
    pub active: u64,
    /// Number of open calls, including the kernel itself.
    pub depth: usize,
}

impl At<'_> {
    /// Returns the bits that lane number `lane` holds for a value of the function.
    pub fn value(&self, value: Value, lane: usize) -> u64 {
        self.wave.frames.last().map_or(0, |frame| frame.get(value, lane))
    }

    /// Returns the position of a lane's work-item in its group.
    pub fn item(&self, lane: usize) -> [u32; 3] {
        self.wave.ids[lane]
    }

    /// Returns the bytes of a lane's private variable.
    pub fn slot(&self, func: &Function, slot: Slot, lane: usize) -> &[u8] {
        let base = self.wave.frames.last().map_or(0, |frame| frame.private_base);
        let start = exec::slot_offset(func, base, slot) as usize;
        self.wave.private[lane].get(start..start + func.slots[slot].size as usize).unwrap_or_default()
    }
}

/// Returns whether any function of the module uses the buffer for calls of the host.
fn calls_host(module: &Module) -> bool {
    let mut insts = module.funcs.values().flat_map(|func| func.insts.values());
    insts.any(|data| data.op == Op::Pos(Pos::HostcallBuffer))
}

/// The order in which lanes continue that are at different blocks of a function.
struct BlockOrder {
    cfg: Cfg,
    /// For each loop header, the rank of lanes that enter it over a back edge. Lanes with a lower rank run
    /// first.
    back: SecondaryMap<Block, u64>,
}

impl BlockOrder {
    fn new(cfg: Cfg) -> Self {
        let loops = LoopForest::new(&cfg);
        let mut back = SecondaryMap::new();
        for l in loops.loops() {
            let header = loops.header(l);
            let end = u64::from(cfg.position(header)) + loops.blocks(l).len() as u64;
            // Several loops may end at the same position. The lanes that take the back edge of the innermost
            // of these loops run first.
            back[header] = (end << 32) - u64::from(loops.loop_depth(l));
        }
        BlockOrder { cfg, back }
    }

    /// Returns the rank of lanes that go from one block to another. Lanes with a lower rank run first; lanes
    /// with the same rank run together.
    fn rank(&self, from: Block, to: Block) -> u64 {
        if self.cfg.is_back_edge(from, to) { self.back[to] } else { u64::from(self.cfg.position(to)) << 32 }
    }
}

/// State that all waves of a dispatch share.
struct Launch<'a> {
    interp: &'a Interp<'a>,
    grid: [u32; 3],
    group_size: [u32; 3],
    kernarg: u64,
    /// Number of lanes of a wave: the number that the kernel requests, or the interpreter's setting if the
    /// kernel requests none.
    wave_size: u32,
    steps: u64,
}

/// A resident work-group.
struct Group {
    id: [u32; 3],
    shared: Vec<u8>,
    waves: Vec<Wave>,
}

impl<'a> Interp<'a> {
    /// Places the module's device variables in `memory`. Later runs must be given the same memory.
    pub fn new(module: &'a Module, memory: &mut Memory) -> Self {
        let mut globals = SecondaryMap::new();
        let mut static_shared = 0u32;
        for (id, data) in module.globals.iter().filter(|(_, data)| !data.dynamic) {
            globals[id] = if data.space == Space::Shared {
                let offset = align_up(static_shared, data.align.max(16));
                static_shared = offset.saturating_add(data.size);
                u64::from(offset)
            } else {
                let mut bytes = data.init.clone();
                bytes.resize(data.size as usize, 0);
                for &(at, func) in &data.funcs {
                    memory::put(&mut bytes[at as usize..][..8], Self::function_address(func));
                }
                memory.alloc_bytes(bytes)
            };
        }
        let dynamic = || module.globals.iter().filter(|(_, data)| data.dynamic);
        static_shared =
            align_up(static_shared, dynamic().map(|(_, data)| data.align).max().unwrap_or(0).max(16));
        for (id, _) in dynamic() {
            globals[id] = u64::from(static_shared);
        }
        let mut orders = PrimaryMap::new();
        for func in module.funcs.values() {
            orders.push(BlockOrder::new(Cfg::new(func)));
        }
        let printf_buffer = match module.formats.is_empty() {
            true => 0,
            false => {
                let mut buffer = vec![0; 8 + PRINTF_BYTES as usize];
                buffer[4..8].copy_from_slice(&PRINTF_BYTES.to_le_bytes());
                memory.alloc_bytes(buffer)
            }
        };
        Interp {
            module,
            orders,
            globals,
            static_shared,
            printf_buffer,
            hostcall_buffer: if calls_host(module) { host::create_buffer(memory) } else { 0 },
            global_offset: [0; 3],
            wave_size: 64,
            max_steps: u64::MAX,
            max_calls: 1024,
            watcher: None,
        }
    }

    /// Returns the address of a function.
    fn function_address(func: FuncId) -> u64 {
        FIRST_FUNCTION + u64::from(func.as_u32()) * FUNCTION_BYTES
    }

    /// Returns the function at an address.
    fn function_at(&self, address: u64) -> Option<FuncId> {
        let offset = address.checked_sub(FIRST_FUNCTION)?;
        let number = u32::try_from(offset / FUNCTION_BYTES).ok()?;
        let func = FuncId::from_u32(number);
        (offset.is_multiple_of(FUNCTION_BYTES) && self.module.funcs.is_valid(func)).then_some(func)
    }

    /// Removes and returns the output of `printf` calls since the last call of this function. The output has
    /// the format that OpenCL's runtime expects: the number of each call and its arguments (see
    /// [`Format`](crate::Format)).
    pub fn take_printed(&self, memory: &mut Memory) -> Vec<u8> {
        let buffer = memory.bytes_mut(self.printf_buffer, 8 + PRINTF_BYTES as usize);
        let Some((used, [_, _, _, _, records @ ..])) = buffer.and_then(|bytes| bytes.split_first_chunk_mut())
        else {
            return Vec::new();
        };
        let count = u32::from_le_bytes(std::mem::take(used)) as usize;
        records.iter().take(count).copied().collect()
    }

    /// Returns the address of a `constant` or `global` variable.
    pub fn global_address(&self, name: &str) -> Option<u64> {
        let found = self.module.globals.iter().find(|(_, data)| data.name == name);
        found.filter(|(_, data)| data.space != Space::Shared).map(|(id, _)| self.globals[id])
    }

    /// Runs a kernel to its end. Returns the number of instructions that waves executed.
    ///
    /// # Errors
    /// The dispatch cannot be run, or the program violates an assumption or exceeds a limit of the
    /// interpreter: see [`ErrorKind`].
    pub fn run(&self, dispatch: &Dispatch<'_>, memory: &mut Memory) -> Result<u64, Error> {
        let fail = |kind| Error { kind, at: None, group: [0; 3] };
        let kernel = self.check(dispatch).map_err(fail)?;
        let kernarg = memory.alloc_bytes(dispatch.kernarg.clone());
        let asked = self.module.funcs[kernel].kernel.as_ref().and_then(|kernel| kernel.state.wave_size);
        let mut launch = Launch {
            interp: self,
            grid: dispatch.grid,
            group_size: dispatch.group,
            kernarg,
            wave_size: asked.unwrap_or(self.wave_size),
            steps: 0,
        };
        let result = launch.run(kernel, dispatch.dynamic_shared, memory);
        memory.free(kernarg);
        result.map(|()| launch.steps)
    }

    fn check(&self, dispatch: &Dispatch<'_>) -> Result<FuncId, ErrorKind> {
        let named = |name: &str| {
            self.module.funcs.iter().find(|(_, func)| func.kernel.is_some() && func.name == name)
        };
        let (id, func) = named(dispatch.kernel).ok_or_else(|| ErrorKind::NoKernel(dispatch.kernel.into()))?;
        let items = dispatch.group.iter().try_fold(1u32, |n, &d| n.checked_mul(d));
        let info = func.kernel.as_ref();
        let argument_bytes = info.map_or(0, |k| k.kernarg_size as usize);
        let shared = self.static_shared.saturating_add(dispatch.dynamic_shared);
        let required = info.and_then(|k| k.reqd_workgroup_size);
        for (ok, why) in [
            ((1..=MAX_LANES).contains(&self.wave_size), "a wave has 1 to 64 lanes"),
            (items.is_some_and(|n| (1..=1024).contains(&n)), "a work-group has 1 to 1024 work-items"),
            (shared <= MAX_SHARED, "more than 64 KiB of work-group memory"),
            (dispatch.grid.iter().all(|&n| n > 0), "the grid is empty"),
            (
                dispatch.kernarg.len() >= argument_bytes,
                "there are fewer argument bytes than the kernel takes",
            ),
            (
                required.is_none_or(|size| size == dispatch.group),
                "the kernel requires another work-group size",
            ),
        ] {
            if !ok {
                return Err(ErrorKind::BadDispatch(why));
            }
        }
        Ok(id)
    }
}

impl Launch<'_> {
    fn run(&mut self, kernel: FuncId, dynamic: u32, memory: &mut Memory) -> Result<(), Error> {
        let groups = [0, 1, 2].map(|d| self.num_groups(d));
        let total = groups.iter().map(|&n| u64::from(n)).product::<u64>();
        let mut resident: VecDeque<Group> = VecDeque::new();
        let mut next = 0;
        loop {
            while resident.len() < RESIDENT_GROUPS && next < total {
                let [x, y, _] = groups.map(u64::from);
                let id = [(next % x) as u32, (next / x % y) as u32, (next / x / y) as u32];
                resident.push_back(self.group(kernel, id, dynamic));
                next += 1;
            }
            let Some(mut group) = resident.pop_front() else { return Ok(()) };
            if !self.run_slice(&mut group, memory)? {
                resident.push_back(group);
            }
        }
    }

    fn num_groups(&self, d: usize) -> u32 {
        self.grid[d].div_ceil(self.group_size[d])
    }

    /// Creates a work-group. At the edge of the grid it has fewer work-items.
    fn group(&self, kernel: FuncId, id: [u32; 3], dynamic: u32) -> Group {
        let size = |d: usize| {
            let first = u64::from(id[d]) * u64::from(self.group_size[d]);
            u64::from(self.group_size[d]).min(u64::from(self.grid[d]) - first) as u32
        };
        let size = [size(0), size(1), size(2)];
        let mut items = Vec::with_capacity((size[0] * size[1] * size[2]) as usize);
        for z in 0..size[2] {
            for y in 0..size[1] {
                items.extend((0..size[0]).map(|x| [x, y, z]));
            }
        }
        let waves = items
            .chunks(self.wave_size as usize)
            .map(|ids| Wave::new(self.interp, kernel, ids.to_vec()))
            .collect();
        let shared = vec![0; self.interp.static_shared.saturating_add(dynamic) as usize];
        Group { id, shared, waves }
    }

    /// Runs each wave of the group for a slice of steps. Returns whether all waves have ended.
    fn run_slice(&mut self, group: &mut Group, memory: &mut Memory) -> Result<bool, Error> {
        let Group { id, shared, waves } = group;
        for wave in waves.iter_mut() {
            if wave.status == Status::Ready {
                let limit = self.steps.saturating_add(SLICE).min(self.interp.max_steps);
                let result = wave.run(self, *id, shared, memory, limit);
                result.map_err(|(kind, func, inst)| self.error(kind, func, inst, *id))?;
            }
        }
        let running = waves.iter().any(|w| w.status == Status::Ready);
        if running && self.steps >= self.interp.max_steps {
            return Err(Error { kind: ErrorKind::TooManySteps, at: None, group: *id });
        }
        let waiting = waves.iter().any(|w| w.status == Status::AtBarrier);
        if !running && waiting {
            for wave in waves.iter_mut().filter(|w| w.status == Status::AtBarrier) {
                wave.status = Status::Ready;
            }
        }
        Ok(!running && !waiting)
    }

    fn error(&self, kind: ErrorKind, func: FuncId, inst: Inst, group: [u32; 3]) -> Error {
        let module = self.interp.module;
        let func = &module.funcs[func];
        let text = text::instruction(func, inst, Some(module));
        Error { kind, at: Some((func.name.clone(), text)), group }
    }
}
