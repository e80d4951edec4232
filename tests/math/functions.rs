//! The functions: what they compute, how far they may be off, and where they are interesting.

use crate::math::exact::{self, Pair, Scaled};
use crate::math::run::Float;

/// A function, its limits in OpenCL's full profile, and how it is known otherwise.
pub struct Function {
    pub name: &'static str,
    /// What it takes besides the first number.
    pub second: Second,
    /// Units in the last place of `f32` and `f64`; 0: correctly rounded.
    pub limits: [f64; 2],
    /// For special values, and for the other ones as a check of `exact`.
    pub libm: fn(f64, f64) -> f64,
    /// The same of a function of one number.
    pub alone: fn(f64) -> f64,
    pub exact: fn(f64, f64) -> Scaled,
    /// Where most of what happens does.
    pub from: f64,
    pub to: f64,
}

impl Function {
    /// Units that a result of this type may be off: a half where it is correctly rounded.
    pub fn limit(&self, ty: Float) -> f64 {
        self.limits[ty as usize].max(0.5)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Second {
    None,
    Float,
    Int,
}

macro_rules! one {
    ($name:literal, $limits:expr, $libm:expr, $exact:expr, $from:expr, $to:expr) => {
        Function {
            name: $name,
            second: Second::None,
            limits: $limits,
            libm: |x, _| $libm(x),
            alone: $libm,
            exact: |x, _| Scaled::from($exact(x)),
            from: $from,
            to: $to,
        }
    };
}

fn pair(x: f64) -> Pair {
    x.into()
}

pub const FUNCTIONS: &[Function] = &[
    one!("exp", [3.0, 3.0], libm::exp, |x| pair(x).exp(), -750.0, 710.0),
    one!("exp2", [3.0, 3.0], libm::exp2, exact::exp2, -1080.0, 1030.0),
    one!("exp10", [3.0, 3.0], libm::exp10, exact::exp10, -330.0, 310.0),
    one!("expm1", [3.0, 3.0], libm::expm1, |x| pair(x).expm1(), -40.0, 40.0),
    one!("log", [3.0, 3.0], libm::log, |x| pair(x).ln(), 0.0, 3.0),
    one!("log2", [3.0, 3.0], libm::log2, exact::log2, 0.0, 3.0),
    one!("log10", [3.0, 3.0], libm::log10, exact::log10, 0.0, 3.0),
    one!("log1p", [2.0, 2.0], libm::log1p, |x| pair(x).log1p(), -1.0, 3.0),
    one!("sin", [4.0, 4.0], libm::sin, |x| pair(x).sin_cos().0, -100.0, 100.0),
    one!("cos", [4.0, 4.0], libm::cos, |x| pair(x).sin_cos().1, -100.0, 100.0),
    one!("tan", [5.0, 5.0], libm::tan, exact::tan, -100.0, 100.0),
    one!("sinpi", [4.0, 4.0], sinpi, |x| exact::sin_cos_pi(x).0, -10.0, 10.0),
    one!("cospi", [4.0, 4.0], cospi, |x| exact::sin_cos_pi(x).1, -10.0, 10.0),
    one!("tanpi", [6.0, 6.0], tanpi, exact::tanpi, -10.0, 10.0),
    one!("asin", [4.0, 4.0], libm::asin, exact::asin, -1.0, 1.0),
    one!("acos", [4.0, 4.0], libm::acos, exact::acos, -1.0, 1.0),
    one!("atan", [5.0, 5.0], libm::atan, |x| pair(x).atan(), -10.0, 10.0),
    one!("sinh", [4.0, 4.0], libm::sinh, |x| pair(x).sinh(), -30.0, 30.0),
    one!("cosh", [4.0, 4.0], libm::cosh, |x| pair(x).cosh(), -30.0, 30.0),
    one!("tanh", [5.0, 5.0], libm::tanh, exact::tanh, -25.0, 25.0),
    one!("asinh", [4.0, 4.0], libm::asinh, exact::asinh, -10.0, 10.0),
    one!("acosh", [4.0, 4.0], |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) }, exact::acosh, 1.0, 10.0),
    one!("atanh", [5.0, 5.0], libm::atanh, exact::atanh, -1.0, 1.0),
    one!("cbrt", [2.0, 2.0], libm::cbrt, exact::cbrt, -30.0, 30.0),
    one!("erf", [16.0, 16.0], libm::erf, exact::erf, -6.0, 6.0),
    one!("erfc", [16.0, 16.0], libm::erfc, exact::erfc, -6.0, 28.0),
    one!("tgamma", [16.0, 16.0], libm::tgamma, exact::tgamma, -185.0, 172.0),
    one!("lgamma", [1000.0, 1000.0], libm::lgamma, exact::lgamma, 0.0, 30.0),
    Function {
        // The quotient of two that are rounded is what the code computes: not good enough to judge it.
        libm: |x, _| if x > 0.0 && x.is_finite() { exact::rsqrt(x).0 } else { 1.0 / x.sqrt() },
        ..one!("rsqrt", [2.0, 2.0], |x: f64| 1.0 / x.sqrt(), exact::rsqrt, 0.0, 10.0)
    },
    one!("sqrt", [0.0, 0.0], libm::sqrt, |x| pair(x).sqrt(), 0.0, 10.0),
    Function {
        name: "pow",
        second: Second::Float,
        limits: [16.0, 16.0],
        libm: libm::pow,
        alone: |_| f64::NAN,
        exact: exact::pow,
        from: -20.0,
        to: 20.0,
    },
    Function {
        name: "powi",
        second: Second::Int,
        limits: [16.0, 16.0],
        libm: libm::pow,
        alone: |_| f64::NAN,
        exact: exact::pow,
        from: -20.0,
        to: 20.0,
    },
    Function {
        name: "rootn",
        second: Second::Int,
        limits: [16.0, 16.0],
        libm: rootn,
        alone: |_| f64::NAN,
        exact: |x, n| exact::rootn(x, n as i32),
        from: -20.0,
        to: 20.0,
    },
    Function {
        name: "atan2",
        second: Second::Float,
        limits: [6.0, 6.0],
        libm: libm::atan2,
        alone: |_| f64::NAN,
        exact: exact::atan2,
        from: -20.0,
        to: 20.0,
    },
    Function {
        name: "hypot",
        second: Second::Float,
        limits: [4.0, 4.0],
        libm: libm::hypot,
        alone: |_| f64::NAN,
        exact: exact::hypot,
        from: -20.0,
        to: 20.0,
    },
];

