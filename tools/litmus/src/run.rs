//! Runs a case in all schedules, and compares the outcomes with the conditions of the shape.

use crate::emit::{STRIDE, address, source};
use crate::ir;
use crate::matrix::Case;
use crate::sequences::Deletion;
use crate::shape::{Condition, MAX, Shape};
use sim::weak::{End, Grain, Outcome, Place, Range, Register, Search, Thread};
use sim::{CodeObject, Device};

/// VGPR that holds `r0`.
const RESULTS: u16 = 8;
/// Number of states after which a search gives up.
pub const MAX_STATES: u64 = 2_000_000;

/// Result of exploring a case.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Number of different outcomes.
    pub outcomes: usize,
    /// Forbidden conditions that hold in some outcome, each with a schedule that leads to such an outcome.
    pub forbidden: Vec<(String, Vec<String>)>,
    /// Allowed conditions and gaps that no outcome meets.
    pub missing: Vec<String>,
    /// Outcomes that occurred although LLVM's memory model forbids them, and that the shape lists as gaps
    /// because the hardware allows them.
    pub gaps: Vec<String>,
    /// Schedules in which some thread did not end.
    pub broken: Vec<Vec<String>>,
    /// Number of states that were visited.
    pub states: u64,
    /// Whether the search gave up before it visited all states.
    pub bounded: bool,
    /// Words of sequences that the code contains.
    pub words: Vec<Deletion>,
}

/// Explores all schedules of a case with the code sequences of LLVM's AMDGPU guide. The word `deleted`, if
/// given, is left out of the sequences: one wait, invalidation or cache bit.
///
/// # Errors
/// The code cannot be assembled or loaded.
pub fn run(shape: &Shape, case: &Case, deleted: Option<Deletion>) -> Result<Verdict, String> {
    let mut device = Device::with_threads(1);
    let base = device.alloc(STRIDE * 8).map_err(|fault| fault.to_string())?;
    let (text, words) = source(shape, case, base, deleted);
    let options = asm::Options {
        target: Some(case.machine.target),
        cumode: case.machine.target.arch.device.workgroup_processors && case.machine.cu_mode,
        ..asm::Options::default()
    };
    let bytes =
        asm::assemble(&text, &options).map_err(|mistakes| asm::render(&mistakes, "litmus", &text, false))?;
    let verdict = judge(&mut device, shape, case, &bytes, search(shape, case, base))
        .map_err(|error| format!("{error}\n{text}"))?;
    Ok(Verdict { words, ..verdict })
}

/// Explores a case with the code that a compiler has generated from its [`ir`](crate::ir()). The search gives
/// up after `max_states` states.
///
/// # Errors
/// The code cannot be loaded.
pub fn run_compiled(shape: &Shape, case: &Case, object: &[u8], max_states: u64) -> Result<Verdict, String> {
    let mut device = Device::with_threads(1);
    let base = device.alloc(STRIDE * 16).map_err(|fault| fault.to_string())?;
    let search = Search { max_states, ..compiled_search(shape, case, base) };
    judge(&mut device, shape, case, object, search)
}

/// Explores all schedules, and compares the outcomes with the conditions of the shape.
fn judge(
    device: &mut Device,
    shape: &Shape,
    case: &Case,
    object: &[u8],
    search: Search,
) -> Result<Verdict, String> {
    let object = CodeObject::load(object).map_err(|error| error.to_string())?;
    let module = device.load(&object).map_err(|fault| fault.to_string())?;
    let kept = shape.progress.then(|| Search { keep_lines: true, ..search.clone() });
    let found = device.explore(module, search).map_err(|fault| fault.to_string())?;
    let mut verdict = Verdict {
        outcomes: found.outcomes.len(),
        states: found.states,
        bounded: found.bounded,
        ..Verdict::default()
    };
    if let Some(kept) = kept {
        let found = device.explore(module, kept).map_err(|fault| fault.to_string())?;
        verdict.states += found.states;
        verdict.bounded |= found.bounded;
        // A search that gave up may have missed executions that end.
        if found.endless && !found.bounded {
            verdict.forbidden.push(("no progress".into(), Vec::new()));
        }
    }
    let values = shape.values();
    for (outcome, schedule) in &found.outcomes {
        if outcome.end != End::Done {
            verdict.broken.push(schedule.clone());
        }
        for condition in shape.forbidden.iter().filter(|condition| meets(case, condition, outcome)) {
            verdict.forbidden.push((condition.text.clone(), schedule.clone()));
        }
        let invented = outcome.results.iter().position(|value| !values.contains(value));
        if let Some(register) = invented.filter(|_| outcome.end == End::Done) {
            let text = format!("r{register}={:#x}, which nobody writes", outcome.results[register]);
            verdict.forbidden.push((text, schedule.clone()));
        }
    }
    let seen = |condition: &&Condition| found.outcomes.keys().any(|outcome| meets(case, condition, outcome));
    let wanted = shape.allowed.iter().chain(&shape.gaps);
    verdict.missing = wanted.filter(|condition| !seen(condition)).map(|c| c.text.clone()).collect();
    verdict.gaps = shape.gaps.iter().filter(seen).map(|c| c.text.clone()).collect();
    Ok(verdict)
}

