//! Builds the sections, symbols and relocations of a program, which [`objwriter`] writes to a file.
//!
//! An assembler that reads the listing of [`crate::asm`] produces the same sections, symbols and relocations
//! in the same order. So the object of the compiler and the object of the assembler are identical files.

use crate::lines::Lines;
use crate::shared::{self, Addresses};
use crate::{
    ById, Context, DebugSections, EmitError, Program, by_id, catalyst, code, config, descriptor, kernel_code,
    notes, unwind,
};
use bumpalo::Bump;
use isa::{CodeEnd, Subtarget};
use mir::{Distance, MachFunc, Referent, RelocRef};
use objwriter::dwarf::{self, Contents, LineTable, LineTableHeader, SourceFile, Unit};
use objwriter::elf::{
    Identity, Object, Place, Relocation, SHF_ALLOC, SHF_EXCLUDE, SHF_EXECINSTR, SHF_MERGE, SHF_STRINGS,
    SHF_WRITE, SHT_NOTE, SHT_PROGBITS, STB_GLOBAL, STB_LOCAL, STT_AMDGPU_HSA_KERNEL, STT_FUNC, STT_OBJECT,
    STV_DEFAULT, STV_PROTECTED, Section, Symbol, Target, reloc,
};
use objwriter::frames::FrameTable;
use smallvec::{SmallVec, smallvec};

/// Returns a loadable object, which needs no linker.
///
/// # Errors
/// See [`EmitError`].
pub fn loadable(program: &Program) -> Result<Vec<u8>, EmitError> {
    loadable_in(program, &mut Context::default())
}

/// Returns a loadable object as [`loadable`] does, reusing the memory of `ctx`.
///
/// # Errors
/// See [`EmitError`].
pub fn loadable_in(program: &Program, ctx: &mut Context) -> Result<Vec<u8>, EmitError> {
    shared::with_addresses(program, |program, addresses| {
        write((program, Some(addresses)), ctx, objwriter::elf::loadable_in)
    })
}

/// Returns a relocatable object.
///
/// # Errors
/// See [`EmitError`].
pub fn relocatable(program: &Program) -> Result<Vec<u8>, EmitError> {
    let system = program.target.system();
    if system.has_container {
        return Err(EmitError::Unsupported(format!(
            "an object for a linker, which `{}` lacks,",
            system.name
        )));
    }
    write((program, None), &mut Context::default(), |object, _| objwriter::elf::relocatable(object))
}

/// Returns the object as the runtime of the program's system loads it: a linked object, or a relocatable
/// object in which the addresses of variables in LDS are filled in. Reuses the memory of `ctx`.
///
/// # Errors
/// See [`EmitError`].
pub fn complete_in(program: &Program, ctx: &mut Context) -> Result<Vec<u8>, EmitError> {
    if program.target.system().is_linked {
        return loadable_in(program, ctx);
    }
    shared::with_addresses(program, |program, addresses| {
        if program.target.system().has_container {
            // The driver reads no debug information. The lines stay, because the list of atomic accesses comes
            // with them.
            let plain = Program { debug: None, frames: None, ..program.clone() };
            let driver = catalyst::Driver::new(program)?;
            return write((&plain, Some(addresses)), ctx, |object, _| driver.file(object));
        }
        write((program, Some(addresses)), ctx, |object, _| objwriter::elf::relocatable(object))
    })
}

/// Builds an object and writes it with the function `file`. `addresses` are the addresses of variables in
/// LDS, which only loadable objects contain.
fn write(
    (program, addresses): (&Program, Option<&Addresses>),
    ctx: &mut Context,
    file: impl for<'o> Fn(&'o Object<'o>, &'o Bump) -> Result<Vec<u8>, String>,
) -> Result<Vec<u8>, EmitError> {
    program.check()?;
    ctx.bump.reset();
    ctx.names.clear();
    for kernel in program.with_descriptors() {
        ctx.names.push_str(&kernel.func.name);
        ctx.names.push_str(descriptor::SUFFIX);
    }
    let Context { bump, names, image: memory } = ctx;
    let mut image = Image::new((program, addresses), names, std::mem::take(memory));
    for number in 0..program.kernels.len() {
        image.kernel(number)?;
    }
    for number in 0..program.functions.len() {
        image.function(number)?;
    }
    image.near_calls()?;
    image.code_end();
    image.rodata.align = if program.with_descriptors().is_empty() { 1 } else { descriptor::ALIGN };
    for number in 0..program.with_descriptors().len() {
        image.descriptor(number)?;
    }
    for number in 0..program.variables.len() {
        image.variable(number)?;
    }
    image.local_references();
    let config = match program.target.system().has_config {
        true => {
            Some(section(config::NAME, Contents { bytes: config::bytes(program)?, ..Contents::default() }))
        }
        false => None,
    };
    let (object, code) = image.finish(config)?;
    let written = file(&object, bump).map_err(EmitError::Container);
    *memory = Memory::from_written(object, code);
    written
}

