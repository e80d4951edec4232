//! String literals and the formats of `printf`.
//!
//! # Source
//! The OpenCL C specification, "printf": C's conversions, and `vN` for vectors. `%n` and `*` are not part of
//! it, and `%s` prints a string literal. The parser also accepts `ll`, `%v4f` and similar forms whose meaning
//! is clear; `Conversion::opencl` writes them as OpenCL requires.

use crate::lexer::Span;
use crate::scalar::Scalar;
use std::fmt::Write as _;
use std::ops::Range;

/// A mistake in a literal or a format, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub span: Span,
    pub message: String,
    pub label: &'static str,
    pub help: Option<String>,
}

/// Contents of a string literal, with escapes resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Literal {
    pub text: String,
    /// For each byte of the literal's text, the byte's position in the source. The last entry is the position
    /// at which the text ends.
    at: Vec<u32>,
}

/// Escape sequences of one character.
const ESCAPES: [(char, char); 10] = [
    ('n', '\n'),
    ('t', '\t'),
    ('r', '\r'),
    ('a', '\x07'),
    ('b', '\x08'),
    ('v', '\x0b'),
    ('f', '\x0c'),
    ('\\', '\\'),
    ('"', '"'),
    ('\'', '\''),
];

impl Literal {
    /// Parses a string literal. `written` is the literal with its quotes, which begins at byte `start` of the
    /// source.
    pub fn read(written: &str, start: u32) -> Result<Literal, Mistake> {
        let inner = written.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(written);
        let mut literal = Literal::default();
        let mut rest = inner;
        let place = |rest: &str| start + 1 + (inner.len() - rest.len()) as u32;
        while let Some(c) = rest.chars().next() {
            let (c, len) = match c {
                '\\' => escape(rest, place(rest))?,
                c => (c, c.len_utf8()),
            };
            if c == '\0' {
                let span = Span { start: place(rest), end: place(&rest[len..]) };
                return Err(Mistake {
                    span,
                    message: "a text that is printed has no zero in it".to_owned(),
                    label: "the text would end here",
                    help: None,
                });
            }
            literal.text.push(c);
            literal.at.resize(literal.text.len(), place(rest));
            rest = &rest[len..];
        }
        literal.at.push(place(rest));
        Ok(literal)
    }

    /// Returns the source position of a part of the text.
    pub fn span(&self, range: &Range<usize>) -> Span {
        Span { start: self.at[range.start], end: self.at[range.end] }
    }
}

/// Returns the character that the escape sequence at the start of `text` stands for, and the length of the
/// sequence in bytes.
fn escape(text: &str, start: u32) -> Result<(char, usize), Mistake> {
    let after = &text[1..];
    let next = after.chars().next().unwrap_or('\\');
    if let Some((_, c)) = ESCAPES.iter().find(|row| row.0 == next) {
        return Ok((*c, 2));
    }
    let wrong = |len: usize, help: &str| {
        let span = Span { start, end: start + len as u32 };
        let message = format!("`{}` is no escape", &text[..len]);
        Mistake { span, message, label: "not known", help: Some(help.to_owned()) }
    };
    match next {
        'x' => {
            let digits = after[1..].bytes().take(2).take_while(u8::is_ascii_hexdigit).count();
            let code = u8::from_str_radix(&after[1..1 + digits], 16).ok();
            let code = code.filter(|code| digits == 2 && code.is_ascii());
            let help = "two hexadecimal digits follow, up to `\\x7f`; what is beyond is written `\\u{e9}`";
            code.map(|code| (code.into(), 4)).ok_or_else(|| wrong(2 + digits, help))
        }
        'u' => {
            let help = "the number of a character follows in braces, in hexadecimal digits: `\\u{e9}`";
            let number =
                after[1..].strip_prefix('{').and_then(|text| text.split_once('}')).map(|pair| pair.0);
            let c = number.and_then(|text| u32::from_str_radix(text, 16).ok()).and_then(char::from_u32);
            let len = number.map_or(2, |text| text.len() + 4);
            c.map(|c| (c, len)).ok_or_else(|| wrong(len, help))
        }
        '0'..='7' => Err(wrong(2, "there are no octal numbers; the escape character is `\\x1b`")),
        other => Err(wrong(
            1 + other.len_utf8(),
            "escapes are `\\n \\t \\r \\a \\b \\v \\f \\\\ \\\" \\' \\x1b \\u{e9}`",
        )),
    }
}

