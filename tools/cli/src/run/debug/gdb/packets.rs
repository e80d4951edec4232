//! Packets of the GDB remote serial protocol: `$`, the body, `#`, and the checksum as two hexadecimal digits
//! (GDB manual, appendix "GDB Remote Serial Protocol", section "Overview").

use std::collections::VecDeque;
use std::io::{self, Read, Write};

/// Largest size of a packet in bytes.
pub const MOST: usize = 1 << 14;

/// Byte that interrupts a running program.
const INTERRUPT: u8 = 3;

/// Input from GDB.
#[derive(Debug, PartialEq, Eq)]
pub enum Incoming {
    Packet(Vec<u8>),
    /// A packet with a wrong checksum.
    Damaged,
    /// A request to send the last packet again.
    Again,
    Interrupt,
}

/// Received bytes that do not form a complete packet yet.
#[derive(Default)]
pub struct Inbox(VecDeque<u8>);

impl Inbox {
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }

    /// Returns whether more bytes than the largest packet can have are waiting in the buffer. GDB has then
    /// sent something that is not a packet.
    pub fn is_full(&self) -> bool {
        self.0.len() > 2 * MOST
    }

    /// Removes the first packet or interrupt from the received bytes and returns it. Bytes between packets
    /// are ignored.
    pub fn take(&mut self) -> Option<Incoming> {
        loop {
            match *self.0.front()? {
                b'$' => return self.take_packet(),
                INTERRUPT => {
                    self.0.pop_front();
                    return Some(Incoming::Interrupt);
                }
                other => {
                    self.0.pop_front();
                    if other == b'-' {
                        return Some(Incoming::Again);
                    }
                }
            }
        }
    }

    fn take_packet(&mut self) -> Option<Incoming> {
        let end = self.0.iter().position(|&byte| byte == b'#')?;
        if self.0.len() < end + 3 {
            return None;
        }
        let whole: Vec<u8> = self.0.drain(..end + 3).collect();
        let (body, tail) = (&whole[1..end], &whole[end + 1..]);
        let given = std::str::from_utf8(tail).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok());
        Some(match given == Some(sum(body)) {
            true => Incoming::Packet(unescaped(body)),
            false => Incoming::Damaged,
        })
    }
}

fn sum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte))
}

/// Removes the protocol's escapes from the body of a packet: after a `}`, bit 5 of the next byte is inverted.
fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter();
    while let Some(&byte) = rest.next() {
        match (byte, rest.as_slice().first()) {
            (b'}', Some(next)) => {
                out.push(next ^ 0x20);
                rest.next();
            }
            _ => out.push(byte),
        }
    }
    out
}

/// Returns the packet with this body.
pub fn packet(body: &[u8]) -> Vec<u8> {
    let mut out = vec![b'$'];
    for &byte in body {
        match byte {
            b'#' | b'$' | b'}' | b'*' => out.extend([b'}', byte ^ 0x20]),
            _ => out.push(byte),
        }
    }
    let sum = sum(&out[1..]);
    out.extend(format!("#{sum:02x}").bytes());
    out
}

/// Returns bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Converts hexadecimal digits to bytes.
pub fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// A packet connection over a byte stream.
pub struct Connection<S> {
    stream: S,
    inbox: Inbox,
    /// Whether each packet is acknowledged.
    pub acknowledges: bool,
    last: Vec<u8>,
}

impl<S: Read + Write> Connection<S> {
    pub fn new(stream: S) -> Connection<S> {
        Connection { stream, inbox: Inbox::default(), acknowledges: true, last: Vec::new() }
    }

    pub fn stream(&self) -> &S {
        &self.stream
    }

    /// Waits for the next packet or interrupt and returns it. `None` if GDB has disconnected.
    pub fn next(&mut self) -> Option<Incoming> {
        loop {
            match self.inbox.take() {
                Some(Incoming::Damaged) => self.stream.write_all(b"-").ok()?,
                Some(Incoming::Again) => self.stream.write_all(&self.last.clone()).ok()?,
                Some(found) => {
                    if self.acknowledges && matches!(found, Incoming::Packet(_)) {
                        self.stream.write_all(b"+").ok()?;
                    }
                    return Some(found);
                }
                None if self.inbox.is_full() => return None,
                None => {
                    self.receive().ok().filter(|&count| count > 0)?;
                }
            }
        }
    }

    fn receive(&mut self) -> io::Result<usize> {
        let mut bytes = [0; 4096];
        let count = self.stream.read(&mut bytes)?;
        self.inbox.push(&bytes[..count]);
        Ok(count)
    }

    /// Returns whether GDB has sent an interrupt while the program runs. The stream must be in non-blocking
    /// mode.
    pub fn is_interrupted(&mut self) -> bool {
        // Errors of the stream are ignored. A disconnection is noticed at the next stop, and an empty stream
        // is not an error here.
        let _ = self.receive();
        self.inbox.0.front() == Some(&INTERRUPT) && self.inbox.take() == Some(Incoming::Interrupt)
    }

    /// Sends a packet.
    pub fn send(&mut self, body: &[u8]) -> Option<()> {
        self.last = packet(body);
        self.stream.write_all(&self.last).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_what_the_manual_has() {
        assert_eq!(packet(b"OK"), b"$OK#9a");
        let mut inbox = Inbox::default();
        inbox.push(b"+$m10,4#2");
        assert_eq!(inbox.take(), None);
        inbox.push(b"e\x03-$g#00");
        assert_eq!(inbox.take(), Some(Incoming::Packet(b"m10,4".to_vec())));
        assert_eq!(inbox.take(), Some(Incoming::Interrupt));
        assert_eq!(inbox.take(), Some(Incoming::Again));
        assert_eq!(inbox.take(), Some(Incoming::Damaged));
        assert_eq!(inbox.take(), None);
    }

    /// A packet that is sent and received has the same body, for all byte values.
    #[test]
    fn bytes_that_mean_something_are_escaped() {
        let body: Vec<u8> = (0..=255).chain(*b"}}#$*").collect();
        let mut inbox = Inbox::default();
        inbox.push(&packet(&body));
        assert_eq!(inbox.take(), Some(Incoming::Packet(body)));
    }

    #[test]
    fn digits_are_read_back() {
        assert_eq!(bytes_of(&hex(b"lanes $v0")).as_deref(), Some(&b"lanes $v0"[..]));
        for wrong in ["0", "zz", "0é", "+1"] {
            assert!(bytes_of(wrong).is_none_or(|bytes| bytes.len() == 1), "{wrong}");
        }
    }
}
