//! Suggests known names for a misspelt name.

/// Returns the candidate that is most similar to `name`. Returns `None` if none is similar enough to be what
/// the user meant.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = match name.len() {
        0..=1 => return None,
        2..=5 => 1,
        6..=8 => 2,
        _ => 3,
    };
    let mut best: Option<(usize, usize, &str)> = None;
    for candidate in candidates {
        if candidate == name || candidate.len().abs_diff(name.len()) > limit {
            continue;
        }
        let distance = edit_distance(name.as_bytes(), candidate.as_bytes());
        // Of equally similar candidates, those of the same length come first, because exchanged letters keep
        // the length. Then the alphabet decides, so that messages do not depend on the order of the
        // candidates.
        let key = (distance, candidate.len().abs_diff(name.len()), candidate);
        if distance <= limit && best.is_none_or(|old| key < old) {
            best = Some(key);
        }
    }
    best.map(|(.., candidate)| candidate)
}

/// Returns the Damerau-Levenshtein distance of two words, in which an exchange of adjacent letters counts as
/// one change. The computation keeps three rows of the matrix.
fn edit_distance(a: &[u8], b: &[u8]) -> usize {
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut row = vec![0; b.len() + 1];
    for i in 0..a.len() {
        row[0] = i + 1;
        for j in 0..b.len() {
            let differs = usize::from(a[i] != b[j]);
            let mut cost = (last[j] + differs).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                cost = cost.min(before[j - 1] + 1);
            }
            row[j + 1] = cost;
        }
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    last[b.len()]
}
