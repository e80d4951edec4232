//! Facts of the calling conventions that do not concern arguments: what functions find on entry in registers
//! without arguments, what a call leaves in these registers, the stack, and the waits around calls.

use crate::column::{Convention, RETURN_ADDRESS, column};
use Source::Guide;
use isa::{Counter, Feature, Reg, RegRange, Subtarget};
use std::ops::RangeInclusive;

/// How a fact is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The line of seed 000 (the guide) that says it.
    Guide(u32),
    /// The AMDGPU guide does not mention the fact. The guide's column then repeats the fact of LLVM 19, or
    /// leaves it out.
    Silent,
    /// LLVM's output shows the fact. The string is the name of the test in `tests/llvm` that finds it there.
    Llvm(&'static str),
}

/// What a rule is about: a register that holds no argument, or other state such as the inactive lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// Descriptor of scratch memory, `s[0:3]`.
    PrivateSegmentBuffer,
    /// Return address, `s[30:31]`.
    ReturnAddress,
    /// The stack pointer.
    StackPointer,
    /// The frame pointer.
    FramePointer,
    /// The base pointer, which keeps the value that the stack pointer had on entry. A function needs it only
    /// if the function aligns its frame and also has arguments on the stack.
    BasePointer,
    /// FLAT_SCRATCH.
    FlatScratch,
    /// M0.
    M0,
    /// EXEC.
    Exec,
    /// VCC.
    Vcc,
    /// SCC.
    Scc,
    /// MODE: rounding, denormals, exceptions.
    Mode,
    /// All VGPRs, in the lanes that are not active in EXEC.
    InactiveLanes,
}

impl Subject {
    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            Subject::PrivateSegmentBuffer => "private segment buffer",
            Subject::ReturnAddress => "return address",
            Subject::StackPointer => "stack pointer",
            Subject::FramePointer => "frame pointer",
            Subject::BasePointer => "base pointer",
            Subject::FlatScratch => "flat scratch",
            Subject::M0 => "M0",
            Subject::Exec => "EXEC",
            Subject::Vcc => "VCC",
            Subject::Scc => "SCC",
            Subject::Mode => "MODE",
            Subject::InactiveLanes => "inactive lanes",
        }
    }

    /// Returns the names of the registers that hold this part of the state, in assembly syntax. Which
    /// registers hold the stack pointer, frame pointer and base pointer depends on the convention.
    pub fn registers(self, convention: Convention) -> String {
        let stack = &column(convention).stack;
        match self {
            Subject::PrivateSegmentBuffer => {
                format!("s[{}:{}]", SCRATCH_BUFFER.start(), SCRATCH_BUFFER.end())
            }
            Subject::ReturnAddress => format!("s[{RETURN_ADDRESS}:{}]", RETURN_ADDRESS + 1),
            Subject::StackPointer => format!("s{}", stack.pointer),
            Subject::FramePointer => format!("s{}", stack.frame),
            Subject::BasePointer => stack.base.map_or_else(String::new, |reg| format!("s{reg}")),
            Subject::FlatScratch => "flat_scratch".into(),
            Subject::M0 => "m0".into(),
            Subject::Exec => "exec".into(),
            Subject::Vcc => "vcc".into(),
            Subject::Scc => "scc".into(),
            Subject::Mode => "mode".into(),
            Subject::InactiveLanes => "all VGPRs".into(),
        }
    }
}

/// SGPRs of the descriptor of the wave's scratch memory.
const SCRATCH_BUFFER: RangeInclusive<u16> = 0..=3;

/// Returns the registers of the descriptor of the wave's scratch memory. Returns `None` if the processor accesses
/// private memory without a descriptor. These registers are then ordinary ones, which a call clobbers.
pub fn scratch_descriptor(target: &Subtarget) -> Option<RegRange> {
    let (first, last) = (*SCRATCH_BUFFER.start(), *SCRATCH_BUFFER.end());
    let range = RegRange { first: Reg::sgpr(first), len: (last - first + 1) as u8 };
    target.addressing.scratch.has_descriptor().then_some(range)
}

