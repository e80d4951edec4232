//! Prints what full debug information costs, for each kernel file named on the command line: the least time of a compilation in milliseconds
//! without and with it, and the bytes of its sections; then the same of all, each compiled again and again, and of all in turn, where caches
//! hold what the others have left: `cargo bench --bench debuginfo -- examples/*.k`.

use kernc::{Compiler, DebugInfo, Options, Target};
use object::{Object as _, ObjectSection as _};
use std::time::Instant;

const REPETITIONS: u32 = 200;

fn main() {
    let target = Target::by_name("gfx906").expect("a known processor");
    let mut compiler = Compiler::new(target);
    let paths: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let read = |path| std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let sources: Vec<String> = paths.iter().map(read).collect();
    let mut all = Cost::default();
    for (path, source) in paths.iter().zip(&sources) {
        let cost = Cost::measure(&mut compiler, std::slice::from_ref(source));
        cost.print(path);
        all.add(cost);
    }
    all.print("all");
    Cost::measure(&mut compiler, &sources).print("all in turn");
}

/// Milliseconds without and with debug information, and its bytes.
#[derive(Clone, Copy, Default)]
struct Cost {
    plain: f64,
    full: f64,
    bytes: u64,
}

impl Cost {
    /// The least that each of some kernels takes, together, when they are compiled one after the other.
    fn measure(compiler: &mut Compiler, sources: &[String]) -> Cost {
        let least = Cost { plain: f64::INFINITY, full: f64::INFINITY, bytes: 0 };
        let mut costs = vec![least; sources.len()];
        for _ in 0..REPETITIONS {
            for (source, least) in sources.iter().zip(&mut costs) {
                // One behind the other, so that what disturbs the machine disturbs both.
                least.plain = least.plain.min(compile(compiler, source, DebugInfo::Lines).0);
                let (time, bytes) = compile(compiler, source, DebugInfo::Full);
                (least.full, least.bytes) = (least.full.min(time), bytes);
            }
        }
        let mut all = Cost::default();
        costs.into_iter().for_each(|cost| all.add(cost));
        all
    }

    fn add(&mut self, other: Cost) {
        self.plain += other.plain;
        self.full += other.full;
        self.bytes += other.bytes;
    }

    fn print(&self, name: &str) {
        let Cost { plain, full, bytes } = self;
        println!("{name}\t{plain:.4}\t{full:.4}\t{:.3}\t{bytes}", full / plain);
    }
}

/// Milliseconds of a compilation, and the bytes of sections of debug information.
fn compile(compiler: &mut Compiler, source: &str, debug: DebugInfo) -> (f64, u64) {
    let options = Options { verify: false, debug, ..Options::default() };
    let start = Instant::now();
    let object = compiler.compile(source, &options).expect("compiles");
    (start.elapsed().as_secs_f64() * 1e3, debug_bytes(object.bytes()))
}

fn debug_bytes(object: &[u8]) -> u64 {
    let object = object::File::parse(object).expect("an object");
    let is_debug = |name: &str| name.starts_with(".debug");
    object.sections().filter(|section| section.name().is_ok_and(is_debug)).map(|section| section.size()).sum()
}
