//! Evaluates the conditions of `#[cfg(…)]`, which ask about the target processor, during parsing. An item or
//! statement whose condition is false is parsed, so that its syntax is checked, but is not added to the
//! program.

use super::{Failed, Parsed, Parser};
use crate::cfg::{Question, evaluate_question};
use crate::diag::Diagnostic;
use crate::lexer::Tok;

impl Parser<'_, '_> {
    /// Parses `(condition)` after `cfg`.
    pub(super) fn cfg(&mut self) -> Parsed<bool> {
        let open = self.expect(Tok::LParen, "`(` and a condition")?;
        let holds = self.nested(|p| p.cfg_condition())?;
        self.close(Tok::RParen, "`)`", open)?;
        Ok(holds)
    }

    fn cfg_condition(&mut self) -> Parsed<bool> {
        let word = self.name("a condition")?;
        let question = match self.ast.name(word.sym) {
            "all" => return self.cfg_list(|all, one| all & one, true),
            "any" => return self.cfg_list(|any, one| any | one, false),
            "not" => return self.cfg().map(|holds| !holds),
            "has" => {
                let open = self.expect(Tok::LParen, "`(` and a feature")?;
                let feature = self.name("a feature")?;
                self.close(Tok::RParen, "`)`", open)?;
                return Ok(self.answer(Question::Feature, self.ast.name(feature.sym), feature.span));
            }
            "processor" => Question::Processor,
            "generation" => Question::Generation,
            text => {
                let message = format!("`{text}` is no condition of `cfg`");
                let help = "conditions are `processor = \"gfx906\"`, `generation = \"gfx9\"`, `has(dpp)`, `not(…)`, `all(…, …)`, `any(…, …)`";
                self.sink.push(Diagnostic::error("E0094", message).label(word.span, "unknown").help(help));
                return Err(Failed);
            }
        };
        self.expect(Tok::Eq, "`=` and a name in quotes")?;
        let span = self.expect(Tok::Str, "a name in quotes")?;
        let quoted = span.text(self.source);
        Ok(self.answer(question, &quoted[1..quoted.len() - 1], span))
    }

    fn cfg_list(&mut self, join: fn(bool, bool) -> bool, empty: bool) -> Parsed<bool> {
        let open = self.expect(Tok::LParen, "`(` and conditions")?;
        let mut holds = empty;
        while self.peek() != Tok::RParen {
            holds = join(holds, self.nested(|p| p.cfg_condition())?);
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.close(Tok::RParen, "`)` or `,`", open)?;
        Ok(holds)
    }

    fn answer(&mut self, question: Question, name: &str, span: crate::lexer::Span) -> bool {
        evaluate_question(self.processor, question, name, span).unwrap_or_else(|diagnostic| {
            self.sink.push(diagnostic);
            false
        })
    }
}
