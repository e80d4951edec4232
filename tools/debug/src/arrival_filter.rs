//! The part of a breakpoint or watchpoint that decides whether the arrival of a wave stops the dispatch. A
//! breakpoint or watchpoint may be disabled, or may ignore a number of arrivals.

/// Decides whether an arrival at a breakpoint or watchpoint stops the dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrivalFilter {
    /// Whether the breakpoint or watchpoint is enabled.
    pub is_enabled: bool,
    /// Whether the breakpoint is removed when it has stopped the dispatch once.
    pub is_temporary: bool,
    ignored: IgnoreCount,
}

/// Which arrivals are ignored, so that they do not stop the dispatch. These are the first `count` arrivals
/// after instruction number `after`; `seen` of them have happened so far. The instructions of a dispatch are
/// numbered in the order of their execution, so the same arrivals are ignored when the dispatch is run again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct IgnoreCount {
    after: u64,
    count: u64,
    seen: u64,
}

impl ArrivalFilter {
    /// Creates an enabled filter that lets each arrival stop the dispatch, or only once.
    pub(crate) fn new(is_temporary: bool) -> ArrivalFilter {
        ArrivalFilter { is_enabled: true, is_temporary, ignored: IgnoreCount::default() }
    }

    /// Makes the filter ignore the first `count` arrivals after the instruction with the ordinal `after`. The
    /// ordinal of an instruction is its number in the order of execution, counted over all waves of the
    /// dispatch.
    pub fn ignore(&mut self, after: u64, count: u64) {
        self.ignored = IgnoreCount { after, count, seen: 0 };
    }

    /// Returns the number of arrivals that are still to be ignored.
    pub fn ignored(&self) -> u64 {
        self.ignored.count - self.ignored.seen
    }

    /// Counts an arrival at an instruction. `ordinal` is the number of this instruction in the order of
    /// execution. Returns whether the arrival stops the dispatch.
    pub(crate) fn stops(&mut self, ordinal: u64) -> bool {
        let IgnoreCount { after, count, seen } = &mut self.ignored;
        let passes = ordinal > *after && seen < count;
        *seen += u64::from(passes);
        !passes
    }

    /// Resets the count of arrivals, because the dispatch is run from its beginning again.
    pub(crate) fn begin(&mut self) {
        self.ignored.seen = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_after_an_instruction_are_passed_over_each_time() {
        let mut gate = ArrivalFilter::new(false);
        gate.ignore(10, 2);
        for _ in 0..2 {
            let stops: Vec<bool> = [5, 10, 11, 15, 20].iter().map(|&ordinal| gate.stops(ordinal)).collect();
            assert_eq!(stops, [true, true, false, false, true]);
            assert_eq!(gate.ignored(), 0);
            gate.begin();
            assert_eq!(gate.ignored(), 2);
        }
    }
}
