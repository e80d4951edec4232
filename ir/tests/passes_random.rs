//! Random programs mean the same, to the interpreter, after each pass at each level, and every pass leaves
//! a function that verifies.

use ir::interp::{Dispatch, Interp, Memory};
use ir::passes::{OptOptions, PassContext, optimize};
use ir::verify::verify;
use ir::{
    BinOp, Block, CastOp, FloatCc, Function, IntCc, KernelInfo, Mem, MemFlags, MemTy, Module, Op, Order, Pos,
    Scope, Slot, SlotData, Space, SrcLoc, TernOp, Type, UnOp, UnrollHint, Value,
};
use support::Random;

const NOWHERE: SrcLoc = SrcLoc(0);
/// Variables of a program: integers, then floats.
const INTS: usize = 4;
const FLOATS: usize = 2;
const ITEMS: u32 = 12;
const OUT_BYTES: u32 = 4 * (INTS + FLOATS + 1) as u32;

/// Builds one kernel. Mutable variables are passed to every block as parameters, as a naive frontend would.
struct Gen {
    f: Function,
    r: Random,
    at: Block,
    vars: Vec<Value>,
    input: Value,
    /// This item's part of the output.
    own: Value,
    slot: Slot,
    budget: u32,
}

fn mem(ty: MemTy, space: Space, align: u8) -> Mem {
    Mem {
        ty,
        space,
        align,
        flags: MemFlags::empty(),
        order: Order::NotAtomic,
        scope: Scope::System,
        offset: 0,
        alias: 0,
    }
}

impl Gen {
    fn konst(&mut self, ty: Type, bits: u64) -> Value {
        self.f.push1(self.at, Op::Const(bits), &[], ty, NOWHERE)
    }

    fn op(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        self.f.push1(self.at, op, args, ty, NOWHERE)
    }

    fn interesting(&mut self) -> u64 {
        let small = self.r.below(40);
        self.r.choose(&[
            0,
            1,
            2,
            3,
            5,
            7,
            8,
            16,
            31,
            32,
            64,
            255,
            0xffff,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffff,
            small,
        ])
    }

    fn int(&mut self, depth: u32) -> Value {
        if depth == 0 || self.r.below(6) == 0 {
            return match self.r.below(4) {
                0 => {
                    let bits = self.interesting();
                    self.konst(Type::I32, bits)
                }
                _ => self.vars[self.r.below(INTS as u64) as usize],
            };
        }
        match self.r.below(16) {
            0..=7 => self.int_bin(depth),
            8 => {
                let a = self.int(depth - 1);
                let op = self.r.choose(&[
                    UnOp::Not,
                    UnOp::Neg,
                    UnOp::Popcount,
                    UnOp::Clz,
                    UnOp::Ctz,
                    UnOp::ReverseBits,
                ]);
                self.op(Op::Un(op), &[a], Type::I32)
            }
            9 => {
                let (a, b, c) = (self.int(depth - 1), self.int(depth - 1), self.int(depth - 1));
                let op = self.r.choose(&[TernOp::Fshr, TernOp::Bfi]);
                self.op(Op::Tern(op), &[a, b, c], Type::I32)
            }
            10 => {
                let c = self.cond(depth - 1);
                let (a, b) = (self.int(depth - 1), self.int(depth - 1));
                self.op(Op::Select, &[c, a, b], Type::I32)
            }
            11 => {
                let a = self.int(depth - 1);
                let op = self.r.choose(&[CastOp::Zext8, CastOp::Sext8, CastOp::Zext16, CastOp::Sext16]);
                self.op(Op::Cast(op), &[a], Type::I32)
            }
            12 => {
                let c = self.cond(depth - 1);
                self.op(Op::Cast(CastOp::Zext), &[c], Type::I32)
            }
            13 => self.through_64_bits(depth),
            14 if self.r.below(2) == 0 => self.load_slot(),
            14 => self.load_own(),
            _ => self.load_input(depth),
        }
    }

