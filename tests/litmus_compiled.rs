//! Shapes of the memory model as compiled code: every order, scope and address space of loads, stores, atomics and fences,
//! in every schedule that the emulator's weak memory allows.
//!
//! `tools/litmus/tests` explores the sequences of the guide. Here the code comes from the compiler: nothing forbidden comes out of it, also
//! with two agents whose L2s differ, and what the compiler has inserted is needed: without it something forbidden does come out.
//! `docs/litmus.md` has the tables; `KERNC_LITMUS=full` runs all of it,
//! `KERNC_LITMUS=gfx906` all of one processor.

#[path = "litmus_compiled/inserted.rs"]
mod inserted;

use inserted::{Inserted, inserted, without};
use kernc::mir::MachFunc;
use kernc::{Compiler, Observer, Options, PassRange, Subtarget};
use litmus::{
    Case, Kernels, Layout, MAX_STATES, Machine, Scope, Shape, Verdict, cases, coarse_cases, ir,
    machines_and_waves, run_compiled,
};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// A processor of each column of the memory model, and its modes.
const PROCESSORS: [&str; 6] = ["gfx600", "gfx700", "gfx803", "gfx906", "gfx90a", "gfx1010"];

/// Of so many programs a short run explores one.
const STRIDE: usize = 48;

/// Where a search without a wait gives up: loops that look at a register too early go on for ever, and ask for more and more.
const FEW_STATES: u64 = 2_000;

/// How many guards of registers of a class are deleted, if `kernc check` reports each.
const GUARDS: usize = 8;

/// The shape from which a short run deletes.
const SAMPLE: &str = "MP";

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
    let directory = crate::common::root().join("tests/litmus");
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
    (subtarget.cumode, subtarget.tgsplit) = (machine.cu_mode, machine.splits_groups());
    subtarget
}

/// An object, and the machine code that is in it.
fn compile(shape: &Shape, case: &Case) -> (Vec<u8>, MachFunc) {
    let text = ir(shape, case).expect("it is a program");
    let options = Options::default();
    let range = PassRange::all(options.opt_level).from_ir().expect("passes on IR");
    let mut last = Last(MachFunc::default());
    let program = Compiler::new(subtarget(case.machine)).compile_passes(&text, &range, &options, &mut last);
    match program {
        Ok(kernc::Program::Object(object)) => (object.into_bytes(), last.0),
        Ok(_) => panic!("no object"),
        Err(error) => panic!("{error}\n{text}"),
    }
}

/// Keeps the machine code after the last pass.
struct Last(MachFunc);

