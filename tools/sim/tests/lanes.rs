//! Instructions that move values between lanes and registers, beside models written from the ISA manuals: lane reads and
//! writes, permutations, swizzles, moves between registers that M0 names, swaps, accumulation registers, DS instructions with
//! two addresses.
//!
//! `KERNC_MEANINGS=all` tries every processor.

use crate::oracle::model::{LDS, Snippet, State, check};
use crate::oracle::rows::targets;
use isa::{Feature, Target};
use testkit::Rng;

fn first_active(state: &State) -> usize {
    if state.exec == 0 { 0 } else { state.exec.trailing_zeros() as usize }
}

/// v_readlane, v_writelane, v_readfirstlane: whatever EXEC is.
fn single_lanes(all: &mut Vec<Snippet>) {
    for lane in [0usize, 1, 17, 31] {
        all.push(Snippet::new(format!("v_readlane_b32 s40, v5, {lane}"), move |state| {
            state.s[40] = state.v[5][lane];
        }));
        all.push(Snippet::new(format!("v_writelane_b32 v6, s17, {lane}"), move |state| {
            state.v[6][lane] = state.s[17];
        }));
    }
    // The number of the lane is taken modulo the lanes of the wave.
    all.push(Snippet::new("v_readlane_b32 s41, v7, s20", |state| {
        state.s[41] = state.v[7][state.s[20] as usize % state.lanes];
    }));
    all.push(Snippet::new("v_writelane_b32 v8, s18, s18", |state| {
        let lane = state.s[18] as usize % state.lanes;
        state.v[8][lane] = state.s[18];
    }));
    all.push(Snippet::new("v_writelane_b32 v8, 7, m0", |state| {
        let lane = state.m0 as usize % state.lanes;
        state.v[8][lane] = 7;
    }));
    all.push(Snippet::new("v_readlane_b32 s42, v7, m0", |state| {
        state.s[42] = state.v[7][state.m0 as usize % state.lanes];
    }));
    all.push(Snippet::new("v_readfirstlane_b32 s43, v9", |state| {
        state.s[43] = state.v[9][first_active(state)];
    }));
}

/// RDNA ISA, V_PERMLANE16_B32: four bits of two scalars name the lane of the row, or of the row beside it.
fn permlane(all: &mut Vec<Snippet>) {
    for (name, other) in [("v_permlane16_b32", 0), ("v_permlanex16_b32", 16)] {
        for (inactive, zero) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let code = format!("{name} v12, v5, s17, s19 op_sel:[{inactive},{zero}]");
            all.push(Snippet::new(code, move |state| {
                state.set(12, |state, lane| {
                    let place = lane % 16;
                    let select = [state.s[17], state.s[19]][place / 8] >> (4 * (place % 8)) & 15;
                    let from = ((lane - place) ^ other) + select as usize;
                    match inactive == 1 || state.active(from) {
                        true => Some(state.v[5][from]),
                        false => (zero == 1).then_some(0),
                    }
                });
            }));
        }
    }
}

/// DS_SWIZZLE_B32 (Vega and RDNA ISA): which lane a lane reads; an inactive one gives zero.
fn swizzled(offset: usize, lane: usize, later: bool) -> usize {
    let (five, upper) = (lane & 31, lane & 32);
    let mask = offset & 31;
    if later && offset >= 0xe000 {
        // Fourier transforms: the lane's bits backwards, above the mask's bits which stay.
        let mut backwards = 0;
        for bit in 0..5 {
            backwards |= (five >> bit & 1) << (4 - bit);
        }
        return (backwards >> mask.count_ones() | lane & mask | upper) & 63;
    }
    if later && offset >= 0xc000 {
        let by = (offset >> 5 & 31) as isize;
        let by = if offset >> 10 & 1 != 0 { -by } else { by };
        let turned = (lane as isize + by).rem_euclid(32) as usize;
        return (lane & mask | turned & !mask) & 31 | upper;
    }
    if offset & 0x8000 != 0 {
        return lane / 4 * 4 + (offset >> (2 * (lane % 4)) & 3);
    }
    (((five & mask) | (offset >> 5 & 31)) ^ (offset >> 10 & 31)) | upper
}

fn swizzles(target: &Target, all: &mut Vec<Snippet>) {
    let later = target.version.0 >= 9;
    let mut rng = Rng::new(77);
    let mut offsets = vec![0x8000, 0x80e4, 0x801b, 0x80b1, 0x001f, 0x041f, 0x401f, 0x7c1f, 0x03e0, 0x5555];
    offsets.extend((0..40).map(|_| rng.below(0x8000) as usize));
    offsets.extend((0..8).map(|_| 0x8000 + rng.below(256) as usize));
    if later {
        offsets.extend((0..32).map(|mask| 0xe000 | mask));
        offsets.extend((0..40).map(|_| 0xc000 | rng.below(0x800) as usize));
    }
    for offset in offsets {
        all.push(Snippet::new(format!("ds_swizzle_b32 v12, v5 offset:{offset:#x}"), move |state| {
            state.set(12, |state, lane| {
                let from = swizzled(offset, lane, later);
                Some(if state.active(from) { state.v[5][from] } else { 0 })
            });
        }));
    }
}

