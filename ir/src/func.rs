//! Modules and functions, and all methods that change them.

use crate::describe::Description;
use crate::edit::{BlockData, InstList};
use crate::entity::{Block, FuncId, Global, Inst, SigId, Slot, Switch, Value};
use crate::op::Op;
use crate::state::InitialState;
use crate::track::Track;
use crate::types::{Space, Type};
use cranelift_entity::{EntityList, ListPool, PrimaryMap, SecondaryMap};
use smallvec::SmallVec;
use smol_str::SmolStr;

/// A list of values in the function's pool.
pub type ValueList = EntityList<Value>;

/// A list of values outside of the function's pool of lists. The list stays valid while the function changes.
pub type Values = SmallVec<[Value; 8]>;

/// Position in the source text: a byte offset plus one. 0 means that there is no position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SrcLoc(pub u32);

/// Definition of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDef {
    /// The value is a result of the instruction. The number counts the instruction's results from 0.
    Result(Inst, u16),
    /// The value is a parameter of the block. The number counts the block's parameters from 0.
    Param(Block, u16),
}

/// Type and definition of a value.
#[derive(Clone, Copy, Debug)]
pub struct ValueData {
    /// Type.
    pub ty: Type,
    /// Definition.
    pub def: ValueDef,
}

/// Operation, arguments and results of an instruction. Results are consecutive values.
#[derive(Clone, Debug)]
pub struct InstData {
    /// Operation.
    pub op: Op,
    /// Arguments, in the order of the table in [`crate::op`].
    pub args: ValueList,
    /// First result; meaningful if `results > 0`.
    pub first: Value,
    /// Number of results.
    pub results: u16,
    /// Block that contains the instruction. An instruction that was removed from the code still names the
    /// block that contained it last.
    pub block: Block,
    /// Source location.
    pub loc: SrcLoc,
}

/// A private variable.
#[derive(Clone, Copy, Debug)]
pub struct SlotData {
    /// Size in bytes.
    pub size: u32,
    /// Alignment in bytes, a power of two.
    pub align: u32,
}

/// A range of values of a switch operand that lead to the same successor: `lo..=hi`, as unsigned numbers of
/// the operand's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Smallest value.
    pub lo: u64,
    /// Largest value.
    pub hi: u64,
    /// Number of the successor.
    pub edge: u32,
}

/// A successor of a switch.
#[derive(Clone, Copy, Debug)]
pub struct SwitchEdge {
    /// The block.
    pub to: Block,
    /// End of the arguments for this edge in the instruction's argument list. The arguments start where the
    /// arguments of the previous edge end.
    pub args_end: u32,
}

/// Successors and cases of a switch.
#[derive(Clone, Debug, Default)]
pub struct SwitchData {
    /// Successors. The first one is the default successor, for all values that no case contains.
    pub edges: Vec<SwitchEdge>,
    /// Cases in ascending order; the ranges do not overlap.
    pub cases: Vec<Case>,
}

impl SwitchData {
    /// Returns the number of the successor for a value.
    pub fn edge_of(&self, value: u64) -> usize {
        let after = self.cases.partition_point(|case| case.lo <= value);
        let case = after.checked_sub(1).map(|n| &self.cases[n]).filter(|case| value <= case.hi);
        case.map_or(0, |case| case.edge as usize)
    }
}

/// Unrolling requested by `#[unroll]` and related attributes, stored for the loop's header block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnrollHint {
    /// No attribute: the compiler decides.
    #[default]
    None,
    /// `#[unroll]`: unroll completely if the trip count is a constant.
    Full,
    /// `#[unroll(n)]`: unroll by the factor n.
    By(u16),
    /// `#[no_unroll]`: do not unroll.
    Never,
}

/// Visibility of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// Only the own module can call the function. The host can still launch a kernel with this linkage.
    #[default]
    Local,
    /// Other objects can call the function by its name, so not all of its callers are known.
    Export,
    /// Defined in another object; only declared here.
    Extern,
}

