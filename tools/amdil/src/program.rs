//! The text as a program: which functions a kernel reaches, how much memory the kernel needs, and the source
//! that a runtime makes for the kernel.

use crate::model::{Block, Item, Metadata, Record};
use crate::words::MemorySpace;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The code of one function in the text: from `func N ; NAME` to `endfunc ; NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Function {
    /// Number of the function.
    pub id: u32,
    /// Name of the function, empty if the line has none.
    pub name: String,
    /// Index of the item with the first line.
    pub start: usize,
    /// Index of the item with the last line.
    pub end: usize,
}

/// Why the source of a kernel cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceError {
    /// The block has no `;uniqueid:`.
    NoUniqueId,
    /// The text has no mark for the call of the kernel.
    NoCallMarker,
    /// The text has no code of a function that the kernel reaches.
    NoCode(u32),
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceError::NoUniqueId => write!(f, "the block of the kernel has no `;uniqueid:`"),
            SourceError::NoCallMarker => write!(f, "the text has no mark for the call of the kernel"),
            SourceError::NoCode(id) => {
                write!(f, "the text has no code of function {id}, which the kernel reaches")
            }
        }
    }
}

impl std::error::Error for SourceError {}

impl Metadata {
    /// Returns the functions that have code in the text, in its order.
    pub fn functions(&self) -> Vec<Function> {
        let mut functions: Vec<Function> = Vec::new();
        let mut open: Option<Function> = None;
        for (index, item) in self.items.iter().enumerate() {
            let Item::Il(line) = item else { continue };
            let line = line.as_str().trim();
            if let Some(rest) = line.strip_prefix("func ") {
                let (id, name) = rest.split_once(';').unwrap_or((rest, ""));
                if let Ok(id) = id.trim().parse() {
                    let name = name.split(';').next().unwrap_or_default().trim().to_owned();
                    open = Some(Function { id, name, start: index, end: index });
                }
            } else if (line == "endfunc" || line.starts_with("endfunc "))
                && let Some(function) = open.take()
            {
                functions.push(Function { end: index, ..function });
            }
        }
        functions
    }

    /// Returns the blocks by their numbers. Of blocks with the same number, the first counts.
    pub fn blocks_by_id(&self) -> BTreeMap<u32, &Block> {
        let mut blocks = BTreeMap::new();
        for block in self.blocks() {
            if let Some(id) = block.unique_id() {
                blocks.entry(id).or_insert(block);
            }
        }
        blocks
    }

    /// Returns the numbers of the functions that a function calls, directly and through others, without those
    /// of the function itself unless it is called again (seed 003, line 489).
    pub fn reached(&self, block: &Block) -> BTreeSet<u32> {
        let blocks = self.blocks_by_id();
        let mut reached = BTreeSet::new();
        let mut work: Vec<u32> = called(block).collect();
        while let Some(id) = work.pop() {
            if reached.insert(id)
                && let Some(block) = blocks.get(&id)
            {
                work.extend(called(block));
            }
        }
        reached
    }

    /// Returns the numbers of the intrinsics that a function and all functions that it reaches call; a
    /// runtime takes these from a library (seed 003, line 499).
    pub fn intrinsics(&self, block: &Block) -> BTreeSet<u32> {
        let mut ids = BTreeSet::new();
        for block in self.with_reached(block) {
            for record in &block.records {
                if let Record::Intrinsics(list) = record {
                    ids.extend(list);
                }
            }
        }
        ids
    }

    /// Returns the bytes that a kernel needs in an address space: the sum over the kernel and all functions
    /// that it reaches (seed 003, line 323).
    pub fn memory(&self, block: &Block, space: MemorySpace) -> u64 {
        let of_block = |block: &Block| -> u64 {
            let sizes = block.records.iter().map(|record| match record {
                Record::Memory { space: stated, size } if *stated == space => u64::from(*size),
                _ => 0,
            });
            sizes.sum()
        };
        self.with_reached(block).into_iter().map(of_block).sum()
    }

    /// Returns a block and the blocks of the functions that it reaches, each once.
    fn with_reached<'a>(&'a self, block: &'a Block) -> Vec<&'a Block> {
        let blocks = self.blocks_by_id();
        let mut all = vec![block];
        for id in self.reached(block) {
            if Some(id) != block.unique_id() {
                all.extend(blocks.get(&id).copied());
            }
        }
        all
    }

    /// Returns the IL source of one kernel, as a runtime makes it before it compiles the kernel (seed 003,
    /// line 532): the code before the first function, with a call of the kernel in place of the mark, and
    /// after this the functions that the kernel reaches. Descriptions, data and debug lines are not in the
    /// source.
    ///
    /// # Errors
    /// If the block has no number, the text has no mark, or a function has no code.
    pub fn source(&self, kernel: &Block) -> Result<String, SourceError> {
        let id = kernel.unique_id().ok_or(SourceError::NoUniqueId)?;
        let functions = self.functions();
        let first = functions.first().map_or(self.items.len(), |function| function.start);
        let mut source = String::new();
        let mut marked = false;
        for item in &self.items[..first] {
            match item {
                Item::CallMarker => {
                    source += &format!("call {id}\n");
                    marked = true;
                }
                Item::Il(line) => source.extend([line.as_str(), "\n"]),
                _ => {}
            }
        }
        if !marked {
            return Err(SourceError::NoCallMarker);
        }
        let mut needed = self.reached(kernel);
        needed.insert(id);
        let with_code: BTreeSet<u32> = functions.iter().map(|function| function.id).collect();
        if let Some(id) = needed.difference(&with_code).next() {
            return Err(SourceError::NoCode(*id));
        }
        for function in functions.iter().filter(|function| needed.contains(&function.id)) {
            for item in &self.items[function.start..=function.end] {
                if let Item::Il(line) = item {
                    source.extend([line.as_str(), "\n"]);
                }
            }
        }
        Ok(source)
    }
}

/// Returns the numbers of the functions that a block lists.
fn called(block: &Block) -> impl Iterator<Item = u32> {
    block
        .records
        .iter()
        .flat_map(|record| match record {
            Record::Functions(ids) => ids.as_slice(),
            _ => &[],
        })
        .copied()
}
