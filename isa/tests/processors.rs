//! The facts of the table of processors, as LLVM 19's assembler writes them into objects.

use crate::common::llvm;
use isa::{Feature, PROCESSORS, Target};
use std::collections::HashSet;
use std::path::Path;
use support::Tool;

/// The object file that the assembler makes of a text; `None` if it refuses.
fn object(mc: &Path, cpu: &str, extra: &[&str], text: &str) -> Option<Vec<u8>> {
    let output = Tool::new(mc)
        .args(["-triple=amdgcn-amd-amdhsa", "-filetype=obj", &format!("-mcpu={cpu}")])
        .args(extra)
        .input(text)
        .output()
        .expect("the tool starts");
    output.status.success().then_some(output.stdout)
}

/// `compute_pgm_rsrc1` of a kernel that uses that many registers.
fn rsrc1(mc: &Path, target: &Target, extra: &[&str], vgprs: u32, sgprs: u32) -> Option<u32> {
    let accum = if target.has(Feature::UNIFIED_VGPRS) { ".amdhsa_accum_offset 4\n" } else { "" };
    // GFX7 takes FLAT_SCRATCH's SGPRs from the numbered ones; GFX8 and GFX9 have others for it.
    let flat = if target.version.0 == 7 { ".amdhsa_reserve_flat_scratch 0\n" } else { "" };
    // A mark finds the descriptor in the object, whatever its layout.
    let text = format!(
        ".rodata\n.p2align 6\n.ascii \"<descriptor>\"\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr {vgprs}\n\
         .amdhsa_next_free_sgpr {sgprs}\n.amdhsa_reserve_vcc 0\n{flat}{accum}.end_amdhsa_kernel\n"
    );
    let object = object(mc, target.name, extra, &text)?;
    let mark = b"<descriptor>";
    let start = object.windows(mark.len()).position(|window| window == mark)?;
    let word = object.get(start + 64 + 48..start + 64 + 52)?;
    Some(u32::from_le_bytes(word.try_into().ok()?))
}

#[test]
fn elf_machine_numbers() {
    for (tool, missing) in
        [("llvm-mc-19", &[][..]), ("llvm-mc-14", &["gfx940", "gfx941", "gfx942", "gfx1036"])]
    {
        let Some(mc) = llvm::tool(tool, "e_flags of every processor") else { continue };
        for target in PROCESSORS.iter().filter(|target| !missing.contains(&target.name)) {
            for name in target.alternatives.iter().chain([&target.name]) {
                let object = object(&mc, name, &[], "s_nop 0\n").expect("an object");
                assert_eq!(u32::from(object[48]), target.elf_mach, "{name} by {tool}");
            }
        }
    }
}

#[test]
fn register_granules_and_limits() {
    let Some(mc) = llvm::tool("llvm-mc-19", "granules of every processor") else { return };
    for target in &PROCESSORS {
        for lanes in [32, 64] {
            let Some(target) = target.with_wave_size(lanes) else { continue };
            let extra: &[&str] = if lanes == 64 && target.has(Feature::WAVE32) {
                &["-mattr=-wavefrontsize32,+wavefrontsize64"]
            } else {
                &[]
            };
            let vgpr_field = |vgprs| rsrc1(&mc, target, extra, vgprs, 1).map(|word| word & 63);
            let granule = target.vgpr_encoding_granule;
            for count in [1, granule, granule + 1, 37, target.addressable_vgprs.min(256)] {
                assert_eq!(vgpr_field(count), Some(count.div_ceil(granule) - 1), "{} {count}", target.name);
            }
            let sgpr_field = |sgprs| rsrc1(&mc, target, extra, 1, sgprs).map(|word| word >> 6 & 15);
            // LLVM reserves four for the FLAT_SCRATCH that GFX6 does not have, and there is no way to tell
            // it.
            let reserved = if target.version.0 == 6 { 4 } else { 0 };
            let numbered = target.addressable_sgprs - reserved;
            let fixed = target.has(Feature::SGPR_INIT_BUG);
            if target.version.0 == 10 {
                assert_eq!(sgpr_field(numbered), Some(0), "{}", target.name);
            } else if !fixed {
                assert!(sgpr_field(numbered).is_some(), "{}", target.name);
                assert!(sgpr_field(numbered + 1).is_none(), "{}", target.name);
            } else {
                assert_eq!(sgpr_field(1), Some(96 / 8 - 1), "{}", target.name);
            }
        }
    }
}

