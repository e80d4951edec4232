//! Wrong texts: each case of `tests/data/*.txt` says which lines break which rules.
//!
//! A case begins with `=== RULE@LINE...` and has the text after this. With `kernel` after `===`, the text is
//! put into the block of a kernel, of which it begins at line 5. `<CR>` and `<NUL>` stand for these
//! characters.

use amdil::{Rule, parse, verify};
use std::collections::BTreeMap;

const FILES: [(&str, &str); 4] = [
    ("reader.txt", include_str!("data/reader.txt")),
    ("block.txt", include_str!("data/block.txt")),
    ("arguments.txt", include_str!("data/arguments.txt")),
    ("program.txt", include_str!("data/program.txt")),
];

/// A case: what it is called in messages, the rules with their lines, and the text.
struct Case {
    name: String,
    expected: Vec<(usize, Rule)>,
    text: String,
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut in_kernel = false;
    for (file, text) in FILES {
        for (line, number) in text.lines().zip(1..) {
            let Some(header) = line.strip_prefix("===") else {
                let case = cases.last_mut().expect("a case");
                case.text += &(line.replace("<CR>", "\r").replace("<NUL>", "\0") + "\n");
                continue;
            };
            close(&mut cases, in_kernel);
            let mut expected = Vec::new();
            in_kernel = false;
            for word in header.split_whitespace() {
                match word.split_once('@') {
                    Some((rule, at)) => {
                        let rule = Rule::from_id(rule).unwrap_or_else(|| panic!("{file}:{number}: {rule}"));
                        expected.push((at.parse().expect("a line"), rule));
                    }
                    None => {
                        assert_eq!(word, "kernel", "{file}:{number}");
                        in_kernel = true;
                    }
                }
            }
            let name = format!("{file}:{number}");
            let text = if in_kernel { KERNEL.to_owned() } else { String::new() };
            cases.push(Case { name, expected, text });
        }
        close(&mut cases, in_kernel);
        in_kernel = false;
    }
    cases
}

const KERNEL: &str = ";ARGSTART:__OpenCL_k_kernel\n;version:3:1:111\n;device:tahiti\n;uniqueid:1024\n";

/// Ends the block of the last case if the case is in a block.
fn close(cases: &mut [Case], in_kernel: bool) {
    if let Some(case) = cases.last_mut()
        && in_kernel
    {
        case.text += ";ARGEND:__OpenCL_k_kernel\n";
    }
}

#[test]
fn every_wrong_text_gives_its_lines_and_rules() {
    let cases = cases();
    assert!(cases.len() >= 100, "{} cases", cases.len());
    let mut seen: BTreeMap<Rule, usize> = BTreeMap::new();
    let mut failed = Vec::new();
    for case in &cases {
        let mut found: Vec<_> = match parse(&case.text) {
            Ok(metadata) => {
                assert_eq!(metadata.to_string(), case.text, "{}", case.name);
                verify(&metadata).into_iter().map(|problem| (problem.line, problem.rule)).collect()
            }
            Err(errors) => errors.into_iter().map(|error| (error.line, error.rule)).collect(),
        };
        found.sort_unstable();
        let mut expected = case.expected.clone();
        expected.sort_unstable();
        if found != expected || found.is_empty() {
            failed.push(format!("{}: expected {expected:?}, found {found:?}\n{}", case.name, case.text));
        }
        for (_, rule) in found {
            *seen.entry(rule).or_default() += 1;
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    // These rules cannot be broken in a text of these files; the tests below break them.
    let elsewhere = [Rule::Utf8, Rule::TooManyErrors, Rule::IlLine, Rule::DebugLine, Rule::UnknownKept];
    let missing: Vec<_> =
        Rule::ALL.iter().filter(|rule| !seen.contains_key(rule) && !elsewhere.contains(rule)).collect();
    assert!(missing.is_empty(), "no case breaks {missing:?}");
}

/// A case without its mistake is right: the standard block of the cases breaks no rule.
#[test]
fn the_block_of_the_cases_is_right() {
    let metadata = parse(&format!("{KERNEL};ARGEND:__OpenCL_k_kernel\n")).unwrap();
    assert_eq!(verify(&metadata), []);
}

#[test]
fn errors_say_where_and_what() {
    let text = ";ARGSTART:f\n;value:x:i23:1:1:0\n;uniqeid:7\n;cws:1:2\n;ARGEND:f\n";
    let errors: Vec<_> = parse(text).unwrap_err().iter().map(|error| error.to_string()).collect();
    assert_eq!(
        errors,
        [
            "line 2, column 10: `i23` is not a type of data [data-type]; known are i1, i8, i16, i32, i64, u8, u16, \
             u32, u64, half, float, double, struct, union, event, opaque",
            "line 3, column 2: `;uniqeid` is not a known record [unknown-record]; `;uniqueid` is known",
            "line 4, column 6: the record has 2 fields after its name [field-count]; its form is ;cws:X:Y:Z",
        ]
    );
    let errors = amdil::parse_bytes(b";ARGSTART:f\n;vth:\xff\n").unwrap_err();
    assert_eq!(errors[0].to_string(), "line 2, column 6: the bytes are not UTF-8 [utf-8]");
}

#[test]
fn the_reader_stops_after_a_hundred_errors() {
    let text = format!(";ARGSTART:f\n{};ARGEND:f\n", "x\n".repeat(100_000));
    let errors = parse(&text).unwrap_err();
    assert_eq!(errors.len(), 101);
    assert_eq!((errors[100].line, errors[100].rule), (101, Rule::TooManyErrors));
}

/// Lines that would not come back as what they are can only be made by hand.
#[test]
fn lines_that_read_as_something_else() {
    let line = |text: &str| amdil::Line::new(text).unwrap();
    let items = vec![
        amdil::Item::Il(line("mov r0, r1")),
        amdil::Item::Il(line(";uniqueid:1024")),
        amdil::Item::Debug(vec![line(";.info_begin"), line(";DEBUGEND")]),
    ];
    let found: Vec<_> =
        verify(&amdil::Metadata { items }).iter().map(|problem| (problem.line, problem.rule)).collect();
    assert_eq!(found, [(2, Rule::IlLine), (5, Rule::DebugLine)]);
}

/// Names, lines and numbers are only made of what can be written.
#[test]
fn texts_fit_into_their_places() {
    use amdil::{Format, Line, Name, Values};
    for wrong in ["", "a:b", "a;b", "a\nb", "a\tb", "a\0"] {
        assert_eq!(Name::new(wrong), None, "{wrong:?}");
    }
    assert!(Name::new("struct x").is_some());
    assert_eq!(Line::new("a\nb"), None);
    assert_eq!(Format::new("\x01"), None);
    let format = Format::new("a\tb\n%d").unwrap();
    assert_eq!((format.as_str(), format.length()), ("a\tb\\n%d", 6));
    for wrong in [":", "1:", "1::2", "g", "12345678901234567", "1 2"] {
        assert_eq!(Values::parse(wrong), None, "{wrong:?}");
    }
    assert_eq!(Values::hexadecimal([10, 255]).as_str(), "a:ff");
}
