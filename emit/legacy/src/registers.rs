//! Names of registers and their fields, as pairs of register and value name them.
//!
//! # Source
//! COMPUTE_PGM_RSRC1 and 2: the AMDGPU guide (seed 000), tables of the kernel descriptor. The byte addresses
//! and the numbers of graphics registers: LLVM, `lib/Target/AMDGPU/SIDefines.h`; Mesa,
//! `src/gallium/drivers/radeonsi/si_shader.c`.

use crate::fields::{Field, List, named};

/// Bits of a register: name, lowest bit, number of bits.
type Bits = (&'static str, u32, u32);

/// Register: byte address, name, fields.
struct Register(u32, &'static str, &'static [Bits]);

/// Fields of a first program-resource register.
const RSRC1: &[Bits] = &[
    ("VGPRS", 0, 6),
    ("SGPRS", 6, 4),
    ("PRIORITY", 10, 2),
    ("FLOAT_MODE", 12, 8),
    ("PRIV", 20, 1),
    ("DX10_CLAMP", 21, 1),
    ("DEBUG_MODE", 22, 1),
    ("IEEE_MODE", 23, 1),
    ("BULKY", 24, 1),
    ("CDBG_USER", 25, 1),
];

/// Fields of COMPUTE_PGM_RSRC2.
const RSRC2: &[Bits] = &[
    ("SCRATCH_EN", 0, 1),
    ("USER_SGPR", 1, 5),
    ("TRAP_PRESENT", 6, 1),
    ("TGID_X_EN", 7, 1),
    ("TGID_Y_EN", 8, 1),
    ("TGID_Z_EN", 9, 1),
    ("TG_SIZE_EN", 10, 1),
    ("TIDIG_COMP_CNT", 11, 2),
    ("EXCP_EN_MSB", 13, 2),
    ("LDS_SIZE", 15, 9),
    ("EXCP_EN", 24, 7),
];

/// Common fields of the second program-resource register of all graphics stages.
const GRAPHICS_RSRC2: &[Bits] = &[("SCRATCH_EN", 0, 1), ("USER_SGPR", 1, 5), ("TRAP_PRESENT", 6, 1)];

const TMPRING_SIZE: &[Bits] = &[("WAVES", 0, 12), ("WAVESIZE", 12, 13)];

static REGISTERS: &[Register] = &[
    Register(0x4, "SPILLED_SGPRS", &[]),
    Register(0x8, "SPILLED_VGPRS", &[]),
    Register(0xb028, "SPI_SHADER_PGM_RSRC1_PS", RSRC1),
    Register(0xb02c, "SPI_SHADER_PGM_RSRC2_PS", GRAPHICS_RSRC2),
    Register(0xb128, "SPI_SHADER_PGM_RSRC1_VS", RSRC1),
    Register(0xb12c, "SPI_SHADER_PGM_RSRC2_VS", GRAPHICS_RSRC2),
    Register(0xb228, "SPI_SHADER_PGM_RSRC1_GS", RSRC1),
    Register(0xb22c, "SPI_SHADER_PGM_RSRC2_GS", GRAPHICS_RSRC2),
    Register(0xb328, "SPI_SHADER_PGM_RSRC1_ES", RSRC1),
    Register(0xb32c, "SPI_SHADER_PGM_RSRC2_ES", GRAPHICS_RSRC2),
    Register(0xb428, "SPI_SHADER_PGM_RSRC1_HS", RSRC1),
    Register(0xb42c, "SPI_SHADER_PGM_RSRC2_HS", GRAPHICS_RSRC2),
    Register(0xb528, "SPI_SHADER_PGM_RSRC1_LS", RSRC1),
    Register(0xb52c, "SPI_SHADER_PGM_RSRC2_LS", GRAPHICS_RSRC2),
    Register(0xb848, "COMPUTE_PGM_RSRC1", RSRC1),
    Register(0xb84c, "COMPUTE_PGM_RSRC2", RSRC2),
    Register(0xb860, "COMPUTE_TMPRING_SIZE", TMPRING_SIZE),
    Register(0x286cc, "SPI_PS_INPUT_ENA", &[]),
    Register(0x286d0, "SPI_PS_INPUT_ADDR", &[]),
    Register(0x286e8, "SPI_TMPRING_SIZE", TMPRING_SIZE),
];

/// Returns the name of a register by its byte address.
pub fn register_name(address: u32) -> Option<&'static str> {
    REGISTERS.iter().find(|register| register.0 == address).map(|register| register.1)
}

