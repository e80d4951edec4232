	.amdgcn_target "amdgcn-amd-amdhsa--gfx906"
	.amdhsa_code_object_version 6

	.text
	.p2align 8

	.globl saxpy
	.protected saxpy
	.type saxpy,@function
saxpy:
	s_load_dwordx2 s[0:1], s[4:5], 0x10                        // 000000000000: C0060002 00000010
	v_lshl_or_b32 v0, s6, 8, v0                                // 000000000008: D2000000 04011006
	s_waitcnt lgkmcnt(0)                                       // 000000000010: BF8CC07F
	v_cmp_gt_i32_e32 vcc, s1, v0                               // 000000000014: 7D880001
	s_and_saveexec_b64 s[2:3], vcc                             // 000000000018: BE82206A
	s_cbranch_execz .L_0070                                    // 00000000001C: BF880014
	s_load_dwordx4 s[4:7], s[4:5], 0x0                         // 000000000020: C00A0102 00000000
	v_ashrrev_i32_e32 v1, 31, v0                               // 000000000028: 2202009F
	v_lshlrev_b64 v[0:1], 2, v[0:1]                            // 00000000002C: D28F0000 00020082
	s_waitcnt lgkmcnt(0)                                       // 000000000034: BF8CC07F
	v_mov_b32_e32 v3, s7                                       // 000000000038: 7E060207
	v_add_co_u32_e32 v2, vcc, s6, v0                           // 00000000003C: 32040006
	v_addc_co_u32_e32 v3, vcc, v3, v1, vcc                     // 000000000040: 38060303
	v_mov_b32_e32 v4, s5                                       // 000000000044: 7E080205
	v_add_co_u32_e32 v0, vcc, s4, v0                           // 000000000048: 32000004
	v_addc_co_u32_e32 v1, vcc, v4, v1, vcc                     // 00000000004C: 38020304
	global_load_dword v4, v[0:1], off                          // 000000000050: DC508000 047F0000
	global_load_dword v5, v[2:3], off                          // 000000000058: DC508000 057F0002
	s_waitcnt vmcnt(0)                                         // 000000000060: BF8C0F70
	v_fmac_f32_e32 v5, s0, v4                                  // 000000000064: 760A0800
	global_store_dword v[2:3], v5, off                         // 000000000068: DC708000 007F0502
.L_0070:
	s_endpgm                                                   // 000000000070: BF810000
	.size saxpy, .-saxpy

	.section .rodata,"a",@progbits
	.p2align 6

	.amdhsa_kernel saxpy
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 24
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_flat_scratch_init 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_system_sgpr_private_segment_wavefront_offset 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 12
		.amdhsa_reserve_vcc 0
		.amdhsa_reserve_flat_scratch 0
	.end_amdhsa_kernel

	.weak __oclc_ABI_version
	.hidden __oclc_ABI_version
	.type __oclc_ABI_version,@object
__oclc_ABI_version:
	.long 0x00000258
	.size __oclc_ABI_version, .-__oclc_ABI_version

	.ident "Debian clang version 19.1.7 (3~deb12u1)"

	.section ".note.GNU-stack","",@progbits

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
    .sgpr_count:     12
    .sgpr_spill_count: 0
    .symbol:         saxpy.kd
    .uses_dynamic_stack: false
    .vgpr_count:     6
    .vgpr_spill_count: 0
    .wavefront_size: 64
amdhsa.target:   amdgcn-amd-amdhsa--gfx906
amdhsa.version:
  - 1
  - 2
...
	.end_amdgpu_metadata

	.addrsig
