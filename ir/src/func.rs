//! Modules and functions, and the only ways to edit them.

use crate::describe::Description;
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

/// Some values, taken out of the pool while the function changes.
pub type Values = SmallVec<[Value; 8]>;

/// Byte offset into the source text plus one; 0 is "nowhere".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SrcLoc(pub u32);

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDef {
    /// Result number `1` of the instruction.
    Result(Inst, u16),
    /// Parameter number `1` of the block.
    Param(Block, u16),
}

/// Type and origin of a value.
#[derive(Clone, Copy, Debug)]
pub struct ValueData {
    /// Type.
    pub ty: Type,
    /// Origin.
    pub def: ValueDef,
}

/// Operation, arguments and results. Results are consecutive values.
#[derive(Clone, Debug)]
pub struct InstData {
    /// What it does.
    pub op: Op,
    /// Arguments, in the order of the table in [`crate::op`].
    pub args: ValueList,
    /// First result; meaningful if `results > 0`.
    pub first: Value,
    /// Number of results.
    pub results: u16,
    /// The block that holds it; an instruction that was removed keeps its last one.
    pub block: Block,
    /// Where in the source it comes from.
    pub loc: SrcLoc,
}

/// The instructions of a block. Most blocks are short, and then the list needs no memory of its own.
pub type InstList = SmallVec<[Inst; 12]>;

/// Parameters and instructions of a block; the last instruction is its terminator.
#[derive(Clone, Debug, Default)]
pub struct BlockData {
    /// Block parameters.
    pub params: ValueList,
    /// Instructions in order.
    pub insts: InstList,
}

/// A private variable.
#[derive(Clone, Copy, Debug)]
pub struct SlotData {
    /// Bytes.
    pub size: u32,
    /// Bytes, a power of two.
    pub align: u32,
}

/// Values of a switch that go one way: `lo..=hi`, as unsigned numbers of the operand's type.
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
    /// Where the arguments for it end in the instruction's list; they begin where those of the edge before end.
    pub args_end: u32,
}

/// Where a switch goes.
#[derive(Clone, Debug, Default)]
pub struct SwitchData {
    /// Successors; the first takes all values that no case has.
    pub edges: Vec<SwitchEdge>,
    /// Cases in ascending order; no value is in two.
    pub cases: Vec<Case>,
}

impl SwitchData {
    /// The successor a value goes to.
    pub fn edge_of(&self, value: u64) -> usize {
        let after = self.cases.partition_point(|case| case.lo <= value);
        let case = after.checked_sub(1).map(|n| &self.cases[n]).filter(|case| value <= case.hi);
        case.map_or(0, |case| case.edge as usize)
    }
}

/// Unrolling asked for by `#[unroll]` and its kin, kept on the loop's header block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnrollHint {
    /// No attribute: the compiler decides.
    #[default]
    None,
    /// `#[unroll]`: completely, where the trip count is a constant.
    Full,
    /// `#[unroll(n)]`.
    By(u16),
    /// `#[no_unroll]`.
    Never,
}

/// Who knows a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// Its module alone; for a kernel, whoever launches it.
    #[default]
    Local,
    /// Other objects too, by its name: nothing is known of its callers.
    Export,
    /// Another object has its code; it is only declared here.
    Extern,
}

/// What was asked for about calls of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Inline {
    /// The compiler decides.
    #[default]
    Auto,
    /// `#[inline]`: calls become copies of the body where that is possible.
    Always,
    /// `#[inline(never)]`: calls stay.
    Never,
}

/// Types that a function takes and gives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Signature {
    /// Of the parameters.
    pub params: Vec<Type>,
    /// Of the results.
    pub results: Vec<Type>,
}

