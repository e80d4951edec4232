//! The driver of instruction selection: visits blocks in reverse layout order, and the instructions of a
//! block bottom-up.
//!
//! The user of a value requests the value in the form that the user needs ([`Lower::sgpr`], [`Lower::vgpr`],
//! [`Lower::mask`], ...), which allots virtual registers for that form. When the walk reaches the definition,
//! it emits the requested forms and nothing else.

use crate::abi::Inputs;
use crate::buffer::Buffers;
use crate::call::{self, Callee};
use crate::class::{Home, classify, reqd};
use crate::combine::Combiner;
use crate::control::Edges;
use crate::emit::Copies;
use crate::half;
use crate::hidden;
use crate::lane_memory;
use crate::lds_pairs::LoadPair;
use crate::linear_ssa;
use crate::mask::Masks;
use crate::needs::ImplicitNeeds;
use crate::pack::Packer;
use crate::packed;
use crate::plan::{Entry, Plan, Pos};
use crate::roles::{Expansion, Resolution, Role, Roles};
use crate::scalar_memory::LoadGroup;
use crate::schedule::{self, Scheduler};
use crate::shape::{SharedLayout, lay_out_shared};
use crate::shuffle::ShuffleWay;
use crate::tail;
use crate::track;
use crate::trap;
use callconv::Convention;
use cranelift_entity::SecondaryMap;
use ir::analysis::{Analyses, UniformCalls};
use ir::{Block, FuncId, Function, Global, Inst, Module, Op, Type, Value, WaveOp};
use isa::{LaunchSizes, MBlock, MachInst, Opcode, Operand, Reg, RegClass, Subtarget, VReg};
use mir::track::MachTrack;
use mir::{FuncRole, MachFunc};
use std::sync::Arc;

/// Options of selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options<'a> {
    /// Optimisation level, 0 to 3.
    pub opt_level: u8,
    /// Instructions that selection must not use, as if the processor lacked them. Tests fill this list to run
    /// the code for processors that really lack these instructions.
    pub lacks: &'static [Opcode],
    /// What callers know about each function of the module, by function number. For a function that is not in
    /// the list, only the calling convention is known.
    pub callees: &'a [Callee],
    /// What callers know about all functions together that a call through a function pointer can reach.
    /// `None` if nothing is known about these functions.
    pub pointer: Option<&'a Callee>,
    /// Calling convention: where arguments and results are passed.
    pub convention: Convention,
    /// What the compiled function itself needs, if it is not a kernel: the implicit arguments that it
    /// receives from its callers, and the wave state that a kernel must have set up for it.
    pub own: ImplicitNeeds,
    /// LDS addresses of the module variables that functions use.
    pub shared: Option<&'a SharedLayout>,
    /// In a function that is not a kernel, the LDS variable through which lanes exchange values. Its address
    /// is a multiple of 256. `None` if the memory for the exchange begins at LDS address 0.
    pub exchange: Option<Global>,
    /// Which arguments and results of the module's calls have the same value in all lanes.
    pub uniform: Option<&'a Arc<UniformCalls>>,
    /// Number of the function that is compiled, if it is not a kernel.
    pub id: Option<FuncId>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            opt_level: 2,
            lacks: &[],
            callees: &[],
            pointer: None,
            convention: Convention::Today,
            own: ImplicitNeeds::default(),
            shared: None,
            exchange: None,
            uniform: None,
            id: None,
        }
    }
}

/// An error: the IR contains a construct that kernc does not support on the processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// Description of the construct.
    pub what: String,
    /// Name of the processor.
    pub target: &'static str,
    /// Source location: byte offset plus one, or 0 if there is none.
    pub loc: u32,
}

impl std::fmt::Display for Unsupported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is not supported on {}", self.what, self.target)
    }
}

impl std::error::Error for Unsupported {}

/// Memory that is reused from one function to the next.
#[derive(Debug, Default)]
pub struct Context {
    pub(crate) analyses: Analyses,
    /// Number of values that the last processed function had after [`crate::prepare`]. It shows whether
    /// selection gets the function that was prepared.
    pub(crate) prepared: u32,
    pub(crate) plan: Plan,
    scratch: Scratch,
    scheduler: Scheduler,
    pub(crate) legalized: Vec<MachInst>,
    pub(crate) combiner: Combiner,
    pub(crate) packer: Packer,
}

