	.amdgcn_target "amdgcn-amd-amdhsa--gfx1030"
	.amdhsa_code_object_version 5

	.text
	.p2align 8

	.globl saxpy
	.protected saxpy
	.type saxpy,@function
saxpy:
	s_load_dwordx2 s[0:1], s[4:5], 0x10                        // 000000001700: F4040002 FA000010
	v_lshl_or_b32 v0, s6, 8, v0                                // 000000001708: D76F0000 04011006
	s_waitcnt lgkmcnt(0)                                       // 000000001710: BF8CC07F
	v_cmp_gt_i32_e32 vcc_lo, s1, v0                            // 000000001714: 7D080001
	s_and_saveexec_b32 s1, vcc_lo                              // 000000001718: BE813C6A
	s_cbranch_execz .L_0070                                    // 00000000171C: BF880014
	s_load_dwordx4 s[4:7], s[4:5], null                        // 000000001720: F4080102 FA000000
	v_ashrrev_i32_e32 v1, 31, v0                               // 000000001728: 3002009F
	v_lshlrev_b64 v[0:1], 2, v[0:1]                            // 00000000172C: D6FF0000 00020082
	s_waitcnt lgkmcnt(0)                                       // 000000001734: BF8CC07F
	v_add_co_u32 v2, vcc_lo, s4, v0                            // 000000001738: D70F6A02 00020004
	v_add_co_ci_u32_e32 v3, vcc_lo, s5, v1, vcc_lo             // 000000001740: 50060205
	v_add_co_u32 v0, vcc_lo, s6, v0                            // 000000001744: D70F6A00 00020006
	v_add_co_ci_u32_e32 v1, vcc_lo, s7, v1, vcc_lo             // 00000000174C: 50020207
	global_load_dword v2, v[2:3], off                          // 000000001750: DC308000 027D0002
	global_load_dword v3, v[0:1], off                          // 000000001758: DC308000 037D0000
	s_waitcnt vmcnt(0)                                         // 000000001760: BF8C3F70
	v_fmac_f32_e32 v3, s0, v2                                  // 000000001764: 56060400
	global_store_dword v[0:1], v3, off                         // 000000001768: DC708000 007D0300
.L_0070:
	s_endpgm                                                   // 000000001770: BF810000
	.size saxpy, .-saxpy
	.fill 51, 4, 0xbf9f0000

	.section .rodata,"a",@progbits
	.p2align 6

	.globl saxpy.kd
	.protected saxpy.kd
	.type saxpy.kd,@object
saxpy.kd:
	; a kernel descriptor that directives cannot say: granulated_wavefront_sgpr_count is 1
	.long 0x00000000, 0x00000000, 0x00000018, 0x00000000
	.quad saxpy@rel64+16
	.zero 24
	.long 0x60af0040, 0x0000008c, 0x00000409, 0x00000000
	.size saxpy.kd, .-saxpy.kd

	.hidden __oclc_ABI_version
	.type __oclc_ABI_version,@object
__oclc_ABI_version:
	.long 0x000001f4
	.size __oclc_ABI_version, .-__oclc_ABI_version

	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .actual_access:  read_only
        .address_space:  global
        .is_const:       true
        .is_restrict:    true
        .offset:         0
        .size:           8
        .type_name:      'float*'
        .value_kind:     global_buffer
      - .address_space:  global
        .is_restrict:    true
        .offset:         8
        .size:           8
        .type_name:      'float*'
        .value_kind:     global_buffer
      - .offset:         16
        .size:           4
        .type_name:      float
        .value_kind:     by_value
      - .offset:         20
        .size:           4
        .type_name:      int
        .value_kind:     by_value
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 24
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           saxpy
    .private_segment_fixed_size: 0
    .reqd_workgroup_size:
      - 256
      - 1
      - 1
    .sgpr_count:     10
    .sgpr_spill_count: 0
    .symbol:         saxpy.kd
    .uses_dynamic_stack: false
    .vgpr_count:     4
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
amdhsa.target:   amdgcn-amd-amdhsa--gfx1030
amdhsa.version:
  - 1
  - 2
...
	.end_amdgpu_metadata
