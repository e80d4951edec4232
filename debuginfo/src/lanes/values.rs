//! Which registers hold what EXEC is or was: values by numbers, read forward through final code.
//!
//! # What for
//! Lanes that wait for the other side of a branch are those at the branch that are not in its condition, and conditions are in VCC, which has no number in DWARF (seed 000,
//! line 624). But if all lanes that went the near way are active, or wait for something nearer than the other side, then of the lanes at the branch only those that wait
//! for the other side are left. That is so if EXEC is what it was when they went, or a nearer wake makes it that.

use super::masks;
use isa::{MachInst, Operand, Reg, RegRange, Role, Target};
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
}

/// How a value was made: of which, by the lanes in which registers, and whether it has those or the others.
type Branch = (Value, Reg, bool);

/// How values were made by instructions that took lanes away.
#[derive(Default)]
pub struct Branches(FxHashMap<Value, Branch>);

impl Values {
    /// What holds on entry.
    pub fn new() -> Values {
        Values { exec: Value::Entry, copies: Vec::new() }
    }

    /// The value that a mask's registers hold.
    pub fn of(&self, reg: Reg) -> Option<Value> {
        self.copies.iter().find(|copy| copy.0 == reg).map(|copy| copy.1)
    }

    /// Keeps what holds on another way to a block as well. Whether that is less.
    pub fn meet(&mut self, other: &Values, block: u32) -> bool {
        let count = self.copies.len();
        self.copies.retain(|copy| other.copies.contains(copy));
        let joined = if self.exec == other.exec { self.exec } else { Value::Joined(block) };
        std::mem::replace(&mut self.exec, joined) != joined || self.copies.len() != count
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
        let count = self.copies.len();
        if count > 0 {
            inst.for_each_hw_reg(target, |role, range| {
                if role != Role::Use && masks::is_scalar(range.first) {
                    self.copies.retain(|copy| !range.overlaps(RegRange { first: copy.0, len: dwords }));
                }
            });
        }
        let is_less = self.copies.len() != count;
        self.copies.extend(kept);
        if let Some(exec) = exec {
            if let (Value::Made(_), Some((mask, keeps))) = (exec, masks::narrowed(inst, dwords)) {
                branches.0.insert(exec, (self.exec, mask, keeps));
            }
            self.exec = exec;
        }
        is_less || kept.is_some() || exec.is_some()
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
    let is_copy = (0..u16::from(dwords)).all(|dword| masks::value(inst, dword).is_exec());
    match inst.ops[0] {
        Operand::Reg(to) if is_copy && to.len == dwords && masks::is_scalar(to.first) => Some(to.first),
        _ => None,
    }
}
