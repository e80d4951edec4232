//! Full debug information as others read it: LLVM's verifiers and symbolizer, GNU's readers and GDB, elfutils, pyelftools; that every byte of code has
//! a row; and that nothing else of an object depends on it.

mod elfutils;
mod gnu;
mod lanes;
mod llvm;
mod names;
mod objects;
mod pyelftools;

use kernc::{DebugInfo, Dialect, Dwarf, OptLevel};
use object::{Object, ObjectSection};
use objects::{PROCESSORS, VERSIONS, compile, objects, scratch, sources, tool};

#[test]
fn every_byte_of_code_has_a_row() {
    for judged in objects() {
        let (object, lines) = (judged.object(), judged.lines());
        let functions = object.symbols().iter().filter(|symbol| symbol.kind == 2 && symbol.size > 0);
        for function in functions {
            for address in (function.value..function.value + function.size).step_by(4) {
                assert!(lines.covers(address), "{}: {address:#x}", judged.path);
            }
        }
    }
}

/// What is loaded is the same, whatever is said about it.
#[test]
fn nothing_else_depends_on_it() {
    let loaded = |object: &kernc::CodeObject| {
        let file = object::File::parse(object.bytes()).expect("sound");
        [".text", ".rodata", ".note", ".data", ".dynsym", ".dynamic"].map(|name| {
            let section = file.section_by_name(name);
            section.map(|section| (section.address(), section.data().expect("there").to_vec()))
        })
    };
    for source in sources() {
        for processor in PROCESSORS {
            for level in [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3] {
                let plain = compile(&source, processor, level, (DebugInfo::None, Dwarf::default()));
                for dialect in [Dialect::Standard, Dialect::Heterogeneous] {
                    let dwarf = Dwarf { dialect, embed_source: true, names: true, ..Dwarf::default() };
                    let full = compile(&source, processor, level, (DebugInfo::Full, dwarf));
                    assert!(loaded(&plain) == loaded(&full), "{} {processor} {level:?}", source.name);
                }
            }
        }
    }
}

/// A linker gives it the addresses that our own writer gives it.
#[test]
fn a_linker_gives_the_same() {
    // The last has several files.
    let several = sources().into_iter().rev().take(6);
    for (source, version) in several.flat_map(|source| VERSIONS.map(|version| (source.clone(), version))) {
        let dwarf = Dwarf { version, names: true, ..Dwarf::default() };
        let object = compile(&source, "gfx906", OptLevel::O2, (DebugInfo::Full, dwarf));
        let [own, relocatable, linked] = ["whole.co", "whole.o", "whole-linked.co"].map(scratch);
        std::fs::write(&own, object.bytes()).expect("written");
        std::fs::write(&relocatable, object.relocatable().expect("written")).expect("written");
        let Some(said) = tool("ld.lld-19", &["-shared", &relocatable, "-o", &linked]) else { return };
        assert!(said.good, "{}", said.err);
        let dump = |file: &str| {
            let sections = ["info", "line", "loclists", "loc", "rnglists", "ranges", "names", "addr"];
            let args = sections.map(|section| format!("--debug-{section}"));
            let args: Vec<&str> = args.iter().map(String::as_str).chain([file]).collect();
            // Where a linker puts texts is its own business.
            let shown = |line: &str| match line.trim().strip_prefix("String: ") {
                Some(text) => text.split_once(' ').map_or(text, |text| text.1).to_owned(),
                None => line.to_owned(),
            };
            Some(tool("llvm-dwarfdump-19", &args)?.out.lines().skip(1).map(shown).collect::<Vec<_>>())
        };
        assert!(dump(&own) == dump(&linked), "{} {version:?}", source.name);
    }
}
