//! A machine function: a linear list of blocks with two control-flow graphs.
//!
//! * The **linear CFG** describes where the wavefront's program counter goes. The live ranges of SGPRs follow
//!   this graph.
//! * The **logical CFG** describes where the individual lanes go. The live ranges of VGPRs follow this graph:
//!   a lane whose `exec` bit is clear does not write, so the lanes on the other side of a divergent branch
//!   keep their values.
//!
//! Block parameters exist on both graphs: SGPR parameters receive arguments from linear predecessors, VGPR
//! parameters from logical predecessors. An edge that carries arguments must not be critical in either graph,
//! so that there is a block for its copies.
//!
//! A block consists of three parts, in this order. The **prologue** has the instructions that set `exec` for
//! the block. The body follows. The **terminator group** begins with the first instruction that narrows
//! `exec` or branches.
//!
//! The parts say where the allocator inserts moves. VGPR moves at the block's beginning go after the
//! prologue. At the block's end, VGPR moves go before the terminator group, and SGPR moves before the first
//! branch.

use crate::spare::Spare;
use crate::track::MachTrack;
use cranelift_entity::PrimaryMap;
use isa::table::Flags;
use isa::{
    Abi, Hidden, MBlock, MachInst, MemId, NoteId, Operand, Reg, RegClass, RegRange, RegSet, Tuple, VReg, op,
};

/// Reason for an instruction. Printed in annotated assembly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Reason for an `s_waitcnt`: the wait counter, the operation whose completion the wait is for, and the
    /// instruction that needs the result. The text of the reason is created only when it is printed.
    Wait {
        /// "vmcnt", "lgkmcnt" or "expcnt".
        counter: &'static str,
        /// Mnemonic of the memory operation whose completion the wait is for. If there are several such
        /// operations, this is the oldest one.
        producer: &'static str,
        /// First register (dword) concerned, if any.
        reg: Option<Reg>,
        /// Mnemonic of the instruction that needs the result, or the rule that requires the wait ("release at
        /// agent scope").
        consumer: &'static str,
    },
    /// Reason for an instruction that mitigates a hazard between two other instructions: the hazard's name,
    /// and the number of wait states that the hazard requires. The number is 0 if the hazard needs a
    /// particular instruction instead of wait states.
    Hazard {
        /// Name of the rule.
        rule: &'static str,
        /// Number of wait states required.
        states: u8,
    },
    /// Reason for a cache operation or wait that the memory model requires: the row of the memory model's
    /// table, such as "load atomic acquire agent global".
    Coherence(&'static str),
    /// Register allocation: "spill", "reload", "copy".
    Alloc(&'static str),
    /// Any other reason, as a text.
    Text(&'static str),
    /// A reason that was read from text.
    Read(String),
}

/// Memory orders, as in `ir::Order`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum SyncOrder {
    #[default]
    NotAtomic,
    Unordered,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// Synchronisation scopes, as in `ir::Scope`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum SyncScope {
    #[default]
    SingleThread,
    Wavefront,
    Workgroup,
    Agent,
    System,
}

/// Set of address spaces that a synchronisation orders or that an access may touch. The bit `1 << number`
/// stands for an address space: 1 global, 3 shared (LDS), 5 private (scratch). A generic access has all three
/// bits.
pub type SpaceSet = u8;
/// Global memory.
pub const SPACE_GLOBAL: SpaceSet = 1 << 1;
/// LDS.
pub const SPACE_SHARED: SpaceSet = 1 << 3;
/// Scratch.
pub const SPACE_PRIVATE: SpaceSet = 1 << 5;

/// What the memory model needs to know about a memory instruction or a `FENCE` pseudo-instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemRef {
    /// Memory order.
    pub order: SyncOrder,
    /// Memory order of a failed compare-and-swap.
    pub fail: SyncOrder,
    /// Synchronisation scope.
    pub scope: SyncScope,
    /// Address spaces accessed, or ordered by a fence.
    pub spaces: SpaceSet,
    /// Whether the operation is ordered only with accesses to the address spaces in `spaces`. This is so for
    /// the synchronisation scopes whose names end in `_one_as`, such as `agent_one_as`.
    pub one_as: bool,
    /// `volatile`.
    pub volatile: bool,
    /// `nontemporal`.
    pub nontemporal: bool,
    /// Alias class of the access, 0 if unknown. Two accesses with different classes other than 0 never
    /// overlap.
    pub alias: u16,
}

