//! All rules by name. The list is used by `kernc explain`, for lists of rules, and to select rules.

use crate::finding::{EventRule, Level};
use crate::{clauses, hazards, illegal_insts, rdna, transfers, writeback};
use isa::PROCESSORS;
use std::fmt::Write;

/// A rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Short name that identifies the rule.
    pub id: &'static str,
    /// Name of the rule for messages.
    pub name: &'static str,
    /// Document from which the rule comes.
    pub source: &'static str,
    /// How certain a finding of the rule is.
    pub level: Level,
    /// Instruction or change of the code that removes a finding.
    pub mitigation: &'static str,
    /// Explanation of the rule beyond its name.
    pub text: &'static str,
}

const fn rule(
    id: &'static str,
    name: &'static str,
    mitigation: &'static str,
    source: &'static str,
    text: &'static str,
) -> Rule {
    Rule { id, name, source, level: Level::Certain, mitigation, text }
}

/// Name of the rule about code that cannot be decoded.
pub const UNREADABLE: &str = "unreadable-code";
/// Name of the rule about control that leaves the section.
pub const LEAVES: &str = "leaves-code";
/// Name of the rule about paths that are not followed.
pub const UNFOLLOWED: &str = "unfollowed";

const WAIT: &str = "an s_waitcnt between the two";
const COUNTERS: &str =
    "wait counters: Southern Islands, Sea Islands, GCN3, Vega, RDNA ISA 4.4; seed 000, lines 3090-3135";

/// The rules that are not rows of the other tables.
static OWN: [Rule; 10] = [
    rule(
        "read-in-flight",
        "a register is read before it has arrived",
        WAIT,
        COUNTERS,
        "A load or an atomic writes its registers when memory answers, not when it is issued. Until a wait for its counter has \
         seen it complete, the register holds what was there before.",
    ),
    rule(
        "write-in-flight",
        "a register is written while a load to it is under way",
        WAIT,
        COUNTERS,
        "The load's value comes later and overwrites what was written.",
    ),
    rule(
        "overwrite-unread",
        "a register is overwritten before it has been read",
        "s_waitcnt expcnt(n) between the two",
        COUNTERS,
        "Exports, GDS operations and, on GFX6, stores read their data some time after they are issued; expcnt counts those \
         that have not.",
    ),
    rule(
        "return-in-flight",
        "a function returns while a load is under way",
        "s_waitcnt before the return",
        "clang's calling convention",
        "A caller takes registers for complete when the function has returned.",
    ),
    Rule {
        level: Level::Manual,
        ..rule(
            "counter-at-limit",
            "a register is touched while more operations follow than the counter counts",
            WAIT,
            "wait counters; the manuals do not say what happens at the largest count",
            "The largest count in a wait waits for nothing. If hardware holds back what it could not count, an operation with as \
             many younger ones is complete; shipped code relies on it.",
        )
    },
    Rule {
        level: Level::Manual,
        ..rule(
            "flat-in-order",
            "a flat access was waited for by a count that is enough only if flat accesses complete in order",
            "s_waitcnt vmcnt(0) lgkmcnt(0)",
            COUNTERS,
            "Before GFX10 flat accesses may complete in any order, since each may go to memory or to LDS.",
        )
    },
    Rule {
        level: Level::Manual,
        ..rule(
            "flat-partial-wait",
            "a flat access was waited for by one of its two counters",
            "s_waitcnt vmcnt(0) lgkmcnt(0)",
            COUNTERS,
            "A flat access may go to memory or to LDS and counts for both; hand-written code often knows where it goes.",
        )
    },
    rule(
        UNREADABLE,
        "what is there is no instruction of the processor",
        "the right processor: `--mcpu`",
        "the processor's instruction formats",
        "Control reaches words that do not decode. Nothing behind them is checked.",
    ),
    Rule {
        level: Level::Manual,
        ..rule(
            LEAVES,
            "control leaves the code",
            "an s_endpgm, if control can get there",
            "the section's size",
            "Behind a trap or a call that does not return compilers write nothing: then it is none.",
        )
    },
    Rule {
        level: Level::Advice,
        ..rule(
            UNFOLLOWED,
            "a path is not followed",
            "",
            "what its instructions do not say",
            "An indirect branch, a fork or a return from an exception: where it leads is not known, and what is only reached that way is \
             not checked. A call by a pointer is taken to wait for everything first and before it returns. Functions that are called by name are followed: they begin with what their \
             callers have under way, or, if others may call them, with anything.",
        )
    },
];

