//! Formats values according to their types.

use crate::expr::{Content, Kind, Language, Number, Scalar, Ty, Types, View, number_text};
use crate::format::{Field, extracted, fields};
use crate::number_format::NumberFormat;
use crate::program::Program;
use dwarf::Die;

/// Largest number of elements of an array that are shown.
const ELEMENTS: usize = 64;
/// Largest depth of nested types that is shown.
const DEPTH: u32 = 16;
/// Limit on the number of values shown within one value. A damaged object may have structs that contain
/// themselves.
const VALUES: u32 = 4096;

/// Text for a part of a value that has no location.
const NOWHERE: &str = "<nowhere>";

/// Formats values as text.
#[derive(Clone, Copy)]
pub(crate) struct Writer<'a> {
    pub types: Types<'a>,
    pub program: &'a Program,
    /// Address in memory at which the address 0 of the object file is loaded. With it, addresses of functions
    /// in memory are converted to names.
    pub base: u64,
    /// Format of numbers; `None` for the format of their types.
    pub letter: Option<NumberFormat>,
}

/// What is known of a value: its bytes, which of the bytes have a location, and which bits have never been
/// written by an instruction.
#[derive(Clone, Copy)]
struct Known<'a> {
    bytes: &'a [u8],
    /// Whether each byte has a location; `None` if all bytes have.
    there: Option<&'a [bool]>,
    /// Mask of the undefined bits; `None` if all bits are defined.
    undefined: Option<&'a [u8]>,
}

impl<'a> Known<'a> {
    fn from_content(content: &'a Content) -> Known<'a> {
        let Content { bytes, there, undefined } = content;
        Known { bytes, there: there.as_deref(), undefined: undefined.as_deref() }
    }

    /// Returns `size` bytes of the value from byte `from` on. `None` if they are not all within the value.
    fn part(self, from: usize, size: usize) -> Option<Known<'a>> {
        let range = from..from.saturating_add(size);
        Some(Known {
            bytes: self.bytes.get(range.clone())?,
            there: self.there.map(|there| there.get(range.clone()).unwrap_or(&[])),
            undefined: self.undefined.map(|undefined| undefined.get(range).unwrap_or(&[])),
        })
    }

    /// Returns two flags: whether some bytes of the value have no location, and whether no byte has one.
    fn lacks(self) -> (bool, bool) {
        let there = self.there.unwrap_or(&[]);
        (there.contains(&false), !there.is_empty() && !there.contains(&true))
    }

    /// Returns the text for a number with bits that no instruction has written. The text is `?` if no bit has
    /// been written. Otherwise it is hexadecimal with `?` for each digit that is not completely written, such
    /// as `0x????0005`. Returns `None` if all bits have been written.
    fn unwritten(self) -> Option<String> {
        let mask = self.undefined.filter(|mask| mask.iter().any(|&byte| byte != 0))?;
        if mask.iter().all(|&byte| byte == 0xff) {
            return Some("?".to_owned());
        }
        let digit = |byte: u8, mask: u8| match mask {
            0 => format!("{byte:x}"),
            _ => "?".to_owned(),
        };
        let pairs = self.bytes.iter().zip(mask).rev();
        let digits = pairs.map(|(byte, mask)| digit(byte >> 4, mask >> 4) + &digit(byte & 15, mask & 15));
        Some(format!("0x{}", digits.collect::<String>()))
    }

    fn unsigned(self) -> u64 {
        self.bytes.iter().take(8).rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
    }
}

/// Returns bytes without a type as a hexadecimal number.
pub(crate) fn plain(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}

