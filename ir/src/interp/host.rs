//! Plays the host in calls of the host (`Pos::HostcallBuffer`), that is, requests that a wave writes to a
//! buffer: collects the messages that a program prints.
//!
//! The buffer has the format of ROCm's device library. Only the service that prints messages (service 2) is
//! implemented here; the emulator implements all services (`tools/sim/src/hostcall.rs`). The host examines
//! the buffer when a wave sleeps.

use super::memory::Memory;

/// Number of packets in the buffer. A wave that finds no free packet waits.
const PACKETS: u64 = 4;
/// Offset of the packet headers, which come after the six words of the buffer's own header. The next
/// constants describe the rest of the layout: words of a packet header, words of a lane in a packet, words of
/// a whole packet (64 lanes), and the offset of the packets.
const HEADERS: u64 = 64;
const HEADER_WORDS: u64 = 3;
const LANE_WORDS: u64 = 8;
const PAYLOAD_WORDS: u64 = 64 * LANE_WORDS;
const PAYLOADS: u64 = HEADERS + 8 * HEADER_WORDS * PACKETS;
/// Offset of the signal with which a wave notifies the host. The signal has no event mailbox, so no event
/// needs to be raised.
const SIGNAL: u64 = PAYLOADS + 8 * PAYLOAD_WORDS * PACKETS;
const SIGNAL_BYTES: u64 = 64;
/// Offset of the word in the buffer that holds the top of the list of waiting packets.
const READY: u64 = 32;
/// `PRINTF` is the number of the service that prints messages. `WAITS` is a flag in the last word of a packet
/// header. It says that a wave waits for the answer to the packet.
const PRINTF: u64 = 2;
const WAITS: u64 = 1 << 32;
/// Fields of the first word of a message part: flags for the first and the last part, the position of the
/// number of words, and the position of the message number.
const BEGIN: u64 = 1;
const END: u64 = 2;
const COUNT_SHIFT: u64 = 5;
const NUMBER_SHIFT: u64 = 8;

/// Creates an empty buffer and returns its address.
pub(super) fn create_buffer(memory: &mut Memory) -> u64 {
    let at = memory.alloc((SIGNAL + SIGNAL_BYTES) as usize);
    // At first all packets are free, and the last packet is on top of the list of free packets. Packet 0 is
    // represented with a tag in its high bits, because 0 means the end of the list.
    let words = [at + HEADERS, at + PAYLOADS, at + SIGNAL, PACKETS - 1, 0, PACKETS - 1];
    (0..).zip(words).for_each(|(n, word)| put(memory, at + 8 * n, word));
    for number in 1..PACKETS {
        let next = if number == 1 { PACKETS } else { number - 1 };
        put(memory, at + HEADERS + 8 * HEADER_WORDS * number, next);
    }
    at
}

fn word(memory: &Memory, address: u64) -> u64 {
    let bytes = memory.bytes(address, 8).and_then(|bytes| bytes.first_chunk());
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn put(memory: &mut Memory, address: u64, word: u64) {
    if let Some(bytes) = memory.bytes_mut(address, 8) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
}

/// State of the host.
#[derive(Clone, Debug, Default)]
pub(super) struct Host {
    /// Messages of which only a part has been received, indexed by message number.
    open: Vec<Vec<u64>>,
    ended: Vec<Vec<u64>>,
}

impl Host {
    pub(super) fn take_messages(&mut self) -> Vec<Vec<u64>> {
        std::mem::take(&mut self.ended)
    }

    /// Answers all packets in a buffer that wait for an answer. Address 0 means that there is no buffer.
    pub(super) fn serve(&mut self, memory: &mut Memory, buffer: u64) {
        let mut top = word(memory, buffer + READY);
        put(memory, buffer + READY, 0);
        while top != 0 {
            let number = top & (PACKETS - 1);
            let header = buffer + HEADERS + 8 * HEADER_WORDS * number;
            top = word(memory, header);
            let (active, kind) = (word(memory, header + 8), word(memory, header + 16));
            for lane in (0..64).filter(|lane| active >> lane & 1 != 0) {
                let place = buffer + PAYLOADS + 8 * (PAYLOAD_WORDS * number + LANE_WORDS * lane);
                let words = [0, 1, 2, 3, 4, 5, 6, 7].map(|n| word(memory, place + 8 * n));
                if kind == PRINTF | WAITS {
                    let answer = self.receive(&words);
                    put(memory, place, answer);
                }
            }
            put(memory, header + 16, kind & !WAITS);
        }
    }

    /// Receives a part of a message. Returns the message's number in the form that the next part must
    /// contain.
    fn receive(&mut self, words: &[u64; LANE_WORDS as usize]) -> u64 {
        let description = words[0];
        let mut number = description >> NUMBER_SHIFT;
        if description & BEGIN != 0 {
            number = self.open.len() as u64;
            self.open.push(Vec::new());
        }
        let Some(message) = self.open.get_mut(number as usize) else { return 0 };
        let count = (description >> COUNT_SHIFT & 7) as usize;
        message.extend_from_slice(&words[1..=count]);
        if description & END != 0 {
            self.ended.push(std::mem::take(message));
        }
        number << NUMBER_SHIFT
    }
}
