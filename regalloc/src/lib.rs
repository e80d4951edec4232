//! Register allocation: assigns virtual registers, which have one dword each, to SGPRs and VGPRs.
//!
//! SGPRs are live on the linear control-flow graph (that of the program counter), VGPRs on the logical graph
//! (that of a lane); see `mir`. For each class, the allocator computes live ranges (`live`), forms rigid
//! groups from tuples and copies (`groups`), and packs the groups first-fit (`pack`). When both classes fit,
//! it plans the copies and rewrites the function (`rewrite`).
//!
//! # Requires
//! The code is in SSA form over both graphs. An operand that is read and written (`Role::DefUse`)
//! names one register, which the instruction modifies in place. No edge with arguments is critical.
//! `docs/regalloc.md` has the complete contract.

use callconv::Convention;
use isa::{AbiInput, MBlock, MachInst, Subtarget, VReg};
use mir::{FuncRole, MachFunc};
use std::fmt;

mod allocate;
mod budget;
pub mod check;
mod cleanup;
mod constrain;
mod copies;
mod flow;
mod frame;
mod groups;
mod lists;
mod live;
mod live_bitsets;
mod moves;
mod outline;
mod pack;
mod ranges;
mod rematerialise;
mod rewrite;
mod scan;
mod set_up;
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

/// Options of the allocator.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Largest number of VGPRs to use.
    pub budget_vgprs: Option<u32>,
    /// Largest number of SGPRs to use, not counting VCC.
    pub budget_sgprs: Option<u32>,
    /// Whether to run the checker on the result.
    pub check: bool,
    /// Whether to choose registers to spill by linear scan only, without asking regalloc2.
    pub scan: bool,
    /// Whether to leave blocks and branches unchanged, because the checker compares the blocks of the
    /// original and the final function.
    pub keep_blocks: bool,
    /// Optimisation level, 0 to 3.
    pub opt_level: u8,
    /// Calling convention of functions.
    pub convention: Convention,
    /// Whether calls between functions of the module can use the call instruction with a 16-bit distance, if
    /// the processor has it. The functions must be near enough to each other.
    pub near: bool,
}

/// Statistics of an allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Number of inserted moves.
    pub moves: u32,
    /// Register pressure: the largest number of SGPRs, and of VGPRs, that are live at the same program point.
    pub pressure: [u32; 2],
    /// Number of times that the function was allocated, including the attempts that led to spilling.
    pub rounds: u32,
}

/// Reason why a function cannot be allocated. All reasons except `Registers` and `Scratch` indicate a bug in
/// an earlier pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllocError {
    /// An edge passes a different number of arguments than its target has parameters.
    Arguments {
        /// Source of the edge.
        from: MBlock,
        /// Target.
        to: MBlock,
    },
    /// An edge with arguments is critical, so its copies cannot be placed anywhere.
    CriticalEdge {
        /// Source of the edge.
        from: MBlock,
        /// Target.
        to: MBlock,
    },
    /// An instruction reads a register that is not written on some path.
    Undefined {
        /// The register.
        vreg: VReg,
    },
    /// The budget is too small for any allocation.
    Registers {
        /// "SGPR" or "VGPR".
        class: &'static str,
        /// Number of registers that were allowed.
        budget: u32,
    },
    /// Private variables and spill slots need more scratch memory than the hardware provides.
    Scratch {
        /// Bytes per lane that are needed.
        needed: u32,
        /// Bytes per lane that are available.
        limit: u32,
    },
    /// The checker found an error in the result.
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

/// Scratch memory of the allocator, reused from one function to the next.
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
    /// Whether the function may have been changed. If so, `snapshots` has the original function.
    changed: bool,
    /// Whether a register has been spilled since the function was last restored to its original state.
    spilled: bool,
    body: Vec<MachInst>,
    /// For each class, the registers that the function must preserve for its caller.
    kept: [Numbers; 2],
}

/// Assigns a hardware register to every virtual register of `func`, and fills in the function's register use.
///
/// # Errors
/// The input is not in SSA form, or the registers or the frame of the function do not suffice.
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
    // Spilled registers are kept in accumulation VGPRs first, but only in those whose use does not lower the
    // number of waves. All other spilled registers are in scratch memory.
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
    set_up::run(func, target);
    Ok(stats)
}

/// Returns the number of SGPRs that the hardware initialises.
fn entry_sgprs(func: &MachFunc) -> u32 {
    let workgroup_ids = func.abi.workgroup_id.iter().filter(|&&present| present).count() as u32;
    let inputs = func.abi.user_sgpr_count() + workgroup_ids + u32::from(func.abi.private_segment_wave_offset);
    let made = [AbiInput::KernargPtr, AbiInput::PrivateSegmentBuffer];
    let made = made.into_iter().filter_map(|input| func.abi.find(input));
    let ends = made.map(|slot| u32::from(slot.reg.number()) + u32::from(slot.len));
    ends.fold(inputs, u32::max)
}
