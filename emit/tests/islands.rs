//! Branch islands on made-up code: every branch reaches, nothing else changes, and no more is built than needed.

use emit::{branches, code, islands};
use isa::table::Flags;
use isa::{MBlock, MachInst, Operand, Reg, Subtarget, op};
use mir::{Edge, MachBlock, MachFunc};
use support::Random;

/// Dwords to either side that a branch reaches.
const REACH: u32 = 0x7fff;

fn subtarget() -> Subtarget {
    Subtarget::by_name("gfx906").unwrap()
}

/// An instruction of two dwords that carries a number.
fn filler(number: i32) -> MachInst {
    MachInst::new(op::S_MOV_B32, &[Operand::reg(Reg::sgpr(3)), Operand::int(1_000_000 + number)])
}

fn block(index: u32) -> MBlock {
    MBlock::from_u32(index)
}

/// Where a block goes.
enum End {
    Falls,
    Always(u32),
    Maybe(u32),
    /// Jumps into a table, which is the next blocks.
    Jumps,
    /// An entry of it with another behind.
    Entry(u32),
    Stops,
}

/// Blocks of so many fillers, with their ends.
fn func(shape: &[(usize, End)]) -> MachFunc {
    let mut func = MachFunc { name: "made".into(), ..MachFunc::default() };
    let mut number = 0;
    for (index, (fillers, end)) in shape.iter().enumerate() {
        let mut data = MachBlock::default();
        for _ in 0..*fillers {
            data.insts.push(filler(number));
            number += 1;
        }
        data.term = data.insts.len() as u32;
        let edge = |to| Some(Edge { to: block(to), args: Default::default() });
        let next = edge(index as u32 + 1);
        let branch = |op, to: u32| MachInst::new(op, &[Operand::Block(block(to))]);
        data.linear = match *end {
            End::Falls => [next, None],
            End::Always(to) => {
                data.insts.push(branch(op::S_BRANCH, to));
                [edge(to), None]
            }
            End::Maybe(to) => {
                data.insts.push(branch(op::S_CBRANCH_SCC1, to));
                [edge(to), next]
            }
            End::Jumps => {
                let pair = Operand::regs(Reg::sgpr(4), 2);
                let [low, high] = [4, 5].map(|n| Operand::reg(Reg::sgpr(n)));
                data.insts.push(MachInst::new(op::S_GETPC_B64, &[pair]));
                data.insts.push(MachInst::new(op::S_ADD_U32, &[low, low, Operand::reg(Reg::sgpr(3))]));
                data.insts.push(MachInst::new(op::S_ADDC_U32, &[high, high, Operand::int(0)]));
                data.insts.push(MachInst::new(op::S_SETPC_B64, &[pair]));
                [next, None]
            }
            End::Entry(to) => {
                data.insts.push(branch(op::S_BRANCH, to));
                [edge(to), next]
            }
            End::Stops => {
                data.insts.push(MachInst::new(op::S_ENDPGM, &[Operand::Imm(0)]));
                [None, None]
            }
        };
        data.logical = data.linear;
        func.blocks.push(data);
    }
    func
}

/// The instructions that are run from a block on until one is not `s_branch`: what a branch there really leads to.
fn arrives(func: &MachFunc, mut at: MBlock) -> Option<MachInst> {
    for _ in 0..1000 {
        match func.blocks[at].insts.first() {
            Some(inst) if inst.op == op::S_BRANCH => at = target(inst)?,
            Some(inst) => return Some(*inst),
            None => at = block(at.as_u32() + 1),
        }
    }
    None
}

fn target(inst: &MachInst) -> Option<MBlock> {
    inst.operands().iter().find_map(|operand| match operand {
        Operand::Block(to) => Some(*to),
        _ => None,
    })
}

