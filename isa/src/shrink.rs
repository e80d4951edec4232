//! Chooses the shortest encoding of an instruction whose registers are known.

use crate::inst::{Form, Lane, MachInst, Mods};
use crate::operand::Operand;
use crate::reg::Reg;
use crate::table::{Family, Flags, Kind, Opcode, Role, op};
use crate::target::{Feature, Target};

/// Replaces the instruction by the shortest one with the same effect, including the effect on SCC. This may
/// be the 32-bit form of a vector instruction, with exchanged sources if necessary. It may be `v_fmac_f32`
/// for a `v_fma_f32` that adds to its destination, or an instruction with a 16-bit constant instead of a
/// literal. The function must run after register allocation; it does not change instructions with virtual
/// registers.
pub fn choose_form(target: &Target, inst: &mut MachInst) {
    match inst.op.family() {
        Family::Vop3 => accumulate(target, inst),
        Family::Vop1 | Family::Vop2 | Family::Vopc => {
            if inst.op == op::V_MOV_B32 {
                move_without_literal(inst);
            }
            shorten(target, inst);
        }
        Family::Sop1 | Family::Sop2 => short_constant(inst),
        Family::Sopc => short_compare(inst),
        _ => {}
    }
}

fn is_vgpr(operand: Operand) -> bool {
    matches!(operand, Operand::Reg(range) if range.first.is_vgpr())
}

/// Returns whether the instruction has none of the modifiers that need the 64-bit encoding.
fn plain(mods: &Mods) -> bool {
    *mods == Mods { offset: mods.offset, ..Mods::default() } && mods.lane == Lane::None
}

/// Changes a VOP1, VOP2 or VOPC instruction to its 32-bit form. Returns whether this was possible.
fn shorten(target: &Target, inst: &mut MachInst) -> bool {
    let row = inst.op.row();
    if inst.form != Form::Full || row.flags.intersects(Flags::NO_E32 | Flags::NO_E64) || !plain(&inst.mods) {
        return false;
    }
    let masks = row.ops.iter().zip(inst.operands()).filter(|(spec, _)| spec.kind == Kind::Mask);
    let vcc = Operand::regs(Reg::VCC, target.mask_dwords());
    if !masks.into_iter().all(|(_, &operand)| operand == vcc) {
        return false;
    }
    let mut sources =
        row.ops.iter().enumerate().filter(|(_, spec)| spec.role == Role::Use && spec.kind == Kind::Vsrc);
    let first = sources.next().map(|(index, _)| index);
    let second = sources.next().map(|(index, _)| index);
    if let (Some(first), Some(second)) = (first, second)
        && !is_vgpr(inst.ops[second])
    {
        let Some(swapped) = swapped(inst.op).filter(|_| is_vgpr(inst.ops[first])) else { return false };
        inst.op = swapped;
        inst.ops.swap(first, second);
    }
    inst.form = Form::E32;
    true
}

/// Replaces `v_fma_f32 d, a, b, d` by `v_fmac_f32 d, a, b`, if that fits in 32 bits. Does the same for
/// `v_mad_f32`.
fn accumulate(target: &Target, inst: &mut MachInst) {
    let short = match inst.op {
        op::V_FMA_F32 if target.has(Feature::DL_INSTS) => op::V_FMAC_F32,
        op::V_MAD_F32 => op::V_MAC_F32,
        _ => return,
    };
    let [dst, a, b, c, ..] = inst.ops;
    if !is_vgpr(dst) || dst != c {
        return;
    }
    let mut candidate = MachInst { op: short, len: 3, ..*inst };
    candidate.ops = [dst, a, b, Operand::None, Operand::None, Operand::None];
    if shorten(target, &mut candidate) {
        *inst = candidate;
    }
}

/// Shortens a `v_mov_b32` whose source is a literal, if the literal is the complement or the bit reversal of
/// an inline constant.
fn move_without_literal(inst: &mut MachInst) {
    let Operand::Literal(value) = inst.ops[1] else { return };
    if let code @ Operand::Inline(_) = Operand::int(!value as i32) {
        (inst.op, inst.ops[1]) = (op::V_NOT_B32, code);
    } else if let code @ Operand::Inline(_) = Operand::int(value.reverse_bits() as i32) {
        (inst.op, inst.ops[1]) = (op::V_BFREV_B32, code);
    }
}

fn small(value: u32) -> Option<Operand> {
    i16::try_from(value as i32).ok().map(|value| Operand::Imm(i32::from(value)))
}

