// llvm-mc-19 -mcpu=gfx1030 -mattr=+wavefrontsize64 --amdhsa-code-object-version=5
// Two kernels written by a generator: loops over registers, a descriptor by arithmetic, metadata.
.amdgcn_target "amdgcn-amd-amdhsa--gfx1030"
.set vgprs, 0
.macro alloc name, count=1
  .set \name, vgprs
  .set vgprs, vgprs + \count
.endm
.macro body unroll
  .set n, 0
  .rept \unroll
    v_fmac_f32 v[acc+n], v[a+n], v[b+n]
    .set n, n + 1
  .endr
.endm
.macro kernel name:req, unroll=2, lds=0
  .set vgprs, 0
  alloc id, 1
  alloc acc, \unroll
  alloc a, \unroll
  alloc b, \unroll
  .text
  .protected \name
  .globl \name
  .p2align 8
  .type \name,@function
\name:
  s_load_dwordx4 s[0:3], s[4:5], null
  s_waitcnt lgkmcnt(0)
  s_waitcnt_vscnt null, 0x0
  body \unroll
  global_store_dword v[id], v[acc], s[0:1]
  s_endpgm
.L\name\()_end:
  .size \name, .L\name\()_end-\name
  .rodata
  .p2align 6
  .amdhsa_kernel \name
    .amdhsa_group_segment_fixed_size \lds
    .amdhsa_kernarg_size 16
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_user_sgpr_private_segment_buffer 1
    .amdhsa_next_free_vgpr vgprs
    .amdhsa_next_free_sgpr 6
    .amdhsa_reserve_vcc 1
    .amdhsa_wavefront_size32 0
    .amdhsa_workgroup_processor_mode 1
    .amdhsa_memory_ordered 1
    .amdhsa_forward_progress 0
    .amdhsa_shared_vgpr_count 0
    .amdhsa_float_denorm_mode_32 3
    .amdhsa_float_round_mode_16_64 0
    .amdhsa_ieee_mode 1
    .amdhsa_dx10_clamp 1
    .amdhsa_fp16_overflow 0
    .amdhsa_exception_fp_ieee_div_zero (\lds > 0) & 1
    .amdhsa_system_sgpr_workgroup_id_y 1
    .amdhsa_system_vgpr_workitem_id 2
    .amdhsa_uses_dynamic_stack 0
  .end_amdhsa_kernel
.endm
kernel dot2
kernel dot4, 4, 1024
kernel name=dot1, unroll=1
.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx1030
amdhsa.kernels:
  - .name: dot2
    .symbol: dot2.kd
    .kernarg_segment_size: 16
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 8
    .vgpr_count: 7
    .max_flat_workgroup_size: 256
    .args:
      - .size: 8
        .offset: 0
        .value_kind: global_buffer
        .address_space: global
      - .size: 8
        .offset: 8
        .value_kind: global_buffer
        .address_space: global
        .actual_access: read_only
        .is_const: true
...
.end_amdgpu_metadata
