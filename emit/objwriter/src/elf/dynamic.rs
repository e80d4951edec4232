//! Tables that a loader reads: the dynamic symbol table, its two hash tables, and the section `.dynamic`.

use super::format::*;
use super::loadable::Places;
use super::relocate::Plan;
use super::strings::Strings;
use super::symtab::{Entry, Table};
use super::{Object, Place, STB_LOCAL, STV_HIDDEN, STV_INTERNAL};
use bumpalo::{Bump, collections::Vec as List};

/// The dynamic symbol table, which has the symbols that other objects may see. Also gives common symbols
/// their places in memory, as a linker does.
pub(super) struct Dynamic<'a> {
    /// Entries of the dynamic symbol table in its order, each with the offset of its name in the dynamic
    /// string table.
    entries: List<'a, (Entry<'a>, u32)>,
    /// Number of undefined symbols. They are first in the table, because the GNU hash table must not contain
    /// them.
    undefined: usize,
    /// For each symbol of the object, its number in the dynamic symbol table; 0 if the table does not contain
    /// the symbol.
    of_symbol: List<'a, u32>,
    /// Size of the names in bytes.
    pub names: u64,
    pub common_size: u64,
    pub common_align: u64,
    /// For each common symbol, its offset in the block of memory that holds all common symbols.
    commons: List<'a, u64>,
    bump: &'a Bump,
}

/// Returns whether a symbol is visible outside the object.
fn is_exported(entry: &Entry) -> bool {
    let binding = entry.sym.info >> 4;
    binding != STB_LOCAL && !matches!(entry.sym.other & 3, STV_HIDDEN | STV_INTERNAL)
}

impl<'a> Dynamic<'a> {
    pub fn new(object: &Object<'a>, table: &Table<'a>, bump: &'a Bump) -> Result<Dynamic<'a>, String> {
        let mut entries = List::with_capacity_in(table.entries.len(), bump);
        // Names are in the order of the full table.
        let mut names = 1u64;
        entries.extend(table.entries.iter().filter(|entry| is_exported(entry)).map(|&entry| {
            let name = names as u32;
            names += entry.name.len() as u64 + 1;
            (entry, name)
        }));
        let is_defined = |entry: &Entry| entry.sym.section != 0;
        let defined = entries.iter().filter(|(entry, _)| is_defined(entry)).count();
        let buckets = bucket_count(defined);
        let mut order = List::with_capacity_in(entries.len(), bump);
        order.extend(entries.iter().enumerate().map(|(n, (entry, _))| match is_defined(entry) {
            false => (0, 0, n),
            true => (1, gnu_hash(entry.name) % buckets, n),
        }));
        order.sort_unstable();
        let mut dynamic = Dynamic {
            undefined: entries.len() - defined,
            entries: List::with_capacity_in(entries.len(), bump),
            of_symbol: bumpalo::vec![in bump; 0; object.symbols.len()],
            names,
            common_size: 0,
            common_align: 1,
            commons: bumpalo::vec![in bump; 0; object.symbols.len()],
            bump,
        };
        for (_, _, n) in order {
            let (entry, name) = entries[n];
            dynamic.entries.push((entry, name));
            if let Some(symbol) = entry.symbol {
                dynamic.of_symbol[symbol as usize] = dynamic.entries.len() as u32;
            }
        }
        dynamic.allot(object)?;
        Ok(dynamic)
    }

    /// Allocates memory for the common symbols, one after another.
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

    /// Returns the offset of a common symbol in the block of memory that holds all common symbols.
    pub fn common(&self, symbol: u32) -> u64 {
        self.commons[symbol as usize]
    }

    /// Returns the number of a symbol in the dynamic table.
    pub fn index(&self, symbol: u32) -> Option<u32> {
        Some(self.of_symbol[symbol as usize]).filter(|&number| number != 0)
    }

    /// Returns the size of `.dynsym` in bytes.
    pub fn symbols_size(&self) -> u64 {
        (self.entries.len() as u64 + 1) * SYMBOL
    }

    /// Writes `.dynsym`.
    pub fn write_symbols(&self, places: &Places, out: &mut Vec<u8>) {
        Sym::default().write(out);
        for (entry, name) in &self.entries {
            Sym { name: *name, ..resolved(entry, places, self) }.write(out);
        }
    }

    /// Writes `.dynstr`.
    pub fn write_names(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + self.names as usize, 0);
        for (entry, name) in &self.entries {
            let at = start + *name as usize;
            out[at..at + entry.name.len()].copy_from_slice(entry.name.as_bytes());
        }
    }

