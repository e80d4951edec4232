//! Numbers as bytes, and what buffers have to hold.

use half::f16;

/// What a buffer has to hold: says what is wrong.
pub type Check = Box<dyn Fn(&[u8]) -> Result<(), String> + Sync>;

/// A number in memory.
pub trait Number: Copy + PartialEq + std::fmt::Debug + Send + Sync + 'static {
    fn put(self, out: &mut Vec<u8>);
    fn all(bytes: &[u8]) -> Vec<Self>;
    fn to_f64(self) -> f64;
}

macro_rules! numbers {
    ($($ty:ty, $wide:expr;)*) => {$(
        impl Number for $ty {
            fn put(self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }
            fn all(bytes: &[u8]) -> Vec<Self> {
                bytes.as_chunks().0.iter().map(|chunk| <$ty>::from_le_bytes(*chunk)).collect()
            }
            fn to_f64(self) -> f64 {
                let wide: fn($ty) -> f64 = $wide;
                wide(self)
            }
        }
    )*};
}

numbers! {
    u8, f64::from;
    i8, f64::from;
    u16, f64::from;
    u32, f64::from;
    i32, f64::from;
    u64, |x| x as f64;
    f16, f16::to_f64;
    f32, f64::from;
    f64, |x| x;
}

/// What can be laid out as an argument.
pub trait Bytes {
    fn bytes(&self) -> Vec<u8>;
}

impl<T: Number> Bytes for T {
    fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.put(&mut out);
        out
    }
}

impl<T: Number> Bytes for Vec<T> {
    fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.iter().for_each(|value| value.put(&mut out));
        out
    }
}

/// These numbers and no others.
pub fn exactly<T: Number>(wanted: Vec<T>) -> Check {
    Box::new(move |bytes| {
        let found = T::all(bytes);
        if found.len() != wanted.len() {
            return Err(format!("{} elements, {} expected", found.len(), wanted.len()));
        }
        match found.iter().zip(&wanted).position(|(a, b)| a != b) {
            None => Ok(()),
            Some(at) => Err(format!("element {at} is {:?}, not {:?}", found[at], wanted[at])),
        }
    })
}

/// Numbers of type `T` that differ from these by no more than `bound`, times the size of those that are above 1.
pub fn close<T: Number>(wanted: Vec<f64>, bound: f64) -> Check {
    Box::new(move |bytes| {
        let found = T::all(bytes);
        if found.len() != wanted.len() {
            return Err(format!("{} elements, {} expected", found.len(), wanted.len()));
        }
        let wrong = |(&a, &b): (&T, &f64)| {
            let error = (a.to_f64() - b).abs();
            a.to_f64() != b && (error.is_nan() || error > bound * b.abs().max(1.0))
        };
        match found.iter().zip(&wanted).position(wrong) {
            None => Ok(()),
            Some(at) => Err(format!("element {at} is {:?}, not {}", found[at], wanted[at])),
        }
    })
}

/// What a function of the numbers says.
pub fn holds<T: Number>(test: impl Fn(Vec<T>) -> Result<(), String> + Sync + 'static) -> Check {
    Box::new(move |bytes| test(T::all(bytes)))
}
