//! LLVM's tools judge our bytes: disassembler, assembler, object reader and linker.

mod common;

use common::{KERNELS, compile, have, scratch, section, tool};
use kernc::OptLevel;
use std::path::Path;

const LEVELS: [OptLevel; 2] = [OptLevel::O0, OptLevel::O2];

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Mnemonic and operands with single spaces, without what disassemblers put behind `//`.
fn normal(line: &str) -> String {
    line.split("//").next().unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text we print for a kernel's code.
fn our_text(object: &kernc::CodeObject) -> Vec<String> {
    let bytes = section(object.bytes(), ".text");
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    let mut at = 0;
    let mut out = Vec::new();
    while at < words.len() {
        let (inst, length) = isa::decode(object.target(), &words[at..]).unwrap();
        let mut text = String::new();
        isa::write_inst(object.target(), &inst, None, &mut text);
        out.push(normal(&text));
        at += length;
    }
    out
}

/// What has code that no example has.
const MORE: [&str; 1] = ["jump_table"];

/// Programs and levels.
fn programs() -> impl Iterator<Item = (&'static str, OptLevel)> {
    KERNELS.into_iter().chain(MORE).flat_map(|kernel| LEVELS.map(|level| (kernel, level)))
}

#[test]
fn objdump_reads_our_text() {
    if !have(&["llvm-objdump-19"], "objdump_reads_our_text") {
        return;
    }
    let dir = scratch("objdump");
    for (kernel, level) in programs() {
        let object = compile(kernel, level);
        let file = dir.join(format!("{kernel}.co"));
        std::fs::write(&file, object.bytes()).unwrap();
        let listing = tool("llvm-objdump-19", &["-d", "--mcpu=gfx906", path(&file)]);
        let theirs: Vec<String> = listing.lines().filter(|line| line.starts_with('\t')).map(normal).collect();
        let ours = our_text(&object);
        for (n, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            assert_eq!(ours, theirs, "{kernel} {level:?}, instruction {n}");
        }
        assert_eq!(ours.len(), theirs.len(), "{kernel} {level:?}");
    }
}

#[test]
fn llvm_mc_assembles_our_text_to_our_bytes() {
    if !have(&["llvm-mc-14"], "llvm_mc_assembles_our_text_to_our_bytes") {
        return;
    }
    let dir = scratch("assemble");
    for (kernel, level) in programs() {
        let object = compile(kernel, level);
        let (source, assembled) = (dir.join(format!("{kernel}.s")), dir.join(format!("{kernel}.o")));
        let text = common::source(kernel);
        std::fs::write(&source, object.assembly(Some((kernel, &text))).unwrap()).unwrap();
        tool(
            "llvm-mc-14",
            &[
                "-triple=amdgcn-amd-amdhsa",
                "-mcpu=gfx906",
                "-mattr=-xnack,-sramecc",
                "--amdhsa-code-object-version=3",
                "-filetype=obj",
                path(&source),
                "-o",
                path(&assembled),
            ],
        );
        let theirs = std::fs::read(&assembled).unwrap();
        let ours = object.relocatable().unwrap();
        for name in [".text", ".rodata"] {
            assert!(section(&ours, name) == section(&theirs, name), "{kernel} {level:?}: {name} differs");
        }
    }
}

#[test]
fn readelf_prints_our_metadata() {
    for readelf in ["llvm-readelf-14", "llvm-readelf-19"] {
        if !have(&[readelf], "readelf_prints_our_metadata") {
            continue;
        }
        let dir = scratch(readelf);
        for kernel in KERNELS {
            let object = compile(kernel, OptLevel::O2);
            let file = dir.join(format!("{kernel}.co"));
            std::fs::write(&file, object.bytes()).unwrap();
            let notes = tool(readelf, &["--notes", path(&file)]);
            assert!(notes.contains("NT_AMDGPU_METADATA"), "{readelf}: {notes}");
            assert!(notes.contains(&format!(".symbol:         {kernel}.kd")), "{readelf}: {notes}");
            assert!(!notes.to_lowercase().contains("invalid"), "{readelf}: {notes}");
            // Program headers, dynamic section, hash table and symbols are read without a complaint too.
            tool(readelf, &["-a", path(&file)]);
        }
    }
}

#[test]
fn lld_links_our_objects() {
    if !have(&["ld.lld-19"], "lld_links_our_objects") {
        return;
    }
    let dir = scratch("link");
    for kernel in KERNELS {
        let object = compile(kernel, OptLevel::O2);
        let (input, linked) = (dir.join(format!("{kernel}.o")), dir.join(format!("{kernel}.co")));
        std::fs::write(&input, object.relocatable().unwrap()).unwrap();
        tool("ld.lld-19", &["-shared", path(&input), "-o", path(&linked)]);
        let theirs = std::fs::read(&linked).unwrap();
        // Where the code refers to no variable, the linker has nothing to change in it.
        if object.assembly(None).unwrap().contains("@rel32@") {
            continue;
        }
        assert!(section(object.bytes(), ".text") == section(&theirs, ".text"), "{kernel}");
    }
}
