//! Functions whose result is one of a few numbers, or exact: bit for bit what `libm` and models of a line give.

use crate::math::run::{Float, emulated, executed, kernel};
use kernc::{Compiler, OptLevel, Options, Target, sim::Mode};

pub type Wide = fn(f64, f64) -> f64;
pub type Narrow = fn(f32, f32) -> f32;

/// A model of each type: where the text is the same, a macro writes it twice.
macro_rules! both {
    (|$x:ident, $y:ident| $body:expr) => {
        (|$x, $y| $body, |$x, $y| $body)
    };
}

/// As an expression of `a` and `b`, both of a type that `T` stands for.
pub const EXACT: &[(&str, (Wide, Narrow))] = &[
    ("fmod(a, b)", (libm::fmod, libm::fmodf)),
    ("remainder(a, b)", (libm::remainder, libm::remainderf)),
    ("{ let mut q = 0; remquo(a, b, &mut q) }", (libm::remainder, libm::remainderf)),
    (
        "{ let mut q = 0; let r = remquo(a, b, &mut q); select(isnan(r), 0.0, q as T) }",
        (|x, y| quotient(libm::remquo(x, y)), |x, y| quotient(libm::remquo(x.into(), y.into())) as f32),
    ),
    ("nextafter(a, b)", (libm::nextafter, libm::nextafterf)),
    ("fdim(a, b)", (libm::fdim, libm::fdimf)),
    ("fma(a, b, a)", both!(|x, y| x.mul_add(y, x))),
    ("a / b", both!(|x, y| x / y)),
    ("sqrt(a)", both!(|x, _y| x.sqrt())),
    (
        "maxmag(a, b)",
        both!(|x, y| if x.abs() > y.abs() || x.abs() == y.abs() && x.is_sign_positive() || y.is_nan() {
            x
        } else {
            y
        }),
    ),
    (
        "minmag(a, b)",
        both!(|x, y| if x.abs() < y.abs() || x.abs() == y.abs() && x.is_sign_negative() || y.is_nan() {
            x
        } else {
            y
        }),
    ),
    ("logb(a)", (|x, _| logb(x), |x, _| logb(x.into()) as f32)),
    ("ilogb(a) as T", (|x, _| ilogb(x), |x, _| ilogb(x.into()) as f32)),
    (
        "sign(a)",
        both!(|x, _y| if x == 0.0 {
            x
        } else if x.is_nan() {
            0.0
        } else {
            1.0 * x.signum()
        }),
    ),
    (
        "{ let mut w = b; modf(a, &mut w) }",
        both!(|x, _y| if x.is_infinite() {
            (0.0 * x.signum()).copysign(x)
        } else {
            (x - x.trunc()).copysign(x)
        }),
    ),
    ("{ let mut w = b; let f = modf(a, &mut w); w }", both!(|x, _y| x.trunc())),
];

fn quotient((r, q): (f64, i32)) -> f64 {
    if r.is_nan() { 0.0 } else { f64::from(q.signum() * (q.abs() & 7)) }
}

fn exponent(x: f64) -> i32 {
    libm::frexp(x).1 - 1
}

fn logb(x: f64) -> f64 {
    match x {
        0.0 => f64::NEG_INFINITY,
        _ if x.is_finite() => exponent(x).into(),
        _ => x.abs(),
    }
}

fn ilogb(x: f64) -> f64 {
    match x {
        0.0 => i32::MIN.into(),
        _ if x.is_finite() => exponent(x).into(),
        _ => i32::MAX.into(),
    }
}

