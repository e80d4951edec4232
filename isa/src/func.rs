//! A machine function: linear list of blocks, two control-flow graphs over it.
//!
//! * The **linear CFG** is what the wavefront's program counter does. SGPRs live on it.
//! * The **logical CFG** is what each lane does. VGPRs live on it: a write under a cleared `exec` bit does not happen,
//!   so lanes of the other side of a divergent branch keep their values.
//!
//! Block parameters exist on both: SGPR parameters receive arguments from linear predecessors, VGPR parameters from
//! logical ones. No edge of either graph is critical *when it carries arguments*.
//!
//! Within a block, in order: the **prologue** (instructions that set `exec` for the block; VGPR moves that land at the
//! block's head go after it), the body, and the **terminator group** (from the first instruction that narrows `exec`
//! or branches; VGPR moves that land at the block's end go before it, SGPR moves before the first branch).

use crate::hidden::Hidden;
use crate::inst::MachInst;
use crate::operand::{Operand, RegRange, Tuple};
use crate::reg::{Reg, RegClass, VReg};
use crate::regset::RegSet;
use crate::spare::Spare;
use crate::table::{Flags, op};
use crate::track::MachTrack;
use cranelift_entity::{PrimaryMap, entity_impl};

/// A machine block. Layout order is index order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MBlock(u32);
entity_impl!(MBlock, "bb");

macro_rules! optional_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// Nothing.
            pub const NONE: $name = $name(u32::MAX);

            /// The index, unless it is `NONE`.
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

/// Why an instruction is there. Printed in annotated assembly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// `s_waitcnt`: `counter`, what was issued and who needs it, as text made when asked for.
    Wait {
        /// "vmcnt", "lgkmcnt" or "expcnt".
        counter: &'static str,
        /// Mnemonic of the oldest operation waited for.
        producer: &'static str,
        /// First dword register concerned, if any.
        reg: Option<Reg>,
        /// Mnemonic of the instruction that needs it, or the rule ("release at agent scope").
        consumer: &'static str,
    },
    /// What keeps two instructions apart: the hazard's name and the wait states it asks for; 0 where an instruction mends it.
    Hazard {
        /// Name of the rule.
        rule: &'static str,
        /// Wait states required.
        states: u8,
    },
    /// A cache operation or wait of the memory model: row of the table ("load atomic acquire agent global").
    Coherence(&'static str),
    /// Register allocation: "spill", "reload", "copy".
    Alloc(&'static str),
    /// Anything else.
    Text(&'static str),
    /// A reason that was read from a text.
    Read(String),
}

/// Orders, as `ir::Order`.
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

/// Scopes, as `ir::Scope`.
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

/// Address spaces a synchronisation concerns or an access may touch, bit `1 << space number`
/// (1 global, 3 shared, 5 private; generic is all three).
pub type SpaceSet = u8;
/// Global memory.
pub const SPACE_GLOBAL: SpaceSet = 1 << 1;
/// LDS.
pub const SPACE_SHARED: SpaceSet = 1 << 3;
/// Scratch.
pub const SPACE_PRIVATE: SpaceSet = 1 << 5;

/// What a memory instruction (or a `FENCE` pseudo) means to the memory model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemRef {
    /// Ordering.
    pub order: SyncOrder,
    /// Ordering of a failed compare-and-swap.
    pub fail: SyncOrder,
    /// Scope.
    pub scope: SyncScope,
    /// Spaces accessed, or ordered by a fence.
    pub spaces: SpaceSet,
    /// Ordered only within `spaces` (`_one_as`).
    pub one_as: bool,
    /// `volatile`.
    pub volatile: bool,
    /// `nontemporal`.
    pub nontemporal: bool,
    /// Non-zero classes never overlap.
    pub alias: u16,
}

/// What code refers to by its distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Referent {
    /// A module variable (`ir::Global`).
    Global(u32),
    /// A function of the module (`ir::FuncId`).
    Func(u32),
}

/// What of the distance to something an operand holds, or its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// The low half of 64 bits.
    Low,
    /// Their high half.
    High,
    /// 16 bits that count dwords from the end of the instruction (`s_call_b64`).
    Words,
    /// No distance: the 32-bit address of a variable in LDS.
    Address,
}

/// A reference from code to a module variable or a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelocRef {
    /// To what.
    pub to: Referent,
    /// What of the distance.
    pub part: Distance,
    /// Added to the distance.
    pub addend: i64,
}