/// The variable or function to which an operand of an instruction refers. The linker or the emitter inserts
/// its address, or the distance to it, into the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Referent {
    /// A global variable of the module (`ir::Global`).
    Global(u32),
    /// A function of the module (`ir::FuncId`).
    Func(u32),
    /// The first or second dword of the scratch descriptor, which the runtime fills in
    /// ([`isa::system::SCRATCH_SYMBOLS`]).
    Scratch(u8),
}

/// What the linker or the emitter inserts for an operand that refers to a symbol: a part of the distance from
/// the code to the symbol, or the symbol's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// Low half of a 64-bit distance.
    Low,
    /// High half of a 64-bit distance.
    High,
    /// Distance to the symbol in dwords, counted from the end of the instruction, as a 16-bit number
    /// (`s_call_b64`).
    Words,
    /// Not a distance but the 32-bit address of a variable in LDS.
    Address,
    /// Low half of the 64-bit address of a variable in device memory.
    AddressLow,
    /// High half of the 64-bit address of a variable in device memory.
    AddressHigh,
}

/// A reference from code to a global variable or a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelocRef {
    /// Target of the reference.
    pub to: Referent,
    /// Part of the distance that the operand holds.
    pub part: Distance,
    /// Addend.
    pub addend: i64,
}

/// Callee of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A function of the module (`ir::FuncId`).
    Func(u32),
    /// A call through an address. It may reach any function of the module that has this signature
    /// (`ir::SigId`).
    Pointer(u32),
}

/// Registers that hold the target address of a tail call. The code of a tail call may overwrite these two
/// registers, because no calling convention passes arguments in them or preserves them.
pub const TAIL_TARGET: RegRange = RegRange { first: Reg::sgpr(28), len: 2 };

/// Number of `CALL` operands with fixed registers.
pub const CALL_PINS: usize = 4;

/// What a call needs in addition to the operands of its `CALL` instruction: the callee, the hardware
/// registers of the operands, and the registers that the call clobbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// The callee.
    pub callee: Callee,
    /// For each operand of the `CALL`, the first hardware register in which it must be. The operands are the
    /// results, arguments, work-item ids and scalar arguments.
    pub pins: [Reg; CALL_PINS],
    /// Registers that the call may clobber, including results.
    pub clobbers: RegSet,
    /// Whether the callee may need a stack, so that the stack pointer and the scratch descriptor must be set.
    pub stack: bool,
    /// Whether the callee is in the same section and cannot be replaced by a function of another object. If
    /// so, the distance to the callee is known without a relocation.
    pub local: bool,
}

/// Arguments that an edge passes to the parameters of its target block, as a range of `MachFunc::args`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArgRange {
    /// First index in `MachFunc::args`.
    pub start: u32,
    /// Number of dwords.
    pub len: u32,
}

/// An edge of one of the two graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Target.
    pub to: MBlock,
    /// Arguments for the parameters of the target block: in a linear edge for the SGPR parameters, in a
    /// logical edge for the VGPR parameters.
    pub args: ArgRange,
}

/// Up to two successors.
pub type Edges = [Option<Edge>; 2];

