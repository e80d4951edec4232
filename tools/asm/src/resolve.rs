//! Finishes the assembly: fills in each field that refers to a later symbol, or makes a relocation for it.

use crate::assembler::Assembler;
use crate::directive::symbols::sym;
use crate::expr::{Node, Reduced, Specifier, Term, Value};
use crate::section::{Fixup, FixupKind, elf};
use crate::symbol::{Definition, SymbolId};
use objwriter::descriptor::ENTRY_OFFSET;
use objwriter::elf::reloc;

/// Target of a relocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Symbol(SymbolId),
    Section(u32),
    /// No symbol: the relocation refers to a number.
    Nothing,
}

/// Relocation of a section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relocation {
    pub offset: u64,
    pub target: Target,
    pub kind: u32,
    pub addend: i64,
    /// Whether the relocation goes through `.weakref`.
    pub weak: bool,
}

/// Relocations by section.
pub(crate) struct Resolved {
    pub relocations: Vec<Vec<Relocation>>,
    /// The symbols and sections whose addresses are significant (compared by code), if the object lists them.
    pub addrsig: Option<Vec<Target>>,
}

type Outcome = std::result::Result<Option<Relocation>, String>;

impl Assembler {
    /// Makes the name of each section a symbol for the beginning of the section, unless the source defines
    /// the name itself.
    pub(crate) fn define_sections(&mut self) {
        for index in 0..self.sections.len() {
            if let Some(id) = self.symbols.find(&self.sections[index].name)
                && !self.symbols[id].is_defined()
            {
                let symbol = &mut self.symbols[id];
                symbol.definition = Definition::Label { section: index as u32, offset: 0 };
                // The object contains the section symbol instead.
                (symbol.binding, symbol.registered, symbol.builtin) = (Some(sym::STB_LOCAL), false, true);
            }
        }
    }

    /// Reports temporary labels that are used but never defined.
    pub(crate) fn close_undefined(&mut self) {
        let missing: Vec<(String, usize)> = self
            .symbols
            .iter()
            .filter(|(_, symbol)| symbol.is_temporary() && !symbol.is_defined() && !symbol.builtin)
            .map(|(_, symbol)| (symbol.name.to_string(), symbol.seen_at))
            .collect();
        for (name, at) in missing {
            let shown = name.strip_prefix(".L").and_then(|rest| rest.split_once('\u{1}'));
            let shown = shown.map_or(name.clone(), |(number, _)| format!("{number}:"));
            let message = format!("label `{shown}` is used but not defined");
            self.push_diagnostic(at..at + 1, message, "first used here".into(), Vec::new());
        }
    }

    /// Fills in the fields of all fixups. Fields whose values depend on addresses become relocations.
    pub(crate) fn resolve(&mut self) -> Resolved {
        self.finish_descriptors();
        let mut relocations = Vec::with_capacity(self.sections.len());
        for index in 0..self.sections.len() {
            let fixups = std::mem::take(&mut self.sections[index].fixups);
            let mut list = Vec::new();
            for fixup in &fixups {
                match self.resolve_fixup(index as u32, fixup) {
                    Ok(None) => {}
                    Ok(Some(relocation)) => {
                        let relocation = self.renamed(relocation);
                        self.note_target(&relocation);
                        list.push(relocation);
                    }
                    Err(message) => {
                        let span = fixup.span.0 as usize..fixup.span.1 as usize;
                        self.push_diagnostic(span, message, String::new(), Vec::new());
                        if self.stopped {
                            break;
                        }
                    }
                }
            }
            relocations.push(list);
        }
        Resolved { relocations, addrsig: self.addrsig() }
    }

    /// Returns the relocation with another symbol: the versioned name, if `.symver` gave the relocation's
    /// symbol one.
    fn renamed(&self, relocation: Relocation) -> Relocation {
        match relocation.target {
            Target::Symbol(id) if let Some(new) = self.symbols[id].renamed => {
                Relocation { target: Target::Symbol(new), weak: false, ..relocation }
            }
            _ => relocation,
        }
    }

    fn note_target(&mut self, relocation: &Relocation) {
        match relocation.target {
            Target::Symbol(id) => {
                self.symbols.register(id);
                let symbol = &mut self.symbols[id];
                symbol.only_weakly = relocation.weak && (symbol.only_weakly || !symbol.relocated);
                symbol.relocated = true;
            }
            Target::Section(id) => self.sections[id as usize].relocated = true,
            Target::Nothing => {}
        }
    }

    fn resolve_fixup(&mut self, section: u32, fixup: &Fixup) -> Outcome {
        let reduced = self.reduce(fixup.value).map_err(str::to_owned)?;
        match fixup.kind {
            FixupKind::Branch(number) => self.branch(section, fixup, number, reduced),
            FixupKind::Entry => self.entry(fixup, reduced),
            FixupKind::Given(kind) => {
                let (offset, addend) = (fixup.offset, reduced.constant);
                let absolute = Relocation { offset, target: Target::Nothing, kind, addend, weak: false };
                Ok(Some(reduced.plus.map_or(absolute, |term| self.relocation(fixup, kind, term, &reduced))))
            }
            FixupKind::Literal { relative } => self.field(section, fixup, reduced, 4, relative),
            FixupKind::Data(size) => self.field(section, fixup, reduced, size, false),
        }
    }

