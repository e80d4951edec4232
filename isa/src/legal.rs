//! Rules for the operands of one instruction and for their combination.
//!
//! [`problem`] checks these rules before registers are assigned, so that passes cannot create instructions
//! that the encoder would refuse later. It uses the operand specs in the instruction table and the properties
//! of the subtarget. With hardware registers, `encode` makes the same checks and a few more.

use crate::addressing::Offsets;
use crate::encode;
use crate::func::MachFunc;
use crate::inst::{Form, MachInst};
use crate::layout::Encoding;
use crate::operand::{Operand, RegRange};
use crate::reg::{Reg, RegClass};
use crate::slots::{Slot, Slots};
use crate::special::is_status;
use crate::subtarget::Subtarget;
use crate::table::{Caps, Family, Flags, Implicit, Kind, OpSpec, Role, Row, op};
use crate::target::{Feature, Generation, Target};

/// Reason why an instruction cannot be encoded. A number is the index of the operand that causes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Illegal {
    /// The processor does not have the instruction.
    Unavailable,
    /// Wrong number of operands.
    Count,
    /// The operand is of a kind, or a register of a class, that the instruction does not accept there.
    Kind(u8),
    /// The operand has the wrong number of dwords, or mixes SGPRs and VGPRs.
    Width(u8),
    /// The encoding has no room for the literal, or it is a second literal, or the operand is an inline
    /// constant that the processor does not have.
    Literal(u8),
    /// With this operand, the instruction uses more different scalar values than the constant bus can
    /// transfer.
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

/// Returns the first reason why an instruction cannot be encoded, or `None` if it can be. Its registers may
/// be virtual. Pseudo-instructions are never encoded, so this returns `None` for them.
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
    // Counters of literals, and of values that may use the constant bus. Most instructions have at most one
    // of either.
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

/// Returns the encoder's reason for refusing an instruction, or `None` if it can be encoded. Virtual
/// registers are replaced by suitable hardware registers, and branches are taken to be short. Unlike
/// [`problem`], this runs the encoder itself and therefore all of its checks, but does not check the constant
/// bus.
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

/// Returns whether an operand must be VCC because it is a lane mask for which the instruction's encoding has
/// no field.
pub fn is_vcc(target: &Target, inst: &MachInst, index: usize) -> bool {
    let row = inst.op.row();
    if inst.form == Form::Full || row.ops.get(index).is_none_or(|spec| spec.kind != Kind::Mask) {
        return false;
    }
    Encoding::of(target, row, inst.form, inst.mods.lane)
        .is_some_and(|encoding| Slots::new(target, row, encoding).nth(row, index) == Some(Slot::Vcc))
}

/// Returns a description of an instruction's operands for error messages; `None` if it has no operands.
pub fn usage(row: &Row) -> Option<String> {
    let operands: Vec<String> = row.ops.iter().map(describe).collect();
    (!operands.is_empty()).then(|| format!("the operands of `{}`: {}", row.name, operands.join("; ")))
}

fn describe(spec: &OpSpec) -> String {
    let dwords = match spec.width {
        0 | 1 => String::new(),
        width => format!(" ({width} dwords)"),
    };
    let what = match spec.kind {
        Kind::Sgpr => "an SGPR",
        Kind::Ssrc => "an SGPR or a constant",
        Kind::Vgpr => "a VGPR",
        Kind::Vsrc => "a VGPR, an SGPR or a constant",
        Kind::Mask => return "a lane mask".to_owned(),
        Kind::Imm | Kind::ExportTarget | Kind::Attribute | Kind::Parameter => return "a number".to_owned(),
        Kind::Label => return "a block".to_owned(),
        Kind::Lit => "a literal",
        Kind::SmemOffset => return "an offset".to_owned(),
        Kind::Vaddr => return "the VGPRs of an address or `off`".to_owned(),
        Kind::Saddr => return "the SGPRs of a base or `off`".to_owned(),
        Kind::Agpr | Kind::Avgpr | Kind::Acc => "an accumulation VGPR",
        Kind::Channel => "a VGPR or `off`",
        Kind::Texels | Kind::ImageAddress(_) => return "VGPRs".to_owned(),
    };
    format!("{what}{dwords}")
}

/// 1/(2*pi) as an inline constant.
const INV_2PI: u16 = 248;

/// Returns the range of offsets that an instruction can have in `Mods::offset`. `None` if the instruction has
/// no such offset.
pub fn offsets(target: &Subtarget, row: &Row) -> Option<Offsets> {
    let addressing = &target.addressing;
    match row.family {
        Family::Ds if row.flags.contains(Flags::OFFSET2) => None,
        Family::Ds => Some(addressing.lds),
        Family::Mubuf => Some(addressing.buffer),
        Family::Flat => addressing.flat,
        Family::Global => addressing.global,
        _ => None,
    }
}

/// Returns whether the instruction in its current form has room for a literal.
pub fn takes_literal(target: &Target, inst: &MachInst) -> bool {
    Encoding::of(target, inst.op.row(), inst.form, inst.mods.lane)
        .is_some_and(|encoding| encoding.has_literals(target.generation))
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
        // Code that `kernc` compiles has no matrix or graphics instructions, and uses accumulation registers
        // only for spilling. So the check of other kinds of operands is superficial.
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

/// If the instruction uses the constant bus for too many values, returns the last operand that does so as the
/// reason; moving this operand to a VGPR leaves the bus to the others.
fn bus_problem(target: &Target, inst: &MachInst, func: &MachFunc) -> Option<Illegal> {
    let row = inst.op.row();
    if constant_bus_ok(target, inst, Some(func)) {
        return None;
    }
    let uses = |spec: &OpSpec, operand: &Operand| bus_value(target, *operand, spec, Some(func)).is_some();
    let movable = |spec: &OpSpec| spec.role != Role::Def && spec.kind == Kind::Vsrc;
    let last =
        row.ops.iter().zip(inst.operands()).rposition(|(spec, operand)| movable(spec) && uses(spec, operand));
    last.map(|n| Illegal::ConstantBus(n as u8))
}

/// A value that a vector instruction takes over the constant bus.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BusValue {
    Hw(RegRange),
    Virt(crate::reg::VReg),
    /// A literal, with a flag that says whether its operand has 64 bits. The same number in a 32-bit and in a
    /// 64-bit operand counts as two values.
    Literal(u32, bool),
}

