//! Integration tests of this package, in one executable: a file is a module, `cargo test --test litmus FILE::` runs one.

#![allow(missing_docs)]

mod common;
mod cycles;
mod excuses;
mod litmus;
#[path = "../../asm/tests/common/mod.rs"]
mod llvm;
mod llvm_sequences;
mod machine_code;
mod schedules;
