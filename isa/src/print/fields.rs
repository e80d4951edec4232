//! Prints the numbers in instructions that have their own syntax in assembly text, such as wait counts and
//! messages.

use super::Printer;
use crate::inst::MachInst;
use crate::layout::Layout;
use crate::names;
use crate::table::{Family, Kind, OpSpec, op};
use crate::target::Target;
use std::fmt::{self, Write};

impl Printer<'_> {
    pub(super) fn immediate(&mut self, spec: &OpSpec, value: i32) -> fmt::Result {
        let MachInst { op, .. } = *self.inst;
        let bits = value as u32 & 0xffff;
        match op {
            op::S_WAITCNT => self.waitcnt(bits as u16),
            op::S_GETREG_B32 | op::S_SETREG_B32 | op::S_SETREG_IMM32_B32 => {
                hwreg(self.target, bits, self.out)
            }
            op::S_SENDMSG | op::S_SENDMSGHALT => message(self.target, bits, self.out),
            op::S_SET_GPR_IDX_ON | op::S_SET_GPR_IDX_MODE => gpr_idx(bits, self.out),
            op::S_VERSION => version(bits, self.out),
            op::S_WAITCNT_DEPCTR => depctr(self.target, bits, self.out),
            // On GFX10, the register `null` is the only way to encode that there is no offset SGPR, so LLVM
            // 19 prints it.
            _ if spec.kind == Kind::SmemOffset && value == 0 && self.says_null() => {
                self.out.push_str("null");
                Ok(())
            }
            // Only GFX9 and GFX10 have negative offsets. On other processors, the offset is printed as an
            // unsigned number.
            _ if spec.kind == Kind::SmemOffset
                && !Layout::for_target(self.target).scalar_offsets.is_signed() =>
            {
                write!(self.out, "{:#x}", value as u32)
            }
            _ if spec.kind == Kind::SmemOffset => hex(value, self.out),
            _ if op.family() == Family::Sopk && spec.kind == Kind::Imm => write!(self.out, "{bits:#x}"),
            op::S_INST_PREFETCH | op::S_CLAUSE | op::S_ROUND_MODE | op::S_TTRACEDATA_IMM => {
                write!(self.out, "{bits:#x}")
            }
            // Such a number is printed like a constant source: in decimal if it is small, in hexadecimal
            // otherwise.
            _ if spec.kind == Kind::Imm && op != op::S_ENDPGM && bits > 64 => write!(self.out, "{bits:#x}"),
            // All other numbers are printed as they are: branch distances, and the numbers of instructions of
            // program flow.
            _ => write!(self.out, "{bits}"),
        }
    }

    fn says_null(&self) -> bool {
        self.target.arch.registers.null.is_some()
    }

    fn waitcnt(&mut self, mask: u16) -> fmt::Result {
        let target: &Target = self.target;
        let wait = target.unpack_waitcnt(mask);
        let fields = [
            ("vmcnt", wait.vm, target.max_vmcnt),
            ("expcnt", wait.exp, target.max_expcnt),
            ("lgkmcnt", wait.lgkm, target.max_lgkmcnt),
        ];
        // A mask with all counters at their maximum waits for nothing. In this case all counters are printed,
        // because the text must name at least one.
        let all = fields.iter().all(|&(_, count, max)| count == max);
        let mut space = "";
        for (name, count, _) in fields.into_iter().filter(|&(_, count, max)| all || count != max) {
            write!(self.out, "{space}{name}({count})")?;
            space = " ";
        }
        Ok(())
    }
}

/// Prints the counters for which `s_waitcnt_depctr` waits. If it waits for none, prints all counters, because
/// the text must name at least one.
fn depctr(target: &Target, bits: u32, out: &mut String) -> fmt::Result {
    let known = names::dependency_counters(target).fold(0, |known, row| known | row.mask());
    if bits & !known != 0 {
        return write!(out, "{bits:#x}");
    }
    let idle = names::dependency_counters(target).all(|row| row.get(bits) == row.max());
    let mut space = "";
    for row in names::dependency_counters(target).filter(|row| idle || row.get(bits) != row.max()) {
        write!(out, "{space}{}({})", row.name, row.get(bits))?;
        space = " ";
    }
    Ok(())
}

