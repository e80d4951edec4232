//! Generated programs of any size. Each shape is a kind of code on which some pass might be slow.
//!
//! `tests/benches/scaling.rs` measures the shapes at n, 2n, 4n and 8n; tests use them as large inputs.

use std::fmt::Write;

/// A kind of program that can be generated in any size.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Its name.
    pub name: &'static str,
    /// What the size counts.
    pub about: &'static str,
    /// The smallest size worth measuring. Eight times this size is a large kernel of up to about 20,000
    /// instructions.
    pub base: usize,
    /// Returns the source text of a size.
    pub source: fn(usize) -> String,
}

/// All shapes.
pub const SHAPES: &[Shape] = &[
    Shape { name: "straight", about: "arithmetic with literals in a row", base: 500, source: straight },
    Shape { name: "stores", about: "loads and stores that may alias", base: 500, source: stores },
    Shape { name: "loops", about: "divergent loops in sequence", base: 160, source: loops },
    Shape { name: "uniform-loops", about: "uniform loops in sequence", base: 160, source: uniform_loops },
    Shape { name: "ifs", about: "divergent `if`s in sequence", base: 250, source: ifs },
    Shape { name: "nested-ifs", about: "divergent `if`s inside each other", base: 12, source: nested_ifs },
    Shape { name: "breaks", about: "exits of one loop", base: 125, source: breaks },
    Shape { name: "places", about: "exits of one loop, each to blocks of its own", base: 60, source: places },
    Shape { name: "returns", about: "early returns", base: 160, source: returns },
    Shape { name: "array", about: "elements of an array in registers", base: 125, source: array },
    Shape { name: "tests", about: "tests of one variable", base: 250, source: tests },
    Shape { name: "match", about: "arms of a `match`", base: 125, source: matching },
    Shape { name: "else-if", about: "links of an `else if` chain", base: 125, source: else_if },
    Shape { name: "live", about: "values live at once", base: 125, source: live },
    Shape { name: "kernels", about: "kernels in a module", base: 250, source: kernels },
    Shape { name: "expression", about: "operands of one expression", base: 500, source: expression },
    Shape { name: "tree", about: "leaves of a balanced expression tree", base: 1000, source: tree },
    Shape { name: "locals", about: "variables changed under conditions", base: 125, source: locals },
    Shape { name: "lds", about: "variables in LDS", base: 250, source: lds },
    Shape { name: "constants", about: "literals used in a loop", base: 250, source: constants },
    Shape { name: "calls", about: "functions, each called once", base: 250, source: calls },
    Shape { name: "barriers", about: "exchanges through LDS", base: 160, source: barriers },
    Shape {
        name: "nests",
        about: "twelve divergent loops inside each other, a variable each",
        base: 10,
        source: nests,
    },
    Shape { name: "continues", about: "ways back of one loop", base: 125, source: continues },
    Shape { name: "unrolled", about: "loops that are unrolled", base: 125, source: unrolled },
    Shape { name: "pointers", about: "pointer parameters", base: 60, source: pointers },
    Shape { name: "uniform-live", about: "uniform values live at once", base: 125, source: uniform_live },
    Shape { name: "carried", about: "arrays changed in a loop", base: 100, source: carried },
    Shape { name: "vectors", about: "arithmetic of vectors in a row", base: 200, source: vectors },
    Shape { name: "conditions", about: "operands of `&&` and `||`", base: 125, source: conditions },
    Shape { name: "structs", about: "structs copied under conditions", base: 125, source: structs },
    Shape { name: "atomics", about: "atomic operations", base: 500, source: atomics },
];

/// Returns the shape called `name`.
pub fn shape(name: &str) -> Option<&'static Shape> {
    SHAPES.iter().find(|shape| shape.name == name)
}

/// Source of a kernel over `x: *global u32`, whose body begins with `let i = global_id(0); let mut a =
/// x[i];`.
struct Text(String);

impl Text {
    fn new() -> Text {
        Text(String::new())
    }

    fn kernel(mut self) -> Text {
        self.0.push_str(
            "#[workgroup_size(64)]\nkernel k(x: *global u32, n: u32) {\n    let i = global_id(0);\n    let mut a = x[i];\n",
        );
        self
    }

    fn line(mut self, line: impl AsRef<str>) -> Text {
        let _ = writeln!(self.0, "    {}", line.as_ref());
        self
    }

