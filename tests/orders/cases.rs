//! The cross product, and the kernel around each of its cases.

use kernc::{Language, Subtarget};
use std::fmt::Write as _;

/// A processor in one of its modes.
pub struct Machine {
    pub name: String,
    pub subtarget: Subtarget,
    /// Which of the page's tables it has.
    pub table: usize,
    /// The waves of a group do not share their first cache.
    pub split: bool,
    /// Stores have a counter of their own.
    pub counts_stores: bool,
    pub lacks_flat: bool,
    pub language: Language,
}

impl Machine {
    /// Whether atomics of that order are ordered within one address space alone.
    pub fn separates(&self, order: &str) -> bool {
        self.language == Language::OpenCl && order != "seq_cst"
    }
}

/// The processors in OpenCL's dialect, for the comparison with clang.
pub fn opencl_machines() -> Vec<Machine> {
    let modes = |(processor, table, modes): (&str, usize, &[bool])| {
        let one = |&split: &bool| machine(processor, table, split, Language::OpenCl);
        modes.iter().map(one).collect::<Vec<_>>()
    };
    let both = &[false, true][..];
    let old = ["gfx700", "gfx803", "gfx906"].map(|name| (name, 0, &[false][..]));
    let new = [("gfx90a", 1, both), ("gfx1010", 2, both), ("gfx1030", 2, both)];
    old.into_iter().chain(new).flat_map(modes).collect()
}

fn machine(processor: &str, table: usize, split: bool, language: Language) -> Machine {
    let mut subtarget = Subtarget::by_name(processor).unwrap();
    (subtarget.tgsplit, subtarget.cumode) = (split && table == 1, !(split && table == 2));
    Machine {
        name: format!("{processor}, split {split}, {}", language.name()),
        subtarget,
        table,
        split,
        counts_stores: table == 2,
        lacks_flat: processor == "gfx600",
        language,
    }
}

pub fn machines() -> Vec<Machine> {
    let mut machines = Vec::new();
    let all = [
        ("gfx600", 0, &[][..]),
        ("gfx803", 0, &[]),
        ("gfx906", 0, &[]),
        ("gfx90a", 1, &[false, true]),
        ("gfx1010", 2, &[false, true]),
        ("gfx1030", 2, &[false, true]),
    ];
    for (processor, table, modes) in all {
        let modes = if modes.is_empty() { &[false] } else { modes };
        for &split in modes {
            for language in [Language::Kernc, Language::OpenCl] {
                // The whole product for each mode in one language; in the other, of one processor a column.
                if language == Language::OpenCl
                    && !matches!((processor, split), ("gfx906", _) | ("gfx90a" | "gfx1010", true))
                {
                    continue;
                }
                machines.push(machine(processor, table, split, language));
            }
        }
    }
    machines
}

/// One combination.
#[derive(Clone)]
pub struct Case {
    pub kind: &'static str,
    /// As the source has it: of success and, of a compare-and-swap, of failure.
    pub order: &'static str,
    pub fail: Option<&'static str>,
    pub scope: &'static str,
    pub one_as: bool,
    /// Of a fence, the space that it names, or `-`.
    pub space: &'static str,
    ty: &'static str,
    pub used: bool,
    /// An expression, or of a store and a fence a statement.
    pub statement: String,
}

const ORDERS: [&str; 6] = ["unordered", "relaxed", "acquire", "release", "acq_rel", "seq_cst"];
const SCOPES: [&str; 5] = ["singlethread", "wavefront", "workgroup", "agent", "system"];
const SPACES: [&str; 4] = ["global", "local", "generic", "constant"];
const TYPES: [&str; 7] = ["i32", "u32", "i64", "u64", "f32", "f64", "f16x2"];
const OPS: [&str; 10] = ["add", "sub", "xchg", "min", "max", "and", "or", "xor", "inc", "dec"];

/// Memory operations before that of the case: a load and stores to both spaces, which are in flight then.
pub const BEFORE: usize = 4;

/// Whether the order exists for the operation, of a compare-and-swap for its failure.
fn allowed(kind: &str, order: &str) -> bool {
    match kind {
        "load atomic" | "failure" => !matches!(order, "release" | "acq_rel"),
        "store atomic" => !matches!(order, "acquire" | "acq_rel"),
        "fence" => !matches!(order, "unordered" | "relaxed"),
        _ => order != "unordered",
    }
}

