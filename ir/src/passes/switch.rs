//! Lowers switches to balanced trees of comparisons.
//!
//! Adjacent cases with the same target are merged into one. A node of the tree splits its cases in two halves
//! with `value < case`. The comparisons above a node show which values are still possible there. The last few
//! cases are tested one by one, each with the cheapest comparison that is correct for the values that are
//! still possible: equality, a comparison with one end of the range, or `value - lo <= hi - lo` for both
//! ends. (R. Sayle, "A Superoptimizer Analysis of Multiway Branch Code Generation", GCC Developers' Summit
//! 2008, has more strategies than pay off on a GPU.)
//!
//! Where many cases are close together, the tree ends at a switch on these cases, which instruction selection
//! turns into a jump table ([`is_row`]).
//!
//! The tree is for uniform operands. With a divergent operand, the lanes execute most of a tree anyway, and
//! each edge to the default block keeps a mask of the lanes that wait to enter that block. For a divergent
//! operand, the cases are therefore tested one after the other, and the default block is reached once, at the
//! end.
//!
//! The pass runs early, after the pass that makes constants of the switch arms (`gvn`). Other passes handle
//! switches correctly but do not need to optimise them.

use crate::entity::{Block, Inst, Switch, Value};
use crate::func::{Case, Function, SrcLoc, SwitchData, SwitchEdge};
use crate::op::{BinOp, IntCc, Op, UnOp};
use crate::semantics::mask;
use crate::types::Type;
use rustc_hash::FxHashMap;

/// Number of remaining cases that are tested one by one, for a uniform operand.
const LINEAR: usize = 3;

/// Minimum number of cases for a jump table. A jump table takes eight instructions and two jumps from the
/// operand to any arm. A tree takes two instructions for each level and a jump at every other level. With a
/// table, a wave executes on average over all arms 1.1 fewer instructions with 16 cases and 3.1 fewer with 32
/// cases, and the code is 9 and 25 instructions shorter.
const MIN_ROW: usize = 16;
/// Maximum number of entries of a jump table, for each case and in total. An entry has four bytes, and a case
/// in a tree takes twelve bytes. The total is limited because a table is a block of code that branches have
/// to jump over.
const MAX_ENTRIES_PER_CASE: u64 = 3;
const MAX_ENTRIES: u64 = 1024;

/// Returns whether the cases are numerous and dense enough for a jump table. No case may be empty.
pub fn is_row(cases: &[Case]) -> bool {
    let ([first, ..], [.., last]) = (cases, cases) else { return false };
    let most = MAX_ENTRIES.min(cases.len() as u64 * MAX_ENTRIES_PER_CASE);
    cases.len() >= MIN_ROW && last.hi - first.lo < most
}

/// Replaces every switch by a tree of comparisons if its operand is uniform, and by a chain of comparisons if
/// the operand is divergent. If `rows` is true, cases of a uniform operand that are close together stay a
/// switch, which becomes a jump table. Returns whether the function had a switch.
pub fn run(func: &mut Function, rows: bool, is_uniform: impl Fn(Value) -> bool) -> bool {
    let mut changed = false;
    for block in std::mem::take(&mut func.layout) {
        func.layout.push(block);
        let Some(inst) = func.terminator(block) else { continue };
        if let Op::Switch(switch) = func.insts[inst].op {
            func.remove_terminator(block);
            let uniform = is_uniform(func.args(inst)[0]);
            let linear = if uniform { LINEAR } else { usize::MAX };
            lower(func, block, inst, switch, linear, rows && uniform);
            changed = true;
        }
    }
    changed
}

/// A node of the comparison tree. It has the range of operand values that are still possible at the node, and
/// the cases in that range.
#[derive(Clone, Copy)]
struct Node<'c> {
    cases: &'c [Case],
    lo: u64,
    hi: u64,
}

