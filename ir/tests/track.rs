//! Where records of debug information stand after changes that know nothing of them.

use ir::track::{Fragment, Variable, What};
use ir::{BinOp, Block, Function, Inst, Op, SrcLoc, Type, Value};

/// Returns a function with one block for each item of `sums`, which is the number of additions in the block.
/// Each block jumps to the next block, and the last block returns. The function has a variable of two parts.
fn function(sums: &[usize]) -> Function {
    let mut func = Function::new("f");
    for _ in sums {
        func.add_block();
    }
    let entry = func.entry();
    let mut last = func.push1(entry, Op::Const(1), &[], Type::I32, SrcLoc(0));
    for (n, &sums) in sums.iter().enumerate() {
        let block = Block::from_u32(n as u32);
        for _ in 0..sums {
            last = func.push1(block, Op::Bin(BinOp::Add), &[last, last], Type::I32, SrcLoc(0));
        }
        let next = Block::from_u32(n as u32 + 1);
        let end = if func.layout.contains(&next) { Op::Jump(next) } else { Op::Ret };
        func.push(block, end, &[], SrcLoc(0));
    }
    func.begin_track(0, 1 << 20);
    let track = func.track.as_mut().expect("just begun");
    track.variables.push(Variable {
        name: "x".into(),
        ty: 0,
        loc: SrcLoc(1),
        scope: 0..100,
        parameter: None,
        home: None,
        is_value: true,
        fragments: [(0, 4), (4, 4)].into_iter().collect(),
        site: 0,
    });
    func
}

fn inst(func: &Function, block: u32, n: usize) -> Inst {
    func.blocks[Block::from_u32(block)].insts()[n]
}

fn value(func: &Function, block: u32, n: usize) -> Value {
    func.result(inst(func, block, n), 0)
}

/// Begins with these records: the block, the number of the instruction that each is in front of, and what it
/// says.
fn begin(func: &mut Function, records: &[(u32, usize, What)]) {
    let mut track = func.track.take().expect("a track");
    for &(block, n, what) in records {
        track.note(Block::from_u32(block), inst(func, block, n), what);
    }
    track.begin(func);
    func.track = Some(track);
}

/// Block, number in the block, and what is said, of all facts when they are tidy.
fn tidied(func: &mut Function) -> Vec<(u32, usize, What)> {
    func.tidy_track();
    said(func)
}

/// The same behind the last pass.
fn concluded(func: &mut Function) -> Vec<(u32, usize, What)> {
    func.conclude_track();
    said(func)
}

fn said(func: &Function) -> Vec<(u32, usize, What)> {
    let track = func.track.as_ref().expect("a track");
    let mut said = Vec::new();
    for &block in &func.layout {
        for (n, &inst) in func.blocks[block].insts().iter().enumerate() {
            said.extend(track.notes.before(inst).map(|what| (block.as_u32(), n, what)));
        }
    }
    said
}

const fn part(leaf: u32) -> Fragment {
    Fragment { variable: 0, index: leaf }
}

/// Tidying asks nothing of values.
fn is(leaf: u32, value: u32) -> What {
    What::Value(part(leaf), Value::from_u32(value))
}

const S: What = What::Statement(SrcLoc(9));

#[test]
fn what_is_removed_leaves_its_records_to_what_follows() {
    let mut func = function(&[4, 1]);
    // The entry's first instruction is the constant.
    begin(&mut func, &[(0, 1, is(0, 1)), (0, 2, S), (0, 3, is(0, 2)), (1, 0, is(0, 3))]);
    let gone = [inst(&func, 0, 1), inst(&func, 0, 2)];
    func.retain_insts(Block::from_u32(0), |inst, _| !gone.contains(&inst));
    // What was said first of the part has no code any more, nor has the statement that did it.
    assert_eq!(tidied(&mut func), [(0, 1, is(0, 2)), (1, 0, is(0, 3))]);
    // The block goes, and what it said.
    func.layout.pop();
    let last = func.terminator(func.entry()).expect("an end");
    func.replace(last, Op::Ret, &[]);
    assert_eq!(tidied(&mut func), [(0, 1, is(0, 2))]);
}

#[test]
fn what_moves_up_takes_nothing_along() {
    let mut func = function(&[3]);
    begin(&mut func, &[(0, 1, is(0, 1)), (0, 3, is(0, 2))]);
    let moved = inst(&func, 0, 3);
    func.retain_insts(Block::from_u32(0), |inst, _| inst != moved);
    func.prepend(Block::from_u32(0), [moved].into_iter());
    // In front of the first sum that has stayed behind, and of the end.
    assert_eq!(tidied(&mut func), [(0, 2, is(0, 1)), (0, 4, is(0, 2))]);
}

