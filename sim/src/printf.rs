//! The buffer of OpenCL's `printf`, rendered as text.
//!
//! The compiler gives each call a number, and the metadata says for each number how many arguments there are, their sizes,
//! and the format (seed 000, line 2214): `ID:N:S[0]:...:S[N-1]:FormatString`. The buffer begins with two dwords: bytes used
//! and bytes there are. Each call then leaves its number and its arguments, each of the size that the metadata says.
//! Strings that the compiler knows lie in the buffer; of others there is the address.

use crate::memory::Memory;
use std::fmt::Write;

/// Bytes of the buffer behind its two dwords: that of ROCm's OpenCL runtime.
pub(crate) const BYTES: u32 = 1 << 20;
/// Bytes of its beginning.
pub(crate) const HEADER: usize = 8;
/// Longest string that is read through a pointer.
const MAX_STRING: u64 = 4096;
/// Widest field and longest fraction, so that a strange format cannot ask for all memory.
const MAX_WIDTH: usize = 4096;

/// A call of `printf`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    id: u32,
    sizes: Vec<u32>,
    format: Vec<u8>,
}

impl Call {
    fn parse(text: &str) -> Option<Call> {
        let (id, rest) = text.split_once(':')?;
        let (count, mut rest) = rest.split_once(':')?;
        let mut sizes = Vec::new();
        for _ in 0..count.parse::<usize>().ok()? {
            let (size, after) = rest.split_once(':')?;
            sizes.push(size.parse().ok()?);
            rest = after;
        }
        Some(Call { id: id.parse().ok()?, sizes, format: unescape(rest) })
    }
}

/// The format as the source had it: control characters and colons are escaped in the metadata.
fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        let known = match (first, after.first()) {
            (b'\\', Some(next)) => match next {
                b'a' => Some((7, 1)),
                b'b' => Some((8, 1)),
                b't' => Some((9, 1)),
                b'n' => Some((10, 1)),
                b'v' => Some((11, 1)),
                b'f' => Some((12, 1)),
                b'r' => Some((13, 1)),
                b'\\' => Some((b'\\', 1)),
                b'7' if after.get(1) == Some(&b'2') => Some((b':', 2)),
                _ => None,
            },
            _ => None,
        };
        match known {
            Some((byte, skipped)) => {
                out.push(byte);
                rest = &after[skipped..];
            }
            None => out.push(*first),
        }
    }
    out
}

/// The start of an empty buffer.
pub(crate) fn header() -> [u8; HEADER] {
    let mut bytes = [0; HEADER];
    bytes[4..].copy_from_slice(&BYTES.to_le_bytes());
    bytes
}

/// The text of all calls in the buffer at an address. `formats`: as the metadata has them.
pub(crate) fn render(memory: &Memory, buffer: u64, formats: &[String]) -> String {
    let mut header = [0; HEADER];
    if !memory.read(buffer, &mut header) {
        return String::new();
    }
    let used = u32::from_le_bytes([header[0], header[1], header[2], header[3]]).min(BYTES);
    let mut bytes = vec![0; used as usize];
    if !memory.read(buffer + HEADER as u64, &mut bytes) {
        return String::new();
    }
    text_of(&bytes, memory, formats)
}

/// The text of what calls have left in a buffer behind its two dwords, whose strings are all in it.
///
/// `formats` are those of the metadata.
pub fn printf_text(records: &[u8], formats: &[String]) -> String {
    text_of(records, &Memory::new(), formats)
}

fn text_of(records: &[u8], memory: &Memory, formats: &[String]) -> String {
    let calls: Vec<Call> = formats.iter().filter_map(|text| Call::parse(text)).collect();
    let mut out = Vec::new();
    let mut rest = records;
    while let Some((id, after)) = take_u32(rest) {
        let Some(call) = calls.iter().find(|call| call.id == id) else {
            out.extend_from_slice(format!("(printf: no format of number {id})\n").as_bytes());
            break;
        };
        let Some(after) = call_text(call, after, memory, &mut out) else { break };
        rest = after;
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn take_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (first, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*first), rest))
}

