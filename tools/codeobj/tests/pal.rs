//! Objects for AMDPAL that LLVM makes of functions of every calling convention: `disasm` writes text that gives the
//! same file again, and `inspect` shows the pipeline.

use crate::common::have;
use codeobj::{CodeObject, Value, disasm, inspect};
use std::path::Path;
use support::Tool;

const PROCESSORS: [&str; 9] =
    ["gfx600", "gfx602", "gfx701", "gfx803", "gfx900", "gfx90a", "gfx1010", "gfx1012", "gfx1030"];

/// Shaders of two wave sizes. Metadata of a frontend is added where a test needs it.
const WAVES: &str = "
define amdgpu_ps float @ps(float inreg %x, float %y) #0 {
  %c = fcmp ogt float %x, %y
  %r = select i1 %c, float 1.0, float %y
  ret float %r
}
define amdgpu_cs void @cs(ptr addrspace(1) %p, i32 %x, i32 %y) #1 {
  %c = icmp ugt i32 %x, %y
  %r = select i1 %c, i32 5, i32 %y
  store i32 %r, ptr addrspace(1) %p
  ret void
}
attributes #0 = { \"target-features\"=\"+wavefrontsize64\" }
attributes #1 = { \"target-features\"=\"+wavefrontsize32\" }
";

fn source(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../emit/palmeta/tests/data").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn llc(version: u32, cpu: &str, source: &str) -> Vec<u8> {
    let mut command = Tool::new(format!("llc-{version}"));
    command.args(["-mtriple=amdgcn--amdpal", "-filetype=obj", "-o", "-", &format!("-mcpu={cpu}")]);
    if version == 14 {
        command.arg("--opaque-pointers");
    }
    let output = command.input(source).output().expect("llc");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn llvm_mc(version: u32, cpu: &str, text: &str) -> Vec<u8> {
    let mut command = Tool::new(format!("llvm-mc-{version}"));
    command.args(["-triple=amdgcn--amdpal", "-filetype=obj", "-o", "-", &format!("-mcpu={cpu}")]);
    if text.contains("+wavefrontsize64") {
        command.arg("-mattr=+wavefrontsize64,-wavefrontsize32");
    }
    let output = command.input(text).output().expect("llvm-mc");
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn listing(bytes: &[u8]) -> String {
    let object = CodeObject::parse(bytes).expect("an object");
    disasm::disassemble(&object, &disasm::Options::default()).expect("a processor")
}

fn assemble(text: &str) -> Vec<u8> {
    let wave64 = text.contains("+wavefrontsize64");
    let options = asm::Options { kind: asm::Kind::Relocatable, wave64, ..asm::Options::default() };
    asm::assemble(text, &options).unwrap_or_else(|list| panic!("{}", asm::render(&list, "text", text, false)))
}

fn section<'data>(bytes: &'data [u8], name: &str) -> &'data [u8] {
    let object = CodeObject::parse(bytes).expect("an object");
    object.section(name).map_or(&[], |section| section.data)
}

#[test]
fn objects_of_llc_come_back() {
    for version in [14, 19] {
        let tools = [format!("llc-{version}"), format!("llvm-mc-{version}")];
        if !have(&[&tools[0], &tools[1]], "pal::objects_of_llc_come_back") {
            continue;
        }
        for cpu in PROCESSORS {
            for name in ["shaders.ll", "compute.ll", "kernel.ll", "user_data.ll"] {
                let made = llc(version, cpu, &source(name));
                let text = listing(&made);
                assert!(text.contains("\t.amdgpu_pal_metadata\n"), "{text}");
                let again = assemble(&text);
                // LLVM 14 writes `.note` in front of `.note.GNU-stack`.
                assert!(version == 14 || again == made, "{name} {cpu}:\n{text}");
                let theirs = llvm_mc(version, cpu, &text);
                for part in [".text", ".rodata", ".note", ".rel.text"] {
                    let what = format!("{part} of {name} {cpu} by LLVM {version}");
                    assert!(section(&again, part) == section(&made, part), "{what}:\n{text}");
                    assert!(section(&theirs, part) == section(&made, part), "{what} by llvm-mc:\n{text}");
                }
            }
        }
    }
}