impl Context {
    /// Creates an empty context.
    pub fn new() -> Self {
        Context::default()
    }

    /// Returns the memory for analyses.
    pub fn analyses(&mut self) -> &mut Analyses {
        &mut self.analyses
    }

    /// Returns the processor's roles. Resolves them unless the context holds the roles of the same processor
    /// and options.
    pub(crate) fn roles(&mut self, target: &Subtarget, opts: &Options<'_>) -> &Roles {
        if !self.scratch.roles.is_for(target, opts.lacks) {
            self.scratch.roles = Roles::lacking(target, opts.lacks);
        }
        &self.scratch.roles
    }

    /// Returns the roles of the current processor.
    pub(crate) fn current_roles(&self) -> &Roles {
        &self.scratch.roles
    }
}

/// Entry of a register table: no registers are allotted.
pub(crate) const NONE: u32 = u32::MAX;

/// Tables for the selection of one function.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub roles: Roles,
    /// Number of operands that use a value.
    pub uses: SecondaryMap<Value, u32>,
    pub homes: SecondaryMap<Value, Home>,
    /// For each value, the index in `MachFunc::tuples` at which its registers begin, or `NONE` if no user has
    /// requested the value. There is one table for each form of the value: SGPRs, VGPRs and lane mask.
    pub sgprs: Vec<u32>,
    pub vgprs: Vec<u32>,
    pub masks: Vec<u32>,
    /// For each 64-bit value: the index at which the registers of its low half begin, if some user needs only
    /// the low half. Otherwise `NONE`.
    lows: Vec<u32>,
    /// Buffer descriptors of uniform pointers.
    descriptors: Vec<u32>,
    /// Machine instructions of the IR instruction that is being lowered, in program order.
    pub seq: Vec<MachInst>,
    /// Machine instructions of the block so far, last instruction first.
    pub rev: Vec<MachInst>,
    /// Scratch buffers for the instructions of a block (`whole`), and for its parameters by register class.
    /// When a block is complete, its lists in the machine function are made as copies of these buffers. Each
    /// list is thus allocated with its exact length.
    pub whole: Vec<MachInst>,
    pub params: [Vec<VReg>; 2],
    pub copies: Copies,
    /// Module variables that the function uses.
    pub used: Vec<bool>,
    /// The LDS offset of each module variable (`shared`), and the scratch offset of each stack slot
    /// (`slots`).
    pub shared: Vec<u32>,
    pub slots: Vec<u32>,
    /// For each instruction, whether it is a scalar load that is done together with other loads of its group.
    /// Such an instruction emits nothing itself.
    pub merged: Vec<bool>,
    pub groups: Vec<LoadGroup>,
    /// Load groups, by their leading load.
    pub leaders: Vec<(Inst, u32)>,
    /// Pairs of LDS loads that one instruction does, sorted by the first load of the pair.
    pub pairs: Vec<LoadPair>,
    pub mblocks: Vec<[MBlock; 2]>,
    pub edges: Edges,
    /// Reusable memory of the debug information.
    track_scratch: track::Scratch,
}

