//! What kernels need of the code that they reach in other objects: registers, and room in LDS.
//!
//! A compiler counts what it sees, and assumes something of functions in other objects. Here the code that a kernel reaches is
//! known: a descriptor that allots less than that code names is raised, never lowered. Reached is what relocations lead to,
//! section by section, tables of addresses among them. Of a kernel's own object only LDS is looked at: registers there the
//! compiler has counted.
//!
//! LDS symbols are allotted one after another behind the LDS that kernels have of their own, those without a size (whose size
//! a launch decides) last; each has one address in all kernels (seed 000, line 490).
//!
//! # Not here
//! Scratch memory: how much of it code takes cannot be read from it, and the compiler's assumption stays.

use crate::Kind;
use crate::input::{Object, Place};
use crate::notes::Contents;
use crate::registers::Used;
use crate::symbols::{Meaning, Symbols};
use codeobj::elf::{Relocation, Symbol};
use isa::Target;
use objwriter::descriptor::{self, GROUP_SEGMENT_FIXED_SIZE, SIZE};
use objwriter::elf::{STT_AMDGPU_HSA_KERNEL, reloc};
use order::Order as _;
use rustc_hash::{FxHashMap, FxHashSet};

/// An LDS symbol: a shared one by its number, a local one by its object and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lds {
    Shared(usize),
    Local(usize, usize),
}

/// What changes in a kernel's metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub vgprs: u32,
    pub sgprs: u32,
    pub lds: u64,
}

/// What kernels need more than their compilers knew.
#[derive(Default)]
pub struct Needs<'a> {
    /// Sections with descriptors that change.
    pub contents: Contents,
    /// The same in the metadata, by the name of the descriptor's symbol.
    pub counts: FxHashMap<&'a str, Counts>,
    /// Where LDS symbols are.
    pub lds: FxHashMap<Lds, u64>,
}

struct Kernel<'a> {
    /// Of the descriptor.
    name: &'a str,
    object: usize,
    section: usize,
    offset: usize,
    bytes: [u8; SIZE],
    sections: Vec<(usize, usize)>,
    lds: Vec<Lds>,
}

/// # Errors
/// More registers or LDS than a kernel can have.
pub fn needs<'a>(
    symbols: &Symbols<'a>,
    live: &[Vec<bool>],
    target: Option<&Target>,
    kind: Kind,
) -> Result<Needs<'a>, String> {
    let mut kernels = kernels(symbols, live);
    let lds = match kind {
        Kind::Loadable => allotted(symbols, &kernels)?,
        // Who links that object may know more symbols.
        Kind::Relocatable => {
            kernels.iter_mut().for_each(|kernel| kernel.lds.clear());
            FxHashMap::default()
        }
    };
    let mut needs = Needs { lds, ..Needs::default() };
    let extents: Vec<_> = symbols.objects.iter().map(extents).collect();
    let mut known = FxHashMap::default();
    for kernel in &kernels {
        let wave32 = descriptor::WAVEFRONT_SIZE32.get(&kernel.bytes) != 0;
        let lanes = if wave32 { 32 } else { 64 };
        let target = target.map(|target| target.with_wave_size(lanes).unwrap_or(target));
        let mut used = Used::default();
        for &(object, section) in kernel.sections.iter().filter(|(object, _)| *object != kernel.object) {
            let here = known.entry((object, section, wave32)).or_insert_with(|| {
                target.map_or_else(Used::default, |target| {
                    used_by(&symbols.objects[object], &extents[object], section, target)
                })
            });
            used = used.join(*here);
        }
        let mut bytes = kernel.bytes;
        let mut counts = Counts::default();
        if let (Some(target), true) = (target, used != Used::default()) {
            let raised = used.raise(target, &mut bytes);
            (counts.vgprs, counts.sgprs) = raised.map_err(|error| format!("{}: {error}", kernel.name))?;
        }
        let end = kernel.lds.iter().map(|lds| needs.lds[lds] + symbols.lds(*lds).0).max().unwrap_or(0);
        if end > GROUP_SEGMENT_FIXED_SIZE.get(&bytes) {
            counts.lds = end;
            if let Some(most) = target.map(|target| target.max_lds_per_group)
                && end > most.into()
            {
                return Err(format!(
                    "{}: {end} bytes of LDS are more than the {most} there are",
                    kernel.name
                ));
            }
            GROUP_SEGMENT_FIXED_SIZE.set(&mut bytes, end);
        }
        if bytes == kernel.bytes {
            continue;
        }
        needs.counts.insert(kernel.name, counts);
        let data = symbols.objects[kernel.object].sections()[kernel.section].data;
        let contents = needs.contents.entry((kernel.object, kernel.section)).or_insert_with(|| data.to_vec());
        contents[kernel.offset..kernel.offset + SIZE].copy_from_slice(&bytes);
    }
    Ok(needs)
}

