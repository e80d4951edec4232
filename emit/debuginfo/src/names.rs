//! `.debug_names`: names with their entries, found by their hashes.
//!
//! # Source
//! DWARF 5, 6.1.1 and 7.19 (the index), 7.33 (the hash). What an entry is in is not said: the verifiers of LLVM 14 and 19 take no form of
//! `DW_IDX_parent` that is the same, and in the language no type or function is in another one.

use crate::sections::Strings;
use objwriter::dwarf::Contents;
use objwriter::elf::Target;
use objwriter::leb::unsigned;
use rustc_hash::FxHashMap;

const VERSION: u32 = 5;
const DW_IDX_DIE_OFFSET: u8 = 3;
const DW_FORM_REF4: u8 = 0x13;

/// An entry with its name.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// Number of the name.
    pub text: u32,
    /// Its offset in the unit.
    pub entry: u32,
    /// Its tag.
    pub tag: u16,
}

/// Bytes of an entry in the index: its abbreviation and its offset.
const ENTRY: u32 = 5;

/// The section. `info` and `texts`: the sections of entries and of names.
pub fn write(all: &[Named], strings: &Strings, (info, texts): (Target, Target)) -> Contents {
    let names = Names::new(all, strings);
    let (abbreviations, codes) = abbreviations(all);
    let mut contents = Contents::default();
    let word = |contents: &mut Contents, value: u32| contents.bytes.extend_from_slice(&value.to_le_bytes());
    word(&mut contents, 0);
    word(&mut contents, VERSION);
    // One unit, none of types; no augmentation.
    let (buckets, count) = (names.buckets.len() as u32, names.list.len() as u32);
    for value in [1, 0, 0, buckets, count, abbreviations.len() as u32, 0] {
        word(&mut contents, value);
    }
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

/// A name.
struct Name {
    text: u32,
    hash: u32,
    /// Where in the pool of entries its own are.
    start: u32,
    /// The part of [`Names::entries`] that it has.
    first: u32,
    end: u32,
}

/// Names in the order of their buckets.
struct Names {
    list: Vec<Name>,
    /// By bucket, its first name, counted from 1; 0 for none.
    buckets: Vec<u32>,
    /// Entries, name by name.
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
        // As many buckets as LLVM takes.
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
            // Behind a name's entries stands their end.
            at += (name.end - name.first) * ENTRY + 1;
        }
        Names { list, buckets, entries }
    }
}

/// The table of abbreviations, and their codes by tag.
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

/// The hash of a name, in which case does not count. Names of the language are of ASCII.
fn hash(text: &[u8]) -> u32 {
    let step = |hash: u32, byte: &u8| hash.wrapping_mul(33).wrapping_add(byte.to_ascii_lowercase().into());
    text.iter().fold(5381, step)
}