    fn int_bin(&mut self, depth: u32) -> Value {
        let a = self.int(depth - 1);
        // Division by zero has no specified value: only constants divide.
        if self.r.below(5) == 0 {
            let d = self.interesting().max(1);
            let d = self.konst(Type::I32, d);
            let op = self.r.choose(&[BinOp::UDiv, BinOp::SDiv, BinOp::URem, BinOp::SRem]);
            return self.op(Op::Bin(op), &[a, d], Type::I32);
        }
        // Patterns the simplifier looks for are rare in uniformly random code.
        if self.r.below(6) == 0 {
            return self.pattern(a, depth);
        }
        let b = self.int(depth - 1);
        let op = self.r.choose(&[
            BinOp::Add,
            BinOp::Add,
            BinOp::Sub,
            BinOp::Mul,
            BinOp::UMulHi,
            BinOp::SMulHi,
            BinOp::And,
            BinOp::Or,
            BinOp::Xor,
            BinOp::Shl,
            BinOp::LShr,
            BinOp::AShr,
            BinOp::UMin,
            BinOp::UMax,
            BinOp::SMin,
            BinOp::SMax,
            BinOp::UMul24,
        ]);
        self.op(Op::Bin(op), &[a, b], Type::I32)
    }

    fn pattern(&mut self, a: Value, depth: u32) -> Value {
        let i32 = Type::I32;
        let b = self.int(depth - 1);
        let c = self.int(depth - 1);
        match self.r.below(4) {
            0 => {
                let n = self.r.below(31) + 1;
                let (n, m) = (self.konst(i32, n), self.konst(i32, 32 - n));
                let (x, y) =
                    (self.op(Op::Bin(BinOp::LShr), &[a, n], i32), self.op(Op::Bin(BinOp::Shl), &[b, m], i32));
                let op = self.r.choose(&[BinOp::Or, BinOp::Xor, BinOp::Add]);
                self.op(Op::Bin(op), &[x, y], i32)
            }
            1 => {
                let not = self.op(Op::Un(UnOp::Not), &[a], i32);
                let (x, y) = (
                    self.op(Op::Bin(BinOp::And), &[a, b], i32),
                    self.op(Op::Bin(BinOp::And), &[not, c], i32),
                );
                let op = self.r.choose(&[BinOp::Or, BinOp::Xor]);
                self.op(Op::Bin(op), &[x, y], i32)
            }
            2 => {
                let op = self.r.choose(&[BinOp::Or, BinOp::Xor]);
                let (x, y) =
                    (self.op(Op::Bin(BinOp::And), &[a, b], i32), self.op(Op::Bin(BinOp::And), &[a, c], i32));
                let z = self.op(Op::Bin(BinOp::And), &[b, c], i32);
                let xy = self.op(Op::Bin(op), &[x, y], i32);
                self.op(Op::Bin(op), &[xy, z], i32)
            }
            _ => {
                let rest = self.konst(i32, 32);
                let m = self.op(Op::Bin(BinOp::Sub), &[rest, b], i32);
                let (x, y) =
                    (self.op(Op::Bin(BinOp::LShr), &[a, b], i32), self.op(Op::Bin(BinOp::Shl), &[a, m], i32));
                self.op(Op::Bin(BinOp::Or), &[x, y], i32)
            }
        }
    }

    fn through_64_bits(&mut self, depth: u32) -> Value {
        let (a, b) = (self.int(depth - 1), self.int(depth - 1));
        let (ea, eb) =
            (self.r.choose(&[CastOp::Zext, CastOp::Sext]), self.r.choose(&[CastOp::Zext, CastOp::Sext]));
        let (a, b) = (self.op(Op::Cast(ea), &[a], Type::I64), self.op(Op::Cast(eb), &[b], Type::I64));
        let op = self.r.choose(&[
            BinOp::Add,
            BinOp::Sub,
            BinOp::Mul,
            BinOp::And,
            BinOp::Xor,
            BinOp::LShr,
            BinOp::AShr,
            BinOp::Shl,
        ]);
        let wide = self.op(Op::Bin(op), &[a, b], Type::I64);
        self.op(Op::Cast(CastOp::Trunc), &[wide], Type::I32)
    }