/// Renders a call; what comes after its arguments, or `None` if they are cut.
fn call_text<'a>(call: &Call, bytes: &'a [u8], memory: &Memory, out: &mut Vec<u8>) -> Option<&'a [u8]> {
    let mut rest = bytes;
    let mut args = Vec::new();
    for &size in &call.sizes {
        args.push(rest.get(..size as usize)?);
        // Arguments are aligned to dwords.
        rest = &rest[(size as usize).next_multiple_of(4).min(rest.len())..];
    }
    let mut args = args.into_iter();
    let mut format = &call.format[..];
    while let [first, after @ ..] = format {
        format = after;
        match (first, after.first()) {
            (b'%', Some(b'%')) => {
                out.push(b'%');
                format = &after[1..];
            }
            (b'%', _) => {
                let (spec, after) = Spec::parse(after, &mut args);
                format = after;
                match args.next() {
                    Some(arg) => spec.write(arg, memory, out),
                    None => out.extend_from_slice(b"(no argument)"),
                }
            }
            _ => out.push(*first),
        }
    }
    Some(rest)
}

/// A conversion: `%-+ #0`, width, `.precision`, vector `v4`, length, letter.
#[derive(Debug, Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// Elements of a vector.
    vector: usize,
    /// Bytes of an element, as far as the length says.
    bytes: Option<usize>,
    letter: u8,
}

