//! Mathematical functions to some 95 bits, in pairs of `f64`, by other ways than the library's: long series, Newton's
//! method on the inverse function, continued fractions. `libm` is asked as well, so that a blunder here shows.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// An unevaluated sum; the second is at most half a unit of the first.
#[derive(Clone, Copy, Debug)]
pub struct Pair(pub f64, pub f64);

/// `0 * 2^1`: what has more range than a `f64`.
#[derive(Clone, Copy, Debug)]
pub struct Scaled(pub Pair, pub i32);

fn sum(a: f64, b: f64) -> Pair {
    let s = a + b;
    let t = s - a;
    Pair(s, (a - (s - t)) + (b - t))
}

impl From<f64> for Pair {
    fn from(x: f64) -> Pair {
        Pair(x, 0.0)
    }
}

impl Neg for Pair {
    type Output = Pair;
    fn neg(self) -> Pair {
        Pair(-self.0, -self.1)
    }
}

impl Add for Pair {
    type Output = Pair;
    fn add(self, b: Pair) -> Pair {
        let (s, t) = (sum(self.0, b.0), sum(self.1, b.1));
        let s = sum(s.0, s.1 + t.0);
        sum(s.0, s.1 + t.1)
    }
}

impl Sub for Pair {
    type Output = Pair;
    fn sub(self, b: Pair) -> Pair {
        self + -b
    }
}

impl Mul for Pair {
    type Output = Pair;
    fn mul(self, b: Pair) -> Pair {
        let p = self.0 * b.0;
        let e = self.0.mul_add(b.0, -p);
        sum(p, e + (self.0 * b.1 + self.1 * b.0))
    }
}

impl Div for Pair {
    type Output = Pair;
    fn div(self, b: Pair) -> Pair {
        let q = self.0 / b.0;
        let rest = self - b * q.into();
        let r = rest.0 / b.0;
        let rest = rest - b * r.into();
        sum(q, r) + (rest.0 / b.0).into()
    }
}

const LN_2: Pair = Pair(std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
const LN_10: Pair = Pair(std::f64::consts::LN_10, -2.170_756_223_382_249_4e-16);
const PI: Pair = Pair(std::f64::consts::PI, 1.224_646_799_147_353_2e-16);

impl Pair {
    pub fn times(self, x: f64) -> Pair {
        self * x.into()
    }

    fn shifted(self, n: i32) -> Pair {
        Pair(libm::scalbn(self.0, n), libm::scalbn(self.1, n))
    }

    pub fn sqrt(self) -> Pair {
        if self.0 == 0.0 {
            return self;
        }
        let r = self.0.sqrt();
        let rest = self - Pair::from(r) * r.into();
        sum(r, rest.0 / (2.0 * r))
    }

    /// Sum of x^n / n! over every `step`th n from `first` on, the signs alternating or not.
    fn taylor(self, first: u32, step: u32, sign: f64) -> Pair {
        let mut term = Pair::from(1.0);
        for n in 1..=first {
            term = term * self / f64::from(n).into();
        }
        let mut total = term;
        let mut n = first;
        while term.0.abs() > total.0.abs() * 1e-34 {
            for _ in 0..step {
                n += 1;
                term = term * self / f64::from(n).into();
            }
            term = term.times(sign);
            total = total + term;
        }
        total
    }

    pub fn exp(self) -> Scaled {
        let n = (self.0 / LN_2.0).round().clamp(-1e4, 1e4);
        let r = self - LN_2.times(n);
        let r = if r.0.abs() < 1.0 { r.shifted(-6) } else { 0.0.into() };
        let mut e = r.taylor(0, 1, 1.0);
        for _ in 0..6 {
            e = e * e;
        }
        Scaled(e, n as i32)
    }

    pub fn expm1(self) -> Scaled {
        if self.0.abs() < 0.5 { Scaled(self.taylor(1, 1, 1.0), 0) } else { self.exp().plus(-1.0) }
    }

    pub fn log1p(self) -> Pair {
        if self.0.abs() > 0.001 {
            return (self + 1.0.into()).ln();
        }
        if self.0.abs() < 1e-40 {
            return self;
        }
        let s = self / (self + 2.0.into());
        let z = s * s;
        (0..12)
            .rev()
            .fold(Pair::from(0.0), |total, n| total * z + Pair::from(2.0) / f64::from(2 * n + 1).into())
            * s
    }

    pub fn ln(self) -> Pair {
        let less = self - 1.0.into();
        if less.0.abs() < 0.001 {
            return less.log1p();
        }
        let (_, e) = libm::frexp(self.0);
        let m = self.shifted(-e);
        let y = m.0.ln();
        let error = m * Pair::from(-y).exp().pair() - 1.0.into();
        LN_2.times(e.into()) + (Pair::from(y) + error - (error * error).times(0.5))
    }

    /// Sine and cosine of what is below 1.
    fn sin_cos_near(self) -> (Pair, Pair) {
        (self.taylor(1, 2, -1.0), self.taylor(0, 2, -1.0))
    }

    pub fn sin_cos(self) -> (Pair, Pair) {
        if self.1 == 0.0 { turned(reduced(self.0)) } else { self.sin_cos_near() }
    }

    pub fn atan(self) -> Pair {
        if self.0.abs() > 4.0 {
            return PI.times(0.5).times(self.0.signum()) - (Pair::from(1.0) / self).atan();
        }
        if self.0.abs() < 1e-12 {
            return self - (self * self * self) / 3.0.into();
        }
        let y = libm::atan(self.0);
        let (s, c) = if y.abs() < 0.8 {
            Pair(y, 0.0).sin_cos_near()
        } else {
            let (s, c) = Pair(y, 0.0).times(0.5).sin_cos_near();
            ((s * c).times(2.0), c * c - s * s)
        };
        Pair::from(y) + (self * c - s) / (c + self * s)
    }

    pub fn sinh(self) -> Scaled {
        if self.0.abs() < 1.0 {
            return Scaled(self.taylor(1, 2, 1.0), 0);
        }
        let (e, f) = (self.exp(), (-self).exp());
        e.minus(f).halved()
    }

    pub fn cosh(self) -> Scaled {
        self.exp().minus((-self).exp().negated()).halved()
    }
}

impl Scaled {
    pub fn pair(self) -> Pair {
        self.0.shifted(self.1)
    }
    fn negated(self) -> Scaled {
        Scaled(-self.0, self.1)
    }
    fn halved(self) -> Scaled {
        Scaled(self.0, self.1 - 1)
    }
    fn minus(self, b: Scaled) -> Scaled {
        let top = self.1.max(b.1);
        Scaled(self.0.shifted(self.1 - top) - b.0.shifted(b.1 - top), top)
    }
    fn plus(self, x: f64) -> Scaled {
        self.minus(Scaled((-x).into(), 0))
    }
}

impl From<Pair> for Scaled {
    fn from(x: Pair) -> Scaled {
        Scaled(x, 0)
    }
}

/// The first 1280 bits of 2/pi behind the point.
const TWO_OVER_PI: [u64; 20] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
    0xf0cf_bc20_9af4_361d,
];

