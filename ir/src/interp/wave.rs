//! A wave of the interpreter: its lanes, its call frames, and the choice of the block that runs next.

use super::memory::Memory;
use super::{At, ErrorKind, Interp, Launch, MAX_LANES};
use crate::entity::{Block, FuncId, Inst, SigId, Value};
use crate::func::Function;
use crate::op::Op;
use cranelift_entity::EntityRef;

/// Rank of a lane that never continues in this frame, because it has left the frame's function or never
/// entered it.
const GONE: u64 = u64::MAX;
/// Maximum size of a lane's private memory, in bytes.
const MAX_PRIVATE: usize = 1 << 20;

/// Execution state of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Ready,
    AtBarrier,
    Done,
}

/// Effect of an instruction on the execution of the wave.
pub(super) enum Flow {
    Next,
    Barrier,
}

/// A call frame: the state of the lanes that execute one call of a function, or the kernel itself.
pub(super) struct Frame {
    pub func: FuncId,
    /// Value `v` of lane `n` is at index `v * MAX_LANES + n`.
    regs: Vec<u64>,
    /// For each lane, the [rank](super::BlockOrder::rank) and the block that it enters next.
    place: Vec<(u64, Block)>,
    /// Lanes in the current block.
    pub active: u64,
    block: Block,
    /// Index of the next instruction in the block.
    next: usize,
    /// Values returned so far; result `r` of lane `n` is at index `r * MAX_LANES + n`.
    returned: Vec<u64>,
    /// Lanes that entered the frame.
    entered: u64,
    /// Functions that the current indirect call has not run yet, each with the lanes that call it. The last
    /// function in the list runs next.
    pending: Vec<(FuncId, u64)>,
    /// Offset of the frame's stack slots in private memory.
    pub private_base: u32,
}

pub(super) struct Wave {
    pub status: Status,
    /// Local ids of the lanes.
    pub ids: Vec<[u32; 3]>,
    pub frames: Vec<Frame>,
    /// Private memory of each lane.
    pub private: Vec<Vec<u8>>,
    /// Holds the arguments of a branch until all of them are read. Without this copy, writing one block
    /// parameter could overwrite a parameter that is itself a later argument.
    scratch: Vec<u64>,
    /// Value storage of closed frames, for reuse.
    spare: Vec<Vec<u64>>,
}

/// Runs `body` once for each lane in the mask. The variable that the macro is given holds the number of the
/// lane.
macro_rules! for_lanes {
    ($lane:ident in $mask:expr => $body:block) => {{
        let mut rest: u64 = $mask;
        while rest != 0 {
            let $lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            $body
        }
    }};
}
pub(super) use for_lanes;

impl Frame {
    /// Creates a frame. `regs` may contain any values. A lane does not read a value that it has not set.
    /// Another lane may read it, but the value of an inactive lane is unspecified anyway.
    fn new(func: FuncId, data: &Function, mask: u64, private_base: u32, mut regs: Vec<u64>) -> Self {
        let lanes = MAX_LANES as usize;
        let mut place = vec![(GONE, data.entry()); lanes];
        for_lanes!(lane in mask => { place[lane].0 = 0; });
        match regs.capacity() {
            0 => regs = vec![0; data.values.len() * lanes],
            _ => regs.resize(data.values.len() * lanes, 0),
        }
        Frame {
            func,
            regs,
            place,
            active: mask,
            block: data.entry(),
            next: 0,
            returned: vec![0; data.results.len() * lanes],
            entered: mask,
            pending: Vec::new(),
            private_base,
        }
    }

    /// Returns the bits that a lane holds for a value.
    pub fn get(&self, value: Value, lane: usize) -> u64 {
        self.regs[value.index() * MAX_LANES as usize + lane]
    }

    /// Sets the bits that a lane holds for a value.
    pub fn set(&mut self, value: Value, lane: usize, bits: u64) {
        self.regs[value.index() * MAX_LANES as usize + lane] = bits;
    }
}

type Stop = (ErrorKind, FuncId, Inst);

impl Wave {
    pub fn new(interp: &Interp<'_>, kernel: FuncId, ids: Vec<[u32; 3]>) -> Self {
        let mask = if ids.len() == 64 { u64::MAX } else { (1 << ids.len()) - 1 };
        let private = vec![Vec::new(); ids.len()];
        let mut wave = Wave {
            status: Status::Ready,
            ids,
            frames: Vec::new(),
            private,
            scratch: Vec::new(),
            spare: Vec::new(),
        };
        wave.enter(interp, kernel, mask);
        wave
    }

