//! The words of the text: each enumeration is a table of the values of one field and of their spellings.

/// Declares an enumeration with a spelling for each value.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// All values, in the order of their declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// Returns the spelling of the value in the text.
            pub fn text(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// Returns the value with the given spelling.
            pub fn from_text(text: &str) -> Option<$name> {
                match text { $($text => Some($name::$variant),)* _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.text())
            }
        }
    };
}
pub(crate) use words;

words! {
    /// Type of the data of an argument or of a data segment.
    ///
    /// The document names the signed integers, `float`, `double` and the kinds without a size (seed 003,
    /// lines 404 and 418). Drivers of metadata version 3 also write unsigned integers and `half` (ROCclr,
    /// `device/gpu/gpukernel.cpp`, table `DataType`).
    DataType {
        /// Boolean; in a constant buffer, a 32-bit integer of which only bit 0 counts.
        I1 = "i1",
        /// Signed integer of 8 bits.
        I8 = "i8",
        /// Signed integer of 16 bits.
        I16 = "i16",
        /// Signed integer of 32 bits.
        I32 = "i32",
        /// Signed integer of 64 bits.
        I64 = "i64",
        /// Unsigned integer of 8 bits.
        U8 = "u8",
        /// Unsigned integer of 16 bits.
        U16 = "u16",
        /// Unsigned integer of 32 bits.
        U32 = "u32",
        /// Unsigned integer of 64 bits.
        U64 = "u64",
        /// Floating-point number of 16 bits.
        Half = "half",
        /// Floating-point number of 32 bits.
        Float = "float",
        /// Floating-point number of 64 bits.
        Double = "double",
        /// Structure; the count of elements is its size in bytes.
        Struct = "struct",
        /// Union; the count of elements is the size of its largest member in bytes.
        Union = "union",
        /// Event of OpenCL.
        Event = "event",
        /// Value of a type that the program cannot look into.
        Opaque = "opaque",
    }
}

impl DataType {
    /// Returns the size of one element in bytes, or none if the type has no size of its own.
    pub fn size(self) -> Option<u32> {
        match self {
            DataType::I8 | DataType::U8 => Some(1),
            DataType::I16 | DataType::U16 | DataType::Half => Some(2),
            DataType::I1 | DataType::I32 | DataType::U32 | DataType::Float => Some(4),
            DataType::I64 | DataType::U64 | DataType::Double => Some(8),
            DataType::Struct | DataType::Union | DataType::Event | DataType::Opaque => None,
        }
    }
}

words! {
    /// Address space of a `;memory:` record (seed 003, line 320). The documents of later compilers add the
    /// region and the private memory in a UAV (AMDIL backend of LLVM, `AMDILKernelManager.cpp`).
    MemorySpace {
        /// Local memory that the global buffer emulates.
        Local = "local",
        /// Local memory of the hardware.
        HwLocal = "hwlocal",
        /// Private memory that the global buffer emulates.
        Private = "private",
        /// Private memory of the hardware.
        HwPrivate = "hwprivate",
        /// Private memory in a UAV of its own.
        UavPrivate = "uavprivate",
        /// Region memory (GDS) that the global buffer emulates.
        Region = "region",
        /// Region memory (GDS) of the hardware.
        HwRegion = "hwregion",
    }
}

words! {
    /// Fact that a `;memory:` record without a size states.
    Flag {
        /// The compiler inserted a store because the kernel has none (seed 003, line 325).
        CompilerWrite = "compilerwrite",
        /// The kernel needs the data segments (seed 003, line 333).
        DataRequired = "datareqd",
        /// Pointers and offsets in constant buffers have 64 bits.
        Abi64 = "64bitABI",
        /// The kernel packs registers.
        PackedRegisters = "packedreg",
        /// The kernel uses a global wave sync.
        Gws = "gws",
        /// The kernel uses a global wave sync that software emulates.
        SoftwareGws = "swgws",
    }
}

words! {
    /// Kind of memory that a pointer argument points to (seed 003, line 423). `up`, `uc` and `flat` are of
    /// later compilers (AMDIL backend of LLVM, `AMDILMDTypes.cpp`).
    PointerMemory {
        /// Global memory.
        Global = "g",
        /// Emulated private memory.
        Private = "p",
        /// Emulated local memory.
        Local = "l",
        /// A UAV.
        Uav = "uav",
        /// Emulated constant buffer.
        Constant = "c",
        /// Emulated GDS.
        Region = "r",
        /// Local memory of the hardware.
        HwLocal = "hl",
        /// Private memory of the hardware.
        HwPrivate = "hp",
        /// Constant buffer of the hardware.
        HwConstant = "hc",
        /// GDS of the hardware.
        HwRegion = "hr",
        /// Private memory in a UAV.
        UavPrivate = "up",
        /// Constant memory in a UAV.
        UavConstant = "uc",
        /// Flat address.
        Flat = "flat",
    }
}

words! {
    /// How a kernel uses an image or a buffer.
    Access {
        /// Only reads.
        ReadOnly = "RO",
        /// Only writes.
        WriteOnly = "WO",
        /// Reads and writes.
        ReadWrite = "RW",
    }
}

words! {
    /// Dimensions of an image (seed 003, line 375). The forms other than `2D` and `3D` are of OpenCL 1.2
    /// (ROCclr, `device/gpu/gpukernel.cpp`, table `DataType`).
    Dimension {
        /// Line.
        D1 = "1D",
        /// Array of lines.
        D1Array = "1DA",
        /// Line in a buffer.
        D1Buffer = "1DB",
        /// Plane.
        D2 = "2D",
        /// Array of planes.
        D2Array = "2DA",
        /// Volume.
        D3 = "3D",
    }
}

words! {
    /// Resource whose number a record of its own states. Only `uavid` is in the document (seed 003, line
    /// 439); the other resources are those of Southern Islands and later (ROCclr,
    /// `device/gpu/gpukernel.cpp`).
    Resource {
        /// Raw UAV.
        Uav = "uavid",
        /// UAV of the private memory.
        Private = "privateid",
        /// UAV of the printf buffer.
        Printf = "printfid",
        /// UAV of the emulated constant buffer.
        Constant = "cbid",
    }
}

words! {
    /// Record that states a size in three dimensions. Only `cws` is in the document (seed 003, line 514); the
    /// others are in the AMDIL backend of LLVM, `AMDILKernelManager.cpp`.
    GroupSize {
        /// Work-group size that the program requires.
        Required = "cws",
        /// Region size that the program requires.
        Region = "crs",
        /// Work-group size that the program hints at.
        Hint = "wsh",
    }
}
