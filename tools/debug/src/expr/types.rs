//! Types of values: types from the debug information, and types that only expressions have.

use super::number::{Kind, Scalar};
use super::parse::TypeText;
use super::{Language, Problem};
use crate::format::{Shape, counts, encoding, shape, size};
use dwarf::{AddressSpace, Content, DebugInfo, Die};

/// The type of a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ty {
    /// A type from the debug information, identified by the offset of its debug information entry.
    Die(u64),
    /// Type of an element of an array of several dimensions, such as the type of `a[1]` for `int a[2][3]`.
    /// The fields are the debug information entry of the array, and the number of outermost dimensions that
    /// are removed.
    Rows(u64, usize),
    /// A number.
    Scalar(Scalar),
    /// Type of raw register contents: an unsigned number of this many bytes.
    Bits(usize),
    /// A pointer to a type, in an address space.
    Pointer(Box<Ty>, AddressSpace),
    /// Type of a swizzle of a vector: a vector with this number of elements.
    Vector(Box<Ty>, u64),
    /// Code without a known type.
    Code,
}

/// Structure of a type.
pub(crate) enum View<'a> {
    Number(Scalar),
    Bits,
    Pointer {
        to: Ty,
        space: AddressSpace,
        bytes: u64,
    },
    Array {
        of: Ty,
        count: u64,
        is_vector: bool,
    },
    Struct(&'a Die),
    Enum(&'a Die, Scalar),
    /// A function, as the target of a pointer.
    Code,
    Unknown,
}

/// Names of number types in C, OpenCL and kernc. They are listed here because an object's debug information
/// describes only the types that the program uses.
const NUMBERS: [(&str, Kind, u8); 40] = [
    ("bool", Kind::Bool, 1),
    ("_Bool", Kind::Bool, 1),
    ("i8", Kind::Signed, 1),
    ("i16", Kind::Signed, 2),
    ("i32", Kind::Signed, 4),
    ("i64", Kind::Signed, 8),
    ("u8", Kind::Unsigned, 1),
    ("u16", Kind::Unsigned, 2),
    ("u32", Kind::Unsigned, 4),
    ("u64", Kind::Unsigned, 8),
    ("f16", Kind::Float, 2),
    ("f32", Kind::Float, 4),
    ("f64", Kind::Float, 8),
    ("char", Kind::Signed, 1),
    ("signed char", Kind::Signed, 1),
    ("unsigned char", Kind::Unsigned, 1),
    ("uchar", Kind::Unsigned, 1),
    ("short", Kind::Signed, 2),
    ("short int", Kind::Signed, 2),
    ("unsigned short", Kind::Unsigned, 2),
    ("ushort", Kind::Unsigned, 2),
    ("int", Kind::Signed, 4),
    ("signed", Kind::Signed, 4),
    ("signed int", Kind::Signed, 4),
    ("unsigned", Kind::Unsigned, 4),
    ("unsigned int", Kind::Unsigned, 4),
    ("uint", Kind::Unsigned, 4),
    ("long", Kind::Signed, 8),
    ("long int", Kind::Signed, 8),
    ("long long", Kind::Signed, 8),
    ("long long int", Kind::Signed, 8),
    ("unsigned long", Kind::Unsigned, 8),
    ("unsigned long long", Kind::Unsigned, 8),
    ("long unsigned int", Kind::Unsigned, 8),
    ("ulong", Kind::Unsigned, 8),
    ("size_t", Kind::Unsigned, 8),
    ("half", Kind::Float, 2),
    ("_Float16", Kind::Float, 2),
    ("float", Kind::Float, 4),
    ("double", Kind::Float, 8),
];

/// Tags of the entries that describe named types.
const NAMED: [&str; 7] = [
    "DW_TAG_base_type",
    "DW_TAG_structure_type",
    "DW_TAG_union_type",
    "DW_TAG_class_type",
    "DW_TAG_enumeration_type",
    "DW_TAG_typedef",
    "DW_TAG_array_type",
];

/// The types of an object, seen from a language.
#[derive(Clone, Copy)]
pub(crate) struct Types<'a> {
    pub info: Option<&'a DebugInfo>,
    pub language: Language,
}

