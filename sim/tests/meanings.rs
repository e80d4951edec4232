//! Every vector instruction beside clang's CPU code for what the manuals say (`meanings/*.c`), on processors of all
//! generations: all edge inputs, 256 random ones, both encodings, rounding and denormal modes, partial EXEC, `clamp`.
//!
//! `KERNC_MEANINGS=all` tries every processor.

mod oracle;

use isa::table::{Flags, Kind, Num, Role, Row, available, opcodes};
use isa::target::PROCESSORS;
use isa::{Form, Generation, Target};
use oracle::cases::inputs;
use oracle::kernel::{Found, Trial, run};
use oracle::native::{Expected, Native, Request};
use oracle::{Input, Mode, OLD};
use std::collections::{BTreeMap, HashMap};

/// Processors that together have every instruction of GFX6 and GFX8 to GFX10; lanes of a wave.
const USUAL: [(&str, u32); 6] =
    [("gfx600", 64), ("gfx803", 64), ("gfx900", 64), ("gfx906", 64), ("gfx90a", 64), ("gfx1030", 32)];
/// Instructions that are tried in one kernel.
const BATCH: usize = 64;
/// Alternate lanes, and others.
const PARTIAL: u64 = 0x5a0f_33c9_8001_fffe;

/// Vector instructions that are not tried here, and why.
const LEFT_OUT: &[(&str, &str)] = &[
    ("v_nop", "computes nothing"),
    ("v_clrexcp", "computes nothing"),
    ("v_pipeflush", "computes nothing"),
    ("v_illegal", "refused by name"),
    ("v_readlane_b32", "moves between lanes: the emulator's own tests"),
    ("v_readfirstlane_b32", "moves between lanes: the emulator's own tests"),
    ("v_writelane_b32", "moves between lanes: the emulator's own tests"),
    ("v_permlane16_b32", "moves between lanes: the emulator's own tests"),
    ("v_permlanex16_b32", "moves between lanes: the emulator's own tests"),
    ("v_swap_b32", "two destinations: the emulator's own tests"),
    ("v_swaprel_b32", "two destinations, indexed by M0: the emulator's own tests"),
    ("v_movreld_b32", "indexed by M0: the emulator's own tests"),
    ("v_movrels_b32", "indexed by M0: the emulator's own tests"),
    ("v_movrelsd_b32", "indexed by M0: the emulator's own tests"),
    ("v_movrelsd_2_b32", "indexed by M0: the emulator's own tests"),
    ("v_accvgpr_mov_b32", "accumulation registers: the emulator's own tests"),
    ("v_accvgpr_read_b32", "accumulation registers: the emulator's own tests"),
    ("v_accvgpr_write_b32", "accumulation registers: the emulator's own tests"),
    ("v_screen_partition_4se_b32", "a table of the manual, not a computation"),
];

fn reason(name: &str) -> Option<&'static str> {
    if name.starts_with("v_mfma_") {
        return Some("across lanes and accumulation registers: the emulator's own tests");
    }
    LEFT_OUT.iter().find(|(left, _)| *left == name).map(|(_, why)| *why)
}

/// The meaning's name: all comparisons of one kind ask the same.
fn meaning(row: &Row) -> String {
    let rest = ["v_cmpsx_", "v_cmps_", "v_cmpx_"].iter().find_map(|prefix| row.name.strip_prefix(prefix));
    rest.map_or(row.name.to_owned(), |rest| format!("v_cmp_{rest}"))
}

fn vector_rows(target: &'static Target) -> impl Iterator<Item = &'static Row> {
    let rows = opcodes().filter(move |&op| available(op, target)).map(|op| op.row());
    rows.filter(|row| row.is_valu() && !row.flags.contains(Flags::ALIAS) && reason(row.name).is_none())
}

fn wants_all() -> bool {
    std::env::var("KERNC_MEANINGS").is_ok_and(|value| value == "all")
}

fn targets() -> Vec<&'static Target> {
    if wants_all() {
        let both =
            |target: &'static Target| [32, 64].into_iter().filter_map(|lanes| target.with_wave_size(lanes));
        return PROCESSORS.iter().flat_map(both).collect();
    }
    let usual =
        USUAL.iter().map(|&(name, lanes)| Target::by_name(name).and_then(|t| t.with_wave_size(lanes)));
    usual.map(|target| target.expect("a known processor")).collect()
}

/// 6 to 10.
fn generation(target: &Target) -> u32 {
    6 + (target.generation as u32 - Generation::Gfx6 as u32)
}

/// How the destination's dwords are understood.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Nothing,
    Bits(usize),
    Half,
    Halves,
    Singles(usize),
    Double,
}

