//! Good programs with a few slips: a token left out, twice, exchanged, misspelt; a line left out. There are fewer messages
//! than slips, no program gets more than three a slip, and none makes the frontend panic.
//!
//! `KERNC_SLIPS=100000` is the long run; `KERNC_SLIPS_SHOW=N` prints program N and its messages.

use frontend::Severity;
use std::path::Path;
use support::Random;

/// Messages that a slip may bring.
const MOST: usize = 3;

/// What other languages have.
const FOREIGN: &[&str] = &[
    "int",
    "float",
    "void",
    "const",
    "auto",
    "return",
    "=>",
    "::",
    "->",
    ";",
    ")",
    "}",
    "(",
    "{",
    "&&",
    "++",
    "*",
    "&",
    "'",
    "\"",
    "threadIdx",
    "__global",
    "def",
    "var",
    "let",
    "if",
    "else",
    "for",
    "kernel",
    "f32",
    "as",
    "0",
    "1.5",
];

fn seeds() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut list = Vec::new();
    for folder in ["examples", "tests/data/run"] {
        for entry in std::fs::read_dir(root.join(folder)).expect("part of the repository") {
            let path = entry.expect("readable").path();
            if path.extension().is_some_and(|ending| ending == "k") {
                let text = std::fs::read_to_string(&path).expect("readable");
                let name = path.file_name().expect("a file").to_string_lossy().into_owned();
                list.push((name, text));
            }
        }
    }
    list.sort();
    // What needs other files or a processor is not for the frontend alone.
    list.retain(|(_, text)| messages(text).is_empty());
    assert!(list.len() > 40, "only {} programs", list.len());
    list
}

/// The mistakes that are told.
fn messages(source: &str) -> Vec<String> {
    let options = frontend::Options { fp_contract: true, ..Default::default() };
    match frontend::compile("slip.k", source, &options) {
        Ok(_) => Vec::new(),
        Err(list) => {
            let mistakes = list.list.iter().filter(|one| one.severity == Severity::Error);
            mistakes.map(|one| one.message.clone()).collect()
        }
    }
}

/// Words, numbers, operators, and what is between them.
fn pieces(text: &str) -> Vec<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut list: Vec<String> = Vec::new();
    let mut last = ' ';
    for c in text.chars() {
        let joined =
            is_word(c) && is_word(last) || "=&|<>-:.".contains(c) && c == last || last == '-' && c == '>';
        match list.last_mut() {
            Some(piece) if joined => piece.push(c),
            _ => list.push(c.into()),
        }
        last = c;
    }
    list
}

/// Makes a slip at a piece that is not blank and in no comment.
fn slip(pieces: &mut [String], random: &mut Random) {
    let at = loop {
        let at = random.below(pieces.len());
        let line = pieces[..at].iter().rposition(|piece| piece.contains('\n')).map_or(0, |start| start + 1);
        let comment = pieces[line..at].windows(2).any(|two| two[0] == "/" && two[1] == "/");
        if !comment && !pieces[at].trim().is_empty() && pieces[at] != "/" {
            break at;
        }
    };
    let other = pieces[random.below(pieces.len())].clone();
    match random.below(8) {
        0 | 1 => pieces[at].clear(),
        2 => pieces[at] = format!("{0} {0}", pieces[at]),
        3 if at + 2 < pieces.len() => pieces.swap(at, at + 2),
        4 => pieces[at] = other,
        5 => pieces[at].push_str(["x", "_", "1", "s"][random.below(4)]),
        6 => pieces[at] = format!(" {} {}", FOREIGN[random.below(FOREIGN.len())], pieces[at]),
        _ => {
            let start = pieces[..at].iter().rposition(|piece| piece == "\n").map_or(0, |start| start + 1);
            let end =
                pieces[at..].iter().position(|piece| piece == "\n").map_or(pieces.len(), |end| at + end);
            // A line with many declarations is many slips.
            if pieces[start..end].iter().filter(|piece| *piece == ":").count() < 3 {
                pieces[start..end].iter_mut().for_each(String::clear);
            }
        }
    }
}

#[test]
fn few_messages_a_slip() {
    let number = |name: &str| std::env::var(name).ok().map(|count| count.parse().expect("a number"));
    let count: u64 = number("KERNC_SLIPS").unwrap_or(1000);
    let shown: Option<u64> = number("KERNC_SLIPS_SHOW");
    let seeds: Vec<(String, Vec<String>)> =
        seeds().into_iter().map(|(name, text)| (name, pieces(&text))).collect();
    let (mut slips, mut told, mut wrong) = (0, 0, Vec::new());
    for number in 0..count {
        let mut random =
            Random::new(0x9e37_79b9_7f4a_7c15 ^ (number + 1).wrapping_mul(0xd134_2543_de82_ef95));
        let (name, text) = &seeds[random.below(seeds.len())];
        let mut changed = text.clone();
        let made = 1 + random.below(3);
        (0..made).for_each(|_| slip(&mut changed, &mut random));
        let source = changed.concat();
        let messages = messages(&source);
        slips += made;
        told += messages.len();
        if shown == Some(number) {
            println!("{source}\n{messages:#?}");
        }
        if messages.len() > MOST * made {
            wrong.push((messages.len(), made, number, name, messages));
        }
    }
    println!("{count} programs, {slips} slips, {told} messages, {} with too many", wrong.len());
    wrong.sort_by_key(|one| std::cmp::Reverse(one.0));
    for (found, made, number, name, messages) in wrong.iter().take(20) {
        println!("{number} ({name}): {found} for {made}: {:?}", &messages[..messages.len().min(8)]);
    }
    // One program in a thousand may: a function whose name is lost leaves calls of another type.
    assert!(
        wrong.len() as u64 * 1000 <= count,
        "{} programs get more than {MOST} messages a slip",
        wrong.len()
    );
    assert!(told <= slips, "more than a message a slip");
}
