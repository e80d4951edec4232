//! The graph of references between the functions and data of all objects.
//!
//! A function is the code that a symbol of type `STT_FUNC` covers. Code from an assembly source may have no
//! such symbols. A function is then the code between two names that other objects see. Everything in a
//! section that no function covers is one more node of the graph.

use crate::code::{Call, Facts, Function, Site};
use crate::input::{Object, Place};
use crate::kernels::Lds;
use crate::symbols::{Meaning, Symbols};
use codeobj::elf::{Relocation, Symbol};
use isa::Target;
use objwriter::descriptor::ENTRY_OFFSET;
use objwriter::elf::{STB_LOCAL, STT_AMDGPU_HSA_KERNEL, STT_FUNC, reloc};
use rustc_hash::{FxHashMap, FxHashSet};

const STT_SECTION: u8 = 3;

/// A node of the graph: a function, or what remains of a section without its functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    pub object: usize,
    pub section: usize,
    /// Index of the function in the list of the object's functions. `None` stands for the rest of the
    /// section, which no function covers.
    pub function: Option<usize>,
}

/// Function of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent {
    pub section: usize,
    pub start: u64,
    pub end: u64,
    pub is_sized: bool,
    pub is_kernel: bool,
    pub symbol: usize,
}

/// Callee of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Callee {
    /// Node of the callee; `None` if the callee is not known.
    pub node: Option<usize>,
    pub stack: Option<i64>,
}

/// A function or the rest of a section, with its references to other nodes.
pub struct Node {
    pub piece: Piece,
    pub facts: Facts,
    pub to: Vec<usize>,
    pub calls: Vec<Callee>,
    pub lds: Vec<Lds>,
    is_filled: bool,
}

/// Where a relocation is, which decides how its addend is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Data,
    Code,
    Descriptor,
}

/// The graph of references. It contains only the nodes that have been asked for so far.
pub struct Graph<'s, 'a> {
    symbols: &'s Symbols<'a>,
    pub functions: Vec<Vec<Extent>>,
    /// Target for waves of 32 lanes, and for waves of 64 lanes.
    targets: [Option<&'static Target>; 2],
    pub nodes: Vec<Node>,
    by_piece: FxHashMap<(Piece, bool), usize>,
    /// For each section: the indices of its relocations, in the order of their offsets. The key is the number
    /// of the object and the number of the section.
    places: FxHashMap<(usize, usize), Vec<usize>>,
}

impl<'s, 'a> Graph<'s, 'a> {
    pub fn new(symbols: &'s Symbols<'a>, target: Option<&'static Target>) -> Graph<'s, 'a> {
        let of_wave = |lanes: u32| target.map(|target| target.with_wave_size(lanes).unwrap_or(target));
        Graph {
            symbols,
            functions: symbols.objects.iter().map(functions).collect(),
            targets: [of_wave(32), of_wave(64)],
            nodes: Vec::new(),
            by_piece: FxHashMap::default(),
            places: FxHashMap::default(),
        }
    }

    /// Returns the name of a node: the name of its function, or of its section if the node is not a function.
    pub fn name(&self, node: usize) -> &'a str {
        let Piece { object, section, function } = self.nodes[node].piece;
        let object_file = &self.symbols.objects[object];
        match function {
            Some(row) => object_file.symbols[self.functions[object][row].symbol].name,
            None => object_file.sections()[section].name,
        }
    }

