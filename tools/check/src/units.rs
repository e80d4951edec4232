//! The code of a section in units that share nothing, each checked by itself: memory is given back between units, and threads take units
//! side by side.
//!
//! # How
//! Every kernel and function is read alone. Nearly all get to no code but their own: those are checked at once. The others are put together
//! with what they get to (calls, mostly), and each such group is read again, together: who calls a function decides what is under way there.

use crate::program::{Program, Root};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashSet};

/// What is read of a section.
pub(crate) struct Unit {
    /// The code.
    pub program: Program,
    /// Where it begins.
    pub roots: Vec<Root>,
}

/// The beginnings of kernels and functions of a section, and how code is read.
pub(crate) struct Units<'a> {
    /// In the order of addresses, each once.
    roots: &'a [Root],
    read: &'a (dyn Fn(&mut Vec<Root>) -> Option<Program> + Sync),
}

/// A kernel or function that was read alone.
enum Alone<T> {
    /// It gets to no other's code.
    Checked(T),
    /// It gets to these, by number.
    Meets(Vec<usize>),
}

impl<'a> Units<'a> {
    /// `roots` are in the order of addresses; `read` reads the code from some of them on, and adds functions that are called.
    pub(crate) fn new(
        roots: &'a [Root],
        read: &'a (dyn Fn(&mut Vec<Root>) -> Option<Program> + Sync),
    ) -> Units<'a> {
        Units { roots, read }
    }

    /// Checks each unit, and says how many kernels and functions are done. The results are in the order of addresses, however many threads
    /// there are. `check` is given a unit, and the addresses that code of other units takes.
    pub(crate) fn check<T: Send>(
        &self,
        check: &(dyn Fn(Unit, &HashSet<u32>) -> T + Sync),
        done: &(dyn Fn(usize) + Sync),
    ) -> Vec<T> {
        let nothing = HashSet::new();
        let alone: Vec<(Alone<T>, HashSet<u32>)> = (0..self.roots.len())
            .into_par_iter()
            .map(|number| {
                let Some(unit) = self.unit(&[number]) else {
                    return (Alone::Meets(Vec::new()), HashSet::new());
                };
                let taken = unit.program.taken().clone();
                let meets = self.meets(&unit);
                if unit.roots.len() > 1 || meets != [number] {
                    return (Alone::Meets(meets), taken);
                }
                let checked = Alone::Checked(check(unit, &nothing));
                done(1);
                (checked, taken)
            })
            .collect();
        let mut taken = HashSet::new();
        let mut groups = Groups((0..self.roots.len()).collect());
        for (number, (one, addresses)) in alone.iter().enumerate() {
            taken.extend(addresses);
            if let Alone::Meets(others) = one {
                others.iter().for_each(|other| groups.join(number, *other));
            }
        }
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for number in 0..self.roots.len() {
            members.entry(groups.first(number)).or_default().push(number);
        }
        let alone: Vec<Option<T>> = alone
            .into_iter()
            .map(|(one, _)| match one {
                Alone::Checked(result) => Some(result),
                Alone::Meets(_) => None,
            })
            .collect();
        let mut results = Vec::new();
        let mut together = Vec::new();
        for (number, result) in alone.into_iter().enumerate() {
            let members = &members[&groups.first(number)];
            match result {
                // Others that get to its code take it in.
                Some(result) if members.len() == 1 => results.push((number, result)),
                _ if members[0] == number => together.push(members),
                _ => {}
            }
        }
        let checked = together.into_par_iter().filter_map(|members| {
            let result = check(self.unit(members)?, &taken);
            done(members.len());
            Some((members[0], result))
        });
        results.extend(checked.collect::<Vec<_>>());
        results.sort_by_key(|(number, _)| *number);
        results.into_iter().map(|(_, result)| result).collect()
    }

    fn unit(&self, members: &[usize]) -> Option<Unit> {
        let mut roots: Vec<Root> = members.iter().map(|number| self.roots[*number]).collect();
        let program = (self.read)(&mut roots)?;
        Some(Unit { program, roots })
    }

    /// Whose code a unit gets to, in order. Code belongs to the nearest root before it.
    fn meets(&self, unit: &Unit) -> Vec<usize> {
        let owner =
            |address: u64| self.roots.partition_point(|root| root.address <= address).saturating_sub(1);
        let mut owners: Vec<usize> = Vec::new();
        for placed in &unit.program.insts {
            let is_same = owners.last().is_some_and(|last| {
                let end = self.roots.get(last + 1).map_or(u64::MAX, |root| root.address);
                (self.roots[*last].address..end).contains(&placed.address)
            });
            if !is_same {
                owners.push(owner(placed.address));
            }
        }
        owners.dedup();
        owners
    }
}

/// Numbers in groups: each names one before it that is in the same group, or itself.
struct Groups(Vec<usize>);

impl Groups {
    /// The first of the group.
    fn first(&mut self, mut number: usize) -> usize {
        while self.0[number] != number {
            self.0[number] = self.0[self.0[number]];
            number = self.0[number];
        }
        number
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.first(one), self.first(other));
        self.0[one.max(other)] = one.min(other);
    }
}
