//! Modifiers of vector instructions beside the same instruction without them: sources and results are changed by what the
//! ISA manuals say (`oracle/variant.rs`, `shuffle.rs`, `output.rs`), between them stands clang's CPU code of `meanings/*.c`.
//! SDWA, DPP, VOP3 and VOP3P, chosen at random for every row that has them.
//!
//! `KERNC_MEANINGS=all` tries every processor.

mod oracle;

use isa::table::{Caps, Family, Flags, Row};
use isa::{Feature, Form, Generation, SdwaSel, Target};
use oracle::Mode;
use oracle::cases::{inputs, sources};
use oracle::compare::{Differences, try_all};
use oracle::kernel::Trial;
use oracle::native::Native;
use oracle::output::shape;
use oracle::rows::{forms, targets, vector_rows, wants_all};
use oracle::shuffle::{Control, Shuffle};
use oracle::variant::{Source, Variant, is_pair};
use testkit::Rng;

/// Alternate lanes, and others.
const PARTIAL: u64 = 0x5a0f_33c9_8001_fffe;

/// Whether the row has an SDWA form there.
fn has_sdwa(target: &Target, row: &Row) -> bool {
    let family = matches!(row.family, Family::Vop1 | Family::Vop2 | Family::Vopc);
    family && target.has(Feature::SDWA) && !row.flags.contains(Flags::NO_SDWA)
}

/// Whether the row has a DPP form there; rows on 64-bit values have one on gfx90a.
fn has_dpp(target: &Target, row: &Row) -> bool {
    let family = matches!(row.family, Family::Vop1 | Family::Vop2);
    let wide = row.flags.contains(Flags::DPP64) && !target.has(Feature::GFX90A);
    family && target.has(Feature::DPP) && !row.flags.contains(Flags::NO_DPP) && !wide
}

fn coin(rng: &mut Rng) -> bool {
    rng.bits() >> 13 & 1 != 0
}

/// `neg` and `abs` of floats, at random.
fn signs(row: &Row, rng: &mut Rng) -> [Source; 3] {
    let mut all = [Source::default(); 3];
    let abs = !row.has_mask_out();
    for (source, spec) in all.iter_mut().zip(sources(row)) {
        if spec.num.is_float() && spec.num != isa::table::Num::V2F16 {
            (source.neg, source.abs) = (coin(rng), abs && coin(rng));
        }
    }
    all
}

/// `clamp` and `omod`.
fn outputs(row: &Row, target: &Target, variant: &mut Variant, rng: &mut Rng) {
    // VOP3 has no room for `clamp` beside a mask before GFX8.
    let room = target.generation >= Generation::Gfx8 || !row.has_mask_out();
    variant.clamp = row.clamps(target.generation) && room && rng.below(3) == 0;
    if row.caps.contains(Caps::OMOD) && shape(row).is_float() && coin(rng) {
        variant.omod = rng.below(4) as u8;
    }
}

fn long(row: &Row, target: &Target, rng: &mut Rng) -> Option<Variant> {
    if !forms(row).any(|form| form == Form::Full) || row.family == Family::Vop3p {
        return None;
    }
    let mut variant = Variant { sources: signs(row, rng), ..Variant::plain(Form::Full) };
    outputs(row, target, &mut variant, rng);
    if row.caps.contains(Caps::OP_SEL) && target.generation >= Generation::Gfx9 {
        let count = sources(row).count();
        let halves = sources(row).enumerate().filter(|(_, spec)| spec.num.is_half());
        let mut bits = halves.fold(0, |bits, (at, _)| bits | 1 << at);
        if row.ops[0].num.is_half() {
            bits |= 1 << count;
        }
        variant.op_sel = rng.below(16) as u8 & bits;
    }
    (!variant.is_plain()).then_some(variant)
}

fn packed(row: &Row, rng: &mut Rng) -> Option<Variant> {
    if row.family != Family::Vop3p {
        return None;
    }
    let mut variant = Variant::plain(Form::Full);
    variant.clamp = row.caps.contains(Caps::CLAMP) && row.name != "v_pk_mov_b32" && rng.below(3) == 0;
    if row.caps.contains(Caps::MIX) {
        variant.sources = signs(row, rng);
        (variant.op_sel, variant.op_sel_hi) = (rng.below(8) as u8, rng.below(8) as u8);
        return Some(variant);
    }
    // The integers of dots are four or eight in a register: op_sel does not part them.
    let bytes = row.name.starts_with("v_dot4") || row.name.starts_with("v_dot8");
    for (at, spec) in sources(row).enumerate() {
        if is_pair(row, spec) && !bytes {
            variant.op_sel |= (rng.below(2) as u8) << at;
            variant.op_sel_hi &= !((rng.below(2) as u8) << at);
            if spec.num.is_float() {
                variant.sources[at] = Source { neg: coin(rng), abs: coin(rng), ..Source::default() };
            }
        }
    }
    Some(variant)
}

fn select(rng: &mut Rng) -> SdwaSel {
    SdwaSel::from_code(rng.below(7) as u8).expect("a selection")
}

