//! Integration tests of this package, in one executable: a file is a module, `cargo test --test regalloc FILE::` runs one.

#![allow(missing_docs)]

mod fuzz;
mod generate;
mod small;
