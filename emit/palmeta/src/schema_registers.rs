//! The keys of the maps that version 3 of the metadata has in place of register numbers.
//!
//! # Source
//! AMD's PAL, `g_palPipelineAbiMetadata.h` (version 3.6): keys and types. PAL has the type `uint8` for many
//! fields that have fewer bits in the register; the numbers of bits here are PAL's.

use crate::schema::Kind::{Bool, Float, Map, Maps, Number, Numbers, Word};
use crate::schema::{Key, key};

static OUTPUT_PRIMITIVES: [&str; 5] = ["PointList", "LineStrip", "TriStrip", "Rect2d", "RectList"];

static POINT_SPRITES: [&str; 5] = ["Zero", "One", "S", "T", "None"];

static COVERAGES: [&str; 4] = ["InputCoverage", "InputInnerCoverage", "InputDepthCoverage", "Raw"];

/// Map of the compute shader (`.compute_registers`).
pub(crate) static COMPUTE_REGISTER: [Key; 8] = [
    key(".tgid_x_en", Bool),
    key(".tgid_y_en", Bool),
    key(".tgid_z_en", Bool),
    key(".tg_size_en", Bool),
    key(".dynamic_vgpr_en", Bool),
    key(".x_interleave", Number(32)),
    key(".y_interleave", Number(32)),
    key(".tidig_comp_cnt", Number(8)),
];

static PA_CL_CLIP_CNTL: [Key; 11] = [
    key(".user_clip_plane0_ena", Bool),
    key(".user_clip_plane1_ena", Bool),
    key(".user_clip_plane2_ena", Bool),
    key(".user_clip_plane3_ena", Bool),
    key(".user_clip_plane4_ena", Bool),
    key(".user_clip_plane5_ena", Bool),
    key(".dx_linear_attr_clip_ena", Bool),
    key(".zclip_near_disable", Bool),
    key(".zclip_far_disable", Bool),
    key(".rasterization_kill", Bool),
    key(".clip_disable", Bool),
];

static PA_CL_VTE_CNTL: [Key; 9] = [
    key(".vtx_xy_fmt", Bool),
    key(".vtx_z_fmt", Bool),
    key(".x_scale_ena", Bool),
    key(".x_offset_ena", Bool),
    key(".y_scale_ena", Bool),
    key(".y_offset_ena", Bool),
    key(".z_scale_ena", Bool),
    key(".z_offset_ena", Bool),
    key(".vtx_w0_fmt", Bool),
];

static PA_SU_VTX_CNTL: [Key; 3] =
    [key(".pix_center", Bool), key(".round_mode", Number(8)), key(".quant_mode", Number(8))];

static VGT_SHADER_STAGES_EN: [Key; 13] = [
    key(".ls_stage_en", Bool),
    key(".hs_stage_en", Bool),
    key(".es_stage_en", Number(8)),
    key(".gs_stage_en", Bool),
    key(".vs_stage_en", Number(8)),
    key(".dynamic_hs", Bool),
    key(".max_primgroup_in_wave", Number(8)),
    key(".primgen_en", Bool),
    key(".ordered_id_mode", Bool),
    key(".ngg_wave_id_en", Bool),
    key(".gs_fast_launch", Number(8)),
    key(".primgen_passthru_en", Bool),
    key(".primgen_passthru_no_msg", Bool),
];

static VGT_GS_MODE: [Key; 5] = [
    key(".mode", Number(8)),
    key(".onchip", Number(8)),
    key(".es_write_optimize", Bool),
    key(".gs_write_optimize", Bool),
    key(".cut_mode", Number(8)),
];

static VGT_TF_PARAM: [Key; 6] = [
    key(".type", Number(8)),
    key(".partitioning", Number(8)),
    key(".topology", Number(8)),
    key(".disable_donuts", Bool),
    key(".num_ds_waves_per_simd", Number(8)),
    key(".distribution_mode", Number(8)),
];

static VGT_LS_HS_CONFIG: [Key; 3] =
    [key(".num_patches", Number(8)), key(".hs_num_input_cp", Number(8)), key(".hs_num_output_cp", Number(8))];

static IA_MULTI_VGT_PARAM: [Key; 5] = [
    key(".primgroup_size", Number(16)),
    key(".partial_vs_wave_on", Bool),
    key(".partial_es_wave_on", Bool),
    key(".switch_on_eop", Bool),
    key(".switch_on_eoi", Bool),
];

static SPI_INTERP_CONTROL: [Key; 5] = [
    key(".point_sprite_ena", Bool),
    key(".point_sprite_override_x", Word(&POINT_SPRITES)),
    key(".point_sprite_override_y", Word(&POINT_SPRITES)),
    key(".point_sprite_override_z", Word(&POINT_SPRITES)),
    key(".point_sprite_override_w", Word(&POINT_SPRITES)),
];

