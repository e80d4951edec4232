//! Integration tests of this package, in one executable: a file is a module, `cargo test --test sim FILE::`
//! runs one.

#![allow(missing_docs)]

mod calls;
mod clang_both;
mod clang_features;
mod clang_kernels;
mod common;
mod deletion;
mod dispatch;
mod every_processor;
mod fidelity;
#[path = "common/harness.rs"]
mod harness;
mod heap;
mod hidden;
mod hostile;
mod lanes;
mod layers;
mod llvm_folds;
mod loading;
mod matrices;
mod meanings;
mod modifiers;
mod older;
mod oracle;
mod passed_on;
mod planted;
mod planted_calls;
mod printf;
mod printf_random;
mod queue;
mod random_bytes;
mod recorded;
mod scalars;
mod strict_clang;
mod threads;
mod transfers;
mod weak_clang;
