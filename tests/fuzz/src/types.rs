//! Types of the generated variables, their declarations, and the hash of their values that a kernel stores.

use crate::program::{ARRAYS, INPUTS};
use std::fmt::Write;
use support::Random;

/// A number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // as the language names them
pub enum Scalar {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    F32,
    F64,
}

/// Name and number of bits of each scalar type, in the order of [`Scalar`].
const SCALARS: [(Scalar, &str, u32); 11] = [
    (Scalar::U8, "u8", 8),
    (Scalar::I8, "i8", 8),
    (Scalar::U16, "u16", 16),
    (Scalar::I16, "i16", 16),
    (Scalar::U32, "u32", 32),
    (Scalar::I32, "i32", 32),
    (Scalar::U64, "u64", 64),
    (Scalar::I64, "i64", 64),
    (Scalar::F16, "f16", 16),
    (Scalar::F32, "f32", 32),
    (Scalar::F64, "f64", 64),
];

/// Possible numbers of lanes of a vector; 1 for a scalar.
const LANES: [u8; 6] = [1, 2, 3, 4, 8, 16];

/// Type of a variable: a scalar, or a vector of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ty {
    scalar: Scalar,
    count: u8,
}

/// Types that many programs use.
const USUAL: [Ty; 16] = [
    Ty::I32,
    Ty::U64,
    Ty::I64,
    Ty::F32,
    Ty::F64,
    Ty::U8,
    Ty::I8,
    Ty::U16,
    Ty::I16,
    Ty::F16,
    Ty::U32X2,
    Ty::vector(Scalar::I32, 3),
    Ty::F32X4,
    Ty::vector(Scalar::F16, 4),
    Ty::I16X2,
    Ty::vector(Scalar::F16, 2),
];

#[allow(missing_docs)] // as the language names them
impl Ty {
    pub const U8: Ty = Ty::vector(Scalar::U8, 1);
    pub const I8: Ty = Ty::vector(Scalar::I8, 1);
    pub const U16: Ty = Ty::vector(Scalar::U16, 1);
    pub const I16: Ty = Ty::vector(Scalar::I16, 1);
    pub const U32: Ty = Ty::vector(Scalar::U32, 1);
    pub const I32: Ty = Ty::vector(Scalar::I32, 1);
    pub const U64: Ty = Ty::vector(Scalar::U64, 1);
    pub const I64: Ty = Ty::vector(Scalar::I64, 1);
    pub const F16: Ty = Ty::vector(Scalar::F16, 1);
    pub const F32: Ty = Ty::vector(Scalar::F32, 1);
    pub const F64: Ty = Ty::vector(Scalar::F64, 1);
    pub const U32X2: Ty = Ty::vector(Scalar::U32, 2);
    pub const F32X4: Ty = Ty::vector(Scalar::F32, 4);
    pub const I16X2: Ty = Ty::vector(Scalar::I16, 2);
}

impl Ty {
    /// Returns the vector type with `count` lanes.
    pub const fn vector(scalar: Scalar, count: u8) -> Ty {
        Ty { scalar, count }
    }

    /// Returns random types for a program's variables: `u32`, the float type that is the program's theme,
    /// some of the usual types, and sometimes an arbitrary type.
    pub fn some(rng: &mut Random, float: Option<Ty>) -> Vec<Ty> {
        let mut types = vec![Ty::U32];
        if let Some(float) = float {
            types.extend([float, Ty { count: *rng.pick(&LANES[1..4]), ..float }]);
        }
        let share = if float.is_some() { 1 } else { 2 };
        let usual: Vec<Ty> = USUAL.iter().copied().filter(|_| rng.below(5) < share).collect();
        types.extend(usual.into_iter().filter(|ty| Some(*ty) != float));
        if rng.one_in(2) {
            let any = Ty::vector(rng.pick(&SCALARS).0, *rng.pick(&LANES));
            types.push(any);
        }
        let mut seen = Vec::new();
        types.retain(|ty| {
            !seen.contains(ty) && {
                seen.push(*ty);
                true
            }
        });
        types
    }

    /// Returns a random scalar type.
    pub fn any_scalar(rng: &mut Random) -> Ty {
        Ty::vector(rng.pick(&SCALARS).0, 1)
    }

    fn row(self) -> (Scalar, &'static str, u32) {
        SCALARS[self.scalar as usize]
    }

