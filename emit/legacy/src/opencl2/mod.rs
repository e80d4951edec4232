//! Binaries of AMD's OpenCL 2.0 driver (Catalyst 15.7 and later, Crimson, GPU-PRO).
//!
//! The outer ELF file has a record for each kernel in `.rodata` ([`Metadata`]), the options and the version
//! of the compiler library in `.comment`, and the code in `.text`. Drivers since 15.11 have one inner ELF
//! file there ([`Code::Object`]), the older ones a stub, a header and code for each kernel
//! ([`Code::Kernels`]).
//!
//! # Source
//! CLRX, `amdbin/AmdCL2Binaries.cpp` and `doc/ClrxAsmAmdCl2.md`; AMD's OpenCL runtime,
//! `compiler/lib/utils/.../bif_section_labels.hpp`, for the names of symbols.

mod argument;
mod code;
mod device;
mod metadata;
mod stub;

use crate::bytes::{Bytes, Claims, Result, Unclaimed};
use crate::elf::{Class, File, Object, Section, Symbol};
use crate::fields::{Field, List};
use crate::outer::{Builder, COMMENT, Extra, FUNCTION, OBJECT, Outer, RODATA, TEXT};
pub use argument::{ACCESS, Argument, ArgumentKind, DATA, MEMORY};
pub use code::{
    CodeKernel, Note, RELOCATIONS, SEGMENTS, SYMBOL_KERNEL, SYMBOL_METADATA, Sampler, kernel_symbol,
};
pub use device::{DRIVERS, Device, Drivers, drivers};
pub use metadata::{CAPABILITIES, Metadata, PrintfFormat, Revision};
pub use stub::OldKernel;

/// `e_machine` of the outer file, by class.
pub const MACHINES: [(Class, u16); 2] = [(Class::Elf32, 0xaf5a), (Class::Elf64, 0xaf5b)];

/// Binary of the OpenCL 2.0 driver.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Binary<'a> {
    /// Size of addresses in the kernels' interfaces.
    pub class: Class,
    /// `e_flags`: code of the device.
    pub device: u32,
    /// Options of the compiler: the symbol `__OpenCL_compiler_options`.
    pub options: Option<&'a [u8]>,
    /// Version of the compiler library: the symbol `acl_version_string`.
    pub version: Option<&'a [u8]>,
    /// Kernels.
    pub kernels: Vec<Kernel<'a>>,
    /// Code.
    pub code: Code<'a>,
    /// Sections of earlier stages of the compiler, as `.brig`.
    pub sections: Vec<Section<'a>>,
    /// Other symbols, as `__BRIG__`.
    pub symbols: Vec<Extra<'a>>,
}

/// Kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kernel<'a> {
    /// Name.
    pub name: &'a str,
    /// Record.
    pub metadata: Metadata<'a>,
}

impl<'a> Kernel<'a> {
    /// Returns a kernel.
    pub fn new(name: &'a str, metadata: Metadata<'a>) -> Kernel<'a> {
        Kernel { name, metadata }
    }
}

/// What `.text` holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Code<'a> {
    /// There is no `.text`: a program without kernels of an old driver.
    None,
    /// Inner ELF file.
    Object(Object<'a>),
    /// Kernels of drivers before 15.11.
    Kernels(Vec<OldKernel<'a>>),
}

impl<'a> Code<'a> {
    /// Returns the notes of the inner file.
    ///
    /// # Errors
    /// If a note reaches past the end of its section.
    pub fn notes(&self) -> Result<Vec<Note<'a>>> {
        self.section(".note").map_or(Ok(Vec::new()), |section| code::read_notes(section.bytes()))
    }

    /// Returns the kernels of the inner file.
    ///
    /// # Errors
    /// If a kernel reaches past the end of its section, or has no header or no code.
    pub fn kernels(&self) -> Result<Vec<CodeKernel<'a>>> {
        match self {
            Code::Object(object) => code::kernels(object),
            _ => Ok(Vec::new()),
        }
    }

    /// Returns the samplers that the program defines.
    ///
    /// # Errors
    /// If the size of their section is not a multiple of a sampler's size.
    pub fn samplers(&self) -> Result<Vec<Sampler>> {
        let section = self.section(".hsaimage_samplerinit");
        section.map_or(Ok(Vec::new()), |section| code::read_samplers(section.bytes()))
    }

    /// Returns the contents of `.hsadata_readonly_agent`, which the kernels read.
    pub fn readonly_data(&self) -> Option<&'a [u8]> {
        self.section(".hsadata_readonly_agent").map(|section| section.data)
    }

    /// Returns the contents of `.hsadata_global_agent`, which the kernels read and write.
    pub fn global_data(&self) -> Option<&'a [u8]> {
        self.section(".hsadata_global_agent").map(|section| section.data)
    }

    fn section(&self, name: &str) -> Option<&Section<'a>> {
        match self {
            Code::Object(object) => object.section(name),
            _ => None,
        }
    }
}

