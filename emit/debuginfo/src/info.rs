//! Writes `.debug_info` and the sections to which it refers.

mod lane_pc;
mod types;

use crate::calls::Call;
use crate::entries::{Entries, Shape};
use crate::expression::{Memory, Writer};
use crate::final_code::{Location, Range};
use crate::names::{self, Named};
use crate::scopes::{Kind, Scopes};
use crate::sections::{self, Lists, NAMES, Name, Strings, Version};
use crate::{DebugInfo, Function, lines};
use emit::{Dialect, Image};
use ir::Space;
use ir::describe::{Encoding, TypeInfo};
use ir::track::Variable;
use objwriter::dwarf::Contents;
use objwriter::elf::Target;
use objwriter::frames::AUGMENTATION;
use objwriter::operations::{DW_OP_ADDR, DW_OP_ADDRX};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

const PRODUCER: &str = concat!("kernc ", env!("CARGO_PKG_VERSION"));
/// Language of the unit. DWARF has no number for kernc's language, so the unit says OpenCL: debuggers know
/// OpenCL, its expressions are those of C, and it has the memories of GPUs.
const DW_LANG_OPENCL: u16 = 0x15;
const DW_UT_COMPILE: u8 = 1;
const DW_INL_INLINED: u8 = 1;

/// Returns the names and contents of all debug sections, in the order in which the object contains them.
pub fn write(info: &DebugInfo, image: &Image<'_>) -> Vec<(&'static str, Contents)> {
    let version = info.options.version;
    let mut unit = Unit::new(info, image);
    unit.write();
    let index = (info.options.names && version == Version::V5).then(|| unit.index());
    let Unit { mut entries, strings, ranges, places, addresses, .. } = unit;
    entries.abbreviations.push(0);
    let plain = |bytes| Contents { bytes, ..Contents::default() };
    let mut all = Vec::with_capacity(sections::COUNT);
    all.extend([
        (Name::Abbrev, plain(entries.abbreviations)),
        (Name::Info, entries.contents),
        (Name::Line, lines::write(info, image)),
    ]);
    if version == Version::V5 {
        let offsets = sections::string_offsets(&strings, section(image, Name::Str));
        all.extend([(Name::StrOffsets, offsets), (Name::Addr, sections::addresses(&addresses))]);
    }
    all.push((Name::Str, plain(strings.bytes)));
    let [ranges_name, places_name] = lists(version);
    all.extend(ranges.finish(version).map(|contents| (ranges_name, contents)));
    all.extend(places.finish(version).map(|contents| (places_name, contents)));
    all.extend(index);
    sections::number(&mut all, image.first);
    all.into_iter().map(|(name, contents)| (NAMES[name as usize], contents)).collect()
}

/// Returns the sections of range lists and location lists.
fn lists(version: Version) -> [Name; 2] {
    match version {
        Version::V5 => [Name::Rnglists, Name::Loclists],
        Version::V4 => [Name::Ranges, Name::Loc],
    }
}

/// Returns the relocation target for a debug section. Its section number is provisional, because empty
/// sections are omitted later; [`sections::number`] replaces it by the final number.
fn section(image: &Image<'_>, name: Name) -> Target {
    Target::Section(image.first + name as u32)
}

/// The abstract entry of a source function that was inlined. The entries of all its inlined copies refer to
/// this entry.
#[derive(Default)]
struct Abstract {
    /// Offset of the entry.
    entry: u32,
    /// Offsets of the entries of the function's variables. The key is the source position of the declaration,
    /// and the name.
    variables: FxHashMap<(u32, String), u32>,
}

struct Unit<'a> {
    info: &'a DebugInfo,
    image: &'a Image<'a>,
    version: Version,
    entries: Entries,
    strings: Strings,
    ranges: Lists,
    places: Lists,
    addresses: Vec<(Target, u64)>,
    address_numbers: FxHashMap<(Target, u64), u64>,
    /// Offsets of the entries of DWARF procedures, by expression.
    procedures: FxHashMap<Vec<u8>, u32>,
    /// `types` has, for each type, the offset of its entry. A type may refer to a type whose entry is not
    /// written yet. `waiting` has the positions of such references, which are filled in later.
    types: Vec<u32>,
    waiting: Vec<(usize, u32)>,
    abstracts: FxHashMap<u32, Abstract>,
    /// Entries that the index of names contains.
    named: Vec<Named>,
    /// `functions` has the offsets of the entries of functions that have code, in the order of the functions.
    /// A call site may refer to a function whose entry is not written yet. `callers` has the positions of
    /// such references, which are filled in later.
    functions: Vec<u32>,
    callers: Vec<(usize, usize)>,
    /// Offset of the first byte of the unit's code in its section.
    base: u64,
    scratch: Vec<u8>,
    listing: Option<Listing>,
}

