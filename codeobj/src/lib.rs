//! AMD GPU code objects of every version: what their headers, notes, metadata and kernel descriptors say.
//!
//! The tables of this crate name each field once; the reader here and the assembler share them, so that what one
//! prints the other understands.

pub mod descriptor_fields;
