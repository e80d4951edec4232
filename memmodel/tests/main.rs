//! Integration tests of this package, in one executable: a file is a module, `cargo test --test memmodel FILE::` runs one.

#![allow(missing_docs)]

mod clauses;
mod coherence;
mod common;
mod document;
mod foreign;
mod hazards;
mod llvm_sequences;
mod processors;
mod random;
mod waits;
