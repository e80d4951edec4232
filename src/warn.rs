//! Warnings that show only in the IR, when functions are inlined: barriers and operations of the wave that not all come to,
//! work-group memory that is read with no barrier behind the store, parameters that lack `restrict`.

use crate::options::Options;
use frontend::{Context, Diagnostic, Diagnostics, Level, Severity, SourceText, Warnings};
use ir::analysis::{Handover, Parting, reaching};
use ir::passes::unpromised::{self, Missed, Saved};
use ir::passes::{OptOptions, PassContext};
use isa::Subtarget;
use std::ops::Range;

type Row = (&'static str, fn(ir::Op) -> bool, &'static str);

/// Warnings of what work-items part from: name, what it is about, message.
const PARTED: [Row; 2] = [
    (
        "divergent_barrier",
        |op| matches!(op, ir::Op::Barrier { .. }),
        "not all work-items of a group come to this barrier",
    ),
    (
        "divergent_wave_operation",
        |op| matches!(op, ir::Op::Wave(_)),
        "not all lanes of a wave come to this operation",
    ),
];

/// What is told of work-group memory that is handed over without a barrier.
const HANDED_OVER: (&str, &str) =
    ("missing_barrier", "a work-item reads what another one may not have written yet");

/// What is told of accesses that are not merged or moved for want of a promise.
const UNPROMISED: &str = "missing_restrict";

/// What is told of variables in LDS where a group's waves may run on several compute units, each with LDS of its own.
const SPLIT_GROUP: (&str, &str) =
    ("split_group_memory", "a work-group has no `shared` memory with `-mtgsplit`");

/// Analyses whose memory is used again.
#[derive(Default)]
pub struct Scratch {
    parting: Parting,
    handover: Handover,
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

/// The word at a place of the IR.
fn word(text: &str, loc: ir::SrcLoc) -> Option<Range<usize>> {
    let start = (loc.0 as usize).checked_sub(1).filter(|&start| start < text.len())?;
    let of_word = |c: &u8| c.is_ascii_alphanumeric() || *c == b'_';
    let length = text.as_bytes()[start..].iter().take_while(|c| of_word(c)).count();
    Some(start..start + length.max(1))
}

/// What is missed in a kernel for want of promises: its message, labels and help. The first place is shown, and all parameters are named.
fn missed(kernel: &ir::KernelInfo, all: &[Missed]) -> Option<(String, [String; 2], String)> {
    let name = |param: usize| kernel.params.get(param).map_or("", |param| param.name.as_str());
    let first = all.first()?;
    let of = name(first.access.1);
    let (message, label) = match first.saved {
        Saved::Loads(count, bytes) => {
            (format!("{count} loads of `{of}` could be one of {bytes} bytes"), "the first of them")
        }
        Saved::Stores(count, bytes) => {
            (format!("{count} stores to `{of}` could be one of {bytes} bytes"), "the first of them")
        }
        Saved::Turns => (
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

/// What there is to warn of in a module, which `text` has become. All of it is an error if some is to be.
pub fn of_module(
    (module, target): (&ir::Module, &Subtarget),
    frontend: &Context,
    (scratch, passes): (&mut Scratch, &mut PassContext),
    (options, level): (&Options, &OptOptions),
    text: Option<&str>,
) -> Option<Diagnostics> {
    let warnings = &options.warnings;
    let text = text.filter(|_| *warnings != Warnings::NONE)?;
    let mut list: Vec<Diagnostic> = Vec::new();
    let mut tell = |name: &'static str, at: &Range<usize>, diagnostic: &dyn Fn(Level) -> Diagnostic| {
        let level = frontend.level(warnings, name, at.start);
        // A function that several kernels call is one place.
        let told = list.iter().any(|old| old.labels[0].0 == *at);
        if level != Level::Allow && !told {
            list.push(diagnostic(level));
        }
    };
    for (name, meets, message) in PARTED {
        if warnings.level(name) == Level::Allow {
            continue;
        }
        let reach = reaching(module, meets);
        let called = |op: ir::Op| match op {
            ir::Op::Call(callee) if reach.contains(callee) => Some(callee),
            _ => None,
        };
        for func in module.funcs.values() {
            for &(inst, branch) in scratch.parting.find(func, |op| meets(op) || called(op).is_some()) {
                let place = |inst: ir::Inst| word(text, func.place(inst));
                let message = match called(func.insts[inst].op) {
                    Some(callee) => format!("{message}, which `{}` has", module.funcs[callee].name),
                    None => message.to_owned(),
                };
                let is_head =
                    |at: &Range<usize>| matches!(&text[at.clone()], "if" | "while" | "for" | "match");
                let Some(at) = place(inst) else { continue };
                let branch = place(branch)
                    .filter(is_head)
                    .map(|at| (at, "they part by their numbers here".to_owned()));
                let labels = [Some((at.clone(), "reached by some".to_owned())), branch];
                let help = format!(
                    "move it out of the condition, or write `#[allow({name})]` if all of a group agree"
                );
                tell(name, &at, &|level| diagnostic(name, &message, level, labels.clone(), help.clone()));
            }
        }
    }
    let (name, message) = HANDED_OVER;
    if warnings.level(name) != Level::Allow {
        for func in module.funcs.values() {
            for &(load, store) in scratch.handover.find(func, &module.globals, &mut scratch.parting) {
                let place = |inst: ir::Inst| word(text, func.place(inst));
                let Some(at) = place(load) else { continue };
                let written =
                    place(store).map(|at| (at, "written here, by each work-item its own".to_owned()));
                let labels = [Some((at.clone(), "read here".to_owned())), written];
                let help = "write `barrier();` between the two".to_owned();
                tell(name, &at, &|level| diagnostic(name, message, level, labels.clone(), help.clone()));
            }
        }
    }
    let (name, message) = SPLIT_GROUP;
    if target.tgsplit && warnings.level(name) != Level::Allow {
        for func in module.funcs.values() {
            let place = crate::shared::first_use(module, func).and_then(|loc| word(text, loc));
            let Some(at) = place else { continue };
            let labels = [Some((at.clone(), "used here".to_owned())), None];
            let help = "leave `-mtgsplit` out, or hand on the values in `global` memory".to_owned();
            tell(name, &at, &|level| diagnostic(name, message, level, labels.clone(), help.clone()));
        }
    }
    if warnings.level(UNPROMISED) != Level::Allow {
        for func in module.funcs.values() {
            let all = unpromised::find(func, level, passes);
            let place = |inst: ir::Inst| word(text, func.place(inst));
            let shown = all.first().and_then(|first| Some((place(first.access.0)?, place(first.other.0))));
            let said = func.kernel.as_ref().and_then(|kernel| missed(kernel, &all));
            let (Some((at, other)), Some((message, [here, there], help))) = (shown, said) else { continue };
            let labels = [Some((at.clone(), here)), other.filter(|other| *other != at).map(|at| (at, there))];
            tell(UNPROMISED, &at, &|level| {
                diagnostic(UNPROMISED, &message, level, labels.clone(), help.clone())
            });
        }
    }
    (!list.is_empty()).then(|| Diagnostics { list, source: SourceText::new(&options.file_name, text) })
}