    /// Returns the size in bytes of the System V hash table that [`Dynamic::write_hash`] writes.
    pub fn hash_size(&self) -> u64 {
        (2 + 2 * (self.entries.len() as u64 + 1)) * 4
    }

    /// Writes the System V hash table, which has as many buckets as symbols.
    pub fn write_hash(&self, out: &mut Vec<u8>) {
        let count = self.entries.len() as u32 + 1;
        let mut buckets = bumpalo::vec![in self.bump; 0u32; count as usize];
        let mut chains = bumpalo::vec![in self.bump; 0u32; count as usize];
        for (n, (entry, _)) in self.entries.iter().enumerate() {
            let bucket = sysv_hash(entry.name) % count;
            chains[n + 1] = buckets[bucket as usize];
            buckets[bucket as usize] = n as u32 + 1;
        }
        [count, count].into_iter().chain(buckets).chain(chains).for_each(|value| word(out, value));
    }

    /// Returns the sizes of the three parts of the GNU hash table: the number of names, of words in its Bloom
    /// filter, and of buckets.
    fn gnu_hash_shape(&self) -> (usize, usize, u32) {
        let names = self.entries.len() - self.undefined;
        // The Bloom filter has about twelve bits for each symbol, and its number of words is a power of two,
        // as in `ld.lld`.
        let words = match names * 12 / 64 {
            0 => 1,
            words => (words + 1).next_power_of_two(),
        };
        (names, words, bucket_count(names))
    }

    /// Returns the size in bytes of the GNU hash table that [`Dynamic::write_gnu_hash`] writes.
    pub fn gnu_hash_size(&self) -> u64 {
        let (names, words, buckets) = self.gnu_hash_shape();
        16 + words as u64 * 8 + (u64::from(buckets) + names as u64) * 4
    }

    /// Writes the GNU hash table: a Bloom filter, the buckets, and the hashes of the names in the order of
    /// the symbols.
    pub fn write_gnu_hash(&self, out: &mut Vec<u8>) {
        const SHIFT: u32 = 26;
        let (names, words, buckets) = self.gnu_hash_shape();
        let mut hashes = List::with_capacity_in(names, self.bump);
        hashes.extend(self.entries[self.undefined..].iter().map(|(entry, _)| gnu_hash(entry.name)));
        let mut filter = bumpalo::vec![in self.bump; 0u64; words];
        let mut first = bumpalo::vec![in self.bump; 0u32; buckets as usize];
        for (n, &hash) in hashes.iter().enumerate() {
            filter[(hash / 64) as usize & (words - 1)] |= 1 << (hash % 64) | 1 << ((hash >> SHIFT) % 64);
            let bucket = &mut first[(hash % buckets) as usize];
            if *bucket == 0 {
                *bucket = (self.undefined + n) as u32 + 1;
            }
        }
        for value in [buckets, self.undefined as u32 + 1, words as u32, SHIFT] {
            word(out, value);
        }
        filter.into_iter().for_each(|value| long(out, value));
        first.into_iter().for_each(|value| word(out, value));
        for (n, &hash) in hashes.iter().enumerate() {
            // The lowest bit marks the last hash of a bucket.
            let last = hashes.get(n + 1).is_none_or(|next| next % buckets != hash % buckets);
            word(out, hash & !1 | u32::from(last));
        }
    }
}

/// Returns the hash of the System V ABI.
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

