//! Assignments by the user of the debugger: computes which registers and memory must be written so that an
//! expression gets a new value.

use crate::expr::{Content, Evaluator, Kind, Number, Problem, Scalar, Ty, Value, View};
use crate::memory_value::MemoryLocation;
use crate::variables::Nowhere;
use crate::waves::WaveId;
use dwarf::{AddressSpace, Bank, Part, Register, Storage};
use sim::{Stopped, Write};

/// Returns the writes to registers and memory that give the expression `text` the value `new`, and the new
/// value as text.
///
/// # Errors
/// The value does not fit, or the expression has no location that can be written.
pub(crate) fn assign(
    evaluator: &Evaluator<'_>,
    (text, new): (&str, &str),
) -> Result<(Vec<Write>, String), Problem> {
    let value = evaluator.value(text)?;
    let bytes = parsed(evaluator, &value.ty, new.trim())?;
    let writes = writes(evaluator, &value, &bytes, text)?;
    let set = Value { content: Some(Content::from_bytes(bytes)), ..value };
    Ok((writes, evaluator.text(&set, None)))
}

/// Parses the new value that the user has typed: a number, or an expression with a numeric value. Returns the
/// bytes of the value in the type `ty`.
fn parsed(evaluator: &Evaluator<'_>, ty: &Ty, text: &str) -> Result<Vec<u8>, Problem> {
    let types = evaluator.types;
    let wrong = || {
        let name = if let Ty::Bits(_) = ty { "a register".to_owned() } else { types.name(ty) };
        format!("`{text}` is no value of {name}")
    };
    let unsigned = |bytes: u64| Scalar::with_size(Kind::Unsigned, bytes as usize);
    let (scalar, is_raw) = match types.view(ty) {
        View::Array { .. } | View::Struct(_) => {
            return Err("a value of several parts is set part by part".to_owned());
        }
        View::Number(scalar) => (Some(scalar), false),
        View::Enum(_, scalar) => (Some(scalar), true),
        View::Pointer { bytes, .. } => (unsigned(bytes), true),
        View::Bits | View::Code | View::Unknown => (unsigned(types.size(ty)), true),
    };
    let scalar = scalar.ok_or_else(wrong)?;
    if scalar.is_float() {
        let float = text.parse().ok().map(Number::Float);
        let number = float.or_else(|| computed(evaluator, text)).ok_or_else(wrong)?;
        return Ok(scalar.write(number));
    }
    let number = match (text, computed(evaluator, text)) {
        (text, None) => parse_integer(text).ok_or_else(wrong)?,
        (_, Some(Number::Int(number))) => number,
        (_, Some(Number::Float(_))) => return Err(wrong()),
    };
    let (least, most) = scalar.range();
    // The raw contents of a register have an unsigned type, but the user may also mean them as a signed
    // number. A negative number is therefore accepted for a register.
    let least = if is_raw { least.min(-(most / 2) - 1) } else { least };
    if !(least..=most).contains(&number) {
        return Err(wrong());
    }
    Ok(number.to_le_bytes()[..usize::from(scalar.bytes)].to_vec())
}

/// Evaluates an expression to a number.
fn computed(evaluator: &Evaluator<'_>, text: &str) -> Option<Number> {
    evaluator.number(&evaluator.value(text).ok()?).ok()?.number
}

/// Parses an integer: `12`, `-3`, `0x1f`.
fn parse_integer(text: &str) -> Option<i128> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let number = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => digits.parse::<u64>().ok()?,
    };
    Some(sign * i128::from(number))
}

fn writes(evaluator: &Evaluator<'_>, value: &Value, bytes: &[u8], text: &str) -> Result<Vec<Write>, Problem> {
    let (at, lane) = (evaluator.at.ok_or("no wave stands")?, evaluator.lane);
    if !value.registers.is_empty() {
        let dwords = bytes.chunks_exact(4).map(|dword| [dword[0], dword[1], dword[2], dword[3]]);
        let pairs = value.registers.iter().zip(dwords.map(u32::from_le_bytes));
        return Ok(pairs.map(|(reg, dword)| of_register(reg.0, lane, dword)).collect());
    }
    let Some(location) = &value.location else {
        if text.starts_with('$') {
            return Err("of registers `$s0`, `$v0`, `$a0` and the like can be set".to_owned());
        }
        return Err(format!("`{text}` is a constant, or is worked out: there is no place to write it to"));
    };
    let parts = location.parts(8 * bytes.len() as u128).map_err(|reason| reason.to_string())?;
    let mut all = Vec::new();
    let mut bit = 0;
    for part in &parts {
        let own = Bits { bytes, from: bit };
        match &part.location.storage {
            Storage::Register(register) => in_register(at, *register, part, own, &mut all)?,
            Storage::Memory(space) => all.push(in_memory(at, lane, *space, part, own)?),
            Storage::Undefined => return Err(Nowhere::Here.to_string()),
            Storage::Implicit { .. } | Storage::Pointer(_) | Storage::Composite(_) => {
                return Err(format!("`{text}` is a constant here: there is no place to write it to"));
            }
        }
        bit += part.bits as usize;
    }
    Ok(all)
}

