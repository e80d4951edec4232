//! The calling convention of functions that are no kernels: where arguments and results lie, and what a call leaves as it was.
//!
//! There are columns for what the guide says (seed 000, line 4089) and for what LLVM 14 and LLVM 19 do, which differ from it and in a
//! few places from one another. [`column()`] has the facts of a column, [`assign`] applies them to a signature.
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
//! LLVM's columns were found from its output. `tests/interop` runs code of clang's with code that is made of this table, both as
//! the caller and as the callee; `tests/llvm` reads in `llc`'s output what such runs do not show. The guide's column is its sentences:
//! `tests/guide.rs` has them with their lines.
//!
//! # Not here
//! Frames, spilling, and the choice of what is called: those are the compiler's.

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
    After, Entry, On, Preserved, Ranges, SCRATCH_BUFFER, Source, Stack, State, Subject, Waits, preserved,
    states,
};
pub use table::{Fact, Group, facts};
pub use types::{Kind, Scalar, Space, TypeError, TypeId, Types};
