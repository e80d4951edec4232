//! Types as C.

use callconv::{Kind, Scalar, Space, TypeId, Types};
use std::fmt::Write;

fn scalar(scalar: Scalar) -> String {
    match scalar {
        Scalar::Bool => "_Bool".into(),
        Scalar::Int { bits, signed } => {
            let name = match bits {
                8 => "char",
                16 => "short",
                32 => "int",
                _ => "long",
            };
            format!("{} {name}", if signed { "signed" } else { "unsigned" })
        }
        Scalar::F16 => "_Float16".into(),
        Scalar::BF16 => "__bf16".into(),
        Scalar::F32 => "float".into(),
        Scalar::F64 => "double".into(),
        Scalar::Pointer(Space::Flat) => "char *".into(),
        Scalar::Pointer(space) => {
            let number = Space::ALL.iter().position(|other| *other == space).unwrap_or(0);
            format!("__attribute__((address_space({number}))) char *")
        }
    }
}

/// The name of a type, defined before in `out`.
pub fn name(types: &Types, ty: TypeId, out: &mut String, next: &mut usize) -> String {
    *next += 1;
    let made = format!("T{next}");
    match types.kind(ty) {
        Kind::Scalar(of) => {
            let _ = writeln!(out, "typedef {} {made};", scalar(of));
        }
        Kind::Vector(of, lanes) => {
            let _ = writeln!(out, "typedef {} {made} __attribute__((ext_vector_type({lanes})));", scalar(of));
        }
        Kind::Array(element, len) => {
            let element = name(types, element, out, next);
            let _ = writeln!(out, "typedef {element} {made}[{len}];");
        }
        Kind::Struct { .. } => {
            let fields: Vec<String> =
                types.fields(ty).map(|(_, field)| name(types, field, out, next)).collect();
            let _ = write!(out, "typedef struct {{");
            for (i, field) in fields.iter().enumerate() {
                let _ = write!(out, " {field} m{i};");
            }
            let _ = writeln!(out, " }} {made};");
        }
    }
    made
}
