//! Consecutive lists in one reusable allocation.

/// Lists, addressed by number. Only the last list can grow.
pub(crate) struct Lists<T> {
    items: Vec<T>,
    /// End of each list in `items`.
    ends: Vec<usize>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Lists { items: Vec::new(), ends: Vec::new() }
    }
}

impl<T> Lists<T> {
    pub fn clear(&mut self) {
        self.items.clear();
        self.ends.clear();
    }

    /// Begins a new list with the given items.
    pub fn push(&mut self, items: impl IntoIterator<Item = T>) {
        self.items.extend(items);
        self.ends.push(self.items.len());
    }

    /// Appends an item to the last list.
    pub fn grow(&mut self, item: T) {
        self.items.push(item);
        if let Some(end) = self.ends.last_mut() {
            *end = self.items.len();
        }
    }

    fn start(&self, list: usize) -> usize {
        list.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    pub fn list(&self, list: usize) -> &[T] {
        &self.items[self.start(list)..self.ends[list]]
    }

    pub fn list_mut(&mut self, list: usize) -> &mut [T] {
        let start = self.start(list);
        &mut self.items[start..self.ends[list]]
    }

    /// Returns the items of all lists.
    pub fn all(&self) -> &[T] {
        &self.items
    }
}
