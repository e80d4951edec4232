//! Turns adjacent loads into clauses. With `s_clause`, a wave issues several loads without loads of other
//! waves in between, so that cache lines that the loads share are still in the cache.
//!
//! # Source
//! RDNA ISA, `S_CLAUSE`: the instruction after `s_clause` determines the kind of the clause. A clause has 2
//! to 63 instructions of that kind, and no other instructions. Before GFX10 the hardware forms clauses by
//! itself. `kernc check` has this rule as `broken-clause`.
//! # Requires
//! Final code except for branches, because waits and `s_nop` end a clause.
//! # Guarantees
//! Waits and hazard mitigations remain valid, because no instruction moves. In a clause that may be replayed
//! from its beginning, no load overwrites a register that an instruction of the clause reads.
//! # Time
//! Linear.

use crate::effects::{self, RegSet};
use crate::{Context, Model, Stats, edit};
use isa::table::{Family, Flags, available};
use isa::{MBlock, MachInst, Operand, Subtarget, op};
use mir::{MachFunc, Note};

/// Largest number of instructions in a clause.
const LONGEST: usize = 63;
const WHY: &str = "a clause: loads that may share cache lines are issued together";

/// The kinds of clauses that this pass forms. There are no kinds for stores and LDS instructions, which gain
/// nothing from clauses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Scalar,
    Vector,
    Flat,
}

fn kind(inst: &MachInst) -> Option<Kind> {
    let row = inst.op.row();
    let flags = Flags::LOAD | Flags::STORE | Flags::ATOMIC | Flags::ORDERED;
    match row.family {
        _ if row.flags & flags != Flags::LOAD => None,
        Family::Smem => Some(Kind::Scalar),
        Family::Flat => Some(Kind::Flat),
        Family::Mubuf | Family::Global | Family::Scratch => Some(Kind::Vector),
        _ => None,
    }
}

/// Runs the pass.
pub fn run(func: &mut MachFunc, model: &Model, ctx: &mut Context) -> Stats {
    let mut stats = Stats::default();
    let subtarget = model.subtarget();
    if !available(op::S_CLAUSE, subtarget) {
        return stats;
    }
    let mut note = None;
    for index in 0..func.blocks.len() {
        let block = MBlock::from_u32(index as u32);
        clauses(&func.blocks[block].insts, subtarget, &mut ctx.clauses);
        if ctx.clauses.is_empty() {
            continue;
        }
        let note = *note.get_or_insert_with(|| func.note(Note::Text(WHY)));
        let mut next = ctx.clauses.iter().peekable();
        let mut at = 0;
        edit::rewrite(func, block, &mut ctx.insts, |_, inst, out| {
            if let Some(clause) = next.next_if(|clause| clause.start == at) {
                let length = Operand::Imm(clause.len as i32 - 1);
                out.push(MachInst { loc: inst.loc, note, ..MachInst::new(op::S_CLAUSE, &[length]) });
                stats.clauses += 1;
            }
            at += 1;
            out.push(*inst);
        });
    }
    stats
}

/// Instructions of a block that form one clause.
#[derive(Debug)]
pub(crate) struct Clause {
    start: usize,
    len: usize,
}

/// Finds the clauses of a block.
#[inline(never)]
fn clauses(insts: &[MachInst], subtarget: &Subtarget, found: &mut Vec<Clause>) {
    found.clear();
    let mut start = 0;
    while start < insts.len() {
        let len = match insts[start].operands() {
            // The code already contains this clause.
            [Operand::Imm(more)] if insts[start].op == op::S_CLAUSE => 2 + (more & 63) as usize,
            _ => length(&insts[start..], subtarget),
        };
        if len > 1 && insts[start].op != op::S_CLAUSE {
            found.push(Clause { start, len });
        }
        start += len.max(1);
    }
}

/// Returns the number of instructions in the clause that begins with the first instruction of `insts`.
fn length(insts: &[MachInst], subtarget: &Subtarget) -> usize {
    let Some(first) = insts.first().and_then(kind) else { return 0 };
    let replays = subtarget.xnack.may_be_on();
    let mut read = RegSet::EMPTY;
    let fits = |inst: &&MachInst| {
        if kind(inst) != Some(first) {
            return false;
        }
        let mut overwrites = false;
        if replays {
            effects::all(subtarget, inst, |access| {
                if access.read {
                    read.insert(access.range)
                }
            });
            effects::all(subtarget, inst, |access| overwrites |= access.write && read.hits(access.range));
        }
        !overwrites
    };
    insts.iter().take(LONGEST).take_while(fits).count()
}
