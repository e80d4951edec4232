//! Operators and bit built-ins of every type against Rust's own arithmetic.

use crate::harness::run_bytes;

/// How a type is read and written.
pub trait Number: Copy + PartialEq + std::fmt::Debug + 'static {
    const NAME: &'static str;
    fn bytes(self) -> Vec<u8>;
    fn read(bytes: &[u8]) -> Self;
    fn same(self, other: Self) -> bool {
        self == other
    }
}

macro_rules! numbers {
    ($($ty:ident)*) => { $(
        impl Number for $ty {
            const NAME: &'static str = stringify!($ty);
            fn bytes(self) -> Vec<u8> { self.to_le_bytes().to_vec() }
            fn read(bytes: &[u8]) -> Self { $ty::from_le_bytes(bytes.try_into().unwrap()) }
        }
    )* };
}
numbers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! floats {
    ($($ty:ident)*) => { $(
        impl Number for $ty {
            const NAME: &'static str = stringify!($ty);
            fn bytes(self) -> Vec<u8> { self.to_le_bytes().to_vec() }
            fn read(bytes: &[u8]) -> Self { $ty::from_le_bytes(bytes.try_into().unwrap()) }
            /// All NaNs are one; zeros are not.
            fn same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits() || self.is_nan() && other.is_nan()
            }
        }
    )* };
}
floats!(f32 f64);

