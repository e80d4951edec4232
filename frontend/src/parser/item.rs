//! Parses items: kernels, functions, structs, constants, module variables.

use super::stmt::TakenApart;
use super::{Parsed, Parser};
use crate::ast::{Attr, BlockId, ExprId, GenericFn, Item, ItemKind, List, Name, Param, PatKind, Sym};
use crate::diag::Diagnostic;
use crate::lexer::{Span, Tok};
use crate::warn;
use ir::Space;

/// Result of parsing an item: whether a false `#[cfg(…)]` condition excludes the item from the program.
struct LeftOut(bool);

impl Parser<'_, '_> {
    pub(super) fn items(&mut self) {
        let (mut has_failed, mut last) = (false, self.at);
        while self.peek() != Tok::Eof {
            let before = self.at;
            let (items, generic_fns) = (self.ast.items.len(), self.ast.generic_fns.len());
            let (start, quiet) = (self.span(), self.ast.quiet.len());
            (self.item_column, self.item_told) = (self.before(start).len(), self.sink.count());
            let item = self.item();
            let is_none = item.is_err() && self.at == before;
            let fails = item.is_err() || self.sink.count() > self.item_told;
            if std::mem::replace(&mut has_failed, fails) {
                // If the previous item had a syntax error, tokens that begin no item are most likely the rest
                // of it. The error "expected an item" would then only repeat the earlier error, and is
                // removed.
                self.sink.truncate_if(self.item_told, "expected an item");
            }
            let left_out = matches!(item, Ok(LeftOut(true)));
            self.end_quiet(start, quiet, left_out);
            if left_out {
                self.ast.items.truncate(items);
                self.ast.generic_fns.truncate(generic_fns);
            }
            if item.is_err() {
                self.pending_exprs.clear();
                self.pending_stmts.clear();
                self.depth = 0;
                self.item_begun = false;
                self.skip_to_item(before);
                // Text that begins no item means that a brace is missing or superfluous in the item before.
                // That item was misread, too, so it is also recorded as skipped.
                self.skipped_since(if is_none { last } else { before });
            }
            last = before;
        }
    }

    /// Skips tokens up to one that begins an item. At least one token is skipped, so that the parser cannot
    /// stay at the same place. `before` is the index of the token at which the failed item began.
    fn skip_to_item(&mut self, before: usize) {
        if self.at == before {
            self.bump();
        }
        let mut depth = 0usize;
        loop {
            match self.peek() {
                Tok::Eof | Tok::Kernel | Tok::Struct => return,
                Tok::Fn if depth == 0 => return,
                Tok::LBrace => depth += 1,
                Tok::RBrace => depth = depth.saturating_sub(1),
                // The keywords below also occur elsewhere, for example in parameter lists. They count as the
                // start of an item only if they begin a statement or a line.
                _ if depth > 0 || !self.begins_statement() && !self.on_new_line() => {}
                Tok::Extern | Tok::Const | Tok::Param | Tok::Use | Tok::Hash => return,
                Tok::Global | Tok::Shared | Tok::Constant if self.peek_at(1) == Tok::Static => return,
                _ => {}
            }
            self.bump();
        }
    }

    fn item(&mut self) -> Parsed<LeftOut> {
        let attrs = self.attrs()?;
        let left_out = LeftOut(std::mem::take(&mut self.left_out));
        self.item_with(attrs)?;
        Ok(left_out)
    }

    fn item_with(&mut self, attrs: List) -> Parsed<()> {
        match self.peek() {
            Tok::Kernel => self.function(true, false, attrs),
            Tok::Fn => self.function(false, false, attrs),
            Tok::Struct => self.structure(attrs),
            Tok::Const if self.peek_at(1) == Tok::Fn => self.const_function(attrs),
            Tok::Const => self.constant(false, attrs),
            Tok::Param => self.constant(true, attrs),
            Tok::Global => self.variable(Space::Global, false, attrs),
            Tok::Shared => self.variable(Space::Shared, false, attrs),
            Tok::Constant => self.variable(Space::Constant, false, attrs),
            Tok::Extern => self.external(attrs),
            Tok::Use => self.use_item(attrs),
            Tok::Ident if self.at_static_assert() => {
                let name = Name { sym: self.intern("static_assert"), span: self.span() };
                let (cond, message) = self.static_assert()?;
                self.ast.items.push(Item { kind: ItemKind::StaticAssert { cond, message }, name, attrs });
                Ok(())
            }
            Tok::Static => Err(self.unexpected_with(
                "an item",
                Some("say where it lives: `global static`, `constant static` or `shared static`".into()),
            )),
            Tok::Let => Err(self.unexpected_with(
                "an item",
                Some("outside of functions use `const` or `constant static`".into()),
            )),
            _ => Err(self.unexpected("an item (`kernel`, `fn`, `const`, `param`, `struct` or a static)")),
        }
    }

