//! The text as values: [`Metadata`] is a whole text, [`Block`] the description of one function.

use crate::text::{Format, Line, Name, Values};
use crate::words::{Access, DataType, Dimension, Flag, GroupSize, MemorySpace, PointerMemory, Resource};

/// A text: what one compilation unit has, or the block of one kernel that a binary has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Metadata {
    /// The parts in the order of the text.
    pub items: Vec<Item>,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Item {
    /// `;ARGSTART:` to `;ARGEND:`, the description of one function (seed 003, line 275).
    Block(Block),
    /// `;#DATASTART:` to `;#DATAEND`, constants of the program (seed 003, line 175).
    Data(DataSegment),
    /// `;DEBUGSTART` to `;DEBUGEND`: lines of debug information (seed 003, line 211), as they are.
    Debug(Vec<Line>),
    /// `;$$$$$$$$$$`: where the call of the kernel is to be inserted (seed 003, line 470).
    CallMarker,
    /// An argument in the older form `;ARG:`.
    OldArgument(OldArgument),
    /// A line of IL code or an empty line, as it is.
    Il(Line),
}

/// The description of one function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// Name of the function; `__OpenCL_NAME_kernel` for the kernel `NAME`.
    pub name: Name,
    /// The records in the order of the text.
    pub records: Vec<Record>,
}

/// A line of a block.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Record {
    /// `;version:`: version of the metadata (seed 003, line 277).
    Version(Version),
    /// `;device:`: name of the device for which the code was compiled (seed 003, line 287).
    Device(Name),
    /// `;error:`: the compilation failed (seed 003, line 295).
    Error(Line),
    /// `;warning:`: a message for the compilation log (seed 003, line 303).
    Warning(Line),
    /// `;memory:SPACE:SIZE`: bytes to add to the memory of the kernel (seed 003, line 311).
    Memory {
        /// Address space.
        space: MemorySpace,
        /// Size in bytes.
        size: u32,
    },
    /// `;memory:WORD`: a fact about the kernel.
    Flag(Flag),
    /// `;uniqueid:`: number of the function (seed 003, line 341).
    UniqueId(u32),
    /// `;value:`, `;pointer:`, `;image:`, `;counter:` or `;sema:`: an argument.
    Argument(Argument),
    /// `;sampler:`: a sampler (seed 003, line 353).
    Sampler(Sampler),
    /// `;constarg:INDEX:NAME`: the argument has the qualifier `const`.
    ConstArgument {
        /// Index of the argument.
        index: u32,
        /// Name of the argument.
        name: Name,
    },
    /// `;reflection:INDEX:TYPE`: type of an argument in the source.
    Reflection {
        /// Index of the argument.
        index: u32,
        /// Name of the type.
        type_name: Line,
    },
    /// `;uavid:`, `;privateid:`, `;printfid:`, `;cbid:`: number of a resource.
    Resource {
        /// Which resource.
        resource: Resource,
        /// Number of the resource.
        id: u32,
    },
    /// `;printf_fmt:`: a format string (seed 003, line 445).
    Printf(Printf),
    /// `;function:`: numbers of the functions that this function calls (seed 003, line 489).
    Functions(Vec<u32>),
    /// `;intrinsic:`: numbers of the library functions that this function calls (seed 003, line 499).
    Intrinsics(Vec<u32>),
    /// `;cws:`, `;crs:`, `;wsh:`: a size in three dimensions (seed 003, line 510).
    GroupSize {
        /// Which size.
        kind: GroupSize,
        /// The size in each dimension.
        size: [u32; 3],
    },
    /// `;lws:`: largest size of a work-group, as the product of its dimensions (seed 003, line 526).
    LargestGroup(u32),
    /// `;limitgroupsize`: the runtime is to limit the size of a work-group (seed 003, line 530).
    LimitGroupSize,
    /// `;vth:`: vector type that the program hints at.
    VectorTypeHint(Line),
    /// `;WavesPerSimdHint:`: wavefronts per SIMD that the program hints at.
    WavesPerSimd(u32),
    /// `;ARG:`: an argument in the older form.
    OldArgument(OldArgument),
    /// A record with an unknown name, as it is, with its semicolon. Only
    /// [`parse_keeping`](crate::parse_keeping) makes these.
    Unknown(Line),
}

