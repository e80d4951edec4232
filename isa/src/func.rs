//! A machine function: a linear list of blocks with two control-flow graphs.
//!
//! * The **linear CFG** describes the wavefront's program counter. SGPRs follow it.
//! * The **logical CFG** describes the individual lanes. VGPRs follow it: a lane whose `exec` bit is clear
//!   does not write, so the lanes on the other side of a divergent branch keep their values.
//!
//! Block parameters exist on both graphs: SGPR parameters receive arguments from linear predecessors, VGPR
//! parameters from logical predecessors. No edge of either graph is critical *if it carries arguments*.
//!
//! A block consists, in this order, of the **prologue** (instructions that set `exec` for the block; VGPR
//! moves at the block's beginning go after it), the body, and the **terminator group** (from the first
//! instruction that narrows `exec` or branches; VGPR moves at the block's end go before it, SGPR moves before
//! the first branch).

use crate::hidden::Hidden;
use crate::inst::MachInst;
use crate::operand::{Operand, RegRange, Tuple};
use crate::reg::{Reg, RegClass, VReg};
use crate::regset::RegSet;
use crate::spare::Spare;
use crate::table::{Flags, op};
use crate::track::MachTrack;
use cranelift_entity::{PrimaryMap, entity_impl};

/// A machine block. The order of the indices is the layout order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MBlock(u32);
entity_impl!(MBlock, "bb");

macro_rules! optional_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// No value.
            pub const NONE: $name = $name(u32::MAX);

            /// Returns the index; `None` for `NONE`.
            pub fn index(self) -> Option<usize> {
                (self != Self::NONE).then_some(self.0 as usize)
            }
        }
    };
}
optional_id!(
    /// Index into `MachFunc::notes`.
    NoteId
);
optional_id!(
    /// Index into `MachFunc::mems`.
    MemId
);

/// Reason for an instruction. Printed in annotated assembly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// `s_waitcnt`: the counter, the operation it waits for, and the instruction that needs the result. The
    /// text is created when it is printed.
    Wait {
        /// "vmcnt", "lgkmcnt" or "expcnt".
        counter: &'static str,
        /// Mnemonic of the oldest outstanding operation that is waited for.
        producer: &'static str,
        /// First register (dword) concerned, if any.
        reg: Option<Reg>,
        /// Mnemonic of the instruction that needs the result, or the rule that requires the wait ("release at
        /// agent scope").
        consumer: &'static str,
    },
    /// Mitigation of a hazard between two instructions: the hazard's name and the number of wait states that
    /// it requires; 0 if an instruction mitigates it.
    Hazard {
        /// Name of the rule.
        rule: &'static str,
        /// Number of wait states required.
        states: u8,
    },
    /// A cache operation or wait of the memory model: the row of its table ("load atomic acquire agent
    /// global").
    Coherence(&'static str),
    /// Register allocation: "spill", "reload", "copy".
    Alloc(&'static str),
    /// Any other reason.
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

/// Set of address spaces that a synchronisation affects or an access may touch, with bit `1 << space number`
/// for each (1 global, 3 shared, 5 private; generic is all three).
pub type SpaceSet = u8;
/// Global memory.
pub const SPACE_GLOBAL: SpaceSet = 1 << 1;
/// LDS.
pub const SPACE_SHARED: SpaceSet = 1 << 3;
/// Scratch.
pub const SPACE_PRIVATE: SpaceSet = 1 << 5;

/// Meaning of a memory instruction or `FENCE` pseudo-instruction for the memory model.
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
    /// Whether it is ordered only within `spaces` (`_one_as`).
    pub one_as: bool,
    /// `volatile`.
    pub volatile: bool,
    /// `nontemporal`.
    pub nontemporal: bool,
    /// Alias class. Accesses with two different non-zero classes never overlap.
    pub alias: u16,
}

/// Something to which code refers by its distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Referent {
    /// A global variable of the module (`ir::Global`).
    Global(u32),
    /// A function of the module (`ir::FuncId`).
    Func(u32),
}

/// The part of a distance, or the address, that an operand holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// Low half of a 64-bit distance.
    Low,
    /// High half of a 64-bit distance.
    High,
    /// 16-bit distance in dwords from the end of the instruction (`s_call_b64`).
    Words,
    /// Not a distance but the 32-bit address of a variable in LDS.
    Address,
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
    /// Any function with this signature of the module (`ir::SigId`), called through an address.
    Pointer(u32),
}

/// Registers that hold the address of the target of a tail call. No calling convention passes arguments in
/// them or preserves them.
pub const TAIL_TARGET: RegRange = RegRange { first: Reg::sgpr(28), len: 2 };

