//! A map from the address of each dword of a section to a number, such as the number of an instruction. The
//! map has memory only for those pages of the section whose code is read. So it stays small if only one
//! kernel of a large section is read.

/// Number of dwords of a page.
const PAGE: usize = 512;
const NONE: u32 = u32::MAX >> 1;
/// Bit of an entry in the map that marks the beginning of a basic block: control can come to the address from
/// an instruction other than the previous one.
const HEAD: u32 = 1 << 31;

/// A map from the addresses of a section to numbers.
#[derive(Clone, Debug)]
pub(crate) struct ByAddress {
    base: u64,
    /// Size of the section in dwords.
    words: usize,
    /// Number of the page that is first in `pages`.
    first: usize,
    pages: Vec<Option<Box<[u32; PAGE]>>>,
}

impl ByAddress {
    pub(crate) fn new(base: u64, words: usize) -> ByAddress {
        ByAddress { base, words, first: 0, pages: Vec::new() }
    }

    /// Returns the index of the dword at an address, where the first dword of the section has index 0.
    /// Returns `None` if the address is not the address of a dword of the section.
    pub(crate) fn word(&self, address: u64) -> Option<usize> {
        let offset = address.checked_sub(self.base)?;
        let word = usize::try_from(offset / 4).ok()?;
        (offset.is_multiple_of(4) && word < self.words).then_some(word)
    }

    fn entry(&self, word: usize) -> u32 {
        let page = (word / PAGE).checked_sub(self.first).and_then(|page| self.pages.get(page)?.as_deref());
        page.map_or(NONE, |page| page[word % PAGE])
    }

    fn entry_mut(&mut self, word: usize) -> &mut u32 {
        let page = word / PAGE;
        if self.pages.is_empty() {
            self.first = page;
        }
        if page < self.first {
            self.pages.splice(0..0, std::iter::repeat_n(None, self.first - page));
            self.first = page;
        }
        let at = page - self.first;
        if at >= self.pages.len() {
            self.pages.resize_with(at + 1, || None);
        }
        &mut self.pages[at].get_or_insert_with(|| Box::new([NONE; PAGE]))[word % PAGE]
    }

    /// Returns the number that an address has.
    pub(crate) fn get(&self, address: u64) -> Option<u32> {
        let number = self.entry(self.word(address)?) & !HEAD;
        (number != NONE).then_some(number)
    }

    /// Gives a number to a dword of the section.
    pub(crate) fn set(&mut self, word: usize, number: u32) {
        let entry = self.entry_mut(word);
        *entry = *entry & HEAD | number;
    }

    /// Marks an address as the beginning of a basic block, because control can come there from an instruction
    /// other than the previous one. Returns whether the address was not marked before.
    pub(crate) fn mark(&mut self, address: u64) -> bool {
        let Some(word) = self.word(address) else { return false };
        let entry = self.entry_mut(word);
        let is_new = *entry & HEAD == 0;
        *entry |= HEAD;
        is_new
    }

    /// Returns whether an address is marked as the beginning of a basic block.
    pub(crate) fn is_marked(&self, address: u64) -> bool {
        self.word(address).is_some_and(|word| self.entry(word) & HEAD != 0)
    }

    /// Returns all numbers in the order of addresses.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        let entries = self.pages.iter().flatten().flat_map(|page| page.iter());
        entries.map(|entry| entry & !HEAD).filter(|number| *number != NONE)
    }

    /// Replaces each number in the map by the number that `new` returns for it, in ascending order of
    /// addresses. If `new` returns `None`, removes the number from the map.
    pub(crate) fn renumber(&mut self, mut new: impl FnMut(u32) -> Option<u32>) {
        for entry in self.pages.iter_mut().flatten().flat_map(|page| page.iter_mut()) {
            let number = *entry & !HEAD;
            if number != NONE {
                *entry = *entry & HEAD | new(number).unwrap_or(NONE);
            }
        }
    }
}
