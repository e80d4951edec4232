//! IR that people write: what parses is compiled or refused with a message, whatever pass it is for. It never ends in a fault
//! of the compiler.
//!
//! Texts of right programs are changed at random; `KERNC_MUTANTS=100000 cargo test --test kernc ir_text::` for a long run.

use crate::mutants::{Seed, Tally};
use kernc::{Compiler, Form, Limits, OptLevel, Options, PassRange, Subtarget, TextOptions};

const PROGRAMS: [&str; 10] = [
    "examples/saxpy.k",
    "examples/reduce.k",
    "examples/histogram.k",
    "examples/spmv.k",
    "examples/daxpy.k",
    "tests/data/run/jump_table.k",
    "tests/data/run/functions.k",
    "tests/data/run/conversions.k",
    "tests/data/run/pointers_private.k",
    "tests/data/run/exits.k",
];

const PROCESSORS: [&str; 4] = ["gfx906", "gfx1030", "gfx803", "gfx700"];

/// Words that a text of IR may have.
const WORDS: &[&str] = &[
    "i32",
    "i64",
    "f32",
    "f64",
    "bool",
    "ptr",
    "generic",
    "global",
    "constant",
    "shared",
    "private",
    "region",
    "u8",
    "s16",
    "b32",
    "b64",
    "volatile",
    "invariant",
    "atomic",
    "seq_cst",
    "relaxed",
    "acquire",
    "release",
    "agent",
    "wavefront",
    "one_as",
    "fail",
    "dynamic",
    "full",
    "never",
    "unroll",
    "align",
    "size",
    "slot0",
    "max_workgroup_size",
    "num_vgpr",
    "num_sgpr",
    "wave_size",
    "denormals",
    "ieee",
    "exceptions",
    "implicit_args",
    "waves_per_eu",
    "add.i32",
    "sub.i64",
    "udiv.i32",
    "srem.i64",
    "shl.i64",
    "smulhi.i64",
    "fdiv.f64",
    "frem.f32",
    "fma.f64",
    "ldexp.f32",
    "frexp_exp.i32",
    "ffract.f64",
    "fshr.i32",
    "bfi.i64",
    "ubfe.i32",
    "icmp.ult",
    "fcmp.ueq",
    "select.ptr.global",
    "trunc.i32",
    "sext.i64",
    "bitcast.f32",
    "ftou.i64",
    "fptrunc.f32",
    "spacecast",
    "ptr_add.ptr.shared",
    "ptr_add_z.ptr.global",
    "clock.i64",
    "ballot.i64",
    "read_lane.i32",
    "shuffle.f32",
    "mbcnt.i32",
    "lane_id.i32",
    "atomic_add.i64",
    "atomic_cas.i32",
    "fence",
    "barrier",
    "assume",
    "switch",
    "unreachable",
    "ret",
    "const.f64",
    "nan",
    "inf",
    "true",
    "by_value",
    "buffer",
    "dynamic_shared",
];

/// A text, and the pass to go on with.
struct Start {
    seed: Seed,
    next: &'static str,
    level: OptLevel,
    processor: &'static str,
}

/// Limits end what asks for too much: loops to be unrolled without end.
fn options(level: OptLevel) -> Options {
    let limits = Limits::service();
    Options { opt_level: level, file_name: "text.kir".to_owned(), verify: true, limits, ..Options::default() }
}

/// Each program behind some of the passes over IR.
fn starts() -> Vec<Start> {
    let mut starts = Vec::new();
    for (n, path) in PROGRAMS.iter().enumerate() {
        let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(&path).expect("a program");
        let processor = PROCESSORS[n % PROCESSORS.len()];
        let target = Subtarget::by_name(processor).expect("a processor");
        for level in [OptLevel::O0, OptLevel::O2] {
            for (stop, next) in [("frontend", "optimize"), ("inline", "spaces"), ("optimize", "isel")] {
                let range = PassRange::new(level, None, Some(stop)).expect("passes");
                let program = Compiler::new(target)
                    .compile_passes(&source, &range, &options(level), &mut ())
                    .expect("a right program");
                let text = program.text(&target, TextOptions::default());
                let start = Start { seed: Seed::new(&text), next, level, processor };
                go_on(&text, &start).unwrap_or_else(|error| panic!("{path} before {next}: {error}"));
                starts.push(start);
            }
        }
    }
    starts
}

fn go_on(text: &str, start: &Start) -> Result<(), kernc::Error> {
    let target = Subtarget::by_name(start.processor).expect("a processor");
    let range = PassRange::new(start.level, Some(start.next), None).expect("passes");
    assert_eq!(range.input(), Form::Ir);
    Compiler::new(target).compile_passes(text, &range, &options(start.level), &mut ()).map(|_| ())
}

#[test]
fn changed_texts_are_compiled_or_refused() {
    let starts = starts();
    let tally = Tally::run_mutants(4000, |rng| {
        let start = &starts[rng.below(starts.len() as u32) as usize];
        let text = start.seed.mutate(rng, WORDS);
        let end = crate::mutants::caught(|| go_on(&text, start));
        (format!("; {} at {:?} before {}\n{text}", start.processor, start.level, start.next), end)
    });
    tally.judge();
}
