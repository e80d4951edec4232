//! The scoreboard over all paths.
//!
//! # Requires
//! A [`Program`] and its roots.
//! # Guarantees
//! Each finding is of some path of the control-flow graph, from a root on; a path with a missing wait or hazard is found
//! unless it goes through what [`Program::unknown`] lists.
//! # Calls
//! What a caller has under way goes on in a function that it calls by name, and what the function leaves goes on behind the call: of
//! operations the function's own ones, and of those of others only what the caller had. A function that others may call, too, begins in the
//! state of the calling convention. After a call of a function that is not known the calling convention holds, which clang keeps.
//! # Branches that share a condition
//! Paths that have found different values for a condition which a branch further on tests again are kept apart ([`Conditions`]), up to
//! [`MOST_VARIANTS`] kinds of paths at a place.
//! # Lattice
//! [`Scoreboard`]; it terminates because ages only fall and operations are only added at a block's head.

use crate::clauses;
use crate::conditions::{Conditions, Facts};
use crate::counters::FlatPath;
use crate::effects::Kinds;
use crate::finding::{Finding, Problem, Site};
use crate::functions::Functions;
use crate::program::{Program, Root, Unknown};
use crate::scoreboard::Scoreboard;
use isa::target::Generation;
use smallvec::SmallVec;
use std::collections::{HashMap, VecDeque};

/// Solver over a program.
pub(crate) struct Solver<'a> {
    program: &'a Program,
    /// States at the head of each block that was reached.
    heads: HashMap<Site, Head>,
    /// Heads and numbers of their variants.
    open: VecDeque<(Site, usize)>,
    conditions: Conditions<'a>,
    path: FlatPath,
    /// Whether a block begins at an instruction.
    is_head: Vec<bool>,
    /// Whether code of a function is reached from here: then `s_setpc_b64` returns.
    in_function: Vec<bool>,
    functions: Functions,
    /// What functions leave, joined over their returns.
    exits: HashMap<Site, Scoreboard>,
    /// Calls of each function that were reached, and the state there.
    calls: HashMap<Site, Vec<(Site, Scoreboard)>>,
    /// The block at which the budget ended, before all states were found.
    unfinished: Option<Site>,
}

/// What is found in a program.
pub struct Solution {
    /// Everything that is wrong, in the order of the second instruction.
    pub findings: Vec<Finding>,
    /// Paths that the solver does not follow although [`Program::unknown`] does not list them, and why.
    pub unfollowed: Vec<(Site, Unknown)>,
}

/// A place that control comes to from elsewhere.
struct Head {
    variants: Vec<Variant>,
    /// Conditions by which paths are kept apart here.
    apart: u64,
}

/// The paths to a place that have found the same conditions.
struct Variant {
    facts: Facts,
    state: Scoreboard,
    /// Whether it has to be looked at.
    is_open: bool,
}

/// Kinds of paths that are kept apart at a place.
const MOST_VARIANTS: usize = 24;

/// How a block ends.
enum End {
    /// Control goes on from a site to one of these.
    Next(Site, SmallVec<[Site; 2]>),
    /// The call at a site of the function that begins at another one.
    Call(Site, Site),
    /// The return at a site.
    Return(Site),
}

/// Returns everything that is wrong, in the order of the second instruction. `flat_lds`: flat accesses may go to LDS, whatever the
/// processor.
pub fn solve(program: &Program, roots: &[Root], flat_lds: bool) -> Vec<Finding> {
    solution(program, roots, flat_lds).findings
}

/// Returns everything that is wrong, and what was not followed. `flat_lds`: as of [`solve`].
pub fn solution(program: &Program, roots: &[Root], flat_lds: bool) -> Solution {
    let conditions = Conditions::of(program, roots);
    let solver = Solver::solved(program, roots, flat_lds, conditions);
    let mut findings: Vec<Finding> = Vec::new();
    solver.walk(&mut |finding| findings.push(finding), &mut |_, _| {});
    for (site, placed) in program.insts.iter().enumerate() {
        if let Some(rule) = program.code.single(&placed.inst) {
            let site = site as Site;
            findings.push(Finding {
                first: site,
                second: site,
                registers: None,
                problem: Problem::Event { rule },
                is_doubtful: false,
            });
        }
    }
    clauses::find(program, |finding| findings.push(finding));
    findings.sort_by_key(|finding| (finding.second, finding.first, finding.id()));
    findings.dedup_by(|other, one| one.merge(other));
    Solution { findings, unfollowed: solver.unfollowed() }
}

/// Which instructions are reached from functions.
fn function_code(program: &Program, roots: &[Root]) -> Vec<bool> {
    let mut reached = vec![false; program.insts.len()];
    let functions = roots.iter().filter(|root| root.is_function);
    let mut open: Vec<Site> = functions.filter_map(|root| program.at(root.address)).collect();
    while let Some(site) = open.pop() {
        if !std::mem::replace(&mut reached[site as usize], true) {
            open.extend(program.successors(site));
        }
    }
    reached
}

