//! Integration tests of this package, in one executable: a file is a module, `cargo test --test check FILE::` runs one.

#![allow(missing_docs)]

mod calls;
#[path = "common/clang.rs"]
mod clang;
mod clang_objects;
mod common;
mod damaged;
mod deletion;
mod hazards;
mod memory;
mod paths;
mod reasons;
mod speed;
mod tables;
mod waits;
