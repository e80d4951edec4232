//! How often a warm compiler allocates. Everything between the source and the object keeps its memory from one compilation to
//! the next; what remains is the object itself, which belongs to the caller, and lists that are longer than most.
//!
//! `cargo test --test allocations -- --nocapture` prints the table.

mod common;

use allocation_counter::measure;
use kernc::{Compiler, DebugInfo, Options, Target};
use std::fmt::Write;
use testkit::shapes::SHAPES;

/// Most allocations for a thousand machine instructions, over all programs.
const PER_THOUSAND: u64 = 21;
/// Compilations until a compiler is warm: memory goes from hand to hand, and ends up where it is needed.
const WARM: usize = 3;

/// What one compilation allocated, after others like it.
struct Row {
    name: String,
    instructions: u64,
    allocations: u64,
}

impl Row {
    fn without_debug_info(name: String, source: &str, compiler: &mut Compiler) -> Row {
        Row::with(DebugInfo::default(), name, source, compiler)
    }

    fn with(debug: DebugInfo, name: String, source: &str, compiler: &mut Compiler) -> Row {
        let options = Options { verify: false, debug, ..Options::default() };
        let mut compile =
            || compiler.compile(source, &options).unwrap_or_else(|error| panic!("{name}: {}", error.code()));
        (0..WARM).for_each(|_| drop(compile()));
        let mut object = None;
        let info = measure(|| object = Some(compile()));
        let kernels = object.iter().flat_map(|object| object.kernels());
        let instructions = kernels.map(|kernel| u64::from(kernel.resources.instructions)).sum();
        Row { name, instructions, allocations: info.count_total }
    }
}

fn compiler() -> Compiler {
    let mut compiler = Compiler::new(Target::by_name("gfx906").expect("a known processor"));
    compiler.set_threads(1);
    compiler
}

#[test]
fn warm_compilers_allocate_little() {
    let mut compiler = compiler();
    let mut rows: Vec<Row> = common::KERNELS
        .iter()
        .map(|name| Row::without_debug_info((*name).to_owned(), &common::source(name), &mut compiler))
        .collect();
    for shape in SHAPES {
        // Large enough for what is paid once a kernel not to count, below what any limit refuses.
        let n = shape.base.min(180);
        rows.push(Row::without_debug_info(format!("{} {n}", shape.name), &(shape.source)(n), &mut compiler));
    }
    let mut table = String::new();
    for row in &rows {
        let each = row.instructions as f64 / row.allocations as f64;
        let _ = writeln!(
            table,
            "{:20} {:7} instructions {:7} allocations {each:7.1}",
            row.name, row.instructions, row.allocations
        );
    }
    let all = |field: fn(&Row) -> u64| rows.iter().map(field).sum::<u64>();
    let (instructions, allocations) = (all(|row| row.instructions), all(|row| row.allocations));
    println!("{table}{instructions} instructions, {allocations} allocations");
    assert!(
        allocations * 1000 <= instructions * PER_THOUSAND,
        "{allocations} allocations for {instructions} instructions, more than {PER_THOUSAND} for 1,000:\n{table}"
    );
}

/// What `-g` takes more, at most, for a kernel of the examples: variables, scopes and sections, which belong to the object.
const DEBUG: u64 = 300;

#[test]
fn debug_information_allocates_little() {
    let mut compiler = compiler();
    for name in common::KERNELS {
        let source = common::source(name);
        let levels = [DebugInfo::Lines, DebugInfo::Full];
        let [plain, full] =
            levels.map(|debug| Row::with(debug, (*name).to_owned(), &source, &mut compiler).allocations);
        println!("{name:20} {plain:5} with -g {full:5}");
        assert!(full <= plain + DEBUG, "{name}: {full} allocations with `-g`, {plain} without");
    }
}

/// Of four times the size, a shape does not take twice the allocations.
#[test]
fn allocations_do_not_grow_with_the_program() {
    let mut compiler = compiler();
    for shape in SHAPES {
        let n = shape.base.min(120);
        let row = |n: usize| {
            Row::without_debug_info(format!("{} {n}", shape.name), &(shape.source)(n), &mut compiler)
        };
        let [small, large] = [n, 4 * n].map(row);
        let (few, more) = (small.allocations, large.allocations);
        println!("{:20} {few:5} at {n:3} {more:5} at {:3}", shape.name, 4 * n);
        assert!(more <= 2 * few + 20, "{}: {few} allocations at {n}, {more} at {}", shape.name, 4 * n);
    }
}
