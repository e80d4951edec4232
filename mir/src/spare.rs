//! Keeps empty lists for reuse.

use std::fmt;

/// Empty lists that are kept so that their memory can be used again. They are sorted by capacity: element `n`
/// has the lists with a capacity from 2^n to below 2^(n+1). A request gets a list from the first non-empty
/// element whose lists are all large enough.
pub struct Spare<T>(Vec<Vec<Vec<T>>>);

impl<T> Spare<T> {
    /// Keeps the memory of a list for reuse.
    pub fn give(&mut self, mut list: Vec<T>) {
        list.clear();
        let Some(class) = list.capacity().checked_ilog2() else { return };
        if self.0.len() <= class as usize {
            self.0.resize_with(class as usize + 1, Vec::new);
        }
        self.0[class as usize].push(list);
    }

    /// Returns an empty list with room for `len` items.
    pub fn take(&mut self, len: usize) -> Vec<T> {
        if len == 0 {
            return Vec::new();
        }
        let room = len.next_power_of_two();
        let mut fitting = self.0.iter_mut().skip(room.ilog2() as usize);
        fitting.find_map(Vec::pop).unwrap_or_else(|| Vec::with_capacity(room))
    }
}

impl<T> Default for Spare<T> {
    fn default() -> Spare<T> {
        Spare(Vec::new())
    }
}

/// A clone has no spare lists, because copying unused memory would be useless.
impl<T> Clone for Spare<T> {
    fn clone(&self) -> Spare<T> {
        Spare::default()
    }
}

impl<T> fmt::Debug for Spare<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} lists", self.0.iter().map(Vec::len).sum::<usize>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_list_that_is_large_enough_comes_back() {
        let mut spare = Spare::default();
        let lists: Vec<Vec<u8>> = [3, 40, 9].map(|len| spare.take(len)).into();
        assert_eq!(lists.iter().map(Vec::capacity).collect::<Vec<_>>(), [4, 64, 16]);
        let at: Vec<*const u8> = lists.iter().map(|list| list.as_ptr()).collect();
        lists.into_iter().for_each(|list| spare.give(list));
        assert_eq!(format!("{spare:?}"), "3 lists");
        let again = [0, 5, 5, 4].map(|len| spare.take(len));
        assert_eq!(again[0].capacity(), 0);
        assert_eq!(again[1].as_ptr(), at[2]);
        assert_eq!(again[2].as_ptr(), at[1], "the next larger one for want of another");
        assert_eq!(again[3].as_ptr(), at[0]);
        assert!(spare.take(5).capacity() >= 5);
    }
}
