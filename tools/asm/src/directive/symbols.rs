//! Directives about symbols.

use crate::assembler::Assembler;
use crate::cursor::Cursor;
use crate::error::{Result, error};
use crate::expr::{Node, Specifier, Value};
use crate::symbol::{Definition, Symbol, SymbolId};
use objwriter::elf::{self, *};
use std::ops::Range;

pub(crate) use objwriter::elf as sym;

/// In a GNU extension of ELF, 10 is the number of a symbol type. The same number is also used for a symbol
/// binding of this extension.
const STT_GNU_IFUNC: u8 = 10;
const STB_GNU_UNIQUE: u8 = 10;
const UNIQUE: &str = "gnu_unique_object";

const KINDS: [(&str, u8); 8] = [
    ("function", STT_FUNC),
    ("object", STT_OBJECT),
    ("notype", 0),
    ("common", STT_OBJECT),
    ("tls_object", STT_TLS),
    ("amdgpu_hsa_kernel", STT_AMDGPU_HSA_KERNEL),
    ("gnu_indirect_function", STT_GNU_IFUNC),
    (UNIQUE, STT_OBJECT),
];

impl Assembler {
    pub(super) fn symbol_directive(
        &mut self,
        cur: &mut Cursor,
        name: &str,
        span: &Range<usize>,
    ) -> Result<bool> {
        match name {
            ".globl" | ".global" => self.each_symbol(cur, |symbol| bind(symbol, STB_GLOBAL))?,
            ".local" => self.each_symbol(cur, |symbol| bind(symbol, STB_LOCAL))?,
            ".weak" => self.each_symbol(cur, |symbol| bind(symbol, STB_WEAK))?,
            ".hidden" => self.each_symbol(cur, |symbol| show(symbol, STV_HIDDEN))?,
            ".internal" => self.each_symbol(cur, |symbol| show(symbol, STV_INTERNAL))?,
            ".protected" => self.each_symbol(cur, |symbol| show(symbol, STV_PROTECTED))?,
            ".type" => self.symbol_type(cur)?,
            ".size" => self.symbol_size(cur)?,
            ".set" | ".equ" => self.set(cur, false)?,
            ".equiv" => self.set(cur, true)?,
            ".comm" | ".common" => self.common(cur, span, false)?,
            ".lcomm" => self.common(cur, span, true)?,
            ".amdgpu_lds" => self.lds(cur, span)?,
            ".weakref" => self.weakref(cur)?,
            ".ident" => self.ident(cur, span)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(super) fn each_symbol(
        &mut self,
        cur: &mut Cursor,
        change: impl Fn(&mut Symbol) -> std::result::Result<(), String>,
    ) -> Result<()> {
        loop {
            cur.blank();
            let start = cur.pos;
            let id = self.symbol_in(cur)?;
            if !self.is_discarded(&self.symbols[id].name) {
                change(&mut self.symbols[id]).map_err(|message| error(start..cur.pos, message))?;
                self.symbols.register(id);
            }
            if !cur.eat(b',') {
                return Ok(());
            }
        }
    }

    /// Handles `.type name, @function`. Other spellings are `%function`, `STT_FUNC` and `"function"`.
    fn symbol_type(&mut self, cur: &mut Cursor) -> Result<()> {
        let id = self.symbol_in(cur)?;
        cur.eat(b',');
        cur.blank();
        let start = cur.pos;
        if matches!(cur.peek(), b'@' | b'%' | b'#') {
            cur.pos += 1;
        }
        let kind = cur.expect_name("the type of a symbol")?;
        let lower = kind.to_ascii_lowercase();
        let lower = match lower.strip_prefix("stt_") {
            Some("func") => "function",
            Some(rest) => rest,
            None => lower.as_str(),
        };
        let Some((_, value)) = KINDS.iter().find(|(name, _)| *name == lower) else {
            return Err(error(cur.span_from(start), format!("unknown type of symbol `{}`", &*kind))
                .label("expected @function, @object, @notype, ..."));
        };
        if lower == UNIQUE {
            self.symbols[id].binding = Some(STB_GNU_UNIQUE);
        }
        // A function cannot become an object again.
        self.symbols[id].kind = self.symbols[id].kind.max(*value);
        self.symbols.register(id);
        Ok(())
    }

    fn symbol_size(&mut self, cur: &mut Cursor) -> Result<()> {
        let id = self.symbol_in(cur)?;
        cur.expect(b',')?;
        let value = self.expression(cur)?;
        self.symbols[id].size = Some(value);
        Ok(())
    }

    fn set(&mut self, cur: &mut Cursor, fixed: bool) -> Result<()> {
        cur.blank();
        let start = cur.pos;
        let name = cur.expect_name("a symbol")?;
        cur.expect(b',')?;
        let value = self.expression(cur)?;
        self.set_symbol(&name, value, fixed, start..cur.pos)
    }

    /// Reads a symbol, a comma and another symbol. Also returns the span of the first symbol.
    pub(super) fn symbol_and_target(
        &mut self,
        cur: &mut Cursor,
    ) -> Result<(SymbolId, Range<usize>, SymbolId)> {
        cur.blank();
        let start = cur.pos;
        let symbol = self.symbol_in(cur)?;
        let span = start..cur.pos;
        cur.expect(b',')?;
        Ok((symbol, span, self.symbol_in(cur)?))
    }

    /// Handles `.weakref alias, target`.
    fn weakref(&mut self, cur: &mut Cursor) -> Result<()> {
        let (alias, span, target) = self.symbol_and_target(cur)?;
        self.symbols.register(target);
        let Value::Expr(value) = self.symbol_node(target, Specifier::None) else { return Ok(()) };
        let symbol = &mut self.symbols[alias];
        if symbol.is_defined() && !symbol.is_variable() {
            return Err(
                error(span, format!("`{}` is already defined", symbol.name)).label("second definition")
            );
        }
        symbol.definition = Definition::WeakRef(value);
        Ok(())
    }

    /// Handles `.comm name, size[, power of alignment]`.
    fn common(&mut self, cur: &mut Cursor, span: &Range<usize>, local: bool) -> Result<()> {
        let id = self.symbol_in(cur)?;
        cur.expect(b',')?;
        let size = self.absolute(cur)?;
        // On AMD GPUs, LLVM treats the alignment operand as an exponent of 2 instead of a number of bytes.
        let power = if cur.eat(b',') { self.absolute(cur)? } else { 0 };
        let (Ok(size), 0..=31) = (u64::try_from(size), power) else {
            return Err(error(span.clone(), "the size or the alignment is out of range")
                .note("the alignment is the exponent of a power of two: 6 for 64 bytes"));
        };
        let align = 1 << power;
        if self.symbols[id].is_defined() {
            return Err(error(span.clone(), format!("`{}` is already defined", self.symbols[id].name)));
        }
        self.reserve(align, span)?;
        self.symbols[id].kind = STT_OBJECT;
        self.symbols.register(id);
        if local || self.symbols[id].binding == Some(STB_LOCAL) {
            return self.local_common(id, size, align, span);
        }
        self.symbols[id].binding.get_or_insert(STB_GLOBAL);
        self.symbols[id].definition = Definition::Common { size, align };
        Ok(())
    }

    fn local_common(&mut self, id: SymbolId, size: u64, align: u64, span: &Range<usize>) -> Result<()> {
        let bss = self.section_named(".bss", elf::SHT_NOBITS, elf::SHF_ALLOC | elf::SHF_WRITE);
        self.reserve(size.saturating_add(align), span)?;
        let offset = self.inside(bss, |assembler| {
            let section = assembler.current();
            section.align = section.align.max(align);
            section.virtual_size = section.virtual_size.next_multiple_of(align);
            let offset = section.virtual_size;
            section.virtual_size += size;
            offset
        });
        self.symbols[id].definition = Definition::Label { section: bss, offset };
        self.symbols[id].size = Some(Value::Abs(size as i64));
        self.symbols[id].binding = Some(STB_LOCAL);
        Ok(())
    }

    /// Handles `.amdgpu_lds name, size[, align]`, which declares a variable in LDS that the linker places
    /// (LLVM's AMDGPU guide, seed 000, line 480).
    fn lds(&mut self, cur: &mut Cursor, span: &Range<usize>) -> Result<()> {
        let id = self.symbol_in(cur)?;
        cur.expect(b',')?;
        let size = self.absolute(cur)?;
        let align = if cur.eat(b',') { self.absolute(cur)? } else { 4 };
        let room = self.settings.target.map_or(0x1_0000, |target| {
            // The LDS that a work-group may use. In WGP mode, this includes the LDS of both compute units of
            // a work-group processor.
            let units = if target.arch.device.workgroup_processors { 2 } else { 1 };
            units * i64::from(target.max_lds_per_group)
        });
        let valid = (0..=room).contains(&size) && align > 0 && (align as u64).is_power_of_two();
        if !valid {
            return Err(error(span.clone(), "the size or alignment of an LDS symbol is out of range"));
        }
        let symbol = &mut self.symbols[id];
        if symbol.is_defined() {
            return Err(error(span.clone(), format!("`{}` is already defined", symbol.name)));
        }
        symbol.definition = Definition::Lds { size: size as u64, align: align as u64 };
        symbol.kind = STT_OBJECT;
        symbol.binding.get_or_insert(STB_GLOBAL);
        // This directive declares the symbol, but does not make it part of the object. Only a use of the
        // symbol or `.globl` does.
        Ok(())
    }

    /// Makes the symbols in an expression part of the object, because data that the source emits refer to
    /// them.
    pub(crate) fn register_used(&mut self, value: Value) {
        if let Value::Expr(id) = value {
            self.register_tree(id, 0);
        }
    }

    fn register_tree(&mut self, id: crate::expr::ExprId, depth: u32) {
        if depth > 1000 {
            return;
        }
        match self.nodes[id.index()] {
            Node::Symbol(symbol, _) => self.symbols.register(symbol),
            Node::Unary(_, inner) => self.register_tree(inner, depth + 1),
            Node::Binary(_, left, right) => {
                self.register_tree(left, depth + 1);
                self.register_tree(right, depth + 1);
            }
            Node::Const(_) | Node::Place(..) => {}
        }
    }
}

/// Sets the binding of a symbol. A global symbol cannot become local and vice versa, but both can become
/// weak.
fn bind(symbol: &mut Symbol, binding: u8) -> std::result::Result<(), String> {
    match symbol.binding {
        Some(before) if before != binding && binding != STB_WEAK => {
            let name = |binding| match binding {
                STB_GLOBAL => "global",
                STB_WEAK => "weak",
                _ => "local",
            };
            Err(format!("`{}` is {} and cannot become {}", symbol.name, name(before), name(binding)))
        }
        _ => {
            symbol.binding = Some(binding);
            symbol.builtin = false;
            Ok(())
        }
    }
}

fn show(symbol: &mut Symbol, visibility: u8) -> std::result::Result<(), String> {
    symbol.visibility = visibility;
    Ok(())
}
