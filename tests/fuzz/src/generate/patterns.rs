//! Tuples, structs and arrays: constructed, passed, destructured and matched.

use super::Generator;
use super::stmt::line;
use crate::program::Stmt;
use crate::types::Ty;

impl Generator {
    /// Returns a value that passes through a tuple, an array or a struct.
    pub(super) fn taken_apart(&mut self, ty: Ty, depth: usize) -> String {
        let (n, other) = (self.fresh(), self.ty());
        let (a, b) = (self.expr(ty, depth - 1), self.expr(ty, 1));
        let c = self.expr(other, 1);
        let index = self.var(Ty::U32);
        match self.rng.below(9) {
            0 => format!("({{ let (p{n}, q{n}) = ({a}, {b}); p{n} + q{n} }})"),
            1 => format!(
                "({{ let (mut p{n}, (_, q{n}, ..)) = ({a}, ({c}, {b}, {c}, 1)); p{n} -= q{n}; p{n} }})"
            ),
            2 => format!("({{ let [p{n}, .., q{n}] = [{a}, {b}, {b}, {a}]; p{n} * q{n} }})"),
            3 => format!("({a}, {c}, {b}).{}", self.rng.pick(&[0, 2])),
            4 => format!("[{a}, {b}, {b}][{index} % 3]"),
            5 => {
                let condition = self.condition(1);
                format!("(if {condition} {{ ({a}, {c}) }} else {{ ({b}, {c}) }}).0")
            }
            6 => format!("({{ let t{n} = (({a}, {c}), [{b}; 2]); t{n}.1[1] + (t{n}.0).0 }})"),
            7 => self.of_struct(ty, &a, n),
            _ => {
                let ((value, patterns), b) = (self.tuple_patterns(n), self.leaf_expr(ty));
                let arms: String =
                    patterns.iter().map(|p| format!("{p} => {}, ", self.expr(ty, 1))).collect();
                format!("(match {value} {{ {arms}_ => {b} }})")
            }
        }
    }

    /// Returns a part of a struct that contains numbers, an array and another struct.
    fn of_struct(&mut self, ty: Ty, a: &str, n: usize) -> String {
        let node = self.node();
        match ty {
            Ty::U32 => format!(
                "({{ let Node {{ id: i{n}, inner: Pair {{ a: x{n}, .. }}, .. }} = {node}; i{n} ^ x{n} + {a} }})"
            ),
            Ty::U64 => format!(
                "({{ let Node {{ inner: Pair {{ c: mut x{n}, .. }}, weights, .. }} = {node}; x{n} += weights[1] as u64; x{n} ^ {a} }})"
            ),
            Ty::F32 => {
                let at = self.var(Ty::U32);
                format!("(NODES[{at} % 3].b * {a} + FLOATS[{at} & 3])")
            }
            Ty::U16 => {
                format!("({{ let Node {{ weights: [w{n}, .., v{n}], .. }} = {node}; w{n} * v{n} - {a} }})")
            }
            Ty::I16 => format!("(STEPS[{} & 3].1 + {a})", self.var(Ty::U32)),
            _ => format!("(match {node}.flag {{ true => {a}, false => {} }})", self.leaf_expr(ty)),
        }
    }

    /// Returns a struct that contains another struct.
    fn node(&mut self) -> String {
        let (a, b, c) = (self.expr(Ty::U32, 1), self.leaf_expr(Ty::F32), self.leaf_expr(Ty::U64));
        let (w, flag) = (self.leaf_expr(Ty::U16), self.condition(0));
        let inner = match self.rng.below(3) {
            0 => "st".to_owned(),
            1 => format!("NODES[{a} % 3]"),
            _ => format!("Pair {{ a: {a}, b: {b}, c: {c} }}"),
        };
        let id = self.leaf_expr(Ty::U32);
        format!("(Node {{ id: {id} & 7, inner: {inner}, weights: [{w}, 2, {w} >> 3], flag: {flag} }})")
    }