/// Length modifier of a conversion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Length {
    /// No length modifier: the argument is an integer of at most 32 bits, or a float of any size.
    #[default]
    None,
    /// `hh`
    Char,
    /// `h`
    Short,
    /// `hl`, only for vectors.
    Word,
    /// `l` and `ll`.
    Long,
}

impl Length {
    /// Returns the modifier as OpenCL spells it.
    const fn text(self) -> &'static str {
        match self {
            Length::None => "",
            Length::Char => "hh",
            Length::Short => "h",
            Length::Word => "hl",
            Length::Long => "l",
        }
    }

    const fn of_bits(bits: u32) -> Length {
        match bits {
            8 => Length::Char,
            16 => Length::Short,
            64 => Length::Long,
            _ => Length::None,
        }
    }
}

/// A conversion such as `%-8.3v4hlf`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversion {
    /// Range of the conversion in the text.
    pub range: Range<usize>,
    /// Flags (any of `-+ #0`), width and precision of the conversion, as the format has them.
    field: String,
    has_precision: bool,
    /// Number of elements of a vector; 0 for a scalar.
    pub lanes: u8,
    pub length: Length,
    pub letter: char,
}

/// Kind of value that a conversion prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Signed,
    Unsigned,
    /// `%x`, `%X`, `%o`: the bits of any integer.
    Bits,
    /// `%c`
    Character,
    Float,
    /// `%p`
    Pointer,
    /// `%s`
    Text,
}

impl Conversion {
    pub fn kind(&self) -> Kind {
        match self.letter {
            'd' | 'i' => Kind::Signed,
            'u' => Kind::Unsigned,
            'x' | 'X' | 'o' => Kind::Bits,
            'c' => Kind::Character,
            'p' => Kind::Pointer,
            's' => Kind::Text,
            _ => Kind::Float,
        }
    }

    /// Returns the conversion as written.
    pub fn written(&self) -> String {
        let vector = if self.lanes > 0 { format!("v{}", self.lanes) } else { String::new() };
        format!("%{}{vector}{}{}", self.field, self.length.text(), self.letter)
    }

    /// Returns the type that an argument gets from the conversion if the argument is a literal without a
    /// suffix. `is_negative` says whether a minus sign precedes the literal.
    pub fn usual(&self, is_negative: bool) -> Option<Scalar> {
        let kind = match self.kind() {
            Kind::Bits if is_negative => Kind::Signed,
            kind => kind,
        };
        Some(match (kind, self.length) {
            (Kind::Signed, Length::Char) => Scalar::I8,
            (Kind::Signed, Length::Short) => Scalar::I16,
            (Kind::Signed, Length::Long) => Scalar::I64,
            (Kind::Signed | Kind::Character, _) => Scalar::I32,
            (Kind::Unsigned | Kind::Bits, Length::Char) => Scalar::U8,
            (Kind::Unsigned | Kind::Bits, Length::Short) => Scalar::U16,
            (Kind::Unsigned | Kind::Bits, Length::Long) => Scalar::U64,
            (Kind::Unsigned | Kind::Bits, _) => Scalar::U32,
            (Kind::Float, _) => Scalar::F32,
            (Kind::Pointer | Kind::Text, _) => return None,
        })
    }

    /// Returns whether the conversion can print a vector of `lanes` scalars of this type, or a scalar if
    /// `lanes` is 1.
    pub fn takes(&self, scalar: Scalar, lanes: u8) -> bool {
        let bits = scalar.bits();
        let fits = match self.length {
            Length::None => bits <= 32,
            Length::Char => bits == 8,
            Length::Short => bits == 16,
            Length::Word => bits == 32,
            Length::Long => bits == 64,
        };
        let sign = match self.kind() {
            Kind::Signed => scalar.is_signed(),
            Kind::Unsigned => scalar.is_int() && !scalar.is_signed(),
            Kind::Bits => scalar.is_int(),
            Kind::Character => return scalar.is_int() && bits <= 32 && lanes == 1,
            Kind::Float => {
                let fits = matches!(self.length, Length::None) || self.lanes == 0 || fits;
                return (scalar.is_float() || scalar == Scalar::Bf16) && fits && self.counts(lanes);
            }
            Kind::Pointer | Kind::Text => return false,
        };
        sign && fits && self.counts(lanes)
    }

