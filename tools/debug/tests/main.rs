//! Integration tests of this package, in one executable: a file is a module, `cargo test --test debug FILE::` runs one.

#![allow(missing_docs)]

mod c_types;
mod clang;
mod hostile;
mod unwinding;
