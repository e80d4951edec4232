//! Machine IR that people write: what parses is compiled, or refused with a message that says where, whatever pass it is
//! for. It never ends in a fault of the compiler.
//!
//! Texts of right programs are changed at random; `KERNC_MUTANTS=100000 cargo test --test kernc machine_text::` for a long run.

use crate::mutants::{Seed, Tally};
use kernc::{Compiler, Form, OptLevel, Options, PassRange, Program, Subtarget, TextOptions};

/// Among them they have what passes have cases for: loops, jump tables, atomics, scratch, LDS, wide values, calls.
const PROGRAMS: [&str; 11] = [
    "examples/saxpy.k",
    "examples/reduce.k",
    "examples/histogram.k",
    "examples/spmv.k",
    "examples/dgemv.k",
    "tests/data/run/jump_table.k",
    "tests/data/run/pointers_private.k",
    "tests/data/run/atomics_contended.k",
    "tests/data/run/calls_recursion.k",
    "tests/data/run/calls_through_addresses.k",
    "tests/data/run/calls_stack.k",
];

const PROCESSORS: [&str; 4] = ["gfx906", "gfx1030", "gfx803", "gfx700"];

/// Words that a text of machine IR may have.
const WORDS: [&str; 75] = [
    "copy",
    "undef",
    "fence",
    "wait_point",
    "call",
    "return",
    "stack_end",
    "site",
    "pins",
    "clobbers",
    "stack",
    "local",
    "callee",
    "wave_size",
    "dynamic_stack",
    "linear",
    "logical",
    "none",
    "terminators",
    "prologue",
    "body",
    "depth",
    "input",
    "abi",
    "scratch_size",
    "vgprs",
    "sgprs",
    "mem",
    "glc",
    "clamp",
    "offset",
    "neg",
    "op_sel",
    "sdwa",
    "dpp",
    "imm",
    "const",
    "literal",
    "reg",
    "off",
    "vcc",
    "vcc_lo",
    "exec",
    "exec_lo",
    "m0",
    "src_scc",
    "src_vccz",
    "s0",
    "v0",
    "s105",
    "v255",
    "ttmp3",
    "a0",
    "src_shared_base",
    "null",
    "0.5",
    "0x12345678",
    "s_endpgm",
    "s_branch",
    "s_setpc_b64",
    "s_cbranch_vccz",
    "s_waitcnt",
    "s_nop",
    "s_barrier",
    "s_getpc_b64",
    "s_mov_b64",
    "s_and_saveexec_b64",
    "v_mov_b32_e32",
    "v_cndmask_b32_e64",
    "v_fmac_f32_e32",
    "v_readlane_b32",
    "v_writelane_b32",
    "ds_read_b64",
    "buffer_load_dword",
    "flat_load_dwordx2",
];

/// A text, and the pass to go on with.
struct Start {
    seed: Seed,
    next: &'static str,
    processor: &'static str,
}

fn options(verify: bool) -> Options {
    Options { file_name: "text.mir".to_owned(), verify, ..Options::default() }
}

/// Each program behind each pass over machine IR.
fn starts() -> Vec<Start> {
    let passes: Vec<&'static str> = kernc::passes(OptLevel::O2).skip_while(|&pass| pass != "isel").collect();
    let mut starts = Vec::new();
    for (n, path) in PROGRAMS.iter().enumerate() {
        let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(&path).expect("a program");
        let processor = PROCESSORS[n % PROCESSORS.len()];
        let target = Subtarget::by_name(processor).expect("a processor");
        for pair in passes.windows(2) {
            let range = PassRange::new(OptLevel::O2, None, Some(pair[0])).expect("passes");
            let program = Compiler::new(target)
                .compile_passes(&source, &range, &options(true), &mut ())
                .expect("a right program");
            let text = program.text(&target, TextOptions::default());
            let start = Start { seed: Seed::new(&text), next: pair[1], processor };
            go_on(&text, &start, true).unwrap_or_else(|error| panic!("{path} before {}: {error}", pair[1]));
            starts.push(start);
        }
    }
    starts
}

fn go_on(text: &str, start: &Start, verify: bool) -> Result<(), kernc::Error> {
    let target = Subtarget::by_name(start.processor).expect("a processor");
    let range = PassRange::new(OptLevel::O2, Some(start.next), None).expect("passes");
    assert_eq!(range.input(), Form::MachineIr);
    match Compiler::new(target).compile_passes(text, &range, &options(verify), &mut ())? {
        Program::Object(_) => Ok(()),
        _ => unreachable!("the last pass writes an object"),
    }
}

#[test]
fn changed_texts_are_compiled_or_refused() {
    let starts = starts();
    let tally = Tally::run_mutants(4000, |rng| {
        let start = &starts[rng.below(starts.len() as u32) as usize];
        let text = start.seed.mutate(rng, &WORDS);
        // Whoever does not ask for checks between passes gets no less of them on what was written by hand.
        let verify = rng.below(4) != 0;
        let end = crate::mutants::caught(|| go_on(&text, start, verify));
        (format!("; {} before {}\n{text}", start.processor, start.next), end)
    });
    tally.judge();
}

/// A message for each mistake, with its line and the rule.
#[test]
fn mistakes_are_told_with_their_lines() {
    let text = include_str!("data/mir/mistakes.mir");
    let target = Subtarget::by_name("gfx906").expect("a processor");
    let range = PassRange::new(OptLevel::O2, Some("legalize"), None).expect("passes");
    let error =
        Compiler::new(target).compile_passes(text, &range, &options(true), &mut ()).expect_err("mistakes");
    assert_eq!(error.code(), "E0113");
    let kernc::Error::Source(diagnostics) = &error else { panic!("{error:?}") };
    let found: Vec<String> = diagnostics
        .list
        .iter()
        .map(|one| {
            let (range, what) = &one.labels[0];
            assert!(!one.help.is_empty(), "{what}");
            format!("{}: {what}", diagnostics.source.position(range.start).0)
        })
        .collect();
    // The text says in comments what is wrong on which line.
    let expected: Vec<String> = (1..)
        .zip(text.lines())
        .filter_map(|(line, text)| text.split_once("; wrong: ").map(|(_, what)| format!("{line}: {what}")))
        .collect();
    assert_eq!(found, expected);
}
