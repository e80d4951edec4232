//! LLVM's tools judge our bytes: disassembler, assembler, object reader and linker.

use crate::common::{KERNELS, compile, have, scratch, section, tool};
use kernc::{CodeObjectVersion, Compiler, Language, OptLevel, Options, Subtarget};
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
const MORE: [&str; 3] = ["jump_table", "printf", "traps"];

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

/// In each version that the assembler knows: code, descriptors, notes, and who may load it.
fn assembles(assembler: &str, versions: std::ops::RangeInclusive<u8>, test: &str) {
    if !have(&[assembler], test) {
        return;
    }
    let dir = scratch(assembler);
    for ((kernel, level), version) in
        programs().flat_map(|program| versions.clone().map(move |v| (program, v)))
    {
        let object = crate::common::compile_version(kernel, level, version, Language::default());
        let (source, assembled) = (dir.join(format!("{kernel}.s")), dir.join(format!("{kernel}.o")));
        let text = crate::common::source(kernel);
        std::fs::write(&source, object.assembly(Some((kernel, &text))).unwrap()).unwrap();
        let number = format!("--amdhsa-code-object-version={version}");
        // The older versions cannot say "either" and mean "off" here.
        let off = if version < 4 { "-mattr=-xnack,-sramecc" } else { "-mattr=" };
        let files = [path(&source), "-o", path(&assembled)];
        let options = ["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx906", off, &number, "-filetype=obj"];
        tool(assembler, &[options.as_slice(), &files].concat());
        let theirs = std::fs::read(&assembled).unwrap();
        let ours = object.relocatable().unwrap();
        // `e_flags` and the ABI version.
        assert_eq!((&ours[48..52], ours[8]), (&theirs[48..52], theirs[8]), "{kernel} V{version}");
        for name in [".text", ".rodata", ".note"] {
            assert!(
                section(&ours, name) == section(&theirs, name),
                "{kernel} {level:?} V{version}: {name} differs"
            );
        }
    }
}

#[test]
fn llvm_14_assembles_our_text_to_our_bytes() {
    assembles("llvm-mc-14", 2..=5, "llvm_14_assembles_our_text_to_our_bytes");
}

#[test]
fn llvm_19_assembles_our_text_to_our_bytes() {
    assembles("llvm-mc-19", 4..=6, "llvm_19_assembles_our_text_to_our_bytes");
}

/// A processor of each other generation, in V4.
#[test]
fn llvm_19_assembles_other_processors_text() {
    if !have(&["llvm-mc-19"], "llvm_19_assembles_other_processors_text") {
        return;
    }
    let dir = scratch("processors");
    for target in ["gfx600", "gfx602", "gfx700", "gfx803", "gfx90a", "gfx1010", "gfx1030"] {
        let subtarget = Subtarget::by_name(target).unwrap().with_version(CodeObjectVersion::V4);
        for (kernel, opt_level) in programs() {
            let text = crate::common::source(kernel);
            let options = Options { opt_level, ..Options::default() };
            let object = Compiler::new(subtarget).compile(&text, &options).unwrap();
            let (source, assembled) = (dir.join(format!("{kernel}.s")), dir.join(format!("{kernel}.o")));
            std::fs::write(&source, object.assembly(Some((kernel, &text))).unwrap()).unwrap();
            let cpu = format!("-mcpu={target}");
            let options =
                ["-triple=amdgcn-amd-amdhsa", &cpu, "--amdhsa-code-object-version=4", "-filetype=obj"];
            tool("llvm-mc-19", &[options.as_slice(), &[path(&source), "-o", path(&assembled)]].concat());
            let (ours, theirs) = (object.relocatable().unwrap(), std::fs::read(&assembled).unwrap());
            assert_eq!((&ours[48..52], ours[8]), (&theirs[48..52], theirs[8]), "{kernel} {target}");
            for name in [".text", ".rodata", ".note"] {
                let same = section(&ours, name) == section(&theirs, name);
                assert!(same, "{kernel} {opt_level:?} {target}: {name} differs");
            }
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
    let dir = scratch("oracle_link");
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
