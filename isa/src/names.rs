//! Names of numbers in scalar instructions. These are the numbers of hardware registers, of messages and of
//! the operations of messages. The meaning of each name, and the processors that have it, were determined
//! with LLVM 19's assembler and disassembler.

use crate::target::{ArchId, ArchSet, Target};
use ArchId::{Gfx8, Gfx9, Gfx10, Gfx10_3, Gfx940};

/// A name of a number in an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Name {
    /// Name in assembly text.
    pub name: &'static str,
    /// The number in the field of the instruction.
    pub id: u32,
    families: ArchSet,
}

impl Name {
    fn is_known_to(&self, target: &Target) -> bool {
        self.families.contains(target.arch.id)
    }
}

const ALL: ArchSet = ArchSet::ALL;

const fn since(first: ArchId) -> ArchSet {
    ArchSet::since(first)
}

const fn name(name: &'static str, id: u32, families: ArchSet) -> Name {
    Name { name, id, families }
}

/// Hardware registers of `s_getreg_b32` and `s_setreg_b32`.
static HW_REGISTERS: &[Name] = &[
    name("HW_REG_MODE", 1, ALL),
    name("HW_REG_STATUS", 2, ALL),
    name("HW_REG_TRAPSTS", 3, ALL),
    name("HW_REG_HW_ID", 4, ALL.until(Gfx10)),
    name("HW_REG_GPR_ALLOC", 5, ALL),
    name("HW_REG_LDS_ALLOC", 6, ALL),
    name("HW_REG_IB_STS", 7, ALL),
    name("HW_REG_SH_MEM_BASES", 15, since(Gfx9)),
    name("HW_REG_TBA_LO", 16, since(Gfx9)),
    name("HW_REG_TBA_HI", 17, since(Gfx9)),
    name("HW_REG_TMA_LO", 18, since(Gfx9)),
    name("HW_REG_TMA_HI", 19, since(Gfx9)),
    name("HW_REG_XCC_ID", 20, since(Gfx940)),
    name("HW_REG_SQ_PERF_SNAPSHOT_DATA", 21, since(Gfx940)),
    name("HW_REG_SQ_PERF_SNAPSHOT_DATA1", 22, since(Gfx940)),
    name("HW_REG_SQ_PERF_SNAPSHOT_PC_LO", 23, since(Gfx940)),
    name("HW_REG_SQ_PERF_SNAPSHOT_PC_HI", 24, since(Gfx940)),
    name("HW_REG_FLAT_SCR_LO", 20, since(Gfx10)),
    name("HW_REG_FLAT_SCR_HI", 21, since(Gfx10)),
    name("HW_REG_XNACK_MASK", 22, since(Gfx10).until(Gfx10_3)),
    name("HW_REG_HW_ID1", 23, since(Gfx10)),
    name("HW_REG_HW_ID2", 24, since(Gfx10)),
    // The hardware registers from here on can only be read. This first one is an older name of register 23,
    // which LLVM 19 also accepts.
    name("HW_REG_HW_ID", 23, since(Gfx10)),
    name("HW_REG_POPS_PACKER", 25, since(Gfx10)),
    name("HW_REG_SHADER_CYCLES", 29, since(Gfx10_3)),
];

/// Messages that `s_sendmsg` can send. Messages 2, 3 and 15 also have an operation.
static MESSAGES: &[Name] = &[
    name("MSG_INTERRUPT", 1, ALL),
    name("MSG_GS", 2, ALL),
    name("MSG_GS_DONE", 3, ALL),
    name("MSG_SAVEWAVE", 4, since(Gfx8)),
    name("MSG_STALL_WAVE_GEN", 5, since(Gfx9)),
    name("MSG_HALT_WAVES", 6, since(Gfx9)),
    name("MSG_ORDERED_PS_DONE", 7, since(Gfx9)),
    name("MSG_EARLY_PRIM_DEALLOC", 8, since(Gfx9)),
    name("MSG_GS_ALLOC_REQ", 9, since(Gfx9)),
    name("MSG_GET_DOORBELL", MSG_GET_DOORBELL, since(Gfx9)),
    name("MSG_GET_DDID", 11, since(Gfx10)),
    name("MSG_SYSMSG", 15, ALL),
];

