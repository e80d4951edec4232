//! Random programs of functions that call each other: graphs of up to 60 functions with recursion, pointers to functions that lanes share or do
//! not, calls in branches and loops, variables whose addresses are passed, arrays in each call, variables of the module and of the group.
//!
//! A counter that all calls of a work-item share ends them: a function that finds it empty returns at once, so that any graph ends.

use crate::launch::{emulate, interpret};
use crate::program::{PARAMS, Shape};
use crate::rng::Rng;
use crate::{Config, Failure, compare};
use ir::passes::inline::Calls;
use ir::passes::{OptOptions, PassContext, optimize};
use kernc::{Compiler, Options};
use std::fmt::Write;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Most functions of a program.
pub const MOST: usize = 60;

/// What functions take and give, beside the counter that ends them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Word,
    Pair,
    Record,
    Unit,
    Higher,
    Flag,
}

impl Kind {
    const ALL: [Kind; 6] = [Kind::Word, Kind::Pair, Kind::Record, Kind::Unit, Kind::Higher, Kind::Flag];

    /// Parameters and result as they are written.
    fn signature(self) -> &'static str {
        match self {
            Kind::Word => "(fuel: *private u32, a: u32, b: u32) -> u32",
            Kind::Pair => "(fuel: *private u32, v: u32x2) -> u32x2",
            Kind::Record => "(fuel: *private u32, s: Record, p: *private u32) -> Record",
            Kind::Unit => "(fuel: *private u32, p: *private u32)",
            Kind::Higher => "(fuel: *private u32, f: Word, a: u32) -> u32",
            Kind::Flag => "(fuel: *private u32, a: u32) -> bool",
        }
    }

    /// Numbers that the parameters have.
    fn numbers(self) -> &'static [&'static str] {
        match self {
            Kind::Word => &["a", "b"],
            Kind::Pair => &["v.x", "v.y"],
            Kind::Record => &["s.a", "(s.b as u32)", "s.c[1]", "*p"],
            Kind::Unit => &["*p"],
            Kind::Higher | Kind::Flag => &["a"],
        }
    }
}

const WORD: &str = "fn(*private u32, u32, u32) -> u32";

/// A program, and how it is run.
pub struct Program {
    /// Its text.
    pub source: String,
    /// The dispatch of its kernel, `k`.
    pub shape: Shape,
}

/// The program of a seed with at most so many functions, each with at most so many statements.
pub fn generate(seed: u64, functions: usize, statements: usize) -> Program {
    let mut rng = Rng::new(seed);
    let most = functions.min(1 << rng.below(7));
    let count = 1 + rng.below(most);
    let kinds: Vec<Kind> =
        (0..count).map(|n| if n == 0 { Kind::Word } else { *rng.pick(&Kind::ALL) }).collect();
    let exports = rng.one_in(6);
    let mut writer =
        Writer { rng, kinds, statements, out: String::new(), depth: 0, own: Vec::new(), loops: 0 };
    writer.module(exports)
}

struct Writer {
    rng: Rng,
    kinds: Vec<Kind>,
    statements: usize,
    out: String,
    depth: usize,
    /// Numbers that can be read here.
    own: Vec<String>,
    /// Loops of the function so far, whose counters have names of their own.
    loops: usize,
}

