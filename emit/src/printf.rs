//! Formats of `printf` as the metadata has them.
//!
//! # Source
//! seed 000, line 2384: `ID:N:S[0]:...:S[N-1]:FormatString`. What becomes of control characters and colons is not said there: as
//! LLVM 14 and 19 write them.

use std::fmt::Write;

/// The characters that are written otherwise, and how.
const ESCAPES: [(char, &str); 7] = [
    ('\x07', "\\a"),
    ('\x08', "\\b"),
    ('\x0b', "\\v"),
    ('\x0c', "\\f"),
    ('\n', "\\n"),
    ('\r', "\\r"),
    (':', "\\72"),
];

/// The text of call `number`, whose arguments have these sizes in bytes. A backslash stays as it is: what it means depends on
/// what is behind it, so a format had better have none.
pub fn encode(number: u32, sizes: &[u32], format: &str) -> String {
    let mut out = format!("{number}:{}:", sizes.len());
    for size in sizes {
        let _ = write!(out, "{size}:");
    }
    for c in format.chars() {
        match ESCAPES.iter().find(|row| row.0 == c) {
            Some((_, escape)) => out.push_str(escape),
            None => out.push(c),
        }
    }
    out
}
