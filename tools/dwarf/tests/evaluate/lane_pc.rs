//! The guide's worked example of `DW_AT_LLVM_lane_pc` (seed 000, lines 1915-2107): the program counters of all lanes, in each of the subprogram's
//! statements.

use crate::evaluate::machine::{State, U64, location_text, run};
use dwarf::{Goal, Reason};

/// Lanes of a wave, as the example has them (line 1925).
const LANES: u64 = 64;
/// Who was active when the subprogram was called, and for whom the conditions hold.
const ENTRY: u64 = 0x0fff_ffff_ffff_fff0;
const C1: u64 = 0xaaaa_aaaa_5555_ffff;
const C2: u64 = 0xff00_ff0f_cc33_1234;

/// Labels of the example (lines 1950-1972).
const LEX_1_START: u64 = 0x1100;
const LEX_1_1_START: u64 = 0x1200;
const LEX_1_1_END: u64 = 0x1500;
const LEX_1_END: u64 = 0x1700;

/// Entries of the variables with `%1` and `%3`, the masks that regions save, and their registers.
const PAIR_1: [&str; 2] = ["s10", "s11"];
const PAIR_1_1: [&str; 2] = ["s12", "s13"];
const SAVE_1: u64 = 0x101;
const SAVE_1_1: u64 = 0x102;

/// Procedures by their names in the example (lines 1992-2105).
const ACTIVE: u64 = 1;
const DIVERGENT: u64 = 2;
const DIVERGENT_1_THEN: u64 = 3;
const DIVERGENT_1_1_THEN: u64 = 4;
const DIVERGENT_1_1_ELSE: u64 = 5;
const DIVERGENT_1_ELSE: u64 = 6;

/// A statement: where it is, the procedure of the region around, the lanes that execute it, and where lanes wait that do not: those of `%3`, and those
/// of `%1` that are not in it.
struct Statement {
    name: char,
    at: u64,
    region: u64,
    active: u64,
    inner: Option<u64>,
    outer: Option<u64>,
}

const NONE: Option<u64> = None;

/// What lines 1928-1943 say that happens.
fn statements() -> [Statement; 7] {
    let (then, otherwise) = (ENTRY & C1, ENTRY & !C1);
    let row = |name, at, region, active, inner, outer| Statement { name, at, region, active, inner, outer };
    [
        row('a', 0x1000, DIVERGENT, ENTRY, NONE, NONE),
        row('b', 0x1180, DIVERGENT_1_THEN, then, NONE, Some(LEX_1_START)),
        row('c', 0x1300, DIVERGENT_1_1_THEN, then & C2, Some(LEX_1_1_START), Some(LEX_1_START)),
        row('d', 0x1400, DIVERGENT_1_1_ELSE, then & !C2, Some(LEX_1_1_END), Some(LEX_1_START)),
        row('e', 0x1580, DIVERGENT_1_THEN, then, NONE, Some(LEX_1_START)),
        row('f', 0x1600, DIVERGENT_1_ELSE, otherwise, Some(LEX_1_END), Some(LEX_1_END)),
        row('g', 0x1780, DIVERGENT, ENTRY, NONE, NONE),
    ]
}

/// The example's entries. (Its `DW_OP_deref_type 64` has the size in bits, where the operation takes bytes.)
fn state() -> State {
    let mut state = State::new();
    let pieces = format!("DW_OP_LLVM_extend 64 {LANES}");
    let select = format!("DW_OP_LLVM_select_bit_piece 64 {LANES}");
    let active = format!("DW_OP_regx pc; {pieces}; DW_OP_regval_type exec.64 {U64}; {select}");
    state.entry(ACTIVE, &active, true);
    state.entry(DIVERGENT, &format!("DW_OP_LLVM_undefined; {pieces}"), true);
    // A pair of registers is a location of two parts.
    for (entry, pair) in [(SAVE_1, PAIR_1), (SAVE_1_1, PAIR_1_1)] {
        let [low, high] = pair;
        state.entry(
            entry,
            &format!("DW_OP_regx {low}; DW_OP_piece 4; DW_OP_regx {high}; DW_OP_piece 4"),
            false,
        );
    }
    let mut region = |entry, around, label: u64, save| {
        let text = format!(
            "DW_OP_call_ref {around}; DW_OP_addr {label}; DW_OP_stack_value; {pieces}; \
             DW_OP_call_ref {save}; DW_OP_deref_type 8 {U64}; {select}"
        );
        state.entry(entry, &text, true);
    };
    region(DIVERGENT_1_THEN, DIVERGENT, LEX_1_START, SAVE_1);
    region(DIVERGENT_1_1_THEN, DIVERGENT_1_THEN, LEX_1_1_START, SAVE_1_1);
    region(DIVERGENT_1_1_ELSE, DIVERGENT_1_THEN, LEX_1_1_END, SAVE_1_1);
    region(DIVERGENT_1_ELSE, DIVERGENT, LEX_1_END, SAVE_1);
    state
}

#[test]
fn the_guides_example_has_the_program_counters_that_it_says() {
    let mut state = state();
    // Until a region begins, the register with its mask holds anything.
    for name in PAIR_1.into_iter().chain(PAIR_1_1) {
        state.set(name, &0xdead_beefu32.to_le_bytes());
    }
    for statement in statements() {
        let Statement { name, at, region, active, inner, outer } = statement;
        state.set("pc", &at.to_le_bytes());
        state.set("exec.64", &active.to_le_bytes());
        let masks = [(outer, PAIR_1, ENTRY), (inner, PAIR_1_1, ENTRY & C1)];
        for (_, [low, high], mask) in masks.into_iter().filter(|(is_saved, ..)| is_saved.is_some()) {
            state.set(low, &(mask as u32).to_le_bytes());
            state.set(high, &((mask >> 32) as u32).to_le_bytes());
        }
        let text = format!("DW_OP_call_ref {region}; DW_OP_call_ref {ACTIVE}");
        let outcome =
            run(&text, Goal::Location, &state, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
        let vector = outcome.location().expect("a location");
        for lane in 0..LANES {
            let is_in = |mask: u64| mask >> lane & 1 == 1;
            let expected = match () {
                // Lines 1919-1923.
                () if is_in(active) => Some(at),
                () if !is_in(ENTRY) => None,
                () if is_in(C1) => inner.or(outer),
                () => outer,
            };
            let element = vector.moved(i128::from(64 * lane)).expect("a lane").read(64, &state);
            let found = match element {
                Ok(bytes) => Some(u64::from_le_bytes(bytes.try_into().expect("64 bits"))),
                Err(Reason::Undefined) => None,
                Err(why) => panic!("{name}: {why}"),
            };
            assert_eq!(found, expected, "statement {name}, lane {lane}");
        }
    }
}

/// The first four lanes of `c` in full.
#[test]
fn waiting_lanes_are_values_and_active_ones_the_program_counter() {
    let mut state = state();
    state.set("pc", &0x1300u64.to_le_bytes());
    state.set("exec.64", &0b1000u64.to_le_bytes());
    for (name, mask) in [("s10", 0b1110u32), ("s11", 0), ("s12", 0b1100), ("s13", 0)] {
        state.set(name, &mask.to_le_bytes());
    }
    let text =
        location_text(&format!("DW_OP_call_ref {DIVERGENT_1_1_THEN}; DW_OP_call_ref {ACTIVE}"), &state);
    let first = "[nowhere: 64 bits, the value 00 11 00 00 00 00 00 00: 64 bits, \
                 the value 00 12 00 00 00 00 00 00: 64 bits, pc: 64 bits, nowhere: ";
    assert!(text.starts_with(first), "{text}");
}
