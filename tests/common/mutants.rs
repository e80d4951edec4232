//! Texts with a few words changed: most of them still parse, and mean something that no pass has written.

use kernc::Error;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use testkit::Rng;

/// How a compilation of a changed text ends: the code of its error, or why it should not end so.
type End = Result<Option<&'static str>, String>;

/// Compiles.
pub fn caught(compile: impl FnOnce() -> Result<(), Error>) -> End {
    match catch_unwind(AssertUnwindSafe(compile)) {
        Ok(Ok(())) => Ok(None),
        Ok(Err(Error::Internal { message })) => Err(message),
        Ok(Err(error)) => {
            assert!(!error.render(false).is_empty());
            Ok(Some(error.code()))
        }
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            Err(format!("panic: {}", text.or(panic.downcast_ref::<&str>().copied()).unwrap_or_default()))
        }
    }
}

/// How many texts ended how.
pub struct Tally {
    ends: BTreeMap<&'static str, u32>,
    failures: Vec<(String, String)>,
}

impl Tally {
    /// Runs as many texts as asked for by `KERNC_MUTANTS`, or a few.
    pub fn run_mutants(few: u64, run: impl Fn(&mut Rng) -> (String, End) + Sync) -> Tally {
        let count = std::env::var("KERNC_MUTANTS").map_or(few, |count| count.parse().expect("a number"));
        let results: Vec<(String, End)> =
            (0..count).into_par_iter().map(|number| run(&mut Rng::new(number + 1))).collect();
        let mut tally = Tally { ends: BTreeMap::new(), failures: Vec::new() };
        for (text, end) in results {
            match end {
                Ok(code) => *tally.ends.entry(code.unwrap_or("compiled")).or_default() += 1,
                Err(why) => tally.failures.push((why, text)),
            }
        }
        tally
    }

    /// Fails if a text ended in a fault, or if all ended alike.
    pub fn judge(self) {
        eprintln!("{:?}", self.ends);
        if let Ok(folder) = std::env::var("KERNC_MUTANTS_TO") {
            for (n, (why, text)) in self.failures.iter().enumerate() {
                std::fs::write(format!("{folder}/{n}.txt"), format!("; {why}\n{text}")).expect("a file");
            }
        }
        if let Some((why, text)) = self.failures.first() {
            panic!("{} texts end in a fault, the first: {why}\n{text}", self.failures.len());
        }
        assert!(self.ends.len() > 2 && self.ends.contains_key("compiled"), "{:?}", self.ends);
    }
}

/// A text in pieces that are changed as a whole: words, and what is between them.
pub struct Seed {
    /// Words and single other characters, in order; a word is what `is_word` takes.
    pieces: Vec<String>,
    /// The pieces that are words.
    words: Vec<usize>,
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

impl Seed {
    pub fn new(text: &str) -> Seed {
        let mut pieces: Vec<String> = Vec::new();
        let mut in_word = false;
        for c in text.chars() {
            match pieces.last_mut() {
                Some(last) if in_word && is_word(c) => last.push(c),
                _ => pieces.push(c.into()),
            }
            in_word = is_word(c);
        }
        let words = (0..pieces.len()).filter(|&n| pieces[n].starts_with(is_word)).collect();
        Seed { pieces, words }
    }

    /// A copy with one to three changes. `vocabulary` has words that the text need not have.
    pub fn mutate(&self, rng: &mut Rng, vocabulary: &[&str]) -> String {
        let mut pieces = self.pieces.clone();
        for _ in 0..1 + rng.below(3) * rng.below(2) {
            let at = self.words[rng.below(self.words.len() as u32) as usize];
            let other = self.words[rng.below(self.words.len() as u32) as usize];
            match rng.below(12) {
                0 => pieces.swap(at, other),
                1 => pieces[at] = vocabulary[rng.below(vocabulary.len() as u32) as usize].to_owned(),
                2 => pieces[at].clear(),
                3 | 4 => line(&mut pieces, at, other, rng),
                5..8 => alike(&mut pieces, at, &self.pieces, &self.words, rng),
                _ => number(&mut pieces[at], rng),
            }
        }
        pieces.concat()
    }
}

/// A word of the same beginning: another register, block or instruction.
fn alike(pieces: &mut [String], at: usize, from: &[String], words: &[usize], rng: &mut Rng) {
    let Some(first) = pieces[at].chars().next() else { return };
    let like: Vec<usize> = words.iter().copied().filter(|&n| from[n].starts_with(first)).collect();
    if let Some(&n) = like.get(rng.below(like.len().max(1) as u32) as usize) {
        pieces[at] = from[n].clone();
    }
}

/// A line less, twice, or elsewhere.
fn line(pieces: &mut [String], at: usize, other: usize, rng: &mut Rng) {
    let bounds = |pieces: &[String], at: usize| {
        let start = pieces[..at].iter().rposition(|piece| piece == "\n").map_or(0, |n| n + 1);
        let end = pieces[at..].iter().position(|piece| piece == "\n").map_or(pieces.len(), |n| at + n + 1);
        start..end
    };
    let (here, there) = (bounds(pieces, at), bounds(pieces, other));
    let copy = pieces[here.clone()].to_vec();
    // What is gone is left empty: pieces keep their numbers.
    match rng.below(3) {
        0 => pieces[here].iter_mut().for_each(String::clear),
        1 => pieces[there.start].insert_str(0, &copy.concat()),
        _ => {
            pieces[here].iter_mut().for_each(String::clear);
            pieces[there.start].insert_str(0, &copy.concat());
        }
    }
}

/// Another number in a word: a little more or less, or one that is special somewhere.
fn number(word: &mut String, rng: &mut Rng) {
    const SPECIAL: [&str; 14] = [
        "0",
        "1",
        "-1",
        "2",
        "64",
        "255",
        "256",
        "65535",
        "65536",
        "2147483647",
        "4294967295",
        "0x80000000",
        "9223372036854775807",
        "0xffffffff",
    ];
    let Some(start) = word.rfind(|c: char| !c.is_ascii_digit()).map_or(Some(0), |n| Some(n + 1)) else {
        return;
    };
    let Ok(old) = word[start..].parse::<i64>() else { return };
    let new = match rng.below(4) {
        0 => SPECIAL[rng.below(SPECIAL.len() as u32) as usize].to_owned(),
        1 => (old + 1).to_string(),
        2 => old.saturating_sub(1).max(0).to_string(),
        _ => (old + i64::from(rng.below(12))).to_string(),
    };
    word.replace_range(start.., &new);
}
