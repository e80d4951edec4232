//! The reader. It keeps the order of the text, and reports each line that it cannot read.

use crate::fields::{Failure, Fields, name, number, shown};
use crate::forms::{FORMS, Form, OLD_ARGUMENT, old_argument};
use crate::model::{Block, DataSegment, DataVector, Item, Metadata, Record};
use crate::rules::{Error, Rule};
use crate::text::{Line, Name, Values};
use crate::words::DataType;
use crate::write::CALL_MARKER;

/// Most errors that are reported.
const MOST_ERRORS: usize = 100;

/// Reads a text: the whole text of a compilation unit, or the block of one kernel.
///
/// What is read writes the same text again, up to the newline at the end.
///
/// # Errors
/// Each line that cannot be read, at most a hundred.
pub fn parse(text: &str) -> Result<Metadata, Vec<Error>> {
    Reader::new(false).read(text)
}

/// Reads a text as [`parse`] does, but keeps records with unknown names as they are
/// ([`Record::Unknown`](crate::Record::Unknown)), as drivers skip these.
///
/// # Errors
/// Each line that cannot be read, at most a hundred.
pub fn parse_keeping(text: &str) -> Result<Metadata, Vec<Error>> {
    Reader::new(true).read(text)
}

/// Reads a text from the bytes of a binary, as [`parse`] does.
///
/// # Errors
/// Each line that cannot be read, at most a hundred, or the place where the bytes are not UTF-8.
pub fn parse_bytes(bytes: &[u8]) -> Result<Metadata, Vec<Error>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(text),
        Err(error) => {
            let before = &bytes[..error.valid_up_to()];
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let message = "the bytes are not UTF-8".to_owned();
            Err(vec![Error { line, column: before.len() - start + 1, rule: Rule::Utf8, message, hint: None }])
        }
    }
}

/// Tells whether a line outside of blocks reads as something else than a line of IL.
pub(crate) fn is_no_il(line: &str) -> bool {
    Top::of(line, 0).map_or(true, |top| !matches!(top, Top::Il))
}

/// What is open at a line.
enum Open {
    /// Nothing.
    Nothing,
    /// A block, since the given line.
    Block(Block, usize),
    /// Debug lines, since the given line.
    Debug(Vec<Line>, usize),
    /// A data segment, since the given line.
    Data(DataSegment, usize),
}

