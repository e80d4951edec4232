//! Integration tests of this package, in one executable: a file is a module, `cargo test --test fuzz FILE::` runs one.

#![allow(missing_docs)]

mod followed;
mod lanes;
mod parts;
mod truth;
mod unwind;