/// What a function finds in a part of the state on entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Nothing on which it may rely.
    Nothing,
    /// The buffer descriptor of the wave's scratch memory. The buffer is swizzled: its elements have 4 bytes,
    /// and its stride is the number of lanes of the wave.
    ScratchBuffer,
    /// The address to return to.
    ReturnAddress,
    /// The stack pointer. Its value is the offset of the first argument on the stack, in the units of
    /// [`Stack::pointer`].
    StackEnd,
    /// The caller's own value, which must be restored.
    Callers,
    /// The value of FLAT_SCRATCH that FLAT instructions need for accesses to private memory. The kernel has
    /// set it.
    FlatScratch,
    /// The size of LDS in bytes.
    LdsSize,
    /// The lanes that call the function.
    ActiveLanes,
    /// The floating-point mode that the kernel descriptor requests. A caller that has changed the mode
    /// restores it before the call.
    KernelsMode,
    /// The guide says "TBD".
    Open,
}

impl Entry {
    /// Returns the description in words.
    pub const fn text(self) -> &'static str {
        match self {
            Entry::Nothing => "nothing to rely on",
            Entry::ScratchBuffer => "descriptor of the wave's scratch memory",
            Entry::ReturnAddress => "where to return",
            Entry::StackEnd => "first argument on the stack",
            Entry::Callers => "the caller's",
            Entry::FlatScratch => "scratch memory, for FLAT instructions",
            Entry::LdsSize => "size of LDS in bytes",
            Entry::ActiveLanes => "the lanes that call",
            Entry::KernelsMode => "as the kernel's descriptor says",
            Entry::Open => "to be decided",
        }
    }
}

/// What a call leaves in a part of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The value from before the call.
    Same,
    /// Any value.
    Lost,
    /// Compilers contradict each other: code of some compilers changes the value in a callee, although code
    /// of others relies on it in a caller. To work with all of them, a callee preserves the value, and a
    /// caller does not rely on it.
    Disputed,
    /// The guide says "TBD".
    Open,
}

impl After {
    /// Returns the description in words.
    pub const fn text(self) -> &'static str {
        match self {
            After::Same => "preserved",
            After::Lost => "clobbered",
            After::Disputed => "clobbered by callees, relied on by callers",
            After::Open => "to be decided",
        }
    }
}

/// Processors to which a fact applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// All processors.
    All,
    /// Processors on which LDS instructions need a limit in M0: GFX6, GFX7, GFX8.
    LdsNeedsM0,
    /// Processors on which LDS instructions do not need M0.
    LdsWithoutM0,
    /// Processors with FLAT instructions: all except GFX6.
    Flat,
    /// Processors on which accesses to private memory need a descriptor.
    ScratchDescriptor,
}

impl On {
    /// Returns whether a processor belongs to the set.
    pub fn has(self, target: &Subtarget) -> bool {
        match self {
            On::All => true,
            On::LdsNeedsM0 => target.addressing.lds_needs_m0,
            On::LdsWithoutM0 => !target.addressing.lds_needs_m0,
            On::Flat => target.has(Feature::FLAT),
            On::ScratchDescriptor => target.addressing.scratch.has_descriptor(),
        }
    }
}

/// A fact about a part of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The part of the state.
    pub subject: Subject,
    /// Processors to which the fact applies.
    pub on: On,
    /// What a function finds there on entry.
    pub entry: Entry,
    /// What a call leaves there.
    pub after: After,
    /// How the fact is known.
    pub source: Source,
}

/// Returns the facts about the state for a processor.
pub fn states(convention: Convention, target: &Subtarget) -> impl Iterator<Item = &'static State> + use<> {
    let target = *target;
    column(convention).states.iter().filter(move |state| state.on.has(&target))
}

