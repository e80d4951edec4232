//! How often a warm compiler allocates. Passes keep their memory; what remains is lists of the IR and the machine code that
//! belong to one block, tables of a kernel, and the object.
//!
//! `cargo test --test allocations -- --nocapture` prints the table..

mod common;

use allocation_counter::measure;
use kernc::{Compiler, Options, Target};
use std::fmt::Write;
use testkit::shapes::SHAPES;

/// Most allocations for a hundred machine instructions, over all programs. The aim is 2.
const PER_HUNDRED: u64 = 95;

/// What one compilation allocated, after others like it.
struct Row {
    name: String,
    instructions: u64,
    allocations: u64,
}

impl Row {
    fn of(name: String, source: &str, compiler: &mut Compiler) -> Row {
        let options = Options { verify: false, ..Options::default() };
        let mut compile =
            || compiler.compile(source, &options).unwrap_or_else(|error| panic!("{name}: {}", error.code()));
        compile();
        let mut object = None;
        let info = measure(|| object = Some(compile()));
        let kernels = object.iter().flat_map(|object| object.kernels());
        let instructions = kernels.map(|kernel| u64::from(kernel.resources.instructions)).sum();
        Row { name, instructions, allocations: info.count_total }
    }
}

#[test]
fn warm_compilers_allocate_little() {
    let mut compiler = Compiler::new(Target::by_name("gfx906").expect("a known processor"));
    compiler.set_threads(1);
    let mut rows: Vec<Row> = common::KERNELS
        .iter()
        .map(|name| Row::of((*name).to_owned(), &common::source(name), &mut compiler))
        .collect();
    for shape in SHAPES {
        // Large enough for what is paid once a kernel not to count, below what any limit refuses.
        let n = shape.base.min(180);
        rows.push(Row::of(format!("{} {n}", shape.name), &(shape.source)(n), &mut compiler));
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
        allocations * 100 <= instructions * PER_HUNDRED,
        "{allocations} allocations for {instructions} instructions, more than {PER_HUNDRED} for 100:\n{table}"
    );
}
