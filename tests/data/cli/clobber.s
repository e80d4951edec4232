; `inner` changes v41, which a call preserves; `outer` relies on it.
.amdgcn_target "amdgcn-amd-amdhsa--gfx906"
.text
.globl k
.p2align 8
.type k,@function
k:
  s_load_dwordx2 s[34:35], s[0:1], 0x0
  v_lshlrev_b32 v40, 2, v0
  s_waitcnt lgkmcnt(0)
  s_getpc_b64 s[16:17]
  s_add_u32 s16, s16, outer@rel32@lo+4
  s_addc_u32 s17, s17, outer@rel32@hi+12
  s_swappc_b64 s[30:31], s[16:17]
  s_endpgm
.size k, .-k
.p2align 2
.type outer,@function
outer:
  s_mov_b64 s[36:37], s[30:31]
  v_mov_b32 v41, v0
  s_getpc_b64 s[16:17]
  s_add_u32 s16, s16, inner@rel32@lo+4
  s_addc_u32 s17, s17, inner@rel32@hi+12
  s_swappc_b64 s[30:31], s[16:17]
  global_store_dword v40, v41, s[34:35]
  s_setpc_b64 s[36:37]
.size outer, .-outer
.p2align 2
.type inner,@function
inner:
  v_mul_u32_u24 v41, 3, v0
  v_add_u32 v41, 1, v41
  s_setpc_b64 s[30:31]
.size inner, .-inner
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_group_segment_fixed_size 0
  .amdhsa_next_free_vgpr 48
  .amdhsa_next_free_sgpr 48
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version:
  - 1
  - 1
amdhsa.target: amdgcn-amd-amdhsa--gfx906
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 54
    .vgpr_count: 48
    .max_flat_workgroup_size: 64
    .args:
      - .name: out
        .size: 8
        .offset: 0
        .value_kind: global_buffer
        .address_space: global
...
.end_amdgpu_metadata