/// Who is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A function of the module (`ir::FuncId`).
    Func(u32),
    /// Whatever an address leads to, by a signature of the module (`ir::SigId`).
    Pointer(u32),
}

/// Where a function that ends with a jump to another has that one's address: registers that no convention has arguments in, or keeps.
pub const TAIL_TARGET: RegRange = RegRange { first: Reg::sgpr(28), len: 2 };

/// Operands of a `CALL` that have a register of their own.
pub const CALL_PINS: usize = 4;

/// A call: what the operands of a `CALL` say little of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// Who is called.
    pub callee: Callee,
    /// The first register of each operand: results, arguments, work-item ids, scalar arguments.
    pub pins: [Reg; CALL_PINS],
    /// What the call may change, results included.
    pub clobbers: RegSet,
    /// Whether the stack has to be there for it.
    pub stack: bool,
    /// Whether the callee's code is in the same section and known to nobody else, so that its distance is known.
    pub local: bool,
}

/// Where an argument list of block parameters begins: a slice of `MachFunc::args`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArgRange {
    /// First index.
    pub start: u32,
    /// Number of dwords.
    pub len: u32,
}

/// An edge of one of the graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Target.
    pub to: MBlock,
    /// Values for the target's parameters of the graph's register class.
    pub args: ArgRange,
}

/// At most two successors.
pub type Edges = [Option<Edge>; 2];

/// A block.
#[derive(Clone, Debug, Default)]
pub struct MachBlock {
    /// Instructions: prologue, body, terminator group.
    pub insts: Vec<MachInst>,
    /// Number of instructions of the prologue.
    pub prologue: u32,
    /// Index of the first instruction of the terminator group (`insts.len()` if there is none).
    pub term: u32,
    /// SGPR parameters, from linear predecessors.
    pub sgpr_params: Vec<VReg>,
    /// VGPR parameters, from logical predecessors.
    pub vgpr_params: Vec<VReg>,
    /// Successors of the program counter.
    pub linear: Edges,
    /// Successors of a lane.
    pub logical: Edges,
    /// Loop nesting depth, for spill weights.
    pub depth: u8,
    /// Nothing in it depends on EXEC, which would have been switched to the other lanes of a branch for it, or narrowed, and was not.
    pub is_foreign: bool,
}

impl MachBlock {
    /// The next entry of a jump table, of which this block is the head or an entry: `s_setpc_b64` goes there, or would go by if
    /// this entry were not meant. It has no instruction in front of its own `s_branch`, and stands right behind.
    ///
    /// In the linear graph a table is a row of blocks, each with an edge to its target and one to the next entry.
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

/// What the hardware puts into registers before the first instruction, and what the descriptor must ask for
/// (seed 000, lines 2567 and 2902).
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
    /// VGPRs with work-item ids: 0 x, 1 x y, 2 x y z.
    pub workitem_ids: u8,
}

/// What a function is to those who run it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FuncRole {
    /// The packet processor starts it.
    #[default]
    Kernel,
    /// Other code calls it. Its stack begins where the stack pointer says, and it returns.
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
    /// Storage of `Operand::Virt`.
    pub tuples: Vec<VReg>,
    /// Storage of edge arguments.
    pub args: Vec<VReg>,
    /// Registers with a value on entry.
    pub inputs: Vec<(VReg, Reg)>,
    /// Reasons.
    pub notes: Vec<Note>,
    /// Memory attributes.
    pub mems: Vec<MemRef>,
    /// References to module variables and functions.
    pub relocs: Vec<RelocRef>,
    /// Calls; that of a `CALL` by its `mods.offset`.
    pub calls: Vec<CallSite>,
    /// What it is.
    pub role: FuncRole,
    /// Lanes of a wavefront that a function which is called is for, if that is not the module's number.
    pub wave_size: Option<u32>,
    /// Entry state.
    pub abi: Abi,
    /// Bytes of LDS that are laid out statically.
    pub lds_size: u32,
    /// Bytes of scratch per work-item for private variables; spill slots are added by the allocator.
    pub scratch_size: u32,
    /// Bytes of explicit kernel arguments.
    pub kernarg_size: u32,
    /// Arguments behind them that the code reads.
    pub hidden: Hidden,
    /// Filled by the allocator: dwords spilled.
    pub spilled: SpillCount,
    /// Filled by the allocator: one more than the highest VGPR in use.
    pub vgprs: u32,
    /// Filled by the allocator: one more than the highest accumulation VGPR in use.
    pub agprs: u32,
    /// Filled by the allocator: one more than the highest numbered SGPR in use (without VCC and its kin).
    pub sgprs: u32,
    /// Whether VCC is used by an instruction, explicitly or not. Filled by the allocator.
    pub uses_vcc: bool,
    /// Nobody knows how much stack a kernel's calls take: there is recursion, or code of somebody else.
    pub dynamic_stack: bool,
    /// Filled by the allocator: what a call of the function may change.
    pub clobbers: RegSet,
    /// What debuggers are told, if somebody asked; instructions have points as their places then.
    pub track: Option<Box<MachTrack>>,
    /// Memory for lists of blocks.
    pub spare: SpareLists,
}

