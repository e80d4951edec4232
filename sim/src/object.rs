//! Loads a code object: an ELF file for AMD GPUs, version 3 or later, as the linker leaves it (`ET_DYN`).

use crate::descriptor::Descriptor;
use crate::metadata::{self, ArgInfo, ArgKind, KernelMeta, Metadata};
use isa::Target;
use object::elf;
use object::read::elf::{Dyn, ElfFile64, FileHeader, ProgramHeader, Rela};
use object::{Endianness, Object, ObjectSymbol};
use std::fmt;

type Elf<'a> = ElfFile64<'a, Endianness>;
type Header = elf::FileHeader64<Endianness>;

const EM_AMDGPU: u16 = 224;
const NT_AMDGPU_METADATA: u32 = 32;
const R_AMDGPU_ABS64: u32 = 3;
const R_AMDGPU_RELATIVE64: u32 = 13;
/// More than any program: keeps a damaged file from asking for all memory.
const MAX_IMAGE: u64 = 1 << 28;

/// Why a file is no code object that can run here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// Not a readable ELF file.
    Elf(String),
    /// An ELF file, but not for AMD GPUs.
    Machine(u16),
    /// A relocatable object or something else that has to be linked first.
    NotLinked(u16),
    /// `e_flags` names a processor that is not known.
    Processor(u32),
    /// The segments do not fit together.
    Segment(String),
    /// A relocation that loading cannot apply.
    Relocation(u32),
    /// The metadata note is missing or damaged.
    Metadata(String),
    /// A kernel's descriptor is missing or outside of the image.
    Descriptor(String),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Elf(why) => write!(f, "not a readable ELF file: {why}"),
            LoadError::Machine(machine) => {
                write!(f, "not an AMD GPU code object (ELF machine {machine}, not 224)")
            }
            LoadError::NotLinked(kind) => {
                write!(f, "not a linked code object (ELF type {kind}, not 3, ET_DYN)")
            }
            LoadError::Processor(flags) => {
                write!(f, "e_flags {flags:#x} name a processor that is not emulated")
            }
            LoadError::Segment(why) => write!(f, "bad segment: {why}"),
            LoadError::Relocation(kind) => write!(f, "unsupported dynamic relocation of type {kind}"),
            LoadError::Metadata(why) => write!(f, "bad AMDGPU metadata: {why}"),
            LoadError::Descriptor(why) => write!(f, "bad kernel descriptor: {why}"),
        }
    }
}

impl std::error::Error for LoadError {}

/// What is known about a kernel before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// Name.
    pub name: String,
    /// Arguments in order of their offsets, hidden ones included.
    pub args: Vec<ArgInfo>,
    /// Bytes of the argument segment.
    pub kernarg_size: u32,
    /// The group size the kernel insists on.
    pub reqd_group: Option<[u32; 3]>,
    /// Most work-items of a group (0: not said).
    pub max_group: u32,
    /// SGPRs as the metadata says.
    pub sgprs: u32,
    /// VGPRs as the metadata says.
    pub vgprs: u32,
    /// The descriptor.
    pub descriptor: Descriptor,
    /// Address of the descriptor in the file.
    pub(crate) descriptor_address: u64,
    /// Address of the first instruction in the file.
    pub entry: u64,
}

impl KernelInfo {
    /// Arguments that the caller provides.
    pub fn explicit_args(&self) -> impl Iterator<Item = &ArgInfo> {
        self.args.iter().filter(|arg| !matches!(arg.kind, ArgKind::Hidden(_)))
    }
}

