//! Pairs of instructions for the hazards.

use super::build::*;
use isa::{Form, Lane, MachInst, Operand, Reg, op};

/// `v_readfirstlane_b32 dst, v0`.
pub fn read_first_lane(dst: Operand) -> MachInst {
    inst(op::V_READFIRSTLANE_B32, &[dst, v(0)])
}

fn cmp(mask: Operand) -> MachInst {
    let mut cmp = inst(op::V_CMP_EQ_U32, &[mask, v(0), v(1)]);
    cmp.form = Form::Full;
    cmp
}

fn dpp(dst: u16, src: u16) -> MachInst {
    let mut mov = mov(dst, v(src));
    mov.form = Form::Dpp;
    mov.mods.lane = Lane::Dpp { ctrl: 0x111, row_mask: 15, bank_mask: 15 };
    mov
}

/// `global_load_dword v2, v100, s[base:base+1]`.
pub fn based_load(base: u16) -> MachInst {
    inst(op::GLOBAL_LOAD_DWORD, &[v(2), v(100), ss(base, 2)])
}

fn setreg(id: i32, first: i32, bits: i32) -> MachInst {
    inst(op::S_SETREG_B32, &[Operand::Imm(id | first << 6 | (bits - 1) << 11), s(0)])
}

/// Two instructions and the wait states between them.
pub struct Pair {
    /// What it is about.
    pub what: &'static str,
    /// The first.
    pub first: MachInst,
    /// The second.
    pub second: MachInst,
    /// Wait states that must lie between.
    pub states: u8,
    /// Both in LLVM's words, where LLVM has the rule.
    pub mir: Option<[&'static str; 2]>,
}

/// Pairs on both sides of every rule.
pub fn pairs() -> Vec<Pair> {
    let div_fmas = inst(op::V_DIV_FMAS_F32, &[v(0), v(1), v(2), v(3)]);
    let wide_store = inst(op::GLOBAL_STORE_DWORDX4, &[vs(100, 2), vs(4, 4), Operand::None]);
    let buffer_store = |offset| inst(op::BUFFER_STORE_DWORDX4, &[vs(4, 4), Operand::None, ss(8, 4), offset]);
    let narrow_store = inst(op::GLOBAL_STORE_DWORDX2, &[vs(100, 2), vs(4, 2), Operand::None]);
    let wide_swap = inst(op::GLOBAL_ATOMIC_CMPSWAP_X2, &[Operand::None, vs(100, 2), vs(4, 4), Operand::None]);
    let move_m0 = inst(op::S_MOV_B32, &[Operand::reg(Reg::M0), s(0)]);
    let message = inst(op::S_SENDMSG, &[Operand::Imm(1)]);
    let execz = mov(0, Operand::reg(Reg::EXECZ));
    let vccz = mov(0, Operand::reg(Reg::VCCZ));
    let cmpx = inst(op::V_CMPX_EQ_U32, &[Operand::EXEC, v(0), v(1)]);
    let getreg = inst(op::S_GETREG_B32, &[s(0), Operand::Imm(1 | 31 << 11)]);
    let pair = |what, first, second, states| Pair { what, first, second, states, mir: mir(what) };
    vec![
        pair("SGPR of readfirstlane as base", read_first_lane(s(20)), based_load(20), 5),
        pair("its high half", read_first_lane(s(21)), based_load(20), 5),
        pair("SGPR of compare as base", cmp(ss(20, 2)), based_load(20), 5),
        pair("another SGPR", read_first_lane(s(22)), based_load(20), 0),
        pair("SALU's SGPR", inst(op::S_MOV_B32, &[s(20), s(0)]), based_load(20), 0),
        pair("EXEC of compare at a load", cmpx, load(2), 5),
        pair("lane select", read_first_lane(s(20)), inst(op::V_READLANE_B32, &[s(0), v(0), s(20)]), 4),
        pair(
            "lane select of writelane",
            read_first_lane(s(20)),
            inst(op::V_WRITELANE_B32, &[v(0), Operand::int(0), s(20)]),
            4,
        ),
        pair(
            "data of writelane",
            read_first_lane(s(20)),
            inst(op::V_WRITELANE_B32, &[v(0), s(20), Operand::int(0)]),
            0,
        ),
        pair("div_fmas after compare", cmp(Operand::VCC), div_fmas, 4),
        pair("div_fmas after a compare to elsewhere", cmp(ss(20, 2)), div_fmas, 0),
        pair("vccz as data", cmp(Operand::VCC), vccz, 5),
        pair("execz as data", cmpx, execz, 5),
        pair("DPP of a fresh VGPR", mov(5, v(9)), dpp(6, 5), 2),
        pair("DPP of another", mov(5, v(9)), dpp(6, 7), 0),
        pair("DPP after an EXEC of the VALU", cmpx, dpp(6, 7), 5),
        pair("message", move_m0, message, 1),
        pair("wide store, data overwritten", wide_store, mov(7, v(50)), 1),
        pair("wide store, other VGPR", wide_store, mov(8, v(50)), 0),
        pair("wide store, data loaded", wide_store, load(7), 0),
        pair("wide compare-and-swap", wide_swap, mov(4, v(50)), 1),
        pair("narrow store", narrow_store, mov(4, v(50)), 0),
        pair("wide buffer store", buffer_store(Operand::int(0)), mov(4, v(50)), 1),
        pair("wide buffer store with an SGPR offset", buffer_store(s(1)), mov(4, v(50)), 0),
        pair("getreg", setreg(1, 0, 8), getreg, 2),
        pair("setreg again", setreg(1, 0, 8), setreg(1, 0, 4), 2),
        pair("getreg of another", setreg(3, 0, 8), getreg, 0),
        pair("vskip", setreg(1, 28, 1), mov(0, v(1)), 2),
        pair("rounding mode", setreg(1, 0, 4), mov(0, v(1)), 0),
    ]
}

/// The pair in LLVM's words.
fn mir(what: &str) -> Option<[&'static str; 2]> {
    let (_, first, second) = MIR.iter().find(|(pair, _, _)| *pair == what)?;
    Some([first, second])
}

const MIR: &[(&str, &str, &str)] = &[
    (
        "SGPR of readfirstlane as base",
        "$sgpr20 = V_READFIRSTLANE_B32 $vgpr0, implicit $exec",
        "$vgpr2 = GLOBAL_LOAD_DWORD_SADDR $sgpr20_sgpr21, $vgpr100, 0, 0, implicit $exec",
    ),
    (
        "its high half",
        "$sgpr21 = V_READFIRSTLANE_B32 $vgpr0, implicit $exec",
        "$vgpr2 = GLOBAL_LOAD_DWORD_SADDR $sgpr20_sgpr21, $vgpr100, 0, 0, implicit $exec",
    ),
    (
        "SGPR of compare as base",
        "$sgpr20_sgpr21 = V_CMP_EQ_U32_e64 $vgpr0, $vgpr1, implicit $exec",
        "$vgpr2 = GLOBAL_LOAD_DWORD_SADDR $sgpr20_sgpr21, $vgpr100, 0, 0, implicit $exec",
    ),
    (
        "another SGPR",
        "$sgpr22 = V_READFIRSTLANE_B32 $vgpr0, implicit $exec",
        "$vgpr2 = GLOBAL_LOAD_DWORD_SADDR $sgpr20_sgpr21, $vgpr100, 0, 0, implicit $exec",
    ),
    (
        "SALU's SGPR",
        "$sgpr20 = S_MOV_B32 $sgpr0",
        "$vgpr2 = GLOBAL_LOAD_DWORD_SADDR $sgpr20_sgpr21, $vgpr100, 0, 0, implicit $exec",
    ),
    (
        "EXEC of compare at a load",
        "V_CMPX_EQ_U32_e32 $vgpr0, $vgpr1, implicit-def $vcc, implicit-def $exec, implicit $exec",
        "$vgpr2 = GLOBAL_LOAD_DWORD $vgpr100_vgpr101, 0, 0, implicit $exec",
    ),
    (
        "lane select",
        "$sgpr20 = V_READFIRSTLANE_B32 $vgpr0, implicit $exec",
        "$sgpr0 = V_READLANE_B32 $vgpr0, $sgpr20",
    ),
    (
        "lane select of writelane",
        "$sgpr20 = V_READFIRSTLANE_B32 $vgpr0, implicit $exec",
        "$vgpr0 = V_WRITELANE_B32 0, $sgpr20, $vgpr0",
    ),
    (
        "data of writelane",
        "$sgpr20 = V_READFIRSTLANE_B32 $vgpr0, implicit $exec",
        "$vgpr0 = V_WRITELANE_B32 $sgpr20, 0, $vgpr0",
    ),
    (
        "div_fmas after compare",
        "V_CMP_EQ_U32_e32 $vgpr0, $vgpr1, implicit-def $vcc, implicit $exec",
        "$vgpr0 = V_DIV_FMAS_F32_e64 0, $vgpr1, 0, $vgpr2, 0, $vgpr3, 0, 0, implicit $mode, implicit $vcc, implicit $exec",
    ),
    (
        "div_fmas after a compare to elsewhere",
        "$sgpr20_sgpr21 = V_CMP_EQ_U32_e64 $vgpr0, $vgpr1, implicit $exec",
        "$vgpr0 = V_DIV_FMAS_F32_e64 0, $vgpr1, 0, $vgpr2, 0, $vgpr3, 0, 0, implicit $mode, implicit $vcc, implicit $exec",
    ),
    (
        "DPP of a fresh VGPR",
        "$vgpr5 = V_MOV_B32_e32 $vgpr9, implicit $exec",
        "$vgpr6 = V_MOV_B32_dpp undef $vgpr6, $vgpr5, 273, 15, 15, 0, implicit $exec",
    ),
    (
        "DPP of another",
        "$vgpr5 = V_MOV_B32_e32 $vgpr9, implicit $exec",
        "$vgpr6 = V_MOV_B32_dpp undef $vgpr6, $vgpr7, 273, 15, 15, 0, implicit $exec",
    ),
    (
        "DPP after an EXEC of the VALU",
        "V_CMPX_EQ_U32_e32 $vgpr0, $vgpr1, implicit-def $vcc, implicit-def $exec, implicit $exec",
        "$vgpr6 = V_MOV_B32_dpp undef $vgpr6, $vgpr7, 273, 15, 15, 0, implicit $exec",
    ),
    ("message", "$m0 = S_MOV_B32 $sgpr0", "S_SENDMSG 1, implicit $exec, implicit $m0"),
    (
        "wide store, data overwritten",
        "GLOBAL_STORE_DWORDX4 $vgpr100_vgpr101, $vgpr4_vgpr5_vgpr6_vgpr7, 0, 0, implicit $exec",
        "$vgpr7 = V_MOV_B32_e32 $vgpr50, implicit $exec",
    ),
    (
        "wide store, other VGPR",
        "GLOBAL_STORE_DWORDX4 $vgpr100_vgpr101, $vgpr4_vgpr5_vgpr6_vgpr7, 0, 0, implicit $exec",
        "$vgpr8 = V_MOV_B32_e32 $vgpr50, implicit $exec",
    ),
    (
        "wide store, data loaded",
        "GLOBAL_STORE_DWORDX4 $vgpr100_vgpr101, $vgpr4_vgpr5_vgpr6_vgpr7, 0, 0, implicit $exec",
        "$vgpr7 = GLOBAL_LOAD_DWORD $vgpr100_vgpr101, 0, 0, implicit $exec",
    ),
    (
        "wide compare-and-swap",
        "GLOBAL_ATOMIC_CMPSWAP_X2 $vgpr100_vgpr101, $vgpr4_vgpr5_vgpr6_vgpr7, 0, 0, implicit $exec",
        "$vgpr4 = V_MOV_B32_e32 $vgpr50, implicit $exec",
    ),
    (
        "narrow store",
        "GLOBAL_STORE_DWORDX2 $vgpr100_vgpr101, $vgpr4_vgpr5, 0, 0, implicit $exec",
        "$vgpr4 = V_MOV_B32_e32 $vgpr50, implicit $exec",
    ),
    (
        "wide buffer store",
        "BUFFER_STORE_DWORDX4_OFFSET $vgpr4_vgpr5_vgpr6_vgpr7, $sgpr8_sgpr9_sgpr10_sgpr11, 0, 0, 0, 0, implicit $exec",
        "$vgpr4 = V_MOV_B32_e32 $vgpr50, implicit $exec",
    ),
    (
        "wide buffer store with an SGPR offset",
        "BUFFER_STORE_DWORDX4_OFFSET $vgpr4_vgpr5_vgpr6_vgpr7, $sgpr8_sgpr9_sgpr10_sgpr11, $sgpr1, 0, 0, 0, implicit $exec",
        "$vgpr4 = V_MOV_B32_e32 $vgpr50, implicit $exec",
    ),
    (
        "getreg",
        "S_SETREG_B32 $sgpr0, 14337, implicit-def $mode, implicit $mode",
        "$sgpr0 = S_GETREG_B32 63489, implicit $mode",
    ),
    (
        "setreg again",
        "S_SETREG_B32 $sgpr0, 14337, implicit-def $mode, implicit $mode",
        "S_SETREG_B32 $sgpr0, 6145, implicit-def $mode, implicit $mode",
    ),
    (
        "getreg of another",
        "S_SETREG_B32 $sgpr0, 14339, implicit-def $mode, implicit $mode",
        "$sgpr0 = S_GETREG_B32 63489, implicit $mode",
    ),
];
