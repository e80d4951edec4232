//! What a kernel is told about its dispatch, on every generation and in every version: ids in registers, hidden
//! arguments, packet, queue and signal.

use crate::common::{compile, link, present, test_file};
use sim::{CodeObject, Device, Dispatch};

const GRID: [u32; 3] = [21, 10, 3];
const GROUP: [u32; 3] = [8, 4, 2];

#[test]
fn dispatches_report_their_place() {
    if !present("ld.lld-19") {
        return;
    }
    let mut failures = Vec::new();
    for (clang, version, processors) in [
        (
            "clang-19",
            5,
            &["gfx700", "gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx1010", "gfx1030"][..],
        ),
        ("clang-19", 4, &["gfx600", "gfx701", "gfx803", "gfx90a", "gfx1012", "gfx1030"][..]),
        ("clang-14", 3, &["gfx600", "gfx704", "gfx803", "gfx906", "gfx1010"][..]),
        ("clang-14", 2, &["gfx600", "gfx700", "gfx803", "gfx900"][..]),
    ] {
        if !present(clang) {
            continue;
        }
        for processor in processors {
            for level in ["-O2", "-O0"] {
                let options = [
                    &format!("-DV5={}", u32::from(version >= 5)),
                    &format!("-mcode-object-version={version}"),
                    &format!("-mcpu={processor}"),
                    level,
                ];
                let object = compile(clang, &test_file("dispatch.cl"), &options).unwrap();
                let object = CodeObject::load(&link(&[object]).unwrap()).unwrap();
                failures
                    .extend(check(&object, version).err().map(|why| format!("{clang} {options:?}: {why}")));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn check(object: &CodeObject, version: u32) -> Result<(), String> {
    let text = |fault: sim::Fault| fault.to_string();
    let mut device = Device::with_threads(1);
    let module = device.load(object).map_err(text)?;
    let items: u32 = GRID.iter().product();
    let out = device.alloc(u64::from(16 + items) * 8).map_err(text)?;
    let signal = device.signal(3).map_err(text)?;
    let dispatch = Dispatch {
        kernel: "told",
        grid: GRID,
        group: GROUP,
        kernarg: out.to_le_bytes().to_vec(),
        global_offset: [11, 1 << 40, 33],
        signal: Some(signal),
        ..Dispatch::default()
    };
    // The second dispatch has another number.
    for _ in 0..2 {
        device.run(module, &dispatch).map_err(text)?;
    }
    let mut bytes = vec![0; (16 + items as usize) * 8];
    device.read(out, &mut bytes).map_err(text)?;
    let words: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let expect = |what: &str, at: usize, value: u64| match words[at] == value {
        true => Ok(()),
        false => Err(format!("{what} is {:#x}, not {value:#x}", words[at])),
    };
    expect("offset x", 0, 11)?;
    expect("offset y", 1, 1 << 40)?;
    expect("offset z", 2, 33)?;
    if version >= 5 {
        // Complete groups: 2, 2, 1; sizes 8, 4, 2; the rest 5, 2, 1.
        expect("block counts x and y", 3, 2 | 2 << 32)?;
        expect("sizes and a remainder", 4, 8 | 4 << 16 | 2 << 32 | 5 << 48)?;
        expect("remainders y and z", 5, 2 | 1 << 16)?;
        expect("dimensions", 6, 3)?;
    }
    expect("completion signal", 7, signal)?;
    expect("apertures", 8, 0x0001_0000 | 0x0002_0000 << 32)?;
    expect("dispatch id", 9, 1)?;
    expect("packet in the queue's ring", 10, 1)?;
    expect("dimensions of the packet", 11, 3)?;
    for id in 0..items {
        let at = [id % GRID[0], id / GRID[0] % GRID[1], id / GRID[0] / GRID[1]];
        let part = |dim: usize| (u64::from(at[dim] / GROUP[dim]), u64::from(at[dim] % GROUP[dim]));
        let ((gx, x), (gy, y), (gz, z)) = (part(0), part(1), part(2));
        expect("ids", 16 + id as usize, gx | gy << 8 | gz << 16 | x << 24 | y << 32 | z << 40)?;
    }
    match device.signal_value(signal) {
        Ok(1) => Ok(()),
        other => Err(format!("the signal is {other:?}")),
    }
}