/// The kernels with what each of them reaches.
fn kernels<'a>(symbols: &Symbols<'a>, live: &[Vec<bool>]) -> Vec<Kernel<'a>> {
    let mut kernels = Vec::new();
    let mut reached: Vec<Vec<usize>> = live.iter().map(|sections| vec![0; sections.len()]).collect();
    for (number, object) in symbols.objects.iter().enumerate() {
        for symbol in &object.symbols {
            let Some(descriptor) = object.file.descriptor(symbol) else { continue };
            if !live[number][descriptor.section] {
                continue;
            }
            let at = descriptor.address + descriptor::ENTRY_OFFSET;
            let is_entry = |record: &&Relocation| record.kind == reloc::REL64 && record.offset == at;
            let Some(entry) = object.relocations[descriptor.section].iter().find(is_entry) else { continue };
            let mut kernel = Kernel {
                name: symbol.name,
                object: number,
                section: descriptor.section,
                offset: descriptor.address as usize,
                bytes: descriptor.bytes,
                sections: Vec::new(),
                lds: Vec::new(),
            };
            // A mark of its own for each kernel, so that nothing has to be wiped.
            let mark = kernels.len() + 1;
            kernel.follow(symbols, number, entry, mark, &mut reached);
            kernels.push(kernel);
        }
    }
    kernels
}

impl Kernel<'_> {
    fn follow(
        &mut self,
        symbols: &Symbols,
        object: usize,
        entry: &Relocation,
        mark: usize,
        reached: &mut [Vec<usize>],
    ) {
        self.reach(symbols, object, entry, mark, reached);
        let mut next = 0;
        while let Some(&(object, section)) = self.sections.get(next) {
            next += 1;
            for record in &symbols.objects[object].relocations[section] {
                self.reach(symbols, object, record, mark, reached);
            }
        }
    }

    fn reach(
        &mut self,
        symbols: &Symbols,
        object: usize,
        record: &Relocation,
        mark: usize,
        reached: &mut [Vec<usize>],
    ) {
        if let Some((object, section)) = symbols.section_of(object, record.symbol as usize) {
            if std::mem::replace(&mut reached[object][section], mark) != mark {
                self.sections.push((object, section));
            }
        } else if let Some(lds) = symbols.lds_of(object, record.symbol as usize)
            && !self.lds.contains(&lds)
        {
            self.lds.push(lds);
        }
    }
}

