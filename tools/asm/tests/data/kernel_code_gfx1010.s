// llvm-mc-14 --amdhsa-code-object-version=2 -mcpu=gfx1010
.hsa_code_object_version 2,1
.hsa_code_object_isa
.text
.amdgpu_hsa_kernel k1
k1:
.amd_kernel_code_t
  kernel_code_version_major = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k2
k2:
.amd_kernel_code_t
  amd_code_version_major = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k3
k3:
.amd_kernel_code_t
  amd_code_version_minor = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k4
k4:
.amd_kernel_code_t
  kernel_code_version_minor = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k5
k5:
.amd_kernel_code_t
  machine_kind = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k6
k6:
.amd_kernel_code_t
  amd_machine_kind = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k7
k7:
.amd_kernel_code_t
  machine_version_major = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k8
k8:
.amd_kernel_code_t
  amd_machine_version_major = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k9
k9:
.amd_kernel_code_t
  machine_version_minor = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k10
k10:
.amd_kernel_code_t
  amd_machine_version_minor = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k11
k11:
.amd_kernel_code_t
  machine_version_stepping = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k12
k12:
.amd_kernel_code_t
  amd_machine_version_stepping = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k13
k13:
.amd_kernel_code_t
  kernel_code_entry_byte_offset = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k14
k14:
.amd_kernel_code_t
  kernel_code_prefetch_byte_size = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k15
k15:
.amd_kernel_code_t
  compute_pgm_rsrc1_vgprs = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k16
k16:
.amd_kernel_code_t
  granulated_workitem_vgpr_count = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k17
k17:
.amd_kernel_code_t
  compute_pgm_rsrc1_sgprs = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k18
k18:
.amd_kernel_code_t
  granulated_wavefront_sgpr_count = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k19
k19:
.amd_kernel_code_t
  compute_pgm_rsrc1_priority = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k20
k20:
.amd_kernel_code_t
  priority = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k21
k21:
.amd_kernel_code_t
  compute_pgm_rsrc1_float_mode = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k22
k22:
.amd_kernel_code_t
  float_mode = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k23
k23:
.amd_kernel_code_t
  priv = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k24
k24:
.amd_kernel_code_t
  compute_pgm_rsrc1_priv = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k25
k25:
.amd_kernel_code_t
  enable_dx10_clamp = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k26
k26:
.amd_kernel_code_t
  compute_pgm_rsrc1_dx10_clamp = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k27
k27:
.amd_kernel_code_t
  compute_pgm_rsrc1_debug_mode = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k28
k28:
.amd_kernel_code_t
  debug_mode = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k29
k29:
.amd_kernel_code_t
  compute_pgm_rsrc1_ieee_mode = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k30
k30:
.amd_kernel_code_t
  enable_ieee_mode = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k31
k31:
.amd_kernel_code_t
  compute_pgm_rsrc1_wgp_mode = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k32
k32:
.amd_kernel_code_t
  enable_wgp_mode = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k33
k33:
.amd_kernel_code_t
  enable_mem_ordered = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k34
k34:
.amd_kernel_code_t
  compute_pgm_rsrc1_mem_ordered = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k35
k35:
.amd_kernel_code_t
  enable_fwd_progress = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k36
k36:
.amd_kernel_code_t
  compute_pgm_rsrc1_fwd_progress = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k37
k37:
.amd_kernel_code_t
  enable_sgpr_private_segment_wave_byte_offset = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k38
k38:
.amd_kernel_code_t
  compute_pgm_rsrc2_scratch_en = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k39
k39:
.amd_kernel_code_t
  user_sgpr_count = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k40
k40:
.amd_kernel_code_t
  compute_pgm_rsrc2_user_sgpr = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k41
k41:
.amd_kernel_code_t
  enable_trap_handler = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k42
k42:
.amd_kernel_code_t
  compute_pgm_rsrc2_trap_handler = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k43
k43:
.amd_kernel_code_t
  enable_sgpr_workgroup_id_x = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k44
k44:
.amd_kernel_code_t
  compute_pgm_rsrc2_tgid_x_en = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k45
k45:
.amd_kernel_code_t
  compute_pgm_rsrc2_tgid_y_en = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k46
k46:
.amd_kernel_code_t
  enable_sgpr_workgroup_id_y = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k47
