//! Clang's offload bundles: a header with a row for each entry, followed by the files of the entries.

use super::{Part, Parts, number, range};

/// First bytes of a bundle.
pub const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";

/// Largest number of entries of a bundle. clang makes one entry for each processor and one for the host.
const ENTRIES: u64 = 1 << 16;

/// Row of the header.
struct Row {
    offset: u64,
    size: u64,
    /// Id of the entry, such as `hipv4-amdgcn-amd-amdhsa--gfx906`. The first word is the kind of offloading
    /// (`hipv4`), and the rest is the target.
    id: String,
}

/// Lists the entries of a bundle.
pub fn parts(data: &[u8]) -> Parts {
    let (rows, problem) = rows(data);
    let mut found = Parts { parts: Vec::with_capacity(rows.len()), problem };
    for Row { offset, size, id } in rows {
        let target = gpu_target(&id);
        let place = target.as_ref().filter(|_| size > 0).map(|_| range(data, offset, size));
        if place == Some(None) {
            found.problem.get_or_insert_with(|| format!("entry {id} lies outside of the bundle"));
            continue;
        }
        found.parts.push(Part { name: id, target, range: place.flatten() });
    }
    found
}

/// Returns the offset at which the last entry ends.
pub fn extent(data: &[u8]) -> Option<usize> {
    let (rows, problem) = rows(data);
    if problem.is_some() {
        return None;
    }
    let header = MAGIC.len() + 8 + rows.iter().map(|row| 24 + row.id.len()).sum::<usize>();
    let ends = rows.iter().filter_map(|row| usize::try_from(row.offset.checked_add(row.size)?).ok());
    Some(ends.max().unwrap_or(0).max(header))
}

/// Reads the rows in the header of a bundle. If a row is damaged, returns the rows before it, and a message.
fn rows(data: &[u8]) -> (Vec<Row>, Option<String>) {
    let cut = || Some("the header of the bundle is cut off".to_owned());
    let Some(count) = number::<8>(data, MAGIC.len()) else { return (Vec::new(), cut()) };
    if count > ENTRIES {
        return (Vec::new(), Some(format!("the bundle names {count} entries")));
    }
    let mut rows = Vec::new();
    let mut at = MAGIC.len() + 8;
    for _ in 0..count {
        let fields = (number::<8>(data, at), number::<8>(data, at + 8), number::<8>(data, at + 16));
        let (Some(offset), Some(size), Some(length)) = fields else { return (rows, cut()) };
        let Some(id) = range(data, at as u64 + 24, length) else { return (rows, cut()) };
        at = id.end;
        rows.push(Row { offset, size, id: String::from_utf8_lossy(&data[id]).into_owned() });
    }
    (rows, None)
}

/// Returns the target of an entry for an AMD GPU, which is its id without the first word (the kind of
/// offloading). Returns `None` for other entries.
fn gpu_target(id: &str) -> Option<String> {
    let at = id.find("amdgcn")?;
    Some(id[at..].to_owned())
}
