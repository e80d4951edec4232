//! Metadata as a tree of values: read from MessagePack here, written by [`objwriter`].

pub use objwriter::Value;
use serde::Deserialize;

/// How deep maps and sequences may be nested.
const DEPTH: usize = 64;

/// Reads MessagePack. Zero bytes may follow: they pad a note.
pub fn from_message_pack(bytes: &[u8]) -> Result<Value, String> {
    let mut rest = bytes;
    let mut reader = rmp_serde::Deserializer::new(&mut rest);
    reader.set_max_depth(DEPTH);
    let value = Value::deserialize(&mut reader).map_err(|error| error.to_string())?;
    match rest.iter().all(|&byte| byte == 0) {
        true => Ok(value),
        false => Err(format!("{} bytes follow the value", rest.len())),
    }
}
