//! What functions find in registers that hold no arguments, what a call leaves in them; the stack; waits.

use crate::column::{Convention, RETURN_ADDRESS, column};
use Source::Guide;
use isa::{Counter, Feature, Generation, Subtarget};
use std::ops::RangeInclusive;

/// How a fact is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The line of seed 000 (the guide) that says it.
    Guide(u32),
    /// The guide does not say it: its column has what LLVM does today, or nothing.
    Silent,
    /// The test of `tests/llvm` that finds it in LLVM's output.
    Llvm(&'static str),
}

/// A register, or a part of the state, that holds no argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// `s[0:3]`.
    PrivateSegmentBuffer,
    /// `s[30:31]`.
    ReturnAddress,
    /// The stack pointer.
    StackPointer,
    /// The frame pointer.
    FramePointer,
    /// The base pointer: where the stack pointer was on entry, in functions that align their frame and have arguments on the stack.
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
    /// All VGPRs in the lanes that EXEC leaves out.
    InactiveLanes,
}

impl Subject {
    /// What it is called.
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

    /// Its registers in assembly; for the stack's, in the convention.
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
pub const SCRATCH_BUFFER: RangeInclusive<u16> = 0..=3;

/// What a function finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Nothing that it may rely on.
    Nothing,
    /// The descriptor of the wave's scratch memory: swizzled, elements of 4 bytes, a stride of the wave's lanes.
    ScratchBuffer,
    /// The address to return to.
    ReturnAddress,
    /// Where the first argument on the stack lies, in bytes of the wave.
    StackEnd,
    /// The caller's own, to be given back.
    Callers,
    /// What FLAT instructions need for private memory, as the kernel has set it up.
    FlatScratch,
    /// Bytes of LDS.
    LdsSize,
    /// The lanes that call.
    ActiveLanes,
    /// What the kernel descriptor asks for; a caller that has changed it changes it back.
    KernelsMode,
    /// The guide says "TBD".
    Open,
}

impl Entry {
    /// In words.
    pub const fn text(self) -> &'static str {
        match self {
            Entry::Nothing => "nothing to rely on",
            Entry::ScratchBuffer => "descriptor of the wave's scratch memory",
            Entry::ReturnAddress => "where to return",
            Entry::StackEnd => "first argument on the stack, in bytes of the wave",
            Entry::Callers => "the caller's",
            Entry::FlatScratch => "scratch memory, for FLAT instructions",
            Entry::LdsSize => "size of LDS in bytes",
            Entry::ActiveLanes => "the lanes that call",
            Entry::KernelsMode => "as the kernel's descriptor says",
            Entry::Open => "to be decided",
        }
    }
}

/// What a call leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// What was there.
    Same,
    /// Anything.
    Lost,
    /// Callees leave anything, callers rely on what was there: a callee has to keep it, a caller must not rely on it.
    Disputed,
    /// The guide says "TBD".
    Open,
}

impl After {
    /// In words.
    pub const fn text(self) -> &'static str {
        match self {
            After::Same => "preserved",
            After::Lost => "clobbered",
            After::Disputed => "clobbered by callees, relied on by callers",
            After::Open => "to be decided",
        }
    }
}

/// Processors that a fact is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// All.
    All,
    /// GFX6, GFX7, GFX8: LDS instructions ask for M0.
    UntilGfx8,
    /// GFX9 and GFX10.
    FromGfx9,
    /// Those with FLAT instructions: all but GFX6.
    Flat,
}

impl On {
    /// Whether a processor is one of them.
    pub fn has(self, target: &Subtarget) -> bool {
        match self {
            On::All => true,
            On::UntilGfx8 => target.generation <= Generation::Gfx8,
            On::FromGfx9 => target.generation > Generation::Gfx8,
            On::Flat => target.has(Feature::FLAT),
        }
    }
}

/// What is known of a part of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The part.
    pub subject: Subject,
    /// Processors.
    pub on: On,
    /// What a function finds there.
    pub entry: Entry,
    /// What a call leaves there.
    pub after: After,
    /// How it is known.
    pub source: Source,
}

/// The facts of state of a processor.
pub fn states(convention: Convention, target: &Subtarget) -> impl Iterator<Item = &'static State> + use<> {
    let target = *target;
    column(convention).states.iter().filter(move |state| state.on.has(&target))
}

/// The stack. It grows to higher addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack {
    /// SGPR that points to its end. It holds an unswizzled offset: a lane's offset times the wave's lanes.
    pub pointer: u16,
    /// SGPR of the frame pointer, in functions that need one. The same unit.
    pub frame: u16,
    /// SGPR of the base pointer; the guide knows none.
    pub base: Option<u16>,
    /// Bytes of a lane that the stack pointer is aligned to at each call.
    pub align: u32,
    /// How it is known.
    pub source: Source,
}

impl Stack {
    /// What is added to the stack pointer for so many bytes of a lane.
    pub fn unswizzled(&self, bytes: u32, target: &Subtarget) -> u64 {
        u64::from(bytes) * u64::from(target.wave_size)
    }
}

/// Who waits for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// Counters that are 0 when a function begins: its callers wait.
    pub before_call: &'static [Counter],
    /// Counters that a function waits for before it does anything.
    pub at_entry: &'static [Counter],
    /// Counters that it waits for before it returns, as far as it has raised them.
    pub at_return: &'static [Counter],
}

