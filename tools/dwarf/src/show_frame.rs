//! Prints call frame information as text.

use crate::frame::{Cfa, Common, Frames, Row, Rule};
use crate::names::Register;
use crate::op::Encoding;
use crate::show::expression;
use std::fmt::Write;

/// Returns the text of a rule for the frame address, such as `s32 + 16 in private memory`.
fn show_cfa(cfa: &Cfa, encoding: Encoding) -> String {
    match cfa {
        Cfa::Register(register, offset, space) => {
            let sign = if *offset < 0 { '-' } else { '+' };
            format!("{register} {sign} {} in {space} memory", offset.unsigned_abs())
        }
        Cfa::Expression(bytes) => expression(bytes, encoding),
    }
}

/// Returns the text of a rule, such as `at frame - 8`.
fn show_rule(rule: &Rule, encoding: Encoding) -> String {
    let frame = |offset: i64| {
        let sign = if offset < 0 { '-' } else { '+' };
        format!("frame {sign} {}", offset.unsigned_abs())
    };
    match rule {
        Rule::Undefined => "is lost".to_owned(),
        Rule::Same => "is unchanged".to_owned(),
        Rule::Offset(offset) => format!("at {}", frame(*offset)),
        Rule::ValueOffset(offset) => format!("= {}", frame(*offset)),
        Rule::Register(register) => format!("in {register}"),
        Rule::Expression(bytes) => format!("at {}", expression(bytes, encoding)),
        Rule::ValueExpression(bytes) => format!("= {}", expression(bytes, encoding)),
    }
}

impl Frames {
    /// Returns the text of a row, such as `frame: s32 + 16 in private memory; pc at frame - 8`. The text
    /// omits registers without a rule, whose values are unchanged.
    pub fn row_text(row: &Row, common: &Common) -> String {
        let frame = row.cfa.iter().map(|cfa| format!("frame: {}", show_cfa(cfa, common.encoding)));
        let rule =
            |(register, rule): (&Register, &Rule)| format!("{register} {}", show_rule(rule, common.encoding));
        let parts: Vec<String> = frame.chain(row.rules.iter().map(rule)).collect();
        if parts.is_empty() { "nothing is said".to_owned() } else { parts.join("; ") }
    }

    /// Returns the text of all functions with their rows. For rows that cannot be read, the text contains the
    /// error.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for frame in &self.frames {
            let common = self.common_of(frame);
            let Common { augmentation, return_address, .. } = common;
            let extended = if augmentation.is_empty() { String::new() } else { format!(" {augmentation}") };
            let _ = writeln!(
                out,
                "frames of {:#x}..{:#x}{extended}, returns to {return_address}",
                frame.from, frame.to
            );
            match self.rows(frame) {
                Ok(rows) => rows.iter().for_each(|row| {
                    let _ =
                        writeln!(out, "  {:#x}..{:#x}  {}", row.from, row.to, Frames::row_text(row, common));
                }),
                Err(why) => {
                    let _ = writeln!(out, "  ({why})");
                }
            }
        }
        out
    }
}
