//! Names that may have been meant.

/// Returns ": did you mean `count`?" for the name that is most like one that is unknown; nothing if none is like it.
pub(crate) fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let limit = match name.chars().count() {
        0 | 1 => return String::new(),
        2..=5 => 1,
        6..=8 => 2,
        _ => 3,
    };
    let distances = known.map(|other| (distance(name, other), other));
    let nearest = distances.filter(|(distance, other)| *distance <= limit && *other != name).min();
    nearest.map_or(String::new(), |(_, other)| format!(": did you mean `{other}`?"))
}

/// Letters to put in, take out, replace or exchange with their neighbours, to get from one name to another.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    // Names of compilers can be long; what is so much longer is not near.
    if from.len().abs_diff(to.len()) > 3 {
        return usize::MAX;
    }
    let mut rows = vec![vec![0; to.len() + 1]; from.len() + 1];
    for i in 0..=from.len() {
        for j in 0..=to.len() {
            rows[i][j] = match (i, j) {
                (0, other) | (other, 0) => other,
                _ => {
                    let replaced = rows[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
                    let least = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                    match i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                        true => least.min(rows[i - 2][j - 2] + 1),
                        false => least,
                    }
                }
            };
        }
    }
    rows[from.len()][to.len()]
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
