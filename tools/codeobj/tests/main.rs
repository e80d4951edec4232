//! Integration tests of this package, in one executable: a file is a module, `cargo test --test codeobj FILE::` runs one.

#![allow(missing_docs)]

mod assembles;
mod common;
#[cfg(feature = "containers")]
mod containers;
mod damaged;
mod groups;
mod llvm_agrees;
mod pal;
mod recorded;
mod text_sections;
