//! Warnings that are found in the IR after inlining. They are about barriers and wave operations that not all
//! work-items reach, work-group memory that is read without a barrier after the store, parameters that lack
//! `restrict`, loops that are not unrolled, and calls of a debugger that does not exist.

use crate::options::Options;
use frontend::{Context, Diagnostic, Diagnostics, Level, Severity, SourceText, Warnings};
use ir::analysis::{LaneGroup, MissingBarriers, PartialExecution, reaching};
use ir::passes::missing_restrict::{self, MissingRestrict, Saving};
use ir::passes::unroll::Refusal;
use ir::passes::{OptOptions, PassContext};
use isa::Subtarget;
use std::ops::Range;

/// A warning about operations, such as barriers, that all work-items or lanes must reach. It is shown if some
/// of them may not.
#[derive(Clone, Copy)]
struct Row {
    name: &'static str,
    /// Returns whether the warning is about this operation.
    meets: fn(ir::Op) -> bool,
    message: &'static str,
    /// Whether all lanes of a wave must reach the operation together. If false, all work-items of the
    /// work-group must.
    of_waves: bool,
}

const PARTED: [Row; 2] = [
    Row {
        name: "divergent_barrier",
        meets: |op| matches!(op, ir::Op::Barrier { .. }),
        message: "not all work-items of a group come to this barrier",
        of_waves: false,
    },
    Row {
        name: "divergent_wave_operation",
        meets: |op| matches!(op, ir::Op::Wave(_)),
        message: "not all lanes of a wave come to this operation",
        of_waves: true,
    },
];

/// Name and message of the warning about work-group memory that is read without a barrier after the store.
const HANDED_OVER: (&str, &str) =
    ("missing_barrier", "a work-item reads what another one may not have written yet");

/// Name of the warning that a memory access cannot be merged or moved, because a pointer parameter lacks
/// `restrict`.
const UNPROMISED: &str = "missing_restrict";

/// Name and message of the warning about LDS variables in threadgroup split mode. In this mode, the waves of
/// a work-group may run on several compute units, each of which has its own LDS.
const SPLIT_GROUP: (&str, &str) =
    ("split_group_memory", "a work-group has no `shared` memory with `-mtgsplit`");
/// Name and message of the warning about calls of the debugger on systems without a trap handler.
const NO_HANDLER: (&str, &str) = ("no_trap_handler", "no trap handler takes this call of the debugger");
/// Name of the warning about loops that are not unrolled although the source asks for it.
const NOT_UNROLLED: &str = "not_unrolled";

/// Analyses whose memory is reused.
#[derive(Default)]
pub struct Scratch {
    parting: PartialExecution,
    handover: MissingBarriers,
}

type Labels = [Option<(Range<usize>, String)>; 2];

#[cold]
fn diagnostic(name: &'static str, message: &str, level: Level, labels: Labels, help: String) -> Diagnostic {
    Diagnostic {
        code: name,
        severity: if level == Level::Deny { Severity::Error } else { Severity::Warning },
        message: message.to_owned(),
        labels: labels.into_iter().flatten().collect(),
        notes: Vec::new(),
        help: vec![help],
        suggestion: None,
    }
}

/// Returns the byte range of the word at a location of the IR.
fn word(text: &str, loc: ir::SrcLoc) -> Option<Range<usize>> {
    let start = (loc.0 as usize).checked_sub(1).filter(|&start| start < text.len())?;
    let of_word = |c: &u8| c.is_ascii_alphanumeric() || *c == b'_';
    let length = text.as_bytes()[start..].iter().take_while(|c| of_word(c)).count();
    Some(start..start + length.max(1))
}

/// Returns the byte range of the attribute `#[…]` at a location of the IR, or of the word at that location if
/// no attribute begins there.
fn attribute(text: &str, loc: ir::SrcLoc) -> Option<Range<usize>> {
    let word = word(text, loc)?;
    let rest = &text.as_bytes()[word.start..];
    let end = rest.iter().position(|&c| c == b']').filter(|_| rest.starts_with(b"#["));
    Some(end.map_or(word.clone(), |end| word.start..word.start + end + 1))
}

