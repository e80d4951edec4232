//! Compiles the functions that kernels call. A function is compiled before its callers, so that it is known
//! which registers and how much stack it uses. A call then clobbers only these registers, and a kernel
//! reserves no more registers and stack than its possible callees need.

use crate::error::Error;
use crate::machine::{machine_pass, register_budget};
use crate::models::{Models, own_target};
use crate::pipeline::{Job, Observer, Own, Scratch};
use crate::shared;
use callconv::{After, Convention, Subject};
use frontend::Printf;
use ir::analysis::{CallGraph, UniformCalls, Use};
use isa::Subtarget;
use mir::MachFunc;
use std::cmp::Reverse;
use std::sync::Arc;

/// Number of bytes of stack per work-item that a kernel gets for calls of unknown depth, such as recursion.
/// LLVM reserves the same number for a call of unknown code (`-amdgpu-assume-external-call-stack-size`).
pub(crate) const UNKNOWN_DEPTH: u32 = 16384;

/// Largest number of IR instructions in a module whose functions are all assumed to be in reach of a
/// one-instruction call (`s_call_b64`), which reaches 2^17 bytes. Even if each IR instruction becomes a few
/// machine instructions of eight bytes, the code is much smaller than this.
const NEAR: usize = 2000;

const SGPRS: usize = 0;
const VGPRS: usize = 1;

/// Facts about the functions of a module that are needed to compile calls. They are gathered before the first
/// function is compiled.
pub(crate) struct Calls {
    /// For each function, what its callers must know about it.
    pub callees: Vec<isel::Callee>,
    /// Callee information for calls through function addresses.
    pub pointer: isel::Callee,
    /// Layout of the LDS variables that functions name.
    pub shared: isel::SharedLayout,
    /// LDS variable through which lanes exchange values, if other objects may call the functions that do so.
    /// See `shared.rs`.
    pub exchange: Option<ir::Global>,
    /// For each function, whether code of other object files may call it, directly or through other
    /// functions: `Some(())` if so, otherwise `None`.
    pub outside: Vec<Option<()>>,
    /// Whether every function of the module can call every other one with a one-instruction call.
    pub near: bool,
    /// Whether all functions of the module keep the limit of LDS accesses in register M0. GFX6 to GFX8 need
    /// the limit there, but the calling convention does not say whether a call preserves M0. The functions of
    /// one object can rely on each other for this.
    m0_agreed: bool,
    /// Which parameters and results of functions have the same value in all lanes.
    pub uniform: Arc<UniformCalls>,
    /// The calling convention.
    pub convention: Convention,
    /// Implicit arguments that code of another object may read.
    foreign_hidden: isa::Hidden,
    graph: CallGraph,
    /// For each function, the numbers of SGPRs and of VGPRs that it may use. Each kernel limits these numbers
    /// for itself and the functions that it calls, so the smallest number among these kernels counts.
    register_budget: [Vec<Option<u32>>; 2],
    /// For each function, the smallest and the largest wave size of the kernels that reach it.
    lanes: Vec<Option<(u32, u32)>>,
}

/// Registers and stack that a function uses, together with all its direct and indirect callees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Uses {
    vgprs: u32,
    sgprs: u32,
    vcc: bool,
    hidden: isa::Hidden,
    /// Bytes per lane; `None` if unknown.
    stack: Option<u32>,
}

impl Calls {
    /// Gathers the facts about the functions of a module.
    pub fn new(module: &ir::Module, target: &Subtarget, job: &Job<'_>, scratch: &mut isel::Context) -> Calls {
        let convention = job.options.call_abi;
        let opts = isel::Options { lacks: job.lacks, convention, ..isel::Options::default() };
        let unknown = isel::Callee::unknown(convention, target);
        let graph = match job.read {
            Some(code) => graph_of_code(module, code),
            None => CallGraph::new(module),
        };
        // Other object files may pass addresses of functions to this one, or get addresses from it, if the
        // two share functions or variables.
        let foreign = module.funcs.values().any(|func| func.linkage != ir::Linkage::Local)
            || module.globals.values().any(|global| global.external);
        let (needs, pointer) = isel::needs(module, (&graph, foreign), target, &opts, scratch);
        let pointer = isel::Callee { needs: pointer, ..unknown.clone() };
        let local = |func: &ir::Function| func.linkage == ir::Linkage::Local;
        let callees = needs.into_iter().zip(module.funcs.values());
        let callees =
            callees.map(|(needs, func)| isel::Callee { needs, local: local(func), ..unknown.clone() });
        let callees = callees.collect();
        // `stranger` stands for the kernels of other object files, which may have work-groups of the largest
        // size.
        let stranger = ir::KernelInfo::default();
        let size: usize = module.funcs.values().map(ir::Function::inst_count).sum();
        let shared = isel::shared_layout(module, target, &opts, scratch);
        let room = [SGPRS, VGPRS].map(|class| {
            graph.least_of_callers(|id| match &module.funcs[id] {
                func if func.kernel.is_none() && func.linkage != ir::Linkage::Export => None,
                func => register_budget(target, func.kernel.as_ref().unwrap_or(&stranger))[class],
            })
        });
        let lanes = wave_sizes(module, &graph, target);
        let uniform = UniformCalls::new(module, &graph, scratch.analyses());
        let foreign_hidden = foreign_hidden(target, job.options.printf);
        let near = size <= NEAR;
        let m0_agreed = callconv::states(convention, target)
            .any(|state| state.subject == Subject::M0 && state.after == After::Disputed);
        Calls {
            m0_agreed,
            callees,
            pointer,
            shared,
            exchange: shared::exchange(module),
            outside: shared::called_from_outside(module, &graph),
            near,
            uniform,
            convention,
            foreign_hidden,
            graph,
            register_budget: room,
            lanes,
        }
    }
}

