//! `trap` and `debug_trap`: how a wave calls the trap handler.
//!
//! # Source
//! LLVM's AMDGPU guide (seed 000, line 4041): `s_trap 2` with the address of the queue in SGPR0 and SGPR1
//! ends the dispatch and puts the queue into the error state; `s_trap 3` calls the debugger, if there is one.
//! Further details follow LLVM 14 and 19. From code object V4 on, the handler itself finds the queue by its
//! doorbell on processors that can read the doorbell id by a message (GFX9 on). On the other processors, code
//! object V5 passes the queue as a hidden argument instead of in SGPRs. Systems other than HSA have no
//! handler: lanes that trap continue to the end of the program, like lanes that reach `unreachable`, and
//! `debug_trap` does nothing.

use crate::lower::Lower;
use crate::roles::Role;
use ir::{Function, Inst, Op};
use isa::abi::AbiInput;
use isa::{CodeObjectVersion, Operand, Reg, Subtarget};

/// Operands of `s_trap` for the handler of HSA.
const ABORT: i32 = 2;
const DEBUGGER: i32 = 3;

/// How the trap handler finds the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrapWay {
    /// The handler finds the queue by its doorbell.
    Doorbell,
    /// The queue is passed in user SGPRs.
    UserQueue,
    /// The queue is passed as a hidden argument.
    HiddenQueue,
    /// There is no trap handler.
    None,
}

impl TrapWay {
    pub fn for_subtarget(target: &Subtarget) -> TrapWay {
        let has_doorbell =
            isa::names::messages(target).any(|message| message.id == isa::names::MSG_GET_DOORBELL);
        match target.code_object {
            _ if !target.system().has_trap_handler => TrapWay::None,
            version if has_doorbell && version >= CodeObjectVersion::V4 => TrapWay::Doorbell,
            version if version >= CodeObjectVersion::V5 => TrapWay::HiddenQueue,
            _ => TrapWay::UserQueue,
        }
    }
}

/// Returns the registers in which the trap handler expects the address of the queue.
fn queue_registers() -> Operand {
    Operand::regs(Reg::sgpr(0), 2)
}

/// Inserts a trap before each `unreachable`, so that a program which reaches it stops visibly.
pub(crate) fn guard_unreachable(func: &mut Function) {
    for n in 0..func.layout.len() {
        let block = func.layout[n];
        let insts = func.blocks[block].insts();
        let Some((&last, before)) = insts.split_last() else { continue };
        let traps = before.last().is_some_and(|&inst| func.insts[inst].op == Op::Trap { debug: false });
        if func.insts[last].op == Op::Unreachable && !traps {
            let loc = func.insts[last].loc;
            func.insert0(block, Op::Trap { debug: false }, &[], loc);
        }
    }
}

impl Lower<'_> {
    /// Emits a trap, or a call of the debugger if `debug` is set. The IR instruction has the address of the
    /// queue as its operand if [`crate::hidden`] had to load it.
    pub fn trap(&mut self, inst: Inst, debug: bool) {
        let way = TrapWay::for_subtarget(self.target);
        if debug {
            if way != TrapWay::None {
                self.emit_raw(Role::STrap, &[Operand::Imm(DEBUGGER)]);
            }
            return;
        }
        let queue = match way {
            TrapWay::None => return,
            TrapWay::Doorbell => None,
            TrapWay::UserQueue => Some(self.abi_input(AbiInput::QueuePtr)),
            TrapWay::HiddenQueue => self.func.args(inst).first().map(|&queue| self.scalar(queue)),
        };
        if let Some(queue) = queue {
            self.emit_raw(Role::SMovB64, &[queue_registers(), queue]);
        }
        self.emit_raw(Role::STrap, &[Operand::Imm(ABORT)]);
    }
}
