//! Every shape, in every case, in every schedule.

use litmus::{Deletion, Scope, Shape, cases, machines, run, source};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn shapes() -> Vec<Shape> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/litmus");
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .expect("the shapes are there")
        .filter_map(|entry| {
            Some(entry.ok()?.path()).filter(|path| path.extension().is_some_and(|e| e == "litmus"))
        })
        .collect();
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).expect("a shape can be read");
        Shape::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    files.iter().map(read).collect()
}

/// Processors of each generation, both modes of GFX10.
const PROCESSORS: [&str; 8] =
    ["gfx600", "gfx700", "gfx803", "gfx900", "gfx906", "gfx908", "gfx1010", "gfx1030"];

/// Words that no shape needs, by line of the guide, and why. Everything else must be needed by some case.
const NOT_NEEDED: [(&[u32], &str, &str); 6] = [
    (
        &[3292, 3328, 3384, 3421, 3538, 3618, 3769, 3834, 3941, 3957, 3968],
        "lgkm",
        "all variables of flat cases are in one memory; nothing plain is read after a seq_cst load",
    ),
    (
        &[3506, 3525, 3538, 3557, 3587, 3605, 3618, 3637, 3664, 3684, 3716, 3744, 3769, 3800, 3834],
        "vm",
        "GFX10: for loads before a release, and shapes release stores",
    ),
    (&[3446, 3469], "vs", "for atomics that return nothing"),
    (&[3941, 3957, 3968], "vm", "nothing plain is read after a seq_cst load; loads before it have waited"),
    (&[3368], "inv0", "CU mode has one L0 for a group"),
    (&[3941, 3957, 3968], "inv", "nothing plain is read after a seq_cst load"),
];

/// Why a word need not be needed.
fn reason(machine: &str, word: &Deletion) -> Option<&'static str> {
    let matches = |(lines, name, _): &&(&[u32], &str, &str)| {
        let same = word.word == *name || *name == "inv" && word.word.starts_with("inv");
        // Before GFX10 `vmcnt` counts stores too.
        let gfx10 = *name != "vm" || machine.starts_with("gfx10") || lines.contains(&3968);
        same && gfx10 && lines.contains(&word.line)
    };
    NOT_NEEDED.iter().find(matches).map(|(_, _, reason)| *reason)
}

#[test]
fn no_forbidden_outcome() {
    let mut failures = Vec::new();
    println!("{:14} {:11} {:>6} {:>9} {:>9}", "shape", "processor", "cases", "outcomes", "states");
    for shape in shapes() {
        // Four threads take most of the time: one processor of each kind of cache.
        let few = ["gfx600", "gfx906", "gfx1010"];
        let processors = if shape.threads.len() < 4 { &PROCESSORS[..] } else { &few };
        for machine in machines(processors) {
            let all = cases(&shape, machine);
            let (mut outcomes, mut states) = (0, 0);
            let mut missing: Option<BTreeSet<String>> = None;
            for case in &all {
                let verdict =
                    run(&shape, case, None).unwrap_or_else(|error| panic!("{}: {error}", shape.name));
                outcomes += verdict.outcomes;
                states += verdict.states;
                let here: BTreeSet<String> = verdict.missing.iter().cloned().collect();
                missing = Some(
                    missing.map_or(here.clone(), |before| before.intersection(&here).cloned().collect()),
                );
                let name = || {
                    let (scope, layout) = (case.scope.name(), case.layout.name());
                    format!("{} {} {scope}, {layout}, {}", shape.name, machine.name(), case.placement())
                };
                if verdict.bounded || !verdict.broken.is_empty() {
                    failures.push(format!(
                        "{}: bounded {} broken {:?}",
                        name(),
                        verdict.bounded,
                        verdict.broken
                    ));
                }
                if !verdict.forbidden.is_empty() {
                    failures.push(format!("{}: {:?}", name(), verdict.forbidden));
                }
            }
            println!("{:14} {:11} {:6} {outcomes:9} {states:9}", shape.name, machine.name(), all.len());
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
    // Four threads find nothing that three do not, and take most of the time.
    for shape in shapes().iter().filter(|shape| shape.threads.len() < 4) {
        for machine in machines(&["gfx600", "gfx803", "gfx906", "gfx1010"]) {
            for case in cases(shape, machine).iter().filter(|case| case.scope != Scope::Wavefront) {
                for word in source(shape, case, 0x1000, None).1 {
                    let found = seen.entry((machine.name(), word)).or_default();
                    if found.is_none() {
                        let less = run(shape, case, Some(word)).expect("it runs");
                        if let Some((condition, _)) = less.forbidden.first() {
                            let (scope, layout) = (case.scope.name(), case.layout.name());
                            *found = Some(format!("{} {scope}, {layout}: {condition}", shape.name));
                        }
                    }
                }
            }
        }
    }
    let mut failures = Vec::new();
    for ((machine, word), found) in &seen {
        let excuse = reason(machine, word);
        if found.is_none() && excuse.is_none() {
            failures.push(format!("{machine} line {} word {} `{}`", word.line, word.position, word.word));
        }
        let found = found.as_deref().or(excuse).unwrap_or("-");
        println!("{machine:11} line {} word {} `{}`: {found}", word.line, word.position, word.word);
    }
    let needed = seen.values().filter(|found| found.is_some()).count();
    println!("{needed} of {} words are needed by some case", seen.len());
    assert!(failures.is_empty(), "not needed by any case:\n{}", failures.join("\n"));
}
