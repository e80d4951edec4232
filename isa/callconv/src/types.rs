//! Types of arguments and results, with the sizes and alignments that C gives them.

use std::fmt;

/// An address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Determined at run time; number 0 in LLVM.
    Flat,
    /// Device memory; number 1.
    Global,
    /// The global data share; number 2.
    Region,
    /// Memory of a work-group; number 3.
    Local,
    /// Device memory that does not change; number 4.
    Constant,
    /// Memory of a work-item; number 5.
    Private,
}

impl Space {
    /// All address spaces, by LLVM's number.
    pub const ALL: [Space; 6] =
        [Space::Flat, Space::Global, Space::Region, Space::Local, Space::Constant, Space::Private];

    /// Returns the number of bits of a pointer to this address space (LLVM's AMDGPU guide, seed 000, "Address
    /// Space Mapping").
    pub const fn bits(self) -> u32 {
        match self {
            Space::Flat | Space::Global | Space::Constant => 64,
            Space::Region | Space::Local | Space::Private => 32,
        }
    }
}

/// A value that has no parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// A byte, 0 or 1.
    Bool,
    /// An integer of 8, 16, 32 or 64 bits.
    Int {
        /// Number of bits.
        bits: u8,
        /// Whether the integer is signed.
        signed: bool,
    },
    /// IEEE half.
    F16,
    /// The upper half of an `f32`.
    BF16,
    /// IEEE single.
    F32,
    /// IEEE double.
    F64,
    /// An address.
    Pointer(Space),
}

impl Scalar {
    /// Returns the number of bits in memory: 8, 16, 32 or 64.
    pub const fn bits(self) -> u32 {
        match self {
            Scalar::Bool => 8,
            Scalar::Int { bits, .. } => bits as u32,
            Scalar::F16 | Scalar::BF16 => 16,
            Scalar::F32 => 32,
            Scalar::F64 => 64,
            Scalar::Pointer(space) => space.bits(),
        }
    }
}

/// Identifies a type in a [`Types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TypeId(u32);

/// Kind of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A scalar.
    Scalar(Scalar),
    /// A vector of 2, 3, 4, 8 or 16 lanes.
    Vector(Scalar, u32),
    /// An array with that number of elements.
    Array(TypeId, u32),
    /// A struct; [`Types::fields`] lists its fields.
    Struct {
        /// Index of the first field.
        first: u32,
        /// Number of fields.
        len: u32,
    },
}

/// An element of a type's memory layout.
pub(crate) enum Element {
    /// A scalar, or a vector with that number of lanes.
    Part(Scalar, u32),
    /// Padding bytes.
    Padding(u64),
}

#[derive(Clone, Copy, Debug)]
struct Node {
    kind: Kind,
    size: u64,
    align: u64,
    depth: u32,
    /// Whether the type is a pointer to the global data share (GDS), or contains one.
    region: bool,
}

/// Reason why a type does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeError {
    /// Integers have 8, 16, 32 or 64 bits.
    Bits(u8),
    /// Vectors have 2, 3, 4, 8 or 16 lanes.
    Lanes(u32),
    /// This scalar type cannot be the element type of a vector, because it is `bool` or a pointer. Clang and
    /// LLVM do not agree on the layout of vectors of these types.
    Lane(Scalar),
    /// Types are nested at most [`Types::DEPTH`] deep.
    Deep,
    /// Types are smaller than 2 GiB.
    Big,
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TypeError::Bits(bits) => write!(f, "there are no integers of {bits} bits"),
            TypeError::Lanes(lanes) => {
                write!(f, "vectors have 2, 3, 4, 8 or 16 lanes, not {lanes}")
            }
            TypeError::Lane(_) => {
                write!(f, "it is not known how vectors of `bool` or of pointers are passed")
            }
            TypeError::Deep => write!(f, "types are nested {} deep at most", Types::DEPTH),
            TypeError::Big => write!(f, "types are smaller than 2 GiB"),
        }
    }
}

impl std::error::Error for TypeError {}

/// A set of types, each with its size and alignment.
#[derive(Clone, Debug, Default)]
pub struct Types {
    nodes: Vec<Node>,
    fields: Vec<TypeId>,
}

impl Types {
    /// Largest nesting depth of types.
    pub const DEPTH: u32 = 64;
    const MOST_BYTES: u64 = 1 << 31;

    fn add(
        &mut self,
        kind: Kind,
        size: u64,
        align: u64,
        depth: u32,
        region: bool,
    ) -> Result<TypeId, TypeError> {
        if depth > Types::DEPTH {
            return Err(TypeError::Deep);
        }
        if size >= Types::MOST_BYTES {
            return Err(TypeError::Big);
        }
        self.nodes.push(Node { kind, size, align, depth, region });
        Ok(TypeId(self.nodes.len() as u32 - 1))
    }

    /// Adds a scalar type.
    pub fn scalar(&mut self, scalar: Scalar) -> TypeId {
        let bytes = u64::from(scalar.bits() / 8);
        let region = scalar == Scalar::Pointer(Space::Region);
        let kind = Kind::Scalar(scalar);
        self.nodes.push(Node { kind, size: bytes, align: bytes, depth: 0, region });
        TypeId(self.nodes.len() as u32 - 1)
    }

    /// Adds a vector type. A vector is aligned to its size, and a vector of three elements takes the space of
    /// four.
    ///
    /// # Errors
    /// Returns an error if there is no such vector type.
    pub fn vector(&mut self, scalar: Scalar, lanes: u32) -> Result<TypeId, TypeError> {
        if !matches!(lanes, 2 | 3 | 4 | 8 | 16) {
            return Err(TypeError::Lanes(lanes));
        }
        if matches!(scalar, Scalar::Bool | Scalar::Pointer(_)) {
            return Err(TypeError::Lane(scalar));
        }
        let bytes = u64::from(scalar.bits() / 8 * lanes.next_power_of_two());
        self.add(Kind::Vector(scalar, lanes), bytes, bytes, 0, false)
    }

