//! The record of a kernel in `.rodata`: `aclMetadata` of AMD's compiler library.
//!
//! The record is a C structure of the host that compiled, followed by the names, the arguments and the
//! formats of `printf`. Pointers in the structures are zero in a file.
//!
//! # Source
//! AMD's OpenCL runtime, `compiler/lib/include/v0_8/aclStructs.h` and `aclEnums.h` for structures and
//! numbers, and `deserializeCLMetadata` for what follows the structure. CLRX, `CLRX/amdbin/AmdCL2Binaries.h`
//! for the sizes of older structures.

use super::argument::{Argument, ArgumentKind, UNION};
use crate::bytes::{Bytes, Cursor, Output, Result, text};
use crate::elf::Class;
use crate::fields::{Field, List};

/// Which fields the structure has at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// Driver 15.7: the structure ends after the index of the kernel.
    Old,
    /// Drivers 15.11 to 16.1: two words more, the number of hidden arguments and the hint for waves.
    Middle,
    /// Drivers since 16.3: also the hints for the work-group size and for the vector type.
    New,
}

impl Revision {
    /// Size of the structure.
    ///
    /// The middle structure is smaller than C's rules make it on 64-bit hosts: its hint for waves has 4
    /// bytes.
    fn size(self, class: Class) -> u64 {
        match (self, class) {
            (Revision::Old, Class::Elf32) => 0x88,
            (Revision::Old, Class::Elf64) => 0xd8,
            (Revision::Middle, Class::Elf32) => 0x90,
            (Revision::Middle, Class::Elf64) => 0xe0,
            (Revision::New, Class::Elf32) => 0xa4,
            (Revision::New, Class::Elf64) => 0x110,
        }
    }
}

/// What the driver knows of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metadata<'a> {
    /// Fields that the structure has.
    pub revision: Revision,
    /// Version of the interface: major, minor, revision. All known files have 3.1.104.
    pub version: [u32; 3],
    /// `gpuCaps`, the properties of the kernel. [`CAPABILITIES`] names the bits.
    pub capabilities: u32,
    /// `funcID`, a number of the kernel that no other kernel of the program has. The first is 1024.
    pub function: u32,
    /// `gpuRes`, default resources: UAV, private, LDS, GDS, constant.
    pub resources: [u32; 5],
    /// `wgs`, the work-group size that the kernel requires, or zeros.
    pub group_size: [u64; 3],
    /// `wrs`, the work-region size.
    pub region_size: [u32; 3],
    /// `mem`, sizes in bytes: local in hardware, local in software, private in hardware, private in software,
    /// region in hardware, region in software.
    pub memory: [u64; 6],
    /// Arguments.
    pub arguments: Vec<Argument<'a>>,
    /// Formats of `printf`.
    pub formats: Vec<PrintfFormat<'a>>,
    /// `kernelName`. The known drivers write `__OpenCL_dummy_kernel`.
    pub name: &'a str,
    /// `deviceName`: `generic`, or the generation as `GFX8`.
    pub device: &'a str,
    /// `enqueue_kernel`: whether the kernel enqueues kernels.
    pub enqueues: u32,
    /// `kernel_index`.
    pub index: u32,
    /// `numHiddenKernelArgs`. 0 in an old structure.
    pub hidden_arguments: u32,
    /// `wavesPerSimdHint`. 0 in an old structure.
    pub waves_hint: u64,
    /// `wsh`, the hint for the work-group size. Zeros in older structures.
    pub group_size_hint: [u64; 3],
    /// `vth`, the hint for the vector type. Empty in older structures.
    pub vector_hint: &'a str,
}

