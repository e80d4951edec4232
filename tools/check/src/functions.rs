//! The functions of a program and who calls whom: what the solver needs to follow calls.

use crate::finding::Site;
use crate::program::{Program, Root};
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};

/// With more functions, or more code in them than this much of the program, it is damaged: calls are not followed then.
const MOST_FUNCTIONS: usize = 4096;
const MOST_STEPS: usize = 64;

/// See the module.
#[derive(Default)]
pub(crate) struct Functions {
    /// First instructions of kernels and functions, in order.
    starts: Vec<Site>,
    /// For each function that returns and whose ways are all known: it can be followed.
    followed: HashSet<Site>,
    /// The functions that a return may return from: those that it is reached from without a call.
    owners: HashMap<Site, SmallVec<[Site; 1]>>,
    /// Functions that only calls which are known lead to.
    local: HashSet<Site>,
    /// For each function, those it may get to, itself among them; by number in `starts`.
    reached: HashMap<Site, HashSet<usize>>,
    /// Whether there are too many functions, or too much code in them, to follow calls.
    pub(crate) are_too_many: bool,
}

impl Functions {
    pub(crate) fn new(program: &Program, roots: &[Root]) -> Functions {
        let mut starts: Vec<Site> = roots.iter().filter_map(|root| program.at(root.address)).collect();
        starts.sort();
        starts.dedup();
        let entries: Vec<Site> = roots
            .iter()
            .filter(|root| root.is_function)
            .filter_map(|root| program.at(root.address))
            .collect();
        let mut functions = Functions { starts, ..Functions::default() };
        let calls = (0..program.insts.len() as Site).filter_map(|site| program.callee(site));
        let called: HashSet<Site> = calls.collect();
        if called.is_empty() {
            return functions;
        }
        let others = match functions.starts.len() {
            0..=MOST_FUNCTIONS => functions.own(program, &entries),
            _ => None,
        };
        let Some(others) = others else {
            return Functions { starts: functions.starts, are_too_many: true, ..Functions::default() };
        };
        let is_local = |root: &&Root| root.is_function && program.local.contains(&root.address);
        let local = roots.iter().filter(is_local).filter_map(|root| program.at(root.address));
        functions.local = local.filter(|entry| called.contains(entry) || others.contains(entry)).collect();
        functions
    }

    /// Walks each function; none if that is too much. Functions that others go to in place of a return.
    fn own(&mut self, program: &Program, entries: &[Site]) -> Option<HashSet<Site>> {
        let mut jumped = HashSet::new();
        let ends: HashSet<Site> =
            program.unknown.iter().filter_map(|(address, _)| program.at(*address)).collect();
        let mut budget = 1_000_000 + MOST_STEPS * program.insts.len();
        let mut calls: HashMap<Site, HashSet<Site>> = HashMap::new();
        let mut seen = vec![Site::MAX; program.insts.len()];
        for &entry in entries {
            let (mut open, mut returns, mut is_known) = (vec![entry], false, true);
            let callees = calls.entry(entry).or_default();
            while let Some(site) = open.pop() {
                if std::mem::replace(&mut seen[site as usize], entry) == entry {
                    continue;
                }
                budget = budget.checked_sub(1)?;
                if site != entry && self.starts.binary_search(&site).is_ok() {
                    // A call in place of a return.
                    callees.insert(site);
                    jumped.insert(site);
                }
                callees.extend(program.callee(site));
                if program.returns(site) {
                    self.owners.entry(site).or_default().push(entry);
                    returns = true;
                }
                // A call that is not known comes back all the same.
                is_known &= !ends.contains(&site) || program.successors(site).next().is_some();
                open.extend(program.successors(site));
            }
            if returns && is_known {
                self.followed.insert(entry);
            }
        }
        for &entry in entries {
            let mut reached = HashSet::new();
            let mut open = vec![entry];
            while let Some(function) = open.pop() {
                budget = budget.checked_sub(1)?;
                if reached.insert(self.number(function)) {
                    open.extend(calls.get(&function).into_iter().flatten());
                }
            }
            self.reached.insert(entry, reached);
        }
        Some(jumped)
    }

    /// The number of the kernel or function that an instruction is in.
    pub(crate) fn number(&self, site: Site) -> usize {
        self.starts.partition_point(|&start| start <= site)
    }

    /// Whether one begins here.
    pub(crate) fn begins(&self, site: Site) -> bool {
        self.starts.binary_search(&site).is_ok()
    }

    /// Whether what a function leaves is known from its code.
    pub(crate) fn is_followed(&self, entry: Site) -> bool {
        self.followed.contains(&entry)
    }

    /// Whether all callers of a function are known, and there are some.
    pub(crate) fn is_local(&self, entry: Site) -> bool {
        self.local.contains(&entry)
    }

    /// The functions that a return may return from.
    pub(crate) fn owners(&self, site: Site) -> &[Site] {
        self.owners.get(&site).map_or(&[], SmallVec::as_slice)
    }

    /// Whether a function, or one that it calls, has an instruction.
    pub(crate) fn gets_to(&self, entry: Site, site: Site) -> bool {
        self.reached.get(&entry).is_none_or(|reached| reached.contains(&self.number(site)))
    }
}
