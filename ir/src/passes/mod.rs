//! The mid-end: turns the frontend's straightforward IR into efficient IR for instruction selection.
//!
//! [`optimize`] runs the passes of an optimisation level in the order of a table ([`pipeline`]). Each pass is
//! one file, takes time linear in the size of the function, and keeps its storage in the [`PassContext`],
//! which callers keep between compilations. A pass that needs an analysis computes the analysis if the
//! control flow has changed since it was last computed.

pub mod align;
pub mod arguments;
pub mod cleanup;
mod constants;
pub mod dce;
pub mod float_atomics;
mod forward;
pub mod frem;
pub mod ifconvert;
pub mod inline;
mod inline_for_sroa;
pub mod interval;
pub mod licm;
pub mod lookup;
pub mod loopform;
pub mod merge_mem;
pub mod missing_restrict;
pub mod ranges;
mod recursion;
pub mod restrict;
pub mod results;
mod rewrite;
pub mod rotate;
mod simplify;
pub mod spaces;
pub mod sroa;
mod strength;
pub mod switch;
mod table;
pub mod tails;
#[cfg(test)]
mod testing;
pub mod tripcount;
pub mod unroll;
mod uses;

use crate::analysis::{CallEffects, CallGraph, Cfg, DomTree, LoopForest, Uniformity};
use crate::entity::Global;
use crate::func::{Function, GlobalData, Module};
use crate::types::Space;
use cranelift_entity::PrimaryMap;
use rustc_hash::FxHashSet;
use smol_str::{SmolStr, format_smolstr};
use std::ops::{ControlFlow, Range};

/// Optimisation level and target properties that the passes depend on.
#[derive(Clone, Copy, Debug)]
pub struct OptOptions {
    /// Optimisation level. 0: only what code generation needs; 1: cheap passes; 2: the default; 3: accepts
    /// larger code for more speed.
    pub level: u8,
    /// Constant offsets that memory instructions accept.
    pub limits: Limits,
    /// Atomic floating-point operations that the processor has instructions for. Others are expanded into
    /// loops.
    pub float_atomics: float_atomics::Native,
    /// Which calls are inlined.
    pub calls: inline::Calls,
    /// Maximum size of a function result that the calling convention returns in registers, in dwords.
    pub result_dwords: u32,
}

impl Default for OptOptions {
    fn default() -> Self {
        OptOptions {
            level: 2,
            limits: Limits::default(),
            float_atomics: float_atomics::Native::default(),
            calls: inline::Calls::default(),
            result_dwords: 32,
        }
    }
}

/// Constant offsets that memory instructions accept, as inclusive ranges in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Global and generic memory.
    pub global: (i32, i32),
    /// Constant memory read through scalar loads.
    pub constant: (i32, i32),
    /// LDS.
    pub shared: (i32, i32),
    /// Scratch.
    pub private: (i32, i32),
}

impl Default for Limits {
    /// The limits of GFX9: 13 bits signed for global memory, 20 bits unsigned for scalar loads, 16 bits for
    /// LDS, 12 bits for scratch.
    fn default() -> Self {
        Limits { global: (-4096, 4095), constant: (0, (1 << 20) - 1), shared: (0, 65535), private: (0, 4095) }
    }
}

impl Limits {
    /// Returns whether an access to the address space can have this constant offset.
    pub fn fits(&self, space: Space, offset: i64) -> bool {
        let (low, high) = match space {
            Space::Global | Space::Generic => self.global,
            Space::Constant => self.constant,
            Space::Shared | Space::Region => self.shared,
            Space::Private => self.private,
        };
        (i64::from(low)..=i64::from(high)).contains(&offset)
    }
}