/// A rest below pi/4 and quarters: with whole numbers of any length, from the product of mantissa and all bits of 2/pi.
fn reduced(x: f64) -> (Pair, u32) {
    if x.abs() < 0.7 {
        return (x.into(), 0);
    }
    let (m, e) = libm::frexp(x.abs());
    let m = (m * 2f64.powi(53)) as u64;
    let e = e - 53;
    // m * 2/pi in words behind the point, and one in front.
    let mut words = [0u64; 21];
    for (n, &word) in TWO_OVER_PI.iter().enumerate().rev() {
        let product = u128::from(m) * u128::from(word);
        let low = u128::from(words[n + 1]) + (product & u128::from(u64::MAX));
        words[n + 1] = low as u64;
        words[n] = (u128::from(words[n]) + (product >> 64) + (low >> 64)) as u64;
    }
    // The 192 bits from weight 2 on, after shifting by e.
    let bit = |weight: i32| {
        let at = 63 - (weight - e);
        (0..1344).contains(&at) && words[at as usize / 64] >> (63 - at % 64) & 1 != 0
    };
    let take = |from: i32, count: i32| (0..count).fold(0u64, |all, n| all << 1 | u64::from(bit(from - n)));
    let mut quarters = take(1, 2) as u32;
    let mut parts: Vec<f64> =
        (0..6).map(|n| libm::scalbn(take(-1 - 32 * n, 32) as f64, -32 - 32 * n)).collect();
    if parts[0] >= 0.5 {
        quarters += 1;
        parts[0] -= 1.0;
    }
    let fraction = parts.into_iter().fold(Pair::from(0.0), |all, part| all + part.into());
    let r = fraction * PI.times(0.5);
    if x < 0.0 { (-r, quarters.wrapping_neg() & 3) } else { (r, quarters & 3) }
}

fn turned((r, quarters): (Pair, u32)) -> (Pair, Pair) {
    let (s, c) = r.sin_cos_near();
    match quarters & 3 {
        0 => (s, c),
        1 => (c, -s),
        2 => (-s, -c),
        _ => (-c, s),
    }
}

pub fn sin_cos_pi(x: f64) -> (Pair, Pair) {
    let x = if x.abs() < 2f64.powi(53) { x } else { x * 0.0 };
    let n = (2.0 * x).round_ties_even();
    let r = PI.times(x - n / 2.0);
    turned((r, (n - 4.0 * (n / 4.0).floor()) as u32))
}