/// Number of `CALL` operands with fixed registers.
pub const CALL_PINS: usize = 4;

/// A call, with the information that is not in the operands of its `CALL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// The callee.
    pub callee: Callee,
    /// First register of each operand: results, arguments, work-item ids, scalar arguments.
    pub pins: [Reg; CALL_PINS],
    /// Registers that the call may clobber, including results.
    pub clobbers: RegSet,
    /// Whether the call needs the stack.
    pub stack: bool,
    /// Whether the callee's code is in the same section and is not visible to other objects, so that its
    /// distance is known.
    pub local: bool,
}

/// Arguments of an edge for block parameters: a slice of `MachFunc::args`.
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
    /// Arguments for the target's parameters of the graph's register class.
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
    /// Index of the first instruction of the terminator group (`insts.len()` if there is none).
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
    /// Whether the block is executed without the change of EXEC (to the other lanes of a branch, or to fewer
    /// lanes) that the control flow would require, because none of its instructions depends on EXEC.
    pub is_foreign: bool,
}

impl MachBlock {
    /// Returns the next entry of a jump table, if this block is the head or an entry of the table.
    /// `s_setpc_b64` jumps either to an entry or past it. An entry directly follows the previous one and has
    /// no instruction before its own `s_branch`.
    ///
    /// In the linear graph, a jump table is a chain of blocks, each with one edge to its target and one to
    /// the next entry.
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

/// Registers that the hardware initialises before the first instruction, as requested in the kernel
/// descriptor (seed 000, lines 2567 and 2902).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abi {
    /// User SGPRs: private segment buffer (4 dwords).
    pub private_segment_buffer: bool,
    /// Dispatch packet pointer (2).
    pub dispatch_ptr: bool,
    /// Queue pointer (2).
    pub queue_ptr: bool,
    /// Kernarg segment pointer (2).
    pub kernarg_ptr: bool,
    /// Dispatch id (2).
    pub dispatch_id: bool,
    /// Flat scratch init (2).
    pub flat_scratch_init: bool,
    /// System SGPRs: work-group id x, y, z (1 each).
    pub workgroup_id: [bool; 3],
    /// Scratch wave offset (1).
    pub private_segment_wave_offset: bool,
    /// VGPRs with work-item ids: 0 for x, 1 for x and y, 2 for x, y and z.
    pub workitem_ids: u8,
}

/// How a function is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FuncRole {
    /// Started by the packet processor.
    #[default]
    Kernel,
    /// Called by other code. Its stack starts at the stack pointer, and it returns.
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
    /// Storage of the registers of `Operand::Virt`.
    pub tuples: Vec<VReg>,
    /// Storage of edge arguments.
    pub args: Vec<VReg>,
    /// Virtual registers that have a value on entry, and the hardware registers in which they arrive.
    pub inputs: Vec<(VReg, Reg)>,
    /// Reasons of instructions.
    pub notes: Vec<Note>,
    /// Attributes of memory accesses.
    pub mems: Vec<MemRef>,
    /// References to module variables and functions.
    pub relocs: Vec<RelocRef>,
    /// Calls. The `mods.offset` of a `CALL` is its index here.
    pub calls: Vec<CallSite>,
    /// How the function is started.
    pub role: FuncRole,
    /// Wave size of a called function, if it differs from the module's wave size.
    pub wave_size: Option<u32>,
    /// Entry state.
    pub abi: Abi,
    /// Size of statically allocated LDS in bytes.
    pub lds_size: u32,
    /// Size of scratch memory per work-item for private variables, in bytes; the allocator adds spill slots.
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
    /// One more than the highest numbered SGPR in use, not counting VCC and other special registers. Set by
    /// the allocator.
    pub sgprs: u32,
    /// Whether an instruction uses VCC, explicitly or implicitly. Set by the allocator.
    pub uses_vcc: bool,
    /// Whether the stack size of a kernel's calls is unknown, because there is recursion or code of another
    /// object.
    pub dynamic_stack: bool,
    /// Registers that a call of the function may clobber. Set by the allocator.
    pub clobbers: RegSet,
    /// Debug records, if debug information was requested. The `loc` of each instruction is then a point of
    /// these records.
    pub track: Option<Box<MachTrack>>,
    /// Memory of removed lists, for reuse.
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

    /// Returns a list with these instructions and room for instructions that passes insert.
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

    /// Returns whether the function uses the stack as called functions do: through `s[0:3]` and the stack
    /// pointer, which are then reserved.
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
}
