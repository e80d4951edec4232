//! State of the assembler while it reads a source, and the loop over the statements of the source.
//!
//! The source is read in one pass: no instruction's size depends on later text, so each label's offset is
//! known when the label is read. A field that refers to a later symbol is recorded as a fixup, which fills it
//! in at the end (`resolve`).

use crate::cursor::{Cursor, Name, begins_name};
use crate::diag::{Diagnostic, MAX_ERRORS};
use crate::directive::{conditional::Condition, linker::ForLinker, macros::Macro};
use crate::error::{Error, Result, error};
use crate::expr::{Node, Value};
use crate::files::{Loader, Texts};
use crate::frames::Frames;
use crate::inst::Instructions;
use crate::late_sizes::Late;
use crate::lines::Lines;
use crate::section::{Section, elf};
use crate::subsection::{Part, Place};
use crate::symbol::{Definition, SymbolId, Symbols};
use crate::{Options, Settings};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::ops::Range;

/// Largest nesting depth of macros, repetitions and included files. Deeper nesting is reported as an error,
/// because it is probably an endless recursion.
const MAX_NESTING: u32 = 20;

/// State while a source text is read.
pub(crate) struct Assembler {
    pub settings: Settings,
    pub instructions: Option<Box<Instructions>>,
    pub symbols: Symbols,
    pub nodes: Vec<Node>,
    pub sections: Vec<Section>,
    pub section_names: FxHashMap<Box<str>, u32>,
    /// Index of the section to which bytes are appended. A subsection is stored like a section of its own
    /// until the end, when all subsections are joined.
    pub section: u32,
    pub place: Place,
    pub previous: Option<Place>,
    pub section_stack: Vec<(Place, Option<Place>)>,
    /// The parts of each subsection. The keys have the order in which the subsections of a section will
    /// follow each other.
    pub subsections: BTreeMap<Place, Vec<Part>>,
    pub conditions: Vec<Condition>,
    pub macros: FxHashMap<Box<str>, Macro>,
    /// Whether `.altmacro` is on.
    pub alternative_macros: bool,
    /// Number of macro expansions so far, which `\@` stands for.
    pub expansions: u64,
    /// Number of bytes that expansions of macros and repetitions may still produce. The limit stops sources
    /// that expand without end.
    pub expansion_budget: usize,
    /// Number of bytes by which sections may still grow.
    pub output_budget: u64,
    pub counts: RegisterCounts,
    pub for_linker: ForLinker,
    pub frames: Frames,
    pub lines: Lines,
    /// Metadata of AMDPAL, which becomes a note at the end.
    pub pal_metadata: Option<crate::metadata::pal::Collected>,
    /// Kernel descriptors with fields that refer to later symbols.
    pub unfinished: Vec<crate::directive::amdhsa::Unfinished>,
    local_labels: FxHashMap<u32, u32>,
    depth: u32,
    /// Loader of included files, if they are allowed.
    pub loader: Option<Box<dyn Loader>>,
    pub texts: Texts,
    /// Position at which the current text begins. The source and all included files share one numbering of
    /// positions (see `files`).
    base: usize,
    /// If the current text is the expansion of a macro or repetition: the position of the statement that was
    /// expanded.
    origin: Option<Range<usize>>,
    diagnostics: Vec<Diagnostic>,
    /// Whether the assembler has stopped reading, because of `.end` or because of too many errors.
    pub stopped: bool,
    /// Whether `.exitm` ends the current macro.
    pub exit_macro: bool,
    /// Number of branches to labels so far.
    pub branches: u32,
    /// Branches after which an `s_nop` is inserted, because gfx101x executes branches over exactly 63 dwords
    /// wrongly. A branch is identified by its number in the source.
    pub padded_branches: FxHashSet<u32>,
    /// Numbers of the branches that turned out to jump over exactly 63 dwords in this reading. If there are
    /// any, they are added to `padded_branches`, and the source is read again.
    pub wrong_branches: Vec<u32>,
    pub late: Late,
}

/// Symbols that count registers.
pub(crate) struct RegisterCounts {
    pub vgpr: [SymbolId; 2],
    /// Number of accumulation VGPRs, in V2 only.
    pub agpr: SymbolId,
    /// Highest number of VGPRs used so far, without accumulation VGPRs. No symbol has this number in V2,
    /// because `.kernel.vgpr_count` includes accumulation VGPRs.
    pub plain_vgprs: u16,
    pub sgpr: [SymbolId; 2],
}