/// State of the selection of one function.
pub(crate) struct Lower<'a> {
    pub func: &'a Function,
    pub target: &'a Subtarget,
    pub masks: Masks,
    pub an: &'a Analyses,
    pub plan: &'a Plan,
    pub out: MachFunc,
    pub s: &'a mut Scratch,
    pub inputs: Inputs,
    pub block: Block,
    /// Whether copies of constants and loop-invariant values may be placed before a loop.
    pub hoist: bool,
    /// Whether some instruction of the function accesses LDS, or may access LDS through a generic pointer.
    pub reaches_lds: bool,
    pub buffers: Buffers,
    /// The SGPRs that hold the apertures (upper halves of generic addresses) of LDS and of private memory.
    /// They are used only on processors that have the apertures in the queue structure in memory. `None` if
    /// no instruction has requested the aperture.
    pub apertures: [Option<Operand>; 2],
    /// The VGPR with the LDS address of the work-item's own dword, through which it exchanges values with
    /// other lanes. `None` if no instruction has requested the address.
    pub lane_slot: Option<Operand>,
    pub loc: u32,
    pub error: Option<Unsupported>,
    /// Whether the function needs a stack, like [`MachFunc::has_stack`], but known before the machine
    /// function is complete.
    pub has_stack: bool,
    pub callees: &'a [Callee],
    pub pointer: Option<&'a Callee>,
    pub convention: Convention,
    pub own: ImplicitNeeds,
    pub opts: &'a Options<'a>,
    /// The call of the current block that is a tail call, if there is one.
    pub tail: Option<Inst>,
    /// Parameters of the function that arrive in VGPRs: the virtual register for each dword, and the hardware
    /// register in which the dword arrives.
    pub parameters: Vec<(VReg, Reg)>,
}

/// Selects instructions for a kernel. Works on a copy of `func`, because [`crate::prepare`] changes the
/// function that it prepares.
///
/// # Errors
/// The function uses something that kernc does not support on the processor.
pub fn select(
    module: &Module,
    func: &Function,
    target: &Subtarget,
    opts: &Options<'_>,
    ctx: &mut Context,
) -> Result<MachFunc, Unsupported> {
    let mut out = MachFunc::default();
    select_into(module, &mut func.clone(), target, opts, ctx, &mut out)?;
    Ok(out)
}

/// Selects instructions like [`select`], but reuses the memory of `out`, and lets [`crate::prepare`] change
/// `func` itself instead of a copy.
///
/// # Errors
/// The function uses something that kernc does not support on the processor.
pub fn select_into(
    module: &Module,
    func: &mut Function,
    target: &Subtarget,
    opts: &Options<'_>,
    ctx: &mut Context,
    out: &mut MachFunc,
) -> Result<(), Unsupported> {
    ctx.roles(target, opts);
    ctx.analyses.uniformity.know(opts.uniform.map(|calls| (Arc::clone(calls), opts.id)));
    if opts.opt_level == 0 {
        trap::guard_unreachable(func);
    }
    if target.system().sizes == LaunchSizes::GroupCounts {
        require_group_size(func, target)?;
    }
    let mut hidden = hidden::run(func, target);
    hidden.set(isa::Hidden::DYNAMIC_LDS, hidden::names_dynamic_lds(module, func));
    if func.kernel.as_ref().is_some_and(|kernel| kernel.requires_dot) {
        require_dot(func, ctx.current_roles(), target)?;
    }
    if opts.opt_level >= 2 {
        packed::run(func, ctx);
    }
    // Switches become jump tables at first. This needs a copy of the function: if the control-flow plan shows
    // that the lanes do not stay together in a table, the copy is prepared again, without tables.
    let original = (!func.switches.is_empty()).then(|| copy(func));
    crate::prepare(func, target, ctx);
    if !ctx.plan.rows.is_empty() {
        let Context { analyses, plan, .. } = ctx;
        plan.compute(func, analyses, Masks::for_target(target), out);
        if !plan.rows_hold(func, analyses)
            && let Some(original) = original
        {
            *func = original;
            crate::prepare::prepare_with(func, target, ctx, false);
        }
    }
    tail::end_early(func, &mut ctx.analyses, opts);
    let track = func.track.is_some().then(|| track::number(func, &mut out.spare));
    select_prepared(module, func, target, opts, ctx, (out, track))?;
    out.hidden = hidden;
    Ok(())
}

#[cold]
fn copy(func: &Function) -> Function {
    func.clone()
}

/// Returns an error if a kernel has no fixed work-group size, for systems whose runtime passes no size.
fn require_group_size(func: &Function, target: &Subtarget) -> Result<(), Unsupported> {
    if func.kernel.is_none() || reqd(func).is_some() {
        return Ok(());
    }
    let what = format!(
        "the kernel `{}` without `#[workgroup_size(X, Y, Z)]`, which the system `{}` requires,",
        func.name,
        target.system().name
    );
    let loc = func.insts.values().map(|data| data.loc.0).find(|&loc| loc != 0).unwrap_or(0);
    Err(Unsupported { what, target: target.name, loc })
}

