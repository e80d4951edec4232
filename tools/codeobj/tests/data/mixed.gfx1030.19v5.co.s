	.amdgcn_target "amdgcn-amd-amdhsa--gfx1030"
	.amdhsa_code_object_version 5

	.text
	.p2align 8

	.globl saxpy
	.protected saxpy
	.type saxpy,@function
saxpy:
	s_load_dwordx2 s[0:1], s[4:5], 0x10                        // 000000001B00: F4040002 FA000010
	v_lshl_or_b32 v0, s6, 8, v0                                // 000000001B08: D76F0000 04011006
	s_waitcnt lgkmcnt(0)                                       // 000000001B10: BF8CC07F
	v_cmp_gt_i32_e32 vcc_lo, s1, v0                            // 000000001B14: 7D080001
	s_and_saveexec_b32 s1, vcc_lo                              // 000000001B18: BE813C6A
	s_cbranch_execz .L_0070                                    // 000000001B1C: BF880014
	s_load_dwordx4 s[4:7], s[4:5], null                        // 000000001B20: F4080102 FA000000
	v_ashrrev_i32_e32 v1, 31, v0                               // 000000001B28: 3002009F
	v_lshlrev_b64 v[0:1], 2, v[0:1]                            // 000000001B2C: D6FF0000 00020082
	s_waitcnt lgkmcnt(0)                                       // 000000001B34: BF8CC07F
	v_add_co_u32 v2, vcc_lo, s4, v0                            // 000000001B38: D70F6A02 00020004
	v_add_co_ci_u32_e32 v3, vcc_lo, s5, v1, vcc_lo             // 000000001B40: 50060205
	v_add_co_u32 v0, vcc_lo, s6, v0                            // 000000001B44: D70F6A00 00020006
	v_add_co_ci_u32_e32 v1, vcc_lo, s7, v1, vcc_lo             // 000000001B4C: 50020207
	global_load_dword v2, v[2:3], off                          // 000000001B50: DC308000 027D0002
	global_load_dword v3, v[0:1], off                          // 000000001B58: DC308000 037D0000
	s_waitcnt vmcnt(0)                                         // 000000001B60: BF8C3F70
	v_fmac_f32_e32 v3, s0, v2                                  // 000000001B64: 56060400
	global_store_dword v[0:1], v3, off                         // 000000001B68: DC708000 007D0300
.L_0070:
	s_endpgm                                                   // 000000001B70: BF810000
	.size saxpy, .-saxpy
	.fill 51, 4, 0xbf9f0000
	.fill 48, 4, 0x0

	.globl reduce
	.protected reduce
	.type reduce,@function
reduce:
	s_clause 0x1                                               // 000000001D00: BFA10001
	s_load_dword s0, s[4:5], 0x10                              // 000000001D04: F4000002 FA000010
	s_load_dwordx2 s[2:3], s[4:5], 0x8                         // 000000001D0C: F4040082 FA000008
	s_lshl_b32 s1, s6, 10                                      // 000000001D14: 8F018A06
	v_mov_b32_e32 v4, 0                                        // 000000001D18: 7E080280
	v_or_b32_e32 v1, s1, v0                                    // 000000001D1C: 38020001
	s_addk_i32 s1, 0x400                                       // 000000001D20: B7810400
	s_mov_b64 s[8:9], exec                                     // 000000001D24: BE88047E
	s_waitcnt lgkmcnt(0)                                       // 000000001D28: BF8CC07F
	s_min_i32 s7, s0, s1                                       // 000000001D2C: 83070100
	v_cmpx_gt_i32_e64 s7, v1                                   // 000000001D30: D494007E 00020207
	s_cbranch_execz .L_02a8                                    // 000000001D38: BF88001B
	s_load_dwordx2 s[0:1], s[4:5], null                        // 000000001D3C: F4040002 FA000000
	v_ashrrev_i32_e32 v2, 31, v1                               // 000000001D44: 3004029F
	v_mov_b32_e32 v4, 0                                        // 000000001D48: 7E080280
	s_mov_b64 s[4:5], 0                                        // 000000001D4C: BE840480
	v_lshlrev_b64 v[2:3], 2, v[1:2]                            // 000000001D50: D6FF0002 00020282
	s_waitcnt lgkmcnt(0)                                       // 000000001D58: BF8CC07F
	.long 0xd70f6a02, 0x00020400 ; v_add_co_u32 v2, vcc, s0, v2 // 000000001D5C: D70F6A02 00020400
	.long 0x50060601 ; v_add_co_ci_u32_e32 v3, vcc, s1, v3, vcc // 000000001D64: 50060601
