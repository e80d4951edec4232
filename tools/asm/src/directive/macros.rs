//! Handles `.macro`, `.rept`, `.irp` and `.irpc`.
//!
//! The body of a macro or repetition is stored as text. Its expansion is text as well, which is read like the
//! source.

use crate::assembler::Assembler;
use crate::cursor::{Cursor, begins_name, continues_name};
use crate::error::{Result, error};
use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

/// Macro.
#[derive(Clone, Debug)]
pub(crate) struct Macro(Rc<Body>);

#[derive(Debug)]
struct Body {
    parameters: Vec<Parameter>,
    text: String,
}

#[derive(Clone, Debug)]
struct Parameter {
    name: String,
    default: Option<String>,
    required: bool,
    vararg: bool,
}

impl Assembler {
    pub(super) fn macro_directive(
        &mut self,
        cur: &mut Cursor,
        name: &str,
        span: &Range<usize>,
    ) -> Result<bool> {
        match name {
            ".macro" => self.define_macro(cur, span)?,
            ".rept" | ".rep" => self.repeat(cur, span)?,
            ".irp" | ".irpc" => self.repeat_each(cur, name == ".irpc", span)?,
            ".purgem" => {
                let name = cur.expect_name("a macro")?;
                if self.macros.remove(&*name).is_none() {
                    return Err(error(span.clone(), format!("there is no macro `{}`", &*name)));
                }
            }
            ".exitm" => {
                if !self.in_expansion() {
                    return Err(error(span.clone(), "`.exitm` outside of a macro"));
                }
                self.exit_macro = true;
            }
            ".endm" | ".endmacro" => return Err(error(span.clone(), "`.endm` without `.macro`")),
            ".endr" => return Err(error(span.clone(), "`.endr` without `.rept`, `.irp` or `.irpc`")),
            ".altmacro" => self.alternative_macros = true,
            ".noaltmacro" => self.alternative_macros = false,
            ".end" => self.stopped = true,
            ".print" => {
                cur.string()?;
            }
            ".error" | ".err" => {
                let text = if cur.eat(b'"') {
                    cur.pos -= 1;
                    String::from_utf8_lossy(&cur.string()?).into_owned()
                } else {
                    "`.err` met".to_owned()
                };
                return Err(error(span.clone(), text));
            }
            ".warning" => {
                cur.rest();
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn define_macro(&mut self, cur: &mut Cursor, span: &Range<usize>) -> Result<()> {
        let name = cur.expect_name("the name of the macro")?.to_string();
        let mut parameters: Vec<Parameter> = Vec::new();
        cur.eat(b',');
        let mut mistake = None;
        loop {
            cur.blank();
            if cur.at_end() {
                break;
            }
            match parameter(cur) {
                Ok(next) if parameters.iter().any(|other| other.name == next.name) => {
                    mistake = Some(error(cur.span_here(), format!("a second parameter `{}`", next.name)));
                    break;
                }
                Ok(_) if parameters.last().is_some_and(|before| before.vararg) => {
                    mistake = Some(error(cur.span_here(), "a parameter behind one that takes all the rest"));
                    break;
                }
                Ok(next) => parameters.push(next),
                Err(found) => {
                    mistake = Some(found);
                    break;
                }
            }
            cur.eat(b',');
        }
        let text = body(cur, &[".macro"], &[".endm", ".endmacro"]).ok_or_else(|| no_end(span, ".endm"))?;
        if let Some(mistake) = mistake {
            return Err(mistake);
        }
        if self.macros.contains_key(name.as_str()) {
            return Err(error(span.clone(), format!("macro `{name}` is already defined")));
        }
        let text = text.to_owned();
        self.macros.insert(name.into(), Macro(Rc::new(Body { parameters, text })));
        Ok(())
    }

    /// Expands a macro whose name is used like an instruction.
    pub(crate) fn invoke(&mut self, cur: &mut Cursor, name: &str, start: usize) -> Result<()> {
        let Some(Macro(body)) = self.macros.get(name).cloned() else { return Ok(()) };
        cur.pos = start + name.len();
        let values = self.arguments(cur, &body.parameters)?;
        let span = start..cur.pos;
        for (parameter, value) in body.parameters.iter().zip(&values) {
            if parameter.required && value.is_empty() {
                let message = format!("macro `{name}` needs a value for `{}`", parameter.name);
                return Err(error(span, message));
            }
        }
        let names: Vec<&str> = body.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        let mut text = String::new();
        let source = Body::plain(&body.text, &names, self.alternative_macros);
        if !expand(&source, &names, &values, self.expansions, self.expansion_budget, &mut text) {
            return Err(self.too_much(span));
        }
        self.expansions += 1;
        let open = self.conditions.len();
        self.run_expansion(&text, span)?;
        self.exit_macro = false;
        self.conditions.truncate(open);
        Ok(())
    }

    fn repeat(&mut self, cur: &mut Cursor, span: &Range<usize>) -> Result<()> {
        let count = self.absolute(cur);
        let text = body(cur, LOOPS, &[".endr"]).ok_or_else(|| no_end(span, ".endr"))?;
        let count =
            usize::try_from(count?).map_err(|_| error(span.clone(), "a negative number of repetitions"))?;
        // Each repetition counts as one byte more than its text has. Otherwise the budget would not limit
        // repetitions of an empty body.
        if count.saturating_mul(text.len() + 1) > self.expansion_budget {
            return Err(self.too_much(span.clone()));
        }
        let mut all = String::new();
        for _ in 0..count {
            expand(text, &[], &[], self.expansions, usize::MAX, &mut all);
        }
        self.run_expansion(&all, span.clone())
    }

    fn repeat_each(&mut self, cur: &mut Cursor, characters: bool, span: &Range<usize>) -> Result<()> {
        let name = cur.expect_name("the name of the parameter")?.to_string();
        let values = self.repeated_values(cur, characters);
        let text = body(cur, LOOPS, &[".endr"]).ok_or_else(|| no_end(span, ".endr"))?;
        let text = Body::plain(text, &[&name], self.alternative_macros);
        let mut all = String::new();
        for value in values? {
            let budget = self.expansion_budget;
            if !expand(&text, &[&name], &[value], self.expansions, budget, &mut all) {
                return Err(self.too_much(span.clone()));
            }
        }
        self.run_expansion(&all, span.clone())
    }

    /// Returns the values of the parameter of `.irp` or `.irpc`.
    fn repeated_values(&mut self, cur: &mut Cursor, characters: bool) -> Result<Vec<String>> {
        cur.expect(b',')?;
        cur.blank();
        if characters {
            let start = cur.pos;
            let text = cur.rest();
            let inside = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            return match inside {
                None if text.contains([' ', '\t', ',']) => {
                    Err(error(start..cur.pos, "`.irpc` takes one word or string"))
                }
                _ => Ok(inside.unwrap_or(text).chars().map(String::from).collect()),
            };
        }
        if !self.alternative_macros {
            return Ok(all_arguments(cur));
        }
        let text = self.alternative_text(cur, &[])?;
        Ok(all_arguments(&mut Cursor::new(&text)))
    }

    #[cold]
    fn too_much(&mut self, span: Range<usize>) -> crate::error::Error {
        self.stopped = true;
        error(span, "macros and repetitions expand to too much text")
    }
}

const LOOPS: &[&str] = &[".rept", ".rep", ".irp", ".irpc"];

fn no_end(span: &Range<usize>, end: &str) -> crate::error::Error {
    error(span.clone(), format!("no `{end}` ends this")).label("begins here")
}

/// Reads a parameter: `name`, `name:req`, `name:vararg` or `name=default`.
fn parameter(cur: &mut Cursor) -> Result<Parameter> {
    let name = cur.expect_name("the name of a parameter")?.to_string();
    let mut parameter = Parameter { name, default: None, required: false, vararg: false };
    if cur.eat(b':') {
        cur.blank();
        let start = cur.pos;
        match cur.name().unwrap_or_default() {
            "req" => parameter.required = true,
            "vararg" => parameter.vararg = true,
            _ => return Err(error(cur.span_from(start), "expected `req` or `vararg`")),
        }
    }
    if cur.eat(b'=') {
        cur.blank();
        let default = argument(cur, false);
        // A required parameter has no default.
        parameter.default = (!parameter.required).then_some(default);
    }
    Ok(parameter)
}

/// Returns the lines of a body up to the line with the directive that ends it. Returns `None` if there is no
/// such line. Afterwards, the cursor is after this directive.
fn body<'s>(cur: &mut Cursor<'s>, opening: &[&str], closing: &[&str]) -> Option<&'s str> {
    cur.skip_line();
    let start = cur.pos;
    let mut depth = 0u32;
    while !cur.is_end() {
        let line = cur.pos;
        while matches!(cur.peek(), b' ' | b'\t') {
            cur.pos += 1;
        }
        if cur.peek() == b'.' {
            let name = cur.name().unwrap_or_default();
            if closing.contains(&name) {
                if depth == 0 {
                    return cur.text.get(start..line);
                }
                depth -= 1;
            } else if opening.contains(&name) {
                depth += 1;
            }
        }
        cur.skip_line();
    }
    None
}

impl Body {
    /// Returns a macro's body in the ordinary syntax, in which each parameter has a backslash before it. With
    /// `.altmacro` (`alternative`), the source may omit the backslash, which is then added, and an `&` after
    /// a parameter is removed.
    fn plain<'t>(text: &'t str, names: &[&str], alternative: bool) -> Cow<'t, str> {
        if !alternative {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut cur = Cursor::new(text);
        while !cur.is_end() {
            let start = cur.pos;
            let has_backslash = start > 0 && text.as_bytes()[start - 1] == b'\\';
            match cur.name() {
                Some(name) if names.contains(&name) => {
                    out.push_str(if has_backslash { "" } else { "\\" });
                    out.push_str(name);
                    // The text that follows must not become part of the name.
                    if cur.peek() == b'&' {
                        cur.pos += 1;
                        out.push_str("\\()");
                    }
                }
                Some(name) => out.push_str(name),
                None => {
                    cur.pos += 1;
                    while cur.peek().is_ascii_digit() && text.as_bytes()[cur.pos - 1].is_ascii_alphanumeric()
                    {
                        cur.pos += 1;
                    }
                    out.push_str(&text[start..cur.pos]);
                }
            }
        }
        Cow::Owned(out)
    }
}

