//! Which lanes of a wave execute the source line of the wave's current instruction.
//!
//! # Idea
//! EXEC alone does not say which lanes execute a line. Compilers make lanes active again at the start of the
//! code for which the lanes have waited, or at the end of the code that they have skipped. The instruction
//! that does so may therefore belong to either line. For this reason the lanes are determined for each *run*,
//! which is contiguous code of one line.
//!
//! A lane takes part in a run in three cases. The lane is active when the wave enters the run. Or it becomes
//! active before any instruction of the run does work for a lane. Or an instruction of the run does work for
//! it. A lane that is active only while branches or masks are computed does not take part. In code that only
//! chooses which lanes are active, no lane takes part.
//!
//! In code that makes all lanes active only to save or load registers (whole wave mode), the lanes that were
//! active before take part.

use crate::instruction::Instruction;

/// The lanes that execute the current line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Presence {
    /// `entry` is the address at which the wave entered the current run. `run` has the start and end address
    /// of the run, which is contiguous code of one source line.
    entry: u64,
    run: (u64, u64),
    depth: usize,
    /// Ordinal (number in the order of execution) of the instruction with which the wave entered the run,
    /// which is contiguous code of one source line.
    pub entered: u64,
    /// Active lanes.
    pub active: u64,
    /// Lanes that have taken part in the run.
    own: u64,
    /// Lanes that take part from the current instruction on.
    pub new: u64,
    /// Whether the wave is at the beginning of a run (contiguous code of one source line): it has entered the
    /// run at its first instruction, and no instruction of the run has done work for a lane yet.
    is_head: bool,
    /// The lanes that were active before whole wave mode began. `None` if the wave is not in whole wave mode.
    before: Option<u64>,
    /// `works` and `is_whole` of the last [`Instruction`].
    works: bool,
    is_whole: bool,
}

impl Presence {
    /// Updates the state for the instruction that the wave is about to execute. `depth` is the depth of the
    /// call stack, `ordinal` the number of the instruction in the order of execution.
    pub(crate) fn advance(
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

    /// Returns the active lanes that take part in the run.
    pub(crate) fn participating_lanes(&self) -> u64 {
        self.active & self.own
    }

    /// Returns the mask of the lanes that arrive at a breakpoint with the instruction at `address`. `places`
    /// are the addresses of the breakpoint. There are two cases. If the instruction is at one of these
    /// addresses, all lanes that execute the current source line arrive. If the wave has passed one of the
    /// addresses before in the code of this line, further lanes may arrive later: those that begin to execute
    /// the line with this instruction.
    pub(crate) fn arriving(&self, places: &[u64], address: u64) -> u64 {
        if places.contains(&address) {
            return self.participating_lanes();
        }
        let is_past = self.new != 0 && places.iter().any(|place| (self.entry..address).contains(place));
        if is_past { self.new } else { 0 }
    }

    /// Returns the lanes for which the source line begins with this instruction. If a statement begins there
    /// (`begins`), these are all lanes that execute the line. Otherwise these are the lanes that begin to
    /// execute the line with this instruction.
    pub(crate) fn beginning(&self, begins: bool, address: u64) -> u64 {
        match (begins, self.entry == self.run.0 && address != self.entry) {
            (true, _) => self.participating_lanes(),
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

    /// What an instruction does: nothing for lanes, work for lanes, or the start of whole wave mode.
    #[derive(Clone, Copy, PartialEq)]
    enum Does {
        Masks,
        Work,
        Whole,
    }

    /// Returns the lanes that begin the line at each instruction of a run from 0 to 100. An instruction is
    /// given by its address, EXEC and what it does.
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
            presence.advance(&instruction, (address, exec), 0, ordinal);
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
        // The lanes that become active begin the line where an instruction does work for them.
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
        presence.advance(&instruction(false), (0, 1), 0, 1);
        assert_eq!(presence.arriving(&[0], 0), 1);
        presence.advance(&instruction(true), (4, 3), 0, 2);
        assert_eq!(
            [presence.arriving(&[0], 4), presence.arriving(&[8], 4), presence.arriving(&[4], 4)],
            [2, 0, 3]
        );
    }
}