.L_0268:
	global_load_dword v5, v[2:3], off                          // 000000001D68: DC308000 057D0002
	v_add_nc_u32_e32 v1, 0x100, v1                             // 000000001D70: 4A0202FF 00000100
	.long 0xd70f6a02, 0x000204ff, 0x00000400 ; v_add_co_u32 v2, vcc, 0x400, v2 // 000000001D78: D70F6A02 000204FF 00000400
	.long 0x50060680 ; v_add_co_ci_u32_e32 v3, vcc, 0, v3, vcc // 000000001D84: 50060680
	.long 0xd4830000, 0x00020207 ; v_cmp_le_i32_e64 s[0:1], s7, v1 // 000000001D88: D4830000 00020207
	s_or_b64 s[4:5], s[0:1], s[4:5]                            // 000000001D90: 88840400
	s_waitcnt vmcnt(0)                                         // 000000001D94: BF8C3F70
	v_add_f32_e32 v4, v4, v5                                   // 000000001D98: 06080B04
	s_andn2_b64 exec, exec, s[4:5]                             // 000000001D9C: 8AFE047E
	s_cbranch_execnz .L_0268                                   // 000000001DA0: BF89FFF1
	s_or_b64 exec, exec, s[4:5]                                // 000000001DA4: 88FE047E
.L_02a8:
	s_or_b64 exec, exec, s[8:9]                                // 000000001DA8: 88FE087E
	v_lshlrev_b32_e32 v1, 2, v0                                // 000000001DAC: 34020082
	s_mov_b64 s[0:1], exec                                     // 000000001DB0: BE80047E
	ds_write_b32 v1, v4                                        // 000000001DB4: D8340000 00000401
	s_waitcnt lgkmcnt(0)                                       // 000000001DBC: BF8CC07F
	s_barrier                                                  // 000000001DC0: BF8A0000
	buffer_gl0_inv                                             // 000000001DC4: E1C40000 00000000
	v_cmpx_gt_u32_e32 0x80, v0                                 // 000000001DCC: 7DA800FF 00000080
	s_cbranch_execz .L_02f0                                    // 000000001DD4: BF880006
	ds_read2st64_b32 v[2:3], v1 offset1:2                      // 000000001DD8: D8E00200 02000001
	s_waitcnt lgkmcnt(0)                                       // 000000001DE0: BF8CC07F
	v_add_f32_e32 v2, v3, v2                                   // 000000001DE4: 06040503
	ds_write_b32 v1, v2                                        // 000000001DE8: D8340000 00000201
.L_02f0:
	s_or_b64 exec, exec, s[0:1]                                // 000000001DF0: 88FE007E
	s_mov_b64 s[0:1], exec                                     // 000000001DF4: BE80047E
	s_waitcnt lgkmcnt(0)                                       // 000000001DF8: BF8CC07F
	s_barrier                                                  // 000000001DFC: BF8A0000
	buffer_gl0_inv                                             // 000000001E00: E1C40000 00000000
	v_cmpx_gt_u32_e32 64, v0                                   // 000000001E08: 7DA800C0
	s_cbranch_execz .L_0328                                    // 000000001E0C: BF880006
	ds_read2st64_b32 v[2:3], v1 offset1:1                      // 000000001E10: D8E00100 02000001
	s_waitcnt lgkmcnt(0)                                       // 000000001E18: BF8CC07F
	v_add_f32_e32 v2, v3, v2                                   // 000000001E1C: 06040503
	ds_write_b32 v1, v2                                        // 000000001E20: D8340000 00000201
