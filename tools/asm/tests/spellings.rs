//! Lines that shipped sources have and LLVM takes, beside LLVM: each is refused by both, or becomes the same words.

use crate::common::{options, section, tool};

/// Vector instructions of two sources with all kinds of pairs: scalars and constants are no VGPR for the short form, and what the long
/// form lacks SDWA may have.
fn vector_lines() -> Vec<String> {
    let instructions = [
        "v_cndmask_b32 v1,",
        "v_cndmask_b32_e64 v1,",
        "v_add_co_ci_u32 v1,",
        "v_add_co_ci_u32 v1, vcc_lo,",
        "v_sub_co_ci_u32 v1,",
        "v_subrev_co_ci_u32 v1,",
        "v_addc_co_u32 v1, vcc,",
        "v_add_f32 v1,",
        "v_mac_f32 v1,",
        "v_fmac_f32 v1,",
        "v_add_f16 v1,",
        "v_and_b32 v1,",
        "v_add_u32 v1,",
        "v_lshlrev_b32 v1,",
        "v_mul_u32_u24 v1,",
        "v_ldexp_f16 v1,",
        "v_min_i16 v1,",
        "v_cmp_eq_u32 vcc,",
        "v_cmp_eq_f16 vcc_lo,",
        "v_cmpx_eq_u32",
    ];
    let sources = [
        "0, 1",
        "s0, 1",
        "1, s0",
        "s0, s1",
        "v0, 1",
        "v0, s0",
        "0, 1.0",
        "-v0, 1",
        "sext(v0), v1",
        "|v0|, v1",
        "0, 0x100",
        "0x100, v1",
        "v0, v1",
    ];
    let ends = ["", ", vcc", ", vcc_lo", " clamp"];
    let mut lines = Vec::new();
    for instruction in instructions {
        for source in sources {
            lines.extend(ends.map(|end| format!("{instruction} {source}{end}")));
        }
    }
    lines
}

/// Scalar memory instructions with and without commas and offsets.
fn memory_lines() -> Vec<String> {
    let instructions = [
        "s_load_dword s0, s[2:3]",
        "s_load_dwordx4 s[4:7], s[2:3]",
        "s_buffer_load_dword s0, s[4:7]",
        "s_buffer_load_dwordx2 s[0:1], s[4:7]",
        "s_store_dword s0, s[2:3]",
        "s_buffer_store_dword s0, s[4:7]",
        "s_atomic_add s0, s[2:3]",
        "s_atomic_add_x2 ttmp[2:3], ttmp[14:15]",
        "s_atomic_cmpswap s[0:1], s[2:3]",
        "s_buffer_atomic_swap s0, s[4:7]",
        "s_scratch_load_dword s0, s[2:3]",
        "s_atc_probe 1, s[2:3]",
        "s_dcache_wb",
        "s_memtime s[0:1]",
        "buffer_load_dword v0, off, s[0:3]",
        "global_load_dword v0, v[0:1], off",
        "ds_read_b32 v0, v1",
    ];
    let ends = [
        "",
        ", glc",
        " glc",
        ", 0x10",
        ", 0x10 glc",
        ", 0x10, glc",
        ", s8",
        ", s8, glc",
        ", 0, glc",
        ", glc,",
        ", 0x10, glc,",
        ", 0x10,",
    ];
    instructions.iter().flat_map(|line| ends.map(|end| format!("{line}{end}"))).collect()
}

/// LLVM 14 reads `glc` as a bit and as an offset at once where none is written, which no later version does.
#[test]
fn same_words_as_llvm() {
    let Some(mc) = tool("llvm-mc-19", "same_words_as_llvm") else { return };
    let lines = [vector_lines(), memory_lines()].concat();
    let (mut same, mut wrong) = (0, Vec::new());
    for cpu in ["gfx700", "gfx803", "gfx906", "gfx90a", "gfx1010", "gfx1030"] {
        let all = lines.join("\n") + "\n";
        let cpu_arg = format!("-mcpu={cpu}");
        let args = [cpu_arg.as_str()];
        let errors = crate::common::llvm_mc(&mc, &args, &all).err().unwrap_or_default();
        let refused: Vec<usize> = errors
            .lines()
            .filter(|line| line.contains("error:"))
            .filter_map(|line| line.strip_prefix("<stdin>:")?.split(':').next()?.parse().ok())
            .collect();
        let mut taken = Vec::new();
        for (n, line) in lines.iter().enumerate() {
            let (ours, theirs) = (asm::assemble(line, &options(cpu)), !refused.contains(&(n + 1)));
            match (ours, theirs) {
                (Ok(_), true) => taken.push(line.as_str()),
                (Err(_), false) => {}
                (ours, _) => wrong
                    .push(format!("{cpu}: {line}: {} by us", if ours.is_ok() { "taken" } else { "refused" })),
            }
        }
        let text = taken.join("\n") + "\n";
        let theirs = crate::common::llvm_mc(&mc, &args, &text).expect("LLVM took each");
        let ours = crate::common::assemble(&text, &options(cpu));
        if section(&ours, ".text") != section(&theirs, ".text") {
            wrong.push(format!("{cpu}: other words"));
        }
        same += taken.len();
    }
    assert!(wrong.is_empty(), "{} lines\n{}", wrong.len(), wrong[..wrong.len().min(60)].join("\n"));
    assert!(same > 1000, "{same}");
}

/// `.option.machine_version_*` belongs to V2 alone; later versions have `.amdgcn.gfx_generation_*`, and may define the old names.
#[test]
fn symbols_of_versions() {
    let of_v2 = ".ifndef .option.machine_version_major\n.error \"missing\"\n.endif\n.long .option.machine_version_stepping\n";
    let later = ".ifdef .option.machine_version_major\n.error \"there\"\n.endif\n\
                 .set .option.machine_version_major, .amdgcn.gfx_generation_number\n\
                 .set .option.machine_version_minor, .amdgcn.gfx_generation_minor\n\
                 .set .option.machine_version_stepping, .amdgcn.gfx_generation_stepping\n\
                 .long .option.machine_version_stepping\n";
    let target = isa::Target::by_name("gfx906");
    for version in 2..=6 {
        let options = asm::Options { target, version: Some(version), ..crate::common::options("gfx906") };
        let (right, wrong) = if version == 2 { (of_v2, later) } else { (later, of_v2) };
        assert_eq!(section(&crate::common::assemble(right, &options), ".text"), [6, 0, 0, 0], "V{version}");
        assert!(asm::assemble(wrong, &options).is_err(), "V{version}");
    }
    // Directives of V2 say the version, too.
    let begin = ".hsa_code_object_version 2,1\n.hsa_code_object_isa 9,0,6,\"AMD\",\"AMDGPU\"\n";
    let options = asm::Options { kind: asm::Kind::Relocatable, ..asm::Options::default() };
    let object = crate::common::assemble(&format!("{begin}{of_v2}"), &options);
    assert_eq!(section(&object, ".text"), [6, 0, 0, 0]);
    for (tool_name, version) in
        [("llvm-mc-14", 2), ("llvm-mc-14", 3), ("llvm-mc-14", 4), ("llvm-mc-19", 4), ("llvm-mc-19", 6)]
    {
        let Some(mc) = tool(tool_name, "symbols_of_versions") else { continue };
        let version_arg = format!("--amdhsa-code-object-version={version}");
        let right = if version == 2 { of_v2 } else { later };
        assert!(
            crate::common::llvm_mc(&mc, &["-mcpu=gfx906", &version_arg], right).is_ok(),
            "{tool_name} V{version}"
        );
    }
}
