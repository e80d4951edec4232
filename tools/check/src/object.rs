//! Checks code objects. Finds out for which processor a code object is built and where its kernels and
//! functions are, and checks the code of these.

use crate::finding::{CALLER, Finding, Level, Problem, Site};
use crate::program::{Program, Root, Unknown};
use crate::solve::{self, Solution};
use crate::units::{Unit, Units};
use callconv::{Convention, column};
use codeobj::disasm::{Lines, SourcePlace};
use codeobj::identity::OsAbi;
use codeobj::{CodeObject, Identity};
use isa::{Feature, Setting, Target, UnknownFact};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Options of a check.
#[derive(Clone, Debug, Default)]
pub struct Options<'a> {
    /// Processor for which the code is checked. `None` means the processor that the header of the file names.
    pub target: Option<&'static Target>,
    /// Whether the hardware on which the code will run may replay memory instructions after a page fault
    /// (XNACK). `None` means that the header of the file decides this.
    pub xnack: Option<bool>,
    /// Checks only the kernel or function of this name.
    pub kernel: Option<&'a str>,
    /// Whether a flat access on GFX7 and GFX8 may go to LDS, so that its results need a wait for `lgkmcnt`.
    /// On these processors, compilers use flat instructions also for memory that they know to be global. On
    /// other processors, any flat access may go to LDS.
    pub flat_lds: bool,
    /// Calling convention of functions. It says whether the caller or the called function waits for the
    /// caller's outstanding operations.
    pub call_abi: Convention,
}

/// Why a file cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The processor that the file names is unknown, and the options name no processor. The number is the
    /// field in the header.
    UnknownProcessor(u32),
    /// The processor's family does not define a fact that the checker reads.
    UnknownFact(UnknownFact),
    /// The file has no kernel or function of this name.
    NoSuchKernel(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::UnknownProcessor(mach) => {
                write!(f, "it is for a processor that kernc does not know (EF_AMDGPU_MACH {mach:#x})")
            }
            Refusal::UnknownFact(open) => open.fmt(f),
            Refusal::NoSuchKernel(name) => write!(f, "there is no kernel or function `{name}`"),
        }
    }
}

impl std::error::Error for Refusal {}

/// The facts about a processor that the checker reads.
const FACTS: [&str; 6] = ["layout", "registers", "waits", "addressing", "checks", "descriptor"];

/// An instruction in the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Address of the instruction. In a relocatable file, it is the offset in the section.
    pub address: u64,
    /// The instruction as text.
    pub text: String,
    /// Kernel or function that contains the instruction, and the offset of the instruction in it.
    pub symbol: Option<(String, u64)>,
    /// Source position, if the file has line information.
    pub source: Option<SourcePlace>,
}

/// A finding, with its instructions.
#[derive(Clone, Debug)]
pub struct Located {
    /// What.
    pub finding: Finding,
    /// Instruction where the problem begins. `None` if this instruction is in the caller of the function.
    pub first: Option<Place>,
    /// Instruction at which the wrong result would show.
    pub second: Place,
    /// Disassembly of the two instructions of the finding and of those between them, in the order of
    /// addresses.
    pub listing: Listing,
}

/// Lines of disassembly.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Text with one instruction in each line.
    pub text: String,
    /// Number of the instruction on the first line of the listing, counted from 1 over all checked
    /// instructions.
    pub line: usize,
    /// Byte range in `text` of the instruction where the problem begins, if the listing contains it.
    pub first: Option<std::ops::Range<usize>>,
    /// Byte range of the second instruction in `text`.
    pub second: std::ops::Range<usize>,
}

/// A note about code that was not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Location of the first instruction that was not checked.
    pub place: Place,
    /// Why the code was not checked.
    pub unknown: Unknown,
    /// Whether the note counts as a finding. By default, it counts if its rule is certain.
    pub counts: bool,
}

/// Result of a check.
#[derive(Clone, Debug)]
pub struct Report {
    /// The processor.
    pub target: &'static Target,
    /// The findings.
    pub findings: Vec<Located>,
    /// Names of the rules whose findings are not shown, each with the number of these findings.
    pub hidden: Vec<(&'static str, usize)>,
    /// Notes about code that was not checked.
    pub notes: Vec<Note>,
    /// Number of paths that were not followed.
    pub unfollowed: usize,
    /// Number of kernels and functions.
    pub roots: usize,
    /// Number of instructions.
    pub instructions: usize,
}

/// A kernel or function, where the analysis begins.
struct Entry<'data> {
    name: &'data str,
    section: usize,
    address: u64,
    is_function: bool,
    wave32: bool,
}

