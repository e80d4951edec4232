//! Litmus tests of the memory model, in machine code.
//!
//! A [`Shape`] says what threads do to variables, with memory orders (module `shape`). LLVM's AMDGPU guide
//! has a table that says which instructions an operation needs for a scope, an address space and a processor
//! (`sequences`). `matrix` places the threads at all distances that the scope covers. `emit` writes the
//! assembler source. `run` explores all schedules in the emulator's weak memory and compares the outcomes
//! with the forbidden ones. `docs/litmus.md` has the format of shapes.
//!
//! [`explain`] shows why the memory model forbids an outcome. `events` lists the events of a shape,
//! `candidate` the executions that have the outcome, and `cycle` finds the cycle that each of these
//! executions has.
//!
//! The compiler's own table of sequences (`memmodel`) is not used. The table here was written from the AMDGPU
//! guide independently, so that each table is a check of the other.

mod candidate;
mod cycle;
mod emit;
mod events;
mod ir;
mod kernels;
mod matrix;
mod relations;
mod run;
mod sequences;
mod shape;

pub use cycle::{Cycle, Explanation, Step, explain};
pub use emit::source;
pub use ir::ir;
pub use kernels::{Kernels, Placement};
pub use matrix::{
    Case, Home, Layout, Machine, Scope, Space, cases, coarse_cases, machines, machines_and_waves,
};
pub use run::{MAX_STATES, Verdict, run, run_compiled};
pub use sequences::{Deletion, Operation, Row, Token, What, operations, rows, tokens};
pub use shape::{Change, Condition, Order, ParseError, Semantics, Shape, Statement};
