//! `use "file.k";`: finds the files that a program uses and joins them to one text.  The contents of the
//! files follow one another, so that one byte offset identifies a position in the whole program.

use crate::diag::{Diagnostic, Sink, SourceText, UsedFile};
use crate::lexer::{Span, Tok, Tokens, lex_file};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::hash::BuildHasher;
use std::sync::Arc;

/// A file that `use` has found.
#[derive(Clone, Debug)]
pub struct File {
    /// Name that identifies the file. A program includes a file only once, even if different paths lead to
    /// it. The paths in the file's own `use` items are relative to this name.
    pub name: String,
    /// Contents of the file.
    pub text: String,
}

/// Source of the files that `use "…";` names.
///
/// A map from names to texts can serve as a source. This source generates its only file:
///
/// ```
/// #[derive(Debug)]
/// struct Tables;
///
/// impl frontend::Files for Tables {
///     fn open(&self, path: &str, _from: &str) -> Result<frontend::File, String> {
///         match path {
///             "squares.k" => {
///                 let squares: Vec<String> = (0..4).map(|n: u32| (n * n).to_string()).collect();
///                 let text = format!("const SQUARES: [u32; 4] = [{}];", squares.join(", "));
///                 Ok(frontend::File { name: path.to_owned(), text })
///             }
///             _ => Err("only `squares.k` exists".to_owned()),
///         }
///     }
/// }
///
/// let source = "use \"squares.k\"; kernel k(x: *global u32) { x[0] = SQUARES[3]; }";
/// let options = frontend::Options { files: Some(&Tables), ..frontend::Options::default() };
/// assert!(frontend::compile("k.k", source, &options).is_ok());
/// ```
pub trait Files: Debug + Send + Sync {
    /// Returns the file that `path` refers to in file `from`.
    ///
    /// # Errors
    /// A text for people that says why the file cannot be read.
    fn open(&self, path: &str, from: &str) -> Result<File, String>;
}

/// A map from names to texts serves as a source of files.
impl<S: BuildHasher + Send + Sync> Files for HashMap<String, String, S>
where
    HashMap<String, String, S>: Debug,
{
    fn open(&self, path: &str, from: &str) -> Result<File, String> {
        in_memory(path, from, |name| self.get(name))
    }
}

/// A map from names to texts serves as a source of files.
impl Files for BTreeMap<String, String> {
    fn open(&self, path: &str, from: &str) -> Result<File, String> {
        in_memory(path, from, |name| self.get(name))
    }
}

fn in_memory<'f>(path: &str, from: &str, get: impl Fn(&str) -> Option<&'f String>) -> Result<File, String> {
    let names = [path_next_to(path, from), clean(path)];
    let found = names.iter().find_map(|name| Some((name, get(name)?)));
    let (name, text) = found.ok_or("there is no such file")?;
    Ok(File { name: name.clone(), text: text.clone() })
}

/// Returns the name of the file that `path` means if it stands in the file `from`: `path` is relative to the
/// directory of `from`, unless it begins with `/`.
pub fn path_next_to(path: &str, from: &str) -> String {
    match from.rsplit_once('/') {
        Some((directory, _)) if !path.starts_with('/') => clean(&format!("{directory}/{path}")),
        _ => clean(path),
    }
}

/// Returns the shortest name of the same file: removes `.`, and removes `..` together with the directory
/// before it.
fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match (part, parts.last()) {
            (".", _) => {}
            ("", Some(_)) => {}
            ("..", Some(&last)) if last != ".." && !last.is_empty() => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Reads the files that a file includes with `use`, directly or through other files. Appends their tokens to
/// `tokens`, which already has the tokens of the first file. Returns the joined text of all files, or `None`
/// if the first file includes no other file.
pub(crate) fn gather(
    name: &str,
    text: &str,
    files: Option<&dyn Files>,
    tokens: &mut Tokens,
    sink: &mut Sink,
) -> Option<Arc<SourceText>> {
    if !tokens.kinds.contains(&Tok::Use) {
        return None;
    }
    let mut source = SourceText { name: name.to_owned(), text: text.to_owned(), used: Vec::new() };
    let (mut at, mut depth) = (0, 0i32);
    while at < tokens.kinds.len() {
        match tokens.kinds[at] {
            Tok::LBrace => depth += 1,
            Tok::RBrace => depth -= 1,
            Tok::Eof => depth = 0,
            _ => {}
        }
        if let (Tok::Use, Some(Tok::Str)) = (tokens.kinds[at], tokens.kinds.get(at + 1)) {
            let span = tokens.spans[at + 1];
            match open(&source, span, files) {
                Ok(file) => add(file, &mut source, tokens, sink),
                // A `use` inside a body is an error that the parser reports.
                Err(_) if depth > 0 => {}
                Err(why) => sink.push(
                    Diagnostic::error("E0092", format!("cannot use {}: {why}", span.text(&source.text)))
                        .label(span, "this file"),
                ),
            }
        }
        at += 1;
    }
    Some(Arc::new(source))
}

fn open(source: &SourceText, span: Span, files: Option<&dyn Files>) -> Result<File, String> {
    let quoted = span.text(&source.text);
    let path = &quoted[1..quoted.len() - 1];
    if let Some(standard) = crate::standard::open(path) {
        return standard;
    }
    let files = files.ok_or("no files are given here")?;
    files.open(path, source.file(span.start as usize).0)
}

/// Adds a file unless it has been added.
fn add(file: File, source: &mut SourceText, tokens: &mut Tokens, sink: &mut Sink) {
    let name = clean(&file.name);
    let known = || std::iter::once(&source.name).chain(source.used.iter().map(|used| &used.name));
    if known().any(|other| clean(other) == name) {
        return;
    }
    if source.text.len() + file.text.len() >= crate::MAX_SOURCE {
        if !sink.has_errors() {
            sink.push(Diagnostic::error("E0007", "the files of the program are larger than 256 MiB"));
        }
        return;
    }
    // The line break separates the two files. Otherwise, if the first file does not end in a line break, its
    // last line would continue with the next file.
    source.text.push('\n');
    let start = source.text.len();
    source.text.push_str(&file.text);
    source.used.push(UsedFile { name: file.name, start });
    lex_file(&source.text, start, tokens, sink);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (path, short) in [
            ("./a.k", "a.k"),
            ("x/../a.k", "a.k"),
            ("../../a", "../../a"),
            ("/x//y", "/x/y"),
            ("/../a", "/../a"),
        ] {
            assert_eq!(clean(path), short);
        }
        assert_eq!(path_next_to("b.k", "lib/a.k"), "lib/b.k");
        assert_eq!(path_next_to("../b.k", "lib/a.k"), "b.k");
        assert_eq!(path_next_to("/b.k", "lib/a.k"), "/b.k");
        assert_eq!(path_next_to("b.k", "a.k"), "b.k");
    }
}
