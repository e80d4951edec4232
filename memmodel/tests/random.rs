//! Random functions: the checker accepts what the passes make of them, and with any wait weakened by one, or any nop or
//! wait deleted, it does not.

use crate::common::build::*;
use isa::{Form, Lane, MachInst, ModFlags, Operand, op};
use memmodel::counters::{Counter, Wait};
use memmodel::{Context, Options, proof};
use mir::{MachFunc, SPACE_GLOBAL, SPACE_PRIVATE, SPACE_SHARED, SyncOrder, SyncScope};
use support::Random;

/// A register of a few, so that instructions meet.
fn register(r: &mut Random) -> u16 {
    r.below(6)
}

/// Any instruction that the passes care for.
fn instruction(r: &mut Random) -> MachInst {
    let (a, b, c) = (register(r), register(r), register(r));
    match r.below(18) {
        0 | 1 => load(a),
        2 => inst(op::GLOBAL_LOAD_DWORDX4, &[vs(a, 4), v(b), ss(2 * (c / 2), 2)]),
        3 => inst(op::GLOBAL_STORE_DWORDX4, &[v(b), vs(a, 4), ss(2 * (c / 2), 2)]),
        4 => store(a),
        5 => lds_read(a),
        6 => lds_write(a),
        7 => s_load(a),
        8 => inst(op::FLAT_LOAD_DWORD, &[v(a), vs(b, 2)]),
        9 => glc(inst(op::GLOBAL_ATOMIC_ADD, &[v(a), vs(b, 2), v(c), Operand::None])),
        10 => {
            let mut write = lds_write(a);
            write.mods.flags |= ModFlags::GDS;
            write
        }
        11 => inst(op::V_READFIRSTLANE_B32, &[s(a), v(b)]),
        12 => {
            let mut mov = mov(a, v(b));
            mov.form = Form::Dpp;
            mov.mods.lane = Lane::Dpp { ctrl: 0x111, row_mask: 15, bank_mask: 15 };
            mov
        }
        13 => inst(op::S_MOV_B32, &[s(a), s(b)]),
        14 => inst(op::V_READLANE_B32, &[s(a), v(b), s(c)]),
        15 => mov(a, s(b)),
        _ => mov(a, v(b)),
    }
}

/// A function of a few blocks with any edges, or with forward ones only.
fn random(seed: u64, fences: bool, loops: bool) -> MachFunc {
    let r = &mut Random::new(seed);
    let count = 1 + r.below(6);
    let mut blocks = Vec::new();
    for block in 0..count {
        let mut insts: Vec<MachInst> = (0..r.below(9)).map(|_| instruction(r)).collect();
        if fences && r.below(3) == 0 {
            insts.push(inst(op::FENCE, &[]));
        }
        let successors: Vec<u32> = (0..r.below(3))
            .map(|_| if loops { r.below(count) } else { block + 1 + r.below(count) } as u32)
            .filter(|to| u64::from(*to) < count)
            .collect();
        match successors.len() {
            0 => insts.push(end()),
            1 => insts.push(branch(op::S_BRANCH, successors[0])),
            _ => insts.push(branch(op::S_CBRANCH_SCC0, successors[0])),
        }
        blocks.push((insts, successors));
    }
    let blocks: Vec<(&[MachInst], &[u32])> = blocks.iter().map(|(insts, to)| (&insts[..], &to[..])).collect();
    let mut func = func(&blocks);
    if fences {
        attributes(&mut func, r);
    }
    func
}

