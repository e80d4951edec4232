//! A linker for AMD GPU objects: relocatable files and archives of them become one code object that loads, as
//! `ld.lld -shared` makes it.
//!
//! [`input`] takes files apart, [`symbols`] decides which definition each name means and which members of archives are
//! needed, [`live`] which sections are, [`sections`] joins those of one name, [`notes`] the metadata. What comes out is
//! one [`objwriter::elf::Object`], as if one assembler source had held it all; laying it out, relocating it and its dynamic
//! tables are what `objwriter` does for the compiler and the assembler, too.
//!
//! # Source
//! The System V ABI, chapters 4 and 5; seed 000, lines 387 (sections), 472 (symbols), 507 (relocations); what `ld.lld` 19
//! makes of the same files.

mod identity;
mod input;
mod join;
mod live;
mod notes;
mod pool;
mod sections;
mod symbols;

use input::Object;

/// A file and its name.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// What messages call it.
    pub name: &'a str,
    /// A relocatable object, or an archive of such.
    pub data: &'a [u8],
}

/// How to link.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Leave out sections that nothing which stays refers to. What other objects may see stays, and so do kernels.
    pub gc_sections: bool,
    /// Leave names that are not defined to the loader, as `ld.lld -shared` does if it is not told otherwise.
    pub allow_undefined: bool,
}

/// Links files in their order. Of an archive those members are taken that define what is not defined yet.
///
/// # Errors
/// Everything that is wrong, a sentence each: files that are no objects or damaged, objects for different processors, names
/// that are defined twice or not at all, relocations that cannot be applied.
pub fn link(inputs: &[Input], options: &Options) -> Result<Vec<u8>, Vec<String>> {
    let mut symbols = symbols::Symbols::default();
    let mut errors = Vec::new();
    for input in inputs {
        if let Err(error) = symbols.add_file(input) {
            errors.push(format!("{}: {error}", input.name));
        }
    }
    errors.extend(symbols.faults());
    if !errors.is_empty() {
        return Err(errors);
    }
    if symbols.objects.is_empty() {
        return Err(vec!["there is nothing to link: no object was given, and no member of an archive is needed".into()]);
    }
    if !options.allow_undefined {
        errors.extend(symbols.undefined());
    }
    let identity = identity::joined(&symbols.objects).map_err(|error| errors.push(error));
    if !errors.is_empty() {
        return Err(errors);
    }
    let live = live::sections(&symbols, options.gc_sections);
    let identity = identity.unwrap_or_default();
    let joined = join::joined(&symbols, &live, identity).map_err(|error| vec![error])?;
    objwriter::elf::loadable(&joined).map_err(|error| vec![error])
}