/// Memory that is reused from one object to the next.
#[derive(Default)]
pub(crate) struct Memory {
    code: code::Code,
    /// Contents and relocations of each section, as memory for the next object. The index is [`TEXT`] or one
    /// of the constants after it.
    contents: [Contents; 4],
    /// The same for the sections in [`DEBUG`].
    debug: [Contents; 3],
    order: Vec<Target>,
    symbols: Vec<Symbol<'static>>,
    sections: Vec<Section<'static>>,
}

/// Returns an empty list that reuses the memory of `list`. Its items may have another lifetime, which the
/// borrow checker would not allow if `list` were cleared and used again.
fn emptied<T, U>(list: Vec<T>) -> Vec<U> {
    // The standard library collects such an iterator into the memory of the vector `list`, if `T` and `U`
    // have the same size.
    list.into_iter().filter_map(|_| None).collect()
}

impl Memory {
    /// Takes the memory of an object that has been written.
    fn from_written(mut object: Object, code: code::Code) -> Memory {
        let mut memory =
            Memory { code, order: object.order, symbols: emptied(object.symbols), ..Memory::default() };
        memory.order.clear();
        for section in object.sections.drain(..) {
            let find = |names: &[&str]| names.iter().position(|&name| name == section.name);
            let kept = match (find(&NAMES), find(&DEBUG)) {
                (Some(number), _) => &mut memory.contents[number],
                (None, Some(number)) => &mut memory.debug[number],
                _ => continue,
            };
            *kept = Contents { bytes: section.data.into_owned(), relocations: section.relocations };
            kept.bytes.clear();
            kept.relocations.clear();
        }
        memory.sections = emptied(object.sections);
        memory
    }

    /// Returns an empty section in reused memory.
    fn section<'a>(&mut self, number: u32, kind: u32, flags: u64) -> Section<'a> {
        let contents = std::mem::take(&mut self.contents[number as usize]);
        let flags = SHF_ALLOC | flags;
        Section { kind, flags, ..section(NAMES[number as usize], contents) }
    }
}

fn section(name: &str, contents: Contents) -> Section<'_> {
    let Contents { bytes, relocations } = contents;
    Section { name, kind: SHT_PROGBITS, align: 1, data: bytes.into(), relocations, ..Section::default() }
}

/// Returns a section of full debug information. The section of strings gets flags that allow linkers to merge
/// equal strings of several objects.
fn debug_section(name: &str, contents: Contents) -> Section<'_> {
    let section = section(name, contents);
    match name {
        TEXTS => Section { flags: SHF_MERGE | SHF_STRINGS, entry_size: 1, ..section },
        _ => section,
    }
}

/// Section of the strings that debug information uses.
const TEXTS: &str = ".debug_str";

/// Symbol type for a symbol that another object defines. This object does not say whether it is a function or
/// a variable.
const STT_NOTYPE: u8 = 0;

/// Alignment of the code of a kernel in bytes: its entry must be aligned to 256 bytes (LLVM's AMDGPU guide,
/// seed 000, line 2567).
const KERNEL_ALIGN: u64 = 256;
/// `s_nop 0`, with which assemblers pad code.
const PADDING: u32 = 0xbf80_0000;

