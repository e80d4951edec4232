//! Functions of one `f16`, for all of its 65,536 numbers, against `libm`'s of `f64`.

use super::clang;
use crate::math::functions::{FUNCTIONS, Second};
use crate::math::run::{compiled, emulated, executed};
use kernc::{OptLevel, sim::Mode};

/// OpenCL's limit for most functions of halves is two units; ours are those of `f32`, rounded.
pub const LIMIT: f64 = 0.52;

pub fn wide(bits: u16) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    let size = match exponent {
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        0 => mantissa * 2f64.powi(-24),
        _ => (mantissa + 1024.0) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// Units in the last place between a result and the exact value; `None` if it is wrong in kind.
pub fn error(found: f64, exact: f64) -> Option<f64> {
    if found.is_nan() || exact.is_nan() {
        return (found.is_nan() && exact.is_nan()).then_some(0.0);
    }
    // What is larger than all numbers is infinity, the neighbour of the largest one.
    let bounded = |x: f64| if x.abs() > 65536.0 { 65536f64.copysign(x) } else { x };
    let (found, exact) = (bounded(found), bounded(exact));
    let unit = 2f64.powi((libm::frexp(exact).1 - 11).clamp(-24, 5));
    (found.is_sign_negative() == exact.is_sign_negative()).then(|| (found - exact).abs() / unit)
}

/// The `f16` nearest to a number, the even one of two.
pub fn nearest(x: f64) -> f64 {
    let unit = 2f64.powi((libm::frexp(x).1 - 11).max(-24));
    let near = (x / unit).round_ties_even() * unit;
    if near.abs() >= 65536.0 { f64::INFINITY.copysign(near) } else { near }
}

#[test]
fn all_halves() {
    let mut failures = Vec::new();
    for processor in ["gfx906", "gfx600"] {
        let mut worst = String::new();
        for function in FUNCTIONS.iter().filter(|function| function.second == Second::None) {
            let source = format!(
                "#[workgroup_size(64)] kernel t(out: *global f16) {{ let i = global_id(0); \
                 out[i] = {}(bitcast::<f16>(i as u16)); }}",
                function.name
            );
            let out = emulated(&source, (processor, OptLevel::O2, Mode::Fast), &[], 1 << 16, 2 << 16);
            let mut most = 0.0f64;
            for (bits, found) in (0..=u16::MAX).zip(out.chunks_exact(2)) {
                let x = wide(bits);
                // Next to its zeros the result is what little is left.
                if function.name == "lgamma" && x < 0.0 {
                    continue;
                }
                let (found, exact) =
                    (wide(u16::from_le_bytes([found[0], found[1]])), (function.libm)(x, 0.0));
                match error(found, exact) {
                    Some(ulps) => most = most.max(ulps),
                    None => failures
                        .push(format!("{processor}: {}({x:e}): {found:e}, not {exact:e}", function.name)),
                }
            }
            worst += &format!("{} {most:.3}, ", function.name);
            if most > LIMIT {
                failures.push(format!("{processor}: {} is off by {most} units", function.name));
            }
        }
        println!("{processor}: {worst}");
    }
    failures.truncate(20);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// An operation in our language and in OpenCL's, on vectors; processors that clang has it right, or at all, on.
type Twin = (&'static str, &'static str, &'static [&'static str]);

const ALL: &[&str] = &["gfx700", "gfx803", "gfx906", "gfx90a", "gfx1030"];
/// On others clang's `fma` of halves is that of `f32`, rounded again.
const WITH_HALVES: &[&str] = &["gfx803", "gfx906", "gfx90a", "gfx1030"];
const WITH_DOTS: &[&str] = &["gfx906", "gfx90a", "gfx1030"];

/// Of our type, of OpenCL's, of so many bytes.
const TWINS: &[(&str, &str, usize, &[Twin])] = &[
    (
        "f16x4",
        "half4",
        8,
        &[
            ("a + b", "a + b", ALL),
            ("a - b", "a - b", ALL),
            ("(a * b).yxwz", "(a * b).yxwz", ALL),
            ("a * b + c", "a * b + c", WITH_HALVES),
            ("c - a * b.x", "c - a * b.x", WITH_HALVES),
            ("a / b", "a / b", ALL),
            ("max(a, b) + 0.5", "fmax(a, b) + (half)0.5f", ALL),
            ("min(a, -b) * c", "fmin(a, -b) * c", ALL),
            ("sqrt(abs(a))", "sqrt(fabs(a))", ALL),
            ("floor(a) + ceil(b)", "floor(a) + ceil(b)", ALL),
            ("round(a * 8.0) - trunc(b)", "rint(a * (half)8.0f) - trunc(b)", ALL),
        ],
    ),
    (
        "u16x4",
        "ushort4",
        8,
        &[
            ("a * b + c", "a * b + c", ALL),
            ("max(a, b) - min(b, c)", "max(a, b) - min(b, c)", ALL),
            ("(a >> 3) ^ (b << 5)", "(a >> (ushort)3) ^ (b << (ushort)5)", ALL),
            ("a.wzyx + u16x4(1, 2, 3, 65535)", "a.wzyx + (ushort4)(1, 2, 3, 65535)", ALL),
        ],
    ),
    (
        "i16x2",
        "short2",
        4,
        &[
            ("max(a, b) - min(b, c)", "max(a, b) - min(b, c)", ALL),
            ("(a >> 3) + b.yx", "(a >> (short)3) + b.yx", ALL),
            ("min(max(a, -100), 100) * b", "min(max(a, (short)-100), (short)100) * b", ALL),
        ],
    ),
    (
        "i32",
        "int",
        4,
        &[("dot4(a, b, c)", "__builtin_amdgcn_sdot4(a, b, c, false)", &["gfx906", "gfx90a", "gfx1030"])],
    ),
    (
        "u32",
        "uint",
        4,
        &[
            ("dot4(a, b, c)", "__builtin_amdgcn_udot4(a, b, c, false)", WITH_DOTS),
            ("dot8(a, b, c)", "__builtin_amdgcn_udot8(a, b, c, false)", WITH_DOTS),
            ("perm(a, b, c)", "__builtin_amdgcn_perm(a, b, c)", WITH_HALVES),
            ("perm(a, b, 0x0c0d0407)", "__builtin_amdgcn_perm(a, b, 0x0c0d0407)", WITH_HALVES),
        ],
    ),
];

/// The same kernels in OpenCL, compiled by clang: the same results.
#[test]
fn clang_agrees() {
    if !clang::is_there() {
        return println!("left out: clang_agrees, for want of clang-19 or rocm-device-libs");
    }
    const LANES: usize = 1024;
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as u16
    };
    for &(ours, theirs, size, twins) in TWINS {
        // No NaNs, whose bits may differ, and no quotients that are denormal.
        let is_float = ours.starts_with('f');
        let mut number = || if is_float { next() & 0x8fff | 0x3000 } else { next() };
        let mut bytes = || (0..LANES * size / 2).flat_map(|_| number().to_le_bytes()).collect::<Vec<u8>>();
        let inputs = [("a", bytes()), ("b", bytes()), ("c", bytes())];
        for &(here, there, processors) in twins {
            for &processor in processors {
                let source = format!(
                    "#[workgroup_size(64)] kernel t(x: *const global {ours}, y: *const global {ours}, z: *const global {ours}, \
                     out: *global {ours}) {{ let i = global_id(0); let a = x[i]; let b = y[i]; let c = z[i]; out[i] = {here}; }}"
                );
                let twin = format!(
                    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable
                    kernel __attribute__((reqd_work_group_size(64, 1, 1))) void t(const global {theirs} *x,
                    const global {theirs} *y, const global {theirs} *z, global {theirs} *out) {{ size_t i = get_global_id(0);
                    {theirs} a = x[i], b = y[i], c = z[i]; out[i] = {there}; }}"
                );
                let run = |object: &[u8]| executed(object, Mode::Fast, &inputs, LANES, LANES * size);
                let wanted = run(&clang::compile(&twin, processor, "halves").expect("clang's code"));
                for level in [OptLevel::O0, OptLevel::O2] {
                    let found = run(&compiled(&source, processor, level));
                    assert!(found.0 == wanted.0, "{here} of {ours} on {processor} at {level:?}");
                    if level == OptLevel::O2 {
                        let [mine, clangs] = [found.1, wanted.1].map(|count| count / (LANES / 64) as u64);
                        println!("{ours} {here} on {processor}: {mine} instructions, clang {clangs}");
                    }
                }
            }
        }
    }
}