/// Returns the implicit arguments that code of another object file may read. From code object version 5 on,
/// each way of printing has its own implicit argument, and other code may use any of them. In earlier
/// versions, other code is assumed to print in the same way as this object.
fn foreign_hidden(target: &Subtarget, printf: Printf) -> isa::Hidden {
    let args = target.hidden_args();
    let apart = args.offset("hidden_printf_buffer") != args.offset("hidden_hostcall_buffer");
    let mut all = isa::Hidden::FOREIGN;
    all.set(isa::Hidden::PRINTF_BUFFER, apart || printf == Printf::Buffer);
    all.set(isa::Hidden::HOSTCALL_BUFFER, apart || printf == Printf::Hostcall);
    all
}

/// Compiles all functions of a module that are not kernels, callees first. Records for each function what its
/// callers must know, such as the registers that a call clobbers. The code of the functions is appended to
/// `code` in the order of the module.
#[cold]
pub(crate) fn functions(
    scratch: &mut Scratch,
    models: &Models,
    module: &mut ir::Module,
    job: &Job<'_>,
    (calls, code): (&mut Calls, &mut Vec<MachFunc>),
    (target, observer): (&Subtarget, &mut dyn Observer),
) -> Result<(), Error> {
    let graph = std::mem::take(&mut calls.graph);
    let mut funcs = std::mem::take(&mut module.funcs);
    let kernels = funcs.values().filter(|func| func.kernel.is_some()).count();
    let numbers: Vec<ir::FuncId> = with_code(funcs.iter()).collect();
    code.resize_with(numbers.len(), MachFunc::default);
    let mut result = Ok(());
    for &id in graph.bottom_up() {
        let Some(number) = numbers.iter().position(|&known| known == id) else { continue };
        let lanes = calls.lanes[id.as_u32() as usize];
        if let Some(sizes) = lanes.filter(|(fewest, most)| fewest != most) {
            result = Err(two_sizes(&funcs[id], sizes, job));
            break;
        }
        let model = models.with_lanes(lanes.map(|(lanes, _)| lanes))?;
        let room = [SGPRS, VGPRS].map(|class| calls.register_budget[class][id.as_u32() as usize]);
        let own = job.calling(Some(calls), Own { id: Some(id), register_budget: room });
        let func = &mut funcs[id];
        result = scratch.kernel((model, module), (kernels + number, func), &mut code[number], &own, observer);
        if result.is_err() {
            break;
        }
        code[number].wave_size = lanes.map(|(lanes, _)| lanes).filter(|&lanes| lanes != target.wave_size);
        if !is_allocated(job) {
            continue;
        }
        let callee = &mut calls.callees[id.as_u32() as usize];
        if !graph.is_recursive(id) {
            callee.clobbers = code[number].clobbers;
        }
        callee.keeps_m0 = keeps_m0(&code[number], calls.m0_agreed);
        callee.stack = graph.is_recursive(id) || wants_stack(&code[number], calls.convention);
    }
    module.funcs = funcs;
    calls.graph = graph;
    result
}

/// Returns whether the passes that run include register allocation. If so, the registers and frames of called
/// functions are known when callers are compiled. If not, callers must assume that a call clobbers everything
/// that the convention allows.
pub(crate) fn is_allocated(job: &Job<'_>) -> bool {
    job.range.machine().contains(&const { machine_pass("regalloc") })
}