/// Checks a code object, on the threads of the current thread pool.
///
/// # Errors
/// The processor is unknown, or the object has no kernel or function of the requested name.
pub fn check(object: &CodeObject<'_>, options: &Options<'_>) -> Result<Report, Refusal> {
    check_with(object, options, &|_, _| {})
}

/// Checks a code object. Calls `progress` with the number of kernels and functions that have been checked and
/// the number of all kernels and functions.
///
/// # Errors
/// The processor is unknown, or the object has no kernel or function of the requested name.
pub fn check_with(
    object: &CodeObject<'_>,
    options: &Options<'_>,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Report, Refusal> {
    let mut entries = Entries::new(object, options.target)?;
    entries.xnack = options.xnack.map_or(entries.xnack, Setting::from_bool);
    if let Some(name) = options.kernel {
        entries.entries.retain(|entry| entry.name == name);
        if entries.entries.is_empty() {
            return Err(Refusal::NoSuchKernel(name.to_owned()));
        }
    }
    let callers_wait = column(options.call_abi).waits.at_entry.is_empty();
    let mut report = Report {
        target: entries.target,
        findings: Vec::new(),
        hidden: Vec::new(),
        notes: Vec::new(),
        unfollowed: 0,
        roots: entries.entries.len(),
        instructions: 0,
    };
    let lines = Lines::read(object);
    let (done, all) = (AtomicUsize::new(0), report.roots);
    let done = |count| progress(done.fetch_add(count, Ordering::Relaxed) + count, all);
    for (index, wave32) in entries.sections() {
        let Some(section) = entries.section(index, wave32) else { continue };
        let teller = Reporter { options, entries: &entries, lines: &lines, section: index };
        let check = |mut unit: Unit, taken: &HashSet<u32>| {
            unit.program.callers_wait = callers_wait;
            section.keep_local(&mut unit, taken);
            teller.report_unit(&unit)
        };
        let read = |roots: &mut Vec<Root>| section.read(roots);
        let mut all = UnitReport::default();
        for mut told in Units::new(&section.roots, &read).check(&check, &done) {
            told.findings.iter_mut().for_each(|located| located.listing.line += report.instructions);
            report.instructions += told.instructions;
            all.findings.append(&mut told.findings);
            all.notes.append(&mut told.notes);
        }
        all.findings.sort_by_key(|located| located.second.address);
        all.notes.sort_by_key(|note| note.place.address);
        report.findings.append(&mut all.findings);
        report.notes.append(&mut all.notes);
    }
    report.unfollowed = report.notes.iter().filter(|note| !note.counts).count();
    Ok(report)
}

/// The kernels and functions of a code object, in the form in which the checker reads them.
pub struct Entries<'a, 'data> {
    object: &'a CodeObject<'data>,
    target: &'static Target,
    entries: Vec<Entry<'data>>,
    xnack: Setting,
}

/// The code of one section for one wave size.
pub struct Part {
    section: usize,
    /// The code.
    pub program: Program,
    /// The kernels and functions at which the analysis of the code starts.
    pub roots: Vec<Root>,
}

impl<'a, 'data> Entries<'a, 'data> {
    /// Finds the kernels and functions of the object. `target` replaces the processor that the header of the
    /// file names, if it is given.
    ///
    /// # Errors
    /// The object names an unknown processor, and `target` is `None`. Or the processor's family does not
    /// define a fact that the checker reads.
    pub fn new(
        object: &'a CodeObject<'data>,
        target: Option<&'static Target>,
    ) -> Result<Entries<'a, 'data>, Refusal> {
        let identity = Identity::of_object(object);
        let target = target.or(identity.target).ok_or(Refusal::UnknownProcessor(identity.mach))?;
        target.needs(&FACTS).map_err(Refusal::UnknownFact)?;
        let entries = entries(object, identity.os_abi, target);
        Ok(Entries { object, target, entries, xnack: identity.xnack })
    }

