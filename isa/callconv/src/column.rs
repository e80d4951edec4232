//! The facts of the calling conventions as a table. Each convention is a column (a [`Column`] constant), and
//! each field of [`Column`] is a fact.
//!
//! # Source
//!
//! The convention of LLVM's AMDGPU guide is in seed 000, line 4089. The conventions of LLVM's releases are
//! found from the output of LLVM for functions that each show one fact; docs/calling-convention.md says for
//! each fact how it was found.

use crate::state::{self, Stack, State, Waits};
use isa::{Subtarget, op};
use std::ops::RangeInclusive;

/// Calling convention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Convention {
    /// The convention of LLVM 19. Objects that use it can be linked with objects that LLVM has compiled.
    #[default]
    Today,
    /// The convention of LLVM 14.
    Llvm14,
    /// The convention as the guide describes it.
    Guide,
}

impl Convention {
    /// All conventions.
    pub const ALL: [Convention; 3] = [Convention::Today, Convention::Llvm14, Convention::Guide];

    /// Returns the name: `today`, `llvm14`, `guide`.
    pub const fn name(self) -> &'static str {
        match self {
            Convention::Today => "today",
            Convention::Llvm14 => "llvm14",
            Convention::Guide => "guide",
        }
    }
}

/// Which structs are passed as values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structs {
    /// A struct of at most this number of bytes is passed field by field; a larger struct is passed in
    /// memory.
    Bytes(u64),
    /// Structs are passed as values while registers last. A struct of at most `packed` bytes is passed as the
    /// dwords that it has in memory. A larger struct is passed field by field, if it fits in the registers
    /// that are left of `number`. Arguments that are not structs use up these registers too.
    Registers {
        /// Number of registers for all arguments, and for the result.
        number: u64,
        /// Largest size in bytes of a struct that is passed as dwords.
        packed: u64,
    },
}

/// How other structs are passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Large {
    /// The caller makes a copy in private memory and passes the copy's private address, which has 32 bits.
    ByReference,
    /// Among the arguments on the stack.
    OnStack,
}

/// How values are divided between registers and the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slots {
    /// Each dword of an argument is placed separately, so that the first half of a value may be in a register
    /// and the second half on the stack.
    Dwords,
    /// Each argument is placed as a whole. On the stack, it is at a multiple of its size. After the first
    /// argument on the stack, all further arguments are on the stack too.
    Values,
}

/// Where the caller passes the address of the memory in which the callee stores its result, relative to the
/// other arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SretPlace {
    /// Before all arguments.
    First,
    /// After all arguments except implicit arguments.
    Last,
}

/// How arguments that are marked `inreg` are passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inreg {
    /// In that range of SGPRs.
    Sgprs(u16, u16),
    /// The mark has no effect.
    Ignored,
    /// Code that this convention's compiler generates is wrong for `inreg` arguments: caller and callee
    /// disagree about the register. So signatures with `inreg` are refused.
    Disagree,
}

/// What a function may receive in addition to its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Implicit {
    /// Work-item ids x, y, z, ten bits each from bit 0 on.
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
    /// All implicit arguments, in the guide's order.
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

    /// Returns the number of dwords.
    pub const fn dwords(self) -> u16 {
        match self {
            Implicit::WorkitemIds | Implicit::WorkgroupId(_) | Implicit::LdsKernelId => 1,
            _ => 2,
        }
    }

    /// Returns the name, such as `dispatch pointer`.
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

/// All facts of one calling convention. Registers are given by their numbers; ranges of registers include
/// both ends.
#[derive(Clone, Debug)]
pub struct Column {
    /// VGPRs for arguments.
    pub argument_vgprs: RangeInclusive<u16>,
    /// VGPRs for results.
    pub result_vgprs: RangeInclusive<u16>,
    /// How arguments marked `inreg` are passed.
    pub inreg: Inreg,
    /// Which structs are passed as values.
    pub structs: Structs,
    /// How structs are passed as arguments if they are too large to be passed as values. (A result of such a
    /// type is stored by the callee at an address that the caller passes.)
    pub large: Large,
    /// How values are divided between registers and the stack.
    pub slots: Slots,
    /// Position of the address of a result.
    pub sret: SretPlace,
    /// Which kind of address is passed for a result in memory, if the source language is C or C++: a 64-bit
    /// flat address if this is set, and a 32-bit private address otherwise. For other languages, it is always
    /// a private address.
    pub sret_flat: bool,
    /// The implicit arguments of the convention. Some have a number: they are always in the register with
    /// this number. The others come after the ordinary arguments, and only if the function uses them. Of
    /// these, the work-item ids are in a VGPR or on the stack, and all others are in SGPRs.
    pub implicit: &'static [(Implicit, Option<u16>)],
    /// VGPRs that a call preserves, on a processor with 256 VGPRs.
    pub preserved_vgprs: &'static [(u16, u16)],
    /// SGPRs that a call preserves. SGPRs with a fixed purpose, such as the stack pointer, are not in this
    /// list but in `states`.
    pub preserved_sgprs: &'static [(u16, u16)],
    /// AGPRs that a call preserves on gfx90a. On gfx908 a call preserves no AGPRs. The AMDGPU guide does not
    /// mention AGPRs.
    pub preserved_agprs: &'static [(u16, u16)],
    /// Whether functions may have variable arguments. The caller stores such arguments in memory, one after
    /// the other at multiples of 4 bytes, and passes the 64-bit flat address of this memory in a pair of
    /// VGPRs.
    pub variadic: bool,
    /// How callees read a `bool` that is passed on the stack as the only field of a struct. If this is set,
    /// they read all eight bits, and otherwise only the lowest bit.
    pub bool_byte_on_stack: bool,
    /// Whether structs with pointers to the global data share (GDS) can be passed. In LLVM's conventions they
    /// cannot, because clang gives such a pointer 8 bytes in memory and LLVM gives it 4.
    pub region_in_memory: bool,
    /// Whether `bf16` can be passed.
    pub bf16: bool,
    /// Registers that hold no arguments, and other state such as the inactive lanes, with the rules for each
    /// of them. This list is for all processors; [`state::states`] returns the list for one processor.
    pub states: &'static [State],
    /// The stack.
    pub stack: Stack,
    /// Waits.
    pub waits: Waits,
}

/// First SGPR of the return address.
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
/// As `FIXED`; LLVM 14 has no LDS kernel id.
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
/// VGPRs that a call preserves. From v40 on, VGPRs form groups of eight, of which every second one is
/// preserved.
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

impl Column {
    /// Returns whether functions can receive an implicit argument.
    pub fn passes(&self, implicit: Implicit) -> bool {
        self.implicit.iter().any(|&(passed, _)| passed == implicit)
    }
}

/// Returns the facts of a convention.
pub fn column(convention: Convention) -> &'static Column {
    match convention {
        Convention::Today => &TODAY,
        Convention::Llvm14 => &LLVM_14,
        Convention::Guide => &GUIDE,
    }
}

/// Returns whether a processor has 16-bit instructions. If so, an `f16` argument is passed in its own format.
/// On processors without such instructions (GFX6, GFX7) it is passed as the `f32` with the same value.
pub fn has_16_bit(target: &Subtarget) -> bool {
    isa::table::available(op::V_ADD_F16, target)
}