    fn counts(&self, lanes: u8) -> bool {
        self.lanes.max(1) == lanes
    }

    /// Returns the text of a conversion that prints values of another type and is otherwise like this one. An
    /// error message suggests it to the user.
    pub fn made_for(&self, scalar: Scalar, lanes: u8) -> Option<String> {
        let letter = match self.kind() {
            _ if scalar.is_float() || scalar == Scalar::Bf16 => match self.kind() {
                Kind::Float => self.letter,
                _ => 'f',
            },
            _ if !scalar.is_int() => return None,
            Kind::Bits => self.letter,
            _ if scalar.is_signed() => 'd',
            _ => 'u',
        };
        let length = match scalar.is_int() {
            true => Length::of_bits(scalar.bits()).text(),
            false => "",
        };
        let vector = if lanes > 1 { format!("v{lanes}") } else { String::new() };
        let means = |flag: char| match flag {
            '+' | ' ' => !"uxXo".contains(letter),
            '#' => !"du".contains(letter),
            _ => true,
        };
        let field: String = self.field.chars().filter(|&c| means(c)).collect();
        Some(format!("%{field}{vector}{length}{letter}"))
    }

    /// Appends the conversion to `out` in the form that OpenCL's runtime expects for values of type `scalar`.
    /// The program passes an `f16` as an `f32`.
    fn opencl(&self, scalar: Option<Scalar>, out: &mut String) {
        let _ = write!(out, "%{}", self.field);
        let length = match (self.kind(), scalar) {
            (Kind::Float, _) if self.lanes == 0 => Length::None,
            (Kind::Float, Some(Scalar::F64)) => Length::Long,
            (Kind::Float, _) => Length::Word,
            (_, Some(scalar)) if self.lanes > 0 && scalar.bits() == 32 => Length::Word,
            (_, Some(scalar)) if self.lanes > 0 => Length::of_bits(scalar.bits()),
            _ => self.length,
        };
        if self.lanes > 0 {
            let _ = write!(out, "v{}", self.lanes);
        }
        let _ = write!(out, "{}{}", length.text(), self.letter);
    }

    /// Appends the conversion to `out` in the form that C expects for values of type `scalar`. Each value is
    /// passed in 64 bits, and a float as a double. C has no vectors, so a vector becomes one conversion for
    /// each element.
    pub fn c(&self, scalar: Option<Scalar>, out: &mut String) {
        let length = match (self.kind(), scalar) {
            (Kind::Float, _) => Length::None,
            (_, Some(scalar)) if self.lanes > 0 => Length::of_bits(scalar.bits()),
            _ => self.length,
        };
        for lane in 0..self.lanes.max(1) {
            let comma = if lane > 0 { "," } else { "" };
            let _ = write!(out, "{comma}%{}{}{}", self.field, length.text(), self.letter);
        }
    }
}

/// A part of a parsed format: a text or a conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text that is printed unchanged. `%%` is the text `%`.
    Text(String),
    Conversion(Conversion),
}

/// A parsed format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Format {
    pub pieces: Vec<Piece>,
}

/// Limit on the width of a field and on the precision.
const MAX_WIDTH: u32 = 4096;