/// A function or kernel. Blocks are kept in `layout` order; the first is the entry. A function that is only declared has
/// an empty layout, and one block outside of it for its parameters.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// Name without decoration.
    pub name: String,
    /// Who knows it.
    pub linkage: Linkage,
    /// Whether calls are to become copies.
    pub inline: Inline,
    /// Types of the results (a kernel has none).
    pub results: Vec<Type>,
    /// Present for kernels.
    pub kernel: Option<KernelInfo>,
    /// Order of the blocks that are part of the function.
    pub layout: Vec<Block>,
    /// All blocks ever made.
    pub blocks: PrimaryMap<Block, BlockData>,
    /// All instructions ever made.
    pub insts: PrimaryMap<Inst, InstData>,
    /// All values ever made.
    pub values: PrimaryMap<Value, ValueData>,
    /// Private variables.
    pub slots: PrimaryMap<Slot, SlotData>,
    /// Cases of switches, each of one instruction.
    pub switches: PrimaryMap<Switch, SwitchData>,
    /// Storage of every `ValueList`.
    pub pool: ListPool<Value>,
    /// Unrolling hints by loop header.
    pub unroll: SecondaryMap<Block, UnrollHint>,
    /// Where loops with such a hint are in the source, by header. Not part of the text form.
    pub unroll_at: SecondaryMap<Block, SrcLoc>,
    /// What a debugger is told of statements and variables, if somebody asked. Not part of the text form.
    pub track: Option<Box<Track>>,
    /// One that is of use no more, for its memory.
    spare_track: Option<Box<Track>>,
    /// Empty lists that blocks left behind, the next one last.
    spare: Vec<InstList>,
    /// An empty list, for when it becomes a kernel again.
    spare_params: Vec<KernelParam>,
    /// Its number among the functions made for the module.
    made: u32,
}

/// How a kernel argument is passed; decides `.value_kind` of the metadata (seed 000, line 2440).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// Copied into the kernarg segment.
    ByValue,
    /// Pointer to global, constant or generic memory.
    GlobalBuffer,
    /// Offset of dynamically sized LDS.
    DynamicShared,
    /// A pointer to what only the host and its library know.
    Opaque(Opaque),
}

/// What a kernel is handed without knowing what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Opaque {
    Image(Access),
    Sampler,
    Queue,
    Pipe(Access),
}

/// What a kernel may do with an image or a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Access {
    ReadOnly,
    WriteOnly,
    ReadWrite,
}

impl Opaque {
    /// As the metadata calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Opaque::Image(_) => "image",
            Opaque::Sampler => "sampler",
            Opaque::Queue => "queue",
            Opaque::Pipe(_) => "pipe",
        }
    }

    /// What may be done with an image or a pipe.
    pub const fn access(self) -> Option<Access> {
        match self {
            Opaque::Image(access) | Opaque::Pipe(access) => Some(access),
            Opaque::Sampler | Opaque::Queue => None,
        }
    }

    /// With another access, where there is one.
    pub const fn with_access(self, access: Access) -> Opaque {
        match self {
            Opaque::Image(_) => Opaque::Image(access),
            Opaque::Pipe(_) => Opaque::Pipe(access),
            other => other,
        }
    }

    /// The one of a name; images and pipes are read.
    pub fn from_name(name: &str) -> Option<Opaque> {
        let read = Access::ReadOnly;
        [Opaque::Image(read), Opaque::Sampler, Opaque::Queue, Opaque::Pipe(read)]
            .into_iter()
            .find(|opaque| opaque.name() == name)
    }
}

impl Access {
    /// As the metadata calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Access::ReadOnly => "read_only",
            Access::WriteOnly => "write_only",
            Access::ReadWrite => "read_write",
        }
    }

    /// The one of a name.
    pub fn from_name(name: &str) -> Option<Access> {
        [Access::ReadOnly, Access::WriteOnly, Access::ReadWrite]
            .into_iter()
            .find(|access| access.name() == name)
    }
}

