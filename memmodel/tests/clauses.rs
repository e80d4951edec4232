//! The longest clause; what is in one and what is not shows in `tests/golden/clauses`.

use crate::common::build::{end, s, straight};
use isa::{MachInst, Operand, Subtarget, op};
use memmodel::{Context, Model, clauses};

#[test]
fn the_longest() {
    let model = Model::for_subtarget(&Subtarget::by_name("gfx1030").unwrap()).unwrap();
    for (loads, expected) in
        [(1, vec![]), (2, vec![1]), (63, vec![62]), (64, vec![62]), (65, vec![62, 1]), (126, vec![62, 62])]
    {
        let load = MachInst::new(op::S_LOAD_DWORD, &[s(90), crate::common::build::ss(2, 2), Operand::Imm(0)]);
        let mut insts = vec![load; loads];
        insts.push(end());
        let mut func = straight(&insts);
        clauses::run(&mut func, &model, &mut Context::default());
        let insts = func.blocks.values().flat_map(|block| &block.insts);
        let found: Vec<Operand> =
            insts.filter(|inst| inst.op == op::S_CLAUSE).map(|inst| inst.ops[0]).collect();
        let expected: Vec<Operand> = expected.into_iter().map(Operand::Imm).collect();
        assert_eq!(found, expected, "{loads} loads");
    }
}
