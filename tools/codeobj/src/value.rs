//! Reads metadata from MessagePack into a tree of values. Writing is done by [`objwriter`].

pub use objwriter::Value;
use serde::Deserialize;

/// Maximum nesting depth of maps and sequences.
const DEPTH: usize = 64;

/// Reads MessagePack. Trailing zero bytes, which pad a note, are allowed.
///
/// # Errors
/// The bytes are not MessagePack, nest too deeply, or are followed by other bytes than zeros.
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
