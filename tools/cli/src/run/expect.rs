//! `--expect NAME=CONTENTS[:RTOL[:ATOL]]`: compares the final contents of a buffer with expected contents.

use super::arguments::wrong;
use super::output_buffers::buffer_at;
use super::{failure, split};
use crate::Failure;
use kernc::sim::compare::{Differences, Tolerance, differences};
use kernc::sim::{self, ArgError, ArgInfo, ArgValue, Buffer, Conversion, Device, KernelInfo, Placed};
use std::fmt::Write;

/// Expected contents of a buffer.
pub struct ExpectedBuffer {
    pub name: String,
    /// Expected contents as the user has written them.
    text: String,
    contents: Buffer,
    tolerance: Tolerance,
}

/// Expected contents of the buffer of an argument.
pub struct Expected {
    at: usize,
    wanted: ExpectedBuffer,
}

impl Expected {
    /// Parses the option; called before anything runs.
    pub fn new(
        option: &str,
        kernel: &KernelInfo,
        values: &[ArgValue],
        conversion: Conversion,
    ) -> Result<Expected, Failure> {
        let (name, text) = split(option, "--expect", "NAME=CONTENTS[:RTOL[:ATOL]]")?;
        let at = buffer_at(kernel, values, &name)?;
        let (Some(ArgValue::Buffer(given)), Some(info)) = (values.get(at), kernel.explicit_args().nth(at))
        else {
            return Err(Failure::Usage(format!("argument `{name}` is not a buffer")));
        };
        Ok(Expected { at, wanted: ExpectedBuffer::new(&name, &text, given, info, conversion)? })
    }

    /// Returns a text that describes the differences between the buffer and its expected contents. The text
    /// is empty if there are none.
    fn check(&self, device: &Device, placed: &Placed) -> Result<String, Failure> {
        let found = placed.read(device, self.at).map_err(failure)?;
        Ok(found.map_or(String::new(), |found| self.wanted.describe_differences(&found)))
    }
}

impl ExpectedBuffer {
    /// Parses the expected contents of the buffer that a parameter points to. `given` is the initial content
    /// of the buffer.
    pub fn new(
        name: &str,
        text: &str,
        given: &Buffer,
        info: &ArgInfo,
        conversion: Conversion,
    ) -> Result<ExpectedBuffer, Failure> {
        let wrong = |error: ArgError| wrong(error.with_prefix(&format!("expected of `{name}`")));
        let (contents, tolerance) = sim::args::split_tolerance(text).map_err(|why| wrong(why.into()))?;
        let ArgValue::Buffer(wanted) = sim::parse_arg(contents, info, conversion).map_err(wrong)? else {
            return Err(Failure::Usage(format!("argument `{name}` is not a buffer")));
        };
        fits(&wanted, given)
            .map_err(|why| Failure::Usage(format!("expected of `{name}`: `{contents}` has {why}")))?;
        // The expected integers may have another type of the same size than the buffer's elements. Their bits
        // are then read as the type of the elements.
        let wanted = Buffer { element: given.element, ..wanted };
        Ok(ExpectedBuffer { name: name.to_owned(), text: contents.to_owned(), contents: wanted, tolerance })
    }

    /// Returns a text that describes the differences between a buffer and the expected contents.
    pub fn describe_differences(&self, found: &Buffer) -> String {
        let all = differences(found, &self.contents, self.tolerance);
        let Differences { count, total, .. } = all;
        if count == 0 {
            return String::new();
        }
        let text = format!(
            "{}: {count} of {total} elements are not those of {} ({})\n",
            self.name, self.text, self.tolerance
        );
        text + &table(&all, found, ["expected", "found"])
    }
}

/// Returns an error if the expected contents do not have the buffer's type and length.
fn fits(wanted: &Buffer, given: &Buffer) -> Result<(), String> {
    let (ours, theirs) = (wanted.element, given.element);
    if ours != theirs && !ours.is_integer_as_wide_as(theirs) {
        return Err(format!("numbers of type {}, but the buffer of type {}", ours.name(), theirs.name()));
    }
    if wanted.len() != given.len() {
        return Err(format!("{} elements, but the buffer has {}", wanted.len(), given.len()));
    }
    Ok(())
}

/// Returns a table of the largest differences.
pub fn table(all: &Differences, like: &Buffer, names: [&str; 2]) -> String {
    let mut rows = vec![["index".to_owned(), names[0].to_owned(), names[1].to_owned(), "error".to_owned()]];
    rows.extend(all.worst.iter().map(|one| {
        let text = |number: sim::Number| number.text(like.element);
        [element_index(one.index, &like.shape), text(one.expected), text(one.found), error(one.error)]
    }));
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2), width(3)];
    let mut text = String::new();
    for row in &rows {
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(text, "  {cell:>width$}");
        }
        text.push('\n');
    }
    let more = all.count - all.worst.len().min(all.count);
    if more > 0 {
        let _ = writeln!(text, "  and {more} more");
    }
    text
}

/// Returns a short text for the error of a number.
fn error(error: f64) -> String {
    let text = error.to_string();
    if text.len() <= 8 { text } else { format!("{error:.3e}") }
}

/// Returns the index of an element in an array of this shape.
fn element_index(index: usize, shape: &[u64]) -> String {
    let mut rest = index as u64;
    let mut parts: Vec<String> = Vec::new();
    for &extent in shape.iter().rev() {
        parts.push((rest % extent.max(1)).to_string());
        rest /= extent.max(1);
    }
    parts.reverse();
    if parts.len() > 1 { format!("[{}]", parts.join(", ")) } else { index.to_string() }
}

/// Checks all buffers for which there are expected contents. Returns a failure if a buffer has other
/// contents.
pub fn check_all(expected: &[Expected], device: &Device, placed: &Placed) -> Result<(), Failure> {
    let texts: Result<Vec<String>, Failure> = expected.iter().map(|one| one.check(device, placed)).collect();
    unmet(texts?.concat())
}

/// Returns a failure if there are differences to report.
pub fn unmet(text: String) -> Result<(), Failure> {
    if text.is_empty() { Ok(()) } else { Err(Failure::Differs(text)) }
}
