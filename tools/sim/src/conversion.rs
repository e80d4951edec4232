//! Converts the arguments of `printf` to text as the format says. C defines the conversions (C17, 7.21.6.1),
//! and OpenCL adds vectors and the length modifier `hl`. Where C leaves the behaviour open, this module does
//! what glibc does. It serves both ways in which kernels print: OpenCL's buffer of `printf`
//! ([`crate::printf`]), and host calls ([`crate::hostcall`]).

use std::fmt::Write;

/// Maximum width of a field, and maximum number of digits after the decimal point. Without the limit, a
/// format such as `%999999999d` could use up all memory.
const MAX_WIDTH: usize = 4096;

/// The argument that a conversion of a format takes.
pub(crate) enum Argument<'a> {
    /// A number as little-endian bytes, or the elements of a vector one after another. There may be more
    /// bytes than the number needs: the length modifier in the format, such as `hh`, says how many count.
    Number(&'a [u8]),
    /// A string without its terminating zero.
    Text(Vec<u8>),
}

/// Source of the arguments of a `printf` call.
pub(crate) trait Arguments<'a> {
    /// Takes the next argument as the width or precision for a `*` in the format.
    fn count(&mut self) -> Option<i64>;
    /// Takes the next argument, which the conversion `spec` prints.
    fn argument(&mut self, spec: &Spec) -> Option<Argument<'a>>;
}

/// Appends the text that a `printf` call prints.
pub(crate) fn render<'a>(format: &[u8], args: &mut impl Arguments<'a>, out: &mut Vec<u8>) {
    let mut rest = format;
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        out.extend_from_slice(&rest[..at]);
        let (spec, after) = Spec::parse(&rest[at + 1..], args);
        spec.convert(&rest[at..rest.len() - after.len()], args, out);
        rest = after;
    }
    out.extend_from_slice(rest);
}

/// The parsed form of one conversion such as `%-8.3v4hlf`. After the percent sign come the flags (`-+ #0`),
/// the width, `.precision`, the vector size (`v4`), the length modifier and the letter.
#[derive(Debug, Default)]
pub(crate) struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// Number of elements of a vector; 1 for a scalar.
    vector: usize,
    /// Number of bytes of an element, if the format has a length modifier.
    pub(crate) bytes: Option<usize>,
    /// The conversion's letter; 0 if the format ends before it.
    pub(crate) letter: u8,
}

/// Length modifiers with their sizes in bytes. Longer modifiers come first, because the first modifier that
/// matches is taken. `hl` is an addition of OpenCL.
const LENGTHS: [(&[u8], usize); 10] = [
    (b"hh", 1),
    (b"hl", 4),
    (b"h", 2),
    (b"ll", 8),
    (b"l", 8),
    (b"j", 8),
    (b"z", 8),
    (b"t", 8),
    (b"q", 8),
    (b"L", 8),
];

