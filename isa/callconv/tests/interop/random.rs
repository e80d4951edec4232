//! Seeded random types and values.

use callconv::{Scalar, Space, TypeId, Types};

/// A generator of random types and values.
pub struct Random(support::Random);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(support::Random::new(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0.bits()
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0.below(n)
    }

    pub fn choose<T: Copy>(&mut self, list: &[T]) -> T {
        self.0.choose(list)
    }

    fn scalar(&mut self, bf16: bool) -> Scalar {
        match self.below(if bf16 { 10 } else { 9 }) {
            0 => Scalar::Bool,
            1 | 2 => Scalar::Int { bits: self.choose(&[8, 16]), signed: self.below(2) == 0 },
            3 | 4 => Scalar::Int { bits: self.choose(&[32, 64]), signed: self.below(2) == 0 },
            5 => Scalar::F16,
            6 => Scalar::F32,
            7 => Scalar::F64,
            8 => Scalar::Pointer(self.choose(&[
                Space::Flat,
                Space::Global,
                Space::Local,
                Space::Constant,
                Space::Private,
            ])),
            _ => Scalar::BF16,
        }
    }

    /// A scalar, a vector, or a struct of at most 64 bytes, or in a few cases 200.
    pub fn ty(&mut self, types: &mut Types, bf16: bool) -> TypeId {
        match self.below(6) {
            0..=2 => {
                // Structs with region pointers have no form.
                let region = self.below(12) == 0;
                let scalar = if region { Scalar::Pointer(Space::Region) } else { self.scalar(bf16) };
                types.scalar(scalar)
            }
            3 => self.vector(types),
            _ => loop {
                let most = self.choose(&[64, 64, 64, 200]);
                let made = self.structure(types, bf16, 2);
                if types.size(made) <= most {
                    return made;
                }
            },
        }
    }

    fn vector(&mut self, types: &mut Types) -> TypeId {
        let signed = self.below(2) == 0;
        let bits = self.choose(&[8, 16, 32, 64]);
        let int = Scalar::Int { bits, signed };
        let scalar = self.choose(&[int, int, Scalar::F16, Scalar::F32, Scalar::F64]);
        let lanes = self.choose(&[2, 2, 3, 3, 4, 4, 8, 16]);
        types.vector(scalar, lanes).unwrap()
    }

    fn structure(&mut self, types: &mut Types, bf16: bool, depth: u32) -> TypeId {
        let fields: Vec<TypeId> = (0..1 + self.below(5))
            .map(|_| match self.below(8) {
                0 => self.vector(types),
                1 | 2 => {
                    let scalar = self.scalar(bf16);
                    let element = types.scalar(scalar);
                    let len = self.choose(&[1, 2, 3, 5, 8, 40, 64]);
                    types.array(element, len).unwrap()
                }
                3 if depth > 0 => self.structure(types, bf16, depth - 1),
                4 if depth > 0 => {
                    let element = self.structure(types, bf16, depth - 1);
                    types.array(element, 2).unwrap()
                }
                _ => {
                    let scalar = self.scalar(bf16);
                    types.scalar(scalar)
                }
            })
            .collect();
        types.structure(&fields).unwrap()
    }

    /// The image of a value. Halves are neither NaNs nor denormals: where they pass as `f32`, those may change.
    pub fn value(&mut self, types: &Types, ty: TypeId) -> Vec<u8> {
        let mut out: Vec<u8> = (0..types.size(ty)).map(|_| self.next() as u8).collect();
        types.parts(ty, 0, &mut |at, scalar, lanes| {
            for lane in 0..u64::from(lanes) {
                let at = (at + lane * u64::from(scalar.bits() / 8)) as usize;
                match scalar {
                    Scalar::Bool => out[at] &= 1,
                    Scalar::F16 | Scalar::BF16 => out[at + 1] = out[at + 1] & 0xb7 | 0x30,
                    _ => {}
                }
            }
        });
        out
    }
}