/// A block.
#[derive(Clone, Debug, Default)]
pub struct MachBlock {
    /// Instructions: prologue, body and terminator group.
    pub insts: Vec<MachInst>,
    /// Number of instructions in the prologue.
    pub prologue: u32,
    /// Index of the first instruction of the terminator group, which narrows `exec` or branches. Equals
    /// `insts.len()` if the block has no such group.
    pub term: u32,
    /// SGPR parameters, from linear predecessors.
    pub sgpr_params: Vec<VReg>,
    /// VGPR parameters, from logical predecessors.
    pub vgpr_params: Vec<VReg>,
    /// Successors in the linear CFG.
    pub linear: Edges,
    /// Successors in the logical CFG.
    pub logical: Edges,
    /// Loop nesting depth, for spill weights.
    pub depth: u8,
    /// Whether wrong lanes are active in the block, for example those of the other side of a branch. This is
    /// harmless, because none of the block's instructions depends on EXEC. The change of EXEC before the
    /// block was therefore omitted.
    pub is_foreign: bool,
}

impl MachBlock {
    /// Returns the next entry of a jump table if this block is the head or an entry of a jump table. Returns
    /// `None` for the last entry and for other blocks.
    ///
    /// A jump table is a sequence of blocks: a head, which ends in `s_setpc_b64`, and directly after it the
    /// entries, each of which contains only an `s_branch`. The head jumps to an entry, or behind all entries.
    /// In the linear graph, each of these blocks has an edge to its own target and one to the next entry.
    pub fn next_entry(&self) -> Option<MBlock> {
        let (last, before) = self.insts.split_last()?;
        let row = last.op.row();
        let is_branch = |inst: &MachInst| inst.op.row().flags.contains(Flags::BRANCH);
        if !row.flags.contains(Flags::NO_FALLTHROUGH) || before.last().is_some_and(is_branch) {
            return None;
        }
        let target = last.operands().iter().find_map(|operand| match operand {
            Operand::Block(to) => Some(*to),
            _ => None,
        });
        self.linear.iter().flatten().map(|edge| edge.to).find(|&to| Some(to) != target)
    }
}

/// How a function is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FuncRole {
    /// Started by the packet processor.
    #[default]
    Kernel,
    /// A function that other code calls. Its frame begins at the stack pointer, and it returns to its caller.
    Callee,
}

/// A function of machine code.
#[derive(Clone, Debug, Default)]
pub struct MachFunc {
    /// Name.
    pub name: String,
    /// Blocks in layout order.
    pub blocks: PrimaryMap<MBlock, MachBlock>,
    /// Class of each virtual register.
    pub vregs: PrimaryMap<VReg, RegClass>,
    /// The virtual registers of all operands. An `Operand::Virt` names a range of this list.
    pub tuples: Vec<VReg>,
    /// The arguments of all edges. Each edge names a range of this list.
    pub args: Vec<VReg>,
    /// Virtual registers that have a value when the function begins, each with the hardware register in which
    /// the value arrives.
    pub inputs: Vec<(VReg, Reg)>,
    /// Reasons of instructions (`MachInst::note` is an index of this list).
    pub notes: Vec<Note>,
    /// Attributes of memory accesses.
    pub mems: Vec<MemRef>,
    /// References to module variables and functions.
    pub relocs: Vec<RelocRef>,
    /// Calls. The `mods.offset` of a `CALL` is its index here.
    pub calls: Vec<CallSite>,
    /// How the function is started.
    pub role: FuncRole,
    /// Number of lanes per wave for which a called function is compiled. `None` if it does not differ from
    /// the number for which the module is compiled.
    pub wave_size: Option<u32>,
    /// State in which the kernel starts: which inputs the hardware puts into registers.
    pub abi: Abi,
    /// Size of statically allocated LDS in bytes.
    pub lds_size: u32,
    /// Bytes of private memory that the function needs per work-item. Instruction selection counts the
    /// private variables, and the allocator adds the spill slots.
    pub scratch_size: u32,
    /// Size of explicit kernel arguments in bytes.
    pub kernarg_size: u32,
    /// Hidden arguments that the code reads.
    pub hidden: Hidden,
    /// Number of spilled dwords. Set by the allocator.
    pub spilled: SpillCount,
    /// One more than the highest VGPR in use. Set by the allocator.
    pub vgprs: u32,
    /// One more than the highest accumulation VGPR in use. Set by the allocator.
    pub agprs: u32,
    /// One more than the highest SGPR number in use. VCC and other special registers are not counted. Set by
    /// the allocator.
    pub sgprs: u32,
    /// Whether an instruction uses VCC, explicitly or implicitly. Set by the allocator.
    pub uses_vcc: bool,
    /// Whether the stack size that a kernel's calls need is unknown, because a callee is recursive or in
    /// another object file.
    pub dynamic_stack: bool,
    /// Registers whose value a call of this function may change. Set by the allocator.
    pub clobbers: RegSet,
    /// Records for debug information, if it was requested. The field `loc` of each instruction then has the
    /// number of a point instead of a source location. A point is an operation of the IR, numbered by
    /// selection ([`crate::track`]).
    pub track: Option<Box<MachTrack>>,
    /// Emptied lists, whose memory is used for new lists.
    pub spare: SpareLists,
}

