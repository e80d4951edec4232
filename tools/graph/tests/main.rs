//! Graphs of compiled programs, and the compiler's graph analyses against petgraph's, on random graphs and on
//! programs.

#![allow(missing_docs)]

mod dot;
mod random;
