//! Formats of elements in typed buffer accesses. A format says how many bits each component has and what kind
//! of number these bits are.

use half::f16;
use isa::Target;

/// How the bits of a component represent a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Unorm,
    Snorm,
    Uscaled,
    Sscaled,
    Uint,
    Sint,
    /// Signed normalised number as GFX6 and GFX7 convert it: the bits `n` mean `2 n + 1`, divided by the
    /// largest possible `2 n + 1`.
    SnormOgl,
    Float,
}

/// Format of an element: the sizes of its components, and the number type that these have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// Number of bits of each component, starting with the component in the lowest bits. It is 0 for a
    /// component that the format does not have.
    bits: [u8; 4],
    number: Number,
}

/// Sizes in bits of the components of each data format, starting with the component in the lowest bits. The
/// name of a format starts with the component in the highest bits: in `10_11_11`, the component in the lowest
/// bits has 11 bits.
const COMPONENTS: [[u8; 4]; 15] = [
    [0, 0, 0, 0],
    [8, 0, 0, 0],
    [16, 0, 0, 0],
    [8, 8, 0, 0],
    [32, 0, 0, 0],
    [16, 16, 0, 0],
    [11, 11, 10, 0],
    [10, 11, 11, 0],
    [2, 10, 10, 10],
    [10, 10, 10, 2],
    [8, 8, 8, 8],
    [32, 32, 0, 0],
    [16, 16, 16, 16],
    [32, 32, 32, 0],
    [32, 32, 32, 32],
];

const NUMBERS: [Number; 8] = [
    Number::Unorm,
    Number::Snorm,
    Number::Uscaled,
    Number::Sscaled,
    Number::Uint,
    Number::Sint,
    Number::SnormOgl,
    Number::Float,
];

/// The data formats in the order in which GFX10 numbers its unified formats. A unified format combines a data
/// format with a number format. Each pair has the number of a data format, and how many number formats it is
/// combined with: six without float, seven with float, or three if its components have 32 bits.
const UNIFIED: [(u8, u8); 14] = [
    (1, 6),
    (2, 7),
    (3, 6),
    (4, 3),
    (5, 7),
    (6, 7),
    (7, 7),
    (8, 6),
    (9, 6),
    (10, 6),
    (11, 3),
    (12, 7),
    (13, 3),
    (14, 3),
];

impl Format {
    /// Returns the format for the two fields "data format" and "number format", which GFX6 to GFX9 encode
    /// separately.
    pub(crate) fn split(data: u8, number: u8, target: &Target) -> Option<Format> {
        let bits = *COMPONENTS.get(usize::from(data))?;
        let number = NUMBERS[usize::from(number & 7)];
        let format = Format { bits, number };
        let is_known = number != Number::SnormOgl || target.arch.layout.has_ogl_formats();
        (format.has_meaning() && is_known).then_some(format)
    }

    /// Returns the format for a format code of GFX10.
    pub(crate) fn unified(code: u8) -> Option<Format> {
        if code == 0 {
            return Some(Format { bits: COMPONENTS[0], number: Number::Unorm });
        }
        let mut rest = code - 1;
        for (data, count) in UNIFIED {
            if rest < count {
                let number = match (count, rest) {
                    (3, 0) => Number::Uint,
                    (3, 1) => Number::Sint,
                    (3, _) | (_, 6) => Number::Float,
                    _ => NUMBERS[usize::from(rest)],
                };
                return Some(Format { bits: COMPONENTS[usize::from(data)], number });
            }
            rest -= count;
        }
        None
    }

    /// Returns whether the manuals define the format. Undefined are float formats with components of 8 bits
    /// or of 10 and 2 bits, and normalised formats with components of 32 bits.
    fn has_meaning(self) -> bool {
        match self.number {
            Number::Float => !self.bits.contains(&8) && !self.bits.contains(&2),
            Number::Uint | Number::Sint => true,
            _ => !self.bits.contains(&32),
        }
    }

    /// Returns whether this is the format called "invalid". Loads with this format return zero, and stores
    /// with it do nothing.
    pub(crate) fn is_invalid(self) -> bool {
        self.bits[0] == 0
    }

    pub(crate) fn bytes(self) -> u32 {
        self.bits.iter().map(|&bits| u32::from(bits)).sum::<u32>() / 8
    }

    /// Returns whether registers hold the components as integers (true) or as floats (false).
    pub(crate) fn is_integer(self) -> bool {
        matches!(self.number, Number::Uint | Number::Sint)
    }

    /// Returns the value that a load gives to a component that the format does not have. It is 0 for the
    /// first three components and 1 for the fourth.
    fn absent(self, component: usize) -> u32 {
        match component {
            3 => self.one(),
            _ => 0,
        }
    }