/// Bits of [`Metadata::capabilities`].
pub static CAPABILITIES: &[(u32, &str)] = &[
    (1 << 0, "RT_COMPILER_WRITE"),
    (1 << 1, "RT_DATA_SECTION"),
    (1 << 2, "RT_WGS"),
    (1 << 3, "RT_LIMIT_WGS"),
    (1 << 4, "RT_PACKED_REGS"),
    (1 << 5, "RT_64BIT_ABI"),
    (1 << 6, "RT_PRINTF"),
    (1 << 7, "RT_ARENA_UAV"),
    (1 << 8, "RT_LRP_MEM"),
    (1 << 9, "RT_INDEX_TEMPS"),
    (1 << 10, "RT_WRS"),
    (1 << 11, "RT_GWS"),
    (1 << 12, "RT_SWGWS"),
];

/// Format of a `printf`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrintfFormat<'a> {
    /// Number of the format.
    pub id: u32,
    /// Sizes of the arguments in bytes.
    pub sizes: Vec<u32>,
    /// Text of the format. Its bytes need not be text of any encoding.
    pub text: &'a [u8],
}

/// Returns the size of an argument's structure.
fn argument_size(class: Class) -> u64 {
    if class.is_wide() { 88 } else { 64 }
}

/// Returns the size of a format's structure.
fn format_size(class: Class) -> u64 {
    if class.is_wide() { 48 } else { 24 }
}

impl<'a> PrintfFormat<'a> {
    /// Returns a format.
    pub fn new(id: u32, sizes: Vec<u32>, text: &'a [u8]) -> PrintfFormat<'a> {
        PrintfFormat { id, sizes, text }
    }

    /// Returns the fields of the format.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        list.add("id", self.id);
        list.add("sizes", format!("{:?}", self.sizes));
        list.text("format", self.text);
        list.0
    }
}

/// Returns a text of this size and skips the NUL behind it.
fn take_text<'a>(cursor: &mut Cursor<'a>, size: u64, what: &str) -> Result<&'a str> {
    let bytes = take_name(cursor, size, what)?;
    text(bytes, what)
}

fn take_name<'a>(cursor: &mut Cursor<'a>, size: u64, what: &str) -> Result<Bytes<'a>> {
    let bytes = cursor.take(size, what)?;
    let place = cursor.at;
    if cursor.u8(what)? != 0 {
        return Err(cursor.bytes.error(place, format!("{what} does not end with a NUL")));
    }
    Ok(bytes)
}

/// Reads `count` numbers of 4 or 8 bytes.
fn words<const COUNT: usize>(cursor: &mut Cursor, wide: bool, what: &str) -> Result<[u64; COUNT]> {
    let mut words = [0; COUNT];
    for word in &mut words {
        *word = cursor.word(wide, what)?;
    }
    Ok(words)
}

fn narrow_words<const COUNT: usize>(cursor: &mut Cursor, what: &str) -> Result<[u32; COUNT]> {
    Ok(words::<COUNT>(cursor, false, what)?.map(|word| word as u32))
}

/// Sizes of what follows the structure.
struct Sizes {
    name: u64,
    device: u64,
    vector_hint: Option<u64>,
    arguments: u64,
    formats: u64,
}

