//! Orders the moves between spill slots that an edge of the control-flow graph requires.
//!
//! The moves of an edge are a parallel copy: all of them read the old values. If all values were loaded
//! before any value is stored, each value would need a register. If they are moved one after the other, one
//! or two registers are enough for any number of values. A move may write its slot only when no pending move
//! reads the slot's old value. A cycle is broken by keeping one old value in a register.

use isa::VReg;

const NONE: u32 = u32::MAX;

/// Source of a value that moves to a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// A register.
    Reg(VReg),
    /// Another slot.
    Slot(u32),
    /// The value of this register is not kept anywhere, but is rematerialised.
    Made(VReg),
}

/// A value that moves to a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    /// Destination slot, which no other move writes.
    pub to: u32,
    /// Source of the value.
    pub from: From,
}

/// A step of the sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Does move number `n`.
    Do(usize),
    /// Loads the source of move number `n` into a register. The register then is the source of this move.
    Save(usize),
}

/// Scratch memory for ordering moves.
#[derive(Default)]
pub(crate) struct Order {
    /// For each slot: the number of pending moves that read it, and the move that writes it. Both tables are
    /// cleared after each call.
    readers: Vec<u32>,
    writer: Vec<u32>,
    ready: Vec<usize>,
    done: Vec<bool>,
    /// The resulting sequence.
    pub steps: Vec<Step>,
}

impl Order {
    /// Orders the moves and stores the order in `steps`. All slot numbers must be less than `slots`. Takes
    /// linear time.
    pub fn find(&mut self, moves: &[Move], slots: u32) {
        self.steps.clear();
        self.done.clear();
        self.done.resize(moves.len(), false);
        self.readers.resize(slots as usize, 0);
        self.writer.resize(slots as usize, NONE);
        for (n, step) in moves.iter().enumerate() {
            self.writer[step.to as usize] = n as u32;
            if let From::Slot(slot) = step.from {
                self.readers[slot as usize] += 1;
            }
        }
        let readers = &self.readers;
        self.ready.extend((0..moves.len()).rev().filter(|&n| readers[moves[n].to as usize] == 0));
        self.order(moves);
        for step in moves {
            self.writer[step.to as usize] = NONE;
            if let From::Slot(slot) = step.from {
                self.readers[slot as usize] = 0;
            }
        }
    }

    fn order(&mut self, moves: &[Move]) {
        let mut first = 0;
        loop {
            while let Some(n) = self.ready.pop() {
                self.steps.push(Step::Do(n));
                self.done[n] = true;
                self.release(moves[n].from);
            }
            // Only cycles remain here. To break a cycle, the old value of one slot is saved in a register.
            // The move that writes this slot can then be done. The move that needs the saved value comes last
            // in its cycle.
            while self.done.get(first) == Some(&true) {
                first += 1;
            }
            if first == moves.len() {
                return;
            }
            self.steps.push(Step::Save(first));
            self.release(moves[first].from);
            if self.ready.is_empty() {
                return;
            }
        }
    }

    /// Notes that one of the moves that read a slot is done. When all moves that read the slot are done, the
    /// move that writes it becomes ready.
    fn release(&mut self, from: From) {
        let From::Slot(slot) = from else { return };
        let left = &mut self.readers[slot as usize];
        *left = left.saturating_sub(1);
        let writer = self.writer[slot as usize];
        if *left == 0 && writer != NONE && !self.done[writer as usize] {
            self.ready.push(writer as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{From, Move, Order, Step};

    /// Executes the steps on slots that initially hold their own numbers.
    fn run(pairs: &[(u32, u32)], slots: u32) -> (Vec<u32>, usize) {
        let moves: Vec<Move> = pairs.iter().map(|&(to, from)| Move { to, from: From::Slot(from) }).collect();
        let mut held: Vec<u32> = (0..slots).collect();
        let mut saved = vec![None; moves.len()];
        let mut saves = 0;
        let mut order = Order::default();
        order.find(&moves, slots);
        for &step in &order.steps {
            match step {
                Step::Save(n) => {
                    saves += 1;
                    saved[n] = Some(held[pairs[n].1 as usize]);
                }
                Step::Do(n) => held[pairs[n].0 as usize] = saved[n].unwrap_or(held[pairs[n].1 as usize]),
            }
        }
        (held, saves)
    }

    #[test]
    fn chains_need_no_register_and_cycles_one() {
        assert_eq!(run(&[(0, 1), (1, 2), (2, 3)], 4), (vec![1, 2, 3, 3], 0));
        assert_eq!(run(&[(2, 1), (1, 0), (3, 2)], 4), (vec![0, 0, 1, 2], 0));
        assert_eq!(run(&[(0, 1), (1, 2), (2, 0)], 3), (vec![1, 2, 0], 1));
        assert_eq!(run(&[(0, 1), (1, 0), (2, 3), (3, 2), (4, 0)], 5), (vec![1, 0, 3, 2, 0], 2));
    }

    #[test]
    fn all_permutations_of_five() {
        for code in 0..5u32.pow(5) {
            let from: Vec<u32> = (0..5).map(|n| code / 5u32.pow(n) % 5).collect();
            let pairs: Vec<(u32, u32)> =
                (0..5).zip(from.iter().copied()).filter(|(to, from)| to != from).collect();
            assert_eq!(run(&pairs, 5).0, from, "{from:?}");
        }
    }
}