    fn float(&mut self, depth: u32) -> Value {
        if depth == 0 || self.r.below(5) == 0 {
            return match self.r.below(3) {
                0 => {
                    let k = self.r.choose(&[0.0f32, -0.0, 1.0, -1.0, 2.0, 0.5, 3.25, 1e10]);
                    self.konst(Type::F32, k.to_bits().into())
                }
                _ => self.vars[INTS + self.r.below(FLOATS as u64) as usize],
            };
        }
        match self.r.below(8) {
            0..=4 => {
                let (a, b) = (self.float(depth - 1), self.float(depth - 1));
                let op = self.r.choose(&[
                    BinOp::FAdd,
                    BinOp::FSub,
                    BinOp::FMul,
                    BinOp::FDiv,
                    BinOp::FMin,
                    BinOp::FMax,
                ]);
                self.op(Op::Bin(op), &[a, b], Type::F32)
            }
            5 => {
                let a = self.float(depth - 1);
                let op = self.r.choose(&[UnOp::FNeg, UnOp::FAbs, UnOp::FFloor, UnOp::FTrunc]);
                self.op(Op::Un(op), &[a], Type::F32)
            }
            6 => {
                let (a, b, c) = (self.float(depth - 1), self.float(depth - 1), self.float(depth - 1));
                self.op(Op::Tern(TernOp::Fma), &[a, b, c], Type::F32)
            }
            _ => {
                let a = self.int(depth - 1);
                let op = self.r.choose(&[CastOp::SToF, CastOp::UToF]);
                self.op(Op::Cast(op), &[a], Type::F32)
            }
        }
    }

    fn cond(&mut self, depth: u32) -> Value {
        match self.r.below(6) {
            0 => {
                let (a, b) = (self.float(depth), self.float(depth));
                let cc =
                    self.r.choose(&[FloatCc::Oeq, FloatCc::Olt, FloatCc::Ult, FloatCc::Une, FloatCc::Ord]);
                self.op(Op::Fcmp(cc), &[a, b], Type::Bool)
            }
            1 if depth > 0 => {
                let (a, b) = (self.cond(depth - 1), self.cond(depth - 1));
                let op = self.r.choose(&[BinOp::And, BinOp::Or, BinOp::Xor]);
                self.op(Op::Bin(op), &[a, b], Type::Bool)
            }
            2 if depth > 0 => {
                let a = self.cond(depth - 1);
                self.op(Op::Un(UnOp::Not), &[a], Type::Bool)
            }
            _ => {
                let (a, b) = (self.int(depth), self.int(depth));
                let cc = self.r.choose(&[
                    IntCc::Eq,
                    IntCc::Ne,
                    IntCc::Ult,
                    IntCc::Ule,
                    IntCc::Ugt,
                    IntCc::Uge,
                    IntCc::Slt,
                    IntCc::Sle,
                    IntCc::Sgt,
                    IntCc::Sge,
                ]);
                self.op(Op::Icmp(cc), &[a, b], Type::Bool)
            }
        }
    }

    /// Address of one of the eight elements of the slot: constant, or any.
    fn slot_address(&mut self) -> Value {
        let base = self.op(Op::SlotAddr(self.slot), &[], Type::Ptr(Space::Private));
        let offset = if self.r.below(6) != 0 {
            let n = 4 * self.r.below(8);
            self.konst(Type::I32, n)
        } else {
            let i = self.int(1);
            let mask = self.konst(Type::I32, 7);
            let two = self.konst(Type::I32, 2);
            let i = self.op(Op::Bin(BinOp::And), &[i, mask], Type::I32);
            self.op(Op::Bin(BinOp::Shl), &[i, two], Type::I32)
        };
        self.op(Op::PtrAdd, &[base, offset], Type::Ptr(Space::Private))
    }