/// Request of the source about inlining a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Inline {
    /// The compiler decides.
    #[default]
    Auto,
    /// `#[inline]`: calls are inlined if possible.
    Always,
    /// `#[inline(never)]`: calls are not inlined.
    Never,
}

/// Types of the parameters and results of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Signature {
    /// Types of the parameters.
    pub params: Vec<Type>,
    /// Types of the results.
    pub results: Vec<Type>,
}

/// A function or kernel. `layout` has its blocks in order; the first one is the entry. A function that is
/// only declared has an empty layout. It has one block outside of the layout, for its parameters.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// Name without decoration.
    pub name: String,
    /// Visibility.
    pub linkage: Linkage,
    /// Whether calls should be inlined.
    pub inline: Inline,
    /// Types of the results; empty for a kernel.
    pub results: Vec<Type>,
    /// Properties of a kernel; `None` for other functions.
    pub kernel: Option<KernelInfo>,
    /// Order of the blocks that are part of the function.
    pub layout: Vec<Block>,
    /// All blocks that were ever created.
    pub blocks: PrimaryMap<Block, BlockData>,
    /// All instructions that were ever created.
    pub insts: PrimaryMap<Inst, InstData>,
    /// All values that were ever created.
    pub values: PrimaryMap<Value, ValueData>,
    /// Private variables (stack slots).
    pub slots: PrimaryMap<Slot, SlotData>,
    /// Cases of switches; each entry belongs to one instruction.
    pub switches: PrimaryMap<Switch, SwitchData>,
    /// Storage of every `ValueList`.
    pub pool: ListPool<Value>,
    /// Unrolling hint of each loop, by its header.
    pub unroll: SecondaryMap<Block, UnrollHint>,
    /// Source location of each loop with an unrolling hint, by its header. Not part of the text form.
    pub unroll_at: SecondaryMap<Block, SrcLoc>,
    /// Debug records of statements and variables, if debug information was requested. Not part of the text
    /// form.
    pub track: Option<Box<Track>>,
    /// Debug records that are no longer used. They are kept so that their memory can be reused.
    spare_track: Option<Box<Track>>,
    /// Empty instruction lists of removed blocks, kept so that their memory can be reused. The last list is
    /// used next.
    spare: Vec<InstList>,
    /// Empty parameter list, kept so that its memory can be reused if the function becomes a kernel again.
    spare_params: Vec<KernelParam>,
    /// Creation number: position of the function in the order in which the module's functions were created.
    /// The number finds a removed function whose memory can be reused.
    made: u32,
}

/// How a kernel argument is passed. Determines `.value_kind` in the metadata (LLVM's AMDGPU guide, seed 000,
/// line 2440).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// Copied into the kernarg segment.
    ByValue,
    /// Pointer to global, constant or generic memory.
    GlobalBuffer,
    /// Offset of dynamically sized LDS.
    DynamicShared,
    /// Pointer to an opaque object, whose contents only the host and its library know.
    Opaque(Opaque),
}

/// Kind of an opaque object, which a kernel can receive but not look into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Opaque {
    Image(Access),
    Sampler,
    Queue,
    Pipe(Access),
}

/// Access that a kernel has to an image or a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Access {
    ReadOnly,
    WriteOnly,
    ReadWrite,
}

impl Opaque {
    /// Returns the name used in the metadata.
    pub const fn name(self) -> &'static str {
        match self {
            Opaque::Image(_) => "image",
            Opaque::Sampler => "sampler",
            Opaque::Queue => "queue",
            Opaque::Pipe(_) => "pipe",
        }
    }

    /// Returns the access to an image or a pipe.
    pub const fn access(self) -> Option<Access> {
        match self {
            Opaque::Image(access) | Opaque::Pipe(access) => Some(access),
            Opaque::Sampler | Opaque::Queue => None,
        }
    }

    /// Returns the kind with another access if it is an image or a pipe. Returns other kinds unchanged.
    pub const fn with_access(self, access: Access) -> Opaque {
        match self {
            Opaque::Image(_) => Opaque::Image(access),
            Opaque::Pipe(_) => Opaque::Pipe(access),
            other => other,
        }
    }

    /// Returns the kind with the given name; images and pipes are read-only.
    pub fn from_name(name: &str) -> Option<Opaque> {
        let read = Access::ReadOnly;
        [Opaque::Image(read), Opaque::Sampler, Opaque::Queue, Opaque::Pipe(read)]
            .into_iter()
            .find(|opaque| opaque.name() == name)
    }
}