impl<'a> Metadata<'a> {
    /// Returns the metadata of a kernel without arguments, in the newest form.
    pub fn new(index: u32, device: &'a str) -> Metadata<'a> {
        Metadata {
            revision: Revision::New,
            version: [3, 1, 104],
            capabilities: 0x20,
            function: 1024 + index,
            resources: [0, 8, 1, 1, 2],
            group_size: [0; 3],
            region_size: [0; 3],
            memory: [0; 6],
            arguments: Vec::new(),
            formats: Vec::new(),
            name: "__OpenCL_dummy_kernel",
            device,
            enqueues: 0,
            index,
            hidden_arguments: 6,
            waves_hint: 0xffff_ffff,
            group_size_hint: [0; 3],
            vector_hint: "",
        }
    }

    pub(crate) fn read(bytes: Bytes<'a>, class: Class) -> Result<Metadata<'a>> {
        let mut cursor = bytes.cursor();
        let (mut metadata, sizes) = read_structure(&mut cursor, class)?;
        metadata.name = take_text(&mut cursor, sizes.name, "the kernel name")?;
        metadata.device = take_text(&mut cursor, sizes.device, "the device name")?;
        if let Some(size) = sizes.vector_hint {
            metadata.vector_hint = take_text(&mut cursor, size, "the hint for the vector type")?;
        }
        metadata.arguments = read_arguments(&mut cursor, class, sizes.arguments)?;
        metadata.formats = read_formats(&mut cursor, class, sizes.formats)?;
        if !cursor.is_at_end() {
            return Err(bytes.error(cursor.at, "the record of a kernel ends after the formats of printf"));
        }
        Ok(metadata)
    }

    /// Writes the record.
    pub(crate) fn write(&self, class: Class) -> Vec<u8> {
        let wide = class.is_wide();
        let mut output = Output::default();
        output.word(wide, self.revision.size(class));
        let size_at = output.data.len();
        output.word(wide, 0);
        self.version.iter().for_each(|&word| output.u32(word));
        output.u32(self.capabilities);
        output.u32(self.function);
        self.resources.iter().for_each(|&word| output.u32(word));
        self.group_size.iter().for_each(|&word| output.word(wide, word));
        self.region_size.iter().for_each(|&word| output.u32(word));
        output.align(if wide { 8 } else { 4 });
        output.word(wide, self.name.len() as u64);
        output.word(wide, self.device.len() as u64);
        self.memory.iter().for_each(|&word| output.word(wide, word));
        output.word(wide, self.arguments.len() as u64);
        output.word(wide, self.formats.len() as u64);
        (0..4).for_each(|_| output.word(wide, 0));
        output.u32(self.enqueues);
        output.u32(self.index);
        if self.revision >= Revision::Middle {
            output.u32(self.hidden_arguments);
        }
        if self.revision == Revision::Middle {
            output.u32(self.waves_hint as u32);
        }
        if self.revision == Revision::New {
            output.align(if wide { 8 } else { 4 });
            output.word(wide, self.waves_hint);
            self.group_size_hint.iter().for_each(|&word| output.word(wide, word));
            output.word(wide, self.vector_hint.len() as u64);
            output.word(wide, 0);
        }
        output.name(self.name);
        output.name(self.device);
        if self.revision == Revision::New {
            output.name(self.vector_hint);
        }
        self.write_arguments(&mut output, class);
        self.write_formats(&mut output, class);
        let size = output.data.len() as u64;
        let width = if wide { 8 } else { 4 };
        output.data[size_at..size_at + width].copy_from_slice(&size.to_le_bytes()[..width]);
        output.data
    }

    fn write_arguments(&self, output: &mut Output, class: Class) {
        let wide = class.is_wide();
        for argument in &self.arguments {
            output.word(wide, argument_size(class));
            output.word(wide, argument.name.len() as u64);
            output.word(wide, argument.type_name.len() as u64);
            output.word(wide, 0);
            output.word(wide, 0);
            argument.kind.write(output);
            output.bytes(argument.unused);
            output.u32(argument.kind.number());
            output.word(wide, argument.is_const);
        }
        output.bytes(&vec![0; argument_size(class) as usize]);
        for argument in &self.arguments {
            output.name(argument.name);
            output.name(argument.type_name);
        }
    }

    fn write_formats(&self, output: &mut Output, class: Class) {
        let wide = class.is_wide();
        for format in &self.formats {
            output.word(wide, format_size(class));
            output.u32(format.id);
            if wide {
                output.u32(0);
            }
            output.word(wide, format.sizes.len() as u64);
            output.word(wide, format.text.len() as u64);
            output.word(wide, 0);
            output.word(wide, 0);
        }
        output.bytes(&vec![0; format_size(class) as usize]);
        for format in &self.formats {
            format.sizes.iter().for_each(|&size| output.u32(size));
            output.bytes(format.text);
            output.bytes(&[0]);
        }
    }

    /// Returns the names of the capabilities that are set.
    pub fn capability_names(&self) -> Vec<&'static str> {
        CAPABILITIES.iter().filter(|row| self.capabilities & row.0 != 0).map(|row| row.1).collect()
    }

    /// Returns the fields of the record, without those of the arguments and the formats.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        let [major, minor, revision] = self.version;
        list.add("record", format!("{:?}", self.revision).to_lowercase());
        list.add("version", format!("{major}.{minor}.{revision}"));
        let names = self.capability_names().join(" ");
        list.add("capabilities", format!("{:#x} ({names})", self.capabilities));
        list.add("function id", self.function);
        for (name, value) in ["UAV", "private", "LDS", "GDS", "constant"].into_iter().zip(self.resources) {
            list.add(format!("resource {name}"), value);
        }
        list.add("required work-group size", format!("{:?}", self.group_size));
        list.add("work-region size", format!("{:?}", self.region_size));
        let memories = [
            "hardware local",
            "software local",
            "hardware private",
            "software private",
            "hardware region",
            "software region",
        ];
        for (name, value) in memories.into_iter().zip(self.memory) {
            list.add(format!("{name} memory"), value);
        }
        list.add("kernel name", self.name);
        list.add("device name", self.device);
        list.add("arguments", self.arguments.len());
        list.add("printf formats", self.formats.len());
        list.add("enqueues kernels", self.enqueues);
        list.add("kernel index", self.index);
        if self.revision >= Revision::Middle {
            list.add("hidden arguments", self.hidden_arguments);
            list.hex("waves per SIMD hint", self.waves_hint);
        }
        if self.revision == Revision::New {
            list.add("work-group size hint", format!("{:?}", self.group_size_hint));
            list.add("vector type hint", self.vector_hint);
        }
        list.0
    }
}