    /// Opens a frame for the lanes in the mask.
    fn enter(&mut self, interp: &Interp<'_>, func: FuncId, mask: u64) {
        let data = &interp.module.funcs[func];
        let base = match self.frames.last() {
            None => 0,
            Some(frame) => {
                let caller = &interp.module.funcs[frame.func];
                frame.private_base.saturating_add(slots_size(caller, frame.private_base))
            }
        };
        let end = base.saturating_add(slots_size(data, base)) as usize;
        for bytes in &mut self.private {
            if bytes.len() < end {
                bytes.resize(end.min(MAX_PRIVATE), 0);
            }
        }
        let regs = self.spare.pop().unwrap_or_default();
        self.frames.push(Frame::new(func, data, mask, base, regs));
    }

    /// Runs the wave until the kernel ends, a barrier is reached, or the step limit is reached.
    pub fn run(
        &mut self,
        launch: &mut Launch<'_>,
        group: [u32; 3],
        shared: &mut [u8],
        memory: &mut Memory,
        limit: u64,
    ) -> Result<(), Stop> {
        let interp = launch.interp;
        loop {
            if interp.watcher.is_some() && launch.steps < limit {
                self.notify_watcher(interp, group);
            }
            let Some(frame) = self.frames.last_mut() else { break };
            if launch.steps >= limit {
                return Ok(());
            }
            launch.steps += 1;
            let func = &interp.module.funcs[frame.func];
            let inst = func.blocks[frame.block].insts()[frame.next];
            let id = frame.func;
            frame.next += 1;
            let stop = |kind| (kind, id, inst);
            match func.insts[inst].op {
                Op::Call(callee) => {
                    let mask = frame.active;
                    self.call(interp, func, inst, (callee, mask)).map_err(stop)?;
                }
                Op::CallIndirect(sig) => {
                    self.callees(interp, func, inst, sig).map_err(stop)?;
                    self.next_callee(interp, func, inst).map_err(stop)?;
                }
                Op::Jump(_) | Op::Br { .. } | Op::Switch(_) => {
                    self.branch(interp, func, inst);
                    self.pick(interp);
                }
                Op::Ret => {
                    self.ret(func, inst);
                    self.pick(interp);
                    if let Some(frame) = self.frames.last()
                        && !frame.pending.is_empty()
                    {
                        let (id, func) = (frame.func, &interp.module.funcs[frame.func]);
                        let call = func.blocks[frame.block].insts()[frame.next - 1];
                        self.next_callee(interp, func, call).map_err(|kind| (kind, id, call))?;
                    }
                }
                _ => match self.exec(launch, group, shared, memory, func, inst).map_err(stop)? {
                    Flow::Next => {}
                    Flow::Barrier => {
                        self.status = Status::AtBarrier;
                        return Ok(());
                    }
                },
            }
        }
        self.status = Status::Done;
        Ok(())
    }

    #[cold]
    fn notify_watcher(&self, interp: &Interp<'_>, group: [u32; 3]) {
        let (Some(watcher), Some(frame)) = (interp.watcher, self.frames.last()) else { return };
        let inst = interp.module.funcs[frame.func].blocks[frame.block].insts()[frame.next];
        let (func, active, depth) = (frame.func, frame.active, self.frames.len());
        watcher.before(&At { wave: self, group, func, inst, active, depth });
    }

    fn call(
        &mut self,
        interp: &Interp<'_>,
        func: &Function,
        inst: Inst,
        (callee, mask): (FuncId, u64),
    ) -> Result<(), ErrorKind> {
        if self.frames.len() >= interp.max_calls {
            return Err(ErrorKind::TooManyCalls);
        }
        let target = &interp.module.funcs[callee];
        if target.layout.is_empty() {
            return Err(ErrorKind::NoCode(target.name.clone()));
        }
        self.enter(interp, callee, mask);
        let through_address = usize::from(matches!(func.insts[inst].op, Op::CallIndirect(_)));
        if let [.., caller, new] = self.frames.as_mut_slice() {
            for (&arg, &param) in func.args(inst)[through_address..].iter().zip(target.own_params()) {
                for_lanes!(lane in mask => { new.set(param, lane, caller.get(arg, lane)); });
            }
        }
        Ok(())
    }

