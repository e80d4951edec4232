//! Random machine functions: valid SSA on both graphs, tuples up to 16 dwords, uniform and divergent branches, loops.
#![allow(dead_code, missing_docs)]

use isa::table::{Kind, Role};
use isa::{Abi, Form, MBlock, MachInst, ModFlags, Opcode, Operand, Reg, RegClass, VReg, op};
use mir::{Edge, MachBlock, MachFunc};
use support::Random;

/// What kind of program.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Instructions, roughly.
    pub insts: usize,
    /// How far back operands reach: more means more registers live at once.
    pub reach: usize,
    /// Nesting of branches and loops.
    pub depth: usize,
}

/// Instructions of the straight-line parts: any operand may be any value of its class and width.
const OPS: &[Opcode] = &[
    op::S_ADD_U32,
    op::S_AND_B64,
    op::S_OR_B64,
    op::S_MOV_B64,
    op::S_LOAD_DWORD,
    op::S_LOAD_DWORDX2,
    op::S_LOAD_DWORDX4,
    op::S_LOAD_DWORDX8,
    op::S_LOAD_DWORDX16,
    op::V_MOV_B32,
    op::V_ADD_U32,
    op::V_ADD_U32,
    op::V_ADD_F32,
    op::V_FMA_F32,
    op::V_FMA_F32,
    op::V_FMA_F64,
    op::V_LSHLREV_B64,
    op::V_MAD_U64_U32,
    op::V_CMP_LT_U32,
    op::V_CNDMASK_B32,
    op::V_ADD_CO_U32,
    op::V_ADDC_CO_U32,
    op::V_FMAC_F32,
    op::V_READFIRSTLANE_B32,
    op::V_WRITELANE_B32,
    op::GLOBAL_LOAD_DWORD,
    op::GLOBAL_LOAD_DWORDX2,
    op::GLOBAL_LOAD_DWORDX3,
    op::GLOBAL_LOAD_DWORDX4,
    op::GLOBAL_STORE_DWORD,
    op::GLOBAL_STORE_DWORDX3,
    op::GLOBAL_STORE_DWORDX4,
    op::GLOBAL_ATOMIC_ADD,
    op::BUFFER_ATOMIC_ADD,
    op::DS_READ2_B32,
    op::DS_READ_B128,
];

pub struct Generator {
    rng: Random,
    shape: Shape,
    func: MachFunc,
    /// Tuples that may be read here, by class.
    pool: [Vec<Vec<VReg>>; 2],
    block: MBlock,
    left: usize,
    depth: u8,
    /// `v_writelane_b32` still allowed.
    lane_writes: u32,
}

fn class_of(kind: Kind) -> RegClass {
    match kind {
        Kind::Vgpr | Kind::Vsrc | Kind::Vaddr => RegClass::Vgpr,
        _ => RegClass::Sgpr,
    }
}

/// A random function; the same for the same seed.
pub fn generate(seed: u64, shape: Shape) -> MachFunc {
    let mut generator = Generator {
        rng: Random::new(seed),
        shape,
        func: MachFunc { name: format!("random_{seed}"), ..MachFunc::default() },
        pool: [Vec::new(), Vec::new()],
        block: MBlock::from_u32(0),
        left: shape.insts,
        depth: 0,
        lane_writes: 2,
    };
    generator.entry();
    while generator.left > 0 {
        generator.region(shape.depth);
    }
    generator.finish()
}

impl Generator {
    fn entry(&mut self) {
        self.block = self.func.blocks.push(MachBlock::default());
        self.func.abi =
            Abi { kernarg_ptr: true, workgroup_id: [true, false, false], workitem_ids: 1, ..Abi::default() };
        for (class, reg, len) in [
            (RegClass::Sgpr, Reg::sgpr(0), 2),
            (RegClass::Sgpr, Reg::sgpr(2), 1),
            (RegClass::Vgpr, Reg::vgpr(0), 1),
            (RegClass::Vgpr, Reg::vgpr(1), 1),
        ] {
            let regs: Vec<VReg> = (0..len).map(|_| self.func.new_vreg(class)).collect();
            for (i, &vreg) in regs.iter().enumerate() {
                self.func.inputs.push((vreg, reg.offset(i as u16)));
            }
            self.pool[class as usize].push(regs);
        }
    }

    fn finish(mut self) -> MachFunc {
        self.terminate();
        self.push(MachInst::new(op::S_ENDPGM, &[Operand::Imm(0)]));
        self.func
    }

    fn push(&mut self, inst: MachInst) {
        self.func.blocks[self.block].insts.push(inst);
    }

    fn terminate(&mut self) {
        let block = &mut self.func.blocks[self.block];
        block.term = block.insts.len() as u32;
    }

    fn fresh(&mut self, class: RegClass, len: usize) -> Vec<VReg> {
        (0..len).map(|_| self.func.new_vreg(class)).collect()
    }

