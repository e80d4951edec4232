//! What the debugger knows about the code of an object: functions, source lines, and debug information if the
//! object has any.

use crate::expr::Language;
use crate::variables::Scope;
use codeobj::CodeObject;
use codeobj::disasm::Lines;
use dwarf::{DebugInfo, Frames, Names};
use rustc_hash::FxHashMap;

/// A function or kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Name of its symbol.
    pub name: String,
    /// Address in the file where its code begins.
    pub start: u64,
    /// Address in the file where its code ends.
    pub end: u64,
}

/// A line of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    /// Index of the file in [`Program::files`].
    pub file: usize,
    /// Line number, from 1.
    pub line: u32,
}

/// A row of the line table at which a statement begins. If `line` is `None`, the code from this address on
/// belongs to no source line.
pub(crate) struct Row {
    pub address: u64,
    pub line: Option<Line>,
}

/// An object, as a debugger sees it.
#[cfg_attr(test, derive(Default))]
pub struct Program {
    functions: Vec<Function>,
    /// Rows by ascending address, one per address.
    pub(crate) rows: Vec<Row>,
    /// Addresses where the prologues of functions end, in ascending order.
    pub(crate) prologue_ends: Vec<u64>,
    /// Names of source files.
    pub files: Vec<String>,
    /// The text of each source file as lines. `None` for a file that could not be read.
    sources: Vec<Option<Vec<String>>>,
    /// Entries of the object's debug information.
    pub info: Option<DebugInfo>,
    /// The object's index of names.
    pub(crate) names: Option<Names>,
    /// The object's call frame information.
    pub(crate) frames: Option<Frames>,
}

/// `STT_FUNC`.
const FUNCTION: u8 = 2;

impl Program {
    /// Reads an object. `read` returns the text of a source file that is not embedded in the object.
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
            prologue_ends: Vec::new(),
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
            // If the line table has several rows with the same address, the last row is valid.
            program.rows.pop_if(|row| row.address == address);
            program.rows.push(Row { address, line });
        }
        program.prologue_ends = lines.prologue_ends().collect();
        let embedded = |name: &String| lines.text(name).map(str::to_owned);
        let text = |name: &String| {
            embedded(name).or_else(|| read(name)).map(|text| text.lines().map(str::to_owned).collect())
        };
        program.sources = program.files.iter().map(text).collect();
        program
    }

    /// Returns the function that contains an address.
    pub fn function_at(&self, address: u64) -> Option<&Function> {
        let end = self.functions.partition_point(|function| function.start <= address);
        self.functions[..end].last().filter(|function| address < function.end)
    }

    /// Returns the function called `name`.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// Returns the debug information that is in scope at an address. If functions are inlined there, `level`
    /// selects one of them, as in [`Scope::new`].
    pub(crate) fn scope(&self, address: u64, level: usize) -> Option<Scope<'_>> {
        self.info.as_ref().map(|info| Scope::new((info, self.frames.as_ref()), address, level))
    }

    /// Returns the source language of the code at an address; kernc if the debug information does not name
    /// the language.
    pub(crate) fn language(&self, address: u64) -> Language {
        let Some(info) = &self.info else { return Language::Kernc };
        let around = info.around(address);
        let unit = around.first().and_then(|&at| info.units.get(info.entries.get(at)?.unit));
        match unit.or(info.units.first()) {
            Some(unit) if !unit.is_kernc => Language::C,
            _ => Language::Kernc,
        }
    }

    /// Returns all functions by ascending address.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// Returns the source line of an instruction.
    pub fn line_at(&self, address: u64) -> Option<Line> {
        let end = self.rows.partition_point(|row| row.address <= address);
        self.rows[..end].last()?.line
    }

    /// Returns how many functions are inlined around an address.
    pub(crate) fn inlined_at(&self, address: u64) -> usize {
        let Some(info) = &self.info else { return 0 };
        let around = info.around(address);
        around.into_iter().filter(|&at| info.entries[at].tag == "DW_TAG_inlined_subroutine").count()
    }

    /// Returns whether a statement begins at an address.
    pub(crate) fn begins_at(&self, address: u64) -> bool {
        self.rows
            .binary_search_by_key(&address, |row| row.address)
            .is_ok_and(|at| self.rows[at].line.is_some())
    }

    /// Returns the start and end of the contiguous code around an address that belongs to the same line and
    /// the same function.
    pub(crate) fn run_at(&self, address: u64) -> (u64, u64) {
        let function =
            self.function_at(address).map_or((0, u64::MAX), |function| (function.start, function.end));
        let next = self.rows.partition_point(|row| row.address <= address);
        let Some(line) = next.checked_sub(1).map(|at| self.rows[at].line) else { return function };
        let before = self.rows[..next].iter().rev().take_while(|row| row.line == line).last();
        let after = self.rows[next..].iter().find(|row| row.line != line);
        let start = before.map_or(0, |row| row.address);
        let end = after.map_or(u64::MAX, |row| row.address);
        (start.max(function.0), end.min(function.1))
    }

    /// Returns the text of a line.
    pub fn source(&self, line: Line) -> Option<&str> {
        let text = self.sources.get(line.file)?.as_ref()?;
        text.get(line.line.checked_sub(1)? as usize).map(String::as_str)
    }

    /// Returns a line as `file:line`, for example `saxpy.k:7`.
    pub fn name_of(&self, line: Line) -> String {
        format!("{}:{}", self.files.get(line.file).map_or("?", String::as_str), line.line)
    }

    /// Returns the lines of a file that have code, in ascending order.
    pub fn lines_of(&self, file: usize) -> Vec<u32> {
        let lines = self.rows.iter().filter_map(|row| row.line).filter(|line| line.file == file);
        let mut lines: Vec<u32> = lines.map(|line| line.line).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// Returns the text of a file.
    pub fn text(&self, file: usize) -> Option<&[String]> {
        self.sources.get(file)?.as_deref()
    }

    /// Returns the index of the source file with this name, or with a path that ends in this name. Without a
    /// name, returns the file of the first row of the line table that has a source line.
    pub fn file(&self, name: Option<&str>) -> Option<usize> {
        let Some(name) = name else {
            return self.rows.iter().find_map(|row| row.line).map(|line| line.file);
        };
        let ends = |file: &String| file == name || file.ends_with(&format!("/{name}"));
        self.files.iter().position(|file| file == name).or_else(|| self.files.iter().position(ends))
    }
}

/// Parses an address: hexadecimal as `0x1a2c`, or decimal.
pub(crate) fn parse_address(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
