//! Expressions that the user types to display a value, to watch it, or as the condition of a breakpoint:
//! `s.b[1]`, `*p + 2`, `$v3 & 0xff`, `i > 2 && i < 5`.
//!
//! All debugger commands use the same evaluator. Without a stopped wave, the evaluator computes only types.
//! This is used to check the condition of a breakpoint when the user sets the breakpoint.

mod describe;
mod eval;
mod lex;
mod near;
mod number;
mod parse;
mod registers;
mod shown;
#[cfg(test)]
mod tests;
mod types;
mod value;

pub(crate) use eval::Evaluator;
pub(crate) use number::{Kind, Number, Scalar, text as number_text};
pub use shown::{Parts, Shown};
pub(crate) use types::{Ty, Types, View};
pub(crate) use value::{Content, UNDEFINED, Value};

/// Message that says why an expression is wrong or has no value.
pub type Problem = String;

/// Language whose operators and types an expression uses: that of the compile unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// kernc's.
    #[default]
    Kernc,
    /// C, and languages derived from it.
    C,
}
