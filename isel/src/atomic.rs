//! Atomic read-modify-write and cross-lane operations.

use crate::class::Home;
use crate::lower::Lower;
use ir::{Inst, Mem, Order, RmwOp, Space, Value, WaveOp};
use isa::{MachInst, ModFlags, Opcode, Operand, op};

/// Opcodes on 32 and 64 bits.
struct Row {
    op: RmwOp,
    global: [Opcode; 2],
    flat: [Opcode; 2],
    /// Without and with result.
    ds: [[Opcode; 2]; 2],
}

macro_rules! rows {
    ($($op:ident $global:ident $global2:ident $flat:ident $flat2:ident $ds:ident $ds2:ident $rtn:ident $rtn2:ident;)*) => {
        &[$(Row {
            op: RmwOp::$op,
            global: [op::$global, op::$global2],
            flat: [op::$flat, op::$flat2],
            ds: [[op::$ds, op::$ds2], [op::$rtn, op::$rtn2]],
        }),*]
    };
}

#[rustfmt::skip]
const ROWS: &[Row] = rows! {
    Add GLOBAL_ATOMIC_ADD GLOBAL_ATOMIC_ADD_X2 FLAT_ATOMIC_ADD FLAT_ATOMIC_ADD_X2 DS_ADD_U32 DS_ADD_U64 DS_ADD_RTN_U32 DS_ADD_RTN_U64;
    Sub GLOBAL_ATOMIC_SUB GLOBAL_ATOMIC_SUB_X2 FLAT_ATOMIC_SUB FLAT_ATOMIC_SUB_X2 DS_SUB_U32 DS_SUB_U64 DS_SUB_RTN_U32 DS_SUB_RTN_U64;
    SMin GLOBAL_ATOMIC_SMIN GLOBAL_ATOMIC_SMIN_X2 FLAT_ATOMIC_SMIN FLAT_ATOMIC_SMIN_X2 DS_MIN_I32 DS_MIN_I64 DS_MIN_RTN_I32 DS_MIN_RTN_I64;
    UMin GLOBAL_ATOMIC_UMIN GLOBAL_ATOMIC_UMIN_X2 FLAT_ATOMIC_UMIN FLAT_ATOMIC_UMIN_X2 DS_MIN_U32 DS_MIN_U64 DS_MIN_RTN_U32 DS_MIN_RTN_U64;
    SMax GLOBAL_ATOMIC_SMAX GLOBAL_ATOMIC_SMAX_X2 FLAT_ATOMIC_SMAX FLAT_ATOMIC_SMAX_X2 DS_MAX_I32 DS_MAX_I64 DS_MAX_RTN_I32 DS_MAX_RTN_I64;
    UMax GLOBAL_ATOMIC_UMAX GLOBAL_ATOMIC_UMAX_X2 FLAT_ATOMIC_UMAX FLAT_ATOMIC_UMAX_X2 DS_MAX_U32 DS_MAX_U64 DS_MAX_RTN_U32 DS_MAX_RTN_U64;
    And GLOBAL_ATOMIC_AND GLOBAL_ATOMIC_AND_X2 FLAT_ATOMIC_AND FLAT_ATOMIC_AND_X2 DS_AND_B32 DS_AND_B64 DS_AND_RTN_B32 DS_AND_RTN_B64;
    Or GLOBAL_ATOMIC_OR GLOBAL_ATOMIC_OR_X2 FLAT_ATOMIC_OR FLAT_ATOMIC_OR_X2 DS_OR_B32 DS_OR_B64 DS_OR_RTN_B32 DS_OR_RTN_B64;
    Xor GLOBAL_ATOMIC_XOR GLOBAL_ATOMIC_XOR_X2 FLAT_ATOMIC_XOR FLAT_ATOMIC_XOR_X2 DS_XOR_B32 DS_XOR_B64 DS_XOR_RTN_B32 DS_XOR_RTN_B64;
    Xchg GLOBAL_ATOMIC_SWAP GLOBAL_ATOMIC_SWAP_X2 FLAT_ATOMIC_SWAP FLAT_ATOMIC_SWAP_X2 DS_WRXCHG_RTN_B32 DS_WRXCHG_RTN_B64 DS_WRXCHG_RTN_B32 DS_WRXCHG_RTN_B64;
    Inc GLOBAL_ATOMIC_INC GLOBAL_ATOMIC_INC_X2 FLAT_ATOMIC_INC FLAT_ATOMIC_INC_X2 DS_INC_U32 DS_INC_U64 DS_INC_RTN_U32 DS_INC_RTN_U64;
    Dec GLOBAL_ATOMIC_DEC GLOBAL_ATOMIC_DEC_X2 FLAT_ATOMIC_DEC FLAT_ATOMIC_DEC_X2 DS_DEC_U32 DS_DEC_U64 DS_DEC_RTN_U32 DS_DEC_RTN_U64;
};

/// Opcodes of a device-memory atomic.
struct Device {
    global: Opcode,
    flat: Opcode,
}

