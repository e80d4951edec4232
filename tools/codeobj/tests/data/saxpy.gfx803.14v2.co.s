	.hsa_code_object_version 2,1
	.hsa_code_object_isa 8,0,3,"AMD","AMDGPU"

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
		amd_machine_version_major = 8
		amd_machine_version_minor = 0
		amd_machine_version_stepping = 3
		kernel_code_entry_byte_offset = 256
		kernel_code_prefetch_byte_size = 0
		granulated_workitem_vgpr_count = 1
		granulated_wavefront_sgpr_count = 1
		priority = 0
		float_mode = 192
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
		is_xnack_enabled = 0
		workitem_private_segment_byte_size = 0
		workgroup_group_segment_byte_size = 0
		gds_segment_byte_size = 0
		kernarg_segment_byte_size = 24
		workgroup_fbarrier_count = 0
		wavefront_sgpr_count = 9
		workitem_vgpr_count = 5
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
	s_load_dwordx2 s[0:1], s[4:5], 0x10                        // 000000001900: C0060002 00000010
	s_lshl_b32 s2, s6, 8                                       // 000000001908: 8E028806
	v_or_b32_e32 v0, s2, v0                                    // 00000000190C: 28000002
	s_waitcnt lgkmcnt(0)                                       // 000000001910: BF8C007F
	v_cmp_gt_i32_e32 vcc, s1, v0                               // 000000001914: 7D880001
	s_and_saveexec_b64 s[2:3], vcc                             // 000000001918: BE82206A
	s_cbranch_execz .L_0178                                    // 00000000191C: BF880016
	s_load_dwordx2 s[2:3], s[4:5], 0x8                         // 000000001920: C0060082 00000008
	s_load_dwordx2 s[4:5], s[4:5], 0x0                         // 000000001928: C0060102 00000000
	v_ashrrev_i32_e32 v1, 31, v0                               // 000000001930: 2202009F
	v_lshlrev_b64 v[0:1], 2, v[0:1]                            // 000000001934: D28F0000 00020082
	s_waitcnt lgkmcnt(0)                                       // 00000000193C: BF8C007F
	v_mov_b32_e32 v3, s3                                       // 000000001940: 7E060203
	v_add_u32_e32 v2, vcc, s2, v0                              // 000000001944: 32040002
	v_addc_u32_e32 v3, vcc, v3, v1, vcc                        // 000000001948: 38060303
	v_mov_b32_e32 v4, s5                                       // 00000000194C: 7E080205
	v_add_u32_e32 v0, vcc, s4, v0                              // 000000001950: 32000004
	v_addc_u32_e32 v1, vcc, v4, v1, vcc                        // 000000001954: 38020304
	flat_load_dword v0, v[0:1]                                 // 000000001958: DC500000 00000000
	flat_load_dword v1, v[2:3]                                 // 000000001960: DC500000 01000002
	s_waitcnt vmcnt(0)                                         // 000000001968: BF8C0F70
	v_mac_f32_e32 v1, s0, v0                                   // 00000000196C: 2C020000
	flat_store_dword v[2:3], v1                                // 000000001970: DC700000 00000102
.L_0178:
	s_endpgm                                                   // 000000001978: BF810000
	.size saxpy, .-saxpy

	.amd_amdgpu_isa "amdgcn-amd-amdhsa--gfx803"

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
      NumSGPRs:        9
      NumVGPRs:        5
      MaxFlatWorkGroupSize: 256
...
	.end_amd_amdgpu_hsa_metadata
