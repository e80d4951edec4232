//! Sets up the state in which waves start: their registers, the argument segment and the dispatch packet
//! (LLVM's AMDGPU guide, seed 000, lines 2534-3000).

use crate::debug::Debugger;
use crate::descriptor::{Descriptor, Registers, UserSgprs};
use crate::fault::Fault;
use crate::fault::{Called, Location, Trap};
use crate::functions::Functions;
use crate::group::Group;
use crate::hostcall::Hostcall;
use crate::memory::Memory;
use crate::names::Names;
use crate::object::KernelInfo;
use crate::observe::{Observe, Observer};
use crate::op::Code;
use crate::progress::Progress;
use crate::scratch;
use crate::strict::{self, GroupShadow, Mode};
use crate::wave::{Wave, reg};
use codeobj::disasm::Lines;
use isa::{Feature, FlatScratch, Subtarget, Target};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Initial value of registers, LDS and scratch that a program has not written. As an address, number or
/// count, the value is not plausible, so that a program that uses it gives a visibly wrong result.
pub(crate) const POISON: u32 = 0xbadc_0de5;
/// Maximum number of user SGPRs of a wave.
const MAX_USER_SGPRS: u32 = 16;
/// Maximum number of scratch bytes of a wave. The hardware field `SPI_TMPRING_SIZE.WAVESIZE` has 13 bits, in
/// units of 1 KiB.
const MAX_SCRATCH: u64 = 1 << 23;
/// Maximum number of work-groups of a dispatch. The emulator could not run more groups within a human life.
const MAX_GROUPS: u128 = 1 << 40;
/// Maximum size in bytes of a pattern of initial waves. The pattern is the waves of one group as they start.
/// The waves of further groups are copied from it.
const MAX_PATTERN: u64 = 1 << 20;
/// Maximum number of work-items of a group.
const MAX_GROUP: u64 = 1024;

/// Limits on the resources that a dispatch may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of instructions that a dispatch may execute, summed over all waves.
    pub instructions: u64,
    /// Number of bytes that are added to the stack of each work-item, so that recursive functions have room.
    /// The kernel descriptor says how large the stack is without them.
    pub stack: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { instructions: 20_000_000_000, stack: 0 }
    }
}

/// A kernel to be run, with its arguments and its grid.
#[derive(Clone, Debug)]
pub struct Dispatch<'a> {
    /// Name of the kernel.
    pub kernel: &'a str,
    /// Number of work-items in each dimension. It need not be a multiple of the group size.
    pub grid: [u32; 3],
    /// Number of work-items of a group in each dimension.
    pub group: [u32; 3],
    /// The explicit arguments as bytes, laid out as the metadata describes. The emulator adds the hidden
    /// arguments.
    pub kernarg: Vec<u8>,
    /// Bytes of LDS in addition to the kernel's own.
    pub dynamic_lds: u32,
    /// Offset that OpenCL adds to the global ids of work-items.
    pub global_offset: [u64; 3],
    /// Address of a signal that the emulator decrements when the dispatch ends.
    /// [`Device::signal`](crate::Device::signal) creates signals.
    pub signal: Option<u64>,
    /// Limits.
    pub limits: Limits,
    /// What to observe in the dispatch. An observed dispatch runs in fast mode.
    pub observe: Observe,
    /// Counters in which the dispatch reports its progress.
    pub progress: Option<&'a Progress>,
    /// Debugger that is called before each instruction. A debugger cannot be combined with `observe`, and not
    /// with weak mode.
    pub debugger: Option<&'a (dyn Debugger + 'a)>,
}

impl Default for Dispatch<'_> {
    /// Returns a dispatch of a single work-item. The caller sets the name of the kernel and the arguments.
    fn default() -> Self {
        Dispatch {
            kernel: "",
            grid: [1; 3],
            group: [1; 3],
            kernarg: Vec::new(),
            dynamic_lds: 0,
            global_offset: [0; 3],
            signal: None,
            limits: Limits::default(),
            observe: Observe::default(),
            progress: None,
            debugger: None,
        }
    }
}

/// Addresses of the memory areas that a dispatch needs in emulated memory.
pub(crate) struct Segments {
    pub(crate) kernarg: u64,
    pub(crate) packet: u64,
    pub(crate) queue: u64,
}

