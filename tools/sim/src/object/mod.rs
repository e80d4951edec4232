//! Loads a code object, which is an ELF file for AMD GPUs. It can have any version from 2 to 6, and it can be
//! linked (`ET_DYN`) or a single object file (`ET_REL`). Binaries of AMD's OpenCL 2.0 driver are read, too.

mod catalyst;
mod image;
mod kernels;
mod link;
mod pal;
mod relocation;
mod system;

use crate::descriptor::Descriptor;
use crate::metadata::{ArgInfo, ArgKind};
use crate::pal::UserData;
use codeobj::disasm::Lines;
use codeobj::{Identity, OsAbi, ParseError};
use image::Image;
use isa::{Feature, Subtarget, Target, UnknownFact};
use object::elf;
use std::fmt;
use std::sync::Arc;

/// Maximum size of an image in bytes. No real program is as large. Without the limit, a damaged file could
/// use up all memory.
const MAX_IMAGE: u64 = 1 << 28;

/// Why a file is not a code object that can run here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// The file is not a readable ELF file.
    Elf(String),
    /// The file is an ELF file, but not for AMD GPUs.
    Machine(u16),
    /// The ELF file is truncated. The numbers are the size of the file in bytes, and the size that the file's
    /// headers require.
    CutOff(u64, u64),
    /// The file is neither a linked code object nor an object file. The number is the file type in the
    /// header.
    NotLinked(u16),
    /// The code object is for a runtime that is not emulated.
    Runtime(String),
    /// `e_flags` names an unknown processor.
    Processor(u32),
    /// The processor's family does not define a fact that the emulator reads.
    UnknownFact(UnknownFact),
    /// The segments or sections of the file contradict each other.
    Segment(String),
    /// The file has a relocation that the loader does not support. The number is the kind of the relocation.
    Relocation(u32),
    /// A symbol that is used but not defined in the file.
    Undefined(String),
    /// The metadata note is damaged.
    Metadata(String),
    /// A kernel's descriptor is missing or outside of the image.
    Descriptor(String),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Elf(why) => write!(f, "not a readable ELF file: {why}"),
            LoadError::CutOff(found, whole) => {
                write!(f, "the file is cut off: it has {found} bytes, and its headers name {whole}")
            }
            LoadError::Machine(machine) => {
                write!(f, "not an AMD GPU code object (ELF machine {machine}, not 224)")
            }
            LoadError::NotLinked(kind) => {
                write!(f, "not a code object (ELF type {kind}, neither 3, ET_DYN, nor 1, ET_REL)")
            }
            LoadError::Runtime(name) => {
                write!(f, "a code object for {name}, not for HSA, PAL, Mesa or no system")
            }
            LoadError::Processor(flags) => {
                write!(f, "e_flags {flags:#x} name a processor that is not emulated")
            }
            LoadError::UnknownFact(open) => open.fmt(f),
            LoadError::Segment(why) => write!(f, "bad segment: {why}"),
            LoadError::Relocation(kind) => write!(f, "unsupported relocation of type {kind}"),
            LoadError::Undefined(name) => {
                write!(f, "`{name}` is used but not defined in this file: link it with what defines it")
            }
            LoadError::Metadata(why) => write!(f, "bad AMDGPU metadata: {why}"),
            LoadError::Descriptor(why) => write!(f, "bad kernel descriptor: {why}"),
        }
    }
}

impl std::error::Error for LoadError {}

impl From<ParseError> for LoadError {
    fn from(error: ParseError) -> LoadError {
        match error {
            ParseError::OtherMachine(machine) => LoadError::Machine(machine),
            other => LoadError::Elf(other.to_string()),
        }
    }
}

