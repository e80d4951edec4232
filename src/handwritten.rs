//! Checks machine IR that was read from a text. A pass relies on properties of the code that earlier passes
//! normally establish, but text that somebody has written need not have these properties. The error message
//! for a missing property shows the line.

use crate::error::Error;
use crate::machine::{MACHINE, machine_pass};
use crate::models::Models;
use crate::passes::PassRange;
use crate::pipeline::Job;
use frontend::{Diagnostic, Diagnostics, Severity, SourceText};
use isa::encode::Problem;
use isa::legal;
use isa::table::Kind;
use isa::{MachInst, Subtarget, op};
use isel::verify::{Fault, State, verify};
use memmodel::{Model, proof};
use mir::MachFunc;
use mir::text::{Part, line_of};

/// Limit on the number of messages.
const MOST_FAULTS: usize = 20;

/// Index of each pass in [`MACHINE`].
const LEGALIZATION: usize = machine_pass("legalize");
/// Index of the last pass that accepts virtual registers.
const ALLOCATION: usize = machine_pass("regalloc");
const FORMS: usize = machine_pass("forms");
const COHERENCE: usize = machine_pass("coherence");
const WAITS: usize = machine_pass("waits");
const HAZARDS: usize = machine_pass("hazards");
const BRANCHES: usize = machine_pass("branches");

/// Checks machine IR that was read from a text, before the first of the passes in `range` runs on it. The
/// text and its name serve for error messages.
///
/// # Errors
/// The errors of the text, with their lines.
pub(crate) fn check(
    (module, code): (&ir::Module, &[MachFunc]),
    models: &Models,
    job: &Job<'_>,
    (name, text): (&str, &str),
) -> Result<(), Error> {
    let mut list: Vec<Diagnostic> = Vec::new();
    let kernels = module.funcs.values().filter_map(|func| func.kernel.as_ref()).map(Some);
    for (number, (func, kernel)) in code.iter().zip(kernels.chain(std::iter::repeat(None))).enumerate() {
        let known = models.with_lanes(func.wave_size).ok().filter(|_| kernel.is_none());
        let model = known.map_or_else(|| models.for_kernel(kernel), Ok)?;
        let mut faults = faults(func, model.subtarget(), job.range);
        if known.is_none() && kernel.is_none() {
            let what = "no kernel has wavefronts of so many lanes".to_owned();
            faults.push(Fault::new(func, model.subtarget(), Part::Function, what, "leave `wave_size` out"));
        }
        faults.extend(unknown_callees(func, module, model.subtarget()));
        if faults.is_empty() && job.options.verify {
            faults = left_out(func, model, job.range);
        }
        let mut with_lines: Vec<(Option<u32>, Fault)> =
            faults.into_iter().map(|fault| (line_of(text, number, fault.part), fault)).collect();
        with_lines.sort_by_key(|(line, _)| *line);
        // The first error of a line explains the other errors of the line, so only the first one is reported.
        with_lines.dedup_by_key(|(line, _)| *line);
        list.extend(with_lines.iter().map(|(line, fault)| diagnostic(fault, &func.name, *line, text)));
    }
    list.truncate(MOST_FAULTS);
    if list.is_empty() {
        return Ok(());
    }
    Err(Error::Source(Diagnostics { list, source: SourceText::new(name, text) }))
}

fn faults(func: &MachFunc, target: &Subtarget, range: &PassRange) -> Vec<Fault> {
    let start = range.machine().start;
    let state = if start <= LEGALIZATION {
        State::Selected
    } else if start <= ALLOCATION {
        State::Legal
    } else {
        State::Allocated
    };
    let mut faults = verify(func, target, state).err().unwrap_or_default();
    let size = |what: String| Fault::new(func, target, Part::Function, what, "less of it");
    faults.extend(sizes(func, target).into_iter().map(size));
    if let Some(block) = emit::code::torn_table(func).filter(|_| range.has_emit()) {
        faults.push(Fault::new(
            func,
            target,
            Part::Block(block),
            "this jump table is torn",
            emit::TABLE_RULE,
        ));
    }
    for (block, data) in func.blocks.iter() {
        for (n, inst) in data.insts.iter().enumerate() {
            if let Some(problem) = unencodable(func, target, inst, range) {
                let help = legal::usage(inst.op.row()).unwrap_or_default();
                faults.push(Fault::new(func, target, Part::Inst(block, n), problem.to_string(), help));
            }
        }
    }
    faults
}

