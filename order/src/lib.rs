//! Sorting with one copy of the code.
//!
//! `slice::sort_by_key` and its sisters are compiled again for each type and key, some 5 KB each: a tenth of the program
//! was sorting. The methods of [`Order`] sort through one copy that compares and exchanges elements by their numbers.
//!
//! Lists of the compile path are nearly always short or in order already: those are sorted in place. The unstable methods
//! take no memory for the others either.

mod heap;

use heap::List;
use std::cmp::Ordering;

/// Sorting in O(n log n) comparisons; the stable methods take memory for n numbers, if the list is long and not in order. Lists are no longer than `u32::MAX`.
pub trait Order<T> {
    /// As `slice::sort_by`.
    fn order_by(&mut self, compare: impl Fn(&T, &T) -> Ordering);

    /// As `slice::sort_by_key`.
    fn order_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K) {
        self.order_by(|a, b| key(a).cmp(&key(b)));
    }

    /// As `slice::sort`.
    fn order(&mut self)
    where
        T: Ord,
    {
        self.order_by(T::cmp);
    }

    /// As `slice::sort_unstable_by`: without memory.
    fn order_unstable_by(&mut self, compare: impl Fn(&T, &T) -> Ordering);

    /// As `slice::sort_unstable_by_key`.
    fn order_unstable_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K) {
        self.order_unstable_by(|a, b| key(a).cmp(&key(b)));
    }

    /// As `slice::sort_unstable`.
    fn order_unstable(&mut self)
    where
        T: Ord,
    {
        self.order_unstable_by(T::cmp);
    }
}

/// Lists up to here are sorted by insertion.
const SHORT: usize = 20;

impl<T> Order<T> for [T] {
    fn order_by(&mut self, compare: impl Fn(&T, &T) -> Ordering) {
        if !is_settled(self, &compare) {
            let mut sources = sorted(self.len(), &|a, b| compare(&self[a as usize], &self[b as usize]));
            take_places(&mut sources, &mut |a, b| self.swap(a, b));
        }
    }

    fn order_unstable_by(&mut self, compare: impl Fn(&T, &T) -> Ordering) {
        if !is_settled(self, &compare) {
            heap::sort(&mut Compared { list: self, compare });
        }
    }
}

/// Sorts a short list, keeping the order of equals. Whether the list is in order now.
fn is_settled<T>(list: &mut [T], compare: &impl Fn(&T, &T) -> Ordering) -> bool {
    let short = list.len() <= SHORT;
    for end in 1..list.len() {
        let mut at = end;
        while at > 0 && compare(&list[at], &list[at - 1]).is_lt() {
            if !short {
                return false;
            }
            list.swap(at, at - 1);
            at -= 1;
        }
    }
    true
}

struct Compared<'a, T, F> {
    list: &'a mut [T],
    compare: F,
}

impl<T, F: Fn(&T, &T) -> Ordering> List for Compared<'_, T, F> {
    fn len(&self) -> usize {
        self.list.len()
    }

    fn less(&self, a: usize, b: usize) -> bool {
        (self.compare)(&self.list[a], &self.list[b]).is_lt()
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.list.swap(a, b);
    }
}

/// The numbers of `len` elements in the order that `compare` gives.
fn sorted(len: usize, compare: &dyn Fn(u32, u32) -> Ordering) -> Vec<u32> {
    let len = u32::try_from(len).expect("lists of this program have fewer elements");
    let mut numbers: Vec<u32> = (0..len).collect();
    numbers.sort_by(|&a, &b| compare(a, b));
    numbers
}

/// Exchanges elements until place `i` holds what was at `sources[i]`: cycle by cycle, each element once.
fn take_places(sources: &mut [u32], swap: &mut dyn FnMut(usize, usize)) {
    for first in 0..sources.len() {
        let mut place = first;
        loop {
            let source = sources[place] as usize;
            sources[place] = place as u32;
            if source == first {
                break;
            }
            swap(place, source);
            place = source;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Order;

    /// What the standard library makes of lists with many equal keys.
    #[test]
    fn as_the_standard_library() {
        let mut random = 1_u32;
        for len in (0..70).chain([1000, 5000]) {
            let mut list: Vec<(u32, usize)> = (0..len)
                .map(|number| {
                    random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (random >> 28, number)
                })
                .collect();
            let (mut by_key, mut backwards) = (list.clone(), list.clone());
            let mut unstable = list.clone();
            unstable.order_unstable_by_key(|&(key, number)| (key, number));
            let mut keys: Vec<u32> = list.iter().map(|&(key, _)| key).collect();
            keys.order_unstable();
            assert!(keys.is_sorted());
            keys.order_unstable();
            by_key.order_by_key(|&(key, _)| key);
            backwards.order_by(|a, b| b.cmp(a));
            list.sort_by_key(|&(key, _)| key);
            assert_eq!(by_key, list);
            assert_eq!(unstable, list);
            assert!(keys.iter().copied().eq(list.iter().map(|&(key, _)| key)));
            by_key.order();
            backwards.reverse();
            assert_eq!(by_key, backwards);
        }
    }
}
