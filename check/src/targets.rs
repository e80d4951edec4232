//! Where calls and jumps by registers go: addresses, and the return address, followed through SGPRs and lanes of VGPRs.
//!
//! # Lattice
//! A register or a lane of a VGPR -> what it holds: a constant, or a half of the address that the function was to return to. Join: what
//! both paths agree on. Top: nothing known.
//!
//! # Guarantees
//! What is said of a call holds on every path to it, as far as the functions that it passes preserve what the calling convention says.
//! Compilers compute addresses some way before the call, move them, and save the return address in lanes.

use crate::regset::RegSet;
use callconv::{Convention, RETURN_ADDRESS, column};
use isa::table::{Flags, Implicit, Role};
use isa::{MachInst, Operand, Reg, RegRange, op};
use smallvec::SmallVec;

/// Something that is followed: an SGPR, SCC, or a lane of a VGPR.
type Key = u32;

const SCC: Key = 253;
const LANES: Key = 1 << 16;
/// Lanes that a `v_writelane_b32` may name.
const LANE_BITS: u32 = 6;
/// What is kept track of at most: code that has more is no compiler's.
const MOST: usize = 192;

/// What is known of one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Const(u32),
    /// The low or high half of the return address.
    Link(bool),
}

/// Where an instruction goes that goes where registers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// To an address.
    To(u64),
    /// To the address that the function was given.
    Return,
}

/// What is known in front of an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known(SmallVec<[(Key, Value); 8]>);

impl Known {
    /// At the beginning of a function: the return address is in `s[30:31]` (seed 000, line 4111).
    pub(crate) fn at_entry(is_function: bool) -> Known {
        match is_function {
            true => Known(SmallVec::from_slice(&[(30, Value::Link(false)), (31, Value::Link(true))])),
            false => Known::default(),
        }
    }

    fn get(&self, key: Key) -> Option<Value> {
        self.0.binary_search_by_key(&key, |(key, _)| *key).ok().map(|at| self.0[at].1)
    }

    fn set(&mut self, key: Key, value: Option<Value>) {
        match (self.0.binary_search_by_key(&key, |(key, _)| *key), value) {
            (Ok(at), Some(value)) => self.0[at].1 = value,
            (Ok(at), None) => _ = self.0.remove(at),
            (Err(at), Some(value)) if self.0.len() < MOST => self.0.insert(at, (key, value)),
            (Err(_), _) => {}
        }
    }

    /// Keeps what another path knows, too. Whether anything was lost.
    pub(crate) fn join(&mut self, other: &Known) -> bool {
        let before = self.0.len();
        self.0.retain(|(key, value)| other.get(*key) == Some(*value));
        self.0.len() != before
    }

    fn source(&self, operand: Operand) -> Option<Value> {
        match operand {
            Operand::Reg(range) if range.first.0 < 128 => self.get(range.first.0.into()),
            other => other.const_u32().map(Value::Const),
        }
    }

    fn constant(&self, operand: Operand) -> Option<u32> {
        match self.source(operand)? {
            Value::Const(value) => Some(value),
            Value::Link(_) => None,
        }
    }

    /// Where a jump to what is in a pair of registers goes.
    pub(crate) fn goal(&self, pair: Operand) -> Option<Goal> {
        let Operand::Reg(RegRange { first, len: 2, .. }) = pair else { return None };
        match (self.get(first.0.into())?, self.get((first.0 + 1).into())?) {
            (Value::Const(low), Value::Const(high)) => Some(Goal::To(u64::from(high) << 32 | u64::from(low))),
            (Value::Link(false), Value::Link(true)) => Some(Goal::Return),
            _ => None,
        }
    }

    /// Constants that an instruction does something else with than moving them or calling: an address among them is taken.
    pub(crate) fn taken(&self, inst: &MachInst) -> SmallVec<[u32; 2]> {
        let moves = [op::S_MOV_B32, op::S_MOV_B64, op::S_ADD_U32, op::S_ADDC_U32];
        if moves.contains(&inst.op) || is_lane_write(inst) || inst.op.row().flags.contains(Flags::BRANCH) {
            return SmallVec::new();
        }
        let mut found = SmallVec::new();
        for (index, operand) in inst.operands().iter().enumerate() {
            let Operand::Reg(range) = operand else { continue };
            if inst.role(index) == Role::Def || range.first.0 >= 128 {
                continue;
            }
            for half in 0..u16::from(range.len) {
                if let Some(Value::Const(value)) = self.get((range.first.0 + half).into()) {
                    found.push(value);
                }
            }
        }
        found
    }

    /// Goes past an instruction; `next` is the address behind it, `literal` says whether its literal is what the file says, `changed` is what
    /// the function may change that it calls, if that is known.
    pub(crate) fn step(&mut self, inst: &MachInst, next: u64, literal: bool, changed: Option<&RegSet>) {
        if matches!(inst.op, op::S_SWAPPC_B64 | op::S_CALL_B64) {
            self.forget(inst);
            self.0.retain(|(key, _)| {
                survives(*key) || changed.is_some_and(|changed| !changed.contains(register(*key)))
            });
            return;
        }
        let results = self.results(inst, next, literal);
        self.forget(inst);
        for (key, value) in results {
            self.set(key, value);
        }
    }

