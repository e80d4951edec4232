//! A program as the scoreboard wants it: the effects of each instruction, worked out once.

use crate::effects::{Effects, Kinds};
use crate::finding::{EventRule, Site};
use crate::hazards::{Producer, RULES, Rule, producers};
use crate::mai::MaiKind;
use crate::{rdna, single};
use isa::target::Generation;
use isa::{Feature, MachInst, Setting, Target};

/// Instructions of one processor by [`Site`].
#[derive(Clone, Debug)]
pub struct Code {
    target: &'static Target,
    /// In the order of the first instruction.
    rules: Vec<&'static Rule>,
    /// For each kind of first instruction, where its rules are in `rules`.
    after: [(u8, u8); 64],
    /// For each kind of first instruction, wait states after which no rule asks for it.
    reach: [u8; 64],
    /// The producers that each kind of consumer has to fear.
    feared: [u64; 64],
    /// What is wrong with an instruction wherever it stands.
    singles: Vec<&'static single::Row>,
    effects: Vec<Effects>,
    /// Producers that any instruction has to fear.
    pub(crate) wanted: u64,
    /// Whether there are instructions that are dangerous right after a VALU instruction.
    makes_pairs: bool,
    pub(crate) has: rdna::Has,
    /// Whether there are loads to LDS or stores from LDS.
    pub(crate) has_transfers: bool,
    /// Vector memory instructions form clauses that may be replayed.
    pub(crate) vector_clauses: bool,
    /// Whether memory instructions may be replayed: `Any` where the target id leaves it open.
    xnack: Setting,
}

impl Code {
    /// No instructions yet. `target` says the wave size too. `xnack`: whether memory instructions may be replayed.
    pub fn new(target: &'static Target, xnack: Setting) -> Code {
        let mut rules: Vec<_> = RULES.iter().filter(|rule| rule.processors.contains(target)).collect();
        rules.sort_by_key(|rule| rule.first);
        let generation = target.generation;
        let can_replay = target.has(Feature::XNACK) && generation >= Generation::Gfx8;
        let xnack = if can_replay { xnack } else { Setting::Unsupported };
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
            singles: single::rows(target, xnack),
            after,
            reach,
            rules,
            effects: Vec::new(),
            wanted: 0,
            makes_pairs: false,
            has_transfers: false,
            has: rdna::Has {
                rdna1: generation == Generation::Gfx10 && !target.has(Feature::GFX10_3),
                smem_vccz: generation <= Generation::Gfx7,
                partial_vccz: generation <= Generation::Gfx9,
                clauses,
            },
            vector_clauses: clauses && generation <= Generation::Gfx9,
            xnack,
        }
    }

    /// Whether memory instructions may be replayed.
    pub fn xnack(&self) -> Setting {
        self.xnack
    }

    /// Makes room for so many more.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.effects.reserve_exact(count);
    }

    /// Adds an instruction. Add all of a program before the first is issued: what they fear decides what is kept track of.
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
        let mut effects = Effects::of(self.target, inst);
        let mut consumes = effects.consumes;
        while consumes != 0 {
            effects.fears |= self.feared[consumes.trailing_zeros() as usize];
            consumes &= consumes - 1;
        }
        self.wanted |= effects.fears;
        self.has_transfers |= effects.kinds.contains(Kinds::TRANSFER);
        effects
    }

    /// Puts another instruction in a place, or none at all: to see whether what stands there is missed.
    pub fn replace(&mut self, site: Site, inst: Option<&MachInst>) {
        let nop = MachInst::new(isa::op::S_NOP, &[isa::Operand::Imm(0)]);
        let mut effects = self.effects_of(inst.unwrap_or(&nop));
        if inst.is_none() {
            effects.states = 0;
        }
        self.effects[site as usize] = effects;
    }

    /// What an instruction does.
    #[inline(always)]
    pub fn effects(&self, site: Site) -> &Effects {
        &self.effects[site as usize]
    }

    /// How many instructions there are.
    pub fn len(&self) -> usize {
        self.effects.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }

    /// The processor.
    pub fn target(&self) -> &'static Target {
        self.target
    }

    /// The rows about wait states that the processor has.
    pub fn rules(&self) -> &[&'static Rule] {
        &self.rules
    }

    /// The rows whose first instruction is of a kind.
    pub(crate) fn rules_after(&self, producer: usize) -> &[&'static Rule] {
        let (from, to) = self.after[producer];
        &self.rules[usize::from(from)..usize::from(to)]
    }

    /// Wait states after which no rule asks for an instruction of some kinds.
    pub(crate) fn reach(&self, kinds: u64) -> u8 {
        producers(kinds).map(|kind| self.reach[kind]).max().unwrap_or(0)
    }

    /// What is wrong with an instruction wherever it stands.
    pub fn single(&self, inst: &MachInst) -> Option<&'static EventRule> {
        single::find(&self.singles, self.target, inst)
    }
}
