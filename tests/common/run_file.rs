//! `tests/data/run/*.k`: a kernel and, in comments at its head, how to launch it and what it leaves in its buffers.
//!
//! ```text
//! //@ grid 64 2 1                  work-items; 1 if left out, as are the sizes of the group
//! //@ group 64
//! //@ dynamic 256                  bytes of `shared dyn` memory
//! //@ param TILE = 16              as -P
//! //@ needs flat                   FLAT instructions: not for GFX6
//! //@ arg x = iota:64              as --arg of `kernc run`
//! //@ expect x = 0 1 5*62          the whole buffer; 5*62 is 62 times 5, 3..7 is 3 4 5 6
//! //@ expect y ulp 2 = 0.5 1.25    floats may be that many units in the last place away
//! //@ prints x = 1                 a line of what `printf` prints, with no blanks at its end
//! ```
//!
//! Several `expect` lines for one buffer continue each other. Numbers are worked out by hand or by other means than
//! this compiler. The kernel is the file's only one.

#![allow(dead_code)] // the tests of the library and of the command line each use a part

use crate::common::root;
use crate::harness::Launch;
use kernc::sim::{Buffer, Number, Scalar};

#[derive(Default)]
struct Header {
    grid: Vec<u32>,
    group: Vec<u32>,
    params: Vec<(String, String)>,
    args: Vec<(String, String)>,
    expected: Vec<Expected>,
    printed: String,
    dynamic: u32,
    flat: bool,
}

struct Expected {
    buffer: String,
    ulp: u64,
    numbers: Vec<String>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("no `=` in `{text}`"))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// Numbers of an `expect` line, with repetitions and ranges written out.
fn numbers(text: &str) -> Result<Vec<String>, String> {
    let wrong = |word: &str| format!("`{word}` in `{text}`");
    let mut out = Vec::new();
    for word in text.split_whitespace() {
        if let Some((value, count)) = word.split_once('*') {
            let count: usize = count.parse().map_err(|_| wrong(word))?;
            out.extend(std::iter::repeat_n(value.to_owned(), count));
        } else if let Some((from, to)) = word.split_once("..") {
            let (from, to): (i64, i64) =
                (from.parse().map_err(|_| wrong(word))?, to.parse().map_err(|_| wrong(word))?);
            out.extend((from..to).map(|n| n.to_string()));
        } else {
            out.push(word.to_owned());
        }
    }
    Ok(out)
}

fn header(text: &str) -> Result<Header, String> {
    let mut header = Header::default();
    for line in text.lines().filter_map(|line| line.strip_prefix("//@ ")) {
        let (word, rest) = line.trim().split_once(' ').ok_or_else(|| line.to_owned())?;
        let sizes = || -> Result<Vec<u32>, String> {
            rest.split_whitespace().map(|n| n.parse().map_err(|_| line.to_owned())).collect()
        };
        match word {
            "grid" => header.grid = sizes()?,
            "group" => header.group = sizes()?,
            "dynamic" => header.dynamic = rest.parse().map_err(|_| line.to_owned())?,
            "needs" if rest == "flat" => header.flat = true,
            "prints" => header.printed += &format!("{rest}\n"),
            "param" => header.params.push(pair(rest)?),
            "arg" => header.args.push(pair(rest)?),
            "expect" => {
                let (what, values) = pair(rest)?;
                let (buffer, ulp) = what.split_once(" ulp ").unwrap_or((&what, "0"));
                let ulp = ulp.parse().map_err(|_| line.to_owned())?;
                let mut numbers = numbers(&values)?;
                match header.expected.iter_mut().find(|old| old.buffer == buffer) {
                    Some(old) => old.numbers.append(&mut numbers),
                    None => header.expected.push(Expected { buffer: buffer.to_owned(), ulp, numbers }),
                }
            }
            _ => return Err(format!("unknown line `{line}`")),
        }
    }
    if header.expected.is_empty() { Err("nothing is expected".to_owned()) } else { Ok(header) }
}

