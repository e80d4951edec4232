//! Lists of names and values, by which an inspector prints every record of a file.

use std::borrow::Cow;

/// Name and value of a field. The value is in the form in which an inspector prints the field.
pub type Field = (Cow<'static, str>, String);

/// Collects fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct List(pub Vec<Field>);

impl List {
    pub fn add(&mut self, name: impl Into<Cow<'static, str>>, value: impl ToString) {
        self.0.push((name.into(), value.to_string()));
    }

    pub fn hex(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<u64>) {
        self.add(name, format!("{:#x}", value.into()));
    }

    /// Adds a number and, if it is known, what the number means.
    pub fn named(&mut self, name: impl Into<Cow<'static, str>>, value: u32, meaning: Option<&str>) {
        match meaning {
            Some(meaning) => self.add(name, format!("{value} ({meaning})")),
            None => self.add(name, format!("{value} (unknown)")),
        }
    }

    /// Adds the number of bytes.
    pub fn size(&mut self, name: impl Into<Cow<'static, str>>, bytes: &[u8]) {
        self.add(name, format!("{} bytes", bytes.len()));
    }

    pub fn text(&mut self, name: impl Into<Cow<'static, str>>, bytes: &[u8]) {
        self.add(name, String::from_utf8_lossy(bytes));
    }
}

/// Returns the name in a table of numbers and names.
pub(crate) fn named<N: PartialEq + Copy>(table: &[(N, &'static str)], number: N) -> Option<&'static str> {
    table.iter().find(|row| row.0 == number).map(|row| row.1)
}
