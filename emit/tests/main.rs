//! Integration tests of this package, in one executable: a file is a module, `cargo test --test emit FILE::`
//! runs one.

#![allow(missing_docs)]

mod islands;
mod objects;
mod systems;