/// DS_PERMUTE_B32 and DS_BPERMUTE_B32: bytes over four name the lane, of 64 before GFX10, of the lane's own 32 there.
fn permutes(target: &Target, all: &mut Vec<Snippet>) {
    let group = if target.version.0 == 10 { 32 } else { 64 };
    for offset in [0u32, 4, 8, 100, 0xfffc, 0x1234] {
        let named = move |state: &State, lane: usize| {
            let number = state.v[6][lane].wrapping_add(offset) / 4;
            lane / group * group + number as usize % group
        };
        all.push(Snippet::new(format!("ds_bpermute_b32 v12, v6, v7 offset:{offset}"), move |state| {
            state.set(12, |state, lane| {
                let from = named(state, lane);
                Some(if state.active(from) { state.v[7][from] } else { 0 })
            });
        }));
        all.push(Snippet::new(format!("ds_permute_b32 v12, v6, v7 offset:{offset}"), move |state| {
            let mut sent = [0; 64];
            for lane in (0..state.lanes).filter(|&lane| state.active(lane)) {
                sent[named(state, lane)] = state.v[7][lane];
            }
            state.set(12, |_, lane| Some(sent[lane]));
        }));
    }
}

/// A small number into M0, and another into its upper half.
fn small_m0(state: &mut State, rng: &mut Rng) {
    state.m0 = rng.below(8);
}

fn two_small(state: &mut State, rng: &mut Rng) {
    state.m0 = rng.below(8) | rng.below(8) << 16;
}

fn relative_moves(target: &Target, all: &mut Vec<Snippet>) {
    let moves = target.version.0 == 10 || target.version.0 <= 8;
    let at = |state: &State| state.m0 as usize;
    let two = |state: &State| (state.m0 as usize & 0x3ff, state.m0 as usize >> 16 & 0x3ff);
    if moves {
        all.push(Snippet::prepared("v_movrels_b32_e32 v18, v4", small_m0, move |state| {
            state.set(18, |state, lane| Some(state.v[4 + at(state)][lane]));
        }));
        all.push(Snippet::prepared("v_movreld_b32_e32 v5, v18", small_m0, move |state| {
            state.set(5 + at(state), |state, lane| Some(state.v[18][lane]));
        }));
        // M0 takes the constant bus, which only GFX10 has twice.
        if target.version.0 == 10 {
            all.push(Snippet::prepared("v_movreld_b32_e32 v5, s17", small_m0, move |state| {
                state.set(5 + at(state), |state, _| Some(state.s[17]));
            }));
        }
        all.push(Snippet::prepared("v_movrelsd_b32_e32 v5, v11", small_m0, move |state| {
            state.set(5 + at(state), |state, lane| Some(state.v[11 + at(state)][lane]));
        }));
    }
    if target.version.0 == 10 {
        all.push(Snippet::prepared("v_movrelsd_2_b32_e32 v5, v11", two_small, move |state| {
            state.set(5 + two(state).1, |state, lane| Some(state.v[11 + two(state).0][lane]));
        }));
        all.push(Snippet::prepared("v_swaprel_b32 v5, v11", two_small, move |state| {
            let (source, destination) = two(state);
            let before = state.clone();
            // The second is written last: with equal registers nothing changes.
            state.set(5 + destination, |_, lane| Some(before.v[11 + source][lane]));
            state.set(11 + source, |_, lane| Some(before.v[5 + destination][lane]));
        }));
        all.push(Snippet::prepared("s_movrelsd_2_b32 s20, s32", two_small, move |state| {
            let (source, destination) = two(state);
            state.s[20 + destination] = state.s[32 + source];
        }));
    }
    if target.version.0 >= 9 {
        all.push(Snippet::new("v_swap_b32 v5, v11", |state| {
            let before = state.clone();
            state.set(5, |_, lane| Some(before.v[11][lane]));
            state.set(11, |_, lane| Some(before.v[5][lane]));
        }));
    }
    let even = |state: &mut State, rng: &mut Rng| state.m0 = 2 * rng.below(6);
    all.push(Snippet::prepared("s_movrels_b32 s40, s20", small_m0, move |state| {
        state.s[40] = state.s[20 + at(state)];
    }));
    all.push(Snippet::prepared("s_movreld_b32 s20, s40", small_m0, move |state| {
        state.s[20 + at(state)] = state.s[40];
    }));
    all.push(Snippet::prepared("s_movrels_b64 s[40:41], s[20:21]", even, move |state| {
        let from = 20 + at(state);
        [state.s[40], state.s[41]] = [state.s[from], state.s[from + 1]];
    }));
    all.push(Snippet::prepared("s_movreld_b64 s[20:21], s[40:41]", even, move |state| {
        let to = 20 + at(state);
        [state.s[to], state.s[to + 1]] = [state.s[40], state.s[41]];
    }));
}

