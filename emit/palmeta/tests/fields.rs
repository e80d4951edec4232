//! Fields of registers, judged by the values that LLVM computes and describes in comments.

use crate::common::{Llvm, PROCESSORS, data, tree};
use palmeta::{Metadata, Stage, fields, register};

/// Every bit that LLVM sets belongs to a field of the generation.
#[test]
fn llvm_sets_only_bits_of_fields() {
    for (llvm, version) in Llvm::all("palmeta: fields") {
        for name in ["shaders.ll", "compute.ll", "kernel.ll"] {
            for (number, value) in tree(llvm.note(&data(name)).0).registers() {
                // LLVM compiles the stages ES and LS for GFX9, too, which has neither.
                let is_merged = version[0] == 9 && matches!(number, 0x2cca | 0x2ccb | 0x2d4a | 0x2d4b);
                // GFX90A has a larger unit of local data and its own third register, which PAL does not know.
                if !is_merged {
                    let rest = fields::uncovered(number, version) & value;
                    assert_eq!(rest, 0, "{number:#x} = {value:#x} on {}, {name}", llvm.processor);
                }
            }
        }
    }
}

/// The comments after a function have the values of some fields.
#[test]
fn fields_have_the_values_that_llvm_describes() {
    let rows = [
        ("SGPRBlocks", "COMPUTE_PGM_RSRC1", "SGPRS"),
        ("VGPRBlocks", "COMPUTE_PGM_RSRC1", "VGPRS"),
        ("FloatMode", "COMPUTE_PGM_RSRC1", "FLOAT_MODE"),
        ("IeeeMode", "COMPUTE_PGM_RSRC1", "IEEE_MODE"),
        ("COMPUTE_PGM_RSRC2:SCRATCH_EN", "COMPUTE_PGM_RSRC2", "SCRATCH_EN"),
        ("COMPUTE_PGM_RSRC2:USER_SGPR", "COMPUTE_PGM_RSRC2", "USER_SGPR"),
        ("COMPUTE_PGM_RSRC2:TRAP_HANDLER", "COMPUTE_PGM_RSRC2", "TRAP_PRESENT"),
        ("COMPUTE_PGM_RSRC2:TGID_X_EN", "COMPUTE_PGM_RSRC2", "TGID_X_EN"),
        ("COMPUTE_PGM_RSRC2:TGID_Y_EN", "COMPUTE_PGM_RSRC2", "TGID_Y_EN"),
        ("COMPUTE_PGM_RSRC2:TGID_Z_EN", "COMPUTE_PGM_RSRC2", "TGID_Z_EN"),
        ("COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT", "COMPUTE_PGM_RSRC2", "TIDIG_COMP_CNT"),
    ];
    let mut values = std::collections::BTreeSet::new();
    for (llvm, version) in Llvm::all("palmeta: fields") {
        for name in ["compute.ll", "kernel.ll"] {
            let source = data(name);
            let (assembly, metadata) = (llvm.assembly(&source), tree(llvm.note(&source).0));
            for (comment, register, field) in rows {
                let described =
                    assembly.lines().find_map(|line| line.strip_prefix(&format!("; {comment}: ")));
                let described: u32 = described.expect(comment).parse().expect("a number");
                let value = value(&metadata, register, field, version);
                // LLVM computes the field from the comment's number, which GFX10 no longer has in the
                // register.
                if !(field == "SGPRS" && version[0] == 10) {
                    assert_eq!(value, described, "{comment} on {}, LLVM {}", llvm.processor, llvm.version);
                }
                values.insert((field, value));
            }
        }
    }
    assert!(values.len() > 2 * rows.len() - 4 || values.is_empty(), "too few values differ: {values:?}");
}

fn value(metadata: &Metadata, register: &str, field: &str, version: [u32; 3]) -> u32 {
    let number = register::number(register).expect("a register");
    let field = fields::field(number, field, version).expect("a field");
    field.get(metadata.register(number).expect("a value"))
}