/// An executable part of the image.
#[derive(Clone, Debug)]
pub(crate) struct CodeRange {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// A loaded, not yet placed code object.
#[derive(Clone, Debug)]
pub struct CodeObject {
    target: &'static Target,
    version: Vec<u32>,
    kernels: Vec<KernelInfo>,
    /// Bytes from address 0 on.
    pub(crate) image: Vec<u8>,
    pub(crate) code: Vec<CodeRange>,
    /// Where the load address has to be added: (place, addend).
    pub(crate) relocations: Vec<(u64, u64)>,
}

impl CodeObject {
    /// Reads a code object.
    pub fn load(bytes: &[u8]) -> Result<CodeObject, LoadError> {
        let file = Elf::parse(bytes).map_err(|error| LoadError::Elf(error.to_string()))?;
        let (header, endian) = (file.elf_header(), file.endian());
        if header.e_machine(endian).0 != EM_AMDGPU {
            return Err(LoadError::Machine(header.e_machine(endian).0));
        }
        if header.e_type(endian) != elf::ET_DYN {
            return Err(LoadError::NotLinked(header.e_type(endian).0));
        }
        let flags = header.e_flags(endian).0;
        let target = Target::by_elf_mach(flags)
            .filter(|target| target.compiles())
            .ok_or(LoadError::Processor(flags))?;
        let (image, code) = map_segments(header, endian, bytes)?;
        let relocations = relocations(&file, header, endian, bytes)?;
        let metadata = find_metadata(header, endian, bytes)?;
        let kernels = metadata
            .kernels
            .iter()
            .map(|kernel| kernel_info(kernel, &file, &image))
            .collect::<Result<_, _>>()?;
        Ok(CodeObject { target, version: metadata.version, kernels, image, code, relocations })
    }

    /// The processor it is for.
    pub fn target(&self) -> &'static Target {
        self.target
    }

    /// Version of the metadata: (1, 0) is code object V3, (1, 1) V4, (1, 2) V5.
    pub fn metadata_version(&self) -> &[u32] {
        &self.version
    }

    /// Its kernels, in the order of the metadata.
    pub fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    /// The kernel of that name.
    pub fn kernel(&self, name: &str) -> Option<&KernelInfo> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }
}

fn elf_error(error: object::Error) -> LoadError {
    LoadError::Elf(error.to_string())
}

/// Copies the `PT_LOAD` segments to their addresses.
fn map_segments(
    header: &Header,
    endian: Endianness,
    data: &[u8],
) -> Result<(Vec<u8>, Vec<CodeRange>), LoadError> {
    let headers = header.program_headers(endian, data).map_err(elf_error)?;
    let loads = || headers.iter().filter(|segment| segment.p_type(endian) == elf::PT_LOAD);
    let mut end = 0;
    for segment in loads() {
        let stop =
            segment.p_vaddr(endian).checked_add(segment.p_memsz(endian)).filter(|&stop| stop <= MAX_IMAGE);
        let stop = stop.ok_or_else(|| {
            LoadError::Segment(format!(
                "{:#x} bytes at {:#x}",
                segment.p_memsz(endian),
                segment.p_vaddr(endian)
            ))
        })?;
        end = end.max(stop);
    }
    let mut image = vec![0; end as usize];
    let mut code = Vec::new();
    for segment in loads() {
        let contents = segment
            .data(endian, data)
            .map_err(|()| LoadError::Segment("contents outside of the file".into()))?;
        let start = segment.p_vaddr(endian) as usize;
        // The file's part may not be larger than the memory's.
        let room = (segment.p_memsz(endian) as usize).min(contents.len());
        image[start..start + room].copy_from_slice(&contents[..room]);
        if segment.p_flags(endian).0 & elf::PF_X.0 != 0 {
            code.push(CodeRange { start: start as u64 & !3, end: (start + room) as u64 });
        }
    }
    Ok((image, code))
}

/// Dynamic relocations, as `ld.lld` leaves them for absolute addresses in data.
fn relocations(
    file: &Elf<'_>,
    header: &Header,
    endian: Endianness,
    data: &[u8],
) -> Result<Vec<(u64, u64)>, LoadError> {
    let Some((table, bytes)) = rela_table(header, endian, data)? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    let count = bytes as usize / std::mem::size_of::<elf::Rela64<Endianness>>();
    let rows = object::pod::slice_from_bytes::<elf::Rela64<Endianness>>(table, count)
        .map_err(|()| LoadError::Segment("relocations outside of the file".into()))?
        .0;
    for row in rows {
        let addend = row.r_addend(endian) as u64;
        let value = match row.r_type(endian, false).0 {
            0 => continue,
            R_AMDGPU_RELATIVE64 => addend,
            R_AMDGPU_ABS64 => {
                let symbol = file
                    .dynamic_symbols()
                    .find(|symbol| symbol.index().0 == row.r_sym(endian, false) as usize);
                let symbol = symbol.filter(|symbol| !symbol.is_undefined());
                symbol.ok_or(LoadError::Relocation(R_AMDGPU_ABS64))?.address().wrapping_add(addend)
            }
            other => return Err(LoadError::Relocation(other)),
        };
        found.push((row.r_offset(endian), value));
    }
    Ok(found)
}