    /// A value of that width: often a whole tuple as it was made, else dwords from anywhere.
    fn pick(&mut self, class: RegClass, len: usize) -> Vec<VReg> {
        let (rng, pool) = (&mut self.rng, &self.pool[class as usize]);
        let from = pool.len().saturating_sub(self.shape.reach);
        if rng.below(100) < 70 {
            let same: Vec<&Vec<VReg>> = pool[from..].iter().filter(|regs| regs.len() >= len).collect();
            if !same.is_empty() {
                let regs = same[rng.below(same.len())];
                let start = rng.below(regs.len() - len + 1);
                return regs[start..start + len].to_vec();
            }
        }
        (0..len)
            .map(|_| {
                let regs = &pool[from + rng.below(pool.len() - from)];
                regs[rng.below(regs.len())]
            })
            .collect()
    }

    fn operand(&mut self, class: RegClass, len: usize) -> Operand {
        let regs = self.pick(class, len);
        self.func.tuple(&regs)
    }

    /// A straight-line instruction.
    fn inst(&mut self) {
        self.left = self.left.saturating_sub(1);
        match self.rng.below(24) {
            0 => return self.copy(),
            1 => return self.division(),
            2 => return self.undef(),
            _ => {}
        }
        let mut opcode = OPS[self.rng.below(OPS.len())];
        // Each of these keeps a register for the whole function.
        if opcode == op::V_WRITELANE_B32 {
            opcode = if self.lane_writes > 0 { opcode } else { op::V_ADD_U32 };
            self.lane_writes = self.lane_writes.saturating_sub(1);
        }
        let row = opcode.row();
        let mut ops = Vec::new();
        let mut defs: Vec<(RegClass, Vec<VReg>)> = Vec::new();
        for spec in row.ops {
            let mut class = class_of(spec.kind);
            let len = usize::from(spec.width);
            ops.push(match (spec.role, spec.kind) {
                (Role::Def, _) => {
                    let regs = self.fresh(class, len);
                    defs.push((class, regs.clone()));
                    self.func.tuple(&regs)
                }
                // Modified in place: a value of its own, made just before.
                (Role::DefUse, _) => {
                    let regs = self.fresh(class, len);
                    let dst = self.func.tuple(&regs);
                    let src = self.operand(class, len);
                    self.push(MachInst::new(op::COPY, &[dst, src]));
                    defs.push((class, regs));
                    dst
                }
                (_, Kind::SmemOffset) => Operand::Imm(16),
                (_, Kind::Saddr) if (self.rng.below(100) < 50) => Operand::None,
                (_, Kind::Ssrc | Kind::Vsrc) if (self.rng.below(100) < 15) => Operand::int(5),
                _ => {
                    if spec.kind == Kind::Vsrc && len == 1 && (self.rng.below(100) < 10) {
                        class = RegClass::Sgpr;
                    }
                    self.operand(class, len)
                }
            });
        }
        let mut inst = MachInst::new(opcode, &ops);
        if row.ops.iter().any(|spec| spec.kind == Kind::Mask) && (self.rng.below(100) < 40) {
            let e32 =
                matches!(opcode, op::V_CMP_LT_U32 | op::V_CNDMASK_B32 | op::V_ADD_CO_U32 | op::V_ADDC_CO_U32);
            inst.form = if e32 { Form::E32 } else { Form::Full };
        }
        if opcode == op::GLOBAL_ATOMIC_ADD || opcode == op::BUFFER_ATOMIC_ADD {
            if self.rng.below(100) < 50 {
                inst.mods.flags |= ModFlags::GLC;
            } else if opcode == op::GLOBAL_ATOMIC_ADD {
                inst.ops[0] = Operand::None;
                defs.clear();
            }
        }
        self.push(inst);
        for (class, regs) in defs {
            self.pool[class as usize].push(regs);
        }
    }

    fn copy(&mut self) {
        let class = if self.rng.below(100) < 50 { RegClass::Sgpr } else { RegClass::Vgpr };
        let len = 1 + self.rng.below(4);
        let regs = self.fresh(class, len);
        let dst = self.func.tuple(&regs);
        let src = match self.rng.below(4) {
            0 => Operand::int(self.rng.below(100) - 20),
            1 => self.operand(RegClass::Sgpr, len),
            _ => self.operand(class, len),
        };
        self.push(MachInst::new(op::COPY, &[dst, src]));
        self.pool[class as usize].push(regs);
    }

    fn undef(&mut self) {
        let class = if self.rng.below(100) < 50 { RegClass::Sgpr } else { RegClass::Vgpr };
        let regs = self.fresh(class, 2);
        let dst = self.func.tuple(&regs);
        self.push(MachInst::new(op::UNDEF, &[dst]));
        self.pool[class as usize].push(regs);
    }

