//! Wave instructions a second, on one thread: `sgemm_reg` and `sha256` as clang 19 compiles them for gfx906.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sim::{CodeObject, Device, Dispatch, Limits, Mode};

const SGEMM_REG: &[u8] = include_bytes!("../tests/data/sgemm_reg.co");
const SHA256: &[u8] = include_bytes!("../tests/data/sha256.co");
const SIZE: u32 = 256;
/// Messages of one block each.
const MESSAGES: u32 = 65536;

fn emulator(c: &mut Criterion) {
    let object = CodeObject::load(SGEMM_REG).expect("the fixture loads");
    let mut device = Device::with_threads(1);
    let module = device.load(&object).expect("the object fits");
    let mut kernarg = Vec::new();
    for _ in 0..3 {
        let matrix = device.alloc(u64::from(SIZE * SIZE) * 4).expect("room for a matrix");
        kernarg.extend(matrix.to_le_bytes());
    }
    for _ in 0..3 {
        kernarg.extend(SIZE.to_le_bytes());
    }
    let dispatch = Dispatch {
        kernel: "sgemm_reg",
        grid: [SIZE / 64 * 256, SIZE / 64, 1],
        group: [256, 1, 1],
        kernarg,
        dynamic_lds: 0,
        limits: Limits::default(),
        ..Dispatch::default()
    };
    let stats = device.run(module, &dispatch).expect("the kernel ends");
    let mut group = c.benchmark_group("emulator");
    group.sample_size(10);
    group.throughput(Throughput::Elements(stats.instructions));
    group.bench_function("sgemm_reg", |b| b.iter(|| device.run(module, &dispatch).expect("the kernel ends")));
    device.set_mode(Mode::STRICT);
    group.bench_function("sgemm_reg strict", |b| {
        b.iter(|| device.run(module, &dispatch).expect("there is nothing to report"))
    });
    group.finish();
    c.bench_function("load sgemm_reg", |b| {
        b.iter(|| CodeObject::load(SGEMM_REG).expect("the fixture loads"))
    });
    c.bench_function("decode sgemm_reg", |b| {
        b.iter(|| Device::with_threads(1).load(&object).expect("it fits"))
    });
}

fn hashes(c: &mut Criterion) {
    let object = CodeObject::load(SHA256).expect("the fixture loads");
    let mut device = Device::with_threads(1);
    let module = device.load(&object).expect("the object fits");
    let input = device.alloc(u64::from(MESSAGES) * 64).expect("room for the messages");
    let output = device.alloc(u64::from(MESSAGES) * 32).expect("room for the hashes");
    let mut kernarg = [input.to_le_bytes(), output.to_le_bytes()].concat();
    kernarg.extend(MESSAGES.to_le_bytes());
    let dispatch = Dispatch {
        kernel: "sha256",
        grid: [MESSAGES, 1, 1],
        group: [64, 1, 1],
        kernarg,
        dynamic_lds: 0,
        limits: Limits::default(),
        ..Dispatch::default()
    };
    let stats = device.run(module, &dispatch).expect("the kernel ends");
    let mut group = c.benchmark_group("emulator");
    group.sample_size(10);
    group.throughput(Throughput::Elements(stats.instructions));
    group.bench_function("sha256", |b| b.iter(|| device.run(module, &dispatch).expect("the kernel ends")));
    group.finish();
}

criterion_group!(benches, emulator, hashes);
criterion_main!(benches);
