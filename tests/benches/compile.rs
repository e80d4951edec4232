//! Compile time of the 21 example kernels, source text to code object at -O2; `scaling` has how it grows with size.
//!
//! `cargo bench --bench compile` measures; `cargo bench --bench compile -- saxpy` one kernel.

use criterion::{Criterion, criterion_group, criterion_main};
use kernc::{Compiler, Options, Target};
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

criterion_group!(benches, examples);
criterion_main!(benches);