/// Returns how many different values a vector instruction may use over the constant bus: one; on GFX10 two,
/// except for 64-bit shifts.
pub fn constant_bus_limit(target: &Target, row: &Row) -> usize {
    if target.generation == Generation::Gfx10 && !row.flags.contains(Flags::BUS1) { 2 } else { 1 }
}

/// Returns whether a vector instruction respects the limit of the constant bus; always true for other
/// instructions.
///
/// The values on the bus are SGPRs or SGPR pairs, literals, status bits and apertures. An instruction may use
/// one such value, on GFX10 two ([`constant_bus_limit`]), each in any number of operands. Inline constants do
/// not use the bus. A literal also needs an encoding with room for it (32-bit encodings; on GFX10 also VOP3),
/// and there may be only one.
///
/// `func` tells whether virtual registers are SGPRs; without it, they are treated as VGPRs.
pub fn constant_bus_ok(target: &Target, inst: &MachInst, func: Option<&MachFunc>) -> bool {
    let row = inst.op.row();
    if !row.is_valu() {
        return true;
    }
    // Fast path for most instructions, whose operands are all VGPRs and inline constants, so that they do not
    // use the bus.
    let by_wire = |operand: &Operand| match operand {
        Operand::Reg(range) => range.first.is_vgpr(),
        Operand::Inline(_) => true,
        _ => false,
    };
    if inst.operands().iter().all(by_wire) {
        return true;
    }
    let Some(encoding) = Encoding::of(target, row, inst.form, inst.mods.lane) else { return false };
    let room_for_literal = encoding.has_literals(target.generation);
    let mut bus = [None; 2];
    let mut used = 0;
    let mut fits = |value: BusValue| {
        if !bus[..used].contains(&Some(value)) {
            if used == constant_bus_limit(target, row) {
                return false;
            }
            bus[used] = Some(value);
            used += 1;
        }
        true
    };
    // A VCC operand that the encoding implies uses the bus. LLVM counts it as a register pair, whatever the
    // wave size.
    for (flag, first, len) in [(Implicit::READ_VCC, Reg::VCC, 2), (Implicit::READ_M0, Reg::M0, 1)] {
        if row.implicit.contains(flag) {
            fits(BusValue::Hw(RegRange { first, len }));
        }
    }
    let implied_mask = encoding != Encoding::Vop3;
    if implied_mask && row.ops.iter().any(|spec| spec.kind == Kind::Mask && spec.role == Role::Use) {
        fits(BusValue::Hw(RegRange { first: Reg::VCC, len: 2 }));
    }
    let mut literal = None;
    let sources = row.ops.iter().zip(inst.operands()).enumerate();
    for (index, (spec, &operand)) in sources.filter(|(_, (spec, _))| spec.role != Role::Def) {
        if implied_mask && spec.kind == Kind::Mask {
            continue;
        }
        // `v_writelane_b32` does not use the constant bus for M0 if M0 is its lane selection.
        let lane_write = matches!(inst.op, op::V_WRITELANE_B32 | op::V_WRITELANE_B32_VOP2);
        if lane_write && index == 2 && operand == Operand::reg(Reg::M0) {
            continue;
        }
        if matches!(operand, Operand::Literal(_) | Operand::Reloc(_)) {
            if !room_for_literal || literal.is_some_and(|other| other != operand) {
                return false;
            }
            literal = Some(operand);
        }
        if let Some(value) = bus_value(target, operand, spec, func)
            && !fits(value)
        {
            return false;
        }
    }
    true
}

/// Returns whether the addend of a matrix instruction overlaps its result without being in exactly the same
/// registers, which is not allowed if the result has more than four registers.
pub fn sum_overlaps(row: &Row, inst: &MachInst) -> bool {
    match (inst.ops[0], inst.ops[3]) {
        (Operand::Reg(to), Operand::Reg(sum)) if row.caps.contains(Caps::MFMA) && to.len > 4 => {
            let end = |range: RegRange| range.first.0 + u16::from(range.len);
            to.first != sum.first && to.first.0 < end(sum) && sum.first.0 < end(to)
        }
        _ => false,
    }
}

fn bus_value(target: &Target, operand: Operand, spec: &OpSpec, func: Option<&MachFunc>) -> Option<BusValue> {
    match operand {
        // `null` of GFX10.
        Operand::Reg(range) if range.first == Reg(125) && target.generation == Generation::Gfx10 => None,
        Operand::Reg(range) if range.first.0 <= Reg::EXEC.0 + 1 || is_status(range.first.0) => {
            Some(BusValue::Hw(range))
        }
        Operand::Virt(tuple) => {
            let func = func?;
            let &reg = func.regs(tuple).first()?;
            (func.vregs[reg] == RegClass::Sgpr).then_some(BusValue::Virt(reg))
        }
        Operand::Literal(value) => Some(BusValue::Literal(value, spec.num.is_wide())),
        Operand::Reloc(index) => Some(BusValue::Literal(index, spec.num.is_wide())),
        _ => None,
    }
}
