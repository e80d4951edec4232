//! Parses types.

use super::{Parsed, Parser};
use crate::ast::{List, TypeId, TypeKind};
use crate::diag::Diagnostic;
use crate::lexer::Tok;
use ir::Space;
use smallvec::SmallVec;

impl Parser<'_, '_> {
    pub(super) fn ty(&mut self) -> Parsed<TypeId> {
        self.nested(|p| p.ty_inner())
    }

    fn ty_inner(&mut self) -> Parsed<TypeId> {
        let start = self.span();
        match self.peek() {
            Tok::Ident => {
                let name = self.bump_name();
                let access = ir::Access::from_name(self.ast.name(name.sym));
                if let (Some(access), Tok::Ident) = (access, self.peek()) {
                    let of = self.bump_name();
                    return Ok(self.make_type(TypeKind::Opaque(access, of.sym), name.span.to(of.span)));
                }
                Ok(self.make_type(TypeKind::Name(name.sym), name.span))
            }
            Tok::Star => self.pointer_type(),
            Tok::LBracket => {
                self.bump();
                let element = self.ty()?;
                let kind = if self.eat(Tok::Semi) {
                    let length = self.expr()?;
                    if self.height(length) > 100 {
                        return Err(self.too_deep());
                    }
                    TypeKind::Array(element, length)
                } else {
                    TypeKind::Unsized(element)
                };
                let end = self.close(Tok::RBracket, "`]`", start)?;
                Ok(self.make_type(kind, start.to(end)))
            }
            Tok::LParen => self.tuple_type(),
            Tok::Fn => self.function_type(),
            _ => Err(self.unexpected("a type")),
        }
    }

    /// Parses `fn(A, B) -> R`.
    fn function_type(&mut self) -> Parsed<TypeId> {
        let start = self.bump();
        let open = self.expect(Tok::LParen, "`(` and the types of the parameters")?;
        let mut params = SmallVec::<[TypeId; 4]>::new();
        while self.peek() != Tok::RParen {
            if self.peek() == Tok::Ident && self.peek_at(1) == Tok::Colon {
                let help = "the parameters of a function type have no names: `fn(u32) -> f32`".to_string();
                return Err(self.unexpected_with("a type", Some(help)));
            }
            params.push(self.ty()?);
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.close(Tok::RParen, "`)` or `,`", open)?;
        let list = List { start: self.ast.types_pool.len() as u32, len: params.len() as u32 };
        self.ast.types_pool.extend(params);
        let result = if self.eat(Tok::Arrow) { Some(self.ty()?) } else { None };
        let span = start.to(self.last_span());
        Ok(self.make_type(TypeKind::Function { params: list, result }, span))
    }

    /// Parses `(A, B)`, `(A,)`, `()`, or a type in parentheses.
    fn tuple_type(&mut self) -> Parsed<TypeId> {
        let open = self.bump();
        let (mut parts, mut comma) = (SmallVec::<[TypeId; 4]>::new(), false);
        while self.peek() != Tok::RParen {
            parts.push(self.ty()?);
            comma = self.eat(Tok::Comma);
            if !comma {
                break;
            }
        }
        let end = self.close(Tok::RParen, "`)` or `,`", open)?;
        if let (&[one], false) = (parts.as_slice(), comma) {
            return Ok(one);
        }
        let list = List { start: self.ast.types_pool.len() as u32, len: parts.len() as u32 };
        self.ast.types_pool.extend(parts);
        Ok(self.make_type(TypeKind::Tuple(list), open.to(end)))
    }

    fn pointer_type(&mut self) -> Parsed<TypeId> {
        let start = self.bump();
        let (mut space, mut is_const, mut is_volatile, mut is_restrict) = (None, false, false, false);
        loop {
            let found = match self.peek() {
                Tok::Global => Some(Space::Global),
                Tok::Shared => Some(Space::Shared),
                Tok::Constant => Some(Space::Constant),
                Tok::Private => Some(Space::Private),
                Tok::Const => {
                    is_const = true;
                    None
                }
                Tok::Volatile => {
                    is_volatile = true;
                    None
                }
                Tok::Restrict => {
                    is_restrict = true;
                    None
                }
                _ => break,
            };
            if found.is_some() && space.is_some() {
                self.sink.push(
                    Diagnostic::error("E0005", "a pointer has one address space")
                        .label(self.span(), "second address space"),
                );
            }
            space = space.or(found);
            self.bump();
        }
        let to = self.ty()?;
        let kind = TypeKind::Pointer { space, is_const, is_volatile, is_restrict, to };
        let span = start.to(self.last_span());
        Ok(self.make_type(kind, span))
    }
}