/// What a line outside of blocks is.
enum Top<'a> {
    Start(Name),
    DebugStart,
    DataStart { buffer: Option<u32>, size: u32 },
    End(&'static str),
    Marker,
    OldArgument(&'a str),
    Il,
}

/// The reader of one text.
struct Reader {
    keep_unknown: bool,
    open: Open,
    /// The open block began with a name that cannot be read, so its end is not compared.
    unnamed: bool,
    items: Vec<Item>,
    errors: Vec<Error>,
}

impl Reader {
    fn new(keep_unknown: bool) -> Reader {
        Reader { keep_unknown, open: Open::Nothing, unnamed: false, items: Vec::new(), errors: Vec::new() }
    }

    fn read(mut self, text: &str) -> Result<Metadata, Vec<Error>> {
        let body = text.strip_suffix('\n').unwrap_or(text);
        let mut last = 0;
        if !text.is_empty() {
            for (index, line) in body.split('\n').enumerate() {
                last = index + 1;
                if let Err(failure) = self.line(line, last) {
                    self.report(last, failure);
                }
                if self.errors.len() >= MOST_ERRORS {
                    let message = format!("{MOST_ERRORS} lines cannot be read; the reader stops here");
                    let failure = Failure { at: 0, rule: Rule::TooManyErrors, message, hint: None };
                    self.report(last, failure);
                    return Err(self.errors);
                }
            }
        }
        let unfinished = match &self.open {
            Open::Nothing => None,
            Open::Block(block, line) => Some((format!(";ARGEND:{}", block.name), *line)),
            Open::Debug(_, line) => Some((";DEBUGEND".to_owned(), *line)),
            Open::Data(_, line) => Some((";#DATAEND".to_owned(), *line)),
        };
        if let Some((end, line)) = unfinished {
            let message = format!("the text ends before `{end}`; line {line} has the start");
            self.report(last, Failure { at: 0, rule: Rule::BlockEnd, message, hint: None });
        }
        if self.errors.is_empty() { Ok(Metadata { items: self.items }) } else { Err(self.errors) }
    }

    fn report(&mut self, line: usize, failure: Failure) {
        let Failure { at, rule, message, hint } = failure;
        self.errors.push(Error { line, column: at + 1, rule, message, hint });
    }

    /// Reads one line.
    fn line(&mut self, line: &str, number: usize) -> Result<(), Failure> {
        if let Some(at) = line.find(|c: char| c.is_control() && c != '\t') {
            let hint =
                line.ends_with('\r').then(|| "lines end with a newline alone, without `\\r`".to_owned());
            let message = "the line has a control character".to_owned();
            return Err(Failure { at, rule: Rule::ControlCharacter, message, hint });
        }
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Nothing => self.top(line, number),
            Open::Block(block, start) => self.in_block(block, start, line, number),
            Open::Debug(mut lines, start) => {
                if line == ";DEBUGEND" {
                    self.items.push(Item::Debug(lines));
                } else {
                    lines.extend(Line::new(line));
                    self.open = Open::Debug(lines, start);
                }
                Ok(())
            }
            Open::Data(segment, start) => self.in_data(segment, start, line, number),
        }
    }

    /// Reads a line outside of blocks.
    fn top(&mut self, line: &str, number: usize) -> Result<(), Failure> {
        let top = match Top::of(line, 0) {
            Ok(top) => top,
            Err(failure) => {
                self.recover(line, number);
                return Err(failure);
            }
        };
        self.unnamed = false;
        match top {
            Top::Start(name) => self.open = Open::Block(Block { name, records: Vec::new() }, number),
            Top::DebugStart => self.open = Open::Debug(Vec::new(), number),
            Top::DataStart { buffer, size } => {
                let segment = DataSegment { buffer, size, vectors: Vec::new(), end: None };
                self.open = Open::Data(segment, number);
            }
            Top::End(what) => {
                let message = format!("{what} ends that has not begun");
                return Err(Failure { at: 0, rule: Rule::BlockEnd, message, hint: None });
            }
            Top::Marker => self.items.push(Item::CallMarker),
            Top::OldArgument(rest) => {
                let mut fields = Fields::new(Some(rest), line.len() - rest.len());
                check_count(&OLD_ARGUMENT, &fields)?;
                self.items.push(Item::OldArgument(old_argument(&mut fields)?));
            }
            Top::Il => self.items.extend(Line::new(line).map(Item::Il)),
        }
        Ok(())
    }

    /// Opens what a line was to open that cannot be read, so that the lines after it are not errors too.
    fn recover(&mut self, line: &str, number: usize) {
        if line.starts_with(";ARGSTART") {
            self.unnamed = true;
            let name = Name::new("?");
            self.open =
                name.map_or(Open::Nothing, |name| Open::Block(Block { name, records: Vec::new() }, number));
        } else if line.starts_with(";#DATASTART") {
            let segment = DataSegment { buffer: None, size: 0, vectors: Vec::new(), end: None };
            self.open = Open::Data(segment, number);
        }
    }

    /// Reads a line of a block.
    fn in_block(&mut self, mut block: Block, start: usize, line: &str, at: usize) -> Result<(), Failure> {
        if let Some(end) = line.strip_prefix(";ARGEND:") {
            let same = self.unnamed || end == block.name.as_str();
            let message = format!(
                "the block ends with the name `{}`; in line {start} it began with `{}`",
                shown(end),
                shown(block.name.as_str())
            );
            self.items.push(Item::Block(block));
            let failure = Failure { at: ";ARGEND:".len(), rule: Rule::BlockName, message, hint: None };
            return if same { Ok(()) } else { Err(failure) };
        }
        if opens(line) {
            self.items.push(Item::Block(block));
            return self.opened_inside(line, at, start);
        }
        let record = record(line, self.keep_unknown);
        let result = record.map(|record| block.records.push(record));
        self.open = Open::Block(block, start);
        result
    }

    /// Reports a part of the text that begins in another part. What follows is read as if the other part had
    /// ended, so that one missing line is one error.
    fn opened_inside(&mut self, line: &str, number: usize, start: usize) -> Result<(), Failure> {
        self.top(line, number)?;
        let message = format!("`{}` is in the part of the text that began in line {start}", shown(line));
        Err(Failure { at: 0, rule: Rule::BlockStart, message, hint: None })
    }

    /// Reads a line of a data segment.
    fn in_data(
        &mut self,
        mut segment: DataSegment,
        start: usize,
        line: &str,
        at: usize,
    ) -> Result<(), Failure> {
        if let Some(end) = line.strip_prefix(";#DATAEND") {
            let end = match end.strip_prefix(':') {
                Some(field) => Some(Fields::new(Some(field), ";#DATAEND:".len())),
                None if end.is_empty() => None,
                None => return Err(data_line(0, format!("`{}` is not the end of the data", shown(line)))),
            };
            segment.end = match end {
                Some(mut fields) => Some(single(&mut fields)?),
                None => None,
            };
            self.items.push(Item::Data(segment));
            return Ok(());
        }
        if opens(line) {
            return self.opened_inside(line, at, start);
        }
        let vector = vector(line);
        let result = vector.map(|vector| segment.vectors.push(vector));
        self.open = Open::Data(segment, start);
        result
    }
}

