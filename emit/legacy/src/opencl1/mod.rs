//! Binaries of AMD's OpenCL 1.x driver (Catalyst).
//!
//! The outer ELF file has for each kernel a text in AMDIL's form and a header in `.rodata`, and an inner ELF
//! file in `.text`. Options of the compiler and the driver's version are in `.comment`.
//!
//! # Source
//! CLRX, `amdbin/AmdBinaries.cpp` and `amdbin/AmdBinGen.cpp`; AMD's OpenCL runtime,
//! `compiler/lib/utils/.../bif_section_labels.hpp`, for the names of symbols.

mod device;
mod encoding;
mod note;

use crate::bytes::{Bytes, Claims, Result, Unclaimed};
use crate::elf::{Class, Section};
use crate::fields::{Field, List};
use crate::outer::{Builder, COMMENT, Extra, FUNCTION, OBJECT, Outer, RODATA, TEXT};
pub use device::{DEVICES, HOST, MACHINES, device_name, machine_name};
pub use encoding::{Encoding, Inner};
pub use note::{DATA_CLASSES, NOTES, Note, UserData, user_data_pairs};

pub(crate) use device::is_machine;

/// Binary of the OpenCL 1.x driver.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Binary<'a> {
    /// Size of addresses in the kernels' interfaces.
    pub class: Class,
    /// `e_machine`: [`device_name`] has the name of the device.
    pub machine: u16,
    /// Options of the compiler: the symbol `__OpenCL_compile_options`.
    pub options: Option<&'a [u8]>,
    /// Name and version of the driver: the rest of `.comment`.
    pub driver: &'a [u8],
    /// Constant data of the program.
    pub globals: Vec<Global<'a>>,
    /// Kernels.
    pub kernels: Vec<Kernel<'a>>,
    /// ELF file for the host processor, if the device is the host processor.
    pub host: Option<&'a [u8]>,
    /// Sections of earlier stages of the compiler, as `.llvmir`, `.source` and `.amdil`.
    pub sections: Vec<Section<'a>>,
    /// Other symbols.
    pub symbols: Vec<Extra<'a>>,
}

/// Constant data of the program: the symbol `__OpenCL_NUMBER_global`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Global<'a> {
    /// Number, as text. Drivers before 1348.05 have 2, the constant buffer. Later ones have 0.
    pub number: &'a str,
    /// Contents.
    pub data: &'a [u8],
}

impl<'a> Global<'a> {
    /// Returns constant data.
    pub fn new(number: &'a str, data: &'a [u8]) -> Global<'a> {
        Global { number, data }
    }

    /// Returns the fields of the data.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        list.add("number", self.number);
        list.size("contents", self.data);
        list.0
    }
}

/// Kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kernel<'a> {
    /// Name.
    pub name: &'a str,
    /// Text that describes the arguments, in AMDIL's form. Programs for the host have no text.
    pub metadata: Option<&'a [u8]>,
    /// Header.
    pub header: Option<Header>,
    /// Inner file.
    pub inner: Option<Inner<'a>>,
}

impl<'a> Kernel<'a> {
    /// Returns a kernel.
    pub fn new(name: &'a str, metadata: &'a [u8], header: Header, inner: Inner<'a>) -> Kernel<'a> {
        Kernel { name, metadata: Some(metadata), header: Some(header), inner: Some(inner) }
    }

    fn named(name: &'a str) -> Kernel<'a> {
        Kernel { name, metadata: None, header: None, inner: None }
    }

    /// Returns the fields of the kernel, without those of the inner file.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        list.add("name", self.name);
        if let Some(metadata) = self.metadata {
            list.text("metadata", metadata);
        }
        if let Some(header) = &self.header {
            list.0.extend(header.fields());
        }
        let encodings = self.inner.as_ref().map(|inner| inner.encodings.len());
        list.add("encodings", encodings.map_or("no inner file".to_owned(), |count| count.to_string()));
        list.0
    }
}

/// Header of a kernel: words. [`Header::fields`] names those that are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header(pub Vec<u32>);

/// Known words of a header: index and name.
///
/// # Source
/// CLRX, `amdbin/AmdBinGen.cpp` (`generateInternal`).
static HEADER: &[(usize, &str)] = &[
    (0, "header UAV of private memory (driver 1642.05 and later)"),
    (2, "header UAV of private memory (driver 1348.05 and later)"),
    (3, "header LDS size"),
    (4, "header flags"),
    (5, "header word that is 1"),
];

impl Header {
    /// Bit of the flags: the kernel uses `printf`.
    pub const PRINTF: u32 = 2;
    /// Bit of the flags: addresses have 64 bits.
    pub const WIDE: u32 = 8;

