//! Accesses to device memory by buffer instructions: on GFX6, which has no other instructions for it, and on
//! GFX7 and GFX8 where they are better than FLAT instructions.
//!
//! The address of a buffer instruction is a sum of up to four parts. The first is the 48-bit base address in
//! a *descriptor* (V#), which is held in four SGPRs and also holds the size of the memory. The second is a
//! scalar of 32 bits, the third an immediate. The fourth comes from VGPRs: nothing, a 32-bit offset (mode
//! `offen`) or a 64-bit offset (mode `addr64`). So the uniform part of a pointer is turned into a descriptor
//! once, where it is defined. The part that differs between lanes is in VGPRs: a 32-bit index, which the
//! instruction extends to 64 bits, or a 64-bit distance. If a pointer has no uniform part, the VGPRs hold the
//! whole address, and the descriptor has the address 0.
//!
//! The hardware checks 32-bit offsets against the 32-bit size in the descriptor. All descriptors have the
//! largest possible size, which excludes only the byte at offset 0xffff_ffff. Accesses that may reach that
//! byte use `addr64`, which is not checked, or FLAT instructions.
//!
//! FLAT instructions are the alternative on GFX7 and GFX8. There they take only whole addresses, which costs
//! two additions and two registers per address. FLAT instructions also increment two wait counters and
//! complete out of order, so that waiting for one of them means waiting for all.
//!
//! # Source
//! Southern Islands, Sea Islands and GCN3 ISA, "Buffer Resource Descriptor" and "Range Checking"; for the
//! format see `isa::addressing`.

use crate::address::Address;
use crate::class::Home;
use crate::known_bits;
use crate::lower::Lower;
use crate::roles::Role;
use ir::passes::align::trailing_zeros;
use ir::{CastOp, Op, Value};
use isa::{Addressing, ModFlags, Operand, RegClass, op};

/// Third dword of a descriptor: size of the memory in bytes.
const RECORDS: u32 = u32::MAX;
/// The bits of the descriptor's second dword that hold the upper address bits. The bits above are the stride
/// and other fields.
const ADDRESS_HIGH: u32 = 0xffff;

/// Largest number of operations, one behind the other, that are followed to find how large an index can be.
const DEPTH: u32 = 8;

/// How an address is composed.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// A uniform pointer; the lanes add nothing.
    Uniform(Value),
    /// A uniform pointer plus a uniform 32-bit index.
    Scalar(Value, Value),
    /// A uniform pointer plus a 32-bit index.
    Index(Value, Value),
    /// A uniform pointer plus a 64-bit distance.
    Distance(Value, Value),
    /// A whole address.
    Whole(Value),
}

/// Registers that the descriptors of a function share.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    /// Upper half of all descriptors.
    upper: Option<Operand>,
    /// Descriptor of address 0.
    whole_memory: Option<Operand>,
}