/// Rules that code in use breaks, each with the compilers or libraries that generate such code. Because of
/// this code, the rules have the level "by the manual", at least in part.
static RELIED_ON: &[(&str, &str)] = &[
    ("counter-at-limit", "Tensile's kernels rely on it."),
    (
        "flat-in-order",
        "AMD's finalizer of HSAIL made such code, for kernels that only access global memory; LLVM waits for both counters to be zero.",
    ),
    (
        "flat-partial-wait",
        "Whoever writes assembly for memory that is known to be global relies on it; LLVM waits for both counters.",
    ),
    (
        "salu-m0-lds-dma",
        "Tensile's kernels set M0 right before a load to LDS; LLVM 19 puts an s_nop between the two.",
    ),
    (
        "xnack-clause",
        "In code whose target id leaves XNACK open, this is by the manual: Tensile's kernels load a pointer over its own address twice in a row. \
         LLVM 19 puts an s_nop between the two.",
    ),
    (
        "xnack-clause-store",
        "In code whose target id leaves XNACK open, this is by the manual, as xnack-clause is.",
    ),
    (
        "xnack-own-address",
        "In code whose target id leaves XNACK open, this is by the manual: compilers before LLVM 19 made such loads.",
    ),
    (
        "valu-vgpr-mai",
        "With another matrix instruction between the two, this is by the manual: that one keeps the matrix unit for its passes of four cycles. \
         Tensile's kernels rely on it; LLVM counts one wait state for it.",
    ),
    (
        "mfma-read",
        "Where instructions between the two take several wait states (v_mul_lo_u32), this is by the manual: Tensile's kernels rely on it.",
    ),
    (
        "xnack-long-clause",
        "LLVM's hazard recognizer looks at the five instructions before only, so that objects of clang for `xnack+` have such clauses.",
    ),
    (
        "clause-with-wait",
        "LLVM's hazard recognizer puts an s_waitcnt_vscnt (for `lds-branch-vmem-war`) or an s_waitcnt_depctr (for `vmem-scalar-write`) \
         into a clause that another pass has formed before: in shipped objects for gfx1010 it stands right behind the s_clause.",
    ),
    ("valu-exec-vmem", "LLVM pads; hand-written kernels of libraries do not."),
    ("valu-vgpr-dpp-own", "LLVM counts only the source that is read from other lanes."),
    ("leaves-code", "Compilers write nothing behind a trap."),
];

/// Returns all rules. If several rules have the same short name, only one of them is returned.
pub fn all() -> impl Iterator<Item = Rule> {
    let pairs = hazards::RULES.iter().enumerate();
    let pairs = pairs.filter(|(n, row)| !hazards::RULES[..*n].iter().any(|other| other.id == row.id));
    let pairs = pairs.map(|(_, row)| {
        let (id, name, source, level) = (row.id, row.name, row.source, row.level);
        Rule { id, name, source, level, mitigation: "s_nop, or other instructions between the two", text: "" }
    });
    let mut singles: Vec<&'static EventRule> = Vec::new();
    for rule in PROCESSORS.iter().flat_map(illegal_insts::rules) {
        if !singles.iter().any(|other| other.id == rule.id) {
            singles.push(rule);
        }
    }
    let events = rdna::EVENT_RULES
        .iter()
        .copied()
        .chain(singles)
        .chain([&clauses::BROKEN_CLAUSE, &clauses::CLAUSE_WAIT])
        .chain(transfers::RULES)
        .chain([&writeback::NOT_WRITTEN_BACK]);
    let events = events.map(|&EventRule { id, name, mitigation, source, level }| Rule {
        id,
        name,
        source,
        level,
        mitigation,
        text: "",
    });
    OWN.into_iter().chain(pairs).chain(events)
}

/// Returns the rule called `id`.
pub fn find(id: &str) -> Option<Rule> {
    OWN.iter().copied().find(|rule| rule.id == id).or_else(|| all().find(|rule| rule.id == id))
}

/// Returns the description of a rule as a page of plain text.
pub fn page(id: &str) -> Option<String> {
    let Rule { id, name, source, level, mitigation, text } = find(id)?;
    let mut out = format!("{id}: {name}\n\n");
    if !text.is_empty() {
        out.push_str(text);
        out.push_str("\n\n");
    }
    if let Some((_, who)) = RELIED_ON.iter().find(|(rule, _)| *rule == id) {
        let _ = writeln!(out, "{who}\n");
    }
    let rows: Vec<&hazards::Rule> = hazards::RULES.iter().filter(|row| row.id == id).collect();
    if !rows.is_empty() {
        out.push_str("Hardware does not keep the two apart. Wait states needed between them:\n");
        for row in &rows {
            let names = PROCESSORS.iter().filter(|target| row.processors.contains(target));
            let names: Vec<&str> = names.map(|target| target.name).collect();
            let _ = writeln!(
                out,
                "  {} ({:?}, then {:?}): {}",
                row.states,
                row.first,
                row.second,
                names.join(" ")
            );
        }
        out.push('\n');
    }
    let _ = writeln!(out, "level: {}", level.name());
    if !mitigation.is_empty() {
        let _ = writeln!(out, "mended by: {mitigation}");
    }
    let _ = writeln!(out, "source: {source}");
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_every_rule_has_a_page() {
        let mut seen = HashSet::new();
        for rule in all() {
            assert!(seen.insert(rule.id), "{} twice", rule.id);
            let page = page(rule.id).expect("a page");
            assert!(page.contains(rule.name) && page.contains(rule.source), "{page}");
        }
        assert!(seen.len() > 50, "{}", seen.len());
        assert!(page("no-such-rule").is_none());
    }
}
