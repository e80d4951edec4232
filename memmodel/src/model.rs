//! The properties of a subtarget that the passes need, computed once.

use crate::counters::{self, CLASS_COUNT, CLASSES, ClassSet, Events};
use crate::rules::{self, Rules};
use crate::sequences::{Around, Kind, Row, Steps, When};
use isa::table::Flags;
use isa::{Feature, MachInst, MemoryModel, ModFlags, Subtarget, UnknownFact};

/// The memory model of a subtarget: wait counters, the instruction sequences for memory orders, and hazard
/// rules.
#[derive(Clone, Debug)]
pub struct Model {
    subtarget: Subtarget,
    events: Events,
    oldest: [u8; CLASS_COUNT],
    facts: &'static MemoryModel,
    /// [`When::SPLIT`] if the waves of a work-group do not share their first-level cache; otherwise empty.
    split: When,
    pub(crate) rules: Rules,
}

impl Model {
    /// Returns the model of a subtarget.
    ///
    /// # Errors
    /// The family of the processor leaves open its memory model, its hazards or its wait instructions.
    pub fn for_subtarget(subtarget: &Subtarget) -> Result<Model, UnknownFact> {
        let arch = subtarget.arch;
        arch.waits.get(subtarget)?;
        let facts = arch.memory_model.get(subtarget)?;
        let mut oldest = [0; CLASS_COUNT];
        for (oldest, class) in oldest.iter_mut().zip(&CLASSES) {
            // The largest count in a wait instruction that still waits. The maximum value of the
            // instruction's field means "do not wait".
            *oldest = class.counter.max(subtarget).saturating_sub(1);
        }
        Ok(Model {
            events: counters::events(facts),
            oldest,
            facts,
            split: if subtarget.tgsplit || !subtarget.cumode { When::SPLIT } else { When::empty() },
            rules: Rules::for_subtarget(subtarget)?,
            subtarget: *subtarget,
        })
    }

    /// Returns the subtarget.
    #[inline]
    pub fn subtarget(&self) -> &Subtarget {
        &self.subtarget
    }

    /// Returns the counter classes of an instruction. The set is empty if the instruction is not a memory
    /// operation.
    #[inline]
    pub fn classes(&self, inst: &MachInst) -> ClassSet {
        counters::event(inst).map_or(0, |event| self.events[event as usize])
    }

    /// Returns the largest age (number of younger operations of the class) that is distinguished for an
    /// operation. Older operations are treated as if they had this age.
    #[inline]
    pub(crate) fn oldest(&self, class: usize) -> u8 {
        self.oldest[class]
    }

    /// Returns the facts about caches and counters.
    pub fn facts(&self) -> &'static MemoryModel {
        self.facts
    }

    /// Returns the cache bits of every store of the processor.
    pub(crate) fn store_bits(&self) -> ModFlags {
        match self.subtarget.has(Feature::SYSTEM_STORES) {
            true => ModFlags::GLC | ModFlags::SCC,
            false => ModFlags::empty(),
        }
    }

    /// Returns the sequence of waits and cache instructions around an access or fence. `row` is the row of
    /// the table [`crate::sequences`] for the access, and `case` has the conditions of words that hold for
    /// it. [`crate::sequences::lookup`] returns both.
    pub fn around(&self, row: &Row, case: When, inst: &MachInst) -> Around {
        let flags = inst.op.row().flags;
        let returns = flags.contains(Flags::LOAD) || inst.mods.flags.contains(ModFlags::GLC);
        let returns = if returns { When::RETURNS } else { When::empty() };
        let cell = &row.cells[self.facts.caches as usize];
        if !self.facts.scope_bits {
            return cell.resolve(case | self.split | returns);
        }
        // The L2s of an agent need not be coherent with each other, so the agent needs the steps of the
        // system.
        let wide = if case.contains(When::AGENT) { When::SYSTEM } else { When::empty() };
        let scope = match () {
            () if case.contains(When::SYSTEM) => ModFlags::GLC | ModFlags::SCC,
            () if case.contains(When::AGENT) => ModFlags::SCC,
            () if case.contains(When::GROUP) => ModFlags::GLC,
            () => ModFlags::empty(),
        };
        // In a read-modify-write, the bit `sc0` asks for the old value, so only the scope of the system has a
        // bit.
        let bits = match row.kind {
            Kind::Load | Kind::Store => scope,
            Kind::Rmw if case.contains(When::SYSTEM) => ModFlags::SCC,
            Kind::Rmw | Kind::Fence => ModFlags::empty(),
        };
        // One instruction invalidates all caches up to the scope.
        let Around { before, after, .. } = cell.resolve(case | wide | self.split | returns);
        let [before, after] = [before, after].map(|steps| steps - Steps::INVALIDATE_OUTER);
        Around { before, after, bits, scope }
    }

    /// Returns the hazard rules that apply to the processor.
    pub fn rules(&self) -> &[rules::Rule] {
        self.rules.rows()
    }
}
