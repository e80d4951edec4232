//! Which registers hold what EXEC is or was: values by numbers, read forward through final code.
//!
//! # What for
//! Lanes that wait for the other side of a branch are those at the branch that are not in its condition, and conditions are in VCC, which has no number in DWARF (seed 000,
//! line 624). But if all lanes that went the near way are active, or wait for something nearer than the other side, then of the lanes at the branch only those that wait
//! for the other side are left. That is so if EXEC is what it was when they went, or a nearer wake makes it that.

use super::masks;
use isa::{MachInst, Reg, RegRange, Role, Target};
use rustc_hash::FxHashMap;

/// A value of EXEC: by the instruction that made it, or by the block where several come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// What it was on entry.
    Entry,
    /// What an instruction, by its number, has made of it.
    Made(u32),
    /// What comes into a block, by its number.
    Joined(u32),
}

/// What holds which value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    /// What EXEC is.
    pub exec: Value,
    /// First registers of copies.
    copies: Vec<(Reg, Value)>,
    /// First registers of masks that have active lanes only.
    active: Vec<Reg>,
}

/// How a value was made: of which, by the lanes in which registers, and whether it has those or the others.
type Branch = (Value, Reg, bool);

/// How values were made by instructions that took lanes away.
#[derive(Default)]
pub struct Branches(FxHashMap<Value, Branch>);

impl Values {
    /// What holds on entry.
    pub fn new() -> Values {
        Values { exec: Value::Entry, copies: Vec::new(), active: Vec::new() }
    }

    /// The value that a mask's registers hold.
    pub fn of(&self, reg: Reg) -> Option<Value> {
        self.copies.iter().find(|copy| copy.0 == reg).map(|copy| copy.1)
    }

    /// What holds where a block begins, given what holds at the ends of all that lead there.
    pub fn meet<'v>(mut ends: impl Iterator<Item = &'v Values>, block: u32) -> Option<Values> {
        let mut all = ends.next()?.clone();
        all.active.clear();
        for other in ends {
            all.copies.retain(|copy| other.copies.contains(copy));
            if all.exec != other.exec {
                all.exec = Value::Joined(block);
            }
        }
        Some(all)
    }

    /// Whether all lanes of a mask are active.
    pub fn are_active(&self, reg: Reg) -> bool {
        self.active.contains(&reg)
    }

    /// An instruction is executed. Whether something holds another value.
    pub fn step(
        &mut self,
        (inst, number): (&MachInst, u32),
        writes_exec: bool,
        target: &Target,
        dwords: u8,
        branches: &mut Branches,
    ) -> bool {
        let kept = copied(inst, dwords).map(|to| (to, self.exec));
        let exec = writes_exec.then(|| {
            let restored = masks::restored(inst, dwords).and_then(|from| self.of(from));
            restored.unwrap_or(Value::Made(number))
        });
        let count = self.copies.len() + self.active.len();
        if count > 0 {
            inst.for_each_hw_reg(target, |role, range| {
                if role != Role::Use && masks::is_scalar(range.first) {
                    let is_kept = |reg: Reg| !range.overlaps(RegRange { first: reg, len: dwords });
                    self.copies.retain(|copy| is_kept(copy.0));
                    self.active.retain(|&reg| is_kept(reg));
                }
            });
        }
        let is_less = self.copies.len() + self.active.len() != count;
        self.copies.extend(kept);
        let active = masks::active(inst, dwords);
        self.active.extend(active);
        if let Some(exec) = exec {
            if let (Value::Made(_), Some((mask, keeps))) = (exec, masks::narrowed(inst, dwords)) {
                branches.0.insert(exec, (self.exec, mask, keeps));
            }
            self.exec = exec;
            self.active.clear();
        }
        is_less || kept.is_some() || active.is_some() || exec.is_some()
    }
}

impl Branches {
    /// Whether one of the values is what went the near way at a branch: of what registers hold, the lanes in others, or those that are not.
    pub fn went(&self, near: &[Value], values: &Values, (all, mask, keeps): (Reg, Reg, bool)) -> bool {
        let branch = values.of(all).map(|all| (all, mask, keeps));
        branch.is_some() && near.iter().any(|value| self.0.get(value).copied() == branch)
    }
}

/// Registers that an instruction makes a copy of EXEC.
fn copied(inst: &MachInst, dwords: u8) -> Option<Reg> {
    masks::set_to(inst, dwords, masks::Value::is_exec)
}
