//! Suggestions for misspelt names.

use isa::spelling::nearest;

/// Returns the text ": did you mean `count`?" with the known name that is most similar to an unknown name.
/// Returns an empty string if no known name is similar.
pub(crate) fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(name, known).map_or(String::new(), |other| format!(": did you mean `{other}`?"))
}

#[cfg(test)]
mod tests {
    use super::hint;

    #[test]
    fn what_is_near() {
        let known = ["count", "index", "i", "total_sum"];
        let hint = |name| hint(name, known.into_iter());
        assert_eq!(hint("coutn"), ": did you mean `count`?");
        assert_eq!(hint("indx"), ": did you mean `index`?");
        assert_eq!(hint("totl_smu"), ": did you mean `total_sum`?");
        for far in ["j", "", "zzz", "count", "weather", "\u{e9}\u{e9}\u{e9}"] {
            assert_eq!(hint(far), "", "{far}");
        }
    }
}
