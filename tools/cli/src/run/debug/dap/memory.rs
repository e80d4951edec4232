//! Memory requests. In the protocol, a memory reference is a text, here `global:ADDRESS`, `lds:OFFSET` or
//! `private:LANE:OFFSET`. An address alone refers to global memory.

use super::requests::{Answer, Arguments, Refusal, body, needed};
use super::server::Server;
use debug::{MemoryLocation, MemoryValue, Space, Stop};
use serde_json::{Value, json};

/// Limit on the number of bytes in one response.
const MOST: u64 = 1 << 20;
/// Number of bytes in a row.
const ROW: u64 = 16;

/// Returns the reference to the memory of a value.
pub fn reference(memory_value: &MemoryValue) -> String {
    match memory_value.place {
        MemoryLocation::Global(address) => format!("global:{address:#x}"),
        MemoryLocation::Lds(_, offset) => format!("lds:{offset:#x}"),
        MemoryLocation::Private(_, lane, offset) => format!("private:{lane}:{offset:#x}"),
    }
}

/// Parses a reference. Returns memory space, lane and address.
fn parse(reference: &str, stop: &Stop<'_>) -> Result<(Space, u32, u64), Refusal> {
    let wrong = || format!("`{reference}` is no memory");
    let number = |text: &str| super::code::address(text).map_err(|_| wrong());
    match reference.split_once(':') {
        None => Ok((Space::Global, 0, number(reference)?)),
        Some(("global", address)) => Ok((Space::Global, 0, number(address)?)),
        Some(("lds", offset)) => Ok((Space::Lds, 0, number(offset)?)),
        Some(("private", rest)) => {
            let (lane, offset) = rest.split_once(':').ok_or_else(wrong)?;
            let lane = lane.parse().ok().filter(|&lane| lane < stop.at.lanes()).ok_or_else(wrong)?;
            Ok((Space::Private, lane, number(offset)?))
        }
        _ => Err(wrong()),
    }
}

/// Handles the "ReadMemory Request".
pub fn read(_: &mut Server, stop: &mut Stop<'_>, arguments: &Value) -> Answer {
    let (space, lane, address) =
        parse(arguments.text("memoryReference").ok_or("`memoryReference` is missing")?, stop)?;
    let address = address.wrapping_add_signed(arguments.get("offset").and_then(Value::as_i64).unwrap_or(0));
    let count = needed(arguments, "count")?.min(MOST);
    let mut bytes = vec![0; count as usize];
    if !stop.read(space, lane, address, &mut bytes) {
        let there = |at: &u64| stop.read(space, lane, address.wrapping_add(*at), &mut [0]);
        bytes.truncate((0..count).take_while(there).count());
        stop.read(space, lane, address, &mut bytes);
    }
    body(json!({
        "address": format!("{address:#x}"),
        "unreadableBytes": count - bytes.len() as u64,
        "data": base64(&bytes),
    }))
}

/// Returns rows of the editor's variables view for a range of memory, one row for each dword: name, value,
/// memory reference.
pub fn rows(
    stop: &Stop<'_>,
    space: Space,
    lane: u32,
    from: u64,
    count: u64,
) -> Vec<(String, String, String)> {
    let (bytes, name) = match space {
        Space::Global => return Vec::new(),
        Space::Lds => (stop.at.lds_bytes(), "lds:".to_owned()),
        Space::Private => (stop.at.private_bytes(), format!("private:{lane}:")),
    };
    let row = |at: u64| {
        let mut row = vec![0; ROW.min(bytes - ROW * at) as usize];
        let is_there = stop.read(space, lane, ROW * at, &mut row);
        let dwords = row
            .chunks(4)
            .map(|dword| dword.iter().rev().map(|byte| format!("{byte:02x}")).collect::<String>());
        let value = if is_there { dwords.collect::<Vec<_>>().join(" ") } else { "<not there>".to_owned() };
        (format!("{:#06x}", ROW * at), value, format!("{name}{:#x}", ROW * at))
    };
    let end = bytes.div_ceil(ROW);
    (from..from.saturating_add(count).min(end)).map(row).collect()
}

/// Encodes bytes as base64 (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits =
            three.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - three.len()));
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at)) as usize & 63];
            text.push(if at <= three.len() { digit as char } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::base64;

    /// The test vectors are those of RFC 4648, section 10.
    #[test]
    fn base64_as_the_standard_has_it() {
        let vectors = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, text) in vectors {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff]), "+/8=");
    }
}
