//! Names to numbers: a hash table that keeps no names, so that it can be used for source after source.

use crate::ast::Sym;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// No symbol.
const NONE: u32 = u32::MAX;

/// Symbols by the hash of their names.
#[derive(Default)]
pub struct Symbols {
    /// The symbol that was interned last of each bucket; a power of two of them.
    last: Vec<u32>,
    /// By symbol: its hash, and the symbol before it in its bucket.
    chain: Vec<(u64, u32)>,
}

impl Symbols {
    /// Forgets all names.
    pub fn clear(&mut self) {
        self.last.fill(NONE);
        self.chain.clear();
    }

    /// The symbol of a name; a new one is added to `names`.
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
