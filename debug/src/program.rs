//! What an object says of its code: functions, lines, and debug information, if it has any.

use crate::expression::Problem;
use crate::variables::Scope;
use codeobj::CodeObject;
use codeobj::disasm::Lines;
use dwarf::{DebugInfo, Die, Frames, Names};
use rustc_hash::FxHashMap;
use sim::Stopped;

/// A function or kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its symbol.
    pub name: String,
    /// Where its code begins, an address of the file.
    pub start: u64,
    /// Where it ends.
    pub end: u64,
}

/// A line of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    /// Number of the file in [`Program::files`].
    pub file: usize,
    /// From 1.
    pub line: u32,
}

/// A row of the line table.
struct Row {
    address: u64,
    line: Option<Line>,
}

/// An object, as a debugger sees it.
pub struct Program {
    functions: Vec<Function>,
    rows: Vec<Row>,
    /// Names of source files.
    pub files: Vec<String>,
    /// Lines of their texts, where they could be read.
    sources: Vec<Option<Vec<String>>>,
    /// Entries of its debug information.
    pub info: Option<DebugInfo>,
    /// Its index of names.
    names: Option<Names>,
    /// Its call frame information.
    pub(crate) frames: Option<Frames>,
}

/// `STT_FUNC`.
const FUNCTION: u8 = 2;

impl Program {
    /// Reads an object. `read` gives the text of a source file that is not embedded in it.
    pub fn read(object: &CodeObject<'_>, read: impl Fn(&str) -> Option<String>) -> Program {
        let named =
            object.symbols().iter().filter(|symbol| symbol.kind == FUNCTION && !symbol.is_undefined());
        let mut functions: Vec<Function> = named
            .map(|symbol| Function {
                name: symbol.name.to_owned(),
                start: symbol.value,
                end: symbol.value.saturating_add(symbol.size.max(1)),
            })
            .collect();
        functions.sort_by_key(|function| function.start);
        let mut program = Program {
            functions,
            rows: Vec::new(),
            files: Vec::new(),
            sources: Vec::new(),
            info: DebugInfo::read(object).ok(),
            names: Names::read(object).ok(),
            frames: Frames::read(object).ok(),
        };
        let mut numbers: FxHashMap<String, usize> = FxHashMap::default();
        let lines = Lines::read(object);
        for (address, place) in lines.statements() {
            let line = place.map(|place| {
                let file = *numbers.entry(place.file).or_insert_with_key(|name| {
                    program.files.push(name.clone());
                    program.files.len() - 1
                });
                Line { file, line: place.line }
            });
            program.rows.push(Row { address, line });
        }
        let embedded = |name: &String| lines.text(name).map(str::to_owned);
        let text = |name: &String| {
            embedded(name).or_else(|| read(name)).map(|text| text.lines().map(str::to_owned).collect())
        };
        program.sources = program.files.iter().map(text).collect();
        program
    }

    /// The function that an address is in.
    pub fn function_at(&self, address: u64) -> Option<&Function> {
        let end = self.functions.partition_point(|function| function.start <= address);
        self.functions[..end].last().filter(|function| address < function.end)
    }

