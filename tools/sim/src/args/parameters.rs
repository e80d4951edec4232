//! Parses the parameters of a kernel from text, for code objects that do not describe them.

use super::Layout;
use crate::metadata::{ArgInfo, ArgKind, Scalar};

/// Parses a list of parameters such as `src: *const f32, n: u32, tile: *shared f32`. A pointer to `shared` or
/// `local` memory is an offset in dynamic LDS. Any other pointer is the address of a buffer. The parameters
/// are laid out in sequence, aligned as in C.
///
/// # Errors
/// Fails if the text cannot be parsed.
pub(crate) fn parameters(text: &str) -> Result<Vec<ArgInfo>, String> {
    let mut args: Vec<ArgInfo> = Vec::new();
    for part in split(text) {
        let wrong =
            || format!("`{}` is no parameter; write `NAME: TYPE`, as in `src: *f32, n: u32`", part.trim());
        let (name, ty) = part.split_once(':').ok_or_else(wrong)?;
        let (name, ty) = (name.trim(), ty.trim());
        if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            return Err(wrong());
        }
        if args.iter().any(|arg| arg.name.as_deref() == Some(name)) {
            return Err(format!("there are two parameters `{name}`"));
        }
        let layout = Layout::parse(ty).ok_or_else(|| format!("`{ty}` is no type that kernc knows"))?;
        let end = args.last().map_or(0, |last| u64::from(last.offset + last.size));
        let number = |bytes: u64| u32::try_from(bytes).map_err(|_| format!("`{name}` is too large"));
        let kind = match layout {
            Layout::Pointer(8) => ArgKind::GlobalBuffer,
            Layout::Pointer(_) => ArgKind::DynamicShared,
            _ => ArgKind::ByValue,
        };
        let has = |wanted| ty.split(|c: char| !c.is_alphanumeric()).any(|word| word == wanted);
        args.push(ArgInfo {
            name: Some(name.to_owned()),
            offset: number(end.next_multiple_of(layout.align()))?,
            size: number(layout.size())?,
            kind,
            address_space: None,
            element: Scalar::of_type_name(ty),
            type_name: Some(ty.to_owned()),
            is_const: has("const"),
            is_restrict: has("restrict"),
            pointee_align: 16,
        });
    }
    Ok(args)
}

/// Splits a text at the commas that are not in brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut open) = (Vec::new(), 0, 0u32);
    for (at, c) in text.char_indices() {
        match c {
            '[' | '{' | '(' => open += 1,
            ']' | '}' | ')' => open = open.saturating_sub(1),
            ',' if open == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = &text[start..];
    if !last.trim().is_empty() {
        parts.push(last);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_c() {
        let args =
            parameters("src: *const f32, k: u8, v: f32x4, s: { a: u8, b: f64 }, l: *shared u32,").unwrap();
        let places: Vec<_> = args.iter().map(|arg| (arg.offset, arg.size, arg.kind.clone())).collect();
        let expected = [
            (0, 8, ArgKind::GlobalBuffer),
            (8, 1, ArgKind::ByValue),
            (16, 16, ArgKind::ByValue),
            (32, 16, ArgKind::ByValue),
            (48, 4, ArgKind::DynamicShared),
        ];
        assert_eq!(places, expected);
        assert!(args[0].is_const && args[0].element == Some(Scalar::F32));
    }

    #[test]
    fn what_is_no_list_of_parameters() {
        for text in ["f32", "a: what", "a: f32, a: f32", ": f32", "a b: f32", "a: f32,, b: f32"] {
            assert!(parameters(text).is_err(), "{text}");
        }
        assert_eq!(parameters(""), Ok(Vec::new()));
    }
}