/// An expression over `a`, `b` and the `u32` `s` (`$TY` is the type's name), and its meaning; `None` where it is unspecified.
pub type Row<T, R> = (&'static str, fn(T, T, u32) -> Option<R>);

/// Runs `out = expression` for all operands and compares.
pub fn check<T: Number, R: Number>(operands: &[(T, T)], rows: &[Row<T, R>]) {
    let lanes = operands.len().next_multiple_of(64);
    let at = |n: usize| operands[n % operands.len()];
    let shift = |n: usize| (n as u32).wrapping_mul(7) % 67;
    let mut body = String::new();
    for (n, (expression, _)) in rows.iter().enumerate() {
        body += &format!("    out[{} + i] = {};\n", n * lanes, expression.replace("$TY", T::NAME));
    }
    let source = format!(
        "#[workgroup_size(64)]\nkernel t(aa: *global {t}, bb: *global {t}, ss: *global u32, out: *global {r}) {{\n    \
         let i = global_id(0);\n    let a = aa[i]; let b = bb[i]; let s = ss[i];\n{body}}}\n",
        t = T::NAME,
        r = R::NAME
    );
    let inputs = [
        ("aa", (0..lanes).flat_map(|n| at(n).0.bytes()).collect::<Vec<u8>>()),
        ("bb", (0..lanes).flat_map(|n| at(n).1.bytes()).collect()),
        ("ss", (0..lanes).flat_map(|n| shift(n).bytes()).collect()),
    ];
    let size = size_of::<R>();
    for (how, out) in run_bytes(&source, lanes as u32, &inputs, rows.len() * lanes * size) {
        for (n, (expression, meaning)) in rows.iter().enumerate() {
            for lane in 0..lanes {
                let ((a, b), s) = (at(lane), shift(lane));
                let found = R::read(&out[(n * lanes + lane) * size..][..size]);
                if let Some(wanted) = meaning(a, b, s) {
                    let text = format!("{how}: {}: {expression} with {a:?} {b:?} {s}", T::NAME);
                    assert!(found.same(wanted), "{text}: {found:?}, not {wanted:?}");
                }
            }
        }
    }
}

/// Pairs of numbers: borders, small ones, random bits.
fn bits(count: u64) -> Vec<(u64, u64)> {
    let edges = [0, 1, 2, 3, 7, 10, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
    let wide = [0x7fff_ffff_ffff_ffff, 1 << 63, u64::MAX, u64::MAX - 6, 1 << 32, 0xffff_ffff_0000_0001];
    let edges: Vec<u64> = edges.into_iter().chain(wide).collect();
    let mut pairs: Vec<_> = edges.iter().flat_map(|&a| edges.iter().map(move |&b| (a, b))).collect();
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let x = state ^ state >> 31;
        // Of all sizes.
        x >> (state >> 58 & 63)
    };
    pairs.extend((0..count).map(|_| (next(), next())));
    pairs
}

macro_rules! integer_test {
    ($name:ident, $ty:ident, $unsigned:ident, $size:expr) => {
        #[test]
        fn $name() {
            let operands: Vec<($ty, $ty)> = bits(200).iter().map(|&(a, b)| (a as $ty, b as $ty)).collect();
            check::<$ty, $ty>(
                &operands,
                &[
                    ("a + b", |a, b, _| Some(a.wrapping_add(b))),
                    ("a - b", |a, b, _| Some(a.wrapping_sub(b))),
                    ("a * b", |a, b, _| Some(a.wrapping_mul(b))),
                    ("a / b", |a, b, _| (b != 0).then(|| a.wrapping_div(b))),
                    ("a % b", |a, b, _| (b != 0).then(|| a.wrapping_rem(b))),
                    ("a / 10", |a, _, _| Some(a / 10)),
                    ("a % 7", |a, _, _| Some(a % 7)),
                    ("a / 8 + a % 16", |a, _, _| Some((a / 8).wrapping_add(a % 16))),
                    ("a & b", |a, b, _| Some(a & b)),
                    ("a | b", |a, b, _| Some(a | b)),
                    ("a ^ b", |a, b, _| Some(a ^ b)),
                    ("!a", |a, _, _| Some(!a)),
                    ("a << s", |a, _, s| Some(a << (s % $size))),
                    ("a >> s", |a, _, s| Some(a >> (s % $size))),
                    ("a << 3u32", |a, _, _| Some(a << 3)),
                    ("a >> 5u32", |a, _, _| Some(a >> 5)),
                    ("min(a, b)", |a, b, _| Some(a.min(b))),
                    ("max(a, b)", |a, b, _| Some(a.max(b))),
                    ("clamp(a, 3, 100)", |a, _, _| Some(a.clamp(3, 100))),
                    ("(a < b) as $TY", |a, b, _| Some((a < b) as $ty)),
                    ("(a <= b) as $TY", |a, b, _| Some((a <= b) as $ty)),
                    ("(a > b) as $TY", |a, b, _| Some((a > b) as $ty)),
                    ("(a >= b) as $TY", |a, b, _| Some((a >= b) as $ty)),
                    ("(a == b) as $TY", |a, b, _| Some((a == b) as $ty)),
                    ("(a != b) as $TY", |a, b, _| Some((a != b) as $ty)),
                    ("select(a < b, a, b)", |a, b, _| Some(if a < b { a } else { b })),
                ],
            );
        }
    };
}

integer_test!(operators_i8, i8, u8, 8);
integer_test!(operators_u8, u8, u8, 8);
integer_test!(operators_i16, i16, u16, 16);
integer_test!(operators_u16, u16, u16, 16);
integer_test!(operators_i32, i32, u32, 32);
integer_test!(operators_u32, u32, u32, 32);
integer_test!(operators_i64, i64, u64, 64);
integer_test!(operators_u64, u64, u64, 64);

macro_rules! bits_test {
    ($name:ident, $ty:ident, $size:expr) => {
        #[test]
        fn $name() {
            let operands: Vec<($ty, $ty)> = bits(200).iter().map(|&(a, b)| (a as $ty, b as $ty)).collect();
            check::<$ty, $ty>(
                &operands,
                &[
                    ("popcount(a)", |a, _, _| Some(a.count_ones() as $ty)),
                    ("clz(a)", |a, _, _| Some(a.leading_zeros() as $ty)),
                    ("ctz(a)", |a, _, _| Some(a.trailing_zeros() as $ty)),
                    ("reverse_bits(a)", |a, _, _| Some(a.reverse_bits())),
                    ("rotl(a, s)", |a, _, s| Some(a.rotate_left(s % $size))),
                    ("rotr(a, s)", |a, _, s| Some(a.rotate_right(s % $size))),
                    ("rotl(a, 13)", |a, _, _| Some(a.rotate_left(13))),
                    ("mul_hi(a, b)", |a, b, _| Some((i128_of(a as i128, b as i128) >> $size) as $ty)),
                    ("mul_hi(a, 0x12345)", |a, _, _| Some((i128_of(a as i128, 0x12345) >> $size) as $ty)),
                ],
            );
        }
    };
}

/// A product of 64-bit numbers; unsigned ones may need bit 127.
fn i128_of(a: i128, b: i128) -> i128 {
    a.wrapping_mul(b)
}

bits_test!(bits_u32, u32, 32);
bits_test!(bits_i32, i32, 32);
bits_test!(bits_i64, i64, 64);

#[test]
fn bits_u64() {
    let operands = bits(200);
    check::<u64, u64>(
        &operands,
        &[
            ("popcount(a)", |a, _, _| Some(a.count_ones().into())),
            ("clz(a)", |a, _, _| Some(a.leading_zeros().into())),
            ("ctz(a)", |a, _, _| Some(a.trailing_zeros().into())),
            ("reverse_bits(a)", |a, _, _| Some(a.reverse_bits())),
            ("rotl(a, s)", |a, _, s| Some(a.rotate_left(s % 64))),
            ("rotr(a, s)", |a, _, s| Some(a.rotate_right(s % 64))),
            ("mul_hi(a, b)", |a, b, _| Some(((u128::from(a) * u128::from(b)) >> 64) as u64)),
        ],
    );
}

#[test]
fn words_only() {
    let operands: Vec<(u32, u32)> = bits(200).iter().map(|&(a, b)| (a as u32, b as u32)).collect();
    check::<u32, u32>(
        &operands,
        &[
            ("mul24(a, b)", |a, b, _| Some((a & 0xff_ffff).wrapping_mul(b & 0xff_ffff))),
            ("mad24(a, b, s)", |a, b, s| Some((a & 0xff_ffff).wrapping_mul(b & 0xff_ffff).wrapping_add(s))),
            ("bfe(a, 3, 7)", |a, _, _| Some(a >> 3 & 0x7f)),
            ("bfe(a, b & 31, s & 15)", |a, b, s| Some(a >> (b & 31) & ((1 << (s & 15)) - 1))),
            ("bfi(a, b, s)", |a, b, s| Some(a & b | !a & s)),
            ("sad(a, b, s)", |a, b, s| Some(a.abs_diff(b).wrapping_add(s))),
            ("alignbit(a, b, s)", |a, b, s| Some(((u64::from(a) << 32 | u64::from(b)) >> (s % 32)) as u32)),
        ],
    );
    let operands: Vec<(i32, i32)> = operands.iter().map(|&(a, b)| (a as i32, b as i32)).collect();
    check::<i32, i32>(
        &operands,
        &[
            ("abs(a)", |a, _, _| Some(a.wrapping_abs())),
            ("-a", |a, _, _| Some(a.wrapping_neg())),
            ("mul24(a, b)", |a, b, _| Some((a << 8 >> 8).wrapping_mul(b << 8 >> 8))),
            ("bfe(a, 3, 7)", |a, _, _| Some(a << 22 >> 25)),
            ("sad(a, b, 1)", |a, b, _| Some((a.abs_diff(b) as i32).wrapping_add(1))),
        ],
    );
}

/// Floats: borders, denormals, infinities, NaN, random bits and random magnitudes near 1.
fn float_bits() -> Vec<(u64, u64)> {
    let edges = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1.5,
        2.5,
        -2.5,
        3.0,
        1e-310,
        -1e-40,
        1e-45,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1e38,
        3.4e38,
        1e300,
        8388609.5,
        4503599627370497.5,
        0.49999997,
        1.1754944e-38,
        2.2250738585072014e-308,
    ];
    let mut pairs: Vec<(u64, u64)> =
        edges.iter().flat_map(|a: &f64| edges.iter().map(move |b| (a.to_bits(), b.to_bits()))).collect();
    let mut state = 5u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state ^ state >> 29
    };
    for n in 0..1000 {
        let near =
            |x: u64| x & 0x800f_ffff_ffff_ffff | 0x3fe0_0000_0000_0000 | (x >> 3 & 0x0010_0000_0000_0000);
        let (a, b) = (next(), next());
        // A third of any exponent an f32 has, a third of any at all.
        let narrow = |x: u64| near(x) & !(0x7ff << 52) | (1023 - 140 + (x >> 8) % 270) << 52;
        pairs.push(match n % 3 {
            0 => (near(a), near(b)),
            1 => (narrow(a), narrow(b)),
            _ => (a, b),
        });
    }
    pairs
}

