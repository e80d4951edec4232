//! Parses function signatures such as `fn f(a: u32, b: f64x2, s: {u32, f64}) -> u64`.
//!
//! Types are written as in the kernel language. A struct is written as its fields in braces, with or without
//! names; a tuple is written in parentheses. `inreg` before a parameter marks the parameter; `...` after the
//! last parameter means that the function has variable arguments.

use crate::assign::{Param, Signature};
use crate::column::Implicit;
use crate::types::{Scalar, Space, TypeError, TypeId, Types};
use std::fmt;
use std::ops::Range;

/// Contents of a signature text.
#[derive(Clone, Debug, Default)]
pub struct Prototype {
    /// Types that the signature uses.
    pub types: Types,
    /// Parameters of the function.
    pub params: Vec<Param>,
    /// Range of each parameter in the text, including its name.
    pub param_texts: Vec<Range<usize>>,
    /// Type of the result.
    pub result: Option<TypeId>,
    /// Range of the result type in the text.
    pub result_text: Range<usize>,
    /// Whether more arguments may follow.
    pub variadic: bool,
}

impl Prototype {
    /// Returns the signature, with the given implicit arguments.
    pub fn signature<'a>(&'a self, implicit: &'a [Implicit]) -> Signature<'a> {
        Signature {
            params: &self.params,
            result: self.result,
            variadic: self.variadic,
            implicit,
            ..Signature::default()
        }
    }
}

/// Reason why a text is not a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Byte range of the wrong part of the text. If something is missing, the range is empty and at the place
    /// where it is missing.
    pub range: Range<usize>,
    /// Description of the error.
    pub message: String,
    /// Advice on how to fix the error.
    pub help: Option<String>,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)
    }
}

impl std::error::Error for ParseError {}

const SCALARS: [(&str, Scalar); 13] = [
    ("bool", Scalar::Bool),
    ("i8", Scalar::Int { bits: 8, signed: true }),
    ("i16", Scalar::Int { bits: 16, signed: true }),
    ("i32", Scalar::Int { bits: 32, signed: true }),
    ("i64", Scalar::Int { bits: 64, signed: true }),
    ("u8", Scalar::Int { bits: 8, signed: false }),
    ("u16", Scalar::Int { bits: 16, signed: false }),
    ("u32", Scalar::Int { bits: 32, signed: false }),
    ("u64", Scalar::Int { bits: 64, signed: false }),
    ("f16", Scalar::F16),
    ("bf16", Scalar::BF16),
    ("f32", Scalar::F32),
    ("f64", Scalar::F64),
];

const SPACES: [(&str, Space); 5] = [
    ("global", Space::Global),
    ("shared", Space::Local),
    ("constant", Space::Constant),
    ("private", Space::Private),
    ("region", Space::Region),
];

/// Names that types have in other languages, each with the name of the same type here. Error messages suggest
/// the name here.
const HABITS: &[(&str, &str)] = &[
    ("char", "i8"),
    ("uchar", "u8"),
    ("short", "i16"),
    ("ushort", "u16"),
    ("int", "i32"),
    ("uint", "u32"),
    ("unsigned", "u32"),
    ("long", "i64"),
    ("ulong", "u64"),
    ("size_t", "u64"),
    ("usize", "u64"),
    ("isize", "i64"),
    ("half", "f16"),
    ("float", "f32"),
    ("double", "f64"),
];

/// Parses a signature.
///
/// # Errors
/// Returns the first error.
pub fn parse(text: &str) -> Result<Prototype, ParseError> {
    let mut parser = Parser { text, at: 0, out: Prototype::default() };
    parser.prototype()?;
    Ok(parser.out)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    out: Prototype,
}

fn error(range: Range<usize>, message: impl Into<String>) -> ParseError {
    ParseError { range, message: message.into(), help: None }
}

impl ParseError {
    fn help(mut self, text: impl Into<String>) -> ParseError {
        self.help = Some(text.into());
        self
    }
}

impl<'a> Parser<'a> {
    fn blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Consumes a sign, if it is next. Returns whether it was.
    fn sign(&mut self, sign: &str) -> bool {
        self.blanks();
        let is_next = self.text[self.at..].starts_with(sign);
        if is_next {
            self.at += sign.len();
        }
        is_next
    }

    fn need(&mut self, sign: &str) -> Result<(), ParseError> {
        if self.sign(sign) {
            return Ok(());
        }
        Err(self.unexpected(&format!("`{sign}`")))
    }

    /// Returns an error which says that `wanted` was expected here instead of the next token.
    fn unexpected(&mut self, wanted: &str) -> ParseError {
        self.blanks();
        let start = self.at;
        match self.text[start..].chars().next() {
            None => error(start..start, format!("{wanted} is missing")),
            Some(found) => {
                let end = self.peek_word().map_or(start + found.len_utf8(), |word| start + word.len());
                error(start..end, format!("expected {wanted}, found `{}`", &self.text[start..end]))
            }
        }
    }

