//! What a debugger is told of the source beside the code: types and functions.

use crate::func::SrcLoc;
use crate::types::Space;
use smol_str::SmolStr;
use std::ops::Range;

/// What bits of a scalar mean.
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
    /// Type.
    pub ty: u32,
    /// Bytes from the beginning.
    pub offset: u32,
}

/// A type. Others are named by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeInfo {
    /// No value.
    Unit,
    /// A number or truth value.
    Scalar {
        /// Name.
        name: SmolStr,
        /// Meaning.
        encoding: Encoding,
        /// Bytes.
        bytes: u8,
    },
    /// A vector; its name is that of the language.
    Vector {
        /// Name.
        name: SmolStr,
        /// Type of a lane.
        element: u32,
        /// Lanes.
        lanes: u8,
        /// Bytes, which may be more than those of its lanes.
        bytes: u32,
    },
    /// A pointer.
    Pointer {
        /// Name.
        name: SmolStr,
        /// To what.
        to: u32,
        /// Where that is.
        space: Space,
    },
    /// An array.
    Array {
        /// Type of an element.
        element: u32,
        /// Elements.
        len: u32,
    },
    /// A struct.
    Struct {
        /// Name.
        name: SmolStr,
        /// Bytes.
        bytes: u32,
        /// Fields.
        members: Vec<Member>,
    },
    /// The address of a function.
    Function {
        /// Name.
        name: SmolStr,
        /// Types of parameters.
        params: Vec<u32>,
        /// Type of the result.
        result: u32,
    },
    /// Something that only the host and its library know.
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
    /// Where it is named.
    pub loc: SrcLoc,
    /// Its text, from there to its end: byte offsets.
    pub scope: Range<u32>,
    /// Type of its result.
    pub result: u32,
    /// Others may call it, or launch it.
    pub external: bool,
}

/// A variable of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleVariable {
    /// Name.
    pub name: SmolStr,
    /// Type.
    pub ty: u32,
    /// Where it is declared.
    pub loc: SrcLoc,
    /// Number among [`Module::globals`](crate::Module).
    pub global: u32,
    /// Where it is.
    pub space: Space,
}

/// All of a module.
#[derive(Clone, Debug, Default)]
pub struct Description {
    /// Types.
    pub types: Vec<TypeInfo>,
    /// Functions, by the numbers that [`Track`](crate::track::Track)s name.
    pub functions: Vec<Subprogram>,
    /// Variables of the module.
    pub variables: Vec<ModuleVariable>,
    /// See [`Track::place`](crate::track::Track::place).
    pub stride: u32,
}
