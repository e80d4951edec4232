//! Directives.

pub(crate) mod amdhsa;
mod cfi;
pub(crate) mod conditional;
mod data;
mod include;
mod line;
pub(crate) mod linker;
pub(crate) mod macros;
pub(crate) mod place;
mod sections;
pub(crate) mod symbols;
mod target;
mod v2;

use crate::assembler::Assembler;
use crate::cursor::Cursor;
use crate::error::{Result, error};
use std::ops::Range;

impl Assembler {
    /// Handles a directive, which is a statement that begins with `.name`. The cursor is after the name.
    pub(crate) fn directive(&mut self, cur: &mut Cursor, name: &str, span: Range<usize>) -> Result<()> {
        let found = self.data_directive(cur, name, &span)?
            || self.place_directive(cur, name, &span)?
            || self.section_directive(cur, name, &span)?
            || self.symbol_directive(cur, name, &span)?
            || self.line_directive(cur, name, &span)?
            || self.cfi_directive(cur, name, &span)?
            || self.linker_directive(cur, name, &span)?
            || self.target_directive(cur, name, &span)?
            || self.v2_directive(cur, name, &span)?
            || self.conditional(cur, name, span.clone())?
            || self.macro_directive(cur, name, &span)?;
        if found {
            return Ok(());
        }
        if self.macros.contains_key(name) {
            return self.invoke(cur, name, span.start);
        }
        Err(error(span, format!("unknown directive `{name}`")).label("not a directive"))
    }
}
