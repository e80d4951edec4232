//! Integration tests of this package, in one executable: a file is a module, `cargo test --test frontend FILE::` runs one.

#![allow(missing_docs)]

mod bad;
mod borders;
mod calls;
mod chains;
mod examples;
mod foreign;
mod functions;
mod garbage;
mod meaning;
mod mistakes;
mod page;
mod reference;
mod slips;
