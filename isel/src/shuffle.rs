//! Shuffles: reads of values of other lanes. If each lane's source lane is known at compile time, no address
//! is needed.
//!
//! Which instruction fits is not recognised from the form of the expression for the source lane. Instead, the
//! expression is evaluated for each lane of the wave, and the source lanes are compared with those of each
//! instruction. The instructions are: data-parallel primitives (DPP), which move values within rows of 16
//! lanes, and in some cases between rows; `v_readlane_b32`, which gives one lane's value to all lanes; and
//! `ds_swizzle_b32`, which moves values within 32 lanes through the crossbar of LDS, without using memory,
//! and exists on GFX6 and GFX7 too. All other shuffles use `ds_bpermute_b32` with each lane's source lane.
//!
//! # Source
//! GCN3 and RDNA ISA, "Data Parallel Processing" (`DPP_CTRL`); Southern Islands ISA, `DS_SWIZZLE_B32`.

use crate::lower::Lower;
use crate::roles::Role;
use ir::semantics::evaluate;
use ir::{Function, Inst, Op, Pos, Value, WaveOp};
use isa::{Form, Lane, ModFlags, Operand, Target, is_dpp_ctrl, op};

/// Largest number of operations in the expression that computes a lane's source lane from its own number.
/// Longer expressions are not evaluated at compile time.
const MOST_STEPS: u32 = 24;
/// Lanes of a row, and of half a 64-lane wave.
const ROW: u8 = 16;
const HALF: u8 = 32;
/// Flag in the offset of `ds_swizzle_b32`. With this flag, the offset gives the source lanes within groups of
/// four lanes. Without it, the offset is a set of masks for the bits of the lane number.
const SWIZZLE_QUADS: u16 = 0x8000;

/// The source lane of each lane of a wave. `None` for lanes that the wave does not have and for lanes whose
/// result is not used.
type SourceLanes = [Option<u8>; 64];

/// The instruction that does a shuffle whose source lanes are known at compile time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShuffleWay {
    /// A DPP move with this control word; `all` says whether every lane has a source lane.
    Dpp { ctrl: u16, all: bool },
    /// From one lane to all lanes.
    Broadcast(u8),
    /// `ds_swizzle_b32` with that offset.
    Swizzle(u16),
}

impl ShuffleWay {
    /// Returns an instruction without an address for a shuffle in which each lane reads from the lane with
    /// number `lane`. Returns `None` if no such instruction can do this shuffle.
    pub fn for_shuffle(target: &Target, func: &Function, lane: Value) -> Option<ShuffleWay> {
        let asked = source_lanes(target, func, lane, None)?;
        let lanes = || asked.iter().zip(0..).filter_map(|(from, lane)| Some(((*from)?, lane)));
        let own = |ctrl| lanes().all(|(from, lane)| dpp_source(ctrl, lane).unwrap_or(lane) == from);
        if let Some(ctrl) = controls(target, &asked).find(|&ctrl| own(ctrl)) {
            return Some(ShuffleWay::Dpp {
                ctrl,
                all: lanes().all(|(_, lane)| dpp_source(ctrl, lane).is_some()),
            });
        }
        let (first, _) = lanes().next()?;
        if lanes().all(|(from, _)| from == first) {
            return Some(ShuffleWay::Broadcast(first));
        }
        let swizzle = |offset: &u16| lanes().all(|(from, lane)| swizzle_source(*offset, lane) == from);
        [SWIZZLE_QUADS | quads(&asked), masks(&asked)].into_iter().find(swizzle).map(ShuffleWay::Swizzle)
    }
}

/// Evaluates the expression `lane` for each lane of the wave. Returns the source lane of each lane, or `None`
/// if `lane` depends on more than the lane's own number. If the condition `only` is given, lanes in which it
/// is false have no source lane.
fn source_lanes(target: &Target, func: &Function, lane: Value, only: Option<Value>) -> Option<SourceLanes> {
    let size = target.wave_size as u8;
    let mut asked = [None; 64];
    for own in 0..size {
        let value = |value| LaneValue { func, size, own, steps: MOST_STEPS }.evaluate(value);
        if only.map_or(Some(1), value)? != 0 {
            asked[usize::from(own)] = Some(value(lane)? as u8 & (size - 1));
        }
    }
    Some(asked)
}

/// Evaluates values in one lane, from the number of the lane.
struct LaneValue<'a> {
    func: &'a Function,
    size: u8,
    own: u8,
    steps: u32,
}

