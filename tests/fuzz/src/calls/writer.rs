//! Generates the text of a program: functions of all kinds, and a kernel that calls them.

use super::Program;
use super::kinds::{Kind, WORD};
use crate::program::{PARAMS, Shape};
use kernc::Convention;
use std::fmt::Write;
use support::Random;

/// Generates the program of a seed with at most `functions` functions of at most `statements` statements
/// each.
pub fn generate(seed: u64, functions: usize, statements: usize) -> Program {
    let mut rng = Random::new(seed);
    let most = functions.min(1 << rng.below(7));
    let count = 1 + rng.below(most);
    // A third of the programs are also compiled as several objects.
    let objects = if rng.one_in(3) { 2 + rng.below(3) } else { 1 };
    let choice: Vec<Kind> =
        Kind::ALL.into_iter().filter(|kind| objects == 1 || kind.passes_outside()).collect();
    let kinds = (0..count).map(|n| if n == 0 { Kind::Word } else { *rng.pick(&choice) }).collect();
    // Programs with many functions have shorter functions, so that their total size stays about the same.
    let statements = if count > 20 { statements.div_ceil(2) } else { statements };
    let exports = rng.one_in(6);
    // Functions that all work-items of a group execute together; only the kernel and other such functions
    // call them.
    let together = if rng.one_in(3) { 1 + rng.below(3) } else { 0 };
    let writer = Writer {
        rng,
        kinds,
        statements,
        together,
        out: String::new(),
        depth: 1,
        kind: None,
        own: Vec::new(),
        names: 0,
        elements: 4,
    };
    writer.module(exports, objects)
}

/// State of the generator.
pub(super) struct Writer {
    rng: Random,
    kinds: Vec<Kind>,
    statements: usize,
    together: usize,
    out: String,
    depth: usize,
    /// Kind of the current function; `None` in the kernel.
    kind: Option<Kind>,
    /// Expressions for the numbers that can be read here.
    own: Vec<String>,
    /// Number of names used so far in the function.
    names: usize,
    /// Number of elements of the function's array.
    elements: usize,
}

impl Writer {
    fn module(mut self, exports: bool, objects: usize) -> Program {
        let group = [32, 64, 64, 128][self.rng.below(4)];
        let grid = (1 + self.rng.below(2) as u32) * group
            - if self.together == 0 && self.rng.one_in(3) { 5 } else { 0 };
        let shape = Shape { grid: [grid, 1, 1], group: [group, 1, 1] };
        self.out.push_str("struct Record { a: u32, b: u64, c: [u32; 2] }\n");
        self.out.push_str("struct Large { a: [u32; 12], b: u64, d: f64, h: [u16; 4] }\n");
        self.out.push_str("struct Bulk { a: [u32; 36], b: u64 }\n");
        let _ = writeln!(self.out, "struct Calls {{ f: {WORD}, g: [{WORD}; 2], k: u32 }}");
        self.out.push_str(
            "global static G: [u32; 256];\nshared static L: [u32; 128];\nshared static M: [u32; 128];\nshared static dyn D: [u32];\n",
        );
        let words: Vec<String> = (0..8).map(|_| (self.rng.bits() as u32).to_string()).collect();
        let _ = writeln!(self.out, "constant static C: [u32; 8] = [{}];", words.join(", "));
        for (space, name) in [("constant", "T"), ("global", "U")] {
            let table: Vec<String> = (0..4).map(|_| self.word_function()).collect();
            let _ = writeln!(self.out, "{space} static {name}: [{WORD}; 4] = [{}];", table.join(", "));
        }
        for n in 0..self.together {
            self.together(n);
        }
        for n in 0..self.kinds.len() {
            self.function(n, exports);
        }
        self.kernel(group);
        // Half of the programs use `Convention::Today`.
        let call_abi =
            [Convention::Today, Convention::Guide, Convention::Today, Convention::Llvm14][self.rng.below(4)];
        Program { source: self.out, shape, call_abi, objects }
    }

