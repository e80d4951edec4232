//! Checks that the instructions of a clause are of one kind. The instruction `s_clause` marks a number of
//! following instructions as a clause.
//!
//! # Source
//! RDNA ISA, `S_CLAUSE`: the next instruction determines the kind of the clause. The effect of an instruction
//! of a different kind in the clause is undefined. Instructions that the sequencer executes itself, such as
//! `s_nop`, are permitted. The kinds of clauses on GFX10 are those of LLVM's pass for hard clauses.

use crate::finding::{EventRule, Finding, Level, Problem, Site};
use crate::program::Program;
use isa::table::{Family, Flags};
use isa::{MachInst, Operand, op};

/// Rule about a clause that contains an instruction of another kind than the clause.
pub static BROKEN_CLAUSE: EventRule = EventRule {
    id: "broken-clause",
    name: "clause holds an instruction of another kind than its first",
    mitigation: "a shorter s_clause",
    source: "RDNA ISA, S_CLAUSE",
    level: Level::Certain,
};

/// Rule about clauses that the manual forbids but code in use contains. There are two sorts: a clause that
/// contains a wait, which LLVM may insert there, and a clause whose first instruction does not determine a
/// kind.
pub static CLAUSE_WAIT: EventRule = EventRule {
    id: "clause-with-wait",
    name: "clause begins with an instruction that is of no kind, or holds an s_waitcnt_vscnt or one of its kin",
    level: Level::Manual,
    ..BROKEN_CLAUSE
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Scalar memory instruction.
    Scalar,
    /// Vector memory instruction: buffers, images, global memory and scratch.
    Vector,
    Flat,
    Lds,
    Valu,
    /// An instruction that the sequencer executes itself, such as `s_nop`. It is allowed in a clause of any
    /// kind.
    Internal,
    /// A wait in the SOPK encoding.
    Wait,
    /// An instruction that a clause must not contain.
    None,
}

fn kind(inst: &MachInst) -> Kind {
    let row = inst.op.row();
    match row.family {
        Family::Smem => Kind::Scalar,
        Family::Flat => Kind::Flat,
        _ if row.is_vmem() => Kind::Vector,
        Family::Ds => Kind::Lds,
        Family::Vop1 | Family::Vop2 | Family::Vop3 | Family::Vop3p | Family::Vopc => Kind::Valu,
        // The manuals do not say whether a clause may contain the remaining SOPP instructions, such as
        // `s_sleep`. These are accepted.
        Family::Sopp if row.flags.contains(Flags::BRANCH) || is_end_or_wait(inst) => Kind::None,
        Family::Sopp => Kind::Internal,
        Family::Sopk if row.name.starts_with("s_waitcnt_") => Kind::Wait,
        _ => Kind::None,
    }
}

fn is_end_or_wait(inst: &MachInst) -> bool {
    matches!(inst.op, op::S_ENDPGM | op::S_WAITCNT | op::S_BARRIER | op::S_CLAUSE | op::S_SENDMSG)
}

/// Reports, for each clause, the first instruction that does not belong in the clause.
pub(crate) fn find(program: &Program, mut sink: impl FnMut(Finding)) {
    for (site, placed) in program.insts.iter().enumerate() {
        let [Operand::Imm(more)] = placed.inst.operands() else { continue };
        if placed.inst.op != op::S_CLAUSE {
            continue;
        }
        let members = program.insts[site + 1..].iter().take((more & 63) as usize + 1);
        // The kind of the clause is that of its first instruction which is neither a wait nor executed by the
        // sequencer itself.
        let mut kinds = members.clone().map(|member| kind(&member.inst));
        let head = kinds.position(|kind| !matches!(kind, Kind::Wait | Kind::Internal));
        let first =
            head.and_then(|head| members.clone().nth(head)).map_or(Kind::None, |head| kind(&head.inst));
        let rule = |member: &MachInst, at: usize| match kind(member) {
            Kind::Internal if at > 0 => None,
            Kind::Internal | Kind::Wait => Some(&CLAUSE_WAIT),
            kind if kind == first && kind != Kind::None => None,
            _ => Some(&BROKEN_CLAUSE),
        };
        // For each of the two rules, only the first instruction that breaks it is reported.
        for wanted in [&BROKEN_CLAUSE, &CLAUSE_WAIT] {
            let is = |(at, member): (usize, &crate::program::Placed)| {
                rule(&member.inst, at).is_some_and(|rule| std::ptr::eq(rule, wanted))
            };
            if let Some(wrong) = members.clone().enumerate().position(is) {
                let problem = Problem::Event { rule: wanted };
                let [first, second] = [site, site + 1 + wrong].map(|site| site as Site);
                sink(Finding { first, second, registers: None, problem, is_doubtful: false });
            }
        }
    }
}
