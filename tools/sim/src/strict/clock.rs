//! Vector clocks, which hold the knowledge of one wave about other waves. For each wave of other work-groups,
//! a clock says which operations of that wave are known to be complete.

use std::sync::Arc;

/// Pairs of a wave number and an operation number, sorted by wave. A pair says that all operations of the
/// wave up to the operation number are known to be complete.
///
/// A wave may have a second pair, whose wave number has the bit [`PASSED_ON`] set. It is for operations of
/// the wave that another wave of the same group has passed on by a release, although they may be incomplete.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock(Option<Arc<Vec<(u32, u32)>>>);

/// Bit in a wave number that marks the second pair of the wave: the pair for operations that another wave has
/// passed on, complete or not. Wave numbers are too small to have this bit (see `MAX_WAVES`).
const PASSED_ON: u32 = 1 << 31;

impl Clock {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the number of the last operation of `wave` that is known to be complete.
    pub(super) fn get(&self, wave: u32) -> u32 {
        let Some(entries) = &self.0 else { return 0 };
        entries.binary_search_by_key(&wave, |entry| entry.0).map_or(0, |at| entries[at].1)
    }

    /// Returns the pairs of wave and operation number for the `count` waves from `first` on.
    pub(super) fn range(&self, first: u32, count: u32) -> &[(u32, u32)] {
        let Some(entries) = &self.0 else { return &[] };
        let place = |wave: u32| entries.partition_point(|entry| entry.0 < wave);
        &entries[place(first)..place(first.saturating_add(count))]
    }

    /// Adds the knowledge that all operations of a wave up to `number` are complete.
    pub(super) fn learn(&mut self, wave: u32, number: u32) {
        if number == 0 || self.get(wave) >= number {
            return;
        }
        let entries = Arc::make_mut(self.0.get_or_insert_default());
        match entries.binary_search_by_key(&wave, |entry| entry.0) {
            Ok(at) => entries[at].1 = number,
            Err(at) => entries.insert(at, (wave, number)),
        }
    }

    /// Adds what a wave that releases knows about `wave`, another wave of its group. The waves that acquire
    /// this knowledge are in other groups. Operations of `wave` up to `done` are complete for all waves.
    /// Operations up to `seen` are complete only for waves of the group.
    pub(super) fn learn_from_mate(&mut self, wave: u32, done: u32, seen: u32) {
        self.learn(wave, done);
        if seen > done {
            self.learn(wave | PASSED_ON, seen);
        }
    }

    /// Returns the number of the last operation of `wave` that another wave of its group has passed on by a
    /// release. The operation may be incomplete.
    pub(super) fn passed_on(&self, wave: u32) -> u32 {
        self.get(wave | PASSED_ON)
    }

    /// Adds the knowledge of another clock to this clock.
    pub(super) fn merge(&mut self, other: &Clock) {
        let Some(theirs) = &other.0 else { return };
        let Some(ours) = &self.0 else {
            self.0 = Some(Arc::clone(theirs));
            return;
        };
        if Arc::ptr_eq(ours, theirs) {
            return;
        }
        if theirs.len() <= 4 {
            for &(wave, number) in theirs.iter() {
                self.learn(wave, number);
            }
            return;
        }
        self.0 = Some(Arc::new(merged(ours, theirs)));
    }
}

fn merged(one: &[(u32, u32)], two: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut out = Vec::with_capacity(one.len().max(two.len()));
    let (mut a, mut b) = (0, 0);
    while a < one.len() && b < two.len() {
        let (left, right) = (one[a], two[b]);
        if left.0 < right.0 {
            out.push(left);
            a += 1;
        } else if right.0 < left.0 {
            out.push(right);
            b += 1;
        } else {
            out.push((left.0, left.1.max(right.1)));
            (a, b) = (a + 1, b + 1);
        }
    }
    out.extend_from_slice(&one[a..]);
    out.extend_from_slice(&two[b..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_takes_the_later() {
        let (mut one, mut two) = (Clock::default(), Clock::default());
        for wave in 0..10 {
            one.learn(wave * 2, wave + 1);
            two.learn(wave * 3, 5);
        }
        one.merge(&two);
        assert_eq!([0, 1, 2, 3, 6, 18].map(|wave| one.get(wave)), [5, 0, 2, 5, 5, 10]);
        let kept = one.clone();
        one.learn(2, 7);
        assert_eq!((kept.get(2), one.get(2)), (2, 7));
    }
}
