//! The tables a loader reads: dynamic symbols, their two hash tables, `.dynamic`.

use super::format::*;
use super::loadable::Places;
use super::relocate::Plan;
use super::strings::Strings;
use super::symtab::{Entry, Table};
use super::{Object, Place, STB_LOCAL, STV_HIDDEN, STV_INTERNAL};

/// Symbols that other objects may see, and what a linker allots.
pub(super) struct Dynamic<'a> {
    /// Number in the full table, in the order of the dynamic one.
    entries: Vec<usize>,
    names: Vec<&'a str>,
    /// How many of the first are undefined, which hash tables leave out.
    undefined: usize,
    /// Number in the dynamic table of each symbol; 0 if it has none.
    of_symbol: Vec<u32>,
    pub strings: Vec<u8>,
    name_offsets: Vec<u32>,
    pub common_size: u64,
    pub common_align: u64,
    /// Offset of each common symbol among them.
    commons: Vec<u64>,
}

/// Whether a symbol keeps its name beyond the object.
fn is_exported(entry: &Entry) -> bool {
    let binding = entry.sym.info >> 4;
    binding != STB_LOCAL && !matches!(entry.sym.other & 3, STV_HIDDEN | STV_INTERNAL)
}

impl<'a> Dynamic<'a> {
    pub fn new(object: &Object<'a>, table: &Table<'a>) -> Result<Dynamic<'a>, String> {
        let mut entries: Vec<usize> =
            (0..table.entries.len()).filter(|&n| is_exported(&table.entries[n])).collect();
        let is_defined = |n: usize| table.entries[n].sym.section != 0;
        let defined = entries.iter().filter(|&&n| is_defined(n)).count();
        let buckets = bucket_count(defined);
        entries.sort_by_cached_key(|&n| match is_defined(n) {
            false => (0, 0),
            true => (1, gnu_hash(table.entries[n].name) % buckets),
        });
        let mut dynamic = Dynamic {
            undefined: entries.len() - defined,
            names: entries.iter().map(|&n| table.entries[n].name).collect(),
            of_symbol: vec![0; object.symbols.len()],
            strings: vec![0],
            name_offsets: Vec::new(),
            common_size: 0,
            common_align: 1,
            commons: vec![0; object.symbols.len()],
            entries,
        };
        for (n, name) in dynamic.names.iter().enumerate() {
            dynamic.name_offsets.push(dynamic.strings.len() as u32);
            dynamic.strings.extend_from_slice(name.as_bytes());
            dynamic.strings.push(0);
            if let Some(symbol) = table.entries[dynamic.entries[n]].symbol {
                dynamic.of_symbol[symbol as usize] = n as u32 + 1;
            }
        }
        dynamic.allot(object)?;
        Ok(dynamic)
    }

    /// Places the common symbols one after another.
    fn allot(&mut self, object: &Object) -> Result<(), String> {
        for (symbol, offset) in object.symbols.iter().zip(&mut self.commons) {
            match symbol.place {
                Place::Common(align) => {
                    *offset = self.common_size.next_multiple_of(align);
                    self.common_size = *offset + symbol.size;
                    self.common_align = self.common_align.max(align);
                }
                Place::Lds(_) => {
                    return Err(format!(
                        "`{}` is an LDS symbol: write an object (`--obj`) and link it",
                        symbol.name
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Offset of a common symbol.
    pub fn common(&self, symbol: u32) -> u64 {
        self.commons[symbol as usize]
    }

    /// Number in the dynamic table.
    pub fn index(&self, symbol: u32) -> Option<u32> {
        Some(self.of_symbol[symbol as usize]).filter(|&number| number != 0)
    }

    /// Room for the table.
    pub fn symbol_bytes(&self) -> Vec<u8> {
        vec![0; (self.entries.len() + 1) * SYMBOL as usize]
    }

    /// `.dynsym`.
    pub fn resolved_bytes(&self, table: &Table, places: &Places) -> Vec<u8> {
        let mut out = Vec::new();
        Sym::default().write(&mut out);
        for (&n, &name) in self.entries.iter().zip(&self.name_offsets) {
            Sym { name, ..resolved(&table.entries[n], places, self) }.write(&mut out);
        }
        out
    }

    /// System V hash table: as many buckets as symbols.
    pub fn hash(&self) -> Vec<u8> {
        let count = self.entries.len() as u32 + 1;
        let mut buckets = vec![0u32; count as usize];
        let mut chains = vec![0u32; count as usize];
        for (n, name) in self.names.iter().enumerate() {
            let bucket = sysv_hash(name) % count;
            chains[n + 1] = buckets[bucket as usize];
            buckets[bucket as usize] = n as u32 + 1;
        }
        let mut out = Vec::new();
        [count, count].into_iter().chain(buckets).chain(chains).for_each(|value| word(&mut out, value));
        out
    }

    /// GNU hash table: a Bloom filter, buckets, and the hashes in the order of the symbols.
    pub fn gnu_hash(&self) -> Vec<u8> {
        const SHIFT: u32 = 26;
        let hashes: Vec<u32> = self.names[self.undefined..].iter().map(|name| gnu_hash(name)).collect();
        let buckets = bucket_count(hashes.len());
        // Twelve bits of filter a symbol, in a power of two of words.
        let words = match hashes.len() * 12 / 64 {
            0 => 1,
            words => (words + 1).next_power_of_two(),
        };
        let mut filter = vec![0u64; words];
        let mut first = vec![0u32; buckets as usize];
        for (n, &hash) in hashes.iter().enumerate() {
            filter[(hash / 64) as usize & (words - 1)] |= 1 << (hash % 64) | 1 << ((hash >> SHIFT) % 64);
            let bucket = &mut first[(hash % buckets) as usize];
            if *bucket == 0 {
                *bucket = (self.undefined + n) as u32 + 1;
            }
        }
        let mut out = Vec::new();
        for value in [buckets, self.undefined as u32 + 1, words as u32, SHIFT] {
            word(&mut out, value);
        }
        filter.into_iter().for_each(|value| long(&mut out, value));
        first.into_iter().for_each(|value| word(&mut out, value));
        for (n, &hash) in hashes.iter().enumerate() {
            // The last of a bucket is marked.
            let last = hashes.get(n + 1).is_none_or(|next| next % buckets != hash % buckets);
            word(&mut out, hash & !1 | u32::from(last));
        }
        out
    }
}

/// The hash of the System V ABI.
fn sysv_hash(name: &str) -> u32 {
    name.bytes().fold(0, |hash: u32, byte| {
        let hash = hash.wrapping_shl(4).wrapping_add(byte.into());
        let high = hash & 0xf000_0000;
        (hash ^ high >> 24) & !high
    })
}

fn bucket_count(symbols: usize) -> u32 {
    (symbols / 4).max(1) as u32
}

fn gnu_hash(name: &str) -> u32 {
    name.bytes().fold(5381, |hash: u32, byte| hash.wrapping_mul(33).wrapping_add(byte.into()))
}

/// An entry with the address and section number of the output.
fn resolved(entry: &Entry, places: &Places, dynamic: &Dynamic) -> Sym {
    let mut sym = entry.sym;
    if sym.section == SHN_COMMON {
        let offset = entry.symbol.map_or(0, |symbol| dynamic.common(symbol));
        return Sym { section: places.common_number, value: places.common + offset, ..sym };
    }
    if sym.section == 0 || sym.section >= 0xff00 {
        return sym;
    }
    // The table was made with numbers of the object's sections, from 1.
    let section = usize::from(sym.section - 1);
    sym.value = sym.value.wrapping_add(places.sections.get(section).copied().unwrap_or(0));
    sym.section = places.numbers.get(section).copied().unwrap_or(0);
    sym
}

/// `.symtab`, `.strtab`, and the number of local symbols: what is hidden becomes local.
pub(super) fn full_table(table: &Table, dynamic: &Dynamic, places: &Places) -> (Vec<u8>, Vec<u8>, u32) {
    let named = |entry: &&Entry| entry.symbol.is_some() || entry.sym.section == SHN_ABS;
    let is_local = |entry: &&Entry| entry.sym.info >> 4 == STB_LOCAL;
    let entries = &table.entries[1..];
    let locals = entries.iter().filter(named).filter(is_local);
    let hidden = entries.iter().filter(named).filter(|entry| !is_local(entry) && !is_exported(entry));
    let global = entries.iter().filter(named).filter(|entry| is_exported(entry));
    let mut syms = vec![("", Sym::default())];
    syms.extend(locals.map(|entry| (entry.name, resolved(entry, places, dynamic))));
    for entry in hidden {
        let sym = resolved(entry, places, dynamic);
        syms.push((entry.name, Sym { info: sym.info & 15, ..sym }));
    }
    let own =
        Sym { other: STV_HIDDEN, section: places.dynamic_number, value: places.dynamic, ..Sym::default() };
    syms.push(("_DYNAMIC", own));
    let locals = syms.len() as u32;
    syms.extend(global.map(|entry| (entry.name, resolved(entry, places, dynamic))));
    let mut strings = Strings::default();
    syms.iter().for_each(|(name, _)| strings.add(name));
    strings.finish();
    let mut out = Vec::new();
    syms.iter().for_each(|(name, sym)| Sym { name: strings.offset(name), ..*sym }.write(&mut out));
    (out, strings.bytes, locals)
}

/// `.dynamic`.
pub(super) fn entries(at: impl Fn(&str) -> SectionHeader, plan: &Plan) -> Vec<u8> {
    let mut list = Vec::new();
    if !plan.relocations.is_empty() {
        let rela = at(".rela.dyn");
        list.extend([(DT_RELA, rela.address), (DT_RELASZ, rela.size), (DT_RELAENT, RELA)]);
        if plan.relative_count() > 0 {
            list.push((DT_RELACOUNT, plan.relative_count() as u64));
        }
    }
    list.extend([
        (DT_SYMTAB, at(".dynsym").address),
        (DT_SYMENT, SYMBOL),
        (DT_STRTAB, at(".dynstr").address),
        (DT_STRSZ, at(".dynstr").size),
        (DT_GNU_HASH, at(".gnu.hash").address),
        (DT_HASH, at(".hash").address),
        (DT_NULL, 0),
    ]);
    let mut out = Vec::new();
    for (tag, value) in list {
        long(&mut out, tag);
        long(&mut out, value);
    }
    out
}
