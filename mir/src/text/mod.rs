//! Writes machine IR as text and reads it. The text is the format of `--stop-after`, `--dump-after` and
//! `.mir` files.
//!
//! The text contains everything that determines the meaning of a [`MachFunc`](crate::MachFunc). If a function
//! is written, read and written again ([`write_function`], [`read_functions`]), both texts are the same.
//! Passes also have the same results for the function that was read as for the original. The text does not
//! preserve how the function stores its data. Notes, memory attributes and tuples may get other numbers, and
//! virtual registers that are never used may be lost. `docs/machine-ir.md` describes the syntax.

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
