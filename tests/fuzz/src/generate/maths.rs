//! Mathematical functions of floats.
//!
//! Programs with this theme use many functions of one float type, but only a few calls of library functions,
//! because the body of a library function is inlined at each call.

use super::Generator;
use super::stmt::line;
use crate::program::Stmt;
use crate::types::Ty;

/// Types that a function accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    /// All floats and vectors of floats.
    Any,
    /// Vectors with one of these numbers of lanes.
    Vectors(&'static [usize]),
    /// `f32` and vectors of `f32`.
    F32,
}

/// Functions with the same form of call: accepted types, whether the function is a library function, names,
/// and the text of the call. In the text, `$f` stands for the name; `$a`, `$b` and `$c` for operands; `$p`
/// and `$q` for positive operands of moderate size; `$t` and `$i` for the type and for `i32` with the same
/// number of lanes; `$z` and `$j` for zeros of these two types; `$k` for a small integer; and `$n` for a
/// number that makes names unique.
type Row = (Of, bool, &'static [&'static str], &'static str);

/// Library functions are marked because they generate much code. The signs of NaNs and of some zeros are not
/// specified; additions of 0 and comparisons keep them out of the results.
const ROWS: &[Row] = &[
    (
        Of::Any,
        true,
        &[
            "exp", "exp2", "log", "log2", "exp10", "expm1", "log10", "log1p", "sin", "cos", "tan", "sinpi",
            "cospi", "tanpi", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
            "cbrt", "erf", "erfc", "tgamma", "lgamma",
        ],
        "$f($a)",
    ),
    (Of::Any, true, &["pow", "atan2", "hypot", "remainder", "fmod", "nextafter"], "$f($a, $b)"),
    (Of::Any, true, &["powi", "rootn"], "$f($a, $k)"),
    (Of::Any, true, &["sincos", "modf"], "({ let mut c$n: $t = $z; $f($a, &mut c$n) + c$n })"),
    (Of::Any, true, &["remquo"], "({ let mut q$n: $i = $j; $f($a, $b, &mut q$n) + q$n as $t })"),
    (Of::Any, false, &["frexp"], "({ let mut e$n: $i = $j; $f($a, &mut e$n) + e$n as $t })"),
    (
        Of::Any,
        false,
        &[
            "rcp",
            "rsqrt",
            "logb",
            "sign",
            "degrees",
            "radians",
            "fract",
            "frexp_mant",
            "sqrt",
            "floor",
            "ceil",
            "trunc",
            "round",
            "abs",
        ],
        "$f($a)",
    ),
    (Of::Any, false, &["fdim", "step"], "$f($a, $b)"),
    (Of::Any, false, &["maxmag", "minmag", "min", "max"], "($f($a, $b) + 0.0)"),
    (Of::Any, false, &["fma", "mix", "smoothstep"], "$f($a, $b, $c)"),
    (Of::Any, false, &["clamp"], "($f($a, -8.0, $p) + 0.0)"),
    // The sign of a NaN is not specified, so the clamp removes NaNs.
    (Of::Any, false, &["copysign"], "$f($a, clamp($b + 0.5, -8.0, 8.0))"),
    (Of::Any, false, &["ldexp"], "$f($a, $k)"),
    (Of::Any, false, &["frexp_exp", "ilogb"], "($f($b + $a) as $t)"),
    (Of::Any, false, &["isnan", "isinf"], "select($f($b + $a), $b, $c)"),
    (Of::Vectors(&[2, 3, 4]), false, &["length", "fast_length"], "$t($f($a))"),
    (Of::Vectors(&[2, 3, 4]), false, &["distance", "fast_distance", "dot"], "$t($f($a, $b))"),
    (Of::Vectors(&[2, 3, 4]), false, &["normalize", "fast_normalize"], "$f($a)"),
    (Of::Vectors(&[3, 4]), false, &["cross"], "$f($a, $b)"),
    // The native instructions flush denormals, which the interpreter does not, so neither operands nor
    // results are denormal.
    (Of::Any, false, &["native_rcp", "native_recip", "native_rsqrt", "native_sqrt"], "$f($p)"),
    (Of::Any, false, &["native_divide"], "$f($p, $q)"),
    (
        Of::F32,
        false,
        &[
            "native_exp2",
            "native_log2",
            "native_sin",
            "native_cos",
            "native_exp",
            "native_exp10",
            "native_log",
            "native_log10",
            "native_tan",
            "half_recip",
            "half_rsqrt",
            "half_sqrt",
            "half_exp2",
            "half_log2",
            "half_exp",
            "half_exp10",
            "half_log",
            "half_log10",
        ],
        "$f($p)",
    ),
    (Of::F32, true, &["half_sin", "half_cos", "half_tan"], "$f($p)"),
    (Of::F32, false, &["native_powr", "half_powr", "half_divide"], "$f($p, $q)"),
];

