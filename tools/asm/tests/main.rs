//! Integration tests of this package, in one executable: a file is a module, `cargo test --test asm FILE::` runs one.

#![allow(missing_docs)]

mod clang;
mod common;
mod descriptors;
mod fuzz;
mod guide;
mod include;
mod inverse;
mod linked;
mod llvm_mc;
mod metadata;
mod no_processor;
mod objects;
mod random_words;
mod refused;
mod register_counts;
mod spellings;
mod systems;
mod vectors;
