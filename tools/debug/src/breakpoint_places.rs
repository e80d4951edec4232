//! Finds the code addresses at which a breakpoint is set for a place of the source, such as a line or a
//! function.
//!
//! The rules are those of GDB. A breakpoint at a function is set where the function's prologue ends. A line
//! without code stands for the next line that has code, unless another function begins between the two lines.

use crate::expr::Problem;
use crate::program::{Line, Program, parse_address};
use dwarf::{Content, Die};

/// A function and the line of its declaration.
struct Declared<'a> {
    name: &'a str,
    line: Line,
}

/// A place in the code as a user writes it.
enum BreakpointPlace<'a> {
    Address(&'a str),
    Line(Option<&'a str>, u32),
    Function(&'a str),
}

impl<'a> BreakpointPlace<'a> {
    fn new(text: &'a str) -> BreakpointPlace<'a> {
        if let Some(address) = text.strip_prefix('*') {
            return BreakpointPlace::Address(address.trim());
        }
        let (file, line) = match text.rsplit_once(':') {
            Some((file, line)) => (Some(file), line),
            None => (None, text),
        };
        match line.parse() {
            Ok(line) => BreakpointPlace::Line(file, line),
            Err(_) => BreakpointPlace::Function(text),
        }
    }
}

impl Program {
    /// Returns the addresses at which a breakpoint at a place is set. A place is a line, `file:line`, a
    /// function or `*address`. A line without a file refers to the file of `here`.
    ///
    /// # Errors
    /// There is no such place.
    pub fn addresses(&self, place: &str, here: Option<Line>) -> Result<Vec<u64>, Problem> {
        match BreakpointPlace::new(place) {
            BreakpointPlace::Address(text) => {
                let address = parse_address(text).ok_or_else(|| format!("`{text}` is no address"))?;
                let known = self.function_at(address);
                known.map(|_| vec![address]).ok_or_else(|| format!("there is no code at {address:#x}"))
            }
            BreakpointPlace::Line(file, line) => {
                let file = match (file, here) {
                    (None, Some(here)) => Some(here.file),
                    (file, _) => self.file(file),
                };
                let file = file.ok_or_else(|| "no source file is called so".to_owned())?;
                self.addresses_of_line(Line { file, line })
            }
            BreakpointPlace::Function(name) => {
                let addresses = self.addresses_of_function(name);
                if addresses.is_empty() {
                    Err(format!("no function is called `{name}`"))
                } else {
                    Ok(addresses)
                }
            }
        }
    }

    /// Returns the addresses at which the code of a line begins. If the line has no code, the next line of
    /// the same function that has code is used.
    fn addresses_of_line(&self, wanted: Line) -> Result<Vec<u64>, Problem> {
        let number = wanted.line;
        let lines = self.rows.iter().filter_map(|row| row.line).filter(|row| row.file == wanted.file);
        let next = lines.map(|row| row.line).filter(|&row| row >= number).min();
        let next = next.ok_or_else(|| format!("no code belongs to line {number} or what follows it"))?;
        let declared = self.declared();
        let begun = declared.iter().filter(|function| function.line.file == wanted.file);
        let begun = begun.filter(|function| (number + 1..=next).contains(&function.line.line));
        if let Some(Declared { name, line }) = begun.min_by_key(|function| function.line.line) {
            return Err(format!(
                "no code belongs to line {number} or what follows it in its function: `{name}` begins in line {}",
                line.line
            ));
        }
        Ok(self.starts_of(Line { line: next, ..wanted }))
    }

    /// Returns the addresses at which execution enters the code of a line from another line. If a function
    /// begins with the line, its first address is replaced by the end of the function's prologue.
    fn starts_of(&self, line: Line) -> Vec<u64> {
        let mut before = None;
        let mut starts = Vec::new();
        for row in &self.rows {
            if row.line == Some(line) && before != Some(line) {
                let function = self.function_at(row.address).filter(|function| function.start == row.address);
                starts.push(
                    function.map_or(row.address, |function| self.body_of(function.start, function.end)),
                );
            }
            before = row.line;
        }
        starts.sort_unstable();
        starts.dedup();
        starts
    }

    /// Returns the addresses at which a breakpoint at a function is set: the end of the function's prologue,
    /// and the start of each copy of the function that is inlined elsewhere.
    fn addresses_of_function(&self, name: &str) -> Vec<u64> {
        let own = self.function(name).map(|function| self.body_of(function.start, function.end));
        let mut addresses: Vec<u64> = own.into_iter().chain(self.instances_of(name)).collect();
        addresses.sort_unstable();
        addresses.dedup();
        addresses
    }

    /// Returns where the code of a function begins according to debug information: its own code and each
    /// inlined copy.
    fn instances_of(&self, name: &str) -> Vec<u64> {
        let Some(info) = &self.info else { return Vec::new() };
        let is_function = |die: &&Die| is_function(die) && info.name_of(die) == Some(name);
        let start = |die: &Die| {
            let (start, end) = *die.ranges().first()?;
            Some(if die.tag == "DW_TAG_subprogram" { self.body_of(start, end) } else { start })
        };
        // The name index of the debug information lists functions and inlined functions (DWARF 5, section
        // 6.1.1.1). Without an index, all entries are searched.
        match &self.names {
            Some(names) => {
                let named = names.find(name).iter().filter_map(|named| info.entry(named.entry));
                named.filter(is_function).filter_map(start).collect()
            }
            None => info.entries.iter().filter(is_function).filter_map(start).collect(),
        }
    }

    /// Returns the address for a breakpoint at a function whose code is from `start` to `end`. This is the
    /// end of the prologue if the line table marks it. Otherwise it is the address of the second row of the
    /// line table, because the code before that row moves parameters to their places. If there is no second
    /// row, it is `start`.
    fn body_of(&self, start: u64, end: u64) -> u64 {
        let first = self.prologue_ends.partition_point(|&address| address < start);
        let marked = self.prologue_ends.get(first).copied();
        let second = || {
            let first = self.rows.partition_point(|row| row.address <= start);
            self.rows[first..].iter().find(|row| row.line.is_some()).map(|row| row.address)
        };
        marked
            .filter(|&address| address < end)
            .or_else(second)
            .filter(|&address| address < end)
            .unwrap_or(start)
    }

    /// Returns whether an address is before the end of its function's prologue.
    pub(crate) fn is_prologue(&self, address: u64) -> bool {
        self.function_at(address).is_some_and(|function| address < self.body_of(function.start, function.end))
    }

    /// Returns the functions that have code, with the lines of their declarations.
    fn declared(&self) -> Vec<Declared<'_>> {
        let Some(info) = &self.info else { return Vec::new() };
        let declared = |die: &'_ Die| {
            let Some(Content::Number(line)) = die.get("DW_AT_decl_line") else { return None };
            let file = self.file(die.text("DW_AT_decl_file"))?;
            Some(Line { file, line: u32::try_from(*line).ok()? })
        };
        let functions = info.entries.iter().filter(|die| die.tag == "DW_TAG_subprogram");
        let defined = functions.filter(|die| die.get("DW_AT_declaration").is_none());
        defined.filter_map(|die| Some(Declared { name: info.name_of(die)?, line: declared(die)? })).collect()
    }
}

fn is_function(die: &Die) -> bool {
    matches!(die.tag.as_str(), "DW_TAG_subprogram" | "DW_TAG_inlined_subroutine")
}
