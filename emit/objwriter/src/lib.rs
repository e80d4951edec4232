//! Writes AMD GPU code objects, for the compiler and for the assembler.
//!
//! * [`descriptor`]: kernel descriptors of V3 and later. Every field is named once, for writers and readers.
//! * [`kernel_code`]: the same for `amd_kernel_code_t` of V2.
//! * [`value`]: metadata as a tree, written as MessagePack or YAML.
//! * [`message_pack`]: MessagePack piece by piece, without a tree.
//! * [`metadata_v2`]: the keys of V2's metadata, and its YAML.
//! * [`note`]: note records.
//! * [`dwarf`]: line tables.
//! * [`frames`]: call frame information.
//! * [`operations`]: numbers of the operations of expressions.
//! * `yaml`, behind the feature `yaml`: reads the YAML of metadata.
//! * [`elf`]: sections, symbols and relocations as a relocatable or a loadable file.
//!
//! Properties of the processor and of the code object version come from [`isa::Subtarget`] or
//! [`isa::Target`]. Reading is the task of `codeobj`, which shares these tables but not this code. The
//! emulator has a reader of its own, independent of both.

pub mod descriptor;
pub mod dwarf;
pub mod elf;
pub mod frames;
pub mod kernel_code;
pub mod leb;
pub mod message_pack;
pub mod metadata_v2;
pub mod note;
pub mod operations;
pub mod registers;
#[cfg(feature = "serde")]
mod serde;
pub mod value;
#[cfg(feature = "yaml")]
pub mod yaml;

pub use value::Value;
