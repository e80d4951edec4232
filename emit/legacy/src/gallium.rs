//! Containers of clover, Mesa's OpenCL for Gallium drivers.
//!
//! A container is a row of numbers without a signature: kernels with their arguments, then sections. The
//! section of code holds an ELF file that LLVM wrote.
//!
//! # Source
//! Mesa, `src/gallium/frontends/clover/core/binary.{hpp,cpp}` (the last form) and, for the first form, CLRX,
//! `amdbin/GalliumBinaries.cpp`.

use crate::bytes::{Bytes, Claims, Output, Result, Unclaimed, text};
use crate::elf::{File, Object, Place, Symbol};
use crate::fields::{Field, List, named};
use crate::kernel_code::KernelCode;

/// Which numbers a container has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Kernels have name, section, offset and arguments.
    First,
    /// Kernels also have attributes and a work-group size. Formats of `printf` follow the sections.
    Last,
}

/// Container.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Container<'a> {
    /// Form.
    pub form: Form,
    /// Kernels.
    pub kernels: Vec<Kernel<'a>>,
    /// Sections.
    pub sections: Vec<Section<'a>>,
    /// Formats of `printf`, in the last form.
    pub formats: Vec<PrintfFormat<'a>>,
    /// Whether the strings of `printf` are in the output buffer, in the last form.
    pub strings_in_buffer: u32,
}

/// Kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kernel<'a> {
    /// Name.
    pub name: &'a str,
    /// Attributes as in the source, in the last form.
    pub attributes: &'a [u8],
    /// Required work-group size, in the last form.
    pub group_size: Vec<u64>,
    /// Number ([`Section::id`]) of the section with the code.
    pub section: u32,
    /// Offset of the kernel in the code.
    pub offset: u32,
    /// Arguments.
    pub arguments: Vec<Argument>,
}

impl<'a> Kernel<'a> {
    /// Returns a kernel without arguments.
    pub fn new(name: &'a str, section: u32, offset: u32) -> Kernel<'a> {
        Kernel { name, attributes: &[], group_size: Vec::new(), section, offset, arguments: Vec::new() }
    }

    /// Returns the fields of the kernel, without those of its arguments.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        list.add("name", self.name);
        if !self.attributes.is_empty() {
            list.text("attributes", self.attributes);
        }
        if !self.group_size.is_empty() {
            list.add("required work-group size", format!("{:?}", self.group_size));
        }
        list.add("section", self.section);
        list.hex("offset", self.offset);
        list.add("arguments", self.arguments.len());
        list.0
    }
}

/// Argument of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Type: [`argument_type_name`] has the names.
    pub kind: u32,
    /// Size in bytes, as the host passes the argument.
    pub size: u32,
    /// Size in bytes, as the kernel sees the argument.
    pub target_size: u32,
    /// Alignment in bytes, as the kernel sees the argument.
    pub target_align: u32,
    /// Whether the sign extends a value that is too short.
    pub sign_extend: u32,
    /// What the argument means: [`SEMANTICS`] has the names.
    pub semantic: u32,
}

/// Meanings of arguments.
pub static SEMANTICS: &[(u32, &str)] = &[
    (0, "general"),
    (1, "grid dimension"),
    (2, "grid offset"),
    (3, "image size"),
    (4, "image format"),
    (5, "constant buffer"),
    (6, "printf buffer"),
];

static FIRST_TYPES: &[(u32, &str)] = &[
    (0, "scalar"),
    (1, "constant"),
    (2, "global"),
    (3, "local"),
    (4, "2D image, read"),
    (5, "2D image, write"),
    (6, "3D image, read"),
    (7, "3D image, write"),
    (8, "sampler"),
];

static LAST_TYPES: &[(u32, &str)] = &[
    (0, "scalar"),
    (1, "constant"),
    (2, "global"),
    (3, "local"),
    (4, "image, read"),
    (5, "image, write"),
    (6, "sampler"),
];

