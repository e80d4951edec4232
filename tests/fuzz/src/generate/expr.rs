//! Generates expressions and conditions.

use super::Generator;
use crate::program::{ARRAYS, INPUTS, PASSED, TABLE};
use crate::types::Ty;

impl Generator {
    pub(super) fn uniform_condition(&mut self) -> String {
        // These conditions are uniform in a work-group. Functions use them too, although a function may be
        // called under a divergent condition.
        match self.rng.below(6) {
            0 => format!("(n & {}) != 0", 1 << self.rng.below(8)),
            1 => format!("s > {}", self.rng.below(100) - 50),
            2 => format!("m < {}u64", self.rng.bits() >> 8),
            3 => format!("P == {}", 36 + self.rng.below(3)),
            4 => format!("num_groups(0) > {}", self.rng.below(4)),
            _ => format!("group_id({}) == {}", self.rng.below(3), self.rng.below(3)),
        }
    }

    pub(super) fn condition(&mut self, depth: usize) -> String {
        if depth > 0 && self.rng.one_in(4) {
            let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
            let op = *self.rng.pick(&["&&", "||", "^", "&", "|", "!="]);
            return format!("({a} {op} {b})");
        }
        match self.rng.below(16) {
            0 => format!("!({})", self.condition(0)),
            1..=2 => format!("({})", self.uniform_condition()),
            3..=5 => format!("flag_{}", self.rng.below(2)),
            6 if self.features.waves && depth > 0 => {
                let inner = self.condition(0);
                format!("{}({inner})", self.rng.pick(&["any", "all"]))
            }
            7 => format!("(gid {} {})", self.rng.pick(&["<", ">", "=="]), self.rng.below(160)),
            8 => format!(
                "(uni_{} {} {})",
                self.rng.below(2),
                self.rng.pick(&["<", ">="]),
                self.rng.below(4000)
            ),
            _ => {
                let ty = self.scalar();
                let op = *self.rng.pick(&["==", "!=", "<", "<=", ">", ">="]);
                let (a, b) = (self.expr(ty, 1), self.expr(ty, 1));
                format!("({a} {op} {b})")
            }
        }
    }

    pub(super) fn expr(&mut self, ty: Ty, depth: usize) -> String {
        if depth == 0 || self.rng.one_in(5) {
            return self.leaf_expr(ty);
        }
        if self.rng.one_in(25) {
            return self.match_expr(ty, depth);
        }
        if self.rng.one_in(10) {
            let condition = self.condition(1);
            let (a, b) = (self.expr(ty, depth - 1), self.expr(ty, depth - 1));
            return match self.rng.one_in(2) {
                true => format!("(if {condition} {{ {a} }} else {{ {b} }})"),
                false => format!("select({condition}, {a}, {b})"),
            };
        }
        if self.rng.one_in(16) && self.functions.contains(&ty) {
            return self.call(ty, depth);
        }
        // Nested operands get a smaller depth, so that the nesting ends.
        if depth >= 2
            && self.rng.one_in(3)
            && let Some(value) = self.special(ty, depth)
        {
            return value;
        }
        if !ty.is_scalar() {
            return self.vector_expr(ty, depth);
        }
        if self.rng.one_in(6) {
            return self.conversion(ty, depth);
        }
        if self.rng.one_in(12) {
            return self.lane(ty, depth);
        }
        if ty.is_float() { self.float_expr(ty, depth) } else { self.int_expr(ty, depth) }
    }

    /// Returns an expression of one of the program's themes, or of a feature that all programs use.
    fn special(&mut self, ty: Ty, depth: usize) -> Option<String> {
        type Way = fn(&mut Generator, Ty, usize) -> Option<String>;
        let features = self.features;
        let themes: [(bool, Way); 7] = [
            (true, Generator::inferred),
            (self.rng.one_in(2), Generator::promised),
            (features.patterns, |all, ty, depth| Some(all.taken_apart(ty, depth))),
            (features.generics, |all, ty, depth| Some(all.generic_call(ty, depth))),
            (features.maths.is_some(), Generator::mathematics),
            (features.waves, Generator::active_lanes),
            (features.memory, Generator::space),
        ];
        let ways: Vec<Way> = themes.iter().filter(|theme| theme.0).map(|theme| theme.1).collect();
        // There are many mathematical functions, so programs with this theme use them more often.
        let way = match features.maths {
            Some(of) if ty.lanes().1 == of && !self.rng.one_in(3) => Generator::mathematics,
            _ => *self.rng.pick(&ways),
        };
        way(self, ty, depth)
    }

