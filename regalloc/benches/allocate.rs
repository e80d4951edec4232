//! Allocation of random functions: straight code, branches and loops, and a budget that makes it spill.

#[path = "../tests/generate/mod.rs"]
mod generate;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use generate::{Shape, generate};
use isa::Subtarget;
use regalloc::{Context, Options};

fn allocation(criterion: &mut Criterion) {
    let Some(target) = Subtarget::by_name("gfx906") else { return };
    let mut group = criterion.benchmark_group("regalloc");
    let tight = Some(32);
    for (name, insts, depth, budget_vgprs) in [
        ("20", 20, 0, None),
        ("2000", 2000, 0, None),
        ("2000 branchy", 2000, 4, None),
        ("200 tight", 200, 3, tight),
    ] {
        let func = generate(7, Shape { insts, reach: 10, depth });
        let count: usize = func.blocks.values().map(|block| block.insts.len()).sum();
        let options = Options { budget_vgprs, ..Options::default() };
        let mut ctx = Context::default();
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                || func.clone(),
                |mut func| {
                    let stats = regalloc::run(&mut func, &target, &options, &mut ctx);
                    (func, stats)
                },
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, allocation);
criterion_main!(benches);
