//! A compiler's code is right: whatever is reported of it is a false alarm. `KERNC_FULL=1` checks all processors at all
//! levels of optimisation.

#[path = "common/clang.rs"]
mod clang;

use clang::{kernels, twin, variants};

#[test]
fn nothing_is_reported_of_clangs_code() {
    let Some(clang) = clang::clang("reports on clang's code") else { return };
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
