//! Integration tests of this package, in one executable: a file is a module, `cargo test --test dwarf FILE::` runs one.

#![allow(missing_docs)]

mod clang;
mod evaluate;
mod frames;
mod names;
