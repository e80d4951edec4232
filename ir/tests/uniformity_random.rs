//! Uniformity held to its word on random programs.
//!
//! Into each program go checks that every value the analysis calls uniform in a block has the same bits in
//! all lanes there (`assume v == read_first_lane v`); the interpreter, which knows nothing of the analysis,
//! stops at a false one. The same programs show that closing divergent loops changes no result.

use ir::analysis::{Analyses, Cfg, DomTree, lcssa_divergent_exits};
use ir::interp::{Dispatch, ErrorKind, Interp, Memory};
use ir::verify::verify;
use ir::{
    BinOp, Block, Function, IntCc, KernelInfo, Mem, MemFlags, MemTy, Module, Op, Order, Pos, Scope, Space,
    SrcLoc, Type, UnOp, Value, WaveOp,
};

const NOWHERE: SrcLoc = SrcLoc(0);
const LANES: u32 = 16;

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// A kernel with a random reducible graph; each block but the entry has two `i32` parameters and one `bool`.
fn random_kernel(rng: &mut Rng) -> Option<Function> {
    let count = 3 + rng.below(8);
    let mut func = Function::new("k");
    func.kernel = Some(KernelInfo { kernarg_size: 8, ..KernelInfo::default() });
    for n in 0..count {
        let block = func.add_block();
        for ty in [Type::I32, Type::I32, Type::Bool].into_iter().filter(|_| n > 0) {
            func.add_param(block, ty);
        }
    }
    // The graph first, with placeholder conditions, to know what dominates what.
    let succs: Vec<Vec<Block>> =
        (0..count).map(|n| (0..rng.below(8).min(2)).map(|_| target(rng, n, count)).collect()).collect();
    for (n, to) in succs.iter().enumerate() {
        let block = Block::from_u32(n as u32);
        func.push(block, terminator(to), &[], NOWHERE);
    }
    let cfg = Cfg::new(&func);
    if cfg.is_irreducible() || cfg.rpo().len() < 3 {
        return None;
    }
    let dom = DomTree::new(&cfg);
    func.layout.retain(|&b| cfg.is_reachable(b));
    for &block in cfg.rpo() {
        func.remove_from(block, 0);
    }
    let entry = func.entry();
    let kernarg = func.push1(entry, Op::Pos(Pos::KernargPtr), &[], Type::Ptr(Space::Constant), NOWHERE);
    let load = Op::Load { mem: mem(MemTy::B64, Space::Constant), count: 1 };
    let buffer = func.push1(entry, load, &[kernarg], Type::Ptr(Space::Global), NOWHERE);
    for op in [Op::Pos(Pos::LocalId(0)), Op::Pos(Pos::GroupId(0)), Op::Const(1), Op::Const(3)] {
        func.push1(entry, op, &[], Type::I32, NOWHERE);
    }
    for &block in cfg.rpo() {
        fill(&mut func, rng, &dom, block, buffer, &succs[block.as_u32() as usize]);
    }
    Some(func)
}

fn target(rng: &mut Rng, from: usize, count: usize) -> Block {
    // Mostly forward, so that graphs tend to be reducible and programs to end.
    let forward = from + 1 + rng.below(3);
    let n = if rng.below(4) == 0 { 1 + rng.below(count - 1) } else { forward.min(count - 1) };
    Block::from_u32(n as u32)
}

fn terminator(to: &[Block]) -> Op {
    match *to {
        [] => Op::Ret,
        [a] => Op::Jump(a),
        [a, b, ..] => Op::Br { then: a, otherwise: b, then_args: 3 },
    }
}

fn mem(ty: MemTy, space: Space) -> Mem {
    Mem {
        ty,
        space,
        align: 4,
        flags: MemFlags::empty(),
        order: Order::NotAtomic,
        scope: Scope::default(),
        offset: 0,
        alias: 0,
    }
}

/// Values of a type that may be used at the end of a block.
fn usable(func: &Function, dom: &DomTree, block: Block, ty: Type) -> Vec<Value> {
    func.values
        .keys()
        .filter(|&v| func.ty(v) == ty && func.layout.contains(&func.block_of(v)))
        .filter(|&v| dom.dominates(func.block_of(v), block))
        .collect()
}

