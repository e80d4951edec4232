//! Files that a source includes with `.include` and `.incbin`.
//!
//! All texts share one numbering of positions: the source begins at 0, and each included text comes after the
//! texts before it. So a position in any text is a single number. It is converted to a file and an offset
//! only when an error is reported.

use std::ops::Range;
use std::sync::Arc;

/// File that a loader has found.
#[derive(Clone, Debug)]
pub struct File {
    /// Name of the file. It is used in messages, and to find the files that this file includes.
    pub name: String,
    /// Contents of the file.
    pub bytes: Vec<u8>,
}

/// Finds files. The library itself opens no files.
pub trait Loader {
    /// Returns the file that a source names `name`. `from` is the name of the included file in which the
    /// directive is, or `None` for the source itself.
    ///
    /// # Errors
    /// Returns the reason why there is no such file, as the end of a sentence.
    fn load(&self, name: &str, from: Option<&str>) -> Result<File, String>;
}

/// Included text to which an error refers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Included {
    /// Name of the file.
    pub name: String,
    /// Text of the file.
    pub text: String,
    /// File that includes this file; `None` for the source.
    pub includer: Option<Arc<Included>>,
    /// Offset of the `.include` in the text of that file.
    pub at: usize,
}

/// Texts by position.
#[derive(Default)]
pub(crate) struct Texts {
    list: Vec<Text>,
    /// Position at which the next text begins.
    end: usize,
}

struct Text {
    begin: usize,
    included: Option<Arc<Included>>,
}

impl Texts {
    /// Adds the source itself, at position 0.
    pub fn begin(&mut self, source: &str) {
        self.list = vec![Text { begin: 0, included: None }];
        self.end = source.len() + 1;
    }

    /// Adds a text that is included by the statement at position `place`. Returns the position at which the
    /// text begins.
    pub fn add(&mut self, name: &str, text: &str, place: usize) -> usize {
        let (includer, at) = self.locate(place);
        let included = Included { name: name.to_owned(), text: text.to_owned(), includer, at };
        let begin = self.end;
        self.list.push(Text { begin, included: Some(Arc::new(included)) });
        self.end = begin + text.len() + 1;
        begin
    }

    /// Returns the text that contains a position, and the offset in that text.
    pub fn locate(&self, place: usize) -> (Option<Arc<Included>>, usize) {
        let after = self.list.partition_point(|text| text.begin <= place);
        match after.checked_sub(1).and_then(|n| self.list.get(n)) {
            Some(text) => (text.included.clone(), place - text.begin),
            None => (None, place),
        }
    }

    /// Returns the text to which a range of positions belongs, and the range as offsets in that text.
    pub fn locate_range(&self, range: Range<usize>) -> (Option<Arc<Included>>, Range<usize>) {
        let (text, start) = self.locate(range.start);
        (text, start..start + range.len())
    }
}