impl Assembler {
    pub fn new(options: &Options) -> Assembler {
        let mut symbols = Symbols::default();
        let mut counter = |name| {
            let id = symbols.get_or_add(name, 0);
            symbols[id].builtin = true;
            symbols[id].definition = Definition::Value { value: Value::Abs(0), fixed: false };
            id
        };
        // The symbols that count registers. In each pair, the first symbol is for code object V3 and later,
        // and the second for V2.
        let counts = RegisterCounts {
            vgpr: [counter(".amdgcn.next_free_vgpr"), counter(".kernel.vgpr_count")],
            agpr: counter(".kernel.agpr_count"),
            plain_vgprs: 0,
            sgpr: [counter(".amdgcn.next_free_sgpr"), counter(".kernel.sgpr_count")],
        };
        let mut assembler = Assembler {
            settings: Settings::new(options),
            instructions: None,
            symbols,
            nodes: Vec::new(),
            sections: Vec::new(),
            section_names: FxHashMap::default(),
            section: 0,
            place: Place::default(),
            previous: None,
            section_stack: Vec::new(),
            subsections: BTreeMap::new(),
            conditions: Vec::new(),
            macros: FxHashMap::default(),
            alternative_macros: false,
            expansions: 0,
            expansion_budget: options.max_expansion,
            output_budget: options.max_output,
            counts,
            for_linker: ForLinker::default(),
            frames: Frames::default(),
            lines: Lines::default(),
            pal_metadata: None,
            unfinished: Vec::new(),
            local_labels: FxHashMap::default(),
            depth: 0,
            loader: None,
            texts: Texts::default(),
            base: 0,
            origin: None,
            diagnostics: Vec::new(),
            stopped: false,
            exit_macro: false,
            branches: 0,
            padded_branches: FxHashSet::default(),
            wrong_branches: Vec::new(),
            late: Late::default(),
        };
        let text = assembler.section_named(".text", elf::SHT_PROGBITS, elf::SHF_ALLOC | elf::SHF_EXECINSTR);
        assembler.sections[text as usize].align = 4;
        assembler.enter(Place { section: text, number: 0 });
        assembler.previous = None;
        for (name, value) in &options.symbols {
            let id = assembler.symbols.get_or_add(name, 0);
            assembler.symbols.register(id);
            assembler.symbols[id].definition = Definition::Value { value: Value::Abs(*value), fixed: false };
        }
        if let Some(target) = assembler.settings.target {
            assembler.set_target(target);
        }
        assembler
    }

    /// Sets the processor, whose instructions the assembler then accepts, and updates the predefined symbols
    /// that describe the processor.
    pub fn set_target(&mut self, target: &'static isa::Target) {
        let lanes = if self.settings.wave64 { 64 } else { target.wave_size };
        let target = target.with_wave_size(lanes).unwrap_or(target);
        self.settings.target = Some(target);
        self.instructions = Some(Box::new(Instructions::new(target)));
        self.define_processor();
    }

    /// Switches to code object V2, unless the command line requests another version.
    pub fn begin_v2(&mut self) {
        if *self.settings.version.get_or_insert(2) == 2 {
            self.define_processor();
        }
    }

    /// Defines the symbols that contain the processor's version. Their names differ between V2 and later
    /// versions. A symbol that the source itself has defined keeps its value.
    fn define_processor(&mut self) {
        const V2: [&str; 3] = [
            ".option.machine_version_major",
            ".option.machine_version_minor",
            ".option.machine_version_stepping",
        ];
        const LATER: [&str; 3] = [
            ".amdgcn.gfx_generation_number",
            ".amdgcn.gfx_generation_minor",
            ".amdgcn.gfx_generation_stepping",
        ];
        let Some(target) = self.settings.target else { return };
        let names = if self.settings.version == Some(2) { V2 } else { LATER };
        let (major, minor, stepping) = target.version;
        for (name, value) in names.into_iter().zip([major, minor, stepping]) {
            let id = self.symbols.get_or_add(name, 0);
            if !self.symbols[id].is_defined() {
                self.symbols[id].builtin = true;
                self.symbols[id].definition =
                    Definition::Value { value: Value::Abs(i64::from(value)), fixed: false };
            }
        }
    }

    /// Reads the whole source.
    pub fn assemble(&mut self, source: &str) {
        self.texts.begin(source);
        self.run(source);
        if let Some(condition) = self.conditions.pop().filter(|_| !self.stopped) {
            self.report(source, error(condition.span, "`.if` without `.endif`").label("begins here"));
        }
        self.write_pal_metadata();
        self.join_subsections();
        self.write_frames();
        self.write_lines();
        self.define_sections();
        self.resolve_late_sizes();
        self.close_undefined();
        self.bind_versions();
    }

