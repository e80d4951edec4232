//! Small functions whose best allocation is known.

use isa::{Abi, CodeObjectVersion, MBlock, MachInst, Operand, Reg, RegClass, RegRange, Subtarget, VReg, op};
use mir::{Edge, MachBlock, MachFunc};
use regalloc::{AllocError, Context, Options};

struct Builder {
    func: MachFunc,
}

impl Builder {
    fn new() -> Builder {
        let mut func = MachFunc::default();
        func.blocks.push(MachBlock::default());
        Builder { func }
    }

    fn regs(&mut self, class: RegClass, count: usize) -> Vec<VReg> {
        (0..count).map(|_| self.func.new_vreg(class)).collect()
    }

    fn op(&mut self, regs: &[VReg]) -> Operand {
        self.func.tuple(regs)
    }

    fn input(&mut self, class: RegClass, reg: Reg) -> VReg {
        let vreg = self.func.new_vreg(class);
        self.func.inputs.push((vreg, reg));
        vreg
    }

    fn push(&mut self, opcode: isa::Opcode, operands: &[Operand]) {
        self.func.blocks.last_mut().expect("one block").1.insts.push(MachInst::new(opcode, operands));
    }

    fn finish(mut self) -> MachFunc {
        let block = self.func.blocks.last_mut().expect("one block").1;
        block.term = block.insts.len() as u32;
        self.push(op::S_ENDPGM, &[Operand::Imm(0)]);
        allocate(self.func, Options::default()).expect("fits")
    }
}

/// Version 3 says that loads are not replayed, which would keep what they bring out of their addresses.
fn allocate(mut func: MachFunc, options: Options) -> Result<MachFunc, AllocError> {
    let target =
        Subtarget::by_name("gfx906").expect("gfx906 is a target").with_version(CodeObjectVersion::V3);
    let options = Options { check: true, ..options };
    regalloc::run(&mut func, &target, &options, &mut Context::default())?;
    Ok(func)
}

fn range(operand: Operand) -> RegRange {
    match operand {
        Operand::Reg(range) => range,
        other => panic!("{other:?} is no register"),
    }
}

/// Pairs and quads that are loaded and used whole: nothing is moved, and the inputs stay where they are.
#[test]
fn tuples_need_no_moves() {
    let mut b = Builder::new();
    b.func.abi = Abi { kernarg_ptr: true, ..Abi::default() };
    let kernarg = [b.input(RegClass::Sgpr, Reg(0)), b.input(RegClass::Sgpr, Reg(1))];
    let lane = b.input(RegClass::Vgpr, Reg::vgpr(0));
    let base = b.regs(RegClass::Sgpr, 2);
    let data = b.regs(RegClass::Vgpr, 4);
    let ops = [b.op(&base), b.op(&kernarg), Operand::Imm(0)];
    b.push(op::S_LOAD_DWORDX2, &ops);
    let ops = [b.op(&data), b.op(&[lane]), b.op(&base)];
    b.push(op::GLOBAL_LOAD_DWORDX4, &ops);
    let ops = [b.op(&[lane]), b.op(&data), b.op(&base)];
    b.push(op::GLOBAL_STORE_DWORDX4, &ops);
    let func = b.finish();
    let insts = &func.blocks[MBlock::from_u32(0)].insts;
    assert_eq!(insts.len(), 4, "{insts:?}");
    assert_eq!(range(insts[1].ops[1]), RegRange { first: Reg::vgpr(0), len: 1 }, "inputs stay");
    assert_eq!((func.vgprs, func.sgprs), (5, 2), "the base takes the place of the kernarg pointer");
    assert!(!func.uses_vcc);
}