/// Numbers of the sections with code and data, used as indices in this module. `.data` exists only if the
/// program has writable variables.
const TEXT: u32 = 0;
const RODATA: u32 = 1;
const DATA: u32 = 2;
const NOTE: u32 = 3;
const NAMES: [&str; 4] = [".text", ".rodata", ".data", ".note"];
/// Numbers that the sections of `NAMES` have in the object: first for V3 and later versions, then for V2. The
/// section of notes comes last in V3 and later. In V2 it follows the code, because V2 listings begin with the
/// directives for notes.
const NUMBERS: [u32; 4] = [0, 1, 2, 3];
const NUMBERS_V2: [u32; 4] = [0, 2, 3, 1];
/// The same numbers for objects with the section `.AMDGPU.config`, which has number 1.
const NUMBERS_CONFIG: [u32; 4] = [0, 2, 3, 4];

/// Names of the debug sections that this module writes: for source lines, and for the list of atomic
/// accesses. These sections follow the section [`ABBREV`], which comes after the sections with code, data and
/// notes.
const DEBUG: [&str; 3] = [".debug_info", ".debug_line", objwriter::elf::ATOMICS];
const ABBREV: &str = ".debug_abbrev";
/// Name of the section with call frame information, which follows the debug sections.
const FRAMES: &str = ".debug_frame";
const PRODUCER: &str = concat!("kernc ", env!("CARGO_PKG_VERSION"));

/// An object under construction. Its symbols are, in this order: kernels, kernel descriptors (if the version
/// has them), variables, functions, external symbols, variables in LDS.
struct Image<'a> {
    program: &'a Program<'a>,
    text: Section<'a>,
    rodata: Section<'a>,
    data: Section<'a>,
    note: Section<'a>,
    symbols: Vec<Symbol<'a>>,
    /// Numbers of the sections in the object.
    numbers: [u32; 4],
    sections: Vec<Section<'a>>,
    /// Symbols and sections in the order in which the assembly listing first names them. The symbol table has
    /// this order, because an assembler numbers symbols in this order.
    order: Vec<Target>,
    /// Addresses of variables in LDS, if they are known.
    addresses: Option<&'a Addresses>,
    /// For each symbol that code can refer to, whether `order` already contains it. The flags of variables
    /// come first, then those of functions, external symbols and LDS variables.
    is_named: SmallVec<[bool; 8]>,
    /// Numbers of variables, by id.
    variables: ById<u32>,
    /// Numbers of functions, by id.
    functions: ById<u32>,
    /// Calls by `s_call_b64`, whose encoding contains the distance to the called function. Each entry has the
    /// name of the caller, the offset of the call in the code section, and the called function.
    near: Vec<(&'a str, u64, Referent)>,
    /// Encoded code of the current function.
    code: code::Code,
    debug: Option<Debug<'a>>,
    frames: Option<FrameTable>,
}

/// Line table and related sections under construction.
struct Debug<'a> {
    lines: &'a Lines,
    table: LineTable,
    info: Contents,
    atomics: Contents,
    /// The writer of full debug information, if the program is to have it. Its sections replace all debug
    /// sections of this module except the list of atomic accesses.
    full: Option<&'a dyn DebugSections>,
}

