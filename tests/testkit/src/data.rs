//! Arguments, expected results, and random numbers.

/// Contents of a buffer.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Data {
    I32(Vec<i32>),
    U32(Vec<u32>),
    F32(Vec<f32>),
    F64(Vec<f64>),
}

impl Data {
    /// Returns the bytes in little-endian order.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Data::I32(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Data::U32(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Data::F32(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Data::F64(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        }
    }

    /// Converts bytes to values of the same type.
    pub fn with_bytes(&self, bytes: &[u8]) -> Data {
        fn words<const N: usize, T>(bytes: &[u8], value: impl Fn([u8; N]) -> T) -> Vec<T> {
            bytes.as_chunks::<N>().0.iter().map(|chunk| value(*chunk)).collect()
        }
        match self {
            Data::I32(_) => Data::I32(words(bytes, i32::from_le_bytes)),
            Data::U32(_) => Data::U32(words(bytes, u32::from_le_bytes)),
            Data::F32(_) => Data::F32(words(bytes, f32::from_le_bytes)),
            Data::F64(_) => Data::F64(words(bytes, f64::from_le_bytes)),
        }
    }

    fn floats(&self) -> Vec<f64> {
        match self {
            Data::I32(values) => values.iter().map(|&value| f64::from(value)).collect(),
            Data::U32(values) => values.iter().map(|&value| f64::from(value)).collect(),
            Data::F32(values) => values.iter().map(|&value| f64::from(value)).collect(),
            Data::F64(values) => values.clone(),
        }
    }
}

/// Expected content of a buffer after a dispatch.
#[derive(Clone, Debug)]
pub enum Expected {
    /// Exactly these bits.
    Exactly(Data),
    /// Each value within `ulps` units in the last place of its `scale`. The scale is the sum of the
    /// magnitudes of all terms of the value, because the error of a sum is relative to its terms and not to
    /// the result.
    Near {
        /// The values, computed in double precision or better.
        values: Vec<f64>,
        /// The scale of each value.
        scales: Vec<f64>,
        /// The error bound, in units of 2^-23 (f32) or 2^-52 (f64) of the scale.
        ulps: f64,
    },
    /// Integers between a lower and an upper bound each, for results that depend on how floats were rounded.
    Between(Vec<i32>, Vec<i32>),
}

impl Expected {
    /// Compares a result with the expected content. The error describes the first difference.
    pub fn check(&self, got: &Data) -> Result<(), String> {
        match self {
            Expected::Exactly(expected) => {
                let (left, right) = (expected.bytes(), got.bytes());
                match left.iter().zip(&right).position(|(left, right)| left != right) {
                    None => Ok(()),
                    Some(byte) => {
                        let at = byte / if matches!(expected, Data::F64(_)) { 8 } else { 4 };
                        let (expected, got) = (expected.floats()[at], got.floats()[at]);
                        Err(format!("element {at} is {got}, expected exactly {expected}"))
                    }
                }
            }
            Expected::Near { values, scales, ulps } => {
                let unit = if matches!(got, Data::F64(_)) { f64::EPSILON } else { f64::from(f32::EPSILON) };
                for (at, got) in got.floats().into_iter().enumerate() {
                    let (expected, bound) = (values[at], scales[at] * unit * ulps);
                    let error = (got - expected).abs();
                    if (error > bound || error.is_nan()) && got != expected {
                        return Err(format!("element {at} is {got}, expected {expected} within {bound:e}"));
                    }
                }
                Ok(())
            }
            Expected::Between(low, high) => {
                let Data::I32(got) = got else { return Err("not integers".into()) };
                let wrong = got.iter().enumerate().find(|&(at, value)| !(low[at]..=high[at]).contains(value));
                wrong.map_or(Ok(()), |(at, value)| {
                    Err(format!("element {at} is {value}, expected {} to {}", low[at], high[at]))
                })
            }
        }
    }
}

/// Value of an argument.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Value {
    I32(i32),
    F32(f32),
    F64(f64),
    /// A buffer, and its expected content after the dispatch (`None`: it is not changed).
    Buffer(Data, Option<Expected>),
}