.L_0328:
	s_or_b64 exec, exec, s[0:1]                                // 000000001E28: 88FE007E
	s_mov_b64 s[0:1], exec                                     // 000000001E2C: BE80047E
	s_waitcnt lgkmcnt(0)                                       // 000000001E30: BF8CC07F
	s_barrier                                                  // 000000001E34: BF8A0000
	buffer_gl0_inv                                             // 000000001E38: E1C40000 00000000
	v_cmpx_gt_u32_e32 32, v0                                   // 000000001E40: 7DA800A0
	s_cbranch_execz .L_0360                                    // 000000001E44: BF880006
	ds_read2_b32 v[2:3], v1 offset1:32                         // 000000001E48: D8DC2000 02000001
	s_waitcnt lgkmcnt(0)                                       // 000000001E50: BF8CC07F
	v_add_f32_e32 v2, v3, v2                                   // 000000001E54: 06040503
	ds_write_b32 v1, v2                                        // 000000001E58: D8340000 00000201
.L_0360:
	s_or_b64 exec, exec, s[0:1]                                // 000000001E60: 88FE007E
	s_mov_b64 s[0:1], exec                                     // 000000001E64: BE80047E
	s_waitcnt lgkmcnt(0)                                       // 000000001E68: BF8CC07F
	s_barrier                                                  // 000000001E6C: BF8A0000
	buffer_gl0_inv                                             // 000000001E70: E1C40000 00000000
	v_cmpx_gt_u32_e32 16, v0                                   // 000000001E78: 7DA80090
	s_cbranch_execz .L_0398                                    // 000000001E7C: BF880006
	ds_read2_b32 v[2:3], v1 offset1:16                         // 000000001E80: D8DC1000 02000001
	s_waitcnt lgkmcnt(0)                                       // 000000001E88: BF8CC07F
	v_add_f32_e32 v2, v3, v2                                   // 000000001E8C: 06040503
	ds_write_b32 v1, v2                                        // 000000001E90: D8340000 00000201
.L_0398:
	s_or_b64 exec, exec, s[0:1]                                // 000000001E98: 88FE007E
	s_mov_b64 s[0:1], exec                                     // 000000001E9C: BE80047E
	s_waitcnt lgkmcnt(0)                                       // 000000001EA0: BF8CC07F
	s_barrier                                                  // 000000001EA4: BF8A0000
	buffer_gl0_inv                                             // 000000001EA8: E1C40000 00000000
	v_cmpx_gt_u32_e32 8, v0                                    // 000000001EB0: 7DA80088
	s_cbranch_execz .L_03d0                                    // 000000001EB4: BF880006
	ds_read2_b32 v[2:3], v1 offset1:8                          // 000000001EB8: D8DC0800 02000001
	s_waitcnt lgkmcnt(0)                                       // 000000001EC0: BF8CC07F
	v_add_f32_e32 v2, v3, v2                                   // 000000001EC4: 06040503
	ds_write_b32 v1, v2                                        // 000000001EC8: D8340000 00000201
.L_03d0:
	s_or_b64 exec, exec, s[0:1]                                // 000000001ED0: 88FE007E
	s_mov_b64 s[0:1], exec                                     // 000000001ED4: BE80047E
	s_waitcnt lgkmcnt(0)                                       // 000000001ED8: BF8CC07F
	s_barrier                                                  // 000000001EDC: BF8A0000
	buffer_gl0_inv                                             // 000000001EE0: E1C40000 00000000
	v_cmpx_gt_u32_e32 4, v0                                    // 000000001EE8: 7DA80084
	s_cbranch_execz .L_0408                                    // 000000001EEC: BF880006
	ds_read2_b32 v[2:3], v1 offset1:4                          // 000000001EF0: D8DC0400 02000001
	s_waitcnt lgkmcnt(0)                                       // 000000001EF8: BF8CC07F
	v_add_f32_e32 v2, v3, v2                                   // 000000001EFC: 06040503
	ds_write_b32 v1, v2                                        // 000000001F00: D8340000 00000201
.L_0408:
	s_or_b64 exec, exec, s[0:1]                                // 000000001F08: 88FE007E
	s_mov_b64 s[0:1], exec                                     // 000000001F0C: BE80047E
	s_waitcnt lgkmcnt(0)                                       // 000000001F10: BF8CC07F
	s_barrier                                                  // 000000001F14: BF8A0000
	buffer_gl0_inv                                             // 000000001F18: E1C40000 00000000
	v_cmpx_gt_u32_e32 2, v0                                    // 000000001F20: 7DA80082
	s_cbranch_execz .L_0440                                    // 000000001F24: BF880006
	ds_read2_b32 v[2:3], v1 offset1:2                          // 000000001F28: D8DC0200 02000001
	s_waitcnt lgkmcnt(0)                                       // 000000001F30: BF8CC07F
	v_add_f32_e32 v2, v3, v2                                   // 000000001F34: 06040503
	ds_write_b32 v1, v2                                        // 000000001F38: D8340000 00000201
