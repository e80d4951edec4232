//! Register uses and wait counts: cases worked by hand from the manuals.

use isa::{Form, Lane, MachInst, ModFlags, Operand, Reg, RegRange, Role, SdwaSel, Target, op};

fn v(n: u16, len: u8) -> Operand {
    Operand::regs(Reg::vgpr(n), len)
}

fn roles(inst: &MachInst) -> Vec<Role> {
    let mut roles = Vec::new();
    inst.for_each_reg(|role, _| roles.push(role));
    roles
}

#[test]
fn atomics_read_or_exchange_their_data() {
    let mut inst = MachInst::new(
        op::BUFFER_ATOMIC_ADD,
        &[v(0, 1), Operand::None, Operand::regs(Reg(4), 4), Operand::Inline(128)],
    );
    assert_eq!(roles(&inst), [Role::Use, Role::Use]);
    inst.mods.flags = ModFlags::GLC;
    assert_eq!(roles(&inst), [Role::DefUse, Role::Use]);
}

#[test]
fn partial_writes_read_their_destination() {
    let mut inst = MachInst::new(op::V_MOV_B32, &[v(0, 1), v(1, 1)]);
    assert_eq!(roles(&inst), [Role::Def, Role::Use]);
    inst.form = Form::Sdwa;
    let sdwa = |unused| Lane::Sdwa {
        dst: SdwaSel::Byte0,
        unused,
        src0: SdwaSel::Dword,
        src1: SdwaSel::Dword,
        sext: 0,
    };
    inst.mods.lane = sdwa(2);
    assert_eq!(roles(&inst), [Role::DefUse, Role::Use]);
    inst.mods.lane = sdwa(0);
    assert_eq!(roles(&inst), [Role::Def, Role::Use]);
    inst.form = Form::Dpp;
    inst.mods.lane = Lane::Dpp { ctrl: 0x101, row_mask: 15, bank_mask: 15 };
    assert_eq!(roles(&inst), [Role::DefUse, Role::Use], "the last lane of a row has no source");
    inst.mods.flags = ModFlags::BOUND_CTRL;
    assert_eq!(roles(&inst), [Role::Def, Role::Use]);
}

#[test]
fn implicit_registers_are_told() {
    let target = Target::by_name("gfx906").expect("a processor");
    let scc = RegRange { first: Reg::SCC, len: 1 };
    let exec_hi = RegRange { first: Reg::EXEC.offset(1), len: 1 };
    let s = |n| Operand::regs(Reg::sgpr(n), 1);
    let add = MachInst::new(op::S_ADD_U32, &[s(0), s(1), s(2)]);
    assert!(add.writes(target, scc) && !add.reads(target, scc));
    let addc = MachInst::new(op::S_ADDC_U32, &[s(0), s(1), s(2)]);
    assert!(addc.writes(target, scc) && addc.reads(target, scc));
    let mul = MachInst::new(op::S_MUL_I32, &[s(0), s(1), s(2)]);
    assert!(!mul.writes(target, scc));
    let save = MachInst::new(op::S_AND_SAVEEXEC_B64, &[Operand::regs(Reg(0), 2), Operand::VCC]);
    assert!(save.writes(target, exec_hi) && save.reads(target, exec_hi) && save.writes(target, scc));
    let load = MachInst::new(op::GLOBAL_LOAD_DWORD, &[v(0, 1), v(2, 2), Operand::None]);
    assert!(load.reads(target, exec_hi) && !load.writes(target, exec_hi));
    assert!(!MachInst::new(op::V_READLANE_B32, &[s(0), v(0, 1), s(1)]).reads(target, exec_hi));
    let div = MachInst::new(op::V_DIV_FMAS_F32, &[v(0, 1); 4]);
    assert!(div.reads(target, RegRange { first: Reg::VCC, len: 1 }));
}

/// `vmcnt` is split: bits 3:0 and 15:14. The masks are those of `llvm-mc`.
#[test]
fn wait_masks() {
    let target = Target::by_name("gfx906").expect("a processor");
    assert_eq!(target.waitcnt(0, 7, 15), 0x0f70);
    assert_eq!(target.waitcnt(63, 7, 0), 0xc07f);
    assert_eq!(target.waitcnt(17, 7, 15), 0x4f71);
    assert_eq!(target.waitcnt(200, 200, 200), 0xcf7f);
    for mask in [0, 0x0f70, 0xc07f, 0x4f71, 0xcf7f] {
        let wait = target.unpack_waitcnt(mask);
        assert_eq!(target.waitcnt(wait.vm, wait.exp, wait.lgkm), mask);
    }
}
