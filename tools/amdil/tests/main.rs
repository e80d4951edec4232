//! Integration tests of this package, in one executable: a file is a module, `cargo test --test amdil FILE::`
//! runs one.

#![allow(missing_docs)]

mod buffers;
mod damaged;
mod examples;
mod generated;
mod page;
mod programs;
mod wrong;