impl Access {
    /// Returns the name used in the metadata.
    pub const fn name(self) -> &'static str {
        match self {
            Access::ReadOnly => "read_only",
            Access::WriteOnly => "write_only",
            Access::ReadWrite => "read_write",
        }
    }

    /// Returns the access with the given name.
    pub fn from_name(name: &str) -> Option<Access> {
        [Access::ReadOnly, Access::WriteOnly, Access::ReadWrite]
            .into_iter()
            .find(|access| access.name() == name)
    }
}

/// A kernel parameter, as declared by the user.
#[derive(Clone, Debug)]
pub struct KernelParam {
    /// Name.
    pub name: SmolStr,
    /// Type as written in the source, for display.
    pub type_name: SmolStr,
    /// Element type for `.value_type` and typed buffers: `i8 u8 i16 u16 f16 i32 u32 f32 i64 u64 f64 struct`.
    pub elem: &'static str,
    /// Number of vector lanes of the value or pointee (1 for scalars).
    pub lanes: u8,
    /// How the argument is passed.
    pub kind: ParamKind,
    /// Address space of a pointer.
    pub space: Option<Space>,
    /// Byte offset in the kernarg segment.
    pub offset: u32,
    /// Size in the kernarg segment, in bytes.
    pub size: u32,
    /// Alignment in the kernarg segment, in bytes.
    pub align: u32,
    /// Alignment of the pointee in bytes, for dynamic LDS and pointers.
    pub pointee_align: u32,
    /// Whether it is a `const` pointer.
    pub is_const: bool,
    /// Whether it is a `restrict` pointer.
    pub is_restrict: bool,
    /// Whether it is a `volatile` pointer.
    pub is_volatile: bool,
}

/// Properties of a kernel.
#[derive(Clone, Debug, Default)]
pub struct KernelInfo {
    /// Source location of the kernel's name. Not part of the text form, because the compiled code does not
    /// depend on it.
    pub loc: SrcLoc,
    /// Parameters in order.
    pub params: Vec<KernelParam>,
    /// Size of the explicit arguments in bytes.
    pub kernarg_size: u32,
    /// `#[workgroup_size(x, y, z)]`
    pub reqd_workgroup_size: Option<[u32; 3]>,
    /// `#[workgroup_size_hint(x, y, z)]`
    pub workgroup_size_hint: Option<[u32; 3]>,
    /// `#[max_workgroup_size(n)]`
    pub max_workgroup_size: Option<u32>,
    /// `#[waves_per_eu(min, max)]`
    pub waves_per_eu: Option<(u32, Option<u32>)>,
    /// `#[num_vgpr(n)]`
    pub num_vgpr: Option<u32>,
    /// `#[num_sgpr(n)]`
    pub num_sgpr: Option<u32>,
    /// `#[vec_type_hint(T)]`
    pub vec_type_hint: Option<String>,
    /// `#[require(dot)]`: dot products must be single instructions.
    pub requires_dot: bool,
    /// Requested initial state of its wavefronts.
    pub state: InitialState,
}

impl KernelInfo {
    /// Returns the maximum number of work-items in a work-group of this kernel, which is 1024 by default
    /// (LLVM's AMDGPU guide, seed 000, line 2450).
    pub fn max_flat_workgroup_size(&self) -> u32 {
        match (self.reqd_workgroup_size, self.max_workgroup_size) {
            (Some([x, y, z]), _) => x * y * z,
            (None, Some(n)) => n,
            (None, None) => 1024,
        }
    }

