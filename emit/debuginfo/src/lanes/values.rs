//! Which registers hold what EXEC is or was: values by numbers, read forward through final code.
//!
//! # What for
//! Lanes that wait for the other side of a branch are those at the branch that are not in its condition, and conditions are in VCC, which has no number in DWARF (seed 000,
//! line 624). But if all lanes that went the near way are active, or wait for something nearer than the other side, then of the lanes at the branch only those that wait
//! for the other side are left. That is so if EXEC is what it was when they went, or a nearer wake makes it that.

use super::masks::{self, Pair, Place};
use isa::{MachInst, Operand, Reg, RegRange, RegSet, Role, Target};
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

/// A dword of a value.
type Dword = (Value, u8);

/// What holds which value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    /// What EXEC is.
    pub exec: Value,
    /// Where dwords of values are.
    copies: Vec<(Place, Dword)>,
    /// First registers of masks that have active lanes only.
    active: Vec<Reg>,
    dwords: u8,
}

/// Instructions that took lanes away, in the order of the code: by the value that EXEC had, and whether those stayed that a mask has or the others.
#[derive(Default)]
pub struct Branches(FxHashMap<(Value, bool), Vec<u32>>);

impl Values {
    /// What holds on entry, where masks have so many dwords.
    pub fn new(dwords: u8) -> Values {
        Values { exec: Value::Entry, copies: Vec::new(), active: Vec::new(), dwords }
    }

    /// The value that a mask has.
    pub fn of(&self, mask: Pair) -> Option<Value> {
        let of = |n: u8| self.copy_at(mask[usize::from(n)]).filter(|copy| copy.1 == n).map(|copy| copy.0);
        let low = of(0)?;
        (self.dwords == 1 || of(1) == Some(low)).then_some(low)
    }

    fn copy_at(&self, place: Place) -> Option<Dword> {
        self.copies.iter().find(|copy| copy.0 == place).map(|copy| copy.1)
    }

    /// Where a value is, so that it can be said.
    pub fn place(&self, value: Value) -> Option<Pair> {
        let at = |n: u8| {
            let mut copies = self.copies.iter().filter(|copy| copy.1 == (value, n)).map(|copy| copy.0);
            copies.find(|place| place.has_number())
        };
        let low = at(0)?;
        Some([low, if self.dwords == 2 { at(1)? } else { low }])
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

    /// A call is executed, and changes these registers. Whether something holds another value.
    pub fn call(&mut self, clobbers: &RegSet) -> bool {
        let count = self.copies.len() + self.active.len();
        self.copies.retain(|copy| !clobbers.hits(RegRange { first: copy.0.register(), len: 1 }));
        self.active.clear();
        self.copies.len() != count
    }

    /// An instruction is executed; whether it changes EXEC. Whether something holds another value.
    pub fn step(
        &mut self,
        (inst, number): (&MachInst, u32),
        writes_exec: bool,
        target: &Target,
        branches: &mut Branches,
    ) -> bool {
        let dwords = self.dwords;
        let new = self.new_copies(inst);
        let exec = writes_exec.then(|| {
            let restored = masks::restored(inst, dwords).and_then(|from| {
                self.of([Place::Scalar(from), Place::Scalar(from.offset(u16::from(dwords) - 1))])
            });
            restored.unwrap_or(Value::Made(number))
        });
        let is_less = self.lose(inst, target);
        let active = masks::active(inst, dwords);
        let is_more = !new.is_empty() || active.is_some();
        self.copies.extend(new);
        self.active.extend(active);
        if let Some(exec) = exec {
            if let (Value::Made(_), Some(keeps)) = (exec, masks::narrows(inst, dwords)) {
                branches.0.entry((self.exec, keeps)).or_default().push(number);
            }
            self.exec = exec;
            self.active.clear();
        }
        is_less || is_more || exec.is_some()
    }

    /// Places that an instruction makes copies of what is known.
    fn new_copies(&self, inst: &MachInst) -> Vec<(Place, Dword)> {
        if let Some((place, value)) = masks::lane_written(inst) {
            let copy = value.copied().and_then(|from| self.copy_at(from));
            return copy.map(|copy| (place, copy)).into_iter().collect();
        }
        let Operand::Reg(to) = inst.ops[0] else { return Vec::new() };
        if !masks::is_scalar(to.first) || to.len > 2 {
            return Vec::new();
        }
        let copy = |n: u8| {
            let value = masks::value(inst, n.into());
            let copy = match value.is_exec() {
                true => Some((self.exec, n)),
                false => value.copied().and_then(|from| self.copy_at(from)),
            };
            copy.map(|copy| (Place::Scalar(to.first.offset(n.into())), copy))
        };
        (0..to.len).filter_map(copy).collect()
    }

    /// Forgets what an instruction overwrites. Whether there was something.
    fn lose(&mut self, inst: &MachInst, target: &Target) -> bool {
        let count = self.copies.len() + self.active.len();
        if count == 0 {
            return false;
        }
        let lane = masks::lane_written(inst).map(|(place, _)| place);
        let dwords = self.dwords;
        inst.for_each_hw_reg(target, |role, range| {
            if role == Role::Use {
                return;
            }
            let is_hit = |place: Place| range.covers(RegRange { first: place.register(), len: 1 });
            self.copies.retain(|copy| match lane {
                Some(place) => copy.0 != place,
                None => !is_hit(copy.0),
            });
            self.active.retain(|&reg| !range.overlaps(RegRange { first: reg, len: dwords }));
        });
        self.copies.len() + self.active.len() != count
    }
}

impl Branches {
    /// What EXEC became at the last branch in front of an instruction at which it was this, for the lanes of a mask or for the others.
    ///
    /// That is the branch on whose near way the instruction is, as EXEC becomes again what it was only when both ways have been gone.
    pub fn near(&self, before: u32, branch: (Value, bool)) -> Option<Value> {
        let numbers = self.0.get(&branch)?;
        let count = numbers.partition_point(|&number| number < before);
        Some(Value::Made(numbers[count.checked_sub(1)?]))
    }
}