    fn lines(self, n: usize, line: impl Fn(usize) -> String) -> Text {
        (0..n).fold(self, |text, j| text.line(line(j)))
    }

    /// Ends the kernel with a store of `value`.
    fn finish(self, value: &str) -> String {
        self.line(format!("x[i] = {value};")).0 + "}\n"
    }
}

fn straight(n: usize) -> String {
    let line = |j| format!("a = (a * {}) ^ (b >> {}); b = b + a * {};", 2 * j + 3, j % 31, j + 1);
    Text::new().kernel().line("let mut b = a ^ 5;").lines(n, line).finish("a + b")
}

fn stores(n: usize) -> String {
    let line = |j| format!("y[i * {n} + {j}] = x[i * {n} + {j}] + {j};");
    let head = "#[workgroup_size(64)]\nkernel k(x: *global u32, y: *global u32, n: u32) {\n    let i = global_id(0);\n";
    Text(head.to_owned()).lines(n, line).finish("n")
}

fn loops(n: usize) -> String {
    let line = |j| format!("#[no_unroll] for j in 0..(a & 7) {{ a = a * 3 + x[j + {j}]; }}");
    Text::new().kernel().lines(n, line).finish("a")
}

fn uniform_loops(n: usize) -> String {
    let line = |j| format!("#[no_unroll] for j in 0..n {{ a = a * 3 + x[j + {j}]; }}");
    Text::new().kernel().lines(n, line).finish("a")
}

fn ifs(n: usize) -> String {
    let line = |j| {
        let (bit, place) = (1 << (j % 20), (j + 1) * 64);
        format!("if (a & {bit}) != 0 {{ x[i + {place}] = a; a = a * 3 + {j}; }}")
    };
    Text::new().kernel().lines(n, line).finish("a")
}

fn nested_ifs(n: usize) -> String {
    let line =
        |j| format!("if (a & {}) != 0 {{ x[i + {}] = a; a = a * 3 + {j};", 1 << (j % 20), (j + 1) * 64);
    Text::new().kernel().lines(n, line).line("}".repeat(n)).finish("a")
}

fn breaks(n: usize) -> String {
    let line = |j| {
        let place = 64 * (j + 1);
        format!("if (a & 0xffff) == {j} {{ x[i + {place}] = a; break; }} a = a * 3 + x[a & 63];")
    };
    Text::new().kernel().line("loop {").lines(n, line).line("}").finish("a")
}

fn places(n: usize) -> String {
    let line = |j| {
        let (place, bits, odd) = (64 * (j + 1), 3 + j % 5, 2 * j + 3);
        format!(
            "if (a & 0xffff) == {j} {{ #[no_unroll] for q in 0..(x[a & 63] & {bits}) {{ a = a * {odd} + x[q]; }} \
             if a > {odd} {{ x[i + {place}] = a; return; }} x[i] = a ^ {odd}; break; }} a = a * 3 + x[a & 63];"
        )
    };
    Text::new().kernel().line("loop {").lines(n, line).line("}").finish("a")
}

fn returns(n: usize) -> String {
    let line = |j| {
        let place = 64 * (j + 1);
        format!("if (a & 0xffff) == {j} {{ x[i + {place}] = a; return; }} a = a * 3 + x[a & 63];")
    };
    Text::new().kernel().lines(n, line).finish("a")
}

fn array(n: usize) -> String {
    let change = |j| format!("if x[i + {j}] > {j} {{ v[{j}] = v[{}] + x[i]; }}", j * 7 % n);
    let store = |j| format!("x[i + {}] = v[{j}];", (j + 1) * 64);
    let text = Text::new().kernel().line(format!("let mut v: [u32; {n}] = [i; {n}];"));
    text.lines(n, change).lines(n, store).line("a = a + 1;").finish("a")
}

fn tests(n: usize) -> String {
    let line =
        |j| format!("if a < {} {{ x[i + {}] = b; b = b * 3 + {j}; }}", 1_000_000 - j * 7, (j + 1) * 64);
    let head = Text::new().kernel().line("a = a >> 1;").line("let mut b = 0u32;");
    head.lines(n, line).finish("b")
}

