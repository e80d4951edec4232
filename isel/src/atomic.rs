//! Selection of atomic read-modify-write operations, and of operations that exchange values between lanes.

use crate::class::Home;
use crate::lower::Lower;
use crate::roles::Role;
use ir::passes::float_atomics::{Native, Place};
use ir::{Inst, Mem, Order, RmwOp, Space, Type, Value, WaveOp};
use isa::{Feature, ModFlags, Operand, Subtarget};
use smallvec::SmallVec;

/// Roles of an atomic operation, for 32 and for 64 bits.
struct Row {
    op: RmwOp,
    global: [Role; 2],
    flat: [Role; 2],
    /// Roles without and with a result.
    ds: [[Role; 2]; 2],
}

macro_rules! rows {
    ($($op:ident $global:ident $global2:ident $flat:ident $flat2:ident $ds:ident $ds2:ident $rtn:ident $rtn2:ident;)*) => {
        &[$(Row {
            op: RmwOp::$op,
            global: [Role::$global, Role::$global2],
            flat: [Role::$flat, Role::$flat2],
            ds: [[Role::$ds, Role::$ds2], [Role::$rtn, Role::$rtn2]],
        }),*]
    };
}

#[rustfmt::skip]
const ROWS: &[Row] = rows! {
    Add GlobalAtomicAddB32 GlobalAtomicAddB64 FlatAtomicAddB32 FlatAtomicAddB64 LdsAtomicAddB32 LdsAtomicAddB64 LdsAtomicAddB32Return LdsAtomicAddB64Return;
    Sub GlobalAtomicSubB32 GlobalAtomicSubB64 FlatAtomicSubB32 FlatAtomicSubB64 LdsAtomicSubB32 LdsAtomicSubB64 LdsAtomicSubB32Return LdsAtomicSubB64Return;
    SMin GlobalAtomicMinI32 GlobalAtomicMinI64 FlatAtomicMinI32 FlatAtomicMinI64 LdsAtomicMinI32 LdsAtomicMinI64 LdsAtomicMinI32Return LdsAtomicMinI64Return;
    UMin GlobalAtomicMinU32 GlobalAtomicMinU64 FlatAtomicMinU32 FlatAtomicMinU64 LdsAtomicMinU32 LdsAtomicMinU64 LdsAtomicMinU32Return LdsAtomicMinU64Return;
    SMax GlobalAtomicMaxI32 GlobalAtomicMaxI64 FlatAtomicMaxI32 FlatAtomicMaxI64 LdsAtomicMaxI32 LdsAtomicMaxI64 LdsAtomicMaxI32Return LdsAtomicMaxI64Return;
    UMax GlobalAtomicMaxU32 GlobalAtomicMaxU64 FlatAtomicMaxU32 FlatAtomicMaxU64 LdsAtomicMaxU32 LdsAtomicMaxU64 LdsAtomicMaxU32Return LdsAtomicMaxU64Return;
    And GlobalAtomicAndB32 GlobalAtomicAndB64 FlatAtomicAndB32 FlatAtomicAndB64 LdsAtomicAndB32 LdsAtomicAndB64 LdsAtomicAndB32Return LdsAtomicAndB64Return;
    Or GlobalAtomicOrB32 GlobalAtomicOrB64 FlatAtomicOrB32 FlatAtomicOrB64 LdsAtomicOrB32 LdsAtomicOrB64 LdsAtomicOrB32Return LdsAtomicOrB64Return;
    Xor GlobalAtomicXorB32 GlobalAtomicXorB64 FlatAtomicXorB32 FlatAtomicXorB64 LdsAtomicXorB32 LdsAtomicXorB64 LdsAtomicXorB32Return LdsAtomicXorB64Return;
    Xchg GlobalAtomicSwapB32 GlobalAtomicSwapB64 FlatAtomicSwapB32 FlatAtomicSwapB64 LdsAtomicSwapB32Return LdsAtomicSwapB64Return LdsAtomicSwapB32Return LdsAtomicSwapB64Return;
    Inc GlobalAtomicIncB32 GlobalAtomicIncB64 FlatAtomicIncB32 FlatAtomicIncB64 LdsAtomicIncB32 LdsAtomicIncB64 LdsAtomicIncB32Return LdsAtomicIncB64Return;
    FAdd GlobalAtomicAddF32 GlobalAtomicAddF64 GlobalAtomicAddF32 GlobalAtomicAddF64 LdsAtomicAddF32 LdsAtomicAddF64 LdsAtomicAddF32Return LdsAtomicAddF64Return;
    FMin GlobalAtomicMinF32 GlobalAtomicMinF64 GlobalAtomicMinF32 GlobalAtomicMinF64 LdsAtomicMinF32 LdsAtomicMinF64 LdsAtomicMinF32Return LdsAtomicMinF64Return;
    FMax GlobalAtomicMaxF32 GlobalAtomicMaxF64 GlobalAtomicMaxF32 GlobalAtomicMaxF64 LdsAtomicMaxF32 LdsAtomicMaxF64 LdsAtomicMaxF32Return LdsAtomicMaxF64Return;
    Dec GlobalAtomicDecB32 GlobalAtomicDecB64 FlatAtomicDecB32 FlatAtomicDecB64 LdsAtomicDecB32 LdsAtomicDecB64 LdsAtomicDecB32Return LdsAtomicDecB64Return;
};