    /// Returns the processor for which the code is read.
    pub fn target(&self) -> &'static Target {
        self.target
    }

    /// Returns the name of the kernel or function that contains an address of the part of a section. Also
    /// returns the offset of the address in this kernel or function.
    pub fn owner(&self, part: &Part, address: u64) -> Option<(&'data str, u64)> {
        self.owner_in(part.section, address)
    }

    fn owner_in(&self, section: usize, address: u64) -> Option<(&'data str, u64)> {
        // The list `entries` is sorted by section and address. Bisection finds the last entry that is not
        // after the address.
        let behind =
            self.entries.partition_point(|entry| (entry.section, entry.address) <= (section, address));
        let entry = self.entries[..behind].last().filter(|entry| entry.section == section)?;
        Some((entry.name, address - entry.address))
    }

    /// Returns the source position of an address of a part.
    pub fn source(&self, lines: &Lines, part: &Part, address: u64) -> Option<SourcePlace> {
        self.source_in(lines, part.section, address)
    }

    fn source_in(&self, lines: &Lines, index: usize, address: u64) -> Option<SourcePlace> {
        let section = self.object.sections.get(index)?;
        lines.source_at(index, section, self.object.header.is_relocatable(), address)
    }

    /// Returns the code of all sections and wave sizes.
    pub fn parts(&self) -> Vec<Part> {
        self.sections().into_iter().filter_map(|(index, wave32)| self.part(index, wave32)).collect()
    }

    /// Returns the sections with code. Each is in the list twice, once for each wave size, because kernels of
    /// both wave sizes may be in one section.
    fn sections(&self) -> Vec<(usize, bool)> {
        let sections = self.object.sections.iter().enumerate().filter(|(_, section)| section.is_code());
        let mut budget = self.object.file_size;
        let mut found = Vec::new();
        for (index, section) in sections {
            // In a damaged file, sections may overlap. The budget limits how often the same bytes are then
            // read.
            let Some(left) = budget.checked_sub(section.data.len()) else { continue };
            budget = left;
            found.extend([(index, false), (index, true)]);
        }
        found
    }

    fn part(&self, index: usize, wave32: bool) -> Option<Part> {
        let section = self.section(index, wave32)?;
        let mut roots = section.roots.clone();
        let program = section.read(&mut roots)?;
        let mut unit = Unit { program, roots };
        section.keep_local(&mut unit, &HashSet::new());
        Some(Part { section: index, program: unit.program, roots: unit.roots })
    }

    /// Prepares a section for the check. Returns `None` if no kernel or function with this wave size begins
    /// in it.
    fn section(&self, index: usize, wave32: bool) -> Option<Section> {
        let section = &self.object.sections[index];
        let mine = self.entries.iter().filter(|entry| entry.section == index && entry.wave32 == wave32);
        let roots: Vec<Root> =
            mine.map(|entry| Root { address: entry.address, is_function: entry.is_function }).collect();
        if roots.is_empty() {
            return None;
        }
        let mut words: Vec<u32> = section
            .data
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        let target = self.target.with_wave_size(if wave32 { 32 } else { 64 })?;
        let base = if self.object.header.is_relocatable() { 0 } else { section.address };
        let open = self.link_in_section(index, &mut words);
        let mut reachable = self.callable(index);
        reachable.extend(self.pointed_to(index));
        Some(Section { target, xnack: self.xnack, words, base, open, reachable, roots })
    }
}

/// A section of code, prepared to be read with one wave size.
struct Section {
    target: &'static Target,
    xnack: Setting,
    words: Vec<u32>,
    base: u64,
    /// Addresses of literals whose values only a linker fills in.
    open: HashSet<u64>,
    /// Addresses to which other files or data may refer.
    reachable: HashSet<u64>,
    /// Kernels and functions, sorted by address.
    roots: Vec<Root>,
}

impl Section {
    /// Reads the code that control can reach from `roots`. Adds the functions that the code calls to `roots`.
    fn read(&self, roots: &mut Vec<Root>) -> Option<Program> {
        Program::read_open(self.target, self.xnack, &self.words, self.base, roots, &self.open)
    }

    /// Tells the program of a unit which of its functions have only known callers. `taken` has the addresses
    /// of this section that the code of other units uses as values, such as function pointers. Functions at
    /// these addresses may have unknown callers.
    fn keep_local(&self, unit: &mut Unit, taken: &HashSet<u32>) {
        let functions = unit.roots.iter().filter(|root| root.is_function).map(|root| root.address);
        let hidden = functions
            .filter(|address| !self.reachable.contains(address) && !taken.contains(&(*address as u32)));
        unit.program.keep_local(hidden);
    }
}

