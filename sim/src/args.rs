//! Kernel arguments from text, and their way to the device and back.
//!
//! | text | meaning |
//! |-|-|
//! | `iota:COUNT[:TYPE]` | 0, 1, 2, ... |
//! | `fill:COUNT:VALUE[:TYPE]` | the same value everywhere |
//! | `random:SEED:COUNT[:TYPE]` | integers of all bits, floats in 0..1; the same on every machine |
//! | `zeros:COUNT[:TYPE]` | zeros |
//! | `@FILE.npy` | the contents of a file |
//! | `lds:BYTES` | dynamic LDS, for a pointer to shared memory |
//! | `1.5`, `0x10`, `1,2,3,4` | a value, or the elements of a vector |

use crate::buffer::{Buffer, Number, encode, parse_number};
use crate::device::{Device, DevicePtr};
use crate::fault::Fault;
use crate::metadata::{ArgInfo, ArgKind, Scalar};
use crate::npy::read_npy;
use crate::object::KernelInfo;

/// The value of an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgValue {
    /// Bytes of a value.
    Value(Vec<u8>),
    /// A buffer of its own.
    Buffer(Buffer),
    /// Bytes of dynamic LDS.
    Lds(u32),
}

/// Reads the text of an argument.
pub fn parse_arg(text: &str, info: &ArgInfo) -> Result<ArgValue, String> {
    match info.kind {
        ArgKind::ByValue => parse_value(text, info).map(ArgValue::Value),
        ArgKind::GlobalBuffer => {
            parse_buffer(text, info.element.unwrap_or(Scalar::F32)).map(ArgValue::Buffer)
        }
        ArgKind::DynamicShared => {
            let bytes = text.strip_prefix("lds:").and_then(|bytes| parse_count(bytes).ok()?.try_into().ok());
            bytes
                .map(ArgValue::Lds)
                .ok_or_else(|| format!("expected `lds:BYTES` for shared memory, found `{text}`"))
        }
        ArgKind::Hidden(_) | ArgKind::Other(_) => Err("arguments of this kind cannot be given".into()),
    }
}

/// Type of a value whose type the object does not tell: by its size and the look of the text.
fn guess_type(size: u32, text: &str) -> Option<Scalar> {
    let is_float =
        text.contains(['.', 'e', 'n']) && !text.starts_with("0x") && !matches!(text, "true" | "false");
    Some(match (size, is_float) {
        (1, _) => Scalar::I8,
        (2, false) => Scalar::I16,
        (2, true) => Scalar::F16,
        (4, false) => Scalar::I32,
        (4, true) => Scalar::F32,
        (8, false) => Scalar::I64,
        (8, true) => Scalar::F64,
        _ => return None,
    })
}

fn parse_value(text: &str, info: &ArgInfo) -> Result<Vec<u8>, String> {
    let size = info.size as usize;
    let element = info
        .element
        .filter(|element| size.is_multiple_of(element.bytes()))
        .or_else(|| guess_type(info.size, text));
    let element = element.ok_or_else(|| format!("a value of {size} bytes cannot be given as text"))?;
    let mut bytes = Vec::new();
    for part in text.split(',') {
        let number = parse_number(part.trim()).ok_or_else(|| format!("`{text}` is not a number"))?;
        check_range(number, element, part)?;
        encode(element, number, &mut bytes);
    }
    // Three-element vectors have the size of four.
    let padded = bytes.len() * 4 == size * 3 && size == 4 * element.bytes();
    if bytes.len() != size && !padded {
        let (wanted, given) = (size / element.bytes(), bytes.len() / element.bytes());
        return Err(format!("expected {wanted} value(s) of type {}, found {given}", element.name()));
    }
    bytes.resize(size, 0);
    Ok(bytes)
}

/// Refuses numbers that an integer type would cut off. Negative numbers fit where their bits do.
fn check_range(number: Number, element: Scalar, text: &str) -> Result<(), String> {
    let is_float = matches!(element, Scalar::F16 | Scalar::F32 | Scalar::F64);
    let bits = 8 * element.bytes() as u32;
    match number {
        Number::Int(value) if !is_float && !(-(1i128 << (bits - 1))..1i128 << bits).contains(&value) => {
            Err(format!("{text} does not fit {}", element.name()))
        }
        Number::Float(_) if !is_float => {
            Err(format!("{text} is not an integer, but the type is {}", element.name()))
        }
        _ => Ok(()),
    }
}

fn parse_count(text: &str) -> Result<u64, String> {
    match parse_number(text) {
        Some(Number::Int(value)) if value >= 0 => u64::try_from(value).ok(),
        _ => None,
    }
    .ok_or_else(|| format!("`{text}` is not a count"))
}