    /// Reads a text statement by statement. After an error, continues with the next line.
    fn run(&mut self, text: &str) {
        let mut cur = Cursor::new(text);
        while !cur.is_end() && !self.stopped && !self.exit_macro {
            if let Err(mistake) = self.statement(&mut cur) {
                self.report(text, mistake);
                cur.skip_line();
            }
        }
        if let Some(at) = cur.unclosed {
            let mistake =
                error(at..at + 2, "comment is never closed").label("opened here").note("`*/` ends it");
            self.report(text, mistake);
        }
    }

    /// Reads the text to which a macro or repetition has expanded. `span` is the statement that was expanded.
    pub fn run_expansion(&mut self, text: &str, span: Range<usize>) -> Result<()> {
        self.descend(text.len() + 16, &span)?;
        let outer = self.origin.clone();
        if outer.is_none() {
            self.origin = Some(span.start + self.base..span.end + self.base);
        }
        self.run(text);
        self.origin = outer;
        self.depth -= 1;
        Ok(())
    }

    /// Reads the text of an included file. `span` is the `.include` statement. `cost` is what the file takes
    /// from the expansion budget in addition to the length of its text.
    pub fn run_file(&mut self, name: &str, text: &str, span: Range<usize>, cost: usize) -> Result<()> {
        let place = self.place_of(span.start);
        self.descend(text.len().saturating_add(cost), &span)?;
        let begin = self.texts.add(name, text, place);
        let outer = (std::mem::replace(&mut self.base, begin), self.origin.take());
        self.run(text);
        (self.base, self.origin) = outer;
        self.depth -= 1;
        Ok(())
    }

    /// Enters a nesting level and subtracts `cost` from the expansion budget. Fails if the nesting is too
    /// deep or the budget is exhausted.
    fn descend(&mut self, cost: usize, span: &Range<usize>) -> Result<()> {
        if self.depth >= MAX_NESTING {
            return Err(error(span.clone(), "macros and included files are nested too deeply")
                .label("more than 20 levels"));
        }
        let Some(left) = self.expansion_budget.checked_sub(cost) else {
            self.stopped = true;
            return Err(error(
                span.clone(),
                "macros, repetitions and included files expand to too much text",
            ));
        };
        self.expansion_budget = left;
        self.depth += 1;
        Ok(())
    }

    #[inline]
    fn statement(&mut self, cur: &mut Cursor) -> Result<()> {
        loop {
            cur.blank();
            let start = cur.pos;
            let byte = cur.peek();
            if self.is_skipping() {
                return self.skipped_statement(cur);
            }
            if begins_name(byte) {
                let name = cur.name().unwrap_or_default();
                let after = cur.pos;
                cur.blank();
                match cur.peek() {
                    b':' => {
                        cur.pos += 1;
                        self.define_label(name, start..after)?;
                        continue;
                    }
                    b'=' if cur.peek_at(1) != b'=' => {
                        cur.pos += 1;
                        self.assignment(cur, name, start..after)?;
                    }
                    _ if name.as_bytes()[0] == b'.' => {
                        cur.pos = after;
                        self.directive(cur, name, start..after)?;
                    }
                    _ if !self.macros.is_empty() && self.macros.contains_key(name) => {
                        self.invoke(cur, name, start)?;
                    }
                    _ => self.instruction(cur, name, start..after)?,
                }
                return end_of_statement(cur);
            }
            match byte {
                b'\n' => {
                    cur.pos += 1;
                    return Ok(());
                }
                b'0'..=b'9' => {
                    self.define_local_label(cur)?;
                    continue;
                }
                b'"' => {
                    if self.quoted_definition(cur)? {
                        continue;
                    }
                    return end_of_statement(cur);
                }
                // Line directives of a preprocessor are skipped.
                b'#' => cur.skip_line(),
                _ if cur.at_end() || cur.is_end() => cur.skip_line(),
                _ => {
                    return Err(error(start..start + 1, "expected an instruction, a directive or a label")
                        .label("not the start of a statement"));
                }
            }
            return Ok(());
        }
    }

    /// Handles a definition whose name is in quotes: `"label":` or `"symbol" = value`. Returns whether
    /// another statement may follow on the line.
    fn quoted_definition(&mut self, cur: &mut Cursor) -> Result<bool> {
        let start = cur.pos;
        let name = cur.expect_name("a label")?;
        let span = start..cur.pos;
        if cur.eat(b'=') {
            self.assignment(cur, &name, span)?;
            return Ok(false);
        }
        cur.expect(b':')?;
        self.define_label(&name, span)?;
        Ok(true)
    }

