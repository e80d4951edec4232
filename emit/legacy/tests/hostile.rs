//! Damaged binaries: an error or a model, never a panic, and no more memory or time than the file's size
//! allows. `KERNC_HOSTILE=N cargo test -p kernc-legacy --test legacy hostile::` for N mutations of each
//! format.

use crate::models;
use legacy::elf::{Class, Object, Place, Symbol};
use legacy::{Binary, opencl2};
use std::time::{Duration, Instant};
use support::Random;

/// Numbers that are at an end of something.
const ENDS: [u64; 14] =
    [0, 1, 2, 3, 8, 0xff00, 0xffff, 1 << 20, 1 << 31, 1 << 32, 1 << 40, 1 << 63, u64::MAX - 7, u64::MAX];

/// Changes some bytes: any, or a number; sometimes the end goes.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len());
        match random.below(8) {
            0 | 1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes[at] = random.below(256) as u8,
            3 if random.one_in(4) => bytes.truncate(at.max(64)),
            _ => {
                // The numbers of these formats have 4 or 8 bytes.
                let (at, size) = (at & !3, random.choose(&[1, 2, 4, 8]));
                let value = random.choose(&ENDS).wrapping_add(random.below(3) as u64);
                let end = (at + size).min(bytes.len());
                bytes[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
            }
        }
    }
}

/// Goes over the whole model, as an inspector does. Returns the number of fields.
fn visit(binary: &Binary) -> usize {
    match binary {
        Binary::OpenCl1(binary) => {
            let mut count = binary.fields().len();
            for kernel in &binary.kernels {
                count += kernel.fields().len();
                for encoding in kernel.inner.iter().flat_map(|inner| &inner.encodings) {
                    count += encoding.fields().len();
                    count += encoding.notes.iter().map(|note| note.fields().len()).sum::<usize>();
                    count += encoding.user_data().iter().map(|data| data.fields().len()).sum::<usize>();
                }
            }
            count
        }
        Binary::OpenCl2(binary) => {
            let mut count = binary.fields().len();
            for kernel in &binary.kernels {
                count += kernel.metadata.fields().len();
                count += kernel.metadata.arguments.iter().map(|row| row.fields().len()).sum::<usize>();
                count += kernel.metadata.formats.iter().map(|row| row.fields().len()).sum::<usize>();
            }
            for kernel in binary.code.kernels().expect("the reader has read them") {
                count += kernel.header.fields().len();
            }
            if let opencl2::Code::Kernels(kernels) = &binary.code {
                count += kernels.iter().map(|kernel| kernel.fields().len()).sum::<usize>();
            }
            count + binary.code.notes().expect("the reader has read them").len()
        }
        Binary::Gallium(container) => {
            let mut count = container.fields().len();
            for config in container.configs().expect("the reader has read them") {
                count += config.fields().len();
            }
            count + container.kernels.iter().map(|kernel| kernel.fields().len()).sum::<usize>()
        }
        _ => unreachable!(),
    }
}

#[test]
fn damaged_binaries_do_not_panic() {
    let count: usize = std::env::var("KERNC_HOSTILE").map_or(2000, |count| count.parse().unwrap());
    let all = models::all();
    for format in ["opencl1", "opencl2", "gallium"] {
        let files: Vec<Vec<u8>> =
            all.iter().filter(|row| row.0.starts_with(format)).map(|row| row.1.write()).collect();
        let mut random = Random::new(48);
        let (mut read, mut fields, mut slowest) = (0, 0, Duration::ZERO);
        for index in 0..count {
            let mut bytes = files[index % files.len()].clone();
            damage(&mut bytes, &mut random);
            let start = Instant::now();
            match legacy::read(&bytes) {
                Ok(file) => {
                    read += 1;
                    fields += visit(&file.binary);
                    assert!(file.unclaimed.len() < bytes.len());
                }
                Err(error) => assert!(error.offset <= bytes.len() as u64, "{error}"),
            }
            slowest = slowest.max(start.elapsed());
        }
        println!("{format}: {count} damaged, {read} read, {fields} fields, slowest {slowest:?}");
        // Both outcomes occur often, so the damage is neither too small nor too large.
        assert!(read > count / 20 && count - read > count / 20, "{format}: {read} of {count}");
        assert!(slowest < Duration::from_secs(60), "{format}: {slowest:?}");
    }
}

/// Many symbols share one long name, and many kernels the same bytes.
#[test]
fn shared_bytes_cost_no_time() {
    const COUNT: usize = 30_000;
    let name: &'static str = "x".repeat(legacy::MAX_NAME).leak();
    let mut object = Object::new(Class::Elf64, 2, 0xaf5b);
    object.symbols.push(Symbol::local(name, 1, Place::Undefined, 0, 0));
    object.symbols.extend((0..COUNT).map(|_| Symbol::local("", 1, Place::Other(7), 1, 0)));
    let mut bytes = object.write();
    // All symbols have the name of the first one: the fourth section header has the place of the table.
    let headers = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
    let table = u64::from_le_bytes(bytes[headers + 3 * 64 + 24..][..8].try_into().unwrap()) as usize;
    for index in 1..COUNT + 2 {
        bytes[table + 24 * index] = 1;
    }
    let start = Instant::now();
    let file = legacy::read(&bytes).unwrap();
    let Binary::OpenCl2(binary) = &file.binary else { panic!() };
    assert_eq!(binary.symbols.len(), COUNT + 1);
    assert!(binary.symbols.iter().all(|extra| extra.symbol.name == name));
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    // One byte more, and the name is refused.
    let long: &'static str = "x".repeat(legacy::MAX_NAME + 1).leak();
    let mut object = Object::new(Class::Elf64, 2, 0xaf5b);
    object.symbols.push(Symbol::local(long, 1, Place::Undefined, 0, 0));
    let bytes = object.write();
    let error = legacy::read(&bytes).unwrap_err().to_string();
    assert!(error.contains("more than 4096 bytes"), "{error}");
}