/// Finds out which functions other files or data refer to. The relocations are listed in LLVM's AMDGPU guide
/// (seed 000, line 507).
impl Entries<'_, '_> {
    /// Fills in the distances to symbols of the same section, as a linker would do. Returns the addresses of
    /// the other literals, which only a linker can fill in.
    fn link_in_section(&self, index: usize, words: &mut [u32]) -> HashSet<u64> {
        let mut open = HashSet::new();
        if !self.object.header.is_relocatable() {
            return open;
        }
        for table in self.object.relocation_tables.iter().filter(|table| table.target == index) {
            let symbols = self.object.symbols_of(table.symbols);
            for record in &table.records {
                let symbol =
                    symbols.get(record.symbol as usize).filter(|symbol| usize::from(symbol.section) == index);
                let word = words.get_mut((record.offset / 4) as usize);
                let shift = match record.kind {
                    R_AMDGPU_REL32_LO => 0,
                    R_AMDGPU_REL32_HI => 32,
                    _ => 64,
                };
                match (symbol, word) {
                    (Some(symbol), Some(word)) if shift < 64 && record.offset.is_multiple_of(4) => {
                        let target = symbol.value.wrapping_add(record.addend as u64);
                        *word = (target.wrapping_sub(record.offset) >> shift) as u32;
                    }
                    _ => _ = open.insert(record.offset),
                }
            }
        }
        open
    }

    /// Returns the addresses of functions in a section that code of other files can call.
    fn callable(&self, index: usize) -> HashSet<u64> {
        let relocatable = self.object.header.is_relocatable();
        // In a relocatable file, a hidden symbol can still be called from other files. It becomes local only
        // when the files are linked.
        let is_hidden = |visibility: u8| !relocatable && matches!(visibility, STV_INTERNAL | STV_HIDDEN);
        let symbols = self.object.symbol_tables.iter().flat_map(|table| &table.symbols);
        let callable = symbols.filter(|symbol| {
            usize::from(symbol.section) == index
                && symbol.binding != STB_LOCAL
                && !is_hidden(symbol.visibility)
        });
        callable.map(|symbol| symbol.value).collect()
    }

    /// Returns the addresses of a section to which data refers.
    fn pointed_to(&self, index: usize) -> HashSet<u64> {
        let mut found = HashSet::new();
        for table in &self.object.relocation_tables {
            let symbols = self.object.symbols_of(table.symbols);
            for record in &table.records {
                // The distance to a place of the same section. `link_in_section` has already filled it in,
                // and the reader of the code follows it. The relocation alone does not show that the function
                // is used as a value, so it is skipped here.
                if matches!(record.kind, R_AMDGPU_REL32_LO | R_AMDGPU_REL32_HI) && table.target == index {
                    continue;
                }
                let symbol = symbols.get(record.symbol as usize).filter(|_| record.symbol != 0);
                let value = match symbol {
                    None => 0,
                    Some(symbol) if usize::from(symbol.section) == index => symbol.value,
                    Some(_) => continue,
                };
                found.extend([value.wrapping_add(record.addend as u64), value]);
            }
        }
        found
    }
}

const R_AMDGPU_REL32_LO: u32 = 10;
const R_AMDGPU_REL32_HI: u32 = 11;
const STB_LOCAL: u8 = 0;
const STV_INTERNAL: u8 = 1;
const STV_HIDDEN: u8 = 2;
const STT_FUNC: u8 = 2;
const STT_AMDGPU_HSA_KERNEL: u8 = 10;
/// Size in bytes of the header that code object V2 has before a kernel's code.
const HEADER: u64 = 256;

/// Returns the kernels and functions of a code object. If the runtime uses kernel descriptors, a symbol with
/// a descriptor is a kernel. Otherwise, each symbol is a kernel.
fn entries<'data>(object: &CodeObject<'data>, os_abi: OsAbi, target: &Target) -> Vec<Entry<'data>> {
    let symbols = object.symbols();
    let descriptors: Vec<_> = object.descriptors().collect();
    let default32 =
        target.has(Feature::WAVE32) && descriptors.first().is_none_or(|kernel| kernel.is_wave32());
    let by_kernel: HashMap<&str, _> =
        descriptors.iter().rev().map(|descriptor| (descriptor.kernel, descriptor)).collect();
    let named: HashSet<&str> = symbols.iter().filter_map(|symbol| symbol.name.strip_suffix(".kd")).collect();
    let mut entries: Vec<Entry<'data>> = Vec::new();
    for symbol in symbols {
        let section = usize::from(symbol.section);
        let is_code = object.sections.get(section).is_some_and(|section| section.is_code());
        if !is_code || !matches!(symbol.kind, STT_FUNC | STT_AMDGPU_HSA_KERNEL) {
            continue;
        }
        let descriptor = by_kernel.get(symbol.name);
        let header = match symbol.kind {
            STT_AMDGPU_HSA_KERNEL => object.kernel_code(symbol),
            _ => None,
        };
        let offset = header.as_ref().map_or(0, |header| {
            codeobj::kernel_code::Key::by_name("kernel_code_entry_byte_offset")
                .map_or(HEADER, |key| key.get(&header.bytes))
        });
        let wave32 = match &header {
            Some(header) => codeobj::kernel_code::Key::by_name("enable_wavefront_size32")
                .is_some_and(|key| key.get(&header.bytes) != 0),
            None => descriptor.map_or(default32, |descriptor| descriptor.is_wave32()),
        };
        entries.push(Entry {
            name: symbol.name,
            section,
            address: symbol.value.wrapping_add(offset),
            is_function: os_abi == OsAbi::Hsa && !named.contains(symbol.name) && header.is_none(),
            wave32: wave32 && target.has(Feature::WAVE32),
        });
    }
    if entries.is_empty() {
        // If the file has no symbols, a kernel begins at the start of each section of code.
        for (section, data) in object.sections.iter().enumerate().filter(|(_, section)| section.is_code()) {
            let address = if object.header.is_relocatable() { 0 } else { data.address };
            entries.push(Entry { name: "", section, address, is_function: false, wave32: default32 });
        }
    }
    entries.sort_by_key(|entry| (entry.section, entry.address, entry.is_function));
    entries.dedup_by_key(|entry| (entry.section, entry.address));
    entries
}

