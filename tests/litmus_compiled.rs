//! Shapes of the memory model as compiled code: every order, scope and address space of loads, stores, atomics and fences,
//! in every schedule that the emulator's weak memory allows.
//!
//! `litmus/tests` explores the sequences of the guide. Here the code comes from the compiler: nothing forbidden comes out of it, also
//! with two agents whose L2s differ.
//! `docs/litmus.md` has the tables; `KERNC_LITMUS=full` runs all of it,
//! `KERNC_LITMUS=gfx906` all of one processor.

mod common;

use kernc::isa::{MachInst, Operand, decode, encode, op};
use kernc::{Compiler, Options, PassRange, Subtarget};
use litmus::{
    Case, Machine, Scope, Shape, Verdict, cases, coarse_cases, ir, machines_and_waves, run_compiled,
};
use object::{Object, ObjectSection};
use rayon::prelude::*;

/// A processor of each column of the memory model, and its modes.
const PROCESSORS: [&str; 6] = ["gfx600", "gfx700", "gfx803", "gfx906", "gfx90a", "gfx1010"];

/// Of so many programs a short run explores one.
const STRIDE: usize = 48;

/// What `KERNC_LITMUS` asks for all of: everything, or some processors.
fn asked() -> Option<String> {
    std::env::var("KERNC_LITMUS").ok()
}

fn all_machines() -> Vec<Machine> {
    let asked = asked().filter(|asked| asked != "full");
    let few = asked.as_deref().map(|names| names.split(',').collect::<Vec<_>>());
    machines_and_waves(&few.unwrap_or(PROCESSORS.to_vec()))
}

/// All shapes that are not about machine code as it stands, those with few threads first.
fn shapes() -> Vec<Shape> {
    let directory = common::root().join("tests/litmus");
    let files = std::fs::read_dir(directory).expect("the shapes are there");
    let mut files: Vec<_> = files.map(|entry| entry.expect("a shape").path()).collect();
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).expect("a shape can be read");
        Shape::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let mut shapes: Vec<Shape> =
        files.iter().filter(|path| path.extension() == Some("litmus".as_ref())).map(read).collect();
    shapes.sort_by_key(|shape| shape.threads.len());
    shapes
}

/// Cases of a shape that have the same code: they differ in where the threads run, and whose the memory is.
struct Program {
    shape: usize,
    cases: Vec<Case>,
}

fn programs(shapes: &[Shape], machine: Machine) -> Vec<Program> {
    let mut programs: Vec<Program> = Vec::new();
    for (shape, text) in shapes.iter().enumerate() {
        let all = cases(text, machine).into_iter().chain(coarse_cases(text, machine));
        for case in all.filter(|case| ir(text, case).is_some()) {
            let same = |program: &&mut Program| {
                let one = &program.cases[0];
                program.shape == shape
                    && (one.scope, one.layout, &one.sequence) == (case.scope, case.layout, &case.sequence)
            };
            match programs.iter_mut().rev().take(20).find(same) {
                Some(program) => program.cases.push(case),
                None => programs.push(Program { shape, cases: vec![case] }),
            }
        }
    }
    programs
}

fn subtarget(machine: Machine) -> Subtarget {
    let mut subtarget = Subtarget::new(machine.target);
    subtarget.cumode = machine.cu_mode;
    subtarget
}

