//! Hidden arguments that are not provided: who uses one is told which.

use sim::{CodeObject, Device, Dispatch, Mode};

/// A kernel that loads through its only argument, which is a hidden one.
fn object(name: &str) -> CodeObject {
    let source = format!(
        r#"
.text
.globl k
.p2align 8
.type k,@function
k:
  s_load_dwordx2 s[0:1], s[4:5], 0x0
  v_mov_b32 v0, 0
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v0, s[0:1] offset:24
  s_waitcnt vmcnt(0)
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 2
  .amdhsa_next_free_sgpr 8
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version:
  - 1
  - 2
amdhsa.target: amdgcn-amd-amdhsa--gfx906
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 8
    .vgpr_count: 2
    .max_flat_workgroup_size: 64
    .args:
      - .offset: 0
        .size: 8
        .value_kind: {name}
...
.end_amdgpu_metadata
"#
    );
    let options = asm::Options { target: isa::Target::by_name("gfx906"), ..asm::Options::default() };
    let bytes = asm::assemble(&source, &options).unwrap_or_else(|why| panic!("{why:?}"));
    CodeObject::load(&bytes).expect("an object")
}

#[test]
fn faults_name_them() {
    let cases = [
        ("hidden_printf_buffer", "hidden_printf_buffer: the object has no formats of printf"),
        ("hidden_multigrid_sync_arg", "0x18: no allocation holds all of it; hidden_multigrid_sync_arg, "),
        ("hidden_default_queue", "hidden_default_queue and hidden_completion_action are null"),
        ("hidden_completion_action", "hidden_completion_action are null"),
        ("hidden_none", "read of 4 bytes at 0x18: no allocation holds all of it; by"),
    ];
    for (name, expected) in cases {
        let object = object(name);
        for mode in [Mode::Fast, Mode::STRICT, Mode::Weak { seed: 1 }] {
            let mut device = Device::with_threads(1);
            device.set_mode(mode);
            let module = device.load(&object).expect("it is placed");
            let fault = device.run(module, &Dispatch { kernel: "k", ..Dispatch::default() });
            let text = fault.expect_err("it is not there").to_string();
            assert!(text.contains(expected), "{name} {mode:?}: {text}");
        }
    }
}