/// Converts findings for the report: adds text and positions.
struct Reporter<'a, 'data> {
    options: &'a Options<'a>,
    entries: &'a Entries<'a, 'data>,
    lines: &'a Lines,
    section: usize,
}

/// Findings and notes of a unit, for the report.
#[derive(Default)]
struct UnitReport {
    instructions: usize,
    findings: Vec<Located>,
    notes: Vec<Note>,
}

impl Reporter<'_, '_> {
    fn report_unit(&self, unit: &Unit) -> UnitReport {
        let program = &unit.program;
        let Solution { findings, unfollowed } = solve::solution(program, &unit.roots, self.options.flat_lds);
        let findings = findings.into_iter().map(|finding| self.located(program, finding)).collect();
        let mut notes = Vec::new();
        let unfollowed =
            unfollowed.into_iter().map(|(site, unknown)| (program.insts[site as usize].address, unknown));
        for (address, unknown) in program.unknown.iter().copied().chain(unfollowed) {
            let place = match program.site_at(address) {
                Some(site) => self.describe_site(program, site),
                None => self.bare(address),
            };
            let counts = crate::rules::find(unknown.rule()).is_some_and(|rule| rule.level == Level::Certain);
            notes.push(Note { place, unknown, counts });
        }
        UnitReport { instructions: program.insts.len(), findings, notes }
    }

    fn bare(&self, address: u64) -> Place {
        let Reporter { entries, section, .. } = *self;
        let symbol = entries.owner_in(section, address).map(|(name, offset)| (name.to_owned(), offset));
        let source = entries.source_in(self.lines, section, address);
        Place { address, text: String::new(), symbol, source }
    }

    fn describe_site(&self, program: &Program, site: Site) -> Place {
        let placed = &program.insts[site as usize];
        let mut place = self.bare(placed.address);
        isa::write_inst(program.code.target(), &placed.inst, None, &mut place.text);
        place
    }

    fn located(&self, program: &Program, finding: Finding) -> Located {
        let first = (finding.first != CALLER).then(|| self.describe_site(program, finding.first));
        let second = self.describe_site(program, finding.second);
        Located { first, second, listing: self.listing(program, &finding), finding }
    }

    /// Returns the listing for a finding: the two instructions and all instructions between them. If the two
    /// are far apart, the listing has only the second.
    fn listing(&self, program: &Program, finding: &Finding) -> Listing {
        const LONG: Site = 64;
        let near = finding.first != CALLER && finding.first.abs_diff(finding.second) <= LONG;
        let first = if near { finding.first } else { finding.second };
        let (low, high) = (first.min(finding.second), first.max(finding.second));
        let mut listing = Listing { line: low as usize + 1, ..Listing::default() };
        for site in low..=high {
            let placed = &program.insts[site as usize];
            listing.text.push_str(&format!("{:#06x}  ", placed.address));
            let begin = listing.text.len();
            isa::write_inst(program.code.target(), &placed.inst, None, &mut listing.text);
            let range = begin..listing.text.len();
            if site == finding.second {
                listing.second = range.clone();
            }
            if site == finding.first && finding.first != finding.second {
                listing.first = Some(range);
            }
            listing.text.push('\n');
        }
        listing
    }
}

impl Located {
    /// Returns whether the finding shows only one instruction. There are two cases: the instruction is wrong
    /// by itself, or the first instruction is the same instruction in an earlier iteration of a loop.
    pub fn is_alone(&self) -> bool {
        self.finding.first == self.finding.second && matches!(self.finding.problem, Problem::Event { .. })
    }
}
