//! Source texts beside machine code: from the object, or from files.

use codeobj::CodeObject;
use codeobj::disasm::{Lines, SourcePlace};
use dwarf::{Content, DebugInfo};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Where a source file is: as the object names it, or beside what is looked at.
pub fn path(name: &str, file: &Path) -> Option<PathBuf> {
    let beside = file.parent()?.join(Path::new(name).file_name()?);
    std::fs::canonicalize(name).or_else(|_| std::fs::canonicalize(beside)).ok()
}

/// The text of a source file.
pub fn text(name: &str, file: &Path) -> Option<String> {
    std::fs::read_to_string(path(name, file)?).ok()
}

/// A function that is inlined: its code, and what is said of it.
struct Inlined {
    from: u64,
    to: u64,
    depth: usize,
    text: String,
}

/// Sources of an object.
pub struct Sources {
    lines: Lines,
    file: PathBuf,
    inlined: Vec<Inlined>,
    /// Lines of the files that were read.
    texts: RefCell<HashMap<String, Vec<String>>>,
}

impl Sources {
    pub fn new(object: &CodeObject<'_>, file: &Path) -> Sources {
        // Functions of a relocatable object begin at 0, each in its section.
        let info = DebugInfo::read(object).ok().filter(|_| !object.header.is_relocatable());
        let inlined = info.map_or(Vec::new(), |info| inlined(&info));
        Sources { lines: Lines::read(object), file: file.to_owned(), inlined, texts: RefCell::default() }
    }

    /// What is shown where a line begins: its text, and into what it is inlined, innermost first.
    pub fn beside(&self, address: u64, place: &SourcePlace) -> String {
        let mut texts = self.texts.borrow_mut();
        let lines = texts.entry(place.file.clone()).or_insert_with(|| {
            let found = self.lines.text(&place.file).map(str::to_owned);
            let found = found.or_else(|| text(&place.file, &self.file)).unwrap_or_default();
            found.lines().map(str::to_owned).collect()
        });
        let line = lines.get((place.line as usize).wrapping_sub(1));
        let mut out = line.map_or(String::new(), |text| format!("{:5} | {}\n", place.line, shown(text)));
        let mut around: Vec<&Inlined> =
            self.inlined.iter().filter(|one| (one.from..one.to).contains(&address)).collect();
        around.sort_by_key(|one| std::cmp::Reverse(one.depth));
        around.iter().for_each(|one| out.push_str(&one.text));
        out
    }
}

/// Without what a terminal would obey.
fn shown(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\t' { ' ' } else { c }).collect()
}

fn inlined(info: &DebugInfo) -> Vec<Inlined> {
    let is_inlined = |die: &&dwarf::Die| die.tag == "DW_TAG_inlined_subroutine";
    let one = |die: &dwarf::Die| {
        let name = info.name_of(die).unwrap_or("?");
        let line = match die.get("DW_AT_call_line") {
            Some(Content::Number(line)) => *line,
            _ => 0,
        };
        let file = die.text("DW_AT_call_file").unwrap_or("?");
        let text = shown(&format!("      {name}, inlined at {file}:{line}")) + "\n";
        let ranges = die.ranges().into_iter();
        let depth = die.depth;
        ranges.map(move |(from, to)| Inlined { from, to, depth, text: text.clone() }).collect::<Vec<_>>()
    };
    info.entries.iter().filter(is_inlined).flat_map(one).collect()
}
