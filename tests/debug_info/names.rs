//! The index of names beside the entries: what a debugger asks it for is all there.

use crate::debug_info::objects::{Judged, Source, compile, objects, tool};
use dwarf::{Die, Names};
use kernc::{DebugInfo, Dialect, Dwarf, OptLevel};
use std::collections::BTreeSet;

/// Objects that have an index.
fn indexed() -> impl Iterator<Item = (&'static Judged, Names)> {
    let of = |judged: &'static Judged| Some((judged, Names::read(&judged.object()).ok()?));
    objects().iter().filter_map(of).filter(|(_, names)| !names.all().is_empty())
}

/// Functions that have code, inlined calls, variables with one address, and types with names (DWARF 5, section 6.1.1.1).
fn belongs(die: &Die) -> bool {
    let is_global =
        matches!(die.get("DW_AT_location"), Some(dwarf::Content::Expression(_))) && die.depth <= 2;
    match &*die.tag {
        "DW_TAG_subprogram" | "DW_TAG_inlined_subroutine" => !die.ranges().is_empty(),
        "DW_TAG_base_type"
        | "DW_TAG_pointer_type"
        | "DW_TAG_structure_type"
        | "DW_TAG_array_type"
        | "DW_TAG_unspecified_type" => die.get("DW_AT_declaration").is_none(),
        "DW_TAG_variable" => is_global,
        _ => false,
    }
}

#[test]
fn what_has_a_name_is_in_the_index() {
    let mut kinds = BTreeSet::new();
    for (judged, names) in indexed() {
        let info = judged.info();
        let wanted = info.entries.iter().filter(|die| belongs(die));
        let mut wanted: Vec<(&str, &str, u64)> =
            wanted.filter_map(|die| Some((info.name_of(die)?, &*die.tag, die.offset))).collect();
        wanted.sort_unstable();
        let found = names.all().iter().map(|named| (&*named.name, &*named.tag, named.entry));
        let mut found: Vec<(&str, &str, u64)> = found.collect();
        found.sort_unstable();
        assert_eq!(found, wanted, "{}", judged.path);
        kinds.extend(names.all().iter().map(|named| named.tag.clone()));
    }
    for kind in ["subprogram", "inlined_subroutine", "base_type", "variable", "array_type"] {
        assert!(kinds.contains(&format!("DW_TAG_{kind}")), "{kind}: {kinds:?}");
    }
}

/// Found by their hashes as LLVM computes them.
#[test]
fn llvm_finds_them_by_hash() {
    for (judged, names) in indexed() {
        let mut texts: Vec<&str> = names.all().iter().map(|named| &*named.name).collect();
        texts.dedup();
        let finds: Vec<String> = texts.iter().map(|text| format!("--find={text}")).collect();
        let args: Vec<&str> = finds.iter().map(String::as_str).chain([&*judged.path]).collect();
        let Some(said) = tool("llvm-dwarfdump-19", &args) else { return };
        let entries = said.out.lines().filter(|line| line.starts_with("0x")).count();
        assert_eq!(entries, names.all().len(), "{}: {}", judged.path, said.out);
    }
}

/// The index of a unit with the heterogeneous extensions names them (seed 000, line 1856), with the version that the unit has. The
/// header is that of DWARF 5, section 6.1.1.4.1.
#[test]
fn the_index_names_the_extensions() {
    for (dialect, size, text) in
        [(Dialect::Standard, 0, &b""[..]), (Dialect::Heterogeneous, 12, b"[llvm:v0.0]\0")]
    {
        let text_of_source = "kernel k(x: *global u32) { x[global_id(0)] = 1; }".to_owned();
        let source = Source { name: "named.k".to_owned(), text: text_of_source };
        let dwarf = Dwarf { dialect, names: true, ..Dwarf::default() };
        let object = compile(&source, "gfx906", OptLevel::O2, (DebugInfo::Full, dwarf));
        let object = codeobj::CodeObject::parse(object.bytes()).expect("sound");
        let data = object.section(".debug_names").expect("an index").data;
        assert_eq!(data[32..36], u32::to_le_bytes(size));
        assert_eq!(&data[36..36 + text.len()], text);
        assert!(Names::read(&object).expect("sound").find("k").len() == 1);
    }
}
