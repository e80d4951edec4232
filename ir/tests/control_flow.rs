//! Orders, dominators and loops, against definitions checked by brute force on random graphs.

use ir::analysis::{Cfg, DomTree, LoopForest, PostDomTree};
use ir::{Block, Function, Op, SrcLoc, Type};
use support::Random;

/// A function whose block `n` goes to `succs[n]` (0, 1 or 2 blocks).
fn graph(succs: &[&[u32]]) -> Function {
    let mut func = Function::new("f");
    for _ in succs {
        func.add_block();
    }
    let entry = func.entry();
    let cond = func.push1(entry, Op::Const(1), &[], Type::Bool, SrcLoc(0));
    for (n, to) in succs.iter().enumerate() {
        let block = Block::from_u32(n as u32);
        match **to {
            [] => func.push(block, Op::Ret, &[], SrcLoc(0)),
            [a] => func.push(block, Op::Jump(Block::from_u32(a)), &[], SrcLoc(0)),
            [a, b, ..] => {
                let op = Op::Br { then: Block::from_u32(a), otherwise: Block::from_u32(b), then_args: 0 };
                func.push(block, op, &[cond], SrcLoc(0))
            }
        };
    }
    func
}

fn names(blocks: &[Block]) -> Vec<u32> {
    blocks.iter().map(|b| b.as_u32()).collect()
}

#[test]
fn loops_are_contiguous_in_the_order() {
    // A loop 1..4 with two exits, 5 and 6, one of which a plain reverse postorder puts between its blocks.
    let func = graph(&[&[1], &[2, 3], &[4, 5], &[4, 6], &[1], &[6], &[]]);
    let cfg = Cfg::new(&func);
    assert_eq!(names(&cfg.rpo()[..2]), [0, 1]);
    let mut body = names(&cfg.rpo()[1..5]);
    body.sort_unstable();
    assert_eq!(body, [1, 2, 3, 4]);
    let loops = LoopForest::new(&cfg);
    let l = loops.loops().next().unwrap();
    assert_eq!(loops.len(), 1);
    assert_eq!(loops.header(l).as_u32(), 1);
    assert_eq!(loops.preheader(l).map(|b| b.as_u32()), Some(0));
    assert_eq!(names(loops.latches(l)), [4]);
    let mut exits: Vec<_> = loops.exits(l).iter().map(|(a, b)| (a.as_u32(), b.as_u32())).collect();
    exits.sort_unstable();
    assert_eq!(exits, [(2, 5), (3, 6)]);
}

#[test]
fn nested_loops() {
    // 1: outer header, 2: inner header, 3: inner latch, 4: outer latch, 5: end.
    let func = graph(&[&[1], &[2, 5], &[3, 4], &[2], &[1], &[]]);
    let cfg = Cfg::new(&func);
    let loops = LoopForest::new(&cfg);
    let inner = loops.innermost(Block::from_u32(3)).unwrap();
    let outer = loops.parent(inner).unwrap();
    assert_eq!(loops.header(inner).as_u32(), 2);
    assert_eq!(loops.header(outer).as_u32(), 1);
    assert_eq!(loops.loop_depth(inner), 2);
    assert_eq!(loops.depth(Block::from_u32(4)), 1);
    assert_eq!(loops.depth(Block::from_u32(5)), 0);
    assert_eq!(names(loops.blocks(outer)).len(), 4);
    assert_eq!(loops.preheader(inner), None); // 1 also leaves the loop
    assert!(loops.contains(outer, Block::from_u32(3)));
    assert!(!loops.contains(inner, Block::from_u32(4)));
    assert!(!cfg.is_irreducible());
}

#[test]
fn two_entries_make_a_loop_irreducible() {
    let func = graph(&[&[1, 2], &[2], &[1, 3], &[]]);
    assert!(Cfg::new(&func).is_irreducible());
}

#[test]
fn an_endless_loop_has_a_place_in_the_post_dominator_tree() {
    let func = graph(&[&[1, 2], &[1], &[]]);
    let cfg = Cfg::new(&func);
    let post = PostDomTree::new(&cfg);
    assert_eq!(post.ipdom(Block::from_u32(0)), None);
    assert_eq!(post.ipdom(Block::from_u32(1)), None);
    assert!(!post.post_dominates(Block::from_u32(2), Block::from_u32(0)));
}

/// Successor lists as plain numbers, and what can be said of them by trying all paths.
struct Plain(Vec<Vec<u32>>);

impl Plain {
    /// Up to two successors a block, none of them the entry.
    fn random(rng: &mut Random, max_blocks: u32, least: u32) -> Self {
        let count = 2 + rng.below(max_blocks - 1);
        let list = |rng: &mut Random| -> Vec<u32> {
            (0..least + rng.below(3 - least)).map(|_| 1 + rng.below(count - 1)).collect()
        };
        Plain((0..count).map(|_| list(rng)).collect())
    }