fn parse_buffer(text: &str, element: Scalar) -> Result<Buffer, String> {
    if let Some(path) = text.strip_prefix('@') {
        let file = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
        return read_npy(&file).map_err(|error| format!("{path}: {error}"));
    }
    let mut parts = text.split(':');
    let kind = parts.next().unwrap_or_default();
    let parts: Vec<&str> = parts.collect();
    let wanted = match kind {
        "iota" | "zeros" => 1,
        "fill" | "random" => 2,
        _ => {
            let expected =
                "`iota:COUNT`, `fill:COUNT:VALUE`, `random:SEED:COUNT`, `zeros:COUNT` or `@FILE.npy`";
            return Err(format!("expected {expected} for a buffer, found `{text}`"));
        }
    };
    let element = match parts.len().checked_sub(wanted) {
        Some(0) => element,
        Some(1) => {
            Scalar::by_name(parts[wanted]).ok_or_else(|| format!("`{}` is not a type", parts[wanted]))?
        }
        _ => return Err(format!("`{kind}` takes {wanted} number(s) and perhaps a type, found `{text}`")),
    };
    match kind {
        "iota" => Buffer::generate(element, parse_count(parts[0])?, |at| Number::Int(at.into())),
        "zeros" => Buffer::generate(element, parse_count(parts[0])?, |_| Number::Int(0)),
        "fill" => {
            let value = parse_number(parts[1]).ok_or_else(|| format!("`{}` is not a number", parts[1]))?;
            check_range(value, element, parts[1])?;
            Buffer::generate(element, parse_count(parts[0])?, |_| value)
        }
        _ => {
            let (mut state, count) = (parse_count(parts[0])?, parse_count(parts[1])?);
            Buffer::generate(element, count, |_| random(element, &mut state))
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
fn random(element: Scalar, state: &mut u64) -> Number {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut bits = *state;
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 31;
    match element {
        // As many bits as the type has, so that rounding does not make a 1.
        Scalar::F16 => Number::Float((bits >> 53) as f64 / (1u64 << 11) as f64),
        Scalar::F32 => Number::Float((bits >> 40) as f64 / (1u64 << 24) as f64),
        Scalar::F64 => Number::Float((bits >> 11) as f64 / (1u64 << 53) as f64),
        _ => Number::Int(bits.into()),
    }
}

/// What an argument is called: its name, or its position where the object has no names (clang's, unless told otherwise).
fn name_of(at: usize, arg: &ArgInfo) -> String {
    arg.name.clone().unwrap_or_else(|| at.to_string())
}

/// The position of an argument that is called by its name, or by its position counted from 0. The error lists them all.
pub fn position(kernel: &KernelInfo, name: &str) -> Result<usize, String> {
    let args = || kernel.explicit_args().enumerate();
    let found = args().find(|(_, arg)| arg.name.as_deref() == Some(name)).map(|(at, _)| at);
    let found = found.or_else(|| name.parse().ok().filter(|&at: &usize| at < args().count()));
    found.ok_or_else(|| format!("{} has no argument `{name}`; it has {}", kernel.name, names(kernel)))
}

fn names(kernel: &KernelInfo) -> String {
    let names = kernel.explicit_args().enumerate().map(|(at, arg)| name_of(at, arg));
    names.collect::<Vec<_>>().join(", ")
}

/// Arguments by name and by position, in the order of the kernel's signature. Every one must be given exactly once.
pub fn bind(
    kernel: &KernelInfo,
    named: &[(String, String)],
    positional: &[String],
) -> Result<Vec<ArgValue>, String> {
    let args: Vec<&ArgInfo> = kernel.explicit_args().collect();
    let mut texts: Vec<Option<&str>> = vec![None; args.len()];
    for (name, text) in named {
        let at = position(kernel, name)?;
        if texts[at].replace(text).is_some() {
            return Err(format!("argument `{name}` is given twice"));
        }
    }
    let mut rest = positional.iter();
    for place in texts.iter_mut().filter(|place| place.is_none()) {
        *place = rest.next().map(String::as_str);
    }
    if rest.next().is_some() {
        return Err(format!("more than the {} arguments of {}: {}", args.len(), kernel.name, names(kernel)));
    }
    let bound = texts.iter().zip(&args).enumerate().map(|(at, (text, arg))| {
        let name = name_of(at, arg);
        let text = text.ok_or_else(|| format!("argument `{name}` of {} is missing", kernel.name))?;
        parse_arg(text, arg).map_err(|why| format!("argument `{name}`: {why}"))
    });
    bound.collect()
}

/// Arguments on the device.
#[derive(Clone, Debug, Default)]
pub struct Placed {
    /// The explicit part of the argument segment.
    pub kernarg: Vec<u8>,
    /// Dynamic LDS, all together.
    pub dynamic_lds: u32,
    /// Address and former contents of each argument's buffer.
    buffers: Vec<Option<(DevicePtr, Buffer)>>,
}

impl Placed {
    /// Copies buffers to the device and lays out the arguments, which [`bind`] has made.
    pub fn new(device: &mut Device, kernel: &KernelInfo, values: &[ArgValue]) -> Result<Placed, Fault> {
        let mut placed = Placed::default();
        for (info, value) in kernel.explicit_args().zip(values) {
            let mut buffer = None;
            let bytes = match value {
                ArgValue::Value(bytes) => bytes.clone(),
                ArgValue::Lds(size) => placed.place_lds(kernel, info, *size).to_le_bytes().to_vec(),
                ArgValue::Buffer(contents) => {
                    let address = device.alloc(contents.bytes.len() as u64)?;
                    device.write(address, &contents.bytes)?;
                    let name = name_of(placed.buffers.len(), info);
                    device.name(address, &name, contents.element.bytes() as u32);
                    buffer = Some((address, contents.clone()));
                    address.to_le_bytes().to_vec()
                }
            };
            placed.buffers.push(buffer);
            let (start, size) = (info.offset as usize, bytes.len().min(info.size as usize));
            placed.kernarg.resize(placed.kernarg.len().max(start + size), 0);
            placed.kernarg[start..start + size].copy_from_slice(&bytes[..size]);
        }
        Ok(placed)
    }

    /// Dynamic LDS lies behind the kernel's own, aligned for what the pointer points to.
    fn place_lds(&mut self, kernel: &KernelInfo, info: &ArgInfo, size: u32) -> u32 {
        let own = kernel.descriptor.group_segment;
        let align = info.pointee_align.clamp(1, 1 << 16);
        let start = own.saturating_add(self.dynamic_lds).div_ceil(align).saturating_mul(align);
        self.dynamic_lds = start.saturating_add(size) - own;
        start
    }

    /// How many arguments there are.
    pub fn arguments(&self) -> usize {
        self.buffers.len()
    }

    /// What the buffer of the argument at a position (hidden ones not counted) holds now.
    pub fn read(&self, device: &Device, at: usize) -> Result<Option<Buffer>, Fault> {
        let Some(Some((address, before))) = self.buffers.get(at) else { return Ok(None) };
        let mut after = before.clone();
        device.read(*address, &mut after.bytes)?;
        Ok(Some(after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(kind: ArgKind, element: Option<Scalar>, size: u32) -> ArgInfo {
        ArgInfo {
            name: None,
            offset: 0,
            size,
            kind,
            address_space: None,
            type_name: None,
            element,
            is_const: false,
            pointee_align: 16,
        }
    }

    fn buffer(text: &str) -> Result<String, String> {
        match parse_arg(text, &info(ArgKind::GlobalBuffer, Some(Scalar::I32), 8))? {
            ArgValue::Buffer(buffer) => Ok(format!("{}: {buffer}", buffer.element.name())),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn buffers() {
        assert_eq!(buffer("iota:4"), Ok("i32: 0, 1, 2, 3".into()));
        assert_eq!(buffer("fill:2:0x10:u8"), Ok("u8: 16, 16".into()));
        assert_eq!(buffer("fill:2:1.5:f64"), Ok("f64: 1.5, 1.5".into()));
        assert_eq!(buffer("zeros:1:f32"), Ok("f32: 0.0".into()));
        assert_eq!(buffer("random:1:8"), buffer("random:1:8:i32"));
        assert_ne!(buffer("random:1:8"), buffer("random:2:8"));
        for wrong in [
            "",
            "iota",
            "iota:",
            "iota:-1",
            "fill:3",
            "fill:3:x",
            "fill:3:0.5",
            "zeros:1:f99",
            "zeros:1:f32:2",
        ] {
            assert!(buffer(wrong).is_err(), "{wrong}");
        }
        assert!(buffer("zeros:99999999999999").is_err());
        assert!(buffer("@/no/such/file.npy").is_err());
    }

    #[test]
    fn values() {
        let value = |text: &str, element, size| parse_arg(text, &info(ArgKind::ByValue, element, size));
        assert_eq!(value("-1", Some(Scalar::U32), 4), Ok(ArgValue::Value(vec![255; 4])));
        assert_eq!(value("1.0", None, 4), Ok(ArgValue::Value(vec![0, 0, 128, 63])));
        assert_eq!(value("7", None, 8), Ok(ArgValue::Value(vec![7, 0, 0, 0, 0, 0, 0, 0])));
        assert_eq!(value("1,2", Some(Scalar::U8), 2), Ok(ArgValue::Value(vec![1, 2])));
        assert_eq!(value("1,2,3", Some(Scalar::U8), 4), Ok(ArgValue::Value(vec![1, 2, 3, 0])));
        assert!(value("300", Some(Scalar::U8), 1).is_err());
        assert!(value("1.5", Some(Scalar::I32), 4).is_err());
        assert!(value("1,2", Some(Scalar::I32), 4).is_err());
        assert!(value("1", None, 12).is_err());
    }

    #[test]
    fn random_floats_stay_below_one() {
        let mut state = 7;
        for _ in 0..10_000 {
            let Number::Float(value) = random(Scalar::F32, &mut state) else { panic!("not a float") };
            assert!((0.0..1.0).contains(&value) && f64::from(value as f32) == value);
        }
    }
}
