//! Register allocation: virtual registers of one dword each become SGPRs and VGPRs.
//!
//! SGPRs live on the linear control-flow graph, VGPRs on the logical one (see `isa::func`). For each class:
//! live ranges (`live`), rigid groups from tuples and copies (`groups`), first-fit packing (`pack`). When both
//! classes fit, copies are planned and the function is rewritten (`rewrite`).
//!
//! # Requires
//! SSA over both graphs; an operand that is read and written (`Role::DefUse`) names one register that is modified in
//! place. No edge with arguments is critical. `docs/regalloc.md` has the whole contract.

use callconv::Convention;
use isa::{FuncRole, MBlock, MachFunc, MachInst, Subtarget, VReg};
use std::fmt;

mod allocate;
mod budget;
pub mod check;
mod cleanup;
mod constrain;
mod copies;
mod dense;
mod flow;
mod frame;
mod groups;
mod lists;
mod live;
mod moves;
mod outline;
mod pack;
mod ranges;
mod remake;
mod rewrite;
mod scan;
mod slots;
mod snapshot;
mod spill;
mod stream;
mod track;

use allocate::Snapshots;
use budget::Budget;
use cleanup::Cleanup;
use groups::Groups;
use live::Liveness;
use outline::Outline;
use pack::{Numbers, Packer};
use rewrite::Plan;
use spill::Spiller;
use stream::{SGPR, Streams, VGPR};

/// How to allocate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Use at most so many VGPRs.
    pub budget_vgprs: Option<u32>,
    /// Use at most so many SGPRs, VCC aside.
    pub budget_sgprs: Option<u32>,
    /// Run the checker on the result.
    pub check: bool,
    /// Choose what to spill by linear scan, without asking regalloc2.
    pub scan: bool,
    /// Leave blocks and branches as they are, which a later run of the checker needs.
    pub keep_blocks: bool,
    /// 0 to 3.
    pub opt_level: u8,
    /// How functions are called.
    pub convention: Convention,
    /// Functions of the module are near enough to be called in one instruction, where there is one.
    pub near: bool,
}

/// What happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Moves inserted.
    pub moves: u32,
    /// Most SGPRs and VGPRs live at one point.
    pub pressure: [u32; 2],
    /// How often allocation was tried.
    pub rounds: u32,
}

/// Why a function cannot be allocated. All but `Registers` and `Scratch` mean a bug in an earlier pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllocError {
    /// An edge passes a different number of arguments than its target has parameters.
    Arguments {
        /// Source of the edge.
        from: MBlock,
        /// Target.
        to: MBlock,
    },
    /// An edge with arguments has nowhere to put copies.
    CriticalEdge {
        /// Source of the edge.
        from: MBlock,
        /// Target.
        to: MBlock,
    },
    /// A register is read that no path has written.
    Undefined {
        /// The register.
        vreg: VReg,
    },
    /// The budget is too small for any allocation.
    Registers {
        /// "SGPR" or "VGPR".
        class: &'static str,
        /// What was allowed.
        budget: u32,
    },
    /// Private variables and spill slots need more scratch memory than the hardware gives.
    Scratch {
        /// Bytes a lane that are needed.
        needed: u32,
        /// Bytes a lane that there are.
        limit: u32,
    },
    /// The checker found the result wrong.
    Check(check::CheckError),
}

impl fmt::Display for AllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AllocError::Arguments { from, to } => {
                write!(f, "the edge from {from} to {to} has the wrong number of arguments")
            }
            AllocError::CriticalEdge { from, to } => {
                write!(f, "the edge from {from} to {to} has arguments and is critical")
            }
            AllocError::Undefined { vreg } => write!(f, "{vreg} is read before it is written"),
            AllocError::Registers { class, budget } => write!(f, "{budget} {class}s are not enough"),
            AllocError::Scratch { needed, limit } => {
                write!(f, "{needed} bytes of scratch memory a lane are needed, and there are {limit} at most")
            }
            AllocError::Check(error) => write!(f, "register allocation is wrong: {error}"),
        }
    }
}