    /// Returns whether the kernel requests fewer registers than its work-group size permits.
    pub fn limits_registers(&self) -> bool {
        let waves = self.waves_per_eu.map_or(1, |(least, _)| least);
        self.num_vgpr.is_some() || self.num_sgpr.is_some() || waves > 1
    }
}

/// A global variable of the module.
#[derive(Clone, Debug)]
pub struct GlobalData {
    /// Name; unique in the module.
    pub name: SmolStr,
    /// Address space: `Shared`, `Constant` or `Global`.
    pub space: Space,
    /// Size in bytes.
    pub size: u32,
    /// Alignment in bytes, a power of two.
    pub align: u32,
    /// Initial bytes of `constant` and `global` variables (little endian); empty means all zeros.
    pub init: Vec<u8>,
    /// Whether the variable is `shared dyn`, so that the dispatch determines its size.
    pub dynamic: bool,
    /// Whether another object defines the variable and this module only declares it.
    pub external: bool,
    /// Whether the linker chooses the variable's address in LDS, so that the code needs a relocation. Not
    /// part of the text form, because code generation sets this field.
    pub linked: bool,
    /// Offsets at which the variable contains addresses of functions, in ascending order. The initial bytes
    /// there are zeros.
    pub funcs: Vec<(u32, FuncId)>,
}

/// Format of a `printf` call. The call writes its number and its arguments into the buffer of the runtime
/// (`Pos::PrintfBuffer`). The buffer starts with two dwords: the number of bytes in use after these dwords,
/// and the number of bytes available there (LLVM's AMDGPU guide, seed 000, lines 2382 and 2478).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Format {
    /// Size in bytes of each argument; in the buffer, each argument takes whole dwords.
    pub sizes: Vec<u32>,
    /// OpenCL format string.
    pub text: String,
}

impl Format {
    /// Returns the number of bytes that a call uses in the buffer.
    pub fn bytes(&self) -> u32 {
        self.sizes.iter().fold(4, |sum: u32, size| sum.saturating_add(size.div_ceil(4).saturating_mul(4)))
    }
}

/// A translation unit.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Functions and kernels.
    pub funcs: PrimaryMap<FuncId, Function>,
    /// Global variables.
    pub globals: PrimaryMap<Global, GlobalData>,
    /// Signatures of calls through addresses, without duplicates.
    pub sigs: PrimaryMap<SigId, Signature>,
    /// Formats of `printf` calls. The number of a call is its 1-based index here.
    pub formats: Vec<Format>,
    /// Debug information about types and functions, if it was requested. Not part of the text form.
    pub description: Option<Box<Description>>,
    /// Removed functions, indexed by their creation numbers and kept so that their memory can be reused. A
    /// function with the same creation number in the next compilation probably needs as much memory.
    spare: Vec<Function>,
    /// Number of functions that have been created.
    made: u32,
    /// The previous list of functions while functions are being removed; empty at all other times.
    former: PrimaryMap<FuncId, Function>,
}

impl Module {
    /// Empties the module and keeps its memory.
    pub fn clear(&mut self) {
        self.retain_funcs(|_| false);
        self.globals.clear();
        self.sigs.clear();
        self.formats.clear();
        self.description = None;
        self.made = 0;
    }

    /// Returns the number of a signature; adds the signature if it is new.
    pub fn signature(&mut self, signature: Signature) -> SigId {
        let known = self.sigs.iter().find(|(_, known)| **known == signature).map(|(id, _)| id);
        known.unwrap_or_else(|| self.sigs.push(signature))
    }

    /// Returns the number of a function's signature. Only the signatures of calls through addresses have
    /// numbers; for any other signature, the result is `None`.
    pub fn signature_of(&self, func: &Function) -> Option<SigId> {
        let fits = |sig: &Signature| {
            sig.results == func.results && func.param_types().eq(sig.params.iter().copied())
        };
        self.sigs.iter().find(|(_, sig)| fits(sig)).map(|(id, _)| id)
    }

