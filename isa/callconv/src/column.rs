//! The facts, a column each.
//!
//! # Source
//! The guide: seed 000, line 4089. LLVM: its output for functions that say one thing each; how, stands with each fact in
//! docs/calling-convention.md.

use crate::state::{self, Stack, State, Waits};
use isa::{Generation, Subtarget};
use std::ops::RangeInclusive;

/// Whose convention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Convention {
    /// What LLVM 19 does: objects link with its.
    #[default]
    Today,
    /// What LLVM 14 does.
    Llvm14,
    /// What the guide says.
    Guide,
}

impl Convention {
    /// Each.
    pub const ALL: [Convention; 3] = [Convention::Today, Convention::Llvm14, Convention::Guide];

    /// `today`, `llvm14`, `guide`.
    pub const fn name(self) -> &'static str {
        match self {
            Convention::Today => "today",
            Convention::Llvm14 => "llvm14",
            Convention::Guide => "guide",
        }
    }
}

/// Which structs go as values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structs {
    /// Those of at most so many bytes, a field at a time.
    Bytes(u64),
    /// Those that fit into what is left of a number of registers, a field at a time; those of at most `packed` bytes always, as dwords.
    /// Arguments that are no structs count as well.
    Registers {
        /// The number, of all arguments, and of the result.
        number: u64,
        /// Bytes of what goes as dwords.
        packed: u64,
    },
}

/// What becomes of other structs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Large {
    /// The caller copies them and passes the private address, 32 bits.
    ByReference,
    /// They lie among the arguments on the stack.
    OnStack,
}

/// How the stack is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slots {
    /// Each dword by itself: a value may lie half in a register and half on the stack.
    Dwords,
    /// Whole values, at multiples of their size; nothing goes into registers behind one.
    Values,
}

/// Where the address of a result in memory stands among the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SretPlace {
    /// Before all.
    First,
    /// After all but implicit ones.
    Last,
}

/// Where arguments lie that are marked `inreg`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inreg {
    /// In SGPRs.
    Sgprs(u16, u16),
    /// The mark changes nothing.
    Ignored,
    /// Callers and callees of that compiler do not agree: it is not to be used.
    Disagree,
}

/// What a function may get beside its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Implicit {
    /// Work-item ids, ten bits each from bit 0 on: x, y, z.
    WorkitemIds,
    /// Address of the dispatch packet.
    DispatchPtr,
    /// Address of the queue.
    QueuePtr,
    /// Address of the kernel's arguments.
    KernargPtr,
    /// Address of the implicit kernel arguments.
    ImplicitArgPtr,
    /// Number of the dispatch.
    DispatchId,
    /// Id of the work-group in dimension 0, 1 or 2.
    WorkgroupId(u8),
    /// Number of the kernel, by which functions find its LDS.
    LdsKernelId,
}

impl Implicit {
    /// Each, in the guide's order.
    pub const ALL: [Implicit; 10] = [
        Implicit::WorkitemIds,
        Implicit::DispatchPtr,
        Implicit::QueuePtr,
        Implicit::KernargPtr,
        Implicit::DispatchId,
        Implicit::WorkgroupId(0),
        Implicit::WorkgroupId(1),
        Implicit::WorkgroupId(2),
        Implicit::ImplicitArgPtr,
        Implicit::LdsKernelId,
    ];

    /// Dwords.
    pub const fn dwords(self) -> u16 {
        match self {
            Implicit::WorkitemIds | Implicit::WorkgroupId(_) | Implicit::LdsKernelId => 1,
            _ => 2,
        }
    }

    /// `dispatch pointer`.
    pub const fn name(self) -> &'static str {
        match self {
            Implicit::WorkitemIds => "work-item ids",
            Implicit::DispatchPtr => "dispatch pointer",
            Implicit::QueuePtr => "queue pointer",
            Implicit::KernargPtr => "kernel argument pointer",
            Implicit::ImplicitArgPtr => "implicit argument pointer",
            Implicit::DispatchId => "dispatch id",
            Implicit::WorkgroupId(0) => "work-group id x",
            Implicit::WorkgroupId(1) => "work-group id y",
            Implicit::WorkgroupId(_) => "work-group id z",
            Implicit::LdsKernelId => "LDS kernel id",
        }
    }
}

/// A column of facts. Registers are numbers; ranges include both ends.
#[derive(Clone, Debug)]
pub struct Column {
    /// VGPRs of arguments.
    pub argument_vgprs: RangeInclusive<u16>,
    /// VGPRs of results.
    pub result_vgprs: RangeInclusive<u16>,
    /// Arguments marked `inreg`.
    pub inreg: Inreg,
    /// Which structs go as values.
    pub structs: Structs,
    /// Where other structs lie as arguments. Results that do not go as values are stored by the callee through an address.
    pub large: Large,
    /// How the stack is divided.
    pub slots: Slots,
    /// Where the address of a result stands.
    pub sret: SretPlace,
    /// Whether that is a flat address of 64 bits for C and C++; it is a private one of 32 else.
    pub sret_flat: bool,
    /// Implicit arguments, each with its register if that is fixed; otherwise those that are used follow each other and the
    /// arguments. SGPRs but for the work-item ids.
    pub implicit: &'static [(Implicit, Option<u16>)],
    /// VGPRs that a call preserves, for a processor with 256.
    pub preserved_vgprs: &'static [(u16, u16)],
    /// SGPRs that a call preserves, of those that may hold anything; for the others, see `states`.
    pub preserved_sgprs: &'static [(u16, u16)],
    /// AGPRs that a call preserves on gfx90a. On gfx908 it preserves none, and the guide does not know them.
    pub preserved_agprs: &'static [(u16, u16)],
    /// What variable arguments are passed as: an address in a pair of VGPRs (flat, 64 bits) of them all in order, at multiples of 4 bytes;
    /// or not at all.
    pub variadic: bool,
    /// Whether callees take all eight bits for a `bool` that is alone in a struct and lies on the stack; elsewhere they take the lowest.
    pub bool_byte_on_stack: bool,
    /// Whether structs with pointers to the global data share have a form. Clang gives those 8 bytes in memory, LLVM 4.
    pub region_in_memory: bool,
    /// Whether there is a form for `bf16`.
    pub bf16: bool,
    /// Registers that hold no arguments, on all processors: [`state::states`] has those of one.
    pub states: &'static [State],
    /// The stack.
    pub stack: Stack,
    /// Waits.
    pub waits: Waits,
}

