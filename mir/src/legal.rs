//! Rules for the operands of an instruction whose registers may still be virtual.
//!
//! [`problem`] checks these rules before registers are assigned, so that passes cannot create instructions
//! that the encoder would refuse later. It uses the operand descriptions in the instruction table and the
//! properties of the subtarget. With hardware registers, [`isa::encode()`] makes the same checks and a few
//! more.

use crate::MachFunc;
use isa::legal::{constant_bus_ok, is_vcc, offsets, takes_literal, uses_constant_bus};
use isa::table::{Family, Implicit, Kind, OpSpec};
use isa::{Feature, MachInst, Operand, Reg, RegClass, Role, Row, Subtarget, Target, encode};

/// 1/(2*pi) as an inline constant.
const INV_2PI: u16 = 248;

/// Reason why an instruction cannot be encoded. The number in a variant is the index of the operand that
/// causes the problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Illegal {
    /// The processor does not have the instruction.
    Unavailable,
    /// Wrong number of operands.
    Count,
    /// The instruction does not accept an operand of this kind, or a register of this class, at this
    /// position.
    Kind(u8),
    /// The operand has the wrong number of dwords, or mixes SGPRs and VGPRs.
    Width(u8),
    /// The operand is a constant that cannot be encoded. The encoding may have no room for a literal or have
    /// another literal already, or the processor may lack the inline constant.
    Literal(u8),
    /// The instruction uses more different scalar values than the constant bus can transfer, and this operand
    /// is one of them.
    ConstantBus(u8),
    /// The immediate offset does not fit.
    Offset,
}

impl std::fmt::Display for Illegal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Illegal::Unavailable => write!(f, "the processor has no such instruction"),
            Illegal::Count => write!(f, "wrong number of operands"),
            Illegal::Kind(n) => write!(f, "operand {n} is of the wrong kind"),
            Illegal::Width(n) => write!(f, "operand {n} has the wrong width"),
            Illegal::Literal(n) => write!(f, "operand {n}: no room for a literal"),
            Illegal::ConstantBus(n) => write!(f, "operand {n} is too many for the constant bus"),
            Illegal::Offset => write!(f, "the offset does not fit"),
        }
    }
}

/// Returns the first reason why an instruction cannot be encoded, or `None` if it can be. The registers of
/// the instruction may be virtual. Pseudo-instructions are never encoded, so the result for them is `None`.
pub fn problem(target: &Subtarget, inst: &MachInst, func: &MachFunc) -> Option<Illegal> {
    let row = inst.op.row();
    if row.family == Family::Pseudo {
        return None;
    }
    if row.code(target).is_none() {
        return Some(Illegal::Unavailable);
    }
    if usize::from(inst.len) != row.ops.len() {
        return Some(Illegal::Count);
    }
    // Counts of the literals and of the SGPR operands. The counts say which of the checks below are needed:
    // that of literals only if there is one, that of the constant bus usually only for several values.
    let (mut literals, mut scalars) = (0, 0);
    for (n, (spec, &operand)) in (0..).zip(row.ops.iter().zip(inst.operands())) {
        let regs = registers(func, operand);
        if let Some(problem) = operand_problem(target, func, spec, operand, regs, n) {
            return Some(problem);
        }
        match operand {
            Operand::Reloc(_) if spec.kind == Kind::Label => {}
            Operand::Literal(_) | Operand::Reloc(_) | Operand::Inline(INV_2PI) => literals += 1,
            Operand::Imm(field) if spec.kind == Kind::SmemOffset => {
                let addressing = &target.addressing;
                if addressing.scalar_field(addressing.scalar_bytes(field)).is_none() {
                    return Some(Illegal::Offset);
                }
            }
            _ => scalars += u32::from(matches!(regs, Some((RegClass::Sgpr, _)))),
        }
    }
    if literals > 0
        && let Some(problem) = literal_problem(target, inst, row)
    {
        return Some(problem);
    }
    let implied = row.implicit.intersects(Implicit::READ_VCC.union(Implicit::READ_M0));
    if row.is_valu()
        && (implied || literals + scalars > 1)
        && let Some(problem) = bus_problem(target, inst, func)
    {
        return Some(problem);
    }
    let offset = i64::from(inst.mods.offset);
    let fits = offset == 0 || offsets(target, row).is_none_or(|offsets| offsets.contains(offset));
    (!fits).then_some(Illegal::Offset)
}

