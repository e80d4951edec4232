//! Generates statements.

use super::blocks::Open;
use super::{Generator, Size};
use crate::program::{ARRAYS, OWN, Stmt};
use crate::types::Ty;

pub(super) fn line(text: String) -> Stmt {
    Stmt::Line(text)
}

impl Generator {
    pub(super) fn block(&mut self, depth: usize, uniform: bool) -> Vec<Stmt> {
        let mut out = Vec::new();
        let count = match (depth, self.size) {
            (0, Size::Large) => usize::MAX,
            (0, Size::Small) => 1 + self.rng.below(12),
            _ => 1 + self.rng.below(4),
        };
        for _ in 0..count {
            if self.fuel == 0 {
                break;
            }
            self.fuel -= 1;
            out.push(self.stmt(depth, uniform));
        }
        out
    }

    /// Returns a random statement. `uniform`: all work-items of the group execute the statement together.
    fn stmt(&mut self, depth: usize, uniform: bool) -> Stmt {
        let deepest = if self.size == Size::Large { 2 } else { 3 };
        if self.rng.one_in(4)
            && let Some(stmt) = self.special_stmt(depth, deepest, uniform)
        {
            return stmt;
        }
        match self.rng.below(if depth < deepest { 29 } else { 15 }) {
            0..=4 => self.assign(),
            5 => self.array_store(),
            6 => self.compound(),
            7 => self.step_uniform(),
            8 => self.part(),
            9 => self.flag(),
            10 if self.features.own && self.result.is_none() => self.own_store(),
            11 if self.features.atomics && self.result.is_none() => self.atomic(),
            12 if !self.open.is_empty() => self.jump(),
            12 if uniform && !self.features.returns => self.neighbours(),
            13 if uniform && self.features.barriers => self.exchange(),
            13 if self.result.is_some() || self.features.returns => self.early_return(),
            14 if self.features.exits && !self.open.is_empty() => self.exits(),
            10..=14 => self.assign(),
            15..=17 => self.if_chain(depth),
            18..=19 => self.for_loop(depth, uniform),
            20 => self.stepped_loop(depth),
            21 => self.while_loop(depth),
            22 => self.endless_loop(depth),
            23 if uniform && self.features.barriers => self.uniform_loop(depth),
            24..=25 => self.match_stmt(depth),
            _ => {
                let condition = self.uniform_condition();
                Stmt::Block(format!("if {condition} {{"), self.block(depth + 1, uniform))
            }
        }
    }

    /// Returns a statement of one of the program's themes, or of a feature that all programs use.
    fn special_stmt(&mut self, depth: usize, deepest: usize, uniform: bool) -> Option<Stmt> {
        type Way = fn(&mut Generator, usize) -> Stmt;
        let features = self.features;
        let (kernel, nests) = (self.result.is_none(), depth < deepest);
        let together = uniform && !features.returns;
        let themes: [(bool, Way); 14] = [
            (self.rng.one_in(2), |all, _| all.promise()),
            (features.values && nests, Generator::labelled),
            (features.values && nests, Generator::loop_value),
            (features.values && nests, Generator::chosen_value),
            (features.patterns, |all, _| all.assign_parts()),
            (features.patterns && nests, Generator::match_parts),
            (features.patterns, |all, _| all.short_arms()),
            (features.atomics && kernel, |all, _| all.other_atomic()),
            (features.atomics && kernel, |all, _| all.atomic()),
            (features.waves, |all, _| all.active_lanes_stmt()),
            (features.waves && together, |all, _| all.whole_waves()),
            (features.waves && together, |all, _| all.neighbours()),
            (features.memory && uniform && features.barriers, |all, _| all.shared_views()),
            (features.memory, |all, _| all.pointer_stmt()),
        ];
        let ways: Vec<Way> = themes.iter().filter(|theme| theme.0).map(|theme| theme.1).collect();
        if ways.is_empty() { None } else { Some(self.rng.pick(&ways)(self, depth)) }
    }