impl Observer for Last {
    fn mir(&mut self, _: &'static str, _: &Subtarget, func: &MachFunc) {
        self.0.clone_from(func);
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

impl Sum {
    fn and(mut self, other: Sum) -> Sum {
        self.cases += other.cases;
        self.outcomes += other.outcomes;
        self.states += other.states;
        self.failures.extend(other.failures);
        self
    }
}

fn explore(shape: &Shape, program: &Program) -> Sum {
    let (object, _) = compile(shape, &program.cases[0]);
    let mut sum = Sum { cases: program.cases.len(), ..Sum::default() };
    for case in &program.cases {
        let verdict =
            run_compiled(shape, case, &object, MAX_STATES).unwrap_or_else(|error| panic!("{error}"));
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
fn nothing_forbidden_comes_out_of_waves() {
    nothing_forbidden(|case| case.sequence.is_none());
}

#[test]
fn nothing_forbidden_comes_out_of_lanes() {
    nothing_forbidden(|case| case.sequence.is_some());
}

/// Explores the programs of such cases.
fn nothing_forbidden(which: fn(&Case) -> bool) {
    let shapes = shapes();
    println!(
        "{:18} {:>8} {:>6} {:>9} {:>10} {:>9}",
        "processor", "programs", "cells", "outcomes", "states", "forbidden"
    );
    for machine in all_machines() {
        let mut programs = programs(&shapes, machine);
        programs.retain(|program| which(&program.cases[0]));
        if asked().is_none() {
            programs = programs.into_iter().step_by(STRIDE).collect();
        }
        let sums: Vec<Sum> =
            programs.par_iter().map(|program| explore(&shapes[program.shape], program)).collect();
        let Sum { cases, outcomes, states, failures } = sums.into_iter().fold(Sum::default(), Sum::and);
        let (forbidden, count) = (failures.len(), programs.len());
        println!("{:18} {count:8} {cases:6} {outcomes:9} {states:10} {forbidden:9}", machine.name());
        assert!(failures.is_empty(), "{forbidden}\n{}", failures[..forbidden.min(20)].join("\n"));
    }
}

/// What a shape allows comes out of compiled code, too, in some case of each machine that it is for: a shape that is too weak is seen to be.
#[test]
fn what_is_allowed_comes_out() {
    let shapes = shapes();
    let mut shown = 0;
    for machine in all_machines() {
        let programs = programs(&shapes, machine);
        let weak = (0..shapes.len()).filter(|&shape| !shapes[shape].allowed.is_empty());
        let never = |shape: usize| -> Option<String> {
            let mut of_shape = programs.iter().filter(|program| program.shape == shape).peekable();
            of_shape.peek()?;
            let mut missing: Vec<String> = shapes[shape].allowed.iter().map(|c| c.text.clone()).collect();
            for program in of_shape {
                let (object, _) = compile(&shapes[shape], &program.cases[0]);
                for case in &program.cases {
                    let verdict = run_compiled(&shapes[shape], case, &object, MAX_STATES).expect("it runs");
                    missing.retain(|text| verdict.missing.contains(text));
                    if missing.is_empty() {
                        return Some(String::new());
                    }
                }
            }
            Some(format!("{}, {}: {missing:?}\n", shapes[shape].name, machine.name()))
        };
        let found: Vec<String> = weak.collect::<Vec<_>>().into_par_iter().filter_map(never).collect();
        shown += found.len();
        assert!(found.iter().all(String::is_empty), "never seen: {}", found.concat());
    }
    println!("{shown} shapes with something allowed, on all machines");
    assert!(asked().is_some() || shown >= 150, "{shown}");
}

/// What comes out of a shape in the kernel language, whose code has the orders of its own.
fn run_kernels(path: &std::path::Path, machine: Machine) -> Result<(), String> {
    let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let kernels = Kernels::parse(&text, &name).map_err(|error| error.to_string())?;
    let language = if kernels.opencl { kernc::Language::OpenCl } else { kernc::Language::Kernc };
    let options = Options { language, unsafe_fp_atomics: true, ..Options::default() };
    let object = Compiler::new(subtarget(machine)).compile(&text, &options);
    let object = object.map_err(|list| list.render(false))?;
    let object = sim::CodeObject::load(object.bytes()).map_err(|error| error.to_string())?;
    let mut missing: Option<Vec<String>> = None;
    for placement in kernels.placements(&object, machine)? {
        let verdict = kernels.run(&object, &placement)?;
        if verdict.bounded || !verdict.broken.is_empty() || !verdict.forbidden.is_empty() {
            return Err(format!("{}: {:?}", placement.name(), verdict.forbidden.first()));
        }
        missing.get_or_insert(verdict.missing.clone()).retain(|text| verdict.missing.contains(text));
    }
    match missing {
        Some(missing) if missing.is_empty() => Ok(()),
        other => Err(format!("never seen: {other:?}")),
    }
}

#[test]
fn kernels_show_what_they_say() {
    let directory = crate::common::root().join("tests/litmus");
    let files = std::fs::read_dir(directory).expect("the shapes are there");
    let paths = files.map(|entry| entry.expect("a shape").path());
    let sources: Vec<_> = paths.filter(|path| path.extension() == Some("k".as_ref())).collect();
    assert!(sources.len() >= 6);
    for machine in all_machines() {
        // A group that is split has no LDS, and a kernel may want it.
        for source in sources.iter().filter(|_| !machine.splits_groups()) {
            run_kernels(source, machine)
                .unwrap_or_else(|e| panic!("{} {}: {e}", source.display(), machine.name()));
        }
    }
}

/// What is known of a class: the inserted instructions that are there for the same reason, in one scope.
#[derive(Default)]
struct Class {
    /// How many there are in all programs.
    instances: usize,
    /// How many have been deleted, and where the last one.
    tried: usize,
    last: Option<(usize, Layout)>,
    /// A case in which something forbidden comes out without one of them.
    needed: Option<String>,
    /// Whether they guard registers, and `kernc check` has reported each one that was deleted.
    reported: bool,
}

impl Class {
    /// How it is shown that they have to be there, and the sentence that says so.
    fn evidence(&self) -> (Shown, &str) {
        match &self.needed {
            Some(case) => (Shown::Outcome, case),
            None if self.reported => (Shown::Report, "`kernc check` reports the register"),
            None => (Shown::Not, "-"),
        }
    }
}

/// A class that nothing needs and the table has all the same, with the reason: a group that is split has no LDS, so nothing that a flat instruction
/// does is counted by `lgkmcnt` alone, and no order has to wait for it. LLVM 19 leaves the wait out there. Waits for a register are not of
/// these: they name the instruction that brings it.
fn is_for_no_lds(machine: Machine, class: &str) -> bool {
    machine.splits_groups() && class.starts_with("lgkmcnt: ") && !class.contains(" after ")
}

/// How it is shown that a class has to be there.
#[derive(Clone, Copy, PartialEq)]
enum Shown {
    /// Something forbidden comes out without.
    Outcome,
    /// `kernc check` reports a register that is touched too early.
    Report,
    Not,
}

/// Why a machine's code has waits and cache operations.
fn classes(shapes: &[Shape], machine: Machine) -> BTreeMap<String, Class> {
    let target = subtarget(machine);
    let mut found: BTreeMap<String, Class> = BTreeMap::new();
    let sampled = |program: &&Program| asked().is_some() || shapes[program.shape].name == SAMPLE;
    for program in programs(shapes, machine).iter().filter(sampled) {
        let (shape, case) = (&shapes[program.shape], &program.cases[0]);
        let (object, func) = compile(shape, case);
        for one in inserted(&target, &func) {
            let name = class_name(&one, case.scope);
            let new = Class { reported: one.guards_register, ..Class::default() };
            let class = found.entry(name).or_insert(new);
            class.instances += 1;
            // Four threads find nothing that three do not, nor one sequence of lanes what another does not, and take most of
            // the time.
            let here = (program.shape, case.layout);
            let again = case.sequence.is_some() && class.last == Some(here);
            let enough = again || shape.threads.len() > 3 || class.reported && class.tried >= GUARDS;
            if class.needed.is_none() && !enough {
                (class.tried, class.last) = (class.tried + 1, Some(here));
                let less = without(&target, &object, &one);
                class.needed = program.cases.iter().find_map(|case| missed(shape, case, &less));
                class.reported &= reports(&less) > reports(&object);
            }
        }
    }
    found
}

/// The scope is the row's own if that is one alone: shapes of several scopes have operations of the group, and of the system, in cases of
/// the agent. L2 is written back and invalidated for the system's only.
fn class_name(one: &Inserted, scope: Scope) -> String {
    let scope =
        if ["buffer_wbl2", "buffer_invl2"].contains(&one.instruction) { Scope::System } else { scope };
    match one.reason.contains("workgroup") {
        true => one.reason.clone(),
        false => format!("{}, {}", one.reason, scope.name()),
    }
}

/// What comes out of an object and must not.
fn missed(shape: &Shape, case: &Case, object: &[u8]) -> Option<String> {
    let verdict = run_compiled(shape, case, object, FEW_STATES).expect("it runs");
    let what = verdict.forbidden.first().map(|(condition, _)| condition.clone());
    let what = what.or_else(|| verdict.gaps.first().cloned());
    let what = what.or_else(|| verdict.broken.first().map(|_| "a fault".to_owned()));
    what.map(|what| format!("{}: {what}", name(shape, case)))
}

/// How much `kernc check` finds in an object, which uses flat instructions for pointers that may point to LDS.
fn reports(object: &[u8]) -> usize {
    let parsed = codeobj::CodeObject::parse(object).expect("an object");
    let options = check::object::Options { flat_lds: true, ..Default::default() };
    check::object::check(&parsed, &options).expect("code of ours").findings.len()
}

#[test]
fn what_is_inserted_is_needed() {
    let shapes = shapes();
    let machines = all_machines();
    let tables: Vec<_> = machines.par_iter().map(|machine| classes(&shapes, *machine)).collect();
    let all = || machines.iter().zip(&tables);
    for (machine, table) in all() {
        for (name, class) in table {
            println!("{:18} {name} ({}): {}", machine.name(), class.instances, class.evidence().1);
        }
    }
    let kinds = [Shown::Outcome, Shown::Report, Shown::Not];
    println!("{:18} {:>15} {:>15} {:>15}", "processor", "outcome", "report", "not");
    for (machine, table) in all() {
        let cell = |kind: Shown| {
            let those = table.values().filter(|class| class.evidence().0 == kind);
            let (classes, instances) =
                those.fold((0, 0), |(count, sum), class| (count + 1, sum + class.instances));
            format!("{classes:6} {instances:8}")
        };
        println!("{:18} {}", machine.name(), kinds.map(cell).join(" "));
    }
    for (machine, table) in all() {
        let idle = table.iter().filter(|(_, class)| class.evidence().0 == Shown::Not);
        let idle = idle.map(|(name, _)| name).filter(|name| !is_for_no_lds(*machine, name));
        let idle: Vec<&String> = idle.collect();
        assert!(idle.is_empty(), "{}: nothing needs {idle:#?}", machine.name());
    }
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
        let (mut object, func) = compile(&shape, &case);
        let target = subtarget(machine);
        let all = inserted(&target, &func);
        let those: Vec<_> = all.iter().filter(|one| Some(one.instruction) == deleted).collect();
        assert!(deleted.is_none() || !those.is_empty());
        // The last one first: they are known by how many come before.
        for one in those.into_iter().rev() {
            object = without(&target, &object, one);
        }
        let verdict = run_compiled(&shape, &case, &object, MAX_STATES).expect("it runs");
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
