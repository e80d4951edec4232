//! Computes what kernels need for the code that they reach in other objects: registers, scratch memory and
//! LDS.
//!
//! A compiler counts what a kernel needs in its own object, and makes assumptions about functions in other
//! objects. The linker knows all code that a kernel reaches. If a kernel descriptor allocates less than this
//! code needs, the linker raises the descriptor's numbers.
//!
//! To find this code, the linker follows relocations and distances in code from function to function, also
//! through tables of addresses. A kernel that reaches no code of other objects keeps the register counts of
//! its compiler. Code of other objects may in turn call functions of the kernel's own object that the
//! compiler did not count for the kernel. The linker counts the registers of these functions, too.
//!
//! LDS symbols get consecutive addresses after the LDS that kernels have of their own. Symbols without a
//! size, whose size a launch determines, come last. Each symbol has the same address in all kernels (LLVM's
//! AMDGPU guide: seed 000, line 490).

use crate::Kind;
use crate::input::{Object, Place};
use crate::notes::Contents;
use crate::reach::Graph;
use crate::registers::Used;
use crate::report::{Count, KernelReport, Part, Scratch};
use crate::resources::{self, Declared};
use crate::stack::{Depth, Depths};
use crate::symbols::{Meaning, Symbols};
use codeobj::elf::Relocation;
use isa::Target;
use objwriter::descriptor::{
    self, FLAT_SCRATCH_INIT, GROUP_SEGMENT_FIXED_SIZE, PRIVATE_SEGMENT_BUFFER, PRIVATE_SEGMENT_FIXED_SIZE,
    PRIVATE_SEGMENT_WAVEFRONT_OFFSET, SIZE, TooMany, USES_DYNAMIC_STACK,
};
use objwriter::elf::{STT_AMDGPU_HSA_KERNEL, reloc};
use rustc_hash::{FxHashMap, FxHashSet};

/// An LDS symbol. `Shared` is a global symbol, by its number. `Local` is a local symbol, by the number of its
/// object and its number in the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lds {
    Shared(usize),
    Local(usize, usize),
}

/// Changes in a kernel's metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub vgprs: u32,
    pub sgprs: u32,
    pub lds: u64,
    /// New size of scratch memory, or `None` if the size does not change. The new size may be less than the
    /// old one: a compiler may have assumed more than the code needs.
    pub scratch: Option<u64>,
    pub dynamic_stack: Option<bool>,
}

/// Changes to the descriptors and the metadata of kernels that need more than their compilers knew.
#[derive(Default)]
pub struct Needs<'a> {
    /// New contents of sections with descriptors.
    pub contents: Contents,
    /// Changes to the metadata of kernels. The key is the name of the symbol of the kernel's descriptor.
    pub counts: FxHashMap<&'a str, Counts>,
    /// Addresses of LDS symbols.
    pub lds: FxHashMap<Lds, u64>,
    /// Facts for the report.
    pub kernels: Vec<KernelReport>,
    /// Suspicious facts.
    pub warnings: Vec<String>,
}

/// Options for changing descriptors.
#[derive(Clone, Copy)]
pub struct How {
    pub target: Option<&'static Target>,
    pub kind: Kind,
    /// Whether the stack size that is computed from the code replaces the size that the compiler assumed,
    /// even if it is less than that.
    pub exact_stack: bool,
    /// Whether kernel descriptors have the bit `uses_dynamic_stack`, which says that the stack size is
    /// unknown. They have it from code object V5 on (LLVM's AMDGPU guide describes the descriptor: seed 000,
    /// line 2567).
    pub has_dynamic_stack: bool,
    /// Whether a report is requested.
    pub tells: bool,
}

struct Kernel<'a> {
    /// Name of the descriptor's symbol.
    name: &'a str,
    object: usize,
    section: usize,
    offset: usize,
    bytes: [u8; SIZE],
    /// Nodes that the kernel reaches, the kernel itself first.
    nodes: Vec<usize>,
    lds: Vec<Lds>,
}

impl Kernel<'_> {
    fn is_wave32(&self) -> bool {
        descriptor::WAVEFRONT_SIZE32.get(&self.bytes) != 0
    }
}