/// Sum of positive terms: 2/sqrt(pi) e^(-x^2) * sum of 2^n x^(2n+1) / (2n+1)!!
fn erf_near(x: f64) -> Pair {
    let z = Pair::from(x) * x.into();
    let (mut term, mut total) = (Pair::from(x), Pair::from(x));
    let mut n = 0.0;
    while term.0.abs() > total.0.abs() * 1e-33 {
        n += 1.0;
        term = (term * z).times(2.0) / (2.0 * n + 1.0).into();
        total = total + term;
    }
    (total * (-z).exp().pair()).times(2.0) / PI.sqrt()
}

/// The continued fraction x + (1/2)/(x + 1/(x + (3/2)/(x + ...
fn erfc_far(x: f64) -> Scaled {
    let count = (600.0 / x) as u32 + 20;
    let bottom = (1..count)
        .rev()
        .fold(Pair::from(x), |below, n| Pair::from(x) + Pair::from(f64::from(n) / 2.0) / below);
    let Scaled(e, n) = (-(Pair::from(x) * x.into())).exp();
    Scaled(e / (bottom * PI.sqrt()), n)
}

pub fn erf(x: f64) -> Pair {
    if x.abs() < 2.0 {
        erf_near(x)
    } else {
        (Pair::from(1.0) - erfc_far(x.abs().min(30.0)).pair()).times(x.signum())
    }
}

pub fn erfc(x: f64) -> Scaled {
    if x < 2.0 { (Pair::from(1.0) - erf(x)).into() } else { erfc_far(x) }
}

/// Numerators and denominators of B(2k) / (2k (2k - 1)).
const STIRLING: [(f64, f64); 14] = [
    (1.0, 12.0),
    (-1.0, 360.0),
    (1.0, 1260.0),
    (-1.0, 1680.0),
    (1.0, 1188.0),
    (-691.0, 360_360.0),
    (1.0, 156.0),
    (-3617.0, 122_400.0),
    (43_867.0, 244_188.0),
    (-174_611.0, 125_400.0),
    (77_683.0, 5796.0),
    (-236_364_091.0, 1_506_960.0),
    (657_931.0, 300.0),
    (-3_392_780_147.0, 93_960.0),
];

/// log gamma of a positive number, and the product that the recurrence left aside.
fn gamma_parts(x: f64) -> (Pair, Pair) {
    let (mut y, mut product) = (Pair::from(x), Pair::from(1.0));
    while y.0 < 40.0 {
        product = product * y;
        y = y + 1.0.into();
    }
    let r = Pair::from(1.0) / y;
    let w = r * r;
    let series =
        STIRLING.iter().rev().fold(Pair::from(0.0), |all, &(a, b)| all * w + Pair::from(a) / b.into());
    let log = (y - 0.5.into()) * y.ln() - y + PI.times(2.0).ln().times(0.5) + series * r;
    (log, product)
}

pub fn tgamma(x: f64) -> Scaled {
    if x.abs() < 1e-40 {
        return (Pair::from(1.0) / x.into()).into();
    }
    if x > 0.0 {
        let (log, product) = gamma_parts(x.min(1e4));
        let Scaled(e, n) = log.exp();
        return Scaled(e / product, n);
    }
    // pi / (sin(pi x) gamma(1 - x)), and gamma(1 - x) = -x gamma(-x)
    let Scaled(g, n) = tgamma(-x);
    let s = sin_cos_pi(x).0;
    Scaled(PI / (s * g.times(-x)), -n)
}

pub fn lgamma(x: f64) -> Pair {
    if x.abs() < 1e-40 {
        return -Pair::from(x.abs()).ln();
    }
    // Next to its zeros: -gamma d + zeta(2) d^2 / 2 - zeta(3) d^3 / 3 of 1 + d.
    let d = if x < 1.5 { x - 1.0 } else { x - 2.0 };
    if d.abs() < 1e-6 {
        let gamma = Pair(0.577_215_664_901_532_9, -4.942_915_152_430_645e-18);
        let terms = (0.822_467_033_424_113_2 - 0.400_685_634_386_531_43 * d) * d;
        let near = (Pair::from(terms) - gamma).times(d);
        return if x < 1.5 { near } else { near + Pair::from(d).log1p() };
    }
    if x > 0.0 {
        let (log, product) = gamma_parts(x);
        return log - product.ln();
    }
    let s = sin_cos_pi(x).0.times(x);
    let s = if s.0 < 0.0 { -s } else { s };
    PI.ln() - s.ln() - lgamma(-x)
}

pub fn pow(x: f64, y: f64) -> Scaled {
    let Scaled(e, n) = (Pair::from(x.abs()).ln().times(y)).exp();
    let odd = y.trunc() == y && (y / 2.0).trunc() != y / 2.0;
    if x < 0.0 && odd { Scaled(-e, n) } else { Scaled(e, n) }
}