    /// Returns whether the assembler skips statements because the condition of an `.if` is false.
    #[inline]
    pub fn is_skipping(&self) -> bool {
        self.conditions.last().is_some_and(|condition| !condition.active)
    }

    fn skipped_statement(&mut self, cur: &mut Cursor) -> Result<()> {
        let start = cur.pos;
        if cur.peek() == b'.'
            && let Some(name) = cur.name()
            && self.conditional(cur, name, start..start + name.len())?
        {
            return end_of_statement(cur);
        }
        cur.skip_line();
        Ok(())
    }

    fn define_local_label(&mut self, cur: &mut Cursor) -> Result<()> {
        let start = cur.pos;
        let mut number = 0u32;
        while let digit @ b'0'..=b'9' = cur.peek() {
            number = number.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
            cur.pos += 1;
        }
        let span = start..cur.pos;
        if !cur.eat(b':') {
            return Err(error(span, "expected a statement").label("a number begins a local label like `1:`"));
        }
        let count = self.local_labels.entry(number).or_insert(0);
        *count += 1;
        let name = local_name(number, *count);
        self.define_label(&name, span)
    }

    /// Returns the label that `1b` or `1f` stands for.
    pub fn local_label(&mut self, number: u32, forward: bool, span: Range<usize>) -> Result<Value> {
        let count = self.local_labels.get(&number).copied().unwrap_or(0);
        if !forward && count == 0 {
            return Err(error(span, format!("there is no label `{number}:` before this line")));
        }
        let name = local_name(number, count + u32::from(forward));
        let id = self.symbols.get_or_add(&name, self.place_of(span.start));
        Ok(self.symbol_node(id, crate::expr::Specifier::None))
    }

    pub fn define_label(&mut self, name: &str, span: Range<usize>) -> Result<()> {
        if self.is_discarded(name) {
            return Ok(());
        }
        let id = self.symbols.get_or_add(name, self.place_of(span.start));
        let (section, offset) = self.here();
        let symbol = &mut self.symbols[id];
        if symbol.is_defined() {
            return Err(error(span, format!("`{name}` is already defined")).label("second definition"));
        }
        symbol.definition = Definition::Label { section, offset };
        if self.sections[section as usize].flags & elf::SHF_TLS != 0 {
            symbol.kind = elf::STT_TLS;
        }
        self.symbols.register(id);
        self.define_conditional(id);
        Ok(())
    }

    fn assignment(&mut self, cur: &mut Cursor, name: &str, span: Range<usize>) -> Result<()> {
        let value = self.expression(cur)?;
        self.set_symbol(name, value, false, span)
    }

    /// Defines a symbol by `.set` or a similar directive.
    pub fn set_symbol(&mut self, name: &str, value: Value, fixed: bool, span: Range<usize>) -> Result<()> {
        if name == "." {
            return Err(error(span, "use `.org` to set the location"));
        }
        if self.is_discarded(name) {
            return Ok(());
        }
        let id = self.symbols.get_or_add(name, self.place_of(span.start));
        // If the expression has a known value now, the symbol gets this number. Symbols in the expression may
        // change later, and the number then stays the same.
        let value = self.known_number(value).map_or(value, Value::Abs);
        let symbol = &mut self.symbols[id];
        if symbol.is_defined() && (fixed || !symbol.is_variable()) {
            return Err(error(span, format!("`{name}` is already defined")).label("second definition"));
        }
        symbol.definition = Definition::Value { value, fixed };
        // The source may give a built-in symbol a value. The assembler then must not update the symbol any
        // more.
        symbol.builtin = false;
        self.symbols.register(id);
        self.register_used(value);
        self.define_conditional(id);
        Ok(())
    }

    /// Returns whether the current text comes from a macro or repetition.
    pub fn in_expansion(&self) -> bool {
        self.origin.is_some()
    }

    /// Returns the section and offset of the next byte.
    #[inline]
    pub fn here(&self) -> (u32, u64) {
        (self.section, self.sections[self.section as usize].size())
    }

    #[inline]
    pub fn current(&mut self) -> &mut Section {
        &mut self.sections[self.section as usize]
    }

    /// Returns the section with this name. If there is none, adds one with this type and these flags.
    pub fn section_named(&mut self, name: &str, kind: u32, flags: u64) -> u32 {
        self.section_known_as(name, name, kind, flags)
    }

