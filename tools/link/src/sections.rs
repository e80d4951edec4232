//! Joins sections of the same name.

use crate::input::Object;
use crate::notes::Contents;
use crate::pool::{Moves, Pool};
use crate::symbols::Symbols;
use codeobj::elf::Section;
use objwriter::elf::{SHF_ALLOC, SHF_MERGE, SHF_STRINGS, SHF_WRITE, SHT_NOBITS, SHT_PROGBITS};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Names of output sections that collect input sections. An input section belongs to such an output section
/// if its name is the same, or begins with the name and a dot.
const PREFIXES: [&str; 10] = [
    ".text",
    ".rodata",
    ".data.rel.ro",
    ".data",
    ".bss.rel.ro",
    ".bss",
    ".init_array",
    ".fini_array",
    ".ctors",
    ".dtors",
];
/// Largest number of zero bytes that zeroed memory may add to the file. If zeroed memory is joined with a
/// section that has contents, its zeros must be written out.
const MAX_ZEROS: u64 = 1 << 28;

/// Position of an input section in the output.
pub struct Placed {
    pub output: u32,
    pub offset: u64,
    /// For a section whose entries were merged: where its entries are, relative to `offset`.
    pub moves: Option<Moves>,
}

impl Placed {
    /// Converts an offset in the input section to the offset of the same byte in the output section.
    pub fn output_offset(&self, offset: u64) -> u64 {
        self.offset.wrapping_add(self.moves.as_ref().map_or(offset, |moves| moves.new_offset(offset)))
    }
}

/// Output sections, and the positions of the input sections.
pub struct Joined<'a> {
    pub outputs: Vec<objwriter::elf::Section<'a>>,
    pub placed: Vec<Vec<Option<Placed>>>,
}

/// Memory for common symbols, which the linker allocates at the beginning of `.bss`. If there is such memory,
/// `.bss` is the first output section.
#[derive(Clone, Copy, Debug, Default)]
pub struct CommonMemory {
    pub size: u64,
    pub align: u64,
}

/// Part of an output section.
enum Part {
    Room(CommonMemory),
    Section(usize, usize),
    Pool(usize),
}

/// The kind of an entry of a mergeable section: its output section, entry size, flags and alignment. Only
/// entries of the same kind may be merged.
type Kind = (usize, u64, u64, u64);

struct Output<'a> {
    section: objwriter::elf::Section<'a>,
    parts: Vec<Part>,
}

struct Join<'s, 'a> {
    symbols: &'s Symbols<'a>,
    notes: &'s Contents,
    outputs: Vec<Output<'a>>,
    by_name: FxHashMap<&'a str, usize>,
    pools: Vec<Pool<'a>>,
    pool_of: FxHashMap<Kind, usize>,
    /// Sections whose entries are in a pool.
    pooled: Vec<(usize, usize, usize, Moves)>,
}

