//! The debugger command `x`: prints memory from an address on, as GDB's command does.

use super::commands::{Done, stay};
use super::format::{As, Format};
use super::terminal::Terminal;
use debug::{NumberFormat, Space, Stop};
use std::fmt::Write;

/// Limit on the number of units that are printed at once.
const MOST: u64 = 4096;
/// Limit on the number of characters of a string that are printed.
const CHARACTERS: u64 = 200;

/// Where and how a repeated `x` continues.
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

/// Runs `x/FORMAT ADDRESS`: prints memory. Without an address, continues after the memory that was printed
/// last.
pub fn examine(terminal: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    let (format, text) = Format::split(rest)?;
    let last = terminal.examined.unwrap_or_default();
    let (space, from) = match (text, terminal.examined) {
        ("", None) => return Err("`x` takes an address: `x/4xw tile`, `x/8xb lds:16`, `x/3i $pc`".to_owned()),
        ("", Some(last)) => (last.space, last.next),
        (text, _) => space_and_address(stop, text)?,
    };
    // Parts of the format that the user omits are those of the previous `x` command.
    let shown = format.shown.or(last.format.shown).unwrap_or(As::Number(NumberFormat::Hex));
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

/// Returns the kind of memory and the address to which the user's text refers. The text is an expression.
/// With a prefix `lds:`, `private:` or `global:`, its value is an address in this memory. Without a prefix,
/// the value is a flat address, or an address in a memory that the expression determines.
fn space_and_address(stop: &Stop<'_>, text: &str) -> Result<(Space, u64), String> {
    for (prefix, space) in [("lds:", Space::Lds), ("private:", Space::Private), ("global:", Space::Global)] {
        if let Some(text) = text.strip_prefix(prefix) {
            return Ok((space, stop.address(text, stop.lane())?.1));
        }
    }
    stop.address(text, stop.lane())
}

/// Returns the text of an address with its memory.
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

/// Prints numbers in rows of 16 bytes. A row has at most eight numbers, even if they are smaller than two
/// bytes.
fn numbers(
    stop: &Stop<'_>,
    space: Space,
    next: &mut u64,
    (count, size, letter): (u64, usize, NumberFormat),
) -> Result<(), String> {
    // Here GDB prints a hexadecimal number with all its digits.
    let letter = if letter == NumberFormat::Hex { NumberFormat::Padded } else { letter };
    let a_row = match (letter, size) {
        (NumberFormat::Binary, 1) | (NumberFormat::Char, _) => 8,
        (NumberFormat::Binary, _) => 2,
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
            // Binary numbers are printed with all their digits, as in GDB.
            let width = if letter == NumberFormat::Binary { 8 * size } else { 0 };
            let _ = write!(row, "  {text:0>width$}");
            *next = next.wrapping_add(size as u64);
        }
        outln!("{row}");
        left = left.saturating_sub(a_row);
    }
    Ok(())
}

/// Prints a string as C writes it, up to its terminating zero.
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

/// Prints instructions with their addresses in the object file, because breakpoints use such addresses too.
fn instructions(stop: &Stop<'_>, next: &mut u64, count: u64) -> Result<(), String> {
    // The user may also give the address of the code in memory.
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
