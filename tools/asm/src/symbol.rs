//! Symbols.

use crate::expr::{ExprId, Value};
use rustc_hash::FxHashMap;

/// A symbol's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SymbolId(pub u32);

/// What a symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Definition {
    None,
    /// A place in a section.
    Label {
        section: u32,
        offset: u64,
    },
    /// `.set`; `fixed` after `.equiv`.
    Value {
        value: Value,
        fixed: bool,
    },
    /// `.weakref`: another name of a symbol, which need not exist.
    WeakRef(ExprId),
    /// `.comm`.
    Common {
        size: u64,
        align: u64,
    },
    /// `.amdgpu_lds`.
    Lds {
        size: u64,
        align: u64,
    },
}

/// A symbol.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub name: Box<str>,
    pub definition: Definition,
    /// `STB_*`, if a directive said so.
    pub binding: Option<u8>,
    /// `STV_*`.
    pub visibility: u8,
    /// `STT_*`.
    pub kind: u8,
    pub size: Option<Value>,
    /// Whether it is one of the assembler's own (`.amdgcn.next_free_vgpr`), which objects do not show.
    pub builtin: bool,
    /// Whether something in the source makes it part of the object.
    pub registered: bool,
    /// Whether a relocation refers to it.
    pub relocated: bool,
    /// Whether all relocations that do go through `.weakref`.
    pub only_weakly: bool,
    /// Whether a group of sections is known by it.
    pub is_signature: bool,
    /// The name with a version that replaces its own (`.symver`).
    pub renamed: Option<SymbolId>,
    /// Where it was first seen.
    pub seen_at: usize,
}

/// Symbols by name.
#[derive(Default)]
pub(crate) struct Symbols {
    list: Vec<Symbol>,
    by_name: FxHashMap<Box<str>, SymbolId>,
    /// Registered symbols and section symbols (`Err`: a section), in order.
    pub order: Vec<Result<SymbolId, u32>>,
}

impl Symbols {
    /// The symbol of that name, made if it is new.
    pub fn get_or_add(&mut self, name: &str, seen_at: usize) -> SymbolId {
        if let Some(&id) = self.by_name.get(name) {
            return id;
        }
        let id = SymbolId(self.list.len() as u32);
        self.list.push(Symbol {
            name: name.into(),
            definition: Definition::None,
            binding: None,
            visibility: 0,
            kind: 0,
            size: None,
            builtin: false,
            registered: false,
            relocated: false,
            only_weakly: false,
            is_signature: false,
            renamed: None,
            seen_at,
        });
        self.by_name.insert(name.into(), id);
        id
    }

    /// The symbol of that name, if there is one.
    pub fn find(&self, name: &str) -> Option<SymbolId> {
        self.by_name.get(name).copied()
    }

    /// Makes the symbol part of the object.
    pub fn register(&mut self, id: SymbolId) {
        let symbol = &mut self.list[id.0 as usize];
        if !symbol.registered && !symbol.builtin {
            symbol.registered = true;
            self.order.push(Ok(id));
        }
    }

    /// All symbols.
    pub fn iter(&self) -> impl Iterator<Item = (SymbolId, &Symbol)> {
        self.list.iter().enumerate().map(|(n, symbol)| (SymbolId(n as u32), symbol))
    }

    /// All symbols, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Symbol> {
        self.list.iter_mut()
    }
}

impl Symbol {
    /// `.L`: private to the assembler.
    pub fn is_temporary(&self) -> bool {
        self.name.starts_with(".L")
    }

    pub fn is_defined(&self) -> bool {
        self.definition != Definition::None
    }

    /// Whether another value may replace what it stands for.
    pub fn is_variable(&self) -> bool {
        matches!(self.definition, Definition::Value { fixed: false, .. } | Definition::WeakRef(_))
    }
}

impl std::ops::Index<SymbolId> for Symbols {
    type Output = Symbol;

    fn index(&self, id: SymbolId) -> &Symbol {
        &self.list[id.0 as usize]
    }
}

impl std::ops::IndexMut<SymbolId> for Symbols {
    fn index_mut(&mut self, id: SymbolId) -> &mut Symbol {
        &mut self.list[id.0 as usize]
    }
}