impl Writer<'_> {
    /// Returns a value as text.
    pub(crate) fn text(self, ty: &Ty, content: &Content) -> String {
        self.within(ty, Known::from_content(content), (0, &mut { VALUES }))
    }

    /// Returns a value as text. `depth` is the nesting depth of the value's type within the whole type;
    /// `left` is the number of values that may still be shown.
    fn within(self, ty: &Ty, known: Known<'_>, (depth, left): (u32, &mut u32)) -> String {
        if *left == 0 || depth > DEPTH {
            return "...".to_owned();
        }
        *left -= 1;
        let view = self.types.view(ty);
        let is_whole = !matches!(view, View::Array { .. } | View::Struct(_));
        let (some, all) = known.lacks();
        if all || some && is_whole {
            return NOWHERE.to_owned();
        }
        if let Some(unwritten) = known.unwritten().filter(|_| is_whole) {
            return unwritten;
        }
        match view {
            View::Array { of, count, .. } => self.array(&of, count, known, (depth, left)),
            View::Struct(die) => self.fields(die, known, (depth, left)),
            View::Number(scalar) => self.number(scalar, known.bytes),
            View::Enum(die, scalar) => self.named(die, scalar, known.bytes),
            View::Pointer { to, .. } => self.pointer(&to, known),
            View::Bits | View::Code | View::Unknown => match self.letter {
                Some(letter) => letter.text(known.bytes),
                None => plain(known.bytes),
            },
        }
    }

    fn number(self, scalar: Scalar, bytes: &[u8]) -> String {
        match self.letter {
            Some(letter) => letter.text(bytes),
            None => number_text(scalar, scalar.read(bytes)),
        }
    }

    fn pointer(self, to: &Ty, known: Known<'_>) -> String {
        let address = known.unsigned();
        let text = match self.letter {
            Some(letter) if letter != NumberFormat::Address => return letter.text(known.bytes),
            _ => format!("{address:#x}"),
        };
        let is_code = matches!(self.types.view(to), View::Code) || self.letter == Some(NumberFormat::Address);
        match self.symbol(address).filter(|_| is_code) {
            Some(symbol) => format!("{text} <{symbol}>"),
            None => text,
        }
    }

    /// Returns the function that contains an address in memory, as text such as `f` or `f+8`, where 8 is the
    /// offset in the function.
    fn symbol(self, address: u64) -> Option<String> {
        let address = address.wrapping_sub(self.base);
        let function = self.program.function_at(address)?;
        Some(match address - function.start {
            0 => function.name.clone(),
            bytes => format!("{}+{bytes}", function.name),
        })
    }

    fn array(self, of: &Ty, count: u64, known: Known<'_>, (depth, left): (u32, &mut u32)) -> String {
        let (step, bytes) = (self.types.size(of).max(1) as usize, known.bytes.len());
        let shown = (count as usize).min(ELEMENTS).min(bytes.div_ceil(step));
        let elements = (0..shown).filter_map(|n| known.part(n * step, step.min(bytes - n * step)));
        let texts: Vec<String> =
            elements.map(|element| self.within(of, element, (depth + 1, &mut *left))).collect();
        let more = if count as usize > ELEMENTS { ", ..." } else { "" };
        format!("[{}{more}]", texts.join(", "))
    }

    /// Formats a struct, `{a: 1, b: 2.0}`, or a tuple, `(1, 2.0)`.
    fn fields(self, die: &Die, known: Known<'_>, (depth, left): (u32, &mut u32)) -> String {
        if die.get("DW_AT_declaration").is_some() {
            return "<incomplete type>".to_owned();
        }
        let Some(info) = self.types.info else { return plain(known.bytes) };
        let is_tuple = self.types.language == Language::Kernc
            && die.text("DW_AT_name").is_some_and(|name| name.starts_with('('));
        let mut field = |field: Field<'_>| {
            let text = self.field(&field, known, (depth + 1, &mut *left));
            if is_tuple || field.name.is_empty() { text } else { format!("{}: {text}", field.name) }
        };
        let texts: Vec<String> = fields(info, die).into_iter().map(&mut field).collect();
        match (is_tuple, texts.as_slice()) {
            (true, [one]) => format!("({one},)"),
            (true, _) => format!("({})", texts.join(", ")),
            (false, _) => format!("{{{}}}", texts.join(", ")),
        }
    }

    fn field(self, field: &Field<'_>, known: Known<'_>, within: (u32, &mut u32)) -> String {
        let ty = Ty::Die(field.ty);
        let nothing = Known { bytes: &[], there: None, undefined: None };
        let Some((from, count)) = field.bits else {
            let (from, size) = (field.byte as usize, self.types.size(&ty) as usize);
            return self.within(&ty, known.part(from, size).unwrap_or(nothing), within);
        };
        let scalar = match self.types.view(&ty) {
            View::Number(scalar) | View::Enum(_, scalar) => scalar,
            _ => Scalar { kind: Kind::Unsigned, bytes: 8 },
        };
        let first = from / 8;
        let end = from.saturating_add(count).div_ceil(8);
        let part = known.part(first as usize, end.saturating_sub(first).min(16) as usize).unwrap_or(nothing);
        if part.lacks().0 || part.unwritten().is_some() {
            return self.within(&Ty::Bits(part.bytes.len()), part, within);
        }
        let all = part.bytes.iter().rev().fold(0u128, |all, &byte| all << 8 | u128::from(byte));
        let bytes = extracted(all, from % 8, count, scalar);
        self.within(&ty, Known { bytes: &bytes, ..nothing }, within)
    }

    fn named(self, die: &Die, scalar: Scalar, bytes: &[u8]) -> String {
        let Number::Int(number) = scalar.read(bytes) else { return plain(bytes) };
        let name = self.types.enumerators(die).into_iter().find(|one| one.1 == number);
        match name {
            Some((name, _)) if self.letter.is_none() => name.to_owned(),
            _ => self.number(scalar, bytes),
        }
    }
}
