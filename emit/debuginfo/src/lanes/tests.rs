//! Tests of the analysis of lanes, on small handwritten pieces of code.

use super::*;
use isa::Opcode;
use mir::{ArgRange, Edge, MachBlock};

fn block(insts: &[MachInst], linear: &[u32]) -> MachBlock {
    let edge = |to: &u32| Edge { to: MBlock::from_u32(*to), args: ArgRange::default() };
    let mut edges = linear.iter().map(edge);
    MachBlock { insts: insts.to_vec(), linear: [edges.next(), edges.next()], ..MachBlock::default() }
}

fn pair(first: u16) -> Operand {
    Operand::regs(Reg(first), 2)
}

fn inst(opcode: Opcode, operands: &[Operand]) -> MachInst {
    MachInst::new(opcode, operands)
}

fn skip(to: u32) -> MachInst {
    inst(op::S_CBRANCH_EXECZ, &[Operand::Block(MBlock::from_u32(to))])
}

fn nop() -> MachInst {
    inst(op::S_NOP, &[Operand::Imm(0)])
}

fn restore(from: u16) -> MachInst {
    inst(op::S_MOV_B64, &[Operand::EXEC, pair(from)])
}

fn end() -> MachInst {
    inst(op::S_ENDPGM, &[Operand::Imm(0)])
}

/// Returns, for each range of code, the wakes for which lanes wait and the registers that hold their masks.
/// Every instruction is one dword long, except `v_readlane_b32` and similar instructions.
fn describe(blocks: &[MachBlock]) -> Vec<String> {
    let mut func = MachFunc::default();
    blocks.iter().for_each(|block| {
        func.blocks.push(block.clone());
    });
    let target = Subtarget::by_name("gfx906").expect("known");
    let lanes = read(&func, &target);
    let mut text = Vec::new();
    for range in &lanes.ranges {
        let mut line = format!("{}..{}:", range.start, range.end);
        let mut list = range.list;
        while let Some((wake, mask, next)) = lanes.lists.first(list) {
            let mask = match mask {
                Mask::Entry => "entry".to_owned(),
                Mask::Lost => "lost".to_owned(),
                Mask::Of(dwords) => format!("{:?}", dwords[0]),
            };
            line += &format!(" {}{} {mask}", wake.at, if wake.is_end { " (end)" } else { "" });
            list = next;
        }
        text.push(line);
    }
    text
}

#[test]
fn lanes_wait_behind_a_branch_while_a_register_has_them() {
    let branch = inst(op::S_AND_SAVEEXEC_B64, &[pair(4), pair(8)]);
    let copy = inst(op::S_MOV_B64, &[pair(10), pair(4)]);
    let lost = inst(op::S_NOT_B64, &[pair(10), pair(4)]);
    let code = |middle| {
        let first = block(&[branch, middle, skip(2)], &[1, 2]);
        describe(&[first, block(&[nop()], &[2]), block(&[restore(10), nop(), end()], &[])])
    };
    let end = "24 (end) entry";
    let expected = ["0..4:", "4..8: 20 [All(Scalar(s4))] END", "8..20: 20 [All(Scalar(s10))] END", "20..28:"];
    assert_eq!(code(copy), expected.map(|line| line.replace("END", end)));
    // If an instruction cannot be followed, the mask is lost before it.
    let expected = ["0..4:", "4..8: 20 lost END", "8..20: 20 [All(Scalar(s10))] END", "20..28: END"];
    assert_eq!(code(lost), expected.map(|line| line.replace("END", end)));
}

#[test]
fn the_last_instruction_may_be_both_a_place_to_go_on_and_the_end() {
    let branch = inst(op::S_AND_SAVEEXEC_B64, &[pair(4), pair(8)]);
    let blocks =
        [block(&[branch, skip(2)], &[1, 2]), block(&[nop()], &[2]), block(&[restore(4), end()], &[])];
    assert_eq!(describe(&blocks), ["0..4:", "4..16: 16 [All(Scalar(s4))] 16 (end) entry", "16..20:"]);
}

#[test]
fn a_mask_is_followed_into_a_lane_and_back() {
    let branch = inst(op::S_AND_SAVEEXEC_B64, &[pair(4), pair(8)]);
    let vector = Operand::reg(Reg::vgpr(3));
    let write = |n: u16| {
        inst(op::V_WRITELANE_B32, &[vector, Operand::reg(Reg(4 + n)), Operand::int(i32::from(n) + 7)])
    };
    let read = |n: u16| {
        inst(op::V_READLANE_B32, &[Operand::reg(Reg(4 + n)), vector, Operand::int(i32::from(n) + 7)])
    };
    let other = inst(op::S_MOV_B64, &[pair(4), Operand::int(5)]);
    let insts = [branch, write(0), write(1), other, nop(), read(0), read(1), restore(4), nop(), end()];
    let lines = describe(&[block(&insts, &[])]);
    let at = |byte: u32| {
        lines.iter().rfind(|line| {
            line.split("..").next().is_some_and(|start| start.parse::<u32>().expect("a byte") <= byte)
        })
    };
    // After the branch the mask is in registers, then in lanes of `v3` while other values are in the
    // registers, and then in registers again.
    assert_eq!(at(4).map(String::as_str), Some("4..12: 48 [All(Scalar(s4))] 52 (end) entry"));
    assert!(at(24).is_some_and(|line| line.contains("48 [All(Lane(v3, 7))]")), "{lines:?}");
    assert!(at(44).is_some_and(|line| line.contains("48 [All(Scalar(s4))]")), "{lines:?}");
}

#[test]
fn who_joins_a_mask_has_been_active() {
    // Some lanes leave the loop, and wait together with the lanes that left before.
    let leave = inst(op::S_AND_B64, &[pair(6), Operand::EXEC, pair(8)]);
    let join = inst(op::S_OR_B64, &[pair(4), pair(4), pair(6)]);
    let narrow = inst(op::S_ANDN2_B64, &[Operand::EXEC, Operand::EXEC, pair(8)]);
    let wake = inst(op::S_OR_B64, &[Operand::EXEC, Operand::EXEC, pair(4)]);
    let none = inst(op::S_MOV_B64, &[pair(4), Operand::int(0)]);
    let loops = inst(op::S_CBRANCH_EXECNZ, &[Operand::Block(MBlock::from_u32(1))]);
    let blocks = [
        block(&[none], &[1]),
        block(&[leave, join, narrow, loops], &[1, 2]),
        block(&[wake, nop(), end()], &[]),
    ];
    let lines = describe(&blocks);
    assert_eq!(lines[0], "0..4:");
    assert!(
        lines[1].starts_with("4..24: 24 [All(Scalar(s4))]") || lines[1].starts_with("4..8: 24"),
        "{lines:?}"
    );
}
