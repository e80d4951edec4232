//! The `half_` functions: of `f32`, at least ten bits right, denormals flushed (OpenCL 3.0 C, 6.15.2 and 7.4).

use crate::math::exact::Scaled;
use crate::math::functions::{Function, Second};
use crate::math::run::{Float, compiled, executed, kernel};
use crate::math::{PROCESSORS, arguments, expression, inputs, second, ulps, worst};
use kernc::{OptLevel, sim::Mode};

/// Units in the last place that each may be off.
const LIMIT: f64 = 8192.0;

/// Angles that sines and their like are for.
const LARGEST_ANGLE: f64 = 65536.0;

const fn coarse(
    name: &'static str,
    second: Second,
    libm: fn(f64, f64) -> f64,
    alone: fn(f64) -> f64,
) -> Function {
    // What `libm` has is exact enough: see `error`.
    let exact = |_, _| unreachable!("`error` does not ask");
    Function { name, second, limits: [LIMIT, LIMIT], libm, alone, exact, from: -20.0, to: 20.0 }
}

macro_rules! one {
    ($name:literal, $libm:expr) => {
        coarse($name, Second::None, |x, _| $libm(x), $libm)
    };
}

pub const HALF: &[Function] = &[
    one!("half_cos", libm::cos),
    one!("half_exp", libm::exp),
    one!("half_exp2", libm::exp2),
    one!("half_exp10", libm::exp10),
    one!("half_log", libm::log),
    one!("half_log2", libm::log2),
    one!("half_log10", libm::log10),
    one!("half_recip", |x: f64| 1.0 / x),
    one!("half_rsqrt", |x: f64| 1.0 / x.sqrt()),
    one!("half_sin", libm::sin),
    one!("half_sqrt", libm::sqrt),
    one!("half_tan", libm::tan),
    coarse("half_divide", Second::Float, |x, y| x / y, |_| f64::NAN),
    coarse("half_powr", Second::Float, powr, |_| f64::NAN),
];

/// OpenCL 3.0 C, 7.5.1: `pow` where the base is no negative number, and what has no one value is none.
fn powr(x: f64, y: f64) -> f64 {
    let no_value = x.is_nan()
        || x < 0.0
        || y.is_nan()
        || x == 1.0 && y.is_infinite()
        || y == 0.0 && (x == 0.0 || x.is_infinite());
    if no_value { f64::NAN } else { libm::pow(x.abs(), y) }
}

impl Function {
    pub fn is_coarse(&self) -> bool {
        self.limits[0] == LIMIT
    }
}

fn flushed(x: f64) -> f64 {
    if x.abs() < f64::from(f32::MIN_POSITIVE) { 0f64.copysign(x) } else { x }
}

/// The error of one result, if it is right in kind. Each number may be flushed, and the result.
pub fn error(function: &Function, (x, y): (f64, f64), found: f64) -> Option<f64> {
    let is_turning = ["half_sin", "half_cos", "half_tan"].contains(&function.name);
    if is_turning && x.abs() > LARGEST_ANGLE {
        return Some(0.0);
    }
    let of = |x: f64, y: f64| {
        let model = (function.libm)(x, y);
        let narrow = f64::from(model as f32);
        if model.is_nan() || found.is_nan() {
            return (model.is_nan() && found.is_nan()).then_some(0.0);
        }
        if found.to_bits() == narrow.to_bits() || found == 0.0 && flushed(narrow) == 0.0 {
            return Some(0.0);
        }
        let is_kind = found.is_sign_negative() == model.is_sign_negative();
        let is_pole = model == 0.0 || model.is_infinite();
        (is_kind && !is_pole).then(|| ulps(Float::F32, found, Scaled(model.into(), 0)))
    };
    let either = |x: f64| [x, flushed(x)];
    let all = either(x).into_iter().flat_map(|x| either(y).map(|y| of(x, y)));
    all.flatten().min_by(f64::total_cmp)
}

/// A sample of each on every generation; all numbers are in the sweep.
#[test]
fn half_within_limits() {
    for function in HALF {
        let args = arguments(function, Float::F32, 4096, 0);
        let (inputs, bytes) = (inputs(function, Float::F32, &args), args.len() * 4);
        let source = kernel(&expression(function), Float::F32, second(function, Float::F32));
        for processor in PROCESSORS {
            let object = compiled(&source, processor, OptLevel::O2);
            let out = executed(&object, Mode::Fast, &inputs, args.len(), bytes).0;
            let (error, x, y) = worst(function, Float::F32, true, &args, &Float::F32.read(&out));
            println!("{:12} {processor}  worst {error:8.3} ulp of {LIMIT} at {x:e} {y:e}", function.name);
            assert!(error <= LIMIT, "{} on {processor}: {error} ulp at {x:e} {y:e}", function.name);
        }
    }
}
