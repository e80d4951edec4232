//! Lists of debug facts. Each list is attached to an instruction: its facts hold from just before that
//! instruction on.
//!
//! The lists are linked through one flat array, so that moving all facts of an instruction to another
//! instruction takes constant time and no memory.

use super::{Fragment, What};
use crate::entity::Inst;
use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashSet;

/// The facts of all instructions of a function.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    lists: SecondaryMap<Inst, List>,
    nodes: Vec<Node>,
    /// Scratch: the facts of the list that is being edited.
    spare: Vec<What>,
    /// Scratch: the fragments that facts after the current fact describe.
    seen: FxHashSet<Fragment>,
}

/// A list of facts: the 1-based numbers of its first and last node; 0 if it is empty.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct List {
    first: u32,
    last: u32,
    /// Whether the list may contain superseded facts.
    is_raw: bool,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    what: What,
    /// 1-based number of the next node; 0 at the end of the list.
    next: u32,
}

impl Notes {
    pub(super) fn clear(&mut self) {
        self.lists.clear();
        self.nodes.clear();
    }

    /// Returns whether facts begin to hold before the instruction.
    #[inline]
    pub fn are_before(&self, inst: Inst) -> bool {
        self.lists[inst].first != 0
    }

    /// Returns the facts that begin to hold before the instruction, in order.
    pub fn before(&self, inst: Inst) -> impl Iterator<Item = What> {
        let node = |number: u32| self.nodes.get((number as usize).wrapping_sub(1)).copied();
        std::iter::successors(node(self.lists[inst].first), move |last| node(last.next)).map(|node| node.what)
    }

    /// Adds facts before the instruction, after the facts that are already there.
    pub fn add(&mut self, inst: Inst, whats: impl IntoIterator<Item = What>) {
        let list = self.list(whats);
        self.lists[inst] = self.joined(self.lists[inst], list);
    }

    /// Adds facts before the instruction, before the facts that are already there.
    pub fn add_first(&mut self, inst: Inst, whats: impl IntoIterator<Item = What>) {
        let list = self.list(whats);
        self.put_first(inst, list);
    }

    fn list(&mut self, whats: impl IntoIterator<Item = What>) -> List {
        let first = self.nodes.len() as u32 + 1;
        for (what, next) in whats.into_iter().zip(first + 1..) {
            self.nodes.push(Node { what, next });
        }
        let Some(last) = self.nodes[first as usize - 1..].last_mut() else { return List::default() };
        last.next = 0;
        List { first, last: self.nodes.len() as u32, is_raw: true }
    }

    /// Attaches a list to an instruction, before the facts that are already there.
    pub(super) fn put_first(&mut self, inst: Inst, list: List) {
        if list.first != 0 {
            self.lists[inst] = self.joined(list, self.lists[inst]);
        }
    }

    /// Detaches the facts of an instruction.
    #[inline]
    pub(super) fn take(&mut self, inst: Inst) -> List {
        match self.are_before(inst) {
            true => std::mem::take(&mut self.lists[inst]),
            false => List::default(),
        }
    }

    /// Detaches the facts of instructions and appends them to `list`.
    pub(super) fn take_all(&mut self, mut list: List, insts: &[Inst]) -> List {
        for &inst in insts {
            let own = self.take(inst);
            list = self.joined(list, own);
        }
        list
    }

    /// Returns the list that consists of two lists.
    fn joined(&mut self, a: List, b: List) -> List {
        match (a.first, b.first) {
            (0, _) => b,
            (_, 0) => a,
            _ => {
                self.nodes[a.last as usize - 1].next = b.first;
                List { first: a.first, last: b.last, is_raw: true }
            }
        }
    }

    /// Says whether the facts before the instruction may contain superseded facts.
    pub(super) fn set_raw(&mut self, inst: Inst, is_raw: bool) {
        self.lists[inst].is_raw = is_raw;
    }

    /// Returns whether the facts before the instruction may contain superseded facts.
    pub(super) fn is_raw(&self, inst: Inst) -> bool {
        self.lists[inst].is_raw
    }

    /// Applies `change` to the facts before the instruction.
    pub fn change(&mut self, inst: Inst, mut change: impl FnMut(What) -> What) {
        self.edit(inst, |whats| whats.iter_mut().for_each(|what| *what = change(*what)));
    }

    /// Applies `change` to all facts.
    pub fn change_all(&mut self, mut change: impl FnMut(What) -> What) {
        self.nodes.iter_mut().for_each(|node| node.what = change(node.what));
    }

