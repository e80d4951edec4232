//! What the verifier of selected code refuses.

use isa::{MBlock, MachInst, Operand, Reg, RegClass, Subtarget, VReg, op};
use isel::verify::State;
use mir::{Edge, Edges, MachBlock, MachFunc};

/// A diamond: bb0 branches to bb1 and bb2, both go on to bb3, which ends. One SGPR is an input.
fn diamond() -> (MachFunc, VReg) {
    let mut func = MachFunc::default();
    let input = func.new_vreg(RegClass::Sgpr);
    func.inputs.push((input, Reg::sgpr(0)));
    let to = |n: u32| Some(Edge { to: MBlock::from_u32(n), args: Default::default() });
    let jump = |op, n| MachInst::new(op, &[Operand::Block(MBlock::from_u32(n))]);
    let ends: [(Vec<MachInst>, Edges); 4] = [
        (vec![jump(op::S_CBRANCH_SCC0, 2)], [to(1), to(2)]),
        (vec![jump(op::S_BRANCH, 3)], [to(3), None]),
        (vec![], [to(3), None]),
        (vec![MachInst::new(op::S_ENDPGM, &[Operand::Imm(0)])], [None, None]),
    ];
    for (insts, edges) in ends {
        func.blocks.push(MachBlock { insts, linear: edges, logical: edges, ..MachBlock::default() });
    }
    (func, input)
}

fn copy(func: &mut MachFunc, to: VReg, from: VReg) -> MachInst {
    let operands = [func.tuple(&[to]), func.tuple(&[from])];
    MachInst::new(op::COPY, &operands)
}

/// Puts an instruction at the beginning of a block.
fn insert(func: &mut MachFunc, block: u32, inst: MachInst) {
    let data = &mut func.blocks[MBlock::from_u32(block)];
    data.insts.insert(0, inst);
    data.term += 1;
}

fn complaints(func: &MachFunc) -> String {
    let target = Subtarget::by_name("gfx906").unwrap();
    let faults = isel::verify::verify(func, &target, State::Legal).err().unwrap_or_default();
    faults.iter().map(|fault| format!("{fault}\n")).collect()
}

#[test]
fn what_is_well_formed_passes() {
    let (mut func, input) = diamond();
    let (a, b) = (func.new_vreg(RegClass::Sgpr), func.new_vreg(RegClass::Sgpr));
    let first = copy(&mut func, a, input);
    let second = copy(&mut func, b, a);
    insert(&mut func, 3, second);
    insert(&mut func, 0, first);
    assert_eq!(complaints(&func), "");
}

#[test]
fn a_definition_on_one_side_does_not_reach_the_join() {
    let (mut func, input) = diamond();
    let (a, b) = (func.new_vreg(RegClass::Sgpr), func.new_vreg(RegClass::Sgpr));
    let first = copy(&mut func, a, input);
    let second = copy(&mut func, b, a);
    insert(&mut func, 1, first);
    insert(&mut func, 3, second);
    assert!(complaints(&func).contains("may be undefined"), "{}", complaints(&func));
}

#[test]
fn a_use_in_front_of_its_definition_and_two_definitions() {
    let (mut func, input) = diamond();
    let (a, b) = (func.new_vreg(RegClass::Sgpr), func.new_vreg(RegClass::Sgpr));
    let first = copy(&mut func, a, input);
    let second = copy(&mut func, b, a);
    insert(&mut func, 0, first);
    insert(&mut func, 0, second);
    assert!(complaints(&func).contains("may be undefined"));
    let (mut func, input) = diamond();
    let again = copy(&mut func, input, input);
    insert(&mut func, 0, again);
    assert!(complaints(&func).contains("is defined twice"));
}

#[test]
fn branches_and_edges_agree() {
    let (mut func, _) = diamond();
    func.blocks[MBlock::from_u32(1)].linear[0] = None;
    assert!(complaints(&func).contains("linear edges to"), "{}", complaints(&func));
}

#[test]
fn two_scalars_are_too_many() {
    let (mut func, input) = diamond();
    let (v, s) = (func.new_vreg(RegClass::Vgpr), func.new_vreg(RegClass::Sgpr));
    let def = copy(&mut func, s, input);
    let operands = [func.tuple(&[v]), func.tuple(&[input]), func.tuple(&[s])];
    insert(&mut func, 0, MachInst::new(op::V_AND_B32, &operands));
    insert(&mut func, 0, def);
    assert!(complaints(&func).contains("constant bus"), "{}", complaints(&func));
}
