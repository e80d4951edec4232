//! AMDIL metadata: the text in which the GPU compilers of AMD's Catalyst drivers describe kernels to the
//! runtime, from `;ARGSTART:` to `;ARGEND:`.
//!
//! [`parse`] reads a text into [`Metadata`], whose `Display` writes the same text again. [`verify`] says
//! which rules a text breaks; [`Rule`] lists the rules. [`Grid`] fills constant buffer 0, which is about the
//! dispatch; [`lay_out`] and [`pack`] are about the arguments in constant buffer 1. [`Metadata::source`]
//! makes the source of one kernel of a text with several. docs/amdil.md describes the text.
//!
//! # Source
//! Seed 003, all of it; what later drivers add, from the projects that the items name.
//!
//! # Examples
//! ```
//! let text = ";ARGSTART:__OpenCL_k_kernel\n;version:3:1:111\n;device:tahiti\n;uniqueid:1024\n\
//!     ;value:n:u32:1:1:0\n;ARGEND:__OpenCL_k_kernel\n";
//! let metadata = amdil::parse(text).unwrap();
//! assert_eq!(metadata.to_string(), text);
//! assert_eq!(amdil::verify(&metadata), []);
//! let kernel = metadata.kernel("k").unwrap();
//! assert_eq!(kernel.arguments().next().unwrap().name.as_str(), "n");
//! ```

mod data;
mod devices;
mod fields;
mod forms;
mod grid;
mod model;
mod order;
mod program;
mod read;
mod rules;
mod samplers;
mod slots;
mod text;
mod verify;
mod words;
mod write;

pub use data::DataError;
pub use devices::{DEVICES, Generation, generation};
pub use forms::forms;
pub use grid::{GRID, GRID_SIZE, Grid, GridElement, GridError, GridRow};
pub use model::{
    Argument, ArgumentKind, Block, DataSegment, DataVector, Item, Metadata, OldArgument, OldKind, Place,
    Pointer, Printf, Qualifiers, Record, Sampler, Usage, Version,
};
pub use program::{Function, SourceError};
pub use read::{parse, parse_bytes, parse_keeping};
pub use rules::{Error, Problem, Rule};
pub use samplers::{Addressing, Filter, SamplerState};
pub use slots::{
    Abi, ArgumentValue, Buffer, Element, FIRST_IN_BUFFER_0, Image, MOST_BYTES, Meaning, PackError, VECTOR,
    elements, lay_out, pack, size,
};
pub use text::{Format, Line, Name, Radix, Values};
pub use verify::verify;
pub use words::{Access, DataType, Dimension, Flag, GroupSize, MemorySpace, PointerMemory, Resource};
pub use write::CALL_MARKER;
