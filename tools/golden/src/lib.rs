//! Text tests: a source, what to run on it, and the output that is expected, in one file.
//!
//! ```text
//! ; What does not change in a loop is computed before it.
//! ; test: licm --mcpu gfx906
//! kernel @k {
//! ...
//! }
//!
//! ; expected: licm --mcpu gfx906
//! ; kernel @k {
//! ; ...
//! ; }
//! ```
//!
//! [`TestFile`] reads and rewrites such a file, [`run`] runs many side by side, [`report`] tells the result. What a
//! command does is the business of a [`Runner`]: `kernc test` has one that runs the commands of `kernc`, and a compiler
//! with a frontend of its own brings its own. The syntax is in `docs/testing.md`.

mod file;
mod find;
pub mod report;
mod run;

pub use file::{Case, FileError, TestFile};
pub use find::{FindError, find};
pub use run::{Failure, Outcome, Result, Runner, Summary, run};

/// A kind of file: its extension, and what begins a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Without the dot.
    pub extension: &'static str,
    /// Begins a comment that goes to the end of the line.
    pub comment: &'static str,
}

/// The files that `kernc` compiles and assembles.
pub const KINDS: &[Kind] = &[
    Kind { extension: "k", comment: "//" },
    Kind { extension: "kir", comment: ";" },
    Kind { extension: "mir", comment: ";" },
    Kind { extension: "s", comment: ";" },
];
