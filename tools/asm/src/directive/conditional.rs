//! `.if` and related directives.

use crate::assembler::Assembler;
use crate::cursor::Cursor;
use crate::error::{Result, error};
use std::ops::Range;

/// Open `.if`.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    /// Whether the current lines are assembled.
    pub active: bool,
    /// Whether the later branches of this `.if` (`.elseif`, `.else`) must be skipped. This is so if a branch
    /// has been taken already, or if the `.if` is itself in skipped text.
    done: bool,
    seen_else: bool,
    pub span: Range<usize>,
}

/// Maximum nesting depth.
const MAX_CONDITIONS: usize = 1000;

impl Assembler {
    /// Handles `.if` and related directives. Returns `false`, without reading anything, if `name` is not such
    /// a directive.
    pub(crate) fn conditional(&mut self, cur: &mut Cursor, name: &str, span: Range<usize>) -> Result<bool> {
        match name {
            ".else" | ".elseif" => {
                self.other_branch(cur, name == ".elseif", span)?;
                return Ok(true);
            }
            ".endif" => {
                if self.conditions.pop().is_none() {
                    return Err(error(span, "`.endif` without `.if`"));
                }
                return Ok(true);
            }
            _ if !is_if(name) => return Ok(false),
            _ => {}
        }
        if self.conditions.len() >= MAX_CONDITIONS {
            self.stopped = true;
            return Err(error(span, "`.if`s are nested too deeply"));
        }
        let skipping = self.is_skipping();
        let holds = if skipping {
            cur.rest();
            false
        } else {
            match self.test(cur, name) {
                Ok(holds) => holds,
                Err(mistake) => {
                    // This entry lets `.endif` find its `.if`.
                    self.conditions.push(Condition { active: false, done: true, seen_else: false, span });
                    return Err(mistake);
                }
            }
        };
        let span = self.place_of(span.start)..self.place_of(span.start) + name.len();
        self.conditions.push(Condition { active: holds, done: skipping || holds, seen_else: false, span });
        Ok(true)
    }

    fn other_branch(&mut self, cur: &mut Cursor, has_test: bool, span: Range<usize>) -> Result<()> {
        let Some(condition) = self.conditions.last_mut() else {
            return Err(error(span, "`.else` without `.if`"));
        };
        if condition.seen_else {
            return Err(error(span, "a second `.else`"));
        }
        condition.seen_else = !has_test;
        let done = condition.done;
        condition.active = false;
        if done {
            if has_test {
                cur.rest();
            }
            return Ok(());
        }
        let holds = !has_test || self.absolute(cur)? != 0;
        if let Some(condition) = self.conditions.last_mut() {
            condition.active = holds;
            condition.done = holds;
        }
        Ok(())
    }

    fn test(&mut self, cur: &mut Cursor, name: &str) -> Result<bool> {
        Ok(match name {
            ".if" | ".ifne" => self.absolute(cur)? != 0,
            ".ifeq" => self.absolute(cur)? == 0,
            ".ifgt" => self.absolute(cur)? > 0,
            ".ifge" => self.absolute(cur)? >= 0,
            ".iflt" => self.absolute(cur)? < 0,
            ".ifle" => self.absolute(cur)? <= 0,
            ".ifdef" => self.is_defined(cur)?,
            ".ifndef" | ".ifnotdef" => !self.is_defined(cur)?,
            ".ifb" => cur.rest().is_empty(),
            ".ifnb" => !cur.rest().is_empty(),
            ".ifc" => same_text(cur)?,
            ".ifnc" => !same_text(cur)?,
            ".ifeqs" => same_strings(cur)?,
            _ => !same_strings(cur)?,
        })
    }

    fn is_defined(&mut self, cur: &mut Cursor) -> Result<bool> {
        let name = cur.expect_name("a symbol")?;
        Ok(self.symbols.find(&name).is_some_and(|id| self.symbols[id].is_defined()))
    }
}

fn is_if(name: &str) -> bool {
    const TESTS: [&str; 15] = [
        ".if",
        ".ifne",
        ".ifeq",
        ".ifgt",
        ".ifge",
        ".iflt",
        ".ifle",
        ".ifdef",
        ".ifndef",
        ".ifnotdef",
        ".ifb",
        ".ifnb",
        ".ifc",
        ".ifnc",
        ".ifeqs",
    ];
    name.starts_with(".if") && (TESTS.contains(&name) || name == ".ifnes")
}

/// Reads `.ifc a, b`. Returns whether both texts are equal, ignoring blanks around them.
fn same_text(cur: &mut Cursor) -> Result<bool> {
    let rest = cur.rest();
    let Some((first, second)) = rest.split_once(',') else {
        return Err(cur.unexpected("two texts with a comma between"));
    };
    Ok(first.trim() == second.trim())
}

fn same_strings(cur: &mut Cursor) -> Result<bool> {
    let first = cur.string()?;
    cur.expect(b',')?;
    Ok(first == cur.string()?)
}
