//! AMD GPU code objects of every version: reads their headers, notes, metadata and kernel descriptors.
//!
//! The names and positions of all fields are in tables of `objwriter`, which this reader shares with all
//! writers. So a reader understands what a writer prints, and vice versa.
//!
//! ```no_run
//! let bytes = std::fs::read("saxpy.co").unwrap();
//! let object = codeobj::CodeObject::parse(&bytes).unwrap();
//! print!("{}", codeobj::inspect::text(&object, "saxpy.co", None));
//! ```
//!
//! This crate neither writes code objects (see `objwriter`) nor loads and runs them (see `sim`).

pub mod atomics;
pub mod config;
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
pub mod pipeline;
pub mod text_sections;
pub mod value;

pub use descriptor::Descriptor;
pub use disasm::disassemble;
pub use elf::{CodeObject, ParseError};
pub use identity::{FORMER_NAMES, FormerName, Identity, OsAbi, R600, Setting};
pub use objwriter::yaml;
pub use value::Value;
