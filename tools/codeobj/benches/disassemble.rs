//! How fast code becomes text: one million instructions of real kernels in one section. `cargo bench -p kernc-codeobj`.

#![allow(missing_docs)]

use codeobj::{CodeObject, disasm};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const INSTRUCTIONS: usize = 1_000_000;
const KERNEL: &[u8] = include_bytes!("../tests/data/sha256.gfx906.19v5.co");

/// A relocatable object with the kernel's code again and again, and how many instructions it has.
fn large() -> (Vec<u8>, usize) {
    let kernel = CodeObject::parse(KERNEL).unwrap();
    let code = kernel.section(".text").unwrap().data;
    let lines = disasm::disassemble(&kernel, &disasm::Options { raw: true, ..Default::default() }).unwrap();
    let instructions = lines.lines().filter(|line| line.contains("// 0")).count();
    let copies = INSTRUCTIONS.div_ceil(instructions);
    let text = code.repeat(copies);
    // The kernel's ELF header, then the code, the names of the sections, and three section headers.
    let mut bytes = KERNEL[..64].to_vec();
    bytes.extend_from_slice(&text);
    let names = bytes.len();
    bytes.extend_from_slice(b"\0.text\0.shstrtab\0");
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let headers = bytes.len();
    // Name, type, flags, offset, size, alignment.
    let sections = [(0, 0, 0, 0, 0, 0), (1, 1, 6, 64, text.len(), 256), (7, 3, 0, names, 17, 1)];
    for (name, kind, flags, offset, size, align) in sections {
        bytes.extend_from_slice(&u32::to_le_bytes(name));
        bytes.extend_from_slice(&u32::to_le_bytes(kind));
        for number in [flags, 0, offset as u64, size as u64, 0, align, 0] {
            bytes.extend_from_slice(&u64::to_le_bytes(number));
        }
    }
    // Relocatable, no segments.
    bytes[16] = 1;
    bytes[32..40].fill(0);
    bytes[40..48].copy_from_slice(&(headers as u64).to_le_bytes());
    bytes[56] = 0;
    bytes[60..64].copy_from_slice(&[3, 0, 2, 0]);
    (bytes, instructions * copies)
}

fn disassemble(criterion: &mut Criterion) {
    let (bytes, instructions) = large();
    if let Ok(path) = std::env::var("KERNC_KEEP") {
        std::fs::write(path, &bytes).unwrap();
    }
    let mut group = criterion.benchmark_group("disassemble");
    group.throughput(Throughput::Elements(instructions as u64)).sample_size(10);
    for (name, raw) in [("plain", false), ("raw", true)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let object = CodeObject::parse(&bytes).unwrap();
                disasm::disassemble(&object, &disasm::Options { raw, ..Default::default() }).unwrap().len()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, disassemble);
criterion_main!(benches);