    /// The function of a name.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// Where the code of a function begins by debug information: its own, and wherever it is inlined.
    pub fn instances_of(&self, name: &str) -> Vec<u64> {
        let Some(info) = &self.info else { return Vec::new() };
        let is_code = |die: &&Die| {
            let is_function = matches!(die.tag.as_str(), "DW_TAG_subprogram" | "DW_TAG_inlined_subroutine");
            is_function && info.name_of(die) == Some(name)
        };
        let start = |die: &Die| Some(die.ranges().first()?.0);
        // The index has both kinds (DWARF 5, section 6.1.1.1); without one all entries are looked at.
        let mut all: Vec<u64> = match &self.names {
            Some(names) => {
                let named = names.find(name).iter().filter_map(|named| info.entry(named.entry));
                named.filter(is_code).filter_map(start).collect()
            }
            None => info.entries.iter().filter(is_code).filter_map(start).collect(),
        };
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Where to stop in a function: behind what brings its parameters to where debug information says that they are, which is its second
    /// row of lines; at its beginning if parameters are not described.
    pub fn body_of(&self, function: &Function) -> u64 {
        let is_inside = |row: &&Row| row.address > function.start && row.address < function.end;
        let second = self.rows.iter().find(|row| is_inside(row) && row.line.is_some());
        second.filter(|_| self.info.is_some()).map_or(function.start, |row| row.address)
    }

    /// What debug information says of where a wave stands; `level` as [`Scope::new`] has it.
    pub(crate) fn scope<'a>(&'a self, at: &'a Stopped<'a>, level: usize) -> Option<Scope<'a>> {
        self.info.as_ref().map(|info| Scope::new((info, self.frames.as_ref()), at, level))
    }

    /// All functions, by address.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The source line of an instruction.
    pub fn line_at(&self, address: u64) -> Option<Line> {
        let end = self.rows.partition_point(|row| row.address <= address);
        self.rows[..end].last()?.line
    }

    /// Text of a line.
    pub fn source(&self, line: Line) -> Option<&str> {
        let text = self.sources.get(line.file)?.as_ref()?;
        text.get(line.line.checked_sub(1)? as usize).map(String::as_str)
    }

    /// `saxpy.k:7`.
    pub fn name_of(&self, line: Line) -> String {
        format!("{}:{}", self.files.get(line.file).map_or("?", String::as_str), line.line)
    }

    /// Addresses that a place in the code means: a line, `file:line`, a function, `*address`. `here`: whose file a line without one is of.
    ///
    /// # Errors
    /// There is no such place.
    pub fn addresses(&self, place: &str, here: Option<Line>) -> Result<Vec<u64>, Problem> {
        if let Some(address) = place.strip_prefix('*') {
            let address = parse_address(address).ok_or_else(|| format!("`{address}` is no address"))?;
            let known = self.function_at(address);
            return known.map(|_| vec![address]).ok_or_else(|| format!("there is no code at {address:#x}"));
        }
        let (file, line) = match place.rsplit_once(':') {
            Some((file, line)) => (Some(file), line),
            None => (None, place),
        };
        if let Ok(line) = line.parse::<u32>() {
            let file = match (file, here) {
                (None, Some(here)) => Some(here.file),
                (file, _) => self.file(file),
            };
            let file = file.ok_or_else(|| "no source file is called so".to_owned())?;
            let found = self.starts_of(file, line);
            return found
                .map(|found| found.1)
                .ok_or_else(|| format!("no code belongs to line {line} or what follows it"));
        }
        let mut starts = self.instances_of(place);
        starts.extend(self.function(place).map(|function| function.start));
        starts.sort_unstable();
        starts.dedup();
        if starts.is_empty() { Err(format!("no function is called `{place}`")) } else { Ok(starts) }
    }

    /// Lines of a file that code belongs to, in order.
    pub fn lines_of(&self, file: usize) -> Vec<u32> {
        let lines = self.rows.iter().filter_map(|row| row.line).filter(|line| line.file == file);
        let mut lines: Vec<u32> = lines.map(|line| line.line).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// The text of a file.
    pub fn text(&self, file: usize) -> Option<&[String]> {
        self.sources.get(file)?.as_deref()
    }

    /// The file of a name, or of the end of one. Without a name: that of the first line.
    pub fn file(&self, name: Option<&str>) -> Option<usize> {
        let Some(name) = name else {
            return self.rows.iter().find_map(|row| row.line).map(|line| line.file);
        };
        let ends = |file: &String| file == name || file.ends_with(&format!("/{name}"));
        self.files.iter().position(|file| file == name).or_else(|| self.files.iter().position(ends))
    }

    /// Where a line begins in the code: addresses that come from another line. If it has no code: the next line that has. Both the line
    /// and its addresses.
    pub fn starts_of(&self, file: usize, line: u32) -> Option<(Line, Vec<u64>)> {
        let lines = self.rows.iter().filter_map(|row| row.line).filter(|row| row.file == file);
        let line = Line { file, line: lines.map(|row| row.line).filter(|&row| row >= line).min()? };
        let mut before = None;
        let mut starts = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            // Of rows at one address the last one counts.
            if self.rows.get(at + 1).is_some_and(|next| next.address == row.address) {
                continue;
            }
            if row.line == Some(line) && before != Some(line) {
                starts.push(row.address);
            }
            before = row.line;
        }
        (!starts.is_empty()).then_some((line, starts))
    }
}

/// `0x1a2c`, or a number.
pub(crate) fn parse_address(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
