//! Translates the memory orders and scopes of accesses and fences into cache bits, cache invalidations and
//! wait points.
//!
//! # Source
//! The table in [`crate::sequences`].
//! # Requires
//! Memory instructions have a [`MemRef`]; `FENCE` pseudo-instructions say what they order.
//! # Guarantees
//! No `FENCE` remains. A `WAIT_POINT` pseudo-instruction says which counters must be zero at that place.
//! [`crate::waits`] knows which operations are outstanding there, so a wait point without outstanding
//! operations costs nothing.
//! # Beyond the table
//! According to the table, a release to the work-group does not wait for global stores, because the
//! work-group shares a cache. But another wave may acquire from this release and then release to the agent.
//! That wave waits only for its own stores, so stores of other waves in the group may become visible after
//! its flag. Therefore, in a function that releases to the agent or the system, or that interacts with
//! functions that may do so, releases to the group wait for `vmcnt` as well (`docs/memory-model.md`,
//! "Releases in a chain").
//! # Not here
//! `s_barrier` itself is an execution barrier and does not order memory: the language's `barrier()` is a
//! fence and an `s_barrier`. A GFX9 wave that waits at a barrier with accesses in flight cannot report their
//! faults in time, so LLVM waits for all of them before a barrier. This pass does not.

use crate::sequences::{self, Kind, Steps, When};
use crate::{Context, Model, Options, Stats, counters, counters::Counter, edit};
use isa::table::{Family, Flags};
use isa::{MachInst, ModFlags, Opcode, Operand, op};
use mir::{MachFunc, MemRef, Note, SyncOrder};

/// Runs the pass.
pub fn run(func: &mut MachFunc, model: &Model, _opts: &Options, ctx: &mut Context) -> Stats {
    let mut stats = Stats::default();
    let pass = Pass { model, in_chain: func.has_stack() || releases_beyond_the_group(func) };
    for index in 0..func.blocks.len() {
        let block = isa::MBlock::from_u32(index as u32);
        if !func.blocks[block].insts.iter().any(|inst| concerns(func, inst)) {
            continue;
        }
        edit::rewrite(func, block, &mut ctx.insts, |func, inst, out| {
            pass.instruction(func, inst, out, &mut stats);
        });
    }
    let bits = model.store_bits();
    if !bits.is_empty() {
        let insts = func.blocks.values_mut().flat_map(|block| &mut block.insts);
        let stores = insts.filter(|inst| inst.op.row().is_vmem() && kind(inst) == Some(Kind::Store));
        stores.for_each(|store| store.mods.flags |= bits);
    }
    stats
}

/// Returns whether an instruction needs cache bits, invalidations or wait points. Most memory accesses are
/// plain and need none.
fn concerns(func: &MachFunc, inst: &MachInst) -> bool {
    match inst.mem.index() {
        Some(mem) => {
            let mem = &func.mems[mem];
            inst.op == op::FENCE || mem.order != SyncOrder::NotAtomic || mem.volatile || mem.nontemporal
        }
        None => inst.op == op::FENCE,
    }
}

/// Properties that are the same for all instructions of a function.
struct Pass<'a> {
    model: &'a Model,
    /// Whether a release to the work-group must also wait for `vmcnt`. This is so if a later release to the
    /// agent may depend on it (see "Beyond the table" in the description of this module).
    in_chain: bool,
}

/// Text for the note of the additional wait of a release to the work-group.
const CHAIN: &str = "release to the group, before one to the agent";

