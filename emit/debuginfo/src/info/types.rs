//! Entries of types.

use super::Unit;
use crate::entries::Shape;
use emit::Dialect;
use ir::Space;
use ir::describe::{Encoding, TypeInfo};

impl Unit<'_> {
    /// Writes entries for all types in the description of the source: the types of variables, and the types
    /// that these consist of.
    pub(super) fn used_types(&mut self) {
        let info = self.info;
        for (number, ty) in (0..).zip(&info.description.types) {
            if !matches!(ty, TypeInfo::Unit) || self.is_mentioned(number) {
                self.type_entry(number, ty);
            }
        }
    }

    /// Returns whether some entry refers to the type.
    fn is_mentioned(&self, ty: u32) -> bool {
        let info = self.info;
        let locals = info.functions.iter().flatten().flat_map(|function| &function.variables);
        let mut variables =
            locals.map(|variable| variable.ty).chain(info.description.variables.iter().map(|one| one.ty));
        let in_type = |other: &TypeInfo| match other {
            TypeInfo::Pointer { to, space, .. } => *to == ty && class(*space, info.options.dialect).is_some(),
            TypeInfo::Function { params, .. } => params.contains(&ty),
            TypeInfo::Array { element, .. } | TypeInfo::Vector { element, .. } => *element == ty,
            TypeInfo::Struct { members, .. } => members.iter().any(|member| member.ty == ty),
            TypeInfo::Unit | TypeInfo::Scalar { .. } | TypeInfo::Opaque { .. } => false,
        };
        variables.any(|other| other == ty) || info.description.types.iter().any(in_type)
    }

    fn type_entry(&mut self, number: u32, ty: &TypeInfo) {
        let entry = match ty {
            TypeInfo::Unit => {
                let entry = self.entries.begin(Shape::Unspecified);
                self.text("()");
                self.named("()", entry, Shape::Unspecified);
                entry
            }
            TypeInfo::Scalar { name, encoding, bytes } => {
                let entry = self.entries.begin(Shape::Scalar);
                self.text(name);
                self.entries.bytes(&[encoding_number(*encoding), *bytes]);
                self.named(name, entry, Shape::Scalar);
                entry
            }
            TypeInfo::Pointer { name, to, space } => self.pointer(name, *to, *space),
            TypeInfo::Function { name, params, result } => self.function_type(name, params, *result),
            TypeInfo::Array { element, len } => {
                let entry = self.entries.begin(Shape::Array);
                self.ty(*element);
                self.count(*len);
                entry
            }
            TypeInfo::Vector { name, element, lanes, bytes } => {
                let entry = self.entries.begin(Shape::Vector);
                self.text(name);
                self.ty(*element);
                self.entries.number((*bytes).into());
                self.count((*lanes).into());
                self.named(name, entry, Shape::Vector);
                entry
            }
            TypeInfo::Struct { name, bytes, members } => {
                let shape = if members.is_empty() { Shape::EmptyStruct } else { Shape::Struct };
                let entry = self.entries.begin(shape);
                self.text(name);
                self.named(name, entry, shape);
                self.entries.number((*bytes).into());
                for member in members {
                    self.entries.begin(Shape::Member);
                    self.text(&member.name);
                    self.ty(member.ty);
                    self.entries.number(member.offset.into());
                }
                if !members.is_empty() {
                    self.entries.end();
                }
                entry
            }
            TypeInfo::Opaque { name } => {
                let entry = self.entries.begin(Shape::Opaque);
                self.text(name);
                entry
            }
        };
        self.types[number as usize] = entry;
    }

    fn count(&mut self, count: u32) {
        self.entries.begin(Shape::Count);
        self.entries.number(count.into());
        self.entries.end();
    }

    /// Writes the entry of a pointer to a function, followed by the entry of the function type to which the
    /// pointer points.
    fn function_type(&mut self, name: &str, params: &[u32], result: u32) -> u32 {
        let entry = self.entries.begin(Shape::Pointer);
        self.text(name);
        self.named(name, entry, Shape::Pointer);
        // The pointer refers to the entry that follows it.
        let at = self.entries.position();
        self.entries.entry(0);
        let function = self.entries.position() as u32;
        self.entries.fill(at, function);
        match self.info.description.types[result as usize] {
            TypeInfo::Unit => {
                self.entries.begin(Shape::FunctionType);
            }
            _ => {
                self.entries.begin(Shape::FunctionTypeOf);
                self.ty(result);
            }
        }
        for &param in params {
            self.entries.begin(Shape::Taken);
            self.ty(param);
        }
        self.entries.end();
        entry
    }

    fn pointer(&mut self, name: &str, to: u32, space: Space) -> u32 {
        let class = class(space, self.info.options.dialect);
        let is_unit = matches!(self.info.description.types[to as usize], TypeInfo::Unit);
        let shape = match class {
            Some(_) => Shape::PointerClass,
            None if is_unit => Shape::Untyped,
            None => Shape::Pointer,
        };
        let entry = self.entries.begin(shape);
        self.text(name);
        self.named(name, entry, shape);
        if shape != Shape::Untyped {
            self.ty(to);
        }
        if let Some(class) = class {
            self.entries.bytes(&[class, (space.pointer_bits() / 8) as u8]);
        }
        entry
    }
}

/// Returns the address class of pointers to a memory. The heterogeneous dialect has the classes of the AMDGPU
/// guide (seed 000, line 664), and the standard dialect has LLVM's classes. LLVM has no class for memories
/// with 64-bit addresses, so the result is `None` for these.
fn class(space: Space, dialect: Dialect) -> Option<u8> {
    match (space, dialect) {
        (Space::Private, Dialect::Standard) => Some(1),
        (Space::Shared, Dialect::Standard) => Some(2),
        (_, Dialect::Standard) => (space.pointer_bits() == 32).then_some(3),
        (Space::Generic, Dialect::Heterogeneous) => Some(0),
        (Space::Global, Dialect::Heterogeneous) => Some(1),
        (Space::Region, Dialect::Heterogeneous) => Some(2),
        (Space::Shared, Dialect::Heterogeneous) => Some(3),
        (Space::Constant, Dialect::Heterogeneous) => Some(4),
        (Space::Private, Dialect::Heterogeneous) => Some(5),
    }
}

fn encoding_number(encoding: Encoding) -> u8 {
    match encoding {
        Encoding::Bool => 0x02,
        Encoding::Float => 0x04,
        Encoding::Signed => 0x05,
        Encoding::Unsigned => 0x07,
    }
}
