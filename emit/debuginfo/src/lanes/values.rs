//! Walks forward through final code and tracks which registers hold the current value of EXEC or an earlier
//! one. A value is identified by the instruction that produced it.
//!
//! # Purpose
//! A branch splits the active lanes: first the lanes in its condition run on the near side, and then the
//! other lanes run on the other side. While the near side runs, the lanes that wait are the lanes at the
//! branch without the lanes in the condition. But the condition is often in VCC, which has no number in DWARF
//! (LLVM's AMDGPU guide, seed 000, line 624).
//!
//! Often the condition is not needed. All lanes of the near side may be active, or wait for a wake nearer
//! than the other side. Of the lanes at the branch, then only the lanes that wait for the other side remain.
//! This is the case if EXEC has the value that it had on the near side, or if a nearer wake restores that
//! value. To recognise these values, this module tracks EXEC.

use super::masks::{self, Pair, Place};
use isa::{MachInst, Operand, Reg, RegRange, RegSet, Role, Target};
use rustc_hash::FxHashMap;

/// Value of EXEC, identified by the instruction that produced it or by the block where several values join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// The value on entry.
    Entry,
    /// The value that the instruction with this number produced.
    Made(u32),
    /// The value at the beginning of the block with this number, where the predecessors have different values
    /// of EXEC.
    Joined(u32),
}

/// One dword of a value: the value and the index of the dword.
type Dword = (Value, u8);

/// Registers that hold known values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    /// Current value of EXEC.
    pub exec: Value,
    /// Places that hold dwords of values.
    copies: Vec<(Place, Dword)>,
    /// First registers of masks that contain only active lanes.
    active: Vec<Reg>,
    dwords: u8,
}

/// The instructions by which branches have removed lanes from EXEC, as instruction numbers in the order of
/// the code. The key is a pair. The first element is the value of EXEC before the instruction. The second
/// says which lanes remained: those in a mask (`true`), or those that are not in the mask (`false`).
#[derive(Default)]
pub struct Branches(FxHashMap<(Value, bool), Vec<u32>>);

impl Values {
    /// Returns the state on entry to a function. `dwords` is the number of dwords of a lane mask: 1 or 2.
    pub fn new(dwords: u8) -> Values {
        Values { exec: Value::Entry, copies: Vec::new(), active: Vec::new(), dwords }
    }

    /// Returns the value of a mask, if it is known.
    pub fn value_of_mask(&self, mask: Pair) -> Option<Value> {
        let of = |n: u8| self.copy_at(mask[usize::from(n)]).filter(|copy| copy.1 == n).map(|copy| copy.0);
        let low = of(0)?;
        (self.dwords == 1 || of(1) == Some(low)).then_some(low)
    }

    fn copy_at(&self, place: Place) -> Option<Dword> {
        self.copies.iter().find(|copy| copy.0 == place).map(|copy| copy.1)
    }

    /// Returns the registers that hold this value of EXEC, if there are such registers and DWARF can describe
    /// them.
    pub fn registers_with(&self, value: Value) -> Option<Pair> {
        let at = |n: u8| {
            let mut copies = self.copies.iter().filter(|copy| copy.1 == (value, n)).map(|copy| copy.0);
            copies.find(|place| place.has_number())
        };
        let low = at(0)?;
        Some([low, if self.dwords == 2 { at(1)? } else { low }])
    }

    /// Returns what is known at the beginning of a block, given what is known at the ends of its
    /// predecessors.
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

    /// Returns whether all lanes of a mask are active.
    pub fn are_active(&self, reg: Reg) -> bool {
        self.active.contains(&reg)
    }

    /// Applies a call, which changes the registers in `clobbers`. Returns whether a register that held a
    /// known value was among them.
    pub fn call(&mut self, clobbers: &RegSet) -> bool {
        let count = self.copies.len() + self.active.len();
        self.copies.retain(|copy| !clobbers.hits(RegRange { first: copy.0.register(), len: 1 }));
        self.active.clear();
        self.copies.len() != count
    }

    /// Applies an instruction. `writes_exec` says whether it changes EXEC. Returns whether EXEC or any
    /// register with a known value of EXEC is different afterwards.
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
                self.value_of_mask([Place::Scalar(from), Place::Scalar(from.offset(u16::from(dwords) - 1))])
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

    /// Returns the registers into which an instruction copies a known value of EXEC, each with the dword of
    /// the value.
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

    /// Forgets the known values in registers that an instruction overwrites. Returns whether there were any.
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
    /// Returns the value that EXEC had on the near side of a branch, that is, after the branch had removed
    /// lanes. `branch` identifies the branch: `branch.0` is the value of EXEC before it, and `branch.1` is
    /// true if the lanes in a mask remained, and false if those that are not in the mask remained. If several
    /// branches match, the last one before instruction number `before` is meant.
    ///
    /// This branch is the right one, because the instruction `before` is still on its near side: EXEC gets
    /// its earlier value back only after both sides of a branch.
    pub fn near_side(&self, before: u32, branch: (Value, bool)) -> Option<Value> {
        let numbers = self.0.get(&branch)?;
        let count = numbers.partition_point(|&number| number < before);
        Some(Value::Made(numbers[count.checked_sub(1)?]))
    }
}