    /// `v_div_scale_f32` and `v_div_fmas_f32`, which speak of VCC by name, with something between.
    fn division(&mut self) {
        let [a, b, c] = [0; 3].map(|_| self.operand(RegClass::Vgpr, 1));
        let scaled = self.fresh(RegClass::Vgpr, 1);
        let dst = self.func.tuple(&scaled);
        self.push(MachInst::new(op::V_DIV_SCALE_F32, &[dst, Operand::VCC, a, b, c]));
        for _ in 0..self.rng.below(3) {
            let sum = self.fresh(RegClass::Vgpr, 1);
            let (dst, x) = (self.func.tuple(&sum), self.operand(RegClass::Vgpr, 1));
            self.push(MachInst::new(op::V_ADD_F32, &[dst, x, a]));
            let mask = self.fresh(RegClass::Sgpr, 2);
            let dst = self.func.tuple(&mask);
            self.push(MachInst::new(op::V_CMP_LT_F32, &[dst, x, a]));
            self.pool[0].push(mask);
            self.pool[1].push(sum);
        }
        let quotient = self.fresh(RegClass::Vgpr, 1);
        let (dst, x) = (self.func.tuple(&quotient), self.func.tuple(&scaled));
        self.push(MachInst::new(op::V_DIV_FMAS_F32, &[dst, x, b, c]));
        self.pool[1].push(quotient);
    }

    /// Some instructions, or a branch or loop around regions.
    fn region(&mut self, depth: usize) {
        for _ in 0..1 + self.rng.below(12) {
            self.inst();
        }
        if depth == 0 || self.left == 0 {
            return;
        }
        match self.rng.below(4) {
            0 => self.uniform_if(depth),
            1 => self.divergent_if(depth),
            2 => self.repeat(depth),
            _ => {}
        }
    }

    fn new_block(&mut self) -> MBlock {
        self.func.blocks.push(MachBlock { depth: self.depth, ..MachBlock::default() })
    }

    fn marks(&self) -> [usize; 2] {
        [self.pool[0].len(), self.pool[1].len()]
    }

    fn restore(&mut self, marks: [usize; 2]) {
        self.pool[0].truncate(marks[0]);
        self.pool[1].truncate(marks[1]);
    }

    fn args(&mut self, class: RegClass, count: usize) -> Vec<VReg> {
        (0..count).map(|_| self.pick(class, 1)[0]).collect()
    }

    fn edge(&mut self, to: MBlock, args: &[VReg]) -> Option<Edge> {
        Some(Edge { to, args: self.func.arg_range(args) })
    }

    /// Ends the current block; both graphs go to the same place.
    fn jump(&mut self, to: MBlock, sgprs: &[VReg], vgprs: &[VReg]) {
        let from = self.block;
        self.terminate();
        self.push(MachInst::new(op::S_BRANCH, &[Operand::Block(to)]));
        let (linear, logical) = (self.edge(to, sgprs), self.edge(to, vgprs));
        self.func.blocks[from].linear = [linear, None];
        self.func.blocks[from].logical = [logical, None];
    }

    /// Ends the current block with a uniform condition, perhaps passing arguments to one-predecessor blocks.
    fn branch(&mut self, targets: [MBlock; 2]) {
        let from = self.block;
        self.terminate();
        self.push(MachInst::new(op::S_CBRANCH_SCC1, &[Operand::Block(targets[0])]));
        self.push(MachInst::new(op::S_BRANCH, &[Operand::Block(targets[1])]));
        for (i, to) in targets.into_iter().enumerate() {
            let counts = [self.rng.below(2), self.rng.below(3)];
            let sgprs = self.args(RegClass::Sgpr, counts[0]);
            let vgprs = self.args(RegClass::Vgpr, counts[1]);
            self.func.blocks[to].sgpr_params = self.fresh(RegClass::Sgpr, counts[0]);
            self.func.blocks[to].vgpr_params = self.fresh(RegClass::Vgpr, counts[1]);
            self.func.blocks[from].linear[i] = self.edge(to, &sgprs);
            self.func.blocks[from].logical[i] = self.edge(to, &vgprs);
        }
    }

    fn enter(&mut self, block: MBlock) {
        self.block = block;
        let data = &self.func.blocks[block];
        let params = [data.sgpr_params.clone(), data.vgpr_params.clone()];
        for (pool, params) in self.pool.iter_mut().zip(params) {
            pool.extend(params.into_iter().map(|param| vec![param]));
        }
    }

    fn params(&mut self, block: MBlock, sgprs: usize, vgprs: usize) {
        self.func.blocks[block].sgpr_params = self.fresh(RegClass::Sgpr, sgprs);
        self.func.blocks[block].vgpr_params = self.fresh(RegClass::Vgpr, vgprs);
    }

