//! Types of the generated variables, their declarations, and the hash of their values that a kernel stores.

use crate::program::{ARRAYS, INPUTS};
use std::fmt::Write;

/// Types of the variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // as the language names them
pub enum Ty {
    U8,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    F32,
    F64,
    U32x2,
    I32x3,
    F32x4,
    F16x4,
    I16x2,
}

use Ty::{F16, F16x4, F32, F32x4, F64, I16, I16x2, I32, I32x3, I64, U8, U32, U32x2, U64};

/// All of them.
pub const TYPES: [Ty; 14] = [U32, I32, U64, I64, F32, F64, U8, I16, U32x2, I32x3, F32x4, F16, F16x4, I16x2];

impl Ty {
    /// As the language writes it.
    pub fn name(self) -> &'static str {
        match self {
            U8 => "u8",
            I16 => "i16",
            U32 => "u32",
            I32 => "i32",
            U64 => "u64",
            I64 => "i64",
            F16 => "f16",
            F32 => "f32",
            F64 => "f64",
            U32x2 => "u32x2",
            I32x3 => "i32x3",
            F32x4 => "f32x4",
            F16x4 => "f16x4",
            I16x2 => "i16x2",
        }
    }

    /// Bits of a lane.
    pub fn bits(self) -> u32 {
        match self {
            U8 => 8,
            I16 | F16 | F16x4 | I16x2 => 16,
            U64 | I64 | F64 => 64,
            _ => 32,
        }
    }

    /// Number of lanes and their type.
    pub fn lanes(self) -> (usize, Ty) {
        match self {
            U32x2 => (2, U32),
            I32x3 => (3, I32),
            F32x4 => (4, F32),
            F16x4 => (4, F16),
            I16x2 => (2, I16),
            _ => (1, self),
        }
    }

    /// A scalar float, or a vector of them.
    pub fn is_float(self) -> bool {
        matches!(self, F16 | F32 | F64 | F32x4 | F16x4)
    }

    /// Not a vector.
    pub fn is_scalar(self) -> bool {
        self.lanes().0 == 1
    }
}

/// Which variables a program has.
#[derive(Clone, Debug)]
pub struct Vars {
    /// Types that occur; [`Ty::U32`] always does.
    pub types: Vec<Ty>,
    /// Variables of each type.
    pub each: usize,
}

impl Vars {
    /// A variable's first value.
    fn initial(ty: Ty, n: usize, function: bool) -> String {
        let word = if function { "(a + gid * 3)" } else { "gid" };
        let scale = n as i32 * 7 - 5;
        match ty {
            U32 => format!("input[({word} + {n}) & {}]", INPUTS - 1),
            I32 => format!("({word} as i32) * {scale} - s"),
            U64 => format!("(u32_{n} as u64) * 0x{:x}u64 + m", 0x1_0001_0003u64 << n),
            I64 => format!("((({word} as i32) * {scale} - s) as i64) << {}", n * 9),
            F16 => format!("((({word} as i32) * {scale}) as f16) * 0.25 + f as f16"),
            F32 => format!("((({word} as i32) * {scale}) as f32) * 0.25 + f"),
            F64 => format!("((({word} as i32) * {scale}) as f64) * 0.375 - d"),
            U8 => format!("({word} as u8) * 7 + j + {n}"),
            I16 => format!("({word} as i16) * {scale} - k"),
            U32x2 => format!("u32x2({word} * 5, input[({word} + {n} * 31) & {}])", INPUTS - 1),
            I32x3 => format!("i32x3(s, {word} as i32, {scale})"),
            F16x4 => format!("f16x4(f as f16, {word} as f16, {scale}.5, 0.125)"),
            I16x2 => format!("i16x2(k, ({word} as i16) * {scale})"),
            F32x4 => format!("f32x4(f, {word} as f32, {scale}.5, f32(2.0) * f)").replace("f32(2.0)", "2.0"),
        }
    }

    /// Declares everything.
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
        // The same for all work-items until someone assigns to them under a condition.
        out.push_str("    let mut uni_0: u32 = n * 3;\n    let mut uni_1: u32 = (s as u32) ^ 77;\n");
        out.push_str("    let mut wide_0: u64 = m * 0x100000007u64;\n");
        out.push_str("    let mut flag_0: bool = (gid & 4) != 0;\n    let mut flag_1: bool = n > 1000;\n");
        out.push_str("    let mut st = Pair { a: gid ^ 9, b: f, c: m };\n");
    }

    /// The result of a device function.
    pub fn last_value(&self, ty: Ty) -> String {
        let var = format!("{}_0", ty.name());
        match ty {
            U32 => format!("{var} ^ arr[a & 7] ^ big[lid % {}] ^ st.a", ARRAYS[1]),
            _ if ty.is_float() => format!("{var} + b"),
            _ => format!("{var} ^ b"),
        }
    }

    /// Declares `h`, made of all variables.
    pub fn write_hash(&self, out: &mut String) {
        out.push_str("    let mut h: u32 = 2166136261;\n");
        let mut mix = |value: &str| {
            let _ = writeln!(out, "    h = (h ^ ({value})) * 16777619;");
        };
        for &ty in &self.types {
            for n in 0..self.each {
                let var = format!("{}_{n}", ty.name());
                match ty.lanes() {
                    // Whole words, which packed operations are for; NaNs become numbers.
                    (2, I16) => mix(&format!("bitcast::<u32>({var})")),
                    (4, F16) => {
                        let number = format!("bitcast::<u64>(clamp({var}, -60000.0, 60000.0) + 0.0)");
                        mix(&format!("{number} as u32"));
                        mix(&format!("({number} >> 32) as u32"));
                    }
                    (1, _) => scalar_words(ty, &var, &mut mix),
                    (lanes, lane) => {
                        (0..lanes).for_each(|at| scalar_words(lane, &format!("{var}.s{at}"), &mut mix));
                    }
                }
            }
        }
        for value in ["uni_0", "uni_1", "flag_0 as u32", "flag_1 as u32", "st.a"] {
            mix(value);
        }
        scalar_words(U64, "wide_0", &mut mix);
        scalar_words(F32, "st.b", &mut mix);
        scalar_words(U64, "st.c", &mut mix);
        let _ = writeln!(out, "    for k in 0..8 {{ h = (h ^ arr[k]) * 16777619; }}");
        let _ = writeln!(out, "    for k in 0..{} {{ h = (h ^ big[k]) * 16777619; }}", ARRAYS[1]);
    }
}

/// The words that stand for a value: NaNs differ in their bits from one implementation to the next, and zeros in their
/// sign.
fn scalar_words(ty: Ty, var: &str, mix: &mut impl FnMut(&str)) {
    match ty {
        U32 => mix(var),
        U64 | I64 => {
            mix(&format!("{var} as u32"));
            mix(&format!("({var} >> 32) as u32"));
        }
        F16 => mix(&format!("if {var} == {var} {{ bitcast::<u16>({var} + 0.0) as u32 }} else {{ 7 }}")),
        F32 => mix(&format!("if {var} == {var} {{ bitcast::<u32>({var} + 0.0) }} else {{ 7 }}")),
        F64 => {
            mix(&format!("if {var} == {var} {{ bitcast::<u64>({var} + 0.0) as u32 }} else {{ 7 }}"));
            mix(&format!("if {var} == {var} {{ (bitcast::<u64>({var} + 0.0) >> 32) as u32 }} else {{ 9 }}"));
        }
        _ => mix(&format!("{var} as u32")),
    }
}
