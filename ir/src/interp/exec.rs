//! Executes one instruction for all active lanes.

use super::memory::{self, Memory, View};
use super::wave::{Flow, Frame, Wave, align_up, for_lanes};
use super::{ErrorKind, Interp, Launch};
use crate::entity::{Inst, Slot, Value};
use crate::func::Function;
use crate::op::{CastOp, Mem, Op, Pos, WaveOp};
use crate::semantics::{
    eval_bin, eval_cast, eval_fcmp, eval_icmp, eval_rmw, eval_tern, eval_un, mask, signed,
};
use crate::types::{MemTy, Type};

/// The instruction that is being executed, with its operands and results.
struct Context<'a> {
    func: &'a Function,
    inst: Inst,
    args: &'a [Value],
    result: Value,
    ty: Type,
}

impl Wave {
    /// Executes any instruction except calls, branches and returns.
    pub(super) fn exec(
        &mut self,
        launch: &Launch<'_>,
        group: [u32; 3],
        shared: &mut [u8],
        device: &mut Memory,
        func: &Function,
        inst: Inst,
    ) -> Result<Flow, ErrorKind> {
        let data = &func.insts[inst];
        let ty = if data.results > 0 { func.ty(data.first) } else { Type::Bool };
        let cx = Context { func, inst, args: func.args(inst), result: data.first, ty };
        match data.op {
            Op::Load { .. } | Op::Store { .. } | Op::AtomicRmw { .. } | Op::AtomicCas { .. } => {
                self.access(&cx, shared, device)?;
            }
            Op::Pos(pos) => self.position(&cx, launch, group, pos),
            Op::Wave(op) => self.cross_lane(&cx, op),
            Op::Barrier { .. } => return self.barrier(),
            Op::Fence { .. } | Op::WaveBarrier | Op::Interrupt | Op::Trap { debug: true } => {}
            Op::Sleep => device.serve_host(launch.interp.hostcall_buffer),
            Op::Trap { debug: false } => return Err(ErrorKind::Trap),
            Op::Assume => {
                let Some(frame) = self.frames.last() else { return Ok(Flow::Next) };
                for_lanes!(lane in frame.active => {
                    if frame.get(cx.args[0], lane) == 0 {
                        return Err(ErrorKind::FalseAssumption);
                    }
                });
            }
            Op::Unreachable => return Err(ErrorKind::Unreachable),
            op => self.compute(&cx, launch, op),
        }
        Ok(Flow::Next)
    }

    fn barrier(&mut self) -> Result<Flow, ErrorKind> {
        let here = self.frames.last().map_or(0, |f| f.active);
        if here == self.living() { Ok(Flow::Barrier) } else { Err(ErrorKind::DivergentBarrier) }
    }

    /// Executes an operation on the values of each lane.
    fn compute(&mut self, cx: &Context<'_>, launch: &Launch<'_>, op: Op) {
        let Some(frame) = self.frames.last_mut() else { return };
        let first = cx.args.first().map_or(Type::Bool, |&arg| cx.func.ty(arg));
        let base = frame.private_base;
        let active = frame.active;
        for_lanes!(lane in active => {
            let arg = |n: usize| frame.get(cx.args[n], lane);
            let bits = match op {
                Op::Const(bits) => bits,
                Op::Un(op) => eval_un(op, first, arg(0)),
                Op::Bin(op) => eval_bin(op, first, arg(0), arg(1)),
                Op::Tern(op) => eval_tern(op, cx.ty, arg(0), arg(1), arg(2)),
                Op::Icmp(cc) => u64::from(eval_icmp(cc, first, arg(0), arg(1))),
                Op::Fcmp(cc) => u64::from(eval_fcmp(cc, first, arg(0), arg(1))),
                Op::Select => if arg(0) != 0 { arg(1) } else { arg(2) },
                Op::Cast(op) => cast(op, first, cx.ty, arg(0)),
                Op::GlobalAddr(global) => launch.interp.globals[global],
                Op::FuncAddr(func) => Interp::function_address(func),
                Op::SlotAddr(slot) => u64::from(slot_offset(cx.func, base, slot)),
                Op::PtrAdd => arg(0).wrapping_add(arg(1)) & mask(cx.ty),
                Op::PtrAddZ => arg(0).wrapping_add(arg(1) & 0xffff_ffff),
                _ => 0,
            };
            frame.set(cx.result, lane, bits);
        });
    }

    fn position(&mut self, cx: &Context<'_>, launch: &Launch<'_>, group: [u32; 3], pos: Pos) {
        let Some(frame) = self.frames.last_mut() else { return };
        let at = |d: u8| usize::from(d);
        for_lanes!(lane in frame.active => {
            let local = self.ids[lane];
            let bits = match pos {
                Pos::LocalId(d) => local[at(d)],
                Pos::GroupId(d) => group[at(d)],
                Pos::LocalSize(d) => launch.group_size[at(d)],
                Pos::NumGroups(d) => launch.num_groups(at(d)),
                Pos::GlobalSize(d) => launch.grid[at(d)],
                Pos::GlobalId(d) => {
                    group[at(d)].wrapping_mul(launch.group_size[at(d)]).wrapping_add(local[at(d)])
                }
                Pos::GlobalOffset(d) => launch.interp.global_offset[at(d)],
                Pos::LaneId => lane as u32,
                Pos::WaveSize => launch.wave_size,
                Pos::DispatchId | Pos::Clock | Pos::Realtime => 0,
                Pos::KernargPtr | Pos::PrintfBuffer | Pos::HostcallBuffer => 0,
                // The interpreter has neither a packet nor a queue. An access to the null pointer is an error.
                Pos::ImplicitArgPtr | Pos::DispatchPtr | Pos::QueuePtr => 0,
            };
            let wide = match pos {
                Pos::KernargPtr => launch.kernarg,
                Pos::PrintfBuffer => launch.interp.printf_buffer,
                Pos::HostcallBuffer => launch.interp.hostcall_buffer,
                // The clock may be any number that increases while the program runs.
                Pos::Clock | Pos::Realtime => launch.steps,
                _ => u64::from(bits),
            };
            frame.set(cx.result, lane, wide & mask(cx.ty));
        });
    }

