//! Debug information about the types and functions of the source. It does not depend on the code that is
//! generated.

use crate::func::SrcLoc;
use crate::types::Space;
use smol_str::SmolStr;
use std::ops::Range;

/// Interpretation of the bits of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Encoding {
    Bool,
    Signed,
    Unsigned,
    Float,
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Name.
    pub name: SmolStr,
    /// Type, as an index into [`Description::types`].
    pub ty: u32,
    /// Offset from the beginning of the struct, in bytes.
    pub offset: u32,
}

/// A type. Types refer to other types by their index in [`Description::types`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeInfo {
    /// The type without values.
    Unit,
    /// A number or truth value.
    Scalar {
        /// Name.
        name: SmolStr,
        /// Interpretation of its bits.
        encoding: Encoding,
        /// Size in bytes.
        bytes: u8,
    },
    /// A vector; its name is that of the kernel language.
    Vector {
        /// Name.
        name: SmolStr,
        /// Type of a lane.
        element: u32,
        /// Number of lanes.
        lanes: u8,
        /// Size in bytes, which may be more than that of its lanes.
        bytes: u32,
    },
    /// A pointer.
    Pointer {
        /// Name.
        name: SmolStr,
        /// Type to which it points.
        to: u32,
        /// Address space to which it points.
        space: Space,
    },
    /// An array.
    Array {
        /// Type of an element.
        element: u32,
        /// Number of elements.
        len: u32,
    },
    /// A struct.
    Struct {
        /// Name.
        name: SmolStr,
        /// Size in bytes.
        bytes: u32,
        /// Fields.
        members: Vec<Member>,
    },
    /// The address of a function.
    Function {
        /// Name.
        name: SmolStr,
        /// Types of the parameters.
        params: Vec<u32>,
        /// Type of the result.
        result: u32,
    },
    /// An opaque type, such as an image, whose contents only the host and its library know.
    Opaque {
        /// Name.
        name: SmolStr,
    },
}

/// A function or kernel of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subprogram {
    /// Name.
    pub name: SmolStr,
    /// Source location of its name.
    pub loc: SrcLoc,
    /// Range of the function's source text in byte offsets, from its name to its end.
    pub scope: Range<u32>,
    /// Type of its result.
    pub result: u32,
    /// Whether other objects may call the function or the host may launch it.
    pub external: bool,
}

/// A global variable of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleVariable {
    /// Name.
    pub name: SmolStr,
    /// Type.
    pub ty: u32,
    /// Source location of its declaration.
    pub loc: SrcLoc,
    /// Index in [`Module::globals`](crate::Module).
    pub global: u32,
    /// Address space in which it is stored.
    pub space: Space,
}

/// The debug information of a module.
#[derive(Clone, Debug, Default)]
pub struct Description {
    /// Types.
    pub types: Vec<TypeInfo>,
    /// Functions. [`Track`](crate::track::Track)s refer to them by index.
    pub functions: Vec<Subprogram>,
    /// Global variables of the module.
    pub variables: Vec<ModuleVariable>,
    /// Distance between the source locations that stand for the same code in two inlined copies: see
    /// [`Track::location_in_copy`](crate::track::Track::location_in_copy).
    pub stride: u32,
}
