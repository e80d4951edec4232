//! Sorting by small numbers.

/// Items in the order of their numbers, of which there are so many; items of a number stay as they are. Of each number the part of them begins where
/// `first` says, and ends where that of the next begins.
pub(super) fn sort<T: Copy>(
    items: &[T],
    numbers: usize,
    number: impl Fn(&T) -> usize,
    sorted: &mut Vec<T>,
    first: &mut Vec<u32>,
) {
    first.clear();
    first.resize(numbers + 2, 0);
    items.iter().for_each(|item| first[number(item) + 2] += 1);
    let mut sum = 0;
    for first in first.iter_mut() {
        sum += *first;
        *first = sum;
    }
    sorted.clear();
    sorted.extend_from_slice(items);
    // Where the next one is put becomes where they end.
    for item in items {
        let end = &mut first[number(item) + 1];
        sorted[*end as usize] = *item;
        *end += 1;
    }
}