impl Spec {
    /// Reads what follows the percent sign; `*` takes an argument.
    fn parse<'f, 'a>(format: &'f [u8], args: &mut impl Iterator<Item = &'a [u8]>) -> (Spec, &'f [u8]) {
        let mut spec = Spec { vector: 1, ..Spec::default() };
        let mut rest = format;
        while let [flag @ (b'-' | b'+' | b' ' | b'#' | b'0'), after @ ..] = rest {
            match flag {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                _ => spec.zero = true,
            }
            rest = after;
        }
        let mut count = |rest: &mut &'f [u8]| {
            if let [b'*', after @ ..] = rest {
                *rest = after;
                return args.next().map_or(0, signed);
            }
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let number = std::str::from_utf8(&rest[..digits]).ok().and_then(|text| text.parse().ok());
            *rest = &rest[digits..];
            number.unwrap_or(0)
        };
        let width = count(&mut rest);
        spec.left |= width < 0;
        spec.width = (width.unsigned_abs() as usize).min(MAX_WIDTH);
        if let [b'.', after @ ..] = rest {
            rest = after;
            spec.precision = usize::try_from(count(&mut rest)).ok().map(|digits| digits.min(MAX_WIDTH));
        }
        if let [b'v', after @ ..] = rest {
            rest = after;
            spec.vector = count(&mut rest).clamp(1, 16) as usize;
        }
        for (text, bytes) in [(&b"hh"[..], 1), (b"hl", 4), (b"h", 2), (b"ll", 8), (b"l", 8)] {
            if let Some(after) = rest.strip_prefix(text) {
                (spec.bytes, rest) = (Some(bytes), after);
                break;
            }
        }
        if let [letter, after @ ..] = rest {
            (spec.letter, rest) = (*letter, after);
        }
        (spec, rest)
    }

    fn write(&self, arg: &[u8], memory: &Memory, out: &mut Vec<u8>) {
        if self.letter == b's' {
            let text = string(arg, memory);
            let text = &text[..self.precision.unwrap_or(text.len()).min(text.len())];
            return self.pad(b"", text, false, out);
        }
        // Three elements take the room of four.
        let places = if self.vector == 3 { 4 } else { self.vector };
        let size = if self.vector == 1 { arg.len() } else { arg.len() / places };
        for (at, element) in arg.chunks(size.max(1)).take(self.vector).enumerate() {
            if at > 0 {
                out.push(b',');
            }
            self.number(element, out);
        }
    }

    fn number(&self, arg: &[u8], out: &mut Vec<u8>) {
        // An argument is promoted to a dword; the length says how much of it counts.
        let arg = &arg[..self.bytes.unwrap_or(arg.len()).min(arg.len())];
        let (negative, digits) = match self.letter {
            b'd' | b'i' => {
                let value = signed(arg);
                (value < 0, self.digits(value.unsigned_abs().to_string()))
            }
            b'u' => (false, self.digits(unsigned(arg).to_string())),
            b'o' => (false, self.digits(format!("{:o}", unsigned(arg)))),
            b'x' => (false, self.digits(format!("{:x}", unsigned(arg)))),
            b'X' => (false, self.digits(format!("{:X}", unsigned(arg)))),
            b'p' => (false, format!("0x{:x}", unsigned(arg))),
            b'c' => return self.pad(b"", &[unsigned(arg) as u8], false, out),
            letter => {
                let value = float(arg);
                (value.is_sign_negative() && !value.is_nan(), self.real(value.abs(), letter))
            }
        };
        let prefix: &[u8] = match (negative, self.letter) {
            (true, _) => b"-",
            (_, b'x') if self.alternate && unsigned(arg) != 0 => b"0x",
            (_, b'X') if self.alternate && unsigned(arg) != 0 => b"0X",
            (_, b'o') if self.alternate && !digits.starts_with('0') => b"0",
            (_, b'u' | b'x' | b'X' | b'o' | b'p') => b"",
            _ if self.plus => b"+",
            _ if self.space => b" ",
            _ => b"",
        };
        let is_integer = matches!(self.letter, b'd' | b'i' | b'u' | b'o' | b'x' | b'X');
        let finite = is_integer || digits.bytes().any(|byte| byte.is_ascii_digit());
        let zeros = self.zero && !(is_integer && self.precision.is_some()) && finite;
        // Zeros stand behind the `0x` of `%a`.
        let is_hexadecimal = self.letter.eq_ignore_ascii_case(&b'a') && finite;
        let (base, digits) = digits.as_bytes().split_at(if is_hexadecimal { 2 } else { 0 });
        self.pad(&[prefix, base].concat(), digits, zeros, out);
    }

    /// At least as many digits as the precision says; none for a zero with precision 0.
    fn digits(&self, text: String) -> String {
        match self.precision {
            Some(0) if text == "0" => String::new(),
            Some(least) => format!("{text:0>least$}"),
            None => text,
        }
    }

    /// A float that is not negative.
    fn real(&self, value: f64, letter: u8) -> String {
        let mut text = if value.is_nan() {
            "nan".to_owned()
        } else if value.is_infinite() {
            "inf".to_owned()
        } else {
            let precision = self.precision.unwrap_or(6);
            match letter.to_ascii_lowercase() {
                b'e' => exponential(value, precision),
                b'g' => general(value, precision.max(1), self.alternate),
                b'a' => hexadecimal(value, self.precision),
                _ => format!("{value:.precision$}"),
            }
        };
        // `#`: a point, also with nothing behind it.
        if self.alternate && value.is_finite() && !text.contains('.') {
            let exponent = if letter.eq_ignore_ascii_case(&b'a') { 'p' } else { 'e' };
            text.insert(text.find(exponent).unwrap_or(text.len()), '.');
        }
        if letter.is_ascii_uppercase() {
            text.make_ascii_uppercase();
        }
        text
    }

    fn pad(&self, prefix: &[u8], text: &[u8], zeros: bool, out: &mut Vec<u8>) {
        let missing = self.width.saturating_sub(prefix.len() + text.len());
        let fill = |out: &mut Vec<u8>, byte| out.resize(out.len() + missing, byte);
        if !self.left && !zeros {
            fill(out, b' ');
        }
        out.extend_from_slice(prefix);
        if !self.left && zeros {
            fill(out, b'0');
        }
        out.extend_from_slice(text);
        if self.left {
            fill(out, b' ');
        }
    }
}