    fn branch(&mut self, section: u32, fixup: &Fixup, number: u32, reduced: Reduced) -> Outcome {
        let Reduced { plus, minus: None, constant, .. } = reduced else {
            return Err("a branch goes to a label".into());
        };
        let to = match plus {
            None => constant,
            Some(term) => match self.locate(term) {
                Some((place, offset)) if place == section && !self.is_for_linker(&reduced) => {
                    (offset as i64).wrapping_add(constant)
                }
                None => {
                    return Err(format!("label `{}` is not defined", self.name_of(term)));
                }
                Some(_) if !self.settings.relocatable => {
                    return Err("a branch cannot leave its section".into());
                }
                // The linker finds the target.
                _ => {
                    // The linker fills in a distance that counts from the start of the branch, but a branch
                    // counts from its end. So the field contains -1 (dword), which the linker adds.
                    self.patch(section, fixup.offset, &(-1i16).to_le_bytes());
                    return Ok(Some(self.relocation(fixup, reloc::REL16, term, &reduced)));
                }
            },
        };
        let distance = to.wrapping_sub(fixup.offset as i64 + 4);
        if distance % 4 != 0 {
            return Err("the branch target is not aligned to a dword".into());
        }
        // A branch over exactly 63 dwords needs a nop (gfx101x). If a nop was already inserted after the
        // branch, and the distance is 63 nevertheless, the nop has only made the padding of an alignment
        // smaller. Such a branch cannot be corrected.
        let is_wrong = distance / 4 == 63 && plus.is_some() && !self.padded_branches.contains(&number);
        if is_wrong && self.settings.target.is_some_and(|target| target.has(isa::Feature::BRANCH_63_BUG)) {
            self.wrong_branches.push(number);
        }
        match i16::try_from(distance / 4) {
            Ok(dwords) => self.patch(section, fixup.offset, &dwords.to_le_bytes()),
            Err(_) => return Err(format!("the branch target is {} dwords away: too far", distance / 4)),
        }
        Ok(None)
    }

    /// Returns the relocation for the entry point in a kernel descriptor. The field contains the distance
    /// from the start of the descriptor to the code. The addend is 16, because a relocation counts from the
    /// field, which is 16 bytes after that start.
    fn entry(&mut self, fixup: &Fixup, reduced: Reduced) -> Outcome {
        let Some(term @ Term::Symbol(_)) = reduced.plus else {
            return Err("a kernel's name must be a label".into());
        };
        let constant = reduced.constant.wrapping_add(ENTRY_OFFSET as i64);
        Ok(Some(self.relocation(fixup, reloc::REL64, term, &Reduced { constant, ..reduced })))
    }

    fn field(&mut self, section: u32, fixup: &Fixup, reduced: Reduced, size: u8, relative: bool) -> Outcome {
        let Reduced { plus, minus, mut constant, specifier, .. } = reduced;
        let Some(plus) = plus else {
            if minus.is_some() {
                return Err("the expression is no symbol plus a number".into());
            }
            let bits = u32::from(size) * 8;
            if bits < 64 && !(-(1i64 << (bits - 1))..1i64 << bits).contains(&constant) {
                return Err(format!("{constant} does not fit {size} bytes"));
            }
            self.patch(section, fixup.offset, &constant.to_le_bytes()[..usize::from(size)]);
            return Ok(None);
        };
        let mut relative = relative;
        if let Some(minus) = minus {
            // A relocation can only express the distance from the field itself. If the expression subtracts
            // another position in the same section, the constant is changed accordingly.
            match self.locate(minus) {
                Some((place, offset)) if place == section => {
                    constant = constant.wrapping_add(fixup.offset as i64).wrapping_sub(offset as i64);
                    relative = true;
                }
                _ => return Err("the distance between two sections is not known".into()),
            }
        }
        if relative && specifier == Specifier::None && self.is_fixed_within(section, plus) {
            let to = self.locate(plus).map_or(0, |(_, offset)| offset as i64);
            let distance = to.wrapping_add(constant).wrapping_sub(fixup.offset as i64);
            self.patch(section, fixup.offset, &distance.to_le_bytes()[..usize::from(size)]);
            return Ok(None);
        }
        let specifier = match (specifier, self.name_of(plus)) {
            // Symbols with these names do not stand for addresses: the driver fills in the values. LLVM
            // recognises them by their names, too.
            (Specifier::None, "SCRATCH_RSRC_DWORD0" | "SCRATCH_RSRC_DWORD1") if size == 4 => {
                Specifier::Abs32Lo
            }
            (specifier, _) => specifier,
        };
        let kind = relocation_kind(specifier, size, relative)
            .ok_or_else(|| format!("there is no relocation for a field of {size} bytes"))?;
        let relocation = self.relocation(fixup, kind, plus, &Reduced { constant, ..reduced });
        Ok(Some(match specifier {
            // The GOT has entries for symbols, not for positions.
            Specifier::GotPcRel | Specifier::GotPcRel32Lo | Specifier::GotPcRel32Hi => match plus {
                Term::Symbol(id) => Relocation { target: Target::Symbol(id), addend: constant, ..relocation },
                Term::Place(..) => return Err("a GOT entry needs a symbol".into()),
            },
            _ => relocation,
        }))
    }