    /// Adds an array type.
    ///
    /// # Errors
    /// Returns an error if the type is nested too deep or too big.
    pub fn array(&mut self, element: TypeId, len: u32) -> Result<TypeId, TypeError> {
        let node = self.node(element);
        let size = node.size.saturating_mul(u64::from(len));
        self.add(Kind::Array(element, len), size, node.align, node.depth + 1, node.region)
    }

    /// Adds a struct or tuple type with the memory layout of C: fields in order, each at the next multiple of
    /// its alignment.
    ///
    /// # Errors
    /// Returns an error if the type is nested too deep or too big.
    pub fn structure(&mut self, fields: &[TypeId]) -> Result<TypeId, TypeError> {
        let (mut size, mut align, mut depth, mut region) = (0u64, 1, 0, false);
        for &field in fields {
            let node = self.node(field);
            size = size.next_multiple_of(node.align).saturating_add(node.size).min(Types::MOST_BYTES);
            align = align.max(node.align);
            depth = depth.max(node.depth + 1);
            region |= node.region;
        }
        let first = self.fields.len() as u32;
        self.fields.extend_from_slice(fields);
        let kind = Kind::Struct { first, len: fields.len() as u32 };
        self.add(kind, size.next_multiple_of(align), align, depth, region)
    }

    fn node(&self, id: TypeId) -> Node {
        self.nodes[id.0 as usize]
    }

    /// Returns the kind of a type.
    pub fn kind(&self, id: TypeId) -> Kind {
        self.node(id).kind
    }

    /// Returns whether a type is a struct or array that contains a pointer to the global data share (GDS).
    /// Some conventions do not define the memory layout of such types.
    pub(crate) fn holds_region(&self, id: TypeId) -> bool {
        self.node(id).region && !matches!(self.kind(id), Kind::Scalar(_))
    }

    /// Returns the size in memory, in bytes.
    pub fn size(&self, id: TypeId) -> u64 {
        self.node(id).size
    }

    /// Returns the alignment in memory, in bytes.
    pub fn align(&self, id: TypeId) -> u64 {
        self.node(id).align
    }

    /// Returns the fields of a struct or tuple with their offsets in bytes. Yields nothing for other types.
    pub fn fields(&self, id: TypeId) -> impl Iterator<Item = (u64, TypeId)> + '_ {
        let range = match self.kind(id) {
            Kind::Struct { first, len } => first as usize..(first + len) as usize,
            _ => 0..0,
        };
        let mut end = 0u64;
        self.fields[range].iter().map(move |&field| {
            let at = end.next_multiple_of(self.align(field));
            end = at + self.size(field);
            (at, field)
        })
    }

    /// Calls `each` for each scalar and vector in a type, including those in nested structs and arrays.
    /// `each` gets the byte offset in memory, the scalar type, and the number of elements.
    pub fn parts(&self, id: TypeId, at: u64, each: &mut dyn FnMut(u64, Scalar, u32)) {
        self.elements(id, at, &mut |at, element| {
            if let Element::Part(scalar, lanes) = element {
                each(at, scalar, lanes);
            }
        });
    }

    /// Calls `each` for the same parts as [`Types::parts`], and also for padding at the end of structs that
    /// clang represents as an array of bytes.
    pub(crate) fn elements(&self, id: TypeId, at: u64, each: &mut dyn FnMut(u64, Element)) {
        match self.kind(id) {
            Kind::Scalar(scalar) => each(at, Element::Part(scalar, 1)),
            Kind::Vector(scalar, lanes) => each(at, Element::Part(scalar, lanes)),
            // An array whose elements have no bytes has no parts. It is skipped because it may have a huge
            // number of elements.
            Kind::Array(element, _) if self.size(element) == 0 => {}
            Kind::Array(element, len) => {
                for i in 0..u64::from(len) {
                    self.elements(element, at + i * self.size(element), each);
                }
            }
            Kind::Struct { .. } => {
                let mut end = 0;
                for (offset, field) in self.fields(id) {
                    self.elements(field, at + offset, each);
                    end = offset + self.size(field);
                }
                let bytes = self.tail(id, end);
                if bytes > 0 {
                    each(at + end, Element::Padding(bytes));
                }
            }
        }
    }

    /// Returns the number of padding bytes that clang adds explicitly after the last field of a struct, as an
    /// array of bytes in LLVM's struct type. Usually this is 0: LLVM itself rounds the size of a struct up to
    /// its alignment. But if a vector requires an alignment of 16 or more, clang fills the rest of the struct
    /// with such an array.
    fn tail(&self, id: TypeId, end: u64) -> u64 {
        let named = self.align(id) >= 16 && end.next_multiple_of(8) != self.size(id);
        if named { self.size(id) - end } else { 0 }
    }

    /// Returns the only scalar or vector in a struct, if nothing else is in the struct, not even padding. An
    /// array of one element counts as its element. Returns `None` for all other structs.
    pub(crate) fn single(&self, id: TypeId) -> Option<TypeId> {
        let inner = match self.kind(id) {
            Kind::Scalar(_) | Kind::Vector(..) => Some(id),
            Kind::Array(element, 1) => self.single(element),
            Kind::Array(..) => None,
            Kind::Struct { .. } => {
                let mut sized = self.fields(id).filter(|&(_, field)| self.size(field) != 0);
                let only = sized.next();
                if sized.next().is_some() { None } else { only.and_then(|(_, field)| self.single(field)) }
            }
        };
        inner.filter(|&inner| self.size(inner) == self.size(id))
    }
}
