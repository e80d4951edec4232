//! A hash table from names to symbol numbers. It stores hashes instead of the names, so that it can be reused
//! for another source text.

use crate::ast::Sym;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// Number that stands for the absence of a symbol.
const NONE: u32 = u32::MAX;

/// Symbols, found by the hash of their names.
#[derive(Default)]
pub struct Symbols {
    /// For each bucket of the hash table: the symbol that was added last. The number of buckets is a power of
    /// two.
    last: Vec<u32>,
    /// For each symbol: the hash of its name, and the symbol that was added to the same bucket before it.
    chain: Vec<(u64, u32)>,
}

impl Symbols {
    /// Removes all names.
    pub fn clear(&mut self) {
        self.last.fill(NONE);
        self.chain.clear();
    }

    /// Returns the symbol of a name. A new name is appended to `names`.
    pub fn intern<'a>(&mut self, name: &'a str, names: &mut Vec<&'a str>) -> Sym {
        if self.chain.len() >= self.last.len() {
            self.grow();
        }
        let hash = hash(name);
        let bucket = self.bucket(hash);
        let mut at = self.last[bucket];
        while let Some(&(other, before)) = self.chain.get(at as usize) {
            if other == hash && names[at as usize] == name {
                return Sym(at);
            }
            at = before;
        }
        let new = self.chain.len() as u32;
        self.chain.push((hash, self.last[bucket]));
        self.last[bucket] = new;
        names.push(name);
        Sym(new)
    }

    fn bucket(&self, hash: u64) -> usize {
        hash as usize & (self.last.len() - 1)
    }

    fn grow(&mut self) {
        let count = (self.last.len() * 2).max(64);
        self.last.clear();
        self.last.resize(count, NONE);
        for n in 0..self.chain.len() {
            let bucket = self.bucket(self.chain[n].0);
            self.chain[n].1 = std::mem::replace(&mut self.last[bucket], n as u32);
        }
    }
}

fn hash(name: &str) -> u64 {
    let mut hasher = FxHasher::default();
    name.hash(&mut hasher);
    let bits = hasher.finish();
    bits ^ bits >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_have_one_symbol() {
        let texts: Vec<String> = (0..1000).map(|n| format!("name{n}")).collect();
        let mut symbols = Symbols::default();
        for _ in 0..2 {
            symbols.clear();
            let mut names = Vec::new();
            for round in 0..2 {
                for (n, text) in texts.iter().enumerate() {
                    assert_eq!(symbols.intern(text, &mut names), Sym(n as u32), "round {round}");
                }
            }
            assert_eq!(names, texts);
        }
    }
}