pub fn rootn(x: f64, n: i32) -> Scaled {
    let Scaled(e, shift) = (Pair::from(x.abs()).ln() / f64::from(n).into()).exp();
    Scaled(if x < 0.0 { -e } else { e }, shift)
}

pub fn exp2(x: f64) -> Scaled {
    let n = x.round().clamp(-1e4, 1e4);
    Scaled(LN_2.times((x - n).clamp(-1.0, 1.0)).exp().pair(), n as i32)
}

pub fn exp10(x: f64) -> Scaled {
    LN_10.times(x).exp()
}

pub fn log_of(x: f64, base: Pair) -> Pair {
    Pair::from(x).ln() / base
}

pub fn log2(x: f64) -> Pair {
    let (m, e) = libm::frexp(x);
    let (m, e) = if m < 0.7 { (2.0 * m, e - 1) } else { (m, e) };
    log_of(m, LN_2) + f64::from(e).into()
}

pub fn log10(x: f64) -> Pair {
    log_of(x, LN_10)
}

pub fn asin(x: f64) -> Pair {
    let one = Pair::from(1.0);
    let bottom = ((one - x.into()) * (one + x.into())).sqrt();
    if bottom.0 == 0.0 { PI.times(0.5 * x) } else { (Pair::from(x) / bottom).atan() }
}

pub fn acos(x: f64) -> Pair {
    let one = Pair::from(1.0);
    let top = ((one - x.into()) * (one + x.into())).sqrt();
    if x.abs() < 1e-40 {
        return PI.times(0.5) - x.into();
    }
    let r = (top / x.into()).atan();
    if x < 0.0 { r + PI } else { r }
}

pub fn atan2(y: f64, x: f64) -> Scaled {
    let (fy, ey) = libm::frexp(y);
    let (fx, ex) = libm::frexp(x);
    let shift = (ey - ex).clamp(-1000, 1000);
    if x == 0.0 {
        return PI.times(0.5 * y.signum()).into();
    }
    if ey - ex < -200 && x > 0.0 {
        return Scaled(Pair::from(fy) / fx.into(), ey - ex);
    }
    let r = (Pair::from(fy) / fx.into()).shifted(shift).atan();
    if x > 0.0 { r.into() } else { (r + PI.times(1f64.copysign(y))).into() }
}

pub fn asinh(x: f64) -> Pair {
    let a = Pair::from(x.abs());
    let one = Pair::from(1.0);
    let r = if a.0 > 1e100 {
        a.ln() + LN_2
    } else {
        let square = a * a;
        (a + square / (one + (one + square).sqrt())).log1p()
    };
    if x < 0.0 { -r } else { r }
}

pub fn acosh(x: f64) -> Pair {
    if x > 1e100 {
        return Pair::from(x).ln() + LN_2;
    }
    let t = Pair::from(x) - 1.0.into();
    (t + (t.times(2.0) + t * t).sqrt()).log1p()
}

pub fn atanh(x: f64) -> Pair {
    let a = Pair::from(x.abs());
    let r = (a.times(2.0) / (Pair::from(1.0) - a)).log1p().times(0.5);
    if x < 0.0 { -r } else { r }
}

pub fn tanh(x: f64) -> Pair {
    if x.abs() > 100.0 {
        return x.signum().into();
    }
    let x = Pair::from(x);
    x.sinh().pair() / x.cosh().pair()
}

/// Of a number above 0: of one near 1, times a power of two, so that nothing underflows.
pub fn rsqrt(x: f64) -> Pair {
    let half = libm::frexp(x).1.div_euclid(2);
    (Pair::from(1.0) / Pair::from(x).shifted(-2 * half).sqrt()).shifted(-half)
}

pub fn cbrt(x: f64) -> Pair {
    let y = Pair::from(libm::cbrt(x));
    let (m, e) = libm::frexp(y.0);
    let (m, x) = (Pair::from(m), Pair::from(libm::scalbn(libm::scalbn(x, -e), -2 * e)));
    (m - (m * m * m - x) / (m * m).times(3.0)).shifted(e)
}

pub fn hypot(x: f64, y: f64) -> Scaled {
    let (_, e) = libm::frexp(x.abs().max(y.abs()));
    let [x, y] = [x, y].map(|x| Pair::from(libm::scalbn(x, -e)));
    Scaled((x * x + y * y).sqrt(), e)
}

pub fn tan(x: f64) -> Pair {
    let (s, c) = Pair::from(x).sin_cos();
    s / c
}

pub fn tanpi(x: f64) -> Pair {
    let (s, c) = sin_cos_pi(x);
    s / c
}
