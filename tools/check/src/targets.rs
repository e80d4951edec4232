//! Constant propagation for scalar registers: finds the targets of indirect jumps and calls, and the
//! directions of branches.
//!
//! # Lattice
//! The state maps locations to known values. A location is a scalar register or a lane of a VGPR, and a value
//! is a constant or a half of the function's return address. The join keeps the values on which both paths
//! agree. At the top, nothing is known.
//!
//! # Guarantees
//! The target that is found for a call is right on each path to the call, provided that the functions called
//! before preserve the registers that they must preserve by the calling convention. The state has VGPR lanes
//! and survives calls, because compilers compute addresses some distance before a call, move them, and save
//! the return address in VGPR lanes.

use crate::fold::fold;
use crate::regset::RegSet;
use callconv::{Convention, RETURN_ADDRESS, column};
use isa::table::{Family, Flags, Role};
use isa::{MachInst, Operand, Reg, RegRange, Target, op};
use smallvec::SmallVec;

/// Number of a tracked location. A location is an SGPR, SCC, or a lane of a VGPR.
type Key = u32;

const SCC: Key = Reg::SCC.0 as Key;
const VCC: Key = Reg::VCC.0 as Key;
const EXEC: Key = Reg::EXEC.0 as Key;
/// Number of scalar registers, including special ones. Their location numbers are below it.
const SCALARS: Key = 128;
/// Number of the register `null` of GFX10; values that are written to it are lost. On other generations, no
/// register has this number.
const NULL: Key = 125;
const LANES: Key = 1 << 16;
/// Number of bits that a location's number has for the lane. A lane of a VGPR is a location of its own,
/// because `v_writelane_b32` writes single lanes.
const LANE_BITS: u32 = 6;
/// Maximum number of locations that are tracked. Compilers do not generate code that needs more.
const MOST: usize = 192;

/// The known value of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Const(u32),
    /// One half of the return address: the low half (`false`) or the high half (`true`). The call has put the
    /// return address into this pair of registers.
    Link(u16, bool),
}

/// What is known about the target of an instruction that jumps to an address in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// A known address.
    To(u64),
    /// The return address of the function.
    Return,
}

/// The known values of registers and VGPR lanes before an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known(SmallVec<[(Key, Value); 8]>);

