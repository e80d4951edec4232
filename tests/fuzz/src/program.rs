//! A generated program: a tree of statements and the declarations around it, its source text, and smaller
//! versions of it.

use crate::types::{Ty, Vars};
use std::fmt::Write;

/// Number of elements of the input buffer.
pub const INPUTS: u32 = 256;
/// Number of dwords of a work-item's own memory.
pub const OWN: u32 = 4;
/// Number of counters that all work-items share.
pub const COUNTS: u32 = 32;
/// Number of elements of the constant tables.
pub const TABLE: u32 = 16;
/// Numbers of elements of the small and the large private array.
pub const ARRAYS: [u32; 2] = [8, 40];

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// A line of text.
    Line(String),
    /// Header line and body, closed by `}`.
    Block(String, Vec<Stmt>),
    /// Text before a body, the body, and the text of its value and of the closing.
    Value(String, Vec<Stmt>, String),
    /// Several headers with bodies, `if … {`, `} else if … {`, `} else {`, closed by `}`.
    Arms(Vec<(String, Vec<Stmt>)>),
}

/// Sizes of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Size of the grid in work-items.
    pub grid: [u32; 3],
    /// Size of a group in work-items.
    pub group: [u32; 3],
}

/// Sizes with one, two and three dimensions; the first two end in an incomplete group.
pub const SHAPES: [Shape; 6] = [
    Shape { grid: [150, 1, 1], group: [64, 1, 1] },
    Shape { grid: [200, 1, 1], group: [128, 1, 1] },
    Shape { grid: [128, 1, 1], group: [64, 1, 1] },
    Shape { grid: [16, 8, 1], group: [8, 8, 1] },
    Shape { grid: [8, 8, 4], group: [8, 4, 4] },
    Shape { grid: [24, 5, 1], group: [12, 5, 1] },
];

impl Shape {
    /// Returns the number of work-items of the grid.
    pub fn items(&self) -> u32 {
        self.grid.iter().product()
    }

    /// Returns the number of work-items of a full group.
    pub fn group_items(&self) -> u32 {
        self.group.iter().product()
    }

    /// Returns whether all groups are full.
    pub fn even(&self) -> bool {
        self.grid.iter().zip(self.group).all(|(&grid, group)| grid % group == 0)
    }
}

/// A device function or a kernel.
#[derive(Clone, Debug)]
pub struct Body {
    /// Name.
    pub name: String,
    /// Type of the result; `None` for a kernel.
    pub result: Option<Ty>,
    /// Attributes.
    pub attrs: Vec<String>,
    /// Statements between the declarations and the end.
    pub stmts: Vec<Stmt>,
}

/// A program.
#[derive(Clone, Debug)]
pub struct Program {
    /// Sizes of each dispatch.
    pub shape: Shape,
    /// Variables of each function and kernel.
    pub vars: Vars,
    /// Source texts of the generic functions.
    pub items: Vec<String>,
    /// Device functions, then kernels.
    pub bodies: Vec<Body>,
}

/// Parameters of each kernel; [`crate::launch`] builds the arguments.
pub const PARAMS: &str = "out: *restrict global u32, input: *const restrict global u32, in8: *const global u8, in16: *const global i16, \
    own: *global u32, bytes: *global u8, halves: *global i16, pairs: *global u32x2, counts: *global u32, \
    v: f32x4, m: u64, d: f64, n: u32, s: i32, f: f32, k: i16, j: u8, \
    seen: image2d, drawn: write_only image2d, volume: read_write image3d, solid: read_only image3d, how: sampler, tasks: queue, \
    line: pipe";

/// Size in bytes of the last parameters, which have opaque types that a kernel cannot use.
pub const OPAQUE_BYTES: usize = 7 * 8;