/// Returns the symbol table entry of a symbol with its address and section number in the output file, instead
/// of those in the input object.
fn resolved(entry: &Entry, places: &Places, dynamic: &Dynamic) -> Sym {
    let mut sym = entry.sym;
    if sym.section == SHN_COMMON {
        let offset = entry.symbol.map_or(0, |symbol| dynamic.common(symbol));
        return Sym { section: places.common_number, value: places.common + offset, ..sym };
    }
    if sym.section == 0 || sym.section >= 0xff00 {
        return sym;
    }
    // The entry still has the number of a section in the input object, counted from 1.
    let section = usize::from(sym.section - 1);
    sym.value = sym.value.wrapping_add(places.sections.get(section).copied().unwrap_or(0));
    sym.section = places.numbers.get(section).copied().unwrap_or(0);
    sym
}

/// Symbols of `.symtab`, with their names in `.strtab`.
pub(super) struct Full<'a> {
    syms: List<'a, (&'a str, Sym)>,
    pub strings: Strings<'a>,
    /// Number of leading symbols that are local.
    pub locals: u32,
}

impl<'a> Full<'a> {
    /// Collects all symbols. Hidden symbols become local.
    pub fn new(table: &Table<'a>, dynamic: &Dynamic, places: &Places, bump: &'a Bump) -> Full<'a> {
        let named = |entry: &&Entry| entry.symbol.is_some() || entry.sym.section == SHN_ABS;
        let is_local = |entry: &&Entry| entry.sym.info >> 4 == STB_LOCAL;
        let entries = &table.entries[1..];
        let locals = entries.iter().filter(named).filter(is_local);
        let hidden = entries.iter().filter(named).filter(|entry| !is_local(entry) && !is_exported(entry));
        let global = entries.iter().filter(named).filter(|entry| is_exported(entry));
        let mut syms = List::with_capacity_in(table.entries.len() + 1, bump);
        syms.push(("", Sym::default()));
        syms.extend(locals.map(|entry| (entry.name, resolved(entry, places, dynamic))));
        for entry in hidden {
            let sym = resolved(entry, places, dynamic);
            syms.push((entry.name, Sym { info: sym.info & 15, ..sym }));
        }
        let (section, value) = (places.dynamic_number, places.dynamic);
        syms.push(("_DYNAMIC", Sym { other: STV_HIDDEN, section, value, ..Sym::default() }));
        let locals = syms.len() as u32;
        syms.extend(global.map(|entry| (entry.name, resolved(entry, places, dynamic))));
        let mut strings = Strings::new(syms.len(), bump);
        syms.iter().for_each(|(name, _)| strings.add(name));
        strings.finish();
        Full { syms, strings, locals }
    }

    /// Returns the size of both tables in bytes.
    pub fn size(&self) -> usize {
        self.syms.len() * SYMBOL as usize + self.strings.bytes.len()
    }

    /// Writes `.symtab`.
    pub fn write(&self, out: &mut Vec<u8>) {
        for (name, sym) in &self.syms {
            Sym { name: self.strings.offset(name), ..*sym }.write(out);
        }
    }
}

/// Calls `each` with the tag and value of every entry of the section `.dynamic`. `at` returns the header of
/// the output section with a given name.
pub(super) fn entries(at: impl Fn(&str) -> SectionHeader, plan: &Plan, mut each: impl FnMut(u64, u64)) {
    if !plan.relocations.is_empty() {
        let rela = at(".rela.dyn");
        each(DT_RELA, rela.address);
        each(DT_RELASZ, rela.size);
        each(DT_RELAENT, RELA);
        if plan.relative_count() > 0 {
            each(DT_RELACOUNT, plan.relative_count() as u64);
        }
    }
    each(DT_SYMTAB, at(".dynsym").address);
    each(DT_SYMENT, SYMBOL);
    each(DT_STRTAB, at(".dynstr").address);
    each(DT_STRSZ, at(".dynstr").size);
    each(DT_GNU_HASH, at(".gnu.hash").address);
    each(DT_HASH, at(".hash").address);
    each(DT_NULL, 0);
}
