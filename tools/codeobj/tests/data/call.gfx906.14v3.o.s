	.amdgcn_target "amdgcn-amd-amdhsa--gfx906+xnack+sram-ecc"
	.amdhsa_code_object_version 3

	.text
	.p2align 8

	.globl f
	.hidden f
	.type f,@function
f:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)                    // 000000000000: BF8C0000
	ds_read_b32 v1, v1 offset:12                               // 000000000004: D86C000C 01000001
	s_waitcnt lgkmcnt(0)                                       // 00000000000C: BF8CC07F
	v_fma_f32 v0, v0, v1, 2.0                                  // 000000000010: D1CB0000 03D20300
	s_setpc_b64 s[30:31]                                       // 000000000018: BE801D1E
	.size f, .-f
	.fill 57, 4, 0xbf800000

	.globl a
	.protected a
	.type a,@function
a:
	s_add_u32 flat_scratch_lo, s6, s9                          // 000000000100: 80660906
	s_addc_u32 flat_scratch_hi, s7, 0                          // 000000000104: 82678007
	s_add_u32 s0, s0, s9                                       // 000000000108: 80000900
	s_load_dword s6, s[4:5], 0x8                               // 00000000010C: C0020182 00000008
	s_load_dwordx2 s[8:9], s[4:5], 0x0                         // 000000000114: C0060202 00000000
	s_addc_u32 s1, s1, 0                                       // 00000000011C: 82018001
	s_mov_b32 s32, 0                                           // 000000000120: BEA00080
	v_mov_b32_e32 v2, 0                                        // 000000000124: 7E040280
	s_waitcnt lgkmcnt(0)                                       // 000000000128: BF8CC07F
	s_ashr_i32 s7, s6, 31                                      // 00000000012C: 90079F06
	s_lshl_b64 s[4:5], s[6:7], 2                               // 000000000130: 8E848206
	s_add_u32 s8, s8, s4                                       // 000000000134: 80080408
	s_addc_u32 s9, s9, s5                                      // 000000000138: 82090509
	s_load_dword s10, s[8:9], 0x0                              // 00000000013C: C0020284 00000000
	s_lshl_b32 s11, s6, 2                                      // 000000000144: 8E0B8206
	v_mov_b32_e32 v0, s11                                      // 000000000148: 7E00020B
	s_getpc_b64 s[6:7]                                         // 00000000014C: BE861C00
	s_add_u32 s6, s6, f@rel32@lo+4                             // 000000000150: 8006FF06 00000000
	s_addc_u32 s7, s7, f@rel32@hi+12                           // 000000000158: 8207FF07 00000000
	s_waitcnt lgkmcnt(0)                                       // 000000000160: BF8CC07F
	v_mov_b32_e32 v1, s10                                      // 000000000164: 7E02020A
	ds_write_b32 v0, v1                                        // 000000000168: D81A0000 00000100
	v_mov_b32_e32 v0, s10                                      // 000000000170: 7E00020A
	v_mov_b32_e32 v1, 0                                        // 000000000174: 7E020280
	s_swappc_b64 s[30:31], s[6:7]                              // 000000000178: BE9E1E06
	s_getpc_b64 s[6:7]                                         // 00000000017C: BE861C00
	s_add_u32 s6, s6, table@rel32@lo+4                         // 000000000180: 8006FF06 00000000
	s_addc_u32 s7, s7, table@rel32@hi+12                       // 000000000188: 8207FF07 00000000
	s_add_u32 s6, s4, s6                                       // 000000000190: 80060604
	s_addc_u32 s7, s5, s7                                      // 000000000194: 82070705
	s_load_dword s10, s[6:7], 0x0                              // 000000000198: C0020283 00000000
	s_getpc_b64 s[6:7]                                         // 0000000001A0: BE861C00
	s_add_u32 s6, s6, ext@rel32@lo+4                           // 0000000001A4: 8006FF06 00000000
	s_addc_u32 s7, s7, ext@rel32@hi+12                         // 0000000001AC: 8207FF07 00000000
	s_add_u32 s4, s4, s6                                       // 0000000001B4: 80040604
	s_addc_u32 s5, s5, s7                                      // 0000000001B8: 82050705
	s_load_dword s4, s[4:5], 0x0                               // 0000000001BC: C0020102 00000000
	s_waitcnt lgkmcnt(0)                                       // 0000000001C4: BF8CC07F
	v_add_f32_e32 v0, s10, v0                                  // 0000000001C8: 0200000A
	v_add_f32_e32 v0, s4, v0                                   // 0000000001CC: 02000004
	global_store_dword v2, v0, s[8:9]                          // 0000000001D0: DC708000 00080002
	s_endpgm                                                   // 0000000001D8: BF810000
	.size a, .-a
	.fill 9, 4, 0xbf800000

	.globl b
	.protected b
	.type b,@function
