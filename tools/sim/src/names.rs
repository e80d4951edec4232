//! Names of allocations, used in texts about addresses.

use crate::memory::{MAX_BYTES, SLOT_SHIFT};
use std::collections::BTreeMap;

/// An allocation with a name.
#[derive(Clone, Debug)]
struct Named {
    base: u64,
    bytes: u64,
    name: String,
    /// Size of an element in bytes.
    element: u32,
}

/// Names of allocations. The key is the number of the slot (address range) that belongs to the allocation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(BTreeMap<u64, Named>);

impl Names {
    pub(crate) fn add(&mut self, base: u64, bytes: u64, name: &str, element: u32) {
        let named = Named { base, bytes, name: name.to_owned(), element: element.max(1) };
        self.0.insert(base >> SLOT_SHIFT, named);
    }

    pub(crate) fn remove(&mut self, base: u64) {
        self.0.remove(&(base >> SLOT_SHIFT));
    }

    /// Returns a description of the element at an address, such as `x[1000]`. If the access is outside of the
    /// allocation, the description says how far: `x[1000], 4 bytes past its end of 4000`.
    pub(crate) fn describe(&self, address: u64, bytes: u32) -> Option<String> {
        let Named { base, bytes: size, name, element } = self.0.get(&(address >> SLOT_SHIFT))?;
        let offset = address.wrapping_sub(*base) as i64;
        if offset.unsigned_abs() > MAX_BYTES {
            return None;
        }
        let (index, rest) = (offset.div_euclid((*element).into()), offset.rem_euclid((*element).into()));
        let part = if rest == 0 { String::new() } else { format!(" + {rest} bytes") };
        let end = offset.saturating_add(bytes.into());
        let beyond = match (u64::try_from(offset), u64::try_from(end)) {
            (Err(_), _) => format!(", {} bytes before its start", offset.unsigned_abs()),
            (_, Ok(end)) if end > *size => format!(", {} bytes past its end of {size}", end - size),
            _ => String::new(),
        };
        Some(format!("`{name}[{index}]`{part}{beyond}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_and_what_lies_beyond() {
        let (base, mut names) = ((3 << SLOT_SHIFT) + 0xffff_f000, Names::default());
        names.add(base, 4000, "x", 4);
        let at = |offset: i64, bytes| names.describe(base.wrapping_add_signed(offset), bytes);
        assert_eq!(at(0, 4).as_deref(), Some("`x[0]`"));
        assert_eq!(at(3996, 4).as_deref(), Some("`x[999]`"));
        assert_eq!(at(3996, 8).as_deref(), Some("`x[999]`, 4 bytes past its end of 4000"));
        assert_eq!(at(4000, 4).as_deref(), Some("`x[1000]`, 4 bytes past its end of 4000"));
        assert_eq!(at(-4, 4).as_deref(), Some("`x[-1]`, 4 bytes before its start"));
        assert_eq!(at(6, 2).as_deref(), Some("`x[1]` + 2 bytes"));
        assert_eq!(names.describe(0, 4), None);
        assert_eq!(at(1 << 33, 4), None);
        names.remove(base);
        assert_eq!(names.describe(base, 4), None);
    }
}
