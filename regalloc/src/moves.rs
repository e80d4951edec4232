//! The order in which an edge moves values between spill slots.
//!
//! An edge is a parallel copy. Reloading everything before storing anything would need a register for each value; moved
//! one after the other they need one or two, whatever the number. A slot is written when nobody reads its old value
//! any more, and a cycle is opened by keeping one old value in a register.

use isa::VReg;

const NONE: u32 = u32::MAX;

/// Where a value that goes to a slot comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// A register.
    Reg(VReg),
    /// Another slot.
    Slot(u32),
}

/// A value that goes to a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    /// The slot, which no other move writes.
    pub to: u32,
    /// What it gets.
    pub from: From,
}

/// A step of the sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Do move number `n`.
    Do(usize),
    /// Reload the source of move number `n` into a register, and have its source be that register.
    Save(usize),
}

/// The order of moves; `slots` is more than any slot's number. Linear in both.
pub(crate) fn order(moves: &[Move], slots: u32) -> Vec<Step> {
    let mut readers = vec![0u32; slots as usize];
    let mut writer = vec![NONE; slots as usize];
    for (n, step) in moves.iter().enumerate() {
        writer[step.to as usize] = n as u32;
        if let From::Slot(slot) = step.from {
            readers[slot as usize] += 1;
        }
    }
    let mut steps = Vec::with_capacity(moves.len());
    let mut ready: Vec<usize> =
        (0..moves.len()).rev().filter(|&n| readers[moves[n].to as usize] == 0).collect();
    let mut done = vec![false; moves.len()];
    let mut first = 0;
    loop {
        while let Some(n) = ready.pop() {
            steps.push(Step::Do(n));
            done[n] = true;
            release(moves[n].from, &mut readers, &writer, &done, &mut ready);
        }
        // What is left are cycles.
        while done.get(first) == Some(&true) {
            first += 1;
        }
        if first == moves.len() {
            return steps;
        }
        // This slot's old value is saved, so that its writer may go on: the saved move comes last of its cycle.
        let Some(reader) = (first..moves.len()).find(|&n| !done[n] && matches!(moves[n].from, From::Slot(_)))
        else {
            return steps;
        };
        steps.push(Step::Save(reader));
        release(moves[reader].from, &mut readers, &writer, &done, &mut ready);
    }
}

/// One reader of the source less: with the last one, the move that writes it can be done.
fn release(from: From, readers: &mut [u32], writer: &[u32], done: &[bool], ready: &mut Vec<usize>) {
    let From::Slot(slot) = from else { return };
    let left = &mut readers[slot as usize];
    *left = left.saturating_sub(1);
    let writer = writer[slot as usize];
    if *left == 0 && writer != NONE && !done[writer as usize] {
        ready.push(writer as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::{From, Move, Step, order};

    /// Executes the steps on slots that hold their own numbers.
    fn run(pairs: &[(u32, u32)], slots: u32) -> (Vec<u32>, usize) {
        let moves: Vec<Move> = pairs.iter().map(|&(to, from)| Move { to, from: From::Slot(from) }).collect();
        let mut held: Vec<u32> = (0..slots).collect();
        let mut saved = vec![None; moves.len()];
        let mut saves = 0;
        for step in order(&moves, slots) {
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
