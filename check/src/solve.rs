//! The scoreboard over all paths.
//!
//! # Requires
//! A [`Program`] and its roots.
//! # Guarantees
//! Each finding is of some path of the control-flow graph, from a root on; a path with a missing wait or hazard is found
//! unless it goes through what [`Program::unknown`] lists.
//! # Lattice
//! [`Scoreboard`]; it terminates because ages only fall and operations are only added at a block's head.

use crate::clauses;
use crate::counters::FlatPath;
use crate::effects::Kinds;
use crate::finding::{Finding, Problem, Site};
use crate::program::{Program, Root, is_return};
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
    functions: Vec<bool>,
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
            functions: function_code(program, roots),
        };
        for root in roots {
            let Some(site) = program.at(root.address) else { continue };
            let state = match root.is_function {
                true => Scoreboard::callee(generation),
                false => Scoreboard::new(),
            };
            solver.reach(site, &state);
        }
        // Sound code needs a few turns; what damaged code would need is not worth it.
        let mut budget = 1_000_000 + 64 * program.insts.len();
        while let Some(site) = solver.open.pop_front() {
            let Some(left) = budget.checked_sub(solver.length(site)) else { break };
            budget = left;
            let state = solver.heads[&site].clone();
            let (next, state) = solver.block(site, state, &mut |_| {}, &mut |_, _| {});
            next.into_iter().for_each(|next| solver.reach(next, &state));
        }
        solver
    }

    /// Goes through every block once, in the order of addresses. `before` sees each instruction with the state in front of it.
    pub(crate) fn walk(&self, sink: &mut dyn FnMut(Finding), before: &mut dyn FnMut(Site, &Scoreboard)) {
        let mut heads: Vec<Site> = self.heads.keys().copied().collect();
        heads.order();
        for site in heads {
            self.block(site, self.heads[&site].clone(), sink, before);
        }
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
    ) -> (SmallVec<[Site; 2]>, Scoreboard) {
        let code = &self.program.code;
        loop {
            before(site, &state);
            state.issue_on(code, site, self.path, &mut |finding| sink(finding));
            let kinds = code.effects(site).kinds;
            if kinds.contains(Kinds::CALL) {
                state.after_call(code);
            }
            let next: SmallVec<[Site; 2]> = self.program.successors(site).collect();
            let returns = is_return(&self.program.insts[site as usize].inst);
            if returns && next.is_empty() && self.functions[site as usize] {
                state.at_return(code, site, &mut |finding| sink(finding));
            }
            match next[..] {
                [next] if !self.program.is_leader(next) && !self.heads.contains_key(&next) => site = next,
                _ => return (next, state),
            }
        }
    }
}