/// Returns the fields of a register's value, whose address is in bytes: the whole value, then each part.
pub fn register_fields(address: u32, value: u32) -> Vec<Field> {
    let mut list = List::default();
    let Some(Register(_, name, bits)) = REGISTERS.iter().find(|register| register.0 == address) else {
        list.hex(format!("register {address:#x}"), value);
        return list.0;
    };
    list.hex(*name, value);
    for (part, low, count) in *bits {
        list.add(format!("{name}.{part}"), value >> low & ((1 << count) - 1));
    }
    list.0
}

/// Pairs of the note ATI_PROGINFO that do not belong to a row of equal ones.
///
/// # Source
/// Multi2Sim, `src/arch/southern-islands/disassembler/Binary.cc`.
static PROGRAM_INFO: &[(u32, &str)] = &[
    (0x2301, "mmSQ_GPR_RESOURCE_MGMT_1"),
    (0x2303, "mmSQ_GPR_RESOURCE_MGMT_3__EG"),
    (0x2306, "mmSQ_THREAD_RESOURCE_MGMT__EG"),
    (0x2307, "mmSQ_THREAD_RESOURCE_MGMT_2__EG"),
    (0x2363, "mmSQ_DYN_GPR_CNTL_PS_FLUSH_REQ"),
    (0x2e12, "COMPUTE_PGM_RSRC1"),
    (0x2e13, "COMPUTE_PGM_RSRC2"),
    (0x2e18, "COMPUTE_TMPRING_SIZE"),
    (0xa1b2, "mmSPI_THREAD_GROUPING"),
    (0xa1ba, "mmSPI_COMPUTE_INPUT_CNTL"),
    (0xa1be, "mmSPI_GPR_MGMT"),
    (0xa1c1, "mmSPI_WAVE_MGMT_1"),
    (0xa1c2, "mmSPI_WAVE_MGMT_2"),
    (0xa234, "mmSQ_PGM_START_LS"),
    (0xa235, "mmSQ_PGM_RESOURCES_LS"),
    (0xa236, "mmSQ_PGM_RESOURCES_2_LS"),
    (0xa23a, "mmSQ_LDS_ALLOC"),
    (0x8000_0000, "AMU_ABI_PS_INPUT_COUNT"),
    (0x8000_0001, "AMU_ABI_PS_INPUT_SPARSE"),
    (0x8000_0002, "AMU_ABI_CS_MAX_SCRATCH_REGS"),
    (0x8000_0003, "AMU_ABI_CS_NUM_SHARED_GPR_USER"),
    (0x8000_0004, "AMU_ABI_CS_NUM_SHARED_GPR_TOTAL"),
    (0x8000_0005, "AMU_ABI_ECS_SETUP_MODE"),
    (0x8000_0006, "AMU_ABI_NUM_THREAD_PER_GROUP"),
    (0x8000_0007, "AMU_ABI_TOTAL_NUM_THREAD_GROUP"),
    (0x8000_0009, "AMU_ABI_MAX_WAVEFRONT_PER_SIMD"),
    (0x8000_000a, "AMU_ABI_NUM_WAVEFRONT_PER_SIMD"),
    (0x8000_000b, "AMU_ABI_IS_MAX_NUM_WAVE_PER_SIMD"),
    (0x8000_000c, "AMU_ABI_SET_BUFFER_FOR_NUM_GROUP"),
    (0x8000_000d, "AMU_ABI_VS_OUTPUT_COUNT"),
    (0x8000_000e, "AMU_ABI_VS_OUTPUT_SPARSE"),
    (0x8000_000f, "AMU_ABI_VS_INPUT_COUNT"),
    (0x8000_001c, "AMU_ABI_NUM_THREAD_PER_GROUP_X"),
    (0x8000_001d, "AMU_ABI_NUM_THREAD_PER_GROUP_Y"),
    (0x8000_001e, "AMU_ABI_NUM_THREAD_PER_GROUP_Z"),
    (0x8000_001f, "AMU_ABI_RAT_OP_IS_USED"),
    (0x8000_0020, "AMU_ABI_RAT_ATOMIC_OP_IS_USED"),
    (0x8000_0021, "AMU_ABI_GLOBAL_RETURN_BUFFER"),
    (0x8000_0022, "AMU_ABI_NUM_GLOBAL_UAV"),
    (0x8000_0023, "AMU_ABI_NUM_GLOBAL_RETURN_BUFFER"),
    (0x8000_0024, "AMU_ABI_GLOBAL_RETURN_BUFFER_SIZE"),
    (0x8000_0025, "AMU_ABI_GLOBAL_RETURN_BUFFER_SIZE_SHORT"),
    (0x8000_0026, "AMU_ABI_GLOBAL_RETURN_BUFFER_SIZE_BYTE"),
    (0x8000_0027, "AMU_ABI_EXTENDED_CACHING"),
    (0x8000_0078, "AMU_ABI_WAVEFRONT_SIZE"),
    (0x8000_0079, "AMU_ABI_NUM_GPR_AVAIL"),
    (0x8000_0080, "AMU_ABI_NUM_GPR_USED"),
    (0x8000_0081, "AMU_ABI_LDS_SIZE_AVAIL"),
    (0x8000_0082, "AMU_ABI_LDS_SIZE_USED"),
    (0x8000_0083, "AMU_ABI_STACK_SIZE_AVAIL"),
    (0x8000_0084, "AMU_ABI_STACK_SIZE_USED"),
    (0x8000_1000, "AMU_ABI_USER_ELEMENT_COUNT"),
    (0x8000_1041, "AMU_ABI_SI_NUM_VGPRS"),
    (0x8000_1042, "AMU_ABI_SI_NUM_SGPRS"),
    (0x8000_1043, "AMU_ABI_SI_FLOAT_MODE"),
    (0x8000_1044, "AMU_ABI_SI_IEEE_MODE"),
    (0x8000_1045, "AMU_ABI_SI_SCRATCH_SIZE"),
    (0x8000_1046, "AMU_ABI_POS_FLOAT_LOCATION"),
    (0x8000_1047, "AMU_ABI_EXPORT_PATCH_CODE_SIZE"),
    (0x8000_1840, "AMU_ABI_DX9_TEX_CUBE_MASK"),
    (0x8000_1841, "AMU_ABI_ORDERED_APPEND_ENABLE"),
    (0x8000_1842, "AMU_ABI_SI_VGPR_COMP_CNT"),
    (0x8000_1863, "AMU_ABI_SI_NUM_SGPRS_AVAIL"),
    (0x8000_1864, "AMU_ABI_SI_NUM_VGPRS_AVAIL"),
];