    /// Returns an `if`, possibly with `else` and several `else if`.
    fn if_chain(&mut self, depth: usize) -> Stmt {
        let mut arms = vec![(format!("if {} {{", self.condition(2)), self.block(depth + 1, false))];
        if self.rng.one_in(4) {
            for _ in 0..1 + self.rng.below(6) {
                arms.push((format!("}} else if {} {{", self.condition(1)), self.block(depth + 1, false)));
            }
        }
        if self.rng.one_in(2) {
            arms.push(("} else {".to_owned(), self.block(depth + 1, false)));
        }
        Stmt::Arms(arms)
    }

    fn match_stmt(&mut self, depth: usize) -> Stmt {
        let (head, patterns) = self.matched(20);
        let mut arms: Vec<Stmt> = patterns
            .into_iter()
            .map(|p| Stmt::Block(format!("{p} => {{"), self.block(depth + 1, false)))
            .collect();
        arms.push(Stmt::Block("_ => {".to_owned(), self.block(depth + 1, false)));
        Stmt::Block(format!("{head} {{"), arms)
    }

    /// Returns several jumps out of the enclosing loops, each after an assignment.
    fn exits(&mut self) -> Stmt {
        let mut body = Vec::new();
        for _ in 0..2 + self.rng.below(8) {
            body.push(self.assign());
            let returns = self.result.is_some() || self.features.returns;
            body.push(if returns && self.rng.one_in(4) { self.early_return() } else { self.jump() });
        }
        Stmt::Block("if true {".to_owned(), body)
    }

    pub(super) fn assign(&mut self) -> Stmt {
        if self.features.maths.is_some() && self.rng.one_in(2) {
            return self.function_of_floats();
        }
        let ty = self.ty();
        let (var, value) = (self.var(ty), self.expr(ty, 3));
        line(format!("{var} = {value};"))
    }

    pub(super) fn compound(&mut self) -> Stmt {
        let ty = self.ty();
        let (var, value) = (self.var(ty), self.expr(ty, 2));
        line(match self.rng.below(6) {
            // The divisor is never zero.
            0 if ty.is_float() => format!("{var} {} {value};", self.rng.pick(&["/=", "%="])),
            0 => format!("{var} {} ({value} | 1);", self.rng.pick(&["/=", "%="])),
            1 if !ty.is_float() => {
                format!("{var} {} {};", self.rng.pick(&["<<=", ">>="]), self.leaf_expr(ty))
            }
            _ if ty.is_float() => format!("{var} {} {value};", self.rng.pick(&["+=", "-=", "*="])),
            _ => format!("{var} {} {value};", self.rng.pick(&["+=", "-=", "*=", "^=", "&=", "|="])),
        })
    }

    fn array_store(&mut self) -> Stmt {
        let (index, value) = (self.expr(Ty::U32, 1), self.expr(Ty::U32, 2));
        if self.features.big && self.rng.one_in(2) {
            return line(format!("big[({index}) % {}] = {value};", ARRAYS[1]));
        }
        line(format!("arr[({index}) & 7] = {value};"))
    }

    /// Changes a variable that is initially uniform, by a uniform value.
    fn step_uniform(&mut self) -> Stmt {
        let number = self.rng.below(1000);
        line(match self.rng.below(5) {
            0 => format!("uni_0 = uni_0 * 5 + {number};"),
            1 => format!("uni_1 += uni_0 ^ {number};"),
            2 => "wide_0 = wide_0 * 3 + (uni_1 as u64);".to_owned(),
            3 => format!("uni_0 = input[uni_1 & 255] + {number};"),
            _ => "uni_1 = (uni_0 >> 3) + P;".to_owned(),
        })
    }

    /// Assigns to a part of a struct or vector.
    fn part(&mut self) -> Stmt {
        let vectors: Vec<Ty> = self.types.iter().copied().filter(|ty| !ty.is_scalar()).collect();
        if vectors.is_empty() || self.rng.one_in(3) {
            let (field, ty) = *self.rng.pick(&[("a", Ty::U32), ("b", Ty::F32), ("c", Ty::U64)]);
            return line(format!("st.{field} = {};", self.expr(ty, 2)));
        }
        let ty = *self.rng.pick(&vectors);
        let (lanes, lane) = ty.lanes();
        let (var, value) = (self.var(ty), self.expr(lane, 2));
        if self.rng.one_in(3) {
            let index = self.expr(Ty::U32, 1);
            return line(format!("{var}[({index}) % {lanes}] = {value};"));
        }
        line(format!("{var}.s{:x} = {value};", self.rng.below(lanes)))
    }