impl Writer {
    fn module(&mut self, exports: bool) -> Program {
        let group = [32, 64, 64, 128][self.rng.below(4)];
        let grid = (1 + self.rng.below(2) as u32) * group - if self.rng.one_in(3) { 5 } else { 0 };
        let shape = Shape { grid: [grid, 1, 1], group: [group, 1, 1] };
        self.out.push_str("struct Record { a: u32, b: u64, c: [u32; 2] }\n");
        self.out.push_str("global static G: [u32; 256];\nshared static L: [u32; 128];\n");
        let words: Vec<String> = (0..8).map(|_| (self.rng.bits() as u32).to_string()).collect();
        let _ = writeln!(self.out, "constant static C: [u32; 8] = [{}];", words.join(", "));
        let table: Vec<String> = (0..4).map(|_| self.word_function()).collect();
        let _ = writeln!(self.out, "constant static T: [{WORD}; 4] = [{}];", table.join(", "));
        for n in 0..self.kinds.len() {
            self.function(n, exports);
        }
        let _ = writeln!(self.out, "#[workgroup_size({group})]\nkernel k({PARAMS}) {{");
        let fuel = 2 + self.rng.below(40);
        let _ = writeln!(
            self.out,
            "    let i = global_id(0);\n    let mut fuel: u32 = {fuel} + (i & {});\n    let fuel = &fuel;\n    \
             L[local_id(0)] = i * 3;\n    G[i] = i;",
            [0, 3, 7][self.rng.below(3)]
        );
        self.own = vec!["i".to_owned(), "n".to_owned()];
        self.body(4 + self.statements);
        self.out.push_str(
            "    out[i] = x ^ y * 31 ^ own[0] ^ own[1] * 7 ^ own[2] ^ own[3] ^ G[i] ^ L[local_id(0)];\n}\n",
        );
        Program { source: std::mem::take(&mut self.out), shape }
    }

    fn function(&mut self, n: usize, exports: bool) {
        let kind = self.kinds[n];
        match self.rng.below(8) {
            0 => self.out.push_str("#[inline]\n"),
            1 | 2 => self.out.push_str("#[inline(never)]\n"),
            3 if exports => self.out.push_str("#[export]\n"),
            _ => {}
        }
        let signature = kind.signature().replace("Word", WORD);
        let _ = writeln!(self.out, "fn fn_{n}{signature} {{");
        self.own = kind.numbers().iter().map(|&name| name.to_owned()).collect();
        let early = self.result(kind);
        let back = if early.is_empty() { "return;".to_owned() } else { format!("return {early};") };
        let _ = writeln!(self.out, "    if *fuel == 0 {{ {back} }}\n    *fuel -= 1;");
        let count = 1 + self.rng.below(self.statements);
        self.body(count);
        if self.rng.one_in(4) {
            let (cond, early) = (self.cond(), self.result(kind));
            let _ = writeln!(self.out, "    if {cond} {{ return {early}; }}");
            let more = 1 + self.rng.below(3);
            self.block(more);
        }
        match self.result(kind) {
            value if value.is_empty() => {
                let number = self.number(2);
                let _ = writeln!(self.out, "    *p += {number};\n}}");
            }
            value => {
                let _ = writeln!(self.out, "    {value}\n}}");
            }
        }
    }

    /// Variables, and statements that work on them.
    fn body(&mut self, count: usize) {
        self.loops = 0;
        let (x, y) = (self.number(1), self.number(2));
        let _ = writeln!(self.out, "    let mut x: u32 = {x};\n    let mut y: u32 = {y};");
        self.own.extend(["x".to_owned(), "y".to_owned()]);
        let parts: Vec<String> = (0..4).map(|_| self.number(1)).collect();
        let _ = writeln!(self.out, "    let mut own: [u32; 4] = [{}];", parts.join(", "));
        self.block(count);
    }