/// Enforces the attribute `#[require(dot)]` of a function. Returns an error if the function has a sum of
/// products (dot product) for which the processor has no instruction.
#[cold]
fn require_dot(func: &Function, roles: &Roles, target: &Subtarget) -> Result<(), Unsupported> {
    let insts = func.layout.iter().flat_map(|&block| func.blocks[block].insts());
    for data in insts.map(|&inst| &func.insts[inst]) {
        if let Op::Tern(tern) = data.op
            && let Some(role) = half::parts(tern)
            && roles.opcode(role).is_none()
        {
            let what = format!("`{}`, which `#[require(dot)]` asks for,", role.name());
            return Err(Unsupported { what, target: target.name, loc: data.loc.0 });
        }
    }
    Ok(())
}

/// Selects instructions for a function. [`crate::prepare`] must have processed the function with the same
/// `ctx` before.
fn select_prepared(
    module: &Module,
    func: &Function,
    target: &Subtarget,
    opts: &Options<'_>,
    ctx: &mut Context,
    (to, track): (&mut MachFunc, Option<Box<MachTrack>>),
) -> Result<(), Unsupported> {
    debug_assert_eq!(
        ctx.prepared,
        func.values.len() as u32,
        "select_prepared() needs prepare() with the same context"
    );
    to.clear();
    let mut out = std::mem::take(to);
    out.name.push_str(&func.name);
    out.kernarg_size = func.kernel.as_ref().map_or(0, |k| k.kernarg_size);
    out.role = if func.kernel.is_some() { FuncRole::Kernel } else { FuncRole::Callee };
    let Context { analyses, plan, scratch, .. } = ctx;
    let masks = Masks::for_target(target);
    plan.compute(func, analyses, masks, &mut out);
    let stack = scratch.begin(target, module, func, (analyses, plan), opts, &mut out);
    let out_role = out.role;
    let mut lower = Lower {
        func,
        target,
        masks,
        an: analyses,
        plan,
        out,
        s: scratch,
        inputs: Inputs::new(func, target, opts),
        block: func.entry(),
        hoist: opts.opt_level >= 2,
        reaches_lds: false,
        buffers: Buffers::default(),
        apertures: [None; 2],
        lane_slot: None,
        loc: 0,
        error: None,
        has_stack: stack || out_role == FuncRole::Callee,
        callees: opts.callees,
        pointer: opts.pointer,
        convention: opts.convention,
        own: opts.own,
        opts,
        tail: None,
        parameters: Vec::new(),
    };
    lower.make_blocks();
    lower.plan_loads();
    if lower.hoist {
        lower.plan_pairs();
    }
    for at in (0..plan.nodes.len() as Pos).rev() {
        lower.block(at);
    }
    lower.finish_inputs();
    if plan.nodes.iter().any(|node| matches!(node.entry, Entry::Pending(_))) {
        linear_ssa::run(&mut lower.out);
    }
    if let Some(track) = track {
        lower.take_track(track);
    }
    let Lower { out, error, .. } = lower;
    *to = out;
    error.map_or(Ok(()), Err)
}

/// Schedules a function that [`select`] returned, from optimisation level 2 on: moves loads up and groups
/// them.
pub fn schedule(func: &mut MachFunc, target: &Subtarget, opts: &Options<'_>, ctx: &mut Context) {
    if opts.opt_level >= 2 {
        schedule::run(func, target, &mut ctx.scheduler);
    }
}

