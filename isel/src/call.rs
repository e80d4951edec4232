//! Calls, returns, and access to a function's parameters, according to the calling convention (`callconv`).
//!
//! The IR is scalar. Arguments and results are passed as dwords in consecutive VGPRs; dwords of arguments for
//! which no register is left are passed on the stack. The frontend decides which bytes of a struct each dword
//! holds.
//!
//! # The stack
//! A function's frame begins at the address in the stack pointer when the function is called. For the
//! duration of a call, the caller increases the stack pointer by the size of its own frame. So a function
//! addresses its frame relative to the stack pointer, and there is no frame pointer. A kernel's frame begins
//! at address 0, so the addresses in this frame are known constants. A kernel that calls functions sets the
//! stack pointer once, to the end of its frame.

use crate::class::Home;
use crate::lower::Lower;
use crate::mask::MaskOp;
use crate::needs::{FIRST_SCALAR, INPUTS, ImplicitNeeds};
use crate::roles::Role;
use crate::tail::{Tail, tail};
use callconv::{Convention, Implicit, Place, column, preserved, scratch_descriptor};
use ir::{Function, Inst, Value};
use isa::{
    AbiInput, MachInst, MemId, Operand, PrivateAccess, Reg, RegClass, RegRange, RegSet, Subtarget, VReg, op,
};
use mir::{CallSite, Callee as Target, FuncRole, MemRef, SPACE_PRIVATE, TAIL_TARGET};
use smallvec::{SmallVec, smallvec};

/// What a caller knows about a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callee {
    /// Implicit arguments that the function needs in addition to its explicit arguments.
    pub needs: ImplicitNeeds,
    /// Registers that the function may change.
    pub clobbers: RegSet,
    /// Whether the function needs the stack or scratch memory.
    pub stack: bool,
    /// Whether the function's code is in the same section as its callers and no code of other objects can
    /// refer to it.
    pub local: bool,
    /// Whether M0 still holds the limit for LDS addresses after a call of the function. Matters on processors
    /// where LDS accesses need this limit in M0.
    pub keeps_m0: bool,
}

impl Callee {
    /// Returns what a caller must assume about a function of which only the calling convention is known.
    pub fn unknown(convention: Convention, target: &Subtarget) -> Callee {
        let mut clobbers = RegSet::EMPTY;
        clobbers.insert(RegRange { first: Reg(0), len: 128 });
        clobbers.insert(RegRange { first: Reg::vgpr(0), len: 128 });
        clobbers.insert(RegRange { first: Reg::vgpr(128), len: 128 });
        clobbers.insert(RegRange { first: Reg::agpr(0), len: 128 });
        clobbers.insert(RegRange { first: Reg::agpr(128), len: 128 });
        let kept = preserved(convention, target);
        for (base, list) in [(0, &kept.sgprs), (256, &kept.vgprs), (512, &kept.agprs)] {
            for &(from, to) in list {
                clobbers.remove(RegRange { first: Reg(base + from), len: (to - from + 1) as u8 });
            }
        }
        scratch_descriptor(target).into_iter().for_each(|range| clobbers.remove(range));
        clobbers.remove(RegRange { first: Reg::EXEC, len: 2 });
        // A call instruction itself overwrites these registers with the return address.
        clobbers.insert(return_address());
        Callee {
            needs: ImplicitNeeds::all(convention, target),
            clobbers,
            stack: true,
            local: false,
            keeps_m0: false,
        }
    }
}

/// Returns the registers that a call may change, including the first `results` VGPRs, in which it returns its
/// results.
fn clobbers_of_call(callee: &Callee, is_tail: bool, results: usize) -> RegSet {
    let mut clobbers = callee.clobbers;
    if callee.keeps_m0 {
        clobbers.remove(RegRange { first: Reg::M0, len: 1 });
    }
    if is_tail {
        // In a tail call, the called function returns directly to this function's caller, so the
        // registers of the return address must keep their value.
        clobbers.remove(return_address());
        clobbers.insert(TAIL_TARGET);
    } else {
        clobbers.insert(return_address());
    }
    for number in 0..results {
        clobbers.insert(RegRange { first: Reg::vgpr(number as u16), len: 1 });
    }
    clobbers
}

/// Registers of the return address, `s[30:31]`.
pub(crate) const fn return_address() -> RegRange {
    RegRange { first: Reg(callconv::RETURN_ADDRESS), len: 2 }
}

/// Returns where argument dword number `dword` is on the stack, in bytes from the stack pointer. The first
/// `registers` dwords are passed in registers.
fn stack_offset(dword: usize, registers: usize) -> i32 {
    4 * (dword - registers) as i32
}