fn shape(row: &Row) -> Shape {
    let Some(spec) = row.ops.iter().find(|spec| spec.role != Role::Use && spec.kind != Kind::Mask) else {
        return Shape::Nothing;
    };
    let names =
        ["v_pack_b32_f16", "v_fma_mixlo_f16", "v_fma_mixhi_f16", "v_mad_mixlo_f16", "v_mad_mixhi_f16"];
    let packed_halves = names.contains(&row.name) || row.name.starts_with("v_cvt_pkrtz");
    match spec.num {
        _ if packed_halves || row.name.starts_with("v_pk_") && row.name.ends_with("_f16") => Shape::Halves,
        _ if row.name.starts_with("v_pk_") && row.name.ends_with("_f32") => Shape::Singles(2),
        Num::F16 => Shape::Half,
        Num::V2F16 => Shape::Halves,
        Num::F32 => Shape::Singles(1),
        Num::F64 => Shape::Double,
        _ => Shape::Bits(usize::from(spec.width)),
    }
}

/// Equal, both NaN, or close enough. Floats of `bits` bits with so many of mantissa.
fn close(found: u64, wanted: u64, bits: u32, mantissa: u32, expected: &Expected) -> bool {
    let sign = 1u64 << (bits - 1);
    let infinity = (sign - 1) >> mantissa << mantissa;
    let is_nan = |value: u64| value & (sign - 1) > infinity;
    if found == wanted || is_nan(found) && is_nan(wanted) {
        return true;
    }
    if is_nan(found) || is_nan(wanted) {
        return false;
    }
    let ordered = |value: u64| if value & sign != 0 { -((value & (sign - 1)) as i64) } else { value as i64 };
    if expected.ulp != 0 && found & sign == wanted & sign {
        return ordered(found).abs_diff(ordered(wanted)) <= u64::from(expected.ulp);
    }
    let value = |value: u64| match bits {
        16 => half::f16::from_bits(value as u16).to_f64(),
        32 => f64::from(f32::from_bits(value as u32)),
        _ => f64::from_bits(value),
    };
    expected.near != 0.0 && (value(found) - value(wanted)).abs() <= f64::from(expected.near)
}

fn same_result(shape: Shape, found: &[u32; 4], expected: &Expected) -> bool {
    let wanted = &expected.words;
    let half = |shift: u32| {
        let part = |words: &[u32; 4]| u64::from(words[0] >> shift & 0xffff);
        close(part(found), part(wanted), 16, 10, expected)
    };
    let double = |words: &[u32; 4]| u64::from(words[1]) << 32 | u64::from(words[0]);
    match shape {
        Shape::Nothing => true,
        Shape::Bits(count) => found[..count] == wanted[..count],
        Shape::Half => half(0) && found[0] >> 16 == wanted[0] >> 16,
        Shape::Halves => half(0) && half(16),
        Shape::Singles(count) => {
            (0..count).all(|at| close(found[at].into(), wanted[at].into(), 32, 23, expected))
        }
        Shape::Double => close(double(found), double(wanted), 64, 52, expected),
    }
}

/// Whether a lane holds what it should.
fn agrees(trial: &Trial<'_>, lane_of_wave: u32, input: &Input, expected: &Expected, found: &Found) -> bool {
    let active = trial.exec >> lane_of_wave & 1 != 0;
    let writes_mask = trial.row.ops.iter().any(|spec| spec.kind == Kind::Mask && spec.role == Role::Def);
    let narrows = trial.row.name.starts_with("v_cmpx") || trial.row.name.starts_with("v_cmpsx");
    if !active {
        return found.words[..] == input.words[OLD..] && !found.exec && !(writes_mask && found.mask);
    }
    expected.any
        || same_result(shape(trial.row), &found.words, expected)
            && (!writes_mask || found.mask == expected.mask)
            && found.exec == (!narrows || expected.mask)
}

/// Names of what differs, with the first case of each.
#[derive(Default)]
struct Differences {
    texts: BTreeMap<String, (String, usize)>,
    compared: usize,
}

impl Differences {
    fn add(&mut self, key: String, text: impl FnOnce() -> String) {
        self.texts.entry(key).or_insert_with(|| (text(), 0)).1 += 1;
    }

    fn check(self) {
        println!("{} results compared", self.compared);
        let all: Vec<String> =
            self.texts.iter().map(|(key, (text, count))| format!("{key} ({count} cases): {text}")).collect();
        assert!(all.is_empty(), "{} differ:\n{}", all.len(), all.join("\n"));
    }
}

