//! Random functions through the allocator, judged by its checker; and the checker, judged by sabotage.

use crate::generate::{Shape, generate};
use isa::{Operand, Subtarget};
use mir::MachFunc;
use regalloc::{AllocError, Context, Options, Stats};
use support::Random;

fn target() -> Subtarget {
    named("gfx906")
}

fn named(processor: &str) -> Subtarget {
    Subtarget::by_name(processor).expect("a known processor")
}

fn allocate(func: &mut MachFunc, options: Options, ctx: &mut Context) -> Result<Stats, AllocError> {
    regalloc::run(func, &target(), &Options { check: true, ..options }, ctx)
}

/// Runs seeds through the allocator; gives how many were refused for want of registers, and how many spilled.
fn sweep(seeds: std::ops::Range<u64>, shape: Shape, options: Options) -> (u32, u32) {
    let mut ctx = Context::default();
    let (mut refused, mut spilled) = (0, 0);
    for seed in seeds {
        let mut func = generate(seed, shape);
        match allocate(&mut func, options, &mut ctx) {
            Ok(_) => spilled += u32::from(func.spilled.sgprs + func.spilled.vgprs > 0),
            Err(AllocError::Registers { .. }) => refused += 1,
            Err(error) => panic!("seed {seed} of {shape:?}, {options:?}: {error}"),
        }
    }
    (refused, spilled)
}

#[test]
fn straight_line() {
    let shape = Shape { insts: 60, reach: 12, depth: 0 };
    assert_eq!(sweep(0..40, shape, Options::default()), (0, 0));
}

#[test]
fn control_flow() {
    let shape = Shape { insts: 150, reach: 12, depth: 3 };
    assert_eq!(sweep(0..40, shape, Options::default()), (0, 0));
}

#[test]
fn large() {
    let shape = Shape { insts: 1500, reach: 16, depth: 5 };
    assert_eq!(sweep(0..2, shape, Options::default()).0, 0);
}

#[test]
fn tight_vgprs() {
    let options = Options { budget_vgprs: Some(32), ..Options::default() };
    let (refused, spilled) = sweep(0..25, Shape { insts: 150, reach: 20, depth: 3 }, options);
    assert_eq!(refused, 0);
    assert!(spilled > 12, "only {spilled} programs spilled");
}

/// Accumulation registers hold what is spilled, as many as there are VGPRs, and scratch memory the rest; those of gfx90a, where
/// they take from the waves what they hold, only behind 256 VGPRs.
#[test]
fn accumulation_registers() {
    let mut ctx = Context::default();
    let (mut some, mut all) = (0, 0);
    let mut allocate = |processor: &str, seed, shape, budget_vgprs| {
        let mut func = generate(seed, shape);
        let options = Options { budget_vgprs, check: true, ..Options::default() };
        regalloc::run(&mut func, &named(processor), &options, &mut ctx).expect("fits");
        (func.spilled.vgprs, func.agprs, func.scratch_size)
    };
    for seed in 0..12 {
        let (insts, reach) = [(150, 20), (600, 600)][seed as usize % 2];
        let shape = Shape { insts, reach, depth: 3 };
        let (spilled, agprs, scratch) = allocate("gfx908", seed, shape, Some(32));
        assert_eq!(agprs, spilled.min(32));
        assert_eq!(scratch > 0, spilled > 32, "{scratch} bytes for {spilled} registers");
        (some, all) = (some + u32::from(spilled > 32), all + u32::from((1..=32).contains(&spilled)));
        let (_, agprs, _) = allocate("gfx90a", seed, shape, Some(32));
        assert_eq!(agprs, 0);
    }
    assert!(some > 0 && all > 0, "{some} with scratch memory, {all} without");
    for processor in ["gfx908", "gfx90a"] {
        let shape = Shape { insts: 4000, reach: 4000, depth: 1 };
        let (spilled, agprs, scratch) = allocate(processor, 5, shape, None);
        assert!(spilled > 256 && agprs == 256 && scratch > 0, "{processor}: {spilled}, {agprs}, {scratch}");
    }
}

#[test]
fn tight_sgprs() {
    let options = Options { budget_sgprs: Some(48), ..Options::default() };
    let (refused, spilled) = sweep(0..25, Shape { insts: 150, reach: 20, depth: 3 }, options);
    assert_eq!(refused, 0);
    assert!(spilled > 12, "only {spilled} programs spilled");
}

