//! Functions of floats.

use super::Generator;
use crate::types::Ty;

/// Of one number.
const ONE: &[&str] = &[
    "rcp",
    "rsqrt",
    "exp",
    "exp2",
    "log",
    "log2",
    "exp10",
    "expm1",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "sinpi",
    "cospi",
    "tanpi",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "cbrt",
    "erf",
    "erfc",
    "tgamma",
    "lgamma",
    "logb",
    "sign",
    "degrees",
    "radians",
    "fract",
    "frexp_mant",
];

/// Of two.
const TWO: &[&str] =
    &["pow", "atan2", "hypot", "fmod", "remainder", "nextafter", "fdim", "maxmag", "minmag", "step"];

impl Generator {
    pub(super) fn mathematics(&mut self, ty: Ty, depth: usize) -> String {
        let (a, b, n) = (self.expr(ty, depth - 1), self.leaf(ty), self.fresh());
        let (name, lanes) = (ty.name(), ty.lanes().0);
        match self.rng.below(12) {
            0..=4 => format!("{}({a})", self.rng.pick(ONE)),
            5..=6 => format!("{}({a}, {b})", self.rng.pick(TWO)),
            7 if ty.is_scalar() => match self.rng.below(3) {
                0 => format!("({{ let mut c{n}: {name} = 0.0; sincos({a}, &mut c{n}) + c{n} }})"),
                1 => format!("({{ let mut c{n}: {name} = 0.0; modf({a}, &mut c{n}) + c{n} }})"),
                _ => format!("({{ let mut q{n} = 0i32; remquo({a}, {b}, &mut q{n}) + q{n} as {name} }})"),
            },
            7 if lanes <= 4 => format!("{name}({}({a}, {b}))", self.rng.pick(&["dot", "distance"])),
            7 => format!("(-{a})"),
            8 if ty.is_scalar() => {
                format!("{}({a}, {})", self.rng.pick(&["powi", "rootn"]), self.rng.below(7) as i32 - 3)
            }
            8 => format!("smoothstep({a}, {b}, {})", self.leaf(ty)),
            9 if ty.is_scalar() => format!("(ilogb({a} + 1.0) as {name})"),
            9 if lanes <= 4 => format!("normalize({a})"),
            10 => format!("mix({a}, {b}, {})", self.leaf(ty)),
            // The sign of a NaN is nobody's.
            11 => format!("copysign({a}, clamp({b} + 0.5, -8.0, 8.0))"),
            _ if ty.is_scalar() => format!("(if isnan({a}) || isinf({b}) {{ 1.0 }} else {{ {a} }})"),
            _ => format!("abs({a})"),
        }
    }
}
