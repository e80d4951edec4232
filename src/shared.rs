//! LDS variables that the linker places, because kernels or functions of several object files may use them.
//!
//! Usually, a kernel has its own LDS variables at fixed addresses from 0 on. But which kernels reach a
//! function of another object file is known only when the object files are linked. Two kinds of variables
//! therefore have no fixed address. The first kind are the variables of functions that other object files may
//! call. The second kind are the variables of a module whose kernels may run code of other object files.
//!
//! Each variable of these kinds is a symbol (LLVM's AMDGPU guide: seed 000, line 472), as if it were `extern`
//! in each object file. Dynamic LDS is a symbol without a size, which comes after all other variables.

use crate::error::Error;
use crate::pipeline::Job;
use ir::analysis::CallGraph;
use ir::{
    FuncId, Function, Global, GlobalData, KernelInfo, Linkage, Module, Op, ParamKind, Space, SrcLoc, WaveOp,
};
use isa::Subtarget;

/// Name of an LDS variable through which lanes exchange values, in functions that other object files may
/// call. Only processors that use LDS for cross-lane operations need it.
const EXCHANGE: &str = "lanes.exchange";

/// Marks the variables of a module that the linker must place.
pub(crate) fn mark(module: &mut Module) {
    if module.funcs.values().any(|func| func.kernel.is_none()) {
        add_exchange(module);
        mark_shared(module);
    }
    let external = |data: &&mut GlobalData| data.space == Space::Shared && data.external;
    module.globals.values_mut().filter(external).for_each(|data| data.linked = true);
}

#[cold]
fn mark_shared(module: &mut Module) {
    let graph = CallGraph::new(module);
    let is_open = is_open(module);
    let called = called_from_outside(module, &graph);
    let mut dynamic_in_functions = false;
    let Module { funcs, globals, .. } = module;
    for (id, func) in funcs.iter().filter(|(_, func)| func.kernel.is_none()) {
        for op in operations(func) {
            let Op::GlobalAddr(global) = op else { continue };
            let data = &mut globals[global];
            if data.space == Space::Shared {
                data.linked |= called[id.as_u32() as usize].is_some();
                dynamic_in_functions |= data.dynamic;
            }
        }
    }
    for data in globals.values_mut().filter(|data| data.space == Space::Shared) {
        data.linked |= match data.dynamic {
            true => is_open || dynamic_in_functions,
            false => is_open && !is_of_function(data),
        };
    }
}

/// Adds the LDS variable [`EXCHANGE`], with one dword per work-item, to a module that may need it. Whether
/// the code really uses the variable is known only later; if it does not, the variable gets no symbol.
#[cold]
fn add_exchange(module: &mut Module) {
    let called = called_from_outside(module, &CallGraph::new(module));
    let exchanges = |op: Op| matches!(op, Op::Wave(WaveOp::Shuffle | WaveOp::Permute));
    let mut functions = module.funcs.iter().filter(|(id, _)| called[id.as_u32() as usize].is_some());
    if functions.any(|(_, func)| operations(func).any(exchanges)) && exchange(module).is_none() {
        module.globals.push(GlobalData {
            name: EXCHANGE.into(),
            space: Space::Shared,
            size: 4 * KernelInfo::default().max_flat_workgroup_size(),
            align: 256,
            init: Vec::new(),
            dynamic: false,
            external: false,
            linked: true,
            funcs: Vec::new(),
        });
    }
}

/// Returns [`EXCHANGE`], if the module has it.
pub(crate) fn exchange(module: &Module) -> Option<Global> {
    module.globals.iter().find(|(_, data)| data.name == EXCHANGE).map(|(global, _)| global)
}

/// Returns whether code of other object files may call functions of the module or be called from it. This is
/// also true of a module without kernels, because only other object files can use it.
pub(crate) fn is_open(module: &Module) -> bool {
    let is_outside = |func: &Function| func.kernel.is_none() && func.linkage != Linkage::Local;
    module.funcs.values().any(is_outside) || module.funcs.values().all(|func| func.kernel.is_none())
}

/// Returns, for each function, whether code of another object file may call it, directly or through other
/// functions: `Some(())` if so, otherwise `None`.
pub(crate) fn called_from_outside(module: &Module, graph: &CallGraph) -> Vec<Option<()>> {
    let is_open = is_open(module);
    graph.least_of_callers(|id: FuncId| {
        let func = &module.funcs[id];
        let is_export = func.kernel.is_none() && func.linkage == Linkage::Export;
        (is_export || is_open && graph.is_address_taken(id)).then_some(())
    })
}

/// Returns the position of the first use of an LDS variable in a function. If one of a kernel's parameters is
/// dynamic LDS, returns the position of the kernel.
pub(crate) fn first_use(module: &Module, func: &Function) -> Option<SrcLoc> {
    let is_shared =
        |op: Op| matches!(op, Op::GlobalAddr(global) if module.globals[global].space == Space::Shared);
    let mut insts = func.layout.iter().flat_map(|&block| func.blocks[block].insts());
    let named = insts.find(|&&inst| is_shared(func.insts[inst].op)).map(|&inst| func.own_location(inst));
    let given = func
        .kernel
        .as_ref()
        .filter(|kernel| kernel.params.iter().any(|param| param.kind == ParamKind::DynamicShared));
    named.or(given.map(|kernel| kernel.loc))
}

/// Reports a kernel that needs, together with its callees, more LDS than the processor gives a work-group.
pub(crate) fn check_size(
    module: &Module,
    lds: impl Iterator<Item = u32>,
    target: &Subtarget,
    job: &Job<'_>,
) -> Result<(), Error> {
    let kernels = module.funcs.values().filter_map(|func| Some((func, func.kernel.as_ref()?)));
    let most = target.max_lds_per_group;
    let Some(((func, kernel), lds)) = kernels.zip(lds).find(|&(_, lds)| lds > most) else { return Ok(()) };
    let name = &func.name;
    let message = format!(
        "kernel `{name}` has {lds} bytes of `shared` memory, with what it calls; a work-group of {} has {most}",
        target.name
    );
    let help = "make the variables smaller, or let several uses have one variable".to_owned();
    Err(job.refuse(
        "E0086",
        message,
        help,
        job.source_range(kernel.loc.0, name.len()).map(|place| (place, "uses too much")),
    ))
}

fn operations(func: &Function) -> impl Iterator<Item = Op> + '_ {
    func.layout.iter().flat_map(|&block| func.blocks[block].insts()).map(|&inst| func.insts[inst].op)
}

/// Returns whether a variable is declared inside a function, so that other object files cannot refer to it.
/// The name of such a variable consists of the function's name, a dot and the name in the source.
pub(crate) fn is_of_function(data: &GlobalData) -> bool {
    data.name.contains('.')
}