impl Of {
    fn has(self, ty: Ty) -> bool {
        match self {
            Of::Any => true,
            Of::Vectors(lanes) => lanes.contains(&ty.lanes().0),
            Of::F32 => ty.lanes().1 == Ty::F32,
        }
    }
}

impl Generator {
    /// Assigns the result of a function of the program's float type.
    pub(super) fn function_of_floats(&mut self) -> Stmt {
        let of = |ty: &Ty| Some(ty.lanes().1) == self.features.maths;
        let types: Vec<Ty> = self.types.iter().copied().filter(of).collect();
        let ty = *self.rng.pick(&types);
        let (var, n) = (self.var(ty), self.fresh());
        // Values soon become NaN, so half of the assignments replace a NaN by another value.
        let value = self.mathematics(ty, 2).unwrap_or_else(|| self.leaf_expr(ty));
        match self.rng.one_in(2) {
            true => line(format!("{var} = {value};")),
            false => line(format!(
                "{{ let z{n} = {value}; {var} = select(z{n} == z{n}, z{n}, {}); }}",
                self.leaf_expr(ty)
            )),
        }
    }

    /// Returns a call of a mathematical function with operands.
    pub(super) fn mathematics(&mut self, ty: Ty, depth: usize) -> Option<String> {
        if !ty.is_float() {
            return self.of_float(ty);
        }
        // A library function of a vector generates code for each lane.
        let costly = self.costly >= ty.lanes().0;
        let library = costly && self.rng.one_in(2);
        let rows =
            ROWS.iter().filter(|row| row.0.has(ty) && (if library { row.1 } else { costly || !row.1 }));
        let all: Vec<(&Row, &str)> =
            rows.flat_map(|row| row.2.iter().map(move |&name| (row, name))).collect();
        let &(&(_, costs, _, call), name) = self.rng.pick(&all);
        if costs {
            self.costly -= ty.lanes().0;
        }
        Some(self.called(call, name, ty, depth))
    }

    /// Expands the text of a call.
    fn called(&mut self, call: &str, name: &str, ty: Ty, depth: usize) -> String {
        let n = self.fresh().to_string();
        let mut text = String::new();
        let mut parts = call.split('$');
        text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let (what, rest) = part.split_at(1);
            text += &match what {
                "f" => name.to_owned(),
                "n" => n.clone(),
                "t" => ty.name(),
                "i" => ty.with_scalar(Ty::I32).name(),
                "z" => ty.zero(),
                "j" => ty.with_scalar(Ty::I32).zero(),
                "k" => format!("({})", self.rng.below(9) - 4),
                "a" => self.expr(ty, depth - 1),
                "p" | "q" => format!("clamp(abs({}) + 0.125, 0.125, 24.0)", self.leaf_expr(ty)),
                _ => self.leaf_expr(ty),
            };
            text += rest;
        }
        text
    }

    /// Returns an integer that a function of floats produces.
    fn of_float(&mut self, ty: Ty) -> Option<String> {
        let of = self.features.maths?;
        let (lanes, lane) = ty.lanes();
        if lanes > 1 {
            return None;
        }
        let value = format!("{} + {}", self.leaf_expr(of), self.expr(of, 1));
        let name = lane.name();
        Some(match self.rng.below(3) {
            0 => format!("({}({value}) as {name})", self.rng.pick(&["ilogb", "frexp_exp"])),
            1 => format!(
                "select({}({value}), {}, {})",
                self.rng.pick(&["isnan", "isinf"]),
                self.leaf_expr(ty),
                self.leaf_expr(ty)
            ),
            _ => format!("((clamp({value}, -100.0, 100.0) + 0.0) as {name})"),
        })
    }
}