fn matching(n: usize) -> String {
    let arm = |j| format!("{} => {{ x[i + 64] = a * {}; x[i + 128] = a; }}", j * 3, j + 7);
    let head = Text::new().kernel().line("a = a >> 1;").line("match a {");
    head.lines(n, arm).line("_ => { x[i + 64] = 1; } }").finish("a")
}

fn else_if(n: usize) -> String {
    let link = |j| {
        let before = if j > 0 { "else " } else { "" };
        format!("{before}if a == {} {{ x[i + 64] = a * {}; x[i + 128] = a; }}", j * 3, j + 7)
    };
    Text::new().kernel().line("a = a >> 1;").lines(n, link).finish("a")
}

fn live(n: usize) -> String {
    let load = |j| format!("let v{j} = x[i * {n} + {j}];");
    let store = |j| format!("x[i * {n} + {j}] = v{} ^ v{j};", (j * 7 + 1) % n);
    Text::new().kernel().lines(n, load).line("barrier();").lines(n, store).line("a = a + 1;").finish("a")
}

fn kernels(n: usize) -> String {
    (0..n).fold(String::new(), |mut text, j| {
        let _ = writeln!(text, "#[workgroup_size(64)]\nkernel k{j}(x: *global u32, n: u32) {{");
        let _ = writeln!(text, "    let i = global_id(0);\n    x[i] = x[i] * {} + {j};\n}}", j + 3);
        text
    })
}

fn expression(n: usize) -> String {
    let term = |j| format!("    + (i ^ {}) * {}\n", j + 1, j + 3);
    let terms: String = (0..n).map(term).collect();
    Text::new().kernel().line(format!("a = a\n{terms};")).finish("a")
}

fn tree(n: usize) -> String {
    /// Returns a balanced expression tree over the leaves `from..to`.
    fn node(from: usize, to: usize) -> String {
        if to - from <= 1 {
            return format!("(a ^ {})", from * 40503 + 1);
        }
        let middle = from.midpoint(to);
        let op = ["+", "*"][(from + to) % 2];
        format!("({} {op} {})", node(from, middle), node(middle, to))
    }
    Text::new().kernel().line(format!("a = {};", node(0, n))).finish("a")
}

fn locals(n: usize) -> String {
    let declare = |j| format!("let mut v{j} = a * {};", j + 3);
    let change = |j| {
        let (bit, next) = (1 << (j % 20), (j + 1) % n);
        format!("if (a & {bit}) != 0 {{ v{j} = v{next} + a; a = a ^ {j}; }}")
    };
    let store = |j| format!("x[i + {}] = v{j};", (j + 1) * 64);
    Text::new().kernel().lines(n, declare).lines(n, change).lines(n, store).finish("a")
}

fn lds(n: usize) -> String {
    let declare = |j| format!("shared t{j}: u32;");
    let store = |j| format!("if (a & {}) != 0 {{ t{j} = a + {j}; }}", 1 << (j % 20));
    let load = |j| format!("a = a * 3 + t{j};");
    let text = Text::new().kernel().lines(n, declare).lines(n, store).line("barrier();");
    text.lines(n, load).finish("a")
}

fn constants(n: usize) -> String {
    let line = |j| format!("a = a + x[j * {} + {j}] * {};", j + 1, 0x12345 + j * 77777);
    Text::new().kernel().line("#[no_unroll] for j in 0..n {").lines(n, line).line("}").finish("a")
}

fn calls(n: usize) -> String {
    let define =
        |j| format!("fn fun{j}(a: u32, b: u32) -> u32 {{ if a > b {{ a * {} }} else {{ b + {j} }} }}", j + 3);
    Text::new().lines(n, define).kernel().lines(n, |j| format!("a = fun{j}(a, n);")).finish("a")
}

fn barriers(n: usize) -> String {
    let line = |j| format!("t[l] = a; barrier(); a = a + t[(l + {}) & 63]; barrier();", j + 1);
    let head = Text::new().kernel().line("shared t: [u32; 64];").line("let l = local_id(0);");
    head.lines(n, line).finish("a")
}

fn nests(n: usize) -> String {
    const DEPTH: usize = 12;
    let nest = |_| {
        let down = |j| {
            format!(
                "let mut v{j} = a + {j}; #[no_unroll] for j{j} in 0..(a & 3) {{ v{j} = v{j} * 3 + x[j{j}];\n"
            )
        };
        let up = |j| format!("a = a ^ v{j}; }} a = a + v{j};\n");
        (0..DEPTH).map(down).chain((0..DEPTH).rev().map(up)).collect()
    };
    Text::new().kernel().lines(n, nest).finish("a")
}

