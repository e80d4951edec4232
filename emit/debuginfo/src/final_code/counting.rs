//! Counting sort by small numbers.

/// Sorts `items` by `number`, which is less than `numbers`. The sort is stable. The items with number `n` are
/// `sorted[first[n]..first[n + 1]]`.
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
    // Each item advances the index of the next free position, which finally is the end of the items with that
    // number.
    for item in items {
        let end = &mut first[number(item) + 1];
        sorted[*end as usize] = *item;
        *end += 1;
    }
}
