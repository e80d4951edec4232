//! Number formats, by the letters that GDB uses for them.

use crate::expr::{Kind, Number, Scalar, number_text};

/// Format of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberFormat {
    /// `x`: hexadecimal.
    Hex,
    /// `z`: hexadecimal with leading zeros.
    Padded,
    /// `o`
    Octal,
    /// `t`
    Binary,
    /// `d`
    Signed,
    /// `u`
    Unsigned,
    /// `c`: the number and its character.
    Char,
    /// `f`: the bits as a float.
    Float,
    /// `a`: an address and the function that contains it.
    Address,
}

/// Letters and their formats.
const LETTERS: [(char, NumberFormat); 9] = [
    ('x', NumberFormat::Hex),
    ('z', NumberFormat::Padded),
    ('o', NumberFormat::Octal),
    ('t', NumberFormat::Binary),
    ('d', NumberFormat::Signed),
    ('u', NumberFormat::Unsigned),
    ('c', NumberFormat::Char),
    ('f', NumberFormat::Float),
    ('a', NumberFormat::Address),
];

impl NumberFormat {
    /// Returns the format of a letter.
    pub fn from_letter(letter: char) -> Option<NumberFormat> {
        LETTERS.iter().find(|row| row.0 == letter).map(|row| row.1)
    }

    /// Formats little-endian bytes as a number. As in GDB, every format except `f` shows a float by its bits.
    pub fn text(self, bytes: &[u8]) -> String {
        let bits = || bytes.iter().rev().map(|byte| format!("{byte:08b}")).collect::<String>();
        match self {
            NumberFormat::Hex | NumberFormat::Address => format!("0x{}", shortened(&hex(bytes))),
            NumberFormat::Padded => format!("0x{}", hex(bytes)),
            NumberFormat::Binary => shortened(&bits()).to_owned(),
            NumberFormat::Octal => octal(&bits()),
            NumberFormat::Char => {
                let code = bytes.first().copied().unwrap_or(0);
                format!("{} {}", code as i8, character(code))
            }
            NumberFormat::Float => match Scalar::with_size(Kind::Float, bytes.len()) {
                Some(float) => number_text(float, float.read(bytes)),
                None => NumberFormat::Signed.text(bytes),
            },
            NumberFormat::Signed | NumberFormat::Unsigned => {
                let kind = if self == NumberFormat::Signed { Kind::Signed } else { Kind::Unsigned };
                match Scalar::with_size(kind, bytes.len()).map(|scalar| scalar.read(bytes)) {
                    Some(Number::Int(number)) => number.to_string(),
                    _ => format!("0x{}", hex(bytes)),
                }
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect()
}

/// Removes leading zeros.
fn shortened(digits: &str) -> &str {
    match digits.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    }
}

/// Converts binary digits to octal: `017`, `0`.
fn octal(bits: &str) -> String {
    let whole = format!("{}{bits}", "0".repeat((3 - bits.len() % 3) % 3));
    let digits = whole.as_bytes().chunks(3).map(|three| {
        let digit = three.iter().fold(0, |digit, bit| digit << 1 | (bit - b'0'));
        char::from(b'0' + digit)
    });
    match shortened(&digits.collect::<String>()) {
        "0" => "0".to_owned(),
        digits => format!("0{digits}"),
    }
}

/// Returns a character in C's notation, such as `'a'`, `'\n'` or `'\377'`.
fn character(code: u8) -> String {
    match code {
        b'\n' => "'\\n'".to_owned(),
        b'\t' => "'\\t'".to_owned(),
        b'\r' => "'\\r'".to_owned(),
        b'\'' => "'\\''".to_owned(),
        b'\\' => "'\\\\'".to_owned(),
        0x20..0x7f => format!("'{}'", char::from(code)),
        code => format!("'\\{code:03o}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What GDB 13 prints for `print/F NUMBER` of these types.
    #[test]
    fn numbers_are_written_as_gdb_has_them() {
        let int = 10u32.to_le_bytes();
        let cases = [
            ('x', &int[..], "0xa"),
            ('z', &int, "0x0000000a"),
            ('o', &int, "012"),
            ('t', &int, "1010"),
            ('d', &u32::MAX.to_le_bytes(), "-1"),
            ('u', &u32::MAX.to_le_bytes(), "4294967295"),
            ('t', &u32::MAX.to_le_bytes(), "11111111111111111111111111111111"),
            ('c', &97u32.to_le_bytes(), "97 'a'"),
            ('c', &353u32.to_le_bytes(), "97 'a'"),
            ('c', &[1], "1 '\\001'"),
            ('x', &1.5f32.to_le_bytes(), "0x3fc00000"),
            ('f', &1_065_353_216u32.to_le_bytes(), "1.0"),
            ('d', &3.5f64.to_le_bytes(), "4615063718147915776"),
            ('x', &[0; 4], "0x0"),
            ('o', &[0; 4], "0"),
            ('t', &[0; 4], "0"),
            ('x', &[0xff; 16], "0xffffffffffffffffffffffffffffffff"),
        ];
        for (letter, bytes, text) in cases {
            let letter = NumberFormat::from_letter(letter).expect("a letter");
            assert_eq!(letter.text(bytes), text, "{letter:?}");
        }
        assert_eq!(NumberFormat::from_letter('q'), None);
    }
}