/// Returns, for each function, the smallest and the largest wave size of the kernels that reach it. Kernels
/// of other objects have the target's default wave size.
fn wave_sizes(module: &ir::Module, graph: &CallGraph, target: &Subtarget) -> Vec<Option<(u32, u32)>> {
    let own = |id| match &module.funcs[id] {
        ir::Function { kernel: Some(kernel), .. } => Some(own_target(target, kernel).wave_size),
        func => (func.linkage == ir::Linkage::Export).then_some(target.wave_size),
    };
    let fewest = graph.least_of_callers(own);
    let most = graph.least_of_callers(|id| own(id).map(Reverse));
    fewest.into_iter().zip(most).map(|(fewest, most)| Some((fewest?, most?.0))).collect()
}

/// Returns the error for a function that waves of two sizes call. The code of a function works for only one
/// wave size.
#[cold]
fn two_sizes(func: &ir::Function, (fewest, most): (u32, u32), job: &Job<'_>) -> Error {
    let message =
        format!("function `{}` is called in wavefronts of {fewest} lanes and in those of {most}", func.name);
    let help = "its code is for one of both: let it be `#[inline]`, or give all kernels that get to it the same `#[wave_size(n)]`";
    let call = func.insts.values().map(|inst| inst.loc.0).find(|&loc| loc > 0).unwrap_or(0);
    job.refuse(
        "E0115",
        message,
        help.to_owned(),
        job.source_range(call, 1).map(|place| (place, "in this function")),
    )
}

/// Returns, for each function, its index in the list of machine functions, which begins with the kernels.
fn places(module: &ir::Module) -> Vec<Option<usize>> {
    let kernels = module.funcs.iter().filter(|(_, func)| func.kernel.is_some()).map(|(id, _)| id);
    let mut places = vec![None; module.funcs.len()];
    for (number, id) in kernels.chain(with_code(module.funcs.iter())).enumerate() {
        places[id.as_u32() as usize] = Some(number);
    }
    places
}

/// Returns the call graph of functions that were read as machine IR and have no IR. The calls are those in
/// the machine functions.
fn graph_of_code(module: &ir::Module, code: &[MachFunc]) -> CallGraph {
    let places = places(module);
    let mut graph = CallGraph::default();
    graph.compute_of(module, |id, each| {
        let Some(func) = places[id.as_u32() as usize].and_then(|place| code.get(place)) else { return };
        for call in &func.calls {
            each(match call.callee {
                mir::Callee::Func(id) => Use::Call(ir::FuncId::from_u32(id)),
                mir::Callee::Pointer(sig) => Use::Through(ir::SigId::from_u32(sig)),
            });
        }
        // Some of the relocations belong to the calls above.
        for reloc in &func.relocs {
            if let mir::Referent::Func(id) = reloc.to {
                each(Use::Address(ir::FuncId::from_u32(id)));
            }
        }
    });
    graph
}

/// Returns the functions that have code in this module.
fn with_code<'a>(
    funcs: impl Iterator<Item = (ir::FuncId, &'a ir::Function)>,
) -> impl Iterator<Item = ir::FuncId> {
    let here = |func: &ir::Function| func.kernel.is_none() && func.linkage != ir::Linkage::Extern;
    funcs.filter(move |(_, func)| here(func)).map(|(id, _)| id)
}

/// Returns whether a function leaves the limit of LDS accesses in register M0. A function that writes M0
/// usually counts as changing the limit, whatever it writes. But if all functions of the module keep the
/// limit in M0 (`agreed`), a write of this limit is harmless.
fn keeps_m0(func: &MachFunc, agreed: bool) -> bool {
    let limit = isa::RegRange { first: isa::Reg::M0, len: 1 };
    let insts = func.blocks.values().flat_map(|block| &block.insts);
    insts.into_iter().all(|inst| {
        if inst.operands().first() == Some(&isa::Operand::Reg(mir::TAIL_TARGET))
            && inst.op == isa::op::S_SETPC_B64
        {
            // This instruction is a tail call. The function to which it jumps may leave any value in M0.
            return false;
        }
        let writes = inst.operands().first() == Some(&isa::Operand::Reg(limit));
        !writes
            || agreed
                && inst.op == isa::op::S_MOV_B32
                && inst.operands().get(1) == Some(&isa::Operand::int(-1))
    })
}

/// Returns whether a function needs a stack: it uses the stack pointer or the scratch descriptor, or calls a
/// function that needs a stack.
fn wants_stack(func: &MachFunc, convention: Convention) -> bool {
    let pointer = callconv::column(convention).stack.pointer;
    let insts = func.blocks.values().flat_map(|block| &block.insts);
    let named = insts.into_iter().flat_map(|inst| inst.operands()).any(|operand| match *operand {
        isa::Operand::Reg(range) => range.first.0 < 4 || range.first.0 == pointer,
        _ => false,
    });
    named || func.calls.iter().any(|call| call.stack)
}