fn unsigned(bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    let size = bytes.len().min(8);
    wide[..size].copy_from_slice(&bytes[..size]);
    u64::from_le_bytes(wide)
}

fn signed(bytes: &[u8]) -> i64 {
    let spare = 64 - 8 * bytes.len().clamp(1, 8) as u32;
    (unsigned(bytes) << spare) as i64 >> spare
}

fn float(bytes: &[u8]) -> f64 {
    match bytes.len() {
        2 => half::f16::from_bits(unsigned(bytes) as u16).to_f64(),
        4 => f32::from_bits(unsigned(bytes) as u32).into(),
        _ => f64::from_bits(unsigned(bytes)),
    }
}

/// A string: its address, if the argument has the size of one and there is memory, else the argument itself.
fn string(arg: &[u8], memory: &Memory) -> Vec<u8> {
    let address = unsigned(arg);
    if arg.len() == 8 && memory.find(address, 1).is_some() {
        let byte = |at| {
            let mut byte = [0];
            memory.read(address + at, &mut byte).then_some(byte[0]).filter(|byte| *byte != 0)
        };
        return (0..MAX_STRING).map_while(byte).collect();
    }
    arg.iter().copied().take_while(|byte| *byte != 0).collect()
}

/// `%e`: at least two digits of exponent.
fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// `%g`: the shorter of the two forms.
fn general(value: f64, precision: usize, alternate: bool) -> String {
    let scientific = exponential(value, precision - 1);
    let exponent: i32 = scientific.split_once('e').and_then(|(_, text)| text.parse().ok()).unwrap_or(0);
    let strip = |text: &str| match text.contains('.') && !alternate {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if exponent < -4 || exponent >= precision as i32 {
        let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "+00"));
        return format!("{}e{exponent}", strip(digits));
    }
    let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
    strip(&format!("{value:.decimals$}"))
}