.L_0440:
	s_or_b64 exec, exec, s[0:1]                                // 000000001F40: 88FE007E
	.long 0x7d840080 ; v_cmp_eq_u32_e32 vcc, 0, v0             // 000000001F44: 7D840080
	s_waitcnt lgkmcnt(0)                                       // 000000001F48: BF8CC07F
	s_barrier                                                  // 000000001F4C: BF8A0000
	buffer_gl0_inv                                             // 000000001F50: E1C40000 00000000
	s_and_saveexec_b64 s[0:1], vcc                             // 000000001F58: BE80246A
	s_cbranch_execz .L_0484                                    // 000000001F5C: BF880009
	v_mov_b32_e32 v0, 0                                        // 000000001F60: 7E000280
	ds_read_b32 v0, v0 offset:4                                // 000000001F64: D8D80004 00000000
	ds_read_b32 v2, v1                                         // 000000001F6C: D8D80000 02000001
	s_waitcnt lgkmcnt(0)                                       // 000000001F74: BF8CC07F
	v_add_f32_e32 v0, v0, v2                                   // 000000001F78: 06000500
	ds_write_b32 v1, v0                                        // 000000001F7C: D8340000 00000001
.L_0484:
	s_or_b64 exec, exec, s[0:1]                                // 000000001F84: 88FE007E
	s_waitcnt lgkmcnt(0)                                       // 000000001F88: BF8CC07F
	s_barrier                                                  // 000000001F8C: BF8A0000
	buffer_gl0_inv                                             // 000000001F90: E1C40000 00000000
	s_and_saveexec_b64 s[0:1], vcc                             // 000000001F98: BE80246A
	s_cbranch_execz .L_04c8                                    // 000000001F9C: BF88000A
	v_mov_b32_e32 v0, 0                                        // 000000001FA0: 7E000280
	s_ashr_i32 s7, s6, 31                                      // 000000001FA4: 91079F06
	s_lshl_b64 s[0:1], s[6:7], 2                               // 000000001FA8: 8F808206
	s_add_u32 s0, s2, s0                                       // 000000001FAC: 80000002
	ds_read_b32 v1, v0                                         // 000000001FB0: D8D80000 01000000
	s_addc_u32 s1, s3, s1                                      // 000000001FB8: 82010103
	s_waitcnt lgkmcnt(0)                                       // 000000001FBC: BF8CC07F
	global_store_dword v0, v1, s[0:1]                          // 000000001FC0: DC708000 00000100
.L_04c8:
	s_endpgm                                                   // 000000001FC8: BF810000
	.size reduce, .-reduce
	.fill 61, 4, 0xbf9f0000

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
	.zero 60

	.globl reduce.kd
	.protected reduce.kd
	.type reduce.kd,@object
reduce.kd:
	; a kernel descriptor that directives cannot say: granulated_wavefront_sgpr_count is 1
	.long 0x00000400, 0x00000000, 0x00000014, 0x00000000
	.quad reduce@rel64+16
	.zero 24
	.long 0x60af0041, 0x0000008c, 0x00000009, 0x00000000
	.size reduce.kd, .-reduce.kd
	.long 0x000001f4

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
      - .actual_access:  write_only
        .address_space:  global
        .is_restrict:    true
        .offset:         8
        .size:           8
        .type_name:      'float*'
        .value_kind:     global_buffer
      - .offset:         16
        .size:           4
        .type_name:      int
        .value_kind:     by_value
    .group_segment_fixed_size: 1024
    .kernarg_segment_align: 8
    .kernarg_segment_size: 20
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           reduce
    .private_segment_fixed_size: 0
    .reqd_workgroup_size:
      - 256
      - 1
      - 1
    .sgpr_count:     12
    .sgpr_spill_count: 0
    .symbol:         reduce.kd
    .uses_dynamic_stack: false
    .vgpr_count:     6
    .vgpr_spill_count: 0
    .wavefront_size: 64
    .workgroup_processor_mode: 1
amdhsa.target:   amdgcn-amd-amdhsa--gfx1030
amdhsa.version:
  - 1
  - 2
...
	.end_amdgpu_metadata