    /// Returns the register representation of the number one.
    pub(crate) fn one(self) -> u32 {
        if self.is_integer() { 1 } else { 1f32.to_bits() }
    }

    /// Converts an element, given by its bits in memory, to the 32-bit register values of its four
    /// components.
    pub(crate) fn unpack(self, element: u128) -> [u32; 4] {
        let mut shift = 0;
        std::array::from_fn(|component| match self.bits[component] {
            0 => self.absent(component),
            bits => {
                let raw = (element >> shift) as u32 & mask(bits);
                shift += u32::from(bits);
                self.expand(raw, bits)
            }
        })
    }

    /// Converts the register values of four components to an element in memory.
    pub(crate) fn pack(self, components: [u32; 4]) -> u128 {
        let (mut element, mut shift) = (0, 0);
        for (value, bits) in components.into_iter().zip(self.bits).filter(|(_, bits)| *bits != 0) {
            element |= u128::from(self.reduce(value, bits) & mask(bits)) << shift;
            shift += u32::from(bits);
        }
        element
    }

    fn expand(self, raw: u32, bits: u8) -> u32 {
        let signed = (raw << (32 - bits)) as i32 >> (32 - bits);
        // The quotient is computed in f64 and then converted to f32, so that the result is rounded to f32
        // only once.
        let fraction = |value: f64, most: u32| ((value / f64::from(most)) as f32).to_bits();
        match self.number {
            Number::Unorm => fraction(raw.into(), mask(bits)),
            Number::Snorm => fraction(f64::from(signed).max(-f64::from(mask(bits - 1))), mask(bits - 1)),
            Number::SnormOgl => fraction(f64::from(signed) * 2.0 + 1.0, mask(bits)),
            Number::Uscaled => (raw as f32).to_bits(),
            Number::Sscaled => (signed as f32).to_bits(),
            Number::Uint => raw,
            Number::Sint => signed as u32,
            Number::Float => match bits {
                32 => raw,
                16 => f32::from(f16::from_bits(raw as u16)).to_bits(),
                // Floats of 10 and 11 bits have five exponent bits (as f16 has), no sign bit, and five or six
                // fraction bits. Shifting them makes them an f16.
                _ => f32::from(f16::from_bits((raw << (15 - bits)) as u16)).to_bits(),
            },
        }
    }

    fn reduce(self, value: u32, bits: u8) -> u32 {
        let float = f64::from(f32::from_bits(value));
        // The casts below convert a NaN to 0.
        let round = |value: f64, low: f64, high: f64| value.clamp(low, high).round_ties_even();
        let (most, half) = (f64::from(mask(bits)), f64::from(mask(bits - 1)));
        match self.number {
            Number::Unorm => round(float * most, 0.0, most) as u32,
            Number::Snorm => round(float * half, -half, half) as i32 as u32,
            Number::SnormOgl => round((float * most - 1.0) / 2.0, -half - 1.0, half) as i32 as u32,
            Number::Uscaled => float.clamp(0.0, most).trunc() as u32,
            Number::Sscaled => float.clamp(-half - 1.0, half).trunc() as i32 as u32,
            Number::Uint | Number::Sint => value,
            Number::Float => match bits {
                32 => value,
                16 => crate::float::single_to_half(f32::from_bits(value)).to_bits().into(),
                _ => small_float(value, bits),
            },
        }
    }
}

/// Returns a mask of the low `bits` bits.
fn mask(bits: u8) -> u32 {
    u32::MAX >> (32 - bits)
}

/// Converts an f32 to an unsigned float of 10 or 11 bits, rounding toward zero. Negative numbers become zero.
fn small_float(value: u32, bits: u8) -> u32 {
    let float = f32::from_bits(value);
    let fraction_bits = u32::from(bits) - 5;
    let infinity = 31 << fraction_bits;
    match float {
        _ if float.is_nan() => infinity | 1,
        _ if float <= 0.0 => 0,
        _ if float.is_infinite() => infinity,
        _ => {
            // `units` is the value in units of the last place of the result.
            let exponent = ((value >> 23) as i32 - 127).max(-14);
            let units = (f64::from(float) * 2f64.powi(fraction_bits as i32 - exponent)).trunc() as u32;
            // Adding the units to the exponent field gives the encoded number. In a normal number, the units
            // contain the leading one bit, which adds one to the exponent field. A subnormal number has no
            // leading one bit, so its exponent field stays 0.
            let coded = (((exponent + 14) as u32) << fraction_bits) + units;
            coded.min(infinity - 1)
        }
    }
}