    fn match_expr(&mut self, ty: Ty, depth: usize) -> String {
        let (head, patterns) = self.matched(40);
        let kind = self.rng.below(7);
        let mut arms = String::new();
        for (pattern, n) in patterns.iter().zip(0..) {
            let value = if kind < 4 { self.row_number(ty, kind, n) } else { self.expr(ty, depth - 1) };
            arms += &format!("{pattern} => {value}, ");
        }
        let default =
            if kind < 4 && self.rng.one_in(2) { self.row_number(ty, kind, 3) } else { self.leaf_expr(ty) };
        format!("({head} {{ {arms}_ => {default} }})")
    }

    /// Returns a constant for arm `n`: arbitrary, small, one of two values, or values in equal steps.
    fn row_number(&mut self, ty: Ty, kind: usize, n: u32) -> String {
        let (lanes, scalar) = ty.lanes();
        let number = match kind {
            0 => return self.literal(ty),
            1 => self.rng.below(14) as u32,
            2 => 3 + self.rng.below(2) as u32 * 5,
            _ => 7 + 2 * n,
        };
        let number = if scalar.is_float() { format!("{number}.0") } else { number.to_string() };
        let one = format!("{number}{}", scalar.name());
        if lanes == 1 { one } else { format!("{}({one})", ty.name()) }
    }

    /// Returns the head of a `match` and random patterns for some values, close together or far apart, which
    /// may overlap; or a row of consecutive patterns, not much longer than `most`.
    pub(super) fn matched(&mut self, most: usize) -> (String, Vec<String>) {
        if self.rng.one_in(3) {
            return self.matched_row(most);
        }
        let ty = if self.rng.one_in(3) { self.scalar() } else { Ty::U32 };
        let ty = if ty.is_float() { Ty::U32 } else { ty };
        let value = self.expr(ty, 1);
        let (head, signed) = match self.rng.below(4) {
            0 => (format!("match {value}"), ty.is_signed()),
            1 => ("match (uni_0 & 15)".to_owned(), false),
            _ => (format!("match ({value} & {})", [7, 15, 31, 100][self.rng.below(4)]), false),
        };
        let step = *self.rng.pick(&[1, 1, 1, 3]);
        let mut patterns = Vec::new();
        for _ in 0..1 + self.rng.below(12) {
            let alternatives: Vec<String> = (0..1 + self.rng.below(3))
                .map(|_| {
                    let first = (self.rng.below(32) * step) - if signed { 16 } else { 0 };
                    match self.rng.one_in(3) {
                        true => format!("{first}..={}", first + self.rng.below(8)),
                        false => first.to_string(),
                    }
                })
                .collect();
            patterns.push(alternatives.join(" | "));
        }
        (head, patterns)
    }

    /// Returns the head of a `match`, mostly on a uniform value, and consecutive patterns with few gaps.
    fn matched_row(&mut self, most: usize) -> (String, Vec<String>) {
        let count = 3 + self.rng.below(most);
        let range = count + self.rng.below(6);
        let first = self.rng.below(3) * self.rng.below(30);
        let value = match self.rng.below(6) {
            0 => format!("({} % {range})", self.expr(Ty::U32, 1)),
            1 => format!("({} as u32 % {range})", self.expr(Ty::U64, 1)),
            2 => format!("(uni_1 % {range})"),
            3 => format!("(n % {range})"),
            _ => format!("((group_id(0) + uni_0) % {range})"),
        };
        let holes = self.rng.one_in(3);
        let kept = (first..first + count).filter(|_| !(holes && self.rng.one_in(6)));
        let patterns: Vec<String> = kept.map(|n| n.to_string()).collect();
        (if first == 0 { format!("match {value}") } else { format!("match ({value} + {first})") }, patterns)
    }

