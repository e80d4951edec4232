//! Compile time, source text to code object at -O2: the 21 example kernels, and how it grows with size.
//!
//! `cargo bench --bench compile` measures; `cargo bench --bench compile -- saxpy` one kernel.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kernc::{Compiler, Options, Target};
use std::fmt::Write;
use std::path::Path;

fn compiler() -> Compiler {
    Compiler::new(Target::by_name("gfx906").expect("a known processor"))
}

fn options() -> Options {
    Options { verify: false, ..Options::default() }
}

fn examples(criterion: &mut Criterion) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut paths: Vec<_> = std::fs::read_dir(dir)
        .expect("the examples")
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "k"))
        .collect();
    paths.sort();
    let mut group = criterion.benchmark_group("examples");
    let mut compiler = compiler();
    for path in paths {
        let source = std::fs::read_to_string(&path).expect("a readable example");
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        group.bench_function(name, |bench| {
            bench.iter(|| compiler.compile(&source, &options()).expect("compiles"));
        });
    }
    group.finish();
}

/// A straight-line integer kernel of about `n` instructions.
fn straight_line(n: usize) -> String {
    let mut out = String::from(
        "#[workgroup_size(64)]\nkernel long(x: *global u32) {\n    let i = local_id(0);\n    let mut a = x[i];\n    let mut b = i;\n",
    );
    for k in 0..n / 3 {
        let _ = writeln!(out, "    a = (a ^ (b << {})) + {}; b = b * a;", k % 31 + 1, k * 7919 + 100);
    }
    out.push_str("    x[i] = a + b;\n}\n");
    out
}

fn scaling(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scaling");
    let mut compiler = compiler();
    for size in [100, 1000, 5000, 20000] {
        let source = straight_line(size);
        let object = compiler.compile(&source, &options()).expect("compiles");
        let instructions = object.kernels()[0].resources.instructions;
        group.throughput(Throughput::Elements(u64::from(instructions)));
        group.bench_with_input(BenchmarkId::from_parameter(instructions), &source, |bench, source| {
            bench.iter(|| compiler.compile(source, &options()).expect("compiles"));
        });
    }
    group.finish();
}

criterion_group!(benches, examples, scaling);
criterion_main!(benches);
