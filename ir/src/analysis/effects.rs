//! Effects of calls: on memory, on the wave, on the work-group, and whether a call returns.
//!
//! The effects of a function are the effects of its operations and of the functions it calls. Accesses to the
//! function's own private memory do not count, because its variables cease to exist at the end of the call.
//! Code of other objects may have any effect.

use super::callgraph::CallGraph;
use super::cfg::Cfg;
use super::escape::Escapes;
use crate::constraints::{Class, ordering_constraint};
use crate::entity::{FuncId, SigId};
use crate::func::{Function, Linkage, Module};
use crate::op::{MemFlags, Op, WaveOp};

bitflags::bitflags! {
    /// Effects of calling a function.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Effects: u8 {
        /// The results depend on memory that may be written.
        const READS = 1;
        /// Memory is written.
        const WRITES = 2;
        /// The call must keep its order relative to other memory accesses, because the callee has ordered
        /// atomics, fences, barriers or volatile accesses.
        const ORDERS = 4;
        /// The behaviour depends on which lanes are active.
        const ASKS = 8;
        /// The whole work-group has to execute the call.
        const BARRIER = 16;
        /// The call may not return, because of a loop or recursion.
        const MAY_STAY = 32;
        /// Two calls with the same arguments and memory may have different results, because the callee reads
        /// a clock.
        const VARIES = 64;
    }
}

impl Effects {
    /// Returns whether a call may be removed if its results are not used.
    pub const fn is_removable(self) -> bool {
        !self.intersects(
            Effects::WRITES.union(Effects::ORDERS).union(Effects::BARRIER).union(Effects::MAY_STAY),
        )
    }

    /// Returns whether memory accesses of the caller may be moved across the call. Callers need not ask for
    /// memory that only they can access, because a call does not affect it.
    pub const fn keeps_memory(self) -> bool {
        !self.intersects(Effects::WRITES.union(Effects::ORDERS).union(Effects::BARRIER))
    }
}

/// The effects of all calls in a module.
#[derive(Clone, Debug, Default)]
pub struct CallEffects {
    of_func: Vec<Effects>,
    of_sig: Vec<Effects>,
    cfg: Cfg,
    escapes: Escapes,
}

impl CallEffects {
    /// Forgets all functions. Every call then may have any effect.
    pub fn clear(&mut self) {
        self.of_func.clear();
        self.of_sig.clear();
    }

    /// Returns whether the effects of no function are known.
    pub fn is_empty(&self) -> bool {
        self.of_func.is_empty()
    }