    fn peek_word(&mut self) -> Option<&'a str> {
        self.blanks();
        let rest = &self.text[self.at..];
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        (len > 0).then(|| &rest[..len])
    }

    fn word(&mut self) -> Option<(&'a str, Range<usize>)> {
        let word = self.peek_word()?;
        self.at += word.len();
        Some((word, self.at - word.len()..self.at))
    }

    /// Consumes a word, if it is next. Returns whether it was.
    fn keyword(&mut self, word: &str) -> bool {
        let is_next = self.peek_word() == Some(word);
        if is_next {
            self.at += word.len();
        }
        is_next
    }

    fn prototype(&mut self) -> Result<(), ParseError> {
        if self.keyword("kernel") {
            let range = self.at - "kernel".len()..self.at;
            return Err(error(range, "a kernel is not called by other functions")
                .help("how the arguments of kernels lie in memory, `kernc inspect` says of a code object"));
        }
        self.keyword("fn");
        self.word();
        self.need("(")?;
        self.params()?;
        if self.sign("->") {
            self.blanks();
            let start = self.at;
            let ty = self.ty(0)?;
            self.out.result_text = start..self.at;
            self.out.result = Some(ty);
        }
        self.sign(";");
        self.blanks();
        if self.at < self.text.len() {
            return Err(error(self.at..self.text.len(), "the signature ends before this"));
        }
        Ok(())
    }

    fn params(&mut self) -> Result<(), ParseError> {
        while !self.sign(")") {
            if self.sign("...") {
                self.out.variadic = true;
                return self.need(")");
            }
            self.blanks();
            let start = self.at;
            let inreg = self.keyword("inreg");
            self.name();
            let ty = self.ty(0)?;
            self.out.params.push(Param { ty, inreg });
            self.out.param_texts.push(start..self.at);
            if !self.sign(",") {
                return self.need(")");
            }
        }
        Ok(())
    }

    /// Consumes a name and a colon, if they are next.
    fn name(&mut self) {
        let start = self.at;
        if self.word().is_none() || !self.sign(":") {
            self.at = start;
        }
    }

    fn ty(&mut self, depth: u32) -> Result<TypeId, ParseError> {
        self.blanks();
        let start = self.at;
        if depth > Types::DEPTH {
            return Err(error(start..start, TypeError::Deep.to_string()));
        }
        let made = if self.sign("{") {
            self.fields("}", depth)?
        } else if self.sign("(") {
            self.fields(")", depth)?
        } else if self.sign("[") {
            self.array(depth)?
        } else if self.sign("*") {
            return self.pointer(depth);
        } else {
            self.named()?
        };
        made.map_err(|why| error(start..self.at, why.to_string()))
    }

    fn fields(&mut self, end: &str, depth: u32) -> Result<Result<TypeId, TypeError>, ParseError> {
        let mut fields = Vec::new();
        while !self.sign(end) {
            self.name();
            fields.push(self.ty(depth + 1)?);
            if !self.sign(",") {
                self.need(end)?;
                break;
            }
        }
        Ok(self.out.types.structure(&fields))
    }

    fn array(&mut self, depth: u32) -> Result<Result<TypeId, TypeError>, ParseError> {
        let element = self.ty(depth + 1)?;
        if !self.sign(";") {
            return Err(self.unexpected("`;`").help("an array is written `[u32; 4]`"));
        }
        let Some((word, range)) = self.word() else { return Err(self.unexpected("a length")) };
        let Ok(len) = word.parse() else {
            return Err(error(range, format!("`{word}` is no length")));
        };
        self.need("]")?;
        Ok(self.out.types.array(element, len))
    }

    /// Parses the rest of a pointer type after the `*`. The type to which it points is parsed but not stored,
    /// because it does not affect the calling convention.
    fn pointer(&mut self, depth: u32) -> Result<TypeId, ParseError> {
        let mut space = Space::Flat;
        loop {
            let word = self.peek_word();
            if let Some((_, named)) = SPACES.iter().find(|(name, _)| Some(*name) == word) {
                space = *named;
            } else if !matches!(word, Some("const" | "volatile" | "restrict")) {
                break;
            }
            self.word();
        }
        self.ty(depth + 1)?;
        Ok(self.out.types.scalar(Scalar::Pointer(space)))
    }

    fn named(&mut self) -> Result<Result<TypeId, TypeError>, ParseError> {
        let Some((word, range)) = self.word() else { return Err(self.unexpected("a type")) };
        let scalar = |name: &str| SCALARS.iter().find(|(known, _)| *known == name).map(|(_, scalar)| *scalar);
        if let Some(scalar) = scalar(word) {
            return Ok(Ok(self.out.types.scalar(scalar)));
        }
        let parts = word.rsplit_once('x').and_then(|(of, lanes)| Some((scalar(of)?, lanes.parse().ok()?)));
        if let Some((of, lanes)) = parts {
            return Ok(self.out.types.vector(of, lanes));
        }
        let is_habit = HABITS.iter().any(|(other, _)| *other == word);
        self.blanks();
        if !is_habit && self.text[self.at..].starts_with(|c: char| c.is_alphanumeric() || "*{[".contains(c)) {
            return Err(error(range, format!("`:` is missing behind the name `{word}`")));
        }
        Err(unknown(word, range))
    }
}

