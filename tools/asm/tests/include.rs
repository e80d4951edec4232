//! Files that a source draws in.

use crate::common::{options, section, tool};

/// Files in memory; what they include is found beside them.
struct Files(&'static [(&'static str, &'static [u8])]);

impl asm::Loader for Files {
    fn load(&self, name: &str, from: Option<&str>) -> Result<asm::File, String> {
        let directory = from.and_then(|from| Some(from.rsplit_once('/')?.0));
        let path = directory.map_or(name.to_owned(), |directory| format!("{directory}/{name}"));
        let found = self.0.iter().find(|(name, _)| *name == path).ok_or("there is no such file")?;
        Ok(asm::File { name: path, bytes: found.1.to_vec() })
    }
}

const FILES: Files = Files(&[
    ("lib/macros.inc", b".macro twice op:vararg\n\\op\n\\op\n.endm\n.include \"constants.inc\"\n"),
    ("lib/constants.inc", b".set FOUR, 4\n"),
    ("table.bin", &[1, 2, 3, 4, 5, 6, 7, 8]),
    ("wrong.inc", b"s_nop 0\n.include \"lib/wrong.inc\"\n"),
    ("lib/wrong.inc", b"\ntwice s_wrong\n  v_mov_b32 v0\n.long unknown - other\n"),
    ("self.inc", b".include \"self.inc\"\n.include \"self.inc\"\n"),
    ("not_text.inc", &[0xff, 0xfe]),
]);

const SOURCE: &str = "\
.include \"lib/macros.inc\"
twice s_nop FOUR
.rodata
.incbin \"table.bin\"
.incbin \"table.bin\", 6
.incbin \"table.bin\", 2, 3
.incbin \"table.bin\", , 1
.incbin \"table.bin\", 8
";

fn assemble(source: &str) -> Result<Vec<u8>, Vec<asm::Diagnostic>> {
    // The version that LLVM 19 writes.
    let options = asm::Options { version: Some(5), ..options("gfx906") };
    asm::assemble_with(source, &options, Box::new(FILES))
}

#[test]
fn contents() {
    let object = assemble(SOURCE).expect("it is right");
    assert_eq!(section(&object, ".text"), [4, 0, 0x80, 0xbf, 4, 0, 0x80, 0xbf]);
    assert_eq!(section(&object, ".rodata"), [1, 2, 3, 4, 5, 6, 7, 8, 7, 8, 3, 4, 5, 1]);
}

#[test]
fn like_llvm() {
    let Some(mc) = tool("llvm-mc-19", "include: like_llvm") else { return };
    let dir = support::Folder::new("include");
    std::fs::create_dir_all(dir.join("lib")).expect("a directory");
    for (name, bytes) in FILES.0 {
        std::fs::write(dir.join(name), bytes).expect("writable");
    }
    // LLVM does not look beside the file that asks, only in the directories it is given.
    let include = [format!("-I{}", dir.display()), format!("-I{}", dir.join("lib").display())];
    let theirs = crate::common::llvm_mc(&mc, &["-mcpu=gfx906", &include[0], &include[1]], SOURCE);
    assert!(theirs.expect("LLVM takes it") == assemble(SOURCE).expect("it is right"));
}

#[test]
fn errors_tell_their_place() {
    let source =
        "twice = 1\n.include \"lib/macros.inc\"\n.include \"wrong.inc\"\ns_nop x y\n.incbin \"none\"\n";
    let list = assemble(source).expect_err("it is wrong");
    let place = |diagnostic: &asm::Diagnostic| {
        let file = diagnostic.file.as_ref().map_or("source", |file| &file.name);
        let (line, column) = diagnostic.position(source);
        format!("{file}:{line}:{column}")
    };
    let places: Vec<String> = list.iter().map(place).collect();
    let wrong = "lib/wrong.inc:2:1";
    assert_eq!(
        places,
        [wrong, wrong, "lib/wrong.inc:3:3", "lib/wrong.inc:4:7", "source:4:7", "source:5:9"],
        "{list:#?}"
    );
    let text = asm::render(&list, "main.s", source, false);
    for line in ["--> lib/wrong.inc:3:", "included at wrong.inc:2", "included at main.s:3", "--> main.s:4:7"]
    {
        assert!(text.contains(line), "{line} in\n{text}");
    }
}

#[test]
fn endless_and_forbidden() {
    for (source, message) in [
        (".include \"self.inc\"", "macros and included files are nested too deeply"),
        (".include \"not_text.inc\"", "not_text.inc is not UTF-8 text"),
        (".include \"none.inc\"", "cannot read `none.inc`: there is no such file"),
        (".incbin \"table.bin\", 9", "table.bin has 8 bytes, fewer than are to be skipped"),
        (".include none", "expected a string"),
    ] {
        let list = assemble(source).expect_err("it is wrong");
        assert_eq!(list[0].message, message);
    }
    let list = asm::assemble(SOURCE, &options("gfx906")).expect_err("there is no loader");
    assert_eq!(list[0].message, "the source may not read files");
}
