//! Files that a source draws in with `.include` and `.incbin`.
//!
//! All texts have one space of positions: the source begins at 0, each included text after those before it. So a place
//! is one number until an error is told, and only then becomes a file and an offset in it.

use std::ops::Range;
use std::sync::Arc;

/// What a loader found.
#[derive(Clone, Debug)]
pub struct File {
    /// Its name for messages, and for finding what it includes itself.
    pub name: String,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// Finds files. The library itself opens none.
pub trait Loader {
    /// The file that a source calls `name`; `from` is the name of the included file that asks, `None` for the source
    /// itself.
    ///
    /// # Errors
    /// Why there is none, as the end of a sentence.
    fn load(&self, name: &str, from: Option<&str>) -> Result<File, String>;
}

/// An included text that an error is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Included {
    /// The file's name.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The included file whose `.include` it was, `None` for the source.
    pub includer: Option<Arc<Included>>,
    /// Where that `.include` stands in its text.
    pub at: usize,
}

/// Texts by position.
#[derive(Default)]
pub(crate) struct Texts {
    list: Vec<Text>,
    /// Where the next text begins.
    end: usize,
}

struct Text {
    begin: usize,
    included: Option<Arc<Included>>,
}

impl Texts {
    /// The source itself, at 0.
    pub fn begin(&mut self, source: &str) {
        self.list = vec![Text { begin: 0, included: None }];
        self.end = source.len() + 1;
    }

    /// Adds a text that the statement at `place` includes; where it begins.
    pub fn add(&mut self, name: &str, text: &str, place: usize) -> usize {
        let (includer, at) = self.locate(place);
        let included = Included { name: name.to_owned(), text: text.to_owned(), includer, at };
        let begin = self.end;
        self.list.push(Text { begin, included: Some(Arc::new(included)) });
        self.end = begin + text.len() + 1;
        begin
    }

    /// The text that a position lies in, and the offset there.
    pub fn locate(&self, place: usize) -> (Option<Arc<Included>>, usize) {
        let after = self.list.partition_point(|text| text.begin <= place);
        match after.checked_sub(1).and_then(|n| self.list.get(n)) {
            Some(text) => (text.included.clone(), place - text.begin),
            None => (None, place),
        }
    }

    /// The same for a range.
    pub fn locate_range(&self, range: Range<usize>) -> (Option<Arc<Included>>, Range<usize>) {
        let (text, start) = self.locate(range.start);
        (text, start..start + range.len())
    }
}