/// Distance in units in the last place: floats of one sign are ordered as their bits are.
fn ulps(element: Scalar, a: f64, b: f64) -> u64 {
    let place = |x: f64| {
        let (bits, sign) = match element {
            Scalar::F32 => (i64::from((x as f32).to_bits() & 0x7fff_ffff), (x as f32).is_sign_negative()),
            _ => ((x.to_bits() & (u64::MAX >> 1)) as i64, x.is_sign_negative()),
        };
        if sign { -bits } else { bits }
    };
    if a.is_nan() || b.is_nan() {
        if a.is_nan() && b.is_nan() { 0 } else { u64::MAX }
    } else {
        place(a).abs_diff(place(b))
    }
}

fn matches(element: Scalar, found: Number, wanted: &str, ulp: u64) -> bool {
    match found {
        Number::Int(found) => {
            let (negative, digits) = wanted.strip_prefix('-').map_or((false, wanted), |rest| (true, rest));
            let value = match digits.strip_prefix("0x") {
                Some(hex) => i128::from_str_radix(hex, 16),
                None => digits.parse(),
            };
            value.is_ok_and(|value| found == if negative { -value } else { value })
        }
        Number::Float(found) => {
            let wanted = wanted.parse::<f64>();
            wanted.is_ok_and(|wanted| {
                let wanted = if element == Scalar::F32 { f64::from(wanted as f32) } else { wanted };
                ulps(element, found, wanted) <= ulp
            })
        }
    }
}

fn compare(buffer: &Buffer, expected: &Expected) -> Result<(), String> {
    let found: Vec<Number> = buffer.numbers().collect();
    if found.len() != expected.numbers.len() {
        return Err(format!(
            "{} has {} elements, {} are expected: {buffer}",
            expected.buffer,
            found.len(),
            expected.numbers.len()
        ));
    }
    match found
        .iter()
        .zip(&expected.numbers)
        .position(|(&found, wanted)| !matches(buffer.element, found, wanted, expected.ulp))
    {
        None => Ok(()),
        Some(at) => Err(format!(
            "{}[{at}] is {:?}, not {}: {buffer}",
            expected.buffer, found[at], expected.numbers[at]
        )),
    }
}

fn three(sizes: &[u32]) -> [u32; 3] {
    [0, 1, 2].map(|d| sizes.get(d).copied().unwrap_or(1))
}

/// Name of the file's kernel.
fn kernel_name(text: &str) -> Option<&str> {
    let line = text.lines().find_map(|line| line.strip_prefix("kernel "))?;
    line.split('(').next()
}

/// What a file says.
pub struct RunFile<'a> {
    text: &'a str,
    kernel: &'a str,
    header: Header,
}

impl<'a> RunFile<'a> {
    pub fn parse(text: &'a str) -> Result<RunFile<'a>, String> {
        let kernel = kernel_name(text).ok_or("no line begins with `kernel `")?;
        Ok(RunFile { text, kernel, header: header(text)? })
    }

    /// How its kernel is launched.
    pub fn launch(&self) -> Launch<'_> {
        let Header { grid, group, params, args, dynamic, flat, .. } = &self.header;
        Launch {
            source: self.text,
            kernel: self.kernel,
            grid: three(grid),
            group: three(group),
            params,
            args,
            dynamic: *dynamic,
            flat: *flat,
        }
    }

    /// Values of `param` items.
    pub fn params(&self) -> Vec<(String, String)> {
        self.header.params.clone()
    }

    /// Whether buffers, by name, are as expected.
    pub fn compare(&self, buffers: &[(String, Buffer)]) -> Result<(), String> {
        self.header.expected.iter().try_for_each(|expected| {
            let buffer = buffers.iter().find(|(name, _)| *name == expected.buffer);
            let (_, buffer) = buffer.ok_or_else(|| format!("no buffer `{}`", expected.buffer))?;
            compare(buffer, expected)
        })
    }

    /// Whether the text that was printed is as expected.
    pub fn compare_printed(&self, printed: &str) -> Result<(), String> {
        let expected = &self.header.printed;
        if printed == expected { Ok(()) } else { Err(format!("printed\n{printed}instead of\n{expected}")) }
    }
}

/// The names of the files, without `.k`.
pub fn names() -> Vec<String> {
    let directory = root().join("tests/data/run");
    let paths = std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path());
    let sources = paths.filter(|path| path.extension().is_some_and(|extension| extension == "k"));
    let mut names: Vec<String> =
        sources.map(|path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