impl Assembler {
    /// Returns the values of a macro's parameters, read from the arguments of a macro call. With `.altmacro`,
    /// arguments may be `%expression` and `<text>`.
    fn arguments(&mut self, cur: &mut Cursor, parameters: &[Parameter]) -> Result<Vec<String>> {
        if !self.alternative_macros {
            return arguments(cur, parameters);
        }
        let text = self.alternative_text(cur, parameters)?;
        arguments(&mut Cursor::new(&text), parameters)
    }

    /// Converts the arguments of a macro call from the syntax of `.altmacro` to the ordinary syntax. `%` and
    /// `<` have a special meaning only at the beginning of an argument; elsewhere they are operators.
    fn alternative_text(&mut self, cur: &mut Cursor, parameters: &[Parameter]) -> Result<String> {
        let mut text = String::new();
        let mut begins = true;
        while !cur.at_end() && !cur.is_end() {
            let start = cur.pos;
            match cur.peek() {
                b'%' if begins && !cur.peek_at(1).is_ascii_whitespace() => {
                    cur.pos += 1;
                    text.push_str(&self.absolute(cur)?.to_string());
                    text.push(' ');
                }
                b'<' if begins => {
                    angle_string(cur, &mut text)?;
                    begins = matches!(cur.peek(), b' ' | b'\t');
                }
                _ if begins && named_argument(cur, parameters)?.is_some() => {
                    text.push_str(&cur.text[start..cur.pos]);
                }
                _ => {
                    let rest = &cur.text[cur.pos..];
                    let next = rest.chars().next().unwrap_or_default();
                    text.push(next);
                    cur.pos += next.len_utf8();
                    begins = next == ',' || begins && next.is_ascii_whitespace();
                }
            }
        }
        Ok(text)
    }
}

