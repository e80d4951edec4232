//! Shortest forms: hand-worked cases, and properties over random instructions.

use crate::common::random::{self, Rng};
use isa::{MachInst, Operand, Reg, RegRange, Role, Target, op};

fn v(n: u16) -> Operand {
    Operand::reg(Reg::vgpr(n))
}

fn s(n: u16) -> Operand {
    Operand::reg(Reg::sgpr(n))
}

#[track_caller]
fn check(cpu: &str, op: isa::Opcode, operands: &[Operand], expected: &str) {
    let target = Target::by_name(cpu).expect("a processor");
    let mut inst = MachInst::new(op, operands);
    isa::choose_form(target, &mut inst);
    let mut text = String::new();
    isa::write_inst(target, &inst, None, &mut text);
    assert_eq!(text, expected);
}

#[test]
fn vector_instructions() {
    let lit = Operand::int(0x1234_5678);
    check("gfx906", op::V_ADD_F32, &[v(0), v(1), v(2)], "v_add_f32_e32 v0, v1, v2");
    check("gfx906", op::V_ADD_F32, &[v(0), v(1), s(2)], "v_add_f32_e32 v0, s2, v1");
    check("gfx906", op::V_ADD_F32, &[v(0), s(1), s(1)], "v_add_f32_e64 v0, s1, s1");
    check("gfx906", op::V_SUB_U32, &[v(0), v(1), lit], "v_subrev_u32_e32 v0, 0x12345678, v1");
    check("gfx906", op::V_SUBREV_F32, &[v(0), v(1), s(3)], "v_sub_f32_e32 v0, s3, v1");
    check("gfx906", op::V_LSHLREV_B32, &[v(0), v(1), s(2)], "v_lshlrev_b32_e64 v0, v1, s2");
    check("gfx906", op::V_CMP_LT_I32, &[Operand::VCC, v(1), s(2)], "v_cmp_gt_i32_e32 vcc, s2, v1");
    check("gfx906", op::V_CMP_NLE_F32, &[Operand::VCC, v(1), s(2)], "v_cmp_nge_f32_e32 vcc, s2, v1");
    check(
        "gfx906",
        op::V_CMP_LT_I32,
        &[Operand::regs(Reg(4), 2), v(1), v(2)],
        "v_cmp_lt_i32_e64 s[4:5], v1, v2",
    );
    let carry = Operand::regs(Reg(8), 2);
    check("gfx906", op::V_ADD_CO_U32, &[v(0), Operand::VCC, v(1), s(2)], "v_add_co_u32_e32 v0, vcc, s2, v1");
    check(
        "gfx906",
        op::V_ADDC_CO_U32,
        &[v(0), Operand::VCC, v(1), v(2), carry],
        "v_addc_co_u32_e64 v0, vcc, v1, v2, s[8:9]",
    );
    check(
        "gfx906",
        op::V_CNDMASK_B32,
        &[v(0), s(1), v(2), Operand::VCC],
        "v_cndmask_b32_e32 v0, s1, v2, vcc",
    );
    check("gfx906", op::V_MOV_B32, &[v(0), Operand::int(i32::MIN)], "v_bfrev_b32_e32 v0, 1");
    check("gfx906", op::V_MOV_B32, &[v(0), Operand::int(!20)], "v_not_b32_e32 v0, 20");
    check("gfx906", op::V_MOV_B32, &[v(0), lit], "v_mov_b32_e32 v0, 0x12345678");
}

#[test]
fn accumulation() {
    check("gfx906", op::V_FMA_F32, &[v(0), s(1), v(2), v(0)], "v_fmac_f32_e32 v0, s1, v2");
    check("gfx906", op::V_FMA_F32, &[v(0), v(1), s(2), v(0)], "v_fmac_f32_e32 v0, s2, v1");
    check("gfx906", op::V_FMA_F32, &[v(0), v(1), v(2), v(3)], "v_fma_f32 v0, v1, v2, v3");
    check("gfx900", op::V_FMA_F32, &[v(0), v(1), v(2), v(0)], "v_fma_f32 v0, v1, v2, v0");
    check("gfx900", op::V_MAD_F32, &[v(0), v(1), v(2), v(0)], "v_mac_f32_e32 v0, v1, v2");
}