/// Runs the pass and proves it; the number of new blocks.
fn check(shape: &[(usize, End)]) -> usize {
    let old = func(shape);
    let mut new = old.clone();
    let added = islands::run(&mut new, &subtarget(), |_| None);
    code::encode(&subtarget(), &new).expect("every branch reaches");
    // The same instructions in the same order, `s_branch` of ours apart.
    let plain = |func: &MachFunc| -> Vec<MachInst> {
        let insts = func.blocks.values().flat_map(|block| block.insts.clone());
        insts.filter(|inst| inst.note == isa::NoteId::NONE && target(inst).is_none()).collect()
    };
    assert_eq!(plain(&old), plain(&new));
    // What a caller puts in front of new branches makes no table of what is none.
    let guard = |func: &mut MachFunc| {
        let note = func.note(mir::Note::Text("guard"));
        Some(MachInst { note, ..MachInst::new(op::S_NOP, &[Operand::Imm(0)]) })
    };
    let mut guarded = old.clone();
    islands::run(&mut guarded, &subtarget(), guard);
    code::encode(&subtarget(), &guarded).expect("every branch reaches");
    let entries = |func: &MachFunc| func.blocks.values().filter(|data| data.next_entry().is_some()).count();
    assert_eq!(plain(&old), plain(&guarded));
    assert_eq!(entries(&old), entries(&guarded));
    // Every branch arrives where it did.
    let branches = |func: &MachFunc| -> Vec<(MachInst, Option<MachInst>)> {
        let insts = func.blocks.values().flat_map(|block| block.insts.clone());
        let own = insts.filter(|inst| inst.note == isa::NoteId::NONE);
        own.filter_map(|inst| Some((inst, arrives(func, target(&inst)?)))).collect()
    };
    let (before, after) = (branches(&old), branches(&new));
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(&after) {
        assert_eq!((before.0.op, before.1), (after.0.op, after.1));
        assert!(after.1.is_some());
    }
    edges(&new);
    added
}

/// Linear edges say what the last instructions of each block do.
fn edges(func: &MachFunc) {
    for (id, data) in func.blocks.iter() {
        let mut leads: Vec<MBlock> = data.insts.iter().filter_map(target).collect();
        let leaves = |inst: &MachInst| inst.op.row().flags.contains(Flags::NO_FALLTHROUGH);
        if !data.insts.last().is_some_and(leaves) {
            leads.push(block(id.as_u32() + 1));
        }
        if let Some(next) = data.next_entry() {
            assert_eq!(next, block(id.as_u32() + 1), "an entry stands right behind");
            leads.push(next);
        }
        let mut says: Vec<MBlock> = data.linear.iter().flatten().map(|edge| edge.to).collect();
        leads.sort_unstable();
        says.sort_unstable();
        assert_eq!(leads, says, "{id}");
    }
}

#[test]
fn what_reaches_is_left_alone() {
    // 32767 dwords between branch and target.
    let shape = [(0, End::Maybe(2)), (REACH as usize / 2, End::Falls), (1, End::Stops)];
    assert_eq!(check(&shape), 0);
}

#[test]
fn one_island_forward() {
    let shape = [(1, End::Maybe(2)), (20_000, End::Falls), (1, End::Stops)];
    // The long block is cut in two, between the halves one island.
    assert_eq!(check(&shape), 2);
}

#[test]
fn an_island_stands_where_control_does_not_come_by() {
    let shape = [(1, End::Maybe(3)), (14_000, End::Always(2)), (14_000, End::Stops), (1, End::Stops)];
    assert_eq!(check(&shape), 1);
}

#[test]
fn backward_over_a_mebibyte() {
    let shape = [(1, End::Falls), (150_000, End::Falls), (1, End::Maybe(1)), (1, End::Stops)];
    let added = check(&shape);
    assert!((18..=22).contains(&added), "{added}");
}

#[test]
fn branches_to_one_place_share_islands() {
    let mut shape: Vec<(usize, End)> = (0..2000).map(|_| (40, End::Maybe(2000))).collect();
    shape.push((1, End::Stops));
    let added = check(&shape);
    // Five islands, and five blocks cut in two.
    assert!(added <= 10, "{added}");
}

#[test]
fn an_address_is_not_cut() {
    // The whole block is one address computed from the program counter, so to say: no place for a station but its ends.
    let mut func = func(&[(1, End::Maybe(3)), (16_000, End::Falls), (16_000, End::Falls), (1, End::Stops)]);
    func.relocs.push(mir::RelocRef { to: mir::Referent::Global(0), part: mir::Distance::Low, addend: 0 });
    let pair = Operand::regs(Reg::sgpr(8), 2);
    let low = Operand::reg(Reg::sgpr(8));
    let add = MachInst::new(op::S_ADD_U32, &[low, low, Operand::Reloc(0)]);
    let insts = &mut func.blocks[block(2)].insts;
    // From dword 32630 or so on, past the point at which an island is urgent.
    insts.insert(300, MachInst::new(op::S_GETPC_B64, &[pair]));
    insts.insert(330, add);
    islands::run(&mut func, &subtarget(), |_| None);
    let code = code::encode(&subtarget(), &func).expect("every branch reaches");
    assert_eq!(code.fixups[0].at - code.fixups[0].origin, 29 * 2 + 1);
}