/// Version of the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Grows when older readers cannot read the text.
    pub major: u32,
    /// Grows when something is added; a reader reads all lower minor versions.
    pub minor: u32,
    /// Number of the revision of the compiler; a reader may ignore it.
    pub revision: u32,
}

impl Version {
    /// First version whose pointers say how they are used (ROCclr, `device/gpu/gpukernel.cpp`).
    pub const ACCESS: Version = Version { major: 2, minor: 0, revision: 88 };
    /// First version whose pointers say whether they are volatile or restrict (ROCclr,
    /// `device/gpu/gpukernel.cpp`).
    pub const QUALIFIERS: Version = Version { major: 3, minor: 1, revision: 103 };
    /// Newest version in the binaries that were looked at.
    pub const NEWEST: Version = Version { major: 3, minor: 1, revision: 111 };

    /// Tells whether a reader of this version can read a text of the other version: the major versions are
    /// equal, and the text's minor version is not higher (seed 003, line 279).
    pub fn reads(self, text: Version) -> bool {
        self.major == text.major && self.minor >= text.minor
    }
}

/// Where an argument is in the constant buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Number of the constant buffer.
    pub buffer: u32,
    /// Offset in bytes.
    pub offset: u32,
}

/// An argument that is in a constant buffer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Argument {
    /// Name of the argument.
    pub name: Name,
    /// What the argument is.
    pub kind: ArgumentKind,
    /// Where the kernel expects the argument.
    pub place: Place,
}

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArgumentKind {
    /// A value (seed 003, line 395).
    Value {
        /// Type of an element.
        ty: DataType,
        /// Count of elements; size in bytes for structures and unions.
        count: u32,
    },
    /// A pointer (seed 003, line 409).
    Pointer(Pointer),
    /// An image (seed 003, line 366).
    Image {
        /// Dimensions.
        dimension: Dimension,
        /// How the kernel uses the image.
        access: Access,
        /// Number of the UAV or of the image resource.
        id: u32,
    },
    /// An atomic counter (seed 003, line 381).
    Counter {
        /// Width in bits.
        bits: u32,
        /// Number in the GDS.
        id: u32,
    },
    /// A semaphore (AMDIL backend of LLVM, `AMDILKernelManager.cpp`).
    Semaphore {
        /// Number of the semaphore.
        id: u32,
    },
}

/// A pointer argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pointer {
    /// Type of what the pointer points to.
    pub ty: DataType,
    /// Always 1, as there are no vectors of pointers.
    pub count: u32,
    /// Kind of memory.
    pub memory: PointerMemory,
    /// Number of the buffer among those of its kind.
    pub buffer: u32,
    /// Alignment in bytes of what the pointer points to.
    pub alignment: u32,
    /// How the kernel uses the memory; none in versions before [`Version::ACCESS`].
    pub usage: Option<Usage>,
}

/// How a kernel uses the memory of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Usage {
    /// Reads, writes or both.
    pub access: Access,
    /// Qualifiers of the source; none in versions before [`Version::QUALIFIERS`].
    pub qualifiers: Option<Qualifiers>,
}

/// Qualifiers of a pointer in the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Qualifiers {
    /// The memory is volatile.
    pub volatile: bool,
    /// The pointer is `restrict`.
    pub restrict: bool,
}

/// A sampler.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sampler {
    /// Name of the argument, or a name that the compiler chose.
    pub name: Name,
    /// Number of the sampler.
    pub id: u32,
    /// True if the kernel defines the sampler, false if the sampler is an argument.
    pub in_kernel: bool,
    /// The bits of the sampler ([`SamplerState`](crate::SamplerState)), 0 for an argument.
    pub value: u32,
}