/// LLVM sets the modes of GFX10 in each stage, at different bits.
#[test]
fn the_modes_of_gfx10_are_in_every_stage() {
    let Some(llvm) = Llvm::newest("gfx1030", "palmeta: modes of GFX10") else { return };
    let metadata = tree(llvm.note(&data("shaders.ll")).0);
    let version = [10, 3, 0];
    for (register, field) in [
        ("SPI_SHADER_PGM_RSRC1_PS", "MEM_ORDERED"),
        ("SPI_SHADER_PGM_RSRC1_VS", "MEM_ORDERED"),
        ("SPI_SHADER_PGM_RSRC1_GS", "MEM_ORDERED"),
        ("SPI_SHADER_PGM_RSRC1_GS", "WGP_MODE"),
        ("SPI_SHADER_PGM_RSRC1_HS", "MEM_ORDERED"),
        ("SPI_SHADER_PGM_RSRC1_HS", "WGP_MODE"),
        ("SPI_PS_IN_CONTROL", "PS_W32_EN"),
        ("VGT_SHADER_STAGES_EN", "HS_W32_EN"),
        ("VGT_SHADER_STAGES_EN", "GS_W32_EN"),
        ("VGT_SHADER_STAGES_EN", "VS_W32_EN"),
    ] {
        assert_eq!(value(&metadata, register, field, version), 1, "{register}.{field}");
    }
    let metadata = tree(llvm.note(&data("compute.ll")).0);
    for (register, field) in [
        ("COMPUTE_PGM_RSRC1", "MEM_ORDERED"),
        ("COMPUTE_PGM_RSRC1", "WGP_MODE"),
        ("COMPUTE_DISPATCH_INITIATOR", "CS_W32_EN"),
    ] {
        assert_eq!(value(&metadata, register, field, version), 1, "{register}.{field}");
    }
    // 384 bytes of local data are a unit of 512 bytes.
    assert_eq!(value(&metadata, "COMPUTE_PGM_RSRC2", "LDS_SIZE", version), 1);
}

/// The fields of a register do not overlap on any generation, and are in the order of the bits.
#[test]
fn fields_do_not_overlap() {
    let mut count = 0;
    for (_, version) in PROCESSORS {
        for (number, name) in register::all() {
            let mut end = 0;
            let mut known: Vec<_> = fields::fields(number, version).collect();
            known.sort_by_key(|field| field.at);
            for field in known {
                assert!(field.at >= end, "{name}.{} on {version:?}", field.name);
                end = field.at + field.width;
                assert!(end <= 32, "{name}.{}", field.name);
                assert_eq!(field.get(field.set(0, u32::MAX)).count_ones(), field.width);
                assert_eq!(field.set(u32::MAX, 0).count_zeros(), field.width);
                count += 1;
            }
        }
    }
    assert!(count > 3000, "{count}");
    assert_eq!(fields::fields(0x2e12, [11, 0, 0]).count(), 0);
    assert_eq!(fields::fields(0x1234, [9, 0, 0]).count(), 0);
}

/// Every stage of every generation has the fields that all stages share.
#[test]
fn every_stage_has_its_registers() {
    for (_, version) in PROCESSORS {
        for stage in Stage::ALL {
            for (register, field) in [(stage.rsrc1(), "VGPRS"), (stage.rsrc2(), "USER_SGPR")] {
                assert!(fields::field(register, field, version).is_some(), "{stage:?} {version:?}");
            }
            let letters = stage.letters().to_uppercase();
            let name = if stage == Stage::Cs { "COMPUTE_PGM_RSRC1" } else { "SPI_SHADER_PGM_RSRC1_" };
            let suffix = if stage == Stage::Cs { "" } else { &letters };
            assert_eq!(register::name(stage.rsrc1()).unwrap().to_string(), format!("{name}{suffix}"));
            assert_eq!(Stage::from_key(stage.key()), Some(stage));
        }
    }
    assert_eq!(register::name(Stage::Cs.user_data(15, 6)).unwrap().to_string(), "COMPUTE_USER_DATA_15");
    assert_eq!(register::name(Stage::Gs.user_data(3, 9)).unwrap().to_string(), "SPI_SHADER_USER_DATA_ES_3");
    assert_eq!(register::name(Stage::Gs.user_data(3, 10)).unwrap().to_string(), "SPI_SHADER_USER_DATA_GS_3");
    assert_eq!(Stage::Cs.entry_point(), "_amdgpu_cs_main");
}