/// Lists of removed blocks, kept for their memory.
#[derive(Clone, Debug, Default)]
pub struct SpareLists {
    /// Instruction lists.
    pub insts: Spare<MachInst>,
    /// Parameter lists.
    pub params: Spare<VReg>,
    /// Debug records.
    pub track: Option<Box<MachTrack>>,
}

impl SpareLists {
    /// Keeps the memory of a block's lists.
    pub fn give(&mut self, block: &mut MachBlock) {
        let MachBlock { insts, sgpr_params, vgpr_params, .. } = std::mem::take(block);
        self.insts.give(insts);
        self.params.give(sgpr_params);
        self.params.give(vgpr_params);
    }

    /// Returns a copy of a list of instructions. The new list has spare capacity for instructions that passes
    /// will insert.
    pub fn insts(&mut self, insts: &[MachInst]) -> Vec<MachInst> {
        let mut list = self.insts.take(insts.len() + insts.len() / 2 + 2);
        list.extend_from_slice(insts);
        list
    }

    /// Returns a list with these parameters.
    pub fn params(&mut self, params: &[VReg]) -> Vec<VReg> {
        let mut list = self.params.take(params.len());
        list.extend_from_slice(params);
        list
    }
}

/// Numbers of spilled dwords.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpillCount {
    /// SGPRs spilled to VGPR lanes.
    pub sgprs: u32,
    /// VGPRs spilled to accumulation VGPRs and scratch.
    pub vgprs: u32,
}

impl MachFunc {
    /// Removes all blocks and keeps their memory.
    pub fn clear(&mut self) {
        let mut old = std::mem::take(self);
        old.blocks.values_mut().for_each(|block| old.spare.give(block));
        let MachFunc { name, blocks, vregs, tuples, args, inputs, notes, mems, relocs, calls, .. } = &mut old;
        name.clear();
        blocks.clear();
        vregs.clear();
        tuples.clear();
        args.clear();
        inputs.clear();
        notes.clear();
        mems.clear();
        relocs.clear();
        calls.clear();
        let MachFunc { name, blocks, vregs, tuples, args, inputs, notes, mems, relocs, calls, spare, .. } =
            old;
        let lists = MachFunc::default();
        *self = MachFunc {
            name,
            blocks,
            vregs,
            tuples,
            args,
            inputs,
            notes,
            mems,
            relocs,
            calls,
            spare,
            ..lists
        };
    }

    /// Returns a copy of the function without its name and lists.
    pub(crate) fn bare(&self) -> MachFunc {
        let MachFunc { name, blocks, vregs, tuples, args, inputs, notes, mems, relocs, calls, spare, .. } =
            MachFunc::default();
        let track = None;
        MachFunc {
            name,
            blocks,
            vregs,
            tuples,
            args,
            inputs,
            notes,
            mems,
            relocs,
            calls,
            track,
            spare,
            ..*self
        }
    }