fn hex(value: i32, out: &mut String) -> fmt::Result {
    let sign = if value < 0 { "-" } else { "" };
    write!(out, "{sign}{:#x}", value.unsigned_abs())
}

/// Prints a hardware register as `hwreg(name, first bit, bits)`. For the whole register, the bits are
/// omitted.
fn hwreg(target: &Target, bits: u32, out: &mut String) -> fmt::Result {
    let (id, offset, size) = (bits & 0x3f, bits >> 6 & 0x1f, (bits >> 11 & 0x1f) + 1);
    out.push_str("hwreg(");
    match names::hw_registers(target).find(|row| row.id == id) {
        Some(row) => out.push_str(row.name),
        None => write!(out, "{id}")?,
    }
    if (offset, size) != (0, 32) {
        write!(out, ", {offset}, {size}")?;
    }
    out.push(')');
    Ok(())
}

/// Prints a message as `sendmsg(message, operation, stream)`. Names are printed if the combination of message
/// and operation has a meaning.
fn message(target: &Target, bits: u32, out: &mut String) -> fmt::Result {
    let (id, operation, stream) = (bits & 0xf, bits >> 4 & 7, bits >> 8 & 3);
    let message = names::messages(target).find(|row| row.id == id).map(|row| row.name);
    let named = names::operations(target, id).find(|row| row.id == operation).map(|row| row.name);
    let gs = id == names::MSG_GS || id == names::MSG_GS_DONE;
    match (message, named, operation, stream) {
        (Some(name), None, 0, 0) if !takes_operation(id) => write!(out, "sendmsg({name})"),
        (Some(name), Some(named), 0, 0) if id == names::MSG_GS_DONE => {
            write!(out, "sendmsg({name}, {named})")
        }
        (Some(name), Some(named), 1.., _) if gs => write!(out, "sendmsg({name}, {named}, {stream})"),
        (Some(name), Some(named), 1.., 0) if !gs => write!(out, "sendmsg({name}, {named})"),
        // A message with bits that have no meaning is printed as a number. Names would hide these bits.
        _ if bits & !0x37f != 0 => write!(out, "{bits}"),
        _ => write!(out, "sendmsg({id}, {operation}, {stream})"),
    }
}

fn takes_operation(message: u32) -> bool {
    matches!(message, names::MSG_GS | names::MSG_GS_DONE | names::MSG_SYSMSG)
}

/// Prints which operands `s_set_gpr_idx_on` indexes, such as `gpr_idx(SRC0,DST)`.
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

/// Prints the operand of `s_version`. It contains the number of a generation and flags, which LLVM 19 prints
/// as an expression.
fn version(bits: u32, out: &mut String) -> fmt::Result {
    if bits & 0x1f00 != 0 {
        return write!(out, "{bits:#x}");
    }
    let flags =
        [(0x2000, "W64"), (0x4000, "W32"), (0x8000, "MDP")].into_iter().filter(|(bit, _)| bits & bit != 0);
    for _ in flags.clone().skip(1) {
        out.push('(');
    }
    match bits & 0xff {
        0 => out.push_str("UC_VERSION_GFX7"),
        4 => out.push_str("UC_VERSION_GFX10"),
        6 => out.push_str("UC_VERSION_GFX11"),
        9 => out.push_str("UC_VERSION_GFX12"),
        number => write!(out, "{number}")?,
    }
    for (n, (_, name)) in flags.enumerate() {
        let close = if n > 0 { ")" } else { "" };
        write!(out, "{close}|UC_VERSION_{name}_BIT")?;
    }
    Ok(())
}
