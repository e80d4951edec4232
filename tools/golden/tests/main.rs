//! Integration tests of this package, in one executable: a file is a module, `cargo test --test golden FILE::` runs one.

#![allow(missing_docs)]

mod files;
