//! The schedule of waves and groups. It decides which wave or group runs next, and how many instructions it
//! executes in this turn. The order is either fixed, or random with a seed.

use crate::random::Random;

/// Lengths of turns, for an order that is not random.
#[derive(Clone, Copy)]
struct Pace {
    /// Length of the first turns of a wave, in instructions. The length doubles with every second turn of the
    /// wave's group, until it reaches the next field, `last`.
    first: u64,
    last: u64,
    /// Number of turns that all waves together get within one turn of their group. If the group has more
    /// waves than this, each wave gets one turn. Each wave also gets only one turn as long as the length of
    /// its turns has not reached `last`.
    slices: u64,
    /// Number of running groups from which on new groups are started only rarely. A group is running if it
    /// has begun and not all its waves wait.
    running: usize,
}

/// Turns of fast mode. They are long, because the change to another group costs more than a few instructions.
const FAST: Pace = Pace { first: 10_000, last: 10_000, slices: 40, running: usize::MAX };
/// Turns of strict mode with a fixed order. They are short at first, so that the waves of different groups
/// interleave.
const STRICT: Pace = Pace { first: 128, last: 1_024, slices: 64, running: 4 };

/// Largest exponent of two for the maximum slice length that a seed can choose. As the exponent is random,
/// some seeds change between waves often, and others rarely.
const LONGEST: usize = 12;
/// Smallest exponent of two for the maximum slice length that a seed can choose.
const SHORTEST: usize = 3;
/// A seed chooses the number of running groups as a power of two. The exponent is below this limit.
const MOST_RUNNING: usize = 6;

/// The length of a group's turn.
#[derive(Clone, Copy)]
pub(crate) struct GroupSlice {
    /// Maximum number of instructions that a wave executes before the next wave runs. `None` means that this
    /// number is random.
    wave: Option<u64>,
    /// Maximum number of instructions of the group.
    pub(crate) group: u64,
}

/// Which group runs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A group that has not begun.
    New,
    /// A group that was still executing instructions when its last turn ended, given by its position among
    /// these groups.
    Running(usize),
    /// A group whose waves all wait, given by its position among these groups.
    Waiting(usize),
}

/// The groups from which the next one is chosen: whether a new group may be started, and how many groups are
/// running and how many are waiting.
#[derive(Clone, Copy)]
pub(crate) struct Choice {
    pub(crate) may_begin: bool,
    pub(crate) running: usize,
    pub(crate) waiting: usize,
}

/// The generator of the choices of a schedule.
#[derive(Clone)]
pub(crate) struct TimeSlices {
    pace: Pace,
    picks: u64,
    random: Option<Random>,
    /// Exponent of two of the maximum slice length, for a random schedule.
    longest: usize,
}

impl TimeSlices {
    pub(crate) fn fast() -> TimeSlices {
        TimeSlices { pace: FAST, picks: 0, random: None, longest: 0 }
    }

    /// Creates the generator of turns for strict mode. The order is fixed for seed 0, and random for all
    /// other seeds.
    pub(crate) fn strict(seed: u64) -> TimeSlices {
        let mut random = (seed != 0).then(|| Random::new(seed));
        let running = random.as_mut().map_or(STRICT.running, |random| 1 << random.below(MOST_RUNNING));
        let longest = random.as_mut().map_or(0, |random| SHORTEST + random.below(LONGEST - SHORTEST + 1));
        TimeSlices { pace: Pace { running, ..STRICT }, picks: 0, random, longest }
    }

    /// Returns the length of a group's next turn. `waves` is the number of the group's waves, and `had` the
    /// number of turns that the group has already had.
    pub(crate) fn share(&mut self, had: u64, waves: usize) -> GroupSlice {
        if let Some(random) = &mut self.random {
            return GroupSlice { wave: None, group: slice(random, self.longest) };
        }
        let Pace { first, last, slices, .. } = self.pace;
        let wave = first.checked_shl((had / 2) as u32).filter(|&wave| wave < last).unwrap_or(last);
        let slices = if wave < last { 0 } else { slices };
        GroupSlice { wave: Some(wave), group: wave * slices.max(waves as u64) }
    }

    /// Returns the maximum number of instructions that a wave executes in its next turn. This turn is a part
    /// of the turn `share` of its group.
    pub(crate) fn wave(&mut self, share: GroupSlice) -> u64 {
        match (share.wave, &mut self.random) {
            (None, Some(random)) => slice(random, self.longest),
            (wave, _) => wave.unwrap_or(self.pace.last),
        }
    }

    /// Returns the index of the wave that runs first in a turn of its group. In a fixed order, this is
    /// `next`.
    pub(crate) fn first_wave(&mut self, waves: usize, next: usize) -> usize {
        let chance = self.random.as_mut().map(|random| random.below(waves.max(1)));
        chance.unwrap_or(next % waves.max(1))
    }

