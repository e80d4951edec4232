//! Integration tests of this package, in one executable: a file is a module, `cargo test --test callconv FILE::` runs one.

#![allow(missing_docs)]

mod guide;
mod interop;
mod llvm;
mod page;