impl<'a> Types<'a> {
    /// Returns the structure of a type.
    pub(crate) fn view(self, ty: &Ty) -> View<'a> {
        let (info, die) = match (self.info, ty) {
            (Some(info), Ty::Die(die)) => (info, *die),
            (_, Ty::Scalar(scalar)) => return View::Number(*scalar),
            (_, Ty::Bits(_)) => return View::Bits,
            (_, Ty::Code) => return View::Code,
            (_, Ty::Vector(of, count)) => {
                return View::Array { of: (**of).clone(), count: *count, is_vector: true };
            }
            (_, Ty::Pointer(to, space)) => {
                let bytes = space.address_bits().map_or(8, |bits| u64::from(bits) / 8);
                return View::Pointer { to: (**to).clone(), space: *space, bytes };
            }
            (Some(info), Ty::Rows(die, taken)) => return rows(info, *die, *taken),
            (None, Ty::Die(_) | Ty::Rows(..)) => return View::Unknown,
        };
        match shape(info, die) {
            Shape::Base { die, bytes } => scalar_of(die, bytes).map_or(View::Unknown, View::Number),
            Shape::Pointer { to, space, bytes } => {
                // A pointer without a target type (`void *`) is treated as a pointer to unsigned bytes.
                let byte = Ty::Scalar(Scalar { kind: Kind::Unsigned, bytes: 1 });
                View::Pointer { to: to.map_or(byte, Ty::Die), space, bytes }
            }
            Shape::Array { die, of, count, is_vector } if is_vector || counts(info, die).len() < 2 => {
                View::Array { of: Ty::Die(of), count, is_vector }
            }
            Shape::Array { die, .. } => rows(info, die.offset, 0),
            Shape::Struct { die, .. } => View::Struct(die),
            Shape::Enum { die, bytes } => {
                let of = crate::variables::type_of(die).and_then(|of| match shape(info, of) {
                    Shape::Base { die, bytes } => scalar_of(die, bytes),
                    _ => None,
                });
                let scalar = of.or(Scalar::with_size(Kind::Signed, bytes as usize));
                scalar.map_or(View::Unknown, |scalar| View::Enum(die, scalar))
            }
            Shape::Function => View::Code,
            Shape::Unknown => View::Unknown,
        }
    }

    /// Returns the size of a type in bytes.
    pub(crate) fn size(self, ty: &Ty) -> u64 {
        match ty {
            Ty::Die(die) => self.info.map_or(0, |info| size(info, *die)),
            Ty::Rows(..) => match self.view(ty) {
                View::Array { of, count, .. } => count.saturating_mul(self.size(&of)),
                _ => 0,
            },
            Ty::Scalar(scalar) => scalar.bytes.into(),
            Ty::Bits(bytes) => *bytes as u64,
            Ty::Pointer(_, space) => space.address_bits().map_or(8, |bits| u64::from(bits) / 8),
            // A vector of three elements occupies four.
            Ty::Vector(of, count) => count.next_power_of_two().saturating_mul(self.size(of)),
            Ty::Code => 0,
        }
    }

    /// Returns the type's name as the user would write it.
    pub(crate) fn name(self, ty: &Ty) -> String {
        match ty {
            Ty::Die(die) => self.info.map_or("?".to_owned(), |info| info.type_name(Some(*die))),
            Ty::Rows(die, taken) => {
                let whole = self.name(&Ty::Die(*die));
                let inner = whole.match_indices(']').nth(taken.saturating_sub(1)).map(|(at, _)| at + 1);
                match (whole.find('['), inner) {
                    (Some(from), Some(to)) => format!("{}{}", &whole[..from], &whole[to..]),
                    _ => whole,
                }
            }
            Ty::Scalar(scalar) => scalar.name(self.language),
            Ty::Bits(_) => "register".to_owned(),
            Ty::Code => "code".to_owned(),
            Ty::Vector(of, count) => {
                let of = self.name(of);
                match self.language {
                    Language::Kernc => format!("{of}x{count}"),
                    Language::C => format!("{of} __attribute__((ext_vector_type({count})))"),
                }
            }
            Ty::Pointer(to, space) => {
                let to = self.name(to);
                match (self.language, *space) {
                    (Language::C, _) => format!("{to} *"),
                    (_, AddressSpace::GENERIC) => format!("*{to}"),
                    (_, AddressSpace::LOCAL) => format!("*shared {to}"),
                    (_, space) if space.lane().is_some() || space == AddressSpace::PRIVATE_LANE => {
                        format!("*private {to}")
                    }
                    (_, space) => format!("*{space} {to}"),
                }
            }
        }
    }

    /// Returns the names of an enumeration with their numbers.
    pub(crate) fn enumerators(self, die: &Die) -> Vec<(&'a str, i128)> {
        let Some(info) = self.info else { return Vec::new() };
        let children = info.index_of(die.offset).into_iter().flat_map(|at| info.children(at));
        children.filter_map(enumerator).collect()
    }

    /// Returns the enumeration type that has an enumerator with this name, and the enumerator's number.
    pub(crate) fn enumerated(self, name: &str) -> Option<(Ty, i128)> {
        let info = self.info?;
        let mut all = info.entries.iter().filter(|die| die.tag == "DW_TAG_enumeration_type");
        all.find_map(|die| {
            let found = self.enumerators(die).into_iter().find(|one| one.0 == name)?;
            Some((Ty::Die(die.offset), found.1))
        })
    }

    /// Returns whether a name is that of a type.
    pub(crate) fn has(self, name: &str) -> bool {
        NUMBERS.iter().any(|row| row.0 == name) || self.find(name).is_some()
    }

    /// Returns the type with a name that the object describes.
    fn find(self, name: &str) -> Option<Ty> {
        let is_it = |die: &&Die| NAMED.contains(&die.tag.as_str()) && die.text("DW_AT_name") == Some(name);
        self.info?.entries.iter().find(is_it).map(|die| Ty::Die(die.offset))
    }

    /// Returns the type that the user has typed as `text`.
    ///
    /// # Errors
    /// There is no type with that name.
    pub(crate) fn named(self, text: &TypeText) -> Result<Ty, Problem> {
        let number = || {
            let row = NUMBERS.iter().find(|row| row.0 == text.name)?;
            Some(Ty::Scalar(Scalar { kind: row.1, bytes: row.2 }))
        };
        let ty = self.find(&text.name).or_else(number);
        let ty = ty.ok_or_else(|| {
            let known = self.info.into_iter().flat_map(|info| &info.entries);
            let known = known.filter(|die| NAMED.contains(&die.tag.as_str()));
            let names = known.filter_map(|die| die.text("DW_AT_name")).chain(NUMBERS.iter().map(|row| row.0));
            format!("no type is called `{}`{}", text.name, super::near::hint(&text.name, names))
        })?;
        Ok(text.pointers.iter().fold(ty, |ty, &space| Ty::Pointer(Box::new(ty), space)))
    }
}

