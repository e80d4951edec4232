//! Machine IR as text, written and read. This is the format of `--stop-after`, `--dump-after` and `.mir`
//! files.
//!
//! The text contains everything that determines the meaning of a [`MachFunc`](crate::MachFunc): applying
//! [`write_function`], [`read_functions`] and [`write_function`] again gives the same text, and passes have
//! the same results for a function that was read as for the original. The text does not preserve how the
//! function stores its data: the numbers of notes, of memory attributes and of tuples, and virtual registers
//! that are never used. The syntax is documented in `docs/machine-ir.md`.

mod cursor;
mod lines;
mod names;
mod operand;
mod parse;
mod print;

pub use cursor::ParseError;
pub use lines::{Part, line_of};
pub use parse::{read_functions, without_functions};
pub use print::{Names, Options, write_function};
