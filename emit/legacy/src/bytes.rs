//! Bytes of a file together with their place in the file, so that each error can name the offset.

use std::borrow::Cow;
use std::fmt;

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// Offset in the file in bytes.
    pub offset: u64,
    /// The rule that the bytes at the offset break.
    pub rule: Cow<'static, str>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "offset {:#x}: {}", self.offset, self.rule)
    }
}

impl std::error::Error for Error {}

/// Result of reading a file.
pub type Result<T> = std::result::Result<T, Error>;

/// Longest name of a symbol, a section or an argument that is read, in bytes.
///
/// Names may share bytes, so a small file could hold many long names. The limit bounds the time of a reader.
pub const MAX_NAME: usize = 4096;

/// Part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bytes<'a> {
    /// The bytes.
    pub data: &'a [u8],
    /// Offset of the first byte in the file.
    pub base: u64,
}

impl<'a> Bytes<'a> {
    pub fn new(data: &'a [u8]) -> Bytes<'a> {
        Bytes { data, base: 0 }
    }

    pub fn len(self) -> u64 {
        self.data.len() as u64
    }

    /// Returns an error at an offset of this part, or at its end if the offset is beyond the end.
    pub fn error(self, offset: u64, rule: impl Into<Cow<'static, str>>) -> Error {
        Error { offset: self.base + offset.min(self.len()), rule: rule.into() }
    }

    /// Returns the bytes from `offset` on. `what` names the bytes in the error.
    pub fn part(self, offset: u64, size: u64, what: &str) -> Result<Bytes<'a>> {
        let end = offset.checked_add(size).filter(|&end| end <= self.len());
        let Some(end) = end else {
            let length = self.len();
            return Err(self.error(
                offset.min(length),
                format!("{what} has {size} bytes at {offset:#x} of {length:#x} bytes"),
            ));
        };
        Ok(Bytes { data: &self.data[offset as usize..end as usize], base: self.base + offset })
    }

    pub fn cursor(self) -> Cursor<'a> {
        Cursor { bytes: self, at: 0 }
    }

    /// Returns the text from `offset` up to the next NUL.
    pub fn name(self, offset: u64, what: &str) -> Result<&'a str> {
        let tail = self.part(offset, self.len().saturating_sub(offset), what)?;
        let limited = &tail.data[..tail.data.len().min(MAX_NAME + 1)];
        let end = limited.iter().position(|&byte| byte == 0).ok_or_else(|| {
            tail.error(0, format!("{what} has no NUL at its end, or more than {MAX_NAME} bytes"))
        })?;
        text(Bytes { data: &limited[..end], base: tail.base }, what)
    }

    /// Returns the little-endian words, which fill the bytes.
    pub fn words(self, what: &str) -> Result<Vec<u32>> {
        let (words, rest) = self.data.as_chunks::<4>();
        if !rest.is_empty() {
            let size = self.len();
            return Err(self.error(0, format!("{what} has {size} bytes, which is not a multiple of 4")));
        }
        Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
    }
}

/// Returns the bytes as text.
pub(crate) fn text<'a>(bytes: Bytes<'a>, what: &str) -> Result<&'a str> {
    std::str::from_utf8(bytes.data)
        .map_err(|error| bytes.error(error.valid_up_to() as u64, format!("{what} is not valid UTF-8")))
}

/// Reads numbers one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    pub bytes: Bytes<'a>,
    pub at: u64,
}

impl<'a> Cursor<'a> {
    pub fn take(&mut self, size: u64, what: &str) -> Result<Bytes<'a>> {
        let part = self.bytes.part(self.at, size, what)?;
        self.at += size;
        Ok(part)
    }

    fn number<const SIZE: usize>(&mut self, what: &str) -> Result<[u8; SIZE]> {
        let part = self.take(SIZE as u64, what)?;
        Ok(part.data.try_into().expect("the part has this size"))
    }

    pub fn u8(&mut self, what: &str) -> Result<u8> {
        Ok(u8::from_le_bytes(self.number(what)?))
    }

    pub fn u16(&mut self, what: &str) -> Result<u16> {
        Ok(u16::from_le_bytes(self.number(what)?))
    }

    pub fn u32(&mut self, what: &str) -> Result<u32> {
        Ok(u32::from_le_bytes(self.number(what)?))
    }

    pub fn u64(&mut self, what: &str) -> Result<u64> {
        Ok(u64::from_le_bytes(self.number(what)?))
    }

    /// Reads a number of 4 or 8 bytes.
    pub fn word(&mut self, wide: bool, what: &str) -> Result<u64> {
        if wide { self.u64(what) } else { self.u32(what).map(u64::from) }
    }

    pub fn rest(&self) -> Bytes<'a> {
        let at = self.at as usize;
        Bytes { data: &self.bytes.data[at..], base: self.bytes.base + self.at }
    }

    pub fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }
}

/// Writes numbers one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Output {
    pub data: Vec<u8>,
}

impl Output {
    pub fn u16(&mut self, number: u16) {
        self.data.extend(number.to_le_bytes());
    }

    pub fn u32(&mut self, number: u32) {
        self.data.extend(number.to_le_bytes());
    }

    pub fn u64(&mut self, number: u64) {
        self.data.extend(number.to_le_bytes());
    }

    /// Writes a number of 4 or 8 bytes.
    pub fn word(&mut self, wide: bool, number: u64) {
        if wide { self.u64(number) } else { self.u32(number as u32) }
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.data.extend_from_slice(bytes);
    }

    /// Writes a text and a NUL.
    pub fn name(&mut self, text: &str) {
        self.bytes(text.as_bytes());
        self.data.push(0);
    }

    pub fn align(&mut self, align: usize) {
        self.data.resize(self.data.len().next_multiple_of(align.max(1)), 0);
    }
}

/// Places of a file that some record has claimed, to find the others.
#[derive(Debug, Default)]
pub(crate) struct Claims(Vec<(u64, u64)>);

impl Claims {
    pub fn add(&mut self, part: Bytes) {
        if !part.data.is_empty() {
            self.0.push((part.base, part.base + part.len()));
        }
    }

    /// Returns the parts of `whole` that nobody has claimed and that are not only zeros. Zeros are padding.
    pub fn gaps(mut self, whole: Bytes) -> Vec<Unclaimed> {
        self.0.sort_unstable();
        let end = whole.base + whole.len();
        self.0.push((end, end));
        let mut gaps = Vec::new();
        let mut at = whole.base;
        for (start, stop) in self.0 {
            let start = start.min(end);
            if start > at {
                let bytes = &whole.data[(at - whole.base) as usize..(start - whole.base) as usize];
                if bytes.iter().any(|&byte| byte != 0) {
                    gaps.push(Unclaimed { offset: at, size: start - at });
                }
            }
            at = at.max(stop);
        }
        gaps
    }

    /// Returns an error if two parts overlap. `what` names the parts.
    pub fn must_not_overlap(&mut self, what: &str) -> Result<()> {
        self.0.sort_unstable();
        for pair in self.0.windows(2) {
            if pair[1].0 < pair[0].1 {
                return Err(Error { offset: pair[1].0, rule: format!("{what} overlap").into() });
            }
        }
        Ok(())
    }
}

/// Bytes of a file that belong to no record of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unclaimed {
    /// Offset of the first byte in the file.
    pub offset: u64,
    /// Number of bytes.
    pub size: u64,
}
