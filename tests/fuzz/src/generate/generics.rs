//! Generic functions over types with a bound and over constants. Calls give the type arguments, or leave them
//! to be inferred.

use super::Generator;
use crate::types::Ty;

/// Parameters and result of a generic function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// `(a: T, b: T) -> T`
    Two,
    /// `(a: T, x: [T; K]) -> T`
    Array,
    /// `((a, b): (T, u32)) -> (u32, T)`
    Tuple,
    /// `(p: *private T, a: T) -> T`
    Pointer,
    /// `(a: T) -> T`, with a number and a flag as constant parameters.
    Consts,
    /// `(c: bool, a: T, b: T) -> T` for all types.
    Any,
}

const FORMS: [Form; 6] = [Form::Two, Form::Array, Form::Tuple, Form::Pointer, Form::Consts, Form::Any];

/// A generic function.
#[derive(Clone, Debug)]
pub struct Generic {
    form: Form,
    bound: &'static str,
    /// Source text of the function.
    pub text: String,
}

fn fits(bound: &str, ty: Ty) -> bool {
    match bound {
        "" => true,
        _ if !ty.is_scalar() => false,
        "Int" => !ty.is_float(),
        "Float" => ty.is_float(),
        "Signed" => ty.is_signed() || ty.is_float(),
        "Unsigned" => !ty.is_signed() && !ty.is_float(),
        _ => true,
    }
}

impl Generator {
    pub(super) fn generic_functions(&mut self) {
        for n in 0..1 + self.rng.below(4) {
            let form = *self.rng.pick(&FORMS);
            let bound = match form {
                Form::Any => "",
                _ => *self.rng.pick(&["Number", "Int", "Int", "Float", "Signed", "Unsigned"]),
            };
            let text = self.generic_function(n, form, bound);
            self.generic.push(Generic { form, bound, text });
        }
    }

    fn generic_function(&mut self, n: usize, form: Form, bound: &'static str) -> String {
        let (params, head) = match form {
            Form::Two => (format!("T: {bound}"), "a: T, b: T"),
            Form::Array => (format!("T: {bound}, const K: u32"), "a: T, x: [T; K]"),
            Form::Tuple => (format!("T: {bound}"), "(a, c): (T, u32)"),
            Form::Pointer => (format!("T: {bound}"), "p: *private T, a: T"),
            Form::Consts => (format!("T: {bound}, const K: u32, const F: bool"), "a: T"),
            Form::Any => ("T".to_owned(), "c: bool, a: T, b: T"),
        };
        if form == Form::Any {
            let body = match self.rng.below(3) {
                0 => "if c { a } else { b }",
                1 => "let mut t = (a, b); if c { t = (t.1, t.0); } t.1",
                _ => "let x = [a, b, a]; let [_, y, z] = x; match c { true => z, false => y }",
            };
            return format!("fn generic_{n}<{params}>({head}) -> T {{ {body} }}\n");
        }
        let result = if form == Form::Tuple { "(u32, T)" } else { "T" };
        let mut lines = "    let mut t = a;\n".to_owned();
        match form {
            Form::Array => {
                let e = self.generic_expr("x[i]", bound, 2);
                lines += &format!("    for i in 0..K {{ t = t {} {e}; }}\n", self.rng.pick(&["+", "-", "*"]));
            }
            Form::Pointer => {
                lines += &format!("    *p = {};\n    t += *p;\n", self.generic_expr("*p", bound, 1))
            }
            Form::Consts => {
                let (e, other) = (self.generic_expr("t", bound, 2), self.generic_expr("a", bound, 1));
                lines += &format!("    if F {{ for i in 0..K {{ t = {e}; }} }} else {{ t = {other}; }}\n");
            }
            _ => {}
        }
        let mut called =
            (0..n).filter(|&m| self.generic[m].bound == bound && self.generic[m].form == Form::Two);
        if let Some(m) = called.next_back() {
            lines += &format!("    t = generic_{m}(t, {});\n", self.generic_expr("a", bound, 1));
        }
        let b = if form == Form::Two { "b" } else { "a" };
        let e = self.generic_expr(b, bound, 3);
        lines += &match self.rng.below(3) {
            0 => format!("    if t > {e} {{ return {}; }}\n", value_of(form, "t")),
            1 => format!("    let k = 'k: {{ if t != {e} {{ break 'k {b}; }} t }};\n    t += k;\n"),
            _ => format!("    t = {e};\n"),
        };
        format!("fn generic_{n}<{params}>({head}) -> {result} {{\n{lines}    {}\n}}\n", value_of(form, "t"))
    }