/// One kernel parameter, as the user declared it.
#[derive(Clone, Debug)]
pub struct KernelParam {
    /// Name.
    pub name: SmolStr,
    /// Type as written in the source, for people.
    pub type_name: SmolStr,
    /// Element type for `.value_type` and typed buffers: `i8 u8 i16 u16 f16 i32 u32 f32 i64 u64 f64 struct`.
    pub elem: &'static str,
    /// Number of vector lanes of the value or pointee (1 for scalars).
    pub lanes: u8,
    /// How it is passed.
    pub kind: ParamKind,
    /// Address space of a pointer.
    pub space: Option<Space>,
    /// Byte offset in the kernarg segment.
    pub offset: u32,
    /// Bytes in the kernarg segment.
    pub size: u32,
    /// Alignment in the kernarg segment, bytes.
    pub align: u32,
    /// Alignment of the pointee, bytes (dynamic LDS and pointers).
    pub pointee_align: u32,
    /// `const` pointer.
    pub is_const: bool,
    /// `restrict` pointer.
    pub is_restrict: bool,
    /// `volatile` pointer.
    pub is_volatile: bool,
}

/// What makes a function a kernel.
#[derive(Clone, Debug, Default)]
pub struct KernelInfo {
    /// Where the source names it. Not part of the text form: nothing that is compiled depends on it.
    pub loc: SrcLoc,
    /// Parameters in order.
    pub params: Vec<KernelParam>,
    /// Bytes of explicit arguments.
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
    /// `#[require(dot)]`: sums of products are single instructions.
    pub requires_dot: bool,
    /// What it asks of its wavefronts.
    pub state: InitialState,
}

impl KernelInfo {
    /// Most work-items a work-group of this kernel may have (seed 000, line 2450: 1024 by default).
    pub fn max_flat_workgroup_size(&self) -> u32 {
        match (self.reqd_workgroup_size, self.max_workgroup_size) {
            (Some([x, y, z]), _) => x * y * z,
            (None, Some(n)) => n,
            (None, None) => 1024,
        }
    }

    /// Whether it asks for fewer registers than its work-group's size leaves it.
    pub fn limits_registers(&self) -> bool {
        let waves = self.waves_per_eu.map_or(1, |(least, _)| least);
        self.num_vgpr.is_some() || self.num_sgpr.is_some() || waves > 1
    }
}

/// A module variable.
#[derive(Clone, Debug)]
pub struct GlobalData {
    /// Name; unique in the module.
    pub name: SmolStr,
    /// `Shared`, `Constant` or `Global`.
    pub space: Space,
    /// Bytes.
    pub size: u32,
    /// Bytes, a power of two.
    pub align: u32,
    /// Initial bytes of `constant` and `global` variables (little endian); empty means zeros.
    pub init: Vec<u8>,
    /// `shared dyn`: sized by the dispatch.
    pub dynamic: bool,
    /// Another object defines it; it is only declared here.
    pub external: bool,
    /// In LDS: its address is the linker's to choose, and a relocation in code. Not part of the text form: code generation decides it.
    pub linked: bool,
    /// Offsets at which it holds addresses of functions, in ascending order; the initial bytes there are zeros.
    pub funcs: Vec<(u32, FuncId)>,
}

/// What a call of `printf` prints. It leaves its number and its arguments in the buffer (`Pos::PrintfBuffer`), which
/// begins with two dwords: bytes that are in use behind them, and bytes that there are (seed 000, lines 2382 and 2478).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Format {
    /// Bytes of each argument; it takes whole dwords of the buffer.
    pub sizes: Vec<u32>,
    /// OpenCL's format string.
    pub text: String,
}

impl Format {
    /// Bytes that a call takes of the buffer.
    pub fn bytes(&self) -> u32 {
        self.sizes.iter().fold(4, |sum: u32, size| sum.saturating_add(size.div_ceil(4).saturating_mul(4)))
    }
}

