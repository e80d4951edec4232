//! Conditions on the number of the arrival at a breakpoint. They select the arrivals at which a wave stops:
//! `3`, `== 3`, `>= 3`, `> 3`, `% 3`.

use std::str::FromStr;

/// Condition on the number of an arrival, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hits {
    /// Only the arrival with this number.
    Is(u64),
    /// The arrival with this number and all later arrivals.
    From(u64),
    /// Each arrival whose number is a multiple of this one.
    Every(u64),
}

impl Hits {
    /// Returns whether the arrival with this number is selected.
    pub fn has(self, number: u64) -> bool {
        match self {
            Hits::Is(one) => number == one,
            Hits::From(first) => number >= first,
            Hits::Every(step) => number.is_multiple_of(step),
        }
    }
}

impl FromStr for Hits {
    type Err = String;

    fn from_str(text: &str) -> Result<Hits, String> {
        let text = text.trim();
        let digits = text.trim_start_matches(['=', '>', '%']);
        let number = digits.trim().parse::<u64>().ok().filter(|&number| number > 0);
        match (&text[..text.len() - digits.len()], number) {
            ("" | "=" | "==", Some(number)) => Ok(Hits::Is(number)),
            (">=", Some(number)) => Ok(Hits::From(number)),
            (">", Some(number)) => Ok(Hits::From(number.saturating_add(1))),
            ("%", Some(number)) => Ok(Hits::Every(number)),
            _ => Err(format!("`{text}` counts nothing: `3`, `>= 3`, `> 3` or `% 3` does")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        let counted = |text: &str| {
            let hits: Hits = text.parse().expect("a count");
            (1..8).filter(|&number| hits.has(number)).collect::<Vec<_>>()
        };
        assert_eq!(counted("3"), [3]);
        assert_eq!(counted(" == 3"), [3]);
        assert_eq!(counted(">=5"), [5, 6, 7]);
        assert_eq!(counted("> 5 "), [6, 7]);
        assert_eq!(counted("%3"), [3, 6]);
        for wrong in ["", "0", "%0", "x", "<3", "=>3", "3 3", "\u{ff13}"] {
            assert!(wrong.parse::<Hits>().is_err(), "{wrong}");
        }
    }
}
