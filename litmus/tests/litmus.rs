//! Every shape, in every case, in every schedule.

use litmus::{Case, Deletion, Layout, Machine, Scope, Shape, cases, machines, run};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn shapes() -> Vec<Shape> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/litmus");
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .expect("the shapes are there")
        .filter_map(|entry| Some(entry.ok()?.path()).filter(|path| path.extension().is_some_and(|e| e == "litmus")))
        .collect();
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).expect("a shape can be read");
        Shape::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    files.iter().map(read).collect()
}

/// Processors of each generation, both modes of GFX10.
const PROCESSORS: [&str; 8] = ["gfx600", "gfx700", "gfx803", "gfx900", "gfx906", "gfx908", "gfx1010", "gfx1030"];

/// Cases in which the guide's own sequences leave an outcome open: see `docs/litmus.md`.
fn is_gap(_shape: &Shape, _case: &Case) -> bool {
    false
}

#[test]
fn no_forbidden_outcome() {
    let mut failures = Vec::new();
    println!("{:14} {:11} {:>6} {:>9} {:>9}  gaps", "shape", "processor", "cases", "outcomes", "states");
    for shape in shapes() {
        for machine in machines(&PROCESSORS) {
            let all = cases(&shape, machine);
            let (mut outcomes, mut states, mut gaps) = (0, 0, 0);
            let mut missing: Option<BTreeSet<String>> = None;
            for case in &all {
                let verdict = run(&shape, case, None).unwrap_or_else(|error| panic!("{}: {error}", shape.name));
                outcomes += verdict.outcomes;
                states += verdict.states;
                let here: BTreeSet<String> = verdict.missing.iter().cloned().collect();
                missing = Some(missing.map_or(here.clone(), |before| before.intersection(&here).cloned().collect()));
                let name = || {
                    let (scope, layout) = (case.scope.name(), case.layout.name());
                    format!("{} {} {scope}, {layout}, {}", shape.name, machine.name(), case.placement())
                };
                let gap = is_gap(&shape, case);
                gaps += usize::from(gap);
                if verdict.bounded || !verdict.broken.is_empty() {
                    failures.push(format!("{}: bounded {} broken {:?}", name(), verdict.bounded, verdict.broken));
                }
                if verdict.forbidden.is_empty() == gap {
                    failures.push(format!("{}: gap {gap}, {:?}", name(), verdict.forbidden));
                }
            }
            println!("{:14} {:11} {:6} {outcomes:9} {states:9}  {gaps}", shape.name, machine.name(), all.len());
            if let Some(missing) = missing.filter(|missing| !missing.is_empty()) {
                failures.push(format!("{} {}: never seen: {missing:?}", shape.name, machine.name()));
            }
        }
    }
    assert!(failures.is_empty(), "{}\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_word_is_needed() {
    let mut seen: BTreeMap<(String, Deletion), Option<String>> = BTreeMap::new();
    for shape in shapes() {
        for machine in machines(&["gfx600", "gfx803", "gfx906", "gfx1010"]) {
            for case in cases(&shape, machine).iter().filter(|case| case.scope != Scope::Wavefront) {
                if is_gap(&shape, case) {
                    continue;
                }
                let verdict = run(&shape, case, None).expect("it runs");
                for word in verdict.words {
                    let found = seen.entry((machine.name(), word)).or_default();
                    if found.is_none() {
                        let less = run(&shape, case, Some(word)).expect("it runs");
                        if let Some((condition, _)) = less.forbidden.first() {
                            let (scope, layout) = (case.scope.name(), case.layout.name());
                            *found = Some(format!("{} {scope}, {layout}: {condition}", shape.name));
                        }
                    }
                }
            }
        }
    }
    for ((machine, word), found) in &seen {
        let found = found.as_deref().unwrap_or("-");
        println!("{machine:11} line {} word {} `{}`: {found}", word.line, word.position, word.word);
    }
}