/// Analyses and the storage of all passes. Keep one context per thread and reuse it.
#[derive(Debug, Default)]
pub struct PassContext {
    cfg: Cfg,
    dom: DomTree,
    loops: LoopForest,
    uniformity: Uniformity,
    graph: CallGraph,
    calls: CallEffects,
    inline: inline::Scratch,
    arguments: arguments::Scratch,
    rewrite: rewrite::Scratch,
    dce: dce::Scratch,
    cleanup: cleanup::Scratch,
    unroll: unroll::Scratch,
    sroa: sroa::Scratch,
    ifconvert: ifconvert::Scratch,
    rotate: rotate::Scratch,
    licm: licm::Scratch,
    ranges: ranges::Scratch,
    restrict: restrict::Scratch,
    spaces: spaces::Scratch,
    merge: merge_mem::Scratch,
    tails: tails::Scratch,
    align: align::Alignments,
    tables: lookup::Tables,
    /// The module's global variables, while the passes run on its functions.
    globals: PrimaryMap<Global, GlobalData>,
    /// Version of the function, incremented at each change.
    version: u32,
    /// For each kind of repeated pass that need not run on an unchanged function, the version of the function
    /// when the pass last ran.
    seen: [u32; Repeat::COUNT],
    /// The saved `version` and `seen` of each function.
    versions: Vec<(u32, [u32; Repeat::COUNT])>,
}

impl PassContext {
    /// Returns the loops that the last [`optimize`] did not unroll although the source requested it.
    pub fn not_unrolled(&self) -> &[unroll::Refused] {
        unroll::refused(&self.unroll)
    }

    /// Computes the control-flow graph and the loops, and removes unreachable blocks from the layout.
    fn compute_loops(&mut self, func: &mut Function) {
        self.cfg.compute(func);
        func.layout.retain(|&b| self.cfg.is_reachable(b));
        self.loops.compute(&self.cfg);
    }

    /// Gives every loop a preheader and a single latch, and computes the control-flow graph, the loops and,
    /// if there are loops, the dominators. Returns whether there are any loops.
    fn canonical_loops(&mut self, func: &mut Function) -> bool {
        self.compute_loops(func);
        if self.loops.is_empty() {
            return false;
        }
        if loopform::canonicalize(func, &self.cfg, &self.loops) {
            self.compute_loops(func);
        }
        self.dom.compute(&self.cfg);
        true
    }
}

/// A pass over one function. Returns whether it made a change that gives other passes something to do.
type Pass = fn(&mut Function, &OptOptions, &mut PassContext) -> bool;

/// When to run a pass that occurs several times in the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repeat {
    /// Run only if the function has changed since the pass last ran.
    Gvn,
    Cleanup,
    Dce,
    /// Run at every occurrence.
    Always,
}

impl Repeat {
    const COUNT: usize = 3;
}

/// The passes on functions in order: name, lowest level that runs the pass, when to repeat it, and the pass
/// itself.
const PIPELINE: &[(&str, u8, Repeat, Pass)] = &[
    // Turns generic pointers that come from one address space into pointers to that space.
    ("spaces", 0, Repeat::Always, spaces_pass),
    // Turns `restrict` guarantees of parameters into alias information of accesses.
    ("restrict", 0, Repeat::Always, restrict_pass),
    // Simplifies the frontend's code so that trip counts can be determined.
    ("gvn", 1, Repeat::Gvn, gvn_pass),
    // Values chosen by switch arms are constants by this point if they can be. Lookup must precede the
    // merging of code from different arms.
    ("lookup", 1, Repeat::Always, lookup_pass),
    ("switch", 0, Repeat::Always, switch_pass),
    ("cleanup", 1, Repeat::Cleanup, cleanup_pass),
    ("dce", 1, Repeat::Dce, dce_pass),
    // Unrolled loop bodies have constant indices, which lets arrays be split into values.
    ("unroll", 1, Repeat::Always, unroll_pass),
    ("sroa", 1, Repeat::Always, sroa_pass),
    // Values that were stored in private memory are known after `sroa`.
    ("spaces", 1, Repeat::Always, spaces_pass),
    ("gvn", 1, Repeat::Gvn, gvn_pass),
    ("cleanup", 1, Repeat::Cleanup, cleanup_pass),
    ("dce", 1, Repeat::Dce, dce_pass),
    // First reduces the number of branches, then rotates loops so that each iteration takes one branch, then
    // moves code out of loops.
    ("ifconvert", 1, Repeat::Always, ifconvert_pass),
    ("frem", 0, Repeat::Always, frem_pass),
    ("float_atomics", 0, Repeat::Always, float_atomics_pass),
    ("rotate", 1, Repeat::Always, rotate_pass),
    ("gvn", 2, Repeat::Gvn, gvn_pass),
    ("cleanup", 1, Repeat::Cleanup, cleanup_pass),
    ("ranges", 1, Repeat::Always, ranges_pass),
    ("assumes", 0, Repeat::Always, assumes_pass),
    ("licm", 2, Repeat::Always, licm_pass),
    ("gvn", 1, Repeat::Gvn, gvn_pass),
    ("cleanup", 1, Repeat::Cleanup, cleanup_pass),
    ("dce", 1, Repeat::Dce, dce_pass),
    ("merge_mem", 1, Repeat::Always, merge_pass),
    ("tails", 2, Repeat::Always, tails_pass),
    ("dce", 0, Repeat::Dce, dce_pass),
];

