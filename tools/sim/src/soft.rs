//! Floating-point arithmetic in software. Each function computes the exact result and rounds it once, in any
//! of the four rounding modes.
//!
//! The emulator uses the host's float arithmetic where it gives the same results, that is, for rounding to
//! nearest even without NaNs. It uses this module in all other cases. The functions take and return the bits
//! of values, in the low bits of a `u64`.

/// Rounding modes. Their numbers are those in the MODE register (Vega ISA, "MODE register", FP_ROUND).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Rounding {
    #[default]
    NearestEven,
    Up,
    Down,
    TowardZero,
}

/// How the results of an operation are rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Round {
    pub(crate) mode: Rounding,
    /// Whether a result that overflows becomes the largest finite number instead of infinity (`FP16_OVFL`).
    pub(crate) saturate: bool,
}

impl Round {
    pub(crate) const NEAREST: Round = Round { mode: Rounding::NearestEven, saturate: false };
    pub(crate) const TOWARD_ZERO: Round = Round { mode: Rounding::TowardZero, saturate: false };

    /// Decodes the two-bit field of MODE for a rounding mode.
    pub(crate) fn of_bits(bits: u32) -> Round {
        let mode = match bits & 3 {
            0 => Rounding::NearestEven,
            1 => Rounding::Up,
            2 => Rounding::Down,
            _ => Rounding::TowardZero,
        };
        Round { mode, saturate: false }
    }
}

/// A binary floating-point format.
pub(crate) trait Format {
    /// Number of bits of the fraction field.
    const FRACTION: u32;
    /// Number of bits of the exponent field.
    const EXPONENT: u32;
    const SIGN: u64 = 1 << (Self::FRACTION + Self::EXPONENT);
    const INFINITY: u64 = ((1 << Self::EXPONENT) - 1) << Self::FRACTION;
    const QUIET: u64 = 1 << (Self::FRACTION - 1);
    /// The NaN that is the result of an invalid operation. The manuals do not specify its sign. This is the
    /// usual default of IEEE 754.
    const DEFAULT_NAN: u64 = Self::INFINITY | Self::QUIET;
    const BIAS: i32 = (1 << (Self::EXPONENT - 1)) - 1;
}

pub(crate) struct Half;
pub(crate) struct Single;
pub(crate) struct Double;

impl Format for Half {
    const FRACTION: u32 = 10;
    const EXPONENT: u32 = 5;
}
impl Format for Single {
    const FRACTION: u32 = 23;
    const EXPONENT: u32 = 8;
}
impl Format for Double {
    const FRACTION: u32 = 52;
    const EXPONENT: u32 = 11;
}

/// Bit number of the most significant bit of a normalised significand.
const TOP: u32 = 125;

/// A finite number other than zero: `significand * 2^(exponent - TOP)`.
#[derive(Clone, Copy, Debug)]
struct Finite {
    negative: bool,
    exponent: i32,
    significand: u128,
}

#[derive(Clone, Copy, Debug)]
enum Number {
    Nan,
    Infinite(bool),
    Zero(bool),
    Finite(Finite),
}

impl Number {
    fn negative(self) -> bool {
        match self {
            Number::Nan => false,
            Number::Infinite(negative) | Number::Zero(negative) => negative,
            Number::Finite(finite) => finite.negative,
        }
    }
}

fn unpack<F: Format>(bits: u64) -> Number {
    let negative = bits & F::SIGN != 0;
    let magnitude = bits & (F::SIGN - 1);
    let fraction = magnitude & ((1 << F::FRACTION) - 1);
    let exponent = (magnitude >> F::FRACTION) as i32;
    match magnitude {
        0 => Number::Zero(negative),
        _ if magnitude == F::INFINITY => Number::Infinite(negative),
        _ if magnitude > F::INFINITY => Number::Nan,
        _ => {
            let hidden = if exponent == 0 { 0 } else { 1 << F::FRACTION };
            let exponent = exponent.max(1) - F::BIAS;
            let significand = u128::from(fraction | hidden) << (TOP - F::FRACTION);
            Number::Finite(normalised(Finite { negative, exponent, significand }))
        }
    }
}