impl std::error::Error for AllocError {}

/// Scratch memory of the allocator, reused from function to function.
#[derive(Default)]
pub struct Context {
    streams: Streams,
    live: Liveness,
    outline: Outline,
    groups: [Groups; 2],
    packers: [Packer; 2],
    plan: Plan,
    spiller: Spiller,
    budget: Budget,
    cleanup: Cleanup,
    snapshots: Snapshots,
    /// Whether the function may not be what it was: `snapshots` knows.
    changed: bool,
    /// Whether something has been spilled since it was.
    spilled: bool,
    body: Vec<MachInst>,
    /// By class, what a function has to keep for its caller.
    kept: [Numbers; 2],
}

/// Gives every virtual register of `func` a hardware register, and fills in what the function uses.
pub fn run(
    func: &mut MachFunc,
    target: &Subtarget,
    options: &Options,
    ctx: &mut Context,
) -> Result<Stats, AllocError> {
    let mut stats = Stats::default();
    let budget = [
        options.budget_sgprs.unwrap_or(u32::MAX).min(target.allocatable_sgprs()),
        options.budget_vgprs.unwrap_or(u32::MAX).min(target.allocatable_vgprs()),
    ];
    let original = options.check.then(|| func.clone());
    // What costs no wave holds what is spilled before scratch memory does.
    let agprs =
        if func.has_stack() { 0 } else { target.agprs_within(options.budget_vgprs.unwrap_or(u32::MAX)) };
    ctx.spiller.clear(agprs, options.convention);
    ctx.streams.convention = options.convention;
    ctx.kept = if func.role == FuncRole::Callee {
        frame::kept(options.convention, target)
    } else {
        Default::default()
    };
    constrain::run(func, target, &mut ctx.body);
    ctx.allocate(func, target, budget, options.scan, &mut stats)?;
    stats.moves = ctx.plan.moves;
    func.uses_vcc = false;
    let assigned = [&*ctx.packers[SGPR].assigned, &*ctx.packers[VGPR].assigned];
    ctx.plan.commit(func, assigned, &ctx.streams, options.check || options.keep_blocks, &ctx.spiller);
    let named = |class: usize| {
        ctx.streams.class[class].blocked.iter().map(|reg| u32::from(reg.number()) + 1).max().unwrap_or(0)
    };
    func.sgprs = ctx.packers[SGPR].peak.max(named(SGPR)).max(entry_sgprs(func));
    func.vgprs = ctx.packers[VGPR].peak.max(named(VGPR));
    func.agprs = agprs.min(func.spilled.vgprs);
    if let Some(original) = original {
        check::check(&original, func, target, options.convention).map_err(AllocError::Check)?;
    }
    if func.role == FuncRole::Callee && !options.keep_blocks {
        if options.check {
            rewrite::remove_dropped(func);
        }
        cleanup::unread_saves(func, target, &mut ctx.cleanup);
    }
    if frame::is_wanted(func) {
        let lanes = ctx.spiller.lanes(ctx.packers[VGPR].assigned.as_slice());
        frame::run(func, target, options, &lanes, &mut ctx.body);
    }
    let limit = target.addressing.scratch_per_wave / target.wave_size;
    if func.scratch_size > limit {
        return Err(AllocError::Scratch { needed: func.scratch_size, limit });
    }
    if !options.keep_blocks {
        if options.check {
            rewrite::remove_dropped(func);
        }
        cleanup::run(func, target, &mut ctx.cleanup);
    }
    Ok(stats)
}

/// SGPRs that the hardware fills.
fn entry_sgprs(func: &MachFunc) -> u32 {
    let workgroup_ids = func.abi.workgroup_id.iter().filter(|&&present| present).count() as u32;
    func.abi.user_sgpr_count() + workgroup_ids + u32::from(func.abi.private_segment_wave_offset)
}