impl<'a> Image<'a> {
    /// Creates an object without code. `descriptors` is one string with the names of the symbols of all
    /// kernel descriptors, one after another, so that symbols can borrow their names from it.
    fn new(
        (program, addresses): (&'a Program<'a>, Option<&'a Addresses>),
        mut descriptors: &'a str,
        mut memory: Memory,
    ) -> Image<'a> {
        let symbol = |name, visibility, kind| {
            let place = Place::Undefined;
            Symbol { name, binding: STB_GLOBAL, visibility, kind, size: 0, place }
        };
        let kernels = program.kernels.iter().map(|kernel| program.symbol(kernel));
        let mut symbols: Vec<Symbol> = std::mem::take(&mut memory.symbols);
        let kind = if program.has_kernel_code() { STT_AMDGPU_HSA_KERNEL } else { STT_FUNC };
        symbols.extend(kernels.map(|name| symbol(name, STV_PROTECTED, kind)));
        // An assembler gives the symbol of a descriptor the visibility of its kernel, so this module does the
        // same.
        for kernel in program.with_descriptors() {
            let (name, rest) = descriptors.split_at(kernel.func.name.len() + descriptor::SUFFIX.len());
            descriptors = rest;
            symbols.push(symbol(name, STV_PROTECTED, STT_OBJECT));
        }
        symbols.extend(program.variables.iter().map(|v| symbol(v.name, STV_PROTECTED, STT_OBJECT)));
        symbols.extend(program.functions.iter().map(|function| {
            let symbol = symbol(&function.func.name, STV_PROTECTED, STT_FUNC);
            match function.export {
                true => symbol,
                false => Symbol { binding: STB_LOCAL, visibility: STV_DEFAULT, ..symbol },
            }
        }));
        symbols
            .extend(program.externals.iter().map(|external| symbol(external.name, STV_DEFAULT, STT_NOTYPE)));
        let shared = program.shared.iter().filter(|_| addresses.is_none());
        symbols.extend(shared.map(|variable| Symbol {
            binding: if variable.local { STB_LOCAL } else { STB_GLOBAL },
            size: variable.size.into(),
            place: Place::Lds(variable.align.into()),
            ..symbol(variable.name, STV_DEFAULT, STT_OBJECT)
        }));
        let variables = by_id((0..).zip(program.variables).map(|(number, variable)| (variable.id, number)));
        let functions = by_id((0..).zip(program.functions).map(|(number, function)| (function.id, number)));
        let [info, table, atomics] = std::mem::take(&mut memory.debug);
        let debug = program.lines.filter(|_| !program.kernels.is_empty()).map(|lines| Debug {
            lines,
            table: line_table(table, lines),
            info,
            atomics,
            full: program.debug,
        });
        Image {
            program,
            text: memory.section(TEXT, SHT_PROGBITS, SHF_EXECINSTR),
            rodata: memory.section(RODATA, SHT_PROGBITS, 0),
            data: memory.section(DATA, SHT_PROGBITS, SHF_WRITE),
            note: memory.section(NOTE, SHT_NOTE, 0),
            numbers: match program.target.system().has_config {
                true => NUMBERS_CONFIG,
                false if program.is_v2() => NUMBERS_V2,
                false => NUMBERS,
            },
            order: memory.order,
            addresses,
            is_named: smallvec![false; program.variables.len() + program.functions.len() + program.externals.len() + program.shared.len()],
            symbols,
            sections: std::mem::take(&mut memory.sections),
            variables,
            functions,
            near: Vec::new(),
            code: memory.code,
            debug,
            frames: program.frames.map(|dialect| FrameTable::new(Contents::default(), dialect)),
        }
    }

    /// Appends the code of a kernel to the code section, in V2 with the header (`amd_kernel_code_t`) before
    /// the code.
    fn kernel(&mut self, number: usize) -> Result<(), EmitError> {
        let kernel = &self.program.kernels[number];
        self.text.align = KERNEL_ALIGN;
        let text = self.text.data.to_mut();
        while !(text.len() as u64).is_multiple_of(KERNEL_ALIGN) {
            text.extend_from_slice(&PADDING.to_le_bytes());
        }
        let begin = text.len();
        self.order.push(Target::Symbol(number as u32));
        if self.program.has_kernel_code() {
            text.extend_from_slice(&kernel_code::bytes(self.program, kernel)?);
        }
        self.code(number, (&self.program.target_of(kernel), kernel.func), begin)
    }

    /// Appends the code of a function. No padding is needed before the function, because functions need only
    /// the alignment of a dword, and all code consists of whole dwords.
    fn function(&mut self, number: usize) -> Result<(), EmitError> {
        let begin = self.text.data.len();
        let function = self.program.functions[number];
        let target = self.program.target_of_function(&function);
        self.function_symbol(number);
        self.code(self.first_function() + number, (&target, function.func), begin)
    }