/// Reads the structure without what follows it.
fn read_structure<'a>(cursor: &mut Cursor<'a>, class: Class) -> Result<(Metadata<'a>, Sizes)> {
    let wide = class.is_wide();
    let what = "the structure of a kernel's record";
    let bytes = cursor.bytes;
    let size = cursor.word(wide, what)?;
    let revisions = [Revision::Old, Revision::Middle, Revision::New];
    let revision = revisions.into_iter().find(|revision| revision.size(class) == size).ok_or_else(|| {
        let sizes = revisions.map(|revision| format!("{:#x}", revision.size(class))).join(", ");
        bytes.error(0, format!("{what} has {size:#x} bytes; known sizes are {sizes}"))
    })?;
    let data_size = cursor.word(wide, what)?;
    if data_size != bytes.len() {
        let actual = bytes.len();
        return Err(
            bytes.error(0, format!("the record says that it has {data_size} bytes, and has {actual}"))
        );
    }
    let mut metadata = Metadata::new(0, "");
    metadata.revision = revision;
    metadata.version = narrow_words(cursor, what)?;
    metadata.capabilities = cursor.u32(what)?;
    metadata.function = cursor.u32(what)?;
    metadata.resources = narrow_words(cursor, what)?;
    metadata.group_size = words(cursor, wide, what)?;
    metadata.region_size = narrow_words(cursor, what)?;
    if wide {
        cursor.u32(what)?;
    }
    let [name, device] = words(cursor, wide, what)?;
    metadata.memory = words(cursor, wide, what)?;
    let [arguments, formats] = words(cursor, wide, what)?;
    words::<4>(cursor, wide, what)?;
    metadata.enqueues = cursor.u32(what)?;
    metadata.index = cursor.u32(what)?;
    let mut vector_hint = None;
    metadata.hidden_arguments = if revision >= Revision::Middle { cursor.u32(what)? } else { 0 };
    metadata.waves_hint = 0;
    if revision == Revision::Middle {
        metadata.waves_hint = u64::from(cursor.u32(what)?);
    }
    if revision == Revision::New {
        if wide {
            cursor.u32(what)?;
        }
        metadata.waves_hint = cursor.word(wide, what)?;
        metadata.group_size_hint = words(cursor, wide, what)?;
        vector_hint = Some(cursor.word(wide, what)?);
        cursor.word(wide, what)?;
    }
    Ok((metadata, Sizes { name, device, vector_hint, arguments, formats }))
}