/// The facts that are known about a kernel before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// Name of the kernel.
    pub name: String,
    /// Arguments in the order of their offsets. Hidden arguments are included.
    pub args: Vec<ArgInfo>,
    /// Size of the argument segment in bytes.
    pub kernarg_size: u32,
    /// Group size that the kernel requires, if any.
    pub reqd_group: Option<[u32; 3]>,
    /// Maximum number of work-items of a group; 0 if not given.
    pub max_group: u32,
    /// Number of SGPRs according to the metadata.
    pub sgprs: u32,
    /// Number of VGPRs according to the metadata.
    pub vgprs: u32,
    /// Number of lanes of the kernel's waves, 32 or 64.
    pub wave_size: u32,
    /// Whether the code object does not describe the arguments of the kernel. In this case, the caller must
    /// lay out the arguments by itself.
    pub untyped: bool,
    /// The kernel descriptor.
    pub descriptor: Descriptor,
    /// Address of the descriptor in the file.
    pub(crate) descriptor_address: u64,
    /// Address of the first instruction in the file.
    pub entry: u64,
    /// How the kernel receives its arguments, if the object is for PAL.
    pub(crate) user_data: Option<UserData>,
}

impl KernelInfo {
    /// Returns the arguments that the caller provides, without the hidden ones.
    pub fn explicit_args(&self) -> impl Iterator<Item = &ArgInfo> {
        self.args.iter().filter(|arg| !matches!(arg.kind, ArgKind::Hidden(_)))
    }

    /// Returns the processor with the modes that a kernel runs in. `object` has the modes of the whole code
    /// object. The kernel's descriptor states the others: wave size, CU or WGP mode, and threadgroup split
    /// mode.
    pub fn subtarget(&self, object: &Subtarget) -> Subtarget {
        let mut subtarget = object.with_wave_size(self.wave_size).unwrap_or(*object);
        subtarget.cumode = !(subtarget.has(Feature::WAVE32) && self.descriptor.wgp_mode());
        subtarget.tgsplit = subtarget.has(Feature::TGSPLIT) && self.descriptor.splits_groups();
        subtarget
    }
}

/// A variable or function of a code object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Address of the symbol in the file.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
    /// Symbol type (`STT_*`).
    pub(crate) kind: u8,
}

/// A code object that has been read but is not in device memory yet.
#[derive(Clone, Debug)]
pub struct CodeObject {
    subtarget: Subtarget,
    /// The operating system in the file header.
    system: OsAbi,
    version: Option<u8>,
    metadata_version: Vec<u32>,
    kernels: Vec<KernelInfo>,
    printf: Vec<String>,
    pub(crate) lines: Arc<Lines>,
    /// Addresses of the loads and stores that the file marks as atomic, in ascending order; `None` if the
    /// file does not mark them.
    pub(crate) atomics: Option<Arc<[u64]>>,
    pub(crate) image: Image,
}

/// The facts about a processor that the emulator and its strict mode read.
const FACTS: [&str; 10] = [
    "layout",
    "registers",
    "waits",
    "addressing",
    "mode",
    "buffers",
    "device",
    "emulation",
    "checks",
    "descriptor",
];

impl CodeObject {
    /// Reads a code object.
    ///
    /// # Errors
    /// Fails if the file is damaged or not supported; see [`LoadError`].
    pub fn load(bytes: &[u8]) -> Result<CodeObject, LoadError> {
        CodeObject::load_for(bytes, None)
    }

    /// Reads a code object. `target` is the processor to assume if the file does not name one.
    ///
    /// # Errors
    /// Fails if the file is damaged or not supported; see [`LoadError`].
    pub fn load_for(bytes: &[u8], target: Option<&'static Target>) -> Result<CodeObject, LoadError> {
        if catalyst::is_binary(bytes) {
            return catalyst::load(bytes, target);
        }
        let file = codeobj::CodeObject::parse(bytes)?;
        CodeObject::from_file(&file, bytes, target).map_err(|error| match file.whole_size() {
            Some(whole) => LoadError::CutOff(bytes.len() as u64, whole),
            None => error,
        })
    }

