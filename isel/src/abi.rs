//! Inputs of kernels and functions: work-group and work-item ids, and pointers to the kernel arguments and
//! the dispatch packet. The hardware or the caller passes them in registers. Other values, such as global
//! ids, are computed from them.

use crate::call::{Callee, argument_dwords, shape};
use crate::class::Home;
use crate::lower::{Lower, Options};
use crate::mask::ALL_LANES;
use crate::needs::INPUTS;
use crate::roles::Role;
use callconv::{Implicit, Place};
use ir::{Function, Inst, InstData, Op, Pos, Value};
use isa::abi::AbiInput;
use isa::system::{GLOBAL_SIZE_WORDS, LOCAL_SIZE_WORDS};
use isa::{Abi, Feature, KernelHeader, LaunchSizes, Operand, Reg, ScratchSetUp, Subtarget, VReg};
use smallvec::SmallVec;

/// Inputs that have been requested.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    list: SmallVec<[(AbiInput, Operand); 13]>,
    /// How the work-item ids arrive. With `Some`, the ids of all dimensions are in one register, ten bits for
    /// each, and the number is the last dimension whose id the function uses. With `None`, each id that the
    /// function uses has a register for itself.
    packed: Option<u8>,
}

impl Inputs {
    /// Creates an empty list of inputs.
    pub fn new(func: &Function, target: &Subtarget, opts: &Options<'_>) -> Inputs {
        if func.kernel.is_none() {
            // All work-item ids of a function are passed in one register.
            return Inputs { packed: Some(2), ..Inputs::default() };
        }
        let dimension = |data: &InstData| match data.op {
            Op::Pos(Pos::LocalId(d) | Pos::GlobalId(d)) => d,
            Op::Call(func) => last_dimension(opts.callees.get(func.as_u32() as usize)),
            Op::CallIndirect(_) => last_dimension(opts.pointer),
            _ => 0,
        };
        let packs = target.has(Feature::PACKED_WORK_ITEM_IDS);
        let last = if packs { func.insts.values().map(dimension).max().unwrap_or(0) } else { 0 };
        Inputs { packed: (last > 0).then_some(last), ..Inputs::default() }
    }

    /// Returns whether the work-item ids of all dimensions arrive in one register, so that an id must be
    /// extracted.
    pub fn are_packed(&self) -> bool {
        self.packed.is_some()
    }
}

/// Returns the last dimension whose work-item id a function needs. If nothing is known about the function,
/// this is 2, the third dimension.
fn last_dimension(callee: Option<&Callee>) -> u8 {
    callee.map_or(2, |callee| callee.needs.dimensions().saturating_sub(1))
}

/// Byte offsets in the dispatch packet (`hsa_kernel_dispatch_packet_t`).
const PACKET_WORKGROUP_SIZE: i32 = 4;
const PACKET_GRID_SIZE: i32 = 12;

