//! A test file: the commands that it runs, and their expected outputs.

use crate::Kind;
use std::fmt;

/// A line `test: ...` or `fails: ...`, for one processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Line of the file, from 1.
    pub line: usize,
    /// Words of the command as in the line, without `--mcpu`, `--only` and their values.
    pub words: Vec<String>,
    /// Value of `--mcpu`, if the line has one.
    pub processor: Option<String>,
    /// Values of `--only`: only output lines that contain one of these texts are compared. If empty, all
    /// lines are.
    pub only: Vec<String>,
    /// Whether the command has to fail.
    pub fails: bool,
}

/// An error in a test file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// Line, from 1.
    pub line: usize,
    /// The error, as a sentence for the user.
    pub message: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.message)
    }
}

impl std::error::Error for FileError {}

/// A parsed test file.
#[derive(Clone, Debug)]
pub struct TestFile {
    kind: Kind,
    /// Text before the expected output.
    source: String,
    /// Cases in the order of their lines; a line has a case per processor.
    cases: Vec<Case>,
    /// Expected output by index of a case.
    expected: Vec<Option<String>>,
}

/// A part of the expected output while it is being parsed.
struct Part {
    cases: Vec<usize>,
    text: String,
}

const EXPECTED: &str = "expected:";

impl TestFile {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// The first line that is not understood.
    pub fn parse(text: &str, kind: Kind) -> Result<TestFile, FileError> {
        let marker = format!("{} {EXPECTED}", kind.comment);
        let end = text.lines().take_while(|line| !line.starts_with(&marker)).count();
        let source: String = text.split_inclusive('\n').take(end).collect();
        let cases = head(&source, kind)?;
        let mut file = TestFile { kind, source, expected: vec![None; cases.len()], cases };
        file.read_expected(text, end)?;
        Ok(file)
    }

    fn read_expected(&mut self, text: &str, skip: usize) -> Result<(), FileError> {
        let mut part: Option<Part> = None;
        for (number, line) in text.lines().enumerate().skip(skip) {
            let error = |message: String| FileError { line: number + 1, message };
            let Some(comment) = line.strip_prefix(self.kind.comment) else {
                if line.trim().is_empty() {
                    continue;
                }
                return Err(error("what follows the expected output must be a comment".to_owned()));
            };
            let content = comment.strip_prefix(' ').unwrap_or(comment);
            if let Some(command) = content.strip_prefix(EXPECTED) {
                self.keep(part.take());
                let mut cases = Vec::new();
                for wanted in parse_cases(command, number + 1, false)? {
                    let case = self.cases.iter().position(|case| case.is(&wanted));
                    cases.push(case.ok_or_else(|| error(format!("no test of this file is `{wanted}`")))?);
                }
                part = Some(Part { cases, text: String::new() });
            } else if let Some(part) = &mut part {
                part.text.push_str(content.trim_end());
                part.text.push('\n');
            }
        }
        self.keep(part);
        Ok(())
    }

    fn keep(&mut self, part: Option<Part>) {
        let Some(part) = part else { return };
        for case in part.cases {
            self.expected[case] = Some(tidy(&part.text));
        }
    }

    /// Returns the cases of the file; none if the file is not a test.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Returns the expected output of a case.
    pub fn expected(&self, case: usize) -> Option<&str> {
        self.expected[case].as_deref()
    }

    /// Returns the text of the file with new expected outputs, one per case. Processors of a line with the
    /// same output share a part.
    pub fn rewritten(&self, outputs: &[String]) -> String {
        let comment = self.kind.comment;
        let mut out = self.source.trim_end().to_owned();
        out.push('\n');
        let mut written = vec![false; self.cases.len()];
        for (n, case) in self.cases.iter().enumerate() {
            if written[n] {
                continue;
            }
            let same = |other: usize| {
                self.cases[other].line == case.line && outputs[other] == outputs[n] && other >= n
            };
            let group: Vec<usize> = (0..self.cases.len()).filter(|&other| same(other)).collect();
            let processors: Vec<&str> =
                group.iter().filter_map(|&other| self.cases[other].processor.as_deref()).collect();
            out.push_str(&format!("\n{comment} {EXPECTED} {}\n", case.text(&processors)));
            for line in outputs[n].lines() {
                out.push_str(format!("{comment} {line}").trim_end());
                out.push('\n');
            }
            group.into_iter().for_each(|other| written[other] = true);
        }
        out
    }
}

