//! Relocations: what is known now is filled in; what depends on where the object is loaded, or on other objects, becomes
//! a dynamic relocation.

use super::Places;
use super::dynamic::Dynamic;
use crate::assembler::Assembler;
use crate::directive::symbols::sym::{STB_LOCAL, STB_WEAK};
use crate::expr::{Reduced, Value};
use crate::object::elf::{RELA, rela};
use crate::object::symtab::binding;
use crate::resolve::{Relocation, Resolved, Target, reloc};
use crate::section::elf::{SHF_ALLOC, SHF_WRITE};
use crate::symbol::{Definition, SymbolId};

/// `R_AMDGPU_RELATIVE64`.
const RELATIVE64: u32 = 13;

/// Where a dynamic relocation applies.
#[derive(Clone, Copy, Debug)]
enum Site {
    Section(usize, u64),
    Got(usize),
}

/// A dynamic relocation: of a symbol, or of the load address.
#[derive(Clone, Copy, Debug)]
pub(in crate::object) struct Pending {
    site: Site,
    target: Target,
    addend: i64,
    symbolic: bool,
}

/// What a loader has to do, and the global offset table.
pub(in crate::object) struct Plan {
    pub relocations: Vec<Pending>,
    /// Symbols with an entry, in order.
    pub got: Vec<SymbolId>,
}

impl Plan {
    pub fn new(asm: &Assembler, resolved: &Resolved, dynamic: &Dynamic) -> Result<Plan, String> {
        let mut plan = Plan { relocations: Vec::new(), got: Vec::new() };
        for (n, list) in resolved.relocations.iter().enumerate() {
            for relocation in list {
                plan.add(asm, dynamic, n, relocation)?;
            }
        }
        let got = plan.got.clone();
        for (n, id) in got.into_iter().enumerate() {
            if is_absolute(asm, Target::Symbol(id)).is_none() {
                let symbolic = is_preemptible(asm, dynamic, Target::Symbol(id));
                let pending = Pending { site: Site::Got(n), target: Target::Symbol(id), addend: 0, symbolic };
                plan.relocations.push(pending);
            }
        }
        // Loaders apply those of the load address in one go: they come first.
        plan.relocations.sort_by_key(|pending| {
            let symbol = match pending.target {
                Target::Symbol(id) if pending.symbolic => dynamic.index(id).unwrap_or(0),
                _ => 0,
            };
            let site = match pending.site {
                Site::Got(n) => (0, n as u64, 0),
                Site::Section(n, offset) => (1, n as u64, offset),
            };
            (pending.symbolic, symbol, if pending.symbolic { site } else { (0, 0, 0) })
        });
        Ok(plan)
    }

    fn add(
        &mut self,
        asm: &Assembler,
        dynamic: &Dynamic,
        section: usize,
        relocation: &Relocation,
    ) -> Result<(), String> {
        let flags = asm.sections[section].flags;
        if flags & SHF_ALLOC == 0 {
            return Ok(());
        }
        match relocation.kind {
            reloc::GOTPCREL | reloc::GOTPCREL32_LO | reloc::GOTPCREL32_HI => {
                if let Target::Symbol(id) = relocation.target
                    && !self.got.contains(&id)
                {
                    self.got.push(id);
                }
                Ok(())
            }
            reloc::ABS64 if is_absolute(asm, relocation.target).is_none() => {
                if flags & SHF_WRITE == 0 {
                    return Err(format!(
                        "an address of `{}` in read-only memory",
                        name(asm, relocation.target)
                    ));
                }
                let symbolic = is_preemptible(asm, dynamic, relocation.target);
                let site = Site::Section(section, relocation.offset);
                let (target, addend) = (relocation.target, relocation.addend);
                self.relocations.push(Pending { site, target, addend, symbolic });
                Ok(())
            }
            _ => Ok(()),
        }
    }

    pub fn relative_count(&self) -> usize {
        self.relocations.iter().filter(|pending| !pending.symbolic).count()
    }

    pub fn dynamic_entries(&self) -> usize {
        let rela = if self.relocations.is_empty() { 0 } else { 3 + usize::from(self.relative_count() > 0) };
        7 + rela
    }

    /// `.rela.dyn`.
    pub fn bytes(&self, asm: &Assembler, dynamic: &Dynamic, places: &Places) -> Result<Vec<u8>, String> {
        let mut out = Vec::with_capacity(self.relocations.len() * RELA as usize);
        for pending in &self.relocations {
            let offset = match pending.site {
                Site::Section(n, offset) => places.sections[n] + offset,
                Site::Got(n) => places.got + n as u64 * 8,
            };
            match (pending.symbolic, pending.target) {
                (true, Target::Symbol(id)) => {
                    rela(&mut out, offset, dynamic.index(id).unwrap_or(0), reloc::ABS64, pending.addend);
                }
                (_, target) => {
                    let address = address(asm, dynamic, places, target)?;
                    rela(&mut out, offset, 0, RELATIVE64, pending.addend.wrapping_add(address as i64));
                }
            }
        }
        Ok(out)
    }
}

