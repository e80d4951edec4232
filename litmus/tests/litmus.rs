//! Every shape, in every case, in every schedule.

use litmus::{Shape, cases, machines, run};
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

#[test]
fn first_slice() {
    for shape in shapes().iter().filter(|shape| ["MP", "SB", "SB+relaxed"].contains(&shape.name.as_str())) {
        for machine in machines(&["gfx906"]) {
            for case in cases(shape, machine) {
                let verdict = run(shape, &case, None).expect("it runs");
                println!("{} {} {} {} {}: {} outcomes, {} states, forbidden {:?} missing {:?} broken {:?}", shape.name, machine.name(), case.scope.name(), case.layout.name(), case.placement(), verdict.outcomes, verdict.states, verdict.forbidden, verdict.missing, verdict.broken);
                for word in &verdict.words {
                    let less = run(shape, &case, Some(*word)).expect("it runs");
                    println!("   without {word:?}: {:?}", less.forbidden.first().map(|f| &f.0));
                }
            }
        }
    }
}