static SPI_PS_INPUT_CNTL: [Key; 10] = [
    key(".offset", Number(8)),
    key(".default_val", Number(8)),
    key(".flat_shade", Bool),
    key(".cyl_wrap", Number(8)),
    key(".pt_sprite_tex", Bool),
    key(".fp16_interp_mode", Bool),
    key(".attr0_valid", Bool),
    key(".attr1_valid", Bool),
    key(".rotate_pc_ptr", Bool),
    key(".prim_attr", Bool),
];

static SPI_SHADER_GS_MESHLET_DIM: [Key; 4] = [
    key(".num_thread_x", Number(16)),
    key(".num_thread_y", Number(16)),
    key(".num_thread_z", Number(16)),
    key(".threadgroup_size", Number(32)),
];

static SPI_SHADER_GS_MESHLET_EXP_ALLOC: [Key; 2] =
    [key(".max_exp_verts", Number(16)), key(".max_exp_prims", Number(16))];

static VGT_GS_INSTANCE_CNT: [Key; 3] =
    [key(".enable", Bool), key(".count", Number(8)), key(".en_max_vert_out_per_gs_instance", Bool)];

static VGT_GS_OUT_PRIM_TYPE: [Key; 5] = [
    key(".outprim_type", Word(&OUTPUT_PRIMITIVES)),
    key(".outprim_type_1", Word(&OUTPUT_PRIMITIVES)),
    key(".outprim_type_2", Word(&OUTPUT_PRIMITIVES)),
    key(".outprim_type_3", Word(&OUTPUT_PRIMITIVES)),
    key(".unique_type_per_stream", Bool),
];

static GE_NGG_SUBGRP_CNTL: [Key; 2] =
    [key(".prim_amp_factor", Number(16)), key(".threads_per_subgroup", Number(16))];

static VGT_GS_ONCHIP_CNTL: [Key; 3] = [
    key(".es_verts_per_subgroup", Number(16)),
    key(".gs_prims_per_subgroup", Number(16)),
    key(".gs_inst_prims_per_subgrp", Number(16)),
];

static PA_CL_VS_OUT_CNTL: [Key; 31] = [
    key(".clip_dist_ena_0", Bool),
    key(".clip_dist_ena_1", Bool),
    key(".clip_dist_ena_2", Bool),
    key(".clip_dist_ena_3", Bool),
    key(".clip_dist_ena_4", Bool),
    key(".clip_dist_ena_5", Bool),
    key(".clip_dist_ena_6", Bool),
    key(".clip_dist_ena_7", Bool),
    key(".cull_dist_ena_0", Bool),
    key(".cull_dist_ena_1", Bool),
    key(".cull_dist_ena_2", Bool),
    key(".cull_dist_ena_3", Bool),
    key(".cull_dist_ena_4", Bool),
    key(".cull_dist_ena_5", Bool),
    key(".cull_dist_ena_6", Bool),
    key(".cull_dist_ena_7", Bool),
    key(".use_vtx_point_size", Bool),
    key(".use_vtx_edge_flag", Bool),
    key(".use_vtx_render_target_indx", Bool),
    key(".use_vtx_viewport_indx", Bool),
    key(".use_vtx_kill_flag", Bool),
    key(".vs_out_misc_vec_ena", Bool),
    key(".vs_out_cc_dist0_vec_ena", Bool),
    key(".vs_out_cc_dist1_vec_ena", Bool),
    key(".vs_out_misc_side_bus_ena", Bool),
    key(".use_vtx_line_width", Bool),
    key(".use_vtx_vrs_rate", Bool),
    key(".bypass_vtx_rate_combiner", Bool),
    key(".bypass_prim_rate_combiner", Bool),
    key(".use_vtx_gs_cut_flag", Bool),
    key(".use_vtx_fsr_select", Bool),
];

static SPI_VS_OUT_CONFIG: [Key; 3] =
    [key(".no_pc_export", Bool), key(".vs_export_count", Number(8)), key(".prim_export_count", Number(8))];

static VGT_STRMOUT_CONFIG: [Key; 8] = [
    key(".streamout_0_en", Bool),
    key(".streamout_1_en", Bool),
    key(".streamout_2_en", Bool),
    key(".streamout_3_en", Bool),
    key(".rast_stream", Number(8)),
    key(".prims_needed_cnt_en", Bool),
    key(".rast_stream_mask", Number(8)),
    key(".use_rast_stream_mask", Bool),
];

static VGT_STRMOUT_BUFFER_CONFIG: [Key; 4] = [
    key(".stream_0_buffer_en", Number(8)),
    key(".stream_1_buffer_en", Number(8)),
    key(".stream_2_buffer_en", Number(8)),
    key(".stream_3_buffer_en", Number(8)),
];

