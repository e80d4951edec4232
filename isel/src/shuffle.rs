//! Values of other lanes. Where each lane asks a neighbour at a distance that is known, no address is needed.
//!
//! Within 16 lanes a move with data-parallel primitives (DPP) does it on the vector unit, to the next lane of the wave, too, on GFX8 and GFX9;
//! within 32 lanes `ds_swizzle_b32`, which takes LDS's crossbar and touches no memory, so that GFX6 and GFX7 have it.
//! All others give `ds_bpermute_b32` the lane that each asks.
//!
//! # Source
//! GCN3 and RDNA ISA, "Data Parallel Processing" (`DPP_CTRL`); Southern Islands ISA, `DS_SWIZZLE_B32`.

use crate::lower::Lower;
use crate::roles::Role;
use ir::{BinOp, Function, Inst, IntCc, Op, Pos, Value};
use isa::{Form, Lane, ModFlags, Operand, is_dpp_ctrl, op};

/// Which lane each asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Neighbour {
    /// Its number, but for these bits.
    Xor(u32),
    /// The lane below; the lowest asks itself.
    Below,
    /// The lane above; the highest asks itself.
    Above,
}

/// The control words of DPP, of which a processor may lack some.
const MOVES: [(Neighbour, u16); 7] = [
    // quad_perm:[1,0,3,2] and its like.
    (Neighbour::Xor(1), 0xb1),
    (Neighbour::Xor(2), 0x4e),
    (Neighbour::Xor(3), 0x1b),
    // row_half_mirror, row_mirror.
    (Neighbour::Xor(7), 0x141),
    (Neighbour::Xor(15), 0x140),
    // wave_shr:1, wave_shl:1.
    (Neighbour::Below, 0x138),
    (Neighbour::Above, 0x130),
];
/// row_xmask:0.
const ROW_XMASK: u16 = 0x160;
/// Lanes of a row.
const ROW: u32 = 16;

/// Lanes that `ds_swizzle_b32` moves values between, and its offset: lanes keep all bits of their number, but for those above.
const SWIZZLED: u32 = 32;
const SWIZZLE_KEEP: u32 = 0x1f;
const SWIZZLE_XOR: u32 = 10;

impl Neighbour {
    /// The neighbour that `lane` is the number of.
    pub fn of(func: &Function, lane: Value) -> Option<Neighbour> {
        let (number, inside) = match inside_wave(func, lane) {
            Some(number) => (number, true),
            None => (lane, false),
        };
        let inst = func.def_inst(number)?;
        let (&[own, by], Op::Bin(bin)) = (func.args(inst), func.insts[inst].op) else { return None };
        if !is_own(func, own) {
            return None;
        }
        match (bin, func.const_bits(by)? as u32) {
            (BinOp::Xor, bits) if bits < SWIZZLED => Some(Neighbour::Xor(bits)),
            (BinOp::Add, u32::MAX) | (BinOp::Sub, 1) if inside => Some(Neighbour::Below),
            (BinOp::Add, 1) if inside => Some(Neighbour::Above),
            _ => None,
        }
    }

    /// Whether an instruction without an address does it on every processor.
    pub fn is_near(self) -> bool {
        matches!(self, Neighbour::Xor(_))
    }

    /// The control words that do it, best first.
    fn controls(self) -> impl Iterator<Item = u16> {
        let listed = MOVES.into_iter().filter(move |&(neighbour, _)| neighbour == self).map(|(_, ctrl)| ctrl);
        let masked = match self {
            Neighbour::Xor(bits) if bits < ROW => Some(ROW_XMASK + bits as u16),
            _ => None,
        };
        listed.chain(masked)
    }
}

/// `n` of a lane number `n`, or the own one if the wave has no such lane.
fn inside_wave(func: &Function, lane: Value) -> Option<Value> {
    let inst = func.def_inst(lane)?;
    let &[cond, number, own] = func.args(inst) else { return None };
    let compare = func.def_inst(cond)?;
    let sides = func.args(compare);
    let is_size = |value| func.def_op(value) == Some(Op::Pos(Pos::WaveSize));
    let inside = match func.insts[compare].op {
        Op::Icmp(IntCc::Ult) => sides[0] == number && is_size(sides[1]),
        Op::Icmp(IntCc::Ugt) => sides[1] == number && is_size(sides[0]),
        _ => false,
    };
    (func.insts[inst].op == Op::Select && inside && is_own(func, own)).then_some(number)
}

/// Whether it is the number of the lane itself.
fn is_own(func: &Function, lane: Value) -> bool {
    func.def_op(lane) == Some(Op::Pos(Pos::LaneId))
}

impl Lower<'_> {
    /// The value of the lane that each asks.
    pub fn shuffle(&mut self, inst: Inst) {
        let result = self.func.insts[inst].first;
        let args = self.func.args(inst);
        let neighbour = Neighbour::of(self.func, args[1]);
        if let Some(neighbour) = neighbour
            && self.shuffle_near(neighbour, result, args[0])
        {
            return;
        }
        let (lane, dst, addr) = (self.source(args[1]), self.vgpr_of(result), self.vtemp(1));
        self.emit(Role::VShlB32, &[addr, Operand::int(2), lane]);
        let data = self.vgpr(args[0]);
        for n in 0..self.ty(result).dwords() as u8 {
            let (to, from) = (self.dword(dst, n), self.dword(data, n));
            self.emit_raw(Role::LanePermuteB32, &[to, addr, from]);
        }
    }

    /// Without an address, if there is such an instruction.
    fn shuffle_near(&mut self, neighbour: Neighbour, result: Value, value: Value) -> bool {
        let known = |&ctrl: &u16| is_dpp_ctrl(self.target, op::V_MOV_B32.row(), ctrl);
        let ctrl = neighbour.controls().find(known);
        if ctrl.is_none() && !neighbour.is_near() {
            return false;
        }
        let (dst, data) = (self.vgpr_of(result), self.vgpr(value));
        for n in 0..self.ty(result).dwords() as u8 {
            let (to, from) = (self.dword(dst, n), self.dword(data, n));
            match (ctrl, neighbour) {
                (Some(ctrl), _) => self.move_lanes(to, from, ctrl, neighbour.is_near()),
                (None, Neighbour::Xor(bits)) => self.swizzle(to, from, bits),
                (None, _) => {}
            }
        }
        true
    }

    /// `v_mov_b32_dpp`; lanes that ask a lane beyond the row or the wave keep their own value, unless there are none.
    fn move_lanes(&mut self, to: Operand, from: Operand, ctrl: u16, all_inside: bool) {
        if !all_inside {
            self.copy(to, from);
        }
        let mut inst = self.instruction(op::V_MOV_B32, &[to, from]);
        inst.form = Form::Dpp;
        inst.mods.lane = Lane::Dpp { ctrl, row_mask: 15, bank_mask: 15 };
        inst.mods.flags.set(ModFlags::BOUND_CTRL, all_inside);
        self.push(inst);
    }

    fn swizzle(&mut self, to: Operand, from: Operand, bits: u32) {
        let mut inst = self.instruction(op::DS_SWIZZLE_B32, &[to, from]);
        inst.mods.offset = (SWIZZLE_KEEP | bits << SWIZZLE_XOR) as i32;
        self.push(inst);
    }
}
