//! Names of numbers in scalar instructions: hardware registers, messages and the operations of messages. The
//! meaning of each name, and the processors that have it, were determined with LLVM 19's assembler and
//! disassembler.

use crate::target::{Feature, Generation, Target};
use Generation::{Gfx6, Gfx8, Gfx9, Gfx10};

/// A name and its number.
#[derive(Clone, Copy, Debug)]
pub struct Name {
    /// Name in assembly text.
    pub name: &'static str,
    /// Its number in the field.
    pub id: u32,
    from: Generation,
    to: Generation,
    requires: Feature,
    lacks: Feature,
}

impl Name {
    fn is_known_to(&self, target: &Target) -> bool {
        self.from <= target.generation
            && target.generation <= self.to
            && target.has(self.requires)
            && !target.features.intersects(self.lacks)
    }
}

const NONE: Feature = Feature::empty();

const fn name(name: &'static str, id: u32, from: Generation, to: Generation) -> Name {
    Name { name, id, from, to, requires: NONE, lacks: NONE }
}

/// Hardware registers of `s_getreg_b32` and `s_setreg_b32`.
static HW_REGISTERS: &[Name] = &[
    name("HW_REG_MODE", 1, Gfx6, Gfx10),
    name("HW_REG_STATUS", 2, Gfx6, Gfx10),
    name("HW_REG_TRAPSTS", 3, Gfx6, Gfx10),
    name("HW_REG_HW_ID", 4, Gfx6, Gfx9),
    name("HW_REG_GPR_ALLOC", 5, Gfx6, Gfx10),
    name("HW_REG_LDS_ALLOC", 6, Gfx6, Gfx10),
    name("HW_REG_IB_STS", 7, Gfx6, Gfx10),
    name("HW_REG_SH_MEM_BASES", 15, Gfx9, Gfx10),
    name("HW_REG_TBA_LO", 16, Gfx9, Gfx10),
    name("HW_REG_TBA_HI", 17, Gfx9, Gfx10),
    name("HW_REG_TMA_LO", 18, Gfx9, Gfx10),
    name("HW_REG_TMA_HI", 19, Gfx9, Gfx10),
    name("HW_REG_FLAT_SCR_LO", 20, Gfx10, Gfx10),
    name("HW_REG_FLAT_SCR_HI", 21, Gfx10, Gfx10),
    Name { lacks: Feature::GFX10_3, ..name("HW_REG_XNACK_MASK", 22, Gfx10, Gfx10) },
    name("HW_REG_HW_ID1", 23, Gfx10, Gfx10),
    name("HW_REG_HW_ID2", 24, Gfx10, Gfx10),
    // These hardware registers can only be read. For the first register, LLVM 19 also accepts this older
    // name.
    name("HW_REG_HW_ID", 23, Gfx10, Gfx10),
    name("HW_REG_POPS_PACKER", 25, Gfx10, Gfx10),
    Name { requires: Feature::GFX10_3, ..name("HW_REG_SHADER_CYCLES", 29, Gfx10, Gfx10) },
];

/// Messages that `s_sendmsg` can send. Messages 2, 3 and 15 also have an operation.
static MESSAGES: &[Name] = &[
    name("MSG_INTERRUPT", 1, Gfx6, Gfx10),
    name("MSG_GS", 2, Gfx6, Gfx10),
    name("MSG_GS_DONE", 3, Gfx6, Gfx10),
    name("MSG_SAVEWAVE", 4, Gfx8, Gfx10),
    name("MSG_STALL_WAVE_GEN", 5, Gfx9, Gfx10),
    name("MSG_HALT_WAVES", 6, Gfx9, Gfx10),
    name("MSG_ORDERED_PS_DONE", 7, Gfx9, Gfx10),
    name("MSG_EARLY_PRIM_DEALLOC", 8, Gfx9, Gfx10),
    name("MSG_GS_ALLOC_REQ", 9, Gfx9, Gfx10),
    name("MSG_GET_DOORBELL", 10, Gfx9, Gfx10),
    name("MSG_GET_DDID", 11, Gfx10, Gfx10),
    name("MSG_SYSMSG", 15, Gfx6, Gfx10),
];