    /// Returns a tuple, array or struct to match, and patterns for some of its values, which bind parts of
    /// it.
    fn tuple_patterns(&mut self, n: usize) -> (String, Vec<String>) {
        let (a, b) = (self.expr(Ty::U32, 1), self.var(Ty::U32));
        let condition = self.condition(1);
        let small = self.rng.below(8);
        let guard = if self.rng.one_in(2) { format!(" if p{n} > {b}") } else { String::new() };
        let (value, all): (String, Vec<String>) = match self.rng.below(3) {
            0 => (
                format!("({a} & 15, {condition}, uni_0 & 3)"),
                vec![
                    format!("(0, true, _) | ({small}, _, 1..=2)"),
                    format!("(p{n}, false, 0..2) {}", guard.trim_start()),
                    "(1..5 | 9, ..)".to_owned(),
                    format!("(.., {})", self.rng.below(4)),
                    format!("(LIMIT, x{n}, _) | (_, x{n}, 3) if x{n}"),
                    format!("(p{n}, ..) if p{n} % 3 == 1 && {}", self.condition(0)),
                ],
            ),
            1 => (
                format!("[{a} % 7, {b} & 3, {small}]"),
                vec![
                    format!("[0, _, _] | [_, {}, ..]", self.rng.below(4)),
                    format!("[p{n}, ..] if p{n} > {b}"),
                    format!("[mut p{n}, 1.., _] if {{ p{n} += 1; p{n} == 3 }}"),
                    "[..=4, .., 5..=7]".to_owned(),
                    "[..2, .., 2..6]".to_owned(),
                    format!("[5, p{n}, _] | [p{n}, 2, _]{guard}"),
                ],
            ),
            _ => (
                self.node(),
                vec![
                    "Node { id: 0, .. }".to_owned(),
                    format!("Node {{ id: p{n}, flag: true, .. }}{guard}"),
                    format!("Node {{ id: 3.., weights: [_, _, x{n}], .. }} if x{n} > 9u16"),
                    format!(
                        "Node {{ inner: Pair {{ a: 1 | {small}, c: x{n}, .. }}, flag: _, .. }} if x{n} as u32 != {b}"
                    ),
                    "Node { flag: false, weights: [0..100, ..], .. }".to_owned(),
                ],
            ),
        };
        let kept: Vec<String> = all.into_iter().filter(|_| !self.rng.one_in(3)).collect();
        (format!("({value})"), kept)
    }

    /// Writes a `match` on several values at once.
    pub(super) fn match_parts(&mut self, depth: usize) -> Stmt {
        let n = self.fresh();
        let (value, patterns) = self.tuple_patterns(n);
        let mut arms = Vec::new();
        for pattern in patterns {
            let mut body = self.block(depth + 1, false);
            if pattern.contains(&format!("p{n}")) {
                body.push(line(format!("{} ^= p{n};", self.var(Ty::U32))));
            }
            arms.push(Stmt::Block(format!("{pattern} => {{"), body));
        }
        let default = match self.rng.one_in(2) {
            true => "_".to_owned(),
            false => format!("rest{n}"),
        };
        arms.push(Stmt::Block(format!("{default} => {{"), self.block(depth + 1, false)));
        Stmt::Block(format!("match {value} {{"), arms)
    }

    /// Writes a `match` whose arms are assignments and jumps.
    pub(super) fn short_arms(&mut self) -> Stmt {
        let (head, patterns) = self.matched(6);
        let mut arms = Vec::new();
        for pattern in patterns {
            let arm = match self.rng.below(4) {
                0 if !self.open.is_empty() => self.way_out(),
                1 => self.assign_parts_text(),
                _ => {
                    let ty = self.ty();
                    format!("{} {}", self.target(ty), self.expr(ty, 2))
                }
            };
            arms.push(line(format!("{pattern} => {arm},")));
        }
        arms.push(line("_ => uni_1 += 1,".to_owned()));
        Stmt::Block(format!("{head} {{"), arms)
    }

    /// Assigns to several places at once, from left to right.
    pub(super) fn assign_parts(&mut self) -> Stmt {
        let text = self.assign_parts_text();
        line(format!("{text};"))
    }

    fn assign_parts_text(&mut self) -> String {
        let (first, second) = (self.ty(), self.ty());
        let (a, b) = (self.var(first), self.var(second));
        let (x, y, z) = (self.expr(first, 2), self.expr(second, 2), self.expr(Ty::U32, 2));
        match self.rng.below(4) {
            0 => format!("({a}, arr[{} & 7], _) = ({x}, {z}, {y})", self.var(Ty::U32)),
            1 => format!("({a}, ({b}, st.a)) = ({x}, ({y}, {z}))"),
            // The values of two variables are exchanged.
            2 => {
                let other = self.var(first);
                format!("({a}, {other}) = ({other}, {a})")
            }
            _ => format!("({b}, {a}) = ({y}, {x})"),
        }
    }
}
