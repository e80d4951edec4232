//! Metadata of AMDPAL code objects: what the PAL runtime knows about a pipeline of shaders.
//!
//! * [`Metadata`]: the tree of the MessagePack form, with its text form (`.amdgpu_pal_metadata`).
//! * [`pairs`]: the older note of register numbers and values, with its text form.
//! * [`register`]: numbers and names of registers.
//! * [`fields`]: bit fields of registers on each generation.
//! * [`user_data`]: what is in the user SGPRs, and the layout of a kernel's parameters.
//! * [`Stage`]: what belongs to a hardware stage.
//! * [`Finding`]: what [`Metadata::verify`] finds.
//!
//! Reading and writing lose nothing: unknown keys and values of unexpected types stay in the tree.
//!
//! This crate neither reads nor writes ELF files, and does not know the compiler.

mod error;
mod field_rows;
pub mod fields;
mod message_pack;
mod metadata;
pub mod pairs;
pub mod register;
mod schema;
mod schema_registers;
mod stage;
mod text;
pub mod user_data;
mod verify;

pub use error::{Error, Place};
pub use metadata::{Metadata, Note};
pub use pairs::Pairs;
pub use stage::Stage;
pub use text::{BEGIN, END, Spelling};
pub use verify::{Finding, MOST_FINDINGS, Problem};
