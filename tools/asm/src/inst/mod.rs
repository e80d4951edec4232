//! Instructions: turns a line of text into words of the section.
//!
//! `operand` and `modifier` read the line without knowing the instruction. `select` finds the row and form of
//! the table that match the line, and `isa::encode` decides whether the result is valid. `constant` converts
//! numbers to the type of the operand. `function` handles operands with a syntax of their own (`hwreg()`,
//! `sendmsg()`, `s_waitcnt`, ...).

mod constant;
mod function;
mod graphics;
mod guide;
mod modifier;
mod operand;
mod registers;
mod select;

use crate::assembler::Assembler;
use crate::cursor::Cursor;
use crate::directive::place::S_NOP;
use crate::error::{Error, Result, error};
use crate::expr::Value;
use crate::section::{Fixup, FixupKind};
use isa::table::{available, processors_with};
use isa::{Form, Opcode, RegRange, Target};
use modifier::Written;
use operand::Arg;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Maximum number of operands in a line.
const MAX_ARGS: usize = 24;

/// The names of a processor's instructions and registers, and the line of text that is being read.
pub(crate) struct Instructions {
    target: &'static Target,
    /// For each mnemonic, the range of its rows in `opcodes`.
    names: FxHashMap<&'static str, (u32, u32)>,
    opcodes: Vec<Opcode>,
    registers: FxHashMap<Box<str>, RegRange>,
    first_ttmp: isa::Reg,
    functions: Option<function::Names>,
    line: Line,
    words: Vec<u32>,
}

/// Operands and modifiers of a line.
pub(crate) struct Line {
    args: [Arg; MAX_ARGS],
    len: usize,
    mods: Written,
    addresses: graphics::Addresses,
}

impl Line {
    fn args(&self) -> &[Arg] {
        &self.args[..self.len]
    }
}

impl Instructions {
    pub fn new(target: &'static Target) -> Instructions {
        let mut here: Vec<Opcode> = isa::table::opcodes().filter(|&op| available(op, target)).collect();
        here.sort_by_key(|op| op.row().name);
        let mut names = FxHashMap::with_capacity_and_hasher(here.len(), Default::default());
        for (n, op) in here.iter().enumerate() {
            let range = names.entry(op.row().name).or_insert((n as u32, n as u32));
            range.1 = n as u32 + 1;
        }
        Instructions {
            target,
            names,
            opcodes: here,
            registers: registers::names(target),
            first_ttmp: registers::first_ttmp(target),
            functions: None,
            line: Line {
                args: [Arg::default(); MAX_ARGS],
                len: 0,
                mods: Written::default(),
                addresses: Default::default(),
            },
            words: Vec::with_capacity(8),
        }
    }

    fn find(&self, name: &str) -> Option<(u32, u32)> {
        self.names.get(name).copied()
    }
}

/// Suffixes that request a form.
const SUFFIXES: [(&str, Form); 4] =
    [("_e32", Form::E32), ("_e64", Form::Full), ("_dpp", Form::Dpp), ("_sdwa", Form::Sdwa)];

/// A field of the current instruction whose value is not known yet. It becomes a fixup, which fills it in
/// later.
struct Pending {
    value: Value,
    branch: bool,
    span: Range<usize>,
}

impl Assembler {
    /// Reads the operands of an instruction and writes its words.
    pub fn instruction(&mut self, cur: &mut Cursor, name: &str, span: Range<usize>) -> Result<()> {
        let Some(mut instructions) = self.instructions.take() else {
            return Err(no_processor(span));
        };
        let done = self.instruction_with(&mut instructions, cur, name, span);
        self.instructions = Some(instructions);
        done
    }

    /// Reads a register. Returns its DWARF number.
    pub fn dwarf_register(&mut self, cur: &mut Cursor) -> Result<u32> {
        let start = cur.pos;
        let Some(known) = self.instructions.take() else {
            return Err(no_processor(cur.span_here()));
        };
        let range = self.register(&known, cur);
        let target = known.target;
        self.instructions = Some(known);
        let range = range?.ok_or_else(|| cur.unexpected("a register"))?;
        registers::dwarf_number(target, range).ok_or_else(|| {
            let name = cur.text.get(start..cur.pos).unwrap_or_default();
            error(start..cur.pos, format!("`{name}` has no number in DWARF"))
        })
    }

    fn instruction_with(
        &mut self,
        known: &mut Instructions,
        cur: &mut Cursor,
        name: &str,
        span: Range<usize>,
    ) -> Result<()> {
        let lower;
        let (name, found) = match known.lookup(name) {
            None if name.bytes().any(|byte| byte.is_ascii_uppercase()) => {
                lower = name.to_ascii_lowercase();
                (lower.as_str(), known.lookup(&lower))
            }
            found => (name, found),
        };
        let Some((range, form)) = found else {
            return Err(unknown_instruction(known.target, name, span));
        };
        self.operands(known, cur, name)?;
        self.count_registers(known.target, &known.line);
        guide::modernise(known, range);
        let pending = select::select(known, range, form, name, span.clone())?;
        self.write(&known.words, pending, span)
    }