/// Converts the text in `<text>` to a string in quotes. An `!` in the text escapes the next character.
fn angle_string(cur: &mut Cursor, out: &mut String) -> Result<()> {
    let start = cur.pos;
    cur.pos += 1;
    out.push('"');
    loop {
        let rest = &cur.text[cur.pos..];
        let escaped = rest.starts_with('!');
        let next = rest.chars().nth(usize::from(escaped));
        match next {
            None | Some('\n') => return Err(error(start..cur.pos, "`<` without `>`")),
            Some('>') if !escaped => break,
            Some(next) => {
                out.push(next);
                cur.pos += usize::from(escaped) + next.len_utf8();
            }
        }
    }
    cur.pos += 1;
    out.push('"');
    Ok(())
}

/// Returns the arguments up to the end of the statement.
fn all_arguments(cur: &mut Cursor) -> Vec<String> {
    let mut values = Vec::new();
    loop {
        cur.blank();
        if cur.at_end() {
            return values;
        }
        values.push(argument(cur, false));
        cur.eat(b',');
    }
}

/// Returns the values of a macro's parameters. A value comes from an argument by position or by name, or is
/// the parameter's default.
fn arguments(cur: &mut Cursor, parameters: &[Parameter]) -> Result<Vec<String>> {
    let mut values: Vec<Option<String>> = vec![None; parameters.len()];
    let mut by_name = false;
    for count in 0.. {
        cur.blank();
        if cur.at_end() {
            break;
        }
        let start = cur.pos;
        let named = named_argument(cur, parameters)?;
        let here = |cur: &Cursor| start..cur.pos.max(start + 1);
        if by_name && named.is_none() {
            argument(cur, false);
            return Err(error(here(cur), "an argument by position behind one by name"));
        }
        by_name |= named.is_some();
        if count == parameters.len() {
            let text = argument(cur, false);
            return Err(error(here(cur), format!("too many arguments: `{text}`")));
        }
        // If the last parameter is `vararg`, it takes the rest of the line, even if this text begins with the
        // name of another parameter.
        let value = argument(cur, parameters[count].vararg);
        if !value.is_empty() {
            values[named.unwrap_or(count)] = Some(value);
        }
        cur.eat(b',');
    }
    let default = |parameter: &Parameter| parameter.default.clone().unwrap_or_default();
    Ok(parameters
        .iter()
        .zip(values)
        .map(|(parameter, value)| value.unwrap_or_else(|| default(parameter)))
        .collect())
}

