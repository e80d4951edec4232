//! Literals whose types are inferred, constants of the types, and conditions on the processor.

use super::Generator;
use crate::types::Ty;

/// Names of the constants of the float types.
const FLOATS: [&str; 26] = [
    "MAX",
    "MIN",
    "MIN_POSITIVE",
    "EPSILON",
    "INFINITY",
    "NEG_INFINITY",
    "NAN",
    "PI",
    "TAU",
    "E",
    "LN_2",
    "LN_10",
    "LOG2_E",
    "LOG2_10",
    "LOG10_E",
    "LOG10_2",
    "SQRT_2",
    "FRAC_1_SQRT_2",
    "FRAC_2_SQRT_PI",
    "FRAC_1_PI",
    "FRAC_2_PI",
    "FRAC_PI_2",
    "FRAC_PI_3",
    "FRAC_PI_4",
    "FRAC_PI_6",
    "FRAC_PI_8",
];

impl Generator {
    /// Returns a constant of a float type.
    pub(super) fn constant(&mut self, ty: Ty) -> String {
        format!("{}::{}", ty.name(), self.rng.pick(&FLOATS))
    }

    /// Returns a value with a literal whose type is inferred, or with a constant of a type.
    pub(super) fn inferred(&mut self, ty: Ty, depth: usize) -> Option<String> {
        if !ty.is_scalar() {
            return None;
        }
        let (a, name, n) = (self.expr(ty, depth - 1), ty.name(), self.fresh());
        let one = if ty.is_float() { "1.0" } else { "1" };
        let condition = self.condition(1);
        Some(match self.rng.below(8) {
            0 => format!("(if {condition} {{ {one} }} else {{ {a} }})"),
            1 => format!("({{ let mut z{n} = {one}; if {condition} {{ z{n} = {a}; }} z{n} + {one} }})"),
            2 => format!("({{ let z{n} = (3, {one}); if z{n}.0 == uni_0 {{ {a} }} else {{ z{n}.1 }} }})"),
            3 | 7 if ty.is_float() => format!("({a} * {})", self.constant(ty)),
            3 => format!("({a} ^ {name}::{})", self.rng.pick(&["MAX", "MIN"])),
            4 => format!(
                "(if has({}) {{ {a} + {one} }} else {{ {one} + {a} }})",
                self.rng.pick(&["dpp", "flat", "dot1"])
            ),
            5 => format!("({{ const C{n}: {name} = {one} + {one}; static_assert(C{n} > 1); {a} - C{n} }})"),
            _ => format!("({a} + eleven() as {name})"),
        })
    }
}
