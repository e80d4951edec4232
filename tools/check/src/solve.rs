//! Runs the scoreboard over all paths of a program.
//!
//! # Requires
//! A [`Program`] and its roots.
//! # Guarantees
//! Each finding is on some path of the control-flow graph that begins at a root. Each path with a missing
//! wait or an unmitigated hazard gives a finding, unless the path goes through code that [`Program::unknown`]
//! lists.
//! # Calls
//! In a directly called function, the operations that the caller has in flight are still in flight. After the
//! call, the operations that the function leaves in flight are still in flight: its own operations and those
//! of this caller, but not those of other callers. A function that unknown callers may call begins in the
//! state that the calling convention permits. After a call of an unknown function, the state is what the
//! calling convention guarantees; clang obeys the convention.
//! # Branches that share a condition
//! A later branch may test the same condition again ([`Conditions`]). Until then, paths on which the
//! condition is true are kept separate from those on which it is false. There are at most [`MOST_VARIANTS`]
//! such groups of paths at a program point.
//! # Lattice
//! [`Scoreboard`]. The iteration terminates because joins only lower ages and only add operations at the
//! beginning of a block.

use crate::clauses;
use crate::conditions::{Conditions, Facts};
use crate::counters::FlatPath;
use crate::effects::Kinds;
use crate::finding::{Finding, Problem, Site};
use crate::functions::Functions;
use crate::program::{Program, Root, Unknown};
use crate::scoreboard::Scoreboard;
use isa::Feature;
use smallvec::SmallVec;
use std::collections::{HashMap, VecDeque};

/// Data-flow solver over a program.
pub(crate) struct Solver<'a> {
    program: &'a Program,
    /// States at the beginning of each block that was reached.
    heads: HashMap<Site, Head>,
    /// Work list of the blocks that have to be followed. An element is the beginning of a block and the index
    /// of one of its variants (see [`Variant`]).
    open: VecDeque<(Site, usize)>,
    conditions: Conditions<'a>,
    path: FlatPath,
    /// Whether a block begins at each instruction.
    is_head: Vec<bool>,
    /// For each instruction, whether control can reach it from the start of a function. If it can, a
    /// `s_setpc_b64` at this place is a return.
    in_function: Vec<bool>,
    functions: Functions,
    /// The state in which each function returns, joined over all its returns.
    exits: HashMap<Site, Scoreboard>,
    /// For each function, its calls that control reaches, each with the state at the call.
    calls: HashMap<Site, Vec<(Site, Scoreboard)>>,
    /// The block at which the solver gave up, because it had used up its budget of steps before the fixpoint.
    unfinished: Option<Site>,
}

/// Result of checking a program.
pub struct Solution {
    /// All findings, sorted by the second instruction.
    pub findings: Vec<Finding>,
    /// Code that the solver has not followed, with the reason for each. Code that [`Program::unknown`] lists
    /// is not included.
    pub unfollowed: Vec<(Site, Unknown)>,
}

/// The beginning of a block, with the states that the paths to it have there.
struct Head {
    variants: Vec<Variant>,
    /// Mask of the conditions by which paths to this block are kept apart. Paths with different values of
    /// such a condition belong to different variants.
    apart: u64,
}

/// All paths to a block on which the same conditions are known, with the same values.
struct Variant {
    facts: Facts,
    state: Scoreboard,
    /// Whether the variant is on the work list.
    is_open: bool,
}

/// Largest number of variants at a block.
const MOST_VARIANTS: usize = 24;

/// How a block ends.
enum End {
    /// The block ends with this instruction, from which control goes to one of the listed instructions.
    Next(Site, SmallVec<[Site; 2]>),
    /// The block ends with a call. The second instruction is the first one of the called function.
    Call(Site, Site),
    /// A return.
    Return(Site),
}

/// Checks a program and returns all findings, sorted by the second instruction. `flat_lds` says whether flat
/// accesses may go to LDS on GFX7 and GFX8, too.
pub fn solve(program: &Program, roots: &[Root], flat_lds: bool) -> Vec<Finding> {
    solution(program, roots, flat_lds).findings
}