/// Computes the changes that all kernels need in their descriptors and metadata.
///
/// # Errors
/// A kernel needs more registers or LDS than it can have.
pub fn needs<'a>(symbols: &Symbols<'a>, live: &[Vec<bool>], how: How) -> Result<Needs<'a>, String> {
    let mut graph = Graph::new(symbols, how.target);
    let mut kernels = kernels(symbols, live, &mut graph);
    let lds = match how.kind {
        Kind::Loadable => allotted(symbols, &kernels)?,
        // A relocatable output may be linked again, with more LDS symbols. This link therefore assigns no
        // addresses to LDS symbols.
        Kind::Relocatable => {
            kernels.iter_mut().for_each(|kernel| kernel.lds.clear());
            FxHashMap::default()
        }
    };
    let mut needs = Needs { lds, ..Needs::default() };
    let declared: Vec<_> = symbols.objects.iter().map(resources::declared).collect();
    let declared = |node: usize| {
        let of_object: &FxHashMap<&str, Declared> = &declared[graph.nodes[node].piece.object];
        if of_object.is_empty() { None } else { of_object.get(graph.name(node)).copied() }
    };
    // The stack size of a function depends on the wave size and on the scale, the number of stack pointer
    // units for one byte. Known sizes are therefore kept for each pair of these.
    let mut depths: FxHashMap<(bool, u32), Depths> = FxHashMap::default();
    for kernel in &kernels {
        let scale = scale(kernel, how.target);
        let depths = depths
            .entry((kernel.is_wave32(), scale))
            .or_insert_with(|| Depths::new(&graph, scale, &declared));
        let mut raise = Raise { symbols, graph: &graph, kernel, how, needs: &mut needs };
        raise.all(depths, &declared)?;
    }
    wave_sizes(symbols, &graph, &kernels, &mut needs.warnings);
    Ok(needs)
}

/// Returns the number of units by which the stack pointer moves for one byte of a lane. In swizzled scratch
/// memory, the stack pointer counts the bytes of all lanes.
fn scale(kernel: &Kernel, target: Option<&Target>) -> u32 {
    let asks_for_flat =
        FLAT_SCRATCH_INIT.get(&kernel.bytes) != 0 && PRIVATE_SEGMENT_BUFFER.get(&kernel.bytes) == 0;
    let is_flat = asks_for_flat || target.is_some_and(|target| target.stack_scale() == 1);
    let lanes = if kernel.is_wave32() { 32 } else { target.map_or(64, |target| target.wave_size.max(32)) };
    match (is_flat, kernel.is_wave32()) {
        (true, _) => 1,
        (false, true) => lanes,
        (false, false) => 64,
    }
}

/// Returns the kernels with what each of them reaches.
fn kernels<'a>(symbols: &Symbols<'a>, live: &[Vec<bool>], graph: &mut Graph<'_, 'a>) -> Vec<Kernel<'a>> {
    let mut kernels = Vec::new();
    for (number, object) in symbols.objects.iter().enumerate() {
        for symbol in &object.symbols {
            let Some(descriptor) = object.file.descriptor(symbol) else { continue };
            if !live[number][descriptor.section] {
                continue;
            }
            let at = descriptor.address + descriptor::ENTRY_OFFSET;
            let is_entry = |record: &&Relocation| record.kind == reloc::REL64 && record.offset == at;
            let Some(entry) = object.relocations[descriptor.section].iter().find(is_entry) else { continue };
            let mut kernel = Kernel {
                name: symbol.name,
                object: number,
                section: descriptor.section,
                offset: descriptor.address as usize,
                bytes: descriptor.bytes,
                nodes: Vec::new(),
                lds: Vec::new(),
            };
            kernel.nodes = graph.reached(number, entry, kernel.is_wave32());
            let mut seen = FxHashSet::default();
            for &node in &kernel.nodes {
                kernel.lds.extend(graph.nodes[node].lds.iter().filter(|&&lds| seen.insert(lds)));
            }
            kernels.push(kernel);
        }
    }
    kernels
}

/// State of raising one kernel's descriptor.
struct Raise<'r, 's, 'a> {
    symbols: &'r Symbols<'a>,
    graph: &'r Graph<'s, 'a>,
    kernel: &'r Kernel<'a>,
    how: How,
    needs: &'r mut Needs<'a>,
}

