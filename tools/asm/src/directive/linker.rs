//! Directives by which compilers tell linkers about symbols: their versions, whether their addresses are
//! significant, and which symbols link-time optimisation has removed.

use crate::assembler::Assembler;
use crate::cursor::{Cursor, continues_name};
use crate::error::{Result, error};
use crate::expr::{Node, Specifier, Value};
use crate::resolve::Target;
use crate::symbol::{Definition, Symbol, SymbolId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// Contents of the directives.
#[derive(Default)]
pub(crate) struct ForLinker {
    /// Whether the source contains `.addrsig`. The object then lists the symbols whose addresses are
    /// significant, that is, compared by code.
    pub addrsig: bool,
    /// Names of the symbols in `.addrsig_sym` directives. These directives do not make a symbol part of the
    /// object.
    address_matters: Vec<String>,
    versions: Vec<Version>,
    /// Symbols that `.lto_discard` removes.
    discarded: FxHashSet<Box<str>>,
    /// What `.lto_set_conditional symbol, target` has requested: if the source defines `target`, `symbol`
    /// gets the same value. The key is the target.
    waiting: FxHashMap<SymbolId, Vec<SymbolId>>,
}

/// Contents of a `.symver` directive.
struct Version {
    symbol: SymbolId,
    /// The name, a separator and the version. The separator is `@`, or `@@` for the default version. `@@@`
    /// stands for `@@` if the symbol is defined, and for `@` otherwise.
    name: String,
    keeps_old_name: bool,
    span: (u32, u32),
}

impl Assembler {
    pub(super) fn linker_directive(
        &mut self,
        cur: &mut Cursor,
        name: &str,
        span: &Range<usize>,
    ) -> Result<bool> {
        match name {
            ".symver" => self.symver(cur, span)?,
            ".addrsig" => self.for_linker.addrsig = true,
            ".addrsig_sym" => {
                let name = cur.expect_name("a symbol")?.to_string();
                self.for_linker.address_matters.push(name);
            }
            // `.no_dead_strip` only makes the symbols part of the object.
            ".no_dead_strip" => {
                cur.blank();
                if !cur.at_end() {
                    self.each_symbol(cur, |_| Ok(()))?;
                }
            }
            ".lto_discard" => self.lto_discard(cur)?,
            ".lto_set_conditional" => self.lto_set_conditional(cur)?,
            ".cg_profile" => {
                let message = "a call-graph profile cannot be written for AMD GPUs";
                return Err(error(span.clone(), message).note("LLVM's assembler cannot do it either"));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Handles `.symver symbol, name@version[, remove]`.
    fn symver(&mut self, cur: &mut Cursor, span: &Range<usize>) -> Result<()> {
        let symbol = self.symbol_in(cur)?;
        cur.expect(b',')?;
        cur.blank();
        let start = cur.pos;
        let name = versioned_name(cur)?;
        if !name.contains('@') {
            return Err(error(cur.span_from(start), format!("`{name}` has no version"))
                .label("expected `name@version`"));
        }
        let mut keeps_old_name = !name.contains("@@@");
        if cur.eat(b',') {
            cur.blank();
            let start = cur.pos;
            if cur.name() != Some("remove") {
                cur.pos = start;
                return Err(cur.unexpected("`remove`"));
            }
            keeps_old_name = false;
        }
        let span = self.span_of(span.clone());
        self.for_linker.versions.push(Version { symbol, name, keeps_old_name, span });
        Ok(())
    }

    /// Handles `.lto_discard [symbol, ...]`. Definitions of the listed symbols are ignored from here on; an
    /// earlier list is replaced.
    fn lto_discard(&mut self, cur: &mut Cursor) -> Result<()> {
        self.for_linker.discarded.clear();
        cur.blank();
        if cur.at_end() {
            return Ok(());
        }
        loop {
            let name = cur.expect_name("a symbol")?;
            self.for_linker.discarded.insert((&*name).into());
            if !cur.eat(b',') {
                return Ok(());
            }
        }
    }

    /// Returns whether a symbol is in the list of `.lto_discard`, so that its definitions and attributes are
    /// ignored.
    #[inline]
    pub(crate) fn is_discarded(&self, name: &str) -> bool {
        !self.for_linker.discarded.is_empty() && self.for_linker.discarded.contains(name)
    }

    /// Handles `.lto_set_conditional symbol, target`.
    fn lto_set_conditional(&mut self, cur: &mut Cursor) -> Result<()> {
        let (symbol, span, target) = self.symbol_and_target(cur)?;
        if self.symbols[symbol].is_defined() {
            let message = format!("`{}` is already defined", self.symbols[symbol].name);
            return Err(error(span, message).label("second definition"));
        }
        if !self.is_discarded(&self.symbols[symbol].name) {
            self.for_linker.waiting.entry(target).or_default().push(symbol);
            if self.symbols[target].registered {
                self.define_conditional(target);
            }
        }
        Ok(())
    }

    /// Defines the symbols that `.lto_set_conditional` makes equal to `target`, which the source has just
    /// defined.
    #[inline]
    pub(crate) fn define_conditional(&mut self, target: SymbolId) {
        if !self.for_linker.waiting.is_empty() {
            self.define_waiting(target);
        }
    }

    fn define_waiting(&mut self, target: SymbolId) {
        let mut next = Vec::new();
        self.take_waiting(target, &mut next);
        while let Some((symbol, target)) = next.pop() {
            if !self.symbols[symbol].is_defined() {
                let value = self.symbol_node(target, Specifier::None);
                self.symbols[symbol].definition = Definition::Value { value, fixed: false };
                self.symbols.register(symbol);
                self.take_waiting(symbol, &mut next);
            }
        }
    }

    /// Pushes on a stack the symbols that get the value of `target` (see `waiting`). The symbol whose
    /// directive came first is on top afterwards.
    fn take_waiting(&mut self, target: SymbolId, stack: &mut Vec<(SymbolId, SymbolId)>) {
        let waiting = self.for_linker.waiting.remove(&target).unwrap_or_default();
        stack.extend(waiting.into_iter().rev().map(|symbol| (symbol, target)));
    }

    /// Creates the names that `.symver` directives request.
    pub(crate) fn bind_versions(&mut self) {
        for version in std::mem::take(&mut self.for_linker.versions) {
            if let Err(message) = self.bind_version(&version) {
                let span = version.span.0 as usize..version.span.1 as usize;
                self.push_diagnostic(span, message, String::new(), Vec::new());
            }
        }
    }

    fn bind_version(&mut self, version: &Version) -> std::result::Result<(), String> {
        let old = self.symbols[version.symbol].clone();
        let is_defined = old.is_defined() && !self.is_name_of_undefined(&old);
        let name = match is_defined {
            true => version.name.replacen("@@@", "@@", 1),
            false => version.name.replacen("@@@", "@", 1),
        };
        if matches!(old.definition, Definition::Common { .. } | Definition::Lds { .. }) {
            return Err(format!("`{}` has no place yet, so it can have no version", old.name));
        }
        if !is_defined && name.contains("@@") {
            return Err(format!("`{name}` is a default version, but `{}` is not defined", old.name));
        }
        let id = self.symbols.get_or_add(&name, old.seen_at);
        let new = &self.symbols[id];
        if new.is_defined() && !self.is_name_of_undefined(new) && !self.is_name_of(new, version.symbol) {
            return Err(format!("`{name}` is already defined"));
        }
        if old.renamed.is_some_and(|other| other != id) && !(is_defined && version.keeps_old_name) {
            return Err(format!("`{}` has several versions, but is not defined", old.name));
        }
        let value = self.symbol_node(version.symbol, Specifier::None);
        let symbol = &mut self.symbols[id];
        symbol.definition = Definition::Value { value, fixed: true };
        (symbol.binding, symbol.visibility, symbol.kind) = (old.binding, old.visibility, old.kind);
        if !is_defined {
            symbol.size = old.size;
        }
        self.symbols.register(id);
        if !is_defined || !version.keeps_old_name {
            self.symbols[version.symbol].renamed = Some(id);
        }
        Ok(())
    }

    /// Returns whether one symbol is an alias of the other.
    fn is_name_of(&self, symbol: &Symbol, other: SymbolId) -> bool {
        match symbol.definition {
            Definition::Value { value: Value::Expr(id), .. } => {
                matches!(self.nodes[id.index()], Node::Symbol(old, _) if old == other)
            }
            _ => false,
        }
    }

    /// Returns the symbols whose addresses are significant, if the object lists them. A private label is
    /// represented by its section.
    pub(crate) fn addrsig(&mut self) -> Option<Vec<Target>> {
        let mut targets = Vec::new();
        for name in std::mem::take(&mut self.for_linker.address_matters) {
            targets.extend(self.address_of(&name));
        }
        self.for_linker.addrsig.then_some(targets)
    }

    /// Returns how the object's list of significant addresses refers to a name: by the symbol, or by its
    /// section if the object does not contain the symbol. Returns `None` if the object contains neither.
    fn address_of(&mut self, name: &str) -> Option<Target> {
        let Some(id) = self.symbols.find(name) else {
            let section = self.section_names.get(name).copied()?;
            return Some(self.address_of_section(section));
        };
        let id = self.symbols[id].renamed.unwrap_or(id);
        let symbol = &mut self.symbols[id];
        match symbol.definition {
            Definition::WeakRef(_) => None,
            Definition::Label { section, .. } if symbol.is_temporary() || symbol.builtin => {
                Some(self.address_of_section(section))
            }
            _ if symbol.registered => {
                (symbol.relocated, symbol.only_weakly) = (true, false);
                Some(Target::Symbol(id))
            }
            _ => None,
        }
    }

    fn address_of_section(&mut self, section: u32) -> Target {
        self.sections[section as usize].relocated = true;
        Target::Section(section)
    }
}

/// Reads a name that contains `@`, or a name in quotes.
fn versioned_name(cur: &mut Cursor) -> Result<String> {
    let start = cur.pos;
    let name = cur.expect_name("a name with a version")?;
    if cur.text.as_bytes().get(start) == Some(&b'"') {
        return Ok(name.to_string());
    }
    while cur.peek() == b'@' || continues_name(cur.peek()) {
        cur.pos += 1;
    }
    Ok(cur.text.get(start..cur.pos).unwrap_or_default().to_owned())
}
