//! Every vector instruction beside clang's CPU code for what the manuals say (`meanings/*.c`), on processors of all
//! generations: all edge inputs, 256 random ones, both encodings, rounding and denormal modes, partial EXEC, `clamp`.
//!
//! `KERNC_MEANINGS=all` tries every processor.

use crate::oracle::Mode;
use crate::oracle::cases::{combinations, inputs};
use crate::oracle::compare::{Differences, try_all};
use crate::oracle::kernel::Trial;
use crate::oracle::native::Native;
use crate::oracle::rows::{forms, meaning, targets, vector_rows, wants_all};
use crate::oracle::variant::Variant;
use isa::table::{Caps, Row};
use isa::target::PROCESSORS;
use isa::{Form, Target};
use std::collections::HashSet;

/// Alternate lanes, and others.
const PARTIAL: u64 = 0x5a0f_33c9_8001_fffe;

/// Every row of a processor whose name has that part.
fn sweep(
    native: &Native,
    target: &'static Target,
    (mode, clamp): (Mode, bool),
    exec: u64,
    part: &str,
    differences: &mut Differences,
) {
    let tried = |row: &&Row| row.name.contains(part) && native.knows(&meaning(row));
    let rows: Vec<_> = vector_rows(target).filter(tried).collect();
    let takes = |row: &&&Row| !clamp || row.caps.contains(Caps::INT_CLAMP) && row.clamps(target);
    let rows: Vec<_> =
        rows.iter().filter(takes).map(|row| (*row, inputs(row, 7, target.wave_size))).collect();
    let trials: Vec<Trial<'_>> = rows
        .iter()
        .flat_map(|(row, inputs)| forms(row).map(move |form| (row, form, inputs)))
        .filter(|(_, form, _)| !clamp || *form == Form::Full)
        .map(|(row, form, inputs)| {
            let variant = Variant { clamp, ..Variant::plain(form) };
            Trial { row, variant, exec, inputs }
        })
        .collect();
    try_all(native, target, mode, &trials, differences);
}

/// All lanes, rounding to the nearest, denormals.
#[test]
fn every_vector_instruction() {
    let Some(native) = Native::build() else { return };
    let mut differences = Differences::default();
    for target in targets() {
        sweep(&native, target, (Mode::USUAL, false), !0, "", &mut differences);
    }
    differences.check("all edges");
}

/// Every edge of two sources with every other, and 2,048 triples of edges; by default each row on one processor.
#[test]
fn every_pair_of_edges() {
    let Some(native) = Native::build() else { return };
    let mut differences = Differences::default();
    let targets = targets();
    let mut tried = HashSet::new();
    for &target in targets.iter().rev() {
        let rows = vector_rows(target).filter(|row| {
            let chosen = tried.insert(std::ptr::from_ref(*row)) || wants_all();
            chosen && !row.name.starts_with("v_div_scale")
        });
        let rows: Vec<_> = rows.map(|row| (row, combinations(row, target.wave_size))).collect();
        let trials: Vec<Trial<'_>> = rows
            .iter()
            .flat_map(|(row, parts)| parts.iter().map(move |inputs| (row, inputs)))
            .flat_map(|(row, inputs)| {
                let variant = Variant::plain(forms(row).next()?);
                Some(Trial { row, variant, exec: !0, inputs })
            })
            .collect();
        try_all(&native, target, Mode::USUAL, &trials, &mut differences);
    }
    differences.check("pairs of edges");
}

/// Other rounding, flushed denormals, no IEEE, some lanes only; on fewer processors.
#[test]
fn other_modes() {
    let Some(native) = Native::build() else { return };
    let mut differences = Differences::default();
    let mode = |float, ieee| Mode { float, ieee, ..Mode::USUAL };
    // Rounding of f32 and of the others, denormals as inputs and as outputs each differ somewhere.
    let modes = [
        (mode(0x00, true), false, PARTIAL),
        (mode(0xf5, true), false, !0),
        (mode(0xfa, false), false, !0),
        (mode(0x0f, false), false, PARTIAL),
        (mode(0x96, false), false, !0),
        (mode(0x69, true), false, PARTIAL),
        (mode(0xf0, true), true, !0),
    ];
    let all = wants_all();
    for (number, (mode, clamp, exec)) in modes.into_iter().enumerate() {
        for (at, name) in ["gfx803", "gfx90a", "gfx1030"].into_iter().enumerate() {
            // By default each mode is tried on one processor.
            if all || at == number % 3 {
                let target = Target::by_name(name).expect("a known processor");
                sweep(&native, target, (mode, clamp), exec, "", &mut differences);
            }
        }
    }
    differences.check("other modes");
}

/// FP16_OVFL: f16 results that overflow become the largest number; infinities of infinite sources stay.
#[test]
fn halves_that_do_not_overflow() {
    let Some(native) = Native::build() else { return };
    let mut differences = Differences::default();
    let mode = Mode { fp16_overflow: true, ..Mode::USUAL };
    for name in ["gfx906", "gfx1030"] {
        let target = Target::by_name(name).expect("a known processor");
        for mode in [mode, Mode { float: 0xf5, ..mode }, Mode { float: 0x0a, ieee: false, ..mode }] {
            sweep(&native, target, (mode, false), !0, "f16", &mut differences);
        }
    }
    differences.check("FP16_OVFL");
}

/// There is a meaning for each, or a reason why not; and no meaning for nothing.
#[test]
fn every_vector_instruction_has_a_meaning() {
    let Some(native) = Native::build() else { return };
    let mut missing: Vec<&str> = PROCESSORS
        .iter()
        .flat_map(vector_rows)
        .filter(|row| !native.knows(&meaning(row)))
        .map(|row| row.name)
        .collect();
    missing.sort_unstable();
    missing.dedup();
    assert!(missing.is_empty(), "{} without a meaning: {missing:?}", missing.len());
    let known: Vec<String> = PROCESSORS.iter().flat_map(vector_rows).map(meaning).collect();
    let unused: Vec<&str> =
        native.names().filter(|name| name.starts_with("v_") && !known.iter().any(|k| k == name)).collect();
    assert!(unused.is_empty(), "meanings of no instruction: {unused:?}");
}