    /// Returns the group that runs next.
    pub(crate) fn next(&mut self, choice: Choice) -> Option<Next> {
        match &mut self.random {
            Some(random) => by_chance(random, choice, self.pace.running),
            None => self.in_order(choice),
        }
    }

    /// Chooses the next group in a fixed order. The order repeats four choices: two running groups, one
    /// waiting group, and one new group. If there is no group of the wanted kind, chooses a group of another
    /// kind.
    fn in_order(&mut self, Choice { may_begin, running, waiting }: Choice) -> Option<Next> {
        let at = self.picks;
        self.picks += 1;
        let begins = may_begin.then_some(Next::New);
        let runs = (running > 0).then_some(Next::Running(0));
        let waits = (waiting > 0).then_some(Next::Waiting(0));
        let is_crowded = running >= self.pace.running && at % CROWDED != CROWDED - 1;
        match at % 4 {
            0 => runs.or(begins).or(waits),
            1 => waits.or(runs).or(begins),
            2 => runs.or(waits).or(begins),
            _ if is_crowded => runs,
            _ => begins.or(runs).or(waits),
        }
    }
}

/// While many groups are running, the scheduler starts a new group with a probability of one in this number
/// each time when it chooses what to run next.
const CROWDED: u64 = 64;

/// Returns a random slice length of at most two to the power of `longest`. Lengths of each order of magnitude
/// are about equally likely.
fn slice(random: &mut Random, longest: usize) -> u64 {
    let longest = 1 << random.below(longest + 1);
    1 + random.below(longest) as u64
}

fn by_chance(random: &mut Random, choice: Choice, most_running: usize) -> Option<Next> {
    let Choice { may_begin, running, waiting } = choice;
    let begins = may_begin && (running < most_running || random.one_in(CROWDED as usize));
    let present = [running > 0, begins, waiting > 0];
    let count = present.iter().filter(|&&present| present).count();
    if count == 0 {
        return None;
    }
    let chosen = random.below(count);
    let kind = (0..3).filter(|&kind| present[kind]).nth(chosen)?;
    Some(match kind {
        0 => Next::Running(random.below(running)),
        1 => Next::New,
        _ => Next::Waiting(random.below(waiting)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many(turns: &mut TimeSlices, choice: Choice) -> [usize; 3] {
        let mut counts = [0; 3];
        for _ in 0..400 {
            match turns.next(choice) {
                Some(Next::New) => counts[0] += 1,
                Some(Next::Running(_)) => counts[1] += 1,
                Some(Next::Waiting(_)) => counts[2] += 1,
                None => {}
            }
        }
        counts
    }

    #[test]
    fn everybody_has_turns() {
        let all = Choice { may_begin: true, running: 2, waiting: 3 };
        assert_eq!(many(&mut TimeSlices::fast(), all), [100, 200, 100]);
        assert_eq!(many(&mut TimeSlices::fast(), Choice { running: 0, ..all }), [200, 0, 200]);
        assert_eq!(many(&mut TimeSlices::fast(), Choice { waiting: 0, ..all }), [100, 300, 0]);
        assert_eq!(many(&mut TimeSlices::strict(0), Choice { running: 4, ..all }), [6, 294, 100]);
        assert!(many(&mut TimeSlices::strict(7), all).iter().all(|&count| count > 90));
        assert_eq!(TimeSlices::strict(0).next(Choice { may_begin: false, running: 0, waiting: 0 }), None);
    }

    #[test]
    fn turns_in_order_grow() {
        let mut turns = TimeSlices::strict(0);
        let share = [0, 1, 2, 5, 6, 1000].map(|had| {
            let share = turns.share(had, 4);
            (turns.wave(share), share.group)
        });
        assert_eq!(share, [(128, 512), (128, 512), (256, 1024), (512, 2048), (1024, 65536), (1024, 65536)]);
        assert_eq!(TimeSlices::fast().share(0, 1).group, 400_000);
    }

    #[test]
    fn slices_of_a_seed_are_repeated() {
        let slices = |seed| {
            let mut turns = TimeSlices::strict(seed);
            let one = |_| {
                let share = turns.share(0, 4);
                (turns.wave(share), share.group)
            };
            (0..100).map(one).collect::<Vec<_>>()
        };
        assert_eq!(slices(3), slices(3));
        assert!(slices(3) != slices(4));
        let longest = |seed| slices(seed).into_iter().map(|(wave, group)| wave.max(group)).max();
        let longest: Vec<u64> = (1..50).filter_map(longest).collect();
        assert!(longest.iter().all(|slice| (2..=4096).contains(slice)));
        assert!(longest.iter().any(|&slice| slice <= 8) && longest.iter().any(|&slice| slice > 2000));
    }
}
