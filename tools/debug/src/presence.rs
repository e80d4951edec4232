//! Which lanes of a wave run the line that the wave is in.
//!
//! # Idea
//! EXEC alone does not say it. Compilers make lanes active again with an instruction of whatever line stands there: in front of the code that
//! the lanes have waited for, or behind the code that they have not run. So code of one line, without another line in between, is a *run*. A
//! lane takes part in a run if it is active where the wave comes into the run; or it becomes active before anything is done for any lane; or
//! something is done for it there. A lane that is active only while branches or masks are computed takes no part, and code that only chooses which lanes are active is no lane's.
//!
//! Where all lanes are active only so that registers are saved or loaded (whole wave mode), those count which were before.

use crate::instruction::Instruction;

/// The lanes that run a line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Presence {
    /// Where the wave has come into the run, and the end of the run.
    entry: u64,
    run: (u64, u64),
    depth: usize,
    /// The number of the instruction there.
    pub entered: u64,
    /// Lanes that are active.
    pub active: u64,
    /// Lanes that have taken part in the run.
    own: u64,
    /// Those of them that take part from this instruction on.
    pub new: u64,
    /// Nothing has been done for any lane yet in the run, which the wave has come into at its beginning.
    is_head: bool,
    /// Where EXEC is set for registers of all lanes: the lanes that were active before.
    before: Option<u64>,
    /// What the last instruction was, as [`Instruction`] has it.
    works: bool,
    is_whole: bool,
}

impl Presence {
    /// The wave is about to execute an instruction: at an address, with EXEC, so many calls under way.
    pub(crate) fn comes_to(
        &mut self,
        instruction: &Instruction,
        (address, exec): (u64, u64),
        depth: usize,
        ordinal: u64,
    ) {
        let has_worked = std::mem::replace(&mut self.works, instruction.works) && self.active != 0;
        if std::mem::replace(&mut self.is_whole, instruction.is_whole) && self.before.is_none() {
            self.before = Some(self.active);
        }
        self.before = self.before.filter(|&before| before != exec);
        self.active = self.before.unwrap_or(exec);
        let begins = address == instruction.run.0;
        if begins || self.run != instruction.run || self.depth != depth {
            (self.run, self.depth, self.entry, self.entered) = (instruction.run, depth, address, ordinal);
            let lanes = if instruction.chooses { 0 } else { self.active };
            (self.own, self.new, self.is_head) = (lanes, lanes, begins && !instruction.chooses);
            return;
        }
        self.is_head &= !has_worked;
        let joins = self.is_head || instruction.works;
        self.new = if joins { self.active & !self.own } else { 0 };
        self.own |= self.new;
    }

    /// Lanes that are active and take part in the run.
    pub(crate) fn here(&self) -> u64 {
        self.active & self.own
    }

    /// Lanes that come to one of these places with the instruction at an address: it is one, or they take part from here on in a run of which
    /// the wave has come past one.
    pub(crate) fn arriving(&self, places: &[u64], address: u64) -> u64 {
        if places.contains(&address) {
            return self.here();
        }
        let is_past = self.new != 0 && places.iter().any(|place| (self.entry..address).contains(place));
        if is_past { self.new } else { 0 }
    }

    /// Lanes that begin the line with this instruction: a statement begins, or they take part only from here on.
    pub(crate) fn beginning(&self, begins: bool, address: u64) -> u64 {
        match (begins, self.entry == self.run.0 && address != self.entry) {
            (true, _) => self.here(),
            (false, true) => self.new,
            (false, false) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instruction::Kind;
    use crate::program::Line;

    /// What an instruction does: nothing for lanes, something for them, or it is the beginning of whole wave mode.
    #[derive(Clone, Copy, PartialEq)]
    enum Does {
        Masks,
        Work,
        Whole,
    }

    /// Lanes that begin the line at each instruction of a run from 0 to 100, by address, EXEC and what it does.
    fn beginning(instructions: &[(u64, u64, Does)]) -> Vec<u64> {
        let mut presence = Presence::default();
        let mut ordinal = 0;
        let begins = instructions.iter().map(|&(address, exec, does)| {
            let instruction = Instruction {
                kind: Kind::Other,
                line: Some(Line { file: 0, line: 1 }),
                inlined: 0,
                begins: address == 0,
                chooses: false,
                is_prologue: false,
                run: (0, 100),
                works: does == Does::Work,
                is_whole: does == Does::Whole,
            };
            ordinal += 1;
            presence.comes_to(&instruction, (address, exec), 0, ordinal);
            presence.beginning(instruction.begins, address)
        });
        begins.collect()
    }

    use Does::{Masks, Whole, Work};

    #[test]
    fn lanes_that_join_in_front_of_the_line_begin_it() {
        // The line begins with the instruction that makes lanes active again.
        assert_eq!(beginning(&[(0, 1, Masks), (4, 3, Work), (8, 3, Work)]), [1, 2, 0]);
        assert_eq!(beginning(&[(0, 0, Masks), (4, 3, Masks), (8, 3, Work)]), [0, 3, 0]);
    }

    #[test]
    fn lanes_that_join_behind_the_line_do_not() {
        assert_eq!(beginning(&[(0, 1, Work), (4, 1, Masks), (8, 3, Masks)]), [1, 0, 0]);
        // They do where something is done for them.
        assert_eq!(beginning(&[(0, 1, Work), (4, 1, Masks), (8, 3, Work)]), [1, 0, 2]);
    }

    #[test]
    fn a_jump_into_the_midst_of_a_line_begins_nothing() {
        assert_eq!(beginning(&[(8, 1, Masks), (12, 3, Work), (0, 3, Work)]), [0, 0, 3]);
    }

    #[test]
    fn saving_registers_of_all_lanes_makes_none_of_them_active() {
        let saves = [(0, 1, Whole), (4, 0xf, Work), (8, 0xf, Masks), (12, 1, Work), (16, 3, Work)];
        assert_eq!(beginning(&saves), [1, 0, 0, 0, 2]);
    }

    #[test]
    fn lanes_arrive_at_what_the_wave_has_come_past() {
        let mut presence = Presence::default();
        let instruction = |works| Instruction {
            kind: Kind::Other,
            line: None,
            inlined: 0,
            begins: false,
            chooses: false,
            is_prologue: false,
            run: (0, 100),
            works,
            is_whole: false,
        };
        presence.comes_to(&instruction(false), (0, 1), 0, 1);
        assert_eq!(presence.arriving(&[0], 0), 1);
        presence.comes_to(&instruction(true), (4, 3), 0, 2);
        assert_eq!(
            [presence.arriving(&[0], 4), presence.arriving(&[8], 4), presence.arriving(&[4], 4)],
            [2, 0, 3]
        );
    }
}
