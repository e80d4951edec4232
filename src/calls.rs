//! Functions that are called: compiled before who calls them, so that a call costs what the function takes, and what a kernel needs for all
//! that it may call.

use crate::error::Error;
use crate::models::Models;
use crate::pipeline::{Job, Observer, Scratch, register_budget};
use callconv::Convention;
use frontend::Printf;
use ir::analysis::CallGraph;
use isa::{MachFunc, Subtarget};

/// Bytes of stack that a kernel gets where nobody knows how deep calls go: what recursion may take of a work-item. As many as LLVM
/// takes a call of unknown code for (`-amdgpu-assume-external-call-stack-size`).
pub(crate) const UNKNOWN_DEPTH: u32 = 16384;

/// IR instructions of a module up to which all functions are taken to be near enough for a call in one instruction: at a few
/// instructions of eight bytes for each, well within the 2^17 bytes that it reaches.
const NEAR: usize = 2000;

const SGPRS: usize = 0;
const VGPRS: usize = 1;

/// What calls need to know, gathered before the first function is compiled.
pub(crate) struct Calls {
    /// By function.
    pub callees: Vec<isel::Callee>,
    /// What addresses of functions lead to.
    pub pointer: isel::Callee,
    /// Variables in LDS that functions name.
    pub shared: isel::SharedLayout,
    /// Whether functions are near each other.
    pub near: bool,
    /// The calling convention.
    pub convention: Convention,
    /// Hidden arguments that code of another object may ask for.
    foreign_hidden: isa::Hidden,
    graph: CallGraph,
    /// By function: SGPRs and VGPRs that all kernels have that get to it.
    room: [Vec<Option<u32>>; 2],
}

/// Registers and stack of a function and of all that it calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Uses {
    vgprs: u32,
    sgprs: u32,
    vcc: bool,
    hidden: isa::Hidden,
    /// Bytes of a lane; `None` if nobody knows.
    stack: Option<u32>,
}

impl Calls {
    /// Of a module. Nothing is gathered where no function is called.
    pub fn new(module: &ir::Module, target: &Subtarget, job: &Job<'_>, scratch: &mut isel::Context) -> Calls {
        let convention = Convention::Today;
        let opts = isel::Options { lacks: job.lacks, convention, ..isel::Options::default() };
        let unknown = isel::Callee::unknown(convention, target);
        let graph = CallGraph::new(module);
        // Code of another object may be given an address of ours and the other way round.
        let foreign = module.funcs.values().any(|func| func.linkage != ir::Linkage::Local)
            || module.globals.values().any(|global| global.external);
        let (needs, pointer) = isel::needs(module, (&graph, foreign), target, &opts, scratch);
        let pointer = isel::Callee { needs: pointer, ..unknown.clone() };
        let local = |func: &ir::Function| func.linkage == ir::Linkage::Local;
        let callees = needs.into_iter().zip(module.funcs.values());
        let callees =
            callees.map(|(needs, func)| isel::Callee { needs, local: local(func), ..unknown.clone() });
        let callees = callees.collect();
        // The kernels of other objects may have the largest of work-groups.
        let stranger = ir::KernelInfo::default();
        let size: usize = module.funcs.values().map(ir::Function::inst_count).sum();
        let shared = isel::shared_layout(module, target, &opts, scratch);
        let room = [SGPRS, VGPRS].map(|class| {
            graph.least_of_callers(|id| match &module.funcs[id] {
                func if func.kernel.is_none() && func.linkage != ir::Linkage::Export => None,
                func => register_budget(target, func.kernel.as_ref().unwrap_or(&stranger))[class],
            })
        });
        let foreign_hidden = foreign_hidden(target, job.options.printf);
        Calls { callees, pointer, shared, near: size <= NEAR, convention, foreign_hidden, graph, room }
    }
}

/// What code of another object may print with or trap by: both ways of printing where each has its place, else the one that this object has.
fn foreign_hidden(target: &Subtarget, printf: Printf) -> isa::Hidden {
    let ways =
        [(Printf::Buffer, isa::Hidden::PRINTF_BUFFER), (Printf::Hostcall, isa::Hidden::HOSTCALL_BUFFER)];
    let offset = |hidden| isa::HiddenArgs::of(target.code_object).offset(hidden);
    let apart = offset(ways[0].1) != offset(ways[1].1);
    let ways = ways.into_iter().filter(|&(way, _)| apart || way == printf).map(|(_, hidden)| hidden);
    ways.fold(isel::trap_hidden(target), |all, hidden| all | hidden)
}

