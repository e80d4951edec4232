//! Writes the declarations of types in the syntax of the language of the debugged program.

use super::Language;
use super::types::{Ty, Types, View};
use crate::format::{Field, fields};
use dwarf::{DebugInfo, Die};

impl Types<'_> {
    /// Returns the declaration of a type as text. The declaration of a struct or enumeration has all its
    /// members. `ty` may also be a pointer to such a type.
    pub(crate) fn described(self, ty: &Ty) -> String {
        match self.view(ty) {
            View::Struct(die) => self.structure(die, ty),
            View::Enum(die, _) => {
                let names =
                    self.enumerators(die).into_iter().map(|(name, number)| format!("{name} = {number}"));
                format!(
                    "enum {} {{ {} }}",
                    die.text("DW_AT_name").unwrap_or(""),
                    names.collect::<Vec<_>>().join(", ")
                )
            }
            View::Pointer { to, .. } if matches!(self.view(&to), View::Struct(_)) => {
                let (pointer, name, whole) = (self.name(ty), self.name(&to), self.described(&to));
                // In kernc's syntax, the type that a pointer points to comes last (`*global P`). In C's
                // syntax it comes first (`P *`).
                match pointer.strip_suffix(&name) {
                    Some(before) => format!("{before}{whole}"),
                    None => pointer.replacen(&name, &whole, 1),
                }
            }
            View::Number(scalar) => match ty {
                // A `typedef` name of C is replaced by the type that it stands for.
                Ty::Die(die) if self.language == Language::C => self.base_name(*die),
                _ => scalar.name(self.language),
            },
            _ => self.name(ty),
        }
    }

    /// Returns the name of the base type for which a `typedef` name of C stands.
    fn base_name(self, die: u64) -> String {
        let mut die = die;
        // The number of steps is limited, because the types of a damaged object may refer to each other in a
        // circle.
        for _ in 0..16 {
            let entry = self.info.and_then(|info| info.entry(die));
            match entry.filter(|entry| entry.tag != "DW_TAG_base_type").and_then(crate::variables::type_of) {
                Some(inner) => die = inner,
                None => break,
            }
        }
        self.name(&Ty::Die(die))
    }

    fn structure(self, die: &Die, ty: &Ty) -> String {
        let name = die.text("DW_AT_name").unwrap_or("");
        let Some(info) = self.info else { return name.to_owned() };
        if self.language == Language::Kernc && name.starts_with('(') {
            return self.name(ty);
        }
        let keyword = if die.tag == "DW_TAG_union_type" { "union" } else { "struct" };
        let head = format!("{keyword} {name}").trim_end().to_owned();
        if die.get("DW_AT_declaration").is_some() {
            return format!("{head} {{ <incomplete type> }}");
        }
        let lines: String = fields(info, die).iter().map(|field| self.field(info, field)).collect();
        format!("{head} {{\n{lines}}}")
    }

    /// Returns a field as a line of a struct declaration.
    fn field(self, info: &DebugInfo, field: &Field<'_>) -> String {
        let ty = info.type_name(Some(field.ty));
        if self.language == Language::Kernc {
            return format!("    {}: {ty},\n", field.name);
        }
        let bits = field.bits.map_or(String::new(), |(_, count)| format!(" : {count}"));
        match (ty.find("(*)"), ty.find('[')) {
            (Some(at), _) => format!("    {}{}{};\n", &ty[..at + 2], field.name, &ty[at + 2..]),
            (_, Some(at)) => format!("    {} {}{};\n", ty[..at].trim_end(), field.name, &ty[at..]),
            _ if ty.ends_with('*') => format!("    {ty}{}{bits};\n", field.name),
            _ => format!("    {ty} {}{bits};\n", field.name),
        }
    }
}