/// The bytes from `DT_RELA` on and `DT_RELASZ`.
fn rela_table<'a>(
    header: &Header,
    endian: Endianness,
    data: &'a [u8],
) -> Result<Option<(&'a [u8], u64)>, LoadError> {
    let headers = header.program_headers(endian, data).map_err(elf_error)?;
    let (mut address, mut size) = (None, 0);
    for segment in headers {
        for entry in segment.dynamic(endian, data).map_err(elf_error)?.unwrap_or(&[]) {
            match entry.d_tag(endian) {
                elf::DT_RELA => address = Some(entry.d_val(endian)),
                elf::DT_RELASZ => size = entry.d_val(endian),
                _ => {}
            }
        }
    }
    let Some(address) = address.filter(|_| size > 0) else { return Ok(None) };
    let found = headers.iter().find_map(|segment| {
        let contents = segment.data(endian, data).ok().filter(|_| segment.p_type(endian) == elf::PT_LOAD)?;
        contents.get(address.checked_sub(segment.p_vaddr(endian))? as usize..)
    });
    found
        .map(|table| Some((table, size)))
        .ok_or_else(|| LoadError::Segment("relocations outside of the file".into()))
}

fn find_metadata(header: &Header, endian: Endianness, data: &[u8]) -> Result<Metadata, LoadError> {
    for segment in header.program_headers(endian, data).map_err(elf_error)? {
        let Some(mut notes) = segment.notes(endian, data).map_err(elf_error)? else { continue };
        while let Some(note) = notes.next().map_err(elf_error)? {
            if note.n_type(endian).0 == NT_AMDGPU_METADATA && note.name() == b"AMDGPU" {
                return metadata::parse(note.desc()).map_err(LoadError::Metadata);
            }
        }
    }
    Err(LoadError::Metadata("no NT_AMDGPU_METADATA note (is it a code object V2?)".into()))
}

fn kernel_info(meta: &KernelMeta, file: &Elf<'_>, image: &[u8]) -> Result<KernelInfo, LoadError> {
    let bad = |why: &str| LoadError::Descriptor(format!("{}: {why}", meta.name));
    let symbol =
        file.dynamic_symbols().chain(file.symbols()).find(|symbol| symbol.name() == Ok(meta.symbol.as_str()));
    let address = symbol.ok_or_else(|| bad(&format!("no symbol {}", meta.symbol)))?.address();
    let bytes = usize::try_from(address).ok().and_then(|start| image.get(start..));
    let descriptor = bytes.and_then(Descriptor::parse).ok_or_else(|| bad("outside of the image"))?;
    if !matches!(meta.wave_size, 0 | 64) {
        return Err(bad(&format!("wave size {}", meta.wave_size)));
    }
    let mut args = meta.args();
    args.sort_by_key(|arg| arg.offset);
    let arguments_end = args.iter().map(|arg| arg.offset.saturating_add(arg.size)).max().unwrap_or(0);
    let kernarg_size = meta.kernarg_size.max(arguments_end);
    if kernarg_size > 1 << 20 {
        return Err(LoadError::Metadata(format!("{}: {kernarg_size} bytes of arguments", meta.name)));
    }
    Ok(KernelInfo {
        name: meta.name.clone(),
        args,
        kernarg_size,
        reqd_group: <[u32; 3]>::try_from(&meta.reqd_group[..]).ok().filter(|size| *size != [0; 3]),
        max_group: meta.max_group,
        sgprs: meta.sgprs,
        vgprs: meta.vgprs,
        descriptor,
        descriptor_address: address,
        entry: address.wrapping_add(descriptor.entry_offset as u64),
    })
}
