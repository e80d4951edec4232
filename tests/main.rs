//! Integration tests of this package, in one executable: a file is a module, `cargo test --test kernc FILE::`
//! runs one.

#![allow(missing_docs)]

mod builder;
mod code_size;
mod common;
mod debug_info;
mod executed;
mod expansions;
mod far;
mod float_atomics;
mod fuzz;
mod global_offset;
#[path = "language/harness.rs"]
mod harness;
mod hidden_arguments;
mod interop;
mod ir_text;
mod kernels;
mod language;
mod library;
mod listings;
mod litmus_compiled;
mod llvm_processors;
mod lock_free;
mod machine_text;
mod math;
#[path = "common/mutants.rs"]
mod mutants;
mod oracle;
mod orders;
mod pal;
mod printf;
mod processor_table;
mod processors;
mod queues;
mod regress;
mod restrict;
mod round_trip;
#[path = "common/run_file.rs"]
mod run_file;
mod seeds;
mod shapes;
mod spills;
mod systems;
mod users;