fn unknown(word: &str, range: Range<usize>) -> ParseError {
    let unknown = error(range, format!("there is no type `{word}`"));
    if word == "void" {
        return unknown.help("leave out `->` where there is no result");
    }
    match HABITS.iter().find(|(other, _)| *other == word) {
        Some((_, ours)) => unknown.help(format!("it is called `{ours}` here")),
        None => unknown.help(
            "types are `bool`, `i8` to `i64`, `u8` to `u64`, `f16`, `bf16`, `f32`, `f64`, vectors like `f32x4`, pointers like `*global f32`, \
             `{u32, f64}` and `[u32; 4]`",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str, at: &str, message: &str) {
        let wrong = parse(text).expect_err(text);
        assert_eq!((&text[wrong.range.clone()], wrong.message.as_str()), (at, message));
    }

    #[test]
    fn reads_what_it_should() {
        let one = parse(
            "fn f(a: u32, inreg b: f64x2, s: {x: u32, (f64, [u8; 3])}, *const global {u32}, ...) -> u64",
        )
        .unwrap();
        assert_eq!((one.params.len(), one.variadic, one.params[1].inreg), (4, true, true));
        let sizes: Vec<u64> = one.params.iter().map(|param| one.types.size(param.ty)).collect();
        assert_eq!(sizes, [4, 16, 24, 8]);
        for text in ["()", "fn f()", "f();", " ( u8 , ) -> bool "] {
            parse(text).expect(text);
        }
    }

    #[test]
    fn says_where_a_mistake_is() {
        refused("fn f(a: int)", "int", "there is no type `int`");
        refused("fn f(a: f32x5)", "f32x5", "vectors have 2, 3, 4, 8 or 16 lanes, not 5");
        refused("fn f(a: u32", "", "`)` is missing");
        refused("fn f(a u32)", "a", "`:` is missing behind the name `a`");
        refused("fn f(float a)", "float", "there is no type `float`");
        refused("fn f(a: u32 b: u32)", "b", "expected `)`, found `b`");
        refused("fn f(a: [u32])", "]", "expected `;`, found `]`");
        refused("fn f(a: [u32; -1])", "-", "expected a length, found `-`");
        refused("fn f(a: [u32; x])", "x", "`x` is no length");
        refused("fn f() -> u32 u32", "u32", "the signature ends before this");
        refused("fn f(..., u32)", ",", "expected `)`, found `,`");
        refused("fn f(ä)", "ä", "expected a type, found `ä`");
        refused("kernel f()", "kernel", "a kernel is not called by other functions");
        refused("fn f(a: [[u8; 65536]; 65536])", "[[u8; 65536]; 65536]", "types are smaller than 2 GiB");
        let deep = format!("({}", "{".repeat(5000));
        assert_eq!(parse(&deep).unwrap_err().message, "types are nested 64 deep at most");
        let stars = format!("({}u8)", "*".repeat(5000));
        assert_eq!(parse(&stars).unwrap_err().message, "types are nested 64 deep at most");
    }

    /// Every text must give a result or an error whose range is within the text.
    #[test]
    fn takes_anything() {
        use crate::{Convention, assign};
        let target = isa::Subtarget::by_name("gfx906").unwrap();
        let whole = "fn f(inreg a: u32, b: f64x2, s: {x: u8, (f64, [u8; 3])}, *const global {u32}, bool, ...) -> {bf16, [u64; 9]}";
        let try_one = |text: &str| match parse(text) {
            Ok(made) => {
                for by in Convention::ALL {
                    let _ = assign(&made.types, &made.signature(&Implicit::ALL), &target, by);
                    let _ = assign(&made.types, &made.signature(&[]), &target, by);
                }
            }
            Err(wrong) => assert!(text.get(wrong.range.clone()).is_some(), "{text}: {wrong:?}"),
        };
        for at in 0..whole.len() {
            try_one(&whole[..at]);
            try_one(&whole[at..]);
            for other in [
                "",
                "(",
                ")",
                "{",
                "}",
                "[",
                "]",
                ";",
                ":",
                ",",
                "*",
                "-",
                "9999999999",
                "x",
                "u8",
                " ",
                "ä",
                "\u{a0}",
                "...",
            ] {
                try_one(&format!("{}{other}{}", &whole[..at], &whole[at + 1..]));
                try_one(&format!("{}{other}{}", &whole[..at], &whole[at..]));
            }
        }
    }
}
