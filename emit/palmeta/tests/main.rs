//! Integration tests of this package, in one executable: a file is a module, and `cargo test --test palmeta
//! FILE::` runs one file.

#![allow(missing_docs)]

mod common;
mod damaged;
mod fields;
mod llvm;
mod older;
mod text;
mod user_data;
mod verify;
