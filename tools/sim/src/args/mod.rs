//! Parses kernel arguments from text, copies buffers to the device, and reads the buffers back.
//!
//! | text | meaning |
//! |-|-|
//! | `iota:COUNT[:TYPE]` | 0, 1, 2, ... |
//! | `fill:COUNT:VALUE[:TYPE]` | the same value everywhere |
//! | `random:SEED:COUNT[:TYPE]` | integers of all bits, floats in 0..1; the same on every machine |
//! | `zeros:COUNT[:TYPE]` | zeros |
//! | `[1, 2, 3][:TYPE]` | these elements; those of structs as below |
//! | `@FILE.npy` | the contents of a file, whose numbers are of the parameter's type |
//! | `@FILE:TYPE` | the contents of a file of raw numbers |
//! | `lds:BYTES` | dynamic LDS, for a pointer to shared memory |
//! | `1.5`, `0x10`, `7u64`, `1,2,3,4` | a value, or the elements of a vector |
//! | `{rx: 1.0, rows: [{1, 2}, {3, 4}]}` | a struct: fields by name, or all of them in order |
//! | `@FILE` | the bytes of a value |
//!
//! COUNT is a number of scalars, even if the parameter points to vectors. Only `zeros` for a parameter that
//! points to structs counts structs. TYPE defaults to the type of the parameter, if the code object records
//! that type. Another TYPE is an error, unless the user asks for a conversion. Code objects of kernc also
//! record the types of structs. For a struct whose type is not recorded ([`Layout::for_argument`]), each
//! number in braces needs a type suffix (`{1.0f32, 3u32}`), and the numbers are laid out in sequence as in C.

mod contents;
mod layout;
mod parameters;
mod value;

use crate::buffer::Buffer;
use crate::compare::Tolerance;
use crate::device::{Device, DevicePtr};
use crate::fault::Fault;
use crate::metadata::{ArgInfo, ArgKind, Scalar};
use crate::object::KernelInfo;
use contents::{Elements, parse_count};
pub use layout::{Field, Layout};
pub(crate) use parameters::parameters;
use std::fmt;
use value::Literal;

/// The value of an argument after its text was parsed.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgValue {
    /// The bytes of a value.
    Value(Vec<u8>),
    /// A buffer with contents, for which memory is allocated.
    Buffer(Buffer),
    /// The address of a buffer that is already on the device.
    Address(DevicePtr),
    /// Dynamic LDS of this many bytes.
    Lds(u32),
}

/// What to do with numbers from a file if their type is not the type of the parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conversion {
    /// Numbers of another type than the parameter's are an error. Integers of the same size count as the same
    /// type.
    #[default]
    Refuse,
    /// Numbers of another type are converted ([`Buffer::cast`]).
    Cast,
}

/// Why the text of an argument cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgError {
    /// The text is wrong, or does not fit the parameter.
    Text(String),
    /// The file that the text names cannot be used.
    File(String),
}

impl fmt::Display for ArgError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ArgError::Text(why) | ArgError::File(why)) = self;
        f.write_str(why)
    }
}

impl std::error::Error for ArgError {}

impl From<String> for ArgError {
    fn from(why: String) -> ArgError {
        ArgError::Text(why)
    }
}

impl ArgError {
    /// Returns the error with a prefix added to its message. The prefix names the argument or file.
    #[must_use]
    pub fn with_prefix(self, what: &str) -> ArgError {
        match self {
            ArgError::Text(why) => ArgError::Text(format!("{what}: {why}")),
            ArgError::File(why) => ArgError::File(format!("{what}: {why}")),
        }
    }
}