    fn flag(&mut self) -> Stmt {
        let value = self.condition(2);
        line(format!("flag_{} = {value};", self.rng.below(2)))
    }

    /// Stores to the work-item's own memory, through pointers of several types.
    fn own_store(&mut self) -> Stmt {
        let index = self.expr(Ty::U32, 1);
        let at = |count: u32| format!("[gid * {count} + (({index}) & {})]", count - 1);
        line(match self.rng.below(5) {
            0..=1 => format!("own{} = {};", at(OWN), self.expr(Ty::U32, 2)),
            2 => format!("bytes{} = {};", at(OWN * 4), self.expr(Ty::U8, 2)),
            3 => format!("halves{} = {};", at(OWN * 2), self.expr(Ty::I16, 2)),
            _ => format!("pairs{} = {};", at(OWN / 2), self.expr(Ty::U32X2, 2)),
        })
    }

    /// Returns an atomic operation. Each shared counter has one operation, which commutes; a work-item's own
    /// memory has any operation, and the old value may be used.
    fn atomic(&mut self) -> Stmt {
        const OPS: [&str; 6] = ["add", "xor", "or", "and", "min", "max"];
        let value = self.expr(Ty::U32, 2);
        let (order, scope) = (
            *self.rng.pick(&["relaxed", "acquire", "release", "acq_rel", "seq_cst"]),
            *self.rng.pick(&["agent", "workgroup", "system"]),
        );
        if self.rng.one_in(2) {
            // Work-items of all groups share these counters. The counters from the twelfth on belong to
            // `shared_sum`.
            let slot = self.rng.below(12);
            let scope = if scope == "workgroup" { "agent" } else { scope };
            let op = OPS[slot % OPS.len()];
            return line(format!("atomic_{op}(&counts[{slot}], {value}, {order}, {scope});"));
        }
        let index = self.expr(Ty::U32, 1);
        let place = format!("&own[gid * {OWN} + (({index}) & {})]", OWN - 1);
        let var = self.var(Ty::U32);
        if self.rng.one_in(4) {
            let expected = self.expr(Ty::U32, 1);
            return line(format!(
                "{var} = atomic_cas({place}, {expected}, {value}, {order}, {}, {scope});",
                self.rng.pick(&["relaxed", "acquire", "seq_cst"])
            ));
        }
        if self.rng.one_in(4) {
            // Small integers, so that sums are exact and NaNs do not occur.
            let op = *self.rng.pick(&["add", "sub", "min", "max"]);
            let start = self.expr(Ty::U32, 1);
            return line(format!(
                "{{ let at = {}; own[at] = bitcast::<u32>((({start}) & 0xffff) as f32); {var} ^= \
                 bitcast::<u32>(atomic_{op}(&(own as *global f32)[at], (({value}) & 0xffff) as f32, {order}, {scope})); }}",
                &place["&own[".len()..place.len() - 1]
            ));
        }
        let op = *self.rng.pick(&["add", "sub", "xchg", "inc", "dec", "min", "max", "xor"]);
        line(format!("{var} ^= atomic_{op}({place}, {value}, {order}, {scope});"))
    }

    /// Returns a conditional jump out of an enclosing loop, or to its next iteration.
    fn jump(&mut self) -> Stmt {
        let condition = self.condition(1);
        let way = self.way_out();
        Stmt::Block(format!("if {condition} {{"), vec![line(format!("{way};"))])
    }

    pub(super) fn early_return(&mut self) -> Stmt {
        let condition = self.condition(1);
        let what = match self.result {
            Some(ty) => format!("return {};", self.expr(ty, 2)),
            None => format!("out[gid] = {}; return;", self.expr(Ty::U32, 2)),
        };
        Stmt::Block(format!("if {condition} {{"), vec![line(what)])
    }

