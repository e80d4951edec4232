//! A compiler's code is right: whatever is reported of it is a false alarm. `KERNC_FULL=1` checks all processors at all
//! levels of optimisation.

use crate::clang::{compile, kernels, twin, variants};
use std::path::Path;

#[test]
fn nothing_is_reported_of_clangs_code() {
    let Some(clang) = crate::clang::clang("reports on clang's code") else { return };
    let mut text = String::new();
    let (mut objects, mut instructions) = (0, 0);
    for variant in variants() {
        for name in kernels() {
            let bytes = twin(&clang, &name, variant);
            let object = codeobj::CodeObject::parse(&bytes).expect("clang's object");
            let report = check::object::check(&object, &Default::default()).expect("a known processor");
            objects += 1;
            instructions += report.instructions;
            assert!(report.roots > 0 && report.instructions > 10, "{name} {variant:?}");
            assert!(report.notes.is_empty(), "{name} {variant:?}: {:?}", report.notes);
            if !report.findings.is_empty() {
                text += &check::report::human(&report, &format!("{name} {variant:?}"), false);
            }
        }
    }
    println!("{objects} objects, {instructions} instructions");
    assert!(text.is_empty(), "{text}");
}

/// Functions that call each other by name: calls are followed, and nothing is reported.
#[test]
fn calls_are_followed() {
    let Some(clang) = crate::clang::clang("reports on clang's functions") else { return };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/calls.cl");
    for variant in variants().into_iter().filter(|variant| variant.cpu != "gfx600") {
        let bytes = compile(&clang, &source, variant);
        let object = codeobj::CodeObject::parse(&bytes).expect("clang's object");
        let report = check::object::check(&object, &Default::default()).expect("a known processor");
        assert_eq!(report.roots, 3, "{variant:?}");
        // Without optimisation an address may lie on the stack, in a VGPR's lanes, during another call.
        let most = if variant.level == "-O0" { 1 } else { 0 };
        assert!(report.notes.len() <= most, "{variant:?} {:?}", report.notes);
        assert!(report.findings.is_empty(), "{}", check::report::human(&report, "calls", false));
    }
}
