//! Finds the line of a part of a function in a text.

use super::cursor::Cursor;
use super::operand::entity;
use super::parse::{BEGIN, EDGES, PARTS};
use isa::MBlock;

/// Part of a function whose line can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The function.
    Function,
    /// A block.
    Block(MBlock),
    /// An instruction, given by its index in the block.
    Inst(MBlock, usize),
}

/// Returns the line, counted from 1, on which a part of function number `function` stands.
/// [`read_functions`](super::read_functions) must accept the text.
pub fn line_of(text: &str, function: usize, part: Part) -> Option<u32> {
    let begins = |&(_, line): &(u32, &str)| line.starts_with(BEGIN);
    let mut lines = (1..).zip(text.lines()).skip_while(|line| !begins(line));
    let mut number = lines.next()?.0;
    for _ in 0..function {
        number = lines.find(begins)?.0;
    }
    let (block, inst) = match part {
        Part::Function => return Some(number),
        Part::Block(block) => (block, None),
        Part::Inst(block, inst) => (block, Some(inst)),
    };
    let word = |line| Cursor::new(0, line).peek_word();
    let (head, _) = lines.find(|&(_, line)| entity(word(line), "bb") == Some(block.as_u32()))?;
    let Some(inst) = inst else { return Some(head) };
    let is_inst =
        |line| !Cursor::new(0, line).at_end() && !PARTS.contains(&word(line)) && !EDGES.contains(&word(line));
    lines.filter(|&(_, line)| is_inst(line)).nth(inst).map(|(number, _)| number)
}
