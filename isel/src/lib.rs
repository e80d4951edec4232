//! Instruction selection: IR to machine code over virtual registers.
//!
//! * `packed` takes two operations on halves of words into one on processors with packed 16-bit instructions.
//! * [`prepare`] brings a function into the shape that selection wants: one return, one latch a loop, no
//!   critical edge that carries arguments, divergent loops closed, operations no instruction computes expanded.
//! * [`select`] plans the control flow (`plan`: which lanes wait where, what becomes a jump, what an `exec`
//!   mask), decides for each value between SGPR, VGPR and lane mask (`class`), and then walks the blocks
//!   backwards and each block bottom-up (`lower`): an instruction is only emitted if something below asked for
//!   its result, so what a user folds into itself costs nothing.
//!   Switches on rows of cases become jump tables (`tables`).
//! * [`legalize`](legalize()) sees to it that the processor can encode every instruction.
//! * [`combine`](combine()) takes what prepares an operand into its users: parts of registers, values of other lanes.
//! * [`pack`](pack()) takes two operations into one on processors with packed f32 instructions.
//! * [`schedule`](schedule()) moves loads up and together, a pass of its own behind selection.
//!
//! Not here: register assignment, waits, hazards, 32-bit encodings (but for instructions with a literal).

mod abi;
mod address;
mod alu;
mod aperture;
mod atomic;
mod buffer;
mod call;
mod class;
mod combine;
mod compare;
mod control;
mod convert;
mod divide;
mod emit;
mod exits;
mod expand;
mod float;
mod graph;
mod half;
mod hidden;
mod indirect;
mod known;
mod lane_memory;
mod leaving;
mod legalize;
mod linear_ssa;
mod lower;
mod mask;
mod memory;
mod needs;
mod operands;
mod pack;
mod packed;
mod pairs;
mod parked;
mod pending;
mod plan;
mod prepare;
pub mod roles;
mod rounding;
mod scalar;
mod scalar_memory;
mod schedule;
mod shape;
mod shuffle;
mod signal;
mod tables;
mod tail;
pub mod track;
mod trap;
pub mod verify;
mod wide;

pub use atomic::float_atomics;
pub use call::Callee;
pub use combine::combine;
pub use legalize::legalize;
pub use lower::{Context, Options, Unsupported, schedule, select, select_into};
pub use needs::{Needs, needs};
pub use pack::pack;
pub use prepare::prepare;
pub use shape::{SharedLayout, shared_layout};