fn sdwa(row: &Row, target: &Target, rng: &mut Rng) -> Option<Variant> {
    if !has_sdwa(target, row) {
        return None;
    }
    let mut variant = Variant { sources: signs(row, rng), ..Variant::plain(Form::Sdwa) };
    for (source, spec) in variant.sources.iter_mut().zip(sources(row)) {
        source.select = select(rng);
        source.sext = !spec.num.is_float() && coin(rng);
    }
    if row.family != Family::Vopc {
        (variant.dst, variant.unused) = (select(rng), rng.below(3) as u8);
        outputs(row, target, &mut variant, rng);
        if target.generation == Generation::Gfx8 {
            variant.omod = 0;
        }
    }
    Some(variant)
}

fn control(target: &Target, rng: &mut Rng) -> Control {
    use Control::*;
    let n = 1 + rng.below(15) as u8;
    let any = rng.below(16) as u8;
    let last = match target.generation {
        Generation::Gfx10 => 9,
        _ if target.has(Feature::GFX90A) => 13,
        _ => 12,
    };
    match rng.below(last) {
        0 | 1 => Quad(std::array::from_fn(|_| rng.below(4) as u8)),
        2 => RowShl(n),
        3 => RowShr(n),
        4 => RowRor(n),
        5 => Mirror,
        6 => HalfMirror,
        7 if target.generation == Generation::Gfx10 => Share(any),
        8 if target.generation == Generation::Gfx10 => Xmask(any),
        7 => [WaveShl, WaveRol][usize::from(coin(rng))],
        8 => [WaveShr, WaveRor][usize::from(coin(rng))],
        9 | 10 => Bcast15,
        11 => Bcast31,
        _ => NewBcast(any),
    }
}

fn dpp(row: &Row, target: &Target, rng: &mut Rng) -> Option<Variant> {
    if !has_dpp(target, row) {
        return None;
    }
    let mut variant = Variant { sources: signs(row, rng), ..Variant::plain(Form::Dpp) };
    let mut mask = || if rng.below(2) == 0 { 15 } else { rng.below(16) as u8 };
    let (row_mask, bank_mask) = (mask(), mask());
    let (bound, inactive) = (coin(rng), target.generation == Generation::Gfx10 && coin(rng));
    let mut control = control(target, rng);
    if row.flags.contains(Flags::DPP64) {
        control = Control::NewBcast(rng.below(16) as u8);
    }
    variant.shuffle = Some(Shuffle { control, row_mask, bank_mask, bound, inactive });
    Some(variant)
}

fn dpp8(row: &Row, target: &Target, rng: &mut Rng) -> Option<Variant> {
    if target.generation != Generation::Gfx10 || !has_dpp(target, row) {
        return None;
    }
    let control = Control::Eight(std::array::from_fn(|_| rng.below(8) as u8));
    // Lanes whose source is switched off read zero.
    let shuffle = Shuffle { control, row_mask: 15, bank_mask: 15, bound: true, inactive: coin(rng) };
    Some(Variant { shuffle: Some(shuffle), ..Variant::plain(Form::Dpp) })
}

type Choose = fn(&Row, &'static Target, &mut Rng) -> Option<Variant>;

/// So many variants of every row that has them, half of them with some lanes only.
fn sweep(what: &str, names: &[&str], choose: Choose) {
    let Some(native) = Native::build() else { return };
    let mut differences = Differences::default();
    let targets = targets().into_iter().filter(|target| wants_all() || names.contains(&target.name));
    for (place, target) in targets.enumerate() {
        let rows: Vec<_> = vector_rows(target).map(|row| (row, inputs(row, 11, target.wave_size))).collect();
        let modes = [Mode::USUAL, Mode { float: 0x00, ieee: false, ..Mode::USUAL }];
        let odd = Mode { float: 0x5f, ieee: false, dx10: false, ..Mode::USUAL };
        for (number, mode) in modes.into_iter().chain([odd]).enumerate() {
            // By default a processor has one of the modes.
            if !wants_all() && number != place % 3 {
                continue;
            }
            let mut rng = Rng::new(100 + number as u64);
            let mut trials = Vec::new();
            for (row, inputs) in &rows {
                for _ in 0..if wants_all() { 2 } else { 1 } {
                    let exec = if coin(&mut rng) { PARTIAL } else { !0 };
                    let variant = choose(row, target, &mut rng);
                    trials.extend(variant.map(|variant| Trial { row, variant, exec, inputs }));
                }
            }
            try_all(&native, target, mode, &trials, &mut differences);
        }
    }
    differences.check(what);
}

#[test]
fn signs_and_output_modifiers() {
    sweep("VOP3", &["gfx600", "gfx803", "gfx906", "gfx1030"], long);
}

#[test]
fn packed_instructions() {
    sweep("VOP3P", &["gfx900", "gfx906", "gfx90a", "gfx1030"], |row, _, rng| packed(row, rng));
}

#[test]
fn parts_of_registers() {
    sweep("SDWA", &["gfx803", "gfx906", "gfx1030"], sdwa);
}

#[test]
fn other_lanes() {
    sweep("DPP", &["gfx803", "gfx90a", "gfx1030"], dpp);
    sweep("DPP8", &["gfx1030"], dpp8);
}