/// Returns the index of the parameter that an argument names, if the argument begins with `name=`.
fn named_argument(cur: &mut Cursor, parameters: &[Parameter]) -> Result<Option<usize>> {
    let mut copy = *cur;
    let Some(name) = copy.name() else { return Ok(None) };
    copy.blank();
    if copy.peek() != b'=' || copy.peek_at(1) == b'=' {
        return Ok(None);
    }
    let start = cur.pos;
    copy.pos += 1;
    copy.blank();
    *cur = copy;
    let place = parameters.iter().position(|parameter| parameter.name == name);
    let unknown = || error(start..start + name.len(), format!("the macro has no parameter `{name}`"));
    place.map(Some).ok_or_else(unknown)
}

const fn is_operator(byte: u8) -> bool {
    matches!(
        byte,
        b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>' | b'=' | b'!' | b'&' | b'|' | b'^' | b'~' | b':'
    )
}

/// Reads one argument of a macro call. It ends at a comma, or at a blank that is not next to an operator.
/// Parentheses and strings are kept together.
fn argument(cur: &mut Cursor, everything: bool) -> String {
    if everything {
        return cur.rest().to_owned();
    }
    let bytes = cur.text.as_bytes();
    let start = cur.pos;
    let mut depth = 0u32;
    while !cur.is_end() && !cur.at_end() {
        match cur.peek() {
            b'"' => {
                // A string without an end is taken literally.
                if cur.string().is_err() {
                    continue;
                }
                continue;
            }
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => break,
            b' ' | b'\t' if depth == 0 => {
                let before = bytes[..cur.pos].last().copied().unwrap_or(0);
                let mut copy = *cur;
                copy.blank();
                if copy.at_end() || copy.peek() == b',' || !(is_operator(before) || is_operator(copy.peek()))
                {
                    break;
                }
            }
            _ => {}
        }
        cur.pos += 1;
    }
    let text = cur.text.get(start..cur.pos).unwrap_or_default().trim();
    // A string is replaced with its contents.
    match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(inside) if !inside.contains('"') => inside.to_owned(),
        _ => text.to_owned(),
    }
}

/// Appends the body of a macro with the parameters replaced by their values. Returns `false` if the text
/// becomes longer than the budget allows.
fn expand(
    body: &str,
    names: &[&str],
    values: &[String],
    count: u64,
    budget: usize,
    out: &mut String,
) -> bool {
    let bytes = body.as_bytes();
    let mut copied = 0;
    let mut pos = 0;
    while let Some(found) = bytes[pos..].iter().position(|&byte| byte == b'\\') {
        let at = pos + found;
        let after = bytes.get(at + 1).copied().unwrap_or(0);
        let (end, value): (usize, Option<&str>) = match after {
            b'@' => {
                out.push_str(&body[copied..at]);
                out.push_str(&count.to_string());
                copied = at + 2;
                (at + 2, None)
            }
            b'(' if bytes.get(at + 2) == Some(&b')') => (at + 3, Some("")),
            _ if begins_name(after) || after.is_ascii_digit() => parameter_value(body, at + 1, names, values),
            _ => (at + 1, None),
        };
        if let Some(value) = value {
            out.push_str(&body[copied..at]);
            out.push_str(value);
            copied = end;
        }
        if out.len() > budget {
            return false;
        }
        pos = end;
    }
    out.push_str(&body[copied..]);
    out.len() <= budget
}

fn parameter_value<'v>(
    body: &str,
    start: usize,
    names: &[&str],
    values: &'v [String],
) -> (usize, Option<&'v str>) {
    let bytes = body.as_bytes();
    let mut end = start;
    while bytes.get(end).is_some_and(|&byte| continues_name(byte)) {
        end += 1;
    }
    // Names may contain dots, so a dot after a parameter may belong to its name or not. First the name is
    // tried with everything up to its end, and then only up to the first dot.
    let whole = &body[start..end];
    let first = whole.split('.').next().unwrap_or(whole);
    for name in [whole, first] {
        if let Some(n) = names.iter().position(|other| *other == name) {
            return (start + name.len(), values.get(n).map(String::as_str));
        }
    }
    (end, None)
}