    /// Returns the name of the type in the language.
    pub fn name(self) -> String {
        let (_, name, _) = self.row();
        if self.count == 1 { name.to_owned() } else { format!("{name}x{}", self.count) }
    }

    /// Returns the number of bits of a lane.
    pub fn bits(self) -> u32 {
        self.row().2
    }

    /// Returns the size in memory in bytes; three lanes occupy the space of four.
    pub fn bytes(self) -> u32 {
        self.bits() / 8 * u32::from(self.count).next_power_of_two()
    }

    /// Returns the number of lanes and their type.
    pub fn lanes(self) -> (usize, Ty) {
        (usize::from(self.count), Ty::vector(self.scalar, 1))
    }

    /// Returns whether the type is a float or a vector of floats.
    pub fn is_float(self) -> bool {
        matches!(self.scalar, Scalar::F16 | Scalar::F32 | Scalar::F64)
    }

    /// Returns whether the type is a signed integer or a vector of signed integers.
    pub fn is_signed(self) -> bool {
        matches!(self.scalar, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64)
    }

    /// Returns the type with the same number of lanes of a different scalar type.
    pub fn with_scalar(self, scalar: Ty) -> Ty {
        Ty { scalar: scalar.scalar, count: self.count }
    }

    /// Returns a zero of the type in the language's syntax, for places where the type is known.
    pub fn zero(self) -> String {
        let zero = if self.is_float() { "0.0" } else { "0" };
        if self.is_scalar() { zero.to_owned() } else { format!("{}({zero})", self.name()) }
    }

    /// Returns whether the type is a scalar.
    pub fn is_scalar(self) -> bool {
        self.count == 1
    }
}

/// The variables of a program.
#[derive(Clone, Debug)]
pub struct Vars {
    /// Types of the variables; always includes [`Ty::U32`].
    pub types: Vec<Ty>,
    /// Number of variables of each type.
    pub each: usize,
}

impl Vars {
    /// Returns the initial value of a variable.
    fn initial(ty: Ty, n: usize, function: bool) -> String {
        let word = if function { "(a + gid * 3)" } else { "gid" };
        let scale = n as i32 * 7 - 5;
        let (lanes, lane) = ty.lanes();
        if ty == Ty::U32X2 {
            return format!("u32x2({word} * 5, input[({word} + {n} * 31) & {}])", INPUTS - 1);
        }
        if lanes > 1 {
            let name = lane.name();
            let step = if ty.is_float() { "0.125" } else { "5" };
            let one = |at: usize| match at % 3 {
                0 => format!("(({word} as i32) * {scale} + {at}) as {name}"),
                1 => format!("(s + {at}) as {name}"),
                _ => format!("(f * {at}.5) as {name} * {step}"),
            };
            return format!("{}({})", ty.name(), (0..lanes).map(one).collect::<Vec<_>>().join(", "));
        }
        match ty {
            Ty::U32 => format!("input[({word} + {n}) & {}]", INPUTS - 1),
            Ty::I32 => format!("({word} as i32) * {scale} - s"),
            Ty::U64 => format!("(u32_{n} as u64) * 0x{:x}u64 + m", 0x1_0001_0003u64 << n),
            Ty::I64 => format!("((({word} as i32) * {scale} - s) as i64) << {}", n * 9),
            Ty::F16 => format!("((({word} as i32) * {scale}) as f16) * 0.25 + f as f16"),
            Ty::F32 => format!("((({word} as i32) * {scale}) as f32) * 0.25 + f"),
            Ty::F64 => format!("((({word} as i32) * {scale}) as f64) * 0.375 - d"),
            Ty::U8 => format!("({word} as u8) * 7 + j + {n}"),
            Ty::I16 => format!("({word} as i16) * {scale} - k"),
            _ => format!("(({word} as i32) * {scale} - s) as {}", ty.name()),
        }
    }