    fn load_slot(&mut self) -> Value {
        let ptr = self.slot_address();
        let mem = mem(MemTy::B32, Space::Private, 4);
        self.op(Op::Load { mem, count: 1 }, &[ptr], Type::I32)
    }

    fn load_input(&mut self, depth: u32) -> Value {
        let i = self.int(depth - 1);
        let mask = self.konst(Type::I32, 7);
        let i = self.op(Op::Bin(BinOp::And), &[i, mask], Type::I32);
        let wide = self.op(Op::Cast(CastOp::Zext), &[i], Type::I64);
        let two = self.konst(Type::I32, 2);
        let offset = self.op(Op::Bin(BinOp::Shl), &[wide, two], Type::I64);
        let ptr = self.op(Op::PtrAdd, &[self.input, offset], Type::Ptr(Space::Global));
        let mut mem = mem(MemTy::B32, Space::Global, 4);
        mem.offset = 4 * self.r.below(8);
        self.op(Op::Load { mem, count: 1 }, &[ptr], Type::I32)
    }

    fn load_own(&mut self) -> Value {
        let mut mem = mem(MemTy::B32, Space::Global, 4);
        mem.offset = 4 * self.r.below(4);
        self.op(Op::Load { mem, count: 1 }, &[self.own], Type::I32)
    }

    fn store_own(&mut self) {
        let value = self.int(1);
        let mut mem = mem(MemTy::B32, Space::Global, 4);
        mem.offset = 4 * self.r.below(4);
        self.f.push(self.at, Op::Store { mem, count: 1 }, &[self.own, value], NOWHERE);
    }

    fn block_like_vars(&mut self) -> (Block, Vec<Value>) {
        let block = self.f.add_block();
        let params = (0..INTS + FLOATS)
            .map(|n| self.f.add_param(block, if n < INTS { Type::I32 } else { Type::F32 }))
            .collect();
        (block, params)
    }

    fn jump(&mut self, to: Block) {
        let vars = self.vars.clone();
        self.f.push(self.at, Op::Jump(to), &vars, NOWHERE);
    }

    fn statements(&mut self, depth: u32, leave: Option<Block>) {
        for _ in 0..self.r.below(4) + 1 {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            match self.r.below(11) {
                0..=3 => {
                    let n = self.r.below(INTS as u64) as usize;
                    self.vars[n] = self.int(3);
                }
                4 => {
                    let n = self.r.below(FLOATS as u64) as usize;
                    self.vars[INTS + n] = self.float(3);
                }
                5 => {
                    let value = self.int(2);
                    let ptr = self.slot_address();
                    let mem = mem(MemTy::B32, Space::Private, 4);
                    self.f.push(self.at, Op::Store { mem, count: 1 }, &[ptr, value], NOWHERE);
                }
                6 => self.store_own(),
                7 if depth > 0 => self.branch(depth, leave),
                8 | 9 if depth > 0 => self.repeat(depth),
                _ => {}
            }
        }
    }

    fn branch(&mut self, depth: u32, leave: Option<Block>) {
        let cond = self.cond(1);
        let (then, otherwise) = (self.f.add_block(), self.f.add_block());
        let (join, params) = self.block_like_vars();
        self.f.push(self.at, Op::Br { then, otherwise, then_args: 0 }, &[cond], NOWHERE);
        let before = self.vars.clone();
        for (n, side) in [then, otherwise].into_iter().enumerate() {
            self.at = side;
            self.vars = before.clone();
            if n == 0 || self.r.below(2) == 0 {
                self.statements(depth - 1, leave);
            }
            match leave {
                Some(out) if n == 0 && self.r.below(4) == 0 => self.jump(out),
                _ => self.jump(join),
            }
        }
        self.at = join;
        self.vars = params;
    }

