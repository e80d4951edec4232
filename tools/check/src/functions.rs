//! The functions of a program and their call graph. The solver needs them to follow calls.

use crate::finding::Site;
use crate::program::{Program, Root};
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};

/// Maximum number of functions in a program whose calls are followed. A program with more functions is taken
/// as damaged. A program also counts as damaged if a walk over all its functions takes more than `MOST_STEPS`
/// steps for each instruction.
const MOST_FUNCTIONS: usize = 4096;
const MOST_STEPS: usize = 64;

/// The functions of a program and their call graph.
#[derive(Default)]
pub(crate) struct Functions {
    /// First instructions of kernels and functions, sorted.
    starts: Vec<Site>,
    /// Functions whose calls the solver can follow. All paths through such a function are known, and it
    /// returns.
    followed: HashSet<Site>,
    /// For each return instruction, the functions that return with it: control reaches the instruction from
    /// the beginning of these functions without a call.
    owners: HashMap<Site, SmallVec<[Site; 1]>>,
    /// Functions whose callers are all known.
    local: HashSet<Site>,
    /// For each function, the functions that may run during a call of it: the function itself, and all
    /// functions that it may call directly or indirectly. They are given as indices of `starts`.
    reached: HashMap<Site, HashSet<usize>>,
    /// Whether calls are not followed, because the program has too many functions or too much code in them.
    pub(crate) are_too_many: bool,
}

impl Functions {
    pub(crate) fn new(program: &Program, roots: &[Root]) -> Functions {
        let mut starts: Vec<Site> = roots.iter().filter_map(|root| program.site_at(root.address)).collect();
        starts.sort();
        starts.dedup();
        let entries: Vec<Site> = roots
            .iter()
            .filter(|root| root.is_function)
            .filter_map(|root| program.site_at(root.address))
            .collect();
        let mut functions = Functions { starts, ..Functions::default() };
        let calls = (0..program.insts.len() as Site).filter_map(|site| program.callee(site));
        let called: HashSet<Site> = calls.collect();
        if called.is_empty() {
            return functions;
        }
        let others = match functions.starts.len() {
            0..=MOST_FUNCTIONS => functions.collect_bodies(program, &entries),
            _ => None,
        };
        let Some(others) = others else {
            return Functions { starts: functions.starts, are_too_many: true, ..Functions::default() };
        };
        let is_local = |root: &&Root| root.is_function && program.local.contains(&root.address);
        let local = roots.iter().filter(is_local).filter_map(|root| program.site_at(root.address));
        functions.local = local.filter(|entry| called.contains(entry) || others.contains(entry)).collect();
        functions
    }

    /// Walks over the code of each function, and fills in the fields of `self`. Returns the functions that a
    /// jump reaches, because such a jump is a tail call. Returns `None` if the walk takes too long.
    fn collect_bodies(&mut self, program: &Program, entries: &[Site]) -> Option<HashSet<Site>> {
        let mut jumped = HashSet::new();
        let ends: HashSet<Site> =
            program.unknown.iter().filter_map(|(address, _)| program.site_at(*address)).collect();
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
                    // A jump to another function is a tail call.
                    callees.insert(site);
                    jumped.insert(site);
                }
                callees.extend(program.callee(site));
                if program.returns(site) {
                    self.owners.entry(site).or_default().push(entry);
                    returns = true;
                }
                // If control goes from an instruction to an unknown place, not all paths through the function
                // are known. A call of an unknown function is an exception, because control comes back to the
                // instruction after the call.
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

    /// Returns the number of the kernel or function that contains an instruction.
    pub(crate) fn number(&self, site: Site) -> usize {
        self.starts.partition_point(|&start| start <= site)
    }

    /// Returns whether a kernel or function begins at an instruction.
    pub(crate) fn begins(&self, site: Site) -> bool {
        self.starts.binary_search(&site).is_ok()
    }

    /// Returns whether the solver follows calls of a function. It does if it can derive the effect of a call
    /// from the function's code.
    pub(crate) fn is_followed(&self, entry: Site) -> bool {
        self.followed.contains(&entry)
    }

    /// Returns whether all callers of a function are known and there is at least one.
    pub(crate) fn is_local(&self, entry: Site) -> bool {
        self.local.contains(&entry)
    }

    /// Returns the functions to which a return instruction belongs: those that return with it.
    pub(crate) fn owners(&self, site: Site) -> &[Site] {
        self.owners.get(&site).map_or(&[], SmallVec::as_slice)
    }

    /// Returns whether the instruction at `site` may run during a call of the function that begins at
    /// `entry`. It may if it is in this function, or in a function that this function calls directly or
    /// indirectly.
    pub(crate) fn gets_to(&self, entry: Site, site: Site) -> bool {
        self.reached.get(&entry).is_none_or(|reached| reached.contains(&self.number(site)))
    }
}
