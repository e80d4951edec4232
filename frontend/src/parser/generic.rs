//! Parses the parameters of generic functions and the generic arguments of calls.

use super::{Failed, Parsed, Parser};
use crate::ast::{ExprKind, Generic, GenericArg, List, TypeKind};
use crate::diag::Diagnostic;
use crate::lexer::Tok;
use smallvec::SmallVec;

impl Parser<'_, '_> {
    /// Parses `<T: Number, const N: u32>`.
    pub(super) fn generics(&mut self) -> Parsed<List> {
        self.bump();
        let start = self.ast.generics.len() as u32;
        while self.peek() != Tok::Gt {
            let generic = if self.eat(Tok::Const) {
                let name = self.name("a constant's name")?;
                self.expect(Tok::Colon, "`:` and a type")?;
                Generic { name, bound: None, ty: Some(self.ty()?) }
            } else {
                let name = self.name("a type's name")?;
                let bound = if self.eat(Tok::Colon) { Some(self.name("a bound")?) } else { None };
                Generic { name, bound, ty: None }
            };
            self.ast.generics.push(generic);
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.expect(Tok::Gt, "`>` or `,`")?;
        Ok(List { start, len: self.ast.generics.len() as u32 - start })
    }

    /// Parses `<T, 4>` after `::`.
    pub(super) fn generic_args(&mut self) -> Parsed<List> {
        self.expect(Tok::Lt, "`<`")?;
        let mut args = SmallVec::<[GenericArg; 4]>::new();
        while self.peek() != Tok::Gt {
            let before = self.at;
            args.push(self.generic_arg()?);
            if !matches!(self.peek(), Tok::Comma | Tok::Gt) {
                return Err(self.no_braces(before));
            }
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.expect(Tok::Gt, "`>` or `,`")?;
        let start = self.ast.generic_args.len() as u32;
        self.ast.generic_args.extend(args);
        Ok(List { start, len: self.ast.generic_args.len() as u32 - start })
    }

    /// Reports a generic argument that is an expression without braces. Only a literal or a name needs no
    /// braces. The argument begins at token number `start`.
    #[cold]
    fn no_braces(&mut self, start: usize) -> Failed {
        let is_end = |&n: &usize| {
            matches!(self.kinds[n], Tok::Comma | Tok::Semi | Tok::LBrace | Tok::Eof)
                || self.kinds[n] == Tok::Gt && self.kinds[n + 1] == Tok::LParen
        };
        let end = (self.at..self.kinds.len())
            .find(is_end)
            .filter(|&n| matches!(self.kinds[n], Tok::Comma | Tok::Gt));
        let Some(end) = end else { return self.unexpected("`>` or `,`") };
        let span = self.spans[start].to(self.spans[end - 1]);
        let text = span.text(self.source);
        self.sink.push(
            Diagnostic::error("E0005", "a constant that is no literal and no name stands in braces")
                .label(span, "without braces")
                .help(format!("write `{{ {text} }}`"))
                .suggest(span, format!("{{ {text} }}")),
        );
        Failed
    }

    fn generic_arg(&mut self) -> Parsed<GenericArg> {
        let span = self.span();
        match self.peek() {
            Tok::Number | Tok::Minus | Tok::True | Tok::False | Tok::LBrace => {
                let value = self.nested(|p| p.unary())?;
                Ok(GenericArg { ty: None, value: Some(value), span: self.ast.span(value) })
            }
            Tok::LParen if matches!(self.peek_at(1), Tok::Number | Tok::Minus) => {
                let start = self.at;
                Err(self.no_braces(start))
            }
            _ => {
                let ty = self.ty()?;
                let value = match self.ast.type_node(ty).kind {
                    TypeKind::Name(sym) => Some(self.make(ExprKind::Name(sym), span, 0)?),
                    _ => None,
                };
                Ok(GenericArg { ty: Some(ty), value, span: span.to(self.last_span()) })
            }
        }
    }
}