    /// Returns a barrier after which each work-item sees what the others have stored in `shared` memory.
    pub(super) fn meeting(&mut self) -> &'static str {
        self.rng.pick::<&str>(&[
            "barrier();",
            "barrier();",
            "fence(release, workgroup); barrier_only(); fence(acquire, workgroup);",
            "fence(acq_rel, workgroup, shared); barrier_only(); fence(acq_rel, workgroup, shared);",
        ])
    }

    /// Exchanges values between work-items through shared memory.
    fn exchange(&mut self) -> Stmt {
        let var = self.var(Ty::U32);
        let value = self.expr(Ty::U32, 2);
        let items = self.shape.group_items();
        let meet = self.meeting();
        if self.features.atomics && self.rng.one_in(2) {
            let (op, first) =
                *self.rng.pick(&[("add", 0), ("xor", 5), ("or", 0), ("min", u32::MAX), ("max", 3)]);
            let (index, condition) = (self.expr(Ty::U32, 1), self.condition(1));
            let read = self.expr(Ty::U32, 1);
            return Stmt::Block(
                "if true {".to_owned(),
                vec![line(format!(
                    "if lid < 8 {{ sums[lid] = {first}; }} {meet} if {condition} {{ atomic_{op}(&sums[({index}) & 7], \
                     {value}, relaxed, workgroup); }} {meet} {var} ^= sums[({read}) & 7]; {meet}"
                ))],
            );
        }
        if self.rng.one_in(6) {
            let slot = self.rng.below(4);
            return Stmt::Block(
                "if true {".to_owned(),
                vec![line(format!(
                    "if lid == {slot} {{ BOARD[lid] = {value}; }} {meet} {var} ^= BOARD[{slot}]; {meet}"
                ))],
            );
        }
        if self.rng.one_in(5) && self.types.contains(&Ty::U64) {
            let (value, var) = (self.expr(Ty::U64, 2), self.var(Ty::U64));
            return Stmt::Block(
                "if true {".to_owned(),
                vec![line(format!(
                    "if lid < 4 {{ wide[lid] = 3; }} {meet} atomic_add(&wide[lid & 3], {value}, acq_rel, \
                     workgroup); {meet} {var} += wide[(lid + 1) & 3]; {meet}"
                ))],
            );
        }
        // In an incomplete last group, the elements of missing work-items are not written, so they are not
        // read either.
        let [group, _, _] = self.shape.group;
        let [grid, _, _] = self.shape.grid;
        let live = match self.shape.even() {
            true => format!("{items}"),
            false => {
                format!("(if group_id(0) == {} {{ {} }} else {{ {items} }})", grid / group, grid % group)
            }
        };
        let shift = self.expr(Ty::U32, 1);
        Stmt::Block(
            "if true {".to_owned(),
            vec![line(format!(
                "tile[lid] = {value}; {meet} {var} = {var} ^ tile[(lid + (({shift}) & 127)) % {live}]; {meet}"
            ))],
        )
    }

    /// Returns an operation with a value of another lane, in a place where all lanes of all waves are active.
    pub(super) fn neighbours(&mut self) -> Stmt {
        let ty = self.scalar();
        if !self.shape.group_items().is_multiple_of(64) || !self.shape.even() || ty.bits() < 32 {
            return self.assign();
        }
        let var = self.var(ty);
        let value = if self.rng.one_in(2) { var.clone() } else { self.expr(ty, 2) };
        let distance = *self.rng.pick(&[1, 2, 3, 5, 7, 8, 15, 16, 21, 32, 33, 63]);
        let moved = match self.rng.below(5) {
            0 => format!("shuffle_up({value}, {distance})"),
            1 => format!("shuffle_down({value}, {distance})"),
            2 => format!("shuffle({value}, (lane_id() * {distance} + 5) % wave_size())"),
            _ => format!("shuffle_xor({value}, {distance})"),
        };
        line(match self.rng.below(3) {
            0 if !ty.is_float() => format!("{var} = {}({var}, {moved});", self.rng.pick(&["min", "max"])),
            1 => format!("{var} = {moved} - {var};"),
            _ => format!("{var} {} {moved};", self.rng.pick(&["+=", "-=", "*="])),
        })
    }

    pub(super) fn unroll(&mut self) -> &'static str {
        self.rng.pick::<&str>(&["", "", "", "#[unroll] ", "#[unroll(2)] ", "#[no_unroll] "])
    }

    fn open_loop(&mut self, depth: usize) -> (usize, Vec<Stmt>) {
        let n = self.fresh();
        self.open.push(Open { n, is_loop: true, value: None });
        // A `break` under a divergent condition makes the rest of the body divergent, so the body is not
        // generated as uniform.
        let body = self.block(depth + 1, false);
        self.open.pop();
        (n, body)
    }

    fn bound(&mut self) -> String {
        match self.rng.below(4) {
            0 => format!("{}u32", 1 + self.rng.below(6)),
            1 => format!("(n & {}u32)", 3 + self.rng.below(5)),
            2 => format!("(uni_0 & {}u32)", 3 + self.rng.below(5)),
            _ => format!("({} & 7)", self.expr(Ty::U32, 1)),
        }
    }

    fn for_loop(&mut self, depth: usize, _uniform: bool) -> Stmt {
        let (unroll, bound) = (self.unroll(), self.bound());
        let dots = if self.rng.one_in(4) { "..=" } else { ".." };
        let (n, mut body) = self.open_loop(depth);
        let var = self.var(Ty::U32);
        body.push(line(format!("{var} = {var} + i{n};")));
        Stmt::Block(format!("{unroll}'l{n}: for i{n} in 0{dots}{bound} {{"), body)
    }

    /// Returns a loop that all work-items of the group execute together, so that it may contain barriers.
    fn uniform_loop(&mut self, depth: usize) -> Stmt {
        let (unroll, turns) = (self.unroll(), 1 + self.rng.below(4));
        let outer = std::mem::take(&mut self.open);
        let n = self.fresh();
        let mut body = self.block(depth + 1, true);
        self.open = outer;
        body.push(line(format!("uni_0 = uni_0 + i{n};")));
        Stmt::Block(format!("{unroll}for i{n} in 0..{turns}u32 {{"), body)
    }

    fn stepped_loop(&mut self, depth: usize) -> Stmt {
        let (step, bound) = (1 + self.rng.below(5), self.bound());
        let ty = *self.rng.pick(&["u32", "i32", "u64"]);
        let from = self.rng.below(4);
        let dots = if self.rng.one_in(3) { "..=" } else { ".." };
        let (n, mut body) = self.open_loop(depth);
        let var = self.var(Ty::U32);
        body.push(line(format!("{var} = {var} ^ (i{n} as u32);")));
        Stmt::Block(
            format!("'l{n}: for i{n} in ({from}{ty}{dots}({bound} as {ty}) + 3).step({step}) {{"),
            body,
        )
    }

    fn while_loop(&mut self, depth: usize) -> Stmt {
        let condition = self.condition(1);
        let turns = 1 + self.rng.below(9);
        let (n, body) = self.open_loop(depth);
        let head = format!("'l{n}: while c{n} < {turns} && {condition} {{ c{n} = c{n} + 1;");
        counted(n, head, body)
    }

    fn endless_loop(&mut self, depth: usize) -> Stmt {
        let condition = self.condition(1);
        let turns = 1 + self.rng.below(7);
        let (n, body) = self.open_loop(depth);
        let head = if self.rng.one_in(2) {
            format!("'l{n}: loop {{ c{n} += 1; if c{n} > {turns} || {condition} {{ break; }}")
        } else {
            // Without the random condition, the exit is uniform.
            format!("'l{n}: loop {{ c{n} += 1; if c{n} > {turns} {{ break; }}")
        };
        counted(n, head, body)
    }
}

/// Returns a loop with a counter of its own. The head of the loop increments the counter, so that the loop
/// stays bounded when statements of its body are removed.
pub(super) fn counted(n: usize, head: String, body: Vec<Stmt>) -> Stmt {
    Stmt::Block(format!("if true {{ let mut c{n}: u32 = 0;"), vec![Stmt::Block(head, body)])
}