    fn from_file(
        file: &codeobj::CodeObject<'_>,
        bytes: &[u8],
        target: Option<&'static Target>,
    ) -> Result<CodeObject, LoadError> {
        let mut identity = Identity::of_object(file);
        if identity.processor().is_none() {
            identity.target = target;
        }
        if !matches!(identity.os_abi, OsAbi::Hsa | OsAbi::Pal | OsAbi::Mesa3d | OsAbi::None) {
            return Err(LoadError::Runtime(identity.os_abi.to_string()));
        }
        let subtarget = identity.subtarget().ok_or(LoadError::Processor(file.header.flags))?;
        subtarget.needs(&FACTS).map_err(LoadError::UnknownFact)?;
        // The line tables of a file that is not linked are not read, because their addresses are not those of
        // the image.
        let (image, lines) = match elf::FileType(file.header.file_type) {
            elf::ET_DYN => (image::map(file, bytes)?, Lines::read(file)),
            elf::ET_REL => (link::link(file, subtarget.target)?, Lines::default()),
            other => return Err(LoadError::NotLinked(other.0)),
        };
        // All code ranges together must not have more bytes than the file, because all of them are decoded.
        // Otherwise a damaged file with overlapping code ranges could cause far more work than its size
        // permits.
        let code: u64 = image.code.iter().map(|range| range.end - range.start).sum();
        if code > bytes.len() as u64 {
            return Err(LoadError::Segment(format!(
                "{code:#x} bytes of code in a file of {:#x}",
                bytes.len()
            )));
        }
        let metadata = kernels::metadata(file, bytes)?;
        let mut kernels = kernels::find(&metadata, subtarget.target, &image)?;
        if kernels.is_empty() && identity.os_abi == OsAbi::None {
            kernels = system::kernels(file, subtarget.target, &image)?;
        }
        if identity.os_abi == OsAbi::Pal {
            kernels = pal::kernels(file, bytes, subtarget.target, &image)?;
        }
        Ok(CodeObject {
            subtarget,
            system: identity.os_abi,
            version: identity.version,
            metadata_version: metadata.version,
            kernels,
            printf: metadata.printf,
            lines: Arc::new(lines),
            atomics: codeobj::atomics::read(file).map(Arc::from),
            image,
        })
    }

    /// Returns the processor that the code object is built for. For a generic target, which stands for
    /// several processors, returns the processor that represents the target.
    pub fn target(&self) -> &'static Target {
        self.subtarget.target
    }

    /// Returns the processor and the modes that the header of the file names. [`KernelInfo::subtarget`]
    /// returns the modes of a kernel.
    pub fn subtarget(&self) -> &Subtarget {
        &self.subtarget
    }

    /// Returns the version of the code object (2 to 6), or `None` if the header does not give it.
    pub fn version(&self) -> Option<u8> {
        self.version
    }

    /// Returns the major and minor version of the metadata: (1, 0) for code objects V2 and V3, (1, 1) for V4,
    /// (1, 2) for V5.
    pub fn metadata_version(&self) -> &[u32] {
        &self.metadata_version
    }

    /// Returns the kernels, in the order of the metadata.
    pub fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    /// Returns the kernel with this name.
    pub fn kernel(&self, name: &str) -> Option<&KernelInfo> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// Describes the arguments of a kernel, for a code object that does not describe them. `text` lists the
    /// arguments by name and type, such as `src: *const f32, n: u32`. The syntax of a type is that of
    /// [`Layout`](crate::args::Layout). The arguments are laid out in sequence as in C. In an object for Mesa
    /// or for no operating system, the words that Mesa passes precede and follow them.
    ///
    /// # Errors
    /// Fails if there is no such kernel, if the object already describes its arguments, or if the text cannot
    /// be parsed.
    pub fn set_parameters(&mut self, kernel: &str, text: &str) -> Result<(), String> {
        let found = self.kernels.iter_mut().find(|known| known.name == kernel);
        let info = found.ok_or_else(|| format!("there is no kernel `{kernel}`"))?;
        if !info.untyped {
            return Err(format!("the object says what the arguments of {kernel} are"));
        }
        info.args = system::place_arguments(self.system, crate::args::parameters(text)?);
        let end = info.args.iter().map(|arg| arg.offset.saturating_add(arg.size)).max().unwrap_or(0);
        info.kernarg_size = info.kernarg_size.max(end);
        info.untyped = false;
        Ok(())
    }

    /// Returns the format strings of `printf` as they are encoded in the metadata (LLVM's AMDGPU guide, seed
    /// 000, line 2214).
    pub fn printf_formats(&self) -> &[String] {
        &self.printf
    }

    /// Returns the line tables of the debug information. They are empty without debug information, and for a
    /// file that is not linked.
    pub fn lines(&self) -> &Lines {
        &self.lines
    }

    /// Returns the symbols that the object defines: variables, functions, kernels and their descriptors.
    pub fn symbols(&self) -> &[Symbol] {
        &self.image.symbols
    }
}
