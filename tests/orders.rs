//! The cross product of atomic operations, orders, scopes (each also `_one_as`), address spaces, types and results used or not, compiled
//! from source for a processor of each kind: the waits, invalidations and cache bits around each are those of the tables in
//! `docs/memory-model.md`. Every seventeenth case at a time; `KERNC_ORDERS=full` is all of it.
//!
//! `memmodel/tests/llvm_sequences.rs` has LLVM judge the tables themselves.

#[path = "orders/cases.rs"]
mod cases;
#[path = "orders/clang.rs"]
mod clang;
#[path = "orders/page.rs"]
mod page;

use cases::{Case, Machine};
use page::{Steps, Table};
use rayon::prelude::*;

/// Kernels of a module: enough that what a module costs does not matter.
const BATCH: usize = 200;

/// The parts of a listing between the memory operations that [`Case::kernel`] puts around its own.
fn steps_between(case: &Case, code: &[&str], registers: bool) -> Steps {
    let memory = |line: &str| {
        let families = ["global_", "ds_", "flat_", "buffer_load", "buffer_store", "buffer_atomic"];
        families.iter().any(|family| line.starts_with(family))
    };
    let places: Vec<usize> = (0..code.len()).filter(|&n| memory(code[n])).collect();
    let (first, rest) = (places[cases::BEFORE - 1], &places[cases::BEFORE..]);
    let collect = |from: usize, to: usize| {
        let lines = code[from + 1..to].iter().map(|line| line.split_once(';').unwrap_or((line, "")));
        // Of a register, of one that the loop behind needs, of a hazard between memory operations and branches (gfx101x).
        let others = [" needs ", "a use in the loop", "branch"];
        let other = |reason: &str| others.iter().any(|text| reason.contains(text));
        let counted = lines.filter(|(_, reason)| registers || !other(reason));
        counted.flat_map(|(inst, _)| page::steps_of(inst)).collect()
    };
    if case.kind == "fence" {
        return Steps { before: collect(first, rest[0]), ..Steps::default() };
    }
    // What is written out as a loop loads first; its compare-and-swap has the sequence.
    let access = rest[usize::from(case.is_loop(code[rest[0]], code[rest[1]]))];
    let next = *rest.iter().find(|&&n| n > access).expect("the loads behind");
    let bits = if case.kind == "load atomic" { page::bits_of(code[access]) } else { page::Set::new() };
    Steps { before: collect(first, access), bits, after: collect(access, next) }
}

/// Compiles cases together and says of which the code is not what the table has.
fn failures(machine: &Machine, cases: &[Case], table: &Table) -> Vec<String> {
    let source: String = cases.iter().enumerate().map(|(n, case)| case.kernel(n)).collect();
    let options =
        kernc::Options { unsafe_fp_atomics: true, language: machine.language, ..kernc::Options::default() };
    let object = kernc::Compiler::new(machine.subtarget)
        .compile(&source, &options)
        .unwrap_or_else(|list| panic!("{}: {}", machine.name, list.render(false)));
    let text = object.assembly(Some(("t.k", &source))).unwrap();
    let mut failures = Vec::new();
    let mut rest = text.as_str();
    for (n, case) in cases.iter().enumerate() {
        let label = format!("\nt{n}:\n");
        let from = rest.find(&label).expect("the kernel's code") + label.len();
        let len = rest[from..].find("s_endpgm").expect("its end");
        let lines = rest[from..from + len].lines().map(str::trim);
        let code: Vec<&str> = lines.filter(|line| !line.is_empty() && !line.starts_with(';')).collect();
        rest = &rest[from + len..];
        let expected = table.expected(case, machine, returns(case, &code));
        let (all, own) = (steps_between(case, &code, true), steps_between(case, &code, false));
        // A wait for a register does what the table asks for at the same place.
        let fits = |all: &page::Set, own: &page::Set, wanted: &page::Set| {
            own.is_subset(wanted) && wanted.is_subset(all)
        };
        if !fits(&all.after, &own.after, &expected.after)
            || !fits(&all.before, &own.before, &expected.before)
            || all.bits != expected.bits
        {
            let code = code.join("\n");
            failures.push(format!("{}, {}: {all:?}, not {expected:?}\n{code}", machine.name, case.statement));
        }
    }
    failures
}

/// Whether the access gives back a value: loads do, others say so in their name or by `glc`.
fn returns(case: &Case, code: &[&str]) -> bool {
    let names = ["atomic", "_rtn_"];
    let atomics = code.iter().filter(|line| names.iter().any(|name| line.contains(name)));
    case.kind == "load atomic"
        || atomics.into_iter().any(|line| line.contains(" glc") || line.contains("_rtn_"))
}

#[test]
fn the_code_has_the_sequences_of_the_page() {
    let tables = page::tables();
    let full = std::env::var("KERNC_ORDERS").is_ok_and(|value| value == "full");
    let mut wrong = Vec::new();
    let mut count = 0;
    for (number, machine) in cases::machines().iter().enumerate() {
        let chosen: Vec<Case> = cases::cases()
            .into_iter()
            .filter(|case| !(machine.lacks_flat && case.space == "generic"))
            .enumerate()
            // Other cases on each machine.
            .filter(|(n, _)| full || (n / 3 + n + number * 5) % 17 == 0)
            .map(|(_, case)| case)
            .collect();
        count += chosen.len();
        let table = &tables[machine.table];
        let found = chosen.par_chunks(BATCH).flat_map(|batch| failures(machine, batch, table));
        wrong.extend(found.collect::<Vec<_>>());
    }
    println!("{count} cases");
    assert!(count > 5_000, "{count} cases");
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(if full { 9999 } else { 10 })].join("\n")
    );
}

/// clang's code of OpenCL C has the steps of the page's row for `--lang opencl`, but for what
/// [`clang::without_excess_waits`] says; and so has ours, in the same cases.
#[test]
fn clang_agrees_about_opencl() {
    let tables = page::tables();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for machine in &cases::opencl_machines() {
        let cases: Vec<Case> = cases::cases().into_iter().filter(|case| clang::asks(case, machine)).collect();
        let Some(theirs) = clang::steps(machine, &cases) else {
            eprintln!("left out: clang-19 is not installed");
            return;
        };
        let table = &tables[machine.table];
        for (case, steps) in cases.iter().zip(theirs) {
            let ours = clang::without_excess_waits(case, machine, table.expected(case, machine, true));
            let theirs = clang::without_excess_waits(case, machine, steps);
            if ours != theirs {
                let (name, statement) = (&machine.name, &case.statement);
                wrong.push(format!("{name}, {statement}: {ours:?}, clang {theirs:?}"));
            }
        }
        count += cases.len();
        let found = cases.par_chunks(BATCH).flat_map(|batch| failures(machine, batch, table));
        wrong.extend(found.collect::<Vec<_>>());
    }
    println!("{count} cases are clang's");
    assert!(count > 2_000, "{count}");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}
