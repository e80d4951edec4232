//! Each atomic and fence, with every order, scope and address space, compiled from source: the waits, invalidations and
//! cache bits around it are those of the table in `docs/memory-model.md`.
//!
//! `memmodel/tests/llvm_sequences.rs` has LLVM judge the table itself.

mod common;

use std::collections::BTreeSet;

type Set = BTreeSet<&'static str>;

/// What stands around an access.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Steps {
    before: Set,
    glc: bool,
    after: Set,
}

/// A row of the page's table.
struct Row {
    kind: String,
    order: String,
    scopes: String,
    spaces: String,
    before: String,
    access: String,
    after: String,
}

fn table() -> Vec<Row> {
    let page = std::fs::read_to_string(common::root().join("docs/memory-model.md")).unwrap();
    let (_, rest) = page.split_once("<!-- begin sequences -->").unwrap();
    let (text, _) = rest.split_once("<!-- end sequences -->").unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| ")).map(|line| {
        let cells: Vec<String> =
            line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
        let [kind, order, scopes, spaces, before, access, after, _] = <[String; 8]>::try_from(cells).unwrap();
        Row { kind, order, scopes, spaces, before, access, after }
    });
    rows.filter(|row| !row.kind.is_empty()).collect()
}

/// The steps that a cell asks for; `across`: the access is ordered with the other address spaces.
fn steps(cell: &str, across: bool) -> Set {
    let known =
        [("vmcnt", "vmcnt"), ("lgkmcnt", "lgkmcnt"), ("(lgkmcnt)", "lgkmcnt"), ("invalidate", "invalidate")];
    let words = cell.split(", ").filter(|word| across || *word != "(lgkmcnt)");
    words.filter_map(|word| known.iter().find(|row| row.0 == word).map(|row| row.1)).collect()
}

struct Case {
    kind: &'static str,
    /// As the table says it.
    order: &'static str,
    scope: &'static str,
    one_as: bool,
    space: &'static str,
    statement: String,
}

const ORDERS: [(&str, &str); 5] = [
    ("relaxed", "monotonic"),
    ("acquire", "acquire"),
    ("release", "release"),
    ("acq_rel", "acq_rel"),
    ("seq_cst", "seq_cst"),
];
const SCOPES: [&str; 5] = ["singlethread", "wavefront", "workgroup", "agent", "system"];
const RMW: [&str; 10] = ["add", "sub", "min", "max", "and", "or", "xor", "xchg", "inc", "dec"];

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (written, order) in ORDERS {
        for (scope, one_as) in SCOPES.iter().flat_map(|&scope| [(scope, false), (scope, true)]) {
            let words = format!("{written}, {scope}{}", if one_as { "_one_as" } else { "" });
            if order != "monotonic" {
                let statement = format!("fence({words});");
                cases.push(Case { kind: "fence", order, scope, one_as, space: "-", statement });
            }
            for (space, place) in [("global", "q + i + 256"), ("local", "&b[i]")] {
                let mut add = |kind, statement: String| {
                    cases.push(Case { kind, order, scope, one_as, space, statement });
                };
                if !matches!(order, "release" | "acq_rel") {
                    add("load atomic", format!("atomic_load({place}, {words});"));
                }
                if !matches!(order, "acquire" | "acq_rel") {
                    add("store atomic", format!("atomic_store({place}, 3, {words});"));
                }
                for op in RMW {
                    add("atomicrmw", format!("atomic_{op}({place}, 3, {words});"));
                }
                let fail = if matches!(order, "monotonic" | "release") { "relaxed" } else { "acquire" };
                let fail = if order == "seq_cst" { "seq_cst" } else { fail };
                let (order_word, scope_word) = words.split_once(", ").unwrap();
                add("atomicrmw", format!("atomic_cas({place}, 3, 4, {order_word}, {fail}, {scope_word});"));
            }
        }
    }
    cases
}