/// The registers, not a kernel descriptor, say the wave size of a shader.
#[test]
fn the_metadata_says_the_wave_size() {
    if !have(&["llc-19"], "pal::the_metadata_says_the_wave_size") {
        return;
    }
    for cpu in ["gfx1010", "gfx1030"] {
        let made = llc(19, cpu, WAVES);
        let text = listing(&made);
        // Stages come in PAL's order, so the file is read for the pixel shader's 64 lanes.
        assert!(text.contains("; wavefronts of 64 lanes: assemble with -mattr=+wavefrontsize64"), "{text}");
        assert!(text.contains("\tv_cmp_ngt_f32_e32 vcc, s0, v0\n"), "{text}");
        assert!(text.contains("; v_cmp_le_u32_e32 vcc_lo, v2, v3\n"), "{text}");
        assert!(assemble(&text) == made, "{text}");
        let object = CodeObject::parse(&made).expect("an object");
        let report = inspect::text(&object, "waves", None);
        for wanted in [
            "Kernel ps\n  stage ps, ",
            "  lanes of a wave                                   64\n",
            "Kernel cs\n  stage cs, ",
            "  lanes of a wave                                   32\n",
            "    CS_W32_EN                                       1\n",
        ] {
            assert!(report.contains(wanted), "no {wanted:?}\n{report}");
        }
    }
}

/// Metadata that a frontend gives, as directives: a compute pipeline with user data and findings.
const COMPUTE: &str = "\t.amdgcn_target \"amdgcn-amd-amdpal--gfx900\"
\t.text
\t.globl _amdgpu_cs_main
\t.p2align 8
\t.type _amdgpu_cs_main,@function
_amdgpu_cs_main:
\ts_endpgm
\t.size _amdgpu_cs_main, .-_amdgpu_cs_main
\t.amdgpu_pal_metadata
---
amdpal.pipelines:
  - .hardware_stages:
      .cs:
        .entry_point:    somewhere
        .lds_size:       0x200
        .scratch_memory_size: 0x40
        .sgpr_count:     0x12
        .vgpr_count:     0x7
        .wavefront_size: 0x40
    .internal_pipeline_hash:
      - 0x123456789abcdef
      - 0x2
    .name:           saxpy
    .registers:
      '0x2e07 (COMPUTE_NUM_THREAD_X)': 0x40
      '0x2e12 (COMPUTE_PGM_RSRC1)': 0xaf0081
      '0x2e13 (COMPUTE_PGM_RSRC2)': 0xa0
      '0x2e40 (COMPUTE_USER_DATA_0)': 0x10000000
      '0x2e42 (COMPUTE_USER_DATA_2)': 0
      '0x2e4c (COMPUTE_USER_DATA_12)': 0x10000002
    .shaders:
      .compute:
        .api_shader_hash:
          - 0x1
          - 0
        .hardware_mapping:
          - .cs
    .type:           Cs
    .unheard:        true
amdpal.version:
  - 0x2
  - 0x6
...
\t.end_amdgpu_pal_metadata
";

/// An object with a pipeline and a listing, for other tests.
pub fn object() -> Vec<u8> {
    assemble(&format!("{COMPUTE}\t.section .AMDGPU.disasm,\"\",@progbits\n\t.ascii \"s_endpgm\\n\"\n"))
}

