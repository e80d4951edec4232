//! Log messages of breakpoints: text with expressions in braces.

use crate::expr::{Evaluator, Problem};
use crate::program::Program;
use sim::Stopped;

/// Returns a log message in which each expression is replaced by its value in a lane. If no lane is given,
/// the first active lane is used.
pub(crate) fn text(log: &str, at: &Stopped<'_>, program: &Program, lane: Option<u32>) -> String {
    let lane = lane.unwrap_or(at.exec().trailing_zeros() & 63);
    let evaluator = Evaluator::new(at, program, lane, 0);
    fill(log, |expression| {
        let value = evaluator.value(expression);
        value.map_or_else(|problem| problem, |value| evaluator.text(&value, None))
    })
}

/// Checks that the expressions of a log message can be evaluated at the evaluator's address.
pub(crate) fn check(log: &str, evaluator: &Evaluator<'_>) -> Result<(), Problem> {
    let mut wrong = None;
    fill(log, |expression| {
        let problem = evaluator.value(expression).err();
        wrong = wrong.take().or(problem.map(|why| format!("`{{{expression}}}`: {why}")));
        String::new()
    });
    wrong.map_or(Ok(()), Err)
}

/// Replaces each expression in braces by its value. Text after a brace that is never closed stays as it is.
fn fill(log: &str, mut value: impl FnMut(&str) -> String) -> String {
    let mut text = String::new();
    let mut rest = log;
    while let Some((before, (inside, behind))) =
        rest.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    {
        text += before;
        text += &value(inside);
        rest = behind;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces() {
        let filled = |log| fill(log, |inside| format!("<{inside}>"));
        assert_eq!(filled("i is {i}, {$v0}{}"), "i is <i>, <$v0><>");
        assert_eq!(filled("open { there"), "open { there");
        assert_eq!(filled("}{a}{"), "}<a>{");
        assert_eq!(filled(""), "");
    }
}
