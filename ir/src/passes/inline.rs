//! Inlining, callees first: replaces calls by copies of the callee's body, and drops functions that are no
//! longer called.
//!
//! A call stays if the callee is recursive, is in another object, or must not be inlined. With
//! [`Calls::ByCost`], a call also stays if inlining would make the code larger without making it much faster.
//! A function that is called once is inlined, and so is a function that is hardly larger than a call. The
//! size of a callee is known when it is considered, because its own calls have already been inlined.
//!
//! In a kernel that limits its registers, all calls are inlined if possible: a call uses the registers that
//! the calling convention prescribes, and the called functions would have to respect the limit for all their
//! callers.

use super::OptOptions;
use super::inline_for_sroa::InlineForSroa;
use crate::analysis::CallGraph;
use crate::entity::{Block, FuncId, Inst, Slot, Value};
use crate::func::{Function, Inline, Linkage, Module, SrcLoc, Values};
use crate::op::Op;
use crate::track::{Fragment, Site, Track, Variable, What};
use crate::types::{Space, Type};
use cranelift_entity::{EntityRef, SecondaryMap};

/// Number of instructions that a function may reach through inlining. Calls beyond this limit stay, and code
/// generation reports them.
const MAX_INSTS: usize = 1 << 20;

/// Which of the calls that can be inlined are inlined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Calls {
    /// All calls.
    #[default]
    InlineAll,
    /// Calls of functions that are marked `#[inline]`, that are called once, or that are small.
    ByCost,
}

/// Which calls of a function are inlined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Copied {
    #[default]
    None,
    /// Only calls in functions that a register-limited kernel reaches.
    Limited,
    All,
}

/// Number of instructions that a call costs in the caller and the callee together. Each argument and each
/// result costs one more.
const CALL_INSTS: usize = 16;
/// Limit for the growth of the code when a function is inlined, by optimisation level. The growth is the
/// number of instructions of all copies of the function, less that of the calls that they replace.
const MAX_GROWTH: [usize; 4] = [0, 16, 48, 192];

/// Like [`MAX_GROWTH`], for functions whose inlining turns private variables of their callers from memory
/// into values. The limit is as high as that for unrolling a loop over a private array.
const MAX_FREEING_GROWTH: [usize; 4] = [0, 2048, 8192, 8192];
/// Like [`MAX_GROWTH`], for functions that access LDS through pointers or wait at barriers. Knowledge about
/// the contents of LDS and about accesses in flight is lost at a call.
const MAX_SHARED_GROWTH: [usize; 4] = [0, 48, 192, 768];

/// Storage of the pass.
#[derive(Debug, Default)]
pub struct Scratch {
    graph: CallGraph,
    freed: InlineForSroa,
    /// For each block, value and slot of the callee, its copy in the caller.
    blocks: SecondaryMap<Block, Option<Block>>,
    values: SecondaryMap<Value, Option<Value>>,
    slots: SecondaryMap<Slot, Option<Slot>>,
    /// Instructions of the callee and their copies.
    copies: Vec<(Inst, Inst)>,
    /// For each function, which calls of it are inlined, and the number of calls of it.
    copied: Vec<Copied>,
    calls: Vec<usize>,
    /// For each function, whether a register-limited kernel reaches it.
    limited: Vec<bool>,
    /// The caller before inlining: its blocks, and the instructions of the current block.
    layout: Vec<Block>,
    insts: Vec<Inst>,
    /// For each function, whether it is still needed, and its new number.
    needed: Vec<bool>,
    renumbered: Vec<FuncId>,
    work: Vec<FuncId>,
}

