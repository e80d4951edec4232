//! Writes the names of types in the language of the unit: in the syntax of kernc's language if kernc wrote
//! the unit, otherwise in that of C.

use crate::info::{Content, DebugInfo, Die};

/// Maximum nesting depth of types.
const DEPTH: u32 = 16;

impl DebugInfo {
    /// Returns a type as a user would spell it.
    pub fn type_name(&self, offset: Option<u64>) -> String {
        self.type_within(offset, 0)
    }

    fn type_within(&self, offset: Option<u64>, depth: u32) -> String {
        let Some(die) = offset.and_then(|offset| self.entry(offset)) else { return "void".to_owned() };
        if depth > DEPTH {
            return "...".to_owned();
        }
        if let Some(name) = die.text("DW_AT_name") {
            return name.to_owned();
        }
        let inner = || self.type_within(reference(die), depth + 1);
        match die.tag.as_str() {
            "DW_TAG_pointer_type" => match self.function_of(die) {
                Some(function) => {
                    let result = self.type_within(reference(function), depth + 1);
                    format!("{result} (*)({})", self.parameters(function, depth))
                }
                None => format!("{} *", inner()),
            },
            "DW_TAG_reference_type" => format!("{} &", inner()),
            "DW_TAG_const_type" => format!("const {}", inner()),
            "DW_TAG_volatile_type" => format!("volatile {}", inner()),
            "DW_TAG_restrict_type" => format!("restrict {}", inner()),
            "DW_TAG_array_type" => self.array_name(die, inner()),
            "DW_TAG_structure_type" => "struct".to_owned(),
            "DW_TAG_union_type" => "union".to_owned(),
            "DW_TAG_subroutine_type" => format!("{} ({})", inner(), self.parameters(die, depth)),
            tag => tag.to_owned(),
        }
    }

    /// Returns the type of the function to which a pointer points.
    fn function_of(&self, pointer: &Die) -> Option<&Die> {
        let function = self.entry(reference(pointer)?)?;
        (function.tag == "DW_TAG_subroutine_type").then_some(function)
    }

    /// Returns the types of parameters, such as `int, float`.
    fn parameters(&self, function: &Die, depth: u32) -> String {
        let at = self.index_of(function.offset);
        let parameters = at.into_iter().flat_map(|at| self.children(at));
        let names = parameters.map(|parameter| match parameter.tag.as_str() {
            "DW_TAG_unspecified_parameters" => "...".to_owned(),
            _ => self.type_within(reference(parameter), depth + 1),
        });
        names.collect::<Vec<_>>().join(", ")
    }

    /// Returns an array type, such as `[f32; 4]` in kernc's language or `float[4]` in C.
    fn array_name(&self, array: &Die, element: String) -> String {
        let at = self.index_of(array.offset);
        let ranges = at.into_iter().flat_map(|at| self.children(at));
        let counts = ranges.map(|range| match (range.get("DW_AT_count"), range.get("DW_AT_upper_bound")) {
            (Some(Content::Number(count)), _) => count.to_string(),
            (_, Some(Content::Number(last))) => last.saturating_add(1).to_string(),
            _ => String::new(),
        });
        let counts: Vec<String> = counts.collect();
        if self.units.get(array.unit).is_some_and(|unit| unit.is_kernc) {
            return counts.iter().rev().fold(element, |element, count| format!("[{element}; {count}]"));
        }
        // In an array of arrays, the outer count comes first.
        let counts: String = counts.iter().map(|count| format!("[{count}]")).collect();
        match element.find('[') {
            Some(inner) if element.ends_with(']') => {
                format!("{}{counts}{}", &element[..inner], &element[inner..])
            }
            _ => format!("{element}{counts}"),
        }
    }
}

/// Returns the type of an entry.
fn reference(die: &Die) -> Option<u64> {
    match die.get("DW_AT_type") {
        Some(&Content::Reference(offset)) => Some(offset),
        _ => None,
    }
}
