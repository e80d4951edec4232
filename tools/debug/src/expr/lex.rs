//! Splits an expression into words, numbers and signs.

use super::number::{Kind, Scalar};
use super::{Language, Problem};

/// A literal as the user has written it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Literal {
    /// Value, and the type if the literal has a suffix.
    Int(u64, Option<Scalar>),
    Float(f64, Option<Scalar>),
    Bool(bool),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Name(String),
    Literal(Literal),
    Register(String),
    Sign(&'static str),
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Token::Name(name) => f.write_str(name),
            Token::Register(name) => write!(f, "${name}"),
            Token::Sign(sign) => f.write_str(sign),
            Token::Literal(Literal::Int(value, _)) => write!(f, "{value}"),
            Token::Literal(Literal::Float(value, _)) => write!(f, "{value:?}"),
            Token::Literal(Literal::Bool(value)) => write!(f, "{value}"),
        }
    }
}

/// Operators and punctuation. A longer sign comes before the signs that are prefixes of it, because the lexer
/// takes the first match.
const SIGNS: [&str; 32] = [
    "<<=", ">>=", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=", "%=", "&=",
    "|=", "^=", "=", "<", ">", "[", "]", "(", ")", ".", "*", "&", "!", "-", "+",
];
const MORE: [&str; 7] = ["~", "/", "%", "^", "|", ",", ";"];

/// Limit on the number of tokens of an expression. The limit also bounds how deep the parser's recursion can
/// become.
const MOST: usize = 256;

/// Splits an expression into tokens.
///
/// # Errors
/// A part of the text is not a token, or there are too many tokens.
pub(crate) fn tokens(text: &str, language: Language) -> Result<Vec<Token>, Problem> {
    let mut all: Vec<Token> = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '$' => register(rest),
            '\'' => character(rest)?,
            // In `t.0.1` the parts of tuples are names, not a float.
            '0'..='9' if matches!(all.last(), Some(Token::Sign("." | "->"))) => {
                let length = word(rest);
                (Token::Name(rest[..length].to_owned()), length)
            }
            '0'..='9' => number(rest, language)?,
            first if first.is_alphabetic() || first == '_' => {
                let length = word(rest);
                (named(&rest[..length]), length)
            }
            first => {
                let sign = SIGNS.iter().chain(&MORE).find(|sign| rest.starts_with(**sign));
                let sign = sign.ok_or_else(|| format!("`{first}` has no place in an expression"))?;
                (Token::Sign(sign), sign.len())
            }
        };
        all.push(token);
        if all.len() > MOST {
            return Err(format!("the expression has more than {MOST} parts"));
        }
        rest = rest[length..].trim_start();
    }
    Ok(all)
}

fn named(word: &str) -> Token {
    match word {
        "true" => Token::Literal(Literal::Bool(true)),
        "false" => Token::Literal(Literal::Bool(false)),
        word => Token::Name(word.to_owned()),
    }
}

/// Returns the length in bytes of the name or keyword at the beginning of the text.
fn word(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// Reads a register: `$v3`, `$s[4:5]`.
fn register(text: &str) -> (Token, usize) {
    let mut length = 1 + word(&text[1..]);
    if text[length..].starts_with('[')
        && let Some(end) = text[length..].find(']')
        && text[length..length + end].contains(':')
    {
        length += end + 1;
    }
    (Token::Register(text[1..length].to_owned()), length)
}

/// Reads a character, `'a'` or `'\n'`, as a number of C's type `char`.
fn character(text: &str) -> Result<(Token, usize), Problem> {
    let wrong = || "a character is written `'a'`".to_owned();
    let end = text[1..].find('\'').filter(|&end| end > 0).ok_or_else(wrong)?;
    let inside = &text[1..=end];
    let value = match inside {
        "\\n" => b'\n',
        "\\t" => b'\t',
        "\\r" => b'\r',
        "\\0" => 0,
        one if one.len() == 1 && one != "\\" => one.as_bytes()[0],
        _ => return Err(wrong()),
    };
    let char = Scalar { kind: Kind::Signed, bytes: 1 };
    Ok((Token::Literal(Literal::Int(value.into(), Some(char))), end + 2))
}

/// Returns the length in bytes of the number at the beginning of the text: digits, letters, a decimal point
/// that is not followed by a field name, and the sign of an exponent.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let before = at.checked_sub(1).map_or(0, |before| bytes[before]);
        let is_in = match byte {
            b'.' => {
                !is_hex && bytes.get(at + 1).is_none_or(|next| !next.is_ascii_alphabetic() && *next != b'.')
            }
            b'+' | b'-' => !is_hex && matches!(before, b'e' | b'E'),
            byte => byte.is_ascii_alphanumeric() || byte == b'_',
        };
        if !is_in {
            break;
        }
        at += 1;
    }
    at
}