/// SGPR pairs are even and groups of four are aligned, whatever comes before them.
#[test]
fn sgpr_tuples_are_aligned() {
    let mut b = Builder::new();
    b.func.abi = Abi { kernarg_ptr: true, workgroup_id: [true, false, false], ..Abi::default() };
    let kernarg = [b.input(RegClass::Sgpr, Reg(0)), b.input(RegClass::Sgpr, Reg(1))];
    let group = b.input(RegClass::Sgpr, Reg(2));
    let quad = b.regs(RegClass::Sgpr, 4);
    let sum = b.regs(RegClass::Sgpr, 1);
    let ops = [b.op(&quad), b.op(&kernarg), Operand::Imm(0)];
    b.push(op::S_LOAD_DWORDX4, &ops);
    let ops = [b.op(&sum), b.op(&[quad[1]]), b.op(&[group])];
    b.push(op::S_ADD_U32, &ops);
    let ops = [b.op(&quad), b.op(&[quad[2], quad[3]]), Operand::Imm(0)];
    b.push(op::S_LOAD_DWORDX4, &ops);
    let func = b.finish();
    let insts = &func.blocks[MBlock::from_u32(0)].insts;
    assert_eq!(insts.len(), 4, "{insts:?}");
    assert_eq!(range(insts[0].ops[0]).first.0 % 4, 0);
}

/// A lane mask of VALU instructions is in VCC, unless somebody uses VCC by name meanwhile.
#[test]
fn masks_prefer_vcc() {
    for by_name in [false, true] {
        let mut b = Builder::new();
        let lane = b.input(RegClass::Vgpr, Reg::vgpr(0));
        let mask = b.regs(RegClass::Sgpr, 2);
        let scaled = b.regs(RegClass::Vgpr, 1);
        let picked = b.regs(RegClass::Vgpr, 1);
        let x = b.op(&[lane]);
        let ops = [b.op(&mask), x, x];
        b.push(op::V_CMP_LT_U32, &ops);
        let vcc = if by_name { Operand::VCC } else { Operand::regs(Reg(10), 2) };
        let ops = [b.op(&scaled), vcc, x, x, x];
        b.push(op::V_DIV_SCALE_F32, &ops);
        let ops = [b.op(&picked), x, b.op(&scaled), b.op(&mask)];
        b.push(op::V_CNDMASK_B32, &ops);
        let func = b.finish();
        let insts = &func.blocks[MBlock::from_u32(0)].insts;
        let in_vcc = range(insts[0].ops[0]).first == Reg::VCC;
        assert_eq!(in_vcc, !by_name, "{insts:?}");
    }
}

/// A counted loop: the counter and the accumulator each stay in one register.
#[test]
fn loops_need_no_moves() {
    let mut b = Builder::new();
    let start = b.input(RegClass::Vgpr, Reg::vgpr(0));
    let zero = b.regs(RegClass::Sgpr, 1);
    let dst = b.op(&zero);
    b.push(op::S_MOV_B32, &[dst, Operand::int(0)]);
    let (count, next) = (b.regs(RegClass::Sgpr, 1), b.regs(RegClass::Sgpr, 1));
    let (sum, more) = (b.regs(RegClass::Vgpr, 1), b.regs(RegClass::Vgpr, 1));
    let blocks: Vec<MBlock> = (0..3).map(|_| b.func.blocks.push(MachBlock::default())).collect();
    let [body, back, exit] = blocks[..] else { panic!("three blocks") };
    let edge = |func: &mut MachFunc, to, args: &[VReg]| Some(Edge { to, args: func.arg_range(args) });
    let entry = MBlock::from_u32(0);
    let (linear, logical) = (edge(&mut b.func, body, &zero), edge(&mut b.func, body, &[start]));
    (b.func.blocks[entry].linear, b.func.blocks[entry].logical) = ([linear, None], [logical, None]);
    b.func.blocks[entry].term = 1;

    b.func.blocks[body].sgpr_params = count.clone();
    b.func.blocks[body].vgpr_params = sum.clone();
    let add = MachInst::new(op::S_ADD_U32, &[b.op(&next), b.op(&count), Operand::int(1)]);
    let accumulate = MachInst::new(op::V_ADD_U32, &[b.op(&more), b.op(&next), b.op(&sum)]);
    let compare = MachInst::new(op::S_CMP_LT_U32, &[b.op(&next), Operand::int(9)]);
    let branch = MachInst::new(op::S_CBRANCH_SCC0, &[Operand::Block(exit)]);
    b.func.blocks[body].insts = vec![add, accumulate, compare, branch];
    b.func.blocks[body].term = 3;
    let edges = [edge(&mut b.func, exit, &[]), edge(&mut b.func, back, &[])];
    (b.func.blocks[body].linear, b.func.blocks[body].logical) = (edges, edges);

    b.func.blocks[back].insts = vec![MachInst::new(op::S_BRANCH, &[Operand::Block(body)])];
    let (linear, logical) = (edge(&mut b.func, body, &next), edge(&mut b.func, body, &more));
    (b.func.blocks[back].linear, b.func.blocks[back].logical) = ([linear, None], [logical, None]);
    let address = b.op(&[more[0], more[0]]);
    let data = b.op(&more);
    b.push(op::GLOBAL_STORE_DWORD, &[address, data, Operand::None]);
    let func = b.finish();

    // The block of the back edge is gone: the loop is one block that branches to itself.
    let insts: Vec<Vec<isa::Opcode>> =
        func.blocks.values().map(|block| block.insts.iter().map(|inst| inst.op).collect()).collect();
    assert_eq!(insts[0], [op::S_MOV_B32]);
    assert_eq!(insts[1], [op::S_ADD_U32, op::V_ADD_U32, op::S_CMP_LT_U32, op::S_CBRANCH_SCC1]);
    // A register twice in one tuple costs the copies.
    assert_eq!(insts[2].last(), Some(&op::S_ENDPGM));
    assert_eq!((func.sgprs, func.blocks.len()), (1, 3));
}