/// Returns the structure of an array after its `taken` outermost dimensions have been removed.
fn rows(info: &DebugInfo, die: u64, taken: usize) -> View<'_> {
    let of = |array| {
        let (counts, of) = (counts(info, array), crate::variables::type_of(array)?);
        let count = *counts.get(taken)?;
        let of = if taken + 1 < counts.len() { Ty::Rows(die, taken + 1) } else { Ty::Die(of) };
        Some(View::Array { of, count, is_vector: false })
    };
    info.entry(die).and_then(of).unwrap_or(View::Unknown)
}

/// Returns the name and number of an entry of an enumeration.
fn enumerator(die: &Die) -> Option<(&str, i128)> {
    match die.get("DW_AT_const_value")? {
        Content::Number(number) => Some((die.text("DW_AT_name")?, *number)),
        _ => None,
    }
}

/// Returns the number type of a base type.
fn scalar_of(die: &Die, bytes: u64) -> Option<Scalar> {
    let kind = match encoding(die) {
        "DW_ATE_float" => Kind::Float,
        "DW_ATE_boolean" => Kind::Bool,
        "DW_ATE_signed" | "DW_ATE_signed_char" => Kind::Signed,
        _ => Kind::Unsigned,
    };
    Scalar::with_size(kind, usize::try_from(bytes).ok()?)
}
