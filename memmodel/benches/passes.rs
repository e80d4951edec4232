//! Time of the three passes and of the checker, per machine instruction.

#[path = "../tests/common/mod.rs"]
mod common;

use common::build::*;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use isa::{MachInst, op};
use memmodel::{Context, Options};
use mir::MachFunc;

/// A loop over tiles as a matrix product has it, so many times one after the other.
fn tiles(count: u32) -> MachFunc {
    let mut stage: Vec<MachInst> = (0..8).map(load).collect();
    stage.extend((0..8).map(lds_write));
    stage.push(inst(op::S_BARRIER, &[]));
    let mut body: Vec<MachInst> = (0..16).map(|n| lds_read(20 + n)).collect();
    for n in 0..16 {
        for m in 0..4 {
            body.push(inst(op::V_MAC_F32, &[v(40 + n * 4 + m), v(20 + n), v(20 + (n + m) % 16)]));
        }
    }
    body.push(branch(op::S_CBRANCH_SCC1, 0));
    let mut blocks: Vec<(Vec<MachInst>, Vec<u32>)> = Vec::new();
    for tile in 0..count {
        let head = 2 * tile + 1;
        *body.last_mut().unwrap() = branch(op::S_CBRANCH_SCC1, head);
        blocks.push((stage.clone(), vec![head]));
        blocks.push((body.clone(), vec![head, head + 1]));
    }
    blocks.push((vec![store(40), end()], vec![]));
    let blocks: Vec<(&[MachInst], &[u32])> = blocks.iter().map(|(insts, to)| (&insts[..], &to[..])).collect();
    func(&blocks)
}

fn size(func: &MachFunc) -> u64 {
    func.blocks.values().map(|block| block.insts.len() as u64).sum()
}

fn bench(c: &mut Criterion) {
    for count in [1, 10, 100] {
        let func = tiles(count);
        let mut group = c.benchmark_group(format!("{} instructions", size(&func)));
        group.throughput(Throughput::Elements(size(&func)));
        let mut ctx = Context::default();
        let opts = Options::default();
        group.bench_function("passes", |b| {
            b.iter_batched_ref(
                || func.clone(),
                |func| memmodel::run(func, &model(), &opts, &mut ctx),
                BatchSize::SmallInput,
            );
        });
        let mut done = func.clone();
        memmodel::run(&mut done, &model(), &opts, &mut ctx);
        group.sample_size(10);
        group.bench_function("checker", |b| b.iter(|| memmodel::proof::check(&done, &model())));
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
