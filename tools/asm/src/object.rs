//! Turns the assembled source into sections, symbols and relocations, which [`objwriter`] writes.

use crate::Settings;
use crate::assembler::Assembler;
use crate::expr::{Node, Reduced, Term, Value};
use crate::resolve::{Resolved, Target};
use crate::symbol::{Definition, Symbol, SymbolId};
use isa::{CodeObjectVersion, Feature, Setting};
use objwriter::elf::{
    self, Group, Identity, Object, Place, Relocation, STB_GLOBAL, STB_LOCAL, STB_WEAK, STT_COMMON, Section,
};
use std::borrow::Cow;

impl Assembler {
    /// Returns the object, for either kind of file.
    pub(crate) fn object<'a>(&'a self, resolved: &Resolved) -> Result<Object<'a>, String> {
        let mut object = Object { identity: self.settings.identity(), ..Object::default() };
        let mut numbers = vec![u32::MAX; self.symbols.iter().count()];
        for (id, symbol) in self.symbols.iter() {
            let is_allotted = matches!(symbol.definition, Definition::Common { .. } | Definition::Lds { .. });
            if self.is_shown(symbol) || is_allotted {
                numbers[id.0 as usize] = object.symbols.len() as u32;
                object.symbols.push(self.object_symbol(symbol)?);
            }
        }
        let number = |id: SymbolId| numbers[id.0 as usize];
        let target = |target: Target| match target {
            Target::Symbol(id) => elf::Target::Symbol(number(id)),
            Target::Section(section) => elf::Target::Section(section),
            Target::Nothing => elf::Target::Nothing,
        };
        for &item in &self.symbols.order {
            match item {
                Ok(id) if self.is_shown(&self.symbols[id]) => {
                    object.order.push(elf::Target::Symbol(number(id)))
                }
                Err(section) if self.sections[section as usize].relocated => {
                    object.order.push(elf::Target::Section(section));
                }
                _ => {}
            }
        }
        for (section, relocations) in self.sections.iter().zip(&resolved.relocations) {
            let relocation = |from: &crate::resolve::Relocation| Relocation {
                offset: from.offset,
                target: target(from.target),
                kind: from.kind,
                addend: from.addend,
            };
            object.sections.push(Section {
                name: &section.name,
                kind: section.kind,
                flags: section.flags,
                entry_size: section.entry_size,
                align: section.align,
                data: Cow::Borrowed(&section.data),
                virtual_size: section.virtual_size,
                relocations: relocations.iter().map(relocation).collect(),
                group: section.group.map(|(signature, comdat)| {
                    let signature = number(signature);
                    let known = object.groups.iter().position(|group| group.signature == signature);
                    known.unwrap_or_else(|| {
                        object.groups.push(Group { signature, comdat });
                        object.groups.len() - 1
                    }) as u32
                }),
                linked: section.linked,
            });
        }
        for (n, group) in object.groups.iter().enumerate() {
            let signature = &mut object.symbols[group.signature as usize];
            if signature.place == Place::Undefined && signature.binding == STB_LOCAL {
                signature.place = Place::Group(n as u32);
            }
        }
        object.addrsig = resolved.addrsig.as_ref().map(|list| list.iter().map(|&to| target(to)).collect());
        Ok(object)
    }

    fn object_symbol<'a>(&'a self, symbol: &'a Symbol) -> Result<elf::Symbol<'a>, String> {
        let (place, kind) = self.symbol_place(symbol)?;
        let size = match (symbol.definition, symbol.size) {
            (Definition::Common { size, .. } | Definition::Lds { size, .. }, _) => size,
            (_, None) => {
                self.inherited_size(symbol).and_then(|size| self.known_number(size)).unwrap_or(0) as u64
            }
            (_, Some(size)) => self
                .known_number(size)
                .ok_or_else(|| format!("the size of `{}` is not known", symbol.name))?
                as u64,
        };
        let (name, visibility) = (&*symbol.name, symbol.visibility);
        Ok(elf::Symbol { name, binding: self.binding(symbol), visibility, kind, size, place })
    }

    /// Returns whether the object's symbol table contains a symbol. It does not contain labels that begin
    /// with `.L`, nor aliases of undefined symbols that nothing uses.
    fn is_shown(&self, symbol: &Symbol) -> bool {
        let is_named = || !symbol.is_temporary() && !self.is_name_of_undefined(symbol);
        symbol.registered && symbol.renamed.is_none() && (symbol.relocated || is_named())
    }

    /// Returns whether the symbol is an alias of an undefined symbol, which `.set` or `.weakref` has made.
    pub(crate) fn is_name_of_undefined(&self, symbol: &Symbol) -> bool {
        match symbol.definition {
            Definition::WeakRef(_) => true,
            Definition::Value { value, .. } => match self.reduce(value) {
                Ok(Reduced { plus: Some(Term::Symbol(id)), .. }) => !self.symbols[id].is_defined(),
                _ => false,
            },
            _ => false,
        }
    }

    /// Returns the binding of a symbol. Unless a directive says otherwise, defined symbols are local and
    /// undefined symbols are global. An undefined symbol that is only used through `.weakref` is weak.
    fn binding(&self, symbol: &Symbol) -> u8 {
        symbol.binding.unwrap_or(match symbol.is_defined() && !self.is_name_of_undefined(symbol) {
            true => STB_LOCAL,
            false if symbol.only_weakly => STB_WEAK,
            false if symbol.is_signature && !symbol.relocated => STB_LOCAL,
            false => STB_GLOBAL,
        })
    }

    /// Returns the size that an alias inherits: that of the next symbol in the chain of aliases that has a
    /// size. If an alias stands for a position relative to a symbol, the chain continues with this symbol.
    fn inherited_size(&self, symbol: &Symbol) -> Option<Value> {
        let mut symbol = symbol;
        for _ in 0..1000 {
            let Definition::Value { value: value @ Value::Expr(id), .. } = symbol.definition else { break };
            let next = match (self.nodes[id.index()], self.reduce(value)) {
                (Node::Symbol(next, _), _) => next,
                (_, Ok(Reduced { plus: Some(Term::Symbol(base)), minus: None, .. })) => base,
                _ => break,
            };
            symbol = &self.symbols[next];
            if symbol.size.is_some() {
                break;
            }
        }
        symbol.size
    }

    /// Returns what a symbol stands for, and its type.
    fn symbol_place(&self, symbol: &Symbol) -> Result<(Place, u8), String> {
        let kind = symbol.kind;
        Ok(match symbol.definition {
            Definition::None | Definition::WeakRef(_) => (Place::Undefined, kind),
            Definition::Label { section, offset } => (Place::Section(section, offset), kind),
            Definition::Common { align, .. } => {
                (Place::Common(align), if kind == 0 { STT_COMMON } else { kind })
            }
            Definition::Lds { align, .. } => (Place::Lds(align), kind),
            Definition::Value { value: Value::Abs(number), .. } => (Place::Absolute(number as u64), kind),
            Definition::Value { value, .. } => match self.reduce(value)? {
                Reduced { plus: None, minus: None, constant, .. } => (Place::Absolute(constant as u64), kind),
                Reduced { plus: Some(term), minus: None, constant, .. } => match self.locate(term) {
                    Some((section, offset)) => {
                        let kind = match term {
                            Term::Symbol(other) if kind == 0 => self.symbols[other].kind,
                            _ => kind,
                        };
                        (Place::Section(section, offset.wrapping_add(constant as u64)), kind)
                    }
                    None if self.is_name_of_undefined(symbol) => (Place::Undefined, kind),
                    None => return Err(format!("`{}` is set to something that is not defined", symbol.name)),
                },
                _ => return Err(format!("`{}` is set to a distance that is not known", symbol.name)),
            },
        })
    }
}

impl Settings {
    /// Returns the identity for the file header.
    fn identity(&self) -> Identity {
        const VERSIONS: [CodeObjectVersion; 5] = [
            CodeObjectVersion::V2,
            CodeObjectVersion::V3,
            CodeObjectVersion::V4,
            CodeObjectVersion::V5,
            CodeObjectVersion::V6,
        ];
        let version = VERSIONS[usize::from(self.version().clamp(2, 6)) - 2];
        let setting = |feature: Feature, value: Option<bool>| match self.target {
            Some(target) if target.has(feature) => match self.feature(value) {
                None => Setting::Any,
                Some(false) => Setting::Off,
                Some(true) => Setting::On,
            },
            _ => Setting::Unsupported,
        };
        let (xnack, sramecc) = (setting(Feature::XNACK, self.xnack), setting(Feature::SRAMECC, self.sramecc));
        match (self.header, self.target) {
            (Some(header), _) => header,
            (_, Some(target)) => Identity::new(self.os(), target, xnack, sramecc, version),
            _ => Identity::of_version(self.os(), version),
        }
    }
}
