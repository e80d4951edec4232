//! Counting sort by small numbers.

/// Sorts `items` by their `number`, which is less than `numbers`. The sort is a counting sort and stable.
/// Afterwards the items with number `n` are `sorted[first[n]..first[n + 1]]`.
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
    // While items are placed, `first[n]` is the next free position for an item with number `n`. After all
    // items are placed, it is the end of these items.
    for item in items {
        let end = &mut first[number(item) + 1];
        sorted[*end as usize] = *item;
        *end += 1;
    }
}
