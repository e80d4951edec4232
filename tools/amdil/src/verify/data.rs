//! Rules about one data segment.

use super::arguments::MOST_BUFFERS;
use super::{Found, and_more};
use crate::model::{DataSegment, DataVector};
use crate::rules::Rule;

/// Checks a data segment that begins in the given line.
pub(super) fn check(found: &mut Found, segment: &DataSegment, start: usize) {
    if let Some(buffer) = segment.buffer
        && !(2..MOST_BUFFERS).contains(&buffer)
    {
        let message = format!("constant buffer {buffer} cannot have data");
        found.add(start, Rule::SegmentBuffer, message);
    }
    let end_fits = match segment.buffer {
        Some(buffer) => segment.end == Some(buffer),
        None => segment.end.is_none_or(|end| end == 0),
    };
    if !end_fits {
        let line = start + 1 + segment.vectors.len();
        found.add(line, Rule::SegmentEnd, "the end has another constant buffer than the start");
    }
    let mut ranges = Vec::with_capacity(segment.vectors.len());
    for (vector, line) in segment.vectors.iter().zip(start + 1..) {
        let end = check_vector(found, vector, line);
        if end > u64::from(segment.size) {
            let message = format!("the data end at byte {end} of {}", segment.size);
            found.add(line, Rule::SegmentSize, message);
        }
        ranges.push((u64::from(vector.offset), end, line));
    }
    ranges.sort_unstable();
    let mut last = 0;
    for (offset, end, line) in ranges {
        if offset < last && offset < end {
            found.add(line, Rule::DataOverlap, format!("other data end at byte {last}"));
        }
        last = last.max(end);
    }
}

/// Checks a data vector, and returns where its data end.
fn check_vector(found: &mut Found, vector: &DataVector, line: usize) -> u64 {
    let Some(size) = vector.element_size() else {
        let message = format!("`{}` is no type of data elements", vector.ty);
        found.add(line, Rule::DataElement, message);
        return vector.offset.into();
    };
    if !vector.offset.is_multiple_of(size) {
        let message = format!("offset {} is not a multiple of {size}", vector.offset);
        found.add(line, Rule::DataAlignment, message);
    }
    let lanes = usize::from(vector.lanes).next_power_of_two();
    if !vector.values.len().is_multiple_of(lanes) {
        let message = format!("{} numbers do not fill vectors of {lanes}", vector.values.len());
        found.add(line, Rule::DataLanes, message);
    }
    // Decimal and hexadecimal numbers cannot be told apart; a number that is too wide for hexadecimal digits
    // and for decimal ones is wrong.
    let bits = 8 * size;
    let fits = |number: Option<u64>| number.is_some_and(|number| bits == 64 || number >> bits == 0);
    let wide = |digits: &&str| !fits(u64::from_str_radix(digits, 16).ok()) && !fits(digits.parse().ok());
    let wrong = || vector.values.digits().filter(wide);
    if let Some(digits) = wrong().next() {
        let message = format!("`{digits}` has more than {bits} bits{}", and_more(wrong().count()));
        found.add(line, Rule::DataWidth, message);
    }
    u64::from(vector.offset) + vector.values.len() as u64 * u64::from(size)
}
