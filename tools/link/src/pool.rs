//! Merges the entries of mergeable sections, so that each string or constant is stored only once.

use rustc_hash::FxHashMap;

/// Merged entries of several sections.
#[derive(Default)]
pub struct Pool<'a> {
    pub data: Vec<u8>,
    known: FxHashMap<&'a [u8], u64>,
}

/// Where the entries of one input section are in the pool of merged entries. Each pair has the offset of an
/// entry in the input section, and the offset of the same entry in the pool.
#[derive(Default)]
pub struct Moves(Vec<(u64, u64)>);

impl<'a> Pool<'a> {
    /// Adds the entries of a section to the pool. The entries are constants of `size` bytes. With `texts`,
    /// they are zero-terminated strings whose characters have `size` bytes. Returns `None` if the section
    /// does not consist of such entries.
    pub fn add(&mut self, data: &'a [u8], size: usize, texts: bool, align: u64) -> Option<Moves> {
        let mut moves = Moves::default();
        let mut start = 0;
        while start < data.len() {
            let end = if texts { end_of_text(data, start, size)? } else { start + size };
            let entry = data.get(start..end)?;
            let at = *self.known.entry(entry).or_insert_with(|| {
                self.data.resize(self.data.len().next_multiple_of(align.max(1) as usize), 0);
                self.data.extend_from_slice(entry);
                (self.data.len() - entry.len()) as u64
            });
            moves.0.push((start as u64, at));
            start = end;
        }
        Some(moves)
    }
}

fn end_of_text(data: &[u8], start: usize, size: usize) -> Option<usize> {
    let characters = data[start..].chunks_exact(size);
    let length = characters.take_while(|character| character.iter().any(|&byte| byte != 0)).count();
    let end = start + (length + 1) * size;
    (end <= data.len()).then_some(end)
}

impl Moves {
    /// Returns the offset in the pool of an offset in the section.
    pub fn new_offset(&self, offset: u64) -> u64 {
        let after = self.0.partition_point(|&(start, _)| start <= offset);
        match after.checked_sub(1).map(|n| self.0[n]) {
            Some((start, at)) => at + (offset - start),
            None => offset,
        }
    }
}

#[test]
fn texts_stand_once() {
    let mut pool = Pool::default();
    let first = pool.add(b"one\0two\0", 1, true, 1).expect("texts");
    let second = pool.add(b"two\0three\0one\0", 1, true, 1).expect("texts");
    assert_eq!(pool.data, b"one\0two\0three\0");
    assert_eq!([0, 5].map(|offset| first.new_offset(offset)), [0, 5]);
    assert_eq!([0, 1, 4, 10, 12].map(|offset| second.new_offset(offset)), [4, 5, 8, 0, 2]);
    assert!(pool.add(b"no end", 1, true, 1).is_none());
}
