//! Reads the metadata of a code object, which describes its kernels and their arguments. This file reads the
//! `NT_AMDGPU_METADATA` note of code objects V3 and later (LLVM's AMDGPU guide, seed 000, line 2369). The
//! module [`v2`] reads the older form.

pub(crate) mod v2;

use serde::Deserialize;

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Scalar {
    I8,
    U8,
    I16,
    U16,
    F16,
    I32,
    U32,
    F32,
    I64,
    U64,
    F64,
}

impl Scalar {
    const NAMES: [(&'static str, Scalar); 34] = [
        ("i8", Scalar::I8),
        ("u8", Scalar::U8),
        ("i16", Scalar::I16),
        ("u16", Scalar::U16),
        ("f16", Scalar::F16),
        // A bf16 is treated as an integer of 16 bits.
        ("bf16", Scalar::U16),
        ("i32", Scalar::I32),
        ("u32", Scalar::U32),
        ("f32", Scalar::F32),
        ("i64", Scalar::I64),
        ("u64", Scalar::U64),
        ("f64", Scalar::F64),
        ("bool", Scalar::U8),
        ("char", Scalar::I8),
        ("uchar", Scalar::U8),
        ("unsigned char", Scalar::U8),
        ("short", Scalar::I16),
        ("ushort", Scalar::U16),
        ("unsigned short", Scalar::U16),
        ("half", Scalar::F16),
        ("int", Scalar::I32),
        ("uint", Scalar::U32),
        ("unsigned int", Scalar::U32),
        ("float", Scalar::F32),
        ("long", Scalar::I64),
        ("ulong", Scalar::U64),
        ("unsigned long", Scalar::U64),
        ("double", Scalar::F64),
        ("atomic_int", Scalar::I32),
        ("atomic_uint", Scalar::U32),
        ("atomic_float", Scalar::F32),
        ("atomic_long", Scalar::I64),
        ("atomic_ulong", Scalar::U64),
        ("atomic_double", Scalar::F64),
    ];

    /// Returns the scalar type with this name, in kernc's spelling or OpenCL's.
    pub fn by_name(name: &str) -> Option<Scalar> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|&(_, scalar)| scalar)
    }

    /// Returns the name of the type in kernc's spelling.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|&&(_, scalar)| scalar == self).map_or("?", |(name, _)| name)
    }

    /// Returns the size in bytes.
    pub fn bytes(self) -> usize {
        match self {
            Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 | Scalar::F16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
        }
    }

    /// Returns whether both types are integers of the same size, such as `i32` and `u32`. The same bits then
    /// stand for numbers of both types.
    pub fn is_integer_as_wide_as(self, other: Scalar) -> bool {
        self.is_integer() && other.is_integer() && self.bytes() == other.bytes()
    }

    /// Returns the smallest and the largest number of an integer type.
    pub fn limits(self) -> Option<(i128, i128)> {
        let bits = 8 * self.bytes() as u32;
        match self {
            Scalar::F16 | Scalar::F32 | Scalar::F64 => None,
            Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => Some((0, (1 << bits) - 1)),
            Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => {
                Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1))
            }
        }
    }

    /// Returns whether the type is an integer.
    pub fn is_integer(self) -> bool {
        !matches!(self, Scalar::F16 | Scalar::F32 | Scalar::F64)
    }

    /// Returns the scalar type of the elements of a type. `name` is the name of the type, such as `float4*`,
    /// `*const global f32x4` or `unsigned int*`.
    pub(crate) fn of_type_name(name: &str) -> Option<Scalar> {
        let words: Vec<&str> = name
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|word| {
                !matches!(*word, "" | "const" | "global" | "constant" | "restrict" | "volatile" | "shared")
            })
            .collect();
        let name = words.join(" ");
        Self::by_name(&name).or_else(|| {
            let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
            Self::by_name(stem.strip_suffix('x').unwrap_or(stem))
        })
    }
}

/// How the launch has to provide an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgKind {
    /// The argument's value is copied into the argument segment.
    ByValue,
    /// The argument is the address of a buffer.
    GlobalBuffer,
    /// The argument is a pointer to dynamic LDS. Its value is an offset in LDS.
    DynamicShared,
    /// A hidden argument, whose value the emulator sets. The text is the name of the argument without
    /// `hidden_`.
    Hidden(String),
    /// An argument that the emulator cannot provide. The text is the kind that the metadata states.
    Other(String),
}

impl ArgKind {
    fn of_name(name: &str) -> ArgKind {
        match name {
            "by_value" => ArgKind::ByValue,
            "global_buffer" => ArgKind::GlobalBuffer,
            "dynamic_shared_pointer" => ArgKind::DynamicShared,
            other => match other.strip_prefix("hidden_") {
                Some(hidden) => ArgKind::Hidden(hidden.to_string()),
                None => ArgKind::Other(other.to_string()),
            },
        }
    }
}

/// A kernel argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgInfo {
    /// Name of the argument, if the object records it.
    pub name: Option<String>,
    /// Offset in the argument segment.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// Kind of the argument.
    pub kind: ArgKind,
    /// Address space of a pointer.
    pub address_space: Option<String>,
    /// The type as the source spelled it.
    pub type_name: Option<String>,
    /// Type of the argument's value, or of the elements that a pointer points to. `None` if the object does
    /// not record it.
    pub element: Option<Scalar>,
    /// Whether it is a pointer to constant data.
    pub is_const: bool,
    /// Whether it is a pointer marked `restrict`.
    pub is_restrict: bool,
    /// Alignment of the data that a dynamic LDS pointer points to.
    pub pointee_align: u32,
}

