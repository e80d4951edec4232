//! Tests of accumulation registers, matrix instructions and packed f32.

use super::*;

#[test]
fn accumulation_registers() {
    let machine = Machine::with_lanes("gfx908", 64)
        .vgprs(&[5])
        .run("v_accvgpr_write_b32 a3, v0\nv_accvgpr_read_b32 v2, a3");
    assert_eq!((machine.v(2, 9), machine.v(256 + 3, 9)), (5, 5));
    let machine =
        Machine::with_lanes("gfx90a", 64).run("v_accvgpr_write_b32 a3, 7\nv_accvgpr_mov_b32 a1, a3");
    assert_eq!(machine.v(256 + 1, 63), 7);
}

/// Checks single elements of the result D. The matrix calculator gives their positions in lanes and
/// registers.
#[test]
fn places_of_elements() {
    // A[i][0] is i + 1 in block 0, and 100 (i + 1) in block 1. B[0][j] is j + 1. Block 0 is in lanes 0..=31,
    // and block 1 in lanes 32..=63.
    let machine = Machine::with_lanes("gfx908", 64)
        .lanes(0, |lane| f(((lane % 32 + 1) * if lane < 32 { 1 } else { 100 }) as f32))
        .lanes(1, |lane| f((lane % 32 + 1) as f32))
        .run("v_mfma_f32_32x32x1f32 a[0:31], v0, v1, a[32:63]");
    // The element in row 9, column 4 of block 0 is in register 5 of lane 4. The element in row 12, column 4
    // is in register 4 of lane 36.
    assert_eq!(machine.v(256 + 5, 4), f(10.0 * 5.0));
    assert_eq!(machine.v(256 + 4, 36), f(13.0 * 5.0));
    assert_eq!(machine.v(256 + 16 + 5, 4), f(1000.0 * 5.0));
    // The second block of A is used for both blocks.
    let machine = machine.run("v_mfma_f32_32x32x1f32 a[0:31], v0, v1, a[32:63] cbsz:1 abid:1");
    assert_eq!(machine.v(256 + 5, 4), f(1000.0 * 5.0));
    // This value of `blgp` rotates the lanes of B by 16, so column 4 comes from lane 20, whose value is 21. A
    // `blgp` that uses the second half of B's lanes for all lanes would not change the result, because both
    // halves are equal here.
    let machine = machine.run("v_mfma_f32_32x32x1f32 a[0:31], v0, v1, a[32:63] blgp:3");
    assert_eq!(machine.v(256 + 5, 4), f(10.0 * 21.0));
}

#[test]
fn sums_of_halves_and_bytes() {
    // All elements in row i of A are i + 1, and each column of B is 1, 2, 3, 4 in f16. The elements of D in
    // row i are therefore 10 (i + 1).
    let row = |lane: u32| u32::from(half::f16::from_f32((lane % 4 + 1) as f32).to_bits()) * 0x0001_0001;
    let machine = Machine::with_lanes("gfx908", 64)
        .lanes(0, row)
        .lanes(1, row)
        .lanes(2, |_| 0x4000_3c00)
        .lanes(3, |_| 0x4400_4200)
        .run("v_mfma_f32_4x4x4f16 a[0:3], v[0:1], v[2:3], a[4:7]");
    assert_eq!([machine.v(256, 17), machine.v(259, 2)], [f(10.0), f(40.0)]);
    let machine = Machine::with_lanes("gfx908", 64)
        .lanes(0, |_| 0x0403_02ff)
        .lanes(1, |_| 0x0101_0101)
        .run("v_mfma_i32_16x16x4i8 a[0:15], v0, v1, a[16:31]");
    assert_eq!([machine.v(256, 0), machine.v(256 + 15, 63)], [8, 8]);
}

#[test]
fn doubles() {
    // A[i][k] = i + 1 for k = 0 only, B[k][j] = j + 1.
    let of = |value: u32| (f64::from(value).to_bits() >> 32) as u32;
    let machine = Machine::with_lanes("gfx90a", 64)
        .lanes(1, |lane| if lane < 16 { of(lane % 4 + 1) } else { 0 })
        .lanes(3, |lane| of(lane % 4 + 1))
        .run("v_mfma_f64_4x4x4f64 v[6:7], v[0:1], v[2:3], v[8:9]");
    // Row 2, column 3 of block 1 is in lane 3 + 4 + 32.
    assert_eq!((machine.v(6, 39), machine.v(7, 39)), (0, of(12)));
    let machine = machine.run("v_mfma_f64_4x4x4f64 v[6:7], v[0:1], v[2:3], v[8:9] blgp:1");
    assert_eq!(f64::from_bits(u64::from(machine.v(7, 39)) << 32), -12.0);
}

#[test]
fn packed_singles() {
    let values = [f(1.0), f(2.0), f(3.0), f(4.0), f(0.5), f(0.25)];
    let run = |text| {
        let machine = Machine::with_lanes("gfx90a", 64).vgprs(&values).run(text);
        [machine.v(6, 0), machine.v(7, 0)]
    };
    assert_eq!(run("v_pk_fma_f32 v[6:7], v[0:1], v[2:3], v[4:5]"), [f(3.5), f(8.25)]);
    assert_eq!(run("v_pk_add_f32 v[6:7], v[0:1], v[2:3] op_sel:[1,0] op_sel_hi:[0,1]"), [f(5.0), f(5.0)]);
    assert_eq!(run("v_pk_mul_f32 v[6:7], v[0:1], v[2:3] neg_lo:[1,0]"), [f(-3.0), f(8.0)]);
    assert_eq!(run("v_pk_mul_f32 v[6:7], v[0:1], 2.0"), [f(2.0), f(4.0)]);
    assert_eq!(run("v_pk_mov_b32 v[6:7], v[0:1], v[2:3] op_sel:[1,0]"), [f(2.0), f(3.0)]);
}