/// An argument of a kernel.
#[derive(Clone, Debug)]
pub struct Arg {
    /// Name of the parameter.
    pub name: &'static str,
    /// Its value.
    pub value: Value,
}

impl Arg {
    /// Returns an integer argument.
    pub fn int(name: &'static str, value: usize) -> Arg {
        Arg { name, value: Value::I32(value as i32) }
    }

    /// Returns an f32 argument.
    pub fn float(name: &'static str, value: f32) -> Arg {
        Arg { name, value: Value::F32(value) }
    }

    /// Returns an f64 argument.
    pub fn double(name: &'static str, value: f64) -> Arg {
        Arg { name, value: Value::F64(value) }
    }

    /// Returns a buffer that the kernel only reads.
    pub fn input(name: &'static str, data: Data) -> Arg {
        Arg { name, value: Value::Buffer(data, None) }
    }

    /// Returns a buffer that the kernel writes.
    pub fn output(name: &'static str, before: Data, after: Expected) -> Arg {
        Arg { name, value: Value::Buffer(before, Some(after)) }
    }
}

/// A dispatch, with its expected results.
#[derive(Clone, Debug)]
pub struct Case {
    /// Number of work-items in each dimension.
    pub grid: [u32; 3],
    /// Arguments in the order of the OpenCL twin's signature.
    pub args: Vec<Arg>,
}

/// Random data for kernels, the same on all machines.
#[derive(Clone, Debug)]
pub struct Rng(support::Random);

impl Rng {
    /// Creates a generator; each seed gives a different sequence.
    pub fn new(seed: u64) -> Rng {
        Rng(support::Random::new(seed))
    }

    /// Returns 32 random bits.
    pub fn bits(&mut self) -> u32 {
        (self.0.bits() >> 32) as u32
    }

    /// Returns a number below `limit`.
    pub fn below(&mut self, limit: u32) -> u32 {
        self.0.below(limit)
    }

    /// Returns an f32 in -1.0..1.0 with 20 random bits.
    pub fn float(&mut self) -> f32 {
        (self.bits() >> 12) as f32 / (1 << 19) as f32 - 1.0
    }

    /// Returns `count` f32 in -1.0..1.0.
    pub fn floats(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.float()).collect()
    }

    /// Returns `count` f64 in about -1.0..1.0.
    pub fn doubles(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| f64::from(self.float()) + f64::from(self.float()) * 1e-7).collect()
    }

    /// Returns `count` 32-bit words.
    pub fn words(&mut self, count: usize) -> Vec<u32> {
        (0..count).map(|_| self.bits()).collect()
    }
}

/// A sum, together with the sum of the magnitudes of its terms.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    pub(crate) value: f64,
    pub(crate) scale: f64,
}

impl Sum {
    pub(crate) fn add(&mut self, term: f64) {
        self.value += term;
        self.scale += term.abs();
    }
}

/// Returns sums as an expected result.
pub(crate) fn near(sums: &[Sum], ulps: f64) -> Expected {
    Expected::Near {
        values: sums.iter().map(|sum| sum.value).collect(),
        scales: sums.iter().map(|sum| sum.scale).collect(),
        ulps,
    }
}

/// Returns `size` rounded up to a multiple of `unit`.
pub(crate) fn round_up(size: usize, unit: usize) -> u32 {
    size.next_multiple_of(unit) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_can_fail() {
        let near = Expected::Near { values: vec![1.0], scales: vec![1.0], ulps: 1.0 };
        assert!(near.check(&Data::F32(vec![1.0 + f32::EPSILON])).is_ok());
        assert!(near.check(&Data::F32(vec![1.0 + 2.0 * f32::EPSILON])).is_err());
        assert!(near.check(&Data::F32(vec![f32::NAN])).is_err());
        assert!(Expected::Exactly(Data::I32(vec![1, 2])).check(&Data::I32(vec![1, 3])).is_err());
        assert!(Expected::Between(vec![1], vec![2]).check(&Data::I32(vec![3])).is_err());
    }
}