/// Declarations of each program.
const PRELUDE: &str = "\
param P: u32 = 37;
struct Pair { a: u32, b: f32, c: u64 }
struct Node { id: u32, inner: Pair, weights: [u16; 3], flag: bool }
const LIMIT: u32 = 3 + 4 * 2;
const NODES: [Pair; 3] = [Pair { a: 1, b: 0.5, c: 7 }, Pair { a: u32::MAX, b: -2.0, c: 1 }, Pair { a: 9, b: f32::EPSILON, c: u64::MAX }];
const STEPS: [(u32, i16); 4] = [(1, -1), (5, i16::MAX), (0, 3), (u32::BITS, i16::MIN)];
constant static FLOATS: [f32; 4] = [0.5, f32::PI, -3.0, f32::MIN_POSITIVE];
shared static BOARD: [u32; 4];
shared static dyn SCRATCH: [u32];
static_assert(P >= 0);
global static WORDS: [u32; 4] = [77, 1, 0x80000000, 5];
static_assert(LIMIT == 11, \"a constant\");
#[cfg(has(dpp))] fn eleven() -> u32 { LIMIT }
#[cfg(not(has(dpp)))] fn eleven() -> u32 { 11 }

";

/// Parameters of a device function after the first two.
const SURROUNDINGS: &str = "input: *const global u32, in8: *const global u8, in16: *const global i16, gid: u32, \
    lid: u32, m: u64, d: f64, n: u32, s: i32, f: f32, k: i16, j: u8";
/// Arguments for these parameters.
pub const PASSED: &str = "input, in8, in16, gid, lid, m, d, n, s, f, k, j";

impl Program {
    /// Returns the names of the kernels.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.bodies.iter().filter(|body| body.result.is_none()).map(|body| body.name.as_str())
    }

    /// Returns the program as source text.
    pub fn source(&self) -> String {
        let mut out = String::new();
        let list =
            |step: u32| (0..TABLE).map(|n| format!("{}", (n * step) ^ 0x35)).collect::<Vec<_>>().join(", ");
        let _ = writeln!(out, "constant static LUT: [u32; {TABLE}] = [{}];", list(0x01f3_5a77));
        let _ = writeln!(out, "constant static NARROW: [u8; {TABLE}] = [{}];", list(13));
        let _ = writeln!(out, "const TABLE: [i32; {TABLE}] = [{}];", list(1237));
        out.push_str(PRELUDE);
        self.items.iter().for_each(|item| out.push_str(item));
        for body in &self.bodies {
            self.write_body(body, &mut out);
        }
        out
    }

    fn write_body(&self, body: &Body, out: &mut String) {
        let name = &body.name;
        match body.result {
            Some(result) => {
                let result = result.name();
                for attr in &body.attrs {
                    let _ = writeln!(out, "{attr}");
                }
                let _ = writeln!(out, "fn {name}(a: u32, b: {result}, {SURROUNDINGS}) -> {result} {{");
            }
            None => {
                let [x, y, z] = self.shape.group;
                let _ =
                    writeln!(out, "/// Stores a hash of its variables.\n#[workgroup_size({x}, {y}, {z})]");
                for attr in &body.attrs {
                    let _ = writeln!(out, "{attr}");
                }
                let _ = writeln!(out, "kernel {name}({PARAMS}) {{");
                let items = self.shape.group_items();
                let _ = writeln!(out, "    shared tile: [u32; {items}];\n    shared sums: [u32; 8];");
                let _ = writeln!(out, "    shared wide: [u64; 4];");
                let _ = writeln!(out, "    shared mine: [u32; {items}];");
                out.push_str("    shared dyn words: [u32];\n    shared dyn parts: [u16];\n");
                let linear = |what: &str, size: &str| {
                    format!("{what}(0) + {size}(0) * ({what}(1) + {size}(1) * {what}(2))")
                };
                let _ = writeln!(out, "    let gid = {};", linear("global_id", "global_size"));
                let _ = writeln!(out, "    let lid = local_id(0) + {x} * (local_id(1) + {y} * local_id(2));");
                out.push_str("    mine[lid] = gid ^ 3;\n");
            }
        }
        self.vars.declare(body.result.is_some(), out);
        write_stmts(&body.stmts, 1, out);
        match body.result {
            Some(result) => {
                let _ = writeln!(out, "    {}", self.vars.last_value(result));
            }
            None => {
                self.vars.write_hash(out);
                out.push_str("    out[gid] = h;\n");
            }
        }
        out.push_str("}\n\n");
    }

    /// Returns programs that lack one function, statement or attribute, or have a compound statement replaced
    /// by its body.
    pub fn smaller(&self) -> impl Iterator<Item = Program> + '_ {
        let items = (0..self.items.len()).map(move |n| {
            let mut smaller = self.clone();
            smaller.items.remove(n);
            smaller
        });
        let bodies = self.bodies.iter().enumerate().flat_map(move |(at, body)| {
            let attrs = (0..body.attrs.len()).map(move |n| {
                let mut smaller = self.clone();
                smaller.bodies[at].attrs.remove(n);
                smaller
            });
            let stmts = (0..2 * count(&body.stmts)).map(move |n| {
                let mut smaller = self.clone();
                edit(&mut smaller.bodies[at].stmts, &mut { n / 2 }, n % 2 == 1);
                smaller
            });
            let whole = (self.bodies.len() > 1).then(|| {
                let mut smaller = self.clone();
                smaller.bodies.remove(at);
                smaller
            });
            whole.into_iter().chain(attrs).chain(stmts)
        });
        items.chain(bodies)
    }
}