/// Operations of `MSG_GS` and `MSG_GS_DONE`.
static GS_OPERATIONS: &[Name] = &[
    name("GS_OP_NOP", 0, Gfx6, Gfx10),
    name("GS_OP_CUT", 1, Gfx6, Gfx10),
    name("GS_OP_EMIT", 2, Gfx6, Gfx10),
    name("GS_OP_EMIT_CUT", 3, Gfx6, Gfx10),
];

/// Operations of `MSG_SYSMSG`.
static SYSTEM_OPERATIONS: &[Name] = &[
    name("SYSMSG_OP_ECC_ERR_INTERRUPT", 1, Gfx6, Gfx10),
    name("SYSMSG_OP_REG_RD", 2, Gfx6, Gfx10),
    name("SYSMSG_OP_HOST_TRAP_ACK", 3, Gfx6, Gfx8),
    name("SYSMSG_OP_TTRACE_PC", 4, Gfx6, Gfx10),
];

/// `MSG_GS`
pub const MSG_GS: u32 = 2;
/// `MSG_GS_DONE`
pub const MSG_GS_DONE: u32 = 3;
/// `MSG_SYSMSG`
pub const MSG_SYSMSG: u32 = 15;

fn known(rows: &'static [Name], target: &Target) -> impl Iterator<Item = &'static Name> {
    rows.iter().filter(move |row| row.is_known_to(target))
}

/// Returns the names of hardware registers on a processor.
pub fn hw_registers(target: &Target) -> impl Iterator<Item = &'static Name> {
    known(HW_REGISTERS, target)
}

/// Returns the messages that have names on a processor.
pub fn messages(target: &Target) -> impl Iterator<Item = &'static Name> {
    known(MESSAGES, target)
}

/// Returns the names of the operations that a message can have on a processor.
pub fn operations(target: &Target, message: u32) -> impl Iterator<Item = &'static Name> {
    let rows = match message {
        MSG_GS | MSG_GS_DONE => GS_OPERATIONS,
        MSG_SYSMSG => SYSTEM_OPERATIONS,
        _ => &[],
    };
    known(rows, target)
}

/// A counter of `s_waitcnt_depctr` (GFX10).
#[derive(Clone, Copy, Debug)]
pub struct DependencyCounter {
    /// Name in assembly text.
    pub name: &'static str,
    /// Position of the lowest bit.
    pub shift: u32,
    /// Number of bits.
    pub bits: u32,
    requires: Feature,
}

impl DependencyCounter {
    /// Returns the value that waits for nothing.
    pub const fn max(&self) -> u32 {
        (1 << self.bits) - 1
    }

    /// Returns a mask of the counter's bits in the field.
    pub const fn mask(&self) -> u32 {
        self.max() << self.shift
    }

    /// Returns the counter's value in a field.
    pub const fn get(&self, field: u32) -> u32 {
        field >> self.shift & self.max()
    }
}

static DEPENDENCY_COUNTERS: &[DependencyCounter] = &[
    DependencyCounter { name: "depctr_hold_cnt", shift: 7, bits: 1, requires: Feature::GFX10_3 },
    DependencyCounter { name: "depctr_sa_sdst", shift: 0, bits: 1, requires: NONE },
    DependencyCounter { name: "depctr_va_vdst", shift: 12, bits: 4, requires: NONE },
    DependencyCounter { name: "depctr_va_sdst", shift: 9, bits: 3, requires: NONE },
    DependencyCounter { name: "depctr_va_ssrc", shift: 8, bits: 1, requires: NONE },
    DependencyCounter { name: "depctr_va_vcc", shift: 1, bits: 1, requires: NONE },
    DependencyCounter { name: "depctr_vm_vsrc", shift: 2, bits: 3, requires: NONE },
];

/// Returns the counters that `s_waitcnt_depctr` can wait for on a processor, in the order in which they are
/// printed.
pub fn dependency_counters(target: &Target) -> impl Iterator<Item = &'static DependencyCounter> {
    DEPENDENCY_COUNTERS.iter().filter(|row| target.has(row.requires))
}
