//! OpenCL's global offset: `global_id` counts from there with `--lang opencl`, in every version of code objects, on processors of each
//! generation; and so does clang's code for `get_global_id`.

use crate::common::{have, root, scratch};
use kernc::sim::{self, Device, Dispatch};
use kernc::{CodeObjectVersion, Compiler, Language, OptLevel, Options, Subtarget};

const GRID: [u32; 3] = [10, 6, 3];
const GROUP: [u32; 3] = [4, 2, 2];
/// Above 32 bits is nothing that a `u32` has.
const OFFSET: [u64; 3] = [1000, 0xffff_fffe, (1 << 32) + 7];

/// Each work-item writes its three ids; `ATTRIBUTES` stand before the kernel, `CALL` before the function.
const OURS: &str = "
CALL fn id(d: u32) -> u32 { if d == 0 { global_id(0) } else if d == 1 { global_id(1) } else { global_id(2) } }

ATTRIBUTES
kernel ids(out: *global u32) {
    let x = group_id(0) * 4 + local_id(0);
    let y = group_id(1) * 2 + local_id(1);
    let z = group_id(2) * 2 + local_id(2);
    let to = out + (x + 10 * (y + 6 * z)) * 3;
    to[0] = id(0);
    to[1] = id(1);
    to[2] = id(2);
}";

/// What the work-items have written.
fn run(object: &[u8], offset: [u64; 3]) -> Vec<u32> {
    let object = sim::CodeObject::load(object).expect("an object");
    let mut device = Device::with_threads(1);
    device.set_mode(sim::Mode::Strict { keep_going: false });
    let module = device.load(&object).expect("it loads");
    let count = GRID.iter().product::<u32>() as usize * 3;
    let out = device.alloc(count as u64 * 4).expect("memory");
    let dispatch = Dispatch {
        kernel: "ids",
        grid: GRID,
        group: GROUP,
        kernarg: out.to_le_bytes().to_vec(),
        global_offset: offset,
        ..Dispatch::default()
    };
    device.run(module, &dispatch).unwrap_or_else(|fault| panic!("{fault}"));
    let mut bytes = vec![0; count * 4];
    device.read(out, &mut bytes).expect("memory");
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

fn expected(offset: [u64; 3]) -> Vec<u32> {
    let [columns, rows, planes] = GRID;
    let ids = (0..planes).flat_map(|z| (0..rows).flat_map(move |y| (0..columns).map(move |x| [x, y, z])));
    ids.flat_map(|ids| [0, 1, 2].map(|d| ids[d].wrapping_add(offset[d] as u32))).collect()
}

#[test]
fn ids_count_from_the_offset() {
    for processor in ["gfx600", "gfx803", "gfx906", "gfx90a", "gfx1030"] {
        for version in 2..=6 {
            // V2 has no place for what gfx90a wants to know of accumulation registers.
            if (processor, version) == ("gfx90a", 2) {
                continue;
            }
            let version = CodeObjectVersion::from_number(version).expect("a version");
            let target = Subtarget::by_name(processor).expect("a processor").with_version(version);
            for (attributes, call) in [("", "#[inline]"), ("#[workgroup_size(4, 2, 2)]", "#[inline(never)]")]
            {
                let source = OURS.replace("ATTRIBUTES", attributes).replace("CALL", call);
                for (language, opt_level) in [
                    (Language::OpenCl, OptLevel::O0),
                    (Language::OpenCl, OptLevel::O2),
                    (Language::Hip, OptLevel::O2),
                ] {
                    let options = Options { language, opt_level, verify: true, ..Options::default() };
                    let object = Compiler::new(target).compile(&source, &options);
                    let object = object.unwrap_or_else(|error| panic!("{}", error.render(false)));
                    let from = if language == Language::OpenCl { OFFSET } else { [0; 3] };
                    let what =
                        format!("{processor} {version:?} {} {opt_level:?} {attributes}", language.name());
                    assert!(run(object.bytes(), OFFSET) == expected(from), "{what}");
                }
            }
        }
    }
}

#[test]
fn ids_of_clang_count_from_the_offset() {
    if !have(&["clang-19"], "ids_of_clang_count_from_the_offset") {
        return;
    }
    let dir = scratch("global_offset");
    for (version, slot) in [(4, 0), (5, 5)] {
        let out = dir.join(format!("ids{version}.co"));
        let number = format!("-mcode-object-version={version}");
        let slot = format!("-DOFFSET_SLOT={slot}");
        let source = root().join("tests/hidden/ids.cl");
        let target =
            ["-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx906", "-nogpulib"];
        let files =
            ["-O2", &number, &slot, source.to_str().expect("text"), "-o", out.to_str().expect("text")];
        crate::common::tool("clang-19", &[target.as_slice(), &files].concat());
        assert!(run(&std::fs::read(&out).expect("an object"), OFFSET) == expected(OFFSET), "V{version}");
    }
}
