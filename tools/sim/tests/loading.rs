//! Code objects of every version, linked and not, with variables and several kernels, and those that are refused.

use crate::common::{assemble, compile, link, present, test_file, twins};
use sim::{CodeObject, Device, Dispatch, Limits, LoadError, ModuleId};

const V2_AND_V3: &str = "clang-14";
const V4_ON: &str = "clang-19";

fn tools(names: &[&str]) -> bool {
    names.iter().all(|name| present(name))
}

/// A kernel with a barrier, LDS and arguments of several kinds in each version.
#[test]
fn every_version() {
    if !tools(&["ld.lld-19"]) {
        return;
    }
    let versions: [(&str, u8, &[&str]); 6] = [
        (V2_AND_V3, 2, &["-mcpu=gfx900", "-mcode-object-version=2"]),
        (V2_AND_V3, 3, &["-mcpu=gfx900", "-mcode-object-version=3"]),
        (V4_ON, 4, &["-mcpu=gfx900", "-mcode-object-version=4"]),
        (V4_ON, 5, &["-mcpu=gfx900", "-mcode-object-version=5"]),
        (V4_ON, 6, &["-mcpu=gfx900", "-mcode-object-version=6"]),
        (V4_ON, 6, &["-mcpu=gfx9-generic", "-mcode-object-version=6"]),
    ];
    for (clang, version, options) in versions {
        if !present(clang) {
            continue;
        }
        for name in ["reduce", "saxpy", "sgemm_naive"] {
            let object = compile(clang, &twins().join(format!("{name}.cl")), &[options, &["-O2"]].concat());
            let linked = link(&[object.unwrap()]).unwrap();
            let loaded = CodeObject::load(&linked).unwrap();
            assert_eq!(loaded.version(), Some(version));
            assert_eq!(loaded.target().name, "gfx900");
            testkit::check_kernel(&linked, name).unwrap_or_else(|why| panic!("{options:?}: {why}"));
        }
    }
}

fn run(device: &mut Device, module: ModuleId, kernel: &str, kernarg: Vec<u8>) {
    let limits = Limits { instructions: 10_000, stack: 0 };
    let dispatch = Dispatch {
        kernel,
        grid: [1, 1, 1],
        group: [1, 1, 1],
        kernarg,
        dynamic_lds: 0,
        limits,
        ..Dispatch::default()
    };
    device.run(module, &dispatch).unwrap_or_else(|fault| panic!("{kernel}: {fault}"));
}

fn word(device: &Device, address: u64) -> u32 {
    let mut bytes = [0; 4];
    device.read(address, &mut bytes).unwrap();
    u32::from_le_bytes(bytes)
}

/// Two kernels share variables, which the host sees and changes; linked, and as the compiler leaves the file.
#[test]
fn variables_and_kernels() {
    if !tools(&["ld.lld-19", V4_ON]) {
        return;
    }
    let mut objects = Vec::new();
    for version in ["4", "5"] {
        let version = format!("-mcode-object-version={version}");
        objects.push(compile(V4_ON, &test_file("globals.cl"), &["-O1", "-mcpu=gfx906", &version]).unwrap());
    }
    if present(V2_AND_V3) {
        for version in ["2", "3"] {
            let version = format!("-mcode-object-version={version}");
            objects.push(
                compile(V2_AND_V3, &test_file("globals.cl"), &["-O1", "-mcpu=gfx900", &version]).unwrap(),
            );
        }
    }
    for object in objects {
        for bytes in [link(std::slice::from_ref(&object)).unwrap(), object] {
            check_globals(&CodeObject::load(&bytes).unwrap());
        }
    }
}

fn check_globals(object: &CodeObject) {
    let names: Vec<&str> = object.kernels().iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["first", "second"]);
    let mut device = Device::with_threads(1);
    // A first copy, so that the second lies elsewhere.
    device.load(object).unwrap();
    let module = device.load(object).unwrap();
    let (counter, size) = device.symbol(module, "counter").expect("a symbol");
    assert_eq!((word(&device, counter), size), (5, 4));
    device.write(counter, &7u32.to_le_bytes()).unwrap();
    let out = device.alloc(8).unwrap();
    run(&mut device, module, "first", out.to_le_bytes().to_vec());
    assert_eq!(word(&device, out), 44 + 7);
    let (spare, size) = device.symbol(module, "spare").expect("a symbol");
    assert_eq!((word(&device, spare + 8), size), (77, 12));
    run(&mut device, module, "second", out.to_le_bytes().to_vec());
    assert_eq!(word(&device, out + 4), 51 * 3 + 11);
    assert_eq!(device.symbol(module, "nothing"), None);
}

