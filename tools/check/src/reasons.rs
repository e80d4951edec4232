//! Explains why waits are in the code: which operations a wait completes, and which instruction needs the
//! results first. The explanations need only the code, so they are available for the output of all compilers.
//!
//! # Limits
//! The code does not show whether a memory order was intended. For operations without result registers, such
//! as stores, only their number is reported.

use crate::conditions::Conditions;
use crate::counters::{CLASS_TABLE, CLASSES, Class};
use crate::effects::Waits;
use crate::finding::{CALLER, Site};
use crate::program::{Program, Root};
use crate::regset::RegSet;
use crate::scoreboard::Scoreboard;
use crate::solve::Solver;
use isa::RegRange;
use std::collections::VecDeque;

/// One reason for a wait: what is complete after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A memory operation is complete after the wait.
    Operation {
        /// The operation that the wait completes. [`CALLER`] stands for all operations that the caller of the
        /// function had in flight.
        first: Site,
        /// Registers that the operation writes or reads. After the wait, it has certainly written or read
        /// them.
        registers: Option<RegRange>,
        /// The first instruction after the wait that uses or defines one of the registers. `None` if there is
        /// no such instruction near the wait.
        user: Option<Site>,
    },
    /// The wait completes operations without result registers.
    Order {
        /// Class of the operations.
        class: Class,
        /// Largest possible number of these operations.
        most: u32,
    },
}

/// A wait and its reasons. The list of reasons is empty if no operation for which the wait waits is ever in
/// flight there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// The wait.
    pub wait: Site,
    /// The reasons for the wait.
    pub reasons: Vec<Reason>,
}

/// Number of instructions after a wait in which the first user of a register is searched for.
const NEAR: usize = 256;

/// Returns all waits that control can reach from the roots, in the order of addresses. `flat_lds` has the
/// same meaning as in [`solve`](crate::solve::solve).
pub fn find(program: &Program, roots: &[Root], flat_lds: bool) -> Vec<Why> {
    let solver = Solver::solved(program, roots, flat_lds, Conditions::default());
    let mut found = Vec::new();
    solver.walk(&mut |_| {}, &mut |site, before| {
        if program.code.effects(site).waits != Waits::NONE {
            found.push(Why { wait: site, reasons: reasons(program, site, before) });
        }
    });
    found.sort_by_key(|why| why.wait);
    found
}

/// Returns which operations a wait completes, from the states before and after the wait.
fn reasons(program: &Program, wait: Site, before: &Scoreboard) -> Vec<Reason> {
    let code = &program.code;
    let mut after = before.clone();
    after.issue(code, wait, &mut |_| {});
    let left: Vec<Site> = after.under_way(code).map(|(site, _)| site).collect();
    let complete: Vec<(Site, RegSet)> =
        before.under_way(code).filter(|(site, _)| !left.contains(site)).collect();
    let users = users(program, wait, complete.iter().map(|(_, registers)| *registers).collect());
    let mut reasons: Vec<Reason> = (complete.iter().zip(users))
        .map(|(&(first, registers), user)| Reason::Operation {
            first,
            registers: (first != CALLER).then(|| registers.first_group()).flatten(),
            user,
        })
        .collect();
    let mut with_registers = [0; CLASSES];
    for &(site, _) in complete.iter().filter(|(site, _)| *site != CALLER) {
        let classes = code.effects(site).classes;
        let all = classes.done.into_iter().flatten().chain(classes.read);
        all.for_each(|class| with_registers[class as usize] += 1);
    }
    for info in &CLASS_TABLE {
        let gone = before.outstanding_of(info.class).saturating_sub(after.outstanding_of(info.class));
        let most = gone.saturating_sub(with_registers[info.class as usize]);
        if most > 0 && !is_callers(info.class) {
            reasons.push(Reason::Order { class: info.class, most });
        }
    }
    reasons
}

fn is_callers(class: Class) -> bool {
    matches!(class, Class::CallerVm | Class::CallerExp | Class::CallerLgkm | Class::CallerVs)
}

/// Returns the nearest instruction after `wait` that uses or defines a register of a set, for each of the
/// sets.
fn users(program: &Program, wait: Site, sets: Vec<RegSet>) -> Vec<Option<Site>> {
    let mut users = vec![None; sets.len()];
    let mut seen = vec![wait];
    let mut open: VecDeque<Site> = program.successors(wait).collect();
    while let Some(site) = open.pop_front() {
        if users.iter().all(Option::is_some) || seen.len() > NEAR {
            break;
        }
        if seen.contains(&site) {
            continue;
        }
        seen.push(site);
        let effects = program.code.effects(site);
        let touched = effects.reads.or(&effects.writes);
        let open_ones = users.iter_mut().zip(&sets).filter(|(user, _)| user.is_none());
        open_ones.filter(|(_, set)| set.intersects(&touched)).for_each(|(user, _)| *user = Some(site));
        open.extend(program.successors(site));
    }
    users
}

impl Reason {
    /// Returns the reason as text, such as `v2 of global_load_dword at 0x40, for v_fmac_f32 at 0x54`.
    pub fn text(&self, program: &Program) -> String {
        let at = |site: Site| {
            let placed = &program.insts[site as usize];
            format!("{} at {:#x}", placed.inst.op.row().name, placed.address)
        };
        match *self {
            Reason::Operation { first: CALLER, .. } => "what the caller has under way".to_owned(),
            Reason::Operation { first, registers: range, user } => {
                let range = range.map_or(String::new(), |range| range.name() + " of ");
                let user = user.map_or(String::new(), |user| format!(", for {}", at(user)));
                format!("{range}{}{user}", at(first))
            }
            Reason::Order { class, most: 1 } => format!("one {} operation is complete", class.info().name),
            Reason::Order { class, most } => {
                format!("{most} {} operations at most are complete", class.info().name)
            }
        }
    }
}
