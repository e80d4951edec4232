//! Symbols.

use crate::expr::{ExprId, Value};
use rustc_hash::FxHashMap;

/// Number of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SymbolId(pub u32);

/// Definition of a symbol.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Definition {
    None,
    /// Position in a section.
    Label {
        section: u32,
        offset: u64,
    },
    /// Value given by `.set`; `fixed` if it was given by `.equiv`.
    Value {
        value: Value,
        fixed: bool,
    },
    /// Alias given by `.weakref` for a symbol that need not exist.
    WeakRef(ExprId),
    /// Common symbol, given by `.comm`.
    Common {
        size: u64,
        align: u64,
    },
    /// LDS symbol, given by `.amdgpu_lds`.
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
    /// `STB_*`, if a directive gives the binding.
    pub binding: Option<u8>,
    /// `STV_*`.
    pub visibility: u8,
    /// `STT_*`.
    pub kind: u8,
    pub size: Option<Value>,
    /// Whether the assembler defines the symbol (such as `.amdgcn.next_free_vgpr`). Objects do not contain
    /// such symbols.
    pub builtin: bool,
    /// Whether a statement of the source has made the symbol part of the object.
    pub registered: bool,
    /// Whether a relocation refers to the symbol.
    pub relocated: bool,
    /// Whether all such relocations go through `.weakref`.
    pub only_weakly: bool,
    /// Whether the symbol names a group of sections.
    pub is_signature: bool,
    /// The name with a version that replaces the symbol's own name in the object, from `.symver`.
    pub renamed: Option<SymbolId>,
    /// Position at which the symbol first appeared.
    pub seen_at: usize,
}

/// Symbols by name.
#[derive(Default)]
pub(crate) struct Symbols {
    list: Vec<Symbol>,
    by_name: FxHashMap<Box<str>, SymbolId>,
    /// The registered symbols (`Ok`) and the sections that need a section symbol (`Err`), in the order of the
    /// symbol table.
    pub order: Vec<Result<SymbolId, u32>>,
}

impl Symbols {
    /// Returns the symbol with that name. Adds the symbol if necessary.
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

    /// Returns the symbol with that name, if there is one.
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

    /// Returns all symbols.
    pub fn iter(&self) -> impl Iterator<Item = (SymbolId, &Symbol)> {
        self.list.iter().enumerate().map(|(n, symbol)| (SymbolId(n as u32), symbol))
    }

    /// Returns all symbols for modification.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Symbol> {
        self.list.iter_mut()
    }
}

impl Symbol {
    /// Returns whether the name begins with `.L`. Such a symbol exists only in the assembler, not in the
    /// object.
    pub fn is_temporary(&self) -> bool {
        self.name.starts_with(".L")
    }

    pub fn is_defined(&self) -> bool {
        self.definition != Definition::None
    }

    /// Returns whether the source may give the symbol another value later.
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
