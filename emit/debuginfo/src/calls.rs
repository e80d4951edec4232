//! Calls in final code: where they are, whom they call, and what they pass that can still be told while they are under way.
//!
//! Arguments are in vector registers, which a call may change. What was put there is known if it is a constant, if it came from a register that the
//! call keeps, or if it is what the caller itself was given. It is read off the block in front of the call, which is where arguments are put.

use emit::Entered;
use isa::table::Role;
use isa::track::MachTrack;
use isa::{CallSite, Callee, MachFunc, MachInst, Operand, Reg, RegRange, Subtarget, TAIL_TARGET, op};
use smallvec::SmallVec;

/// Dwords of arguments in registers, of any convention.
const MOST: usize = 32;

/// What is in an argument's register when a function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// This, in all lanes.
    Constant(u32),
    /// What a register holds, which is the same all the while.
    Kept(Reg),
    /// What a register held when the caller was entered.
    Entered(Reg),
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The instruction: its first byte and the one behind it.
    pub bytes: (u32, u32),
    /// Whom, if it is known.
    pub callee: Option<Callee>,
    /// The function ends with it, and whom it calls returns to the caller.
    pub is_tail: bool,
    /// What is in which register, where that can be told.
    pub parameters: SmallVec<[(Reg, Passed); 4]>,
}

/// All calls of a function in the order of its code. `dwords`: how many dwords of arguments a callee has.
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

/// Whether a function has a caller, who has passed something.
pub fn is_called(func: &MachFunc) -> bool {
    func.role == isa::FuncRole::Callee
}

struct Reader<'a> {
    target: &'a Subtarget,
    entered: Entered<'a>,
    is_called: bool,
    /// By the number of a vector register, what the block has put there: a constant, or what a register holds that has not changed since.
    put: [Option<Passed>; MOST],
}

impl Reader<'_> {
    /// What can be told of a call's arguments while it is under way.
    fn parameters(&self, site: &CallSite, dwords: u32, is_tail: bool) -> SmallVec<[(Reg, Passed); 4]> {
        let first = site.pins[1];
        let count = dwords.min(MOST as u32) as u16;
        let passed = (0..count).map(|n| first.offset(n)).filter_map(|reg| {
            let passed = match self.put.get(usize::from(reg.number())).copied().flatten() {
                Some(Passed::Kept(from)) if site.clobbers.contains(from) => self.given(from)?,
                Some(passed) => passed,
                None => self.given(reg)?,
            };
            // Of a caller that is not there any more nothing can be asked.
            let is_known = !is_tail || matches!(passed, Passed::Constant(_));
            is_known.then_some((reg, passed))
        });
        passed.collect()
    }

    /// What a register holds, if the caller was given it.
    fn given(&self, reg: Reg) -> Option<Passed> {
        self.entered.value(reg).filter(|_| self.is_called).map(Passed::Entered)
    }

    /// An instruction is executed.
    fn step(&mut self, inst: &MachInst) {
        let put = self.puts(inst);
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

    /// What was in registers, or came from there, is gone. With other lanes what was put is not that of all.
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

    /// The vector register that an instruction gives a value that can be told, and which.
    fn puts(&self, inst: &MachInst) -> Option<(Reg, Option<Passed>)> {
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