impl Case {
    /// Returns whether a part of the expected output with the words of `other` belongs to this case.
    fn is(&self, other: &Case) -> bool {
        (&self.words, &self.processor, &self.only) == (&other.words, &other.processor, &other.only)
    }

    /// Returns the command line for these processors.
    fn text(&self, processors: &[&str]) -> String {
        let mut words: Vec<String> = self.words.iter().map(|word| quoted(word)).collect();
        if !processors.is_empty() {
            words.push(format!("--mcpu {}", processors.join(",")));
        }
        if !self.only.is_empty() {
            words.push(format!("--only {}", quoted(&self.only.join(","))));
        }
        words.join(" ")
    }

    /// Returns the part of an output that is compared: the selected lines, without trailing blanks.
    pub fn filter(&self, output: &str) -> String {
        let counts = |line: &&str| {
            self.only.is_empty() || self.only.iter().any(|wanted| line.contains(wanted.as_str()))
        };
        let lines: Vec<&str> = output.lines().filter(counts).collect();
        tidy(&lines.join("\n"))
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(&self.processor.as_deref().into_iter().collect::<Vec<_>>()))
    }
}

/// Removes blanks at the ends of lines, and empty lines at the end.
fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out
}

/// Parses the directives in the comments at the beginning of a file.
fn head(source: &str, kind: Kind) -> Result<Vec<Case>, FileError> {
    let mut cases: Vec<Case> = Vec::new();
    for (number, line) in source.lines().enumerate() {
        let Some(comment) = line.strip_prefix(kind.comment) else {
            if line.trim().is_empty() {
                continue;
            }
            break;
        };
        let Some((directive, rest)) = directive(comment.trim_start()) else { continue };
        let fails = match directive {
            "test" => false,
            "fails" => true,
            _ if is_slip(directive) => {
                let message = format!("unknown directive `{directive}:`; there are `test:` and `fails:`");
                return Err(FileError { line: number + 1, message });
            }
            // An ordinary comment.
            _ => continue,
        };
        for case in parse_cases(rest, number + 1, fails)? {
            if cases.iter().any(|other| other.is(&case)) {
                return Err(FileError { line: number + 1, message: format!("`{case}` stands here twice") });
            }
            cases.push(case);
        }
    }
    Ok(cases)
}

/// Splits `word: rest`. The word has only small letters and hyphens, so that sentences, which begin with a
/// capital, are not taken for directives.
fn directive(comment: &str) -> Option<(&str, &str)> {
    let (word, rest) = comment.split_once(':')?;
    let plain = !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    (plain && (rest.is_empty() || rest.starts_with(' '))).then_some((word, rest))
}

/// Returns whether a word is probably a misspelt `test` or `fails`: a letter too many, a letter too few, or
/// letters in the wrong order. A word with a different letter is accepted as an ordinary word, such as `text`
/// or `last`.
fn is_slip(word: &str) -> bool {
    let without = |text: &str, at: usize| [&text[..at], &text[at + 1..]].concat();
    let lacks_one = |long: &str, short: &str| (0..long.len()).any(|at| without(long, at) == short);
    let sorted = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.sort_unstable();
        bytes
    };
    ["test", "fails"]
        .iter()
        .any(|known| sorted(word) == sorted(known) || lacks_one(word, known) || lacks_one(known, word))
}