/// A translation unit.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Functions and kernels.
    pub funcs: PrimaryMap<FuncId, Function>,
    /// Module variables.
    pub globals: PrimaryMap<Global, GlobalData>,
    /// Signatures of calls through addresses; none is there twice.
    pub sigs: PrimaryMap<SigId, Signature>,
    /// What calls of `printf` print; the number of a call is its place here, from 1.
    pub formats: Vec<Format>,
    /// What a debugger is told of types and functions, if somebody asked. Not part of the text form.
    pub description: Option<Box<Description>>,
    /// Functions that are gone, for their memory, by their numbers: one that is made again finds room for itself.
    spare: Vec<Function>,
    /// How many functions were made.
    made: u32,
    /// Nothing, but for the time that it takes to drop functions.
    former: PrimaryMap<FuncId, Function>,
}

impl Module {
    /// Makes it a module without anything, which keeps its memory.
    pub fn clear(&mut self) {
        self.retain_funcs(|_| false);
        self.globals.clear();
        self.sigs.clear();
        self.formats.clear();
        self.description = None;
        self.made = 0;
    }

    /// The number of a signature.
    pub fn signature(&mut self, signature: Signature) -> SigId {
        let known = self.sigs.iter().find(|(_, known)| **known == signature).map(|(id, _)| id);
        known.unwrap_or_else(|| self.sigs.push(signature))
    }

    /// The number of the signature that a function has, if some call through an address has that.
    pub fn signature_of(&self, func: &Function) -> Option<SigId> {
        let fits = |sig: &Signature| {
            sig.results == func.results && func.param_types().eq(sig.params.iter().copied())
        };
        self.sigs.iter().find(|(_, sig)| fits(sig)).map(|(id, _)| id)
    }

    /// Keeps some functions, in their order.
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

    /// An empty function that is not part of the module yet, in memory of one that no longer is.
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
    /// An empty function: make and append an entry block first.
    pub fn new(name: impl Into<String>) -> Self {
        Function {
            name: name.into(),
            // Room for a small kernel, instead of growing from nothing.
            insts: PrimaryMap::with_capacity(64),
            values: PrimaryMap::with_capacity(64),
            ..Function::default()
        }
    }

