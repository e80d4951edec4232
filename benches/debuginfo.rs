//! Prints what full debug information costs, for each kernel file named on the command line: the least time of a compilation in milliseconds
//! without and with it, and the bytes of its sections: `cargo bench --bench debuginfo -- examples/*.k`.

use kernc::{Compiler, DebugInfo, Options, Target};
use object::{Object as _, ObjectSection as _};
use std::time::Instant;

const REPETITIONS: u32 = 200;

fn main() {
    let target = Target::by_name("gfx906").expect("a known processor");
    let mut compiler = Compiler::new(target);
    let levels = [DebugInfo::Lines, DebugInfo::Full];
    let options = levels.map(|debug| Options { verify: false, debug, ..Options::default() });
    let (mut sums, mut all) = ([0.0; 2], 0);
    for path in std::env::args().skip(1).filter(|arg| !arg.starts_with("--")) {
        let source = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut least = [f64::INFINITY; 2];
        let mut bytes = 0;
        // In turn, so that what disturbs the machine disturbs both.
        for _ in 0..REPETITIONS {
            for (least, options) in least.iter_mut().zip(&options) {
                let start = Instant::now();
                let object = compiler.compile(&source, options).expect("compiles");
                *least = least.min(start.elapsed().as_secs_f64() * 1e3);
                bytes = debug_bytes(object.bytes());
            }
        }
        let [plain, full] = least;
        println!("{path}\t{plain:.4}\t{full:.4}\t{:.3}\t{bytes}", full / plain);
        sums = [sums[0] + plain, sums[1] + full];
        all += bytes;
    }
    println!("all\t{:.4}\t{:.4}\t{:.3}\t{all}", sums[0], sums[1], sums[1] / sums[0]);
}

/// Bytes of the sections of debug information.
fn debug_bytes(object: &[u8]) -> u64 {
    let object = object::File::parse(object).expect("an object");
    let is_debug = |name: &str| name.starts_with(".debug");
    object.sections().filter(|section| section.name().is_ok_and(is_debug)).map(|section| section.size()).sum()
}
