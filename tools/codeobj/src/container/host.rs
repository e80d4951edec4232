//! Host programs, libraries and objects (ELF, PE/COFF), in which sections contain bundles or images.

use super::{Part, Parts, range};
use object::{Object, ObjectSection};

/// First bytes of a COFF object for x86-64. Such objects begin with the number of the machine and have no
/// other signature.
pub const COFF_X86_64: [u8; 2] = [0x64, 0x86];

/// Names of sections that contain bundles or offload binaries. In PE files, `.hip_fatbin` is truncated to
/// `.hip_fat`.
const SECTIONS: [&str; 3] = [".hip_fatbin", ".hip_fat", ".llvm.offloading"];

/// Prefix of the names of sections that contain a single entry of a bundle. The rest of the section name is
/// the id of the entry.
const ENTRY: &str = "__CLANG_OFFLOAD_BUNDLE__";

/// Lists the sections that contain GPU code.
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
