//! The rules of the text, each with a name, and what reports a broken one: [`Error`] of the reader and
//! [`Problem`] of the verifier.

use std::fmt;

/// Declares the rules: name in Rust, name in messages, and the rule in a sentence.
macro_rules! rules {
    ($($variant:ident $id:literal $what:literal)*) => {
        /// A rule of the text.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = $what] $variant,)*
        }

        impl Rule {
            /// All rules: first those of the reader, then those of the verifier.
            pub const ALL: &'static [Rule] = &[$(Rule::$variant,)*];

            /// Returns the name of the rule.
            pub fn id(self) -> &'static str {
                match self { $(Rule::$variant => $id,)* }
            }

            /// Returns the rule as a sentence.
            pub fn what(self) -> &'static str {
                match self { $(Rule::$variant => $what,)* }
            }

            /// Returns the rule with the given name.
            pub fn from_id(id: &str) -> Option<Rule> {
                match id { $($id => Some(Rule::$variant),)* _ => None }
            }
        }
    };
}

rules! {
    // The reader.
    Utf8 "utf-8" "The text is UTF-8."
    ControlCharacter "control-character" "A line has no control characters but the tab, and ends with a newline alone."
    UnknownRecord "unknown-record" "A line that begins like a record has a known name."
    NotARecord "not-a-record" "Every line of a block begins with a semicolon."
    OutsideBlock "outside-block" "A record is between `;ARGSTART:` and `;ARGEND:`."
    BlockStart "block-start" "A block, a data segment or debug lines end before the next one begins."
    BlockEnd "block-end" "A block, a data segment or debug lines that begin also end, and only those."
    BlockName "block-name" "The name after `;ARGEND:` is the name after `;ARGSTART:`."
    FieldCount "field-count" "A record has as many fields as its form."
    EmptyField "empty-field" "A name is not empty."
    NameCharacters "name-characters" "A name has no semicolon and no control character."
    Number "number" "A number is decimal, without sign and without leading zeros."
    NumberRange "number-range" "A number has at most 32 bits."
    Switch "switch" "A field that says yes or no is 1 or 0."
    DataTypeName "data-type" "The type of data is known."
    MemorySpaceName "memory-space" "The word after `;memory:` is known."
    PointerMemoryName "pointer-memory" "The kind of memory of a pointer is known."
    AccessName "access" "An access is RO, WO or RW."
    DimensionName "dimension" "The dimensions of an image are known."
    ListCount "list-count" "A list has as many items as its count says."
    PrintfLength "printf-length" "A format string has the length that the record says."
    PrintfEnd "printf-end" "A semicolon ends the record of a format string."
    DataLine "data-line" "A line of a data segment is `;#TYPE:OFFSET:COUNT` and the numbers."
    DataDigits "data-digits" "A number of a data segment has 1 to 16 hexadecimal digits."
    CallMarker "call-marker" "The mark of the kernel's call is a semicolon and ten dollar signs."
    TooManyErrors "too-many-errors" "After a hundred errors the reader stops."
    // The verifier: one block.
    UniqueIdMissing "uniqueid-missing" "Every block states its number."
    RecordTwice "record-twice" "A record that states one fact of the function is there once."
    VersionMissing "version-missing" "A kernel states the version of its metadata."
    VersionUnknown "version-unknown" "The version is one that this reader knows: major version 2 or 3, and no higher minor version."
    DeviceMissing "device-missing" "A kernel states its device."
    DeviceUnknown "device-unknown" "The device is one that the compilers of this text knew."
    MessageCode "message-code" "A message begins with a condition code of four characters."
    MessageLength "message-length" "A message has at most 32 characters after its code."
    MemoryTotal "memory-total" "The memory of a kernel in an address space is less than 4 GiB."
    GroupSizeZero "group-size-zero" "No dimension of a work-group is 0."
    GroupLimits "group-limits" "A block has `;lws:` or `;limitgroupsize`, not both."
    ResourceId "resource-id" "The number of a UAV is below 1024."
    ResourceShared "resource-shared" "Private memory, printf and constants have UAVs of their own."
    UnknownKept "unknown-kept" "The block has no record that only `parse_keeping` takes."
    // The verifier: arguments.
    ArgumentName "argument-name" "The arguments of a function have different names."
    ArgumentBuffer "argument-buffer" "An argument is in constant buffer 0 or 1."
    ArgumentReserved "argument-reserved" "In constant buffer 0, arguments begin at byte 96."
    ArgumentAlignment "argument-alignment" "The offset of an argument is a multiple of 16."
    ArgumentOverlap "argument-overlap" "Arguments do not overlap in their constant buffer."
    ArgumentEnd "argument-end" "An argument ends within the 65,536 bytes of a constant buffer."
    ValueCount "value-count" "A value has 1, 2, 3, 4, 8 or 16 elements; a structure or union has a size."
    ValueSingle "value-single" "Events and opaque values have 1 element."
    PointerCount "pointer-count" "A pointer has 1 element."
    PointerType "pointer-type" "A pointer does not point to events."
    PointerAlignment "pointer-alignment" "The alignment of a pointer is a power of two."
    PointerUsage "pointer-usage" "A pointer states its use as the version of the metadata requires."
    PointerBuffer "pointer-buffer" "The number of a pointer's buffer exists for its kind of memory."
    ImageWrites "image-writes" "A kernel has at most 8 images that it only writes, with numbers below 8."
    ImageReads "image-reads" "A kernel has at most 128 images that it only reads, with numbers below 128."
    ImageShared "image-shared" "Two images with the same access have different numbers."
    CounterWidth "counter-width" "A counter has 32 or 64 bits."
    CounterShared "counter-shared" "Two counters have different numbers."
    SamplerId "sampler-id" "The number of a sampler is below 16, and no other sampler has it."
    SamplerArgument "sampler-argument" "A sampler that is an argument is also a value of 32 bits, with the same name."
    SamplerValue "sampler-value" "A sampler that is an argument has the value 0."
    SamplerBits "sampler-bits" "The value of a sampler has only known bits and known modes."
    ConstIndex "const-index" "The index of `;constarg:` is the index of the argument with that name."
    ReflectionIndex "reflection-index" "The index of `;reflection:` is that of an argument, and is there once."
    PrintfSize "printf-size" "An argument of printf has a size of 1 to 128 bytes."
    // The verifier: the whole text.
    BlockTwice "block-twice" "Blocks have different names."
    UniqueIdShared "uniqueid-shared" "Functions have different numbers."
    PrintfShared "printf-shared" "Format strings have different numbers."
    FunctionTwice "function-twice" "A list of functions has each function once."
    FunctionUnknown "function-unknown" "A function that is called is in the text."
    IntrinsicInText "intrinsic-in-text" "An intrinsic is not in the text."
    FunctionNumber "function-number" "The number of a function in its block is that of its code."
    MarkerCount "marker-count" "A text with kernels and code has the mark of the kernel's call once."
    SegmentTwice "segment-twice" "Data segments are for different constant buffers."
    SegmentEnd "segment-end" "The number at the end of a data segment is that at its start, or 0 or none for the emulated one."
    SegmentBuffer "segment-buffer" "A data segment is for constant buffer 2 to 15."
    SegmentSize "segment-size" "The data of a segment end within its size."
    DataAlignment "data-alignment" "A data vector begins at a multiple of its element's size."
    DataLanes "data-lanes" "The numbers of a data vector fill whole vectors; three elements take the room of four."
    DataOverlap "data-overlap" "Data vectors do not overlap."
    DataWidth "data-width" "A number of a data vector fits into its type."
    DataElement "data-element" "A data vector has a type with a size, or is a structure or union of bytes."
    DataRequired "data-required" "A block that requires data is in a text with data."
    IlLine "il-line" "A line of IL does not read as a record."
    DebugLine "debug-line" "A debug line does not read as the end of the debug lines."
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// Why a text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// Line in the text, from 1.
    pub line: usize,
    /// Column in the line in bytes, from 1.
    pub column: usize,
    /// The broken rule.
    pub rule: Rule,
    /// The error, as a sentence for the user.
    pub message: String,
    /// What may have been meant.
    pub hint: Option<String>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {} [{}]", self.line, self.column, self.message, self.rule)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

/// What is wrong in a text that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Line in the text as it is written, from 1.
    pub line: usize,
    /// The broken rule.
    pub rule: Rule,
    /// The error, as a sentence for the user.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {} [{}]", self.line, self.message, self.rule)
    }
}
