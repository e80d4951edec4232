//! Objects for other runtimes than HSA's: their headers as LLVM writes them, and what is refused.

use crate::common::tool;
use support::Tool;

/// Triples, and what comes in front of the processor in a target id.
const SYSTEMS: [&str; 5] = [
    "amdgcn-amd-amdhsa-",
    "amdgcn-amd-amdpal-",
    "amdgcn-mesa-mesa3d-",
    "amdgcn-amd-unknown-",
    "amdgcn-unknown-unknown-",
];

/// Headers, symbols and contents alike: the whole file.
#[test]
fn objects_are_those_of_llvm() {
    for name in ["llvm-mc-19", "llvm-mc-14"] {
        let Some(mc) = tool(name, "objects_are_those_of_llvm") else { continue };
        for system in SYSTEMS {
            for cpu in ["gfx600", "gfx700", "gfx803", "gfx900", "gfx906", "gfx90a", "gfx1010", "gfx1030"] {
                let text = ".text\n.globl k\nk:\ns_endpgm\n.data\n.long 7\n";
                let triple = system.trim_end_matches('-');
                let mut command = Tool::new(&mc);
                command.args([
                    &format!("-triple={triple}"),
                    "-filetype=obj",
                    "-o",
                    "-",
                    &format!("-mcpu={cpu}"),
                ]);
                let theirs = command.input(text).output().expect("the tool starts");
                assert!(theirs.status.success());
                let source = format!(".amdgcn_target \"{system}-{cpu}\"\n{text}");
                let version = if name == "llvm-mc-19" { 5 } else { 4 };
                let options = asm::Options {
                    kind: asm::Kind::Relocatable,
                    version: Some(version),
                    ..asm::Options::default()
                };
                let ours = crate::common::assemble(&source, &options);
                assert!(
                    ours == theirs.stdout,
                    "{name} {system} {cpu}: {:x?} {:x?}",
                    &ours[..64],
                    &theirs.stdout[..64]
                );
            }
        }
    }
}

fn complaint(source: &str, options: &asm::Options) -> String {
    asm::assemble(source, options).map(|_| String::new()).unwrap_or_else(|list| list[0].message.clone())
}

#[test]
fn what_is_refused() {
    let plain = asm::Options::default();
    let id = |id: &str| complaint(&format!(".amdgcn_target \"{id}\"\ns_endpgm\n"), &plain);
    assert_eq!(id("amdgcn-amd-amdhsa--gfx900"), "");
    assert_eq!(
        id("r600-amd-amdhsa--gfx900"),
        "unknown architecture `r600` in a target id; there is `amdgcn`"
    );
    assert_eq!(id("foo-bar-baz--gfx900"), "unknown architecture `foo` in a target id; there is `amdgcn`");
    assert!(id("amdgcn-amd-linux--gfx900").starts_with("unknown operating system `linux`"));
    assert!(id("amdgcn-amd-amdhsa-gfx900").contains("is no target id"));
    assert_eq!(
        id("amdgcn-amd-amdhsa--gfx900:xnak+"),
        "`xnak+` in a target id is none of `xnack+`, `xnack-`, `sramecc+`, `sramecc-`"
    );
    assert_eq!(id("amdgcn-amd-amdhsa--gfx803:xnack+"), "gfx803 has no `xnack`; it has `wave64`");
    for directive in [
        ".amdhsa_kernel k\n.end_amdhsa_kernel",
        ".amdgpu_metadata\n.end_amdgpu_metadata",
        ".amdhsa_code_object_version 4",
    ] {
        let source = format!(".amdgcn_target \"amdgcn-amd-amdpal--gfx900\"\n{directive}\n");
        let name = directive.split_whitespace().next().unwrap_or_default();
        let expected = format!("`{name}` is for `amdhsa`, and the target is for `amdpal`");
        assert_eq!(complaint(&source, &plain), expected);
    }
}

/// What options and the source say has to agree.
#[test]
fn options_and_source_agree() {
    let hsa = asm::Options { os: Some(isa::Os::AmdHsa), ..asm::Options::default() };
    let source = ".amdgcn_target \"amdgcn-amd-amdpal--gfx900\"\ns_endpgm\n";
    assert_eq!(complaint(source, &hsa), "the source is for amdpal, but amdhsa was asked for");
    let off = asm::Options { xnack: Some(false), ..asm::Options::default() };
    let source = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx900:xnack+\"\ns_endpgm\n";
    assert_eq!(complaint(source, &off), "`xnack` is asked for both on and off");
}