    /// Removes the facts before instruction `inst` for which `keep` returns false.
    pub(super) fn retain(&mut self, inst: Inst, keep: impl FnMut(&mut What) -> bool) {
        self.edit(inst, |whats| whats.retain_mut(keep));
    }

    /// Removes the superseded facts before the instruction. Only the last fact about each fragment is kept. A
    /// statement is kept only if no fact follows it, because an earlier statement has no instruction left at
    /// which a debugger could stop.
    pub(super) fn prune(&mut self, inst: Inst) {
        let List { first, last, is_raw } = self.lists[inst];
        if !is_raw {
            return;
        }
        self.lists[inst].is_raw = false;
        if first == last {
            return;
        }
        let mut seen = std::mem::take(&mut self.seen);
        self.edit(inst, |whats| {
            let mut is_last = true;
            whats.reverse();
            whats.retain(|what| {
                let is_kept = what.fragment().map_or(is_last, |fragment| seen.insert(fragment));
                is_last &= !is_kept;
                is_kept
            });
            whats.reverse();
        });
        seen.clear();
        self.seen = seen;
    }

    /// Applies `edit`, which may change and remove facts, to the facts before the instruction.
    fn edit(&mut self, inst: Inst, edit: impl FnOnce(&mut Vec<What>)) {
        if !self.are_before(inst) {
            return;
        }
        let mut whats = std::mem::take(&mut self.spare);
        whats.extend(self.before(inst));
        edit(&mut whats);
        let list = &mut self.lists[inst];
        let mut next = list.first;
        list.last = 0;
        for what in whats.drain(..) {
            let node = &mut self.nodes[next as usize - 1];
            node.what = what;
            (list.last, next) = (next, node.next);
        }
        match list.last {
            0 => *list = List::default(),
            last => self.nodes[last as usize - 1].next = 0,
        }
        self.spare = whats;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entity::Value;
    use crate::func::SrcLoc;
    use cranelift_entity::EntityRef;

    /// Pseudo-random number generator.
    struct Random(u64);

    impl Random {
        fn below(&mut self, most: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 % most as u64) as usize
        }

        fn what(&mut self) -> What {
            let fragment = Fragment { variable: 0, index: self.below(3) as u32 };
            match self.below(3) {
                0 => What::Statement(SrcLoc(self.below(90) as u32)),
                1 => What::Lost(fragment),
                _ => What::Value(fragment, Value::new(self.below(90))),
            }
        }
    }

    /// Returns the facts that pruning must keep, computed directly from the definition.
    fn seen(whats: &[What]) -> Vec<What> {
        let is_seen = |n: usize| match whats[n].fragment() {
            Some(fragment) => !whats[n + 1..].iter().any(|later| later.fragment() == Some(fragment)),
            None => n + 1 == whats.len(),
        };
        (0..whats.len()).filter(|&n| is_seen(n)).map(|n| whats[n]).collect()
    }

    /// Compares the lists with plain vectors, over random changes.
    #[test]
    fn lists_keep_what_counts_in_order() {
        let mut random = Random(0x2545_f491_4f6c_dd1d);
        let mut notes = Notes::default();
        let mut plain: Vec<Vec<What>> = vec![Vec::new(); 5];
        for _ in 0..4000 {
            let at = random.below(5);
            let whats: Vec<What> = (0..random.below(4)).map(|_| random.what()).collect();
            match random.below(6) {
                0 => {
                    notes.add_first(Inst::new(at), whats.iter().copied());
                    plain[at].splice(0..0, whats);
                }
                1 | 2 => {
                    notes.add(Inst::new(at), whats.iter().copied());
                    plain[at].extend(whats);
                }
                3 => {
                    let (from, list) = ((at + 1) % 5, notes.take(Inst::new((at + 1) % 5)));
                    notes.put_first(Inst::new(at), list);
                    let moved = std::mem::take(&mut plain[from]);
                    plain[at].splice(0..0, moved);
                }
                4 => {
                    let what = random.what();
                    notes.retain(Inst::new(at), |other| *other != what);
                    plain[at].retain(|other| *other != what);
                }
                _ => {
                    notes.prune(Inst::new(at));
                    plain[at] = seen(&plain[at]);
                }
            }
            for (n, plain) in plain.iter().enumerate() {
                assert_eq!(notes.before(Inst::new(n)).collect::<Vec<_>>(), *plain);
                assert_eq!(notes.are_before(Inst::new(n)), !plain.is_empty());
            }
        }
    }
}
