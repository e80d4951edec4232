//! Every scalar instruction beside clang's CPU code for what the manuals say (`meanings/scalars.c`), SCC and EXEC included:
//! every pair of edges and random inputs, a wave for each.
//!
//! `KERNC_MEANINGS=all` tries every processor.

use crate::oracle::cases::{combinations, inputs};
use crate::oracle::native::{Native, Request};
use crate::oracle::rows::{generation, targets};
use crate::oracle::scalar_kernel::{ScalarTrial, run};
use crate::oracle::{Mode, OLD, SOURCES};
use isa::Target;
use isa::table::{Flags, Kind, Role, Row, available, opcodes};
use isa::target::PROCESSORS;
use std::collections::BTreeMap;

/// Scalar instructions that are not tried here, and why.
const LEFT_OUT: &[(&str, &str)] = &[
    ("s_getpc_b64", "control flow: unit tests of the emulator"),
    ("s_setpc_b64", "control flow: unit tests of the emulator"),
    ("s_swappc_b64", "control flow: unit tests of the emulator"),
    ("s_call_b64", "control flow: unit tests of the emulator"),
    ("s_cbranch_join", "control flow: unit tests of the emulator"),
    ("s_cbranch_g_fork", "control flow: unit tests of the emulator"),
    ("s_cbranch_i_fork", "control flow: unit tests of the emulator"),
    ("s_subvector_loop_begin", "control flow: unit tests of the emulator"),
    ("s_subvector_loop_end", "control flow: unit tests of the emulator"),
    ("s_rfe_b64", "refused by name"),
    ("s_rfe_restore_b64", "refused by name"),
    ("s_movrels_b32", "indexed by M0: tests/lanes.rs"),
    ("s_movrels_b64", "indexed by M0: tests/lanes.rs"),
    ("s_movreld_b32", "indexed by M0: tests/lanes.rs"),
    ("s_movreld_b64", "indexed by M0: tests/lanes.rs"),
    ("s_movrelsd_2_b32", "indexed by M0: tests/lanes.rs"),
    ("s_getreg_b32", "hardware registers: unit tests of the emulator"),
    ("s_setreg_b32", "hardware registers: unit tests of the emulator"),
    ("s_setreg_imm32_b32", "hardware registers: unit tests of the emulator"),
    ("s_setvskip", "changes how vector instructions run: unit tests of the emulator"),
    ("s_set_gpr_idx_on", "changes how vector instructions run: unit tests of the emulator"),
    ("s_set_gpr_idx_idx", "changes how vector instructions run: unit tests of the emulator"),
    ("s_version", "computes nothing"),
    ("s_waitcnt_vscnt", "computes nothing"),
    ("s_waitcnt_vmcnt", "computes nothing"),
    ("s_waitcnt_expcnt", "computes nothing"),
    ("s_waitcnt_lgkmcnt", "computes nothing"),
];

