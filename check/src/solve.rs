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
//! # Lattice
//! [`Scoreboard`]; it terminates because ages only fall and operations are only added at a block's head.

use crate::clauses;
use crate::counters::FlatPath;
use crate::effects::Kinds;
use crate::finding::{Finding, Problem, Site};
use crate::functions::Functions;
use crate::program::{Program, Root};
use crate::scoreboard::Scoreboard;
use isa::target::Generation;
use order::Order as _;
use smallvec::SmallVec;
use std::collections::{HashMap, VecDeque};

/// Solver over a program.
pub(crate) struct Solver<'a> {
    program: &'a Program,
    /// State at the head of each block that was reached.
    heads: HashMap<Site, Scoreboard>,
    open: VecDeque<Site>,
    path: FlatPath,
    /// Whether code of a function is reached from here: then `s_setpc_b64` returns.
    in_function: Vec<bool>,
    functions: Functions,
    /// What functions leave, joined over their returns.
    exits: HashMap<Site, Scoreboard>,
    /// Calls of each function that were reached, and the state there.
    calls: HashMap<Site, Vec<(Site, Scoreboard)>>,
}

/// How a block ends.
enum End {
    /// Control goes on to one of these.
    Next(SmallVec<[Site; 2]>),
    /// The call at a site of the function that begins at another one.
    Call(Site, Site),
    /// The return at a site.
    Return(Site),
}

/// Everything that is wrong, in the order of the second instruction. `flat_lds`: flat accesses may go to LDS, whatever the
/// processor.
pub fn solve(program: &Program, roots: &[Root], flat_lds: bool) -> Vec<Finding> {
    let solver = Solver::solved(program, roots, flat_lds);
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
                across: false,
            });
        }
    }
    clauses::find(program, |finding| findings.push(finding));
    findings.order_by_key(|finding| (finding.second, finding.first, finding.id()));
    findings.dedup_by(|one, other| one.same(other));
    findings
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
    pub(crate) fn solved(program: &'a Program, roots: &[Root], flat_lds: bool) -> Solver<'a> {
        let generation = program.code.target().generation;
        let mut solver = Solver {
            program,
            heads: HashMap::new(),
            open: VecDeque::new(),
            // There global memory is accessed by flat instructions, for want of others; which may go to LDS does not show.
            path: match generation {
                Generation::Gfx7 | Generation::Gfx8 if !flat_lds => FlatPath::Memory,
                _ => FlatPath::Unknown,
            },
            in_function: function_code(program, roots),
            functions: Functions::new(program, roots),
            exits: HashMap::new(),
            calls: HashMap::new(),
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
            solver.reach(site, &state);
        }
        // Sound code needs a few turns; what damaged code would need is not worth it.
        let mut budget = 1_000_000 + 64 * program.insts.len();
        while let Some(site) = solver.open.pop_front().or_else(|| solver.missed(roots)) {
            let Some(left) = budget.checked_sub(solver.length(site)) else { break };
            budget = left;
            let state = solver.heads[&site].clone();
            let (end, state) = solver.block(site, state, &mut |_| {}, &mut |_, _| {});
            match end {
                End::Next(next) => next.into_iter().for_each(|next| solver.reach(next, &state)),
                End::Call(call, callee) => solver.call(call, callee, state),
                End::Return(site) => solver.leave(site, &state),
            }
        }
        solver
    }

    /// A local function that no call has led to, as the call stands in code that is not reached: it is looked at by itself.
    fn missed(&mut self, roots: &[Root]) -> Option<Site> {
        let functions = roots.iter().filter(|root| root.is_function);
        let mut missed = functions.filter_map(|root| self.program.at(root.address));
        let site = missed.find(|site| !self.heads.contains_key(site))?;
        let state = match self.program.callers_wait {
            true => Scoreboard::new(),
            false => Scoreboard::callee(self.program.code.target().generation),
        };
        self.heads.insert(site, state);
        Some(site)
    }

    /// A call is reached: the function begins, and goes on behind the call if it is known what it leaves.
    fn call(&mut self, call: Site, callee: Site, state: Scoreboard) {
        let mut inside = state.clone();
        inside.cross();
        self.reach(callee, &inside);
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
        next.into_iter().for_each(|next| self.reach(next, &state));
    }

    /// Goes through every block once, in the order of addresses. `before` sees each instruction with the state in front of it.
    pub(crate) fn walk(&self, sink: &mut dyn FnMut(Finding), before: &mut dyn FnMut(Site, &Scoreboard)) {
        let mut heads: Vec<Site> = self.heads.keys().copied().collect();
        heads.order();
        for site in heads {
            self.block(site, self.heads[&site].clone(), sink, before);
        }
    }

    fn is_head(&self, site: Site) -> bool {
        self.program.is_leader(site) || self.heads.contains_key(&site) || self.functions.begins(site)
    }

    /// Instructions from here to the next head, and what has to be joined behind them.
    fn length(&self, site: Site) -> usize {
        let heads = self.program.insts[site as usize..].iter().skip(1);
        let straight = heads.take_while(|placed| !placed.is_leader()).take(1000).count();
        straight + 1 + self.heads[&site].len()
    }

    fn reach(&mut self, site: Site, state: &Scoreboard) {
        let changed = match self.heads.get_mut(&site) {
            Some(head) => head.join(state, &self.program.code),
            None => {
                self.heads.insert(site, state.clone());
                true
            }
        };
        if changed && !self.open.contains(&site) {
            self.open.push_back(site);
        }
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
            let callee = self.program.callee(site).filter(|&callee| self.functions.is_followed(callee));
            if let Some(callee) = callee {
                return (End::Call(site, callee), state);
            }
            if code.effects(site).kinds.contains(Kinds::CALL) {
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
            let next: SmallVec<[Site; 2]> = self.program.successors(site).collect();
            match next[..] {
                [next] if !self.is_head(next) => site = next,
                _ => return (End::Next(next), state),
            }
        }
    }
}