/// Compiles all functions of a module that are no kernels, callees first, and says of each what a call of it costs. `code` gets them in the
/// order of the module.
pub(crate) fn functions(
    scratch: &mut Scratch,
    models: &Models,
    module: &mut ir::Module,
    job: &Job<'_>,
    (calls, code): (&mut Calls, &mut Vec<MachFunc>),
    observer: &mut dyn Observer,
) -> Result<(), Error> {
    let graph = std::mem::take(&mut calls.graph);
    let model = models.of(None)?;
    let mut funcs = std::mem::take(&mut module.funcs);
    let kernels = funcs.values().filter(|func| func.kernel.is_some()).count();
    let numbers: Vec<ir::FuncId> = with_code(funcs.iter()).collect();
    code.resize_with(numbers.len(), MachFunc::default);
    let mut result = Ok(());
    for &id in graph.bottom_up() {
        let Some(number) = numbers.iter().position(|&known| known == id) else { continue };
        let room = [SGPRS, VGPRS].map(|class| calls.room[class][id.as_u32() as usize]);
        let own = job.calling(Some(calls), room);
        let func = &mut funcs[id];
        result = scratch.kernel((model, module), (kernels + number, func), &mut code[number], &own, observer);
        if result.is_err() {
            break;
        }
        let callee = &mut calls.callees[id.as_u32() as usize];
        if !graph.is_recursive(id) {
            callee.clobbers = code[number].clobbers;
        }
        callee.keeps_m0 = keeps_m0(&code[number]);
        callee.stack = graph.is_recursive(id) || wants_stack(&code[number]);
    }
    module.funcs = funcs;
    calls.graph = graph;
    result
}

/// The functions that have code here.
fn with_code<'a>(
    funcs: impl Iterator<Item = (ir::FuncId, &'a ir::Function)>,
) -> impl Iterator<Item = ir::FuncId> {
    let here = |func: &ir::Function| func.kernel.is_none() && func.linkage != ir::Linkage::Extern;
    funcs.filter(move |(_, func)| here(func)).map(|(id, _)| id)
}

/// Whether M0 is what LDS accesses want when a function returns: it writes nothing else there, nor does who it calls (which says so
/// by writing it again).
fn keeps_m0(func: &MachFunc) -> bool {
    let limit = isa::RegRange { first: isa::Reg::M0, len: 1 };
    let insts = func.blocks.values().flat_map(|block| &block.insts);
    insts.into_iter().all(|inst| {
        let writes = inst.operands().first() == Some(&isa::Operand::Reg(limit));
        !writes || inst.op == isa::op::S_MOV_B32 && inst.operands().get(1) == Some(&isa::Operand::int(-1))
    })
}

/// Whether a function names the stack pointer or the descriptor of scratch memory, or calls another that does.
fn wants_stack(func: &MachFunc) -> bool {
    let insts = func.blocks.values().flat_map(|block| &block.insts);
    let named = insts.into_iter().flat_map(|inst| inst.operands()).any(|operand| match *operand {
        isa::Operand::Reg(range) => {
            range.first.0 < 4 || range.first.0 == callconv::column(Convention::Today).stack.pointer
        }
        _ => false,
    });
    named || func.calls.iter().any(|call| call.stack)
}

/// Makes kernels ask for what those need that they call. `code` has the kernels in order, then the functions.
pub(crate) fn propagate(calls: &Calls, module: &ir::Module, code: &mut [MachFunc], target: &Subtarget) {
    let kernels = module.funcs.iter().filter(|(_, func)| func.kernel.is_some()).map(|(id, _)| id);
    let mut place = vec![None; module.funcs.len()];
    for (number, id) in kernels.chain(with_code(module.funcs.iter())).enumerate() {
        place[id.as_u32() as usize] = Some(number);
    }
    let mut uses = vec![None; place.len()];
    // What calls itself uses what all on the way use, so once is not enough.
    while calls
        .graph
        .bottom_up()
        .iter()
        .fold(false, |again, &id| again | find_uses(calls, id, code, &place, &mut uses))
    {}
    let limit = target.addressing.scratch_per_wave / target.wave_size;
    for (id, _) in module.funcs.iter().filter(|(_, func)| func.kernel.is_some()) {
        let number = id.as_u32() as usize;
        let (Some(uses), Some(place)): (Option<Uses>, _) = (uses[number], place[number]) else { continue };
        let func = &mut code[place];
        func.vgprs = uses.vgprs;
        func.sgprs = uses.sgprs;
        func.uses_vcc = uses.vcc;
        func.hidden |= uses.hidden;
        func.dynamic_stack = uses.stack.is_none();
        func.scratch_size = uses.stack.unwrap_or(func.scratch_size + UNKNOWN_DEPTH).min(limit);
    }
}

/// What a function and all that it calls use, as far as that is known of those. Says whether it is another answer than before.
fn find_uses(
    calls: &Calls,
    id: ir::FuncId,
    code: &[MachFunc],
    places: &[Option<usize>],
    known: &mut [Option<Uses>],
) -> bool {
    let number = id.as_u32() as usize;
    // Nobody knows what code of another object uses.
    let Some(place) = places[number] else { return false };
    let func = &code[place];
    let MachFunc { vgprs, sgprs, uses_vcc, scratch_size, hidden, .. } = *func;
    let mut all = Uses { vgprs, sgprs, vcc: uses_vcc, hidden, stack: None };
    let mut deepest = (!calls.graph.is_recursive(id)).then_some(0);
    let place_of = |callee: u32| places[callee as usize].is_some();
    let through = func.calls.iter().filter_map(|call| match call.callee {
        isa::Callee::Pointer(sig) => Some(calls.graph.targets(ir::SigId::from_u32(sig))),
        isa::Callee::Func(_) => None,
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
    all.stack = deepest.map(|below| scratch_size + below);
    known[number].replace(all) != Some(all)
}

/// The functions that code calls by their names.
fn callees(func: &MachFunc) -> impl Iterator<Item = u32> {
    func.calls.iter().filter_map(|call| match call.callee {
        isa::Callee::Func(id) => Some(id),
        isa::Callee::Pointer(_) => None,
    })
}
