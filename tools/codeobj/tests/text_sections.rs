//! Sections with text: `.AMDGPU.disasm`, which LLVM writes on request.

use crate::common::have;
use codeobj::{CodeObject, Value, disasm, inspect};
use std::path::Path;
use support::Tool;

fn assemble(text: &str) -> Vec<u8> {
    let options = asm::Options { kind: asm::Kind::Relocatable, ..asm::Options::default() };
    asm::assemble(text, &options).unwrap_or_else(|list| panic!("{}", asm::render(&list, "text", text, false)))
}

/// The listing in an object of LLVM is shown, and comes back: the same file, for each system.
#[test]
fn listings_of_llvm() {
    if !have(&["llc-19"], "text_sections::listings_of_llvm") {
        return;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../emit/palmeta/tests/data/kernel.ll");
    for system in ["amdhsa", "mesa3d", "unknown", "amdpal"] {
        let output = Tool::new("llc-19")
            .args([&format!("-mtriple=amdgcn--{system}"), "-mcpu=gfx900", "-mattr=+DumpCode"])
            .args(["-filetype=obj", "-o", "-"])
            .arg(&source)
            .output()
            .expect("llc");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let object = CodeObject::parse(&output.stdout).expect("an object");
        let listing = object.section(".AMDGPU.disasm").expect("a section").data;
        let text = disasm::disassemble(&object, &disasm::Options::default()).expect("a processor");
        // The listing of a kernel begins with its name, or with its first block.
        assert!(text.contains("\t.ascii \"kernel:") || text.contains("\t.ascii \"BB0_0:\\n\"\n"), "{text}");
        let again = assemble(&text);
        let again = CodeObject::parse(&again).expect("an object");
        assert_eq!(again.section(".AMDGPU.disasm").expect("a section").data, listing, "{system}");
        let report = inspect::text(&object, "listing", None);
        let lines = std::str::from_utf8(listing).expect("text").lines();
        let shown: String = lines.map(|line| format!("  {line}\n")).collect();
        assert!(report.contains(&format!("\nText in .AMDGPU.disasm\n{shown}")), "{report}");
        let shown = inspect::json(&object, "listing", None);
        let texts = shown.get("texts").expect("texts").items();
        let shown = texts.first().and_then(|text| text.get("text")).and_then(Value::as_str);
        assert_eq!(shown.map(str::as_bytes), Some(listing));
    }
}

/// Contents that are not text, or that have symbols, are numbers.
#[test]
fn other_contents_stay_numbers() {
    let start = "\t.amdgcn_target \"amdgcn-mesa-mesa3d--gfx900\"\n\ts_endpgm\n";
    let section = "\t.section .AMDGPU.disasm,\"\",@progbits\n";
    for (contents, is_text) in [
        (".ascii \"a \\\"b\\\" \\\\ c\\td\\n\\nlast\"", true),
        (".byte 1, 0x41", false),
        (".byte 0x41, 0xff", false),
        ("name:\n.ascii \"a\"", false),
    ] {
        let made = assemble(&format!("{start}{section}{contents}\n"));
        let object = CodeObject::parse(&made).expect("an object");
        let text = disasm::disassemble(&object, &disasm::Options::default()).expect("a processor");
        assert_eq!(text.contains("\t.ascii"), is_text, "{text}");
        assert!(assemble(&text) == made, "{text}");
    }
}
