//! Calls of the host from a kernel: the buffer between the two, as ROCm's device library (`__ockl_hostcall_internal`) uses it.
//!
//! The hidden argument points to six 64-bit words: headers, payloads, a signal, the stack of free packets, the stack of ready
//! ones, and a mask. An entry of a stack is the number of a packet under the mask, and above it a tag that changes with each
//! use, so that a compare-and-swap notices a packet that came back; 0 is the end. A wave takes a free packet, writes what is
//! in EXEC, the service and, for each of its lanes, eight words; puts the packet on the other stack, adds 1 to the signal, and
//! sleeps until the host clears the ready flag. Then each lane has two words of answer, and the packet is free again.
//!
//! Here the host looks when a wave sleeps: on hardware it has a thread that waits for the signal.

mod message;

use crate::memory::Memory;
use crate::packet;
use message::Messages;
pub use message::message_text;

/// Packets of a buffer: at least one for each wave of a group. A wave holds at most one, and no more waves than this may be
/// under way.
const PACKETS: std::ops::RangeInclusive<u64> = 32..=256;

/// Where the words of the buffer are, in bytes.
mod at {
    pub(super) const HEADERS: u64 = 0;
    pub(super) const PAYLOADS: u64 = 8;
    pub(super) const DOORBELL: u64 = 16;
    pub(super) const FREE: u64 = 24;
    pub(super) const READY: u64 = 32;
    pub(super) const MASK: u64 = 40;
}

/// Bytes of a packet's header: next packet, active lanes, service (32 bits), control (32 bits).
const HEADER_BYTES: u64 = 24;
/// Words of a lane.
const LANE_WORDS: usize = 8;
/// Bytes of a packet's payload: 64 lanes.
const PAYLOAD_BYTES: u64 = 64 * 8 * LANE_WORDS as u64;
/// The bit of a header's control that the wave sets and the host clears.
const READY_FLAG: u32 = 1;
/// Where the signal, the headers and the payloads begin.
const SIGNAL: u64 = 64;
const HEADERS: u64 = 128;

/// What a call asks of the host.
mod service {
    pub(super) const FUNCTION: u32 = 1;
    pub(super) const PRINTF: u32 = 2;
    pub(super) const MEMORY: u32 = 3;
    pub(super) const SANITIZER: u32 = 4;
}

/// The host's side of a buffer.
pub(crate) struct Hostcall {
    address: u64,
    packets: u64,
    messages: Messages,
}

impl Hostcall {
    /// A buffer for so many waves; `None` if there is no room.
    pub(crate) fn place(memory: &mut Memory, waves: u64) -> Option<Hostcall> {
        let packets = waves.clamp(*PACKETS.start(), *PACKETS.end()).next_power_of_two();
        let payloads = (HEADERS + HEADER_BYTES * packets).next_multiple_of(64);
        let address = memory.alloc(payloads + PAYLOAD_BYTES * packets)?;
        let hostcall = Hostcall { address, packets, messages: Messages::default() };
        memory.write(address + SIGNAL, &packet::signal(0));
        let words = [
            (at::HEADERS, address + HEADERS),
            (at::PAYLOADS, address + payloads),
            (at::DOORBELL, address + SIGNAL),
            // The last packet is on top, and the first one has a tag: it would be 0 without.
            (at::FREE, packets - 1),
            (at::MASK, packets - 1),
        ];
        words.iter().for_each(|(at, word)| _ = memory.write(address + at, &word.to_le_bytes()));
        for number in 1..packets {
            let next = if number == 1 { packets } else { number - 1 };
            memory.write(hostcall.header(number), &next.to_le_bytes());
        }
        Some(hostcall)
    }

    /// What the hidden argument is.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// How many waves may be under way.
    pub(crate) fn packets(&self) -> u64 {
        self.packets
    }

    /// What has been printed since the last time.
    pub(crate) fn take_text(&mut self) -> Vec<u8> {
        self.messages.take_text()
    }

    fn header(&self, number: u64) -> u64 {
        self.address + HEADERS + HEADER_BYTES * number
    }

    fn payload(&self, number: u64, lane: u64) -> u64 {
        let start = (HEADERS + HEADER_BYTES * self.packets).next_multiple_of(64);
        self.address + start + PAYLOAD_BYTES * number + 8 * LANE_WORDS as u64 * lane
    }

    /// Answers all calls that wait, the oldest first. The host trusts nothing that it reads: a kernel may write anywhere.
    pub(crate) fn serve(&mut self, memory: &Memory) -> Result<(), &'static str> {
        let Some((buffer, offset)) = memory.find(self.address + at::READY, 8) else { return Ok(()) };
        if buffer.load_word(offset as usize / 4) == 0 && buffer.load_word(offset as usize / 4 + 1) == 0 {
            return Ok(());
        }
        let mut top = memory.update64(buffer, offset, |_| 0);
        let mut ready = Vec::new();
        while top != 0 {
            if ready.len() as u64 == self.packets {
                return Err("the list of ready packets has no end");
            }
            let number = top & (self.packets - 1);
            ready.push(number);
            top = word(memory, self.header(number));
        }
        ready.iter().rev().try_for_each(|&number| self.answer(memory, number))
    }

    fn answer(&mut self, memory: &Memory, number: u64) -> Result<(), &'static str> {
        let header = self.header(number);
        let (active, kind) = (word(memory, header + 8), word(memory, header + 16));
        let (service, control) = (kind as u32, (kind >> 32) as u32);
        for lane in (0..64).filter(|lane| active >> lane & 1 != 0) {
            let place = self.payload(number, lane);
            let mut bytes = [0; 8 * LANE_WORDS];
            memory.read(place, &mut bytes);
            let words = std::array::from_fn(|at| word_of(&bytes[8 * at..]));
            let answer = self.call(memory, service, &words)?;
            memory.write(place, &answer.to_le_bytes());
        }
        // The store releases: what was answered is there before.
        let control = control & !READY_FLAG;
        memory.write(header + 20, &control.to_le_bytes());
        Ok(())
    }

    /// Does what a lane asks for; the first word of its answer.
    fn call(
        &mut self,
        memory: &Memory,
        service: u32,
        words: &[u64; LANE_WORDS],
    ) -> Result<u64, &'static str> {
        match service {
            service::PRINTF => self.messages.receive(words),
            service::FUNCTION => Err("service 1: the host has no functions for kernels to call"),
            // A size, or what is given back. Null where there is no more, as `malloc` says it.
            service::MEMORY if words[0] == 0 => Ok(memory.heap_alloc(words[1]).unwrap_or(0)),
            service::MEMORY if memory.heap_free(words[0]) => Ok(0),
            service::MEMORY => Err("service 3: what is given back was not given out"),
            service::SANITIZER => {
                Err("service 4: the address sanitizer has found something, and has nobody to report to")
            }
            _ => Err("no such service"),
        }
    }
}

fn word_of(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn word(memory: &Memory, address: u64) -> u64 {
    let mut bytes = [0; 8];
    memory.read(address, &mut bytes);
    u64::from_le_bytes(bytes)
}
