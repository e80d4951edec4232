//! Prints debug information as text.

use crate::eval::{Goal, evaluate};
use crate::info::{Attribute, Content, DebugInfo, Die, Listed, Unit};
use crate::llvm::marked;
use crate::location::Location;
use crate::machine::{Machine, Procedure};
use crate::names::AddressSpace;
use crate::op::{Encoding, Opcode, Ops};
use crate::value::{BaseType, Kind};
use crate::{Need, Reason};
use std::borrow::Cow;
use std::fmt::Write;

/// Returns the text of an expression: its operations, separated by semicolons, with nested expressions in
/// parentheses.
pub fn expression(bytes: &[u8], encoding: Encoding) -> String {
    let mut text = String::new();
    for (n, op) in Ops::new(bytes, encoding).enumerate() {
        text += if n > 0 { "; " } else { "" };
        match op {
            Ok(op) if matches!(op.opcode, Opcode::ENTRY_VALUE | Opcode::GNU_ENTRY_VALUE) => {
                text += &format!("{} ({})", op.opcode, expression(op.bytes(0), encoding));
            }
            Ok(op) => text += &op.to_string(),
            Err(error) => text += &format!("({error})"),
        }
    }
    if text.is_empty() {
        text += "(empty)";
    }
    text
}

impl DebugInfo {
    /// Returns the text of all entries with all attributes.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (number, unit) in self.units.iter().enumerate() {
            let Unit { offset, version, encoding, .. } = unit;
            let bits = u32::from(encoding.offset_size) * 8;
            let _ = writeln!(out, "unit at {offset:#x}: version {version}, {bits}-bit format");
            for die in self.entries.iter().filter(|die| die.unit == number) {
                self.write_entry(die, &mut out);
            }
        }
        out
    }

    fn write_entry(&self, die: &Die, out: &mut String) {
        let indent = 2 * die.depth;
        let _ = writeln!(out, "{:#010x} {:indent$}{}", die.offset, "", die.tag);
        for attribute in &die.attributes {
            let Attribute { name, .. } = attribute;
            let _ = writeln!(out, "{:11}{:indent$}  {name} {}", "", "", self.content(die, attribute));
        }
    }

    /// Returns the text of an attribute's value.
    pub fn content(&self, die: &Die, attribute: &Attribute) -> String {
        match &attribute.content {
            Content::Text(text) => format!("{text:?}"),
            Content::Number(number) => number.to_string(),
            Content::Address(address) => format!("{address:#x}"),
            Content::Flag(flag) => flag.to_string(),
            Content::Reference(offset) => match self.entry(*offset) {
                Some(other) if other.tag.ends_with("_type") => {
                    format!("{offset:#x} {}", self.type_name(Some(*offset)))
                }
                Some(other) => {
                    format!("{offset:#x} {}", self.name_of(other).unwrap_or("")).trim_end().to_owned()
                }
                None => format!("{offset:#x}, where nothing begins"),
            },
            Content::Expression(bytes) => self.expression_text(die, bytes),
            Content::Locations(list) => {
                let one = |Listed { range, expression }: &Listed| match range {
                    Some((from, to)) => {
                        format!("{from:#x}..{to:#x}: {}", self.expression_text(die, expression))
                    }
                    None => format!("elsewhere: {}", self.expression_text(die, expression)),
                };
                format!("{{ {} }}", list.iter().map(one).collect::<Vec<_>>().join(" | "))
            }
            Content::Ranges(ranges) => {
                let one = |(from, to): &(u64, u64)| format!("{from:#x}..{to:#x}");
                ranges.iter().map(one).collect::<Vec<_>>().join(", ")
            }
            Content::Bytes(bytes) => format!("{bytes:02x?}"),
            Content::Named(name) => name.clone(),
            Content::Offset(offset) => format!("offset {offset:#x}"),
            Content::Unread(why) => format!("({why})"),
        }
    }

    /// Returns the text of an expression. If the expression ends with LLVM's mark for an address space (see
    /// module `llvm`), the text shows the location in that address space.
    fn expression_text(&self, die: &Die, bytes: &[u8]) -> String {
        let encoding = self.units[die.unit].encoding;
        let mut text = expression(bytes, encoding);
        if let Some((_, space)) = marked(bytes, encoding) {
            let _ = write!(text, " (LLVM means {space} memory)");
        }
        text
    }

    /// Returns a text about an address: the functions that contain it, the functions inlined into these
    /// functions there, and their variables with locations. Returns `None` if no entry covers the address.
    pub fn at(&self, address: u64) -> Option<String> {
        let path = self.around(address);
        if path.is_empty() {
            return None;
        }
        let mut out = String::new();
        for at in path {
            let die = &self.entries[at];
            let what = match die.tag.as_str() {
                "DW_TAG_compile_unit" => "unit",
                "DW_TAG_subprogram" => "function",
                "DW_TAG_inlined_subroutine" => "inlined",
                "DW_TAG_lexical_block" => "block",
                other => other,
            };
            let _ = write!(out, "{what} {}", self.name_of(die).unwrap_or(""));
            let ranges: Vec<String> =
                die.ranges().iter().map(|(from, to)| format!("{from:#x}..{to:#x}")).collect();
            let _ = writeln!(out, "  {}", ranges.join(", "));
            for attribute in &die.attributes {
                if attribute.name == "DW_AT_frame_base" || attribute.name.starts_with("DW_AT_LLVM_") {
                    let _ = writeln!(out, "  {} {}", attribute.name, self.in_force(die, attribute, address));
                }
            }
            let is_variable =
                |die: &&Die| matches!(die.tag.as_str(), "DW_TAG_variable" | "DW_TAG_formal_parameter");
            for variable in self.children(at).filter(is_variable) {
                // A variable outside of functions is listed only if it has a location. Without a location,
                // the entry is only a declaration, which need not be visible at this address.
                if die.depth > 0 || variable.get("DW_AT_location").is_some() {
                    self.write_variable(variable, address, &mut out);
                }
            }
        }
        Some(out)
    }

    /// Returns the text of the value that an attribute has at an address. For a location list, this is the
    /// text of the list entry that applies at the address. The procedures that the expression calls are
    /// appended.
    fn in_force(&self, die: &Die, attribute: &Attribute, address: u64) -> String {
        if !matches!(attribute.content, Content::Locations(_)) {
            return self.content(die, attribute);
        }
        let Some(bytes) = self.expression_at(die, &attribute.name, address) else {
            return "is not said here".to_owned();
        };
        let mut out = self.expression_text(die, bytes);
        self.write_called(die.unit, bytes, &mut Vec::new(), &mut out);
        out
    }

    /// Appends the procedures that an expression calls directly or indirectly. Each procedure appears once,
    /// in a line of its own.
    fn write_called(&self, unit: usize, bytes: &[u8], known: &mut Vec<u64>, out: &mut String) {
        const MOST: usize = 64;
        for op in Ops::new(bytes, self.units[unit].encoding).flatten() {
            let is_call = matches!(op.opcode, Opcode::CALL2 | Opcode::CALL4);
            if !is_call || known.len() >= MOST || known.contains(&op.unsigned(0)) {
                continue;
            }
            known.push(op.unsigned(0));
            let Ok(procedure) = self.procedure(unit, op.unsigned(0)) else { continue };
            let text = expression(&procedure.expression, procedure.encoding);
            let _ = write!(out, "\n    {}: {text}", op.unsigned(0));
            self.write_called(unit, &procedure.expression, known, out);
        }
    }

    fn write_variable(&self, variable: &Die, address: u64, out: &mut String) {
        let origin = match variable.get("DW_AT_abstract_origin") {
            Some(&Content::Reference(offset)) => self.entry(offset).unwrap_or(variable),
            _ => variable,
        };
        let ty = match origin.get("DW_AT_type") {
            Some(&Content::Reference(ty)) => self.type_name(Some(ty)),
            _ => "?".to_owned(),
        };
        let name = self.name_of(variable).unwrap_or("?");
        let _ = writeln!(out, "  {name}: {ty} {}", self.variable_place(variable, address));
    }

    /// Returns the location expression that applies at an address, if any.
    pub fn location_at<'a>(&self, die: &'a Die, address: u64) -> Option<&'a [u8]> {
        self.expression_at(die, "DW_AT_location", address)
    }

    /// Returns the expression of attribute `attribute` that applies at an address, if any.
    pub fn expression_at<'a>(&self, die: &'a Die, attribute: &str, address: u64) -> Option<&'a [u8]> {
        match die.get(attribute)? {
            Content::Expression(bytes) => Some(bytes),
            Content::Locations(list) => {
                let holds =
                    |range: Option<(u64, u64)>| range.is_some_and(|(from, to)| (from..to).contains(&address));
                let entry = list
                    .iter()
                    .find(|entry| holds(entry.range))
                    .or(list.iter().find(|entry| entry.range.is_none()));
                entry.map(|entry| entry.expression.as_slice())
            }
            _ => None,
        }
    }

    fn variable_place(&self, variable: &Die, address: u64) -> String {
        let Some(bytes) = self.location_at(variable, address) else {
            return match variable.get("DW_AT_const_value") {
                Some(Content::Number(value)) => format!("= {value}"),
                Some(_) => "is a constant".to_owned(),
                None if variable.get("DW_AT_location").is_some() => "is nowhere here".to_owned(),
                None => "is nowhere".to_owned(),
            };
        };
        let encoding = self.units[variable.unit].encoding;
        let text = self.expression_text(variable, bytes);
        let known = self.requested_info(variable.unit);
        let location = match marked(bytes, encoding) {
            Some((address, space)) => marked_location(address, space, encoding, &known),
            None => evaluate(bytes, encoding, Goal::Location, &known, &[])
                .ok()
                .and_then(|outcome| outcome.location().map(Location::to_string)),
        };
        match location {
            Some(place) => format!("at {place}: {text}"),
            None => format!("at {text}"),
        }
    }
}