    /// Appends code and its relocations. The symbol with number `symbol` covers the bytes from `begin` to the
    /// end of the code, so it includes a V2 header before the code.
    fn code(
        &mut self,
        symbol: usize,
        (target, func): (&Subtarget, &'a MachFunc),
        begin: usize,
    ) -> Result<(), EmitError> {
        let mut code = std::mem::take(&mut self.code);
        code.encode(target, func)?;
        let number = symbol;
        let symbol = &mut self.symbols[number];
        symbol.place = Place::Section(self.numbers[TEXT as usize], begin as u64);
        let text = self.text.data.to_mut();
        let start = text.len() as u64;
        text.reserve(code.words.len() * 4);
        code.words.iter().for_each(|word| text.extend_from_slice(&word.to_le_bytes()));
        let end = text.len();
        symbol.size = (end - begin) as u64;
        let mut calls = code.calls.iter().peekable();
        let mut fixups = code.fixups.iter().peekable();
        // Symbols are ordered as the code refers to them.
        loop {
            let first = fixups.peek().map_or(u32::MAX, |fixup| fixup.at);
            if let Some(&(word, reloc)) = calls.next_if(|call| call.0 < first) {
                let to = func.relocs[reloc as usize].to;
                self.named(to)?;
                self.near.push((&func.name, start + u64::from(word) * 4, to));
            } else if let Some(fixup) =
                fixups.next_if(|fixup| func.relocs[fixup.reloc as usize].part == Distance::Address)
            {
                self.shared_address(start + u64::from(fixup.at) * 4, func.relocs[fixup.reloc as usize])?;
            } else if let Some(fixup) = fixups.next() {
                let relocation = self.reference(start, fixup, func.relocs[fixup.reloc as usize])?;
                self.text.relocations.push(relocation);
            } else {
                break;
            }
        }
        if let Some(debug) = &mut self.debug {
            debug.code(&code, start, end as u64);
        }
        if let Some(frames) = &mut self.frames {
            let span = unwind::Span { text: Target::Section(TEXT), bytes: (start, end as u64) };
            unwind::describe(func, target, span, frames);
        }
        self.code = code;
        Ok(())
    }

    /// Adds the padding after all code.
    fn code_end(&mut self) {
        let Some(CodeEnd { word, bytes }) = self.program.code_end() else { return };
        let text = self.text.data.to_mut();
        let end = text.len().next_multiple_of(CodeEnd::LINE as usize) + bytes as usize;
        while text.len() < end {
            text.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// Fills in the address of an LDS variable at `offset` in the code section. If a linker chooses the
    /// address, adds a relocation for it instead.
    fn shared_address(&mut self, offset: u64, to: RelocRef) -> Result<(), EmitError> {
        let unknown = EmitError::Unknown(to.to);
        if let Referent::Scratch(_) = to.to {
            let target = self.named(to.to)?;
            let kind = reloc::ABS32_LO;
            self.text.relocations.push(Relocation { offset, target, kind, addend: to.addend });
            return Ok(());
        }
        let Referent::Global(id) = to.to else { return Err(unknown) };
        if let Some(addresses) = self.addresses {
            let address = addresses.get(id as usize).copied().flatten().ok_or(unknown)?;
            let word = (i64::from(address) + to.addend) as u32;
            self.text.data.to_mut()[offset as usize..offset as usize + 4]
                .copy_from_slice(&word.to_le_bytes());
            return Ok(());
        }
        let number = self.program.shared.iter().position(|variable| variable.id == id).ok_or(unknown)?;
        let after = self.program.functions.len() + self.program.externals.len() + number;
        let target = Target::Symbol((self.first_function() + after) as u32);
        if !std::mem::replace(&mut self.is_named[self.program.variables.len() + after], true) {
            self.order.push(target);
        }
        self.text.relocations.push(Relocation { offset, target, kind: reloc::ABS32_LO, addend: to.addend });
        Ok(())
    }

    /// Returns the relocation for a reference to a variable or function. The code needs the address of the
    /// variable, or the distance from the end of `s_getpc_b64`. But the distance of a relocation is counted
    /// from the literal that it fills in. The addend of the relocation corrects this difference.
    fn reference(&mut self, start: u64, fixup: &code::Fixup, to: RelocRef) -> Result<Relocation, EmitError> {
        let target = self.named(to.to)?;
        let offset = start + u64::from(fixup.at) * 4;
        let absolute = match to.part {
            Distance::AddressLow => Some(reloc::ABS32_LO),
            Distance::AddressHigh => Some(reloc::ABS32_HI),
            _ => None,
        };
        if let Some(kind) = absolute {
            return Ok(Relocation { offset, target, kind, addend: to.addend });
        }
        Ok(Relocation {
            offset,
            target,
            kind: if to.part == Distance::High { reloc::REL32_HI } else { reloc::REL32_LO },
            addend: i64::from(fixup.at - fixup.origin) * 4 + to.addend,
        })
    }

    /// Returns the symbol of `to`, and adds the symbol to `order`.
    fn named(&mut self, to: Referent) -> Result<Target, EmitError> {
        let number = match to {
            Referent::Global(id) => self.variables.get(id as usize),
            Referent::Func(id) => self.functions.get(id as usize),
            Referent::Scratch(_) => None,
        };
        if number.copied().flatten().is_none()
            && let Some(external) = self.program.externals.iter().position(|external| external.to == to)
        {
            return Ok(self.external_symbol(external));
        }
        let number = number.copied().flatten().ok_or(EmitError::Unknown(to))? as usize;
        Ok(match to {
            Referent::Global(_) => self.variable_symbol(number),
            Referent::Func(_) => self.function_symbol(number),
            Referent::Scratch(_) => return Err(EmitError::Unknown(to)),
        })
    }

    /// Changes all relocations that refer to local functions, as an assembler does. Instead of the function's
    /// symbol, they then refer to the code section plus the function's offset in it.
    fn local_references(&mut self) {
        let text = Target::Section(TEXT);
        let mut found = false;
        for section in [&mut self.text, &mut self.data] {
            for relocation in &mut section.relocations {
                let Target::Symbol(number) = relocation.target else { continue };
                let symbol = &self.symbols[number as usize];
                let Place::Section(_, offset) = symbol.place else { continue };
                if symbol.binding == STB_LOCAL {
                    relocation.target = text;
                    relocation.addend += offset as i64;
                    found = true;
                }
            }
        }
        // An assembler lists its sections first.
        if found || self.debug.is_some() || self.frames.is_some() {
            self.order.insert(0, text);
        }
    }

    /// Fills in the distances of calls.
    fn near_calls(&mut self) -> Result<(), EmitError> {
        let text = self.text.data.to_mut();
        for &(caller, at, to) in &self.near {
            let Referent::Func(id) = to else { return Err(EmitError::Unknown(to)) };
            let number = self.functions.get(id as usize).copied().flatten().ok_or(EmitError::Unknown(to))?;
            let first = self.program.kernels.len()
                + self.program.with_descriptors().len()
                + self.program.variables.len();
            let Place::Section(_, place) = self.symbols[first + number as usize].place else {
                return Err(EmitError::Unknown(to));
            };
            let words = (place as i64 - at as i64 - 4) / 4;
            let words = i16::try_from(words).map_err(|_| EmitError::CallRange { caller: caller.into() })?;
            text[at as usize..at as usize + 2].copy_from_slice(&words.to_le_bytes());
        }
        Ok(())
    }

    /// Returns the number of the first function's symbol.
    fn first_function(&self) -> usize {
        self.first_variable() + self.program.variables.len()
    }

    /// Returns the symbol of an external function or variable, and adds the symbol to `order` if it is not
    /// there yet.
    fn external_symbol(&mut self, external: usize) -> Target {
        let behind = self.program.functions.len() + external;
        let target = Target::Symbol((self.first_function() + behind) as u32);
        if !std::mem::replace(&mut self.is_named[self.program.variables.len() + behind], true) {
            self.order.push(target);
        }
        target
    }

    /// Returns the symbol of a function, and adds the symbol to `order` if it is not there yet.
    fn function_symbol(&mut self, function: usize) -> Target {
        let target = Target::Symbol((self.first_function() + function) as u32);
        let place = self.program.variables.len() + function;
        if !std::mem::replace(&mut self.is_named[place], true) {
            self.order.push(target);
        }
        target
    }

    /// Returns the number of the first variable's symbol.
    fn first_variable(&self) -> usize {
        self.program.kernels.len() + self.program.with_descriptors().len()
    }

    /// Returns the symbol of a variable, and adds the symbol to `order` if it is not there yet.
    fn variable_symbol(&mut self, variable: usize) -> Target {
        let target = Target::Symbol((self.first_variable() + variable) as u32);
        if !std::mem::replace(&mut self.is_named[variable], true) {
            self.order.push(target);
        }
        target
    }

    fn descriptor(&mut self, number: usize) -> Result<(), EmitError> {
        let kernel = &self.program.kernels[number];
        let bytes = descriptor::bytes(self.program, kernel)?;
        let rodata = self.rodata.data.to_mut();
        let at = rodata.len() as u64;
        rodata.extend_from_slice(&bytes);
        // The descriptor's field holds the distance from the start of the descriptor to the code. A
        // relocation counts from the field itself, so the addend is the offset of the field in the
        // descriptor.
        self.rodata.relocations.push(Relocation {
            offset: at + descriptor::ENTRY_OFFSET,
            target: Target::Symbol(number as u32),
            kind: reloc::REL64,
            addend: descriptor::ENTRY_OFFSET as i64,
        });
        let own = self.program.kernels.len() + number;
        self.symbols[own].place = Place::Section(self.numbers[RODATA as usize], at);
        self.symbols[own].size = descriptor::SIZE as u64;
        self.order.push(Target::Symbol(own as u32));
        Ok(())
    }

    fn variable(&mut self, number: usize) -> Result<(), EmitError> {
        let variable = &self.program.variables[number];
        let (section, place) =
            if variable.writable { (&mut self.data, DATA) } else { (&mut self.rodata, RODATA) };
        let align = u64::from(variable.align.max(1));
        section.align = section.align.max(align);
        let bytes = section.data.to_mut();
        let offset = (bytes.len() as u64).next_multiple_of(align);
        bytes.resize(offset as usize, 0);
        bytes.extend_from_slice(variable.init);
        bytes.resize(offset as usize + variable.size as usize, 0);
        for &(at, id) in &variable.functions {
            let target = self.named(Referent::Func(id))?;
            let section = if variable.writable { &mut self.data } else { &mut self.rodata };
            let offset = offset + u64::from(at);
            section.relocations.push(Relocation { offset, target, kind: reloc::ABS64, addend: 0 });
        }
        let first = self.first_variable();
        let symbol = &mut self.symbols[first + number];
        symbol.place = Place::Section(self.numbers[place as usize], offset);
        symbol.size = variable.size.into();
        self.variable_symbol(number);
        Ok(())
    }

    /// Returns the finished object with the section `config` after the code, and the buffer for encoded code
    /// so that the caller can reuse its memory.
    fn finish(mut self, config: Option<Section<'a>>) -> Result<(Object<'a>, code::Code), EmitError> {
        let first_variable = self.first_variable() as u32;
        let function_numbers = self.first_function()..self.first_function() + self.program.functions.len();
        self.note.align = 4;
        if !self.program.target.system().has_metadata {
            self.note.flags = 0;
        }
        notes::write(self.program, self.note.data.to_mut())?;
        let has_data = self.program.variables.iter().any(|variable| variable.writable);
        let data = has_data.then_some(self.data);
        let rodata = self.program.has_rodata().then_some(self.rodata);
        self.sections.extend([Some(self.text), config, rodata, data].into_iter().flatten());
        let place = self.sections.len().min(self.numbers[NOTE as usize] as usize);
        self.sections.insert(place, self.note);
        let end = |symbol: &Symbol| match symbol.place {
            Place::Section(_, offset) => offset + symbol.size,
            _ => 0,
        };
        let kernels = &self.symbols[..self.program.kernels.len()];
        let functions = &self.symbols[function_numbers];
        let begin = kernels.first().map_or(0, |first| end(first) - first.size);
        let code = begin..kernels.iter().chain(functions).map(end).max().unwrap_or(begin);
        if let Some(Debug { full: Some(full), atomics, .. }) = &mut self.debug {
            let written = (*full, std::mem::take(atomics));
            let symbol = |number: &Option<u32>| number.map(|n| Target::Symbol(first_variable + n));
            let globals: Vec<Option<Target>> = self.variables.iter().map(symbol).collect();
            let first = self.sections.len() as u32;
            let sections = full_debug(written, kernels.iter().chain(functions), &globals, (first, code));
            self.order.extend((first..).take(sections.len() - 1).map(Target::Section));
            self.sections.extend(sections);
        } else if let Some(debug) = self.debug {
            let first = self.sections.len() as u32;
            self.order.extend([first, first + 2].map(Target::Section));
            self.sections.extend(debug.finish(first, code));
        }
        if let Some(frames) = self.frames {
            let own = self.sections.len() as u32;
            self.order.push(Target::Section(own));
            self.sections.push(Section { align: 8, ..section(FRAMES, frames.finish(own)) });
        }
        if self.addresses.is_none() && !self.program.signatures.is_empty() {
            let mut data = Vec::new();
            for signature in self.program.signatures {
                data.extend_from_slice(signature.as_bytes());
                data.push(0);
            }
            let flags = SHF_EXCLUDE | SHF_MERGE | SHF_STRINGS;
            let contents = Contents { bytes: data, ..Contents::default() };
            self.sections.push(Section {
                flags,
                entry_size: 1,
                ..section(objwriter::elf::SIGNATURES, contents)
            });
        }
        let object = Object {
            identity: Identity::for_subtarget(&self.program.target),
            sections: self.sections,
            symbols: self.symbols,
            order: self.order,
            ..Object::default()
        };
        Ok((object, self.code))
    }
}

/// Returns the sections of full debug information, followed by the section that lists atomic accesses.
/// `symbols` are the symbols of kernels and functions, and `globals` are the symbols of variables, to which
/// relocations in the debug sections refer.
#[cold]
fn full_debug<'a>(
    (full, atomics): (&dyn DebugSections, Contents),
    symbols: impl Iterator<Item = &'a Symbol<'a>>,
    globals: &[Option<Target>],
    (first, code): (u32, std::ops::Range<u64>),
) -> Vec<Section<'static>> {
    let place = |symbol: &Symbol| match symbol.place {
        Place::Section(_, offset) => (offset, offset + symbol.size),
        _ => (0, 0),
    };
    let functions: Vec<(u64, u64)> = symbols.map(place).collect();
    let (text, code) = (Target::Section(TEXT), (code.start, code.end));
    let image = crate::Image { text, code, functions: &functions, globals, first };
    let sections = full.sections(&image).into_iter().map(|(name, contents)| debug_section(name, contents));
    let atomics = Section { align: 8, ..section(objwriter::elf::ATOMICS, atomics) };
    sections.chain([atomics]).collect()
}

/// Returns a line table without rows.
fn line_table(contents: Contents, lines: &Lines) -> LineTable {
    let files = lines.files().map(|name| SourceFile { name, text: "" });
    LineTable::new(contents, Target::Section(TEXT), LineTableHeader::default(), files)
}

impl<'a> Debug<'a> {
    /// Adds the source lines and atomic accesses of one function to the debug sections. Its code is at the
    /// offsets `start` to `end` of the code section.
    fn code(&mut self, code: &code::Code, start: u64, end: u64) {
        for &word in &code.atomics {
            self.atomics.field(8, Target::Section(TEXT), start + u64::from(word) * 4);
        }
        if self.full.is_some() {
            return;
        }
        self.table.begin(start);
        let mut last = None;
        for &(word, loc) in &code.places {
            // Code without a source location has line 0.
            let place = self.lines.position(loc).unwrap_or_default();
            if last.replace(place) != Some(place) {
                let offset = start + u64::from(word) * 4;
                self.table.row(place.row(offset));
            }
        }
        self.table.end(end);
    }

    /// Returns the finished debug sections, of which the first has the number `first` in the object. `code`
    /// is the range of all code in the code section.
    fn finish(self, first: u32, code: std::ops::Range<u64>) -> [Section<'a>; 4] {
        let unit = Unit {
            producer: PRODUCER,
            file: self.lines.files().next().unwrap_or_default(),
            text: (Target::Section(TEXT), code.start, code.end - code.start),
            abbreviations: Target::Section(first),
            lines: Target::Section(first + 2),
        };
        let [info, line, atomics] = DEBUG;
        let abbreviations =
            Section { data: dwarf::ABBREVIATIONS.into(), ..section(ABBREV, Contents::default()) };
        let atomics = Section { align: 8, ..section(atomics, self.atomics) };
        let info = section(info, dwarf::unit(self.info, &unit));
        [abbreviations, info, section(line, self.table.finish()), atomics]
    }
}