impl<'a> Top<'a> {
    /// Returns what a line outside of blocks is. Lines that no record begins like are IL.
    fn of(line: &'a str, at: usize) -> Result<Top<'a>, Failure> {
        let Some(body) = line.strip_prefix(';') else { return Ok(Top::Il) };
        if let Some(rest) = body.strip_prefix("ARGSTART:") {
            return Ok(Top::Start(name(rest, at + ";ARGSTART:".len())?));
        }
        if let Some(rest) = body.strip_prefix("#DATASTART:") {
            return data_start(rest);
        }
        match body {
            "DEBUGSTART" => return Ok(Top::DebugStart),
            "DEBUGEND" => return Ok(Top::End("debug information")),
            _ if line == CALL_MARKER => return Ok(Top::Marker),
            _ => {}
        }
        if body.starts_with("ARGEND:") {
            return Ok(Top::End("a block"));
        }
        if body.starts_with("#DATAEND") {
            return Ok(Top::End("a data segment"));
        }
        if let Some(rest) = body.strip_prefix("ARG:") {
            return Ok(Top::OldArgument(rest));
        }
        if body.starts_with('#') {
            return Err(data_line(at, "a line of a data segment is outside of one".to_owned()));
        }
        if body.starts_with("$$") && body.bytes().all(|byte| byte == b'$') {
            let message = format!("the mark of the call has {} dollar signs, not 10", body.len());
            return Err(Failure { at, rule: Rule::CallMarker, message, hint: None });
        }
        let word = body.split(':').next().unwrap_or_default();
        if FORMS.iter().any(|form| form.name == word) {
            let message = format!("the record `;{word}` is not between `;ARGSTART:` and `;ARGEND:`");
            return Err(Failure { at, rule: Rule::OutsideBlock, message, hint: None });
        }
        if let Some(known) = nearest(word, &FRAMES) {
            return Err(unknown(word, known));
        }
        Ok(Top::Il)
    }
}

/// Tells whether a line begins a block, a data segment or debug lines.
fn opens(line: &str) -> bool {
    line.starts_with(";ARGSTART:") || line.starts_with(";#DATASTART:") || line == ";DEBUGSTART"
}

/// Names of the lines that begin and end parts of the text.
const FRAMES: [&str; 4] = ["ARGSTART", "ARGEND", "DEBUGSTART", "DEBUGEND"];

/// Reads what follows `;#DATASTART:`: a size, or a constant buffer and a size.
fn data_start(rest: &str) -> Result<Top<'_>, Failure> {
    let mut fields = Fields::new(Some(rest), ";#DATASTART:".len());
    match fields.left() {
        1 => Ok(Top::DataStart { buffer: None, size: fields.number()? }),
        2 => Ok(Top::DataStart { buffer: Some(fields.number()?), size: fields.number()? }),
        _ => Err(field_count(";#DATASTART:SIZE or ;#DATASTART:BUFFER:SIZE", fields.at(), fields.left())),
    }
}

/// Reads the only field of a line.
fn single(fields: &mut Fields<'_>) -> Result<u32, Failure> {
    if fields.left() != 1 {
        return Err(field_count(";#DATAEND:BUFFER", fields.at(), fields.left()));
    }
    fields.number()
}

/// Reads a record of a block.
fn record(line: &str, keep_unknown: bool) -> Result<Record, Failure> {
    let Some(body) = line.strip_prefix(';') else {
        let message = format!("`{}` is in a block and does not begin with a semicolon", shown(line));
        return Err(Failure { at: 0, rule: Rule::NotARecord, message, hint: None });
    };
    let (word, rest) = match body.split_once(':') {
        Some((word, rest)) => (word, Some(rest)),
        None => (body, None),
    };
    let Some(form) = FORMS.iter().find(|form| form.name == word) else {
        if keep_unknown && let Some(line) = Line::new(line) {
            return Ok(Record::Unknown(line));
        }
        let names: Vec<_> = FORMS.iter().map(|form| form.name).collect();
        return Err(match nearest(word, &names) {
            Some(known) => unknown(word, known),
            None => {
                let message = format!("`;{}` is not a known record", shown(word));
                Failure { at: 1, rule: Rule::UnknownRecord, message, hint: None }
            }
        });
    };
    let mut fields = Fields::new(rest, 1 + word.len() + 1);
    check_count(form, &fields)?;
    (form.read)(&mut fields)
}