    /// Returns the section that `key` identifies. If there is none, adds one with this name, type and flags.
    /// Usually the key is the name. Sections that share their name with others have other keys.
    pub fn section_known_as(&mut self, key: &str, name: &str, kind: u32, flags: u64) -> u32 {
        if let Some(&id) = self.section_names.get(key) {
            return id;
        }
        let id = self.sections.len() as u32;
        self.sections.push(Section::new(name, kind, flags));
        self.section_names.insert(key.into(), id);
        id
    }

    /// Switches to another section or subsection.
    pub fn enter(&mut self, place: Place) {
        // A pending `.loc` of another section does not apply here.
        self.lines.is_pending &= place == self.place;
        self.previous = Some(self.place);
        self.place = place;
        self.section = self.end_of(place);
        let section = &mut self.sections[place.section as usize];
        if !section.entered {
            section.entered = true;
            self.symbols.order.push(Err(place.section));
        }
    }

    /// Calls `work` while the current position is the end of another section, and restores the position
    /// afterwards.
    pub fn inside<T>(&mut self, section: u32, work: impl FnOnce(&mut Assembler) -> T) -> T {
        let back = (self.section, self.place, self.previous);
        self.enter(Place { section, number: 0 });
        let done = work(self);
        (self.section, self.place, self.previous) = back;
        done
    }

    /// Charges bytes to the output budget.
    pub fn reserve(&mut self, bytes: u64, span: &Range<usize>) -> Result<()> {
        match self.output_budget.checked_sub(bytes) {
            Some(left) => {
                self.output_budget = left;
                Ok(())
            }
            None => {
                self.stopped = true;
                Err(error(span.clone(), "the object becomes too large"))
            }
        }
    }

    /// Converts an offset in the current text to a position in the numbering that all texts share.
    pub fn place_of(&self, pos: usize) -> usize {
        self.origin.as_ref().map_or(self.base + pos, |origin| origin.start)
    }

    /// Converts a range of offsets in the current text to positions in the numbering that all texts share.
    pub fn span_of(&self, span: Range<usize>) -> (u32, u32) {
        let span = self.origin.clone().unwrap_or(self.base + span.start..self.base + span.end);
        (span.start.min(u32::MAX as usize) as u32, span.end.min(u32::MAX as usize) as u32)
    }

    /// Reports an error whose span is a range of offsets in `text`. `text` may be the expansion of a macro.
    pub fn report(&mut self, text: &str, mistake: Error) {
        let mut parts = mistake.into_parts();
        if let Some(origin) = &self.origin {
            let start = parts.span.start.min(text.len());
            let line =
                text.as_bytes()[..start].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            let line =
                String::from_utf8_lossy(&text.as_bytes()[line..]).lines().next().unwrap_or("").to_owned();
            parts.notes.push(format!("in the expansion: `{}`", line.trim()));
            parts.label.clear();
            parts.span = origin.clone();
        } else {
            parts.span = parts.span.start + self.base..parts.span.end + self.base;
        }
        self.push_diagnostic(parts.span, parts.message, parts.label, parts.notes);
    }

    /// Reports an error whose span is already in the numbering that all texts share.
    pub fn report_placed(&mut self, mistake: Error) {
        let parts = mistake.into_parts();
        self.push_diagnostic(parts.span, parts.message, parts.label, parts.notes);
    }

    /// Reports an error at positions of all texts.
    pub fn push_diagnostic(
        &mut self,
        span: Range<usize>,
        message: String,
        label: String,
        notes: Vec<String>,
    ) {
        let (file, span) = self.texts.locate_range(span);
        self.diagnostics.push(Diagnostic { message, span, label, notes, file });
        self.stopped |= self.diagnostics.len() >= MAX_ERRORS;
    }

    pub fn take_diagnostics(&mut self) -> Vec<Diagnostic> {
        let mut list = std::mem::take(&mut self.diagnostics);
        // Errors are sorted by their position in the source. An error in an included file counts as being at
        // the `.include`.
        list.sort_by_key(|diagnostic| (diagnostic.outer_place(), diagnostic.span.start));
        list
    }

    /// Reads the name of a symbol in a directive.
    pub fn symbol_in(&mut self, cur: &mut Cursor) -> Result<SymbolId> {
        cur.blank();
        let start = cur.pos;
        let name: Name = cur.expect_name("a symbol")?;
        Ok(self.symbols.get_or_add(&name, self.place_of(start)))
    }
}

fn local_name(number: u32, instance: u32) -> String {
    format!(".L{number}\u{1}{instance}")
}

#[inline]
fn end_of_statement(cur: &mut Cursor) -> Result<()> {
    cur.expect_end()?;
    cur.skip_line();
    Ok(())
}
