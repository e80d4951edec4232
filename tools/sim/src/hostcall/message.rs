//! Messages from a kernel to the host. A message is a sequence of words, which a lane sends in several calls
//! of at most seven words each. The host processes a message when its last word has arrived.
//!
//! The first word of each call describes the call: bit 0 says that a message begins, bit 1 that it ends, bits
//! 5 to 7 hold the number of words, and the bits from 8 on hold the number of the message. The answer to the
//! first call tells the lane this number. A message of `printf` contains a word for the output (0 is standard
//! output, 1 is standard error), the format, and the arguments. A number is one word. A string, such as the
//! format, is its bytes with the terminating zero, padded to whole words.

use super::LANE_WORDS;
use crate::conversion::{self, Argument, Arguments, Spec, signed};

const BEGIN: u64 = 1;
const END: u64 = 2;
const RESERVED: u64 = 0x1c;
const COUNT_SHIFT: u32 = 5;
const NUMBER_SHIFT: u32 = 8;
/// Maximum number of words of a message. A longer message is an error in the kernel.
const MAX_WORDS: usize = 1 << 17;
/// Maximum number of messages that have begun and not ended.
const MAX_OPEN: usize = 1 << 16;

/// The messages that have begun but are not complete, by their numbers, and the text that complete messages
/// have printed.
#[derive(Default)]
pub(super) struct Messages {
    open: Vec<Option<Vec<u64>>>,
    free: Vec<usize>,
    text: Vec<u8>,
}

impl Messages {
    pub(super) fn take_text(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.text)
    }

    /// Receives the words of a call. If the message is now complete, returns the return value of `printf`.
    /// Otherwise returns the description word with which the lane begins its next call.
    pub(super) fn receive(&mut self, call: &[u64; LANE_WORDS]) -> Result<u64, &'static str> {
        let mut description = call[0];
        if description & RESERVED != 0 {
            return Err("printf: reserved bits of a message's description are set");
        }
        if description & BEGIN != 0 {
            let number = self.begin().ok_or("printf: too many messages begin and do not end")?;
            description = description & !BEGIN & ((1 << NUMBER_SHIFT) - 1) | (number as u64) << NUMBER_SHIFT;
        }
        let number = usize::try_from(description >> NUMBER_SHIFT).unwrap_or(usize::MAX);
        let message = self.open.get_mut(number).and_then(Option::as_mut);
        let message = message.ok_or("printf: a call goes on with a message that has not begun")?;
        // The count has three bits, so it is at most seven.
        let count = (description >> COUNT_SHIFT & 7) as usize;
        message.extend_from_slice(&call[1..=count]);
        if message.len() > MAX_WORDS {
            return Err("printf: a message of more than a megabyte");
        }
        if description & END == 0 {
            return Ok(description);
        }
        let message = self.open[number].take().unwrap_or_default();
        self.free.push(number);
        Ok(self.print(&message))
    }

    fn begin(&mut self) -> Option<usize> {
        let number = self.free.pop().unwrap_or(self.open.len());
        if number == self.open.len() {
            if number == MAX_OPEN {
                return None;
            }
            self.open.push(None);
        }
        self.open[number] = Some(Vec::new());
        Some(number)
    }

    /// Prints a complete message of `printf`. Returns the number of characters, or -1 if the message is
    /// malformed.
    fn print(&mut self, message: &[u64]) -> u64 {
        let before = self.text.len();
        match render(message, &mut self.text) {
            true => (self.text.len() - before) as u64,
            false => u64::MAX,
        }
    }
}

/// Appends the text of a complete message of `printf` to `out`. Returns whether the message is well-formed.
fn render(message: &[u64], out: &mut Vec<u8>) -> bool {
    // The first word says whether the text goes to standard output or to standard error. The emulator merges
    // both, because the text of a kernel is a single stream here.
    let Some((0 | 1, rest)) = message.split_first() else { return false };
    let bytes: Vec<u8> = rest.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut words = Words { rest: &bytes };
    let format = words.text();
    conversion::render(&format, &mut words, out);
    true
}

/// Returns the text of a `printf` message that a kernel has sent to its host. `message` has the words of the
/// whole message: the output (standard output or error), the format, and the arguments.
pub fn message_text(message: &[u64]) -> String {
    let mut out = Vec::new();
    render(message, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// The arguments of a `printf` message, as words.
struct Words<'a> {
    rest: &'a [u8],
}

impl<'a> Words<'a> {
    fn text(&mut self) -> Vec<u8> {
        let text: Vec<u8> = self.rest.iter().copied().take_while(|byte| *byte != 0).collect();
        let words = (text.len() + 1).next_multiple_of(8).min(self.rest.len());
        self.rest = &self.rest[words..];
        text
    }

    fn word(&mut self) -> Option<&'a [u8]> {
        let (word, rest) = self.rest.split_at_checked(8)?;
        self.rest = rest;
        Some(word)
    }
}

impl<'a> Arguments<'a> for Words<'a> {
    fn count(&mut self) -> Option<i64> {
        self.word().map(|word| signed(&word[..4]))
    }

    fn argument(&mut self, spec: &Spec) -> Option<Argument<'a>> {
        if spec.letter == b's' && !self.rest.is_empty() {
            return Some(Argument::Text(self.text()));
        }
        let word = self.word()?;
        // An integer has type `int` unless the format has a length modifier.
        let bytes = if spec.is_integer() { spec.bytes.unwrap_or(4) } else { 8 };
        Some(Argument::Number(&word[..bytes]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(messages: &mut Messages, description: u64, words: &[u64]) -> Result<u64, &'static str> {
        let mut call = [0; LANE_WORDS];
        call[0] = description | (words.len() as u64) << COUNT_SHIFT;
        call[1..=words.len()].copy_from_slice(words);
        messages.receive(&call)
    }

    #[test]
    fn messages_are_put_together() {
        let mut messages = Messages::default();
        let text = |text: &[u8; 8]| u64::from_le_bytes(*text);
        let next = send(&mut messages, BEGIN, &[0]).unwrap() & !0xff;
        let other = send(&mut messages, BEGIN, &[0]).unwrap() & !0xff;
        assert_ne!(next, other);
        send(&mut messages, next, &[text(b"%d %s %c"), text(b"%%%5.1f\n"), 0]).unwrap();
        let words = [-7i64 as u64 & 0xffff_ffff, text(b"eight ch"), 0, 65, 2.25f64.to_bits()];
        assert_eq!(send(&mut messages, next | END, &words), Ok(20));
        assert_eq!(messages.take_text(), b"-7 eight ch A%  2.2\n");
        // The message has been removed, and the other message is unchanged.
        assert!(send(&mut messages, next, &[1]).is_err());
        assert_eq!(send(&mut messages, other | END, &[text(b"x\0\0\0\0\0\0\0")]), Ok(1));
        assert_eq!(messages.take_text(), b"x");
    }

    #[test]
    fn damaged_messages_end() {
        let mut messages = Messages::default();
        assert!(send(&mut messages, END, &[0]).is_err());
        assert!(send(&mut messages, BEGIN | 4, &[0]).is_err());
        assert_eq!(send(&mut messages, BEGIN | END, &[]), Ok(u64::MAX));
        assert_eq!(send(&mut messages, BEGIN | END, &[2]), Ok(u64::MAX));
        let cut = u64::from_le_bytes(*b"%s%s%*.*");
        assert!(send(&mut messages, BEGIN | END, &[0, cut]).is_ok());
        assert!(!messages.take_text().is_empty());
    }
}