/// Parses the text of an argument.
///
/// # Errors
/// The text is no value of the parameter's type, or a file that the text names cannot be read.
pub fn parse_arg(text: &str, info: &ArgInfo, conversion: Conversion) -> Result<ArgValue, ArgError> {
    match info.kind {
        ArgKind::ByValue => parse_value(text, info).map(ArgValue::Value),
        ArgKind::GlobalBuffer => {
            contents::parse(text, &Elements::for_argument(info), conversion).map(ArgValue::Buffer)
        }
        ArgKind::DynamicShared => Ok(ArgValue::Lds(parse_lds(text)?)),
        ArgKind::Hidden(_) | ArgKind::Other(_) => {
            Err(ArgError::Text("arguments of this kind cannot be given".into()))
        }
    }
}

/// Splits the text of a buffer's contents from the tolerance that may follow it: `CONTENTS[:RTOL[:ATOL]]`.
///
/// # Errors
/// A tolerance is negative or no number, or there are more than two.
pub fn split_tolerance(text: &str) -> Result<(&str, Tolerance), String> {
    let (mut contents, mut numbers) = (text, Vec::new());
    // The numbers that directly follow a name such as `fill` belong to the contents. Only the numbers after
    // them are a tolerance.
    let own = contents::numbers_of(text.split(':').next().unwrap_or_default()).unwrap_or(0);
    while let Some((rest, number)) = contents.rsplit_once(':') {
        let Ok(number) = number.parse::<f64>() else { break };
        if rest.matches(':').count() < own {
            break;
        }
        numbers.insert(0, number);
        contents = rest;
    }
    match numbers[..] {
        [] => Ok((contents, Tolerance::default())),
        _ if numbers.iter().any(|number| !number.is_finite() || *number < 0.0) => {
            Err(format!("a tolerance is a number from 0 on, found `{text}`"))
        }
        [relative] => Ok((contents, Tolerance { relative, absolute: 0.0 })),
        [relative, absolute] => Ok((contents, Tolerance { relative, absolute })),
        _ => Err(format!("a tolerance is `:RTOL` or `:RTOL:ATOL`, found `{text}`")),
    }
}

/// Returns the contents of an argument's buffer as text. The text lists structs if the parameter points to
/// structs, and numbers otherwise.
pub fn contents_text(info: &ArgInfo, buffer: &Buffer) -> String {
    match Layout::for_argument(info).filter(|_| info.kind == ArgKind::GlobalBuffer) {
        Some(layout @ Layout::Struct(_)) if layout.size() > 0 => {
            let structs = buffer.bytes.chunks(usize::try_from(layout.size()).unwrap_or(usize::MAX));
            structs.map(|bytes| layout.text(bytes)).collect::<Vec<_>>().join(", ")
        }
        _ => buffer.to_string(),
    }
}

/// Parses the text `lds:BYTES`, which asks for dynamic LDS. Returns the number of bytes.
///
/// # Errors
/// The text has another form, or the number does not fit.
pub fn parse_lds(text: &str) -> Result<u32, String> {
    let bytes = text.strip_prefix("lds:").and_then(|bytes| parse_count(bytes).ok()?.try_into().ok());
    bytes.ok_or_else(|| format!("expected `lds:BYTES` for shared memory, found `{text}`"))
}

fn parse_value(text: &str, info: &ArgInfo) -> Result<Vec<u8>, ArgError> {
    if let Some(path) = text.strip_prefix('@') {
        let bytes = contents::read(path)?;
        let (found, wanted) = (bytes.len(), info.size);
        let fits = found == wanted as usize;
        return fits.then_some(bytes).ok_or_else(|| {
            ArgError::File(format!("{path}: {found} bytes, but the parameter takes {wanted}"))
        });
    }
    let value = Literal::parse(text)?;
    let layout = value_layout(&value, info).ok_or_else(|| {
        let (size, name) = (info.size, info.type_name.as_deref().unwrap_or("?"));
        format!(
            "the object does not say what the {size} bytes of type `{name}` are: write types behind the numbers, like \
             `{{1.0f32, 3u32}}` or `7i64`, or give the bytes as `@FILE`"
        )
    })?;
    if layout.size() != u64::from(info.size) {
        let (found, wanted) = (layout.size(), info.size);
        return Err(ArgError::Text(format!(
            "`{layout}` has {found} bytes, but the parameter takes {wanted}"
        )));
    }
    let mut bytes = Vec::new();
    value::write(&value, &layout, "", &mut bytes)?;
    Ok(bytes)
}

