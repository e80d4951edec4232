//! Formats of `printf` calls, as the metadata contains them.
//!
//! # Source
//! LLVM's AMDGPU guide (seed 000, line 2384): `ID:N:S[0]:...:S[N-1]:FormatString`. The guide does not say how
//! control characters and colons are escaped; here they are escaped as LLVM 14 and 19 do.

use std::fmt::Write;

/// Escaped characters with their escapes.
const ESCAPES: [(char, &str); 7] = [
    ('\x07', "\\a"),
    ('\x08', "\\b"),
    ('\x0b', "\\v"),
    ('\x0c', "\\f"),
    ('\n', "\\n"),
    ('\r', "\\r"),
    (':', "\\72"),
];

/// Returns the string that the metadata contains for the format of a `printf` call. `number` is the number of
/// the call, and `sizes` has the size of each argument in bytes.
///
/// Backslashes are not escaped, so how a reader understands a backslash depends on the character after it.
/// Formats should not contain backslashes.
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