impl Scratch {
    /// Clears the tables. Fills those that selection needs from the beginning, such as the number of uses of
    /// each value. Returns whether the function calls a function that needs a stack.
    fn begin(
        &mut self,
        target: &isa::Target,
        module: &Module,
        func: &Function,
        (an, plan): (&Analyses, &Plan),
        opts: &Options<'_>,
        out: &mut MachFunc,
    ) -> bool {
        classify(module, func, an, plan, &mut self.homes);
        let count = func.values.len();
        self.uses.clear();
        self.uses.resize(count);
        for list in [&mut self.sgprs, &mut self.vgprs, &mut self.masks, &mut self.lows, &mut self.descriptors]
        {
            list.clear();
            list.resize(count, NONE);
        }
        self.copies.reset();
        self.merged.clear();
        self.merged.resize(func.insts.len(), false);
        self.used.clear();
        self.used.resize(module.globals.len(), false);
        let through_lds =
            self.roles.get(Role::LanePermuteB32) == Resolution::Expansion(Expansion::ThroughLds);
        let (mut permutes, mut called, mut stack) = (false, false, false);
        for &block in an.cfg.rpo() {
            for &inst in func.blocks[block].insts() {
                for &arg in func.args(inst) {
                    self.uses[arg] += 1;
                }
                match func.insts[inst].op {
                    Op::GlobalAddr(global) => self.used[global.as_u32() as usize] = true,
                    Op::Wave(WaveOp::Shuffle) if through_lds && !permutes => {
                        permutes = ShuffleWay::for_shuffle(target, func, func.args(inst)[1]).is_none();
                    }
                    Op::CallIndirect(_) => {
                        called = true;
                        stack |= opts.pointer.is_none_or(|callee| callee.stack);
                    }
                    Op::Call(callee) => {
                        let known = opts.callees.get(callee.as_u32() as usize);
                        called = true;
                        let dwords = call::dwords(func, func.args(inst));
                        stack |= known.is_none_or(|callee| {
                            callee.stack || call::stack_bytes(dwords, opts.convention, &callee.needs) > 0
                        });
                    }
                    // Shuffles and permutes exchange values between lanes. A processor that lacks the
                    // instruction for shuffles also lacks the one for permutes, so both go through LDS.
                    Op::Wave(WaveOp::Permute) => permutes |= through_lds,
                    _ => {}
                }
            }
        }
        let first = if permutes { lane_memory::bytes(func) } else { 0 };
        let fixed = opts.shared.filter(|_| called || out.role == FuncRole::Callee);
        out.lds_size =
            lay_out_shared(module, |g| self.used[g.as_u32() as usize], (first, fixed), &mut self.shared);
        self.slots.clear();
        if out.role == FuncRole::Callee {
            let dwords = call::argument_dwords(func);
            out.scratch_size = call::stack_bytes(dwords, opts.convention, &opts.own);
        }
        for slot in func.slots.values() {
            out.scratch_size = out.scratch_size.next_multiple_of(slot.align.max(4));
            self.slots.push(out.scratch_size);
            out.scratch_size += slot.size;
        }
        out.scratch_size = out.scratch_size.next_multiple_of(4);
        stack
    }
}

/// Form in which a value can be held in registers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Sgpr,
    Vgpr,
    Mask,
    Low,
}

