//! `sleep` and `interrupt`: how a wave waits for the host, and how it notifies the host.
//!
//! # Source
//! The ROCm code object ABI (seed 002), `amd_signal_t`: code that changes a signal with a mailbox notifies
//! the waiter by an interrupt with the number of the event. The instructions are those that LLVM 19 generates
//! for ROCm's device library: `s_sendmsg sendmsg(MSG_INTERRUPT)` with the number in M0, and `s_sleep 1` in
//! loops that wait.

use crate::class::Home;
use crate::lower::Lower;
use crate::roles::Role;
use ir::Inst;
use isa::{Operand, Reg};

/// Operand of `s_sleep`: about 64 cycles.
const SLEEP: i32 = 1;
/// Message number for `s_sendmsg`.
const MSG_INTERRUPT: i32 = 1;

impl Lower<'_> {
    /// Pauses the wave, so that other waves can run.
    #[cold]
    pub fn sleep(&mut self) {
        self.emit_raw(Role::SSleep, &[Operand::Imm(SLEEP)]);
    }

    /// Sends an interrupt with an event number to the host. If the lanes have different event numbers, only
    /// the number of the first active lane is sent.
    #[inline(never)]
    pub fn interrupt(&mut self, inst: Inst) {
        let event = self.func.args(inst)[0];
        let number = match self.home(event) {
            Home::Vgpr => {
                let (first, lanes) = (self.stemp(1), self.vgpr(event));
                self.read_first_lane(first, lanes);
                first
            }
            _ => self.scalar(event),
        };
        let m0 = Operand::reg(Reg::M0);
        self.emit_raw(Role::SMovB32, &[m0, number]);
        self.emit_raw(Role::SSendmsg, &[Operand::Imm(MSG_INTERRUPT)]);
        if self.target.addressing.lds_needs_m0 {
            self.emit_raw(Role::SMovB32, &[m0, Operand::int(-1)]);
        }
    }
}