impl<'a> Raise<'_, '_, 'a> {
    fn all(
        &mut self,
        depths: &mut Depths,
        declared: &dyn Fn(usize) -> Option<Declared>,
    ) -> Result<(), String> {
        let mut bytes = self.kernel.bytes;
        let mut counts = Counts::default();
        let registers = self.registers(&mut bytes, &mut counts, declared)?;
        let lds = self.lds(&mut bytes, &mut counts)?;
        let scratch = self.scratch(&mut bytes, &mut counts, depths);
        let own = self.kernel.object;
        if self.how.tells {
            let functions = self.kernel.nodes.iter().skip(1);
            let functions = functions.filter(|&&node| self.graph.nodes[node].facts.is_code);
            let report = KernelReport {
                name: self.kernel.name.strip_suffix(".kd").unwrap_or(self.kernel.name).to_owned(),
                object: self.symbols.objects[own].name.clone(),
                functions: functions.map(|&node| self.part(node)).collect(),
                registers,
                lds,
                scratch,
            };
            self.needs.kernels.push(report);
        }
        if bytes != self.kernel.bytes {
            self.needs.counts.insert(self.kernel.name, counts);
            let place = (own, self.kernel.section);
            let data = self.symbols.objects[own].sections()[self.kernel.section].data;
            let contents = self.needs.contents.entry(place).or_insert_with(|| data.to_vec());
            contents[self.kernel.offset..self.kernel.offset + SIZE].copy_from_slice(&bytes);
        }
        Ok(())
    }

    fn part(&self, node: usize) -> Part {
        Part { name: self.graph.name(node).to_owned(), object: self.graph.object(node).to_owned() }
    }

    /// Returns the nodes in other objects that the kernel reaches.
    fn elsewhere(&self) -> impl Iterator<Item = usize> {
        let (graph, object) = (self.graph, self.kernel.object);
        let nodes = self.kernel.nodes.iter().copied();
        nodes.filter(move |&node| graph.nodes[node].piece.object != object && graph.nodes[node].facts.is_code)
    }

    fn registers(
        &self,
        bytes: &mut [u8; SIZE],
        counts: &mut Counts,
        declared: &dyn Fn(usize) -> Option<Declared>,
    ) -> Result<Vec<Count>, String> {
        let (mut used, mut most) = (Used::default(), [None; 3]);
        let leaves = self.elsewhere().next().is_some();
        let called = self.kernel.nodes.iter().copied().skip(1).filter(|_| leaves);
        for node in called.filter(|&node| self.graph.nodes[node].facts.is_code) {
            let declared = declared(node).filter(|declared| declared.is_all);
            let here = self.graph.nodes[node].facts.used.join(declared.unwrap_or_default().used);
            let joined = used.join(here);
            for ((most, now), before) in most.iter_mut().zip(joined.all()).zip(used.all()) {
                *most = if now > before { Some(node) } else { *most };
            }
            used = joined;
        }
        let Some(target) = self.how.target.filter(|_| used != Used::default()) else { return Ok(Vec::new()) };
        let has = Used::allotted(target, bytes);
        let raised = used.raise(target, bytes);
        (counts.vgprs, counts.sgprs) = raised.map_err(|error| {
            let most = if matches!(error, TooMany::Vgprs(_)) { most[0].or(most[1]) } else { most[2] };
            let by = most.map_or(String::new(), |node| {
                format!(", which `{}` in {} names", self.graph.name(node), self.graph.object(node))
            });
            format!("{}: {error}{by}", self.kernel.name)
        })?;
        let now = Used::allotted(target, bytes);
        let row = |n: usize| {
            let (name, count) = (["VGPRs", "AGPRs", "SGPRs"][n], used.all()[n]);
            let by = most[n].map(|node| self.part(node))?;
            Some(Count {
                name,
                needed: count.into(),
                by,
                allotted: has.all()[n].into(),
                now: now.all()[n].into(),
            })
        };
        Ok((0..3).filter_map(row).collect())
    }

    fn lds(&self, bytes: &mut [u8; SIZE], counts: &mut Counts) -> Result<Vec<Count>, String> {
        let allotted = GROUP_SEGMENT_FIXED_SIZE.get(bytes);
        let end = |lds: &Lds| self.needs.lds[lds] + self.symbols.lds(*lds).0;
        let end = self.kernel.lds.iter().map(end).max().unwrap_or(0);
        if end > allotted {
            counts.lds = end;
            if let Some(most) = self.how.target.map(|target| target.max_lds_per_group)
                && end > most.into()
            {
                return Err(format!(
                    "{}: {end} bytes of LDS are more than the {most} there are",
                    self.kernel.name
                ));
            }
            GROUP_SEGMENT_FIXED_SIZE.set(bytes, end);
        }
        let row = |lds: &Lds| {
            let (object, symbol) = self.symbols.definition(*lds)?;
            let object = &self.symbols.objects[object];
            let by = Part { name: object.symbols[symbol].name.to_owned(), object: object.name.clone() };
            let needed = self.needs.lds[lds] + self.symbols.lds(*lds).0;
            Some(Count { name: "LDS", needed, by, allotted, now: end.max(allotted) })
        };
        Ok(self.kernel.lds.iter().filter_map(row).collect())
    }

