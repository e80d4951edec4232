//! The memory model forbids what the shapes forbid, and allows what the shapes allow.

use crate::common::shapes;
use litmus::{Change, Condition, Cycle, Explanation, Shape, Statement, explain};
use std::collections::BTreeSet;

/// Forbidden conditions that have no cycle: the shape, the condition, and the reason.
const EXCUSES: [(&str, &str, &str); 2] = [
    ("MP+bystander+outer", "r0=1 r1=0", "the acquire is machine code"),
    (
        "W+RWC+seqcst",
        "r0=1 r1=0 r2=0",
        "the seq_cst load of x reads a value older than that of a relaxed store, and C++20 orders only two \
         seq_cst operations by that; the instructions of the table are stronger",
    ),
];

/// Each forbidden condition and each gap of each shape is explained by a cycle, and no allowed condition is.
#[test]
fn every_shape() {
    let mut mistakes = Vec::new();
    let (mut forbidden, mut allowed) = (0, 0);
    for shape in shapes() {
        for condition in shape.forbidden.iter().chain(&shape.gaps) {
            let explanation = explain(&shape, condition);
            let excuse =
                |(name, text, _): &(&str, &str, &str)| *name == shape.name && *text == condition.text;
            let explained = matches!(explanation, Explanation::Forbidden { .. });
            if explained == EXCUSES.iter().any(excuse) {
                mistakes.push(format!("{} {}: {explanation}", shape.name, condition.text));
            }
            forbidden += 1;
        }
        for condition in &shape.allowed {
            let explanation = explain(&shape, condition);
            if !matches!(explanation, Explanation::Allowed { .. }) {
                mistakes.push(format!("{} {}: {explanation}", shape.name, condition.text));
            }
            allowed += 1;
        }
    }
    println!("{forbidden} forbidden and {allowed} allowed conditions");
    for (name, text, _) in EXCUSES {
        let known = |shape: &Shape| shape.name == name && shape.forbidden.iter().any(|c| c.text == text);
        assert!(shapes().iter().any(known), "{name} {text}");
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

/// Executes one statement of a thread at once in the one memory, as a sequentially consistent machine does.
/// Returns whether the thread can go on: a loop that does not end at once is left out.
fn execute(statement: &Statement, memory: &mut [u32], registers: &mut [u32]) -> bool {
    match *statement {
        Statement::Load { register, variable, .. } => registers[register] = memory[variable],
        Statement::Store { variable, value, .. } => memory[variable] = value,
        Statement::StoreNext { variable, register, .. } => memory[variable] = registers[register] + 1,
        Statement::Rmw { register, change, variable, value, .. } => {
            let old = memory[variable];
            match change {
                Change::Swap => memory[variable] = value,
                Change::Add => memory[variable] += value,
                Change::Cas { expected } if old == expected => memory[variable] = value,
                Change::Cas { .. } => {}
            }
            if let Some(register) = register {
                registers[register] = old;
            }
        }
        Statement::Until { register, value, .. } => return registers[register] == value,
        Statement::Fence { .. } | Statement::Barrier | Statement::Label(_) | Statement::Code(_) => {}
    }
    true
}

/// Collects the final registers and variables of all interleavings of the threads.
fn interleave(
    shape: &Shape,
    next: &[usize],
    memory: &[u32],
    registers: &[u32],
    outcomes: &mut BTreeSet<(Vec<u32>, Vec<u32>)>,
) {
    let mut ended = true;
    for thread in 0..next.len() {
        let Some(statement) = shape.threads[thread].get(next[thread]) else { continue };
        ended = false;
        let (mut next, mut memory, mut registers) = (next.to_vec(), memory.to_vec(), registers.to_vec());
        next[thread] += 1;
        if execute(statement, &mut memory, &mut registers) {
            interleave(shape, &next, &memory, &registers, outcomes);
        }
    }
    if ended {
        outcomes.insert((registers.to_vec(), memory.to_vec()));
    }
}

/// Every outcome of an interleaving of the threads is allowed in each memory model.
#[test]
fn interleavings_have_no_cycle() {
    let mut count = 0;
    for shape in shapes() {
        let hindered = |statement: &Statement| matches!(statement, Statement::Barrier | Statement::Code(_));
        if shape.threads.iter().flatten().any(hindered) {
            continue;
        }
        let mut outcomes = BTreeSet::new();
        let (memory, registers) = (vec![0; shape.variables.len()], vec![0; shape.registers.len()]);
        interleave(&shape, &vec![0; shape.threads.len()], &memory, &registers, &mut outcomes);
        for (registers, variables) in outcomes {
            let condition = Condition {
                registers: registers.into_iter().enumerate().collect(),
                variables: variables.into_iter().enumerate().collect(),
                text: String::new(),
            };
            let explanation = explain(&shape, &condition);
            let allowed = matches!(explanation, Explanation::Allowed { .. });
            assert!(allowed, "{} {condition:?}: {explanation}", shape.name);
            count += 1;
        }
    }
    assert!(count > 500, "{count} outcomes");
}

/// Explains the only condition of a shape whose threads are separated by `|` and its statements by `;`.
fn explained(threads: &str, condition: &str) -> Explanation {
    let text = threads.replace('|', "\nthread\n").replace(';', "\n");
    let shape = Shape::parse(&format!("name X\nthread\n{text}\nforbidden {condition}")).unwrap();
    explain(&shape, &shape.forbidden[0])
}

/// Checks the cycle of an outcome that the memory model forbids: its axiom, its statements, and the relations
/// between them.
fn check_cycle(threads: &str, condition: &str, axiom: &str, expected: &[&str]) {
    let explanation = explained(threads, condition);
    let Explanation::Forbidden { cycle: Some(Cycle { axiom: found, steps }), .. } = &explanation else {
        panic!("{threads}: {explanation}")
    };
    assert_eq!(*found, axiom, "{explanation}");
    let lines = steps.iter().flat_map(|step| [step.statement.as_str(), step.relation.as_str()]);
    assert_eq!(lines.collect::<Vec<&str>>(), expected);
}

/// Checks that the memory model allows an outcome.
fn check_allowed(threads: &str, condition: &str) {
    let explanation = explained(threads, condition);
    assert!(matches!(explanation, Explanation::Allowed { .. }), "{threads}: {explanation}");
}

const COHERENCE: &str = "coherence contradicts happens-before";
const TOTAL: &str = "the seq_cst operations have no total order";

#[test]
fn message_passing() {
    let shape = "store plain x 1; store release y 1 | r0 = load acquire y; r1 = load plain x";
    let cycle = [
        "store plain x 1",
        "program order",
        "store release y 1",
        "synchronises with (r0 = load acquire y reads 1)",
        "r0 = load acquire y",
        "program order",
        "r1 = load plain x",
        "from-read",
    ];
    check_cycle(shape, "r0=1 r1=0", COHERENCE, &cycle);
    check_allowed(&shape.replace("release", "relaxed"), "r0=1 r1=0");
    check_allowed(&shape.replace("acquire", "relaxed"), "r0=1 r1=0");
    check_allowed(shape, "r0=0 r1=0");
    check_allowed(shape, "r0=1 r1=1");
}

#[test]
fn store_buffering() {
    let shape = "store seq_cst x 1; r0 = load seq_cst y | store seq_cst y 1; r1 = load seq_cst x";
    let cycle = [
        "store seq_cst x 1",
        "program order",
        "r0 = load seq_cst y",
        "from-read",
        "store seq_cst y 1",
        "program order",
        "r1 = load seq_cst x",
        "from-read",
    ];
    check_cycle(shape, "r0=0 r1=0", TOTAL, &cycle);
    let weak = shape.replace("store seq_cst", "store release").replace("load seq_cst", "load acquire");
    check_allowed(&weak, "r0=0 r1=0");
}

#[test]
fn load_buffering() {
    let shape = "r0 = load acquire x; store release y 1 | r1 = load acquire y; store release x 1";
    let cycle = [
        "r0 = load acquire x",
        "program order",
        "store release y 1",
        "synchronises with (r1 = load acquire y reads 1)",
        "r1 = load acquire y",
        "program order",
        "store release x 1",
        "synchronises with (r0 = load acquire x reads 1)",
    ];
    check_cycle(shape, "r0=1 r1=1", "happens-before has a cycle", &cycle);
    let weak = shape.replace("acquire", "relaxed").replace("release", "relaxed");
    check_allowed(&weak, "r0=1 r1=1");
}

#[test]
fn independent_reads_of_independent_writes() {
    let shape = "store seq_cst x 1 | store seq_cst y 1 | r0 = load seq_cst x; r1 = load seq_cst y | \
                 r2 = load seq_cst y; r3 = load seq_cst x";
    let cycle = [
        "store seq_cst x 1",
        "synchronises with (r0 = load seq_cst x reads 1)",
        "r0 = load seq_cst x",
        "program order",
        "r1 = load seq_cst y",
        "from-read",
        "store seq_cst y 1",
        "synchronises with (r2 = load seq_cst y reads 1)",
        "r2 = load seq_cst y",
        "program order",
        "r3 = load seq_cst x",
        "from-read",
    ];
    check_cycle(shape, "r0=1 r1=0 r2=1 r3=0", TOTAL, &cycle);
    let weak = shape.replace("store seq_cst", "store release").replace("load seq_cst", "load acquire");
    check_allowed(&weak, "r0=1 r1=0 r2=1 r3=0");
}

#[test]
fn coherent_reads() {
    let shape = "store relaxed x 1 | r0 = load relaxed x; r1 = load relaxed x";
    let cycle = [
        "r0 = load relaxed x",
        "program order",
        "r1 = load relaxed x",
        "from-read",
        "store relaxed x 1",
        "reads-from",
    ];
    check_cycle(shape, "r0=1 r1=0", COHERENCE, &cycle);
    // A load that is not atomic is in a data race, and may return anything.
    check_allowed(&shape.replace("r1 = load relaxed", "r1 = load plain"), "r0=1 r1=0");
    check_allowed(&shape.replace("r1 = load relaxed", "r1 = load plain"), "r0=1 r1=7");
}

#[test]
fn two_plus_two_writes() {
    let shape = "store seq_cst x 1; store seq_cst y 2 | store seq_cst y 1; store seq_cst x 2";
    let cycle = [
        "store seq_cst x 1",
        "program order",
        "store seq_cst y 2",
        "modification order",
        "store seq_cst y 1",
        "program order",
        "store seq_cst x 2",
        "modification order",
    ];
    check_cycle(shape, "x=1 y=1", TOTAL, &cycle);
    check_allowed(&shape.replace("seq_cst", "relaxed"), "x=1 y=1");
}

/// Happens-before that begins and ends with program order is a part of the total order. Happens-before that
/// ends with synchronisation is not: C++20 allows the second outcome, which C++11 forbids.
#[test]
fn strongly_happens_before() {
    let shape = "store seq_cst x 1; store release z 1 | r0 = load acquire z; r1 = load seq_cst y | \
                 store seq_cst y 1; r2 = load seq_cst x";
    let cycle = [
        "store seq_cst x 1",
        "program order",
        "store release z 1",
        "synchronises with (r0 = load acquire z reads 1)",
        "r0 = load acquire z",
        "program order",
        "r1 = load seq_cst y",
        "from-read",
        "store seq_cst y 1",
        "program order",
        "r2 = load seq_cst x",
        "from-read",
    ];
    check_cycle(shape, "r0=1 r1=0 r2=0", TOTAL, &cycle);
    let shape = "store seq_cst x 1; store release y 1 | r0 = add seq_cst y 1; r1 = load relaxed y | \
                 store seq_cst y 3; r2 = load seq_cst x";
    check_allowed(shape, "r0=1 r1=3 r2=0");
}

/// The total order of fences and accesses: each shape needs another rule of the order.
#[test]
fn total_order_of_fences_and_accesses() {
    for (threads, condition) in [
        // A fence in one thread, and sequentially consistent accesses in the other one.
        (
            "store relaxed x 1; fence seq_cst; r0 = load relaxed y | store seq_cst y 1; r1 = load seq_cst x",
            "r0=0 r1=0",
        ),
        // Two sequentially consistent loads are ordered by a relaxed store.
        (
            "store relaxed x 1 | store relaxed y 1 | r0 = load seq_cst x; r1 = load seq_cst y | \
             r2 = load seq_cst y; r3 = load seq_cst x",
            "r0=1 r1=0 r2=1 r3=0",
        ),
        // A load in another thread happens after the fence.
        (
            "store relaxed x 1; fence seq_cst; store release z 1 | \
             r0 = load acquire z; r1 = load relaxed y | \
             store relaxed y 1; fence seq_cst; r2 = load relaxed x",
            "r0=1 r1=0 r2=0",
        ),
        // A store two threads away happens before the fence.
        (
            "store relaxed x 1; store release y 1 | r0 = load acquire y; store release w 1 | \
             r1 = load acquire w; fence seq_cst; r2 = load relaxed z | \
             store relaxed z 1; fence seq_cst; r3 = load relaxed x",
            "r0=1 r1=1 r2=0 r3=0",
        ),
    ] {
        let explanation = explained(threads, condition);
        let Explanation::Forbidden { cycle: Some(cycle), .. } = &explanation else {
            panic!("{threads}: {explanation}")
        };
        assert_eq!(cycle.axiom, TOTAL, "{threads}: {explanation}");
        check_allowed(&threads.replace("seq_cst", "relaxed"), condition);
    }
}

#[test]
fn read_modify_writes_are_atomic() {
    let shape = "r0 = add relaxed x 1 | r1 = add relaxed x 1";
    let cycle = ["r0 = add relaxed x 1", "from-read", "r1 = add relaxed x 1", "from-read"];
    check_cycle(shape, "r0=0 r1=0", "a read-modify-write is not atomic", &cycle);
    check_allowed(shape, "r0=0 r1=1");
}

/// What cannot be judged is said.
#[test]
fn reasons() {
    for (shape, reason) in [
        ("code s_nop 0; r0 = load relaxed x", "`code s_nop 0` is machine code"),
        (
            "label l; store relaxed x 1; r0 = load relaxed x; until r0 is 1 goto l",
            "an iteration of the loop before `until r0 is 1 goto l` may write memory",
        ),
        (
            "r0 = load acquire@workgroup x",
            "the scope of `r0 = load acquire@workgroup x` contains all threads in some cases only",
        ),
        ("barrier | r0 = load relaxed x", "threads of one group have different numbers of barriers"),
        (
            "store plain x 1 | r0 = swap relaxed x 2",
            "the value that `r0 = swap relaxed x 2` reads may depend on a data race",
        ),
    ] {
        assert_eq!(explained(shape, "r0=1"), Explanation::NotShown(reason.into()));
    }
}
