//! Lowers `match` to a switch of the IR or to a sequence of tests. All arms join after the `match`.

use super::pattern::Bound;
use super::ssa::Arms;
use super::{Lower, Val};
use crate::ast::{ExprId, List, PatId, PatKind};
use crate::check::PatRes;
use crate::scalar::Scalar;
use crate::types::Ty;
use ir::{Block, Case, Op, SwitchData, SwitchEdge, Value};
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Range `lo..=hi` of unsigned values that an arm matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ArmRange {
    lo: u64,
    hi: u64,
    arm: u32,
}

impl Lower<'_, '_> {
    pub(super) fn match_expr(&mut self, id: ExprId, value: ExprId, arms: List) -> Val {
        let value_ty = self.ty_of(value);
        let is_scalar = self.checked.types.as_scalar(value_ty).is_some();
        if !is_scalar || self.ast.match_arms[arms.range()].iter().any(|arm| arm.guard.is_some()) {
            return self.match_by_tests(id, value, arms);
        }
        let value = self.scalar_expr(value);
        // The checker has proved that the arms cover all values. The last arm therefore becomes the default
        // of the switch, for all values that no other arm matches.
        let default = arms.len - 1;
        let cases = first_wins(self.arm_ranges(List { len: default, ..arms }, self.scalar_of(value_ty)));
        if cases.is_empty() || self.dead {
            return self.match_arm(arms.range().end - 1, value_ty, value);
        }
        let (head, mark, loc) = (self.block, self.ssa.mark(), self.loc);
        // Arms that no value reaches are not lowered.
        let mut blocks: Vec<Option<Block>> = vec![None; arms.len as usize];
        cases.iter().map(|case| case.arm).chain([default]).for_each(|arm| blocks[arm as usize] = Some(head));
        let mut ends = Arms::with_capacity(blocks.len());
        for (arm, at) in arms.range().zip(&mut blocks) {
            if at.is_none() {
                continue;
            }
            self.block = self.new_block();
            *at = Some(self.block);
            let result = self.match_arm(arm, value_ty, value);
            ends.push(self.end_arm(mark, mark, result));
            self.dead = false;
        }
        let op = Op::Switch(self.func.switches.push(switch(&cases, &blocks)));
        self.func.push(head, op, &[value], loc);
        self.merge(ends, self.ty_of(id))
    }

    /// Lowers the body of an arm, after binding the arm's variable if it has one.
    fn match_arm(&mut self, arm: usize, ty: Ty, value: Value) -> Val {
        let arm = self.ast.match_arms[arm];
        if let PatKind::Name { .. } = self.ast.pattern(arm.pattern).kind {
            let outer = std::mem::replace(&mut self.scope_end, self.ast.block(arm.body).span.end);
            self.take_apart(arm.pattern, ty, &[value]);
            self.scope_end = outer;
        }
        self.block(arm.body)
    }

    /// Lowers a `match` to tests of one arm after the other. This is the only way for a `match` with guards
    /// or on a value with parts, such as a tuple, because a switch of the IR cannot express it.
    fn match_by_tests(&mut self, id: ExprId, value: ExprId, arms: List) -> Val {
        let ty = self.ty_of(value);
        let value = self.expr(value);
        let (start, outer) = (self.ssa.mark(), self.loc);
        let mut ends = Arms::new();
        for n in arms.range() {
            if self.dead {
                break; // no value reaches this arm
            }
            let arm = self.ast.match_arms[n];
            let here = self.ssa.mark();
            let mut bound = Bound::new();
            let mut cond = self.test(arm.pattern, ty, &value, &mut bound);
            let outer_scope = std::mem::replace(&mut self.scope_end, self.ast.block(arm.body).span.end);
            self.define_bound(bound);
            self.scope_end = outer_scope;
            if let Some(guard) = arm.guard {
                cond = Some(match cond {
                    Some(cond) => self.logic(true, cond, guard),
                    None => self.scalar_expr(guard),
                });
                if self.dead {
                    break; // control never leaves the guard
                }
            }
            // The arms cover all values, so the last arm needs no test.
            let Some(cond) = cond.filter(|_| n + 1 < arms.range().end) else {
                let result = self.block(arm.body);
                ends.push(self.end_arm(start, here, result));
                self.dead = true;
                break;
            };
            let (head, here) = (self.block, self.ssa.mark());
            let then = self.new_block();
            self.block = then;
            let result = self.block(arm.body);
            ends.push(self.end_arm(start, here, result));
            self.dead = false;
            self.block = self.new_block();
            let op = Op::Br { then, otherwise: self.block, then_args: 0 };
            self.func.push(head, op, &[cond], outer);
        }
        self.ssa.rewind(start);
        self.loc = outer;
        self.merge(ends, self.ty_of(id))
    }