    /// Keeps the functions for which `keep` returns true, in their order.
    pub(crate) fn retain_funcs(&mut self, keep: impl Fn(FuncId) -> bool) {
        let Module { funcs, spare, former, .. } = self;
        std::mem::swap(funcs, former);
        for (id, func) in former.iter_mut() {
            let func = std::mem::take(func);
            if keep(id) {
                funcs.push(func);
            } else if let Some(place) = spare.get_mut(func.made as usize) {
                *place = func;
            }
        }
        former.clear();
    }

    /// Returns an empty function that is not part of the module yet. Reuses the memory of a removed function.
    pub fn new_func(&mut self, name: &str) -> Function {
        let made = self.made;
        self.made += 1;
        if self.spare.len() <= made as usize {
            self.spare.push(Function::default());
            return Function { made, ..Function::new(name) };
        }
        let mut func = std::mem::take(&mut self.spare[made as usize]);
        func.clear();
        func.name.push_str(name);
        func.made = made;
        func
    }
}

impl Function {
    /// Creates an empty function. An entry block must be appended first.
    pub fn new(name: impl Into<String>) -> Self {
        Function {
            name: name.into(),
            // Reserves room for a small kernel to avoid repeated growth.
            insts: PrimaryMap::with_capacity(64),
            values: PrimaryMap::with_capacity(64),
            ..Function::default()
        }
    }

    /// Turns the function into an empty function without a name and keeps its memory.
    pub fn clear(&mut self) {
        (self.linkage, self.inline) = (Linkage::default(), Inline::default());
        let Function {
            name,
            results,
            layout,
            blocks,
            insts,
            values,
            slots,
            switches,
            pool,
            unroll,
            unroll_at,
            ..
        } = self;
        self.spare_track = self.track.take().or(self.spare_track.take());
        name.clear();
        results.clear();
        layout.clear();
        insts.clear();
        values.clear();
        slots.clear();
        switches.clear();
        pool.clear();
        unroll.clear();
        unroll_at.clear();
        if let Some(KernelInfo { mut params, .. }) = self.kernel.take() {
            params.clear();
            self.spare_params = params;
        }
        self.spare.extend(blocks.values_mut().rev().map(BlockData::take_memory));
        blocks.clear();
    }

    /// Attaches an empty set of debug records to the function. [`Track`] documents the two parameters.
    pub fn begin_track(&mut self, number: u32, stride: u32) {
        let mut track = self.spare_track.take().unwrap_or_default();
        track.clear();
        (track.number, track.stride) = (number, stride);
        self.track = Some(track);
    }

    /// Keeps the memory of debug records that are no longer used.
    pub fn end_track(&mut self, track: Box<Track>) {
        self.spare_track = Some(track);
    }

    /// Returns an empty list for the parameters of a kernel.
    pub fn new_params(&mut self) -> Vec<KernelParam> {
        std::mem::take(&mut self.spare_params)
    }

    /// Declares a function that another object defines.
    pub fn declare(name: impl Into<String>, signature: &Signature) -> Self {
        let mut func = Function { linkage: Linkage::Extern, ..Function::new(name) };
        func.set_signature(signature);
        func
    }

    /// Sets the results and parameters of a function without blocks. The parameters belong to a block outside
    /// of the layout.
    pub fn set_signature(&mut self, signature: &Signature) {
        self.results.extend_from_slice(&signature.results);
        let home = self.make_block();
        for &ty in &signature.params {
            self.add_param(home, ty);
        }
    }

    /// Returns the parameters of the function: those of the entry block, if there is one. A kernel has no
    /// parameters.
    pub fn own_params(&self) -> &[Value] {
        let home = self.layout.first().copied().or_else(|| self.blocks.keys().next());
        home.map_or(&[], |block| self.params(block))
    }