/// Reports a record that has not as many fields as its form.
fn check_count(form: &Form, fields: &Fields<'_>) -> Result<(), Failure> {
    let (least, most) = form.fields;
    if (least..=most).contains(&fields.left()) {
        return Ok(());
    }
    Err(field_count(form.form, fields.at(), fields.left()))
}

/// Returns the failure of a record with a wrong count of fields.
fn field_count(form: &str, at: usize, count: usize) -> Failure {
    let message = format!("the record has {count} fields after its name");
    Failure { at, rule: Rule::FieldCount, message, hint: Some(format!("its form is {form}")) }
}

/// Returns the failure of a record whose name is nearly a known one.
fn unknown(word: &str, known: &str) -> Failure {
    let message = format!("`;{}` is not a known record", shown(word));
    Failure { at: 1, rule: Rule::UnknownRecord, message, hint: Some(format!("`;{known}` is known")) }
}

/// Returns the failure of a line that is not a line of a data segment.
fn data_line(at: usize, message: String) -> Failure {
    let hint = Some("its form is ;#TYPE:OFFSET:COUNT:NUMBER...".to_owned());
    Failure { at, rule: Rule::DataLine, message, hint }
}

/// Reads a line of a data segment.
fn vector(line: &str) -> Result<DataVector, Failure> {
    let Some(body) = line.strip_prefix(";#") else {
        return Err(data_line(0, format!("`{}` is in a data segment", shown(line))));
    };
    let mut parts = body.splitn(4, ':');
    let (Some(ty), Some(offset), Some(count)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(data_line(0, format!("`{}` has no offset or no count", shown(line))));
    };
    let digits = parts.next();
    let (lanes, ty) = vector_type(ty)?;
    let offset_at = line.len() - body.len() + body.find(':').unwrap_or_default() + 1;
    let number_at = |field: &str, at: usize| {
        number(field).map_err(|rule| {
            let message = format!("`{}` is not a decimal number of 32 bits", shown(field));
            Failure { at, rule, message, hint: None }
        })
    };
    let count_at = offset_at + offset.len() + 1;
    let offset = number_at(offset, offset_at)?;
    let count_value = number_at(count, count_at)?;
    let values_at = count_at + count.len() + 1;
    let values = match digits {
        None => Values::default(),
        Some("") => return Err(digits_failure(values_at)),
        Some(digits) => Values::parse(digits).ok_or_else(|| digits_failure(values_at))?,
    };
    if values.len() != count_value as usize {
        let message = format!("the count is {count_value}, and {} numbers follow", values.len());
        return Err(Failure { at: count_at, rule: Rule::ListCount, message, hint: None });
    }
    Ok(DataVector { lanes, ty, offset, values })
}

/// Returns the failure of a number that is not of hexadecimal digits.
fn digits_failure(at: usize) -> Failure {
    let message = "a number has other characters than hexadecimal digits, or not 1 to 16 of them".to_owned();
    Failure { at, rule: Rule::DataDigits, message, hint: None }
}

/// Reads the type of a data vector: `i32`, or `v3i32` for vectors.
fn vector_type(text: &str) -> Result<(u8, DataType), Failure> {
    let scalar = DataType::from_text(text).map(|ty| (1, ty));
    let of_vectors = || {
        let rest = text.strip_prefix('v')?;
        let (lanes, ty) = rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count());
        let lanes = [2, 3, 4, 8, 16].into_iter().find(|known| known.to_string() == lanes)?;
        Some((lanes, DataType::from_text(ty)?))
    };
    scalar.or_else(of_vectors).ok_or_else(|| {
        let words: Vec<_> = DataType::ALL.iter().map(|ty| ty.text()).collect();
        let hint = format!("known are {}, and v2, v3, v4, v8 or v16 before one", words.join(", "));
        let message = format!("`{}` is not a type of data", shown(text));
        Failure { at: 2, rule: Rule::DataTypeName, message, hint: Some(hint) }
    })
}

/// Returns the known name that differs from the word in at most two letters, or only in upper and lower case.
fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    if !(3..=20).contains(&word.len()) || !word.is_ascii() {
        return None;
    }
    known.iter().copied().find(|name| {
        word.eq_ignore_ascii_case(name)
            || (name.len() > 4 && word != *name && distance(word.as_bytes(), name.as_bytes()) <= 2)
    })
}

/// Returns the count of letters to insert, remove or change to make one word of the other.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