#[test]
fn mistakes_of_earlier_passes_are_errors() {
    let mut b = Builder::new();
    let (dst, src) = (b.regs(RegClass::Vgpr, 1), b.regs(RegClass::Vgpr, 1));
    let ops = [b.op(&dst), b.op(&src)];
    b.push(op::V_MOV_B32, &ops);
    b.func.blocks[MBlock::from_u32(0)].term = 1;
    assert_eq!(allocate(b.func, Options::default()).err(), Some(AllocError::Undefined { vreg: src[0] }));

    let mut b = Builder::new();
    let lane = b.input(RegClass::Vgpr, Reg::vgpr(0));
    let edge = Edge { to: MBlock::from_u32(0), args: b.func.arg_range(&[lane]) };
    b.func.blocks[MBlock::from_u32(0)].logical = [Some(edge), None];
    assert!(matches!(allocate(b.func, Options::default()), Err(AllocError::Arguments { .. })));
}

#[test]
fn too_small_a_budget_is_an_error() {
    let mut b = Builder::new();
    let lane = b.input(RegClass::Vgpr, Reg::vgpr(0));
    let wide = b.regs(RegClass::Vgpr, 4);
    let ops = [b.op(&wide), b.op(&[lane, lane]), Operand::None];
    b.push(op::GLOBAL_LOAD_DWORDX4, &ops);
    b.func.blocks[MBlock::from_u32(0)].term = 1;
    let options = Options { budget_vgprs: Some(3), ..Options::default() };
    let error = allocate(b.func, options).err();
    assert_eq!(error, Some(AllocError::Registers { class: "VGPR", budget: 3 }));
}

/// A builder with the pointer to the kernel arguments, and 24 SGPRs to allocate.
fn with_arguments() -> (Builder, [VReg; 2]) {
    let mut b = Builder::new();
    b.func.abi = Abi { kernarg_ptr: true, ..Abi::default() };
    let pointer = [b.input(RegClass::Sgpr, Reg(0)), b.input(RegClass::Sgpr, Reg(1))];
    (b, pointer)
}

fn in_24_sgprs(mut b: Builder) -> (MachFunc, Vec<isa::Opcode>) {
    let block = b.func.blocks.last_mut().expect("one block").1;
    block.term = block.insts.len() as u32;
    b.push(op::S_ENDPGM, &[Operand::Imm(0)]);
    let func = allocate(b.func, Options { budget_sgprs: Some(24), ..Options::default() }).expect("fits");
    let opcodes = func.blocks.values().flat_map(|block| &block.insts).map(|inst| inst.op).collect();
    (func, opcodes)
}

