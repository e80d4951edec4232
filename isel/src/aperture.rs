//! Pointers between the generic space and LDS or private memory.
//!
//! A window of the 64-bit address space, the aperture, stands for LDS and another one for private memory; the
//! high half of a generic address names it, the low half is the offset in it (seed 000, "Address Spaces").
//! Null is 0 in 64 bits and -1 in 32.

use crate::class::Home;
use crate::lower::Lower;
use crate::roles::Role;
use ir::{Space, Type, Value};
use isa::abi::AbiInput;
use isa::{Operand, Reg};

/// `src_shared_base` and `src_private_base`: 64 bits, of which the high half is the aperture.
const SHARED_BASE: Reg = Reg(235);
const PRIVATE_BASE: Reg = Reg(237);

impl Lower<'_> {
    /// Casts that change the width. Returns whether it was one.
    pub fn apertures(&mut self, result: Value, arg: Value) -> bool {
        let (Type::Ptr(from), Type::Ptr(to)) = (self.ty(arg), self.ty(result)) else { return false };
        match (from.pointer_bits(), to.pointer_bits()) {
            (32, 64) => self.widen(result, arg, from),
            (64, 32) => self.narrow(result, arg),
            _ => return false,
        }
        true
    }

    fn widen(&mut self, result: Value, arg: Value, from: Space) {
        let base = match from {
            Space::Shared => SHARED_BASE,
            Space::Private => {
                // FLAT instructions that reach private memory need FLAT_SCRATCH.
                self.abi_input(AbiInput::FlatScratchInit);
                self.abi_input(AbiInput::PrivateSegmentWaveOffset);
                PRIVATE_BASE
            }
            _ => return self.unsupported("global data share"),
        };
        let aperture = self.stemp(2);
        self.emit(Role::SMovB64, &[aperture, Operand::regs(base, 2)]);
        let high = self.dword(aperture, 1);
        let (null, zero) = (Operand::int(-1), Operand::int(0));
        if self.home(result) == Home::Sgpr {
            let (x, dst) = (self.scalar(arg), self.sgpr_of(result));
            let halves = [self.dword(dst, 0), self.dword(dst, 1)];
            self.emit(Role::SCmpLgU32, &[x, null]);
            self.emit(Role::SCselectB32, &[halves[0], x, zero]);
            return self.emit(Role::SCselectB32, &[halves[1], high, zero]);
        }
        let (x, dst, some) = (self.source(arg), self.vgpr_of(result), self.mask_temp());
        let halves = [self.dword(dst, 0), self.dword(dst, 1)];
        self.emit(Role::VCmpNeU32, &[some, null, x]);
        self.emit(Role::VCndmaskB32, &[halves[0], zero, x, some]);
        self.emit(Role::VCndmaskB32, &[halves[1], zero, high, some]);
    }

    fn narrow(&mut self, result: Value, arg: Value) {
        let (null, zero) = (Operand::int(-1), Operand::int(0));
        if self.home(result) == Home::Sgpr {
            let (x, whole, dst) = (self.scalar_halves(arg), self.scalar(arg), self.sgpr_of(result));
            self.emit(Role::SCmpLgU64, &[whole, zero]);
            return self.emit(Role::SCselectB32, &[dst, x[0], null]);
        }
        let (x, whole, dst) = (self.halves(arg), self.vgpr(arg), self.vgpr_of(result));
        let some = self.mask_temp();
        self.emit(Role::VCmpNeU64, &[some, zero, whole]);
        self.emit(Role::VCndmaskB32, &[dst, null, x[0], some]);
    }

    /// M0 is the limit of LDS accesses on processors that have one: none is meant. At the beginning of the entry.
    pub fn init_lds_limit(&mut self) {
        if self.reaches_lds && self.target.addressing.lds_needs_m0 {
            self.emit_raw(Role::SMovB32, &[Operand::reg(Reg::M0), Operand::int(-1)]);
        }
    }

    /// FLAT_SCRATCH = where the queue's scratch memory is + where the wave's part of it is; at the beginning
    /// of the entry.
    pub fn init_flat_scratch(&mut self) {
        if !self.has_input(AbiInput::FlatScratchInit) {
            return;
        }
        let init = self.abi_input(AbiInput::FlatScratchInit);
        let wave = self.abi_input(AbiInput::PrivateSegmentWaveOffset);
        let parts = [self.dword(init, 0), self.dword(init, 1)];
        let (lo, hi) = (Operand::reg(Reg::FLAT_SCRATCH), Operand::reg(Reg::FLAT_SCRATCH.offset(1)));
        self.emit_raw(Role::SAddU32, &[lo, parts[0], wave]);
        self.emit_raw(Role::SAddcU32, &[hi, parts[1], Operand::int(0)]);
    }
}
