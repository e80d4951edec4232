//! Reads and writes the MessagePack form of the metadata.

use objwriter::Value;
#[cfg(feature = "read")]
pub(crate) use reading::read;

/// Returns the tree as MessagePack in the form that LLVM writes.
pub(crate) fn write(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    value.write_message_pack(&mut out);
    out
}

#[cfg(feature = "read")]
mod reading {
    use crate::error::Error;
    use objwriter::Value;
    use serde::Deserialize;

    /// Maximum nesting depth of maps and sequences. Metadata has seven levels.
    const DEPTH: usize = 64;

    /// Reads MessagePack. Trailing zero bytes, which pad a note, are allowed.
    pub(crate) fn read(bytes: &[u8]) -> Result<Value, Error> {
        let mut rest = bytes;
        let mut reader = rmp_serde::Deserializer::new(&mut rest);
        reader.set_max_depth(DEPTH);
        let value = Value::deserialize(&mut reader);
        drop(reader);
        let at = bytes.len() - rest.len();
        let value =
            value.map_err(|error| Error::at_byte(at, format!("the metadata is no MessagePack: {error}")))?;
        match rest.iter().all(|&byte| byte == 0) {
            true => Ok(value),
            false => Err(Error::at_byte(at, format!("{} bytes follow the metadata", rest.len()))),
        }
    }
}
