; Calls for a debugger, and gives up in the work-items from 70 on. For the trap handler of code object V3, the queue is in s[0:1].
.amdgcn_target "amdgcn-amd-amdhsa--gfx803"
.text
.globl gives_up
.p2align 8
.type gives_up,@function
gives_up:
  s_load_dwordx2 s[0:1], s[6:7], 0x0
  s_lshl_b32 s8, s8, 6
  v_add_u32 v0, vcc, s8, v0
  s_trap 3
  v_cmp_le_u32 vcc, 70, v0
  s_and_saveexec_b64 s[10:11], vcc
  s_cbranch_execz store
  s_mov_b64 s[0:1], s[4:5]
  s_trap 2
store:
  s_mov_b64 exec, s[10:11]
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, s1
  v_add_u32 v1, vcc, s0, v1
  v_addc_u32 v2, vcc, 0, v2, vcc
  flat_store_dword v[1:2], v0
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel gives_up
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_user_sgpr_queue_ptr 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 3
  .amdhsa_next_free_sgpr 12
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version:
  - 1
  - 0
amdhsa.kernels:
  - .name: gives_up
    .symbol: gives_up.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 18
    .vgpr_count: 3
    .max_flat_workgroup_size: 64
    .args:
      - .address_space: global
        .offset: 0
        .size: 8
        .value_kind: global_buffer
...
.end_amdgpu_metadata