fn equal(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

fn check(ty: Float) {
    let mut next = crate::math::random(0);
    let some = crate::math::edges(ty);
    let mut args: Vec<(f64, f64)> = some.iter().flat_map(|&x| some.iter().map(move |&y| (x, y))).collect();
    let mut number = || match ty {
        Float::F32 => f64::from(f32::from_bits(next() as u32)),
        Float::F64 => f64::from_bits(next()),
    };
    args.extend((0..3000).map(|_| (number(), number())));
    args.extend((0..3000).map(|n| (f64::from(n) * 0.25, 0.75)));
    args.resize(args.len().next_multiple_of(64), (1.0, 2.0));
    let (x, y): (Vec<f64>, Vec<f64>) = args.iter().copied().unzip();
    let inputs = [("x", ty.bytes(&x)), ("y", ty.bytes(&y))];
    for (text, (wide, narrow)) in EXACT {
        let source = kernel(&text.replace('T', ty.name()), ty, ty.name());
        for (processor, level) in
            [("gfx906", OptLevel::O2), ("gfx600", OptLevel::O0), ("gfx1030", OptLevel::O2)]
        {
            let how = (processor, level, Mode::Fast);
            let out = ty.read(&emulated(&source, how, &inputs, args.len(), args.len() * ty.size()));
            for (&(x, y), found) in args.iter().zip(out) {
                let wanted = if ty == Float::F64 { wide(x, y) } else { narrow(x as f32, y as f32).into() };
                assert!(
                    equal(found, wanted),
                    "{processor}: {text} of {ty:?} {x:e}, {y:e}: {found:e}, not {wanted:e}"
                );
            }
        }
    }
}

#[test]
fn f32_exact() {
    check(Float::F32);
}

#[test]
fn f64_exact() {
    check(Float::F64);
}

/// Functions and divisions of `f32` become the bare instructions, those of `f64` stay what they are.
#[test]
fn fast_math() {
    let text =
        "exp(a) + log(a) + sin(a) + exp2(a) + log10(a) + sqrt(a) / b + rsqrt(a) + normalize(Tx2(a, b)).x";
    let xs: Vec<f64> = (1..65).map(|n| f64::from(n) * 0.11).collect();
    for ty in [Float::F32, Float::F64] {
        let source = kernel(&text.replace('T', ty.name()), ty, ty.name());
        let run = |fast_math| {
            let options = Options { fast_math, ..Options::default() };
            let object =
                Compiler::new(Target::by_name("gfx906").unwrap()).compile(&source, &options).unwrap();
            let inputs = [("x", ty.bytes(&xs)), ("y", ty.bytes(&xs))];
            let (out, count) = executed(object.bytes(), Mode::STRICT, &inputs, 64, 64 * ty.size());
            (ty.read(&out), count)
        };
        let ((exact, slow), (found, fast)) = (run(false), run(true));
        assert_eq!(fast * 3 < slow, ty == Float::F32, "{fast} and {slow} instructions");
        let close = exact.iter().zip(&found).all(|(a, b)| (a - b).abs() <= 1e-5 * a.abs());
        assert!(close && (ty == Float::F32 || exact == found), "{exact:?} {found:?}");
    }
}

/// Vectors are lanes, and both results of a sine and cosine are those of the functions.
#[test]
fn vectors() {
    for ty in ["f32", "f64"] {
        let source = format!(
            "#[workgroup_size(64)] kernel t(x: *global {ty}, out: *global {ty}) {{
                let i = global_id(0); let a = x[i]; let v = {ty}x4(a, a + 1.0, a * 2.0, -a);
                let mut c = {ty}x4(0.0); let s = sincos(v, &mut c);
                let p = pow(abs(v), 1.5) + powi(v, -3) - atan2(v, 2.0) + smoothstep(0.0, 3.0, v);
                let q = {ty}x4(pow(a, 1.5) + powi(a, -3) - atan2(a, 2.0) + smoothstep(0.0, 3.0, a), 0.0, 0.0, 0.0);
                let n = cross({ty}x3(a, 2.0, 3.0), {ty}x3(1.0, a, 0.5));
                let wrong = any(s.z != sin(v.z)) || any(c.w != cos(v.w)) || any(p.x != q.x) || any(n.z != fma(a, a, -2.0))
                    || any(distance(n, n) != 0.0) || any(erf(v).y != erf(a + 1.0)) || any(degrees(v).y != degrees(a + 1.0));
                out[i] = select(wrong, 1.0, 0.0); }}"
        );
        let float = if ty == "f32" { Float::F32 } else { Float::F64 };
        let xs: Vec<f64> = (1..65).map(|n| f64::from(n) * 0.37).collect();
        for processor in crate::math::PROCESSORS {
            for level in [OptLevel::O0, OptLevel::O2] {
                let how = (processor, level, Mode::STRICT);
                let out = emulated(&source, how, &[("x", float.bytes(&xs))], 64, 64 * float.size());
                assert!(float.read(&out).iter().all(|&x| x == 0.0), "{processor} {level:?} {ty}");
            }
        }
    }
}