/// The size of a dispatch.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) grid: [u32; 3],
    pub(crate) group: [u32; 3],
    /// Bytes of LDS in addition to the kernel's own.
    pub(crate) dynamic_lds: u32,
    /// Bytes of scratch of a work-item in addition to those that the kernel descriptor asks for.
    pub(crate) stack: u32,
}

impl Size {
    pub(crate) fn from_dispatch(dispatch: &Dispatch<'_>) -> Size {
        let Dispatch { grid, group, dynamic_lds, limits: Limits { stack, .. }, .. } = *dispatch;
        Size { grid, group, dynamic_lds, stack }
    }

    /// Returns an upper bound for the number of waves that all groups together have.
    pub(crate) fn waves(&self, wave_size: u32) -> u64 {
        let groups = (0..3).map(|dim| u64::from(self.grid[dim].div_ceil(self.group[dim])));
        let items: u32 = self.group.iter().product();
        groups.fold(u64::from(items.div_ceil(wave_size)), u64::saturating_mul)
    }
}

/// Data that all waves of a dispatch share.
pub(crate) struct Launch<'a> {
    pub(crate) memory: &'a Memory,
    pub(crate) code: &'a [Code],
    pub(crate) target: Subtarget,
    pub(crate) kernel: &'a KernelInfo,
    pub(crate) segments: Segments,
    pub(crate) entry: (u32, u32),
    /// Number of the dispatch on its device.
    pub(crate) number: u64,
    /// Arguments that are preloaded into SGPRs.
    pub(crate) preload: Vec<u32>,
    pub(crate) grid: [u32; 3],
    pub(crate) group: [u32; 3],
    pub(crate) lds_bytes: u32,
    pub(crate) private_bytes: u32,
    pub(crate) locked64: bool,
    /// Counters in which the dispatch reports its progress.
    pub(crate) progress: Option<&'a Progress>,
    /// Debugger that is called before each instruction.
    pub(crate) debugger: Option<&'a (dyn Debugger + 'a)>,
    /// State of strict mode for the whole dispatch; `None` in other modes.
    pub(crate) strict: Option<strict::Shared>,
    /// Observer that records a profile or a trace.
    pub(crate) observer: Option<Observer>,
    /// The functions of the code object.
    pub(crate) functions: Arc<Functions>,
    /// The code in the form in which strict mode reads it. It is computed at the first use.
    pub(crate) reading: Arc<OnceLock<Arc<strict::Reading>>>,
    /// The buffer through which the waves call the host.
    pub(crate) hostcall: Option<&'a Mutex<Hostcall>>,
    /// Version of the code object, if it is known.
    pub(crate) version: Option<u8>,
    /// Source lines of the code.
    pub(crate) lines: &'a Lines,
    /// File addresses of the loads and stores that the object file marks as atomic, in ascending order.
    /// `None` if the object file has no such marks.
    pub(crate) atomics: Option<&'a [u64]>,
    /// Names of allocations, for reports.
    pub(crate) names: Arc<Names>,
    /// Seed of strict mode's schedule. With 0, groups and waves run in order.
    pub(crate) schedule: u64,
    /// Which findings about registers count in strict mode, by their certainty.
    pub(crate) level: strict::Level,
    /// Calling convention that functions have to keep.
    pub(crate) convention: callconv::Convention,
    /// Registers that strict mode overwrites at calls.
    pub(crate) scramble: Option<Arc<strict::Scramble>>,
    /// The waves of a full group as they start, without the parts that differ between groups. The waves of
    /// further groups are copied from this pattern.
    pub(crate) pattern: OnceLock<Vec<Wave>>,
}

