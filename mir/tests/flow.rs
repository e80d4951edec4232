//! The solver of dataflow analyses, on every graph of three blocks with up to two edges from each block.

use isa::MBlock;
use mir::flow::{Heads, Worklist};
use mir::{ArgRange, Edge, MachBlock, MachFunc};

const BLOCKS: usize = 3;

/// A set of blocks, one bit each.
type Set = u8;

/// All functions of three empty blocks: a block has no edge, or an edge to any block, or two such edges.
fn functions() -> Vec<MachFunc> {
    let targets: Vec<Option<u32>> = (0..BLOCKS as u32).map(Some).chain([None]).collect();
    let edges: Vec<[Option<u32>; 2]> =
        targets.iter().flat_map(|&one| targets.iter().map(move |&two| [one, two])).collect();
    let mut functions = Vec::new();
    for number in 0..edges.len().pow(BLOCKS as u32) {
        let mut func = MachFunc::default();
        for block in 0..BLOCKS {
            let edges = edges[number / edges.len().pow(block as u32) % edges.len()];
            let edge = |to| Edge { to: MBlock::from_u32(to), args: ArgRange::default() };
            func.blocks.push(MachBlock { linear: edges.map(|to| to.map(edge)), ..MachBlock::default() });
        }
        functions.push(func);
    }
    functions
}

fn successors(func: &MachFunc, block: MBlock) -> impl Iterator<Item = MBlock> {
    func.blocks[block].linear.iter().flatten().map(|edge| edge.to)
}

fn bit(block: MBlock) -> Set {
    1 << block.as_u32()
}

/// For each block, the blocks to which a path of at least one edge leads, by extending paths one block at a
/// time.
fn reachable(func: &MachFunc) -> [Set; BLOCKS] {
    let mut sets = [0; BLOCKS];
    for _ in 0..BLOCKS {
        for block in func.blocks.keys() {
            for to in successors(func, block) {
                sets[block.as_u32() as usize] |= bit(to) | sets[to.as_u32() as usize];
            }
        }
    }
    sets
}

/// Adds `new` to `own` and returns whether `own` changed.
fn join(own: &mut Set, new: &Set) -> bool {
    std::mem::replace(own, *own | new) != *own | new
}

#[test]
fn facts_flow_forward_along_all_paths() {
    let mut heads: Heads<Set> = Heads::default();
    for func in functions() {
        heads.visit_all(&func);
        while let Some((block, head)) = heads.pop() {
            let end = head.copied().unwrap_or(0) | bit(block);
            successors(&func, block).for_each(|to| heads.reach(to, &end, join));
        }
        let reachable = reachable(&func);
        for to in func.blocks.keys() {
            let sources = func.blocks.keys().filter(|from| reachable[from.as_u32() as usize] & bit(to) != 0);
            let expected: Set = sources.map(bit).sum();
            assert_eq!(heads.get(to).copied(), (expected != 0).then_some(expected), "{func:?}");
        }
    }
}

#[test]
fn unreachable_blocks_are_not_visited_unless_wanted() {
    let mut heads: Heads<Set> = Heads::default();
    for func in functions() {
        let entry = MBlock::from_u32(0);
        heads.visit_reached(&func);
        heads.reach(entry, &0, join);
        let mut visited = 0;
        while let Some((block, head)) = heads.pop() {
            visited |= bit(block);
            let end = head.copied().unwrap_or(0) | bit(block);
            successors(&func, block).for_each(|to| heads.reach(to, &end, join));
        }
        assert_eq!(visited, reachable(&func)[0] | bit(entry), "{func:?}");
    }
}

#[test]
fn facts_flow_backward_along_all_paths() {
    let mut work = Worklist::default();
    for func in functions() {
        let mut sets = [0; BLOCKS];
        work.start_backward(&func);
        while let Some(block) = work.pop() {
            let set = successors(&func, block).map(|to| bit(to) | sets[to.as_u32() as usize]);
            let set = set.fold(0, |all, set| all | set);
            if std::mem::replace(&mut sets[block.as_u32() as usize], set) != set {
                let is_pred = |from: &MBlock| successors(&func, *from).any(|to| to == block);
                func.blocks.keys().filter(is_pred).for_each(|from| work.add(from));
            }
        }
        assert_eq!(sets, reachable(&func), "{func:?}");
    }
}