/// Wherever a clause stands in a block that is to be cut, nothing comes between its instructions.
#[test]
fn a_clause_is_not_cut() {
    let gfx1030 = Subtarget::by_name("gfx1030").unwrap();
    let mut cut = 0;
    for start in (0..1000).step_by(20) {
        let mut new =
            func(&[(1, End::Maybe(3)), (15_000, End::Falls), (16_000, End::Falls), (1, End::Stops)]);
        new.blocks[block(2)].insts.insert(start, MachInst::new(op::S_CLAUSE, &[Operand::Imm(62)]));
        cut += usize::from(islands::run(&mut new, &gfx1030, |_| None) > 1);
        let at = |insts: &[MachInst]| insts.iter().position(|inst| inst.op == op::S_CLAUSE);
        let found = new.blocks.values().find_map(|data| Some((at(&data.insts)?, &data.insts)));
        let (clause, insts) = found.expect("the clause is there");
        assert!(insts.len() > clause + 63);
        assert!(insts[clause + 1..=clause + 63].iter().all(|inst| inst.op == op::S_MOV_B32));
    }
    assert!(cut > 40, "{cut}");
}

/// Entries that do not reach hop; none is moved, and nothing stands between them, wherever islands are due.
#[test]
fn a_table_is_not_torn() {
    for before in (10_000..17_500).step_by(125) {
        let mut shape = vec![(1, End::Maybe(26)), (before, End::Jumps)];
        shape.extend((0..20).map(|n| (0, End::Entry(23 + n % 4))));
        shape.extend([(0, End::Always(23)), (20_000, End::Falls), (20_000, End::Always(26))]);
        shape.extend([(3, End::Falls), (1, End::Stops)]);
        assert!(check(&shape) > 0);
    }
}

/// Random shapes, short and long blocks mixed.
#[test]
fn random() {
    let mut random = Random::new(1);
    let mut next = |below: u64| random.below(below);
    for _ in 0..60 {
        let blocks = 2 + next(300) as u32;
        let longest = [10, 300, 4000][next(3) as usize];
        let mut shape = Vec::new();
        for _ in 0..blocks {
            let end = match next(5) {
                0 => End::Always(next(u64::from(blocks)) as u32),
                1 | 2 => End::Maybe(next(u64::from(blocks)) as u32),
                3 => End::Stops,
                _ => End::Falls,
            };
            shape.push((1 + next(longest) as usize, end));
        }
        shape.push((1, End::Stops));
        check(&shape);
    }
}

/// A target that is just in reach, and on its way branches over 63 dwords, which gfx101x takes wrongly: what mends them takes it out
/// of reach. The same with other distances, whose islands make branches over them wrong.
#[test]
fn nops_and_islands() {
    let gfx1010 = Subtarget::by_name("gfx1010").unwrap();
    let mut mended = 0;
    for spare in 0..40 {
        let mut shape = vec![(0, End::Maybe(41))];
        // Over 31 instructions of two dwords and a branch.
        for n in 0..20 {
            shape.extend([(1, End::Maybe(2 * n + 3)), (31, End::Maybe(0))]);
        }
        let used: usize = shape.iter().map(|(fillers, _)| 2 * fillers + 1).sum();
        shape.push(((REACH as usize + 1 - used - spare) / 2, End::Falls));
        shape.push((1, End::Stops));
        shape[0].1 = End::Maybe(shape.len() as u32 - 1);
        let mut new = func(&shape);
        branches::run(&mut new, &gfx1010, |_| None);
        code::encode(&gfx1010, &new).expect("every branch reaches");
        mended += usize::from(new.blocks.len() > shape.len());
        assert_eq!(emit::distances::run(&mut new, &gfx1010), 0, "nothing is wrong");
    }
    assert!((10..40).contains(&mended), "{mended} of 40 need islands");
}