    fn kernel(&mut self, group: u32) {
        self.kind = None;
        let limits = match self.rng.below(10) {
            0 | 1 => format!("#[waves_per_eu({})]\n", 1 + self.rng.below(6)),
            2 => format!("#[num_vgpr({})]\n", [40, 48, 64, 100][self.rng.below(4)]),
            3 => format!("#[num_sgpr({})]\n", [64, 80, 96][self.rng.below(3)]),
            _ => String::new(),
        };
        let _ = writeln!(self.out, "#[workgroup_size({group})]\n{limits}kernel k({PARAMS}) {{");
        let fuel = 2 + self.rng.below(40);
        let _ = writeln!(
            self.out,
            "    let i = global_id(0);\n    let mut fuel: u32 = {fuel} + (i & {});\n    let fuel = &fuel;\n    \
             L[local_id(0)] = i * 3;\n    M[local_id(0)] = i;\n    D[local_id(0)] = i + 5;\n    G[i] = i;",
            [0, 3, 7][self.rng.below(3)]
        );
        self.own = vec!["i".to_owned(), "n".to_owned()];
        self.variables();
        let statements = 4 + self.statements;
        for at in 0..statements {
            self.depth = 1;
            if self.together > 0 && (at == 0 || self.rng.one_in(3)) {
                let (callee, turns) = (self.rng.below(self.together), self.rng.below(4));
                let (place, a) = (self.place_text(), self.number(2));
                self.line(&format!("{place} ^= together_{callee}({turns}, {a});"));
            }
            self.statement();
        }
        self.out.push_str(
            "    out[i] = x ^ y * 31 ^ mine[0] ^ mine[1] * 7 ^ mine[2] ^ mine[3] ^ G[i] ^ L[local_id(0)] ^ D[local_id(0)] ^ record.a + record.c[1];\n}\n",
        );
    }

    /// Writes a function with barriers. It calls itself or another such function as often as its argument
    /// says, equally in all work-items.
    fn together(&mut self, n: usize) {
        let (next, step) = (self.rng.below(self.together), 1 + self.rng.below(7));
        let attribute = ["", "#[inline(never)]\n"][self.rng.below(2)];
        let _ = writeln!(
            self.out,
            "{attribute}fn together_{n}(turns: u32, a: u32) -> u32 {{\n    barrier();\n    M[local_id(0)] = a;\n    barrier();\n    \
             let other = M[(local_id(0) + {step}) % local_size(0)];\n    if turns == 0 {{ return other; }}\n    \
             other * 3 ^ together_{next}(turns - 1, a + other)\n}}"
        );
    }

    fn function(&mut self, n: usize, exports: bool) {
        let kind = self.kinds[n];
        match self.rng.below(8) {
            0 => self.out.push_str("#[inline]\n"),
            1 | 2 => self.out.push_str("#[inline(never)]\n"),
            3 | 4 if exports && kind.passes_outside() => self.out.push_str("#[export]\n"),
            _ => {}
        }
        let _ = writeln!(self.out, "fn fn_{n}{} {{", kind.signature());
        self.kind = Some(kind);
        self.own = kind.numbers().iter().map(|&name| name.to_owned()).collect();
        self.depth = 1;
        let early = self.give_back();
        let _ = writeln!(self.out, "    if *fuel == 0 {{ {early} }}\n    *fuel -= 1;");
        self.variables();
        if let Some(idle) = kind.idle() {
            self.line(&format!("if {idle} {{ }}"));
        }
        let count = 1 + self.rng.below(self.statements);
        self.block_of(count);
        if self.rng.one_in(4) {
            let (cond, early) = (self.cond(), self.give_back());
            let _ = writeln!(self.out, "    if {cond} {{ {early} }}");
            let more = 1 + self.rng.below(3);
            self.block_of(more);
        }
        let number = self.number(2);
        match kind {
            Kind::Unit => self.line(&format!("*p += {number};")),
            Kind::Reference => self.line(&format!("(*held).c[a & 1] = {number};\n    (*held).b += 3;")),
            // In a third of the cases, the function returns the result of a tail call.
            Kind::Word if self.rng.one_in(3) => {
                let (callee, a) = (self.word_callee(), self.number(1));
                self.line(&format!("return {callee}(fuel, {a}, {number});"));
            }
            _ => {
                let result = kind.result(self);
                self.line(&result);
            }
        }
        self.out.push_str("}\n");
    }

