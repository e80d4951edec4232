//! Whole relocatable objects, byte for byte as LLVM's assembler writes them.
//!
//! `data/NAME.s` begins with a line `// llvm-mc-19 -mcpu=gfx906 ...`; `data/NAME.o` is what that command made of it.
//! `KERNC_BLESS=1 cargo test -p kernc-asm --test asm objects::` records anew where LLVM is installed.

use std::path::{Path, PathBuf};

fn sources() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let entries = std::fs::read_dir(dir).expect("data").map(|entry| entry.expect("an entry").path());
    let mut list: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ext| ext == "s")).collect();
    list.sort();
    assert!(!list.is_empty());
    list
}

/// Tool and arguments of the first line.
fn command(source: &str) -> (&str, Vec<&str>) {
    let line =
        source.lines().next().and_then(|line| line.strip_prefix("// ")).expect("a command in the first line");
    let mut words = line.split_whitespace();
    (words.next().expect("a tool"), words.collect())
}

fn options(tool: &str, args: &[&str]) -> asm::Options {
    // What LLVM 19 writes if nobody says a version.
    let version = (tool == "llvm-mc-19").then_some(5);
    let mut options = asm::Options { kind: asm::Kind::Relocatable, version, ..asm::Options::default() };
    for arg in args {
        if let Some(cpu) = arg.strip_prefix("-mcpu=") {
            options.target = Some(isa::Target::by_name(cpu).expect("a known processor"));
        } else if let Some(version) = arg.strip_prefix("--amdhsa-code-object-version=") {
            options.version = Some(version.parse().expect("a number"));
        } else if let Some(features) = arg.strip_prefix("-mattr=") {
            for feature in features.split(',') {
                let on = feature.starts_with('+');
                match &feature[1..] {
                    "xnack" => options.xnack = Some(on),
                    "sramecc" => options.sramecc = Some(on),
                    "wavefrontsize64" => options.wave64 = on,
                    "wavefrontsize32" => options.wave64 = !on,
                    "cumode" => options.cumode = on,
                    other => panic!("unknown feature {other}"),
                }
            }
        }
    }
    options
}

#[test]
fn recorded_objects() {
    let mut wrong = Vec::new();
    for path in sources() {
        let source = std::fs::read_to_string(&path).expect("readable");
        let (tool, args) = command(&source);
        let recorded = path.with_extension("o");
        if std::env::var_os("KERNC_BLESS").is_some()
            && let Some(path_of_tool) = crate::common::tool(tool, "recording of objects")
        {
            let object = crate::common::llvm_mc(&path_of_tool, &args, &source)
                .unwrap_or_else(|error| panic!("{path:?}: {error}"));
            std::fs::write(&recorded, object).expect("writable");
        }
        let expected = std::fs::read(&recorded).expect("a recorded object");
        match asm::assemble(&source, &options(tool, &args)) {
            Ok(object) if object == expected => {}
            Ok(object) => wrong.push(format!("{}: {}", path.display(), difference(&object, &expected))),
            Err(list) => wrong.push(asm::render(&list, &path.display().to_string(), &source, false)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn difference(object: &[u8], expected: &[u8]) -> String {
    for name in [".text", ".rodata", ".data", ".note"] {
        let (ours, theirs) = (crate::common::section(object, name), crate::common::section(expected, name));
        if let Some(at) = ours.iter().zip(theirs).position(|(a, b)| a != b) {
            let end = |bytes: &[u8]| format!("{:02x?}", &bytes[at..bytes.len().min(at + 16)]);
            return format!("{name} differs at {at:#x}: {} instead of {}", end(ours), end(theirs));
        }
        if ours.len() != theirs.len() {
            return format!("{name} has {} bytes instead of {}", ours.len(), theirs.len());
        }
    }
    "symbols, relocations or headers differ".into()
}

/// What is recorded is what LLVM says today.
#[test]
fn records_are_current() {
    for path in sources() {
        let source = std::fs::read_to_string(&path).expect("readable");
        let (tool, args) = command(&source);
        let Some(tool) = crate::common::tool(tool, "records_are_current") else { return };
        let object =
            crate::common::llvm_mc(&tool, &args, &source).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        assert!(object == std::fs::read(path.with_extension("o")).expect("recorded"), "{path:?}");
    }
}

/// A linker would have to know what it is relative to: `ld.lld` does not.
#[test]
fn relocations_without_a_symbol_are_for_relocatable_objects() {
    let target = isa::Target::by_name("gfx906");
    for section in [".text", ".section .debug_x,\"\",@progbits"] {
        for kind in ["ABS32", "ABS64", "REL32", "GOTPCREL"] {
            let source = format!("{section}\n.quad 0\n.reloc 0, R_AMDGPU_{kind}, 4\n");
            let options = |kind| asm::Options { target, kind, ..asm::Options::default() };
            assert!(asm::assemble(&source, &options(asm::Kind::Relocatable)).is_ok(), "{source}");
            assert!(asm::assemble(&source, &options(asm::Kind::Loadable)).is_err(), "{source}");
        }
    }
}