impl Format {
    /// Parses a format. Returns all mistakes in it on failure.
    pub fn parse(literal: &Literal) -> Result<Format, Vec<Mistake>> {
        let (mut pieces, mut mistakes) = (Vec::new(), Vec::new());
        let text = literal.text.as_str();
        let (mut at, mut plain) = (0, String::new());
        while let Some(c) = text[at..].chars().next() {
            if c != '%' || text[at + 1..].starts_with('%') {
                plain.push(c);
                at += c.len_utf8() + usize::from(c == '%');
                continue;
            }
            let mut reader = Reader { literal, start: at, at: at + 1 };
            match reader.conversion() {
                Ok(conversion) => {
                    if !plain.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut plain)));
                    }
                    pieces.push(Piece::Conversion(conversion));
                }
                Err(mistake) => mistakes.push(mistake),
            }
            at = reader.at;
        }
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        if mistakes.is_empty() { Ok(Format { pieces }) } else { Err(mistakes) }
    }

    pub fn conversions(&self) -> impl Iterator<Item = &Conversion> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Conversion(conversion) => Some(conversion),
            Piece::Text(_) => None,
        })
    }
}

/// A format string for the runtime, while it is assembled.
#[derive(Clone, Debug, Default)]
pub struct Record {
    pub text: String,
}

impl Record {
    /// Appends text that is printed unchanged. A backslash would begin an escape sequence in the metadata,
    /// and LLVM's format strings have no escape for the backslash itself. Each backslash therefore becomes
    /// the conversion `%c`. Returns the number of backslashes. For each backslash, the caller must pass the
    /// character code of the backslash as an argument.
    pub fn push(&mut self, text: &str) -> usize {
        for c in text.chars() {
            match c {
                '%' => self.text.push_str("%%"),
                '\\' => self.text.push_str("%c"),
                c => self.text.push(c),
            }
        }
        text.matches('\\').count()
    }

    /// Appends a conversion in the form that OpenCL's runtime expects. `scalar` is the type of the argument
    /// if the argument is a number or a vector.
    pub fn convert(&mut self, conversion: &Conversion, scalar: Option<Scalar>) {
        conversion.opencl(scalar, &mut self.text);
    }

    /// Appends a conversion for a `u32`.
    pub fn number(&mut self) {
        self.text.push_str("%u");
    }
}