/// Rows of equal pairs of ATI_PROGINFO: first number, count, name before the number in the row.
static PROGRAM_INFO_ROWS: &[(u32, u32, &str)] = &[
    (0x8000_0010, 12, "AMU_ABI_SET_BUFFER_FOR_UAV_RET_BUFFER"),
    (0x8000_0030, 12, "AMU_ABI_OFFSET_TO_UAV"),
    (0x8000_0040, 12, "AMU_ABI_UNCACHED_FETCH_CONST_UAV"),
    (0x8000_0050, 12, "AMU_ABI_CACHED_FETCH_CONST_UAV"),
    (0x8000_0060, 8, "AMU_ABI_GLOBAL_RETURN_FETCH_CONST"),
    (0x8000_0070, 8, "AMU_ABI_GLOBAL_RETURN_BUFFER_TYPE"),
    (0x8000_0090, 12, "AMU_ABI_CACHED_FETCH_CONST64_UAV"),
    (0x8000_00a0, 12, "AMU_ABI_CACHED_FETCH_CONST128_UAV"),
    (0x8000_1048, 8, "AMU_ABI_EXPORT_PATCH_OFFSET_"),
    (0x8000_1800, 32, "AMU_ABI_VS_IN_SEMANTICS_"),
    (0x8000_1820, 32, "AMU_ABI_VS_OUT_SEMANTICS_"),
    (0x8000_1843, 32, "AMU_ABI_UAV_RESOURCE_MASK_"),
];

/// First number of the pairs that describe user data, and the number of elements. Each has four pairs.
pub(crate) const USER_ELEMENTS: (u32, u32) = (0x8000_1001, 16);

/// First number of the code that patches exports: eight exports, ten formats, four words each.
const EXPORT_PATCH: (u32, u32) = (0x8000_1100, 320);

/// Returns the name of a pair of the note ATI_PROGINFO.
pub fn program_info_name(number: u32) -> Option<String> {
    let within = |(first, count): (u32, u32)| number.checked_sub(first).filter(|&index| index < count);
    if let Some(name) = named(PROGRAM_INFO, number) {
        return Some(name.to_owned());
    }
    if let Some(index) = within((USER_ELEMENTS.0, 4 * USER_ELEMENTS.1)) {
        return Some(format!("AMU_ABI_USER_ELEMENTS_{}_DWORD{}", index / 4, index % 4));
    }
    if let Some(index) = within(EXPORT_PATCH) {
        let (export, format, word) = (index / 40, index / 4 % 10, index % 4);
        return Some(format!("AMU_ABI_EXPORT_PATCH_CODE_EXPORT{export}_FMT{format}_DWORD{word}"));
    }
    let (index, name) = PROGRAM_INFO_ROWS.iter().find_map(|row| Some((within((row.0, row.1))?, row.2)))?;
    Some(format!("{name}{index}"))
}