/// Memory attributes at random.
fn attributes(func: &mut MachFunc, r: &mut Random) {
    use SyncOrder::{AcqRel, Acquire, NotAtomic, Relaxed, Release, SeqCst};
    for block in func.blocks.keys() {
        for index in 0..func.blocks[block].insts.len() {
            let order =
                [NotAtomic, NotAtomic, Relaxed, Acquire, Release, AcqRel, SeqCst][r.below(7) as usize];
            let scope = [SyncScope::Wavefront, SyncScope::Workgroup, SyncScope::Agent][r.below(3) as usize];
            let inst = &func.blocks[block].insts[index];
            let spaces = match inst.op.family() {
                isa::table::Family::Ds => SPACE_SHARED,
                isa::table::Family::Flat => SPACE_SHARED | SPACE_GLOBAL | SPACE_PRIVATE,
                isa::table::Family::Pseudo => {
                    [SPACE_SHARED, SPACE_GLOBAL, SPACE_SHARED | SPACE_GLOBAL][r.below(3) as usize]
                }
                _ => SPACE_GLOBAL,
            };
            let mem = mir::MemRef { one_as: r.below(4) == 0, ..mem(order, scope, spaces) };
            func.blocks[block].insts[index].mem = func.mem_ref(mem);
        }
    }
}

fn compile(seed: u64, fences: bool, loops: bool, ctx: &mut Context) -> MachFunc {
    let mut func = random(seed, fences, loops);
    memmodel::run(&mut func, &model(), &Options::default(), ctx);
    let faults = proof::check(&func, &model());
    assert!(faults.is_empty(), "seed {seed}: {}\n{}", faults[0], text(&func));
    func
}

const CASES: u64 = 4000;

#[test]
fn waits_are_enough() {
    let mut ctx = Context::default();
    for seed in 0..CASES {
        compile(seed, true, true, &mut ctx);
    }
}

/// Each field of each wait, weakened by one; each nop, shortened by one. Without loops each is noticed. With loops the
/// fixpoint keeps what an earlier round saw at a block's head although a wait of a later round retires it, and where a
/// loop lies is a guess, so that a wait before it may be for nothing: seldom.
#[test]
fn waits_and_nops_are_not_too_much() {
    let mut ctx = Context::default();
    for (loops, percent) in [(false, 100), (true, 98)] {
        let (mut all, mut noticed, mut example) = (0, 0, String::new());
        for seed in 0..CASES {
            let func = compile(seed, false, loops, &mut ctx);
            for (block, data) in func.blocks.iter() {
                for (index, inst) in data.insts.iter().enumerate() {
                    for other in weaker(inst) {
                        let mut broken = func.clone();
                        broken.blocks[block].insts[index] = other;
                        all += 1;
                        if proof::check(&broken, &model()).is_empty() {
                            example = format!("seed {seed}: {block}.{index}\n{}", text(&func));
                        } else {
                            noticed += 1;
                        }
                    }
                }
            }
        }
        eprintln!("loops {loops}: {noticed} of {all}");
        assert!(all > 5_000 && noticed * 100 >= all * percent, "{noticed} of {all}; {example}");
    }
}

fn weaker(inst: &MachInst) -> Vec<MachInst> {
    match (inst.op, inst.ops[0]) {
        (op::S_WAITCNT, Operand::Imm(_)) => {
            let wait = target().waited(inst).unwrap();
            let demanded = Counter::ALL.into_iter().filter(|counter| wait.count(*counter) != Wait::ANY);
            demanded
                .map(|counter| {
                    let mut weaker = wait;
                    weaker.0[counter as usize] += 1;
                    MachInst {
                        ops: MachInst::new(
                            inst.op,
                            &[Operand::Imm(target().waitcnt(weaker.0[0], weaker.0[1], weaker.0[2]).into())],
                        )
                        .ops,
                        ..*inst
                    }
                })
                .collect()
        }
        // An `s_nop` of one state is as good as gone when it is a wait for nothing.
        (op::S_NOP, Operand::Imm(0)) => {
            vec![MachInst::new(op::WAIT_POINT, &[Operand::Imm(0)])]
        }
        (op::S_NOP, Operand::Imm(n)) => vec![MachInst::new(op::S_NOP, &[Operand::Imm(n - 1)])],
        _ => Vec::new(),
    }
}