    /// Returns an expression of type `T` that is valid for all types of the bound.
    fn generic_expr(&mut self, name: &str, bound: &str, depth: usize) -> String {
        if depth == 0 || self.rng.one_in(4) {
            return match self.rng.below(4) {
                0 => format!("{}", self.rng.below(100)),
                1 => "a".to_owned(),
                2 if bound != "Number" && bound != "Signed" && bound != "Float" => "T::MAX".to_owned(),
                _ => format!("({name})"),
            };
        }
        let (a, b) = (self.generic_expr(name, bound, depth - 1), self.generic_expr("t", bound, depth - 1));
        let ints = matches!(bound, "Int" | "Unsigned");
        match self.rng.below(9) {
            0..=3 => format!("(t {} {a} * {b})", self.rng.pick(&["+", "-"])),
            4 if ints => format!("(t {} {a})", self.rng.pick(&["^", "&", "|"])),
            4 => format!("(t * {b})"),
            5 if ints => format!("((t ^ {b}) >> (T::BITS / 2))"),
            6 => format!("(if t < {a} {{ t - {b} }} else {{ {a} + t }})"),
            7 if ints => format!("max(t, min({a} + t, {b}))"),
            8 => format!("((t * {b}) as {} as T)", if bound == "Float" { "f64" } else { "i32" }),
            _ => format!("select(t >= {b}, t, {a})"),
        }
    }

    /// Returns a call of a generic function that accepts the type, or a simple expression if no function
    /// accepts it.
    pub(super) fn generic_call(&mut self, ty: Ty, depth: usize) -> String {
        let fitting: Vec<usize> =
            (0..self.generic.len()).filter(|&n| fits(self.generic[n].bound, ty)).collect();
        if fitting.is_empty() {
            return self.leaf_expr(ty);
        }
        let n = *self.rng.pick(&fitting);
        let (a, b, name) = (self.expr(ty, depth - 1), self.leaf_expr(ty), ty.name());
        let said = self.rng.one_in(2);
        let one = if said { format!("::<{name}>") } else { String::new() };
        let id = self.fresh();
        match self.generic[n].form {
            Form::Two => format!("generic_{n}{one}({a}, {b})"),
            Form::Array => {
                let count = 1 + self.rng.below(4);
                let list: Vec<String> = (0..count).map(|_| self.leaf_expr(ty)).collect();
                let given = if said { format!("::<_, {{ {count} * 1 }}>") } else { String::new() };
                format!("generic_{n}{given}({a}, [{}])", list.join(", "))
            }
            Form::Tuple => {
                let c = self.leaf_expr(Ty::U32);
                format!(
                    "({{ let (x{id}, y{id}) = generic_{n}{one}(({a}, {c})); if x{id} > 7 {{ y{id} }} else {{ {b} }} }})"
                )
            }
            Form::Pointer => format!(
                "({{ let mut x{id} = {b}; let y{id} = generic_{n}{one}(&mut x{id}, {a}); x{id} - y{id} }})"
            ),
            Form::Consts => {
                let flag = *self.rng.pick(&["true", "false", "{ LIMIT > 3 }"]);
                format!("generic_{n}::<{name}, {}, {flag}>({a})", self.rng.below(4))
            }
            Form::Any => {
                let condition = self.condition(1);
                match self.rng.below(3) {
                    0 => format!("generic_{n}({condition}, ({a}, 1u8), ({b}, 2)).0"),
                    _ => format!("generic_{n}{one}({condition}, {a}, {b})"),
                }
            }
        }
    }
}

fn value_of(form: Form, value: &str) -> String {
    if form == Form::Tuple { format!("(c + 1, {value})") } else { value.to_owned() }
}
