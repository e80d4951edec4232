//! Registers in expressions: `$v3`, `$s4`, `$s[4:5]`, `$exec`, `$vcc`, `$scc`, `$m0`, `$mode`, `$pc`.

use super::Problem;
use super::types::Ty;
use super::value::{Content, Value, any};
use isa::Reg;
use sim::{Dword, Stopped};

/// Largest number of registers in one name.
const MOST: u16 = 16;

/// A parsed register name.
enum Named {
    Exec,
    Pc,
    Scc,
    Mode,
    /// A scalar register with a name of its own, such as `$vcc`. The fields are the operand codes of its
    /// first and last dword.
    Scalars(u16, u16),
    /// A range of registers: the bank (`s`, `v` or `a`), and the numbers of the first and last register.
    Bank(char, u16, u16),
}

fn parse(name: &str) -> Option<Named> {
    Some(match name {
        "exec" => Named::Exec,
        "pc" => Named::Pc,
        "scc" => Named::Scc,
        "mode" => Named::Mode,
        "vcc" => Named::Scalars(106, 107),
        "m0" => Named::Scalars(124, 124),
        _ => {
            let bank = name.chars().next().filter(|bank| "sva".contains(*bank))?;
            let numbers = &name[1..];
            let inner = numbers.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
            let (first, last) = inner.and_then(|inner| inner.split_once(':')).unwrap_or((numbers, numbers));
            let (first, last): (u16, u16) = (first.parse().ok()?, last.parse().ok()?);
            let end = if bank == 's' { 106 } else { 256 };
            if first > last || last - first >= MOST || last >= end {
                return None;
            }
            Named::Bank(bank, first, last)
        }
    })
}

/// Returns the value that the named registers have in a lane of a wave. Without a wave, returns a value of
/// which only the type is known.
///
/// # Errors
/// There is no such register.
pub(super) fn value(name: &str, at: Option<&Stopped<'_>>, lane: u32) -> Result<Value, Problem> {
    let unknown = || format!("there is no register `${name}`");
    let named = parse(name).ok_or_else(unknown)?;
    let size = match named {
        Named::Exec | Named::Pc => 8,
        Named::Scc => 1,
        Named::Mode => 4,
        Named::Scalars(first, last) | Named::Bank(_, first, last) => 4 * usize::from(last - first + 1),
    };
    let ty = Ty::Bits(size);
    let Some(at) = at else { return Ok(Value::new(ty, None)) };
    let dwords: Vec<(u32, Dword)> = match named {
        Named::Exec => {
            return Ok(Value::new(ty, Some(Content::from_bytes(at.exec().to_le_bytes().to_vec()))));
        }
        Named::Pc => {
            return Ok(Value::new(ty, Some(Content::from_bytes(at.address().to_le_bytes().to_vec()))));
        }
        Named::Scc => return Ok(Value::new(ty, Some(Content::from_bytes(vec![u8::from(at.scc())])))),
        Named::Mode => {
            return Ok(Value::new(ty, Some(Content::from_bytes(at.mode().to_le_bytes().to_vec()))));
        }
        Named::Scalars(first, last) => (first..=last).map(|code| scalar(at, code)).collect(),
        Named::Bank('s', first, last) => {
            (first..=last).map(|code| scalar(at, code).filter(|_| at.target().is_sgpr(Reg(code)))).collect()
        }
        Named::Bank(bank, first, last) => {
            let base = if bank == 'a' { 256 } else { 0 };
            (first..=last).map(|number| vector(at, base + number, lane)).collect::<Option<Vec<_>>>()
        }
    }
    .ok_or_else(unknown)?;
    let bytes = dwords.iter().flat_map(|(dword, _)| dword.to_le_bytes()).collect();
    let undefined = dwords.iter().flat_map(|(_, dword)| at.undefined(*dword).to_le_bytes()).collect();
    let content = Content { bytes, there: None, undefined: any(undefined) };
    let registers = match named {
        Named::Bank(bank, first, last) => {
            let codes =
                ['s', 'v', 'a'].iter().zip([0, 256, 512]).find(|one| *one.0 == bank).map_or(0, |one| one.1);
            (first..=last).map(|number| Reg(codes + number)).collect()
        }
        _ => Vec::new(),
    };
    Ok(Value { registers, ..Value::new(ty, Some(content)) })
}

fn scalar(at: &Stopped<'_>, code: u16) -> Option<(u32, Dword)> {
    Some((at.scalar(code)?, Dword::Scalar(code)))
}

fn vector(at: &Stopped<'_>, number: u16, lane: u32) -> Option<(u32, Dword)> {
    let dword = *at.vector(number)?.get(lane as usize)?;
    Some((dword, Dword::Vector(number, lane)))
}
