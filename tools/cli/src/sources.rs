//! Finds the source text that is shown with machine code. The text is embedded in the object, or is in files.

use codeobj::CodeObject;
use codeobj::disasm::{Lines, SourcePlace};
use dwarf::{Content, DebugInfo};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Returns the path of a source file. This is the path that the object names, or a file with that name in the
/// directory of `file`.
pub fn path(name: &str, file: &Path) -> Option<PathBuf> {
    let beside = file.parent()?.join(Path::new(name).file_name()?);
    std::fs::canonicalize(name).or_else(|_| std::fs::canonicalize(beside)).ok()
}

/// Returns the text of a source file.
pub fn text(name: &str, file: &Path) -> Option<String> {
    std::fs::read_to_string(path(name, file)?).ok()
}

/// An inlined function: its address range, its depth of inlining, and the text that describes it.
struct Inlined {
    from: u64,
    to: u64,
    depth: usize,
    text: String,
}

/// Source texts of an object.
pub struct Sources {
    lines: Lines,
    file: PathBuf,
    inlined: Vec<Inlined>,
    /// Lines of the files that have been read.
    texts: RefCell<HashMap<String, Vec<String>>>,
}

impl Sources {
    pub fn new(object: &CodeObject<'_>, file: &Path) -> Sources {
        // In a relocatable object, every function starts at address 0 of its section. An address then says
        // nothing about the function, so debug information is not used.
        let info = DebugInfo::read(object).ok().filter(|_| !object.header.is_relocatable());
        let inlined = info.map_or(Vec::new(), |info| inlined(&info));
        Sources { lines: Lines::read(object), file: file.to_owned(), inlined, texts: RefCell::default() }
    }

    /// Returns the text to show before the first instruction of a source line. It contains the line, and the
    /// inlined functions that contain the line, innermost first.
    pub fn line_heading(&self, address: u64, place: &SourcePlace) -> String {
        let mut texts = self.texts.borrow_mut();
        let lines = texts.entry(place.file.clone()).or_insert_with(|| {
            let found = self.lines.text(&place.file).map(str::to_owned);
            let found = found.or_else(|| text(&place.file, &self.file)).unwrap_or_default();
            found.lines().map(str::to_owned).collect()
        });
        let line = lines.get((place.line as usize).wrapping_sub(1));
        let mut out =
            line.map_or(String::new(), |text| format!("{:5} | {}\n", place.line, without_controls(text)));
        let mut around: Vec<&Inlined> =
            self.inlined.iter().filter(|one| (one.from..one.to).contains(&address)).collect();
        around.sort_by_key(|one| std::cmp::Reverse(one.depth));
        around.iter().for_each(|one| out.push_str(&one.text));
        out
    }
}

/// Returns the text with control characters replaced, because a terminal would interpret them.
fn without_controls(text: &str) -> String {
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
        let text = without_controls(&format!("      {name}, inlined at {file}:{line}")) + "\n";
        let ranges = die.ranges().into_iter();
        let depth = die.depth;
        ranges.map(move |(from, to)| Inlined { from, to, depth, text: text.clone() }).collect::<Vec<_>>()
    };
    info.entries.iter().filter(is_inlined).flat_map(one).collect()
}