/// Lists of blocks that are gone.
#[derive(Clone, Debug, Default)]
pub struct SpareLists {
    /// Of instructions.
    pub insts: Spare<MachInst>,
    /// Of parameters.
    pub params: Spare<VReg>,
    /// What debuggers were told.
    pub track: Option<Box<MachTrack>>,
}

impl SpareLists {
    /// Keeps the memory of a block.
    pub fn give(&mut self, block: &mut MachBlock) {
        let MachBlock { insts, sgpr_params, vgpr_params, .. } = std::mem::take(block);
        self.insts.give(insts);
        self.params.give(sgpr_params);
        self.params.give(vgpr_params);
    }

    /// A list of these instructions, with room for what passes add.
    pub fn insts(&mut self, insts: &[MachInst]) -> Vec<MachInst> {
        let mut list = self.insts.take(insts.len() + insts.len() / 2 + 2);
        list.extend_from_slice(insts);
        list
    }

    /// A list of these parameters.
    pub fn params(&mut self, params: &[VReg]) -> Vec<VReg> {
        let mut list = self.params.take(params.len());
        list.extend_from_slice(params);
        list
    }
}

/// Spilled dwords.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpillCount {
    /// SGPRs, to VGPR lanes.
    pub sgprs: u32,
    /// VGPRs, to accumulation VGPRs and scratch.
    pub vgprs: u32,
}

impl MachFunc {
    /// Makes it a function without blocks, which keeps its memory.
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

    /// The function without its name and its lists.
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

    /// A new one-dword virtual register.
    pub fn new_vreg(&mut self, class: RegClass) -> VReg {
        self.vregs.push(class)
    }

    /// An operand that names the given registers as one tuple.
    pub fn tuple(&mut self, regs: &[VReg]) -> Operand {
        let start = self.tuples.len() as u32;
        self.tuples.extend_from_slice(regs);
        Operand::Virt(Tuple { start, len: regs.len() as u8 })
    }

    /// The registers of a tuple.
    pub fn regs(&self, tuple: Tuple) -> &[VReg] {
        &self.tuples[tuple.start as usize..][..usize::from(tuple.len)]
    }

    /// Stores edge arguments.
    pub fn arg_range(&mut self, regs: &[VReg]) -> ArgRange {
        let start = self.args.len() as u32;
        self.args.extend_from_slice(regs);
        ArgRange { start, len: regs.len() as u32 }
    }

    /// Arguments of an edge.
    pub fn edge_args(&self, edge: &Edge) -> &[VReg] {
        &self.args[edge.args.start as usize..][..edge.args.len as usize]
    }

    /// Whether it uses the stack as functions do: through `s[0:3]` and the stack pointer, which belong to nobody then.
    pub fn has_stack(&self) -> bool {
        self.role == FuncRole::Callee || self.calls.iter().any(|call| call.stack)
    }

    /// The call that an instruction is.
    pub fn call_of(&self, inst: &MachInst) -> Option<&CallSite> {
        matches!(inst.op, op::CALL | op::TAIL_CALL)
            .then(|| self.calls.get(inst.mods.offset as usize))
            .flatten()
    }

    /// Stores a reason.
    pub fn note(&mut self, note: Note) -> NoteId {
        self.notes.push(note);
        NoteId(self.notes.len() as u32 - 1)
    }

    /// Stores memory attributes.
    pub fn mem_ref(&mut self, mem: MemRef) -> MemId {
        self.mems.push(mem);
        MemId(self.mems.len() as u32 - 1)
    }
}
