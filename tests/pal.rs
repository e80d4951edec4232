//! Code for PAL (`amdpal`): where parameters are, scratch memory, calls, what is refused, and LLVM's compute
//! shaders in the emulator. `tests/systems.rs` has the tests that are the same for all systems.

use crate::common::have;
use crate::systems::{compile, load};
use isa::Os;
use kernc::OptLevel;

const PROCESSORS: [&str; 7] = ["gfx600", "gfx700", "gfx803", "gfx900", "gfx90a", "gfx1010", "gfx1030"];
const LEVELS: [OptLevel; 4] = [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3];

/// Parameters of all sizes: up to ten dwords in registers, one over the border, and others in the table; a
/// vector that is read with an index that is not constant.
const PARAMETERS: &str = "struct Pair { low: u32, high: u16 }
#[workgroup_size(32)]
kernel k(out: *global u32, a: u8, b: u16, c: u32, d: u64, pair: Pair, v: u32x4, e: u8, f: u64, g: f32) {
    let at = local_id(0);
    out[at * 4] = a as u32 + b as u32 * 3 + c * 5 + (d >> 32) as u32 * 7 + d as u32;
    out[at * 4 + 1] = pair.low + pair.high as u32 * 3 + v[at % 4] * 5;
    out[at * 4 + 2] = v.x + v.y * 3 + v.z * 5 + v.w * 7;
    out[at * 4 + 3] = e as u32 + (f >> 32) as u32 * 3 + f as u32 * 5 + g as u32 * 7;
}
";

/// Few values in registers, private memory, and values that are spilled.
const SCRATCH: &str = "#[workgroup_size(32)]
#[num_vgpr(12)]
kernel k(out: *global u32, n: u32) {
    let at = global_id(0);
    let mut own: [u32; 24];
    for i in 0..24u32 { own[i] = at * i + n; }
    let mut list: [u32; 24];
    for i in 0..24u32 { list[(i * 7 + at) % 24] = own[i] ^ i; }
    let mut sum = 0u32;
    for i in 0..24u32 { sum = sum * 3 + list[i] + own[(sum + i) % 24]; }
    out[at] = sum;
}
";

const CALLS: &str = "#[inline(never)]
fn twist(list: *private [u32; 8], n: u32) -> u32 {
    let mut sum = n;
    for i in 0..8u32 { sum = sum * 3 + (*list)[(i + n) % 8]; }
    return sum;
}
#[inline(never)]
fn again(n: u32, at: u32) -> u32 {
    let mut list: [u32; 8];
    for i in 0..8u32 { list[i] = at * i + n; }
    return twist(&list, n);
}
#[workgroup_size(32)]
kernel k(out: *global u32, n: u32) {
    let at = global_id(0);
    out[at] = again(n, at) + again(n + 1, at) * num_groups(0);
}
";

