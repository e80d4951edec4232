//! Which instructions are tried, on which processors.

use isa::table::{Family, Flags, Row, available, opcodes};
use isa::target::PROCESSORS;
use isa::{Form, Target};

/// Processors that together have every instruction of GFX6 and GFX8 to GFX10; lanes of a wave.
pub const USUAL: [(&str, u32); 6] =
    [("gfx600", 64), ("gfx803", 64), ("gfx900", 64), ("gfx906", 64), ("gfx90a", 64), ("gfx1030", 32)];
/// Vector instructions that are not tried here, and why.
pub const LEFT_OUT: &[(&str, &str)] = &[
    ("v_nop", "computes nothing"),
    ("v_nop_e64", "computes nothing"),
    ("v_clrexcp", "computes nothing"),
    ("v_clrexcp_e64", "computes nothing"),
    ("v_pipeflush", "computes nothing"),
    ("v_pipeflush_e64", "computes nothing"),
    ("v_illegal", "refused by name"),
    ("v_readlane_b32", "moves between lanes: tests/lanes.rs"),
    ("v_readfirstlane_b32", "moves between lanes: tests/lanes.rs"),
    ("v_writelane_b32", "moves between lanes: tests/lanes.rs"),
    ("v_permlane16_b32", "moves between lanes: tests/lanes.rs"),
    ("v_permlanex16_b32", "moves between lanes: tests/lanes.rs"),
    ("v_swap_b32", "two destinations: tests/lanes.rs"),
    ("v_swaprel_b32", "two destinations, indexed by M0: tests/lanes.rs"),
    ("v_movreld_b32", "indexed by M0: tests/lanes.rs"),
    ("v_movrels_b32", "indexed by M0: tests/lanes.rs"),
    ("v_movrelsd_b32", "indexed by M0: tests/lanes.rs"),
    ("v_movrelsd_2_b32", "indexed by M0: tests/lanes.rs"),
    ("v_accvgpr_mov_b32", "accumulation registers: tests/lanes.rs"),
    ("v_accvgpr_read_b32", "accumulation registers: tests/lanes.rs"),
    ("v_accvgpr_write_b32", "accumulation registers: tests/lanes.rs"),
    ("v_screen_partition_4se_b32", "a table of the manual, not a computation"),
];

/// Why an instruction is not tried here.
pub fn reason(name: &str) -> Option<&'static str> {
    if name.starts_with("v_mfma_") {
        return Some("across lanes and accumulation registers: tests/matrices.rs");
    }
    LEFT_OUT.iter().find(|(left, _)| *left == name).map(|(_, why)| *why)
}

/// The meaning's name: all comparisons of one kind ask the same.
pub fn meaning(row: &Row) -> String {
    let rest = ["v_cmpsx_", "v_cmps_", "v_cmpx_"].iter().find_map(|prefix| row.name.strip_prefix(prefix));
    rest.map_or(row.name.to_owned(), |rest| format!("v_cmp_{rest}"))
}

/// The rows of a processor that are tried.
pub fn vector_rows(target: &'static Target) -> impl Iterator<Item = &'static Row> {
    let rows = opcodes().filter(move |&op| available(op, target)).map(|op| op.row());
    rows.filter(|row| row.is_valu() && !row.flags.contains(Flags::ALIAS) && reason(row.name).is_none())
}

/// Whether the whole sweep is asked for.
pub fn wants_all() -> bool {
    std::env::var("KERNC_MEANINGS").is_ok_and(|value| value == "all")
}

/// The processors that are asked for.
pub fn targets() -> Vec<&'static Target> {
    if wants_all() {
        let both =
            |target: &'static Target| [32, 64].into_iter().filter_map(|lanes| target.with_wave_size(lanes));
        return PROCESSORS.iter().flat_map(both).collect();
    }
    let usual =
        USUAL.iter().map(|&(name, lanes)| Target::by_name(name).and_then(|t| t.with_wave_size(lanes)));
    usual.map(|target| target.expect("a known processor")).collect()
}

/// The plain encodings of a row.
pub fn forms(row: &Row) -> impl Iterator<Item = Form> {
    let narrow = matches!(row.family, Family::Vop1 | Family::Vop2 | Family::Vopc);
    let e32 = narrow && !row.flags.contains(Flags::NO_E32);
    let full = !narrow || !row.flags.contains(Flags::NO_E64);
    [(full, Form::Full), (e32, Form::E32)].into_iter().filter(|(has, _)| *has).map(|(_, form)| form)
}

/// 6 to 10.
pub fn generation(target: &Target) -> u32 {
    target.version.0
}