    fn block(&mut self, count: usize) {
        self.depth += 1;
        for _ in 0..count {
            self.statement();
        }
        self.depth -= 1;
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "    ".repeat(self.depth.max(1)));
    }

    fn place(&mut self) -> String {
        match self.rng.below(9) {
            0 | 1 => format!("own[{} & 3]", self.number(1)),
            2 => "G[global_id(0)]".to_owned(),
            3 => "L[local_id(0)]".to_owned(),
            n => ["x", "y"][n % 2].to_owned(),
        }
    }

    fn statement(&mut self) {
        let nests = self.depth < 4;
        match self.rng.below(12) {
            0 if nests => {
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
            1 if nests => {
                let turns = 1 + self.rng.below(4);
                let bound =
                    if self.rng.one_in(2) { turns.to_string() } else { format!("({} & 3)", self.number(1)) };
                let counter = format!("n{}", self.loops);
                self.loops += 1;
                self.line(&format!("for {counter} in 0u32..{bound} {{"));
                self.own.push(counter);
                let count = 1 + self.rng.below(3);
                self.block(count);
                if self.rng.one_in(4) {
                    let cond = self.cond();
                    self.line(&format!("    if {cond} {{ break; }}"));
                }
                self.own.pop();
                self.line("}");
            }
            2 => {
                let (place, cond) = (self.place(), self.cond());
                self.line(&format!("{place} += popcount(ballot({cond})) as u32;"));
            }
            3..=8 => self.call(),
            _ => {
                let (place, value) = (self.place(), self.number(3));
                self.line(&format!("{place} = {value};"));
            }
        }
    }

    /// A call of some function, directly or through a pointer.
    fn call(&mut self) {
        let at = self.rng.below(self.kinds.len());
        let (name, kind) = (format!("fn_{at}"), self.kinds[at]);
        let place = self.place();
        match kind {
            Kind::Word => {
                let callee = self.word_callee();
                let (a, b) = (self.number(2), self.number(1));
                self.line(&format!("{place} = {callee}(fuel, {a}, {b});"));
            }
            Kind::Pair => {
                let (a, b) = (self.number(1), self.number(1));
                self.line(&format!("{{ let r = {name}(fuel, u32x2({a}, {b})); {place} = r.x ^ r.y; }}"));
            }
            Kind::Record => {
                let (a, b, c) = (self.number(1), self.number(2), self.number(1));
                let passed = self.address();
                self.line(&format!(
                    "{{ let r = {name}(fuel, Record {{ a: {a}, b: {b} as u64 * 0x100000001, c: [{c}, 7] }}, {passed}); {place} = \
                     r.a + r.b as u32 + (r.b >> 32) as u32 + r.c[0]; }}"
                ));
            }
            Kind::Unit => {
                let passed = self.address();
                if self.rng.one_in(3) {
                    self.line(&format!(
                        "{{ let g: fn(*private u32, *private u32) = {name}; g(fuel, {passed}); }}"
                    ));
                } else {
                    self.line(&format!("{name}(fuel, {passed});"));
                }
            }
            Kind::Higher => {
                let (f, a) = (self.word_function(), self.number(2));
                self.line(&format!("{place} = {name}(fuel, {f}, {a});"));
            }
            Kind::Flag => {
                let a = self.number(2);
                let b = self.number(1);
                self.line(&format!("if {name}(fuel, {a}) {{ {place} ^= {b}; }}"));
            }
        }
    }

    /// The address of a number of this call's, or of one that was handed in.
    fn address(&mut self) -> String {
        match self.rng.below(4) {
            0 => format!("&own[{} & 3]", self.number(1)),
            1 if self.own.iter().any(|name| name == "*p") => "p".to_owned(),
            2 => "&own[1]".to_owned(),
            _ => "&x".to_owned(),
        }
    }

    fn word_function(&mut self) -> String {
        let words: Vec<usize> = (0..self.kinds.len()).filter(|&n| self.kinds[n] == Kind::Word).collect();
        format!("fn_{}", self.rng.pick(&words))
    }

    /// What a function of a word is called by: its name, an entry of a table, a choice that lanes share or do not.
    fn word_callee(&mut self) -> String {
        let of = |writer: &mut Writer| writer.word_function();
        match self.rng.below(8) {
            0 => format!("T[{} & 3]", self.number(1)),
            1 => format!("T[group_id(0) & {}]", self.rng.below(4)),
            2 => {
                let (cond, f, g) = (self.cond(), of(self), of(self));
                format!("[{f}, {g}][select({cond}, 0u32, 1u32)]")
            }
            3 if self.own.iter().any(|name| name == "a") && self.kinds.len() > 4 => {
                format!("[{}, {}, {}][local_id(0) % 3]", of(self), of(self), of(self))
            }
            _ => of(self),
        }
    }

    fn cond(&mut self) -> String {
        let (a, b) = (self.number(2), self.number(1));
        match self.rng.below(5) {
            0 => format!("({a} & 1) == 0"),
            1 => format!("{a} % 3 == group_id(0)"),
            2 => "*fuel > 3".to_owned(),
            3 => format!("{a} != {b}"),
            _ => format!("({a} & 15) < ({b} & 15)"),
        }
    }

    fn number(&mut self, depth: usize) -> String {
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
        match self.rng.below(9) {
            0 => format!("({a} + {b})"),
            1 => format!("({a} - {b})"),
            2 => format!("({a} * {b})"),
            3 => format!("({a} ^ {b})"),
            4 => format!("({a} >> ({b} & 7))"),
            5 => format!("max({a}, {b})"),
            6 => format!("C[{a} & 7]"),
            7 => format!("select({a} > {b}, {a}, 3u32)"),
            _ => format!("({a} | {b} << 3)"),
        }
    }

    /// A value of the result's type; nothing where there is none.
    fn result(&mut self, kind: Kind) -> String {
        let a = self.number(2);
        match kind {
            Kind::Word | Kind::Higher => a,
            Kind::Pair => format!("u32x2({a}, {})", self.number(1)),
            Kind::Record => format!("Record {{ a: {a}, b: s.b + 1, c: [{}, s.c[0]] }}", self.number(1)),
            Kind::Unit => String::new(),
            Kind::Flag => format!("{a} > 9"),
        }
    }
}

