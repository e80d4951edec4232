//! LLVM 14 and 19 as judges: what their compilers write is read, and written the same.

use crate::common::{Llvm, PROCESSORS, block, data, parse, readelf, tree};
use objwriter::Value;
use palmeta::user_data::{Parameter, layout};
use palmeta::{Metadata, Problem, Spelling, Stage, fields, register};

const SOURCES: [&str; 3] = ["shaders.ll", "compute.ll", "kernel.ll"];

fn spelling(llvm: &Llvm) -> Spelling {
    if llvm.version == 14 { Spelling::Llvm14 } else { Spelling::Llvm19 }
}

#[test]
fn the_text_and_the_note_of_llc_are_written_the_same() {
    for (llvm, _) in Llvm::all("palmeta: llc") {
        for name in SOURCES {
            let what = format!("{name} on {} by LLVM {}", llvm.processor, llvm.version);
            let source = data(name);
            let assembly = llvm.assembly(&source);
            let expected = block(&assembly);
            let from_text = parse(expected);
            assert_eq!(from_text.to_directives(spelling(&llvm)), expected, "{what}");
            let (note, contents) = llvm.note(&source);
            let from_note = tree(note);
            assert_eq!(from_note, from_text, "{what}");
            assert_eq!(from_note.write(), contents, "{what}");
        }
    }
}

#[test]
fn llvm_mc_reads_both_spellings() {
    for (llvm, _) in Llvm::all("palmeta: llvm-mc") {
        let (note, contents) = llvm.note(&data("shaders.ll"));
        let metadata = tree(note);
        for spelling in [Spelling::Llvm14, Spelling::Llvm19] {
            let lines = metadata.to_directives(spelling);
            let (_, again) = llvm.assemble(&lines).unwrap_or_else(|error| panic!("{error}\n{lines}"));
            assert_eq!(again, contents, "{}", llvm.processor);
        }
    }
}

#[test]
fn llvm_readelf_shows_the_names_and_numbers() {
    let Some(llvm) = Llvm::newest("gfx1030", "palmeta: llvm-readelf") else { return };
    let metadata = tree(llvm.note(&data("shaders.ll")).0);
    let shown = readelf(&llvm, &metadata.to_directives(Spelling::Llvm19));
    assert!(shown.contains("NT_AMDGPU_METADATA"), "{shown}");
    let registers: Vec<_> = metadata.registers().collect();
    assert!(registers.len() > 12, "{registers:?}");
    for (number, value) in registers {
        let line = shown.lines().find(|line| line.trim_start().starts_with(&format!("{number}:")));
        assert_eq!(
            line.and_then(|line| line.split_whitespace().nth(1)),
            Some(&*value.to_string()),
            "{shown}"
        );
    }
}

#[test]
fn llvm_writes_only_known_keys() {
    for (llvm, _) in Llvm::all("palmeta: llc") {
        for name in SOURCES {
            let metadata = tree(llvm.note(&data(name)).0);
            // LLVM adds to what a frontend says, and here there is no frontend.
            let found: Vec<_> =
                metadata.verify().into_iter().map(|finding| (finding.path, finding.problem)).collect();
            let missing = ["amdpal.pipelines[0].internal_pipeline_hash", "amdpal.version"];
            assert_eq!(found, missing.map(|path| (path.to_owned(), Problem::Missing)), "{name}");
        }
    }
}

/// Version 3 of the metadata has maps in place of registers. The frontend says the version.
#[test]
fn version_three_is_read_and_written() {
    for processor in ["gfx900", "gfx1010", "gfx1030", "gfx1100"] {
        let Some(llvm) = Llvm::newest(processor, "palmeta: version 3") else { return };
        for name in SOURCES {
            let mut said = Metadata::new();
            said.set_version([3, 0]);
            let source = with_metadata(&data(name), &said);
            let assembly = llvm.assembly(&source);
            let expected = block(&assembly);
            let metadata = parse(expected);
            assert_eq!(metadata.version(), Some([3, 0]));
            assert_eq!(metadata.to_directives(Spelling::Llvm19), expected, "{name} on {processor}");
            let (note, contents) = llvm.note(&source);
            // LLVM adds an empty map of registers only to the text.
            assert_eq!(tree(note).write(), contents, "{name} on {processor}");
            let unknown = metadata.verify().into_iter().filter(|finding| finding.problem != Problem::Missing);
            assert_eq!(unknown.collect::<Vec<_>>(), [], "{name} on {processor}");
            // LLVM leaves `.compute_registers` to the frontend.
            let has_map = metadata.pipeline().is_some_and(|map| map.get(".graphics_registers").is_some());
            assert_eq!(has_map, name == "shaders.ll", "{expected}");
        }
    }
}