/// Returns the size of a table of `count` structures and of the empty one at its end.
fn table_size(bytes: Bytes, at: u64, count: u64, size: u64, what: &str) -> Result<u64> {
    let whole = count.checked_add(1).and_then(|count| count.checked_mul(size));
    whole.filter(|&whole| whole <= bytes.len()).ok_or_else(|| {
        bytes.error(at, format!("{count} structures of {what} do not fit into {} bytes", bytes.len()))
    })
}

fn read_arguments<'a>(cursor: &mut Cursor<'a>, class: Class, count: u64) -> Result<Vec<Argument<'a>>> {
    let (wide, what) = (class.is_wide(), "an argument");
    let size = table_size(cursor.bytes, cursor.at, count, argument_size(class), "arguments")?;
    let mut table = cursor.take(size, "the table of arguments")?.cursor();
    must_end_empty(table.bytes, argument_size(class), "the table of arguments ends with an empty argument")?;
    let mut arguments = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let place = table.at;
        let own_size = table.word(wide, what)?;
        if own_size != argument_size(class) {
            let expected = argument_size(class);
            return Err(table
                .bytes
                .error(place, format!("an argument has {expected} bytes, not {own_size}")));
        }
        let [name_size, type_size] = words(&mut table, wide, what)?;
        words::<2>(&mut table, wide, what)?;
        let mut union = table.take(UNION as u64, what)?.cursor();
        let number = table.u32(what)?;
        let is_const = table.word(wide, what)?;
        let kind = ArgumentKind::read(number, &mut union)?;
        let name = take_text(cursor, name_size, "the name of an argument")?;
        let type_name = take_text(cursor, type_size, "the type name of an argument")?;
        arguments.push(Argument { name, type_name, kind, is_const, unused: union.rest().data });
    }
    Ok(arguments)
}

fn read_formats<'a>(cursor: &mut Cursor<'a>, class: Class, count: u64) -> Result<Vec<PrintfFormat<'a>>> {
    let (wide, what) = (class.is_wide(), "a printf format");
    let size = table_size(cursor.bytes, cursor.at, count, format_size(class), "printf formats")?;
    let mut table = cursor.take(size, "the table of printf formats")?.cursor();
    must_end_empty(table.bytes, format_size(class), "the table of printf formats ends with an empty format")?;
    let mut formats = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let place = table.at;
        let own_size = table.word(wide, what)?;
        if own_size != format_size(class) {
            let expected = format_size(class);
            return Err(table
                .bytes
                .error(place, format!("a printf format has {expected} bytes, not {own_size}")));
        }
        let id = table.u32(what)?;
        if wide {
            table.u32(what)?;
        }
        let [sizes, text_size] = words(&mut table, wide, what)?;
        words::<2>(&mut table, wide, what)?;
        let sizes = cursor.take(sizes.saturating_mul(4), "the sizes of a printf's arguments")?.words(what)?;
        let text = take_name(cursor, text_size, "the text of a printf format")?.data;
        formats.push(PrintfFormat { id, sizes, text });
    }
    Ok(formats)
}

/// Checks that the last structure of a table is empty.
fn must_end_empty(table: Bytes, size: u64, rule: &'static str) -> Result<()> {
    let at = table.len() - size;
    let last = table.part(at, size, rule)?;
    match last.data.iter().position(|&byte| byte != 0) {
        Some(index) => Err(last.error(index as u64, rule)),
        None => Ok(()),
    }
}