impl<'a> Solver<'a> {
    /// The states at the heads of all blocks.
    pub(crate) fn solved(
        program: &'a Program,
        roots: &[Root],
        flat_lds: bool,
        conditions: Conditions<'a>,
    ) -> Solver<'a> {
        let generation = program.code.target().generation;
        let functions = Functions::new(program, roots);
        let is_head = (0..).zip(&program.insts);
        let is_head = is_head.map(|(site, placed)| placed.is_leader() || functions.begins(site)).collect();
        let mut solver = Solver {
            program,
            is_head,
            heads: HashMap::new(),
            open: VecDeque::new(),
            conditions,
            // There global memory is accessed by flat instructions, for want of others; which may go to LDS does not show.
            path: match generation {
                Generation::Gfx7 | Generation::Gfx8 if !flat_lds => FlatPath::Memory,
                _ => FlatPath::Unknown,
            },
            in_function: function_code(program, roots),
            functions,
            exits: HashMap::new(),
            calls: HashMap::new(),
            unfinished: None,
        };
        for root in roots {
            let Some(site) = program.at(root.address) else { continue };
            // Its callers have their say below.
            if root.is_function && solver.functions.is_local(site) {
                continue;
            }
            let state = match root.is_function && !program.callers_wait {
                true => Scoreboard::callee(generation),
                false => Scoreboard::new(),
            };
            solver.reach(site, &state, Facts::default());
        }
        // Sound code needs a few turns. Where code needs more, the report says so.
        let mut budget = 1_000_000 + 64 * program.insts.len();
        while let Some((site, number)) = solver.open.pop_front().or_else(|| solver.missed(roots)) {
            let head = solver.heads.get_mut(&site);
            // Kinds of paths may have been taken together since.
            let open = head.and_then(|head| head.variants.get_mut(number)).filter(|variant| variant.is_open);
            let Some(variant) = open else { continue };
            variant.is_open = false;
            let (facts, state) = (variant.facts, variant.state.clone());
            let entries = state.len();
            let (end, state) = solver.block(site, state, &mut |_| {}, &mut |_, _| {});
            let (End::Next(last, _) | End::Call(last, _) | End::Return(last)) = end;
            let Some(left) = budget.checked_sub((last - site) as usize + 1 + entries) else {
                solver.unfinished = Some(site);
                break;
            };
            budget = left;
            match end {
                End::Next(end, next) => solver.go_on((site, end), &next, &state, facts),
                End::Call(call, callee) => solver.call(call, callee, state),
                End::Return(site) => solver.leave(site, &state),
            }
        }
        solver
    }

    /// Returns the block at which the budget ended, and the calls of known functions if there were too many functions to follow calls.
    fn unfollowed(&self) -> Vec<(Site, Unknown)> {
        let mut unfollowed: Vec<(Site, Unknown)> = Vec::new();
        if self.functions.are_too_many {
            let calls =
                (0..self.program.insts.len() as Site).filter(|site| self.program.callee(*site).is_some());
            unfollowed.extend(calls.map(|call| (call, Unknown::Call)));
        }
        unfollowed.extend(self.unfinished.map(|site| (site, Unknown::Unfinished)));
        unfollowed
    }

    /// A local function that no call has led to, as the call stands in code that is not reached: it is looked at by itself.
    fn missed(&mut self, roots: &[Root]) -> Option<(Site, usize)> {
        let functions = roots.iter().filter(|root| root.is_function);
        let mut missed = functions.filter_map(|root| self.program.at(root.address));
        let site = missed.find(|site| !self.heads.contains_key(site))?;
        let state = match self.program.callers_wait {
            true => Scoreboard::new(),
            false => Scoreboard::callee(self.program.code.target().generation),
        };
        self.is_head[site as usize] = true;
        let variants = vec![Variant { facts: Facts::default(), state, is_open: true }];
        self.heads.insert(site, Head { variants, apart: !0 });
        Some((site, 0))
    }

    /// Goes on behind a block, from its first and last instruction to the next ones; to one of them if the condition there is known.
    fn go_on(&mut self, (start, end): (Site, Site), next: &[Site], state: &Scoreboard, facts: Facts) {
        let ways = self.program.ways(end);
        let decided = ways.and_then(|_| self.conditions.decided(end, facts));
        for &site in next {
            let taken = match ways {
                Some((straight, target)) if straight != target => Some(site == target),
                _ => None,
            };
            if taken.is_some() && decided.is_some() && taken != decided {
                continue;
            }
            let facts = self.conditions.behind((start, end), site, facts, taken);
            self.reach(site, state, facts);
        }
    }

    /// A call is reached: the function begins, and goes on behind the call if it is known what it leaves.
    fn call(&mut self, call: Site, callee: Site, state: Scoreboard) {
        let mut inside = state.clone();
        inside.cross();
        self.reach(callee, &inside, Facts::default());
        let calls = self.calls.entry(callee).or_default();
        match calls.iter_mut().find(|(site, _)| *site == call) {
            Some((_, known)) => _ = known.join(&state, &self.program.code),
            None => calls.push((call, state)),
        }
        self.come_back(callee, call);
    }

    /// A function returns: all that have called it go on.
    fn leave(&mut self, site: Site, state: &Scoreboard) {
        for entry in self.functions.owners(site).to_vec() {
            let changed = match self.exits.get_mut(&entry) {
                Some(exit) => exit.join(state, &self.program.code),
                None => {
                    self.exits.insert(entry, state.clone());
                    true
                }
            };
            if changed {
                let calls: Vec<Site> =
                    self.calls.get(&entry).into_iter().flatten().map(|(site, _)| *site).collect();
                calls.into_iter().for_each(|call| self.come_back(entry, call));
            }
        }
    }

    /// Goes on behind a call, in the state that the function leaves.
    fn come_back(&mut self, callee: Site, call: Site) {
        let Some(exit) = self.exits.get(&callee) else { return };
        let Some((_, before)) = self.calls[&callee].iter().find(|(site, _)| *site == call) else { return };
        let own = |site: Site| self.functions.gets_to(callee, site);
        let mut state = exit.returned(before, own, &self.program.code);
        state.cross();
        let next: SmallVec<[Site; 2]> = self.program.successors(call).collect();
        next.into_iter().for_each(|next| self.reach(next, &state, Facts::default()));
    }

    /// Goes through every block once, in the order of addresses. `before` sees each instruction with the state in front of it.
    pub(crate) fn walk(&self, sink: &mut dyn FnMut(Finding), before: &mut dyn FnMut(Site, &Scoreboard)) {
        let mut heads: Vec<Site> = self.heads.keys().copied().collect();
        heads.sort();
        for site in heads {
            for variant in &self.heads[&site].variants {
                self.block(site, variant.state.clone(), sink, before);
            }
        }
    }

    fn reach(&mut self, site: Site, state: &Scoreboard, facts: Facts) {
        self.is_head[site as usize] = true;
        let head = self.heads.entry(site).or_insert(Head { variants: Vec::new(), apart: !0 });
        let facts = facts.only(head.apart);
        match head.variants.iter().position(|variant| variant.facts == facts) {
            Some(number) => {
                let variant = &mut head.variants[number];
                if variant.state.join(state, &self.program.code) && !variant.is_open {
                    variant.is_open = true;
                    self.open.push_back((site, number));
                }
            }
            None => {
                self.open.push_back((site, head.variants.len()));
                head.variants.push(Variant { facts, state: state.clone(), is_open: true });
                if head.variants.len() > MOST_VARIANTS {
                    self.take_together(site);
                }
            }
        }
    }

    /// Takes kinds of paths to a place together, until there are few enough: those that differ by what is tested farthest from there.
    fn take_together(&mut self, site: Site) {
        let Some(head) = self.heads.get_mut(&site) else { return };
        while head.variants.len() > MOST_VARIANTS {
            let known = head.variants.iter().fold(0, |known, variant| known | variant.facts.known());
            let Some(farthest) = self.conditions.farthest(self.program, site, known) else { return };
            head.apart &= !farthest;
            let mut left: Vec<Variant> = Vec::new();
            for variant in head.variants.drain(..) {
                let facts = variant.facts.only(head.apart);
                match left.iter_mut().find(|other| other.facts == facts) {
                    Some(other) => {
                        other.is_open |=
                            other.state.join(&variant.state, &self.program.code) | variant.is_open
                    }
                    None => left.push(Variant { facts, ..variant }),
                }
            }
            head.variants = left;
        }
        let open = head.variants.iter().enumerate().filter(|(_, variant)| variant.is_open);
        self.open.extend(open.map(|(number, _)| (site, number)));
    }

    /// Walks a block. Returns where control goes from its end, with the state there.
    fn block(
        &self,
        mut site: Site,
        mut state: Scoreboard,
        sink: &mut dyn FnMut(Finding),
        before: &mut dyn FnMut(Site, &Scoreboard),
    ) -> (End, Scoreboard) {
        let code = &self.program.code;
        loop {
            before(site, &state);
            state.issue_on(code, site, self.path, &mut |finding| sink(finding));
            let is_call = code.effects(site).kinds.contains(Kinds::CALL);
            if !is_call && self.program.goes_straight(site) && !self.is_head[site as usize + 1] {
                site += 1;
                continue;
            }
            let callee = self.program.callee(site).filter(|&callee| self.functions.is_followed(callee));
            if let Some(callee) = callee {
                return (End::Call(site, callee), state);
            }
            if is_call {
                state.after_call(code);
            }
            if self.program.returns(site) && self.in_function[site as usize] {
                let owners = self.functions.owners(site);
                // What a local function leaves under way its callers are held to.
                if owners.is_empty() || owners.iter().any(|&owner| !self.functions.is_local(owner)) {
                    state.at_return(code, site, &mut |finding| sink(finding));
                }
                return (End::Return(site), state);
            }
            if self.program.goes_straight(site) && !self.is_head[site as usize + 1] {
                site += 1;
                continue;
            }
            return (End::Next(site, self.program.successors(site).collect()), state);
        }
    }
}