    /// `for i in (0..n).step(s)` with a counter that is a parameter of its own, tested at the head.
    fn repeat(&mut self, depth: u32) {
        let limit = if self.r.below(3) == 0 {
            let (x, mask) = (self.int(1), self.konst(Type::I32, 3));
            self.op(Op::Bin(BinOp::And), &[x, mask], Type::I32)
        } else {
            let n = self.r.below(7);
            self.konst(Type::I32, n)
        };
        let zero = self.konst(Type::I32, 0);
        let (header, params) = self.block_like_vars();
        let counter = self.f.add_param(header, Type::I32);
        let (body, (exit, exit_params)) = (self.f.add_block(), self.block_like_vars());
        self.f.unroll[header] = self.r.choose(&[
            UnrollHint::None,
            UnrollHint::Full,
            UnrollHint::By(2),
            UnrollHint::By(3),
            UnrollHint::Never,
        ]);
        let mut enter = self.vars.clone();
        enter.push(zero);
        self.f.push(self.at, Op::Jump(header), &enter, NOWHERE);
        self.at = header;
        self.vars = params;
        let more = self.op(Op::Icmp(IntCc::Ult), &[counter, limit], Type::Bool);
        let mut args = vec![more];
        args.extend_from_slice(&self.vars);
        self.f.push(header, Op::Br { then: body, otherwise: exit, then_args: 0 }, &args, NOWHERE);
        self.at = body;
        if self.r.below(2) == 0 {
            self.vars[0] = counter;
        }
        self.statements(depth - 1, Some(exit));
        let step = self.konst(Type::I32, 1);
        let next = self.op(Op::Bin(BinOp::Add), &[counter, step], Type::I32);
        let mut back = self.vars.clone();
        back.push(next);
        self.f.push(self.at, Op::Jump(header), &back, NOWHERE);
        self.at = exit;
        self.vars = exit_params;
    }

    fn finish(&mut self) {
        let at = self.own;
        let mut all = self.vars.clone();
        all.push(self.load_slot_element());
        for (n, value) in all.into_iter().enumerate() {
            let mut value = value;
            if self.f.ty(value) == Type::F32 {
                // Which NaN it is does not matter.
                let nan = self.op(Op::Fcmp(FloatCc::Uno), &[value, value], Type::Bool);
                let zero = self.konst(Type::F32, 0);
                value = self.op(Op::Select, &[nan, zero, value], Type::F32);
            }
            let mut mem = mem(MemTy::B32, Space::Global, 4);
            mem.offset = 4 * n as i32;
            self.f.push(self.at, Op::Store { mem, count: 1 }, &[at, value], NOWHERE);
        }
        self.f.push(self.at, Op::Ret, &[], NOWHERE);
    }

    fn load_slot_element(&mut self) -> Value {
        let base = self.op(Op::SlotAddr(self.slot), &[], Type::Ptr(Space::Private));
        let mut mem = mem(MemTy::B32, Space::Private, 4);
        mem.offset = 4 * self.r.below(8);
        self.op(Op::Load { mem, count: 1 }, &[base], Type::I32)
    }
}