impl Waits {
    /// Those of a list that a processor has.
    pub fn of(list: &'static [Counter], target: &Subtarget) -> impl Iterator<Item = Counter> + use<> {
        let target = target.target;
        list.iter().copied().filter(move |counter| Counter::max(*counter, target) > 0)
    }
}

/// Ranges of registers, both ends included.
pub type Ranges = Vec<(u16, u16)>;

/// Registers that a call preserves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preserved {
    /// VGPRs.
    pub vgprs: Ranges,
    /// SGPRs; those of [`Subject`]s among them.
    pub sgprs: Ranges,
    /// AGPRs.
    pub agprs: Ranges,
}

/// Registers of a processor that a call preserves.
pub fn preserved(convention: Convention, target: &Subtarget) -> Preserved {
    let column = column(convention);
    let last = (target.addressable_sgprs as u16).saturating_sub(1);
    let cut = |&(from, to): &(u16, u16)| (from <= last).then(|| (from, to.min(last)));
    let agprs = if target.has(Feature::GFX90A) { column.preserved_agprs } else { &[] };
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
        state(
            Subject::PrivateSegmentBuffer,
            Entry::ScratchBuffer,
            After::Same,
            llvm("private_segment_buffer"),
        ),
        state(Subject::ReturnAddress, Entry::ReturnAddress, return_address, llvm("preserved_registers")),
        state(Subject::StackPointer, Entry::StackEnd, After::Same, llvm("stack_pointer")),
        state(Subject::FramePointer, Entry::Callers, After::Same, llvm("frame_pointer")),
        state(Subject::BasePointer, Entry::Callers, After::Same, llvm("base_pointer")),
        on(On::Flat, state(Subject::FlatScratch, Entry::FlatScratch, After::Same, llvm("flat_scratch"))),
        on(On::UntilGfx8, state(Subject::M0, Entry::Nothing, After::Disputed, llvm("m0"))),
        on(On::FromGfx9, state(Subject::M0, Entry::Nothing, After::Lost, llvm("m0"))),
        state(Subject::Exec, Entry::ActiveLanes, After::Same, llvm("exec")),
        state(Subject::Vcc, Entry::Nothing, After::Lost, llvm("vcc_and_scc")),
        state(Subject::Scc, Entry::Nothing, After::Lost, llvm("vcc_and_scc")),
        state(Subject::Mode, Entry::KernelsMode, After::Same, llvm("mode")),
        state(Subject::InactiveLanes, Entry::Callers, After::Same, llvm("inactive_lanes")),
    ]
}

pub(crate) static TODAY: [State; 13] = llvm_states(After::Same);
/// It may return by another pair than the one that has the address.
pub(crate) static LLVM_14: [State; 13] = llvm_states(After::Lost);
/// It says nothing of a base pointer, and of lanes.
pub(crate) static GUIDE: [State; 11] = [
    state(Subject::PrivateSegmentBuffer, Entry::ScratchBuffer, After::Same, Guide(4097)),
    state(Subject::ReturnAddress, Entry::ReturnAddress, After::Lost, Guide(4111)),
    state(Subject::StackPointer, Entry::StackEnd, After::Same, Guide(4113)),
    state(Subject::FramePointer, Entry::Callers, After::Same, Guide(4151)),
    on(On::Flat, state(Subject::FlatScratch, Entry::FlatScratch, After::Same, Guide(4101))),
    on(On::UntilGfx8, state(Subject::M0, Entry::LdsSize, After::Same, Guide(4103))),
    on(On::FromGfx9, state(Subject::M0, Entry::Nothing, After::Lost, Guide(4157))),
    state(Subject::Exec, Entry::ActiveLanes, After::Same, Guide(4105)),
    state(Subject::Vcc, Entry::Nothing, After::Lost, Guide(4157)),
    state(Subject::Scc, Entry::Nothing, After::Lost, Guide(4157)),
    state(Subject::Mode, Entry::Open, After::Open, Guide(4107)),
];

/// LLVM's stack.
pub(crate) const LLVM_STACK: Stack =
    Stack { pointer: 32, frame: 33, base: Some(34), align: 16, source: llvm("stack_pointer") };
/// The guide's.
pub(crate) const GUIDE_STACK: Stack =
    Stack { pointer: 32, frame: 33, base: None, align: 16, source: Guide(4123) };

/// On GFX10 stores may be in flight when a function begins, and when it returns.
pub(crate) const TODAY_WAITS: Waits = Waits {
    before_call: &[],
    at_entry: &[Counter::Vm, Counter::Exp, Counter::Lgkm],
    at_return: &[Counter::Vm, Counter::Exp, Counter::Lgkm],
};
pub(crate) const LLVM_14_WAITS: Waits =
    Waits { before_call: &[], at_entry: &Counter::ALL, at_return: &Counter::ALL };
/// "Any necessary waitcnt has been performed", on entry (line 4137) and on exit (line 4158).
pub(crate) const GUIDE_WAITS: Waits =
    Waits { before_call: &Counter::ALL, at_entry: &[], at_return: &Counter::ALL };
