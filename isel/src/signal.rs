//! `sleep` and `interrupt`: what a wave does that waits for the host, and that has something for it.
//!
//! # Source
//! seed 002, `amd_signal_t`: who changes a signal that has a mailbox tells it by an interrupt with the number of its event. How, as LLVM 19
//! compiles ROCm's device library: `s_sendmsg sendmsg(MSG_INTERRUPT)` with the number in M0, and `s_sleep 1` in loops that wait.

use crate::class::Home;
use crate::lower::Lower;
use crate::roles::Role;
use ir::Inst;
use isa::{Operand, Reg};

/// Of `s_sleep`: some 64 cycles.
const SLEEP: i32 = 1;
/// Of `s_sendmsg`.
const MSG_INTERRUPT: i32 = 1;

impl Lower<'_> {
    /// Lets others go first.
    #[cold]
    pub fn sleep(&mut self) {
        self.emit_raw(Role::SSleep, &[Operand::Imm(SLEEP)]);
    }

    /// Tells the host. Lanes that name different events are not asked for: the first one's is told.
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