    /// Returns the name of the file to which a piece belongs.
    pub fn object(&self, node: usize) -> &'s str {
        &self.symbols.objects[self.nodes[node].piece.object].name
    }

    /// Returns the node to which a relocation refers, followed by all nodes that can be reached from it.
    pub fn reached(&mut self, object: usize, entry: &Relocation, is_wave32: bool) -> Vec<usize> {
        let Some(piece) = self.target(object, entry, From::Descriptor).first().copied() else {
            return Vec::new();
        };
        let mut reached = vec![self.node(piece, is_wave32)];
        let mut known: FxHashSet<usize> = reached.iter().copied().collect();
        let mut next = 0;
        while let Some(&node) = reached.get(next) {
            next += 1;
            for n in 0..self.nodes[node].to.len() {
                let to = self.nodes[node].to[n];
                // The references of a node are looked for when the search reaches the node. The list of
                // reached nodes takes the place of recursion, so long chains do no harm.
                if known.insert(to) {
                    self.fill(to, is_wave32);
                    reached.push(to);
                }
            }
        }
        reached
    }

    fn node(&mut self, piece: Piece, is_wave32: bool) -> usize {
        let node = self.number(piece, is_wave32);
        self.fill(node, is_wave32);
        node
    }

    fn number(&mut self, piece: Piece, is_wave32: bool) -> usize {
        let next = self.nodes.len();
        let number = *self.by_piece.entry((piece, is_wave32)).or_insert(next);
        if number == next {
            let (facts, to, calls, lds) = Default::default();
            self.nodes.push(Node { piece, facts, to, calls, lds, is_filled: false });
        }
        number
    }

    /// Finds the nodes to which a node refers, unless they have been found before.
    fn fill(&mut self, number: usize, is_wave32: bool) {
        if std::mem::replace(&mut self.nodes[number].is_filled, true) {
            return;
        }
        let piece = self.nodes[number].piece;
        let Piece { object, section, function } = piece;
        let symbols = self.symbols;
        let relocations = &symbols.objects[object].relocations[section];
        let from =
            if symbols.objects[object].sections()[section].is_code() { From::Code } else { From::Data };
        let by_place = self.places.entry((object, section)).or_insert_with(|| {
            let mut list: Vec<usize> = (0..relocations.len()).collect();
            list.sort_by_key(|&n| relocations[n].offset);
            list
        });
        let by_place = std::mem::take(by_place);
        let facts = self.facts(piece, relocations, &by_place, is_wave32);
        let mut to: Vec<Piece> = Vec::new();
        let mut lds = Vec::new();
        for range in self.parts(piece) {
            let first = by_place.partition_point(|&n| relocations[n].offset < range.start);
            let inside = by_place[first..].iter().take_while(|&&n| relocations[n].offset < range.end);
            for &n in inside {
                to.extend(self.target(object, &relocations[n], from));
                lds.extend(symbols.lds_of(object, relocations[n].symbol as usize));
            }
        }
        self.places.insert((object, section), by_place);
        to.extend(facts.here.iter().filter_map(|&offset| self.piece_at(object, section, offset)));
        if facts.is_wild && function.is_some() {
            let all = self.functions[object].iter().enumerate();
            let here = all.filter(|(_, extent)| extent.section == section && !extent.is_kernel);
            to.extend(here.map(|(row, _)| Piece { function: Some(row), ..piece }));
            to.push(Piece { function: None, ..piece });
        }
        let calls: Vec<_> = facts.calls.iter().map(|call| (self.callee(piece, call), call.stack)).collect();
        let node = |graph: &mut Self, piece| graph.number(piece, is_wave32);
        to.extend(calls.iter().filter_map(|(callee, _)| *callee));
        let mut seen = FxHashSet::default();
        to.retain(|&piece| seen.insert(piece) && !self.is_kernel(piece));
        let to = to.into_iter().map(|piece| node(self, piece)).collect();
        let calls = calls
            .into_iter()
            .map(|(callee, stack)| Callee { node: callee.map(|piece| node(self, piece)), stack })
            .collect();
        lds.sort_unstable();
        lds.dedup();
        let filled = &mut self.nodes[number];
        (filled.facts, filled.to, filled.calls, filled.lds) = (facts, to, calls, lds);
    }

    fn is_kernel(&self, piece: Piece) -> bool {
        piece.function.is_some_and(|row| self.functions[piece.object][row].is_kernel)
    }

    /// Returns the ranges of a section that belong to a piece.
    fn parts(&self, piece: Piece) -> Vec<std::ops::Range<u64>> {
        let functions = &self.functions[piece.object];
        if let Some(row) = piece.function {
            return std::iter::once(functions[row].start..functions[row].end).collect();
        }
        let first = functions.partition_point(|extent| extent.section < piece.section);
        let here = functions[first..].iter().take_while(|extent| extent.section == piece.section);
        let (mut parts, mut end) = (Vec::new(), 0);
        for extent in here {
            if extent.start > end {
                parts.push(end..extent.start);
            }
            end = end.max(extent.end);
        }
        parts.push(end..u64::MAX);
        parts
    }

    fn facts(&self, piece: Piece, relocations: &[Relocation], by_place: &[usize], is_wave32: bool) -> Facts {
        let section = &self.symbols.objects[piece.object].sections()[piece.section];
        let Some(target) = self.targets[usize::from(!is_wave32)].filter(|_| section.is_code()) else {
            return Facts::default();
        };
        match piece.function {
            Some(row) => {
                let Extent { start, end, is_sized, is_kernel, .. } = self.functions[piece.object][row];
                let code = section.data;
                let function =
                    Function { code, extent: start..end, relocations, by_place, is_kernel, is_sized };
                function.facts(target)
            }
            None => {
                let mut facts = Facts { is_code: true, ..Facts::default() };
                for part in self.parts(piece) {
                    facts.used =
                        facts.used.join(crate::registers::Used::from_code(section.data, part, target));
                }
                facts
            }
        }
    }

    fn callee(&self, piece: Piece, call: &Call) -> Option<Piece> {
        match call.to? {
            Site::Here(offset) => self.piece_at(piece.object, piece.section, offset),
            Site::Relocation(n) => {
                let record = self.symbols.objects[piece.object].relocations[piece.section].get(n)?;
                self.target(piece.object, record, From::Code).first().copied()
            }
        }
    }

    /// Returns the piece at an offset of a section.
    fn piece_at(&self, object: usize, section: usize, offset: u64) -> Option<Piece> {
        if offset >= self.symbols.objects[object].sections()[section].size {
            return None;
        }
        let functions = &self.functions[object];
        let after = functions.partition_point(|extent| (extent.section, extent.start) <= (section, offset));
        let function = after.checked_sub(1).filter(|&row| {
            let extent = functions[row];
            extent.section == section && (extent.start..extent.end).contains(&offset)
        });
        Some(Piece { object, section, function })
    }

    /// Returns the nodes to which a relocation may refer. In code, the addend usually includes 4 or 12 bytes,
    /// the distance from the program counter to the field that the relocation changes. This distance is
    /// subtracted to find the target.
    fn target(&self, object: usize, record: &Relocation, from: From) -> Vec<Piece> {
        let Some((object, symbol)) = self.symbols.definition_of(object, record.symbol as usize) else {
            return Vec::new();
        };
        let found = &self.symbols.objects[object].symbols[symbol];
        let Place::Section(section) = self.symbols.objects[object].symbol_place(found) else {
            return Vec::new();
        };
        let added = match record.kind {
            reloc::GOTPCREL | reloc::GOTPCREL32_LO | reloc::GOTPCREL32_HI => 0,
            reloc::REL32_LO if from == From::Code => record.addend.wrapping_sub(4),
            reloc::REL32_HI if from == From::Code => record.addend.wrapping_sub(12),
            _ if from == From::Descriptor => record.addend.wrapping_sub(ENTRY_OFFSET as i64),
            _ => record.addend,
        };
        let mut pieces = Vec::with_capacity(2);
        pieces.extend(self.piece_at(object, section, found.value.wrapping_add_signed(added)));
        // In hand-written code, the addend may not include the distance from the program counter to the
        // field. The target for this case is therefore returned, too.
        let plain = if found.kind == STT_SECTION { record.addend } else { 0 };
        let plain = self.piece_at(object, section, found.value.wrapping_add_signed(plain));
        pieces.extend(plain.filter(|plain| !pieces.contains(plain)));
        if pieces.is_empty() {
            pieces.push(Piece { object, section, function: None });
        }
        pieces
    }
}

