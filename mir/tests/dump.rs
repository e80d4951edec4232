//! The text of a function with everything that a dump shows.

use isa::{MachInst, Operand, Reg, RegClass, Target, op};
use mir::{ArgRange, Edge, MachBlock, MachFunc, Note};

#[test]
fn dumps_show_blocks_edges_and_reasons() {
    let target = Target::by_name("gfx906").expect("a processor");
    let mut func = MachFunc { name: "k".into(), ..MachFunc::default() };
    let a = func.new_vreg(RegClass::Vgpr);
    let b = func.new_vreg(RegClass::Vgpr);
    let pair = func.tuple(&[a, b]);
    let note = func.note(Note::Wait {
        counter: "vmcnt",
        producer: "global_load_dword",
        reg: Some(Reg::vgpr(3)),
        consumer: "v_add_f32",
    });
    let mut wait = MachInst::new(op::S_WAITCNT, &[Operand::Imm(0x0f70)]);
    wait.note = note;
    let load = MachInst::new(op::GLOBAL_LOAD_DWORDX2, &[pair, pair, Operand::None]);
    let args = func.arg_range(&[a]);
    let entry = func.blocks.push(MachBlock { insts: vec![load, wait], term: 2, ..MachBlock::default() });
    let exit = func.blocks.push(MachBlock { vgpr_params: vec![b], depth: 1, ..MachBlock::default() });
    func.blocks[entry].linear = [Some(Edge { to: exit, args: ArgRange::default() }), None];
    func.blocks[entry].logical = [Some(Edge { to: exit, args }), None];
    let expected = "\
machine @k {

bb0:
    global_load_dwordx2 %v[0,1], %v[0,1], off
    s_waitcnt vmcnt(0)                                   \"vmcnt: v_add_f32 needs v3 of global_load_dword\"
  linear -> bb1
  logical -> bb1(%v0)

bb1(%v1) depth 1:
}
";
    assert_eq!(func.dump(target), expected);
}
