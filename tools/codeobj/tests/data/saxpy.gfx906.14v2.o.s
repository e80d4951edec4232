	.hsa_code_object_version 2,1
	.hsa_code_object_isa 9,0,7,"AMD","AMDGPU"

	.text
	.p2align 8

	.globl saxpy
	.protected saxpy
	.amdgpu_hsa_kernel saxpy
saxpy:
	.amd_kernel_code_t
		amd_code_version_major = 1
		amd_code_version_minor = 2
		amd_machine_kind = 1
		amd_machine_version_major = 9
		amd_machine_version_minor = 0
		amd_machine_version_stepping = 6
		kernel_code_entry_byte_offset = 256
		kernel_code_prefetch_byte_size = 0
		granulated_workitem_vgpr_count = 1
		granulated_wavefront_sgpr_count = 1
		priority = 0
		float_mode = 240
		priv = 0
		enable_dx10_clamp = 1
		debug_mode = 0
		enable_ieee_mode = 1
		enable_wgp_mode = 0
		enable_mem_ordered = 0
		enable_fwd_progress = 0
		enable_sgpr_private_segment_wave_byte_offset = 0
		user_sgpr_count = 6
		enable_trap_handler = 0
		enable_sgpr_workgroup_id_x = 1
		enable_sgpr_workgroup_id_y = 0
		enable_sgpr_workgroup_id_z = 0
		enable_sgpr_workgroup_info = 0
		enable_vgpr_workitem_id = 0
		enable_exception_msb = 0
		granulated_lds_size = 0
		enable_exception = 0
		enable_sgpr_private_segment_buffer = 1
		enable_sgpr_dispatch_ptr = 0
		enable_sgpr_queue_ptr = 0
		enable_sgpr_kernarg_segment_ptr = 1
		enable_sgpr_dispatch_id = 0
		enable_sgpr_flat_scratch_init = 0
		enable_sgpr_private_segment_size = 0
		enable_sgpr_grid_workgroup_count_x = 0
		enable_sgpr_grid_workgroup_count_y = 0
		enable_sgpr_grid_workgroup_count_z = 0
		enable_wavefront_size32 = 0
		enable_ordered_append_gds = 0
		private_element_size = 1
		is_ptr64 = 1
		is_dynamic_callstack = 0
		is_debug_enabled = 0
		is_xnack_enabled = 1
		workitem_private_segment_byte_size = 0
		workgroup_group_segment_byte_size = 0
		gds_segment_byte_size = 0
		kernarg_segment_byte_size = 24
		workgroup_fbarrier_count = 0
		wavefront_sgpr_count = 10
		workitem_vgpr_count = 6
		reserved_vgpr_first = 0
		reserved_vgpr_count = 0
		reserved_sgpr_first = 0
		reserved_sgpr_count = 0
		debug_wavefront_private_segment_offset_sgpr = 0
		debug_private_segment_buffer_sgpr = 0
		kernarg_segment_alignment = 4
		group_segment_alignment = 4
		private_segment_alignment = 4
		wavefront_size = 6
		call_convention = -1
		runtime_loader_kernel_symbol = 0
	.end_amd_kernel_code_t
	s_load_dwordx2 s[0:1], s[4:5], 0x10                        // 000000000100: C0060002 00000010
	v_lshl_or_b32 v0, s6, 8, v0                                // 000000000108: D2000000 04011006
	s_waitcnt lgkmcnt(0)                                       // 000000000110: BF8CC07F
	v_cmp_gt_i32_e32 vcc, s1, v0                               // 000000000114: 7D880001
	s_and_saveexec_b64 s[2:3], vcc                             // 000000000118: BE82206A
	s_cbranch_execz .L_0178                                    // 00000000011C: BF880016
	s_load_dwordx2 s[2:3], s[4:5], 0x8                         // 000000000120: C0060082 00000008
	s_load_dwordx2 s[6:7], s[4:5], 0x0                         // 000000000128: C0060182 00000000
	v_ashrrev_i32_e32 v1, 31, v0                               // 000000000130: 2202009F
	v_lshlrev_b64 v[0:1], 2, v[0:1]                            // 000000000134: D28F0000 00020082
	s_waitcnt lgkmcnt(0)                                       // 00000000013C: BF8CC07F
	v_mov_b32_e32 v3, s3                                       // 000000000140: 7E060203
	v_add_co_u32_e32 v2, vcc, s2, v0                           // 000000000144: 32040002
	v_addc_co_u32_e32 v3, vcc, v3, v1, vcc                     // 000000000148: 38060303
	v_mov_b32_e32 v4, s7                                       // 00000000014C: 7E080207
	v_add_co_u32_e32 v0, vcc, s6, v0                           // 000000000150: 32000006
	v_addc_co_u32_e32 v1, vcc, v4, v1, vcc                     // 000000000154: 38020304
	global_load_dword v4, v[0:1], off                          // 000000000158: DC508000 047F0000
	global_load_dword v5, v[2:3], off                          // 000000000160: DC508000 057F0002
	s_waitcnt vmcnt(0)                                         // 000000000168: BF8C0F70
	v_fmac_f32_e32 v5, s0, v4                                  // 00000000016C: 760A0800
	global_store_dword v[2:3], v5, off                         // 000000000170: DC708000 007F0502
.L_0178:
	s_endpgm                                                   // 000000000178: BF810000
	.size saxpy, .-saxpy

	.ident "Debian clang version 14.0.6"

	.section ".note.GNU-stack","",@progbits

	.amd_amdgpu_isa "amdgcn-amd-amdhsa--gfx907"

	.amd_amdgpu_hsa_metadata
---
Version:         [ 1, 0 ]
Kernels:
  - Name:            saxpy
    SymbolName:      'saxpy@kd'
    Language:        OpenCL C
    LanguageVersion: [ 2, 0 ]
    Attrs:
      ReqdWorkGroupSize: [ 256, 1, 1 ]
    Args:
      - TypeName:        'float*'
        Size:            8
        Align:           8
        ValueKind:       GlobalBuffer
        AddrSpaceQual:   Global
        AccQual:         ReadOnly
        IsConst:         true
        IsRestrict:      true
      - TypeName:        'float*'
        Size:            8
        Align:           8
        ValueKind:       GlobalBuffer
        AddrSpaceQual:   Global
        AccQual:         Default
        IsRestrict:      true
      - TypeName:        float
        Size:            4
        Align:           4
        ValueKind:       ByValue
        AccQual:         Default
      - TypeName:        int
        Size:            4
        Align:           4
        ValueKind:       ByValue
        AccQual:         Default
    CodeProps:
      KernargSegmentSize: 24
      GroupSegmentFixedSize: 0
      PrivateSegmentFixedSize: 0
      KernargSegmentAlign: 8
      WavefrontSize:   64
      NumSGPRs:        10
      NumVGPRs:        6
      MaxFlatWorkGroupSize: 256
      IsXNACKEnabled:  true
...
	.end_amd_amdgpu_hsa_metadata

	.addrsig