/// Returns the name of an argument's type.
pub fn argument_type_name(form: Form, kind: u32) -> Option<&'static str> {
    match form {
        Form::First => named(FIRST_TYPES, kind),
        Form::Last => named(LAST_TYPES, kind),
    }
}

impl Argument {
    /// Returns an argument whose size is the same for host and kernel.
    pub fn new(kind: u32, size: u32) -> Argument {
        Argument { kind, size, target_size: size, target_align: size, sign_extend: 0, semantic: 0 }
    }

    /// Returns the fields of the argument.
    pub fn fields(&self, form: Form) -> Vec<Field> {
        let mut list = List::default();
        list.named("type", self.kind, argument_type_name(form, self.kind));
        list.add("size", self.size);
        list.add("target size", self.target_size);
        list.add("target alignment", self.target_align);
        list.named("extension", self.sign_extend, named(&[(0, "zero"), (1, "sign")], self.sign_extend));
        list.named("semantic", self.semantic, named(SEMANTICS, self.semantic));
        list.0
    }
}

/// Section of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Section<'a> {
    /// Number of the section.
    pub id: u32,
    /// Type: [`Container::section_type_name`] has the names.
    pub kind: u32,
    /// Contents.
    pub contents: Contents<'a>,
}

/// Contents of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents<'a> {
    /// ELF file, which has its size in front.
    Object(Box<Object<'a>>),
    /// Other bytes.
    Bytes {
        /// Size that the section says it has.
        size: u32,
        /// The bytes.
        data: &'a [u8],
    },
}

impl<'a> Section<'a> {
    /// Returns a section with an ELF file.
    pub fn code(id: u32, kind: u32, object: Object<'a>) -> Section<'a> {
        Section { id, kind, contents: Contents::Object(Box::new(object)) }
    }

    /// Returns a section with other bytes.
    pub fn data(id: u32, kind: u32, data: &'a [u8]) -> Section<'a> {
        Section { id, kind, contents: Contents::Bytes { size: data.len() as u32, data } }
    }

    /// Returns the fields of the section, without those of the ELF file.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        list.add("number", self.id);
        list.add("type", self.kind);
        match &self.contents {
            Contents::Object(_) => list.add("contents", "ELF file"),
            Contents::Bytes { size, data } => {
                list.add("size", size);
                list.size("contents", data);
            }
        }
        list.0
    }
}

/// Types of sections of Mesa before 17.0.
static OLD_SECTIONS: &[(u32, &str)] =
    &[(0, "text"), (1, "constant data"), (2, "global data"), (3, "local data"), (4, "private data")];

/// Types of sections of Mesa since 17.0.
static SECTIONS: &[(u32, &str)] = &[
    (0, "intermediate text"),
    (1, "library text"),
    (2, "executable text"),
    (3, "constant data"),
    (4, "global data"),
    (5, "local data"),
    (6, "private data"),
];

/// Format of a `printf`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrintfFormat<'a> {
    /// Sizes of the arguments in bytes.
    pub sizes: Vec<u32>,
    /// Texts, each with a NUL at its end.
    pub strings: &'a [u8],
}

impl<'a> PrintfFormat<'a> {
    /// Returns a format.
    pub fn new(sizes: Vec<u32>, strings: &'a [u8]) -> PrintfFormat<'a> {
        PrintfFormat { sizes, strings }
    }

    /// Returns the fields of the format.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        list.add("sizes", format!("{:?}", self.sizes));
        list.text("strings", self.strings);
        list.0
    }
}

/// Configuration of a kernel in `.AMDGPU.config`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config<'a> {
    /// Name of the kernel.
    pub kernel: &'a str,
    /// Pairs of register (its byte address) and value.
    pub pairs: Vec<[u32; 2]>,
}

impl Config<'_> {
    /// Returns the fields of the configuration: registers and their parts by name.
    pub fn fields(&self) -> Vec<Field> {
        let pairs = self.pairs.iter();
        pairs.flat_map(|&[address, value]| crate::register_fields(address, value)).collect()
    }
}

