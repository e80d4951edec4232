//! Formats that follow the `/` of a debugger command, as in GDB: count, format letter and size. Examples:
//! `4xw`, `t`, `3i`.

use debug::NumberFormat;

/// Form in which memory is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum As {
    Number(NumberFormat),
    Instruction,
    Text,
}

/// A format. Omitted parts are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Format {
    pub count: Option<u64>,
    pub shown: Option<As>,
    /// Size of a unit in bytes.
    pub size: Option<usize>,
}

/// Letters of the sizes, in bytes.
const SIZES: [(char, usize); 4] = [('b', 1), ('h', 2), ('w', 4), ('g', 8)];

impl Format {
    /// Splits the arguments of a command, such as `/4xw tile`, into the format at their start and the rest.
    ///
    /// # Errors
    /// A letter is not a format.
    pub fn split(text: &str) -> Result<(Format, &str), String> {
        let Some(behind) = text.strip_prefix('/') else { return Ok((Format::default(), text)) };
        let (written, rest) = behind.split_once(char::is_whitespace).unwrap_or((behind, ""));
        Ok((Format::parse(written)?, rest.trim()))
    }

    fn parse(text: &str) -> Result<Format, String> {
        let letters = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &text[..text.len() - letters.len()];
        let count = match digits {
            "" => None,
            digits => Some(digits.parse().map_err(|_| format!("`{digits}` is more than any memory has"))?),
        };
        let mut format = Format { count, ..Format::default() };
        for letter in letters.chars() {
            let shown = match letter {
                'i' => Some(As::Instruction),
                's' => Some(As::Text),
                letter => NumberFormat::from_letter(letter).map(As::Number),
            };
            let size = SIZES.iter().find(|row| row.0 == letter).map(|row| row.1);
            match (shown, size) {
                (Some(_), _) => format.shown = shown,
                (_, Some(_)) => format.size = size,
                _ => {
                    return Err(format!(
                        "there is no format `{letter}`: x z o t d u c f a, of memory also i and s; sizes are b h w g"
                    ));
                }
            }
        }
        Ok(format)
    }

    /// Returns the format letter of a command that prints a value. Such a command takes only a letter. `None`
    /// if there is no format.
    ///
    /// # Errors
    /// The format has other parts, or a letter that is only for memory.
    pub fn of_value(self, command: &str) -> Result<Option<NumberFormat>, String> {
        match self {
            Format { count: Some(_), .. } => Err(format!("`{command}` takes no count: `x` shows memory")),
            Format { size: Some(_), .. } => Err(format!("`{command}` takes no size: `x` shows memory")),
            Format { shown: None, .. } => Ok(None),
            Format { shown: Some(As::Number(letter)), .. } => Ok(Some(letter)),
            _ => Err(format!("`{command}` has no format i or s: `x` has")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        let split =
            |text| Format::split(text).map(|(format, rest)| (format.count, format.shown, format.size, rest));
        let hex = Some(As::Number(NumberFormat::Hex));
        assert_eq!(split("/4xw a + 1"), Ok((Some(4), hex, Some(4), "a + 1")));
        assert_eq!(split("/x"), Ok((None, hex, None, "")));
        assert_eq!(split("/3i f"), Ok((Some(3), Some(As::Instruction), None, "f")));
        assert_eq!(split("/gx  p"), Ok((None, hex, Some(8), "p")));
        assert_eq!(split("a /x"), Ok((None, None, None, "a /x")));
        assert_eq!(split("/ a"), Ok((None, None, None, "a")));
        for wrong in ["/q a", "/4q", "/x4 a", "/-1x a", "/\u{e9}", "/99999999999999999999x a"] {
            assert!(Format::split(wrong).is_err(), "{wrong}");
        }
        let of = |text: &str| Format::split(text).and_then(|(format, _)| format.of_value("print"));
        assert_eq!(of("/t a"), Ok(Some(NumberFormat::Binary)));
        for wrong in ["/2x a", "/xg a", "/i a", "/s a"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