fn continues(n: usize) -> String {
    let line = |j| format!("a = a * 3 + x[a & 63]; if (a & 0xffff) == {j} {{ continue; }}");
    Text::new().kernel().line("while a > 7 {").lines(n, line).line("a = a / 3; }").finish("a")
}

fn unrolled(n: usize) -> String {
    let line = |j| format!("for j in 0..4u32 {{ a = a * 3 + x[i + j + {j}]; }}");
    Text::new().kernel().lines(n, line).finish("a")
}

fn pointers(n: usize) -> String {
    let params = (0..n).fold(String::new(), |text, j| text + &format!(", p{j}: *global u32"));
    let head =
        format!("#[workgroup_size(64)]\nkernel k(x: *global u32{params}) {{\n    let i = global_id(0);\n");
    let line = |j| format!("p{j}[i] = a + {j}; a = a * 3 + p{}[i + 1];", j * 7 % n);
    Text(head).line("let mut a = x[i];").lines(n, line).finish("a")
}

fn uniform_live(n: usize) -> String {
    let head = "#[workgroup_size(64)]\nkernel k(y: *const restrict global u32, x: *global u32, n: u32) {\n    let i = global_id(0);\n";
    let load = |j| format!("let v{j} = y[n * {}] * {};", j + 1, j + 3);
    let store = |j| format!("x[i + j + {j}] = v{j} ^ v{};", (j * 7 + 1) % n);
    let text = Text(head.to_owned()).lines(n, load).line("#[no_unroll] for j in 0..n {");
    text.lines(n, store).line("}").finish("1")
}

fn carried(n: usize) -> String {
    let change = |j| format!("v{j}[{}] = v{}[{}] + x[j + {j}];", j % 4, (j + 1) % n, (j + 1) % 4);
    let sum = |j| format!("a = a + v{j}[0] ^ v{j}[1] + v{j}[2] ^ v{j}[3];");
    let text = Text::new().kernel().lines(n, |j| format!("let mut v{j} = [a + {j}; 4];"));
    text.line("#[no_unroll] for j in 0..(a & 15) {").lines(n, change).line("}").lines(n, sum).finish("a")
}

fn vectors(n: usize) -> String {
    let head = "#[workgroup_size(64)]\nkernel k(x: *global f32x4, n: u32) {\n    let i = global_id(0);\n";
    let line = |j| format!("a = a * b + x[i + {j}]; b = b - a * {j}.5;");
    let text = Text(head.to_owned()).line("let mut a = x[i]; let mut b = x[i + 1];");
    text.lines(n, line).finish("a")
}

fn conditions(n: usize) -> String {
    let list = |join: &str, term: &dyn Fn(usize) -> String| (0..n).map(term).collect::<Vec<_>>().join(join);
    let all = list(" && ", &|j| format!("x[i + {j}] > {j}"));
    let any = list(" || ", &|j| format!("(a ^ {}) < {j}", j * 77));
    let text = Text::new().kernel().line(format!("if {all} {{ a = a + 1; }}"));
    text.line(format!("if {any} {{ a = a * 3; }}")).finish("a")
}

fn structs(n: usize) -> String {
    let define = "struct S { a: u32, b: u32, c: f32, d: [u32; 4] }";
    let line = |j| {
        let (bit, place) = (1 << (j % 20), j % 4);
        format!(
            "if (s.a & {bit}) != 0 {{ t = s; t.d[{place}] = s.b + {j}; }} s = t; s.a = s.a * 3 + x[i + {j}];"
        )
    };
    let text = Text::new().line(define).kernel();
    let text = text.line("let mut s = S { a: a, b: n, c: 1.0, d: [a, a + 1, a + 2, a + 3] }; let mut t = s;");
    text.lines(n, line).finish("s.a + s.b + s.d[0] + t.d[1] + s.d[2] + s.d[3]")
}

fn atomics(n: usize) -> String {
    let line = |j| format!("a = a + atomic_add(&x[{j}], a, relaxed, agent);");
    Text::new().kernel().lines(n, line).finish("a")
}