impl LaneValue<'_> {
    fn evaluate(&mut self, value: Value) -> Option<u64> {
        if let Some(bits) = self.func.const_bits(value) {
            return Some(bits);
        }
        self.steps = self.steps.checked_sub(1)?;
        let inst = self.func.def_inst(value)?;
        let args = self.func.args(inst);
        match self.func.insts[inst].op {
            Op::Pos(Pos::LaneId) => Some(self.own.into()),
            Op::Pos(Pos::WaveSize) => Some(self.size.into()),
            Op::Select => match self.evaluate(args[0])? {
                0 => self.evaluate(args[2]),
                _ => self.evaluate(args[1]),
            },
            op @ (Op::Un(_) | Op::Bin(_) | Op::Tern(_) | Op::Icmp(_) | Op::Cast(_)) => {
                let mut known = [0; 3];
                for (known, &arg) in known.iter_mut().zip(args) {
                    *known = self.evaluate(arg)?;
                }
                evaluate(op, self.func.ty(args[0]), self.func.ty(value), |n| Some(known[n]))
            }
            _ => None,
        }
    }
}

/// Returns the DPP control words that may do a shuffle, limited to those that the processor supports. They
/// are computed from the source lanes of the first lanes only, so the caller checks them for all lanes.
fn controls(target: &Target, asked: &SourceLanes) -> impl Iterator<Item = u16> {
    let lanes = || asked.iter().zip(0i16..).filter_map(|(from, lane)| Some((i16::from((*from)?), lane)));
    let by = lanes().map(|(from, lane)| from - lane).find(|&by| by != 0).unwrap_or(0).clamp(-15, 15);
    let first = lanes().next().map_or(0, |(from, _)| from as u16 % u16::from(ROW));
    let words = [
        quads(asked),
        // row_mirror, row_half_mirror.
        0x140,
        0x141,
        // row_shl or row_shr, row_ror.
        if by > 0 { 0x100 + by as u16 } else { 0x110 + by.unsigned_abs() },
        if by > 0 { 0x130 - by as u16 } else { 0x120 + by.unsigned_abs() },
        // wave_shl:1, wave_rol:1, wave_shr:1, wave_ror:1.
        0x130,
        0x134,
        0x138,
        0x13c,
        // row_share (gfx90a: row_newbcast), row_xmask.
        0x150 + first,
        0x160 + first,
    ];
    let known = |ctrl: &u16| is_dpp_ctrl(target, op::V_MOV_B32.row(), *ctrl);
    words.into_iter().filter(known)
}

/// Returns the lane from which lane number `lane` reads in a DPP move with the control word `ctrl`. Returns
/// `None` if the lane has no source lane.
fn dpp_source(ctrl: u16, lane: u8) -> Option<u8> {
    let (row, at, count) = (lane & !(ROW - 1), lane % ROW, ctrl as u8 % ROW);
    let inside = |at: u8| (at < ROW).then(|| row + at);
    match ctrl {
        0..=0xff => Some(lane & !3 | (ctrl >> (2 * (lane & 3))) as u8 & 3),
        0x101..=0x10f => inside(at + count),
        0x111..=0x11f => inside(at.wrapping_sub(count)),
        0x121..=0x12f => Some(row + (at + ROW - count) % ROW),
        0x130 => (lane < 63).then(|| lane + 1),
        0x134 => Some((lane + 1) % 64),
        0x138 => lane.checked_sub(1),
        0x13c => Some((lane + 63) % 64),
        0x140 => Some(row + (ROW - 1 - at)),
        0x141 => Some(lane ^ 7),
        0x150..=0x15f => Some(row + count),
        0x160..=0x16f => Some(row + (at ^ count)),
        _ => None,
    }
}

/// Returns the `quad_perm` control word that gives the first four lanes their source lanes: two bits for each
/// of the four lanes.
fn quads(asked: &SourceLanes) -> u16 {
    (0..4).map(|lane| u16::from(asked[lane].unwrap_or(lane as u8) & 3) << (2 * lane)).sum()
}

/// Returns an offset of `ds_swizzle_b32` for these source lanes. The offset says for each bit of the lane
/// number whether it is kept, inverted or set. It is computed from the first lanes only, and the caller
/// checks the other lanes.
fn masks(asked: &SourceLanes) -> u16 {
    let from = |lane: usize| u16::from(asked[lane].unwrap_or(lane as u8));
    let (mut and, mut or, mut xor) = (0, 0, 0);
    for bit in [1, 2, 4, 8, 16] {
        match (from(0) & bit != 0, from(bit as usize) & bit != 0) {
            (false, true) => and |= bit,
            (true, false) => (and, xor) = (and | bit, xor | bit),
            (true, true) => or |= bit,
            (false, false) => {}
        }
    }
    and | or << 5 | xor << 10
}

/// Returns the lane from which lane number `lane` reads in a `ds_swizzle_b32` with this offset.
fn swizzle_source(offset: u16, lane: u8) -> u8 {
    if offset & SWIZZLE_QUADS != 0 {
        return lane & !3 | (offset >> (2 * (lane & 3))) as u8 & 3;
    }
    let [and, or, xor] = [0, 5, 10].map(|at| (offset >> at) as u8 % HALF);
    lane & HALF | ((lane % HALF) & and | or) ^ xor
}

