//! Runs a case in every schedule and judges what came out.

use crate::emit::{STRIDE, source};
use crate::matrix::Case;
use crate::sequences::Deletion;
use crate::shape::{Condition, MAX, Shape};
use isa::target::Generation;
use sim::weak::{End, Outcome, Register, Search, Thread};
use sim::{CodeObject, Device};

/// VGPR of `r0`.
const RESULTS: u16 = 8;
/// States after which a search gives up.
const MAX_STATES: u64 = 2_000_000;

/// What came out of a case.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Different outcomes.
    pub outcomes: usize,
    /// Forbidden conditions that were met, each with a schedule.
    pub forbidden: Vec<(String, Vec<String>)>,
    /// Allowed conditions and gaps that were not.
    pub missing: Vec<String>,
    /// Gaps that were met.
    pub gaps: Vec<String>,
    /// Schedules that ended otherwise than by all threads ending.
    pub broken: Vec<Vec<String>>,
    /// States visited.
    pub states: u64,
    /// Whether not all were.
    pub bounded: bool,
    /// Words of sequences that were in the code.
    pub words: Vec<Deletion>,
}

/// Explores a case, with one word of its sequences deleted if there is one to delete.
///
/// # Errors
/// A text about code that cannot be assembled or loaded.
pub fn run(shape: &Shape, case: &Case, deleted: Option<Deletion>) -> Result<Verdict, String> {
    let mut device = Device::with_threads(1);
    let base = device.alloc(STRIDE * 8).map_err(|fault| fault.to_string())?;
    let (text, words) = source(shape, case, base, deleted);
    let options = asm::Options {
        target: Some(case.machine.target),
        cumode: case.machine.target.generation == Generation::Gfx10 && case.machine.cu_mode,
        ..asm::Options::default()
    };
    let bytes =
        asm::assemble(&text, &options).map_err(|mistakes| asm::render(&mistakes, "litmus", &text, false))?;
    let object = CodeObject::load(&bytes).map_err(|error| format!("{error}\n{text}"))?;
    let module = device.load(&object).map_err(|fault| fault.to_string())?;
    let found =
        device.explore(module, search(shape, case, base)).map_err(|fault| format!("{fault}\n{text}"))?;
    let mut verdict = Verdict {
        outcomes: found.outcomes.len(),
        states: found.states,
        bounded: found.bounded,
        words,
        ..Verdict::default()
    };
    if shape.progress {
        let kept = Search { keep_lines: true, ..search(shape, case, base) };
        let found = device.explore(module, kept).map_err(|fault| format!("{fault}\n{text}"))?;
        verdict.states += found.states;
        verdict.bounded |= found.bounded;
        if found.endless {
            verdict.forbidden.push(("no progress".into(), Vec::new()));
        }
    }
    for (outcome, schedule) in &found.outcomes {
        if outcome.end != End::Done {
            verdict.broken.push(schedule.clone());
        }
        for condition in shape.forbidden.iter().filter(|condition| meets(case, condition, outcome)) {
            verdict.forbidden.push((condition.text.clone(), schedule.clone()));
        }
    }
    let seen = |condition: &&Condition| found.outcomes.keys().any(|outcome| meets(case, condition, outcome));
    let wanted = shape.allowed.iter().chain(&shape.gaps);
    verdict.missing = wanted.filter(|condition| !seen(condition)).map(|c| c.text.clone()).collect();
    verdict.gaps = shape.gaps.iter().filter(seen).map(|c| c.text.clone()).collect();
    Ok(verdict)
}

fn search(shape: &Shape, case: &Case, base: u64) -> Search {
    let thread =
        |(number, place): (usize, &sim::weak::Place)| Thread { kernel: format!("t{number}"), place: *place };
    let together = case.sequence.is_some();
    let register = |(number, &thread): (usize, &usize)| Register {
        thread: if together { 0 } else { thread },
        vgpr: RESULTS + number as u16,
        lane: if together { thread as u32 } else { 0 },
    };
    let variables = 0..shape.variables.len() as u64;
    Search {
        threads: case.places.iter().take(if together { 1 } else { MAX }).enumerate().map(thread).collect(),
        // An earlier kernel may have read all of it.
        warm: variables.clone().map(|variable| base + variable * STRIDE).collect(),
        memory: variables.clone().map(|variable| base + variable * STRIDE).collect(),
        lds: variables.map(|variable| (0, (variable * STRIDE) as u32)).collect(),
        registers: shape.registers.iter().enumerate().map(register).collect(),
        lanes: if together { shape.threads.len() as u32 } else { 1 },
        max_states: MAX_STATES,
        keep_lines: false,
    }
}

fn meets(case: &Case, condition: &Condition, outcome: &Outcome) -> bool {
    let value = |variable: usize| match case.layout.is_local(variable) {
        true => outcome.lds.get(variable),
        false => outcome.memory.get(variable),
    };
    outcome.end == End::Done
        && condition
            .registers
            .iter()
            .all(|&(register, wanted)| outcome.registers.get(register) == Some(&wanted))
        && condition.variables.iter().all(|&(variable, wanted)| value(variable) == Some(&wanted))
}
