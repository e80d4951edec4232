//! Host programs, libraries and objects (ELF, PE/COFF): sections that hold bundles or images.

use super::{Part, Parts, range};
use object::{Object, ObjectSection};

/// First bytes of a COFF object for x86-64, which has no other mark.
pub const COFF_X86_64: [u8; 2] = [0x64, 0x86];

/// Sections of bundles (`.hip_fat` is PE's, which cuts names to eight bytes) and of offload binaries.
const SECTIONS: [&str; 3] = [".hip_fatbin", ".hip_fat", ".llvm.offloading"];

/// What the names of sections begin with that hold an entry each; the rest of the name is the entry's id.
const ENTRY: &str = "__CLANG_OFFLOAD_BUNDLE__";

/// Lists the sections that hold GPU code.
pub fn parts(data: &[u8]) -> Parts {
    let file = match object::File::parse(data) {
        Ok(file) => file,
        Err(error) => return Parts::damaged(format!("the host file is damaged: {error}")),
    };
    let mut found = Parts::default();
    for section in file.sections() {
        let Ok(name) = section.name() else { continue };
        let id = name.strip_prefix(ENTRY);
        if !SECTIONS.contains(&name) && !id.is_some_and(|id| id.contains("amdgcn")) {
            continue;
        }
        let Some((offset, size)) = section.file_range().filter(|(_, size)| *size > 0) else { continue };
        let target = id.and_then(|id| id.find("amdgcn").map(|at| id[at..].to_owned()));
        match range(data, offset, size) {
            Some(range) => found.parts.push(Part { name: name.to_owned(), target, range: Some(range) }),
            None => found.problem = Some(format!("section {name} lies outside of the file")),
        }
    }
    found
}
