//! Objects and archives linked here and by `ld.lld`: every loaded section at its address with its contents, both symbol tables,
//! dynamic tables and relocations; what `ld.lld` refuses is refused, too, in our words; and `ld.lld` makes the same of the one
//! object that `--obj` joins.
//!
//! Cases are `tests/data/*.s`: files behind `;--- NAME.s` or `;--- ARCHIVE(NAME.s)` lines, assembled by the assembler whose objects are
//! `llvm-mc`'s.

use crate::common::compare::compare;

#[test]
fn like_lld() {
    let Some(lld_path) = crate::common::tool("ld.lld-19", "like_lld") else { return };
    let cases = crate::common::cases();
    assert!(cases.len() > 10, "{}", cases.len());
    let mut failed = Vec::new();
    for case in &cases {
        let found = compare(&lld_path, case).differences;
        if !found.is_empty() {
            failed.push(format!("{}\n{found}", case.name));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
