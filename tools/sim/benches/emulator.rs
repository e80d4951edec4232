//! Wave instructions a second, on one thread and on all: `sgemm_reg` and `sha256` as clang 19 compiles them for gfx906.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sim::{CodeObject, Device, Dispatch, Mode, ModuleId, RunStats};

const SGEMM_REG: &[u8] = include_bytes!("../tests/data/sgemm_reg.co");
const SHA256: &[u8] = include_bytes!("../tests/data/sha256.co");
const SIZE: u32 = 256;
/// Messages of one block each.
const MESSAGES: u32 = 65536;

/// A kernel that is loaded and has its arguments.
struct Ready {
    device: Device,
    module: ModuleId,
    dispatch: Dispatch<'static>,
    /// Wave instructions of a run.
    instructions: u64,
}

impl Ready {
    fn new(object: &[u8], threads: usize, arguments: impl Fn(&mut Device) -> Dispatch<'static>) -> Ready {
        let object = CodeObject::load(object).expect("the fixture loads");
        let mut device = Device::with_threads(threads);
        let module = device.load(&object).expect("the object fits");
        let dispatch = arguments(&mut device);
        let instructions = device.run(module, &dispatch).expect("the kernel ends").instructions;
        Ready { device, module, dispatch, instructions }
    }

    fn run(&mut self) -> RunStats {
        self.device.run(self.module, &self.dispatch).expect("the kernel ends, and there is nothing to report")
    }
}

fn matrices(device: &mut Device) -> Dispatch<'static> {
    let mut kernarg = Vec::new();
    for _ in 0..3 {
        let matrix = device.alloc(u64::from(SIZE * SIZE) * 4).expect("room for a matrix");
        kernarg.extend(matrix.to_le_bytes());
    }
    for _ in 0..3 {
        kernarg.extend(SIZE.to_le_bytes());
    }
    let grid = [SIZE / 64 * 256, SIZE / 64, 1];
    Dispatch { kernel: "sgemm_reg", grid, group: [256, 1, 1], kernarg, ..Dispatch::default() }
}

fn messages(device: &mut Device) -> Dispatch<'static> {
    let input = device.alloc(u64::from(MESSAGES) * 64).expect("room for the messages");
    let output = device.alloc(u64::from(MESSAGES) * 32).expect("room for the hashes");
    let mut kernarg = [input.to_le_bytes(), output.to_le_bytes()].concat();
    kernarg.extend(MESSAGES.to_le_bytes());
    Dispatch { kernel: "sha256", grid: [MESSAGES, 1, 1], group: [64, 1, 1], kernarg, ..Dispatch::default() }
}

/// Both kernels on one thread and on all, the first one in strict mode too.
fn emulator(c: &mut Criterion) {
    let mut group = c.benchmark_group("emulator");
    group.sample_size(10);
    let cores = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    let mut counts = vec![1, cores];
    counts.dedup();
    for threads in counts {
        let mut sgemm = Ready::new(SGEMM_REG, threads, matrices);
        group.throughput(Throughput::Elements(sgemm.instructions));
        group.bench_function(format!("sgemm_reg, threads: {threads}"), |b| b.iter(|| sgemm.run()));
        sgemm.device.set_mode(Mode::STRICT);
        group.bench_function(format!("sgemm_reg strict, threads: {threads}"), |b| b.iter(|| sgemm.run()));
        let mut sha256 = Ready::new(SHA256, threads, messages);
        group.throughput(Throughput::Elements(sha256.instructions));
        group.bench_function(format!("sha256, threads: {threads}"), |b| b.iter(|| sha256.run()));
    }
    group.finish();
}

fn loading(c: &mut Criterion) {
    c.bench_function("load sgemm_reg", |b| {
        b.iter(|| CodeObject::load(SGEMM_REG).expect("the fixture loads"))
    });
    let object = CodeObject::load(SGEMM_REG).expect("the fixture loads");
    c.bench_function("decode sgemm_reg", |b| {
        b.iter(|| Device::with_threads(1).load(&object).expect("it fits"))
    });
}

criterion_group!(benches, emulator, loading);
criterion_main!(benches);