impl Lower<'_> {
    /// Completes the debug information. Until now, instructions had point numbers in place of source
    /// locations. If there was an error, its location is therefore converted from a point number to a source
    /// location.
    #[cold]
    fn take_track(&mut self, track: Box<MachTrack>) {
        if let Some(error) = &mut self.error {
            error.loc = track.location_of_point(error.loc);
        }
        let mut s = std::mem::take(&mut self.s.track_scratch);
        self.out.track = track::fill(self, &mut s, track);
        self.s.track_scratch = s;
    }

    fn table(&mut self, form: Form) -> &mut Vec<u32> {
        match form {
            Form::Sgpr => &mut self.s.sgprs,
            Form::Vgpr => &mut self.s.vgprs,
            Form::Mask => &mut self.s.masks,
            Form::Low => &mut self.s.lows,
        }
    }

    fn registers(&mut self, value: Value, form: Form) -> Operand {
        let len = match form {
            Form::Mask => self.masks.dwords(),
            Form::Low => 1,
            _ => self.func.ty(value).dwords() as u8,
        };
        let index = value.as_u32() as usize;
        let mut start = self.table(form)[index];
        if start == NONE {
            start = self.out.tuples.len() as u32;
            let class = if matches!(form, Form::Sgpr | Form::Mask) { RegClass::Sgpr } else { RegClass::Vgpr };
            for _ in 0..len {
                let reg = self.out.new_vreg(class);
                self.out.tuples.push(reg);
            }
            self.table(form)[index] = start;
            if matches!(form, Form::Sgpr | Form::Vgpr) && self.hoist {
                let owner = self.func.block_of(value);
                for n in 0..len {
                    let reg = self.out.tuples[start as usize + usize::from(n)];
                    self.s.copies.owners.insert(reg, owner);
                }
            }
        }
        Operand::Virt(isa::Tuple { start, len })
    }

    /// Returns the SGPRs of a value; a `bool` is 0 or 1.
    pub fn sgpr_of(&mut self, value: Value) -> Operand {
        self.input(value).unwrap_or_else(|| self.registers(value, Form::Sgpr))
    }

    /// Returns the VGPRs of a value that selection keeps in VGPRs. A block parameter that is kept as a lane
    /// mask is also passed in a VGPR, as 0 or 1.
    pub fn vgpr_of(&mut self, value: Value) -> Operand {
        self.input(value).unwrap_or_else(|| self.registers(value, Form::Vgpr))
    }

    /// Returns the lane mask of a `bool`.
    pub fn mask_of(&mut self, value: Value) -> Operand {
        self.registers(value, Form::Mask)
    }

    /// Returns the low half of a 64-bit value whose home is VGPRs.
    pub fn low_of(&mut self, value: Value) -> Operand {
        self.registers(value, Form::Low)
    }

    /// Returns the buffer descriptor of a uniform pointer.
    pub fn descriptor(&mut self, pointer: Value) -> Operand {
        let index = pointer.as_u32() as usize;
        if self.s.descriptors[index] == NONE {
            let whole = self.new_descriptor(pointer);
            if let Operand::Virt(tuple) = whole {
                self.s.descriptors[index] = tuple.start;
            }
        }
        Operand::Virt(isa::Tuple { start: self.s.descriptors[index], len: 4 })
    }

    /// Returns whether the buffer descriptor was requested.
    pub fn wants_descriptor(&self, value: Value) -> bool {
        self.s.descriptors[value.as_u32() as usize] != NONE
    }

    /// Returns whether the value was requested in SGPRs.
    pub fn wants_sgpr(&self, value: Value) -> bool {
        self.s.sgprs[value.as_u32() as usize] != NONE
    }

    /// Returns whether the value was requested in VGPRs.
    pub fn wants_vgpr(&self, value: Value) -> bool {
        self.s.vgprs[value.as_u32() as usize] != NONE
    }

    /// Returns whether the value was requested as a lane mask.
    pub fn wants_mask(&self, value: Value) -> bool {
        self.s.masks[value.as_u32() as usize] != NONE
    }

    /// Returns whether the low half was requested.
    pub fn wants_low(&self, value: Value) -> bool {
        self.s.lows[value.as_u32() as usize] != NONE
    }

    /// Returns whether the value was requested in any form.
    pub fn is_wanted(&self, value: Value) -> bool {
        self.wants_sgpr(value)
            || self.wants_vgpr(value)
            || self.wants_mask(value)
            || self.wants_low(value)
            || self.wants_descriptor(value)
    }

    /// Returns the home of a value.
    pub fn home(&self, value: Value) -> Home {
        self.s.homes[value]
    }

    /// Returns the type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.func.ty(value)
    }

    /// Returns the instruction that defines `value` if the current instruction may do its work, too, so that
    /// it need not be emitted. It must be in the current block, `value` must have no other use, and nothing
    /// may have requested `value` in a register.
    pub fn foldable(&self, value: Value) -> Option<Inst> {
        let inst = self.func.def_inst(value)?;
        (self.s.uses[value] == 1 && self.func.insts[inst].block == self.block && !self.is_wanted(value))
            .then_some(inst)
    }

    /// Reports a construct that cannot be compiled. Only the first report is kept.
    #[cold]
    pub fn unsupported(&mut self, what: &str) {
        if self.error.is_none() {
            self.error =
                Some(Unsupported { what: what.to_string(), target: self.target.name, loc: self.loc });
        }
    }

    fn block(&mut self, at: Pos) {
        let node = &self.plan.nodes[at as usize];
        self.block = node.block;
        self.s.rev.clear();
        self.s.copies.begin();
        let func = self.func;
        let insts = func.blocks[self.block].insts();
        if let Some(&last) = insts.last() {
            self.loc = func.insts[last].loc.0;
        }
        let group = self.terminator(at);
        self.outside_copies();
        for &inst in insts.iter().rev().skip(1) {
            self.loc = func.insts[inst].loc.0;
            self.inst(inst);
            self.flush();
        }
        self.params(at);
        self.flush();
        if at == 0 {
            self.kernarg_loads();
            if self.has_frame() {
                self.take_parameters();
                self.flush();
            }
            if self.callees_want_flat_scratch() && !self.has_frame() {
                self.request_flat_scratch();
            }
            self.init_stack();
            self.init_flat_scratch();
            self.init_apertures();
            self.init_lds_limit();
            self.init_lane_slot();
            self.init_whole_memory();
            self.flush();
            self.init_descriptors();
            self.flush();
            if self.has_frame() {
                self.take_ids();
                self.flush();
            }
        }
        self.finish_block(at, group);
    }

    fn inst(&mut self, inst: Inst) {
        let data = &self.func.insts[inst];
        if self.s.merged[inst.as_u32() as usize] || self.is_jump(inst) {
            return;
        }
        let is_load = matches!(data.op, Op::Load { .. });
        let wanted = self.func.results_of(inst).any(|v| self.is_wanted(v));
        let paired = is_load && self.load_pair(inst);
        let leads = is_load && self.home(data.first) == Home::Sgpr;
        if !wanted && !leads && !data.op.has_side_effect() {
            return;
        }
        if !paired {
            self.lower_op(inst, data.op);
        }
        for value in self.func.results_of(inst) {
            self.convert_result(value);
        }
    }

    /// Lowers an operation by calling the method for its kind.
    fn lower_op(&mut self, inst: Inst, op: Op) {
        match op {
            Op::Const(_) | Op::Assume => {}
            Op::SlotAddr(slot) => self.slot_address(inst, slot),
            Op::Icmp(cc) => self.icmp(inst, cc),
            Op::Fcmp(cc) => self.fcmp(inst, cc),
            Op::Select => self.select(inst),
            Op::Cast(op) => self.cast(inst, op),
            Op::Pos(pos) => self.pos(inst, pos),
            Op::GlobalAddr(global) => self.global_addr(inst, global),
            Op::Load { mem, .. } => self.load(inst, mem),
            Op::Store { mem, .. } => self.store(inst, mem),
            Op::AtomicRmw { op, mem } => self.atomic_rmw(inst, op, mem),
            Op::AtomicCas { mem, fail } => self.atomic_cas(inst, mem, fail),
            Op::Fence { order, scope, spaces } => self.fence(order, scope, spaces),
            Op::Barrier { fence } => self.barrier(fence),
            Op::WaveBarrier => {}
            Op::Trap { debug } => self.trap(inst, debug),
            Op::Sleep => self.sleep(),
            Op::Interrupt => self.interrupt(inst),
            Op::Wave(op) => self.wave(inst, op),
            Op::Call(func) => self.call(inst, func),
            Op::CallIndirect(sig) => self.call_indirect(inst, sig),
            Op::FuncAddr(func) => self.func_addr(inst, func),
            _ => self.arithmetic(inst, op),
        }
    }

    fn arithmetic(&mut self, inst: Inst, op: Op) {
        let result = self.func.insts[inst].first;
        let ty = self.ty(result);
        match (self.home(result), ty) {
            (Home::Const, _) => {}
            (_, Type::Bool) => self.bool_op(inst, op),
            (Home::Sgpr, _) => self.scalar_op(inst, op),
            _ if ty.is_float() || self.ty(self.func.args(inst)[0]).is_float() => self.float_op(inst, op),
            _ if ty.bits() == 64 || self.ty(self.func.args(inst)[0]).bits() == 64 => self.wide_op(inst, op),
            _ => self.vector_op(inst, op),
        }
    }
}
