//! Instruction selection: IR to machine code over virtual registers.
//!
//! * `packed` combines two operations on 16-bit halves of words into one operation on processors with packed
//!   16-bit instructions.
//! * [`prepare`] brings a function into the shape that selection requires: one return, one latch per loop, no
//!   critical edge that carries arguments, divergent loops closed. It also expands operations that no single
//!   instruction computes.
//! * [`select`] plans the control flow (`plan`: where lanes are parked, which branches become jumps, and
//!   which become changes of the `exec` mask), decides for each value whether it is in SGPRs, VGPRs or a lane
//!   mask (`class`), and then walks the blocks backwards and each block bottom-up (`lower`). The walk emits
//!   an instruction only if a later instruction requested its result, so an operation that its user folds
//!   costs nothing. Switches on dense ranges of cases become jump tables (`tables`).
//! * [`legalize`](legalize()) makes sure that the processor can encode every instruction.
//! * [`combine`](combine()) folds instructions that prepare an operand into the users of the operand:
//!   extraction of parts of registers, and reads of other lanes.
//! * [`pack`](pack()) combines two f32 operations into one on processors with packed f32 instructions.
//! * [`schedule`](schedule()) is a separate pass after selection that moves loads up and groups them.
//!
//! This crate does not assign registers, insert waits, resolve hazards, or choose 32-bit encodings (except
//! for instructions with a literal).

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
mod exits_in_loop;
mod expand;
mod float;
mod graph;
mod half;
mod hidden;
mod indirect;
mod known_bits;
mod lane_memory;
mod lds_pairs;
mod legalize;
mod linear_ssa;
mod lower;
mod mask;
mod memory;
mod needs;
mod operands;
mod pack;
mod packed;
mod parked_sets;
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
pub use needs::{ImplicitNeeds, needs};
pub use pack::pack;
pub use prepare::prepare;
pub use shape::{SharedLayout, shared_layout};
