//! The table of constraints, written a second time as the guide's sentences, and as `docs/memory-model.md` has it.

use ir::constraints::{CONSTRAINTS, Class, OrderingConstraint, RULES, ordering_constraint};
use ir::{Mem, MemFlags, MemTy, Op, Order, RmwOp, Scope, Space, Spaces};
use std::fmt::Write as _;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/memory-model.md");

const ORDERS: [Order; 7] = [
    Order::NotAtomic,
    Order::Unordered,
    Order::Relaxed,
    Order::Acquire,
    Order::Release,
    Order::AcqRel,
    Order::SeqCst,
];

fn mem(order: Order, flags: MemFlags) -> Mem {
    Mem {
        ty: MemTy::B32,
        space: Space::Global,
        align: 4,
        flags,
        order,
        scope: Scope::Agent,
        offset: 0,
        alias: 0,
    }
}

/// The operations of an order with what they are in the sentences.
fn operations(order: Order) -> [(&'static str, Op); 5] {
    let mem = mem(order, MemFlags::empty());
    [
        ("load atomic", Op::Load { mem, count: 1 }),
        ("store atomic", Op::Store { mem, count: 1 }),
        ("atomicrmw", Op::AtomicRmw { op: RmwOp::Add, mem }),
        ("atomicrmw", Op::AtomicCas { mem, fail: Order::Relaxed }),
        ("fence", Op::Fence { order, scope: Scope::Agent, spaces: Spaces::ALL }),
    ]
}

/// Seed 000, lines 4026-4039, sentence by sentence.
fn sentences(order: Order, kind: &str) -> OrderingConstraint {
    let acquire = matches!(kind, "load atomic" | "atomicrmw" | "fence");
    let release = matches!(kind, "store atomic" | "atomicrmw" | "fence");
    let mut wanted = OrderingConstraint::empty();
    if matches!(order, Order::Acquire | Order::AcqRel | Order::SeqCst) && acquire {
        wanted |= OrderingConstraint::LATER;
    }
    if matches!(order, Order::Release | Order::AcqRel | Order::SeqCst) && release {
        wanted |= OrderingConstraint::EARLIER;
    }
    wanted
}

#[test]
fn every_operation_stops_what_the_guide_says() {
    for (n, order) in ORDERS.into_iter().enumerate() {
        assert_eq!(CONSTRAINTS[n].0, order);
        for (kind, op) in operations(order) {
            assert_eq!(ordering_constraint(&op), sentences(order, kind), "{kind} {order:?}");
        }
        // A compare-and-swap does what both of its orders ask for.
        let mem = mem(Order::Release, MemFlags::empty());
        let failing = ordering_constraint(&Op::AtomicCas { mem, fail: order });
        assert_eq!(failing, OrderingConstraint::EARLIER | sentences(order, "atomicrmw"), "{order:?}");
    }
    let traps = [Op::Trap { debug: false }, Op::Trap { debug: true }];
    for all in
        [Op::Barrier { fence: false }, Op::Barrier { fence: true }, Op::WaveBarrier].into_iter().chain(traps)
    {
        assert_eq!(ordering_constraint(&all), OrderingConstraint::all());
    }
    assert_eq!(ordering_constraint(&Op::Ret), OrderingConstraint::empty());
}

#[test]
fn an_access_has_one_class_and_no_pass_touches_what_is_held() {
    for order in ORDERS {
        for bits in 0..8 {
            let flags = MemFlags::from_bits_truncate(bits);
            let mem = mem(order, flags);
            let class = Class::for_access(&mem);
            assert_eq!(class.bits().count_ones(), 1);
            let held = order != Order::NotAtomic || flags.contains(MemFlags::VOLATILE);
            assert_eq!(Class::FREE.contains(class), !held, "{order:?} {flags:?}");
            assert_eq!(Op::Load { mem, count: 1 }.has_side_effect(), held);
            let by_parts = Class::for_flags(order != Order::NotAtomic, flags.contains(MemFlags::VOLATILE));
            assert_eq!(by_parts, held.then_some(class));
            for rule in &RULES {
                assert!(!held || !rule.takes(&mem), "{} takes {class:?}", rule.pass);
            }
        }
    }
}

fn side(stays: OrderingConstraint) -> &'static str {
    match (stays.contains(OrderingConstraint::LATER), stays.contains(OrderingConstraint::EARLIER)) {
        (false, false) => "-",
        (true, false) => "later",
        (false, true) => "earlier",
        (true, true) => "both",
    }
}

fn constraints() -> String {
    let mut text = String::from(
        "| order | load | store | read-modify-write | fence | line |\n|---|---|---|---|---|---|\n",
    );
    for (order, cells, line) in &CONSTRAINTS[1..] {
        let cells: Vec<&str> = cells.iter().copied().map(side).collect();
        writeln!(text, "| {} | {} | {line} |", order.mnemonic(), cells.join(" | ")).unwrap();
    }
    text
}

fn rules() -> String {
    let mut text = String::from(
        "| pass | does | plain | nontemporal | invariant | volatile | atomic | stopped by what keeps |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    let classes = [Class::PLAIN, Class::NONTEMPORAL, Class::INVARIANT, Class::VOLATILE, Class::ATOMIC];
    for rule in &RULES {
        let takes = classes.map(|class| if rule.takes.contains(class) { "yes" } else { "-" });
        let stops = match side(rule.stopped_by) {
            "both" => "anything",
            side => side,
        };
        writeln!(text, "| `{}` | {} | {} | {stops} |", rule.pass, rule.does, takes.join(" | ")).unwrap();
    }
    text
}

#[test]
fn the_page_has_the_tables() {
    let page = std::fs::read_to_string(PATH).unwrap();
    let mut wanted = page.clone();
    for (name, text) in [("constraints", constraints()), ("rules of passes", rules())] {
        let (begin, end) = (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->"));
        let from = wanted.find(&begin).expect("the mark") + begin.len();
        let to = wanted.find(&end).expect("the mark");
        wanted.replace_range(from..to, &text);
    }
    if std::env::var_os("KERNC_BLESS").is_some() {
        std::fs::write(PATH, &wanted).unwrap();
    }
    assert!(page == wanted || std::env::var_os("KERNC_BLESS").is_some(), "run with KERNC_BLESS=1: {PATH}");
}