/// Shifts a significand right by `count` bits. If a 1 bit is shifted out, sets the lowest bit of the result,
/// so that later rounding sees that the result is inexact.
fn shift_jam(significand: u128, count: u32) -> u128 {
    match count {
        0 => significand,
        1..=127 => significand >> count | u128::from(significand << (128 - count) != 0),
        _ => u128::from(significand != 0),
    }
}

fn normalised(mut number: Finite) -> Finite {
    let zeros = number.significand.leading_zeros();
    let wanted = 127 - TOP;
    if zeros < wanted {
        number.significand = shift_jam(number.significand, wanted - zeros);
        number.exponent += (wanted - zeros) as i32;
    } else {
        number.significand <<= zeros - wanted;
        number.exponent -= (zeros - wanted) as i32;
    }
    number
}

/// Rounds a number to the format in the given rounding mode, and returns its bits.
fn pack<F: Format>(number: Finite, round: Round) -> u64 {
    let number = normalised(number);
    let sign = if number.negative { F::SIGN } else { 0 };
    let least = 1 - F::BIAS;
    let exponent = number.exponent.max(least);
    let shift = (TOP - F::FRACTION).saturating_add((exponent - number.exponent) as u32).min(127);
    let rest = number.significand & ((1 << shift) - 1);
    let half = 1u128 << (shift - 1);
    let mut units = (number.significand >> shift) as u64;
    units += u64::from(match round.mode {
        Rounding::NearestEven => rest > half || rest == half && units & 1 != 0,
        Rounding::Up => rest != 0 && !number.negative,
        Rounding::Down => rest != 0 && number.negative,
        Rounding::TowardZero => false,
    });
    if exponent > F::BIAS {
        return sign | overflow::<F>(number.negative, round);
    }
    // The exponent and the units are added, not combined by OR, so that a carry out of the fraction
    // increments the exponent.
    let magnitude = (((exponent + F::BIAS - 1) as u64) << F::FRACTION) + units;
    sign | if magnitude >= F::INFINITY { overflow::<F>(number.negative, round) } else { magnitude }
}

fn overflow<F: Format>(negative: bool, round: Round) -> u64 {
    let to_largest = match round.mode {
        Rounding::NearestEven => false,
        Rounding::Up => negative,
        Rounding::Down => !negative,
        Rounding::TowardZero => true,
    };
    F::INFINITY - u64::from(to_largest || round.saturate)
}

fn special<F: Format>(number: Number, round: Round) -> u64 {
    let sign = if number.negative() { F::SIGN } else { 0 };
    match number {
        Number::Nan => F::DEFAULT_NAN,
        Number::Infinite(_) => sign | F::INFINITY,
        Number::Zero(_) => sign,
        Number::Finite(finite) => pack::<F>(finite, round),
    }
}

/// Returns the result of an operation if one of its sources is a NaN. The result is the first source that is
/// a NaN, made quiet. Returns `None` if no source is a NaN.
pub(crate) fn nan_of<F: Format>(sources: &[u64]) -> Option<u64> {
    sources.iter().find(|&&bits| bits & (F::SIGN - 1) > F::INFINITY).map(|bits| bits | F::QUIET)
}

fn sum(a: Number, b: Number, round: Round) -> Number {
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
        (Number::Infinite(a), Number::Infinite(b)) if a != b => Number::Nan,
        (Number::Infinite(_), _) => a,
        (_, Number::Infinite(_)) => b,
        (Number::Zero(x), Number::Zero(y)) if x != y => Number::Zero(round.mode == Rounding::Down),
        (_, Number::Zero(_)) => a,
        (Number::Zero(_), _) => b,
        (Number::Finite(a), Number::Finite(b)) => finite_sum(a, b, round),
    }
}

fn finite_sum(a: Finite, b: Finite, round: Round) -> Number {
    let swapped = (a.exponent, a.significand) < (b.exponent, b.significand);
    let (large, small) = if swapped { (b, a) } else { (a, b) };
    let aligned = shift_jam(small.significand, (large.exponent - small.exponent) as u32);
    let significand = match large.negative == small.negative {
        true => large.significand + aligned,
        false => large.significand - aligned,
    };
    match significand {
        0 => Number::Zero(round.mode == Rounding::Down),
        _ => Number::Finite(normalised(Finite { significand, ..large })),
    }
}