fn search(shape: &Shape, case: &Case, base: u64) -> Search {
    let thread = |(number, place): (usize, &Place)| Thread {
        kernel: format!("t{number}"),
        place: *place,
        ..Thread::default()
    };
    let together = case.sequence.is_some();
    let register = |(number, &thread): (usize, &usize)| Register {
        thread: if together { 0 } else { thread },
        vgpr: RESULTS + number as u16,
        lane: if together { thread as u32 } else { 0 },
    };
    Search {
        threads: case.places.iter().take(if together { 1 } else { MAX }).enumerate().map(thread).collect(),
        registers: shape.registers.iter().enumerate().map(register).collect(),
        ..common_search(shape, case, base)
    }
}

/// Returns the settings of the search that do not depend on where the code comes from. Variables start at
/// address `base`, each in its own cache line.
fn common_search(shape: &Shape, case: &Case, base: u64) -> Search {
    let variables = 0..shape.variables.len() as u64;
    let data = |home| Range { start: base, bytes: STRIDE, home, grain: Grain::Coarse };
    Search {
        // The caches contain all variables at the start, as if an earlier kernel had read them.
        warm: variables.clone().map(|variable| base + variable * STRIDE).collect(),
        memory: variables.clone().map(|variable| base + variable * STRIDE).collect(),
        lds: variables.map(|variable| (0, (variable * STRIDE) as u32)).collect(),
        lanes: if case.sequence.is_some() { shape.threads.len() as u32 } else { 1 },
        ranges: case.coarse.map(data).into_iter().collect(),
        max_states: MAX_STATES,
        ..Search::default()
    }
}

/// Returns the settings of the search for compiled code, which stores its results to memory after the
/// variables.
fn compiled_search(shape: &Shape, case: &Case, base: u64) -> Search {
    let result = |register: usize| base + (MAX + register) as u64 * STRIDE;
    let mut arguments = vec![0; ir::arguments(shape)];
    let mut put = |at: usize, value: u64| arguments[at..at + 8].copy_from_slice(&value.to_le_bytes());
    for variable in 0..shape.variables.len() {
        put(ir::variable_argument(variable), address(case, base, variable));
    }
    for register in 0..shape.registers.len() {
        put(ir::result_argument(shape, register), result(register));
    }
    let thread = |(number, place): (usize, &Place)| {
        let mut kernarg = arguments.clone();
        kernarg[..8].copy_from_slice(&(number as u64).to_le_bytes());
        Thread { kernel: ir::KERNEL.into(), place: *place, kernarg }
    };
    let waves = if case.sequence.is_some() { 1 } else { MAX };
    Search {
        threads: case.places.iter().take(waves).enumerate().map(thread).collect(),
        results: (0..shape.registers.len()).map(result).collect(),
        // A split group has no LDS.
        dynamic_lds: match case.machine.splits_groups() {
            true => 0,
            false => (shape.variables.len() as u64 * STRIDE) as u32,
        },
        constants: true,
        ..common_search(shape, case, base)
    }
}

fn meets(case: &Case, condition: &Condition, outcome: &Outcome) -> bool {
    let value = |variable: usize| match case.layout.is_local(variable) {
        true => outcome.lds.get(variable),
        false => outcome.memory.get(variable),
    };
    // Compiled code stores its registers in memory.
    let register_values = if outcome.registers.is_empty() { &outcome.results } else { &outcome.registers };
    outcome.end == End::Done
        && condition
            .registers
            .iter()
            .all(|&(register, wanted)| register_values.get(register) == Some(&wanted))
        && condition.variables.iter().all(|&(variable, wanted)| value(variable) == Some(&wanted))
}
