//! Constants of the scalar types, such as `u32::MAX` and `f32::PI`, with the names that Rust gives them. The
//! parser replaces the name of such a constant by a literal.

use super::{Failed, Parsed, Parser};
use crate::ast::{ExprId, ExprKind, Name, UnaryOp};
use crate::diag::Diagnostic;
use crate::scalar::Scalar;
use ir::half::Half;
use isa::spelling::nearest;
use std::f64::consts;

/// A constant of the float types: its name, and its value as `f64` and as `f32`.
type Real = (&'static str, f64, f32);

const fn real(name: &'static str, value: f64) -> Real {
    (name, value, value as f32)
}

static REALS: [Real; 26] = [
    ("MAX", f64::MAX, f32::MAX),
    ("MIN", f64::MIN, f32::MIN),
    ("MIN_POSITIVE", f64::MIN_POSITIVE, f32::MIN_POSITIVE),
    ("EPSILON", f64::EPSILON, f32::EPSILON),
    real("INFINITY", f64::INFINITY),
    real("NEG_INFINITY", f64::NEG_INFINITY),
    real("NAN", f64::NAN),
    real("PI", consts::PI),
    real("TAU", consts::TAU),
    real("E", consts::E),
    real("LN_2", consts::LN_2),
    real("LN_10", consts::LN_10),
    real("LOG2_E", consts::LOG2_E),
    real("LOG2_10", consts::LOG2_10),
    real("LOG10_E", consts::LOG10_E),
    real("LOG10_2", consts::LOG10_2),
    real("SQRT_2", consts::SQRT_2),
    real("FRAC_1_SQRT_2", consts::FRAC_1_SQRT_2),
    real("FRAC_2_SQRT_PI", consts::FRAC_2_SQRT_PI),
    real("FRAC_1_PI", consts::FRAC_1_PI),
    real("FRAC_2_PI", consts::FRAC_2_PI),
    real("FRAC_PI_2", consts::FRAC_PI_2),
    real("FRAC_PI_3", consts::FRAC_PI_3),
    real("FRAC_PI_4", consts::FRAC_PI_4),
    real("FRAC_PI_6", consts::FRAC_PI_6),
    real("FRAC_PI_8", consts::FRAC_PI_8),
];
/// Constants that have a different value for `f16`.
static HALVES: [(&str, f64); 4] =
    [("MAX", 65504.0), ("MIN", -65504.0), ("MIN_POSITIVE", 1.0 / 16384.0), ("EPSILON", 1.0 / 1024.0)];
static INTEGERS: [&str; 3] = ["MAX", "MIN", "BITS"];

impl Parser<'_, '_> {
    /// Parses the name of a constant after `u32::`.
    pub(super) fn constant_of(&mut self, scalar: Scalar, of: Name) -> Parsed<ExprId> {
        let name = self.bump_name();
        let (text, span) = (self.ast.name(name.sym), of.span.to(name.span));
        let int = |value, suffix| ExprKind::Int { value, suffix: Some(suffix) };
        let bits = scalar.bits();
        let half = HALVES.iter().find(|row| scalar == Scalar::F16 && row.0 == text);
        let kind = match text {
            _ if let Some(&(_, wide)) = half => {
                Some(ExprKind::Float { wide, narrow: wide as f32, suffix: Some(scalar) })
            }
            _ if scalar.is_float() => REALS
                .iter()
                .find(|row| row.0 == text)
                .map(|&(_, wide, narrow)| ExprKind::Float { wide, narrow, suffix: Some(scalar) }),
            _ if !scalar.is_int() => None,
            "BITS" => Some(int(bits.into(), Scalar::U32)),
            "MAX" => Some(int(u64::MAX >> (64 - bits + u32::from(scalar.is_signed())), scalar)),
            "MIN" if scalar.is_signed() => {
                let magnitude = self.make(int(1 << (bits - 1), scalar), span, 0)?;
                Some(ExprKind::Unary(UnaryOp::Neg, magnitude))
            }
            "MIN" => Some(int(0, scalar)),
            _ => None,
        };
        match kind {
            Some(kind) => self.make(kind, span, 1),
            None => Err(self.no_constant(scalar, name)),
        }
    }

    #[cold]
    fn no_constant(&mut self, scalar: Scalar, name: Name) -> Failed {
        let text = self.ast.name(name.sym);
        let known: Vec<&str> = match scalar {
            _ if scalar.is_float() => REALS.iter().map(|row| row.0).collect(),
            Scalar::Bool => Vec::new(),
            _ => INTEGERS.to_vec(),
        };
        let help = match nearest(text, known.iter().copied()) {
            Some(close) => format!("a similar one exists: `{}::{close}`", scalar.name()),
            None if known.is_empty() => "`bool` has `true` and `false`".to_string(),
            None => format!("there are {}", known.join(", ")),
        };
        self.sink.push(
            Diagnostic::error("E0020", format!("`{}` has no constant `{text}`", scalar.name()))
                .label(name.span, "unknown constant")
                .help(help),
        );
        Failed
    }
}

/// Returns the names of all constants.
pub fn names() -> impl Iterator<Item = &'static str> {
    REALS.iter().map(|row| row.0).chain(INTEGERS)
}

/// Returns the type and the bits of a constant of a scalar type.
pub fn value_of(scalar: Scalar, name: &str) -> Option<(Scalar, u64)> {
    let (min, max) = scalar.limits();
    match name {
        _ if scalar == Scalar::F16 => {
            let wide = REALS.iter().find(|row| row.0 == name)?.1;
            let half = HALVES.iter().find(|row| row.0 == name).map_or(wide, |row| row.1);
            Some((scalar, Half::nearest(half).0.into()))
        }
        _ if scalar.is_float() => {
            let &(_, wide, narrow) = REALS.iter().find(|row| row.0 == name)?;
            let bits = if scalar == Scalar::F64 { wide.to_bits() } else { u64::from(narrow.to_bits()) };
            Some((scalar, bits))
        }
        _ if !scalar.is_int() => None,
        "BITS" => Some((Scalar::U32, scalar.bits().into())),
        "MAX" => Some((scalar, max)),
        "MIN" => Some((scalar, min)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the `f32` value of each constant is the `f64` value rounded to nearest.
    #[test]
    fn narrow_is_the_nearest() {
        for &(name, wide, narrow) in &REALS[4..] {
            assert!(narrow == wide as f32 || name == "NAN", "{name}");
        }
        assert_eq!(REALS[7].2, std::f32::consts::PI);
        assert_eq!(REALS[9].2, std::f32::consts::E);
    }
}
