//! Integration tests of this package, in one executable: a file is a module, `cargo test --test isel FILE::` runs one.

#![allow(missing_docs)]

mod legalize;
mod roles;
mod verify;
