//! Modifiers of vector instructions beside the same instruction without them: sources and results are changed by what the
//! ISA manuals say (`oracle/variant.rs`, `shuffle.rs`, `output.rs`), between them stands clang's CPU code of `meanings/*.c`.
//! SDWA, DPP, VOP3, VOP3P and constants, chosen at random for every row that has them.
//!
//! `KERNC_MEANINGS=all` tries every processor.

use crate::oracle::Mode;
use crate::oracle::cases::{inputs, sources};
use crate::oracle::compare::{Differences, try_all};
use crate::oracle::kernel::Trial;
use crate::oracle::native::Native;
use crate::oracle::output::shape;
use crate::oracle::rows::{forms, targets, vector_rows, wants_all};
use crate::oracle::shuffle::{Control, Shuffle};
use crate::oracle::variant::{Constant, Source, Variant, is_pair};
use isa::table::{Caps, Family, Flags, Kind, Num, Row};
use isa::{Feature, Form, SdwaSel, Target};
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
    let wide = row.flags.contains(Flags::DPP64) && !target.has(Feature::UNIFIED_VGPRS);
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
        if spec.num.is_float() && spec.num != Num::V2F16 {
            (source.neg, source.abs) = (coin(rng), abs && coin(rng));
        }
    }
    all
}

/// `clamp` and `omod`.
fn outputs(row: &Row, target: &Target, variant: &mut Variant, rng: &mut Rng) {
    // VOP3 has no room for `clamp` beside a mask before GFX8.
    let room = target.version.0 >= 8 || !row.has_mask_out();
    variant.clamp = row.clamps(target) && room && rng.below(3) == 0;
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
    if row.caps.contains(Caps::OP_SEL) && target.version.0 >= 9 {
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
        if target.version.0 == 8 {
            variant.omod = 0;
        }
    }
    Some(variant)
}

fn control(target: &Target, rng: &mut Rng) -> Control {
    use Control::*;
    let n = 1 + rng.below(15) as u8;
    let any = rng.below(16) as u8;
    let last = match target.version.0 {
        10 => 9,
        _ if target.has(Feature::UNIFIED_VGPRS) => 13,
        _ => 12,
    };
    match rng.below(last) {
        0 | 1 => Quad(std::array::from_fn(|_| rng.below(4) as u8)),
        2 => RowShl(n),
        3 => RowShr(n),
        4 => RowRor(n),
        5 => Mirror,
        6 => HalfMirror,
        7 if target.version.0 == 10 => Share(any),
        8 if target.version.0 == 10 => Xmask(any),
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
    let (bound, inactive) = (coin(rng), target.version.0 == 10 && coin(rng));
    let mut control = control(target, rng);
    if row.flags.contains(Flags::DPP64) {
        control = Control::NewBcast(rng.below(16) as u8);
    }
    variant.shuffle = Some(Shuffle { control, row_mask, bank_mask, bound, inactive });
    Some(variant)
}

fn dpp8(row: &Row, target: &Target, rng: &mut Rng) -> Option<Variant> {
    if target.version.0 != 10 || !has_dpp(target, row) {
        return None;
    }
    let control = Control::Eight(std::array::from_fn(|_| rng.below(8) as u8));
    // Lanes whose source is switched off read zero.
    let shuffle = Shuffle { control, row_mask: 15, bank_mask: 15, bound: true, inactive: coin(rng) };
    Some(Variant { shuffle: Some(shuffle), ..Variant::plain(Form::Dpp) })
}

/// Inline constants by the source's type ("Scalar and vector operands" of the ISA manuals): integers are extended with their
/// sign, floats have the type's format; integers of 32 bits see f32.
fn inline_constants(num: Num) -> &'static [(&'static str, u64)] {
    const MINUS_16: u64 = -16i64 as u64;
    match num {
        Num::F32 => &[
            ("1.0", 0x3f80_0000),
            ("-4.0", 0xc080_0000),
            ("0.5", 0x3f00_0000),
            ("0", 0),
            ("64", 64),
            ("-16", 0xffff_fff0),
        ],
        Num::F16 => {
            &[("1.0", 0x3c00), ("-4.0", 0xc400), ("2.0", 0x4000), ("0", 0), ("17", 17), ("-16", 0xfff0)]
        }
        Num::F64 => &[
            ("1.0", 0x3ff0_0000_0000_0000),
            ("-4.0", 0xc010_0000_0000_0000),
            ("-0.5", 0xbfe0_0000_0000_0000),
            ("0", 0),
            ("63", 63),
            ("-16", MINUS_16),
        ],
        Num::I16 | Num::U16 | Num::B16 => &[("0", 0), ("64", 64), ("-16", 0xfff0), ("7", 7)],
        Num::I32 | Num::U32 | Num::B32 => {
            &[("64", 64), ("-16", 0xffff_fff0), ("2.0", 0x4000_0000), ("-0.5", 0xbf00_0000), ("0", 0)]
        }
        Num::I64 | Num::U64 | Num::B64 => &[("64", 64), ("-16", MINUS_16), ("0", 0), ("1", 1)],
        _ => &[],
    }
}