    /// Returns the types of the function's parameters.
    pub fn param_types(&self) -> impl Iterator<Item = Type> + '_ {
        self.own_params().iter().map(|&param| self.ty(param))
    }

    /// Returns the first block of the layout.
    pub fn entry(&self) -> Block {
        self.layout[0]
    }

    /// Creates a block that is not part of the layout yet.
    pub fn make_block(&mut self) -> Block {
        let memory = self.spare.pop().unwrap_or_default();
        self.blocks.push(BlockData::with_memory(memory))
    }

    /// Creates a block at the end of the layout.
    pub fn add_block(&mut self) -> Block {
        let block = self.make_block();
        self.layout.push(block);
        block
    }

    /// Adds a parameter to a block.
    pub fn add_param(&mut self, block: Block, ty: Type) -> Value {
        let index = self.blocks[block].params.len(&self.pool) as u16;
        let value = self.values.push(ValueData { ty, def: ValueDef::Param(block, index) });
        self.blocks[block].params.push(value, &mut self.pool);
        value
    }

    /// Creates an instruction with `results` results of type `ty`, without putting it into the block's list.
    pub fn make_inst(
        &mut self,
        block: Block,
        op: Op,
        args: &[Value],
        ty: Type,
        results: u16,
        loc: SrcLoc,
    ) -> Inst {
        let inst = self.insts.next_key();
        let first = self.values.next_key();
        for n in 0..results {
            self.values.push(ValueData { ty, def: ValueDef::Result(inst, n) });
        }
        let args = ValueList::from_slice(args, &mut self.pool);
        self.insts.push(InstData { op, args, first, results, block, loc })
    }

    /// Appends an instruction without results.
    pub fn push(&mut self, block: Block, op: Op, args: &[Value], loc: SrcLoc) -> Inst {
        let inst = self.make_inst(block, op, args, Type::Bool, 0, loc);
        self.append(block, inst);
        inst
    }

    /// Appends an instruction with one result of type `ty`.
    pub fn push1(&mut self, block: Block, op: Op, args: &[Value], ty: Type, loc: SrcLoc) -> Value {
        let inst = self.make_inst(block, op, args, ty, 1, loc);
        self.append(block, inst);
        self.insts[inst].first
    }

    /// Appends an instruction with several results of type `ty`; they are consecutive values.
    pub fn push_n(&mut self, block: Block, op: Op, args: &[Value], ty: Type, n: u16, loc: SrcLoc) -> Inst {
        let inst = self.make_inst(block, op, args, ty, n, loc);
        self.append(block, inst);
        inst
    }

    /// Appends a call, whose results may be of different types.
    pub fn push_call(&mut self, block: Block, op: Op, args: &[Value], types: &[Type], loc: SrcLoc) -> Inst {
        let inst = self.push_n(block, op, args, Type::Bool, types.len() as u16, loc);
        for (value, &ty) in self.results_of(inst).zip(types) {
            self.values[value].ty = ty;
        }
        inst
    }

    /// Returns the arguments of an instruction.
    pub fn args(&self, inst: Inst) -> &[Value] {
        self.insts[inst].args.as_slice(&self.pool)
    }

    /// Returns result number `n` of an instruction.
    pub fn result(&self, inst: Inst, n: u16) -> Value {
        debug_assert!(n < self.insts[inst].results);
        Value::from_u32(self.insts[inst].first.as_u32() + u32::from(n))
    }

    /// Returns all results of an instruction.
    pub fn results_of(&self, inst: Inst) -> impl Iterator<Item = Value> + use<> {
        let first = self.insts[inst].first.as_u32();
        (first..first + u32::from(self.insts[inst].results)).map(Value::from_u32)
    }

    /// Returns the parameters of a block.
    pub fn params(&self, block: Block) -> &[Value] {
        self.blocks[block].params.as_slice(&self.pool)
    }

    /// Returns the type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value].ty
    }

    /// Returns the instruction that defines a value; `None` for a block parameter.
    pub fn def_inst(&self, value: Value) -> Option<Inst> {
        match self.values[value].def {
            ValueDef::Result(inst, _) => Some(inst),
            ValueDef::Param(..) => None,
        }
    }

    /// Returns the operation that defines a value; `None` for a block parameter.
    pub fn def_op(&self, value: Value) -> Option<Op> {
        self.def_inst(value).map(|inst| self.insts[inst].op)
    }

    /// Returns the bits of a constant. Returns `None` if the value is not a constant.
    pub fn const_bits(&self, value: Value) -> Option<u64> {
        match self.def_op(value) {
            Some(Op::Const(bits)) => Some(bits),
            _ => None,
        }
    }

    /// Returns the block's terminator. In a verified function, every block of the layout has a terminator.
    pub fn terminator(&self, block: Block) -> Option<Inst> {
        self.blocks[block].insts().last().copied().filter(|&inst| self.insts[inst].op.is_terminator())
    }

    /// Returns the successors of a block in branch order (`then` or the default first).
    pub fn succs(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        let last = self.terminator(block);
        let count = last.map_or(0, |inst| self.branch_count(inst));
        (0..count).filter_map(move |which| self.branch_target(last?, which))
    }

    /// Returns the arguments that a terminator passes to its successor number `which` (0 = jump target,
    /// `then` or the default).
    pub fn branch_args(&self, terminator: Inst, which: usize) -> &[Value] {
        &self.args(terminator)[self.branch_arg_range(terminator, which)]
    }

    /// Returns the block that defines a value.
    pub fn block_of(&self, value: Value) -> Block {
        match self.values[value].def {
            ValueDef::Result(inst, _) => self.insts[inst].block,
            ValueDef::Param(block, _) => block,
        }
    }

    /// Replaces argument number `n` of an instruction.
    pub fn set_arg(&mut self, inst: Inst, n: usize, value: Value) {
        self.insts[inst].args.as_mut_slice(&mut self.pool)[n] = value;
    }

    /// Adds an argument for successor number `which` of a terminator, after its existing arguments.
    pub fn push_branch_arg(&mut self, terminator: Inst, which: usize, value: Value) {
        let at = self.branch_arg_range(terminator, which).end;
        self.insts[terminator].args.insert(at, value, &mut self.pool);
        self.move_arg_ends(terminator, which, 1);
    }

    /// Removes the arguments for the successor number `which` of a terminator.
    pub fn clear_branch_args(&mut self, terminator: Inst, which: usize) {
        let range = self.branch_arg_range(terminator, which);
        for at in range.clone().rev() {
            self.insts[terminator].args.remove(at, &mut self.pool);
        }
        self.move_arg_ends(terminator, which, -(range.len() as isize));
    }

    /// Adjusts the argument list of a terminator after successor number `which` got `more` arguments (a
    /// negative number if it lost some): the arguments of later successors begin at other positions.
    pub(crate) fn move_arg_ends(&mut self, terminator: Inst, which: usize, more: isize) {
        match &mut self.insts[terminator].op {
            Op::Br { then_args, .. } if which == 0 => *then_args = then_args.wrapping_add_signed(more as i16),
            Op::Switch(switch) => {
                for edge in &mut self.switches[*switch].edges[which..] {
                    edge.args_end = edge.args_end.wrapping_add_signed(more as i32);
                }
            }
            _ => {}
        }
    }

    /// Changes the target of those edges of a terminator that lead to `from`: they then lead to `to`. The
    /// arguments stay the same.
    pub fn retarget(&mut self, terminator: Inst, from: Block, to: Block) {
        let change = |block: &mut Block| {
            if *block == from {
                *block = to;
            }
        };
        match &mut self.insts[terminator].op {
            Op::Jump(target) => change(target),
            Op::Br { then, otherwise, .. } => {
                change(then);
                change(otherwise);
            }
            Op::Switch(switch) => {
                self.switches[*switch].edges.iter_mut().for_each(|edge| change(&mut edge.to));
            }
            _ => {}
        }
    }
}