/// Makes each kernel reserve the resources that its callees need. `code` contains the kernels in order,
/// followed by the functions.
///
/// # Errors
/// The stack size of a kernel is known and is larger than the processor provides per work-item.
#[cold]
pub(crate) fn propagate(
    calls: &Calls,
    module: &ir::Module,
    code: &mut [MachFunc],
    (target, unknown_depth): (&Subtarget, u32),
    job: &Job<'_>,
) -> Result<(), Error> {
    let place = places(module);
    let mut uses = vec![None; place.len()];
    // A recursive function uses what all functions in its cycle of calls use. The computation is therefore
    // repeated until nothing changes.
    while calls
        .graph
        .bottom_up()
        .iter()
        .fold(false, |again, &id| again | find_uses(calls, id, code, &place, &mut uses))
    {}
    let limit = target.addressing.scratch_per_wave / target.wave_size;
    for (id, kernel) in module.funcs.iter().filter(|(_, func)| func.kernel.is_some()) {
        let number = id.as_u32() as usize;
        let (Some(uses), Some(place)): (Option<Uses>, _) = (uses[number], place[number]) else { continue };
        if let Some(stack) = uses.stack.filter(|&stack| stack > limit) {
            return Err(too_deep(kernel, (stack, limit), target, job));
        }
        let func = &mut code[place];
        func.vgprs = uses.vgprs;
        func.sgprs = uses.sgprs;
        func.uses_vcc = uses.vcc;
        func.hidden |= uses.hidden;
        func.dynamic_stack = uses.stack.is_none();
        let unknown = func.scratch_size.saturating_add(unknown_depth);
        func.scratch_size = uses.stack.unwrap_or(unknown.min(limit));
    }
    Ok(())
}

/// Returns the error for a kernel that needs more stack than a work-item has. The stack has the frames of the
/// kernel and of its callees.
#[cold]
fn too_deep(func: &ir::Function, (stack, limit): (u32, u32), target: &Subtarget, job: &Job<'_>) -> Error {
    let name = &func.name;
    let message = format!(
        "kernel `{name}` and what it calls need {stack} bytes of private memory a work-item; {} has {limit}",
        target.name
    );
    let help = "make private arrays smaller, or put them into `global` memory".to_owned();
    let loc = func.kernel.as_ref().map_or(0, |kernel| kernel.loc.0);
    job.refuse(
        "E0110",
        message,
        help,
        job.source_range(loc, name.len()).map(|place| (place, "needs too much")),
    )
}

/// Computes the registers and the stack that a function uses together with all its callees. What is known
/// about the callees may not be final yet. Returns whether the result has changed.
fn find_uses(
    calls: &Calls,
    id: ir::FuncId,
    code: &[MachFunc],
    places: &[Option<usize>],
    known: &mut [Option<Uses>],
) -> bool {
    let number = id.as_u32() as usize;
    // The resource use of code in another object is unknown.
    let Some(place) = places[number] else { return false };
    let func = &code[place];
    let MachFunc { vgprs, sgprs, uses_vcc, scratch_size, hidden, .. } = *func;
    let mut all = Uses { vgprs, sgprs, vcc: uses_vcc, hidden, stack: None };
    let mut deepest = (!calls.graph.is_recursive(id)).then_some(0);
    let place_of = |callee: u32| places[callee as usize].is_some();
    let through = func.calls.iter().filter_map(|call| match call.callee {
        mir::Callee::Pointer(sig) => Some(calls.graph.targets(ir::SigId::from_u32(sig))),
        mir::Callee::Func(_) => None,
    });
    let mut taken = Vec::new();
    for targets in through {
        taken.extend(targets.known.iter().map(|func| func.as_u32()));
        deepest = deepest.filter(|_| !targets.foreign);
        all.hidden |= if targets.foreign { calls.foreign_hidden } else { isa::Hidden::empty() };
    }
    for callee in callees(func).chain(taken) {
        let Some(Uses { vgprs, sgprs, vcc, hidden, stack }) = known[callee as usize] else {
            deepest = deepest.filter(|_| place_of(callee));
            all.hidden |= if place_of(callee) { isa::Hidden::empty() } else { calls.foreign_hidden };
            continue;
        };
        all.vgprs = all.vgprs.max(vgprs);
        all.sgprs = all.sgprs.max(sgprs);
        all.vcc |= vcc;
        all.hidden |= hidden;
        deepest = deepest.zip(stack).map(|(a, b)| a.max(b));
    }
    all.stack = deepest.map(|below| scratch_size.saturating_add(below));
    known[number].replace(all) != Some(all)
}

/// Returns the functions that the code calls by name.
fn callees(func: &MachFunc) -> impl Iterator<Item = u32> {
    func.calls.iter().filter_map(|call| match call.callee {
        mir::Callee::Func(id) => Some(id),
        mir::Callee::Pointer(_) => None,
    })
}