macro_rules! float_test {
    ($name:ident, $ty:ident, $of:expr, $below_one:expr) => {
        #[test]
        fn $name() {
            let of: fn(u64) -> $ty = $of;
            let operands: Vec<($ty, $ty)> = float_bits().iter().map(|&(a, b)| (of(a), of(b))).collect();
            check::<$ty, $ty>(
                &operands,
                &[
                    ("a + b", |a, b, _| Some(a + b)),
                    ("a - b", |a, b, _| Some(a - b)),
                    ("a * b", |a, b, _| Some(a * b)),
                    ("a / b", |a, b, _| Some(a / b)),
                    ("a / 3.0", |a, _, _| Some(a / 3.0)),
                    // Exact, as here: C's `fmod`.
                    ("a % b", |a, b, _| Some(a % b)),
                    ("b % a", |a, b, _| Some(b % a)),
                    ("a % (b * 3.0)", |a, b, _| Some(a % (b * 3.0))),
                    ("a % 0.1", |a, _, _| Some(a % 0.1)),
                    ("a % 1.0", |a, _, _| Some(a % 1.0)),
                    ("a % -1024.0", |a, _, _| Some(a % -1024.0)),
                    ("a % 0.25", |a, _, _| Some(a % 0.25)),
                    ("100.0 % b", |_, b, _| Some(100.0 % b)),
                    ("1e30 % 7.3", |_, _, _| Some(1e30 % 7.3)),
                    ("-a", |a, _, _| (!a.is_nan()).then_some(-a)),
                    ("abs(a)", |a, _, _| Some(a.abs())),
                    ("sqrt(a)", |a, _, _| Some(a.sqrt())),
                    ("rcp(a)", |a, _, _| Some(1.0 / a)),
                    ("fma(a, b, a)", |a, b, _| Some(a.mul_add(b, a))),
                    ("a * b + 1.5", |a, b, _| Some(a.mul_add(b, 1.5))),
                    ("floor(a)", |a, _, _| Some(a.floor())),
                    ("ceil(a)", |a, _, _| Some(a.ceil())),
                    ("trunc(a)", |a, _, _| Some(a.trunc())),
                    ("round(a)", |a, _, _| Some(a.round_ties_even())),
                    ("fract(a)", |a, _, _| {
                        let small = a.is_finite() && a != 0.0 && a.fract() != 0.0;
                        small.then(|| (a - a.floor()).min($below_one))
                    }),
                    ("min(a, b)", |a, b, _| (a != b).then_some(a.min(b))),
                    ("max(a, b)", |a, b, _| (a != b).then_some(a.max(b))),
                    ("copysign(a, b)", |a, b, _| (!b.is_nan()).then_some(a.copysign(b))),
                    ("step(a, b)", |a, b, _| Some(if b < a { 0.0 } else { 1.0 })),
                    ("mix(a, b, 0.25)", |a, b, _| Some((0.25 as $ty).mul_add(b - a, a))),
                    ("ldexp(a, s as i32 - 30)", |a, _, s| {
                        // Powers of two are exact; the product is rounded once.
                        Some(a * (2.0 as $ty).powi(s as i32 - 30))
                    }),
                    ("ldexp(frexp_mant(a), frexp_exp(a))", |a, _, _| Some(a)),
                    ("select(isnan(a), 1.0, 2.0)", |a, _, _| Some(if a.is_nan() { 1.0 } else { 2.0 })),
                    ("select(isinf(a), 1.0, 2.0)", |a, _, _| Some(if a.is_infinite() { 1.0 } else { 2.0 })),
                    ("select(a < b, 1.0, 2.0)", |a, b, _| Some(if a < b { 1.0 } else { 2.0 })),
                    ("select(a >= b, 1.0, 2.0)", |a, b, _| Some(if a >= b { 1.0 } else { 2.0 })),
                    ("select(!(a <= b), 1.0, 2.0)", |a, b, _| Some(if a <= b { 2.0 } else { 1.0 })),
                    ("select(a != b, 1.0, 2.0)", |a, b, _| Some(if a != b { 1.0 } else { 2.0 })),
                    ("select(a == b, 1.0, 2.0)", |a, b, _| Some(if a == b { 1.0 } else { 2.0 })),
                ],
            );
            check::<$ty, i32>(
                &operands,
                &[
                    ("a as i32", |a, _, _| Some(a as i32)),
                    ("a as i8 as i32", |a, _, _| Some((a as i8).into())),
                ],
            );
            check::<$ty, u32>(
                &operands,
                &[
                    ("a as u32", |a, _, _| Some(a as u32)),
                    ("a as u16 as u32", |a, _, _| Some((a as u16).into())),
                ],
            );
            check::<$ty, i64>(&operands, &[("a as i64", |a, _, _| Some(a as i64))]);
            check::<$ty, u64>(&operands, &[("a as u64", |a, _, _| Some(a as u64))]);
            check::<$ty, f32>(&operands, &[("a as f32", |a, _, _| Some(a as f32))]);
            check::<$ty, f64>(&operands, &[("a as f64", |a, _, _| Some(a as f64))]);
        }
    };
}

float_test!(floats_f32, f32, |bits| f64::from_bits(bits) as f32, 1.0 - f32::EPSILON / 2.0);
float_test!(floats_f64, f64, f64::from_bits, 1.0 - f64::EPSILON / 2.0);

macro_rules! to_float_test {
    ($name:ident, $($ty:ident)*) => {
        #[test]
        fn $name() {
            $(
                let operands: Vec<($ty, $ty)> = bits(300).iter().map(|&(a, b)| (a as $ty, b as $ty)).collect();
                check::<$ty, f32>(&operands, &[("a as f32", |a, _, _| Some(a as f32))]);
                check::<$ty, f64>(&operands, &[("a as f64", |a, _, _| Some(a as f64))]);
                check::<$ty, i8>(&operands, &[("a as i8", |a, _, _| Some(a as i8))]);
                check::<$ty, u16>(&operands, &[("a as u16", |a, _, _| Some(a as u16))]);
                check::<$ty, i32>(&operands, &[("a as i32", |a, _, _| Some(a as i32))]);
                check::<$ty, u64>(&operands, &[("a as u64", |a, _, _| Some(a as u64))]);
            )*
        }
    };
}

to_float_test!(conversions, i8 u8 i16 u16 i32 u32 i64 u64);
