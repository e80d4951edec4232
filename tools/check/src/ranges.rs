//! Sets of 32-bit values, represented by ranges. If some compares of a register with constants are known to
//! be true or false, the register can only have the values of such a set.

use isa::{Opcode, op};
use smallvec::{SmallVec, smallvec};

/// Sorted ranges of values that neither overlap nor touch. Both ends are included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ranges(SmallVec<[(u32, u32); 2]>);

impl Ranges {
    /// Returns the set of all values.
    pub(crate) fn all() -> Ranges {
        Ranges(smallvec![(0, u32::MAX)])
    }

    /// Returns the values for which a compare with a constant is true. `is_first` says whether the value is
    /// the first operand of the compare. Supports only the compares that [`crate::conditions`] uses.
    pub(crate) fn of_compare(opcode: Opcode, is_first: bool, constant: u32) -> Option<Ranges> {
        let short = constant & 0xffff;
        let long = constant as u16 as i16 as u32;
        Some(match opcode {
            op::S_CMP_EQ_U32 => Ranges::single(constant),
            op::S_CMP_GT_U32 if is_first => Ranges::above(constant),
            op::S_CMP_GT_U32 => Ranges::below(constant),
            op::S_CMP_GT_I32 if is_first => Ranges::above_signed(constant),
            op::S_CMP_GT_I32 => Ranges::below_signed(constant),
            op::S_CMPK_EQ_U32 => Ranges::single(short),
            op::S_CMPK_GT_U32 => Ranges::above(short),
            op::S_CMPK_LT_U32 => Ranges::below(short),
            op::S_CMPK_EQ_I32 => Ranges::single(long),
            op::S_CMPK_GT_I32 => Ranges::above_signed(long),
            op::S_CMPK_LT_I32 => Ranges::below_signed(long),
            _ => return None,
        })
    }

    /// Returns the set with one value.
    pub(crate) fn single(value: u32) -> Ranges {
        Ranges(smallvec![(value, value)])
    }

    fn above(value: u32) -> Ranges {
        Ranges(value.checked_add(1).into_iter().map(|first| (first, u32::MAX)).collect())
    }

    fn below(value: u32) -> Ranges {
        Ranges(value.checked_sub(1).into_iter().map(|last| (0, last)).collect())
    }

    fn above_signed(value: u32) -> Ranges {
        const LAST: u32 = i32::MAX as u32;
        match value {
            LAST => Ranges(SmallVec::new()),
            0..LAST => Ranges(smallvec![(value + 1, LAST)]),
            u32::MAX => Ranges(smallvec![(0, LAST)]),
            _ => Ranges(smallvec![(0, LAST), (value + 1, u32::MAX)]),
        }
    }

    fn below_signed(value: u32) -> Ranges {
        Ranges::single(value).or(&Ranges::above_signed(value)).complement()
    }

    /// Returns the set of all other values.
    pub(crate) fn complement(&self) -> Ranges {
        let mut gaps = SmallVec::new();
        let mut next = Some(0);
        for &(first, last) in &self.0 {
            if let Some(begin) = next.filter(|begin| *begin < first) {
                gaps.push((begin, first - 1));
            }
            next = last.checked_add(1);
        }
        gaps.extend(next.map(|begin| (begin, u32::MAX)));
        Ranges(gaps)
    }

    /// Returns the intersection.
    pub(crate) fn and(&self, other: &Ranges) -> Ranges {
        let mut common = SmallVec::new();
        for &(first, last) in &self.0 {
            for &(begin, end) in &other.0 {
                if first.max(begin) <= last.min(end) {
                    common.push((first.max(begin), last.min(end)));
                }
            }
        }
        Ranges(common)
    }

    fn or(&self, other: &Ranges) -> Ranges {
        self.complement().and(&other.complement()).complement()
    }

    /// Returns whether the values of this set are in the set `set`: `Some(true)` if all are, `Some(false)` if
    /// none is, and `None` if only some are.
    pub(crate) fn are_in(&self, set: &Ranges) -> Option<bool> {
        match (self.and(&set.complement()).0.is_empty(), self.and(set).0.is_empty()) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }

    /// Returns the value if the set has exactly one.
    pub(crate) fn only_value(&self) -> Option<u32> {
        match self.0[..] {
            [(first, last)] if first == last => Some(first),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares each range with the compare instruction itself, for all edge values.
    #[test]
    fn compares() {
        let edges = [
            0,
            1,
            2,
            5,
            0x7ffe,
            0x7fff,
            0x8000,
            0xfffe,
            0xffff,
            i32::MAX as u32,
            1 << 31,
            u32::MAX - 1,
            u32::MAX,
        ];
        for constant in edges {
            for value in edges {
                let holds = |opcode, is_first| {
                    let set = Ranges::of_compare(opcode, is_first, constant).expect("a compare");
                    Ranges::single(value).are_in(&set)
                };
                let (x, k) = (value as i32, constant as i32);
                let (short, long) = (constant & 0xffff, i32::from(constant as u16 as i16));
                assert_eq!(holds(op::S_CMP_EQ_U32, true), Some(value == constant));
                assert_eq!(holds(op::S_CMP_GT_U32, true), Some(value > constant));
                assert_eq!(holds(op::S_CMP_GT_U32, false), Some(constant > value));
                assert_eq!(holds(op::S_CMP_GT_I32, true), Some(x > k), "{x} > {k}");
                assert_eq!(holds(op::S_CMP_GT_I32, false), Some(k > x), "{k} > {x}");
                assert_eq!(holds(op::S_CMPK_EQ_U32, true), Some(value == short));
                assert_eq!(holds(op::S_CMPK_GT_U32, true), Some(value > short));
                assert_eq!(holds(op::S_CMPK_LT_U32, true), Some(value < short));
                assert_eq!(holds(op::S_CMPK_EQ_I32, true), Some(x == long));
                assert_eq!(holds(op::S_CMPK_GT_I32, true), Some(x > long));
                assert_eq!(holds(op::S_CMPK_LT_I32, true), Some(x < long));
            }
        }
    }

    #[test]
    fn what_is_left() {
        let not = |value| Ranges::single(value).complement();
        let left = not(0).and(&not(1)).and(&Ranges::above(2).complement());
        assert_eq!(left.only_value(), Some(2));
        assert_eq!(left.are_in(&Ranges::below(3)), Some(true));
        assert_eq!(left.are_in(&Ranges::above(7)), Some(false));
        assert_eq!(Ranges::all().are_in(&Ranges::above(7)), None);
        assert_eq!(Ranges::all().complement().are_in(&Ranges::above(7)), None);
    }
}
