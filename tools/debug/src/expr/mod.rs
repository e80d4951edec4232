//! Expressions that are typed to be shown, to be watched, or to decide whether a wave stops: `s.b[1]`, `*p + 2`, `$v3 & 0xff`,
//! `i > 2 && i < 5`.
//!
//! One evaluator serves all commands. It runs without a wave, too, for types alone: that is how a condition is checked when it is set.

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

/// Why something cannot be shown.
pub type Problem = String;

/// Whose operators and types an expression has: those of the compile unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// kernc's.
    #[default]
    Kernc,
    /// C's, and those of languages made of it.
    C,
}