    /// Updates the size of a kernel's scratch memory. This is done only if the kernel reaches code of other
    /// objects, because the compiler has counted the code in the kernel's own object.
    fn scratch(
        &mut self,
        bytes: &mut [u8; SIZE],
        counts: &mut Counts,
        depths: &mut Depths,
    ) -> Option<Scratch> {
        let root = *self.kernel.nodes.first()?;
        self.elsewhere().next()?;
        let depth = depths.stack_size(root);
        let allotted = PRIVATE_SEGMENT_FIXED_SIZE.get(bytes);
        let is_exact = depth.unknown.is_none();
        let known = depth.bytes.next_multiple_of(16).min(PRIVATE_SEGMENT_FIXED_SIZE.max());
        // A kernel sets the stack pointer to the end of its own frame before it calls functions. If the value
        // of the stack pointer is known at all calls, the stack size that was computed from the calls
        // therefore includes the kernel's frame.
        let is_based = self.graph.nodes[root].facts.calls.iter().all(|call| call.stack.is_some());
        let may_lower = is_exact && is_based && self.how.exact_stack;
        let now = if may_lower { known } else { allotted.max(depth.bytes) };
        let now = now.min(PRIVATE_SEGMENT_FIXED_SIZE.max());
        if now != allotted {
            PRIVATE_SEGMENT_FIXED_SIZE.set(bytes, now);
            counts.scratch = Some(now);
        }
        let was_dynamic = USES_DYNAMIC_STACK.get(bytes) != 0;
        let is_dynamic = match is_exact {
            true => was_dynamic && !may_lower,
            false => was_dynamic || self.how.has_dynamic_stack,
        };
        if is_dynamic != was_dynamic {
            USES_DYNAMIC_STACK.set(bytes, is_dynamic.into());
            counts.dynamic_stack = Some(is_dynamic);
        }
        self.check_scratch(depth, bytes);
        let unknown = depth.unknown.map(|(node, why)| (self.part(node), why));
        Some(Scratch {
            allotted,
            now,
            known: depth.bytes,
            chain: if self.how.tells { self.chain(root, depths) } else { Vec::new() },
            unknown,
            is_dynamic,
        })
    }

    /// Returns the chain of calls from the function `root` that needs most stack. Each function in the chain
    /// has the number of bytes that it takes itself.
    fn chain(&self, root: usize, depths: &mut Depths) -> Vec<(Part, u64)> {
        let (mut chain, mut node, mut seen) = (Vec::new(), Some(root), FxHashSet::default());
        while let Some(here) = node.filter(|&node| seen.insert(node)) {
            let depth = depths.stack_size(here);
            chain.push((self.part(here), depth.own));
            node = depth.next;
        }
        chain
    }

    /// Warns if a kernel does not initialise the registers for scratch memory, although functions that it
    /// calls use scratch memory.
    fn check_scratch(&mut self, depth: Depth, bytes: &[u8; SIZE]) {
        let fields = [PRIVATE_SEGMENT_BUFFER, FLAT_SCRATCH_INIT, PRIVATE_SEGMENT_WAVEFRONT_OFFSET];
        let has_none = fields.iter().all(|field| field.get(bytes) == 0);
        let user = self.elsewhere().find(|&node| {
            let stack = &self.graph.nodes[node].facts.stack;
            stack.moved > 0 || stack.escapes || !stack.accesses.is_empty()
        });
        if let (true, true, Some(user)) = (has_none, depth.bytes > 0 || depth.unknown.is_some(), user) {
            let (name, object) = (self.graph.name(user), self.graph.object(user));
            self.needs.warnings.push(format!(
                "{}: `{name}` in {object} takes scratch memory, and the kernel's descriptor asks for nothing that sets it up",
                self.kernel.name
            ));
        }
    }
}