    /// Parses `use "file.k";`. The file that it names has been read already, before parsing.
    fn use_item(&mut self, attrs: List) -> Parsed<()> {
        self.bump();
        if self.peek() != Tok::Str {
            let help = "write `use \"file.k\";`".to_string();
            return Err(self.unexpected_with("the name of a file", Some(help)));
        }
        self.bump();
        self.expect(Tok::Semi, "`;`")?;
        if let Some(attr) = self.ast.attrs[attrs.range()].first() {
            self.sink.push(
                Diagnostic::error("E0081", "`use` has no attributes").label(attr.span, "not allowed here"),
            );
        }
        Ok(())
    }

    pub(super) fn at_static_assert(&self) -> bool {
        self.peek_at(1) == Tok::LParen && self.span().text(self.source) == "static_assert"
    }

    /// Parses `static_assert(cond, "message");`.
    pub(super) fn static_assert(&mut self) -> Parsed<(ExprId, Option<Sym>)> {
        self.bump();
        let open = self.bump();
        let cond = self.expr()?;
        let mut message = None;
        if self.eat(Tok::Comma) && self.peek() == Tok::Str {
            let text = self.bump().text(self.source);
            message = Some(self.intern(&text[1..text.len() - 1]));
            self.eat(Tok::Comma);
        }
        self.close(Tok::RParen, "`)` or a message in quotes", open)?;
        self.expect(Tok::Semi, "`;`")?;
        Ok((cond, message))
    }

    /// Parses attributes. The conditions of `#[cfg(…)]` attributes are evaluated immediately.
    pub(super) fn attrs(&mut self) -> Parsed<List> {
        self.left_out = false;
        let start = self.ast.attrs.len() as u32;
        while self.peek() == Tok::Hash {
            let hash = self.bump();
            let open = self.expect(Tok::LBracket, "`[` of an attribute")?;
            let name = self.name("an attribute's name")?;
            if self.ast.name(name.sym) == "cfg" {
                self.left_out |= !self.cfg()?;
                self.close(Tok::RBracket, "`]`", open)?;
                continue;
            }
            if self.ast.name(name.sym) == "allow" {
                self.allow()?;
                self.close(Tok::RBracket, "`]`", open)?;
                continue;
            }
            let args = if self.peek() == Tok::LParen { self.arguments()? } else { List::default() };
            let end = self.close(Tok::RBracket, "`]`", open)?;
            self.ast.attrs.push(Attr { name, args, span: hash.to(end) });
        }
        Ok(List { start, len: self.ast.attrs.len() as u32 - start })
    }