fn expected(case: &Case, table: &[Row]) -> Steps {
    // LDS belongs to a work-group (the page, "Before the lookup").
    let scope = match (case.space, case.scope) {
        ("local", "agent" | "system") => "workgroup",
        (_, scope) => scope,
    };
    let row = table
        .iter()
        .find(|row| {
            row.kind == case.kind
                && row.order == case.order
                && (row.scopes == "any" || row.scopes.split(", ").any(|one| one == scope))
                && row.spaces.split(", ").any(|space| space == case.space)
        })
        .unwrap_or_else(|| panic!("no row for {}", case.statement));
    let across = !case.one_as || case.kind == "fence";
    Steps { before: steps(&row.before, across), glc: row.access == "glc", after: steps(&row.after, across) }
}

/// Stores to both spaces are in flight before the access; plain loads from both come after it.
fn compile(case: &Case) -> Vec<String> {
    let source = format!(
        "#[workgroup_size(256)]
         kernel t(q: *global u32) {{
             shared a: [u32; 256]; shared b: [u32; 256]; shared c: [u32; 256];
             let i = local_id(0);
             c[i] = i;
             q[i] = 1;
             a[i] = 2;
             {}
             q[i + 512] = load(q + i + 768, volatile) + load(&c[255 - i], volatile);
         }}",
        case.statement
    );
    let options = kernc::Options { verify: true, ..kernc::Options::default() };
    let object = kernc::Compiler::new(kernc::Target::by_name("gfx906").unwrap())
        .compile(&source, &options)
        .unwrap_or_else(|list| panic!("{}", list.render(false)));
    let text = object.assembly(Some(("t.k", &source))).unwrap();
    let code = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(';'));
    code.map(str::to_owned).collect()
}

/// What is there. A wait whose reason is a register is counted only if `registers`.
fn seen(case: &Case, code: &[String], registers: bool) -> Steps {
    let memory = |line: &str| line.starts_with("global_") || line.starts_with("ds_");
    // The three stores come first, then (but for fences) the access.
    let places: Vec<usize> = (0..code.len()).filter(|&n| memory(&code[n])).collect();
    let last_store = places[2];
    let access = if case.kind == "fence" { None } else { Some(places[3]) };
    let next = if case.kind == "fence" { places[3] } else { places[4] };
    let collect = |from: usize, to: usize| {
        let mut steps = BTreeSet::new();
        for line in &code[from + 1..to] {
            for (text, step) in
                [("vmcnt(0)", "vmcnt"), ("lgkmcnt(0)", "lgkmcnt"), ("buffer_wbinvl1_vol", "invalidate")]
            {
                let (inst, reason) = line.split_once(';').unwrap_or((line, ""));
                if inst.contains(text) && (registers || !reason.contains(" needs ")) {
                    steps.insert(step);
                }
            }
        }
        steps
    };
    match access {
        None => Steps { before: collect(last_store, next), glc: false, after: BTreeSet::new() },
        Some(access) => Steps {
            before: collect(last_store, access),
            glc: case.kind == "load atomic" && code[access].contains(" glc"),
            after: collect(access, next),
        },
    }
}

#[test]
fn the_code_has_the_sequences_of_the_page() {
    let table = table();
    assert!(table.len() > 50, "{} rows", table.len());
    let cases = cases();
    let mut failures = Vec::new();
    for case in &cases {
        let code = compile(case);
        let expected = expected(case, &table);
        // A wait for a register does what the table asks for at the same place.
        let (all, own) = (seen(case, &code, true), seen(case, &code, false));
        let fits = |all: &Set, own: &Set, wanted: &Set| own.is_subset(wanted) && wanted.is_subset(all);
        let after = fits(&all.after, &own.after, &expected.after);
        if !after || !fits(&all.before, &own.before, &expected.before) || all.glc != expected.glc {
            failures.push(format!("{}: {all:?}, not {expected:?}\n{}", case.statement, code.join("\n")));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {}:\n{}",
        failures.len(),
        cases.len(),
        failures[..failures.len().min(10)].join("\n")
    );
}
