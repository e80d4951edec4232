//! Text tests: a source, the commands to run on it, and their expected outputs, in one file.
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
//! [`TestFile`] reads and rewrites such a file, [`run`] runs many files in parallel, and [`report`] formats
//! the results. A [`Runner`] carries out the commands: `kernc test` has a runner for the commands of `kernc`,
//! and a compiler with a frontend of its own provides another runner. The syntax is in `docs/testing.md`.

mod file;
mod find;
pub mod report;
mod run;

pub use file::{Case, FileError, TestFile};
pub use find::{FindError, find};
pub use run::{Failure, Outcome, Result, Runner, Summary, run};

/// A kind of file: its extension, and its comment marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Extension without the dot.
    pub extension: &'static str,
    /// Marker that begins a comment up to the end of the line.
    pub comment: &'static str,
}

/// The files that `kernc` compiles and assembles.
pub const KINDS: &[Kind] = &[
    Kind { extension: "k", comment: "//" },
    Kind { extension: "kir", comment: ";" },
    Kind { extension: "mir", comment: ";" },
    Kind { extension: "s", comment: ";" },
];