/// Returns the atomic operations on floats that selection does with one instruction. On some processors the
/// instructions for device memory flush denormals, and do not work correctly on memory of the host or of
/// another device. Therefore instructions for device memory are included only if `unsafe_global` is set.
pub fn float_atomics(target: &Subtarget, unsafe_global: bool) -> Native {
    let mut native = Native::default();
    let there = |role: Role| role.candidates().iter().any(|&op| isa::table::available(op, target));
    // On gfx908, additions do not return a result.
    let returns =
        |op: RmwOp| matches!(op, RmwOp::FMin | RmwOp::FMax) || target.has(Feature::FLOAT_ATOMIC_RESULTS);
    let global = |native: &mut Native, role: Role, op: RmwOp, ty: Type| {
        if unsafe_global && there(role) {
            native.insert(Place::GlobalUnreturned, op, ty);
            if returns(op) {
                native.insert(Place::Global, op, ty);
            }
        }
    };
    global(&mut native, Role::GlobalAtomicPkAddF16, RmwOp::PkFAdd, Type::I32);
    for row in ROWS.iter().filter(|row| row.op.is_float()) {
        for (wide, ty) in [Type::F32, Type::F64].into_iter().enumerate() {
            if there(row.ds[0][wide]) {
                native.insert(Place::Shared, row.op, ty);
            }
            global(&mut native, row.global[wide], row.op, ty);
        }
    }
    native
}