/// Facts about the stack, which grows to higher addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack {
    /// Number of the SGPR that holds the stack pointer, which points to the end of the stack. Where private
    /// memory has a descriptor, the stack pointer is an unswizzled offset: the offset for one lane, times the
    /// number of lanes of the wave. Otherwise it is the offset for one lane.
    pub pointer: u16,
    /// Number of the SGPR that holds the frame pointer, in functions that need one. It counts
    /// like the stack pointer.
    pub frame: u16,
    /// SGPR of the base pointer; the guide has none.
    pub base: Option<u16>,
    /// Alignment of the stack at each call: the stack pointer is a multiple of this number of bytes per lane.
    pub align: u32,
    /// How these facts are known.
    pub source: Source,
}

impl Stack {
    /// Converts a number of stack bytes per lane to a distance of the stack pointer.
    pub fn distance(&self, bytes: u32, target: &Subtarget) -> u64 {
        u64::from(bytes) * u64::from(target.stack_scale())
    }
}

/// Which side of a call waits for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// Wait counters for which a caller waits before a call. The callee therefore finds no operation in
    /// flight that these counters count.
    pub before_call: &'static [Counter],
    /// Wait counters for which a function waits on entry, before any other instruction.
    pub at_entry: &'static [Counter],
    /// Wait counters for which a function waits before it returns, if it has issued operations that they
    /// count.
    pub at_return: &'static [Counter],
}

impl Waits {
    /// Returns the counters in a list that a processor has.
    pub fn present_counters(
        list: &'static [Counter],
        target: &Subtarget,
    ) -> impl Iterator<Item = Counter> + use<> {
        let target = target.target;
        list.iter().copied().filter(move |counter| Counter::max(*counter, target) > 0)
    }
}

/// Ranges of registers, including both ends.
pub type Ranges = Vec<(u16, u16)>;

/// Registers that a call preserves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preserved {
    /// VGPRs.
    pub vgprs: Ranges,
    /// SGPRs, including those of [`Subject`]s.
    pub sgprs: Ranges,
    /// AGPRs.
    pub agprs: Ranges,
}

/// Returns the registers of a processor that a call preserves.
pub fn preserved(convention: Convention, target: &Subtarget) -> Preserved {
    let column = column(convention);
    let last = (target.addressable_sgprs as u16).saturating_sub(1);
    let cut = |&(from, to): &(u16, u16)| (from <= last).then(|| (from, to.min(last)));
    let agprs = if target.has(Feature::UNIFIED_VGPRS) { column.preserved_agprs } else { &[] };
    Preserved {
        vgprs: column.preserved_vgprs.to_vec(),
        sgprs: column.preserved_sgprs.iter().filter_map(cut).collect(),
        agprs: agprs.to_vec(),
    }
}

const fn state(subject: Subject, entry: Entry, after: After, source: Source) -> State {
    State { subject, on: On::All, entry, after, source }
}

const fn on(on: On, state: State) -> State {
    State { on, ..state }
}

const fn llvm(name: &'static str) -> Source {
    Source::Llvm(name)
}

