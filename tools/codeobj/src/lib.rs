//! AMD GPU code objects of every version: what their headers, notes, metadata and kernel descriptors say.
//!
//! The tables of `objwriter` name each field once; the reader here and those who write share them, so that what one
//! prints the other understands.
//!
//! ```no_run
//! let bytes = std::fs::read("saxpy.co").unwrap();
//! let object = codeobj::CodeObject::parse(&bytes).unwrap();
//! print!("{}", codeobj::inspect::text(&object, "saxpy.co", None));
//! ```
//!
//! Not here: how code objects are written (`objwriter`), how they are loaded and run (`sim`).

pub mod atomics;
#[cfg(feature = "containers")]
pub mod container;
pub mod descriptor;
pub mod disasm;
pub mod elf;
pub mod identity;
pub mod inspect;
pub mod kernel_code;
pub mod names;
pub mod note;
pub mod value;
pub mod yaml;

pub use descriptor::Descriptor;
pub use disasm::disassemble;
pub use elf::{CodeObject, ParseError};
pub use identity::{Identity, OsAbi, Setting};
pub use value::Value;