    /// Returns a `return` statement.
    fn give_back(&mut self) -> String {
        match self.kind.map(|kind| kind.result(self)) {
            Some(value) if !value.is_empty() => format!("return {value};"),
            _ => "return;".to_owned(),
        }
    }

    /// Declares the variables on which the statements work.
    fn variables(&mut self) {
        self.names = 0;
        self.elements = [4, 4, 6, 40][self.rng.below(4)];
        let (x, y) = (self.number(1), self.number(2));
        let _ = writeln!(self.out, "    let mut x: u32 = {x};\n    let mut y: u32 = {y};");
        self.own.extend(["x".to_owned(), "y".to_owned()]);
        let parts: Vec<String> = match self.elements {
            40 => vec!["x; 40".to_owned()],
            count => (0..count).map(|_| self.number(1)).collect(),
        };
        let _ = writeln!(self.out, "    let mut mine: [u32; {}] = [{}];", self.elements, parts.join(", "));
        let _ = writeln!(self.out, "    let mut record = Record {{ a: x, b: y as u64, c: [y, 5] }};");
        self.own.push("record.c[1]".to_owned());
    }

    fn block_of(&mut self, count: usize) {
        for _ in 0..count {
            self.statement();
        }
    }

    fn block(&mut self, count: usize) {
        self.depth += 1;
        self.block_of(count);
        self.depth -= 1;
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "    ".repeat(self.depth));
    }

    fn name(&mut self, of: &str) -> String {
        self.names += 1;
        format!("{of}{}", self.names)
    }

    fn place_text(&mut self) -> String {
        match self.rng.below(11) {
            10 => "D[local_id(0)]".to_owned(),
            0 | 1 => format!("mine[{} % {}]", self.number(1), self.elements),
            2 => "G[global_id(0)]".to_owned(),
            3 => "L[local_id(0)]".to_owned(),
            4 => "record.c[1]".to_owned(),
            n => ["x", "y"][n % 2].to_owned(),
        }
    }

    fn statement(&mut self) {
        let nests = self.depth < 5;
        match self.rng.below(20) {
            0 | 1 if nests => self.branch(),
            2 | 3 if nests => self.count(),
            4 if nests => self.burn(),
            5 if nests => self.choose(),
            6 => self.lanes(),
            7 => self.press(),
            8 if self.depth > 1 && self.kind.is_some() && self.rng.one_in(2) => {
                let (cond, early) = (self.cond(), self.give_back());
                self.line(&format!("if {cond} {{ {early} }}"));
            }
            9 => self.add(),
            18 if self.rng.one_in(3) => self.own_lds(),
            10..=16 => self.call(),
            _ => {
                let (place, value) = (self.place_text(), self.number(3));
                self.line(&format!("{place} = {value};"));
            }
        }
    }

    fn branch(&mut self) {
        let cond = self.cond();
        self.line(&format!("if {cond} {{"));
        let count = 1 + self.rng.below(3);
        self.block(count);
        if self.rng.one_in(2) {
            self.line("} else {");
            let count = 1 + self.rng.below(3);
            self.block(count);
        }
        self.line("}");
    }

    fn count(&mut self) {
        let turns = 1 + self.rng.below(4);
        let bound = if self.rng.one_in(2) { turns.to_string() } else { format!("({} & 3)", self.number(1)) };
        let counter = self.name("n");
        self.line(&format!("for {counter} in 0u32..{bound} {{"));
        self.own.push(counter);
        let count = 1 + self.rng.below(3);
        self.block(count);
        if self.rng.one_in(3) {
            let (cond, out) = (self.cond(), *self.rng.pick(&["break", "continue"]));
            self.line(&format!("    if {cond} {{ {out}; }}"));
            self.block(1);
        }
        self.own.pop();
        self.line("}");
    }

    /// Writes a loop that runs while the shared counter is large enough; each iteration decrements the
    /// counter.
    fn burn(&mut self) {
        let least = 3 + self.rng.below(30);
        self.line(&format!("while *fuel > {least} {{"));
        self.line("    *fuel -= 1;");
        let count = 1 + self.rng.below(2);
        self.block(count);
        self.line("}");
    }

    fn choose(&mut self) {
        let number = self.number(1);
        self.line(&format!("match {number} & 7 {{"));
        for pattern in ["0", "1 | 5", "2..=4", "_"] {
            self.line(&format!("    {pattern} => {{"));
            self.depth += 1;
            let count = self.rng.below(2) + 1;
            self.block(count);
            self.depth -= 1;
            self.line("    }");
        }
        self.line("}");
    }

    /// Writes an operation across the active lanes.
    fn lanes(&mut self) {
        let (place, cond, number) = (self.place_text(), self.cond(), self.number(1));
        let value = match self.rng.below(7) {
            0 | 1 => format!("popcount(ballot({cond})) as u32"),
            2 => format!("wave_reduce_{}({number})", self.rng.pick(&["add", "min", "max", "xor"])),
            3 => format!("wave_scan_add({number} & 255)"),
            4 => format!("read_first_lane({number})"),
            5 => format!("select(any({cond}), {number}, 7u32)"),
            _ => format!("mbcnt(ballot({cond}))"),
        };
        self.line(&format!("{place} += {value};"));
    }

    /// Writes a variable in LDS that belongs to the function, with an element per work-item.
    fn own_lds(&mut self) {
        let (name, number, place) = (self.name("cell"), self.number(2), self.place_text());
        self.line("{");
        self.depth += 1;
        self.line(&format!("shared {name}: [u32; 128];"));
        self.line(&format!("{name}[local_id(0)] = {number};"));
        // No call comes between the store and the load, because a call of the same function would overwrite
        // the variable.
        self.line(&format!("{place} ^= {name}[local_id(0)];"));
        self.depth -= 1;
        self.line("}");
    }

    /// Writes many numbers that are live across a call.
    fn press(&mut self) {
        let count = [6, 12, 24, 48][self.rng.below(4)];
        let name = self.name("k");
        for n in 0..count {
            let number = self.number(1);
            self.line(&format!("let {name}_{n} = {number} * {} + {n};", 3 + 2 * n));
        }
        self.call();
        let sum: Vec<String> = (0..count).map(|n| format!("{name}_{n}")).collect();
        let place = self.place_text();
        self.line(&format!("{place} ^= {};", sum.join(" + ")));
    }

    /// Writes an atomic operation on an element that no other work-item accesses.
    fn add(&mut self) {
        let (place, number) = (self.place_text(), self.number(1));
        let (at, scope) = *self.rng.pick(&[("&L[local_id(0)]", "workgroup"), ("&G[global_id(0)]", "agent")]);
        let op = *self.rng.pick(&["add", "xor", "max", "sub"]);
        self.line(&format!("{place} += atomic_{op}({at}, {number}, relaxed, {scope});"));
    }

    /// Writes a call of a random function, directly or through a pointer.
    fn call(&mut self) {
        let at = self.rng.below(self.kinds.len());
        let (name, kind) = (format!("fn_{at}"), self.kinds[at]);
        let place = self.place_text();
        let callee = match kind {
            Kind::Word => self.word_callee(),
            Kind::Unit if self.rng.one_in(3) => {
                let name_of = self.name("g");
                self.line(&format!("let {name_of}: fn(*private u32, *private u32) = {name};"));
                name_of
            }
            _ => name,
        };
        let arguments = kind.arguments(self);
        match kind {
            Kind::Unit | Kind::Reference => self.line(&format!("{callee}(fuel, {arguments});")),
            Kind::Word if self.rng.one_in(3) => {
                let second = self.word_callee();
                self.line(&format!("{place} = {second}(fuel, {callee}(fuel, {arguments}), 5);"));
            }
            Kind::Flag => {
                let (cond, number) = (self.cond(), self.number(1));
                let both = *self.rng.pick(&["&&", "||"]);
                self.line(&format!(
                    "if {cond} {both} {callee}(fuel, {arguments}) {{ {place} ^= {number}; }}"
                ));
            }
            Kind::Word | Kind::Higher => self.line(&format!("{place} = {callee}(fuel, {arguments});")),
            _ => {
                let folded = kind.folded();
                self.line(&format!("{{ let r = {callee}(fuel, {arguments}); {place} = {folded}; }}"));
            }
        }
    }

    /// Returns the address of a number of this call's variables, or an address parameter.
    pub(super) fn address(&mut self) -> String {
        match self.rng.below(5) {
            0 => format!("&mine[{} % {}]", self.number(1), self.elements),
            1 if self.own.iter().any(|name| name == "*p") => "p".to_owned(),
            2 => "&mine[1]".to_owned(),
            3 => "&record.c[0]".to_owned(),
            _ => "&x".to_owned(),
        }
    }

    /// Returns an address of four numbers.
    pub(super) fn slice(&mut self) -> String {
        match self.kind.and_then(Kind::slice) {
            Some(slice) if self.rng.one_in(2) => slice.to_owned(),
            _ if self.elements > 4 => format!("&mine[{} % {}]", self.number(1), self.elements - 3),
            _ => "&mine[0]".to_owned(),
        }
    }

    fn word_function(&mut self) -> String {
        let words: Vec<usize> = (0..self.kinds.len()).filter(|&n| self.kinds[n] == Kind::Word).collect();
        format!("fn_{}", self.rng.pick(&words))
    }

    /// Returns a function over words as a value.
    pub(super) fn word_value(&mut self) -> String {
        match self.rng.below(6) {
            0 => format!("T[{} & 3]", self.number(1)),
            1 => format!("U[group_id(0) & {}]", self.rng.below(4)),
            2 if !self.callees().is_empty() => (*self.rng.pick(self.callees())).to_owned(),
            _ => self.word_function(),
        }
    }

    fn callees(&self) -> &'static [&'static str] {
        self.kind.map_or(&[], Kind::callees)
    }

    /// Returns a callee for a function over words: a name, an entry of a table, or a choice that is uniform
    /// or divergent.
    fn word_callee(&mut self) -> String {
        match self.rng.below(10) {
            0 => format!("T[{} & 3]", self.number(1)),
            1 => format!("T[group_id(0) & {}]", self.rng.below(4)),
            2 => format!("U[{} & 3]", self.number(1)),
            3 => {
                let (cond, f, g) = (self.cond(), self.word_function(), self.word_function());
                format!("[{f}, {g}][select({cond}, 0u32, 1u32)]")
            }
            4 if self.kinds.len() > 4 => {
                let list = [self.word_function(), self.word_function(), self.word_function()];
                format!("[{}][local_id(0) % 3]", list.join(", "))
            }
            5 | 6 if !self.callees().is_empty() => (*self.rng.pick(self.callees())).to_owned(),
            _ => self.word_function(),
        }
    }

    fn cond(&mut self) -> String {
        let (a, b) = (self.number(2), self.number(1));
        match self.rng.below(6) {
            0 => format!("({a} & 1) == 0"),
            1 => format!("{a} % 3 == group_id(0)"),
            2 => "*fuel > 3".to_owned(),
            3 => format!("{a} != {b}"),
            4 if !self.callees().is_empty() => {
                let f = *self.rng.pick(self.callees());
                format!("{f} == {}", self.word_function())
            }
            _ => format!("({a} & 15) < ({b} & 15)"),
        }
    }

    pub(super) fn number(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.one_in(4) {
            return match self.rng.below(8) {
                0 => self.rng.below(100).to_string() + "u32",
                1 => "local_id(0)".to_owned(),
                2 => "group_id(0)".to_owned(),
                3 => format!("C[{}]", self.rng.below(8)),
                _ if self.own.is_empty() => "5u32".to_owned(),
                _ => {
                    let own = self.own.clone();
                    self.rng.pick(&own).clone()
                }
            };
        }
        let (a, b) = (self.number(depth - 1), self.number(depth - 1));
        match self.rng.below(13) {
            0 => format!("({a} + {b})"),
            1 => format!("({a} - {b})"),
            2 => format!("({a} * {b})"),
            3 => format!("({a} ^ {b})"),
            4 => format!("({a} >> ({b} & 7))"),
            5 => format!("max({a}, {b})"),
            6 => format!("C[{a} & 7]"),
            7 => format!("select({a} > {b}, {a}, 3u32)"),
            8 => format!("({a} / ({b} | 1))"),
            9 => format!("((({a} as u64 + 1) * {b} as u64 >> 9) as u32)"),
            10 => format!("((({a} & 0xffff) as f32 / (({b} & 255) + 1) as f32) as u32)"),
            _ => format!("({a} | {b} << 3)"),
        }
    }
}