impl Spec {
    /// Parses the text after the percent sign. A `*` in the text takes the next argument as width or
    /// precision.
    fn parse<'f, 'a>(format: &'f [u8], args: &mut impl Arguments<'a>) -> (Spec, &'f [u8]) {
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
                return args.count().unwrap_or(0);
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
        for (text, bytes) in LENGTHS {
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

    /// Returns whether the conversion takes an integer.
    pub(crate) fn is_integer(&self) -> bool {
        matches!(self.letter, b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'c')
    }

    /// Converts the next argument and appends the result to `out`. `text` is this conversion as the format
    /// writes it, from the percent sign to the letter.
    fn convert<'a>(&self, text: &[u8], args: &mut impl Arguments<'a>, out: &mut Vec<u8>) {
        match self.letter {
            b'%' => return out.push(b'%'),
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'c' | b's' | b'p' => {}
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => {}
            b'n' => {
                // On a host, `%n` stores to a pointer argument. This is refused here, because a format must
                // not change the device's memory.
                args.argument(self);
                return out.extend_from_slice(b"(printf: %n is refused)");
            }
            // glibc prints an unknown conversion unchanged.
            _ => return out.extend_from_slice(text),
        }
        match args.argument(self) {
            Some(Argument::Text(text)) => {
                let text = &text[..self.precision.unwrap_or(text.len()).min(text.len())];
                self.pad(b"", text, false, out);
            }
            Some(Argument::Number(bytes)) => self.elements(bytes, out),
            None => out.extend_from_slice(b"(no argument)"),
        }
    }

    /// Appends the elements of a vector as text, or a single number if the argument is no vector.
    fn elements(&self, arg: &[u8], out: &mut Vec<u8>) {
        // A vector of three elements has the size of one with four.
        let places = if self.vector == 3 { 4 } else { self.vector };
        let size = (arg.len() / places).max(1);
        for (at, element) in arg.chunks(size).take(self.vector).enumerate() {
            if at > 0 {
                out.push(b',');
            }
            self.number(&element[..self.bytes.unwrap_or(size).min(element.len())], out);
        }
    }

    fn number(&self, arg: &[u8], out: &mut Vec<u8>) {
        let (negative, digits) = match self.letter {
            b'd' | b'i' => {
                let value = signed(arg);
                (value < 0, self.digits(value.unsigned_abs().to_string()))
            }
            b'u' => (false, self.digits(unsigned(arg).to_string())),
            b'o' => (false, self.digits(format!("{:o}", unsigned(arg)))),
            b'x' => (false, self.digits(format!("{:x}", unsigned(arg)))),
            b'X' => (false, self.digits(format!("{:X}", unsigned(arg)))),
            b'p' if unsigned(arg) == 0 => return self.pad(b"", b"(nil)", false, out),
            b'p' => (false, format!("{:x}", unsigned(arg))),
            b'c' => return self.pad(b"", &[unsigned(arg) as u8], false, out),
            letter => {
                let value = float(arg);
                (value.is_sign_negative(), self.real(value.abs(), letter))
            }
        };
        let is_number = !digits.starts_with(['i', 'n', 'I', 'N']);
        let mut prefix = match (negative, self.letter) {
            (true, _) => "-",
            (_, b'u' | b'x' | b'X' | b'o' | b'p') => "",
            _ if self.plus => "+",
            _ if self.space => " ",
            _ => "",
        }
        .to_owned();
        prefix += match self.letter {
            b'p' => "0x",
            b'x' if self.alternate && unsigned(arg) != 0 => "0x",
            b'X' if self.alternate && unsigned(arg) != 0 => "0X",
            b'o' if self.alternate && !digits.starts_with('0') => "0",
            b'a' if is_number => "0x",
            b'A' if is_number => "0X",
            _ => "",
        };
        let zeros = self.zero && !(self.is_integer() && self.precision.is_some()) && is_number;
        self.pad(prefix.as_bytes(), digits.as_bytes(), zeros, out);
    }

    /// Pads digits with leading zeros to the length that the precision gives. For the number zero with
    /// precision 0, returns an empty text.
    fn digits(&self, text: String) -> String {
        match self.precision {
            Some(0) if text == "0" => String::new(),
            Some(least) => format!("{text:0>least$}"),
            None => text,
        }
    }

    /// Returns a non-negative float as text. The text of a hexadecimal float has no `0x`, because the caller
    /// adds it.
    fn real(&self, value: f64, letter: u8) -> String {
        let mut text = if value.is_nan() {
            "nan".to_owned()
        } else if value.is_infinite() {
            "inf".to_owned()
        } else {
            let precision = self.precision.unwrap_or(6);
            match letter.to_ascii_lowercase() {
                b'e' => exponential(value, precision, self.alternate),
                b'g' => general(value, precision.max(1), self.alternate),
                b'a' => hexadecimal(value, self.precision, self.alternate),
                _ => fixed(value, precision, self.alternate),
            }
        };
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

pub(crate) fn unsigned(bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    let size = bytes.len().min(8);
    wide[..size].copy_from_slice(&bytes[..size]);
    u64::from_le_bytes(wide)
}

pub(crate) fn signed(bytes: &[u8]) -> i64 {
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

/// Returns a float as text for `%f`. If `point` is set (the flag `#`), the text has a decimal point even if
/// there is no fraction.
fn fixed(value: f64, precision: usize, point: bool) -> String {
    let mut text = format!("{value:.precision$}");
    if point && precision == 0 {
        text.push('.');
    }
    text
}

/// Returns a float as text for `%e`. The exponent has at least two digits.
fn exponential(value: f64, precision: usize, point: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    let point = if point && precision == 0 { "." } else { "" };
    format!("{digits}{point}e{sign}{:02}", exponent.abs())
}

/// Returns a float as text for `%g`, which is the form of `%f` or of `%e`, depending on the exponent.
fn general(value: f64, precision: usize, alternate: bool) -> String {
    let scientific = exponential(value, precision - 1, alternate);
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
    strip(&fixed(value, decimals, alternate))
}

/// Returns a float as text for `%a`, without `0x`: hexadecimal digits, and then the exponent of two.
fn hexadecimal(value: f64, precision: Option<usize>, point: bool) -> String {
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
    let mut out = format!("{lead}");
    if !digits.is_empty() || point {
        out.push('.');
        out.push_str(&digits);
    }
    let _ = write!(out, "p{exponent:+}");
    out
}
