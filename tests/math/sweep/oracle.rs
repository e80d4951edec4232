//! Exact values of a function of one number for thousands of consecutive `f32` at once.
//!
//! `f32` of one sign and exponent are an arithmetic progression. A block of them gets the polynomial of degree 7 through eight
//! direct values in `f64`, in Newton's form; between the nodes it is compared with three direct values more, at the ends and in the middle of a
//! gap. Four times the largest difference there, and 2^-46 of the largest value for what is rounded off, has to be
//! below [`ALLOWED`] units of the smallest result of the block. Else the block is halved, and numbers of a block of 32 are computed one by
//! one. So the error is at most [`ALLOWED`] where the function is what its samples show, and 2^-28 units where it is computed
//! directly. What a sweep reports as worst is computed again with twice the precision.
//!
//! Sines of large angles turn by more from one number to the next than a polynomial follows. There
//! `sin(x + kd) = sin x cos kd + cos x sin kd`, with a table for `kd` that serves all blocks of an exponent; results
//! below 2^-16, where what is rounded off would show, are computed directly.

/// Consecutive numbers; of one sign and exponent if the first is a multiple.
pub const BLOCK: usize = 4096;

/// Units in the last place of `f32` that a value may be off.
pub const ALLOWED: f64 = 1.0 / 1024.0;

/// How a function is evaluated in `f64`.
#[derive(Clone, Copy)]
pub enum Reference {
    Smooth(fn(f64) -> f64),
    /// Of an angle, from its sine and cosine.
    Turning(fn(f64) -> f64, fn(f64, f64) -> f64),
}

/// Sines and cosines of multiples of the distance of two numbers.
pub struct Rotations {
    exponent: u32,
    both: Vec<(f64, f64)>,
}

impl Rotations {
    pub fn new() -> Rotations {
        Rotations { exponent: 0, both: Vec::new() }
    }

    fn for_exponent(&mut self, exponent: u32) -> &[(f64, f64)] {
        if self.exponent != exponent {
            let distance = 2f64.powi(exponent as i32 - 150);
            self.exponent = exponent;
            self.both = (0..BLOCK).map(|k| libm::sincos(k as f64 * distance)).collect();
        }
        &self.both
    }
}

fn number(bits: u32) -> f64 {
    f32::from_bits(bits).into()
}

/// The values for the numbers from `bits` on, a multiple of `BLOCK`.
pub fn fill(reference: Reference, turns: &mut Rotations, bits: u32, out: &mut [f64]) {
    let exponent = bits >> 23 & 0xff;
    match reference {
        Reference::Turning(f, of) if (127 + 6..255).contains(&exponent) => {
            rotate_block(f, of, turns.for_exponent(exponent), bits, out);
        }
        Reference::Smooth(f) | Reference::Turning(f, _) => smooth(f, bits, out),
    }
}

fn rotate_block(
    f: fn(f64) -> f64,
    of: fn(f64, f64) -> f64,
    turns: &[(f64, f64)],
    bits: u32,
    out: &mut [f64],
) {
    let x = number(bits);
    let (sin, cos) = libm::sincos(x);
    let sign = 1f64.copysign(x);
    for ((k, out), &(s, c)) in out.iter_mut().enumerate().zip(turns) {
        let s = s * sign;
        let (s, c) = (sin * c + cos * s, cos * c - sin * s);
        *out = if s.abs().min(c.abs()) < 1.0 / 65536.0 { f(number(bits + k as u32)) } else { of(s, c) };
    }
}

fn smooth(f: fn(f64) -> f64, bits: u32, out: &mut [f64]) {
    let count = out.len();
    if count <= 32 {
        out.iter_mut().zip(bits..).for_each(|(out, bits)| *out = f(number(bits)));
    } else if !interpolated(f, bits, out) {
        let (low, high) = out.split_at_mut(count / 2);
        smooth(f, bits, low);
        smooth(f, bits + count as u32 / 2, high);
    }
}

/// Chebyshev nodes in 4096ths of a block, even and odd ones: some functions of large numbers tell these apart.
const NODES: [u32; 8] = [39, 345, 910, 1648, 2447, 3185, 3751, 4056];

/// Ends, and the middle of a gap.
const CHECKS: [u32; 3] = [0, 2049, 4095];

/// Whether values between few direct ones are good enough.
fn interpolated(f: fn(f64) -> f64, bits: u32, out: &mut [f64]) -> bool {
    let count = out.len() as u32;
    let place = |node: u32| node * count / BLOCK as u32;
    let direct = |node: u32| f(number(bits + place(node)));
    let values = NODES.map(direct);
    let checks = CHECKS.map(direct);
    let first = values[0].to_bits();
    if values
        .iter()
        .chain(&checks)
        .all(|value| value.to_bits() == first || value.is_nan() && values[0].is_nan())
    {
        out.fill(values[0]);
        return true;
    }
    let largest = values.iter().chain(&checks).fold(0.0, |most, value| value.abs().max(most));
    if values.iter().chain(&checks).any(|value| !value.is_finite()) {
        return false;
    }
    // In units of a block, so that neither products nor quotients are large.
    let size = 1.0 / f64::from(count);
    let at = NODES.map(|node| f64::from(place(node)) * size);
    let newton = differences(at, values);
    let error = CHECKS.iter().zip(checks).fold(0.0f64, |most, (&check, value)| {
        most.max((horner(&newton, &at, f64::from(place(check)) * size) - value).abs())
    });
    let mut least = f64::INFINITY;
    for (k, out) in out.iter_mut().enumerate() {
        *out = horner(&newton, &at, f64::from(k as u32) * size);
        least = least.min(out.abs());
    }
    let unit = least.max(f64::from(f32::MIN_POSITIVE)) * 2f64.powi(-24);
    4.0 * error + largest * 2f64.powi(-46) < ALLOWED * unit
}

fn differences(at: [f64; 8], mut values: [f64; 8]) -> [f64; 8] {
    for order in 1..8 {
        for n in (order..8).rev() {
            values[n] = (values[n] - values[n - 1]) / (at[n] - at[n - order]);
        }
    }
    values
}

#[inline(always)]
fn horner(newton: &[f64; 8], at: &[f64; 8], x: f64) -> f64 {
    (0..7).rev().fold(newton[7], |all, n| all * (x - at[n]) + newton[n])
}

/// Each block against direct values, in units of `f32`: the error is what it is said to be.
#[test]
fn values_of_blocks() {
    let functions = [
        Reference::Smooth(libm::exp),
        Reference::Smooth(libm::log),
        Reference::Smooth(libm::tgamma),
        Reference::Smooth(libm::atan),
        Reference::Turning(libm::sin, |s, _| s),
        Reference::Turning(libm::tan, |s, c| s / c),
    ];
    let mut turns = Rotations::new();
    let mut out = vec![0.0; BLOCK];
    for reference in functions {
        let (Reference::Smooth(f) | Reference::Turning(f, _)) = reference;
        for block in (0..1u32 << 20).step_by(6007) {
            let bits = block * BLOCK as u32;
            fill(reference, &mut turns, bits, &mut out);
            for (k, &value) in out.iter().enumerate().step_by(61) {
                let exact = f(number(bits + k as u32));
                let unit = exact.abs().max(f64::from(f32::MIN_POSITIVE)) * 2f64.powi(-24);
                let fine = (value - exact).abs() <= ALLOWED * unit
                    || value.to_bits() == exact.to_bits()
                    || value.is_nan() && exact.is_nan();
                assert!(fine, "{:e}: {value:e}, not {exact:e}", number(bits + k as u32));
            }
        }
    }
}