fn scalar_rows(target: &'static Target) -> impl Iterator<Item = &'static Row> {
    let rows = opcodes().filter(move |&op| available(op, target)).map(|op| op.row());
    rows.filter(|row| {
        let left_out = LEFT_OUT.iter().any(|(name, _)| *name == row.name);
        // EXEC is as wide as a wave.
        let other = if target.wave_size == 32 { "exec_b64" } else { "exec_b32" };
        row.is_salu() && !row.flags.contains(Flags::ALIAS) && !left_out && !row.name.ends_with(other)
    })
}

/// The inputs of a row, and for each value of its immediate.
fn trials(row: &'static Row) -> Vec<ScalarTrial> {
    let mut parts = combinations(row, 64);
    parts.push(inputs(row, 29, 64));
    if !row.has_kind(Kind::Imm) {
        return parts.into_iter().map(|inputs| ScalarTrial { row, immediate: None, inputs }).collect();
    }
    const IMMEDIATES: [i32; 12] =
        [0, 1, 2, 31, 0x1234, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff, 0xff80];
    let with = |immediate: i32| {
        let mut inputs = inputs(row, immediate as u64, 64);
        let destination = row.ops[0].role != Role::Use;
        for (case, input) in inputs.iter_mut().enumerate() {
            // The register's edges: near the immediate, and its own.
            let near = (immediate as i16 as u32).wrapping_add(case as u32 % 5).wrapping_sub(2);
            let edge = [near, 0x7fff_ffff, 0x8000_0000, immediate as u32][case / 5 % 4];
            if case % 3 == 0 {
                input.words[if destination { OLD } else { SOURCES[0] }] = edge;
            }
            input.words[SOURCES[1]] = immediate as u32;
        }
        ScalarTrial { row, immediate: Some(immediate), inputs }
    };
    IMMEDIATES.into_iter().map(with).collect()
}

/// What differs, by instruction and processor, and how much was compared.
fn sweep(native: &Native, target: &'static Target, wrong: &mut BTreeMap<String, String>) -> usize {
    let trials: Vec<ScalarTrial> = scalar_rows(target).flat_map(trials).collect();
    let request = |trial: &'_ ScalarTrial| (trial.row.name, trial.inputs.clone());
    let asked: Vec<_> = trials.iter().map(request).collect();
    let requests: Vec<Request<'_>> = asked
        .iter()
        .map(|(name, inputs)| Request {
            name,
            mode: Mode::USUAL,
            clamp: false,
            generation: generation(target),
            inputs,
        })
        .collect();
    let expected = native.run_requests(&requests);
    let mut compared = 0;
    for (batch, expected) in trials.chunks(32).zip(expected.chunks(32)) {
        let found = match run(target, batch) {
            Ok(found) => found,
            Err(why) => {
                wrong.insert(format!("{} {}", target.name, batch[0].row.name), why);
                continue;
            }
        };
        for ((trial, found), expected) in batch.iter().zip(&found).zip(expected) {
            let row = trial.row;
            let dwords = row.ops.first().map_or(0, |spec| usize::from(spec.width).min(2));
            let writes = row.ops.first().is_some_and(|spec| spec.role != Role::Use);
            let mask = if target.wave_size == 32 { [!0, 0] } else { [!0, !0] };
            for ((input, found), expected) in trial.inputs.iter().zip(found).zip(expected) {
                compared += 1;
                let same = !writes || found.words[..dwords] == expected.words[..dwords];
                let exec = !row.name.contains("exec_")
                    || (0..2).all(|at| found.exec[at] & mask[at] == expected.words[2 + at] & mask[at]);
                if same && exec && found.scc == expected.mask {
                    continue;
                }
                wrong.entry(format!("{} {}", row.name, target.name)).or_insert_with(|| {
                    let text = trial.text();
                    format!("{text} of {:x?} scc {}: {found:x?}, not {expected:x?}", input.words, input.carry)
                });
            }
        }
    }
    compared
}

#[test]
fn every_scalar_instruction() {
    let Some(native) = Native::build() else { return };
    let mut wrong = BTreeMap::new();
    let mut compared = 0;
    for target in targets() {
        compared += sweep(&native, target, &mut wrong);
    }
    println!("scalar instructions: {compared} results compared");
    assert!(wrong.is_empty(), "{} differ: {wrong:#?}", wrong.len());
}

/// There is a meaning for each, or a reason why not; and no meaning for nothing.
#[test]
fn every_scalar_instruction_has_a_meaning() {
    let Some(native) = Native::build() else { return };
    let both =
        |target: &'static Target| [32, 64].into_iter().filter_map(|lanes| target.with_wave_size(lanes));
    let known: Vec<&str> =
        PROCESSORS.iter().flat_map(both).flat_map(scalar_rows).map(|row| row.name).collect();
    let missing: Vec<_> = known.iter().filter(|name| !native.knows(name)).collect();
    assert!(missing.is_empty(), "without a meaning: {missing:?}");
    let unused: Vec<&str> =
        native.names().filter(|name| name.starts_with("s_") && !known.contains(name)).collect();
    assert!(unused.is_empty(), "meanings of no instruction: {unused:?}");
}