/// Reads a container. Returns also the bytes that belong to no record.
pub(crate) fn read<'a>(bytes: Bytes<'a>) -> Result<(Container<'a>, Vec<Unclaimed>)> {
    // Nothing in the file says which form it has. The first form came first, so its error is told.
    read_form(bytes, Form::First).or_else(|error| read_form(bytes, Form::Last).map_err(|_| error))
}

fn read_form<'a>(bytes: Bytes<'a>, form: Form) -> Result<(Container<'a>, Vec<Unclaimed>)> {
    let mut cursor = bytes.cursor();
    let count = |cursor: &mut crate::bytes::Cursor<'a>, least: u64, what: &str| -> Result<u32> {
        let place = cursor.at;
        let count = cursor.u32(what)?;
        match u64::from(count) * least <= cursor.bytes.len() - cursor.at {
            true => Ok(count),
            false => Err(cursor.bytes.error(place, format!("the file is too short for {count} {what}"))),
        }
    };
    let mut kernels = Vec::new();
    for _ in 0..count(&mut cursor, 16, "kernels")? {
        let what = "a kernel";
        let size = cursor.u32("the size of a kernel's name")?;
        let name = text(cursor.take(u64::from(size), "the name of a kernel")?, "the name of a kernel")?;
        let mut kernel = Kernel::new(name, 0, 0);
        if form == Form::Last {
            let size = cursor.u32(what)?;
            kernel.attributes = cursor.take(u64::from(size), "the attributes of a kernel")?.data;
            for _ in 0..count(&mut cursor, 8, "work-group sizes")? {
                kernel.group_size.push(cursor.u64(what)?);
            }
        }
        (kernel.section, kernel.offset) = (cursor.u32(what)?, cursor.u32(what)?);
        for _ in 0..count(&mut cursor, 24, "arguments")? {
            let mut word = || cursor.u32("an argument");
            kernel.arguments.push(Argument {
                kind: word()?,
                size: word()?,
                target_size: word()?,
                target_align: word()?,
                sign_extend: word()?,
                semantic: word()?,
            });
        }
        kernels.push(kernel);
    }
    let mut unclaimed = Vec::new();
    let mut sections = Vec::new();
    for _ in 0..count(&mut cursor, 16, "sections")? {
        let what = "a section";
        let (id, kind, size) = (cursor.u32(what)?, cursor.u32(what)?, cursor.u32(what)?);
        let length = cursor.u32(what)?;
        let data = cursor.take(u64::from(length), "the contents of a section")?;
        let contents = read_contents(size, data, &mut unclaimed)?;
        sections.push(Section { id, kind, contents });
    }
    let mut container = Container { form, kernels, sections, formats: Vec::new(), strings_in_buffer: 0 };
    if form == Form::Last {
        for _ in 0..count(&mut cursor, 8, "formats")? {
            let sizes = count(&mut cursor, 4, "sizes")?;
            let sizes = cursor.take(4 * u64::from(sizes), "sizes")?.words("the sizes of a format")?;
            let length = cursor.u32("the length of a format")?;
            let strings = cursor.take(u64::from(length), "the strings of a format")?.data;
            container.formats.push(PrintfFormat { sizes, strings });
        }
        container.strings_in_buffer = cursor.u32("the place of the strings")?;
    }
    if !cursor.is_at_end() {
        return Err(bytes.error(cursor.at, "the file does not end after the last record"));
    }
    container.check(bytes)?;
    Ok((container, unclaimed))
}

