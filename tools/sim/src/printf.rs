//! Renders the buffer of OpenCL's `printf` as text.
//!
//! The compiler gives each call of `printf` in the source a number. The metadata describes the call with this
//! number: how many arguments it has, their sizes, and the format (LLVM's AMDGPU guide, seed 000, line 2214):
//! `ID:N:S[0]:...:S[N-1]:FormatString`. The buffer begins with two dwords: the number of used bytes, and the
//! size of the buffer. When a kernel executes a call, it appends the number and the arguments of the call to
//! the buffer. The arguments have the sizes that the metadata states. Strings that are known at compile time
//! are stored in the buffer; other strings are stored as their addresses.

use crate::conversion::{self, Argument, Arguments, Spec, signed, unsigned};
use crate::memory::Memory;

/// Size of the buffer in bytes, without its first two dwords. ROCm's OpenCL runtime uses the same size.
pub(crate) const BYTES: u32 = 1 << 20;
/// Size in bytes of the two dwords at the beginning of the buffer.
pub(crate) const HEADER: usize = 8;
/// Maximum length of a string that is given by its address, in characters. Longer strings are cut off.
const MAX_STRING: u64 = 4096;

/// A call of `printf` in the source.
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
            // Clang counts all arguments, but lists sizes only for some of them: the argument that gives the
            // width for a `*` in the format has no size. The list may therefore end early.
            let Some((size, after)) = rest.split_once(':') else { break };
            let Ok(size) = size.parse() else { break };
            sizes.push(size);
            rest = after;
        }
        Some(Call { id: id.parse().ok()?, sizes, format: unescape(rest) })
    }
}

/// Returns a format as the source has it. The metadata has it in another form, in which control characters
/// and colons are escaped.
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

/// Returns the two dwords at the beginning of an empty buffer.
pub(crate) fn header() -> [u8; HEADER] {
    let mut bytes = [0; HEADER];
    bytes[4..].copy_from_slice(&BYTES.to_le_bytes());
    bytes
}

/// Returns the text of all calls in the buffer at an address, and empties the buffer. `formats` are the
/// descriptions of the calls in the metadata.
pub(crate) fn take(memory: &Memory, buffer: u64, formats: &[String]) -> String {
    let text = render(memory, buffer, formats);
    memory.write(buffer, &[0; 4]);
    text
}

fn render(memory: &Memory, buffer: u64, formats: &[String]) -> String {
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

/// Returns the text of all `printf` calls in a buffer. `records` is the contents of the buffer after its
/// first two dwords. `formats` are the descriptions of the calls in the metadata.
///
/// All strings must be in `records`, because other memory is not available here.
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

/// Appends the text of one call to `out`. Returns the bytes of the buffer after the call's arguments, or
/// `None` if the arguments are truncated.
fn call_text<'a>(call: &Call, bytes: &'a [u8], memory: &'a Memory, out: &mut Vec<u8>) -> Option<&'a [u8]> {
    let mut rest = bytes;
    let mut args = Vec::new();
    for &size in &call.sizes {
        args.push(rest.get(..size as usize)?);
        // Each argument in the buffer takes a whole number of dwords.
        rest = &rest[(size as usize).next_multiple_of(4).min(rest.len())..];
    }
    let mut args = Sized { args: args.into_iter(), memory };
    conversion::render(&call.format, &mut args, out);
    Some(rest)
}

/// The arguments of a call in the buffer. The metadata gives the size of each.
struct Sized<'a, I> {
    args: I,
    memory: &'a Memory,
}

impl<'a, I: Iterator<Item = &'a [u8]>> Arguments<'a> for Sized<'a, I> {
    fn count(&mut self) -> Option<i64> {
        self.args.next().map(signed)
    }

    fn argument(&mut self, spec: &Spec) -> Option<Argument<'a>> {
        let arg = self.args.next()?;
        Some(match spec.letter {
            b's' => Argument::Text(string(arg, self.memory)),
            _ => Argument::Number(arg),
        })
    }
}

/// Returns the characters of a string argument. The argument is the address of the string if it has the size
/// of an address and memory has this address. Otherwise, the argument is the string itself.
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

    /// The expected texts are those of the C library's `printf`.
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

    /// The metadata is what clang 19 writes for `printf("%*d|%d", 4, 1, 2)`; clang stores two arguments for
    /// it.
    #[test]
    fn stars_take_an_argument_that_clang_does_not_count() {
        let parsed = Call::parse("1:3:4:4:%*d|%d").unwrap();
        let args: Vec<u8> = [4i32, 1].iter().flat_map(|value| value.to_le_bytes()).collect();
        let mut out = Vec::new();
        call_text(&parsed, &args, &Memory::new(), &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "   1|(no argument)");
    }

    /// The expected texts are glibc's.
    #[test]
    fn corners() {
        let real = |value: f64| value.to_le_bytes();
        assert_eq!(
            call("%#.0f %#.0e %#g %#.1g", &[&real(3.0), &real(3.0), &real(3.0), &real(5.0)]),
            "3. 3.e+00 3.00000 5."
        );
        assert_eq!(
            call("%010a|%+12.1A|%.0a", &[&real(1.0), &real(-1.5), &real(1.5)]),
            "0x00001p+0|   -0X1.8P+0|0x2p+0"
        );
        assert_eq!(call("%f %5.1e|%g", &[&real(-f64::NAN), &real(0.0), &real(-0.0)]), "-nan 0.0e+00|-0");
        assert_eq!(
            call("%p %8p|%n|%5%|%y", &[&[0; 8], &0xabcu64.to_le_bytes(), &[0; 8]]),
            "(nil)    0xabc|(printf: %n is refused)|%|%y"
        );
        assert_eq!(
            call("%zu %jd %td %lld", &[&[255; 8], &[255; 8], &[1, 0, 0, 0, 0, 0, 0, 0], &[255; 8]]),
            "18446744073709551615 -1 1 -1"
        );
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
        let formats = ["1:1:4:x=%d\\n".to_owned(), "garbage".to_owned(), "x:9:4".to_owned()];
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