const UNTYPED: &str = "
.text
.globl store
.p2align 8
.type store,@function
store:
  s_load_dwordx2 s[0:1], s[0:1], 0
  v_mov_b32 v1, 0x2a
  v_mov_b32 v0, 0
  s_waitcnt lgkmcnt(0)
  global_store_dword v0, v1, s[0:1]
  s_endpgm
.size store, .-store
.section .rodata
.amdhsa_kernel store
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 2
  .amdhsa_next_free_sgpr 2
.end_amdhsa_kernel
";

/// An object without metadata has the kernels of its descriptors.
#[test]
fn without_metadata() {
    if !tools(&["llvm-mc-19"]) {
        return;
    }
    let bytes = assemble(&["-mcpu=gfx900"], UNTYPED).unwrap();
    let object = CodeObject::load(&bytes).unwrap();
    assert!(object.kernels()[0].untyped);
    let mut device = Device::with_threads(1);
    let module = device.load(&object).unwrap();
    let out = device.alloc(4).unwrap();
    run(&mut device, module, "store", out.to_le_bytes().to_vec());
    assert_eq!(word(&device, out), 42);
}

#[test]
fn refused() {
    if !tools(&["llvm-mc-19"]) {
        return;
    }
    let refusal = |options: &[&str], source: &str| {
        let bytes = assemble(options, source).unwrap();
        CodeObject::load(&bytes).expect_err("it should be refused")
    };
    assert_eq!(refusal(&["-mcpu=gfx1100"], "s_endpgm"), LoadError::Processor(0x41));
    let calls = "s_getpc_b64 s[0:1]\ns_add_u32 s0, s0, elsewhere@rel32@lo+4\ns_endpgm";
    let undefined = refusal(&["-mcpu=gfx900"], calls);
    assert_eq!(undefined, LoadError::Undefined("elsewhere".into()));
    assert!(undefined.to_string().contains("link it"));
    let lds = refusal(&["-mcpu=gfx900"], ".amdgpu_lds x, 16, 4\nv_mov_b32 v0, x@abs32@lo\ns_endpgm");
    assert!(lds.to_string().contains("LDS"), "{lds}");
    let mut bytes = assemble(&["-mcpu=gfx900"], "s_endpgm").unwrap();
    // `EI_OSABI`
    bytes[7] = 70;
    assert_eq!(CodeObject::load(&bytes).expect_err("refused"), LoadError::Runtime("0x46".into()));
}

/// A descriptor that asks for traps of floating-point exceptions.
#[test]
fn exceptions_are_refused() {
    let kernel = |directive: &str| {
        let source = format!(
            ".text\n.globl k\n.p2align 8\n.type k,@function\nk:\ns_endpgm\n.rodata\n.p2align 6\n.amdhsa_kernel k\n\
             .amdhsa_next_free_vgpr 4\n.amdhsa_next_free_sgpr 8\n{directive}\n.end_amdhsa_kernel\n"
        );
        let target = isa::Target::by_name("gfx906");
        let object = asm::assemble(&source, &asm::Options { target, ..asm::Options::default() });
        let object = CodeObject::load(&object.expect("it assembles")).expect("it loads");
        let mut device = Device::new();
        let module = device.load(&object).expect("it loads");
        let dispatch = Dispatch { kernel: "k", grid: [1, 1, 1], group: [1, 1, 1], ..Dispatch::default() };
        device.run(module, &dispatch).map(|_| ()).map_err(|fault| fault.to_string())
    };
    assert_eq!(kernel(""), Ok(()));
    for name in ["fp_ieee_invalid_op", "fp_denorm_src", "fp_ieee_inexact", "int_div_zero"] {
        let why = kernel(&format!(".amdhsa_exception_{name} 1")).expect_err(name);
        assert!(why.contains("floating-point exceptions do not trap"), "{name}: {why}");
    }
}