    /// Writes the declarations of all variables.
    pub fn declare(&self, function: bool, out: &mut String) {
        let arrays = ARRAYS;
        let _ = writeln!(out, "    let mut arr: [u32; {}] = [gid; {}];", arrays[0], arrays[0]);
        let _ = writeln!(out, "    let mut big: [u32; {}] = [n; {}];", arrays[1], arrays[1]);
        for &ty in &self.types {
            for n in 0..self.each {
                let name = ty.name();
                let _ = writeln!(out, "    let mut {name}_{n}: {name} = {};", Vars::initial(ty, n, function));
            }
        }
        // These variables are uniform until a statement under a divergent condition assigns to them.
        out.push_str("    let mut uni_0: u32 = n * 3;\n    let mut uni_1: u32 = (s as u32) ^ 77;\n");
        out.push_str("    let mut wide_0: u64 = m * 0x100000007u64;\n");
        out.push_str("    let mut flag_0: bool = (gid & 4) != 0;\n    let mut flag_1: bool = n > 1000;\n");
        out.push_str("    let mut st = Pair { a: gid ^ 9, b: f, c: m };\n");
    }

    /// Returns the result expression of a device function.
    pub fn last_value(&self, ty: Ty) -> String {
        let var = format!("{}_0", ty.name());
        match ty {
            Ty::U32 => format!("{var} ^ arr[a & 7] ^ big[lid % {}] ^ st.a", ARRAYS[1]),
            _ if ty.is_float() => format!("{var} + b"),
            _ => format!("{var} ^ b"),
        }
    }

    /// Writes the computation of `h`, a hash of all variables.
    pub fn write_hash(&self, out: &mut String) {
        out.push_str("    let mut h: u32 = 2166136261;\n");
        let mut mix = |value: &str| {
            let _ = writeln!(out, "    h = (h ^ ({value})) * 16777619;");
        };
        for &ty in &self.types {
            for n in 0..self.each {
                let var = format!("{}_{n}", ty.name());
                match ty.lanes() {
                    // Packed types are hashed as whole words, because packed operations are to be tested; the
                    // clamp replaces NaNs by numbers.
                    (2, Ty::I16 | Ty::U16) => mix(&format!("bitcast::<u32>({var})")),
                    (2, Ty::F16) => {
                        mix(&format!("bitcast::<u32>(clamp({var}, -60000.0, 60000.0) + 0.0)"));
                    }
                    (4, Ty::F16) => {
                        let number = format!("bitcast::<u64>(clamp({var}, -60000.0, 60000.0) + 0.0)");
                        mix(&format!("{number} as u32"));
                        mix(&format!("({number} >> 32) as u32"));
                    }
                    (1, _) => scalar_words(ty, &var, &mut mix),
                    (lanes, lane) => {
                        (0..lanes).for_each(|at| scalar_words(lane, &format!("{var}.s{at:x}"), &mut mix));
                    }
                }
            }
        }
        for value in ["uni_0", "uni_1", "flag_0 as u32", "flag_1 as u32", "st.a"] {
            mix(value);
        }
        scalar_words(Ty::U64, "wide_0", &mut mix);
        scalar_words(Ty::F32, "st.b", &mut mix);
        scalar_words(Ty::U64, "st.c", &mut mix);
        let _ = writeln!(out, "    for k in 0..8 {{ h = (h ^ arr[k]) * 16777619; }}");
        let _ = writeln!(out, "    for k in 0..{} {{ h = (h ^ big[k]) * 16777619; }}", ARRAYS[1]);
    }
}

/// Adds the words of a value to the hash. NaNs are replaced by a constant because their bits are not
/// specified, and the addition of 0.0 removes the sign of zeros.
fn scalar_words(ty: Ty, var: &str, mix: &mut impl FnMut(&str)) {
    match ty {
        Ty::U32 => mix(var),
        Ty::U64 | Ty::I64 => {
            mix(&format!("{var} as u32"));
            mix(&format!("({var} >> 32) as u32"));
        }
        Ty::F16 => mix(&format!("if {var} == {var} {{ bitcast::<u16>({var} + 0.0) as u32 }} else {{ 7 }}")),
        Ty::F32 => mix(&format!("if {var} == {var} {{ bitcast::<u32>({var} + 0.0) }} else {{ 7 }}")),
        Ty::F64 => {
            mix(&format!("if {var} == {var} {{ bitcast::<u64>({var} + 0.0) as u32 }} else {{ 7 }}"));
            mix(&format!("if {var} == {var} {{ (bitcast::<u64>({var} + 0.0) >> 32) as u32 }} else {{ 9 }}"));
        }
        _ => mix(&format!("{var} as u32")),
    }
}