/// Returns the write to one dword of a register. `code` is the register's number in the numbering of
/// [`isa::Reg`]: vector registers start at 256, accumulation registers at 512.
fn of_register(code: u16, lane: u32, dword: u32) -> Write {
    match code.checked_sub(256) {
        None => Write::Scalar(code, dword),
        Some(number) => Write::Vector(number, lane, dword),
    }
}

/// Bits of the new value, starting at bit `from`.
#[derive(Clone, Copy)]
struct Bits<'a> {
    bytes: &'a [u8],
    from: usize,
}

impl Bits<'_> {
    fn get(self, bit: usize) -> bool {
        let bit = self.from + bit;
        self.bytes.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 != 0)
    }
}

/// Adds the writes for a part of the value that is in a register. The writes do not change bits of the
/// register that do not belong to the part.
fn in_register(
    at: &Stopped<'_>,
    register: Register,
    part: &Part,
    new: Bits<'_>,
    all: &mut Vec<Write>,
) -> Result<(), Problem> {
    let missing = || format!("{register} cannot be written");
    let (first, end) = (part.location.bit as usize, (part.location.bit + part.bits) as usize);
    for dword in first / 32..end.div_ceil(32) {
        let (write, old) = match register.facts().ok_or_else(missing)? {
            (Bank::Sgpr, number, _) => {
                let code = u16::try_from(number).map_err(|_| missing())?;
                (Write::Scalar(code, 0), at.scalar(code))
            }
            (bank @ (Bank::Vgpr | Bank::Agpr), number, _) => {
                let number = number + if bank == Bank::Agpr { 256 } else { 0 };
                let number = u16::try_from(number).map_err(|_| missing())?;
                let lanes = at.vector(number);
                (Write::Vector(number, dword as u32, 0), lanes.and_then(|lanes| lanes.get(dword).copied()))
            }
            (Bank::Pc | Bank::Exec, ..) => return Err(missing()),
        };
        let mut value = old.ok_or_else(missing)?;
        for bit in first.max(32 * dword)..end.min(32 * dword + 32) {
            let mask = 1 << (bit % 32);
            value = if new.get(bit - first) { value | mask } else { value & !mask };
        }
        all.push(match write {
            Write::Vector(number, lane, _) => Write::Vector(number, lane, value),
            Write::Scalar(code, _) => Write::Scalar(code, value),
            other => other,
        });
    }
    Ok(())
}

/// Returns the write for a part of the value that is in memory. The part must consist of whole bytes.
fn in_memory(
    at: &Stopped<'_>,
    lane: u32,
    space: AddressSpace,
    part: &Part,
    new: Bits<'_>,
) -> Result<Write, Problem> {
    let (bit, bits) = (part.location.bit, part.bits);
    if !bit.is_multiple_of(8) || !bits.is_multiple_of(8) || !new.from.is_multiple_of(8) {
        return Err("parts of bytes of memory cannot be written".to_owned());
    }
    let address = (bit / 8) as u64;
    let start = new.from / 8;
    let bytes = new.bytes.get(start..start + (bits / 8) as usize).ok_or("it is outside")?.to_vec();
    let place = match space {
        AddressSpace::GLOBAL => MemoryLocation::Global(address),
        AddressSpace::GENERIC => MemoryLocation::from_flat(address, WaveId::from_stop(at), lane),
        AddressSpace::LOCAL => MemoryLocation::Lds(at.group(), address),
        AddressSpace::PRIVATE_LANE => MemoryLocation::Private(WaveId::from_stop(at), lane, address),
        other => match other.lane() {
            Some(lane) => MemoryLocation::Private(WaveId::from_stop(at), lane, address),
            None => return Err(format!("{other} memory cannot be written")),
        },
    };
    // If the memory cannot be read, there is no memory at the address, so it cannot be written either.
    if !place.read(at, &mut vec![0; bytes.len()]) {
        return Err("no memory is there".to_owned());
    }
    Ok(match place {
        MemoryLocation::Global(address) => Write::Global(address, bytes),
        MemoryLocation::Lds(_, offset) => Write::Lds(offset, bytes),
        MemoryLocation::Private(_, lane, offset) => Write::Private(lane, offset, bytes),
    })
}
