//! Conversion of pointers between the generic address space and LDS or private memory.
//!
//! One window of the 64-bit address space, called the aperture, maps LDS, and another maps private memory.
//! The high half of a generic address selects the aperture, and the low half is the offset in the memory
//! (LLVM's AMDGPU guide, seed 000, "Address Spaces"). The null pointer is 0 in 64 bits and -1 in 32 bits.

use crate::class::Home;
use crate::lower::Lower;
use crate::roles::{NO_FLAT, Role};
use ir::{Space, Type, Value};
use isa::abi::AbiInput;
use isa::{Apertures, FlatScratch, Operand, Reg};

/// Sources of the aperture of an address space.
struct Window {
    number: usize,
    /// The register `src_shared_base` or `src_private_base`. It has 64 bits; the high half is the aperture,
    /// that is, the upper half of every generic address in this window.
    base: Reg,
    /// Byte offset of the field `group_segment_aperture_base_hi` or `private_segment_aperture_base_hi` in the
    /// queue structure in memory (`amd_queue_t`). Processors without aperture registers load the aperture
    /// from this field.
    in_queue: i64,
}

const SHARED: Window = Window { number: 0, base: Reg(235), in_queue: 0x40 };
const PRIVATE: Window = Window { number: 1, base: Reg(237), in_queue: 0x44 };

/// Operand of `s_setreg_b32` that names all 32 bits of `HW_REG_FLAT_SCR_LO`, the low half of FLAT_SCRATCH.
/// The hardware register with the next number is the high half.
const FLAT_SCR_LO: i32 = 20 | 31 << 11;

impl Lower<'_> {
    /// Lowers a pointer cast that changes the width of the pointer. Returns false, without emitting anything,
    /// if the cast does not change the width.
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
        let window = match from {
            Space::Shared => &SHARED,
            Space::Private => {
                // FLAT instructions that access private memory need the register FLAT_SCRATCH. Only kernels
                // set it; when a function is called, FLAT_SCRATCH already has the value that the kernel has
                // set.
                if !self.has_frame() {
                    self.request_flat_scratch();
                }
                &PRIVATE
            }
            _ => return self.unsupported("global data share"),
        };
        let high = self.aperture(window);
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

    /// Sets M0 to its largest value at the beginning of the entry block, if the function accesses LDS. On
    /// some processors, M0 is an upper limit for the addresses of LDS accesses; other processors need no code
    /// for this.
    pub fn init_lds_limit(&mut self) {
        if self.reaches_lds && self.target.addressing.lds_needs_m0 {
            self.emit_raw(Role::SMovB32, &[Operand::reg(Reg::M0), Operand::int(-1)]);
        }
    }

    /// Returns the high half of the generic addresses of a memory.
    fn aperture(&mut self, window: &'static Window) -> Operand {
        match self.target.addressing.apertures {
            Apertures::None => {
                self.refuse("a generic pointer", NO_FLAT);
                Operand::int(0)
            }
            Apertures::Registers => {
                let aperture = self.stemp(2);
                self.emit(Role::SMovB64, &[aperture, Operand::regs(window.base, 2)]);
                self.dword(aperture, 1)
            }
            Apertures::Queue => {
                if let Some(high) = self.apertures[window.number] {
                    return high;
                }
                let high = self.stemp(1);
                self.abi_input(AbiInput::QueuePtr);
                self.apertures[window.number] = Some(high);
                high
            }
        }
    }

    /// Loads from the queue structure the apertures (upper halves of generic addresses) that instructions
    /// have requested. The loads are emitted at the beginning of the entry block.
    pub fn init_apertures(&mut self) {
        for window in [&SHARED, &PRIVATE] {
            let Some(high) = self.apertures[window.number] else { continue };
            let queue = self.abi_input(AbiInput::QueuePtr);
            self.load_field(high, queue, window.in_queue);
        }
    }

    /// Requests the inputs from which a kernel computes FLAT_SCRATCH. There are none if the hardware sets
    /// FLAT_SCRATCH.
    pub fn request_flat_scratch(&mut self) {
        if self.target.addressing.flat_scratch != FlatScratch::Architected {
            self.abi_input(AbiInput::FlatScratchInit);
            self.abi_input(AbiInput::PrivateSegmentWaveOffset);
        }
    }

    /// Sets the register FLAT_SCRATCH to the address of this wave's scratch memory: the address of the
    /// queue's scratch memory plus the offset of the wave's part. Does nothing if no FLAT instruction
    /// accesses private memory. The code is emitted at the beginning of the entry block.
    pub fn init_flat_scratch(&mut self) {
        if self.has_input(AbiInput::FlatScratchInit) {
            self.set_flat_scratch();
        }
    }

    #[inline(never)]
    fn set_flat_scratch(&mut self) {
        let init = self.abi_input(AbiInput::FlatScratchInit);
        let wave = self.abi_input(AbiInput::PrivateSegmentWaveOffset);
        let parts = [self.dword(init, 0), self.dword(init, 1)];
        let [low, high] = match self.target.flat_scratch() {
            Some(regs) => [0, 1].map(|n| Operand::reg(regs.first.offset(n))),
            None => [self.stemp(1), self.stemp(1)],
        };
        if self.target.addressing.flat_scratch == FlatScratch::SizeAndOffset {
            let bytes = self.stemp(1);
            self.emit_raw(Role::SAddU32, &[bytes, parts[0], wave]);
            self.emit(Role::SShrB32, &[high, bytes, Operand::int(8)]);
            return self.emit_raw(Role::SMovB32, &[low, parts[1]]);
        }
        self.emit_raw(Role::SAddU32, &[low, parts[0], wave]);
        self.emit_raw(Role::SAddcU32, &[high, parts[1], Operand::int(0)]);
        if self.target.addressing.flat_scratch == FlatScratch::HardwareRegisters {
            self.emit_raw(Role::SSetregB32, &[Operand::Imm(FLAT_SCR_LO), low]);
            self.emit_raw(Role::SSetregB32, &[Operand::Imm(FLAT_SCR_LO + 1), high]);
        }
    }
}
