//! Integration tests of this package, in one executable: a file is a module, `cargo test --test link FILE::` runs one.

#![allow(missing_docs)]

mod beyond;
mod clang;
mod common;
mod generated;
mod hostile;
mod lld;
mod stack;