/// Returns the type of an argument's value. The code object may record this type. Otherwise, the type
/// suffixes in the text of the value give it. Without suffixes, it is guessed from the size of the parameter.
fn value_layout(value: &Literal<'_>, info: &ArgInfo) -> Option<Layout> {
    let (size, scalar) = (info.size as usize, info.element);
    // Older metadata records a vector such as `float4` only as its element type `float`. The number of
    // elements follows from the size of the argument.
    let of_scalar = |scalar: Scalar| match size / scalar.bytes() {
        1 => Some(Layout::Scalar(scalar)),
        lanes @ (2 | 4 | 8 | 16) => Some(Layout::Vector(scalar, value.lanes(lanes))),
        _ => None,
    };
    let told = Layout::for_argument(info)
        .or_else(|| of_scalar(scalar.filter(|scalar| size.is_multiple_of(scalar.bytes()))?));
    let unnamed = |value| value::guess(value, info.size).filter(|_| info.type_name.is_none());
    told.or_else(|| value::own_layout(value)).or_else(|| unnamed(value))
}

/// Returns the name of an argument, for messages. Clang records no argument names by default; the argument's
/// position then takes the place of the name.
pub fn name_of(at: usize, arg: &ArgInfo) -> String {
    arg.name.clone().unwrap_or_else(|| at.to_string())
}

/// Returns the position of an argument, given its name or its position counted from 0. The error lists all
/// arguments.
///
/// # Errors
/// The kernel has no such argument. The text lists all arguments.
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

/// Parses arguments that are given by name and by position, and returns them in the order of the kernel's
/// parameters. Each argument must be given exactly once.
///
/// # Errors
/// An argument is missing, given twice or unknown, or [`parse_arg`] fails.
pub fn bind(
    kernel: &KernelInfo,
    named: &[(String, String)],
    positional: &[String],
    conversion: Conversion,
) -> Result<Vec<ArgValue>, ArgError> {
    bind_with(kernel, named, positional, |text, info| parse_arg(text, info, conversion))
}

/// Does the same as [`bind`], but calls the function `read` instead of [`parse_arg`] to parse the text of an
/// argument.
///
/// # Errors
/// An argument is missing, given twice or unknown, or `read` fails.
pub fn bind_with(
    kernel: &KernelInfo,
    named: &[(String, String)],
    positional: &[String],
    mut read: impl FnMut(&str, &ArgInfo) -> Result<ArgValue, ArgError>,
) -> Result<Vec<ArgValue>, ArgError> {
    let args: Vec<&ArgInfo> = kernel.explicit_args().collect();
    let mut texts: Vec<Option<&str>> = vec![None; args.len()];
    for (name, text) in named {
        let at = position(kernel, name)?;
        if texts[at].replace(text).is_some() {
            return Err(ArgError::Text(format!("argument `{name}` is given twice")));
        }
    }
    let mut rest = positional.iter();
    for place in texts.iter_mut().filter(|place| place.is_none()) {
        *place = rest.next().map(String::as_str);
    }
    if rest.next().is_some() {
        let (count, name, names) = (args.len(), &kernel.name, names(kernel));
        if kernel.untyped {
            let text = format!("the object does not describe the arguments of {name}: `--params` does");
            return Err(ArgError::Text(text));
        }
        return Err(ArgError::Text(format!("more than the {count} arguments of {name}: {names}")));
    }
    let bound = texts.iter().zip(&args).enumerate().map(|(at, (text, arg))| {
        let name = name_of(at, arg);
        let text = text.ok_or_else(|| format!("argument `{name}` of {} is missing", kernel.name))?;
        read(text, arg).map_err(|why| why.with_prefix(&format!("argument `{name}`")))
    });
    bound.collect()
}