#[test]
fn a_pipeline_is_shown() {
    let made = assemble(COMPUTE);
    assert!(listing(&made).ends_with(&COMPUTE[COMPUTE.find("\t.amdgpu_pal").expect("a block")..]));
    let object = CodeObject::parse(&made).expect("an object");
    let report = inspect::text(&object, "compute", None);
    for wanted in [
        "\nPipeline\n  version of the metadata                           2.6\n",
        "  internal_pipeline_hash                            0x123456789abcdef, 2\n",
        "  name                                              saxpy\n",
        "\nKernel _amdgpu_cs_main\n  stage cs, 4 bytes at 0x0 in .text\n",
        "  lds_size                                          512\n",
        "  scratch_memory_size                               64\n",
        "  vgpr_count                                        7\n",
        "  user SGPR 0                                       GlobalTable\n",
        "  user SGPR 2                                       entry 0\n",
        "  user SGPR 12                                      SpillTable\n",
        "  COMPUTE_PGM_RSRC1                                 0x00af0081  (0x2e12)\n    VGPRS                                           1\n",
        "    USER_SGPR                                       16\n",
        "\nFindings in the metadata\n  amdpal.pipelines[0].unheard: the key is not known; the entry is kept\n",
    ] {
        assert!(report.contains(wanted), "no {wanted:?}\n{report}");
    }
    let tree = inspect::json(&object, "compute", None);
    let kernel = &tree.get("kernels").expect("kernels").items()[0];
    assert_eq!(kernel.get("name").and_then(Value::as_str), Some("_amdgpu_cs_main"));
    assert_eq!(kernel.get("wave_size"), Some(&Value::Uint(64)));
    assert_eq!(kernel.get("user_data").map(|list| list.items().len()), Some(3));
    let pipeline = tree.get("pipeline").expect("a pipeline");
    let registers = pipeline.get("registers").expect("registers").items();
    assert_eq!(registers.len(), 6);
    assert_eq!(registers[2].get("name").and_then(Value::as_str), Some("COMPUTE_PGM_RSRC2"));
    assert_eq!(registers[2].get("fields").and_then(|it| it.get("USER_SGPR")), Some(&Value::Uint(16)));
    assert_eq!(pipeline.get("findings").map(|list| list.items().len()), Some(1));
}

#[test]
fn the_older_note_is_shown_and_comes_back() {
    let text = "\t.amdgcn_target \"amdgcn-amd-amdpal--gfx803\"\n\t.text\n\ts_endpgm\n\n\
                \t.amd_amdgpu_pal_metadata 0x2e12,0xaf0081,0x2e13,0xa0,0x1000002e,0x12,0x1000004a,0x40,0x1000ffff,0x3\n";
    let made = assemble(text);
    let again = listing(&made);
    assert!(again.ends_with(&text[text.find("\n\t.amd_amdgpu").expect("a line")..]), "{again}");
    assert!(assemble(&again) == made);
    let report = inspect::text(&CodeObject::parse(&made).expect("an object"), "older", None);
    for wanted in [
        "    CsScratchByteSize = 0x00000040  (0x1000004a)\n",
        "  scratch_memory_size                               64\n",
        "  sgpr_count                                        18\n",
        "  unknown 0x1000ffff                                0x3\n",
        "    USER_SGPR                                       16\n",
    ] {
        assert!(report.contains(wanted), "no {wanted:?}\n{report}");
    }
}

/// Metadata in a form that LLVM does not write stays as it is: bytes.
#[test]
fn unusual_notes_are_bytes() {
    let note = |contents: &str| {
        format!(
            "\t.amdgcn_target \"amdgcn-amd-amdpal--gfx900\"\n\t.section .note,\"\",@note\n\t.p2align 2\n{contents}\n"
        )
    };
    // A pipeline without registers; twelve bytes of pairs, which are one pair and a half.
    let empty = ".long 7, 19, 32\n.ascii \"AMDGPU\\0\\0\"\n.byte 0x81, 0xb0\n.ascii \"amdpal.pipelines\"\n.byte 0x90, 0";
    let odd = ".long 4, 12, 12\n.ascii \"AMD\\0\"\n.long 1, 2, 3";
    for contents in [empty, odd] {
        let made = assemble(&note(contents));
        let text = listing(&made);
        assert!(text.contains("; as bytes: directives cannot say it\n\t.section .note,\"\",@note"), "{text}");
        assert!(section(&assemble(&text), ".note") == section(&made, ".note"), "{text}");
    }
    let made = assemble(&note(odd));
    let report = inspect::text(&CodeObject::parse(&made).expect("an object"), "odd", None);
    assert!(
        report.contains("NT_AMD_PAL_METADATA, 12 bytes: damaged: byte 8: a pair has eight bytes"),
        "{report}"
    );
}