/// The variable whose location list is written: its function, its size in bytes, and the offset of the
/// function's code in the unit's code (`start`).
struct VariableEntry<'a> {
    function: &'a Function,
    variable: &'a Variable,
    size: u32,
    start: u32,
}

/// Location list while it is written.
struct Listing {
    /// Offset of the list, if the list has an entry.
    list: Option<u32>,
    /// `open` is the code range of the list entry that is written next, and `last` is its expression. The
    /// entry is kept back, because the next range may have the same expression and then extends the entry.
    open: Option<(u32, u32)>,
    last: Vec<u8>,
    /// Current expression.
    bytes: Vec<u8>,
    /// Code offsets at which the location of some fragment (scalar part) of the variable changes.
    bounds: Vec<u32>,
}

impl Listing {
    fn new() -> Listing {
        let few = || Vec::with_capacity(64);
        Listing { list: None, open: None, last: few(), bytes: few(), bounds: Vec::new() }
    }
}

impl<'a> Unit<'a> {
    fn new(info: &'a DebugInfo, image: &'a Image<'a>) -> Unit<'a> {
        let version = info.options.version;
        let places: usize = info.functions.iter().flatten().map(|function| function.code.ranges.len()).sum();
        Unit {
            info,
            image,
            version,
            entries: Entries::new(version),
            strings: Strings::new(),
            ranges: Lists::new(version, 64),
            places: Lists::new(version, 16 * places),
            addresses: Vec::with_capacity(16),
            address_numbers: FxHashMap::default(),
            procedures: FxHashMap::default(),
            types: vec![0; info.description.types.len()],
            waiting: Vec::with_capacity(16),
            abstracts: FxHashMap::default(),
            named: Vec::with_capacity(if info.options.names { 16 } else { 0 }),
            functions: vec![0; info.functions.len()],
            callers: Vec::new(),
            base: image.code.0,
            scratch: Vec::with_capacity(32),
            listing: None,
        }
    }

    fn section(&self, name: Name) -> Target {
        section(self.image, name)
    }

    fn text(&mut self, text: &str) {
        let number = self.strings.number(text);
        match self.version {
            Version::V5 => self.entries.number(number.into()),
            Version::V4 => {
                let (target, offset) = (self.section(Name::Str), self.strings.offset(number));
                self.entries.section(target, offset.into());
            }
        }
    }

    fn address(&mut self, target: Target, addend: u64) {
        if self.version == Version::V4 {
            return self.entries.contents.field(8, target, addend);
        }
        let number = self.address_number(target, addend);
        self.entries.number(number);
    }

    /// Returns the index in `.debug_addr` of the address `target` plus `addend`. Appends the address if the
    /// table does not contain it yet.
    fn address_number(&mut self, target: Target, addend: u64) -> u64 {
        *self.address_numbers.entry((target, addend)).or_insert_with(|| {
            self.addresses.push((target, addend));
            self.addresses.len() as u64 - 1
        })
    }

    /// Writes a reference to a range list or location list in the section `name`. `offset` is what
    /// [`Lists::begin`] returned for the list.
    fn list(&mut self, name: Name, offset: u32) {
        self.entries.section(self.section(name), offset.into());
    }

    fn ty(&mut self, ty: u32) {
        let at = self.entries.position();
        let entry = self.types[ty as usize];
        if entry == 0 {
            self.waiting.push((at, ty));
        }
        self.entries.entry(entry);
    }

    /// Adds an entry to the index of names under the name `text`.
    fn named(&mut self, text: &str, entry: u32, shape: Shape) {
        if self.info.options.names {
            let text = self.strings.number(text);
            self.named.push(Named { text, entry, tag: shape.tag() });
        }
    }

    /// Returns whether the unit uses the heterogeneous extensions.
    fn is_extended(&self) -> bool {
        self.info.options.dialect == Dialect::Heterogeneous
    }

    fn index(&self) -> (Name, Contents) {
        let sections = (self.section(Name::Info), self.section(Name::Str));
        let augmentation = if self.is_extended() { AUGMENTATION } else { "" };
        (Name::Names, names::write(&self.named, &self.strings, augmentation, sections))
    }

    /// Writes a reference to a type whose entry has already been written. No reference has to be filled in
    /// later, because the entries that use this function come after the entries of all types.
    fn known_type(&mut self, ty: u32) {
        self.entries.number(self.types[ty as usize].into());
    }

    fn declared(&mut self, name: &str, loc: ir::SrcLoc) {
        self.text(name);
        let place = self.info.source_position(loc);
        self.file(place.file);
        self.entries.number(place.line.into());
    }

    /// Writes the number of a source file in the line table. DWARF 5 counts files from 0, and DWARF 4 counts
    /// from 1.
    fn file(&mut self, file: u32) {
        self.entries.number(u64::from(file) + u64::from(self.version == Version::V4));
    }

    fn write(&mut self) {
        self.header();
        self.used_types();
        self.abstracts();
        for (n, function) in self.info.functions.iter().enumerate() {
            if let Some(function) = function {
                self.functions[n] = self.entries.position() as u32;
                self.function(function, self.image.functions[n]);
            }
        }
        self.module_variables();
        self.entries.end();
        for (at, ty) in std::mem::take(&mut self.waiting) {
            self.entries.fill(at, self.types[ty as usize]);
        }
        for (at, function) in std::mem::take(&mut self.callers) {
            self.entries.fill(at, self.functions[function]);
        }
        self.entries.contents.close(0);
    }

    fn header(&mut self) {
        self.entries.bytes(&[0; 4]);
        self.entries.bytes(&self.version.number().to_le_bytes());
        let abbreviations = self.section(Name::Abbrev);
        if self.version == Version::V5 {
            self.entries.bytes(&[DW_UT_COMPILE, 8]);
            self.entries.section(abbreviations, 0);
        } else {
            self.entries.section(abbreviations, 0);
            self.entries.bytes(&[8]);
        }
        let is_extended = self.is_extended();
        self.entries.begin(match (self.version, is_extended) {
            (Version::V5, false) => Shape::Unit5,
            (Version::V4, false) => Shape::Unit4,
            (Version::V5, true) => Shape::ExtendedUnit5,
            (Version::V4, true) => Shape::ExtendedUnit4,
        });
        self.text(PRODUCER);
        self.entries.bytes(&DW_LANG_OPENCL.to_le_bytes());
        self.text(self.info.lines.files().next().unwrap_or_default());
        self.entries.section(self.section(Name::Line), 0);
        let (start, end) = self.image.code;
        self.address(self.image.text, start);
        self.entries.number(end - start);
        if self.version == Version::V5 {
            for name in [Name::StrOffsets, Name::Addr] {
                self.entries.section(self.section(name), 8);
            }
        }
        if is_extended {
            self.text(AUGMENTATION);
        }
    }

    /// Writes an abstract entry for each function that was inlined. It has all variables that occur in any
    /// inlined copy of the function.
    fn abstracts(&mut self) {
        let mut callees: Vec<u32> = Vec::new();
        let functions = || self.info.functions.iter().flatten();
        for site in functions().flat_map(|function| &function.sites) {
            if !callees.contains(&site.callee) {
                callees.push(site.callee);
            }
        }
        for callee in callees {
            let info = self.info;
            let Some(function) = info.description.functions.get(callee as usize) else { continue };
            let entry = self.entries.begin(Shape::Abstract);
            self.declared(&function.name, function.loc);
            self.entries.bytes(&[DW_INL_INLINED]);
            let mut own = Abstract { entry, ..Abstract::default() };
            for function in info.functions.iter().flatten() {
                for variable in &function.variables {
                    let site = variable.site.checked_sub(1).and_then(|n| function.sites.get(n as usize));
                    if site.is_some_and(|site| site.callee == callee) {
                        self.abstract_variable(variable, &mut own);
                    }
                }
            }
            self.entries.end();
            self.abstracts.insert(callee, own);
        }
    }

    fn abstract_variable(&mut self, variable: &Variable, own: &mut Abstract) {
        let key = (variable.loc.0, variable.name.to_string());
        if own.variables.contains_key(&key) {
            return;
        }
        let is_parameter = variable.parameter.is_some();
        let shape = if is_parameter { Shape::AbstractParameter } else { Shape::AbstractVariable };
        let entry = self.entries.begin(shape);
        self.declared(&variable.name, variable.loc);
        self.known_type(variable.ty);
        own.variables.insert(key, entry);
    }

    fn function(&mut self, function: &Function, (start, end): (u64, u64)) {
        let info = self.info;
        let Some(own) = info.description.functions.get(function.number as usize) else { return };
        let copied = self.abstracts.get(&function.number).map(|origin| origin.entry);
        let framed = function.is_called;
        let lanes = self.lanes(function, (start - self.base) as u32);
        let [plain, with_lanes] = match (copied.is_some(), own.external, framed) {
            (true, _, true) => [Shape::CopiedFrame, Shape::CopiedLaneFrame],
            (true, _, false) => [Shape::Copied, Shape::CopiedLane],
            (false, true, true) => [Shape::FrameFunction, Shape::LaneFrameFunction],
            (false, true, false) => [Shape::Function, Shape::LaneFunction],
            (false, false, true) => [Shape::LocalFrameFunction, Shape::LocalLaneFrameFunction],
            (false, false, false) => [Shape::LocalFunction, Shape::LocalLaneFunction],
        };
        let shape = if lanes.is_some() { with_lanes } else { plain };
        let entry = self.entries.begin(shape);
        self.named(&own.name, entry, shape);
        match copied {
            Some(origin) => self.entries.number(origin.into()),
            None => self.declared(&own.name, own.loc),
        }
        self.address(self.image.text, start);
        self.entries.number(end - start);
        if let Some(lanes) = lanes {
            self.lane_attributes(function, lanes);
        }
        let writer = self.writer(function);
        if framed {
            self.scratch.clear();
            writer.frame_base(&mut self.scratch);
            let expression = std::mem::take(&mut self.scratch);
            self.entries.location_expression(&expression);
            self.scratch = expression;
        }
        let ends = function.sites.iter().map(|site| {
            info.description.functions.get(site.callee as usize).map_or(0, |callee| callee.scope.end)
        });
        let ends: Vec<u32> = std::iter::once(own.scope.end).chain(ends).collect();
        let mut scopes = Scopes::new(&function.variables, &function.sites, &ends);
        scopes.code(&function.code.lines, function.code.size, |loc| info.split(loc));
        self.scope(function, &scopes, 0, (start - self.base) as u32);
        self.shared_variables(function);
        for call in &function.calls {
            self.call(function, call, start);
        }
        self.entries.end();
    }

    fn writer(&self, function: &Function) -> Writer {
        let Function { lanes, is_called, .. } = *function;
        Writer { dialect: self.info.options.dialect, version: self.version, lanes, is_called }
    }

    /// Writes the entry of a call site, with the known arguments as its children. All call sites are direct
    /// children of the function's entry, even those in inlined code, because debuggers look for them only
    /// there.
    fn call(&mut self, function: &Function, call: &Call, start: u64) {
        let info = self.info;
        let callee = match call.callee {
            Some(mir::Callee::Func(id)) => info.ids.iter().position(|own| own.as_u32() == id),
            _ => None,
        };
        let callee = callee.filter(|&callee| info.functions[callee].is_some());
        let shape = match (call.is_tail, callee.is_some()) {
            (false, false) => Shape::Call,
            (false, true) => Shape::CallOf,
            (true, false) => Shape::TailCall,
            (true, true) => Shape::TailCallOf,
        };
        self.entries.begin(shape);
        let (from, to) = call.bytes;
        let is_at = call.is_tail && self.version == Version::V5;
        self.address(self.image.text, start + u64::from(if is_at { from } else { to }));
        if let Some(callee) = callee {
            self.callers.push((self.entries.position(), callee));
            self.entries.entry(0);
        }
        let writer = self.writer(function);
        let (mut place, mut value) = (Vec::new(), Vec::new());
        for &(reg, passed) in &call.parameters {
            place.clear();
            value.clear();
            if writer.parameter(reg, &mut place) && writer.passed_value(passed, &mut value) {
                self.entries.begin(Shape::CallParameter);
                self.entries.location_expression(&place);
                self.entries.location_expression(&value);
            }
        }
        self.entries.end();
    }

    /// Writes the entries of the variables of scope number `number`, and then of the scopes nested in it.
    /// `start` is the offset of the function's code in the unit's code.
    fn scope(&mut self, function: &Function, scopes: &Scopes, number: usize, start: u32) {
        let scope = &scopes.list[number];
        // Parameters come first, in the order in which the function declares them.
        let mut variables = scope.variables.clone();
        variables.sort_by_key(|&n| function.variables[n as usize].parameter.map_or(u32::MAX, u32::from));
        for variable in variables {
            self.variable(function, variable, start);
        }
        for &child in &scope.children {
            let inner = &scopes.list[child];
            // A scope without code is omitted together with its variables, because a debugger never stops in
            // it.
            if inner.code.is_empty() {
                continue;
            }
            let single = inner.code.len() == 1;
            let site = match inner.kind {
                Kind::Site(site) => Some(function.sites[site as usize - 1]),
                _ => None,
            };
            let shape = match (site.is_some(), single) {
                (true, true) => Shape::Inlined,
                (true, false) => Shape::InlinedRanges,
                (false, true) => Shape::Block,
                (false, false) => Shape::BlockRanges,
            };
            let entry = self.entries.begin(shape);
            if let Some(site) = site {
                let origin = self.abstracts.get(&site.callee).map_or(0, |origin| origin.entry);
                self.entries.number(origin.into());
                // The index of names lists the inlined copy, too, under the name of the called function.
                if let Some(callee) = self.info.description.functions.get(site.callee as usize) {
                    self.named(&callee.name, entry, shape);
                }
            }
            self.code(&inner.code, start);
            if let Some(site) = site {
                let place = self.info.source_position(site.call);
                self.file(place.file);
                self.entries.number(place.line.into());
                self.entries.number(place.column.into());
            }
            self.scope(function, scopes, child, start);
            self.entries.end();
        }
    }

    /// Writes the code ranges of a scope. If the scope has one range, writes its start address and size, and
    /// otherwise a reference to a range list.
    fn code(&mut self, code: &[(u32, u32)], start: u32) {
        if let [(from, to)] = *code {
            let base = self.base;
            self.address(self.image.text, base + u64::from(start + from));
            self.entries.number((to - from).into());
            return;
        }
        let number = self.ranges.begin();
        for &(from, to) in code {
            self.ranges.range(self.version, start + from, start + to);
        }
        self.ranges.end(self.version);
        self.list(lists(self.version)[0], number);
    }

    fn variable(&mut self, function: &Function, number: u32, start: u32) {
        let variable = &function.variables[number as usize];
        let site = variable.site.checked_sub(1).and_then(|n| function.sites.get(n as usize));
        let key = || (variable.loc.0, variable.name.to_string());
        let origin = site.and_then(|site| self.abstracts.get(&site.callee)?.variables.get(&key()).copied());
        let fixed = self.fixed_place(function, variable);
        let list = if fixed { None } else { self.place_list(function, number, start) };
        let kind = if fixed { 2 } else { usize::from(list.is_some()) };
        let shape = match (origin.is_some(), variable.parameter.is_some()) {
            (false, true) => [Shape::Parameter, Shape::ParameterPlaces, Shape::ParameterPlace],
            (false, false) => [Shape::Variable, Shape::VariablePlaces, Shape::VariablePlace],
            (true, true) => {
                [Shape::CopiedParameter, Shape::CopiedParameterPlaces, Shape::CopiedParameterPlace]
            }
            (true, false) => [Shape::CopiedVariable, Shape::CopiedVariablePlaces, Shape::CopiedVariablePlace],
        };
        self.entries.begin(shape[kind]);
        match origin {
            Some(origin) => self.entries.number(origin.into()),
            None => {
                self.declared(&variable.name, variable.loc);
                self.known_type(variable.ty);
            }
        }
        if fixed {
            let expression = std::mem::take(&mut self.scratch);
            self.entries.location_expression(&expression);
            self.scratch = expression;
        } else if let Some(list) = list {
            self.list(lists(self.version)[1], list);
        }
    }

    /// Writes the location of a variable to `scratch`, if the variable is in private memory during its whole
    /// lifetime. Returns whether it did. Otherwise the variable needs a location list.
    fn fixed_place(&mut self, function: &Function, variable: &Variable) -> bool {
        if variable.is_value {
            return false;
        }
        let offset = variable.home.and_then(|slot| function.slots.get(slot.as_u32() as usize).copied());
        let Some(offset) = offset.filter(|_| self.info.options.memory_is_true) else { return false };
        self.scratch.clear();
        self.writer(function).in_private(offset, &mut self.scratch);
        true
    }

    /// Writes the location list of variable number `number` of a function. Returns the offset of the list, or
    /// `None` if the list would be empty.
    fn place_list(&mut self, function: &Function, number: u32, start: u32) -> Option<u32> {
        let first = function.first_fragments[number as usize];
        let variable = &function.variables[number as usize];
        let end = first + variable.fragments.len() as u32;
        let all = &function.code.ranges;
        let from = all.partition_point(|range| range.fragment < first);
        let to = all.partition_point(|range| range.fragment < end);
        let ranges = &all[from..to];
        if ranges.is_empty() {
            return None;
        }
        let mut listing = self.listing.take().unwrap_or_else(Listing::new);
        listing.list = None;
        listing.open = None;
        let told = VariableEntry { function, variable, size: self.size(variable.ty), start };
        match variable.fragments.len() {
            // The ranges of the only fragment are in order.
            1 => ranges.iter().for_each(|range| {
                self.location_range(&told, (range.start, range.end), &[Some(range.place)], &mut listing);
            }),
            _ => self.parts(&told, first, ranges, &mut listing),
        }
        self.listed(start, &mut listing);
        if listing.list.is_some() {
            self.places.end(self.version);
        }
        let list = listing.list;
        self.listing = Some(listing);
        list
    }

    /// Adds entries to the location list of a variable that has several fragments (scalar parts). `first` is
    /// the number of its first fragment. There is one entry for each interval between two successive offsets
    /// at which the location of some fragment changes.
    fn parts(&mut self, told: &VariableEntry<'_>, first: u32, ranges: &[Range], listing: &mut Listing) {
        let mut bounds = std::mem::take(&mut listing.bounds);
        bounds.clear();
        bounds.extend(ranges.iter().flat_map(|range| [range.start, range.end]));
        bounds.sort_unstable();
        bounds.dedup();
        let fragments = first..first + told.variable.fragments.len() as u32;
        // For each fragment: the index of its first range that does not end before the current interval
        // (`next`), and its location in the interval (`places`).
        let mut next: SmallVec<[usize; 16]> = fragments
            .clone()
            .map(|fragment| ranges.partition_point(|range| range.fragment < fragment))
            .collect();
        let mut places: SmallVec<[Option<Location>; 16]> = SmallVec::from_elem(None, next.len());
        for pair in bounds.windows(2) {
            for ((place, next), fragment) in places.iter_mut().zip(&mut next).zip(fragments.clone()) {
                let of_fragment = |range: &&Range| range.fragment == fragment;
                while ranges.get(*next).filter(of_fragment).is_some_and(|range| range.end <= pair[0]) {
                    *next += 1;
                }
                let here = ranges.get(*next).filter(of_fragment).filter(|range| range.start <= pair[0]);
                *place = here.map(|range| range.place);
            }
            self.location_range(told, (pair[0], pair[1]), &places, listing);
        }
        listing.bounds = bounds;
    }

    /// Adds an entry to the location list: in the given range of code, the fragments of the variable are at
    /// `places`. If the previous entry ends where the range begins and has the same expression, the previous
    /// entry is extended instead.
    fn location_range(
        &mut self,
        told: &VariableEntry<'_>,
        (from, to): (u32, u32),
        places: &[Option<Location>],
        listing: &mut Listing,
    ) {
        listing.bytes.clear();
        if !self.expression(told, places, &mut listing.bytes) {
            return;
        }
        match &mut listing.open {
            Some((_, end)) if *end == from && listing.last == listing.bytes => *end = to,
            _ => {
                self.listed(told.start, listing);
                listing.open = Some((from, to));
                std::mem::swap(&mut listing.last, &mut listing.bytes);
            }
        }
    }

    /// Writes the list entry that has been kept back (`Listing::open`) to the location list. Begins the list
    /// if this is its first entry.
    fn listed(&mut self, start: u32, listing: &mut Listing) {
        let Some((from, to)) = listing.open else { return };
        if listing.list.is_none() {
            listing.list = Some(self.places.begin());
        }
        self.places.range(self.version, start + from, start + to);
        self.places.expression(self.version, &listing.last);
    }

    /// Writes the DWARF expression for a variable, given the locations of its fragments. Returns `false` if
    /// no fragment has a location.
    fn expression(
        &self,
        &VariableEntry { function, variable, size, .. }: &VariableEntry<'_>,
        places: &[Option<Location>],
        out: &mut Vec<u8>,
    ) -> bool {
        let (writer, terms) = (self.writer(function), &function.code.terms);
        if let [Some(Location::Memory(offset)), ..] = *places {
            writer.in_private(offset, out);
            return true;
        }
        let is_part = variable.fragments.len() > 1;
        let mut found = false;
        let mut covered = 0;
        for (&(offset, bytes), &place) in variable.fragments.iter().zip(places) {
            if offset > covered {
                writer.piece(offset - covered, out);
            }
            covered = offset + u32::from(bytes);
            let is_float = matches!(place, Some(Location::Constant(_))) && self.is_float(variable.ty, offset);
            let written = place
                .is_some_and(|place| writer.fragment_location(place, (bytes, is_float, is_part), terms, out));
            found |= written;
            let composite = written && place.is_some_and(|place| Writer::is_composite(place, bytes));
            if is_part && !composite {
                writer.piece(bytes.into(), out);
            }
        }
        // The bytes after the last fragment have no value, such as the last quarter of a vector of three
        // elements. An empty piece describes them.
        if found && size > covered {
            writer.piece(size - covered, out);
        }
        found
    }

    /// Returns whether the fragment at byte `offset` of a value of type `ty` is a floating-point number.
    fn is_float(&self, mut ty: u32, mut offset: u32) -> bool {
        let types = &self.info.description.types;
        loop {
            match &types[ty as usize] {
                TypeInfo::Scalar { encoding, .. } => return *encoding == Encoding::Float,
                TypeInfo::Vector { element, .. } => ty = *element,
                TypeInfo::Array { element, .. } => {
                    offset %= self.size(*element).max(1);
                    ty = *element;
                }
                TypeInfo::Struct { members, .. } => {
                    let Some(member) = members.iter().rfind(|member| member.offset <= offset) else {
                        return false;
                    };
                    offset -= member.offset;
                    ty = member.ty;
                }
                _ => return false,
            }
        }
    }

    fn size(&self, ty: u32) -> u32 {
        match &self.info.description.types[ty as usize] {
            TypeInfo::Scalar { bytes, .. } => (*bytes).into(),
            TypeInfo::Vector { bytes, .. } | TypeInfo::Struct { bytes, .. } => *bytes,
            TypeInfo::Pointer { space, .. } => space.pointer_bits() / 8,
            TypeInfo::Array { element, len } => self.size(*element).saturating_mul(*len),
            TypeInfo::Function { .. } | TypeInfo::Opaque { .. } => 8,
            TypeInfo::Unit => 0,
        }
    }

    /// Writes entries for the variables in LDS that the function uses.
    fn shared_variables(&mut self, function: &Function) {
        let info = self.info;
        for variable in &info.description.variables {
            let offset = function.shared.get(variable.global as usize).copied();
            let is_there = |&offset: &u32| offset != u32::MAX && variable.space == Space::Shared;
            let Some(offset) = offset.filter(is_there) else { continue };
            self.scratch.clear();
            self.writer(function).address(Memory::Local, offset, &mut self.scratch);
            self.global(&variable.name, variable.loc, variable.ty);
        }
    }

    fn global(&mut self, name: &str, loc: ir::SrcLoc, ty: u32) {
        let entry = self.entries.begin(Shape::Global);
        self.named(name, entry, Shape::Global);
        self.declared(name, loc);
        self.known_type(ty);
        let expression = std::mem::take(&mut self.scratch);
        self.entries.location_expression(&expression);
        self.scratch = expression;
    }

    /// Writes entries for the module's variables in device memory.
    fn module_variables(&mut self) {
        let info = self.info;
        for variable in &info.description.variables {
            let Some(target) = self.image.globals.get(variable.global as usize).copied().flatten() else {
                continue;
            };
            let entry = self.entries.begin(Shape::Global);
            self.named(&variable.name, entry, Shape::Global);
            self.declared(&variable.name, variable.loc);
            self.known_type(variable.ty);
            if self.version == Version::V4 {
                self.entries.bytes(&[9, DW_OP_ADDR]);
                self.entries.contents.field(8, target, 0);
            } else {
                let number = self.address_number(target, 0);
                let mut bytes = vec![DW_OP_ADDRX];
                objwriter::leb::unsigned(&mut bytes, number);
                self.entries.location_expression(&bytes);
            }
        }
    }
}