    pub(super) fn call(&mut self, ty: Ty, depth: usize) -> String {
        let numbers: Vec<usize> = (0..self.functions.len()).filter(|&n| self.functions[n] == ty).collect();
        let number = *self.rng.pick(&numbers);
        let (a, b) = (self.expr(Ty::U32, depth - 1), self.leaf_expr(ty));
        format!("fn_{number}({a}, {b}, {PASSED})")
    }

    pub(super) fn conversion(&mut self, ty: Ty, depth: usize) -> String {
        let name = ty.name();
        match self.rng.below(6) {
            0 => format!("(({}) as {name})", self.condition(1)),
            // Converts through a type of which the program has no variables.
            1..=2 => {
                let (value, by) = (self.leaf_expr(self.types[0]), Ty::any_scalar(&mut self.rng));
                self.by_way(&value, by, ty, depth)
            }
            _ => {
                let from = self.scalar();
                let value = self.expr(from, depth - 1);
                format!("(({value}) as {name})")
            }
        }
    }

    /// Returns a value that is converted to the type `by`, used in a computation, and converted to the type
    /// `ty`.
    fn by_way(&mut self, value: &str, by: Ty, ty: Ty, depth: usize) -> String {
        let (by_name, name) = (by.name(), ty.name());
        let (n, other) = (self.fresh(), self.literal(by));
        let second = if depth > 1 { self.leaf_expr(self.types[0]) } else { "n".to_owned() };
        let ops: &[&str] = match by.is_float() {
            true => &["x + y", "x - y", "x * y", "x / y", "x % y", "-x"],
            false => &[
                "x + y",
                "x - y",
                "x * y",
                "x & y",
                "x | y",
                "x ^ y",
                "x << y",
                "x >> y",
                "x / (y | 1)",
                "x % (y | 1)",
                "!x",
            ],
        };
        let compared = *self.rng.pick(&["==", "!=", "<", "<=", ">", ">="]);
        let op = self.rng.pick(ops).replace('x', &format!("x{n}")).replace('y', &format!("y{n}"));
        format!(
            "({{ let (x{n}, y{n}) = ({value} as {by_name}, {second} as {by_name}); if x{n} {compared} {other} {{ {op} }} else {{ y{n} }} }} as {name})"
        )
    }

    /// Returns a lane of a vector, a bit pattern, or a value of another lane of the wave.
    fn lane(&mut self, ty: Ty, depth: usize) -> String {
        if self.features.waves && matches!(ty, Ty::U32 | Ty::I32 | Ty::U64) && self.rng.one_in(2) {
            if ty == Ty::U64 {
                return format!("ballot({})", self.condition(1));
            }
            return format!("read_first_lane({})", self.expr(ty, depth - 1));
        }
        let vectors: Vec<Ty> =
            self.types.iter().copied().filter(|from| !from.is_scalar() && from.lanes().1 == ty).collect();
        if vectors.is_empty() {
            return match ty {
                Ty::U32 => format!("(popcount({}) as u32)", self.leaf_expr(Ty::U64)),
                Ty::F64 => format!("({} as f64)", self.leaf_expr(Ty::F32)),
                _ => self.leaf_expr(ty),
            };
        }
        let from = *self.rng.pick(&vectors);
        let lanes = from.lanes().0;
        let var = if self.types.contains(&from) { self.var(from) } else { self.leaf_expr(from) };
        match self.rng.one_in(3) {
            true => format!("{var}[({}) % {lanes}]", self.expr(Ty::U32, 1)),
            false => format!("{var}.s{:x}", self.rng.below(lanes)),
        }
    }

    fn vector_expr(&mut self, ty: Ty, depth: usize) -> String {
        let (lanes, lane) = ty.lanes();
        let a = self.expr(ty, depth - 1);
        if self.rng.one_in(8) {
            return self.lanes_expr(ty, &a);
        }
        match self.rng.below(10) {
            0..=3 => {
                let b = self.expr(ty, depth - 1);
                let ops: &[&str] =
                    if ty.is_float() { &["+", "-", "*"] } else { &["+", "-", "*", "&", "^", "|"] };
                format!("({a} {} {b})", self.rng.pick(ops))
            }
            4 => format!("({a} * {})", self.leaf_expr(lane)),
            5 => {
                let parts: Vec<String> = (0..lanes).map(|_| self.expr(lane, 1)).collect();
                format!("{}({})", ty.name(), parts.join(", "))
            }
            6 => {
                let letters: String = (0..lanes).map(|_| format!("{:x}", self.rng.below(lanes))).collect();
                format!("({a}).s{letters}")
            }
            7 => {
                let (b, c, d) = (self.leaf_expr(ty), self.leaf_expr(ty), self.leaf_expr(ty));
                format!("select({a} {} {b}, {c}, {d})", self.rng.pick(&["<", "==", ">="]))
            }
            8 if ty.is_float() => format!("fma({a}, {}, {})", self.leaf_expr(ty), self.leaf_expr(ty)),
            8 => format!("({a} << {})", self.rng.below(32)),
            _ => format!("{}({})", ty.name(), self.expr(lane, depth - 1)),
        }
    }

