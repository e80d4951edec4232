//! Writes AMD GPU code objects, for the compiler and for the assembler.
//!
//! * [`descriptor`]: kernel descriptors of V3 and later; every field named once, for those who write and those who read.
//! * [`kernel_code`]: the same for `amd_kernel_code_t` of V2.
//! * [`value`]: metadata as one tree, written as MessagePack or YAML.
//! * [`message_pack`]: the former piece by piece, without a tree.
//! * [`metadata_v2`]: the keys of V2's metadata, and its YAML.
//! * [`note`]: note records.
//! * [`dwarf`]: line tables.
//! * [`frames`]: call frame information.
//! * [`operations`]: numbers of the operations of expressions.
//! * [`elf`]: sections, symbols and relocations as a relocatable or a loadable file.
//!
//! What depends on the processor or on the version of code objects is asked of [`isa::Subtarget`] or [`isa::Target`]. Reading
//! is `codeobj`'s; it shares the tables, not the code. The emulator reads with eyes of its own.

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

pub use value::Value;