/// Returns the name of the output section for an input section.
fn output_name(name: &str) -> &str {
    let is_of = |prefix: &&&str| {
        name.strip_prefix(**prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    PREFIXES.iter().find(is_of).copied().unwrap_or(name)
}

/// Joins the sections that the output keeps (the live sections) of all objects.
///
/// # Errors
/// Sections of the same name cannot be joined.
pub fn joined<'a>(
    symbols: &Symbols<'a>,
    live: &[Vec<bool>],
    notes: &Contents,
    room: CommonMemory,
) -> Result<Joined<'a>, String> {
    let mut join = Join {
        symbols,
        notes,
        outputs: Vec::new(),
        by_name: FxHashMap::default(),
        pools: Vec::new(),
        pool_of: FxHashMap::default(),
        pooled: Vec::new(),
    };
    if room.size > 0 {
        let (name, kind, flags) = (".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE);
        let section = objwriter::elf::Section { name, kind, flags, align: room.align, ..Default::default() };
        join.outputs.push(Output { section, parts: vec![Part::Room(room)] });
        join.by_name.insert(name, 0);
    }
    for (number, object) in symbols.objects.iter().enumerate() {
        for (n, section) in object.sections().iter().enumerate().filter(|&(n, _)| live[number][n]) {
            join.add(number, n, section).map_err(|error| format!("{}: {error}", object.name))?;
        }
    }
    join.order_constructors();
    join.lay_out()
}

impl<'a> Join<'_, 'a> {
    fn add(&mut self, object: usize, n: usize, section: &Section<'a>) -> Result<(), String> {
        let name = output_name(section.name);
        let output = *self.by_name.entry(name).or_insert_with(|| {
            let Section { kind, flags, entry_size, .. } = *section;
            // Zeroed memory that is not writable is stored like contents.
            let kind = if kind == SHT_NOBITS && flags & SHF_WRITE == 0 { SHT_PROGBITS } else { kind };
            let section = objwriter::elf::Section { name, kind, flags, entry_size, ..Default::default() };
            self.outputs.push(Output { section, parts: Vec::new() });
            self.outputs.len() - 1
        });
        let known = &mut self.outputs[output].section;
        if known.kind != section.kind {
            let kinds = [known.kind, section.kind];
            if !kinds.iter().all(|kind| [SHT_NOBITS, SHT_PROGBITS].contains(kind)) {
                return Err(format!("{name} is of another type than in the objects before it"));
            }
            known.kind = SHT_PROGBITS;
        }
        // The output section keeps the flags that allow merging only if all its input sections have the same
        // flags and entry size. Otherwise, a later linker would merge entries wrongly.
        let mergeable = SHF_MERGE | SHF_STRINGS;
        if (known.flags ^ section.flags) & mergeable != 0 || known.entry_size != section.entry_size {
            known.flags &= !mergeable;
            known.entry_size = 0;
            known.flags |= section.flags & !mergeable;
        } else {
            known.flags |= section.flags;
        }
        known.align = known.align.max(section.align).max(1);
        if !self.pool(object, n, section, output) {
            self.outputs[output].parts.push(Part::Section(object, n));
        }
        Ok(())
    }

    /// Puts the entries of a mergeable section into the pool of entries of the same kind. If the section is
    /// not mergeable, does nothing and returns `false`.
    fn pool(&mut self, object: usize, n: usize, section: &Section<'a>, output: usize) -> bool {
        let Section { flags, entry_size: size, align, data, .. } = *section;
        let is_plain = self.symbols.objects[object].relocations[n].is_empty();
        let is_entries = (1..=64).contains(&size) && (data.len() as u64).is_multiple_of(size);
        if flags & SHF_MERGE == 0 || !is_entries || !is_plain {
            return false;
        }
        let kind = (output, size, flags, align);
        let pool = self.pool_of.get(&kind).copied().unwrap_or(self.pools.len());
        if pool == self.pools.len() {
            self.pools.push(Pool::default());
            self.pool_of.insert(kind, pool);
            self.outputs[output].parts.push(Part::Pool(pool));
        }
        let moves = self.pools[pool].add(data, size as usize, flags & SHF_STRINGS != 0, align);
        moves.map(|moves| self.pooled.push((object, n, pool, moves))).is_some()
    }

    /// Sorts constructors by priority. The priority is the number at the end of the section's name.
    /// Constructors without a priority come last.
    fn order_constructors(&mut self) {
        let objects = &self.symbols.objects;
        let priority = |part: &Part| match *part {
            Part::Section(object, n) => {
                let name = objects[object].sections()[n].name;
                name.rsplit('.').next().and_then(|number| number.parse().ok()).unwrap_or(u32::MAX)
            }
            Part::Pool(_) | Part::Room(_) => u32::MAX,
        };
        let is_list = |output: &&mut Output| [".init_array", ".fini_array"].contains(&output.section.name);
        self.outputs.iter_mut().filter(is_list).for_each(|output| output.parts.sort_by_key(priority));
    }

    fn lay_out(mut self) -> Result<Joined<'a>, String> {
        let rows = |object: &Object| object.sections().iter().map(|_| None).collect();
        let mut placed: Vec<Vec<Option<Placed>>> = self.symbols.objects.iter().map(rows).collect();
        let mut pool_at = vec![(0, 0); self.pools.len()];
        for (number, output) in self.outputs.iter_mut().enumerate() {
            let is_zeros = output.section.kind == SHT_NOBITS;
            let (mut data, mut end) = (Vec::new(), 0u64);
            for part in &output.parts {
                let (bytes, size, align): (&[u8], u64, u64) = match *part {
                    Part::Room(CommonMemory { size, align }) => (&[], size, align),
                    Part::Pool(pool) => {
                        let align =
                            self.pool_of.iter().find(|(_, at)| **at == pool).map_or(1, |(kind, _)| kind.3);
                        (&self.pools[pool].data, self.pools[pool].data.len() as u64, align)
                    }
                    Part::Section(object, n) => {
                        let section = &self.symbols.objects[object].sections()[n];
                        match self.notes.get(&(object, n)) {
                            Some(new) => (new, new.len() as u64, section.align),
                            None if section.kind == SHT_NOBITS => (&[], section.size, section.align),
                            None => (section.data, section.data.len() as u64, section.align),
                        }
                    }
                };
                let start = end.next_multiple_of(align.max(1));
                end = start + size;
                match *part {
                    Part::Room(_) => {}
                    Part::Pool(pool) => pool_at[pool] = (number as u32, start),
                    Part::Section(object, n) => {
                        placed[object][n] =
                            Some(Placed { output: number as u32, offset: start, moves: None });
                    }
                }
                if is_zeros {
                    continue;
                }
                if end - data.len() as u64 - bytes.len() as u64 > MAX_ZEROS {
                    return Err(format!(
                        "{} holds too many zeros beside other contents",
                        output.section.name
                    ));
                }
                data.resize(start as usize, 0);
                data.extend_from_slice(bytes);
                data.resize(end as usize, 0);
            }
            output.section.virtual_size = if is_zeros { end } else { 0 };
            output.section.data = Cow::Owned(data);
        }
        for (object, n, pool, moves) in std::mem::take(&mut self.pooled) {
            let (output, offset) = pool_at[pool];
            placed[object][n] = Some(Placed { output, offset, moves: Some(moves) });
        }
        Ok(Joined { outputs: self.outputs.into_iter().map(|output| output.section).collect(), placed })
    }
}

#[test]
fn names() {
    for (from, to) in [
        (".text.f", ".text"),
        (".text", ".text"),
        (".textual", ".textual"),
        (".data.rel.ro.x", ".data.rel.ro"),
        (".data.x", ".data"),
        (".rodata.str1.1", ".rodata"),
        (".debug_str", ".debug_str"),
    ] {
        assert_eq!(output_name(from), to);
    }
}
