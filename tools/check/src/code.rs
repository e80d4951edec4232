//! The instructions of a program with their effects, in the form that the scoreboard needs. The effects of
//! each instruction are computed once, when the instruction is added.

use crate::effects::{Effects, Kinds};
use crate::finding::{EventRule, Site};
use crate::hazards::{Producer, RULES, Rule, producers};
use crate::mai::MaiKind;
use crate::{illegal_insts, rdna};
use isa::{Feature, MachInst, Setting, Target};

/// The instructions of a program for one processor. A [`Site`] is the number of an instruction.
#[derive(Clone, Debug)]
pub struct Code {
    target: &'static Target,
    /// Hazard rules of the processor, sorted by the role of their first instruction. A role is what an
    /// instruction does in a hazard, such as "VALU writes a VGPR".
    rules: Vec<&'static Rule>,
    /// For each role of a first instruction, the range of its rules in the list `rules`, as the index of the
    /// first rule and the index after the last.
    after: [(u8, u8); 64],
    /// For each role that a first instruction can have, the number of wait states after which an instruction
    /// with this role causes no hazard any more.
    reach: [u8; 64],
    /// For each role that the second instruction of a hazard can have, a mask of the roles of first
    /// instructions that cause a hazard with this role.
    feared: [u64; 64],
    /// Rules about instructions that are wrong by themselves, as far as they apply to the processor.
    singles: Vec<&'static illegal_insts::Row>,
    effects: Vec<Effects>,
    /// Mask of the roles of first instructions for which the program has a possible second instruction. The
    /// scoreboard need not track other roles.
    pub(crate) wanted: u64,
    /// Whether the program has instructions that form the first part of a hazard together with a VALU
    /// instruction directly before them.
    makes_pairs: bool,
    pub(crate) has: rdna::Has,
    /// Whether the program has loads to LDS or stores from LDS.
    pub(crate) has_transfers: bool,
    /// Whether vector memory instructions form clauses, which are sequences that the hardware may replay
    /// after a page fault (XNACK).
    pub(crate) vector_clauses: bool,
    /// Whether the hardware may replay memory instructions after a page fault (XNACK). `Any` means that the
    /// target id leaves this open.
    xnack: Setting,
}

impl Code {
    /// Creates an empty program for a processor. `target` also determines the wave size. `xnack` says whether
    /// the hardware may replay memory instructions after a page fault.
    pub fn new(target: &'static Target, xnack: Setting) -> Code {
        let mut rules: Vec<_> = RULES.iter().filter(|rule| rule.processors.contains(target)).collect();
        rules.sort_by_key(|rule| rule.first);
        let xnack = if target.has(Feature::XNACK) { xnack } else { Setting::Unsupported };
        let clauses = xnack.may_be_on();
        let mut feared = [0; 64];
        let (mut after, mut reach) = ([(0, 0); 64], [0; 64]);
        for (place, rule) in (0..).zip(&rules) {
            let first = rule.first as usize;
            feared[rule.second as usize] |= 1 << first;
            reach[first] = rule.states.max(reach[first]);
            after[first] = if after[first].1 == 0 { (place, place + 1) } else { (after[first].0, place + 1) };
        }
        Code {
            target,
            feared,
            singles: illegal_insts::rows(target, xnack),
            after,
            reach,
            rules,
            effects: Vec::new(),
            wanted: 0,
            makes_pairs: false,
            has_transfers: false,
            has: rdna::Has { hazards: target.arch.checks.hazards, clauses },
            vector_clauses: clauses && target.arch.checks.vector_clauses,
            xnack,
        }
    }

    /// Returns whether the hardware may replay memory instructions after a page fault (XNACK).
    pub fn xnack(&self) -> Setting {
        self.xnack
    }

    /// Reserves memory for `count` more instructions.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.effects.reserve_exact(count);
    }

    /// Adds an instruction and returns its number. All instructions must be added before the scoreboard
    /// issues the first one: the scoreboard tracks only those first instructions of hazards for which the
    /// program has a second one.
    pub fn add(&mut self, inst: &MachInst) -> Site {
        let effects = self.effects_of(inst);
        let pairs = 1 << Producer::AccAfterValu as u32 | 1 << Producer::DgemmAfterValu as u32;
        self.makes_pairs |= matches!(effects.mai.kind, MaiKind::AccRead | MaiKind::AccWrite | MaiKind::Dgemm);
        if self.makes_pairs && self.wanted & pairs != 0 {
            self.wanted |= 1 << Producer::ValuVector as u32;
        }
        self.effects.push(effects);
        self.effects.len() as Site - 1
    }

    fn effects_of(&mut self, inst: &MachInst) -> Effects {
        let mut effects = Effects::from_inst(self.target, inst);
        let mut consumes = effects.consumes;
        while consumes != 0 {
            effects.fears |= self.feared[consumes.trailing_zeros() as usize];
            consumes &= consumes - 1;
        }
        self.wanted |= effects.fears;
        self.has_transfers |= effects.kinds.contains(Kinds::TRANSFER);
        effects
    }

    /// Replaces an instruction, or removes it if `inst` is `None`. Tests use this function to see whether a
    /// finding depends on the instruction.
    pub fn replace(&mut self, site: Site, inst: Option<&MachInst>) {
        let nop = MachInst::new(isa::op::S_NOP, &[isa::Operand::Imm(0)]);
        let mut effects = self.effects_of(inst.unwrap_or(&nop));
        if inst.is_none() {
            effects.states = 0;
        }
        self.effects[site as usize] = effects;
    }

    /// Returns the effects of an instruction.
    #[inline(always)]
    pub fn effects(&self, site: Site) -> &Effects {
        &self.effects[site as usize]
    }

    /// Returns the number of instructions.
    pub fn len(&self) -> usize {
        self.effects.len()
    }

    /// Returns whether the program has no instructions.
    pub fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }

    /// Returns the processor.
    pub fn target(&self) -> &'static Target {
        self.target
    }

    /// Returns the hazard rules that apply to the processor.
    pub fn rules(&self) -> &[&'static Rule] {
        &self.rules
    }

    /// Returns the rules in which the first instruction has the role `producer`.
    pub(crate) fn rules_after(&self, producer: usize) -> &[&'static Rule] {
        let (from, to) = self.after[producer];
        &self.rules[usize::from(from)..usize::from(to)]
    }

    /// Returns the number of wait states after which an instruction with the roles `kinds` can no longer
    /// cause a hazard.
    pub(crate) fn reach(&self, kinds: u64) -> u8 {
        producers(kinds).map(|kind| self.reach[kind]).max().unwrap_or(0)
    }

    /// Returns the rule that an instruction breaks by itself, whatever comes before and after it. Returns
    /// `None` if there is no such rule.
    pub fn single(&self, inst: &MachInst) -> Option<&'static EventRule> {
        illegal_insts::find(&self.singles, self.target, inst)
    }
}