/// Warns about code that kernels with different wave sizes reach. Code is compiled for one wave size, and is
/// wrong for the other.
fn wave_sizes(symbols: &Symbols, graph: &Graph, kernels: &[Kernel], warnings: &mut Vec<String>) {
    let mut users = FxHashMap::default();
    let mut said = FxHashSet::default();
    for kernel in kernels {
        for &node in kernel.nodes.iter().skip(1).filter(|&&node| graph.nodes[node].facts.is_code) {
            let piece = graph.nodes[node].piece;
            let first = *users.entry(piece).or_insert(kernel);
            if first.is_wave32() != kernel.is_wave32() && said.insert(piece) {
                let lanes = |kernel: &Kernel| if kernel.is_wave32() { 32 } else { 64 };
                warnings.push(format!(
                    "`{}` in {} is reached by {} of {}, with waves of {} lanes, and by {} of {}, with waves of {}",
                    graph.name(node),
                    graph.object(node),
                    first.name,
                    symbols.objects[first.object].name,
                    lanes(first),
                    kernel.name,
                    symbols.objects[kernel.object].name,
                    lanes(kernel)
                ));
            }
        }
    }
}

/// Assigns addresses to LDS symbols.
fn allotted(symbols: &Symbols, kernels: &[Kernel]) -> Result<FxHashMap<Lds, u64>, String> {
    let all = symbols.all_lds();
    let is_old = |object: &Object| object.symbols.iter().any(|symbol| symbol.kind == STT_AMDGPU_HSA_KERNEL);
    if let Some(object) = symbols.objects.iter().find(|object| !all.is_empty() && is_old(object)) {
        return Err(format!(
            "{}: kernels of code objects V2 have no descriptors that LDS symbols could change",
            object.name
        ));
    }
    let own = |kernel: &Kernel| GROUP_SEGMENT_FIXED_SIZE.get(&kernel.bytes);
    let mut end = kernels.iter().filter(|kernel| !kernel.lds.is_empty()).map(own).max().unwrap_or(0);
    let mut places = FxHashMap::default();
    let (sized, dynamic): (Vec<Lds>, Vec<Lds>) = all.into_iter().partition(|&lds| symbols.lds(lds).0 > 0);
    for lds in sized {
        let (size, align) = symbols.lds(lds);
        let place = end.next_multiple_of(align.max(1));
        places.insert(lds, place);
        end = place.saturating_add(size);
    }
    // All LDS symbols without a size have the same address: each is a view of the same memory, whose size the
    // launch determines.
    let align = dynamic.iter().map(|&lds| symbols.lds(lds).1).max().unwrap_or(1);
    let place = end.next_multiple_of(align.max(1));
    places.extend(dynamic.into_iter().map(|lds| (lds, place)));
    Ok(places)
}

impl Symbols<'_> {
    /// Returns the LDS symbol to which a symbol of an object resolves. Returns `None` if the symbol is not in
    /// LDS.
    pub fn lds_of(&self, object: usize, symbol: usize) -> Option<Lds> {
        let found = &self.objects[object].symbols[symbol];
        let lds = self.global_of(found).map_or(Lds::Local(object, symbol), Lds::Shared);
        let (object, symbol) = self.definition(lds)?;
        (self.objects[object].symbol_place(&self.objects[object].symbols[symbol]) == Place::Lds)
            .then_some(lds)
    }

    pub fn definition(&self, lds: Lds) -> Option<(usize, usize)> {
        match lds {
            Lds::Local(object, symbol) => Some((object, symbol)),
            Lds::Shared(global) => match self.globals[global].meaning {
                Meaning::Common { object, symbol, .. } => Some((object, symbol)),
                _ => None,
            },
        }
    }

    /// Returns the size and alignment of an LDS symbol.
    pub fn lds(&self, lds: Lds) -> (u64, u64) {
        match lds {
            Lds::Local(object, symbol) => {
                let symbol = &self.objects[object].symbols[symbol];
                (symbol.size, symbol.value)
            }
            Lds::Shared(global) => match self.globals[global].meaning {
                Meaning::Common { size, align, .. } => (size, align),
                _ => (0, 1),
            },
        }
    }

    /// Returns all LDS symbols without duplicates.
    fn all_lds(&self) -> Vec<Lds> {
        let mut all = Vec::new();
        for (number, object) in self.objects.iter().enumerate() {
            for (n, symbol) in object.symbols.iter().enumerate().skip(1) {
                if object.symbol_place(symbol) == Place::Lds
                    && let Some(lds) = self.lds_of(number, n)
                {
                    // A global symbol may occur in several objects. It is listed once, for the object whose
                    // definition was chosen.
                    let is_first = self.definition(lds) == Some((number, n));
                    all.extend(is_first.then_some(lds));
                }
            }
        }
        all
    }
}