/// GFX8 and GFX9: between `s_set_gpr_idx_on` and `off` M0's low byte is added to the registers that are named there.
fn indexed(target: &Target, all: &mut Vec<Snippet>) {
    if !matches!(target.version.0, 8 | 9) || target.has(Feature::UNIFIED_VGPRS) {
        return;
    }
    for (names, bits) in
        [("SRC0", 1), ("SRC1", 2), ("SRC0,SRC1", 3), ("DST", 8), ("SRC0,DST", 9), ("SRC0,SRC1,DST", 11)]
    {
        let code =
            format!("s_set_gpr_idx_on s20, gpr_idx({names})\nv_xor_b32_e32 v5, v8, v9\ns_set_gpr_idx_off");
        let small = |state: &mut State, rng: &mut Rng| state.s[20] = rng.below(8);
        all.push(Snippet::prepared(code, small, move |state| {
            let index = state.s[20] as usize;
            let by = |bit: usize| if bits >> bit & 1 != 0 { index } else { 0 };
            state.set(5 + by(3), |state, lane| Some(state.v[8 + by(0)][lane] ^ state.v[9 + by(1)][lane]));
        }));
    }
}

/// gfx908 and gfx90a: accumulation registers are plain storage.
fn accumulators(target: &Target, all: &mut Vec<Snippet>) {
    if target.has(Feature::MAI) {
        let code = "v_accvgpr_write_b32 a3, v5\ns_nop 7\nv_accvgpr_read_b32 v12, a3";
        all.push(Snippet::new(code, |state| state.set(12, |state, lane| Some(state.v[5][lane]))));
    }
    if target.has(Feature::UNIFIED_VGPRS) {
        let code = "v_accvgpr_write_b32 a3, v5\ns_nop 7\nv_accvgpr_mov_b32 a4, a3\ns_nop 7\nv_accvgpr_read_b32 v12, a4";
        all.push(Snippet::new(code, |state| state.set(12, |state, lane| Some(state.v[5][lane]))));
    }
}

/// DS instructions whose operand is in LDS too (Vega ISA, DS_ADD_SRC2_U32): it lies so many dwords behind as 15 bits of the
/// offset say, or the upper bits of the address. The lanes come one after another.
fn two_places(target: &Target, all: &mut Vec<Snippet>) {
    if target.version.0 == 10 || target.has(Feature::UNIFIED_VGPRS) {
        return;
    }
    type Change = fn(u32, u32) -> u32;
    let operations: [(&str, Change); 8] = [
        ("ds_add_src2_u32", |old, with| old.wrapping_add(with)),
        ("ds_sub_src2_u32", |old, with| old.wrapping_sub(with)),
        ("ds_rsub_src2_u32", |old, with| with.wrapping_sub(old)),
        ("ds_max_src2_i32", |old, with| (old as i32).max(with as i32) as u32),
        ("ds_min_src2_u32", |old, with| old.min(with)),
        ("ds_xor_src2_b32", |old, with| old ^ with),
        ("ds_inc_src2_u32", |old, with| if old >= with { 0 } else { old + 1 }),
        ("ds_write_src2_b32", |_, with| with),
    ];
    for (name, change) in operations {
        for distance in [1i32, 5, -3, 40] {
            let from_offset = distance as u32 & 0x7fff;
            // Each lane has its own dword, so that their order does not matter: operands are not written.
            let far = move |state: &mut State, _: &mut Rng| {
                state.exec &= 0x3f;
                for lane in 0..64 {
                    state.v[6][lane] = 4 * (8 + 16 * (lane as u32 % 6));
                }
                state.m0 = u32::MAX;
            };
            let by_address = move |state: &mut State, rng: &mut Rng| {
                far(state, rng);
                state.v[6].iter_mut().for_each(|address| *address |= (distance as u32) << 17);
            };
            let model = move |state: &mut State| {
                for lane in (0..6).filter(|&lane| state.active(lane)).collect::<Vec<_>>() {
                    let to = (state.v[6][lane] & 0x1_ffff) as usize / 4;
                    let from = (to as i32 + distance) as usize % LDS;
                    state.lds[to] = change(state.lds[to], state.lds[from]);
                }
            };
            all.push(Snippet::prepared(format!("{name} v6 offset:{from_offset}"), far, model));
            all.push(Snippet::prepared(format!("{name} v6 offset:0x8000"), by_address, model));
        }
    }
}

#[test]
fn between_lanes_and_registers() {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    // Beside the usual ones: accumulation registers without gfx90a's ways, GFX10 in waves of 64.
    let more = [("gfx908", 64), ("gfx1010", 64)];
    let more = more.map(|(name, lanes)| Target::by_name(name).and_then(|t| t.with_wave_size(lanes)));
    for target in targets().into_iter().chain(more.into_iter().flatten()) {
        let mut all = Vec::new();
        single_lanes(&mut all);
        swizzles(target, &mut all);
        if target.version.0 >= 8 {
            permutes(target, &mut all);
        }
        if target.version.0 == 10 {
            permlane(&mut all);
        }
        relative_moves(target, &mut all);
        indexed(target, &mut all);
        accumulators(target, &mut all);
        two_places(target, &mut all);
        compared += check(target, &all, &mut wrong);
    }
    println!("lanes and registers: {compared} waves compared");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