/// Parses a command line into a case per processor that it names.
fn parse_cases(text: &str, line: usize, fails: bool) -> Result<Vec<Case>, FileError> {
    let error = |message: &str| FileError { line, message: message.to_owned() };
    let mut given = split(text).ok_or_else(|| error("a quote is not closed"))?.into_iter();
    let (mut words, mut processors, mut only) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(word) = given.next() {
        let list = match word.as_str() {
            "--mcpu" => &mut processors,
            "--only" => &mut only,
            _ => {
                words.push(word);
                continue;
            }
        };
        let values = given.next().ok_or_else(|| error(&format!("`{word}` needs a value")))?;
        list.extend(values.split(',').filter(|value| !value.is_empty()).map(str::to_owned));
    }
    if words.is_empty() {
        return Err(error("what is to be run?"));
    }
    let case = Case { line, words, processor: None, only, fails };
    if processors.is_empty() {
        return Ok(vec![case]);
    }
    let on = |processor| Case { processor: Some(processor), ..case.clone() };
    Ok(processors.into_iter().map(on).collect())
}

/// Splits a text at blanks that are not inside double quotes; `None` if a quote is not closed.
fn split(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut inside = false;
    for c in text.chars() {
        match c {
            '"' => {
                inside = !inside;
                word.get_or_insert_default();
            }
            c if c.is_whitespace() && !inside => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    (!inside).then_some(words)
}

fn quoted(word: &str) -> String {
    if word.is_empty() || word.contains(char::is_whitespace) {
        format!("\"{word}\"")
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind { extension: "kir", comment: ";" };

    #[test]
    fn a_file_is_read_and_rewritten() {
        let text = "\
; Shows something: it is so.
; test: licm -O2 --mcpu a,b
; fails: run \"a b\" --only x
source

; expected: licm -O2 --mcpu a
; one
;
;   two

; expected: licm -O2 --mcpu b
; other

; expected: run \"a b\" --only x
; bad
";
        let file = TestFile::parse(text, KIND).expect("a test");
        let shown: Vec<String> = file.cases().iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["licm -O2 --mcpu a", "licm -O2 --mcpu b", "run \"a b\" --only x"]);
        assert_eq!(file.expected(0), Some("one\n\n  two"));
        assert_eq!(file.expected(2), Some("bad"));
        assert!(file.cases()[2].fails && !file.cases()[0].fails);
        let outputs: Vec<String> = (0..3).map(|n| file.expected(n).unwrap_or_default().to_owned()).collect();
        assert_eq!(file.rewritten(&outputs), text);
        let agree = ["same", "same", "x"].map(str::to_owned);
        let shared = file.rewritten(&agree);
        assert!(shared.contains("\n; expected: licm -O2 --mcpu a,b\n; same\n\n; expected: run"), "{shared}");
        let again = TestFile::parse(&shared, KIND).expect("a test");
        assert_eq!([again.expected(0), again.expected(1)], [Some("same"); 2]);
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| TestFile::parse(text, KIND).expect_err("an error").to_string();
        assert_eq!(
            error("; A.\n; tets: x\n"),
            "2: unknown directive `tets:`; there are `test:` and `fails:`"
        );
        assert_eq!(error("; test:\n"), "1: what is to be run?");
        assert_eq!(error("; test: a \"b\n"), "1: a quote is not closed");
        assert_eq!(error("; test: a --mcpu\n"), "1: `--mcpu` needs a value");
        assert_eq!(error("; test: a\n; test: a\n"), "2: `a` stands here twice");
        assert_eq!(error("; test: a\n; expected: b\n; x\n"), "2: no test of this file is `b`");
        assert_eq!(
            error("; test: a\n; expected: a\n; x\ny\n"),
            "4: what follows the expected output must be a comment"
        );
        assert_eq!(error("; fail: x\n"), "1: unknown directive `fail:`; there are `test:` and `fails:`");
        // Comments with a colon are not directives.
        let noted = TestFile::parse("; note: x\n; text: y\n; test: a\n; see: z\n", KIND).expect("a test");
        assert_eq!(noted.cases().len(), 1);
        // A directive after the head is not one, and a file without directives has no cases.
        let file = TestFile::parse("; Note: x\nsource\n; tets: x\n", KIND).expect("no test");
        assert!(file.cases().is_empty());
    }

    #[test]
    fn only_some_lines_count() {
        let case = &parse_cases("run --only load,store", 1, false).expect("a case")[0];
        assert_eq!(case.filter("a load  \nadd\nstore\n\n"), "a load\nstore");
    }
}