/// Runs kernel `k` of `object` with 32 work-items for each of two groups in strict mode. The first argument is
/// the address of the result, whose dwords are returned.
fn run(object: &sim::CodeObject, given: &[Vec<u8>], dwords: usize) -> Result<Vec<u32>, String> {
    let mut device = sim::Device::with_threads(1);
    device.set_mode(sim::Mode::Strict { keep_going: false });
    let module = device.load(object).map_err(|fault| fault.to_string())?;
    let out = device.alloc(4 * dwords as u64).map_err(|fault| fault.to_string())?;
    let info = object.kernel("k").expect("the kernel");
    let mut kernarg = vec![0; info.kernarg_size as usize];
    let given = std::iter::once(out.to_le_bytes().to_vec()).chain(given.iter().cloned());
    for (arg, bytes) in info.explicit_args().zip(given) {
        kernarg[arg.offset as usize..][..bytes.len()].copy_from_slice(&bytes);
    }
    let dispatch =
        sim::Dispatch { kernel: "k", grid: [64, 1, 1], group: [32, 1, 1], kernarg, ..Default::default() };
    device.run(module, &dispatch).map_err(|fault| fault.to_string())?;
    let mut got = vec![0; 4 * dwords];
    device.read(out, &mut got).map_err(|fault| fault.to_string())?;
    Ok(got.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

/// The result of a kernel is the same as on HSA, for each processor at each level.
fn same_as_hsa(name: &str, text: &str, given: &[Vec<u8>], dwords: usize) {
    for (cpu, level) in PROCESSORS.into_iter().flat_map(|cpu| LEVELS.map(|level| (cpu, level))) {
        let of = |os| {
            let object = compile(text, level, cpu, os)?;
            run(&load(&object)?, given, dwords)
        };
        let result = of(Os::AmdPal);
        assert!(
            result.as_ref().is_ok_and(|list| list.iter().any(|&dword| dword != 0)),
            "{name} {cpu} {level:?}: {result:?}"
        );
        assert_eq!(result, of(Os::AmdHsa), "{name} {cpu} {level:?}");
    }
}

#[test]
fn parameters_are_in_registers_and_in_the_table() {
    let words = |list: &[u32]| list.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let given = [
        vec![201],
        vec![7, 3],
        words(&[77]),
        words(&[9, 11]),
        words(&[13, 0x1234]),
        words(&[21, 22, 23, 24]),
        vec![199],
        words(&[31, 37]),
        41f32.to_le_bytes().to_vec(),
    ];
    same_as_hsa("parameters", PARAMETERS, &given, 128);
}

#[test]
fn scratch_memory_comes_from_the_table() {
    same_as_hsa("scratch", SCRATCH, &[7u32.to_le_bytes().to_vec()], 64);
}

#[test]
fn functions_are_called() {
    same_as_hsa("calls", CALLS, &[7u32.to_le_bytes().to_vec()], 64);
}

/// What PAL's objects and runtime cannot have is refused with a reason.
#[test]
fn what_pal_lacks() {
    let kernel = "#[workgroup_size(32)]\nkernel k(out: *global u32) { out[0] = 1; }\n";
    let size = "#[inline(never)]\nfn f() -> u32 { return num_groups(0); }\n\
                #[workgroup_size(32)]\nkernel k(out: *global u32) { out[0] = f(); }\n";
    for (text, reason) in [
        ("kernel k(out: *global u32) { out[0] = 1; }\n".to_owned(), "`#[workgroup_size(X, Y, Z)]`"),
        (format!("{kernel}{}", kernel.replace(" k(", " l(")), "an object for each kernel"),
        (size.to_owned(), "a size of the launch in a function that is not inlined"),
    ] {
        let error = compile(&text, OptLevel::O1, "gfx900", Os::AmdPal).expect_err(&text);
        assert!(error.contains("E0111") && error.contains(reason), "{error}");
    }
}

/// Metadata with `COMPUTE_PGM_RSRC2`: sixteen user SGPRs, and the id of the work-group in dimension x. LLVM adds
/// the other facts.
const METADATA: &str = r#"
!amdgpu.pal.metadata.msgpack = !{!0}
!0 = !{!"\82\aeamdpal.version\92\02\06\b0amdpal.pipelines\91\81\aa.registers\81\cd\2e\13\cc\a0"}
"#;

/// Turns a kernel of `tests/data` into a compute shader whose arguments are the sixteen user SGPRs, the id of
/// the work-group and that of the work-item.
fn shader(text: &str) -> String {
    let inreg = |names: &[&str]| names.iter().map(|name| format!("i32 inreg %{name}, ")).collect::<String>();
    let begin = format!(
        "define amdgpu_cs void @_amdgpu_cs_main({}ptr addrspace(1) inreg %x, ptr addrspace(1) inreg %y, \
         float inreg %a, {}ptr addrspace(6) inreg %spill, ptr addrspace(4) inreg %counts, i32 inreg %gds, \
         i32 inreg %group, i32 %item) #0 {{",
        inreg(&["global_table", "shader_table"]),
        inreg(&["b", "c", "d", "e", "f"]),
    );
    let lines = text.lines().filter(|line| !line.contains("= call i32 @llvm.amdgcn.work"));
    let lines = lines.map(|line| if line.starts_with("define") { &begin } else { line });
    let body: Vec<&str> = lines.collect();
    let attributes = "attributes #0 = { \"amdgpu-flat-work-group-size\"=\"64,64\" }";
    format!("{}\n{attributes}\n{METADATA}", body.join("\n"))
}

fn by_llc(version: &str, text: &str, cpu: &str) -> Vec<u8> {
    let mut command = support::Tool::new(format!("llc-{version}"));
    command.args(["-mtriple=amdgcn--amdpal", &format!("-mcpu={cpu}"), "-filetype=obj", "-o", "-"]);
    if version == "14" {
        command.args(["-opaque-pointers"]);
    }
    let output = command.input(text).output().expect("the tool starts");
    assert!(output.status.success(), "{cpu}: {}\n{text}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// LLVM's compute shaders run in the emulator, with arguments that the object does not describe.
#[test]
fn shaders_of_llvm_run() {
    const PARAMS: &str = "x: *const f32, y: *f32, a: f32, b: f32, c: f32, d: f32, e: f32, f: f32, g: f32";
    for version in ["19", "14"] {
        if !have(&[&format!("llc-{version}")], "shaders_of_llvm_run") {
            continue;
        }
        for file in ["systems/loop.ll", "systems/scratch.ll", "systems/shared.ll", "pal/tables.ll"] {
            let text = std::fs::read_to_string(support::root().join("tests/data").join(file));
            let text = shader(&text.expect("the file"));
            for cpu in PROCESSORS {
                let what = format!("{file} llc-{version} {cpu}");
                let object = by_llc(version, &text, cpu);
                let mut object =
                    sim::CodeObject::load(&object).unwrap_or_else(|error| panic!("{what}: {error}"));
                object.set_parameters("_amdgpu_cs_main", PARAMS).expect("parameters");
                let mut device = sim::Device::with_threads(1);
                device.set_mode(sim::Mode::Strict { keep_going: false });
                let module = device.load(&object).expect("it loads");
                let values: Vec<f32> = (0..192).map(|n| n as f32 + 0.5).collect();
                let bytes =
                    |list: &[f32]| list.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
                let [x, y] = [0, 1].map(|_| device.alloc(4 * 192).expect("memory"));
                device.write(x, &bytes(&values)).expect("memory");
                let mut kernarg = [x.to_le_bytes(), y.to_le_bytes()].concat();
                kernarg.extend(bytes(&[2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 11.0]));
                let dispatch = sim::Dispatch {
                    kernel: "_amdgpu_cs_main",
                    grid: [192, 1, 1],
                    group: [64, 1, 1],
                    kernarg,
                    ..sim::Dispatch::default()
                };
                device.run(module, &dispatch).unwrap_or_else(|fault| panic!("{what}: {fault}"));
                let mut got = vec![0; 4 * 192];
                device.read(y, &mut got).expect("memory");
                let at = |n: usize| if file.contains("shared") { n / 64 * 64 + 63 - n % 64 } else { n };
                let more = if file.contains("tables") { 11.0 + 3.0 } else { 0.0 };
                let expected: Vec<f32> = (0..192).map(|n| values[at(n)] * 2.0 + more).collect();
                assert!(got == bytes(&expected), "{what}");
            }
        }
    }
}