impl Node<'_> {
    /// Returns the number of the edge that the switch takes for all values that are possible at the node.
    /// `None` if different values take different edges.
    fn only_edge(&self) -> Option<u32> {
        match *self.cases {
            [] => Some(0),
            [Case { lo, hi, edge }, ..] if lo <= self.lo && self.hi <= hi => Some(edge),
            _ => None,
        }
    }
}

fn lower(func: &mut Function, block: Block, inst: Inst, switch: Switch, linear: usize, rows: bool) {
    let value = func.args(inst)[0];
    let (ty, loc) = (func.ty(value), func.insts[inst].loc);
    let cases = merged(func, inst, switch);
    let root = Node { cases: &cases, lo: 0, hi: mask(ty) };
    let mut tree = Tree { func, inst, value, ty, loc, linear, rows, open: vec![(block, root)] };
    // An explicit stack is used instead of recursion because a chain of tests can be long.
    while let Some((block, node)) = tree.open.pop() {
        tree.fill(block, node);
    }
}

/// Returns the cases of a switch, without the cases that do the same as the default edge. Adjacent cases with
/// the same target are merged into one.
pub(super) fn merged(func: &Function, inst: Inst, switch: Switch) -> Vec<Case> {
    let data = &func.switches[switch];
    let is_default = |edge: u32| {
        let plain = |which: usize| func.branch_args(inst, which).is_empty();
        edge == 0 || (data.edges[edge as usize].to == data.edges[0].to && plain(0) && plain(edge as usize))
    };
    let mut cases: Vec<Case> = Vec::with_capacity(data.cases.len());
    for &case in data.cases.iter().filter(|case| !is_default(case.edge)) {
        match cases.last_mut() {
            Some(last) if last.edge == case.edge && last.hi + 1 == case.lo => last.hi = case.hi,
            _ => cases.push(case),
        }
    }
    cases
}

struct Tree<'f, 'c> {
    func: &'f mut Function,
    inst: Inst,
    value: Value,
    ty: Type,
    loc: SrcLoc,
    /// Maximum number of cases that are tested one by one.
    linear: usize,
    /// Whether rows of cases stay a switch.
    rows: bool,
    /// Blocks that have no terminator yet, each with the node of the tree whose comparison it will contain.
    open: Vec<(Block, Node<'c>)>,
}

impl<'c> Tree<'_, 'c> {
    /// Ends `block` with the code that decides which case of the node applies.
    fn fill(&mut self, block: Block, node: Node<'c>) {
        if let Some(edge) = node.only_edge() {
            return self.jump(block, edge);
        }
        let Node { cases, lo, hi } = node;
        if self.rows && is_row(cases) {
            return self.row(block, cases);
        }
        if let [first, rest @ ..] = cases
            && cases.len() <= self.linear
        {
            let cond = self.is_in(block, *first, node);
            let hit = Node { cases: &cases[..1], lo: first.lo, hi: first.hi };
            let lo = if first.lo <= lo { first.hi + 1 } else { lo };
            let hi = if first.hi >= hi { first.lo - 1 } else { hi };
            return self.branch(block, cond, [hit, Node { cases: rest, lo, hi }]);
        }
        let (below, above) = cases.split_at(cases.len() / 2);
        let middle = above[0].lo;
        let cond = self.compare(block, IntCc::Ult, self.value, middle);
        self.branch(
            block,
            cond,
            [Node { cases: below, lo, hi: middle - 1 }, Node { cases: above, lo: middle, hi }],
        );
    }

    /// Ends `block` with a switch on the cases of the node, which becomes a jump table.
    fn row(&mut self, block: Block, cases: &[Case]) {
        let mut data = SwitchData::default();
        let mut args = vec![self.value];
        let mut numbers = FxHashMap::default();
        let mut number = |edge: u32| {
            *numbers.entry(edge).or_insert_with(|| {
                args.extend_from_slice(self.func.branch_args(self.inst, edge as usize));
                let to = self.func.branch_target(self.inst, edge as usize);
                data.edges.extend(to.map(|to| SwitchEdge { to, args_end: args.len() as u32 }));
                data.edges.len() as u32 - 1
            })
        };
        number(0);
        data.cases = cases.iter().map(|case| Case { edge: number(case.edge), ..*case }).collect();
        let switch = self.func.switches.push(data);
        self.func.push(block, Op::Switch(switch), &args, self.loc);
    }

