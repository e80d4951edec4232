//! The calling convention of functions other than kernels: where arguments and results are passed, and what a
//! call preserves.
//!
//! Three conventions are described, each by a column of facts: that of the AMDGPU guide (seed 000, line
//! 4089), and those of LLVM 14 and LLVM 19, which differ from the guide and, in a few places, from each
//! other. [`column()`] returns the facts of a column, and [`assign`] applies them to a signature.
//!
//! ```
//! use callconv::{Convention, Place, assign, parse};
//!
//! let prototype = parse("fn f(a: f64, b: f64) -> f64").unwrap();
//! let target = isa::Subtarget::by_name("gfx906").unwrap();
//! let assignment = assign(&prototype.types, &prototype.signature(&[]), &target, Convention::Today).unwrap();
//! let second: Vec<Place> = assignment.pieces_of(&assignment.params[1]).iter().map(|piece| piece.place).collect();
//! assert_eq!(second, [Place::Vgpr(2), Place::Vgpr(3)]);
//! ```
//!
//! # How it is known
//! The columns for LLVM were derived from LLVM's output. `tests/interop` runs code of clang together with
//! code that is generated from this table, both as caller and as callee; `tests/llvm` finds in `llc`'s output
//! what such runs do not show. The column for the AMDGPU guide follows the sentences of the guide:
//! `tests/guide.rs` lists them with their lines.
//!
//! # Not here
//! This crate does not lay out frames, spill registers, or choose the functions to call; the compiler does.

mod assign;
mod column;
mod prototype;
mod runs;
mod state;
mod table;
mod types;

pub use assign::{Assignment, Error, Form, How, Language, Param, Passed, Piece, Place, Signature, assign};
pub use column::{
    Column, Convention, Implicit, Inreg, Large, RETURN_ADDRESS, Slots, SretPlace, Structs, column, has_16_bit,
};
pub use prototype::{ParseError, Prototype, parse};
pub use runs::{Run, runs};
pub use state::{
    After, Entry, On, Preserved, Ranges, Source, Stack, State, Subject, Waits, preserved, scratch_descriptor,
    states,
};
pub use table::{Fact, Group, facts};
pub use types::{Kind, Scalar, Space, TypeError, TypeId, Types};
