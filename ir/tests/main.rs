//! Integration tests of this package, in one executable: a file is a module, `cargo test --test ir FILE::` runs one.

#![allow(missing_docs)]

mod constraints;
mod control_flow;
mod interp;
mod pass_effects;
mod passes_random;
mod tails;
mod text;
mod track;
mod uniformity;
mod uniformity_random;
mod verify;