k47:
.amd_kernel_code_t
  enable_sgpr_workgroup_id_z = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k48
k48:
.amd_kernel_code_t
  compute_pgm_rsrc2_tgid_z_en = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k49
k49:
.amd_kernel_code_t
  compute_pgm_rsrc2_tg_size_en = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k50
k50:
.amd_kernel_code_t
  enable_sgpr_workgroup_info = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k51
k51:
.amd_kernel_code_t
  compute_pgm_rsrc2_tidig_comp_cnt = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k52
k52:
.amd_kernel_code_t
  enable_vgpr_workitem_id = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k53
k53:
.amd_kernel_code_t
  enable_exception_msb = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k54
k54:
.amd_kernel_code_t
  compute_pgm_rsrc2_excp_en_msb = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k55
k55:
.amd_kernel_code_t
  compute_pgm_rsrc2_lds_size = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k56
k56:
.amd_kernel_code_t
  granulated_lds_size = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k57
k57:
.amd_kernel_code_t
  compute_pgm_rsrc2_excp_en = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k58
k58:
.amd_kernel_code_t
  enable_exception = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k59
k59:
.amd_kernel_code_t
  enable_sgpr_private_segment_buffer = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k60
k60:
.amd_kernel_code_t
  enable_sgpr_dispatch_ptr = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k61
k61:
.amd_kernel_code_t
  enable_sgpr_queue_ptr = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k62
k62:
.amd_kernel_code_t
  enable_sgpr_kernarg_segment_ptr = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k63
k63:
.amd_kernel_code_t
  enable_sgpr_dispatch_id = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k64
k64:
.amd_kernel_code_t
  enable_sgpr_flat_scratch_init = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k65
k65:
.amd_kernel_code_t
  enable_sgpr_private_segment_size = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k66
k66:
.amd_kernel_code_t
  enable_sgpr_grid_workgroup_count_x = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k67
k67:
.amd_kernel_code_t
  enable_sgpr_grid_workgroup_count_y = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k68
k68:
.amd_kernel_code_t
  enable_sgpr_grid_workgroup_count_z = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k69
k69:
.amd_kernel_code_t
  enable_wavefront_size32 = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k70
k70:
.amd_kernel_code_t
  enable_ordered_append_gds = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k71
k71:
.amd_kernel_code_t
  private_element_size = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k72
k72:
.amd_kernel_code_t
  is_ptr64 = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k73
k73:
.amd_kernel_code_t
  is_dynamic_callstack = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k74
k74:
.amd_kernel_code_t
  is_debug_enabled = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k75
k75:
.amd_kernel_code_t
  is_xnack_enabled = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k76
k76:
.amd_kernel_code_t
  workitem_private_segment_byte_size = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k77
k77:
.amd_kernel_code_t
  workgroup_group_segment_byte_size = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k78
k78:
.amd_kernel_code_t
  gds_segment_byte_size = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k79
k79:
.amd_kernel_code_t
  kernarg_segment_byte_size = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k80
k80:
.amd_kernel_code_t
  workgroup_fbarrier_count = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k81
k81:
.amd_kernel_code_t
  wavefront_sgpr_count = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k82
k82:
.amd_kernel_code_t
  workitem_vgpr_count = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k83
k83:
.amd_kernel_code_t
  reserved_vgpr_first = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k84
k84:
.amd_kernel_code_t
  reserved_vgpr_count = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k85
k85:
.amd_kernel_code_t
  reserved_sgpr_first = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k86
k86:
.amd_kernel_code_t
  reserved_sgpr_count = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k87
k87:
.amd_kernel_code_t
  debug_wavefront_private_segment_offset_sgpr = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k88
k88:
.amd_kernel_code_t
  debug_private_segment_buffer_sgpr = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k89
k89:
.amd_kernel_code_t
  kernarg_segment_alignment = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k90
k90:
.amd_kernel_code_t
  group_segment_alignment = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k91
k91:
.amd_kernel_code_t
  private_segment_alignment = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k92
k92:
.amd_kernel_code_t
  wavefront_size = 5
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k93
k93:
.amd_kernel_code_t
  call_convention = 1
.end_amd_kernel_code_t
.amdgpu_hsa_kernel k94
k94:
.amd_kernel_code_t
  runtime_loader_kernel_symbol = 1
.end_amd_kernel_code_t