/// The return address.
pub const RETURN_ADDRESS: u16 = 30;

const FIXED: &[(Implicit, Option<u16>)] = &[
    (Implicit::DispatchPtr, Some(4)),
    (Implicit::QueuePtr, Some(6)),
    (Implicit::ImplicitArgPtr, Some(8)),
    (Implicit::DispatchId, Some(10)),
    (Implicit::WorkgroupId(0), Some(12)),
    (Implicit::WorkgroupId(1), Some(13)),
    (Implicit::WorkgroupId(2), Some(14)),
    (Implicit::LdsKernelId, Some(15)),
    (Implicit::WorkitemIds, Some(31)),
];
/// LLVM 14 has no LDS kernel id.
const FIXED_14: &[(Implicit, Option<u16>)] = &[
    (Implicit::DispatchPtr, Some(4)),
    (Implicit::QueuePtr, Some(6)),
    (Implicit::ImplicitArgPtr, Some(8)),
    (Implicit::DispatchId, Some(10)),
    (Implicit::WorkgroupId(0), Some(12)),
    (Implicit::WorkgroupId(1), Some(13)),
    (Implicit::WorkgroupId(2), Some(14)),
    (Implicit::WorkitemIds, Some(31)),
];
/// Seed 000, "The used implicit arguments are appended".
const APPENDED: &[(Implicit, Option<u16>)] = &[
    (Implicit::WorkitemIds, None),
    (Implicit::DispatchPtr, None),
    (Implicit::QueuePtr, None),
    (Implicit::KernargPtr, None),
    (Implicit::DispatchId, None),
    (Implicit::WorkgroupId(0), None),
    (Implicit::WorkgroupId(1), None),
    (Implicit::WorkgroupId(2), None),
    (Implicit::ImplicitArgPtr, None),
];
/// From v40 on, eight preserved and eight not, by turns.
const EIGHTS: &[(u16, u16)] = &[
    (40, 47),
    (56, 63),
    (72, 79),
    (88, 95),
    (104, 111),
    (120, 127),
    (136, 143),
    (152, 159),
    (168, 175),
    (184, 191),
    (200, 207),
    (216, 223),
    (232, 239),
    (248, 255),
];

static TODAY: Column = Column {
    argument_vgprs: 0..=30,
    result_vgprs: 0..=31,
    inreg: Inreg::Disagree,
    structs: Structs::Registers { number: 16, packed: 8 },
    large: Large::ByReference,
    slots: Slots::Dwords,
    sret: SretPlace::First,
    sret_flat: true,
    implicit: FIXED,
    preserved_vgprs: EIGHTS,
    preserved_sgprs: &[(30, 105)],
    preserved_agprs: &[(32, 255)],
    variadic: true,
    bool_byte_on_stack: false,
    region_in_memory: false,
    bf16: true,
    states: &state::TODAY,
    stack: state::LLVM_STACK,
    waits: state::TODAY_WAITS,
};

static LLVM_14: Column = Column {
    argument_vgprs: 0..=30,
    result_vgprs: 0..=31,
    inreg: Inreg::Ignored,
    structs: Structs::Registers { number: 16, packed: 8 },
    large: Large::OnStack,
    slots: Slots::Dwords,
    sret: SretPlace::First,
    sret_flat: true,
    implicit: FIXED_14,
    preserved_vgprs: EIGHTS,
    preserved_sgprs: &[(32, 105)],
    preserved_agprs: &[(32, 255)],
    variadic: false,
    bool_byte_on_stack: true,
    region_in_memory: false,
    bf16: false,
    states: &state::LLVM_14,
    stack: state::LLVM_STACK,
    waits: state::LLVM_14_WAITS,
};

static GUIDE: Column = Column {
    argument_vgprs: 0..=31,
    result_vgprs: 0..=31,
    inreg: Inreg::Sgprs(4, 29),
    structs: Structs::Bytes(16),
    large: Large::ByReference,
    slots: Slots::Values,
    sret: SretPlace::Last,
    sret_flat: false,
    implicit: APPENDED,
    preserved_vgprs: &[(32, 255)],
    preserved_sgprs: &[(32, 105)],
    preserved_agprs: &[],
    variadic: false,
    bool_byte_on_stack: false,
    region_in_memory: true,
    bf16: true,
    states: &state::GUIDE,
    stack: state::GUIDE_STACK,
    waits: state::GUIDE_WAITS,
};

/// The facts of a convention.
pub fn column(convention: Convention) -> &'static Column {
    match convention {
        Convention::Today => &TODAY,
        Convention::Llvm14 => &LLVM_14,
        Convention::Guide => &GUIDE,
    }
}

/// Whether registers hold halves as halves. Where they do not (GFX6, GFX7), an `f16` is passed as the `f32` of the same value.
pub fn has_16_bit(target: &Subtarget) -> bool {
    target.generation >= Generation::Gfx8
}