/// Sine and cosine of `pi x`: what is left of the half turns has few enough bits.
fn turned(x: f64) -> (f64, f64) {
    let x = if x.abs() < 2f64.powi(53) { x } else { x * 0.0 };
    let n = (2.0 * x).round_ties_even();
    let r = (x - n / 2.0) * std::f64::consts::PI;
    let (s, c) = (libm::sin(r), libm::cos(r));
    match (n - 4.0 * (n / 4.0).floor()) as u32 {
        0 => (s, c),
        1 => (c, -s),
        2 => (-s, -c),
        _ => (-c, s),
    }
}

fn sinpi(x: f64) -> f64 {
    let s = turned(x).0;
    if s == 0.0 { 0f64.copysign(x) } else { s }
}

fn cospi(x: f64) -> f64 {
    turned(x).1 + 0.0
}

/// OpenCL 3.0 C, 7.5.1: the sign of zeros and poles is that of the half turn they are in.
fn tanpi(x: f64) -> f64 {
    let n = (2.0 * x).round_ties_even();
    let turn = n - 4.0 * (n / 4.0).floor();
    match (2.0 * x == n, turn as u32) {
        _ if !x.is_finite() => f64::NAN,
        (true, 0) => 0f64.copysign(x),
        (true, 1) => f64::INFINITY,
        (true, 2) => -0f64.copysign(x),
        (true, _) => f64::NEG_INFINITY,
        _ => turned(x).0 / turned(x).1,
    }
}

/// OpenCL 3.0 C, 7.5.1.
fn rootn(x: f64, n: f64) -> f64 {
    let odd = n as i32 & 1 != 0;
    if n == 0.0 || x.is_nan() || x < 0.0 && !odd {
        return f64::NAN;
    }
    let root = match x.abs() {
        0.0 => {
            if n < 0.0 {
                f64::INFINITY
            } else {
                0.0
            }
        }
        a if a.is_infinite() => {
            if n < 0.0 {
                0.0
            } else {
                a
            }
        }
        a => exact::rootn(a, n as i32).pair().0,
    };
    if odd { root.copysign(x) } else { root }
}
