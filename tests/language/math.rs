//! Mathematical functions within their stated bounds, against double precision.

use crate::harness::{run_bytes, to_bytes, words};

/// Units in the last place of `f32` between a result and the exact value.
pub fn ulps(found: f32, exact: f64) -> f64 {
    if found.is_nan() || exact.is_nan() {
        return if found.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let nearest = exact as f32;
    if found == nearest || found.is_infinite() || nearest.is_infinite() {
        // The largest number and infinity are neighbours.
        let near = |x: f32| if x.is_infinite() { 2f64.powi(128).copysign(x.into()) } else { x.into() };
        return (near(found) - near(nearest)).abs() / 2f64.powi(104);
    }
    let exponent = libm::frexp(exact).1.max(-125);
    (f64::from(found) - exact).abs() / libm::ldexp(1.0, exponent - 24)
}

/// Numbers of all sizes and both signs, and the given ones.
fn sweep(count: u32, more: &[f32]) -> Vec<f32> {
    let mut all: Vec<f32> = more.to_vec();
    all.extend([
        0.0,
        -0.0,
        1.0,
        -1.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::MIN_POSITIVE,
        1e-45,
        f32::MAX,
    ]);
    all.extend((0..count).map(|n| f32::from_bits(n.wrapping_mul(0x9e37_79b9).wrapping_add(n >> 3))));
    all.extend((0..count).map(|n| (n as f32 - count as f32 / 2.0) * (200.0 / count as f32)));
    all.resize(all.len().next_multiple_of(64), 0.5);
    all
}

/// Checks `out = expression` of `x` for all arguments.
fn check(expression: &str, limit: f64, xs: &[f32], exact: &dyn Fn(f64) -> f64) {
    let source = format!(
        "#[workgroup_size(64)] kernel t(xs: *global f32, out: *global f32) {{
            let i = global_id(0); let x = xs[i]; out[i] = {expression}; }}"
    );
    let bits: Vec<u32> = xs.iter().map(|x| x.to_bits()).collect();
    words(&source, xs.len() as u32, &[("xs", &bits)], &mut |how, found| {
        for (&x, &bits) in xs.iter().zip(found) {
            let (found, exact) = (f32::from_bits(bits), exact(x.into()));
            let error = ulps(found, exact);
            assert!(error <= limit, "{how}: {expression}, x = {x:?}: {found:?}, not {exact:?}: {error} ulp");
        }
    });
}

#[test]
fn exponentials_and_logarithms() {
    let xs = sweep(4000, &[88.7, 88.8, -87.4, -103.9, -104.1, 127.9, 128.0, -126.5, -149.0, -150.1]);
    check("exp(x)", 3.0, &xs, &libm::exp);
    check("exp2(x)", 3.0, &xs, &libm::exp2);
    check("log(x)", 3.0, &xs, &libm::log);
    check("log2(x)", 3.0, &xs, &libm::log2);
    let near_one: Vec<f32> = (0..512).map(|n| f32::from_bits(0x3f80_0000 - 256 + n)).collect();
    check("log(x)", 3.0, &near_one, &libm::log);
    check("log2(x)", 3.0, &near_one, &libm::log2);
}

#[test]
fn roots() {
    let xs = sweep(4000, &[]);
    check("sqrt(x)", 0.5, &xs, &f64::sqrt);
    check("rcp(x)", 0.5, &xs, &|x| 1.0 / x);
    check("rsqrt(x)", 1.5, &xs, &|x| 1.0 / x.sqrt());
    check("length(f32x2(x, 0.0))", 1.0, &sweep(500, &[])[10..74], &|x| {
        if (1e-18..1e18).contains(&x.abs()) { x.abs() } else { (x as f32 * x as f32).sqrt().into() }
    });
}

/// Angles of all sizes; near multiples of pi/2, where little remains; past the border of the long reduction.
fn angles() -> Vec<f32> {
    let mut xs = sweep(
        3000,
        &[2f32.powi(30), -(2f32.powi(30)), 1e9, 1.1e9, 3e9, 1e20, -1e30, 3e38, 16367173.0 * 2f32.powi(72)],
    );
    xs.extend((0..2048).map(|n| (f64::from(n) * std::f64::consts::FRAC_PI_2) as f32));
    xs.extend((0..512u32).map(|n| f32::from_bits(0x4e00_0000 + n * 0x1f_1f1f)));
    xs
}

#[test]
fn trigonometry() {
    let xs = angles();
    check("sin(x)", 2.0, &xs, &libm::sin);
    check("cos(x)", 2.0, &xs, &libm::cos);
    check("tan(x)", 4.0, &xs, &libm::tan);
    let source = "#[workgroup_size(64)] kernel t(xs: *global f32, out: *global f32) {
        let i = global_id(0); out[i] = sin(xs[i]) + tan(xs[i]); }";
    for (how, out) in run_bytes(source, 64, &[("xs", to_bytes(&[0x8000_0000; 64]))], 256) {
        assert!(out[..4] == 0x8000_0000u32.to_le_bytes(), "{how}: the sine of -0 is -0");
    }
}