    /// Makes it an empty function without a name, which keeps its memory.
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
        self.spare.extend(blocks.values_mut().rev().map(|block| {
            block.insts.clear();
            std::mem::take(&mut block.insts)
        }));
        blocks.clear();
    }

    /// What debuggers are told hangs on the function from here on, nothing yet. `number`, `stride`: see [`Track`].
    pub fn begin_track(&mut self, number: u32, stride: u32) {
        let mut track = self.spare_track.take().unwrap_or_default();
        track.clear();
        (track.number, track.stride) = (number, stride);
        self.track = Some(track);
    }

    /// What debuggers were told is of use no more.
    pub fn end_track(&mut self, track: Box<Track>) {
        self.spare_track = Some(track);
    }

    /// An empty list for the parameters of a kernel.
    pub fn new_params(&mut self) -> Vec<KernelParam> {
        std::mem::take(&mut self.spare_params)
    }

    /// A function that another object has.
    pub fn declare(name: impl Into<String>, signature: &Signature) -> Self {
        let mut func = Function { linkage: Linkage::Extern, ..Function::new(name) };
        func.set_signature(signature);
        func
    }

    /// Gives a function without any block its results, and parameters on a block outside of the layout.
    pub fn set_signature(&mut self, signature: &Signature) {
        self.results.extend_from_slice(&signature.results);
        let home = self.make_block();
        for &ty in &signature.params {
            self.add_param(home, ty);
        }
    }

    /// The parameters of the function: those of the entry, if there is one. A kernel has none.
    pub fn own_params(&self) -> &[Value] {
        let home = self.layout.first().copied().or_else(|| self.blocks.keys().next());
        home.map_or(&[], |block| self.params(block))
    }

    /// Their types.
    pub fn param_types(&self) -> impl Iterator<Item = Type> + '_ {
        self.own_params().iter().map(|&param| self.ty(param))
    }

    /// First block of the layout.
    pub fn entry(&self) -> Block {
        self.layout[0]
    }

    /// A new block, not yet part of the layout.
    pub fn make_block(&mut self) -> Block {
        let insts = self.spare.pop().unwrap_or_default();
        self.blocks.push(BlockData { params: ValueList::new(), insts })
    }

    /// A new block at the end of the layout.
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

    /// Makes an instruction with results of type `ty` (`results` of them), in no block yet.
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
        self.blocks[block].insts.push(inst);
        inst
    }

    /// Appends an instruction with one result of type `ty`.
    pub fn push1(&mut self, block: Block, op: Op, args: &[Value], ty: Type, loc: SrcLoc) -> Value {
        let inst = self.make_inst(block, op, args, ty, 1, loc);
        self.blocks[block].insts.push(inst);
        self.insts[inst].first
    }

    /// Appends an instruction with several results of type `ty`; they are consecutive values.
    pub fn push_n(&mut self, block: Block, op: Op, args: &[Value], ty: Type, n: u16, loc: SrcLoc) -> Inst {
        let inst = self.make_inst(block, op, args, ty, n, loc);
        self.blocks[block].insts.push(inst);
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

    /// Arguments of an instruction.
    pub fn args(&self, inst: Inst) -> &[Value] {
        self.insts[inst].args.as_slice(&self.pool)
    }

    /// Result number `n` of an instruction.
    pub fn result(&self, inst: Inst, n: u16) -> Value {
        debug_assert!(n < self.insts[inst].results);
        Value::from_u32(self.insts[inst].first.as_u32() + u32::from(n))
    }

    /// All results of an instruction.
    pub fn results_of(&self, inst: Inst) -> impl Iterator<Item = Value> + use<> {
        let first = self.insts[inst].first.as_u32();
        (first..first + u32::from(self.insts[inst].results)).map(Value::from_u32)
    }

    /// Parameters of a block.
    pub fn params(&self, block: Block) -> &[Value] {
        self.blocks[block].params.as_slice(&self.pool)
    }

    /// Type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value].ty
    }

    /// The instruction that defines a value, unless it is a block parameter.
    pub fn def_inst(&self, value: Value) -> Option<Inst> {
        match self.values[value].def {
            ValueDef::Result(inst, _) => Some(inst),
            ValueDef::Param(..) => None,
        }
    }

    /// The operation that defines a value, unless it is a block parameter.
    pub fn def_op(&self, value: Value) -> Option<Op> {
        self.def_inst(value).map(|inst| self.insts[inst].op)
    }

    /// The constant a value is, if it is one.
    pub fn const_bits(&self, value: Value) -> Option<u64> {
        match self.def_op(value) {
            Some(Op::Const(bits)) => Some(bits),
            _ => None,
        }
    }

    /// The block's terminator. A verified function has one in each block of the layout.
    pub fn terminator(&self, block: Block) -> Option<Inst> {
        self.blocks[block].insts.last().copied().filter(|&inst| self.insts[inst].op.is_terminator())
    }

    /// Successors of a block in branch order (`then` or the default first).
    pub fn succs(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        let last = self.terminator(block);
        let count = last.map_or(0, |inst| self.branch_count(inst));
        (0..count).filter_map(move |which| self.branch_target(last?, which))
    }

    /// Arguments a terminator passes to its successor number `which` (0 = jump target, `then` or the default).
    pub fn branch_args(&self, terminator: Inst, which: usize) -> &[Value] {
        &self.args(terminator)[self.branch_arg_range(terminator, which)]
    }

    /// The block that defines a value.
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

    /// Adds an argument for the successor number `which` of a terminator, after those it passes already.
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

    /// Notes that the successor number `which` has got `more` arguments.
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

    /// Makes the edges of a terminator that go to `from` go to `to`, with the same arguments.
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