    /// Computes the effects of all functions. Callees are processed before their callers, so one round
    /// suffices unless there is recursion.
    pub fn compute(&mut self, module: &Module, graph: &CallGraph) {
        self.of_func.clear();
        self.of_func.resize(module.funcs.len(), Effects::empty());
        self.of_sig.clear();
        self.of_sig.resize(module.sigs.len(), Effects::empty());
        for (id, func) in module.funcs.iter() {
            self.of_func[id.as_u32() as usize] = match func.linkage {
                Linkage::Extern => Effects::all(),
                _ => self.own_effects(func, graph.is_recursive(id)),
            };
        }
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for sig in module.sigs.keys() {
                let targets = graph.targets(sig);
                let foreign = if targets.foreign { Effects::all() } else { Effects::empty() };
                let all = targets
                    .known
                    .iter()
                    .fold(foreign, |all, &func| all | self.effects_of_call(Op::Call(func)));
                self.of_sig[sig.as_u32() as usize] = all;
            }
            for &id in graph.bottom_up() {
                let func = &module.funcs[id];
                let insts = func.layout.iter().flat_map(|&block| func.blocks[block].insts());
                let calls = insts.map(|&inst| func.insts[inst].op).filter(|op| op.is_call());
                let all =
                    calls.fold(self.effects_of_call(Op::Call(id)), |all, op| all | self.effects_of_call(op));
                changed |= all != self.effects_of_call(Op::Call(id));
                self.of_func[id.as_u32() as usize] = all;
            }
        }
    }

    /// Returns the effects of a call; no effects for any other operation. A call of a function that was not
    /// analysed has all effects.
    pub fn effects_of_call(&self, call: Op) -> Effects {
        let found = match call {
            Op::Call(func) => self.of_func.get(FuncId::as_u32(func) as usize),
            Op::CallIndirect(sig) => self.of_sig.get(SigId::as_u32(sig) as usize),
            _ => return Effects::empty(),
        };
        found.copied().unwrap_or(Effects::all())
    }

    fn own_effects(&mut self, func: &Function, is_recursive: bool) -> Effects {
        self.cfg.compute(func);
        self.escapes.compute(func);
        let has_loop = self.cfg.rpo().iter().any(|&block| self.cfg.is_loop_header(block));
        let mut all = if has_loop || is_recursive { Effects::MAY_STAY } else { Effects::empty() };
        for &inst in func.layout.iter().flat_map(|&block| func.blocks[block].insts()) {
            let op = func.insts[inst].op;
            let own = || self.escapes.is_own(func.args(inst)[0]);
            if !ordering_constraint(&op).is_empty() && !op.is_call() {
                all |= Effects::ORDERS;
            }
            all |= match op {
                Op::Load { mem, .. } if Class::for_access(&mem) == Class::VOLATILE => {
                    Effects::READS | Effects::ORDERS
                }
                Op::Load { mem, .. } if mem.flags.contains(MemFlags::INVARIANT) || own() => Effects::empty(),
                Op::Load { .. } => Effects::READS,
                Op::Store { mem, .. } if Class::for_access(&mem) != Class::VOLATILE && own() => {
                    Effects::empty()
                }
                Op::Store { .. } => Effects::WRITES,
                Op::AtomicRmw { .. } | Op::AtomicCas { .. } => Effects::READS | Effects::WRITES,
                Op::Wave(op) if op != WaveOp::Mbcnt => Effects::ASKS,
                Op::Barrier { .. } => Effects::BARRIER | Effects::ORDERS,
                Op::Fence { .. } | Op::WaveBarrier => Effects::ORDERS,
                Op::Assume | Op::Call(_) | Op::CallIndirect(_) => Effects::empty(),
                _ if op.has_side_effect() && !op.is_terminator() => Effects::all(),
                Op::Pos(_) if !op.is_pure() => Effects::VARIES,
                _ => Effects::empty(),
            };
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse_module;

    #[test]
    fn effects_come_from_operations_and_callees() {
        let module = parse_module(
            "sig0 = ()
extern func @away()
func @pure -> i32 {
    slot0 size 4 align 4
b0(v0: i32):
    v1 = slot_addr.ptr.private slot0
    store b32 private [v1], v0 align 4
    v2 = load.i32 b32 private [v1] align 4
    ret v2
}
func @reads -> i32 {
b0(v0: ptr.global):
    v1 = load.i32 b32 global [v0] align 4
    v2: i32 = call @pure(v1)
    ret v2
}
func @writes {
b0(v0: ptr.private, v1: i32):
    store b32 private [v0], v1 align 4
    ret
}
func @meets {
b0:
    barrier
    ret
}
func @asks -> i64 {
b0(v0: bool):
    v1 = ballot.i64 v0
    ret v1
}
func @ping {
b0:
    call @pong()
    ret
}
func @pong {
b0:
    call @ping()
    v0 = const.i64 0
    call_indirect sig0 v0()
    ret
}
func @calls_away {
b0:
    call @away()
    ret
}
",
        )
        .unwrap();
        let mut effects = CallEffects::default();
        effects.compute(&module, &CallGraph::new(&module));
        let of = |name: &str| {
            let found = module.funcs.iter().find(|(_, func)| func.name == name).unwrap().0;
            effects.effects_of_call(Op::Call(found))
        };
        assert_eq!(of("pure"), Effects::empty());
        assert_eq!(of("reads"), Effects::READS);
        assert_eq!(of("writes"), Effects::WRITES);
        assert_eq!(of("meets"), Effects::BARRIER | Effects::ORDERS);
        assert_eq!(of("asks"), Effects::ASKS);
        assert_eq!(of("calls_away"), Effects::all());
        // The pointer may come from the other object.
        assert_eq!(of("ping"), Effects::all());
    }
}
