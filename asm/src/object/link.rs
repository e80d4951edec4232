//! `ET_DYN`: what a linker makes of the sections.

use crate::assembler::Assembler;
use crate::resolve::Resolved;

/// A loadable object.
pub(crate) fn loadable(_asm: &Assembler, _resolved: &Resolved) -> Result<Vec<u8>, String> {
    Err("loadable objects are written by `--obj` and a linker for now".into())
}
