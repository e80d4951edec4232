//! Observes, during a compilation, which registers callers and functions have agreed on.

use kernc::isa::{Reg, RegRange, RegSet, Subtarget};
use kernc::mir::{self, Callee, MachFunc};
use kernc::sim::{Agreement, Scramble};
use std::collections::HashMap;

/// Facts collected from a compilation.
#[derive(Default)]
pub(super) struct Agreements {
    /// The IR from which the machine code is generated.
    pub(super) module: ir::Module,
    functions: HashMap<String, Agreement>,
    /// Each call's callee, and the registers that the call may clobber.
    calls: Vec<(Callee, RegSet)>,
}

impl kernc::Observer for Agreements {
    fn ir(&mut self, _: &'static str, module: &ir::Module) {
        self.module.clone_from(module);
    }

    fn mir(&mut self, pass: &'static str, _: &Subtarget, func: &MachFunc) {
        if pass != "isel" {
            return;
        }
        self.calls.extend(func.calls.iter().map(|call| (call.callee, call.clobbers)));
        if func.role == mir::FuncRole::Callee {
            let mut known = Agreement::default();
            // The return address; the other fixed inputs are preserved.
            known.given.insert(RegRange { first: Reg(30), len: 2 });
            func.inputs.iter().for_each(|&(_, first)| known.given.insert(RegRange { first, len: 1 }));
            self.functions.insert(func.name.clone(), known);
        }
    }
}

impl Agreements {
    /// Returns for each function the registers that all its callers treat as clobbered.
    pub(super) fn scramble(self) -> Scramble {
        let all = |wanted: &dyn Fn(Callee) -> bool| {
            let sets = self.calls.iter().filter(|call| wanted(call.0)).map(|call| call.1);
            sets.reduce(|all, set| intersection(&all, &set)).unwrap_or_default()
        };
        let pointed = all(&|callee| matches!(callee, Callee::Pointer(_)));
        let mut functions = self.functions.clone();
        for (id, func) in self.module.funcs.iter() {
            if let Some(known) = functions.get_mut(func.name.as_str()) {
                let dwords: u32 = func.results.iter().map(|ty| ty.dwords()).sum();
                for number in 0..dwords as u16 {
                    known.results.insert(RegRange { first: Reg::vgpr(number), len: 1 });
                }
                known.named = all(&|callee| callee == Callee::Func(id.as_u32()));
                known.pointed = pointed;
            }
        }
        Scramble(functions)
    }
}

/// Returns the intersection of two sets.
fn intersection(one: &RegSet, other: &RegSet) -> RegSet {
    let mut set = RegSet::default();
    for first in one.iter().filter(|&reg| other.contains(reg)) {
        set.insert(RegRange { first, len: 1 });
    }
    set
}