/// Checks a dispatch before any wave runs. Returns the first error that can be found without running code.
pub(crate) fn check(kernel: &KernelInfo, wanted: &Size, target: &Target) -> Result<(), Fault> {
    let refuse = |why: String| Err(Fault::Dispatch(why));
    let size = wanted.group.iter().fold(1u64, |size, &n| size.saturating_mul(n.into()));
    if size == 0 || size > MAX_GROUP {
        return refuse(format!("a group of {:?} work-items is not between 1 and {MAX_GROUP}", wanted.group));
    }
    if wanted.grid.contains(&0) {
        return refuse(format!("the grid {:?} is empty", wanted.grid));
    }
    let groups: u128 = (0..3).map(|dim| u128::from(wanted.grid[dim].div_ceil(wanted.group[dim]))).product();
    if groups > MAX_GROUPS {
        return refuse(format!("the grid {:?} has {groups} groups", wanted.grid));
    }
    if let Some(required) = kernel.reqd_group.filter(|required| *required != wanted.group) {
        return refuse(format!("{} requires groups of {required:?}, not {:?}", kernel.name, wanted.group));
    }
    if kernel.max_group != 0 && size > u64::from(kernel.max_group) {
        return refuse(format!("{} allows groups of at most {} work-items", kernel.name, kernel.max_group));
    }
    let lds = u64::from(kernel.descriptor.group_segment) + u64::from(wanted.dynamic_lds);
    if lds > u64::from(target.max_lds_per_group) {
        return refuse(format!("{lds} bytes of LDS, but a group has at most {}", target.max_lds_per_group));
    }
    check_descriptor(&kernel.descriptor, wanted.stack, target)
}

fn check_descriptor(descriptor: &Descriptor, stack: u32, target: &Target) -> Result<(), Fault> {
    let refuse = |why: String| Err(Fault::Descriptor(why));
    let enabled =
        UserSgprs::ORDER.iter().filter(|(kind, _)| descriptor.enables(*kind)).map(|(_, dwords)| dwords);
    let enabled = (enabled.sum::<u32>() + descriptor.preload.0).min(MAX_USER_SGPRS);
    if enabled > descriptor.user_sgprs() || descriptor.user_sgprs() > MAX_USER_SGPRS {
        let count = descriptor.user_sgprs();
        return refuse(format!("user_sgpr_count is {count}, but the enabled user SGPRs are {enabled}"));
    }
    let scratch = (u64::from(descriptor.private_segment) + u64::from(stack)) * u64::from(target.wave_size);
    if scratch > MAX_SCRATCH {
        return refuse(format!("{scratch} bytes of scratch for a wave"));
    }
    // The emulator does not raise exceptions. It therefore refuses a kernel whose descriptor enables them, as
    // it refuses an `s_setreg` that does.
    if descriptor.exceptions() != 0 {
        return refuse("floating-point exceptions do not trap".into());
    }
    if descriptor.item_ids() > 2 {
        return refuse("enable_vgpr_workitem_id is 3".into());
    }
    Ok(())
}