impl Lower<'_> {
    /// Atomic read-modify-write; the old value is only asked for if it is used.
    pub fn atomic_rmw(&mut self, inst: Inst, op: RmwOp, mem: Mem) {
        let result = self.func.insts[inst].first;
        let args = self.func.args(inst);
        let wide = usize::from(self.ty(result).bits() == 64);
        let Some(row) = ROWS.iter().find(|row| row.op == op) else { return };
        let data = self.vgpr(args[1]);
        if mem.space == Space::Shared {
            let returns = self.wanted(result) || op == RmwOp::Xchg;
            let code = row.ds[usize::from(returns)][wide];
            self.ds_atomic(code, returns.then_some(result), args[0], &[data], mem, Order::NotAtomic);
        } else {
            let device = Device { global: row.global[wide], flat: row.flat[wide] };
            self.device_atomic(device, result, args[0], data, mem, Order::NotAtomic);
        }
    }

    /// Atomic compare-and-swap.
    pub fn atomic_cas(&mut self, inst: Inst, mem: Mem, fail: Order) {
        let result = self.func.insts[inst].first;
        let args = self.func.args(inst);
        let wide = self.ty(result).bits() == 64;
        let (expected, new) = (self.vgpr(args[1]), self.vgpr(args[2]));
        if mem.space == Space::Shared {
            let returns = self.wanted(result);
            let code = match (returns, wide) {
                (false, false) => op::DS_CMPST_B32,
                (false, true) => op::DS_CMPST_B64,
                (true, false) => op::DS_CMPST_RTN_B32,
                (true, true) => op::DS_CMPST_RTN_B64,
            };
            // The expected value comes first (Vega ISA, DS_CMPST_B32).
            return self.ds_atomic(code, returns.then_some(result), args[0], &[expected, new], mem, fail);
        }
        let data = self.concat(&[new, expected]);
        let device = match wide {
            false => Device { global: op::GLOBAL_ATOMIC_CMPSWAP, flat: op::FLAT_ATOMIC_CMPSWAP },
            true => Device { global: op::GLOBAL_ATOMIC_CMPSWAP_X2, flat: op::FLAT_ATOMIC_CMPSWAP_X2 },
        };
        self.device_atomic(device, result, args[0], data, mem, fail);
    }

    fn ds_atomic(
        &mut self,
        code: Opcode,
        result: Option<Value>,
        pointer: Value,
        data: &[Operand],
        mem: Mem,
        fail: Order,
    ) {
        let mut operands = Vec::with_capacity(4);
        if let Some(result) = result {
            operands.push(self.vgpr_of(result));
        }
        let (addr, field) = self.lds_address(pointer, mem.offset, 0, 0);
        operands.push(addr);
        operands.extend_from_slice(data);
        let mut inst = MachInst::new(code, &operands);
        inst.mods.offset = field as i32;
        inst.mem = self.mem_id(&mem, fail);
        self.push(inst);
    }

    fn device_atomic(
        &mut self,
        device: Device,
        result: Value,
        pointer: Value,
        data: Operand,
        mem: Mem,
        fail: Order,
    ) {
        if !matches!(mem.space, Space::Global | Space::Generic) {
            return self.unsupported("an atomic operation in this address space");
        }
        let returns = self.wanted(result);
        let dst = if returns { self.vgpr_of(result) } else { Operand::None };
        let flat = mem.space == Space::Generic;
        let at = match flat {
            true => self.flat_address(pointer, mem.offset),
            false => self.global_address(pointer, mem.offset),
        };
        let all = [dst, at.vaddr, data, at.saddr];
        let mut inst = match flat {
            true => MachInst::new(device.flat, &all[..3]),
            false => MachInst::new(device.global, &all),
        };
        inst.mods.offset = at.offset;
        if returns {
            inst.mods.flags = ModFlags::GLC;
        }
        inst.mem = self.mem_id(&mem, fail);
        self.push(inst);
    }

    /// Cross-lane operations.
    pub fn wave(&mut self, inst: Inst, wave: WaveOp) {
        let result = self.func.insts[inst].first;
        let args = self.func.args(inst);
        match wave {
            WaveOp::Ballot => {
                let (mask, dst) = (self.mask(args[0]), self.sgpr_of(result));
                self.emit(op::S_AND_B64, &[dst, mask, Operand::EXEC]);
            }
            WaveOp::ReadFirstLane => self.read_lanes(result, args[0], None),
            WaveOp::ReadLane => self.read_lanes(result, args[0], Some(args[1])),
            WaveOp::Shuffle => {
                let (lane, dst, addr) = (self.source(args[1]), self.vgpr_of(result), self.vtemp(1));
                self.emit(op::V_LSHLREV_B32, &[addr, Operand::int(2), lane]);
                let data = self.vgpr(args[0]);
                for n in 0..self.ty(result).dwords() as u8 {
                    let (to, from) = (self.dword(dst, n), self.dword(data, n));
                    self.push(MachInst::new(op::DS_BPERMUTE_B32, &[to, addr, from]));
                }
            }
            WaveOp::Mbcnt => {
                let (mask, dst, low) = (self.halves(args[0]), self.vgpr_of(result), self.vtemp(1));
                self.emit(op::V_MBCNT_LO_U32_B32, &[low, mask[0], Operand::int(0)]);
                self.emit(op::V_MBCNT_HI_U32_B32, &[dst, mask[1], low]);
            }
        }
    }

    /// The value of the first active or of a given lane.
    fn read_lanes(&mut self, result: Value, value: Value, lane: Option<Value>) {
        let dst = self.sgpr_of(result);
        let dwords = self.ty(result).dwords() as u8;
        if self.home(value) == Home::Const || self.home(value) == Home::Sgpr {
            let from = self.sgpr(value);
            for n in 0..dwords {
                let (to, part) = (self.dword(dst, n), self.dword(from, n));
                self.copy(to, part);
            }
            return;
        }
        let from = self.vgpr(value);
        for n in 0..dwords {
            let (to, part) = (self.dword(dst, n), self.dword(from, n));
            match lane {
                None => self.read_first_lane(to, part),
                Some(lane) => {
                    let lane = self.scalar(lane);
                    self.push(MachInst::new(op::V_READLANE_B32, &[to, part, lane]));
                }
            }
        }
    }
}