    /// What an instruction leaves that is known.
    fn results(&self, inst: &MachInst, next: u64, literal: bool) -> SmallVec<[(Key, Option<Value>); 3]> {
        let mut results = SmallVec::new();
        let first = |index: usize| match inst.ops[index] {
            Operand::Reg(range) if range.first.0 < 106 => Some(Key::from(range.first.0)),
            _ => None,
        };
        let pair = |low: u32, high: u32| [Some(Value::Const(low)), Some(Value::Const(high))];
        match inst.op {
            op::S_GETPC_B64 => {
                let Some(to) = first(0) else { return results };
                let [low, high] = pair(next as u32, (next >> 32) as u32);
                results.extend([(to, low), (to + 1, high)]);
            }
            op::S_MOV_B32 => results.extend(first(0).map(|to| (to, self.source(inst.ops[1])))),
            op::S_MOV_B64 => {
                let (Some(to), Operand::Reg(from)) = (first(0), inst.ops[1]) else { return results };
                let half = |at: u16| self.get((from.first.0 + at).into());
                if from.first.0 < 106 {
                    results.extend([(to, half(0)), (to + 1, half(1))]);
                }
            }
            op::S_ADD_U32 | op::S_ADDC_U32 if literal => {
                let (Some(to), Some(one), Some(two)) =
                    (first(0), self.constant(inst.ops[1]), self.constant(inst.ops[2]))
                else {
                    return results;
                };
                let carry = match (inst.op == op::S_ADDC_U32, self.get(SCC)) {
                    (false, _) => 0,
                    (true, Some(Value::Const(carry))) => u64::from(carry),
                    (true, _) => return results,
                };
                let sum = u64::from(one) + u64::from(two) + carry;
                let [low, high] = pair(sum as u32, (sum >> 32) as u32);
                results.extend([(to, low), (SCC, high)]);
            }
            _ if is_lane_write(inst) => {
                let lane = lane(inst.ops[0], inst.ops[2]);
                results.extend(lane.map(|lane| (lane, self.source(inst.ops[1]))));
            }
            op::V_READLANE_B32 | op::V_READLANE_B32_VOP2 => {
                let from = lane(inst.ops[1], inst.ops[2]);
                results.extend(first(0).zip(from).map(|(to, from)| (to, self.get(from))));
            }
            _ => {}
        }
        results
    }

    /// What an instruction writes is not known any more.
    fn forget(&mut self, inst: &MachInst) {
        let row = inst.op.row();
        if inst.implicit().contains(Implicit::WRITE_SCC) {
            self.set(SCC, None);
        }
        for (index, operand) in inst.operands().iter().enumerate() {
            let Operand::Reg(range) = operand else { continue };
            if inst.role(index) == Role::Use && !row.name.contains("movrel") {
                continue;
            }
            self.forget_range(*range, is_lane_write(inst));
        }
    }

    fn forget_range(&mut self, range: RegRange, keeps_lanes: bool) {
        if range.first == Reg::SCC {
            self.set(SCC, None);
            return;
        }
        let (from, to) = (Key::from(range.first.0), Key::from(range.first.0) + Key::from(range.len));
        if from < 256 {
            self.0.retain(|(key, _)| !(from..to).contains(key));
        } else if !keeps_lanes {
            self.0.retain(|(key, _)| {
                *key < LANES || !(from..to).contains(&(((*key - LANES) >> LANE_BITS) + 256))
            });
        }
    }
}

fn is_lane_write(inst: &MachInst) -> bool {
    matches!(inst.op, op::V_WRITELANE_B32 | op::V_WRITELANE_B32_VOP2)
}

/// What a call of a function that is not known may change.
pub(crate) fn lost() -> RegSet {
    let mut set = RegSet::EMPTY;
    let scalars = (0..106).map(Reg::sgpr).filter(|reg| !survives(reg.0.into()));
    let vectors =
        (0..256).map(Reg::vgpr).filter(|reg| !survives(LANES + (Key::from(reg.0 - 256) << LANE_BITS)));
    scalars.chain(vectors).chain([Reg::SCC]).for_each(|first| set.insert(RegRange { first, len: 1 }));
    set
}

/// The register that something lies in.
fn register(key: Key) -> Reg {
    match key.checked_sub(LANES) {
        Some(lane) => Reg::vgpr((lane >> LANE_BITS) as u16),
        None => Reg(key as u16),
    }
}

/// Whether a call preserves it. The return address it does not: the call sets it.
fn survives(key: Key) -> bool {
    let facts = column(Convention::Today);
    let (ranges, register) = match key.checked_sub(LANES) {
        Some(lane) => (facts.preserved_vgprs, lane >> LANE_BITS),
        None => (facts.preserved_sgprs, key),
    };
    let link = u32::from(RETURN_ADDRESS)..u32::from(RETURN_ADDRESS) + 2;
    let is_link = key < LANES && link.contains(&register);
    !is_link && ranges.iter().any(|&(from, to)| (u32::from(from)..=u32::from(to)).contains(&register))
}

/// A lane of a VGPR, if it is named by a constant.
fn lane(vector: Operand, lane: Operand) -> Option<Key> {
    let Operand::Reg(range) = vector else { return None };
    let lane = lane.const_u32().filter(|lane| *lane < 1 << LANE_BITS)?;
    let register = range.first.0.checked_sub(256).filter(|register| *register < 256)?;
    Some(LANES + (Key::from(register) << LANE_BITS) + lane)
}