impl Lower<'_> {
    /// Returns the operands that accesses to private memory need: the descriptor of scratch memory, if there
    /// is one, and the scalar offset that the hardware adds to each address.
    pub fn scratch(&mut self) -> [Operand; 2] {
        if self.has_stack || !self.target.addressing.scratch.has_descriptor() {
            return [self.stack_descriptor(), Operand::int(0)];
        }
        [AbiInput::PrivateSegmentBuffer, AbiInput::PrivateSegmentWaveOffset]
            .map(|input| self.abi_input(input))
    }

    /// Returns the stack pointer.
    pub fn stack_pointer(&self) -> Operand {
        Operand::reg(Reg::sgpr(column(self.convention).stack.pointer))
    }

    /// Returns whether stack slots are addressed relative to the stack pointer. This is so in functions that
    /// are not kernels; the slots of a kernel have constant addresses.
    pub fn has_frame(&self) -> bool {
        self.out.role == FuncRole::Callee
    }

    /// Computes the private address of a stack slot of a function.
    pub fn slot_address(&mut self, inst: Inst, slot: ir::Slot) {
        let result = self.func.insts[inst].first;
        if self.home(result) != Home::Sgpr {
            return;
        }
        let (dst, mut base) = (self.sgpr_of(result), self.stack_pointer());
        let scale = self.target.stack_scale();
        if scale > 1 {
            let shift = Operand::int(scale.trailing_zeros() as i32);
            let pointer = std::mem::replace(&mut base, self.stemp(1));
            self.emit(Role::SShrB32, &[base, pointer, shift]);
        }
        let offset = self.s.slots[slot.as_u32() as usize];
        self.emit(Role::SAddU32, &[dst, base, Operand::int(offset as i32)]);
    }

    /// Lowers a call of a function of the module.
    #[cold]
    pub fn call(&mut self, inst: Inst, func: ir::FuncId) {
        let number = func.as_u32();
        let known = self.callees.get(number as usize).cloned();
        let callee = known.unwrap_or_else(|| Callee::unknown(self.convention, self.target));
        let args: SmallVec<[Value; 8]> = SmallVec::from_slice(self.func.args(inst));
        self.call_with(inst, (Target::Func(number), false), callee, &args, Operand::None);
    }

    /// Lowers a call through a function pointer that is the same in all lanes.
    #[cold]
    pub fn call_indirect(&mut self, inst: Inst, sig: ir::SigId) {
        let args: SmallVec<[Value; 8]> = SmallVec::from_slice(self.func.args(inst));
        let address = self.address(args[0]);
        let callee = self.pointer.cloned().unwrap_or_else(|| Callee::unknown(self.convention, self.target));
        self.call_with(inst, (Target::Pointer(sig.as_u32()), false), callee, &args[1..], address);
    }

    /// Returns a uniform address in SGPRs.
    fn address(&mut self, value: Value) -> Operand {
        match self.home(value) {
            Home::Sgpr => self.sgpr_of(value),
            _ => {
                // The pointer is the same in all lanes, but is in VGPRs because the scalar unit cannot
                // compute it. The jump needs it in SGPRs, so it is read from the first active lane.
                let (from, to) = (self.vgpr(value), self.stemp(2));
                for n in 0..2 {
                    let parts = [self.dword(to, n), self.dword(from, n)];
                    self.read_first_lane(parts[0], parts[1]);
                }
                to
            }
        }
    }

    fn call_with(
        &mut self,
        inst: Inst,
        (to, is_tail): (Target, bool),
        callee: Callee,
        args: &[Value],
        address: Operand,
    ) {
        if !self.target.system().has_calls {
            self.lacking("a call that is not inlined");
        }
        let facts = column(self.convention);
        let mut dwords: SmallVec<[VReg; 32]> = SmallVec::new();
        for &arg in args {
            let regs = self.vgpr(arg);
            dwords.extend_from_slice(self.regs(regs));
        }
        let own = dwords.len();
        let on_stack = stack_bytes(own, self.convention, &callee.needs);
        let place = callee.needs.implicit_place(self.convention, Implicit::WorkitemIds, own);
        let mut ids = self.packed_ids(&callee.needs);
        if let Some(Place::Stack(_)) = place {
            dwords.extend_from_slice(self.regs(ids));
            ids = Operand::None;
        }
        let registers = own.min(facts.argument_vgprs.len());
        self.store_arguments(&dwords, registers);
        let vectors = self.tuple_of(&dwords[..registers]);
        let (scalars, first) = self.scalar_arguments(&callee.needs);
        let mut results: SmallVec<[Value; 4]> = self.func.results_of(inst).collect();
        if is_tail {
            results.clear();
        }
        let mut bits: SmallVec<[Operand; 4]> = SmallVec::new();
        let mut defined: SmallVec<[VReg; 32]> = SmallVec::new();
        for &result in &results {
            let regs = self.result_registers(result);
            defined.extend_from_slice(self.regs(regs));
            bits.push(regs);
        }
        if defined.len() > facts.result_vgprs.len() {
            self.unsupported("a result of so many dwords");
        }
        let clobbers = clobbers_of_call(&callee, is_tail, defined.len());
        let vgpr = |number: u16| Reg::vgpr(number);
        let ids_at = if let Some(Place::Vgpr(number)) = place { number } else { 0 };
        let pins =
            [vgpr(*facts.result_vgprs.start()), vgpr(*facts.argument_vgprs.start()), vgpr(ids_at), first];
        let site = self.out.calls.len() as i32;
        self.out.calls.push(CallSite {
            callee: to,
            pins,
            clobbers,
            stack: callee.stack || on_stack > 0,
            local: callee.local,
        });
        let defined = self.tuple_of(&defined);
        let op = if is_tail { op::TAIL_CALL } else { op::CALL };
        let mut call = MachInst::new(op, &[defined, vectors, ids, scalars, address]);
        call.mods.offset = site;
        self.push(call);
        if is_tail {
            return;
        }
        if self.target.addressing.lds_needs_m0 && !callee.keeps_m0 {
            self.emit_raw(Role::SMovB32, &[Operand::reg(Reg::M0), Operand::int(-1)]);
        }
        for (&result, &bits) in results.iter().zip(&bits) {
            self.take_result(result, bits);
        }
    }

    /// Returns the VGPRs that receive a result.
    fn result_registers(&mut self, result: Value) -> Operand {
        match self.home(result) {
            Home::Vgpr => self.vgpr_of(result),
            _ => self.vtemp(self.ty(result).dwords() as u8),
        }
    }

    /// Moves a call's result from the VGPRs of the calling convention to SGPRs or to a lane mask, if
    /// selection keeps the result there.
    fn take_result(&mut self, result: Value, bits: Operand) {
        match self.home(result) {
            Home::Mask => {
                let mask = self.mask_of(result);
                self.emit(op::V_CMP_NE_U32, &[mask, Operand::int(0), bits]);
            }
            Home::Sgpr | Home::Scc => {
                let to = self.sgpr_of(result);
                for n in 0..self.ty(result).dwords() as u8 {
                    let parts = [self.dword(to, n), self.dword(bits, n)];
                    self.read_first_lane(parts[0], parts[1]);
                }
                if self.home(result) == Home::Scc && self.wants_mask(result) {
                    let mask = self.mask_of(result);
                    self.emit(op::S_CMP_LG_U32, &[to, Operand::int(0)]);
                    self.emit_mask(MaskOp::Select, &[mask, crate::mask::ALL_LANES, crate::mask::NO_LANES]);
                }
            }
            Home::Vgpr | Home::Const => {}
        }
    }

    /// Stores the arguments that are not passed in registers. They go to the end of this function's frame,
    /// where the callee's frame begins.
    fn store_arguments(&mut self, dwords: &[VReg], registers: usize) {
        if dwords.len() == registers {
            return;
        }
        // A kernel's stack pointer always holds the end of its frame.
        let mut end = self.stack_pointer();
        if self.has_frame() {
            end = self.stemp(1);
            self.push(MachInst::new(op::STACK_END, &[end]));
        }
        let mem = self.out.mem_ref(MemRef { spaces: SPACE_PRIVATE, ..MemRef::default() });
        for (n, &dword) in dwords.iter().enumerate().skip(registers) {
            let data = self.out.tuple(&[dword]);
            self.stack_access(Role::ScratchStoreB32, (data, end), stack_offset(n, registers), mem);
        }
    }

    fn tuple_of(&mut self, regs: &[VReg]) -> Operand {
        if regs.is_empty() { Operand::None } else { self.out.tuple(regs) }
    }

    /// Returns the work-item ids packed in one VGPR, ten bits per id.
    fn packed_ids(&mut self, needs: &ImplicitNeeds) -> Operand {
        if !needs.has(Implicit::WorkitemIds) {
            return Operand::None;
        }
        if self.has_frame() || self.inputs.are_packed() {
            return self.abi_input(AbiInput::WorkitemId(0));
        }
        let mut ids = self.abi_input(AbiInput::WorkitemId(0));
        for dimension in 1..needs.dimensions() {
            let (id, sum) = (self.abi_input(AbiInput::WorkitemId(dimension)), self.vtemp(1));
            let shift = Operand::int(10 * i32::from(dimension));
            self.emit(Role::VShlOrB32, &[sum, id, shift, ids]);
            ids = sum;
        }
        ids
    }

    /// Returns the scalar implicit arguments for a call, and the hardware register in which the first of them
    /// is passed. The result is one operand of consecutive SGPRs. Where the calling convention leaves a gap
    /// between two arguments, the operand has an undefined register.
    fn scalar_arguments(&mut self, needs: &ImplicitNeeds) -> (Operand, Reg) {
        let mut dwords: SmallVec<[Option<VReg>; 16]> = smallvec![];
        for (implicit, input) in INPUTS {
            let Some(Place::Sgpr(first)) = needs.implicit_place(self.convention, implicit, 0) else {
                continue;
            };
            if !needs.has(implicit) {
                continue;
            }
            let whole = match input {
                AbiInput::ImplicitArgPtr if !self.has_frame() => self.hidden_arguments(),
                _ => self.abi_input(input),
            };
            let first = usize::from(first - FIRST_SCALAR);
            for (n, &reg) in self.regs(whole).iter().enumerate() {
                if dwords.len() <= first + n {
                    dwords.resize(first + n + 1, None);
                }
                dwords[first + n] = Some(reg);
            }
        }
        let from = dwords.iter().position(Option::is_some).unwrap_or(dwords.len());
        let mut regs: SmallVec<[VReg; 16]> = SmallVec::new();
        for dword in &dwords[from..] {
            regs.push(match dword {
                Some(reg) => *reg,
                None => {
                    let any = self.stemp(1);
                    self.push(MachInst::new(op::UNDEF, &[any]));
                    self.regs(any)[0]
                }
            });
        }
        (self.tuple_of(&regs), Reg::sgpr(FIRST_SCALAR + from as u16))
    }

    /// Returns the address of a kernel's hidden arguments, which follow the explicit arguments.
    fn hidden_arguments(&mut self) -> Operand {
        let (own, sum) = (self.abi_input(AbiInput::KernargPtr), self.stemp(2));
        let halves = [self.dword(own, 0), self.dword(own, 1)];
        let size = self.target.hidden_begin(self.out.kernarg_size);
        let size = Operand::int(size as i32);
        self.scalar_add64(sum, halves, [size, Operand::int(0)]);
        sum
    }

    /// Emits the end of a called function: a return or a tail call. Returns the size of the terminator group.
    pub fn ret(&mut self) -> u32 {
        let Some(last) = self.func.terminator(self.block) else { return 0 };
        if let Some(Tail { call, to, callee }) = tail(self.func, self.block, self.opts) {
            self.tail = Some(call);
            let callee = callee.clone();
            let args: SmallVec<[Value; 8]> = SmallVec::from_slice(self.func.args(call));
            let (address, args) = match to {
                Target::Pointer(_) => (self.address(args[0]), &args[1..]),
                Target::Func(_) => (Operand::None, &args[..]),
            };
            self.call_with(call, (to, true), callee, args, address);
            return 1;
        }
        let values: SmallVec<[Value; 4]> = SmallVec::from_slice(self.func.args(last));
        let mut dwords: SmallVec<[VReg; 32]> = SmallVec::new();
        for value in values {
            let regs = self.vgpr(value);
            dwords.extend_from_slice(self.regs(regs));
        }
        if dwords.len() > column(self.convention).result_vgprs.len() {
            self.unsupported("a result of so many dwords");
        }
        let results = self.tuple_of(&dwords);
        self.push(MachInst::new(op::RETURN, &[results]));
        1
    }

    /// Copies the function's parameters from the registers and stack locations that the calling convention
    /// prescribes. The copies are emitted at the beginning of the entry block. Does nothing in a kernel.
    #[inline(never)]
    pub fn take_parameters(&mut self) {
        if !self.has_frame() {
            return;
        }
        let facts = column(self.convention);
        let (first, registers) = (*facts.argument_vgprs.start(), facts.argument_vgprs.len());
        let mut place = 0;
        for &param in self.func.params(self.func.entry()) {
            let dwords = self.ty(param).dwords() as usize;
            let begin = place;
            place += dwords;
            if !self.is_wanted(param) {
                continue;
            }
            let scalar = matches!(self.home(param), Home::Sgpr | Home::Scc);
            let bits = if scalar { self.vtemp(dwords as u8) } else { self.vgpr_of(param) };
            let regs: SmallVec<[VReg; 2]> = SmallVec::from_slice(self.regs(bits));
            for (n, &reg) in (begin..).zip(&regs) {
                match n < registers {
                    true => self.parameters.push((reg, Reg::vgpr(first + n as u16))),
                    false => self.load_parameter(reg, stack_offset(n, registers)),
                }
            }
            if scalar {
                let to = self.sgpr_of(param);
                for n in 0..dwords as u8 {
                    let parts = [self.dword(to, n), self.dword(bits, n)];
                    self.read_first_lane(parts[0], parts[1]);
                }
            }
        }
    }

    /// Loads the packed work-item ids from the stack, if the calling convention passes them there and an
    /// instruction uses them. The load comes before all uses.
    #[cold]
    pub fn take_ids(&mut self) {
        let dwords = argument_dwords(self.func);
        let place = self.own.implicit_place(self.convention, Implicit::WorkitemIds, dwords);
        if let (Some(Place::Stack(offset)), true) = (place, self.has_input(AbiInput::WorkitemId(0))) {
            let ids = self.abi_input(AbiInput::WorkitemId(0));
            let ids = self.regs(ids)[0];
            self.load_parameter(ids, offset as i32);
        }
    }

    fn load_parameter(&mut self, reg: VReg, offset: i32) {
        let mem = self.out.mem_ref(MemRef { spaces: SPACE_PRIVATE, ..MemRef::default() });
        let data = self.out.tuple(&[reg]);
        self.stack_access(Role::ScratchLoadB32, (data, self.stack_pointer()), offset, mem);
    }

    /// Appends a load or store of the dword on the stack `offset` bytes behind `base`.
    fn stack_access(&mut self, role: Role, (data, base): (Operand, Operand), offset: i32, mem: MemId) {
        let descriptor = self.stack_descriptor();
        let access = PrivateAccess { data, vaddr: Operand::None, descriptor, base };
        self.push_private(role, &access, offset, mem);
    }

    /// Returns the registers that hold the descriptor of scratch memory in functions with a stack, or
    /// `Operand::None` if accesses need no descriptor.
    fn stack_descriptor(&self) -> Operand {
        scratch_descriptor(self.target).map_or(Operand::None, Operand::Reg)
    }

    /// Sets the stack pointer of a kernel that calls functions to the end of the kernel's frame, where the
    /// frames of the functions begin. The descriptor of scratch memory still has to be adjusted to this
    /// wave's part of the memory; this happens after register allocation, before any spill at the beginning
    /// of the kernel.
    pub fn init_stack(&mut self) {
        if !self.has_stack || self.has_frame() {
            return;
        }
        self.request_scratch();
        self.push(MachInst::new(op::STACK_END, &[self.stack_pointer()]));
    }

    /// Returns whether a called function needs FLAT_SCRATCH.
    pub fn callees_want_flat_scratch(&self) -> bool {
        self.out.calls.iter().any(|call| match call.callee {
            Target::Func(number) => {
                self.callees.get(number as usize).is_none_or(|callee| callee.needs.flat_scratch())
            }
            Target::Pointer(_) => self.pointer.is_none_or(|callee| callee.needs.flat_scratch()),
        })
    }
}