    /// Returns the ranges of values that the arms match, as unsigned numbers of the IR type's width.
    fn arm_ranges(&self, arms: List, scalar: Scalar) -> Vec<ArmRange> {
        let max = u64::MAX >> (64 - scalar.ir().bits());
        let mut all = Vec::with_capacity(arms.len as usize);
        for (arm, n) in arms.range().zip(0..) {
            let pattern = self.ast.match_arms[arm].pattern;
            let mut todo = SmallVec::<[PatId; 4]>::from_slice(&[pattern]);
            while let Some(id) = todo.pop() {
                if let PatKind::Or(list) = self.ast.pattern(id).kind {
                    todo.extend_from_slice(&self.ast.patterns_pool[list.range()]);
                    continue;
                }
                let PatRes::Between(lo, hi) = self.checked.patterns[id.at()] else { continue };
                let mut add = |lo: u64, hi: u64| all.push(ArmRange { lo: lo & max, hi: hi & max, arm: n });
                let (first, last) = (lo as i64, hi as i64);
                match scalar.is_signed() {
                    true if first < 0 && last >= 0 => {
                        add(0, hi);
                        add(lo, u64::MAX);
                    }
                    true if first <= last => add(lo, hi),
                    false if lo <= hi => add(lo, hi),
                    _ => {}
                }
            }
        }
        all
    }
}

/// Returns the data of the IR's switch for these ranges of values. `blocks` has the block of each arm. The
/// last arm is the default.
fn switch(cases: &[ArmRange], blocks: &[Option<Block>]) -> SwitchData {
    let mut data = SwitchData::default();
    let mut edge_of = vec![0; blocks.len()];
    let default_first = [blocks.len() - 1].into_iter().chain(0..blocks.len() - 1);
    for arm in default_first {
        if let Some(to) = blocks[arm] {
            edge_of[arm] = data.edges.len() as u32;
            data.edges.push(SwitchEdge { to, args_end: 1 });
        }
    }
    data.cases.extend(cases.iter().map(|case| Case {
        lo: case.lo,
        hi: case.hi,
        edge: edge_of[case.arm as usize],
    }));
    data
}

/// Assigns each value to the first arm that matches it. Returns ranges that do not overlap, in ascending
/// order.
///
/// The function sweeps over the ends of all ranges and keeps a heap of the arms that match the values between
/// two ends.
fn first_wins(mut wanted: Vec<ArmRange>) -> Vec<ArmRange> {
    wanted.sort_by_key(|range| range.lo);
    let mut ends: Vec<u128> =
        wanted.iter().flat_map(|range| [u128::from(range.lo), u128::from(range.hi) + 1]).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut out: Vec<ArmRange> = Vec::with_capacity(wanted.len());
    let mut open: BinaryHeap<Reverse<(u32, u64)>> = BinaryHeap::new();
    let mut next = wanted.into_iter().peekable();
    for piece in ends.windows(2) {
        let (lo, hi) = (piece[0] as u64, (piece[1] - 1) as u64);
        while let Some(range) = next.next_if(|range| range.lo == lo) {
            open.push(Reverse((range.arm, range.hi)));
        }
        while open.peek().is_some_and(|&Reverse((_, end))| end < lo) {
            open.pop();
        }
        let Some(&Reverse((arm, _))) = open.peek() else { continue };
        match out.last_mut() {
            Some(last) if last.arm == arm && last.hi + 1 == lo => last.hi = hi,
            _ => out.push(ArmRange { lo, hi, arm }),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_arms_win() {
        let wanted = |list: &[(u64, u64)]| {
            list.iter().zip(0..).map(|(&(lo, hi), arm)| ArmRange { lo, hi, arm }).collect::<Vec<_>>()
        };
        let found = |list: &[(u64, u64)]| {
            first_wins(wanted(list)).iter().map(|w| (w.lo, w.hi, w.arm)).collect::<Vec<_>>()
        };
        assert_eq!(found(&[(5, 5), (0, 9), (3, 20)]), [(0, 4, 1), (5, 5, 0), (6, 9, 1), (10, 20, 2)]);
        assert_eq!(found(&[(0, u64::MAX), (7, 7)]), [(0, u64::MAX, 0)]);
        assert_eq!(
            found(&[(9, 9), (u64::MAX, u64::MAX), (9, 10)]),
            [(9, 9, 0), (10, 10, 2), (u64::MAX, u64::MAX, 1)]
        );
        assert_eq!(found(&[]), []);
    }
}