/// Addresses of the LDS symbols.
fn allotted(symbols: &Symbols, kernels: &[Kernel]) -> Result<FxHashMap<Lds, u64>, String> {
    let all = symbols.all_lds();
    let is_old = |object: &Object| object.symbols.iter().any(|symbol| symbol.kind == STT_AMDGPU_HSA_KERNEL);
    if let Some(object) = symbols.objects.iter().find(|object| !all.is_empty() && is_old(object)) {
        return Err(format!(
            "{}: kernels of code objects V2 have no descriptors that LDS symbols could change",
            object.name
        ));
    }
    let own = |kernel: &Kernel| GROUP_SEGMENT_FIXED_SIZE.get(&kernel.bytes);
    let mut end = kernels.iter().filter(|kernel| !kernel.lds.is_empty()).map(own).max().unwrap_or(0);
    let mut places = FxHashMap::default();
    for is_sized in [true, false] {
        for &lds in &all {
            let (size, align) = symbols.lds(lds);
            if (size > 0) == is_sized {
                end = end.next_multiple_of(align.max(1));
                places.insert(lds, end);
                end += size;
            }
        }
    }
    Ok(places)
}

/// Where an object's kernels are: section, beginning, end; in their order. Nobody calls kernels.
fn extents(object: &Object) -> Vec<(usize, u64, u64)> {
    let descriptors = object.symbols.iter().filter_map(|symbol| object.file.descriptor(symbol));
    let names: FxHashSet<&str> = descriptors.map(|descriptor| descriptor.kernel).collect();
    let extent = |symbol: &Symbol| match object.place(symbol) {
        Place::Section(section) if names.contains(symbol.name) => {
            Some((section, symbol.value, symbol.value.saturating_add(symbol.size)))
        }
        _ => None,
    };
    let mut extents: Vec<_> = object.symbols.iter().filter_map(extent).collect();
    extents.order_unstable();
    extents
}

/// Registers that code of a section names, kernels aside.
fn used_by(object: &Object, extents: &[(usize, u64, u64)], section: usize, target: &Target) -> Used {
    let code = &object.sections()[section];
    if !code.is_code() {
        return Used::default();
    }
    let (mut used, mut from) = (Used::default(), 0);
    let first = extents.partition_point(|&(other, ..)| other < section);
    for &(_, start, end) in extents[first..].iter().take_while(|&&(other, ..)| other == section) {
        used = used.join(Used::of(code.data, from..start, target));
        from = from.max(end);
    }
    used.join(Used::of(code.data, from..u64::MAX, target))
}

impl Symbols<'_> {
    /// The LDS symbol that a symbol of an object means, if it means one.
    fn lds_of(&self, object: usize, symbol: usize) -> Option<Lds> {
        let found = &self.objects[object].symbols[symbol];
        let lds = self.global_of(found).map_or(Lds::Local(object, symbol), Lds::Shared);
        let (object, symbol) = self.definition(lds)?;
        (self.objects[object].place(&self.objects[object].symbols[symbol]) == Place::Lds).then_some(lds)
    }

    fn definition(&self, lds: Lds) -> Option<(usize, usize)> {
        match lds {
            Lds::Local(object, symbol) => Some((object, symbol)),
            Lds::Shared(global) => match self.globals[global].meaning {
                Meaning::Common { object, symbol, .. } => Some((object, symbol)),
                _ => None,
            },
        }
    }

    /// Size and alignment of an LDS symbol.
    fn lds(&self, lds: Lds) -> (u64, u64) {
        match lds {
            Lds::Local(object, symbol) => {
                let symbol = &self.objects[object].symbols[symbol];
                (symbol.size, symbol.value)
            }
            Lds::Shared(global) => match self.globals[global].meaning {
                Meaning::Common { size, align, .. } => (size, align),
                _ => (0, 1),
            },
        }
    }

    /// All LDS symbols, each once.
    fn all_lds(&self) -> Vec<Lds> {
        let mut all = Vec::new();
        for (number, object) in self.objects.iter().enumerate() {
            for (n, symbol) in object.symbols.iter().enumerate().skip(1) {
                if object.place(symbol) == Place::Lds
                    && let Some(lds) = self.lds_of(number, n)
                {
                    // The object whose definition was taken names a shared one.
                    let is_first = self.definition(lds) == Some((number, n));
                    all.extend(is_first.then_some(lds));
                }
            }
        }
        all
    }
}
