//! Random programs in two languages, line by line the same, and the lines that each work-item runs.

use std::fmt::Write;
use support::Random;

/// Most statements that a work-item runs.
const MOST: usize = 400;

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Kernc,
    OpenCl,
}

/// A condition on the work-item's number or on the sum: `(x + add) % by == rest`.
struct Condition {
    is_sum: bool,
    add: u32,
    by: u32,
    rest: u32,
}

enum Statement {
    /// `s = s * by + add;`
    Step {
        by: u32,
        add: u32,
    },
    /// `s += f0(s);`
    Call(usize),
    If(Condition, Vec<Line>, Vec<Line>),
    /// A loop of `of % 4 + least` turns, each of which begins with `j += 1;`.
    Loop {
        least: u32,
        declared: usize,
        first: usize,
        body: Vec<Line>,
    },
    Break,
    Continue,
    Return,
}

struct Line {
    number: usize,
    what: Statement,
}

struct Function {
    body: Vec<Line>,
    /// Lines of its head, of `s`, of its result and of its last brace.
    lines: [usize; 4],
}

/// A program: functions, of which each calls those before it, and the kernel last.
pub struct Program {
    functions: Vec<Function>,
    texts: [String; 2],
    /// Lines of statements that do something for lanes each time, and nothing else.
    pub simple: Vec<usize>,
    /// Lines of conditions.
    pub conditions: Vec<usize>,
    /// Lines of functions' heads and of braces.
    pub structural: Vec<usize>,
}

struct Writer<'a> {
    rng: &'a mut Random,
    texts: [String; 2],
    line: usize,
    loops: usize,
    simple: Vec<usize>,
}

impl Writer<'_> {
    /// Writes a line in both languages; its number.
    fn put(&mut self, depth: usize, kernc: &str, opencl: &str) -> usize {
        for (text, line) in self.texts.iter_mut().zip([kernc, opencl]) {
            let _ = writeln!(text, "{:1$}{line}", "", 2 * depth);
        }
        self.line += 1;
        self.line
    }

    fn same(&mut self, depth: usize, line: &str) -> usize {
        self.put(depth, line, line)
    }

    fn condition(&mut self, of: &str) -> (Condition, String) {
        let by = 2 + self.rng.below(4) as u32;
        let (add, rest) = (self.rng.below(4) as u32, self.rng.below(by as usize) as u32);
        let is_sum = self.rng.below(3) == 0;
        let text = format!("({} + {add}) % {by} == {rest}", if is_sum { "s" } else { of });
        (Condition { is_sum, add, by, rest }, text)
    }

    fn block(
        &mut self,
        (of, callees): (&str, usize),
        depth: usize,
        loops: usize,
        budget: usize,
    ) -> Vec<Line> {
        let count = 1 + self.rng.below(3);
        (0..count).map(|_| self.statement((of, callees), depth, loops, budget)).collect()
    }

    fn step(&mut self, depth: usize) -> Line {
        let (by, add) = (1 + self.rng.below(5) as u32, self.rng.below(9) as u32 + 1);
        let number = self.same(depth, &format!("s = s * {by} + {add};"));
        self.simple.push(number);
        Line { number, what: Statement::Step { by, add } }
    }

    fn statement(&mut self, (of, callees): (&str, usize), depth: usize, loops: usize, budget: usize) -> Line {
        match self.rng.below(if budget == 0 { 2 } else { 6 }) {
            1 if callees > 0 => {
                let callee = self.rng.below(callees);
                let number = self.same(depth, &format!("s += f{callee}(s % 16);"));
                self.simple.push(number);
                Line { number, what: Statement::Call(callee) }
            }
            2 | 3 => {
                let (condition, text) = self.condition(of);
                let number = self.put(depth, &format!("if {text} {{"), &format!("if ({text}) {{"));
                let mut then = self.block((of, callees), depth + 1, loops, budget - 1);
                let leaves = match self.rng.below(8) {
                    0 if loops > 0 => Some(("break;", Statement::Break)),
                    1 if loops > 0 => Some(("continue;", Statement::Continue)),
                    2 if callees == 0 => Some(("return s;", Statement::Return)),
                    _ => None,
                };
                if let Some((text, what)) = leaves {
                    let number = self.same(depth + 1, text);
                    then.push(Line { number, what });
                }
                let mut other = Vec::new();
                if self.rng.below(2) == 0 {
                    self.same(depth, "} else {");
                    other = self.block((of, callees), depth + 1, loops, budget - 1);
                }
                self.same(depth, "}");
                Line { number, what: Statement::If(condition, then, other) }
            }
            4 if loops < 2 => {
                let (variable, least) = (self.loops, self.rng.below(3) as u32);
                self.loops += 1;
                let declared = self.put(
                    depth,
                    &format!("let mut j{variable}: u32 = {of} % 4 + {least};"),
                    &format!("uint j{variable} = {of} % 4 + {least};"),
                );
                let test = format!("j{variable} != 0");
                let number = self.put(depth, &format!("while {test} {{"), &format!("while ({test}) {{"));
                let first = self.same(depth + 1, &format!("j{variable} -= 1;"));
                let body = self.block((of, callees), depth + 1, loops + 1, budget - 1);
                self.same(depth, "}");
                Line { number, what: Statement::Loop { least, declared, first, body } }
            }
            _ => self.step(depth),
        }
    }

    fn function(&mut self, number: usize) -> Function {
        self.put(0, "#[inline(never)]", "__attribute__((noinline))");
        let head =
            self.put(0, &format!("fn f{number}(n: u32) -> u32 {{"), &format!("uint f{number}(uint n) {{"));
        let begin = self.put(1, "let mut s = n + 1;", "uint s = n + 1;");
        let mut body = self.block(("n", number), 1, 0, 2);
        body.push(self.step(1));
        let end = self.put(1, "return s;", "return s;");
        Function { body, lines: [head, begin, end, self.same(0, "}")] }
    }

    fn kernel(&mut self, functions: usize) -> Function {
        let head = self.put(0, "kernel k(out: *global u32) {", "__kernel void k(__global uint *out) {");
        self.put(1, "let i = local_id(0);", "uint i = __builtin_amdgcn_workitem_id_x();");
        let begin = self.put(1, "let mut s = i * 7 + 1;", "uint s = i * 7 + 1;");
        let mut body = Vec::new();
        for _ in 0..4 {
            // A kernel does not return a value: one statement more calls no function.
            let callees = functions.max(1);
            body.push(self.statement(("i", callees), 1, 0, 3));
        }
        let end = self.same(1, "out[i] = s;");
        self.simple.push(end);
        Function { body, lines: [head, begin, end, self.same(0, "}")] }
    }
}