/// Returns what is between a prefix and a suffix.
pub(crate) fn between<'a>(text: &'a str, prefix: &str, suffix: &str) -> Option<&'a str> {
    text.strip_prefix(prefix)?.strip_suffix(suffix)
}

const OPTIONS: &str = "__OpenCL_compiler_options";
const VERSION: &str = "acl_version_string";
/// Prefix and suffix of the symbols of records.
const RECORD: (&str, &str) = ("__OpenCL_&__OpenCL_", "_kernel_metadata");
/// Prefix of the symbols of old kernels, and the suffixes of the code and of its record.
const OLD: (&str, &str, &str) = ("__ISA_&__OpenCL_", "_kernel_binary", "_kernel_metadata");

/// Returns whether the machine and the class of an ELF file are those of the format.
pub(crate) fn is_machine(class: Class, machine: u16) -> bool {
    MACHINES.contains(&(class, machine))
}

/// Reads a binary. Returns also the bytes that belong to no record.
pub(crate) fn read<'a>(bytes: Bytes<'a>) -> Result<(Binary<'a>, Vec<Unclaimed>)> {
    let mut outer = Outer::read(bytes)?;
    let (class, device) = (outer.object.class, outer.object.flags);
    if !is_machine(class, outer.object.machine) {
        return Err(bytes.error(18, "the machine is 0xaf5a with 32 bits, or 0xaf5b with 64 bits"));
    }
    let (mut options, mut version) = (None, None);
    let (mut kernels, mut symbols) = (Vec::new(), Vec::new());
    let (mut binaries, mut records) = (Vec::new(), Vec::new());
    let table = std::mem::take(&mut outer.object.symbols);
    for symbol in table.iter().filter(|symbol| !symbol.is_null()) {
        if symbol.name == OPTIONS && options.is_none() {
            options = Some(outer.contents(symbol, COMMENT)?.data);
        } else if symbol.name == VERSION && version.is_none() {
            version = Some(outer.contents(symbol, COMMENT)?.data);
        } else if let Some(name) = between(symbol.name, RECORD.0, RECORD.1) {
            let metadata = Metadata::read(outer.contents(symbol, RODATA)?, class)?;
            kernels.push(Kernel { name, metadata });
        } else if let Some(name) = between(symbol.name, OLD.0, OLD.1) {
            binaries.push((name, outer.contents(symbol, TEXT)?));
        } else if let Some(name) = between(symbol.name, OLD.0, OLD.2) {
            records.push((name, outer.contents(symbol, RODATA)?));
        } else {
            symbols.push(outer.extra(symbol)?);
        }
    }
    let text = outer.records(TEXT);
    let code = if binaries.is_empty() {
        text.map_or(Ok(Code::None), |text| read_inner(text, &mut outer))?
    } else {
        Code::Kernels(stub::read(binaries, records)?)
    };
    let (sections, unclaimed) = outer.finish()?;
    let binary = Binary { class, device, options, version, kernels, code, sections, symbols };
    // The views of the code are read once, so that what is wrong with them is said now.
    binary.code.notes()?;
    binary.code.kernels()?;
    binary.code.samplers()?;
    Ok((binary, unclaimed))
}

fn read_inner<'a>(text: Bytes<'a>, outer: &mut Outer<'a>) -> Result<Code<'a>> {
    let file = File::parse(text)?;
    let mut claims = Claims::default();
    file.claim(&mut claims);
    outer.claim_but(text, claims)?;
    Ok(Code::Object(Object::from_file(&file)?))
}