/// Returns why an instruction cannot be encoded, or `None` if it can. A problem is not reported if one of the
/// passes that will run may remove it.
fn unencodable(func: &MachFunc, target: &Subtarget, inst: &MachInst, range: &PassRange) -> Option<Problem> {
    let start = range.machine().start;
    let goes = match inst.op {
        op::COPY | op::UNDEF => start <= ALLOCATION,
        op::CALL | op::TAIL_CALL | op::RETURN | op::STACK_END => start <= ALLOCATION,
        op::FENCE => start <= COHERENCE,
        op::WAIT_POINT => start <= WAITS,
        // If the passes that run begin after register allocation and end before instructions are encoded, it
        // does not matter whether this instruction can be encoded.
        _ => start > ALLOCATION && !range.has_emit(),
    };
    if goes {
        return None;
    }
    let mut inst = *inst;
    if (ALLOCATION + 1..=FORMS).contains(&start) {
        isa::choose_form(target, &mut inst);
    }
    let problem = mir::legal::unencodable(target, &inst, func)?;
    (start > LEGALIZATION || !is_repaired(&inst, problem)).then_some(problem)
}

/// Returns whether the pass `legalize` may repair the problem. This pass moves operands to registers where
/// registers are required, and splits off offsets that are too large.
fn is_repaired(inst: &MachInst, problem: Problem) -> bool {
    let (Problem::Operand(n) | Problem::Register(n) | Problem::Literal(n) | Problem::Range(n)) = problem
    else {
        return problem == Problem::Offset;
    };
    let field = [Kind::Imm, Kind::Label, Kind::Lit];
    inst.op.row().ops.get(usize::from(n)).is_some_and(|spec| !field.contains(&spec.kind))
}

/// Returns the faults of the text that would stay in the code, because the pass that prevents them comes
/// before the first pass that runs. An example is a missing wait, if the pass `waits` does not run.
fn left_out(func: &MachFunc, model: &Model, range: &PassRange) -> Vec<Fault> {
    let start = range.machine().start;
    if start <= COHERENCE || !range.machine().contains(&BRANCHES) {
        return Vec::new();
    }
    let by = |fault: &proof::Fault| match fault {
        proof::Fault::Stale { .. } => COHERENCE,
        proof::Fault::InFlight { .. } | proof::Fault::Order { .. } | proof::Fault::Pseudo => WAITS,
        proof::Fault::Hazard { .. } => HAZARDS,
    };
    let violations = proof::check(func, model).into_iter().filter(|violation| by(&violation.fault) < start);
    let fault = |violation: proof::Violation| {
        let part = Part::Inst(violation.second.block, violation.second.index);
        let help = format!("pass `{}` would see to it", MACHINE[by(&violation.fault)].0);
        Fault::new(func, model.subtarget(), part, violation.to_string(), help)
    };
    violations.map(fault).collect()
}

/// Returns a fault if a call refers to a function that the module does not have, or to a function signature
/// that it does not have.
fn unknown_callees(func: &MachFunc, module: &ir::Module, target: &Subtarget) -> Option<Fault> {
    let is_known = |callee: &mir::Callee| match *callee {
        mir::Callee::Func(number) => (number as usize) < module.funcs.len(),
        mir::Callee::Pointer(number) => (number as usize) < module.sigs.len(),
    };
    let known = func.calls.iter().all(|call| is_known(&call.callee));
    let what = "it calls a function or a signature that the module has not".to_owned();
    (!known)
        .then(|| Fault::new(func, target, Part::Function, what, "`extern func` and `sigN =` declare them"))
}

/// Returns messages about sizes that exceed the limits of the processor.
fn sizes(func: &MachFunc, target: &Subtarget) -> Vec<String> {
    let limits = [
        ("bytes of LDS", func.lds_size, target.max_lds_per_group),
        (
            "bytes of scratch memory a work-item",
            func.scratch_size,
            target.addressing.scratch_per_wave / target.wave_size,
        ),
        ("VGPRs", func.vgprs, target.allocatable_vgprs()),
        ("accumulation VGPRs", func.agprs, target.agprs_within(u32::MAX)),
        ("SGPRs", func.sgprs, target.addressable_sgprs),
        ("dimensions of work-item ids beyond x", func.abi.workitem_ids.into(), 2),
    ];
    let over = limits.iter().filter(|(_, size, most)| size > most);
    over.map(|(what, size, most)| format!("{size} {what}; there are {most} at most")).collect()
}

fn diagnostic(fault: &Fault, kernel: &str, line: Option<u32>, text: &str) -> Diagnostic {
    let range = line.map(|line| line_range(text, line));
    Diagnostic {
        code: "E0113",
        severity: Severity::Error,
        message: format!("kernel `{kernel}`: the machine IR is not valid"),
        labels: range.into_iter().map(|range| (range, fault.what.clone())).collect(),
        notes: Vec::new(),
        help: Some(fault.help.to_string()).filter(|help| !help.is_empty()).into_iter().collect(),
        suggestion: None,
    }
}

/// Returns the byte range of a line of the text, without indentation and comment.
fn line_range(text: &str, line: u32) -> std::ops::Range<usize> {
    let start: usize = text.split_inclusive('\n').take(line as usize - 1).map(str::len).sum();
    let line = text[start..].lines().next().unwrap_or_default();
    let code = line.split(';').next().unwrap_or_default();
    let start = start + (code.len() - code.trim_start().len());
    start..start + code.trim().len()
}