/// Returns the message, the labels and the help of one warning about all optimisations that a kernel misses
/// because pointer parameters lack `restrict`. The message describes the first missed optimisation, and the
/// help names all parameters that are concerned.
fn missed(kernel: &ir::KernelInfo, all: &[MissingRestrict]) -> Option<(String, [String; 2], String)> {
    let name = |param: usize| kernel.params.get(param).map_or("", |param| param.name.as_str());
    let first = all.first()?;
    let of = name(first.access.1);
    let (message, label) = match first.saved {
        Saving::Loads(count, bytes) => {
            (format!("{count} loads of `{of}` could be one of {bytes} bytes"), "the first of them")
        }
        Saving::Stores(count, bytes) => {
            (format!("{count} stores to `{of}` could be one of {bytes} bytes"), "the first of them")
        }
        Saving::Iterations => (
            format!("a load of `{of}` could be done once, in front of the loop"),
            "loaded in each turn of the loop",
        ),
    };
    let other = match first.other.1.map(name) {
        Some(other) => format!("`{other}` may be the same memory"),
        None => "this may be the same memory".to_owned(),
    };
    let mut lacking: Vec<usize> = all.iter().flat_map(|missed| missed.lacking.iter().copied()).collect();
    lacking.sort_unstable();
    lacking.dedup();
    let named: Vec<String> = lacking.iter().map(|&param| format!("`{}`", name(param))).collect();
    let help = format!(
        "write `restrict` in the type{} of {} if what is written through one parameter is not reached through another",
        if named.len() == 1 { "" } else { "s" },
        named.join(", "),
    );
    Some((message, [label.to_owned(), other], help))
}

/// Results of the passes over a module that the warnings use.
pub struct Passed<'a> {
    /// Analyses and notes of the optimiser.
    pub context: &'a mut PassContext,
    /// Options of the optimiser.
    pub options: &'a OptOptions,
    /// Wave size of kernels that do not ask for one.
    pub lanes: u32,
}

/// Returns the warnings about an optimised module that was compiled from `text`. If one of them has the level
/// of an error, returns all of them as errors.
pub fn of_module(
    (module, target): (&ir::Module, &Subtarget),
    frontend: &Context,
    (scratch, passed): (&mut Scratch, Passed<'_>),
    options: &Options,
    text: Option<&str>,
) -> Option<Diagnostics> {
    let text = text.filter(|_| options.warnings != Warnings::NONE)?;
    let mut found = Found { frontend, warnings: &options.warnings, text, list: Vec::new() };
    PARTED.iter().for_each(|row| found.parted(module, row, passed.lanes, &mut scratch.parting));
    found.handed_over(module, scratch);
    found.unpromised(module, passed.context, passed.options);
    found.not_unrolled(passed.context);
    found.split_group(module, target);
    found.no_handler(module, target);
    let Found { list, .. } = found;
    (!list.is_empty()).then(|| Diagnostics { list, source: SourceText::new(&options.file_name, text) })
}

/// Collects the warnings.
struct Found<'a> {
    frontend: &'a Context,
    warnings: &'a Warnings,
    text: &'a str,
    list: Vec<Diagnostic>,
}

