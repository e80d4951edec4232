//! Overwrites registers that calls may change, so that a test harness can prove that no code relies on them.
//!
//! A function need not change every register that its callers have to assume changed. A register that it
//! happens to preserve hides the error of a caller that relies on it. A harness that has compiled the callers
//! and callees knows what they have agreed on, and can have all changeable registers overwritten: at a call
//! all of them except the function's arguments, and at a return all of them except its results. The
//! overwritten registers also count as undefined, so that strict mode reports code that depends on them.

use super::Watcher;
use super::calls::{Change, SCC, VECTORS};
use crate::exec::Cx;
use crate::launch::POISON;
use crate::wave::ActiveLanes;
use isa::{Reg, RegSet};
use std::collections::HashMap;

/// The registers that callers assume changed, for each function by name. Functions without an entry are not
/// affected.
#[derive(Clone, Debug, Default)]
pub struct Scramble(pub HashMap<String, Agreement>);

/// The agreement between a function and its callers.
#[derive(Clone, Debug, Default)]
pub struct Agreement {
    /// Registers that callers assume changed if they call the function by its name.
    pub named: RegSet,
    /// Registers that callers assume changed if they call the function by its address.
    pub pointed: RegSet,
    /// Registers that hold the function's arguments.
    pub given: RegSet,
    /// Registers that hold the function's results.
    pub results: RegSet,
}

impl Agreement {
    /// Returns the registers to overwrite: all that may be changed, without the registers in `but`.
    fn changed(&self, by_address: bool, but: &RegSet) -> Vec<u16> {
        let set = if by_address { &self.pointed } else { &self.named };
        set.iter().filter(|&reg| !but.contains(reg)).map(|Reg(code)| code).collect()
    }
}

impl<'a> Watcher<'a> {
    /// Overwrites registers after a call, except those that hold the function's arguments.
    pub(super) fn scramble_call(&mut self, cx: &mut Cx<'_>, call: u32, callee: u32, by_address: bool) {
        if let Some(known) = self.agreement(callee) {
            self.overwrite(cx, (call, callee), &known.changed(by_address, &known.given));
        }
    }

    /// Overwrites registers after a return, except those that hold the function's results.
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