#[test]
fn blocks_that_become_one_keep_the_order_of_what_they_say() {
    let mut func = function(&[1, 1, 1]);
    begin(&mut func, &[(0, 2, is(0, 1)), (1, 0, is(1, 1)), (1, 1, is(0, 2)), (2, 0, is(1, 2)), (2, 1, S)]);
    // The jumps and the sum of the second block are gone.
    for from in [1, 2] {
        let (into, from) = (Block::from_u32(0), Block::from_u32(from));
        let gone = (from.as_u32() == 1).then(|| inst(&func, 1, 0));
        func.retain_insts(from, |inst, _| Some(inst) != gone);
        func.splice_block(from, into);
        func.layout.retain(|&block| block != from);
    }
    assert_eq!(tidied(&mut func), [(0, 2, is(0, 2)), (0, 2, is(1, 2)), (0, 3, S)]);
}

#[test]
fn what_blocks_say_goes_where_they_go() {
    for count in [3, 40] {
        let mut func = function(&vec![1; count as usize]);
        let said: Vec<_> = (0..count).flat_map(|n| [(n, 1, is(0, n)), (n, 1, S)]).collect();
        begin(&mut func, &said);
        // Backwards but for the first, and every third in front of all others.
        func.layout[1..].reverse();
        func.layout[1..].sort_by_key(|block| block.as_u32() % 3 != 0);
        let said_of = |block: &Block| [0, 1].map(|n| said[2 * block.as_u32() as usize + n]);
        let expected: Vec<_> = func.layout.iter().flat_map(said_of).collect();
        assert_eq!(tidied(&mut func), expected);
    }
}

#[test]
fn what_a_block_has_said_is_not_said_again() {
    let mut func = function(&[3, 1]);
    let at = |func: &Function, n| What::Value(part(0), value(func, 0, n));
    let (first, last) = (at(&func, 1), at(&func, 3));
    // Constants need not be in the code.
    let mut constant = |bits| {
        let inst = func.make_inst(func.entry(), Op::Const(bits), &[], Type::I32, 1, SrcLoc(0));
        What::Value(part(1), func.result(inst, 0))
    };
    let (five, six) = (constant(5), constant(6));
    // The last sum is not known where it is named first; the other block may be come to from elsewhere.
    let said = [
        (0, 2, first),
        (0, 2, five),
        (0, 3, first),
        (0, 3, five),
        (0, 4, six),
        (0, 4, first),
        (1, 0, first),
        (1, 1, five),
    ];
    begin(&mut func, &said);
    let moved = inst(&func, 0, 1);
    func.retain_insts(Block::from_u32(0), |inst, _| inst != moved);
    func.prepend(Block::from_u32(0), [moved].into_iter());
    let expected = [(0, 2, first), (0, 2, five), (0, 4, six), (1, 0, first), (1, 1, five)];
    assert_eq!(concluded(&mut func), expected);

    let mut func = function(&[3]);
    begin(&mut func, &[(0, 1, last), (0, 4, last)]);
    let moved = inst(&func, 0, 1);
    func.retain_insts(Block::from_u32(0), |inst, _| inst != moved);
    func.prepend(Block::from_u32(0), [moved].into_iter());
    assert_eq!(concluded(&mut func), [(0, 2, last), (0, 4, last)]);
}

#[test]
fn what_is_split_off_keeps_its_records() {
    let mut func = function(&[3]);
    begin(&mut func, &[(0, 1, is(0, 1)), (0, 2, S), (0, 4, is(1, 2))]);
    let rest = func.add_block();
    func.split_block(Block::from_u32(0), 2, rest);
    func.push(Block::from_u32(0), Op::Jump(rest), &[], SrcLoc(0));
    assert_eq!(tidied(&mut func), [(0, 1, is(0, 1)), (1, 0, S), (1, 2, is(1, 2))]);
}

#[test]
fn what_replaces_the_end_gets_its_records() {
    let mut func = function(&[2, 1]);
    begin(&mut func, &[(0, 2, is(0, 1)), (0, 3, S)]);
    func.remove_from(Block::from_u32(0), 2);
    func.push(Block::from_u32(0), Op::Jump(Block::from_u32(1)), &[], SrcLoc(0));
    assert_eq!(tidied(&mut func), [(0, 2, is(0, 1)), (0, 2, S)]);
}

#[test]
fn what_is_new_or_comes_from_elsewhere_takes_nothing_over() {
    let mut func = function(&[3, 1]);
    begin(&mut func, &[(0, 1, is(0, 1)), (1, 0, is(1, 1))]);
    let (first, second, moved) = (inst(&func, 0, 1), inst(&func, 0, 2), inst(&func, 1, 0));
    let one = value(&func, 0, 0);
    let new = func.make_inst(func.entry(), Op::Bin(BinOp::Add), &[one, one], Type::I32, 1, SrcLoc(0));
    let rest: Vec<Inst> = func.blocks[func.entry()].insts()[3..].to_vec();
    func.set_insts(func.entry(), &[&[inst(&func, 0, 0), first, new, second][..], &rest].concat());
    func.insert_at_end(func.entry(), moved);
    func.retain_insts(Block::from_u32(1), |inst, _| inst != moved);
    func.retain_insts(Block::from_u32(0), |inst, _| inst != first);
    // In front of the second sum, not of the new one; what the moved sum had stays in its block.
    assert_eq!(tidied(&mut func), [(0, 2, is(0, 1)), (1, 0, is(1, 1))]);
}