/// Returns the exact product of two numbers. Nothing has to be rounded, because the product of two 53-bit
/// significands has at most 106 bits, which fit in a `u128`.
fn product(a: Number, b: Number) -> Number {
    let negative = a.negative() != b.negative();
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
        (Number::Infinite(_), Number::Zero(_)) | (Number::Zero(_), Number::Infinite(_)) => Number::Nan,
        (Number::Infinite(_), _) | (_, Number::Infinite(_)) => Number::Infinite(negative),
        (Number::Zero(_), _) | (_, Number::Zero(_)) => Number::Zero(negative),
        (Number::Finite(a), Number::Finite(b)) => {
            let significand = (a.significand >> 63) * (b.significand >> 63);
            let exponent = a.exponent + b.exponent + 1;
            Number::Finite(normalised(Finite { negative, exponent, significand }))
        }
    }
}

pub(crate) fn add<F: Format>(round: Round, a: u64, b: u64) -> u64 {
    nan_of::<F>(&[a, b]).unwrap_or_else(|| special::<F>(sum(unpack::<F>(a), unpack::<F>(b), round), round))
}

pub(crate) fn sub<F: Format>(round: Round, a: u64, b: u64) -> u64 {
    nan_of::<F>(&[a, b]).unwrap_or_else(|| add::<F>(round, a, b ^ F::SIGN))
}

pub(crate) fn mul<F: Format>(round: Round, a: u64, b: u64) -> u64 {
    nan_of::<F>(&[a, b]).unwrap_or_else(|| special::<F>(product(unpack::<F>(a), unpack::<F>(b)), round))
}

/// Returns `a * b + c`, rounded once. If the addend is a NaN, the result is this NaN, even if the product is
/// invalid (zero times infinity).
pub(crate) fn fma<F: Format>(round: Round, a: u64, b: u64, c: u64) -> u64 {
    nan_of::<F>(&[a, b, c]).unwrap_or_else(|| {
        let product = product(unpack::<F>(a), unpack::<F>(b));
        special::<F>(sum(product, unpack::<F>(c), round), round)
    })
}

/// Computes `(a * b + c) * 2^power`, rounded once.
pub(crate) fn fma_scaled<F: Format>(round: Round, a: u64, b: u64, c: u64, power: i32) -> u64 {
    nan_of::<F>(&[a, b, c]).unwrap_or_else(|| {
        let product = product(unpack::<F>(a), unpack::<F>(b));
        match sum(product, unpack::<F>(c), round) {
            Number::Finite(sum) => pack::<F>(Finite { exponent: sum.exponent + power, ..sum }, round),
            other => special::<F>(other, round),
        }
    })
}

/// Converts a number from format `A` to format `B`. A NaN keeps the upper bits of its payload and becomes
/// quiet.
pub(crate) fn convert<A: Format, B: Format>(round: Round, a: u64) -> u64 {
    match unpack::<A>(a) {
        Number::Nan => {
            let sign = if a & A::SIGN != 0 { B::SIGN } else { 0 };
            let fraction = a & ((1 << A::FRACTION) - 1);
            let fraction = match A::FRACTION > B::FRACTION {
                true => fraction >> (A::FRACTION - B::FRACTION),
                false => fraction << (B::FRACTION - A::FRACTION),
            };
            sign | B::DEFAULT_NAN | fraction
        }
        number => special::<B>(number, round),
    }
}

/// Converts an integer to the format. It is rounded once.
pub(crate) fn from_int<F: Format>(round: Round, value: i128) -> u64 {
    if value == 0 {
        return 0;
    }
    let significand = value.unsigned_abs();
    pack::<F>(Finite { negative: value < 0, exponent: TOP as i32, significand }, round)
}