impl Known {
    /// Returns the state at the beginning of a function. `links` has the pairs of registers into which calls
    /// of the function put the return address. Each of these pairs holds the return address.
    pub(crate) fn at_entry(links: &[u16]) -> Known {
        let mut known = Known::default();
        for &link in links {
            known.set(link.into(), Some(Value::Link(link, false)));
            known.set(Key::from(link) + 1, Some(Value::Link(link, true)));
        }
        known
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

    /// Returns whether the value of some VGPR lane is known.
    pub(crate) fn has_lanes(&self) -> bool {
        self.0.last().is_some_and(|(key, _)| *key >= LANES)
    }

    /// Joins the state of another path into this state. Only the values on which both states agree remain.
    /// Returns whether a value was removed.
    pub(crate) fn join(&mut self, other: &Known) -> bool {
        let before = self.0.len();
        self.0.retain(|(key, value)| other.get(*key) == Some(*value));
        self.0.len() != before
    }

    fn source(&self, operand: Operand) -> Option<Value> {
        match operand {
            Operand::Reg(range) if is_followed(range.first) => self.get(range.first.0.into()),
            other => other.const_u32().map(Value::Const),
        }
    }

    fn number(&self, key: Key) -> Option<u64> {
        match self.get(key)? {
            Value::Const(value) => Some(value.into()),
            Value::Link(..) => None,
        }
    }

    /// Returns the value of a pair of registers.
    fn pair(&self, low: Key) -> Option<u64> {
        Some(self.number(low + 1)? << 32 | self.number(low)?)
    }

    /// Returns the value of an operand of `dwords` dwords, if it is known. `literal` is false if a linker
    /// will still change the literal of the instruction. The value of the literal is then not known.
    fn operand(&self, operand: Operand, dwords: u8, literal: bool) -> Option<u64> {
        match (operand, dwords) {
            (Operand::Reg(range), _) if !is_followed(range.first) => None,
            (Operand::Reg(range), 1) => self.number(range.first.0.into()),
            (Operand::Reg(range), _) => self.pair(range.first.0.into()),
            (Operand::Imm(imm), _) => Some(u64::from(imm as u32)),
            (Operand::Literal(_), _) if !literal => None,
            // How a negative literal is extended to 64 bits depends on the operation. So the value of a
            // literal is known only if its sign bit is 0.
            (Operand::Literal(bits), 2) => (bits >> 31 == 0).then_some(bits.into()),
            (Operand::Inline(code), 2) => match code {
                128..=192 => Some(u64::from(code - 128)),
                193..=208 => Some((192 - i64::from(code)) as u64),
                _ => None,
            },
            (other, _) => other.const_u32().map(u64::from),
        }
    }

    /// Returns the target of a jump to the address in a pair of registers.
    pub(crate) fn goal(&self, pair: Operand) -> Option<Goal> {
        let Operand::Reg(RegRange { first, len: 2, .. }) = pair else { return None };
        match (self.get(first.0.into())?, self.get((first.0 + 1).into())?) {
            (Value::Const(low), Value::Const(high)) => Some(Goal::To(u64::from(high) << 32 | u64::from(low))),
            (Value::Link(low, false), Value::Link(high, true)) if low == high => Some(Goal::Return),
            _ => None,
        }
    }

    /// Returns whether a conditional branch is taken. Returns `None` if this is not known.
    pub(crate) fn decides(&self, target: &Target, branch: &MachInst) -> Option<bool> {
        let mask = |low| if target.wave_size == 32 { self.number(low) } else { self.pair(low) };
        match branch.op {
            op::S_CBRANCH_SCC0 => Some(self.number(SCC)? == 0),
            op::S_CBRANCH_SCC1 => Some(self.number(SCC)? != 0),
            op::S_CBRANCH_VCCZ => Some(mask(VCC)? == 0),
            op::S_CBRANCH_VCCNZ => Some(mask(VCC)? != 0),
            op::S_CBRANCH_EXECZ => Some(mask(EXEC)? == 0),
            op::S_CBRANCH_EXECNZ => Some(mask(EXEC)? != 0),
            _ => None,
        }
    }

    /// Returns the constants that an instruction uses for anything but moves, the computation of other
    /// constants, and calls. If such a constant is the address of a function, the program may use it as a
    /// function pointer.
    pub(crate) fn taken(&self, inst: &MachInst) -> SmallVec<[u32; 2]> {
        let mut found = SmallVec::new();
        let moves = [op::S_MOV_B32, op::S_MOV_B64, op::S_ADD_U32, op::S_ADDC_U32];
        let is_used = || {
            !moves.contains(&inst.op)
                && !is_lane_write(inst)
                && !inst.op.row().flags.contains(Flags::BRANCH)
                && self.folded(inst, true).is_none()
        };
        for (index, operand) in inst.operands().iter().enumerate() {
            let Operand::Reg(range) = operand else { continue };
            if !is_followed(range.first) || inst.role(index) == Role::Def {
                continue;
            }
            for half in 0..u16::from(range.len) {
                if let Some(Value::Const(value)) = self.get((range.first.0 + half).into()) {
                    found.push(value);
                }
            }
        }
        if found.is_empty() || is_used() { found } else { SmallVec::new() }
    }

    /// Updates the state for an instruction. `next` is the address after the instruction. `literal` is false
    /// if a linker will still change the literal of the instruction. If the instruction is a call, `changed`
    /// has the registers that the called function may change, if these are known.
    pub(crate) fn step(
        &mut self,
        target: &Target,
        inst: &MachInst,
        next: u64,
        literal: bool,
        changed: Option<&RegSet>,
    ) {
        if inst.is_call() {
            self.forget(target, inst);
            self.0.retain(|(key, _)| {
                survives(*key) || changed.is_some_and(|changed| !changed.contains(register(*key)))
            });
            return;
        }
        let results = self.results(inst, next, literal);
        self.forget(target, inst);
        for (key, value) in results {
            self.set(key, value);
        }
    }

    /// Returns the known results of an instruction.
    fn results(&self, inst: &MachInst, next: u64, literal: bool) -> SmallVec<[(Key, Option<Value>); 3]> {
        let mut results = SmallVec::new();
        if is_lane_write(inst) {
            let lane = lane(inst.ops[0], inst.ops[2]);
            results.extend(lane.map(|lane| (lane, self.source(inst.ops[1]))));
            return results;
        }
        if matches!(inst.op, op::V_READLANE_B32 | op::V_READLANE_B32_VOP2) {
            let from = lane(inst.ops[1], inst.ops[2]);
            results.extend(destination(inst).zip(from).map(|((to, _), from)| (to, self.get(from))));
            return results;
        }
        if !is_scalar(inst) {
            return results;
        }
        let to = destination(inst);
        match (inst.op, to, inst.ops[1]) {
            (op::S_GETPC_B64, Some((to, _)), _) => results.extend(halves(to, next)),
            (op::S_MOV_B32, Some((to, _)), Operand::Reg(from)) if is_followed(from.first) => {
                results.push((to, self.get(from.first.0.into())));
            }
            (op::S_MOV_B64, Some((to, _)), Operand::Reg(from)) if is_followed(from.first) => {
                let from = Key::from(from.first.0);
                results.extend([(to, self.get(from)), (to + 1, self.get(from + 1))]);
            }
            _ => {
                let Some(folded) = self.folded(inst, literal) else { return results };
                match (to, folded.value) {
                    (Some((to, 2)), Some(value)) => results.extend(halves(to, value)),
                    (Some((to, _)), Some(value)) => results.push((to, Some(Value::Const(value as u32)))),
                    _ => {}
                }
                results.extend(folded.scc.map(|scc| (SCC, Some(Value::Const(scc.into())))));
            }
        }
        results
    }

    /// Returns the result of a scalar ALU instruction, if all its operands are constant.
    fn folded(&self, inst: &MachInst, literal: bool) -> Option<crate::fold::Folded> {
        if !is_scalar(inst) {
            return None;
        }
        let mut values = [0; 2];
        let mut count = 0;
        for (index, spec) in inst.op.row().ops.iter().enumerate() {
            if inst.role(index) == Role::Def {
                continue;
            }
            let operand = *inst.operands().get(index)?;
            *values.get_mut(count)? = self.operand(operand, spec.width, literal)?;
            count += 1;
        }
        fold(inst.op, values[0], values[1], self.number(SCC).map(|scc| scc != 0))
    }

    /// Removes the values of locations that an instruction writes.
    fn forget(&mut self, target: &Target, inst: &MachInst) {
        if self.0.is_empty() {
            return;
        }
        let row = inst.op.row();
        let by_index = matches!(row.family, Family::Sop1 | Family::Vop1) && row.name.contains("movrel");
        let one_lane = is_lane_write(inst) && lane(inst.ops[0], inst.ops[2]).is_some();
        inst.for_each_written(target, |range| {
            if !one_lane {
                self.forget_range(range);
            }
            if by_index && Key::from(range.first.0) < SCALARS {
                self.0.retain(|(key, _)| *key < range.first.0.into() || *key >= VCC && *key < LANES);
            } else if by_index && range.first.0 >= 256 {
                self.0.retain(|(key, _)| *key < LANES);
            }
        });
    }

    fn forget_range(&mut self, range: RegRange) {
        let (from, to) = (Key::from(range.first.0), Key::from(range.first.0) + Key::from(range.len));
        if from < 256 {
            self.0.retain(|(key, _)| !(from..to).contains(key));
        } else if self.has_lanes() {
            self.0.retain(|(key, _)| {
                *key < LANES || !(from..to).contains(&(((*key - LANES) >> LANE_BITS) + 256))
            });
        }
    }
}

/// Returns whether an instruction neither reads nor writes the locations that [`Known`] tracks, apart from
/// VGPR lanes. Returns false for branches.
pub(crate) fn is_vector(target: &Target, inst: &MachInst) -> bool {
    let is_other = matches!(
        inst.op.family(),
        Family::Vop1 | Family::Vop2 | Family::Vop3 | Family::Vop3p | Family::Ds | Family::Mubuf
    );
    let names_scalars = inst.operands().iter().any(|operand| match operand {
        Operand::Reg(range) => is_followed(range.first),
        _ => false,
    });
    if !is_other || names_scalars || is_lane_write(inst) {
        return false;
    }
    let mut writes_scalars = false;
    inst.for_each_written(target, |range| writes_scalars |= range.first.0 < 256);
    !writes_scalars
}

/// Returns whether the values of a register are tracked. Only scalar registers and SCC are.
fn is_followed(reg: Reg) -> bool {
    let key = Key::from(reg.0);
    key < SCALARS && key != NULL || key == SCC
}

/// Returns the scalar register that an instruction writes as its result, and the number of dwords of the
/// result.
fn destination(inst: &MachInst) -> Option<(Key, u8)> {
    match inst.ops[0] {
        Operand::Reg(range) if range.first != Reg::SCC && is_followed(range.first) => {
            Some((range.first.0.into(), range.len))
        }
        _ => None,
    }
}

fn halves(to: Key, value: u64) -> [(Key, Option<Value>); 2] {
    [(to, Some(Value::Const(value as u32))), (to + 1, Some(Value::Const((value >> 32) as u32)))]
}

fn is_scalar(inst: &MachInst) -> bool {
    matches!(inst.op.family(), Family::Sop1 | Family::Sop2 | Family::Sopk | Family::Sopc)
}

fn is_lane_write(inst: &MachInst) -> bool {
    matches!(inst.op, op::V_WRITELANE_B32 | op::V_WRITELANE_B32_VOP2)
}

/// Returns the registers that a call of an unknown function may change.
pub(crate) fn lost() -> RegSet {
    let mut set = RegSet::EMPTY;
    let scalars = (0..SCALARS as u16).map(Reg).filter(|reg| !survives(reg.0.into()));
    let vectors =
        (0..256).map(Reg::vgpr).filter(|reg| !survives(LANES + (Key::from(reg.0 - 256) << LANE_BITS)));
    scalars.chain(vectors).chain([Reg::SCC]).for_each(|first| set.insert(RegRange { first, len: 1 }));
    set
}

/// Returns the register to which a location belongs.
fn register(key: Key) -> Reg {
    match key.checked_sub(LANES) {
        Some(lane) => Reg::vgpr((lane >> LANE_BITS) as u16),
        None => Reg(key as u16),
    }
}

/// Returns whether a location keeps its value across a call of an unknown function. The registers of the
/// return address do not keep their values, because the call itself writes them.
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

/// Returns the location of a VGPR lane that a constant names.
fn lane(vector: Operand, lane: Operand) -> Option<Key> {
    let Operand::Reg(range) = vector else { return None };
    let lane = lane.const_u32().filter(|lane| *lane < 1 << LANE_BITS)?;
    let register = range.first.0.checked_sub(256).filter(|register| *register < 256)?;
    Some(LANES + (Key::from(register) << LANE_BITS) + lane)
}