    /// Determines which functions an indirect call runs and which lanes run each of them. Each function
    /// occurs once.
    fn callees(
        &mut self,
        interp: &Interp<'_>,
        func: &Function,
        inst: Inst,
        sig: SigId,
    ) -> Result<(), ErrorKind> {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        let mut left = frame.active;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            let address = frame.get(func.args(inst)[0], lane);
            let callee = interp.function_at(address).ok_or(ErrorKind::NoFunction(address))?;
            let target = &interp.module.funcs[callee];
            let expected = &interp.module.sigs[sig];
            let fits = target.results == expected.results
                && target.param_types().eq(expected.params.iter().copied());
            if target.kernel.is_some() || !fits {
                return Err(ErrorKind::OtherSignature(target.name.clone()));
            }
            let mut mask = 0;
            for_lanes!(lane in left => {
                mask |= u64::from(frame.get(func.args(inst)[0], lane) == address) << lane;
            });
            frame.pending.push((callee, mask));
            left &= !mask;
        }
        frame.pending.reverse();
        Ok(())
    }

    /// Calls the next function of the current indirect call, if any is left.
    fn next_callee(&mut self, interp: &Interp<'_>, func: &Function, inst: Inst) -> Result<(), ErrorKind> {
        match self.frames.last_mut().and_then(|frame| frame.pending.pop()) {
            Some(next) => self.call(interp, func, inst, next),
            None => Ok(()),
        }
    }

    /// Sends the active lanes to the targets of a branch.
    fn branch(&mut self, interp: &Interp<'_>, func: &Function, inst: Inst) {
        let Some(frame) = self.frames.last_mut() else { return };
        let order = &interp.orders[frame.func];
        let operand = func.branch_operand(inst);
        let way = |frame: &Frame, lane: usize| match (func.insts[inst].op, operand) {
            (Op::Br { .. }, Some(cond)) => usize::from(frame.get(cond, lane) == 0),
            (Op::Switch(switch), Some(value)) => func.switches[switch].edge_of(frame.get(value, lane)),
            _ => 0,
        };
        let mut ways = [0; MAX_LANES as usize];
        for_lanes!(lane in frame.active => { ways[lane] = way(frame, lane); });
        for (which, to) in func.succs(frame.block).enumerate() {
            let mut mask = frame.active;
            for_lanes!(lane in frame.active => {
                if ways[lane] != which {
                    mask &= !(1 << lane);
                }
            });
            let args = func.branch_args(inst, which);
            let rank = order.rank(frame.block, to);
            for_lanes!(lane in mask => {
                frame.place[lane] = (rank, to);
                self.scratch.clear();
                self.scratch.extend(args.iter().map(|&arg| frame.get(arg, lane)));
                for (&param, &bits) in func.params(to).iter().zip(&self.scratch) {
                    frame.set(param, lane, bits);
                }
            });
        }
    }

    fn ret(&mut self, func: &Function, inst: Inst) {
        let Some(frame) = self.frames.last_mut() else { return };
        for (n, &arg) in func.args(inst).iter().enumerate() {
            for_lanes!(lane in frame.active => {
                frame.returned[n * MAX_LANES as usize + lane] = frame.get(arg, lane);
            });
        }
        for_lanes!(lane in frame.active => { frame.place[lane].0 = GONE; });
    }

    /// Chooses the next block of the innermost frame. Closes the frame if all its lanes have returned.
    fn pick(&mut self, interp: &Interp<'_>) {
        let Some(frame) = self.frames.last_mut() else { return };
        let mut first = (GONE, frame.block);
        frame.active = 0;
        for (lane, &place) in frame.place.iter().enumerate() {
            if place.0 < first.0 {
                first = place;
                frame.active = 0;
            }
            frame.active |= u64::from(place.0 == first.0) << lane;
        }
        if first.0 != GONE {
            frame.block = first.1;
            frame.next = 0;
            return;
        }
        let Some(done) = self.frames.pop() else { return };
        let Some(caller) = self.frames.last_mut() else { return };
        let func = &interp.module.funcs[caller.func];
        let call = func.blocks[caller.block].insts()[caller.next - 1];
        for (n, result) in func.results_of(call).enumerate() {
            for_lanes!(lane in done.entered => {
                caller.set(result, lane, done.returned[n * MAX_LANES as usize + lane]);
            });
        }
        self.spare.push(done.regs);
    }

    /// Returns the lanes that have not ended the kernel.
    pub fn living(&self) -> u64 {
        let Some(outermost) = self.frames.first() else { return 0 };
        outermost.place.iter().enumerate().fold(0, |mask, (n, p)| mask | u64::from(p.0 != GONE) << n)
    }
}

/// Returns the number of bytes that a function's slots take from offset `base` on.
fn slots_size(func: &Function, base: u32) -> u32 {
    let mut end = base;
    for slot in func.slots.values() {
        end = align_up(end, slot.align).saturating_add(slot.size);
    }
    align_up(end, 16) - base
}

/// Returns the next multiple of `align`; the maximum value if that would overflow.
pub(super) fn align_up(offset: u32, align: u32) -> u32 {
    offset.checked_next_multiple_of(align).unwrap_or(u32::MAX)
}
