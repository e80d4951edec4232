//! Whether a breakpoint or watchpoint stops the dispatch where it is reached: turned off, or passed over a number of times.

/// What lets a wave pass a breakpoint or watchpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Whether it is on.
    pub is_enabled: bool,
    /// It is taken out where it stops the dispatch.
    pub is_temporary: bool,
    ignored: Ignored,
}

/// So many arrivals after an instruction do not stop; those that have come so far. The instruction is kept by its number, so that a dispatch
/// that is run again passes over the same arrivals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Ignored {
    after: u64,
    count: u64,
    seen: u64,
}

impl Gate {
    /// One that stops each time, or once.
    pub(crate) fn new(is_temporary: bool) -> Gate {
        Gate { is_enabled: true, is_temporary, ignored: Ignored::default() }
    }

    /// Passes over so many arrivals after an instruction.
    pub fn ignore(&mut self, after: u64, count: u64) {
        self.ignored = Ignored { after, count, seen: 0 };
    }

    /// Arrivals that are still passed over.
    pub fn ignored(&self) -> u64 {
        self.ignored.count - self.ignored.seen
    }

    /// Counts an arrival at an instruction. Whether it stops.
    pub(crate) fn stops(&mut self, ordinal: u64) -> bool {
        let Ignored { after, count, seen } = &mut self.ignored;
        let passes = ordinal > *after && seen < count;
        *seen += u64::from(passes);
        !passes
    }

    /// For the dispatch from its beginning.
    pub(crate) fn begin(&mut self) {
        self.ignored.seen = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_after_an_instruction_are_passed_over_each_time() {
        let mut gate = Gate::new(false);
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
