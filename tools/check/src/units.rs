//! Splits the code of a section into independent units, each of which is checked separately. The memory of a
//! unit is freed after its check, and threads check units in parallel.
//!
//! # How
//! Each kernel and function is first read separately. Nearly all of them reach only their own code and are
//! checked immediately. The others reach further functions, mostly by calls. They are grouped with these
//! functions, and each group is read again as one unit. They must be checked together, because the callers of
//! a function determine which operations are in flight at its entry.

use crate::program::{Program, Root};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashSet};

/// Kernels and functions that are checked together.
pub(crate) struct Unit {
    /// The code.
    pub program: Program,
    /// Kernels and functions at which the analysis starts.
    pub roots: Vec<Root>,
}

/// Splits the kernels and functions of a section into units. The function `read` reads the code that control
/// can reach from some roots.
pub(crate) struct Units<'a> {
    /// Kernels and functions of the section, sorted by address, without duplicates.
    roots: &'a [Root],
    read: &'a (dyn Fn(&mut Vec<Root>) -> Option<Program> + Sync),
}

/// Result of reading one kernel or function separately.
enum Alone<T> {
    /// The kernel or function reaches only its own code, so it was checked.
    Checked(T),
    /// The code of the kernel or function reaches the code of these other kernels and functions, given by
    /// number. So all of them must be checked together.
    Meets(Vec<usize>),
}

impl<'a> Units<'a> {
    /// Creates the units of a section. `roots` must be sorted by address. The function `read` reads the code
    /// that control can reach from some roots, and adds the functions that this code calls to the roots.
    pub(crate) fn new(
        roots: &'a [Root],
        read: &'a (dyn Fn(&mut Vec<Root>) -> Option<Program> + Sync),
    ) -> Units<'a> {
        Units { roots, read }
    }

    /// Calls `check` for each unit. Its arguments are the unit, and the addresses that the code of other
    /// units uses as values, such as function pointers. Calls `done` with the number of kernels and functions
    /// that are done. Returns the results in the order of addresses, whatever the number of threads is.
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
                let meets = self.reached_roots(&unit);
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
                // If code of other units reaches this function, the function is checked together with these
                // units. The result of its separate check is dropped.
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

    /// Returns the numbers of the kernels and functions whose code a unit reaches, in ascending order. An
    /// instruction belongs to the last kernel or function that begins at or before its address.
    fn reached_roots(&self, unit: &Unit) -> Vec<usize> {
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

/// A partition of numbers into groups, as a union-find structure. Each number has a parent, which is an
/// earlier number of the same group or the number itself.
struct Groups(Vec<usize>);

impl Groups {
    /// Returns the smallest number in the group of a number.
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