impl Lower<'_> {
    /// Returns whether an access to `pointer + offset` should use a buffer instruction, on processors that
    /// have buffer and FLAT instructions. A buffer instruction is better if the address is a uniform pointer
    /// plus a 32-bit index, because it adds the two itself. If the index has 64 bits, FLAT is better, because
    /// one instruction (`v_mad_u64_u32`) computes the whole address for it.
    pub fn prefers_buffer(&self, pointer: Value, offset: i32) -> bool {
        let (way, offset) = self.address_way(pointer, offset);
        self.in_range(way, offset)
    }

    /// Returns the operands for an address of global or constant memory.
    pub fn buffer_address(&mut self, pointer: Value, offset: i32) -> Address {
        let (way, offset) = self.address_way(pointer, offset);
        let parts = if self.in_range(way, offset) { self.scalar_part(offset) } else { None };
        let resource = match way {
            Way::Uniform(base) | Way::Scalar(base, _) | Way::Index(base, _) | Way::Distance(base, _) => {
                self.resource(base)
            }
            Way::Whole(_) => self.whole_memory(),
        };
        match (way, parts) {
            (Way::Uniform(_), Some((scalar, offset))) => {
                Address { vaddr: Operand::None, base: resource, scalar, offset, flags: ModFlags::empty() }
            }
            (Way::Scalar(_, index), Some((more, offset))) => {
                let mut scalar = self.index_sgpr(index);
                if more != Operand::int(0) {
                    let sum = self.stemp(1);
                    self.emit(Role::SAddU32, &[sum, scalar, more]);
                    scalar = sum;
                }
                Address { vaddr: Operand::None, base: resource, scalar, offset, flags: ModFlags::empty() }
            }
            (Way::Index(_, index), Some((scalar, offset))) => {
                let vaddr = self.index_vgpr(index);
                Address { vaddr, base: resource, scalar, offset, flags: ModFlags::OFFEN }
            }
            (Way::Uniform(_) | Way::Scalar(..), None) => {
                let zero = self.vgpr_const64(0);
                self.in_64_bits(resource, zero, offset)
            }
            (Way::Index(_, index), None) => {
                let low = self.index_vgpr(index);
                let high = self.zero_beside(low);
                let vaddr = self.concat(&[low, high]);
                self.in_64_bits(resource, vaddr, offset)
            }
            (Way::Distance(_, lanes) | Way::Whole(lanes), _) => {
                let vaddr = self.vgpr(lanes);
                self.in_64_bits(resource, vaddr, offset)
            }
        }
    }

    /// Returns how a buffer instruction composes the address `pointer + offset` from parts, and the constant
    /// offset that is added to these parts.
    fn address_way(&self, pointer: Value, offset: i32) -> (Way, i64) {
        let (base, mut offset) = self.strip_offsets(pointer, offset);
        if self.home(base) == Home::Sgpr {
            let mut sum = offset;
            let parts =
                self.uniform_plus_index(base, &mut sum).map(|(uniform, index)| Way::Scalar(uniform, index));
            return match parts {
                Some(way) if self.in_range(way, sum) => (way, sum),
                _ => (Way::Uniform(base), offset),
            };
        }
        if let Some((uniform, index)) = self.uniform_plus_index(base, &mut offset) {
            return (Way::Index(uniform, index), offset);
        }
        if let Some((uniform, distance)) = self.uniform_plus_distance(base) {
            let (uniform, more) = self.strip_offsets(uniform, 0);
            return (Way::Distance(uniform, distance), offset.wrapping_add(more));
        }
        (Way::Whole(base), offset)
    }

    /// Returns whether index plus constant offset is sure to stay within the 32-bit size of the descriptor.
    /// If this is not sure, the range check of the buffer instruction might reject a valid access.
    fn in_range(&self, way: Way, offset: i64) -> bool {
        let most = match way {
            Way::Uniform(_) => 0,
            Way::Scalar(_, index) | Way::Index(_, index) => {
                let unit = 1 << trailing_zeros(self.func, index).min(31);
                known_bits::max(self.func, index, DEPTH) / unit * unit
            }
            Way::Distance(..) | Way::Whole(_) => return false,
        };
        offset >= 0 && most.saturating_add(offset as u64) < u64::from(RECORDS)
    }

    /// Returns the low dword of a uniform offset.
    fn index_sgpr(&mut self, index: Value) -> Operand {
        let narrow =
            self.func.def_inst(index).filter(|&inst| self.func.insts[inst].op == Op::Cast(CastOp::Zext));
        let index = narrow.map_or(index, |inst| self.func.args(inst)[0]);
        let whole = self.sgpr(index);
        self.dword(whole, 0)
    }

    /// Returns the operands for an address with a 64-bit `vaddr` (mode `addr64`). The constant `offset` goes
    /// to the immediate and the scalar operand; if it does not fit there, it is added to `vaddr`.
    fn in_64_bits(&mut self, resource: Operand, vaddr: Operand, offset: i64) -> Address {
        let (vaddr, (scalar, offset)) = match self.scalar_part(offset) {
            Some(parts) => (vaddr, parts),
            None => (self.vector_offset(vaddr, offset), (Operand::int(0), 0)),
        };
        Address { vaddr, base: resource, scalar, offset, flags: ModFlags::ADDR64 }
    }

    /// Splits a constant offset between the scalar operand and the immediate of the instruction. Returns
    /// `None` if the constant does not fit.
    fn scalar_part(&mut self, offset: i64) -> Option<(Operand, i32)> {
        let (field, rest) = self.target.addressing.buffer.split(offset);
        let rest = u32::try_from(rest).ok()?;
        let scalar = match Operand::int(rest as i32) {
            inline @ Operand::Inline(_) => inline,
            _ => self.sgpr_const(rest),
        };
        Some((scalar, field as i32))
    }

    /// If `pointer` is the sum of a uniform pointer and a 64-bit distance, returns the two.
    fn uniform_plus_distance(&self, pointer: Value) -> Option<(Value, Value)> {
        let inst = self.func.def_inst(pointer)?;
        let args = self.func.args(inst);
        let sum = self.func.insts[inst].op == Op::PtrAdd && self.home(args[0]) == Home::Sgpr;
        (sum && self.ty(args[1]).bits() == 64).then(|| (args[0], args[1]))
    }

    /// Returns the descriptor of a uniform pointer, which may be a constant.
    fn resource(&mut self, pointer: Value) -> Operand {
        match self.const_bits(pointer) {
            None => self.descriptor(pointer),
            Some(bits) => {
                let resource = self.stemp(4);
                self.fill_descriptor(resource, Some([bits as u32, (bits >> 32) as u32 & ADDRESS_HIGH]));
                resource
            }
        }
    }

    /// Creates registers for the descriptor of a pointer. If the pointer certainly has at most 48 bits, the
    /// pointer's own registers become the first half of the descriptor, so that no copy is needed.
    pub fn new_descriptor(&mut self, pointer: Value) -> Operand {
        let base = self.sgpr_of(pointer);
        if self.is_address(pointer) {
            let rest = self.temp(RegClass::Sgpr, 2);
            self.concat(&[base, rest])
        } else {
            self.temp(RegClass::Sgpr, 4)
        }
    }

    /// Completes the descriptor of a pointer that has just been defined. The pointer's own registers may be a
    /// part of the descriptor already; this writes the other parts. Does nothing if no access uses the
    /// pointer through a descriptor.
    pub fn finish_descriptor(&mut self, value: Value) {
        if !self.wants_descriptor(value) {
            return;
        }
        let (resource, base) = (self.descriptor(value), self.sgpr_of(value));
        if !self.is_address(value) {
            let (to, from) = (
                [self.dword(resource, 0), self.dword(resource, 1)],
                [self.dword(base, 0), self.dword(base, 1)],
            );
            self.copy(to[0], from[0]);
            self.emit(Role::SAndB32, &[to[1], from[1], Operand::int(ADDRESS_HIGH as i32)]);
        }
        self.fill_descriptor(resource, None);
    }

    /// Returns whether the pointer's value certainly fits into the 48 address bits of a descriptor. Loaded
    /// pointers do. The result of an addition may not: an intermediate sum can be negative although the final
    /// address is valid.
    fn is_address(&self, pointer: Value) -> bool {
        matches!(self.func.def_op(pointer), Some(Op::Load { .. } | Op::GlobalAddr(_)))
    }

    /// Writes the upper half of a descriptor, which is the same in all descriptors and is copied with one
    /// 64-bit move. If the base address is a constant, writes the lower half too.
    fn fill_descriptor(&mut self, resource: Operand, base: Option<[u32; 2]>) {
        for (n, word) in (0..).zip(base.into_iter().flatten()) {
            let dword = self.dword(resource, n);
            self.copy(dword, Operand::int(word as i32));
        }
        let upper = match self.buffers.upper {
            Some(upper) => upper,
            None => {
                let pair = self.temp(RegClass::Sgpr, 2);
                *self.buffers.upper.insert(pair)
            }
        };
        let to = self.dwords(resource, 2, 2);
        self.copy(to, upper);
    }

    /// Returns the descriptor of address 0.
    fn whole_memory(&mut self) -> Operand {
        if let Some(resource) = self.buffers.whole_memory {
            return resource;
        }
        let resource = self.stemp(4);
        *self.buffers.whole_memory.insert(resource)
    }

    /// Fills the descriptor of address 0, if an access uses it. The code is emitted at the beginning of the
    /// entry block.
    pub fn init_whole_memory(&mut self) {
        if let Some(resource) = self.buffers.whole_memory {
            self.fill_descriptor(resource, Some([0; 2]));
        }
    }

    /// Sets the SGPR pair with the upper half that all descriptors share. The code is placed before any
    /// code that copies the pair to a descriptor.
    pub fn init_descriptors(&mut self) {
        let Some(upper) = self.buffers.upper else { return };
        let mut format = self.target.addressing.descriptor;
        if !self.target.system().translates {
            format &= !Addressing::TRANSLATED;
        }
        let bits = u64::from(RECORDS) | u64::from(format) << 32;
        if bits.count_ones() == bits.trailing_ones() {
            let ones = Operand::int(bits.count_ones() as i32);
            return self.emit_raw(op::S_BFM_B64, &[upper, ones, Operand::int(0)]);
        }
        for (n, word) in [(0, RECORDS), (1, format)] {
            let dword = self.dword(upper, n);
            self.copy(dword, Operand::int(word as i32));
        }
    }
}
