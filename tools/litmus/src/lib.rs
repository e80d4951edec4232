//! Litmus tests of the memory model, in machine code.
//!
//! A [`Shape`] says what threads do to variables, with memory orders (`shape`). The table of the guide (`sequences`) says
//! which instructions that takes for a scope, an address space and a processor; `matrix` puts the threads in all places
//! that the scope speaks of; `emit` writes the assembler source; `run` explores every schedule on the emulator's weak
//! memory and compares what came out with what is forbidden. `docs/litmus.md` has the format.
//!
//! The compiler's own table of sequences (`memmodel`) is not used: this one is written from the guide anew.

mod emit;
mod ir;
mod kernels;
mod matrix;
mod run;
mod sequences;
mod shape;

pub use emit::source;
pub use ir::ir;
pub use kernels::{Kernels, Placement};
pub use matrix::{
    Case, Home, Layout, Machine, Scope, Space, cases, coarse_cases, machines, machines_and_waves,
};
pub use run::{MAX_STATES, Verdict, run, run_compiled};
pub use sequences::{Deletion, Operation, Row, Token, What, operations, rows, tokens};
pub use shape::{Change, Condition, Order, ParseError, Semantics, Shape, Statement};