fn try_all(
    native: &Native,
    target: &'static Target,
    mode: Mode,
    trials: &[Trial<'_>],
    differences: &mut Differences,
) {
    // Both encodings ask the same question.
    let mut places = HashMap::new();
    let mut requests = Vec::new();
    let names: Vec<String> = trials.iter().map(|trial| meaning(trial.row)).collect();
    for (trial, name) in trials.iter().zip(&names) {
        places.entry(trial.inputs.as_ptr()).or_insert_with(|| {
            requests.push(Request { name, mode, generation: generation(target), inputs: trial.inputs });
            requests.len() - 1
        });
    }
    let expected = native.ask(&requests);
    for batch in trials.chunks(BATCH) {
        let found = match run(target, mode, batch) {
            Ok(found) => found,
            Err(_) => batch.iter().map(|trial| one(target, mode, trial, differences)).collect(),
        };
        for (trial, found) in batch.iter().zip(&found) {
            let wanted = &expected[places[&trial.inputs.as_ptr()]];
            compare(target, mode, trial, wanted, found, differences);
        }
    }
}

/// When a batch does not run, its instructions do so alone: the others shall be compared.
fn one(target: &'static Target, mode: Mode, trial: &Trial<'_>, differences: &mut Differences) -> Vec<Found> {
    run(target, mode, std::slice::from_ref(trial)).map(|mut all| all.remove(0)).unwrap_or_else(|why| {
        differences.add(format!("{} {}", trial.row.name, target.name), || why);
        Vec::new()
    })
}

fn compare(
    target: &Target,
    mode: Mode,
    trial: &Trial<'_>,
    expected: &[Expected],
    found: &[Found],
    differences: &mut Differences,
) {
    for (case, (found, (expected, input))) in found.iter().zip(expected.iter().zip(trial.inputs)).enumerate()
    {
        differences.compared += 1;
        let lane = case as u32 % target.wave_size;
        if !agrees(trial, lane, input, expected, found) {
            let key = format!("{} {}", trial.row.name, target.name);
            differences.add(key, || {
                let active = trial.exec >> lane & 1 != 0;
                format!(
                    "{}, {mode:?}, active {active}: of {:x?} carry {} it makes {:x?} {} {}, not {:x?} {}",
                    trial.text(target),
                    input.words,
                    input.carry,
                    found.words,
                    found.mask,
                    found.exec,
                    expected.words,
                    expected.mask,
                )
            });
        }
    }
}

fn forms(row: &Row) -> impl Iterator<Item = Form> {
    let narrow =
        matches!(row.family, isa::table::Family::Vop1 | isa::table::Family::Vop2 | isa::table::Family::Vopc);
    let e32 = narrow && !row.flags.contains(Flags::NO_E32);
    let full = !narrow || !row.flags.contains(Flags::NO_E64);
    [(full, Form::Full), (e32, Form::E32)].into_iter().filter(|(has, _)| *has).map(|(_, form)| form)
}

/// Every row of a processor.
fn sweep(native: &Native, target: &'static Target, mode: Mode, exec: u64, differences: &mut Differences) {
    let rows: Vec<_> = vector_rows(target).filter(|row| native.knows(&meaning(row))).collect();
    let takes = |row: &&&Row| {
        !mode.clamp || row.caps.contains(isa::table::Caps::INT_CLAMP) && row.clamps(target.generation)
    };
    let rows: Vec<_> =
        rows.iter().filter(takes).map(|row| (*row, inputs(row, 7, target.wave_size))).collect();
    let clamp = if mode.clamp { " clamp" } else { "" };
    let trials: Vec<Trial<'_>> = rows
        .iter()
        .flat_map(|(row, inputs)| forms(row).map(move |form| (row, form, inputs)))
        .filter(|(_, form, _)| !mode.clamp || *form == Form::Full)
        .map(|(row, form, inputs)| Trial { row, form, modifiers: clamp.into(), exec, inputs })
        .collect();
    try_all(native, target, mode, &trials, differences);
}

/// All lanes, rounding to the nearest, denormals.
#[test]
fn every_vector_instruction() {
    let Some(native) = Native::build() else { return };
    let mut differences = Differences::default();
    for target in targets() {
        sweep(&native, target, Mode::USUAL, !0, &mut differences);
    }
    differences.check();
}

/// Other rounding, flushed denormals, no IEEE, some lanes only; on fewer processors.
#[test]
fn other_modes() {
    let Some(native) = Native::build() else { return };
    let mut differences = Differences::default();
    let modes = [
        (Mode { denormals: false, ..Mode::USUAL }, PARTIAL),
        (Mode { round: 1, ..Mode::USUAL }, !0),
        (Mode { round: 2, ieee: false, ..Mode::USUAL }, !0),
        (Mode { round: 3, denormals: false, ieee: false, ..Mode::USUAL }, PARTIAL),
        (Mode { clamp: true, ..Mode::USUAL }, !0),
    ];
    let all = wants_all();
    for (number, (mode, exec)) in modes.into_iter().enumerate() {
        for (at, name) in ["gfx803", "gfx90a", "gfx1030"].into_iter().enumerate() {
            // By default each mode is tried on one processor.
            if all || at == number % 3 {
                let target = Target::by_name(name).expect("a known processor");
                sweep(&native, target, mode, exec, &mut differences);
            }
        }
    }
    differences.check();
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
