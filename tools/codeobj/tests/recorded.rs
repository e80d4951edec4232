//! Recorded objects and their text, without foreign tools. `KERNC_BLESS=1` rewrites the expected text; that it assembles
//! to the object is `llvm_agrees`' to say.

#![allow(missing_docs)]

use crate::common::RECORDED;
use codeobj::{CodeObject, Value, disasm, inspect, yaml};
use std::path::Path;

fn compare(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file);
    if std::env::var_os("KERNC_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    for (n, (expected, found)) in expected.lines().zip(text.lines()).enumerate() {
        assert_eq!(found, expected, "{file}:{}", n + 1);
    }
    assert_eq!(text.lines().count(), expected.lines().count(), "{file}");
}

#[test]
fn disassembly() {
    for (name, bytes) in RECORDED {
        let object = CodeObject::parse(bytes).unwrap();
        let options = disasm::Options { lines: true, raw: true, ..Default::default() };
        compare(&format!("{name}.s"), &disasm::disassemble(&object, &options).unwrap());
    }
}

#[test]
fn inspection() {
    for (name, bytes) in RECORDED {
        let object = CodeObject::parse(bytes).unwrap();
        compare(&format!("{name}.txt"), &inspect::text(&object, name, None));
    }
}

/// The JSON says what the text says: every number and name of it that a program would ask for.
#[test]
fn json_has_the_kernels() {
    let (name, bytes) = RECORDED[0];
    let object = CodeObject::parse(bytes).unwrap();
    let tree = inspect::json(&object, name, None);
    let kernels = tree.get("kernels").unwrap().items();
    let names: Vec<_> = kernels.iter().map(|kernel| kernel.get("name").unwrap().as_str().unwrap()).collect();
    assert_eq!(names, ["a", "b"]);
    let descriptor = kernels[0].get("descriptor").unwrap();
    assert_eq!(descriptor.get("group_segment_fixed_size"), Some(&Value::Uint(256)));
    assert_eq!(descriptor.get("enable_sgpr_kernarg_segment_ptr"), Some(&Value::Bool(true)));
    assert_eq!(kernels[0].get("entry").unwrap().as_str(), Some("a"));
    assert_eq!(tree.get("header").unwrap().get("code_object_version"), Some(&Value::Uint(5)));
}

/// The YAML of V2 is the same tree in JSON as the MessagePack of later versions.
#[test]
fn json_has_the_metadata_of_v2() {
    let (name, bytes) = RECORDED.iter().find(|(name, _)| *name == "saxpy.gfx803.14v2.co").unwrap();
    let tree = inspect::json(&CodeObject::parse(bytes).unwrap(), name, None);
    let notes = tree.get("notes").unwrap().items();
    let metadata = notes.iter().find(|note| note.get("type") == Some(&Value::Uint(10))).unwrap();
    let metadata = metadata.get("value").unwrap();
    assert_eq!(metadata.get("Version").unwrap().items(), [Value::Uint(1), Value::Uint(0)]);
    let kernel = &metadata.get("Kernels").unwrap().items()[0];
    assert_eq!(kernel.get("SymbolName").unwrap().as_str(), Some("saxpy@kd"));
    assert_eq!(kernel.get("Language").unwrap().as_str(), Some("OpenCL C"));
    let arguments = kernel.get("Args").unwrap().items();
    assert_eq!(arguments.len(), 4);
    assert_eq!(arguments[0].get("TypeName").unwrap().as_str(), Some("float*"));
    assert_eq!(arguments[0].get("Size"), Some(&Value::Uint(8)));
    assert_eq!(arguments[0].get("IsConst"), Some(&Value::Bool(true)));
    assert_eq!(kernel.get("CodeProps").unwrap().get("NumSGPRs"), Some(&Value::Uint(9)));
    // A kernel may be called like a number, and a text that is no YAML stays a text.
    let named = yaml::v2_metadata("Kernels:\n  - Name: '12'\n").unwrap();
    assert_eq!(named.get("Kernels").unwrap().items()[0].get("Name").unwrap().as_str(), Some("12"));
    assert_eq!(yaml::v2_metadata("a: [1, 2"), None);
}

/// A processor given by the caller wins over the header's.
#[test]
fn another_processor() {
    let (_, bytes) = RECORDED[4];
    let object = CodeObject::parse(bytes).unwrap();
    let target = isa::Target::by_name("gfx900");
    let text = disasm::disassemble(&object, &disasm::Options { target, ..Default::default() }).unwrap();
    assert!(text.contains("--gfx900"), "{text}");
    // gfx900 has no `v_fmac_f32`.
    assert!(text.contains(".long 0x76"), "{text}");
    assert!(!text.contains("v_fmac_f32"), "{text}");
}

/// What is no code object gets one sentence.
#[test]
fn other_files() {
    let parse = |bytes: &[u8]| CodeObject::parse(bytes).err().map(|error| error.to_string());
    assert_eq!(parse(b"").as_deref(), Some("not an ELF file"));
    assert_eq!(parse(b"#!/bin/sh").as_deref(), Some("not an ELF file"));
    assert_eq!(parse(b"\x7fELF\x02\x01\x01").as_deref(), Some("not an ELF file"));
    assert!(parse(b"\x7fELF\x01\x01\x01").unwrap().starts_with("a 32-bit ELF file"));
    // The header that LLVM 14 and 19 write for cayman: an ELF32, machine 224, flags 15.
    let mut cayman = [0; 52];
    cayman[..7].copy_from_slice(b"\x7fELF\x01\x01\x01");
    (cayman[18], cayman[36]) = (224, 15);
    assert_eq!(
        parse(&cayman).as_deref(),
        Some("an object for cayman, whose architecture is r600; kernc reads objects for GFX6 and later")
    );
    let mut bytes = RECORDED[0].1.to_vec();
    bytes[18..20].copy_from_slice(&62u16.to_le_bytes());
    assert!(parse(&bytes).unwrap().starts_with("an ELF file for machine 62"));
    // gfx1100's.
    let mut bytes = RECORDED[0].1.to_vec();
    bytes[48] = 0x41;
    let object = CodeObject::parse(&bytes).unwrap();
    let error = disasm::disassemble(&object, &disasm::Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "it is for gfx1100, which kernc does not decode");
}