    /// Parses the names of warnings after `allow`: `(name, …)`.
    fn allow(&mut self) -> Parsed<()> {
        let open = self.expect(Tok::LParen, "`(` and names of warnings")?;
        while self.peek() != Tok::RParen {
            let name = self.name("a warning's name")?;
            let text = self.ast.name(name.sym);
            if !warn::is_known(text) {
                let message = warn::unknown(text);
                self.sink.push(Diagnostic::error("E0095", message).label(name.span, "unknown name"));
            }
            // The range's end is 0 for now. It is set when the whole item or statement has been parsed.
            self.ast.quiet.push((Span { start: name.span.start, end: 0 }, Some(name.sym)));
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.close(Tok::RParen, "`)`", open)?;
        Ok(())
    }

    /// Sets the ends of the source ranges in which attributes of an item or statement suppress warnings: they
    /// end where the item or statement ends. The ranges are the entries of `quiet` from index `first` on.
    /// `start` is where the item or statement began. With `left_out`, a false `#[cfg(…)]` condition excludes
    /// it from the program. All warnings in it are then suppressed, too.
    pub(super) fn end_quiet(&mut self, start: Span, first: usize, left_out: bool) {
        let end = self.last_span().end;
        for (span, _) in &mut self.ast.quiet[first..] {
            if span.end == 0 {
                span.end = end;
            }
        }
        if left_out {
            self.ast.quiet.push((Span { start: start.start, end }, None));
        }
    }

    /// Parses the declaration of a function or variable that another object file defines, such as `extern fn
    /// f(x: u32) -> f32;` or `extern global static N: u32;`.
    fn external(&mut self, attrs: List) -> Parsed<()> {
        self.bump();
        match self.peek() {
            Tok::Fn => self.function(false, true, attrs),
            Tok::Global => self.variable(Space::Global, true, attrs),
            Tok::Constant => self.variable(Space::Constant, true, attrs),
            Tok::Shared => self.variable(Space::Shared, true, attrs),
            _ => {
                let help =
                    "write `extern fn f(x: u32) -> f32;` or `extern global static N: u32;`".to_string();
                Err(self.unexpected_with("`fn` or a static", Some(help)))
            }
        }
    }

    fn function(&mut self, kernel: bool, external: bool, attrs: List) -> Parsed<()> {
        let from = self.ast.extent();
        let start = self.bump();
        let name = self.name(if kernel { "a kernel's name" } else { "a function's name" })?;
        if kernel && self.peek() == Tok::Lt {
            let help =
                "a kernel is not generic: who starts it gives no types; call a generic `fn`".to_string();
            return Err(self.unexpected_with("`(`", Some(help)));
        }
        let generics = if self.peek() == Tok::Lt { Some(self.generics()?) } else { None };
        let (mut taken_apart, first_pattern) = (TakenApart::new(), self.ast.patterns.len());
        let params =
            self.params(Tok::LParen, Tok::RParen, "`)`", |p| p.parameter(kernel, &mut taken_apart))?;
        self.one_name_each(params, first_pattern, &taken_apart);
        let result = if self.eat(Tok::Arrow) { Some(self.ty()?) } else { None };
        let body = if external { self.no_body()? } else { Some(self.body(&taken_apart)?) };
        let generic = generics.map(|params| {
            self.ast.generic_spans.push(start.to(self.last_span()));
            self.ast.generic_fns.push(GenericFn { params, from, to: self.ast.extent() });
            self.ast.generic_fns.len() as u32 - 1
        });
        let kind = ItemKind::Fn { generic, kernel, params, result, body };
        self.ast.items.push(Item { kind, name, attrs });
        Ok(())
    }

    /// Reports `const fn` and parses it as a function.
    fn const_function(&mut self, attrs: List) -> Parsed<()> {
        let word = self.bump();
        let end = self.span().start;
        self.sink.push(
            Diagnostic::error("E0005", "a function is not `const`")
                .label(word, "one word too many")
                .help("no function is called at compile time; constants are computed by operators, `min` and `max`")
                .suggest(Span { start: word.start, end }, ""),
        );
        self.function(false, false, attrs)
    }

    /// Parses the `;` that takes the place of a body when another object defines the function.
    fn no_body(&mut self) -> Parsed<Option<BlockId>> {
        if self.peek() == Tok::LBrace {
            let help =
                "what has a body is no `extern fn`; `#[export] fn` is seen by other objects".to_string();
            return Err(self.unexpected_with("`;`", Some(help)));
        }
        self.expect(Tok::Semi, "`;`")?;
        Ok(None)
    }

    /// Parses `name: T, …` between delimiters.
    fn params(
        &mut self,
        open: Tok,
        close: Tok,
        close_text: &str,
        mut name: impl FnMut(&mut Self) -> Parsed<Name>,
    ) -> Parsed<List> {
        let open_span = self.expect(open, if open == Tok::LParen { "`(`" } else { "`{`" })?;
        let start = self.ast.params.len() as u32;
        while self.peek() != close {
            let mutable = open == Tok::LParen && self.peek() == Tok::Mut;
            if mutable {
                self.bump();
            }
            let name = if mutable { self.name("a parameter's name")? } else { name(self)? };
            if self.peek() != Tok::Colon {
                let help = "the type comes behind the name: `n: u32`".to_string();
                return Err(self.unexpected_with("`:` and a type", Some(help)));
            }
            self.bump();
            let ty = self.ty()?;
            self.ast.params.push(Param { name, mutable, ty });
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.close(close, close_text, open_span)?;
        Ok(List { start, len: self.ast.params.len() as u32 - start })
    }

    /// Parses the name of a parameter. A parameter may have a pattern instead, such as `(a, b)`. It then gets
    /// the text of the pattern as its name. The pattern is added to `taken_apart`, and the function's body
    /// will begin with a `let` that matches the parameter with the pattern.
    fn parameter(&mut self, kernel: bool, taken_apart: &mut TakenApart) -> Parsed<Name> {
        if !self.takes_apart() {
            return self.name("a parameter's name");
        }
        if kernel {
            let help = "a kernel's parameters have names; take them apart with `let` in its body".to_string();
            return Err(self.unexpected_with("a parameter's name", Some(help)));
        }
        let start = self.span();
        let pattern = self.let_pattern()?;
        let span = start.to(self.last_span());
        let name = Name { sym: self.intern(span.text(self.source)), span };
        taken_apart.push((pattern, name));
        Ok(name)
    }

    /// Reports a name that two parameters of a function declare, if a pattern of a parameter declares the
    /// name. The patterns of this function's parameters are the entries of `taken_apart` from index `first`
    /// on.
    fn one_name_each(&mut self, params: List, mut first: usize, taken_apart: &TakenApart) {
        if taken_apart.is_empty() {
            return;
        }
        let mut seen: Vec<Sym> = self.ast.params[params.range()].iter().map(|param| param.name.sym).collect();
        for &(pattern, _) in taken_apart {
            let end = pattern.0 as usize + 1;
            let named = seen.len();
            for at in first..end {
                let PatKind::Name { name, .. } = self.ast.patterns[at].kind else { continue };
                if seen[..named].contains(&name.sym) {
                    let text = name.span.text(self.source);
                    let message = format!("parameter `{text}` is defined twice");
                    self.sink.push(Diagnostic::error("E0024", message).label(name.span, "again"));
                }
                seen.push(name.sym);
            }
            first = end;
        }
    }

    fn structure(&mut self, attrs: List) -> Parsed<()> {
        self.bump();
        let name = self.name("a struct's name")?;
        let fields = self.params(Tok::LBrace, Tok::RBrace, "`}`", |p| p.name("a field's name"))?;
        self.ast.items.push(Item { kind: ItemKind::Struct { fields }, name, attrs });
        Ok(())
    }

    fn constant(&mut self, param: bool, attrs: List) -> Parsed<()> {
        self.bump();
        let name = self.name("a constant's name")?;
        if self.peek() != Tok::Colon {
            let help = "constants state their type: `const N: u32 = 16;`".to_string();
            return Err(self.unexpected_with("`:` and a type", Some(help)));
        }
        self.bump();
        let ty = self.ty()?;
        self.expect(Tok::Eq, "`=` and a value")?;
        let value = self.expr()?;
        self.expect(Tok::Semi, "`;`")?;
        self.ast.items.push(Item { kind: ItemKind::Const { param, ty, value }, name, attrs });
        Ok(())
    }

    fn variable(&mut self, space: Space, external: bool, attrs: List) -> Parsed<()> {
        self.bump();
        self.expect(Tok::Static, "`static`")?;
        let dynamic = self.eat(Tok::Dyn);
        let name = self.name("a variable's name")?;
        self.expect(Tok::Colon, "`:` and a type")?;
        let ty = self.ty()?;
        let value = if self.eat(Tok::Eq) { Some(self.expr()?) } else { None };
        self.expect(Tok::Semi, "`;`")?;
        self.ast.items.push(Item {
            kind: ItemKind::Static { external, space, dynamic, ty, value },
            name,
            attrs,
        });
        Ok(())
    }
}