    /// Returns the header of a kernel: its LDS size in bytes and its flags.
    pub fn new(lds_size: u32, flags: u32) -> Header {
        Header(vec![0, 0, 0, lds_size, flags, 1, 0, 0])
    }

    /// Returns the fields of the header.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        for (index, &word) in self.0.iter().enumerate() {
            match HEADER.iter().find(|row| row.0 == index) {
                Some(&(4, name)) => {
                    let names = [(Header::PRINTF, "printf"), (Header::WIDE, "64-bit")];
                    let set = names.iter().filter(|row| word & row.0 != 0).map(|row| row.1);
                    list.add(name, format!("{word:#x} ({})", set.collect::<Vec<_>>().join(" ")));
                }
                Some((_, name)) => list.hex(*name, word),
                None => list.hex(format!("header word {index}"), word),
            }
        }
        list.0
    }
}

const OPTIONS: &str = "__OpenCL_compile_options";
const PREFIX: &str = "__OpenCL_";

/// What the symbol of a kernel names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Metadata,
    Header,
    Kernel,
    Global,
}

static SUFFIXES: &[(&str, Part, usize)] = &[
    ("_metadata", Part::Metadata, RODATA),
    ("_header", Part::Header, RODATA),
    ("_kernel", Part::Kernel, TEXT),
    ("_global", Part::Global, RODATA),
];

/// Returns the name and the part that a symbol names.
fn part(name: &str) -> Option<(&str, Part, usize)> {
    let name = name.strip_prefix(PREFIX)?;
    SUFFIXES.iter().find_map(|&(suffix, part, section)| Some((name.strip_suffix(suffix)?, part, section)))
}

/// Reads a binary. Returns also the bytes that belong to no record.
pub(crate) fn read<'a>(bytes: Bytes<'a>) -> Result<(Binary<'a>, Vec<Unclaimed>)> {
    let mut outer = Outer::read(bytes)?;
    let (class, machine) = (outer.object.class, outer.object.machine);
    if !is_machine(machine) {
        return Err(bytes.error(18, "the machine is 0x3f1 to 0x4ff, or 0x7d4 for the host processor"));
    }
    let mut kernels = Kernels::default();
    let (mut options, mut globals, mut symbols) = (None, Vec::new(), Vec::new());
    let table = std::mem::take(&mut outer.object.symbols);
    for symbol in table.iter().filter(|symbol| !symbol.is_null()) {
        if symbol.name == OPTIONS && options.is_none() {
            options = Some(outer.contents(symbol, COMMENT)?);
        } else if let Some((name, Part::Global, section)) = part(symbol.name) {
            globals.push(Global { number: name, data: outer.contents(symbol, section)?.data });
        } else if let Some((name, part, section)) = part(symbol.name).filter(|_| machine != HOST) {
            let contents = outer.record(symbol, section)?;
            kernels.add(name, part, contents, &mut outer)?;
        } else if let Some((name, Part::Kernel, _)) = part(symbol.name) {
            // The symbols of a program for the host have no size: the whole of `.text` is one ELF file.
            kernels.of(name);
        } else if !(machine == HOST && symbol.size == 0 && symbol.name.starts_with(PREFIX)) {
            symbols.push(outer.extra(symbol)?);
        }
    }
    let driver = driver(&mut outer, options)?;
    let host = outer.records(TEXT).filter(|_| machine == HOST);
    if let Some(host) = host {
        outer.claim(host);
    }
    let (sections, unclaimed) = outer.finish()?;
    let binary = Binary {
        class,
        machine,
        options: options.map(|options| options.data),
        driver,
        globals,
        kernels: kernels.list,
        host: host.map(|host| host.data),
        sections,
        symbols,
    };
    Ok((binary, unclaimed))
}

/// Returns the part of `.comment` behind the options.
fn driver<'a>(outer: &mut Outer<'a>, options: Option<Bytes<'a>>) -> Result<&'a [u8]> {
    let Some(comment) = outer.records(COMMENT) else { return Ok(&[]) };
    let size = match options {
        Some(options) if options.base == comment.base => options.len(),
        Some(options) if !options.data.is_empty() => {
            return Err(options.error(0, "the options of the compiler are at the start of `.comment`"));
        }
        _ => 0,
    };
    let driver = comment.part(size, comment.len() - size, "the name of the driver")?;
    outer.claim(driver);
    Ok(driver.data)
}

/// Kernels while they are read.
#[derive(Default)]
struct Kernels<'a> {
    list: Vec<Kernel<'a>>,
    indices: std::collections::HashMap<&'a str, usize>,
}

