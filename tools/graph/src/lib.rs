//! Graphs of compiled code, as graphs of the crate petgraph.
//!
//! * [`Flow`] is the control-flow graph of a machine function.
//! * [`Calls`] is the call graph of a module.
//! * [`verify`] checks the compiler's own graph analyses with the algorithms of petgraph.
//!
//! [`Flow::dot`] and [`Calls::dot`] write the graphs in the language DOT of Graphviz.

mod calls;
mod dot;
mod flow;
mod pressure;
pub mod verify;

pub use calls::{Calls, Member, Resources, Role, Way};
pub use flow::{Block, Edge, Flow};
pub use pressure::Pressure;