/// Returns the encoder's reason for refusing an instruction, or `None` if the instruction can be encoded.
/// Virtual registers are replaced by suitable hardware registers, and branches are assumed to be short. In
/// contrast to [`problem`], this function runs the encoder itself and therefore all of its checks. It does
/// not check the constant bus.
pub fn unencodable(target: &Target, original: &MachInst, func: &MachFunc) -> Option<encode::Problem> {
    let mut inst = *original;
    for (n, operand) in inst.ops[..usize::from(inst.len)].iter_mut().enumerate() {
        *operand = match *operand {
            // A lane mask that must be VCC is assigned to VCC.
            Operand::Virt(tuple) if is_vcc(target, original, n) => Operand::regs(Reg::VCC, tuple.len),
            Operand::Virt(tuple) => match func.regs(tuple).first().map(|&reg| func.vregs[reg]) {
                Some(RegClass::Vgpr) => Operand::regs(Reg::vgpr(0), tuple.len),
                _ => Operand::regs(Reg::sgpr(0), tuple.len),
            },
            Operand::Block(_) => Operand::Imm(0),
            Operand::Reloc(_) if is_label(original, n) => Operand::Imm(0),
            other => other,
        };
    }
    encode::problem(target, &inst)
}

/// Returns whether an operand is a branch target.
fn is_label(inst: &MachInst, index: usize) -> bool {
    inst.op.row().ops.get(index).is_some_and(|spec| spec.kind == Kind::Label)
}

/// Returns the class and width of a register operand.
fn registers(func: &MachFunc, operand: Operand) -> Option<(RegClass, u8)> {
    match operand {
        Operand::Virt(tuple) => Some((func.vregs[*func.regs(tuple).first()?], tuple.len)),
        Operand::Reg(range) if range.first.is_vgpr() => Some((RegClass::Vgpr, range.len)),
        Operand::Reg(range) => Some((RegClass::Sgpr, range.len)),
        _ => None,
    }
}

fn operand_problem(
    target: &Target,
    func: &MachFunc,
    spec: &OpSpec,
    operand: Operand,
    regs: Option<(RegClass, u8)>,
    n: u8,
) -> Option<Illegal> {
    let class = regs.map(|(class, _)| class);
    let is_absent = operand == Operand::None;
    let wrong = match spec.kind {
        Kind::Sgpr | Kind::Mask => class != Some(RegClass::Sgpr),
        Kind::Ssrc => class == Some(RegClass::Vgpr),
        Kind::Vgpr => class != Some(RegClass::Vgpr) && !(spec.role == Role::Def && is_absent),
        Kind::Vsrc | Kind::Label | Kind::Lit | Kind::SmemOffset => false,
        Kind::Imm => !matches!(operand, Operand::Imm(_)),
        Kind::Vaddr => class != Some(RegClass::Vgpr) && !is_absent,
        Kind::Saddr => class != Some(RegClass::Sgpr) && !is_absent,
        // Code that `kernc` compiles has no matrix, export or image instructions, so their operands are
        // always refused. It uses accumulation registers only for spilling, and names them as hardware
        // registers.
        Kind::Agpr => !matches!(operand, Operand::Reg(range) if range.first.is_agpr()),
        Kind::Avgpr | Kind::Acc => true,
        Kind::ExportTarget | Kind::Channel | Kind::Attribute | Kind::Parameter => true,
        Kind::Texels | Kind::ImageAddress(_) => true,
    };
    if wrong {
        return Some(Illegal::Kind(n));
    }
    let (class, len) = regs?;
    let both = |tuple| func.regs(tuple).iter().any(|&reg| func.vregs[reg] != class);
    let mixed = len > 1 && matches!(operand, Operand::Virt(tuple) if both(tuple));
    let any_width = matches!(spec.kind, Kind::Vaddr | Kind::Saddr);
    let width = if spec.kind == Kind::Mask { target.mask_dwords() } else { spec.width };
    (mixed || len != width && !any_width).then_some(Illegal::Width(n))
}

fn literal_problem(target: &Target, inst: &MachInst, row: &Row) -> Option<Illegal> {
    let mut first = None;
    for (n, &operand) in (0..).zip(inst.operands()) {
        match operand {
            Operand::Inline(INV_2PI) if !target.has(Feature::INV_2PI) => return Some(Illegal::Literal(n)),
            Operand::Literal(_) | Operand::Reloc(_) => {
                let other = *first.get_or_insert(operand);
                let its_own = row.ops[usize::from(n)].kind == Kind::Lit;
                if other != operand || !its_own && !takes_literal(target, inst) {
                    return Some(Illegal::Literal(n));
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns the problem if the instruction needs the constant bus for too many values. The problem names the
/// last operand that needs the bus. If the value of this operand is moved to a VGPR, only the other operands
/// need the bus.
fn bus_problem(target: &Target, inst: &MachInst, func: &MachFunc) -> Option<Illegal> {
    let row = inst.op.row();
    if constant_bus_ok(target, inst, Some(func)) {
        return None;
    }
    let uses = |spec: &OpSpec, operand: &Operand| uses_constant_bus(target, *operand, spec, Some(func));
    let movable = |spec: &OpSpec| spec.role != Role::Def && spec.kind == Kind::Vsrc;
    let last =
        row.ops.iter().zip(inst.operands()).rposition(|(spec, operand)| movable(spec) && uses(spec, operand));
    last.map(|n| Illegal::ConstantBus(n as u8))
}
