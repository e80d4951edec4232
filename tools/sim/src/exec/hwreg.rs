//! Hardware registers: the instructions `s_getreg` and `s_setreg`, and other instructions that write MODE.
//!
//! The numbers of the registers are those of `isa::names`. The bit fields come from the Vega ISA and RDNA ISA
//! manuals, "Hardware registers". The manuals do not describe the fields of GPR_ALLOC and LDS_ALLOC. These
//! fields come from the code in the Linux kernel's driver that saves the state of a wave.

use super::{Cx, Flow, Handler, place};
use crate::fault::Trap;
use crate::op::Op;
use crate::wave::{PRIVATE_APERTURE, SHARED_APERTURE, mode, reg};
use isa::Feature;
use isa::names::hw_registers;

pub(super) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "s_getreg_b32" => get,
        "s_setreg_b32" | "s_setreg_imm32_b32" => set,
        "s_round_mode" => |cx, op| {
            let mode = cx.wave.mode() & !0xf | op.imm(0) as u32 & 0xf;
            set_mode(cx, mode)
        },
        "s_denorm_mode" => |cx, op| {
            let mode = cx.wave.mode() & !0xf0 | (op.imm(0) as u32 & 0xf) << 4;
            set_mode(cx, mode)
        },
        "s_setvskip" => |cx, op| {
            let bit = cx.wave.scalar(op.src[0]) >> (cx.wave.scalar(op.src[1]) & 31) & 1;
            let mode = cx.wave.mode() & !mode::VSKIP | (bit * mode::VSKIP);
            set_mode(cx, mode)
        },
        _ => return None,
    })
}

/// Returns what the operand `hwreg(...)` selects: the number of the hardware register, the offset of the bit
/// field in it, and a mask.
fn field(op: &Op) -> (u32, u32, u32) {
    let operand = op.imm(0) as u32;
    let (offset, size) = (operand >> 6 & 31, (operand >> 11 & 31) + 1);
    (operand & 63, offset, (u64::MAX >> (64 - size)) as u32)
}

fn get(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let (number, offset, mask) = field(op);
    match read(cx, number, mask << offset) {
        Ok(value) => cx.wave.set_scalar(op.dst, value >> offset & mask),
        Err(why) => return cx.fail(Trap::Refused(why)),
    }
    Flow::Next
}

fn set(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let (number, offset, mask) = field(op);
    let value = cx.wave.scalar(op.src[1]) << offset;
    let merge = |old: u32| old & !(mask << offset) | value & mask << offset;
    match number {
        1 => {
            let mode = merge(cx.wave.mode());
            return set_mode(cx, mode);
        }
        3 => cx.wave.trap_status = merge(cx.wave.trap_status),
        20 | 21 if exists(cx, number) => {
            let at = reg::HIDDEN_FLAT_SCRATCH + number as usize - 20;
            cx.wave.sgpr[at] = merge(cx.wave.sgpr[at]);
        }
        22 if exists(cx, number) => {
            let at = reg::HIDDEN_XNACK_MASK;
            cx.wave.sgpr[at] = merge(cx.wave.sgpr[at]);
        }
        _ => return cx.fail(Trap::Refused("nothing but the trap handler can write that register")),
    }
    Flow::Next
}

/// Writes MODE. Fails if the new value enables a feature that the emulator does not implement.
pub(super) fn set_mode(cx: &mut Cx<'_>, mode: u32) -> Flow {
    if mode & mode::EXCEPTIONS != 0 {
        return cx.fail(Trap::Refused("floating-point exceptions do not trap"));
    }
    cx.wave.set_mode(mode);
    Flow::Next
}

/// Returns whether the processor has a hardware register.
fn exists(cx: &Cx<'_>, number: u32) -> bool {
    hw_registers(cx.target).any(|register| register.id == number)
}

/// Returns the value of hardware register `number`. `mask` selects the bits that the instruction reads. Fails
/// if these bits are not emulated.
fn read(cx: &Cx<'_>, number: u32, mask: u32) -> Result<u32, &'static str> {
    /// Bits of TRAPSTS that report floating-point exceptions and integer division by zero.
    const EXCEPTIONS: u32 = 0x7f;
    const NOT_EMULATED: &str = "that hardware register is not emulated";
    if !exists(cx, number) {
        return Err(NOT_EMULATED);
    }
    let wave = &*cx.wave;
    Ok(match number {
        1 => wave.mode(),
        2 => status(cx),
        3 if mask & EXCEPTIONS != 0 => return Err("floating-point exceptions are not recorded"),
        3 => wave.trap_status,
        4 | 23 => place::hw_id(wave, cx.target),
        5 => registers(cx),
        // The LDS size in this register counts units of 64 dwords. LDS is allocated in multiples of two such
        // units.
        6 => (cx.lds_bytes.next_multiple_of(512) / 256) << 12,
        // The wait counters are all zero, because every instruction completes at once.
        7 => 0,
        // The lower half of the register holds the upper 16 bits (bits 63 to 48) of the private aperture. The
        // upper half holds the same bits of the shared aperture.
        15 => SHARED_APERTURE & 0xffff_0000 | PRIVATE_APERTURE >> 16,
        // TBA and TMA are registers of the trap handler. Other code reads them as zero.
        16..=19 => 0,
        20 | 21 => wave.sgpr[reg::HIDDEN_FLAT_SCRATCH + number as usize - 20],
        22 => wave.sgpr[reg::HIDDEN_XNACK_MASK],
        24 => place::hw_id2(wave, cx.target),
        // SHADER_CYCLES is a counter of 20 bits.
        29 => cx.clock as u32 & 0xf_ffff,
        _ => return Err(NOT_EMULATED),
    })
}

fn status(cx: &Cx<'_>) -> u32 {
    /// The bits TRAP_EN and VALID are always set.
    const ALWAYS: u32 = 1 << 6 | 1 << 16;
    let wave = &*cx.wave;
    let bits = [(0, wave.scc), (9, wave.exec() == 0), (10, wave.vcc() == 0), (11, wave.group_waves > 1)];
    let bits = bits.into_iter().fold(0, |bits, (at, set)| bits | u32::from(set) << at);
    ALWAYS | u32::from(wave.priority) << 3 | bits
}

/// Returns the hardware register GPR_ALLOC: which registers the wave has. The fields with the first register
/// are zero, because the emulator numbers each wave's registers from zero.
fn registers(cx: &Cx<'_>) -> u32 {
    let (wave, target) = (&*cx.wave, cx.target);
    let total = if target.has(Feature::UNIFIED_VGPRS) { wave.vgprs + wave.agprs } else { wave.vgprs };
    let vgprs = u32::from(total).div_ceil(target.vgpr_encoding_granule) - 1;
    let sgprs = u32::from(wave.sgprs).div_ceil(target.arch.emulation.gpr_alloc_sgprs).max(1) - 1;
    vgprs << 8 | sgprs << 24
}