/// Operations of the messages `MSG_GS` and `MSG_GS_DONE`.
static GS_OPERATIONS: &[Name] = &[
    name("GS_OP_NOP", 0, ALL),
    name("GS_OP_CUT", 1, ALL),
    name("GS_OP_EMIT", 2, ALL),
    name("GS_OP_EMIT_CUT", 3, ALL),
];

/// Operations of the message `MSG_SYSMSG`.
static SYSTEM_OPERATIONS: &[Name] = &[
    name("SYSMSG_OP_ECC_ERR_INTERRUPT", 1, ALL),
    name("SYSMSG_OP_REG_RD", 2, ALL),
    name("SYSMSG_OP_HOST_TRAP_ACK", 3, ALL.until(Gfx9)),
    name("SYSMSG_OP_TTRACE_PC", 4, ALL),
];

/// `MSG_GS`
pub const MSG_GS: u32 = 2;
/// Number of the message `MSG_GS_DONE`.
pub const MSG_GS_DONE: u32 = 3;
/// Number of the message `MSG_GET_DOORBELL`.
pub const MSG_GET_DOORBELL: u32 = 10;
/// Number of the message `MSG_SYSMSG`.
pub const MSG_SYSMSG: u32 = 15;

fn known_to(rows: &'static [Name], target: &Target) -> impl Iterator<Item = &'static Name> {
    rows.iter().filter(move |row| row.is_known_to(target))
}

/// Returns the names of hardware registers on a processor.
pub fn hw_registers(target: &Target) -> impl Iterator<Item = &'static Name> {
    known_to(HW_REGISTERS, target)
}

/// Returns the messages that have names on a processor.
pub fn messages(target: &Target) -> impl Iterator<Item = &'static Name> {
    known_to(MESSAGES, target)
}

/// Returns the names of the operations that a message can have on a processor.
pub fn operations(target: &Target, message: u32) -> impl Iterator<Item = &'static Name> {
    let rows = match message {
        MSG_GS | MSG_GS_DONE => GS_OPERATIONS,
        MSG_SYSMSG => SYSTEM_OPERATIONS,
        _ => &[],
    };
    known_to(rows, target)
}

/// A counter for which `s_waitcnt_depctr` can wait (GFX10).
#[derive(Clone, Copy, Debug)]
pub struct DependencyCounter {
    /// Name in assembly text.
    pub name: &'static str,
    /// Position of the counter's lowest bit in the field.
    pub shift: u32,
    /// Number of bits of the counter.
    pub bits: u32,
    families: ArchSet,
}

impl DependencyCounter {
    /// Returns the value of the counter that waits for nothing.
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
    DependencyCounter { name: "depctr_hold_cnt", shift: 7, bits: 1, families: since(Gfx10_3) },
    DependencyCounter { name: "depctr_sa_sdst", shift: 0, bits: 1, families: since(Gfx10) },
    DependencyCounter { name: "depctr_va_vdst", shift: 12, bits: 4, families: since(Gfx10) },
    DependencyCounter { name: "depctr_va_sdst", shift: 9, bits: 3, families: since(Gfx10) },
    DependencyCounter { name: "depctr_va_ssrc", shift: 8, bits: 1, families: since(Gfx10) },
    DependencyCounter { name: "depctr_va_vcc", shift: 1, bits: 1, families: since(Gfx10) },
    DependencyCounter { name: "depctr_vm_vsrc", shift: 2, bits: 3, families: since(Gfx10) },
];

/// Returns the counters that `s_waitcnt_depctr` can wait for on a processor, in the order in which they are
/// printed.
pub fn dependency_counters(target: &Target) -> impl Iterator<Item = &'static DependencyCounter> {
    DEPENDENCY_COUNTERS.iter().filter(|row| row.families.contains(target.arch.id))
}