/// Returns the text of a location that ends with LLVM's mark for an address space (see module `llvm`).
fn marked_location(
    address: &[u8],
    space: AddressSpace,
    encoding: Encoding,
    known: &Known<'_>,
) -> Option<String> {
    let outcome = evaluate(address, encoding, Goal::Value, known, &[]).ok()?;
    let address = outcome.value()?.unsigned().ok()?;
    Location::memory(space, u64::try_from(address).ok()?).ok().map(|location| location.to_string())
}

/// The machine for evaluating expressions when no program is running. It knows only what is in the file:
/// called expressions, base types, and addresses.
pub struct Known<'a> {
    info: &'a DebugInfo,
    unit: usize,
}

impl DebugInfo {
    /// Returns the information that a unit's expressions may request from the file.
    pub fn requested_info(&self, unit: usize) -> Known<'_> {
        Known { info: self, unit }
    }
}

impl DebugInfo {
    /// Returns the expression of the entry at an offset of a unit.
    fn procedure(&self, unit: usize, offset: u64) -> Result<Procedure<'_>, Reason> {
        self.procedure_at(self.units[unit].offset.saturating_add(offset))
    }

    /// Returns the expression of the entry at an offset of `.debug_info`.
    fn procedure_at(&self, offset: u64) -> Result<Procedure<'_>, Reason> {
        let die = self.entry(offset).ok_or(Need::Entry(offset))?;
        let expression = match die.get("DW_AT_location") {
            Some(Content::Expression(bytes)) => Cow::Borrowed(bytes.as_slice()),
            Some(_) => return Err(Need::Entry(offset).into()),
            None => Cow::Borrowed(&[][..]),
        };
        let encoding = self.units[die.unit].encoding;
        Ok(Procedure { expression, encoding, is_procedure: die.tag == "DW_TAG_dwarf_procedure" })
    }
}