/// The metadata of a whole compute pipeline has no findings, and LLVM keeps the metadata as a frontend's.
#[test]
fn llvm_keeps_the_user_data_of_a_compute_pipeline() {
    let parameters = [8, 4, 4, 4, 4, 4, 4, 4, 4, 4].map(|size| Parameter { size, align: size });
    for (processor, version) in PROCESSORS {
        let Some(llvm) = Llvm::newest(processor, "palmeta: user data") else { return };
        let mut said = Metadata::new();
        said.set_version([2, 6]);
        said.set(".type", "Cs".into());
        said.set(".internal_pipeline_hash", Value::Seq(vec![Value::Uint(u64::MAX), Value::Uint(1)]));
        said.set_user_data(&layout(&parameters).expect("a layout"));
        said.set_in_stage(Stage::Cs, ".wavefront_size", Value::Uint(64));
        let set = |name, value| fields::field(Stage::Cs.rsrc2(), name, version).expect(name).set(0, value);
        let rsrc2 = set("USER_SGPR", 16) | set("TGID_X_EN", 1) | set("TIDIG_COMP_CNT", 2);
        said.set_register(Stage::Cs.rsrc2(), rsrc2);
        assert_eq!(said.verify(), []);
        let kept = tree(llvm.note(&with_metadata(&data("user_data.ll"), &said)).0);
        assert_eq!(kept.verify(), [], "{processor}");
        for (number, value) in said.registers() {
            let wanted = if number == Stage::Cs.rsrc2() { rsrc2 | set("SCRATCH_EN", 1) } else { value };
            assert_eq!(kept.register(number), Some(wanted), "{number:#x} on {processor}");
        }
        assert_eq!(kept.stages().collect::<Vec<_>>(), [Stage::Cs]);
        let limit =
            |metadata: &Metadata| metadata.pipeline().and_then(|map| map.get(".user_data_limit")).cloned();
        assert_eq!(limit(&kept), Some(Value::Uint(11)));
        assert_eq!(limit(&said), limit(&kept));
    }
}

/// Returns a module with metadata of a frontend.
pub fn with_metadata(source: &str, metadata: &Metadata) -> String {
    let bytes: String = metadata.write().iter().map(|byte| format!("\\{byte:02x}")).collect();
    format!("{source}\n!amdgpu.pal.metadata.msgpack = !{{!0}}\n!0 = !{{!\"{bytes}\"}}\n")
}

/// LLVM prints the name of a register next to the number: all numbers of the ranges that pipelines use.
#[test]
fn registers_have_the_names_that_llvm_prints() {
    let Some(llvm) = Llvm::newest("gfx900", "palmeta: names of registers") else { return };
    let numbers: Vec<u32> = [0x2c00..0x2f00, 0xa000..0xa400, 0xc200..0xc300].into_iter().flatten().collect();
    let mut metadata = Metadata::new();
    numbers.iter().for_each(|&number| metadata.set_register(number, number & 0xff));
    let lines = metadata.to_directives(Spelling::Llvm19);
    let printed = llvm.print(&lines).expect("a text");
    assert_eq!(block(&printed), lines);
    let named = numbers.iter().filter(|&&number| register::llvm_name(number).is_some()).count();
    assert_eq!(named, 335);
}

#[test]
fn names_and_numbers_of_registers_are_unique() {
    let mut before = None;
    let mut count = 0;
    for (number, name) in register::all() {
        assert!(before < Some(number), "{number:#x}");
        before = Some(number);
        count += 1;
        assert_eq!(register::number(&name.to_string()), Some(number), "{name}");
        assert_eq!(register::name(number), Some(name));
    }
    assert_eq!(count, 335 + 64);
    for wrong in ["COMPUTE_USER_DATA_16", "COMPUTE_USER_DATA_01", "COMPUTE_USER_DATA_", "", "COMPUTE"] {
        assert_eq!(register::number(wrong), None, "{wrong}");
    }
}
