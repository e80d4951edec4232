//! Every shape, in every case, in every schedule.

use crate::common::{full, processors, shapes};
use crate::excuses::{excuse, excuses};
use litmus::{Case, Deletion, Machine, Operation, Scope, Shape, Space, Token};
use litmus::{cases, operations, run, source, tokens};
use rayon::prelude::*;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// Processors of a short run.
const FEW: [&str; 3] = ["gfx600", "gfx906", "gfx1010"];

/// Of so many cases a short run explores one.
const STRIDE: usize = 16;

/// What a shape comes to on a processor.
#[derive(Default)]
struct Row {
    cases: usize,
    outcomes: usize,
    states: u64,
    failures: Vec<String>,
}

fn name(shape: &Shape, case: &Case) -> String {
    let (machine, scope, layout) = (case.machine.name(), case.scope.name(), case.layout.name());
    format!("{} {machine} {scope}, {layout}, {}", shape.name, case.placement())
}

fn explore(shape: &Shape, machine: Machine) -> Row {
    let mut all = cases(shape, machine);
    // What must come out may do so in one case only.
    if !full() && shape.allowed.is_empty() && shape.gaps.is_empty() {
        let first = shape.name.bytes().map(usize::from).sum::<usize>();
        all = all.into_iter().skip(first % STRIDE).step_by(STRIDE).collect();
    }
    let mut row = Row { cases: all.len(), ..Row::default() };
    let mut missing: Option<BTreeSet<String>> = None;
    for case in &all {
        let verdict = run(shape, case, None).unwrap_or_else(|error| panic!("{}: {error}", shape.name));
        row.outcomes += verdict.outcomes;
        row.states += verdict.states;
        let here: BTreeSet<String> = verdict.missing.iter().cloned().collect();
        missing = Some(missing.map_or(here.clone(), |before| &before & &here));
        if verdict.bounded || !verdict.broken.is_empty() || !verdict.forbidden.is_empty() {
            let (bounded, broken, forbidden) = (verdict.bounded, &verdict.broken, &verdict.forbidden);
            row.failures.push(format!("{}: bounded {bounded} {broken:?} {forbidden:?}", name(shape, case)));
        }
    }
    if let Some(missing) = missing.filter(|missing| !missing.is_empty()) {
        row.failures.push(format!("{} {}: never seen: {missing:?}", shape.name, machine.name()));
    }
    row
}

#[test]
fn no_forbidden_outcome() {
    let shapes = shapes();
    let pairs: Vec<(&Shape, Machine)> = shapes
        .iter()
        .flat_map(|shape| processors(&FEW).into_iter().map(move |machine| (shape, machine)))
        .collect();
    let rows: Vec<Row> = pairs.par_iter().map(|(shape, machine)| explore(shape, *machine)).collect();
    println!("{:22} {:11} {:>6} {:>9} {:>9}", "shape", "processor", "cases", "outcomes", "states");
    let mut sum = Row::default();
    for ((shape, machine), row) in pairs.iter().zip(rows) {
        let Row { cases, outcomes, states, failures } = row;
        println!("{:22} {:11} {cases:6} {outcomes:9} {states:9}", shape.name, machine.name());
        sum.cases += cases;
        sum.outcomes += outcomes;
        sum.states += states;
        sum.failures.extend(failures);
    }
    println!("{} cases, {} outcomes, {} states", sum.cases, sum.outcomes, sum.states);
    assert!(sum.failures.is_empty(), "{}\n{}", sum.failures.len(), sum.failures.join("\n"));
}

/// Words of a machine's column.
fn words(machine: &Machine) -> BTreeSet<Deletion> {
    let words = |(token, deletion): (Token, Deletion)| match token {
        Token::Word(_) => vec![deletion],
        Token::Op { glc, dlc } => {
            let bits = [("glc", glc), ("dlc", dlc)].into_iter().filter(|(_, set)| *set);
            bits.map(|(word, _)| Deletion { word, ..deletion }).collect()
        }
    };
    // GFX6 has no flat instructions.
    let flat = machine.target.version.0 != 6;
    let there = |operation: &Operation| flat || operation.space != Some(Space::Generic);
    let operations = operations().into_iter().filter(there);
    operations.flat_map(|operation| tokens(machine, operation)).flat_map(words).collect()
}

/// For each word of a machine's column that some shape needs, the case that shows it.
fn needed(shapes: &[Shape], machine: Machine) -> BTreeMap<Deletion, String> {
    let mut found: BTreeMap<Deletion, String> = BTreeMap::new();
    // Four threads find nothing that three do not, and take most of the time.
    for shape in shapes.iter().filter(|shape| shape.threads.len() < 4 && shape.gaps.is_empty()) {
        for case in cases(shape, machine).iter().filter(|case| case.scope != Scope::Wavefront) {
            for word in source(shape, case, 0x1000, None).1 {
                if let Entry::Vacant(entry) = found.entry(word) {
                    let less = run(shape, case, Some(word)).expect("it runs");
                    if let Some((condition, _)) = less.forbidden.first() {
                        entry.insert(format!("{}: {condition}", name(shape, case)));
                    }
                }
            }
        }
    }
    found
}

/// What is not as it should be: words that are neither needed nor excused, and excuses that are not wanted.
fn mistakes(machine: &Machine, found: &BTreeMap<Deletion, String>) -> Vec<String> {
    let (name, words) = (machine.name(), words(machine));
    let idle = words.iter().filter(|word| !found.contains_key(word) && excuse(machine, word).is_none());
    let mut mistakes: Vec<String> = idle.map(|word| format!("{name} {word}: nothing needs it")).collect();
    for (excused, _) in excuses(machine) {
        match words.iter().find(|word| word.to_string() == excused).map(|word| found.get(word)) {
            None => mistakes.push(format!("{name} {excused}: excused, and there is no such word")),
            Some(Some(case)) => mistakes.push(format!("{name} {excused}: excused, and needed by {case}")),
            Some(None) => {}
        }
    }
    mistakes
}

#[test]
fn every_word_is_needed() {
    let shapes = shapes();
    let machines = processors(&FEW);
    let found: Vec<_> = machines.par_iter().map(|machine| needed(&shapes, *machine)).collect();
    // Needed, excused and all, by kind of word.
    let mut table: BTreeMap<(&str, String), [usize; 3]> = BTreeMap::new();
    let mut failures = Vec::new();
    for (machine, found) in machines.iter().zip(&found) {
        for word in words(machine) {
            let case = found.get(&word).map(String::as_str);
            let excuse = excuse(machine, &word);
            println!("{:11} {word}: {}", machine.name(), case.or(excuse).unwrap_or("-"));
            for column in [machine.name(), "all".into()] {
                let count = table.entry((word.instruction(machine), column)).or_default();
                count[0] += usize::from(case.is_some());
                count[1] += usize::from(case.is_none() && excuse.is_some());
                count[2] += 1;
            }
        }
        failures.extend(mistakes(machine, found));
    }
    println!("{:26} {:11} {:>6} {:>7} {:>5}", "word", "processor", "needed", "excused", "all");
    for ((word, machine), [needed, excused, all]) in &table {
        println!("{word:26} {machine:11} {needed:6} {excused:7} {all:5}");
    }
    assert!(failures.is_empty(), "{}\n{}", failures.len(), failures.join("\n"));
}
