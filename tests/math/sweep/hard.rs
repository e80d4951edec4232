//! Numbers of `f64` that are hard for some function.

/// Multiples of pi/2 and their neighbours, small and huge ones; numbers next to poles, zeros, and the edges of what overflows and
/// underflows; results that lie next to the middle of two numbers (V. Lefèvre, J.-M. Muller, *Worst cases for correct rounding of
/// the elementary functions in double precision*, 2001).
pub fn numbers() -> Vec<f64> {
    let mut all: Vec<f64> = WORST.iter().map(|&(_, bits)| f64::from_bits(bits)).collect();
    let mut add = |x: f64| all.extend([x, x.next_up(), x.next_down(), -x, -x.next_up(), -x.next_down()]);
    for n in 0..2000u32 {
        add(f64::from(n) * std::f64::consts::FRAC_PI_2);
        let random = f64::from(n.wrapping_mul(0x9e37_79b9)) + 1.0;
        add((random * 2f64.powi(n as i32 % 20)).round() * std::f64::consts::FRAC_PI_2);
        add(f64::from(n) / 8.0);
        add(2f64.powi(n as i32 - 1000));
    }
    for edge in EDGES {
        add(*edge);
    }
    all
}

/// Where `exp`, `exp2`, `exp10`, `sinh`, `tgamma`, `lgamma`, `erfc` and `erf` reach the largest and the least number, or 1.
const EDGES: &[f64] = &[
    709.782_712_893_384,
    745.133_219_101_941_2,
    708.396_418_532_264_1,
    1024.0,
    1022.0,
    1074.0,
    1075.0,
    308.254_715_559_916_74,
    307.652_655_568_588_8,
    323.306_215_343_115_8,
    710.475_860_073_943_9,
    171.624_376_956_302_7,
    177.5,
    2.556_348e305,
    26.543_258_454_250_98,
    27.226_017_111_108_366,
    5.921_587_195_794_507,
    19.061_547_465_398_498,
    1e154,
    1.340_780_792_994_259_6e154,
    1e-154,
    5.319_372_648_326_541e255,
];

/// A function and the bits of an argument.
const WORST: &[(&str, u64)] = &[
    ("exp", 0x3e09_e9cb_bfd6_080b),
    ("sin", 0x3ebe_0000_0000_01c2),
    ("cos", 0x3e88_0000_0000_0009),
    ("asin", 0x3f1c_373f_f4aa_d79b),
    ("acos", 0x3fb5_3ea6_c725_5e88),
    ("sinh", 0x3ebd_ffff_ffff_fe3e),
    ("cosh", 0x3e87_ffff_ffff_fff7),
    ("asinh", 0x3ebe_0000_0000_0fd2),
];

/// Each is hard: its result lies within 2^-36 units of a number or of the middle of two.
#[test]
fn worst_cases() {
    for &(name, bits) in WORST {
        let function = crate::math::FUNCTIONS.iter().find(|function| function.name == name).unwrap();
        let x = f64::from_bits(bits);
        let pair = (function.exact)(x, 0.0).0;
        let rest = pair.1.abs() / (pair.0.abs().next_up() - pair.0.abs());
        let distance = rest.min((0.5 - rest).abs());
        assert!(distance < 2f64.powi(-36), "{name} of {x:e}: {rest}");
    }
}
