//! A report: records with fields and with records inside them.

use legacy::Field;
use serde_json::{Value, json};

/// A record of a binary.
pub struct Record {
    heading: String,
    fields: Vec<Field>,
    records: Vec<Record>,
}

impl Record {
    /// Returns a record without records inside.
    pub fn new(heading: impl Into<String>, fields: Vec<Field>) -> Record {
        Record { heading: heading.into(), fields, records: Vec::new() }
    }

    /// Adds a record inside this record, and returns the added record.
    pub fn add(&mut self, heading: impl Into<String>, fields: Vec<Field>) -> &mut Record {
        self.records.push(Record::new(heading, fields));
        let last = self.records.len() - 1;
        &mut self.records[last]
    }

    /// Adds fields.
    pub fn extend(&mut self, fields: Vec<Field>) {
        self.fields.extend(fields);
    }

    /// Adds a field.
    pub fn field(&mut self, name: &'static str, value: impl ToString) {
        self.fields.push((name.into(), value.to_string()));
    }

    /// Returns the record as text. Records inside are indented.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(0, &mut text);
        text
    }

    fn write(&self, indent: usize, text: &mut String) {
        const COLUMN: usize = 32;
        let margin = " ".repeat(indent);
        *text += &format!("{margin}{}\n", printable(&self.heading));
        for (name, value) in &self.fields {
            let name = printable(name);
            let mut lines = value.lines();
            match (lines.next().unwrap_or_default(), lines.next()) {
                (only, None) => *text += &format!("{margin}  {name:COLUMN$} {}\n", printable(only)),
                _ => {
                    *text += &format!("{margin}  {name}\n");
                    value.lines().for_each(|line| *text += &format!("{margin}    {}\n", printable(line)));
                }
            }
        }
        for record in &self.records {
            record.write(indent + 2, text);
        }
    }

    /// Returns the record as JSON. Fields are a list, because names can occur twice.
    pub fn json(&self) -> Value {
        let field = |(name, value): &Field| json!({ "name": name, "value": value });
        json!({
            "record": self.heading,
            "fields": self.fields.iter().map(field).collect::<Vec<_>>(),
            "records": self.records.iter().map(Record::json).collect::<Vec<_>>(),
        })
    }
}

/// Returns a line with escape sequences in place of control characters.
fn printable(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for c in line.chars() {
        match c.is_control() {
            true => text.extend(c.escape_default()),
            false => text.push(c),
        }
    }
    text
}