fn compile(shape: &Shape, case: &Case) -> Vec<u8> {
    let text = ir(shape, case).expect("it is a program");
    let options = Options::default();
    let range = PassRange::all(options.opt_level).from_ir().expect("passes on IR");
    let program = Compiler::new(subtarget(case.machine)).compile_passes(&text, &range, &options, &mut ());
    match program {
        Ok(kernc::Program::Object(object)) => object.into_bytes(),
        Ok(_) => panic!("no object"),
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn name(shape: &Shape, case: &Case) -> String {
    let (machine, scope, layout) = (case.machine.name(), case.scope.name(), case.layout.name());
    format!("{} {machine} {scope}, {layout}, {}", shape.name, case.placement())
}

/// What came out of some cases.
#[derive(Default)]
struct Sum {
    cases: usize,
    outcomes: usize,
    states: u64,
    failures: Vec<String>,
}

fn explore(shape: &Shape, program: &Program) -> Sum {
    let object = compile(shape, &program.cases[0]);
    let mut sum = Sum { cases: program.cases.len(), ..Sum::default() };
    for case in &program.cases {
        let verdict = run_compiled(shape, case, &object).unwrap_or_else(|error| panic!("{error}"));
        sum.outcomes += verdict.outcomes;
        sum.states += verdict.states;
        // What the guide's sequences leave open the compiler does not.
        if verdict.bounded
            || !verdict.broken.is_empty()
            || !verdict.forbidden.is_empty()
            || !verdict.gaps.is_empty()
        {
            let (broken, forbidden) = (verdict.broken.first(), verdict.forbidden.first());
            let gaps = &verdict.gaps;
            sum.failures.push(format!(
                "{}: bounded {} {broken:?} {forbidden:?} {gaps:?}",
                name(shape, case),
                verdict.bounded
            ));
        }
    }
    sum
}

#[test]
fn nothing_forbidden_comes_out() {
    let shapes = shapes();
    println!(
        "{:18} {:>8} {:>6} {:>9} {:>10} {:>9}",
        "processor", "programs", "cells", "outcomes", "states", "forbidden"
    );
    let mut failures = Vec::new();
    for machine in all_machines() {
        let mut programs = programs(&shapes, machine);
        if asked().is_none() {
            programs = programs.into_iter().step_by(STRIDE).collect();
        }
        let sums: Vec<Sum> =
            programs.par_iter().map(|program| explore(&shapes[program.shape], program)).collect();
        let sum = sums.into_iter().fold(Sum::default(), |mut all, one| {
            all.cases += one.cases;
            all.outcomes += one.outcomes;
            all.states += one.states;
            all.failures.extend(one.failures);
            all
        });
        let Sum { cases, outcomes, states, failures: found } = sum;
        let forbidden = found.len();
        println!(
            "{:18} {:8} {cases:6} {outcomes:9} {states:10} {forbidden:9}",
            machine.name(),
            programs.len()
        );
        failures.extend(found);
    }
    assert!(failures.is_empty(), "{}\n{}", failures.len(), failures[..failures.len().min(20)].join("\n"));
}

/// An object without the instructions of a name, of which there are some.
fn without(machine: Machine, object: &[u8], name: &str) -> Vec<u8> {
    let file = object::File::parse(object).expect("an ELF file");
    let (start, length) = file.section_by_name(".text").and_then(|text| text.file_range()).expect("code");
    let text = object[start as usize..(start + length) as usize].chunks_exact(4);
    let words: Vec<u32> = text.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let mut nop = Vec::new();
    encode(machine.target, &MachInst::new(op::S_NOP, &[Operand::Imm(0)]), &mut nop).expect("an instruction");
    let (mut less, mut at, mut found) = (object.to_vec(), 0, 0);
    while let Ok((inst, length)) = decode(machine.target, &words[at..]) {
        if inst.op.row().name == name {
            found += 1;
            for word in at..at + length {
                less[start as usize + word * 4..][..4].copy_from_slice(&nop[0].to_le_bytes());
            }
        }
        at += length;
    }
    assert!(found > 0, "no {name}");
    less
}

/// Message passing on gfx90a by agents that have an L2 each, with the data in coarse-grained memory.
fn two_agents(scope: &str, deleted: Option<&str>) -> Vec<(Case, Verdict)> {
    let text = format!(
        "name MP\nscopes system\nthread\nstore plain x 1\nstore release@{scope} y 1\n\
         thread\nr0 = load acquire@{scope} y\nr1 = load plain x\nforbidden r0=1 r1=0"
    );
    let shape = Shape::parse(&text).expect("a shape");
    let machine = machines_and_waves(&["gfx90a"])[0];
    let run = |case: Case| {
        let object = compile(&shape, &case);
        let object = deleted.map_or(object.clone(), |name| without(machine, &object, name));
        let verdict = run_compiled(&shape, &case, &object).expect("it runs");
        assert!(!verdict.bounded && verdict.broken.is_empty());
        (case, verdict)
    };
    let all = coarse_cases(&shape, machine).into_iter().map(run).collect::<Vec<_>>();
    assert!(all.iter().all(|(case, _)| case.scope == Scope::System));
    all
}

/// Whose memory the data are in when something forbidden comes out, `None` for the host.
fn homes(scope: &str, deleted: Option<&str>) -> Vec<Option<u32>> {
    let forbidden =
        two_agents(scope, deleted).into_iter().filter(|(_, verdict)| !verdict.forbidden.is_empty());
    let mut homes: Vec<Option<u32>> = forbidden.filter_map(|(case, _)| case.coarse).collect();
    homes.sort();
    homes.dedup();
    homes
}

#[test]
fn other_agents_and_the_host_see_it_at_system_scope_only() {
    // Agent 0 writes, agent 1 reads.
    assert_eq!(homes("system", None), []);
    assert_eq!(homes("agent", None), [None, Some(0), Some(1)]);
    // What is written is late in the writer's L2, whose ever the memory is.
    assert_eq!(homes("system", Some("buffer_wbl2")), [None, Some(0), Some(1)]);
    // The reader's L2 may have an old line of what is not its own.
    assert_eq!(homes("system", Some("buffer_invl2")), [None, Some(0)]);
}
