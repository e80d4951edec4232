//! Compressed bundles: a header, followed by a bundle that is compressed with zlib or zstd.

use super::number;
use std::io::Read;

/// First bytes of a compressed bundle.
pub const MAGIC: &[u8] = b"CCOB";

/// Header of a compressed bundle.
struct Header {
    method: u64,
    /// Size in bytes of the compressed bundle, which includes the header. `None` in version 1 of the format,
    /// whose header does not contain the size.
    file_size: Option<u64>,
    unpacked_size: u64,
    /// Size of the header in bytes.
    length: usize,
}

fn header(data: &[u8]) -> Result<Header, String> {
    let cut = || "the header of the compressed bundle is cut off".to_owned();
    let version = number::<2>(data, 4).ok_or_else(cut)?;
    let method = number::<2>(data, 6).ok_or_else(cut)?;
    let (file_size, unpacked_size, length) = match version {
        1 => (None, number::<4>(data, 8), 20),
        2 => (Some(number::<4>(data, 8).ok_or_else(cut)?), number::<4>(data, 12), 24),
        3 => (Some(number::<8>(data, 8).ok_or_else(cut)?), number::<8>(data, 16), 32),
        _ => return Err(format!("compressed bundle of version {version}; versions 1 to 3 are known")),
    };
    let unpacked_size = unpacked_size.ok_or_else(cut)?;
    if data.len() < length {
        return Err(cut());
    }
    Ok(Header { method, file_size, unpacked_size, length })
}

/// Returns the size that the header gives.
pub fn extent(data: &[u8]) -> Option<usize> {
    let Header { file_size, length, .. } = header(data).ok()?;
    usize::try_from(file_size?).ok().filter(|&size| size >= length)
}

/// Unpacks a bundle of at most `limit` bytes.
pub fn unpack(data: &[u8], limit: u64) -> Result<Vec<u8>, String> {
    let Header { method, file_size, unpacked_size, length } = header(data)?;
    if file_size.is_some_and(|size| size > data.len() as u64) {
        return Err("the compressed bundle is cut off".to_owned());
    }
    if unpacked_size > limit {
        return Err(format!("the bundle unpacks to {unpacked_size} bytes, more than are read of one file"));
    }
    let packed = &data[length..];
    let damaged = |error: String| format!("the compressed bundle is damaged: {error}");
    let unpacked = match method {
        0 => miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(packed, unpacked_size as usize)
            .map_err(|error| damaged(error.to_string()))?,
        1 => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(packed);
            let mut decoder = decoder.map_err(|error| damaged(error.to_string()))?;
            let mut unpacked = Vec::new();
            // If one more byte than expected can be read, the bundle contains more data than its header says.
            let read = decoder.by_ref().take(unpacked_size + 1).read_to_end(&mut unpacked);
            read.map_err(|error| damaged(error.to_string()))?;
            unpacked
        }
        _ => return Err(format!("compressed by method {method}; 0 (zlib) and 1 (zstd) are known")),
    };
    if unpacked.len() as u64 != unpacked_size {
        return Err(damaged(format!("{} bytes, its header says {unpacked_size}", unpacked.len())));
    }
    Ok(unpacked)
}
