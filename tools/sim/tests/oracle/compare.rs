//! What the emulator makes beside what it should.

use super::kernel::{Found, Trial, run};
use super::native::{Expected, Native, Request};
use super::output::same_result;
use super::rows::{generation, meaning};
use super::variant::writes_mask;
use super::{Input, Mode, OLD};
use isa::Target;
use std::collections::{BTreeMap, HashMap};

/// Instructions that are tried in one kernel.
const BATCH: usize = 64;

/// Whether a lane holds what it should.
fn agrees(
    trial: &Trial<'_>,
    (target, mode): (&Target, Mode),
    input: &Input,
    expected: &Expected,
    found: &Found,
) -> bool {
    let active = trial.exec >> input.lane & 1 != 0;
    let writes_mask = writes_mask(trial.row);
    let narrows = trial.row.name.starts_with("v_cmpx") || trial.row.name.starts_with("v_cmpsx");
    if !active {
        return found.words[..] == input.words[OLD..] && !found.exec && !(writes_mask && found.mask);
    }
    let (expected, shape) = trial.variant.finish(trial.row, target, mode, trial.exec, input, *expected);
    if expected.kept {
        return found.words[..] == input.words[OLD..];
    }
    expected.any
        || same_result(shape, &found.words, &expected)
            && (!writes_mask || found.mask == expected.mask)
            && found.exec == (!narrows || expected.mask)
}

/// Names of what differs, with the first case of each.
#[derive(Default)]
pub struct Differences {
    texts: BTreeMap<String, (String, usize)>,
    compared: usize,
    instructions: usize,
}

impl Differences {
    fn add(&mut self, key: String, text: impl FnOnce() -> String) {
        self.texts.entry(key).or_insert_with(|| (text(), 0)).1 += 1;
    }

    /// Says how much was compared; fails where something differs.
    pub fn check(self, what: &str) {
        println!("{what}: {} instructions, {} results compared", self.instructions, self.compared);
        let all: Vec<String> =
            self.texts.iter().map(|(key, (text, count))| format!("{key} ({count} cases): {text}")).collect();
        assert!(all.is_empty(), "{} differ:\n{}", all.len(), all.join("\n"));
    }
}

/// Tries instructions in one mode.
pub fn try_all(
    native: &Native,
    target: &'static Target,
    mode: Mode,
    trials: &[Trial<'_>],
    differences: &mut Differences,
) {
    let names: Vec<String> = trials.iter().map(|trial| meaning(trial.row)).collect();
    let seen: Vec<_> = trials
        .iter()
        .map(|trial| trial.variant.prepare(trial.row, target, trial.exec, trial.inputs))
        .collect();
    // Both plain encodings ask the same question.
    let mut places = HashMap::new();
    let mut requests = Vec::new();
    let mut asked = Vec::new();
    for ((trial, name), inputs) in trials.iter().zip(&names).zip(&seen) {
        let clamp = trial.variant.saturates(trial.row);
        asked.push(*places.entry((inputs.as_ptr(), clamp)).or_insert_with(|| {
            requests.push(Request { name, mode, clamp, generation: generation(target), inputs });
            requests.len() - 1
        }));
    }
    let expected = native.run_requests(&requests);
    for (batch, asked) in trials.chunks(BATCH).zip(asked.chunks(BATCH)) {
        let found = match run(target, mode, batch) {
            Ok(found) => found,
            Err(_) => batch.iter().map(|trial| one(target, mode, trial, differences)).collect(),
        };
        for ((trial, found), &at) in batch.iter().zip(&found).zip(asked) {
            differences.instructions += 1;
            compare((target, mode), trial, &expected[at], found, differences);
        }
    }
}

/// When a batch does not run, its instructions do so alone: the others shall be compared.
fn one(target: &'static Target, mode: Mode, trial: &Trial<'_>, differences: &mut Differences) -> Vec<Found> {
    run(target, mode, std::slice::from_ref(trial)).map(|mut all| all.remove(0)).unwrap_or_else(|why| {
        differences.add(format!("{} {}", trial.row.name, target.name), || why);
        Vec::new()
    })
}

fn compare(
    (target, mode): (&Target, Mode),
    trial: &Trial<'_>,
    expected: &[Expected],
    found: &[Found],
    differences: &mut Differences,
) {
    for (found, (expected, input)) in found.iter().zip(expected.iter().zip(trial.inputs)) {
        differences.compared += 1;
        if agrees(trial, (target, mode), input, expected, found) {
            continue;
        }
        let key = format!("{} {}", trial.row.name, target.name);
        differences.add(key, || {
            let (expected, _) = trial.variant.finish(trial.row, target, mode, trial.exec, input, *expected);
            let active = trial.exec >> input.lane & 1 != 0;
            format!(
                "{}, {mode:?}, lane {} active {active}: of {:x?} carry {} it makes {:x?} {} {}, not {:x?} {}{}",
                trial.text(target),
                input.lane,
                input.words,
                input.carry,
                found.words,
                found.mask,
                found.exec,
                expected.words,
                expected.mask,
                if expected.kept { " (kept)" } else { "" },
            )
        });
    }
}
