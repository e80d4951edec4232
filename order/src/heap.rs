//! Sorting in place, whatever the elements are.

/// Elements that are known by their numbers.
pub(crate) trait List {
    fn len(&self) -> usize;
    fn less(&self, a: usize, b: usize) -> bool;
    fn swap(&mut self, a: usize, b: usize);
}

/// In O(n log n) comparisons, whatever the order was.
pub(crate) fn sort(list: &mut dyn List) {
    let len = list.len();
    for root in (0..len / 2).rev() {
        sift(list, root, len);
    }
    for end in (1..len).rev() {
        list.swap(0, end);
        sift(list, 0, end);
    }
}

/// Moves an element down until none below it is greater.
fn sift(list: &mut dyn List, mut root: usize, len: usize) {
    loop {
        let mut child = 2 * root + 1;
        if child >= len {
            return;
        }
        if child + 1 < len && list.less(child, child + 1) {
            child += 1;
        }
        if !list.less(root, child) {
            return;
        }
        list.swap(root, child);
        root = child;
    }
}