/// Parser of one conversion.
struct Reader<'l> {
    literal: &'l Literal,
    /// Position of the percent sign.
    start: usize,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.literal.text[self.at..]
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    /// Returns an error at the source position of the conversion, as far as the conversion has been read.
    fn mistake<T>(
        &self,
        message: impl Into<String>,
        label: &'static str,
        help: Option<&str>,
    ) -> Result<T, Mistake> {
        let span = self.literal.span(&(self.start..self.at));
        Err(Mistake { span, message: message.into(), label, help: help.map(str::to_owned) })
    }

    /// Parses a number, if there is one.
    fn number(&mut self, what: &str) -> Result<Option<u32>, Mistake> {
        if self.take("*") {
            let message = format!("OpenCL's `printf` takes no {what} from an argument");
            return self.mistake(message, "`*`", Some("write the number, or choose between formats"));
        }
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let value = self.rest()[..digits].parse::<u64>();
        self.at += digits;
        match value {
            _ if digits == 0 => Ok(None),
            Ok(value) if value <= MAX_WIDTH.into() => Ok(Some(value as u32)),
            _ => self.mistake(format!("a {what} is {MAX_WIDTH} at most"), "too large", None),
        }
    }

    fn conversion(&mut self) -> Result<Conversion, Mistake> {
        let before = self.at;
        let flags = self.rest().bytes().take_while(|byte| b"-+ #0".contains(byte)).count();
        self.at += flags;
        let flags = self.literal.text[before..self.at].to_owned();
        self.number("width")?;
        let has_precision = self.take(".");
        if has_precision {
            self.number("precision")?;
        }
        let field = self.literal.text[before..self.at].to_owned();
        let lanes = match self.take("v") {
            true => self.lanes()?,
            false => 0,
        };
        let length = self.length()?;
        let Some(letter) = self.rest().chars().next() else {
            return self.mistake(
                "the format ends in the middle of a conversion",
                "ends here",
                Some("a percent sign is written `%%`"),
            );
        };
        self.at += letter.len_utf8();
        let range = self.start..self.at;
        let conversion = Conversion { range, field, has_precision, lanes, length, letter };
        self.check(&conversion, &flags)?;
        Ok(conversion)
    }

    fn lanes(&mut self) -> Result<u8, Mistake> {
        for (text, lanes) in [("16", 16), ("2", 2), ("3", 3), ("4", 4), ("8", 8)] {
            if self.take(text) {
                return Ok(lanes);
            }
        }
        let help = "`%v4f` prints the four elements of an `f32x4`";
        self.mistake("a vector has 2, 3, 4, 8 or 16 elements", "behind the `v`", Some(help))
    }

    fn length(&mut self) -> Result<Length, Mistake> {
        let known = [
            ("hh", Length::Char),
            ("hl", Length::Word),
            ("h", Length::Short),
            ("ll", Length::Long),
            ("l", Length::Long),
        ];
        let found = known.into_iter().find(|(text, _)| self.take(text));
        if let Some(other) = self.rest().chars().next().filter(|c| "jztLqw".contains(*c)) {
            self.at += 1;
            let help = "lengths are `hh` of 8 bits, `h` of 16, none of 32, `l` of 64";
            return self.mistake(format!("`{other}` is no length in OpenCL"), "not known", Some(help));
        }
        Ok(found.map_or(Length::None, |(_, length)| length))
    }

    /// Checks that a conversion such as `%d` exists, and that it allows its flags and its length modifier.
    fn check(&self, conversion: &Conversion, flags: &str) -> Result<(), Mistake> {
        let Conversion { letter, lanes, length, .. } = *conversion;
        if letter == 'n' {
            let help = "nothing is written but to the output; the text would have to be counted by hand";
            return self.mistake("OpenCL's `printf` has no `%n`", "refused", Some(help));
        }
        if !"diouxXcspfFeEgGaA".contains(letter) {
            let help = match letter.is_ascii_graphic() {
                true => {
                    "conversions are `%d %i %u %o %x %X %c %s %p %f %F %e %E %g %G %a %A`; a percent sign is written `%%`"
                }
                false => "a percent sign is written `%%`",
            };
            return self.mistake(
                format!("there is no conversion `%{}`", letter.escape_debug()),
                "not known",
                Some(help),
            );
        }
        let kind = conversion.kind();
        let single = matches!(kind, Kind::Character | Kind::Pointer | Kind::Text);
        if single && lanes > 0 {
            return self.mistake(format!("`%{letter}` prints no vectors"), "of a vector", None);
        }
        let is_integer = matches!(kind, Kind::Signed | Kind::Unsigned | Kind::Bits);
        let fits = match length {
            Length::None => true,
            Length::Char => is_integer,
            // The length `h` is for integers, and also for vectors of `f16`, as in `%v2hf`.
            Length::Short => is_integer || kind == Kind::Float && lanes > 0,
            Length::Word => lanes > 0,
            Length::Long => is_integer || kind == Kind::Float,
        };
        if !fits {
            let help = match (length, lanes) {
                (Length::Word, 0) => Some("`hl` is the length of a vector's elements"),
                _ => None,
            };
            return self.mistake(
                format!("`%{letter}` has no length `{}`", length.text()),
                "no such length",
                help,
            );
        }
        let meaningless = |flag: char| match flag {
            '+' | ' ' => !matches!(kind, Kind::Signed | Kind::Float),
            '#' => !matches!(kind, Kind::Bits | Kind::Float),
            '0' => single,
            _ => false,
        };
        if let Some(flag) = flags.chars().find(|&flag| meaningless(flag)) {
            return self.mistake(format!("`{flag}` means nothing to `%{letter}`"), "without it", None);
        }
        if conversion.has_precision && matches!(kind, Kind::Character | Kind::Pointer) {
            return self.mistake(format!("`%{letter}` has no precision"), "without it", None);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(written: &str) -> Result<Literal, Mistake> {
        Literal::read(written, 10)
    }

    #[test]
    fn escapes() {
        let literal = read(r#""a\n\t\\\"\x41\u{e9}é%%""#).unwrap();
        assert_eq!(literal.text, "a\n\t\\\"Aéé%%");
        assert_eq!(literal.span(&(0..1)), Span { start: 11, end: 12 });
        assert_eq!(literal.span(&(1..2)), Span { start: 12, end: 14 });
        assert_eq!(literal.span(&(5..6)), Span { start: 20, end: 24 });
        for (written, span) in [
            (r#""ab\q""#, 13..15),
            (r#""\x8""#, 11..14),
            (r#""\x80""#, 11..15),
            (r#""\xé""#, 11..13),
            (r#""\u{d800}""#, 11..19),
            (r#""\u12""#, 11..13),
            (r#""a\x00""#, 12..16),
            (r#""\033""#, 11..13),
            (r#""\é""#, 11..14),
        ] {
            let mistake = read(written).unwrap_err();
            assert_eq!(mistake.span.start..mistake.span.end, span, "{written}: {mistake:?}");
        }
    }

    fn format(text: &str) -> Result<Format, Vec<Mistake>> {
        Format::parse(&read(&format!("\"{text}\"")).unwrap())
    }

    #[test]
    fn conversions() {
        let parsed = format("x = %-+8.3d, %v4f%%%hhx").unwrap();
        let all: Vec<&Conversion> = parsed.conversions().collect();
        assert_eq!(parsed.pieces[0], Piece::Text("x = ".into()));
        assert_eq!(parsed.pieces[4], Piece::Text("%".into()));
        assert!(all[0].takes(Scalar::I32, 1) && all[0].takes(Scalar::I8, 1));
        assert!(
            !all[0].takes(Scalar::I64, 1) && !all[0].takes(Scalar::U32, 1) && !all[0].takes(Scalar::F32, 1)
        );
        assert_eq!(all[0].made_for(Scalar::I64, 1).unwrap(), "%-+8.3ld");
        assert_eq!(all[0].made_for(Scalar::F32, 2).unwrap(), "%-+8.3v2f");
        assert!(
            all[1].takes(Scalar::F32, 4) && all[1].takes(Scalar::F16, 4) && !all[1].takes(Scalar::F32, 3)
        );
        assert!(all[2].takes(Scalar::U8, 1) && all[2].takes(Scalar::I8, 1) && !all[2].takes(Scalar::U32, 1));
        let mut record = Record::default();
        for (conversion, scalar) in all.iter().zip([Scalar::I32, Scalar::F32, Scalar::U8]) {
            assert_eq!(record.push("100% \\"), 1);
            record.convert(conversion, Some(scalar));
        }
        assert_eq!(record.text, "100%% %c%-+8.3d100%% %c%v4hlf100%% %c%hhx");
        let mut c = String::new();
        for (conversion, scalar) in all.iter().zip([Scalar::I32, Scalar::F32, Scalar::U8]) {
            conversion.c(Some(scalar), &mut c);
        }
        assert_eq!(c, "%-+8.3d%f,%f,%f,%f%hhx");
        let halves = format("%5.2v2x").unwrap();
        let mut c = String::new();
        halves.conversions().for_each(|conversion| conversion.c(Some(Scalar::I16), &mut c));
        assert_eq!(c, "%5.2hx,%5.2hx");
    }

    #[test]
    fn mistakes() {
        for (text, part) in [
            ("%", "the format ends"),
            ("%5", "the format ends"),
            ("%l", "the format ends"),
            ("%n", "has no `%n`"),
            ("%y", "no conversion `%y`"),
            ("%é", "no conversion `%é`"),
            ("%*d", "takes no width"),
            ("%.*f", "takes no precision"),
            ("%5000d", "a width is 4096"),
            ("%99999999999999999999999d", "a width is 4096"),
            ("%v5f", "a vector has"),
            ("%v", "a vector has"),
            ("%zu", "`z` is no length"),
            ("%hs", "no length `h`"),
            ("%hld", "no length `hl`"),
            ("%v2s", "prints no vectors"),
            ("%#d", "`#` means nothing"),
            ("%+u", "`+` means nothing"),
            ("%05s", "`0` means nothing"),
            ("%.2c", "has no precision"),
        ] {
            let mistakes = format(text).unwrap_err();
            assert!(mistakes[0].message.contains(part), "{text}: {mistakes:?}");
        }
        assert_eq!(format("%n and %y and %d").unwrap_err().len(), 2);
    }
}