/// Reads the contents of a section: an ELF file with its size in front, or other bytes.
fn read_contents<'a>(size: u32, data: Bytes<'a>, unclaimed: &mut Vec<Unclaimed>) -> Result<Contents<'a>> {
    if data.data.get(4..8) != Some(b"\x7fELF") {
        return Ok(Contents::Bytes { size, data: data.data });
    }
    for size in [size, data.cursor().u32("the size of an ELF file")?] {
        if u64::from(size) != data.len() - 4 {
            let rule = format!("the ELF file has {size} bytes by its size, and {} bytes", data.len() - 4);
            return Err(data.error(0, rule));
        }
    }
    let bytes = data.part(4, data.len() - 4, "the ELF file")?;
    let file = File::parse(bytes)?;
    let mut claims = Claims::default();
    file.claim(&mut claims);
    unclaimed.extend(claims.gaps(bytes));
    Ok(Contents::Object(Box::new(Object::from_file(&file)?)))
}

/// Returns the header at an offset of the code.
fn header_at(text: Bytes, offset: u32) -> Result<KernelCode> {
    let offset = u64::from(offset).min(text.len());
    KernelCode::read(text.part(offset, text.len() - offset, "a kernel")?)
}

const CONFIG: &str = ".AMDGPU.config";

impl<'a> Container<'a> {
    /// Returns a container without kernels, in the first form.
    pub fn new() -> Container<'a> {
        Container {
            form: Form::First,
            kernels: Vec::new(),
            sections: Vec::new(),
            formats: Vec::new(),
            strings_in_buffer: 0,
        }
    }

    /// Returns the ELF file with the code, and the place of its section.
    pub fn object(&self) -> Option<&Object<'a>> {
        self.code_section().and_then(|section| match &section.contents {
            Contents::Object(object) => Some(&**object),
            Contents::Bytes { .. } => None,
        })
    }

    fn code_section(&self) -> Option<&Section<'a>> {
        self.sections.iter().find(|section| matches!(section.contents, Contents::Object(_)))
    }

    /// Returns the name of a section's type. The numbers changed in Mesa 17.0; the type of the section with
    /// the ELF file shows which numbers a container has.
    pub fn section_type_name(&self, kind: u32) -> Option<&'static str> {
        let is_old = self.code_section().is_some_and(|section| section.kind == 0);
        named(if is_old { OLD_SECTIONS } else { SECTIONS }, kind)
    }

    /// Returns the global symbols of `.text`, from the lowest to the highest.
    fn code_symbols(&self) -> Vec<&Symbol<'a>> {
        let Some(object) = self.object() else { return Vec::new() };
        let text = object.sections.iter().position(|section| section.name == ".text");
        let is_kernel = |symbol: &&Symbol| {
            symbol.binding == 1 && text.is_some_and(|text| symbol.place == Place::Section(text))
        };
        let mut symbols: Vec<_> = object.symbols.iter().filter(is_kernel).collect();
        symbols.sort_by_key(|symbol| symbol.value);
        symbols
    }

    /// Returns the configurations of the kernels. All have the same number of pairs.
    ///
    /// # Errors
    /// If the size of `.AMDGPU.config` does not fit the number of the kernels.
    pub fn configs(&self) -> Result<Vec<Config<'a>>> {
        let Some(section) = self.object().and_then(|object| object.section(CONFIG)) else {
            return Ok(Vec::new());
        };
        let symbols = self.code_symbols();
        let bytes = section.bytes();
        let words = bytes.words("the section `.AMDGPU.config`")?;
        let (pairs, rest) = words.as_chunks::<2>();
        let count = pairs.len().checked_div(symbols.len()).unwrap_or(0);
        if !rest.is_empty() || count * symbols.len() != pairs.len() {
            let kernels = symbols.len();
            let rule =
                format!("`.AMDGPU.config` has {} words, which {kernels} kernels cannot share", words.len());
            return Err(bytes.error(0, rule));
        }
        let configs = symbols.iter().zip(pairs.chunks(count.max(1)));
        Ok(configs.map(|(symbol, pairs)| Config { kernel: symbol.name, pairs: pairs.to_vec() }).collect())
    }

    /// Returns the header of a kernel. Only code of LLVM 4 and later for the HSA ABI has headers.
    ///
    /// # Errors
    /// If the header reaches past the end of the code.
    pub fn header(&self, kernel: &Kernel) -> Result<Option<KernelCode<'a>>> {
        let object = self.object().filter(|object| object.os_abi == 64);
        let text = object.and_then(|object| object.section(".text"));
        text.map(|text| header_at(text.bytes(), kernel.offset)).transpose()
    }

    /// Checks what ties kernels, sections and the ELF file together.
    fn check(&self, bytes: Bytes) -> Result<()> {
        let code = self.code_section();
        let object = self.object();
        let has_headers = object.is_some_and(|object| object.os_abi == 64);
        let text = object.and_then(|object| object.section(".text"));
        for kernel in &self.kernels {
            let name = kernel.name;
            if code.is_none_or(|code| code.id != kernel.section) {
                let rule = format!("kernel `{name}` is in section {}, which has no ELF file", kernel.section);
                return Err(bytes.error(0, rule));
            }
            let Some(text) = text.filter(|text| u64::from(kernel.offset) < text.size) else {
                return Err(bytes.error(0, format!("kernel `{name}` is not within `.text`")));
            };
            if has_headers {
                header_at(text.bytes(), kernel.offset)?;
            }
        }
        self.configs().map(|_| ())
    }

    /// Writes the container.
    pub fn write(&self) -> Vec<u8> {
        let mut output = Output::default();
        output.u32(self.kernels.len() as u32);
        for kernel in &self.kernels {
            output.u32(kernel.name.len() as u32);
            output.bytes(kernel.name.as_bytes());
            if self.form == Form::Last {
                output.u32(kernel.attributes.len() as u32);
                output.bytes(kernel.attributes);
                output.u32(kernel.group_size.len() as u32);
                kernel.group_size.iter().for_each(|&size| output.u64(size));
            }
            output.u32(kernel.section);
            output.u32(kernel.offset);
            output.u32(kernel.arguments.len() as u32);
            for argument in &kernel.arguments {
                let Argument { kind, size, target_size, target_align, sign_extend, semantic } = *argument;
                for word in [kind, size, target_size, target_align, sign_extend, semantic] {
                    output.u32(word);
                }
            }
        }
        output.u32(self.sections.len() as u32);
        for section in &self.sections {
            output.u32(section.id);
            output.u32(section.kind);
            match &section.contents {
                Contents::Object(object) => {
                    let object = object.write();
                    let size = object.len() as u32;
                    [size, size + 4, size].into_iter().for_each(|word| output.u32(word));
                    output.bytes(&object);
                }
                Contents::Bytes { size, data } => {
                    output.u32(*size);
                    output.u32(data.len() as u32);
                    output.bytes(data);
                }
            }
        }
        if self.form == Form::Last {
            output.u32(self.formats.len() as u32);
            for format in &self.formats {
                output.u32(format.sizes.len() as u32);
                format.sizes.iter().for_each(|&size| output.u32(size));
                output.u32(format.strings.len() as u32);
                output.bytes(format.strings);
            }
            output.u32(self.strings_in_buffer);
        }
        output.data
    }

    /// Returns the fields of the container, without those of its parts.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        list.add("format", "clover container");
        list.add("form", if self.form == Form::First { "first" } else { "last" });
        list.add("kernels", self.kernels.len());
        for section in &self.sections {
            let kind = self.section_type_name(section.kind).unwrap_or("unknown");
            let contents = match &section.contents {
                Contents::Object(_) => "ELF file".to_owned(),
                Contents::Bytes { size, data } => format!("{size} bytes in {}", data.len()),
            };
            list.add(
                format!("section {}", section.id),
                format!("type {} ({kind}), {contents}", section.kind),
            );
        }
        if self.form == Form::Last {
            list.add("printf formats", self.formats.len());
            list.add("strings in buffer", self.strings_in_buffer);
        }
        list.0
    }
}

impl Default for Container<'_> {
    fn default() -> Self {
        Container::new()
    }
}
