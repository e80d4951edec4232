//! Speed of encoder and decoder on one core, on code that compilers write: `cargo bench -p kernc-isa`. Criterion's
//! throughput is in instructions a second.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use isa::{Decoder, MachInst, Target};
use std::hint::black_box;

/// Recorded code: processor and words.
const CODE: [(&str, &str); 2] =
    [("gfx906", include_str!("code/gfx906.hex")), ("gfx1030", include_str!("code/gfx1030.hex"))];

fn words(text: &str) -> Vec<u32> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).map(|word| u32::from_str_radix(word, 16).expect("a word")).collect()
}

/// Calls `f` with each instruction of the code.
fn for_each_inst(decoder: &Decoder, words: &[u32], mut f: impl FnMut(MachInst)) {
    let mut rest = words;
    while !rest.is_empty() {
        let (inst, len) = decoder.decode(rest).expect("compilers write instructions");
        f(inst);
        rest = &rest[len..];
    }
}

fn codec(criterion: &mut Criterion) {
    for (cpu, text) in CODE {
        let target = Target::by_name(cpu).expect("a processor");
        let decoder = Decoder::new(target).expect("a processor");
        let words = words(text);
        let mut insts = Vec::new();
        for_each_inst(&decoder, &words, |inst| insts.push(inst));
        let mut group = criterion.benchmark_group(cpu);
        group.throughput(Throughput::Elements(insts.len() as u64));
        let mut out = Vec::with_capacity(words.len());
        group.bench_function("encode", |bencher| {
            bencher.iter(|| {
                out.clear();
                for inst in &insts {
                    isa::encode(target, inst, &mut out).expect("it was decoded");
                }
                black_box(&out);
            });
        });
        assert_eq!(out, words);
        group.bench_function("decode", |bencher| {
            bencher.iter(|| {
                for_each_inst(&decoder, &words, |inst| {
                    black_box(&inst);
                });
            });
        });
        group.finish();
    }
}

criterion_group!(benches, codec);
criterion_main!(benches);
