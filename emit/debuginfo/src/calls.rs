//! Finds calls in final code: their addresses, their callees, and which of their arguments are still known
//! during the call.
//!
//! Arguments are in vector registers, which the callee may change. An argument stays known if it is a
//! constant, if it was copied from a register that the call preserves, or if it is a value that the caller
//! itself received as an argument. The moves of arguments to their registers are in the block that contains
//! the call, so only this block is read.

use emit::Entered;
use isa::table::Role;
use isa::{MachInst, Operand, Reg, RegRange, Subtarget, op};
use mir::track::MachTrack;
use mir::{CallSite, Callee, MachFunc, TAIL_TARGET};
use smallvec::SmallVec;

/// Largest number of dwords of arguments that any calling convention passes in registers.
const MOST: usize = 32;

/// Known value of an argument register at the time of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// This constant in all lanes.
    Constant(u32),
    /// The argument has the same value as this register during the whole call: neither the caller nor the
    /// callee changes the register.
    Kept(Reg),
    /// The value that this register had on entry to the caller.
    Entered(Reg),
}

/// Call instruction with what is known about its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Offsets in bytes of the call instruction and of its end, from the beginning of the function's code.
    pub bytes: (u32, u32),
    /// Callee, if it is known.
    pub callee: Option<Callee>,
    /// Whether this is a tail call: the function ends with the call, and the callee returns to the function's
    /// caller.
    pub is_tail: bool,
    /// The argument registers whose values are known during the call. Each comes with what is known about its
    /// value.
    pub parameters: SmallVec<[(Reg, Passed); 4]>,
}

/// Returns all calls in a function, in the order of the function's code. `dwords` returns the number of
/// dwords that a callee receives in argument registers.
pub fn read(
    func: &MachFunc,
    track: &MachTrack,
    target: &Subtarget,
    dwords: impl Fn(Callee) -> u32,
) -> Vec<Call> {
    if track.calls.is_empty() {
        return Vec::new();
    }
    let mut reader =
        Reader { target, entered: Entered::new(func, target), is_called: is_called(func), put: [None; MOST] };
    let mut calls = Vec::new();
    let mut at = 0;
    for (block, data) in func.blocks.iter() {
        reader.entered.begin(block);
        reader.put = [None; MOST];
        for inst in &data.insts {
            let start = at;
            at += 4 * isa::size_in_words(target, inst) as u32;
            let is_tail = inst.op == op::S_SETPC_B64 && inst.ops[0] == Operand::Reg(TAIL_TARGET);
            if is_tail || inst.is_call() {
                let number = track.calls.iter().find(|&&(point, _)| point == inst.loc);
                let site = number.and_then(|&(_, number)| func.calls.get(number as usize));
                let parameters = site.map(|site| reader.parameters(site, dwords(site.callee), is_tail));
                calls.push(Call {
                    bytes: (start, at),
                    callee: site.map(|site| site.callee),
                    is_tail,
                    parameters: parameters.unwrap_or_default(),
                });
            }
            reader.step(inst);
        }
    }
    calls
}

/// Returns whether a function is called by other functions, so that its argument registers hold values on
/// entry. Kernels are not called.
pub fn is_called(func: &MachFunc) -> bool {
    func.role == mir::FuncRole::Callee
}

struct Reader<'a> {
    target: &'a Subtarget,
    entered: Entered<'a>,
    is_called: bool,
    /// For each vector register, what the current block has moved there so far: a constant, or the value of a
    /// register that has not changed since the move. `None` if the value is not known.
    put: [Option<Passed>; MOST],
}

impl Reader<'_> {
    /// Returns the argument registers of the call `site` whose values are known while the called function
    /// runs.
    fn parameters(&self, site: &CallSite, dwords: u32, is_tail: bool) -> SmallVec<[(Reg, Passed); 4]> {
        let first = site.pins[1];
        let count = dwords.min(MOST as u32) as u16;
        let passed = (0..count).map(|n| first.offset(n)).filter_map(|reg| {
            let passed = match self.put.get(usize::from(reg.number())).copied().flatten() {
                Some(Passed::Kept(from)) if site.clobbers.contains(from) => self.entry_argument(from)?,
                Some(passed) => passed,
                None => self.entry_argument(reg)?,
            };
            // A tail call removes the frame of the caller, so a debugger cannot read the caller's registers
            // during the call. Only constants remain known.
            let is_known = !is_tail || matches!(passed, Passed::Constant(_));
            is_known.then_some((reg, passed))
        });
        passed.collect()
    }

    /// Returns the argument of the calling function that is in register `reg`, if `reg` holds one. It is
    /// described by the register in which it was on entry to the calling function.
    fn entry_argument(&self, reg: Reg) -> Option<Passed> {
        self.entered.value(reg).filter(|_| self.is_called).map(Passed::Entered)
    }

    /// Applies the effect of an instruction.
    fn step(&mut self, inst: &MachInst) {
        let put = self.moved_value(inst);
        inst.for_each_hw_reg(self.target, |role, range| {
            if role != Role::Use {
                self.changed(range);
            }
        });
        if let Some((reg, passed)) = put {
            self.put[usize::from(reg.number())] = passed;
        }
        if inst.is_call() {
            self.put = [None; MOST];
        }
        self.entered.step(inst);
    }

    /// Forgets the values in the registers of `range`, and the values that were copied from these registers.
    /// If EXEC is in `range`, forgets all values, because a copy that was made with another EXEC mask does
    /// not have all lanes.
    fn changed(&mut self, range: RegRange) {
        if range.overlaps(RegRange { first: Reg::EXEC, len: 2 }) {
            self.put = [None; MOST];
            return;
        }
        for (number, put) in (0..).zip(&mut self.put) {
            let is_gone = match put {
                Some(Passed::Kept(from)) => range.overlaps(RegRange { first: *from, len: 1 }),
                _ => false,
            };
            if is_gone || range.overlaps(RegRange { first: Reg::vgpr(number), len: 1 }) {
                *put = None;
            }
        }
    }

    /// Returns the vector register to which an instruction moves a value. If the value is known (a constant
    /// or the value of an unchanged register), returns the value too. Returns `None` for instructions that
    /// move nothing.
    fn moved_value(&self, inst: &MachInst) -> Option<(Reg, Option<Passed>)> {
        let is_move = inst.op == op::V_MOV_B32 && inst.mods == isa::Mods::default();
        let (Operand::Reg(to), from) = (inst.ops[0], inst.ops[1]) else { return None };
        if !is_move || !to.first.is_vgpr() || usize::from(to.first.number()) >= MOST {
            return None;
        }
        let passed = match from {
            Operand::Reg(from) if from.first == to.first => return None,
            Operand::Reg(from) => {
                let from = from.first;
                let known = from.is_vgpr().then(|| self.put.get(usize::from(from.number()))).flatten();
                known.copied().flatten().or(Some(Passed::Kept(from)))
            }
            constant => constant.const_u32().map(Passed::Constant),
        };
        Some((to.first, passed))
    }
}