#[test]
fn scalar_instructions() {
    let lit = |value: i32| Operand::int(value);
    check("gfx906", op::S_MOV_B32, &[s(0), lit(1000)], "s_movk_i32 s0, 0x3e8");
    check("gfx906", op::S_MOV_B32, &[s(0), lit(-1000)], "s_movk_i32 s0, 0xfc18");
    check("gfx906", op::S_MOV_B32, &[s(0), lit(0xffff)], "s_mov_b32 s0, 0xffff");
    check("gfx906", op::S_MOV_B32, &[s(0), lit(i32::MIN)], "s_brev_b32 s0, 1");
    check("gfx906", op::S_ADD_I32, &[s(0), s(0), lit(1000)], "s_addk_i32 s0, 0x3e8");
    check("gfx906", op::S_ADD_I32, &[s(0), lit(1000), s(0)], "s_addk_i32 s0, 0x3e8");
    check("gfx906", op::S_ADD_I32, &[s(0), s(1), lit(1000)], "s_add_i32 s0, s1, 0x3e8");
    // The carry of an unsigned addition is not the overflow of a signed one.
    check("gfx906", op::S_ADD_U32, &[s(0), s(0), lit(1000)], "s_add_u32 s0, s0, 0x3e8");
    check("gfx906", op::S_SUB_I32, &[s(0), s(0), lit(1000)], "s_addk_i32 s0, 0xfc18");
    check("gfx906", op::S_MUL_I32, &[s(0), s(0), lit(1000)], "s_mulk_i32 s0, 0x3e8");
    check("gfx906", op::S_AND_B32, &[s(0), s(1), lit(!20)], "s_andn2_b32 s0, s1, 20");
    check("gfx906", op::S_CMP_LT_I32, &[s(0), lit(-1000)], "s_cmpk_lt_i32 s0, 0xfc18");
    check("gfx906", op::S_CMP_LT_I32, &[lit(1000), s(0)], "s_cmpk_gt_i32 s0, 0x3e8");
    check("gfx906", op::S_CMP_LT_U32, &[s(0), lit(0xffff)], "s_cmpk_lt_u32 s0, 0xffff");
    check("gfx906", op::S_CMP_LT_U32, &[s(0), lit(-1000)], "s_cmp_lt_u32 s0, 0xfffffc18");
    check("gfx906", op::S_CMP_EQ_U32, &[s(0), lit(-1000)], "s_cmpk_eq_i32 s0, 0xfc18");
    check("gfx906", op::S_CMP_EQ_I32, &[s(0), lit(0xffff)], "s_cmpk_eq_u32 s0, 0xffff");
}

/// Registers read and written, in a fixed order.
fn registers(target: &Target, inst: &MachInst) -> Vec<(u8, u16, u8)> {
    let mut all = Vec::new();
    inst.for_each_hw_reg(target, |role, RegRange { first, len }| {
        if role != Role::Def {
            all.push((0, first.0, len));
        }
        if role != Role::Use {
            all.push((1, first.0, len));
        }
    });
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn shorter_forms_touch_the_same_registers() {
    let mut rng = Rng::new(5);
    for target in &isa::PROCESSORS {
        for (op, form) in random::all_forms(target) {
            for _ in 0..30 {
                let before = random::inst(&mut rng, target, op, form);
                let mut after = before;
                isa::choose_form(target, &mut after);
                isa::encode(target, &after, &mut Vec::new()).expect("still an instruction");
                assert!(isa::size_in_words(target, &after) <= isa::size_in_words(target, &before));
                assert_eq!(registers(target, &before), registers(target, &after), "{before:?} {after:?}");
            }
        }
    }
}
