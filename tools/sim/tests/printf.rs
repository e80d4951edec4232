//! What kernels print: the buffer of OpenCL's `printf` as clang fills it, against the C library's idea of the text.

use crate::common::{compile, link, present, test_file};
use sim::{CodeObject, Device, Dispatch, Limits};

fn build(clang: &str, version: u32, level: &str) -> CodeObject {
    let slot = if version >= 5 { "-DPRINTF_SLOT=9" } else { "-DPRINTF_SLOT=3" };
    let version = format!("-mcode-object-version={version}");
    let options = [slot, &version, level, "-mcpu=gfx900", "-Xclang", "-finclude-default-header"];
    let object = compile(clang, &test_file("printf.cl"), &options).unwrap();
    let linked = link(&[object]).unwrap();
    CodeObject::load(&linked).unwrap()
}

#[test]
fn as_the_c_library_prints() {
    if !present("ld.lld-19") {
        return;
    }
    for (clang, version) in [("clang-19", 5), ("clang-19", 4), ("clang-14", 3), ("clang-14", 2)] {
        if !present(clang) {
            continue;
        }
        for level in ["-O2", "-O0"] {
            let object = build(clang, version, level);
            check(&object).unwrap_or_else(|why| panic!("{clang}, V{version}, {level}: {why}"));
        }
    }
}

fn check(object: &CodeObject) -> Result<(), String> {
    let mut device = Device::with_threads(1);
    let module = device.load(object).map_err(|fault| fault.to_string())?;
    let mut kernarg = Vec::new();
    let ints: Vec<u8> = [-7i32, 42, 255].iter().flat_map(|value| value.to_le_bytes()).collect();
    let floats: Vec<u8> = [1.5f32, 12345.678, -2.25].iter().flat_map(|value| value.to_le_bytes()).collect();
    for bytes in [ints, floats, b"text\0".to_vec()] {
        let address = device.alloc(bytes.len() as u64).map_err(|fault| fault.to_string())?;
        device.write(address, &bytes).map_err(|fault| fault.to_string())?;
        kernarg.extend(address.to_le_bytes());
    }
    let limits = Limits { instructions: 1_000_000, stack: 4096 };
    let mut run = |kernel, items, kernarg| {
        let (grid, group) = ([items, 1, 1], [items, 1, 1]);
        let dispatch = Dispatch { kernel, grid, group, kernarg, limits, ..Dispatch::default() };
        device.run(module, &dispatch).map_err(|fault| fault.to_string())?;
        Ok::<String, String>(device.take_printed())
    };
    let expected = "item 1: -7 00042 ff A: known%\n\
                    1.500000 1.23e+04 0.1  -2.2|\n\
                    1,-2,3,-7 0.500000,1.500000 -7696581394432 255\n\
                    no arguments\n";
    let text = run("talk", 4, kernarg)?;
    if text != expected {
        return Err(format!("printed\n{text}instead of\n{expected}"));
    }
    let text = run("all", 100, Vec::new())?;
    let mut numbers: Vec<u32> = text.split_terminator(',').filter_map(|number| number.parse().ok()).collect();
    numbers.sort_unstable();
    if numbers != (0..100).collect::<Vec<_>>() {
        return Err(format!("printed {text}"));
    }
    Ok(())
}
