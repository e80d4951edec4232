//! Integration tests of this package, in one executable: a file is a module, `cargo test --test isa FILE::` runs one.

#![allow(missing_docs)]

mod clang_objects;
mod common;
mod effects;
mod facts;
mod families;
mod graphics;
mod llvm_agrees;
mod mnemonics;
mod processors;
mod random_words;
mod shrink;
mod unused_sources;
mod vectors;
