//! The keys of the metadata, and the type of value that each key requires.
//!
//! # Source
//! LLVM's AMDGPU guide of version 19 (`AMDGPUUsage.rst`, "AMDPAL Code Object Metadata", version 2.6 of the
//! metadata); AMD's PAL, `g_palPipelineAbiMetadata.h` and `palPipelineAbi.h` (version 3.6).

use crate::schema_registers::{COMPUTE_REGISTER, GRAPHICS_REGISTER};

/// Type of value that a key requires.
pub(crate) enum Kind {
    Text,
    /// Text with at most this many bytes.
    ShortText(usize),
    Word(&'static [&'static str]),
    Words(&'static [&'static str]),
    /// Unsigned number with at most this many bits.
    Number(u32),
    Bool,
    Float,
    Bytes,
    /// Sequence of unsigned numbers with at most this many bits.
    Numbers {
        bits: u32,
        least: usize,
        most: usize,
    },
    Map(&'static [Key]),
    /// Sequence of at most this many maps.
    Maps(&'static [Key], usize),
    /// Map of these names to maps.
    Named(&'static [&'static str], &'static [Key]),
    /// Map of any names to maps.
    AnyNamed(&'static [Key]),
    /// Map of register numbers to values of 32 bits.
    Registers,
}

/// A key of a map.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) is_required: bool,
}

pub(crate) const fn key(name: &'static str, kind: Kind) -> Key {
    Key { name, kind, is_required: false }
}

const fn required(name: &'static str, kind: Kind) -> Key {
    Key { name, kind, is_required: true }
}

use Kind::{
    AnyNamed, Bool, Bytes, Map, Maps, Named, Number, Numbers, Registers, ShortText, Text, Word, Words,
};

/// A sequence of `count` numbers with at most `bits` bits.
const fn exactly(count: usize, bits: u32) -> Kind {
    Numbers { bits, least: count, most: count }
}

/// The keys of the metadata's root.
pub(crate) static ROOT: [Key; 2] =
    [required("amdpal.version", exactly(2, 32)), required("amdpal.pipelines", Maps(&PIPELINE, 1))];

/// The types of pipelines.
pub(crate) static PIPELINE_TYPES: [&str; 9] =
    ["VsPs", "Gs", "Cs", "Ngg", "Tess", "GsTess", "NggTess", "Mesh", "TaskMesh"];

static SHADERS: [&str; 8] =
    [".compute", ".task", ".vertex", ".hull", ".domain", ".geometry", ".mesh", ".pixel"];

static STAGES: [&str; 7] = [".ls", ".hs", ".es", ".gs", ".vs", ".ps", ".cs"];

static SUBTYPES: [&str; 9] = [
    "Unknown",
    "Traversal",
    "RayGeneration",
    "Intersection",
    "AnyHit",
    "ClosestHit",
    "Miss",
    "Callable",
    "LaunchKernel",
];

static CONSTANT_USES: [&str; 8] =
    ["LoopIter", "Eq0Float", "Lt0Float", "Gt0Float", "Eq0Int", "Lt0Int", "Gt0Int", "Other"];

static PIPELINE: [Key; 29] = [
    key(".name", Text),
    key(".type", Word(&PIPELINE_TYPES)),
    required(".internal_pipeline_hash", exactly(2, 64)),
    key(".resource_hash", Number(64)),
    key(".unified_rgs_name_hash", Number(32)),
    key(".shaders", Named(&SHADERS, &SHADER)),
    key(".hardware_stages", Named(&STAGES, &STAGE)),
    key(".shader_functions", AnyNamed(&FUNCTION)),
    key(".registers", Registers),
    key(".user_data_limit", Number(32)),
    key(".spill_threshold", Number(32)),
    key(".uses_viewport_array_index", Bool),
    key(".es_gs_lds_size", Number(32)),
    key(".nggSubgroupSize", Number(32)),
    key(".num_interpolants", Number(32)),
    key(".mesh_scratch_memory_size", Number(32)),
    key(".ps_input_semantic", Maps(&PS_INPUT_SEMANTIC, 32)),
    key(".preraster_output_semantic", Maps(&PRERASTER_OUTPUT_SEMANTIC, 32)),
    key(".api", ShortText(15)),
    key(".api_create_info", Bytes),
    key(".gs_outputs_lines", Bool),
    key(".ps_dummy_export", Bool),
    key(".ps_sample_mask", Bool),
    key(".uses_cps", Bool),
    key(".cps_global", Bool),
    key(".streamout_vertex_strides", Numbers { bits: 16, least: 0, most: 4 }),
    key(".graphics_registers", Map(&GRAPHICS_REGISTER)),
    key(".compute_registers", Map(&COMPUTE_REGISTER)),
    // kernc writes this key: the arguments of a kernel, which PAL does not describe.
    key(".kernc_args", Maps(&ARGUMENT, 1 << 14)),
];

static ARGUMENT: [Key; 13] = [
    key(".access", Text),
    key(".address_space", Text),
    key(".is_const", Bool),
    key(".is_pipe", Bool),
    key(".is_restrict", Bool),
    key(".is_volatile", Bool),
    key(".name", Text),
    key(".offset", Number(32)),
    key(".pointee_align", Number(32)),
    key(".size", Number(32)),
    key(".type_name", Text),
    key(".value_kind", Text),
    key(".value_type", Text),
];

static SHADER: [Key; 3] = [
    key(".api_shader_hash", exactly(2, 64)),
    key(".hardware_mapping", Words(&STAGES)),
    key(".shader_subtype", Word(&SUBTYPES)),
];

static STAGE: [Key; 43] = [
    key(".entry_point_symbol", Text),
    key(".entry_point", Text),
    key(".scratch_memory_size", Number(32)),
    key(".backend_stack_size", Number(32)),
    key(".frontend_stack_size", Number(32)),
    key(".lds_size", Number(32)),
    key(".perf_data_buffer_size", Number(32)),
    key(".vgpr_count", Number(32)),
    // LLVM writes this key for processors with accumulation registers.
    key(".agpr_count", Number(32)),
    key(".dynamic_vgpr_saved_count", Number(32)),
    key(".sgpr_count", Number(32)),
    key(".vgpr_limit", Number(32)),
    key(".sgpr_limit", Number(32)),
    key(".outgoing_vgpr_count", Number(32)),
    key(".threadgroup_dimensions", exactly(3, 32)),
    key(".orig_threadgroup_dimensions", exactly(3, 32)),
    key(".cb_const_usages", Maps(&CONSTANT_USE, 16)),
    key(".num_cb_const_usages", Number(8)),
    key(".unused_imm_const", Numbers { bits: 32, least: 0, most: 4 }),
    key(".wavefront_size", Number(32)),
    key(".user_data_reg_map", Numbers { bits: 32, least: 0, most: 32 }),
    key(".checksum_value", Number(32)),
    key(".float_mode", Number(8)),
    key(".fp16_overflow", Bool),
    key(".ieee_mode", Bool),
    key(".wgp_mode", Bool),
    key(".mem_ordered", Bool),
    key(".forward_progress", Bool),
    key(".debug_mode", Bool),
    key(".scratch_en", Bool),
    key(".trap_present", Bool),
    key(".user_sgprs", Number(8)),
    key(".excp_en", Number(16)),
    key(".offchip_lds_en", Bool),
    key(".shared_vgpr_cnt", Number(8)),
    key(".waves_per_se", Number(32)),
    key(".uses_uavs", Bool),
    key(".uses_rovs", Bool),
    key(".writes_uavs", Bool),
    key(".writes_depth", Bool),
    key(".uses_append_consume", Bool),
    key(".uses_prim_id", Bool),
    key(".wg_round_robin", Bool),
];

static CONSTANT_USE: [Key; 5] = [
    key(".buffer_id", Number(32)),
    key(".buffer_index", Number(32)),
    key(".elem", Number(32)),
    key(".chan", Number(8)),
    key(".usage", Word(&CONSTANT_USES)),
];

static FUNCTION: [Key; 9] = [
    key(".api_shader_hash", exactly(2, 64)),
    key(".scratch_memory_size", Number(32)),
    key(".backend_stack_size", Number(32)),
    key(".frontend_stack_size", Number(32)),
    key(".stack_frame_size_in_bytes", Number(32)),
    key(".lds_size", Number(32)),
    key(".vgpr_count", Number(32)),
    key(".sgpr_count", Number(32)),
    key(".shader_subtype", Word(&SUBTYPES)),
];

static PS_INPUT_SEMANTIC: [Key; 1] = [key(".semantic", Number(16))];

static PRERASTER_OUTPUT_SEMANTIC: [Key; 2] = [key(".semantic", Number(16)), key(".index", Number(8))];