static CB_SHADER_MASK: [Key; 8] = [
    key(".output0_enable", Number(8)),
    key(".output1_enable", Number(8)),
    key(".output2_enable", Number(8)),
    key(".output3_enable", Number(8)),
    key(".output4_enable", Number(8)),
    key(".output5_enable", Number(8)),
    key(".output6_enable", Number(8)),
    key(".output7_enable", Number(8)),
];

static DB_SHADER_CONTROL: [Key; 14] = [
    key(".z_export_enable", Bool),
    key(".stencil_test_val_export_enable", Bool),
    key(".stencil_op_val_export_enable", Bool),
    key(".z_order", Number(8)),
    key(".kill_enable", Bool),
    key(".coverage_to_mask_en", Bool),
    key(".mask_export_enable", Bool),
    key(".exec_on_hier_fail", Bool),
    key(".exec_on_noop", Bool),
    key(".alpha_to_mask_disable", Bool),
    key(".depth_before_shader", Bool),
    key(".conservative_z_export", Number(8)),
    key(".primitive_ordered_pixel_shader", Bool),
    key(".pre_shader_depth_coverage_enable", Bool),
];

static SPI_PS_IN_CONTROL: [Key; 6] = [
    key(".num_interps", Number(8)),
    key(".param_gen", Bool),
    key(".offchip_param_en", Bool),
    key(".late_pc_dealloc", Bool),
    key(".num_prim_interp", Number(8)),
    key(".bc_optimize_disable", Bool),
];

static PA_SC_SHADER_CONTROL: [Key; 3] = [
    key(".load_collision_waveid", Bool),
    key(".load_intrawave_collision", Bool),
    key(".wave_break_region_size", Number(8)),
];

static SPI_BARYC_CNTL: [Key; 2] = [key(".pos_float_location", Number(8)), key(".front_face_all_bits", Bool)];

static SPI_PS_INPUT_ENA: [Key; 16] = [
    key(".persp_sample_ena", Bool),
    key(".persp_center_ena", Bool),
    key(".persp_centroid_ena", Bool),
    key(".persp_pull_model_ena", Bool),
    key(".linear_sample_ena", Bool),
    key(".linear_center_ena", Bool),
    key(".linear_centroid_ena", Bool),
    key(".line_stipple_tex_ena", Bool),
    key(".pos_x_float_ena", Bool),
    key(".pos_y_float_ena", Bool),
    key(".pos_z_float_ena", Bool),
    key(".pos_w_float_ena", Bool),
    key(".front_face_ena", Bool),
    key(".ancillary_ena", Bool),
    key(".sample_coverage_ena", Bool),
    key(".pos_fixed_pt_ena", Bool),
];

static SPI_PS_INPUT_ADDR: [Key; 16] = [
    key(".persp_sample_ena", Bool),
    key(".persp_center_ena", Bool),
    key(".persp_centroid_ena", Bool),
    key(".persp_pull_model_ena", Bool),
    key(".linear_sample_ena", Bool),
    key(".linear_center_ena", Bool),
    key(".linear_centroid_ena", Bool),
    key(".line_stipple_tex_ena", Bool),
    key(".pos_x_float_ena", Bool),
    key(".pos_y_float_ena", Bool),
    key(".pos_z_float_ena", Bool),
    key(".pos_w_float_ena", Bool),
    key(".front_face_ena", Bool),
    key(".ancillary_ena", Bool),
    key(".sample_coverage_ena", Bool),
    key(".pos_fixed_pt_ena", Bool),
];

static SPI_SHADER_COL_FORMAT: [Key; 8] = [
    key(".col_0_export_format", Number(8)),
    key(".col_1_export_format", Number(8)),
    key(".col_2_export_format", Number(8)),
    key(".col_3_export_format", Number(8)),
    key(".col_4_export_format", Number(8)),
    key(".col_5_export_format", Number(8)),
    key(".col_6_export_format", Number(8)),
    key(".col_7_export_format", Number(8)),
];

static SPI_SHADER_GS_MESHLET_CTRL: [Key; 2] =
    [key(".interleave_bits_x", Number(16)), key(".interleave_bits_y", Number(16))];

