//! Programs with one mistake each, as people write them who come from C, CUDA, OpenCL, HIP, GLSL or Rust, or who slip: the
//! first message is about the right line and says what is to be done, and at most one message follows.
//!
//! `tests/data/mistakes/*.txt` holds them, with empty lines between. The line with the mistake ends with `//~` and a text that the
//! message, its labels, notes or help have to hold. Of those in `newcomers.txt` there is no second message. A program whose first line is indented is the body of a kernel with the
//! parameters of [`HEAD`].

use std::path::Path;

const HEAD: &str = "kernel k(a: *global f32, b: *const global f32, o: *global u32, q: *global i32, v: f32x4, n: u32, m: i32, s: f32) {\n";

struct Mistake {
    /// Where it is written down.
    place: String,
    source: String,
    /// The line with the mistake, and what is to be said.
    line: usize,
    wanted: String,
}

fn mistakes() -> Vec<Mistake> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/mistakes");
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .expect("part of the repository")
        .map(|entry| entry.expect("readable").path())
        .collect();
    files.sort();
    let mut list = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).expect("readable");
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let mut at = 1;
        for program in text.split("\n\n") {
            let place = format!("{name}:{at}");
            at += program.matches('\n').count() + 2;
            let program = program.trim_matches('\n');
            let body = program.starts_with("    ");
            let source = if body { format!("{HEAD}{program}\n}}\n") } else { format!("{program}\n") };
            let marked: Vec<_> =
                source.lines().enumerate().filter(|(_, line)| line.contains("//~")).collect();
            let [(line, text)] = marked[..] else { panic!("{place}: one line has a mistake") };
            let wanted = text.split_once("//~").expect("marked").1.trim().to_owned();
            assert!(!wanted.is_empty(), "{place}: what is to be said?");
            let line = line + 1;
            list.push(Mistake { place, source, line, wanted });
        }
    }
    list
}

fn diagnose(source: &str) -> Vec<frontend::Diagnostic> {
    let options = frontend::Options { fp_contract: true, ..Default::default() };
    match frontend::compile("mistake.k", source, &options) {
        Ok(_) => Vec::new(),
        Err(list) => list.list,
    }
}

/// What is wrong with the messages about a mistake.
fn complaint(mistake: &Mistake) -> Option<String> {
    let list = diagnose(&mistake.source);
    let Some(first) = list.first() else { return Some("nothing is told".to_owned()) };
    let start = first.labels.first().map_or(0, |label| label.0.start);
    let line = mistake.source[..start.min(mistake.source.len())].matches('\n').count() + 1;
    let mut said = vec![first.message.clone()];
    said.extend(first.labels.iter().map(|label| label.1.clone()));
    said.extend(first.notes.iter().chain(&first.help).cloned());
    let said = said.join(" | ");
    let wrong = if line != mistake.line {
        format!("is about line {line}, not {}", mistake.line)
    } else if list.len() > if mistake.place.starts_with("newcomers.txt") { 1 } else { 2 } {
        format!("{} messages", list.len())
    } else if !said.contains(&mistake.wanted) {
        format!("does not say `{}`", mistake.wanted)
    } else {
        return None;
    };
    let rest: Vec<&str> = list[1..].iter().take(4).map(|other| other.message.as_str()).collect();
    Some(format!(
        "{wrong}: {} {said}{}{}",
        first.code,
        if rest.is_empty() { "" } else { "\n        then: " },
        rest.join("; ")
    ))
}

#[test]
fn mistakes_are_told_well() {
    let list = mistakes();
    assert!(list.len() >= 300, "only {} mistakes", list.len());
    let mut wrong = Vec::new();
    for mistake in &list {
        if let Some(complaint) = complaint(mistake) {
            wrong.push(format!("{}: {}\n        {complaint}", mistake.place, marked(mistake)));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), list.len(), wrong.join("\n"));
}

/// The source with a change.
fn changed(source: &str, suggestion: &frontend::Suggestion) -> String {
    let frontend::Suggestion { range, replacement, .. } = suggestion;
    format!("{}{replacement}{}", &source[..range.start], &source[range.end..])
}

/// A suggestion that a tool may apply mends the mistake; where something else is wrong with the line as well, it mends its part.
#[test]
fn suggestions_mend_mistakes() {
    let (mut mended, mut parts, mut wrong) = (0, 0, Vec::new());
    for mistake in mistakes() {
        let Some(first) = diagnose(&mistake.source).into_iter().next() else { continue };
        let Some(suggestion) = first.suggestion.filter(|suggestion| suggestion.certain) else {
            continue;
        };
        let source = changed(&mistake.source, &suggestion);
        let rest = diagnose(&source);
        match rest.first() {
            None => mended += 1,
            Some(next) if next.message != first.message || next.labels[0].0.start > first.labels[0].0.end => {
                parts += 1;
            }
            Some(_) => wrong.push(format!("{}: {}", mistake.place, marked(&mistake))),
        }
    }
    assert!(wrong.is_empty(), "still wrong when changed:\n{}", wrong.join("\n"));
    assert!(mended >= 150 && parts * 5 < mended, "{mended} mended, {parts} in part");
}

fn marked(mistake: &Mistake) -> &str {
    mistake.source.lines().nth(mistake.line - 1).expect("a line").trim()
}