#[test]
fn powers() {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.0,
        -2.0,
        0.5,
        -0.5,
        3.0,
        -3.0,
        1.5,
        1e10,
        -1e10,
        f32::MAX,
        f32::MIN_POSITIVE,
        1e-45,
    ];
    let special = special.into_iter().chain([
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        16777217.0,
        0.999_999_94,
        1.000_000_1,
    ]);
    let special: Vec<f32> = special.collect();
    let mut pairs: Vec<(f32, f32)> =
        special.iter().flat_map(|&x| special.iter().map(move |&y| (x, y))).collect();
    for n in 0..3000u32 {
        let x = f32::from_bits(n.wrapping_mul(0x9e37_79b9) >> 1);
        let y = (n as f32 - 1500.0) / 37.0;
        pairs.push((x, y));
        pairs.push((1.0 + (n as f32) / 4096.0, y * 3.0));
        pairs.push((1.0 - (n as f32) / 4096.0, (n % 9) as f32));
    }
    pairs.resize(pairs.len().next_multiple_of(64), (2.0, 2.0));
    let words_of =
        |pick: fn(&(f32, f32)) -> f32| pairs.iter().map(|pair| pick(pair).to_bits()).collect::<Vec<_>>();
    let (xs, ys) = (words_of(|pair| pair.0), words_of(|pair| pair.1));
    let source = "#[workgroup_size(64)] kernel t(xs: *global f32, ys: *global f32, out: *global f32) {
        let i = global_id(0); out[i] = pow(xs[i], ys[i]); }";
    words(source, pairs.len() as u32, &[("xs", &xs), ("ys", &ys)], &mut |how, found| {
        for (&(x, y), &bits) in pairs.iter().zip(found) {
            let (found, exact) = (f32::from_bits(bits), libm::pow(x.into(), y.into()));
            let signs = found.is_nan() || found.is_sign_negative() == exact.is_sign_negative();
            let error = ulps(found, exact);
            assert!(error <= 3.0 && signs, "{how}: pow({x:?}, {y:?}): {found:?}, not {exact:?}: {error} ulp");
        }
    });
}

/// The bare instructions: where they are specified, within an ulp (the emulator's are exact).
#[test]
fn native() {
    let xs: Vec<f32> = (1..=1024).map(|n| n as f32 / 64.0).collect();
    check("native_rcp(x)", 1.0, &xs, &|x| 1.0 / x);
    check("native_rsqrt(x)", 1.0, &xs, &|x| 1.0 / x.sqrt());
    check("native_sqrt(x)", 1.0, &xs, &f64::sqrt);
    check("native_exp2(x)", 1.0, &xs, &libm::exp2);
    check("native_log2(x)", 1.0, &xs, &libm::log2);
    let small: Vec<f32> = (0..64).map(|n| n as f32 / 64.0 + 0.1).collect();
    check("native_sin(x)", 4.0, &small, &libm::sin);
    check("native_cos(x)", 4.0, &small, &libm::cos);
}

#[test]
fn double_precision_roots_and_reciprocals() {
    let xs: Vec<f64> =
        (0..256u64).map(|n| f64::from_bits(n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1)).collect();
    let source = "#[workgroup_size(64)] kernel t(xs: *global f64, out: *global f64) {
        let i = global_id(0); let x = xs[i];
        out[i] = sqrt(x); out[256 + i] = rcp(x); out[512 + i] = rsqrt(x); }";
    let bytes = xs.iter().flat_map(|x| x.to_le_bytes()).collect();
    for (how, out) in run_bytes(source, 256, &[("xs", bytes)], 3 * 256 * 8) {
        let found = |n: usize| f64::from_le_bytes(out[n * 8..][..8].try_into().unwrap());
        for (n, &x) in xs.iter().enumerate() {
            let same = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan();
            assert!(same(found(n), x.sqrt()), "{how}: sqrt({x:?}): {:?}", found(n));
            assert!(same(found(256 + n), 1.0 / x), "{how}: rcp({x:?}): {:?}", found(256 + n));
            assert!(same(found(512 + n), 1.0 / x.sqrt()), "{how}: rsqrt({x:?}): {:?}", found(512 + n));
        }
    }
}

#[test]
fn vectors() {
    let source = "#[workgroup_size(64)] kernel t(xs: *global f32, out: *global f32) {
        let i = global_id(0); let v = f32x4(xs[i], 2.0, 3.0, 4.0);
        let n = normalize(v); let r = sqrt(v * v) + max(v, 3.0) + fma(v, v, 1.0);
        out[i] = dot(n, n) + r.x * 0.0 + r.y; }";
    let xs: Vec<u32> = (0..64).map(|n| (n as f32).to_bits()).collect();
    for (how, out) in run_bytes(source, 64, &[("xs", to_bytes(&xs))], 256) {
        for word in out.chunks_exact(4) {
            let found = f32::from_le_bytes(word.try_into().unwrap());
            assert!((found - 11.0).abs() < 1e-5, "{how}: {found}");
        }
    }
}
