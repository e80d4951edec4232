//! Vector clocks, which hold what one wave knows about the operations of other waves. For each other wave, a
//! clock has an operation number: the operations of that wave up to this number are known to be complete.

/// The ways in which an operation can be known to be complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Way {
    /// LDS operations are complete for waves of the same group.
    Lds,
    /// Memory operations, as seen by waves that use the same first-level cache. These waves may rely on an
    /// operation as soon as it was issued.
    Near,
    /// Memory operations are complete as seen from all waves.
    Far,
    /// Memory operations of scalar instructions are complete.
    Scalar,
}

/// One operation number for each [`Way`]: the operations of a wave up to this number are known to be complete
/// in this way.
pub(super) type Marks = [u32; 4];

/// What is known about other waves: a list that is sorted by wave. For each wave in the list, there is one
/// operation number for each [`Way`]. The operations of the wave up to this number are known to be complete
/// in this way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Knowledge(Vec<(u32, Marks)>);

impl Knowledge {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of the last operation of a wave that is known to be complete in the given way.
    pub(super) fn get(&self, wave: u32, way: Way) -> u32 {
        let found = self.0.binary_search_by_key(&wave, |entry| entry.0);
        found.map_or(0, |at| self.0[at].1[way as usize])
    }

    pub(super) fn learn(&mut self, wave: u32, marks: Marks) {
        match self.0.binary_search_by_key(&wave, |entry| entry.0) {
            Ok(at) => raise(&mut self.0[at].1, marks),
            Err(at) => self.0.insert(at, (wave, marks)),
        }
    }

    /// Adds the knowledge of another clock to this clock. Returns whether this has changed the clock.
    pub(super) fn merge(&mut self, other: &Knowledge) -> bool {
        let mut out = Vec::with_capacity(self.0.len().max(other.0.len()));
        let (mut mine, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            match (mine.peek(), theirs.peek()) {
                (Some(left), Some(right)) if left.0 == right.0 => {
                    let mut entry = **left;
                    raise(&mut entry.1, right.1);
                    out.push(entry);
                    mine.next();
                    theirs.next();
                }
                (Some(left), right) if right.is_none_or(|right| left.0 < right.0) => {
                    out.push(**left);
                    mine.next();
                }
                (_, Some(right)) => {
                    out.push(**right);
                    theirs.next();
                }
                (_, None) => break,
            }
        }
        let changed = out != self.0;
        self.0 = out;
        changed
    }
}

fn raise(marks: &mut Marks, others: Marks) {
    marks.iter_mut().zip(others).for_each(|(mark, other)| *mark = (*mark).max(other));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_takes_the_later() {
        let (mut one, mut two) = (Knowledge::default(), Knowledge::default());
        one.learn(1, [1, 2, 3, 4]);
        one.learn(5, [9; 4]);
        two.learn(1, [4, 3, 2, 1]);
        two.learn(3, [7; 4]);
        assert!(one.merge(&two) && !one.merge(&two));
        assert_eq!([1, 3, 5].map(|wave| one.get(wave, Way::Near)), [3, 7, 9]);
        assert_eq!((one.get(1, Way::Lds), one.get(1, Way::Scalar), one.get(2, Way::Far)), (4, 4, 0));
    }
}