/// Returns the names of the passes that run at a level, in order.
pub fn pipeline(level: u8) -> impl Iterator<Item = &'static str> {
    let on_functions = PIPELINE.iter().filter(move |row| row.1 <= level).map(|row| row.0);
    ON_MODULES.into_iter().chain(on_functions)
}

/// The passes that look at the whole module, which run before the passes on functions.
const ON_MODULES: [&str; 3] = ["inline", "results", "arguments"];

/// Optimises a module in place. `hook` is called after each pass over the module and may stop the
/// optimisation there.
pub fn optimize(
    module: &mut Module,
    opts: &OptOptions,
    ctx: &mut PassContext,
    hook: &mut dyn FnMut(&'static str, &Module) -> ControlFlow<()>,
) -> ControlFlow<()> {
    optimize_range(module, opts, 0..usize::MAX, ctx, hook)
}

/// Like [`optimize`], but runs only the passes in `range`, which counts the passes as [`pipeline`] lists
/// them.
pub fn optimize_range(
    module: &mut Module,
    opts: &OptOptions,
    range: Range<usize>,
    ctx: &mut PassContext,
    hook: &mut dyn FnMut(&'static str, &Module) -> ControlFlow<()>,
) -> ControlFlow<()> {
    unroll::forget(&mut ctx.unroll);
    let inlines = range.contains(&0);
    if inlines {
        inline::run(module, opts, &mut ctx.inline);
        tidy_tracks(module);
        if opts.level > 0 {
            recursion::run(module);
            tidy_tracks(module);
        }
    }
    if inlines {
        hook(ON_MODULES[0], module)?;
    }
    if range.contains(&1) {
        if has_calls(module) {
            results::run(module, opts.result_dwords);
            tidy_tracks(module);
        }
        hook(ON_MODULES[1], module)?;
    }
    ctx.calls.clear();
    if has_calls(module) {
        ctx.graph.compute(module);
        ctx.calls.compute(module, &ctx.graph);
    }
    ctx.align.prepare(module);
    if range.contains(&2) {
        if has_calls(module) {
            arguments::run(module, &ctx.graph, opts.level, (&mut ctx.arguments, &mut ctx.spaces));
            tidy_tracks(module);
        }
        hook(ON_MODULES[2], module)?;
    }
    let mut versions = std::mem::take(&mut ctx.versions);
    versions.clear();
    versions.resize(module.funcs.len(), (1, [0; Repeat::COUNT]));
    let rows = PIPELINE.iter().filter(|row| row.1 <= opts.level);
    let [skipped, end] = [range.start, range.end].map(|at| at.saturating_sub(ON_MODULES.len()));
    for &(name, _, repeat, pass) in rows.take(end).skip(skipped) {
        ctx.tables.begin(module.globals.len());
        std::mem::swap(&mut ctx.globals, &mut module.globals);
        for (func, versions) in module.funcs.values_mut().zip(&mut versions) {
            if !func.layout.is_empty() {
                (ctx.version, ctx.seen) = *versions;
                ctx.run(func, opts, repeat, pass);
                *versions = (ctx.version, ctx.seen);
            }
        }
        std::mem::swap(&mut ctx.globals, &mut module.globals);
        ctx.add_tables(module);
        hook(name, module)?;
    }
    ctx.versions = versions;
    ControlFlow::Continue(())
}

/// Tidies the debug facts of all functions if the module has debug information.
fn tidy_tracks(module: &mut Module) {
    if module.description.is_some() {
        module.funcs.values_mut().for_each(Function::tidy_track);
    }
}

/// Returns whether the module has a function that may be called, or calls code of another object.
fn has_calls(module: &Module) -> bool {
    !module.sigs.is_empty() || module.funcs.values().any(|func| func.kernel.is_none())
}

impl PassContext {
    /// Adds the lookup tables that a pass created to the module's global variables.
    fn add_tables(&mut self, module: &mut Module) {
        if !self.tables.is_empty() {
            self.make_variables(module);
        }
    }

    #[inline(never)]
    fn make_variables(&mut self, module: &mut Module) {
        let names: FxHashSet<SmolStr> = module.globals.values().map(|global| global.name.clone()).collect();
        for mut table in self.tables.take() {
            while names.contains(&table.name) {
                table.name = format_smolstr!("{}_", table.name);
            }
            module.globals.push(table);
        }
        self.align.prepare(module);
    }

    fn run(&mut self, func: &mut Function, opts: &OptOptions, repeat: Repeat, pass: Pass) {
        if repeat != Repeat::Always && self.seen[repeat as usize] == self.version {
            return;
        }
        let changed = pass(func, opts, self);
        self.version += u32::from(changed);
        if repeat != Repeat::Always {
            self.seen[repeat as usize] = self.version;
        }
    }

    /// Tidies a function after a transformation: merges equal values, then removes dead code.
    fn tidy(&mut self, func: &mut Function, opts: &OptOptions) {
        cleanup_pass(func, opts, self);
        self.run(func, opts, Repeat::Gvn, gvn_pass);
        self.run(func, opts, Repeat::Cleanup, cleanup_pass);
        self.run(func, opts, Repeat::Dce, dce_pass);
    }
}

fn gvn_pass(func: &mut Function, opts: &OptOptions, ctx: &mut PassContext) -> bool {
    ctx.cfg.compute(func);
    ctx.dom.compute(&ctx.cfg);
    let around = (&ctx.cfg, &ctx.dom, &ctx.calls, &ctx.globals);
    rewrite::run(func, around, &opts.limits, opts.level > 0, &mut ctx.rewrite);
    true
}

/// Simplifies the control flow. Returns false because [`gvn_pass`] has already taken into account everything
/// that this pass simplifies.
fn cleanup_pass(func: &mut Function, _: &OptOptions, ctx: &mut PassContext) -> bool {
    ctx.cfg.compute(func);
    cleanup::run(func, &ctx.cfg, &mut ctx.cleanup);
    false
}

/// Removes dead code. Returns false because the removal gives other passes nothing to do.
fn dce_pass(func: &mut Function, _: &OptOptions, ctx: &mut PassContext) -> bool {
    ctx.cfg.compute(func);
    dce::run(func, &ctx.cfg, &ctx.calls, &mut ctx.dce);
    false
}

/// Unrolls loops from the inside out. The copies are simplified between the levels of a loop nest, so that
/// the next level copies fewer instructions. Returns false because the code is already tidy at the end.
fn unroll_pass(func: &mut Function, opts: &OptOptions, ctx: &mut PassContext) -> bool {
    unroll::begin(&mut ctx.unroll);
    let mut has_loops = ctx.canonical_loops(func);
    while has_loops && unroll::level(func, &ctx.cfg, &ctx.dom, &ctx.loops, opts.level, &mut ctx.unroll) {
        ctx.version += 1;
        func.tidy_track();
        sroa_pass(func, opts, ctx);
        ctx.tidy(func, opts);
        has_loops = ctx.canonical_loops(func);
    }
    if has_loops {
        unroll::end(func, &ctx.dom, &ctx.loops, &mut ctx.unroll);
    }
    false
}

fn sroa_pass(func: &mut Function, _: &OptOptions, ctx: &mut PassContext) -> bool {
    ctx.cfg.compute(func);
    sroa::run(func, &ctx.cfg, &mut ctx.dom, &mut ctx.sroa)
}

fn ifconvert_pass(func: &mut Function, _: &OptOptions, ctx: &mut PassContext) -> bool {
    ctx.cfg.compute(func);
    ifconvert::run(func, &ctx.cfg, &mut ctx.ifconvert)
}

fn switch_pass(func: &mut Function, _: &OptOptions, ctx: &mut PassContext) -> bool {
    if func.switches.is_empty() {
        return false;
    }
    ctx.compute_loops(func);
    ctx.dom.compute(&ctx.cfg);
    ctx.uniformity.compute(func, &ctx.cfg, &ctx.dom, &ctx.loops);
    let changed = switch::run(func, true, |value| ctx.uniformity.is_uniform(value));
    func.tidy_track();
    changed
}

fn lookup_pass(func: &mut Function, _: &OptOptions, ctx: &mut PassContext) -> bool {
    let changed = !func.switches.is_empty() && lookup::run(func, &mut ctx.tables);
    if changed {
        func.tidy_track();
    }
    changed
}

fn spaces_pass(func: &mut Function, _: &OptOptions, ctx: &mut PassContext) -> bool {
    spaces::run(func, &mut ctx.spaces)
}

fn restrict_pass(func: &mut Function, _: &OptOptions, ctx: &mut PassContext) -> bool {
    restrict::run(func, &mut ctx.restrict)
}

fn float_atomics_pass(func: &mut Function, opts: &OptOptions, _: &mut PassContext) -> bool {
    float_atomics::run(func, opts.float_atomics)
}

fn frem_pass(func: &mut Function, _: &OptOptions, _: &mut PassContext) -> bool {
    frem::run(func)
}

fn rotate_pass(func: &mut Function, _: &OptOptions, ctx: &mut PassContext) -> bool {
    rotate::begin(&mut ctx.rotate);
    let mut changed = false;
    while ctx.canonical_loops(func) && rotate::round(func, &ctx.cfg, &ctx.loops, &mut ctx.rotate) {
        func.tidy_track();
        changed = true;
    }
    changed
}

fn licm_pass(func: &mut Function, _: &OptOptions, ctx: &mut PassContext) -> bool {
    ctx.canonical_loops(func) && licm::run(func, (&ctx.cfg, &ctx.dom, &ctx.loops), &ctx.calls, &mut ctx.licm)
}

fn ranges_pass(func: &mut Function, _: &OptOptions, ctx: &mut PassContext) -> bool {
    if !ctx.canonical_loops(func) {
        ctx.dom.compute(&ctx.cfg);
    }
    ranges::run(func, &ctx.cfg, &ctx.dom, &ctx.loops, &mut ctx.ranges)
}

fn assumes_pass(func: &mut Function, _: &OptOptions, _: &mut PassContext) -> bool {
    ranges::drop_assumes(func)
}

fn tails_pass(func: &mut Function, _: &OptOptions, ctx: &mut PassContext) -> bool {
    ctx.compute_loops(func);
    tails::run(func, &ctx.cfg, &ctx.loops, &mut ctx.tails)
}

fn merge_pass(func: &mut Function, _: &OptOptions, ctx: &mut PassContext) -> bool {
    merge_mem::run(func, &ctx.align, &mut ctx.merge)
}
