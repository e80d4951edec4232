//! Small functions by hand, and their text.

use isa::{CodeObjectVersion, MBlock, MachInst, ModFlags, Opcode, Operand, Reg, Subtarget, op};
use memmodel::Model;
use mir::{ArgRange, Edge, MachBlock, MachFunc, MemRef, SyncOrder, SyncScope};

/// The processor of the tests. Version 3 says that nothing is replayed, so that rules about replays keep out.
pub fn target() -> Subtarget {
    Subtarget::by_name("gfx906").unwrap().with_version(CodeObjectVersion::V3)
}

/// Its memory model.
pub fn model() -> Model {
    Model::for_subtarget(&target()).unwrap()
}

/// `v[n]`.
pub fn v(n: u16) -> Operand {
    Operand::reg(Reg::vgpr(n))
}

/// `v[n:n+len-1]`.
pub fn vs(n: u16, len: u8) -> Operand {
    Operand::regs(Reg::vgpr(n), len)
}

/// `s[n]`.
pub fn s(n: u16) -> Operand {
    Operand::reg(Reg::sgpr(n))
}

/// `s[n:n+len-1]`.
pub fn ss(n: u16, len: u8) -> Operand {
    Operand::regs(Reg::sgpr(n), len)
}

/// Any instruction.
pub fn inst(op: Opcode, operands: &[Operand]) -> MachInst {
    let mut inst = MachInst::new(op, operands);
    // VALU instructions are written in their short form where the tests need no other.
    let family = op.row().family;
    if matches!(family, isa::table::Family::Vop1 | isa::table::Family::Vop2) {
        inst.form = isa::Form::E32;
    }
    inst
}

/// `global_load_dword vN, v[100:101], off`.
pub fn load(dst: u16) -> MachInst {
    inst(op::GLOBAL_LOAD_DWORD, &[v(dst), vs(100, 2), Operand::None])
}

/// `global_store_dword v[100:101], vN, off`.
pub fn store(data: u16) -> MachInst {
    inst(op::GLOBAL_STORE_DWORD, &[vs(100, 2), v(data), Operand::None])
}

/// `ds_read_b32 vN, v102`.
pub fn lds_read(dst: u16) -> MachInst {
    inst(op::DS_READ_B32, &[v(dst), v(102)])
}

/// `ds_write_b32 v102, vN`.
pub fn lds_write(data: u16) -> MachInst {
    inst(op::DS_WRITE_B32, &[v(102), v(data)])
}

/// `s_load_dword sN, s[60:61], 0x0`.
pub fn s_load(dst: u16) -> MachInst {
    inst(op::S_LOAD_DWORD, &[s(dst), ss(60, 2), Operand::Imm(0)])
}

/// `v_mov_b32 vDST, src`.
pub fn mov(dst: u16, src: Operand) -> MachInst {
    inst(op::V_MOV_B32, &[v(dst), src])
}

/// `s_nop n`.
pub fn nop(n: i32) -> MachInst {
    inst(op::S_NOP, &[Operand::Imm(n)])
}

/// `s_endpgm`.
pub fn end() -> MachInst {
    inst(op::S_ENDPGM, &[Operand::Imm(0)])
}

/// A branch to a block.
pub fn branch(op: Opcode, to: u32) -> MachInst {
    inst(op, &[Operand::Block(MBlock::from_u32(to))])
}

/// A function of blocks, each with its successors.
pub fn func(blocks: &[(&[MachInst], &[u32])]) -> MachFunc {
    let mut func = MachFunc { name: "test".into(), ..MachFunc::default() };
    for (insts, successors) in blocks {
        let mut linear = [None; 2];
        for (edge, to) in linear.iter_mut().zip(*successors) {
            *edge = Some(Edge { to: MBlock::from_u32(*to), args: ArgRange::default() });
        }
        let term = insts.len() as u32;
        func.blocks.push(MachBlock { insts: insts.to_vec(), linear, term, ..MachBlock::default() });
    }
    func
}

/// A function of one block.
pub fn straight(insts: &[MachInst]) -> MachFunc {
    func(&[(insts, &[])])
}

/// An order at a scope on spaces.
pub fn mem(order: SyncOrder, scope: SyncScope, spaces: u8) -> MemRef {
    MemRef { order, scope, spaces, ..MemRef::default() }
}

/// Gives every instruction that `which` accepts the attributes.
pub fn with_mem(func: &mut MachFunc, mem: MemRef, which: impl Fn(&MachInst) -> bool) {
    let id = func.mem_ref(mem);
    for block in func.blocks.values_mut() {
        for inst in block.insts.iter_mut().filter(|inst| which(inst)) {
            inst.mem = id;
        }
    }
}

/// The instruction with `glc`.
pub fn glc(mut inst: MachInst) -> MachInst {
    inst.mods.flags |= ModFlags::GLC;
    inst
}

/// The code as text, a line an instruction, a blank line between blocks.
pub fn text(func: &MachFunc) -> String {
    let mut text = String::new();
    for (block, data) in func.blocks.iter() {
        if block.as_u32() != 0 {
            text.push('\n');
        }
        for inst in &data.insts {
            isa::write_inst(&target(), inst, Some(func), &mut text);
            text.push('\n');
        }
    }
    text
}

/// Compares text with what is expected, whose common indentation does not count.
#[track_caller]
pub fn expect(func: &MachFunc, expected: &str) {
    let lines: Vec<&str> = expected.lines().map(str::trim).collect();
    let expected = lines.join("\n");
    let found = text(func);
    assert_eq!(found.trim(), expected.trim(), "\n--- found ---\n{found}");
}