impl Machine for Known<'_> {
    fn call(&self, offset: u64) -> Result<Procedure<'_>, Reason> {
        self.info.procedure(self.unit, offset)
    }

    fn call_ref(&self, offset: u64) -> Result<Procedure<'_>, Reason> {
        self.info.procedure_at(offset)
    }

    fn base_type(&self, offset: u64) -> Result<BaseType, Reason> {
        let need = Need::Type(offset);
        let die = self.info.entry(self.info.units[self.unit].offset + offset).ok_or(need)?;
        let number = |name: &str| match die.get(name) {
            Some(Content::Number(number)) => u32::try_from(*number).ok(),
            _ => None,
        };
        let kind = match die.get("DW_AT_encoding") {
            Some(Content::Named(name)) => match name.as_str() {
                "DW_ATE_boolean" => Kind::Boolean,
                "DW_ATE_float" => Kind::Float,
                "DW_ATE_signed" | "DW_ATE_signed_char" => Kind::Signed,
                "DW_ATE_unsigned" | "DW_ATE_unsigned_char" | "DW_ATE_UTF" => Kind::Unsigned,
                _ => Kind::Other(0),
            },
            _ => return Err(need.into()),
        };
        let bytes = number("DW_AT_byte_size").and_then(|bytes| bytes.checked_mul(8)).ok_or(need)?;
        // Each element of a vector type has the type without this attribute. There must be at least one
        // element (LLVM's AMDGPU guide, seed 000, line 1470).
        let elements = number("DW_AT_LLVM_vector_size").unwrap_or(1);
        if elements == 0 {
            return Err(need.into());
        }
        Ok(BaseType { kind, bits: number("DW_AT_bit_size").unwrap_or(bytes), elements })
    }

    fn address(&self, index: u64) -> Result<u64, Reason> {
        let addresses = &self.info.units[self.unit].addresses;
        usize::try_from(index)
            .ok()
            .and_then(|index| addresses.get(index))
            .copied()
            .ok_or(Need::Address(index).into())
    }
}