    fn branch(&mut self, block: Block, cond: Value, ways: [Node<'c>; 2]) {
        let [then, otherwise] = ways.map(|node| self.target(node));
        let op = Op::Br { then: then.0, otherwise: otherwise.0, then_args: 0 };
        self.func.push(block, op, &[cond], self.loc);
        for ((to, is_new), node) in [then, otherwise].into_iter().zip(ways).rev() {
            if is_new {
                self.open.push((to, node));
            }
        }
    }

    /// Returns the block to which a branch for the node must lead, and whether this block is new. If all
    /// values of the node take the same edge, and the edge passes no arguments, this is the target of the
    /// edge. Otherwise it is a new block, for the comparison of the node or for a jump with arguments.
    fn target(&mut self, node: Node<'_>) -> (Block, bool) {
        let edge = node.only_edge().map(|edge| edge as usize);
        let plain = edge.filter(|&edge| self.func.branch_args(self.inst, edge).is_empty());
        match plain.and_then(|edge| self.func.branch_target(self.inst, edge)) {
            Some(to) => (to, false),
            None => (self.func.add_block(), true),
        }
    }

    fn jump(&mut self, block: Block, edge: u32) {
        let args = self.func.branch_args(self.inst, edge as usize).to_vec();
        if let Some(to) = self.func.branch_target(self.inst, edge as usize) {
            self.func.push(block, Op::Jump(to), &args, self.loc);
        }
    }

    /// Emits the test whether the operand is in the range of `case`. The test only has to be correct for
    /// operands that are possible at `node`.
    fn is_in(&mut self, block: Block, case: Case, node: Node<'_>) -> Value {
        match case {
            Case { lo: 1, .. } if self.ty == Type::Bool => self.value,
            _ if self.ty == Type::Bool => {
                self.func.push1(block, Op::Un(UnOp::Not), &[self.value], Type::Bool, self.loc)
            }
            Case { lo, hi, .. } if lo == hi => self.compare(block, IntCc::Eq, self.value, lo),
            Case { lo, hi, .. } if lo <= node.lo => self.compare(block, IntCc::Ule, self.value, hi),
            Case { lo, hi, .. } if hi >= node.hi => self.compare(block, IntCc::Uge, self.value, lo),
            Case { lo, hi, .. } => {
                let lo_value = self.func.push1(block, Op::Const(lo), &[], self.ty, self.loc);
                let args = [self.value, lo_value];
                let above = self.func.push1(block, Op::Bin(BinOp::Sub), &args, self.ty, self.loc);
                self.compare(block, IntCc::Ule, above, hi - lo)
            }
        }
    }

    fn compare(&mut self, block: Block, cc: IntCc, value: Value, with: u64) -> Value {
        let with = self.func.push1(block, Op::Const(with), &[], self.ty, self.loc);
        self.func.push1(block, Op::Icmp(cc), &[value, with], Type::Bool, self.loc)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::parse;
    use super::*;
    use crate::interp::{Dispatch, Interp, Memory};

    /// Returns the results of a kernel for each of the 64 lane numbers, shifted and multiplied.
    fn results(module: &crate::Module) -> Vec<u8> {
        let mut memory = Memory::new();
        let out = memory.alloc_bytes(vec![0; 64 * 4]);
        let kernarg = out.to_le_bytes().to_vec();
        let dispatch =
            Dispatch { kernel: "k", grid: [64, 1, 1], group: [64, 1, 1], kernarg, dynamic_shared: 0 };
        Interp::new(module, &mut memory).run(&dispatch, &mut memory).unwrap();
        memory.bytes(out, 256).unwrap().to_vec()
    }

    /// Returns a kernel that stores what the switch on `v2`, which is `lane - 8` times `step`, passes to
    /// `b9`.
    fn kernel(switch: &str, step: i32) -> String {
        format!(
            "kernel @k {{ param \"o\" \"p\" u32 x 1 buffer global at 0 size 8 align 8 pointee_align 4\n kernarg_size 8\n\
             b0:\n v0 = kernarg_ptr.ptr.constant\n v1 = load.ptr.global b64 constant [v0] align 8 invariant\n \
             v20 = local_id.i32 0\n v21 = const.i32 8\n v22 = sub.i32 v20, v21\n v23 = const.i32 {step}\n \
             v2 = mul.i32 v22, v23\n v3 = const.i32 1\n v4 = const.i32 2\n v5 = const.i32 3\n v6 = const.i32 2\n \
             v7 = shl.i32 v20, v6\n v8 = ptr_add_z.ptr.global v1, v7\n {switch}\n\
             b1:\n jump b9(v3)\nb2:\n jump b9(v4)\nb9(v9: i32):\n store b32 global [v8], v9 align 4\n ret }}"
        )
    }

    fn check(switch: &str) {
        for step in [1, 3, 0x0400_0000] {
            let text = kernel(switch, step);
            let mut module = parse(&text);
            crate::verify::verify(&module).unwrap();
            assert_eq!(parse(&module.to_string()).to_string(), module.to_string());
            let before = results(&module);
            let mut chains = module.clone();
            let mut rows = module.clone();
            assert!(run(module.funcs.values_mut().next().unwrap(), false, |_| true));
            assert!(run(chains.funcs.values_mut().next().unwrap(), true, |_| false));
            assert!(run(rows.funcs.values_mut().next().unwrap(), true, |_| true));
            for module in [&module, &chains, &rows] {
                crate::verify::verify(module).unwrap_or_else(|e| panic!("{e:?}\n{module}"));
                assert_eq!(before, results(module), "{module}");
            }
            assert!(before.chunks(4).any(|c| c != &before[..4]) || step > 3, "nothing depends on the value");
        }
    }

    #[test]
    fn trees_decide_as_switches_do() {
        check("switch v2, b1 [ 6 -> b2 ]");
        check("switch v2, b1 [ 0, 3 to 5, 9 -> b2, 6 to 8, 4294967290 to 4294967295 -> b9(v5) ]");
        check(
            "switch v2, b9(v5) [ 1 -> b1, 2 -> b2, 3 -> b9(v4), 4 -> b9(v3), 5 -> b1, 7 to 1000 -> b2, 2000 -> b1 ]",
        );
        let many: Vec<String> = (0..25).map(|n| format!("{} -> b{}", n * 2, 1 + n % 2)).collect();
        check(&format!("switch v2, b9(v5) [ {} ]", many.join(", ")));
        let many: Vec<String> = (0..20).map(|n| format!("{n} -> b{}", 1 + n % 2)).collect();
        check(&format!("switch v2, b9(v5) [ {}, 900 -> b9(v4), 1000 to 2000 -> b9(v5) ]", many.join(", ")));
        check("switch v2, b1 [ 0 to 2147483647 -> b2, 2147483648 to 4294967295 -> b9(v5) ]");
    }

    #[test]
    fn depth_is_logarithmic() {
        let many: Vec<String> = (0..1024).map(|n| format!("{} -> b{}", n * 3, 1 + n % 2)).collect();
        let mut module = parse(&kernel(&format!("switch v2, b9(v5) [ {} ]", many.join(", ")), 1));
        let func = module.funcs.values_mut().next().unwrap();
        run(func, false, |_| true);
        let mut depth = vec![0; func.blocks.len()];
        for &block in crate::analysis::Cfg::new(func).rpo() {
            for to in func.succs(block) {
                let below = depth[block.as_u32() as usize] + 1;
                let depth = &mut depth[to.as_u32() as usize];
                *depth = below.max(*depth);
            }
        }
        assert!(depth.iter().max() <= Some(&14), "{depth:?}");
    }
}