const fn llvm_states(return_address: After) -> [State; 13] {
    [
        on(
            On::ScratchDescriptor,
            state(
                Subject::PrivateSegmentBuffer,
                Entry::ScratchBuffer,
                After::Same,
                llvm("private_segment_buffer"),
            ),
        ),
        state(Subject::ReturnAddress, Entry::ReturnAddress, return_address, llvm("preserved_registers")),
        state(Subject::StackPointer, Entry::StackEnd, After::Same, llvm("stack_pointer")),
        state(Subject::FramePointer, Entry::Callers, After::Same, llvm("frame_pointer")),
        state(Subject::BasePointer, Entry::Callers, After::Same, llvm("base_pointer")),
        on(On::Flat, state(Subject::FlatScratch, Entry::FlatScratch, After::Same, llvm("flat_scratch"))),
        on(On::LdsNeedsM0, state(Subject::M0, Entry::Nothing, After::Disputed, llvm("m0"))),
        on(On::LdsWithoutM0, state(Subject::M0, Entry::Nothing, After::Lost, llvm("m0"))),
        state(Subject::Exec, Entry::ActiveLanes, After::Same, llvm("exec")),
        state(Subject::Vcc, Entry::Nothing, After::Lost, llvm("vcc_and_scc")),
        state(Subject::Scc, Entry::Nothing, After::Lost, llvm("vcc_and_scc")),
        state(Subject::Mode, Entry::KernelsMode, After::Same, llvm("mode")),
        state(Subject::InactiveLanes, Entry::Callers, After::Same, llvm("inactive_lanes")),
    ]
}

pub(crate) static TODAY: [State; 13] = llvm_states(After::Same);
/// The state in the convention of LLVM 14. Only the return address differs from LLVM 19. A function of LLVM
/// 14 may return through another register pair than the one in which it received the return address. So after
/// a call, the caller cannot rely on this pair.
pub(crate) static LLVM_14: [State; 13] = llvm_states(After::Lost);
/// The state in the AMDGPU guide's convention. The guide mentions neither the base pointer nor the inactive
/// lanes, so there are no entries for them.
pub(crate) static GUIDE: [State; 11] = [
    on(
        On::ScratchDescriptor,
        state(Subject::PrivateSegmentBuffer, Entry::ScratchBuffer, After::Same, Guide(4097)),
    ),
    state(Subject::ReturnAddress, Entry::ReturnAddress, After::Lost, Guide(4111)),
    state(Subject::StackPointer, Entry::StackEnd, After::Same, Guide(4113)),
    state(Subject::FramePointer, Entry::Callers, After::Same, Guide(4151)),
    on(On::Flat, state(Subject::FlatScratch, Entry::FlatScratch, After::Same, Guide(4101))),
    on(On::LdsNeedsM0, state(Subject::M0, Entry::LdsSize, After::Same, Guide(4103))),
    on(On::LdsWithoutM0, state(Subject::M0, Entry::Nothing, After::Lost, Guide(4157))),
    state(Subject::Exec, Entry::ActiveLanes, After::Same, Guide(4105)),
    state(Subject::Vcc, Entry::Nothing, After::Lost, Guide(4157)),
    state(Subject::Scc, Entry::Nothing, After::Lost, Guide(4157)),
    state(Subject::Mode, Entry::Open, After::Open, Guide(4107)),
];

/// LLVM's stack.
pub(crate) const LLVM_STACK: Stack =
    Stack { pointer: 32, frame: 33, base: Some(34), align: 16, source: llvm("stack_pointer") };
/// The guide's stack.
pub(crate) const GUIDE_STACK: Stack =
    Stack { pointer: 32, frame: 33, base: None, align: 16, source: Guide(4123) };

/// Waits around calls in the convention of LLVM 19. On GFX10, stores (counted by `vscnt`) may be in flight
/// when a function begins and when it returns.
pub(crate) const TODAY_WAITS: Waits = Waits {
    before_call: &[],
    at_entry: &[Counter::Vm, Counter::Exp, Counter::Lgkm],
    at_return: &[Counter::Vm, Counter::Exp, Counter::Lgkm],
};
pub(crate) const LLVM_14_WAITS: Waits =
    Waits { before_call: &[], at_entry: &Counter::ALL, at_return: &Counter::ALL };
/// Waits around calls in the AMDGPU guide's convention. The guide says "any necessary waitcnt has been
/// performed", both on entry (seed 000, line 4137) and on exit (line 4158).
pub(crate) const GUIDE_WAITS: Waits =
    Waits { before_call: &Counter::ALL, at_entry: &[], at_return: &Counter::ALL };