impl Launch<'_> {
    /// Returns the number of groups in each dimension. A partial group at the end counts as a group.
    pub(crate) fn groups(&self) -> [u64; 3] {
        std::array::from_fn(|dim| u64::from(self.grid[dim]).div_ceil(u64::from(self.group[dim])))
    }

    /// Returns about how many bytes of host memory a group takes.
    pub(crate) fn group_bytes(&self) -> u64 {
        let items: u64 = self.group.iter().map(|&n| u64::from(n)).product();
        let lanes = u64::from(self.target.wave_size);
        let Registers { vgprs, agprs, .. } = self.kernel.descriptor.registers(self.target.target);
        let registers = if agprs == 0 { vgprs } else { 256 + agprs };
        let wave = registers as u64 * 256 + u64::from(self.private_bytes) * lanes + 2048;
        items.div_ceil(lanes) * wave + u64::from(self.lds_bytes)
    }

    /// Returns the id of the group with this number.
    pub(crate) fn group_id(&self, number: u64) -> [u32; 3] {
        let counts = self.groups();
        let id = [number % counts[0], number / counts[0] % counts[1], number / counts[0] / counts[1]];
        id.map(|id| id as u32)
    }

    /// Lets the host answer the host calls of waves, for which these waves wait.
    pub(crate) fn serve_host(&self) -> Result<(), Trap> {
        let Some(hostcall) = self.hostcall else { return Ok(()) };
        hostcall.lock().unwrap_or_else(PoisonError::into_inner).serve(self.memory).map_err(Trap::Hostcall)
    }

    /// Returns the maximum number of groups that may run at the same time, or `None` if there is no limit.
    /// There is a limit only for a kernel that makes host calls: each wave may hold a packet of the host call
    /// buffer, and the buffer has a fixed number of packets.
    pub(crate) fn max_groups(&self) -> Option<u64> {
        let waves = self.group.iter().product::<u32>().div_ceil(self.target.wave_size);
        let packets =
            |hostcall: &Mutex<Hostcall>| hostcall.lock().unwrap_or_else(PoisonError::into_inner).packets();
        self.hostcall.map(|hostcall| (packets(hostcall) / u64::from(waves)).max(1))
    }

    /// Creates the part of strict mode's state that belongs to the whole dispatch. Returns `None` in other
    /// modes.
    pub(crate) fn shadow(&self, mode: Mode) -> Option<strict::Shared> {
        let Mode::Strict { keep_going } = mode else { return None };
        let items: u32 = self.group.iter().product();
        let shape = strict::Shape {
            target: self.target.target,
            xnack: self.target.xnack,
            groups: self.groups().iter().product(),
            waves_per_group: items.div_ceil(self.target.wave_size),
            split_group: self.splits_group(),
            keep_going,
            level: self.level,
            rules: strict::CallRules::new(&self.target, self.convention),
            functions: Arc::clone(&self.functions),
            scramble: self.scramble.clone(),
            restricts: strict::Restricts::new(&self.kernel.args, self.segments.kernarg, self.memory),
            reading: Arc::clone(&self.reading),
        };
        let marks = strict::Marks::new(self.atomics, self.code);
        Some(strict::Shared::new(self.memory, self.code, marks, Arc::clone(&self.names), shape))
    }

    /// Returns whether the waves of a group may use different first-level caches. They may in WGP mode of
    /// GFX10, and in threadgroup split mode of gfx90a (LLVM's AMDGPU guide, seed 000, lines 3055 and 3290).
    fn splits_group(&self) -> bool {
        let (target, descriptor) = (self.target.target, &self.kernel.descriptor);
        let in_wgp = target.arch.device.workgroup_processors && descriptor.wgp_mode();
        in_wgp || target.has(Feature::TGSPLIT) && descriptor.splits_groups()
    }

    /// Returns whether the run continues when strict mode has found an error.
    pub(crate) fn keeps_going(&self) -> bool {
        self.strict.as_ref().is_some_and(|shared| shared.keep_going)
    }

    /// Returns where a work-item runs: its work-group, the number of its wave, and its lane. `item` is the
    /// global id. Returns `None` if the work-item is outside the grid.
    pub(crate) fn place_of_item(&self, item: [u32; 3]) -> Option<([u32; 3], u32, u32)> {
        if (0..3).any(|dim| item[dim] >= self.grid[dim]) {
            return None;
        }
        let group: [u32; 3] = std::array::from_fn(|dim| item[dim] / self.group[dim].max(1));
        let own: [u32; 3] = std::array::from_fn(|dim| item[dim] % self.group[dim].max(1));
        let [x, y, _] = self.group_size(group);
        let at = own[0] + x * (own[1] + y * own[2]);
        Some((group, at / self.target.wave_size, at % self.target.wave_size))
    }

    pub(crate) fn location(
        &self,
        range: u32,
        pc: u32,
        group: [u32; 3],
        wave: u32,
        lane: Option<u32>,
    ) -> Location {
        let code = self.code.get(range as usize);
        let offset = code.map_or(0, |code| code.file_base + u64::from(pc) * 4);
        let source = self.lines.of_address(offset);
        let item = lane.map(|lane| {
            let at = wave * self.target.wave_size + lane;
            let [x, y, _] = self.group_size(group);
            let own = [at % x, at / x % y, at / x / y];
            std::array::from_fn(|dim| group[dim] * self.group[dim] + own[dim])
        });
        Location {
            pc: code.map_or(0, |code| code.base + u64::from(pc) * 4),
            offset,
            text: code.map_or_else(String::new, |code| code.text(self.target.target, pc)),
            kernel: self.kernel.name.clone(),
            group,
            wave,
            lane,
            item,
            source,
            calls: Vec::new(),
        }
    }

    /// Adds the chain of active calls to a location.
    pub(crate) fn with_calls(&self, at: Location, chain: &[strict::Link]) -> Location {
        let address = |place| self.address_of(place);
        let source = |address| self.lines.of_address(address);
        let calls: Vec<Called> =
            chain.iter().map(|link| link.called(&self.functions, address, source)).collect();
        Location { calls, ..at }
    }

    /// Returns the file address of the instruction at a code position. A code position is the number that
    /// strict mode gives to an instruction.
    pub(crate) fn address_of(&self, place: u32) -> u64 {
        let (range, pc) = strict::split_place(place);
        self.code.get(range as usize).map_or(0, |code| code.file_base + u64::from(pc) * 4)
    }

    /// Returns the number of work-items of a group in each dimension. The last group is smaller if the grid
    /// is not a multiple of the group size.
    fn group_size(&self, id: [u32; 3]) -> [u32; 3] {
        std::array::from_fn(|dim| self.group[dim].min(self.grid[dim] - id[dim] * self.group[dim]))
    }

    /// Returns the mask of lanes of a wave that have a work-item.
    pub(crate) fn launched(&self, group: [u32; 3], wave: u32) -> u64 {
        let items: u32 = self.group_size(group).iter().product();
        u64::MAX >> (64 - self.lanes_of(items, wave).max(1))
    }

    /// Returns how many lanes of a wave have a work-item, if the group has `items` work-items. `wave` is the
    /// number of the wave in the group.
    fn lanes_of(&self, items: u32, wave: u32) -> u32 {
        items.saturating_sub(wave * self.target.wave_size).min(self.target.wave_size)
    }

    /// Creates the group with the given number. Its waves are at the entry point of the kernel. Reuses the
    /// memory of `spare`, which is a group that has ended.
    pub(crate) fn group(&self, number: u64, spare: Option<Group>) -> Group {
        let id = self.group_id(number);
        let size = self.group_size(id);
        let count = (size[0] * size[1] * size[2]).div_ceil(self.target.wave_size);
        let (mut waves, mut lds) = spare.map_or_else(Default::default, |group| (group.waves, group.lds));
        if size == self.group && self.group_bytes() <= MAX_PATTERN {
            let pattern = self.pattern.get_or_init(|| (0..count).map(|wave| self.wave(wave, size)).collect());
            waves.truncate(pattern.len());
            waves.iter_mut().zip(pattern).for_each(|(wave, begin)| wave.begin_as(begin));
            waves.extend_from_slice(pattern.get(waves.len()..).unwrap_or_default());
        } else {
            waves = (0..count).map(|wave| self.wave(wave, size)).collect();
        }
        for wave in &mut waves {
            wave.group_number = number;
            self.set_group_ids(wave, id);
        }
        let lds_dwords = self.lds_bytes.div_ceil(4) as usize;
        lds.clear();
        lds.resize(lds_dwords, POISON);
        let shadow =
            self.strict.as_ref().map(|shared| Box::new(GroupShadow::new(shared, number, &waves, lds_dwords)));
        Group {
            id,
            number,
            turns: 0,
            waits: 0,
            progress_checks: Vec::new(),
            next: 0,
            waves,
            shadow,
            lds,
            lds_bytes: self.lds_bytes,
            counts: [0; 6],
            executed: 0,
        }
    }

    /// Creates wave `number` of a group of the given size. The caller fills in the ids of the group later.
    fn wave(&self, number: u32, size: [u32; 3]) -> Wave {
        let descriptor = &self.kernel.descriptor;
        let mut wave = Wave::new(number, descriptor, self.target.target);
        (wave.range, wave.pc) = self.entry;
        wave.group_waves = (size[0] * size[1] * size[2]).div_ceil(self.target.wave_size);
        wave.sgpr = [POISON; 256];
        wave.vgpr.fill([POISON; 64]);
        let items = size[0] * size[1] * size[2];
        let lanes = self.target.wave_size;
        let active = self.lanes_of(items, number);
        // A wave of 32 lanes must also start with a cleared upper half of EXEC, because ROCm's device library
        // passes all 64 bits of EXEC to the host.
        wave.sgpr[reg::EXEC..][..2].fill(0);
        wave.set_exec(u64::MAX >> (64 - active));
        for lane in 0..active {
            let item = number * lanes + lane;
            let ids = [item % size[0], item / size[0] % size[1], item / size[0] / size[1]];
            let wanted = ids.into_iter().enumerate().take(descriptor.item_ids() as usize + 1);
            if self.target.has(Feature::PACKED_WORK_ITEM_IDS) {
                // On this processor, the three ids of a work-item share one register, with ten bits each
                // (LLVM's AMDGPU guide, seed 000, line 232, feature `packed-tid`).
                wave.vgpr[0][lane as usize] = wanted.fold(0, |ids, (at, value)| ids | value << (10 * at));
                continue;
            }
            for (at, value) in wanted {
                wave.vgpr[at][lane as usize] = value;
            }
        }
        // The scratch of every wave, also that of the first one, starts above the scratch base of the
        // dispatch. Code that forgets to add the wave offset therefore accesses an address that belongs to no
        // wave, and faults.
        let wave_bytes = (self.private_bytes * lanes).next_multiple_of(1024);
        let wave_offset = wave_bytes * (number + 1);
        wave.scratch_base = scratch::queue_base(self.target.target) + u64::from(wave_offset);
        wave.scratch = vec![POISON; self.private_bytes.div_ceil(4) as usize * lanes as usize];
        self.set_sgprs(&mut wave, size, number, wave_offset);
        wave
    }

    fn set_sgprs(&self, wave: &mut Wave, size: [u32; 3], number: u32, wave_offset: u32) {
        let descriptor = &self.kernel.descriptor;
        let mut values = Vec::with_capacity(24);
        for (kind, dwords) in UserSgprs::ORDER {
            if descriptor.enables(kind) {
                values.extend_from_slice(&self.user_sgprs(kind)[..dwords as usize]);
            }
        }
        values.extend_from_slice(&self.preload);
        values.truncate(MAX_USER_SGPRS as usize);
        // The descriptor may state more user SGPRs than the enabled kinds need. The remaining user SGPRs hold
        // no value. The SGPRs for the ids of the group come after them; `set_group_ids` fills these.
        let ids = descriptor.group_ids().into_iter().filter(|&wanted| wanted).count();
        values.resize(descriptor.user_sgprs() as usize + ids, POISON);
        if descriptor.group_info() {
            let waves = (size[0] * size[1] * size[2]).div_ceil(self.target.wave_size);
            values.push(u32::from(number == 0) << 31 | waves & 63);
        }
        match self.target.arch.addressing.flat_scratch {
            _ if !descriptor.scratch_enabled() => {}
            FlatScratch::Architected => wave.set_pair(wave.flat_scratch.into(), wave.scratch_base),
            _ => values.push(wave_offset),
        }
        wave.sgpr[..values.len()].copy_from_slice(&values);
    }

    /// Writes the ids of the group to the SGPRs that follow the user SGPRs. The descriptor says which of the
    /// ids the kernel asks for.
    fn set_group_ids(&self, wave: &mut Wave, id: [u32; 3]) {
        let descriptor = &self.kernel.descriptor;
        let wanted = descriptor.group_ids();
        let ids = (0..3).filter(|&dim| wanted[dim]).map(|dim| id[dim]);
        let places = wave.sgpr.iter_mut().skip(descriptor.user_sgprs() as usize);
        places.zip(ids).for_each(|(place, id)| *place = id);
    }

    fn user_sgprs(&self, kind: UserSgprs) -> [u32; 4] {
        let pair = |value: u64| [value as u32, (value >> 32) as u32, 0, 0];
        match kind {
            UserSgprs::PrivateSegmentBuffer => scratch::resource(self.target.target),
            UserSgprs::DispatchPtr => pair(self.segments.packet),
            UserSgprs::QueuePtr => pair(self.segments.queue),
            UserSgprs::KernargPtr => pair(self.segments.kernarg),
            UserSgprs::DispatchId => pair(self.number),
            UserSgprs::FlatScratchInit => {
                let [low, high] = scratch::flat_init(self.target.target, self.private_bytes);
                [low, high, 0, 0]
            }
            UserSgprs::PrivateSegmentSize => [self.private_bytes, 0, 0, 0],
            UserSgprs::GroupCountX => [self.groups()[0] as u32, 0, 0, 0],
            UserSgprs::GroupCountY => [self.groups()[1] as u32, 0, 0, 0],
            UserSgprs::GroupCountZ => [self.groups()[2] as u32, 0, 0, 0],
        }
    }
}
