//! Garbage in what calls may change: how a harness proves that nobody relies on it.
//!
//! A function need not change all that its callers have to take for changed, and what it happens to leave alone hides the mistakes of
//! those that go on using it. So a harness that knows what callers and callees have agreed on, because it has compiled them, can have
//! all of it overwritten: when a function is called, with the exception of what it is given, and when it returns, with the exception
//! of its results. What was overwritten is undefined, too, so that strict mode reports who depends on it.

use super::Watcher;
use super::calls::{Change, SCC, VECTORS};
use crate::exec::Cx;
use crate::launch::POISON;
use crate::wave::ActiveLanes;
use isa::{Reg, RegSet};
use std::collections::HashMap;

/// What callers of functions take for changed, by the names of the functions. Functions that are not named are left alone.
#[derive(Clone, Debug, Default)]
pub struct Scramble(pub HashMap<String, Agreement>);

/// What is agreed between a function and its callers.
#[derive(Clone, Debug, Default)]
pub struct Agreement {
    /// Registers that callers take for changed which call it by its name.
    pub named: RegSet,
    /// The same of callers that have its address.
    pub pointed: RegSet,
    /// Registers that it is given.
    pub given: RegSet,
    /// Registers of its results.
    pub results: RegSet,
}

impl Agreement {
    /// What to overwrite, of all that may be changed.
    fn changed(&self, by_address: bool, but: &RegSet) -> Vec<u16> {
        let set = if by_address { &self.pointed } else { &self.named };
        set.iter().filter(|&reg| !but.contains(reg)).map(|Reg(code)| code).collect()
    }
}

impl<'a> Watcher<'a> {
    /// Behind a call: what the function is not given.
    pub(super) fn scramble_call(&mut self, cx: &mut Cx<'_>, call: u32, callee: u32, by_address: bool) {
        if let Some(known) = self.agreement(callee) {
            self.overwrite(cx, (call, callee), &known.changed(by_address, &known.given));
        }
    }

    /// Behind a return: what is no result.
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
