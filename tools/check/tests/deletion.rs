//! Each wait and each nop of clang's code, taken away or weakened in turn: it must be reported, or there is a reason why
//! registers and hazards do not need it. Prints the table of what was reported:
//! `cargo test -p kernc-check --test check deletion:: -- --nocapture`; `KERNC_FULL=1` for all processors and levels.

use crate::clang::{kernels, twin, variants};
use check::object::Entries;
use check::program::Program;
use check::{Counter, Kinds, Site, solve};
use isa::{MachInst, Operand, op};
use std::collections::BTreeMap;

/// What is done to an instruction.
struct Mutation {
    kind: String,
    site: Site,
    with: Option<MachInst>,
    /// The counter that is weakened, if it is one.
    counter: Option<Counter>,
}

/// What can be done to an instruction.
fn mutations(program: &Program, site: Site) -> Vec<Mutation> {
    let inst = &program.insts[site as usize].inst;
    let target = program.code.target();
    let mut all = Vec::new();
    let mut push =
        |kind: String, with: Option<MachInst>, counter| all.push(Mutation { kind, site, with, counter });
    let changed = |operand: usize, value: i32| {
        let mut inst = *inst;
        inst.ops[operand] = Operand::Imm(value);
        Some(inst)
    };
    let nop = MachInst::new(op::S_NOP, &[Operand::Imm(0)]);
    match (inst.op, inst.ops[0]) {
        (op::S_NOP, Operand::Imm(count)) => {
            push("s_nop deleted".into(), None, None);
            if count > 0 {
                push("s_nop one less".into(), changed(0, count - 1), None);
            }
        }
        (op::S_WAITCNT, Operand::Imm(mask)) => {
            let counts = target.unpack_waitcnt(mask as u16);
            let fields = [
                (Counter::Vm, counts.vm, target.max_vmcnt),
                (Counter::Exp, counts.exp, target.max_expcnt),
                (Counter::Lgkm, counts.lgkm, target.max_lgkmcnt),
            ];
            let used: Vec<_> = fields.iter().filter(|(_, count, max)| count < max).collect();
            for &&(counter, count, max) in &used {
                let with = |count: u8| {
                    let mut values = [counts.vm, counts.exp, counts.lgkm];
                    values[counter as usize] = count;
                    changed(0, target.waitcnt(values[0], values[1], values[2]).into())
                };
                push(format!("{} deleted", counter.name()), with(max), Some(counter));
                if count + 1 < max {
                    push(format!("{} one more", counter.name()), with(count + 1), Some(counter));
                }
            }
        }
        (op::S_WAITCNT_VSCNT, _) => push("vscnt deleted".into(), Some(nop), Some(Counter::Vs)),
        (op::S_WAITCNT_DEPCTR, _) => push("s_waitcnt_depctr deleted".into(), Some(nop), None),
        (op::S_MOV_B32, Operand::Reg(to)) if to.first.0 == 125 => {
            push("s_mov_b32 null deleted".into(), Some(nop), None);
        }
        _ => {}
    }
    all
}

/// Why nothing is reported of a wait that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    /// Nothing that the wait is for may be under way when it is reached.
    NothingUnderWay,
    /// It keeps memory in order: only what brings no registers is under way, or a barrier, a store or the end follows.
    Ordering,
    /// An `s_nop` of GFX10, where wait states mend nothing in these programs: it puts a loop's head on a cache line, or
    /// makes a branch not go over 63 dwords.
    Placement,
    /// An `s_nop` with more wait states than any rule asks: without all of it something is reported.
    Longer,
    /// Loads are under way, but what uses their registers waits itself, or nothing does.
    WaitedForLater,
}