    /// Returns a vector operation that many programs do not use.
    fn lanes_expr(&mut self, ty: Ty, a: &str) -> String {
        let (n, (lanes, lane), name) = (self.fresh(), ty.lanes(), ty.name());
        let (b, c) = (self.leaf_expr(ty), self.leaf_expr(ty));
        match self.rng.below(6) {
            0 if lane == Ty::F32 => format!("(({a}) as bf16x{lanes} as {name})"),
            0 | 1 => format!(
                "({{ let q{n}: boolx{lanes} = {a} < {b}; select(q{n} {} !({a} != {c}), {a}, {c}) }})",
                self.rng.pick(&["&", "|", "^", "==", "!="])
            ),
            2 if !ty.is_float() => format!("({a} {} ({b} | {name}(1)))", self.rng.pick(&["/", "%"])),
            2 => format!("({a} {} {b})", self.rng.pick(&["/", "%"])),
            3 if !ty.is_float() => format!("(!{a} {} ({b} & {name}(7)))", self.rng.pick(&["<<", ">>"])),
            3 => format!("(-{a})"),
            4 => format!("({}({a}, {b}) + {})", self.rng.pick(&["min", "max"]), ty.zero()),
            _ => format!("(clamp({a}, {name}({}), {name}(100)) + {})", self.rng.below(50), ty.zero()),
        }
    }

    fn int_expr(&mut self, ty: Ty, depth: usize) -> String {
        let a = self.expr(ty, depth - 1);
        let b = self.expr(ty, depth - 1);
        let bits = ty.bits();
        if bits == 32 && self.rng.one_in(5) {
            return self.of_parts(ty, &a, &b);
        }
        if bits == 32 && self.rng.one_in(24) {
            let name = *self.rng.pick(&["dot2", "dot4", "dot8", "perm"]);
            return format!("{name}({a}, {b}, {})", self.leaf_expr(ty));
        }
        match self.rng.below(20) {
            0..=6 => format!("({a} {} {b})", self.rng.pick(&["+", "-", "*", "&", "|", "^", "+"])),
            7 => format!("({a} << {})", self.rng.below(bits as usize)),
            8 => format!("({a} >> {})", self.rng.below(bits as usize)),
            9 => format!("({a} {} ({}{} & {b}))", self.rng.pick(&["<<", ">>"]), bits - 1, ty.name()),
            10 if self.rng.one_in(3) => format!("clamp({a}, {b} & 15, 100)"),
            10 => format!("{}({a}, {b})", self.rng.pick(&["min", "max"])),
            // The divisor is never zero.
            11 => format!("({a} {} ({b} | 1))", self.rng.pick(&["/", "%"])),
            12 => format!("({a} {} {})", self.rng.pick(&["/", "%"]), 1 + self.rng.below(126)),
            13 if bits >= 32 => {
                format!("{}({a}, {})", self.rng.pick(&["rotl", "rotr"]), self.rng.below(bits as usize))
            }
            14 if bits >= 32 => {
                format!("{}({a})", self.rng.pick(&["popcount", "clz", "ctz", "reverse_bits"]))
            }
            15 if bits >= 32 => format!("mul_hi({a}, {b})"),
            16 if bits == 32 => {
                let c = self.leaf_expr(ty);
                match self.rng.below(5) {
                    0 => format!("mad24({a}, {b}, {c})"),
                    1 => format!("mul24({a}, {b})"),
                    2 => format!("bfi({a}, {b}, {c})"),
                    3 => format!("sad({a}, {b}, {c})"),
                    _ => format!("bfe({a}, {}, {})", self.rng.below(16), 1 + self.rng.below(16)),
                }
            }
            17 if bits == 32 => format!("alignbit({a}, {b}, {})", self.rng.below(32)),
            18 if ty.is_signed() => format!("(-{a})"),
            19 if ty.is_signed() && self.rng.one_in(2) => format!("abs({a})"),
            _ => format!("(!{a})"),
        }
    }