/// The operations on a type: how many of [`OPS`], and whether it can be compared and swapped.
fn operations(ty: &str) -> (usize, bool) {
    match ty {
        "f16x2" => (3, false),
        "f32" | "f64" => (5, false),
        _ => (OPS.len(), true),
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let scopes = || SCOPES.into_iter().flat_map(|scope| [(scope, false), (scope, true)]);
    for order in ORDERS {
        for (scope, one_as) in scopes() {
            if allowed("fence", order) {
                for space in ["-", "global", "local"] {
                    cases.push(Case::new("fence", (order, None), (scope, one_as), space, "u32", "", false));
                }
            }
            for space in SPACES {
                TYPES.iter().for_each(|ty| accesses(&mut cases, order, (scope, one_as), space, ty));
            }
        }
    }
    cases
}

/// All accesses of an order, scope, space and type.
fn accesses(
    cases: &mut Vec<Case>,
    order: &'static str,
    scope: (&'static str, bool),
    space: &'static str,
    ty: &'static str,
) {
    for used in [false, true] {
        let mut add = |kind, orders, op| cases.push(Case::new(kind, orders, scope, space, ty, op, used));
        if allowed("load atomic", order) {
            add("load atomic", (order, None), "load");
        }
        if space == "constant" {
            continue;
        }
        if allowed("store atomic", order) && !used {
            add("store atomic", (order, None), "store");
        }
        if !allowed("atomicrmw", order) {
            continue;
        }
        let (count, swaps) = operations(ty);
        OPS[..count].iter().for_each(|op| add("atomicrmw", (order, None), op));
        for fail in
            ORDERS.into_iter().filter(|fail| swaps && *fail != "unordered" && allowed("failure", fail))
        {
            add("atomicrmw", (order, Some(fail)), "cas");
            add("atomicrmw", (order, Some(fail)), "cas_weak");
        }
    }
}

impl Case {
    fn new(
        kind: &'static str,
        (order, fail): (&'static str, Option<&'static str>),
        (scope, one_as): (&'static str, bool),
        space: &'static str,
        ty: &'static str,
        op: &str,
        used: bool,
    ) -> Case {
        let place = match space {
            "global" => "p + i",
            "local" => "&b[i]",
            "generic" => "g + i",
            _ => "k + i",
        };
        let scope_word = format!("{scope}{}", if one_as { "_one_as" } else { "" });
        let value = if ty == "f16x2" { "f16x2(3.0, 3.0)".to_owned() } else { format!("3 as {ty}") };
        let statement = match op {
            "" if space == "-" => format!("fence({order}, {scope_word})"),
            "" => {
                format!("fence({order}, {scope_word}, {})", if space == "local" { "shared" } else { space })
            }
            "load" => format!("atomic_load({place}, {order}, {scope_word})"),
            "cas" | "cas_weak" => {
                let fail = fail.unwrap_or_default();
                format!("atomic_{op}({place}, {value}, {value}, {order}, {fail}, {scope_word})")
            }
            _ => format!("atomic_{op}({place}, {value}, {order}, {scope_word})"),
        };
        // Constant memory is global memory that nobody writes.
        let space = if space == "constant" { "global" } else { space };
        Case { kind, order, fail, scope, one_as, space, ty, used, statement }
    }

    /// The order that the tables call it by: one that does the work of both.
    pub fn row_order(&self) -> &'static str {
        match (self.order, self.fail) {
            ("seq_cst", _) | (_, Some("seq_cst")) => "seq_cst",
            ("release", Some("acquire")) => "acq_rel",
            ("relaxed", Some("acquire")) => "acquire",
            ("relaxed", _) => "monotonic",
            (order, _) => order,
        }
    }

    /// The function that it calls.
    pub fn operation(&self) -> &str {
        self.statement.split('(').next().unwrap_or_default()
    }

    /// Whether it is an operation on a signed word of memory that may be written, or a fence.
    pub fn is_word(&self) -> bool {
        (self.kind == "fence" || self.ty == "i32") && !self.statement.contains("(k + i")
    }

    /// Whether it was written out: a load, then a compare-and-swap of something that was none.
    pub fn is_loop(&self, first: &str, second: &str) -> bool {
        let (read, swap) = (first.contains("load") || first.contains("ds_read"), second.contains("cmp"));
        self.kind == "atomicrmw" && self.fail.is_none() && read && swap
    }

    /// A kernel with the operation; plain loads of both spaces come after it.
    pub fn kernel(&self, number: usize) -> String {
        let Case { ty, statement, .. } = self;
        // A pointer of which nobody knows where it leads: a kernel's own ones lead to global memory.
        let generic = if self.space == "generic" {
            format!("let g: *{ty} = if i == n {{ &b[0] as *{ty} }} else {{ p as *{ty} }};")
        } else {
            String::new()
        };
        let mut text = format!(
            "#[workgroup_size(256)] kernel t{number}(q: *global u32, p: *global {ty}, n: u32, k: *constant {ty}) {{\n\
             shared a: [u32; 256]; shared b: [{ty}; 256]; shared c: [u32; 256];\n\
             let i = local_id(0);\n{generic} let w = load(q + i + 1024, volatile);\n\
             c[i] = i; q[i] = 1; a[i] = 2;\n"
        );
        let value = match (self.kind, self.used) {
            ("load atomic" | "atomicrmw", true) => {
                let part = if statement.starts_with("atomic_cas_weak") { ".0" } else { "" };
                writeln!(text, "let r = {statement}{part};").unwrap();
                "p[i + 2048] = r;"
            }
            _ => {
                writeln!(text, "{statement};").unwrap();
                ""
            }
        };
        text + "let x = load(q + i + 768, volatile) + load(&c[255 - i], volatile);\n"
            + value
            + "q[i + 512] = x + w; }\n"
    }
}
