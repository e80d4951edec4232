//! Applies relocations. A value that is known now is written into its section. A value that depends on the
//! load address or on other objects becomes a dynamic relocation, which the loader applies.

use super::dynamic::Dynamic;
use super::format::{RELA, rela};
use super::loadable::Places;
use super::{
    Object, Place, Relocation, SHF_ALLOC, SHF_WRITE, STB_LOCAL, STB_WEAK, STV_DEFAULT, Target, reloc,
};
use bumpalo::{Bump, collections::Vec as List};

/// Place to which a dynamic relocation applies.
#[derive(Clone, Copy, Debug)]
enum Site {
    Section(usize, u64),
    Got(usize),
}

/// A relocation that the loader applies. Its value is relative to a symbol (if `symbolic`) or to the load
/// address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    site: Site,
    target: Target,
    addend: i64,
    symbolic: bool,
}

/// The relocations that the loader must apply, and the contents of the global offset table.
pub(super) struct Plan<'a> {
    pub relocations: List<'a, Pending>,
    /// Symbols that have an entry in the global offset table, in order.
    pub got: List<'a, u32>,
    /// For each symbol, the index of its entry in the global offset table.
    got_of: List<'a, Option<u32>>,
}

impl<'a> Plan<'a> {
    pub fn new(object: &Object, dynamic: &Dynamic, bump: &'a Bump) -> Result<Plan<'a>, String> {
        let got_of = bumpalo::vec![in bump; None; object.symbols.len()];
        let mut plan = Plan { relocations: List::new_in(bump), got: List::new_in(bump), got_of };
        for (n, section) in object.sections.iter().enumerate() {
            for relocation in &section.relocations {
                plan.add(object, dynamic, n, relocation)?;
            }
        }
        for (n, &symbol) in plan.got.iter().enumerate() {
            let target = Target::Symbol(symbol);
            if number(object, dynamic, target).is_none() {
                let symbolic = is_preemptible(object, dynamic, target);
                plan.relocations.push(Pending { site: Site::Got(n), target, addend: 0, symbolic });
            }
        }
        // Relocations that only add the load address come first, because loaders apply these in one batch.
        plan.relocations.sort_by_key(|pending| {
            let symbol = match pending.target {
                Target::Symbol(symbol) if pending.symbolic => dynamic.index(symbol).unwrap_or(0),
                _ => 0,
            };
            let site = match pending.site {
                Site::Got(n) => (0, n as u64, 0),
                Site::Section(n, offset) => (1, n as u64, offset),
            };
            (pending.symbolic, symbol, site)
        });
        Ok(plan)
    }

    fn add(
        &mut self,
        object: &Object,
        dynamic: &Dynamic,
        section: usize,
        relocation: &Relocation,
    ) -> Result<(), String> {
        let flags = object.sections[section].flags;
        if flags & SHF_ALLOC == 0 || relocation.kind == reloc::NONE {
            return Ok(());
        }
        if relocation.target == Target::Nothing {
            return Err(NO_SYMBOL.into());
        }
        match relocation.kind {
            reloc::GOTPCREL | reloc::GOTPCREL32_LO | reloc::GOTPCREL32_HI => {
                if let Target::Symbol(symbol) = relocation.target
                    && self.got_of[symbol as usize].is_none()
                {
                    self.got_of[symbol as usize] = Some(self.got.len() as u32);
                    self.got.push(symbol);
                }
                Ok(())
            }
            reloc::ABS64 if number(object, dynamic, relocation.target).is_none() => {
                if flags & SHF_WRITE == 0 {
                    return Err(format!(
                        "an address of `{}` in read-only memory",
                        name(object, relocation.target)
                    ));
                }
                let symbolic = is_preemptible(object, dynamic, relocation.target);
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

    /// Returns the size of `.rela.dyn` in bytes.
    pub fn size(&self) -> u64 {
        self.relocations.len() as u64 * RELA
    }

    /// Writes `.rela.dyn`.
    pub fn write(
        &self,
        object: &Object,
        dynamic: &Dynamic,
        places: &Places,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        for pending in &self.relocations {
            let offset = match pending.site {
                Site::Section(n, offset) => places.sections[n] + offset,
                Site::Got(n) => places.got + n as u64 * 8,
            };
            match (pending.symbolic, pending.target) {
                (true, Target::Symbol(symbol)) => {
                    rela(out, offset, dynamic.index(symbol).unwrap_or(0), reloc::ABS64, pending.addend);
                }
                (_, target) => {
                    let address = address(object, dynamic, places, target)?;
                    rela(out, offset, 0, reloc::RELATIVE64, pending.addend.wrapping_add(address as i64));
                }
            }
        }
        Ok(())
    }
}

/// `ld.lld` rejects this, too.
const NO_SYMBOL: &str = "a relocation without a symbol has a meaning in relocatable objects only";

/// Applies a relocation to the contents of its section, if the section is part of the output.
pub(super) fn apply(
    object: &Object,
    dynamic: &Dynamic,
    plan: &Plan,
    places: &Places,
    section: usize,
    relocation: &Relocation,
    contents: Option<&mut [u8]>,
) -> Result<(), String> {
    let Relocation { offset, target, kind, addend } = *relocation;
    let place = places.sections[section].wrapping_add(offset) as i64;
    let value = match kind {
        reloc::NONE => return Ok(()),
        reloc::GOTPCREL | reloc::GOTPCREL32_LO | reloc::GOTPCREL32_HI => {
            let Target::Symbol(symbol) = target else { return Err("a GOT entry needs a symbol".into()) };
            let entry = u64::from(plan.got_of[symbol as usize].unwrap_or(0));
            ((places.got + entry * 8) as i64).wrapping_add(addend).wrapping_sub(place)
        }
        reloc::REL16 | reloc::REL32 | reloc::REL64 | reloc::REL32_LO | reloc::REL32_HI => {
            if is_preemptible(object, dynamic, target) {
                return Err(format!(
                    "the distance to `{}`, which other objects may replace, is not known: make it hidden or protected, \
                     or go through `@gotpcrel32`",
                    name(object, target)
                ));
            }
            if is_number(object, target) {
                let name = name(object, target);
                return Err(format!(
                    "the distance to `{name}`, a number, depends on where the object is loaded"
                ));
            }
            (address(object, dynamic, places, target)? as i64).wrapping_add(addend).wrapping_sub(place)
        }
        _ => match number(object, dynamic, target) {
            Some(value) => value.wrapping_add(addend),
            // Debug sections are not loaded, so they use addresses relative to the start of the object.
            None if object.sections[section].flags & SHF_ALLOC == 0 => {
                (address(object, dynamic, places, target)? as i64).wrapping_add(addend)
            }
            // A loader fills in the field.
            None if kind == reloc::ABS64 => return Ok(()),
            None => {
                return Err(format!(
                    "the 32-bit address of `{}` depends on where the object is loaded",
                    name(object, target)
                ));
            }
        },
    };
    let bytes = match kind {
        reloc::GOTPCREL32_HI | reloc::REL32_HI | reloc::ABS32_HI => value >> 32,
        reloc::REL16 => branch_distance(value, name(object, target))?,
        _ => value,
    }
    .to_le_bytes();
    let size = match kind {
        reloc::ABS64 | reloc::REL64 => 8,
        reloc::REL16 => 2,
        _ => 4,
    };
    let at = offset as usize;
    if object.sections[section].data.get(at..at + size).is_none() {
        return Err("a relocation lies beyond its section".into());
    }
    if let Some(field) = contents.and_then(|contents| contents.get_mut(at..at + size)) {
        field.copy_from_slice(&bytes[..size]);
    }
    Ok(())
}

/// Converts a distance in bytes from a branch to what the branch instruction stores: the number of dwords
/// from the end of the branch.
fn branch_distance(bytes: i64, name: &str) -> Result<i64, String> {
    let dwords = bytes.wrapping_sub(4) / 4;
    i16::try_from(dwords)
        .map(i64::from)
        .map_err(|_| format!("a branch to `{name}` is out of its reach of 131072 bytes"))
}

/// Returns whether a symbol is an absolute number.
fn is_number(object: &Object, target: Target) -> bool {
    matches!(target, Target::Symbol(symbol) if matches!(object.symbols[symbol as usize].place, Place::Absolute(_)))
}

fn name<'a>(object: &Object<'a>, target: Target) -> &'a str {
    match target {
        Target::Symbol(symbol) => object.symbols[symbol as usize].name,
        Target::Section(section) => object.sections[section as usize].name,
        Target::Nothing => "nothing",
    }
}

/// Returns whether a symbol of another object could replace this symbol at load time, because it has the same
/// name.
fn is_preemptible(object: &Object, dynamic: &Dynamic, target: Target) -> bool {
    let Target::Symbol(number) = target else { return false };
    let symbol = &object.symbols[number as usize];
    let is_replaceable = symbol.visibility == STV_DEFAULT || symbol.place == Place::Undefined;
    symbol.binding != STB_LOCAL && is_replaceable && dynamic.index(number).is_some()
}

/// Returns the value of a symbol if it does not depend on the load address: the symbol is an absolute number,
/// or it is weak and undefined. Returns `None` for all other symbols, and for symbols that another object can
/// replace.
fn number(object: &Object, dynamic: &Dynamic, target: Target) -> Option<i64> {
    let Target::Symbol(symbol) = target else { return None };
    if is_preemptible(object, dynamic, target) {
        return None;
    }
    let symbol = &object.symbols[symbol as usize];
    match symbol.place {
        Place::Absolute(number) => Some(number as i64),
        Place::Undefined if symbol.binding == STB_WEAK && symbol.visibility != STV_DEFAULT => Some(0),
        _ => None,
    }
}

fn address(object: &Object, dynamic: &Dynamic, places: &Places, target: Target) -> Result<u64, String> {
    let number = match target {
        Target::Section(section) => return Ok(places.sections[section as usize]),
        Target::Nothing => return Err(NO_SYMBOL.into()),
        Target::Symbol(number) => number,
    };
    let symbol = &object.symbols[number as usize];
    match symbol.place {
        Place::Section(section, offset) => Ok(places.sections[section as usize].wrapping_add(offset)),
        Place::Common(_) => Ok(places.common + dynamic.common(number)),
        Place::Absolute(number) => Ok(number),
        Place::Undefined if symbol.binding == STB_WEAK => Ok(0),
        Place::Undefined | Place::Lds(_) => Err(format!("`{}` is not defined in this source", symbol.name)),
        Place::Group(_) => Ok(0),
    }
}