    /// Returns an operation on bytes or halves of words.
    fn of_parts(&mut self, ty: Ty, a: &str, b: &str) -> String {
        let (a, whole) = (self.byte_or_half(ty, a), self.rng.one_in(2));
        let b = if whole { b.to_owned() } else { self.byte_or_half(ty, b) };
        match self.rng.below(6) {
            0 => format!("{}({a}, {b})", self.rng.pick(&["min", "max", "mul24"])),
            1 => format!("(({a} as f32) as {})", ty.name()),
            2 => format!("select({a} {} {b}, {b}, {a})", self.rng.pick(&["<", ">=", "=="])),
            _ => format!("({a} {} {b})", self.rng.pick(&["+", "-", "*", "&", "|", "^"])),
        }
    }

    /// Returns a byte or half of a word.
    fn byte_or_half(&mut self, ty: Ty, value: &str) -> String {
        match self.rng.below(6) {
            0 => format!("({value} & {})", self.rng.pick(&[255, 65535])),
            1 => format!("(({value} as {}) as {})", self.rng.pick(&["u8", "i16"]), ty.name()),
            2 => format!("({value} >> {})", self.rng.pick(&[16, 24])),
            3 => format!("bfe({value}, {}, 16)", self.rng.pick(&[0, 16])),
            _ => format!("bfe({value}, {}, 8)", 8 * self.rng.below(4)),
        }
    }

    fn float_expr(&mut self, ty: Ty, depth: usize) -> String {
        let a = self.expr(ty, depth - 1);
        let b = self.expr(ty, depth - 1);
        match self.rng.below(14) {
            0..=4 => format!("({a} {} {b})", self.rng.pick(&["+", "-", "*"])),
            12 => format!("({a} % {b})"),
            5 => format!("fma({a}, {b}, {})", self.leaf_expr(ty)),
            6 => format!("{}({a})", self.rng.pick(&["floor", "ceil", "trunc", "abs", "round"])),
            7 => format!("(-{a})"),
            // The language does not specify the quieting of NaNs and the sign of zeros for min and max; the
            // addition removes both.
            8 if self.rng.one_in(2) => format!("({}({a}, {b}) + 0.0)", self.rng.pick(&["min", "max"])),
            8 => format!("clamp({a} + 0.5, -1000.0, 1000.0)"),
            9 => format!("({a} / {b})"),
            10 => format!("sqrt(abs({a}))"),
            11 => format!("ldexp({a}, {})", self.rng.below(16) - 8),
            _ => format!("({a} * {b} + {})", self.leaf_expr(ty)),
        }
    }

    pub(super) fn literal(&mut self, ty: Ty) -> String {
        match ty {
            _ if self.features.maths == Some(ty) && self.rng.one_in(4) => self.constant(ty),
            Ty::F16 | Ty::F32 | Ty::F64 => {
                format!("({:?}{})", (self.rng.below(4000) as f32 - 2000.0) / 16.0, ty.name())
            }
            Ty::U8 | Ty::I8 | Ty::U16 | Ty::I16 => format!("{}{}", self.rng.below(128), ty.name()),
            Ty::U32 if self.rng.one_in(2) => format!("{:#x}u32", self.rng.bits() as u32),
            Ty::I32 if self.rng.one_in(2) => format!("({}i32)", (self.rng.bits() as i32).max(i32::MIN + 1)),
            Ty::U32 | Ty::I32 => format!("{}{}", self.rng.below(70), ty.name()),
            Ty::U64 => format!("{:#x}u64", self.rng.bits() >> self.rng.below(64)),
            Ty::I64 => format!("{}i64", self.rng.bits() >> (1 + self.rng.below(62))),
            _ => format!("{}({})", ty.name(), self.literal(ty.lanes().1)),
        }
    }

