//! LLVM's offload binaries. Each contains one image (such as a code object), with properties as pairs of
//! strings.

use super::{Part, Parts, number, range};

/// First bytes of an offload binary.
pub const MAGIC: &[u8] = b"\x10\xff\x10\xad";

/// Lists the single image of an offload binary.
pub fn parts(data: &[u8]) -> Parts {
    read(data).unwrap_or_else(|| Parts::damaged("the offload binary is cut off"))
}

/// Returns the size that the header gives.
pub fn extent(data: &[u8]) -> Option<usize> {
    usize::try_from(number::<8>(data, 8)?).ok().filter(|&size| size >= 32)
}

fn read(data: &[u8]) -> Option<Parts> {
    let version = number::<4>(data, 4)?;
    if version != 1 {
        return Some(Parts::damaged(format!("offload binary of version {version}; version 1 is known")));
    }
    let entry = usize::try_from(number::<8>(data, 16)?).ok()?;
    let at = |offset: usize| entry.checked_add(offset);
    let strings = number::<8>(data, at(8)?)?;
    let count = number::<8>(data, at(16)?)?;
    let image = range(data, number::<8>(data, at(24)?)?, number::<8>(data, at(32)?)?)?;
    let (mut triple, mut arch) = (String::new(), String::new());
    for row in 0..count {
        let row = usize::try_from(strings.checked_add(row.checked_mul(16)?)?).ok()?;
        let key = text(data, number::<8>(data, row)?)?;
        let value = text(data, number::<8>(data, row.checked_add(8)?)?)?;
        match key.as_str() {
            "triple" => triple = value,
            "arch" => arch = value,
            _ => {}
        }
    }
    let is_gpu = triple.starts_with("amdgcn");
    let name = format!("{triple}--{arch}");
    let target = is_gpu.then(|| name.clone());
    Some(Parts { parts: vec![Part { name, target, range: is_gpu.then_some(image) }], problem: None })
}

/// Reads a zero-terminated string.
fn text(data: &[u8], offset: u64) -> Option<String> {
    let rest = data.get(usize::try_from(offset).ok()?..)?;
    let end = rest.iter().position(|&byte| byte == 0)?;
    Some(String::from_utf8_lossy(&rest[..end]).into_owned())
}