/// Returns the number of stack bytes per lane that a call needs for `dwords` dwords of arguments, and for the
/// work-item ids if the convention passes them on the stack. The caller stores all of these bytes, whether or
/// not the called function reads them.
pub(crate) fn stack_bytes(dwords: usize, convention: Convention, needs: &ImplicitNeeds) -> u32 {
    match needs.implicit_place(convention, Implicit::WorkitemIds, dwords) {
        Some(Place::Stack(offset)) => offset + 4,
        _ => 4 * dwords.saturating_sub(column(convention).argument_vgprs.len()) as u32,
    }
}

/// Returns the number of dwords of a function's parameters.
pub(crate) fn argument_dwords(func: &Function) -> usize {
    dwords(func, func.params(func.entry()))
}

/// Returns the number of dwords of values.
pub(crate) fn dwords(func: &Function, values: &[Value]) -> usize {
    values.iter().map(|&value| func.ty(value).dwords() as usize).sum()
}

/// Returns the register class and the number of registers in which an input is passed.
pub(crate) fn shape(input: AbiInput) -> (RegClass, u8) {
    match input {
        AbiInput::PrivateSegmentBuffer => (RegClass::Sgpr, 4),
        AbiInput::WorkgroupId(_) | AbiInput::PrivateSegmentWaveOffset | AbiInput::UserData(_) => {
            (RegClass::Sgpr, 1)
        }
        AbiInput::WorkitemId(_) => (RegClass::Vgpr, 1),
        _ => (RegClass::Sgpr, 2),
    }
}
