//! Small programs of every shape of `testkit::shapes` compile at every level, with verifiers between the passes.

use kernc::{Compiler, OptLevel, Options, Target};
use testkit::shapes::SHAPES;

#[test]
fn every_shape_compiles() {
    let mut compiler = Compiler::new(Target::by_name("gfx906").expect("a known processor"));
    for shape in SHAPES {
        for n in [1, 2, 33] {
            for opt_level in [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3] {
                let options = Options { opt_level, verify: true, ..Options::default() };
                let source = (shape.source)(n);
                let object = compiler.compile(&source, &options).unwrap_or_else(|errors| {
                    panic!("{} {n} at {opt_level:?}: {}", shape.name, errors.render(false))
                });
                let kernels = if shape.name == "kernels" { n } else { 1 };
                assert_eq!(object.kernels().len(), kernels, "{} {n}", shape.name);
            }
        }
    }
}