/// Shortens scalar moves and arithmetic instructions with a literal.
fn short_constant(inst: &mut MachInst) {
    let [dst, a, b, ..] = inst.ops;
    match (inst.op, a, b) {
        (op::S_MOV_B32, Operand::Literal(value), _) => {
            match (small(value), Operand::int(value.reverse_bits() as i32)) {
                (Some(imm), _) => set(inst, op::S_MOVK_I32, &[dst, imm]),
                (_, mirrored @ Operand::Inline(_)) => set(inst, op::S_BREV_B32, &[dst, mirrored]),
                _ => {}
            }
        }
        (op::S_CMOV_B32, Operand::Literal(value), _) => {
            if let Some(imm) = small(value) {
                set(inst, op::S_CMOVK_I32, &[dst, imm]);
            }
        }
        (op::S_SUB_I32, _, Operand::Literal(value)) if dst == a && value != 1 << 31 => {
            if let Some(imm) = small(value.wrapping_neg()) {
                set(inst, op::S_ADDK_I32, &[dst, imm]);
            }
        }
        (_, other, Operand::Literal(value)) | (_, Operand::Literal(value), other) => {
            binary(inst, dst, other, value)
        }
        _ => {}
    }
}

/// Shortens a commutative scalar operation in which one of the two sources is a literal.
fn binary(inst: &mut MachInst, dst: Operand, other: Operand, value: u32) {
    let accumulating = match inst.op {
        op::S_ADD_I32 => Some(op::S_ADDK_I32),
        op::S_MUL_I32 => Some(op::S_MULK_I32),
        _ => None,
    };
    let complementing = match inst.op {
        op::S_AND_B32 => Some(op::S_ANDN2_B32),
        op::S_OR_B32 => Some(op::S_ORN2_B32),
        op::S_XOR_B32 => Some(op::S_XNOR_B32),
        _ => None,
    };
    if let (Some(short), Some(imm)) = (accumulating.filter(|_| dst == other), small(value)) {
        set(inst, short, &[dst, imm]);
    } else if let (Some(short), complement @ Operand::Inline(_)) =
        (complementing, Operand::int(!value as i32))
    {
        set(inst, short, &[dst, other, complement]);
    }
}

/// Shortens a scalar compare with a literal that fits in 16 bits.
fn short_compare(inst: &mut MachInst) {
    let (op, reg, value) = match (inst.ops[0], inst.ops[1]) {
        (reg @ Operand::Reg(_), Operand::Literal(value)) => (inst.op, reg, value),
        (Operand::Literal(value), reg @ Operand::Reg(_)) => match swapped(inst.op) {
            Some(op) => (op, reg, value),
            None => return,
        },
        _ => return,
    };
    let signed = small(value);
    let unsigned = u16::try_from(value).ok().map(|value| Operand::Imm(i32::from(value)));
    let (short, imm) = match op {
        op::S_CMP_EQ_I32 | op::S_CMP_EQ_U32 if signed.is_some() => (op::S_CMPK_EQ_I32, signed),
        op::S_CMP_LG_I32 | op::S_CMP_LG_U32 if signed.is_some() => (op::S_CMPK_LG_I32, signed),
        op::S_CMP_GT_I32 => (op::S_CMPK_GT_I32, signed),
        op::S_CMP_GE_I32 => (op::S_CMPK_GE_I32, signed),
        op::S_CMP_LT_I32 => (op::S_CMPK_LT_I32, signed),
        op::S_CMP_LE_I32 => (op::S_CMPK_LE_I32, signed),
        op::S_CMP_EQ_I32 | op::S_CMP_EQ_U32 => (op::S_CMPK_EQ_U32, unsigned),
        op::S_CMP_LG_I32 | op::S_CMP_LG_U32 => (op::S_CMPK_LG_U32, unsigned),
        op::S_CMP_GT_U32 => (op::S_CMPK_GT_U32, unsigned),
        op::S_CMP_GE_U32 => (op::S_CMPK_GE_U32, unsigned),
        op::S_CMP_LT_U32 => (op::S_CMPK_LT_U32, unsigned),
        op::S_CMP_LE_U32 => (op::S_CMPK_LE_U32, unsigned),
        _ => return,
    };
    if let Some(imm) = imm {
        set(inst, short, &[reg, imm]);
    }
}

fn set(inst: &mut MachInst, op: Opcode, operands: &[Operand]) {
    let MachInst { loc, note, mem, .. } = *inst;
    *inst = MachInst { loc, note, mem, ..MachInst::new(op, operands) };
}

macro_rules! pairs {
    ($op:expr; $($a:ident $b:ident,)*) => {
        match $op {
            $(op::$a => Some(op::$b), op::$b => Some(op::$a),)*
            _ => None,
        }
    };
}