    pub(super) fn leaf_expr(&mut self, ty: Ty) -> String {
        let choice = self.rng.below(10);
        if choice == 0 {
            return self.literal(ty);
        }
        if choice == 1 {
            let param = match ty {
                Ty::U32 => *self.rng.pick(&["n", "P", "st.a", "uni_0", "uni_1"]),
                Ty::I32 => "s",
                Ty::U64 => *self.rng.pick(&["m", "st.c", "wide_0"]),
                Ty::F32 => *self.rng.pick(&["f", "st.b"]),
                Ty::F64 => "d",
                Ty::I16 => "k",
                Ty::U8 => "j",
                Ty::F32X4 if self.result.is_none() => "v",
                _ => return self.literal(ty),
            };
            return param.to_owned();
        }
        if choice <= 5
            && let Some(memory) = self.memory(ty)
        {
            return memory;
        }
        if self.types.contains(&ty) { self.var(ty) } else { self.literal(ty) }
    }

    /// Returns a value that is loaded, or that depends on the position of the work-item.
    fn memory(&mut self, ty: Ty) -> Option<String> {
        let index = self.var(Ty::U32);
        let own = self.features.own && self.result.is_none() && self.rng.one_in(2);
        Some(match (ty, self.rng.below(6)) {
            (Ty::U32, _) if own => format!("own[gid * 4 + ({index} & 3)]"),
            (Ty::U8, _) if own => format!("bytes[gid * 16 + ({index} & 15)]"),
            (Ty::I16, _) if own => format!("halves[gid * 8 + ({index} & 7)]"),
            (Ty::U32X2, _) if own => format!("pairs[gid * 2 + ({index} & 1)]"),
            (Ty::U32, _) if self.features.waves && self.rng.one_in(6) => {
                (*self.rng.pick(&["lane_id()", "wave_size()"])).to_owned()
            }
            (Ty::U32, 0) => format!("input[{index} & {}]", INPUTS - 1),
            (Ty::U32, 1) => format!("(input + ({index} & 127))[uni_0 & 127]"),
            (Ty::U32, 2) if self.features.big => format!("big[{index} % {}]", ARRAYS[1]),
            (Ty::U32, 2..=3) => format!("arr[{index} & 7]"),
            (Ty::U32, 4) => format!("LUT[{index} & {}]", TABLE - 1),
            (Ty::U32, _) => {
                let dim = self.rng.below(3);
                let places = ["group_id", "local_id", "global_id", "num_groups", "local_size", "global_size"];
                // The size of an incomplete group is not a constant; other tests cover these built-ins.
                let count = if self.shape.even() { places.len() } else { 4 };
                format!("{}({dim})", places[self.rng.below(count)])
            }
            (Ty::I32, 0..=1) => format!("(input[{}] as i32)", self.rng.below(INPUTS as usize)),
            (Ty::I32, 2..=3) => format!("TABLE[{index} & {}]", TABLE - 1),
            (Ty::U8, 0..=2) => format!("in8[{index} & 1023]"),
            (Ty::U8, 3) => format!("NARROW[{index} & {}]", TABLE - 1),
            (Ty::I16, 0..=3) => format!("in16[{index} & 511]"),
            // The addition quiets signalling NaNs, which a minimum treats differently.
            (Ty::F16, 0..=2) => format!("((in16 as *const global f16)[{index} & 511] + 0.0)"),
            (Ty::I16X2, 0..=2) => format!("(in16 as *const global i16x2)[{index} & 255]"),
            (Ty::U32X2, 0..=2) => format!("u32x2(input[{index} & 255], input[({index} + 1) & 255])"),
            (_, n) if n < 3 => self.input_of(ty, &index),
            _ => return None,
        })
    }

    /// Returns an element of the input, read as the type `ty`.
    fn input_of(&mut self, ty: Ty, index: &str) -> String {
        let pointer = *self.rng.pick(&["input", "in8", "in16"]);
        let last = INPUTS * 4 / ty.bytes() - 1;
        let value = format!("({pointer} as *const global {})[{index} & {last}]", ty.name());
        // The addition quiets signalling NaNs, which a minimum treats differently.
        if ty.is_float() { format!("({value} + 0.0)") } else { value }
    }
}