fn random_kernel(seed: u64) -> Module {
    let mut f = Function::new("k");
    f.kernel = Some(KernelInfo {
        kernarg_size: 16,
        reqd_workgroup_size: Some([ITEMS / 2, 1, 1]),
        ..KernelInfo::default()
    });
    let at = f.add_block();
    let slot = f.slots.push(SlotData { size: 32, align: 4 });
    let args = f.push1(at, Op::Pos(Pos::KernargPtr), &[], Type::Ptr(Space::Constant), NOWHERE);
    let mut pointer = |offset: i32| {
        let mut mem = mem(MemTy::B64, Space::Constant, 8);
        mem.flags = MemFlags::INVARIANT;
        mem.offset = offset;
        f.push1(at, Op::Load { mem, count: 1 }, &[args], Type::Ptr(Space::Global), NOWHERE)
    };
    let (input, output) = (pointer(0), pointer(8));
    let id = f.push1(at, Op::Pos(Pos::GlobalId(0)), &[], Type::I32, NOWHERE);
    let r = Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut g = Gen { f, r, at, vars: Vec::new(), input, own: output, slot, budget: 40 };
    let stride = g.konst(Type::I32, OUT_BYTES.into());
    let offset = g.op(Op::Bin(BinOp::Mul), &[id, stride], Type::I32);
    g.own = g.op(Op::PtrAddZ, &[output, offset], Type::Ptr(Space::Global));
    let local = g.op(Op::Pos(Pos::LocalId(0)), &[], Type::I32);
    let seven = g.konst(Type::I32, 7);
    let mixed = g.op(Op::Bin(BinOp::Mul), &[id, seven], Type::I32);
    let scaled = g.op(Op::Cast(CastOp::UToF), &[id], Type::F32);
    let half = g.konst(Type::F32, 0.5f32.to_bits().into());
    g.vars = vec![id, local, seven, mixed, scaled, half];
    // Every element of the slot has a value.
    let base = g.op(Op::SlotAddr(slot), &[], Type::Ptr(Space::Private));
    for n in 0..8 {
        let mut mem = mem(MemTy::B32, Space::Private, 4);
        mem.offset = 4 * n;
        g.f.push(g.at, Op::Store { mem, count: 1 }, &[base, g.vars[n as usize % INTS]], NOWHERE);
    }
    g.statements(3, None);
    g.statements(3, None);
    g.finish();
    let mut module = Module::default();
    module.funcs.push(g.f);
    module
}

fn run(module: &Module) -> Vec<u8> {
    let mut memory = Memory::new();
    let words: Vec<u8> = (0..16u32).flat_map(|n| n.wrapping_mul(0x9e37_79b9).to_le_bytes()).collect();
    let input = memory.alloc_bytes(words);
    let size = (OUT_BYTES * ITEMS) as usize;
    let output = memory.alloc(size);
    let mut kernarg = input.to_le_bytes().to_vec();
    kernarg.extend_from_slice(&output.to_le_bytes());
    let interp = Interp::new(module, &mut memory);
    let dispatch =
        Dispatch { kernel: "k", grid: [ITEMS, 1, 1], group: [ITEMS / 2, 1, 1], kernarg, dynamic_shared: 0 };
    interp.run(&dispatch, &mut memory).unwrap_or_else(|e| panic!("{e:?}\n{module}"));
    memory.bytes(output, size).expect("the output").to_vec()
}

fn check(seed: u64, level: u8, ctx: &mut PassContext) {
    let original = random_kernel(seed);
    verify(&original).unwrap_or_else(|e| panic!("seed {seed}: the generator is wrong: {}", e[0]));
    let expected = run(&original);
    let mut module = original.clone();
    let opts = OptOptions { level, ..OptOptions::default() };
    let mut before = original.to_string();
    let _ = optimize(&mut module, &opts, ctx, &mut |pass, module| {
        let context = |what: &str| {
            format!("seed {seed}, level {level}, after {pass}: {what}\n{before}\n--- became\n{module}")
        };
        if let Err(errors) = verify(module) {
            panic!("{}", context(&errors[0].to_string()));
        }
        assert!(run(module) == expected, "{}", context("other results"));
        before = module.to_string();
        std::ops::ControlFlow::Continue(())
    });
}

#[test]
fn random_programs_keep_their_meaning() {
    let count = std::env::var("KERNC_PASS_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(150);
    let mut ctx = PassContext::default();
    for seed in 1..=count {
        for level in 0..=3 {
            check(seed, level, &mut ctx);
        }
    }
}
