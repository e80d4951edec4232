//! Rules about the text as a whole.

use super::{Found, and_more};
use crate::fields::shown;
use crate::model::{Block, Item, Metadata, Record};
use crate::rules::Rule;
use crate::words::Flag;
use std::collections::{BTreeMap, BTreeSet};

/// Checks a text as a whole.
pub(super) fn check(found: &mut Found, metadata: &Metadata) {
    let mut starts = Vec::with_capacity(metadata.items.len());
    let mut line = 1;
    for item in &metadata.items {
        starts.push(line);
        line += item.lines();
    }
    let functions = metadata.functions();
    let text = Text {
        code: functions.iter().map(|function| (function.name.as_str(), function.id)).collect(),
        ids: functions.iter().map(|function| function.id).collect(),
        has_data: metadata.segments().next().is_some(),
    };
    let mut names = BTreeMap::new();
    let mut ids = BTreeMap::new();
    let mut formats = BTreeMap::new();
    let mut segments = BTreeMap::new();
    let mut first_kernel = None;
    let mut markers = 0;
    for (item, &start) in metadata.items.iter().zip(&starts) {
        match item {
            Item::Block(block) => {
                if let Some(first) = names.insert(block.name.as_str(), start) {
                    let message = format!("a block in line {first} also describes `{}`", block.name);
                    found.add(start, Rule::BlockTwice, message);
                }
                if block.kernel().is_some() {
                    first_kernel.get_or_insert(start);
                }
                for (record, line) in block.records.iter().zip(start + 1..) {
                    let (table, id, rule) = match record {
                        Record::UniqueId(id) => (&mut ids, *id, Rule::UniqueIdShared),
                        Record::Printf(printf) => (&mut formats, printf.id, Rule::PrintfShared),
                        _ => continue,
                    };
                    if let Some((first, of)) = table.insert(id, (line, start))
                        && (of != start || rule == Rule::PrintfShared)
                    {
                        found.add(line, rule, format!("line {first} also has the number {id}"));
                    }
                }
                text.check_block(found, block, start);
            }
            Item::Data(segment) => {
                if let Some(first) = segments.insert(segment.buffer, start) {
                    let message = format!("line {first} has data for the same constant buffer");
                    found.add(start, Rule::SegmentTwice, message);
                }
            }
            Item::CallMarker => {
                markers += 1;
                if markers == 2 {
                    found.add(start, Rule::MarkerCount, "the mark is there a second time");
                }
            }
            Item::Debug(_) | Item::OldArgument(_) | Item::Il(_) => {}
        }
    }
    if let Some(line) = first_kernel
        && markers == 0
        && !text.ids.is_empty()
    {
        found.add(line, Rule::MarkerCount, "the text has a kernel and code, and no mark of the call");
    }
}

/// What is known of the text beside its blocks.
struct Text<'a> {
    /// Functions with code: names and numbers.
    code: BTreeMap<&'a str, u32>,
    /// Numbers of the functions with code.
    ids: BTreeSet<u32>,
    /// There is a data segment.
    has_data: bool,
}

impl Text<'_> {
    /// Checks a block against the text. The block that a binary has of one kernel is without the code, so
    /// there is nothing to check.
    fn check_block(&self, found: &mut Found, block: &Block, start: usize) {
        let has_code = !self.ids.is_empty();
        for (record, line) in block.records.iter().zip(start + 1..) {
            match record {
                Record::UniqueId(id) => {
                    if let Some(number) = self.code.get(block.name.as_str())
                        && number != id
                    {
                        let name = shown(block.name.as_str());
                        let message = format!("the code of `{name}` has the number {number}");
                        found.add(line, Rule::FunctionNumber, message);
                    }
                }
                Record::Functions(list) => self.check_list(found, list, false, line),
                Record::Intrinsics(list) => self.check_list(found, list, true, line),
                Record::Flag(Flag::DataRequired) if has_code && !self.has_data => {
                    found.add(line, Rule::DataRequired, "the text has no data segment");
                }
                _ => {}
            }
        }
    }

    /// Checks a list of functions or of intrinsics.
    fn check_list(&self, found: &mut Found, list: &[u32], intrinsics: bool, line: usize) {
        let mut seen = BTreeSet::new();
        let twice: Vec<_> = list.iter().filter(|id| !seen.insert(**id)).collect();
        if let Some(id) = twice.first() {
            let message = format!("{id} is in the list twice{}", and_more(twice.len()));
            found.add(line, Rule::FunctionTwice, message);
        }
        if self.ids.is_empty() {
            return;
        }
        let wrong: Vec<_> = list.iter().filter(|id| self.ids.contains(id) == intrinsics).collect();
        if let Some(id) = wrong.first() {
            let (rule, code) = match intrinsics {
                true => (Rule::IntrinsicInText, "has code"),
                false => (Rule::FunctionUnknown, "has no code"),
            };
            found.add(line, rule, format!("the text {code} of {id}{}", and_more(wrong.len())));
        }
    }
}