fn count(stmts: &[Stmt]) -> usize {
    let below = |stmt: &Stmt| match stmt {
        Stmt::Line(_) => 0,
        Stmt::Block(_, body) | Stmt::Value(_, body, _) => count(body),
        Stmt::Arms(arms) => arms.iter().map(|arm| count(&arm.1)).sum(),
    };
    stmts.iter().map(|stmt| 1 + below(stmt)).sum()
}

/// Removes statement number `n` in preorder, or replaces it by its body. Returns whether the statement was
/// found.
fn edit(stmts: &mut Vec<Stmt>, n: &mut usize, keep_body: bool) -> bool {
    for at in 0..stmts.len() {
        if *n == 0 {
            let inner = match stmts.remove(at) {
                Stmt::Line(_) => Vec::new(),
                Stmt::Block(_, body) | Stmt::Value(_, body, _) => body,
                Stmt::Arms(arms) => arms.into_iter().flat_map(|arm| arm.1).collect(),
            };
            if keep_body {
                stmts.splice(at..at, inner);
            }
            return true;
        }
        *n -= 1;
        let found = match &mut stmts[at] {
            Stmt::Line(_) => false,
            Stmt::Block(_, body) | Stmt::Value(_, body, _) => edit(body, n, keep_body),
            Stmt::Arms(arms) => arms.iter_mut().any(|arm| edit(&mut arm.1, n, keep_body)),
        };
        if found {
            return true;
        }
    }
    false
}

fn write_stmts(stmts: &[Stmt], depth: usize, out: &mut String) {
    let pad = "    ".repeat(depth);
    for stmt in stmts {
        match stmt {
            Stmt::Line(line) => {
                let _ = writeln!(out, "{pad}{line}");
            }
            Stmt::Block(head, body) => {
                let _ = writeln!(out, "{pad}{head}");
                write_stmts(body, depth + 1, out);
                let _ = writeln!(out, "{pad}}}");
            }
            Stmt::Value(head, body, tail) => {
                let _ = writeln!(out, "{pad}{head}");
                write_stmts(body, depth + 1, out);
                let _ = writeln!(out, "{pad}{tail}");
            }
            Stmt::Arms(arms) => {
                for (head, body) in arms {
                    let _ = writeln!(out, "{pad}{head}");
                    write_stmts(body, depth + 1, out);
                }
                let _ = writeln!(out, "{pad}}}");
            }
        }
    }
}