impl Found<'_> {
    fn is_off(&self, name: &str) -> bool {
        self.warnings.level(name) == Level::Allow
    }

    /// Adds a warning at the position of its first label, unless the list already has a warning at that
    /// position.
    fn add(&mut self, name: &'static str, message: &str, labels: Labels, help: String) {
        let Some((at, _)) = &labels[0] else { return };
        let level = self.frontend.level(self.warnings, name, at.start);
        // A function that several kernels call is inlined several times. The same warning may therefore occur
        // several times for one position in the source.
        let told = self.list.iter().any(|old| old.labels[0].0 == *at);
        if level != Level::Allow && !told {
            self.list.push(diagnostic(name, message, level, labels, help));
        }
    }

    /// Warns about operations that some work-items may not reach.
    fn parted(&mut self, module: &ir::Module, row: &Row, lanes: u32, parting: &mut PartialExecution) {
        let Row { name, meets, message, of_waves } = *row;
        if self.is_off(name) {
            return;
        }
        let reach = reaching(module, meets);
        let called = |op: ir::Op| match op {
            ir::Op::Call(callee) if reach.contains(callee) => Some(callee),
            _ => None,
        };
        for func in module.funcs.values() {
            let asked = func.kernel.as_ref().and_then(|kernel| kernel.state.wave_size);
            let together = if of_waves { LaneGroup::Wave(asked.unwrap_or(lanes)) } else { LaneGroup::Group };
            for &(inst, branch) in parting.find(func, together, |op| meets(op) || called(op).is_some()) {
                let place = |inst: ir::Inst| word(self.text, func.own_location(inst));
                let message = match called(func.insts[inst].op) {
                    Some(callee) => format!("{message}, which `{}` has", module.funcs[callee].name),
                    None => message.to_owned(),
                };
                let is_head =
                    |at: &Range<usize>| matches!(&self.text[at.clone()], "if" | "while" | "for" | "match");
                let Some(at) = place(inst) else { continue };
                let branch = place(branch)
                    .filter(is_head)
                    .map(|at| (at, "they part by their numbers here".to_owned()));
                let labels = [Some((at, "reached by some".to_owned())), branch];
                let help = format!(
                    "move it out of the condition, or write `#[allow({name})]` if all of a group agree"
                );
                self.add(name, &message, labels, help);
            }
        }
    }

    /// Warns about work-group memory that is read without a barrier after the store.
    fn handed_over(&mut self, module: &ir::Module, scratch: &mut Scratch) {
        let (name, message) = HANDED_OVER;
        if self.is_off(name) {
            return;
        }
        for func in module.funcs.values() {
            for &(load, store) in scratch.handover.find(func, &module.globals, &mut scratch.parting) {
                let place = |inst: ir::Inst| word(self.text, func.own_location(inst));
                let Some(at) = place(load) else { continue };
                let written =
                    place(store).map(|at| (at, "written here, by each work-item its own".to_owned()));
                let labels = [Some((at, "read here".to_owned())), written];
                self.add(name, message, labels, "write `barrier();` between the two".to_owned());
            }
        }
    }

    /// Warns about LDS variables if the target is in threadgroup split mode. In this mode, the waves of a
    /// work-group may run on several compute units, each of which has its own LDS.
    fn split_group(&mut self, module: &ir::Module, target: &Subtarget) {
        let (name, message) = SPLIT_GROUP;
        if !target.tgsplit || self.is_off(name) {
            return;
        }
        for func in module.funcs.values() {
            let place = crate::shared::first_use(module, func).and_then(|loc| word(self.text, loc));
            let Some(at) = place else { continue };
            let help = "leave `-mtgsplit` out, or hand on the values in `global` memory".to_owned();
            self.add(name, message, [Some((at, "used here".to_owned())), None], help);
        }
    }

    /// Warns about calls of the debugger if the target's operating system has no trap handler.
    fn no_handler(&mut self, module: &ir::Module, target: &Subtarget) {
        let (name, message) = NO_HANDLER;
        if target.system().has_trap_handler || self.is_off(name) {
            return;
        }
        for func in module.funcs.values() {
            for &inst in func.layout.iter().flat_map(|&block| func.blocks[block].insts()) {
                if func.insts[inst].op != (ir::Op::Trap { debug: true }) {
                    continue;
                }
                let Some(at) = word(self.text, func.own_location(inst)) else { continue };
                let help = format!("`{}` has no debugger: leave the call out", target.system().name);
                self.add(name, message, [Some((at, "does nothing".to_owned())), None], help);
            }
        }
    }

    /// Warns about parameters that lack `restrict`.
    fn unpromised(&mut self, module: &ir::Module, context: &mut PassContext, options: &OptOptions) {
        if self.is_off(UNPROMISED) {
            return;
        }
        for func in module.funcs.values() {
            let all = missing_restrict::find(func, options, context);
            let place = |inst: ir::Inst| word(self.text, func.own_location(inst));
            let shown = all.first().and_then(|first| Some((place(first.access.0)?, place(first.other.0))));
            let said = func.kernel.as_ref().and_then(|kernel| missed(kernel, &all));
            let (Some((at, other)), Some((message, [here, there], help))) = (shown, said) else { continue };
            let other = other.filter(|other| *other != at).map(|at| (at, there));
            self.add(UNPROMISED, &message, [Some((at, here)), other], help);
        }
    }

    /// Warns about loops that are not unrolled although they have `#[unroll]`.
    fn not_unrolled(&mut self, context: &PassContext) {
        if self.is_off(NOT_UNROLLED) {
            return;
        }
        for refused in context.not_unrolled() {
            let Some(at) = attribute(self.text, refused.at) else { continue };
            let (label, help) = refusal(refused.why);
            let message = "this loop is not unrolled, though it has `#[unroll]`";
            self.add(NOT_UNROLLED, message, [Some((at, label)), None], help.to_owned());
        }
    }
}

/// Returns two texts about a loop that is not unrolled: the reason, and what to do about it.
fn refusal(why: Refusal) -> (String, &'static str) {
    let other = "write `#[unroll(n)]` for `n` copies of the body, or take the attribute away";
    match why {
        Refusal::UnknownCount => (
            "how often it runs is not a constant".to_owned(),
            "make the bounds constants, or write `#[unroll(n)]` for `n` copies of the body",
        ),
        Refusal::TooOften(times, most) => {
            (format!("it runs {times} times, and `#[unroll]` makes at most {most} copies"), other)
        }
        Refusal::TooLarge(count, most) => {
            (format!("its copies would have {count} instructions, and may have {most}"), other)
        }
        Refusal::FunctionTooLarge(most) => {
            (format!("the copies of loops before it have more than {most} instructions"), other)
        }
    }
}
