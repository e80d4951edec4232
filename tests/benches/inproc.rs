//! Prints, for each kernel file named on the command line, the least time of a compilation in milliseconds and the
//! number of instructions: `cargo bench --bench inproc -- examples/*.k`. `tests/benches/against_clang.py` reads it.

use kernc::{Compiler, Options, Target};
use std::time::Instant;

const REPETITIONS: u32 = 50;

fn main() {
    let target = Target::by_name("gfx906").expect("a known processor");
    let mut compiler = Compiler::new(target);
    let options = Options { verify: false, ..Options::default() };
    for path in std::env::args().skip(1).filter(|arg| !arg.starts_with("--")) {
        let source = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut least = f64::INFINITY;
        let mut instructions = 0;
        for _ in 0..REPETITIONS {
            let start = Instant::now();
            let object = compiler.compile(&source, &options);
            least = least.min(start.elapsed().as_secs_f64() * 1e3);
            instructions = object.expect("compiles").kernels()[0].resources.instructions;
        }
        println!("{path}\t{least:.4}\t{instructions}");
    }
}
