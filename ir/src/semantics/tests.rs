//! Unit tests of the arithmetic.

use super::*;
use Type::{F32, F64, I32, I64};

fn f(x: f32) -> u64 {
    x.bits()
}

#[test]
fn integers_wrap_at_their_width() {
    assert_eq!(eval_bin(BinOp::Add, I32, 0xffff_ffff, 2), 1);
    assert_eq!(eval_bin(BinOp::Sub, I32, 0, 1), 0xffff_ffff);
    assert_eq!(eval_bin(BinOp::Mul, I64, 1 << 63, 2), 0);
    assert_eq!(eval_un(UnOp::Neg, I32, 1), 0xffff_ffff);
    assert_eq!(eval_un(UnOp::Not, Type::Bool, 1), 0);
    assert_eq!(eval_bin(BinOp::SMulHi, I32, 0xffff_ffff, 1), 0xffff_ffff);
    assert_eq!(eval_bin(BinOp::UMulHi, I32, 0xffff_ffff, 0xffff_ffff), 0xffff_fffe);
    assert_eq!(eval_bin(BinOp::UMulHi, I64, u64::MAX, u64::MAX), u64::MAX - 1);
}

#[test]
fn division_never_traps() {
    assert_eq!(eval_bin(BinOp::UDiv, I32, 7, 0), 0xffff_ffff);
    assert_eq!(eval_bin(BinOp::URem, I32, 7, 0), 7);
    assert_eq!(eval_bin(BinOp::SDiv, I32, 0x8000_0000, 0xffff_ffff), 0x8000_0000);
    assert_eq!(eval_bin(BinOp::SRem, I64, 1 << 63, u64::MAX), 0);
    assert_eq!(eval_bin(BinOp::SDiv, I32, 0xffff_fff9, 2), 0xffff_fffd); // -7 / 2 = -3
}

#[test]
fn shift_counts_are_modulo_the_width() {
    assert_eq!(eval_bin(BinOp::Shl, I32, 1, 33), 2);
    assert_eq!(eval_bin(BinOp::AShr, I32, 0x8000_0000, 31), 0xffff_ffff);
    assert_eq!(eval_bin(BinOp::LShr, I64, 1 << 63, 63), 1);
}

#[test]
fn bit_operations() {
    assert_eq!(eval_un(UnOp::Clz, I32, 0), 32);
    assert_eq!(eval_un(UnOp::Ctz, I64, 0), 64);
    assert_eq!(eval_un(UnOp::ReverseBits, I32, 1), 0x8000_0000);
    assert_eq!(eval_tern(TernOp::Fshr, I32, 0x1234_5678, 0x9abc_def0, 8), 0x789a_bcde);
    assert_eq!(eval_tern(TernOp::Sbfe, I32, 0xf0, 4, 4), 0xffff_ffff);
    assert_eq!(eval_tern(TernOp::Sbfe, I32, 0x7000_0000, 28, 16), 7); // the field ends at the top of the word
    assert_eq!(eval_tern(TernOp::Ubfe, I32, 0xf0, 4, 3), 7);
    assert_eq!(eval_bin(BinOp::SMul24, I32, 0x00ff_ffff, 5), 0xffff_fffb);
}

#[test]
fn minimum_prefers_numbers_and_orders_zeros() {
    let quiet = u64::from(f32::NAN.to_bits());
    assert_eq!(eval_bin(BinOp::FMin, F32, quiet, f(1.0)), f(1.0));
    assert_eq!(eval_bin(BinOp::FMax, F32, f(1.0), quiet), f(1.0));
    assert_eq!(eval_bin(BinOp::FMin, F32, f(0.0), f(-0.0)), f(-0.0));
    assert_eq!(eval_bin(BinOp::FMax, F32, f(-0.0), f(0.0)), f(0.0));
    assert_eq!(eval_bin(BinOp::FMin, F32, 0x7f80_0001, f(1.0)), 0x7fc0_0001);
    assert_eq!(eval_bin(BinOp::FMin, F32, f(2.0), f(1.0)), f(1.0));
}

#[test]
fn invalid_operations_make_the_default_nan() {
    let inf = f(f32::INFINITY);
    assert_eq!(eval_bin(BinOp::FSub, F32, inf, inf), 0x7fc0_0000);
    assert_eq!(eval_un(UnOp::FSqrt, F64, (-1.0f64).to_bits()), 0x7ff8 << 48);
    assert_eq!(eval_bin(BinOp::FAdd, F32, 0xff80_0001, inf), 0xffc0_0001);
}

