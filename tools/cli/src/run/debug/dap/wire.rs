//! Reads and writes messages on a stream in the format of the protocol's overview ("Base Protocol"): a header
//! with `Content-Length`, an empty line, and that many bytes of JSON.

use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

/// Limits on the size of a header and of a message. No real client sends more.
const HEADER: u64 = 4096;
const MESSAGE: u64 = 16 << 20;
/// Number of messages in the queue at which the reading thread pauses.
const WAITING: usize = 64;

/// Result of reading from the stream.
pub enum Incoming {
    /// Bytes of a message.
    Message(Vec<u8>),
    /// The client has closed the stream.
    Closed,
    /// The stream is malformed, so that further messages cannot be found.
    Broken(String),
}

/// Reads a message.
fn read(input: &mut impl BufRead) -> Incoming {
    match length(input) {
        Ok(None) => Incoming::Closed,
        Ok(Some(length)) => {
            // The buffer grows with the bytes that arrive. It is not allocated in advance, because the length
            // in the header may be wrong.
            let mut bytes = Vec::new();
            match input.by_ref().take(length).read_to_end(&mut bytes) {
                Ok(read) if read as u64 == length => Incoming::Message(bytes),
                Ok(read) => {
                    Incoming::Broken(format!("a message of {length} bytes ends after {read} of them"))
                }
                Err(error) => Incoming::Broken(error.to_string()),
            }
        }
        Err(why) => Incoming::Broken(why),
    }
}

/// Reads a header. Returns `None` at the end of the stream.
fn length(input: &mut impl BufRead) -> Result<Option<u64>, String> {
    let mut header = input.by_ref().take(HEADER);
    let mut length = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        header.read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&line);
        match (text.ends_with('\n'), text.trim_end()) {
            (false, "") if length.is_none() && header.limit() == HEADER => return Ok(None),
            (false, _) if header.limit() == 0 => {
                return Err(format!("a header has more than {HEADER} bytes"));
            }
            (false, _) => return Err("the stream ends in a header".to_owned()),
            (true, "") => {
                return length.map(Some).ok_or_else(|| "a header has no `Content-Length`".to_owned());
            }
            (true, field) => {
                let named =
                    field.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
                let Some((_, number)) = named else { continue };
                let number: u64 =
                    number.trim().parse().map_err(|_| format!("`{field}` is no length of a message"))?;
                if number > MESSAGE {
                    return Err(format!("a message of {number} bytes is longer than {MESSAGE}"));
                }
                length = Some(number);
            }
        }
    }
}

/// Queue of messages from the client. A separate thread reads the messages, so that requests arrive while a
/// kernel runs.
pub struct Inbox {
    messages: Receiver<Incoming>,
    waiting: Arc<AtomicUsize>,
}

impl Inbox {
    pub fn new(input: impl Read + Send + 'static) -> Inbox {
        let (sender, messages) = sync_channel(WAITING);
        let waiting = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&waiting);
        std::thread::spawn(move || fill(&mut io::BufReader::new(input), &sender, &counter));
        Inbox { messages, waiting }
    }

    /// Returns the counter of unread messages.
    pub fn waiting(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.waiting)
    }

    /// Waits for the next message.
    pub fn next(&mut self) -> Incoming {
        let next = self.messages.recv().unwrap_or(Incoming::Closed);
        self.taken();
        next
    }

    /// Returns the next message if one has arrived.
    pub fn try_next(&mut self) -> Option<Incoming> {
        let next = match self.messages.try_recv() {
            Ok(next) => next,
            Err(TryRecvError::Disconnected) => Incoming::Closed,
            Err(TryRecvError::Empty) => return None,
        };
        self.taken();
        Some(next)
    }

    fn taken(&self) {
        let less = |count: usize| count.checked_sub(1);
        // Decrements the number of waiting messages, but not below zero. The end of the stream may be
        // returned several times, although it was counted only once.
        let _ = self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }
}

fn fill(input: &mut impl BufRead, sender: &SyncSender<Incoming>, waiting: &AtomicUsize) {
    loop {
        let next = read(input);
        let is_last = !matches!(next, Incoming::Message(_));
        waiting.fetch_add(1, Ordering::Relaxed);
        if sender.send(next).is_err() || is_last {
            return;
        }
    }
}

/// Writes a message.
pub fn write(output: &mut impl Write, message: &serde_json::Value) -> io::Result<()> {
    let text = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(bytes: &[u8]) -> String {
        match read(&mut &bytes[..]) {
            Incoming::Message(bytes) => format!("message {}", String::from_utf8_lossy(&bytes)),
            Incoming::Closed => "closed".to_owned(),
            Incoming::Broken(why) => why,
        }
    }

    #[test]
    fn messages() {
        assert_eq!(describe(b"Content-Length: 2\r\n\r\n{}{}"), "message {}");
        assert_eq!(describe(b"Content-Type: x\r\ncontent-length:0\n\n"), "message ");
        assert_eq!(describe(b""), "closed");
    }

    #[test]
    fn what_is_none() {
        let none = [
            ("Content-Length: 3\r\n\r\n{}", "a message of 3 bytes ends after 2 of them"),
            (
                "Content-Length: 18446744073709551615\r\n\r\n{}",
                "a message of 18446744073709551615 bytes is longer than 16777216",
            ),
            ("Content-Length: -1\r\n\r\n", "`Content-Length: -1` is no length of a message"),
            ("Content-Length: 2\r\n", "the stream ends in a header"),
            ("Content-Len", "the stream ends in a header"),
            ("\r\n{}", "a header has no `Content-Length`"),
        ];
        for (bytes, why) in none {
            assert_eq!(describe(bytes.as_bytes()), why);
        }
        assert_eq!(describe(&[b'x'; 5000]), "a header has more than 4096 bytes");
        assert_eq!(describe(&b"a: b\r\n".repeat(1000)), "a header has more than 4096 bytes");
    }

    #[test]
    fn written_is_read() {
        let mut bytes = Vec::new();
        write(&mut bytes, &serde_json::json!({"a": "\u{fc}"})).expect("memory takes all");
        assert_eq!(describe(&bytes), "message {\"a\":\"\u{fc}\"}");
    }
}