impl<'a> Binary<'a> {
    /// Returns a binary without kernels and code.
    pub fn new(class: Class, device: u32) -> Binary<'a> {
        Binary {
            class,
            device,
            options: None,
            version: Some(b"AMD-COMP-LIB-v0.8 (0.0.SC_BUILD_NUMBER)"),
            kernels: Vec::new(),
            code: Code::None,
            sections: Vec::new(),
            symbols: Vec::new(),
        }
    }

    /// Writes the binary.
    pub fn write(&self) -> Vec<u8> {
        let machine = MACHINES.iter().find(|row| row.0 == self.class).expect("each class has a machine").1;
        let mut builder = Builder::new(self.class, machine, self.device);
        if let Some(options) = self.options {
            builder.add(OPTIONS, OBJECT, COMMENT, options);
        }
        for kernel in &self.kernels {
            let name = format!("{}{}{}", RECORD.0, kernel.name, RECORD.1);
            builder.add(name, OBJECT, RODATA, &kernel.metadata.write(self.class));
        }
        match &self.code {
            Code::None => {}
            Code::Object(object) => builder.add_bytes(TEXT, &object.write()),
            Code::Kernels(kernels) => {
                for kernel in kernels {
                    let name = format!("{}{}{}", OLD.0, kernel.name, OLD.1);
                    builder.add(name, FUNCTION, TEXT, &kernel.write());
                    if let Some(record) = kernel.record {
                        builder.add(format!("{}{}{}", OLD.0, kernel.name, OLD.2), OBJECT, RODATA, record);
                    }
                }
            }
        }
        if let Some(version) = self.version {
            builder.add(VERSION, OBJECT, COMMENT, version);
        }
        let has_text = self.code != Code::None || self.has_extra(".text");
        let has_rodata = !self.kernels.is_empty() || self.has_extra(".rodata");
        builder.write(&self.sections, &self.symbols, [true, has_rodata, has_text])
    }

    fn has_extra(&self, section: &str) -> bool {
        self.symbols.iter().any(|extra| extra.section == Some(section))
    }

    /// Returns the version of the instruction set that the inner file's notes name.
    pub fn isa(&self) -> Option<(u32, u32, u32)> {
        self.code.notes().ok()?.iter().find_map(|note| match note {
            Note::Isa { major, minor, stepping, .. } => Some((*major, *minor, *stepping)),
            _ => None,
        })
    }

    /// Returns the first version (times 100) of the drivers that can have written the file, by its form.
    pub fn oldest_driver(&self) -> u32 {
        let is_named_by_generation = self.kernels.iter().any(|kernel| kernel.metadata.device != "generic");
        let revision = self.kernels.iter().map(|kernel| kernel.metadata.revision).max();
        match (revision, &self.code) {
            _ if is_named_by_generation => 223600,
            (Some(Revision::New), _) => 200406,
            (Some(Revision::Old), _) | (None, Code::None | Code::Kernels(_)) => 180005,
            (Some(Revision::Middle), _) => 191205,
            (None, Code::Object(object)) if object.symbols.first().is_some_and(Symbol::is_null) => 200406,
            (None, Code::Object(_)) => 191205,
        }
    }

    /// Returns each device that the code in `e_flags` means for a driver that can have written the file.
    ///
    /// If the file says which instruction set it has, devices with another one are left out. If none remains,
    /// the processors of the instruction set decide: the driver is newer than all known ones.
    pub fn devices(&self) -> Vec<(&'static Drivers, Device)> {
        let oldest = self.oldest_driver();
        // Each structure was written until the next one came.
        let newest = DRIVERS.iter().map(|drivers| drivers.0).find(|&version| match oldest {
            180005 | 191205 => version > oldest,
            200406 => version >= 223600,
            _ => false,
        });
        let isa = self.isa();
        DRIVERS
            .iter()
            .filter(|drivers| drivers.0 >= oldest && newest.is_none_or(|newest| drivers.0 < newest))
            .filter_map(|drivers| Some((drivers, drivers.device(self.device)?)))
            .filter(|(_, device)| isa.is_none_or(|isa| isa == device.isa))
            .collect()
    }

    /// Returns the fields of the binary, without those of its parts.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        list.add("format", format!("AMD OpenCL 2.0, {} bits", self.class.bits()));
        list.add("device code", self.device);
        for (drivers, device) in self.devices() {
            list.add(format!("device for driver {}", drivers.1), device.name);
        }
        if let Some((major, minor, stepping)) = self.isa() {
            list.add("instruction set", format!("{major}.{minor}.{stepping}"));
        }
        if let Some(options) = self.options {
            list.text("compiler options", options);
        }
        if let Some(version) = self.version {
            list.text("compiler version", version);
        }
        list.add("kernels", self.kernels.len());
        let code = match &self.code {
            Code::None => "none".to_owned(),
            Code::Object(_) => "inner ELF file".to_owned(),
            Code::Kernels(kernels) => format!("{} kernels with stubs", kernels.len()),
        };
        list.add("code", code);
        for section in &self.sections {
            list.size(format!("section {}", section.name), section.data);
        }
        list.0
    }
}