impl<'a> Kernels<'a> {
    fn of(&mut self, name: &'a str) -> &mut Kernel<'a> {
        let index = *self.indices.entry(name).or_insert_with(|| {
            self.list.push(Kernel::named(name));
            self.list.len() - 1
        });
        &mut self.list[index]
    }

    fn add(&mut self, name: &'a str, part: Part, contents: Bytes<'a>, outer: &mut Outer<'a>) -> Result<()> {
        let kernel = self.of(name);
        let is_second = match part {
            Part::Metadata => kernel.metadata.is_some(),
            Part::Header => kernel.header.is_some(),
            Part::Kernel => kernel.inner.is_some(),
            Part::Global => false,
        };
        if is_second {
            return Err(contents.error(0, format!("kernel `{name}` has two symbols of the same kind")));
        }
        if part != Part::Kernel {
            outer.claim(contents);
        }
        match part {
            Part::Metadata => kernel.metadata = Some(contents.data),
            Part::Header => kernel.header = Some(Header(contents.words("the header of a kernel")?)),
            Part::Kernel => {
                let mut claims = Claims::default();
                kernel.inner = Some(encoding::read(contents, &mut claims)?);
                outer.claim_but(contents, claims)?;
            }
            Part::Global => {}
        }
        Ok(())
    }
}

impl<'a> Binary<'a> {
    /// Returns a binary without kernels.
    pub fn new(class: Class, machine: u16, driver: &'a [u8]) -> Binary<'a> {
        Binary {
            class,
            machine,
            options: None,
            driver,
            globals: Vec::new(),
            kernels: Vec::new(),
            host: None,
            sections: Vec::new(),
            symbols: Vec::new(),
        }
    }

    /// Writes the binary.
    pub fn write(&self) -> Vec<u8> {
        let mut builder = Builder::new(self.class, self.machine, 0);
        if let Some(options) = self.options {
            builder.add(OPTIONS, OBJECT, COMMENT, options);
        }
        builder.add_bytes(COMMENT, self.driver);
        for global in &self.globals {
            builder.add(format!("{PREFIX}{}_global", global.number), OBJECT, RODATA, global.data);
        }
        for kernel in &self.kernels {
            if let Some(metadata) = kernel.metadata {
                builder.add(format!("{PREFIX}{}_metadata", kernel.name), OBJECT, RODATA, metadata);
            }
            let inner = kernel.inner.as_ref().map(Inner::write);
            if inner.is_some() || self.host.is_some() {
                let name = format!("{PREFIX}{}_kernel", kernel.name);
                builder.add(name, FUNCTION, TEXT, &inner.unwrap_or_default());
            }
            if let Some(header) = &kernel.header {
                let words: Vec<u8> = header.0.iter().flat_map(|word| word.to_le_bytes()).collect();
                builder.add(format!("{PREFIX}{}_header", kernel.name), OBJECT, RODATA, &words);
            }
        }
        builder.add_bytes(TEXT, self.host.unwrap_or_default());
        let has_extra = |section: &str| self.symbols.iter().any(|extra| extra.section == Some(section));
        let has_kernels =
            self.kernels.iter().any(|kernel| kernel.metadata.is_some() || kernel.header.is_some());
        let has_inner = self.kernels.iter().any(|kernel| kernel.inner.is_some());
        let has_rodata = has_kernels || !self.globals.is_empty() || has_extra(".rodata");
        let has_text = self.host.is_some() || has_inner || has_extra(".text");
        builder.write(&self.sections, &self.symbols, [true, has_rodata, has_text])
    }

    /// Returns the driver's version as the name of the driver has it: `AMD-APP (923.1)` is 923 and 1.
    pub fn driver_version(&self) -> Option<(u32, u32)> {
        let text = std::str::from_utf8(self.driver).ok()?;
        let (_, tail) = text.split_once("AMD-APP")?;
        let (version, _) = tail.split_once('(')?.1.split_once(')')?;
        let (major, minor) = version.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    }

    /// Returns the fields of the binary, without those of its kernels.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        list.add("format", format!("AMD OpenCL 1.x, {} bits", self.class.bits()));
        list.named("device", self.machine.into(), device_name(self.machine));
        if let Some(options) = self.options {
            list.text("compiler options", options);
        }
        list.text("driver", self.driver);
        if let Some((major, minor)) = self.driver_version() {
            list.add("driver version", format!("{major}.{minor}"));
        }
        for global in &self.globals {
            list.size(format!("constant data {}", global.number), global.data);
        }
        list.add("kernels", self.kernels.len());
        if let Some(host) = self.host {
            list.size("code for the host processor", host);
        }
        for section in &self.sections {
            list.size(format!("section {}", section.name), section.data);
        }
        list.0
    }
}