/// `%a`: hexadecimal digits, exponent of two.
fn hexadecimal(value: f64, precision: Option<usize>) -> String {
    let bits = value.to_bits();
    let (mut exponent, mut mantissa) = ((bits >> 52 & 0x7ff) as i32 - 1023, bits & ((1 << 52) - 1));
    let mut lead = 1u64;
    if exponent == -1023 {
        (lead, exponent) = (0, if mantissa == 0 { 0 } else { -1022 });
    }
    if let Some(digits) = precision.filter(|digits| *digits < 13) {
        let spare = 52 - 4 * digits as u32;
        let whole = lead << 52 | mantissa;
        let (kept, rest, half) = (whole >> spare, whole & ((1 << spare) - 1), 1 << (spare - 1));
        let kept = kept + u64::from(rest > half || rest == half && kept & 1 != 0);
        (lead, mantissa) = (kept << spare >> 52, kept << spare & ((1 << 52) - 1));
    }
    let mut digits = format!("{mantissa:013x}");
    match precision {
        Some(count) if count <= 13 => digits.truncate(count),
        Some(count) => digits.extend(std::iter::repeat_n('0', count - 13)),
        None => digits.truncate(digits.trim_end_matches('0').len()),
    }
    let mut out = format!("0x{lead}");
    if !digits.is_empty() {
        out.push('.');
        out.push_str(&digits);
    }
    let _ = write!(out, "p{exponent:+}");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Renders one call whose arguments are these bytes.
    fn call(format: &str, args: &[&[u8]]) -> String {
        let sizes: Vec<String> = args.iter().map(|arg| format!("{}:", arg.len())).collect();
        let text = format!("1:{}:{}{format}", args.len(), sizes.concat());
        let parsed = Call::parse(&text).unwrap();
        let mut out = Vec::new();
        call_text(&parsed, &args.concat(), &Memory::new(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Expected texts are those of the C library's `printf`.
    #[test]
    fn as_c_prints() {
        let int = |value: i32| value.to_le_bytes();
        assert_eq!(
            call("%d|%5d|%-5d|%05d|%+d", &[&int(-7), &int(42), &int(42), &int(-42), &int(3)]),
            "-7|   42|42   |-0042|+3"
        );
        assert_eq!(
            call("%x %X %#x %o %u", &[&int(255), &int(255), &int(255), &int(8), &int(-1)]),
            "ff FF 0xff 10 4294967295"
        );
        assert_eq!(call("%04x %04X", &[&int(0xd), &int(0xab)]), "000d 00AB");
        assert_eq!(call("%.3d|%5.2d|% d|%c%%", &[&int(7), &int(7), &int(7), &int(65)]), "007|   07| 7|A%");
        assert_eq!(call("%*d|%-*d|", &[&int(4), &int(1), &int(4), &int(1)]), "   1|1   |");
        let real = |value: f64| value.to_le_bytes();
        assert_eq!(
            call(
                "%f %.2f %e %g %g",
                &[&real(1.5), &real(-0.125), &real(12345.678), &real(0.0001), &real(1e10)]
            ),
            "1.500000 -0.12 1.234568e+04 0.0001 1e+10"
        );
        assert_eq!(
            call(
                "%a %A %.1a %8.3f|%-8.1e|",
                &[&real(1.0), &real(0.1), &real(1.5), &real(2.34567), &real(2.0)]
            ),
            "0x1p+0 0X1.999999999999AP-4 0x1.8p+0    2.346|2.0e+00 |"
        );
        assert_eq!(
            call(
                "%f %F %5.1f %05.1f",
                &[&real(f64::INFINITY), &real(f64::NAN), &real(-f64::INFINITY), &real(f64::INFINITY)]
            ),
            "inf NAN  -inf   inf"
        );
        assert_eq!(call("%f", &[&1.5f32.to_le_bytes()]), "1.500000");
        let numbers = [real(2.0), real(2.0), real(20.0), real(1.0), real(f64::INFINITY)];
        let numbers: Vec<&[u8]> = numbers.iter().map(|bytes| &bytes[..]).collect();
        assert_eq!(call("%#.0f %#.0e %#.1g %#a %#f", &numbers), "2. 2.e+00 2.e+01 0x1.p+0 inf");
        assert_eq!(call("%012.1a %-12A|", &[&real(-1.5), &real(f64::NAN)]), "-0x0001.8p+0 NAN         |");
        assert_eq!(call("%s|%5s|%.2s", &[b"abc\0", b"ab\0\0", b"abc\0"]), "abc|   ab|ab");
        assert_eq!(
            call("%ld %lx", &[&(-5i64).to_le_bytes(), &u64::MAX.to_le_bytes()]),
            "-5 ffffffffffffffff"
        );
        assert_eq!(call("%hhd %hd", &[&int(0x1ff), &int(0x1_8000)]), "-1 -32768");
    }

    #[test]
    fn vectors_and_escapes() {
        let ints: Vec<u8> = [1i32, -2, 3, 4].iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(call("%v4hld", &[&ints]), "1,-2,3,4");
        assert_eq!(call("%v3hld;", &[&ints]), "1,-2,3;");
        let floats: Vec<u8> = [1.5f32, 2.0].iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(call("%v2hlf", &[&floats]), "1.500000,2.000000");
        assert_eq!(call("a\\72b\\n\\t\\q", &[]), "a:b\n\t\\q");
    }

    #[test]
    fn damaged_buffers_end() {
        let mut memory = Memory::new();
        let buffer = memory.alloc(u64::from(BYTES) + 8).unwrap();
        let formats = ["1:1:4:x=%d\\n".to_owned(), "garbage".to_owned(), "2:9:4".to_owned()];
        assert_eq!(render(&memory, buffer, &formats), "");
        let mut bytes = vec![12, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 9, 0, 0, 0];
        memory.write(buffer, &bytes);
        assert_eq!(render(&memory, buffer, &formats), "x=5\n(printf: no format of number 9)\n");
        bytes[0] = 4;
        memory.write(buffer, &bytes);
        assert_eq!(render(&memory, buffer, &formats), "");
        assert_eq!(render(&memory, 7, &formats), "");
    }
}