/// Looks at the instructions before the wait, on all paths back to where the counter was last at zero.
fn reason(program: &Program, mutation: &Mutation) -> Option<Reason> {
    let inst = &program.insts[mutation.site as usize].inst;
    if inst.op == op::S_NOP && program.code.target().version.0 == 10 {
        // The two rules of GFX10 about wait states need one of these.
        let counted = |site| program.code.effects(site).kinds.intersects(Kinds::FP_ATOMIC | Kinds::LONG_NSA);
        return (!(0..program.code.len() as Site).any(counted)).then_some(Reason::Placement);
    }
    let counter = mutation.counter?;
    let mut before: Vec<Vec<Site>> = vec![Vec::new(); program.insts.len()];
    for site in 0..program.insts.len() as Site {
        program.successors(site).for_each(|next| before[next as usize].push(site));
    }
    let mut seen = vec![false; program.insts.len()];
    let mut open = before[mutation.site as usize].clone();
    let mut reason = Reason::NothingUnderWay;
    while let Some(site) = open.pop() {
        if std::mem::replace(&mut seen[site as usize], true) {
            continue;
        }
        let effects = program.code.effects(site);
        if effects.waits.0[counter as usize] == 0 {
            continue;
        }
        let classes = effects.classes.done.iter().flatten().chain(&effects.classes.read);
        if classes.into_iter().any(|class| class.info().counter == counter) {
            let registers = effects.returns && !effects.writes.is_empty() || effects.classes.read.is_some();
            reason = reason.max(if registers { Reason::WaitedForLater } else { Reason::Ordering });
        }
        open.extend(&before[site as usize]);
    }
    let kinds_after = |mut site: Site| loop {
        let next = program.successors(site).next()?;
        let kinds = program.code.effects(next).kinds;
        match kinds.contains(Kinds::WAIT) || program.insts[next as usize].inst.op == op::S_NOP {
            true => site = next,
            false => return Some(kinds),
        }
    };
    let ordering = Kinds::BARRIER | Kinds::STORES | Kinds::END;
    match reason {
        Reason::WaitedForLater if kinds_after(mutation.site)?.intersects(ordering) => Some(Reason::Ordering),
        reason => Some(reason),
    }
}

#[derive(Default)]
struct Tally {
    all: usize,
    reported: usize,
    reasons: BTreeMap<Reason, usize>,
    unexplained: usize,
}

#[test]
fn what_is_taken_away_is_reported() {
    let Some(clang) = crate::clang::clang("deletion of waits") else { return };
    let mut table: BTreeMap<String, Tally> = BTreeMap::new();
    let mut left = Vec::new();
    for variant in variants() {
        for name in kernels() {
            let bytes = twin(&clang, &name, variant);
            let object = codeobj::CodeObject::parse(&bytes).expect("clang's object");
            for mut part in Entries::new(&object, None).expect("a known processor").parts() {
                let program = &mut part.program;
                let originals = program.clone();
                let sites = 0..program.insts.len() as Site;
                for mutation in sites.flat_map(|site| mutations(&originals, site)) {
                    let tally = table.entry(mutation.kind.clone()).or_default();
                    tally.all += 1;
                    program.code.replace(mutation.site, mutation.with.as_ref());
                    let reported = !solve::solve(program, &part.roots, false).is_empty();
                    let shortened = mutation.kind == "s_nop one less";
                    let longer = shortened && !reported && {
                        program.code.replace(mutation.site, None);
                        !solve::solve(program, &part.roots, false).is_empty()
                    };
                    program.code.replace(mutation.site, Some(&originals.insts[mutation.site as usize].inst));
                    let why = match (reported, longer) {
                        (true, _) => None,
                        (_, true) => Some(Reason::Longer),
                        _ => reason(&originals, &mutation),
                    };
                    match (reported, why) {
                        (true, _) => tally.reported += 1,
                        (_, Some(reason)) => *tally.reasons.entry(reason).or_default() += 1,
                        (_, None) => tally.unexplained += 1,
                    }
                    if !reported && why.is_none_or(|why| why == Reason::WaitedForLater) {
                        let placed = &originals.insts[mutation.site as usize];
                        let next = originals.successors(mutation.site).next();
                        let after = next.map_or("", |next| originals.insts[next as usize].inst.op.row().name);
                        left.push(format!(
                            "{:?} {name} {variant:?} {:#x} before {after}",
                            mutation.kind, placed.address
                        ));
                    }
                }
                assert!(program.code.effects(0).kinds != Kinds::empty());
            }
        }
    }
    println!(
        "{:<28} {:>7} {:>9} {:>8} {:>9} {:>6} {:>6} {:>6} {:>5}",
        "", "all", "reported", "nothing", "ordering", "place", "longer", "later", "left"
    );
    let (mut needed, mut reported) = (0, 0);
    for (kind, tally) in &table {
        let reason = |reason| tally.reasons.get(&reason).copied().unwrap_or_default();
        let (nothing, ordering, later, place, longer) = (
            reason(Reason::NothingUnderWay),
            reason(Reason::Ordering),
            reason(Reason::WaitedForLater),
            reason(Reason::Placement),
            reason(Reason::Longer),
        );
        println!(
            "{kind:<28} {:>7} {:>9} {nothing:>8} {ordering:>9} {place:>6} {longer:>6} {later:>6} {:>5}",
            tally.all, tally.reported, tally.unexplained
        );
        needed += tally.all - nothing - ordering - place - longer;
        reported += tally.reported;
    }
    println!("reported of those that are for registers and hazards: {reported} of {needed}");
    left.iter().take(40).for_each(|line| println!("  {line}"));
    assert!(reported > 0 && reported * 100 >= needed * 99, "{reported} of {needed}");
}