/// Returns the functions of an object, in the order of their positions.
fn functions(object: &Object) -> Vec<Extent> {
    let descriptors = object.symbols.iter().filter_map(|symbol| object.file.descriptor(symbol));
    let kernels: FxHashSet<&str> = descriptors.map(|descriptor| descriptor.kernel).collect();
    let extent = |(n, symbol): (usize, &Symbol)| {
        let Place::Section(section) = object.symbol_place(symbol) else { return None };
        let is_name = symbol.kind == STT_FUNC || symbol.binding != STB_LOCAL && symbol.kind != STT_SECTION;
        let found = object.sections()[section];
        let is_kernel = kernels.contains(symbol.name) || symbol.kind == STT_AMDGPU_HSA_KERNEL;
        let end = symbol.value.saturating_add(symbol.size).min(found.data.len() as u64);
        let is_sized = symbol.size > 0;
        let extent = Extent { section, start: symbol.value, end, is_sized, is_kernel, symbol: n };
        (is_name && found.is_code() && symbol.value < found.data.len() as u64).then_some(extent)
    };
    let mut extents: Vec<Extent> = object.symbols.iter().enumerate().skip(1).filter_map(extent).collect();
    // Several names may denote the same place. A name with a size then comes last, because lookups find the
    // last one.
    extents.sort_by_key(|extent| (extent.section, extent.start, extent.is_sized, extent.is_kernel));
    // A function without a size extends to the beginning of the next function that begins at a different
    // position. The loop computes this from the last function to the first.
    let mut next: Option<(usize, u64)> = None;
    let mut after: Option<(usize, u64)> = None;
    for extent in extents.iter_mut().rev() {
        if next.is_none_or(|next| next != (extent.section, extent.start)) {
            (after, next) = (next, Some((extent.section, extent.start)));
        }
        if !extent.is_sized {
            let size = object.sections()[extent.section].data.len() as u64;
            extent.end = after.filter(|after| after.0 == extent.section).map_or(size, |after| after.1);
        }
    }
    extents
}

impl Symbols<'_> {
    /// Returns the definition to which a symbol of an object resolves, as the number of an object and the
    /// number of a symbol in it.
    pub fn definition_of(&self, object: usize, symbol: usize) -> Option<(usize, usize)> {
        let found = &self.objects[object].symbols[symbol];
        match self.global_of(found).map(|global| self.globals[global].meaning) {
            Some(Meaning::Defined { object, symbol }) => Some((object, symbol)),
            Some(_) => None,
            None => Some((object, symbol)),
        }
    }
}
