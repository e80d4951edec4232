//! Writes types as text, with the fields of structs, for the metadata of kernel parameters.

use crate::types::{Ty, TyKind, Types};

impl Types {
    /// Returns the text of a struct type, or of a pointer to a struct, with the struct's fields: `*global
    /// Coef { rx: f32, ry: f32 }`. Returns `None` if the type has no struct or if the text would be too long.
    pub fn with_fields(&self, ty: Ty, names: &[&str]) -> Option<String> {
        let value = self.as_pointer(ty).map_or(ty, |pointer| pointer.to);
        let fields = self.fields(value, names)?;
        let name = self.name(ty, names);
        Some(format!("{}{fields}", name.strip_suffix(&self.name(value, names))?))
    }

    /// Returns the part of the text of a struct type, or of an array of structs, that lists the fields.
    /// Returns `None` if there is no struct or if the text would be too long.
    fn fields(&self, ty: Ty, names: &[&str]) -> Option<String> {
        let mut of = ty;
        while let TyKind::Array(element, _) = self.kind(of) {
            of = element;
        }
        let TyKind::Struct(_) = self.kind(of) else { return None };
        let mut text = String::new();
        self.write_fields(ty, names, &mut text).then_some(text)
    }

    /// Appends the text of the fields of a type's structs. Returns whether the text is within the length
    /// limit. The function stops as soon as the text is too long, because nested structs can have an enormous
    /// number of fields.
    fn write_fields(&self, ty: Ty, names: &[&str], out: &mut String) -> bool {
        /// Longest text of a type, in bytes.
        const MAX_TEXT: usize = 1 << 15;
        match self.kind(ty) {
            TyKind::Array(element, len) => {
                out.push('[');
                if !self.write_fields(element, names, out) {
                    return false;
                }
                out.push_str(&format!("; {len}]"));
            }
            TyKind::Struct(index) => {
                out.push_str(&self.name(ty, names));
                for (n, field) in self.structs[index as usize].fields.iter().enumerate() {
                    let before = if n == 0 { " {" } else { "," };
                    out.push_str(&format!("{before} {}: ", names[field.name.0 as usize]));
                    if !self.write_fields(field.ty, names, out) {
                        return false;
                    }
                }
                out.push_str(if self.structs[index as usize].fields.is_empty() { " {  }" } else { " }" });
            }
            _ => out.push_str(&self.name(ty, names)),
        }
        out.len() <= MAX_TEXT
    }
}
