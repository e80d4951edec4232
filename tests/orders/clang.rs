//! What clang 19 makes of OpenCL C's atomics, of the same cases.

use super::cases::{Case, Machine};
use super::page::{self, Set, Steps};
use support::{Folder, Tool};

const ORDERS: [(&str, &str); 5] = [
    ("relaxed", "__ATOMIC_RELAXED"),
    ("acquire", "__ATOMIC_ACQUIRE"),
    ("release", "__ATOMIC_RELEASE"),
    ("acq_rel", "__ATOMIC_ACQ_REL"),
    ("seq_cst", "__ATOMIC_SEQ_CST"),
];

/// OpenCL C's scopes; a work-item alone has none that an atomic takes.
const SCOPES: [(&str, &str); 4] = [
    ("wavefront", "__OPENCL_MEMORY_SCOPE_SUB_GROUP"),
    ("workgroup", "__OPENCL_MEMORY_SCOPE_WORK_GROUP"),
    ("agent", "__OPENCL_MEMORY_SCOPE_DEVICE"),
    ("system", "__OPENCL_MEMORY_SCOPE_ALL_SVM_DEVICES"),
];

fn named<'a>(table: &[(&'a str, &'a str)], name: &str) -> Option<&'a str> {
    table.iter().find(|(ours, _)| *ours == name).map(|(_, theirs)| *theirs)
}

/// The operation in OpenCL C; `None` for what that has no words for.
fn operation(case: &Case) -> Option<String> {
    let (order, scope) = (named(&ORDERS, case.order)?, named(&SCOPES, case.scope)?);
    // `atomic_work_item_fence` is this builtin, which has no address spaces in clang 19.
    if case.kind == "fence" {
        let scope = if case.scope == "system" { "" } else { case.scope };
        return (case.space == "-").then(|| format!("__builtin_amdgcn_fence({order}, \"{scope}\");"));
    }
    let call = |name: &str, operands: &str| format!("__opencl_atomic_{name}(p{operands}, {order}, {scope})");
    Some(match (case.kind, case.operation()) {
        ("load atomic", _) => format!("r = {};", call("load", "")),
        ("store atomic", _) => format!("{};", call("store", ", 3")),
        (_, "atomic_add") => format!("r = {};", call("fetch_add", ", 3")),
        (_, "atomic_xchg") => format!("r = {};", call("exchange", ", 3")),
        (_, "atomic_cas") => {
            // The order of failure may be no stronger (OpenCL C, "atomic_compare_exchange"), and clang looks at that of success alone.
            if ![case.order, "monotonic"].contains(&case.row_order()) {
                return None;
            }
            let fail = named(&ORDERS, case.fail?)?;
            format!("__opencl_atomic_compare_exchange_strong(p, &r, 3, {order}, {fail}, {scope});")
        }
        _ => return None,
    })
}

/// Whether clang is asked: of each order, scope and space a 32-bit operation of each kind, whose result is used.
pub fn asks(case: &Case, machine: &Machine) -> bool {
    !case.one_as
        && case.is_word()
        && (case.used || matches!(case.kind, "store atomic" | "fence"))
        && !(machine.subtarget.tgsplit && case.space != "global" && case.space != "-")
        && operation(case).is_some()
}

/// A kernel that has accesses of both spaces in flight before the operation.
fn kernel(case: &Case, number: usize) -> String {
    let operation = operation(case).unwrap_or_default();
    let pointer = match case.space {
        "local" => "volatile local atomic_int *p = (volatile local atomic_int *)(b + i)",
        "generic" => {
            "volatile atomic_int *p = i == n ? (volatile atomic_int *)(b + i) : (volatile atomic_int *)(q + i + 512)"
        }
        _ => "volatile global atomic_int *p = (volatile global atomic_int *)(q + i + 512)",
    };
    format!(
        "kernel void t{number}(global int *q, int n, local int *a, local int *b) {{\n\
         int i = __builtin_amdgcn_workitem_id_x(); int r = 3; {pointer};\n\
         int w = q[i + 1024]; a[i] = 2; q[i] = 1;\n\
         __asm__ volatile(\";BEFORE\" ::: \"memory\");\n{operation}\n\
         __asm__ volatile(\";AFTER\" ::: \"memory\");\n\
         q[i + 2048] = r; q[i + 3072] = w + a[255 - i];\n}}\n"
    )
}

/// What clang has around each case; `None` if it is not installed.
pub fn steps(machine: &Machine, cases: &[Case]) -> Option<Vec<Steps>> {
    let folder = Folder::new("orders");
    let source: String = cases.iter().enumerate().map(|(n, case)| kernel(case, n)).collect();
    let path = folder.write("orders.cl", source);
    let target = machine.subtarget.target.name;
    let mut clang = Tool::new("clang-19");
    clang.args([
        "-x",
        "cl",
        "-cl-std=CL2.0",
        "-target",
        "amdgcn-amd-amdhsa",
        "-nogpulib",
        "-O2",
        "-S",
        "-o",
        "-",
    ]);
    clang.arg(format!("-mcpu={target}")).arg(&path);
    if machine.table == 1 {
        clang.arg(if machine.subtarget.tgsplit { "-mtgsplit" } else { "-mno-tgsplit" });
    }
    if machine.table == 2 {
        clang.arg(if machine.subtarget.cumode { "-mcumode" } else { "-mno-cumode" });
    }
    let output = clang.output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let bodies = (0..cases.len()).map(|n| {
        let (_, body) = text.split_once(&format!("\nt{n}:")).expect("the kernel");
        let (_, body) = body.split_once(";BEFORE").expect("the mark before");
        let (body, _) = body.split_once(";AFTER").expect("the mark after");
        steps_between(&cases[n], body)
    });
    Some(bodies.collect())
}

/// The steps in the code between the marks.
fn steps_between(case: &Case, body: &str) -> Steps {
    let lines: Vec<&str> = body.lines().map(str::trim).collect();
    let families = ["global_", "ds_", "flat_", "buffer_load", "buffer_store", "buffer_atomic"];
    let is_access = |line: &&str| families.iter().any(|family| line.starts_with(family));
    let collect = |lines: &[&str]| lines.iter().flat_map(|line| page::steps_of(line)).collect::<Set>();
    let Some(access) = lines.iter().rposition(is_access) else {
        return Steps { before: collect(&lines), ..Steps::default() };
    };
    let bits = if case.kind == "load atomic" { page::bits_of(lines[access]) } else { Set::new() };
    Steps { before: collect(&lines[..access]), bits, after: collect(&lines[access + 1..]) }
}

/// Where the two differ, and which is right by the guide:
///
/// * clang waits for LDS before an LDS operation that releases or is sequentially consistent. LDS operations of one wave are performed in order (seed
///   000, line 3081): more than enough.
/// * Groups that are split have no LDS, and clang never waits for it; ours has the table's wait, which is one for nothing.
pub fn without_excess_waits(case: &Case, machine: &Machine, mut steps: Steps) -> Steps {
    let splits = machine.subtarget.tgsplit;
    if splits || case.space == "local" && case.order != "acquire" {
        steps.before.remove("lgkmcnt");
    }
    if splits {
        steps.after.remove("lgkmcnt");
    }
    steps
}