impl Pass<'_> {
    /// Writes an instruction to `out`, with the waits and cache instructions that the table of sequences
    /// requires before and after it.
    fn instruction(&self, func: &mut MachFunc, inst: &MachInst, out: &mut Vec<MachInst>, stats: &mut Stats) {
        let mem = inst.mem.index().map(|mem| func.mems[mem]);
        let Some((kind, mem)) = kind(inst).zip(mem) else {
            if inst.op != op::FENCE {
                out.push(*inst);
            }
            return;
        };
        let mut access = *inst;
        self.hint(&mut access, kind, &mem);
        let Some((row, case)) = sequences::lookup(kind, &mem) else {
            if kind != Kind::Fence {
                out.push(access);
            }
            return;
        };
        let around = self.model.around(row, case, inst);
        self.steps(func, row.name, (around.before, around.scope), inst.loc, out, stats);
        if self.in_chain && row.releases_to_group() && case.contains(When::GLOBAL) {
            self.steps(func, CHAIN, (Steps::VM | Steps::VS, ModFlags::empty()), inst.loc, out, stats);
        }
        if kind != Kind::Fence {
            if access.op.row().is_vmem() {
                access.mods.flags |= around.bits;
            }
            out.push(access);
        }
        self.steps(func, row.name, (around.after, around.scope), inst.loc, out, stats);
    }

    /// Sets the cache bits of `volatile` and `nontemporal` accesses. LDS instructions have no cache bits.
    fn hint(&self, inst: &mut MachInst, kind: Kind, mem: &MemRef) {
        if !inst.op.row().is_vmem() {
            return;
        }
        let facts = self.model.facts();
        for (asked, of, bits) in [
            (mem.volatile, Kind::Load, facts.volatile_load),
            (mem.volatile, Kind::Store, facts.volatile_store),
            (mem.nontemporal, Kind::Load, facts.nontemporal_load),
            (mem.nontemporal, Kind::Store, facts.nontemporal_store),
        ] {
            if asked && of == kind {
                inst.mods.flags |= bits;
            }
        }
    }

    /// Writes the instructions of a sequence: first the write-back of the cache, then one wait point for all
    /// counters, then the cache invalidations.
    fn steps(
        &self,
        func: &mut MachFunc,
        name: &'static str,
        (steps, scope): (Steps, ModFlags),
        loc: u32,
        out: &mut Vec<MachInst>,
        stats: &mut Stats,
    ) {
        if steps.is_empty() {
            return;
        }
        let note = func.note(Note::Coherence(name));
        let mut push = |op: Opcode, operands: &[Operand]| {
            let mut inst = MachInst { note, loc, ..MachInst::new(op, operands) };
            if inst.op.row().flags.contains(Flags::SCOPED) {
                inst.mods.flags = scope;
            }
            out.push(inst);
        };
        let facts = self.model.facts();
        if let (true, Some(op)) = (steps.contains(Steps::WRITE_BACK), facts.write_back) {
            push(op, &[]);
        }
        let counters = [(Steps::VM, Counter::Vm), (Steps::VS, Counter::Vs), (Steps::LGKM, Counter::Lgkm)];
        let mask = counters
            .iter()
            .filter(|(step, _)| steps.contains(*step))
            .fold(0, |mask, (_, counter)| mask | counters::wait_point_bit(*counter));
        if mask != 0 {
            push(op::WAIT_POINT, &[Operand::Imm(mask)]);
        }
        if let (true, Some(op)) = (steps.contains(Steps::INVALIDATE_OUTER), facts.invalidate_outer) {
            push(op, &[]);
            stats.invalidates += 1;
        }
        if steps.contains(Steps::INVALIDATE) {
            push(facts.invalidate, &[]);
            stats.invalidates += 1;
        }
    }
}

/// Returns whether a function has a release whose scope is the agent or the system. Other work-groups may
/// read what the function wrote before such a release.
fn releases_beyond_the_group(func: &MachFunc) -> bool {
    func.blocks.values().flat_map(|block| &block.insts).any(|inst| {
        let mem = inst.mem.index().map(|mem| func.mems[mem]);
        let found = kind(inst).zip(mem).and_then(|(kind, mem)| sequences::lookup(kind, &mem));
        found.is_some_and(|(row, _)| row.releases_beyond_the_group())
    })
}

/// Returns the kind of a memory operation in the memory model.
pub(crate) fn kind(inst: &MachInst) -> Option<Kind> {
    if inst.op == op::FENCE {
        return Some(Kind::Fence);
    }
    let row = inst.op.row();
    // Scalar loads need no ordering, because they read memory that does not change while a kernel runs
    // (LLVM's AMDGPU guide, seed 000, line 3127).
    if row.family == Family::Smem {
        return None;
    }
    [(Flags::ATOMIC, Kind::Rmw), (Flags::LOAD, Kind::Load), (Flags::STORE, Kind::Store)]
        .into_iter()
        .find_map(|(flag, kind)| row.flags.contains(flag).then_some(kind))
}