/// Inlines calls and drops the functions that are no longer needed.
pub fn run(module: &mut Module, opts: &OptOptions, s: &mut Scratch) {
    if module.funcs.values().all(|f| f.kernel.is_some()) {
        return;
    }
    let mut graph = std::mem::take(&mut s.graph);
    graph.compute(module);
    s.copied.clear();
    s.copied.resize(module.funcs.len(), Copied::None);
    let limits =
        |id: FuncId| module.funcs[id].kernel.as_ref().filter(|kernel| kernel.limits_registers()).map(|_| ());
    s.limited.clear();
    s.limited.extend(graph.least_of_callers(limits).iter().map(Option::is_some));
    count_calls(module, &s.limited, &mut s.calls);
    let is_free = |id: FuncId| may_be_copied(&module.funcs[id], graph.is_recursive(id));
    s.freed.compute(module, &graph, is_free);
    for &id in graph.bottom_up() {
        inline_calls(module, id, s);
        let func = &module.funcs[id];
        let stays = !graph.has_known_callers(module, id);
        s.copied[id.index()] = if !may_be_copied(func, graph.is_recursive(id)) {
            Copied::None
        } else if opts.calls == Calls::InlineAll
            || func.inline == Inline::Always
            || growth(func, s.calls[id.index()], stays)
                <= most_growth(func, s.freed.frees_variables(id), opts)
        {
            Copied::All
        } else {
            Copied::Limited
        };
    }
    s.graph = graph;
    drop_uncalled(module, s);
}

/// Counts the calls of each function in functions that no register-limited kernel reaches.
fn count_calls(module: &Module, limited: &[bool], calls: &mut Vec<usize>) {
    calls.clear();
    calls.resize(module.funcs.len(), 0);
    let free = module.funcs.iter().filter(|(id, _)| !limited[id.index()]);
    for func in free.map(|(_, func)| func) {
        for &inst in func.layout.iter().flat_map(|&b| func.blocks[b].insts()) {
            if let Op::Call(callee) = func.insts[inst].op {
                calls[callee.index()] += 1;
            }
        }
    }
}

/// Returns how many more instructions all copies of a function have than the calls they replace. If `stays`,
/// the function is kept in addition to its copies because other code may call it.
fn growth(func: &Function, calls: usize, stays: bool) -> usize {
    let insts = func.layout.iter().flat_map(|&b| func.blocks[b].insts());
    let size = insts.filter(|&&inst| !matches!(func.insts[inst].op, Op::Const(_) | Op::Jump(_))).count();
    let call = CALL_INSTS + func.own_params().len() + func.results.len();
    let copies = calls - usize::from(calls > 0 && !stays);
    copies.saturating_mul(size.saturating_sub(call))
}

/// Returns the maximum growth allowed for a function.
fn most_growth(func: &Function, frees: bool, opts: &OptOptions) -> usize {
    let by_level = if frees {
        MAX_FREEING_GROWTH
    } else if works_on_shared(func) {
        MAX_SHARED_GROWTH
    } else {
        MAX_GROWTH
    };
    by_level[usize::from(opts.level).min(3)]
}

/// Returns whether a function has pointers to LDS as parameters, or has barriers.
fn works_on_shared(func: &Function) -> bool {
    let mut insts = func.layout.iter().flat_map(|&b| func.blocks[b].insts());
    func.param_types().any(|ty| ty == Type::Ptr(Space::Shared))
        || insts.any(|&inst| matches!(func.insts[inst].op, Op::Barrier { .. }))
}

/// Returns whether calls of a function can be inlined.
fn may_be_copied(func: &Function, is_recursive: bool) -> bool {
    let has_code = func.linkage != Linkage::Extern && func.kernel.is_none();
    has_code && !is_recursive && func.inline != Inline::Never
}

#[inline(never)]
fn inline_calls(module: &mut Module, id: FuncId, s: &mut Scratch) {
    let copied = std::mem::take(&mut s.copied);
    inline_calls_of(module, id, &copied, s);
    s.copied = copied;
}

