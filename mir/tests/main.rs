//! Integration tests of this package, in one executable: a file is a module, `cargo test --test mir FILE::`
//! runs one.

#![allow(missing_docs)]

mod dump;
mod flow;
mod text;
