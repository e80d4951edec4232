//! Sections and symbols become files.

mod elf;
mod link;
mod relocatable;
mod strings;
mod symtab;

pub(crate) use link::loadable;
pub(crate) use relocatable::relocatable;