/// Arguments that have been copied to the device.
#[derive(Clone, Debug, Default)]
pub struct Placed {
    /// The explicit part of the argument segment.
    pub kernarg: Vec<u8>,
    /// Total number of bytes of dynamic LDS.
    pub dynamic_lds: u32,
    /// Address and initial contents of each argument's buffer.
    buffers: Vec<Option<(DevicePtr, Buffer)>>,
}

impl Placed {
    /// Copies buffers to the device, and lays out the arguments in memory as the kernel expects them.
    /// `values` are the arguments that [`bind`] has returned.
    ///
    /// # Errors
    /// The device has no room for the buffers.
    pub fn new(device: &mut Device, kernel: &KernelInfo, values: &[ArgValue]) -> Result<Placed, Fault> {
        let mut placed = Placed::default();
        for (info, value) in kernel.explicit_args().zip(values) {
            let mut buffer = None;
            let bytes = match value {
                ArgValue::Value(bytes) => bytes.clone(),
                ArgValue::Address(address) => address.to_le_bytes().to_vec(),
                ArgValue::Lds(size) => placed.place_lds(kernel, info, *size).to_le_bytes().to_vec(),
                ArgValue::Buffer(contents) => {
                    let address = device.alloc(contents.bytes.len() as u64)?;
                    device.write(address, &contents.bytes)?;
                    let at = placed.buffers.len();
                    let name = info.name.clone().unwrap_or_else(|| format!("arg{at}"));
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

    /// Reserves dynamic LDS for an argument that is a pointer to LDS, after the LDS that the kernel itself
    /// declares. The start is aligned for the type that the pointer points to. Returns the offset in LDS,
    /// which is the value of the argument.
    fn place_lds(&mut self, kernel: &KernelInfo, info: &ArgInfo, size: u32) -> u32 {
        let own = kernel.descriptor.group_segment;
        let align = info.pointee_align.clamp(1, 1 << 16);
        let start = own.saturating_add(self.dynamic_lds).div_ceil(align).saturating_mul(align);
        self.dynamic_lds = start.saturating_add(size) - own;
        start
    }

    /// Returns the number of arguments.
    pub fn arguments(&self) -> usize {
        self.buffers.len()
    }

    /// Reads the buffer of an argument back from the device. `at` is the position of the argument; hidden
    /// arguments are not counted. Returns `None` if the argument has no buffer.
    ///
    /// # Errors
    /// The kernel or the program has freed the buffer's memory.
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
            is_restrict: false,
            pointee_align: 16,
        }
    }

    fn buffer(text: &str) -> Result<String, String> {
        buffer_for(&info(ArgKind::GlobalBuffer, Some(Scalar::I32), 8), text, Conversion::Refuse)
    }

    fn untyped(text: &str) -> Result<String, String> {
        buffer_for(&info(ArgKind::GlobalBuffer, None, 8), text, Conversion::Refuse)
    }

    fn buffer_for(info: &ArgInfo, text: &str, conversion: Conversion) -> Result<String, String> {
        match parse_arg(text, info, conversion).map_err(|why| why.to_string())? {
            ArgValue::Buffer(buffer) => Ok(format!("{}: {buffer}", buffer.element.name())),
            other => Err(format!("{other:?}")),
        }
    }

    fn typed(kind: ArgKind, type_name: &str, size: u32) -> ArgInfo {
        ArgInfo { type_name: Some(type_name.to_owned()), ..info(kind, None, size) }
    }

    /// A temporary file that is removed when it is dropped.
    struct Temporary(std::path::PathBuf);

    impl Temporary {
        fn new(name: &str, bytes: &[u8]) -> Temporary {
            let path = std::env::temp_dir().join(format!("kernc-args-{}-{name}", std::process::id()));
            std::fs::write(&path, bytes).unwrap();
            Temporary(path)
        }

        fn text(&self) -> String {
            format!("@{}", self.0.display())
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    #[test]
    fn buffers() {
        assert_eq!(buffer("iota:4"), Ok("i32: 0, 1, 2, 3".into()));
        assert_eq!(untyped("fill:2:0x10:u8"), Ok("u8: 16, 16".into()));
        assert_eq!(untyped("fill:2:1.5:f64"), Ok("f64: 1.5, 1.5".into()));
        assert_eq!(untyped("zeros:1:f32"), Ok("f32: 0.0".into()));
        assert_eq!(untyped("zeros:1"), Ok("f32: 0.0".into()));
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
        assert_eq!(buffer("[1, -2, 0x10]"), Ok("i32: 1, -2, 16".into()));
        assert_eq!(untyped("[1, 2.5]:f64"), Ok("f64: 1.0, 2.5".into()));
        assert_eq!(buffer("[1, 2.5]"), Err("`[1]`: 2.5 is not an integer, but the type is i32".into()));
    }

    /// Contents with a TYPE must have the parameter's type, are converted to it, or are refused.
    #[test]
    fn types_behind_contents() {
        let of = typed(ArgKind::GlobalBuffer, "*const global f32", 8);
        for text in
            ["iota:4:u32", "iota:4:f64", "[0, 1, 2, 3]:u32", "fill:4:1:i32", "zeros:4:u8", "random:1:4:f16"]
        {
            let refused = buffer_for(&of, text, Conversion::Refuse).unwrap_err();
            let wanted =
                "(shape [4]), but the parameter is `*const global f32`: f32 is needed; `--cast` converts";
            assert!(
                refused.starts_with(&format!("`{text}` holds ")) && refused.ends_with(wanted),
                "{refused}"
            );
        }
        for text in ["iota:4:u32", "iota:4:f64", "[0, 1, 2, 3]:u32", "iota:4:f32", "iota:4"] {
            assert_eq!(
                buffer_for(&of, text, Conversion::Cast),
                Ok("f32: 0.0, 1.0, 2.0, 3.0".into()),
                "{text}"
            );
        }
        // Integers of the same size differ only in how they are printed.
        assert_eq!(buffer("iota:2:u32"), Ok("u32: 0, 1".into()));
        assert!(buffer("iota:2:u16").is_err());
    }

    #[test]
    fn buffers_of_structs() {
        let info = typed(ArgKind::GlobalBuffer, "*global P { at: f32x2, n: u8 }", 8);
        let parse = |text: &str| buffer_for(&info, text, Conversion::Refuse);
        assert_eq!(parse("zeros:2"), Ok(format!("u8: {}", ["0"; 32].join(", "))));
        let one = "0, 0, 128, 63, 0, 0, 0, 64, 3, 0, 0, 0, 0, 0, 0, 0";
        assert_eq!(parse("[{at: [1, 2], n: 3}]"), Ok(format!("u8: {one}")));
        assert_eq!(parse("iota:2:u16"), Ok("u16: 0, 1".into()));
        assert!(parse("iota:2").unwrap_err().contains(":TYPE"));
        let plain = typed(ArgKind::GlobalBuffer, "*global P { x: f32, y: [f32; 2] }", 8);
        let found = buffer_for(&plain, "[{1, [2, 3]}, {x: 4, y: [5, 6]}]", Conversion::Refuse);
        assert_eq!(found, Ok("f32: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0".into()));
        // `zeros` counts structs, also structs whose fields all have one type; other contents count numbers.
        let plain_of = |text: &str| buffer_for(&plain, text, Conversion::Refuse);
        assert_eq!(plain_of("zeros:2"), Ok(format!("f32: {}", ["0.0"; 6].join(", "))));
        assert_eq!(plain_of("iota:3"), Ok("f32: 0.0, 1.0, 2.0".into()));
        assert!(plain_of("iota:3:u32").is_err());
        // The raw bytes of a struct are accepted as `u8`, but not as other numbers.
        let raw = Temporary::new("struct.bin", &[0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64]);
        assert!(
            plain_of(&format!("{}:u8", raw.text())).is_ok_and(|found| found.starts_with("u8: 0, 0, 128, 63"))
        );
        assert!(plain_of(&format!("{}:u16", raw.text())).is_err());
    }

    #[test]
    fn files_have_the_type_of_the_parameter() {
        let doubles = Buffer { element: Scalar::F64, shape: vec![3], bytes: Vec::new() };
        let bytes = [1.5f64, -2.0, 3.0].iter().flat_map(|value| value.to_le_bytes()).collect();
        let npy = Temporary::new("f64.npy", &crate::write_npy(&Buffer { bytes, ..doubles }));
        let raw = Temporary::new("raw.bin", &[1, 0, 0, 0, 255, 255, 255, 255]);
        let of = |name: &str| typed(ArgKind::GlobalBuffer, name, 8);
        let parse = |name: &str, text: &str, conversion| buffer_for(&of(name), text, conversion);
        let refused = parse("*global f32", &npy.text(), Conversion::Refuse).unwrap_err();
        assert!(refused.ends_with(
            "holds f64 (shape [3]), but the parameter is `*global f32`: f32 is needed; `--cast` converts"
        ));
        assert_eq!(parse("*global f32", &npy.text(), Conversion::Cast), Ok("f32: 1.5, -2.0, 3.0".into()));
        assert_eq!(parse("*global i32", &npy.text(), Conversion::Cast), Ok("i32: 1, -2, 3".into()));
        assert_eq!(parse("*global f64", &npy.text(), Conversion::Refuse), Ok("f64: 1.5, -2.0, 3.0".into()));
        assert!(
            parse("*global f64x2", &npy.text(), Conversion::Refuse)
                .unwrap_err()
                .contains("no multiple of the 16")
        );
        assert!(
            parse("*global f64x3", &npy.text(), Conversion::Refuse)
                .unwrap_err()
                .contains("no multiple of the 32")
        );
        let with = |ty| format!("{}:{ty}", raw.text());
        assert_eq!(parse("*global u32", &with("u32"), Conversion::Refuse), Ok("u32: 1, 4294967295".into()));
        assert_eq!(parse("*global u32", &with("i32"), Conversion::Refuse), Ok("i32: 1, -1".into()));
        assert_eq!(parse("*global f32", &with("i32"), Conversion::Cast), Ok("f32: 1.0, -1.0".into()));
        assert!(parse("*global f32", &with("i32"), Conversion::Refuse).is_err());
        assert!(parse("*global u32", &raw.text(), Conversion::Refuse).unwrap_err().contains("no .npy file"));
        let odd = Temporary::new("odd.bin", &[1, 2, 3]);
        assert!(parse("*global u16", &format!("{}:u16", odd.text()), Conversion::Refuse).is_err());
    }

    #[test]
    fn tolerances() {
        let split = |text| split_tolerance(text).map(|(rest, it)| (rest, it.relative, it.absolute));
        assert_eq!(split("@a.npy"), Ok(("@a.npy", 0.0, 0.0)));
        assert_eq!(split("@a.bin:f32:1e-5"), Ok(("@a.bin:f32", 1e-5, 0.0)));
        assert_eq!(split("@a.npy:1e-5:0.5"), Ok(("@a.npy", 1e-5, 0.5)));
        assert_eq!(split("fill:10:1.0"), Ok(("fill:10:1.0", 0.0, 0.0)));
        assert_eq!(split("fill:10:1.0:0.25"), Ok(("fill:10:1.0", 0.25, 0.0)));
        assert_eq!(split("iota:4:f32:0:2"), Ok(("iota:4:f32", 0.0, 2.0)));
        assert_eq!(split("[{x: 1}, {x: 2}]:0.5"), Ok(("[{x: 1}, {x: 2}]", 0.5, 0.0)));
        assert!(split("zeros:4:1:2:3").is_err());
        assert!(split("@a.npy:-1").is_err());
        assert!(split("@a.npy:nan").is_err());
    }

    #[test]
    fn structs() {
        let told = typed(ArgKind::ByValue, "Coef { rx: f32, n: u8 }", 8);
        let value = |text: &str, info: &ArgInfo| parse_arg(text, info, Conversion::Refuse);
        let bytes = ArgValue::Value(vec![0, 0, 128, 63, 7, 0, 0, 0]);
        assert_eq!(value("{rx: 1.0, n: 7}", &told), Ok(bytes.clone()));
        assert_eq!(value("{1, 7}", &told), Ok(bytes.clone()));
        let file = Temporary::new("value.bin", &[0, 0, 128, 63, 7, 0, 0, 0]);
        assert_eq!(value(&file.text(), &told), Ok(bytes));
        assert!(value(&file.text(), &typed(ArgKind::ByValue, "struct S", 12)).is_err());
        // A type name without a definition gives no layout, and a value of eight bytes is not assumed to be
        // an integer.
        for silent in [typed(ArgKind::ByValue, "struct Coef", 8), info(ArgKind::ByValue, None, 8)] {
            let own = ArgValue::Value(vec![0, 0, 128, 63, 3, 0, 0, 0]);
            assert_eq!(value("{1.0f32, 3u32}", &silent), Ok(own));
            assert!(value("{1.0, 3}", &silent).is_err());
            assert!(value("7", &silent).is_err());
            assert_eq!(value("7i64", &silent), Ok(ArgValue::Value(vec![7, 0, 0, 0, 0, 0, 0, 0])));
            assert!(value("{1.0f32, 3u16}", &silent).is_ok(), "padded");
            assert!(value("1.0f32", &silent).is_err());
        }
    }

    #[test]
    fn values() {
        let value = |text: &str, element, size| {
            parse_arg(text, &info(ArgKind::ByValue, element, size), Conversion::Refuse)
        };
        assert_eq!(value("-1", Some(Scalar::I32), 4), Ok(ArgValue::Value(vec![255; 4])));
        for (text, scalar) in [
            ("-1", Scalar::U32),
            ("-128", Scalar::U8),
            ("128", Scalar::I8),
            ("2147483648", Scalar::I32),
            ("0x100000000", Scalar::I32),
            ("18446744073709551616", Scalar::U64),
            ("1e50", Scalar::F32),
            ("-1e50", Scalar::F32),
            ("65520", Scalar::F16),
            ("1e400", Scalar::F64),
        ] {
            let refused = value(text, Some(scalar), scalar.bytes() as u32).unwrap_err().to_string();
            assert_eq!(refused, format!("{text} does not fit {}", scalar.name()));
        }
        let infinite = f32::NEG_INFINITY.to_le_bytes().to_vec();
        assert_eq!(value("-inf", Some(Scalar::F32), 4), Ok(ArgValue::Value(infinite)));
        assert_eq!(value("0xffffffff", Some(Scalar::I32), 4), Ok(ArgValue::Value(vec![255; 4])));
        // Where the object does not give the type, the form of the number decides.
        assert_eq!(value("4294967295", None, 4), Ok(ArgValue::Value(vec![255; 4])));
        assert!(value("4294967296", None, 4).is_err());
        assert_eq!(value("1.0", None, 4), Ok(ArgValue::Value(vec![0, 0, 128, 63])));
        assert_eq!(value("7", None, 4), Ok(ArgValue::Value(vec![7, 0, 0, 0])));
        assert_eq!(value("1,2", Some(Scalar::U8), 2), Ok(ArgValue::Value(vec![1, 2])));
        assert_eq!(value("1,2,3", Some(Scalar::U8), 4), Ok(ArgValue::Value(vec![1, 2, 3, 0])));
        assert!(value("300", Some(Scalar::U8), 1).is_err());
        assert!(value("1.5", Some(Scalar::I32), 4).is_err());
        assert!(value("1,2", Some(Scalar::I32), 4).is_err());
        assert!(value("1", None, 12).is_err());
    }
}
