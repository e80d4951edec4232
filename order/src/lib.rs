//! Sorting with one copy of the code.
//!
//! `slice::sort_by_key` and its sisters are compiled again for each type and key, some 5 KB each: a tenth of the program
//! was sorting. Where time does not count, the methods of [`Order`] sort through one copy that compares and exchanges
//! elements by their numbers.

use std::cmp::Ordering;

/// Stable sorting, in O(n log n) comparisons and with memory for n numbers. Lists are no longer than `u32::MAX`.
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
}

impl<T> Order<T> for [T] {
    fn order_by(&mut self, compare: impl Fn(&T, &T) -> Ordering) {
        let mut sources = sorted(self.len(), &|a, b| compare(&self[a as usize], &self[b as usize]));
        take_places(&mut sources, &mut |a, b| self.swap(a, b));
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
            by_key.order_by_key(|&(key, _)| key);
            backwards.order_by(|a, b| b.cmp(a));
            list.sort_by_key(|&(key, _)| key);
            assert_eq!(by_key, list);
            by_key.order();
            backwards.reverse();
            assert_eq!(by_key, backwards);
        }
    }
}