    /// Returns whether the distance to a symbol is final.
    fn is_fixed_within(&self, section: u32, term: Term) -> bool {
        let here = self.locate(term).is_some_and(|(place, _)| place == section);
        let weak = matches!(term, Term::Symbol(id) if self.symbols[id].binding == Some(sym::STB_WEAK));
        here && !weak
    }

    /// Returns whether the linker must resolve a branch, because its target is an alias that another object
    /// may define differently.
    fn is_for_linker(&self, reduced: &Reduced) -> bool {
        self.settings.relocatable && reduced.alias.is_some_and(|(alias, _)| !self.is_local(alias))
    }

    fn is_local(&self, id: SymbolId) -> bool {
        matches!(self.symbols[id].binding, None | Some(sym::STB_LOCAL))
    }

    /// Returns the relocation for `term` plus the constant in `reduced`. Usually a relocation names a symbol.
    /// For a local symbol, it names the section instead, and the addend contains the symbol's offset.
    fn relocation(&self, fixup: &Fixup, kind: u32, term: Term, reduced: &Reduced) -> Relocation {
        let to =
            |target, addend| Relocation { offset: fixup.offset, target, kind, addend, weak: reduced.weak };
        let (name, base) = match (reduced.alias, term) {
            (Some((alias, base)), _) => (Some(alias), base),
            (None, Term::Symbol(id)) => (Some(id), 0),
            (None, Term::Place(..)) => (None, 0),
        };
        let addend = reduced.constant.wrapping_sub(base);
        let place = self.locate(term);
        if let Some(name) = name
            && place.is_none_or(|place| !self.is_local(name) || self.is_kept_apart(place.0, name, addend))
        {
            return to(Target::Symbol(name), addend);
        }
        let (section, offset) = place.unwrap_or_default();
        to(Target::Section(section), reduced.constant.wrapping_add(offset as i64))
    }

    /// Returns whether a relocation must name the symbol even if the symbol is local. This is so in sections
    /// whose parts the linker moves separately, because the offset in the section then changes.
    fn is_kept_apart(&self, section: u32, name: SymbolId, addend: i64) -> bool {
        let flags = self.sections[section as usize].flags;
        let is_piece = flags & elf::SHF_MERGE != 0 && addend != 0 || flags & elf::SHF_TLS != 0;
        is_piece && !self.symbols[name].builtin
    }

    fn patch(&mut self, section: u32, offset: u64, bytes: &[u8]) {
        let at = offset as usize;
        self.sections[section as usize].data[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn name_of(&self, term: Term) -> &str {
        match term {
            Term::Symbol(id) => &self.symbols[id].name,
            Term::Place(..) => ".",
        }
    }

    /// Returns whether a literal with that expression is a distance from its own position. This is so for an
    /// expression with a symbol, unless the symbol has `@abs32` or the expression is a difference.
    pub(crate) fn is_relative(&self, value: Value) -> bool {
        match value {
            Value::Abs(_) => false,
            Value::Expr(id) => self.node_is_relative(id, 0),
        }
    }

    fn node_is_relative(&self, id: crate::expr::ExprId, depth: u32) -> bool {
        use crate::expr::Binary;
        if depth > 1000 {
            return false;
        }
        match self.nodes[id.index()] {
            Node::Const(_) => false,
            Node::Symbol(_, specifier) => !matches!(specifier, Specifier::Abs32Lo | Specifier::Abs32Hi),
            Node::Place(..) => true,
            Node::Unary(_, inner) => self.node_is_relative(inner, depth + 1),
            Node::Binary(Binary::Sub, ..) => false,
            Node::Binary(_, left, right) => {
                self.node_is_relative(left, depth + 1) || self.node_is_relative(right, depth + 1)
            }
        }
    }
}

fn relocation_kind(specifier: Specifier, size: u8, relative: bool) -> Option<u32> {
    Some(match (specifier, size) {
        (Specifier::GotPcRel, _) => reloc::GOTPCREL,
        (Specifier::GotPcRel32Lo, _) => reloc::GOTPCREL32_LO,
        (Specifier::GotPcRel32Hi, _) => reloc::GOTPCREL32_HI,
        (Specifier::Rel32Lo, _) => reloc::REL32_LO,
        (Specifier::Rel32Hi, _) => reloc::REL32_HI,
        (Specifier::Rel64, _) => reloc::REL64,
        (Specifier::Abs32Lo, _) => reloc::ABS32_LO,
        (Specifier::Abs32Hi, _) => reloc::ABS32_HI,
        (Specifier::None, 4) if relative => reloc::REL32,
        (Specifier::None, 8) if relative => reloc::REL64,
        (Specifier::None, 4) => reloc::ABS32,
        (Specifier::None, 8) => reloc::ABS64,
        _ => return None,
    })
}
