//! Scalar instructions that set the program counter. These are calls and returns, the fork and join
//! instructions of GFX6 to GFX9, and the subvector loop of GFX10.

use super::{Cx, Flow, Handler};
use crate::fault::Trap;
use crate::op::Op;
use crate::wave::{mode, reg};

pub(super) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "s_getpc_b64" => |cx, op| {
            let next = cx.wave.next_address(cx.code);
            cx.wave.set_pair(usize::from(op.dst), next);
            Flow::Next
        },
        "s_setpc_b64" => |cx, op| {
            let target = cx.wave.scalar64(op.src[0]);
            jump(cx, target)
        },
        "s_swappc_b64" => |cx, op| {
            let (target, next) = (cx.wave.scalar64(op.src[0]), cx.wave.next_address(cx.code));
            cx.wave.set_pair(usize::from(op.dst), next);
            jump(cx, target)
        },
        "s_call_b64" => |cx, op| {
            let next = cx.wave.next_address(cx.code);
            cx.wave.set_pair(usize::from(op.dst), next);
            branch(cx, op, 0)
        },
        "s_cbranch_g_fork" => |cx, op| {
            let target = cx.wave.scalar64(op.src[1]);
            fork(cx, op, target)
        },
        "s_cbranch_i_fork" => |cx, op| {
            let distance = (op.imm(1) as u64).wrapping_mul(4);
            let target = cx.wave.next_address(cx.code).wrapping_add(distance);
            fork(cx, op, target)
        },
        "s_cbranch_join" => join,
        "s_subvector_loop_begin" => begin_subvector_loop,
        "s_subvector_loop_end" => end_subvector_loop,
        _ => return None,
    })
}

fn jump(cx: &mut Cx<'_>, target: u64) -> Flow {
    if cx.wave.jump(cx.code, target) { Flow::Next } else { cx.fail(Trap::Fetch(target)) }
}

/// Runs a branch whose distance in dwords is source `at`.
fn branch(cx: &mut Cx<'_>, op: &Op, at: usize) -> Flow {
    cx.wave.pc = cx.wave.pc.wrapping_add(op.imm(at) as u32);
    Flow::Next
}

/// Number of SGPRs for one entry of the fork stack. An entry stands for a path that runs later: two SGPRs
/// hold the lane mask of the path, and two hold its address.
const ENTRY: u32 = 4;
/// Number of entries of the fork stack.
const ENTRIES: u32 = 8;

fn stack_pointer(cx: &Cx<'_>) -> u32 {
    (cx.wave.mode() & mode::CSP) >> mode::CSP.trailing_zeros()
}

fn set_stack_pointer(cx: &mut Cx<'_>, entries: u32) {
    let mode = cx.wave.mode() & !mode::CSP | entries << mode::CSP.trailing_zeros() & mode::CSP;
    cx.wave.set_mode(mode);
}

/// Returns the index of the first SGPR of entry `number` of the fork stack. Fails if the wave does not have
/// these SGPRs.
fn entry(cx: &Cx<'_>, number: u32) -> Result<usize, Trap> {
    let (at, end) = (number * ENTRY, (number + 1) * ENTRY);
    if end > u32::from(cx.wave.sgprs) { Err(Trap::Register(end as u16 - 1)) } else { Ok(at as usize) }
}

/// Runs a fork. If some lanes take the branch and others do not, the path with fewer lanes runs now. The
/// other path is pushed on a stack in SGPRs, and a join runs it later (Vega ISA, "Conditional Branch
/// Instructions with Fork and Join"). As the path with more lanes is pushed, each push at least halves the
/// number of running lanes. Eight entries are therefore enough for 64 lanes.
fn fork(cx: &mut Cx<'_>, op: &Op, target: u64) -> Flow {
    let (condition, exec) = (cx.wave.scalar64(op.src[0]), cx.wave.exec());
    let (pass, fail) = (condition & exec, !condition & exec);
    if pass == exec {
        return jump(cx, target);
    }
    if fail == exec {
        return Flow::Next;
    }
    let next = cx.wave.next_address(cx.code);
    let falls_through = fail.count_ones() < pass.count_ones();
    let (now, later, address) = if falls_through { (fail, pass, target) } else { (pass, fail, next) };
    let depth = stack_pointer(cx);
    if depth + 1 >= ENTRIES {
        return cx.fail(Trap::Refused("the stack of forks is full"));
    }
    match entry(cx, depth) {
        Ok(at) => {
            cx.wave.set_pair(at, later);
            cx.wave.set_pair(at + 2, address);
        }
        Err(trap) => return cx.fail(trap),
    }
    set_stack_pointer(cx, depth + 1);
    cx.wave.set_exec(now);
    if falls_through { Flow::Next } else { jump(cx, target) }
}

/// Runs a join, which ends one path of a fork. If the fork stack is deeper than it was before the fork, the
/// other path has not run yet: pops it from the stack and continues with it. Otherwise both paths have run,
/// and the wave continues after the join.
fn join(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let depth = stack_pointer(cx);
    if depth == cx.wave.scalar(op.src[0]) {
        return Flow::Next;
    }
    let Some(depth) = depth.checked_sub(1) else {
        return cx.fail(Trap::Refused("the stack of forks is empty"));
    };
    let at = match entry(cx, depth) {
        Ok(at) => at,
        Err(trap) => return cx.fail(trap),
    };
    set_stack_pointer(cx, depth);
    let (exec, address) = (cx.wave.pair(at), cx.wave.pair(at + 2));
    cx.wave.set_exec(exec);
    jump(cx, address)
}

const NEEDS_WAVE64: &str = "a wave of 32 lanes has no subvectors";

/// Starts a subvector loop, whose body runs first for the lower and then for the upper half of the lanes.
/// Limits EXEC to the lower half, and saves the mask of the upper half in a register. If only one half has
/// active lanes, the body runs only for this half (RDNA ISA, "S_SUBVECTOR_LOOP_BEGIN").
fn begin_subvector_loop(cx: &mut Cx<'_>, op: &Op) -> Flow {
    if cx.wave.lanes == 32 {
        return cx.fail(Trap::Refused(NEEDS_WAVE64));
    }
    let (low, high) = (cx.wave.sgpr[reg::EXEC], cx.wave.sgpr[reg::EXEC + 1]);
    if low == 0 && high == 0 {
        return branch(cx, op, 0);
    }
    if low == 0 {
        cx.wave.set_scalar(op.dst, low);
    } else {
        cx.wave.set_scalar(op.dst, high);
        cx.wave.sgpr[reg::EXEC + 1] = 0;
    }
    Flow::Next
}

/// Runs the instruction at the end of the body of a subvector loop. After the pass for the lower half of the
/// lanes, starts the pass for the upper half. After the last pass, leaves the loop and gives EXEC both halves
/// again. The register operand holds the mask of the half that is not running.
fn end_subvector_loop(cx: &mut Cx<'_>, op: &Op) -> Flow {
    if cx.wave.lanes == 32 {
        return cx.fail(Trap::Refused(NEEDS_WAVE64));
    }
    let kept = cx.wave.sgpr[usize::from(op.dst) & 255];
    if cx.wave.sgpr[reg::EXEC + 1] != 0 {
        cx.wave.sgpr[reg::EXEC] = kept;
    } else if kept != 0 {
        let low = cx.wave.sgpr[reg::EXEC];
        cx.wave.sgpr[reg::EXEC + 1] = kept;
        cx.wave.set_scalar(op.dst, low);
        cx.wave.sgpr[reg::EXEC] = 0;
        return branch(cx, op, 0);
    }
    Flow::Next
}
