//! The random programs have every part of the language.

use fuzz::calls;
use fuzz::generate::{Size, generate};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Programs in which all has to turn up.
const PROGRAMS: u64 = 3000;

/// What does not, and why.
const ABSENT: &[(&str, &str)] = &[
    ("a mistake", "programs have none"),
    ("string", "what prints: tests/printf.rs of the compiler has random formats"),
    ("assert()", "programs have nothing to say"),
    ("printf()", "tests/printf.rs of the compiler has random formats"),
    ("interrupt()", "whom it tells is the host's business: tests/data/run/waiting.k has it"),
    ("trap()", "a program that ends so has no results"),
    ("debug_trap()", "it does nothing"),
    ("dispatch_ptr()", "the interpreter has no packet: tests/queues.rs of the compiler reads the packet"),
    ("queue_ptr()", "the interpreter has no queue: tests/queues.rs of the compiler reads the queue"),
    ("kernarg_ptr()", "tests/queues.rs of the compiler reads arguments through the pointer"),
    (
        "implicitarg_ptr()",
        "the interpreter has no hidden arguments: tests/queues.rs of the compiler has the pointer",
    ),
    ("extern fn", "what another object has cannot be run alone"),
    ("extern static", "what another object has cannot be run alone"),
    ("exceptions", "the emulator runs no kernel that asks for them"),
];

#[test]
fn every_part_of_the_language() {
    let known = frontend::all_parts();
    let found: Vec<_> = (0..PROGRAMS)
        .into_par_iter()
        .map(|seed| {
            let source = match seed % 10 {
                0 => calls::generate(seed, calls::MOST, calls::STATEMENTS).source,
                _ => generate(seed, Size::Small).source(),
            };
            let used = frontend::parts(&source, None);
            used.unwrap_or_else(|list| panic!("seed {seed}: {}", list.render(false)))
        })
        .collect();
    let mut programs: BTreeMap<&str, u64> = known.iter().map(|part| (part.as_str(), 0)).collect();
    for part in found.iter().flatten() {
        if let Some(count) = programs.get_mut(part.as_str()) {
            *count += 1;
        }
    }
    let absent = |part: &str| ABSENT.iter().any(|row| row.0 == part);
    let missing: Vec<_> =
        programs.iter().filter(|(part, count)| **count == 0 && !absent(part)).map(|(part, _)| part).collect();
    assert!(missing.is_empty(), "{} parts never turn up: {missing:#?}", missing.len());
    let stale: Vec<_> = ABSENT.iter().filter(|row| programs.get(row.0) != Some(&0)).collect();
    assert!(stale.is_empty(), "these turn up, or are no part: {stale:#?}");
}