    fn cross_lane(&mut self, cx: &Context<'_>, op: WaveOp) {
        let Some(frame) = self.frames.last_mut() else { return };
        let active = frame.active;
        let first_lane = active.trailing_zeros() as usize;
        // All operands are read before any result is written.
        let mut operand = [0; super::MAX_LANES as usize];
        for (lane, bits) in operand.iter_mut().enumerate() {
            *bits = frame.get(cx.args[0], lane);
        }
        let mut ballot = 0;
        for_lanes!(lane in active => { ballot |= u64::from(operand[lane] != 0) << lane; });
        let index = |frame: &Frame, lane| (frame.get(cx.args[1], lane) & 63) as usize;
        let mut sent = [0; 64];
        if op == WaveOp::Permute {
            for_lanes!(lane in active => { sent[index(frame, lane)] = operand[lane]; });
        }
        for_lanes!(lane in active => {
            let bits = match op {
                WaveOp::Ballot => ballot,
                WaveOp::ReadFirstLane => operand[first_lane],
                WaveOp::ReadLane => operand[index(frame, first_lane)],
                WaveOp::Shuffle => {
                    let from = index(frame, lane);
                    if active >> from & 1 == 1 { operand[from] } else { 0 }
                }
                WaveOp::Permute => sent[lane],
                WaveOp::Mbcnt => u64::from((operand[lane] & ((1 << lane) - 1)).count_ones()),
            };
            frame.set(cx.result, lane, bits);
        });
    }

    /// Executes loads, stores and atomic operations, one lane after the other.
    fn access(&mut self, cx: &Context<'_>, shared: &mut [u8], device: &mut Memory) -> Result<(), ErrorKind> {
        let Wave { frames, private, .. } = self;
        let Some(frame) = frames.last_mut() else { return Ok(()) };
        let op = cx.func.insts[cx.inst].op;
        let Some(&mem) = op.mem() else { return Ok(()) };
        let active = frame.active;
        let bytes = mem.ty.bytes() as usize;
        let elements = match op {
            Op::Load { count, .. } | Op::Store { count, .. } => usize::from(count),
            _ => 1,
        };
        for_lanes!(lane in active => {
            let address = address(frame.get(cx.args[0], lane), &mem)?;
            let mut view = View { device, shared, private: &mut private[lane] };
            let memory = view.range(mem.space, address, bytes * elements)?;
            match op {
                Op::Load { .. } => {
                    let results = cx.func.results_of(cx.inst);
                    for (value, chunk) in results.zip(memory.chunks_exact(bytes)) {
                        frame.set(value, lane, extend(mem.ty, memory::get(chunk)));
                    }
                }
                Op::Store { .. } => {
                    for (&value, chunk) in cx.args[1..].iter().zip(memory.chunks_exact_mut(bytes)) {
                        memory::put(chunk, frame.get(value, lane));
                    }
                }
                _ => {
                    let old = memory::get(memory);
                    let value = frame.get(cx.args[1], lane);
                    let new = match op {
                        Op::AtomicRmw { op, .. } => eval_rmw(op, cx.ty, old, value),
                        _ if old == value => frame.get(cx.args[2], lane),
                        _ => old,
                    };
                    memory::put(memory, new);
                    frame.set(cx.result, lane, old);
                }
            }
        });
        Ok(())
    }
}

/// Returns the address of an access. Reports an error if the alignment of the address is less than the access
/// states.
fn address(pointer: u64, mem: &Mem) -> Result<u64, ErrorKind> {
    let address = pointer.wrapping_add(i64::from(mem.offset) as u64) & mask(Type::Ptr(mem.space));
    let align = u32::from(mem.align);
    if address.is_multiple_of(u64::from(align)) {
        Ok(address)
    } else {
        Err(ErrorKind::Misaligned { address, align })
    }
}

/// Returns the register value of a loaded element.
fn extend(ty: MemTy, bits: u64) -> u64 {
    match ty {
        MemTy::S8 => bits as u8 as i8 as u32 as u64,
        MemTy::S16 => bits as u16 as i16 as u32 as u64,
        _ => bits,
    }
}

fn cast(op: CastOp, from: Type, to: Type, bits: u64) -> u64 {
    if let Some(bits) = eval_cast(op, from, to, bits) {
        return bits;
    }
    match (from, to) {
        (Type::Ptr(from), Type::Ptr(to)) => memory::space_cast(from, to, bits),
        _ => signed(to, bits) as u64,
    }
}

pub(super) fn slot_offset(func: &Function, base: u32, slot: Slot) -> u32 {
    let mut end = base;
    for (id, data) in func.slots.iter() {
        let start = align_up(end, data.align);
        if id == slot {
            return start;
        }
        end = start.saturating_add(data.size);
    }
    end
}