/// Checks a program and returns all findings and the code that the solver has not followed. `flat_lds` says
/// whether flat accesses may go to LDS on GFX7 and GFX8, too.
pub fn solution(program: &Program, roots: &[Root], flat_lds: bool) -> Solution {
    let conditions = Conditions::for_program(program, roots);
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

/// Returns for each instruction whether control can reach it from the start of a function. Calls are not
/// followed into the called functions.
fn function_code(program: &Program, roots: &[Root]) -> Vec<bool> {
    let mut reached = vec![false; program.insts.len()];
    let functions = roots.iter().filter(|root| root.is_function);
    let mut open: Vec<Site> = functions.filter_map(|root| program.site_at(root.address)).collect();
    while let Some(site) = open.pop() {
        if !std::mem::replace(&mut reached[site as usize], true) {
            open.extend(program.successors(site));
        }
    }
    reached
}

impl<'a> Solver<'a> {
    /// Computes the states at the beginnings of all blocks.
    pub(crate) fn solved(
        program: &'a Program,
        roots: &[Root],
        flat_lds: bool,
        conditions: Conditions<'a>,
    ) -> Solver<'a> {
        let target = program.code.target();
        let functions = Functions::new(program, roots);
        let is_head = (0..).zip(&program.insts);
        let is_head = is_head.map(|(site, placed)| placed.is_leader() || functions.begins(site)).collect();
        let mut solver = Solver {
            program,
            is_head,
            heads: HashMap::new(),
            open: VecDeque::new(),
            conditions,
            // GFX7 and GFX8 have no global instructions, so compilers access global memory by flat
            // instructions. The code does not show which flat instructions may go to LDS, so the option
            // decides.
            path: match target.has(Feature::GLOBAL_INSTS) || flat_lds {
                true => FlatPath::Unknown,
                false => FlatPath::Memory,
            },
            in_function: function_code(program, roots),
            functions,
            exits: HashMap::new(),
            calls: HashMap::new(),
            unfinished: None,
        };
        for root in roots {
            let Some(site) = program.site_at(root.address) else { continue };
            // A local function has no state of its own at its beginning. It begins in the states in which its
            // callers call it, which the iteration finds.
            if root.is_function && solver.functions.is_local(site) {
                continue;
            }
            let state = match root.is_function && !program.callers_wait {
                true => Scoreboard::callee(target),
                false => Scoreboard::new(),
            };
            solver.reach(site, &state, Facts::default());
        }
        // Valid code needs few steps for each instruction. If the solver needs more steps than this budget,
        // it stops, and the report says so.
        let mut budget = 1_000_000 + 64 * program.insts.len();
        while let Some((site, number)) = solver.open.pop_front().or_else(|| solver.missed(roots)) {
            let head = solver.heads.get_mut(&site);
            // The variant (group of paths to the block) may not exist any more, because variants of the block
            // have been joined since its index was put on the work list.
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
                End::Next(end, next) => solver.propagate((site, end), &next, &state, facts),
                End::Call(call, callee) => solver.call(call, callee, state),
                End::Return(site) => solver.leave(site, &state),
            }
        }
        solver
    }

    /// Returns the code that was not followed. This can be the block at which the budget was used up. If
    /// there were too many functions to follow calls, it is also the calls of known functions.
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

    /// Finds a local function that was not checked, because control reaches none of its calls. The function
    /// is then checked as if an unknown function called it.
    fn missed(&mut self, roots: &[Root]) -> Option<(Site, usize)> {
        let functions = roots.iter().filter(|root| root.is_function);
        let mut missed = functions.filter_map(|root| self.program.site_at(root.address));
        let site = missed.find(|site| !self.heads.contains_key(site))?;
        let state = match self.program.callers_wait {
            true => Scoreboard::new(),
            false => Scoreboard::callee(self.program.code.target()),
        };
        self.is_head[site as usize] = true;
        let variants = vec![Variant { facts: Facts::default(), state, is_open: true }];
        self.heads.insert(site, Head { variants, apart: !0 });
        Some((site, 0))
    }

    /// Propagates the state from the end of a block to the next blocks. If the facts decide whether the
    /// branch is taken, propagates it to only one of them.
    fn propagate(&mut self, (start, end): (Site, Site), next: &[Site], state: &Scoreboard, facts: Facts) {
        let ways = self.program.branch_successors(end);
        let decided = ways.and_then(|_| self.conditions.decided(end, facts));
        for &site in next {
            let taken = match ways {
                Some((straight, target)) if straight != target => Some(site == target),
                _ => None,
            };
            if taken.is_some() && decided.is_some() && taken != decided {
                continue;
            }
            let facts = self.conditions.facts_after((start, end), site, facts, taken);
            self.reach(site, state, facts);
        }
    }

    /// Propagates the state at a call into the called function. If the state in which the function returns is
    /// known, also propagates this state to the instruction after the call.
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

    /// Joins the state at a return into the state in which the function returns. If this has changed it,
    /// propagates it to all callers.
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

    /// Propagates the state in which a function returns to the instruction after one of its calls.
    fn come_back(&mut self, callee: Site, call: Site) {
        let Some(exit) = self.exits.get(&callee) else { return };
        let Some((_, before)) = self.calls[&callee].iter().find(|(site, _)| *site == call) else { return };
        let own = |site: Site| self.functions.gets_to(callee, site);
        let mut state = exit.returned(before, own, &self.program.code);
        state.cross();
        let next: SmallVec<[Site; 2]> = self.program.successors(call).collect();
        next.into_iter().for_each(|next| self.reach(next, &state, Facts::default()));
    }

    /// Visits each block once for each of its variants (groups of paths to the block), in the order of
    /// addresses. Calls `before` with each instruction and the state before it.
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
        let facts = facts.restricted_to(head.apart);
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

    /// Joins variants of a block (groups of paths to the block) until there are no more than the limit. Each
    /// step chooses the condition whose next test is farthest from the block, and no longer keeps paths apart
    /// by this condition.
    fn take_together(&mut self, site: Site) {
        let Some(head) = self.heads.get_mut(&site) else { return };
        while head.variants.len() > MOST_VARIANTS {
            let known =
                head.variants.iter().fold(0, |known, variant| known | variant.facts.known_conditions());
            let Some(farthest) = self.conditions.farthest(self.program, site, known) else { return };
            head.apart &= !farthest;
            let mut left: Vec<Variant> = Vec::new();
            for variant in head.variants.drain(..) {
                let facts = variant.facts.restricted_to(head.apart);
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

    /// Updates the state along the instructions of a block. Returns how the block ends, and the state there.
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
                // If all callers of the function are known, the operations that are in flight at its return
                // are not reported here. The callers are checked for them instead.
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