/// Literals: of f64 they are the upper half.
fn literals(num: Num) -> &'static [(&'static str, u64)] {
    match num {
        Num::F32 | Num::B32 | Num::I32 | Num::U32 => {
            &[("0x40490fdb", 0x4049_0fdb), ("0x80808081", 0x8080_8081)]
        }
        Num::F16 => &[("0x4248", 0x4248), ("0xabcd", 0xabcd)],
        Num::F64 => &[("0x400921fb", 0x4009_21fb_0000_0000), ("0xc1234567", 0xc123_4567_0000_0000)],
        _ => &[],
    }
}

fn constants(row: &Row, target: &'static Target, rng: &mut Rng) -> Option<Variant> {
    if row.family == Family::Vop3p || row.name.starts_with("v_div_scale") || row.has_kind(Kind::Lit) {
        return None;
    }
    let sources: Vec<_> = sources(row).collect();
    let full = forms(row).any(|form| form == Form::Full);
    // A literal has room in the short encoding only.
    let short = forms(row).any(|form| form == Form::E32) && (!full || coin(rng));
    let source = if short { 0 } else { rng.below(sources.len().max(1) as u32) as usize };
    let spec = sources.get(source).filter(|spec| spec.kind == Kind::Vsrc)?;
    // A mask that is read takes the constant bus, which only GFX10 has twice.
    let reads_mask = row.ops.iter().any(|spec| spec.kind == Kind::Mask && spec.role == isa::table::Role::Use);
    let has_room = target.version.0 == 10 || !reads_mask;
    let all = if short && coin(rng) && has_room { literals(spec.num) } else { inline_constants(spec.num) };
    let &(text, value) = all.get(rng.below(all.len().max(1) as u32) as usize)?;
    let form = if short { Form::E32 } else { Form::Full };
    let constant = Some(Constant { source, text, value });
    Some(Variant { constant, ..Variant::plain(form) })
}

/// Constants of packed instructions are words of 32 bits, of which `op_sel` takes the halves: a float of a packed f16
/// instruction stands in the low half, of packed integers it is an f32; integers are extended with their sign (as clang 19
/// uses them: for the pair 0, 0x3f80 it writes `v_pk_add_u16 v1, v1, 1.0`).
fn packed_constants(row: &Row, _: &'static Target, rng: &mut Rng) -> Option<Variant> {
    let mut variant = packed(row, rng)?;
    let sources: Vec<_> = sources(row).collect();
    let source = rng.below(sources.len() as u32) as usize;
    let spec = sources[source];
    let all: &[(&str, u64)] = match spec.num {
        _ if spec.width == 2 || row.caps.contains(Caps::MIX) => return None,
        Num::F16 => &[("1.0", 0x3c00), ("-4.0", 0xc400), ("7", 7), ("-1", 0xffff_ffff)],
        Num::F32 => &[("1.0", 0x3f80_0000), ("-1", 0xffff_ffff)],
        _ => &[("1.0", 0x3f80_0000), ("7", 7), ("-1", 0xffff_ffff), ("-16", 0xffff_fff0)],
    };
    let (text, value) = all[rng.below(all.len() as u32) as usize];
    variant.constant = Some(Constant { source, text, value });
    Some(variant)
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
fn constants_as_sources() {
    sweep("constants", &["gfx600", "gfx803", "gfx90a", "gfx1030"], constants);
    sweep("constants of VOP3P", &["gfx900", "gfx906", "gfx1030"], packed_constants);
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
