//! LLVM's assembler as judge, and files with what it said.
#![allow(dead_code)]

use std::path::Path;
use support::Tool;
pub use support::find as tool;

/// The relocatable object that `llvm-mc` makes of a source, or what it complains about.
pub fn llvm_mc(tool: &Path, args: &[&str], source: &str) -> Result<Vec<u8>, String> {
    let mut command = Tool::new(tool);
    command.args(["-triple=amdgcn-amd-amdhsa", "-filetype=obj", "-o", "-"]).args(args);
    let output = command.input(source).output().expect("the tool starts");
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Options for a relocatable object.
pub fn options(cpu: &str) -> asm::Options {
    let target = Some(isa::Target::by_name(cpu).expect("a known processor"));
    asm::Options { target, kind: asm::Kind::Relocatable, ..asm::Options::default() }
}

/// Assembles, or panics with the diagnostics.
pub fn assemble(source: &str, options: &asm::Options) -> Vec<u8> {
    asm::assemble(source, options)
        .unwrap_or_else(|list| panic!("{}", asm::render(&list, "source.s", source, false)))
}

/// Contents of a section.
pub fn section<'o>(object: &'o [u8], name: &str) -> &'o [u8] {
    use object::{Object, ObjectSection};
    let file = object::File::parse(object).expect("an object");
    let range = file.section_by_name(name).and_then(|section| section.file_range());
    range.map_or(&[], |(offset, size)| &object[offset as usize..(offset + size) as usize])
}
