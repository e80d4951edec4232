//! What a breakpoint says instead of stopping: text with expressions in braces.

use crate::expression::Evaluator;
use crate::program::Program;
use sim::Stopped;

/// The text for a lane; for the first active one where none is given.
pub(crate) fn text(log: &str, at: &Stopped<'_>, program: &Program, lane: Option<u32>) -> String {
    let lane = lane.unwrap_or(at.exec().trailing_zeros() & 63);
    let info = program.info.as_ref();
    fill(log, |expression| match Evaluator::new(at, program, lane, 0).value(expression) {
        Ok(value) => value.text(info),
        Err(problem) => problem,
    })
}

/// What stands in braces is replaced; what is not closed is text.
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
