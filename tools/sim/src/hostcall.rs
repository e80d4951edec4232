//! Calls from a kernel to the host, through a buffer with the layout that ROCm's device library uses
//! (`__ockl_hostcall_internal`).
//!
//! The hidden argument `hostcall_buffer` points to six 64-bit words: the addresses of the packet headers and
//! of the packet payloads, a signal, the stack of free packets, the stack of ready packets, and a mask. An
//! entry of a stack has the number of a packet in the bits that the mask selects. Above these bits, the entry
//! has a tag that changes with each use, so that a compare-and-swap notices when a packet was removed and
//! added again. The entry 0 marks the end of a stack. To make a call, a wave takes a free packet. It writes
//! EXEC, the number of the service that it asks for, and eight words for each active lane to the packet. It
//! pushes the packet on the ready stack, adds 1 to the signal, and sleeps until the host clears the ready
//! flag of the packet. The answer in the packet is two words for each lane. Then the wave returns the packet
//! to the free stack.
//!
//! In the emulator the host looks for ready packets when a wave sleeps. On hardware a host thread waits for
//! the signal.

mod message;

use crate::memory::Memory;
use crate::packet;
use message::Messages;
pub use message::message_text;

/// Minimum and maximum number of packets of a buffer. Each wave holds at most one packet, so the emulator
/// runs at most as many waves at a time as there are packets. All waves of a group run together, so there
/// must be at least as many packets as a group has waves.
const PACKETS: std::ops::RangeInclusive<u64> = 32..=256;

/// Offsets in bytes of the six words at the start of the buffer.
mod at {
    pub(super) const HEADERS: u64 = 0;
    pub(super) const PAYLOADS: u64 = 8;
    pub(super) const DOORBELL: u64 = 16;
    pub(super) const FREE: u64 = 24;
    pub(super) const READY: u64 = 32;
    pub(super) const MASK: u64 = 40;
}

/// Size of a packet's header in bytes. The header holds the next packet of the stack, the active lanes, the
/// service (32 bits), and a control word (32 bits).
const HEADER_BYTES: u64 = 24;
/// Number of words that a call passes for a lane.
const LANE_WORDS: usize = 8;
/// Size of a packet's payload in bytes. The payload has `LANE_WORDS` words for each of 64 lanes.
const PAYLOAD_BYTES: u64 = 64 * 8 * LANE_WORDS as u64;
/// Bit of the header's control word that the wave sets and the host clears.
const READY_FLAG: u32 = 1;
/// Offset of the signal in the buffer. The next constant is the offset of the headers. The payloads follow
/// the headers.
const SIGNAL: u64 = 64;
const HEADERS: u64 = 128;

/// Numbers of the services that the host offers.
mod service {
    pub(super) const FUNCTION: u32 = 1;
    pub(super) const PRINTF: u32 = 2;
    pub(super) const MEMORY: u32 = 3;
    pub(super) const SANITIZER: u32 = 4;
}

/// What the host knows about a buffer for host calls.
pub(crate) struct Hostcall {
    address: u64,
    packets: u64,
    messages: Messages,
}

impl Hostcall {
    /// Creates a buffer for the host calls of `waves` waves. Returns `None` if there is no room in memory.
    pub(crate) fn create(memory: &mut Memory, waves: u64) -> Option<Hostcall> {
        let packets = waves.clamp(*PACKETS.start(), *PACKETS.end()).next_power_of_two();
        let payloads = (HEADERS + HEADER_BYTES * packets).next_multiple_of(64);
        let address = memory.alloc(payloads + PAYLOAD_BYTES * packets)?;
        let hostcall = Hostcall { address, packets, messages: Messages::default() };
        memory.write(address + SIGNAL, &packet::signal(0));
        let words = [
            (at::HEADERS, address + HEADERS),
            (at::PAYLOADS, address + payloads),
            (at::DOORBELL, address + SIGNAL),
            // At the start, all packets are free, and the last packet is on top of the free stack. The first
            // packet has number 0. It needs a nonzero tag, because an entry of 0 would mark the end of the
            // stack.
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

    /// Returns the address of the buffer. Kernels get it in the hidden argument `hostcall_buffer`.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Returns the number of packets, which is the maximum number of waves that may run at the same time.
    pub(crate) fn packets(&self) -> u64 {
        self.packets
    }

    /// Returns the text that kernels have printed since the last call of this function.
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

    /// Answers all waiting host calls, oldest first. The host trusts no value in the buffer, because a kernel
    /// may write anywhere.
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
        // The store has release order, so that a wave that sees the cleared flag also sees the answers.
        let control = control & !READY_FLAG;
        memory.write(header + 20, &control.to_le_bytes());
        Ok(())
    }

    /// Performs the call of one lane, and returns the first word of its answer.
    fn call(
        &mut self,
        memory: &Memory,
        service: u32,
        words: &[u64; LANE_WORDS],
    ) -> Result<u64, &'static str> {
        match service {
            service::PRINTF => self.messages.receive(words),
            service::FUNCTION => Err("service 1: the host has no functions for kernels to call"),
            // The service for memory allocates or frees. If the first word of a call is 0, the second word is
            // the number of bytes to allocate. Otherwise, the first word is the address to free. If there is
            // no room, the answer is null, which `malloc` then returns.
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
