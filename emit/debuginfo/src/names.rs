//! `.debug_names`, the index of names: a hash table by which debuggers find the entries with a name.
//!
//! # Source
//! DWARF 5, 6.1.1 and 7.19 (the index), 7.33 (the hash). The index does not give the parents of entries
//! (`DW_IDX_parent`). No form of this attribute is accepted by the verifiers of both LLVM 14 and LLVM 19. In
//! this language no type or function is nested in another, so parents are not needed.

use crate::sections::Strings;
use objwriter::dwarf::Contents;
use objwriter::elf::Target;
use objwriter::leb::unsigned;
use rustc_hash::FxHashMap;

const VERSION: u32 = 5;
const DW_IDX_DIE_OFFSET: u8 = 3;
const DW_FORM_REF4: u8 = 0x13;

/// Entry with its name.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// Number of the name in `Strings`.
    pub text: u32,
    /// Offset of the entry in the unit.
    pub entry: u32,
    /// Tag of the entry.
    pub tag: u16,
}

/// Size in bytes of an entry of the name index: abbreviation code (1 byte) and offset (4 bytes).
const ENTRY: u32 = 5;

/// Returns the contents of `.debug_names`. `augmentation` names the extensions that the unit uses. `info` and
/// `texts` are the sections `.debug_info` and `.debug_str`, to which the index refers.
pub fn write(
    all: &[Named],
    strings: &Strings,
    augmentation: &str,
    (info, texts): (Target, Target),
) -> Contents {
    let names = Names::new(all, strings);
    let (abbreviations, codes) = abbreviations(all);
    let mut contents = Contents::default();
    let word = |contents: &mut Contents, value: u32| contents.bytes.extend_from_slice(&value.to_le_bytes());
    word(&mut contents, 0);
    word(&mut contents, VERSION);
    // The header of the name index: it covers one compilation unit and no type units. The augmentation string
    // is padded to whole dwords.
    let (buckets, count) = (names.buckets.len() as u32, names.list.len() as u32);
    let padded = augmentation.len().next_multiple_of(4);
    for value in [1, 0, 0, buckets, count, abbreviations.len() as u32, padded as u32] {
        word(&mut contents, value);
    }
    contents.bytes.extend_from_slice(augmentation.as_bytes());
    contents.bytes.resize(contents.bytes.len() + padded - augmentation.len(), 0);
    contents.field(4, info, 0);
    names.buckets.iter().for_each(|&first| word(&mut contents, first));
    names.list.iter().for_each(|name| word(&mut contents, name.hash));
    names.list.iter().for_each(|name| contents.field(4, texts, strings.offset(name.text).into()));
    names.list.iter().for_each(|name| word(&mut contents, name.start));
    contents.bytes.extend_from_slice(&abbreviations);
    for name in &names.list {
        for &number in &names.entries[name.first as usize..name.end as usize] {
            let named = &all[number as usize];
            contents.bytes.push(codes[&named.tag]);
            word(&mut contents, named.entry);
        }
        contents.bytes.push(0);
    }
    contents.close(0);
    contents
}

/// Name in the index.
struct Name {
    text: u32,
    hash: u32,
    /// Offset of the name's first entry in the entry pool.
    start: u32,
    /// Range of [`Names::entries`] that belongs to the name.
    first: u32,
    end: u32,
}

/// Names in the order of their buckets.
struct Names {
    list: Vec<Name>,
    /// For each bucket of the hash table, the number of the bucket's first name, counted from 1; 0 for an
    /// empty bucket.
    buckets: Vec<u32>,
    /// Entries, sorted by name.
    entries: Vec<u32>,
}

impl Names {
    fn new(all: &[Named], strings: &Strings) -> Names {
        let mut entries: Vec<u32> = (0..all.len() as u32).collect();
        entries.sort_by_key(|&number| all[number as usize].text);
        let mut list: Vec<Name> = Vec::new();
        for (&number, at) in entries.iter().zip(0..) {
            let text = all[number as usize].text;
            match list.last_mut().filter(|last| last.text == text) {
                Some(last) => last.end = at + 1,
                None => {
                    list.push(Name {
                        text,
                        hash: hash(strings.text(text)),
                        start: 0,
                        first: at,
                        end: at + 1,
                    });
                }
            }
        }
        // LLVM uses the same number of buckets.
        let mut hashes: Vec<u32> = list.iter().map(|name| name.hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        let count = match hashes.len() {
            many @ 1025.. => many / 4,
            some @ 17.. => some / 2,
            few => few.max(1),
        } as u32;
        list.sort_by_key(|name| (name.hash % count, name.hash, name.text));
        let mut buckets = vec![0; count as usize];
        for (name, number) in list.iter().zip(1..) {
            let first = &mut buckets[(name.hash % count) as usize];
            if *first == 0 {
                *first = number;
            }
        }
        let mut at = 0;
        for name in &mut list {
            name.start = at;
            // The entries of a name are followed by a byte 0.
            at += (name.end - name.first) * ENTRY + 1;
        }
        Names { list, buckets, entries }
    }
}

/// Returns the table of abbreviations, and their codes by tag.
fn abbreviations(all: &[Named]) -> (Vec<u8>, FxHashMap<u16, u8>) {
    let mut codes = FxHashMap::default();
    let mut table = Vec::new();
    for named in all {
        let next = codes.len() as u8 + 1;
        codes.entry(named.tag).or_insert_with(|| {
            table.push(next);
            unsigned(&mut table, named.tag.into());
            table.extend_from_slice(&[DW_IDX_DIE_OFFSET, DW_FORM_REF4, 0, 0]);
            next
        });
    }
    table.push(0);
    (table, codes)
}

/// Returns the hash of a name, ignoring case (DWARF 5, 7.33). Names in this language are ASCII.
fn hash(text: &[u8]) -> u32 {
    let step = |hash: u32, byte: &u8| hash.wrapping_mul(33).wrapping_add(byte.to_ascii_lowercase().into());
    text.iter().fold(5381, step)
}