/// Arguments that do not stay in registers are loaded again, as many at once as are wanted together.
#[test]
fn arguments_are_loaded_again() {
    let (mut b, pointer) = with_arguments();
    let quads: Vec<Vec<VReg>> = (0..8).map(|_| b.regs(RegClass::Sgpr, 4)).collect();
    for (n, quad) in quads.iter().enumerate() {
        let ops = [b.op(quad), b.op(&pointer), Operand::Imm(16 * n as i32)];
        b.push(op::S_LOAD_DWORDX4, &ops);
    }
    for quad in &quads {
        let sum = b.regs(RegClass::Sgpr, 2);
        let ops = [b.op(&sum), b.op(&quad[..2]), b.op(&quad[2..])];
        b.push(op::S_OR_B64, &ops);
    }
    let (func, opcodes) = in_24_sgprs(b);
    assert_eq!(func.spilled.sgprs, 0);
    // One quad may stay by half.
    let quads = opcodes.iter().filter(|&&opcode| opcode == op::S_LOAD_DWORDX4).count();
    assert!((7..=8).contains(&quads) && opcodes.len() <= 8 + 8 + 1 + 2, "{opcodes:?}");
}

/// Constants are made again; none is kept in lanes, nor made where nobody wants it.
#[test]
fn constants_are_made_again() {
    let (mut b, _) = with_arguments();
    let constants = b.regs(RegClass::Sgpr, 60);
    for (n, &reg) in constants.iter().enumerate() {
        let dst = b.op(&[reg]);
        b.push(op::COPY, &[dst, Operand::int(1000 + n as i32)]);
    }
    for pair in constants.chunks_exact(2) {
        let sum = b.regs(RegClass::Sgpr, 1);
        let ops = [b.op(&sum), b.op(&pair[..1]), b.op(&pair[1..])];
        b.push(op::S_ADD_U32, &ops);
    }
    let (func, opcodes) = in_24_sgprs(b);
    assert_eq!(func.spilled.sgprs, 0);
    assert_eq!(opcodes.iter().filter(|&&opcode| opcode == op::S_MOV_B32).count(), 60, "{opcodes:?}");
}

/// Addresses are computed again where SCC is free: before the comparison whose result is still to be read.
#[test]
fn addresses_are_made_again() {
    let (mut b, pointer) = with_arguments();
    let mut addresses = Vec::new();
    for global in 0..14 {
        let (pc, address) = (b.regs(RegClass::Sgpr, 2), b.regs(RegClass::Sgpr, 2));
        let dst = b.op(&pc);
        b.push(op::S_GETPC_B64, &[dst]);
        for (half, opcode) in [(0, op::S_ADD_U32), (1, op::S_ADDC_U32)] {
            let distance = Operand::Reloc(b.func.relocs.len() as u32);
            let part = if half == 1 { mir::Distance::High } else { mir::Distance::Low };
            b.func.relocs.push(mir::RelocRef { to: mir::Referent::Global(global), part, addend: 0 });
            let ops = [b.op(&address[half..half + 1]), b.op(&pc[half..half + 1]), distance];
            b.push(opcode, &ops);
        }
        addresses.push(address);
    }
    for address in &addresses {
        let (x, y) = (b.regs(RegClass::Sgpr, 1), b.regs(RegClass::Sgpr, 1));
        let low = b.op(&pointer[..1]);
        b.push(op::S_CMP_LT_U32, &[low, Operand::int(3)]);
        let ops = [b.op(&x), b.op(address), Operand::Imm(0)];
        b.push(op::S_LOAD_DWORD, &ops);
        let ops = [b.op(&y), b.op(&x), Operand::int(1)];
        b.push(op::S_CSELECT_B32, &ops);
    }
    let (func, opcodes) = in_24_sgprs(b);
    assert_eq!(func.spilled.sgprs, 0);
    assert_eq!(opcodes.iter().filter(|&&opcode| opcode == op::S_GETPC_B64).count(), 14, "{opcodes:?}");
}
