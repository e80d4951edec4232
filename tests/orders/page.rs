//! The tables of `docs/memory-model.md`, read.

use super::cases::{Case, Machine};
use std::collections::BTreeSet;

pub type Set = BTreeSet<&'static str>;

/// What stands around an access.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    pub before: Set,
    pub bits: Set,
    pub after: Set,
}

/// A table, by row.
pub struct Table(Vec<Row>);

struct Row {
    kind: String,
    order: String,
    scopes: String,
    spaces: String,
    before: String,
    access: String,
    after: String,
}

/// Those of GFX6-GFX9, gfx90a and GFX10.
pub fn tables() -> [Table; 3] {
    let page = std::fs::read_to_string(crate::common::root().join("docs/memory-model.md")).unwrap();
    ["sequences", "sequences of gfx90a", "sequences of GFX10"].map(|name| {
        let (_, rest) = page.split_once(&format!("<!-- begin {name} -->")).unwrap();
        let (text, _) = rest.split_once(&format!("<!-- end {name} -->")).unwrap();
        let rows = text.lines().filter(|line| line.starts_with("| ")).map(|line| {
            let cells = line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
            let [kind, order, scopes, spaces, before, access, after, _] =
                <[String; 8]>::try_from(cells.collect::<Vec<_>>()).unwrap();
            Row { kind, order, scopes, spaces, before, access, after }
        });
        Table(rows.filter(|row| !row.kind.is_empty()).collect())
    })
}

/// The steps that an instruction is.
pub fn steps_of(inst: &str) -> Vec<&'static str> {
    let known = [
        ("vmcnt(0)", "vmcnt"),
        ("lgkmcnt(0)", "lgkmcnt"),
        ("s_waitcnt_vscnt null, 0x0", "vscnt"),
        ("buffer_wbinvl1", "invalidate"),
        ("buffer_gl0_inv", "invalidate"),
        ("buffer_gl1_inv", "invalidate outer"),
        ("buffer_invl2", "invalidate outer"),
        ("buffer_wbl2", "write back"),
    ];
    known.iter().filter(|(text, _)| inst.contains(text)).map(|(_, step)| *step).collect()
}

/// The cache bits of an access.
pub fn bits_of(inst: &str) -> Set {
    ["glc", "dlc"].into_iter().filter(|bit| inst.split_whitespace().any(|word| word == *bit)).collect()
}

impl Table {
    /// What the table has around the access of a case; `returns`: it gives back a value.
    pub fn expected(&self, case: &Case, machine: &Machine, returns: bool) -> Steps {
        // LDS belongs to a work-group (the page, "Before the lookup").
        let order = case.row_order();
        // A sequentially consistent fence is one of all address spaces.
        let all = case.kind == "fence" && order == "seq_cst";
        let local = case.space == "local" && !all;
        let scope = match (local, case.scope) {
            (true, "agent" | "system") => "workgroup",
            (_, scope) => scope,
        };
        let place = if case.kind == "fence" { "-" } else { case.space };
        let row = self.0.iter().find(|row| {
            row.kind == case.kind
                && row.order == order
                && (row.scopes == "any" || row.scopes.split(", ").any(|one| one == scope))
                && row.spaces.split(", ").any(|space| space == place)
        });
        let Some(row) = row else {
            assert_eq!(order, "unordered", "no row for {}", case.statement);
            return Steps::default();
        };
        let own = if returns || !machine.counts_stores { "vmcnt" } else { "vscnt" };
        // A fence of one address space orders it with no other one.
        let across = if case.kind == "fence" { case.space != "global" || all } else { !case.one_as };
        let across = across && !(case.kind != "fence" && machine.separates(order));
        let conditions = [('(', ')', across), ('[', ']', machine.split), ('{', '}', scope == "system")];
        let cell = |text: &str| -> Set {
            let words = text.split(", ").filter_map(|word| {
                let mut word = word;
                while let Some(&(open, close, holds)) = conditions.iter().find(|row| word.starts_with(row.0))
                {
                    // Of a fence the counters of vector memory have this mark for global memory.
                    let holds = match (open, case.kind) {
                        ('(', "fence") if word.contains("vmcnt") || word.contains("vscnt") => !local,
                        _ => holds,
                    };
                    word = word.trim_start_matches(open).trim_end_matches(close);
                    if !holds {
                        return None;
                    }
                }
                let names = ["vmcnt", "vscnt", "lgkmcnt", "invalidate", "invalidate outer", "write back"];
                if word == "own" { Some(own) } else { names.into_iter().find(|name| *name == word) }
            });
            words.collect()
        };
        let bits = |text: &str| -> Set {
            let words = text.split(", ").filter(|word| machine.split || !word.starts_with('['));
            let bits = words.map(|word| word.trim_matches(['[', ']']));
            bits.filter_map(|word| ["glc", "dlc"].into_iter().find(|bit| *bit == word)).collect()
        };
        Steps { before: cell(&row.before), bits: bits(&row.access), after: cell(&row.after) }
    }
}