/// The metadata of a code object of any version.
#[derive(Debug, Default)]
pub(crate) struct Metadata {
    pub(crate) kernels: Vec<KernelMeta>,
    pub(crate) version: Vec<u32>,
    pub(crate) printf: Vec<String>,
}

/// The metadata of a kernel.
#[derive(Debug, Default)]
pub(crate) struct KernelMeta {
    pub(crate) name: String,
    /// Name of the symbol of the kernel's descriptor.
    pub(crate) symbol: String,
    pub(crate) args: Vec<ArgInfo>,
    pub(crate) reqd_group: Option<[u32; 3]>,
    pub(crate) max_group: u32,
    pub(crate) kernarg_size: u32,
    pub(crate) sgprs: u32,
    pub(crate) vgprs: u32,
    pub(crate) wave_size: u32,
}

impl KernelMeta {
    /// Creates the description of a kernel that is missing in the metadata, from its name and its symbol.
    pub(crate) fn untyped(name: &str, symbol: &str) -> KernelMeta {
        KernelMeta { name: name.to_owned(), symbol: symbol.to_owned(), ..KernelMeta::default() }
    }
}

/// Returns the group size from three numbers. The numbers 0, 0, 0 mean that no size is given; the result is
/// then `None`.
fn group_size(numbers: &[u32]) -> Option<[u32; 3]> {
    <[u32; 3]>::try_from(numbers).ok().filter(|size| *size != [0; 3])
}

/// The MessagePack document that code objects V3 and later contain.
#[derive(Deserialize)]
struct Document {
    #[serde(rename = "amdhsa.kernels", default)]
    kernels: Vec<Kernel>,
    #[serde(rename = "amdhsa.version", default)]
    version: Vec<u32>,
    #[serde(rename = "amdhsa.printf", default)]
    printf: Vec<String>,
}

#[derive(Deserialize)]
struct Kernel {
    #[serde(rename = ".name")]
    name: String,
    #[serde(rename = ".symbol")]
    symbol: String,
    #[serde(rename = ".args", default)]
    args: Vec<ArgMeta>,
    #[serde(rename = ".reqd_workgroup_size", default)]
    reqd_group: Vec<u32>,
    #[serde(rename = ".max_flat_workgroup_size", default)]
    max_group: u32,
    #[serde(rename = ".kernarg_segment_size", default)]
    kernarg_size: u32,
    #[serde(rename = ".sgpr_count", default)]
    sgprs: u32,
    #[serde(rename = ".vgpr_count", default)]
    vgprs: u32,
    #[serde(rename = ".wavefront_size", default)]
    wave_size: u32,
}

impl From<Kernel> for KernelMeta {
    fn from(kernel: Kernel) -> KernelMeta {
        KernelMeta {
            args: kernel.args.iter().map(ArgMeta::info).collect(),
            name: kernel.name,
            symbol: kernel.symbol,
            reqd_group: group_size(&kernel.reqd_group),
            max_group: kernel.max_group,
            kernarg_size: kernel.kernarg_size,
            sgprs: kernel.sgprs,
            vgprs: kernel.vgprs,
            wave_size: kernel.wave_size,
        }
    }
}

/// The metadata of a kernel argument.
#[derive(Deserialize)]
pub(crate) struct ArgMeta {
    #[serde(rename = ".name")]
    name: Option<String>,
    #[serde(rename = ".type_name")]
    type_name: Option<String>,
    #[serde(rename = ".offset")]
    offset: u32,
    #[serde(rename = ".size")]
    size: u32,
    #[serde(rename = ".value_kind")]
    value_kind: String,
    #[serde(rename = ".value_type")]
    value_type: Option<String>,
    #[serde(rename = ".address_space")]
    address_space: Option<String>,
    #[serde(rename = ".is_const", default)]
    is_const: bool,
    #[serde(rename = ".is_restrict", default)]
    is_restrict: bool,
    #[serde(rename = ".pointee_align", default)]
    pointee_align: u32,
}

impl ArgMeta {
    pub(crate) fn info(&self) -> ArgInfo {
        let kind = ArgKind::of_name(&self.value_kind);
        let by_value_type = self.value_type.as_deref().and_then(Scalar::by_name);
        let by_name = self.type_name.as_deref().and_then(Scalar::of_type_name);
        ArgInfo {
            name: self.name.clone(),
            offset: self.offset,
            size: self.size,
            kind,
            address_space: self.address_space.clone(),
            type_name: self.type_name.clone(),
            element: by_name.or(by_value_type),
            is_const: self.is_const,
            is_restrict: self.is_restrict,
            pointee_align: self.pointee_align.max(1),
        }
    }
}

/// Parses the MessagePack document of code objects V3 and later.
pub(crate) fn parse(bytes: &[u8]) -> Result<Metadata, String> {
    let document: Document = rmp_serde::from_slice(bytes).map_err(|error| error.to_string())?;
    let kernels = document.kernels.into_iter().map(KernelMeta::from).collect();
    Ok(Metadata { kernels, version: document.version, printf: document.printf })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn element_types() {
        let cases = [
            ("float*", Some(Scalar::F32)),
            ("float4*", Some(Scalar::F32)),
            ("unsigned int*", Some(Scalar::U32)),
            ("*const global f32x4", Some(Scalar::F32)),
            ("*global i64", Some(Scalar::I64)),
            ("i16", Some(Scalar::I16)),
            ("atomic_uint*", Some(Scalar::U32)),
            ("struct S*", None),
        ];
        for (name, expected) in cases {
            assert_eq!(Scalar::of_type_name(name), expected, "{name}");
        }
    }
}