/// A line that a work-item runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    pub line: usize,
    /// A function that the line has called has returned to it.
    pub goes_on: bool,
}

/// What a work-item does in a function.
struct Run<'a> {
    program: &'a Program,
    lines: Vec<Ran>,
    s: u32,
    of: u32,
}

enum Flow {
    On,
    Break,
    Continue,
    Return,
}

impl Run<'_> {
    fn runs(&mut self, line: usize) {
        self.lines.push(Ran { line, goes_on: false });
    }

    fn holds(&self, condition: &Condition) -> bool {
        let x = if condition.is_sum { self.s } else { self.of };
        x.wrapping_add(condition.add) % condition.by == condition.rest
    }

    /// Nothing where it takes too long.
    fn block(&mut self, block: &[Line]) -> Option<Flow> {
        for line in block {
            if let Statement::Loop { declared, .. } = line.what {
                self.runs(declared);
            }
            self.runs(line.number);
            let flow = match &line.what {
                Statement::Step { by, add } => {
                    self.s = self.s.wrapping_mul(*by).wrapping_add(*add);
                    Flow::On
                }
                Statement::Call(callee) => {
                    let value = self.call(*callee, self.s % 16)?;
                    self.lines.push(Ran { line: line.number, goes_on: true });
                    self.s = self.s.wrapping_add(value);
                    Flow::On
                }
                Statement::If(condition, then, other) => {
                    let block = if self.holds(condition) { then } else { other };
                    self.block(block)?
                }
                Statement::Loop { least, first, body, .. } => {
                    self.turns((line.number, *first), *least, body)?
                }
                Statement::Break => Flow::Break,
                Statement::Continue => Flow::Continue,
                Statement::Return => Flow::Return,
            };
            if self.lines.len() > MOST {
                return None;
            }
            if !matches!(flow, Flow::On) {
                return Some(flow);
            }
        }
        Some(Flow::On)
    }

    fn turns(&mut self, (head, first): (usize, usize), least: u32, body: &[Line]) -> Option<Flow> {
        for _ in 0..self.of % 4 + least {
            self.runs(first);
            match self.block(body)? {
                Flow::Return => return Some(Flow::Return),
                Flow::Break => return Some(Flow::On),
                Flow::On | Flow::Continue => self.runs(head),
            }
        }
        Some(Flow::On)
    }

    fn call(&mut self, callee: usize, n: u32) -> Option<u32> {
        let (s, of) = (self.s, self.of);
        self.of = n;
        self.function(callee, n.wrapping_add(1))?;
        let value = std::mem::replace(&mut self.s, s);
        self.of = of;
        Some(value)
    }

    fn function(&mut self, number: usize, s: u32) -> Option<()> {
        let function = &self.program.functions[number];
        let [head, begin, end, brace] = function.lines;
        self.runs(head);
        self.runs(begin);
        self.s = s;
        if !matches!(self.block(&function.body)?, Flow::Return) {
            self.runs(end);
        }
        self.runs(brace);
        Some(())
    }
}

impl Program {
    /// The program of a seed.
    pub fn new(seed: u64) -> Program {
        let mut rng = Random::new(seed);
        let mut writer =
            Writer { rng: &mut rng, texts: Default::default(), line: 0, loops: 0, simple: Vec::new() };
        let count = 1 + writer.rng.below(2);
        let mut functions: Vec<Function> = (0..count).map(|number| writer.function(number)).collect();
        functions.push(writer.kernel(count));
        let Writer { texts, simple, .. } = writer;
        let heads = functions.iter().map(|function| function.lines[0]);
        let braces = texts[0].lines().zip(1..).filter(|(line, _)| line.trim_start().starts_with('}'));
        let tests =
            texts[0].lines().zip(1..).filter(|(line, _)| line.contains("if ") || line.contains("while "));
        let conditions = tests.map(|(_, number)| number).collect();
        let structural = heads.chain(braces.map(|(_, number)| number)).collect();
        Program { functions, texts, simple, conditions, structural }
    }

    pub fn text(&self, language: Language) -> &str {
        &self.texts[language as usize]
    }

    /// The lines that a work-item runs, in order, and its result; nothing where it takes too long.
    pub fn lines(&self, item: u32) -> Option<(Vec<Ran>, u32)> {
        let mut run = Run { program: self, lines: Vec::new(), s: 0, of: item };
        let kernel = self.functions.len() - 1;
        // The kernel's line of `i`, in front of that of `s`.
        run.runs(self.functions[kernel].lines[1] - 1);
        run.function(kernel, item * 7 + 1)?;
        Some((run.lines, run.s))
    }
}