    /// Creates a virtual register of one dword.
    pub fn new_vreg(&mut self, class: RegClass) -> VReg {
        self.vregs.push(class)
    }

    /// Returns an operand for the given registers as one tuple.
    pub fn tuple(&mut self, regs: &[VReg]) -> Operand {
        let start = self.tuples.len() as u32;
        self.tuples.extend_from_slice(regs);
        Operand::Virt(Tuple { start, len: regs.len() as u8 })
    }

    /// Returns the registers of a tuple.
    pub fn regs(&self, tuple: Tuple) -> &[VReg] {
        &self.tuples[tuple.start as usize..][..usize::from(tuple.len)]
    }

    /// Stores edge arguments.
    pub fn arg_range(&mut self, regs: &[VReg]) -> ArgRange {
        let start = self.args.len() as u32;
        self.args.extend_from_slice(regs);
        ArgRange { start, len: regs.len() as u32 }
    }

    /// Returns the arguments of an edge.
    pub fn edge_args(&self, edge: &Edge) -> &[VReg] {
        &self.args[edge.args.start as usize..][..edge.args.len as usize]
    }

    /// Returns whether the function accesses its private memory in the way of called functions: through the
    /// descriptor in `s[0:3]` and the stack pointer. If so, the allocator must not use these registers for
    /// other values.
    pub fn has_stack(&self) -> bool {
        self.role == FuncRole::Callee || self.calls.iter().any(|call| call.stack)
    }

    /// Returns the call that an instruction performs.
    pub fn call_of(&self, inst: &MachInst) -> Option<&CallSite> {
        matches!(inst.op, op::CALL | op::TAIL_CALL)
            .then(|| self.calls.get(inst.mods.offset as usize))
            .flatten()
    }

    /// Stores a reason and returns its id.
    pub fn note(&mut self, note: Note) -> NoteId {
        self.notes.push(note);
        NoteId(self.notes.len() as u32 - 1)
    }

    /// Stores memory attributes and returns their id.
    pub fn mem_ref(&mut self, mem: MemRef) -> MemId {
        self.mems.push(mem);
        MemId(self.mems.len() as u32 - 1)
    }

    /// Replaces the state in which the kernel starts. The state says which registers the hardware fills, and
    /// with what. Each input of the function moves to the hardware register that holds its value in the new
    /// state. An input whose value the new state does not contain is removed.
    pub fn set_abi(&mut self, abi: Abi) {
        let (old, new) = (self.abi.layout(), abi.layout());
        self.inputs.retain_mut(|(_, reg)| {
            let from = old.iter().find(|slot| (slot.reg..slot.reg.offset(u16::from(slot.len))).contains(reg));
            let Some(from) = from else { return true };
            let Some(to) = new.iter().find(|slot| slot.input == from.input) else { return false };
            *reg = Reg(reg.0 - from.reg.0 + to.reg.0);
            true
        });
        self.abi = abi;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_follow_a_change() {
        let before = Abi { kernarg_ptr: true, workgroup_id: [true, false, false], ..Abi::default() };
        let mut func = MachFunc { abi: before, ..MachFunc::default() };
        for (class, reg) in
            [(RegClass::Sgpr, Reg(1)), (RegClass::Sgpr, Reg(2)), (RegClass::Vgpr, Reg::vgpr(0))]
        {
            let vreg = func.new_vreg(class);
            func.inputs.push((vreg, reg));
        }
        func.set_abi(Abi { private_segment_buffer: true, private_segment_wave_offset: true, ..before });
        let regs: Vec<u16> = func.inputs.iter().map(|(_, reg)| reg.0).collect();
        assert_eq!(regs, [5, 6, 256]);
        func.set_abi(Abi { workgroup_id: [false; 3], ..func.abi });
        let regs: Vec<u16> = func.inputs.iter().map(|(_, reg)| reg.0).collect();
        assert_eq!(regs, [5, 256]);
    }
}