impl Lower<'_> {
    /// Returns the registers of an input, and requests the input.
    pub fn abi_input(&mut self, input: AbiInput) -> Operand {
        if let Some(&(_, operand)) = self.inputs.list.iter().find(|(have, _)| *have == input) {
            return operand;
        }
        if !self.target.system().provides(input) {
            self.refuse_input(input);
        }
        if input == AbiInput::KernargPtr && self.has_frame() && !self.receives(Implicit::KernargPtr) {
            self.unsupported("`kernarg_ptr` in a function that is not inlined");
        }
        let (class, len) = shape(input);
        let operand = self.temp(class, len);
        self.inputs.list.push((input, operand));
        operand
    }

    /// Returns whether the calling convention passes an implicit argument to functions.
    fn receives(&self, implicit: Implicit) -> bool {
        callconv::column(self.convention).passes(implicit)
    }

    /// Reports an input that the runtime of the system does not provide.
    #[cold]
    fn refuse_input(&mut self, input: AbiInput) {
        let what = match input {
            AbiInput::QueuePtr => "the address of the queue, which generic pointers need on this processor",
            AbiInput::FlatScratchInit => "a generic pointer to private memory",
            AbiInput::DispatchId => "the id of the dispatch",
            AbiInput::DispatchPtr => {
                "the packet of the dispatch, or a size of the launch in a function that is not inlined"
            }
            _ => "an input that the runtime does not provide",
        };
        self.lacking(what);
    }

    /// Reports something that the operating system of the target lacks.
    #[cold]
    pub fn lacking(&mut self, what: &str) {
        let system = self.target.system().name;
        self.unsupported(&format!("{what}, which the system `{system}` lacks,"));
    }

    /// Returns whether an input has been requested.
    pub fn has_input(&self, input: AbiInput) -> bool {
        self.inputs.list.iter().any(|(have, _)| *have == input)
    }

    /// Returns the registers in which the input that `value` reads (an id or a pointer) arrives, and adds the
    /// input to the requested inputs. Returns `None` if no input provides the value, so that it has to be
    /// computed.
    pub fn input(&mut self, value: Value) -> Option<Operand> {
        let input = self.input_of(value)?;
        let whole = self.abi_input(input);
        Some(self.dwords(whole, 0, self.ty(value).dwords() as u8))
    }

    /// Returns the registers of the input (id or pointer) that `value` reads, if some instruction has
    /// requested this input already. In contrast to [`Lower::input`], requests nothing.
    pub fn known_input(&self, value: Value) -> Option<Operand> {
        let input = self.input_of(value)?;
        let whole = self.inputs.list.iter().find(|(have, _)| *have == input)?.1;
        Some(self.dwords(whole, 0, self.ty(value).dwords() as u8))
    }

    fn input_of(&self, value: Value) -> Option<AbiInput> {
        let Some(Op::Pos(pos)) = self.func.def_op(value) else { return None };
        Some(match pos {
            Pos::GroupId(d) => AbiInput::WorkgroupId(d),
            Pos::LocalId(d) if self.home(value) != Home::Const && self.inputs.packed.is_none() => {
                AbiInput::WorkitemId(d)
            }
            Pos::KernargPtr => AbiInput::KernargPtr,
            Pos::ImplicitArgPtr => AbiInput::ImplicitArgPtr,
            Pos::DispatchPtr => AbiInput::DispatchPtr,
            Pos::QueuePtr => AbiInput::QueuePtr,
            Pos::DispatchId => AbiInput::DispatchId,
            _ => return None,
        })
    }

    /// Enters the requested inputs into the machine function.
    pub fn finish_inputs(&mut self) {
        if self.has_frame() {
            return self.finish_implicit();
        }
        if self.out.scratch_size > 0 {
            self.request_scratch();
        }
        let system = self.target.system();
        let mut abi = Abi {
            workitem_ids: self.inputs.packed.unwrap_or(0),
            makes_buffer: system.scratch != ScratchSetUp::UserSgprs,
            pal: system.header == KernelHeader::Pipeline,
            ..Abi::default()
        };
        let needed: SmallVec<[AbiInput; 13]> = self.inputs.list.iter().map(|(input, _)| *input).collect();
        for &input in needed.iter().chain(self.target.user_sgpr_set(&needed)) {
            abi.request(input);
        }
        self.out.abi = abi;
        for slot in abi.layout() {
            // In a function that calls other functions, the descriptor of scratch memory stays in the
            // registers in which it arrives. The called functions expect the descriptor in the same
            // registers.
            if slot.input == AbiInput::PrivateSegmentBuffer && self.has_stack {
                continue;
            }
            let Some(&(_, operand)) = self.inputs.list.iter().find(|(input, _)| *input == slot.input) else {
                continue;
            };
            let regs: SmallVec<[VReg; 4]> = SmallVec::from_slice(self.regs(operand));
            for (n, reg) in regs.into_iter().enumerate() {
                self.out.inputs.push((reg, slot.reg.offset(n as u16)));
            }
        }
    }

    /// Requests the inputs with which a kernel accesses its private memory. There are none if the hardware
    /// itself knows where the memory is.
    pub fn request_scratch(&mut self) {
        if self.target.addressing.scratch.has_descriptor() {
            self.abi_input(AbiInput::PrivateSegmentBuffer);
            self.abi_input(AbiInput::PrivateSegmentWaveOffset);
        }
    }

    /// Records where the inputs of a function that is not a kernel arrive: the hardware registers of the
    /// requested implicit inputs and of the parameters.
    fn finish_implicit(&mut self) {
        let dwords = argument_dwords(self.func);
        for (implicit, input) in INPUTS {
            let Some(&(_, operand)) = self.inputs.list.iter().find(|(known, _)| *known == input) else {
                continue;
            };
            let first = match self.own.implicit_place(self.convention, implicit, dwords) {
                Some(Place::Vgpr(number)) => Reg::vgpr(number),
                Some(Place::Sgpr(number)) => Reg::sgpr(number),
                // An input on the stack has been loaded by an instruction.
                Some(Place::Stack(_)) | None => continue,
            };
            let regs: SmallVec<[VReg; 4]> = SmallVec::from_slice(self.regs(operand));
            self.out.inputs.extend((0..).zip(regs).map(|(n, reg)| (reg, first.offset(n))));
        }
        let parameters = std::mem::take(&mut self.parameters);
        self.out.inputs.extend(parameters);
    }

    /// Lowers `Op::Pos` (an id, size or pointer of the dispatch) if no input provides the value directly, so
    /// that it has to be computed from inputs.
    pub fn pos(&mut self, inst: Inst, pos: Pos) {
        let result = self.func.insts[inst].first;
        if self.home(result) == Home::Const {
            return;
        }
        match pos {
            Pos::LocalId(d) if self.inputs.packed.is_some() => {
                let (dst, id) = (self.vgpr_of(result), self.local_id(d));
                self.copy(dst, id);
            }
            Pos::GroupId(_)
            | Pos::LocalId(_)
            | Pos::KernargPtr
            | Pos::ImplicitArgPtr
            | Pos::DispatchPtr
            | Pos::QueuePtr
            | Pos::DispatchId
            | Pos::WaveSize => {}
            Pos::GlobalId(d) => self.global_id(result, d),
            Pos::LocalSize(d) => {
                let dst = self.sgpr_of(result);
                self.local_size(dst, d);
            }
            Pos::GlobalSize(d) => {
                let dst = self.sgpr_of(result);
                match self.target.system().sizes {
                    LaunchSizes::Packet => self.packet_dword(dst, PACKET_GRID_SIZE + 4 * i32::from(d)),
                    LaunchSizes::Words => self.size_word(dst, GLOBAL_SIZE_WORDS, d),
                    LaunchSizes::GroupCounts => {
                        self.abi_input(AbiInput::DispatchPtr);
                    }
                }
            }
            Pos::NumGroups(d) if self.target.system().provides(AbiInput::GroupCounts) => {
                let dst = self.sgpr_of(result);
                self.group_count(dst, d);
            }
            Pos::NumGroups(_) => self.unsupported("num_groups that was not expanded"),
            Pos::PrintfBuffer if self.target.hidden_args().offset("hidden_printf_buffer").is_none() => {
                self.lacking("`printf` or `assert`");
            }
            Pos::HostcallBuffer if self.target.hidden_args().offset("hidden_hostcall_buffer").is_none() => {
                self.lacking("a call of the host");
            }
            Pos::GlobalOffset(_) | Pos::PrintfBuffer | Pos::HostcallBuffer => {
                self.unsupported("a hidden argument that was not expanded");
            }
            Pos::LaneId => {
                let dst = self.vgpr_of(result);
                self.lanes_before(dst, [ALL_LANES; 2]);
            }
            Pos::Clock | Pos::Realtime => {
                let dst = self.sgpr_of(result);
                let op = if pos == Pos::Clock { Role::SMemtime } else { Role::SMemrealtime };
                self.emit_raw(op, &[dst]);
            }
        }
    }

    /// Computes `global_id = group_id * local_size + local_id` for a work-group size that is constant. If the
    /// size is not constant, `expand.rs` has already replaced the operation in the IR.
    fn global_id(&mut self, result: Value, d: u8) {
        let Some(size) = crate::class::reqd(self.func).map(|s| s[usize::from(d).min(2)]) else {
            self.unsupported("global_id that was not expanded");
            return;
        };
        let group = self.abi_input(AbiInput::WorkgroupId(d));
        if self.home(result) == Home::Sgpr {
            let dst = self.sgpr_of(result);
            self.copy(dst, group);
            return;
        }
        let local = self.local_id(d);
        let dst = self.vgpr_of(result);
        if size.is_power_of_two() {
            let shift = Operand::int(size.trailing_zeros() as i32);
            self.emit(Role::VShlAddU32, &[dst, group, shift, local]);
        } else {
            let base = self.stemp(1);
            self.emit(Role::SMulI32, &[base, group, Operand::int(size as i32)]);
            self.emit(Role::VAddU32, &[dst, base, local]);
        }
    }

    /// Returns the work-item id in dimension `d`.
    pub fn local_id(&mut self, d: u8) -> Operand {
        if self.inputs.packed.is_none() {
            return self.abi_input(AbiInput::WorkitemId(d));
        }
        let (ids, id) = (self.abi_input(AbiInput::WorkitemId(0)), self.vtemp(1));
        self.emit(Role::VBfeU32, &[id, ids, Operand::int(10 * i32::from(d)), Operand::int(10)]);
        id
    }

    fn packet_dword(&mut self, dst: Operand, offset: i32) {
        let packet = self.abi_input(AbiInput::DispatchPtr);
        self.load_field(dst, packet, offset.into());
    }

    /// Loads the word of dimension `d` of a size in front of the explicit arguments. The words of the size
    /// begin at `offset` in the kernarg segment.
    fn size_word(&mut self, dst: Operand, offset: u32, d: u8) {
        let words = self.abi_input(AbiInput::KernargPtr);
        self.load_field(dst, words, i64::from(offset) + 4 * i64::from(d));
    }

    /// Loads the number of work-groups in dimension `d`. The address of the numbers arrives in registers from
    /// which instructions do not take addresses.
    fn group_count(&mut self, dst: Operand, d: u8) {
        let (counts, address) = (self.abi_input(AbiInput::GroupCounts), self.stemp(2));
        for half in 0..2 {
            let (to, from) = (self.dword(address, half), self.dword(counts, half));
            self.copy(to, from);
        }
        self.load_field(dst, address, 4 * i64::from(d));
    }

    /// Loads the dword at a fixed offset in bytes of a structure of the runtime. The structures are so small
    /// that every processor can encode the offset.
    pub fn load_field(&mut self, dst: Operand, structure: Operand, offset: i64) {
        let field = self.target.addressing.scalar_field(offset).expect("a small offset has an encoding");
        self.emit_raw(Role::ScalarLoadB32, &[dst, structure, Operand::Imm(field)]);
    }

    /// Loads the size of the work-group in dimension `d`. In the dispatch packet, this is a 16-bit field.
    pub fn local_size(&mut self, dst: Operand, d: u8) {
        match self.target.system().sizes {
            LaunchSizes::Packet => {}
            LaunchSizes::Words => return self.size_word(dst, LOCAL_SIZE_WORDS, d),
            LaunchSizes::GroupCounts => {
                self.abi_input(AbiInput::DispatchPtr);
                return;
            }
        }
        let dword = self.stemp(1);
        self.packet_dword(dword, PACKET_WORKGROUP_SIZE + 4 * i32::from(d / 2));
        if d == 1 {
            self.emit(Role::SShrB32, &[dst, dword, Operand::int(16)]);
        } else {
            self.emit(Role::SAndB32, &[dst, dword, Operand::int(0xffff)]);
        }
    }
}
