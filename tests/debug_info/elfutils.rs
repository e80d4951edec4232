//! elfutils: `eu-readelf` and `eu-elflint`.

use crate::debug_info::objects::{objects, paths, tool};

const SECTIONS: [&str; 9] =
    ["info", "abbrev", "line", "decodedline", "loc", "ranges", "str", "addr", "frame"];

#[test]
fn eu_readelf_does_not_complain() {
    let shown = SECTIONS.map(|section| format!("--debug-dump={section}"));
    let args: Vec<&str> = shown.iter().map(String::as_str).chain(paths()).collect();
    let Some(said) = tool("eu-readelf", &args) else { return };
    assert!(said.good && said.err.is_empty(), "{}", said.err);
    // Each has an entry and an abbreviation.
    assert_eq!(said.out.matches("compile_unit").count(), 2 * objects().len());
    for word in ["invalid", "unknown", "???"] {
        assert!(!said.out.contains(word), "{:?}", said.out.lines().find(|line| line.contains(word)));
    }
}

/// It does not know the machine; of sections of debug information it has nothing to say.
#[test]
fn eu_elflint_has_nothing_to_say_of_it() {
    let Some(said) = tool("eu-elflint", &paths()) else { return };
    let of_debug: Vec<&str> = said.out.lines().filter(|line| line.contains(".debug_")).take(10).collect();
    assert!(of_debug.is_empty(), "{of_debug:#?}");
    assert!(said.out.contains("unknown machine type 224"), "it has read them: {}", said.err);
}