    fn uniform_if(&mut self, depth: usize) {
        let counts = [self.rng.below(4), self.rng.below(6)];
        let then = self.new_block();
        let otherwise = self.new_block();
        self.branch([then, otherwise]);
        let marks = self.marks();
        let mut ends = Vec::new();
        for side in [then, otherwise] {
            self.enter(side);
            self.region(depth - 1);
            let sgprs = self.args(RegClass::Sgpr, counts[0]);
            let vgprs = self.args(RegClass::Vgpr, counts[1]);
            ends.push((self.block, sgprs, vgprs));
            self.restore(marks);
        }
        let join = self.new_block();
        self.params(join, counts[0], counts[1]);
        for (block, sgprs, vgprs) in ends {
            self.block = block;
            self.jump(join, &sgprs, &vgprs);
        }
        self.enter(join);
    }

    /// `if` under a lane mask: the program counter goes through both sides, a lane through one.
    fn divergent_if(&mut self, depth: usize) {
        let vgprs = self.rng.below(6);
        let mask = self.operand(RegClass::Sgpr, 2);
        let from = self.block;
        self.terminate();
        let saved = self.fresh(RegClass::Sgpr, 2);
        let saved = self.func.tuple(&saved);
        self.push(MachInst::new(op::S_AND_SAVEEXEC_B64, &[saved, mask]));
        let then = self.new_block();
        self.enter(then);
        let marks = self.marks();
        self.region(depth - 1);
        let (then_end, then_args) = (self.block, self.args(RegClass::Vgpr, vgprs));
        self.restore(marks);

        let otherwise = self.new_block();
        self.enter(otherwise);
        self.push(MachInst::new(op::S_ANDN2_B64, &[Operand::EXEC, saved, Operand::EXEC]));
        self.func.blocks[otherwise].prologue = 1;
        self.region(depth - 1);
        let (else_end, else_args) = (self.block, self.args(RegClass::Vgpr, vgprs));
        self.restore(marks);

        let join = self.new_block();
        self.params(join, 0, vgprs);
        self.block = from;
        self.push(MachInst::new(op::S_CBRANCH_EXECZ, &[Operand::Block(otherwise)]));
        self.func.blocks[from].linear = [self.edge(otherwise, &[]), self.edge(then, &[])];
        self.func.blocks[from].logical = [self.edge(otherwise, &[]), self.edge(then, &[])];
        for (end, args, next) in [(then_end, then_args, otherwise), (else_end, else_args, join)] {
            self.block = end;
            self.terminate();
            self.push(MachInst::new(op::S_BRANCH, &[Operand::Block(next)]));
            self.func.blocks[end].linear = [self.edge(next, &[]), None];
            self.func.blocks[end].logical = [self.edge(join, &args), None];
        }
        self.enter(join);
        self.push(MachInst::new(op::S_OR_B64, &[Operand::EXEC, Operand::EXEC, saved]));
        self.func.blocks[join].prologue = 1;
    }

    /// A loop; with a lane mask that shrinks, or uniform.
    fn repeat(&mut self, depth: usize) {
        let counts = [self.rng.below(5), self.rng.below(10)];
        let initial = [self.args(RegClass::Sgpr, counts[0]), self.args(RegClass::Vgpr, counts[1])];
        let before = self.block;
        self.depth += 1;
        let header = self.new_block();
        self.params(header, counts[0], counts[1]);
        let data = &self.func.blocks[header];
        let own = [data.sgpr_params.clone(), data.vgpr_params.clone()];
        self.jump(header, &initial[0], &initial[1]);
        debug_assert_ne!(before, header);
        self.enter(header);
        self.region(depth - 1);
        // Parameters often go round unchanged or swapped.
        let mut around = [self.args(RegClass::Sgpr, counts[0]), self.args(RegClass::Vgpr, counts[1])];
        for (own, around) in own.iter().zip(&mut around) {
            for arg in around.iter_mut() {
                if self.rng.below(100) < 40 {
                    *arg = own[self.rng.below(own.len())];
                }
            }
        }
        let latch = self.block;
        self.terminate();
        if self.rng.below(100) < 50 {
            let mask = self.operand(RegClass::Sgpr, 2);
            self.push(MachInst::new(op::S_ANDN2_B64, &[Operand::EXEC, Operand::EXEC, mask]));
        }
        let back = self.new_block();
        self.depth -= 1;
        let exit = self.new_block();
        self.push(MachInst::new(op::S_CBRANCH_SCC0, &[Operand::Block(exit)]));
        self.func.blocks[latch].linear = [self.edge(exit, &[]), self.edge(back, &[])];
        self.func.blocks[latch].logical = [self.edge(exit, &[]), self.edge(back, &[])];
        self.block = back;
        self.jump(header, &around[0], &around[1]);
        self.enter(exit);
    }
}