/// Reads a number, such as `12`, `1_000u64`, `0xff`, `0b101` or `1.5e-3f`.
fn number(text: &str, language: Language) -> Result<(Token, usize), Problem> {
    let length = number_length(text);
    let written = &text[..length];
    let wrong = || format!("`{written}` is no number");
    let plain = written.replace('_', "");
    let based = |prefix: &str, other: &str, radix| {
        plain.strip_prefix(prefix).or(plain.strip_prefix(other)).map(|digits| (digits, radix))
    };
    let based = based("0x", "0X", 16).or(based("0b", "0B", 2)).or(based("0o", "0O", 8));
    let (digits, radix) = based.unwrap_or_else(|| match (language, plain.as_bytes()) {
        (Language::C, [b'0', b'0'..=b'9', ..]) if !plain.contains('.') => (&plain[1..], 8),
        _ => (&plain, 10),
    });
    let is_digit = |c: char| c.is_digit(radix);
    let end = digits.find(|c: char| !is_digit(c)).unwrap_or(digits.len());
    let is_float = radix == 10
        && (digits[end..].starts_with(['.', 'e', 'E'])
            || matches!(&digits[end..], "f" | "h" | "f16" | "f32" | "f64"));
    if is_float {
        let end = digits.find(|c: char| !c.is_ascii_digit() && !".eE+-".contains(c)).unwrap_or(digits.len());
        let (digits, suffix) = digits.split_at(end);
        let value: f64 = digits.parse().map_err(|_| wrong())?;
        let scalar =
            suffix_of(suffix).filter(|scalar| scalar.is_none_or(Scalar::is_float)).ok_or_else(wrong)?;
        return Ok((Token::Literal(Literal::Float(value, scalar)), length));
    }
    let (digits, suffix) = digits.split_at(end);
    let is_integer =
        |scalar: &Option<Scalar>| !digits.is_empty() && scalar.is_none_or(|scalar| !scalar.is_float());
    let scalar = suffix_of(suffix).filter(is_integer).ok_or_else(wrong)?;
    let value = u64::from_str_radix(digits, radix);
    let value = value.map_err(|_| format!("`{written}` does not fit 64 bits"))?;
    let scalar = scalar.or_else(|| unsigned(value, radix));
    if let Some(scalar) = scalar
        && i128::from(value) > scalar.range().1
    {
        return Err(format!("`{written}` does not fit {}", scalar.name(language)));
    }
    Ok((Token::Literal(Literal::Int(value, scalar)), length))
}

/// Returns the unsigned type of C for a hexadecimal, octal or binary number that does not fit the signed type
/// of the same width (C11, 6.4.4.1).
fn unsigned(value: u64, radix: u32) -> Option<Scalar> {
    let bytes = match (radix, value) {
        (10, _) => return None,
        (_, 0x8000_0000..=0xffff_ffff) => 4,
        (_, 0x8000_0000_0000_0000..) => 8,
        _ => return None,
    };
    Scalar::with_size(Kind::Unsigned, bytes)
}

/// Returns the type of a number with this suffix in C or kernc. `Some(None)` for an empty suffix, `None` for
/// an unknown suffix.
fn suffix_of(suffix: &str) -> Option<Option<Scalar>> {
    let lower = suffix.to_ascii_lowercase();
    let (kind, bytes) = match lower.as_str() {
        "" => return Some(None),
        "u" => (Kind::Unsigned, 4),
        "l" | "ll" => (Kind::Signed, 8),
        "ul" | "lu" | "ull" | "llu" => (Kind::Unsigned, 8),
        "f" => (Kind::Float, 4),
        "h" => (Kind::Float, 2),
        other => {
            let (kind, bits) = other.split_at_checked(1)?;
            let kind = match kind {
                "i" => Kind::Signed,
                "u" => Kind::Unsigned,
                "f" => Kind::Float,
                _ => return None,
            };
            let bits: usize = bits.parse().ok().filter(|bits| matches!(bits, 8 | 16 | 32 | 64))?;
            (kind, bits / 8)
        }
    };
    Scalar::with_size(kind, bytes).map(Some)
}