    fn write(&mut self, words: &[u32], pending: Option<Pending>, span: Range<usize>) -> Result<()> {
        let size = words.len() as u64 * 4;
        self.reserve(size, &span)?;
        let fixup = pending.map(|pending| self.fixup_of(words, pending));
        let padding = match fixup.as_ref().map(|fixup| fixup.kind) {
            Some(FixupKind::Branch(number)) if self.padded_branches.contains(&number) => S_NOP.as_slice(),
            _ => &[],
        };
        self.reserve(padding.len() as u64, &span)?;
        self.make_row();
        let section = self.current();
        if !section.has_contents() {
            return Err(error(span, "an instruction in a section without contents"));
        }
        for word in words {
            section.data.extend_from_slice(&word.to_le_bytes());
        }
        if let Some(mut fixup) = fixup {
            fixup.offset += section.size() - size;
            section.fixups.push(fixup);
            section.data.extend_from_slice(padding);
        }
        Ok(())
    }

    /// Returns the fixup for a field of an instruction that is not known yet. The fixup's offset counts from
    /// the start of the instruction.
    fn fixup_of(&mut self, words: &[u32], pending: Pending) -> Fixup {
        let kind = match pending.branch {
            true => {
                self.branches += 1;
                FixupKind::Branch(self.branches)
            }
            false => FixupKind::Literal { relative: self.is_relative(pending.value) },
        };
        self.register_used(pending.value);
        // A literal is the last dword of the instruction.
        let offset = if pending.branch { 0 } else { words.len() as u64 * 4 - 4 };
        Fixup { offset, value: pending.value, kind, span: self.span_of(pending.span) }
    }

    /// Updates the symbols that count the registers which the source uses, such as `.amdgcn.next_free_vgpr`.
    fn count_registers(&mut self, target: &Target, line: &Line) {
        let mut highest = [0u16; 3];
        for arg in line.args() {
            if let operand::ArgValue::Reg(range) = arg.value {
                let end = range.first.number() + u16::from(range.len);
                let file = match range.first {
                    first if target.is_sgpr(first) => 0,
                    first if first.is_vgpr() => 1,
                    first if first.is_agpr() => 2,
                    _ => continue,
                };
                highest[file] = highest[file].max(end);
            }
        }
        let [sgprs, vgprs, agprs] = highest;
        if sgprs > 0 {
            self.counts.sgpr.into_iter().for_each(|id| self.raise(id, i64::from(sgprs)));
        }
        if vgprs | agprs == 0 {
            return;
        }
        self.counts.plain_vgprs = self.counts.plain_vgprs.max(vgprs);
        self.raise(self.counts.vgpr[0], i64::from(vgprs));
        self.raise(self.counts.agpr, i64::from(agprs));
        self.raise(self.counts.vgpr[1], self.kernel_vgprs());
    }

    /// Returns the number of VGPRs as V2 counts them. On gfx90a, accumulation VGPRs follow the other VGPRs in
    /// one register file, so the two numbers are added. On gfx908, the two kinds are in separate files, so
    /// the result is the larger number.
    fn kernel_vgprs(&self) -> i64 {
        let plain = i64::from(self.counts.plain_vgprs);
        let agprs = self.known_number(self.symbol_number(self.counts.agpr)).unwrap_or(0);
        match agprs > 0 && self.settings.target.is_some_and(|target| target.has(isa::Feature::UNIFIED_VGPRS))
        {
            true => (plain + 3) / 4 * 4 + agprs,
            false => plain.max(agprs),
        }
    }

    fn symbol_number(&self, id: crate::symbol::SymbolId) -> Value {
        match self.symbols[id].definition {
            crate::symbol::Definition::Value { value, .. } => value,
            _ => Value::Abs(0),
        }
    }

    fn raise(&mut self, id: crate::symbol::SymbolId, to: i64) {
        use crate::symbol::Definition;
        if let Definition::Value { value: Value::Abs(old), fixed } = self.symbols[id].definition
            && old < to
        {
            self.symbols[id].definition = Definition::Value { value: Value::Abs(to), fixed };
        }
    }
}

impl Instructions {
    /// Returns the rows of the instruction table that have this mnemonic, and the encoding form that a suffix
    /// of the mnemonic (such as `_e64`) requests.
    #[inline]
    fn lookup(&self, name: &str) -> Option<((u32, u32), Option<Form>)> {
        if let Some(range) = self.find(name) {
            return Some((range, None));
        }
        for (suffix, form) in SUFFIXES {
            if let Some(stem) = name.strip_suffix(suffix)
                && let Some(range) = self.find(stem)
            {
                return Some((range, Some(form)));
            }
        }
        None
    }
}

#[cold]
fn no_processor(span: Range<usize>) -> Error {
    error(span, "the processor is not known")
        .label("an instruction before `.amdgcn_target`")
        .note(crate::PROCESSOR_NOTE)
}

#[cold]
fn unknown_instruction(target: &Target, name: &str, span: Range<usize>) -> Error {
    let stem = SUFFIXES.iter().find_map(|(suffix, _)| name.strip_suffix(suffix)).unwrap_or(name);
    let having: Vec<&str> = processors_with(stem).map(|other| other.name).collect();
    if having.is_empty() {
        return error(span, format!("unknown instruction `{name}`")).label("no processor has it");
    }
    error(span, format!("{} has no instruction `{name}`", target.name))
        .label("not on this processor")
        .note(format!("it exists on {}", having.join(", ")))
}