fn inline_calls_of(module: &mut Module, id: FuncId, copied: &[Copied], s: &mut Scratch) {
    let least = if s.limited[id.index()] { Copied::Limited } else { Copied::All };
    let callee_of = |func: &Function, inst: Inst| match func.insts[inst].op {
        Op::Call(callee) if copied[callee.index()] >= least => Some(callee),
        _ => None,
    };
    let has_call = |func: &Function| {
        func.layout.iter().any(|&b| func.blocks[b].insts().iter().any(|&i| callee_of(func, i).is_some()))
    };
    if !module.funcs.get(id).is_some_and(has_call) {
        return;
    }
    // Takes the caller out of the module so that callees can be read while it is changed.
    let mut func = std::mem::take(&mut module.funcs[id]);
    let (mut layout, mut insts) = (std::mem::take(&mut s.layout), std::mem::take(&mut s.insts));
    layout.clear();
    layout.append(&mut func.layout);
    for &block in &layout {
        func.layout.push(block);
        let mut at = block;
        func.take_insts(block, &mut insts);
        for &inst in &insts {
            match callee_of(&func, inst).filter(|_| func.insts.len() < MAX_INSTS) {
                Some(callee) => at = replace_call(&mut func, &module.funcs[callee], at, inst, s),
                None => func.append(at, inst),
            }
        }
    }
    (s.layout, s.insts) = (layout, insts);
    module.funcs[id] = func;
}

/// Appends a copy of the callee to the layout in place of the call and makes `block` jump to it. Returns the
/// block in which the code after the call continues.
fn replace_call(func: &mut Function, callee: &Function, block: Block, call: Inst, s: &mut Scratch) -> Block {
    let rest = func.make_block();
    // The results of the call become parameters of the block that follows.
    for (index, value) in func.results_of(call).enumerate() {
        func.values[value].def = crate::func::ValueDef::Param(rest, index as u16);
        func.blocks[rest].params.push(value, &mut func.pool);
    }
    func.insts[call].results = 0;
    let args = Values::from_slice(func.args(call));
    let loc = func.insts[call].loc;
    let entry = copy_body(func, callee, rest, loc, s);
    let jump = func.push(block, Op::Jump(entry), &args, loc);
    if let Some(track) = &mut func.track {
        track.hand_to(&[call], jump);
    }
    func.layout.push(rest);
    rest
}

/// Copies the callee's blocks into `func`, with returns replaced by jumps to `rest`. Returns the copy of the
/// entry block. Instructions without a source location get the location of the call.
fn copy_body(func: &mut Function, callee: &Function, rest: Block, call: SrcLoc, s: &mut Scratch) -> Block {
    let Scratch { blocks, values, slots, copies, .. } = s;
    blocks.clear();
    values.clear();
    slots.clear();
    copies.clear();
    for (slot, data) in callee.slots.iter() {
        slots[slot] = Some(func.slots.push(*data));
    }
    for &old in &callee.layout {
        let new = func.make_block();
        blocks[old] = Some(new);
        func.layout.push(new);
        func.unroll[new] = callee.unroll[old];
        if callee.unroll_at[old] != SrcLoc::default() {
            func.unroll_at[new] = callee.unroll_at[old];
        }
        for &param in callee.params(old) {
            values[param] = Some(func.add_param(new, callee.ty(param)));
        }
    }
    let block_of = |b: Block| blocks[b].unwrap_or(rest);
    for &old in &callee.layout {
        for &inst in callee.blocks[old].insts() {
            let data = &callee.insts[inst];
            let op = match data.op {
                Op::Jump(to) => Op::Jump(block_of(to)),
                Op::Br { then, otherwise, then_args } => {
                    Op::Br { then: block_of(then), otherwise: block_of(otherwise), then_args }
                }
                Op::Switch(switch) => {
                    let mut data = callee.switches[switch].clone();
                    data.edges.iter_mut().for_each(|edge| edge.to = block_of(edge.to));
                    Op::Switch(func.switches.push(data))
                }
                Op::Ret => Op::Jump(rest),
                Op::SlotAddr(slot) => Op::SlotAddr(slots[slot].unwrap_or(slot)),
                op => op,
            };
            let ty = if data.results > 0 { callee.ty(data.first) } else { crate::types::Type::Bool };
            let loc = if data.loc == SrcLoc::default() { call } else { data.loc };
            let new = func.push_n(block_of(old), op, &[], ty, data.results, loc);
            for (from, to) in callee.results_of(inst).zip(func.results_of(new)) {
                values[from] = Some(to);
                // A call can have results of different types.
                func.values[to].ty = callee.ty(from);
            }
            copies.push((inst, new));
        }
    }
    // Arguments are set last, because a block may precede the block that defines a value it uses.
    if let (Some(_), Some(from)) = (&func.track, &callee.track) {
        copy_track(func, (callee, from), call, (values, slots, copies));
    }
    let mut args = Values::new();
    for &(old, new) in &*copies {
        args.clear();
        args.extend(callee.args(old).iter().filter_map(|&v| values[v]));
        func.set_args(new, &args);
    }
    block_of(callee.entry())
}