/// Instructions and the terminator of a block.
fn fill(func: &mut Function, rng: &mut Rng, dom: &DomTree, block: Block, buffer: Value, to: &[Block]) {
    for _ in 0..1 + rng.below(3) {
        let ints = usable(func, dom, block, Type::I32);
        let op = rng.pick(&[BinOp::Add, BinOp::Xor, BinOp::And, BinOp::UMin]);
        func.push1(block, Op::Bin(op), &[rng.pick(&ints), rng.pick(&ints)], Type::I32, NOWHERE);
    }
    // Most blocks count steps in their first parameter, so that loops make progress, end, and have values
    // that differ between iterations.
    let one = func.push1(block, Op::Const(1), &[], Type::I32, NOWHERE);
    let count = match func.params(block).first() {
        Some(&steps) => func.push1(block, Op::Bin(BinOp::Add), &[steps, one], Type::I32, NOWHERE),
        None => one,
    };
    let ints = usable(func, dom, block, Type::I32);
    let left = if rng.below(3) > 0 { count } else { rng.pick(&ints) };
    let cc = rng.pick(&[IntCc::Eq, IntCc::Ult, IntCc::Ne, IntCc::Ugt, IntCc::Ugt]);
    let cond = func.push1(block, Op::Icmp(cc), &[left, rng.pick(&ints)], Type::Bool, NOWHERE);
    if rng.below(3) == 0 {
        func.push1(block, Op::Un(UnOp::Not), &[cond], Type::Bool, NOWHERE);
    }
    let bools = usable(func, dom, block, Type::Bool);
    let mut args = match to.len() {
        2 => vec![if rng.below(4) > 0 { cond } else { rng.pick(&bools) }],
        _ => Vec::new(),
    };
    for _ in to {
        let first = if rng.below(4) > 0 { count } else { rng.pick(&ints) };
        args.extend([first, rng.pick(&ints), rng.pick(&bools)]);
    }
    if to.is_empty() {
        let shift = func.push1(block, Op::Const(2), &[], Type::I32, NOWHERE);
        let lane = func.push1(block, Op::Pos(Pos::LocalId(0)), &[], Type::I32, NOWHERE);
        let offset = func.push1(block, Op::Bin(BinOp::Shl), &[lane, shift], Type::I32, NOWHERE);
        let place = func.push1(block, Op::PtrAddZ, &[buffer, offset], Type::Ptr(Space::Global), NOWHERE);
        let flag = func.push1(block, Op::Cast(ir::CastOp::Zext), &[rng.pick(&bools)], Type::I32, NOWHERE);
        let sum = func.push1(block, Op::Bin(BinOp::Add), &[rng.pick(&ints), flag], Type::I32, NOWHERE);
        func.push(block, Op::Store { mem: mem(MemTy::B32, Space::Global), count: 1 }, &[place, sum], NOWHERE);
    }
    func.push(block, terminator(to), &args, NOWHERE);
}

/// Adds the checks; the number of them.
fn add_checks(func: &mut Function, analyses: &Analyses) -> usize {
    let mut added = 0;
    let known = func.values.len() as u32; // those that checks add were not analysed
    for &block in analyses.cfg.rpo() {
        let mut uniform = Vec::new();
        for ty in [Type::I32, Type::Bool] {
            uniform.extend(
                usable(func, &analyses.dom, block, ty)
                    .into_iter()
                    .filter(|&v| v.as_u32() < known)
                    .filter(|&v| !analyses.uniformity.is_divergent_at_use(func, &analyses.loops, v, block)),
            );
        }
        let end = func.terminator(block).expect("a terminator");
        func.remove_terminator(block);
        for value in uniform {
            let bits = match func.ty(value) {
                Type::Bool => func.push1(block, Op::Cast(ir::CastOp::Zext), &[value], Type::I32, NOWHERE),
                _ => value,
            };
            let first = func.push1(block, Op::Wave(WaveOp::ReadFirstLane), &[bits], Type::I32, NOWHERE);
            let same = func.push1(block, Op::Icmp(IntCc::Eq), &[bits, first], Type::Bool, NOWHERE);
            func.push(block, Op::Assume, &[same], NOWHERE);
            added += 1;
        }
        func.append(block, end);
    }
    added
}

/// The buffer after a run, `None` if the program does not end soon.
fn run(func: &Function) -> Option<Vec<u8>> {
    let mut module = Module::default();
    module.funcs.push(func.clone());
    verify(&module).unwrap_or_else(|e| panic!("{}\n{func}", e[0]));
    let mut memory = Memory::new();
    let mut interp = Interp::new(&module, &mut memory);
    interp.max_steps = 5000;
    let bytes = 4 * LANES as usize;
    let buffer = memory.alloc(bytes);
    let dispatch = Dispatch {
        kernel: "k",
        grid: [LANES, 1, 1],
        group: [LANES, 1, 1],
        kernarg: buffer.to_le_bytes().to_vec(),
        dynamic_shared: 0,
    };
    match interp.run(&dispatch, &mut memory) {
        Ok(_) => memory.bytes(buffer, bytes).map(<[u8]>::to_vec),
        Err(error) if error.kind == ErrorKind::TooManySteps => None,
        Err(error) => panic!("{error}\n{func}"),
    }
}

#[test]
fn uniform_values_are_the_same_in_all_lanes() {
    let mut rng = Rng(3);
    let (mut checks, mut ended, mut closed) = (0, 0, 0);
    for _ in 0..3000 {
        let Some(func) = random_kernel(&mut rng) else { continue };
        let mut analyses = Analyses::default();
        analyses.compute(&func);
        let mut checked = func.clone();
        checks += add_checks(&mut checked, &analyses);
        let expected = run(&checked);
        ended += usize::from(expected.is_some());

        let mut after = func.clone();
        if !lcssa_divergent_exits(&mut after, &mut analyses) {
            continue;
        }
        closed += 1;
        for (block, inst) in analyses
            .cfg
            .rpo()
            .iter()
            .flat_map(|&b| after.blocks[b].insts().iter().map(move |&inst| (b, inst)))
        {
            for &value in after.args(inst) {
                let scalar = after.ty(value) == Type::Bool || analyses.uniformity.is_uniform(value);
                let leaves = analyses.uniformity.leaves_divergent_loop(&after, &analyses.loops, value, block);
                assert!(!(scalar && leaves), "{value} in {block}\nof {after}\nfrom {func}");
            }
        }
        let result = run(&after);
        if let (Some(expected), Some(result)) = (&expected, &result) {
            assert_eq!(expected, result, "{func}\nbecame {after}");
        }
        add_checks(&mut after, &analyses);
        run(&after);
    }
    assert!(checks > 10_000 && ended > 300 && closed > 50, "{checks} checks, {ended} ended, {closed} closed");
}
