//! `x`: memory as GDB shows it, from an address on.

use super::commands::{Done, stay};
use super::format::{As, Format};
use super::terminal::Terminal;
use debug::{Letter, Space, Stop};
use std::fmt::Write;

/// Units that are shown at once.
const MOST: u64 = 4096;
/// Characters of a text that are shown.
const CHARACTERS: u64 = 200;

/// What `x` goes on with.
#[derive(Clone, Copy)]
pub struct Examined {
    space: Space,
    next: u64,
    format: Format,
}

impl Default for Examined {
    fn default() -> Examined {
        Examined { space: Space::Global, next: 0, format: Format::default() }
    }
}

/// `x/FORMAT ADDRESS`; without an address it goes on behind the last one.
pub fn examine(terminal: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    let (format, text) = Format::split(rest)?;
    let last = terminal.examined.unwrap_or_default();
    let (space, from) = match (text, terminal.examined) {
        ("", None) => return Err("`x` takes an address: `x/4xw tile`, `x/8xb lds:16`, `x/3i $pc`".to_owned()),
        ("", Some(last)) => (last.space, last.next),
        (text, _) => place(stop, text)?,
    };
    // What is not said is as it was the last time.
    let shown = format.shown.or(last.format.shown).unwrap_or(As::Number(Letter::Hex));
    let size = format.size.or(last.format.size).unwrap_or(4);
    let count = match (format.count, text) {
        (Some(count), _) => count,
        (None, "") => last.format.count.unwrap_or(1),
        (None, _) => 1,
    };
    if !(1..=MOST).contains(&count) {
        return Err(format!("1 to {MOST} can be shown at once, and not {count}"));
    }
    let mut next = from;
    let done = match shown {
        As::Instruction => instructions(stop, &mut next, count),
        As::Text => (0..count).try_for_each(|_| characters(stop, space, &mut next)),
        As::Number(letter) => numbers(stop, space, &mut next, (count, size, letter)),
    };
    let format = Format { count: Some(count), shown: Some(shown), size: Some(size) };
    terminal.examined = Some(Examined { space, next, format });
    done?;
    stay()
}

/// Where a text leads: an expression, which is an address of its own memory or a flat one, or `lds:`, `private:` or `global:` in front of
/// one.
fn place(stop: &Stop<'_>, text: &str) -> Result<(Space, u64), String> {
    for (prefix, space) in [("lds:", Space::Lds), ("private:", Space::Private), ("global:", Space::Global)] {
        if let Some(text) = text.strip_prefix(prefix) {
            return Ok((space, stop.address(text, stop.lane())?.1));
        }
    }
    stop.address(text, stop.lane())
}

/// An address, with the memory that it is one of.
fn named(space: Space, address: u64) -> String {
    match space {
        Space::Global => format!("{address:#x}"),
        Space::Lds => format!("lds:{address:#x}"),
        Space::Private => format!("private:{address:#x}"),
    }
}

fn missing(space: Space, address: u64) -> String {
    format!("there is no memory at {}", named(space, address))
}

/// Rows of 16 bytes, or of eight numbers where these are short.
fn numbers(
    stop: &Stop<'_>,
    space: Space,
    next: &mut u64,
    (count, size, letter): (u64, usize, Letter),
) -> Result<(), String> {
    // GDB shows a number in hexadecimal with all its digits here.
    let letter = if letter == Letter::Hex { Letter::Padded } else { letter };
    let a_row = match (letter, size) {
        (Letter::Binary, 1) | (Letter::Char, _) => 8,
        (Letter::Binary, _) => 2,
        _ => (16 / size as u64).min(8),
    };
    let mut left = count;
    while left > 0 {
        let mut row = format!("{}:", named(space, *next));
        for _ in 0..a_row.min(left) {
            let Some(text) = stop.unit(space, *next, size, letter) else {
                if !row.ends_with(':') {
                    outln!("{row}");
                }
                return Err(missing(space, *next));
            };
            // Of bits all are shown, as GDB has it.
            let width = if letter == Letter::Binary { 8 * size } else { 0 };
            let _ = write!(row, "  {text:0>width$}");
            *next = next.wrapping_add(size as u64);
        }
        outln!("{row}");
        left = left.saturating_sub(a_row);
    }
    Ok(())
}

/// A text as C writes it, up to its end.
fn characters(stop: &Stop<'_>, space: Space, next: &mut u64) -> Result<(), String> {
    let mut text = String::new();
    let first = *next;
    let mut end = "...";
    for _ in 0..CHARACTERS {
        let mut byte = [0];
        if !stop.read(space, stop.lane(), *next, &mut byte) {
            return Err(missing(space, *next));
        }
        *next = next.wrapping_add(1);
        match byte[0] {
            0 => {
                end = "";
                break;
            }
            byte => text.extend(std::ascii::escape_default(byte).map(char::from)),
        }
    }
    outln!("{}:  \"{text}\"{end}", named(space, first));
    Ok(())
}

/// Instructions, by their addresses in the file, as those of breakpoints are.
fn instructions(stop: &Stop<'_>, next: &mut u64, count: u64) -> Result<(), String> {
    // Where the code is in memory is an address of it, too.
    let loaded = next.wrapping_sub(stop.at.base());
    if stop.at.text_at(*next).is_none() && stop.at.text_at(loaded).is_some() {
        *next = loaded;
    }
    for _ in 0..count {
        let Some((text, length)) = stop.at.text_at(*next) else {
            return Err(format!("there is no code at {:#x}", *next));
        };
        let function = stop.program.function_at(*next);
        let place = function.map_or(String::new(), |one| format!(" <{}+{}>", one.name, *next - one.start));
        let mark = if *next == stop.at.address() { '>' } else { ' ' };
        outln!("{mark}{:#x}{place}:  {text}", *next);
        *next += length;
    }
    Ok(())
}