/// The copies of the callee's values, slots and instructions.
type Copies<'a> =
    (&'a SecondaryMap<Value, Option<Value>>, &'a SecondaryMap<Slot, Option<Slot>>, &'a [(Inst, Inst)]);

/// Copies the callee's debug records and variables, marked as part of an inlined call.
#[cold]
fn copy_track(
    func: &mut Function,
    (callee, from): (&Function, &Track),
    call: SrcLoc,
    (values, slots, copies): Copies<'_>,
) {
    let Some(mut track) = func.track.take() else { return };
    let (call, parent) = track.split(call);
    let own = track.sites.len() as u32 + 1;
    track.sites.push(Site { callee: from.number, call, parent });
    let moved = |site: u32| own + site;
    track.sites.extend(from.sites.iter().map(|site| Site { parent: moved(site.parent), ..*site }));
    let first = track.variables.len() as u32;
    track.variables.extend(from.variables.iter().map(|variable| Variable {
        home: variable.home.and_then(|slot| slots[slot]),
        site: moved(variable.site),
        ..variable.clone()
    }));
    let fragment_of = |fragment: Fragment| Fragment { variable: first + fragment.variable, ..fragment };
    let place = |track: &Track, loc: SrcLoc| {
        let (loc, site) = from.split(loc);
        track.location_in_copy(loc, moved(site))
    };
    for &(old, new) in copies {
        for what in from.notes.before(old) {
            let what = match what {
                What::Statement(loc) => What::Statement(place(&track, loc)),
                What::Lost(fragment) | What::Term(fragment, _) => What::Lost(fragment_of(fragment)),
                What::Value(fragment, value) => match values[value] {
                    Some(value) => What::Value(fragment_of(fragment), value),
                    None => What::Lost(fragment_of(fragment)),
                },
            };
            track.notes.add(new, [what]);
        }
        let loc = callee.insts[old].loc;
        if loc != SrcLoc::default() {
            func.insts[new].loc = place(&track, loc);
        }
    }
    func.track = Some(track);
}

/// Drops all functions except kernels, exported functions, and functions that are called or have their
/// address taken in code or data that is kept.
fn drop_uncalled(module: &mut Module, s: &mut Scratch) {
    let Scratch { needed, renumbered, work, .. } = s;
    needed.clear();
    needed.resize(module.funcs.len(), false);
    let is_root = |func: &Function| func.kernel.is_some() || func.linkage == Linkage::Export;
    work.extend(module.funcs.iter().filter(|(_, func)| is_root(func)).map(|(id, _)| id));
    work.extend(module.globals.values().flat_map(|global| &global.funcs).map(|&(_, func)| func));
    while let Some(id) = work.pop() {
        if std::mem::replace(&mut needed[id.index()], true) {
            continue;
        }
        let func = &module.funcs[id];
        for &inst in func.layout.iter().flat_map(|&b| func.blocks[b].insts()) {
            if let Op::Call(callee) | Op::FuncAddr(callee) = func.insts[inst].op {
                work.push(callee);
            }
        }
    }
    renumbered.clear();
    let mut next = 0;
    for &needed in &*needed {
        renumbered.push(FuncId::new(next));
        next += usize::from(needed);
    }
    module.retain_funcs(|id| needed[id.index()]);
    for func in module.funcs.values_mut() {
        for data in func.insts.values_mut() {
            if let Op::Call(callee) | Op::FuncAddr(callee) = &mut data.op {
                *callee = renumbered[callee.index()];
            }
        }
    }
    for (_, func) in module.globals.values_mut().flat_map(|global| &mut global.funcs) {
        *func = renumbered[func.index()];
    }
}