/// Returns the opcode that gives the same result if the first two sources are exchanged. For a commutative
/// instruction, this is the same opcode. For others, it is the opcode of the reversed instruction.
pub fn swapped(op: Opcode) -> Option<Opcode> {
    if op.row().flags.contains(Flags::COMMUTES) {
        return Some(op);
    }
    match op.family() {
        Family::Vop2 => swapped_arithmetic(op),
        Family::Vopc => swapped_compare(op),
        Family::Sopc => pairs! { op;
            S_CMP_LT_I32 S_CMP_GT_I32, S_CMP_LE_I32 S_CMP_GE_I32,
            S_CMP_LT_U32 S_CMP_GT_U32, S_CMP_LE_U32 S_CMP_GE_U32,
        },
        _ => None,
    }
}

fn swapped_arithmetic(op: Opcode) -> Option<Opcode> {
    pairs! { op;
        V_SUB_F32 V_SUBREV_F32, V_SUB_F16 V_SUBREV_F16, V_SUB_U32 V_SUBREV_U32, V_SUB_U16 V_SUBREV_U16,
        V_SUB_CO_U32 V_SUBREV_CO_U32, V_SUBB_CO_U32 V_SUBBREV_CO_U32,
    }
}

fn swapped_compare(op: Opcode) -> Option<Opcode> {
    pairs! { op;
        V_CMP_LT_F16 V_CMP_GT_F16, V_CMP_LE_F16 V_CMP_GE_F16, V_CMP_NLT_F16 V_CMP_NGT_F16, V_CMP_NLE_F16 V_CMP_NGE_F16,
        V_CMP_LT_F32 V_CMP_GT_F32, V_CMP_LE_F32 V_CMP_GE_F32, V_CMP_NLT_F32 V_CMP_NGT_F32, V_CMP_NLE_F32 V_CMP_NGE_F32,
        V_CMP_LT_F64 V_CMP_GT_F64, V_CMP_LE_F64 V_CMP_GE_F64, V_CMP_NLT_F64 V_CMP_NGT_F64, V_CMP_NLE_F64 V_CMP_NGE_F64,
        V_CMP_LT_I16 V_CMP_GT_I16, V_CMP_LE_I16 V_CMP_GE_I16, V_CMP_LT_U16 V_CMP_GT_U16, V_CMP_LE_U16 V_CMP_GE_U16,
        V_CMP_LT_I32 V_CMP_GT_I32, V_CMP_LE_I32 V_CMP_GE_I32, V_CMP_LT_U32 V_CMP_GT_U32, V_CMP_LE_U32 V_CMP_GE_U32,
        V_CMP_LT_I64 V_CMP_GT_I64, V_CMP_LE_I64 V_CMP_GE_I64, V_CMP_LT_U64 V_CMP_GT_U64, V_CMP_LE_U64 V_CMP_GE_U64,
        V_CMPX_LT_F16 V_CMPX_GT_F16, V_CMPX_LE_F16 V_CMPX_GE_F16, V_CMPX_NLT_F16 V_CMPX_NGT_F16,
        V_CMPX_NLE_F16 V_CMPX_NGE_F16, V_CMPX_LT_F32 V_CMPX_GT_F32, V_CMPX_LE_F32 V_CMPX_GE_F32,
        V_CMPX_NLT_F32 V_CMPX_NGT_F32, V_CMPX_NLE_F32 V_CMPX_NGE_F32, V_CMPX_LT_F64 V_CMPX_GT_F64,
        V_CMPX_LE_F64 V_CMPX_GE_F64, V_CMPX_NLT_F64 V_CMPX_NGT_F64, V_CMPX_NLE_F64 V_CMPX_NGE_F64,
        V_CMPX_LT_I16 V_CMPX_GT_I16, V_CMPX_LE_I16 V_CMPX_GE_I16, V_CMPX_LT_U16 V_CMPX_GT_U16,
        V_CMPX_LE_U16 V_CMPX_GE_U16, V_CMPX_LT_I32 V_CMPX_GT_I32, V_CMPX_LE_I32 V_CMPX_GE_I32,
        V_CMPX_LT_U32 V_CMPX_GT_U32, V_CMPX_LE_U32 V_CMPX_GE_U32, V_CMPX_LT_I64 V_CMPX_GT_I64,
        V_CMPX_LE_I64 V_CMPX_GE_I64, V_CMPX_LT_U64 V_CMPX_GT_U64, V_CMPX_LE_U64 V_CMPX_GE_U64,
    }
}