/// One instruction per feature bit that decides about instructions.
#[test]
fn features_are_those_of_the_assembler() {
    let Some(mc) = llvm::tool("llvm-mc-19", "features of every processor") else { return };
    let samples = [
        (Feature::GLOBAL_INSTS, "global_load_dword v0, v[2:3], off"),
        (Feature::DS_128, "ds_read_b128 v[0:3], v0"),
        (Feature::DL_INSTS, "v_fmac_f32 v0, v1, v2"),
        (Feature::THREE_OP_INT, "v_add3_u32 v0, v1, v2, v3"),
        (Feature::SWAP, "v_swap_b32 v0, v1"),
        (Feature::SDWA, "v_exp_f32_sdwa v0, v1 dst_sel:BYTE_0"),
        (Feature::DPP, "v_mov_b32_dpp v0, v1 quad_perm:[0,1,2,3]"),
        (Feature::FMA_MIX, "v_fma_mix_f32 v0, v1, v2, v3"),
        (Feature::MAD_MIX, "v_mad_mix_f32 v0, v1, v2, v3"),
        (Feature::DOT1, "v_dot4_i32_i8 v0, v1, v2, v3"),
        (Feature::DOT2, "v_dot2_i32_i16 v0, v1, v2, v3"),
        (Feature::DOT3, "v_dot8c_i32_i4 v0, v1, v2"),
        (Feature::DOT4, "v_dot2c_i32_i16 v0, v1, v2"),
        (Feature::DOT5, "v_dot2c_f32_f16 v0, v1, v2"),
        (Feature::DOT6, "v_dot4c_i32_i8 v0, v1, v2"),
        (Feature::DOT7, "v_dot4_u32_u8 v0, v1, v2, v3"),
        (Feature::DOT10, "v_dot2_f32_f16 v0, v1, v2, v3"),
        (Feature::MAI, "v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]"),
        (Feature::PK_FMAC_F16, "v_pk_fmac_f16 v0, v1, v2"),
        (Feature::ATOMIC_FADD, "global_atomic_add_f32 v[0:1], v2, off"),
        (Feature::PACKED_F32, "v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]"),
        (Feature::F64_ATOMICS, "global_atomic_add_f64 v[0:1], v[2:3], off"),
        (Feature::ACC_FROM_SGPR, "v_accvgpr_write_b32 a0, s0"),
        (Feature::ROW_NEWBCAST, "v_mov_b32_dpp v0, v1 row_newbcast:1"),
        (Feature::MAD_MAC_F32, "v_mac_f32 v0, v1, v2"),
        (Feature::SCRATCH_NO_ADDRESS, "scratch_load_dword v0, off, off"),
        (Feature::RAY_TRACING, "image_bvh_intersect_ray v[4:7], v[9:19], s[4:7]"),
        (Feature::UNPACKED_D16, "buffer_load_format_d16_xy v[0:1], off, s[0:3], 0"),
        (Feature::SCALAR_STORES, "s_store_dword s0, s[0:1], s3"),
        (Feature::SCALAR_ATOMICS, "s_atomic_add s0, s[0:1], s3"),
        (Feature::DS_SRC2, "ds_add_src2_u32 v0"),
        (Feature::FLAT, "flat_load_dword v0, v[2:3]"),
        (Feature::INTERP, "v_interp_p2_f32 v0, v1, attr0.x"),
        (Feature::INV_2PI, "s_mov_b32 s0, 0.15915494 // not a literal"),
    ];
    for target in &PROCESSORS {
        let lines: Vec<String> = samples.iter().map(|(_, text)| (*text).to_owned()).collect();
        for ((feature, text), words) in samples.iter().zip(llvm::assemble(&mc, target, &lines)) {
            let has = words.is_some_and(|words| !text.contains("not a literal") || words.len() == 1);
            assert_eq!(has, target.has(*feature), "{} {feature:?}", target.name);
        }
    }
}

#[test]
fn names_and_numbers_are_unique() {
    let names: Vec<_> = PROCESSORS
        .iter()
        .flat_map(|target| target.alternatives.iter().copied().chain([target.name]))
        .collect();
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
    assert_eq!(
        PROCESSORS.iter().map(|target| target.elf_mach).collect::<HashSet<_>>().len(),
        PROCESSORS.len()
    );
    for (number, target) in PROCESSORS.iter().enumerate() {
        assert_eq!(usize::from(target.number), number);
        assert_eq!(Target::by_name(target.name), Some(target));
        assert_eq!(Target::by_elf_mach(target.elf_mach), Some(target));
        let (major, minor, stepping) = target.version;
        assert_eq!(target.name, format!("gfx{major}{minor}{stepping:x}"));
    }
}