b:
	s_load_dword s0, s[4:5], 0x8                               // 000000000200: C0020002 00000008
	s_load_dwordx2 s[2:3], s[4:5], 0x0                         // 000000000208: C0060082 00000000
	s_getpc_b64 s[4:5]                                         // 000000000210: BE841C00
	s_add_u32 s4, s4, table@rel32@lo+4                         // 000000000214: 8004FF04 00000000
	s_addc_u32 s5, s5, table@rel32@hi+12                       // 00000000021C: 8205FF05 00000000
	v_mov_b32_e32 v1, 0                                        // 000000000224: 7E020280
	s_waitcnt lgkmcnt(0)                                       // 000000000228: BF8CC07F
	s_and_b32 s6, s0, 7                                        // 00000000022C: 86068700
	s_ashr_i32 s1, s0, 31                                      // 000000000230: 90019F00
	s_lshl_b32 s6, s6, 2                                       // 000000000234: 8E068206
	s_add_u32 s4, s6, s4                                       // 000000000238: 80040406
	s_addc_u32 s5, 0, s5                                       // 00000000023C: 82050580
	s_load_dword s4, s[4:5], 0x0                               // 000000000240: C0020102 00000000
	s_lshl_b64 s[0:1], s[0:1], 2                               // 000000000248: 8E808200
	s_add_u32 s0, s2, s0                                       // 00000000024C: 80000002
	s_addc_u32 s1, s3, s1                                      // 000000000250: 82010103
	s_waitcnt lgkmcnt(0)                                       // 000000000254: BF8CC07F
	v_add_f32_e64 v0, s4, 1.0                                  // 000000000258: D1010000 0001E404
	global_store_dword v1, v0, s[0:1]                          // 000000000260: DC708000 00000001
	s_endpgm                                                   // 000000000268: BF810000
	.size b, .-b

	.section .rodata,"a",@progbits
	.p2align 6

	.amdhsa_kernel a
		.amdhsa_group_segment_fixed_size 256
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 12
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_flat_scratch_init 1
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
		.amdhsa_next_free_vgpr 4
		.amdhsa_next_free_sgpr 36
		.amdhsa_reserve_vcc 0
		.amdhsa_reserve_flat_scratch 0
	.end_amdhsa_kernel

	.amdhsa_kernel b
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 12
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
		.amdhsa_next_free_vgpr 4
		.amdhsa_next_free_sgpr 4
		.amdhsa_reserve_vcc 0
		.amdhsa_reserve_flat_scratch 0
	.end_amdhsa_kernel

	.globl table
	.hidden table
	.type table,@object
table:
	.long 0x3f800000, 0x40000000, 0x40400000, 0x40800000, 0x40a00000, 0x40c00000, 0x40e00000, 0x41000000
	.size table, .-table

	.ident "Debian clang version 14.0.6"

	.section ".note.GNU-stack","",@progbits

	.globl ext
	.hidden ext

	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .address_space:  global
        .offset:         0
        .size:           8
        .type_name:      'float*'
        .value_kind:     global_buffer
      - .offset:         8
        .size:           4
        .type_name:      int
        .value_kind:     by_value
    .group_segment_fixed_size: 256
    .kernarg_segment_align: 8
    .kernarg_segment_size: 12
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 64
    .name:           a
    .private_segment_fixed_size: 0
    .reqd_workgroup_size:
      - 64
      - 1
      - 1
    .sgpr_count:     39
    .sgpr_spill_count: 0
    .symbol:         a.kd
    .vgpr_count:     3
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .args:
      - .address_space:  global
        .offset:         0
        .size:           8
        .type_name:      'float*'
        .value_kind:     global_buffer
      - .offset:         8
        .size:           4
        .type_name:      int
        .value_kind:     by_value
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 12
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           b
    .private_segment_fixed_size: 0
    .sgpr_count:     7
    .sgpr_spill_count: 0
    .symbol:         b.kd
    .vgpr_count:     2
    .vgpr_spill_count: 0
    .wavefront_size: 64
amdhsa.version:
  - 1
  - 0
...
	.end_amdgpu_metadata

	.addrsig