#[test]
fn conversions_saturate() {
    assert_eq!(eval_cast(CastOp::FToS, F32, I32, f(1e20)), Some(0x7fff_ffff));
    assert_eq!(eval_cast(CastOp::FToU, F32, I32, f(-1.0)), Some(0));
    assert_eq!(eval_cast(CastOp::FToS, F32, I64, u64::from(f32::NAN.to_bits())), Some(0));
    assert_eq!(eval_cast(CastOp::SToF, I32, F32, 0xffff_ffff), Some(f(-1.0)));
    assert_eq!(eval_cast(CastOp::UToF, I64, F32, (1 << 25) + 3), Some(f(33554436.0)));
    assert_eq!(eval_cast(CastOp::Sext, Type::Bool, I64, 1), Some(u64::MAX));
    assert_eq!(eval_cast(CastOp::Sext8, I32, I32, 0x180), Some(0xffff_ff80));
    let generic = Type::Ptr(Space::Generic);
    assert_eq!(eval_cast(CastOp::SpaceCast, Type::Ptr(Space::Shared), generic, 0), None);
}

#[test]
fn frexp_takes_denormals_apart() {
    let tiny = f32::from_bits(1); // 2^-149 = 0.5 * 2^-148
    assert_eq!(eval_un(UnOp::FrexpMant, F32, f(tiny)), f(0.5));
    assert_eq!(eval_un(UnOp::FrexpExp, F32, f(tiny)), u64::from(-148i32 as u32));
    assert_eq!(eval_un(UnOp::FrexpExp, F64, 8.0f64.to_bits()), 4);
    assert_eq!(eval_un(UnOp::FrexpMant, F32, f(-3.0)), f(-0.75));
}

#[test]
fn denormals_are_kept_and_fma_rounds_once() {
    let tiny = f32::from_bits(3);
    assert_eq!(eval_bin(BinOp::FMul, F32, f(tiny), f(0.5)), 2);
    assert_eq!(eval_bin(BinOp::Ldexp, F32, f(1.0), u64::from(-149i32 as u32)), 1);
    let (a, b) = (1.0 + f32::EPSILON, 1.0 - f32::EPSILON);
    assert_eq!(eval_tern(TernOp::Fma, F32, f(a), f(b), f(-1.0)), f(-(f32::EPSILON * f32::EPSILON)));
    assert_eq!(eval_un(UnOp::FFract, F32, f(-1e-10)), 0x3f7f_ffff);
}

#[test]
fn comparisons_with_nan() {
    let nan = u64::from(f32::NAN.to_bits());
    for (cc, expected) in [(FloatCc::Oeq, false), (FloatCc::Une, true), (FloatCc::Uge, true)] {
        assert_eq!(eval_fcmp(cc, F32, nan, f(1.0)), expected);
    }
    assert!(!eval_fcmp(FloatCc::One, F32, f(1.0), f(1.0)));
    assert!(eval_icmp(IntCc::Slt, I32, 0x8000_0000, 0));
    assert!(!eval_icmp(IntCc::Ult, I32, 0x8000_0000, 0));
}

/// Checks operations on halves against exact sums, computed in units of 2^-48.
#[test]
fn halves_round_once() {
    const INFINITY: i128 = 65536 << 48;
    let units = |h: u16| {
        let size =
            if h & 0x7c00 == 0x7c00 { INFINITY as f64 } else { Half(h & 0x7fff).wide() * 2f64.powi(48) };
        if h >> 15 == 1 { -(size as i128) } else { size as i128 }
    };
    let nearest = |exact: i128, zero: u16| {
        let (mut low, mut high) = (0u16, 0x7c00u16);
        let size = exact.abs();
        while high - low > 1 {
            let middle = (low + high) / 2;
            if units(middle) <= size { low = middle } else { high = middle }
        }
        let (below, above) = (size - units(low), units(high) - size);
        let up = above < below || above == below && low & 1 == 1;
        let half = if size >= INFINITY { 0x7c00 } else { low + u16::from(up) };
        half | if exact == 0 { zero } else { u16::from(exact < 0) << 15 }
    };
    let mut state = 1u64;
    for n in 0..400_000u32 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let [a, mut b, mut c] = [state >> 16, state >> 32, state >> 48].map(|x| x as u16);
        if n % 2 == 0 {
            // Uses products that are close to a half, and addends that almost cancel them.
            b = 0x3c00 ^ (b & 0x87ff);
            let near = (units(a) * units(b)) >> 48;
            c = nearest(near, 0) ^ 0x8000 ^ (c & if n % 4 == 0 { 0x8c01 } else { 0x8000 });
        }
        if [a, b, c].iter().any(|h| h & 0x7c00 == 0x7c00) {
            continue;
        }
        let [x, y, z] = [a, b, c].map(u64::from);
        let product = (units(a) >> 24) * (units(b) >> 24);
        let signs = (a ^ b) & 0x8000;
        let zero = if signs == c & 0x8000 { signs } else { 0 };
        let wants = [
            (eval_tern(TernOp::Fma, Type::F16, x, y, z), nearest(product + units(c), zero)),
            (eval_bin(BinOp::FMul, Type::F16, x, y), nearest(product, signs)),
            (eval_bin(BinOp::FAdd, Type::F16, x, z), nearest(units(a) + units(c), a & c & 0x8000)),
        ];
        for (found, wanted) in wants {
            assert_eq!(found, wanted.into(), "{a:#x} {b:#x} {c:#x}");
        }
    }
}