#[test]
fn tight_both() {
    let options = Options { budget_vgprs: Some(28), budget_sgprs: Some(56), ..Options::default() };
    let (refused, spilled) = sweep(1000..1025, Shape { insts: 200, reach: 24, depth: 4 }, options);
    assert_eq!(refused, 0);
    assert!(spilled > 12, "only {spilled} programs spilled");
}

#[test]
fn linear_scan() {
    for (vgprs, sgprs) in [(Some(32), None), (None, Some(48)), (Some(28), Some(56))] {
        let options = Options { budget_vgprs: vgprs, budget_sgprs: sgprs, scan: true, ..Options::default() };
        let (refused, spilled) = sweep(0..8, Shape { insts: 150, reach: 20, depth: 3 }, options);
        assert_eq!(refused, 0);
        assert!(spilled > 3, "only {spilled} programs spilled");
    }
}

/// Far more values than registers, tuples of up to sixteen dwords among them, in straight and in branching code.
#[test]
fn many_live_values() {
    for (insts, depth) in [(1500, 0), (1500, 3)] {
        let shape = Shape { insts, reach: insts, depth };
        assert_eq!(sweep(0..2, shape, Options::default()), (0, 2));
    }
}

/// More slots than one offset of a scratch access reaches.
#[test]
fn thousands_of_slots() {
    let mut func = generate(5, Shape { insts: 4000, reach: 4000, depth: 1 });
    allocate(&mut func, Options::default(), &mut Context::default()).expect("fits");
    assert!(func.spilled.vgprs > 1024, "{:?}", func.spilled);
}

/// So few registers that the first choice is made on ranges without holes, through loops and branches.
#[test]
fn far_too_few_registers() {
    let options =
        Options { budget_vgprs: Some(32), budget_sgprs: Some(48), scan: true, ..Options::default() };
    assert_eq!(sweep(0..8, Shape { insts: 1500, reach: 1500, depth: 4 }, options), (0, 8));
}

/// What a work-group of 1024 leaves to a wave, and less than all of the SGPRs.
#[test]
fn large_work_groups() {
    let options = Options { budget_vgprs: Some(64), budget_sgprs: Some(80), ..Options::default() };
    for seeds in [0..6, 50..56] {
        let shape = Shape { insts: 400, reach: 150, depth: 3 };
        assert_eq!(sweep(seeds, shape, options), (0, 6));
    }
}

#[test]
fn same_input_same_output() {
    let shape = Shape { insts: 200, reach: 24, depth: 4 };
    let options = Options { budget_vgprs: Some(40), ..Options::default() };
    let (mut shared, text) = (Context::default(), |func: &MachFunc| format!("{:?}", func.blocks));
    for seed in 0..10 {
        let (mut a, mut b) = (generate(seed, shape), generate(seed, shape));
        allocate(&mut a, options, &mut shared).expect("fits");
        allocate(&mut b, options, &mut Context::default()).expect("fits");
        assert_eq!(text(&a), text(&b));
    }
}

/// Changes one register of an allocated function.
fn sabotage(func: &mut MachFunc, rng: &mut Random) {
    loop {
        let block = isa::MBlock::from_u32(rng.below(func.blocks.len()) as u32);
        let count = func.blocks[block].insts.len();
        if count == 0 {
            continue;
        }
        let inst = &mut func.blocks[block].insts[rng.below(count)];
        let operands = inst.operands_mut();
        let count = operands.len();
        if count == 0 {
            continue;
        }
        if let Operand::Reg(range) = &mut operands[rng.below(count)]
            && (range.first.0 < 102 || range.first.is_vgpr())
        {
            range.first.0 ^= 4;
            return;
        }
    }
}

#[test]
fn checker_notices_sabotage() {
    let shape = Shape { insts: 100, reach: 10, depth: 3 };
    let options = Options { budget_vgprs: Some(28), keep_blocks: true, ..Options::default() };
    let mut noticed = 0;
    for seed in 0..60 {
        let original = generate(seed, shape);
        let mut func = original.clone();
        allocate(&mut func, options, &mut Context::default()).expect("fits");
        sabotage(&mut func, &mut Random::new(seed));
        noticed +=
            u32::from(regalloc::check::check(&original, &func, &target(), Default::default()).is_err());
    }
    // A few changes harm nothing: a result nobody reads in another free register.
    assert!(noticed >= 48, "the checker noticed {noticed} of 60");
}