impl Lower<'_> {
    /// Lowers a shuffle, in which each lane reads the value of the lane whose number it gives.
    pub fn shuffle(&mut self, inst: Inst) {
        let result = self.func.insts[inst].first;
        let args = self.func.args(inst);
        if let Some(way) = ShuffleWay::for_shuffle(self.target, self.func, args[1]) {
            return self.move_by(way, result, args[0]);
        }
        self.by_address(Role::LanePermuteB32, inst);
    }

    /// Emits a shuffle or permute by an instruction to which each lane gives another lane's address, which is
    /// four times the number of that lane.
    pub fn by_address(&mut self, role: Role, inst: Inst) {
        let result = self.func.insts[inst].first;
        let args = self.func.args(inst);
        let (lane, dst, addr) = (self.source(args[1]), self.vgpr_of(result), self.vtemp(1));
        self.emit(Role::VShlB32, &[addr, Operand::int(2), lane]);
        let data = self.vgpr(args[0]);
        for n in 0..self.ty(result).dwords() as u8 {
            let (to, from) = (self.dword(dst, n), self.dword(data, n));
            self.emit_raw(role, &[to, addr, from]);
        }
    }

    fn move_by(&mut self, way: ShuffleWay, result: Value, value: Value) {
        let (dst, data) = (self.vgpr_of(result), self.vgpr(value));
        for n in 0..self.ty(result).dwords() as u8 {
            let (to, from) = (self.dword(dst, n), self.dword(data, n));
            match way {
                ShuffleWay::Dpp { ctrl, all } => {
                    // A lane without a source lane keeps its own value.
                    if !all {
                        self.copy(to, from);
                    }
                    self.move_lanes(to, from, ctrl, all);
                }
                ShuffleWay::Broadcast(lane) => {
                    let one = self.stemp(1);
                    self.emit_raw(Role::VReadlaneB32, &[one, from, Operand::int(lane.into())]);
                    self.copy(to, one);
                }
                ShuffleWay::Swizzle(offset) => {
                    let mut inst = self.instruction(op::DS_SWIZZLE_B32, &[to, from]);
                    inst.mods.offset = offset.into();
                    self.push(inst);
                }
            }
        }
    }

    /// Lowers `select(cond, shuffle, constant)` to one DPP move, and returns whether that was possible. The
    /// source lanes of the shuffle must be known, and there must be a control word under which exactly the
    /// lanes that choose the shuffle have a source lane. The other lanes get the constant.
    pub fn shifted_in(&mut self, result: Value, [cond, moved, other]: [Value; 3]) -> bool {
        let Some(inst) = self.foldable(moved) else { return false };
        let (Op::Wave(WaveOp::Shuffle), Some(rest)) = (self.func.insts[inst].op, self.func.const_bits(other))
        else {
            return false;
        };
        let args = self.func.args(inst);
        let Some(asked) = source_lanes(self.target, self.func, args[1], Some(cond)) else { return false };
        let size = self.target.wave_size as usize;
        let exact =
            |ctrl: &u16| asked[..size].iter().zip(0..).all(|(from, lane)| dpp_source(*ctrl, lane) == *from);
        let Some(ctrl) = controls(self.target, &asked).find(exact) else { return false };
        let (dst, data) = (self.vgpr_of(result), self.vgpr(args[0]));
        for n in 0..self.ty(result).dwords() as u8 {
            let (to, from) = (self.dword(dst, n), self.dword(data, n));
            let word = (rest >> (32 * n)) as u32;
            if word != 0 {
                self.copy(to, Operand::int(word as i32));
            }
            self.move_lanes(to, from, ctrl, word == 0);
        }
        true
    }

    /// Emits `v_mov_b32_dpp` with the control word `ctrl`. A lane without a source lane gets zero if `zero`
    /// is set, and otherwise keeps the old value of `to`.
    fn move_lanes(&mut self, to: Operand, from: Operand, ctrl: u16, zero: bool) {
        let mut inst = self.instruction(op::V_MOV_B32, &[to, from]);
        inst.form = Form::Dpp;
        inst.mods.lane = Lane::Dpp { ctrl, row_mask: 15, bank_mask: 15 };
        inst.mods.flags.set(ModFlags::BOUND_CTRL, zero);
        self.push(inst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts of an offset are in the order of the manual: `and`, `or`, `xor`.
    #[test]
    fn masks_do_what_is_asked() {
        for (and, or, xor) in [(31, 0, 16), (0, 7, 0), (28, 3, 0), (30, 0, 1), (31, 0, 31)] {
            let mut asked: SourceLanes = [None; 64];
            for lane in 0..64u8 {
                asked[usize::from(lane)] = Some(lane & 32 | (lane & and | or) ^ xor);
            }
            let offset = masks(&asked);
            for lane in 0..64 {
                assert_eq!(Some(swizzle_source(offset, lane)), asked[usize::from(lane)], "{and} {or} {xor}");
            }
        }
    }
}
