//! Overwrites the registers that a call may change, so that a test harness can prove that no code relies on
//! these registers.
//!
//! A caller must assume that a call changes certain registers. If the callee happens to leave such a register
//! unchanged, a caller that wrongly relies on the register still works, and the error stays hidden. A harness
//! that has compiled both caller and callee knows which registers the callee may change. Strict mode can
//! overwrite all of them. At the call, it overwrites all except the function's arguments, and at the return
//! all except its results. It also marks the registers as undefined, so that code that depends on one of them
//! is reported.

use super::Watcher;
use super::calls::{Change, SCC, VECTORS};
use crate::exec::Cx;
use crate::launch::POISON;
use crate::wave::ActiveLanes;
use isa::{Reg, RegSet};
use std::collections::HashMap;

/// The registers that calls change, for each function by its name: callers of the function must assume that a
/// call changes these registers. A call of a function that is not listed overwrites nothing.
#[derive(Clone, Debug, Default)]
pub struct Scramble(pub HashMap<String, Agreement>);

/// What a function and its callers have agreed about registers.
#[derive(Clone, Debug, Default)]
pub struct Agreement {
    /// Registers of which a caller must assume that a direct call of the function changes them.
    pub named: RegSet,
    /// Registers of which a caller must assume that a call of the function through a function pointer changes
    /// them.
    pub pointed: RegSet,
    /// Registers that hold the function's arguments.
    pub given: RegSet,
    /// Registers that hold the function's results.
    pub results: RegSet,
}

impl Agreement {
    /// Returns the registers to overwrite: those that a call may change, without the registers in `but`.
    /// `by_address` says whether the call is through a function pointer.
    fn changed(&self, by_address: bool, but: &RegSet) -> Vec<u16> {
        let set = if by_address { &self.pointed } else { &self.named };
        set.iter().filter(|&reg| !but.contains(reg)).map(|Reg(code)| code).collect()
    }
}

impl<'a> Watcher<'a> {
    /// Overwrites the registers that the call may change, except the function's arguments. Runs directly
    /// after the call instruction.
    pub(super) fn scramble_call(&mut self, cx: &mut Cx<'_>, call: u32, callee: u32, by_address: bool) {
        if let Some(known) = self.agreement(callee) {
            self.overwrite(cx, (call, callee), &known.changed(by_address, &known.given));
        }
    }

    /// Overwrites the registers that the call may have changed, except the function's results. Runs directly
    /// after the return.
    pub(super) fn scramble_return(&mut self, cx: &mut Cx<'_>, call: u32, callee: u32, by_address: bool) {
        if let Some(known) = self.agreement(callee) {
            self.overwrite(cx, (call, callee), &known.changed(by_address, &known.results));
        }
    }

    fn agreement(&self, callee: u32) -> Option<&'a Agreement> {
        let shared = self.shared;
        let scramble = shared.scramble.as_ref()?;
        let function = shared.functions.at(shared.address(callee))?;
        scramble.0.get(&function.name)
    }

    fn overwrite(&mut self, cx: &mut Cx<'_>, (call, callee): (u32, u32), registers: &[u16]) {
        let exec = cx.wave.exec();
        for &register in registers {
            let change = self.calls().change(Change { call, callee, register });
            if register < VECTORS {
                if self.shared.rules.is_own(register) {
                    self.calls().note_scalar(register, cx);
                    cx.wave.sgpr[usize::from(register)] = POISON;
                    self.wave().defined.lose_scalar(register.into(), change);
                }
                continue;
            }
            let at = usize::from(register - VECTORS);
            if cx.wave.vgpr.get(at).is_none() {
                continue;
            }
            self.calls().note_vector(at, cx);
            for lane in ActiveLanes(exec) {
                cx.wave.vgpr[at][lane] = POISON;
            }
            self.wave().defined.lose_vector(at, exec, change);
        }
        let change = self.calls().change(Change { call, callee, register: SCC });
        self.calls().note_scc(cx.wave.scc);
        cx.wave.scc = !cx.wave.scc;
        self.wave().defined.lose_scc(change);
    }
}
