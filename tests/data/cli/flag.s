; The first group writes 42 and raises a flag; the second waits for the flag and copies what it finds. The store of the
; flag does not wait for that of the data, and the reader does not invalidate its cache.
.amdgcn_target "amdgcn-amd-amdhsa--gfx906"
.text
.globl pass
.p2align 8
.type pass,@function
pass:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[8:9], s[0:1], 0x10
  v_mov_b32_e32 v0, 0
  v_mov_b32_e32 v1, 42
  v_mov_b32_e32 v2, 1
  s_waitcnt lgkmcnt(0)
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc0 reader
  global_store_dword v0, v1, s[4:5]
  global_store_dword v0, v2, s[6:7]
  s_endpgm
reader:
  global_load_dword v3, v0, s[6:7] glc
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s10, v3
  s_cmp_eq_u32 s10, 0
  s_cbranch_scc1 reader
  global_load_dword v4, v0, s[4:5]
  s_waitcnt vmcnt(0)
  global_store_dword v0, v4, s[8:9]
  s_endpgm
.Lend:
.size pass, .Lend-pass
.rodata
.p2align 6
.amdhsa_kernel pass
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_next_free_vgpr 5
  .amdhsa_next_free_sgpr 11
.end_amdhsa_kernel
.amdgpu_metadata
amdhsa.version: [1, 1]
amdhsa.kernels:
  - .name: pass
    .symbol: pass.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 5
    .max_flat_workgroup_size: 64
    .args:
      - { .name: data, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global, .type_name: 'int*' }
      - { .name: flag, .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global, .type_name: 'int*' }
      - { .name: out, .size: 8, .offset: 16, .value_kind: global_buffer, .address_space: global, .type_name: 'int*' }
.end_amdgpu_metadata