/// Map of the graphics shaders (`.graphics_registers`).
pub(crate) static GRAPHICS_REGISTER: [Key; 65] = [
    key(".ngg_culling_data_reg", Number(16)),
    key(".ls_vgpr_comp_cnt", Number(8)),
    key(".hs_tg_size_en", Bool),
    key(".es_vgpr_comp_cnt", Number(8)),
    key(".gs_vgpr_comp_cnt", Number(8)),
    key(".vs_vgpr_comp_cnt", Number(8)),
    key(".vs_so_base0_en", Bool),
    key(".vs_so_base1_en", Bool),
    key(".vs_so_base2_en", Bool),
    key(".vs_so_base3_en", Bool),
    key(".vs_streamout_en", Bool),
    key(".vs_pc_base_en", Bool),
    key(".ps_load_provoking_vtx", Bool),
    key(".ps_wave_cnt_en", Bool),
    key(".ps_extra_lds_size", Number(32)),
    key(".pa_cl_clip_cntl", Map(&PA_CL_CLIP_CNTL)),
    key(".pa_cl_vte_cntl", Map(&PA_CL_VTE_CNTL)),
    key(".pa_su_vtx_cntl", Map(&PA_SU_VTX_CNTL)),
    key(".ps_iter_sample", Bool),
    key(".vgt_shader_stages_en", Map(&VGT_SHADER_STAGES_EN)),
    key(".vgt_reuse_off", Bool),
    key(".vgt_gs_mode", Map(&VGT_GS_MODE)),
    key(".vgt_tf_param", Map(&VGT_TF_PARAM)),
    key(".vgt_ls_hs_config", Map(&VGT_LS_HS_CONFIG)),
    key(".ia_multi_vgt_param", Map(&IA_MULTI_VGT_PARAM)),
    key(".spi_interp_control", Map(&SPI_INTERP_CONTROL)),
    key(".spi_ps_input_cntl", Maps(&SPI_PS_INPUT_CNTL, 32)),
    key(".vgt_hos_min_tess_level", Float),
    key(".vgt_hos_max_tess_level", Float),
    key(".spi_shader_gs_meshlet_dim", Map(&SPI_SHADER_GS_MESHLET_DIM)),
    key(".spi_shader_gs_meshlet_exp_alloc", Map(&SPI_SHADER_GS_MESHLET_EXP_ALLOC)),
    key(".mesh_linear_dispatch_from_task", Bool),
    key(".vgt_gs_max_vert_out", Number(16)),
    key(".vgt_gs_instance_cnt", Map(&VGT_GS_INSTANCE_CNT)),
    key(".vgt_esgs_ring_itemsize", Number(16)),
    key(".vgt_draw_prim_payload_en", Bool),
    key(".vgt_gs_out_prim_type", Map(&VGT_GS_OUT_PRIM_TYPE)),
    key(".vgt_gs_vert_itemsize", Numbers { bits: 16, least: 0, most: 4 }),
    key(".vgt_gsvs_ring_offset", Numbers { bits: 16, least: 0, most: 3 }),
    key(".vgt_gsvs_ring_itemsize", Number(16)),
    key(".vgt_es_per_gs", Number(16)),
    key(".vgt_gs_per_es", Number(16)),
    key(".vgt_gs_per_vs", Number(16)),
    key(".max_verts_per_subgroup", Number(16)),
    key(".spi_shader_idx_format", Number(8)),
    key(".ge_ngg_subgrp_cntl", Map(&GE_NGG_SUBGRP_CNTL)),
    key(".vgt_gs_onchip_cntl", Map(&VGT_GS_ONCHIP_CNTL)),
    key(".pa_cl_vs_out_cntl", Map(&PA_CL_VS_OUT_CNTL)),
    key(".spi_shader_pos_format", Numbers { bits: 8, least: 0, most: 5 }),
    key(".spi_vs_out_config", Map(&SPI_VS_OUT_CONFIG)),
    key(".vgt_primitive_id_en", Bool),
    key(".ngg_disable_provok_reuse", Bool),
    key(".vgt_strmout_config", Map(&VGT_STRMOUT_CONFIG)),
    key(".vgt_strmout_buffer_config", Map(&VGT_STRMOUT_BUFFER_CONFIG)),
    key(".cb_shader_mask", Map(&CB_SHADER_MASK)),
    key(".db_shader_control", Map(&DB_SHADER_CONTROL)),
    key(".spi_ps_in_control", Map(&SPI_PS_IN_CONTROL)),
    key(".aa_coverage_to_shader_select", Word(&COVERAGES)),
    key(".pa_sc_shader_control", Map(&PA_SC_SHADER_CONTROL)),
    key(".spi_baryc_cntl", Map(&SPI_BARYC_CNTL)),
    key(".spi_ps_input_ena", Map(&SPI_PS_INPUT_ENA)),
    key(".spi_ps_input_addr", Map(&SPI_PS_INPUT_ADDR)),
    key(".spi_shader_col_format", Map(&SPI_SHADER_COL_FORMAT)),
    key(".spi_shader_z_format", Number(8)),
    key(".spi_shader_gs_meshlet_ctrl", Map(&SPI_SHADER_GS_MESHLET_CTRL)),
];