/// Computes `a * 2^power`.
pub(crate) fn scale<F: Format>(round: Round, a: u64, power: i32) -> u64 {
    match unpack::<F>(a) {
        Number::Nan => a | F::QUIET,
        Number::Finite(finite) => {
            let exponent = finite.exponent.saturating_add(power.clamp(-10_000, 10_000));
            pack::<F>(Finite { exponent, ..finite }, round)
        }
        number => special::<F>(number, round),
    }
}

/// Rounds a number to an integer in the given rounding mode. Returns `None` for a NaN.
pub(crate) fn to_int<F: Format>(round: Round, a: u64) -> Option<i128> {
    Some(match unpack::<F>(a) {
        Number::Nan => return None,
        Number::Zero(_) => 0,
        Number::Infinite(negative) => {
            if negative {
                i128::MIN
            } else {
                i128::MAX
            }
        }
        Number::Finite(Finite { negative, exponent, .. }) if exponent > 120 => {
            if negative {
                i128::MIN
            } else {
                i128::MAX
            }
        }
        Number::Finite(Finite { negative, exponent, significand }) => {
            let shift = (TOP as i32 - exponent).min(127) as u32;
            let (units, rest) = (significand >> shift, significand & ((1 << shift) - 1));
            let half = (1u128 << shift) >> 1;
            let up = match round.mode {
                Rounding::NearestEven => rest > half || rest == half && rest != 0 && units & 1 != 0,
                Rounding::Up => rest != 0 && !negative,
                Rounding::Down => rest != 0 && negative,
                Rounding::TowardZero => false,
            };
            let units = (units + u128::from(up)) as i128;
            if negative { -units } else { units }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns numbers of all kinds and sizes, from a fixed seed.
    fn samples<F: Format>(count: usize) -> Vec<u64> {
        let mut random = support::Random::new(1);
        let mut next = move || random.bits();
        let mut all =
            vec![0, 1, F::QUIET, F::INFINITY, F::INFINITY - 1, F::INFINITY | F::QUIET, 1 << F::FRACTION];
        all.extend((0..count).map(|_| next() & (F::SIGN | (F::SIGN - 1))));
        // Numbers with close exponents, whose sums cancel.
        let one = (F::BIAS as u64) << F::FRACTION;
        all.extend((0..count).map(|_| {
            (one + (next() & ((4 << F::FRACTION) - 1))) | if next() & 1 != 0 { F::SIGN } else { 0 }
        }));
        let negative: Vec<u64> = all.iter().map(|bits| bits ^ F::SIGN).collect();
        all.into_iter().chain(negative).map(|bits| bits & (F::SIGN | (F::SIGN - 1))).collect()
    }

    fn same32(what: &str, got: u64, host: f32) {
        let got = f32::from_bits(got as u32);
        assert!(
            got.to_bits() == host.to_bits() || got.is_nan() && host.is_nan(),
            "{what}: {got:e}, host {host:e}"
        );
    }

    fn same64(what: &str, got: u64, host: f64) {
        let got = f64::from_bits(got);
        assert!(
            got.to_bits() == host.to_bits() || got.is_nan() && host.is_nan(),
            "{what}: {got:e}, host {host:e}"
        );
    }

    #[test]
    fn nearest_is_what_the_host_does() {
        let near = Round::NEAREST;
        for &a in &samples::<Single>(60) {
            let x = f32::from_bits(a as u32);
            same64("widen", convert::<Single, Double>(near, a), f64::from(x));
            for &b in &samples::<Single>(60) {
                let y = f32::from_bits(b as u32);
                same32(&format!("{x:e}+{y:e}"), add::<Single>(near, a, b), x + y);
                same32("sub", sub::<Single>(near, a, b), x - y);
                same32("mul", mul::<Single>(near, a, b), x * y);
                same32("fma", fma::<Single>(near, a, b, a ^ b), x.mul_add(y, f32::from_bits((a ^ b) as u32)));
            }
        }
        for &a in &samples::<Double>(60) {
            let x = f64::from_bits(a);
            same32("narrow", convert::<Double, Single>(near, a), x as f32);
            for &b in &samples::<Double>(60) {
                let y = f64::from_bits(b);
                same64("add", add::<Double>(near, a, b), x + y);
                same64("mul", mul::<Double>(near, a, b), x * y);
                same64(
                    "fma",
                    fma::<Double>(near, a, b, b ^ F64_ONE),
                    x.mul_add(y, f64::from_bits(b ^ F64_ONE)),
                );
            }
        }
    }

    const F64_ONE: u64 = 0x3ff0_0000_0000_0000;

    /// Checks that the directed rounding modes enclose the exact value, and are one unit apart unless the
    /// result is exact.
    #[test]
    fn directed_modes_enclose() {
        let mode = |mode| Round { mode, saturate: false };
        for &a in &samples::<Single>(80) {
            for &b in &samples::<Single>(80) {
                let (x, y) = (f64::from(f32::from_bits(a as u32)), f64::from(f32::from_bits(b as u32)));
                // The product is exact in double precision.
                let exact = x * y;
                if exact.is_nan() {
                    continue;
                }
                let value = |m| f64::from(f32::from_bits(mul::<Single>(mode(m), a, b) as u32));
                let (down, up, zero) =
                    (value(Rounding::Down), value(Rounding::Up), value(Rounding::TowardZero));
                assert!(down <= exact && exact <= up, "{x:e} * {y:e}: {down:e} .. {up:e}");
                assert_eq!(zero, if exact < 0.0 { up } else { down });
                let nearest = value(Rounding::NearestEven);
                assert!(nearest == down || nearest == up);
                assert_eq!(down == up, down == exact);
            }
        }
    }

    #[test]
    fn halves() {
        let near = Round::NEAREST;
        for bits in 0..=0xffff_u64 {
            let host = half::f16::from_bits(bits as u16);
            same32("widen", convert::<Half, Single>(near, bits), host.to_f32());
        }
        assert_eq!(convert::<Single, Half>(near, 65520f32.to_bits().into()), 0x7c00);
        assert_eq!(
            convert::<Single, Half>(Round { saturate: true, ..near }, 65520f32.to_bits().into()),
            0x7bff
        );
        assert_eq!(convert::<Single, Half>(Round::TOWARD_ZERO, 1e9f32.to_bits().into()), 0x7bff);
        assert_eq!(convert::<Single, Half>(near, 1e-9f32.to_bits().into()), 0);
        assert_eq!(convert::<Single, Half>(Round::of_bits(1), 1e-9f32.to_bits().into()), 1);
        assert_eq!(convert::<Single, Half>(Round::of_bits(2), 1e-9f32.to_bits().into()), 0);
    }

    #[test]
    fn integers() {
        let value = |bits: u32, mode: u32| to_int::<Single>(Round::of_bits(mode), bits.into());
        assert_eq!(value(2.5f32.to_bits(), 0), Some(2));
        assert_eq!(value(3.5f32.to_bits(), 0), Some(4));
        assert_eq!(value((-2.5f32).to_bits(), 1), Some(-2));
        assert_eq!(value((-2.5f32).to_bits(), 2), Some(-3));
        assert_eq!(value((-2.5f32).to_bits(), 3), Some(-2));
        assert_eq!(value(1e-30f32.to_bits(), 1), Some(1));
        assert_eq!(value(f32::NAN.to_bits(), 0), None);
        assert_eq!(from_int::<Single>(Round::NEAREST, 16_777_217), 16_777_216f32.to_bits().into());
        assert_eq!(from_int::<Single>(Round::of_bits(1), 16_777_217), 16_777_218f32.to_bits().into());
        assert_eq!(from_int::<Double>(Round::NEAREST, -3), (-3f64).to_bits());
    }

    #[test]
    fn scaling() {
        assert_eq!(scale::<Single>(Round::NEAREST, 1.5f32.to_bits().into(), 3), 12f32.to_bits().into());
        assert_eq!(scale::<Single>(Round::NEAREST, 1.5f32.to_bits().into(), i32::MAX), Single::INFINITY);
        assert_eq!(scale::<Single>(Round::NEAREST, 1.5f32.to_bits().into(), i32::MIN), 0);
        assert_eq!(scale::<Single>(Round::NEAREST, 1.5f32.to_bits().into(), -149), 2);
    }
}