/// Runs the program of a seed: the interpreter on the IR as it is and optimised, and with `emulates` also compiled, in the emulator. A failing
/// program is made smaller by leaving functions and statements out.
pub fn check(seed: u64, config: &Config, emulates: bool) -> Result<(), Box<Failure>> {
    let of = |functions, statements| {
        let program = generate(seed, functions, statements);
        let run = AssertUnwindSafe(|| run(&program, config, emulates));
        let result = catch_unwind(run).unwrap_or_else(|payload| {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            Err(format!("panic: {}", text.or(payload.downcast_ref::<&str>().copied()).unwrap_or_default()))
        });
        result.err().map(|what| (what, program))
    };
    let Some(mut failed) = of(MOST, 6) else { return Ok(()) };
    if config.shrink {
        let sizes = [1, 2, 3, 5, 8, 16, 32]
            .into_iter()
            .flat_map(|functions| [(functions, 2), (functions, 4), (functions, 6)]);
        if let Some(smaller) = sizes.into_iter().find_map(|(functions, statements)| of(functions, statements))
        {
            failed = smaller;
        }
    }
    let (what, Program { source, shape }) = failed;
    Err(Box::new(Failure { seed, target: config.target, what, source, shape }))
}

fn run(program: &Program, config: &Config, emulates: bool) -> Result<(), String> {
    let Program { source, shape } = program;
    let options = frontend::Options { fp_contract: true, ..Default::default() };
    let plain = frontend::compile("test.k", source, &options)
        .map_err(|diagnostics| format!("frontend: {}", diagnostics.render(false)))?;
    ir::verify::verify(&plain).map_err(|errors| format!("the frontend's IR: {}", errors[0]))?;
    let lanes = config.target.wave_size;
    let expected = interpret(&plain, "k", shape, lanes).map_err(|error| format!("interpreter: {error}"))?;
    for &level in &config.levels {
        for calls in [Calls::InlineAll, Calls::ByCost] {
            let what = format!("{level:?}, {calls:?}");
            let module = optimized(plain.clone(), level.number(), calls)
                .map_err(|error| format!("{what}: {error}"))?;
            let found = interpret(&module, "k", shape, lanes)
                .map_err(|error| format!("interpreter, {what}: {error}"))?;
            compare(&expected, &found, &format!("optimiser, {what}"))?;
        }
        if emulates {
            let options = Options { opt_level: level, verify: config.verify, ..Options::default() };
            let object = Compiler::new(config.target).compile(source, &options);
            let object = object.map_err(|error| format!("compiler {level:?}: {error}"))?;
            let found = emulate(config.mode, object.bytes(), "k", shape);
            compare(
                &expected,
                &found.map_err(|error| format!("emulator {level:?}: {error}"))?,
                &format!("code {level:?}"),
            )?;
        }
    }
    Ok(())
}

fn optimized(mut module: ir::Module, level: u8, calls: Calls) -> Result<ir::Module, String> {
    let opts = OptOptions { level, calls, ..OptOptions::default() };
    let mut trouble = Ok(());
    let _ = optimize(&mut module, &opts, &mut PassContext::default(), &mut |pass, module| {
        trouble = ir::verify::verify(module).map_err(|errors| format!("after {pass}: {}", errors[0]));
        if trouble.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    trouble.map(|()| module)
}
