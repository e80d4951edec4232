//! Numbers in the instruction that have a syntax of their own.

use super::Printer;
use crate::inst::MachInst;
use crate::table::{Family, Kind, OpSpec, op};
use crate::target::Target;
use std::fmt::{self, Write};

impl Printer<'_> {
    pub(super) fn immediate(&mut self, spec: &OpSpec, value: i32) -> fmt::Result {
        let MachInst { op, .. } = *self.inst;
        let bits = value as u32 & 0xffff;
        match op {
            op::S_WAITCNT => self.waitcnt(bits as u16),
            op::S_GETREG_B32 | op::S_SETREG_B32 | op::S_SETREG_IMM32_B32 => hwreg(bits, self.out),
            op::S_SENDMSG | op::S_SENDMSGHALT => message(bits, self.out),
            op::S_SET_GPR_IDX_ON | op::S_SET_GPR_IDX_MODE => gpr_idx(bits, self.out),
            _ if spec.kind == Kind::SmemOffset => hex(value, self.out),
            _ if op.family() == Family::Sopk && spec.kind == Kind::Imm => write!(self.out, "{bits:#x}"),
            // Written as a source constant would be: small ones in decimal.
            _ if spec.kind == Kind::Imm && op != op::S_ENDPGM && bits > 64 => write!(self.out, "{bits:#x}"),
            // Branch distances and the numbers of program-flow instructions.
            _ => write!(self.out, "{bits}"),
        }
    }

    fn waitcnt(&mut self, mask: u16) -> fmt::Result {
        let target: &Target = self.target;
        let wait = target.unpack_waitcnt(mask);
        let fields = [
            ("vmcnt", wait.vm, target.max_vmcnt),
            ("expcnt", wait.exp, target.max_expcnt),
            ("lgkmcnt", wait.lgkm, target.max_lgkmcnt),
        ];
        // A wait for nothing shows all of its counters.
        let all = fields.iter().all(|&(_, count, max)| count == max);
        let mut space = "";
        for (name, count, _) in fields.into_iter().filter(|&(_, count, max)| all || count != max) {
            write!(self.out, "{space}{name}({count})")?;
            space = " ";
        }
        Ok(())
    }
}

fn hex(value: i32, out: &mut String) -> fmt::Result {
    let sign = if value < 0 { "-" } else { "" };
    write!(out, "{sign}{:#x}", value.unsigned_abs())
}

/// `hwreg(name, first bit, bits)`; the whole register is left unsaid.
fn hwreg(bits: u32, out: &mut String) -> fmt::Result {
    let (id, offset, size) = (bits & 0x3f, bits >> 6 & 0x1f, (bits >> 11 & 0x1f) + 1);
    let name = match id {
        1 => "HW_REG_MODE",
        2 => "HW_REG_STATUS",
        3 => "HW_REG_TRAPSTS",
        4 => "HW_REG_HW_ID",
        5 => "HW_REG_GPR_ALLOC",
        6 => "HW_REG_LDS_ALLOC",
        7 => "HW_REG_IB_STS",
        15 => "HW_REG_SH_MEM_BASES",
        16 => "HW_REG_TBA_LO",
        17 => "HW_REG_TBA_HI",
        18 => "HW_REG_TMA_LO",
        19 => "HW_REG_TMA_HI",
        _ => "",
    };
    out.push_str("hwreg(");
    match name {
        "" => write!(out, "{id}")?,
        name => out.push_str(name),
    }
    if (offset, size) != (0, 32) {
        write!(out, ", {offset}, {size}")?;
    }
    out.push(')');
    Ok(())
}

/// `sendmsg(message, operation, stream)`, by names where the combination has a meaning on GFX9.
fn message(bits: u32, out: &mut String) -> fmt::Result {
    let (id, operation, stream) = (bits & 0xf, bits >> 4 & 7, bits >> 8 & 3);
    let plain = match id {
        1 => "MSG_INTERRUPT",
        4 => "MSG_SAVEWAVE",
        5 => "MSG_STALL_WAVE_GEN",
        6 => "MSG_HALT_WAVES",
        7 => "MSG_ORDERED_PS_DONE",
        8 => "MSG_EARLY_PRIM_DEALLOC",
        9 => "MSG_GS_ALLOC_REQ",
        10 => "MSG_GET_DOORBELL",
        _ => "",
    };
    const GS: [&str; 4] = ["GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"];
    const SYSTEM: [&str; 5] = [
        "",
        "SYSMSG_OP_ECC_ERR_INTERRUPT",
        "SYSMSG_OP_REG_RD",
        "SYSMSG_OP_HOST_TRAP_ACK",
        "SYSMSG_OP_TTRACE_PC",
    ];
    match (id, operation, stream) {
        (_, 0, 0) if !plain.is_empty() => write!(out, "sendmsg({plain})"),
        (3, 0, 0) => write!(out, "sendmsg(MSG_GS_DONE, GS_OP_NOP)"),
        (2, 1..=3, _) => write!(out, "sendmsg(MSG_GS, {}, {stream})", GS[operation as usize]),
        (3, 1..=3, _) => write!(out, "sendmsg(MSG_GS_DONE, {}, {stream})", GS[operation as usize]),
        (15, 1 | 2 | 4, 0) => write!(out, "sendmsg(MSG_SYSMSG, {})", SYSTEM[operation as usize]),
        // Names hide bits that mean nothing; numbers do not.
        _ if bits & !0x37f != 0 => write!(out, "{bits}"),
        _ => write!(out, "sendmsg({id}, {operation}, {stream})"),
    }
}

/// `gpr_idx(SRC0,DST)`: which operands are indexed.
fn gpr_idx(bits: u32, out: &mut String) -> fmt::Result {
    if bits > 0xf {
        return write!(out, "{bits:#x}");
    }
    out.push_str("gpr_idx(");
    let mut comma = "";
    for (n, name) in ["SRC0", "SRC1", "SRC2", "DST"].into_iter().enumerate() {
        if bits >> n & 1 != 0 {
            write!(out, "{comma}{name}")?;
            comma = ",";
        }
    }
    out.push(')');
    Ok(())
}
