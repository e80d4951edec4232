//! Tests of single memory instructions, written in assembler, on a machine with one wave.

mod addresses;
mod atomics;
mod complete;
mod data_share;
mod formats;
mod hostile;
pub(crate) mod machine;
mod scalars;
mod watched;