#[test]
fn halves() {
    let h = |x: f64| u64::from(Half::nearest(x).0);
    assert_eq!(eval_bin(BinOp::FDiv, Type::F16, h(9.0), h(3.0)), h(3.0));
    assert_eq!(eval_un(UnOp::FFract, Type::F16, h(-1e-7)), 0x3bff);
    assert_eq!(eval_un(UnOp::FNeg, Type::F16, h(1.5)), h(-1.5));
    assert_eq!(eval_bin(BinOp::FMin, Type::F16, 0x7e00, h(2.0)), h(2.0));
    assert_eq!(eval_cast(CastOp::SToF, I32, Type::F16, 0xffff_ffff), Some(h(-1.0)));
    assert_eq!(eval_cast(CastOp::UToF, I64, Type::F16, u64::MAX), Some(0x7c00));
    // The result is rounded once: rounding to f32 first would give 1 + 2^-10.
    let above = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
    assert_eq!(eval_cast(CastOp::FTrunc, F64, Type::F16, above.to_bits()), Some(h(1.0 + 2f64.powi(-10))));
    let below = 1.0 + 2f64.powi(-11) - 2f64.powi(-40);
    assert_eq!(eval_cast(CastOp::FTrunc, F64, Type::F16, below.to_bits()), Some(h(1.0)));
    assert_eq!(eval_cast(CastOp::FExt, Type::F16, F32, 0xfd01), Some(0xffe0_2000 & 0xffff_ffff));
    assert_eq!(eval_cast(CastOp::FTrunc, F32, Type::F16, 0x7f80_0001), Some(0x7e00));
    assert_eq!(eval_cast(CastOp::HalfBits, Type::F16, I32, 0xbc00), Some(0xbc00));
    assert_eq!(eval_cast(CastOp::BitsHalf, I32, Type::F16, 0x1234_3c00), Some(0x3c00));
}

#[test]
fn parts_of_words() {
    let (a, b) = (0xff02_7f80, 0x0103_0203); // -1 2 127 -128, 1 3 2 3
    assert_eq!(eval_tern(TernOp::SDot4, I32, a, b, 10), (10 - 1 + 6 + 254 - 384i32) as u32 as u64);
    assert_eq!(eval_tern(TernOp::UDot4, I32, a, b, 10), 10 + 255 + 6 + 254 + 384);
    assert_eq!(eval_tern(TernOp::UDot2, I32, 0x0002_0003, 0x0005_0007, 1), 32);
    assert_eq!(eval_tern(TernOp::SDot2, I32, 0xffff_0003, 0x0005_0007, 0), 16);
    assert_eq!(eval_tern(TernOp::SDot8, I32, 0xf000_0001, 0x3000_0002, 0), 0xffff_ffff);
    assert_eq!(eval_tern(TernOp::Perm, I32, 0x8877_6655, 0x4433_22ff, 0x0c0d_0407), 0x00ff_5588);
    assert_eq!(eval_tern(TernOp::Perm, I32, 0x8877_6655, 0x4433_82ff, 0x0b0a_0908), 0xff00_00ff);
    assert_eq!(eval_bin(BinOp::PkAdd, I32, 0xffff_8001, 0x0001_8001), 0x0000_0002);
    assert_eq!(eval_bin(BinOp::PkSMin, I32, 0xffff_0005, 0x0001_8001), 0xffff_8001);
    assert_eq!(eval_bin(BinOp::PkAShr, I32, 0x8000_0100, 0x0011_0004), 0xc000_0010);
    assert_eq!(eval_bin(BinOp::PkFMul, I32, 0x4000_3c00, 0x4200_c000), 0x4600_c000);
    assert_eq!(eval_tern(TernOp::PkFma, I32, 0x4000_3c00, 0x4200_c000, 0x3c00_3c00), 0x4700_bc00);
}

#[test]
fn wrapping_counters() {
    assert_eq!(eval_rmw(RmwOp::Inc, I32, 5, 5), 0);
    assert_eq!(eval_rmw(RmwOp::Inc, I32, 4, 5), 5);
    assert_eq!(eval_rmw(RmwOp::Dec, I32, 0, 5), 5);
    assert_eq!(eval_rmw(RmwOp::Dec, I32, 6, 5), 5);
    assert_eq!(eval_rmw(RmwOp::Dec, I32, 3, 5), 2);
    assert_eq!(eval_rmw(RmwOp::SMax, I32, 0xffff_ffff, 0), 0);
}
