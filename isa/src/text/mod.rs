//! Machine IR as text, written and read back: what `--stop-after`, `--dump-after` and `.mir` files use.
//!
//! The text says everything that a [`MachFunc`](crate::MachFunc) means: [`write_function`], [`read_functions`] and
//! [`write_function`] again give the same text, and passes do the same to what was read as to what was written. What the
//! text does not keep is how the function stores it: numbers of notes, of memory attributes and of tuples, and virtual
//! registers that nothing names. The syntax is in `docs/machine-ir.md`.

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