/// `.kernc_elf_header` sets the three fields that target ids stand for.
#[test]
fn headers_by_number() {
    let source = ".kernc_elf_header 0x7, 3, 0x1234\n.amdgcn_target \"amdgcn-amd-amdhsa--gfx900\"\ns_endpgm\n";
    for kind in [asm::Kind::Relocatable, asm::Kind::Loadable] {
        let object = crate::common::assemble(source, &asm::Options { kind, ..asm::Options::default() });
        assert_eq!((object[7], object[8], &object[48..52]), (7, 3, &[0x34, 0x12, 0, 0][..]));
    }
    let plain = asm::Options::default();
    assert_eq!(complaint(".kernc_elf_header 256, 0, 0\n", &plain), "a number from 0 to 0xff");
    assert_eq!(complaint(".kernc_elf_header 1, 0, 0x100000000\n", &plain), "a number from 0 to 0xffffffff");
}

/// A block of metadata with one register.
fn block(registers: &str) -> String {
    format!(
        ".amdgpu_pal_metadata\n---\namdpal.pipelines:\n  - .registers:\n{registers}...\n.end_amdgpu_pal_metadata\n"
    )
}

/// The directives of AMDPAL's metadata, alone and one after the other: whole files. The note follows everything else.
#[test]
fn pal_metadata_is_that_of_llvm() {
    let Some(mc) = tool("llvm-mc-19", "pal_metadata_is_that_of_llvm") else { return };
    let first = block("      '0x2e12 (COMPUTE_PGM_RSRC1)': 0x1\n      0x2e00: 3\n");
    let second = block("      0x2e13: 0x2\n");
    let isa = ".amd_amdgpu_isa \"amdgcn-unknown-amdpal--gfx1030\"\n";
    let pairs = ".amd_amdgpu_pal_metadata 0x2e12, 4, 0x2e13, 3+5, 0x1000002e, 0x12\n";
    let symbols = ".set x, 5\n.amd_amdgpu_pal_metadata x, x, 0x2e12, 8\n";
    let bare = ".amdgpu_pal_metadata\namdpal.pipelines:\n  - .type: Cs\nunheard: [1, two, -3]\n.end_amdgpu_pal_metadata\n";
    let own = ".section .note,\"\",@note\n.long 5\n.text\n";
    for source in [
        first.clone(),
        [&first, isa, &second].concat(),
        [&first, pairs].concat(),
        [pairs, symbols].concat(),
        [symbols, pairs, &second].concat(),
        [&first, pairs, symbols, own].concat(),
        bare.to_owned(),
        [bare, ".data\n.long 7\n.text\ns_endpgm\n", isa].concat(),
    ] {
        let mut command = Tool::new(&mc);
        command.args(["-triple=amdgcn--amdpal", "-filetype=obj", "-o", "-", "-mcpu=gfx1030"]);
        let theirs = command.input(&source).output().expect("the tool starts");
        assert!(theirs.status.success(), "{}\n{source}", String::from_utf8_lossy(&theirs.stderr));
        let source = format!(".amdgcn_target \"amdgcn-amd-amdpal--gfx1030\"\n{source}");
        let options = asm::Options { kind: asm::Kind::Relocatable, ..asm::Options::default() };
        assert!(crate::common::assemble(&source, &options) == theirs.stdout, "{source}");
    }
}

/// Errors in AMDPAL's metadata, with the line in the source.
#[test]
fn pal_metadata_that_is_refused() {
    let target = ".amdgcn_target \"amdgcn-amd-amdpal--gfx900\"\n";
    let key = "a key of `.registers` is the number of a register, which may be followed by the register's name in \
               parentheses; each register occurs once";
    let cases = [
        (block("      hello: 1\n"), 6, key),
        (block("      0x2e12 (COMPUTE_PGM_RSRC2): 1\n"), 6, key),
        (block("      0x2e12: 1\n      0x2e12: 1\n"), 7, "the key is there already"),
        (block("      0x2e12: 1\n      11794: 1\n"), 7, key),
        (".amdgpu_pal_metadata\n- 5\n.end_amdgpu_pal_metadata\n".to_owned(), 3, "the metadata is a map"),
        (".amdgpu_pal_metadata\n---\n".to_owned(), 2, "no `.end_amdgpu_pal_metadata` ends this"),
        (".amd_amdgpu_pal_metadata 1\n".to_owned(), 2, "expected `,`"),
        (
            ".amd_amdgpu_pal_metadata 1, 2,\n".to_owned(),
            2,
            "expected an expression, found the end of the line",
        ),
        (".amd_amdgpu_pal_metadata 1, y\n".to_owned(), 2, "the value of this expression must be known here"),
        (".amd_amdgpu_pal_metadata 1, 0x100000000\n".to_owned(), 2, "the number does not fit 32 bits"),
    ];
    for (lines, line, message) in cases {
        let source = format!("{target}{lines}");
        let list = asm::assemble(&source, &asm::Options::default()).expect_err(&source);
        assert_eq!((list[0].message.as_str(), list[0].position(&source).0), (message, line), "{source}");
    }
    let hsa = complaint(".amd_amdgpu_pal_metadata 1, 2\n", &crate::common::options("gfx900"));
    assert_eq!(hsa, "`.amd_amdgpu_pal_metadata` is for `amdpal`, and the target is for `amdhsa`");
}
