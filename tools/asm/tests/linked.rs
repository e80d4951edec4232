//! Loadable objects beside what `ld.lld` makes of the same source: contents of every loaded section, addresses, dynamic
//! tables.

use object::{Object, ObjectSection};
use std::path::Path;
use support::{Folder, Tool};

const SECTIONS: [&str; 13] = [
    ".note",
    ".dynsym",
    ".gnu.hash",
    ".hash",
    ".dynstr",
    ".rela.dyn",
    ".rodata",
    ".eh_frame",
    ".text",
    ".got",
    ".data",
    ".bss",
    ".dynamic",
];

/// Number of the section header is not compared: `ld.lld` has one section more (`.relro_padding`).
fn without_section_numbers(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if name == ".dynsym" {
        for symbol in bytes.chunks_exact_mut(24) {
            symbol[6..8].fill(0);
        }
    }
    bytes
}

#[test]
fn like_lld() {
    let tools = ["llvm-mc-19", "ld.lld-19"].map(|name| crate::common::tool(name, "like_lld"));
    let [Some(mc), Some(lld)] = tools else { return };
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/link");
    let scratch = Folder::new("linked");
    let mut count = 0;
    for entry in std::fs::read_dir(dir).expect("data") {
        let path = entry.expect("an entry").path();
        let source = std::fs::read_to_string(&path).expect("readable");
        let object = crate::common::llvm_mc(&mc, &["-mcpu=gfx906"], &source).expect("llvm-mc takes it");
        let (input, output) = (scratch.join("in.o"), scratch.join("out.co"));
        std::fs::write(&input, object).expect("writable");
        let status = Tool::new(&lld).arg("-shared").arg(&input).arg("-o").arg(&output).status();
        assert!(status.expect("ld.lld starts").success());
        let expected = std::fs::read(&output).expect("linked");
        let options =
            asm::Options { kind: asm::Kind::Loadable, version: Some(5), ..crate::common::options("gfx906") };
        compare(&path, &crate::common::assemble(&source, &options), &expected);
        count += 1;
    }
    assert!(count > 0);
}

fn compare(path: &Path, ours: &[u8], theirs: &[u8]) {
    let parse = |bytes| object::File::parse(bytes).expect("an object");
    let (ours, theirs) = (parse(ours), parse(theirs));
    assert_eq!(ours.flags(), theirs.flags(), "{path:?}");
    for name in SECTIONS {
        let (Some(a), Some(b)) = (ours.section_by_name(name), theirs.section_by_name(name)) else {
            assert_eq!(
                ours.section_by_name(name).is_some(),
                theirs.section_by_name(name).is_some(),
                "{path:?} {name}"
            );
            continue;
        };
        assert_eq!(a.address(), b.address(), "{path:?} {name}");
        assert_eq!(a.size(), b.size(), "{path:?} {name}");
        let bytes =
            |section: &object::Section| without_section_numbers(name, section.data().expect("contents"));
        assert_eq!(bytes(&a), bytes(&b), "{path:?} {name}");
    }
}