    fn blocks(&self) -> std::ops::Range<u32> {
        0..self.0.len() as u32
    }

    fn function(&self) -> Function {
        let lists: Vec<&[u32]> = self.0.iter().map(Vec::as_slice).collect();
        graph(&lists)
    }

    /// Whether `to` can be reached from `from` without passing `without`.
    fn reaches(&self, from: u32, to: u32, without: Option<u32>) -> bool {
        let mut seen = vec![false; self.0.len()];
        let mut work = vec![from];
        while let Some(n) = work.pop() {
            if Some(n) == without || std::mem::replace(&mut seen[n as usize], true) {
                continue;
            }
            if n == to {
                return true;
            }
            work.extend(&self.0[n as usize]);
        }
        false
    }

    fn is_live(&self, n: u32) -> bool {
        self.reaches(0, n, None)
    }

    fn can_end(&self, n: u32, without: Option<u32>) -> bool {
        self.blocks().any(|e| self.0[e as usize].is_empty() && self.reaches(n, e, without))
    }

    fn dominates(&self, a: u32, b: u32) -> bool {
        a == b || !self.reaches(0, b, Some(a))
    }

    /// Edges from live blocks to blocks that dominate them.
    fn back_edges(&self) -> Vec<(u32, u32)> {
        let edges = self.blocks().flat_map(|n| self.0[n as usize].iter().map(move |&s| (n, s)));
        edges.filter(|&(n, s)| self.is_live(n) && self.dominates(s, n)).collect()
    }

    fn without_edges(&self, edges: &[(u32, u32)]) -> Plain {
        let keep = |n: u32| -> Vec<u32> {
            self.0[n as usize].iter().copied().filter(|&s| !edges.contains(&(n, s))).collect()
        };
        Plain(self.blocks().map(keep).collect())
    }

    fn has_live_cycle(&self) -> bool {
        self.blocks().any(|n| self.is_live(n) && self.0[n as usize].iter().any(|&s| self.reaches(s, n, None)))
    }
}

#[test]
fn trees_agree_with_the_definition_of_dominance() {
    let mut rng = Random::new(7);
    for _ in 0..300 {
        let plain = Plain::random(&mut rng, 13, 0);
        let cfg = Cfg::new(&plain.function());
        let dom = DomTree::new(&cfg);
        let post = PostDomTree::new(&cfg);
        // Where every block can end, the tree's choice of ends for endless regions does not matter.
        let all_end = plain.blocks().all(|n| !plain.is_live(n) || plain.can_end(n, None));
        for b in plain.blocks() {
            let bb = Block::from_u32(b);
            assert_eq!(cfg.is_reachable(bb), plain.is_live(b));
            for a in plain.blocks().filter(|&a| plain.is_live(a) && plain.is_live(b)) {
                let ba = Block::from_u32(a);
                assert_eq!(dom.dominates(ba, bb), plain.dominates(a, b), "{a} dom {b} in {:?}", plain.0);
                if all_end {
                    let expected = a == b || !plain.can_end(b, Some(a));
                    assert_eq!(post.post_dominates(ba, bb), expected, "{a} pdom {b} in {:?}", plain.0);
                }
            }
        }
    }
}

#[test]
fn loops_agree_with_back_edges_to_dominators() {
    let mut rng = Random::new(11);
    let mut reducible = 0;
    for _ in 0..2000 {
        let plain = Plain::random(&mut rng, 10, 1);
        let cfg = Cfg::new(&plain.function());
        let loops = LoopForest::new(&cfg);
        let back = plain.back_edges();
        let forward = plain.without_edges(&back);
        assert_eq!(cfg.is_irreducible(), forward.has_live_cycle(), "{:?}", plain.0);
        if cfg.is_irreducible() {
            continue;
        }
        reducible += 1;
        let mut headers: Vec<u32> = back.iter().map(|&(_, h)| h).collect();
        headers.sort_unstable();
        headers.dedup();
        assert_eq!(headers.len(), loops.len(), "{:?}", plain.0);
        for l in loops.loops() {
            let header = loops.header(l).as_u32();
            let reaches_latch =
                |n| back.iter().any(|&(t, h)| h == header && plain.reaches(n, t, Some(header)));
            let in_loop = |n| n == header || plain.dominates(header, n) && reaches_latch(n);
            let expected: Vec<u32> = plain.blocks().filter(|&n| plain.is_live(n) && in_loop(n)).collect();
            let mut found = names(loops.blocks(l));
            found.sort_unstable();
            assert_eq!(found, expected, "loop of {header} in {:?}", plain.0);
        }
        for (n, to) in forward.0.iter().enumerate().filter(|&(n, _)| plain.is_live(n as u32)) {
            let at = cfg.position(Block::from_u32(n as u32));
            assert!(to.iter().all(|&s| at < cfg.position(Block::from_u32(s))), "{:?}", plain.0);
        }
    }
    assert!(reducible > 300, "only {reducible} graphs were of use");
}