impl Lower<'_> {
    /// Lowers an atomic read-modify-write operation. The instruction returns the old value only if the value
    /// has a user.
    pub fn atomic_rmw(&mut self, inst: Inst, op: RmwOp, mem: Mem) {
        let result = self.func.insts[inst].first;
        let args = self.func.args(inst);
        let wide = usize::from(self.ty(result).bits() == 64);
        if op == RmwOp::PkFAdd && mem.space == Space::Global {
            let role = Role::GlobalAtomicPkAddF16;
            return self.device_atomic(role, result, args[0], &args[1..], mem, Order::NotAtomic);
        }
        let written_out = op.is_float() && mem.space == Space::Generic;
        let Some(row) = ROWS.iter().find(|row| row.op == op && !written_out) else {
            return self.unsupported("an atomic operation on floats that was not written out");
        };
        if mem.space == Space::Shared {
            let data = self.vgpr(args[1]);
            let returns = self.is_wanted(result) || op == RmwOp::Xchg;
            let code = row.ds[usize::from(returns)][wide];
            self.ds_atomic(code, returns.then_some(result), args[0], &[data], mem, Order::NotAtomic);
        } else {
            let role = if mem.space == Space::Generic { row.flat[wide] } else { row.global[wide] };
            self.device_atomic(role, result, args[0], &args[1..], mem, Order::NotAtomic);
        }
    }

    /// Lowers an atomic compare-and-swap.
    pub fn atomic_cas(&mut self, inst: Inst, mem: Mem, fail: Order) {
        let result = self.func.insts[inst].first;
        let args = self.func.args(inst);
        let wide = self.ty(result).bits() == 64;
        if mem.space == Space::Shared {
            let (expected, new) = (self.vgpr(args[1]), self.vgpr(args[2]));
            let returns = self.is_wanted(result);
            let code = match (returns, wide) {
                (false, false) => Role::LdsAtomicCompareSwapB32,
                (false, true) => Role::LdsAtomicCompareSwapB64,
                (true, false) => Role::LdsAtomicCompareSwapB32Return,
                (true, true) => Role::LdsAtomicCompareSwapB64Return,
            };
            // Compare-and-swap in LDS takes the expected value before the new value (Vega ISA,
            // LdsAtomicCompareSwapB32).
            return self.ds_atomic(code, returns.then_some(result), args[0], &[expected, new], mem, fail);
        }
        let role = match (mem.space == Space::Generic, wide) {
            (false, false) => Role::GlobalAtomicCompareSwapB32,
            (false, true) => Role::GlobalAtomicCompareSwapB64,
            (true, false) => Role::FlatAtomicCompareSwapB32,
            (true, true) => Role::FlatAtomicCompareSwapB64,
        };
        // Device memory instructions take the new value first.
        self.device_atomic(role, result, args[0], &[args[2], args[1]], mem, fail);
    }

    fn ds_atomic(
        &mut self,
        role: Role,
        result: Option<Value>,
        pointer: Value,
        data: &[Operand],
        mem: Mem,
        fail: Order,
    ) {
        let mut operands: SmallVec<[Operand; 4]> = SmallVec::new();
        operands.extend(result.map(|result| self.vgpr_of(result)));
        let (addr, field) = self.lds_address(pointer, mem.offset, 0, 0);
        operands.push(addr);
        operands.extend_from_slice(data);
        let id = self.mem_id(&mem, fail);
        self.push_mem(role, &operands, field, ModFlags::empty(), id);
    }

    fn device_atomic(
        &mut self,
        role: Role,
        result: Value,
        pointer: Value,
        data: &[Value],
        mem: Mem,
        fail: Order,
    ) {
        if !matches!(mem.space, Space::Global | Space::Generic) {
            return self.unsupported("an atomic operation in this address space");
        }
        let returns = self.is_wanted(result);
        let dst = if returns { self.vgpr_of(result) } else { Operand::None };
        let mut inst = self.device_instruction(role, pointer, mem.offset);
        if returns {
            inst.mods.flags = ModFlags::GLC;
        }
        let data = match inst.role(0) {
            isa::Role::DefUse => self.data_in_place(dst, data),
            _ if let [only] = data => self.vgpr(*only),
            _ => {
                let parts: SmallVec<[Operand; 2]> = data.iter().map(|&value| self.vgpr(value)).collect();
                self.concat(&parts)
            }
        };
        let at = self.device_address(&inst, pointer, mem.offset);
        let id = self.mem_id(&mem, fail);
        self.push_device(inst, &at, dst, data, id);
    }

    /// Copies the data operands of an atomic operation to consecutive registers. The first of these registers
    /// are the result registers `dst`, because the instruction writes the old value over its first data
    /// registers.
    fn data_in_place(&mut self, dst: Operand, data: &[Value]) -> Operand {
        let mut sources: SmallVec<[Operand; 4]> = SmallVec::new();
        for &value in data {
            match self.ty(value).bits() {
                64 => sources.extend(self.halves(value)),
                _ => sources.push(self.source(value)),
            }
        }
        let more = sources.len() as u8 - self.regs(dst).len() as u8;
        let rest = self.vtemp(more);
        let registers = self.concat(&[dst, rest]);
        for (n, source) in (0..).zip(sources) {
            let to = self.dword(registers, n);
            self.copy(to, source);
        }
        registers
    }

    /// Lowers cross-lane operations.
    pub fn wave(&mut self, inst: Inst, wave: WaveOp) {
        let result = self.func.insts[inst].first;
        let args = self.func.args(inst);
        match wave {
            WaveOp::Ballot => {
                let (mask, dst) = (self.mask(args[0]), self.sgpr_of(result));
                self.ballot(dst, mask);
            }
            WaveOp::ReadFirstLane => self.read_lanes(result, args[0], None),
            WaveOp::ReadLane => self.read_lanes(result, args[0], Some(args[1])),
            WaveOp::Shuffle => self.shuffle(inst),
            WaveOp::Permute => self.by_address(Role::LaneSendB32, inst),
            WaveOp::Mbcnt => {
                let (mask, dst) = (self.halves(args[0]), self.vgpr_of(result));
                self.lanes_before(dst, mask);
            }
        }
    }

    /// Copies `value` from one lane to SGPRs: from lane number `lane`, or from the first active lane if
    /// `lane` is `None`.
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
                    self.emit_raw(Role::VReadlaneB32, &[to, part, lane]);
                }
            }
        }
    }
}