/// Contents of every section with its relocations applied.
pub(super) fn apply(
    asm: &Assembler,
    resolved: &Resolved,
    dynamic: &Dynamic,
    plan: &Plan,
    places: &Places,
) -> Result<Vec<Vec<u8>>, String> {
    let mut sections: Vec<Vec<u8>> = asm.sections.iter().map(|section| section.data.clone()).collect();
    for (n, list) in resolved.relocations.iter().enumerate() {
        for relocation in list {
            apply_one(asm, dynamic, plan, places, n, relocation, &mut sections[n])?;
        }
    }
    Ok(sections)
}

fn apply_one(
    asm: &Assembler,
    dynamic: &Dynamic,
    plan: &Plan,
    places: &Places,
    section: usize,
    relocation: &Relocation,
    data: &mut [u8],
) -> Result<(), String> {
    let Relocation { offset, target, kind, addend } = *relocation;
    let place = places.sections[section].wrapping_add(offset) as i64;
    let value = match kind {
        reloc::GOTPCREL | reloc::GOTPCREL32_LO | reloc::GOTPCREL32_HI => {
            let entry = plan.got.iter().position(|&id| target == Target::Symbol(id)).unwrap_or(0) as u64;
            (places.got + entry * 8) as i64 + addend - place
        }
        reloc::REL32 | reloc::REL64 | reloc::REL32_LO | reloc::REL32_HI => {
            if is_preemptible(asm, dynamic, target) {
                return Err(format!(
                    "the distance to `{}`, which other objects may replace, is not known: make it hidden or protected, \
                     or go through `@gotpcrel32`",
                    name(asm, target)
                ));
            }
            (address(asm, dynamic, places, target)? as i64).wrapping_add(addend).wrapping_sub(place)
        }
        _ => match is_absolute(asm, target) {
            Some(number) => number.wrapping_add(addend),
            // A loader fills it in.
            None if kind == reloc::ABS64 => return Ok(()),
            None if asm.sections[section].flags & SHF_ALLOC == 0 => {
                (address(asm, dynamic, places, target)? as i64).wrapping_add(addend)
            }
            None => {
                return Err(format!(
                    "the 32-bit address of `{}` depends on where the object is loaded",
                    name(asm, target)
                ));
            }
        },
    };
    let bytes = match kind {
        reloc::GOTPCREL32_HI | reloc::REL32_HI | reloc::ABS32_HI => value >> 32,
        _ => value,
    }
    .to_le_bytes();
    let size = if matches!(kind, reloc::ABS64 | reloc::REL64) { 8 } else { 4 };
    let at = offset as usize;
    data[at..at + size].copy_from_slice(&bytes[..size]);
    Ok(())
}

fn name(asm: &Assembler, target: Target) -> &str {
    match target {
        Target::Symbol(id) => &asm.symbols[id].name,
        Target::Section(id) => &asm.sections[id as usize].name,
    }
}

/// Whether another object's symbol of the same name would be taken instead.
fn is_preemptible(asm: &Assembler, dynamic: &Dynamic, target: Target) -> bool {
    match target {
        Target::Section(_) => false,
        Target::Symbol(id) => {
            let symbol = &asm.symbols[id];
            binding(symbol) != STB_LOCAL
                && (symbol.visibility == 0 || !symbol.is_defined())
                && dynamic.index(id).is_some()
        }
    }
}

/// The value of a symbol that is a plain number, or of an undefined weak one.
fn is_absolute(asm: &Assembler, target: Target) -> Option<i64> {
    let Target::Symbol(id) = target else { return None };
    match asm.symbols[id].definition {
        Definition::Value { value, .. } => asm.known(value),
        Definition::None if asm.symbols[id].binding == Some(STB_WEAK) && asm.symbols[id].visibility != 0 => {
            Some(0)
        }
        _ => None,
    }
}

fn address(asm: &Assembler, dynamic: &Dynamic, places: &Places, target: Target) -> Result<u64, String> {
    let within = |section: u32, offset: u64| places.sections[section as usize].wrapping_add(offset);
    match target {
        Target::Section(id) => Ok(places.sections[id as usize]),
        Target::Symbol(id) => match asm.symbols[id].definition {
            Definition::Label { section, offset } => Ok(within(section, offset)),
            Definition::Common { .. } => Ok(places.common + dynamic.commons.get(&id.0).copied().unwrap_or(0)),
            Definition::Value { value: Value::Abs(number), .. } => Ok(number as u64),
            Definition::Value { value, .. } => match asm.reduce(value)? {
                Reduced { plus: Some(term), minus: None, constant, .. } => match asm.locate(term) {
                    Some((section, offset)) => Ok(within(section, offset).wrapping_add(constant as u64)),
                    None => Err(format!("`{}` is not defined", asm.symbols[id].name)),
                },
                Reduced { constant, .. } => Ok(constant as u64),
            },
            Definition::None if asm.symbols[id].binding == Some(STB_WEAK) => Ok(0),
            Definition::None | Definition::Lds { .. } => {
                Err(format!("`{}` is not defined in this source", asm.symbols[id].name))
            }
        },
    }
}
