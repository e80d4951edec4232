//! Functions of one `f16`, for all of its 65,536 numbers, against `libm`'s of `f64`.

use crate::functions::{FUNCTIONS, Second};
use crate::run::emulated;
use kernc::{OptLevel, sim::Mode};

/// OpenCL's limit for most functions of halves is two units; ours are those of `f32`, rounded.
const LIMIT: f64 = 0.52;

fn wide(bits: u16) -> f64 {
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
fn error(found: f64, exact: f64) -> Option<f64> {
    if found.is_nan() || exact.is_nan() {
        return (found.is_nan() && exact.is_nan()).then_some(0.0);
    }
    // What is larger than all numbers is infinity, the neighbour of the largest one.
    let bounded = |x: f64| if x.abs() > 65536.0 { 65536f64.copysign(x) } else { x };
    let (found, exact) = (bounded(found), bounded(exact));
    let unit = 2f64.powi((libm::frexp(exact).1 - 11).clamp(-24, 5));
    (found.is_sign_negative() == exact.is_sign_negative()).then(|| (found - exact).abs() / unit)
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