/// A format string of `printf`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Printf {
    /// Number of the format, unique in the program.
    pub id: u32,
    /// Size of each argument in bytes.
    pub sizes: Vec<u32>,
    /// The string.
    pub format: Format,
}

/// An argument in the form `;ARG:FUNCTION:NAME:TYPE:...`. The document uses the form only in an example (seed
/// 003, line 437).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OldArgument {
    /// Name of the function.
    pub function: Name,
    /// Name of the argument.
    pub name: Name,
    /// Count of elements.
    pub count: u32,
    /// Where the argument is.
    pub place: Place,
    /// What the argument is.
    pub kind: OldKind,
}

/// What an argument in the older form is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OldKind {
    /// A value.
    Value(DataType),
    /// A pointer, which has the type `pointer`.
    Pointer {
        /// Kind of memory.
        memory: PointerMemory,
        /// Number of the buffer among those of its kind.
        buffer: u32,
        /// Alignment in bytes of what the pointer points to.
        alignment: u32,
    },
}

/// Constants that the program defines.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DataSegment {
    /// Constant buffer of the data; none for the emulated constants in the global buffer.
    pub buffer: Option<u32>,
    /// Size in bytes.
    pub size: u32,
    /// The data.
    pub vectors: Vec<DataVector>,
    /// Number after `;#DATAEND`. The document writes 0 for the emulated constants, later compilers nothing.
    pub end: Option<u32>,
}

/// A line of a data segment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DataVector {
    /// Elements in a vector: 1 for a scalar, else the `N` of `vNi32`.
    pub lanes: u8,
    /// Type of the numbers.
    pub ty: DataType,
    /// Offset in the segment in bytes.
    pub offset: u32,
    /// The numbers, with those that pad vectors.
    pub values: Values,
}

impl Block {
    /// Returns the kernel's name if the block describes a kernel, that is, is named `__OpenCL_NAME_kernel`.
    pub fn kernel(&self) -> Option<&str> {
        let name = self.name.as_str().strip_prefix("__OpenCL_")?.strip_suffix("_kernel")?;
        (!name.is_empty()).then_some(name)
    }

    /// Returns the arguments in the order of the text, which is the order of the source.
    pub fn arguments(&self) -> impl Iterator<Item = &Argument> {
        self.records.iter().filter_map(|record| match record {
            Record::Argument(argument) => Some(argument),
            _ => None,
        })
    }

    /// Returns the version, if the block states one.
    pub fn version(&self) -> Option<Version> {
        self.records.iter().find_map(|record| match record {
            Record::Version(version) => Some(*version),
            _ => None,
        })
    }

    /// Returns the number of the function, if the block states one.
    pub fn unique_id(&self) -> Option<u32> {
        self.records.iter().find_map(|record| match record {
            Record::UniqueId(id) => Some(*id),
            _ => None,
        })
    }

    /// Tells whether the block states a fact.
    pub fn has(&self, flag: Flag) -> bool {
        self.records.iter().any(|record| matches!(record, Record::Flag(stated) if *stated == flag))
    }

    /// Returns the type that the source gives to an argument, if the block states the type.
    pub fn type_name(&self, argument: u32) -> Option<&str> {
        self.records.iter().find_map(|record| match record {
            Record::Reflection { index, type_name } if *index == argument => Some(type_name.as_str()),
            _ => None,
        })
    }
}

impl Metadata {
    /// Returns the blocks in the order of the text.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.items.iter().filter_map(|item| match item {
            Item::Block(block) => Some(block),
            _ => None,
        })
    }

    /// Returns the data segments in the order of the text.
    pub fn segments(&self) -> impl Iterator<Item = &DataSegment> {
        self.items.iter().filter_map(|item| match item {
            Item::Data(segment) => Some(segment),
            _ => None,
        })
    }

    /// Returns the block of the kernel with the given name.
    pub fn kernel(&self, name: &str) -> Option<&Block> {
        self.blocks().find(|block| block.kernel() == Some(name))
    }
}
